/*
 * perfetto_tables.h - the numbers of the events of ftrace and of their fields
 *
 * A row is the text "NUMBER [GROUP:]NAME FIELD...", where NUMBER is that of the event in the
 * message FtraceEvent, and GROUP is the directory of the event in tracefs. A FIELD is
 * "[NUMBER=]NAME:KIND"; without a number it is 1 more than the one before. Kinds are i and u,
 * integers with and without a sign; z, a zigzag integer; s, a text; f and d, a number of 4 and 8
 * bytes with a point; and a, a list of u. The rows of a table are in the order of their numbers;
 * NULL ends it. Fields of other kinds are not read.
 *
 * Source: protos/perfetto/trace/ftrace (numbers and names) and
 * src/traced/probes/ftrace/event_info.cc (groups) of the project perfetto, of August 2026.
 */
#ifndef TR_TRDECODE_PERFETTO_TABLES_H
#define TR_TRDECODE_PERFETTO_TABLES_H

#include <stddef.h>

extern const char *const perfetto_ftrace_3[], *const perfetto_ftrace_210[],
						      *const perfetto_ftrace_400[];

#endif

/*
 * process_names.h - the META part with names of processes, which need not be those of a thread
 *
 * A record for each process: i32 pid, u32 size, the name.
 */
#ifndef TR_FORMATS_PROCESS_NAMES_H
#define TR_FORMATS_PROCESS_NAMES_H

#define PROCESS_NAMES_META "process.names"

enum { PROCESS_NAMES_RECORD = 8 }; /* bytes before the name */

#endif

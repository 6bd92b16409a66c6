/*
 * call_text.h - arguments, returned values and fields in words, for people
 *
 * Short: texts are cut at 40 bytes, of arrays four elements are shown, of what is inside of those
 * nothing. Bytes that are not printable ASCII are shown as \xNN.
 */
#ifndef TR_TRSTAT_GROUPS_CALL_TEXT_H
#define TR_TRSTAT_GROUPS_CALL_TEXT_H

#include "common/stream/event.h"
#include "common/stream/value.h"

/* name=value, name=value of an enter (or of any event that has fields). -1: out of memory. */
int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e);

/* What a leave returns: a value, or its fields; nothing where it has none. */
int call_returned(struct buffer *b, const struct dictionary *d, const struct event *e);

#endif

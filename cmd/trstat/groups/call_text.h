/*
 * call_text.h - arguments, returned values and fields as short human-readable text
 *
 * Texts are truncated at 40 bytes, arrays at four elements, and nested elements are left out, as
 * are fields named common_... Bytes that are not printable ASCII are shown as \xNN.
 */
#ifndef TR_TRSTAT_GROUPS_CALL_TEXT_H
#define TR_TRSTAT_GROUPS_CALL_TEXT_H

#include "common/stream/event.h"
#include "common/stream/value.h"

/* Append "name=value, name=value" for an enter, or for any event that has fields. Returns -1
 * when out of memory. */
int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e);

/* Append the return value of a leave, or its fields; nothing where it has none. */
int call_returned(struct buffer *b, const struct dictionary *d, const struct event *e);

#endif

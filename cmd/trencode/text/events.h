/*
 * events.h - names and data of uftrace events, as `uftrace replay` prints them
 */
#ifndef TR_TRENCODE_TEXT_EVENTS_H
#define TR_TRENCODE_TEXT_EVENTS_H

#include "common/stream/field.h"
#include "common/util/text.h"
#include "cmd/trencode/text/values.h"

/* Print "read:proc/statm (vmsize=... )": name and data. names: for the names of watched variables.
 */
void event_text(struct text *out, const struct value_names *names, const struct event *ev);

#endif

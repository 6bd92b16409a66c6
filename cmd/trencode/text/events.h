/*
 * events.h - events of uftrace as its replay names them and shows their data
 */
#ifndef TR_TRENCODE_TEXT_EVENTS_H
#define TR_TRENCODE_TEXT_EVENTS_H

#include "common/stream/field.h"
#include "common/util/text.h"
#include "cmd/trencode/text/values.h"

/* "read:proc/statm (vmsize=... )": name and data; names is for watched variables. */
void event_text(struct text *out, const struct value_names *names, const struct event *ev);

#endif

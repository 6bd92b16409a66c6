/*
 * async_events.h - events of Trace Event JSON that have an id: asynchronous events and flows
 */
#ifndef TR_TRENCODE_TIMELINE_ASYNC_EVENTS_H
#define TR_TRENCODE_TIMELINE_ASYNC_EVENTS_H

#include "common/stream/event.h"

/* Test for an event with an id (common/formats/chrome.h). */
bool async_event_is(const struct type *t);
/* Returns its phase, except for ends of calls; its id. */
char async_event_phase(const struct type *t);
uint64_t async_event_id(const struct event *ev);
/* Test for a begin, step or end of a flow. */
static inline bool async_event_is_flow(const struct type *t)
{
	char phase = async_event_is(t) ? async_event_phase(t) : 0;

	return phase == 's' || phase == 't' || phase == 'f';
}

#endif

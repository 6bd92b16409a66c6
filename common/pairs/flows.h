/*
 * flows.h - the flows between events: which events belong to one request, across threads
 *
 *     thread 1   call A   flow_ids [7]                  s  id 7
 *     thread 2   call B   terminating_flow_ids [7]      f  id 7
 */
#ifndef TR_PAIRS_FLOWS_H
#define TR_PAIRS_FLOWS_H

#include "common/calls/calls.h"
#include "common/calls/open_calls.h"
#include "common/stream/event.h"

/*
 * Flows between events: the arguments flow_ids and terminating_flow_ids of events that were read
 * from Perfetto's format or Trace Event JSON, and the events s, t and f of JSON.
 *
 * The ids of a flow are those of its source. Equal ids of two sources are two flows; so are equal
 * ids of Trace Event JSON with other names, categories or, if they are local, processes. The first
 * flow of an id keeps it, the ids of the others are hashed. All ids are hashed of which FLOWS_MOST
 * others were met before, but not those of the first source of Perfetto's format.
 */

enum { EVENT_FLOWS_MOST = 128 }; /* of one event; trdecode reads no more */

/* A flow that an event is part of. */
struct flow_part {
	uint64_t id;
	bool ends; /* the flow ends here */
};

/* The flows of a trace, and those of one event. */
struct flows {
	struct dictionary *dictionary;
	struct open_calls begun;  /* by id, for flow_phase */
	struct open_calls owners; /* by id of the source: hash of the flow that keeps it */
	uint32_t source; /* number + 1 of the source whose ids are not hashed; 0 none yet */
	/* of the event that flows_read has read */
	struct flow_part parts[EVENT_FLOWS_MOST];
	unsigned count;
	char phase;	/* of a part that is an event of its own: s, t or f; 0: it is of an event */
	bool enclosing; /* with phase: "bp":"e" */
	bool same;	/* the ids of the parts are those of the source */
	uint8_t *has;	/* by location: 1 it has no argument with flows, 2 it has one */
	size_t nhas;
};

void flows_free(struct flows *f);

/* Test whether arguments with the names of flows are flows: those of the sources that have them. */
static inline bool flows_are_of(const struct type *t)
{
	return type_is_of(t, "perfetto") || type_is_of(t, "chrome") || type_is_of(t, "otlp") ||
	       type_is_of(t, "jaeger") || type_is_of(t, "zipkin");
}

/* Read the flows of an event into f->parts, and f->phase. Returns their number. */
unsigned flows_read(struct flows *f, const struct event *ev);
/*
 * Find the call that the event of flows_read, which is no call, belongs to. Returns the number of
 * the calls that are open in its thread down to this one; 0: none.
 *
 *     f         the next call that begins in the thread: the outermost one that begins at the time
 *               of the event, else a later one: 0
 *     others    the call around the event
 */
size_t flows_call_of(const struct flows *f, const struct event *ev, const struct stack *thread);
/* Test whether the event of flows_read belongs to the next call that begins in its thread. */
static inline bool flows_call_is_next(const struct flows *f)
{
	return f->phase == 'f' && !f->enclosing;
}
/* Get the phase of a part in Trace Event JSON: s of the first part of a flow, t, or f; 0: out
 * of memory. */
char flow_phase(struct flows *f, const struct flow_part *part);

/* Test whether events of the sources of a stream may be part of flows. */
bool flows_declared(const struct dictionary *d);

/*
 * Sets of flows, which name requests: a call that is part of two flows joins them.
 *
 *     call A          flow_ids [12]                               set 12
 *     call B          terminating_flow_ids [12], flow_ids [14]    set 12
 *     call C          terminating_flow_ids [14]                   set 12
 *
 * A set has the id of its flow that was read first. Where two sets meet, each later flow is of the
 * first one. A set is known as its id + 1; 0: none.
 */
struct flow_sets {
	struct flows flows;
	struct key_map of; /* by id of the flow: its set */
	uint64_t *next;	   /* by thread: the set of the next call that begins in it */
	size_t nnext;
	bool any; /* some event was part of a flow */
};

void flow_sets_free(struct flow_sets *f);
/* Read the flows of an event. Returns its set: that of one of its flows, else `around`, the set of
 * the call around it, else a new one; of an event without flows `around`. */
uint64_t flow_sets_read(struct flow_sets *f, const struct event *e, uint64_t around);

/* --- events of Trace Event JSON that have an id: asynchronous events and flows --- */

/* Test for an event with an id (common/formats/chrome.h). */
bool async_event_is(const struct type *t);
/* Get its phase, except for ends of calls; its id. */
char async_event_phase(const struct type *t);
uint64_t async_event_id(const struct event *ev);
/* Test for a begin, step or end of a flow. */
static inline bool async_event_is_flow(const struct type *t)
{
	char phase = async_event_is(t) ? async_event_phase(t) : 0;

	return phase == 's' || phase == 't' || phase == 'f';
}

#endif

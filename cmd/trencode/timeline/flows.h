/*
 * flows.h - flows between events: the arguments flow_ids and terminating_flow_ids of events that
 * were read from Perfetto's format or Trace Event JSON, and the events s, t and f of JSON
 *
 * The ids of a flow are those of its source. Equal ids of two sources are two flows; so are equal
 * ids of Trace Event JSON with other names, categories or, if they are local, processes. The first
 * flow of an id keeps it, the ids of the others are hashed. All ids are hashed of which FLOWS_MOST
 * others were met before, but not those of the first source of Perfetto's format.
 */
#ifndef TR_TRENCODE_TIMELINE_FLOWS_H
#define TR_TRENCODE_TIMELINE_FLOWS_H

#include "common/calls/open_calls.h"
#include "common/stream/dictionary.h"
#include "common/stream/event.h"

enum { EVENT_FLOWS_MOST = 128 }; /* of one event; trdecode reads no more */

/* A flow that an event is part of. */
struct flow_part {
	uint64_t id;
	bool ends; /* the flow ends here */
};

/* What is known of the flows of a trace. */
struct flow_numbers {
	struct open_calls begun;  /* by id, for flow_phase */
	struct open_calls owners; /* by id of the source: hash of the flow that keeps it */
	uint32_t source; /* number + 1 of the source whose ids are not hashed; 0 none yet */
};

struct flows {
	struct dictionary *dictionary;
	struct flow_numbers numbers;
	struct flow_part parts[EVENT_FLOWS_MOST];
	unsigned count;
	char phase;	/* of a part that is an event of its own: s, t or f; 0: it is of an event */
	bool enclosing; /* with phase: "bp":"e" */
	bool same;	/* the ids of the parts are those of the source */
	uint8_t *has;	/* by location: 1 it has no argument with flows, 2 it has one */
	size_t nhas;
};

void flows_free(struct flows *f);

/* Read the flows of an event into f->parts, and f->phase. Returns their number. */
unsigned flows_read(struct flows *f, const struct event *ev);
/* Returns the phase of a part in Trace Event JSON: s of the first part of a flow, t, or f; 0: out
 * of memory. */
char flow_phase(struct flows *f, const struct flow_part *part);

#endif

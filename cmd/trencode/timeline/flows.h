/*
 * flows.h - flows between events: the arguments flow_ids and terminating_flow_ids of events that
 * were read from Perfetto's format, and the events s, t and f of Trace Event JSON
 *
 * The ids of a flow are those of its source. Equal ids of two sources are two flows; so are equal
 * ids of Trace Event JSON with other names, categories or, if they are local, processes. So the
 * ids of JSON, and those of all sources but the first that has flows, are hashed.
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

struct flows {
	struct dictionary *dictionary;
	struct open_calls begun; /* by id, for flow_phase */
	uint32_t source;	 /* number + 1 of the source whose ids are not hashed; 0 none yet */
	struct flow_part parts[EVENT_FLOWS_MOST];
	unsigned count;
};

void flows_free(struct flows *f);

/* Read the flows of an event into f->parts. Returns their number. */
unsigned flows_read(struct flows *f, const struct event *ev);
/* Returns the phase of a part in Trace Event JSON: s of the first part of a flow, t, or f; 0: out
 * of memory. */
char flow_phase(struct flows *f, const struct flow_part *part);

#endif

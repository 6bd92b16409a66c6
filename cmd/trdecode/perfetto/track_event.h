/*
 * track_event.h - one TrackEvent while it is read: track_event.c and legacy.c
 */
#ifndef TR_TRDECODE_PERFETTO_TRACK_EVENT_H
#define TR_TRDECODE_PERFETTO_TRACK_EVENT_H

#include "cmd/trdecode/perfetto/annotations.h"

enum { FLOWS_MOST = 64 };

/* The message LegacyEvent: an event of Chrome's older format. */
struct legacy_event {
	bool present, has_id, local;
	uint8_t phase;
	int64_t duration; /* us, at least 0 */
	uint64_t id, bind_id, flow_direction;
	uint32_t scope;	  /* string of the writer */
	uint8_t instant;  /* SCOPE_GLOBAL, SCOPE_PROCESS: an instant is not of the thread */
	int32_t pid, tid; /* other than those of the track; -1: none */
};

/* Lists of numbers that an event has; those beyond the limits are left out. */
struct event_lists {
	unsigned ntracks, nvalues, nreal_tracks, nreal_values, nflows, nended;
	uint64_t tracks[PERFETTO_EXTRA], values[PERFETTO_EXTRA];
	uint64_t real_tracks[PERFETTO_EXTRA], real_values[PERFETTO_EXTRA];
	uint64_t flows[FLOWS_MOST], ended[FLOWS_MOST];
};

struct track_event {
	const struct perfetto_packet *packet;
	uint64_t time;
	uint64_t type, uuid, counter;
	bool has_track, has_counter, has_real, has_lists;
	uint32_t name, category; /* strings of the writer */
	uint32_t track;		 /* number */
	uint32_t stack;
	int64_t time_delta, thread_time;
	bool has_time_delta, has_thread_time;
	struct perfetto_annotated annotated;
	struct legacy_event legacy; /* not set unless it is present, but the phase is */
};

/* Take the message LegacyEvent. */
void legacy_read(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev,
		 struct protobuf_view message);
/* Begin the lists of an event that has none yet. */
static inline void event_lists_begin(struct track_event *ev, struct event_lists *l)
{
	if (ev->has_lists)
		return;
	ev->has_lists = true;
	l->ntracks = l->nvalues = l->nreal_tracks = l->nreal_values = 0;
	l->nflows = l->nended = 0;
}

/* Add the flows of a legacy event to the lists: bind_id, whatever its direction, and the id of the
 * phases s, t and f, which is of its name and category. */
void legacy_flows(struct perfetto *p, struct track_event *ev, struct event_lists *lists);
/* Have the thread or process that the event names instead of its track's. */
int legacy_override(struct perfetto *p, struct track_event *ev);
/* Keep an event that has one. */
int legacy_keep(struct perfetto *p, struct track_event *ev);

/* Keep an event as a record of that kind. */
int track_event_keep(struct perfetto *p, const struct track_event *ev, enum perfetto_kind kind,
		     unsigned flags, uint64_t value);

#endif

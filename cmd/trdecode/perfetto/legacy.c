/*
 * legacy.c - events of Chrome's older format, which have a phase as in Trace Event JSON
 *
 * The calls of an id are on a track of their own. What the phases mean is in chrome/event.c.
 */
#include <string.h>

#include "cmd/trdecode/perfetto/track_event.h"

void legacy_read(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev,
		 struct protobuf_view message)
{
	struct legacy_event *l = &ev->legacy;
	struct protobuf_field f;

	*l = (struct legacy_event){.present = true, .pid = -1, .tid = -1};
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LEGACY_NAME_IID:
			if (!ev->name)
				ev->name = perfetto_interned(p, s, OF_NAME, f.value);
			break;
		case LEGACY_PHASE: l->phase = f.value < 128 ? (uint8_t)f.value : 'I'; break;
		case LEGACY_DURATION:
			l->duration = (int64_t)f.value < 0 ? 0 : (int64_t)f.value;
			break;
		case LEGACY_ID:
		case LEGACY_LOCAL_ID:
		case LEGACY_GLOBAL_ID:
			l->has_id = true;
			l->local = f.number == LEGACY_LOCAL_ID;
			l->id = f.value;
			break;
		case LEGACY_SCOPE: l->scope = perfetto_text(p, f.bytes); break;
		case LEGACY_BIND_ID: l->bind_id = f.value; break;
		case LEGACY_FLOW_DIRECTION: l->flow_direction = f.value; break;
		case LEGACY_INSTANT_SCOPE: l->instant = (uint8_t)f.value; break;
		case LEGACY_PID: l->pid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		case LEGACY_TID: l->tid = f.value <= INT32_MAX ? (int32_t)f.value : -1; break;
		default: perfetto_check_field(p, MESSAGE_LEGACY_EVENT, &f);
		}
}

int legacy_override(struct perfetto *p, struct track_event *ev)
{
	const struct perfetto_track *t = &p->tracks.track[ev->track - 1];
	struct perfetto_track_key key = {.kind = PERFETTO_OF_THREAD, .cpu = -1};

	if (ev->legacy.pid < 0 && ev->legacy.tid < 0)
		return 0;
	key.pid = ev->legacy.pid >= 0 ? ev->legacy.pid : t->pid;
	key.tid = ev->legacy.tid >= 0 ? ev->legacy.tid : t->tid;
	ev->track = perfetto_other_track(p, &key);
	return ev->track ? 0 : -1;
}

/* Keep the begin or the end of a call with an id. */
static int keep_id(struct perfetto *p, const struct track_event *ev, enum perfetto_kind kind)
{
	const struct perfetto_track *t = &p->tracks.track[ev->track - 1];
	const struct legacy_event *l = &ev->legacy;
	/* F does not end the call of a b */
	struct perfetto_track_key key = {.kind = PERFETTO_OF_TRACK,
					 .tid = l->phase == 'S' || l->phase == 'F',
					 .pid = l->local ? t->pid : -1,
					 .name = l->scope ? l->scope : ev->category,
					 .id = l->id};
	struct perfetto_record r = {.kind = (uint8_t)kind,
				    .flags = ev->annotated.structs ? PERFETTO_STRUCTS : 0,
				    .track = ev->track - 1,
				    .name = ev->name,
				    .category = ev->category,
				    .stack = ev->stack};

	if (!r.name && kind == PERFETTO_ID_BEGIN)
		r.name = p->texts.nothing;
	return perfetto_keep_id(p, ev->time, &r, &key);
}

/* Test for a begin, step or end of a flow. */
static bool is_flow(const struct legacy_event *l)
{
	return l->has_id && (l->phase == 's' || l->phase == 't' || l->phase == 'f');
}

static void add_flow(struct perfetto *p, uint64_t *list, unsigned *n, uint64_t id)
{
	if (*n < FLOWS_MOST)
		list[(*n)++] = id;
	else
		p->counts.left_out[MESSAGE_TRACK_EVENT][EVENT_LEGACY]++;
}

void legacy_flows(struct perfetto *p, struct track_event *ev, struct event_lists *lists)
{
	const struct legacy_event *l = &ev->legacy;
	struct perfetto_track_key key = {.kind = PERFETTO_OF_FLOW,
					 .pid = l->local ? p->tracks.track[ev->track - 1].pid : -1,
					 .name = ev->name,
					 .scope = l->scope ? l->scope : ev->category,
					 .id = l->id};

	if (!is_flow(l) && !(l->bind_id && l->flow_direction))
		return;
	event_lists_begin(ev, lists);
	if (l->bind_id && l->flow_direction)
		add_flow(p, lists->flows, &lists->nflows, l->bind_id);
	if (!is_flow(l))
		return;
	if (l->phase != 'f')
		add_flow(p, lists->flows, &lists->nflows, perfetto_id_of(&key).hash);
	else
		add_flow(p, lists->ended, &lists->nended, perfetto_id_of(&key).hash);
}

/* Keep a call with a duration. */
static int keep_complete(struct perfetto *p, struct track_event *ev)
{
	uint64_t duration;

	if (__builtin_mul_overflow((uint64_t)ev->legacy.duration, 1000u, &duration) ||
	    duration >= TIME_LIMIT - ev->time) {
		perfetto_damage(p, ev->packet, "a call with an impossible duration");
		return 0;
	}
	ev->legacy.duration = (int64_t)duration;
	if (ev->time + duration > p->last)
		p->last = ev->time + duration;
	return track_event_keep(p, ev, PERFETTO_BEGIN, PERFETTO_VALUE | PERFETTO_COMPLETE,
				ev->time + duration);
}

/* Have the track of an instant that is of a process, or of no thread. */
static int instant_track(struct perfetto *p, struct track_event *ev)
{
	struct perfetto_track_key key = {.kind = PERFETTO_OF_PROCESS,
					 .pid = p->tracks.track[ev->track - 1].pid,
					 .tid = -1,
					 .cpu = -1};

	if (ev->legacy.instant == SCOPE_GLOBAL)
		ev->track = perfetto_track(p, 0);
	else if (ev->legacy.instant == SCOPE_PROCESS && key.pid >= 0)
		ev->track = perfetto_other_track(p, &key);
	return ev->track ? 0 : -1;
}

int legacy_keep(struct perfetto *p, struct track_event *ev)
{
	const struct legacy_event *l = &ev->legacy;
	static const char types[] = {0, 'B', 'E', 'I', 'C', 'I'};
	char phase = (char)l->phase;

	if (!phase)
		phase = ev->type < sizeof types ? types[ev->type] : 'I';
	if (l->bind_id && !l->flow_direction && perfetto_argument_uint(p, "bind_id", l->bind_id))
		return -1;
	switch (phase) {
	case 'b':
	case 'S': return keep_id(p, ev, PERFETTO_ID_BEGIN);
	case 'B': return track_event_keep(p, ev, PERFETTO_BEGIN, 0, 0);
	case 'E': return track_event_keep(p, ev, PERFETTO_END, 0, 0);
	case 'e':
	case 'F': return keep_id(p, ev, PERFETTO_ID_END);
	case 'X': return keep_complete(p, ev);
	case 'C': return track_event_keep(p, ev, PERFETTO_COUNTER_VALUES, 0, 0);
	case 'M': return 0;
	}
	if (l->instant && instant_track(p, ev))
		return -1;
	return track_event_keep(p, ev, PERFETTO_INSTANT, 0, 0);
}

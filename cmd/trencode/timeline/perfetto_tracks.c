#include "cmd/trencode/timeline/perfetto_private.h"

#include "common/formats/chrome.h"
#include "common/stream/field.h"

enum { SLOTS = 64 };

/* What identifies a track of struct track_uuids: a name of a thread and the slot, or a track_id of
 * a source. */
enum { OF_NAME, OF_ID };

static const char *const track_names[] = {[OF_KERNEL] = "kernel",
					  [OF_BEFORE] = "called before the trace",
					  [OF_OVERLAP] = PERFETTO_OVERLAPPING};

static uint64_t uuid_of(enum track_kind kind, uint32_t thread, uint32_t which)
{
	return (uint64_t)kind << 56 | (uint64_t)thread << 16 | (which & 0xffff);
}

static int describe_process(struct perfetto *s, uint32_t index, uint64_t time, struct error *e)
{
	struct track_process *p = &s->tracks.processes[index];
	struct text_ref comm = dictionary_string(s->names.dictionary, p->comm);
	struct buffer *b = &s->clean;

	p->renamed = false;
	b->size = s->part.size = 0;
	if (protobuf_uint(b, PROCESS_PID, (uint64_t)p->shown) ||
	    (p->comm && perfetto_put_text(s, b, PROCESS_NAME, comm.text, comm.size)) ||
	    protobuf_uint(&s->part, TRACK_UUID, uuid_of(OF_PROCESS, index, 0)) ||
	    protobuf_message(&s->part, TRACK_PROCESS, b))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

static int describe_thread(struct perfetto *s, struct track *t, const struct lane *lane,
			   uint64_t time, struct error *e)
{
	struct buffer *b = &s->clean;

	if (s->tracks.processes[t->process].renamed && describe_process(s, t->process, time, e))
		return -1;
	t->renamed = false;
	b->size = s->part.size = s->kept.size = 0;
	if (track_name(t, lane, &s->kept) || protobuf_uint(b, THREAD_PID, (uint64_t)t->pid) ||
	    protobuf_uint(b, THREAD_TID, (uint64_t)t->tid) ||
	    (track_is_named(t, lane) &&
	     perfetto_put_text(s, b, THREAD_NAME, s->kept.data, s->kept.size)) ||
	    protobuf_uint(&s->part, TRACK_UUID, uuid_of(OF_THREAD, t->thread - 1, 0)) ||
	    protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_PROCESS, t->process, 0)) ||
	    protobuf_message(&s->part, TRACK_THREAD, b))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

bool perfetto_is_global(const struct event *ev)
{
	const struct type *t = ev->type;

	if (ev->lane->flags & (LANE_HAS_TID | LANE_HAS_PID | LANE_HAS_CPU) || ev->lane->buffer.size)
		return false;
	return t->kind == KIND_GAP || ((t->kind == KIND_INSTANT || t->kind == KIND_COUNTER) &&
				       (type_is_of(t, "perfetto") ||
					(type_is_of(t, "chrome") && t->native & CHROME_GLOBAL)));
}

static bool has_thread(const struct lane *lane)
{
	return lane->flags & (LANE_HAS_TID | LANE_HAS_CPU);
}

/* Get the place of the uuid of a track, by its key. *known: the track has one. NULL: out of
 * memory. */
static uint64_t *other_uuid(struct perfetto *s, const uint32_t key[4], bool *known)
{
	struct track_uuids *t = &s->others;
	uint32_t had = t->keys.count, number = intern(&t->keys, key, 4 * sizeof *key);
	uint64_t *uuids;

	if (number == INTERN_NONE || ARRAY_REACH(t->uuids, t->capacity, number))
		return NULL;
	uuids = t->uuids;
	*known = number < had;
	if (!*known)
		uuids[number] = (uint64_t)OF_OTHER << 56 | number;
	return &uuids[number];
}

/* Write the descriptor of a track with a name, below that of its thread, if it has one. */
static int describe_other(struct perfetto *s, const struct track_of *of, uint64_t time,
			  uint64_t uuid, struct error *e)
{
	struct text_ref name = of->lane->buffer;

	if (!name.size && has_thread(of->lane)) {
		name.text = track_names[OF_OVERLAP];
		name.size = strlen(track_names[OF_OVERLAP]);
	}
	s->part.size = 0;
	if (protobuf_uint(&s->part, TRACK_UUID, uuid) ||
	    (name.size && perfetto_put_text(s, &s->part, TRACK_NAME, name.text, name.size)) ||
	    (has_thread(of->lane) &&
	     protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, of->thread, 0))) ||
	    (of->states && protobuf_bytes(&s->part, TRACK_STATES, "", 0)))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

/* Get the track of such a lane. */
static int named_track(struct perfetto *s, const struct track_of *of, uint64_t time, uint64_t *uuid,
		       struct error *e)
{
	const uint32_t key[4] = {OF_NAME, of->thread, of->lane->buffer.number, of->which};
	bool known;
	const uint64_t *place = other_uuid(s, key, &known);

	if (!place)
		return error_no_memory(e);
	*uuid = *place;
	return known ? 0 : describe_other(s, of, time, *uuid, e);
}

/* Write the descriptor of a thread, if it is new or has a new name. */
static int thread_track(struct perfetto *s, const struct track_of *of, uint64_t time,
			struct error *e)
{
	struct track *t = tracks_get(&s->tracks, of->thread, of->lane);

	if (!t)
		return error_no_memory(e);
	return __builtin_expect(t->renamed, 0) ? describe_thread(s, t, of->lane, time, e) : 0;
}

/* Find the field track_id of the fixed part; its name may be longer. NULL: there is none. */
static const struct field *track_id_field(const struct type *t)
{
	if (!(t->flags & TYPE_CALL_NUMBER) || !type_is_of(t, "perfetto"))
		return NULL;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (t->fields[i].kind == FIELD_HEX && t->fields[i].where == WHERE_FIXED)
			return &t->fields[i];
	return NULL;
}

bool perfetto_track_id(const struct event *ev, uint64_t *id)
{
	const struct field *f = track_id_field(ev->type);
	struct field_value v;

	if (!f)
		return false;
	field_get(ev, f, 0, &v);
	*id = v.u;
	return v.form != FORM_NONE;
}

bool perfetto_has_own_track(const struct type *t)
{
	return (t->native == 'B' || t->native == 'E' || t->native == 'S') && track_id_field(t);
}

bool perfetto_is_state(const struct type *t)
{
	return t->native == 'S' && track_id_field(t);
}

int perfetto_own_track(struct perfetto *s, const struct event *enter, uint64_t *uuid,
		       struct error *e)
{
	const struct track_of of = {OF_OTHER, calls_thread(enter), 0, enter->lane,
				    perfetto_is_state(enter->type)};
	const struct lane *lane = enter->lane;
	uint32_t key[4] = {OF_ID, lane->source ? lane->source->number : 0};
	uint32_t had = s->declared.count;
	uint64_t *place, id = 0;
	bool known;

	perfetto_track_id(enter, &id);
	key[2] = (uint32_t)id;
	key[3] = (uint32_t)(id >> 32);
	if (has_thread(lane) && thread_track(s, &of, enter->time, e))
		return -1;
	place = other_uuid(s, key, &known);
	if (!place)
		return error_no_memory(e);
	*uuid = *place;
	if (known)
		return 0;
	/* the uuid of the source, unless it is one of the encoder's or of another source */
	if (id >> 56 == 0 || id >> 56 >= TRACK_KINDS) {
		if (intern(&s->declared, &id, sizeof id) == INTERN_NONE)
			return error_no_memory(e);
		if (s->declared.count > had)
			*uuid = *place = id;
	}
	if (track_is_other(lane)) {
		/* instants of that name are on this track, too */
		const uint32_t named[4] = {OF_NAME, of.thread, lane->buffer.number, 0};

		place = other_uuid(s, named, &known);
		if (!place)
			return error_no_memory(e);
		if (!known)
			*place = *uuid;
	}
	return *uuid ? describe_other(s, &of, enter->time, *uuid, e) : 0;
}

int perfetto_track(struct perfetto *s, const struct track_of *of, uint64_t time, uint64_t *uuid,
		   struct error *e)
{
	bool named = (of->kind == OF_THREAD || of->kind == OF_OVERLAP) && track_is_other(of->lane);
	uint32_t had;

	if (named && !has_thread(of->lane))
		return named_track(s, of, time, uuid, e);
	if (thread_track(s, of, time, e))
		return -1;
	if (__builtin_expect(named, 0))
		return named_track(s, of, time, uuid, e);
	*uuid = uuid_of(of->kind, of->thread, of->which);
	if (__builtin_expect(of->kind == OF_THREAD, 1))
		return 0;
	had = s->declared.count;
	if (intern(&s->declared, uuid, sizeof *uuid) == INTERN_NONE)
		return error_no_memory(e);
	if (s->declared.count == had)
		return 0;
	s->part.size = 0;
	if (protobuf_uint(&s->part, TRACK_UUID, *uuid) ||
	    perfetto_put_text(s, &s->part, TRACK_NAME, track_names[of->kind],
			      strlen(track_names[of->kind])) ||
	    protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, of->thread, 0)))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

int perfetto_take_slot(struct perfetto *s, uint32_t thread, bool apart, uint8_t *slot)
{
	if (ARRAY_REACH(s->slots, s->nslots, thread))
		return -1;
	*slot = SLOTS - 1;
	if (~(s->slots[thread] | apart))
		*slot = (uint8_t)__builtin_ctzll(~(s->slots[thread] | apart));
	s->slots[thread] |= 1ull << *slot;
	return 0;
}

int perfetto_span_track(struct perfetto *s, const struct span *span, uint8_t slot, uint64_t time,
			uint64_t *uuid, struct error *e)
{
	struct track_of of = {.thread = span->thread, .lane = span->lane};

	if (!span->begun) {
		of.kind = OF_BEFORE;
		of.which = span->level;
	} else if (span->kernel) {
		of.kind = OF_KERNEL;
	} else {
		of.kind = slot ? OF_OVERLAP : OF_THREAD;
		of.which = slot;
	}
	return perfetto_track(s, &of, time, uuid, e);
}

int perfetto_counter_track(struct perfetto *s, const struct event *ev, uint32_t name,
			   uint32_t value, uint64_t *uuid, struct error *e)
{
	uint32_t thread = calls_thread(ev), key[3] = {thread, name, value}, had = s->counters.count;
	uint32_t number = intern(&s->counters, key, sizeof key);
	struct text_ref text = dictionary_string(s->names.dictionary, name);

	if (number == INTERN_NONE)
		return error_no_memory(e);
	*uuid = (uint64_t)OF_COUNTER << 56 | number;
	if (s->counters.count == had)
		return 0;
	s->kept.size = s->clean.size = s->part.size = 0;
	if (buffer_append(&s->kept, text.text, text.size))
		return error_no_memory(e);
	text = dictionary_string(s->names.dictionary, value);
	if ((value &&
	     (buffer_u8(&s->kept, ' ') || buffer_append(&s->kept, text.text, text.size))) ||
	    protobuf_uint(&s->part, TRACK_UUID, *uuid) ||
	    perfetto_put_text(s, &s->part, TRACK_NAME, s->kept.data, s->kept.size) ||
	    (!perfetto_is_global(ev) &&
	     protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, thread, 0))) ||
	    protobuf_message(&s->part, TRACK_COUNTER, &s->clean))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, ev->time, e);
}

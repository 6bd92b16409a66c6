#include "cmd/trencode/timeline/perfetto_private.h"

#include "common/formats/chrome.h"

enum { SLOTS = 64 };

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

/* Test for a lane of a track that was read from Perfetto's format and is not that of a thread. */
static bool is_named_track(const struct lane *lane)
{
	return lane->buffer.size && lane->source && !strcmp(lane->source->format.text, "perfetto");
}

bool perfetto_is_global(const struct event *ev)
{
	const struct type *t = ev->type;

	return (t->kind == KIND_INSTANT || t->kind == KIND_COUNTER) &&
	       !(ev->lane->flags & (LANE_HAS_TID | LANE_HAS_PID | LANE_HAS_CPU)) &&
	       !ev->lane->buffer.size &&
	       (type_is_of(t, "perfetto") ||
		(type_is_of(t, "chrome") && t->native & CHROME_GLOBAL));
}

/* Get the track of such a lane: below that of its thread, if it has one. */
static int named_track(struct perfetto *s, const struct track_of *of, uint64_t time, uint64_t *uuid,
		       struct error *e)
{
	struct text_ref name = of->lane->buffer;
	uint32_t key[3] = {of->thread, name.number, of->which}, had = s->named.count;
	uint32_t number = intern(&s->named, key, sizeof key);

	if (number == INTERN_NONE)
		return error_no_memory(e);
	*uuid = (uint64_t)OF_NAMED << 56 | number;
	if (s->named.count == had)
		return 0;
	s->part.size = 0;
	if (protobuf_uint(&s->part, TRACK_UUID, *uuid) ||
	    perfetto_put_text(s, &s->part, TRACK_NAME, name.text, name.size) ||
	    (of->lane->flags & (LANE_HAS_TID | LANE_HAS_CPU) &&
	     protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, of->thread, 0))))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

int perfetto_track(struct perfetto *s, const struct track_of *of, uint64_t time, uint64_t *uuid,
		   struct error *e)
{
	static const char *const names[] = {[OF_KERNEL] = "kernel",
					    [OF_BEFORE] = "called before the trace",
					    [OF_OVERLAP] = "overlapping"};
	bool named = (of->kind == OF_THREAD || of->kind == OF_OVERLAP) && is_named_track(of->lane);
	struct track *t;
	uint32_t had;

	if (named && !(of->lane->flags & (LANE_HAS_TID | LANE_HAS_CPU)))
		return named_track(s, of, time, uuid, e);
	t = tracks_get(&s->tracks, of->thread, of->lane);
	if (!t)
		return error_no_memory(e);
	if (__builtin_expect(t->renamed, 0) && describe_thread(s, t, of->lane, time, e))
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
	    perfetto_put_text(s, &s->part, TRACK_NAME, names[of->kind], strlen(names[of->kind])) ||
	    protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, of->thread, 0)))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

int perfetto_take_slot(struct perfetto *s, uint32_t thread, bool apart, uint8_t *slot)
{
	uint64_t *slots = array_reach(s->slots, &s->nslots, thread, sizeof(*slots));

	if (!slots)
		return -1;
	s->slots = slots;
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

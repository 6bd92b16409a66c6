/*
 * perfetto.c - TrackEvent packets of Perfetto's trace format (protobuf), with interned names
 *
 * Begins and ends are written as they come, exact to the nanosecond. As an end closes what was
 * begun last on its track, calls that need not nest with a thread's others have tracks of their own
 * below the thread's: those in the kernel, those open since before the trace, and those of apitrace
 * that begin while others are open.
 */
#include "encoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/protobuf.h"
#include "common/utf8.h"
#include "place_names.h"
#include "common/buffer_file.h"
#include "revocable.h"
#include "spans.h"
#include "tracks.h"

/* Numbers of fields; see Perfetto's protos/perfetto/trace. */
enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST = 87,

	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_REALTIME_ID = 1,
	CLOCK_BOOTTIME_ID = 6, /* what timestamps are in where nothing is said */

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,

	EVENT_CATEGORY_IIDS = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_COUNTER = 30,
	EVENT_COUNTER_REAL = 44,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,

	ANNOTATION_NAME_IID = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,

	INTERNED_CATEGORY = 1,
	INTERNED_NAME = 2,
	INTERNED_ANNOTATION_NAME = 3,
	INTERNED_KINDS = 4,
};

enum { SEQUENCE = 1, STATE_CLEARED = 1, STATE_NEEDED = 2, CHUNK = 64 * 1024, SLOTS = 64 };

/* The tracks of a thread: number of the kind << 56 | thread << 16 | which. */
enum track_kind {
	OF_PROCESS = 1,
	OF_THREAD,
	OF_KERNEL,
	OF_BEFORE,  /* which: the level */
	OF_OVERLAP, /* which: the slot */
	OF_COUNTER, /* the number of the counter, in place of thread and which */
};

struct state {
	struct spans spans;
	struct tracks tracks;
	struct place_names names;
	struct attributes attributes;
	struct revocable held;		      /* with --unclosed=drop */
	struct buffer out, packet, part, bit; /* out: what is not yet written */
	struct buffer interned, kept, clean;
	uint8_t *known[INTERNED_KINDS]; /* by string: was sent */
	size_t nknown[INTERNED_KINDS];
	struct intern declared; /* child tracks */
	struct intern counters; /* thread, name, name of the value */
	uint64_t *slots;	/* by thread: overlapping calls that are open */
	size_t nslots;
	bool started, drop;
};

/* --- packets --- */

static int write_out(struct encoding *en, struct error *e)
{
	struct state *s = en->state;
	int r = output_write_buffer(en->out, &s->out, e);

	buffer_clear(&s->out);
	return r;
}

/* The packet goes out; where calls may be dropped, *token takes it back. */
static int put_packet(struct state *s, uint64_t *token, struct error *e)
{
	struct buffer *out = s->drop ? &s->clean : &s->out;

	if (s->drop)
		buffer_clear(out);
	if (protobuf_message(out, TRACE_PACKET, &s->packet))
		return error_no_memory(e);
	buffer_clear(&s->packet);
	return s->drop ? revocable_add(&s->held, out, token, e) : 0;
}

static int begin_packet(struct state *s, uint64_t time, unsigned flags)
{
	s->packet.size = 0;
	return protobuf_uint(&s->packet, PACKET_TIMESTAMP, time) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_ID, SEQUENCE) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_FLAGS, flags)
		       ? -1
		       : 0;
}

/* What names the next packet's event uses for the first time, as a packet of its own. */
static int put_interned(struct state *s, uint64_t time, struct error *e)
{
	uint64_t token;

	if (!s->interned.size)
		return 0;
	if (begin_packet(s, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_INTERNED_DATA, &s->interned))
		return error_no_memory(e);
	s->interned.size = 0;
	return put_packet(s, &token, e);
}

static int put_clocks(struct state *s, const struct clock *clock, uint64_t time)
{
	int64_t wall = clock && clock->flags & CLOCK_HAS_WALL ? clock->wall : 0;
	uint64_t times[2] = {time, time + (uint64_t)wall};
	static const uint8_t ids[2] = {CLOCK_BOOTTIME_ID, CLOCK_REALTIME_ID};

	if (!clock || !(clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)))
		return 0;
	s->part.size = 0;
	for (int i = 0; i < 2; i++) {
		s->bit.size = 0;
		if (protobuf_uint(&s->bit, CLOCK_ID, ids[i]) ||
		    protobuf_uint(&s->bit, CLOCK_TIMESTAMP, times[i]) ||
		    protobuf_message(&s->part, SNAPSHOT_CLOCK, &s->bit))
			return -1;
	}
	return protobuf_message(&s->packet, PACKET_CLOCK_SNAPSHOT, &s->part);
}

static int put_first(struct state *s, const struct event *ev, struct error *e)
{
	uint64_t token;

	if (begin_packet(s, ev->time, STATE_CLEARED) ||
	    protobuf_uint(&s->packet, PACKET_FIRST, 1) || put_clocks(s, ev->lane->clock, ev->time))
		return error_no_memory(e);
	return put_packet(s, &token, e);
}

/* --- tracks --- */

static uint64_t uuid_of(enum track_kind kind, uint32_t thread, uint32_t which)
{
	return (uint64_t)kind << 56 | (uint64_t)thread << 16 | (which & 0xffff);
}

static int put_text(struct state *s, struct buffer *to, uint32_t field, const void *p, size_t n)
{
	s->bit.size = 0;
	return utf8_append(&s->bit, p, n) || protobuf_message(to, field, &s->bit) ? -1 : 0;
}

static int put_descriptor(struct state *s, uint64_t time, struct error *e)
{
	uint64_t token;
	struct buffer descriptor = s->part;

	if (begin_packet(s, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_DESCRIPTOR, &descriptor))
		return error_no_memory(e);
	return put_packet(s, &token, e);
}

static int describe_process(struct state *s, uint32_t index, uint64_t time, struct error *e)
{
	struct track_process *p = &s->tracks.processes[index];
	struct text_ref comm = dictionary_string(s->names.dictionary, p->comm);
	struct buffer *b = &s->clean;

	p->renamed = false;
	b->size = s->part.size = 0;
	if (protobuf_uint(b, PROCESS_PID, (uint64_t)p->shown) ||
	    (p->comm && put_text(s, b, PROCESS_NAME, comm.text, comm.size)) ||
	    protobuf_uint(&s->part, TRACK_UUID, uuid_of(OF_PROCESS, index, 0)) ||
	    protobuf_message(&s->part, TRACK_PROCESS, b))
		return error_no_memory(e);
	return put_descriptor(s, time, e);
}

static int describe_thread(struct state *s, struct track *t, const struct lane *lane, uint64_t time,
			   struct error *e)
{
	struct buffer *b = &s->clean;

	if (s->tracks.processes[t->process].renamed && describe_process(s, t->process, time, e))
		return -1;
	t->renamed = false;
	b->size = s->part.size = s->kept.size = 0;
	if (track_name(t, lane, &s->kept) || protobuf_uint(b, THREAD_PID, (uint64_t)t->pid) ||
	    protobuf_uint(b, THREAD_TID, (uint64_t)t->tid) ||
	    put_text(s, b, THREAD_NAME, s->kept.data, s->kept.size) ||
	    protobuf_uint(&s->part, TRACK_UUID, uuid_of(OF_THREAD, t->thread - 1, 0)) ||
	    protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_PROCESS, t->process, 0)) ||
	    protobuf_message(&s->part, TRACK_THREAD, b))
		return error_no_memory(e);
	return put_descriptor(s, time, e);
}

/* The track of a thread, or one below it; declared when it is new. */
static int track_of(struct state *s, enum track_kind kind, uint32_t thread, uint32_t which,
		    const struct lane *lane, uint64_t time, uint64_t *uuid, struct error *e)
{
	static const char *const names[] = {[OF_KERNEL] = "kernel",
					    [OF_BEFORE] = "called before the trace",
					    [OF_OVERLAP] = "overlapping"};
	struct track *t = tracks_get(&s->tracks, thread, lane);
	uint32_t had;

	if (!t)
		return error_no_memory(e);
	if (__builtin_expect(t->renamed, 0) && describe_thread(s, t, lane, time, e))
		return -1;
	*uuid = uuid_of(kind, thread, which);
	if (__builtin_expect(kind == OF_THREAD, 1))
		return 0;
	had = s->declared.count;
	if (intern(&s->declared, uuid, sizeof *uuid) == INTERN_NONE)
		return error_no_memory(e);
	if (s->declared.count == had)
		return 0;
	s->part.size = 0;
	if (protobuf_uint(&s->part, TRACK_UUID, *uuid) ||
	    put_text(s, &s->part, TRACK_NAME, names[kind], strlen(names[kind])) ||
	    protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, thread, 0)))
		return error_no_memory(e);
	return put_descriptor(s, time, e);
}

/* --- interned strings --- */

/* A string of the dictionary, by its number, as this kind of name. */
static int intern_name(struct state *s, unsigned kind, uint32_t number)
{
	struct text_ref text;
	uint8_t *known = array_reach(s->known[kind], &s->nknown[kind], number, 1);

	if (!known)
		return -1;
	s->known[kind] = known;
	if (known[number])
		return 0;
	s->known[kind][number] = 1;
	text = dictionary_string(s->names.dictionary, number);
	s->clean.size = 0;
	return protobuf_uint(&s->clean, 1, number) ||
			       put_text(s, &s->clean, 2, text.text, text.size) ||
			       protobuf_message(&s->interned, kind, &s->clean)
		       ? -1
		       : 0;
}

/* --- events --- */

/* A text that may be large, out of kept. */
static int put_value(struct state *s, struct buffer *to, const char *p, size_t n)
{
	size_t piece;

	buffer_clear(&s->bit);
	for (; n; p += piece, n -= piece) {
		piece = buffer_piece(p, n);
		if (utf8_append(&s->bit, p, piece))
			return -1;
		if (piece == BUFFER_PIECE)
			buffer_rest(&s->kept);
	}
	return protobuf_message(to, ANNOTATION_STRING, &s->bit);
}

static int put_annotation(struct state *s, const struct attribute *item, struct buffer *event)
{
	struct buffer *b = &s->clean;
	int r;

	if (intern_name(s, INTERNED_ANNOTATION_NAME, item->name))
		return -1;
	buffer_clear(b);
	r = protobuf_uint(b, ANNOTATION_NAME_IID, item->name);
	switch (item->kind) {
	case ATTRIBUTE_BOOL: r = r || protobuf_uint(b, ANNOTATION_BOOL, item->number); break;
	case ATTRIBUTE_UINT: r = r || protobuf_uint(b, ANNOTATION_UINT, item->number); break;
	case ATTRIBUTE_INT: r = r || protobuf_uint(b, ANNOTATION_INT, item->number); break;
	case ATTRIBUTE_REAL: r = r || protobuf_double(b, ANNOTATION_DOUBLE, item->real); break;
	case ATTRIBUTE_NULL: r = r || put_text(s, b, ANNOTATION_STRING, "NULL", 4); break;
	default: r = r || put_value(s, b, item->text, item->number);
	}
	return r || protobuf_message(event, EVENT_ANNOTATION, b) ? -1 : 0;
}

/* An event of a type on a track; name 0: none. What kept says is annotated. */
static int put_event(struct state *s, unsigned type, uint64_t uuid, uint64_t time, uint32_t name,
		     uint32_t category, uint64_t *token, struct error *e)
{
	struct buffer *b = &s->part;

	buffer_clear(b);
	if (protobuf_uint(b, EVENT_TYPE, type) || protobuf_uint(b, EVENT_TRACK, uuid) ||
	    (name &&
	     (intern_name(s, INTERNED_NAME, name) || protobuf_uint(b, EVENT_NAME_IID, name))) ||
	    (category && (intern_name(s, INTERNED_CATEGORY, category) ||
			  protobuf_uint(b, EVENT_CATEGORY_IIDS, category))))
		return error_no_memory(e);
	if (s->kept.size) {
		if (attributes_read(&s->attributes, &s->kept))
			return error_no_memory(e);
		for (size_t i = 0; i < s->attributes.count; i++)
			if (put_annotation(s, &s->attributes.items[i], b))
				return error_no_memory(e);
	}
	if (put_interned(s, time, e))
		return -1;
	if (begin_packet(s, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_EVENT, b))
		return error_no_memory(e);
	return put_packet(s, token, e);
}

/* The lowest number that no open call of the thread has. */
static int take_slot(struct state *s, uint32_t thread, uint8_t *slot)
{
	uint64_t *slots = array_reach(s->slots, &s->nslots, thread, sizeof(*slots));

	if (!slots)
		return -1;
	s->slots = slots;
	*slot = SLOTS - 1;
	if (~s->slots[thread])
		*slot = (uint8_t)__builtin_ctzll(~s->slots[thread]);
	s->slots[thread] |= 1ull << *slot;
	return 0;
}

static int name_of(struct state *s, uint32_t place, uint32_t *name)
{
	uint32_t size;

	if (!place_names_get(&s->names, place, &size))
		return -1;
	*name = s->names.names[place].number;
	return 0;
}

static int span_track(struct state *s, const struct span *span, uint8_t slot, uint64_t time,
		      uint64_t *uuid, struct error *e)
{
	if (!span->begun)
		return track_of(s, OF_BEFORE, span->thread, span->level, span->lane, time, uuid, e);
	if (span->kernel)
		return track_of(s, OF_KERNEL, span->thread, 0, span->lane, time, uuid, e);
	return track_of(s, slot ? OF_OVERLAP : OF_THREAD, span->thread, slot, span->lane, time,
			uuid, e);
}

static int begin_call(void *ctx, const struct event *enter, const struct span *span,
		      struct buffer *keep, uint64_t *token, struct error *e)
{
	struct state *s = ctx;
	uint32_t name;
	uint64_t uuid;
	uint8_t slot = 0;

	if (enter->type->flags & TYPE_CALL_NUMBER &&
	    (take_slot(s, span->thread, &slot) || buffer_u8(keep, slot)))
		return error_no_memory(e);
	if (span_track(s, span, slot, enter->time, &uuid, e))
		return -1;
	buffer_clear(&s->kept);
	if (name_of(s, span->place, &name) || attributes_append(&s->attributes, enter, &s->kept))
		return error_no_memory(e);
	return put_event(s, TYPE_BEGIN, uuid, enter->time, name, 0, token, e);
}

static int end_call(void *ctx, const struct span *span, const struct event *leave, struct error *e)
{
	struct state *s = ctx;
	uint8_t slot = span->kept_size ? span->kept->data[span->kept_at] : 0;
	uint64_t uuid, token;
	uint32_t name;

	if (span->kept_size)
		s->slots[span->thread] &= ~(1ull << slot);
	if (span->unfinished && s->drop)
		return span->begun ? revocable_revoke(&s->held, span->token, e) : 0;
	if (span_track(s, span, slot, span->end, &uuid, e))
		return -1;
	buffer_clear(&s->kept);
	if (!span->begun) {
		if (name_of(s, span->place, &name))
			return error_no_memory(e);
		if (put_event(s, TYPE_BEGIN, uuid, span->start, name, 0, &token, e))
			return -1;
	}
	if ((leave && attributes_append(&s->attributes, leave, &s->kept)) ||
	    (span->unfinished &&
	     attributes_append_bool(&s->attributes, "unfinished", true, &s->kept)))
		return error_no_memory(e);
	return put_event(s, TYPE_END, uuid, span->end, 0, 0, &token, e);
}

/* --- counters: a track for each value --- */

static int counter_track(struct state *s, uint32_t thread, uint32_t name, uint32_t value,
			 bool several, uint64_t time, uint64_t *uuid, struct error *e)
{
	uint32_t key[3] = {thread, name, value}, had = s->counters.count;
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
	if ((several &&
	     (buffer_u8(&s->kept, ' ') || buffer_append(&s->kept, text.text, text.size))) ||
	    protobuf_uint(&s->part, TRACK_UUID, *uuid) ||
	    put_text(s, &s->part, TRACK_NAME, s->kept.data, s->kept.size) ||
	    protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, thread, 0)) ||
	    protobuf_message(&s->part, TRACK_COUNTER, &s->clean))
		return error_no_memory(e);
	return put_descriptor(s, time, e);
}

static int put_counter(struct state *s, const struct event *ev, uint32_t name,
		       const struct attribute *item, struct error *e)
{
	bool real = item->kind == ATTRIBUTE_REAL ||
		    (item->kind == ATTRIBUTE_UINT && item->number > INT64_MAX);
	uint64_t uuid = 0, token;

	if (counter_track(s, calls_thread(ev), name, item->name, s->attributes.count > 1, ev->time,
			  &uuid, e))
		return -1;
	s->part.size = 0;
	if (protobuf_uint(&s->part, EVENT_TYPE, TYPE_COUNTER) ||
	    protobuf_uint(&s->part, EVENT_TRACK, uuid) ||
	    (real ? protobuf_double(&s->part, EVENT_COUNTER_REAL,
				    item->kind == ATTRIBUTE_REAL ? item->real
								 : (double)item->number)
		  : protobuf_uint(&s->part, EVENT_COUNTER, item->number)) ||
	    begin_packet(s, ev->time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_EVENT, &s->part))
		return error_no_memory(e);
	return put_packet(s, &token, e);
}

static int other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct state *s = ctx;
	uint64_t uuid, token;
	uint32_t name = ev->type->name.number;

	if (track_of(s, OF_THREAD, calls_thread(ev), 0, ev->lane, ev->time, &uuid, e))
		return -1;
	buffer_clear(&s->kept);
	if (attributes_append(&s->attributes, ev, &s->kept) ||
	    (ev->place && name_of(s, ev->place, &name)))
		return error_no_memory(e);
	if (ev->type->kind == KIND_COUNTER) {
		if (attributes_read(&s->attributes, &s->kept))
			return error_no_memory(e);
		if (attributes_keep_numbers(&s->attributes)) {
			for (size_t i = 0; i < s->attributes.count; i++)
				if (put_counter(s, ev, name, &s->attributes.items[i], e))
					return -1;
			return 0;
		}
	}
	return put_event(s, TYPE_INSTANT, uuid, ev->time, name, ev->type->group.number, &token, e);
}

static const struct span_sink sink = {.begin = begin_call, .end = end_call, .other = other_event};

/* --- the encoder --- */

static int render_nothing(struct buffer *to, const char *name, size_t n)
{
	(void)name;
	(void)n;
	return buffer_reserve(to, 1);
}

static int perfetto_begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->drop = en->options->drop;
	/* through which an event's values go */
	s->kept.spills = s->bit.spills = s->clean.spills = s->part.spills = true;
	s->packet.spills = s->out.spills = true;
	revocable_init(&s->held);
	spans_init(&s->spans, en->dictionary, &sink, s);
	place_names_init(&s->names, en->dictionary, render_nothing);
	attributes_init(&s->attributes, en->dictionary);
	return 0;
}

static int perfetto_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;

	if (!s->started) {
		s->started = true;
		if (put_first(s, ev, e))
			return -1;
	}
	if (spans_event(&s->spans, ev, e))
		return -1;
	return s->out.size > CHUNK ? write_out(en, e) : 0;
}

static int perfetto_end(struct encoding *en, struct error *e)
{
	struct state *s = en->state;

	if (spans_finish(&s->spans, e) ||
	    (s->drop ? revocable_copy(&s->held, en->out, e) : write_out(en, e)))
		return -1;
	if (!en->options->quiet) {
		place_names_report(&s->names);
		spans_report(&s->spans, s->drop);
		attributes_report(&s->attributes);
	}
	return 0;
}

static void free_state(struct state *s)
{
	struct buffer *buffers[] = {&s->out,	  &s->packet, &s->part, &s->bit,
				    &s->interned, &s->kept,   &s->clean};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	for (size_t i = 0; i < INTERNED_KINDS; i++)
		free(s->known[i]);
	revocable_free(&s->held);
	spans_free(&s->spans);
	tracks_free(&s->tracks);
	place_names_free(&s->names);
	attributes_free(&s->attributes);
	intern_free(&s->declared);
	intern_free(&s->counters);
	free(s->slots);
	free(s);
}

static void perfetto_free(struct encoding *en)
{
	if (en->state)
		free_state(en->state);
	en->state = NULL;
}

const struct encoder encoder_perfetto = {
	.name = "perfetto",
	.suffixes = ".perfetto-trace .pftrace",
	.purpose = "Perfetto's own format, exact and small, for ui.perfetto.dev",
	.output = ENCODER_FILE,
	.report = true,
	.begin = perfetto_begin,
	.event = perfetto_event,
	.end = perfetto_end,
	.free = perfetto_free,
};

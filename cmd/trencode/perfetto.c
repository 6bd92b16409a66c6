/*
 * perfetto.c - Perfetto
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/attributes.h"
#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/stack_profile.h"
#include "cmd/trencode/path.h"
#include "cmd/trencode/spans.h"
#include "cmd/trencode/tracks.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/pairs/flows.h"
#include "common/protobuf/protobuf.h"
#include "common/scheduling/scheduling.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/text.h"
#include "common/value/json.h"
#include "common/value/value_text.h"

/* Kinds of names that are interned: numbers of fields of InternedData below this. */
enum { NAME_KINDS = INTERNED_SOURCE_LOCATION + 1 };

/* The tracks of a thread: number of the kind << 56 | thread << 16 | which. */
enum track_kind {
	OF_PROCESS = 1,
	OF_THREAD,
	OF_KERNEL,
	OF_BEFORE,  /* which: the level */
	OF_OVERLAP, /* which: the slot */
	OF_COUNTER, /* the number of the counter, instead of thread and which */
	OF_OTHER,   /* the number of the track, as of a counter */
	TRACK_KINDS,
};

/* A bundle has at most so many events and bytes of events. */
enum { BUNDLE_EVENTS = 1024, BUNDLE_BYTES = 64 * 1024, BUNDLE_COMMS = 128 };

/* The thread that runs on a CPU. */
struct running {
	bool known, derived; /* derived: its switch is in that bundle */
	int64_t tid, prio;
	uint32_t comm; /* string of the dictionary */
};

struct ftrace_bundle {
	struct buffer events, compact[COMPACT_FIELDS]; /* columns: packed */
	uint64_t switched, woken;		       /* times of the last row of the columns */
	uint32_t comms[BUNDLE_COMMS], ncomms;
	uint32_t count;
};

/* A CPU and its bundles: of events that are nowhere else, and of derived ones. */
struct ftrace_cpu {
	struct running running;
	struct ftrace_bundle bundles[2];
	bool lost; /* events before the next bundle are missing */
};

/* The maps of a space, by address. */
struct map_index {
	uint32_t *order; /* indexes of maps */
	size_t count;
};

struct perfetto_samples {
	struct intern types;	/* what one sequence has */
	struct intern known;	/* sequence, kind and number: was interned */
	struct intern counters; /* sequence and CPU */
	uint64_t *counts;	/* by counter: sum of the weights */
	size_t ncounts;
	struct intern mappings; /* space and map; number + 1 is the id */
	struct map_index *maps; /* by number of the space */
	size_t nmaps;
	struct buffer message, text, path; /* path: u32 locations, outermost first */
	struct buffer interned;
	uint64_t negative; /* samples left out */
	uint64_t reduced;  /* samples with fields beside the weight */
};

/* One run of the encoder. */
struct perfetto_encoder {
	struct spans spans;
	struct tracks tracks;
	struct location_names names;
	struct attributes attributes;
	struct flows flows;
	struct why_path *path;	 /* of --why; NULL: not given */
	struct json_reader json; /* of an attribute */
	/* with --unclosed=drop: the packets, until the end; before each its size, u32, 0 if it is
	   revoked, and the same once more: the bytes up to the next one */
	struct buffer held;
	uint64_t token;			      /* of the packet written last */
	struct buffer out, packet, part, bit; /* out: bytes to be written */
	struct buffer interned, kept, clean;
	uint8_t *known[NAME_KINDS]; /* by string: was sent */
	size_t nknown[NAME_KINDS];
	struct intern declared; /* child tracks */
	struct intern counters; /* thread, name, name of the value */
	struct {
		struct intern keys;
		uint64_t *uuids; /* by number of the key */
		size_t capacity;
	} others; /* tracks with a name, and those of track_id, by what identifies the track */
	struct perfetto_samples samples;
	uint64_t *slots; /* by thread: overlapping calls that are open */
	size_t nslots;
	struct {
		struct scheduling_types types;
		struct ftrace_cpu **cpus; /* by number */
		size_t ncpus;
		uint32_t source; /* number + 1 of the source whose events are in bundles; 0 none yet
				  */
		bool waking;	 /* the source has SCHEDULING_WAKING */
		struct buffer bundle, event, fields;
	} ftrace;
	bool started, drop;
};

/* A function that returns int returns 0, or -1 with *e filled; without e, -1 when out of memory. */

/* What identifies a track. */
struct track_of {
	enum track_kind kind;
	uint32_t thread, which; /* which: of several of a kind */
	const struct lane *lane;
	bool states; /* of the states of a track of Perfetto */
};

enum { SEQUENCE = 1, HELD_HEADER = 8 };

static int perfetto_write_out(struct encoding *en, struct error *e)
{
	struct perfetto_encoder *s = en->state;
	int r = output_write_buffer(en->out, &s->out, e);

	buffer_clear(&s->out);
	return r;
}

/* Write the packet; if calls may be dropped, s->token is where it is in s->held. */
static int perfetto_put_packet(struct perfetto_encoder *s, struct error *e)
{
	struct buffer *out = s->drop ? &s->held : &s->out;
	size_t n;

	s->token = out->size;
	if ((s->drop && buffer_zero(out, HELD_HEADER)) ||
	    protobuf_message(out, TRACE_PACKET, &s->packet))
		return error_no_memory(e);
	buffer_clear(&s->packet);
	if (!s->drop)
		return 0;
	n = out->size - s->token - HELD_HEADER;
	if (n > UINT32_MAX)
		return error_set(e, NULL, NO_OFFSET, "a record of %zu bytes is too large", n);
	put_u32(out->data + s->token, (uint32_t)n);
	put_u32(out->data + s->token + 4, (uint32_t)n);
	return 0;
}

/* Write the packets that are held, but for those that were revoked. */
static int perfetto_put_held(struct perfetto_encoder *s, struct output *to, struct error *e)
{
	const struct buffer *b = &s->held;
	size_t read = 0;

	for (size_t at = 0, end; at < b->size; at = end) {
		size_t left = get_u32(b->data + at), piece;

		at += HELD_HEADER;
		end = at + get_u32(b->data + at - 4);
		for (; left; at += piece, left -= piece) {
			piece = left < BUFFER_PIECE ? left : BUFFER_PIECE;
			if (output_write(to, b->data + at, piece, e))
				return -1;
			read += piece;
			if (read >= BUFFER_PIECE) {
				buffer_rest(b);
				read = 0;
			}
		}
	}
	return 0;
}

/* Write a packet of a bundle of ftrace events. derived: the events are in other packets, too. */
static int perfetto_put_bundle(struct perfetto_encoder *s, bool derived,
			       const struct buffer *message, struct error *e)
{
	uint32_t sequence = derived ? PERFETTO_DERIVED_SEQUENCE : SEQUENCE;

	buffer_clear(&s->packet);
	if (protobuf_uint(&s->packet, PACKET_SEQUENCE_ID, sequence) ||
	    protobuf_message(&s->packet, PACKET_FTRACE, message))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

static int perfetto_begin_packet(struct perfetto_encoder *s, uint32_t sequence, uint64_t time,
				 unsigned flags)
{
	s->packet.size = 0;
	return protobuf_uint(&s->packet, PACKET_TIMESTAMP, time) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_ID, sequence) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_FLAGS, flags)
		       ? -1
		       : 0;
}

/* Write the names that the next packet uses for the first time, as a packet. */
static int perfetto_put_interned(struct perfetto_encoder *s, uint64_t time, struct error *e)
{

	if (!s->interned.size)
		return 0;
	if (perfetto_begin_packet(s, SEQUENCE, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_INTERNED_DATA, &s->interned))
		return error_no_memory(e);
	s->interned.size = 0;
	return perfetto_put_packet(s, e);
}

static int perfetto_put_clocks(struct perfetto_encoder *s, const struct clock *clock, uint64_t time)
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

/* Write the first packet of the events: it clears the reader's state and describes the clock. */
static int perfetto_put_first(struct perfetto_encoder *s, const struct event *ev, struct error *e)
{

	s->started = true;
	if (perfetto_begin_packet(s, SEQUENCE, ev->time, STATE_CLEARED) ||
	    protobuf_uint(&s->packet, PACKET_FIRST, 1) ||
	    perfetto_put_clocks(s, ev->lane->clock, ev->time))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

/* Append a text as a field; invalid UTF-8 is replaced. */
static int perfetto_put_text(struct perfetto_encoder *s, struct buffer *to, uint32_t field,
			     const void *p, size_t n)
{
	s->bit.size = 0;
	return utf8_append(&s->bit, p, n) || protobuf_message(to, field, &s->bit) ? -1 : 0;
}

/* Write s->part as the descriptor of a track. */
static int perfetto_put_descriptor(struct perfetto_encoder *s, uint64_t time, struct error *e)
{
	struct buffer descriptor = s->part;

	if (perfetto_begin_packet(s, SEQUENCE, time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_DESCRIPTOR, &descriptor))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

/* Note that a number is interned. Returns 1 if it was, 0 if it is new, -1 when out of memory. */
static int intern_known(struct perfetto_encoder *s, unsigned kind, uint32_t number)
{
	int was;

	if (ARRAY_REACH(s->known[kind], s->nknown[kind], number))
		return -1;
	was = s->known[kind][number];
	s->known[kind][number] = 1;
	return was;
}

/* Intern the source file and line of a location, by its number. */
static int perfetto_intern_line(struct perfetto_encoder *s, uint32_t location,
				const struct location_symbol *symbol)
{
	int known = intern_known(s, INTERNED_SOURCE_LOCATION, location);

	if (known)
		return known < 0 ? -1 : 0;
	s->clean.size = 0;
	return protobuf_uint(&s->clean, ENTRY_IID, location) ||
			       perfetto_put_text(s, &s->clean, SOURCE_FILE, symbol->file.text,
						 symbol->file.size) ||
			       protobuf_uint(&s->clean, SOURCE_LINE, symbol->line) ||
			       protobuf_message(&s->interned, INTERNED_SOURCE_LOCATION, &s->clean)
		       ? -1
		       : 0;
}

/* Intern a string of the dictionary, by its number, as a name of this kind. */
static int perfetto_intern_name(struct perfetto_encoder *s, unsigned kind, uint32_t number)
{
	struct text_ref text;
	int known = intern_known(s, kind, number);

	if (known)
		return known < 0 ? -1 : 0;
	text = dictionary_string(s->names.dictionary, number);
	s->clean.size = 0;
	return protobuf_uint(&s->clean, 1, number) ||
			       perfetto_put_text(s, &s->clean, 2, text.text, text.size) ||
			       protobuf_message(&s->interned, kind, &s->clean)
		       ? -1
		       : 0;
}

/* --- perfetto tracks --- */

enum { SLOTS = 64 };

/* What identifies a track of perfetto_encoder.others: a name of a thread and the slot, or a
 * track_id of a source. */
enum { OF_NAME, OF_ID, OF_PATH };

static const char *const track_names[] = {[OF_KERNEL] = "kernel",
					  [OF_BEFORE] = "called before the trace",
					  [OF_OVERLAP] = PERFETTO_OVERLAPPING};

static uint64_t uuid_of(enum track_kind kind, uint32_t thread, uint32_t which)
{
	return (uint64_t)kind << 56 | (uint64_t)thread << 16 | (which & 0xffff);
}

static int describe_process(struct perfetto_encoder *s, uint32_t index, uint64_t time,
			    struct error *e)
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

static int describe_thread(struct perfetto_encoder *s, struct track *t, const struct lane *lane,
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

/* Test for an instant, counter or gap of no thread, process or CPU, which needs no track of one. */
static bool perfetto_is_global(const struct event *ev)
{
	const struct type *t = ev->type;

	if (ev->lane->flags & (LANE_HAS_TID | LANE_HAS_PID | LANE_HAS_CPU) || ev->lane->buffer.size)
		return false;
	return t->kind == KIND_GAP || ((t->kind == KIND_INSTANT || t->kind == KIND_COUNTER) &&
				       (type_is_of(t, "perfetto") ||
					(type_is_of(t, "chrome") && t->native & CHROME_GLOBAL)));
}

static bool perfetto_has_thread(const struct lane *lane)
{
	return lane->flags & (LANE_HAS_TID | LANE_HAS_CPU);
}

/* Get the place of the uuid of a track, by its key. *known: the track has one. NULL: out of
 * memory. */
static uint64_t *other_uuid(struct perfetto_encoder *s, const uint32_t key[4], bool *known)
{
	uint32_t had = s->others.keys.count;
	uint32_t number = intern(&s->others.keys, key, 4 * sizeof *key);

	if (number == INTERN_NONE || ARRAY_REACH(s->others.uuids, s->others.capacity, number))
		return NULL;
	*known = number < had;
	if (!*known)
		s->others.uuids[number] = (uint64_t)OF_OTHER << 56 | number;
	return &s->others.uuids[number];
}

/* Write the descriptor of a track with a name, below that of its thread, if it has one. */
static int describe_other(struct perfetto_encoder *s, const struct track_of *of, uint64_t time,
			  uint64_t uuid, struct error *e)
{
	struct text_ref name = of->lane->buffer;

	if (!name.size && perfetto_has_thread(of->lane)) {
		name.text = track_names[OF_OVERLAP];
		name.size = strlen(track_names[OF_OVERLAP]);
	}
	s->part.size = 0;
	if (protobuf_uint(&s->part, TRACK_UUID, uuid) ||
	    (name.size && perfetto_put_text(s, &s->part, TRACK_NAME, name.text, name.size)) ||
	    (perfetto_has_thread(of->lane) &&
	     protobuf_uint(&s->part, TRACK_PARENT, uuid_of(OF_THREAD, of->thread, 0))) ||
	    (of->states && protobuf_bytes(&s->part, TRACK_STATES, "", 0)))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, time, e);
}

/* Get the track of such a lane. */
static int named_track(struct perfetto_encoder *s, const struct track_of *of, uint64_t time,
		       uint64_t *uuid, struct error *e)
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
static int thread_track(struct perfetto_encoder *s, const struct track_of *of, uint64_t time,
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

/* Get the track_id of an asynchronous call that was read from Perfetto's format. */
static bool perfetto_track_id(const struct event *ev, uint64_t *id)
{
	const struct field *f = track_id_field(ev->type);
	struct field_value v;

	if (!f)
		return false;
	field_get(ev, f, 0, &v);
	*id = v.u;
	return v.form != FORM_NONE;
}

/* Test for the type of such a call whose track_id is the uuid of its track. */
static bool perfetto_has_own_track(const struct type *t)
{
	return (t->native == 'B' || t->native == 'E' || t->native == 'S') && track_id_field(t);
}

/* Test for the type of such a call that is a state of its track. */
static bool perfetto_is_state(const struct type *t)
{
	return t->native == 'S' && track_id_field(t);
}

/* Get the track of such a call. */
static int perfetto_own_track(struct perfetto_encoder *s, const struct event *enter, uint64_t *uuid,
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
	if (perfetto_has_thread(lane) && thread_track(s, &of, enter->time, e))
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

/* Get the track of a thread, or a track below it; a new track is declared. */
static int perfetto_put_track(struct perfetto_encoder *s, const struct track_of *of, uint64_t time,
			      uint64_t *uuid, struct error *e)
{
	bool named = (of->kind == OF_THREAD || of->kind == OF_OVERLAP) && track_is_other(of->lane);
	uint32_t had;

	if (named && !perfetto_has_thread(of->lane))
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

/* Take the lowest slot that no open call of the thread has; apart: not 0, the thread's own track.
 */
static int perfetto_take_slot(struct perfetto_encoder *s, uint32_t thread, bool apart,
			      uint8_t *slot)
{
	if (ARRAY_REACH(s->slots, s->nslots, thread))
		return -1;
	*slot = SLOTS - 1;
	if (~(s->slots[thread] | apart))
		*slot = (uint8_t)__builtin_ctzll(~(s->slots[thread] | apart));
	s->slots[thread] |= 1ull << *slot;
	return 0;
}

static int perfetto_span_track(struct perfetto_encoder *s, const struct span *span, uint8_t slot,
			       uint64_t time, uint64_t *uuid, struct error *e)
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
	return perfetto_put_track(s, &of, time, uuid, e);
}

/* Get the track of the counter of an event, by strings of the dictionary: its name and, if the
 * event has several values, the value's name; else 0. */
static int perfetto_counter_track(struct perfetto_encoder *s, const struct event *ev, uint32_t name,
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

/* --- attributes as debug annotations; arrays and structs have nested ones --- */

enum {
	NESTED_MOST = 30,	/* readers do not go deeper */
	NESTED_BYTES = 1 << 20, /* a longer text stays one, as nested messages are in memory */
	LENGTH_ROOM = 5,	/* bytes that are kept for the length of a message */
};

/* Append a text of s->kept, which may be large. */
static int perfetto_annotations_put_text(struct perfetto_encoder *s, struct buffer *to,
					 const char *p, size_t n)
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

/* --- nested annotations --- */

/* Begin a message, whose contents are at *at. */
static int begin_message(struct buffer *b, uint32_t field, size_t *at)
{
	static const uint8_t room[LENGTH_ROOM];

	if (protobuf_key(b, field, PROTOBUF_LENGTH) || buffer_append(b, room, sizeof room))
		return -1;
	*at = b->size;
	return 0;
}

static void end_message(struct buffer *b, size_t at)
{
	size_t size = b->size - at, n = varint_size(size);
	uint8_t *p = b->data + at - LENGTH_ROOM;

	memmove(p + n, b->data + at, size);
	for (size_t i = 0, rest = size; i < n; i++, rest >>= 7)
		p[i] = (uint8_t)((rest & 0x7f) | (i + 1 < n ? 0x80 : 0));
	b->size -= LENGTH_ROOM - n;
}

static int perfetto_put_number(struct perfetto_encoder *s, struct buffer *b)
{
	struct values v;
	struct value number;

	s->bit.size = 0;
	if (json_put_scalar(&s->json, JSON_NUMBER, &s->bit))
		return -1;
	values_begin(&v, s->bit.data, s->bit.size);
	if (!values_value(&v, &number))
		return -1;
	if (number.tag == VALUE_UINT)
		return protobuf_uint(b, ANNOTATION_UINT, number.number);
	if (number.tag == VALUE_NEGATIVE)
		return protobuf_uint(b, ANNOTATION_INT, number.number);
	return protobuf_double(b, ANNOTATION_DOUBLE, get_double(number.bytes));
}

static int perfetto_put_scalar(struct perfetto_encoder *s, enum json_token token, struct buffer *b)
{
	const struct buffer *text = &s->json.text;

	switch (token) {
	case JSON_TRUE:
	case JSON_FALSE: return protobuf_uint(b, ANNOTATION_BOOL, token == JSON_TRUE);
	case JSON_NULL: return protobuf_bytes(b, ANNOTATION_JSON, "null", 4);
	case JSON_NUMBER: return perfetto_put_number(s, b);
	default: return protobuf_bytes(b, ANNOTATION_STRING, text->data, text->size);
	}
}

/* Append the elements of an array or the members of an object, the JSON of an attribute. Returns 1
 * if they are nested too deep: nothing is appended. */
static int perfetto_put_nested(struct perfetto_encoder *s, const struct attribute *item,
			       struct buffer *b)
{
	struct json_reader *r = &s->json;
	size_t start = b->size, outer[NESTED_MOST], entry = 0;
	enum json_token token, before = JSON_END;
	unsigned depth = 0;

	json_open_text(r, item->text, item->number);
	for (;; before = token) {
		token = json_next(r);
		if (token == JSON_BAD || token == JSON_END || depth == NESTED_MOST) {
			b->size = start;
			return 1;
		}
		if (token == JSON_KEY) {
			if (begin_message(b, ANNOTATION_DICT, &entry) ||
			    protobuf_bytes(b, ANNOTATION_NAME, r->text.data, r->text.size))
				return -1;
			continue;
		}
		if (token == JSON_OBJECT_END || token == JSON_ARRAY_END) {
			/* no entries are no value */
			if ((before == JSON_OBJECT || before == JSON_ARRAY) &&
			    protobuf_bytes(b, ANNOTATION_JSON,
					   token == JSON_ARRAY_END ? "[]" : "{}", 2))
				return -1;
			entry = outer[--depth];
			if (!depth)
				return 0;
			end_message(b, entry);
			continue;
		}
		if (depth && before != JSON_KEY && begin_message(b, ANNOTATION_ARRAY, &entry))
			return -1;
		if (token == JSON_OBJECT || token == JSON_ARRAY) {
			outer[depth++] = entry;
			continue;
		}
		if (!depth || perfetto_put_scalar(s, token, b))
			return -1;
		end_message(b, entry);
	}
}

/* --- annotations --- */

/* Append an attribute of s->kept to an event. */
static int perfetto_put_annotation(struct perfetto_encoder *s, const struct attribute *item,
				   struct buffer *event)
{
	struct buffer *b = &s->clean;
	int r;

	if (perfetto_intern_name(s, INTERNED_ANNOTATION_NAME, item->name))
		return -1;
	buffer_clear(b);
	r = protobuf_uint(b, ANNOTATION_NAME_IID, item->name);
	switch (item->kind) {
	case ATTRIBUTE_BOOL: r = r || protobuf_uint(b, ANNOTATION_BOOL, item->number); break;
	case ATTRIBUTE_UINT: r = r || protobuf_uint(b, ANNOTATION_UINT, item->number); break;
	case ATTRIBUTE_INT: r = r || protobuf_uint(b, ANNOTATION_INT, item->number); break;
	case ATTRIBUTE_REAL: r = r || protobuf_double(b, ANNOTATION_DOUBLE, item->real); break;
	case ATTRIBUTE_NULL: r = r || protobuf_bytes(b, ANNOTATION_JSON, "null", 4); break;
	case ATTRIBUTE_JSON:
		r = r ? -1 : item->number > NESTED_BYTES ? 1 : perfetto_put_nested(s, item, b);
		r = r == 1 ? perfetto_annotations_put_text(s, b, item->text, item->number) : r;
		break;
	default: r = r || perfetto_annotations_put_text(s, b, item->text, item->number);
	}
	return r || protobuf_message(event, EVENT_ANNOTATION, b) ? -1 : 0;
}

/* --- perfetto ftrace --- */

static struct ftrace_cpu *ftrace_cpu_of(struct perfetto_encoder *s, uint32_t cpu)
{
	if (ARRAY_REACH(s->ftrace.cpus, s->ftrace.ncpus, cpu))
		return NULL;
	if (!s->ftrace.cpus[cpu])
		s->ftrace.cpus[cpu] = calloc(1, sizeof *s->ftrace.cpus[cpu]);
	return s->ftrace.cpus[cpu];
}

/* --- bundles --- */

static int put_compact(struct perfetto_encoder *s, struct ftrace_bundle *c)
{
	struct buffer *b = &s->ftrace.event;

	buffer_clear(b);
	for (uint32_t i = 1; i < COMPACT_FIELDS; i++)
		if (c->compact[i].size && protobuf_message(b, i, &c->compact[i]))
			return -1;
	for (uint32_t i = 0; i < c->ncomms; i++) {
		struct text_ref comm = dictionary_string(s->names.dictionary, c->comms[i]);

		if (perfetto_put_text(s, b, COMPACT_COMMS, comm.text, comm.size))
			return -1;
	}
	return b->size ? protobuf_message(&s->ftrace.bundle, BUNDLE_SCHED, b) : 0;
}

static int put_bundle(struct perfetto_encoder *s, uint32_t cpu, bool derived, struct error *e)
{
	struct ftrace_bundle *c = &s->ftrace.cpus[cpu]->bundles[derived];
	struct buffer *b = &s->ftrace.bundle;
	bool *lost = &s->ftrace.cpus[cpu]->lost;

	buffer_clear(b);
	if (protobuf_uint(b, BUNDLE_CPU, cpu) || (*lost && protobuf_uint(b, BUNDLE_LOST, 1)) ||
	    buffer_append(b, c->events.data, c->events.size) || put_compact(s, c))
		return error_no_memory(e);
	buffer_clear(&c->events);
	for (size_t i = 0; i < COMPACT_FIELDS; i++)
		buffer_clear(&c->compact[i]);
	c->count = c->ncomms = 0;
	c->switched = c->woken = 0;
	*lost = false;
	return perfetto_put_bundle(s, derived, b, e);
}

/* Write the bundles that wait. */
static int perfetto_ftrace_flush(struct perfetto_encoder *s, struct error *e)
{
	for (uint32_t i = 0; i < s->ftrace.ncpus; i++)
		for (int derived = 0; derived < 2; derived++)
			if (s->ftrace.cpus[i] && s->ftrace.cpus[i]->bundles[derived].count &&
			    put_bundle(s, i, derived, e))
				return -1;
	return 0;
}

/* --- events with all fields --- */

static bool perfetto_is_softirq(const struct scheduling_type *t)
{
	return t->message >= FTRACE_SOFTIRQ_ENTRY && t->message <= FTRACE_SOFTIRQ_RAISE;
}

/* Append the fields of an event. *whole: all that the event has. -1: out of memory. */
static int perfetto_put_fields(struct perfetto_encoder *s, const struct scheduling_type *t,
			       const struct event *ev, bool *whole)
{
	struct buffer *b = &s->ftrace.fields;

	buffer_clear(b);
	for (unsigned i = 0; i < SCHEDULING_SLOTS; i++) {
		const char *text;
		size_t size;
		int64_t number;

		if (!scheduling_slot(t, ev, i) || (i == IRQ_NAME && perfetto_is_softirq(t)))
			continue;
		if (t->kind == SCHEDULING_SWITCH && i == SWITCH_PREV_STATE) {
			struct switch_state state = scheduling_state(t, ev);

			*whole &= state.perfetto != UINT32_MAX;
			if (state.perfetto != UINT32_MAX && protobuf_uint(b, i + 1, state.perfetto))
				return -1;
		} else if (t->texts >> i & 1 && scheduling_text(t, ev, i, &text, &size)) {
			if (perfetto_put_text(s, b, i + 1, text, size))
				return -1;
		} else if (scheduling_number(t, ev, i, &number)) {
			if (protobuf_uint(b, i + 1, (uint64_t)number))
				return -1;
		} else {
			*whole = false;
		}
	}
	return 0;
}

static uint64_t flags_of(const struct scheduling_type *t, const struct event *ev)
{
	struct field_value v = {.form = FORM_NONE};

	if (t->flags)
		field_get(ev, t->flags, 0, &v);
	return v.form == FORM_UINT || v.form == FORM_INT ? v.u : 0;
}

/* Get the thread that runs at an event. */
static int64_t tid_of(const struct ftrace_cpu *c, const struct scheduling_type *t,
		      const struct lane *lane)
{
	if (lane->flags & LANE_HAS_TID && (!t->cpu || !c->running.known))
		return lane->tid;
	return c->running.known ? c->running.tid : 0;
}

static int put_whole(struct perfetto_encoder *s, struct ftrace_cpu *c,
		     const struct scheduling_type *t, uint32_t message, const struct event *ev,
		     bool *whole)
{
	struct buffer *b = &s->ftrace.event;
	uint64_t flags = flags_of(t, ev);

	*whole &= message == t->message;
	buffer_clear(b);
	if (perfetto_put_fields(s, t, ev, whole) || protobuf_uint(b, FTRACE_TIME, ev->time) ||
	    protobuf_uint(b, FTRACE_PID, (uint64_t)tid_of(c, t, ev->lane)) ||
	    (flags && protobuf_uint(b, FTRACE_FLAGS, flags)) ||
	    protobuf_message(b, message, &s->ftrace.fields))
		return -1;
	c->bundles[!*whole].count++;
	return protobuf_message(&c->bundles[!*whole].events, BUNDLE_EVENT, b);
}

/* --- columns --- */

/* Get the index of a text in the bundle's table of comms; BUNDLE_COMMS: the table is full. */
static uint32_t comm_index(struct ftrace_bundle *c, uint32_t comm)
{
	uint32_t i = 0;

	while (i < c->ncomms && c->comms[i] != comm)
		i++;
	if (i == c->ncomms && i < BUNDLE_COMMS)
		c->comms[c->ncomms++] = comm;
	return i;
}

static uint32_t perfetto_string_of(struct perfetto_encoder *s, const struct scheduling_type *t,
				   const struct event *ev, unsigned slot)
{
	const char *text;
	size_t size;

	if (!scheduling_text(t, ev, slot, &text, &size))
		return 0;
	return dictionary_text(s->names.dictionary, text, size).number;
}

/* Append a row of n columns from the given one on. -1: out of memory. */
static int encode_perfetto_put_row(struct ftrace_bundle *c, const uint8_t *columns,
				   const uint64_t *values, size_t n)
{
	c->count++;
	for (size_t i = 0; i < n; i++)
		if (buffer_uleb(&c->compact[columns[i]], values[i]))
			return -1;
	return 0;
}

/* Take a switch, as a row if the columns can hold it. */
static int put_switch(struct perfetto_encoder *s, struct ftrace_cpu *c,
		      const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	static const uint8_t columns[] = {COMPACT_SWITCH_TIME, COMPACT_SWITCH_STATE,
					  COMPACT_SWITCH_PID, COMPACT_SWITCH_PRIO,
					  COMPACT_SWITCH_COMM};
	struct running prev = {.comm = perfetto_string_of(s, t, ev, SWITCH_PREV_COMM)};
	struct running next = {.comm = perfetto_string_of(s, t, ev, SWITCH_NEXT_COMM)};
	struct switch_state state = scheduling_state(t, ev);
	bool compact, has_next = scheduling_number(t, ev, SWITCH_NEXT_TID, &next.tid);
	struct ftrace_bundle *b = &c->bundles[!*whole];
	uint32_t index;
	int failed;

	prev.known = scheduling_number(t, ev, SWITCH_PREV_TID, &prev.tid);
	compact = has_next && scheduling_number(t, ev, SWITCH_NEXT_PRIO, &next.prio) &&
		  scheduling_number(t, ev, SWITCH_PREV_PRIO, &prev.prio) && prev.known &&
		  c->running.known && c->running.derived == !*whole && c->running.tid == prev.tid &&
		  c->running.prio == prev.prio && c->running.comm == prev.comm && next.comm &&
		  state.perfetto != UINT32_MAX && ev->time >= b->switched;
	index = compact ? comm_index(b, next.comm) : BUNDLE_COMMS;
	if (index < BUNDLE_COMMS) {
		uint64_t values[] = {ev->time - b->switched, state.perfetto, (uint64_t)next.tid,
				     (uint64_t)next.prio, index};

		b->switched = ev->time;
		failed = encode_perfetto_put_row(b, columns, values, sizeof columns);
	} else {
		/* the event is of the thread that ran until then */
		c->running = prev;
		failed = put_whole(s, c, t, t->message, ev, whole);
	}
	next.known = has_next;
	next.derived = !*whole;
	c->running = next;
	return failed;
}

/* Write a waking, as a row if the columns can hold it. */
static int put_waking(struct perfetto_encoder *s, struct ftrace_cpu *c,
		      const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	static const uint8_t columns[] = {COMPACT_WAKING_TIME, COMPACT_WAKING_PID,
					  COMPACT_WAKING_CPU,  COMPACT_WAKING_PRIO,
					  COMPACT_WAKING_COMM, COMPACT_WAKING_FLAGS};
	uint32_t comm = perfetto_string_of(s, t, ev, WAKE_COMM), index = BUNDLE_COMMS;
	struct ftrace_bundle *b = &c->bundles[!*whole];
	int64_t tid, prio, cpu;

	/* the columns have neither the waker, which the last switch has, nor the success */
	if (comm && !scheduling_slot(t, ev, WAKE_SUCCESS) && ev->time >= b->woken &&
	    c->running.known && c->running.derived == !*whole &&
	    tid_of(c, t, ev->lane) == c->running.tid && scheduling_number(t, ev, WAKE_TID, &tid) &&
	    scheduling_number(t, ev, WAKE_PRIO, &prio) && scheduling_number(t, ev, WAKE_CPU, &cpu))
		index = comm_index(b, comm);
	if (index < BUNDLE_COMMS) {
		uint64_t values[] = {ev->time - b->woken, (uint64_t)tid, (uint64_t)cpu,
				     (uint64_t)prio,	  index,	 flags_of(t, ev)};

		b->woken = ev->time;
		return encode_perfetto_put_row(b, columns, values, sizeof columns);
	}
	return put_whole(s, c, t, FTRACE_SCHED_WAKING, ev, whole);
}

/* Take a waking or a wakeup. Viewers look only at wakings: a wakeup of a source that has no wakings
 * is a derived one, too. */
static int put_wakeup(struct perfetto_encoder *s, struct ftrace_cpu *c,
		      const struct scheduling_type *t, const struct event *ev, bool *whole)
{
	bool derived = false;

	if (t->kind == SCHEDULING_WAKING) {
		s->ftrace.waking = true;
		return put_waking(s, c, t, ev, whole);
	}
	if (s->ftrace.waking || t->message != FTRACE_SCHED_WAKEUP)
		return put_whole(s, c, t, t->message, ev, whole);
	if (*whole && put_whole(s, c, t, t->message, ev, whole))
		return -1;
	return put_waking(s, c, t, ev, &derived);
}

/* --- the interface --- */

/* Note that events of a CPU are missing. */
static int cpu_lost(struct perfetto_encoder *s, uint32_t cpu, struct error *e)
{
	struct ftrace_cpu *c = cpu < s->ftrace.ncpus ? s->ftrace.cpus[cpu] : NULL;

	if (!c)
		return 0;
	for (int derived = 0; derived < 2; derived++)
		if (c->bundles[derived].count && put_bundle(s, cpu, derived, e))
			return -1;
	c->running.known = false;
	/* the gap is an instant, too */
	c->lost = true;
	return put_bundle(s, cpu, true, e);
}

/* Note that events of all CPUs are missing. */
static int perfetto_ftrace_lost(struct perfetto_encoder *s, struct error *e)
{
	for (uint32_t i = 0; i < s->ftrace.ncpus; i++)
		if (cpu_lost(s, i, e))
			return -1;
	return 0;
}

static uint32_t perfetto_source_of(const struct lane *lane)
{
	return (lane->source ? lane->source->number : 0) + 1;
}

/* Take an event that is no enter or leave. *whole: it is in a bundle with all of its fields. */
static int perfetto_ftrace_event(struct perfetto_encoder *s, const struct event *ev, bool *whole,
				 struct error *e)
{
	const struct scheduling_type *t = scheduling_types_get(&s->ftrace.types, ev->type);
	const struct lane *lane = ev->lane;
	struct ftrace_cpu *c;
	uint32_t cpu;
	bool known;
	int r;

	*whole = false;
	if (!t)
		return error_no_memory(e);
	known = scheduling_cpu(t, ev, &cpu);
	if (ev->type->kind == KIND_GAP && s->ftrace.source == perfetto_source_of(lane))
		return known ? cpu_lost(s, cpu, e) : perfetto_ftrace_lost(s, e);
	if (t->kind == SCHEDULING_NONE || !known ||
	    (s->ftrace.source && s->ftrace.source != perfetto_source_of(lane)) ||
	    !scheduling_sound(t, ev, whole))
		return 0;
	s->ftrace.source = perfetto_source_of(lane);
	c = ftrace_cpu_of(s, cpu);
	if (!c)
		return error_no_memory(e);
	r = t->kind == SCHEDULING_SWITCH ? put_switch(s, c, t, ev, whole)
	    : t->kind == SCHEDULING_WAKING || t->kind == SCHEDULING_WAKEUP
		    ? put_wakeup(s, c, t, ev, whole)
		    : put_whole(s, c, t, t->message, ev, whole);
	if (r)
		return error_no_memory(e);
	for (int derived = 0; derived < 2; derived++) {
		struct ftrace_bundle *b = &c->bundles[derived];

		if ((b->count >= BUNDLE_EVENTS || b->events.size >= BUNDLE_BYTES) &&
		    put_bundle(s, cpu, derived, e))
			return -1;
	}
	return 0;
}

/*
 * Samples and recorded stacks in Perfetto's format.
 *
 * A sample is a PerfSample. The samples of one type have a sequence of packets of their own, whose
 * first packet names the event and its constant weight. The counter of a sample is the sum of the
 * weights up to it, of its type and CPU, as the kernel counts. Another event with a recorded stack
 * has the stack as its callstack.
 *
 * A stack of more than STACK_FRAMES frames is written as that of the outermost ones.
 *
 * A sequence interns each stack, frame, mapping and text once, in the packet that needs it first,
 * or before that. Their ids are the numbers of the dictionary.
 */

enum {
	FIRST_SEQUENCE = 1000, /* of samples: more than other sequences have */
	OVERLAPS = 8,	       /* maps at lower addresses that are searched */
};

#define DEEPER_IID UINT32_MAX /* of the frame STACK_DEEPER: no location has this number */

static void perfetto_samples_report(const struct perfetto_samples *k)
{
	remark_count(k->negative, SAMPLES_NEGATIVE);
	remark_count(k->reduced,
		     "{sample has|samples have} fields beside the weight, which are left out");
}

/* Note that a sequence interns something. 1: it is new; 0; -1: out of memory. */
static int perfetto_note(struct perfetto_samples *k, uint32_t sequence, uint32_t kind,
			 uint32_t number)
{
	uint32_t key[] = {sequence, kind, number}, had = k->known.count;

	if (intern(&k->known, key, sizeof key) == INTERN_NONE)
		return -1;
	return k->known.count > had;
}

/* Append an interned text. */
static int perfetto_samples_put_text(struct perfetto_samples *k, uint32_t kind,
				     struct text_ref text, struct buffer *to)
{
	size_t slash = kind == INTERNED_PATH && *text.text == '/';
	unsigned byte;

	k->text.size = 0;
	if (kind == INTERNED_BUILD_ID) {
		/* 2 hexadecimal digits for each byte */
		for (const char *p = text.text; sscanf(p, "%2x", &byte) == 1; p += 2)
			if (buffer_u8(&k->text, (uint8_t)byte))
				return -1;
	} else if (utf8_append(&k->text, text.text + slash, text.size - slash)) {
		return -1;
	}
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, text.number) ||
			       protobuf_message(&k->message, ENTRY_TEXT, &k->text) ||
			       protobuf_message(to, kind, &k->message)
		       ? -1
		       : 0;
}

/* Intern a text of the dictionary. */
static int intern_text(struct perfetto_samples *k, uint32_t sequence, uint32_t kind,
		       struct text_ref text, struct buffer *to)
{
	int is_new = perfetto_note(k, sequence, kind, text.number);

	return is_new > 0 ? perfetto_samples_put_text(k, kind, text, to) : is_new;
}

/* --- mappings --- */

static int perfetto_by_start(const void *a, const void *b, void *maps)
{
	const struct map *m = (const struct map *)maps + *(const uint32_t *)a,
			 *n = (const struct map *)maps + *(const uint32_t *)b;

	return m->start < n->start ? -1 : m->start > n->start;
}

/* Get the maps of a space in the order of their addresses. NULL: out of memory. */
static const struct map_index *perfetto_index_of(struct perfetto_samples *k,
						 const struct space *space)
{
	struct map_index *index;
	uint32_t *order;

	if (ARRAY_REACH(k->maps, k->nmaps, space->number))
		return NULL;
	index = &k->maps[space->number];
	if (index->count == space->nmaps)
		return index;
	order = reallocarray(index->order, space->nmaps, sizeof *order);
	if (!order)
		return NULL;
	for (uint32_t i = 0; i < space->nmaps; i++)
		order[i] = i;
	qsort_r(order, space->nmaps, sizeof *order, perfetto_by_start, space->maps);
	index->order = order;
	index->count = space->nmaps;
	return index;
}

/* Find the map of an address. *map: NULL if there is none. */
static int perfetto_find_map(struct perfetto_samples *k, const struct space *space,
			     uint64_t address, const struct map **map)
{
	const struct map_index *index = perfetto_index_of(k, space);
	size_t low;

	*map = NULL;
	if (!index)
		return -1;
	low = BISECT(index->count, i, space->maps[index->order[i]].start <= address);
	for (size_t i = low; i-- && low - i <= OVERLAPS && !*map;)
		if (address < space->maps[index->order[i]].end)
			*map = &space->maps[index->order[i]];
	return 0;
}

/* Intern a mapping. */
static int intern_mapping(struct perfetto_samples *k, uint32_t sequence, const struct map *map,
			  uint32_t *iid, struct buffer *to)
{
	uint32_t key[] = {map->space->number, (uint32_t)(map - map->space->maps)};
	uint32_t number = intern(&k->mappings, key, sizeof key);
	int is_new;

	if (number == INTERN_NONE)
		return -1;
	*iid = number + 1;
	is_new = perfetto_note(k, sequence, INTERNED_MAPPING, *iid);
	if (is_new <= 0)
		return is_new;
	if ((map->path.size && intern_text(k, sequence, INTERNED_PATH, map->path, to)) ||
	    (map->build_id.size && intern_text(k, sequence, INTERNED_BUILD_ID, map->build_id, to)))
		return -1;
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, *iid) ||
			       (map->build_id.size && protobuf_uint(&k->message, MAPPING_BUILD_ID,
								    map->build_id.number)) ||
			       protobuf_uint(&k->message, MAPPING_OFFSET, map->offset) ||
			       protobuf_uint(&k->message, MAPPING_START, map->start) ||
			       protobuf_uint(&k->message, MAPPING_END, map->end) ||
			       (map->path.size &&
				protobuf_uint(&k->message, MAPPING_PATH, map->path.number)) ||
			       protobuf_message(to, INTERNED_MAPPING, &k->message)
		       ? -1
		       : 0;
}

/* --- frames and stacks --- */

/* Intern the frame of a location: its function, where it is in a mapped file, its source line. */
static int intern_frame(struct perfetto_encoder *s, uint32_t sequence, uint32_t location,
			struct buffer *to)
{
	struct perfetto_samples *k = &s->samples;
	const struct location *l = dictionary_location(s->names.dictionary, location);
	const struct location_symbol *symbol = l ? l->symbol : NULL;
	struct text_ref name = dictionary_location_name(s->names.dictionary, location);
	bool has_source = symbol && symbol->file.size;
	const struct map *map = NULL;
	uint32_t mapping = 0, size;
	int is_new = perfetto_note(k, sequence, INTERNED_FRAME, location);

	if (is_new <= 0)
		return is_new;
	/* location_names reports the functions without a name */
	if (!location_names_get(&s->names, location, &size) ||
	    intern_text(k, sequence, INTERNED_FUNCTION, name, to) ||
	    (l && l->space && perfetto_find_map(k, l->space, l->address, &map)) ||
	    (map && intern_mapping(k, sequence, map, &mapping, to)) ||
	    (has_source && intern_text(k, sequence, INTERNED_SOURCE_PATH, symbol->file, to)))
		return -1;
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, location) ||
			       protobuf_uint(&k->message, FRAME_FUNCTION, name.number) ||
			       (map && (protobuf_uint(&k->message, FRAME_MAPPING, mapping) ||
					protobuf_uint(&k->message, FRAME_ADDRESS,
						      l->address - map->start + map->offset))) ||
			       (has_source && protobuf_uint(&k->message, FRAME_SOURCE_PATH,
							    symbol->file.number)) ||
			       (has_source && symbol->line &&
				protobuf_uint(&k->message, FRAME_LINE, symbol->line)) ||
			       protobuf_message(to, INTERNED_FRAME, &k->message)
		       ? -1
		       : 0;
}

/* Intern the frame STACK_DEEPER. */
static int intern_deeper(struct perfetto_encoder *s, uint32_t sequence, struct buffer *to)
{
	struct text_ref name =
		dictionary_text(s->names.dictionary, STACK_DEEPER, sizeof STACK_DEEPER - 1);
	struct perfetto_samples *k = &s->samples;
	int is_new = perfetto_note(k, sequence, INTERNED_FRAME, DEEPER_IID);

	if (is_new <= 0)
		return is_new;
	if (!name.number || intern_text(k, sequence, INTERNED_FUNCTION, name, to))
		return -1;
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, DEEPER_IID) ||
			       protobuf_uint(&k->message, FRAME_FUNCTION, name.number) ||
			       protobuf_message(to, INTERNED_FRAME, &k->message)
		       ? -1
		       : 0;
}

/* Intern a stack of dictionary_stack_limited. */
static int intern_stack(struct perfetto_encoder *s, uint32_t sequence, uint32_t stack,
			struct buffer *to)
{
	struct perfetto_samples *k = &s->samples;
	int is_new = perfetto_note(k, sequence, INTERNED_CALLSTACK, stack);

	if (is_new <= 0)
		return is_new;
	k->path.size = 0;
	if (stack_frames(s->names.dictionary, stack, &k->path))
		return -1;
	for (size_t i = k->path.size / 4; i-- > 0;)
		if (i == STACK_FRAMES
			    ? intern_deeper(s, sequence, to)
			    : intern_frame(s, sequence, get_u32(k->path.data + 4 * i), to))
			return -1;
	k->message.size = 0;
	if (protobuf_uint(&k->message, ENTRY_IID, stack))
		return -1;
	for (size_t i = 0; i < k->path.size / 4; i++)
		if (protobuf_uint(&k->message, CALLSTACK_FRAME,
				  i == STACK_FRAMES ? DEEPER_IID : get_u32(k->path.data + 4 * i)))
			return -1;
	return protobuf_message(to, INTERNED_CALLSTACK, &k->message);
}

/* Append the recorded stack of an event to a track event. What it names first is in s->interned. */
static int perfetto_put_stack(struct perfetto_encoder *s, const struct event *ev,
			      struct buffer *event)
{
	const struct dictionary *d = s->names.dictionary;
	uint32_t stack = dictionary_stack_limited(d, event_stack(d, ev));

	if (!stack)
		return 0;
	return intern_stack(s, 0, stack, &s->interned) ||
			       protobuf_uint(event, EVENT_CALLSTACK_IID, stack)
		       ? -1
		       : 0;
}

/* --- samples --- */

/* Write the first packet of a sequence. */
static int put_first(struct perfetto_encoder *s, uint32_t sequence, const struct event *ev,
		     struct error *e)
{
	struct perfetto_samples *k = &s->samples;
	const struct type *t = ev->type;

	k->text.size = k->message.size = k->interned.size = 0;
	if (utf8_append(&k->text, t->name.text, t->name.size) ||
	    (!t->period && protobuf_uint(&k->message, TIMEBASE_PERIOD, t->weight)) ||
	    protobuf_message(&k->message, TIMEBASE_NAME, &k->text) ||
	    protobuf_message(&k->interned, SAMPLE_TIMEBASE, &k->message))
		return error_no_memory(e);
	k->message.size = 0;
	if (protobuf_message(&k->message, DEFAULTS_PERF_SAMPLE, &k->interned) ||
	    perfetto_begin_packet(s, sequence, ev->time, STATE_CLEARED) ||
	    protobuf_message(&s->packet, PACKET_DEFAULTS, &k->message) ||
	    protobuf_uint(&s->packet, PACKET_FIRST, 1))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

/* Get the sequence of a type of samples. */
static int sequence_of(struct perfetto_encoder *s, const struct event *ev, uint32_t *sequence,
		       struct error *e)
{
	struct intern *types = &s->samples.types;
	const struct type *t = ev->type;
	uint64_t key[] = {t->name.number, t->group.number, t->flags & TYPE_WEIGHT_TIME,
			  t->period ? UINT64_MAX : t->weight};
	uint32_t had = types->count, number = intern(types, key, sizeof key);

	if (number == INTERN_NONE)
		return error_no_memory(e);
	*sequence = FIRST_SEQUENCE + number;
	return types->count > had ? put_first(s, *sequence, ev, e) : 0;
}

/* Add the weight of a sample to the counter of its type and CPU. */
static int perfetto_count(struct perfetto_samples *k, uint32_t sequence, const struct event *ev,
			  uint64_t *total)
{
	const struct lane *lane = ev->lane;
	int32_t key[] = {(int32_t)sequence, lane->flags & LANE_HAS_CPU ? lane->cpu : -1};
	uint32_t number = intern(&k->counters, key, sizeof key);

	if (number == INTERN_NONE || ARRAY_REACH(k->counts, k->ncounts, number))
		return -1;
	add_saturated(&k->counts[number], sample_weight(ev));
	*total = k->counts[number];
	return 0;
}

/* Write a sample, whose thread is declared. */
static int perfetto_put_sample(struct perfetto_encoder *s, const struct event *ev, struct error *e)
{
	struct perfetto_samples *k = &s->samples;
	const struct lane *lane = ev->lane;
	const struct track *track = tracks_get(&s->tracks, calls_thread(ev), lane);
	const struct dictionary *d = s->names.dictionary;
	uint32_t stack = dictionary_stack_limited(d, event_stack(d, ev)), sequence = 0;
	struct buffer *b = &k->text;
	uint64_t total;

	if (sample_is_negative(ev)) {
		k->negative++;
		return 0;
	}
	if (sequence_of(s, ev, &sequence, e))
		return -1;
	k->interned.size = 0;
	s->attributes.deep += stack_is_deep(d, stack);
	k->reduced += ev->type->nfields > (ev->type->period ? 1 : 0);
	if (!track || perfetto_count(k, sequence, ev, &total) ||
	    (stack && intern_stack(s, sequence, stack, &k->interned)))
		return error_no_memory(e);
	b->size = 0;
	if ((lane->flags & LANE_HAS_CPU && protobuf_uint(b, SAMPLE_CPU, (uint32_t)lane->cpu)) ||
	    protobuf_uint(b, SAMPLE_PID, (uint32_t)track->pid) ||
	    protobuf_uint(b, SAMPLE_TID, (uint32_t)track->tid) ||
	    (stack && protobuf_uint(b, SAMPLE_CALLSTACK, stack)) ||
	    protobuf_uint(b, SAMPLE_COUNT, total) ||
	    perfetto_begin_packet(s, sequence, ev->time, STATE_NEEDED) ||
	    (k->interned.size &&
	     protobuf_message(&s->packet, PACKET_INTERNED_DATA, &k->interned)) ||
	    protobuf_message(&s->packet, PACKET_PERF_SAMPLE, b))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

/*
 * TrackEvent packets of Perfetto's trace format (protobuf), with interned names.
 *
 * Begins and ends are written in the order of the events, exact to the nanosecond. An end closes
 * the last begin of its track, so calls that need not nest with the thread's other calls have
 * tracks of their own below the thread's: calls in the kernel, calls open since before the trace,
 * and calls of apitrace that begin while others are open.
 */

enum { CHUNK = 64 * 1024 };

struct track_event_out {
	unsigned type;
	uint64_t track, time;
	uint32_t name, category;     /* strings of the dictionary, 0 none */
	uint32_t location;	     /* 0 none */
	const struct event *event;   /* whose recorded stack it has; NULL: none */
	const struct event *flows;   /* whose flows it has; NULL: none */
	uint64_t flow_from, flow_to; /* flow that ends, and that begins here; 0 none */
};

/* Append the source line of a location, if it is known. */
static int perfetto_put_line(struct perfetto_encoder *s, uint32_t location, struct buffer *event)
{
	const struct location *l = dictionary_location(s->names.dictionary, location);

	if (!l || !l->symbol || !l->symbol->line || !l->symbol->file.size)
		return 0;
	return perfetto_intern_line(s, location, l->symbol) ||
			       protobuf_uint(event, EVENT_SOURCE_LOCATION_IID, location)
		       ? -1
		       : 0;
}

/* Append the ids of an event's flows. */
static int perfetto_put_flows(struct perfetto_encoder *s, const struct event *ev,
			      struct buffer *event)
{
	unsigned n = flows_read(&s->flows, ev);

	for (unsigned i = 0; i < n; i++) {
		const struct flow_part *part = &s->flows.parts[i];

		if (protobuf_fixed64(event, part->ends ? EVENT_ENDED_FLOWS : EVENT_FLOWS, part->id))
			return -1;
	}
	return 0;
}

/* Write an event. The attributes in s->kept become annotations. */
static int perfetto_put_event(struct perfetto_encoder *s, const struct track_event_out *ev,
			      struct error *e)
{
	struct buffer *b = &s->part;

	buffer_clear(b);
	if (protobuf_uint(b, EVENT_TYPE, ev->type) || protobuf_uint(b, EVENT_TRACK, ev->track) ||
	    (ev->name && (perfetto_intern_name(s, INTERNED_NAME, ev->name) ||
			  protobuf_uint(b, EVENT_NAME_IID, ev->name))) ||
	    (ev->category && (perfetto_intern_name(s, INTERNED_CATEGORY, ev->category) ||
			      protobuf_uint(b, EVENT_CATEGORY_IIDS, ev->category))) ||
	    (ev->event && perfetto_put_stack(s, ev->event, b)) ||
	    (s->names.lines && perfetto_put_line(s, ev->location, b)) ||
	    (ev->flows && (ev->flows->type->nfields || ev->flows->tail_size) &&
	     perfetto_put_flows(s, ev->flows, b)) ||
	    (ev->flow_from && protobuf_fixed64(b, EVENT_ENDED_FLOWS, ev->flow_from)) ||
	    (ev->flow_to && protobuf_fixed64(b, EVENT_FLOWS, ev->flow_to)))
		return error_no_memory(e);
	if (s->kept.size) {
		if (attributes_read(&s->attributes, &s->kept))
			return error_no_memory(e);
		for (size_t i = 0; i < s->attributes.count; i++)
			if (perfetto_put_annotation(s, &s->attributes.items[i], b))
				return error_no_memory(e);
	}
	if (perfetto_put_interned(s, ev->time, e))
		return -1;
	if (perfetto_begin_packet(s, SEQUENCE, ev->time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_EVENT, b))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

static int perfetto_name_of(struct perfetto_encoder *s, uint32_t location, uint32_t *name)
{
	uint32_t size;

	if (!location_names_get(&s->names, location, &size))
		return -1;
	*name = s->names.names[location].number;
	return 0;
}

/* Append the attributes of a call's event. Instead of its track_id the call has a track, or an id.
 */
static int append_call(struct perfetto_encoder *s, const struct event *ev)
{
	struct attribute id = {.kind = ATTRIBUTE_UINT};

	if (!perfetto_track_id(ev, &id.number))
		return attributes_append(&s->attributes, ev, &s->kept);
	if (ev->tail_size && attributes_append_values(&s->attributes, ev, &s->kept))
		return -1;
	return ev->type->kind == KIND_ENTER && !perfetto_has_own_track(ev->type)
		       ? attributes_append_named(&s->attributes, PERFETTO_CALL_ID, &id, &s->kept)
		       : 0;
}

/* Get the track of a call that begins. keep: what encode_perfetto_end_call needs to find it. */
static int begin_track(struct perfetto_encoder *s, const struct event *enter,
		       const struct span *span, struct buffer *keep, uint64_t *uuid,
		       struct error *e)
{
	uint8_t slot = 0;

	if (perfetto_has_own_track(enter->type)) {
		if (perfetto_own_track(s, enter, uuid, e))
			return -1;
		return buffer_u64(keep, *uuid) ? error_no_memory(e) : 0;
	}
	if (enter->type->flags & TYPE_CALL_NUMBER &&
	    (perfetto_take_slot(s, span->thread, !encoder_all_numbered(enter->type), &slot) ||
	     buffer_u8(keep, slot)))
		return error_no_memory(e);
	return perfetto_span_track(s, span, slot, enter->time, uuid, e);
}

/* --- critical paths --- */

/* Get the track of a thread in the paths of another one, or with task 0 that of all of these. */
static int path_track(struct perfetto_encoder *s, const struct why_path *p, uint32_t task,
		      uint64_t parent, uint64_t *uuid, struct error *e)
{
	const uint32_t key[4] = {OF_PATH, p->of, task, p->stream};
	struct buffer *b = &s->bit;
	bool known;
	uint64_t *place = other_uuid(s, key, &known);

	if (!place)
		return error_no_memory(e);
	*uuid = *place;
	if (known)
		return 0;
	buffer_clear(b);
	s->part.size = 0;
	if ((!task && buffer_puts(b, "Critical path of ")) ||
	    why_path_name(p, task ? task : p->of, b) ||
	    protobuf_uint(&s->part, TRACK_UUID, *uuid) ||
	    perfetto_put_text(s, &s->part, TRACK_NAME, (const char *)b->data, b->size) ||
	    (parent && protobuf_uint(&s->part, TRACK_PARENT, parent)))
		return error_no_memory(e);
	return perfetto_put_descriptor(s, p->slices->begin, e);
}

/* Write the slices of a path, for struct why_path. */
static int perfetto_put_path(void *ctx, const struct why_path *p, struct error *e)
{
	enum { FLOWS = 62 }; /* their numbers are above those of the trace */
	struct perfetto_encoder *s = ctx;
	uint64_t parent;

	buffer_clear(&s->kept);
	if (path_track(s, p, 0, 0, &parent, e))
		return -1;
	for (size_t i = 0; i < p->count; i++) {
		const struct path_slice *slice = &p->slices[i];
		const struct path_slice *after = i + 1 < p->count ? slice + 1 : p->after;
		struct track_event_out ev = {.type = TYPE_BEGIN, .time = slice->begin};
		struct text_ref name;

		if (path_track(s, p, slice->task, parent, &ev.track, e))
			return -1;
		name = dictionary_text(s->names.dictionary, intern_data(&p->labels, slice->text),
				       intern_size(&p->labels, slice->text));
		if (slice->flow && (i || p->before))
			ev.flow_from = 1ull << FLOWS | slice->flow;
		if (after && after->flow)
			ev.flow_to = 1ull << FLOWS | after->flow;
		ev.name = name.number;
		if (!name.size || perfetto_put_event(s, &ev, e))
			return name.size ? -1 : error_no_memory(e);
		ev = (struct track_event_out){
			.type = TYPE_END, .track = ev.track, .time = slice->end};
		if (perfetto_put_event(s, &ev, e))
			return -1;
	}
	return 0;
}

static int encode_perfetto_begin_call(void *ctx, const struct event *enter, const struct span *span,
				      struct buffer *keep, uint64_t *token, struct error *e)
{
	struct perfetto_encoder *s = ctx;
	struct track_event_out begin = {.type = perfetto_is_state(enter->type) ? TYPE_STATE
									       : TYPE_BEGIN,
					.time = enter->time,
					.category = enter->type->group.number,
					.location = span->location,
					.event = enter,
					/* else the output with the call's enter has them */
					.flows = span->restored ? NULL : enter};

	if (begin_track(s, enter, span, keep, &begin.track, e))
		return -1;
	buffer_clear(&s->kept);
	if (perfetto_name_of(s, span->location, &begin.name) || append_call(s, enter))
		return error_no_memory(e);
	if (perfetto_put_event(s, &begin, e))
		return -1;
	*token = s->token;
	return 0;
}

/* Append the name of a call's leave, if it is not that of the call's begin. */
static int perfetto_append_leave_name(struct perfetto_encoder *s, const struct span *span)
{
	uint32_t entered, left;
	struct text_ref text;

	if (!span->begun || !span->entered || span->entered == span->location)
		return 0;
	if (perfetto_name_of(s, span->entered, &entered) ||
	    perfetto_name_of(s, span->location, &left))
		return -1;
	text = dictionary_string(s->names.dictionary, left);
	return left == entered ? 0
			       : attributes_append_text(&s->attributes, CHROME_LEAVE_NAME,
							text.text, text.size, &s->kept);
}

/* Free the slot of a call that ends. Returns its number. */
static uint8_t end_slot(struct perfetto_encoder *s, const struct span *span)
{
	uint8_t slot;

	if (span->kept_size != sizeof slot)
		return 0;
	slot = span->kept->data[span->kept_at];
	s->slots[span->thread] &= ~(1ull << slot);
	return slot;
}

static int encode_perfetto_end_call(void *ctx, const struct span *span, const struct event *leave,
				    struct error *e)
{
	struct perfetto_encoder *s = ctx;
	bool state = span->type && perfetto_is_state(span->type);
	struct track_event_out begin = {.type = TYPE_BEGIN,
					.time = span->start,
					.category = span->type ? span->type->group.number : 0,
					.location = span->location};
	struct track_event_out end = {
		.type = state ? TYPE_STATE : TYPE_END, .time = span->end, .flows = leave};
	uint8_t slot = end_slot(s, span);

	/* a state without an end lasts to the end of the trace */
	if (span->unfinished && state && !s->drop)
		return 0;
	if (span->unfinished && s->drop) {
		if (span->begun)
			put_u32(s->held.data + span->token, 0);
		return 0;
	}
	if (span->kept_size == sizeof end.track)
		end.track = get_u64(span->kept->data + span->kept_at);
	else if (perfetto_span_track(s, span, slot, span->end, &end.track, e))
		return -1;
	buffer_clear(&s->kept);
	if (!span->begun) {
		begin.track = end.track;
		if (perfetto_name_of(s, span->location, &begin.name))
			return error_no_memory(e);
		if (perfetto_put_event(s, &begin, e))
			return -1;
	}
	if ((leave && append_call(s, leave)) || perfetto_append_leave_name(s, span) ||
	    (span->unfinished &&
	     attributes_append_bool(&s->attributes, CHROME_UNFINISHED, true, &s->kept)))
		return error_no_memory(e);
	return perfetto_put_event(s, &end, e);
}

static int perfetto_drop_call(void *ctx, const struct span *span, struct error *e)
{
	return encode_perfetto_end_call(ctx, span, NULL, e);
}

/* --- counters: a track for each value --- */

static int perfetto_put_counter(struct perfetto_encoder *s, const struct event *ev, uint32_t name,
				const struct attribute *item, struct error *e)
{
	bool real = item->kind == ATTRIBUTE_REAL ||
		    (item->kind == ATTRIBUTE_UINT && item->number > INT64_MAX);
	uint32_t category = ev->type->group.number;
	uint64_t uuid = 0;

	if (perfetto_counter_track(s, ev, name, s->attributes.count > 1 ? item->name : 0, &uuid, e))
		return -1;
	s->part.size = 0;
	if (category && (perfetto_intern_name(s, INTERNED_CATEGORY, category) ||
			 protobuf_uint(&s->part, EVENT_CATEGORY_IIDS, category)))
		return error_no_memory(e);
	if (perfetto_put_interned(s, ev->time, e))
		return -1;
	if (protobuf_uint(&s->part, EVENT_TYPE, TYPE_COUNTER) ||
	    protobuf_uint(&s->part, EVENT_TRACK, uuid) ||
	    (real ? protobuf_double(&s->part, EVENT_COUNTER_REAL,
				    item->kind == ATTRIBUTE_REAL ? item->real
								 : (double)item->number)
		  : protobuf_uint(&s->part, EVENT_COUNTER, item->number)) ||
	    perfetto_begin_packet(s, SEQUENCE, ev->time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_EVENT, &s->part))
		return error_no_memory(e);
	return perfetto_put_packet(s, e);
}

/* Append the attributes of an event that is no call. A gap of no thread has its CPU. A part of a
 * flow of Trace Event JSON has its phase instead of its id, which is among the ids of flows. */
static int append_instant(struct perfetto_encoder *s, const struct event *ev)
{
	char text[2] = {async_event_phase(ev->type), PERFETTO_FLOW_ENCLOSING};
	const struct attribute cpu = {.kind = ATTRIBUTE_UINT, .number = (uint32_t)ev->lane->cpu};

	if (ev->type->kind == KIND_GAP &&
	    (ev->lane->flags & (LANE_HAS_CPU | LANE_HAS_TID)) == LANE_HAS_CPU &&
	    attributes_append_named(&s->attributes, PERFETTO_GAP_CPU, &cpu, &s->kept))
		return -1;
	if (!async_event_is_flow(ev->type))
		return attributes_append(&s->attributes, ev, &s->kept);
	if (ev->tail_size && attributes_append_values(&s->attributes, ev, &s->kept))
		return -1;
	return attributes_append_text(&s->attributes, PERFETTO_FLOW_PHASE, text,
				      1 + !!(ev->type->native & CHROME_ENCLOSING), &s->kept);
}

static int perfetto_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct perfetto_encoder *s = ctx;
	struct track_event_out instant = {.type = TYPE_INSTANT,
					  .time = ev->time,
					  .name = ev->type->name.number,
					  .category = ev->type->group.number,
					  .location = ev->location,
					  .event = ev,
					  .flows = ev};
	bool whole;

	if (perfetto_ftrace_event(s, ev, &whole, e))
		return -1;
	/* the event needs no track, but its thread a process and a name, if they are known */
	if (whole && (!ev->lane->tid || !(ev->lane->flags & LANE_HAS_PID || ev->lane->comm.size)))
		return 0;
	/* track 0 is that of all threads */
	if (!perfetto_is_global(ev) &&
	    perfetto_put_track(s,
			       &(struct track_of){.kind = OF_THREAD,
						  .thread = calls_thread(ev),
						  .lane = ev->lane},
			       ev->time, &instant.track, e))
		return -1;
	if (whole)
		return 0;
	if (ev->type->kind == KIND_SAMPLE)
		return perfetto_put_sample(s, ev, e);
	buffer_clear(&s->kept);
	if (append_instant(s, ev) ||
	    (ev->location && perfetto_name_of(s, ev->location, &instant.name)))
		return error_no_memory(e);
	if (ev->type->kind == KIND_COUNTER) {
		if (attributes_read(&s->attributes, &s->kept))
			return error_no_memory(e);
		if (attributes_keep_numbers(&s->attributes, ev->type)) {
			for (size_t i = 0; i < s->attributes.count; i++)
				if (perfetto_put_counter(s, ev, instant.name,
							 &s->attributes.items[i], e))
					return -1;
			return 0;
		}
	}
	return perfetto_put_event(s, &instant, e);
}

/* Begin the trace with the first call that is open. After lost rows the states of threads are not
 * known. */
static int perfetto_restore(void *ctx, const struct event *enter, struct error *e)
{
	struct perfetto_encoder *s = ctx;

	if (!enter)
		return perfetto_ftrace_lost(s, e);
	return s->started ? 0 : perfetto_put_first(s, enter, e);
}

static const struct span_sink sink = {.begin = encode_perfetto_begin_call,
				      .restore = perfetto_restore,
				      .end = encode_perfetto_end_call,
				      .drop = perfetto_drop_call,
				      .other = perfetto_other_event};

/* --- the encoder --- */

static int encode_perfetto_begin(struct encoding *en, struct error *e)
{
	struct perfetto_encoder *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->drop = en->options->flags & ENCODE_DROP;
	/* through which an event's values go */
	s->kept.spills = s->bit.spills = s->clean.spills = s->part.spills = true;
	s->packet.spills = s->out.spills = s->held.spills = true;
	spans_init(&s->spans, en, &sink, s);
	location_names_init(&s->names, en->dictionary, NULL);
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.flows_apart = true;
	s->flows.dictionary = en->dictionary;
	s->ftrace.types.dictionary = en->dictionary;
	if (!en->options->why)
		return 0;
	s->path = why_path_begin(en->options->why, en->dictionary, e);
	if (!s->path)
		return -1;
	s->path->write = perfetto_put_path;
	s->path->ctx = s;
	return 0;
}

static int perfetto_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct perfetto_encoder *s = en->state;

	return tracks_meta(&s->tracks, en->dictionary, m) || attributes_meta(&s->attributes, m)
		       ? error_no_memory(e)
		       : 0;
}

static int perfetto_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct perfetto_encoder *s = en->state;

	if ((!s->started && perfetto_put_first(s, ev, e)) ||
	    (s->path && why_path_event(s->path, ev, e)) || spans_event(&s->spans, ev, e))
		return -1;
	return s->out.size > CHUNK ? perfetto_write_out(en, e) : 0;
}

static uint64_t perfetto_size(const struct encoding *en)
{
	const struct perfetto_encoder *s = en->state;

	return en->out->written + s->out.size;
}

static int perfetto_end(struct encoding *en, struct error *e)
{
	struct perfetto_encoder *s = en->state;

	if (spans_finish(&s->spans, e) || perfetto_ftrace_flush(s, e) ||
	    (s->path && why_path_event(s->path, NULL, e)) ||
	    (s->drop ? perfetto_put_held(s, en->out, e) : perfetto_write_out(en, e)))
		return -1;
	if (!(en->options->flags & ENCODE_QUIET)) {
		location_names_report(&s->names);
		spans_report(&s->spans, s->drop);
		attributes_report(&s->attributes);
		perfetto_samples_report(&s->samples);
	}
	return 0;
}

static void free_ftrace(struct perfetto_encoder *s)
{
	for (size_t i = 0; i < s->ftrace.ncpus; i++) {
		for (int derived = 0; s->ftrace.cpus[i] && derived < 2; derived++) {
			struct ftrace_bundle *c = &s->ftrace.cpus[i]->bundles[derived];

			buffer_free(&c->events);
			for (size_t j = 0; j < COMPACT_FIELDS; j++)
				buffer_free(&c->compact[j]);
		}
		free(s->ftrace.cpus[i]);
	}
	free(s->ftrace.cpus);
	scheduling_types_free(&s->ftrace.types);
}

static void free_samples(struct perfetto_samples *k)
{
	intern_free(&k->types);
	intern_free(&k->known);
	intern_free(&k->counters);
	intern_free(&k->mappings);
	for (size_t i = 0; i < k->nmaps; i++)
		free(k->maps[i].order);
	free(k->maps);
	free(k->counts);
}

static void free_state(struct perfetto_encoder *s)
{
	struct buffer *buffers[] = {&s->out,	      &s->held,		 &s->packet,
				    &s->part,	      &s->bit,		 &s->interned,
				    &s->kept,	      &s->clean,	 &s->ftrace.bundle,
				    &s->ftrace.event, &s->ftrace.fields, &s->samples.message,
				    &s->samples.text, &s->samples.path,	 &s->samples.interned};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	for (size_t i = 0; i < NAME_KINDS; i++)
		free(s->known[i]);
	free_samples(&s->samples);
	free_ftrace(s);
	why_path_free(s->path);
	spans_free(&s->spans);
	tracks_free(&s->tracks);
	location_names_free(&s->names);
	attributes_free(&s->attributes);
	flows_free(&s->flows);
	json_close(&s->json);
	intern_free(&s->declared);
	intern_free(&s->counters);
	intern_free(&s->others.keys);
	free(s->others.uuids);
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
	.timeline = true,
	.begin = encode_perfetto_begin,
	.meta = perfetto_meta,
	.drops = true,
	.event = perfetto_event,
	.end = perfetto_end,
	.size = perfetto_size,
	.free = perfetto_free,
};

/*
 * stream.c - saved streams of trutils, so that trdecode can merge and cut them too
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/row_filter.h"
#include "common/calls/calls.h"
#include "common/calls/calls_writer.h"
#include "common/cli/program.h"
#include "common/stream/value.h"
#include "common/stream/dictionary.h"
#include "common/stream/field.h"
#include "common/stream/index.h"
#include "common/stream/reader.h"
#include "common/stream/snapshot.h"
#include "common/util/frames.h"
#include "common/util/u128.h"

/*
 * Maps the ids of a saved stream's declarations to the writer's ids.
 *
 * Each declaration is written once, at its first use. Functions return the writer's id; 0: out of
 * memory, or nothing to declare.
 */

/* A saved stream that is read. */
struct saved {
	bool judged;	     /* by_content is known: */
	bool by_content;     /* sections can be left out for what is in them */
	struct input *input; /* has the writer, and the shift of times */
	struct reader in;
	struct block block;
	struct events events;
	struct event event;
	bool walking;
	bool begun, has_clock; /* its first row was found, its clock was chosen */
	bool inside; /* rows were not read before a segment, whose open calls were written */
	/* the writer's ids, by number in the dictionary; 0 none yet */
	struct {
		uint32_t *id;
		size_t size;
	} maps[ENTRY_KINDS];
	size_t *maps_done; /* by space: number of mappings that were declared */
	size_t maps_size;
	const struct location_symbol **symbols; /* by location: the symbol that was declared */
	size_t symbols_size;
	uint32_t types, locations; /* numbers of the last that stream_announce has seen */
	/* A SNAPSHOT with the writer's ids and times. */
	struct {
		const struct snapshot *from;
		struct buffer payload;
		bool bad;
	} moved;
	struct bad_values bad_values;
	struct buffer fixed, tail, meta;
	uint64_t meta_next; /* bytes of the current META read so far */
};

static inline uint32_t stream_known(const struct saved *s, enum entry_kind kind, uint32_t number)
{
	return number < s->maps[kind].size ? s->maps[kind].id[number] : 0;
}

/* Convert a time of the input to one of the output. */
static inline uint64_t stream_moved(const struct saved *s, uint64_t time)
{
	return merge_shifted(time, s->input->shift);
}

static uint32_t stream_object(struct saved *s, enum entry_kind kind, const void *object);

static uint32_t id_in(void *ctx, const struct entry_field *f, struct text_ref text,
		      const void *object)
{
	struct saved *s = ctx;

	return f->refers == ENTRY_STRING
		       ? writer_string(s->input->decoding->writer, text.text, text.size)
		       : stream_object(s, f->refers, object);
}

/* Store an entry with the writer's ids. Returns the writer's id. */
static uint32_t stream_store(struct saved *s, enum entry_kind kind, const void *object)
{
	struct buffer b = {0};
	uint32_t id = declare_encode(&b, kind, object, id_in, s)
			      ? 0
			      : writer_store(s->input->decoding->writer, kind, b.data, b.size);

	buffer_free(&b);
	return id;
}

/* Get a clock with the wall time of the output. */
static struct clock moved_clock(struct saved *s, const struct clock *clock)
{
	struct clock c = *clock;

	c.wall = saturated_i64((int128)c.wall - s->input->shift);
	if (c.flags & CLOCK_HAS_WALL && !c.wall && !strcmp(s->input->clock_name, "wall")) {
		c.name = dictionary_text(&s->in.dictionary, "wall", 4);
		c.flags = (c.flags | CLOCK_IS_WALL) & ~(uint32_t)CLOCK_OWN_ZERO;
	}
	return c;
}

/* Get a lane with flags for the stacks that started before the rows of the input. */
static struct lane started_lane(const struct saved *s, const struct lane *lane)
{
	struct lane l = *lane;

	if (s->inside && dictionary_started(&s->in.dictionary, l.thread))
		l.flags |= LANE_STARTED;
	if (s->inside && dictionary_started(&s->in.dictionary, l.cpu_thread))
		l.flags |= LANE_CPU_STARTED;
	return l;
}

static uint32_t stream_object(struct saved *s, enum entry_kind kind, const void *object)
{
	uint32_t number = object ? *(const uint32_t *)object : 0, made;
	struct clock clock;
	struct lane lane;

	if (!number || stream_known(s, kind, number))
		return number ? stream_known(s, kind, number) : 0;
	if (kind == ENTRY_CLOCK) {
		clock = moved_clock(s, object);
		object = &clock;
	} else if (kind == ENTRY_LANE) {
		lane = started_lane(s, object);
		object = &lane;
	}
	made = stream_store(s, kind, object);
	if (ARRAY_REACH(s->maps[kind].id, s->maps[kind].size, number))
		return 0;
	return s->maps[kind].id[number] = made;
}

static inline uint32_t stream_lane(struct saved *s, const struct lane *l)
{
	uint32_t id = stream_known(s, ENTRY_LANE, l->number);

	return id ? id : stream_object(s, ENTRY_LANE, l);
}

static inline uint32_t stream_type(struct saved *s, const struct type *t)
{
	uint32_t id = stream_known(s, ENTRY_TYPE, t->number);

	return id ? id : stream_object(s, ENTRY_TYPE, t);
}

/* Declare a definition that a value of the next row uses; definition: its id in the segment. ctx:
 * the struct saved. */
static uint32_t stream_value_definition(void *ctx, uint32_t definition)
{
	struct saved *s = ctx;
	uint32_t id = stream_object(s, ENTRY_DEFINITION,
				    dictionary_definition_id(&s->in.dictionary, definition));

	if (id)
		writer_use_definition(s->input->decoding->writer, id);
	return id;
}

/* Declare the mappings of a space that are new. */
static int stream_declare_maps(struct saved *s, const struct space *space)
{
	struct writer *w = s->input->decoding->writer;
	uint32_t id = stream_object(s, ENTRY_SPACE, space);
	size_t *done;

	if (!id)
		return space && space->number ? -1 : 0;
	if (ARRAY_REACH(s->maps_done, s->maps_size, space->number))
		return -1;
	for (done = &s->maps_done[space->number]; *done < space->nmaps; ++*done) {
		struct map m = space->maps[*done];

		m.time = m.time ? stream_moved(s, m.time) : 0;
		if (writer_store_map(w, stream_store(s, ENTRY_MAP, &m), id))
			return -1;
	}
	return 0;
}

static int symbol_of(struct saved *s, const struct location *p, uint32_t id)
{
	struct symbol_entry e;

	if (ARRAY_REACH(s->symbols, s->symbols_size, p->number))
		return -1;
	if (!p->symbol || s->symbols[p->number] == p->symbol)
		return 0;
	s->symbols[p->number] = p->symbol;
	e = declare_symbol(p->symbol);
	return writer_symbol(s->input->decoding->writer, id, &e);
}

static uint32_t stream_location_slow(struct saved *s, uint32_t number, int *bad)
{
	const struct location *p = dictionary_location(&s->in.dictionary, number);
	uint32_t id;

	if (!p)
		return 0;
	if (!stream_known(s, ENTRY_LOCATION, number) && stream_declare_maps(s, p->space)) {
		*bad = -1;
		return 0;
	}
	id = stream_object(s, ENTRY_LOCATION, p);
	if (!id || symbol_of(s, p, id)) {
		*bad = -1;
		return 0;
	}
	return id;
}

/* Declare a location, again if its symbol has changed; number 0 is not a location. *bad: -1 when
 * out of memory. */
static inline uint32_t stream_location(struct saved *s, uint32_t number, int *bad)
{
	uint32_t id = stream_known(s, ENTRY_LOCATION, number);

	if (id && number < s->symbols_size &&
	    s->symbols[number] == dictionary_location(&s->in.dictionary, number)->symbol)
		return id;
	return number ? stream_location_slow(s, number, bad) : 0;
}

/* Declare a stack by its number in the dictionary. *bad: as stream_location. */
static uint32_t stream_stack(struct saved *s, uint32_t number, int *bad)
{
	const struct dictionary *d = &s->in.dictionary;
	uint32_t wanted = number, id = 0;
	struct buffer callers = {0};

	for (; number && !stream_known(s, ENTRY_STACK, number);
	     number = dictionary_stack_parent(d, number))
		*bad |= buffer_u32(&callers, number);
	id = number ? stream_known(s, ENTRY_STACK, number) : 0;
	*bad |= ARRAY_REACH(s->maps[ENTRY_STACK].id, s->maps[ENTRY_STACK].size, wanted);
	for (size_t i = callers.size; i && !*bad; i -= 4) {
		number = get_u32(callers.data + i - 4);
		id = writer_stack(s->input->decoding->writer, id,
				  stream_location(s, dictionary_stack_location(d, number), bad));
		s->maps[ENTRY_STACK].id[number] = id;
		*bad |= id ? 0 : -1;
	}
	buffer_free(&callers);
	return *bad ? 0 : id;
}

/* Declare a stack that a field of the next row uses; stack: its id in the segment. ctx: the struct
 * saved. */
static uint32_t stream_field_stack(void *ctx, uint32_t stack)
{
	struct saved *s = ctx;
	int bad = 0;
	uint32_t id = stream_stack(s, dictionary_stack_id(&s->in.dictionary, stack), &bad);

	if (id)
		writer_use_stack(s->input->decoding->writer, id);
	return id;
}

/* Declare the new types of the dictionary, and the new locations with arguments, though no row of
 * them may follow. Returns 0, or -1 when out of memory or with the writer's error. */
static int stream_announce(struct saved *s)
{
	const struct dictionary *d = &s->in.dictionary;
	struct row_filter *filter = s->input->decoding->row_filter;
	int bad = 0;

	while (s->types + 1 < d->types.count) {
		const struct type *t = dictionary_type(d, ++s->types);

		if (kind_is_event(t->kind) && row_filter_announce(filter, stream_type(s, t), 0))
			return -1;
	}
	while (s->locations + 1 < d->locations.count && !bad)
		if (dictionary_location(d, ++s->locations)->arguments &&
		    row_filter_announce(filter, 0, stream_location(s, s->locations, &bad)))
			return -1;
	return bad;
}

/*
 * The decoder of saved streams, so that trdecode can merge and cut them too.
 *
 * Everything that a row uses is declared again with the writer's ids, at its first use.
 */

enum {
	LARGE = 1 << 20, /* bytes of values that are copied only if their ids change */
	SAVED_HEAD = 4096,
};

/* The first bytes of a stream, as far as they were read. */
struct saved_head {
	uint8_t data[SAVED_HEAD];
	size_t size;
};

/* Get the first bytes of an input, unpacked. */
static void saved_head(const struct input *in, struct saved_head *h)
{
	if (frames_begin(in->head, in->head_size)) {
		h->size = frames_peek(in->head, in->head_size, h->data, sizeof h->data);
		return;
	}
	h->size = in->head_size < sizeof h->data ? in->head_size : sizeof h->data;
	memcpy(h->data, in->head, h->size);
}

static enum bid saved_probe(const struct input *in)
{
	struct saved_head h;

	if (in->tree || !in->head_size)
		return BID_NONE;
	saved_head(in, &h);
	return reader_is_stream(h.data, h.size) ? BID_HEADER : BID_NONE;
}

/* Take a piece of a META; write the META when it is complete. */
static int stream_take_meta(struct saved *s, struct error *e)
{
	struct meta m;

	reader_meta(&s->in, &s->block, &m);
	if (m.flags & META_REFERENCE)
		return 0;
	if (!m.offset) {
		s->meta.size = 0;
		s->meta_next = 0;
	}
	if (m.offset != s->meta_next)
		return error_set(&s->in.error, s->in.file, s->block.offset,
				 "a part of the source is not whole");
	if (buffer_append(&s->meta, m.data, m.size))
		return error_no_memory(e);
	s->meta_next += m.size;
	if (s->meta_next == m.total) {
		struct text_ref name = dictionary_text(&s->in.dictionary, m.name, m.name_size);

		if (writer_meta(s->input->decoding->writer,
				stream_object(s, ENTRY_SOURCE,
					      pool_at(&s->in.dictionary.sources, m.source)),
				name.text, s->meta.data, s->meta.size)) {
			*e = s->input->decoding->writer->error;
			return -1;
		}
	}
	return 0;
}

/* Check the status in an END. -1 with *e filled: the program that wrote it failed. */
static int stream_take_end(struct input *in, const struct end *end, struct error *e)
{
	const char *what = end->message.size ? end->message.text : "no cause is recorded";

	struct error damage;

	if (end->status == STATUS_FAILED) {
		error_set(e, in->name, NO_OFFSET, "the program that wrote this failed: %s", what);
		e->printed = printed_here(&end->printed);
		return -1;
	}
	if (end->status) {
		error_set(&damage, in->name, NO_OFFSET, "the trace is damaged: %s", what);
		damage.printed = printed_here(&end->printed);
		input_damage_error(in, &damage);
	}
	return 0;
}

/* Drop rows with invalid values, which cannot be copied: their definitions have other ids in the
 * output. */
static int stream_drop_bad_values(struct saved *s, struct block *rows, struct error *e)
{
	struct decoding *d = s->input->decoding;
	int64_t dropped = bad_values_drop(&s->bad_values, rows, s->in.reads_values);

	if (dropped <= 0)
		return dropped ? error_no_memory(e) : 0;
	d->status = status_worse(d->status, STATUS_DAMAGED);
	if (d->writer)
		writer_status(d->writer, STATUS_DAMAGED, BAD_VALUES, NULL);
	return 0;
}

/* Set the clock of the input, and with it its shift. */
static int stream_choose_clock(struct saved *s, const struct clock *c, struct error *e)
{
	struct input *in = s->input;

	if (s->has_clock)
		return 0;
	s->has_clock = true;
	in->clock_name = c->name.text;
	in->has_wall = c->flags & CLOCK_HAS_WALL;
	in->wall = c->wall;
	in->ticks = c->flags & CLOCK_TICKS;
	in->own_zero = c->flags & CLOCK_OWN_ZERO;
	in->row_order = in->ticks && c->flags & CLOCK_ROWS;
	return merge_choose_clock(in, e);
}

/* --- calls that are open where reading begins inside a stream, or goes on after a loss --- */

/* Get the id, which is declared in the segment. */
static uint32_t moved_declare(struct saved *s, enum entry_kind kind, uint32_t id)
{
	s->moved.bad = s->moved.bad || writer_declare_again(s->input->decoding->writer, kind, id);
	return id;
}

static uint32_t stream_lane_id(struct saved *s, const struct lane *l)
{
	return moved_declare(s, ENTRY_LANE, stream_lane(s, l));
}

static uint32_t type_id(struct saved *s, const struct type *t)
{
	return t ? moved_declare(s, ENTRY_TYPE, stream_type(s, t)) : 0;
}

static uint32_t location_id(struct saved *s, uint32_t number)
{
	int bad = 0;
	uint32_t id = stream_location(s, number, &bad);

	s->moved.bad = s->moved.bad || bad;
	return id ? moved_declare(s, ENTRY_LOCATION, id) : 0;
}

static void moved_append(struct saved *s, const void *p, size_t n)
{
	s->moved.bad = s->moved.bad || buffer_append(&s->moved.payload, p, n);
}

static void append_u32(struct saved *s, uint32_t v)
{
	s->moved.bad = s->moved.bad || buffer_u32(&s->moved.payload, v);
}

static void align(struct saved *s, unsigned to)
{
	s->moved.bad = s->moved.bad || buffer_align(&s->moved.payload, to);
}

static uint64_t moved_time(const struct saved *s, uint64_t time)
{
	return time ? stream_moved(s, time) : 0;
}

static void put_threads(struct saved *s)
{
	struct snapshot_walk w;
	uint8_t p[SNAPSHOT_THREAD];

	snapshot_walk(&w, s->moved.from);
	while (snapshot_next_thread(&w)) {
		struct snapshot_thread t = w.thread;

		t.lane = stream_lane_id(s, w.lane);
		t.type = type_id(s, w.type);
		t.kernel_type = type_id(s, w.kernel_type);
		t.last = moved_time(s, t.last);
		t.since = moved_time(s, t.since);
		t.kernel_since = moved_time(s, t.kernel_since);
		snapshot_put_thread(p, &t);
		moved_append(s, p, sizeof p);
		while (snapshot_next_frame(&w))
			;
	}
}

static void stream_put_frames(struct saved *s)
{
	struct snapshot_walk w;
	uint8_t p[SNAPSHOT_FRAME];

	snapshot_walk(&w, s->moved.from);
	while (snapshot_next_thread(&w))
		while (snapshot_next_frame(&w)) {
			w.frame.start = moved_time(s, w.frame.start);
			snapshot_put_frame(p, &w.frame);
			moved_append(s, p, sizeof p);
		}
}

static void put_gone(struct saved *s)
{
	struct snapshot_walk w;

	snapshot_walk(&w, s->moved.from);
	while (snapshot_next_thread(&w)) {
		for (uint32_t i = 0; i < w.thread.gone; i++)
			append_u32(s, location_id(s, snapshot_gone(&w, i)));
		while (snapshot_next_frame(&w))
			;
	}
	align(s, 8);
}

static void stream_put_row(struct saved *s, const struct event *e)
{
	size_t at;

	moved_append(s, e->row, (size_t)(e->fixed - e->row) + e->type->fixed_size);
	if (!s->moved.bad)
		field_map_stacks(e->type,
				 s->moved.payload.data + s->moved.payload.size -
					 e->type->fixed_size,
				 stream_field_stack, s);
	if (!(e->type->flags & TYPE_TAIL) || s->moved.bad)
		return;
	at = s->moved.payload.size;
	append_u32(s, e->tail_size);
	if (!(e->type->flags & TYPE_VALUES)) {
		moved_append(s, e->tail, e->tail_size);
	} else {
		s->moved.bad = s->moved.bad || values_copy(&s->moved.payload, e->tail, e->tail_size,
							   stream_value_definition, s);
		if (!s->moved.bad)
			put_u32(s->moved.payload.data + at,
				(uint32_t)(s->moved.payload.size - at - 4));
	}
	align(s, 4);
}

/* Append the payload with the rows. Their times, and those of the block, are 0. */
static void stream_put_rows(struct saved *s)
{
	const struct block *b = &s->moved.from->rows;
	struct events it;
	struct event e;

	moved_append(s, b->payload, EVENTS_HEADER);
	for (uint32_t i = 0; i < b->ntypes; i++)
		append_u32(s, type_id(s, b->types[i]));
	for (uint32_t i = 0; i < b->nlanes; i++)
		append_u32(s, stream_lane_id(s, b->lanes[i]));
	for (uint32_t i = 1; i <= b->nlocations; i++)
		append_u32(s, location_id(s, b->locations[i]));
	align(s, 8);
	for (events_begin(&it, b); !s->moved.bad && event_next(&it, &e);)
		stream_put_row(s, &e);
	align(s, 8);
}

static void put_payload(struct saved *s)
{
	struct snapshot_head head = s->moved.from->head;
	uint8_t p[SNAPSHOT_HEAD] = {0};
	size_t rows;

	if (head.first != UINT64_MAX)
		head.first = stream_moved(s, head.first);
	head.latest = moved_time(s, head.latest);
	/* blocks of other inputs may follow */
	head.flags = (head.flags & ~(uint32_t)SNAPSHOT_RESTART) | SNAPSHOT_MORE;
	moved_append(s, p, sizeof p);
	put_threads(s);
	stream_put_frames(s);
	put_gone(s);
	rows = s->moved.payload.size;
	if (head.frames)
		stream_put_rows(s);
	head.rows = (uint32_t)(s->moved.payload.size - rows);
	if (!s->moved.bad)
		snapshot_put_head(s->moved.payload.data, &head);
}

/* Begin a segment after the rows that were written. */
static int stream_begin_segment(struct decoding *d)
{
	struct writer *w = d->writer;

	if (!d->calls)
		d->calls = calls_writer_new(w);
	if (!d->calls)
		return error_no_memory(&w->error);
	w->head.flags |= HEAD_SEGMENTED;
	return writer_begin_segment(w);
}

/* End the calls of the input's present stream. */
static int drop_calls(struct saved *s)
{
	const struct dictionary *in = &s->in.dictionary;
	struct decoding *d = s->input->decoding;
	size_t n = d->writer->entries[ENTRY_SOURCE].count;
	uint8_t *sources = calloc(n, 1);
	int bad;

	if (!sources)
		return error_no_memory(&d->writer->error);
	sources[0] = 1; /* lanes without a source are of any stream */
	for (uint32_t i = 0; i < in->sources.count; i++) {
		const struct source *source = pool_at(&in->sources, i);

		if (source->stream == in->stream)
			sources[stream_known(s, ENTRY_SOURCE, i)] = 1;
	}
	bad = calls_writer_lose(d->calls, sources, n);
	free(sources);
	return bad;
}

/* Prepare to write the calls that are open where the input begins, or goes on after a loss: those
 * that were open end.
 * -1 with the writer's error. */
static int stream_begin_inside(struct saved *s)
{
	struct decoding *d = s->input->decoding;
	bool fresh = !d->calls;

	if ((s->begun || fresh) && stream_begin_segment(d))
		return -1;
	s->inside = d->inside = true;
	/* lanes may have started in what was not read */
	if (s->maps[ENTRY_LANE].size)
		memset(s->maps[ENTRY_LANE].id, 0, s->maps[ENTRY_LANE].size * sizeof(uint32_t));
	if (drop_calls(s))
		return -1;
	/* calls of streams that precede this one in the input were not followed */
	if (fresh && s->in.dictionary.stream > 1)
		calls_writer_miss(d->calls);
	return 0;
}

/* Write the open calls of a block, with the ids and times of the output. The input's shift must be
 * known. -1 with the writer's error. */
static int write_calls(struct saved *s)
{
	struct decoding *d = s->input->decoding;
	struct block to = s->block;
	int bad;

	s->moved.from = s->block.snapshot;
	s->moved.bad = false;
	s->moved.payload.spills = true;
	put_payload(s);
	bad = s->moved.bad || writer_send_dict(d->writer);
	if (!bad) {
		to.payload = s->moved.payload.data;
		to.length = to.available = (uint32_t)s->moved.payload.size;
		bad = calls_writer_take(d->calls, &to);
	}
	buffer_free(&s->moved.payload);
	if (!bad)
		return 0;
	return d->writer->error.what[0] ? -1 : error_no_memory(&d->writer->error);
}

/* Take over the open calls of a block. Returns -1 with an error of e or the writer. */
static int stream_take_calls(struct saved *s, struct error *e)
{
	const struct clock *clock = calls_restore_clock(&s->block);

	if (stream_drop_bad_values(s, block_enters(&s->block), e) ||
	    (clock && stream_choose_clock(s, clock, e)))
		return -1;
	return write_calls(s);
}

/* Take a SNAPSHOT, before the first row or after lost ones. */
static int stream_restore_calls(struct saved *s, struct error *e)
{
	struct decoding *d = s->input->decoding;
	const struct snapshot *from = s->block.snapshot;
	bool limits = row_filter_any(d->row_filter), again = s->begun || !d->calls;
	int bad = 0;

	if (!from || d->times_only)
		return 0;
	e->what[0] = '\0';
	if (!from->continues && (again || !limits))
		bad = stream_begin_inside(s);
	if (!bad && limits) {
		/* which calls the left-out rows end is not known */
		d->inside = true;
		calls_writer_miss(d->calls);
	} else if (!bad) {
		bad = stream_take_calls(s, e);
	}
	if (!bad && s->begun && !(from->head.flags & SNAPSHOT_MORE))
		bad = writer_open_calls(d->writer);
	if (bad && !e->what[0])
		*e = d->writer->error;
	return bad;
}

/* Take over the facts about threads of a DICT block, of which a filter left rows out. Returns -1
 * with an error of e or the writer. */
static int stream_take_threads(struct saved *s, struct error *e)
{
	const struct dictionary *d = &s->in.dictionary;
	struct writer *w = s->input->decoding->writer;
	struct raw_entry raw;
	size_t at = 0;

	e->what[0] = '\0';
	while (entry_next(s->block.payload, s->block.length, &at, &raw) > 0) {
		const struct lane *lane;
		struct thread_entry t;

		if (raw.kind != ENTRY_THREAD || !entry_complete(&raw))
			continue;
		entry_get(&entry_layouts[ENTRY_THREAD], raw.data, &t);
		lane = dictionary_lane(d, idmap_get(&d->ids[ENTRY_LANE], t.lane));
		if (!lane)
			continue;
		if (stream_choose_clock(s, lane->clock, e))
			return -1;
		t.lane = stream_lane(s, lane);
		t.since = t.since ? stream_moved(s, t.since) : 0;
		t.last = t.last ? stream_moved(s, t.last) : 0;
		/* rows before the entry must not move to after it */
		if (writer_flush(w) || writer_thread(w, &t))
			return -1;
	}
	return 0;
}

/* Take a DICT block. Returns -1 with *e filled. */
static int stream_take_dict(struct saved *s, struct error *e)
{
	struct decoding *d = s->input->decoding;

	e->what[0] = '\0';
	if (!stream_announce(s) && (d->times_only || !stream_take_threads(s, e)))
		return 0;
	if (!e->what[0])
		*e = d->writer->error;
	return -1;
}

/* Go to the next event, and take in the blocks before it. */
static int saved_advance(struct saved *s, struct error *e)
{
	struct input *in = s->input;

	for (;;) {
		int got;

		if (s->walking && event_next(&s->events, &s->event)) {
			in->next = stream_moved(s, s->event.time);
			/* UINT64_MAX means: no next event; only a damaged stream contains this time
			 */
			in->next -= in->next == UINT64_MAX;
			return 0;
		}
		s->walking = false;
		got = reader_next(&s->in, &s->block);
		if (!got) {
			in->next = UINT64_MAX;
			return 0;
		}
		if (got < 0) {
			if (s->in.fatal) {
				*e = in->decoding->writer->error.what[0]
					     ? in->decoding->writer->error
					     : s->in.error;
				return -1;
			}
			input_damage_error(in, &s->in.error);
			continue;
		}
		/* no event of the block is wanted */
		if (s->block.kind == BLOCK_EVENTS &&
		    (s->block.last < row_filter_first(in) ||
		     stream_moved(s, s->block.base) > row_filter_last(in)))
			continue;
		if (s->block.kind == BLOCK_DICT && stream_take_dict(s, e))
			return -1;
		if (s->block.kind == BLOCK_EVENTS) {
			if (stream_drop_bad_values(s, &s->block, e))
				return -1;
			events_begin(&s->events, &s->block);
			s->walking = true;
		} else if (s->block.kind == BLOCK_META) {
			e->what[0] = '\0';
			if (stream_take_meta(s, e)) {
				if (e->what[0])
					return -1;
				input_damage_error(in, &s->in.error);
			}
		} else if (s->block.kind == BLOCK_SNAPSHOT) {
			if (stream_restore_calls(s, e))
				return -1;
		} else if (s->block.kind == BLOCK_END) {
			if (stream_take_end(in, &s->in.end, e))
				return -1;
		}
	}
}

static int saved_open(struct input *in, struct error *e)
{
	struct saved *s = calloc(1, sizeof(*s));
	struct saved_head h;

	in->state = s;
	if (!s)
		return error_no_memory(e);
	s->input = in;
	if (reader_open_fd(&s->in, in->fd, in->name, in->head, in->head_size)) {
		*e = s->in.error;
		return -1;
	}
	s->in.reads_values = READS_ALL;
	saved_head(in, &h);
	if (in->decoding->writer)
		in->decoding->writer->head.flags |= reader_head_flags(h.data, h.size);
	in->fd = -1; /* the reader owns it now */
	return 0;
}

/* Hash the stream's id and its stages, as far as the bytes of HEAD that were read to recognise the
 * format contain them. */
static uint64_t saved_fingerprint(const struct input *in)
{
	struct saved_head h;
	const uint8_t *p = h.data + MARKER_SIZE + BLOCK_HEADER, *end;
	uint64_t id = 0;

	saved_head(in, &h);
	end = h.data + h.size;
	if ((size_t)MARKER_SIZE + BLOCK_HEADER + 24 > h.size)
		return id;
	id = hash_bytes(p + 4, 16, id);
	for (p += 24; end - p >= 8;) {
		uint32_t n = get_u32(p + 4);

		if (!get_u16(p) || n > (size_t)(end - p) - 8)
			break;
		if (get_u16(p) == HEAD_STAGE)
			id = hash_bytes(p + 8, n, id);
		p += 8 + align_up(n, 8);
	}
	return id;
}

static int saved_begin(struct input *in, struct error *e)
{
	struct saved *s = in->state;

	s->in.before_block = writer_flush;
	s->in.before_block_ctx = in->decoding->writer;
	if (saved_advance(s, e))
		return -1;
	s->begun = true;
	if (in->next == UINT64_MAX)
		return 0;
	if (stream_choose_clock(s, s->event.lane->clock, e))
		return -1;
	return merge_first(in, s->event.time, e);
}

/* Find the last time, which the END at the end of the file contains. Without this 'trdecode --since
 * -TIME SAVED | trstat' takes 14 times the instructions where a twentieth of a uftrace recording is
 * wanted. */
static bool saved_late(struct input *in, uint64_t *time)
{
	const struct saved *s = in->state;
	uint64_t last;

	if (reader_tail_last(s->in.input.fd, &last))
		return false;
	*time = stream_moved(s, last);
	return true;
}

/* Copy the fixed part of a row whose stacks have other ids in the output. */
static int copy_fixed(struct saved *s, const struct event *ev)
{
	s->fixed.size = 0;
	if (buffer_append(&s->fixed, ev->fixed, ev->type->fixed_size))
		return -1;
	field_map_stacks(ev->type, s->fixed.data, stream_field_stack, s);
	return 0;
}

/* Test for a gap that the writer will refuse, so that its loss is not counted. */
static bool is_refused_gap(struct saved *s, uint32_t lane)
{
	const struct row_refusal *no = &s->input->decoding->writer->refusal;
	const struct event *ev = &s->event;

	return ev->type->kind == KIND_GAP && no->row &&
	       no->row(no->ctx, s->input->next, lane, stream_type(s, ev->type), ev->fixed);
}

static int stream_copy_row(struct saved *s)
{
	struct writer *w = s->input->decoding->writer;
	const struct event *ev = &s->event;
	const uint8_t *tail = ev->tail;
	bool sample = ev->type->kind == KIND_SAMPLE;
	uint32_t size = ev->tail_size, lane = stream_lane(s, ev->lane), location;
	struct new_row row;
	int bad = 0;

	if (is_refused_gap(s, lane))
		return 0;
	location =
		sample ? stream_stack(s, ev->stack, &bad) : stream_location(s, ev->location, &bad);
	if (bad)
		return -1;
	if (ev->type->has_stacks && copy_fixed(s, ev))
		return -1;
	if (ev->type->flags & TYPE_VALUES &&
	    !(size > LARGE && values_copy_is_same(tail, size, stream_value_definition, s))) {
		buffer_clear(&s->tail);
		s->tail.spills = true;
		w->tail_buffer = &s->tail;
		if (values_copy(&s->tail, tail, size, stream_value_definition, s))
			return -1;
		tail = s->tail.data;
		size = (uint32_t)s->tail.size;
	}
	row = (struct new_row){.time = s->input->next,
			       .lane = lane,
			       .type = stream_type(s, ev->type),
			       .location = location,
			       .depth = ev->depth,
			       .fixed = ev->type->has_stacks ? s->fixed.data : ev->fixed,
			       .fixed_size = ev->type->fixed_size,
			       .tail = tail,
			       .tail_size = size,
			       .has_tail = ev->type->flags & TYPE_TAIL};
	if (sample ? writer_sample(w, row) : writer_row_data(w, row))
		return -1;
	/* only after the row: it may have begun a segment, which has its own counts */
	if (ev->type->kind == KIND_GAP)
		writer_count_gap(w, ev);
	return 0;
}

/* Test whether a type of a section is wanted. */
static bool section_type_wanted(const struct row_filter *l, const struct index_type *t)
{
	enum { TEXT_MOST = 1024 };
	char both[TEXT_MOST + 2];

	if (t->group_size + t->name_size > TEXT_MOST)
		return true;
	memcpy(both, t->group, t->group_size);
	both[t->group_size] = ':';
	memcpy(both + t->group_size + 1, t->name, t->name_size);
	both[t->group_size + 1 + t->name_size] = 0;
	return row_filter_type(l, both + t->group_size + 1, both);
}

/* Test whether a section may have rows of wanted types. *calls: calls are among these. */
static bool section_types_wanted(const struct row_filter *l, const struct index_section *s,
				 bool *calls)
{
	bool wanted = s->flags & SECTION_ANY_TYPE;

	*calls = wanted;
	for (uint32_t i = 0; i < s->ntypes; i++) {
		struct index_type t = index_type(s, i);

		if (t.kind == KIND_GAP) {
			wanted = true;
		} else if (section_type_wanted(l, &t)) {
			wanted = true;
			*calls |= t.kind == KIND_ENTER || t.kind == KIND_LEAVE;
		}
	}
	return wanted;
}

/* Test whether a section may have rows of wanted CPUs and threads. */
static bool section_lanes_wanted(struct row_filter *l, const struct index_section *s)
{
	bool wanted = s->flags & SECTION_ANY_LANE || (!l->cpus.count && !l->tids.count);

	for (uint32_t i = 0; i < s->nlanes && !wanted; i++) {
		struct index_lane lane = index_lane(s, i);

		wanted = (!(lane.flags & LANE_HAS_CPU) || row_filter_cpu(l, lane.cpu)) &&
			 (!(lane.flags & LANE_HAS_TID) || row_filter_tid(l, lane.tid));
	}
	return wanted;
}

/* Test whether sections can be left out for what is in them, not only for their times. They cannot
 * where the last time of a thread with calls may be in a section without wanted rows. */
static bool sections_by_content(const struct row_filter *l, const struct index *x)
{
	bool calls = false;

	if (!l->cpus.count && !l->ntypes)
		return true;
	for (size_t i = 0; i < x->count && !calls; i++)
		section_types_wanted(l, &x->sections[i], &calls);
	return !calls;
}

/* Test whether the limits leave rows of a section. */
static bool saved_wants(void *ctx, const struct index *x, const struct index_section *section)
{
	struct saved *s = ctx;
	struct row_filter *l = s->input->decoding->row_filter;
	uint64_t first = stream_moved(s, section->first), last = stream_moved(s, section->last);
	bool calls;

	if (!s->judged)
		s->by_content = sections_by_content(l, x);
	s->judged = true;
	if (!section->events || last < l->first_time || first > l->last_time)
		return false;
	if (!s->by_content ||
	    (section_lanes_wanted(l, section) && section_types_wanted(l, section, &calls)))
		return true;
	/* it may have no row in the range */
	if (first < l->first_time && last > l->last_time)
		return true;
	l->in_range = true;
	return false;
}

static int saved_run(struct input *in, uint64_t until, struct error *e)
{
	struct saved *s = in->state;

	if (row_filter_any(in->decoding->row_filter) && !s->in.wants) {
		s->in.wants = saved_wants;
		s->in.wants_ctx = s;
		s->in.left_out_is_read = true;
	}

	while (in->next <= until && in->next != UINT64_MAX) {
		if (stream_copy_row(s) || saved_advance(s, e))
			return -1;
	}
	return 0;
}

/* Add the command lines in a HEAD, of the programs that wrote the stream. */
static void add_commands(const struct saved *s, struct trace_info *f)
{
	const struct head *h = &s->in.head;
	char line[160];

	for (size_t at = 0; at + 8 <= h->properties_size;) {
		uint32_t n = get_u32(h->properties + at + 4);

		if (n > h->properties_size - at - 8)
			break;
		snprintf(line, sizeof(line), "%.*s", (int)(n < 150 ? n : 150),
			 h->properties + at + 8);
		if (get_u16(h->properties + at) == HEAD_COMMAND && !h->sequence)
			fact_item(f, "made by", line);
		at += 8 + align_up(n, 8);
	}
}

/* Read the whole stream, so that --info reports damage too. */
static int saved_info(struct input *in, struct trace_info *f, struct error *e)
{
	struct saved *s = in->state;
	uint64_t events = 0, gaps = 0, lost = 0, first = UINT64_MAX, last = 0, segments = 0;
	char line[160];
	int got;

	while ((got = reader_next(&s->in, &s->block))) {
		if (got < 0) {
			if (s->in.fatal) {
				*e = s->in.error;
				return -1;
			}
			input_damage_error(in, &s->in.error);
			continue;
		}
		if (s->block.kind == BLOCK_EVENTS) {
			events += s->block.rows;
			first = s->block.base < first ? s->block.base : first;
			last = s->block.last > last ? s->block.last : last;
		} else if (s->block.kind == BLOCK_END) {
			segments++;
			gaps += s->in.end.gaps;
			lost += s->in.end.lost;
			if (stream_take_end(in, &s->in.end, e))
				return -1;
		} else if (s->block.kind == BLOCK_HEAD) {
			add_commands(s, f);
		}
	}
	fact_text(f, "format", "stream");
	fact_number(f, "version", STREAM_MAJOR);
	fact_number(f, "segments", segments);
	for (uint32_t i = 1; i < s->in.dictionary.sources.count; i++) {
		const struct source *source = pool_at(&s->in.dictionary.sources, i);

		snprintf(line, sizeof(line), "%.40s %.100s", source->format.text,
			 source->name.text);
		fact_item(f, "input", line);
	}
	fact_number(f, "events", events);
	fact_number(f, "gaps", gaps);
	fact_number(f, "lost", lost);
	if (events) {
		fact_number(f, "first time", first);
		fact_number(f, "last time", last);
	}
	fact_number(f, "lanes", s->in.dictionary.lanes.count - 1);
	fact_number(f, "types", s->in.dictionary.types.count - 1);
	fact_number(f, "locations", s->in.dictionary.locations.count - 1);
	fact_number(f, "stacks", stack_table_count(&s->in.dictionary.stacks));
	return 0;
}

static void saved_close(struct input *in)
{
	struct saved *s = in->state;

	if (!in->decoding->times_only)
		bad_values_report(&s->bad_values);
	bad_values_free(&s->bad_values);
	reader_close(&s->in);
	for (int i = 0; i < ENTRY_KINDS; i++)
		free(s->maps[i].id);
	free(s->maps_done);
	free(s->symbols);
	buffer_free(&s->fixed);
	buffer_free(&s->tail);
	buffer_free(&s->meta);
	free(s);
	in->state = NULL;
}

const struct decoder decoder_stream = {
	.name = "stream",
	.probe = saved_probe,
	.open = saved_open,
	.fingerprint = saved_fingerprint,
	.info = saved_info,
	.begin = saved_begin,
	.late = saved_late,
	.run = saved_run,
	.close = saved_close,
};

/*
 * snapshot_write.c - encodes the open calls of a snapshot maker
 */
#include <stdlib.h>

#include "common/calls/snapshot_maker_private.h"
#include "common/stream/field.h"
#include "common/stream/value.h"

enum {
	SIZE = 256 * 1024,	  /* bytes of rows and records after which another block begins */
	GONE_LIMIT = 1024 * 1024, /* ids of one stack */
	TABLE_LIMIT = 65535,
};

/* The table of a block, of types, lanes or locations. */
struct table {
	uint32_t *index; /* by number: index + 1; 0 none */
	size_t size;
	struct buffer ids, numbers; /* u32 each, by index */
};

enum { TABLE_TYPES, TABLE_LANES, TABLE_LOCATIONS, TABLES };

struct open_number {
	uint64_t serial;
	uint32_t stack, index;
};

/* A block of the snapshot being built. */
struct building {
	struct snapshot_maker *m;
	struct snapshot_head head;
	struct buffer threads, frames, gone, rows, front;
	struct table tables[TABLES];
	struct snapshot_thread thread; /* the last record */
	uint32_t stack;		       /* that it is of */
	struct open_number *numbered;  /* the open numbered calls, by stack */
	size_t nnumbered, at;
	uint64_t sent; /* bytes of blocks */
	bool bare, bad;
};

static void no_memory(struct building *b)
{
	if (!b->bad)
		error_no_memory(&b->m->writer->error);
	b->bad = true;
}

/* Get the index of an entry in a table of the block, which the entry is added to; id is its id. */
static uint32_t table_index(struct building *b, int table, uint32_t number, uint32_t id)
{
	struct table *t = &b->tables[table];
	uint32_t *index;

	if (ARRAY_REACH(t->index, t->size, number)) {
		no_memory(b);
		return 0;
	}
	index = t->index;
	if (!index[number]) {
		if (buffer_u32(&t->ids, id) || buffer_u32(&t->numbers, number)) {
			no_memory(b);
			return 0;
		}
		index[number] = (uint32_t)(t->ids.size / 4);
	}
	return index[number] - 1;
}

static void clear_table(struct table *t)
{
	for (size_t i = 0; i < t->numbers.size; i += 4)
		t->index[get_u32(t->numbers.data + i)] = 0;
	t->ids.size = t->numbers.size = 0;
}

static uint32_t table_count(const struct building *b, int table)
{
	return (uint32_t)(b->tables[table].ids.size / 4);
}

static uint32_t definition_id(void *ctx, uint32_t number)
{
	return snapshot_declare_definition(ctx, number);
}

static void put_tail(struct building *b, const struct kept_row *r, const uint8_t *tail)
{
	size_t at = b->rows.size, size;
	int bad = -1;

	if (buffer_u32(&b->rows, 0)) {
		no_memory(b);
		return;
	}
	if (r->type->flags & TYPE_VALUES)
		bad = values_copy(&b->rows, tail, r->tail_size, definition_id, b->m);
	if (bad) {
		b->rows.size = at + 4;
		bad = buffer_append(&b->rows, tail, r->tail_size);
	}
	size = b->rows.size - at - 4;
	if (bad || buffer_align(&b->rows, 4))
		no_memory(b);
	else
		put_u32(b->rows.data + at, (uint32_t)size);
}

static uint32_t stack_id(void *ctx, uint32_t number)
{
	return snapshot_declare_stack(ctx, number);
}

static void put_row(struct building *b, const struct kept_row *r)
{
	struct snapshot_maker *m = b->m;
	uint32_t lane = table_index(b, TABLE_LANES, r->lane->number,
				    snapshot_declare_lane(m, r->lane)),
		 type = table_index(b, TABLE_TYPES, r->type->number,
				    snapshot_declare_type(m, r->type)),
		 location = 0;
	const uint8_t *data = m->kept.bytes.size ? m->kept.bytes.data + r->offset : NULL;
	uint8_t p[WIDE_ROW];

	if (r->location)
		location = 1 + table_index(b, TABLE_LOCATIONS, r->location,
					   snapshot_declare_location(m, r->location));
	row_put_wide(p,
		     &(struct plain_row){
			     .lane = lane, .location = location, .type = type, .depth = r->depth});
	if (buffer_append(&b->rows, p, sizeof p) ||
	    (r->type->fixed_size && buffer_append(&b->rows, data, r->type->fixed_size)))
		no_memory(b);
	else
		field_map_stacks(r->type, b->rows.data + b->rows.size - r->type->fixed_size,
				 stack_id, m);
	b->bare = b->bare && !r->type->fixed_size && !(r->type->flags & TYPE_TAIL);
	if (r->type->flags & TYPE_TAIL)
		put_tail(b, r, data ? data + r->type->fixed_size : NULL);
}

/* --- blocks --- */

/* Write the head of rows and their tables. */
static int put_tables(struct building *b)
{
	uint8_t head[EVENTS_HEADER] = {0};

	put_u32(head + 16, b->head.frames);
	put_u16(head + 20, (uint16_t)(EVENTS_WIDE | (b->bare ? EVENTS_BARE : 0)));
	put_u16(head + 22, (uint16_t)table_count(b, TABLE_TYPES));
	put_u16(head + 24, (uint16_t)table_count(b, TABLE_LANES));
	put_u32(head + 28, table_count(b, TABLE_LOCATIONS));
	if (buffer_append(&b->front, head, sizeof head))
		return -1;
	for (int i = 0; i < TABLES; i++)
		if (buffer_append(&b->front, b->tables[i].ids.data, b->tables[i].ids.size))
			return -1;
	return buffer_align(&b->front, 8);
}

/* Put all parts but the rows into front. */
static int put_front(struct building *b)
{
	uint8_t head[SNAPSHOT_HEAD];
	size_t rows;

	b->front.size = 0;
	if (buffer_append(&b->front, head, sizeof head) ||
	    buffer_append(&b->front, b->threads.data, b->threads.size) ||
	    buffer_append(&b->front, b->frames.data, b->frames.size) ||
	    buffer_append(&b->front, b->gone.data, b->gone.size) || buffer_align(&b->front, 8))
		return -1;
	rows = b->front.size;
	if (b->head.frames && (put_tables(b) || buffer_align(&b->rows, 8)))
		return -1;
	b->head.rows = (uint32_t)(b->front.size - rows + b->rows.size);
	snapshot_put_head(b->front.data, &b->head);
	return 0;
}

/* Set the frames of the last record. */
static void end_thread(struct building *b)
{
	if (b->threads.size)
		snapshot_put_thread(b->threads.data + b->threads.size - SNAPSHOT_THREAD,
				    &b->thread);
}

/* Send the block, after what it names. */
static int send(struct building *b, bool more)
{
	struct writer *w = b->m->writer;
	const struct buffer *tail_buffer = w->tail_buffer;
	struct iovec parts[2];
	int bad;

	end_thread(b);
	b->head.flags = b->m->flags | (more ? SNAPSHOT_MORE : 0);
	if (b->bad || put_front(b)) {
		no_memory(b);
		return -1;
	}
	parts[0] = (struct iovec){b->front.data, b->front.size};
	parts[1] = (struct iovec){b->rows.data, b->rows.size};
	b->sent += BLOCK_HEADER + b->front.size + b->rows.size;
	w->tail_buffer = &b->rows;
	bad = writer_send_dict(w) || writer_send_block(w, BLOCK_SNAPSHOT, BLOCK_MAY_SKIP, parts, 2);
	w->tail_buffer = tail_buffer;
	b->head.threads = b->head.frames = b->head.gone = 0;
	b->threads.size = b->frames.size = b->gone.size = 0;
	buffer_clear(&b->rows);
	b->bare = true;
	for (int i = 0; i < TABLES; i++)
		clear_table(&b->tables[i]);
	b->bad = bad;
	return bad;
}

static void put_thread(struct building *b)
{
	if (buffer_zero(&b->threads, SNAPSHOT_THREAD))
		no_memory(b);
	b->head.threads++;
}

/* Begin another block if the row does not fit the present one. */
static void make_room(struct building *b, const struct kept_row *r)
{
	size_t have = b->rows.size + b->frames.size + b->threads.size,
	       row = (size_t)r->type->fixed_size + r->tail_size;

	if (!b->head.frames && row <= SIZE)
		return;
	if (have + row <= SIZE && table_count(b, TABLE_LANES) < TABLE_LIMIT &&
	    table_count(b, TABLE_TYPES) < TABLE_LIMIT)
		return;
	if (b->bad || send(b, true))
		return;
	b->thread.flags |= SNAPSHOT_CONTINUED;
	b->thread.frames = b->thread.gone = 0;
	b->thread.lane = snapshot_declare_lane(b->m, b->m->calls.stacks[b->stack]->lane);
	put_thread(b);
}

static void put_frame(struct building *b, const struct snapshot_frame *f, uint32_t handle)
{
	uint8_t p[SNAPSHOT_FRAME];
	const struct kept_row *r;

	if (!(handle & ROW_KEPT) || b->bad)
		return;
	r = snapshot_row(b->m, handle);
	make_room(b, r);
	if (b->bad)
		return;
	snapshot_put_frame(p, f);
	if (buffer_append(&b->frames, p, sizeof p))
		no_memory(b);
	put_row(b, r);
	b->head.frames++;
	b->thread.frames++;
}

/* --- stacks --- */

static void put_frames(struct building *b, const struct stack *s, bool kernel)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct frame *f = &s->frames[i];
		uint32_t flags = kernel ? SNAPSHOT_IN_KERNEL : 0;

		if (kernel && !i && f->outside)
			flags |= SNAPSHOT_OUTSIDE;
		if (f->begun)
			put_frame(b,
				  &(struct snapshot_frame){.start = f->start,
							   .child = f->child,
							   .depth = f->depth,
							   .flags = flags},
				  *frame_row(b->m, s, i));
	}
}

static void put_numbered(struct building *b, uint32_t stack)
{
	const struct calls *c = &b->m->calls;

	for (; b->at < b->nnumbered && b->numbered[b->at].stack == stack; b->at++) {
		uint32_t index = b->numbered[b->at].index;
		const uint32_t *row = calls_numbered_data(c, index);

		put_frame(b, &(struct snapshot_frame){.start = c->numbered.calls[index].start},
			  *row);
	}
}

/* Set what a record has for calls in the kernel. */
static void set_kernel(struct building *b, const struct stack *s)
{
	struct snapshot_thread *t = &b->thread;
	const struct maker_stack *x = &b->m->stacks[s->number];
	size_t n = x->gone.size / 4;

	t->kernel_since = s->kernel_since;
	t->kernel_type = snapshot_declare_type(b->m, s->kernel->type);
	t->flags |= s->passed ? SNAPSHOT_PASSED : 0;
	t->base = x->base;
	t->gone = (uint32_t)(n < GONE_LIMIT ? n : GONE_LIMIT);
	for (size_t i = 0; i < t->gone; i++) {
		uint32_t location = get_u32(x->gone.data + 4 * (n - 1 - i));

		if (location)
			location = snapshot_declare_location(b->m, location);
		if (buffer_u32(&b->gone, location))
			no_memory(b);
	}
	b->head.gone += t->gone;
}

static void put_stack(struct building *b, uint32_t number, const struct lane *lane)
{
	struct snapshot_maker *m = b->m;
	const struct stack *s = number < m->calls.size ? m->calls.stacks[number] : NULL;
	bool per_cpu = lane->thread != number, charged = false;
	struct snapshot_thread *t = &b->thread;

	end_thread(b);
	b->stack = number;
	*t = (struct snapshot_thread){.lane = snapshot_declare_lane(m, lane),
				      .flags = per_cpu ? SNAPSHOT_PER_CPU : 0};
	if (!s || (!s->started && !s->asks_lane))
		t->flags |= SNAPSHOT_UNSTARTED;
	if (snapshot_declare_facts(m, number, t->lane, per_cpu))
		no_memory(b);
	put_thread(b);
	if (!s)
		return;
	charged = s->count && !s->frames[0].begun;
	t->flags |= charged ? SNAPSHOT_CHARGED : 0;
	t->last = s->last;
	t->type = snapshot_declare_type(m, s->type);
	t->unseen = s->unseen + charged;
	t->since = t->unseen ? s->unseen_since : 0;
	t->child = charged ? s->frames[0].child : 0;
	if (s->kernel && s->kernel->count)
		set_kernel(b, s);
	put_frames(b, s, false);
	if (s->kernel)
		put_frames(b, s->kernel, true);
	put_numbered(b, number);
}

static bool has_calls(const struct stack *s)
{
	return s && (s->count || s->unseen || (s->kernel && s->kernel->count));
}

/* Get the lane of a stack that needs a record; NULL: it needs none. */
static const struct lane *needs_record(const struct building *b, uint32_t number)
{
	const struct snapshot_maker *m = b->m;
	const struct stack *s = number < m->calls.size ? m->calls.stacks[number] : NULL;
	const struct thread_facts *f = dictionary_facts(&m->dictionary, number);
	bool numbered = b->at < b->nnumbered && b->numbered[b->at].stack == number;

	if (s && s->lane && (has_calls(s) || numbered))
		return s->lane;
	if (!f || !f->unseen || (s && (s->started || s->asks_lane)))
		return NULL;
	return s && s->lane ? s->lane : f->lane;
}

static int by_stack(const void *a, const void *b)
{
	const struct open_number *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int list_numbered(struct building *b)
{
	const struct calls *c = &b->m->calls;
	const struct open_calls *o = &c->open;
	size_t n = 0;

	b->numbered = calloc(open_calls_count(o) + 1, sizeof(*b->numbered));
	if (!b->numbered)
		return -1;
	if (o->recent.key)
		b->numbered[n++].index = (uint32_t)o->recent.value;
	for (size_t i = 0; o->count && i <= o->mask; i++)
		if (o->slots[i].key)
			b->numbered[n++].index = (uint32_t)o->slots[i].value;
	for (size_t i = 0; i < n; i++) {
		b->numbered[i].stack = c->numbered.calls[b->numbered[i].index].thread;
		b->numbered[i].serial = c->numbered.calls[b->numbered[i].index].serial;
	}
	qsort(b->numbered, n, sizeof(*b->numbered), by_stack);
	b->nnumbered = n;
	return 0;
}

static void free_building(struct building *b)
{
	free(b->numbered);
	buffer_free(&b->threads);
	buffer_free(&b->frames);
	buffer_free(&b->gone);
	buffer_free(&b->rows);
	buffer_free(&b->front);
	for (int i = 0; i < TABLES; i++) {
		free(b->tables[i].index);
		buffer_free(&b->tables[i].ids);
		buffer_free(&b->tables[i].numbers);
	}
}

int snapshot_write(struct snapshot_maker *m)
{
	struct writer *w = m->writer;
	struct building b = {.m = m,
			     .head = {.first = m->first, .latest = m->latest},
			     .rows = {.spills = true},
			     .bare = true};
	uint64_t before = w->segment_bytes + w->dict.size;
	size_t stacks = m->calls.size;

	if (stacks < m->dictionary.nfacts)
		stacks = m->dictionary.nfacts;
	if (list_numbered(&b))
		no_memory(&b);
	for (uint32_t i = 0; i < stacks && !b.bad; i++) {
		const struct lane *lane = needs_record(&b, i);

		if (lane)
			put_stack(&b, i, lane);
	}
	if (!b.bad)
		send(&b, false);
	free_building(&b);
	m->flags = 0;
	m->dict_bytes = w->segment_bytes + w->dict.size - before - b.sent;
	return b.bad ? -1 : 0;
}

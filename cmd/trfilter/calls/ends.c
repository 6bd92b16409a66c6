#include "cmd/trfilter/calls/ends.h"

#include <stdlib.h>

#include "common/stream/entry.h"

void ends_init(struct ends *x, const struct dictionary *d)
{
	*x = (struct ends){.dictionary = d, .segment = 1};
}

void ends_free(struct ends *x)
{
	free(x->threads);
	free(x->seen);
	last_rows_free(&x->last);
	buffer_free(&x->entries.entries);
}

static int reach(struct ends *x, uint32_t thread)
{
	/* a thread is once in `seen` */
	if (ARRAY_REACH(x->threads, x->nthreads, thread) ||
	    ARRAY_REACH(x->seen, x->seen_capacity, thread))
		return -1;
	x->threads[thread].row = x->threads[thread].deep_row = 0;
	return 0;
}

static uint32_t lane_id(const struct block *b, uint32_t lane)
{
	return get_u32(b->lane_ids + 4 * (size_t)lane);
}

void ends_block_done(struct ends *x, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const uint32_t threads[] = {b->lanes[i]->thread, b->lanes[i]->cpu_thread};

		for (int j = 0; j < 2; j++) {
			struct thread_end *t = &x->threads[threads[j]];

			if (!t->row || t->lane != b->lanes[i])
				continue;
			t->wire = lane_id(b, i);
			if (t->segment != x->segment)
				x->seen[x->nseen++] = threads[j];
			t->segment = x->segment;
		}
	}
}

/* Returns true for enters of the thread's stack without a depth. */
static bool enters_bare(const struct type *t)
{
	return t->kind == KIND_ENTER &&
	       !(t->flags & (TYPE_DEPTH | TYPE_INNER | TYPE_KERNEL | TYPE_CALL_NUMBER));
}

/* Examine the types that the stream has declared since the last time. */
static void examine_types(struct ends *x)
{
	const struct pool *types = &x->dictionary->types;

	for (; x->ntypes < types->count; x->ntypes++) {
		const struct type *t = pool_at(types, x->ntypes);

		x->calls |= t && type_is_call(t);
		x->depths |= t && type_has_depth(t);
	}
}

static uint32_t thread_of(const struct lane *lane, const struct type *type)
{
	return type->flags & TYPE_PER_CPU ? lane->cpu_thread : lane->thread;
}

/* Returns true if a lane of the block has threads whose start is unknown. */
static bool wants_start(struct ends *x, const struct block *b)
{
	bool starts = false;

	examine_types(x);
	for (uint32_t i = 0; x->depths && i < b->ntypes && !starts; i++)
		starts = type_has_depth(b->types[i]) || enters_bare(b->types[i]);
	for (uint32_t i = 0; i < b->nlanes && starts; i++)
		if (b->lanes[i]->thread >= x->nthreads || !x->threads[b->lanes[i]->thread].started)
			return true;
	return false;
}

/* Returns true if rows of the type push a call on those with depths. */
static bool is_on_top(const struct type *t)
{
	return t->kind == KIND_ENTER && t->flags & TYPE_INNER;
}

/* Note the first row of a thread that has a depth, in that lane. */
static int ends_start(struct ends *x, uint32_t thread, const struct block *b, const uint8_t *row,
		      uint32_t lane, bool leave)
{
	bool per_cpu = thread != b->lanes[lane]->thread;
	struct thread_end *t = &x->threads[thread];
	uint32_t depth = block_row(b, row).depth;

	t->started = true;
	/* upstream has recorded it, or does not know it */
	if (depth + leave == 0 || dictionary_left_out(x->dictionary, thread) ||
	    dictionary_started(x->dictionary, thread))
		return 0;
	return thread_entries_add(&x->entries,
				  &(struct thread_entry){.lane = lane_id(b, lane),
							 .flags = per_cpu ? THREAD_PER_CPU : 0,
							 .since = block_row(b, row).time,
							 .unseen = depth + leave});
}

static void note_depth(struct ends *x, uint32_t thread, const struct block *b, const uint8_t *p)
{
	uint32_t row = p ? (uint32_t)(p - b->row_data) : 0;
	struct plain_row r;
	bool enter;

	if (!p || row < x->threads[thread].deep_row)
		return;
	r = block_row(b, p);
	enter = b->types[r.type]->kind == KIND_ENTER;
	ends_depth(x, thread, r.depth + enter);
	x->threads[thread].deep_row = row + 1;
}

static int ends_walk(struct ends *x, const struct block *b)
{
	const uint8_t *p = b->row_data;

	for (uint32_t i = 0; i < b->rows; i++, p += row_size(b, p)) {
		struct plain_row r = block_row(b, p);
		const struct type *type = b->types[r.type];
		uint32_t lane = r.lane, thread;

		if (type->kind == KIND_GAP)
			continue;
		thread = thread_of(b->lanes[lane], type);
		ends_note(x, thread, b->lanes[lane], r.time, i);
		x->threads[thread].inner = is_on_top(type);
		if (enters_bare(type))
			x->threads[thread].started = true;
		if (type_has_depth(type))
			note_depth(x, thread, b, p);
		if (type_has_depth(type) && !x->threads[thread].started &&
		    ends_start(x, thread, b, p, lane, type->kind == KIND_LEAVE))
			return -1;
	}
	return 0;
}

static void note_row(struct ends *x, uint32_t thread, const struct block *b, uint32_t lane,
		     const uint8_t *p)
{
	uint32_t row = p ? (uint32_t)(p - b->row_data) : 0;
	struct plain_row r;

	if (!p || row < x->threads[thread].row)
		return;
	r = block_row(b, p);
	ends_note(x, thread, b->lanes[lane], r.time, row);
	x->threads[thread].inner = is_on_top(b->types[r.type]);
}

/* Do the work of ends_walk() for a block where no thread starts: the last rows of each lane are
 * enough. */
static int note_last(struct ends *x, const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		/* wants_start() does not cover these */
		if (type_has_depth(b->types[i]) && b->types[i]->flags & TYPE_PER_CPU)
			return ends_walk(x, b);
	if (last_rows_find(&x->last, b))
		return -1;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct lane *lane = b->lanes[i];

		note_row(x, lane->thread, b, i, last_row(&x->last, i, LAST_THREAD));
		note_row(x, lane->thread, b, i, last_row(&x->last, i, LAST_DEPTH));
		note_row(x, lane->cpu_thread, b, i, last_row(&x->last, i, LAST_CPU));
		note_depth(x, lane->thread, b, last_row(&x->last, i, LAST_DEPTH));
	}
	return 0;
}

int ends_lanes(struct ends *x, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (reach(x, b->lanes[i]->thread) || reach(x, b->lanes[i]->cpu_thread))
			return -1;
	return 0;
}

int ends_last_event(struct ends *x, uint32_t thread, const struct lane *lane, uint64_t time)
{
	if (reach(x, thread))
		return -1;
	x->threads[thread].last = time;
	x->threads[thread].lane = lane;
	return 0;
}

void ends_enter(struct ends *x, uint32_t thread, const struct event *e)
{
	x->threads[thread].inner = is_on_top(e->type);
	if (type_has_depth(e->type))
		ends_depth(x, thread, e->depth + 1);
}

int ends_block(struct ends *x, const struct block *b)
{
	if (ends_lanes(x, b))
		return -1;
	return wants_start(x, b) ? ends_walk(x, b) : 0;
}

static bool is_kept(const struct ends *x, uint32_t thread)
{
	return thread < x->nthreads && x->threads[thread].kept;
}

/* Returns true if a thread of the block, with rows that are kept, may have an open call. */
static bool wants_last(const struct ends *x, const struct block *b)
{
	for (uint32_t i = 0; x->calls && i < b->nlanes; i++)
		if (is_kept(x, b->lanes[i]->thread) || is_kept(x, b->lanes[i]->cpu_thread))
			return true;
	return false;
}

bool ends_wants_all(struct ends *x, const struct block *b)
{
	return wants_start(x, b);
}

bool ends_needed(struct ends *x, const struct block *b)
{
	return wants_start(x, b) || wants_last(x, b);
}

/* Note for each thread of a block whether all, some or none of its rows are kept. */
static void note_kept(struct ends *x, const struct block *b, bool some, bool all)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const uint32_t threads[] = {b->lanes[i]->thread, b->lanes[i]->cpu_thread};

		for (int j = 0; j < 2; j++) {
			struct thread_end *t = &x->threads[threads[j]];

			t->kept |= some;
			t->dropped |= !all;
			t->has_depth &= !all;
		}
	}
}

int ends_rows(struct ends *x, const struct block *b, const struct block *kept)
{
	bool all = kept && kept->rows == b->rows;
	int bad = 0;

	/* the kept rows themselves show the open calls */
	note_kept(x, b, kept, all);
	if (wants_start(x, b))
		bad = ends_walk(x, b);
	else if (!all && wants_last(x, b))
		bad = note_last(x, b);
	if (bad)
		return -1;
	x->last.found = false;
	ends_block_done(x, b);
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Returns true if a later segment of the input has given the id of the thread's lane to another. */
static bool has_other(const struct ends *x, const struct thread_end *t)
{
	uint32_t number = idmap_get(&x->dictionary->ids[ENTRY_LANE], t->wire);

	return number && number != t->lane->number;
}

int ends_finish(struct ends *x, bool (*open)(void *ctx, uint32_t thread), void *ctx)
{
	size_t n = x->nseen;

	x->nseen = 0;
	if (n)
		qsort(x->seen, n, sizeof *x->seen, by_number);
	for (size_t k = 0; k < n; k++) {
		uint32_t i = x->seen[k];
		struct thread_end *t = &x->threads[i];
		uint32_t flags = THREAD_HAS_LAST;

		/* one entry per thread */
		t->segment = 0;
		if (!(open ? open(ctx, i) : t->kept && t->dropped) || has_other(x, t))
			continue;
		if (t->lane->thread != i)
			flags |= THREAD_PER_CPU;
		if (t->has_depth)
			flags |= THREAD_HAS_OPEN;
		if (t->unseen)
			flags |= THREAD_UNSEEN;
		if (t->rejects)
			flags |= THREAD_LEFT_OUT;
		if (thread_entries_add(&x->entries,
				       &(struct thread_entry){.lane = t->wire,
							      .flags = flags,
							      .last = t->last,
							      .open = t->deep + t->inner}))
			return -1;
	}
	return 0;
}

uint64_t ends_last(const struct ends *x, uint32_t thread)
{
	const struct thread_facts *f = dictionary_facts(x->dictionary, thread);
	uint64_t last = thread < x->nthreads ? x->threads[thread].last : 0;

	return f && f->last > last ? f->last : last;
}

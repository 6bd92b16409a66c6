/*
 * left_out.c - facts about rows that are left out: THREAD entries, and rows of KIND_DROP
 *
 *     read       passed on             written
 *     enter f    enter f               enter f
 *     enter g    (left out)            THREAD: rows of this stack are left out
 *     row of f   (left out)            drop, if the row ends calls without a leave
 */
#include "cmd/trfilter/left_out.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/trfilter/block_queue.h"
#include "cmd/trfilter/rows.h"
#include "common/stream/dictionary.h"
#include "common/stream/snapshot.h"
#include "common/util/buffer.h"
#include "common/util/error.h"

/* Add an entry. Returns -1 when out of memory. */
static int thread_entries_add(struct buffer *entries, const struct thread_entry *t)
{
	/* the id has no meaning */
	return entry_append_content(entries, ENTRY_THREAD, 1, t);
}

bool thread_entries_block(struct buffer *entries, size_t *sent, struct block *b)
{
	size_t entry = ENTRY_HEADER + entry_layouts[ENTRY_THREAD].size;
	size_t n = entries->size - *sent, most = BLOCK_LIMIT / entry * entry;

	if (!n) {
		entries->size = 0;
		return false;
	}
	n = n < most ? n : most;
	*b = (struct block){.kind = BLOCK_DICT,
			    .payload = entries->data + *sent,
			    .length = (uint32_t)n,
			    .available = (uint32_t)n,
			    /* rows before an entry must not move after it */
			    .redeclares = true};
	*sent += n;
	return true;
}

/* --- last rows --- */

/* Flag of a class: the rows have a payload. */
enum { CLASS = 3, LONG = 4 };

/* A narrow row of an unchecked block may have any of these indexes. */
enum { NARROW_INDEXES = 256 };

static void last_rows_free(struct last_rows *x)
{
	free(x->at);
	free(x->classes);
}

static uint8_t class_of(const struct type *t)
{
	uint8_t flags = t->fixed_size || t->flags & TYPE_TAIL ? LONG : 0;

	if (type_has_depth(t))
		return LAST_DEPTH | flags;
	if (t->kind == KIND_GAP)
		return LAST_NONE | flags;
	return (t->flags & TYPE_PER_CPU ? LAST_CPU : LAST_THREAD) | flags;
}

static int left_out_begin(struct last_rows *x, const struct block *b)
{
	size_t lanes = b->nlanes > NARROW_INDEXES ? b->nlanes : NARROW_INDEXES;
	size_t types = b->ntypes > NARROW_INDEXES ? b->ntypes : NARROW_INDEXES;

	if (ARRAY_REACH(x->classes, x->nclasses, types) ||
	    ARRAY_REACH(x->at, x->nat, LAST_CLASSES * lanes))
		return -1;
	memset(x->at, 0, LAST_CLASSES * (size_t)b->nlanes * sizeof *x->at);
	for (uint32_t i = 0; i < b->ntypes; i++)
		x->classes[i] = class_of(b->types[i]);
	return 0;
}

/* Find the last rows of a block of which nothing else is known. */
static void find_forward(struct last_rows *x, const struct block *b)
{
	const uint8_t **at = x->at, *p = b->row_data, *end = p + b->row_size;
	bool wide = b->row_flags & EVENTS_WIDE;

	while (p < end && wide) {
		struct plain_row r = block_row(b, p);

		at[LAST_CLASSES * (size_t)r.lane + (x->classes[r.type] & CLASS)] = p;
		p += row_size(b, p);
	}
	while (p < end) {
		uint8_t class = x->classes[row_type_at(p)];

		at[LAST_CLASSES * (size_t)row_lane_at(p) + (class & CLASS)] = p;
		p = class & LONG ? row_after(b->types[row_type_at(p)], p) : p + NARROW_ROW;
	}
}

/* Returns true if all rows are narrow, and none is of a CPU's thread or has a payload. */
static bool suits_back(const struct last_rows *x, const struct block *b)
{
	bool suits = (b->row_flags & (EVENTS_BARE | EVENTS_WIDE)) == EVENTS_BARE;

	for (uint32_t i = 0; i < b->ntypes && suits; i++)
		suits = !(b->types[i]->flags & TYPE_PER_CPU || x->classes[i] & LONG);
	return suits;
}

/*
 * Find the last rows of such a block: usually they are found soon. In each lane, rows of other
 * classes before the last one with a depth are left out. Returns false if a row is impossible.
 */
static bool find_back(struct last_rows *x, const struct block *b)
{
	const uint8_t *p = b->row_data + b->row_size, *classes = x->classes;
	uint32_t left = b->nlanes;

	while (left && p > b->row_data) {
		const uint8_t **at = x->at + LAST_CLASSES * (size_t)row_lane_at(p - NARROW_ROW);
		struct plain_row r;
		uint8_t class;

		p -= NARROW_ROW;
		if (__builtin_expect(at[LAST_DEPTH] != NULL, 1))
			continue;
		r = row_read(p, b->base);
		if (r.lane >= b->nlanes || r.type >= b->ntypes || r.location > b->nlocations ||
		    r.time > b->last)
			return false;
		class = classes[r.type] & CLASS;
		at[class] = at[class] ? at[class] : p;
		left -= class == LAST_DEPTH;
	}
	return true;
}

int last_rows_find(struct last_rows *x, const struct block *b)
{
	if (x->found)
		return 0;
	if (left_out_begin(x, b))
		return -1;
	x->found = true;
	if (suits_back(x, b))
		return !find_back(x, b);
	find_forward(x, b);
	return 0;
}

int last_rows_unchecked(struct last_rows *x, const struct block *b)
{
	if (left_out_begin(x, b))
		return -1;
	x->found = suits_back(x, b) && find_back(x, b);
	return !x->found;
}

/* --- ends --- */

void ends_init(struct ends *x, const struct dictionary *d)
{
	*x = (struct ends){.dictionary = d, .segment = 1};
}

void ends_free(struct ends *x)
{
	free(x->threads);
	free(x->seen);
	last_rows_free(&x->last);
	buffer_free(&x->entries);
}

static int left_out_reach(struct ends *x, uint32_t thread)
{
	/* a thread is once in `seen` */
	if (ARRAY_REACH(x->threads, x->nthreads, thread) ||
	    ARRAY_REACH(x->seen, x->seen_capacity, thread))
		return -1;
	x->threads[thread].row = x->threads[thread].deep_row = 0;
	return 0;
}

static uint32_t left_out_lane_id(const struct block *b, uint32_t lane)
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
			t->wire = left_out_lane_id(b, i);
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

static uint32_t left_out_thread_of(const struct lane *lane, const struct type *type)
{
	return type->flags & TYPE_PER_CPU ? lane->cpu_thread : lane->thread;
}

/* true: a lane of the block has threads whose start is unknown */
bool ends_wants_all(struct ends *x, const struct block *b)
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
				  &(struct thread_entry){.lane = left_out_lane_id(b, lane),
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
		thread = left_out_thread_of(b->lanes[lane], type);
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
static int left_out_note_last(struct ends *x, const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		/* ends_wants_all() does not cover these */
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
		if (left_out_reach(x, b->lanes[i]->thread) ||
		    left_out_reach(x, b->lanes[i]->cpu_thread))
			return -1;
	return 0;
}

/* Note an event that was not read, the last of its thread. Returns -1 when out of memory. */
static int ends_last_event(struct ends *x, uint32_t thread, const struct lane *lane, uint64_t time)
{
	if (left_out_reach(x, thread))
		return -1;
	x->threads[thread].last = time;
	x->threads[thread].lane = lane;
	return 0;
}

/* Note the enter of an open call that was not read, after ends_last_event. */
static void ends_enter(struct ends *x, uint32_t thread, const struct event *e)
{
	x->threads[thread].inner = is_on_top(e->type);
	if (type_has_depth(e->type))
		ends_depth(x, thread, e->depth + 1);
}

int ends_block(struct ends *x, const struct block *b)
{
	if (ends_lanes(x, b))
		return -1;
	return ends_wants_all(x, b) ? ends_walk(x, b) : 0;
}

static bool left_out_is_kept(const struct ends *x, uint32_t thread)
{
	return thread < x->nthreads && x->threads[thread].kept;
}

/* Returns true if a thread of the block, with rows that are kept, may have an open call. */
static bool wants_last(const struct ends *x, const struct block *b)
{
	for (uint32_t i = 0; x->calls && i < b->nlanes; i++)
		if (left_out_is_kept(x, b->lanes[i]->thread) ||
		    left_out_is_kept(x, b->lanes[i]->cpu_thread))
			return true;
	return false;
}

bool ends_needed(struct ends *x, const struct block *b)
{
	return ends_wants_all(x, b) || wants_last(x, b);
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
	if (ends_wants_all(x, b))
		bad = ends_walk(x, b);
	else if (!all && wants_last(x, b))
		bad = left_out_note_last(x, b);
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
static bool ends_has_other(const struct ends *x, const struct thread_end *t)
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
		if (!(open ? open(ctx, i) : t->kept && t->dropped) || ends_has_other(x, t))
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

/* --- left out --- */

void left_out_free(struct left_out *x)
{
	free(x->stacks);
	free(x->seen);
	free(x->counts);
	buffer_free(&x->entries);
}

/* Returns true if a block may have rows of calls on a stack. *per_cpu: those of CPUs too. */
static bool has_on_stack(const struct block *b, bool *per_cpu)
{
	bool calls = false;

	*per_cpu = false;
	for (uint32_t i = 0; i < b->ntypes; i++) {
		calls |= type_is_on_stack(b->types[i]);
		*per_cpu |= b->types[i]->flags & TYPE_PER_CPU;
	}
	return calls;
}

static bool is_known(const struct left_out *x, uint32_t stack)
{
	return stack < x->nstacks && x->stacks[stack].incomplete;
}

bool left_out_wanted(const struct left_out *x, const struct block *b)
{
	bool per_cpu, calls = has_on_stack(b, &per_cpu);

	for (uint32_t i = 0; i < b->nlanes && calls; i++)
		if (!is_known(x, b->lanes[i]->thread) ||
		    (per_cpu && !is_known(x, b->lanes[i]->cpu_thread)))
			return true;
	return false;
}

/* Get the offset from a row's lane to the count of its type; 0: not counted. */
static uint32_t left_out_count_of(const struct block *b, uint32_t type)
{
	if (!type_is_on_stack(b->types[type]))
		return UINT32_MAX;
	return b->types[type]->flags & TYPE_PER_CPU ? b->nlanes : 0;
}

static void count_narrow(const struct block *b, uint32_t *counts)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint32_t by_type[256] = {0}, by_lane[2 * 256] = {0};

	for (uint32_t i = 0; i < b->ntypes && i < 256; i++)
		by_type[i] = type_is_on_stack(b->types[i]);
	for (; p < end; p += NARROW_ROW)
		by_lane[row_lane_at(p)] += by_type[row_type_at(p)];
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
		counts[i] = by_lane[i];
}

/* Count the checked rows of calls in a block: by lane those of its thread, then those of its CPU.
 */
static void left_out_count_rows(const struct block *b, uint32_t *counts)
{
	const uint8_t *p = b->row_data;
	bool narrow = (b->row_flags & (EVENTS_BARE | EVENTS_WIDE)) == EVENTS_BARE;

	memset(counts, 0, 2 * (size_t)b->nlanes * sizeof *counts);
	for (uint32_t i = 0; i < b->ntypes && narrow; i++)
		narrow = !(b->types[i]->flags & TYPE_PER_CPU);
	if (narrow) {
		count_narrow(b, counts);
		return;
	}
	for (uint32_t i = 0; i < b->rows; i++, p += row_size(b, p)) {
		struct plain_row r = block_row(b, p);
		uint32_t at = left_out_count_of(b, r.type);

		if (at != UINT32_MAX)
			counts[at + r.lane]++;
	}
}

/* Get the state of a stack. NULL: out of memory. */
static struct left_out_stack *stack_at(struct left_out *x, uint32_t stack)
{
	return ARRAY_REACH(x->stacks, x->nstacks, stack) ? NULL : &x->stacks[stack];
}

int left_out_rows(struct left_out *x, const struct block *b, const struct block *kept)
{
	uint32_t n = 2 * b->nlanes, *have;

	if ((kept && kept->rows == b->rows) || !left_out_wanted(x, b))
		return 0;
	if (ARRAY_REACH(x->counts, x->ncounts, 2 * (size_t)n + 1))
		return -1;
	left_out_count_rows(b, x->counts);
	have = x->counts + n;
	memset(have, 0, n * sizeof *have);
	if (kept)
		left_out_count_rows(kept, have);
	for (uint32_t i = 0; i < n; i++) {
		const struct lane *lane = b->lanes[i % b->nlanes];

		if (x->counts[i] != have[i] &&
		    left_out_stack(x, i < b->nlanes ? lane->thread : lane->cpu_thread))
			return -1;
	}
	return 0;
}

int left_out_dropped(struct left_out *x, const struct block *b, const uint8_t *states)
{
	const uint8_t *p = b->row_data;
	uint32_t left = b->nlanes;

	for (uint32_t i = 0; i < b->rows && left; i++, p += row_size(b, p)) {
		struct plain_row r = block_row(b, p);
		const struct type *t = b->types[r.type];
		struct left_out_stack *s;

		if ((row_state(states[i]) != ROW_LEFT_OUT &&
		     row_state(states[i]) != ROW_FOR_CONTEXT) ||
		    !type_is_on_stack(t))
			continue;
		s = stack_at(x, left_out_thread_of(b->lanes[r.lane], t));
		if (!s)
			return -1;
		left -= !s->incomplete;
		s->incomplete = true;
	}
	return 0;
}

int left_out_stack(struct left_out *x, uint32_t stack)
{
	struct left_out_stack *s = stack_at(x, stack);

	if (!s)
		return -1;
	s->incomplete = true;
	return 0;
}

int left_out_row(struct left_out *x, const struct event *e)
{
	return type_is_on_stack(e->type) ? left_out_stack(x, calls_thread(e)) : 0;
}

static int left_out_add_entry(struct left_out *x, struct left_out_stack *s)
{
	uint32_t flags = THREAD_LEFT_OUT | (s->per_cpu ? THREAD_PER_CPU : 0);

	s->written = true;
	return thread_entries_add(&x->entries,
				  &(struct thread_entry){.lane = s->wire, .flags = flags});
}

static int left_out_pass(struct left_out *x, uint32_t stack, uint32_t wire, bool per_cpu)
{
	struct left_out_stack *s = stack_at(x, stack);

	if (!s)
		return -1;
	if (s->segment != x->segment + 1) {
		if (ARRAY_GROW(x->seen, x->seen_capacity, x->nseen))
			return -1;
		x->seen[x->nseen++] = stack;
		s->written = false;
	}
	s->wire = wire;
	s->segment = x->segment + 1;
	s->per_cpu = per_cpu;
	return s->incomplete && !s->written ? left_out_add_entry(x, s) : 0;
}

int left_out_block(struct left_out *x, const struct block *b)
{
	bool per_cpu, calls = has_on_stack(b, &per_cpu);

	for (uint32_t i = 0; i < b->nlanes && calls; i++) {
		uint32_t wire = left_out_lane_id(b, i);

		if (left_out_pass(x, b->lanes[i]->thread, wire, false) ||
		    (per_cpu && left_out_pass(x, b->lanes[i]->cpu_thread, wire, true)))
			return -1;
	}
	return 0;
}

static int say_ignored(struct left_out *x, struct left_out_stack *s)
{
	uint32_t flags = THREAD_OUTSIDE | (s->per_cpu ? THREAD_PER_CPU : 0);

	if (!s->outside)
		return 0;
	s->outside = false;
	return thread_entries_add(&x->entries, &(struct thread_entry){.lane = s->wire,
								      .flags = flags,
								      .since = s->ignored.since,
								      .last = s->ignored.last});
}

/* Note the time of an ignored row. */
static void note_ignored(struct left_out_stack *s, uint64_t time)
{
	if (!s->outside)
		s->ignored = (struct time_span){time, time};
	s->outside = true;
	/* times of a thread may step back */
	if (time < s->ignored.since)
		s->ignored.since = time;
	if (time > s->ignored.last)
		s->ignored.last = time;
}

int left_out_ignored(struct left_out *x, const struct block *b, const uint8_t *states,
		     uint8_t ignored)
{
	struct events it;
	struct event e;
	uint8_t any = 0;

	for (uint32_t i = 0; i < b->rows; i++)
		any |= states[i];
	if (!(any & ignored))
		return 0;
	for (events_begin(&it, b); event_next(&it, &e); states++) {
		struct left_out_stack *s = stack_at(x, calls_thread(&e));

		if (!s)
			return -1;
		if (!s->incomplete || e.type->kind != KIND_ENTER ||
		    !(e.type->flags & (TYPE_INNER | TYPE_KERNEL)))
			continue;
		if (*states & ignored)
			note_ignored(s, e.time);
		else if (say_ignored(x, s))
			return -1;
	}
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const uint32_t stacks[] = {b->lanes[i]->thread, b->lanes[i]->cpu_thread};

		for (int k = 0; k < 2; k++)
			if (stacks[k] < x->nstacks && say_ignored(x, &x->stacks[stacks[k]]))
				return -1;
	}
	return 0;
}

/* Returns true if a later segment of the input has given a lane's id to a lane of another thread.
 */
static bool left_out_has_other(const struct dictionary *d, uint32_t thread, uint32_t wire,
			       bool per_cpu)
{
	const struct lane *l = dictionary_lane(d, idmap_get(&d->ids[ENTRY_LANE], wire));

	return l && (per_cpu ? l->cpu_thread : l->thread) != thread;
}

int left_out_end(struct left_out *x, const struct dictionary *d)
{
	for (size_t i = 0; i < x->nseen; i++) {
		struct left_out_stack *s = &x->stacks[x->seen[i]];

		if (s->incomplete && !s->written &&
		    !left_out_has_other(d, x->seen[i], s->wire, s->per_cpu) &&
		    left_out_add_entry(x, s))
			return -1;
	}
	return 0;
}

/* --- rows of KIND_DROP, and calls that are restored --- */

/* Get the type that the input declares with an id; NULL: none. */
static const struct type *type_with_id(struct stage *s, uint32_t id)
{
	return dictionary_type(&s->in.dictionary, idmap_get(&s->in.dictionary.ids[ENTRY_TYPE], id));
}

static bool is_drop(const struct type *t, uint16_t flags)
{
	return t && t->kind == KIND_DROP && t->flags == flags && !t->fixed_size;
}

/* Declare type n with flags, with the highest id that the input does not use otherwise. */
static int drops_declare(struct drops *x, unsigned n, struct stage *s, uint16_t flags)
{
	struct type_entry content = {.kind = KIND_DROP, .flags = flags};
	struct block b = {.kind = BLOCK_DICT};
	struct buffer entry = {0};
	struct error e;
	size_t where;
	int bad;

	x->id[n] = UINT32_MAX;
	while (type_with_id(s, x->id[n]) && !is_drop(type_with_id(s, x->id[n]), flags))
		x->id[n]--;
	if (entry_append_content(&entry, ENTRY_TYPE, x->id[n], &content))
		bad = stage_no_memory(s);
	else if (dictionary_read(&s->in.dictionary, entry.data, entry.size, &where, &e))
		bad = stage_fail(s, &e);
	else {
		x->type[n] = type_with_id(s, x->id[n]);
		x->segment[n] = s->out.segment;
		b.payload = entry.data;
		b.length = b.available = (uint32_t)entry.size;
		bad = stage_forward_plain(s, &b, NULL, NULL);
	}
	buffer_free(&entry);
	return bad;
}

static int put_drop(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
		    const struct drop_row *row)
{
	uint16_t flags = row->flags;
	unsigned n = (flags & TYPE_INNER ? 1 : 0) | (flags & TYPE_KERNEL ? 2 : 0) |
		     (flags & TYPE_PER_CPU ? 4 : 0);
	struct event drop = *e;

	if ((x->segment[n] != s->out.segment || !is_drop(type_with_id(s, x->id[n]), flags)) &&
	    drops_declare(x, n, s, flags))
		return -1;
	drop.type = x->type[n];
	drop.depth = row->depth;
	return writer_bare_row(&s->out, b, &drop, x->id[n]) ? stage_fail(s, &s->out.error) : 0;
}

int drops_put(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
	      uint8_t state)
{
	struct drop_row rows[2];
	unsigned n = drops_of(e, state, rows);

	for (unsigned i = 0; i < n; i++)
		if (put_drop(x, s, b, e, &rows[i]))
			return -1;
	return 0;
}

void restored_begin(struct filter *f, struct time_range *range, const struct snapshot *s)
{
	if (s->continues)
		return;
	for (size_t i = 0; i < f->nterms; i++)
		pairing_forget(&f->terms[i].pairing);
	if (range)
		pairing_forget(&range->pairing);
}

bool restored_in_range(struct time_range *range, const struct event *enter)
{
	return !range || (!range->from && time_range_row(range, enter));
}

bool restored_exact(const struct filter *f, bool invert)
{
	for (size_t i = 0; i < f->nterms; i++) {
		const struct node *n = f->terms[i].node;
		bool within = n->kind == NODE_UNDER && !invert;

		if (!within && n->depends && n->depends != DEPENDS_LANE)
			return false;
	}
	return true;
}

int restored_ends(struct ends *x, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		uint32_t thread = snapshot_stack(w.lane, w.thread.flags);

		if (ends_last_event(x, thread, w.lane, w.thread.last))
			return -1;
		while (snapshot_next_frame(&w))
			if (!(w.frame.flags & SNAPSHOT_LEFT_OUT))
				ends_enter(x, thread, &w.enter);
	}
	return 0;
}

int thread_entries_pass(struct stage *s, struct buffer *entries)
{
	struct block b;
	size_t sent = 0;

	while (thread_entries_block(entries, &sent, &b))
		if (stage_forward(s, &b, NULL, NULL))
			return -1;
	return 0;
}

int restored_pass(struct stage *s, struct block *b, uint8_t *payload, uint32_t sequence)
{
	/* its rows are not rewritten */
	for (uint32_t i = 0; s->rewrite && i < get_u32(payload + 24); i++)
		snapshot_leave_out(payload, i);
	if (s->rewrite)
		snapshot_set_flags(payload, SNAPSHOT_APPROXIMATE);
	if (sequence != s->out.head.sequence)
		snapshot_set_flags(payload, SNAPSHOT_RESTART);
	b->payload = payload;
	b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	return stage_forward(s, b, NULL, NULL);
}

/*
 * statistics_narrow.c - blocks of narrow rows in loops that stay in registers
 *
 * Instructions of whole pipes without narrow_calls: 'trdecode | trsym | trstat' of
 * t/bench/uftrace.sh 1.14 times as many. Without narrow_rows 'trdecode | trstat -g name -c count':
 * apitrace.sh 1.5 times, ctf.sh 1.5 times, lttng.sh 1.16 times.
 */
#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"
#include "common/calls/calls_rows.h"

/* A bit that is set in the words of row_groups, and is of no index. */
#define WORD_KNOWN (1ull << NARROW_DELTA)

uint64_t statistics_row_mask(const struct statistics *s)
{
	uint32_t needs = s->keys->needs;

	if (needs & (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_EVENT | NEEDS_STACK) || s->keys->begins ||
	    s->columns->wanted.field_count)
		return 0;
	return WORD_KNOWN | row_make(0, needs & NEEDS_LANE ? NARROW_LANE_MOST : 0,
				     needs & NEEDS_LOCATION ? NARROW_LOCATION_MOST : 0,
				     needs & NEEDS_TYPE ? NARROW_TYPE_MOST : 0, 0);
}

/* Cache the groups of the block's locations, where known. */
static int plan_locations(struct statistics *s, const struct block *b)
{
	size_t n = (size_t)b->nlocations + 1;

	if (n > s->caches.planned_size) {
		struct aggregate **planned = realloc(s->caches.planned, n * sizeof(*planned));

		if (!planned)
			return -1;
		s->caches.planned = planned;
		s->caches.planned_size = n;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t location = b->locations[i];

		s->caches.planned[i] = location && location < s->caches.by_location_size
					       ? s->caches.by_location[location]
					       : NULL;
	}
	return 0;
}

/*
 * Narrow rows, calls by name: the engine's fast path stays in registers.
 */
static inline __attribute__((always_inline)) int narrow_calls(struct statistics *s,
							      const struct calls_rows *cr,
							      const struct events *it, bool bare,
							      unsigned how)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	const uint8_t *next = it->row, *end = it->end;
	struct aggregate *const *planned = s->caches.planned;

	while (next < end) {
		const uint8_t *row = next;
		struct plain_row r = plain_row(it, row);
		struct aggregate *a = planned[r.location];
		enum calls_result got;
		struct call call;

		next = bare ? row + NARROW_ROW : row_after(it->types[r.type], row);
		got = a ? calls_quick_row(&s->calls, cr, &r, &call, how) : CALLS_SLOW;
		if (got == CALLS_LEAVE) {
			if (aggregate_call(a, wanted, call.total, call.self, call.recursive,
					   call.end))
				return -1;
		} else if (__builtin_expect(got == CALLS_SLOW, 0)) {
			if (statistics_take_row(s, it, row))
				return -1;
		}
	}
	return 0;
}

static int take_calls(struct statistics *s, const struct block *b, const struct events *it)
{
	struct calls_rows cr;

	if (plan_locations(s, b) || calls_rows(&s->calls, b, &cr))
		return -1;
	if (cr.careful)
		return narrow_calls(s, &cr, it, false, CALLS_CAREFUL);
	return it->bare ? narrow_calls(s, &cr, it, true, 0) : narrow_calls(s, &cr, it, false, 0);
}

/* Returns true for blocks of function tracers: nearly all rows are calls without a payload. */
static bool has_bare_calls(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++) {
		const struct type *t = b->types[i];

		if ((t->kind == KIND_ENTER || t->kind == KIND_LEAVE) && !t->fixed_size &&
		    !(t->flags & TYPE_TAIL))
			return true;
	}
	return false;
}

/* Returns true if all groups of the block depend on row_mask alone. */
static bool is_by_word(const struct statistics *s, const struct block *b)
{
	if (!s->caches.row_mask)
		return false;
	for (uint32_t i = 0; s->recursion.of >= RECURSION_OF_THREAD && i < b->ntypes; i++)
		if (b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE)
			return false;
	for (uint32_t i = 0; s->keys->needs & NEEDS_CPU && i < b->nlanes; i++)
		if (!(b->lanes[i]->flags & LANE_HAS_CPU))
			return false;
	return !(s->keys->needs & NEEDS_TIME) || keys_same_time(s->keys, b->base, b->last);
}

/* Find the group of a row whose word is new in this block. */
static __attribute__((noinline)) struct aggregate *find_row_group(struct statistics *s,
								  const struct events *all,
								  const uint8_t *row,
								  struct row_group *g)
{
	struct events it = *all;
	struct event e;
	struct event_ref subject;
	struct aggregate *a;

	it.row = row;
	if (!event_next(&it, &e))
		return NULL;
	subject = (struct event_ref){.lane = e.lane,
				     .type = e.type,
				     .event = &e,
				     .location = e.location,
				     .time = e.time,
				     .timed = e.type->kind == KIND_LEAVE};
	a = statistics_group(s, &subject);
	if (a)
		*g = (struct row_group){(get_u64(row) & s->caches.row_mask) | WORD_KNOWN, a};
	return a;
}

enum row_does { ROW_COUNTS, ROW_CALLS, ROW_IS_NOTHING };

struct row_type {
	uint32_t size;
	uint8_t tail, does;
};

static void plan_types(const struct block *b, struct row_type *types)
{
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];

		types[i].size = NARROW_ROW + t->fixed_size;
		types[i].tail = (t->flags & TYPE_TAIL) != 0;
		types[i].does = t->kind == KIND_GAP	   ? ROW_IS_NOTHING
				: kind_is_instant(t->kind) ? ROW_COUNTS
							   : ROW_CALLS;
	}
}

static inline const uint8_t *row_behind(const struct row_type *t, const uint8_t *row)
{
	row += t->size;
	return t->tail ? row + 4 + align_up(get_u32(row), 4) : row;
}

/* Returns the group of a row with that word; NULL when out of memory. */
static inline struct aggregate *row_aggregate(struct statistics *s, const struct events *it,
					      const uint8_t *row, uint64_t word)
{
	struct row_group *g =
		&s->caches.row_groups[word * 0x9e3779b97f4a7c15u >> (64 - ROW_GROUPS_BITS)];

	if (__builtin_expect(g->word == word, 1))
		return g->aggregate;
	return find_row_group(s, it, row, g);
}

/*
 * Count calls with numbers whose leave directly follows the enter, as many as follow from here.
 * Returns the first row after them; NULL: out of memory. Without this 'trdecode | trstat -g name
 * -c count' of t/bench/apitrace.sh takes 1.65 times the instructions.
 */
static __attribute__((noinline)) const uint8_t *
numbered_calls(struct statistics *s, const struct events *it, const struct row_type *types,
	       const struct calls_rows *cr, const uint8_t *row)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	uint64_t mask = s->caches.row_mask & ~WORD_KNOWN;

	while (row < it->end) {
		struct plain_row e = plain_row(it, row), l;
		const uint8_t *next = row_behind(&types[e.type], row);
		struct aggregate *a;
		uint64_t total;

		if (next == it->end)
			break;
		l = plain_row(it, next);
		if (!l.location || !calls_try_numbered(&s->calls, cr, row, &e, next, &l))
			break;
		a = row_aggregate(s, it, next, (get_u64(next) & mask) | WORD_KNOWN);
		if (!a)
			return NULL;
		total = l.time > e.time ? l.time - e.time : 0;
		if (aggregate_call(a, wanted, total, total, false, l.time))
			return NULL;
		row = row_behind(&types[l.type], next);
	}
	return row;
}

/* Count narrow rows of all kinds, for keys that depend on lane, type and location only. */
static __attribute__((noinline)) int narrow_rows(struct statistics *s, const struct block *b,
						 const struct events *it)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	uint64_t mask = s->caches.row_mask & ~WORD_KNOWN;
	bool by_type = s->keys->by_type;
	const uint8_t *row = it->row, *end = it->end;
	struct row_type types[256];
	struct calls_rows cr;

	if (calls_rows(&s->calls, b, &cr))
		return -1;
	plan_types(b, types);
	memset(s->caches.row_groups, 0, sizeof(s->caches.row_groups));
	while (row < end) {
		const uint8_t *this = row;
		struct plain_row r = plain_row(it, row);
		const struct row_type *t = &types[r.type];
		enum calls_result got = CALLS_NONE;
		struct aggregate *a;
		struct call call;

		if (cr.types[r.type].numbered == KIND_ENTER && !by_type) {
			row = numbered_calls(s, it, types, &cr, row);
			if (!row)
				return -1;
			if (row != this)
				continue;
		}
		row = row_behind(t, row);
		if (t->does == ROW_CALLS) {
			got = r.location ? calls_quick_row(&s->calls, &cr, &r, &call, CALLS_CAREFUL)
					 : CALLS_SLOW;
			if (__builtin_expect(got == CALLS_SLOW, 0)) {
				if (statistics_take_row(s, it, this))
					return -1;
				continue;
			}
			if (got == CALLS_ENTER && !by_type)
				continue;
		} else if (t->does == ROW_COUNTS) {
			calls_pass(&cr, &r);
		} else {
			continue;
		}
		a = row_aggregate(s, it, this, (get_u64(this) & mask) | WORD_KNOWN);
		if (!a)
			return -1;
		if (got != CALLS_LEAVE)
			aggregate_instant(a, wanted, r.time);
		else if (aggregate_call(a, wanted, call.total, call.self, call.recursive, r.time))
			return -1;
	}
	return 0;
}

enum outcome statistics_narrow(struct statistics *s, const struct block *b, const struct events *it)
{
	bool plain = !s->columns->wanted.field_count && !s->calls.data_size && !s->stacks;
	int bad;

	if (!it->plain || statistics_selects(s))
		return OUTCOME_NO;
	if (s->name_only && plain && !s->keys->by_type && has_bare_calls(b))
		bad = take_calls(s, b, it);
	else if (is_by_word(s, b))
		bad = narrow_rows(s, b, it);
	else
		return OUTCOME_NO;
	return bad ? OUTCOME_FAILED : OUTCOME_YES;
}

#include "cmd/trfilter/calls/left_out.h"

#include <stdlib.h>

#include "cmd/trfilter/calls/row_state.h"
#include "cmd/trfilter/rows/block_compact.h"

void left_out_free(struct left_out *x)
{
	free(x->stacks);
	free(x->seen);
	free(x->counts);
	buffer_free(&x->entries.entries);
}

/* Returns true if rows of the type are on a stack of calls. */
static bool is_on_stack(const struct type *t)
{
	return (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) && !(t->flags & TYPE_CALL_NUMBER);
}

static bool is_known(const struct left_out *x, uint32_t stack)
{
	return stack < x->nstacks && x->stacks[stack].incomplete;
}

bool left_out_wanted(const struct left_out *x, const struct block *b)
{
	bool calls = false, per_cpu = false;

	for (uint32_t i = 0; i < b->ntypes; i++) {
		calls |= is_on_stack(b->types[i]);
		per_cpu |= b->types[i]->flags & TYPE_PER_CPU;
	}
	for (uint32_t i = 0; i < b->nlanes && calls; i++)
		if (!is_known(x, b->lanes[i]->thread) ||
		    (per_cpu && !is_known(x, b->lanes[i]->cpu_thread)))
			return true;
	return false;
}

/* Returns the offset from a row's lane to the count of its type; 0: not counted. */
static uint32_t count_of(const struct block *b, uint32_t type)
{
	if (!is_on_stack(b->types[type]))
		return UINT32_MAX;
	return b->types[type]->flags & TYPE_PER_CPU ? b->nlanes : 0;
}

static void count_narrow(const struct block *b, uint32_t *counts)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint32_t by_type[256] = {0}, by_lane[2 * 256] = {0};

	for (uint32_t i = 0; i < b->ntypes && i < 256; i++)
		by_type[i] = is_on_stack(b->types[i]);
	for (; p < end; p += NARROW_ROW)
		by_lane[row_lane_at(p)] += by_type[row_type_at(p)];
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
		counts[i] = by_lane[i];
}

/* Count the checked rows of calls in a block: by lane those of its thread, then those of its CPU.
 */
static void count_rows(const struct block *b, uint32_t *counts)
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
		uint32_t at = count_of(b, r.type);

		if (at != UINT32_MAX)
			counts[at + r.lane]++;
	}
}

/* Returns the state of a stack. NULL: out of memory. */
static struct left_out_stack *stack_at(struct left_out *x, uint32_t stack)
{
	struct left_out_stack *grown;

	if (ARRAY_REACH(x->stacks, x->nstacks, stack))
		return NULL;
	grown = x->stacks;
	return &grown[stack];
}

int left_out_rows(struct left_out *x, const struct block *b, const struct block *kept)
{
	uint32_t n = 2 * b->nlanes, *have;

	if ((kept && kept->rows == b->rows) || !left_out_wanted(x, b))
		return 0;
	if (ARRAY_REACH(x->counts, x->ncounts, 2 * (size_t)n + 1))
		return -1;
	count_rows(b, x->counts);
	have = x->counts + n;
	memset(have, 0, n * sizeof *have);
	if (kept)
		count_rows(kept, have);
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
		const struct lane *lane = b->lanes[r.lane];
		struct left_out_stack *s;

		if ((row_state(states[i]) != ROW_LEFT_OUT &&
		     row_state(states[i]) != ROW_FOR_CONTEXT) ||
		    !is_on_stack(t))
			continue;
		s = stack_at(x, t->flags & TYPE_PER_CPU ? lane->cpu_thread : lane->thread);
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
	bool per_cpu = e->type->flags & TYPE_PER_CPU;

	if (!is_on_stack(e->type))
		return 0;
	return left_out_stack(x, per_cpu ? e->lane->cpu_thread : e->lane->thread);
}

static int add_entry(struct left_out *x, struct left_out_stack *s)
{
	uint32_t flags = THREAD_LEFT_OUT | (s->per_cpu ? THREAD_PER_CPU : 0);

	s->written = true;
	return thread_entries_add(&x->entries,
				  &(struct thread_entry){.lane = s->wire, .flags = flags});
}

static int pass(struct left_out *x, uint32_t stack, uint32_t wire, bool per_cpu)
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
	return s->incomplete && !s->written ? add_entry(x, s) : 0;
}

int left_out_block(struct left_out *x, const struct block *b)
{
	bool calls = false, per_cpu = false;

	for (uint32_t i = 0; i < b->ntypes; i++) {
		calls |= is_on_stack(b->types[i]);
		per_cpu |= b->types[i]->flags & TYPE_PER_CPU;
	}
	for (uint32_t i = 0; i < b->nlanes && calls; i++) {
		uint32_t wire = get_u32(b->lane_ids + 4 * (size_t)i);

		if (pass(x, b->lanes[i]->thread, wire, false) ||
		    (per_cpu && pass(x, b->lanes[i]->cpu_thread, wire, true)))
			return -1;
	}
	return 0;
}

static int say_ignored(struct left_out *x, struct left_out_stack *s)
{
	const struct time_span r = s->ignored;

	s->ignored.last = 0;
	if (!r.last)
		return 0;
	return thread_entries_add(&x->entries, &(struct thread_entry){.lane = s->wire,
								      .flags = THREAD_OUTSIDE,
								      .since = r.since,
								      .last = r.last});
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
		struct left_out_stack *s = stack_at(x, e.lane->thread);

		if (!s)
			return -1;
		if (!s->incomplete || e.type->kind != KIND_ENTER ||
		    !(e.type->flags & (TYPE_INNER | TYPE_KERNEL)))
			continue;
		if (*states & ignored)
			s->ignored = (struct time_span){s->ignored.last ? s->ignored.since : e.time,
							e.time};
		else if (say_ignored(x, s))
			return -1;
	}
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (say_ignored(x, &x->stacks[b->lanes[i]->thread]))
			return -1;
	return 0;
}

/* Returns true if a later segment of the input has given a lane's id to a lane of another thread.
 */
static bool has_other(const struct dictionary *d, uint32_t thread, uint32_t wire, bool per_cpu)
{
	const struct lane *l = dictionary_lane(d, idmap_get(&d->ids[ENTRY_LANE], wire));

	return l && (per_cpu ? l->cpu_thread : l->thread) != thread;
}

int left_out_end(struct left_out *x, const struct dictionary *d)
{
	for (size_t i = 0; i < x->nseen; i++) {
		struct left_out_stack *s = &x->stacks[x->seen[i]];

		if (s->incomplete && !s->written &&
		    !has_other(d, x->seen[i], s->wire, s->per_cpu) && add_entry(x, s))
			return -1;
	}
	return 0;
}

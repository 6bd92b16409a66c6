#include "cmd/trencode/profile/stack_profile.h"
#include "common/calls/calls_rows.h"
#include "cmd/trencode/tick_scale.h"
#include "cmd/trencode/convert/convert.h"
#include "common/stream/field.h"

#include <inttypes.h>
#include <stdlib.h>

/* Count a call that ended; node STACK_ROOT: its stack is unknown, and it is not counted. */
static void profile_add(struct stack_profile *s, uint32_t node, const struct call *c)
{
	if (node == STACK_ROOT)
		return;
	stack_tree_call(&s->stacks.tree, node, c->self, c->total);
}

/* Count a call that ended without a leave. Its time is its own, not its caller's. */
static void profile_lose(void *ctx, struct stack *stack, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct stack_profile *s = ctx;
	uint64_t last = s->calls->stacks[stack->number]->last;
	uint64_t total = last > f->start ? last - f->start : 0;
	bool numbered = why == LOST_NUMBER;
	uint32_t node;

	(void)data;
	s->cut++;
	if (s->drop)
		return;
	if (numbered && call_stacks_alone(&s->stacks, f->location, 0, &node)) {
		s->calls->out_of_memory = true;
		return;
	}
	if (!numbered)
		node = call_stacks_lost(&s->stacks, stack);
	if (node == STACK_ROOT)
		return;
	stack_tree_call(&s->stacks.tree, node, f->child < total ? total - f->child : 0, total);
	if (!numbered)
		calls_charge_lost(s->calls, stack, total);
}

/* --- events --- */

static int profile_take_event(struct stack_profile *s, const struct event *ev)
{
	struct call call;
	uint32_t node, stack;
	int r = 0;

	if (s->pairs)
		return pair_profile_event(s->pairs, &s->samples, &s->stacks, ev);
	stack = event_stack(s->calls->dictionary, ev);
	if (ev->type->kind == KIND_SAMPLE ||
	    (stack && ev->type->kind == KIND_INSTANT && s->samples.subject != SUBJECT_CALLS &&
	     s->samples.subject != SUBJECT_SAMPLES))
		return sample_profile_add(&s->samples, &s->stacks, ev, stack);
	if ((ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE) &&
	    !sample_profile_calls(&s->samples))
		return 0;
	switch (calls_next(s->calls, ev, &call)) {
	case CALLS_ENTER: r = call_stacks_enter(&s->stacks, ev); break;
	case CALLS_LEAVE:
		r = call_stacks_leave(&s->stacks, ev, &call, &node);
		if (!r)
			profile_add(s, node, &call);
		break;
	default: r = s->calls->out_of_memory ? -1 : 0;
	}
	if (ev->type->kind == KIND_GAP)
		s->gaps++;
	else if (kind_is_instant(ev->type->kind))
		r = r || other_events_add(&s->others, ev->type) ? -1 : 0;
	else if (ev->tail_size)
		s->values++;
	return r;
}

/* Find the names of a block's locations, where they were used. */
static int profile_plan(struct stack_profile *s, const struct block *b)
{
	uint32_t *planned;

	if (b->nlocations >= s->nplanned) {
		/* index 0 is not a location, and not counted */
		planned = realloc(s->planned, (b->nlocations + (size_t)1) * sizeof(*planned));
		if (!planned)
			return -1;
		s->planned = planned;
		s->nplanned = b->nlocations + (size_t)1;
	}
	for (uint32_t i = 0; i <= b->nlocations; i++) {
		uint32_t location = b->locations[i], name;

		s->planned[i] = 0;
		/* names are numbered as they are used */
		if (location >= s->stacks.nnames || !s->stacks.name[location])
			continue;
		if (call_stacks_name(&s->stacks, location, &name))
			return -1;
		s->planned[i] = name + 1;
	}
	return 0;
}

/* Threads of one block by lane. */
struct profile_lanes {
	struct call_stacks_thread *threads[256];
	const struct call_stacks_thread *base; /* s->stacks.threads when they were looked up */
};

static int profile_find_lanes(struct stack_profile *s, const struct block *b,
			      struct profile_lanes *l)
{
	do {
		l->base = s->stacks.threads;
		for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
			l->threads[i] = call_stacks_thread(&s->stacks, b->lanes[i]->thread);
			if (!l->threads[i])
				return -1;
		}
	} while (l->base != s->stacks.threads);
	return 0;
}

static int profile_slow_row(struct stack_profile *s, const struct events *it, const uint8_t *row,
			    struct profile_lanes *l)
{
	struct events one = *it;
	struct event ev;

	one.row = row;
	event_next(&one, &ev);
	if (profile_take_event(s, &ev))
		return -1;
	return l->base == s->stacks.threads ? 0 : profile_find_lanes(s, it->block, l);
}

/* Test whether a block has rows of calls with numbers. */
static bool profile_any_numbered(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (b->types[i]->flags & TYPE_CALL_NUMBER)
			return true;
	return false;
}

static bool row_has_tail(const struct type *t, const uint8_t *row)
{
	return t->flags & TYPE_TAIL && get_u32(row + NARROW_ROW + t->fixed_size);
}

/*
 * Count calls with numbers whose leave directly follows the enter, as many as follow from here.
 * Returns the first row after them; NULL: out of memory. Without this 'trdecode | trencode -t
 * folded' of t/bench/apitrace.sh's trace takes 1.63 times the instructions.
 */
static __attribute__((noinline)) const uint8_t *profile_numbered(struct stack_profile *s,
								 const struct calls_rows *cr,
								 const struct events *at,
								 const uint8_t *row)
{
	struct events it = *at;

	for (it.row = row; it.row < it.end; row = it.row) {
		struct plain_row e = plain_row(&it, row), l;
		const uint8_t *next;
		uint32_t node;
		uint64_t total;

		event_skip(&it, e.type);
		next = it.row;
		if (next == it.end)
			break;
		l = plain_row(&it, next);
		if (!l.location || !calls_try_numbered(s->calls, cr, row, &e, next, &l))
			break;
		if (call_stacks_alone(&s->stacks, it.locations[l.location], 0, &node))
			return NULL;
		total = l.time > e.time ? l.time - e.time : 0;
		stack_tree_call(&s->stacks.tree, node, total, total);
		s->values += row_has_tail(it.types[e.type], row);
		s->values += row_has_tail(it.types[l.type], next);
		event_skip(&it, l.type);
	}
	return row;
}

/* Take the rows of a block. Nearly all are the enter or the leave of the call on top, or of a call
 * with a number. */
static inline __attribute__((always_inline)) int
profile_rows(struct stack_profile *s, const struct events *it, const struct calls_rows *cr,
	     bool bare, bool numbered, unsigned how)
{
	const uint8_t *next = it->row;
	struct profile_lanes l;

	if (profile_find_lanes(s, it->block, &l))
		return -1;
	while (next < it->end) {
		const uint8_t *row = next;
		struct plain_row r = plain_row(it, row);
		struct call_stacks_thread *th = l.threads[r.lane];
		uint32_t name = s->planned[r.location];
		enum calls_result got;
		struct call call;

		if (numbered) {
			next = profile_numbered(s, cr, it, row);
			if (!next)
				return -1;
			if (next != row)
				continue;
		}
		next = bare ? row + NARROW_ROW : row_after(it->types[r.type], row);
		got = name && th->started ? calls_quick_row(s->calls, cr, &r, &call, how)
					  : CALLS_SLOW;
		if (got == CALLS_LEAVE) {
			stack_tree_call(&s->stacks.tree, th->node[call.level], call.self,
					call.total);
		} else if (got == CALLS_ENTER) {
			if (call_stacks_push(&s->stacks, th, call.level, name - 1))
				return -1;
		} else {
			if (profile_slow_row(s, it, row, &l))
				return -1;
			continue;
		}
		if (!bare)
			s->values += row_has_tail(it->types[r.type], row);
	}
	return 0;
}

/* Without this 'trdecode | trsym | trencode -t folded' of t/bench/uftrace.sh takes 2.3 times the
 * instructions. */
static int profile_narrow(struct stack_profile *s, const struct block *b)
{
	bool numbered = profile_any_numbered(b);
	struct calls_rows cr;
	struct events it;

	events_begin(&it, b);
	if (calls_rows(s->calls, b, &cr) || profile_plan(s, b))
		return -1;
	/* the stacks of CPUs are not those of the lanes' threads */
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++)
		if (cr.types[i].stack)
			cr.types[i].kind = 0;
	if (cr.careful || numbered)
		return profile_rows(s, &it, &cr, false, numbered, CALLS_CAREFUL);
	return it.bare ? profile_rows(s, &it, &cr, true, false, 0)
		       : profile_rows(s, &it, &cr, false, false, 0);
}

int stack_profile_block(struct stack_profile *s, const struct block *b)
{
	struct events it;
	struct event ev;

	if (!s->seen && b->nlanes) {
		s->seen = true;
		s->ticks = b->lanes[0]->clock && b->lanes[0]->clock->flags & CLOCK_TICKS;
	}
	if (!(b->row_flags & EVENTS_WIDE) && !s->ticking && !b->stacks.sampled &&
	    s->samples.subject == SUBJECT_CALLS)
		return profile_narrow(s, b);
	if (b->stacks.sampled)
		call_stacks_fetch_recorded(&s->stacks, b);
	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		ev.time = tick_time(ev.lane, ev.time);
		if (profile_take_event(s, &ev))
			return -1;
	}
	return 0;
}

/* --- the run --- */

int stack_profile_init(struct stack_profile *s, struct encoding *en, call_stacks_key *key)
{
	const struct encode_options *options = en->options;
	struct dictionary *d = en->dictionary;

	*s = (struct stack_profile){.drop = options->drop,
				    .ticking = options->tick > 0,
				    .samples.weight = options->weight};
	s->calls = en->calls;
	s->calls->on_lost = profile_lose;
	s->calls->on_lost_ctx = s;
	if (call_stacks_init(&s->stacks, s->calls, key))
		return -1;
	call_stacks_follow(&s->stacks, s->calls);
	if (!options->pair)
		return 0;
	s->samples.pair = options->pair;
	s->samples.subject = SUBJECT_PAIRS;
	s->pairs = malloc(sizeof(*s->pairs));
	return s->pairs ? pair_profile_init(s->pairs, &s->samples, &s->stacks, d) : -1;
}

void stack_profile_free(struct stack_profile *s)
{
	free(s->planned);
	intern_free(&s->others.types);
	sample_profile_free(&s->samples);
	if (s->pairs)
		pair_profile_free(s->pairs);
	free(s->pairs);
	call_stacks_free(&s->stacks);
}

static int end_calls(struct stack_profile *s)
{
	struct call done;
	uint32_t node;

	if (call_stacks_catch_up(&s->stacks))
		return -1;
	while (calls_finish(s->calls, &done)) {
		if (s->drop || call_is_unnamed(&done))
			continue;
		if (call_stacks_finish(&s->stacks, &done, &node))
			return -1;
		profile_add(s, node, &done);
	}
	return call_stacks_end(&s->stacks) || s->calls->out_of_memory ? -1 : 0;
}

int stack_profile_finish(struct stack_profile *s, struct error *e)
{
	if (end_calls(s))
		return error_no_memory(e);
	s->samples.ticks = s->ticks && !s->ticking;
	if (s->pairs &&
	    pair_check_clocks(&s->pairs->pair, s->ticks, s->seen && !s->ticks && !s->ticking, e))
		return -1;
	sample_profile_finish(&s->samples, &s->stacks.tree);
	return sample_profile_check(&s->samples, e);
}

int stack_profile_check(struct encoding *en, bool partial, struct error *e)
{
	const struct stack_profile *s = en->state;

	return s->pairs ? pair_profile_check(s->pairs, partial || en->early, en->options->quiet, e)
			: 0;
}

/* Report the stacks whose sums are beyond the least or the largest number of a format. Formats
 * without negative numbers have the totals too, up to that of all stacks. */
static void report_clipped(const struct stack_profile *s, const char *format, uint64_t most)
{
	const struct stack_tree *t = &s->stacks.tree;
	bool totals = !s->samples.is_signed;
	uint64_t above = 0, below = 0;
	int128 whole = 0;

	for (size_t i = 1; i < t->count; i++) {
		const struct stack_node *n = &t->nodes[i];

		if (n->parent == STACK_LOOSE)
			continue;
		above += n->self > most || (totals && n->total == UINT64_MAX);
		below += n->self < INT64_MIN;
		whole += n->self;
	}
	above += totals && whole > UINT64_MAX;
	remark_count(above,
		     "{sum of a stack was|sums of stacks were} clipped to %" PRIu64
		     ": %s no larger numbers",
		     most, format);
	remark_count(below,
		     "{sum of a stack was|sums of stacks were} clipped to %" PRId64
		     ": %s no smaller numbers",
		     INT64_MIN, format);
}

void stack_profile_report(const struct encoding *en, const struct stack_profile *s,
			  const char *format, uint64_t most)
{

	if (!s->stacks.tree.live && !s->pairs)
		other_events_report_empty(&s->others);
	if (en->options->quiet)
		return;
	if (s->stacks.unnamed)
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
	if (s->pairs) {
		pair_report(&s->pairs->pair, false);
		remark_count(s->pairs->stackless, "{pair|pairs} without a stack left out");
	}
	convert_report_calls(&s->calls->counts, s->cut, s->drop, false);
	sample_profile_report(&s->samples);
	remark_count(s->stacks.deep, STACK_DEEP);
	report_clipped(s, format, most);
	remark_count(s->others.count, "other {event|events} left out: %s calls and samples only",
		     format);
	remark_count(s->values, "{call|calls} without {its|their} arguments: %s no arguments",
		     format);
	remark_count(s->gaps, "{gap|gaps}, around which stacks may be wrong");
}

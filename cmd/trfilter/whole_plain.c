/*
 * whole_plain.c - the case that must be fast: blocks of calls, kept by how long they took
 *
 * A row's state is written only where it is kept; the calls that are still open when the block ends
 * are found on the stacks.
 */
#include "cut.h"
#include "whole_private.h"

enum { LANES = 256, TYPES = 256 }; /* that narrow rows can name */

/* Of a part of the condition: can it be asked by place or by lane alone? */
static bool by_entry(const struct node *n)
{
	unsigned depends = n->depends;

	return depends == DEPENDS_LANE || depends == DEPENDS_NAME || depends == DEPENDS_PLACE ||
	       !depends;
}

/* Make the range of durations smaller. false: it is no such condition. */
static bool narrow(struct whole *w, const struct node *n)
{
	uint64_t value = n->right.value.u, low = 0, high = UINT64_MAX;

	if (n->kind != NODE_COMPARE || n->left.literal || n->left.ask != ASK_DURATION ||
	    !n->right.literal || n->right.value.form != SCALAR_UINT)
		return false;
	switch (n->comparison) {
	case COMPARE_GT:
		if (value == UINT64_MAX)
			return false;
		low = value + 1;
		break;
	case COMPARE_GE: low = value; break;
	case COMPARE_LT:
		if (!value)
			return false;
		high = value - 1;
		break;
	case COMPARE_LE: high = value; break;
	case COMPARE_EQ: low = high = value; break;
	case COMPARE_NE: return false;
	}
	w->shortest = low > w->shortest ? low : w->shortest;
	w->longest = high < w->longest ? high : w->longest;
	w->time_unit |= n->left.time_unit;
	return true;
}

void whole_plain_init(struct whole *w)
{
	bool lasts = false;

	w->plain = false;
	w->shortest = 0;
	w->longest = UINT64_MAX;
	if (w->waiting.dropped != ROW_DROP || w->limits || w->invert || w->callers ||
	    w->max_depth != UINT32_MAX || w->self)
		return;
	for (size_t i = 0; i < w->filter->nparts; i++) {
		const struct node *n = w->filter->parts[i].node;
		bool range = narrow(w, n);

		if (!range && !by_entry(n))
			return;
		lasts |= range;
	}
	w->plain = lasts && w->shortest <= w->longest;
}

/* Do the parts hold that ask for an entry of that kind? */
static bool wanted(struct whole *w, bool lane, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nparts; i++) {
		struct node *n = w->filter->parts[i].node;

		if (by_entry(n) && (n->depends == DEPENDS_LANE) == lane &&
		    !evaluate(w->evaluation, n, e))
			return false;
	}
	return true;
}

static bool fits(const struct whole *w, const struct block *b)
{
	if (b->row_flags & EVENTS_WIDE)
		return false;
	for (uint32_t i = 0; w->time_unit && i < b->nlanes; i++)
		if (b->lanes[i]->clock->flags & CLOCK_TICKS)
			return false;
	return true;
}

/* KIND_INSTANT for all that goes the slow way. */
static uint8_t kind_of(const struct type *t)
{
	enum {
		ALL = TYPE_DEPTH | TYPE_INNER | TYPE_PER_CPU | TYPE_KERNEL | TYPE_CALL_NUMBER,
	};

	return (t->flags & ALL) == TYPE_DEPTH ? t->kind : KIND_INSTANT;
}

struct lanes {
	struct frame_stack *stacks[LANES];
	bool wanted[LANES];
};

static bool prepare(struct whole *w, const struct block *b, struct lanes *l)
{
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (!frames_stack(&w->frames, 2 * b->lanes[i]->thread + 1))
			return false;
	for (uint32_t i = 0; i < b->nlanes && i < LANES; i++) {
		struct event e = {.lane = b->lanes[i], .type = b->types[0]};

		l->stacks[i] = &w->frames.stacks[2 * b->lanes[i]->thread];
		l->wanted[i] = wanted(w, true, &e);
	}
	return true;
}

/* The enters that wait in this block. */
static bool find_waiting(struct whole *w, const struct block *b, const struct lanes *l)
{
	uint64_t block = waiting_next(&w->waiting);
	bool any = false;

	for (uint32_t i = 0; i < b->nlanes && i < LANES; i++) {
		const struct frame_stack *s = l->stacks[i];

		for (uint32_t f = s->count; f--;) {
			const struct open_frame *frame = &s->frames[f];

			/* one that does not wait has no place of its own */
			if (frame->block != block)
				break;
			if (!frame->waits)
				continue;
			w->states[frame->row] = ROW_WAIT;
			w->owners[frame->row] = (struct frame_at){2 * b->lanes[i]->thread, f};
			any = true;
		}
	}
	return any;
}

/* A row that is none of the two below. */
static uint8_t slow(struct whole *w, const struct block *b, const uint8_t *p, uint32_t row,
		    struct lanes *lanes)
{
	const struct frame_stack *stacks = w->frames.stacks;
	struct events it;
	struct event e;
	uint8_t state;

	events_begin(&it, b);
	it.row = p;
	event_next(&it, &e);
	w->row = row;
	state = whole_row(w, &e);
	if (w->frames.stacks != stacks)
		prepare(w, b, lanes);
	return state;
}

static inline __attribute__((always_inline)) bool
rows(struct whole *w, const struct block *b, struct lanes *lanes, const uint8_t *kinds, bool bare)
{
	uint64_t block = waiting_next(&w->waiting), span = w->longest - w->shortest;
	uint8_t *states = w->states;
	const uint8_t *p = b->row_data;
	bool by_place = w->filter->nparts > 1, kept = false;
	struct event e;

	for (uint32_t i = 0; i < b->rows; i++, p += bare ? NARROW_ROW : cut_row_size(b, p)) {
		uint64_t row = get_u64(p), time = b->base + (row & 0xffffff);
		uint32_t lane = row >> 24 & 0xff, depth = (uint32_t)(row >> 56);
		uint8_t kind = kinds[row >> 48 & 0xff];
		struct frame_stack *s = lanes->stacks[lane];
		struct open_frame *f = s->frames + s->count;

		if (!bare)
			w->offsets[i] = (uint32_t)(p - b->row_data);
		if (__builtin_expect(kind == KIND_LEAVE && s->count && f[-1].depth == depth &&
					     !f[-1].inner && time >= f[-1].start,
				     1)) {
			f--;
			s->count--;
			if (__builtin_expect(f->answer == ANSWER_LATER &&
						     time - f->start - w->shortest <= span,
					     0)) {
				f->answer = ANSWER_YES;
				whole_settle(w, f, true);
			}
			if (__builtin_expect(f->answer == ANSWER_YES, 0)) {
				states[i] = ROW_KEEP;
				kept = true;
			} else if (f->waits) {
				if (__builtin_expect(f->block != block, 0))
					whole_settle(w, f, false);
				else
					states[f->row] = ROW_DROP;
			}
			continue;
		}
		if (__builtin_expect(kind != KIND_ENTER || s->count >= s->capacity ||
					     (s->count && f[-1].depth >= depth),
				     0)) {
			states[i] = slow(w, b, p, i, lanes);
			kept |= states[i] != ROW_DROP;
			continue;
		}
		f->start = time;
		f->block = block;
		f->row = i;
		f->lane = b->lanes[lane];
		f->depth = depth;
		f->level = 0;
		f->marks = UINT64_MAX; /* of parts that hold */
		f->answer = ANSWER_LATER;
		f->waits = f->wanted = f->passes = true;
		f->for_callee = f->inner = f->numbered = false;
		s->count++;
		if (by_place) {
			e.lane = f->lane;
			e.type = b->types[row >> 48 & 0xff];
			e.place = b->places[row >> 32 & 0xffff];
			if (!lanes->wanted[lane] || !wanted(w, false, &e)) {
				f->answer = ANSWER_NO;
				f->waits = false;
			}
		}
	}
	return kept;
}

bool whole_plain(struct whole *w, const struct block *b, bool *any)
{
	uint8_t kinds[TYPES];
	struct lanes lanes;
	bool kept;

	if (!fits(w, b) || !prepare(w, b, &lanes))
		return false;
	for (uint32_t i = 0; i < b->ntypes && i < TYPES; i++)
		kinds[i] = kind_of(b->types[i]);
	memset(w->states, ROW_DROP, b->rows);
	kept = b->row_flags & EVENTS_BARE ? rows(w, b, &lanes, kinds, true)
					  : rows(w, b, &lanes, kinds, false);
	w->now = b->last > w->now ? b->last : w->now;
	*any = find_waiting(w, b, &lanes) || kept;
	return true;
}

#include "whole.h"

#include <stdlib.h>

#include "cut.h"

enum { FRAMES_LIMIT = 1 << 20 }; /* of one thread: calls deeper than that are decided by row */

bool whole_needed(const struct filter *f)
{
	return f->tree->depends & (DEPENDS_LATER | DEPENDS_STACK);
}

/* Does the condition ask for a measure? */
static bool asks(const struct node *n, enum ask ask)
{
	if ((!n->left.literal && n->left.name && n->left.ask == ask) ||
	    (!n->right.literal && n->right.name && n->right.ask == ask))
		return true;
	for (size_t i = 0; i < n->nchildren; i++)
		if (asks(n->children[i], ask))
			return true;
	return false;
}

static bool asks_around(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER;

	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = asks_around(n->children[i]);
	return found;
}

static void moved(void *ctx, struct frame_at at, uint64_t block, uint32_t row)
{
	struct whole *w = ctx;
	struct open_frame *f = frames_at(&w->frames, at);

	if (f) {
		f->block = block;
		f->row = row;
	}
}

/* --- the calls around an event --- */

/* The innermost of them. The kernel's calls are on top of the thread's others. */
static struct open_frame *around(const struct whole *w, const struct event *e, uint32_t number)
{
	const struct frames *f = &w->frames;
	bool call = e->type->kind == KIND_ENTER && !(e->type->flags & TYPE_INNER);
	struct open_frame *top;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return NULL;
	if (!call && !(number & 1) && number + 1 < f->size && f->stacks[number + 1].count)
		number++;
	top = number < f->size ? frames_top(&f->stacks[number]) : NULL;
	if (!top && number & 1)
		top = frames_top(&f->stacks[number - 1]);
	return top;
}

static void name_of(struct whole *w, uint32_t place)
{
	struct text_ref name = dictionary_place_name(w->evaluation->dictionary, place);

	buffer_append(&w->text, name.text, name.size);
	buffer_u8(&w->text, ';');
}

static void stack_text(void *ctx, const struct event *e, struct scalar *out)
{
	struct whole *w = ctx;
	uint32_t number = frames_thread(e), first = number & ~1u;

	w->text.size = 0;
	for (uint32_t s = first; s < first + 2 && s < w->frames.size; s++)
		for (uint32_t i = 0; i < w->frames.stacks[s].count; i++)
			name_of(w, w->frames.stacks[s].frames[i].place);
	if (w->facts.is_call)
		name_of(w, e->place);
	if (!w->text.size)
		return;
	out->form = SCALAR_TEXT;
	out->text = (const char *)w->text.data;
	out->size = w->text.size - 1;
	w->text.data[out->size] = 0;
}

/* Of the frames below the top of a stack, from there down: false ends it. */
static void go_down(struct whole *w, uint32_t number,
		    bool (*visit)(struct whole *w, struct open_frame *f, uint64_t mark),
		    uint64_t mark)
{
	for (;;) {
		struct frame_stack *s = &w->frames.stacks[number];

		for (uint32_t i = s->count; i--;)
			if (!visit(w, &s->frames[i], mark))
				return;
		if (!(number & 1))
			return;
		number--;
	}
}

static bool mark_over(struct whole *w, struct open_frame *f, uint64_t mark)
{
	(void)w;
	if ((f->over & mark) == mark)
		return false;
	f->over |= mark;
	return true;
}

/* --- decisions --- */

/* Is a part of the condition asked of each row by itself? */
static inline bool by_row(const struct whole *w, const struct part *p)
{
	return p->by_row || (w->rows_alone && !p->by_call);
}

void whole_settle(struct whole *w, struct open_frame *f, bool keep)
{
	if (!f->waits)
		return;
	f->waits = false;
	if (f->block == waiting_next(&w->waiting))
		w->states[f->row] = keep ? ROW_KEEP : ROW_DROP;
	else if (!w->failed && waiting_decide(&w->waiting, f->block, f->row, keep, &w->error))
		w->failed = true;
}

static bool keep_caller(struct whole *w, struct open_frame *f, uint64_t mark)
{
	(void)mark;
	if (f->for_callee)
		return false;
	f->for_callee = true;
	whole_settle(w, f, true);
	return true;
}

/* A row is kept: so is what encloses it. */
static void kept(struct whole *w, uint32_t number)
{
	if (w->callers && number != FRAMES_NUMBERED && number < w->frames.size)
		go_down(w, number, keep_caller, 0);
}

/* Is a row kept, by the answer of the whole condition? */
static enum answer of_row(const struct whole *w, enum answer a, bool wanted, bool passes)
{
	a = passes ? a : ANSWER_NO;
	if (w->invert)
		a = answer_not(a);
	return wanted ? a : ANSWER_NO;
}

static bool keep_enter(const struct whole *w, const struct open_frame *f)
{
	return f->for_callee || of_row(w, f->answer, f->wanted, f->passes) == ANSWER_YES;
}

static enum answer ask(struct whole *w, enum decide_when when, const struct event *e,
		       struct open_frame *f)
{
	enum answer all = ANSWER_YES;

	for (size_t i = 0; i < w->filter->nparts; i++) {
		const struct part *p = &w->filter->parts[i];
		enum answer a;

		if (by_row(w, p))
			continue;
		a = decide(w->evaluation, p->node, when, e, f);
		if (a == ANSWER_NO)
			return a;
		if (a == ANSWER_LATER)
			all = a;
	}
	return all;
}

static bool passes_row(struct whole *w, const struct event *e)
{
	for (size_t i = 0; i < w->filter->nparts; i++)
		if (by_row(w, &w->filter->parts[i]) &&
		    !evaluate(w->evaluation, w->filter->parts[i].node, e))
			return false;
	return true;
}

/* What is around an event, for its conditions. */
static struct open_frame *set_facts(struct whole *w, const struct event *e, uint32_t number,
				    bool call)
{
	struct open_frame *a = around(w, e, number);
	uint64_t under = 0, over = 0;

	w->facts.is_call = call;
	w->facts.ended = w->facts.has_self = false;
	w->facts.children = 0;
	w->facts.has_caller = a && a->place;
	w->facts.caller = a ? a->place : 0;
	if (w->around) {
		for (size_t i = 0; i < w->filter->nparts; i++)
			decide_around(w->evaluation, w->filter->parts[i].node, e, &under, &over);
		if (over && a)
			go_down(w, a == frames_top(&w->frames.stacks[number]) ? number : number ^ 1,
				mark_over, over);
	}
	w->own_under = under;
	w->facts.under = under | (a ? a->under : 0);
	w->facts.over = over;
	if (w->stack) {
		w->facts.node = a ? a->node : STACK_NODES_BOTTOM;
		if (call)
			w->facts.node = stack_nodes_push(&w->nodes, w->facts.node, e->place);
	}
	return a;
}

/* An event that is no call, or a row of one that cannot be paired. */
static uint8_t alone(struct whole *w, const struct event *e, uint32_t number, bool wanted)
{
	const struct open_frame *a = set_facts(w, e, number, false);
	bool passes = true, holds = true;

	wanted = wanted && (a ? a->level + 1 : 0) < w->max_depth;
	passes = passes_row(w, e);
	for (size_t i = 0; i < w->filter->nparts && holds; i++)
		if (!by_row(w, &w->filter->parts[i]))
			holds = evaluate(w->evaluation, w->filter->parts[i].node, e);
	if (of_row(w, holds ? ANSWER_YES : ANSWER_NO, wanted, passes) != ANSWER_YES)
		return ROW_DROP;
	if (!(e->type->flags & TYPE_CALL_NUMBER))
		kept(w, a && a != frames_top(&w->frames.stacks[number]) ? number ^ 1 : number);
	return ROW_KEEP;
}

/* What is known of an open call at this time. */
static void set_open_facts(struct whole *w, const struct open_frame *f, uint64_t time)
{
	w->facts.is_call = true;
	w->facts.ended = w->facts.has_self = false;
	w->facts.dur = time > f->start ? time - f->start : 0;
	w->facts.children = f->children;
	w->facts.under = f->under;
	w->facts.over = f->over;
}

/* It ended without a leave, or the stream ended before it. */
static void never_left(struct whole *w, struct open_frame *f, bool at_end)
{
	const struct event e = {.lane = f->lane};

	if (f->answer == ANSWER_LATER) {
		set_open_facts(w, f, w->now);
		w->facts.ended = at_end;
		f->answer = ask(w, DECIDE_NEVER, &e, f);
	}
	whole_settle(w, f, keep_enter(w, f));
}

/* --- rows --- */

/* A frame for an enter; NULL: it is to be decided alone. */
static struct open_frame *begin(struct whole *w, const struct event *e, uint32_t *number,
				uint32_t *index)
{
	struct frame_stack *s;
	struct open_frame *f;
	uint32_t depth;
	bool inner = e->type->flags & TYPE_INNER;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		*number = FRAMES_NUMBERED;
		f = frames_number(&w->frames, e, index);
		if (f)
			f->depth = 0;
		return f;
	}
	s = &w->frames.stacks[*number];
	depth = s->count ? frames_top(s)->depth + 1 : 0;
	if (e->type->flags & TYPE_DEPTH && !inner)
		depth = e->depth;
	if (s->count >= FRAMES_LIMIT) {
		s->beyond += !(e->type->flags & TYPE_DEPTH);
		return NULL;
	}
	*index = s->count;
	f = frames_push(&w->frames, s);
	if (f)
		f->depth = depth;
	return f;
}

/* The top of a stack ended without a leave. */
static void lose(struct whole *w, struct frame_stack *s, uint32_t number)
{
	bool keep;

	never_left(w, frames_top(s), false);
	keep = keep_enter(w, frames_top(s));
	s->count--;
	if (keep)
		kept(w, number);
}

/* What is open as deep as an enter, or has its number, ended without a leave. */
static void synchronise(struct whole *w, const struct event *e, uint32_t number)
{
	struct frame_stack *s = &w->frames.stacks[number];
	struct open_frame *f;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		f = frames_numbered(&w->frames, e);
		if (f)
			never_left(w, f, false);
	} else if (e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER)) {
		while (s->count && frames_top(s)->depth >= e->depth)
			lose(w, s, number);
	}
}

static uint8_t enter(struct whole *w, const struct event *e, uint32_t number, bool wanted)
{
	bool numbered = e->type->flags & TYPE_CALL_NUMBER;
	struct open_frame *f, *a;
	enum answer row;
	uint32_t index, level;

	synchronise(w, e, number);
	a = set_facts(w, e, number, true);
	level = a ? a->level + 1 : 0;
	if (a)
		a->children++;
	if (w->own_under)
		level = 0;
	f = begin(w, e, &number, &index);
	if (!f)
		return alone(w, e, frames_thread(e), wanted);
	f->lane = e->lane;
	f->start = e->time;
	f->block = waiting_next(&w->waiting);
	f->place = e->place;
	f->level = level;
	f->children = 0;
	f->node = w->facts.node;
	f->marks = 0;
	f->under = w->facts.under;
	f->over = w->facts.over;
	f->waits = false;
	f->wanted = wanted && level < w->max_depth;
	f->for_callee = false;
	f->inner = e->type->flags & TYPE_INNER;
	f->numbered = numbered;
	w->facts.dur = 0;
	f->answer = f->wanted ? ask(w, DECIDE_ENTER, e, f) : ANSWER_NO;
	f->passes = passes_row(w, e);
	row = of_row(w, f->answer, f->wanted, f->passes);
	if (row == ANSWER_YES) {
		kept(w, number);
		return ROW_KEEP;
	}
	if (row == ANSWER_NO && !w->callers)
		return ROW_DROP;
	f->waits = true;
	f->row = w->row;
	w->owners[w->row] = (struct frame_at){number, index};
	return ROW_WAIT;
}

/* The frame that a leave closes, at the top of its stack; NULL: none. */
static struct open_frame *closed(struct whole *w, const struct event *e, uint32_t number)
{
	struct frame_stack *s = &w->frames.stacks[number];
	bool inner = e->type->flags & TYPE_INNER, depth = e->type->flags & TYPE_DEPTH && !inner;
	struct open_frame *f;

	if (!depth && s->beyond) {
		s->beyond--;
		return NULL;
	}
	/* a call that returns ends what is still open above it */
	while ((f = frames_top(s)) && !inner &&
	       (f->inner ? !depth || f->depth >= e->depth : depth && f->depth > e->depth))
		lose(w, s, number);
	return f && f->inner == inner && (!depth || f->depth == e->depth) ? f : NULL;
}

static uint8_t leave(struct whole *w, const struct event *e, uint32_t number, bool wanted,
		     const struct call *done)
{
	bool numbered = e->type->flags & TYPE_CALL_NUMBER, keep;
	struct frame_stack *s = &w->frames.stacks[number];
	struct open_frame *f = numbered ? frames_numbered(&w->frames, e) : closed(w, e, number);

	if (!f)
		return alone(w, e, number, wanted);
	if (f->answer == ANSWER_LATER) {
		set_open_facts(w, f, e->time);
		w->facts.ended = true;
		w->facts.has_self = done;
		w->facts.self = done ? done->self : 0;
		f->answer = ask(w, DECIDE_LEAVE, e, f);
	}
	whole_settle(w, f, keep_enter(w, f));
	keep = f->for_callee || of_row(w, f->answer, f->wanted, passes_row(w, e)) == ANSWER_YES;
	if (!numbered) {
		s->count--;
		if (w->callers && (keep || keep_enter(w, f)))
			kept(w, number);
	}
	return keep ? ROW_KEEP : ROW_DROP;
}

uint8_t whole_row(struct whole *w, const struct event *e)
{
	uint32_t number = frames_thread(e);
	bool has_self = false, wanted;
	struct call done;

	if (e->type->kind == KIND_GAP)
		return ROW_GAP;
	if (__builtin_expect(e->time > w->now, 1))
		w->now = e->time;
	/* both of a thread are there, or none */
	if (__builtin_expect((number | 1) >= w->frames.size, 0) &&
	    !frames_stack(&w->frames, number | 1))
		return ROW_DROP;
	if (w->self)
		has_self = calls_feed(&w->calls, e, &done) == CALLS_LEAVE;
	wanted = !w->limits || limits_row(w->limits, e);
	switch (e->type->kind) {
	case KIND_ENTER: return enter(w, e, number, wanted);
	case KIND_LEAVE: return leave(w, e, number, wanted, has_self ? &done : NULL);
	}
	return alone(w, e, number, wanted);
}

/* --- blocks --- */

static int check(struct whole *w, struct error *e)
{
	if (w->failed || (w->limits && w->limits->failed)) {
		*e = w->failed ? w->error : w->limits->error;
		return -1;
	}
	if (w->frames.out_of_memory || w->calls.out_of_memory ||
	    (w->limits && w->limits->pairing.out_of_memory))
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	return 0;
}

static int room(struct whole *w, uint32_t rows)
{
	void *grown;

	if (rows <= w->rows_capacity)
		return 0;
	grown = realloc(w->states, rows);
	if (!grown)
		return -1;
	w->states = grown;
	grown = realloc(w->owners, rows * sizeof *w->owners);
	if (!grown)
		return -1;
	w->owners = grown;
	grown = realloc(w->offsets, rows * sizeof *w->offsets);
	if (!grown)
		return -1;
	w->offsets = grown;
	w->rows_capacity = rows;
	return 0;
}

static int take_events(struct whole *w, const struct block *b, struct error *error)
{
	struct events it;
	struct event e;
	bool any;

	if (room(w, b->rows))
		return error_set(error, NULL, NO_OFFSET, "out of memory");
	if (w->plain && whole_plain(w, b, &any)) {
		if (check(w, error) || !any)
			return w->failed ? -1 : 0;
		return waiting_events(&w->waiting, b, w->states, w->offsets, w->owners, error);
	}
	w->row = 0;
	for (events_begin(&it, b); event_next(&it, &e); w->row++) {
		w->offsets[w->row] = (uint32_t)(e.row - b->row_data);
		w->states[w->row] = whole_row(w, &e);
	}
	if (check(w, error))
		return -1;
	for (uint32_t i = 0; w->waiting.dropped && i < b->rows; i++)
		if (w->states[i] == ROW_DROP)
			w->states[i] = w->waiting.dropped;
	return waiting_events(&w->waiting, b, w->states, w->offsets, w->owners, error);
}

/* The stream ends, and with it every call that is open. */
static int end_stream(struct whole *w, struct error *e)
{
	struct open_frame *f;

	for (size_t i = 0; i < w->frames.size; i++)
		for (struct frame_stack *s = &w->frames.stacks[i ^ 1]; s->count; s->count--) {
			never_left(w, frames_top(s), true);
			if (keep_enter(w, frames_top(s)))
				kept(w, (uint32_t)i ^ 1);
		}
	while ((f = frames_any_numbered(&w->frames)))
		never_left(w, f, true);
	if (check(w, e))
		return -1;
	frames_free(&w->frames);
	w->now = 0;
	return 0;
}

int whole_take(struct whole *w, const struct block *b, const struct head *head,
	       const struct end *end, struct error *e)
{
	if (b->kind == BLOCK_EVENTS)
		return take_events(w, b, e);
	/* another stream, be it that the one before had no end */
	if (b->kind == BLOCK_HEAD && !head->sequence && end_stream(w, e))
		return -1;
	if (b->kind == BLOCK_END && end->flags & END_LAST && end_stream(w, e))
		return -1;
	return waiting_other(&w->waiting, b, head, end, e);
}

int whole_finish(struct whole *w, struct error *e)
{
	return end_stream(w, e);
}

/* Calls whose enters wait in the first block, and that can be decided by now. */
static void look_again(struct whole *w, struct held *h)
{
	uint64_t block = w->waiting.sequence;

	for (; h->owner < h->nowners; h->owner++) {
		struct owner *o = &h->owners[h->owner];
		struct open_frame *f = frames_at(&w->frames, o->frame);

		if (!f || !f->waits || f->block != block || f->row != o->row)
			continue;
		if (f->answer == ANSWER_LATER) {
			const struct event e = {.lane = f->lane};

			set_open_facts(w, f, w->now);
			f->answer = ask(w, DECIDE_OPEN, &e, f);
		}
		switch (of_row(w, f->answer, f->wanted, f->passes)) {
		case ANSWER_LATER: return;
		case ANSWER_YES:
			whole_settle(w, f, true);
			kept(w, o->frame.stack);
			break;
		case ANSWER_NO:
			if (w->callers)
				return;
			whole_settle(w, f, false);
		}
	}
}

struct held *whole_ready(struct whole *w, struct error *e)
{
	struct held *h = waiting_front(&w->waiting);

	e->what[0] = '\0';
	if (!h)
		return NULL;
	if (h->waiting) {
		look_again(w, h);
		if (check(w, e) || h->waiting)
			return NULL;
	}
	if (waiting_load(&w->waiting, h, e))
		return NULL;
	if (h->block.kind == BLOCK_EVENTS)
		waiting_clean(h);
	return h;
}

void whole_done(struct whole *w)
{
	waiting_pop(&w->waiting);
}

int whole_init(struct whole *w, struct filter *filter, size_t limit, struct error *e)
{
	*w = (struct whole){.filter = filter,
			    .max_depth = UINT32_MAX,
			    .evaluation = &filter->evaluation,
			    .around = asks_around(filter->tree),
			    .self = asks(filter->tree, ASK_SELF),
			    .stack = asks(filter->tree, ASK_STACK)};
	waiting_init(&w->waiting, limit);
	w->waiting.moved = moved;
	w->waiting.ctx = w;
	calls_init(&w->calls, filter->evaluation.dictionary);
	filter->evaluation.call = &w->facts;
	w->facts.stack = stack_text;
	w->facts.stack_ctx = w;
	return decide_prepare(filter->tree, e);
}

void whole_free(struct whole *w)
{
	frames_free(&w->frames);
	stack_nodes_free(&w->nodes);
	calls_free(&w->calls);
	waiting_free(&w->waiting);
	buffer_free(&w->text);
	free(w->states);
	free(w->owners);
	free(w->offsets);
}

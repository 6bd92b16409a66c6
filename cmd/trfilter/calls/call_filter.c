#include "cmd/trfilter/calls/call_filter_private.h"

#include <stdlib.h>

#include "cmd/trfilter/rows/restored.h"

bool call_filter_needed(const struct filter *f)
{
	return f->tree->depends & (DEPENDS_LATER | DEPENDS_STACK);
}

static bool asks_around(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER;

	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = asks_around(n->children[i]);
	return found;
}

static void moved(void *ctx, struct call_address at, uint64_t block, uint32_t row)
{
	struct call_filter *w = ctx;
	struct call_data *f = call_data_at(&w->calls, at);

	if (f) {
		f->block = block;
		f->row = row;
	}
}

static int check(struct call_filter *w, struct error *e)
{
	if (w->failed || (w->time_range && w->time_range->window.failed)) {
		*e = w->failed ? w->error : w->time_range->window.error;
		return -1;
	}
	if (filter_out_of_memory(w->filter) || w->calls.out_of_memory ||
	    (w->time_range && w->time_range->pairing.calls.out_of_memory))
		return error_no_memory(e);
	return 0;
}

static int room(struct call_filter *w, uint32_t rows)
{
	void *grown;

	if (rows <= w->rows.capacity)
		return 0;
	grown = realloc(w->rows.states, rows);
	if (!grown)
		return -1;
	w->rows.states = grown;
	grown = realloc(w->rows.owners, rows * sizeof *w->rows.owners);
	if (!grown)
		return -1;
	w->rows.owners = grown;
	grown = realloc(w->rows.offsets, rows * sizeof *w->rows.offsets);
	if (!grown)
		return -1;
	w->rows.offsets = grown;
	w->rows.capacity = rows;
	return 0;
}

/* Queue entries about threads together with the rows that they describe. */
static int put_entries(struct call_filter *w, struct error *e)
{
	struct block b;

	while (thread_entries_block(&w->ends.entries, &b))
		if (block_queue_other(&w->queue, &b, NULL, NULL, e))
			return -1;
	return 0;
}

/* Decide the rows of a block. *any: a row is kept or undecided. */
static void decide_rows(struct call_filter *w, const struct block *b, bool *any)
{
	struct events it;
	struct event e;

	if (w->duration.only && duration_scan(w, b, any))
		return;
	*any = true;
	w->rows.row = 0;
	for (events_begin(&it, b); event_next(&it, &e); w->rows.row++) {
		w->rows.offsets[w->rows.row] = (uint32_t)(e.row - b->row_data);
		w->rows.states[w->rows.row] = call_filter_row(w, &e);
	}
}

static int take_events(struct call_filter *w, const struct block *b, struct error *error)
{
	bool any;

	if (room(w, b->rows) || ends_block(&w->ends, b))
		return error_no_memory(error);
	if (put_entries(w, error))
		return -1;
	decide_rows(w, b, &any);
	ends_block_done(&w->ends, b);
	if (check(w, error))
		return -1;
	if (left_out_wanted(&w->left_out, b) && left_out_dropped(&w->left_out, b, w->rows.states))
		return error_no_memory(error);
	if (!any)
		return 0;
	return block_queue_events(&w->queue, b, w->rows.states, w->rows.offsets, w->rows.owners,
				  error);
}

/* Returns true if a kept or undecided call of a stack is open, or one without an enter. */
static bool stack_is_open(const struct call_filter *w, const struct stack *s)
{
	for (size_t n = s ? s->count : 0; n--;) {
		const struct call_data *f = calls_data(&w->calls, s, n);

		if (f->undecided || !f->begun || call_filter_keep_enter(w, f))
			return true;
	}
	return false;
}

/* Returns true if a kept or undecided call of a thread is open. Numbered calls may belong to any
 * thread. */
static bool is_open(void *ctx, uint32_t thread)
{
	const struct call_filter *w = ctx;
	const struct stack *s = calls_thread_stack(&w->calls, thread);

	/* what context keeps is not known here */
	if (w->queue.left_out == ROW_FOR_CONTEXT || open_calls_count(&w->calls.open) ||
	    w->ends.threads[thread].lost)
		return true;
	return s && (stack_is_open(w, s) || stack_is_open(w, s->kernel) ||
		     stack_is_open(w, s->ignored_inner));
}

/* Decide a call that the end of the stream closes, at its thread's last event; or that may go on in
 * the next segment: what is undecided then is kept. */
static void drop_call(void *ctx, struct stack *s, const struct frame *frame, void *data)
{
	struct call_filter *w = ctx;
	struct call_data *f = data;

	(void)frame;
	w->now = ends_last(&w->ends, s->number);
	if (w->goes_on && f->answer == ANSWER_LATER)
		f->answer = w->invert ? ANSWER_NO : ANSWER_YES;
	call_filter_never_left(w, f);
	if (!f->numbered && call_filter_keep_enter(w, f))
		call_filter_kept(w, call_filter_around(w, s, s->count));
}

/* Decide a call that is restored. */
static int restored_call(void *ctx, const struct event *e, const struct call *call)
{
	struct call_filter *w = ctx;
	const struct stack *of = call->on;
	bool in_range = restored_in_range(w->time_range, e);
	struct call_data *f = call->data;

	/* of the callees that have ended only the time is known */
	f->children = of && of->frames[of->count - 1].child;
	w->now = e->time;
	w->rows.row = w->calls.restored.frame;
	if (w->single_rows)
		w->row_holds = in_range && filter_holds(w->filter, e);
	w->rows.states[w->rows.row] = call_filter_enter(w, e, call, in_range);
	w->restores_exact &= !(e->type->flags & TYPE_PER_CPU);
	return w->rows.states[w->rows.row] == ROW_KEEP ? 0 : left_out_row(&w->left_out, e);
}

/* Take the open calls of a SNAPSHOT. They are in the queue as rows are. */
static int take_snapshot(struct call_filter *w, const struct block *b, const struct head *head,
			 struct error *e)
{
	uint32_t n = b->snapshot->head.frames;

	if (room(w, n) || restored_ends(&w->ends, b->snapshot))
		return error_no_memory(e);
	if (n)
		memset(w->rows.states, ROW_LEFT_OUT, n);
	restored_begin(w->filter, w->time_range, b->snapshot);
	w->restores_exact = !w->time_range && !w->callers && w->max_depth == UINT32_MAX &&
			    w->queue.left_out == ROW_LEFT_OUT &&
			    restored_exact(w->filter, w->invert);
	/* a call that goes on after a loss is decided again */
	if (!b->snapshot->continues)
		calls_forget_all(&w->calls);
	if (calls_restore(&w->calls, b, e))
		return -1;
	/* no row ended calls */
	filter_ends(w->filter, w->time_range, w->invert);
	if (block_queue_enters(&w->queue, b, w->rows.states, w->rows.owners, w->restores_exact, e))
		return -1;
	block_queue_last(&w->queue)->head = *head;
	return 0;
}

static void begin_calls(struct call_filter *w)
{
	calls_init(&w->calls, w->evaluation->dictionary);
	w->calls.balances = true;
	w->calls.data_size = call_data_size(w->filter->marks);
	w->calls.on_lost = call_filter_lost;
	w->calls.on_lost_ctx = w;
	w->calls.on_forget = drop_call;
	w->calls.on_restore = restored_call;
	w->calls.on_restore_ctx = w;
}

/* End the stream. */
static int end_stream(struct call_filter *w, struct error *e)
{
	calls_forget_all(&w->calls);
	if (check(w, e))
		return -1;
	calls_free(&w->calls);
	begin_calls(w);
	return 0;
}

/* Decide a call that has neither an enter nor a leave, by its thread, depth and duration. */
static bool keeps_unseen_call(struct call_filter *w, const struct stack *s, uint32_t depth)
{
	struct call_data *f = calls_data(&w->calls, s, depth);
	uint64_t last = ends_last(&w->ends, s->number), start = s->frames[depth].start;
	const struct type type = {
		.kind = KIND_ENTER,
		.flags = TYPE_DEPTH,
		.name = dictionary_text(w->filter->evaluation.dictionary, "<0>", 3)};
	const struct event e = {.lane = s->lane, .type = &type, .time = start, .depth = depth};

	call_filter_set_open_info(w, f, last);
	w->info.dur = last > start ? last - start : 0;
	w->info.has_caller = false;
	w->info.node = 0;
	w->info.stack = NULL;
	f->answer = call_filter_ask(w, DECIDE_ENTER, &e, f);
	w->info.ended = true;
	if (f->answer == ANSWER_LATER)
		f->answer = call_filter_ask(w, DECIDE_NEVER, &e, f);
	w->info.stack = call_filter_stack_text;
	return depth < w->max_depth && call_filter_of_row(w, f->answer, true, true) == ANSWER_YES;
}

/* Decide the calls of a stack that have neither an enter nor a leave, all at once. */
static void decide_unseen(struct call_filter *w, const struct stack *s)
{
	struct thread_end *t = &w->ends.threads[s->number];
	bool keeps = true;

	t->unseen = t->rejects = false;
	if (w->time_range || w->filter->by_kind || !s->count || s->frames[0].begun ||
	    !condition_asks(w->filter->tree, ASK_DURATION))
		return;
	for (uint32_t i = 0; i < s->count && !s->frames[i].begun && keeps; i++)
		keeps = keeps_unseen_call(w, s, i);
	t->unseen = keeps;
	t->rejects = !keeps;
}

/* End a segment of the output. */
static int end_segment(struct call_filter *w, struct error *e)
{
	/* only threads that the segment has get an entry */
	for (size_t k = 0; k < w->ends.nseen; k++) {
		uint32_t i = w->ends.seen[k];
		const struct stack *s = i < w->calls.size ? w->calls.stacks[i] : NULL;

		if (s)
			decide_unseen(w, s);
		if (s && s->by_depth)
			ends_depth(&w->ends, i, s->count ? s->frames[s->count - 1].depth + 1 : 0);
	}
	return ends_finish(&w->ends, is_open, w) ? error_no_memory(e) : put_entries(w, e);
}

int call_filter_take(struct call_filter *w, const struct block *b, const struct head *head,
		     const struct end *end, struct error *e)
{
	bool begins, ends;

	w->queue.at_hand = b->length;
	if (b->kind == BLOCK_EVENTS)
		return take_events(w, b, e);
	if (b->kind == BLOCK_SNAPSHOT && b->snapshot)
		return take_snapshot(w, b, head, e) || check(w, e) ? -1 : 0;
	if (b->kind == BLOCK_END)
		w->goes_on = !(end->flags & END_LAST);
	/* another stream, even if the one before has no END */
	begins = b->kind == BLOCK_HEAD && !head->sequence;
	ends = b->kind == BLOCK_END && end->flags & END_LAST;
	if ((begins || ends) && (end_segment(w, e) || end_stream(w, e)))
		return -1;
	if (begins)
		ends_segment(&w->ends);
	if (b->kind == BLOCK_HEAD)
		w->goes_on = false;
	return block_queue_other(&w->queue, b, head, end, e);
}

int call_filter_finish(struct call_filter *w, struct error *e)
{
	w->queue.at_hand = 0;
	return end_segment(w, e) || end_stream(w, e) ? -1 : 0;
}

/* Decide calls whose enters are in the first block, as far as possible by now. */
static void decide_open_calls(struct call_filter *w, struct queued_block *h)
{
	uint64_t block = w->queue.sequence;

	for (; h->owner < h->nowners; h->owner++) {
		struct owner *o = &h->owners[h->owner];
		struct call_data *f = call_data_at(&w->calls, o->call);

		if (!f || !f->undecided || f->block != block || f->row != o->row)
			continue;
		if (f->answer == ANSWER_LATER) {
			const struct event e = {.lane = f->lane};
			uint32_t thread = call_address_thread(f, o->call);

			call_filter_set_open_info(w, f, ends_last(&w->ends, thread));
			f->answer = call_filter_ask(w, DECIDE_OPEN, &e, f);
		}
		switch (call_filter_of_row(w, f->answer, f->in_range, f->row_holds)) {
		case ANSWER_LATER: return;
		case ANSWER_YES:
			call_filter_decide(w, f, true);
			call_filter_kept(w, (struct around){call_address_stack(&w->calls, o->call),
							    o->call.number + 1});
			break;
		case ANSWER_NO:
			if (w->callers)
				return;
			call_filter_decide(w, f, false);
		}
	}
}

struct queued_block *call_filter_ready(struct call_filter *w, struct error *e)
{
	struct queued_block *h = block_queue_front(&w->queue);

	e->what[0] = '\0';
	if (!h)
		return NULL;
	if (h->undecided) {
		decide_open_calls(w, h);
		if (check(w, e) || h->undecided)
			return NULL;
	}
	if (block_queue_later(&w->queue, h) || block_queue_load(&w->queue, h, e))
		return NULL;
	block_queue_clean(h);
	return h;
}

void call_filter_done(struct call_filter *w)
{
	block_queue_pop(&w->queue);
}

int call_filter_init(struct call_filter *w, struct filter *filter, size_t limit, struct error *e)
{
	*w = (struct call_filter){.filter = filter,
				  .max_depth = UINT32_MAX,
				  .single_rows = !call_filter_needed(filter),
				  .evaluation = &filter->evaluation,
				  .surrounds = asks_around(filter->tree),
				  .stack = condition_asks(filter->tree, ASK_STACK)};
	block_queue_init(&w->queue, limit);
	w->queue.moved = moved;
	w->queue.ctx = w;
	filter_begin(filter);
	ends_init(&w->ends, filter->evaluation.dictionary);
	filter->evaluation.call = &w->info;
	w->info.stack = call_filter_stack_text;
	w->info.stack_ctx = w;
	if (decide_prepare(filter, e))
		return -1;
	begin_calls(w);
	return 0;
}

void call_filter_free(struct call_filter *w)
{
	quick_free(w->duration.quick);
	stack_nodes_free(&w->nodes);
	calls_free(&w->calls);
	ends_free(&w->ends);
	left_out_free(&w->left_out);
	block_queue_free(&w->queue);
	buffer_free(&w->text);
	free(w->rows.states);
	free(w->rows.owners);
	free(w->rows.offsets);
}

/*
 * critical.c - --why EXPR: the critical paths of the calls, or of the threads, for which EXPR is
 * true
 */
#include "common/pairs/critical.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

/* --- the condition --- */

/* Test whether the cell of a key is known at the enter of a call, and is the same at the leave. */
static bool is_early(const struct key *k)
{
	switch (k->kind) {
	case BY_NAME:
	case BY_TID:
	case BY_PID:
	case BY_PPID:
	case BY_COMM:
	case BY_MODULE:
	case BY_FILE:
	case BY_LINE:
	case BY_ADDRESS:
	case BY_CALLER:
	case BY_SYMKIND:
	case BY_CLASS:
	case BY_DEPTH: return !k->transform && !k->other;
	default: return false;
	}
}

static bool why_is_of_thread(const struct key *k)
{
	return k->kind == BY_TID || k->kind == BY_PID || k->kind == BY_PPID || k->kind == BY_COMM;
}

static const struct key_cell *why_cell(void *ctx, size_t key)
{
	const struct why *y = ctx;

	return &y->cells[key];
}

static const struct key_cell *early_cell(void *ctx, size_t key)
{
	const struct why *y = ctx;

	return y->early[key] ? &y->cells[key] : NULL;
}

/* Test the condition; early: as far as it is known. */
static enum outcome why_holds(struct why *y, const struct event_ref *of, bool early)
{
	const struct condition *c = y->condition;

	if (keys_cells(&c->keys, y->dictionary, &y->texts, of, y->cells))
		return OUTCOME_FAILED;
	return (early ? condition_may_hold(c, &y->texts, early_cell, y)
		      : condition_holds(c, &y->texts, why_cell, y))
		       ? OUTCOME_YES
		       : OUTCOME_NO;
}

/* --- open calls --- */

/* The data of an open call: a number, then the cells that its enter gives to the condition. */
struct why_open {
	uint32_t call; /* in why.open; 0: the condition does not become true */
	struct key_cell entered[];
};

/* Get the number of the task of a lane, 0: the source does not record the thread. -1: out of
 * memory. */
static int64_t why_task(struct why *y, const struct lane *l)
{
	bool has = l->flags & LANE_HAS_TID && l->tid > 0;
	uint32_t task = has ? states_task(&y->waits.states, l->tid) : 0;

	if ((has && !task) || ARRAY_REACH(y->threads, y->nthreads, task))
		return -1;
	return task ? waits_task(&y->waits, l) : 0;
}

/* Begin a call for which the condition may become true. */
static int path_call_begin(struct why *y, const struct lane *l, uint64_t time, bool certain,
			   uint32_t *number)
{
	int64_t task = why_task(y, l);
	struct why_thread *t;
	struct path_call *c;

	if (task < 0)
		return -1;
	*number = y->calls_free ? y->calls_free : y->calls_used + 1;
	if (ARRAY_REACH(y->open, y->calls_size, *number))
		return -1;
	if (y->calls_free)
		y->calls_free = y->open[*number].after;
	else
		y->calls_used++;
	t = &y->threads[task];
	if (!t->last)
		t->since = time;
	else if (y->open[t->last].start > time)
		time = y->open[t->last].start;
	c = &y->open[*number];
	*c = (struct path_call){
		.start = time, .task = (uint32_t)task, .before = t->last, .certain = certain};
	if (t->last)
		y->open[t->last].after = *number;
	t->last = *number;
	t->doubts += !certain;
	if (!y->nopen++)
		waits_keep(&y->waits, true, time);
	return 0;
}

/* End such a call. What is not divided yet belongs to the call before it. */
static int path_call_end(struct why *y, uint32_t number)
{
	struct path_call *c = &y->open[number];
	struct why_thread *t = &y->threads[c->task];
	int bad = y->use->end(y->ctx, number, c->before);

	if (c->before)
		y->open[c->before].after = c->after;
	if (c->after)
		y->open[c->after].before = c->before;
	else
		t->last = c->before;
	t->doubts -= !c->certain;
	c->after = y->calls_free;
	y->calls_free = number;
	if (!--y->nopen)
		waits_keep(&y->waits, false, 0);
	return bad;
}

/* Pass on a part to the open call that began last before it, in pieces if calls began in it. */
static int why_put(void *ctx, const struct wait_part *p)
{
	struct why *y = ctx;
	struct wait_part part = *p;

	while (y->divides) {
		const struct path_call *c = &y->open[y->divides];

		if (!c->before || c->start <= part.begin)
			break;
		if (c->start < part.end) {
			part.begin = c->start;
			if (y->use->part(y->ctx, &part, y->divides))
				return -1;
			part.end = part.begin;
			part.begin = p->begin;
			part.migrations = 0;
		}
		y->divides = c->before;
	}
	return y->use->part(y->ctx, &part, y->divides);
}

/* Divide a time of a thread, whose parts are those of its open calls, or with call 0 of the last
 * span. */
static int why_path(struct why *y, uint32_t task, uint64_t begin, uint64_t end, uint32_t call)
{
	bool certain = !call || !y->threads[task].doubts;

	y->divides = call;
	if (waits_path(&y->waits, task, begin, end, why_put, y))
		return -1;
	return y->use->divided ? y->use->divided(y->ctx, task, certain) : 0;
}

/* Divide the time of the open calls of a thread up to a time. */
static int why_settle_calls(struct why *y, uint32_t task, uint64_t time)
{
	struct why_thread *t = &y->threads[task];
	uint64_t since = t->since;

	if (time <= since)
		return 0;
	t->since = time;
	return why_path(y, task, since, time, t->last);
}

/* Get the time up to which the path of a thread is known, whatever follows. */
static uint64_t why_known(struct why *y, uint32_t task, uint64_t now)
{
	struct wait_task *t = task < y->waits.ntasks ? &y->waits.tasks[task] : NULL;
	const struct wait_mark *state = t ? &t->states.now : NULL;

	if (!task || !t)
		return now;
	/* events of the present time may change what was before them */
	if (state->since >= now)
		return 0;
	if (state->state != STATE_RUNNING || t->functions.now.since >= now)
		return state->since;
	return t->functions.now.since > state->since ? t->functions.now.since : state->since;
}

static void why_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
		     enum calls_lost cause)
{
	struct why *y = ctx;
	struct why_open *o = data;

	(void)s;
	(void)f;
	(void)cause;
	if (o && o->call && path_call_end(y, o->call))
		y->calls.out_of_memory = true;
}

static void why_forgotten(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	why_lost(ctx, s, f, data, LOST_DEPTH);
}

/* --- calls --- */

static int why_restore(void *ctx, const struct event *e, const struct call *call);

static void why_begin_calls(struct why *y)
{
	calls_init(&y->calls, y->dictionary);
	y->calls.on_lost = why_lost;
	y->calls.on_forget = why_forgotten;
	y->calls.on_lost_ctx = y;
	y->calls.on_restore = why_restore;
	y->calls.on_restore_ctx = y;
	y->calls.data_size =
		sizeof(struct why_open) + y->condition->keys.begins * sizeof(struct key_cell);
	if (y->nthreads)
		memset(y->threads, 0, y->nthreads * sizeof *y->threads);
	y->calls_used = y->calls_free = y->nopen = 0;
}

int why_init(struct why *y, const struct condition *c, struct dictionary *d)
{
	*y = (struct why){.condition = c,
			  .dictionary = d,
			  .stream = d->stream,
			  .of_threads = c->keys.count > 0,
			  .certain = true,
			  .cached = true};
	key_texts_init(&y->texts);
	waits_init(&y->waits, d);
	why_begin_calls(y);
	y->cells = calloc(c->keys.count + 1, sizeof *y->cells);
	y->early = calloc(c->keys.count + 1, sizeof *y->early);
	if (!y->cells || !y->early)
		return -1;
	for (size_t i = 0; i < c->keys.count; i++) {
		const struct key *k = &c->keys.key[i];

		y->of_threads &= why_is_of_thread(k);
		y->early[i] = is_early(k);
		y->certain &= y->early[i];
		y->cached &= !y->early[i] || !(k->needs & ~(uint32_t)NEEDS_LOCATION);
	}
	waits_keep(&y->waits, y->of_threads, 0);
	return 0;
}

void why_free(struct why *y)
{
	calls_free(&y->calls);
	waits_free(&y->waits);
	key_texts_free(&y->texts);
	free(y->cells);
	free(y->early);
	free(y->answers);
	free(y->threads);
	free(y->open);
}

/* Test by its enter whether the condition may become true of a call. */
static enum outcome why_may_hold(struct why *y, const struct event *e, const struct call *call)
{
	struct event_ref of = event_ref_of(e);
	enum outcome got;
	uint32_t at = y->cached ? e->location : 0;

	if (y->symbol_changes != y->dictionary->symbol_changes) {
		y->symbol_changes = y->dictionary->symbol_changes;
		memset(y->answers, 0, y->nanswers);
	}
	if (at && at < y->nanswers && y->answers[at])
		return y->answers[at] == 2 ? OUTCOME_YES : OUTCOME_NO;
	/* its leave may have a name */
	if (!e->location)
		return OUTCOME_YES;
	of.caller = call->caller;
	of.level = call->level;
	got = why_holds(y, &of, true);
	if (at && got != OUTCOME_FAILED) {
		if (ARRAY_REACH(y->answers, y->nanswers, at))
			return OUTCOME_FAILED;
		y->answers[at] = got == OUTCOME_YES ? 2 : 1;
	}
	return got;
}

/* Take the enter of a call. */
static int why_enter(struct why *y, const struct event *e, const struct call *call)
{
	struct why_open *o = call->data;
	const struct event_ref of = event_ref_of(e);

	switch (why_may_hold(y, e, call)) {
	case OUTCOME_FAILED: return -1;
	case OUTCOME_NO: return 0;
	case OUTCOME_YES: break;
	}
	if (!o || keys_begin_cells(&y->condition->keys, y->dictionary, &y->texts, &of, o->entered))
		return o ? -1 : 0;
	return path_call_begin(y, e->lane, e->time, y->certain && e->location, &o->call);
}

static int why_restore(void *ctx, const struct event *e, const struct call *call)
{
	return ((struct why *)ctx)->of_threads ? 0 : why_enter(ctx, e, call);
}

/* Take a call for which the condition is true. number: in why.open; 0: its enter was not read. */
static int why_ask(struct why *y, const struct call *call, uint32_t number)
{
	struct why_span span = {.begin = call->end - call->total,
				.end = call->end,
				.lane = call->lane,
				.location = call->location,
				.begins = true};
	int64_t task = why_task(y, call->lane);

	if (task < 0)
		return -1;
	span.task = (uint32_t)task;
	/* a call with a number may end in another thread */
	if (number && y->open[number].task == task) {
		span.begin = y->open[number].start;
		return why_settle_calls(y, span.task, span.end) ||
				       y->use->span(y->ctx, &span, number)
			       ? -1
			       : 0;
	}
	return y->use->span(y->ctx, &span, 0) || why_path(y, span.task, span.begin, span.end, 0)
		       ? -1
		       : 0;
}

/* Take a call that has ended; e: its leave, or NULL. */
static int why_leave(struct why *y, const struct call *call, const struct type *type,
		     const struct event *e)
{
	struct why_open *o = call->data;
	const struct event_ref of = event_ref_of_call(call, type, e, o ? o->entered : NULL);
	enum outcome holds;

	if (o && !o->call)
		return 0;
	holds = why_holds(y, &of, false);
	if (holds == OUTCOME_FAILED || (holds == OUTCOME_YES && why_ask(y, call, o ? o->call : 0)))
		return -1;
	return o ? path_call_end(y, o->call) : 0;
}

/* Note the innermost open call of the thread of a row. */
static int why_note_function(struct why *y, const struct event *e)
{
	const struct stack *s, *k;
	uint32_t function = 0;

	if (e->type->flags & TYPE_PER_CPU)
		return 0;
	s = e->type->flags & TYPE_CALL_NUMBER ? NULL : y->calls.stacks[calls_thread(e)];
	k = s ? s->kernel : NULL;
	if (k && k->count)
		s = k;
	if (!s && e->type->kind == KIND_ENTER)
		function = e->location;
	for (size_t i = s ? s->count : 0; i-- > 0 && !function;)
		if (!s->frames[i].inner)
			function = s->frames[i].location;
	return waits_call(&y->waits, e->lane, function, e->time);
}

/* --- threads --- */

/* Get the time from which on a thread is to be divided. A later thread may have its tid. */
static uint64_t why_since(const struct why *y, uint32_t task)
{
	uint64_t first = y->waits.tasks[task].first;

	return first > y->threads[task].since ? first : y->threads[task].since;
}

/* Divide the time of a thread up to a time. */
static int why_settle(struct why *y, uint32_t task, uint64_t time)
{
	struct why_thread *t = &y->threads[task];
	struct why_span span = {.begin = why_since(y, task),
				.end = time,
				.task = task,
				.lane = y->waits.tasks[task].lane,
				.begins = !t->divided};

	if (time <= span.begin)
		return 0;
	t->since = time;
	t->divided = true;
	return y->use->span(y->ctx, &span, 0) || why_path(y, task, span.begin, time, 0) ? -1 : 0;
}

/* Test whether the thread of an event is one of those, and follow it. */
static int why_thread_of(struct why *y, const struct event *e)
{
	const struct event_ref of = event_ref_of(e);
	uint32_t lane = e->lane->number, task;
	enum outcome got;
	uint64_t first;

	if (lane < y->nanswers && y->answers[lane])
		return 0;
	if (!(e->lane->flags & LANE_HAS_TID) || e->lane->tid <= 0)
		return 0;
	got = why_holds(y, &of, false);
	task = got == OUTCOME_YES ? states_task(&y->waits.states, e->lane->tid) : 0;
	if (got == OUTCOME_FAILED || ARRAY_REACH(y->answers, y->nanswers, lane) ||
	    (got == OUTCOME_YES && !task))
		return -1;
	y->answers[lane] = got == OUTCOME_YES ? 2 : 1;
	if (!task)
		return 0;
	waits_task(&y->waits, e->lane);
	if (ARRAY_REACH(y->threads, y->nthreads, task))
		return -1;
	/* a wakeup of the thread, or a switch to it, may be before its own events */
	first = y->waits.tasks[task].first;
	if (!y->threads[task].follows)
		y->threads[task] =
			(struct why_thread){.follows = true, .since = first ? first : e->time};
	return 0;
}

/* Follow a thread from an event of another thread, which names this one: it gets a CPU, or is
 * woken. */
static int why_thread_named(struct why *y, const struct event *e, uint32_t task)
{
	const struct waits *w = &y->waits;
	struct lane lane = {.flags = LANE_HAS_TID};
	struct event_ref of = event_ref_of(e);
	struct why_thread *t;
	enum outcome got;

	if (!task || task >= w->ntasks || w->tasks[task].tid <= 0)
		return 0;
	if (ARRAY_REACH(y->threads, y->nthreads, task))
		return -1;
	t = &y->threads[task];
	if (t->named || t->follows)
		return 0;
	t->named = true;
	lane.tid = w->tasks[task].tid;
	if (w->tasks[task].comm) {
		lane.comm.text = intern_data(&w->names, w->tasks[task].comm - 1);
		lane.comm.size = intern_size(&w->names, w->tasks[task].comm - 1);
	}
	of.lane = &lane;
	got = why_holds(y, &of, false);
	if (got == OUTCOME_YES) {
		t->follows = true;
		t->since = w->tasks[task].first ? w->tasks[task].first : e->time;
	}
	return got == OUTCOME_FAILED ? -1 : 0;
}

static int why_take_threads(struct why *y, const struct event *e)
{
	/* what is about its past has been read, up to then */
	uint32_t leaves = y->waits.event.leaves, cpu = y->waits.event.cpu;
	const struct wait_mark *turn = cpu < y->waits.ncpus ? &y->waits.cpus[cpu].turns.now : NULL;
	uint32_t runs = turn && turn->what ? turn->what - 1 : 0;

	if (why_thread_of(y, e) || why_thread_named(y, e, runs) ||
	    why_thread_named(y, e, y->waits.event.woken))
		return -1;
	if (leaves && leaves < y->nthreads && y->threads[leaves].follows)
		return why_settle(y, leaves, e->time);
	return 0;
}

/* --- events --- */

/* Forget the past that no thread needs any more. */
static int why_forget(struct why *y, uint64_t now)
{
	uint64_t needed = now;

	for (uint32_t i = 0; i < y->nthreads; i++) {
		struct why_thread *t = &y->threads[i];

		if (t->last) {
			if (why_settle_calls(y, i, why_known(y, i, now)))
				return -1;
			needed = t->since < needed ? t->since : needed;
		} else if (t->follows && !waits_ended(&y->waits, i)) {
			needed = why_since(y, i) < needed ? why_since(y, i) : needed;
		}
	}
	waits_forget(&y->waits, needed, y->nthreads);
	return 0;
}

static int why_take(struct why *y, const struct event *e)
{
	struct call call;
	enum calls_result got;

	/* All events of the times before are read, so what threads did until now does not change.
	 * Most marks are of the threads that are divided: after this event they would be too new.
	 */
	if (waits_full(&y->waits) && (e->time > y->last || y->waits.nmarks >= WAITS_MOST) &&
	    why_forget(y, e->time))
		return -1;
	if (waits_take(&y->waits, e))
		return -1;
	y->last = e->time > y->last ? e->time : y->last;
	if (y->of_threads && why_take_threads(y, e))
		return -1;
	if (e->type->kind == KIND_GAP)
		return 0;
	got = calls_next(&y->calls, e, &call);
	if (y->calls.out_of_memory)
		return -1;
	if (got == CALLS_NONE)
		return 0;
	y->has_calls = true;
	if (why_note_function(y, e))
		return -1;
	if (y->of_threads)
		return 0;
	return got == CALLS_ENTER ? why_enter(y, e, &call) : why_leave(y, &call, e->type, e);
}

/* Get the time at which a thread ends, or the trace. */
static uint64_t why_end_of(const struct why *y, uint32_t task)
{
	const struct wait_mark *now =
		task && task < y->waits.ntasks ? &y->waits.tasks[task].states.now : NULL;

	return now && waits_ended(&y->waits, task) ? now->since : y->last;
}

/* Let the calls that are open last until the end of their threads: the last event of a thread that
 * hangs may be long before. */
static void why_pass_end(struct why *y)
{
	struct calls *c = &y->calls;

	for (uint32_t i = 0; i < c->size; i++) {
		if (!c->stacks[i] || !c->stacks[i]->lane)
			continue;
		c->end.until = why_end_of(y, waits_task(&y->waits, c->stacks[i]->lane));
		calls_pass_until(c, i);
	}
	c->end.until = UINT64_MAX;
}

/* End the threads, and the calls that are open. */
static int why_end_stream(struct why *y)
{
	struct call call;

	for (uint32_t i = 1; i < y->nthreads; i++)
		if (y->threads[i].follows && why_settle(y, i, why_end_of(y, i)))
			return -1;
	why_pass_end(y);
	while (calls_finish(&y->calls, &call)) {
		struct why_open *o = call.data;

		if (!y->of_threads && !call_is_unnamed(&call) &&
		    why_leave(y, &call, call.type, NULL))
			return -1;
		if (call_is_unnamed(&call) && o && o->call && path_call_end(y, o->call))
			return -1;
	}
	if (y->calls.out_of_memory)
		return -1;
	return y->use->ended ? y->use->ended(y->ctx) : 0;
}

/* Begin again, as another trace follows. */
static int why_next_stream(struct why *y)
{
	if (why_end_stream(y))
		return -1;
	y->stream = y->dictionary->stream;
	calls_free(&y->calls);
	why_begin_calls(y);
	waits_keep(&y->waits, y->of_threads, 0);
	y->last = 0;
	if (y->of_threads)
		memset(y->answers, 0, y->nanswers);
	return 0;
}

int why_event(struct why *y, const struct event *e)
{
	if (y->stream != y->dictionary->stream && why_next_stream(y))
		return -1;
	return why_take(y, e);
}

int why_block(struct why *y, const struct block *b)
{
	struct events it;
	struct event e;
	struct error error;

	if (b->kind == BLOCK_SNAPSHOT)
		return calls_restore(&y->calls, b, &error);
	if (b->kind != BLOCK_EVENTS || !b->rows)
		return 0;
	if (y->stream != y->dictionary->stream && why_next_stream(y))
		return -1;
	clocks_look(&y->clocks, b);
	events_begin(&it, b);
	while (event_next(&it, &e))
		if (why_take(y, &e))
			return -1;
	return 0;
}

int why_finish(struct why *y)
{
	return why_end_stream(y);
}

int why_part_text(struct why *y, const struct wait_part *p, struct buffer *b)
{
	static const char *const joins[WAIT_KINDS] = {
		[WAIT_CPU] = " behind ",     [WAIT_INVERSION] = " behind ", [WAIT_INTERRUPT] = ", ",
		[WAIT_INTERRUPTED] = " by ", [WAIT_UNKNOWN] = ": ",
	};
	size_t before;
	struct text_ref name;

	if (buffer_puts(b, wait_kind_names[p->kind]))
		return -1;
	if (p->kind == WAIT_RUNNING && p->function) {
		name = dictionary_location_name(y->dictionary, p->function);
		return buffer_puts(b, " in ") || buffer_append(b, name.text, name.size);
	}
	if (!joins[p->kind])
		return 0;
	before = b->size;
	if (buffer_puts(b, joins[p->kind]) || waits_other(&y->waits, p, b))
		return -1;
	/* nothing is known of it */
	if (b->size == before + strlen(joins[p->kind]))
		b->size = before;
	return 0;
}

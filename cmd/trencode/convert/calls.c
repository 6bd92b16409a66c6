/*
 * calls.c - calls of any source on stacks of their threads, as common/calls pairs them
 *
 * A leave without a call is left out. If the target needs every leave, a call whose leave was not
 * recorded ends at the next event of its thread. Both are counted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "common/value/argument.h"
#include "common/stream/field.h"
#include "cmd/trencode/tick_scale.h"

static int convert_take(void *ctx, const struct event *ev, struct error *e);

void *convert_begin(struct encoding *en, const struct convert_target *target, struct error *e)
{
	struct conversion *a = en->state = calloc(1, target->state_size);

	if (!a) {
		error_no_memory(e);
		return NULL;
	}
	*a = (struct conversion){.target = target,
				 .ids = {.no_zero = target->no_zero,
					 .zero = target->zero,
					 .no_cpus = target->no_cpus},
				 .dictionary = en->dictionary,
				 .options = en->options,
				 .overlap = {.next = convert_take, .ctx = a}};
	calls_init(&a->calls, en->dictionary);
	return target_begin(&a->d, target->native, target->format, en, e) ? NULL : a;
}

void convert_free(struct encoding *en)
{
	struct conversion *a = en->state;

	if (!a)
		return;
	target_free(&a->d);
	overlap_free(&a->overlap);
	calls_free(&a->calls);
	for (size_t i = 0; i < a->nthreads; i++) {
		free(a->by_number[i]->frames);
		free(a->by_number[i]);
	}
	free(a->by_number);
	free(a->threads);
	thread_ids_free(&a->ids);
	open_calls_free(&a->open);
	free(a->used);
	a->target->drop(a);
	free(a);
	en->state = NULL;
}

/* --- rows for the target --- */

static int convert_give(struct conversion *a, const struct convert_row *r, struct error *e)
{
	switch (r->what) {
	case CONVERT_ENTER:
	case CONVERT_LEAVE: return a->target->call(a, r, e);
	case CONVERT_EVENT: return a->target->instant(a, r, e);
	case CONVERT_GAP: break;
	}
	return a->target->gap(a, r, e);
}

static int convert_emit(struct conversion *a, struct convert_row *r, const struct event *ev,
			struct error *e)
{
	const struct clock *clock = ev->lane->clock;
	bool ticks = clock && clock->flags & CLOCK_TICKS;

	r->ev = ev;
	r->time = ev->time;
	if (!r->mark) {
		a->unmarked = UINT32_MAX;
		r->mark = &a->unmarked;
	}
	a->with_time += r->what != CONVERT_GAP && !ticks;
	a->with_buffer += ev->lane->buffer.size && r->what != CONVERT_GAP && ev->lane->source &&
			  !strcmp(ev->lane->source->format.text, "trace-cmd");
	a->with_wall += clock && clock->flags & CLOCK_HAS_WALL && clock->wall;
	if (a->options->tick && ticks &&
	    __builtin_mul_overflow(ev->time, a->options->tick, &r->time))
		return tick_overflow(ev->lane, ev->time, a->options->tick, e);
	return convert_give(a, r, e);
}

static bool is_longjmp(const char *name)
{
	return !strcmp(name, "longjmp") || !strcmp(name, "siglongjmp") ||
	       !strcmp(name, "__longjmp_chk");
}

/* Test whether the target's reader empties the stack itself, by the function on top. */
static bool forgets(struct conversion *a, const struct convert_thread *t)
{
	uint32_t location = t->frames[t->count - 1].location;

	if (!a->target->replays)
		return false;
	return t->lost ||
	       (location < a->calls.special_size && a->calls.special[location] == LOCATION_EXEC) ||
	       is_longjmp(dictionary_location_name(a->dictionary, location).text);
}

static struct convert_frame *convert_pop(struct convert_thread *t)
{
	struct convert_frame *f = &t->frames[--t->count];

	t->nnumbered -= f->numbered;
	return f;
}

static int convert_leave_top(struct conversion *a, struct convert_thread *t, const struct event *ev,
			     uint32_t location, bool cut, struct error *e)
{
	struct convert_frame *f = convert_pop(t);
	struct convert_row r = {.what = CONVERT_LEAVE,
				.thread = t,
				.start = f->start,
				.location = location ? location : f->location,
				.depth = t->below + (uint32_t)t->count,
				.mark = &f->mark,
				.cut = cut};

	return convert_emit(a, &r, ev, e);
}

/* Returns the number of open calls of the stack. Calls with numbers are on no stack. */
static uint32_t stack_level(const struct convert_thread *t)
{
	return t->below + (uint32_t)(t->count - t->nnumbered);
}

/* End the call on top, whose leave was not recorded. */
static int convert_cut_top(struct conversion *a, struct convert_thread *t, const struct event *ev,
			   struct error *e)
{
	/* a call in the kernel may outlast the call around it: each has its own clock */
	bool outlasts = t->frames[t->count - 1].kernel && !(ev->type->flags & TYPE_KERNEL);

	a->outlasting += outlasts;
	a->cut += !outlasts;
	if (a->target->closes || outlasts)
		return convert_leave_top(a, t, ev, 0, true, e);
	convert_pop(t);
	return 0;
}

/* End the calls of the stack at this level and above, whose leaves were not recorded. */
static int convert_cut_down(struct conversion *a, struct convert_thread *t, uint32_t level,
			    const struct event *ev, struct error *e)
{
	bool forgotten = t->count && stack_level(t) > level && forgets(a, t);

	while (t->count && stack_level(t) > level)
		if (forgotten)
			convert_pop(t);
		else if (convert_cut_top(a, t, ev, e))
			return -1;
	if (!t->count && t->below > level)
		t->below = level;
	t->lost = false;
	return 0;
}

static int convert_push(struct conversion *a, struct convert_thread *t, const struct event *ev,
			struct error *e)
{
	struct convert_frame *f = array_grow(t->frames, &t->capacity, t->count, sizeof *f);
	struct convert_row r = {.what = CONVERT_ENTER, .thread = t, .location = ev->location};

	if (!f)
		return error_no_memory(e);
	t->frames = f;
	f += t->count;
	*f = (struct convert_frame){.start = ev->time,
				    .location = ev->location,
				    .kernel = ev->type->flags & TYPE_KERNEL};
	f->numbered = ev->type->flags & TYPE_CALL_NUMBER && field_call(ev, &f->call);
	r.start = ev->time;
	r.depth = t->below + (uint32_t)t->count;
	r.mark = &f->mark;
	t->count++;
	t->nnumbered += f->numbered;
	t->begun = true;
	a->calls_seen++;
	return convert_emit(a, &r, ev, e);
}

/* --- calls that go by stack --- */

static uint32_t open_below(const struct conversion *a, const struct event *ev)
{
	const struct stack *s = calls_stack(&a->calls, ev), *user;
	uint32_t thread = calls_thread(ev), n;

	if (!s)
		return 0;
	n = (uint32_t)s->count + s->implicit;
	user = a->calls.stacks[thread];
	return user == s ? n : n + (uint32_t)user->count + user->implicit;
}

static int convert_enter(struct conversion *a, struct convert_thread *t, const struct event *ev,
			 struct error *e)
{
	uint32_t level = open_below(a, ev);

	level -= level > 0;
	if (convert_cut_down(a, t, level, ev, e))
		return -1;
	if (!t->begun && !t->count)
		t->below = level;
	return convert_push(a, t, ev, e);
}

static int convert_leave(struct conversion *a, struct convert_thread *t, const struct event *ev,
			 const struct call *done, struct error *e)
{
	struct convert_row r = {.what = CONVERT_LEAVE,
				.thread = t,
				.start = done->start,
				.location = done->location,
				.depth = done->level,
				.unseen = true};

	if (convert_cut_down(a, t, done->level + 1, ev, e))
		return -1;
	if (t->count > t->nnumbered && stack_level(t) == done->level + 1) {
		while (t->frames[t->count - 1].numbered)
			if (convert_cut_top(a, t, ev, e))
				return -1;
		return convert_leave_top(a, t, ev, done->location, false, e);
	}
	if (t->count || (t->begun && t->below != done->level + 1)) {
		a->unmatched += !(ev->type->flags & TYPE_KERNEL);
		return 0;
	}
	t->below = done->level;
	t->begun = true;
	a->calls_seen++;
	return convert_emit(a, &r, ev, e);
}

/* Emit the enter or leave of a call that need not nest, unchanged. */
static int convert_unchanged(struct conversion *a, struct convert_thread *t, const struct event *ev,
			     struct error *e)
{
	struct convert_row r = {
		.what = ev->type->kind == KIND_ENTER ? CONVERT_ENTER : CONVERT_LEAVE,
		.thread = t,
		.start = ev->time,
		.location = ev->location,
		.depth = ev->type->flags & TYPE_INNER ? t->below + (uint32_t)t->count : ev->depth};

	a->calls_seen += r.what == CONVERT_ENTER;
	return convert_emit(a, &r, ev, e);
}

static int convert_by_stack(struct conversion *a, struct convert_thread *t, const struct event *ev,
			    struct error *e)
{
	uint64_t unmatched = a->calls.unmatched;
	struct call done;
	enum calls_result got = calls_feed(&a->calls, ev, &done);

	if (a->calls.out_of_memory)
		return error_no_memory(e);
	if (a->target->keeps_kernel && ev->type->flags & (TYPE_KERNEL | TYPE_INNER)) {
		a->calls.unmatched = unmatched;
		return convert_unchanged(a, t, ev, e);
	}
	if (ev->type->kind == KIND_DROP)
		return convert_cut_down(a, t, open_below(a, ev), ev, e);
	if (got == CALLS_ENTER)
		return convert_enter(a, t, ev, e);
	return got == CALLS_LEAVE ? convert_leave(a, t, ev, &done, e) : 0;
}

/* --- calls that go by number --- */

static int by_number_nested(struct conversion *a, struct convert_thread *t, const struct event *ev,
			    uint32_t call, struct error *e)
{
	size_t at = t->count;

	if (ev->type->kind == KIND_ENTER)
		return convert_push(a, t, ev, e);
	while (at && !(t->frames[at - 1].numbered && t->frames[at - 1].call == call))
		at--;
	if (!at) {
		a->unmatched++;
		return 0;
	}
	while (t->count > at)
		if (convert_cut_top(a, t, ev, e))
			return -1;
	t->lost = false;
	return convert_leave_top(a, t, ev, ev->location, false, e);
}

static int by_number_free(struct conversion *a, struct convert_thread *t, const struct event *ev,
			  uint32_t call, struct error *e)
{
	uint32_t source = ev->lane->source->number, mark = 0;
	struct convert_row r = {
		.thread = t, .location = ev->location, .start = ev->time, .mark = &mark};
	uint64_t kept;

	if (ev->type->kind == KIND_ENTER) {
		r.what = CONVERT_ENTER;
		a->calls_seen++;
		if (convert_emit(a, &r, ev, e))
			return -1;
		return open_calls_put(&a->open, source, call, (uint64_t)ev->location << 32 | mark)
			       ? error_no_memory(e)
			       : 0;
	}
	if (!open_calls_take(&a->open, source, call, &kept)) {
		a->unmatched++;
		return 0;
	}
	r.what = CONVERT_LEAVE;
	mark = (uint32_t)kept;
	r.location = ev->location ? ev->location : (uint32_t)(kept >> 32);
	return convert_emit(a, &r, ev, e);
}

/* --- all rows --- */

static int convert_take(void *ctx, const struct event *ev, struct error *e)
{
	struct conversion *a = ctx;
	uint8_t kind = ev->type->kind;
	bool call = kind == KIND_ENTER || kind == KIND_LEAVE || kind == KIND_DROP;
	bool no_thread = kind == KIND_GAP && !(ev->lane->flags & LANE_HAS_TID);
	struct convert_row r = {.what = kind == KIND_GAP ? CONVERT_GAP : CONVERT_EVENT};
	struct convert_thread *t;
	struct values frames;
	struct call done;
	uint64_t count;
	uint32_t number;

	t = no_thread ? NULL : convert_thread(a, ev->lane, call && ev->type->flags & TYPE_PER_CPU);
	if (!t && !no_thread)
		return error_no_memory(e);
	r.thread = t;
	a->rows++;
	a->backtraces += argument_backtrace(ev, &frames, &count);
	if (call && ev->type->flags & TYPE_CALL_NUMBER && field_call(ev, &number))
		return a->target->nests ? by_number_nested(a, t, ev, number, e)
					: by_number_free(a, t, ev, number, e);
	if (call)
		return convert_by_stack(a, t, ev, e);
	/* open calls last until this row */
	calls_feed(&a->calls, ev, &done);
	if (convert_emit(a, &r, ev, e))
		return -1;
	if (t)
		t->lost |= kind == KIND_GAP;
	return 0;
}

static int check_clock(struct conversion *a, const struct event *ev, struct error *e)
{
	const struct source *source = ev->lane->source;
	bool ticks = ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS;

	if (ticks && a->options->tick)
		return 0;
	if (ticks && a->target->needs_time)
		return error_set(e, source ? source->name.text : NULL, NO_OFFSET,
				 "the trace has no time but ticks%s; " TICK_HINT,
				 source && !strcmp(source->format.text, "apitrace")
					 ? ", one for each call and return"
					 : "");
	clocks_note(&a->clocks, ev->lane);
	return clocks_check(&a->clocks, TICK_HINT, e);
}

int convert_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct conversion *a = en->state;

	if (check_clock(a, ev, e))
		return -1;
	a->with_cpu += ev->lane->flags & LANE_HAS_CPU && ev->type->kind != KIND_GAP;
	return a->target->nests ? overlap_take(&a->overlap, ev, e) : convert_take(a, ev, e);
}

int convert_end(struct conversion *a, struct error *e)
{
	return overlap_end(&a->overlap, e);
}

int convert_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct conversion *a = en->state;

	if (convert_end(a, e))
		return -1;
	clock_epoch_head(&a->clock_epoch, h);
	return 0;
}

void convert_use_location(struct conversion *a, uint32_t location)
{
	const struct location *p = dictionary_location(a->dictionary, location);
	uint8_t *used = array_reach(a->used, &a->used_size, location, 1);

	if (!used)
		return;
	a->used = used;
	a->unnamed += !used[location] && p && !p->symbol && !p->name.size;
	used[location] = 1;
}

void convert_lost(const struct conversion *a, uint64_t count, const char *what)
{
	if (count && !a->options->quiet)
		warn(NULL, NO_OFFSET, "%" PRIu64 " %s", count, what);
}

void convert_report(struct conversion *a)
{
	uint64_t open = open_calls_count(&a->open);
	struct call done;

	while (calls_finish(&a->calls, &done))
		open++;
	for (size_t i = 0; i < a->nthreads && a->target->nests; i++)
		for (size_t k = 0; k < a->by_number[i]->count; k++)
			open += a->by_number[i]->frames[k].numbered;
	convert_lost(a, a->unnamed,
		     "functions have an address for a name; trsym belongs before trencode");
	convert_lost(a, open, "calls had not returned at the end of the trace");
	convert_lost(a, a->unmatched + a->calls.unmatched,
		     "returns of calls whose beginning is not there are left out");
	convert_lost(
		a, a->cut,
		a->target->closes
			? "calls ended without a return (a longjmp, an exec, lost events): closed "
			  "at the next event of their thread"
			: "calls ended without a return (a longjmp, an exec, lost events): written "
			  "without one");
	convert_lost(
		a, a->outlasting,
		"calls in the kernel outlast the call that they are in: they end with it, and what "
		"they took after it is time of the call below");
	convert_lost(a, a->target->keeps_kernel ? 0 : a->calls.outside, CALLS_OUTSIDE);
	convert_lost(a, a->target->keeps_kernel ? 0 : a->calls.apart, CALLS_APART);
	convert_lost(a, a->overlap.left_out,
		     "calls overlap with others of their thread and are left out");
	convert_lost(
		a, a->target->buffers ? 0 : a->with_buffer,
		"events have lost the name of their buffer, an instance of the kernel's tracer");
	convert_lost(a, a->backtraces, "back traces of calls are left out");
	convert_lost(a, a->ids.renamed, THREAD_IDS_RENAMED);
}

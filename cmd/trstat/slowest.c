/*
 * slowest.c - --slowest N: the longest calls, each with its thread, arguments and stack
 *
 *     345.0 us, self 345.0 us, at 2026.544666777, thread 11018 args
 *         add(a=1, b=2) = 3
 *         in main
 */
#include "cmd/trstat/slowest.h"

#include <stdlib.h>

#include "common/scheduling/states.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/heap.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"

/* --- arguments of open calls, and calls as text --- */

/* Largest tail in bytes that is kept unformatted, which is faster than formatting. */
enum { TAIL_KEPT = 1024 };

void open_call_args_free(struct open_call_args *en)
{
	for (size_t i = 0; i < en->size; i++) {
		for (size_t k = 0; k < en->stacks[i].capacity; k++)
			buffer_free(&en->stacks[i].enter[k].payload);
		free(en->stacks[i].enter);
	}
	for (size_t i = 0; i < en->capacity; i++)
		buffer_free(&en->numbered[i].payload);
	free(en->stacks);
	free(en->numbered);
	indexes_free(&en->indexes);
	open_calls_free(&en->open);
	*en = (struct open_call_args){0};
}

static int fill_enter(const struct open_call_args *en, struct enter *n, const struct event *e,
		      uint32_t segment)
{
	n->start = e->time;
	n->segment = segment;
	n->type = e->type;
	n->location = e->location;
	n->fixed_size = e->type->fixed_size;
	n->tail_size = e->tail_size;
	n->payload.size = 0;
	n->text = e->tail_size > TAIL_KEPT;
	if (n->text)
		return call_arguments(&n->payload, en->dictionary, e, false);
	return buffer_append(&n->payload, e->fixed, n->fixed_size) ||
	       (n->tail_size && buffer_append(&n->payload, e->tail, n->tail_size));
}

static int to_text(struct open_call_args *en, struct enter *n)
{
	const struct event e = {.type = n->type,
				.location = n->location,
				.fixed = n->payload.data,
				.tail = n->payload.data ? n->payload.data + n->fixed_size : NULL,
				.tail_size = n->payload.data ? n->tail_size : 0};
	struct buffer text = {0};

	if (n->start == UINT64_MAX || n->text)
		return 0;
	if (call_arguments(&text, en->dictionary, &e, false)) {
		buffer_free(&text);
		return -1;
	}
	buffer_free(&n->payload);
	n->payload = text;
	n->text = true;
	return 0;
}

/* Format the arguments of all open calls, because definitions of values are valid in one segment.
 * Returns -1 when out of memory. */
static int open_call_args_to_text(struct open_call_args *en)
{
	for (size_t i = 0; i < en->size; i++)
		for (size_t k = 0; k < en->stacks[i].capacity; k++)
			if (to_text(en, &en->stacks[i].enter[k]))
				return -1;
	for (size_t i = 0; i < en->indexes.count; i++)
		if (to_text(en, &en->numbered[i]))
			return -1;
	return 0;
}

/* Get the entry of a frame; if it is missing, make decides whether it is added. */
static struct enter *enter_at(struct open_call_args *en, size_t number, size_t index, bool make)
{
	size_t had;

	if (number >= en->size && (!make || ARRAY_REACH(en->stacks, en->size, number)))
		return NULL;
	had = en->stacks[number].capacity;
	if (index >= had &&
	    (!make || ARRAY_REACH(en->stacks[number].enter, en->stacks[number].capacity, index)))
		return NULL;
	for (size_t i = had; i < en->stacks[number].capacity; i++)
		en->stacks[number].enter[i].start = UINT64_MAX;
	return &en->stacks[number].enter[index];
}

static size_t call_args_stack_number(const struct calls *c, const struct event *e)
{
	size_t thread = calls_thread(e);

	return 2 * thread + (calls_stack(c, e) != c->stacks[thread]);
}

/* Number of frames below n to keep: a frame below all entered frames appears and disappears with
 * what is known of the stack's bottom. */
static size_t open_call_args_frames(const struct stack *s, size_t n)
{
	return n - (n && !s->frames[0].begun);
}

static void give_enter(struct open_call_args *en, uint64_t index)
{
	en->numbered[index].start = UINT64_MAX;
	indexes_give(&en->indexes, (size_t)index);
}

static int call_args_put_numbered(struct open_call_args *en, const struct event *e,
				  uint32_t segment)
{
	uint64_t replaced;
	uint32_t call;
	size_t index;

	if (!field_call(e, &call))
		return 0;
	if (open_calls_take(&en->open, e->lane->source->number, call, &replaced))
		give_enter(en, replaced);
	if (indexes_take(&en->indexes, &index))
		return -1;
	if (ARRAY_REACH(en->numbered, en->capacity, index))
		return -1;
	return fill_enter(en, &en->numbered[index], e, segment) ||
			       open_calls_put(&en->open, e->lane->source->number, call, index)
		       ? -1
		       : 0;
}

int open_call_args_put(struct open_call_args *en, const struct calls *c, const struct event *e,
		       uint32_t segment)
{
	const struct stack *stack;
	struct enter *n;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return call_args_put_numbered(en, e, segment);
	stack = calls_stack(c, e);
	n = enter_at(en, call_args_stack_number(c, e),
		     open_call_args_frames(stack, stack->count - 1), true);
	return n ? fill_enter(en, n, e, segment) : -1;
}

int open_call_args_drop(struct open_call_args *en, const struct calls *c)
{
	struct open_calls kept = {0};
	uint64_t key, index;
	int bad = 0;

	while (!bad && open_calls_take_next(&en->open, &key, &index)) {
		uint32_t source = (uint32_t)((key - 1) >> 32), call = (uint32_t)(key - 1);

		if (open_calls_has(&c->open, source, call))
			bad = open_calls_put(&kept, source, call, index);
		else
			give_enter(en, index);
	}
	open_calls_free(&en->open);
	en->open = kept;
	return bad;
}

const struct enter *open_call_args_take(struct open_call_args *en, const struct calls *c,
					const struct event *e, const struct call *call)
{
	const struct stack *stack;
	uint64_t index;
	struct enter *n;
	uint32_t number;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		if (!field_call(e, &number) ||
		    !open_calls_take(&en->open, e->lane->source->number, number, &index))
			return NULL;
		give_enter(en, index);
		return &en->numbered[index];
	}
	stack = calls_stack(c, e);
	n = enter_at(en, call_args_stack_number(c, e), open_call_args_frames(stack, stack->count),
		     false);
	if (!n || n->start != call->start)
		return NULL;
	n->start = UINT64_MAX;
	return n;
}

/* --- call text --- */

enum { TEXT_MOST = 40, ELEMENTS_MOST = 4 };

static int call_args_put_values(struct value_text *t, const struct event *e,
				enum detail_kind wanted)
{
	const struct location *p = dictionary_location(t->plain.dictionary, e->location);
	size_t before = t->out->size;
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, e->tail, e->tail_size);
	while (values_what(&v, &what, &index)) {
		if (what != wanted) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if ((t->out->size > before && buffer_puts(t->out, ", ")) ||
		    (wanted == DETAIL_ARGUMENT &&
		     (argument_put_name(t->out, p, index, false) || buffer_u8(t->out, '='))) ||
		    (value_text_value(t, &v) && !v.bad))
			return -1;
	}
	return 0;
}

/* ftrace gives all events these fields; the thread and the type are known without them. */
static bool call_args_is_common(const struct field *f)
{
	return f->name.size > 7 && !memcmp(f->name.text, "common_", 7);
}

static int call_args_put_fields(struct value_text *t, const struct event *e)
{
	size_t before = t->out->size;

	for (uint32_t i = 0; i < e->type->nfields; i++) {
		const struct field *f = &e->type->fields[i];
		struct field_value v;

		field_get(e, f, 0, &v);
		if (v.form == FORM_NONE || f->role == ROLE_CALL || f->role == ROLE_ROW ||
		    f->role == ROLE_SOURCE_TIME || call_args_is_common(f))
			continue;
		if ((t->out->size > before && buffer_puts(t->out, ", ")) ||
		    buffer_append(t->out, f->name.text, f->name.size) || buffer_u8(t->out, '=') ||
		    value_text_field(t, e, f))
			return -1;
	}
	return 0;
}

static int call_args_put_call(struct buffer *b, const struct dictionary *d, const struct event *e,
			      enum detail_kind wanted)
{
	struct buffer scratch = {0};
	struct value_text t = {.out = b,
			       .plain = {d, &scratch, argument_blobs(e->type), true},
			       .bytes = TEXT_MOST,
			       .elements = ELEMENTS_MOST,
			       .depth = 1,
			       .end = SIZE_MAX};
	int bad = e->type->flags & TYPE_VALUES ? call_args_put_values(&t, e, wanted)
					       : call_args_put_fields(&t, e);

	buffer_free(&scratch);
	return bad;
}

int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e,
		   bool returned)
{
	return call_args_put_call(b, d, e, returned ? DETAIL_RETURN : DETAIL_ARGUMENT);
}

/* --- the slowest calls --- */

enum { SLOWEST_STACK = 64 }; /* innermost callers that are kept */

/* Keep the enter of a call of calls_restore. */
static int slowest_restore(void *ctx, const struct event *e, const struct call *call)
{
	struct slowest *s = ctx;

	(void)call;
	return open_call_args_put(&s->enters, &s->calls, e, s->segment);
}

static void slowest_begin_calls(struct slowest *s)
{
	calls_init(&s->calls, s->dictionary);
	s->calls.on_restore = slowest_restore;
	s->calls.on_restore_ctx = s;
}

int slowest_init(struct slowest *s, size_t limit, const struct columns *states,
		 struct dictionary *d)
{
	*s = (struct slowest){.list = {.limit = limit, .states = states},
			      .dictionary = d,
			      .enters = {.dictionary = d}};
	slowest_begin_calls(s);
	s->states = states ? malloc(sizeof(*s->states)) : NULL;
	if (s->states)
		states_init(s->states, d, &s->calls);
	return states && !s->states ? -1 : 0;
}

void slow_call_free(struct slow_call *c)
{
	free(c->name);
	free(c->arguments);
	free(c->returned);
	free(c->stack);
	free(c->comm);
	free(c->state);
}

void slow_list_free(struct slow_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		slow_call_free(&l->call[i]);
	free(l->call);
	*l = (struct slow_list){.limit = l->limit};
}

void slowest_free(struct slowest *s)
{
	slow_list_free(&s->list);
	if (s->states)
		states_free(s->states);
	free(s->states);
	calls_free(&s->calls);
	open_call_args_free(&s->enters);
	buffer_free(&s->scratch);
}

void slowest_forget_calls(struct slowest *s)
{
	struct calls_counts counts = s->calls.counts;

	calls_free(&s->calls);
	slowest_begin_calls(s);
	s->calls.counts = counts;
	open_call_args_free(&s->enters);
	s->enters = (struct open_call_args){.dictionary = s->dictionary};
}

/* --- calls to keep: a heap with the least slow call first --- */

static int compare_integers(int128 a, int128 b)
{
	return (a > b) - (a < b);
}

/* Compare what the table shows after total, start, tid and name. */
static int compare_rest(const struct slow_call *x, const struct slow_call *y)
{
	int c = compare_integers(x->self, y->self);

	c = c ? c : compare_integers(x->end, y->end);
	c = c ? c : compare_integers(x->has, y->has);
	c = c ? c : compare_integers(x->pid, y->pid);
	c = c ? c : compare_integers(x->cpu, y->cpu);
	c = c ? c : strcmp(x->comm, y->comm);
	c = c ? c : strcmp(x->arguments, y->arguments);
	c = c ? c : strcmp(x->returned, y->returned);
	return c ? c : strcmp(x->stack, y->stack);
}

/* Compare the order in the table. */
static int slow_call_compare(const void *a, const void *b)
{
	const struct slow_call *x = a, *y = b;
	int c = compare_integers(y->total, x->total);

	c = c ? c : compare_integers(x->start, y->start);
	c = c ? c : compare_integers(x->tid, y->tid);
	c = c ? c : strcmp(x->name, y->name);
	return c ? c : compare_rest(x, y);
}

/* Returns true if a precedes b in the table. */
static bool is_before(const struct slow_call *a, const struct slow_call *b)
{
	return slow_call_compare(a, b) < 0;
}

static void swap_calls(struct slow_call *a, struct slow_call *b)
{
	struct slow_call c = *a;

	*a = *b;
	*b = c;
}

int slow_list_add(struct slow_list *l, struct slow_call *c)
{
	struct slow_call *grown;

	if (l->count == l->limit) {
		if (l->count && is_before(c, &l->call[0])) {
			swap_calls(c, &l->call[0]);
			HEAP_DOWN(l->call, l->count, 0, a, b, is_before(b, a));
		}
		slow_call_free(c);
		return 0;
	}
	grown = realloc(l->call, (l->count + 1) * sizeof(*grown));
	if (!grown) {
		slow_call_free(c);
		return -1;
	}
	l->call = grown;
	grown[l->count++] = *c;
	HEAP_UP(grown, l->count - 1, a, b, is_before(b, a));
	return 0;
}

/* --- text --- */

static int slowest_put_name(struct slowest *s, uint32_t location)
{
	struct text_ref name = dictionary_location_name(s->dictionary, location);

	return buffer_append(&s->scratch, name.text, name.size);
}

/* Get a copy of the scratch buffer as a text; NULL: out of memory. */
static char *take_scratch(struct slowest *s)
{
	char *copy = malloc(s->scratch.size + 1);

	if (copy) {
		if (s->scratch.size)
			memcpy(copy, s->scratch.data, s->scratch.size);
		copy[s->scratch.size] = '\0';
	}
	s->scratch.size = 0;
	return copy;
}

/* Append the names of a stack's frames, as many as the limit allows. */
static int slowest_put_frames(struct slowest *s, const struct stack *stack, size_t skip, bool first)
{
	for (size_t i = skip; i < stack->count; i++)
		if (((!first || i > skip) && buffer_u8(&s->scratch, ';')) ||
		    slowest_put_name(s, stack->frames[i].location))
			return -1;
	return 0;
}

/* Get the open callers as text, those in the kernel after the others. */
static char *stack_text(struct slowest *s, const struct stack *all, bool in_kernel)
{
	const struct stack *kernel = all && in_kernel ? all->kernel : NULL;
	size_t below = all ? all->count : 0, top = kernel ? kernel->count : 0;
	size_t skip = below + top > SLOWEST_STACK ? below + top - SLOWEST_STACK : 0;
	size_t skip_below = skip < below ? skip : below;

	if ((skip && buffer_append(&s->scratch, "...;", 4)) ||
	    (all && slowest_put_frames(s, all, skip_below, true)) ||
	    (kernel && slowest_put_frames(s, kernel, skip - skip_below, below == skip_below)))
		return NULL;
	return take_scratch(s);
}

static char *arguments_text(struct slowest *s, const struct enter *n, const struct lane *lane)
{
	struct event e;

	if (n && n->text) {
		if (buffer_append(&s->scratch, n->payload.data, n->payload.size))
			return NULL;
	} else if (n && n->segment == s->segment) {
		e = (struct event){.type = n->type,
				   .lane = lane,
				   .location = n->location,
				   .fixed = n->payload.data,
				   .tail = n->tail_size ? n->payload.data + n->fixed_size : NULL,
				   .tail_size = n->tail_size};
		if (call_arguments(&s->scratch, s->dictionary, &e, false))
			return NULL;
	}
	return take_scratch(s);
}

static void slowest_put_lane(struct slow_call *c, const struct lane *l)
{
	if (l->flags & LANE_HAS_TID) {
		c->has |= SLOW_TID;
		c->tid = l->tid;
	}
	if (l->flags & LANE_HAS_PID) {
		c->has |= SLOW_PID;
		c->pid = l->pid;
	}
	if (l->flags & LANE_HAS_CPU) {
		c->has |= SLOW_CPU;
		c->cpu = l->cpu;
	}
}

/* Get the state of a column of a list with states. */
static int slow_state(const struct slow_list *l, size_t column)
{
	return l->states->wanted.field[l->states->column[column].field].state;
}

static int slowest_put_states(struct slowest *s, const struct call *call, bool left,
			      struct slow_call *c)
{
	const struct slow_list *l = &s->list;
	const struct state_span span = {.lane = call->lane,
					.start = call->start,
					.end = call->end,
					.total = call->total,
					.left = left};
	const uint64_t *of = states_of(s->states, &span);

	c->state = calloc(l->states->count, sizeof(*c->state));
	for (size_t i = 0; c->state && i < l->states->count; i++)
		c->state[i] = of[slow_state(l, i)];
	return c->state ? 0 : -1;
}

/* Add a call; e: its leave; NULL: it has none. */
static int slowest_add_call(struct slowest *s, const struct call *call, const struct enter *enter,
			    const struct event *e, const struct stack *stack, bool in_kernel)
{
	struct slow_call c = {
		.total = call->total, .self = call->self, .start = call->start, .end = call->end};
	const struct slow_list *l = &s->list;
	int bad;

	if (l->count == l->limit && call->total < l->call[0].total)
		return 0;
	slowest_put_lane(&c, call->lane);
	c.has |= call->unfinished ? SLOW_UNFINISHED : 0;
	s->scratch.size = 0;
	bad = buffer_append(&s->scratch, call->lane->comm.text, call->lane->comm.size) ||
	      !(c.comm = take_scratch(s));
	bad = bad || slowest_put_name(s, call->location) || !(c.name = take_scratch(s));
	bad = bad || !(c.arguments = arguments_text(s, enter, call->lane));
	bad = bad || (e && call_arguments(&s->scratch, s->dictionary, e, true)) ||
	      !(c.returned = take_scratch(s));
	bad = bad || !(c.stack = stack_text(s, stack, in_kernel));
	bad = bad || (l->states && slowest_put_states(s, call, e != NULL, &c));
	if (!bad)
		return slow_list_add(&s->list, &c);
	slow_call_free(&c);
	return -1;
}

/* --- events --- */

static int slowest_take_event(struct slowest *s, const struct event *e)
{
	const struct stack *stack;
	const struct enter *enter;
	struct call call;

	if (s->states && states_take(s->states, e))
		return -1;
	if (e->type->kind == KIND_GAP)
		return 0;
	switch (calls_next(&s->calls, e, &call)) {
	case CALLS_ENTER: return open_call_args_put(&s->enters, &s->calls, e, s->segment);
	case CALLS_LEAVE:
		enter = open_call_args_take(&s->enters, &s->calls, e, &call);
		if (e->type->flags & TYPE_CALL_NUMBER)
			return slowest_add_call(s, &call, enter, e, NULL, false);
		stack = s->calls.stacks[calls_thread(e)];
		return slowest_add_call(s, &call, enter, e, stack,
					calls_stack(&s->calls, e) != stack);
	default: return s->calls.out_of_memory ? -1 : 0;
	}
}

int slowest_block(struct slowest *s, const struct block *b)
{
	struct events it;
	struct event e;
	struct error error;

	if (b->kind == BLOCK_HEAD)
		s->segment++;
	if (b->kind == BLOCK_SNAPSHOT)
		return calls_restore(&s->calls, b, &error) ||
				       open_call_args_drop(&s->enters, &s->calls)
			       ? -1
			       : 0;
	if (b->kind == BLOCK_END)
		return open_call_args_to_text(&s->enters);
	if (b->kind != BLOCK_EVENTS || !b->rows)
		return 0;
	clocks_look(&s->clocks, b);
	s->ticks |= s->clocks.ticks;
	events_begin(&it, b);
	while (event_next(&it, &e))
		if (slowest_take_event(s, &e))
			return -1;
	return 0;
}

void slow_list_sort(struct slow_list *l)
{
	if (l->count)
		qsort(l->call, l->count, sizeof(*l->call), slow_call_compare);
}

int slowest_finish(struct slowest *s)
{
	struct call call;

	while (calls_finish(&s->calls, &call)) {
		bool numbered = call.type && call.type->flags & TYPE_CALL_NUMBER;
		const struct stack *stack = numbered ? NULL : s->calls.stacks[s->calls.end.thread];

		if (!call_is_unnamed(&call) &&
		    slowest_add_call(s, &call, NULL, NULL, stack, call.kernel))
			return -1;
	}
	return s->calls.out_of_memory ? -1 : 0;
}

/* --- the slowest calls as a list --- */

/* Set the line with the times and the thread of a call. */
static int slowest_describe(struct buffer *b, const struct slow_list *l, const struct slow_call *c,
			    bool ticks)
{
	char total[VALUE_SIZE], self[VALUE_SIZE], at[VALUE_SIZE];
	int bad;

	format_duration(total, c->total, ticks);
	format_duration(self, c->self, ticks);
	if (ticks)
		u128_decimal(at, c->start);
	else
		format_time(at, c->start);
	b->size = 0;
	bad = buffer_printf(b, "%s, self %s, at %s", total, self, at);
	if (c->has & SLOW_TID)
		bad |= buffer_printf(b, ", thread %d", c->tid);
	if (*c->comm)
		bad |= buffer_printf(b, " %s", c->comm);
	if (c->has & SLOW_CPU)
		bad |= buffer_printf(b, ", cpu %d", c->cpu);
	if (c->has & SLOW_UNFINISHED)
		bad |= buffer_puts(b, ", not returned");
	for (size_t i = 0; c->state && i < l->states->count; i++) {
		if (!c->state[i])
			continue;
		format_duration(total, c->state[i], ticks);
		bad |= buffer_printf(b, ", %s %s", l->states->column[i].name, total);
	}
	return bad;
}

/* Write a line with the times and the thread, one with the call, one with its callers. Returns -1
 * when out of memory. */
static int slowest_put_people(struct buffer *b, const struct slow_list *l,
			      const struct slow_call *c, bool ticks, const struct screen *screen,
			      struct text *out)
{
	if (slowest_describe(b, l, c, ticks))
		return -1;
	if (screen->width) {
		aligned_words(out, (const char *)b->data, b->size, screen->width, 4, 0);
		text_char(out, '\n');
	} else {
		aligned_line(screen, out, b);
	}
	b->size = 0;
	if (buffer_printf(b, "    %s(%s)%s%s", c->name, c->arguments, *c->returned ? " = " : "",
			  c->returned))
		return -1;
	aligned_line(screen, out, b);
	b->size = 0;
	if (!*c->stack)
		return 0;
	if (buffer_printf(b, "    in %s", c->stack))
		return -1;
	aligned_line(screen, out, b);
	return 0;
}

static void slowest_put_text(struct cells *cells, const char *s)
{
	if (*s)
		cells_text(cells, s, strlen(s));
	else
		cells_none(cells);
}

static void slowest_put_cells(struct cells *cells, const struct slow_list *l,
			      const struct slow_call *c)
{
	cells_u64(cells, c->total);
	cells_u64(cells, c->self);
	cells_u64(cells, c->start);
	cells_u64(cells, c->end);
	cells_integer(cells, c->has & SLOW_TID, c->tid);
	cells_integer(cells, c->has & SLOW_PID, c->pid);
	slowest_put_text(cells, c->comm);
	cells_integer(cells, c->has & SLOW_CPU, c->cpu);
	slowest_put_text(cells, c->name);
	slowest_put_text(cells, c->arguments);
	slowest_put_text(cells, c->returned);
	slowest_put_text(cells, c->stack);
	for (size_t i = 0; c->state && i < l->states->count; i++)
		cells_u64(cells, c->state[i]);
}

int slow_list_lines(struct slow_list *l, size_t n, bool ticks, const struct screen *screen,
		    size_t *lines)
{
	struct buffer line = {0};
	int bad = 0;

	*lines = 0;
	for (size_t i = 0; i < n && i < l->count && !bad; i++) {
		bad = slowest_describe(&line, l, &l->call[i], ticks);
		*lines += aligned_words(NULL, (const char *)line.data, line.size, screen->width, 4,
					0);
		*lines += *l->call[i].stack ? 2 : 1;
	}
	buffer_free(&line);
	return bad;
}

int slowest_write(struct slow_list *l, bool ticks, enum table_format format,
		  const struct screen *screen, struct text *out)
{
	const char *names[12 + STATES] = {"dur",  "self", "time", "end",  "tid", "pid",
					  "comm", "cpu",  "name", "args", "ret", "stack"};
	struct buffer line = {0};
	struct cells cells;
	size_t n = 0;
	int bad = 0;

	for (; l->states && n < l->states->count; n++)
		names[12 + n] = l->states->column[n].name;

	slow_list_sort(l);
	if (format != TABLE_ALIGNED)
		cells_begin(&cells, out, format, names, 12 + n);
	for (size_t i = 0; i < l->count && !bad && !text_failed(out); i++) {
		if (format == TABLE_ALIGNED)
			bad = slowest_put_people(&line, l, &l->call[i], ticks, screen, out);
		else
			slowest_put_cells(&cells, l, &l->call[i]);
	}
	if (format != TABLE_ALIGNED)
		cells_end(&cells);
	buffer_free(&line);
	return bad;
}

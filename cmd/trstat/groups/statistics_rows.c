/*
 * statistics_rows.c - count single rows: calls, with recursion, and other events
 */
#include "cmd/trstat/groups/statistics_private.h"
#include "common/calls/calls.h"
#include "common/stream/field.h"

/*
 * Recursion by group: `-g arg.detail` of "a.h > b.h > a.h" has one call of a.h inside another call
 * of a.h, though all of them are calls of one function.
 *
 * Where the enter shows the group, a call is recursive if a call of its group is open below. The
 * cells of an open call's group and whether it is recursive are in its data, after all others.
 * The calls below a call are the same when it begins, when it ends and when a part of the trace
 * begins between; so a part finds the same. Calls in the kernel are different: a call of their
 * thread may end before them. At their end they are compared with those that are open then.
 *
 * Other groups, and which calls --where selects, are known when a call ends: from its time that of
 * the calls of its group is subtracted that have ended inside it (counted.h). A part that begins
 * inside a call does not know those that ended before. So fields, most of which enters have, are
 * not judged so, except `ret`: where an enter has no such field, the function is the key instead.
 */

/* Test whether a key has another value in each call of a stack. */
static bool is_depth(const struct key *k)
{
	return k->kind == BY_DEPTH && !k->transform;
}

/* Test whether a key is equal in all calls of a thread. */
static bool is_of_thread(enum key_kind kind)
{
	switch (kind) {
	case BY_INPUT:
	case BY_BUFFER:
	case BY_TID:
	case BY_PID:
	case BY_PPID:
	case BY_COMM: return true;
	default: return false;
	}
}

/* Test whether a key other than the time is one that only the ends of calls show. */
static bool has_late_key(const struct keys *k)
{
	if (k->needs & (NEEDS_CALL | NEEDS_CPU))
		return true;
	for (size_t i = 0; i < k->count; i++)
		for (const struct key *a = &k->key[i]; a; a = a->other)
			if (a->kind == BY_FIELD && !strcmp(a->field, "ret"))
				return true;
	return false;
}

/* Test whether a group has calls of one function of a thread; those that return at a time are taken
 * from them, as with -i. */
static bool is_of_function(const struct keys *k)
{
	bool name = false;

	for (size_t i = 0; i < k->count; i++) {
		enum key_kind kind = k->key[i].kind;

		name |= kind == BY_NAME;
		if (k->key[i].other ||
		    (kind != BY_NAME && kind != BY_KIND && kind != BY_TIME && !is_of_thread(kind)))
			return false;
	}
	return name;
}

enum recursion_of statistics_recursion(const struct statistics *s)
{
	const struct keys *k = s->keys;

	/* paths of calls are in no other one; beyond STACK_FRAMES groups.c decides */
	if (k->needs & NEEDS_STACK)
		return RECURSION_NONE;
	for (size_t i = 0; i < k->count; i++)
		if (is_depth(&k->key[i]))
			return RECURSION_NONE;
	/* 0.38 of the instructions of -g type -c count; summaries have all sums */
	if (!s->columns->wanted.totals && !s->more)
		return RECURSION_OF_FUNCTION;
	if (s->where || has_late_key(k))
		return RECURSION_OF_TIMES;
	if (is_of_function(k))
		return RECURSION_OF_FUNCTION;
	if (k->needs & NEEDS_TIME)
		return RECURSION_OF_TIMES;
	for (size_t i = 0; i < k->count; i++)
		if (!is_of_thread(k->key[i].kind) || k->key[i].other)
			return RECURSION_OF_GROUP;
	return RECURSION_OF_THREAD;
}

/* Test whether the data of a call have whether it is recursive. */
static bool notes_group(const struct statistics *s)
{
	return s->recursion.of == RECURSION_OF_GROUP || s->recursion.of == RECURSION_OF_THREAD;
}

static size_t group_cells_at(const struct statistics *s)
{
	return s->keys->begins + 2 * s->arguments + (s->where ? s->where->keys.begins : 0);
}

static int begin_cells(struct statistics *s, const struct event_ref *ref, struct key_cell *cells)
{
	if (keys_cells(s->keys, s->dictionary, &s->groups.texts, ref, cells))
		return -1;
	for (size_t i = 0; i < s->keys->count; i++)
		if (s->keys->key[i].kind == BY_FIELD && cells[i].kind == KEY_MISSING)
			cells[i] = (struct key_cell){.kind = KEY_PENDING, .value = ref->location};
	return 0;
}

/* Make the cells of the group of a call that begins, on top of a stack. What is below the lowest
 * call in the kernel may change, and is left out. The cells of calls with the same function
 * and caller are kept: else 'trdecode | trsym | trstat -g caller,name' of t/bench/uftrace.sh
 * takes 1.45 times the instructions. */
static int begin_group(struct statistics *s, const struct event *e, const struct stack *stack,
		       const struct key_cell *begun, struct key_cell *cells)
{
	struct event_ref ref = event_ref_of(e);
	size_t below = stack->count - 1, count = s->keys->count;
	uint32_t needs = s->keys->needs;
	struct begun_group *known;
	struct key_cell *kept;
	struct group_key key;

	ref.entered = begun;
	ref.level = (uint32_t)below + stack->unseen;
	ref.caller = below ? stack->frames[below - 1].location : 0;
	if (!s->caches.begun)
		return begin_cells(s, &ref, cells);
	key = (struct group_key){
		.lane = needs & NEEDS_LANE ? ref.lane->number : 0,
		.type = needs & NEEDS_TYPE ? ref.type->number : 0,
		.location = ref.location,
		.caller = needs & NEEDS_CALLER ? ref.caller : 0,
		.level = needs & NEEDS_LEVEL ? ref.level : 0,
	};
	known = &s->caches.begun[hash_bytes(&key, sizeof(key), 0) % GROUP_CACHE];
	kept = s->caches.begun_cells + (size_t)(known - s->caches.begun) * count;
	if (!known->known || memcmp(&known->key, &key, sizeof(key)) != 0) {
		known->known = false;
		if (begin_cells(s, &ref, kept))
			return -1;
		*known = (struct begun_group){key, true};
	}
	memcpy(cells, kept, count * sizeof(*cells));
	return 0;
}

static const struct key_cell *frame_cells(const struct statistics *s, const struct stack *stack,
					  size_t frame)
{
	return (const struct key_cell *)calls_data(&s->calls, stack, frame) + group_cells_at(s);
}

/* Find the outermost of the first n frames of a stack that is of a group. Returns its number + 1.
 * If there is none, returns 0 and notes frame n as the outermost; note false: there is no such
 * frame. -1: out of memory. */
static int is_group_open(struct statistics *s, const struct stack *stack, size_t n,
			 const struct key_cell *cells, bool note)
{
	bool kernel = stack != s->calls.stacks[stack->number];
	uint32_t thread = (2 * stack->number + kernel) * 0x9e3779b1u, hash, outermost;
	const struct key_cell *other;

	if (s->recursion.of == RECURSION_OF_THREAD) {
		outermost = n && !stack->frames[0].begun ? 2 : 1;
		return outermost <= n ? (int)outermost : 0;
	}
	hash = key_cells_hash(&s->groups.texts, cells, s->keys->count) + thread;
	outermost = idmap_get(&s->recursion.outermost, hash);
	if (outermost && outermost <= n && stack->frames[outermost - 1].begun) {
		other = frame_cells(s, stack, outermost - 1);
		if (key_cells_same(other, cells, s->keys->count))
			return (int)outermost;
		/* a group with the same hash keeps the place while it is open */
		if (key_cells_hash(&s->groups.texts, other, s->keys->count) + thread == hash) {
			for (size_t i = outermost; i < n; i++)
				if (stack->frames[i].begun &&
				    key_cells_same(frame_cells(s, stack, i), cells, s->keys->count))
					return (int)i + 1;
			return 0;
		}
	}
	return note && idmap_set(&s->recursion.outermost, hash, (uint32_t)n + 1) ? -1 : 0;
}

enum { RECURSIVE_NO, RECURSIVE_YES, RECURSIVE_ASK }; /* ASK: in the kernel, decided at the end */

/* Note the group of a call that begins, and whether a call of the group is open below. */
static int note_group(struct statistics *s, const struct event *e, const struct stack *stack,
		      struct key_cell *data)
{
	struct key_cell *cells = data + group_cells_at(s), *recursive = cells + s->keys->count;
	bool kernel = stack != s->calls.stacks[stack->number];
	int got;

	if (s->recursion.of == RECURSION_OF_GROUP && begin_group(s, e, stack, data, cells))
		return -1;
	got = is_group_open(s, stack, stack->count - 1, cells, true);
	*recursive = key_unsigned(got > 0 ? RECURSIVE_YES : kernel ? RECURSIVE_ASK : RECURSIVE_NO);
	return got < 0 ? -1 : 0;
}

/* Get the stack of the thread of a call that has ended; e: its leave or NULL. */
static const struct stack *thread_stack(const struct statistics *s, const struct event *e)
{
	return s->calls.stacks[e ? calls_thread(e) : (uint32_t)s->calls.end.thread];
}

/* Test whether a call in the kernel, which has ended, is inside a call of its group of the thread's
 * other calls. cells: those noted when it began. */
static bool is_below_group(struct statistics *s, const struct call *call, const struct event *e,
			   struct key_cell *cells)
{
	const struct stack *stack = thread_stack(s, e);
	struct event_ref ref = {.lane = call->lane,
				.type = e ? e->type : pool_at(&s->dictionary->types, 0),
				.location = call->location,
				.caller = call->caller,
				.level = call->level};
	int got;

	for (size_t i = 0; i < s->keys->count; i++) {
		enum key_kind kind = s->keys->key[i].kind;

		if ((kind == BY_DEPTH || (kind == BY_CALLER && call->caller)) &&
		    keys_cell(s->keys, i, s->dictionary, &s->groups.texts, &ref, &cells[i])) {
			s->out_of_memory = true;
			return false;
		}
	}
	got = is_group_open(s, stack, stack->count, cells, false);
	/* calls of the thread that began later are not below a call in the kernel */
	return got > 0 && stack->frames[got - 1].start <= call->start;
}

/* Get the time of a call in the kernel, which has ended, until the last call of its thread ended.
 */
static uint64_t kernel_time(const struct statistics *s, const struct call *call,
			    const struct event *e)
{
	const struct stack *stack = thread_stack(s, e);

	return stack->kernel_since > call->start ? stack->kernel_since - call->start : 0;
}

/* Get the start of the innermost call of a thread that is open, or open in the kernel; 0: none. */
static uint64_t innermost_start(const struct stack *s)
{
	const struct stack *k = s->kernel;
	uint64_t start = s->count ? s->frames[s->count - 1].start : s->unseen ? s->unseen_since : 0;

	return k && k->count && k->frames[k->count - 1].start > start
		       ? k->frames[k->count - 1].start
		       : start;
}

/* Get the time of a call of a group that calls of the group inside it have counted. */
static uint64_t counted_inside(struct statistics *s, const struct aggregate *a,
			       const struct call *call, const struct event *e)
{
	const struct stack *stack = thread_stack(s, e);
	struct counted_group *g = counted_find(&s->recursion.counted, stack->number,
					       groups_cells(&s->groups, a), s->keys->count);
	uint64_t inside = 0;

	/* the total is 0, and not call->end - call->start, where the clock stepped back */
	if (!g ||
	    counted_add(g, call->start, call->start + call->total, innermost_start(stack), &inside))
		s->out_of_memory = true;
	return inside;
}

/* Get the time of a call with the cells of its enter that is inside another call of its group. */
static uint64_t noted_inside(struct statistics *s, const struct call *call, const struct event *e)
{
	struct key_cell *data = call->data;
	bool of_thread = s->recursion.of == RECURSION_OF_THREAD;
	uint64_t noted;

	/* of a call that was open before the first row, the callees are counted */
	if (!data)
		return of_thread ? call->total - call->self : 0;
	data += group_cells_at(s);
	noted = data[s->keys->count].value;
	if (noted != RECURSIVE_ASK)
		return noted == RECURSIVE_YES ? call->total : 0;
	if (is_below_group(s, call, e, data))
		return call->total;
	return of_thread ? kernel_time(s, call, e) : 0;
}

/* Get the time of a call that is inside another call of its group. */
static uint64_t time_inside(struct statistics *s, const struct aggregate *a,
			    const struct call *call, const struct type *type, const struct event *e)
{
	/* calls with numbers are inside no other one */
	if (type->flags & TYPE_CALL_NUMBER)
		return 0;
	switch (s->recursion.of) {
	case RECURSION_NONE: return 0;
	case RECURSION_OF_FUNCTION: return call->recursive ? call->total : 0;
	case RECURSION_OF_THREAD:
	case RECURSION_OF_GROUP: return noted_inside(s, call, e);
	case RECURSION_OF_TIMES: return counted_inside(s, a, call, e);
	}
	return 0;
}

/* Keep the cells of an enter. stack: NULL for a call with a number. */
static int put_entered(struct statistics *s, const struct event *e, const struct stack *stack,
		       struct key_cell *cells)
{
	struct event_ref entered = event_ref_of(e);

	if (e->type->flags & TYPE_CALL_NUMBER && s->arguments)
		statistics_argument_cells(s, e, cells + s->keys->begins);
	if (s->where && statistics_where_cells(s, &entered, cells))
		return -1;
	if (keys_begin_cells(s->keys, s->dictionary, &s->groups.texts, &entered, cells))
		return -1;
	return notes_group(s) && stack ? note_group(s, e, stack, cells) : 0;
}

/* Keep what the leave of a call of calls_restore needs of its enter. */
static int statistics_restore(void *ctx, const struct event *e, const struct call *call)
{
	struct statistics *s = ctx;

	return s->calls.data_size ? put_entered(s, e, call->on, call->data) : 0;
}

void statistics_begin_calls(struct statistics *s)
{
	calls_init(&s->calls, s->dictionary);
	s->calls.on_restore = statistics_restore;
	s->calls.on_restore_ctx = s;
	if (s->stacks)
		call_stacks_follow(s->stacks, &s->calls);
	s->calls.data_size = (group_cells_at(s) + (notes_group(s) ? s->keys->count + 1 : 0)) *
			     sizeof(struct key_cell);
}

/* Keep what the leave needs of the enter. By value, so that the event of the fast path can stay
 * in registers. */
static __attribute__((noinline)) int take_enter(struct statistics *s, struct event e,
						const struct stack *stack, struct key_cell *data)
{
	if ((s->calls.data_size && put_entered(s, &e, stack, data)) ||
	    (s->stacks && call_stacks_enter(s->stacks, &e))) {
		s->out_of_memory = true;
		return -1;
	}
	return 0;
}

/* Returns the group of a finished call; e is its leave or NULL. NULL without out_of_memory: the
 * call does not count. */
static __attribute__((noinline)) struct aggregate *group_of_call(struct statistics *s,
								 const struct call *call,
								 const struct type *type,
								 const struct event *e)
{
	struct event_ref subject = {.lane = call->lane,
				    .type = type,
				    .event = e,
				    .location = call->location,
				    .caller = call->caller,
				    .level = call->level,
				    .time = call->end,
				    .timed = true,
				    .total = call->total,
				    .self = call->self};

	if (s->calls.data_size)
		s->taken = subject.entered = call->data;
	if (s->stacks && (e ? call_stacks_leave(s->stacks, e, call, &subject.stack)
			    : call_stacks_finish(s->stacks, call, &subject.stack))) {
		s->out_of_memory = true;
		return NULL;
	}
	if (statistics_selects(s) && !statistics_is_selected(s, &subject))
		return NULL;
	return statistics_group(s, &subject);
}

static inline __attribute__((always_inline)) int add_call(struct statistics *s,
							  const struct call *call,
							  const struct type *type,
							  const struct event *e)
{
	struct event copy = e ? *e : (struct event){0};
	struct aggregate *a;
	uint64_t inside;

	s->taken = NULL;
	a = group_of_call(s, call, type, e ? &copy : NULL);
	if (!a)
		return s->out_of_memory ? -1 : 0;
	inside = time_inside(s, a, call, type, e);
	if (__builtin_expect(s->out_of_memory, 0))
		return -1;
	if (aggregate_call(a, &s->columns->wanted, call->total, call->self, inside, call->end)) {
		s->out_of_memory = true;
		return -1;
	}
	if (__builtin_expect(inside && inside < call->total, 0))
		aggregate_outside(a, call->total - inside);
	if (__builtin_expect(s->columns->wanted.field_count, 0)) {
		const struct statistics_times times = {true, false, call->total, call->self,
						       call->location};

		if (s->taken && s->arguments &&
		    statistics_add_arguments(s, a, e ? &copy : NULL, s->taken + s->keys->begins)) {
			s->out_of_memory = true;
			return -1;
		}
		return statistics_add_fields(s, a, e ? &copy : NULL, call->lane, false, &times);
	}
	return 0;
}

/* Count a row that is not a finished call: an instant, and with the key `type` every row. waits:
 * its arguments are ignored. */
static __attribute__((noinline)) int add_row(struct statistics *s, struct event ev, bool counts,
					     bool waits)
{
	const struct event *e = &ev;
	const struct stack *stack = calls_stack(&s->calls, e);
	size_t open = stack ? stack->count : 0;
	struct event_ref subject = event_ref_of(e);
	uint32_t recorded = s->stacks ? event_stack(s->dictionary, e) : 0;
	struct aggregate *a;

	if (!counts && !statistics_has_fields(s, e, waits))
		return 0;
	/* an enter has pushed its own frame, unless scheduled-out types are ignored here */
	if (e->type->kind == KIND_ENTER && open && !(e->type->flags & TYPE_CALL_NUMBER))
		open -= !(e->type->flags & TYPE_INNER) || stack->frames[open - 1].inner;
	subject.level = (uint32_t)open + (stack ? stack->unseen : 0);
	subject.caller = open ? stack->frames[open - 1].location : 0;
	if (s->stacks &&
	    (recorded ? call_stacks_recorded(s->stacks, STACK_ROOT, recorded, &subject.stack)
		      : call_stacks_here(s->stacks, e, &subject.stack)))
		return -1;
	if (statistics_selects(s) && !statistics_is_selected(s, &subject))
		return s->out_of_memory ? -1 : 0;
	a = statistics_group(s, &subject);
	if (!a)
		return -1;
	if (counts)
		aggregate_instant(a, &s->columns->wanted, e->time);
	return s->columns->wanted.field_count
		       ? statistics_add_fields(s, a, e, counts ? e->lane : NULL, waits,
					       &(struct statistics_times){0})
		       : 0;
}

/* Count one event of any kind. */
static inline __attribute__((always_inline)) int take_event(struct statistics *s, struct event *e,
							    bool by_type, bool fields, bool waiting)
{
	enum calls_result got;
	struct call call;
	int bad = 0;

	if (__builtin_expect(e->type->kind == KIND_GAP, 0))
		return 0; /* END counts lost events */
	got = calls_next(&s->calls, e, &call);
	if (__builtin_expect(waiting && got == CALLS_ENTER, 0) &&
	    take_enter(s, *e, call.on, call.data))
		return -1;
	if (got == CALLS_LEAVE)
		bad = add_call(s, &call, e->type, e);
	else if (e->type->kind == KIND_SAMPLE)
		bad = statistics_take_sample(s, e);
	else if (kind_is_instant(e->type->kind))
		bad = add_row(s, *e, true, false);
	else if ((by_type || fields) && e->type->kind != KIND_DROP)
		bad = add_row(s, *e, by_type,
			      s->arguments && got == CALLS_ENTER &&
				      e->type->flags & TYPE_CALL_NUMBER);
	return bad || s->calls.out_of_memory ? -1 : 0;
}

int statistics_take(struct statistics *s, struct event *e)
{
	return take_event(s, e, s->keys->by_type, s->columns->wanted.field_count,
			  s->calls.data_size || s->stacks);
}

int statistics_take_rows(struct statistics *s, struct events *it)
{
	bool fields = s->columns->wanted.field_count, by_type = s->keys->by_type;
	bool waiting = s->calls.data_size || s->stacks;
	struct event e;

	while (event_next(it, &e))
		if (take_event(s, &e, by_type, fields, waiting))
			return -1;
	return 0;
}

int statistics_take_row(struct statistics *s, const struct events *all, const uint8_t *row)
{
	struct events it = *all;
	struct event e = {.row = row};

	it.row = row;
	event_next(&it, &e);
	return take_event(s, &e, s->keys->by_type, false, false);
}

int statistics_take_unfinished(struct statistics *s, const struct call *call,
			       const struct type *type)
{
	return add_call(s, call, type, NULL);
}

/* Fill the entry of a B whose A may be in an earlier part. */
static int open_pair(struct statistics *s, const struct event *e, const struct event_ref *b,
		     struct aggregate *entry)
{
	const struct statistics_times times = {
		.known = true, .pending = true, .location = e->location};
	struct pair_edges *edges = s->pair->edges;
	struct key_cell *cells = pair_edge_b(edges, entry);
	struct event_ref subject = *b;

	pair_edge(edges, entry)->b = e->time;
	subject.entered = s->pending;
	subject.pending = true;
	if (keys_cells(s->keys, s->dictionary, &s->groups.texts, &subject, cells))
		return -1;
	memcpy(cells + s->keys->count, s->cells + s->keys->count, s->more * sizeof(*cells));
	if (keys_end_cells(s->keys, s->dictionary, &s->groups.texts, &subject,
			   pair_edge_other(edges, entry)))
		return -1;
	return s->columns->wanted.field_count
		       ? statistics_add_fields(s, entry, e, e->lane, false, &times)
		       : 0;
}

/* Add a pair's time to its group, or where that is of a bucket of time to those of all buckets
 * that the pair covers. */
static int add_busy(struct statistics *s, struct aggregate *a, uint64_t begin, uint64_t end)
{
	uint128 *busy = aggregate_part(a, s->columns->wanted.busy);

	if (s->keys->needs & NEEDS_TIME)
		return statistics_add_busy(s, begin, end); /* cells are those of the group */
	*busy += end - begin;
	return 0;
}

bool statistics_to_caller(struct statistics *s)
{
	struct key_cell *stack;

	if (!s->keys->each_frame)
		return false;
	stack = &s->cells[s->keys->count - 1];
	if (stack->kind != KEY_STACK)
		return false;
	stack->value = s->stacks->tree.nodes[stack->value].parent;
	return stack->value != STACK_ROOT;
}

/* Count a pair in its group. */
static int add_pair(struct statistics *s, struct aggregate *a, const struct event *e,
		    const struct statistics_times *times)
{
	uint64_t begin = e->time - times->total;

	if (aggregate_call(a, &s->columns->wanted, times->total, times->self, false, e->time))
		return -1;
	if (s->columns->wanted.busy && add_busy(s, a, begin > s->since ? begin : s->since, e->time))
		return -1;
	return s->columns->wanted.field_count
		       ? statistics_add_fields(s, a, e, e->lane, false, times)
		       : 0;
}

int statistics_take_pair(struct statistics *s, const struct event *e)
{
	struct statistics_times times = {.known = true, .location = e->location};
	struct event_ref subject;
	struct aggregate *a;
	struct pair_end end;
	enum outcome got;

	if (!kind_is_event(e->type->kind))
		return 0;
	got = pair_feed(s->pair, e, &end);
	if (got != OUTCOME_YES)
		return got == OUTCOME_FAILED ? -1 : 0;
	if (s->outside)
		return 0;
	if (pair_event_ref(s->pair, e, &subject))
		return -1;
	subject.timed = true;
	if (end.open)
		return open_pair(s, e, &subject, end.open);
	subject.total = subject.self = times.total = times.self = end.time;
	subject.entered = end.entered;
	a = statistics_group(s, &subject);
	while (a && !add_pair(s, a, e, &times)) {
		if (!statistics_to_caller(s))
			return 0;
		times.self = 0;
		a = groups_find(&s->groups, s->cells);
	}
	return -1;
}

#include "statistics.h"

#include <stdlib.h>

#include "common/cut.h"

/* Which bits of a narrow row's word (event.h) tell the group; 0: they do not. */
static uint64_t row_mask(const struct statistics *s)
{
	uint32_t needs = s->keys->needs;

	if (needs & (NEEDS_CALLER | NEEDS_LEVEL | NEEDS_EVENT | NEEDS_STACK) || s->keys->fields ||
	    s->columns->wanted.field_count)
		return 0;
	return 1 | (needs & NEEDS_LANE ? 0xffull << 24 : 0) |
	       (needs & NEEDS_PLACE ? 0xffffull << 32 : 0) |
	       (needs & NEEDS_TYPE ? 0xffull << 48 : 0);
}

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d)
{
	*s = (struct statistics){
		.keys = k, .columns = c, .dictionary = d, .first = UINT64_MAX, .last = 0};
	groups_init(&s->groups, k->count, &c->wanted);
	calls_init(&s->calls, d);
	entered_init(&s->entered, k->fields);
	s->row_mask = row_mask(s);
	s->name_only = k->count == 1 && k->key[0].what == BY_NAME;
	if (k->needs & NEEDS_STACK) {
		s->stacks = calloc(1, sizeof(*s->stacks));
		if (!s->stacks || call_stacks_init(s->stacks, &s->calls, call_stacks_clean_name))
			return -1;
		s->stacks->tree.keep = true;
	}
	s->cells = calloc(k->count + 1, sizeof(*s->cells));
	s->cache = calloc(GROUP_CACHE, sizeof(*s->cache));
	return s->cells && s->cache ? 0 : -1;
}

int statistics_pair(struct statistics *s, struct pair *p)
{
	s->pair = p;
	return pair_begin(p, s->keys, s->dictionary, &s->groups);
}

void statistics_free(struct statistics *s)
{
	groups_free(&s->groups);
	calls_free(&s->calls);
	entered_free(&s->entered);
	if (s->stacks)
		call_stacks_free(s->stacks);
	free(s->stacks);
	free(s->cells);
	free(s->cache);
	free(s->by_place);
	free(s->planned);
}

static struct aggregate *find_group(struct statistics *s, const struct subject *subject)
{
	struct aggregate *a = NULL;

	if (!keys_cells(s->keys, s->dictionary, &s->groups, subject, s->cells))
		a = groups_find(&s->groups, s->cells);
	if (!a)
		s->out_of_memory = true;
	return a;
}

static struct aggregate *find_by_place(struct statistics *s, const struct subject *subject)
{
	uint32_t place = subject->place;

	if (place >= s->by_place_size) {
		size_t size = s->by_place_size ? s->by_place_size : 256;
		struct aggregate **by_place;

		while (size <= place)
			size *= 2;
		by_place = realloc(s->by_place, size * sizeof(*by_place));
		if (!by_place) {
			s->out_of_memory = true;
			return NULL;
		}
		memset(by_place + s->by_place_size, 0,
		       (size - s->by_place_size) * sizeof(*by_place));
		s->by_place = by_place;
		s->by_place_size = size;
	}
	return s->by_place[place] = find_group(s, subject);
}

/* Has the row something of its own, beside what groups are cached by, that a key looks at? */
static bool is_singular(const struct statistics *s, const struct subject *subject)
{
	return !subject->event || s->keys->needs & (NEEDS_EVENT | NEEDS_TIME) ||
	       (s->keys->needs & NEEDS_CPU && !(subject->lane->flags & LANE_HAS_CPU) &&
		field_by_role(subject->type, ROLE_CPU));
}

/* Rows of which not all is known that the keys look at, or not even if they count. */
static struct aggregate *hold(struct statistics *s, const struct subject *subject)
{
	const struct stack *below = subject->below;
	struct aggregate *a = NULL;

	if (!keys_cells(s->keys, s->dictionary, &s->groups, subject, s->cells)) {
		keys_open_cells(s->keys, subject->open, subject->level, s->cells);
		a = bracket_hold(s->bracket, below->number, cut_position(below->kept),
				 subject->open & OPEN_HELD, s->cells);
	}
	if (!a)
		s->out_of_memory = true;
	return a;
}

/* The group of a row: found once for each place, or each of what else the keys look at. */
static struct aggregate *group_of(struct statistics *s, const struct subject *subject)
{
	uint32_t needs = s->keys->needs;
	struct group_key key;
	struct cached_group *c;

	if (__builtin_expect(subject->open, 0) &&
	    (subject->open & OPEN_IF_CALL || keys_open(s->keys, subject->open)))
		return hold(s, subject);
	if (s->name_only && subject->place)
		return find_by_place(s, subject);
	if (is_singular(s, subject))
		return find_group(s, subject);
	key = (struct group_key){
		.lane = needs & NEEDS_LANE ? subject->lane->number : 0,
		.type = needs & NEEDS_TYPE ? subject->type->number : 0,
		.place = needs & NEEDS_PLACE ? subject->place : 0,
		.caller = needs & NEEDS_CALLER ? subject->caller : 0,
		.level = needs & NEEDS_LEVEL ? subject->level : 0,
		.stack = subject->stack,
	};
	c = &s->cache[hash_bytes(&key, sizeof(key), 0) % GROUP_CACHE];
	if (!c->aggregate || memcmp(&c->key, &key, sizeof(key)) != 0) {
		c->aggregate = find_group(s, subject);
		c->key = key;
	}
	return c->aggregate;
}

/* The times of what counts, or of nothing that does. */
struct times {
	bool known;
	uint64_t total, self;
};

/* For columns: the time of a call, else the field of that name, else, if the row counts, what its
 * lane knows by it. e is NULL for a call that the end of the trace closed. */
static bool wanted_value(const struct dictionary *d, const struct event *e, bool counts,
			 const struct wanted_field *f, const struct times *times,
			 struct field_value *v)
{
	const struct lane *l = e ? e->lane : NULL;
	const char *name = f->name;

	if (f->time && times->known) {
		v->form = FORM_UINT;
		v->u = f->time == TIME_TOTAL ? times->total : times->self;
		return true;
	}
	if (e && subject_field(d, e, name, v))
		return true;
	if (!e || !counts)
		return false;
	v->form = FORM_INT;
	if (!strcmp(name, "tid") && l->flags & LANE_HAS_TID)
		v->i = l->tid;
	else if (!strcmp(name, "pid") && l->flags & LANE_HAS_PID)
		v->i = l->pid;
	else if (!strcmp(name, "cpu") && l->flags & LANE_HAS_CPU)
		v->i = l->cpu;
	else if (!strcmp(name, "comm"))
		*v = (struct field_value){.form = FORM_TEXT,
					  .text = (const uint8_t *)l->comm.text,
					  .size = l->comm.size};
	else
		v->form = FORM_NONE;
	return v->form != FORM_NONE;
}

/* Has a row that does not count something for a column? */
static bool has_fields(const struct statistics *s, const struct event *e)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct field_value v;

	for (uint32_t i = 0; i < w->field_count; i++)
		if (wanted_value(s->dictionary, e, false, &w->field[i], &(struct times){0}, &v))
			return true;
	return false;
}

static int add_fields(struct statistics *s, struct aggregate *a, const struct event *e, bool counts,
		      const struct times *times)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		struct field_value v;
		int bad = 0;

		if (!wanted_value(s->dictionary, e, counts, &w->field[i], times, &v))
			continue;
		if (v.form == FORM_INT)
			bad = aggregate_number(a, w, i, v.i);
		else if (v.form == FORM_UINT)
			bad = aggregate_number(a, w, i, (int128)v.u);
		else if (v.form == FORM_TEXT)
			bad = aggregate_text(a, w, i, v.text, v.size);
		if (bad) {
			s->out_of_memory = true;
			return -1;
		}
	}
	return 0;
}

/* What the call's enter had of the keys. */
static const struct key_cell *take_entered(struct statistics *s, const struct call *call,
					   const struct event *e)
{
	const struct type *type = e ? e->type : call->type;
	const struct stack *stack;
	uint32_t number;
	size_t thread;
	bool kernel;

	if (type && type->flags & TYPE_CALL_NUMBER) {
		number = call->number;
		return !e || field_call(e, &number)
			       ? entered_take_numbered(&s->entered, call->lane->source->number,
						       number)
			       : NULL;
	}
	thread = e ? calls_thread(e) : s->calls.finishing;
	stack = s->calls.stacks[thread];
	kernel = e ? calls_stack(&s->calls, e) != stack
		   : call->type && call->type->flags & TYPE_KERNEL;
	return entered_take(&s->entered, statistics_entered(thread, kernel),
			    kernel ? stack->kernel : stack, call->start);
}

static int put_entered(struct statistics *s, const struct event *e)
{
	const struct stack *stack = calls_stack(&s->calls, e);
	uint32_t thread = calls_thread(e), number;

	if (keys_field_cells(s->keys, s->dictionary, &s->groups, e, s->cells))
		return -1;
	if (e->type->flags & TYPE_CALL_NUMBER)
		return field_call(e, &number)
			       ? entered_put_numbered(&s->entered, e->lane->source->number, number,
						      s->cells)
			       : 0;
	return entered_put(&s->entered,
			   statistics_entered(thread, stack != s->calls.stacks[thread]), stack,
			   s->cells);
}

/* What must be known of a call when it is left. By value, so that the event of the fast path can
 * stay in registers. */
static __attribute__((noinline)) int take_enter(struct statistics *s, struct event e)
{
	if ((s->entered.fields && put_entered(s, &e)) ||
	    (s->stacks && call_stacks_enter(s->stacks, &e))) {
		s->out_of_memory = true;
		return -1;
	}
	return 0;
}

/* The group of a finished call, e being its leave or NULL. */
static __attribute__((noinline)) struct aggregate *group_of_call(struct statistics *s,
								 const struct call *call,
								 const struct type *type,
								 const struct event *e)
{
	struct subject subject = {.lane = call->lane,
				  .type = type,
				  .event = e,
				  .place = call->place,
				  .caller = call->caller,
				  .level = call->level,
				  .time = call->end,
				  .timed = true,
				  .total = call->total,
				  .self = call->self,
				  .open = call->open};

	if (call->open)
		subject.below = s->calls.stacks[calls_thread(e)];
	if (s->entered.fields)
		subject.entered = take_entered(s, call, e);
	if (s->stacks && (e ? call_stacks_leave(s->stacks, e, call, &subject.stack)
			    : call_stacks_finish(s->stacks, call, &subject.stack))) {
		s->out_of_memory = true;
		return NULL;
	}
	return group_of(s, &subject);
}

static __attribute__((noinline)) int doubt(struct statistics *s, const struct call *call,
					   const struct event *e, struct aggregate *a)
{
	const struct stack *below = s->calls.stacks[calls_thread(e)];

	if (!bracket_doubt(s->bracket, below->number, cut_position(below->kept), call->place, a,
			   call->total))
		return 0;
	s->out_of_memory = true;
	return -1;
}

static inline __attribute__((always_inline)) int add_call(struct statistics *s,
							  const struct call *call,
							  const struct type *type,
							  const struct event *e)
{
	struct aggregate *a = NULL;

	if (s->name_only && call->place < s->by_place_size && !(call->open & OPEN_IF_CALL))
		a = s->by_place[call->place];
	if (__builtin_expect(!a, 0)) {
		struct event copy = e ? *e : (struct event){0};

		a = group_of_call(s, call, type, e ? &copy : NULL);
	}
	if (!a || aggregate_call(a, &s->columns->wanted, call->total, call->self,
				 call->recursive && !s->stacks, call->end)) {
		s->out_of_memory = true;
		return -1;
	}
	if (__builtin_expect(call->open & OPEN_RECURSIVE, 0) && doubt(s, call, e, a))
		return -1;
	if (__builtin_expect(s->columns->wanted.field_count, 0)) {
		struct event copy = e ? *e : (struct event){0};

		return add_fields(s, a, e ? &copy : NULL, true,
				  &(struct times){true, call->total, call->self});
	}
	return 0;
}

/* A row that is no finished call: an instant, and with the key `type` every row. */
static __attribute__((noinline)) int add_row(struct statistics *s, struct event ev, bool counts)
{
	const struct event *e = &ev;
	const struct stack *stack = calls_stack(&s->calls, e);
	size_t open = stack ? stack->count : 0;
	struct subject subject = {
		.lane = e->lane, .type = e->type, .event = e, .place = e->place, .time = e->time};
	struct aggregate *a;

	if (!counts && !has_fields(s, e))
		return 0;
	/* an enter has pushed its own frame, but where being scheduled out means nothing */
	if (e->type->kind == KIND_ENTER && open && !(e->type->flags & TYPE_CALL_NUMBER))
		open -= !(e->type->flags & TYPE_INNER) || stack->frames[open - 1].inner;
	subject.level = (uint32_t)open + (stack ? stack->implicit : 0);
	subject.caller = open ? stack->frames[open - 1].place : 0;
	if (stack && stack->cut) {
		/* frames[0] stands for what is not known */
		subject.open = OPEN_LEVEL | (open == 1 ? OPEN_CALLER : 0);
		subject.level--;
		subject.below = stack;
	}
	if (s->stacks)
		subject.stack = call_stacks_here(s->stacks, e);
	a = group_of(s, &subject);
	if (!a)
		return -1;
	if (counts)
		aggregate_instant(a, &s->columns->wanted, e->time);
	return s->columns->wanted.field_count ? add_fields(s, a, e, counts, &(struct times){0}) : 0;
}

static void forget_names(struct statistics *s)
{
	memset(s->cache, 0, GROUP_CACHE * sizeof(*s->cache));
	if (s->by_place)
		memset(s->by_place, 0, s->by_place_size * sizeof(*s->by_place));
	s->symbol_changes = s->dictionary->symbol_changes;
}

/* One event, of whatever kind. */
static inline __attribute__((always_inline)) int take_event(struct statistics *s, struct event *e,
							    bool by_type, bool fields, bool waiting)
{
	enum calls_result got;
	struct call call;
	int bad = 0;

	if (__builtin_expect(e->type->kind == KIND_GAP, 0))
		return 0; /* what is missing is counted by END */
	got = calls_feed(&s->calls, e, &call);
	if (__builtin_expect(waiting && got == CALLS_ENTER, 0) && take_enter(s, *e))
		return -1;
	if (got == CALLS_LEAVE)
		bad = add_call(s, &call, e->type, e);
	else if (got == CALLS_KEPT)
		bad = 0;
	else if (e->type->kind == KIND_INSTANT || e->type->kind == KIND_COUNTER)
		bad = add_row(s, *e, true);
	else if (by_type || fields)
		bad = add_row(s, *e, by_type);
	return bad || s->calls.out_of_memory ? -1 : 0;
}

/* The event of one row, out of line. */
static __attribute__((noinline)) int take_row(struct statistics *s, const struct events *all,
					      const uint8_t *row)
{
	struct events it = *all;
	struct event e = {.row = row};

	it.row = row;
	event_next(&it, &e);
	return take_event(s, &e, s->keys->by_type, false, false);
}

/* The groups of the block's places, where they are known, and no exec. */
static int plan_places(struct statistics *s, const struct block *b)
{
	size_t n = (size_t)b->nplaces + 1;

	if (n > s->planned_size) {
		struct planned *planned = realloc(s->planned, n * sizeof(*planned));

		if (!planned)
			return -1;
		s->planned = planned;
		s->planned_size = n;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t place = b->places[i];

		s->planned[i].place = place;
		s->planned[i].aggregate =
			calls_ordinary(&s->calls, place) && place < s->by_place_size
				? s->by_place[place]
				: NULL;
	}
	return 0;
}

/* In line: a call that by what was seen of its stack is not recursive. */
static inline int in_doubt(struct statistics *s, const struct stack *stack, uint32_t place,
			   struct aggregate *a, uint64_t total)
{
	if (!stack->cut)
		return 0;
	return bracket_doubt(s->bracket, stack->number, cut_position(stack->cut), place, a, total);
}

/*
 * By far most of what there is to do: narrow rows, calls by name. Everything that is not the
 * enter or the leave on top of a stack, of a place that was seen before, goes out of line, so that
 * this loop stays in registers.
 */
static inline __attribute__((always_inline)) int
narrow_calls(struct statistics *s, const struct block *b, struct events it, bool bare, bool partial)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	struct events here = it;
	struct calls_block cb;

	if (plan_places(s, b))
		return -1;
	calls_block(&s->calls, b, &cb);
	while (here.row < here.end) {
		const uint8_t *row = here.row;
		struct plain_row r = plain_row(&it, row);
		const struct planned *p = &s->planned[r.place];
		enum calls_result got = CALLS_SLOW;
		struct call call;

		if (bare)
			here.row += NARROW_ROW;
		else
			event_skip(&here, r.type);
		if (__builtin_expect(p->aggregate != NULL, 1))
			got = calls_try(&cb, &r, p->place, &call);
		if (got == CALLS_LEAVE) {
			if (aggregate_call(p->aggregate, wanted, call.total, call.self,
					   call.recursive, call.end))
				return -1;
			if (partial && !call.recursive &&
			    in_doubt(s, cb.stacks[r.lane], p->place, p->aggregate, call.total))
				return -1;
		} else if (__builtin_expect(got == CALLS_SLOW, 0)) {
			if (take_row(s, &it, row))
				return -1;
		}
	}
	return 0;
}

/* Blocks of function tracers: nearly all that is in them are calls without a payload. */
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

/* Does nothing of the block depend on more than row_mask says? */
static bool is_by_word(const struct statistics *s, const struct block *b)
{
	if (!s->row_mask)
		return false;
	for (uint32_t i = 0; s->keys->needs & NEEDS_CPU && i < b->nlanes; i++)
		if (!(b->lanes[i]->flags & LANE_HAS_CPU))
			return false;
	return !(s->keys->needs & NEEDS_TIME) || keys_same_time(s->keys, b->base, b->last);
}

/* The group of a row whose word was not seen in this block. */
static __attribute__((noinline)) struct aggregate *find_row_group(struct statistics *s,
								  const struct events *all,
								  const uint8_t *row,
								  struct row_group *g)
{
	struct events it = *all;
	struct event e;
	struct subject subject;
	struct aggregate *a;

	it.row = row;
	if (!event_next(&it, &e))
		return NULL;
	subject = (struct subject){
		.lane = e.lane, .type = e.type, .event = &e, .place = e.place, .time = e.time};
	a = s->name_only && e.place && e.place < s->by_place_size ? s->by_place[e.place] : NULL;
	if (!a)
		a = group_of(s, &subject);
	if (a)
		*g = (struct row_group){(get_u64(row) & s->row_mask) | 1, a};
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
		types[i].does = t->kind == KIND_GAP ? ROW_IS_NOTHING
				: t->kind == KIND_INSTANT || t->kind == KIND_COUNTER ? ROW_COUNTS
										     : ROW_CALLS;
	}
}

static inline const uint8_t *row_behind(const struct row_type *t, const uint8_t *row)
{
	row += t->size;
	return t->tail ? row + 4 + align_up(get_u32(row), 4) : row;
}

/* Where what is known of the group of rows with that word stands, or will. */
static inline struct row_group *row_group(struct statistics *s, uint64_t word)
{
	return &s->row_groups[word * 0x9e3779b97f4a7c15u >> (64 - ROW_GROUPS_BITS)];
}

/*
 * Calls with numbers, each an enter and its leave one right behind the other: as many as follow
 * from here on. Behind them; NULL: memory is out.
 */
static __attribute__((noinline)) const uint8_t *
numbered_calls(struct statistics *s, const struct block *b, const struct events *it,
	       const struct row_type *types, const struct calls_rows *cr, const uint8_t *row)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	uint64_t mask = s->row_mask & ~(uint64_t)1;

	while (row < it->end) {
		struct plain_row e = plain_row(it, row), l;
		const uint8_t *next = row_behind(&types[e.type], row);
		struct row_group *g;
		struct aggregate *a;
		uint64_t word, total;

		if (next == it->end)
			break;
		l = plain_row(it, next);
		if (!l.place ||
		    !calls_try_numbered(&s->calls, cr, row, &e, next, &l, b->lanes[l.lane]))
			break;
		word = (get_u64(next) & mask) | 1;
		g = row_group(s, word);
		a = g->aggregate;
		if (__builtin_expect(g->word != word, 0)) {
			a = find_row_group(s, it, next, g);
			if (!a)
				return NULL;
		}
		total = l.time > e.time ? l.time - e.time : 0;
		if (aggregate_call(a, wanted, total, total, false, l.time))
			return NULL;
		row = row_behind(&types[l.type], next);
	}
	return row;
}

/* Narrow rows of all sorts, by keys that look at nothing but lane, type and place. */
static __attribute__((noinline)) int narrow_rows(struct statistics *s, const struct block *b,
						 const struct events *it)
{
	const struct columns_wanted *wanted = &s->columns->wanted;
	uint64_t mask = s->row_mask & ~(uint64_t)1;
	bool by_type = s->keys->by_type, partial = s->calls.partial;
	const uint8_t *row = it->row, *end = it->end;
	struct row_type types[256];
	struct calls_rows cr;

	if (calls_rows(&s->calls, b, &cr))
		return -1;
	plan_types(b, types);
	memset(s->row_groups, 0, sizeof(s->row_groups));
	while (row < end) {
		const uint8_t *this = row;
		struct plain_row r = plain_row(it, row);
		const struct row_type *t = &types[r.type];
		uint64_t word = (get_u64(row) & mask) | 1;
		struct row_group *g = row_group(s, word);
		enum calls_result got = CALLS_NONE;
		struct aggregate *a;
		struct call call;

		if (cr.types[r.type].numbered == KIND_ENTER && !by_type) {
			row = numbered_calls(s, b, it, types, &cr, row);
			if (!row)
				return -1;
			if (row != this)
				continue;
		}
		row = row_behind(t, row);
		if (t->does == ROW_CALLS) {
			uint32_t place = b->places[r.place];

			got = CALLS_SLOW;
			if (calls_ordinary(&s->calls, place))
				got = calls_try_row(&cr, &r, place, b->lanes[r.lane],
						    b->types[r.type], &call);
			if (got == CALLS_ENTER && !by_type)
				continue;
			if (__builtin_expect(got == CALLS_SLOW, 0)) {
				if (take_row(s, it, this))
					return -1;
				continue;
			}
		} else if (t->does == ROW_COUNTS) {
			calls_pass(&cr, &r, b->lanes[r.lane]);
		} else {
			continue;
		}
		a = g->aggregate;
		if (__builtin_expect(g->word != word, 0)) {
			a = find_row_group(s, it, this, g);
			if (!a)
				return -1;
		}
		if (got != CALLS_LEAVE)
			aggregate_instant(a, wanted, r.time);
		else if (aggregate_call(a, wanted, call.total, call.self, call.recursive, r.time))
			return -1;
		else if (__builtin_expect(partial, 0) && !call.recursive &&
			 in_doubt(s, cr.stacks[r.lane + cr.types[r.type].stack], b->places[r.place],
				  a, call.total))
			return -1;
	}
	return 0;
}

/* An event that may end a pair, which counts as a call of that time does. */
static int take_pair(struct statistics *s, const struct event *e)
{
	struct subject subject = {.lane = e->lane,
				  .type = e->type,
				  .event = e,
				  .place = e->place,
				  .time = e->time,
				  .timed = true};
	struct aggregate *a;
	uint64_t time;
	int got;

	if (e->type->kind == KIND_GAP)
		return 0;
	got = pair_feed(s->pair, s->keys, e, &time, &subject.entered);
	if (got <= 0)
		return got;
	subject.total = subject.self = time;
	a = group_of(s, &subject);
	if (!a || aggregate_call(a, &s->columns->wanted, time, time, false, e->time))
		return -1;
	return s->columns->wanted.field_count
		       ? add_fields(s, a, e, true, &(struct times){true, time, time})
		       : 0;
}

static void look_at(struct statistics *s, const struct block *b)
{
	if (s->symbol_changes != s->dictionary->symbol_changes)
		forget_names(s);
	for (uint32_t i = 0; b->rows && i < b->nlanes; i++)
		s->ticks |= b->lanes[i]->clock->flags & CLOCK_TICKS;
}

int statistics_until(struct statistics *s, const struct block *b, struct events *it, uint64_t end)
{
	bool fields = s->columns->wanted.field_count, by_type = s->keys->by_type;
	bool waiting = s->entered.fields || s->stacks;

	look_at(s, b);
	for (;;) {
		struct events here = *it;
		struct event e;

		if (!event_next(it, &e))
			return 0;
		if (e.time >= end) {
			*it = here;
			return 0;
		}
		s->first = e.time < s->first ? e.time : s->first;
		s->last = e.time > s->last ? e.time : s->last;
		if (s->pair ? take_pair(s, &e) : take_event(s, &e, by_type, fields, waiting))
			return -1;
	}
}

int statistics_show(struct statistics *s)
{
	return s->stacks ? groups_stacks(&s->groups, s->stacks) : 0;
}

int statistics_reset(struct statistics *s)
{
	groups_clear(&s->groups);
	forget_names(s);
	s->first = UINT64_MAX;
	s->last = 0;
	return 0;
}

int statistics_block(struct statistics *s, const struct block *b)
{
	bool fields = s->columns->wanted.field_count, by_type = s->keys->by_type;
	bool waiting = s->entered.fields || s->stacks;
	struct events it;
	struct event e;

	look_at(s, b);
	if (!b->rows)
		return 0;
	s->first = b->base < s->first ? b->base : s->first;
	s->last = b->last > s->last ? b->last : s->last;
	events_begin(&it, b);
	while (s->pair && event_next(&it, &e))
		if (take_pair(s, &e))
			return -1;
	if (s->pair)
		return 0;
	if (!it.wide && s->name_only && !fields && !by_type && !waiting && has_bare_calls(b))
		return s->calls.partial ? it.bare ? narrow_calls(s, b, it, true, true)
						  : narrow_calls(s, b, it, false, true)
		       : it.bare ? narrow_calls(s, b, it, true, false)
					: narrow_calls(s, b, it, false, false);
	if (!it.wide && is_by_word(s, b))
		return narrow_rows(s, b, &it);
	while (event_next(&it, &e))
		if (take_event(s, &e, by_type, fields, waiting))
			return -1;
	return 0;
}

int statistics_event(struct statistics *s, const struct event *e)
{
	struct event copy = *e;

	return take_event(s, &copy, s->keys->by_type, s->columns->wanted.field_count,
			  s->entered.fields || s->stacks);
}

int statistics_finish(struct statistics *s)
{
	const struct type *none = pool_at(&s->dictionary->types, 0);
	struct call call;

	while (calls_finish(&s->calls, &call)) {
		/* it has no leave: of its type is known what enter and leave have in common */
		struct type closed = call.type ? *call.type : *none;

		closed.kind = KIND_LEAVE;
		closed.name = none->name;
		if (!s->keys->by_type && add_call(s, &call, &closed, NULL))
			return -1;
	}
	if (s->stacks && (call_stacks_end(s->stacks) || groups_stacks(&s->groups, s->stacks)))
		return -1;
	return s->calls.out_of_memory ? -1 : 0;
}

int statistics_forget_calls(struct statistics *s)
{
	uint64_t unmatched = s->calls.unmatched, unfinished = s->calls.unfinished,
		 outside = s->calls.outside;
	size_t fields = s->entered.fields;

	calls_free(&s->calls);
	calls_init(&s->calls, s->dictionary);
	s->calls.unmatched = unmatched;
	s->calls.unfinished = unfinished;
	s->calls.outside = outside;
	entered_free(&s->entered);
	entered_init(&s->entered, fields);
	return 0;
}

#include "statistics.h"

#include <stdlib.h>

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d)
{
	*s = (struct statistics){
		.keys = k, .columns = c, .dictionary = d, .first = UINT64_MAX, .last = 0};
	groups_init(&s->groups, k->count, &c->wanted);
	calls_init(&s->calls, d);
	s->name_only = k->count == 1 && k->key[0].what == BY_NAME;
	s->cells = calloc(k->count + 1, sizeof(*s->cells));
	s->cache = calloc(GROUP_CACHE, sizeof(*s->cache));
	return s->cells && s->cache ? 0 : -1;
}

void statistics_free(struct statistics *s)
{
	groups_free(&s->groups);
	calls_free(&s->calls);
	free(s->cells);
	free(s->cache);
	free(s->by_place);
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

/* The group of a row: found once for each place, or each of what else the keys look at. */
static struct aggregate *group_of(struct statistics *s, const struct subject *subject)
{
	struct cached_group *c;
	uint64_t who, where;

	if (s->name_only && subject->place)
		return find_by_place(s, subject);
	if (s->keys->by_event)
		return find_group(s, subject);
	who = (uint64_t)subject->lane->number << 32 | subject->type->number;
	where = (uint64_t)subject->place << 32 | (subject->caller ^ subject->level << 24);
	/* caller and level share bits: only keys that ask for neither are cached by them */
	c = &s->cache[hash_u64(who * 31 + where) % GROUP_CACHE];
	if (!c->aggregate || c->who != who || c->where != where) {
		c->aggregate = find_group(s, subject);
		c->who = who;
		c->where = where;
	}
	return c->aggregate;
}

static int add_fields(struct statistics *s, struct aggregate *a, const struct event *e)
{
	const struct columns_wanted *w = &s->columns->wanted;

	for (uint32_t i = 0; i < w->field_count; i++) {
		struct field_value v;
		int bad = 0;

		if (!subject_field(e, w->field[i].name, &v))
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

static inline __attribute__((always_inline)) int
add_call(struct statistics *s, const struct call *call, const struct type *type,
	 const struct event *e)
{
	struct aggregate *a = NULL;

	if (s->name_only && call->place < s->by_place_size)
		a = s->by_place[call->place];
	if (__builtin_expect(!a, 0)) {
		struct event copy = e ? *e : (struct event){0};
		struct subject subject = {call->lane,	type,	     e ? &copy : NULL, call->place,
					  call->caller, call->level, call->end};

		a = group_of(s, &subject);
	}
	if (!a || aggregate_call(a, &s->columns->wanted, call->total, call->self, call->recursive,
				 call->end)) {
		s->out_of_memory = true;
		return -1;
	}
	if (__builtin_expect(s->columns->wanted.field_count && e, 0)) {
		struct event copy = *e;

		return add_fields(s, a, &copy);
	}
	return 0;
}

/* A row that is no finished call: an instant, and with the key `type` every row. */
static __attribute__((noinline)) int add_row(struct statistics *s, struct event ev, bool counts)
{
	const struct event *e = &ev;
	const struct stack *stack = calls_stack(&s->calls, e);
	bool enter = e->type->kind == KIND_ENTER;
	size_t open = stack ? stack->count : 0;
	struct subject subject = {.lane = e->lane, .type = e->type, .event = e, .place = e->place,
				  .time = e->time};
	struct aggregate *a;

	/* an enter has pushed its own frame */
	open -= enter && open;
	subject.level = (uint32_t)open + (stack ? stack->implicit : 0);
	subject.caller = open ? stack->frames[open - 1].place : 0;
	a = group_of(s, &subject);
	if (!a)
		return -1;
	if (counts)
		aggregate_instant(a, &s->columns->wanted, e->time);
	return s->columns->wanted.field_count ? add_fields(s, a, e) : 0;
}

static void forget_names(struct statistics *s)
{
	memset(s->cache, 0, GROUP_CACHE * sizeof(*s->cache));
	if (s->by_place)
		memset(s->by_place, 0, s->by_place_size * sizeof(*s->by_place));
	s->symbol_changes = s->dictionary->symbol_changes;
}

int statistics_block(struct statistics *s, const struct block *b)
{
	bool fields = s->columns->wanted.field_count, by_type = s->keys->by_type;
	struct events it;
	struct event e;
	struct call call;

	if (s->symbol_changes != s->dictionary->symbol_changes)
		forget_names(s);
	if (!b->rows)
		return 0;
	s->first = b->base < s->first ? b->base : s->first;
	s->last = b->last > s->last ? b->last : s->last;
	for (uint32_t i = 0; i < b->nlanes; i++)
		s->ticks |= b->lanes[i]->clock->flags & CLOCK_TICKS;
	for (events_begin(&it, b); event_next(&it, &e);) {
		enum calls_result got;
		int bad = 0;

		if (__builtin_expect(e.type->kind == KIND_GAP, 0))
			continue; /* what is missing is counted by END */
		got = calls_feed(&s->calls, &e, &call);
		if (got == CALLS_LEAVE)
			bad = add_call(s, &call, e.type, &e);
		else if (e.type->kind == KIND_INSTANT || e.type->kind == KIND_COUNTER)
			bad = add_row(s, e, true);
		else if (by_type || fields)
			bad = add_row(s, e, by_type);
		if (__builtin_expect(bad || s->calls.out_of_memory, 0))
			return -1;
	}
	return 0;
}

int statistics_finish(struct statistics *s)
{
	/* they have no leave: of a type that has no name */
	const struct type *none = pool_at(&s->dictionary->types, 0);
	struct type closed = *none;
	struct call call;

	closed.kind = KIND_LEAVE;
	while (calls_finish(&s->calls, &call))
		if (!s->keys->by_type && add_call(s, &call, &closed, NULL))
			return -1;
	return s->calls.out_of_memory ? -1 : 0;
}

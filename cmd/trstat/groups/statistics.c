#include "cmd/trstat/groups/statistics.h"

#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d)
{
	*s = (struct statistics){
		.keys = k, .columns = c, .dictionary = d, .first = UINT64_MAX, .last = 0};
	groups_init(&s->groups, k->count, &c->wanted);
	s->groups.whole_stacks = k->whole_stacks;
	calls_init(&s->calls, d);
	s->arguments = statistics_arguments(k, &c->wanted);
	pending_keys_init(&s->entered, k->fields + 2 * s->arguments);
	s->row_mask = statistics_row_mask(s);
	s->name_only = k->count == 1 && k->key[0].what == BY_NAME;
	if (k->needs & NEEDS_STACK) {
		s->stacks = calloc(1, sizeof(*s->stacks));
		if (!s->stacks || call_stacks_init(s->stacks, &s->calls, call_stacks_clean_name))
			return -1;
		s->stacks->tree.keep = true;
	}
	s->cells = calloc(k->held + 2 * s->arguments + 1, sizeof(*s->cells));
	s->cache = calloc(GROUP_CACHE, sizeof(*s->cache));
	return s->cells && s->cache ? 0 : -1;
}

int statistics_pair(struct statistics *s, struct pair *p)
{
	s->pair = p;
	return pair_begin(p, s->keys, s->dictionary, &s->groups);
}

bool statistics_nameless(const struct statistics *s)
{
	const struct keys *k = s->keys;
	bool asked = false;

	for (size_t i = 0; i < k->count; i++)
		asked |= k->key[i].what == BY_NAME || k->key[i].what == BY_CALLER ||
			 k->key[i].what == BY_MODULE || k->key[i].what == BY_STACK;
	for (uint32_t i = 1; asked && !s->nameless && i < s->dictionary->locations.count; i++) {
		const struct location *p = dictionary_location(s->dictionary, i);

		if (p->space && !p->symbol && !p->name.size)
			return true;
	}
	return s->nameless;
}

void statistics_free(struct statistics *s)
{
	groups_free(&s->groups);
	calls_free(&s->calls);
	pending_keys_free(&s->entered);
	if (s->stacks)
		call_stacks_free(s->stacks);
	free(s->stacks);
	free(s->cells);
	free(s->cache);
	free(s->by_location);
	free(s->planned);
}

static void look_at(struct statistics *s, const struct block *b)
{
	if (s->symbol_changes != s->dictionary->symbol_changes)
		statistics_forget_names(s);
	clocks_look(&s->clocks, b);
	s->ticks |= s->clocks.ticks;
}

int statistics_until(struct statistics *s, const struct block *b, struct events *it, uint64_t end)
{
	look_at(s, b);
	for (;;) {
		struct events here = *it;
		struct event e;

		if (!event_next(it, &e))
			return 0;
		if (e.time >= end && end != UINT64_MAX) {
			*it = here;
			return 0;
		}
		s->first = e.time < s->first ? e.time : s->first;
		s->last = e.time > s->last ? e.time : s->last;
		if (s->pair ? statistics_take_pair(s, &e) : statistics_take(s, &e))
			return -1;
	}
}

int statistics_show(struct statistics *s)
{
	if (!s->stacks)
		return 0;
	/* groups may have been merged */
	statistics_forget_names(s);
	return groups_stacks(&s->groups, s->stacks);
}

int statistics_reset(struct statistics *s)
{
	groups_clear(&s->groups);
	statistics_forget_names(s);
	s->first = UINT64_MAX;
	s->last = 0;
	return 0;
}

int statistics_block(struct statistics *s, const struct block *b)
{
	struct events it;
	struct event e;
	int taken;

	look_at(s, b);
	if (!b->rows)
		return 0;
	s->first = b->base < s->first ? b->base : s->first;
	s->last = b->last > s->last ? b->last : s->last;
	events_begin(&it, b);
	while (s->pair && event_next(&it, &e))
		if (statistics_take_pair(s, &e))
			return -1;
	if (s->pair)
		return 0;
	taken = statistics_narrow(s, b, &it);
	if (taken)
		return taken < 0 ? -1 : 0;
	return statistics_take_rows(s, &it);
}

int statistics_event(struct statistics *s, const struct event *e)
{
	struct event copy = *e;

	return statistics_take(s, &copy);
}

int statistics_finish(struct statistics *s)
{
	const struct type *none = pool_at(&s->dictionary->types, 0);
	struct call call;

	while (calls_finish(&s->calls, &call)) {
		/* without a leave, only what the types of enter and leave share is known */
		struct type closed = call.type ? *call.type : *none;

		closed.kind = KIND_LEAVE;
		closed.name = none->name;
		if (!s->keys->by_type && statistics_take_unfinished(s, &call, &closed))
			return -1;
	}
	if (s->stacks && (call_stacks_end(s->stacks) || statistics_show(s)))
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
	pending_keys_free(&s->entered);
	pending_keys_init(&s->entered, fields);
	if (s->stacks)
		call_stacks_forget(s->stacks);
	return 0;
}

/*
 * statistics_groups.c - the group of a row, cached by what the keys depend on
 *
 * Without caches.by_key 'trdecode | trsym | trstat -g caller,name' of t/bench/uftrace.sh takes 1.6
 * times the instructions.
 */
#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"

static struct aggregate *find_group(struct statistics *s, const struct event_ref *subject)
{
	struct aggregate *a = NULL;

	if (!keys_cells(s->keys, s->dictionary, &s->groups.texts, subject, s->cells))
		a = groups_find(&s->groups, s->cells);
	if (!a)
		s->out_of_memory = true;
	return a;
}

static struct aggregate *find_by_location(struct statistics *s, const struct event_ref *subject)
{
	uint32_t location = subject->location;
	struct aggregate **a;

	if (ARRAY_REACH(s->caches.by_location, s->caches.by_location_size, location)) {
		s->out_of_memory = true;
		return NULL;
	}
	a = &s->caches.by_location[location];
	if (!*a)
		*a = find_group(s, subject);
	return *a;
}

/* Returns true if a key depends on more of the row than the caches do. */
static bool is_singular(const struct statistics *s, const struct event_ref *subject)
{
	return !subject->event || s->keys->needs & (NEEDS_EVENT | NEEDS_TIME) ||
	       (s->keys->needs & NEEDS_CPU && !(subject->lane->flags & LANE_HAS_CPU) &&
		field_by_role(subject->type, ROLE_CPU));
}

struct aggregate *statistics_group(struct statistics *s, const struct event_ref *subject)
{
	uint32_t needs = s->keys->needs;
	struct group_key key;
	struct cached_group *c;

	if (s->name_only && subject->location && !subject->syscall)
		return find_by_location(s, subject);
	if (is_singular(s, subject))
		return find_group(s, subject);
	key = (struct group_key){
		.lane = needs & NEEDS_LANE ? subject->lane->number : 0,
		.type = needs & NEEDS_TYPE ? subject->type->number : 0,
		.location = needs & NEEDS_LOCATION ? subject->location : 0,
		.caller = needs & NEEDS_CALLER ? subject->caller : 0,
		.level = needs & NEEDS_LEVEL ? subject->level : 0,
		.stack = subject->stack,
	};
	c = &s->caches.by_key[hash_bytes(&key, sizeof(key), 0) % GROUP_CACHE];
	if (!c->aggregate || memcmp(&c->key, &key, sizeof(key)) != 0) {
		c->aggregate = find_group(s, subject);
		c->key = key;
	}
	return c->aggregate;
}

int statistics_share(struct statistics *s)
{
	const struct groups *g = &s->groups;
	int128 *whole = NULL;
	size_t type = 0, size = 0;

	while (type < s->keys->count && s->keys->key[type].kind != BY_TYPE)
		type++;
	for (size_t i = 0; i < 2 * g->count; i++) {
		struct aggregate *a = groups_at(g, i % g->count);
		const struct key_cell *c = &groups_cells(g, a)[type];
		size_t at = type < s->keys->count && c->kind == KEY_TEXT ? c->text + 1 : 0;

		if (ARRAY_REACH(whole, size, at)) {
			free(whole);
			return -1;
		}
		if (i >= g->count)
			*(int128 *)aggregate_part(a, s->columns->wanted.whole) = whole[at];
		else if (__builtin_add_overflow(whole[at], a->self, &whole[at]))
			whole[at] = INT128_MAX;
	}
	free(whole);
	return 0;
}

void statistics_forget_names(struct statistics *s)
{
	memset(s->caches.by_key, 0, GROUP_CACHE * sizeof(*s->caches.by_key));
	if (s->caches.begun)
		memset(s->caches.begun, 0, GROUP_CACHE * sizeof(*s->caches.begun));
	if (s->caches.by_location)
		memset(s->caches.by_location, 0,
		       s->caches.by_location_size * sizeof(*s->caches.by_location));
	statistics_forget_samples(s);
	s->caches.symbol_changes = s->dictionary->symbol_changes;
}

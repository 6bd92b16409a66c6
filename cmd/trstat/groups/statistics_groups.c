/*
 * statistics_groups.c - the group of a row, found once for each of what the keys look at
 */
#include <stdlib.h>

#include "common/calls/partial_stack.h"
#include "cmd/trstat/groups/statistics_private.h"

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
	struct aggregate **by_place =
		array_reach(s->by_place, &s->by_place_size, place, sizeof(*by_place));

	if (!by_place) {
		s->out_of_memory = true;
		return NULL;
	}
	s->by_place = by_place;
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
		if (!keys_open_cells(s->keys, s->dictionary, &s->groups, subject, s->cells))
			a = bracket_hold(s->bracket, below->number, cut_position(below->kept),
					 subject->open & OPEN_HELD, s->cells);
	}
	if (!a)
		s->out_of_memory = true;
	return a;
}

struct aggregate *statistics_group(struct statistics *s, const struct subject *subject)
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

void statistics_forget_names(struct statistics *s)
{
	memset(s->cache, 0, GROUP_CACHE * sizeof(*s->cache));
	if (s->by_place)
		memset(s->by_place, 0, s->by_place_size * sizeof(*s->by_place));
	s->symbol_changes = s->dictionary->symbol_changes;
}

/*
 * keys_parse.c - parse the list of keys
 */
#include "common/pairs/keys.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/value/units.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
	const char *name;
	enum key_kind kind;
	uint32_t needs;
} names[] = {
	/* the name of an event without a location is that of its type */
	{"name", BY_NAME, NEEDS_LOCATION | NEEDS_TYPE},
	{"type", BY_TYPE, NEEDS_TYPE},
	{"group", BY_GROUP, NEEDS_TYPE},
	{"kind", BY_KIND, NEEDS_TYPE},
	{"input", BY_INPUT, NEEDS_LANE},
	{"buffer", BY_BUFFER, NEEDS_LANE},
	{"tid", BY_TID, NEEDS_LANE},
	{"pid", BY_PID, NEEDS_LANE},
	{"ppid", BY_PPID, NEEDS_LANE},
	{"comm", BY_COMM, NEEDS_LANE},
	{"cpu", BY_CPU, NEEDS_LANE | NEEDS_TYPE | NEEDS_CPU},
	{"module", BY_MODULE, NEEDS_LOCATION},
	{"symkind", BY_SYMKIND, NEEDS_LOCATION},
	{"file", BY_FILE, NEEDS_LOCATION},
	{"line", BY_LINE, NEEDS_LOCATION},
	{"address", BY_ADDRESS, NEEDS_LOCATION},
	{"class", BY_CLASS, NEEDS_LOCATION},
	{"caller", BY_CALLER, NEEDS_CALLER},
	{"depth", BY_DEPTH, NEEDS_LEVEL},
	{"stack", BY_STACK, NEEDS_STACK},
	{"time", BY_TIME, NEEDS_TIME},
	{"dur", BY_DURATION, NEEDS_EVENT | NEEDS_CALL},
	{"self", BY_SELF, NEEDS_EVENT | NEEDS_CALL},
};

bool keys_has_name(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!strcmp(name, names[i].name))
			return true;
	return false;
}

void keys_offer_names(struct nearest *nearest)
{
	for (size_t i = 0; i < COUNT_OF(names); i++)
		nearest_offer(nearest, names[i].name, strlen(names[i].name));
	nearest_offer_words(nearest, "arg.1 ret");
}

int keys_refuse_children(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET,
			 "trstat does not count children: use trfilter 'children > 2' (a field of "
			 "that name is .children)");
}

size_t keys_item_length(const char *list)
{
	size_t n = 0;

	for (int depth = 0; list[n] && (list[n] != ',' || depth > 0); n++)
		depth += list[n] == '(' ? 1 : list[n] == ')' ? -1 : 0;
	return n;
}

static bool is_name(const char *s)
{
	uint64_t index;

	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (*s) {
		size_t size = field_index(s, &index);

		if (!size && !isalnum((unsigned char)*s) && !strchr("_.-:", *s))
			return false;
		s += size ? size : 1;
	}
	return true;
}

static int keys_refuse(const char *name, struct error *e)
{
	struct nearest nearest;

	nearest_begin(&nearest, name, strcspn(name, "("));
	nearest_offer_words(&nearest, "bucket log2 hist");
	return error_set(
		e, NULL, NO_OFFSET,
		"no such key: '%.64s'%s (keys are name type group kind input buffer tid pid "
		"ppid comm cpu module symkind file line address class caller stack depth time "
		"dur self bucket(time,T) bucket(F,N) log2(F) hist(F), and fields of the events)",
		name, nearest_hint(&nearest));
}

/* Parse a plain key: one of the names above, or a field. */
static int parse_plain(struct key *k, const char *name, uint32_t *needs, struct error *e)
{
	bool field = *name == '.';

	if (!strcmp(name, KEYS_CHILDREN))
		return keys_refuse_children(e);
	for (size_t i = 0; !field && i < COUNT_OF(names); i++)
		if (!strcmp(name, names[i].name)) {
			k->kind = names[i].kind;
			*needs |= names[i].needs;
			if (!(names[i].needs & NEEDS_CALL))
				return 0;
			k->field = strdup(name);
			return k->field ? 0 : error_no_memory(e);
		}
	k->quoted = field;
	name += field;
	if (!is_name(name))
		return keys_refuse(k->name, e);
	*needs |= NEEDS_EVENT;
	k->kind = BY_FIELD;
	k->field = strdup(name);
	return k->field ? 0 : error_no_memory(e);
}

static const struct {
	const char *name;
	enum key_transform transform;
} transforms[] = {
	{"bucket(", KEY_BUCKET},
	{"log2(", KEY_LOG2},
	{"hist(", KEY_HIST},
};

/* Parse the width of bucket(F,WIDTH): a time if F is a time, else a number. */
static int parse_width(struct key *k, const char *width, struct error *e)
{
	int64_t ns;

	if (parse_time(width, &ns) || ns <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "no such key: '%s' (a bucket is bucket(time,1s) or bucket(F,64))",
				 k->name);
	k->width = (uint64_t)ns;
	k->unit = time_has_unit(width);
	return 0;
}

/* Parse bucket(F,WIDTH), log2(F), hist(F). */
static int parse_function(struct key *k, char *inside, uint32_t *needs, struct error *e)
{
	size_t n = strlen(inside);
	char *comma;

	if (!n || inside[n - 1] != ')')
		return keys_refuse(k->name, e);
	inside[n - 1] = '\0';
	comma = strchr(inside, ',');
	if ((k->transform == KEY_BUCKET) != (comma != NULL))
		return parse_width(k, "", e);
	if (comma) {
		*comma++ = '\0';
		if (parse_width(k, comma + strspn(comma, " "), e))
			return -1;
	}
	return parse_plain(k, inside, needs, e);
}

/* Parse the alternatives after the first bar of A|B. The key's header is A. */
static int parse_others(struct key *k, char *bar, uint32_t *needs, struct error *e)
{
	char *next;

	for (; bar; bar = next, k = k->other) {
		next = strchr(bar, '|');
		if (next)
			*next++ = '\0';
		k->other = calloc(1, sizeof(*k->other));
		if (!k->other)
			return error_no_memory(e);
		k->other->name = strdup(bar);
		if (!k->other->name)
			return error_no_memory(e);
		if (parse_plain(k->other, bar, needs, e))
			return -1;
		if (k->other->kind == BY_CALLER || k->other->kind == BY_DEPTH ||
		    k->other->kind == BY_STACK)
			return error_set(e, NULL, NO_OFFSET,
					 "'%s' cannot be an alternative of another key", bar);
	}
	return 0;
}

static int parse_key(struct key *k, uint32_t *needs, struct error *e)
{
	char *inside, *bar = strchr(k->name, '|');
	int r;

	if (bar) {
		*bar = '\0';
		if (parse_others(k, bar + 1, needs, e))
			return -1;
	}

	for (size_t i = 0; i < COUNT_OF(transforms); i++) {
		size_t n = strlen(transforms[i].name);

		if (strncmp(k->name, transforms[i].name, n) != 0)
			continue;
		k->transform = transforms[i].transform;
		inside = strdup(k->name + n);
		if (!inside)
			return error_no_memory(e);
		r = parse_function(k, inside, needs, e);
		free(inside);
		return r;
	}
	return parse_plain(k, k->name, needs, e);
}

/* Add an empty key of that name. Returns NULL when out of memory. */
static struct key *add_key(struct keys *k, const char *name, size_t n)
{
	struct key *key = realloc(k->key, (k->count + 1) * sizeof(*key));
	const char **text = realloc(k->names, (k->count + 1) * sizeof(*text));
	char *copy = strndup(name, n);

	if (key)
		k->key = key;
	if (text)
		k->names = text;
	if (!key || !text || !copy) {
		free(copy);
		return NULL;
	}
	key[k->count] = (struct key){.name = copy};
	text[k->count] = copy;
	return &key[k->count++];
}

int keys_parse(struct keys *k, const char *list, struct error *e)
{
	while (*list) {
		size_t n = keys_item_length(list);
		struct key *key = add_key(k, list, n);

		if (!key)
			return error_no_memory(e);
		if (parse_key(key, &key->needs, e))
			return -1;
		k->needs |= key->needs;
		for (size_t i = 0; i + 1 < k->count; i++)
			if (!strcmp(k->names[i], key->name))
				return error_set(e, NULL, NO_OFFSET, "the key '%s' is given twice",
						 key->name);
		k->by_type |= key->kind == BY_TYPE;
		key->begins = key->kind == BY_FIELD;
		k->begins += key->begins;
		list += n;
		if (*list == ',' && !*++list)
			return error_set(e, NULL, NO_OFFSET,
					 "a key is missing after the last comma");
	}
	return 0;
}

/* Returns the event of a pair that a key's prefix names, EITHER without a prefix. */
static enum key_side side_of(const struct key *k)
{
	const char *sides = "abw", *side;

	if (k->quoted || k->kind != BY_FIELD || !*k->field || k->field[1] != '.')
		return KEY_OF_EITHER;
	side = strchr(sides, *k->field);
	return side ? KEY_OF_A + (enum key_side)(side - sides) : KEY_OF_EITHER;
}

/* Resolve the prefix of one key, which is still the name of a field. */
static int resolve_side(struct key *k, const char *end_fields, uint32_t *needs, struct error *e)
{
	k->side = side_of(k);
	if (k->side == KEY_OF_EITHER) {
		if (end_fields && k->kind == BY_FIELD &&
		    !strncmp(k->field, end_fields, strlen(end_fields)))
			k->side = KEY_OF_B;
		if (k->kind == BY_STACK) {
			k->side = KEY_OF_A;
			*needs |= NEEDS_EVENT;
		}
		return 0;
	}
	memmove(k->field, k->field + 2, strlen(k->field) - 1);
	if (*k->field == '.' && is_name(k->field + 1)) {
		memmove(k->field, k->field + 1, strlen(k->field));
		return 0;
	}
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (strcmp(k->field, names[i].name) != 0 || names[i].needs & NEEDS_CALL)
			continue;
		k->kind = names[i].kind;
		*needs |= names[i].needs;
		if (names[i].needs & (NEEDS_CALLER | NEEDS_LEVEL))
			return error_set(e, NULL, NO_OFFSET,
					 "pairs are not calls: they have no caller and no depth");
	}
	return is_name(k->field) ? 0 : keys_refuse(k->name, e);
}

/* Make of the keys tid, pid, comm and stack those of the pair's task. */
static int name_task(struct key *k, const struct pair_task *task, uint32_t *needs, struct error *e)
{
	const char *of_task = k->kind == BY_TID	    ? task->tid
			      : k->kind == BY_PID   ? task->pid
			      : k->kind == BY_COMM  ? task->comm
			      : k->kind == BY_STACK ? task->stack
						    : k->name;
	struct key *rest = k->other;
	char *copy, *others;
	int bad;

	if (of_task == k->name)
		return 0;
	if (!of_task)
		return error_set(e, NULL, NO_OFFSET,
				 "no event of these pairs records the %.64s of their task; use "
				 "a.%.64s or b.%.64s, of one event",
				 k->name, k->name, k->name);
	copy = strdup(of_task);
	if (!copy)
		return error_no_memory(e);
	others = strchr(copy, '|');
	if (others)
		*others++ = '\0';
	k->other = NULL;
	bad = parse_plain(k, copy, needs, e) || parse_others(k, others, needs, e);
	while (k->other)
		k = k->other;
	k->other = rest;
	free(copy);
	return bad ? -1 : 0;
}

int keys_of_pair(struct keys *k, const char *end_fields, const struct pair_task *task,
		 struct error *e)
{
	k->pairs = true;
	k->begins = 0;
	for (size_t i = 0; i < k->count; i++) {
		struct key *key = &k->key[i];

		key->begins = false;
		for (struct key *a = key; a; a = a->other) {
			if ((task && name_task(a, task, &k->needs, e)) ||
			    resolve_side(a, end_fields, &k->needs, e))
				return -1;
			key->begins |= key_begins(a);
			if (a->side == KEY_OF_W && key->other)
				return error_set(e, NULL, NO_OFFSET,
						 "'%s' cannot be an alternative of another key",
						 a->name);
		}
		k->wakers += key->side == KEY_OF_W;
		k->begins += key->begins;
	}
	return 0;
}

bool key_is_time(const struct key *k, const struct clocks *clocks)
{
	switch (k->kind) {
	case BY_TIME: return clocks->times;
	case BY_DURATION:
	case BY_SELF: return clocks_durations(clocks);
	default: return false;
	}
}

int keys_check_clocks(const struct keys *k, const struct clocks *clocks, struct error *e)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct key *key = &k->key[i];
		char width[24];

		if (clocks->ticks && key->unit)
			return error_set(
				e, NULL, NO_OFFSET,
				"the clock counts ticks: use a number without a unit, not '%s'",
				key->name);
		if (key->unit || key->transform != KEY_BUCKET || !key_is_time(key, clocks))
			continue;
		snprintf(width, sizeof width, "%" PRIu64, key->width);
		return time_needs_unit(NULL, key->name, width, e);
	}
	return 0;
}

void keys_free(struct keys *k)
{
	for (size_t i = 0; i < k->count; i++) {
		struct key *other = k->key[i].other, *next;

		for (; other; other = next) {
			next = other->other;
			free(other->name);
			free(other->field);
			free(other);
		}
		free(k->key[i].name);
		free(k->key[i].field);
	}
	free(k->key);
	free(k->names);
}

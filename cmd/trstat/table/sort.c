#include "cmd/trstat/table/sort.h"
#include "common/pairs/keys.h"

#include <stdlib.h>
#include <string.h>

static int sort_resolve(struct sort_key *key, const char *name, const char *const *keys,
			size_t key_count, struct columns *c, struct error *e)
{
	int column;

	for (size_t i = 0; i < c->printed; i++) {
		if (!strcmp(c->column[i].name, name)) {
			key->index = i;
			return 0;
		}
	}
	for (size_t i = 0; i < key_count; i++) {
		if (!strcmp(keys[i], name)) {
			key->index = i;
			key->group_key = true;
			return 0;
		}
	}
	column = columns_find(c, name, e);
	if (column < 0) {
		char reason[sizeof e->what];

		if (!e)
			return -1;
		memcpy(reason, e->what, sizeof reason);
		return error_set(e, NULL, NO_OFFSET, "-s takes columns and keys of -g: %.470s",
				 reason);
	}
	key->index = (size_t)column;
	return 0;
}

int sort_parse(struct sort *s, const char *list, const char *const *keys, size_t key_count,
	       struct columns *c, struct error *e)
{
	for (;;) {
		size_t n = keys_item_length(list);
		bool sign = *list == '+' || *list == '-';
		struct sort_key key = {0}, *grown;
		char *name = strndup(list + sign, n - sign);
		int r;

		if (!name)
			return error_no_memory(e);
		r = sort_resolve(&key, name, keys, key_count, c, e);
		free(name);
		if (r)
			return -1;
		key.descending = sign ? *list == '-' : !key.group_key;
		grown = realloc(s->key, (s->count + 1) * sizeof *grown);
		if (!grown)
			return error_no_memory(e);
		s->key = grown;
		s->key[s->count++] = key;
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

void sort_free(struct sort *s)
{
	free(s->key);
	memset(s, 0, sizeof *s);
}

/* A row with the values of its sort columns, because percentiles are costly to compute. */
struct row {
	const struct aggregate *group;
	const struct column_value *value; /* one for each sort key, unused for group keys */
	size_t place, first;		  /* with together: its place, and that of its value */
};

struct context {
	const struct sort *sort;
	const struct groups *groups;
};

static int compare_values(const struct column_value *a, const struct column_value *b, bool reverse)
{
	if (!a->present || !b->present)
		return b->present - a->present;
	if (a->number != b->number)
		return (a->number < b->number) != reverse ? -1 : 1;
	if (a->fraction != b->fraction)
		return (a->fraction < b->fraction) != reverse ? -1 : 1;
	return 0;
}

static int compare_cells(const struct groups *g, const struct key_cell *a, const struct key_cell *b,
			 bool reverse)
{
	int c = groups_compare(g, a, b);

	if (a->kind == KEY_MISSING || b->kind == KEY_MISSING)
		return c; /* last in either order */
	return reverse ? -c : c;
}

static int compare_rows(const void *pa, const void *pb, void *pc)
{
	const struct row *a = pa, *b = pb;
	const struct context *context = pc;
	const struct groups *g = context->groups;
	const struct key_cell *ka = groups_cells(g, a->group), *kb = groups_cells(g, b->group);
	int c;

	for (size_t i = 0; i < context->sort->count; i++) {
		const struct sort_key *key = &context->sort->key[i];

		if (key->group_key)
			c = compare_cells(g, &ka[key->index], &kb[key->index], key->descending);
		else
			c = compare_values(&a->value[i], &b->value[i], key->descending);
		if (c)
			return c;
	}
	return groups_compare_first(g, a->group, b->group, g->keys);
}

static int compare_together(const void *pa, const void *pb, void *pc)
{
	const struct row *a = pa, *b = pb;
	const struct context *context = pc;
	const struct groups *g = context->groups;
	size_t key = context->sort->together - 1;
	int c = groups_compare(g, &groups_cells(g, a->group)[key], &groups_cells(g, b->group)[key]);

	return c ? c : a->place < b->place ? -1 : a->place > b->place;
}

static int compare_first(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Put sorted rows with one value of the key together, each value at the place of its first row. */
static void put_together(struct row *rows, size_t n, struct context *context)
{
	size_t key = context->sort->together - 1;
	const struct groups *g = context->groups;

	for (size_t i = 0; i < n; i++)
		rows[i].place = i;
	qsort_r(rows, n, sizeof *rows, compare_together, context);
	for (size_t i = 0; i < n; i++) {
		bool same = i && !groups_compare(g, &groups_cells(g, rows[i - 1].group)[key],
						 &groups_cells(g, rows[i].group)[key]);

		rows[i].first = same ? rows[i - 1].first : rows[i].place;
	}
	qsort(rows, n, sizeof *rows, compare_first);
}

const struct aggregate **sort_groups(const struct sort *s, const struct groups *g,
				     const struct columns *c, const struct columns_run *run,
				     struct error *e)
{
	struct context context = {s, g};
	const struct aggregate **sorted = calloc(g->count + 1, sizeof *sorted);
	struct row *rows = calloc(g->count + 1, sizeof *rows);
	struct column_value *values = calloc(g->count * s->count + 1, sizeof *values);

	if (!sorted || !rows || !values) {
		free(sorted);
		free(rows);
		free(values);
		error_no_memory(e);
		return NULL;
	}
	for (size_t i = 0; i < g->count; i++) {
		rows[i].group = groups_at(g, i);
		rows[i].value = &values[i * s->count];
		for (size_t k = 0; k < s->count; k++) {
			if (!s->key[k].group_key)
				values[i * s->count + k] = column_value(
					c, &c->column[s->key[k].index], rows[i].group, run);
		}
	}
	qsort_r(rows, g->count, sizeof *rows, compare_rows, &context);
	if (s->together)
		put_together(rows, g->count, &context);
	for (size_t i = 0; i < g->count; i++)
		sorted[i] = rows[i].group;
	free(rows);
	free(values);
	return sorted;
}

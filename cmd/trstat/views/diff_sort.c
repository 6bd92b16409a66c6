/*
 * diff_sort.c - -s with --diff: by keys, by columns of A, of B, their change, and by the test
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/views/diff_write.h"
#include "common/value/nearest.h"
#include "common/pairs/keys.h"

/* One item of -s: the cell of a row with that number, as diff_names has them. */
struct diff_sort_key {
	size_t cell;
	bool descending;
};

struct diff_order {
	const struct diff *diff;
	struct diff_sort_key *key;
	size_t count;
};

static struct diff_number test_number(const struct diff_row *r, size_t test)
{
	struct diff_number n = {.present = r->tested};

	switch (test) {
	case DIFF_VERDICT:
		n.present = r->verdict != DIFF_SAME;
		n.number = -(int128)r->verdict;
		break;
	case DIFF_EFFECT: n.real = r->test.effect; break;
	case DIFF_SHIFT: n.number = r->shift.middle; break;
	case DIFF_SHIFT_LOW: n.number = r->shift.low; break;
	case DIFF_SHIFT_HIGH: n.number = r->shift.high; break;
	case DIFF_P: n.real = r->p; break;
	}
	return n;
}

struct diff_number diff_number(const struct diff *d, const struct diff_row *r, size_t cell)
{
	size_t printed = 3 * d->a.columns->printed;
	struct diff_value v;
	struct column_value c;

	if (cell >= printed)
		return test_number(r, cell - printed);
	v = diff_value(d, r, cell / 3);
	c = cell % 3 == 0 ? v.a : cell % 3 == 1 ? v.b : v.change;
	return (struct diff_number){.present = c.present, .number = c.number, .real = c.fraction};
}

static int compare_numbers(struct diff_number a, struct diff_number b, bool descending)
{
	int c = a.number != b.number ? (a.number > b.number ? 1 : -1)
				     : (a.real > b.real) - (a.real < b.real);

	if (!a.present || !b.present)
		return b.present - a.present; /* last in either order */
	return descending ? -c : c;
}

static int compare_keys(const struct groups *g, const struct key_cell *a, const struct key_cell *b,
			bool descending)
{
	int c = groups_compare(g, a, b);

	return descending && a->kind != KEY_MISSING && b->kind != KEY_MISSING ? -c : c;
}

static int compare_in_order(const void *x, const void *y, void *ctx)
{
	const struct diff_row *r = x, *s = y;
	const struct diff_order *o = ctx;
	const struct groups *g = &o->diff->groups;

	for (size_t i = 0; i < o->count; i++) {
		const struct diff_sort_key *k = &o->key[i];
		int c;

		if (k->cell < g->keys)
			c = compare_keys(g, &groups_cells(g, r->group)[k->cell],
					 &groups_cells(g, s->group)[k->cell], k->descending);
		else
			c = compare_numbers(diff_number(o->diff, r, k->cell - g->keys),
					    diff_number(o->diff, s, k->cell - g->keys),
					    k->descending);
		if (c)
			return c;
	}
	return groups_compare_first(g, r->group, s->group, g->keys);
}

int diff_find_cell(const struct diff *d, const struct diff_cells *cells, const char *name, size_t n,
		   struct error *e)
{
	const struct columns *c = d->a.columns;
	struct nearest nearest;

	nearest_begin(&nearest, name, n);
	nearest_offer_words(&nearest, cells->words);
	for (size_t i = 0; i < cells->count; i++) {
		if (strlen(cells->names[i]) == n && !memcmp(cells->names[i], name, n))
			return (int)i;
		nearest_offer(&nearest, cells->names[i], strlen(cells->names[i]));
	}
	for (size_t i = 0; i < c->printed; i++) {
		if (strlen(c->column[i].name) == n && !memcmp(c->column[i].name, name, n))
			return (int)(d->groups.keys + 3 * i + 1);
		nearest_offer(&nearest, c->column[i].name, strlen(c->column[i].name));
	}
	return error_set(e, NULL, NO_OFFSET,
			 "%s takes keys of -g, columns such as %s, %s_a and %s_change, shift, "
			 "effect, p and verdict with --diff, not '%.*s'%s",
			 cells->option, c->column[0].name, c->column[0].name, c->column[0].name,
			 (int)(n < 64 ? n : 64), name, nearest_hint(&nearest));
}

static int parse_order(struct diff_order *o, const struct diff_cells *cells, const char *list,
		       struct error *e)
{
	for (;; list++) {
		size_t n = keys_item_length(list);
		bool sign = *list == '+' || *list == '-';
		int cell = diff_find_cell(o->diff, cells, list + sign, n - sign, e);
		struct diff_sort_key *grown;

		if (cell < 0)
			return -1;
		grown = realloc(o->key, (o->count + 1) * sizeof(*grown));
		if (!grown)
			return error_no_memory(e);
		o->key = grown;
		grown[o->count++] = (struct diff_sort_key){
			.cell = (size_t)cell,
			.descending = sign ? *list == '-' : (size_t)cell >= o->diff->groups.keys};
		list += n;
		if (!*list)
			return 0;
	}
}

int diff_sort(struct diff *d, const struct query *q, const char *list, struct error *e)
{
	struct diff_order o = {.diff = d};
	struct diff_cells cells = {.option = "-s", .words = ""};
	int bad;

	cells.names = diff_names(d, q, &cells.count);
	bad = cells.names ? parse_order(&o, &cells, list, e) : error_no_memory(e);

	if (!bad && d->count)
		qsort_r(d->row, d->count, sizeof(*d->row), compare_in_order, &o);
	diff_free_names(cells.names, cells.count);
	free(o.key);
	return bad;
}

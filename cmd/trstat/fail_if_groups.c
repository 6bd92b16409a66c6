/*
 * fail_if_groups.c - the groups that conditions are tested on: the table's, or their own
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/fail_if.h"

/* Returns true if the condition's keys are among k. */
static bool has_condition_keys(struct alarm_column *c, const struct keys *k)
{
	const struct keys *asked = &c->condition.keys;

	if (asked->by_type != k->by_type || (asked->needs ^ k->needs) & NEEDS_STACK)
		return false;
	for (size_t i = 0; i < asked->count; i++) {
		for (c->key[i] = 0; c->key[i] < k->count; c->key[i]++)
			if (!strcmp(k->names[c->key[i]], asked->names[i]))
				break;
		if (c->key[i] == k->count)
			return false;
	}
	return true;
}

/* Returns true if a sample counts in one group only, of those that the condition selects. */
static bool has_frame_keys(const struct alarm_column *c, const struct keys *k)
{
	for (size_t i = 0; i < k->count; i++) {
		size_t j = 0;

		while (j < c->condition.keys.count &&
		       strcmp(k->names[i], c->condition.keys.names[j]) != 0)
			j++;
		if (k->key[i].needs & NEEDS_FRAME && j == c->condition.keys.count)
			return false;
	}
	return true;
}

/* Make own groups of the rows that a condition selects. */
static int begin_statistics(struct alarm_column *c, const struct query *q, struct dictionary *d,
			    const struct keys *keys, const struct condition *where, struct error *e)
{
	c->own = true;
	if (columns_parse(&c->columns, c->name, e))
		return -1;
	if (q->settings->pair && pair_parse(&c->pair, q->settings->pair, e))
		return -1;
	c->statistics = calloc(1, sizeof(*c->statistics));
	if (!c->statistics || statistics_init(c->statistics, keys, &c->columns, d) ||
	    (where->root && statistics_where(c->statistics, where)) ||
	    (q->settings->pair && statistics_pair(c->statistics, &c->pair)))
		return error_no_memory(e);
	statistics_name_stacks(c->statistics, !q->settings->interval);
	return 0;
}

static int begin_own(struct alarm_column *c, const struct query *q, struct dictionary *d,
		     struct error *e)
{
	for (size_t i = 0; i < c->condition.keys.count; i++)
		c->key[i] = i;
	return begin_statistics(c, q, d, &c->condition.keys, &q->where, e);
}

/* Test whether the condition selects at most one of the table's groups. */
static bool selects_one(const struct alarm_column *c, const struct keys *k)
{
	const struct node *n = c->condition.root;

	if (!n)
		return !k->count;
	return k->count == 1 && c->condition.keys.count == 1 &&
	       !strcmp(k->names[0], c->condition.keys.names[0]) && n->kind == NODE_COMPARE &&
	       node_equals_text(n);
}

/* Test whether a column is of calls that need a group of their own. With the key type every row
 * counts, and there are no calls without a leave. */
static bool is_united(const struct alarm_column *c, const struct query *q)
{
	const struct keys *k = &c->condition.keys;

	return c->united && !q->settings->pair && !q->settings->merge && !k->by_type &&
	       !(k->needs & NEEDS_STACK) && !selects_one(c, &q->keys);
}

/* Make a group of all calls that --where and the column's condition select. */
static int begin_united(struct alarm_column *c, const struct query *q, struct dictionary *d,
			struct error *e)
{
	static const struct keys none;
	const char *where = q->settings->where;
	char *both = NULL;
	int bad = 0;

	if (c->text && where && asprintf(&both, "(%s) && (%s)", where, c->text) < 0)
		return error_no_memory(e);
	if (c->text || where)
		bad = condition_parse_text(&c->selected, both ? both : where ? where : c->text, e);
	free(both);
	return bad || begin_statistics(c, q, d, &none, &c->selected, e) ? -1 : 0;
}

int alarms_begin(struct alarms *all, struct query *q, struct dictionary *d, struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];
		int column;

		if (q->settings->pair && pair_keys(&q->pair, &c->condition.keys, e))
			return -1;
		c->key = calloc(c->condition.keys.count + 1, sizeof(*c->key));
		if (!c->key)
			return error_no_memory(e);
		c->united = is_united(c, q);
		if (c->united) {
			if (begin_united(c, q, d, e))
				return -1;
			continue;
		}
		if (!has_condition_keys(c, &q->keys)) {
			if (begin_own(c, q, d, e) || query_check_pairs(q, &c->columns, e))
				return -1;
			continue;
		}
		column = columns_find(&q->columns, c->name, e);
		if (column < 0 || query_check_pairs(q, &q->columns, e))
			return -1;
		c->column = (size_t)column;
	}
	return 0;
}

int alarms_begin_samples(struct alarms *all, struct query *q, struct dictionary *d, struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];
		int column;

		if (c->united) {
			/* a sample counts as with the condition's keys */
			statistics_free(c->statistics);
			free(c->statistics);
			c->statistics = NULL;
			columns_free(&c->columns);
			c->columns = (struct columns){0};
			c->united = false;
			if (begin_own(c, q, d, e))
				return -1;
		}
		if (c->own)
			continue;
		if (!has_condition_keys(c, &q->keys) || !has_frame_keys(c, &q->keys)) {
			c->column = 0;
			if (begin_own(c, q, d, e))
				return -1;
			continue;
		}
		column = columns_find(&q->columns, c->name, e);
		if (column < 0)
			return -1;
		c->column = (size_t)column;
	}
	return 0;
}

int alarms_check_samples(const struct alarms *all, const struct query *q,
			 const struct statistics *st, struct error *e)
{
	if (!st->samples.type)
		return 0;
	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];
		const struct sample_counts *own = c->own ? &c->statistics->samples : NULL;

		if (!own && !has_frame_keys(c, &q->keys))
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': a sample counts in a group for each of "
					 "its functions; %s a key without functions, such as -g "
					 "comm",
					 c->name,
					 q->settings->merge ? "write the summaries with" : "use");
		if (own && own->other && (c->unit == UNIT_DURATION || c->unit == UNIT_PERCENT))
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': weights of samples of '%.100s' and of "
					 "'%.100s' are not added; choose a type: '%s(type == "
					 "\"%.100s\")'",
					 c->name, own->type, own->other, c->name, own->type);
	}
	return 0;
}

int alarms_check_keys(const struct alarms *all, struct error *e)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];

		if (!c->own)
			continue;
		if (!c->condition.keys.count)
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': the summaries have the key type or "
					 "stack; write them without",
					 c->name);
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if '%s': the summaries are not by its key '%s'; write "
				 "them with -g",
				 c->name, c->condition.keys.names[0]);
	}
	return 0;
}

/* Returns true if a condition compares a key with a text by == or in. */
static bool names_key(const struct node *n)
{
	if (n->kind == NODE_NOT)
		return false;
	for (size_t i = 0; i < n->nchildren; i++)
		if (names_key(n->children[i]))
			return true;
	return node_equals_text(n);
}

/* Returns true for a key that is a name or a type. */
static bool is_name(const struct key *k)
{
	return k->kind == BY_NAME || k->kind == BY_TYPE;
}

bool alarm_column_unmatched(const struct alarm_column *c)
{
	bool named = c->condition.root && names_key(c->condition.root);

	for (size_t k = 0; k < c->condition.keys.count; k++)
		named |= is_name(&c->condition.keys.key[k]);
	return named && !c->matched;
}

/* Write some texts that groups have as a key of the condition: a name, else the first. */
static void list_texts(const struct alarm_column *c, const struct statistics *st, char *out,
		       size_t size)
{
	const struct keys *keys = &c->condition.keys;
	size_t key = 0, used = 0;

	while (key + 1 < keys->count && !is_name(&keys->key[key]))
		key++;
	key = is_name(&keys->key[key]) ? c->key[key] : c->key[0];
	*out = '\0';
	for (size_t i = 0; i < st->groups.count; i++) {
		const struct groups *g = &st->groups;
		const struct key_cell *cell = &groups_cells(g, groups_at(g, i))[key];
		const char *text;
		char quoted[48];
		size_t n;

		if (cell->kind != KEY_TEXT || !groups_cell_text(g, cell, &text, &n) || !n)
			continue;
		snprintf(quoted, sizeof quoted, " %.*s,", n < 40 ? (int)n : 40, text);
		if (used + strlen(quoted) < size && !strstr(out, quoted))
			used += (size_t)snprintf(out + used, size - used, "%s", quoted);
	}
	if (used)
		out[used - 1] = '\0';
}

bool alarms_report_unmatched(const struct alarms *all, const struct statistics *st)
{
	bool names = false;

	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];
		bool nameless = statistics_nameless(st);
		char some[160] = "";

		if (!alarm_column_unmatched(c))
			continue;
		if (!nameless)
			list_texts(c, st, some, sizeof some);
		warn(NULL, NO_OFFSET,
		     "--fail-if '%s': no group of the summaries matches its condition%s%s%s",
		     c->name, *some ? "; there are" : "", some,
		     nameless ? "; functions have no names: run trsym before trstat --partial"
			      : "");
		names |= c->condition.root && names_key(c->condition.root);
	}
	return names;
}

int alarms_block(struct alarms *all, const struct block *b)
{
	for (size_t i = 0; i < all->ncolumns; i++)
		if (all->column[i].own && statistics_block(all->column[i].statistics, b))
			return -1;
	return 0;
}

int alarms_until(struct alarms *all, const struct block *b, struct events it, uint64_t end)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct events here = it;

		if (all->column[i].own &&
		    statistics_until(all->column[i].statistics, b, &here, end))
			return -1;
	}
	return 0;
}

int alarms_window(struct alarms *all, const struct block *b, uint64_t since, uint64_t until)
{
	for (size_t i = 0; i < all->ncolumns; i++)
		if (all->column[i].own &&
		    statistics_window(all->column[i].statistics, b, since, until))
			return -1;
	return 0;
}

int alarms_each(struct alarms *all, int (*f)(struct statistics *s))
{
	for (size_t i = 0; i < all->ncolumns; i++)
		if (all->column[i].own && f(all->column[i].statistics))
			return -1;
	return 0;
}

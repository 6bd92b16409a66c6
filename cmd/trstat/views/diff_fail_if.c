#include "cmd/trstat/views/diff_fail_if.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/table/format.h"
#include "common/expr/evaluate.h"

enum { NAMED_GROUPS = 3 }; /* groups that a message names */

enum column_of_three { CELL_A, CELL_B, CELL_CHANGE };

/* Returns the number of the test's cell, or -1 for a column. */
static int test_of(const struct diff *d, size_t cell)
{
	size_t columns = 3 * d->a.columns->printed;

	return cell < columns ? -1 : (int)(cell - columns);
}

static enum column_unit unit_of(const struct diff *d, size_t cell)
{
	switch (test_of(d, cell)) {
	case DIFF_SHIFT:
	case DIFF_SHIFT_LOW:
	case DIFF_SHIFT_HIGH: return d->a.columns->weights ? UNIT_NUMBER : UNIT_DURATION;
	case -1: return column_unit(&d->a.columns->column[cell / 3]);
	default: return UNIT_NUMBER;
	}
}

/* --- parsing --- */

/* Refuse a word of --fail-if in a condition. Returns -1. */
static int refuse_word(struct lexer *l, const struct operand *o)
{
	return lexer_error(l, o->column,
			   "--fail-if takes the word '%s' alone; a condition compares the verdict, "
			   "as in 'verdict == \"%s\" && total_b > 1ms'",
			   o->name, strcmp(o->name, "changed") ? o->name : "slower");
}

static int parse_cell(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	const struct diff_alarms *all = ctx;
	const struct diff *d = all->diff;
	int cell = diff_find_cell(d, &all->cells, o->name, strlen(o->name), l->error);
	enum column_unit unit;
	size_t at;

	if (cell < 0)
		return diff_fail_if(&(struct diff_options){0}, o->name) ? refuse_word(l, o) : -1;
	if (!quoted && l->token.kind == TOKEN_OPEN)
		return lexer_error(l, l->token.column,
				   "with --diff a condition on keys is joined with &&, as in 'name "
				   "== \"commit\" && p99_change > 10%%'");
	o->field = (unsigned)cell;
	if ((size_t)cell < d->groups.keys)
		return 0;
	at = (size_t)cell - d->groups.keys;
	unit = unit_of(d, at);
	o->form = test_of(d, at) == DIFF_VERDICT ? KNOWN_TEXT : KNOWN_NUMBER;
	o->of_time = unit == UNIT_DURATION || unit == UNIT_TIME;
	o->of_percent = test_of(d, at) < 0 && (unit == UNIT_PERCENT || at % 3 == CELL_CHANGE);
	return 0;
}

static int check_leaf(struct lexer *l, struct node *n, size_t column)
{
	bool time = !n->nfields;

	for (size_t i = 0; i < n->nfields; i++)
		time |= n->fields[i]->of_time || n->fields[i]->form == KNOWN_NOTHING;
	if (n->time_unit && !time)
		return lexer_error(l, column, "%s is not a time", n->fields[0]->name);
	return fail_if_check_leaf(l, n, column);
}

static const struct language language = {
	.field = parse_cell,
	.leaf = check_leaf,
	.no_calls = "under() and over() are trfilter's, which belongs before this program then",
};

int diff_alarms_parse(struct diff_alarms *all, const struct diff *d, const struct query *q,
		      const char *const *text, size_t count, struct error *e)
{
	struct language of_cells = language;
	bool ticks = d->a.statistics->ticks || d->b.statistics->ticks;

	*all = (struct diff_alarms){.diff = d, .text = text};
	all->cells = (struct diff_cells){.option = "--fail-if",
					 .words = "changed slower faster new gone"};
	all->cells.names = diff_names(d, q, &all->cells.count);
	all->condition = calloc(count + 1, sizeof(struct node *));
	if (!all->cells.names || !all->condition)
		return error_no_memory(e);
	of_cells.ctx = all;
	while (all->count < count) {
		struct node *n = expression_parse(text[all->count], &of_cells, e);

		if (!n)
			return -1;
		all->condition[all->count++] = n;
		if (n->time_unit && ticks)
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if: the clock counts ticks: use numbers without "
					 "a unit");
		if (!ticks && expression_check_times(n, "--fail-if", NULL, NULL, e))
			return -1;
	}
	return 0;
}

void diff_alarms_free(struct diff_alarms *all)
{
	for (size_t i = 0; i < all->count; i++)
		expression_free(all->condition[i], &language);
	free(all->condition);
	diff_free_names(all->cells.names, all->cells.count);
	*all = (struct diff_alarms){0};
}

/* --- judging --- */

/* Returns a change in percent of the value in A. */
static struct scalar share_of(const struct diff *d, const struct diff_row *r, size_t cell)
{
	struct diff_number a = diff_number(d, r, cell / 3 * 3), change = diff_number(d, r, cell);
	struct scalar s = {.form = SCALAR_REAL};

	if (!a.present || !change.present)
		s.form = SCALAR_NONE;
	else if (change.number)
		s.real = (long double)change.number * 100 / (long double)a.number;
	return s;
}

static void give_cell(void *ctx, struct operand *o, struct scalar *s)
{
	const struct diff_alarms *all = ctx;
	const struct diff *d = all->diff;
	const struct key_cell *keys = groups_cells(&d->groups, all->row->group);
	struct diff_number n;
	size_t cell;

	if (o->field < d->groups.keys) {
		*s = condition_scalar(&d->groups.texts, &keys[o->field], false);
		return;
	}
	cell = o->field - d->groups.keys;
	n = diff_number(d, all->row, cell);
	if (!n.present)
		return;
	if (test_of(d, cell) == DIFF_VERDICT) {
		s->form = SCALAR_TEXT;
		s->text = diff_verdict_name(all->row->verdict);
		s->size = strlen(s->text);
	} else if (test_of(d, cell) == DIFF_EFFECT || test_of(d, cell) == DIFF_P) {
		*s = (struct scalar){.form = SCALAR_REAL, .real = n.real};
	} else if (o->percent && cell % 3 == CELL_CHANGE) {
		*s = share_of(d, all->row, cell);
	} else {
		*s = column_scalar(unit_of(d, cell), n.number);
	}
}

/* Append the keys of a row, separated by commas. */
static void append_keys(struct buffer *to, const struct diff *d, const struct diff_row *r)
{
	const struct key_cell *keys = groups_cells(&d->groups, r->group);

	for (size_t i = 0; i < d->groups.keys; i++) {
		char number[VALUE_SIZE];
		const char *text = "";
		size_t size = 0;

		if (keys[i].kind != KEY_MISSING &&
		    !groups_cell_text(&d->groups, &keys[i], &text, &size)) {
			size = format_key(number, &keys[i]);
			text = number;
		}
		buffer_append(to, i ? "," : " ", 1);
		buffer_append(to, text, size < 100 ? size : 100);
	}
}

/* Returns the key that a leaf tests alone, other than for being different; NULL: none. */
static const struct operand *key_of_leaf(const struct diff *d, const struct node *n)
{
	bool excludes = n->kind == NODE_COMPARE ? n->comparison == COMPARE_NE : n->negated;

	return n->nfields == 1 && n->fields[0]->field < d->groups.keys && !excludes ? n->fields[0]
										    : NULL;
}

/* Warn of tests of keys that are false for all rows. Returns true if one is a comparison with a
 * text by == or in. */
static bool warn_unmatched(struct diff_alarms *all, const char *text, struct node *n)
{
	const struct expression_values values = {.field = give_cell, .ctx = all};
	const struct operand *key = n->nchildren ? NULL : key_of_leaf(all->diff, n);
	bool names = false;

	for (size_t i = 0; i < n->nchildren && n->kind != NODE_NOT; i++)
		names |= warn_unmatched(all, text, n->children[i]);
	for (size_t i = 0; key && i < all->diff->count; i++) {
		all->row = &all->diff->row[i];
		if (expression_leaf(&values, n))
			return false;
	}
	if (key)
		warn(NULL, NO_OFFSET, "--fail-if '%s': no group matches its condition on %s", text,
		     key->name);
	return names || (key && node_equals_text(n));
}

/* Returns true if the condition does not exclude the row by its keys: no leaf that is joined by &&
 * and tests keys alone is false. */
static bool selects(struct diff_alarms *all, struct node *n)
{
	const struct expression_values values = {.field = give_cell, .ctx = all};

	for (size_t i = 0; n->kind == NODE_AND && i < n->nchildren; i++)
		if (!selects(all, n->children[i]))
			return false;
	return n->nchildren || !key_of_leaf(all->diff, n) || expression_leaf(&values, n);
}

/* Answer a condition on a row; ANSWER_LATER: it depends on a column that the row has no value of.
 */
static enum answer answer_row(void *values, struct node *n)
{
	const struct expression_values *v = values;
	const struct diff_alarms *all = v->ctx;
	bool lacks = false;

	if (expression_joined(n))
		return expression_join(n, answer_row, values);
	for (size_t i = 0; i < n->nfields && n->kind != NODE_HAS; i++) {
		struct scalar s = {.form = SCALAR_NONE};

		if (n->fields[i]->field < all->diff->groups.keys)
			continue;
		give_cell(v->ctx, n->fields[i], &s);
		lacks |= s.form == SCALAR_NONE;
	}
	return lacks ? ANSWER_LATER : expression_leaf(v, n) ? ANSWER_YES : ANSWER_NO;
}

/* Returns true if the condition is decided for no row: each row that it may be true for lacks a
 * value of a column. */
static bool lacks_values(struct diff_alarms *all, struct node *n)
{
	const struct expression_values values = {.field = give_cell, .ctx = all};
	bool rows = false;

	for (size_t i = 0; i < all->diff->count; i++) {
		enum answer is;

		all->row = &all->diff->row[i];
		is = answer_row((void *)(uintptr_t)&values, n);
		rows |= is == ANSWER_LATER;
		/* false for its values, not for its keys */
		if (is == ANSWER_NO && selects(all, n))
			return false;
	}
	return rows || !all->diff->count;
}

bool diff_alarms_judge(struct diff_alarms *all, bool *undecided)
{
	const struct expression_values values = {.field = give_cell, .ctx = all};
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		struct buffer named = {0};
		size_t n = 0;

		for (size_t k = 0; k < all->diff->count; k++) {
			all->row = &all->diff->row[k];
			if (answer_row((void *)(uintptr_t)&values, all->condition[i]) != ANSWER_YES)
				continue;
			if (n++ < NAMED_GROUPS)
				append_keys(&named, all->diff, all->row);
			else if (n == NAMED_GROUPS + 1)
				buffer_append(&named, " ...", 4);
		}
		any |= n > 0;
		if (!n && warn_unmatched(all, all->text[i], all->condition[i])) {
			*undecided = true;
		} else if (!n && lacks_values(all, all->condition[i])) {
			*undecided = true;
			warn(NULL, NO_OFFSET,
			     "--fail-if '%s': no group has the values that are compared",
			     all->text[i]);
		}
		if (n)
			warn(NULL, NO_OFFSET, "%s is true for %zu of %zu group%s:%.*s",
			     all->text[i], n, all->diff->count, all->diff->count == 1 ? "" : "s",
			     (int)named.size, named.data ? (const char *)named.data : "");
		buffer_free(&named);
	}
	return any;
}

bool diff_warn_nameless(const struct diff *d, char **paths)
{
	bool a = statistics_nameless(d->a.statistics), b = statistics_nameless(d->b.statistics);

	if (a == b)
		return false;
	warn(paths[b], NO_OFFSET,
	     "some functions have an address but no name, unlike those of %s: run trsym before "
	     "this program",
	     paths[a]);
	return true;
}

bool diff_warn_few(const struct diff *d, const struct diff_options *o, bool needed, bool quiet)
{
	if (needed && !d->tested)
		warn(NULL, NO_OFFSET,
		     "no group has times in both traces: none is slower or faster");
	else if (d->tested && (d->few == d->tested || (needed && d->few && !quiet)))
		warn(NULL, NO_OFFSET,
		     "%zu of %zu group%s with times %s too few calls for a verdict with --alpha "
		     "%g; --fail-if tests changes too, such as 'p99_change > 10%%'",
		     d->few, d->tested, d->tested == 1 ? "" : "s", d->few == 1 ? "has" : "have",
		     diff_alpha_of(o));
	return needed && d->few == d->tested;
}

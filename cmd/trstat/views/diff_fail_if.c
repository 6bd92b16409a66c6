#include "cmd/trstat/views/diff_fail_if.h"

#include <stdio.h>
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
	if ((size_t)cell < d->groups.keys) {
		o->words = condition_words(&d->a.statistics->keys->key[cell]);
		o->form = o->words ? KNOWN_TEXT : KNOWN_NOTHING;
		return 0;
	}
	at = (size_t)cell - d->groups.keys;
	unit = unit_of(d, at);
	o->words = test_of(d, at) == DIFF_VERDICT ? diff_verdicts : NULL;
	o->form = o->words ? KNOWN_TEXT : KNOWN_NUMBER;
	o->of_time = unit == UNIT_DURATION || unit == UNIT_TIME;
	o->may_be_time = test_of(d, at) < 0 && column_may_be_time(&d->a.columns->column[at / 3]);
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

/* Add the words of --fail-if, which test verdicts. */
static void add_words(struct diff_alarms *all, const struct diff_options *o)
{
	const uint32_t any = ~(UINT32_MAX << DIFF_VERDICTS) & ~(1u << DIFF_SAME);

	for (int v = DIFF_SAME; v < DIFF_VERDICTS; v++)
		if (o->fail_if >> v & 1)
			all->alarm[all->count++] =
				(struct diff_alarm){.text = diff_fail_if_word(v),
						    .verdicts = v == DIFF_SAME ? any : 1u << v};
}

int diff_alarms_parse(struct diff_alarms *all, const struct diff *d, const struct query *q,
		      const struct diff_options *o, struct error *e)
{
	struct language of_cells = language;
	bool ticks = d->a.statistics->ticks || d->b.statistics->ticks;

	*all = (struct diff_alarms){.diff = d, .options = o};
	all->cells = (struct diff_cells){.option = "--fail-if",
					 .words = "changed slower faster new gone"};
	all->cells.names = diff_names(d, q, &all->cells.count);
	all->alarm = calloc(o->conditions + DIFF_VERDICTS, sizeof(*all->alarm));
	if (!all->cells.names || !all->alarm)
		return error_no_memory(e);
	add_words(all, o);
	of_cells.ctx = all;
	for (size_t i = 0; i < o->conditions; i++) {
		struct node *n = expression_parse(o->condition[i], &of_cells, e);

		if (!n)
			return -1;
		all->alarm[all->count++] = (struct diff_alarm){o->condition[i], n, 0};
		if (expression_check_clock(n, "--fail-if", ticks, NULL, NULL, e))
			return -1;
	}
	return 0;
}

void diff_alarms_free(struct diff_alarms *all)
{
	for (size_t i = 0; i < all->count; i++)
		expression_free(all->alarm[i].condition, &language);
	free(all->alarm);
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
	else if (change.number || change.real != 0)
		s.real = (long double)number_real(change.number, change.real) * 100 /
			 number_real(a.number, a.real);
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
	if (test_of(d, cell) == DIFF_VERDICT) {
		s->form = SCALAR_TEXT;
		s->text = diff_verdicts[all->row->verdict];
		s->size = strlen(s->text);
		return;
	}
	n = diff_number(d, all->row, cell);
	if (!n.present)
		return;
	if (test_of(d, cell) == DIFF_EFFECT || test_of(d, cell) == DIFF_P) {
		*s = (struct scalar){.form = SCALAR_REAL, .real = n.real};
	} else if (o->percent && cell % 3 == CELL_CHANGE) {
		*s = share_of(d, all->row, cell);
	} else {
		*s = column_scalar(unit_of(d, cell), (struct column_value){true, n.number, n.real});
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

/* Returns whether a leaf, or (NULL) a word, is true for the row. */
static bool leaf_holds(const struct expression_values *v, const struct node *n)
{
	const struct diff_alarms *all = v->ctx;

	return n ? expression_leaf(v, n) : all->verdicts >> all->row->verdict & 1;
}

/* The same as if the row had that verdict and that p. */
static bool leaf_would_hold(const struct expression_values *v, const struct node *n,
			    enum diff_verdict verdict, double p)
{
	struct diff_alarms *all = v->ctx;
	const struct diff_row *row = all->row;
	struct diff_row other = *row;
	bool holds;

	other.verdict = verdict;
	other.p = p;
	all->row = &other;
	holds = leaf_holds(v, n);
	all->row = row;
	return holds;
}

/* Returns why the test of the row's times does not decide a leaf: too few calls for a verdict, or
 * for such a p. A row that has no test does not decide whether groups are slower or faster. */
static enum diff_lack lack_of_test(const struct expression_values *v, const struct node *n)
{
	const struct diff_alarms *all = v->ctx;
	const struct diff_row *r = all->row;
	bool same = leaf_would_hold(v, n, DIFF_SAME, r->p),
	     slower = leaf_would_hold(v, n, DIFF_SLOWER, r->p),
	     faster = leaf_would_hold(v, n, DIFF_FASTER, r->p);

	if (r->tested && !diff_can_judge(r, all->options) && (slower != same || faster != same))
		return LACKS_CALLS;
	if (!all->deciding || leaf_holds(v, n))
		return LACKS_NOTHING;
	if (r->tested)
		return leaf_would_hold(v, n, r->verdict, 0) &&
				       !leaf_would_hold(v, n, r->verdict, r->p_least)
			       ? LACKS_CALLS_FOR_P
			       : LACKS_NOTHING;
	return (slower || faster) && !leaf_would_hold(v, n, DIFF_NEW, r->p) &&
			       !leaf_would_hold(v, n, DIFF_GONE, r->p)
		       ? LACKS_TIMES
		       : LACKS_NOTHING;
}

/* Answer a condition, or (NULL) a word, on a row; ANSWER_LATER: it depends on a column that the row
 * has no value of, or on more calls. */
static enum answer answer_row(void *values, struct node *n)
{
	const struct expression_values *v = values;
	struct diff_alarms *all = v->ctx;
	enum diff_lack lack;

	if (n && expression_joined(n))
		return expression_join(n, answer_row, values);
	for (size_t i = 0; n && i < n->nfields && n->kind != NODE_HAS; i++) {
		struct scalar s = {.form = SCALAR_NONE};

		if (n->fields[i]->field < all->diff->groups.keys)
			continue;
		give_cell(all, n->fields[i], &s);
		if (s.form == SCALAR_NONE)
			return ANSWER_LATER;
	}
	lack = lack_of_test(v, n);
	if (!lack)
		return leaf_holds(v, n) ? ANSWER_YES : ANSWER_NO;
	all->lack = lack > all->lack ? lack : all->lack;
	return ANSWER_LATER;
}

/* Returns true if the condition is decided for no row: each row that it may be true for lacks a
 * value of a column, or calls. */
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
		if (is == ANSWER_NO && (!n || selects(all, n)))
			return false;
	}
	return rows || !all->diff->count;
}

/* Warn that groups have too few calls for a verdict. before: what the line begins with. */
static void warn_few(const struct diff_alarms *all, const char *before)
{
	const struct diff *d = all->diff;

	warn(NULL, NO_OFFSET,
	     "%s%zu of %zu group%s with times %s too few calls for a verdict with --alpha %g; "
	     "--fail-if tests changes too, such as 'p99_change > 10%%'",
	     before, d->few, d->tested, d->tested == 1 ? "" : "s", d->few == 1 ? "has" : "have",
	     diff_alpha_of(all->options));
}

/* Warn that a word or a condition could be true for no row; that of words only once. */
static void warn_undecided(struct diff_alarms *all, const struct diff_alarm *a)
{
	char before[200] = "";

	if (!a->condition && all->few_reported)
		return;
	all->few_reported |= !a->condition || all->lack == LACKS_CALLS;
	if (a->condition)
		snprintf(before, sizeof before, "--fail-if '%.170s': ", a->text);
	if (all->lack == LACKS_CALLS)
		warn_few(all, before);
	else
		warn(NULL, NO_OFFSET, "%s%s", before,
		     !all->diff->count		      ? "neither trace has a group"
		     : all->lack == LACKS_CALLS_FOR_P ? "no group has enough calls for this p"
		     : all->lack && all->diff->tested
			     ? "no group that is compared has times in both traces"
		     : all->lack || !a->condition
			     ? "no group has times in both traces: none is slower or faster"
			     : "no group has the values that are compared");
}

/* Judge a word or a condition. Returns the answer, ANSWER_LATER: no row decides it. */
static enum answer judge(struct diff_alarms *all, const struct diff_alarm *a)
{
	const struct expression_values values = {.field = give_cell, .ctx = all};
	struct buffer named = {0};
	size_t n = 0;

	all->verdicts = a->verdicts;
	all->deciding = false;
	for (size_t k = 0; k < all->diff->count; k++) {
		all->row = &all->diff->row[k];
		if (answer_row((void *)(uintptr_t)&values, a->condition) != ANSWER_YES)
			continue;
		if (n++ < NAMED_GROUPS)
			append_keys(&named, all->diff, all->row);
		else if (n == NAMED_GROUPS + 1)
			buffer_append(&named, " ...", 4);
	}
	if (n)
		warn(NULL, NO_OFFSET, "%s is true for %zu of %zu group%s:%.*s", a->text, n,
		     all->diff->count, all->diff->count == 1 ? "" : "s", (int)named.size,
		     named.data ? (const char *)named.data : "");
	buffer_free(&named);
	if (n)
		return ANSWER_YES;
	if (a->condition && warn_unmatched(all, a->text, a->condition))
		return ANSWER_LATER;
	all->deciding = true;
	all->lack = LACKS_NOTHING;
	if (!lacks_values(all, a->condition))
		return ANSWER_NO;
	warn_undecided(all, a);
	return ANSWER_LATER;
}

bool diff_alarms_judge(struct diff_alarms *all, bool *undecided)
{
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		enum answer is = judge(all, &all->alarm[i]);

		any |= is == ANSWER_YES;
		*undecided |= is == ANSWER_LATER;
	}
	return any;
}

void diff_warn_few(const struct diff_alarms *all)
{
	const struct diff *d = all->diff;
	bool words = all->options->fail_if & (1u << DIFF_SLOWER | 1u << DIFF_FASTER);

	if (!all->few_reported && d->few && (words || d->few == d->tested))
		warn_few(all, "");
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

/*
 * fail_if.c - --fail-if 'p99(name == "commit") > 5ms': conditions that give exit status 3
 */
#include "cmd/trstat/fail_if.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/table.h"
#include "common/expr/declared.h"
#include "common/expr/expression.h"
#include "common/pairs/pair.h"
#include "common/util/intern.h"

static int check_columns(const struct declared *check, const struct columns *c, struct error *e)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++)
		if (!keys_has_name(c->wanted.field[i].name) &&
		    declared_field(check, c->wanted.field[i].name, false, e))
			return -1;
	return 0;
}

/* Check the keys and columns of the table. The keys of a preset have alternatives for the events of
 * several recorders. */
static int check_table(const struct declared *check, const struct query *q, struct error *e)
{
	return ((!q->settings->pair || q->settings->keys) &&
		keys_check_names(check, &q->keys, e)) ||
			       check_columns(check, &q->columns, e)
		       ? -1
		       : 0;
}

/* Check what chooses the events that count. */
static int fail_if_check_selection(struct declared *check, const struct query *q, struct error *e)
{
	return (q->settings->pair && !q->pair.preset && pair_check_names(check, &q->pair, e)) ||
			       condition_check_names(check, &q->where, e)
		       ? -1
		       : 0;
}

/* Check a column of --fail-if: its condition and its field. */
static int check_alarm(struct declared *check, struct alarm_column *c, const struct query *q,
		       struct error *e)
{
	const struct columns *columns = c->own ? &c->columns : &q->columns;
	const struct column *column = &columns->column[c->column];
	uint32_t remarks = check->warned->count;
	int bad = condition_check_names(check, &c->condition, e);

	if (!bad && column->type->flags & COLUMN_OF_FIELD) {
		const char *field = columns->wanted.field[column->field].name;

		bad = q->settings->pair && keys_has_name(field) ? 0
								: key_check_name(check, field, e);
	}
	c->remarked = check->warned->count > remarks;
	return bad;
}

int check_names_of(struct stage *stage, const char *file, const struct query *q,
		   struct alarms *alarms, struct error *e)
{
	struct intern warned = {0};
	struct declared check = {.dictionary = &stage->in.dictionary,
				 .offer = keys_offer_names,
				 .warned = &warned,
				 .file = file,
				 .partial = stage->status != STATUS_OK,
				 .quiet = stage->options->quiet};
	struct error absent = {.what = ""};
	int bad;

	if (stage_part(stage))
		return 0;
	if (alarms && alarms->count && !check.partial && !q->settings->empty_ok)
		check.absent = &absent;
	bad = fail_if_check_selection(&check, q, e);
	check.quiet = false; /* what concerns an alarm is printed with -q too */
	for (size_t i = 0; alarms && i < alarms->ncolumns && !bad; i++)
		bad = check_alarm(&check, &alarms->column[i], q, e);
	check.quiet = stage->options->quiet;
	check.absent = NULL;
	if (!bad && !absent.what[0])
		bad = check_table(&check, q, e);
	intern_free(&warned);
	if (!bad && absent.what[0]) {
		*e = absent;
		return -1;
	}
	return bad ? -1 : 0;
}

int check_names(struct stage *stage, const struct query *q, struct alarms *alarms)
{
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	return check_names_of(stage, NULL, q, alarms, &e) ? stage_fail(stage, &e) : 0;
}

/* --- the groups that conditions are tested on: the table's, or their own --- */

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
static int fail_if_begin_statistics(struct alarm_column *c, const struct query *q,
				    struct dictionary *d, const struct keys *keys,
				    const struct condition *where, struct error *e)
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
	return fail_if_begin_statistics(c, q, d, &c->condition.keys, &q->where, e);
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
	return bad || fail_if_begin_statistics(c, q, d, &none, &c->selected, e) ? -1 : 0;
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
static bool fail_if_is_name(const struct key *k)
{
	return k->kind == BY_NAME || k->kind == BY_TYPE;
}

/* Returns true for a column that alarms_report_unmatched reports. */
static bool alarm_column_unmatched(const struct alarm_column *c)
{
	bool named = c->condition.root && names_key(c->condition.root);

	for (size_t k = 0; k < c->condition.keys.count; k++)
		named |= fail_if_is_name(&c->condition.keys.key[k]);
	return named && !c->matched;
}

/* Write some texts that groups have as a key of the condition: a name, else the first. */
static void list_texts(const struct alarm_column *c, const struct statistics *st, char *out,
		       size_t size)
{
	const struct keys *keys = &c->condition.keys;
	size_t key = 0, used = 0;

	while (key + 1 < keys->count && !fail_if_is_name(&keys->key[key]))
		key++;
	key = fail_if_is_name(&keys->key[key]) ? c->key[key] : c->key[0];
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

/* --- fail if --- */

/* --- parsing --- */

static bool takes_field(const char *name)
{
	static const char *const functions[] = {"sum", "min", "max", "avg", "uniq"};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i], name))
			return true;
	return false;
}

/* Returns true if a field and ")" follow the lexer's "(". */
static bool fail_if_is_field(const struct lexer *l)
{
	struct error e;
	struct lexer ahead = {.text = l->text, .at = l->at, .error = &e};
	bool is = !lexer_next(&ahead) && ahead.token.kind == TOKEN_NAME && !lexer_next(&ahead) &&
		  ahead.token.kind == TOKEN_CLOSE;

	lexer_free(&ahead);
	return is;
}

/* Parse "(condition)", if it follows. */
static int parse_condition(struct alarm_column *c, struct lexer *l)
{
	const char *text = l->text + l->at;

	if (l->token.kind != TOKEN_OPEN)
		return 0;
	if (lexer_next(l))
		return -1;
	if (l->token.kind != TOKEN_CLOSE && condition_parse(&c->condition, l))
		return -1;
	if (l->token.kind != TOKEN_CLOSE)
		return lexer_error(l, l->token.column, "')' is expected here");
	if (c->condition.root)
		c->text = strndup(text, (size_t)(l->text + l->token.column - 1 - text));
	if (c->condition.root && !c->text)
		return lexer_error(l, l->token.column, "out of memory");
	return lexer_next(l);
}

/* Parse a column as a field of the alarm's condition. */
static int parse_column(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	struct alarms *all = ctx;
	struct alarm_column *grown, *c;
	struct columns column = {0};
	bool field = !quoted && l->token.kind == TOKEN_OPEN && takes_field(o->name) &&
		     fail_if_is_field(l);
	int bad;

	for (int i = 0; field && i < 3; i++)
		if (lexer_next(l))
			return -1;
	grown = reallocarray(all->column, all->ncolumns + 1, sizeof(*grown));
	if (!grown)
		return lexer_error(l, o->column, "out of memory");
	all->column = grown;
	c = &grown[all->ncolumns];
	*c = (struct alarm_column){0};
	o->field = (unsigned)all->ncolumns++;
	o->form = KNOWN_NUMBER;
	if (field) {
		/* as it is written, up to the ')' */
		const char *start = l->text + o->column - 1;
		const char *end = memchr(start, ')', strlen(start));

		c->name = strndup(start, (size_t)(end + 1 - start));
	} else {
		c->name = strdup(o->name);
	}
	if (!c->name)
		return lexer_error(l, o->column, "out of memory");
	bad = parse_condition(c, l) || columns_parse(&column, c->name, l->error);
	if (!bad) {
		c->unit = column_unit(&column.column[0]);
		c->united = column.wanted.totals && !column.wanted.whole;
	}
	o->of_time = !bad && (c->unit == UNIT_DURATION || c->unit == UNIT_TIME);
	o->of_percent = !bad && c->unit == UNIT_PERCENT;
	o->may_be_time = !bad && column_may_be_time(&column.column[0]);
	columns_free(&column);
	return bad ? -1 : 0;
}

/* Refuse a column alone, which is rather an incomplete condition. */
int fail_if_check_leaf(struct lexer *l, struct node *n, size_t column)
{
	if (n->kind != NODE_TRUTH || n->left->kind == OPERAND_ARITHMETIC)
		return 0;
	return lexer_error(l, column,
			   "a comparison is expected, as in 'p99(name == \"commit\") > "
			   "5ms'");
}

static const struct language language = {
	.field = parse_column,
	.leaf = fail_if_check_leaf,
	.no_calls = "under() and over() are trfilter's, which belongs before this program then",
};

/* Refuse a time that no column can be compared with. */
static int check_units(const struct alarms *all, const struct node *n, struct error *e)
{
	bool time = false;

	for (size_t i = 0; i < n->nchildren; i++)
		if (check_units(all, n->children[i], e))
			return -1;
	for (size_t i = 0; i < n->nfields; i++) {
		enum column_unit unit = all->column[n->fields[i]->field].unit;

		time |= unit == UNIT_DURATION || unit == UNIT_TIME;
	}
	if (!n->nfields || !n->time_unit || time)
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--fail-if: %s is not a time",
			 all->column[n->fields[0]->field].name);
}

int alarms_add(struct alarms *all, const char *text, struct error *e)
{
	struct alarm *grown = reallocarray(all->alarm, all->count + 1, sizeof(*grown)), *a;
	struct language of_columns = language;

	if (!grown)
		return error_no_memory(e);
	all->alarm = grown;
	a = &grown[all->count++];
	*a = (struct alarm){.text = text, .first = all->ncolumns};
	of_columns.ctx = all;
	a->condition = expression_parse(text, &of_columns, e);
	a->end = all->ncolumns;
	return a->condition ? check_units(all, a->condition, e) : -1;
}

void alarms_free(struct alarms *all)
{
	for (size_t i = 0; i < all->ncolumns; i++) {
		struct alarm_column *c = &all->column[i];

		if (c->statistics)
			statistics_free(c->statistics);
		free(c->statistics);
		pair_free(&c->pair);
		columns_free(&c->columns);
		condition_free(&c->condition);
		condition_free(&c->selected);
		free(c->text);
		free(c->name);
		free(c->key);
	}
	for (size_t i = 0; i < all->count; i++)
		expression_free(all->alarm[i].condition, &language);
	free(all->column);
	free(all->alarm);
	*all = (struct alarms){0};
}

/* --- judging --- */

struct asked {
	const struct alarm_column *column;
	const struct key_cell *cells;
};

static const struct key_cell *group_cell(void *ctx, size_t key)
{
	const struct asked *asked = ctx;

	return &asked->cells[asked->column->key[key]];
}

struct scalar column_scalar(enum column_unit unit, struct column_value v)
{
	struct scalar s = {.form = SCALAR_REAL};
	int128 number = v.number;

	if (unit == UNIT_THOUSANDTHS || unit == UNIT_PERCENT) {
		s.real = v.fraction != 0 ? number_real(number, v.fraction) : (long double)number;
		s.real /= 1000;
	} else if (v.fraction != 0) {
		s.real = number_real(number, v.fraction);
		s.real_size = sizeof(double);
	} else if (number >= 0 && number <= (int128)UINT64_MAX) {
		s.form = SCALAR_UINT;
		s.u = (uint64_t)number;
	} else if (number < 0 && number >= INT64_MIN) {
		s.form = SCALAR_INT;
		s.i = (int64_t)number;
	} else {
		s.real = (long double)number;
	}
	return s;
}

/* Returns true if the trace has calls or samples, or declares them, or the groups have times of
 * them. */
static bool has_times(const struct statistics *st)
{
	if (declared_calls(st->dictionary, true))
		return true;
	for (size_t i = 0; i < st->groups.count; i++)
		if (aggregate_has_times(groups_at(&st->groups, i)))
			return true;
	return false;
}

struct alarm_times {
	const struct alarms *alarms;
	const struct clocks *clocks;
	bool weights;
};

/* Returns true if a column of an alarm is a time of a clock in ns, not a weight of samples. */
static bool fail_if_is_time(const void *ctx, unsigned column)
{
	const struct alarm_times *of = ctx;
	enum column_unit unit = of->alarms->column[column].unit;

	return unit == UNIT_TIME || (unit == UNIT_DURATION && clocks_durations(of->clocks));
}

/* The same of a clock that counts ticks. */
static bool is_ticks(const void *ctx, unsigned column)
{
	const struct alarm_times *of = ctx;
	enum column_unit unit = of->alarms->column[column].unit;

	return unit == UNIT_TIME || (unit == UNIT_DURATION && !of->weights);
}

int alarms_check_clocks(const struct alarms *all, const struct clocks *clocks, bool weights,
			struct error *e)
{
	const struct alarm_times times = {all, clocks, weights};

	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];

		if (c->own && columns_check_clocks(&c->columns, clocks, e))
			return -1;
	}
	for (size_t i = 0; i < all->count; i++) {
		const struct node *n = all->alarm[i].condition;

		if ((clocks->ticks &&
		     expression_check_clock(n, "--fail-if", true, is_ticks, &times, e)) ||
		    (clocks->times &&
		     expression_check_clock(n, "--fail-if", false, fail_if_is_time, &times, e)))
			return -1;
	}
	for (size_t i = 0; i < all->ncolumns; i++) {
		const struct alarm_column *c = &all->column[i];

		if (condition_check_clocks(&c->condition, "--fail-if", clocks, weights, e) ||
		    (clocks->ticks && c->own && columns_check_ticks(&c->columns, e)))
			return -1;
	}
	return 0;
}

/* Set the sum of nothing to 0, unless the trace has not the kind of events that the column is of.
 * lacks: the trace has no events of the pair. */
static void settle_value(struct alarm_column *c, const struct column_type *t,
			 const struct statistics *st, bool lacks)
{
	bool times = t->flags & COLUMN_OF_TIMES && !st->pair;

	if (lacks)
		c->value.present = false;
	else if (!c->value.present && t->flags & COLUMN_SUM && (!times || has_times(st)))
		c->value = (struct column_value){.present = true};
}

/* Compute a column over all groups that its condition selects. Returns -1 when out of memory. */
static int compute_column(struct alarm_column *a, const struct columns *c,
			  const struct statistics *st)
{
	const struct groups *g = &st->groups;
	struct aggregate *sum = aligned_alloc(16, c->wanted.size);
	struct columns_run run = statistics_run(st);
	int bad = 0;

	if (!sum)
		return -1;
	run.bucket = 0;
	memset(sum, 0, c->wanted.size);
	aggregate_init(sum, &c->wanted);
	for (size_t i = 0; i < g->count && !bad; i++) {
		struct aggregate *group = groups_at(g, i);
		struct asked asked = {a, groups_cells(g, group)};

		if (!a->united && !condition_holds(&a->condition, &g->texts, group_cell, &asked))
			continue;
		a->matched = true;
		bad = aggregate_merge(sum, group, &c->wanted);
	}
	a->value = column_value(c, &c->column[a->column], sum, &run);
	aggregate_free(sum, &c->wanted);
	free(sum);
	return bad;
}

static void give_column(void *ctx, struct operand *o, struct scalar *out)
{
	const struct alarms *all = ctx;
	const struct alarm_column *c = &all->column[o->field];

	if (c->value.present)
		*out = column_scalar(c->unit, c->value);
}

/* Print the alarm on stderr with the values of its columns, and its interval if it has one. */
static void print_alarm(const struct alarms *all, const struct alarm *a, const struct query *q,
			const struct interval *interval, bool ticks)
{
	char when[VALUE_SIZE];
	struct buffer values = {0};

	for (size_t i = a->first; i < a->end; i++) {
		const struct alarm_column *c = &all->column[i];
		const struct columns *columns = c->own ? &c->columns : &q->columns;
		char value[VALUE_SIZE];

		format_column(value, &columns->column[c->column], c->value, ticks);
		if (i > a->first)
			buffer_append(&values, ", ", 2);
		buffer_append(&values, value, strlen(value));
	}
	if (interval)
		format_interval(when, interval, ticks);
	warn(NULL, NO_OFFSET, "%s%s%s is true: %.*s", interval ? when : "", interval ? ": " : "",
	     a->text, (int)values.size, values.data ? (const char *)values.data : "");
	buffer_free(&values);
}

/* Compute all columns. Returns -1 when out of memory. */
static int compute_columns(struct alarms *all, const struct query *q, const struct statistics *st)
{
	char *lacks = st->pair && !st->pair->pairs ? pair_lacks(st->dictionary, st->pair) : NULL;
	int bad = 0;

	for (size_t i = 0; i < all->ncolumns && !bad; i++) {
		struct alarm_column *c = &all->column[i];
		const struct columns *columns = c->own ? &c->columns : &q->columns;
		const struct statistics *of = c->own ? c->statistics : st;

		bad = compute_column(c, columns, of);
		if (!bad && !q->settings->empty_ok)
			settle_value(c, columns->column[c->column].type, of, lacks);
	}
	free(lacks);
	return bad;
}

/* Answer a condition; ANSWER_LATER: it depends on a column that has no value. */
static enum answer answer_alarm(void *values, struct node *n)
{
	struct scalar left, right = {.form = SCALAR_UINT};

	if (expression_joined(n))
		return expression_join(n, answer_alarm, values);
	if (n->kind != NODE_HAS) {
		expression_value(values, n->left, &left);
		if (n->right)
			expression_value(values, n->right, &right);
		if (left.form == SCALAR_NONE || right.form == SCALAR_NONE)
			return ANSWER_LATER;
	}
	return expression_leaf(values, n) ? ANSWER_YES : ANSWER_NO;
}

enum outcome alarms_judge(struct alarms *all, const struct query *q, const struct statistics *st,
			  const struct interval *interval)
{
	const struct expression_values values = {.field = give_column, .ctx = all};
	enum outcome holds = OUTCOME_NO;

	all->judged = true;
	if (compute_columns(all, q, st))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < all->count; i++) {
		struct alarm *a = &all->alarm[i];
		enum answer is = answer_alarm((void *)(uintptr_t)&values, a->condition);

		a->decided |= is != ANSWER_LATER;
		if (is != ANSWER_YES)
			continue;
		holds = OUTCOME_YES;
		print_alarm(all, a, q, interval, st->ticks);
	}
	return holds;
}

/* Returns the first column of an alarm that has no value; NULL: all have one. */
static const struct alarm_column *without_value(const struct alarms *all, const struct alarm *a)
{
	for (size_t i = a->first; i < a->end; i++)
		if (!all->column[i].value.present)
			return &all->column[i];
	return NULL;
}

bool alarms_report_undecided(const struct alarms *all, const struct query *q,
			     const struct statistics *st)
{
	char *lacks = st->pair && !st->pair->pairs ? pair_lacks(st->dictionary, st->pair) : NULL;
	bool ok = q->settings->empty_ok, any = false;

	for (size_t i = 0; i < all->count; i++) {
		const struct alarm *a = &all->alarm[i];
		const struct alarm_column *c = without_value(all, a);
		const struct columns *columns = c && c->own ? &c->columns : &q->columns;
		bool calls = c && !st->pair && !has_times(c->own ? c->statistics : st) &&
			     columns->column[c->column].type->flags &
				     (COLUMN_OF_CALLS | COLUMN_OF_TIMES);

		if (a->decided)
			continue;
		any = true;
		/* check_names had a line for it */
		if (c && c->remarked && !ok)
			continue;
		/* alarms_report_unmatched has a line for it */
		if (c && q->settings->merge && !q->settings->interval && st->groups.count &&
		    alarm_column_unmatched(c))
			continue;
		warn(NULL, NO_OFFSET, "--fail-if '%s': %s%s%s%s%s", a->text,
		     c ? c->name : "the result", c ? " has no value: " : " is not defined",
		     !c			 ? ""
		     : lacks		 ? "the trace has "
		     : calls		 ? "the trace has no calls"
		     : st->pair		 ? "no such pair was found"
		     : c->condition.root ? "no such call or event was counted"
					 : "no call or event was counted",
		     c && lacks ? lacks : "",
		     ok ? "; so the condition is false"
			: "; with --fail-if-empty=ok the condition is false then");
	}
	free(lacks);
	return any && !ok;
}

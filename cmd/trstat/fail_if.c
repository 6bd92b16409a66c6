#include "cmd/trstat/fail_if.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/table/format.h"

/* --- parsing --- */

static bool takes_field(const struct token *t)
{
	static const char *const functions[] = {"sum", "min", "max", "avg", "uniq"};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strlen(functions[i]) == t->size && !memcmp(functions[i], t->text, t->size))
			return true;
	return false;
}

/* Look ahead: "max(" may continue with a field and ")", or with a condition. */
static bool is_field(const struct lexer *l)
{
	struct error e;
	struct lexer ahead = {.text = l->text, .at = l->at, .error = &e};
	bool is = !lexer_next(&ahead) && ahead.token.kind == TOKEN_OPEN && !lexer_next(&ahead) &&
		  ahead.token.kind == TOKEN_NAME && !lexer_next(&ahead) &&
		  ahead.token.kind == TOKEN_CLOSE;

	lexer_free(&ahead);
	return is;
}

static int expected(struct lexer *l, const char *what)
{
	return lexer_error(l, l->token.column, "%s is expected here", what);
}

/* Parse the name of a column and the token after it. */
static int parse_column(struct alarm *a, struct lexer *l)
{
	const char *start = l->token.text;
	bool field;

	if (l->token.kind != TOKEN_NAME)
		return expected(l, "a column, as in 'p99(name == \"commit\") > 5ms',");
	field = takes_field(&l->token) && is_field(l);
	for (int i = 0; field && i < 3; i++)
		if (lexer_next(l))
			return -1;
	a->column_name = strndup(start, (size_t)(l->token.text + l->token.size - start));
	if (!a->column_name)
		return lexer_error(l, l->token.column, "out of memory");
	return lexer_next(l);
}

static int parse_condition(struct alarm *a, struct lexer *l)
{
	if (l->token.kind != TOKEN_OPEN)
		return 0;
	if (lexer_next(l))
		return -1;
	if (l->token.kind != TOKEN_CLOSE && condition_parse(&a->condition, l))
		return -1;
	if (l->token.kind != TOKEN_CLOSE)
		return expected(l, "')'");
	return lexer_next(l);
}

static int parse_limit(struct alarm *a, struct lexer *l)
{
	a->comparison = l->token.kind;
	if (a->comparison < TOKEN_EQ || a->comparison > TOKEN_GE)
		return expected(l, "a comparison (== != < <= > >=)");
	if (lexer_next(l))
		return -1;
	if (l->token.kind != TOKEN_NUMBER)
		return expected(l, "a number");
	a->limit = l->token.value;
	a->time_unit = l->token.time_unit;
	if (lexer_next(l))
		return -1;
	return l->token.kind == TOKEN_END ? 0 : expected(l, "the end");
}

int alarms_add(struct alarms *all, const char *text, struct error *e)
{
	struct lexer l = {.text = text, .error = e};
	struct alarm *grown = realloc(all->alarm, (all->count + 1) * sizeof(*grown)), *a;
	struct columns column = {0};
	enum column_unit unit;
	int bad;

	if (!grown)
		return error_no_memory(e);
	all->alarm = grown;
	a = &grown[all->count++];
	*a = (struct alarm){.text = text};
	bad = lexer_next(&l) || parse_column(a, &l) || parse_condition(a, &l) || parse_limit(a, &l);
	lexer_free(&l);
	if (bad)
		return -1;
	bad = columns_parse(&column, a->column_name, e);
	unit = bad ? UNIT_NUMBER : column_unit(&column.column[0]);
	if (!bad && a->time_unit && unit != UNIT_DURATION && unit != UNIT_TIME)
		bad = error_set(e, NULL, NO_OFFSET, "--fail-if '%s': %s is no time", text,
				a->column_name);
	columns_free(&column);
	return bad ? -1 : 0;
}

void alarms_free(struct alarms *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct alarm *a = &all->alarm[i];

		if (a->statistics)
			statistics_free(a->statistics);
		free(a->statistics);
		pair_free(&a->pair);
		columns_free(&a->columns);
		condition_free(&a->condition);
		free(a->column_name);
		free(a->key);
	}
	free(all->alarm);
	*all = (struct alarms){0};
}

/* --- counting --- */

/* Returns true if the condition's keys are among k. */
static bool has_condition_keys(struct alarm *a, const struct keys *k)
{
	const struct keys *asked = &a->condition.keys;

	if (asked->by_type != k->by_type || (asked->needs ^ k->needs) & NEEDS_STACK)
		return false;
	for (size_t i = 0; i < asked->count; i++) {
		for (a->key[i] = 0; a->key[i] < k->count; a->key[i]++)
			if (!strcmp(k->names[a->key[i]], asked->names[i]))
				break;
		if (a->key[i] == k->count)
			return false;
	}
	return true;
}

static int begin_own(struct alarm *a, const struct query *q, struct dictionary *d, struct error *e)
{
	a->own = true;
	for (size_t i = 0; i < a->condition.keys.count; i++)
		a->key[i] = i;
	if (columns_parse(&a->columns, a->column_name, e))
		return -1;
	if (q->settings->pair && pair_parse(&a->pair, q->settings->pair, e))
		return -1;
	a->statistics = calloc(1, sizeof(*a->statistics));
	if (!a->statistics || statistics_init(a->statistics, &a->condition.keys, &a->columns, d) ||
	    (q->settings->pair && statistics_pair(a->statistics, &a->pair)))
		return error_no_memory(e);
	statistics_name_stacks(a->statistics, !q->settings->interval);
	return 0;
}

int alarms_begin(struct alarms *all, struct query *q, struct dictionary *d, struct error *e)
{
	for (size_t i = 0; i < all->count; i++) {
		struct alarm *a = &all->alarm[i];
		int column;

		a->key = calloc(a->condition.keys.count + 1, sizeof(*a->key));
		if (!a->key)
			return error_no_memory(e);
		if (!has_condition_keys(a, &q->keys)) {
			if (begin_own(a, q, d, e))
				return -1;
			continue;
		}
		column = columns_find(&q->columns, a->column_name, e);
		if (column < 0)
			return -1;
		a->column = (size_t)column;
	}
	return 0;
}

int alarms_check_keys(const struct alarms *all, struct error *e)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->alarm[i].own)
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': the groups of the summaries lack its key",
					 all->alarm[i].text);
	return 0;
}

int alarms_block(struct alarms *all, const struct block *b)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->alarm[i].own && statistics_block(all->alarm[i].statistics, b))
			return -1;
	return 0;
}

int alarms_adopt(struct alarms *all, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->alarm[i].own && statistics_adopt(all->alarm[i].statistics, snapshot))
			return -1;
	return 0;
}

int alarms_until(struct alarms *all, const struct block *b, struct events it, uint64_t end)
{
	for (size_t i = 0; i < all->count; i++) {
		struct events here = it;

		if (all->alarm[i].own && statistics_until(all->alarm[i].statistics, b, &here, end))
			return -1;
	}
	return 0;
}

int alarms_show(struct alarms *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->alarm[i].own && statistics_show(all->alarm[i].statistics))
			return -1;
	return 0;
}

int alarms_reset(struct alarms *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->alarm[i].own && statistics_reset(all->alarm[i].statistics))
			return -1;
	return 0;
}

int alarms_finish(struct alarms *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->alarm[i].own && statistics_finish(all->alarm[i].statistics))
			return -1;
	return 0;
}

/* --- judging --- */

int alarms_check_ticks(const struct alarms *all, const struct clocks *clocks, struct error *e)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct alarm *a = &all->alarm[i];

		if (a->time_unit || a->condition.time_unit)
			return error_set(e, NULL, NO_OFFSET,
					 "--fail-if '%s': the clock of this trace counts ticks, no "
					 "unit of time",
					 a->text);
		if (a->own && (columns_check_ticks(&a->columns, e) ||
			       columns_check_clocks(&a->columns, clocks, e)))
			return -1;
	}
	return 0;
}

struct asked {
	const struct alarm *alarm;
	const struct key_cell *cells;
};

static const struct key_cell *group_cell(void *ctx, size_t key)
{
	const struct asked *asked = ctx;

	return &asked->cells[asked->alarm->key[key]];
}

static struct scalar scalar_of(enum column_unit unit, int128 number)
{
	struct scalar s = {.form = SCALAR_REAL};

	if (unit == UNIT_THOUSANDTHS) {
		s.real = (long double)number / 1000;
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

static bool compares(enum token_kind how, enum scalar_order o)
{
	switch (how) {
	case TOKEN_EQ: return o == ORDER_EQUAL;
	case TOKEN_NE: return o == ORDER_LESS || o == ORDER_GREATER;
	case TOKEN_LT: return o == ORDER_LESS;
	case TOKEN_LE: return o == ORDER_LESS || o == ORDER_EQUAL;
	case TOKEN_GT: return o == ORDER_GREATER;
	default: return o == ORDER_GREATER || o == ORDER_EQUAL;
	}
}

/* Compute the column over all groups that the condition selects. Returns -1 when out of memory. */
static int value_of(const struct alarm *a, const struct columns *c, const struct column *column,
		    const struct statistics *st, struct column_value *v)
{
	const struct groups *g = &st->groups;
	struct aggregate *sum = aligned_alloc(16, c->wanted.size);
	struct columns_run run = {st->first, st->last};
	int bad = 0;

	if (!sum)
		return -1;
	memset(sum, 0, c->wanted.size);
	aggregate_init(sum, &c->wanted);
	for (size_t i = 0; i < g->count && !bad; i++) {
		struct aggregate *group = groups_at(g, i);
		struct asked asked = {a, groups_cells(g, group)};

		if (condition_holds(&a->condition, g, group_cell, &asked))
			bad = aggregate_merge(sum, group, &c->wanted);
	}
	*v = column_value(c, column, sum, &run);
	aggregate_free(sum, &c->wanted);
	free(sum);
	return bad;
}

/* Print the alarm on stderr, with its interval if it has one. */
static void print_alarm(const struct alarm *a, const struct column *column, struct column_value v,
			const struct interval *interval, bool ticks)
{
	char value[VALUE_SIZE], when[VALUE_SIZE];

	format_column(value, column, v, ticks);
	if (!interval) {
		warn(NULL, NO_OFFSET, "%s holds: %s", a->text, value);
		return;
	}
	format_interval(when, interval, ticks);
	warn(NULL, NO_OFFSET, "%s: %s holds: %s", when, a->text, value);
}

int alarms_judge(const struct alarms *all, const struct query *q, const struct statistics *st,
		 const struct interval *interval, bool quiet)
{
	int holds = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct alarm *a = &all->alarm[i];
		const struct columns *c = a->own ? &a->columns : &q->columns;
		const struct column *column = &c->column[a->column];
		struct column_value v;
		struct scalar s;

		if (value_of(a, c, column, a->own ? a->statistics : st, &v))
			return -1;
		s = scalar_of(column_unit(column), v.number);
		if (!v.present || !compares(a->comparison, scalar_compare(&s, &a->limit)))
			continue;
		holds = 1;
		if (!quiet)
			print_alarm(a, column, v, interval, st->ticks);
	}
	return holds;
}

/*
 * table.c - columns, and tables of them
 */
#include "cmd/trstat/table.h"

#include <float.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/trstat/groups.h"
#include "cmd/trstat/prom.h"
#include "common/cli/program.h"
#include "common/pairs/keys.h"
#include "common/scheduling/states.h"
#include "common/util/error.h"
#include "common/util/u128.h"
#include "common/util/text.h"
#include "common/value/aligned.h"
#include "common/value/delimited.h"
#include "common/value/json.h"
#include "common/value/scalar.h"

static struct column_value none(void)
{
	return (struct column_value){.present = false};
}

static struct column_value some(int128 number)
{
	return (struct column_value){.present = true, .number = number};
}

/* numerator / denominator in thousandths, rounded; denominator below 2^64. */
static int128 thousandths(uint128 numerator, uint64_t denominator)
{
	uint128 whole = numerator / denominator, rest = numerator % denominator;

	if (whole > (uint128)INT128_MAX / 1000 - 1)
		return INT128_MAX;
	return (int128)(whole * 1000 + (rest * 1000 + denominator / 2) / denominator);
}

static struct column_value average(int128 sum, uint64_t n)
{
	return some(sum / n);
}

static const struct time_span *times_of(const struct column_cell *v)
{
	return aggregate_part(v->a, v->columns->wanted.times);
}

static const struct aggregate_field *table_field_of(const struct column_cell *v)
{
	const struct aggregate_field *f = aggregate_part(v->a, v->columns->wanted.fields);

	return f + v->column->field;
}

/* Define NAME_value, which computes the value of a cell v. */
#define VALUE(name, ...)                                                                           \
	static struct column_value name##_value(const struct column_cell *v)                       \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}

/* Get a value that the times of single calls make, if these are known. */
#define OF_EACH(v, value) ((v)->a->total_min <= (v)->a->total_max ? some(value) : none())

VALUE(count, some(aggregate_count(v->a)))
VALUE(total, some(v->a->total))
VALUE(total_avg, average(aggregate_every(v->a), v->a->calls))
VALUE(total_min, OF_EACH(v, v->a->total_min))
VALUE(total_max, OF_EACH(v, v->a->total_max))
VALUE(total_stdev, OF_EACH(v, stddev_of(v->a->calls, aggregate_every(v->a),
					aggregate_part(v->a, v->columns->wanted.total_stdev))))
VALUE(self, some(v->a->self))
VALUE(self_avg, average(v->a->self, v->a->calls))
VALUE(self_min, OF_EACH(v, v->a->self_min))
VALUE(self_max, OF_EACH(v, v->a->self_max))
VALUE(self_stdev, OF_EACH(v, stddev_of(v->a->calls, v->a->self,
				       aggregate_part(v->a, v->columns->wanted.self_stdev))))
VALUE(percentile, OF_EACH(v, aggregate_quantile(v->a, &v->columns->wanted, v->column->numerator,
						v->column->denominator)))
VALUE(first, times_of(v)->since > times_of(v)->last ? none() : some(times_of(v)->since))
VALUE(last, times_of(v)->since > times_of(v)->last ? none() : some(times_of(v)->last))

static struct column_value rate_value(const struct column_cell *v)
{
	const struct columns_run *run = v->run;

	if (run->first >= run->last)
		return none();
	return some(
		thousandths((uint128)aggregate_count(v->a) * 1000000000, run->last - run->first));
}

/* Get a value in percent of the self values of all groups, if their sum is above 0. */
static struct column_value column_types_share(const struct column_cell *v, int128 value)
{
	int128 whole = *(const int128 *)aggregate_part(v->a, v->columns->wanted.whole), part;
	uint128 size = magnitude(value);

	for (; whole > UINT64_MAX || size > UINT128_MAX / 100; whole >>= 1)
		size >>= 1;
	if (whole <= 0)
		return none();
	part = thousandths(100 * size, (uint64_t)whole);
	return some(value < 0 ? -part : part);
}

VALUE(total_percent, column_types_share(v, v->a->total))
VALUE(self_percent, column_types_share(v, v->a->self))

static uint128 busy_of(const struct column_cell *v)
{
	const uint128 *busy = aggregate_part(v->a, v->columns->wanted.busy);

	return busy[v->run->stray > 0];
}

VALUE(busy, some((int128)busy_of(v)))

/* Get the time of the run that is in the group's bucket: the first and the last bucket of a
 * trace are rarely whole. */
static uint64_t time_covered(const struct column_cell *v)
{
	const struct columns_run *run = v->run;
	uint64_t begin = run->bucket_begin, end;

	if (!run->bucket)
		return columns_run_time(run, 0, UINT64_MAX);
	if (run->bucket_key)
		begin = aggregate_cells(v->a, &v->columns->wanted)[run->bucket_key - 1].value;
	if (__builtin_add_overflow(begin, run->bucket, &end))
		end = UINT64_MAX;
	return columns_run_time(run, begin, end);
}

static struct column_value util_value(const struct column_cell *v)
{
	uint64_t width = time_covered(v);
	uint128 busy = busy_of(v);

	if (!width)
		return none();
	return some(thousandths(busy > UINT128_MAX / 100 ? UINT128_MAX : 100 * busy, width));
}

static struct column_value idle_value(const struct column_cell *v)
{
	uint64_t width = time_covered(v);
	uint128 busy = busy_of(v);

	return width ? some(busy < width ? (int128)(width - (uint64_t)busy) : 0) : none();
}

static const struct aggregate_memory *memory_of(const struct column_cell *v)
{
	return aggregate_part(v->a, v->columns->wanted.memory);
}

VALUE(bytes, some(memory_of(v)->bytes))
VALUE(outstanding, some(v->run->bucket ? memory_of(v)->held : memory_of(v)->outstanding))
VALUE(left, some(v->run->bucket ? memory_of(v)->held_number : memory_of(v)->left))

/* Carry the integer part of the fraction, which several floats may have added up. */
static struct group_number number_settle(struct group_number n)
{
	double real = number_real(n.whole, n.fraction);

	if (n.fraction == 0)
		return n;
	if (fabs(real) >= (double)NUMBER_MOST || fabs(n.fraction) >= (double)NUMBER_MOST)
		return number_of_real(real);
	/* twice, as the fraction may round to 1 when it takes the sign of the integer */
	for (int i = 0; i < 2; i++) {
		int128 carry = (int128)n.fraction;

		n.whole += carry;
		n.fraction -= (double)carry;
		carry = n.whole > 0 && n.fraction < 0 ? -1 : n.whole < 0 && n.fraction > 0;
		n.whole += carry;
		n.fraction -= (double)carry;
	}
	return n;
}

static struct column_value column_field_number(const struct aggregate_field *f,
					       struct group_number n)
{
	n = number_settle(n);
	return (struct column_value){f->count > 0, n.whole, n.fraction};
}

VALUE(field_sum, column_field_number(table_field_of(v), table_field_of(v)->sum))
VALUE(field_min, column_field_number(table_field_of(v), table_field_of(v)->min))
VALUE(field_max, column_field_number(table_field_of(v), table_field_of(v)->max))

/* Get a mean in thousandths. */
static double mean_of(struct group_number sum, uint64_t n)
{
	double mean = number_real(sum.whole, sum.fraction) / (double)n;

	return fabs(mean) < DBL_MAX / 1000 ? mean * 1000 : copysign(DBL_MAX, mean);
}

static struct column_value field_avg_value(const struct column_cell *v)
{
	const struct aggregate_field *f = table_field_of(v);
	int128 size;

	if (!f->count)
		return none();
	if (v->column->duration)
		return average(f->sum.whole, f->count);
	if (f->sum.fraction != 0)
		return column_field_number(f, number_of_real(mean_of(f->sum, f->count)));
	size = thousandths(magnitude(f->sum.whole), f->count);
	return some(f->sum.whole < 0 ? -size : size);
}

static struct column_value field_percentile_value(const struct column_cell *v)
{
	const struct aggregate_field *f = table_field_of(v);

	if (!f->count)
		return none();
	return some(histogram_quantile(&f->histogram, v->column->numerator, v->column->denominator,
				       histogram_value(f->min.whole),
				       histogram_value(f->max.whole)));
}

VALUE(field_uniq, some(distinct_count(&table_field_of(v)->distinct)))

const struct column_type column_types[] = {
	{"count", NULL, COLUMN_SUM, UNIT_NUMBER, PART_NONE, count_value, "trstat_events",
	 "Finished calls and events without a duration."},
	{"total", NULL, COLUMN_OF_TIMES | COLUMN_SUM | COLUMN_TOTALS, UNIT_DURATION, PART_NONE,
	 total_value, "trstat_total_@", "Time in calls; time of recursions counts once."},
	{"total_avg", "avg", COLUMN_OF_CALLS, UNIT_DURATION, PART_NONE, total_avg_value,
	 "trstat_total_avg_@", "Mean time of a call."},
	{"total_min", "min", COLUMN_OF_CALLS, UNIT_DURATION, PART_NONE, total_min_value,
	 "trstat_total_min_@", "Least time of a call."},
	{"total_max", "max", COLUMN_OF_CALLS, UNIT_DURATION, PART_NONE, total_max_value,
	 "trstat_total_max_@", "Largest time of a call."},
	{"total_stdev", NULL, COLUMN_OF_CALLS, UNIT_DURATION, PART_TOTAL_STDEV, total_stdev_value,
	 "trstat_total_stdev_@", "Standard deviation of the calls' times."},
	{"self", NULL, COLUMN_OF_TIMES | COLUMN_SUM, UNIT_DURATION, PART_NONE, self_value,
	 "trstat_self_@", "Time in calls less that of the calls made from them."},
	{"total_percent", "total%", COLUMN_OF_TIMES | COLUMN_SUM | COLUMN_TOTALS, UNIT_PERCENT,
	 PART_WHOLE, total_percent_value, "trstat_total_percent",
	 "Time in calls as a share of the self times of all groups."},
	{"self_percent", "self%", COLUMN_OF_TIMES | COLUMN_SUM, UNIT_PERCENT, PART_WHOLE,
	 self_percent_value, "trstat_self_percent",
	 "Self time as a share of the self times of all groups."},
	{"self_avg", NULL, COLUMN_OF_CALLS, UNIT_DURATION, PART_NONE, self_avg_value,
	 "trstat_self_avg_@", "Mean self time of a call."},
	{"self_min", NULL, COLUMN_OF_CALLS, UNIT_DURATION, PART_NONE, self_min_value,
	 "trstat_self_min_@", "Least self time of a call."},
	{"self_max", NULL, COLUMN_OF_CALLS, UNIT_DURATION, PART_NONE, self_max_value,
	 "trstat_self_max_@", "Largest self time of a call."},
	{"self_stdev", NULL, COLUMN_OF_CALLS, UNIT_DURATION, PART_SELF_STDEV, self_stdev_value,
	 "trstat_self_stdev_@", "Standard deviation of the calls' self times."},
	{"p", NULL, COLUMN_OF_CALLS | COLUMN_PERCENTILE, UNIT_DURATION, PART_HISTOGRAM,
	 percentile_value, "trstat_call_@", "Times of calls."},
	{"first", NULL, 0, UNIT_TIME, PART_TIMES, first_value, "trstat_first_@",
	 "Time of the first event or finished call."},
	{"last", NULL, 0, UNIT_TIME, PART_TIMES, last_value, "trstat_last_@",
	 "Time of the last event or finished call."},
	{"rate", NULL, COLUMN_RATE | COLUMN_SUM | COLUMN_OF_RUN, UNIT_THOUSANDTHS, PART_NONE,
	 rate_value, "trstat_events_per_second", "Calls and events per second of the run."},
	{"busy", NULL, COLUMN_OF_PAIRS | COLUMN_SUM, UNIT_DURATION, PART_BUSY, busy_value,
	 "trstat_busy_@", "Time in pairs, of which each bucket of time has its part."},
	{"idle", NULL, COLUMN_OF_PAIRS | COLUMN_SUM | COLUMN_OF_RUN, UNIT_DURATION, PART_BUSY,
	 idle_value, "trstat_idle_@", "The rest of the bucket of time, or of the run."},
	{"util", NULL, COLUMN_OF_PAIRS | COLUMN_SUM | COLUMN_OF_RUN, UNIT_PERCENT, PART_BUSY,
	 util_value, "trstat_util_percent",
	 "Time in pairs as a share of the bucket of time, or of the run."},
	{"bytes", NULL, COLUMN_OF_PAIRS | COLUMN_OF_MEMORY | COLUMN_SUM, UNIT_NUMBER, PART_MEMORY,
	 bytes_value, "trstat_allocated_bytes", "Bytes that were allocated."},
	{"outstanding", NULL, COLUMN_OF_PAIRS | COLUMN_OF_MEMORY | COLUMN_SUM, UNIT_NUMBER,
	 PART_MEMORY, outstanding_value, "trstat_outstanding_bytes",
	 "Bytes that were allocated and not freed."},
	{"left", NULL, COLUMN_OF_PAIRS | COLUMN_OF_MEMORY | COLUMN_SUM, UNIT_NUMBER, PART_MEMORY,
	 left_value, "trstat_outstanding_allocations", "Allocations that were not freed."},
	{"sum", NULL, COLUMN_OF_FIELD | COLUMN_SUM, UNIT_NUMBER, PART_FIELDS, field_sum_value,
	 "trstat_field_sum_of_values", "Sum of a field of the events."},
	{"min", NULL, COLUMN_OF_FIELD, UNIT_NUMBER, PART_FIELDS, field_min_value,
	 "trstat_field_min", "Least value of a field of the events."},
	{"max", NULL, COLUMN_OF_FIELD, UNIT_NUMBER, PART_FIELDS, field_max_value,
	 "trstat_field_max", "Largest value of a field of the events."},
	{"avg", NULL, COLUMN_OF_FIELD, UNIT_THOUSANDTHS, PART_FIELDS, field_avg_value,
	 "trstat_field_avg", "Mean of a field of the events."},
	{"p", NULL, COLUMN_OF_FIELD | COLUMN_PERCENTILE, UNIT_NUMBER, PART_FIELDS,
	 field_percentile_value, "trstat_field_percentile",
	 "A percentile of a field of the events."},
	{"uniq", NULL, COLUMN_OF_FIELD | COLUMN_UNIQ | COLUMN_SUM, UNIT_NUMBER, PART_FIELDS,
	 field_uniq_value, "trstat_field_distinct", "Different values of a field."},
};

const size_t column_types_count = sizeof column_types / sizeof *column_types;

const struct column_type *column_percentile(void)
{
	const struct column_type *t = column_types;

	while (!(t->flags & COLUMN_PERCENTILE))
		t++;
	return t;
}

struct column_value column_value(const struct columns *c, const struct column *column,
				 const struct aggregate *a, const struct columns_run *run)
{
	const struct column_cell cell = {c, column, a, run};

	if ((column->type->flags & COLUMN_OF_CALLS && !a->calls) ||
	    (column->type->flags & COLUMN_OF_TIMES && !aggregate_has_times(a)))
		return none();
	return column->type->value(&cell);
}

/* --- columns --- */

/* Parse p50, p99.9: at most six decimals, at most 100. */
static bool table_parse_quantile(const char *s, size_t n, struct column *column)
{
	uint64_t number = 0, scale = 1;
	bool point = false, digit = false;

	if (n < 2 || n > 11 || *s != 'p')
		return false;
	for (size_t i = 1; i < n; i++) {
		if (s[i] == '.' && !point && digit) {
			point = true;
			digit = false;
		} else if (s[i] >= '0' && s[i] <= '9') {
			number = number * 10 + (uint64_t)(s[i] - '0');
			scale *= point ? 10 : 1;
			digit = true;
		} else {
			return false;
		}
	}
	if (!digit || scale > 1000000 || number > 100 * scale)
		return false;
	column->numerator = number;
	column->denominator = 100 * scale;
	return true;
}

static bool table_is_word(const char *word, const char *s, size_t n)
{
	return strlen(word) == n && !memcmp(word, s, n);
}

static int stat_table_find_field(const struct columns *c, const char *name, size_t n)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++) {
		if (table_is_word(c->wanted.field[i].name, name, n))
			return (int)i;
	}
	return -1;
}

int columns_field(const struct columns *c, const char *name)
{
	return stat_table_find_field(c, name, strlen(name));
}

static enum wanted_time table_time_of(const char *name)
{
	if (!strcmp(name, "dur"))
		return TIME_TOTAL;
	return !strcmp(name, "self") ? TIME_SELF : TIME_NONE;
}

/* Find or add the field of that name; -1 with e filled. */
static int want_field(struct columns *c, const char *name, size_t n, unsigned flags,
		      struct error *e)
{
	struct wanted_field *field;
	int i = stat_table_find_field(c, name, n);

	if (i < 0) {
		field = realloc(c->wanted.field, (c->wanted.field_count + 1) * sizeof *field);
		if (!field)
			return error_no_memory(e);
		c->wanted.field = field;
		i = (int)c->wanted.field_count;
		field[i] = (struct wanted_field){.name = strndup(name, n)};
		if (!field[i].name)
			return error_no_memory(e);
		field[i].time = table_time_of(field[i].name);
		field[i].state = state_by_name(field[i].name);
		field[i].quoted = *field[i].name == '.';
		c->wanted.field_count++;
		if (!strcmp(field[i].name, KEYS_CHILDREN))
			return keys_refuse_children(e);
	}
	c->wanted.field[i].uniq |= (flags & COLUMN_UNIQ) != 0;
	c->wanted.field[i].histogram |= (flags & COLUMN_PERCENTILE) != 0;
	c->wanted.field[i].each |= (flags & (COLUMN_SUM | COLUMN_UNIQ)) != COLUMN_SUM;
	return i;
}

/* Test whether a word is the name of a function of a field, as sum in sum(F). */
static bool table_is_function(const struct column_type *t, const char *s, size_t n,
			      struct column *column)
{
	return t->flags & COLUMN_OF_FIELD &&
	       (t->flags & COLUMN_PERCENTILE ? table_parse_quantile(s, n, column)
					     : table_is_word(t->name, s, n));
}

/* Make a column of the values of a field. */
static int table_take_field(struct columns *c, const struct column_type *t, const char *name,
			    size_t n, struct column *column, struct error *e)
{
	int field = want_field(c, name, n, t->flags, e);

	if (field < 0)
		return -1;
	column->type = t;
	column->field = (uint32_t)field;
	column->duration =
		(c->wanted.field[field].time != TIME_NONE || c->wanted.field[field].state >= 0) &&
		!(t->flags & COLUMN_UNIQ);
	return 0;
}

/* Parse sum(F), min(F) and so on. OUTCOME_NO: the name is no such function;
 * OUTCOME_FAILED: e is filled. */
static enum outcome table_parse_function(struct columns *c, const char *s, size_t n,
					 struct column *column, struct error *e)
{
	const char *open = memchr(s, '(', n);

	if (!open || s[n - 1] != ')' || open + 2 > s + n - 1)
		return OUTCOME_NO;
	for (size_t i = 0; i < column_types_count; i++) {
		const struct column_type *t = &column_types[i];

		if (table_is_function(t, s, (size_t)(open - s), column))
			return table_take_field(c, t, open + 1, n - (size_t)(open - s) - 2, column,
						e)
				       ? OUTCOME_FAILED
				       : OUTCOME_YES;
	}
	return OUTCOME_NO;
}

static const struct column_type *table_function_type(const char *name)
{
	const struct column_type *t = column_types;

	while (!(t->flags & COLUMN_OF_FIELD) || strcmp(t->name, name) != 0)
		t++;
	return t;
}

/* Find a column that is written by its name alone. */
static const struct column_type *table_named_type(const char *s, size_t n)
{
	for (size_t i = 0; i < column_types_count; i++) {
		const struct column_type *t = &column_types[i];

		if (!(t->flags & (COLUMN_OF_FIELD | COLUMN_PERCENTILE)) &&
		    (table_is_word(t->name, s, n) || (t->alias && table_is_word(t->alias, s, n))))
			return t;
	}
	return NULL;
}

void columns_add_words(char *words, size_t size)
{
	char name[64];

	for (size_t i = 0; i < column_types_count; i++) {
		const struct column_type *t = &column_types[i];
		const char *few[] = {"p50", "p90", "p99", "p99.9"};
		bool field = t->flags & COLUMN_OF_FIELD;

		for (size_t p = 0; t->flags & COLUMN_PERCENTILE && !field && p < 4; p++)
			options_add_word(words, size, few[p]);
		if (t->flags & COLUMN_PERCENTILE && field)
			options_add_word(words, size, "p99(F)");
		if (t->flags & COLUMN_PERCENTILE)
			continue;
		snprintf(name, sizeof name, "%s%s", t->name,
			 t->flags & COLUMN_OF_FIELD ? "(F)" : "");
		options_add_word(words, size, name);
		if (t->alias)
			options_add_word(words, size, t->alias);
	}
	for (int i = 0; i < STATES; i++)
		options_add_word(words, size, state_names[i]);
}

static int unknown_column(const char *s, size_t n, struct error *e)
{
	const char *open = memchr(s, '(', n);
	char known[COLUMN_WORDS_SIZE] = "", near[COLUMN_WORDS_SIZE] = "";
	struct nearest nearest;

	if (open && table_named_type(s, (size_t)(open - s)))
		return error_set(e, NULL, NO_OFFSET, "column '%.*s' takes no parentheses: '%.*s'",
				 (int)(open - s), s, (int)(n < 64 ? n : 64), s);
	columns_add_words(known, sizeof known);
	/* sum(F) is like sum */
	for (size_t i = 0, at = 0; known[i]; i++)
		if (strncmp(known + i, "(F)", 3) != 0)
			near[at++] = known[i];
		else
			i += 2;
	nearest_begin(&nearest, s, open ? (size_t)(open - s) : n);
	nearest_offer_words(&nearest, near);
	if (*nearest_hint(&nearest))
		return error_set(e, NULL, NO_OFFSET, "unknown column '%.*s'%s",
				 (int)(n < 64 ? n : 64), s, nearest_hint(&nearest));
	return error_set(e, NULL, NO_OFFSET, "unknown column '%.*s' (columns are %s)",
			 (int)(n < 64 ? n : 64), s, known);
}

static int parse_one(struct columns *c, const char *s, size_t n, struct column *column,
		     struct error *e)
{
	enum outcome r;

	*column = (struct column){0};
	column->type = table_named_type(s, n);
	if (column->type)
		return 0;
	if (table_parse_quantile(s, n, column)) {
		column->type = column_percentile();
		return 0;
	}
	/* the states of a call add up */
	for (int i = 0; i < STATES; i++)
		if (table_is_word(state_names[i], s, n))
			return table_take_field(c, table_function_type("sum"), s, n, column, e);
	r = table_parse_function(c, s, n, column, e);
	if (r != OUTCOME_NO)
		return r == OUTCOME_FAILED ? -1 : 0;
	return unknown_column(s, n, e);
}

/* Assign an offset in the aggregate to each part that a column needs. */
static void columns_assign_parts(struct columns *c)
{
	struct columns_wanted *w = &c->wanted;
	uint32_t at = sizeof(struct aggregate);
	bool has[PARTS] = {false};

	w->totals = false;
	for (size_t i = 0; i < c->count; i++) {
		has[c->column[i].type->part] = true;
		w->totals |= c->column[i].type->flags & COLUMN_TOTALS;
	}
	w->histogram = w->times = w->total_stdev = w->self_stdev = w->fields = w->busy = w->memory =
		w->whole = 0;
	if (has[PART_HISTOGRAM]) {
		w->histogram = at;
		at += sizeof(struct histogram);
	}
	if (has[PART_TIMES]) {
		w->times = at;
		at += sizeof(struct time_span);
	}
	at = (at + 15) & ~15u;
	if (has[PART_TOTAL_STDEV]) {
		w->total_stdev = at;
		at += sizeof(struct squares);
	}
	if (has[PART_SELF_STDEV]) {
		w->self_stdev = at;
		at += sizeof(struct squares);
	}
	if (has[PART_BUSY]) {
		w->busy = at;
		at += 2 * sizeof(uint128);
	}
	if (has[PART_MEMORY]) {
		w->memory = at;
		at += sizeof(struct aggregate_memory);
	}
	if (has[PART_WHOLE]) {
		w->whole = at;
		at += sizeof(int128);
	}
	if (w->field_count) {
		w->fields = at;
		at += w->field_count * (uint32_t)sizeof(struct aggregate_field);
	}
	w->size = at;
	w->rarely = w->times || w->total_stdev || w->self_stdev;
}

static int add_column(struct columns *c, const char *s, size_t n, struct error *e)
{
	struct column *grown, parsed;

	if (parse_one(c, s, n, &parsed, e))
		return -1;
	grown = realloc(c->column, (c->count + 1) * sizeof *grown);
	if (!grown)
		return error_no_memory(e);
	c->column = grown;
	parsed.name = strndup(s, n);
	if (!parsed.name)
		return error_no_memory(e);
	c->column[c->count++] = parsed;
	columns_assign_parts(c);
	return 0;
}

static int find_column(const struct columns *c, const char *s, size_t n)
{
	for (size_t i = 0; i < c->count; i++) {
		if (table_is_word(c->column[i].name, s, n))
			return (int)i;
	}
	return -1;
}

int columns_parse(struct columns *c, const char *list, struct error *e)
{
	enum { MANY = 1000 }; /* each costs memory in every group */

	for (;;) {
		size_t n = keys_item_length(list);

		if (find_column(c, list, n) >= 0)
			return error_set(e, NULL, NO_OFFSET, "column '%.*s' is given twice",
					 (int)(n < 64 ? n : 64), list);
		if (c->count == MANY)
			return error_set(e, NULL, NO_OFFSET, "more than %d columns", MANY);
		if (add_column(c, list, n, e))
			return -1;
		c->printed = c->count;
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

int columns_find(struct columns *c, const char *name, struct error *e)
{
	int i = find_column(c, name, strlen(name));

	if (i >= 0)
		return i;
	if (add_column(c, name, strlen(name), e))
		return -1;
	return (int)c->count - 1;
}

void columns_free(struct columns *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->column[i].name);
	free(c->column);
	for (uint32_t i = 0; i < c->wanted.field_count; i++)
		free(c->wanted.field[i].name);
	free(c->wanted.field);
	memset(c, 0, sizeof *c);
}

enum column_unit column_unit(const struct column *c)
{
	enum column_unit unit = c->duration ? UNIT_DURATION : c->type->unit;

	return c->weight && unit == UNIT_DURATION ? UNIT_NUMBER : unit;
}

bool column_of_single_weights(const struct column *c)
{
	return c->weight && c->type->part != PART_WHOLE && strcmp(c->type->name, "total") != 0 &&
	       strcmp(c->type->name, "self") != 0 && strcmp(c->type->name, "count") != 0;
}

void columns_set_weights(struct columns *c, bool ns)
{
	c->weights |= !ns;
	c->ns |= ns;
	for (size_t i = 0; i < c->count; i++) {
		c->column[i].weight = c->weights;
		c->column[i].ns = c->ns;
	}
}

/* --- sort --- */

/* Find a column of that name, or, with *group_key set, a key. Returns its index, or -1 with e
 * filled. */
static int sort_resolve(const char *name, const char *const *keys, size_t key_count,
			struct columns *c, bool *group_key, struct error *e)
{
	int column;

	*group_key = false;
	for (size_t i = 0; i < c->printed; i++)
		if (!strcmp(c->column[i].name, name))
			return (int)i;
	for (size_t i = 0; i < key_count; i++)
		if (!strcmp(keys[i], name)) {
			*group_key = true;
			return (int)i;
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
	return column;
}

int sort_parse(struct sort *s, const char *list, const char *const *keys, size_t key_count,
	       struct columns *c, struct error *e)
{
	for (;;) {
		size_t n = keys_item_length(list);
		bool sign = *list == '+' || *list == '-';
		char *name = strndup(list + sign, n - sign);
		bool group_key;
		void *grown;
		int index;

		if (!name)
			return error_no_memory(e);
		index = sort_resolve(name, keys, key_count, c, &group_key, e);
		free(name);
		if (index < 0)
			return -1;
		grown = realloc(s->key, (s->count + 1) * sizeof *s->key);
		if (!grown)
			return error_no_memory(e);
		s->key = grown;
		s->key[s->count].group_key = group_key;
		s->key[s->count].descending = sign ? *list == '-' : !group_key;
		s->key[s->count++].index = (size_t)index;
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

/* A row with the values of its sort columns, because percentiles are costly to compute. */
struct row {
	const struct aggregate *group;
	const struct column_value *value; /* one for each sort key, unused for group keys */
	size_t place, first;		  /* with together: its place, and that of its value */
};

struct table_context {
	const struct sort *sort;
	const struct groups *groups;
};

static int table_compare_rows(const void *pa, const void *pb, void *pc)
{
	const struct row *a = pa, *b = pb;
	const struct table_context *context = pc;
	const struct groups *g = context->groups;
	const struct key_cell *ka = groups_cells(g, a->group), *kb = groups_cells(g, b->group);
	int c;

	for (size_t i = 0; i < context->sort->count; i++) {
		size_t index = context->sort->key[i].index;
		bool descending = context->sort->key[i].descending;

		if (context->sort->key[i].group_key)
			c = compare_cells(g, &ka[index], &kb[index], descending);
		else
			c = column_value_compare(&a->value[i], &b->value[i], descending);
		if (c)
			return c;
	}
	return groups_compare_first(g, a->group, b->group, g->keys);
}

static int compare_together(const void *pa, const void *pb, void *pc)
{
	const struct row *a = pa, *b = pb;
	const struct table_context *context = pc;
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
static void put_together(struct row *rows, size_t n, struct table_context *context)
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
	struct table_context context = {s, g};
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
	qsort_r(rows, g->count, sizeof *rows, table_compare_rows, &context);
	if (s->together)
		put_together(rows, g->count, &context);
	for (size_t i = 0; i < g->count; i++)
		sorted[i] = rows[i].group;
	free(rows);
	free(values);
	return sorted;
}

/* --- cells --- */

static bool is_json(const struct cells *c)
{
	return c->format == TABLE_JSON || c->format == TABLE_NDJSON;
}

static void table_put_text(const struct cells *c, const char *p, size_t n)
{
	if (is_json(c))
		json_string(c->out, p, n);
	else if (c->format == TABLE_CSV)
		csv_put(c->out, p, n);
	else
		tsv_put(c->out, p, n);
}

/* Start in the middle of a table: like cells_begin, without a header line. */
static void cells_resume(struct cells *c, struct text *out, enum table_format format,
			 const char *const *names, size_t count)
{
	*c = (struct cells){.out = out, .format = format, .names = names, .count = count};
}

void cells_begin(struct cells *c, struct text *out, enum table_format format,
		 const char *const *names, size_t count)
{
	cells_resume(c, out, format, names, count);
	if (format == TABLE_JSON)
		text_char(out, '[');
	for (size_t i = 0; !is_json(c) && i < count; i++) {
		if (i)
			text_char(out, format == TABLE_CSV ? ',' : '\t');
		table_put_text(c, names[i], strlen(names[i]));
	}
	if (!is_json(c))
		text_char(out, '\n');
}

void cells_end(struct cells *c)
{
	if (c->format == TABLE_JSON)
		text_puts(c->out, c->rows ? "\n]\n" : "]\n");
}

/* Write the separator before a cell. */
static void put_separator(struct cells *c)
{
	if (!is_json(c)) {
		if (c->at)
			text_char(c->out, c->format == TABLE_CSV ? ',' : '\t');
		return;
	}
	if (c->at)
		text_puts(c->out, ", ");
	else if (c->format == TABLE_JSON)
		text_puts(c->out, c->rows ? ",\n  {" : "\n  {");
	else
		text_char(c->out, '{');
	json_string(c->out, c->names[c->at], strlen(c->names[c->at]));
	text_puts(c->out, ": ");
}

static void table_after(struct cells *c)
{
	if (++c->at < c->count)
		return;
	c->at = 0;
	c->rows = true;
	if (is_json(c))
		text_char(c->out, '}');
	if (c->format != TABLE_JSON)
		text_char(c->out, '\n');
}

void cells_text(struct cells *c, const char *p, size_t n)
{
	put_separator(c);
	table_put_text(c, p, n);
	table_after(c);
}

void cells_number(struct cells *c, const char *digits, size_t n)
{
	put_separator(c);
	text_put(c->out, digits, n);
	table_after(c);
}

void cells_u64(struct cells *c, uint64_t number)
{
	put_separator(c);
	text_u64(c->out, number);
	table_after(c);
}

void cells_integer(struct cells *c, bool known, int128 number)
{
	char digits[I128_SIZE];

	if (known)
		cells_number(c, digits, i128_decimal(digits, number));
	else
		cells_none(c);
}

void cells_none(struct cells *c)
{
	put_separator(c);
	if (is_json(c))
		text_puts(c->out, "null");
	table_after(c);
}

void cells_key(struct cells *c, const struct groups *g, const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p;
	size_t n;

	if (cell->kind == KEY_MISSING)
		cells_none(c);
	else if (!key_is_number(cell) && groups_cell_text(g, cell, &p, &n))
		cells_text(c, p, n);
	else if (cell->kind == KEY_ADDRESS)
		cells_text(c, value, format_key(value, cell));
	else
		cells_number(c, value, format_key(value, cell));
}

void cells_value(struct cells *c, const struct column *column, struct column_value v)
{
	char value[VALUE_SIZE];

	if (v.present)
		cells_number(c, value, format_number(value, column_unit(column), v));
	else
		cells_none(c);
}

/* --- plot --- */

bool plot_utf8(const struct output *o)
{
	locale_t l;
	bool utf8;

	if (!output_is_terminal(o))
		return false;
	l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	if (!l)
		return false;
	utf8 = !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");
	freelocale(l);
	return utf8;
}

/* Returns value / max of n, rounded down, but at least 1 if value is not 0. */
static uint64_t plot_share(uint64_t value, uint64_t max, uint64_t n)
{
	uint64_t part = max ? (uint64_t)((uint128)value * n / max) : 0;

	return part ? part : value != 0;
}

size_t plot_bar(struct text *out, uint64_t value, uint64_t max, size_t width, bool utf8)
{
	static const char *const part[8] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	uint64_t eighths =
		utf8 ? plot_share(value, max, width * 8) : plot_share(value, max, width) * 8;
	size_t full = (size_t)(eighths / 8), used = full + (eighths % 8 != 0);

	for (size_t i = 0; i < full; i++)
		text_puts(out, utf8 ? "█" : "#");
	text_puts(out, part[eighths % 8]);
	return used;
}

void plot_level(struct text *out, uint64_t value, uint64_t max, bool utf8)
{
	static const char *const levels[9] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char ascii[9] = {' ', '.', '-', ':', '=', '+', '*', '#', '@'};
	uint64_t level = plot_share(value, max, 8);

	if (utf8)
		text_puts(out, levels[level]);
	else
		text_char(out, ascii[level]);
}

/* --- numbers, times and texts, for human-readable and machine formats --- */

/* Format a value, which must be present, for machine formats: an integer, or three decimals. */
static size_t format_value(char out[static VALUE_SIZE], enum column_unit unit, int128 number)
{
	char digits[I128_SIZE];
	size_t n, sign = number < 0, whole;

	if (unit != UNIT_THOUSANDTHS && unit != UNIT_PERCENT)
		return i128_decimal(out, number);

	/* "-5" is -0.005: at least four digits, the point before the last three. */
	n = u128_decimal(digits, magnitude(number));
	whole = n > 3 ? n - 3 : 1;
	if (sign)
		out[0] = '-';
	if (n > 3)
		memcpy(out + sign, digits, whole);
	else
		out[sign] = '0';
	memcpy(out + sign + whole, ".000", 5);
	n = n > 3 ? 3 : n;
	memcpy(out + sign + whole + 4 - n, digits + strlen(digits) - n, n);
	return sign + whole + 4;
}

size_t format_number(char out[static VALUE_SIZE], enum column_unit unit, struct column_value v)
{
	double real = number_real(v.number, v.fraction);
	size_t n;

	if (v.fraction == 0)
		return format_value(out, unit, v.number);
	if (unit == UNIT_THOUSANDTHS)
		return (size_t)snprintf(out, VALUE_SIZE, "%.15g", real / 1000);
	n = shortest_double(out, real);
	out[n] = '\0';
	return n;
}

size_t format_key(char out[static VALUE_SIZE], const struct key_cell *cell)
{
	if (cell->kind == KEY_SIGNED)
		return i128_decimal(out, (int64_t)cell->value);
	if (cell->kind == KEY_ADDRESS)
		return (size_t)snprintf(out, VALUE_SIZE, "0x%" PRIx64, cell->value);
	if (cell->kind == KEY_REAL) {
		size_t n = shortest_double(out, key_real_value(cell));

		out[n] = '\0';
		return n;
	}
	return u128_decimal(out, cell->value);
}

size_t format_key_aligned(char out[static VALUE_SIZE], const struct keys *by, size_t key,
			  const struct key_cell *cell, bool ticks)
{
	const struct key *k = by && key < by->count ? &by->key[key] : NULL;
	bool time = k && k->kind == BY_TIME && !k->other &&
		    (k->transform == KEY_AS_IT_IS || k->transform == KEY_BUCKET);

	return time && !ticks && cell->kind == KEY_UNSIGNED ? format_time(out, cell->value)
							    : format_key(out, cell);
}

size_t format_duration(char out[static VALUE_SIZE], int128 duration, bool ticks)
{
	static const struct {
		uint64_t below, thousandth;
		const char *unit;
	} scales[] = {
		{1000000, 1, " us"},
		{1000000000, 1000, " ms"},
		{0, 1000000, " s"},
	};
	size_t i = 0, n;

	if (ticks)
		return i128_decimal(out, duration);
	while (scales[i].below && magnitude(duration) >= scales[i].below)
		i++;
	n = format_value(out, UNIT_THOUSANDTHS, duration / scales[i].thousandth);
	strcpy(out + n, scales[i].unit);
	return n + strlen(scales[i].unit);
}

size_t format_time(char out[static VALUE_SIZE], uint64_t ns)
{
	uint64_t rest = ns % 1000000000;
	size_t n = u128_decimal(out, ns / 1000000000);

	out[n] = '.';
	for (size_t i = 9; i > 0; i--, rest /= 10)
		out[n + i] = (char)('0' + rest % 10);
	out[n + 10] = '\0';
	return n + 10;
}

int table_group_name(const struct table *t, const struct groups *g, const struct key_cell *cells,
		     size_t n, struct buffer *to)
{
	int bad = 0;

	for (size_t i = 0; i < n && !bad; i++) {
		char value[VALUE_SIZE];
		const char *text = value;
		size_t size;

		if (!groups_cell_text(g, &cells[i], &text, &size)) {
			text = value;
			size = cells[i].kind == KEY_MISSING
				       ? (size_t)snprintf(value, sizeof value, "-")
				       : format_key_aligned(value, t->by, i, &cells[i], t->ticks);
		}
		bad = (i && buffer_puts(to, ", ")) || buffer_append(to, text, size);
	}
	return bad;
}

size_t format_column(char out[static VALUE_SIZE], const struct column *column,
		     struct column_value v, bool ticks)
{
	enum column_unit unit = column_unit(column);
	size_t n;

	out[0] = '\0';
	if (!v.present)
		return 0;
	ticks = column_counts_ticks(column, ticks);
	if (unit == UNIT_DURATION)
		return format_duration(out, v.number, ticks);
	if (!ticks && unit == UNIT_TIME)
		return format_time(out, (uint64_t)v.number);
	n = format_number(out, unit, v);
	if (unit != UNIT_PERCENT)
		return n;
	strcpy(out + n, " %");
	return n + 2;
}

/* --- tsv, csv, json and ndjson --- */

static int format_cells(const struct table_rows *rows, struct text *out, struct error *e)
{
	const struct table *t = rows->table;
	const struct columns *c = t->columns;
	size_t keys = t->groups->keys;
	const struct interval *interval = t->interval;
	const char **names = calloc(keys + c->printed + 2, sizeof(*names));
	struct cells cells;
	size_t n = 0;

	if (!names)
		return error_no_memory(e);
	if (interval)
		names[n++] = "time";
	for (size_t i = 0; i < keys; i++)
		names[n++] = t->keys[i];
	for (size_t i = 0; i < c->printed; i++)
		names[n++] = c->column[i].name;
	if (interval && !interval->first)
		cells_resume(&cells, out, rows->format, names, n);
	else
		cells_begin(&cells, out, rows->format, names, n);
	for (size_t r = 0; r < rows->count && !text_failed(out); r++) {
		const struct aggregate *a = rows->row[r];
		const struct key_cell *key = groups_cells(t->groups, a);

		if (interval)
			cells_u64(&cells, interval->time);
		for (size_t i = 0; i < keys; i++)
			cells_key(&cells, t->groups, &key[i]);
		for (size_t i = 0; i < c->printed; i++)
			cells_value(&cells, &c->column[i],
				    column_value(c, &c->column[i], a, &t->run));
	}
	cells_end(&cells);
	free(names);
	return 0;
}

/*
 * The aligned table.
 *
 * Numbers are aligned right. The group keys come after the numbers, integers before texts, so that
 * the longest text is at the end of the line. Unprintable characters are shown as '?', because a
 * name from a trace must neither break the table nor control a terminal.
 */

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Get the order in which a table that is too wide leaves its columns out: first those whose values
 * other columns nearly show. A table keeps the columns that it is sorted by. */
static unsigned table_omit_order(const struct table *t, size_t column)
{
	static const char *const last[] = {"total",	   "total_percent", "self",
					   "self_percent", "count",	    "total_max"};
	const struct column *c = &t->columns->column[column];
	unsigned left = 20;

	for (size_t i = 0; t->sort && i < t->sort->count; i++)
		if (!t->sort->key[i].group_key && t->sort->key[i].index == column)
			return 0;
	for (unsigned i = 0; i < COUNT_OF(last); i++)
		if (!strcmp(c->type->name, last[i]))
			return i + 1;
	/* of percentiles those near the middle first, and p50 before the average */
	if (c->type->flags & COLUMN_PERCENTILE)
		left = 100 * c->numerator > 98 * c->denominator	  ? 10
		       : 100 * c->numerator > 50 * c->denominator ? 30
								  : 50;
	return !strcmp(c->type->name, "total_avg") ? 40 : left;
}

/* Test whether a column is left out of all tables unless it is asked for. */
static bool table_lacks(const struct table *t, const struct table_rows *rows, size_t i)
{
	const struct column *c = &t->columns->column[i];

	return i < t->optional && rows->count &&
	       (column_counts_ticks(c, t->ticks) || column_of_single_weights(c) ||
		(c->type->part == PART_WHOLE && !table_durations_ns(t) && !t->columns->weights));
}

/* The printing order of an aligned table. */
struct table_layout {
	const struct table *table;
	size_t *shown;	/* the columns in printing order */
	size_t columns; /* number of those */
	size_t *order;	/* the group keys in printing order: integers, then texts */
	size_t keys;	/* number of those */
	bool *text;	/* the group key is a text in some row */
};

static void table_put_columns(struct table_layout *l, struct aligned *a,
			      const struct table_rows *rows)
{
	const struct table *t = l->table;
	size_t n = 0;

	for (size_t i = 0; i < t->columns->printed; i++) {
		const struct column *c = &t->columns->column[i];

		if (table_lacks(t, rows, i))
			continue;
		l->shown[l->columns++] = i;
		a->column[n++] =
			(struct aligned_column){.name = c->name,
						.unit = column_heading_unit(c, t->ticks, t->event),
						.optional = i < t->optional,
						.asked = i >= t->usual,
						.omit_order = table_omit_order(t, i)};
	}
	for (int texts = 0; texts < 2; texts++) {
		for (size_t i = 0; i < t->groups->keys; i++) {
			if (l->text[i] != texts || i + 1 == t->hidden_key)
				continue;
			l->order[l->keys++] = i;
			a->column[n++] = (struct aligned_column){.name = t->keys[i], .text = texts};
		}
	}
	a->columns = n;
}

static void table_put_row(const struct table_layout *l, struct aligned *a,
			  const struct aggregate *row)
{
	const struct table *t = l->table;
	const struct columns *c = t->columns;
	const struct key_cell *cells = groups_cells(t->groups, row);
	char value[VALUE_SIZE];

	for (size_t k = 0; k < l->columns; k++) {
		const struct column *column = &c->column[l->shown[k]];

		aligned_cell(a, value,
			     format_column(value, column, column_value(c, column, row, &t->run),
					   t->ticks),
			     INK_PLAIN);
	}
	for (size_t k = 0; k < l->keys; k++) {
		const struct key_cell *cell = &cells[l->order[k]];
		const char *p = value;
		size_t n = 0;

		if (!groups_cell_text(t->groups, cell, &p, &n) && cell->kind != KEY_MISSING)
			n = format_key_aligned(value, t->by, l->order[k], cell, t->ticks);
		aligned_cell(a, p, n, INK_PLAIN);
	}
}

void format_interval(char value[static VALUE_SIZE], const struct interval *i, bool ticks)
{
	time_t seconds = (time_t)(i->time / 1000000000);
	struct tm tm;

	if (i->wall && localtime_r(&seconds, &tm)) {
		size_t n = strftime(value, VALUE_SIZE, "%F %T", &tm);

		/* intervals that begin in the same second */
		if (i->width % 1000000000)
			snprintf(value + n, VALUE_SIZE - n, ".%03" PRIu64,
				 i->time % 1000000000 / 1000000);
	} else if (ticks) {
		u128_decimal(value, i->time);
	} else {
		format_time(value, i->time);
	}
}

/* Write the time of an interval above its table. */
static void table_put_interval(const struct interval *i, bool ticks, struct text *out)
{
	char value[VALUE_SIZE];

	if (!i->first)
		text_char(out, '\n');
	format_interval(value, i, ticks);
	text_puts(out, value);
	text_puts(out, ":\n");
}

static int format_aligned(const struct table_rows *rows, struct text *out, struct error *e)
{
	const struct table *t = rows->table;
	size_t columns = t->columns->printed, keys = t->groups->keys;
	struct table_layout l = {
		.table = t,
		.shown = calloc(columns + 1, sizeof *l.shown),
		.order = calloc(keys + 1, sizeof *l.order),
		.text = calloc(keys + 1, sizeof *l.text),
	};
	const char *bounds = t->bounds ? table_bounds(t->columns) : NULL;
	struct aligned a;
	int bad;

	aligned_begin(&a, columns + keys);
	a.failed |= !l.shown || !l.order || !l.text;
	for (size_t i = 0; i < rows->count && !a.failed; i++) {
		const struct key_cell *cells = groups_cells(t->groups, rows->row[i]);
		const char *p;
		size_t n;

		for (size_t k = 0; k < keys; k++)
			l.text[k] |= cells[k].kind == KEY_STACK ||
				     groups_cell_text(t->groups, &cells[k], &p, &n);
	}
	if (!a.failed)
		table_put_columns(&l, &a, rows);
	for (size_t i = 0; i < rows->count && !a.failed; i++)
		table_put_row(&l, &a, rows->row[i]);
	if (t->interval && !a.failed)
		table_put_interval(t->interval, t->ticks, out);
	a.hint = TABLE_HINT;
	a.markdown = rows->format == TABLE_MARKDOWN;
	bad = aligned_write(&a, t->screen, out, e);
	table_put_more(out, rows->left_out);
	if (bounds)
		text_printf(out, "\n%s\n", bounds);
	aligned_free(&a);
	free(l.shown);
	free(l.order);
	free(l.text);
	return bad;
}

/* --- table --- */

static const struct {
	const char *name;
	int (*write)(const struct table_rows *rows, struct text *out, struct error *e);
	/* where there is no table, the views, and what else has the format */
	const char *views, *instead;
} formats[] = {
	[TABLE_ALIGNED] = {"table", format_aligned, NULL, NULL},
	[TABLE_TSV] = {"tsv", format_cells, NULL, NULL},
	[TABLE_CSV] = {"csv", format_cells, NULL, NULL},
	[TABLE_JSON] = {"json", format_cells, NULL, NULL},
	[TABLE_NDJSON] = {"ndjson", format_cells, NULL, NULL},
	[TABLE_PROM] = {"prom", format_prom, NULL, NULL},
	[TABLE_SVG] = {"svg", NULL, "diff hist timeline heatmap",
		       "trencode -t svg draws one trace"},
	[TABLE_FOLDED] = {"folded", NULL, "why", "trencode -t folded writes the calls of a trace"},
	[TABLE_MARKDOWN] = {"markdown", format_aligned, NULL, NULL},
	[TABLE_TEXT] = {"text", NULL, "report", "-t table prints tables"},
	[TABLE_HTML] = {"html", NULL, "report", "tables have no such format"},
};

int table_format_parse(const char *name, enum table_format *format, struct error *e)
{
	char names[120] = "";

	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		size_t n = strlen(names);

		if (!strcmp(formats[i].name, name)) {
			*format = (enum table_format)i;
			return 0;
		}
		snprintf(names + n, sizeof names - n, " %s", formats[i].name);
	}
	return error_set(e, NULL, NO_OFFSET, "unknown format '%.64s'; there are:%s", name, names);
}

int table_format_check(enum table_format format, const char *view, struct error *e)
{
	const char *own = formats[format].views;
	char names[VALUE_SIZE];
	size_t n = 0;
	bool words = format == TABLE_MARKDOWN && view && strcmp(view, "report") != 0;

	if (words && strcmp(view, "diff") != 0)
		return error_set(e, NULL, NO_OFFSET,
				 "-t markdown goes with tables, --diff and --report, not with --%s",
				 view);
	if (format >= TABLE_TSV && format <= TABLE_FOLDED && format != TABLE_JSON && view &&
	    !strcmp(view, "report"))
		return error_set(e, NULL, NO_OFFSET,
				 "--report has the formats text, markdown, json and html, not %s",
				 formats[format].name);
	if (!own || (view && options_apply(own, view)))
		return 0;
	for (const char *p = own; *p && n < sizeof names - 8; p++)
		n += (size_t)snprintf(names + n, sizeof names - n, *p == ' ' ? ", --" : "%c", *p);
	return error_set(e, NULL, NO_OFFSET, "-t %s goes with --%s; %s", formats[format].name,
			 names, formats[format].instead);
}

const char *table_format_name(enum table_format format)
{
	return formats[format].name;
}

int table_write_rows(const struct table_rows *rows, struct text *out, struct error *e)
{
	return formats[rows->format].write(rows, out, e);
}

void rows_limit(struct table_rows *rows)
{
	const struct table *t = rows->table;

	if (!t->limit || rows->count <= t->limit)
		return;
	rows->left_out = t->more ? rows->count - t->limit : 0;
	rows->count = t->limit;
}

void table_put_more(struct text *out, size_t rows)
{
	if (rows)
		text_printf(out, "... %zu more (-n 0)\n", rows);
}

int table_write(const struct table *t, enum table_format format, struct text *out, struct error *e)
{
	const struct aggregate **row = sort_groups(t->sort, t->groups, t->columns, &t->run, e);
	struct table_rows rows = {
		.format = format, .table = t, .row = row, .count = t->groups->count};
	int r;

	if (!row)
		return -1;
	rows_limit(&rows);
	r = table_write_rows(&rows, out, e);
	free(row);
	return r;
}

const char *table_bounds(const struct columns *c)
{
	bool quantile = false, uniq = false;

	for (size_t i = 0; i < c->printed; i++) {
		quantile |= (c->column[i].type->flags & COLUMN_PERCENTILE) != 0;
		uniq |= (c->column[i].type->flags & COLUMN_UNIQ) != 0;
	}
#define QUANTILE "percentiles: of the exact rank, value within 0.391 %, exact below 256"
#define UNIQ	 "uniq: exact to 4096, then an estimate with standard error 0.81 %"
	if (quantile && uniq)
		return QUANTILE "; " UNIQ;
	return quantile ? QUANTILE : uniq ? UNIQ : NULL;
}

#include "cmd/trstat/table/column_types.h"

#include <float.h>
#include <math.h>

#include "cmd/trstat/groups/groups.h"
#include "cmd/trstat/table/columns.h"

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

static const struct aggregate_times *times_of(const struct column_cell *v)
{
	return aggregate_part(v->a, v->columns->wanted.times);
}

static const struct aggregate_field *field_of(const struct column_cell *v)
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

VALUE(count, some(aggregate_count(v->a)))
VALUE(total, some(v->a->total))
VALUE(total_avg, average(aggregate_every(v->a), v->a->calls))
VALUE(total_min, some(v->a->total_min))
VALUE(total_max, some(v->a->total_max))
VALUE(total_stdev, some(stddev_of(v->a->calls, aggregate_every(v->a),
				  aggregate_part(v->a, v->columns->wanted.total_stdev))))
VALUE(self, some(v->a->self))
VALUE(self_avg, average(v->a->self, v->a->calls))
VALUE(self_min, some(v->a->self_min))
VALUE(self_max, some(v->a->self_max))
VALUE(self_stdev,
      some(stddev_of(v->a->calls, v->a->self, aggregate_part(v->a, v->columns->wanted.self_stdev))))
VALUE(percentile, some(aggregate_quantile(v->a, &v->columns->wanted, v->column->numerator,
					  v->column->denominator)))
VALUE(first, times_of(v)->first > times_of(v)->last ? none() : some(times_of(v)->first))
VALUE(last, times_of(v)->first > times_of(v)->last ? none() : some(times_of(v)->last))

static struct column_value rate_value(const struct column_cell *v)
{
	const struct columns_run *run = v->run;

	if (run->first >= run->last)
		return none();
	return some(
		thousandths((uint128)aggregate_count(v->a) * 1000000000, run->last - run->first));
}

/* Returns a value in percent of the self values of all groups, if their sum is above 0. */
static struct column_value share(const struct column_cell *v, int128 value)
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

VALUE(total_percent, share(v, v->a->total))
VALUE(self_percent, share(v, v->a->self))

static uint128 busy_of(const struct column_cell *v)
{
	return *(const uint128 *)aggregate_part(v->a, v->columns->wanted.busy);
}

VALUE(busy, some((int128)busy_of(v)))

/* Returns the time of the run that is in the group's bucket: the first and the last bucket of a
 * trace are rarely whole. */
static uint64_t time_covered(const struct column_cell *v)
{
	const struct columns_run *run = v->run;
	uint64_t first = run->first, last = run->last, begin = run->bucket_begin, end;

	if (run->bucket) {
		if (run->bucket_key)
			begin = aggregate_cells(v->a, &v->columns->wanted)[run->bucket_key - 1]
					.value;
		first = begin > first ? begin : first;
		if (!__builtin_add_overflow(begin, run->bucket, &end) && end < last)
			last = end;
	}
	return first < last ? last - first : 0;
}

static struct column_value util_value(const struct column_cell *v)
{
	uint64_t width = time_covered(v);
	uint128 busy = busy_of(v);

	if (!width)
		return none();
	return some(thousandths(busy > UINT128_MAX / 100 ? UINT128_MAX : 100 * busy, width));
}

static struct column_value field_number(const struct aggregate_field *f, struct number n)
{
	n = number_settle(n);
	return (struct column_value){f->count > 0, n.whole, n.fraction};
}

VALUE(field_sum, field_number(field_of(v), field_of(v)->sum))
VALUE(field_min, field_number(field_of(v), field_of(v)->min))
VALUE(field_max, field_number(field_of(v), field_of(v)->max))

/* Returns a mean in thousandths. */
static double mean_of(struct number sum, uint64_t n)
{
	double mean = number_real(sum.whole, sum.fraction) / (double)n;

	return fabs(mean) < DBL_MAX / 1000 ? mean * 1000 : copysign(DBL_MAX, mean);
}

static struct column_value field_avg_value(const struct column_cell *v)
{
	const struct aggregate_field *f = field_of(v);
	int128 size;

	if (!f->count)
		return none();
	if (v->column->duration)
		return average(f->sum.whole, f->count);
	if (f->sum.fraction != 0)
		return field_number(f, number_of_real(mean_of(f->sum, f->count)));
	size = thousandths(magnitude(f->sum.whole), f->count);
	return some(f->sum.whole < 0 ? -size : size);
}

VALUE(field_uniq, some(distinct_count(&field_of(v)->distinct)))

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
	{"util", NULL, COLUMN_OF_PAIRS | COLUMN_SUM | COLUMN_OF_RUN, UNIT_PERCENT, PART_BUSY,
	 util_value, "trstat_util_percent",
	 "Time in pairs as a share of the bucket of time, or of the run."},
	{"sum", NULL, COLUMN_OF_FIELD | COLUMN_SUM, UNIT_NUMBER, PART_FIELDS, field_sum_value,
	 "trstat_field_sum_of_values", "Sum of a field of the events."},
	{"min", NULL, COLUMN_OF_FIELD, UNIT_NUMBER, PART_FIELDS, field_min_value,
	 "trstat_field_min", "Least value of a field of the events."},
	{"max", NULL, COLUMN_OF_FIELD, UNIT_NUMBER, PART_FIELDS, field_max_value,
	 "trstat_field_max", "Largest value of a field of the events."},
	{"avg", NULL, COLUMN_OF_FIELD, UNIT_THOUSANDTHS, PART_FIELDS, field_avg_value,
	 "trstat_field_avg", "Mean of a field of the events."},
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

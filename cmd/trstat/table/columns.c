#include "cmd/trstat/table/columns.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum column_kind kind;
} names[] = {
	{"count", COLUMN_COUNT},	 {"total", COLUMN_TOTAL},
	{"total_avg", COLUMN_TOTAL_AVG}, {"total_min", COLUMN_TOTAL_MIN},
	{"total_max", COLUMN_TOTAL_MAX}, {"total_stdev", COLUMN_TOTAL_STDEV},
	{"avg", COLUMN_TOTAL_AVG},	 {"min", COLUMN_TOTAL_MIN},
	{"max", COLUMN_TOTAL_MAX},	 {"self", COLUMN_SELF},
	{"self_avg", COLUMN_SELF_AVG},	 {"self_min", COLUMN_SELF_MIN},
	{"self_max", COLUMN_SELF_MAX},	 {"self_stdev", COLUMN_SELF_STDEV},
	{"first", COLUMN_FIRST},	 {"last", COLUMN_LAST},
	{"rate", COLUMN_RATE},
};

static const struct {
	const char *name;
	enum column_kind kind;
} functions[] = {
	{"sum", COLUMN_FIELD_SUM}, {"min", COLUMN_FIELD_MIN},	{"max", COLUMN_FIELD_MAX},
	{"avg", COLUMN_FIELD_AVG}, {"uniq", COLUMN_FIELD_UNIQ},
};

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

const char *columns_names(void)
{
	return "count total total_avg total_min total_max total_stdev self self_avg self_min "
	       "self_max self_stdev avg min max p50 p90 p99 p99.9 (any percentile) first last rate "
	       "sum(F) min(F) max(F) avg(F) uniq(F)";
}

/* Parse p50, p99.9: at most six decimals, at most 100. */
static bool parse_quantile(const char *s, size_t n, struct column *column)
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
	column->kind = COLUMN_QUANTILE;
	column->numerator = number;
	column->denominator = 100 * scale;
	return true;
}

static int find_field(const struct columns *c, const char *name, size_t n)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++) {
		if (strlen(c->wanted.field[i].name) == n &&
		    !memcmp(c->wanted.field[i].name, name, n))
			return (int)i;
	}
	return -1;
}

int columns_field(const struct columns *c, const char *name)
{
	return find_field(c, name, strlen(name));
}

bool columns_is_argument(const struct wanted_field *f)
{
	return !f->time && !strncmp(f->name, "arg.", 4);
}

size_t columns_arguments(const struct columns_wanted *w, uint32_t n)
{
	size_t arguments = 0;

	for (uint32_t i = 0; i < n; i++)
		arguments += columns_is_argument(&w->field[i]);
	return arguments;
}

int columns_refuse_children(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET,
			 "how many children a call has is not counted here: trfilter asks for it, "
			 "as in 'children > 2' (a field of that name is .children)");
}

static enum wanted_time time_of(const char *name)
{
	if (!strcmp(name, "dur") || !strcmp(name, "total"))
		return TIME_TOTAL;
	return !strcmp(name, "self") ? TIME_SELF : TIME_NONE;
}

/* Find or add the field of that name; -1 with e filled. */
static int want_field(struct columns *c, const char *name, size_t n, bool uniq, struct error *e)
{
	struct wanted_field *field;
	int i = find_field(c, name, n);

	if (i < 0) {
		field = realloc(c->wanted.field, (c->wanted.field_count + 1) * sizeof *field);
		if (!field)
			return error_no_memory(e);
		c->wanted.field = field;
		i = (int)c->wanted.field_count;
		field[i] = (struct wanted_field){.name = strndup(name, n)};
		if (!field[i].name)
			return error_no_memory(e);
		field[i].time = time_of(field[i].name);
		c->wanted.field_count++;
		if (!strcmp(field[i].name, COLUMNS_CHILDREN))
			return columns_refuse_children(e);
	}
	if (uniq)
		c->wanted.field[i].uniq = true;
	return i;
}

/* Parse sum(F), min(F) and so on. Returns 1 if parsed, 0 if the name is no such function, -1
 * with e filled. */
static int parse_function(struct columns *c, const char *s, size_t n, struct column *column,
			  struct error *e)
{
	const char *open = memchr(s, '(', n);
	int field;

	if (!open || s[n - 1] != ')' || open + 2 > s + n - 1)
		return 0;
	for (size_t i = 0; i < COUNT_OF(functions); i++) {
		size_t length = (size_t)(open - s);

		if (strlen(functions[i].name) != length || memcmp(functions[i].name, s, length))
			continue;
		column->kind = functions[i].kind;
		field = want_field(c, open + 1, n - length - 2, column->kind == COLUMN_FIELD_UNIQ,
				   e);
		if (field < 0)
			return -1;
		column->field = (uint32_t)field;
		column->duration = c->wanted.field[field].time != TIME_NONE &&
				   column->kind != COLUMN_FIELD_UNIQ;
		return 1;
	}
	return 0;
}

static int parse_one(struct columns *c, const char *s, size_t n, struct column *column,
		     struct error *e)
{
	int r;

	*column = (struct column){0};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (strlen(names[i].name) == n && !memcmp(names[i].name, s, n)) {
			column->kind = names[i].kind;
			return 0;
		}
	}
	if (parse_quantile(s, n, column))
		return 0;
	r = parse_function(c, s, n, column, e);
	if (r)
		return r < 0 ? -1 : 0;
	return error_set(e, NULL, NO_OFFSET, "unknown column '%.*s'; there are: %s",
			 (int)(n < 64 ? n : 64), s, columns_names());
}

/* Assign an offset in the aggregate to each part that a column needs. */
static void lay_out(struct columns *c)
{
	struct columns_wanted *w = &c->wanted;
	uint32_t at = sizeof(struct aggregate);
	bool has[COLUMN_FIELD_UNIQ + 1] = {false};

	for (size_t i = 0; i < c->count; i++)
		has[c->column[i].kind] = true;
	w->histogram = w->times = w->total_stdev = w->self_stdev = w->fields = 0;
	if (has[COLUMN_QUANTILE]) {
		w->histogram = at;
		at += sizeof(struct histogram);
	}
	if (has[COLUMN_FIRST] || has[COLUMN_LAST]) {
		w->times = at;
		at += sizeof(struct aggregate_times);
	}
	at = (at + 15) & ~15u;
	if (has[COLUMN_TOTAL_STDEV]) {
		w->total_stdev = at;
		at += sizeof(struct squares);
	}
	if (has[COLUMN_SELF_STDEV]) {
		w->self_stdev = at;
		at += sizeof(struct squares);
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
	lay_out(c);
	return 0;
}

static int find_column(const struct columns *c, const char *s, size_t n)
{
	for (size_t i = 0; i < c->count; i++) {
		if (strlen(c->column[i].name) == n && !memcmp(c->column[i].name, s, n))
			return (int)i;
	}
	return -1;
}

size_t columns_item_length(const char *list)
{
	size_t n = 0;

	for (int depth = 0; list[n] && (list[n] != ',' || depth > 0); n++)
		depth += list[n] == '(' ? 1 : list[n] == ')' ? -1 : 0;
	return n;
}

int columns_parse(struct columns *c, const char *list, struct error *e)
{
	enum { MANY = 1000 }; /* each costs memory in every group */

	for (;;) {
		size_t n = columns_item_length(list);

		if (find_column(c, list, n) >= 0)
			return error_set(e, NULL, NO_OFFSET, "column '%.*s' is asked for twice",
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

int columns_check_ticks(const struct columns *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->column[i].kind == COLUMN_RATE)
			return error_set(
				e, NULL, NO_OFFSET,
				"no rate: the clock of this trace counts ticks, which have no "
				"length in time");
	}
	return 0;
}

int columns_check_clocks(const struct columns *c, const struct clocks *clocks, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		enum column_unit unit = column_unit(&c->column[i]);

		if (unit == UNIT_DURATION || unit == UNIT_TIME)
			return clocks_check(clocks, CLOCKS_HINT, e);
	}
	return 0;
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
	if (c->duration)
		return UNIT_DURATION;
	switch (c->kind) {
	case COLUMN_COUNT:
	case COLUMN_FIELD_SUM:
	case COLUMN_FIELD_MIN:
	case COLUMN_FIELD_MAX:
	case COLUMN_FIELD_UNIQ: return UNIT_NUMBER;
	case COLUMN_FIRST:
	case COLUMN_LAST: return UNIT_TIME;
	case COLUMN_RATE:
	case COLUMN_FIELD_AVG: return UNIT_THOUSANDTHS;
	default: return UNIT_DURATION;
	}
}

static struct column_value none(void)
{
	return (struct column_value){.present = false};
}

static struct column_value some(uint128 number)
{
	return (struct column_value){
		.present = true,
		.number = number > (uint128)INT128_MAX ? INT128_MAX : (int128)number,
	};
}

/* numerator / denominator in thousandths, rounded; denominator below 2^64. */
static uint128 thousandths(uint128 numerator, uint64_t denominator)
{
	uint128 whole = numerator / denominator, rest = numerator % denominator;

	if (whole > (uint128)INT128_MAX / 1000 - 1)
		return INT128_MAX;
	return whole * 1000 + (rest * 1000 + denominator / 2) / denominator;
}

static struct column_value average(uint128 sum, uint64_t n)
{
	return some(sum / n);
}

static struct column_value call_value(const struct columns *c, const struct column *column,
				      const struct aggregate *a)
{
	const struct columns_wanted *w = &c->wanted;
	uint128 every;

	if (!a->calls)
		return none();
	if (__builtin_add_overflow(a->total, a->recursive, &every))
		every = UINT128_MAX;

	switch (column->kind) {
	case COLUMN_TOTAL: return some(a->total);
	case COLUMN_TOTAL_AVG: return average(every, a->calls);
	case COLUMN_TOTAL_MIN: return some(a->total_min);
	case COLUMN_TOTAL_MAX: return some(a->total_max);
	case COLUMN_TOTAL_STDEV:
		return some(stddev_of(a->calls, every, aggregate_part(a, w->total_stdev)));
	case COLUMN_SELF: return some(a->self);
	case COLUMN_SELF_AVG: return average(a->self, a->calls);
	case COLUMN_SELF_MIN: return some(a->self_min);
	case COLUMN_SELF_MAX: return some(a->self_max);
	case COLUMN_SELF_STDEV:
		return some(stddev_of(a->calls, a->self, aggregate_part(a, w->self_stdev)));
	case COLUMN_QUANTILE:
		return some(histogram_quantile(aggregate_part(a, w->histogram), column->numerator,
					       column->denominator, a->total_min, a->total_max));
	default: return none();
	}
}

static struct column_value field_value(const struct columns *c, const struct column *column,
				       const struct aggregate *a)
{
	const struct aggregate_field *f = aggregate_part(a, c->wanted.fields);
	uint128 size;

	f += column->field;
	if (column->kind == COLUMN_FIELD_UNIQ)
		return some(distinct_count(&f->distinct));
	if (!f->count)
		return none();
	switch (column->kind) {
	case COLUMN_FIELD_SUM: return (struct column_value){true, f->sum};
	case COLUMN_FIELD_MIN: return (struct column_value){true, f->min};
	case COLUMN_FIELD_MAX: return (struct column_value){true, f->max};
	default: break;
	}
	if (column->duration)
		return average((uint128)f->sum, f->count);
	size = f->sum < 0 ? -(uint128)f->sum : (uint128)f->sum;
	size = thousandths(size, f->count);
	return (struct column_value){true, f->sum < 0 ? -(int128)size : (int128)size};
}

struct column_value column_value(const struct columns *c, const struct column *column,
				 const struct aggregate *a, const struct columns_run *run)
{
	switch (column->kind) {
	case COLUMN_COUNT: return some(aggregate_count(a));
	case COLUMN_FIRST:
	case COLUMN_LAST: {
		const struct aggregate_times *t = aggregate_part(a, c->wanted.times);

		if (t->first > t->last)
			return none();
		return some(column->kind == COLUMN_FIRST ? t->first : t->last);
	}
	case COLUMN_RATE:
		if (run->first >= run->last)
			return none();
		return some(thousandths((uint128)aggregate_count(a) * 1000000000,
					run->last - run->first));
	case COLUMN_FIELD_SUM:
	case COLUMN_FIELD_MIN:
	case COLUMN_FIELD_MAX:
	case COLUMN_FIELD_AVG:
	case COLUMN_FIELD_UNIQ: return field_value(c, column, a);
	default: return call_value(c, column, a);
	}
}

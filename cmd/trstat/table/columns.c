#include "cmd/trstat/table/columns.h"
#include "common/cli/options.h"
#include "common/util/error.h"
#include "common/value/nearest.h"
#include "common/pairs/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	column->type = column_percentile();
	column->numerator = number;
	column->denominator = 100 * scale;
	return true;
}

static bool is_word(const char *word, const char *s, size_t n)
{
	return strlen(word) == n && !memcmp(word, s, n);
}

static int find_field(const struct columns *c, const char *name, size_t n)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++) {
		if (is_word(c->wanted.field[i].name, name, n))
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

static enum wanted_time time_of(const char *name)
{
	if (!strcmp(name, "dur"))
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
		if (!strcmp(field[i].name, KEYS_CHILDREN))
			return keys_refuse_children(e);
	}
	if (uniq)
		c->wanted.field[i].uniq = true;
	return i;
}

/* Parse sum(F), min(F) and so on. OUTCOME_NO: the name is no such function;
 * OUTCOME_FAILED: e is filled. */
static enum outcome parse_function(struct columns *c, const char *s, size_t n,
				   struct column *column, struct error *e)
{
	const char *open = memchr(s, '(', n);
	int field;

	if (!open || s[n - 1] != ')' || open + 2 > s + n - 1)
		return OUTCOME_NO;
	for (size_t i = 0; i < column_types_count; i++) {
		const struct column_type *t = &column_types[i];

		if (!(t->flags & COLUMN_OF_FIELD) || !is_word(t->name, s, (size_t)(open - s)))
			continue;
		column->type = t;
		field = want_field(c, open + 1, n - (size_t)(open - s) - 2, t->flags & COLUMN_UNIQ,
				   e);
		if (field < 0)
			return OUTCOME_FAILED;
		column->field = (uint32_t)field;
		column->duration =
			c->wanted.field[field].time != TIME_NONE && !(t->flags & COLUMN_UNIQ);
		return OUTCOME_YES;
	}
	return OUTCOME_NO;
}

/* Find a column that is written by its name alone. */
static const struct column_type *named_type(const char *s, size_t n)
{
	for (size_t i = 0; i < column_types_count; i++) {
		const struct column_type *t = &column_types[i];

		if (!(t->flags & (COLUMN_OF_FIELD | COLUMN_PERCENTILE)) &&
		    (is_word(t->name, s, n) || (t->alias && is_word(t->alias, s, n))))
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

		for (size_t p = 0; t->flags & COLUMN_PERCENTILE && p < sizeof few / sizeof *few;
		     p++)
			options_add_word(words, size, few[p]);
		if (t->flags & COLUMN_PERCENTILE)
			continue;
		snprintf(name, sizeof name, "%s%s", t->name,
			 t->flags & COLUMN_OF_FIELD ? "(F)" : "");
		options_add_word(words, size, name);
		if (t->alias)
			options_add_word(words, size, t->alias);
	}
}

static int unknown_column(const char *s, size_t n, struct error *e)
{
	const char *open = memchr(s, '(', n);
	char known[COLUMN_WORDS_SIZE] = "", near[COLUMN_WORDS_SIZE] = "";
	struct nearest nearest;

	if (open && named_type(s, (size_t)(open - s)))
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
	column->type = named_type(s, n);
	if (column->type)
		return 0;
	if (parse_quantile(s, n, column))
		return 0;
	r = parse_function(c, s, n, column, e);
	if (r != OUTCOME_NO)
		return r == OUTCOME_FAILED ? -1 : 0;
	return unknown_column(s, n, e);
}

/* Assign an offset in the aggregate to each part that a column needs. */
static void lay_out(struct columns *c)
{
	struct columns_wanted *w = &c->wanted;
	uint32_t at = sizeof(struct aggregate);
	bool has[PARTS] = {false};

	w->totals = false;
	for (size_t i = 0; i < c->count; i++) {
		has[c->column[i].type->part] = true;
		w->totals |= c->column[i].type->flags & COLUMN_TOTALS;
	}
	w->histogram = w->times = w->total_stdev = w->self_stdev = w->fields = w->busy = w->whole =
		0;
	if (has[PART_HISTOGRAM]) {
		w->histogram = at;
		at += sizeof(struct histogram);
	}
	if (has[PART_TIMES]) {
		w->times = at;
		at += sizeof(struct aggregate_times);
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
		at += sizeof(uint128);
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
	lay_out(c);
	return 0;
}

static int find_column(const struct columns *c, const char *s, size_t n)
{
	for (size_t i = 0; i < c->count; i++) {
		if (is_word(c->column[i].name, s, n))
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

int columns_check_ticks(const struct columns *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->column[i].type->flags & COLUMN_RATE)
			return error_set(e, NULL, NO_OFFSET, "no rate: the clock counts ticks");
	}
	return 0;
}

int columns_refuse_pairs(const struct columns *c, struct error *e)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->column[i].type->flags & COLUMN_OF_PAIRS)
			return error_set(e, NULL, NO_OFFSET, "the column %s goes with --pair",
					 c->column[i].name);
	return 0;
}

int columns_check_clocks(const struct columns *c, const struct clocks *clocks, struct error *e)
{
	for (size_t i = 0; i < c->count; i++) {
		enum column_unit unit = column_unit(&c->column[i]);

		if (unit == UNIT_DURATION || unit == UNIT_TIME ||
		    c->column[i].type->part == PART_WHOLE)
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
	enum column_unit unit = c->duration ? UNIT_DURATION : c->type->unit;

	return c->weight && unit == UNIT_DURATION ? UNIT_NUMBER : unit;
}

bool column_of_single_weights(const struct column *c)
{
	return c->weight && strcmp(c->type->name, "total") != 0 &&
	       strcmp(c->type->name, "self") != 0 && strcmp(c->type->name, "count") != 0;
}

bool column_counts_ticks(const struct column *c, bool ticks)
{
	enum column_unit unit = column_unit(c);

	return ticks && (unit == UNIT_TIME || (unit == UNIT_DURATION && !c->ns));
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

/* links: cmd/trstat */
/* Lists of columns, and what data they want. */
#include "t/unit/tap.h"

#include "cmd/trstat/table.h"

#include <stdlib.h>

static struct aggregate *make(const struct columns *c)
{
	struct aggregate *a = aligned_alloc(16, c->wanted.size);

	memset(a, 0, c->wanted.size);
	aggregate_init(a, &c->wanted);
	return a;
}

static void drop(struct aggregate *a, const struct columns *c)
{
	aggregate_free(a, &c->wanted);
	free(a);
}

static const struct columns_run run = {.first = 1000, .last = 2000001000};

/* The values of all columns as one line, "-" where there is none. */
static const char *line(const struct columns *c, const struct aggregate *a)
{
	static char out[1000];
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct column_value v = column_value(c, &c->column[i], a, &run);
		char text[I128_SIZE] = "-";

		if (v.present)
			i128_decimal(text, v.number);
		n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i ? " " : "", text);
	}
	return out;
}

static void parse(void)
{
	struct columns c = {0};
	struct error e;

	ok(!columns_parse(&c, "total,self,count,avg,p50,p99,max", &e), "the default");
	ok(c.printed == 7 && c.count == 7, "seven columns");
	is_str(c.column[3].name, "avg", "named as written");
	is_str(c.column[3].type->name, "total_avg", "short for total_avg");
	ok(c.column[4].type == column_percentile() && c.column[4].numerator == 50 &&
		   c.column[4].denominator == 100,
	   "p50");
	ok(c.wanted.histogram && !c.wanted.times && !c.wanted.rarely, "a histogram, nothing else");
	ok(columns_find(&c, "total", &e) == 0 && c.count == 7, "found");
	ok(columns_find(&c, "last", &e) == 7 && c.printed == 7 && c.wanted.times,
	   "added, not printed");
	columns_free(&c);

	ok(!columns_parse(&c, "p99.9,p0,p100,p99.9999", &e), "percentiles");
	ok(c.column[0].numerator == 999 && c.column[0].denominator == 1000, "p99.9");
	columns_free(&c);

	ok(!columns_parse(&c, "sum(size),min(arg.x),avg(size),uniq(f(a,b))", &e), "fields");
	ok(c.wanted.field_count == 3 && columns_field(&c, "f(a,b)") == 2, "each field once");
	ok(c.column[2].field == 0 && !c.wanted.field[0].uniq && c.wanted.field[2].uniq,
	   "and for what");
	ok(columns_field(&c, "x") < 0, "no such field");
	columns_free(&c);

	ok(columns_parse(&c, "total,slef", &e) < 0, "unknown");
	ok(strstr(e.what, "'slef'") && strstr(e.what, "'self'"),
	   "the message names it and the nearest");
	columns_free(&c);
	ok(columns_parse(&c, "total,qqqqqqqq", &e) < 0 && strstr(e.what, "self_stdev") &&
		   strstr(e.what, "uniq(F)"),
	   "without a near one what there is");
	columns_free(&c);
	ok(columns_parse(&c, "total,total", &e) < 0 && strstr(e.what, "twice"), "twice");
	columns_free(&c);

	static const char *const bad[] = {"",	    "p",	   "p101",   "p99.", "p.5",
					  "p1e1",   "p99.1234567", "sum()",  "sum(", "sum(x",
					  "med(x)", ",",	   "total,", "(",    ")"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		ok(columns_parse(&c, bad[i], &e) < 0, bad[i]);
		columns_free(&c);
	}

	ok(!columns_parse(&c, "count,first", &e) && columns_find(&c, "rate", &e) >= 0, "found");
	columns_free(&c);
}

static void values(void)
{
	struct columns c = {0};
	struct error e;
	struct aggregate *a, *b, *whole;

	columns_parse(&c,
		      "count,total,total_avg,total_min,total_max,total_stdev,self,self_avg,"
		      "self_min,self_max,self_stdev,p50,first,last,rate",
		      &e);
	a = make(&c);
	is_str(line(&c, a), "0 - - - - - - - - - - - - - 0", "no rows: a count, nothing else");
	aggregate_instant(a, &c.wanted, 700);
	aggregate_instant(a, &c.wanted, 600);
	is_str(line(&c, a), "2 - - - - - - - - - - - 600 700 1000", "instants have no durations");
	drop(a, &c);

	/* fib: the outer call of 100 holds two recursive ones */
	a = make(&c);
	ok(!aggregate_call(a, &c.wanted, 20, 20, true, 5000), "an inner call");
	ok(!aggregate_call(a, &c.wanted, 30, 30, true, 6000), "another");
	ok(!aggregate_call(a, &c.wanted, 101, 51, false, 7000), "the outer one");
	is_str(line(&c, a), "3 101 50 20 101 36 101 33 20 51 13 30 5000 7000 1500",
	       "total without the recursive ones, the rest with them");

	b = make(&c);
	whole = make(&c);
	for (int i = 0; i < 1000; i++) {
		uint64_t t = (uint64_t)i * i * i % 10007;

		aggregate_call(i % 3 ? a : b, &c.wanted, t, t / 2, i % 5 == 0, (uint64_t)i * 10);
		aggregate_call(whole, &c.wanted, t, t / 2, i % 5 == 0, (uint64_t)i * 10);
	}
	aggregate_call(whole, &c.wanted, 20, 20, true, 5000);
	aggregate_call(whole, &c.wanted, 30, 30, true, 6000);
	aggregate_call(whole, &c.wanted, 101, 51, false, 7000);
	ok(!aggregate_merge(a, b, &c.wanted), "merge");
	{
		char *want = strdup(line(&c, whole));

		is_str(line(&c, a), want, "a merge is the single run");
		free(want);
	}
	drop(b, &c);
	b = make(&c);
	ok(!aggregate_merge(a, b, &c.wanted) && !aggregate_merge(b, a, &c.wanted), "merge nothing");
	{
		char *want = strdup(line(&c, a));

		is_str(line(&c, b), want, "nothing changes nothing");
		free(want);
	}
	b->self = INT128_MAX;
	ok(aggregate_merge(a, b, &c.wanted) < 0, "sums do not wrap");
	drop(a, &c);
	drop(b, &c);
	drop(whole, &c);
	columns_free(&c);
}

static void large(void)
{
	struct columns c = {0};
	struct error e;
	struct aggregate *a;

	columns_parse(&c, "total,avg,max", &e);
	a = make(&c);
	aggregate_call(a, &c.wanted, UINT64_MAX, 0, false, 0);
	aggregate_call(a, &c.wanted, UINT64_MAX, 0, true, 0);
	aggregate_call(a, &c.wanted, UINT64_MAX, 0, false, 0);
	is_str(line(&c, a), "36893488147419103230 18446744073709551615 9223372036854775807",
	       "sums beyond 64 bits");
	drop(a, &c);
	columns_free(&c);
}

static void fields(void)
{
	struct columns c = {0};
	struct error e;
	struct aggregate *a, *b;

	columns_parse(&c, "sum(x),min(x),max(x),avg(x),uniq(x),uniq(s),sum(s)", &e);
	a = make(&c);
	b = make(&c);
	is_str(line(&c, a), "- - - - 0 0 -", "no rows with the fields");
	ok(!aggregate_number(b, &c.wanted, 0, -7), "a signed value");
	ok(!aggregate_number(b, &c.wanted, 0, 2), "another");
	ok(!aggregate_number(a, &c.wanted, 0, 2), "one twice");
	ok(!aggregate_text(a, &c.wanted, 1, "one", 3) && !aggregate_text(b, &c.wanted, 1, "two", 3),
	   "texts");
	ok(!aggregate_merge(a, b, &c.wanted), "merge");
	is_str(line(&c, a), "-3 -7 2 -1000 2 2 -", "signed sums; texts only count");
	ok(!aggregate_number(a, &c.wanted, 0, UINT64_MAX), "an unsigned value");
	is_str(line(&c, a),
	       "18446744073709551612 -7 18446744073709551615 4611686018427387903000 3 2 -",
	       "beyond 64 bits");
	drop(a, &c);
	a = make(&c);
	for (int i = 0; i < 3; i++)
		aggregate_number(a, &c.wanted, 0, i == 0 ? -2 : 0);
	is_str(line(&c, a), "-2 -2 0 -667 2 0 -", "an average in thousandths, rounded");
	drop(a, &c);
	drop(b, &c);
	columns_free(&c);
}

/* Each row of the table is found by its name and alias, and named where a column is unknown. */
static void types(void)
{
	struct columns none = {0};
	struct error e, unknown;
	char text[32];
	bool found = true, named = true;

	ok(columns_parse(&none, "nothing", &unknown) == -1, "no column");
	columns_free(&none);
	for (size_t i = 0; i < column_types_count; i++) {
		const struct column_type *t = &column_types[i];
		struct columns c = {0};

		snprintf(text, sizeof text, "%s%s", t->name,
			 t->flags & COLUMN_PERCENTILE
				 ? (t->flags & COLUMN_OF_FIELD ? "99.5(x)" : "99.5")
			 : t->flags & COLUMN_OF_FIELD ? "(x)"
						      : "");
		found &= !columns_parse(&c, text, &e) && c.column[0].type == t &&
			 column_unit(&c.column[0]) == t->unit;
		found &= !t->alias || (!columns_parse(&c, t->alias, &e) && c.column[1].type == t);
		named &= strstr(unknown.what, t->name) &&
			 (!t->alias || strstr(unknown.what, t->alias));
		columns_free(&c);
	}
	ok(found, "every column is found");
	ok(named, "and is named in the message");
}

int main(void)
{
	parse();
	types();
	values();
	large();
	fields();
	return done();
}

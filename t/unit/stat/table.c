/* links: cmd/trstat */
/* Tables of trstat: formats, orders, and widths for people. */
#include "t/unit/tap.h"

#include "cmd/trstat/table.h"
#include "common/util/screen.h"
#include "common/util/text.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const names[] = {"name", "tid"};

struct fixture {
	struct columns columns;
	struct groups groups;
	struct sort sort;
	struct screen screen;
	struct table table;
};

static void begin(struct fixture *f, const char *columns, const char *sort, size_t keys)
{
	struct error e;

	memset(f, 0, sizeof *f);
	if (columns_parse(&f->columns, columns, &e) ||
	    (sort && sort_parse(&f->sort, sort, names, keys, &f->columns, &e)))
		printf("# %s\n", e.what);
	groups_init(&f->groups, keys, &f->columns.wanted);
	f->table = (struct table){.groups = &f->groups,
				  .columns = &f->columns,
				  .keys = names,
				  .sort = &f->sort,
				  .screen = &f->screen,
				  .run = {.last = 2000000000}};
}

static void end(struct fixture *f)
{
	groups_free(&f->groups);
	free(f->sort.key);
	columns_free(&f->columns);
}

static struct aggregate *group(struct fixture *f, const char *name, uint64_t tid)
{
	struct key_cell k[2] = {{0}};

	if (name)
		groups_text(&f->groups, name, strlen(name), &k[0]);
	k[1] = key_unsigned(tid);
	return groups_find(&f->groups, k);
}

static void call(struct fixture *f, const char *name, uint64_t tid, uint64_t total)
{
	aggregate_call(group(f, name, tid), &f->columns.wanted, total, total / 2, false, total);
}

static const char *show(struct fixture *f, enum table_format format)
{
	static struct text text;
	static char got[100000];
	struct output out;
	struct error e;
	char path[64];
	int file = memfd_create("table", 0);
	ssize_t n;

	snprintf(path, sizeof path, "/dev/fd/%d", file);
	if (output_open(&out, path, OUTPUT_TEXT, &e))
		printf("# %s\n", e.what);
	text_init(&text, &out);
	if (table_write(&f->table, format, &text, &e) || text_flush(&text, &e))
		printf("# %s\n", e.what);
	output_close(&out, 0, &e);
	n = pread(file, got, sizeof got - 1, 0);
	got[n < 0 ? 0 : n] = '\0';
	close(file);
	return got;
}

static void formats(void)
{
	struct fixture f;

	begin(&f, "total,self,count,avg,p99.9,first,rate", "total", 2);
	call(&f, "main", 10, 1500000);
	call(&f, "a\tb\\c\n", 10, 999);
	call(&f, "std::map<int, \"x\">", 7, 2500000123);
	aggregate_instant(group(&f, "caf\xc3\xa9 \xff", 7), &f.columns.wanted, 5);
	aggregate_instant(group(&f, NULL, 7), &f.columns.wanted, 6);
	aggregate_instant(group(&f, "", 7), &f.columns.wanted, 6);

	is_str(show(&f, TABLE_TSV),
	       "name\ttid\ttotal\tself\tcount\tavg\tp99.9\tfirst\trate\n"
	       "std::map<int, "
	       "\"x\">\t7\t2500000123\t1250000061\t1\t2500000123\t2500000123\t2500000123\t0.500\n"
	       "main\t10\t1500000\t750000\t1\t1500000\t1500000\t1500000\t0.500\n"
	       "a\\tb\\\\c\\n\t10\t999\t499\t1\t999\t999\t999\t0.500\n"
	       "\t7\t\t\t1\t\t\t6\t0.500\n"
	       "caf\xc3\xa9 \xff\t7\t\t\t1\t\t\t5\t0.500\n"
	       "\t7\t\t\t1\t\t\t6\t0.500\n",
	       "tsv");
	is_str(show(&f, TABLE_CSV),
	       "name,tid,total,self,count,avg,p99.9,first,rate\n"
	       "\"std::map<int, "
	       "\"\"x\"\">\",7,2500000123,1250000061,1,2500000123,2500000123,2500000123,0.500\n"
	       "main,10,1500000,750000,1,1500000,1500000,1500000,0.500\n"
	       "\"a\tb\\c\n\",10,999,499,1,999,999,999,0.500\n"
	       "\"\",7,,,1,,,6,0.500\n"
	       "caf\xc3\xa9 \xff,7,,,1,,,5,0.500\n"
	       ",7,,,1,,,6,0.500\n",
	       "csv");
	f.table.limit = 2;
	is_str(show(&f, TABLE_JSON),
	       "[\n"
	       "  {\"name\": \"std::map<int, \\\"x\\\">\", \"tid\": 7, \"total\": 2500000123, "
	       "\"self\": 1250000061, "
	       "\"count\": 1, \"avg\": 2500000123, \"p99.9\": 2500000123, \"first\": 2500000123, "
	       "\"rate\": 0.500},\n"
	       "  {\"name\": \"main\", \"tid\": 10, \"total\": 1500000, \"self\": 750000, "
	       "\"count\": 1, "
	       "\"avg\": 1500000, \"p99.9\": 1500000, \"first\": 1500000, \"rate\": 0.500}\n"
	       "]\n",
	       "json, the first two");
	f.table.limit = 0;
	f.sort.key[0].descending = false;
	ok(strstr(show(&f, TABLE_NDJSON),
		  "{\"name\": \"caf\xc3\xa9 \xef\xbf\xbd\", \"tid\": 7, \"total\": null, "),
	   "ndjson: null, valid UTF-8");
	ok(strstr(show(&f, TABLE_NDJSON), "{\"name\": null, \"tid\": 7, "), "ndjson: no name");
	end(&f);

	begin(&f, "count", NULL, 2);
	is_str(show(&f, TABLE_JSON), "[]\n", "json of nothing");
	is_str(show(&f, TABLE_NDJSON), "", "ndjson of nothing");
	is_str(show(&f, TABLE_TSV), "name\ttid\tcount\n", "tsv of nothing");
	is_str(show(&f, TABLE_ALIGNED), "count  name  tid\n", "table of nothing");
	end(&f);

	begin(&f, "count,total", NULL, 0);
	call(&f, NULL, 0, 1);
	is_str(show(&f, TABLE_TSV), "count\ttotal\n1\t1\n", "no keys: one row");
	is_str(show(&f, TABLE_ALIGNED), "count     total\n    1  0.001 us\n", "as a table");
	is_str(show(&f, TABLE_NDJSON), "{\"count\": 1, \"total\": 1}\n", "as ndjson");
	end(&f);
}

/* The names in the order of the rows, from tsv. */
static const char *order(const char *sort)
{
	static char out[1000];
	struct fixture f;
	const char *p;
	size_t n = 0;

	begin(&f, "count", sort, 2);
	call(&f, "b", 2, 500);
	call(&f, "a", 10, 500);
	call(&f, "c", 1, 70);
	call(&f, "c", 1, 70);
	call(&f, "B", 3, 9);
	aggregate_instant(group(&f, "i", 4), &f.columns.wanted, 5);
	p = show(&f, TABLE_TSV);
	while ((p = strchr(p, '\n')) && p[1])
		out[n++] = *++p;
	out[n] = '\0';
	end(&f);
	return out;
}

static void orders(void)
{
	struct columns c = {0};
	struct sort s = {0};
	struct error e;

	is_str(order(NULL), "Babci", "by the keys");
	is_str(order("total"), "abcBi", "numbers descend, ties by the keys, empty last");
	is_str(order("+total"), "Bcabi", "+: ascending, empty last still");
	is_str(order("-total"), "abcBi", "-: descending");
	is_str(order("name"), "Babci", "keys ascend");
	is_str(order("-name"), "icbaB", "-: descending");
	is_str(order("tid"), "cbBia", "integer keys by value");
	is_str(order("count,-name"), "cibaB", "two keys");
	is_str(order("p50"), "abcBi", "by a column that is not printed");
	ok(sort_parse(&s, "nome", names, 2, &c, &e) < 0 && strstr(e.what, "'nome'"), "unknown");
	ok(sort_parse(&s, "-", names, 2, &c, &e) < 0, "a sign alone");
	free(s.key);
	columns_free(&c);
}

static void people(void)
{
	struct fixture f;

	begin(&f, "total,last,sum(x)", "total", 2);
	call(&f, "main", 10, 1500000);
	call(&f, "x\ny\x1b[2J\xc2\x9b\xff", 10000, 999);
	aggregate_number(group(&f, "main", 10), &f.columns.wanted, 0, -5);
	call(&f, "s", 7, 61000000000);
	aggregate_instant(group(&f, NULL, 7), &f.columns.wanted, 12345678901);
	f.table.bounds = true;
	is_str(show(&f, TABLE_ALIGNED),
	       "   total          last  sum(x)    tid  name\n"
	       "61.000 s  61.000000000              7  s\n"
	       "1.500 ms   0.001500000      -5     10  main\n"
	       "0.999 us   0.000000999          10000  x?y?[2J??\n"
	       "          12.345678901              7  \n",
	       "table");
	f.table.ticks = true;
	is_str(show(&f, TABLE_ALIGNED),
	       "total [ticks]  last [ticks]  sum(x)    tid  name\n"
	       "  61000000000   61000000000              7  s\n"
	       "      1500000       1500000      -5     10  main\n"
	       "          999           999          10000  x?y?[2J??\n"
	       "                12345678901              7  \n",
	       "table of ticks");
	end(&f);

	begin(&f, "count", "count", 2);
	call(&f, "0123456789abcdefghij0123456789ABCDEFGHIJ", 1, 1);
	call(&f, "\xc3\xa4\xc3\xb6\xc3\xbc", 1, 1);
	f.screen.width = 38;
	is_str(show(&f, TABLE_ALIGNED),
	       "count  tid  name\n"
	       "    1    1  0123456789ab...9ABCDEFGHIJ\n"
	       "    1    1  \xc3\xa4\xc3\xb6\xc3\xbc\n",
	       "elided in the middle");
	f.screen.width = 5;
	is_str(show(&f, TABLE_ALIGNED),
	       "count  tid  name\n"
	       "    1    1  0...J\n"
	       "    1    1  \xc3\xa4\xc3\xb6\xc3\xbc\n",
	       "but not to nothing");
	end(&f);

	begin(&f, "p50,uniq(x)", NULL, 2);
	f.table.bounds = true;
	ok(strstr(show(&f, TABLE_ALIGNED), "\n\npercentiles: "), "the bounds below");
	ok(!strstr(show(&f, TABLE_TSV), "percentiles"), "not in machine formats");
	ok(strstr(table_bounds(&f.columns), "0.391 %") && strstr(table_bounds(&f.columns), "uniq"),
	   "bounds");
	end(&f);
	begin(&f, "total", "p50", 2);
	ok(!table_bounds(&f.columns), "what is exact has none");
	end(&f);
}

static void utf8(void)
{
	static const struct {
		const char *text;
		size_t length;
	} good[] = {{"a", 1},
		    {"\xc2\x80", 2},
		    {"\xe0\xa0\x80", 3},
		    {"\xed\x9f\xbf", 3},
		    {"\xf0\x90\x80\x80", 4},
		    {"\xf4\x8f\xbf\xbf", 4}};
	static const char *const bad[] = {"\x80",
					  "\xc1\xbf",
					  "\xc3",
					  "\xc3(",
					  "\xe0\x9f\xbf",
					  "\xed\xa0\x80",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xe2\x82",
					  "\xe2\x82(",
					  "\xff"};
	bool all = true;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		all &= utf8_length(good[i].text, strlen(good[i].text)) == good[i].length;
	ok(all, "valid UTF-8");
	all = true;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		all &= !utf8_length(bad[i], strlen(bad[i]));
	ok(all, "invalid UTF-8: cut, overlong, surrogate, too large");
}

int main(void)
{
	enum table_format format;
	struct error e;

	formats();
	orders();
	people();
	utf8();
	ok(!table_format_parse("csv", &format, &e) && format == TABLE_CSV, "format by name");
	ok(table_format_parse("xml", &format, &e) < 0 && strstr(e.what, "ndjson"),
	   "unknown format");
	return done();
}

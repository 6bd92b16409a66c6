/* What trstat groups by: the keys, over a small stream, and the groups' cache. */
/* links: cmd/trstat */
#include "t/unit/stream.h"

#include "cmd/trstat/statistics.h"
#include "cmd/trstat/table.h"

/* The table of a stream as tsv. */
static const char *table_of(struct blob b, const char *key_list, const char *column_list)
{
	static char shown[65536];
	static struct text text;
	struct keys keys = {0};
	struct columns columns = {0};
	struct sort sort = {0};
	struct statistics st;
	struct output o;
	struct reader r;
	struct block block;
	struct error e;
	int fd = memfd_create("table", 0);
	ssize_t n;

	must(!keys_parse(&keys, key_list, &e) && !columns_parse(&columns, column_list, &e),
	     "parse");
	must(!reader_open_fd(&r, fd_of(b.data, b.size), "made", NULL, 0), "reader");
	must(!statistics_init(&st, &keys, &columns, &r.dictionary), "statistics");
	while (reader_next(&r, &block) > 0)
		if (block.kind == BLOCK_EVENTS)
			must(!statistics_block(&st, &block), "rows");
	must(!statistics_finish(&st), "finish");
	output_to_fd(&o, fd);
	text_init(&text, &o);
	must(!table_write(&(struct table){.groups = &st.groups,
					  .columns = &columns,
					  .keys = keys.names,
					  .sort = &sort,
					  .run = {.first = st.first, .last = st.last}},
			  TABLE_TSV, &text, &e) &&
		     !text_flush(&text, &e),
	     "table");
	output_close(&o, 0, &e);
	n = pread(fd, shown, sizeof(shown) - 1, 0);
	shown[n < 0 ? 0 : n] = '\0';
	close(fd);
	statistics_free(&st);
	free(sort.key);
	columns_free(&columns);
	keys_free(&keys);
	reader_close(&r);
	return shown;
}

static void put_call(struct maker *m, uint64_t t, uint32_t depth, int32_t arg)
{
	struct buffer b = {0};

	must(!value_put_detail(&b, DETAIL_ARGUMENT, 1) && !value_put_number(&b, 'i', &arg, 4) &&
		     !writer_row_data(&m->w, (struct new_row){.time = t,
							      .lane = m->lane,
							      .type = m->call,
							      .location = m->location[1],
							      .depth = depth,
							      .tail = b.data,
							      .tail_size = (uint32_t)b.size,
							      .has_tail = true}),
	     "call");
	buffer_free(&b);
}

static void put_note(struct maker *m, uint64_t t, uint32_t lane, uint8_t cpu, const char *message)
{
	uint8_t fixed[8] = {cpu};

	must(!writer_row_data(&m->w, (struct new_row){.time = t,
						      .lane = lane,
						      .type = m->instant,
						      .fixed = fixed,
						      .fixed_size = 8,
						      .tail = message,
						      .tail_size = (uint32_t)strlen(message),
						      .has_tail = true}),
	     "note");
}

static void put(struct maker *m, uint64_t t, uint32_t type, uint32_t location, uint32_t depth)
{
	must(!writer_row(&m->w, t, m->lane, type, location, depth), "row");
}

static struct blob calls_and_notes(void)
{
	struct maker m;

	make_begin(&m, 0, false);
	m.location[0] = writer_location(
		&m.w, &(struct location_entry){0, 0, 0, writer_text(&m.w, "leaf"), 0});
	put_call(&m, 1000, 0, 5); /* main */
	put(&m, 1100, m.enter, m.location[2], 1);
	put_call(&m, 1200, 2, -7);
	put(&m, 1300, m.leave, m.location[1], 2);
	put_note(&m, 1400, m.lane, 1, "one");
	put(&m, 1500, m.leave, m.location[2], 1);
	put(&m, 1600, m.enter, m.location[0], 1);
	put(&m, 1650, m.leave, m.location[0], 1);
	put_note(&m, 1700, m.other_lane, 1, "two");
	put_note(&m, 2300, m.lane, 2, "two");
	must(!writer_gap(&m.w, 2310, m.lane,
			 &(struct gap){GAP_LOST, GAP_EVENTS, 4, NO_OFFSET, "77.dat", "lost some"}),
	     "gap");
	put(&m, 2400, m.leave, m.location[1], 0);
	put_call(&m, 2500, 0, 5);
	put_note(&m, 2600, m.lane, 2, "end");
	return make_end(&m);
}

static void test_keys(void)
{
	struct blob b = calls_and_notes();

	is_str(table_of(b, "name", "count,total,self"),
	       "name\tcount\ttotal\tself\n"
	       "glFlush\t1\t400\t300\n"
	       "leaf\t1\t50\t50\n"
	       "main\t3\t1500\t1150\n"
	       "note\t4\t\t\n",
	       "name: functions and events; one call is open at the end; gaps do not count");
	is_str(table_of(b, "type", "count,total"),
	       "type\tcount\ttotal\nentry\t5\t\nexit\t4\t1400\nnote\t4\t\n",
	       "type: every row counts, times go to the leave's type");
	is_str(table_of(b, "kind", "count"), "kind\tcount\ncall\t5\ninstant\t4\n", "kind");
	is_str(table_of(b, "group", "count"), "group\tcount\nuftrace\t9\n",
	       "group: calls that never returned too");
	is_str(table_of(b, "input,buffer", "count"),
	       "input\tbuffer\tcount\ndir\t\t8\ndir\ttop\t1\n", "input and buffer");
	is_str(table_of(b, "tid,pid,ppid,comm", "count"),
	       "tid\tpid\tppid\tcomm\tcount\n0\t\t\tdog\t1\n77\t76\t1\tcat\t8\n",
	       "tid, pid, ppid, comm; missing ones are empty");
	is_str(table_of(b, "cpu", "count"), "cpu\tcount\n1\t1\n2\t2\n3\t1\n\t5\n",
	       "cpu: of the lane, else of the event");
	is_str(table_of(b, "cpu,name", "count"),
	       "cpu\tname\tcount\n1\tnote\t1\n2\tnote\t2\n3\tnote\t1\n"
	       "\tglFlush\t1\n\tleaf\t1\n\tmain\t3\n",
	       "cpu and name");
	is_str(table_of(b, "module,file,line,address", "count"),
	       "module\tfile\tline\taddress\tcount\n"
	       "/bin/cat\tcat.c\t12\t0x401000\t3\n\t\t\t0x0\t1\n\t\t\t0x7\t1\n\t\t\t\t4\n",
	       "module, file, line, address");
	is_str(table_of(b, "caller,name", "count,total"),
	       "caller\tname\tcount\ttotal\n"
	       "glFlush\tmain\t1\t100\nglFlush\tnote\t1\t\n"
	       "main\tglFlush\t1\t400\nmain\tleaf\t1\t50\nmain\tnote\t2\t\n"
	       "\tmain\t2\t1500\n\tnote\t1\t\n",
	       "caller: of instants the open call");
	is_str(table_of(b, "depth,name", "count"),
	       "depth\tname\tcount\n"
	       "0\tmain\t2\n0\tnote\t1\n1\tglFlush\t1\n1\tleaf\t1\n1\tnote\t2\n"
	       "2\tmain\t1\n2\tnote\t1\n",
	       "depth");
	is_str(table_of(b, "bucket(time,1us)", "count"),
	       "bucket(time,1us)\tcount\n1000\t5\n2000\t4\n", "bucket of the time, of the leave");
	is_str(table_of(b, "text", "count"), "text\tcount\nend\t1\none\t1\ntwo\t2\n\t5\n",
	       "a field that is a text");
	is_str(table_of(b, "arg.1", "count,total"),
	       "arg.1\tcount\ttotal\n-7\t1\t100\n5\t2\t1500\n\t6\t450\n",
	       "an argument: calls are counted by what their enter had");
	is_str(table_of(b, "name,arg.1", "count"),
	       "name\targ.1\tcount\nglFlush\t\t1\nleaf\t\t1\nmain\t-7\t1\nmain\t5\t2\nnote\t\t4\n",
	       "name and argument, calls that never returned too");
	is_str(table_of(b, "name", "sum(arg.1),min(arg.1),uniq(text)"),
	       "name\tsum(arg.1)\tmin(arg.1)\tuniq(text)\n"
	       "glFlush\t\t\t0\nleaf\t\t\t0\nmain\t3\t-7\t0\nnote\t\t\t3\n",
	       "columns of fields");
	is_str(table_of(b, "", "count,total"), "count\ttotal\n9\t1500\n", "no keys: one group");
	is_str(table_of(b, "type", "count,max(arg.1)"),
	       "type\tcount\tmax(arg.1)\nentry\t5\t5\nexit\t4\t\nnote\t4\t\n",
	       "fields of enters with the key type");
	free(b.data);
}

/* Callers and depths that would share bits in a hash or a packed key. */
static void test_cache(void)
{
	enum { N = 300 };
	struct maker m;
	struct blob b;
	uint32_t location[N];
	char name[16];
	const char *got;
	uint64_t t = 0;
	unsigned lines = 0;

	make_begin(&m, 0, false);
	for (unsigned i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "f%03u", i);
		location[i] = writer_location(
			&m.w, &(struct location_entry){0, 0, i, writer_text(&m.w, name), 0});
	}
	/* a leaf called from each function at each of two depths, all twice */
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < N; i++)
			for (unsigned deep = 0; deep < 2; deep++) {
				if (deep)
					put(&m, t++, m.enter, location[(i + 1) % N], 0);
				put(&m, t++, m.enter, location[i], deep);
				put(&m, t++, m.enter, m.location[2], deep + 1);
				put(&m, t++, m.leave, m.location[2], deep + 1);
				put(&m, t++, m.leave, location[i], deep);
				if (deep)
					put(&m, t++, m.leave, location[(i + 1) % N], 0);
			}
	b = make_end(&m);
	got = table_of(b, "name,caller,depth", "count");
	for (unsigned i = 0; i < N; i++)
		for (unsigned d = 1; d < 3; d++) {
			char line[64];

			snprintf(line, sizeof(line), "\nglFlush\tf%03u\t%u\t2\n", i, d);
			lines += strstr(got, line) != NULL;
		}
	is_u64(lines, 2 * N, "caller and depth: every pair is a group of its own");
	got = table_of(b, "depth", "count");
	is_str(got, "depth\tcount\n0\t1200\n1\t1200\n2\t600\n", "depth alone");
	free(b.data);
}

static bool refused(const char *list, const char *with)
{
	struct keys k = {0};
	struct error e = {.what = ""};
	int bad = keys_parse(&k, list, &e);

	keys_free(&k);
	if (bad && strstr(e.what, with))
		return true;
	printf("# %s: %s\n", list, e.what);
	return false;
}

/* What a key makes of an integer, shown as such. */
static int64_t transformed(const char *name, int64_t value)
{
	struct keys k = {0};
	struct key_cell c;
	struct error e;

	must(!keys_parse(&k, name, &e), "parse");
	c = key_transform(&k.key[0], key_signed(value));
	keys_free(&k);
	must(c.kind == KEY_SIGNED || c.kind == KEY_UNSIGNED, "integer");
	must((c.kind == KEY_SIGNED) == ((int64_t)c.value < 0), "sign");
	return (int64_t)c.value;
}

static void test_transforms(void)
{
	ok(transformed("bucket(x,10)", 19) == 10, "down to a multiple");
	ok(transformed("bucket(x,10)", 20) == 20, "a multiple itself");
	ok(transformed("bucket(x,10)", -1) == -10, "down, below zero too");
	ok(transformed("bucket(x,10)", -10) == -10, "a negative multiple");
	ok(transformed("bucket(x,10)", INT64_MIN) == INT64_MIN, "the least number stays");
	ok(transformed("log2(x)", 0) == 0, "log2 of 0");
	ok(transformed("log2(x)", 1) == 1, "of 1");
	ok(transformed("log2(x)", 1023) == 512, "of 1023");
	ok(transformed("log2(x)", -5) == -4, "of -5");
	ok(transformed("log2(x)", INT64_MIN) == INT64_MIN, "of the least number");
	ok(transformed("log2(x,1000)", 999) == 0, "log2 of less than the unit");
	ok(transformed("log2(x,1000)", 1000) == 1000, "of the unit");
	ok(transformed("log2(x,1000)", 3999) == 2000, "of less than four");
	ok(transformed("log2(x,1000)", -4000) == -4000, "of four below zero");
	ok(transformed("log2(x,9223372036854775807)", INT64_MAX) == INT64_MAX,
	   "of the largest unit");
	ok(transformed("hist(x)", 255) == 255, "exact below 256");
	ok(transformed("hist(x)", 257) == 256, "a bucket's least number");
	ok(transformed("hist(x)", -257) == -256, "mirrored");
}

static void test_parse(void)
{
	struct keys k = {0}, none = {0};
	struct error e;

	ok(!keys_parse(&k, "tid,bucket(time,1ms),prev_pid,arg.12,bucket(time, 5)", &e),
	   "good keys");
	is_u64(k.count, 5, "five of them");
	ok(k.key[1].transform == KEY_BUCKET && k.key[1].width == 1000000, "a bucket and its width");
	ok(keys_check_clocks(&k, &(struct clocks){.ticks = true}, &e) == -1 &&
		   strstr(e.what, "bucket(time,1ms)"),
	   "which ticks have none of");
	ok(keys_check_clocks(&k, &(struct clocks){.times = true}, &e) == -1 &&
		   !strcmp(e.what, "bucket(time, 5): a time needs a unit: 5ns or 5s?"),
	   "and one that ns have none of");
	ok(!keys_check_clocks(&k, &(struct clocks){0}, &e), "without events each has a meaning");
	ok(k.key[4].width == 5 && !k.key[4].unit, "a width that is a number");
	is_u64(k.begins, 2, "fields");
	ok(!k.by_type, "no type among them");
	keys_free(&k);
	ok(refused("no such", "no such key: 'no such'"), "a blank in a name");
	ok(!keys_parse(&none, "", &e) && !none.count, "no keys");
	ok(refused("tid,", "after the last comma"), "nothing after a comma");
	ok(refused("tid,,pid", "no such key: ''"), "nothing between commas");
	ok(refused("tid,pid,tid", "'tid' is given twice"), "one twice");
	ok(refused("bucket(time,0)", "a bucket is"), "a bucket of no width");
	ok(refused("bucket(time,-1s)", "a bucket is"), "or less");
	ok(refused("bucket(time)", "a bucket is"), "or without one");
	ok(refused("log2(total,0)", "a bucket is"), "a logarithm with no width");
	ok(refused("hist(total,1)", "a bucket is"), "a histogram with a width");
	ok(refused("log2()", "no such key: 'log2()'"), "a logarithm of nothing");
	ok(refused("bucket(time,1s)x", "no such key"), "text after it");
	ok(refused("bucket(time,99999999999999999999999999999999999s)", "a bucket is"), "too wide");
	ok(refused("sum(x)", "no such key"), "a column");
}

int main(void)
{
	test_parse();
	test_transforms();
	test_keys();
	test_cache();
	return done();
}

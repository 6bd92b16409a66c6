/*
 * Summaries: of random traces, cut anywhere and joined in any grouping and order, the table is that
 * of a single run. CASES=N does more of them, SEED=N one of them.
 */
/* links: cmd/trstat */
#include "common/stream/writer_private.h"
#include "t/unit/random_trace.h"

#include "cmd/trstat/summary/partial.h"

enum { PIECES = 600 };

static bool counted; /* the remarks are compared too */

/* A file in memory, by a name that can be opened again and again. */
struct memory {
	int fd;
	char name[32];
};

static struct memory memory_new(void)
{
	struct memory m = {.fd = memfd_create("piece", 0)};

	must(m.fd >= 0, "memfd");
	snprintf(m.name, sizeof(m.name), "/dev/fd/%d", m.fd);
	return m;
}

static struct blob memory_blob(const struct memory *m)
{
	return blob_of_fd(m->fd);
}

/* Run with these settings on these files; a summary or a table goes to out. Returns the status. */
static int run(struct settings settings, char **paths, int n, const struct memory *out)
{
	struct common_options options = {.output = out->name, .quiet = true};
	struct statistics *st = calloc(1, sizeof(*st));
	char *argv[] = {(char *)"trstat", NULL};
	struct text *text = malloc(sizeof(*text));
	struct parts parts = {0};
	struct query q = {0};
	struct stage stage;
	struct block block;
	struct error e;
	struct table t;

	must(st && text && !ftruncate(out->fd, 0) && !lseek(out->fd, 0, SEEK_SET), "output");
	must(!stage_open(&stage, paths, n, &options), "open");
	must(!stage_print_to(&stage, OUTPUT_BINARY), "print to");
	if (!settings.merge) {
		must(!query_parse(&q, &settings, &e), "query");
		must(!statistics_init(st, &q.keys, &q.columns, &stage.in.dictionary), "statistics");
	}
	if (settings.merge) {
		merge_run(&stage, &settings, &q, st,
			  &(struct merging){.out = settings.partial ? &parts : NULL});
	} else if (settings.partial) {
		partial_run(&stage, &q, st, 1, argv);
	} else {
		while (stage_next(&stage, &block))
			if (block.kind == BLOCK_EVENTS)
				must(!statistics_block(st, &block), "rows");
		must(!statistics_finish(st), "finish");
	}
	if (settings.merge && settings.partial && stage.status != STATUS_FAILED) {
		partial_write(&stage, &q, st, &parts, 1, argv);
	} else if (!settings.partial && stage.status != STATUS_FAILED) {
		t = query_table(&q);
		t.groups = &st->groups;
		t.run = (struct columns_run){st->first, st->last};
		t.ticks = st->ticks;
		text_init(text, &stage.output);
		must(!query_write(&q, &t, text, &e) && !text_flush(text, &e), "table");
		/* of calls in the kernel whose beginning is lost the count may differ */
		if (counted)
			text_printf(text,
				    "%" PRIu64 " unmatched, %" PRIu64 " unfinished, %" PRIu64
				    " outside\n",
				    st->calls.unmatched, st->calls.unfinished, st->calls.outside);
		must(!text_flush(text, &e), "counts");
	}
	parts_free(&parts);
	statistics_free(st);
	query_free(&q);
	for (int i = 0; i < 4; i++)
		free(settings.owned[i]);
	free(st);
	free(text);
	return stage_finish(&stage);
}

static const struct {
	const char *keys, *columns;
} tables[] = {
	{NULL, NULL},
	{NULL, "total,self,count,avg,p50,p99,max,self_min,self_max,total_stdev,self_stdev"},
	{"name,caller", "total,self,count,p50"},
	{"name,depth", "total,self,count,total_min"},
	{"type", "count,total,self,first,last"},
	{"tid,cpu,name", "total,self,count,max"},
	{"caller,bucket(depth,2)", "count,total,self,self_stdev"},
	{"kind,caller,depth,type", "count,total"},
	{"arg.1,name", "count,total,self,p90"},
	{"name", "count,sum(size),uniq(size),min(ret),avg(ret),uniq(note)"},
	{"arg.1,caller", "sum(arg.1),uniq(arg.1),count,total"},
	{"name", "sum(arg.1),uniq(arg.2),max(call),count,min(arg.3),avg(arg.2),sum(dur)"},
	{"arg.2,stack", "uniq(arg.3),sum(arg.2),uniq(arg.1),count,max(size)"},
	{"type,arg.1", "sum(arg.1),uniq(arg.2),count"},
	{"stack", "total,self,count,p50,self_max"},
	{"name,stack,depth,caller", "count,total,self"},
	{"tid,stack", "count,total,first,last"},
	{"type,stack", "count,total,self"},
	{"stack,arg.1", "count,total,sum(size),uniq(note)"},
	{"log2(stack),name", "count,total,self"},
	{"name", "count,uniq(tid),max(tid),min(pid),sum(cpu),uniq(comm)"},
	{"caller|name", "count,total,self"},
	{"caller|tid,depth", "count,total,self,p50"},
	{"name,stack|size|comm", "count,total,self"},
	{"caller|arg.1|name,stack|type", "count,total"},
	{"type,stack|kind|note", "count"},
	/* ticks have no rates */
	{"bucket(time,2000),comm", "count,total,rate"},
	{"", "count,total,self,p50,uniq(tid),rate"},
};

static const struct {
	enum view view;
	const char *argument, *keys, *columns;
} views[] = {
	{VIEW_TREE, NULL, NULL, NULL},	 {VIEW_TREE, NULL, "tid", "total,self,count,p90"},
	{VIEW_CALLERS, "f", NULL, NULL}, {VIEW_CALLERS, "g", "cpu", "total,count"},
	{VIEW_CALLEES, "f", NULL, NULL}, {VIEW_CALLEES, "main", "arg.1", "total,self,count,max"},
};

enum { TABLES = sizeof(tables) / sizeof(*tables), VIEWS = sizeof(views) / sizeof(*views) };
/* Of these tables columns are arguments. */
enum { ARGUMENTS = 10, OF_ARGUMENTS = 3 };

/* Tables, then views. */
static struct settings settings_of(unsigned which)
{
	const char *keys;

	if (which >= TABLES) {
		which -= TABLES;
		return (struct settings){.keys = views[which].keys,
					 .columns = views[which].columns,
					 .view = views[which].view,
					 .view_option = "view",
					 .view_argument = views[which].argument,
					 .format = TABLE_TSV};
	}
	keys = tables[which].keys;
	return (struct settings){.keys = keys,
				 .columns = tables[which].columns,
				 .sort = keys && *keys && !strchr(keys, '|') ? keys : NULL,
				 .format = TABLE_TSV};
}

/* Anything, but for the last tables where the clock counts ticks: of such calls half of the time
 * what has their arguments in columns. */
static unsigned pick_asked(bool ticks)
{
	unsigned which = pick(TABLES + VIEWS);

	if (ticks && pick(2))
		return ARGUMENTS + pick(OF_ARGUMENTS);
	return ticks && which < TABLES && which >= TABLES - 2 ? 0 : which;
}

/* The stream's segments, each a file. */
static int cut(const struct blob *b, struct memory *pieces)
{
	size_t at = 0;
	int n = 0;

	while (at < b->size) {
		size_t from = at;
		unsigned kind = 0;

		at += MARKER_SIZE;
		while (kind != BLOCK_END) {
			kind = get_u16(b->data + at + 4);
			at += BLOCK_HEADER + get_u32(b->data + at + 8);
		}
		must(n < PIECES, "pieces");
		pieces[n] = memory_new();
		must(write(pieces[n].fd, b->data + from, at - from) == (ssize_t)(at - from),
		     "write a piece");
		n++;
	}
	return n;
}

static void shuffle(struct memory *m, int n)
{
	for (int i = n - 1; i > 0; i--) {
		int j = (int)pick((unsigned)i + 1);
		struct memory other = m[i];

		m[i] = m[j];
		m[j] = other;
	}
}

/* Some of the files become one. */
static int join(struct settings s, struct memory *m, int n, int take)
{
	struct memory one = memory_new();
	char *paths[PIECES];

	for (int i = 0; i < take; i++)
		paths[i] = m[n - 1 - i].name;
	if (run(s, paths, take, &one) != STATUS_OK)
		return -1;
	for (int i = 0; i < take; i++)
		close(m[n - 1 - i].fd);
	n -= take;
	m[n++] = one;
	return n;
}

/* Segments in any order, some together, to summaries; and these in any order to one table, of some
 * of the columns or (NULL) all. */
static int joined(unsigned which, const char *columns, struct memory *m, int n,
		  const struct memory *table)
{
	struct settings s = settings_of(which);
	struct memory parts[PIECES];
	char *paths[PIECES];
	int nparts = 0;

	if (pick(2))
		shuffle(m, n);
	while (n) {
		int take = 1 + (int)pick(pick(3) ? 1 : (unsigned)(n < 5 ? n : 5));

		s.partial = true;
		s.merge = false;
		n = join(s, m, n, take);
		if (n < 0)
			return -1;
		parts[nparts++] = m[--n];
	}
	shuffle(parts, nparts);
	s = (struct settings){.format = TABLE_TSV, .merge = true, .partial = true};
	while (nparts > 1 && pick(4)) {
		int most = nparts < 6 ? nparts : 6;

		nparts = join(s, parts, nparts, 1 + (int)pick((unsigned)most));
		if (nparts < 0)
			return -1;
		shuffle(parts, nparts);
	}
	s.partial = false;
	s.columns = columns;
	for (int i = 0; i < nparts; i++)
		paths[i] = parts[i].name;
	n = run(s, paths, nparts, table);
	for (int i = 0; i < nparts; i++)
		close(parts[i].fd);
	return n;
}

/* Some of the columns that the summaries have, in any order, for the last table to ask for; NULL:
 * all of them. */
static const char *pick_columns(unsigned which, char *list)
{
	const char *from = settings_of(which).columns, *end;
	size_t n = 0;

	if (!from || pick(2))
		return NULL;
	for (; *from; from = *end ? end + 1 : end) {
		size_t size = columns_item_length(from);

		end = from + size;
		if (pick(2))
			continue;
		if (n && pick(2)) { /* before the others */
			memmove(list + size + 1, list, n);
			memcpy(list, from, size);
			list[size] = ',';
			n += size + 1;
			continue;
		}
		if (n)
			list[n++] = ',';
		memcpy(list + n, from, size);
		n += size;
	}
	list[n] = '\0';
	return n ? list : NULL;
}

static bool same(const struct blob *a, const struct blob *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static void show(const char *what, const struct blob *b)
{
	printf("# %s:\n", what);
	for (size_t i = 0, line = 0; i < b->size; i++) {
		if (i == line)
			fputs("#   ", stdout);
		putchar(b->data[i]);
		line = b->data[i] == '\n' ? i + 1 : line;
	}
}

static bool one_case(uint64_t seed, bool loud)
{
	struct memory whole = memory_new(), table = memory_new(), pieces[PIECES];
	struct blob stream, want, got;
	struct settings single;
	enum rt_system system;
	const char *columns;
	char list[100];
	unsigned which;
	int n, status;
	bool good;

	random_seed(seed);
	system = random_trace(whole.fd);
	stream = memory_blob(&whole);
	n = cut(&stream, pieces);
	counted = system != RT_UFTRACE && system != RT_CHAOS;
	which = pick_asked(system == RT_APITRACE);
	columns = pick_columns(which, list);
	single = settings_of(which);
	if (columns) {
		single.columns = columns;
		single.sort = NULL;
	}
	must(run(single, (char *[]){whole.name}, 1, &table) == STATUS_OK, "single run");
	want = memory_blob(&table);
	status = joined(which, columns, pieces, n, &table);
	got = memory_blob(&table);
	/* chaos is only to be survived: recorded depths that belong to nothing, calls of all sorts
	   upon each other */
	good = status == STATUS_OK && (system == RT_CHAOS || same(&want, &got));
	if (!good && loud) {
		printf("# seed %" PRIu64 ", system %d, %d segments, status %d, question %u, %s\n",
		       seed, system, n, status, which, columns ? columns : "all columns");
		show("want", &want);
		show("got", &got);
	}
	close(whole.fd);
	close(table.fd);
	free(stream.data);
	free(want.data);
	free(got.data);
	return good;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

int main(void)
{
	uint64_t cases = number("CASES", 400), first = number("SEED", 1), bad = 0;
	int was = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	must(was >= 0 && null >= 0, "descriptors");
	if (!getenv("SEED"))
		dup2(null, STDERR_FILENO);
	else
		cases = 1;
	for (uint64_t i = 0; i < cases; i++) {
		bool good = one_case(first + i, bad < 2);

		bad += !good;
		if (!good)
			printf("# seed %" PRIu64 "\n", first + i);
	}
	is_u64(bad, 0, "random traces in random parts, joined at random, against a single run");
	return done();
}

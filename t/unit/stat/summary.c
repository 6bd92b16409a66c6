/*
 * Summaries: of random traces, cut anywhere and joined in any grouping and order, the table is that
 * of a single run. CASES=N does more of them, SEED=N one of them.
 */
/* links: cmd/trstat */
#include "common/stream/writer.h"
#include "t/unit/random_trace.h"

#include "cmd/trstat/run.h"
#include "common/pairs/keys.h"
#include "common/util/screen.h"

enum { PIECES = 600 };

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
static int run(struct stat_settings settings, char **paths, int n, const struct memory *out)
{
	struct common_options options = {.output = out->name, .quiet = settings.partial};
	char *argv[] = {(char *)"trstat", NULL};
	struct screen screen = {0};
	struct alarms none = {0};
	struct query q = {0};
	struct stage stage;
	struct error e;

	settings.screen = &screen;
	must(!ftruncate(out->fd, 0) && !lseek(out->fd, 0, SEEK_SET), "output");
	must(!ftruncate(STDERR_FILENO, 0) && !lseek(STDERR_FILENO, 0, SEEK_SET), "remarks");
	must(!stage_open(&stage, paths, n, &options), "open");
	must(!stage_print_to(&stage, options.output, OUTPUT_BINARY), "print to");
	if (!settings.merge)
		must(!query_parse(&q, &settings, &e), "query");
	run_query(&stage, &settings, &q, &none, 1, argv);
	query_free(&q);
	stat_settings_free(&settings);
	return stage_finish(&stage);
}

#define KEYS(k, c)                                                                                 \
	{                                                                                          \
		.keys = (k), .columns = (c)                                                        \
	}
#define VIEW(v, a, k, c)                                                                           \
	{                                                                                          \
		.view = (v), .view_option = "view", .view_argument = (a), .keys = (k),             \
		.columns = (c)                                                                     \
	}
#define PAIR(p, k, c)                                                                              \
	{                                                                                          \
		.pair = (p), .keys = (k), .columns = (c)                                           \
	}
#define INTERVAL(k, c)                                                                             \
	{                                                                                          \
		.interval = "150ns", .keys = (k), .columns = (c)                                   \
	}

static const struct stat_settings questions[] = {
	KEYS(NULL, NULL),
	KEYS(NULL, "total,self,count,avg,p50,p99,max,self_min,self_max,total_stdev,self_stdev"),
	KEYS("name,caller", "total,self,count,p50"),
	KEYS("name,depth", "total,self,count,total_min"),
	KEYS("type", "count,total,self,first,last"),
	KEYS("tid,cpu,name", "self,count,max"),
	KEYS("tid,name", "total,self,count,max"),
	KEYS("caller,bucket(depth,2)", "count,total,self,self_stdev"),
	KEYS("kind,caller,depth,type", "count,total"),
	KEYS("arg.1,name", "count,total,self,p90"),
	KEYS("name", "count,sum(size),uniq(size),min(ret),avg(ret),uniq(note)"),
	KEYS("arg.1,caller", "sum(arg.1),uniq(arg.1),count,total"),
	KEYS("name", "sum(arg.1),uniq(arg.2),max(call),count,min(arg.3),avg(arg.2),sum(dur)"),
	KEYS("arg.2,stack", "uniq(arg.3),sum(arg.2),uniq(arg.1),count,max(size)"),
	KEYS("type,arg.1", "sum(arg.1),uniq(arg.2),count"),
	KEYS("stack", "total,self,count,p50,self_max"),
	KEYS("name,stack,depth,caller", "count,total,self"),
	KEYS("tid,stack", "count,total,first,last"),
	KEYS("type,stack", "count,total,self"),
	KEYS("stack,arg.1", "count,total,sum(size),uniq(note)"),
	KEYS("log2(stack),name", "count,total,self"),
	KEYS("name", "count,uniq(tid),max(tid),min(pid),sum(cpu),uniq(comm)"),
	KEYS("caller|name", "count,total,self"),
	KEYS("caller|tid,depth", "count,total,self,p50"),
	KEYS("name,stack|size|comm", "count,total,self"),
	KEYS("caller|arg.1|name,stack|type", "count,total"),
	KEYS("type,stack|kind|note", "count"),
	VIEW(VIEW_TREE, NULL, NULL, NULL),
	VIEW(VIEW_TREE, NULL, "tid", "total,self,count,p90"),
	VIEW(VIEW_CALLERS, "f", NULL, NULL),
	VIEW(VIEW_CALLERS, "g", "cpu", "total,count"),
	VIEW(VIEW_CALLEES, "f", NULL, NULL),
	VIEW(VIEW_CALLEES, "main", "arg.1", "total,self,count,max"),
	VIEW(VIEW_SLOWEST, "1", NULL, NULL),
	VIEW(VIEW_SLOWEST, "7", NULL, NULL),
	VIEW(VIEW_SLOWEST, "100", NULL, NULL),
	PAIR("entry -> exit on name == name", NULL, NULL),
	PAIR("entry -> exit", "name,tid", "count,total,p50,max,sum(dur)"),
	PAIR("note -> note on .size == .size", "note,size|dur", "count,total,uniq(note),sum(size)"),
	PAIR("kind == \"enter\" -> kind == \"leave\" on tid == tid && cpu|name == cpu|name",
	     "arg.1,ret|dur,log2(size)", "count,avg,uniq(ret),min(self),first,last"),
	PAIR("type =~ \"n\" -> type =~ \"[ne]\"", "type,call,arg.2", "count,total,max(call)"),
	PAIR("note -> exit on tid == tid", "a.name,b.tid,size,a.tid|b.size",
	     "count,total,busy,util"),
	/* ticks have no rates and no units */
	PAIR("entry -> exit on name == name", "bucket(time,2us),b.ret,a.cpu", "count,busy,util"),
	PAIR("sched-out -> sched-in on comm == comm", "bucket(time,2000),comm", "count,total"),
	KEYS("bucket(time,2000),comm", "count,total,rate"),
	KEYS("", "count,total,self,p50,uniq(tid),rate"),
	INTERVAL("name", NULL),
	INTERVAL("name,caller,depth", "count,total,self"),
	INTERVAL("stack", "count,total,self"),
	INTERVAL("type,arg.1", "count,sum(size),uniq(note),p50"),
	{.interval = "150ns", .pair = "entry -> exit on name == name", .keys = "name,arg.1"},
};

enum { QUESTIONS = sizeof(questions) / sizeof(*questions), WITH_TIMES = 9 };
/* Of these tables columns are arguments. */
enum { ARGUMENTS = 11, OF_ARGUMENTS = 3 };

static struct stat_settings settings_of(unsigned which)
{
	struct stat_settings s = questions[which];

	s.format = TABLE_TSV;
	if (!s.view && !s.interval && !s.pair && s.keys && *s.keys && !strchr(s.keys, '|'))
		s.sort = s.keys;
	return s;
}

/* Any question, except the last ones where the clock counts ticks: of such calls half of the time
 * what has their arguments in columns. Nor the stacks of intervals where calls in the kernel may
 * outlive unseen ones below them, whose names these then have in some segments only. */
static unsigned pick_asked(enum rt_system system)
{
	unsigned which = pick(QUESTIONS);
	bool kernel = system == RT_UFTRACE || system == RT_CHAOS;

	if (system == RT_APITRACE && pick(2))
		return ARGUMENTS + pick(OF_ARGUMENTS);
	if (system == RT_APITRACE && which >= QUESTIONS - WITH_TIMES)
		return 0;
	return kernel && questions[which].interval && strstr(questions[which].keys, "stack")
		       ? 0
		       : which;
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

/* Status of a run on whole segments, or on those that are left. */
static int most_status;

/* Some of the files become one. */
static int join(struct stat_settings s, struct memory *m, int n, int take)
{
	struct memory one = memory_new();
	char *paths[PIECES];

	for (int i = 0; i < take; i++)
		paths[i] = m[n - take + i].name;
	if (run(s, paths, take, &one) > most_status)
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
	struct stat_settings s = settings_of(which);
	struct memory parts[PIECES];
	char *paths[PIECES];
	int nterms = 0;

	if (pick(2))
		shuffle(m, n);
	while (n) {
		int take = 1 + (int)pick(pick(3) ? 1 : (unsigned)(n < 5 ? n : 5));

		s.partial = true;
		s.merge = false;
		n = join(s, m, n, take);
		if (n < 0)
			return -1;
		parts[nterms++] = m[--n];
	}
	shuffle(parts, nterms);
	s = (struct stat_settings){.format = TABLE_TSV, .merge = true, .partial = true};
	while (nterms > 1 && pick(4)) {
		int most = nterms < 6 ? nterms : 6;

		nterms = join(s, parts, nterms, 1 + (int)pick((unsigned)most));
		if (nterms < 0)
			return -1;
		shuffle(parts, nterms);
	}
	s.partial = false;
	s.columns = columns;
	for (int i = 0; i < nterms; i++)
		paths[i] = parts[i].name;
	n = run(s, paths, nterms, table);
	for (int i = 0; i < nterms; i++)
		close(parts[i].fd);
	return n;
}

/* Some of the columns that the summaries have, in any order, for the last table to ask for; NULL:
 * all of them. */
static const char *pick_columns(unsigned which, char *list)
{
	const char *from = settings_of(which).columns, *end;
	size_t n = 0;

	if (!from || settings_of(which).view || pick(2))
		return NULL;
	for (; *from; from = *end ? end + 1 : end) {
		size_t size = keys_item_length(from);

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

/* What a run printed: its table and its remarks on standard error. Summaries do not have the names
 * and fields that occur nowhere, nor the types of events that a view of calls does not count. */
static struct blob printed(const struct memory *table)
{
	struct blob b = memory_blob(table), remarks = blob_of_fd(STDERR_FILENO);
	uint8_t *line = remarks.data, *end = line + remarks.size, *next;

	b.data = realloc(b.data, b.size + remarks.size + 1);
	must(b.data, "memory");
	for (; line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end;
		if (memmem(line, (size_t)(next - line), "no event has ", 13) ||
		    memmem(line, (size_t)(next - line), "no pair of ", 11) ||
		    memmem(line, (size_t)(next - line), "no event ends a pair ", 21) ||
		    memmem(line, (size_t)(next - line), "no calls in this trace; ", 24))
			continue;
		memcpy(b.data + b.size, line, (size_t)(next - line));
		b.size += (size_t)(next - line);
	}
	free(remarks.data);
	return b;
}

/* Remove some segments, and cut the last one; what is left, in their order. Returns their number.
 */
static int lose(struct memory *m, int n, const struct memory *left)
{
	int kept = 0;

	for (int i = 0; i < n; i++) {
		struct blob b;

		if (!pick(4) && (kept || i + 1 < n)) {
			close(m[i].fd);
			continue;
		}
		m[kept++] = m[i];
		if (i + 1 == n && pick(2)) {
			b = memory_blob(&m[i]);
			must(!ftruncate(m[i].fd, 60 + pick((unsigned)b.size - 60)), "cut");
			free(b.data);
		}
		b = memory_blob(&m[i]);
		must(write(left->fd, b.data, b.size) == (ssize_t)b.size, "what is left");
		free(b.data);
	}
	return kept;
}

static uint64_t refused; /* cases without an answer */

static bool one_case(uint64_t seed, bool loud)
{
	struct memory whole = memory_new(), table = memory_new(), pieces[PIECES];
	struct blob stream, want, got;
	struct stat_settings single;
	enum rt_system system;
	const char *columns;
	char list[100];
	unsigned which;
	int n, status, alone;
	bool good, lossy;

	random_seed(seed);
	system = random_trace(whole.fd);
	stream = memory_blob(&whole);
	n = cut(&stream, pieces);
	lossy = !pick(4);
	most_status = lossy ? STATUS_DAMAGED : STATUS_OK;
	if (lossy) {
		must(!ftruncate(whole.fd, 0) && !lseek(whole.fd, 0, SEEK_SET), "empty");
		n = lose(pieces, n, &whole);
	}
	which = pick_asked(system);
	columns = pick_columns(which, list);
	single = settings_of(which);
	alone = run(single, (char *[]){whole.name}, 1, &table);
	if (columns && alone != STATUS_FAILED) {
		/* of the columns that the parts count */
		single = settings_of(which);
		single.columns = columns;
		single.sort = NULL;
		alone = run(single, (char *[]){whole.name}, 1, &table);
	}
	if (alone == STATUS_FAILED) {
		/* its question is of a field that no event has */
		for (int i = 0; i < n; i++)
			close(pieces[i].fd);
		close(whole.fd);
		close(table.fd);
		free(stream.data);
		refused++;
		return true;
	}
	must(alone >= STATUS_OK && alone <= most_status, "single run");
	/* after a loss the remarks are about it */
	want = lossy ? memory_blob(&table) : printed(&table);
	status = joined(which, columns, pieces, n, &table);
	got = lossy ? memory_blob(&table) : printed(&table);
	good = status == alone && same(&want, &got);
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
	struct memory remarks = memory_new();

	random_snapshots = true;

	must(dup2(remarks.fd, STDERR_FILENO) == STDERR_FILENO, "descriptors");
	if (getenv("SEED") && !getenv("CASES"))
		cases = 1;
	for (uint64_t i = 0; i < cases; i++) {
		bool good = one_case(first + i, bad < 2);

		bad += !good;
		if (!good)
			printf("# seed %" PRIu64 "\n", first + i);
	}
	is_u64(bad, 0, "random traces in random parts, joined at random, against a single run");
	if (cases >= 100)
		is_u64(refused >= cases / 4, 0, "few questions are of fields that no event has");
	return done();
}

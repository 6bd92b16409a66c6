/*
 * report.c - --report: what a trace is and where its time goes, of one reading of the trace
 *
 *     trace: trace-cmd locks.dat; 479 events of 8 threads on 2 CPUs in 17.491 ms
 *
 *     System calls (4 of 21): trstat --pair syscall -c count,total,avg,p99,max -s total -n 4
 *     count      total        avg        p99        max  id
 *         7  12.116 ms   1.730 ms   5.110 ms   5.110 ms  futex
 */
#include "cmd/trstat/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/trstat/histogram.h"
#include "cmd/trstat/run.h"
#include "cmd/trstat/slowest.h"
#include "cmd/trstat/statistics.h"
#include "cmd/trstat/tree.h"
#include "common/calls/calls.h"
#include "common/scheduling/states.h"
#include "common/util/bytes.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"
#include "common/value/json.h"

/* --- the sections --- */

enum section_flags {
	SECTION_OF_TIMES = 1,  /* has rows only where calls or samples have times */
	SECTION_STATES = 2,    /* only for a trace with states of threads */
	SECTION_PICTURE = 4,   /* not in text and Markdown, which have no picture of it */
	SECTION_ADAPTS = 8,    /* the last key is bucket(time,T), and T follows the span */
	SECTION_MORE = 16,     /* not in text, for brevity */
	SECTION_WHOLE = 32,    /* all rows, which are few and in the order of time, or none */
	SECTION_NAMES = 64,    /* only where nothing has times, and names say more than types */
	SECTION_SEVERAL = 128, /* only where several rows have times */
	SECTION_WAKERS = 256,  /* only where the first key of some row is known */
};

/* What a section shows: options of trstat. NULL: not given. */
struct section_spec {
	const char *id, *title, *about;
	unsigned flags; /* enum section_flags */
	enum view view;
	const char *pair;
	bool cover;
	const char *where, *keys, *columns, *sort;
};

/* A table has the order of its first column. */
#define FUNCTIONS "self,self%,total,count,max"
#define TIMES	  "total,count,avg,p99,max"
#define MEMORY	  "outstanding,left,bytes,count"

static const struct section_spec specs[] = {
	{.id = "functions",
	 .title = "Functions by self",
	 .about = "The time of each function, or the weight of its samples, less that of the "
		  "functions "
		  "that it calls.",
	 .flags = SECTION_OF_TIMES,
	 .columns = FUNCTIONS},
	{.id = "functions_total",
	 .title = "Functions by total",
	 .about = "The time from the beginning of a call to its end, or the weight of the samples.",
	 .flags = SECTION_OF_TIMES,
	 .columns = FUNCTIONS,
	 .sort = "total"},
	{.id = "names",
	 .title = "Events by name",
	 .about = "How many events have each name; they have no times.",
	 .flags = SECTION_NAMES,
	 .keys = "name",
	 .columns = "count"},
	{.id = "modules",
	 .title = "Programs and libraries by self",
	 .about = "The time of the functions of each module, or the weight of its samples.",
	 .flags = SECTION_OF_TIMES | SECTION_SEVERAL,
	 .keys = "module",
	 .columns = "self,self%,count"},
	{.id = "syscalls",
	 .title = "System calls",
	 .about = "The time from the beginning of each system call to its end.",
	 .pair = "syscall",
	 .columns = TIMES},
	{.id = "slowest",
	 .title = "The slowest calls",
	 .about = "Each call with its thread, its arguments and its callers.",
	 .view = VIEW_SLOWEST,
	 .columns = "+running,runnable,sleeping,blocked,offcpu"},
	{.id = "errors",
	 .title = "Errors",
	 .about = "System calls that returned an error.",
	 .pair = "syscall",
	 .where = "ret < 0",
	 .keys = "name|id,ret",
	 .columns = "count,total"},
	{.id = "call_errors",
	 .title = "Calls that returned less than 0",
	 .about = "The names and the returned values of these calls.",
	 .flags = SECTION_OF_TIMES,
	 .where = "ret < 0",
	 .keys = "name,ret",
	 .columns = "count,total"},
	{.id = "states",
	 .title = "States of threads",
	 .about = "The time of the outermost calls of each thread, by the state of the thread.",
	 .flags = SECTION_OF_TIMES | SECTION_STATES,
	 .where = "depth == 0",
	 .keys = "tid,comm",
	 .columns = "total,running,runnable,sleeping,blocked,offcpu"},
	{.id = "cpus",
	 .title = "Use of CPUs",
	 .about = "The time in which each CPU ran a thread, and its share of the trace.",
	 .pair = "oncpu",
	 .cover = true,
	 .keys = "cpu",
	 .columns = "busy,util"},
	{.id = "threads",
	 .title = "Time on a CPU",
	 .about = "How long each thread ran, and how many times without a pause.",
	 .pair = "oncpu",
	 .keys = "tid,comm",
	 .columns = "total,count,avg,max"},
	{.id = "wakeups",
	 .title = "Waits for a CPU after a wakeup",
	 .about = "The time from the wakeup of a thread until the thread ran.",
	 .pair = "wakeup",
	 .keys = "comm",
	 .columns = "p99,max,total,count,avg"},
	{.id = "waits",
	 .title = "Time off the CPU by state, R: could run",
	 .about = "S and D: asleep, I: idle, R: could run, R+: was preempted; ps(1) has the "
		  "others.",
	 .pair = "offcpu",
	 .keys = "prev_state",
	 .columns = TIMES},
	{.id = "wakers",
	 .title = "Who woke whom",
	 .about = "The time off the CPU that ended when w.comm woke comm; without w.comm, no "
		  "wakeup was recorded.",
	 .flags = SECTION_WAKERS,
	 .pair = "offcpu",
	 .keys = "w.comm,comm",
	 .columns = TIMES},
	{.id = "frames",
	 .title = "Frames",
	 .about = "The time between frames of a program.",
	 .pair = "frame",
	 .columns = TIMES},
	{.id = "locks",
	 .title = "Waits for locks",
	 .about = "The time that threads waited for each lock.",
	 .pair = "lock",
	 .columns = TIMES},
	{.id = "interrupts",
	 .title = "Interrupts",
	 .about = "The time of the handlers of interrupts.",
	 .flags = SECTION_MORE,
	 .pair = "irq",
	 .columns = TIMES},
	{.id = "softirqs",
	 .title = "Soft interrupts",
	 .about = "The time of the handlers of soft interrupts.",
	 .flags = SECTION_MORE,
	 .pair = "softirq",
	 .columns = TIMES},
	{.id = "faults",
	 .title = "Page faults",
	 .about = "The time of the handler of page faults.",
	 .flags = SECTION_MORE,
	 .pair = "fault",
	 .columns = TIMES},
	{.id = "disks",
	 .title = "Requests to disks",
	 .about = "The time of the device for each request.",
	 .pair = "block",
	 .columns = TIMES},
	{.id = "disk_queues",
	 .title = "Waits of requests to disks",
	 .about = "The time of each request before the device has it.",
	 .pair = "block-queue",
	 .columns = TIMES},
	{.id = "files",
	 .title = "Operations on files",
	 .about = "The time of operations of file systems.",
	 .pair = "fs",
	 .columns = TIMES},
	{.id = "packets",
	 .title = "Packets that are sent",
	 .about = "The time from the queue of the network until the device has the packet.",
	 .pair = "net",
	 .columns = TIMES},
	{.id = "packets_received",
	 .title = "Packets that are received",
	 .about = "The time from the device to the program.",
	 .pair = "net-receive",
	 .columns = TIMES},
	{.id = "memory",
	 .title = "Memory of programs",
	 .about = "What was allocated and not freed, by caller.",
	 .pair = "alloc",
	 .columns = MEMORY},
	{.id = "kernel_memory",
	 .title = "Memory of the kernel",
	 .about = "What the kernel allocated and did not free, by place.",
	 .pair = "kmem",
	 .columns = MEMORY},
	{.id = "pages",
	 .title = "Pages",
	 .about = "The pages that were allocated and not freed, by program.",
	 .pair = "pages",
	 .columns = MEMORY},
	{.id = "counters",
	 .title = "Counters",
	 .about = "The values of each counter.",
	 .where = "kind == counter",
	 .keys = "name",
	 .columns = "count,min(value),avg(value),max(value)"},
	{.id = "load",
	 .title = "Use of all CPUs by time",
	 .about = "The time in which CPUs ran threads; 200 % are two CPUs.",
	 .flags = SECTION_ADAPTS | SECTION_WHOLE,
	 .pair = "oncpu",
	 .keys = "",
	 .columns = "busy,util"},
	{.id = "events",
	 .title = "Events by type",
	 .about = "How many events of each type the trace has.",
	 .keys = "type",
	 .columns = "count"},
	{.id = "rate",
	 .title = "Events by time",
	 .about = "How many events each bucket of time has.",
	 .flags = SECTION_ADAPTS | SECTION_WHOLE,
	 .keys = "",
	 .columns = "count"},
	{.id = "cpu_time",
	 .title = "Use of each CPU by time",
	 .about = "The time in which each CPU ran a thread, and its share of each bucket.",
	 .flags = SECTION_ADAPTS | SECTION_PICTURE,
	 .pair = "oncpu",
	 .keys = "cpu",
	 .columns = "busy,util",
	 .sort = "cpu"},
	{.id = "thread_time",
	 .title = "Threads on a CPU by time",
	 .about = "How long each thread ran in each bucket; the rest of the time it was off the "
		  "CPU.",
	 .flags = SECTION_ADAPTS | SECTION_PICTURE,
	 .pair = "oncpu",
	 .cover = true,
	 .keys = "tid,comm",
	 .columns = "busy,util",
	 .sort = "busy"},
	{.id = "activity",
	 .title = "Events by time, in detail",
	 .about = "How many events each bucket of time has.",
	 .flags = SECTION_ADAPTS | SECTION_PICTURE,
	 .columns = "count",
	 .keys = ""},
	{.id = "durations",
	 .title = "Times of all calls",
	 .about = "How many calls took how long.",
	 .flags = SECTION_OF_TIMES | SECTION_PICTURE,
	 .view = VIEW_HIST},
	{.id = "stacks",
	 .title = "Calls as a tree",
	 .about = "The time of each stack of calls.",
	 .flags = SECTION_OF_TIMES | SECTION_PICTURE,
	 .view = VIEW_TREE,
	 .columns = "total,self,count"},
};

enum { SPECS = sizeof(specs) / sizeof(specs[0]) };

/* Rows that each format has of a section. */
enum {
	TEXT_LINES = 60,
	MARKDOWN_LINES = 200,
	MARKDOWN_WIDTH = 100,
	SLOWEST_KEPT = 10,
	INPUTS_MOST = 3,
	ALARMS_MOST = 10,
	BUCKETS_MOST = 120,
	BUCKETS_FEW = 12, /* with SECTION_WHOLE */
	TEXT_WIDTH = 80,
	IDLE_CHECKS = 8, /* each is linear in the number of types */
};

/* Widths of buckets of time, ns. Each is a multiple of the one before. */
static const struct {
	uint64_t ns;
	const char *text;
} widths[] = {
	{1000, "1us"},
	{2000, "2us"},
	{10000, "10us"},
	{20000, "20us"},
	{100000, "100us"},
	{200000, "200us"},
	{1000000, "1ms"},
	{2000000, "2ms"},
	{10000000, "10ms"},
	{20000000, "20ms"},
	{100000000, "100ms"},
	{200000000, "200ms"},
	{1000000000, "1s"},
	{2000000000, "2s"},
	{10000000000, "10s"},
	{20000000000, "20s"},
	{60000000000, "60s"},
	{120000000000, "120s"},
	{600000000000, "600s"},
	{1200000000000, "1200s"},
	{3600000000000, "3600s"},
	{7200000000000, "7200s"},
	{86400000000000, "86400s"},
};

enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

/* A section in the making. */
struct section {
	const struct section_spec *spec;
	struct stat_settings settings;
	struct query query;
	struct statistics statistics; /* zero with same, and with VIEW_SLOWEST */
	struct slowest slowest;	      /* VIEW_SLOWEST */
	struct section *same;	      /* has the groups, in another order; NULL: its own */
	struct counting counting;
	char *bucket;	   /* SECTION_ADAPTS: the keys */
	bool started, off; /* off: the query has no meaning for the trace */
	/* section_idle: the entries of the dictionary that it saw, how often it did, its answer */
	uint32_t types, locations, checks;
	bool idle;
	struct sort order;
	struct report_section *shown; /* NULL: it has no rows */
};

/* A report in the making. */
struct reporting {
	struct report report;
	struct stage *stage;
	const struct stat_settings *settings; /* of the command line */
	struct section section[REPORT_SECTIONS_MOST];
	size_t count;
	/* times of the events; first > last: none. Number of threads and CPUs that have events */
	uint64_t first, last;
	size_t threads, cpus;
	uint8_t *seen; /* by number of a lane: it has events */
	size_t nseen;
	struct buffer commands; /* those that wrote the trace, each with a NUL */
	struct query *query;	/* of the conditions */
	struct alarms *alarms;
	struct statistics statistics; /* of the query of the conditions */
	struct calls_counts counts;
	bool nameless, ticks; /* some functions have no names; the clock counts ticks */
};

/* --- the command of a section --- */

static void command_option(char text[REPORT_COMMAND], const char *option, const char *value)
{
	if (!value)
		return;
	command_word(text, REPORT_COMMAND, option);
	command_word(text, REPORT_COMMAND, value);
}

/* Get the keys of a section; NULL: those of its query by default. */
static const char *section_keys(const struct section *s)
{
	const struct query *q = s->same ? &s->same->query : &s->query;

	return q->typed_keys ? q->typed_keys : s->settings.keys;
}

static void report_command(const struct section *s, size_t rows, char text[REPORT_COMMAND])
{
	const struct stat_settings *t = &s->settings;
	char number[24];

	strcpy(text, "trstat");
	snprintf(number, sizeof number, "%zu", rows);
	if (t->view == VIEW_SLOWEST) {
		snprintf(number, sizeof number, "%zu", rows ? rows : (size_t)SLOWEST_KEPT);
		command_option(text, "--slowest", number);
	} else if (t->view_option) {
		snprintf(number, sizeof number, "--%s", t->view_option);
		command_word(text, REPORT_COMMAND, number);
		snprintf(number, sizeof number, "%zu", rows);
	}
	command_option(text, t->cover ? "--cover" : "--pair", t->pair);
	command_option(text, "--where", t->where);
	command_option(text, "-g", section_keys(s));
	command_option(text, "-c", t->columns);
	command_option(text, "-s", t->sort);
	command_option(text, "--since", t->since.text);
	command_option(text, "--until", t->until.text);
	if (rows && t->view != VIEW_SLOWEST && t->view != VIEW_HIST)
		command_option(text, "-n", number);
}

/* --- the queries --- */

/* Set the key bucket(time,T) of a section. Returns -1 when out of memory. */
static int set_bucket(struct section *s, size_t width)
{
	const char *keys = s->spec->keys;
	char *text;

	if (asprintf(&text, "%s%sbucket(time,%s)", keys, *keys ? "," : "", widths[width].text) < 0)
		return -1;
	free(s->bucket);
	s->bucket = text;
	s->settings.keys = text;
	s->settings.sort = text;
	return 0;
}

/* Find the options of a section: those of its spec, and of the command line. */
static void section_settings(struct section *s, const struct stat_settings *line)
{
	const struct section_spec *spec = s->spec;
	static const char *const options[] = {
		[VIEW_SLOWEST] = "slowest", [VIEW_HIST] = "hist", [VIEW_TREE] = "tree"};

	s->settings = (struct stat_settings){.keys = spec->keys,
					     .columns = spec->columns,
					     .sort = spec->sort,
					     .screen = line->screen,
					     .view = spec->view,
					     .view_option = options[spec->view],
					     .pair = spec->pair,
					     .cover = spec->cover,
					     .where = spec->where,
					     .since = line->since,
					     .until = line->until};
	if (spec->view == VIEW_SLOWEST)
		s->settings.view_argument = "10";
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Find an earlier section whose groups are those of another one; NULL: none. */
static struct section *find_same(struct reporting *r, const struct section *s)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct section_spec *a = r->section[i].spec, *b = s->spec;

		if (!r->section[i].same && a->flags == b->flags && a->view == VIEW_TABLE &&
		    b->view == VIEW_TABLE && same_text(a->keys, b->keys) &&
		    same_text(a->columns, b->columns) && same_text(a->where, b->where) &&
		    same_text(a->pair, b->pair) && a->cover == b->cover)
			return &r->section[i];
	}
	return NULL;
}

/* Make a section, before the first row. Returns -1 with e filled. */
static int section_make(struct reporting *r, const struct section_spec *spec, struct error *e)
{
	struct section *s = &r->section[r->count];
	static struct alarms none;

	*s = (struct section){.spec = spec};
	section_settings(s, r->settings);
	if (spec->flags & SECTION_ADAPTS && set_bucket(s, 0))
		return error_no_memory(e);
	/* the list of calls cannot be limited to a range */
	if (spec->view == VIEW_SLOWEST && settings_selection(r->settings))
		return 0;
	s->same = find_same(r, s);
	r->count++;
	if (query_parse(&s->query, &s->settings, e))
		return -1;
	s->counting = (struct counting){r->stage, &s->query, &s->statistics, &none, NULL, false};
	return 0;
}

static void section_free(struct section *s)
{
	if (s->started && s->spec->view == VIEW_SLOWEST)
		slowest_free(&s->slowest);
	else if (s->started && !s->same)
		statistics_free(&s->statistics);
	query_free(&s->query);
	free(s->bucket);
}

/* --- counting --- */

/* Turn a section off. Returns -1 when out of memory. */
static int section_off(struct section *s, const struct error *e)
{
	s->off = true;
	return e->what[0] ? 0 : -1;
}

/* Begin to count a section, at the first block of events. Returns -1 when out of memory. */
static int section_start(struct section *s)
{
	s->started = true;
	return s->spec->view == VIEW_SLOWEST
		       ? slowest_init(&s->slowest, SLOWEST_KEPT, &s->query.columns,
				      &s->counting.stage->in.dictionary)
		       : 0;
}

/* Keep the key type at the end of the keys, where the query has added it. Returns -1 when out of
 * memory. */
static int retype(struct section *s)
{
	char *typed = NULL;

	if (!s->query.typed_keys)
		return 0;
	if (asprintf(&typed, "%s,type", s->bucket) < 0)
		return -1;
	free(s->query.typed_keys);
	s->query.typed_keys = typed;
	s->query.typed.keys = typed;
	return 0;
}

/* Widen the buckets of time until those of the trace so far and of a block are not too many.
 * Returns -1 when out of memory. */
static int section_widen(struct section *s, const struct block *b)
{
	struct statistics *st = &s->statistics;
	uint64_t first = st->first < b->base ? st->first : b->base, last = b->last;
	uint64_t most = s->spec->flags & SECTION_WHOLE ? BUCKETS_FEW : BUCKETS_MOST;
	size_t at = 0, number = keys_time_bucket(&s->query.keys) - 1;
	struct key *key = &s->query.keys.key[number];
	char *name;

	if (!b->rows)
		return 0;
	last = st->last > last ? st->last : last;
	while (widths[at].ns < key->width)
		at++;
	while (at + 1 < WIDTHS && (last - first) / widths[at].ns >= most)
		at++;
	if (widths[at].ns == key->width)
		return 0;
	if (set_bucket(s, at) || retype(s) || !(name = strdup(strstr(s->bucket, "bucket("))))
		return -1;
	key->width = widths[at].ns;
	free(key->name);
	key->name = name;
	s->query.keys.names[number] = name;
	return statistics_widen(st, number);
}

/* Test whether no event so far can be of the pair of a section, so that blocks need not be counted:
 * most traces have few of the pairs. A share of the span of the trace needs all of them. */
static bool section_idle(struct section *s)
{
	struct dictionary *d = &s->counting.stage->in.dictionary;
	char *lacks;

	if (!s->spec->pair || strstr(s->spec->columns, "busy") || settings_selection(&s->settings))
		return false;
	if (s->types == d->types.count && s->locations == d->locations.count)
		return s->idle;
	if (s->checks == IDLE_CHECKS)
		return s->idle = false;
	s->checks++;
	s->types = d->types.count;
	s->locations = d->locations.count;
	lacks = pair_lacks(d, &s->query.pair);
	s->idle = lacks != NULL;
	free(lacks);
	return s->idle;
}

/* Count a block. Returns -1 when out of memory. */
static int section_block(struct section *s, const struct block *b)
{
	struct error e = {.what = ""};

	if (s->off || s->same || (b->kind == BLOCK_EVENTS && section_idle(s)))
		return 0;
	if (!s->started && section_start(s))
		return -1;
	if (s->spec->view == VIEW_SLOWEST)
		return slowest_block(&s->slowest, b)			   ? -1
		       : clocks_check(&s->slowest.clocks, CLOCKS_HINT, &e) ? section_off(s, &e)
									   : 0;
	if (s->spec->flags & SECTION_ADAPTS && b->kind == BLOCK_EVENTS && section_widen(s, b))
		return -1;
	return counting_block(&s->counting, b, &e) ? section_off(s, &e) : 0;
}

/* --- the trace as a whole --- */

/* Note the lanes and the times of a block. Returns -1 when out of memory. */
static int note_block(struct reporting *r, const struct block *b)
{
	if (b->kind != BLOCK_EVENTS || !b->rows)
		return 0;
	r->first = b->base < r->first ? b->base : r->first;
	r->last = b->last > r->last ? b->last : r->last;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		if (ARRAY_REACH(r->seen, r->nseen, b->lanes[i]->number))
			return -1;
		r->seen[b->lanes[i]->number] = 1;
	}
	return 0;
}

/* Note the commands that wrote a stream. Returns -1 when out of memory. */
static int note_head(struct reporting *r, const struct head *h)
{
	struct head_property p;

	for (size_t at = 0; !h->sequence && head_next(h, &at, &p);)
		if (p.key == HEAD_COMMAND &&
		    (buffer_append(&r->commands, p.data, p.size) || buffer_u8(&r->commands, 0)))
			return -1;
	return 0;
}

/* Count the threads and the CPUs of the lanes with events. Returns -1 when out of memory. */
static int count_lanes(struct reporting *r)
{
	const struct dictionary *d = &r->stage->in.dictionary;
	uint8_t *known = calloc(2, (size_t)d->threads.count + 1);
	uint8_t *cpus = known ? known + d->threads.count + 1 : NULL;

	if (!known)
		return -1;
	for (uint32_t i = 1; i < d->lanes.count && i < r->nseen; i++) {
		const struct lane *l = dictionary_lane(d, i);

		if (!r->seen[i])
			continue;
		if (l->flags & LANE_HAS_TID && l->thread <= d->threads.count) {
			r->threads += !known[l->thread];
			known[l->thread] = 1;
		}
		if (l->flags & LANE_HAS_CPU && l->cpu_thread <= d->threads.count) {
			r->cpus += !cpus[l->cpu_thread];
			cpus[l->cpu_thread] = 1;
		}
	}
	free(known);
	return 0;
}

/* Get the clock of the first lane with events; NULL: none. */
static const struct clock *report_clock(const struct reporting *r)
{
	const struct dictionary *d = &r->stage->in.dictionary;

	for (uint32_t i = 1; i < d->lanes.count && i < r->nseen; i++)
		if (r->seen[i])
			return dictionary_lane(d, i)->clock;
	return NULL;
}

/* Write the date on which the trace begins, in UTC; false: it is not known. */
static bool report_date(const struct reporting *r, char out[static VALUE_SIZE])
{
	const struct clock *c = report_clock(r);
	int64_t ns = (int64_t)r->first;
	time_t seconds;
	struct tm tm;

	if (!c || c->flags & CLOCK_TICKS || !(c->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)) ||
	    (c->flags & CLOCK_HAS_WALL && __builtin_add_overflow(ns, c->wall, &ns)))
		return false;
	seconds = (time_t)(ns / 1000000000);
	return gmtime_r(&seconds, &tm) && strftime(out, VALUE_SIZE, "%FT%TZ", &tm);
}

/* --- the end: which sections have rows --- */

/* What the groups of a table have. */
struct contents {
	size_t times; /* number of groups with times, or with samples */
	bool nested;  /* a group's total is not its self */
	bool first;   /* the first key of a group is known */
};

static struct contents groups_contents(const struct groups *g)
{
	struct contents c = {0};

	for (size_t i = 0; i < g->count; i++) {
		const struct aggregate *a = groups_at(g, i);

		c.times += aggregate_has_times(a);
		c.nested |= (int128)a->self != (int128)a->total;
		c.first |= g->keys && groups_cells(g, a)->kind != KEY_MISSING;
	}
	return c;
}

/* Get the number of types of events in the trace. */
static size_t count_types(const struct reporting *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->section[i].spec->id, "events"))
			return r->section[i].statistics.groups.count;
	return 0;
}

/* Get the number of rows of a section that are worth showing. */
static size_t rows_worth(const struct reporting *r, const struct section *s, const struct table *t)
{
	const struct contents c = groups_contents(t->groups);
	const struct section *all = &r->section[0];
	unsigned flags = s->spec->flags;
	bool times = flags & SECTION_OF_TIMES, none = false;

	none |= times && !c.times;
	none |= flags & SECTION_SEVERAL && c.times < 2;
	none |= flags & SECTION_WAKERS && !c.first;
	/* the same as the table by self */
	none |= s->same && !c.nested;
	/* names that are types, or of functions that are shown */
	none |= flags & SECTION_NAMES && (all->shown || t->groups->count <= count_types(r));
	return none ? 0 : times && s->spec->view == VIEW_TABLE ? c.times : t->groups->count;
}

/* Without the events of the scheduler the calls have no states. */
static void slowest_without_states(struct section *s)
{
	for (size_t i = 0; i < s->slowest.list.count; i++) {
		free(s->slowest.list.call[i].state);
		s->slowest.list.call[i].state = NULL;
	}
	s->slowest.list.states = NULL;
	s->settings.columns = NULL;
}

/* Get the limit of a command that prints the first rows, 0: these are all. */
static size_t section_limit(const struct report_section *shown, size_t rows)
{
	return rows < shown->groups ? rows : 0;
}

/* Add a section to those that are shown, with the first rows of its groups. */
static void section_show(struct reporting *r, struct section *s, size_t rows, size_t groups)
{
	struct report_section *shown = &r->report.section[r->report.count];

	if (!rows)
		return;
	r->report.count++;
	s->shown = shown;
	shown->id = s->spec->id;
	shown->title = s->spec->title;
	shown->about = s->spec->about;
	shown->rows = rows;
	shown->groups = groups;
	shown->hist = s->spec->view == VIEW_HIST ? &s->query.hist : NULL;
	shown->tree = s->spec->view == VIEW_TREE;
	rows = rows > REPORT_ROWS ? REPORT_ROWS : rows;
	report_command(s, section_limit(shown, rows), shown->command);
}

/* End the list of calls. Returns -1 when out of memory. */
static int calls_finish_list(struct reporting *r, struct section *s, bool states)
{
	if (slowest_finish(&s->slowest))
		return -1;
	if (!states)
		slowest_without_states(s);
	slow_list_sort(&s->slowest.list);
	section_show(r, s, s->slowest.list.count, s->slowest.list.count);
	if (s->shown) {
		s->shown->calls = &s->slowest.list;
		s->shown->ticks = s->slowest.ticks;
	}
	return 0;
}

/* End a section, and show it if it has rows. Returns -1 when out of memory. */
static int section_finish(struct reporting *r, struct section *s, bool states)
{
	struct section *of = s->same ? s->same : s;
	struct table table = {0};

	if (!of->started || of->off || (s->spec->flags & SECTION_STATES && !states))
		return 0;
	if (s->spec->view == VIEW_SLOWEST)
		return calls_finish_list(r, s, states);
	if (s->same && of->shown)
		table = of->shown->table;
	else if (!s->same && counting_table(&s->counting, &table, &s->order))
		return -1;
	if (!table.groups)
		return 0;
	if (s->same)
		table.sort = &s->query.sort;
	section_show(r, s, rows_worth(r, s, &table), table.groups->count);
	if (s->shown) {
		s->shown->table = table;
		s->shown->ticks = table.ticks;
	}
	return 0;
}

/* --- facts on the trace --- */

/* Get the numbers of a trace as words. */
static int facts_put_events(const struct reporting *r, struct buffer *b)
{
	bool ticks = r->ticks;
	char span[VALUE_SIZE];
	int bad = buffer_printf(b, "%" PRIu64 " event%s", r->stage->events,
				r->stage->events == 1 ? "" : "s");

	if (r->threads)
		bad |= buffer_printf(b, " of %zu thread%s", r->threads, r->threads == 1 ? "" : "s");
	if (r->cpus)
		bad |= buffer_printf(b, " on %zu CPU%s", r->cpus, r->cpus == 1 ? "" : "s");
	if (r->first <= r->last) {
		format_duration(span, r->last - r->first, ticks);
		bad |= buffer_printf(b, " in %s%s", span, ticks ? " ticks" : "");
	}
	return bad;
}

static int facts_put_clock(const struct reporting *r, struct buffer *b)
{
	const struct clock *c = report_clock(r);
	char value[VALUE_SIZE];
	int bad;

	if (!c)
		return 0;
	bad = buffer_append(b, c->name.text, c->name.size);
	if (r->ticks)
		bad |= buffer_printf(b, ", from %" PRIu64 " to %" PRIu64 " ticks", r->first,
				     r->last);
	else {
		format_time(value, r->first);
		bad |= buffer_printf(b, ", from %s", value);
		format_time(value, r->last);
		bad |= buffer_printf(b, " to %s", value);
	}
	if (report_date(r, value))
		bad |= buffer_printf(b, ", begins %s", value);
	return bad;
}

static int facts_put_inputs(const struct reporting *r, struct buffer *b)
{
	const struct dictionary *d = &r->stage->in.dictionary;
	int bad = 0;

	for (uint32_t i = 1; i < d->sources.count && i <= INPUTS_MOST; i++) {
		const struct source *s = pool_at(&d->sources, i);

		bad |= (i > 1 && buffer_puts(b, ", ")) ||
		       buffer_append(b, s->format.text, s->format.size) || buffer_u8(b, ' ') ||
		       buffer_append(b, s->name.text, s->name.size);
	}
	if (d->sources.count > INPUTS_MOST + 1)
		bad |= buffer_printf(b, " and %" PRIu32 " more",
				     d->sources.count - INPUTS_MOST - 1);
	return bad;
}

/* Append "2 gaps" after a comma. */
static int put_count(struct buffer *b, uint64_t n, const char *forms)
{
	char text[120];

	if (!n)
		return 0;
	warn_choose_forms(text, sizeof text, forms, n == 1);
	return buffer_printf(b, "%s%" PRIu64 " %s", b->size ? ", " : "", n, text);
}

/* Get what the trace lacks. */
static int facts_put_losses(const struct reporting *r, struct buffer *b)
{
	const struct stage *stage = r->stage;
	const struct calls_counts *c = &r->counts;
	int bad = put_count(b, stage->lost, "{event was|events were} lost by the recorder");

	if (stage->lost_more)
		bad |= buffer_printf(b, "%s" LOST_MORE " were lost by the recorder",
				     b->size ? ", " : "");
	bad |= put_count(b, stage->gaps, "{gap|gaps}, where something is missing");
	bad |= put_count(b, c->unfinished, "{call|calls} had not returned at the end");
	bad |= put_count(b, c->unmatched, "{return|returns} without a call");
	if (r->nameless)
		bad |= buffer_printf(b, "%ssome functions have no names: run trsym before",
				     b->size ? ", " : "");
	return bad ? -1 : b->size ? 0 : buffer_puts(b, "none");
}

static int facts_put_damage(const struct reporting *r, struct buffer *b)
{
	const char *errors = stage_input_errors(r->stage);

	return errors ? buffer_puts(b, errors) : 0;
}

static const struct {
	const char *name;
	int (*put)(const struct reporting *r, struct buffer *b);
} facts[] = {
	{"Trace", facts_put_inputs},  {"Events", facts_put_events}, {"Clock", facts_put_clock},
	{"Losses", facts_put_losses}, {"Damage", facts_put_damage},
};

/* Make the lines on the trace. Returns -1 when out of memory. */
static int report_facts(struct reporting *r)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct report_line *line = &r->report.fact[r->report.facts];

		if (facts[i].put(r, &line->text))
			return -1;
		line->name = facts[i].name;
		r->report.facts += line->text.size > 0;
	}
	return 0;
}

/* Make the line of an alarm. Returns -1 when out of memory. */
static int report_alarm(struct report_line *line, const struct alarm *a)
{
	line->name = a->holds ? "true" : a->decided ? "false" : "not decided";
	line->holds = a->holds;
	return buffer_printf(&line->text, a->decided ? "%s (%s)" : "%s", a->text, a->values);
}

/* Make the lines of the alarms, those that are true first. Returns -1 when out of memory. */
static int report_lines(struct reporting *r)
{
	const struct alarms *all = r->alarms;
	struct report *report = &r->report;
	int bad = report_facts(r);

	report->alarm = calloc(all->count + 1, sizeof(*report->alarm));
	if (bad || !report->alarm)
		return -1;
	for (int holds = 1; holds >= 0 && !bad; holds--)
		for (size_t i = 0; i < all->count && !bad; i++)
			if (all->alarm[i].holds == holds)
				bad = report_alarm(&report->alarm[report->alarms++],
						   &all->alarm[i]);
	return bad;
}

/* --- how many rows of each section fit --- */

/* A format whose lines are limited. */
struct report_page {
	size_t lines, rows; /* most lines; most rows of a section */
	size_t around;	    /* lines of a section besides its rows and its command */
	size_t width;	    /* of a command's lines; 0: one line */
	unsigned without;   /* enum section_flags: sections that it has not */
};

static const struct report_page text_page = {TEXT_LINES, 10, 3, TEXT_WIDTH,
					     SECTION_PICTURE | SECTION_MORE},
				markdown_page = {MARKDOWN_LINES, 15, 8, 0, SECTION_PICTURE};

enum { ROWS_LEAST = 3, CALLS_MOST = 5, COMMAND_INDENT = 4, FACT_LINES = 3 };

static void put_title(const struct section *s, size_t rows, struct buffer *b)
{
	buffer_puts(b, s->spec->title);
	if (rows < s->shown->rows && s->spec->view != VIEW_SLOWEST)
		buffer_printf(b, " (%zu of %zu)", rows, s->shown->rows);
}

/* Get the length of the first words of a command, up to an option outside of quotes. */
static size_t command_unit(const char *p)
{
	bool quoted = false;
	size_t n = 0;

	for (; p[n] && (quoted || n == 0 || p[n] != ' ' || p[n + 1] != '-'); n++)
		quoted ^= p[n] == '\'';
	return n;
}

/* Write a command; where it is longer than a line in lines that each end in a backslash. used:
 * characters before it. out: NULL: write nothing. Returns the number of lines. */
static size_t put_command(struct text *out, const char *command, size_t used, size_t width)
{
	size_t lines = 1;

	for (const char *p = command; *p;) {
		size_t n = command_unit(p);

		/* two for the backslash before the next words */
		if (width && p > command && used + n + (p[n] ? 2 : 0) > width) {
			if (out)
				text_puts(out, " \\\n       ");
			used = 2 * COMMAND_INDENT - 1;
			lines++;
		}
		if (out)
			text_put(out, p, n);
		used += n;
		p += n;
	}
	return lines;
}

/* Write the title of a section and its command, in one line where both fit. out: NULL: write
 * nothing. Returns the number of lines, 0 when out of memory. */
static size_t text_heading(const struct section *s, size_t rows, size_t width, struct text *out)
{
	char command[REPORT_COMMAND];
	struct buffer title = {0};
	size_t n, lines = 0;

	report_command(s, section_limit(s->shown, rows), command);
	put_title(s, rows, &title);
	n = format_characters((const char *)title.data, title.size) + 2;
	if (width && n + strlen(command) > width) {
		n = COMMAND_INDENT;
		lines++;
	}
	if (out) {
		text_ink(out, INK_HEADING);
		text_put(out, (const char *)title.data, title.size);
		text_ink(out, INK_PLAIN);
		text_puts(out, lines ? ":\n    " : ": ");
	}
	buffer_free(&title);
	lines += put_command(out, command, n, width);
	if (out)
		text_char(out, '\n');
	return lines;
}

/* Count the lines that rows of a section take. Returns -1 when out of memory. */
static int section_lines(const struct reporting *r, struct section *s, const struct report_page *p,
			 size_t rows, size_t *lines)
{
	*lines = rows;
	if (s->spec->view == VIEW_SLOWEST &&
	    slow_list_lines(&s->slowest.list, rows, r->ticks, r->settings->screen, lines))
		return -1;
	*lines += p->around;
	if (p->width)
		*lines += text_heading(s, rows, p->width, NULL) - 1;
	return 0;
}

/* Get the least number of rows that a section has, or the most. */
static size_t section_rows(const struct section *s, const struct report_page *p, bool most)
{
	bool calls = s->spec->view == VIEW_SLOWEST;
	size_t n = most ? calls ? CALLS_MOST : p->rows : calls ? 1 : ROWS_LEAST;

	return s->spec->flags & SECTION_WHOLE || n > s->shown->rows ? s->shown->rows : n;
}

/* Find how many rows of each section fit, 0: the section is left out. head: lines before the
 * sections. Returns -1 when out of memory. */
static int page_plan(struct reporting *r, const struct report_page *p, size_t head,
		     size_t rows[REPORT_SECTIONS_MOST])
{
	size_t left = p->lines > head ? p->lines - head : 0, lines[REPORT_SECTIONS_MOST];
	bool more = true;

	for (size_t i = 0; i < r->count; i++) {
		struct section *s = &r->section[i];
		size_t n = s->shown ? section_rows(s, p, false) : 0;

		rows[i] = 0;
		if (!n || s->spec->flags & p->without)
			continue;
		if (section_lines(r, s, p, n, &lines[i]))
			return -1;
		if (left < lines[i])
			continue;
		rows[i] = n;
		left -= lines[i];
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < r->count; i++) {
			struct section *s = &r->section[i];
			size_t with;

			if (!rows[i] || rows[i] == section_rows(s, p, true))
				continue;
			if (section_lines(r, s, p, rows[i] + 1, &with))
				return -1;
			if (with > lines[i] + left)
				continue;
			rows[i]++;
			left = left + lines[i] - with;
			lines[i] = with;
			more = true;
		}
	}
	return 0;
}

/* Append the titles of the sections that have rows and are left out. */
static int put_left_out(const struct reporting *r, const size_t rows[REPORT_SECTIONS_MOST],
			struct buffer *b)
{
	int bad = 0;

	b->size = 0;
	for (size_t i = 0; i < r->count; i++)
		if (r->section[i].shown && !rows[i])
			bad |= buffer_puts(b, b->size ? "; " : "Left out: ") ||
			       buffer_puts(b, r->section[i].spec->title);
	return bad;
}

static int section_write(struct section *s, size_t rows, enum table_format format, struct text *out,
			 struct error *e)
{
	struct table t = s->shown->table;
	struct slow_list calls = s->slowest.list;

	t.limit = section_limit(s->shown, rows);
	switch (s->spec->view) {
	case VIEW_HIST: return view_hist(&t, &s->query.hist, format, out, e);
	case VIEW_TREE: return view_tree(&t, TREE_ALL, NULL, format, out, e);
	case VIEW_SLOWEST: break;
	default: return table_write(&t, format, out, e);
	}
	calls.count = rows && rows < calls.count ? rows : calls.count;
	return slowest_write(&calls, s->slowest.ticks, format, s->settings.screen, out)
		       ? error_no_memory(e)
		       : 0;
}

/* --- text --- */

/* Write a line on the trace or an alarm; a very long one is shortened. Returns the number of
 * lines. */
static size_t text_line(const struct reporting *r, const char *name, const struct report_line *l,
			struct text *out)
{
	size_t width = r->settings->screen->width, lines = 0;
	struct buffer line = {0};

	if (!buffer_printf(&line, "%s: ", name) &&
	    !buffer_append(&line, l->text.data, l->text.size)) {
		text_ink(out, l->holds ? INK_ALARM : INK_PLAIN);
		lines = aligned_words(NULL, (const char *)line.data, line.size, width, 4, 0);
		if (lines > FACT_LINES) {
			aligned_line(r->settings->screen, out, &line);
			lines = 1;
		} else {
			aligned_words(out, (const char *)line.data, line.size, width, 4, 0);
			text_char(out, '\n');
		}
		text_ink(out, INK_PLAIN);
	}
	buffer_free(&line);
	return lines;
}

/* Write the alarms, as many as fit, and the facts. Returns the number of lines. */
static size_t text_lines(const struct reporting *r, struct text *out)
{
	const struct report *report = &r->report;
	size_t alarms = report->alarms < ALARMS_MOST ? report->alarms : ALARMS_MOST;
	size_t lines = alarms < report->alarms;
	char name[32];

	for (size_t i = 0; i < alarms; i++) {
		snprintf(name, sizeof name, "%s %s", report->alarm[i].holds ? "ALARM" : "Alarm",
			 report->alarm[i].name);
		lines += text_line(r, name, &report->alarm[i], out);
	}
	if (alarms < report->alarms)
		text_printf(out, "... %zu more conditions\n", report->alarms - alarms);
	for (size_t i = 0; i < report->facts; i++)
		lines += text_line(r, report->fact[i].name, &report->fact[i], out);
	return lines;
}

static int report_text(struct reporting *r, struct text *out, struct error *e)
{
	struct screen *screen = r->settings->screen;
	struct report_page page = text_page;
	size_t rows[REPORT_SECTIONS_MOST];
	struct buffer b = {0};
	int bad;

	if (!screen->width && !screen->limited)
		screen->width = TEXT_WIDTH;
	page.width = screen->width;
	out->color = screen->color;
	/* five lines: columns that are left out, and sections */
	bad = page_plan(r, &page, text_lines(r, out) + 5, rows) ? error_no_memory(e) : 0;
	for (size_t i = 0; i < r->count && !bad; i++) {
		struct section *s = &r->section[i];

		if (!rows[i])
			continue;
		text_char(out, '\n');
		text_heading(s, rows[i], screen->width, out);
		bad = section_write(s, rows[i], TABLE_ALIGNED, out, e);
	}
	if (!bad && put_left_out(r, rows, &b))
		bad = error_no_memory(e);
	if (!bad && b.size && !(bad = buffer_puts(&b, " (-t json, -t html)"))) {
		text_char(out, '\n');
		aligned_words(out, (const char *)b.data, b.size, screen->width, 4, 0);
		text_char(out, '\n');
	}
	buffer_free(&b);
	return bad;
}

/* --- Markdown --- */

static void markdown_line(const char *name, const struct report_line *l, struct text *out)
{
	text_printf(out, l->holds ? "- **%s**: " : "- %s: ", name);
	markdown_put(out, (const char *)l->text.data, l->text.size);
	text_char(out, '\n');
}

/* The same as text_lines. */
static size_t markdown_lines(const struct reporting *r, struct text *out)
{
	const struct report *report = &r->report;
	size_t alarms = report->alarms < ALARMS_MOST ? report->alarms : ALARMS_MOST;
	char name[32];

	for (size_t i = 0; i < alarms; i++) {
		snprintf(name, sizeof name, "%s %s", report->alarm[i].holds ? "ALARM" : "Alarm",
			 report->alarm[i].name);
		markdown_line(name, &report->alarm[i], out);
	}
	if (alarms < report->alarms)
		text_printf(out, "- %zu more conditions\n", report->alarms - alarms);
	for (size_t i = 0; i < report->facts; i++)
		markdown_line(report->fact[i].name, &report->fact[i], out);
	return alarms + (alarms < report->alarms) + report->facts;
}

/* Write the rows of a section as a table, or calls as a block of text. */
static int markdown_section(struct section *s, size_t rows, struct text *out, struct error *e)
{
	char command[REPORT_COMMAND];
	struct buffer title = {0};
	int bad;

	report_command(s, section_limit(s->shown, rows), command);
	put_title(s, rows, &title);
	text_printf(out, "\n## %.*s\n\n%s\n", (int)title.size, (const char *)title.data,
		    s->spec->about);
	text_printf(out, "`%s`\n\n", command);
	buffer_free(&title);
	if (s->spec->view != VIEW_SLOWEST)
		return section_write(s, rows, TABLE_MARKDOWN, out, e);
	text_puts(out, "```text\n");
	bad = section_write(s, rows, TABLE_ALIGNED, out, e);
	text_puts(out, "```\n");
	return bad;
}

static int report_markdown(struct reporting *r, struct text *out, struct error *e)
{
	size_t rows[REPORT_SECTIONS_MOST];
	struct buffer b = {0};
	int bad;

	/* lines of any width, as the reader of the mail breaks them */
	r->settings->screen->width = MARKDOWN_WIDTH;
	text_puts(out, "# Report of a trace\n\n");
	bad = page_plan(r, &markdown_page, markdown_lines(r, out) + 4, rows) ? error_no_memory(e)
									     : 0;
	for (size_t i = 0; i < r->count && !bad; i++)
		if (rows[i])
			bad = markdown_section(&r->section[i], rows[i], out, e);
	if (!bad && put_left_out(r, rows, &b))
		bad = error_no_memory(e);
	if (!bad && b.size)
		text_printf(out, "\n%.*s (`-t json`, `-t html`)\n", (int)b.size,
			    (const char *)b.data);
	buffer_free(&b);
	return bad;
}

/* --- JSON --- */

static void json_key(struct text *out, const char *before, const char *name)
{
	text_printf(out, "%s\"%s\": ", before, name);
}

static void report_json_text(struct text *out, struct text_ref t)
{
	json_string(out, t.text, t.size);
}

static void json_inputs(const struct reporting *r, struct text *out)
{
	const struct dictionary *d = &r->stage->in.dictionary;
	const struct buffer *commands = &r->commands;
	const char *p = (const char *)commands->data;

	json_key(out, "", "inputs");
	for (uint32_t i = 1; i < d->sources.count; i++) {
		const struct source *s = pool_at(&d->sources, i);

		json_key(out, i > 1 ? ", {" : "[{", "format");
		report_json_text(out, s->format);
		json_key(out, ", ", "name");
		report_json_text(out, s->name);
		text_char(out, '}');
	}
	text_puts(out, d->sources.count > 1 ? "]" : "[]");
	json_key(out, ",\n  ", "commands");
	text_char(out, '[');
	for (size_t at = 0; at < commands->size; at += strlen(p + at) + 1) {
		text_puts(out, at ? ", " : "");
		json_string(out, p + at, strlen(p + at));
	}
	text_char(out, ']');
}

static void json_trace(const struct reporting *r, struct text *out)
{
	const struct clock *c = report_clock(r);
	char date[VALUE_SIZE];

	json_key(out, " ", "trace");
	text_char(out, '{');
	json_inputs(r, out);
	text_printf(out, ",\n  \"events\": %" PRIu64 ", \"threads\": %zu, \"cpus\": %zu",
		    r->stage->events, r->threads, r->cpus);
	if (r->first <= r->last)
		text_printf(out,
			    ",\n  \"first\": %" PRIu64 ", \"last\": %" PRIu64
			    ", \"span\": %" PRIu64,
			    r->first, r->last, r->last - r->first);
	if (c) {
		json_key(out, ",\n  ", "clock");
		report_json_text(out, c->name);
		text_printf(out, ", \"unit\": \"%s\"", r->ticks ? "ticks" : "ns");
	}
	if (report_date(r, date))
		text_printf(out, ", \"begins\": \"%s\"", date);
	text_puts(out, "},\n");
}

static void json_losses(const struct reporting *r, struct text *out)
{
	const struct stage *stage = r->stage;
	const char *errors = stage_input_errors(stage);

	text_printf(out,
		    " \"losses\": {\"lost\": %" PRIu64 ", \"lost_more\": %s, \"gaps\": %" PRIu64
		    ",\n  \"unfinished\": %" PRIu64 ", \"unmatched\": %" PRIu64
		    ", \"nameless\": %s, \"damage\": ",
		    stage->lost, stage->lost_more ? "true" : "false", stage->gaps,
		    r->counts.unfinished, r->counts.unmatched, r->nameless ? "true" : "false");
	if (errors)
		json_string(out, errors, strlen(errors));
	else
		text_puts(out, "null");
	text_puts(out, "},\n");
}

static void json_alarms(const struct reporting *r, struct text *out)
{
	json_key(out, " ", "alarms");
	text_char(out, '[');
	for (size_t i = 0; i < r->alarms->count; i++) {
		const struct alarm *a = &r->alarms->alarm[i];

		json_key(out, i ? ",\n  {" : "{", "condition");
		json_string(out, a->text, strlen(a->text));
		text_printf(out, ", \"true\": %s, \"values\": ",
			    !a->decided ? "null"
			    : a->holds	? "true"
					: "false");
		json_string(out, a->values, strlen(a->values));
		text_char(out, '}');
	}
	text_puts(out, "],\n");
}

static int json_section(struct section *s, struct text *out, struct error *e)
{
	const struct report_section *shown = s->shown;

	text_printf(out, "  {\"id\": \"%s\", \"title\": \"%s\",\n   \"command\": ", shown->id,
		    shown->title);
	json_string(out, shown->command, strlen(shown->command));
	if (!shown->hist && !shown->tree)
		text_printf(out, ", \"groups\": %zu", shown->groups);
	text_puts(out, ",\n   \"rows\": ");
	if (section_write(s, shown->rows > REPORT_ROWS ? REPORT_ROWS : shown->rows, TABLE_JSON, out,
			  e))
		return -1;
	text_puts(out, "  }");
	return 0;
}

static int report_json(struct reporting *r, struct text *out, struct error *e)
{
	const char *before = "";

	text_puts(out, "{\"report\": 1,\n");
	json_trace(r, out);
	json_losses(r, out);
	json_alarms(r, out);
	text_puts(out, " \"sections\": [\n");
	for (size_t i = 0; i < r->count && !text_failed(out); i++) {
		if (!r->section[i].shown)
			continue;
		text_puts(out, before);
		if (json_section(&r->section[i], out, e))
			return -1;
		before = ",\n";
	}
	text_puts(out, "\n ]}\n");
	return 0;
}

/* --- the run --- */

/* Find what depends on the whole trace. Returns -1 when out of memory. */
static int report_finish(struct reporting *r)
{
	const struct statistics *calls = &r->section[0].statistics;
	bool states = states_declared(&r->stage->in.dictionary);

	for (size_t i = 0; i < r->count; i++)
		if (section_finish(r, &r->section[i], states))
			return -1;
	if (r->section[0].started) {
		r->counts = calls->calls.counts;
		r->nameless = statistics_nameless(calls);
		r->ticks = calls->ticks;
	}
	return count_lanes(r) || report_lines(r) ? -1 : 0;
}

static int report_write(struct reporting *r, struct error *e)
{
	struct text *out = malloc(sizeof(*out));
	struct stage *stage = r->stage;
	int bad;

	if (!out)
		return error_no_memory(e);
	text_init(out, &stage->output);
	screen_find(r->settings->screen, &stage->output);
	switch (r->settings->format) {
	case TABLE_MARKDOWN: bad = report_markdown(r, out, e); break;
	case TABLE_JSON: bad = report_json(r, out, e); break;
	case TABLE_HTML: bad = report_html(&r->report, out, e); break;
	default: bad = report_text(r, out, e); break;
	}
	bad = bad || text_flush(out, e);
	free(out);
	return bad;
}

/* Count a block for all sections, and for the conditions. Returns -1 with e filled, or when out of
 * memory with e->what empty. */
static int report_block(struct reporting *r, struct counting *conditions, const struct block *b,
			struct error *e)
{
	e->what[0] = '\0';
	if (b->kind == BLOCK_HEAD && note_head(r, &r->stage->in.head))
		return -1;
	if (note_block(r, b))
		return -1;
	for (size_t i = 0; i < r->count; i++)
		if (section_block(&r->section[i], b))
			return -1;
	return r->alarms->count ? counting_block(conditions, b, e) : 0;
}

/* Read the trace. Returns -1, the error is in stage. */
static int report_read(struct reporting *r)
{
	struct counting conditions = {r->stage, r->query, &r->statistics, r->alarms, NULL, false};
	struct stage *stage = r->stage;
	struct block block;
	struct table table;
	struct sort order;
	struct error e = {.what = ""};

	if (alarms_begin(r->alarms, r->query, &stage->in.dictionary, &e))
		return stage_fail(stage, &e);
	while (stage_next(stage, &block)) {
		report_missed_calls(stage, &block);
		if (report_block(r, &conditions, &block, &e))
			return e.what[0] ? stage_fail(stage, &e) : stage_no_memory(stage);
	}
	if (stage->status == STATUS_FAILED || query_check_names(stage, r->query, r->alarms))
		return -1;
	if (r->alarms->count) {
		if (counting_table(&conditions, &table, &order))
			return stage_no_memory(stage);
		report_alarms(stage, r->query, &r->statistics, r->alarms, NULL);
	}
	if (stage->status == STATUS_FAILED)
		return -1;
	return report_finish(r) ? stage_no_memory(stage) : 0;
}

static void report_free(struct reporting *r)
{
	for (size_t i = 0; i < r->count; i++)
		section_free(&r->section[i]);
	for (size_t i = 0; i < REPORT_FACTS; i++)
		buffer_free(&r->report.fact[i].text);
	for (size_t i = 0; i < r->report.alarms; i++)
		buffer_free(&r->report.alarm[i].text);
	free(r->report.alarm);
	statistics_free(&r->statistics);
	buffer_free(&r->commands);
	free(r->seen);
	free(r);
}

void run_report(struct stage *stage, const struct stat_settings *settings, struct query *q,
		struct alarms *alarms)
{
	struct reporting *r = calloc(1, sizeof(*r));
	struct error e = {.what = ""};
	int bad = 0;

	if (!r) {
		stage_no_memory(stage);
		return;
	}
	*r = (struct reporting){.stage = stage,
				.settings = settings,
				.query = q,
				.alarms = alarms,
				.first = UINT64_MAX};
	for (size_t i = 0; i < SPECS && !bad; i++)
		bad = section_make(r, &specs[i], &e);
	if (bad)
		stage_fail(stage, &e);
	else if (!report_read(r) && report_write(r, &e))
		stage_fail(stage, &e);
	report_free(r);
}

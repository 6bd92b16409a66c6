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
	SECTION_OF_TIMES = 1, /* has rows only where calls or samples have times */
	SECTION_STATES = 2,   /* only for a trace with states of threads */
	SECTION_PICTURE = 4,  /* not in text and Markdown, which have no picture of it */
	SECTION_ADAPTS = 8,   /* the last key is bucket(time,T), and T follows the span */
	SECTION_MORE = 16,    /* not in text, for brevity */
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

#define FUNCTIONS "self,self%,total,count,avg,p99,max"
#define TIMES	  "count,total,avg,p99,max"

static const struct section_spec specs[] = {
	{.id = "functions",
	 .title = "Functions by their own time",
	 .about = "The time of each function less that of the functions that it calls.",
	 .flags = SECTION_OF_TIMES,
	 .columns = FUNCTIONS,
	 .sort = "self"},
	{.id = "functions_total",
	 .title = "Functions by their total time",
	 .about = "The time from the beginning of a call to its end.",
	 .flags = SECTION_OF_TIMES,
	 .columns = FUNCTIONS,
	 .sort = "total"},
	{.id = "syscalls",
	 .title = "System calls",
	 .about = "The time from the beginning of each system call to its end.",
	 .pair = "syscall",
	 .columns = TIMES,
	 .sort = "total"},
	{.id = "slowest",
	 .title = "The slowest calls",
	 .about = "Each call with its thread, its arguments and its callers.",
	 .view = VIEW_SLOWEST,
	 .columns = "+running,runnable,sleeping,blocked,offcpu"},
	{.id = "errors",
	 .title = "Errors",
	 .about = "System calls and other pairs of events that returned an error.",
	 .pair = "syscall",
	 .where = "ret < 0",
	 .keys = "name|id,ret",
	 .columns = "count,total",
	 .sort = "count"},
	{.id = "call_errors",
	 .title = "Calls that returned less than 0",
	 .about = "The names and the returned values of these calls.",
	 .where = "ret < 0",
	 .keys = "name,ret",
	 .columns = "count,total",
	 .sort = "count"},
	{.id = "states",
	 .title = "What threads did during their outermost calls",
	 .about = "The time of the outermost calls of each thread, by the state of the thread.",
	 .flags = SECTION_OF_TIMES | SECTION_STATES,
	 .where = "depth == 0",
	 .keys = "tid,comm",
	 .columns = "total,running,runnable,sleeping,blocked,iowait,irq,offcpu,unknown",
	 .sort = "total"},
	{.id = "cpus",
	 .title = "Use of CPUs",
	 .about = "The time in which each CPU ran a thread, and its share of the trace.",
	 .pair = "oncpu",
	 .cover = true,
	 .keys = "cpu",
	 .columns = "busy,util",
	 .sort = "busy"},
	{.id = "threads",
	 .title = "Time on a CPU by thread",
	 .about = "How long each thread ran, and how many times without a pause.",
	 .pair = "oncpu",
	 .keys = "tid,comm",
	 .columns = "count,total,avg,max",
	 .sort = "total"},
	{.id = "wakeups",
	 .title = "Waits for a CPU after a wakeup",
	 .about = "The time from the wakeup of a thread until the thread ran.",
	 .pair = "wakeup",
	 .keys = "comm",
	 .columns = TIMES,
	 .sort = "p99"},
	{.id = "waits",
	 .title = "Time off the CPU by state",
	 .about =
		 "S and D: asleep, I: idle, R: could run, R+: was preempted; ps(1) has the others.",
	 .pair = "offcpu",
	 .keys = "prev_state",
	 .columns = TIMES,
	 .sort = "total"},
	{.id = "wakers",
	 .title = "Which thread woke which thread",
	 .about = "The time off the CPU that ended when w.comm woke comm; without w.comm, no "
		  "wakeup was recorded.",
	 .pair = "offcpu",
	 .keys = "w.comm,comm",
	 .columns = TIMES,
	 .sort = "total"},
	{.id = "locks",
	 .title = "Waits for locks",
	 .about = "The time that threads waited for each lock.",
	 .pair = "lock",
	 .columns = TIMES,
	 .sort = "total"},
	{.id = "interrupts",
	 .title = "Interrupts",
	 .about = "The time of the handlers of interrupts.",
	 .flags = SECTION_MORE,
	 .pair = "irq",
	 .columns = TIMES,
	 .sort = "total"},
	{.id = "disks",
	 .title = "Requests to disks",
	 .about = "The time of the device for each request.",
	 .pair = "block",
	 .columns = TIMES,
	 .sort = "total"},
	{.id = "counters",
	 .title = "Counters",
	 .about = "The values of each counter.",
	 .where = "kind == counter",
	 .keys = "name",
	 .columns = "count,min(value),avg(value),max(value)",
	 .sort = "count"},
	{.id = "events",
	 .title = "Events by type",
	 .about = "How many events of each type the trace has.",
	 .keys = "type",
	 .columns = "count",
	 .sort = "count"},
	{.id = "cpu_time",
	 .title = "Use of CPUs by time",
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
	 .title = "Events by time",
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

		if (!r->section[i].same && a->view == VIEW_TABLE && b->view == VIEW_TABLE &&
		    same_text(a->keys, b->keys) && same_text(a->columns, b->columns) &&
		    same_text(a->where, b->where) && same_text(a->pair, b->pair) &&
		    a->cover == b->cover)
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
	size_t at = 0, number = keys_time_bucket(&s->query.keys) - 1;
	struct key *key = &s->query.keys.key[number];
	char *name;

	if (!b->rows)
		return 0;
	last = st->last > last ? st->last : last;
	while (widths[at].ns < key->width)
		at++;
	while (at + 1 < WIDTHS && (last - first) / widths[at].ns >= BUCKETS_MOST)
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

/* Count a block. Returns -1 when out of memory. */
static int section_block(struct section *s, const struct block *b)
{
	struct error e = {.what = ""};

	if (s->off || s->same)
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

static bool groups_have_times(const struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (aggregate_has_times(groups_at(g, i)))
			return true;
	return false;
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

/* Add a section to those that are shown. */
static void section_show(struct reporting *r, struct section *s, size_t rows)
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
	shown->hist = s->spec->view == VIEW_HIST ? &s->query.hist : NULL;
	shown->tree = s->spec->view == VIEW_TREE;
	report_command(s, rows > REPORT_ROWS ? REPORT_ROWS : 0, shown->command);
}

/* End the list of calls. Returns -1 when out of memory. */
static int calls_finish_list(struct reporting *r, struct section *s, bool states)
{
	if (slowest_finish(&s->slowest))
		return -1;
	if (!states)
		slowest_without_states(s);
	slow_list_sort(&s->slowest.list);
	section_show(r, s, s->slowest.list.count);
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
	if (!table.groups ||
	    (s->spec->flags & SECTION_OF_TIMES && !groups_have_times(&of->statistics.groups)))
		return 0;
	if (s->same)
		table.sort = &s->query.sort;
	section_show(r, s, table.groups->count);
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
	size_t around;	    /* lines of a section besides its rows */
	size_t call;	    /* most lines of a slow call */
	unsigned without;   /* enum section_flags: sections that it has not */
};

static const struct report_page text_page = {TEXT_LINES, 10, 3, 3, SECTION_PICTURE | SECTION_MORE},
				markdown_page = {MARKDOWN_LINES, 15, 8, 3, SECTION_PICTURE};

enum { ROWS_LEAST = 3 };

static size_t row_lines(const struct section *s, const struct report_page *p)
{
	return s->spec->view == VIEW_SLOWEST ? p->call : 1;
}

/* Find how many rows of each section fit, 0: the section is left out. head: lines before the
 * sections. */
static void page_plan(const struct reporting *r, const struct report_page *p, size_t head,
		      size_t rows[REPORT_SECTIONS_MOST])
{
	size_t left = p->lines - head;
	bool more = true;

	for (size_t i = 0; i < r->count; i++) {
		const struct section *s = &r->section[i];
		size_t line = row_lines(s, p), n = line > 1 ? 1 : ROWS_LEAST;

		rows[i] = 0;
		if (!s->shown)
			continue;
		n = s->shown->rows < n ? s->shown->rows : n;
		if (s->spec->flags & p->without || left < p->around + n * line)
			continue;
		rows[i] = n;
		left -= p->around + n * line;
	}
	while (more) {
		more = false;
		for (size_t i = 0; i < r->count; i++) {
			const struct section *s = &r->section[i];
			size_t line = row_lines(s, p);

			if (!rows[i] || rows[i] == s->shown->rows || rows[i] == p->rows ||
			    left < line)
				continue;
			rows[i]++;
			left -= line;
			more = true;
		}
	}
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

	t.limit = rows;
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

static void put_title(const struct section *s, size_t rows, struct text *out)
{
	text_puts(out, s->spec->title);
	if (rows < s->shown->rows && s->spec->view != VIEW_SLOWEST)
		text_printf(out, " (%zu of %zu)", rows, s->shown->rows);
}

/* --- text --- */

static void text_line(const struct reporting *r, const char *name, const struct report_line *l,
		      struct text *out)
{
	struct buffer line = {0};

	if (!buffer_printf(&line, "%s: ", name) &&
	    !buffer_append(&line, l->text.data, l->text.size)) {
		text_ink(out, l->holds ? INK_ALARM : INK_PLAIN);
		aligned_line(r->settings->screen, out, &line);
		text_ink(out, INK_PLAIN);
	}
	buffer_free(&line);
}

/* Write the alarms, as many as fit, and the facts. Returns the number of lines. */
static size_t text_lines(const struct reporting *r, struct text *out)
{
	const struct report *report = &r->report;
	size_t alarms = report->alarms < ALARMS_MOST ? report->alarms : ALARMS_MOST;
	char name[32];

	for (size_t i = 0; i < alarms; i++) {
		snprintf(name, sizeof name, "%s %s", report->alarm[i].holds ? "ALARM" : "Alarm",
			 report->alarm[i].name);
		text_line(r, name, &report->alarm[i], out);
	}
	if (alarms < report->alarms)
		text_printf(out, "... %zu more conditions\n", report->alarms - alarms);
	for (size_t i = 0; i < report->facts; i++)
		text_line(r, report->fact[i].name, &report->fact[i], out);
	return alarms + (alarms < report->alarms) + report->facts;
}

static int report_text(struct reporting *r, struct text *out, struct error *e)
{
	size_t rows[REPORT_SECTIONS_MOST];
	char command[REPORT_COMMAND];
	struct buffer b = {0};
	int bad = 0;

	out->color = r->settings->screen->color;
	/* two lines: columns that are left out, and sections */
	page_plan(r, &text_page, text_lines(r, out) + 2, rows);
	for (size_t i = 0; i < r->count && !bad; i++) {
		struct section *s = &r->section[i];

		if (!rows[i])
			continue;
		report_command(s, rows[i] < s->shown->rows ? rows[i] : 0, command);
		text_char(out, '\n');
		text_ink(out, INK_HEADING);
		put_title(s, rows[i], out);
		text_ink(out, INK_PLAIN);
		text_printf(out, ": %s\n", command);
		bad = section_write(s, rows[i], TABLE_ALIGNED, out, e);
	}
	if (!bad && put_left_out(r, rows, &b))
		bad = error_no_memory(e);
	if (!bad && b.size)
		text_printf(out, "%.*s (-t json, -t html)\n", (int)b.size, (const char *)b.data);
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
	int bad;

	report_command(s, rows < s->shown->rows ? rows : 0, command);
	text_puts(out, "\n## ");
	put_title(s, rows, out);
	text_printf(out, "\n\n%s\n", s->spec->about);
	text_printf(out, "`%s`\n\n", command);
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
	int bad = 0;

	/* lines of any width, as the reader of the mail breaks them */
	r->settings->screen->width = MARKDOWN_WIDTH;
	text_puts(out, "# Report of a trace\n\n");
	page_plan(r, &markdown_page, markdown_lines(r, out) + 4, rows);
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
		text_printf(out, ", \"groups\": %zu", shown->rows);
	text_puts(out, ",\n   \"rows\": ");
	if (section_write(s, shown->rows > REPORT_ROWS ? REPORT_ROWS : 0, TABLE_JSON, out, e))
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

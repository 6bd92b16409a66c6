/*
 * main.c - trdecode: convert traces of any format into one event stream
 *
 *     trdecode --offset b.json=2ms a.json b.json >merged.trs
 *
 * reads the options, opens the inputs, and merges their events by time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/input_tree.h"
#include "cmd/trdecode/archive.h"
#include "cmd/trdecode/row_filter.h"
#include "common/calls/calls_writer.h"
#include "common/cli/program.h"
#include "common/scheduling/waits.h"
#include "common/stream/index.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/memory.h"
#include "common/util/output.h"
#include "common/util/screen.h"
#include "common/util/text.h"
#include "common/util/u128.h"
#include "common/value/aligned.h"
#include "common/value/argument.h"
#include "common/value/json.h"
#include "common/value/moment.h"
#include "common/value/scalar.h"
#include "common/value/units.h"
#include "common/value/value_text.h"

/* --- options --- */

enum {
	OPT_FORMATS = 256,
	OPT_CLOCK,
	OPT_INFO,
	OPT_LIST,
	OPT_ALL,
	OPT_JSON,
	OPT_SEGMENT,
	OPT_MAX_VALUE,
	OPT_NO_UNWIND,
	OPT_SYSROOT,
	OPT_MAP,
	OPT_SORT,
	OPT_OFFSET,
	OPT_ALIGN,
	OPT_STRICT,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_CPU,
	OPT_TID,
	OPT_TYPE,
	OPT_VERIFY,
	OPT_REINDEX
};

static char settings_formats[256];

static const struct option_row settings_rows[] = {
	{'f', "from", "FORMAT",
	 "read the inputs as FORMAT (default: the one found):", settings_formats},
	{OPT_FORMATS, "formats", NULL, "list the formats", NULL},
	{OPT_CLOCK, "clock", "CLOCK",
	 "raw: times as recorded; wall: times since 1970\n(if the trace records them)", "raw wall"},
	{OPT_OFFSET, "offset", "FILE=TIME", "add TIME, such as -20ms, to all times of FILE",
	 "file"},
	{OPT_ALIGN, "align", "WHERE",
	 "start: the inputs begin at the same time\n(whatever their clocks are)", "start"},
	{OPT_SINCE, "since", "TIME",
	 "drop events before TIME: 12.5s, +1.5s, -10s, a date\n(+: from the first event, -: before "
	 "the last)",
	 NULL},
	{OPT_UNTIL, "until", "TIME", "drop events at TIME and later", NULL},
	{OPT_CPU, "cpu", "LIST", "keep the events of these CPUs, such as 0-3,7", NULL},
	{OPT_TID, "tid", "LIST", "keep the events of these threads", NULL},
	{OPT_TYPE, "type", "GLOB",
	 "keep the events of these types, such as 'sched:*'\n(may be repeated)", NULL},
	{OPT_SEGMENT, "segment", "SIZE",
	 "begin a new segment after SIZE bytes, such as 64M\n(default: one segment)", NULL},
	ARCHIVE_OPTION_ROWS,
	{OPT_MAX_VALUE, "max-value", "SIZE",
	 "apitrace: leave out values of a call beyond SIZE\nbytes (default: 256M)", NULL},
	{OPT_NO_UNWIND, "no-unwind", NULL,
	 "perf: do not unwind the stacks recorded as memory\n(--call-graph dwarf)", NULL},
	{OPT_SYSROOT, "sysroot", "DIR",
	 "perf: read programs and libraries below DIR\n(and the files of JIT compilers; default: "
	 "/)",
	 "directory"},
	{OPT_MAP, "map", "LIST",
	 "ndjson, csv, tsv, arrow: what columns are, such as\n"
	 "time=ts:ms,dur=elapsed:us,name=op",
	 NULL},
	{OPT_SORT, "sort", NULL,
	 "ndjson, csv, tsv, arrow: sort all rows by time, not\nonly those up to 1 s out of order",
	 NULL},
	{OPT_INFO, "info", NULL, "print what the inputs are, and write no stream", NULL},
	{OPT_LIST, "list", NULL,
	 "print the types of events, with counts and fields\n(and examples), and write no stream",
	 NULL},
	{OPT_VERIFY, "verify", NULL,
	 "read saved streams whole, compare them with their\nindexes, and write no stream", NULL},
	{OPT_REINDEX, "reindex", NULL, "write a saved stream unchanged, with a new index", NULL},
	{OPT_ALL, "all", NULL, "with --list: print the types without events, too", NULL},
	{OPT_JSON, "json", NULL, "print --info or --list as JSON", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{0},
};

/* Options that are given or not. */
enum decode_flags {
	DECODE_FORMATS = 1,
	DECODE_INFO = 2,
	DECODE_LIST = 4,
	DECODE_ALL = 8, /* --all of --list: types without events, too */
	DECODE_JSON = 16,
	DECODE_STRICT = 32,
	DECODE_VERIFY = 512,
	DECODE_REINDEX = 1024,
	DECODE_NO_UNWIND = 64,
	DECODE_SORT = 256,
	DECODE_ALIGN = 128, /* --align=start: all inputs begin together */
};

struct decode_settings {
	const struct decoder *const *decoders; /* every format that can be read, ended by NULL */
	const char *format;		       /* NULL: by the inputs' content */
	enum clock_choice clock;
	uint64_t segment, max_value;
	unsigned flags;	     /* sum of enum decode_flags */
	const char *sysroot; /* NULL: / */
	const char *map;     /* NULL: none */
	/* times to add to an input's times */
	struct {
		const char *file; /* the first length bytes; after them '=' and ns, as the user
				     wrote it */
		size_t length;
		int64_t ns;
		bool used; /* there is such an input */
	} * offsets;
	size_t noffsets, offsets_capacity;
	int64_t *aligned; /* times to add so that all inputs begin together (--align); NULL: none */
	struct row_filter row_filter;
};

/* Add the numbers of a list such as "0-3,7". Returns 0, or -1 if the text is not a list. */
static int row_filter_add_numbers(struct number_list *l, const char *text)
{
	for (;; text++) {
		int64_t first, last;
		char *end;

		errno = 0;
		first = last = strtoll(text, &end, 10);
		if (*text < '0' || *text > '9' || errno)
			return -1;
		if (*end == '-') {
			text = end + 1;
			last = strtoll(text, &end, 10);
			if (*text < '0' || *text > '9' || errno || last < first)
				return -1;
		}
		if (ARRAY_GROW(l->ranges, l->capacity, l->count))
			return -1;
		l->ranges[l->count].first = first;
		l->ranges[l->count++].last = last;
		text = end;
		if (!*text)
			return 0;
		if (*text != ',')
			return -1;
	}
}

static int row_filter_add_type(struct row_filter *l, const char *glob, struct error *e)
{
	if (ARRAY_GROW(l->types, l->types_capacity, l->ntypes))
		return error_no_memory(e);
	l->types[l->ntypes].glob = glob;
	l->types[l->ntypes].matched = false;
	nearest_begin(&l->types[l->ntypes++].nearest, glob, strlen(glob));
	return 0;
}

static int add_offset(struct decode_settings *s, const char *arg, struct error *e)
{
	const char *equals = strrchr(arg, '=');
	int64_t ns;

	if (ARRAY_GROW(s->offsets, s->offsets_capacity, s->noffsets))
		return error_no_memory(e);
	if (!equals || equals == arg || parse_time(equals + 1, &ns) || ns >= (int64_t)TIME_LIMIT ||
	    ns <= -(int64_t)TIME_LIMIT)
		return error_set(
			e, NULL, NO_OFFSET,
			"--offset takes FILE=TIME, where TIME is such as 1.5s or -20ms, not '%s'",
			arg);
	s->offsets[s->noffsets].file = arg;
	s->offsets[s->noffsets].length = (size_t)(equals - arg);
	s->offsets[s->noffsets].ns = ns;
	s->offsets[s->noffsets++].used = false;
	return 0;
}

static int parse_numbers(const char *option, const char *arg, struct number_list *l,
			 struct error *e)
{
	if (row_filter_add_numbers(l, arg))
		return error_set(e, NULL, NO_OFFSET, "%s takes a list such as 0-3,7, not '%s'",
				 option, arg);
	return 0;
}

/* Handle an option for struct program; ctx is the settings. */
static int decode_settings_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct decode_settings *s = ctx;

	switch (key) {
	case 'f':
		s->format = arg;
		for (int i = 0; s->decoders[i]; i++)
			if (!strcmp(arg, s->decoders[i]->name))
				return 0;
		return error_set(e, NULL, NO_OFFSET, "no such format: '%s'; there are %s", arg,
				 settings_formats);
	case OPT_CLOCK:
		if (!strcmp(arg, "raw"))
			s->clock = CLOCK_RAW;
		else if (!strcmp(arg, "wall"))
			s->clock = CLOCK_WALL;
		else
			return error_set(e, NULL, NO_OFFSET, "--clock takes raw or wall, not '%s'",
					 arg);
		return 0;
	case OPT_OFFSET: return add_offset(s, arg, e);
	case OPT_ALIGN:
		if (!strcmp(arg, "start"))
			s->flags |= DECODE_ALIGN;
		return s->flags & DECODE_ALIGN ? 0
					       : error_set(e, NULL, NO_OFFSET,
							   "--align takes start, not '%s'", arg);
	case OPT_SINCE: return moment_option(&s->row_filter.since, "--since", arg, e);
	case OPT_UNTIL: return moment_option(&s->row_filter.until, "--until", arg, e);
	case OPT_CPU: return parse_numbers("--cpu", arg, &s->row_filter.cpus, e);
	case OPT_TID: return parse_numbers("--tid", arg, &s->row_filter.tids, e);
	case OPT_TYPE: return row_filter_add_type(&s->row_filter, arg, e);
	case OPT_SEGMENT:
		if (parse_size(arg, &s->segment) || s->segment < 64)
			return error_set(e, NULL, NO_OFFSET,
					 "--segment takes a size of at least 64 bytes, not '%s'",
					 arg);
		return 0;
	case OPT_MAX_VALUE:
		if (parse_size(arg, &s->max_value) || s->max_value < 64 || s->max_value > MAX_VALUE)
			return error_set(e, NULL, NO_OFFSET,
					 "--max-value takes a size from 64 to 256M, not '%s'", arg);
		return 0;
	case OPT_NO_UNWIND: s->flags |= DECODE_NO_UNWIND; return 0;
	case OPT_SYSROOT: s->sysroot = arg; return 0;
	case OPT_MAP: s->map = arg; return 0;
	case OPT_SORT: s->flags |= DECODE_SORT; return 0;
	case OPT_FORMATS: s->flags |= DECODE_FORMATS; return 0;
	case OPT_INFO: s->flags |= DECODE_INFO; return 0;
	case OPT_LIST: s->flags |= DECODE_LIST; return 0;
	case OPT_VERIFY: s->flags |= DECODE_VERIFY; return 0;
	case OPT_REINDEX: s->flags |= DECODE_REINDEX; return 0;
	case OPT_ALL: s->flags |= DECODE_ALL; return 0;
	case OPT_JSON: s->flags |= DECODE_JSON; return 0;
	case OPT_STRICT: s->flags |= DECODE_STRICT; return 0;
	}
	return -1;
}

static void decode_settings_free(struct decode_settings *s)
{
	struct row_filter *l = &s->row_filter;

	free(s->aligned);
	free(s->offsets);
	free(l->cpus.ranges);
	free(l->tids.ranges);
	free(l->types);
	free(l->lanes);
	free(l->kinds);
	free(l->lasts);
	intern_free(&l->stack_keys);
	free(l->calls);
	free(l->numbers[0]);
	free(l->numbers[1]);
	free(l->stacks);
}

/* Set the time to add to the times of an input (--offset, --align). The input is named as on the
 * command line ("-" for standard input) or as in messages; number: of the operand, from 0. */
static void settings_shift(struct decode_settings *s, struct input *in, const char *operand,
			   int number)
{
	for (size_t i = 0; i < s->noffsets; i++) {
		const char *file = s->offsets[i].file;
		size_t n = s->offsets[i].length;

		if ((strlen(operand) == n && !memcmp(operand, file, n)) ||
		    (strlen(in->name) == n && !memcmp(in->name, file, n))) {
			in->shift = s->offsets[i].ns;
			in->shift_text = file + n + 1;
			in->placed = s->offsets[i].used = true;
		}
	}
	if (s->aligned) {
		in->shift = saturated_i64((int128)in->shift + s->aligned[number]);
		in->placed = true;
	}
}

/* Fail if an --offset names no input. Called after settings_shift of all inputs. */
static int settings_check_offsets(const struct decode_settings *s, struct error *e)
{
	for (size_t i = 0; i < s->noffsets; i++)
		if (!s->offsets[i].used)
			return error_set(e, NULL, NO_OFFSET, "--offset %s: no input of that name",
					 s->offsets[i].file);
	return 0;
}

/* --- the options that limit rows: --cpu, --tid, --type, --since, --until --- */

static bool has_range(const struct row_filter *l)
{
	return l->since.from || l->until.from;
}

/* Warn of a list of numbers that no event has. */
static void report_numbers(const struct row_filter *l, const struct number_list *list,
			   const char *what, const char *option)
{
	const char *range = has_range(l) ? " in the range of --since and --until" : "";

	if (list->count == 1 && list->ranges->first == list->ranges->last)
		warn(NULL, NO_OFFSET, "no event%s is of %s %" PRId64, range, what,
		     list->ranges->first);
	else
		warn(NULL, NO_OFFSET, "no event%s is of a %s of %s", range, what, option);
}

/* Warn of limits that no event has matched. */
static void row_filter_report(const struct row_filter *l)
{
	bool ranged = has_range(l), all_matched = true;

	/* without a tested type there was no event */
	for (size_t i = 0; l->nkinds && i < l->ntypes; i++) {
		struct nearest nearest = l->types[i].nearest;

		all_matched &= l->types[i].matched;
		if (!l->types[i].matched)
			warn(NULL, NO_OFFSET, "no event has the type '%.200s'%s", l->types[i].glob,
			     nearest_hint(&nearest));
	}
	if (ranged && !l->in_range) {
		if (l->has_start && all_matched)
			moment_warn_empty(l->ticks, l->start, 0);
		return;
	}
	if (l->cpus.count && !l->of_cpu) {
		if (l->has_lane && !l->has_cpu)
			warn(NULL, NO_OFFSET, "no event has a CPU: --cpu leaves none");
		else
			report_numbers(l, &l->cpus, "CPU", "--cpu");
	}
	if (l->tids.count && !l->of_tid) {
		if (l->has_lane && !l->has_tid)
			warn(NULL, NO_OFFSET, "no event has a thread: --tid leaves none");
		else
			report_numbers(l, &l->tids, "thread", "--tid");
	}
	/* each limit alone leaves some */
	if (l->has_lane && !l->any && all_matched && (!l->cpus.count || l->of_cpu) &&
	    (!l->tids.count || l->of_tid))
		warn(NULL, NO_OFFSET, "no event matches all of the limits");
}

/* Find the times, after begin of all inputs. Returns 0, or -1 with *e filled if they cannot be
 * found. */
static int row_filter_times(struct row_filter *l, const struct input *inputs, int n,
			    struct error *e)
{
	struct moment_base base = {.start = UINT64_MAX, .end = l->end};
	uint64_t until;

	for (int i = 0; i < n; i++) {
		const struct input *in = &inputs[i];

		if (moment_check_clock(&l->since, in->name, "--since", in->ticks, e) ||
		    moment_check_clock(&l->until, in->name, "--until", in->ticks, e))
			return -1;
		if (in->next < base.start)
			base.start = in->next;
		l->ticks |= in->ticks;
		if (in->has_wall && !base.has_wall) {
			base.has_wall = true;
			base.wall = merge_wall(in);
		}
	}
	l->has_start = base.start != UINT64_MAX;
	l->start = base.start;
	if (!l->has_start)
		return 0;
	if ((l->since.from && moment_time(&l->since, &base, &l->first_time)) ||
	    (l->until.from && moment_time(&l->until, &base, &until)))
		return error_set(e, inputs[0].name, NO_OFFSET,
				 "the trace does not record its wall time (--since, --until)");
	l->all_cut |= l->first_time > base.start;
	if (l->until.from) {
		l->last_time = until ? until - 1 : 0;
		/* no event is before the lowest time */
		if (!until)
			l->first_time = UINT64_MAX;
	}
	return 0;
}

/* Get a number for the stream's id: another part of the same input is another stream. 0: no
 * limits. */
static uint64_t row_filter_fingerprint(const struct row_filter *l)
{
	const struct moment *moments[] = {&l->since, &l->until};
	const struct number_list *lists[] = {&l->cpus, &l->tids};
	uint64_t hash = 0;

	if (!row_filter_any(l))
		return 0;
	for (int i = 0; i < 2; i++) {
		hash = hash_u64(hash ^ moments[i]->from ^ (uint64_t)moments[i]->ns << 3);
		for (size_t j = 0; j < lists[i]->count; j++)
			hash = hash_u64(hash ^ (uint64_t)lists[i]->ranges[j].first) ^
			       (uint64_t)lists[i]->ranges[j].last;
		hash = hash_u64(hash);
	}
	for (size_t i = 0; i < l->ntypes; i++)
		hash = hash_bytes(l->types[i].glob, strlen(l->types[i].glob), hash);
	return hash;
}

/*
 * --- find when a trace begins or ends before it is decoded ---
 *
 * For times that count from the end (--since -10s), and for inputs that begin at the same time
 * (--align start). The inputs are decoded once more, beforehand, without output. Where a decoder
 * gives a time near the end (struct decoder, late), the events before that time are skipped and
 * little is read.
 */

/* One decoding of all inputs, without output, that finds the highest time. */
struct pass {
	char *const *names; /* operands, as input_open takes them */
	int n;
	struct decode_settings *settings;
	bool shifted; /* by --offset and --align; false: times are those of the inputs' own clocks
		       */
	struct decoding decoding;
	struct row_filter row_filter;
	struct output nowhere;
	struct writer writer;
	struct input *inputs;
	int opened;
	uint64_t last;
	bool any;
};

static bool pass_note(void *ctx, uint64_t time, uint32_t lane, uint32_t type, const void *fixed)
{
	struct pass *p = ctx;

	(void)lane;
	(void)type;
	(void)fixed;
	p->any = true;
	p->last = time > p->last ? time : p->last;
	return true;
}

/* Test whether a regular file, which need not be open, can be read again. */
static bool decode_input_is_file(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	bool is = fd < 0 || input_is_file(fd); /* the error of opening is reported later */

	if (fd >= 0)
		close(fd);
	return is;
}

static int can_seek(const char *name, const char *what, struct error *e)
{
	bool standard = !strcmp(name, "-");
	struct stat st;

	if (standard ? fstat(STDIN_FILENO, &st) : stat(name, &st))
		return error_errno(e, standard ? "<stdin>" : name, NO_OFFSET, "cannot open");
	if (S_ISDIR(st.st_mode) ||
	    (S_ISREG(st.st_mode) &&
	     (standard ? !lseek(STDIN_FILENO, 0, SEEK_CUR) : decode_input_is_file(name))))
		return 0;
	return error_set(e, standard ? "<stdin>" : name, NO_OFFSET,
			 "%s needs a file or directory, not a pipe: save the trace first", what);
}

static int pass_begin(struct pass *p, struct error *e)
{
	p->nowhere.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (p->nowhere.fd < 0)
		return error_errno(e, "/dev/null", NO_OFFSET, "cannot open");
	p->inputs = calloc((size_t)p->n, sizeof *p->inputs);
	if (!p->inputs || writer_init(&p->writer, &p->nowhere, 0))
		return error_no_memory(e);
	p->decoding = (struct decoding){.writer = &p->writer,
					.clock = p->settings->clock,
					.several = p->n > 1,
					.quiet = true,
					.times_only = true,
					.map = p->settings->map,
					.sort = p->settings->flags & DECODE_SORT,
					.row_filter = &p->row_filter};
	p->row_filter.last_time = UINT64_MAX;
	p->writer.refusal.row = pass_note;
	p->writer.refusal.ctx = p;
	for (; p->opened < p->n; p->opened++) {
		struct input *in = &p->inputs[p->opened];
		const char *name = p->names[p->opened];

		in->fd = -1;
		if (input_open(in, strcmp(name, "-") ? name : "/dev/stdin", p->settings->format,
			       p->settings->decoders, &p->decoding, e) ||
		    input_open_trace(in, e)) {
			p->opened++;
			return -1;
		}
		if (p->shifted)
			settings_shift(p->settings, in, name, p->opened);
	}
	if (writer_begin(&p->writer, 0)) {
		*e = p->writer.error;
		return -1;
	}
	for (int i = 0; i < p->n; i++)
		if (input_begin(&p->inputs[i], e))
			return -1;
	return 0;
}

/* Have decoders skip the events before a time near the end. Return false if the end itself is
 * known. */
static bool look_late(struct pass *p)
{
	uint64_t latest = 0;
	bool known = true;

	for (int i = 0; i < p->n; i++) {
		struct input *in = &p->inputs[i];
		uint64_t time = 0;

		if (in->next == UINT64_MAX)
			continue;
		if (!in->decoder->late || !in->decoder->late(in, &time))
			known = false;
		latest = time > latest ? time : latest;
	}
	p->row_filter.first_time = latest;
	if (!known)
		return true;
	p->last = latest;
	p->any = latest;
	return false;
}

static void input_pass_end(struct pass *p)
{
	for (int i = 0; i < p->opened; i++) {
		p->inputs[i].faults = (struct faults){0};
		input_close(&p->inputs[i]);
	}
	free(p->inputs);
	writer_free(&p->writer);
	if (p->nowhere.fd >= 0)
		close(p->nowhere.fd);
}

/* Decode all inputs, with the times that options add. late: trust the times that decoders give for
 * the end. */
static int pass_decode(char *const *names, int n, struct decode_settings *s, bool late, bool *any,
		       struct error *e)
{
	struct pass p = {.names = names, .n = n, .settings = s, .shifted = true, .nowhere.fd = -1};
	int bad = pass_begin(&p, e);

	if (!bad && (!late || look_late(&p)))
		bad = merge_run(p.inputs, n, UINT64_MAX, e);
	s->row_filter.end = p.last;
	/* the highest time is known only if it is not below the first time decoded */
	*any = p.any && p.last >= p.row_filter.first_time;
	input_pass_end(&p);
	return bad;
}

/* Find the latest time of all inputs, shifted; 0 if there are no events. Returns 0, or -1 with
 * *e filled: an input cannot seek, or cannot be decoded at all. Damage is not reported here, but
 * by the decoding that follows. */
static int trace_times_last(char *const *names, int n, struct decode_settings *s, struct error *e)
{
	bool any;

	for (int i = 0; i < n; i++)
		if (can_seek(names[i], "a time before the end", e))
			return -1;
	if (pass_decode(names, n, s, true, &any, e))
		return -1;
	/* damage made the late time wrong: decode everything */
	return any ? 0 : pass_decode(names, n, s, false, &any, e);
}

/* Find the time of the first event of each input; UINT64_MAX: it has none. Returns as
 * trace_times_last. */
static int trace_times_first(char *const *names, int n, struct decode_settings *s, uint64_t *first,
			     struct error *e)
{
	struct pass p = {.names = names, .n = n, .settings = s, .nowhere.fd = -1};
	int bad;

	for (int i = 0; i < n; i++)
		if (can_seek(names[i], "--align", e))
			return -1;
	bad = pass_begin(&p, e);
	for (int i = 0; !bad && i < n; i++)
		first[i] = p.inputs[i].next;
	input_pass_end(&p);
	return bad;
}

/* --- the fingerprint of the stream: of the inputs, and of the options that change it --- */

enum {
	WHOLE = 1 << 20, /* files up to this size are read whole */
	PIECE = 4096,	 /* bytes of each piece of a larger file, and the number of pieces */
	PIECES = 64,
	TREE_BYTES = 2 << 20, /* bytes read of all files of a directory together */
	TREE_LEAST = 64,      /* least bytes read of each file */
};

/* Hash the n bytes from offset on, as far as they can be read. */
static uint64_t hash_piece(int fd, uint64_t offset, uint64_t n, uint64_t hash)
{
	uint8_t data[PIECE];

	while (n) {
		ssize_t got = io_read_at(fd, data, n < PIECE ? (size_t)n : PIECE, offset);

		if (got <= 0)
			break;
		hash = hash_bytes(data, (size_t)got, hash);
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return hash;
}

/* Hash n pieces, spread from the first byte to the last one. */
static uint64_t hash_pieces(int fd, uint64_t offset, uint64_t size, uint64_t n, uint64_t bytes,
			    uint64_t hash)
{
	hash = hash_u64(hash ^ size);
	if (size <= n * bytes)
		return hash_piece(fd, offset, size, hash);
	for (uint64_t i = 0; i < n; i++)
		hash = hash_piece(fd, offset + (size - bytes) / (n - 1) * i, bytes, hash);
	return hash_piece(fd, offset + size - bytes, bytes, hash);
}

static uint64_t hash_member(const struct input *in, const char *name, uint64_t bytes, uint64_t hash)
{
	uint64_t offset, size;
	int fd;

	hash = hash_bytes(name, strlen(name), hash);
	fd = tree_fd(in->tree, name, &offset, &size, NULL);
	if (fd < 0)
		return hash;
	hash = hash_pieces(fd, offset, size, 4, bytes, hash);
	close(fd);
	return hash;
}

static uint64_t hash_tree(const struct input *in, uint64_t hash)
{
	size_t n = tree_count(in->tree);
	uint64_t bytes = TREE_BYTES / 4 / (n ? n : 1);

	if (in->member)
		return hash_member(in, in->member, PIECE, hash);
	bytes = bytes < TREE_LEAST ? TREE_LEAST : bytes > PIECE ? PIECE : bytes;
	for (size_t i = 0; i < n; i++)
		hash = hash_member(in, tree_member(in->tree, i), bytes, hash);
	return hash;
}

static uint64_t hash_content(const struct input *in)
{
	const struct decoder *d = in->decoder;
	uint64_t hash = hash_bytes(d->name, strlen(d->name), 0);
	struct stat st;

	if (d->fingerprint)
		hash = hash_u64(hash ^ d->fingerprint(in));
	if (in->tree)
		return hash_tree(in, hash);
	if (in->fd < 0)
		return hash;
	if (!fstat(in->fd, &st) && S_ISREG(st.st_mode)) {
		uint64_t size = (uint64_t)st.st_size;

		return size <= WHOLE ? hash_piece(in->fd, 0, size, hash_u64(hash ^ size))
				     : hash_pieces(in->fd, 0, size, PIECES, PIECE, hash);
	}
	/* how many bytes beyond these a pipe has given is chance */
	return hash_bytes(in->head, in->head_size < TREE_PROBE ? in->head_size : TREE_PROBE, hash);
}

/*
 * Hash all inputs and the options that change the stream: the row filter, clock, shifts, --segment
 * and --max-value. Small files are hashed whole; of large files, the size and pieces at many
 * offsets; of inputs that can only be read forward, the first bytes. trstat --merge recognises the
 * summaries of one stream by this id: copies of a trace, other names of its files and other file
 * times do not change it.
 */
static uint64_t stream_fingerprint(const struct input *inputs, int n, const struct decoding *d)
{
	uint64_t id = d->row_filter ? row_filter_fingerprint(d->row_filter) : 0;

	id = hash_u64(id ^ d->writer->segment_limit);
	id = hash_u64(id ^ (d->max_value ? d->max_value : MAX_VALUE));
	id = hash_u64(id ^ d->clock);
	id = hash_u64(id ^ d->no_unwind);
	for (int i = 0; i < n; i++)
		id = hash_u64(hash_u64(id ^ hash_content(&inputs[i])) ^ (uint64_t)inputs[i].shift);
	return id;
}

/*
 * --- what an input contains: types of events with their numbers, fields and examples (--list) ---
 *
 *     l = list_open(&e);
 *     ... decode into the descriptor l->pipe[1], and close it
 *     list_print(l, ...);
 *
 * A thread reads the stream that the decoders write, so the list is right for every format, and for
 * the chosen CPUs, threads, types and times.
 */

/* A field of a type, or an argument of its first event with arguments. */
struct listed_field {
	size_t name, name_size; /* in texts */
	const char *kind;
	size_t example, example_size; /* in texts; 0 bytes: none was seen */
	uint32_t share;		      /* number of its share, less 1; 0: none */
};

/*
 * What the types of a group have in common, which is printed once, before them: a group, or a field
 * of a type of the group. The types of the kernel, which all have fields "common_...", are a
 * group for these fields.
 */
struct list_share {
	uint32_t types; /* with the field, or of the group */
	uint32_t last;	/* number of the last of these, less 1 */
	uint32_t group; /* the group's share */
	bool printed;	/* of a group */
};

/* Types of one name, group and kind: sources and segments may declare them again. */
struct listed_type {
	const struct type *type; /* the first one */
	uint64_t events;
	struct listed_field *fields; /* those of type, then arguments */
	size_t nfields, fields_capacity;
	size_t missing;		      /* fields without an example */
	struct text_ref arguments_of; /* function whose arguments are the example; "" none */
};

struct type_list {
	pthread_t thread;
	int pipe[2];
	struct reader reader;
	bool failed;			    /* out of memory */
	bool ticks;			    /* some event has a clock without a unit */
	uint64_t events, gaps, first, last; /* times of the events */
	struct intern keys; /* of types: name, group, kind; their numbers are indexes in types */
	struct listed_type *types;
	size_t ntypes, types_capacity;
	uint32_t *listed; /* by number of a type: index in types */
	size_t nlisted;
	uint32_t declared; /* the first type that is not in listed */
	struct buffer texts, scratch;
	struct intern share_keys;
	struct list_share *shares; /* by number of the key */
	size_t nshares, shares_capacity;
	/* the layout of the text: a line has the width, 0: any; fields are indented */
	size_t width, indent;
	size_t events_width, group_width; /* of columns */
};

static int by_events(const void *a, const void *b)
{
	const struct listed_type *x = *(const struct listed_type *const *)a;
	const struct listed_type *y = *(const struct listed_type *const *)b;

	if (x->events != y->events)
		return x->events < y->events ? 1 : -1;
	return strcmp(x->type->name.text, y->type->name.text);
}

/* Sort the types, most events first. Returns an array that the caller frees, or NULL when out of
 * memory or when there are none. */
static const struct listed_type **sorted_types(const struct type_list *l)
{
	const struct listed_type **types = malloc(l->ntypes * sizeof(*types));

	for (size_t i = 0; types && i < l->ntypes; i++)
		types[i] = &l->types[i];
	if (types)
		qsort(types, l->ntypes, sizeof(*types), by_events);
	return types;
}

/* Get the events per second over the time of all events; negative where that has no meaning. */
static double rate(const struct type_list *l, uint64_t events)
{
	return l->ticks || l->last <= l->first
		       ? -1
		       : (double)events * 1e9 / (double)(l->last - l->first);
}

enum {
	SHARE_LEAST = 3, /* types of a group whose fields are printed once */
	LIST_NAME =
		32, /* characters of a name of a field, or of a group, with which others align */
	LIST_KIND = 15,	      /* those of the kind of a field, and of the blanks around it */
	LIST_RATE = 23,	      /* those of the rate and the kind of a type, and of the blanks */
	LIST_EXAMPLE = 24,    /* those of an example for which fields are indented less */
	LIST_TEXT_LEAST = 12, /* those of any text that is shortened */
};

/* Write a text of the trace after used characters of a line, shortened where the line ends. */
static void list_put_text(const struct type_list *l, struct text *t, const char *p, size_t n,
			  size_t used)
{
	if (!l->width)
		text_masked(t, p, n);
	else
		format_elided(t, p, n,
			      l->width > used + LIST_TEXT_LEAST ? l->width - used
								: LIST_TEXT_LEAST);
}

static void list_put_field(const struct type_list *l, struct text *t, const struct listed_field *f,
			   size_t width)
{
	const char *texts = (const char *)l->texts.data, *name = texts + f->name;
	size_t size = format_characters(name, f->name_size);

	text_pad(t, ' ', l->indent);
	if (!l->width)
		text_masked(t, name, f->name_size);
	else
		size = format_elided(t, name, f->name_size, LIST_NAME);
	text_pad(t, ' ', size < width ? width - size : 0);
	size = size < width ? width : size;
	text_printf(t, f->example_size ? "  %-11s  " : "  %s", f->kind);
	if (f->example_size)
		list_put_text(l, t, texts + f->example, f->example_size,
			      l->indent + size + LIST_KIND);
	text_char(t, '\n');
}

static bool list_is_common(const struct type_list *l, const struct listed_field *f)
{
	return f->name_size > 7 && !memcmp(l->texts.data + f->name, "common_", 7);
}

/* Count a type for a share, whose key is in l->scratch. group: that of a field, else INTERN_NONE.
 * Returns its number; INTERN_NONE: out of memory. */
static uint32_t list_count_share(struct type_list *l, size_t type, uint32_t group)
{
	uint32_t number = intern(&l->share_keys, l->scratch.data, l->scratch.size);

	if (number == INTERN_NONE)
		return INTERN_NONE;
	if (number == l->nshares) {
		if (ARRAY_GROW(l->shares, l->shares_capacity, l->nshares))
			return INTERN_NONE;
		l->shares[l->nshares++] =
			(struct list_share){.group = group == INTERN_NONE ? number : group};
	}
	l->shares[number].types += l->shares[number].last != type + 1;
	l->shares[number].last = (uint32_t)type + 1;
	return number;
}

/* Count the type for its group, or for that of the kernel. Returns as list_count_share. */
static uint32_t list_count_group(struct type_list *l, const struct listed_type *t, size_t type,
				 bool kernel)
{
	struct text_ref group = t->type->group;

	l->scratch.size = 0;
	return buffer_append(&l->scratch, kernel ? "k" : "g", 1) ||
			       (!kernel && buffer_append(&l->scratch, group.text, group.size))
		       ? INTERN_NONE
		       : list_count_share(l, type, INTERN_NONE);
}

/* Count a type's group and fields. Returns -1 when out of memory. */
static int list_count_fields(struct type_list *l, struct listed_type *t, size_t type)
{
	uint32_t own = list_count_group(l, t, type, false);

	for (size_t i = 0; i < t->type->nfields && own != INTERN_NONE; i++) {
		struct listed_field *f = &t->fields[i];
		uint32_t group = own, number;

		if (list_is_common(l, f))
			group = list_count_group(l, t, type, true);
		l->scratch.size = 0;
		if (group == INTERN_NONE || buffer_append(&l->scratch, "f", 1) ||
		    buffer_append(&l->scratch, &group, sizeof(group)) ||
		    buffer_append(&l->scratch, &f->kind, sizeof(f->kind)) ||
		    buffer_append(&l->scratch, l->texts.data + f->name, f->name_size))
			return -1;
		number = list_count_share(l, type, group);
		if (number == INTERN_NONE)
			return -1;
		f->share = number + 1;
	}
	return own == INTERN_NONE ? -1 : 0;
}

/* Find the fields that all listed types of a group have. Returns -1 when out of memory. */
static int list_find_shares(struct type_list *l, const struct listed_type **types, bool all)
{
	for (size_t i = 0; i < l->ntypes; i++)
		if ((all || types[i]->events) &&
		    list_count_fields(l, (struct listed_type *)(uintptr_t)types[i], i))
			return -1;
	return 0;
}

/* Test whether a field is printed once, before the types of its group. */
static bool is_printed_once(const struct type_list *l, const struct listed_field *f)
{
	const struct list_share *s = f->share ? &l->shares[f->share - 1] : NULL;

	return s && s->types == l->shares[s->group].types &&
	       s->types >= (list_is_common(l, f) ? 2 : SHARE_LEAST);
}

static size_t list_field_width(const struct type_list *l, const struct listed_type *type)
{
	size_t most = 0;

	for (size_t i = 0; i < type->nfields; i++) {
		const char *name = (const char *)l->texts.data + type->fields[i].name;
		size_t n = format_characters(name, type->fields[i].name_size);

		most = n > most ? n : most;
	}
	return most < LIST_NAME ? most : LIST_NAME;
}

/* Print the name of a type without events, and the names of its fields. Returns -1 when out of
 * memory. */
static int list_put_names(struct type_list *l, struct text *t, const struct listed_type *type,
			  size_t used)
{
	const char *before = ": ";
	int bad = 0;

	l->scratch.size = 0;
	bad = buffer_append(&l->scratch, type->type->name.text, type->type->name.size);
	for (size_t i = 0; i < type->nfields && !bad; i++) {
		const struct listed_field *f = &type->fields[i];

		if (is_printed_once(l, f))
			continue;
		bad = buffer_append(&l->scratch, before, 2) ||
		      buffer_append(&l->scratch, l->texts.data + f->name, f->name_size);
		before = ", ";
	}
	if (!bad)
		aligned_words(t, (const char *)l->scratch.data, l->scratch.size, l->width,
			      l->indent, used);
	return bad ? -1 : 0;
}

/* Print the fields of a type. */
static void list_put_fields(const struct type_list *l, struct text *t,
			    const struct listed_type *type)
{
	static const char values[] = "values, such as those of ";
	size_t width = list_field_width(l, type);

	for (size_t i = 0; i < type->nfields; i++) {
		if (i == type->type->nfields) {
			text_pad(t, ' ', l->indent);
			text_puts(t, values);
			list_put_text(l, t, type->arguments_of.text, type->arguments_of.size,
				      l->indent + sizeof(values));
			text_puts(t, ":\n");
		}
		if (!is_printed_once(l, &type->fields[i]))
			list_put_field(l, t, &type->fields[i], width);
	}
}

/* Print a type. Returns -1 when out of memory. */
static int list_put_type(struct type_list *l, struct text *t, const struct listed_type *type)
{
	struct text_ref group = type->type->group, name = type->type->name;
	size_t width = l->group_width, used = format_characters(group.text, group.size);
	double r = rate(l, type->events);
	int bad = 0;

	text_printf(t, "%*" PRIu64, (int)l->events_width, type->events);
	if (r < 0 || !type->events)
		text_printf(t, "%12s", "");
	else
		text_printf(t, r < 10 ? "%10.2f/s" : "%10.0f/s", r);
	text_printf(t, "  %-7s  ", type_kind_name(type->type->kind));
	if (!l->width)
		text_masked(t, group.text, group.size);
	else
		used = format_elided(t, group.text, group.size, width);
	text_pad(t, ' ', 2 + (used < width ? width - used : 0));
	used = l->events_width + LIST_RATE + (used < width ? width : used) + 2;
	if (type->events)
		list_put_text(l, t, name.text, name.size, used);
	else
		bad = list_put_names(l, t, type, used);
	text_char(t, '\n');
	if (type->events)
		list_put_fields(l, t, type);
	return bad;
}

/* Print the fields that all types of a group have, with the examples of its first type, if they are
 * not printed yet. */
static void put_shared(const struct type_list *l, struct text *t, const struct listed_type *type)
{
	static const char head[] = "in each type of ";
	struct list_share *present = NULL;

	for (size_t i = 0; i < type->type->nfields; i++) {
		const struct listed_field *f = &type->fields[i];
		struct list_share *group =
			f->share ? &l->shares[l->shares[f->share - 1].group] : NULL;

		if (!is_printed_once(l, f) || (group->printed && group != present))
			continue;
		if (group != present) {
			text_pad(t, ' ', l->indent - 2);
			text_puts(t, head);
			if (list_is_common(l, f))
				text_puts(t, "the kernel");
			else if (!type->type->group.size)
				text_puts(t, "no group");
			else
				list_put_text(l, t, type->type->group.text, type->type->group.size,
					      l->indent - 2 + sizeof(head));
			text_puts(t, ":\n");
		}
		present = group;
		group->printed = true;
		list_put_field(l, t, f, list_field_width(l, type));
	}
}

/* Compute the widths of columns, and how far the fields are indented: as far as the names of types,
 * or less where the line would end before an example. */
static void list_lay_out(struct type_list *l, bool all)
{
	size_t most = l->width && l->width / 4 < LIST_NAME ? l->width / 4 : LIST_NAME, field = 0;
	int digits = snprintf(NULL, 0, "%" PRIu64, l->events);

	l->events_width = digits > 6 ? (size_t)digits : 6;
	l->group_width = 5;
	for (size_t i = 0; i < l->ntypes; i++) {
		const struct listed_type *type = &l->types[i];
		size_t group = format_characters(type->type->group.text, type->type->group.size);
		size_t width = type->events ? list_field_width(l, type) : 0;

		if ((all || type->events) && group > l->group_width)
			l->group_width = group < most ? group : most;
		field = width > field ? width : field;
	}
	l->indent = l->events_width + LIST_RATE + l->group_width;
	field += LIST_KIND + LIST_EXAMPLE;
	if (l->width && l->width < l->indent + field)
		l->indent = l->width > field + 4 ? l->width - field : 4;
}

/* Print the list as text. Returns -1 when out of memory. */
static int list_print_text(struct type_list *l, struct text *t, const struct listed_type **types,
			   bool all)
{
	static const char long_head[] = "type, with its fields and an example of each";
	size_t left_out = 0, used;
	int bad = 0;

	list_lay_out(l, all);
	used = l->events_width + LIST_RATE + l->group_width + 2;
	text_printf(t, "%*s%12s  %-7s  %-*s  %s\n", (int)l->events_width, "events",
		    l->ticks ? "" : "rate", "kind", (int)l->group_width, "group",
		    l->width && l->width < used + sizeof(long_head) - 1 ? "type, fields, examples"
									: long_head);
	for (size_t i = 0; i < l->ntypes; i++)
		if (types[i]->events)
			put_shared(l, t, types[i]);
	for (size_t i = 0; i < l->ntypes && !bad; i++)
		if (all || types[i]->events)
			bad = list_put_type(l, t, types[i]);
		else
			left_out++;
	if (left_out)
		text_printf(t, "... and %zu type%s without events (--all)\n", left_out,
			    left_out == 1 ? "" : "s");
	return bad;
}

static void json_fields(const struct type_list *l, struct text *t, const char *key,
			const struct listed_field *f, size_t n)
{
	const char *texts = (const char *)l->texts.data;

	text_printf(t, ", \"%s\": [", key);
	for (size_t i = 0; i < n; i++, f++) {
		text_puts(t, i ? ",\n      {\"name\": " : "\n      {\"name\": ");
		json_string(t, texts + f->name, f->name_size);
		text_printf(t, ", \"kind\": \"%s\"", f->kind);
		if (f->example_size) {
			text_puts(t, ", \"example\": ");
			json_string(t, texts + f->example, f->example_size);
		}
		text_char(t, '}');
	}
	text_char(t, ']');
}

static void print_json(const struct type_list *l, struct text *t, const struct listed_type **types)
{
	text_puts(t, "[");
	for (size_t i = 0; i < l->ntypes; i++) {
		const struct listed_type *type = types[i];
		double r = rate(l, type->events);

		text_puts(t, i ? ",\n  {\"type\": " : "\n  {\"type\": ");
		json_string(t, type->type->name.text, type->type->name.size);
		text_puts(t, ", \"group\": ");
		json_string(t, type->type->group.text, type->type->group.size);
		text_printf(t, ", \"kind\": \"%s\", \"events\": %" PRIu64,
			    type_kind_name(type->type->kind), type->events);
		if (r >= 0)
			text_printf(t, ", \"rate\": %.3f", r);
		json_fields(l, t, "fields", type->fields, type->type->nfields);
		if (type->nfields > type->type->nfields) {
			text_puts(t, ", \"values_of\": ");
			json_string(t, type->arguments_of.text, type->arguments_of.size);
			json_fields(l, t, "values", type->fields + type->type->nfields,
				    type->nfields - type->type->nfields);
		}
		text_char(t, '}');
	}
	text_puts(t, "\n]\n");
}

enum list_style {
	LIST_TEXT, /* types without events are only counted */
	LIST_ALL,  /* text, with types without events */
	LIST_JSON, /* all types */
};

/* Print what was read. -1: out of memory. */
static int list_print(struct type_list *l, struct text *t, enum list_style style)
{
	const struct listed_type **types = sorted_types(l);
	int bad;

	if (!types && l->ntypes)
		return -1;
	bad = style != LIST_JSON && list_find_shares(l, types, style == LIST_ALL) ? -1 : 0;
	if (style == LIST_JSON)
		print_json(l, t, types);
	else if (!bad)
		bad = list_print_text(l, t, types, style == LIST_ALL);
	free(types);
	return bad;
}

/* --- the thread that reads the stream for --list --- */

enum { EXAMPLE_BYTES = 40, EXAMPLE_ELEMENTS = 4, ARGUMENTS_MOST = 16 };

static const char *field_kind_word(const struct field *f)
{
	static const char *const words[] = {
		[FIELD_UINT] = "unsigned", [FIELD_INT] = "integer",	[FIELD_HEX] = "hexadecimal",
		[FIELD_CHAR] = "text",	   [FIELD_FLOAT] = "float",	[FIELD_BYTES] = "bytes",
		[FIELD_ENUM] = "enum",	   [FIELD_BITMASK] = "bitmask", [FIELD_BITMAP] = "bitmap",
		[FIELD_STRING] = "text",
	};

	return f->kind < sizeof words / sizeof *words ? words[f->kind] : "bytes";
}

static const char *value_word(const struct value *v)
{
	switch (v->tag) {
	case VALUE_FALSE:
	case VALUE_TRUE: return "truth value";
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return "float";
	case VALUE_NEGATIVE:
	case VALUE_UINT: return "integer";
	case VALUE_NUMBER: return v->format == 'f' ? "float" : "integer";
	case VALUE_STRING:
	case VALUE_WSTRING: return "text";
	case VALUE_BLOB: return "bytes";
	case VALUE_ENUM: return "enum";
	case VALUE_BITMASK: return "bitmask";
	case VALUE_ARRAY: return "array";
	case VALUE_STRUCT:
	case VALUE_OPAQUE: return "struct";
	case VALUE_POINTER: return "pointer";
	}
	return "value";
}

static struct value_text example_text(struct type_list *l, const struct type *t)
{
	return (struct value_text){
		.out = &l->texts,
		.plain = {&l->reader.dictionary, &l->scratch, argument_blobs(t), true},
		.bytes = EXAMPLE_BYTES,
		.elements = EXAMPLE_ELEMENTS,
		.depth = 1,
		.end = SIZE_MAX};
}

static struct listed_field *list_add_field(struct type_list *l, struct listed_type *t)
{
	struct listed_field *f;

	if (ARRAY_GROW(t->fields, t->fields_capacity, t->nfields))
		return NULL;
	f = &t->fields[t->nfields++];
	*f = (struct listed_field){.name = l->texts.size};
	return f;
}

/* Add a declared type. Returns its index, or -1 when out of memory. */
static int64_t list_add_type(struct type_list *l, const struct type *type)
{
	const uint32_t key[] = {type->name.number, type->group.number, type->kind};
	uint32_t number = intern(&l->keys, key, sizeof key);
	struct listed_type *t;

	if (number == INTERN_NONE)
		return -1;
	if (number < l->ntypes)
		return number;
	if (ARRAY_GROW(l->types, l->types_capacity, l->ntypes))
		return -1;
	t = &l->types[l->ntypes];
	*t = (struct listed_type){.type = type};
	for (uint32_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		struct listed_field *listed = list_add_field(l, t);

		if (!listed)
			return -1;
		listed->name_size = f->name.size;
		listed->kind = field_kind_word(f);
		if (buffer_append(&l->texts, f->name.text, f->name.size))
			return -1;
	}
	t->missing = type->nfields;
	return (int64_t)l->ntypes++;
}

static int add_types(struct type_list *l)
{
	const struct dictionary *d = &l->reader.dictionary;

	for (; l->declared < d->types.count; l->declared++) {
		int64_t index;

		if (ARRAY_REACH(l->listed, l->nlisted, l->declared))
			return -1;
		index = list_add_type(l, dictionary_type(d, l->declared));
		if (index < 0)
			return -1;
		l->listed[l->declared] = (uint32_t)index;
	}
	return 0;
}

/* Complete the examples of the fields that the events before did not have. */
static int add_examples(struct type_list *l, struct listed_type *t, const struct event *ev)
{
	struct value_text text = example_text(l, ev->type);

	for (uint32_t i = 0; i < t->type->nfields && i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];
		struct field_value v;

		field_get(ev, f, 0, &v);
		if (t->fields[i].example_size || v.form == FORM_NONE)
			continue;
		t->fields[i].example = l->texts.size;
		if (value_text_field(&text, ev, f))
			return -1;
		t->fields[i].example_size = l->texts.size - t->fields[i].example;
		t->missing -= t->fields[i].example_size > 0;
	}
	return 0;
}

/* Add the arguments or the return value of the first event that has any. */
static int add_arguments(struct type_list *l, struct listed_type *t, const struct event *ev)
{
	const struct location *location = dictionary_location(&l->reader.dictionary, ev->location);
	struct value_text text = example_text(l, ev->type);
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, ev->tail, ev->tail_size);
	for (int n = 0; n < ARGUMENTS_MOST && values_what(&v, &what, &index);) {
		struct values at = v;
		struct listed_field *f;
		struct value value;

		if (what != DETAIL_ARGUMENT && what != DETAIL_RETURN) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if (!values_value(&at, &value))
			break;
		f = list_add_field(l, t);
		if (!f ||
		    (what == DETAIL_RETURN ? buffer_puts(&l->texts, "ret")
					   : argument_put_name(&l->texts, location, index, true)))
			return -1;
		f->name_size = l->texts.size - f->name;
		f->kind = value_word(&value);
		f->example = l->texts.size;
		if (value_text_value(&text, &v) && !v.bad)
			return -1;
		f->example_size = l->texts.size - f->example;
		t->arguments_of = dictionary_location_name(&l->reader.dictionary, ev->location);
		n++;
	}
	return 0;
}

static int list_add_event(struct type_list *l, const struct event *ev)
{
	struct listed_type *t;

	if (ev->type->kind == KIND_DROP)
		return 0;
	t = &l->types[l->listed[ev->type->number]];
	t->events++;
	l->events++;
	if (l->events == 1 || ev->time < l->first)
		l->first = ev->time;
	if (l->events == 1 || ev->time > l->last)
		l->last = ev->time;
	l->ticks |= ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS;
	if (t->missing && add_examples(l, t, ev))
		return -1;
	if (ev->type->flags & TYPE_VALUES && ev->tail_size && !t->arguments_of.size)
		return add_arguments(l, t, ev);
	return 0;
}

static int list_add_block(struct type_list *l, const struct block *b)
{
	struct events it;
	struct event ev;

	if (b->kind == BLOCK_DICT)
		return add_types(l);
	if (b->kind != BLOCK_EVENTS)
		return 0;
	events_begin(&it, b);
	while (event_next(&it, &ev))
		if (list_add_event(l, &ev))
			return -1;
	return 0;
}

/* Read to the end in any case: the writer of the stream must not wait. */
static void *list_read(void *ctx)
{
	struct type_list *l = ctx;
	char rest[4096];
	struct block b;
	/* a copy: the reader closes what it reads after a failure, while the writer still writes */
	int r = reader_open_fd(&l->reader, fcntl(l->pipe[0], F_DUPFD_CLOEXEC, 0),
			       "the decoded stream", NULL, 0);

	l->reader.reads_values = READS_ALL;
	l->declared = 1;
	l->failed = r < 0;
	while (!l->failed && (r = reader_next(&l->reader, &b)))
		if (r > 0 ? list_add_block(l, &b) : l->reader.fatal)
			l->failed = true;
	if (l->failed)
		while (read(l->pipe[0], rest, sizeof rest) > 0)
			;
	return NULL;
}

/* Begin to read what is written to l->pipe[1], which the caller closes. Returns NULL with e filled.
 */
static struct type_list *list_open(struct error *e)
{
	struct type_list *l = calloc(1, sizeof(*l));

	if (!l) {
		error_no_memory(e);
		return NULL;
	}
	if (io_pipe(l->pipe)) {
		error_errno(e, NULL, NO_OFFSET, "cannot open a pipe");
		free(l);
		return NULL;
	}
	if (pthread_create(&l->thread, NULL, list_read, l)) {
		error_set(e, NULL, NO_OFFSET, "cannot start a thread");
		close(l->pipe[0]);
		close(l->pipe[1]);
		free(l);
		return NULL;
	}
	return l;
}

static void list_free(struct type_list *l)
{
	for (size_t i = 0; i < l->ntypes; i++)
		free(l->types[i].fields);
	free(l->types);
	free(l->listed);
	free(l->shares);
	intern_free(&l->share_keys);
	intern_free(&l->keys);
	buffer_free(&l->texts);
	buffer_free(&l->scratch);
	reader_close(&l->reader);
	close(l->pipe[0]);
	free(l);
}

/* --- decode the inputs --- */

/* What is decoded, and to where. */
struct run {
	struct input *inputs;
	int n;
	struct decode_settings *settings;
	const struct common_options *common;
	struct decoding *d;
	struct output out;
};

static int run_fail(struct decoding *d, const struct error *e)
{
	/* to a decoder a full disk and a lack of memory are the same: -1 */
	if (d->writer && d->writer->error.what[0] && !memory_failed())
		e = &d->writer->error;
	error_print(e);
	if (!d->failure.what[0])
		d->failure = *e;
	return STATUS_FAILED;
}

/* Fail if operand number i and an earlier operand are both standard input. */
static int input_twice(char *const *names, int i, struct error *e)
{
	for (int k = 0; k < i && !strcmp(names[i], "-"); k++)
		if (!strcmp(names[k], "-"))
			return error_set(e, "<stdin>", NO_OFFSET,
					 "given twice: its events would be counted twice");
	return 0;
}

/* Fail if operand number i is the same file as an earlier operand: each of its events would be
 * written twice. */
static int input_same(const struct input *inputs, int i, struct error *e)
{
	for (int k = 0; k < i; k++)
		if (!input_ended_early(&inputs[i]) &&
		    inputs[k].file.device == inputs[i].file.device &&
		    inputs[k].file.inode == inputs[i].file.inode)
			return error_set(e, inputs[i].name, NO_OFFSET,
					 "given twice%s%s: its events would be counted twice",
					 strcmp(inputs[k].name, inputs[i].name) ? ", also as " : "",
					 strcmp(inputs[k].name, inputs[i].name) ? inputs[k].name
										: "");
	return 0;
}

/* Fail if the input is the regular file that the output is written to. */
static int input_is(const struct input *in, const struct output *out, struct error *e)
{
	bool standard = !strcmp(in->name, "<stdin>"), same;
	struct stat st;
	int fd = STDIN_FILENO;

	if (!standard) {
		/* not a fifo: opening a fifo has effects */
		if (stat(in->name, &st) || !S_ISREG(st.st_mode))
			return 0;
		fd = open(in->name, O_RDONLY | O_CLOEXEC);
	}
	same = fd >= 0 && output_same_file(out, fd);
	if (!standard && fd >= 0)
		close(fd);
	return same ? error_set(e, in->name, NO_OFFSET, "is also the output") : 0;
}

/* Refuse an output that would replace an input. path NULL: standard output. */
static int check_replaced(const struct run *r, const char *path, struct error *e)
{
	struct stat st;

	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	for (int i = 0; i < r->n; i++)
		if (r->inputs[i].file.device == st.st_dev && r->inputs[i].file.inode == st.st_ino)
			return error_set(e, path, NO_OFFSET,
					 "the output would replace the input: name another file");
	return 0;
}

/* Open the output, which must be none of the inputs. Returns -1, the error printed. */
static int open_output(struct run *r, const char *path, enum output_kind kind)
{
	struct error e, ignored;

	if (check_replaced(r, path, &e) || output_open(&r->out, path, kind, &e)) {
		run_fail(r->d, &e);
		return -1;
	}
	for (int i = 0; i < r->n; i++)
		if (input_is(&r->inputs[i], &r->out, &e)) {
			output_close(&r->out, run_fail(r->d, &e), &ignored);
			return -1;
		}
	return 0;
}

/* Open the output of a text that is printed in place of the stream. NULL: the error was printed. */
static struct text *run_text_begin(struct run *r)
{
	struct text *text = malloc(sizeof(*text));
	struct error e;

	if (!text) {
		error_no_memory(&e);
		run_fail(r->d, &e);
	} else if (open_output(r, r->common->output, OUTPUT_TEXT)) {
		free(text);
		text = NULL;
	} else {
		text_init(text, &r->out);
	}
	return text;
}

static int run_text_end(struct text *text, struct run *r, int status)
{
	struct error e;

	if (text_flush(text, &e))
		status = run_fail(r->d, &e);
	if (output_close(&r->out, status, &e) && status != STATUS_FAILED)
		status = run_fail(r->d, &e);
	free(text);
	return status;
}

static int print_info(struct run *r)
{
	bool json = r->settings->flags & DECODE_JSON;
	struct error e;
	struct screen screen = {0};
	struct trace_info f;
	struct text *text = run_text_begin(r);
	int status = STATUS_OK;

	if (!text)
		return STATUS_FAILED;
	screen_find(&screen, &r->out);
	f.width = screen.width;
	for (int i = 0; i < r->n && status != STATUS_FAILED; i++) {
		trace_info_begin(&f, text, json, r->inputs[i].name, i == 0);
		if (r->inputs[i].decoder->info(&r->inputs[i], &f, &e))
			status = run_fail(r->d, &e);
		trace_info_end(&f);
	}
	trace_info_close(text, json);
	return run_text_end(text, r, status_worse(status, r->d->status));
}

/* Report what --why lacks, for a trace that has some of the events which it needs. */
static void list_report_missing(const struct type_list *l)
{
	struct scheduling_types types = {.types = NULL};
	unsigned seen = 0;

	for (size_t i = 0; i < l->ntypes; i++)
		if (l->types[i].events)
			seen |= waits_type_seen(&types, l->types[i].type);
	scheduling_types_free(&types);
	if (seen)
		waits_report_missing(seen);
}

/* Print the list of what was decoded. */
static int print_list(struct type_list *l, struct run *r, int status)
{
	const struct decode_settings *s = r->settings;
	enum list_style style = s->flags & DECODE_JSON				? LIST_JSON
				: s->flags & DECODE_ALL || s->row_filter.ntypes ? LIST_ALL
										: LIST_TEXT;
	struct screen screen = {0};
	struct text *text;
	struct error e;

	pthread_join(l->thread, NULL);
	if (status == STATUS_FAILED)
		return STATUS_FAILED;
	if (l->failed) {
		error_no_memory(&e);
		return run_fail(r->d, &e);
	}
	text = run_text_begin(r);
	if (!text)
		return STATUS_FAILED;
	screen_find(&screen, &r->out);
	l->width = screen.width;
	if (list_print(l, text, style)) {
		error_no_memory(&e);
		status = run_fail(r->d, &e);
	} else if (!r->d->quiet) {
		list_report_missing(l);
	}
	return run_text_end(text, r, status);
}

/* End the inputs that are read at any place, where a signal ended the others: they have no end that
 * a read could return. */
static int end_by_signal(void *ctx)
{
	struct decoding *d = ctx;

	if (!io_stopped() || !d->running || !input_left(d->running))
		return 0;
	io_leave();
	d->ended = true;
	return -1;
}

/* Decode all inputs, which have begun. */
static int run_decoders(struct input *inputs, int n, struct decoding *d, struct row_filter *filter,
			struct error *e)
{
	int bad;

	d->writer->sent.after = end_by_signal;
	d->writer->sent.after_ctx = d;
	bad = merge_run(inputs, n, filter->last_time, e);
	d->writer->sent.after = NULL;
	return bad && !d->ended ? -1 : 0;
}

static int decode_inputs(struct input *inputs, int n, struct decoding *d, struct row_filter *filter)
{
	struct writer *w = d->writer;
	struct error e = {.what = ""};

	row_filter_begin(filter, w);
	if (w->segment_limit)
		w->head.flags |= HEAD_SEGMENTED;
	/* of an input with segments the first may be missing */
	if (w->head.flags & HEAD_SEGMENTED) {
		d->calls = calls_writer_new(w);
		if (!d->calls) {
			error_no_memory(&e);
			return run_fail(d, &e);
		}
	}
	if (w->error.what[0] || writer_begin(w, stream_fingerprint(inputs, n, d))) {
		e = w->error;
		return run_fail(d, &e);
	}
	for (int i = 0; i < n; i++)
		if (input_begin(&inputs[i], &e))
			return run_fail(d, &e);
	/* an input that goes on after a loss leaves the calls of the others open */
	if (!w->segment_limit && !d->inside && n == 1) {
		calls_writer_free(d->calls);
		d->calls = NULL;
	}
	if (merge_check_clocks(inputs, n, &e) || row_filter_times(filter, inputs, n, &e) ||
	    run_decoders(inputs, n, d, filter, &e))
		return run_fail(d, &e);
	return d->status;
}

/* Find what to add to the times of each input, so that all begin with the first one that has
 * events (--align start). */
static int align_starts(char **names, int n, struct decode_settings *s, struct decoding *d)
{
	uint64_t *first, start = UINT64_MAX;
	struct error e = {.what = ""};
	int bad;

	if (!(s->flags & DECODE_ALIGN) || s->flags & DECODE_INFO)
		return STATUS_OK;
	first = calloc((size_t)n, sizeof *first);
	s->aligned = calloc((size_t)n, sizeof *s->aligned);
	bad = first && s->aligned ? trace_times_first(names, n, s, first, &e) : error_no_memory(&e);
	for (int i = 0; !bad && i < n; i++) {
		start = start == UINT64_MAX ? first[i] : start;
		s->aligned[i] =
			first[i] == UINT64_MAX ? 0 : saturated_i64((int128)start - first[i]);
	}
	free(first);
	return bad ? run_fail(d, &e) : STATUS_OK;
}

static int find_end(char **names, int n, struct decode_settings *s, struct decoding *d)
{
	struct error e = {.what = ""};

	if ((s->row_filter.since.from != MOMENT_END && s->row_filter.until.from != MOMENT_END) ||
	    s->flags & DECODE_INFO)
		return STATUS_OK;
	return trace_times_last(names, n, s, &e) ? run_fail(d, &e) : STATUS_OK;
}

/* Get the inputs of the command line: standard input if it names none. Returns their number. */
static int input_names(int argc, char **argv, char ***names)
{
	static char name[] = "-";
	static char *standard_input[] = {name};

	*names = optind < argc ? argv + optind : standard_input;
	return optind < argc ? argc - optind : 1;
}

/* Refuse an option that was given and is only for formats, with ", " between, that no input has. */
static int check_format_option(const struct input *inputs, int n, const char *option,
			       const char *formats, struct error *e)
{
	for (int i = 0; i < n; i++) {
		const char *name = inputs[i].decoder->name, *found = strstr(formats, name);
		size_t size = strlen(name);

		if (input_ended_early(&inputs[i]) ||
		    (found && (!found[size] || found[size] == ',') &&
		     (found == formats || found[-1] == ' ')))
			return 0;
	}
	return error_set(e, NULL, NO_OFFSET, "%s has no effect on %s; it is for %s", option,
			 inputs[0].decoder->name, formats);
}

static int check_format_options(const struct input *inputs, int n, const struct decode_settings *s,
				struct error *e)
{
	if (s->max_value && check_format_option(inputs, n, "--max-value", "apitrace", e))
		return -1;
	if (s->flags & DECODE_NO_UNWIND && check_format_option(inputs, n, "--no-unwind", "perf", e))
		return -1;
	if (s->map && check_format_option(inputs, n, "--map", "ndjson, csv, tsv, arrow", e))
		return -1;
	if (s->flags & DECODE_SORT &&
	    check_format_option(inputs, n, "--sort", "ndjson, csv, tsv, arrow", e))
		return -1;
	return s->sysroot ? check_format_option(inputs, n, "--sysroot", "perf", e) : 0;
}

/* Refuse --clock raw if all inputs have the recorder's times anyway. */
static int check_raw_clock(const struct input *inputs, int n, const struct decode_settings *s,
			   struct error *e)
{
	for (int i = 0; i < n; i++)
		if (s->clock != CLOCK_RAW || inputs[i].decoder->raw_clock)
			return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--clock raw has no effect on %s, whose times are those of its clock",
			 inputs[0].decoder->name);
}

static int open_inputs(struct input *inputs, char **names, int n, struct decode_settings *s,
		       struct decoding *d)
{
	struct error e;

	if (align_starts(names, n, s, d) || find_end(names, n, s, d))
		return STATUS_FAILED;
	for (int i = 0; i < n; i++) {
		if (input_twice(names, i, &e) ||
		    input_open(&inputs[i], names[i], s->format, s->decoders, d, &e) ||
		    input_same(inputs, i, &e) || input_open_trace(&inputs[i], &e))
			return run_fail(d, &e);
	}
	if (check_format_options(inputs, n, s, &e) || check_raw_clock(inputs, n, s, &e))
		return run_fail(d, &e);
	if (s->flags & DECODE_INFO)
		return STATUS_OK;
	for (int i = 0; i < n; i++)
		settings_shift(s, &inputs[i], names[i], i);
	return settings_check_offsets(s, &e) ? run_fail(d, &e) : STATUS_OK;
}

/* Write the stream to a path; NULL: to standard output. */
static int write_stream(struct run *r, const char *path)
{
	struct decode_settings *s = r->settings;
	struct decoding *d = r->d;
	struct writer *w = d->writer;
	struct progress progress;
	char cause[FAILURE_CAUSE];
	struct error e;
	int status;

	if (open_output(r, path, OUTPUT_BINARY))
		return STATUS_FAILED;
	w->output = &r->out;
	w->segment_limit = s->segment;
	w->crc = output_is_file(&r->out);
	if (r->common->index && !(s->flags & DECODE_LIST) &&
	    writer_archive(w, r->common->compress)) {
		output_close(&r->out, run_fail(d, &w->error), &e);
		return STATUS_FAILED;
	}
	w->sent.progress = &progress;
	progress_begin(&progress, r->common->progress, output_is_file(&r->out));
	status = decode_inputs(r->inputs, r->n, d, &s->row_filter);
	if (memory_failed() && status != STATUS_FAILED) {
		error_no_memory(&e);
		status = run_fail(d, &e);
	}
	if (status == STATUS_FAILED) {
		failure_cause(&d->failure, cause);
		writer_status(w, STATUS_FAILED, cause, NULL);
	}
	if (s->flags & DECODE_STRICT)
		status = status_worse(status,
				      failure_of_lost(w, w->end.ever_lost, w->end.ever_lost_more));
	if (!w->error.what[0] && row_filter_end(&s->row_filter))
		status = run_fail(d, &w->error);
	if (writer_finish(w) && status != STATUS_FAILED)
		status = run_fail(d, &w->error);
	if (!d->quiet && status != STATUS_FAILED)
		row_filter_report(&s->row_filter);
	if (!d->quiet && status == STATUS_OK && !w->sent.events &&
	    !row_filter_any(&s->row_filter) && !(r->n == 1 && input_ended_early(r->inputs)))
		warn(r->n == 1 ? r->inputs[0].name : NULL, NO_OFFSET, "no events");
	if (!d->quiet && status != STATUS_FAILED && io_left())
		warn(r->n == 1 ? r->inputs[0].name : NULL, NO_OFFSET, "%s", io_left());
	progress_end(&progress, w->sent.bytes, 0, w->sent.events);
	if (output_close(&r->out, status, &e) && status != STATUS_FAILED)
		status = run_fail(d, &e);
	return status;
}

/* Print the list of what is decoded. */
static int list_inputs(struct run *r)
{
	char path[32];
	struct error e;
	struct type_list *l = list_open(&e);
	int status;

	if (!l)
		return run_fail(r->d, &e);
	snprintf(path, sizeof path, "/dev/fd/%d", l->pipe[1]);
	status = write_stream(r, path);
	close(l->pipe[1]);
	status = print_list(l, r, status_worse(status, r->d->status));
	list_free(l);
	return status;
}

/* Decode the operands of a command line. */
static int run_inputs(struct run *r, char **names)
{
	if (open_inputs(r->inputs, names, r->n, r->settings, r->d))
		return STATUS_FAILED;
	if (r->settings->flags & DECODE_INFO)
		return print_info(r);
	return r->settings->flags & DECODE_LIST ? list_inputs(r)
						: write_stream(r, r->common->output);
}

/* Decode the operands argv[optind] and all later ones, at least one, or print their --info.
 * Errors are printed. Returns the exit status. */
static int run_operands(struct decode_settings *s, const struct common_options *common, int argc,
			char **argv)
{
	struct writer writer = {.output = NULL};
	struct output none = {.fd = -1};
	struct decoding d = {.writer = &writer,
			     .quiet = common->quiet,
			     .verbose = common->verbose,
			     .strict = s->flags & DECODE_STRICT,
			     .clock = s->clock,
			     .row_filter = &s->row_filter,
			     .no_unwind = s->flags & DECODE_NO_UNWIND,
			     .sysroot = s->sysroot,
			     .max_value = s->max_value,
			     .map = s->map,
			     .sort = s->flags & DECODE_SORT};
	char **names;
	int status, n = input_names(argc, argv, &names);
	struct input *inputs = calloc((size_t)n, sizeof(*inputs));

	if (common->index && !s->segment)
		s->segment = INDEX_SEGMENT;
	d.several = n > 1;
	for (int i = 0; inputs && i < n; i++)
		inputs[i].fd = -1;
	if (!inputs || writer_init(&writer, &none, s->segment)) {
		writer_free(&writer);
		free(inputs);
		error_no_memory(&d.failure);
		error_print(&d.failure);
		return program_failed(common, &d.failure);
	}
	writer_command(&writer, argc, argv);
	status = run_inputs(
		&(struct run){.inputs = inputs, .n = n, .settings = s, .common = common, .d = &d},
		names);
	if (status == STATUS_FAILED && !writer.segment)
		program_failed(common, &d.failure);
	for (int i = 0; i < n; i++)
		input_close(&inputs[i]);
	status = status_worse(status, d.status);
	calls_writer_free(d.calls);
	writer_free(&writer);
	free(inputs);
	return status;
}

/* --- command line --- */

#define FORMAT_ROW(name) &decoder_##name,
static const struct decoder *const decoders[] = {TRDECODE_FORMATS(FORMAT_ROW) NULL};

static int decode_streams(const void *ctx)
{
	const struct decode_settings *s = ctx;

	return s->flags & (DECODE_INFO | DECODE_LIST | DECODE_FORMATS | DECODE_VERIFY) ? -1 : 0;
}

static const struct program program = {
	.name = "trdecode",
	.operands = "[INPUT]...",
	.purpose = "Decode traces into an event stream.",
	.options = settings_rows,
	.daily = "from clock offset align since until cpu tid type sysroot info list output quiet "
		 "help version",
	.option = decode_settings_option,
	.patience = PATIENCE_FIRST,
	.streams = decode_streams,
};

/* Print the formats, one a line. */
static int list_formats(void)
{
	struct error e;

	for (size_t i = 0; decoders[i]; i++)
		puts(decoders[i]->name);
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	error_errno(&e, "standard output", NO_OFFSET, "%s", "");
	error_print(&e);
	return STATUS_FAILED;
}

/* Check the options that do not go together. Returns what is wrong; NULL: nothing. */
static const char *decode_settings_misuse(const struct decode_settings *s, struct error *e)
{
	bool info = s->flags & DECODE_INFO, list = s->flags & DECODE_LIST;
	bool json = s->flags & DECODE_JSON;

	if (s->flags & (DECODE_VERIFY | DECODE_REINDEX) &&
	    (s->segment || row_filter_any(&s->row_filter) ||
	     s->flags & ~(s->flags & DECODE_VERIFY ? DECODE_VERIFY : DECODE_REINDEX)))
		return "--verify and --reindex go without options that choose or print events";
	if (info && list)
		return "use --info or --list, not both";
	if (json && !info && !list)
		return "--json goes with --info or --list";
	if (s->flags & DECODE_ALL && !list)
		return "--all goes with --list";
	if (s->flags & DECODE_ALL && json)
		return "--all has no effect with --json, which has all types";
	if (s->segment && (info || list))
		return info ? "--segment has no effect with --info"
			    : "--segment has no effect with --list";
	if (info && row_filter_any(&s->row_filter))
		return "--cpu, --tid, --type, --since and --until have no effect with --info";
	return moment_check_range(&s->row_filter.since, &s->row_filter.until, e) ? e->what : NULL;
}

int main(int argc, char **argv)
{
	struct decode_settings s = {.decoders = decoders};
	struct common_options common;
	const char *misused;
	struct error e;
	int status;

	for (size_t i = 0; decoders[i]; i++)
		options_add_word(settings_formats, sizeof settings_formats, decoders[i]->name);
	status = program_start(&program, argc, argv, &s, &common);
	if (status < 0 && s.flags & DECODE_FORMATS)
		status = list_formats();
	if (status < 0 && (misused = decode_settings_misuse(&s, &e)))
		status = program_usage(&common, "%s", misused);
	if (status < 0 && s.flags & DECODE_VERIFY)
		status = archive_verify(&common, argv + optind, argc - optind);
	if (status < 0 && s.flags & DECODE_REINDEX)
		status = archive_reindex(&common, argc, argv, argv + optind, argc - optind);
	if (status < 0)
		status = run_operands(&s, &common, argc, argv);
	decode_settings_free(&s);
	return status;
}

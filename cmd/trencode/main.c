/*
 * main.c - trencode: write a stream as a trace or as text
 *
 *     trencode -o a.json a.trs      the encoder chrome, by the name of the output
 *     trencode csv a.trs            the encoder csv
 */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cli/program.h"
#include "common/cli/stage.h"
#include "common/cli/workers.h"
#include "cmd/trencode/encode.h"
#include "cmd/trencode/clip.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/formats.h"
#include "common/pairs/pair.h"
#include "common/util/buffer.h"
#include "common/util/screen.h"
#include "common/value/aligned.h"
#include "common/value/units.h"

/* --- find an encoder by its name or by the name of the output --- */

#define FORMAT_ROW(name) &encoder_##name,
static const struct encoder *const encoders[] = {TRENCODE_FORMATS(FORMAT_ROW) NULL};

/* Get the encoder of that name, or NULL. */
static const struct encoder *encoder_find(const char *name)
{
	size_t i = 0;

	while (encoders[i] && strcmp(encoders[i]->name, name) != 0)
		i++;
	return encoders[i];
}

/* Test whether the path ends with the suffix, or, if the suffix ends with '*', whether the last
 * component of the path begins with the suffix. */
static bool has_suffix(const char *path, size_t n, const char *suffix, size_t size)
{
	const char *last = path;

	if (suffix[size - 1] != '*')
		return n >= size && !strncmp(path + n - size, suffix, size);
	for (size_t i = 0; i < n; i++)
		if (path[i] == '/')
			last = path + i + 1;
	return (size_t)(path + n - last) >= size - 1 && !strncmp(last, suffix, size - 1);
}

/* Get the encoder whose .NAME or suffix the path ends with, the longest of several; or NULL. */
static const struct encoder *encoder_by_suffix(const char *path)
{
	const struct encoder *found = NULL;
	size_t n = strlen(path), longest = 0;

	while (n && path[n - 1] == '/')
		n--;
	for (size_t i = 0; encoders[i]; i++) {
		const struct encoder *one = encoders[i];
		size_t size = strlen(one->name);

		if (n > size && path[n - size - 1] == '.' && size >= longest &&
		    has_suffix(path, n, one->name, size)) {
			found = one;
			longest = size + 1;
		}
		for (const char *p = one->suffixes; p && *p;) {
			size = strcspn(p, " ");
			if (size > longest && has_suffix(path, n, p, size)) {
				found = one;
				longest = size;
			}
			p += size + (p[size] == ' ');
		}
	}
	return found;
}

enum { FORMAT_NAME = 11 }; /* characters before the purpose of a format */

/* Print the encoders (--formats). Returns an exit status. */
static int encoder_list(void)
{
	struct text *t = malloc(sizeof(*t));
	struct buffer line = {0};
	struct screen screen = {0};
	struct output o;
	struct error e;
	int bad = t ? output_open(&o, NULL, OUTPUT_TEXT, &e) : error_no_memory(&e);

	if (bad) {
		free(t);
		return error_print(&e), STATUS_FAILED;
	}
	text_init(t, &o);
	screen_find(&screen, &o);
	for (const struct encoder *const *at = encoders; *at && !bad; at++) {
		line.size = 0;
		bad = buffer_printf(&line, "%s (.%s%s%s)", (*at)->purpose, (*at)->name,
				    (*at)->suffixes ? " " : "",
				    (*at)->suffixes ? (*at)->suffixes : "");
		text_printf(t, "%-10s ", (*at)->name);
		if (!bad)
			aligned_words(t, (const char *)line.data, line.size, screen.width,
				      FORMAT_NAME, FORMAT_NAME);
		text_char(t, '\n');
	}
	bad = bad ? error_no_memory(&e) : text_flush(t, &e);
	if (output_close(&o, bad ? STATUS_FAILED : STATUS_OK, bad ? &(struct error){0} : &e))
		bad = -1;
	if (bad)
		error_print(&e);
	buffer_free(&line);
	free(t);
	return bad ? STATUS_FAILED : STATUS_OK;
}

/* --- the command line --- */

/* What was last given for a --plugin-option. */
enum plugin_given { PLUGIN_NOT_GIVEN, PLUGIN_TOGGLED, PLUGIN_ON, PLUGIN_OFF };

enum { PLUGIN_OPTIONS = 5 };

/* The parsed command line. */
struct encode_settings {
	const struct encoder *encoder;
	struct encode_options encode;
	struct clip clip;		    /* its window, limit and split */
	uint8_t plugins[PLUGIN_OPTIONS][2]; /* enum plugin_given: of PLUGIN:NAME, of NAME */
	bool list, strict;
	bool chosen; /* -t was given */
};

enum {
	KEY_FORMATS = 256,
	KEY_STRICT,
	KEY_RAW,
	KEY_NO_PLUGINS,
	KEY_PLUGIN_OPTION,
	KEY_NS,
	KEY_TS_DIFF,
	KEY_ALL_CALLS,
	KEY_THREAD_IDS,
	KEY_OCTAL,
	KEY_BLOBS,
	KEY_COMPRESS,
	KEY_FILE_VERSION,
	KEY_UNCLOSED,
	KEY_REBASE,
	KEY_INT64,
	KEY_NO_HEADER,
	KEY_RESYNTHESIZE,
	KEY_TICK,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_WEIGHT,
	KEY_BY_TIME,
	KEY_TITLE,
	KEY_PAIR,
	KEY_WHY,
	KEY_SPLIT,
	KEY_TABLE,
	KEY_PARTITION,
};

static char settings_formats[256]; /* names of the encoders, which main adds */

static const struct option_row settings_rows[] = {
	{'t', "to", "FORMAT", "write FORMAT (default: suffix of -o, else text):", settings_formats},
	{KEY_FORMATS, "formats", NULL, "list the formats", NULL},
	{KEY_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{KEY_SINCE, "since", "TIME",
	 "begin of the range: 12.5s, +1.5s, -10s, or a date\n(+: from the start, -: before the "
	 "end); calls open\nthere are clipped to the range",
	 NULL},
	{KEY_UNTIL, "until", "TIME", "end of the range", NULL},
	{'n', "limit", "N", "write the first N calls and events", NULL},
	JOBS_OPTION_ROW,
	{KEY_SPLIT, "split", "SIZE|TIME",
	 "write FILE.000, FILE.001, ... of SIZE or TIME each\n(with -o FILE): a whole trace of "
	 "about SIZE bytes of\noutput, such as 64M, or of TIME, such as 10s; calls\nthat are open "
	 "at a cut are clipped to each file",
	 NULL},
	{OPTION_HEADING, NULL, NULL, "", "text ndjson csv tsv parquet arrow"},
	{'c', "columns", "LIST",
	 "show the columns LIST; +LIST adds to the usual ones\ntext: "
	 "dur,tid,address,time,delta,elapsed,comm,\nmodule,none,all; others: "
	 "time,dur,type,pid,tid,cpu,\ncomm,name,depth,file,line,args and fields of events,\nsuch "
	 "as next_comm,arg.1,ret",
	 "time dur type pid tid cpu comm name depth file line args kind self caller recursive "
	 "unfinished group module class input stack weight running runnable sleeping blocked "
	 "iowait offcpu unknown none all address delta elapsed"},
	{OPTION_HEADING, NULL, NULL, "", "parquet arrow"},
	{KEY_TABLE, "table", "TABLE",
	 "write one table: call, sample, counter, gap, state,\nthread, trace, or event.TYPE, with "
	 "columns of its\nfields",
	 "call sample counter gap state thread trace"},
	{OPTION_HEADING, NULL, NULL, "", "parquet"},
	{KEY_PARTITION, "partition", "LIST",
	 "write all tables to the data set -o DIR, in\ndirectories by LIST: host, host=NAME, date, "
	 "table;\na second run of a recording replaces its files",
	 "host,date,table"},
	{OPTION_HEADING, NULL, NULL, "", "text"},
	{KEY_RAW, "raw", NULL, "trace-cmd: fields as recorded (trace-cmd report -R)", NULL},
	{KEY_NO_PLUGINS, "no-plugins", NULL,
	 "trace-cmd: the messages of the kernel (trace-cmd\nreport -N)", NULL},
	{KEY_PLUGIN_OPTION, "plugin-option", "OPTION",
	 "trace-cmd: turn parent, offset, tailprint or depth\non, or indent off (trace-cmd report "
	 "-O)",
	 NULL},
	{KEY_NS, "ns", NULL, "trace-cmd: times in nanoseconds (trace-cmd report\n-t)", NULL},
	{KEY_TS_DIFF, "ts-diff", NULL,
	 "trace-cmd: add the time since the line before\n(trace-cmd report --ts-diff)", NULL},
	{'D', "depth", "DEPTH", "uftrace: show DEPTH levels of nested calls (default:\n1024)",
	 NULL},
	{KEY_ALL_CALLS, "all-calls", NULL,
	 "apitrace: also write the calls that apitrace dump\nhides", NULL},
	{KEY_THREAD_IDS, "thread-ids", NULL, "apitrace: write the thread of each call", NULL},
	{KEY_OCTAL, "octal", NULL, "apitrace: write correct octal escapes, unlike\napitrace", NULL},
	{KEY_BLOBS, "blobs", "DIR", "apitrace: write the blobs to files in DIR", "directory"},
	{OPTION_HEADING, NULL, NULL, "", "apitrace trace-cmd"},
	{KEY_COMPRESS, "compress", "METHOD",
	 "apitrace: snappy (default), gzip, brotli or zstd;\ntrace-cmd: none, zlib or zstd; with a "
	 "level such as\ngzip:9, brotli:11, zstd:19, zlib:9",
	 "snappy gzip brotli zstd none zlib"},
	{OPTION_HEADING, NULL, NULL, "", "trace-cmd ctf"},
	{KEY_FILE_VERSION, "file-version", "N",
	 "trace-cmd: write version 6 or 7 (default: the\nsource's); ctf: write version 1.8 "
	 "(default) or 2",
	 "6 7 1.8 2"},
	{OPTION_HEADING, NULL, NULL, "", "uftrace trace-cmd apitrace lttng"},
	{KEY_RESYNTHESIZE, "resynthesize", NULL,
	 "write a new trace from the events alone, as for a\ntrace of another system", NULL},
	{OPTION_HEADING, NULL, NULL, "", "!text"},
	{KEY_TICK, "tick", "TIME", "length of a tick, for clocks that count ticks\n(apitrace)",
	 NULL},
	{OPTION_HEADING, NULL, NULL, "",
	 "folded svg dot mermaid chrome ndjson csv tsv speedscope callgrind pprof perfetto "
	 "parquet arrow"},
	{KEY_UNCLOSED, "unclosed", "HOW", "close (default) or drop calls without a return",
	 "close drop"},
	{OPTION_HEADING, NULL, NULL, "", "folded svg dot mermaid callgrind pprof firefox"},
	{KEY_WEIGHT, "weight", "WHAT",
	 "add up WHAT: dur, period, count, or a field\n(default: dur of calls, period of samples; "
	 "a field\nis of samples)",
	 "dur count period"},
	{OPTION_HEADING, NULL, NULL, "", "folded svg dot mermaid callgrind pprof"},
	{KEY_PAIR, "pair", "PAIR",
	 "add up times between two events, as trstat --pair\nby the stack of the first: 'A -> B on "
	 ".x == .y',\n@FILE, or:",
	 PAIR_PRESETS},
	{OPTION_HEADING, NULL, NULL, "", "svg"},
	{KEY_BY_TIME, "by-time", NULL, "draw a flame chart: calls and samples by time", NULL},
	{KEY_TITLE, "title", "TEXT", "the title (default: the trace's file and its date)", NULL},
	{OPTION_HEADING, NULL, NULL, "", "chrome perfetto"},
	{KEY_WHY, "why", "EXPR",
	 "add tracks of the critical paths of the calls, or\nthe threads, for which EXPR is true, "
	 "as "
	 "trstat --why",
	 NULL},
	{OPTION_HEADING, NULL, NULL, "", "chrome speedscope firefox"},
	{KEY_REBASE, "rebase", "ORIGIN", "count times from start (default), or none: unchanged",
	 "start none"},
	{OPTION_HEADING, NULL, NULL, "", "chrome ndjson csv tsv parquet arrow ctf"},
	{KEY_INT64, "json-int64", "FORM",
	 "write integers beyond 2^53 as number (default) or\nstring", "number string"},
	{OPTION_HEADING, NULL, NULL, "", "csv tsv"},
	{KEY_NO_HEADER, "no-header", NULL, "write no line with the names of the columns", NULL},
	{0},
};

static int take_depth(struct encode_options *o, const char *arg, struct error *e)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (*end || end == arg || n < 1 || n > INT_MAX)
		return error_set(e, NULL, NO_OFFSET, "-D takes a number of levels, not '%s'", arg);
	o->depth = (int)n;
	return 0;
}

/* Parse an option with two values, the first of which is the default. */
static int take_choice(struct encode_options *o, unsigned flag, const char *option,
		       const char *words, const char *arg, struct error *e)
{
	const char *second = strstr(words, " or ") + 4;
	size_t first = (size_t)(second - words) - 4;

	if (!strcmp(arg, second))
		o->flags |= flag;
	else if (strlen(arg) == first && !memcmp(arg, words, first))
		o->flags &= ~flag;
	else
		return error_set(e, NULL, NO_OFFSET, "--%s is %s, not '%s'", option, words, arg);
	return 0;
}

static int take_tick(struct encode_options *o, const char *arg, struct error *e)
{
	int64_t ns;

	if (parse_time_whole(arg, &ns) || ns <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "--tick takes a time in whole ns, such as 1ns, not '%s'", arg);
	o->tick = (uint64_t)ns;
	return time_check_clock(NULL, "--tick", arg, false, e);
}

static int take_pair(struct encode_options *o, const char *arg, struct error *e)
{
	struct pair pair;
	int bad = pair_parse(&pair, arg, e);

	pair_free(&pair);
	o->pair = arg;
	return bad;
}

static const struct {
	const char *plugin, *name;
	uint8_t bit;
	bool on; /* by default */
} plugin_names[PLUGIN_OPTIONS] = {{"ftrace", "parent", PLUGIN_PARENT, false},
				  {"ftrace", "indent", PLUGIN_NO_INDENT, true},
				  {"ftrace", "offset", PLUGIN_OFFSET, false},
				  {"fgraph", "tailprint", PLUGIN_TAILPRINT, false},
				  {"fgraph", "depth", PLUGIN_DEPTH, false}};

/* Read what follows the name of an option. PLUGIN_NOT_GIVEN: it is no value. */
static uint8_t plugin_value(const char *text)
{
	if (!*text)
		return PLUGIN_TOGGLED;
	if (!strcmp(text, "=1") || !strcmp(text, "=true"))
		return PLUGIN_ON;
	return !strcmp(text, "=0") || !strcmp(text, "=false") ? PLUGIN_OFF : PLUGIN_NOT_GIVEN;
}

/* Set the bit of an option by its default, by the last PLUGIN:NAME and then by the last NAME. */
static void plugin_set(struct encode_settings *s, size_t option)
{
	bool on = plugin_names[option].on;

	for (unsigned i = 0; i < 2; i++)
		if (s->plugins[option][i] != PLUGIN_NOT_GIVEN)
			on = s->plugins[option][i] == PLUGIN_TOGGLED
				     ? !on
				     : s->plugins[option][i] == PLUGIN_ON;
	s->encode.plugins &= (uint8_t)~plugin_names[option].bit;
	if (on != plugin_names[option].on)
		s->encode.plugins |= plugin_names[option].bit;
	s->encode.flags |= ENCODE_PLUGINS_GIVEN;
}

/* Take "[PLUGIN:]NAME[=VALUE]". */
static int take_plugin_option(struct encode_settings *s, const char *arg, struct error *e)
{
	const char *colon = strchr(arg, ':'), *name = colon ? colon + 1 : arg;
	const char *value = strchrnul(name, '=');
	size_t n = (size_t)(value - name), plugin = colon ? (size_t)(colon - arg) : 0;
	uint8_t given = plugin_value(value);

	for (size_t i = 0; given && i < PLUGIN_OPTIONS; i++) {
		const char *one = plugin_names[i].name, *its = plugin_names[i].plugin;

		if (strlen(one) != n || memcmp(one, name, n) != 0 ||
		    (colon && (strlen(its) != plugin || memcmp(its, arg, plugin) != 0)))
			continue;
		s->plugins[i][!colon] = given;
		plugin_set(s, i);
		return 0;
	}
	return error_set(e, NULL, NO_OFFSET,
			 "--plugin-option takes parent, indent, offset, tailprint or depth, with "
			 "=1, =0, =true, =false or no value, not '%s'",
			 arg);
}

/* Parse "64M" or "10s". */
static int clip_parse_split(struct clip *c, const char *text, struct error *e)
{
	size_t digits = strspn(text, "0123456789");
	int64_t ns;

	c->split.bytes = c->split.time = 0;
	if (!text[digits] && strspn(text, "0") < digits)
		return error_set(e, NULL, NO_OFFSET,
				 "--split takes a size or a time with a unit, such as %sM or %ss",
				 text, text);
	if (!parse_time_whole(text, &ns) && ns >= 0)
		c->split.time = (uint64_t)ns;
	else if (parse_size(text, &c->split.bytes))
		return error_set(e, NULL, NO_OFFSET,
				 "--split takes a size or a time, such as 64M or 10s, not '%s'",
				 text);
	if (!c->split.bytes && !c->split.time)
		return error_set(e, NULL, NO_OFFSET,
				 "--split %s: a part cannot be empty: use a size or a time, such "
				 "as 64M or 10s",
				 text);
	return 0;
}

/* Parse one option, for struct program. ctx is a struct encode_settings. */
static int take_file_version(struct encode_options *o, const char *arg, struct error *e)
{
	if (!options_apply("6 7 1.8 2", arg))
		return error_set(e, NULL, NO_OFFSET,
				 "--file-version is 6 or 7 (trace-cmd), 1.8 or 2 (ctf), not '%s'",
				 arg);
	o->file_version = *arg - '0';
	return 0;
}

static int encode_settings_option(void *ctx, int key, const char *arg, struct error *e)
{
	struct encode_settings *s = ctx;

	switch (key) {
	case 't':
		s->encoder = encoder_find(arg);
		if (!s->encoder)
			return error_set(e, NULL, NO_OFFSET, "no format '%s'; see --formats", arg);
		s->chosen = true;
		break;
	case 'D': return take_depth(&s->encode, arg, e);
	case KEY_RAW: s->encode.flags |= ENCODE_RAW; break;
	case KEY_NO_PLUGINS: s->encode.flags |= ENCODE_NO_PLUGINS; break;
	case KEY_PLUGIN_OPTION: return take_plugin_option(s, arg, e);
	case KEY_NS: s->encode.flags |= ENCODE_NS; break;
	case KEY_TS_DIFF: s->encode.flags |= ENCODE_TS_DIFF; break;
	case KEY_FORMATS: s->list = true; break;
	case KEY_STRICT: s->strict = true; break;
	case KEY_ALL_CALLS: s->encode.flags |= ENCODE_ALL_CALLS; break;
	case KEY_THREAD_IDS: s->encode.flags |= ENCODE_THREAD_IDS; break;
	case KEY_OCTAL: s->encode.flags |= ENCODE_PLAIN_OCTAL; break;
	case KEY_COMPRESS: return pack_parse(&s->encode.compress, arg, e);
	case KEY_FILE_VERSION: return take_file_version(&s->encode, arg, e);
	case KEY_RESYNTHESIZE: s->encode.flags |= ENCODE_RESYNTHESIZE; break;
	case KEY_TICK: return take_tick(&s->encode, arg, e);
	case KEY_BY_TIME: s->encode.flags |= ENCODE_BY_TIME; break;
	case KEY_TITLE: s->encode.title = arg; break;
	case KEY_BLOBS: s->encode.blobs = arg; break;
	case KEY_UNCLOSED:
		return take_choice(&s->encode, ENCODE_DROP, "unclosed", "close or drop", arg, e);
	case KEY_REBASE:
		return take_choice(&s->encode, ENCODE_KEEP_TIMES, "rebase", "start or none", arg,
				   e);
	case KEY_SINCE: return moment_option(&s->clip.window.since, "--since", arg, e);
	case KEY_UNTIL: return moment_option(&s->clip.window.until, "--until", arg, e);
	case 'j': return jobs_option(arg, &s->encode.jobs, e);
	case 'n': return option_number("-n", arg, &s->clip.limit, e);
	case KEY_SPLIT: return clip_parse_split(&s->clip, arg, e);
	case KEY_WEIGHT: s->encode.weight = arg; break;
	case KEY_PAIR: return take_pair(&s->encode, arg, e);
	case KEY_WHY: s->encode.why = arg; return 0;
	case KEY_TABLE: s->encode.table = arg; break;
	case KEY_PARTITION: s->encode.partition = arg; break;
	case 'c': s->encode.columns = arg; break;
	case KEY_NO_HEADER: s->encode.flags |= ENCODE_NO_HEADER; break;
	case KEY_INT64:
		return take_choice(&s->encode, ENCODE_QUOTE_NUMBERS, "json-int64",
				   "number or string", arg, e);
	}
	return 0;
}

/* --- run --- */

static const struct program program = {
	.name = "trencode",
	.operands = "[FILE]...",
	.purpose = "Write the events of a stream as text, as a native trace, or in another format.",
	.options = settings_rows,
	.daily = "to since until limit split columns pair weight by-time title output "
		 "quiet help version",
	.option = encode_settings_option,
};

/* Report the events that the recorder lost; with --strict the exit status is that of damage. */
static void encode_report_lost(struct stage *s, bool strict)
{
	if (!s->options->quiet)
		warn_count(NULL, s->lost, "{event was|events were} lost by the recorder");
	if (s->lost_more && !s->options->quiet)
		warn(NULL, NO_OFFSET, LOST_MORE " were lost by the recorder");
	if (strict && (s->lost || s->lost_more))
		s->status = status_worse(s->status, STATUS_DAMAGED);
}

/* Test whether the name is that of a format which is not text, nor any that is written. */
static bool has_other_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && options_apply("gz bz2 xz zst lz4 zip html htm xml yaml yml xlsx pdf png db "
				    "sqlite duckdb svgz pb",
				    dot + 1);
}

/* Test whether an output has a name that parts can have, too. */
static bool is_file_name(const char *output)
{
	return output && strcmp(output, "-") != 0 && strncmp(output, "/dev/", 5) != 0;
}

/* Choose the encoder of a data set. Returns the exit status of a usage error; -1: there is none. */
static int check_tables(struct encode_settings *s, const struct common_options *common)
{
	const struct encode_options *o = &s->encode;

	if (o->columns && (o->table || o->partition))
		return program_usage(common, "-c does not go with --table and --partition: tables "
					     "have all their columns");
	if (o->table && o->partition)
		return program_usage(common, "--table does not go with --partition, which writes "
					     "all tables");
	if (o->partition && (!is_file_name(common->output) || clip_splits(&s->clip)))
		return program_usage(common, "--partition needs -o DIR, and does not go with "
					     "--split");
	if (o->partition && s->encoder->partitioned)
		s->encoder = s->encoder->partitioned;
	return -1;
}

int main(int argc, char **argv)
{
	struct encode_settings settings = {
		.encoder = &encoder_text, .encode.compress.level = -1, .clip.limit = UINT64_MAX};
	const struct encoder *by_suffix = NULL;
	struct common_options common;
	struct stage s;
	struct error e;
	int status;

	for (size_t i = 0; encoders[i]; i++)
		options_add_word(settings_formats, sizeof settings_formats, encoders[i]->name);
	status = program_start(&program, argc, argv, &settings, &common);
	if (status >= 0)
		return status;
	if (settings.list)
		return encoder_list();
	if (!settings.chosen && common.output)
		by_suffix = encoder_by_suffix(common.output);
	if (!by_suffix && !settings.chosen && common.output && has_other_suffix(common.output))
		return program_usage(&common,
				     "no format has the suffix of '%s'; choose one with -t, see "
				     "--formats",
				     common.output);
	if (by_suffix)
		settings.encoder = by_suffix;
	status = program_check_format(&common, settings.encoder->name);
	if (status >= 0)
		return status;
	status = check_tables(&settings, &common);
	if (status >= 0)
		return status;
	if (settings.encode.flags & ENCODE_BY_TIME && settings.encode.pair)
		return program_usage(&common, "--pair does not go with --by-time");
	if (settings.encode.flags & ENCODE_BY_TIME && settings.encoder->by_time)
		settings.encoder = settings.encoder->by_time;
	if (moment_check_range(&settings.clip.window.since, &settings.clip.window.until, &e) ||
	    time_window_find_ends(&settings.clip.window, argv + optind, argc - optind, &e)) {
		clip_free(&settings.clip);
		return program_usage(&common, "%s", e.what);
	}
	if (clip_splits(&settings.clip) && !is_file_name(common.output)) {
		clip_free(&settings.clip);
		return program_usage(&common,
				     "--split needs -o FILE: it writes FILE.000, FILE.001");
	}
	settings.encode.output = common.output;
	settings.encode.flags |= common.quiet ? ENCODE_QUIET : 0;
	if (!stage_open(&s, argv + optind, argc - optind, &common)) {
		/* sums over stacks have no times */
		s.one_axis = (settings.encoder->report && !settings.encoder->block) ||
			     settings.encode.pair || time_window_any(&settings.clip.window);
		s.prints_times = settings.encoder->timeline && !settings.encode.tick;
		encode_stream(&s, settings.encoder, &settings.encode, &settings.clip);
		encode_report_lost(&s, settings.strict);
	}
	clip_free(&settings.clip);
	return stage_finish(&s);
}

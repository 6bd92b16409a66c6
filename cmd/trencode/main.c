/*
 * trencode - a stream in, a trace or a text out
 */
#include "encoder.h"
#include "tick.h"

#include "common/calls.h"
#include "common/clocks.h"
#include "common/units.h"
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const struct encoder *const encoders[] = {
	&encoder_text,	    &encoder_uftrace, &encoder_apitrace, &encoder_tracecmd,
	&encoder_lttng,	    &encoder_folded,  &encoder_chrome,	 &encoder_ndjson,
	&encoder_csv,	    &encoder_tsv,     &encoder_ctf,	 &encoder_speedscope,
	&encoder_callgrind, &encoder_pprof,   &encoder_perfetto, &encoder_parquet};

enum { ENCODERS = sizeof encoders / sizeof *encoders };

enum {
	KEY_LIST = 256,
	KEY_STRICT,
	KEY_RAW,
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
	KEY_COLUMNS,
	KEY_NO_HEADER,
	KEY_ANEW,
	KEY_TICK,
};

struct settings {
	const struct encoder *encoder;
	struct encode_options encode;
	bool list, strict, chosen;
};

static const struct option_row rows[] = {
	{'t', "type", "FORMAT", "what to write (text); --list names all",
	 "text uftrace apitrace trace-cmd lttng folded chrome ndjson csv tsv ctf speedscope "
	 "callgrind pprof perfetto parquet"},
	{KEY_LIST, "list", NULL, "list the formats", NULL},
	{OPTION_HEADING, NULL, NULL, "Text:", NULL},
	{'f', "fields", "FIELDS",
	 "columns: duration,tid,addr,time,delta,elapsed,task,module\n"
	 "(+FIELDS: beside the usual ones; none; all)",
	 "none all duration tid addr time delta elapsed task module"},
	{KEY_RAW, "raw", NULL, "fields as they were recorded (trace-cmd report -R)", NULL},
	{KEY_NS, "ns", NULL, "times in nanoseconds (trace-cmd report -t)", NULL},
	{KEY_TS_DIFF, "ts-diff", NULL,
	 "the time since the line before (trace-cmd report --ts-diff)", NULL},
	{'D', "depth", "N", "show N levels of nested calls (1024)", NULL},
	{KEY_ALL_CALLS, "all-calls", NULL, "apitrace: those too that apitrace dump hides", NULL},
	{KEY_THREAD_IDS, "thread-ids", NULL, "apitrace: the thread of each call", NULL},
	{KEY_OCTAL, "octal", NULL, "apitrace: right octal escapes, not as apitrace prints them",
	 NULL},
	{KEY_BLOBS, "blobs", "DIR", "apitrace: put the blobs into files of DIR", "directory"},
	{OPTION_HEADING, NULL, NULL, "apitrace, trace-cmd:", NULL},
	{KEY_COMPRESS, "compress", "METHOD",
	 "apitrace: snappy (default), gzip, brotli or zstd;\n"
	 "trace-cmd: none, zlib or zstd; with a level as in gzip:9,\n"
	 "brotli:11, zstd:19, zlib:9",
	 "snappy gzip brotli zstd none zlib"},
	{KEY_FILE_VERSION, "file-version", "N", "trace-cmd: 6 or 7 (the source's)", "6 7"},
	{OPTION_HEADING, NULL, NULL, "uftrace, trace-cmd, apitrace, lttng:", NULL},
	{KEY_ANEW, "anew", NULL,
	 "take nothing from the source but its events, as if it\nwere a trace of another system",
	 NULL},
	{KEY_TICK, "tick", "TIME", "how long a tick of a trace without time (apitrace) is to be",
	 NULL},
	{OPTION_HEADING, NULL, NULL, "Reports:", NULL},
	{KEY_UNCLOSED, "unclosed", "HOW", "calls without a return: close (default) or drop",
	 "close drop"},
	{KEY_REBASE, "rebase", "ORIGIN",
	 "chrome, speedscope: times count from start (default), or none", "start none"},
	{KEY_INT64, "json-int64", "FORM",
	 "chrome, ndjson: integers beyond 2^53 as number (default) or\nstring", "number string"},
	{KEY_COLUMNS, "columns", "LIST",
	 "ndjson, csv, tsv, parquet: columns\n"
	 "(ts,dur,type,pid,tid,cpu,comm,name,depth,src,args;\n"
	 "+LIST: beside these)",
	 "ts dur type pid tid cpu comm name depth src args kind self caller recursive unfinished "
	 "group module input"},
	{KEY_NO_HEADER, "no-header", NULL, "csv, tsv: no line with the names of the columns", NULL},
	{OPTION_HEADING, NULL, NULL, "Common:", NULL},
	{KEY_STRICT, "strict", NULL, "exit 1 if the recorder lost events", NULL},
	{0},
};

static const struct encoder *encoder_find(const char *name)
{
	for (size_t i = 0; i < ENCODERS; i++)
		if (!strcmp(encoders[i]->name, name))
			return encoders[i];
	return NULL;
}

/* Is the name called so: does it end with the suffix, or, if that ends with '*', is its last part
 * something that begins so? */
static bool is_called(const char *path, size_t n, const char *suffix, size_t size)
{
	const char *last = path;

	if (suffix[size - 1] != '*')
		return n >= size && !strncmp(path + n - size, suffix, size);
	for (size_t i = 0; i < n; i++)
		if (path[i] == '/')
			last = path + i + 1;
	return (size_t)(path + n - last) >= size - 1 && !strncmp(last, suffix, size - 1);
}

/* The format whose traces are usually called so: .NAME, or one of its suffixes; of several the
 * longest. */
static const struct encoder *encoder_by_suffix(const char *path)
{
	const struct encoder *found = NULL;
	size_t n = strlen(path), longest = 0;

	while (n && path[n - 1] == '/')
		n--;
	for (size_t i = 0; i < ENCODERS; i++) {
		size_t size = strlen(encoders[i]->name);

		if (n > size && path[n - size - 1] == '.' && size >= longest &&
		    is_called(path, n, encoders[i]->name, size)) {
			found = encoders[i];
			longest = size + 1;
		}
		for (const char *p = encoders[i]->suffixes; p && *p;) {
			size = strcspn(p, " ");
			if (size > longest && is_called(path, n, p, size)) {
				found = encoders[i];
				longest = size;
			}
			p += size + (p[size] == ' ');
		}
	}
	return found;
}

static int take_depth(struct encode_options *o, const char *arg, struct error *e)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (*end || end == arg || n < 1 || n > INT_MAX)
		return error_set(e, NULL, NO_OFFSET, "-D takes a number of levels, not '%s'", arg);
	o->depth = (int)n;
	return 0;
}

/* An option that takes one of two words, the first of which is the default. */
static int take_choice(bool *second, const char *option, const char *first_word,
		       const char *second_word, const char *arg, struct error *e)
{
	*second = !strcmp(arg, second_word);
	if (*second || !strcmp(arg, first_word))
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--%s is %s or %s, not '%s'", option, first_word,
			 second_word, arg);
}

static int take_tick(struct encode_options *o, const char *arg, struct error *e)
{
	int64_t ns;

	if (parse_time_whole(arg, &ns) || ns <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "--tick takes a time like 1ns, of whole ns, not '%s'", arg);
	o->tick = (uint64_t)ns;
	return 0;
}

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct settings *s = ctx;

	switch (key) {
	case 't':
		s->encoder = encoder_find(arg);
		if (!s->encoder)
			return error_set(e, NULL, NO_OFFSET, "no format '%s'; see --list", arg);
		s->chosen = true;
		break;
	case 'f': s->encode.fields = arg; break;
	case 'D': return take_depth(&s->encode, arg, e);
	case KEY_RAW: s->encode.raw = true; break;
	case KEY_NS: s->encode.ns = true; break;
	case KEY_TS_DIFF: s->encode.ts_diff = true; break;
	case KEY_LIST: s->list = true; break;
	case KEY_STRICT: s->strict = true; break;
	case KEY_ALL_CALLS: s->encode.all_calls = true; break;
	case KEY_THREAD_IDS: s->encode.thread_ids = true; break;
	case KEY_OCTAL: s->encode.plain_octal = true; break;
	case KEY_COMPRESS: return pack_parse(&s->encode.compress, arg, e);
	case KEY_FILE_VERSION:
		if (strcmp(arg, "6") != 0 && strcmp(arg, "7") != 0)
			return error_set(e, NULL, NO_OFFSET, "--file-version is 6 or 7, not '%s'",
					 arg);
		s->encode.file_version = *arg - '0';
		break;
	case KEY_ANEW: s->encode.anew = true; break;
	case KEY_TICK: return take_tick(&s->encode, arg, e);
	case KEY_BLOBS: s->encode.blobs = arg; break;
	case KEY_UNCLOSED: return take_choice(&s->encode.drop, "unclosed", "close", "drop", arg, e);
	case KEY_REBASE:
		return take_choice(&s->encode.keep_times, "rebase", "start", "none", arg, e);
	case KEY_COLUMNS: s->encode.columns = arg; break;
	case KEY_NO_HEADER: s->encode.no_header = true; break;
	case KEY_INT64:
		return take_choice(&s->encode.quote_numbers, "json-int64", "number", "string", arg,
				   e);
	}
	return 0;
}

static const struct program program = {
	.name = "trencode",
	.operands = "[FILE]...",
	.purpose = "Write the events of a trace stream as a trace of some system, or as text.",
	.options = rows,
	.option = option,
};

static int list(void)
{
	struct error e;

	for (size_t i = 0; i < ENCODERS; i++)
		printf("%-10s %s (.%s%s%s)\n", encoders[i]->name, encoders[i]->purpose,
		       encoders[i]->name, encoders[i]->suffixes ? " " : "",
		       encoders[i]->suffixes ? encoders[i]->suffixes : "");
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	error_errno(&e, "standard output", NO_OFFSET, "%s", "");
	error_print(&e);
	return STATUS_FAILED;
}

/* META blocks of earlier segments that a segment only refers to. */
struct known_metas {
	struct intern seen; /* hashes of those that were there */
	struct intern missing;
};

static int check_meta(struct known_metas *k, const struct stage *s, const struct meta *m)
{
	uint32_t had;

	if (!(m->flags & META_REFERENCE))
		return intern(&k->seen, &m->hash, sizeof m->hash) == INTERN_NONE ? -1 : 0;
	if (intern_find(&k->seen, &m->hash, sizeof m->hash) != INTERN_NONE)
		return 0;
	had = k->missing.count;
	if (intern(&k->missing, &m->hash, sizeof m->hash) == INTERN_NONE)
		return -1;
	if (k->missing.count > had)
		warn(s->in.file, NO_OFFSET,
		     "'%.*s' of the trace is missing: it is in an earlier "
		     "segment of the stream",
		     (int)(m->name_size < 256 ? m->name_size : 256), m->name);
	return 0;
}

/* The text shows what there is while the input pauses. Its failure is found at the next block. */
static int flush(void *text)
{
	text_flush(text, NULL);
	return 0;
}

static int take_meta(struct stage *s, struct encoding *en, struct known_metas *known,
		     const struct block *b, struct error *e)
{
	struct meta m;

	if (reader_meta(&s->in, b, &m)) {
		error_print(&s->in.error);
		s->status = status_worse(s->status, STATUS_DAMAGED);
		return 0;
	}
	if (check_meta(known, s, &m))
		return error_no_memory(e);
	return en->encoder->meta && !(m.flags & META_REFERENCE) ? en->encoder->meta(en, &m, e) : 0;
}

/* What a report says is on one axis, in one unit. */
static int check_clocks(struct encoding *en, struct clocks *clocks, const struct block *b,
			struct error *e)
{
	if (!en->encoder->report)
		return 0;
	if (en->options->tick)
		return tick_lanes(en->dictionary, b, en->options->tick, e);
	clocks_look(clocks, b);
	return clocks_check(clocks, TICK_HINT, e);
}

static int take_events(struct encoding *en, struct calls *calls, const struct block *b,
		       struct error *e)
{
	int (*take)(struct encoding *, const struct event *, struct error *) = en->encoder->event;
	struct events it;
	struct event ev;
	struct call done;

	if (en->encoder->block)
		return en->encoder->block(en, b, e);
	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		if (calls)
			calls_feed(calls, &ev, &done);
		if (en->options->tick)
			ev.time = tick_time(ev.lane, ev.time);
		if (take(en, &ev, e))
			return -1;
	}
	if (calls && calls->out_of_memory)
		return error_no_memory(e);
	return en->text && text_failed(en->text) ? text_flush(en->text, e) : 0;
}

/* Is all that was declared one trace of the encoder's own system, or what one file of it held? */
static bool is_own(const struct encoding *en)
{
	const struct pool *sources = &en->dictionary->sources;
	const struct source *first;

	if (sources->count < 2)
		return true;
	if (sources->count > 2 && !en->encoder->holds_several)
		return false;
	first = pool_at(sources, 1);
	if (strcmp(first->format.text, en->encoder->name) != 0)
		return false;
	for (uint32_t i = 2; i < sources->count; i++) {
		const struct source *next = pool_at(sources, i);

		if (next->format.number != first->format.number ||
		    next->name.number != first->name.number || next->stream != first->stream)
			return false;
	}
	return true;
}

/* Did a filter leave out what the source tells of itself (trfilter --scrub), or fields that it says
 * are there (--drop)? */
static bool is_bare(const struct encoding *en, const struct known_metas *known)
{
	const struct dictionary *d = en->dictionary;

	return en->encoder->needs_meta &&
	       (d->reduced || (d->filtered && !known->seen.count && !known->missing.count));
}

static int begin(struct encoding *en, struct error *e)
{
	bool nothing = en->dictionary->sources.count < 2; /* was declared, nor will be */

	if (en->encoder->anew && (en->options->anew || nothing || !is_own(en)))
		en->encoder = en->encoder->anew;
	en->begun = true;
	return en->encoder->begin(en, e);
}

/* What the parts of one trace began turns out to be of several before the first event. */
static int begin_again(struct encoding *en, struct error *e)
{
	const struct encoder *native = en->encoder;
	struct encoding had = *en;
	int result;

	en->state = NULL;
	en->encoder = native->anew;
	/* two cannot have one directory */
	if (!en->encoder->take_over)
		native->free(&had);
	result = en->encoder->begin(en, e);
	if (!en->encoder->take_over)
		return result;
	if (!result)
		en->encoder->take_over(en, had.state);
	native->free(&had);
	return result;
}

/* The same where HEAD has gone by: what it said of commands is no longer there. */
static int begin_late(struct stage *s, struct encoding *en, struct error *e)
{
	struct head h = s->in.head;

	h.properties = NULL;
	h.properties_size = 0;
	if (begin(en, e))
		return -1;
	return en->encoder->head ? en->encoder->head(en, &h, e) : 0;
}

static int take_block(struct stage *s, struct encoding *en, struct known_metas *known,
		      struct calls *calls, struct clocks *clocks, const struct block *b,
		      struct error *e)
{
	if (!en->begun) {
		if (b->kind != BLOCK_META && b->kind != BLOCK_EVENTS)
			return 0;
		if (begin_late(s, en, e))
			return -1;
	}
	if (en->encoder->anew && !en->events &&
	    (!is_own(en) || (b->kind == BLOCK_EVENTS && is_bare(en, known)))) {
		if (begin_again(en, e))
			return -1;
	}
	en->events |= b->kind == BLOCK_EVENTS;
	switch (b->kind) {
	case BLOCK_HEAD: return en->encoder->head ? en->encoder->head(en, &s->in.head, e) : 0;
	case BLOCK_META: return take_meta(s, en, known, b, e);
	case BLOCK_EVENTS:
		return check_clocks(en, clocks, b, e) || take_events(en, calls, b, e) ? -1 : 0;
	}
	return 0;
}

/* What the text shows in a way that is easily missed. */
static void report_calls(struct calls *calls, bool quiet)
{
	struct call done;

	if (quiet)
		return;
	while (calls_finish(calls, &done))
		;
	if (calls->unfinished)
		warn(NULL, NO_OFFSET, "%" PRIu64 " calls had not returned at the end of the trace",
		     calls->unfinished);
	if (calls->unmatched)
		warn(NULL, NO_OFFSET, "%" PRIu64 " returns of calls whose beginning is not there",
		     calls->unmatched);
	if (calls->outside)
		warn(NULL, NO_OFFSET, "%" PRIu64 " " CALLS_OUTSIDE, calls->outside);
}

static void encode(struct stage *s, struct encoding *en)
{
	struct known_metas known = {0};
	struct clocks clocks = {0};
	struct calls calls;
	struct error e;
	struct block b;

	if (!en->encoder->anew && begin(en, &e)) {
		stage_fail(s, &e);
		return;
	}
	calls_init(&calls, en->dictionary);
	while (stage_next(s, &b))
		if (take_block(s, en, &known, en->encoder->counts_calls ? &calls : NULL, &clocks,
			       &b, &e)) {
			stage_fail(s, &e);
			break;
		}
	if (s->status != STATUS_FAILED &&
	    ((!en->begun && begin(en, &e)) || en->encoder->end(en, &e)))
		stage_fail(s, &e);
	report_calls(&calls, en->options->quiet);
	calls_free(&calls);
	if (en->text && text_flush(en->text, &e))
		stage_fail(s, &e);
	intern_free(&known.seen);
	intern_free(&known.missing);
}

/* What the recorder could not keep is said, and with --strict it counts as damage. */
static void report_lost(struct stage *s, bool strict)
{
	if (!s->lost)
		return;
	if (!s->options->quiet)
		warn(NULL, NO_OFFSET, "%" PRIu64 " events were lost by the recorder", s->lost);
	if (strict)
		s->status = status_worse(s->status, STATUS_DAMAGED);
}

static int open_text(struct stage *s, struct encoding *en, struct text *text)
{
	bool file = en->encoder->output == ENCODER_FILE;

	if (en->encoder->output == ENCODER_TREE) {
		progress_begin(&s->progress, s->options, s->options->output != NULL);
		return 0;
	}
	if (stage_print_to(s, file ? OUTPUT_FILE : OUTPUT_TEXT))
		return -1;
	en->out = &s->output;
	if (file)
		return 0;
	text_init(text, &s->output);
	en->text = text;
	s->in.before_block = flush;
	s->in.before_block_ctx = text;
	return 0;
}

int main(int argc, char **argv)
{
	struct settings settings = {.encoder = &encoder_text, .encode.compress.level = -1};
	struct encoding en = {0};
	struct common_options common;
	struct stage s;
	int status = program_start(&program, argc, argv, &settings, &common);
	struct text *text;

	if (status >= 0)
		return status;
	if (settings.list)
		return list();
	settings.encode.output = common.output;
	if (!settings.chosen && common.output && encoder_by_suffix(common.output))
		settings.encoder = encoder_by_suffix(common.output);
	settings.encode.quiet = common.quiet;
	if (settings.encode.tick && settings.encoder == &encoder_text)
		return program_usage(&program, "--tick has no meaning for text: it shows ticks");
	text = malloc(sizeof *text);
	if (!text)
		return program_usage(&program, "out of memory");
	en.encoder = settings.encoder;
	en.options = &settings.encode;
	if (!stage_open(&s, argv + optind, argc - optind, &common)) {
		en.dictionary = &s.in.dictionary;
		if (!open_text(&s, &en, text))
			encode(&s, &en);
		report_lost(&s, settings.strict);
		en.encoder->free(&en);
	}
	status = stage_finish(&s);
	free(text);
	return status;
}

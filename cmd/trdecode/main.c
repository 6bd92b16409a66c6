/*
 * trdecode - any trace in, an event stream out
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/output.h"
#include "common/program.h"
#include "decoder.h"
#include "facts.h"
#include "identity.h"
#include "input.h"
#include "last_time.h"
#include "merge.h"
#include "common/units.h"

/* Every format that can be read. */
/* apitrace last: few bytes of anything may begin what is packed with brotli */
static const struct decoder *const decoders[] = {
	&decoder_stream, &decoder_uftrace, &decoder_tracecmd, &decoder_lttng,
	&decoder_ctf,	 &decoder_chrome,  &decoder_apitrace, NULL};

enum {
	OPT_CLOCK = 256,
	OPT_INFO,
	OPT_JSON,
	OPT_SEGMENT,
	OPT_MAX_VALUE,
	OPT_OFFSET,
	OPT_STRICT,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_CPU,
	OPT_TID,
	OPT_TYPE
};

static const struct option_row option_rows[] = {
	{'f', "format", "FORMAT",
	 "the inputs are of this format: uftrace, trace-cmd,\napitrace, lttng, ctf, chrome, stream",
	 "uftrace trace-cmd apitrace lttng ctf chrome stream"},
	{OPT_CLOCK, "clock", "CLOCK",
	 "raw: times as recorded, nothing added; wall: since 1970,\nwhere the trace tells",
	 "raw wall"},
	{OPT_OFFSET, "offset", "FILE=TIME", "add TIME (as 1.5s, -20ms) to every time of that input",
	 "file"},
	{OPT_SINCE, "since", "TIME",
	 "nothing before TIME: 12.5s, +1.5s from the first event,\n-10s before the last, or a date",
	 NULL},
	{OPT_UNTIL, "until", "TIME", "nothing from TIME on", NULL},
	{OPT_CPU, "cpu", "LIST", "these CPUs, as 0-3,7", NULL},
	{OPT_TID, "tid", "LIST", "these threads", NULL},
	{OPT_TYPE, "type", "GLOB", "events of these types, as sched:* (may be repeated)", NULL},
	{OPT_SEGMENT, "segment", "SIZE", "begin a new segment after SIZE bytes (as 64M)", NULL},
	{OPT_MAX_VALUE, "max-value", "SIZE", "leave out the values of a call beyond SIZE (256M)",
	 NULL},
	{OPT_INFO, "info", NULL, "print what the inputs are instead of decoding them", NULL},
	{OPT_JSON, "json", NULL, "with --info: as JSON", NULL},
	{OPT_STRICT, "strict", NULL, "exit 1 if the recorder itself lost events", NULL},
	{0},
};

struct offset {
	const char *file;
	size_t length;
	int64_t ns;
	bool unit, used;
};

struct settings {
	const char *format;
	enum clock_choice clock;
	uint64_t segment, max_value;
	bool info, json, strict;
	struct offset *offsets;
	size_t noffsets, offsets_capacity;
	struct limits limits;
};

static int add_offset(struct settings *s, const char *arg, struct error *e)
{
	const char *equals = strrchr(arg, '=');
	struct offset *o;

	o = array_grow(s->offsets, &s->offsets_capacity, s->noffsets, sizeof(*o));
	if (!o)
		return error_no_memory(e);
	s->offsets = o;
	o[s->noffsets] = (struct offset){.file = arg};
	if (!equals || equals == arg || parse_time(equals + 1, &o[s->noffsets].ns) ||
	    o[s->noffsets].ns >= (int64_t)TIME_LIMIT || o[s->noffsets].ns <= -(int64_t)TIME_LIMIT)
		return error_set(e, NULL, NO_OFFSET,
				 "--offset takes FILE=TIME, a TIME like 1.5s or -20ms, not '%s'",
				 arg);
	o[s->noffsets].unit = strspn(equals + 1, "+-0123456789.") < strlen(equals + 1);
	o[s->noffsets++].length = (size_t)(equals - arg);
	return 0;
}

static int moment(const char *option, const char *arg, struct moment *m, struct error *e)
{
	if (moment_parse(arg, m))
		return error_set(
			e, NULL, NO_OFFSET,
			"%s takes a time as 12.5s, +1.5s, -10s or 2026-11-21 11:40, not '%s'",
			option, arg);
	return 0;
}

static int numbers(const char *option, const char *arg, struct number_list *l, struct error *e)
{
	if (limits_add_numbers(l, arg))
		return error_set(e, NULL, NO_OFFSET, "%s takes a list as 0-3,7, not '%s'", option,
				 arg);
	return 0;
}

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct settings *s = ctx;

	switch (key) {
	case 'f':
		s->format = arg;
		for (int i = 0; decoders[i]; i++)
			if (!strcmp(arg, decoders[i]->name))
				return 0;
		return error_set(e, NULL, NO_OFFSET, "no such format: '%s'", arg);
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
	case OPT_SINCE: return moment("--since", arg, &s->limits.since, e);
	case OPT_UNTIL: return moment("--until", arg, &s->limits.until, e);
	case OPT_CPU: return numbers("--cpu", arg, &s->limits.cpus, e);
	case OPT_TID: return numbers("--tid", arg, &s->limits.tids, e);
	case OPT_TYPE: return limits_add_type(&s->limits, arg, e);
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
	case OPT_INFO: s->info = true; return 0;
	case OPT_JSON: s->json = true; return 0;
	case OPT_STRICT: s->strict = true; return 0;
	}
	return -1;
}

static const struct program program = {
	.name = "trdecode",
	.operands = "INPUT...",
	.purpose = "Decode traces into an event stream.",
	.options = option_rows,
	.option = option,
};

static int fail(const struct error *e)
{
	error_print(e);
	return STATUS_FAILED;
}

static int print_info(struct input *inputs, int n, const struct settings *s,
		      const struct common_options *common, struct decoding *d)
{
	struct output out;
	struct error e;
	struct facts f;
	struct text *text = malloc(sizeof(*text));
	int status = STATUS_OK;

	if (!text || output_open(&out, common->output, OUTPUT_TEXT, &e)) {
		if (!text)
			error_set(&e, NULL, NO_OFFSET, "out of memory");
		free(text);
		return fail(&e);
	}
	text_init(text, &out);
	facts_open(text, s->json);
	for (int i = 0; i < n && status != STATUS_FAILED; i++) {
		facts_begin(&f, text, s->json, inputs[i].name, i == 0);
		if (inputs[i].decoder->info(&inputs[i], &f, &e))
			status = fail(&e);
		facts_end(&f);
	}
	facts_close(text, s->json);
	status = status_worse(status, d->status);
	if (text_flush(text, &e))
		status = fail(&e);
	if (output_close(&out, status, &e) && status != STATUS_FAILED)
		status = fail(&e);
	free(text);
	return status;
}

static int decode(struct input *inputs, int n, struct decoding *d, struct limits *limits,
		  char **argv, int argc)
{
	struct writer *w = d->writer;
	struct error e = {.what = ""};

	limits_begin(limits, w);
	if (writer_command(w, argc, argv) || writer_begin(w, identity_of(inputs, n, d))) {
		e = w->error;
		return fail(&e);
	}
	for (int i = 0; i < n; i++)
		if (inputs[i].decoder->begin(&inputs[i], &e))
			return fail(&e);
	if (merge_check_clocks(inputs, n, &e) || limits_times(limits, inputs, n, &e) ||
	    merge_run(inputs, n, limits->last_time, &e))
		return fail(&e);
	return d->status;
}

/* name: as the command line has it, "-" for standard input, or as messages have it */
static bool is_offset_of(const struct offset *o, const char *name)
{
	return strlen(name) == o->length && !strncmp(name, o->file, o->length);
}

static void set_shift(struct input *in, const char *operand, struct settings *s)
{
	for (size_t i = 0; i < s->noffsets; i++) {
		struct offset *o = &s->offsets[i];

		if (is_offset_of(o, operand) || is_offset_of(o, in->name)) {
			in->shift = o->ns;
			in->shift_unit = o->unit;
			in->placed = o->used = true;
		}
	}
}

static void shift(struct input *in, const char *name, void *ctx)
{
	set_shift(in, name, ctx);
}

static int find_end(char **names, int n, struct settings *s)
{
	const struct last_time l = {.names = names,
				    .n = n,
				    .format = s->format,
				    .decoders = decoders,
				    .clock = s->clock,
				    .shift = shift,
				    .ctx = s};
	struct error e = {.what = ""};

	if (!limits_from_end(&s->limits) || s->info)
		return STATUS_OK;
	return last_time_find(&l, &s->limits.end, &e) ? fail(&e) : STATUS_OK;
}

static int run(struct input *inputs, int n, char **names, struct settings *s,
	       const struct common_options *common, struct decoding *d, char **argv, int argc)
{
	struct output out;
	struct writer *w = d->writer;
	struct progress progress;
	struct error e;
	int status;

	if (find_end(names, n, s))
		return STATUS_FAILED;
	for (int i = 0; i < n; i++) {
		if (input_twice(names, i, &e) ||
		    input_open(&inputs[i], names[i], s->format, decoders, d, &e) ||
		    input_same(inputs, i, &e) || inputs[i].decoder->open(&inputs[i], &e))
			return fail(&e);
	}
	if (s->info)
		return print_info(inputs, n, s, common, d);
	for (int i = 0; i < n; i++)
		set_shift(&inputs[i], names[i], s);
	for (size_t i = 0; i < s->noffsets; i++)
		if (!s->offsets[i].used) {
			error_set(&e, NULL, NO_OFFSET, "--offset %s: no input of that name",
				  s->offsets[i].file);
			return fail(&e);
		}
	if (output_open(&out, common->output, OUTPUT_BINARY, &e))
		return fail(&e);
	for (int i = 0; i < n; i++)
		if (input_is(&inputs[i], &out, &e)) {
			status = fail(&e);
			output_close(&out, status, &e);
			return status;
		}
	w->output = &out;
	w->segment_limit = s->segment;
	w->crc = output_is_file(&out);
	w->progress = &progress;
	progress_begin(&progress, common, output_is_file(&out));
	status = decode(inputs, n, d, &s->limits, argv, argc);
	if (status == STATUS_FAILED)
		writer_status(w, STATUS_DAMAGED, "trdecode failed");
	if (s->strict && d->lost) {
		warn(NULL, NO_OFFSET, "the recorder lost %" PRIu64 " events (--strict)", d->lost);
		status = status_worse(status, STATUS_DAMAGED);
	}
	if (!w->error.what[0] && writer_finish(w))
		status = fail(&w->error);
	progress_end(&progress, w->sent_bytes, 0, w->sent_events);
	if (output_close(&out, status, &e) && status != STATUS_FAILED)
		status = fail(&e);
	return status;
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	struct common_options common;
	struct writer writer;
	struct output none = {.fd = -1};
	struct decoding d = {.writer = &writer};
	struct input *inputs;
	int status = program_start(&program, argc, argv, &s, &common), n = argc - optind;

	if (status < 0 && s.json && !s.info)
		status = program_usage(&program, "--json goes with --info");
	if (status < 0 && n < 1)
		status = program_usage(&program, "no input");
	if (status >= 0 || n < 1) {
		free(s.offsets);
		limits_free(&s.limits);
		return status;
	}
	d.quiet = common.quiet;
	d.verbose = common.verbose;
	d.clock = s.clock;
	d.limits = &s.limits;
	d.max_value = s.max_value;
	inputs = calloc((size_t)n, sizeof(*inputs));
	for (int i = 0; inputs && i < n; i++)
		inputs[i].fd = -1;
	if (!inputs || writer_init(&writer, &none, s.segment)) {
		warn(NULL, NO_OFFSET, "out of memory");
		return STATUS_FAILED;
	}
	status = run(inputs, n, argv + optind, &s, &common, &d, argv, argc);
	for (int i = 0; i < n; i++)
		input_close(&inputs[i]);
	status = status_worse(status, d.status);
	writer_free(&writer);
	free(inputs);
	free(s.offsets);
	limits_free(&s.limits);
	return status;
}

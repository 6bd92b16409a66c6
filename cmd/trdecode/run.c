/*
 * run.c - decode the inputs of trdecode
 */
#include "cmd/trdecode/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli/program.h"
#include "common/util/output.h"
#include "common/util/memory.h"
#include "common/util/u128.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/list.h"
#include "common/calls/calls_writer.h"

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

/* Open the output, which must be none of the inputs. Returns -1, the error printed. */
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
	bool json = r->settings->json;
	struct error e;
	struct trace_info f;
	struct text *text = run_text_begin(r);
	int status = STATUS_OK;

	if (!text)
		return STATUS_FAILED;
	trace_info_open(text, json);
	for (int i = 0; i < r->n && status != STATUS_FAILED; i++) {
		trace_info_begin(&f, text, json, r->inputs[i].name, i == 0);
		if (r->inputs[i].decoder->info(&r->inputs[i], &f, &e))
			status = run_fail(r->d, &e);
		trace_info_end(&f);
	}
	trace_info_close(text, json);
	return run_text_end(text, r, status_worse(status, r->d->status));
}

/* Print the list of what was decoded. */
static int print_list(struct type_list *l, struct run *r, int status)
{
	const struct decode_settings *s = r->settings;
	enum list_style style = s->json				 ? LIST_JSON
				: s->all || s->row_filter.ntypes ? LIST_ALL
								 : LIST_TEXT;
	struct text *text;
	struct error e;

	if (list_wait(l, &e))
		return run_fail(r->d, &e);
	text = status == STATUS_FAILED ? NULL : run_text_begin(r);
	if (!text)
		return STATUS_FAILED;
	if (list_print(l, text, style)) {
		error_no_memory(&e);
		status = run_fail(r->d, &e);
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

static void shift_input(struct input *in, const char *name, int number, void *ctx)
{
	settings_shift(ctx, in, name, number);
}

/* Find what to add to the times of each input, so that all begin with the first one that has
 * events (--align start). */
static int align_starts(char **names, int n, struct decode_settings *s, struct decoding *d)
{
	const struct trace_times l = {.names = names,
				      .n = n,
				      .format = s->format,
				      .decoders = s->decoders,
				      .clock = s->clock};
	uint64_t *first, start = UINT64_MAX;
	struct error e = {.what = ""};
	int bad;

	if (!s->align || s->info)
		return STATUS_OK;
	first = calloc((size_t)n, sizeof *first);
	s->aligned = calloc((size_t)n, sizeof *s->aligned);
	bad = first && s->aligned ? trace_times_first(&l, first, &e) : error_no_memory(&e);
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
	const struct trace_times l = {.names = names,
				      .n = n,
				      .format = s->format,
				      .decoders = s->decoders,
				      .clock = s->clock,
				      .shift = shift_input,
				      .ctx = s};
	struct error e = {.what = ""};

	if (!row_filter_from_end(&s->row_filter) || s->info)
		return STATUS_OK;
	return trace_times_last(&l, &s->row_filter.end, &e) ? run_fail(d, &e) : STATUS_OK;
}

/* Get the inputs of the command line: standard input if it names none. Returns their number. */
static int input_names(int argc, char **argv, char ***names)
{
	static char name[] = "-";
	static char *standard_input[] = {name};

	*names = optind < argc ? argv + optind : standard_input;
	return optind < argc ? argc - optind : 1;
}

/* Refuse an option that was given and is only for a format that no input has. */
static int check_format_option(const struct input *inputs, int n, const char *option,
			       const char *format, struct error *e)
{
	for (int i = 0; i < n; i++)
		if (input_ended_early(&inputs[i]) || !strcmp(inputs[i].decoder->name, format))
			return 0;
	return error_set(e, NULL, NO_OFFSET, "%s has no effect on %s; it is for %s", option,
			 inputs[0].decoder->name, format);
}

static int check_format_options(const struct input *inputs, int n, const struct decode_settings *s,
				struct error *e)
{
	if (s->max_value && check_format_option(inputs, n, "--max-value", "apitrace", e))
		return -1;
	if (s->no_unwind && check_format_option(inputs, n, "--no-unwind", "perf", e))
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
	if (s->info)
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
	if (s->strict)
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
	snprintf(path, sizeof path, "/dev/fd/%d", list_fd(l));
	status = write_stream(r, path);
	close(list_fd(l));
	status = print_list(l, r, status_worse(status, r->d->status));
	list_free(l);
	return status;
}

/* Decode the operands of a command line. */
static int run_inputs(struct run *r, char **names)
{
	if (open_inputs(r->inputs, names, r->n, r->settings, r->d))
		return STATUS_FAILED;
	if (r->settings->info)
		return print_info(r);
	return r->settings->list ? list_inputs(r) : write_stream(r, r->common->output);
}

int run_operands(struct decode_settings *s, const struct common_options *common, int argc,
		 char **argv)
{
	struct writer writer = {.output = NULL};
	struct output none = {.fd = -1};
	struct decoding d = {.writer = &writer,
			     .quiet = common->quiet,
			     .verbose = common->verbose,
			     .strict = s->strict,
			     .clock = s->clock,
			     .row_filter = &s->row_filter,
			     .no_unwind = s->no_unwind,
			     .sysroot = s->sysroot,
			     .max_value = s->max_value};
	char **names;
	int status, n = input_names(argc, argv, &names);
	struct input *inputs = calloc((size_t)n, sizeof(*inputs));

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

/*
 * stage.c - a program of the pipe: it reads streams, writes a stream or a result, and has one exit
 * status
 */
#include "common/cli/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stream/index.h"
#include "common/util/output.h"
#include "common/util/memory.h"
#include "common/value/moment.h"

enum {
	STAGE_LIMIT = 65536, /* bytes of HEAD_STAGE */
	INPUT_ERRORS_LIMIT = 4096,
};

int stage_fail(struct stage *s, const struct error *e)
{
	if (e->what[0] && !s->stopped) {
		error_print(e);
		if (!s->cause[0])
			failure_cause(e, s->cause);
	}
	s->stopped = true;
	s->status = status_worse(s->status, STATUS_FAILED);
	return -1;
}

int stage_no_memory(struct stage *s)
{
	struct error e;

	error_no_memory(&e);
	return stage_fail(s, &e);
}

int stage_open(struct stage *s, char **paths, int n, const struct common_options *options)
{
	*s = (struct stage){.options = options};
	if (reader_open(&s->in, paths, n))
		return stage_fail(s, &s->in.error);
	return 0;
}

int stage_print_to(struct stage *s, const char *path, enum output_kind kind)
{
	struct error e;

	if (output_open(&s->output, path, kind, &e))
		return stage_fail(s, &e);
	s->output_open = true;
	if (!s->in.output)
		progress_begin(&s->progress, s->options->progress, output_is_file(&s->output));
	s->in.output = &s->output;
	return 0;
}

int stage_print_end(struct stage *s)
{
	struct error e;

	s->output_open = false;
	return output_close(&s->output, s->status, &e) ? stage_fail(s, &e) : 0;
}

/* Add the command of this stage to HEAD. */
static int add_stage(struct stage *s, int argc, char **argv)
{
	const struct program *p = s->options->program;
	struct buffer text = {0};
	int bad = 0;

	if (!p)
		return 0;
	if (program_stage(p, argc, argv, &text))
		bad = error_no_memory(&s->out.error);
	else
		bad = writer_property(&s->out, HEAD_STAGE, text.data,
				      text.size < STAGE_LIMIT ? text.size : STAGE_LIMIT);
	buffer_free(&text);
	return bad;
}

int stage_create(struct stage *s, int argc, char **argv)
{
	struct error e;

	if (output_open(&s->output, s->options->output, OUTPUT_BINARY, &e))
		return stage_fail(s, &e);
	s->output_open = true;
	s->in.output = &s->output;
	progress_begin(&s->progress, s->options->progress, output_is_file(&s->output));
	s->filter = true;
	if (writer_init(&s->out, &s->output, 0) || writer_command(&s->out, argc, argv) ||
	    add_stage(s, argc, argv))
		return stage_fail(s, &s->out.error);
	if (s->options->index && writer_archive(&s->out, s->options->compress))
		return stage_fail(s, &s->out.error);
	s->in.before_block = writer_flush;
	s->in.before_block_ctx = &s->out;
	return 0;
}

/* Test whether one of the recorded errors is this one. */
static bool has_error(const struct stage *s, const char *error)
{
	const char *all = (const char *)s->input_errors.data, *at = all;
	size_t n = strlen(error);

	while ((at = strstr(at, error))) {
		bool begins = at == all || (at - all >= 2 && !memcmp(at - 2, "; ", 2));

		if (begins && (!at[n] || !strncmp(at + n, "; ", 2)))
			return true;
		/* an empty error is found at the end, too */
		if (!*at++)
			return false;
	}
	return false;
}

/* Record an input error: true if it is new. Without memory it is dropped: it was printed. */
static bool add_input_error(struct stage *s, const char *file, uint64_t offset, const char *what)
{
	char location[40] = "", *line;
	bool is_new = true;
	int n;

	if (offset != NO_OFFSET)
		snprintf(location, sizeof(location), "0x%" PRIx64 ": ", offset);
	n = asprintf(&line, "%s%s%s%s%s", s->input_errors.size ? "; " : "", file, *file ? ": " : "",
		     location, what);
	if (n < 0)
		return true;
	is_new = !s->input_errors.size || !has_error(s, line + 2);
	if (is_new && s->input_errors.size + (size_t)n < INPUT_ERRORS_LIMIT &&
	    !buffer_append(&s->input_errors, line, (size_t)n) && !buffer_u8(&s->input_errors, 0))
		s->input_errors.size--;
	free(line);
	return is_new;
}

bool stage_part(const struct stage *s)
{
	return s->apart || s->in.left_out.any ||
	       (s->in.head.flags & HEAD_SEGMENTED && !(s->in.end.flags & END_LAST));
}

const char *stage_input_errors(const struct stage *s)
{
	return s->input_errors.size ? (const char *)s->input_errors.data : NULL;
}

/* Handle damage in the input, or one unreadable input of several: print it, record it for END,
 * and continue. */
static void input_failed(struct stage *s)
{
	const struct error *e = &s->in.error;
	char what[sizeof *e];

	if (s->in.cut) {
		s->in.cut = false;
		return;
	}
	/* the dictionary may lack what the rows name */
	if (memory_failed()) {
		stage_no_memory(s);
		return;
	}
	/* a failed flush in before_block is an error of the output */
	if (s->filter && s->in.stop && s->out.error.what[0]) {
		stage_fail(s, &s->out.error);
		return;
	}
	if (faults_add(&s->faults, e, s->in.file)) {
		error_print(e);
		add_input_error(s, e->file, e->offset, e->what);
	}
	s->status = status_worse(s->status, s->in.fatal ? STATUS_FAILED : STATUS_DAMAGED);
	if (s->in.fatal && !s->cause[0])
		failure_cause(e, s->cause);
	if (!s->filter)
		return;
	error_text(e, what, sizeof what);
	writer_status(&s->out, STATUS_DAMAGED, what, NULL);
}

/* End with status 2: the output of a failed program must not pass for a result. */
static void upstream_failed(struct stage *s, const char *cause)
{
	struct error e;

	if (!s->cause[0])
		snprintf(s->cause, sizeof s->cause, "%s", cause);
	s->printed = s->in.end.printed;
	error_set(&e, s->in.file, NO_OFFSET, "the program that wrote this failed: %s", cause);
	e.printed = printed_here(&s->in.end.printed);
	stage_fail(s, &e);
}

/* Merge upstream's END into the status: damage found upstream is in this END and exit status
 * too. */
static void stage_take_end(struct stage *s)
{
	const struct end *end = &s->in.end;

	s->lost += end->lost;
	s->lost_more |= (end->flags & END_LOST_MORE) != 0;
	s->gaps += end->gaps;
	if (end->status == STATUS_FAILED) {
		upstream_failed(s, end->message.size ? end->message.text : "no cause is recorded");
	} else if (end->status) {
		const char *what =
			end->message.size ? end->message.text : "its decoder reports no detail";

		struct error e;

		error_set(&e, s->in.file, NO_OFFSET, "the trace is damaged: %s", what);
		e.printed = printed_here(&end->printed);
		s->printed = end->printed;
		if (add_input_error(s, "", NO_OFFSET, what))
			error_print(&e);
		s->status = status_worse(s->status, STATUS_DAMAGED);
	}
}

/* Test whether a segment is part of the one that is being written. */
static bool continues(const struct stage *s, const struct head *h)
{
	return s->one_segment && s->out.in_segment && h->sequence &&
	       h->stream_id == s->out.head.stream_id;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* End the segment that others should follow, of which none was read. */
static int stage_end_part(struct stage *s)
{
	if (!s->end_left)
		return 0;
	s->end_left = false;
	return writer_pass_end(&s->out, 0, s->out.end.gaps, s->out.end.lost);
}

int stage_forward_plain(struct stage *s, const struct block *b, const struct head *head,
			const struct end *end)
{
	struct error e;

	switch (b->kind) {
	case BLOCK_HEAD:
		/* later declarations may give ids of the rows so far another meaning */
		if (continues(s, head)) {
			s->end_left = false;
			return writer_flush(&s->out) ? stage_fail(s, &s->out.error) : 0;
		}
		if (stage_end_part(s))
			return stage_fail(s, &s->out.error);
		s->head_sent = true;
		return writer_pass_head(&s->out, head) ? stage_fail(s, &s->out.error) : 0;
	case BLOCK_END:
		if (end->status)
			writer_status(&s->out, end->status, end->message.text, &end->printed);
		s->end_left = s->one_segment && !(end->flags & END_LAST);
		if (s->end_left)
			return 0;
		/* those of earlier segments count too, and those in blocks that were damaged */
		return writer_pass_end(&s->out, end->flags, larger(end->gaps, s->out.end.gaps),
				       larger(end->lost, s->out.end.lost))
			       ? stage_fail(s, &s->out.error)
			       : 0;
	case BLOCK_EVENTS:
	case BLOCK_DICT:
	case BLOCK_META: break;
	case BLOCK_SNAPSHOT:
		/* within a segment, calls go on */
		if (s->one_segment && !block_enters(b))
			return 0;
		break;
	default:
		if (!(b->flags & BLOCK_MAY_COPY))
			return 0;
	}
	return writer_pass(&s->out, b, &e) ? stage_fail(s, &e) : 0;
}

int stage_forward(struct stage *s, const struct block *b, const struct head *head,
		  const struct end *end)
{
	return s->rewrite ? s->rewrite->block(s->rewrite->ctx, s, b, head, end)
			  : stage_forward_plain(s, b, head, end);
}

static int pass_on(struct stage *s, const struct block *b)
{
	if (b->kind != BLOCK_EVENTS)
		return stage_forward(s, b, &s->in.head, &s->in.end);
	/* matches must not wait long for their block to fill */
	return writer_flush_old(&s->out) ? stage_fail(s, &s->out.error) : 0;
}

/* For --progress: offsets start again with each input. */
static void stage_count(struct stage *s, const struct block *b)
{
	if (b->offset < s->offset)
		s->bytes += s->offset;
	s->offset = b->offset + BLOCK_HEADER + b->length;
	if (b->kind == BLOCK_EVENTS)
		s->events += b->rows;
	progress_tick(&s->progress, s->bytes + s->offset, s->in.size, s->events);
}

/* Remove malformed values from a block whose rows were read and checked. */
static int stage_drop_bad_values(struct stage *s, struct block *b)
{
	struct block *enters = block_enters(b);
	int64_t dropped = bad_values_drop(&s->bad_values, enters ? enters : b, s->in.reads_values);

	if (!dropped)
		return 0;
	if (dropped < 0)
		return stage_no_memory(s);
	s->status = status_worse(s->status, STATUS_DAMAGED);
	if (s->filter)
		writer_status(&s->out, STATUS_DAMAGED, BAD_VALUES, NULL);
	return 0;
}

/* Check that the clocks of all streams have one name, as trdecode does, if their events are on
 * one axis. clocks.h compares clocks of ticks, if needed. */
static int compare_clocks(struct stage *s, const struct block *b)
{
	const struct lane *lane = b->rows && b->nlanes ? b->lanes[0] : NULL;
	const struct lane *first = s->first_lane;
	struct error e;

	if (!lane || !lane->clock || lane->clock->flags & CLOCK_TICKS)
		return 0;
	s->compared = s->in.head.stream_id;
	if (!first)
		s->first_lane = first = lane;
	if (first->clock->name.number == lane->clock->name.number)
		return 0;
	error_set(&e, lane->source ? lane->source->name.text : s->in.file, NO_OFFSET,
		  "its clock (%.100s) and the clock of %.200s (%.100s) cannot be compared: decode "
		  "both with one trdecode, and align them with --offset FILE=TIME",
		  lane->clock->name.text, first->source ? first->source->name.text : "the first",
		  first->clock->name.text);
	return stage_fail(s, &e);
}

/* Note that the times of calls and events are ticks. Of samples alone only their order is. */
static void stage_note_ticks(struct stage *s, const struct block *b)
{
	const struct lane *lane = b->rows && b->nlanes ? b->lanes[0] : NULL;
	bool samples = true;

	if (!lane || !lane->clock || !(lane->clock->flags & CLOCK_TICKS))
		return;
	for (uint32_t i = 0; i < b->ntypes; i++)
		samples &= b->types[i]->kind == KIND_SAMPLE;
	if (samples)
		return;
	s->ticking = lane;
}

/* Say so, unless the times were refused. */
static void stage_remark_ticks(const struct stage *s)
{
	const struct lane *lane = s->ticking;

	if (lane && s->status != STATUS_FAILED && !s->options->quiet)
		remark(lane->source ? lane->source->name.text : NULL,
		       "the clock counts ticks: times have no unit");
}

static bool stage_wants(void *ctx, const struct index *x, const struct index_section *section)
{
	struct stage *s = ctx;
	const struct stage_seek *seek = &s->seek;

	if (!section->events)
		return false;
	switch (time_window_section(seek->window, &s->in.dictionary, section)) {
	case SECTION_BEFORE: return x->calls && !seek->restores;
	case SECTION_AFTER: return x->calls && (!seek->after || seek->after(seek->ctx, section));
	default: return !seek->has || seek->has(seek->ctx, x, section);
	}
}

static bool stage_leave_out(void *ctx, const struct index_section *section)
{
	const struct stage_seek *seek = &((struct stage *)ctx)->seek;

	if (section->events && section->last > seek->window->last)
		seek->window->last = section->last;
	if (seek->leaves_out)
		seek->leaves_out(seek->ctx, section);
	return time_window_section(seek->window, &((struct stage *)ctx)->in.dictionary, section) ==
	       SECTION_AFTER;
}

void stage_seek(struct stage *s, const struct stage_seek *seek)
{
	s->seek = *seek;
	s->in.wants = stage_wants;
	s->in.leaves_out = stage_leave_out;
	s->in.wants_ctx = s;
}

bool stage_next(struct stage *s, struct block *b)
{
	while (!s->stopped && !s->out.broken) {
		int got = s->segments_read ? 0 : reader_next(&s->in, b);

		if (!got) {
			s->lost += s->in.left_out.lost;
			s->gaps += s->in.left_out.gaps;
			s->lost_more |= s->in.left_out.lost_more;
			s->in.left_out.lost = s->in.left_out.gaps = 0;
			return false;
		}
		if (got < 0) {
			input_failed(s);
			continue;
		}
		stage_count(s, b);
		if (s->one_axis && b->kind == BLOCK_EVENTS && s->compared != s->in.head.stream_id &&
		    compare_clocks(s, b))
			continue;
		if (s->prints_times && !s->ticking && b->kind == BLOCK_EVENTS)
			stage_note_ticks(s, b);
		if (b->kind == BLOCK_HEAD)
			s->apart |= s->in.head.sequence && s->in.segment.apart;
		if (b->kind == BLOCK_END) {
			stage_take_end(s);
			s->segments_read = s->segments_most && !--s->segments_most;
		}
		if (s->stopped || stage_drop_bad_values(s, b))
			return false;
		return !s->filter || s->holds || !pass_on(s, b);
	}
	return false;
}

int stage_rows(struct stage *s, struct block *b)
{
	bool had_been = !b->unchecked;

	if (!reader_rows(&s->in, b))
		return had_been ? 0 : stage_drop_bad_values(s, b);
	input_failed(s);
	return -1;
}

int stage_pass(struct stage *s, struct block *b)
{
	struct error e;

	if (s->rewrite)
		return stage_forward(s, b, NULL, NULL);
	if (!reader_pass(&s->in, b, &s->out, &e))
		return 0;
	if (e.what[0])
		return stage_fail(s, &e);
	input_failed(s);
	return s->stopped ? -1 : 0;
}

/* Write the last END. Empty input gives a complete stream with a status too. */
static int stage_end_stream(struct stage *s)
{
	if (s->out.broken)
		return 0;
	/* the file may be the input itself */
	if (!s->head_sent && s->status == STATUS_FAILED && output_has_content(&s->output))
		return 0;
	if (!s->head_sent && !s->out.in_segment && writer_begin(&s->out, s->out.head.stream_id))
		return -1;
	return stage_end_part(s) ? -1 : writer_finish(&s->out);
}

int stage_finish(struct stage *s)
{
	struct error e;

	if (memory_failed())
		stage_no_memory(s);
	progress_end(&s->progress, s->bytes + s->offset, s->in.size, s->events);
	faults_report(&s->faults, NULL, "");
	if (io_left() && !s->stopped && (s->alarm || !s->options->quiet))
		warn(s->in.file, NO_OFFSET, "%s", io_left());
	bad_values_report(&s->bad_values);
	bad_values_free(&s->bad_values);
	stage_remark_ticks(s);
	if (s->filter && s->status == STATUS_FAILED)
		writer_status(&s->out, STATUS_FAILED, s->cause, &s->printed);
	if (s->filter && stage_end_stream(s))
		stage_fail(s, &s->out.error);
	/* a summary is written only if there was no failure */
	if (!s->filter && s->output_open && s->status == STATUS_FAILED && !s->output.failed &&
	    program_streams(s->options) >= 0)
		failure_write(&s->output, (uint32_t)program_streams(s->options), s->cause,
			      &s->printed);
	reader_close(&s->in);
	buffer_free(&s->input_errors);
	if (s->output_open && output_close(&s->output, s->status, &e))
		stage_fail(s, &e);
	if (s->filter)
		writer_free(&s->out);
	return s->status;
}

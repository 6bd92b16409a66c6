/*
 * clock_sync.c - the marks that relate the trace's clock to others
 *
 *     trace_event_clock_sync: realtime_ts=MS       CLOCK_REALTIME, milliseconds
 *     trace_event_clock_sync: parent_ts=SECONDS    CLOCK_MONOTONIC
 *
 * atrace writes both when it begins, so only the first bytes of a file are looked at. It computes
 * SECONDS as a float of 32 bits, so the mark is wrong by up to 0.1 s after some weeks.
 *
 * Source: Android's atrace.cpp, and ftrace_importer.html of catapult.
 */
#include "cmd/trdecode/ftrace/ftrace.h"
#include "cmd/trdecode/input/input.h"

enum { CLOCK_SYNC_BYTES = 1 << 20, PARENT_TOLERANCE = 100000000 /* ns */ };

static const char word[] = "trace_event_clock_sync: ";

/* Take the facts of a line with a mark at `at`. */
static void take_sync(struct ftrace *f, struct span line, const char *at)
{
	struct span text = {at + sizeof word - 1, line.end};
	struct input *in = f->input;
	struct ftrace_line l;
	uint64_t number;

	ftrace_line_parse(line, &l);
	if (l.kind != LINE_EVENT || l.clock != LINE_SECONDS)
		return;
	text = span_trim(text);
	if (span_begins(text, "realtime_ts=")) {
		text.at += 12;
		if (in->has_wall || ftrace_digits(text.at, text.end, &number) != text.end ||
		    !number || number >= TIME_LIMIT / 1000000)
			return;
		in->has_wall = true;
		in->wall = (int64_t)(number * 1000000) - (int64_t)l.time;
	} else if (span_begins(text, "parent_ts=")) {
		text.at += 10;
		if (!ftrace_seconds(text, &number) || !number)
			return;
		if ((number > l.time ? number - l.time : l.time - number) <= PARENT_TOLERANCE)
			in->clock_name = "monotonic";
	}
}

int ftrace_clock_sync(struct ftrace *f, struct error *e)
{
	const struct input *in = f->input;
	const char *at, *end;

	/* not of a live trace */
	if (!f->packed && !in->packed && !input_is_file(in->fd))
		return 0;
	if (lines_fill(&f->lines, in, CLOCK_SYNC_BYTES, e))
		return -1;
	at = (const char *)f->lines.data.data + f->lines.begin;
	end = (const char *)f->lines.data.data + f->lines.data.size;
	while (at && at < end && (at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
		const char *begin = at, *first = (const char *)f->lines.data.data;
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct span line = {at, newline ? newline : end};

		while (begin > first && begin[-1] != '\n' && at - begin < LINE_HEAD_MOST)
			begin--;
		line.at = begin;
		line.end -= span_ends(line, "\\n\\") ? 3 : span_ends(line, "\r") ? 1 : 0;
		take_sync(f, line, at);
		at = newline;
	}
	return 0;
}

/*
 * marks.c - the marks that atrace writes to trace_marker: calls, counters and asynchronous calls
 *
 *     B|TGID|NAME    E[|TGID]    C|TGID|NAME|VALUE    S|TGID|NAME|COOKIE    F|TGID|NAME|COOKIE
 *
 * Source: Android's ATrace (libcutils trace.h) and the parser of systrace in catapult.
 */
#include "cmd/trdecode/ftrace/ftrace.h"
#include "common/util/siphash.h"

enum { MARK_PARTS = 4, ASYNC_MOST = 1 << 16 };

/* Split a mark at its bars; the last part has the rest. Returns the number of parts. */
static unsigned split_mark(struct span s, struct span parts[MARK_PARTS])
{
	unsigned n = 0;

	while (n + 1 < MARK_PARTS) {
		const char *bar = memchr(s.at, '|', span_size(s));

		if (!bar)
			break;
		parts[n++] = (struct span){s.at, bar};
		s.at = bar + 1;
	}
	parts[n++] = s;
	return n;
}

static int mark_begin(struct ftrace *f, struct ftrace_thread *t, struct span name)
{
	uint32_t *marks;

	f->row.location = ftrace_location(f, name);
	f->row.type = ftrace_plain_type(f, "begin", &(struct type_entry){.kind = KIND_ENTER});
	if (!f->row.location || !f->row.type)
		return -1;
	if (t->nmarks >= FTRACE_FRAMES_MOST)
		return 0;
	marks = array_grow(t->marks, &t->marks_capacity, t->nmarks, sizeof *marks);
	if (!marks)
		return -1;
	t->marks = marks;
	t->marks[t->nmarks++] = f->row.location;
	return 0;
}

static int mark_end(struct ftrace *f, struct ftrace_thread *t)
{
	f->row.location = t->nmarks ? t->marks[--t->nmarks] : ftrace_frame(f, SPAN("?"));
	f->row.type = ftrace_plain_type(f, "end", &(struct type_entry){.kind = KIND_LEAVE});
	return f->row.type && f->row.location ? 0 : -1;
}

/* Make the row of a counter. The name of its type is that of the counter. */
static int mark_counter(struct ftrace *f, struct span name, uint64_t number)
{
	struct field_entry value = {.name = writer_text(f->w, "value"),
				    .kind = FIELD_INT,
				    .where = WHERE_FIXED,
				    .size = 8};
	struct type_entry e = {
		.kind = KIND_COUNTER, .fixed_size = 8, .nfields = 1, .fields = &value};
	char text[256];
	uint8_t bytes[8];

	if (span_size(name) >= sizeof text)
		name.end = name.at + sizeof text - 1;
	memcpy(text, name.at, span_size(name));
	text[span_size(name)] = '\0';
	f->row.type = ftrace_plain_type(f, text, &e);
	put_u64(bytes, number);
	return f->row.type && !buffer_append(&f->row.fixed, bytes, sizeof bytes) ? 0 : -1;
}

/* Make the row of the begin or the end of an asynchronous call. */
static int mark_async(struct ftrace *f, bool begin, struct span pid, struct span name,
		      struct span cookie)
{
	static const struct siphash_key key = {0x66, 0x74};
	struct field_entry call = {.name = writer_text(f->w, "call"),
				   .kind = FIELD_UINT,
				   .role = ROLE_CALL,
				   .where = WHERE_FIXED,
				   .size = 4};
	struct type_entry e = {.kind = begin ? KIND_ENTER : KIND_LEAVE,
			       .flags = TYPE_CALL_NUMBER,
			       .fixed_size = 4,
			       .nfields = 1,
			       .fields = &call};
	uint64_t hash, number;
	uint8_t bytes[4];

	/* "PID|NAME|COOKIE" is one text of the line */
	(void)pid;
	hash = siphash(&key, pid.at, (size_t)(cookie.end - pid.at)) >> 1;
	f->row.location = ftrace_location(f, name);
	f->row.type = ftrace_plain_type(f, begin ? "async begin" : "async end", &e);
	if (!f->row.location || !f->row.type)
		return -1;
	if (begin) {
		number = ++f->ncalls;
		if (open_calls_count(&f->async) < ASYNC_MOST &&
		    open_calls_put(&f->async, (uint32_t)(hash >> 32), (uint32_t)hash, number))
			return -1;
	} else if (!open_calls_take(&f->async, (uint32_t)(hash >> 32), (uint32_t)hash, &number)) {
		number = ++f->ncalls; /* of a call that began before the trace */
	}
	put_u32(bytes, (uint32_t)number);
	return buffer_append(&f->row.fixed, bytes, sizeof bytes);
}

int ftrace_mark(struct ftrace *f, const struct ftrace_line *l, struct span text, bool *done)
{
	struct span parts[MARK_PARTS] = {{0}};
	struct ftrace_lane *lane;
	uint8_t kind;
	uint64_t number;
	unsigned n;
	char what;
	int failed;

	*done = false;
	if (text.at == text.end || !strchr("BECSF", *text.at) ||
	    (span_size(text) > 1 && text.at[1] != '|'))
		return 0;
	what = *text.at;
	n = split_mark(text, parts);
	if (n < (what == 'E' ? 1u : what == 'B' ? 3u : 4u))
		return 0;
	/* a name of B may have bars */
	if (what == 'B')
		parts[2].end = text.end;
	if (n > 1 && parts[1].at < parts[1].end && !ftrace_number(parts[1], &kind, &number))
		return 0;
	if (what == 'C' && (!ftrace_number(span_trim(parts[3]), &kind, &number) ||
			    kind == FIELD_HEX || parts[2].at == parts[2].end))
		return 0;
	lane = ftrace_lane(f, l);
	if (!lane)
		return -1;
	switch (what) {
	case 'B': failed = mark_begin(f, &f->declared.thread[lane->thread], parts[2]); break;
	case 'E': failed = mark_end(f, &f->declared.thread[lane->thread]); break;
	case 'C': failed = mark_counter(f, parts[2], number); break;
	default: failed = mark_async(f, what == 'S', parts[1], parts[2], parts[3]);
	}
	*done = !failed;
	return failed;
}

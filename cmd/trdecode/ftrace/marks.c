/*
 * marks.c - the marks of atrace: calls, instants, counters and asynchronous calls
 */
#include "cmd/trdecode/ftrace/ftrace.h"
#include "cmd/trdecode/input/atrace_mark.h"
#include "common/util/siphash.h"

enum { ASYNC_MOST = 1 << 16 };

static struct span span_of(struct mark_text t)
{
	return (struct span){t.at, t.at + t.size};
}

/* Set the fields in values: arguments, category, track and cookie. */
static void mark_fields(struct ftrace *f, const struct atrace_mark *m)
{
	struct mark_text arguments = m->arguments, key, value;

	f->nvalues = 0;
	while (f->nvalues + 3 < FTRACE_FIELDS_MOST &&
	       atrace_mark_argument(&arguments, &key, &value)) {
		ftrace_value_add(f, "", span_of(value), true);
		f->values[f->nvalues - 1].key = span_of(key);
	}
	if (m->category.size)
		ftrace_value_add(f, "category", span_of(m->category), false);
	if (m->track.size)
		ftrace_value_add(f, "track", span_of(m->track), false);
	if (m->cookie.size)
		ftrace_value_add(f, "cookie", span_of(m->cookie), true);
}

/* Give the row a type, with the fields in values. */
static int mark_type(struct ftrace *f, const char *name, enum type_kind kind)
{
	struct type_entry like = {.kind = kind, .group = f->declared.group};

	if (f->nvalues)
		return ftrace_typed(f, (struct span){name, name + strlen(name)}, &like);
	f->row.type = ftrace_plain_type(f, name, &like);
	return f->row.type ? 0 : -1;
}

static int mark_begin(struct ftrace *f, struct ftrace_thread *t, const struct atrace_mark *m)
{
	f->row.location = ftrace_location(f, span_of(m->name));
	if (!f->row.location || mark_type(f, "begin", KIND_ENTER))
		return -1;
	if (t->nmarks >= FTRACE_FRAMES_MOST)
		return 0;
	if (ARRAY_GROW(t->marks, t->marks_capacity, t->nmarks))
		return -1;
	t->marks[t->nmarks++] = f->row.location;
	return 0;
}

static int mark_end(struct ftrace *f, struct ftrace_thread *t)
{
	f->row.location = t->nmarks ? t->marks[--t->nmarks] : ftrace_frame(f, SPAN("?"));
	return f->row.location && !mark_type(f, "end", KIND_LEAVE) ? 0 : -1;
}

static int mark_instant(struct ftrace *f, const struct atrace_mark *m)
{
	f->row.location = ftrace_location(f, span_of(m->name));
	return f->row.location && !mark_type(f, "instant", KIND_INSTANT) ? 0 : -1;
}

/* Make the row of a counter. The name of its type is that of the counter. */
static int mark_counter(struct ftrace *f, const struct atrace_mark *m)
{
	struct span name = span_of(m->name);
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
	put_u64(bytes, (uint64_t)m->value);
	return f->row.type && !buffer_append(&f->row.fixed, bytes, sizeof bytes) ? 0 : -1;
}

/* Get the number of an asynchronous call, and the location of an end without a name. */
static int async_number(struct ftrace *f, const struct atrace_mark *m, uint32_t *number)
{
	static const struct siphash_key of_name = {0x66, 0x74}, of_track = {0x66, 0x75};
	bool begin = m->what == 'S' || m->what == 'G';
	uint64_t parts[3] = {(uint64_t)m->tgid, siphash(&of_track, m->track.at, m->track.size),
			     siphash(&of_track, m->cookie.at, m->cookie.size)};
	uint64_t hash = m->track.size ? siphash(&of_track, parts, sizeof parts)
				      : siphash(&of_name, m->id.at, m->id.size);
	uint32_t high = (uint32_t)(hash >> 33), low = (uint32_t)(hash >> 1);
	uint64_t known;

	if (begin) {
		*number = ++f->ncalls;
		known = (uint64_t)f->row.location << 32 | *number;
		return open_calls_count(&f->async) < ASYNC_MOST
			       ? open_calls_put(&f->async, high, low, known)
			       : 0;
	}
	if (open_calls_take(&f->async, high, low, &known)) {
		*number = (uint32_t)known;
		if (!f->row.location)
			f->row.location = (uint32_t)(known >> 32);
	} else {
		*number = ++f->ncalls; /* of a call that began before the trace */
	}
	if (!f->row.location)
		f->row.location = ftrace_frame(f, SPAN("?"));
	return f->row.location ? 0 : -1;
}

/* Make the row of the begin or the end of an asynchronous call. */
static int mark_async(struct ftrace *f, const struct atrace_mark *m)
{
	bool begin = m->what == 'S' || m->what == 'G';
	struct type_entry like = {.kind = begin ? KIND_ENTER : KIND_LEAVE,
				  .flags = TYPE_CALL_NUMBER,
				  .group = f->declared.group};
	uint8_t bytes[4];
	uint32_t number;

	f->row.location = m->name.size ? ftrace_location(f, span_of(m->name)) : 0;
	if ((m->name.size && !f->row.location) || async_number(f, m, &number))
		return -1;
	put_u32(bytes, number);
	return buffer_append(&f->row.fixed, bytes, sizeof bytes) ||
			       ftrace_typed(f, begin ? SPAN("async begin") : SPAN("async end"),
					    &like)
		       ? -1
		       : 0;
}

int ftrace_mark(struct ftrace *f, const struct ftrace_line *l, struct span text, bool *done)
{
	struct ftrace_lane *lane;
	struct ftrace_thread *t;
	struct atrace_mark m;
	int failed;

	*done = false;
	if (!atrace_mark_read(&m, text.at, span_size(text)))
		return 0;
	lane = ftrace_lane(f, l);
	if (!lane)
		return -1;
	t = &f->declared.thread[lane->thread];
	mark_fields(f, &m);
	switch (m.what) {
	case 'B': failed = mark_begin(f, t, &m); break;
	case 'E': failed = mark_end(f, t); break;
	case 'C': failed = mark_counter(f, &m); break;
	case 'I':
	case 'N': failed = mark_instant(f, &m); break;
	default: failed = mark_async(f, &m);
	}
	*done = !failed;
	return failed;
}

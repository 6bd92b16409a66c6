/*
 * stream.c - any bytes as a stream: read with everything looked at and calls paired, read with
 * libtrstream, event by event and as tables, passed through a filter by blocks and by rows, which
 * makes one segment of all, and what the filter made read again
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/calls/calls.h"
#include "common/library/trstream.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/stream/value.h"
#include "common/stream/writer.h"
#include "t/fuzz/fuzz.h"
#include "t/fuzz/seal.h"

/* Every byte of it, so that a sanitizer sees one that is not there. */
static unsigned touch(const void *data, size_t n)
{
	const volatile uint8_t *p = data;
	unsigned sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += p[i];
	return sum;
}

static void look_at_fields(const struct event *ev)
{
	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];
		uint32_t n = field_count(ev, f);
		struct field_value v;
		size_t size;
		const uint8_t *bytes = field_bytes(ev, f, &size);

		if (bytes)
			touch(bytes, size);
		for (uint32_t j = 0; j <= n && j < 5; j++) {
			field_get(ev, f, j, &v);
			if (v.form == FORM_TEXT)
				touch(v.text, v.size);
		}
	}
}

static uint32_t same(void *ctx, uint32_t id)
{
	(void)ctx;
	return id;
}

static void look_at_values(const struct reader *r, const struct event *ev)
{
	struct buffer copy = {0};
	struct values v;
	struct detail d;
	struct value child;
	uint64_t n;
	long double real;
	bool sign;

	for (values_begin(&v, ev->tail, ev->tail_size); values_detail(&v, &d);) {
		touch(d.value.bytes, d.value.n);
		touch(d.value.type_name, d.value.type_name_size);
		value_integer(&d.value, NULL, &n, &sign);
		value_real(&d.value, &real);
		dictionary_definition_id(&r->dictionary, d.value.definition);
	}
	for (values_begin(&v, ev->tail, ev->tail_size); values_value(&v, &child);)
		;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_skip(&v))
		;
	values_copy(&copy, ev->tail, ev->tail_size, same, NULL);
	buffer_free(&copy);
}

/* Every frame of a stack. */
static void look_at_stack(struct reader *r, uint32_t stack)
{
	const struct dictionary *d = &r->dictionary;
	uint32_t frames = dictionary_stack_frames(d, stack);

	if (!stack != !frames || frames > STACK_FRAMES_MOST)
		abort();
	for (; stack; stack = dictionary_stack_parent(d, stack), frames--) {
		if (dictionary_stack_parent(d, stack) >= stack)
			abort();
		dictionary_location_name(&r->dictionary, dictionary_stack_location(d, stack));
	}
	if (frames)
		abort();
}

static void look_at_event(struct reader *r, const struct event *ev)
{
	struct gap_row g;

	touch(ev->fixed, ev->type->fixed_size);
	touch(ev->tail, ev->tail_size);
	touch(ev->lane->comm.text, ev->lane->comm.size);
	dictionary_location_name(&r->dictionary, ev->location);
	look_at_stack(r, ev->stack);
	look_at_fields(ev);
	if (ev->type->flags & TYPE_VALUES)
		look_at_values(r, ev);
	if (gap_get(ev, &g)) {
		touch(g.file, g.file_size);
		touch(g.message, g.message_size);
	}
}

static void look_at_block(struct reader *r, struct block *b)
{
	struct events it;
	struct event ev;
	struct meta m;

	if (b->kind == BLOCK_EVENTS) {
		for (events_begin(&it, b); event_next(&it, &ev);) {
			if (ev.time < b->base || ev.time > b->last)
				abort();
			look_at_event(r, &ev);
		}
	} else {
		touch(b->payload, b->length);
	}
	if (b->kind == BLOCK_META) {
		reader_meta(r, b, &m);
		touch(m.name, m.name_size);
		touch(m.data, m.size);
	}
}

/* Pair the calls of a block, and look at those that a snapshot has. */
static void pair_calls(struct calls *c, const struct block *b)
{
	struct events it;
	struct event ev;
	struct call done;
	struct error e;

	if (b->kind == BLOCK_EVENTS)
		for (events_begin(&it, b); event_next(&it, &ev);)
			calls_next(c, &ev, &done);
	if (block_enters(b))
		for (events_begin(&it, block_enters(b)); event_next(&it, &ev);)
			touch(ev.tail, ev.tail_size);
	if (calls_restore(c, b, &e))
		abort();
}

static void read_all(int fd)
{
	struct reader r;
	struct block b;
	struct calls calls;
	struct call done;
	int got, errors = 0;

	if (reader_open_fd(&r, fd, "input", NULL, 0))
		abort();
	calls_init(&calls, &r.dictionary);
	while ((got = reader_next(&r, &b))) {
		if (got > 0) {
			look_at_block(&r, &b);
			pair_calls(&calls, &b);
		} else if (++errors > 1000000) {
			abort();
		}
	}
	while (calls_finish(&calls, &done))
		;
	calls_free(&calls);
	reader_close(&r);
}

/* As a program with libtrstream does it. */
static void read_library(int fd)
{
	struct trstream_reader *r = trstream_reader_open_fd(fd, "input");
	struct trstream_value v;
	struct trstream_event e;
	struct trstream_call c;
	int got, errors = 0;

	while ((got = trstream_reader_next(r, &e))) {
		if (got < 0 && (!*trstream_reader_error(r) || ++errors > 1000000))
			abort();
		for (uint32_t i = 0; got > 0 && i < e.nfields && i < 5; i++)
			if (trstream_reader_field_at(r, i, &v))
				touch(v.text, v.size);
		if (got > 0 &&
		    trstream_reader_field(r, e.kind == TRSTREAM_LEAVE ? "ret" : "arg.1", &v))
			touch(v.text, v.size);
		if (got > 0)
			touch(e.name, strlen(e.name));
		for (uint32_t i = 0; got > 0 && i < e.frames && i < 5; i++)
			touch(trstream_reader_frame(r, i), strlen(trstream_reader_frame(r, i)));
	}
	while (trstream_reader_next_call(r, &c))
		touch(c.name, strlen(c.name));
	trstream_reader_close(r);
}

/* Every value of a batch. */
static void look_at_batch(struct trstream_reader *r, const struct trstream_batch *b)
{
	for (uint32_t i = 0; i < b->ncolumns; i++) {
		const struct trstream_column *c = &b->columns[i];
		const uint32_t *texts = c->form == TRSTREAM_TEXT ? c->values : NULL;

		touch(c->values, c->size * b->rows);
		if (c->missing)
			touch(c->missing, b->rows);
		for (size_t row = 0; texts && row < b->rows; row++) {
			size_t size;
			const char *text = trstream_reader_text(r, texts[row], &size);

			if (!text)
				abort();
			touch(text, size);
		}
	}
}

/* The tables of the library, with fields, and a range of times. */
static void read_tables(int fd)
{
	static const char *const columns[] = {
		"time", "type",	 "group", "kind",  "name", "cpu",      "tid",	    "pid",
		"comm", "clock", "input", "file",  "line", "module",   "time_unit", "depth",
		"lost", "dur",	 "self",  "stack", "ret",  "arg.1",    "caller",    "weight",
		".pid", "x",	 "msg",	  "a.b",   "c[1]", "recursive"};
	struct trstream_query q = {.columns = columns,
				   .ncolumns = sizeof columns / sizeof *columns};
	struct trstream_batch *b;
	int got;

	for (int i = 0; i < 6; i++) {
		struct trstream_reader *r;
		int errors = 0;

		lseek(fd, 0, SEEK_SET);
		r = trstream_reader_open_fd(dup(fd), "input");
		q.table = (enum trstream_table)(i % 3);
		q.since = i < 3 ? NULL : "+10ns";
		q.until = i < 3 ? NULL : "+1us";
		if (trstream_reader_select(r, &q))
			abort();
		while ((got = trstream_reader_next_batch(r, &b)))
			if (got > 0) {
				look_at_batch(r, b);
				trstream_batch_free(b);
			} else if (!*trstream_reader_error(r) || ++errors > 1000000) {
				abort();
			}
		trstream_reader_close(r);
	}
}

/* As a filter does it: passed in whole, loaded and passed, or row by row. */
static void filter_events(struct reader *r, struct writer *w, struct block *b, unsigned how)
{
	struct events it;
	struct event ev;
	struct error e;

	if (how % 3 == 0) {
		reader_pass(r, b, w, &e);
		return;
	}
	if (reader_load(r, b))
		return;
	if (how % 3 == 1)
		reader_pass(r, b, w, &e);
	else
		for (events_begin(&it, b); event_next(&it, &ev);)
			if (ev.time & 1 && writer_copy_row(w, b, &ev))
				abort();
}

/* Test whether a filter that writes one segment leaves out a block that is not of rows. */
static bool is_left_out(const struct reader *r, const struct writer *w, const struct block *b)
{
	switch (b->kind) {
	case BLOCK_HEAD:
		return w->in_segment && r->head.sequence && r->head.stream_id == w->head.stream_id;
	case BLOCK_END: return !(r->end.flags & END_LAST);
	case BLOCK_SNAPSHOT: return !b->snapshot;
	default: return false;
	}
}

static void filter(int in, int out, unsigned how)
{
	struct reader r;
	struct output o;
	struct writer w;
	struct block b;
	struct error e;
	unsigned n = 0;
	char path[32];
	int got;

	snprintf(path, sizeof path, "/dev/fd/%d", out);
	if (reader_open_fd(&r, in, "input", NULL, 0) || output_open(&o, path, OUTPUT_BINARY, &e) ||
	    writer_init(&w, &o, 0))
		abort();
	reader_on_demand(&r);
	while ((got = reader_next(&r, &b))) {
		if (got < 0)
			continue;
		if (how && is_left_out(&r, &w, &b))
			writer_flush(&w);
		else if (b.kind == BLOCK_HEAD)
			writer_pass_head(&w, &r.head);
		else if (b.kind == BLOCK_END)
			writer_pass_end(&w, r.end.flags, r.end.gaps, r.end.lost);
		else if (b.kind == BLOCK_EVENTS)
			filter_events(&r, &w, &b, how + n++);
		else
			writer_pass(&w, &b, &e);
	}
	writer_finish(&w);
	writer_free(&w);
	output_close(&o, 0, &e);
	reader_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = memfd_create("in", 0), out = memfd_create("out", 0);
	uint8_t *sealed = malloc(size + 1);

	if (!sealed)
		abort();
	if (size)
		memcpy(sealed, data, size);
	seal(sealed, size);
	if (in < 0 || out < 0 || (size && write(in, sealed, size) != (ssize_t)size))
		abort();
	free(sealed);
	lseek(in, 0, SEEK_SET);
	output_limit(size);
	read_all(dup(in));
	lseek(in, 0, SEEK_SET);
	read_library(dup(in));
	read_tables(in);
	for (unsigned how = 0; how < 3; how += 2) {
		lseek(in, 0, SEEK_SET);
		if (ftruncate(out, 0))
			abort();
		lseek(out, 0, SEEK_SET);
		filter(dup(in), out, how);
		lseek(out, 0, SEEK_SET);
		read_all(dup(out));
	}
	output_limit_end();
	close(in);
	close(out);
	return 0;
}

/*
 * stream.h - small streams for tests: made by the writer into memory, read back and summed up
 */
#ifndef TR_T_UNIT_STREAM_H
#define TR_T_UNIT_STREAM_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/stream/value.h"
#include "common/stream/writer.h"
#include "t/unit/tap.h"

struct blob {
	uint8_t *data;
	size_t size;
};

struct maker {
	int fd;
	struct output output;
	struct writer w;
	uint32_t source, clock, lane, other_lane, enter, leave, instant, call, location[3],
		definition;
};

static inline void must(bool good, const char *what)
{
	if (!good) {
		printf("Bail out! %s\n", what);
		exit(1);
	}
}

static inline struct blob blob_of_fd(int fd)
{
	struct blob b = {NULL, (size_t)lseek(fd, 0, SEEK_END)};

	b.data = malloc(b.size + 1);
	must(b.data && pread(fd, b.data, b.size, 0) == (ssize_t)b.size, "read back");
	return b;
}

/* A file in memory that holds these bytes, at its beginning. */
static inline int fd_of(const void *data, size_t n)
{
	int fd = memfd_create("stream", 0);

	must(fd >= 0 && (!n || write(fd, data, n) == (ssize_t)n) && !lseek(fd, 0, SEEK_SET),
	     "memfd");
	return fd;
}

static inline void output_to_fd(struct output *o, int fd)
{
	struct error e;
	char path[32];

	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	must(!output_open(o, path, OUTPUT_BINARY, &e), "output");
}

/* A writer with something of every kind declared; nothing is sent yet but HEAD. */
static inline void make_begin(struct maker *m, uint64_t segment_limit, bool crc)
{
	struct writer *w = &m->w;
	char *argv[] = {(char *)"made", (char *)"by a test", NULL};

	*m = (struct maker){.fd = memfd_create("made", 0)};
	output_to_fd(&m->output, m->fd);
	must(!writer_init(w, &m->output, segment_limit), "writer");
	w->crc = crc;
	must(!writer_command(w, 2, argv) && !writer_begin(w, 0x1122334455667788), "begin");
	m->clock = writer_clock(
		w, &(struct clock_entry){writer_text(w, "monotonic"), CLOCK_HAS_WALL, -5});
	m->source = writer_source(
		w, &(struct source_entry){writer_text(w, "uftrace"), writer_text(w, "dir"), 8, 0});
	m->lane = writer_lane(w, &(struct lane_entry){m->source, m->clock, 0, writer_text(w, "cat"),
						      LANE_HAS_TID | LANE_HAS_PID, 0, 77, 76, 1});
	m->other_lane =
		writer_lane(w, &(struct lane_entry){m->source, m->clock, writer_text(w, "top"),
						    writer_text(w, "dog"),
						    LANE_HAS_TID | LANE_HAS_CPU, 3, 0, 0, 0});
	struct type_entry enter = {.source = m->source,
				   .name = writer_text(w, "entry"),
				   .group = writer_text(w, "uftrace"),
				   .kind = KIND_ENTER,
				   .flags = TYPE_DEPTH};
	struct type_entry leave = enter, instant = enter, call = enter;
	struct field_entry fields[] = {
		{writer_text(w, "cpu"), 0, FIELD_UINT, ROLE_CPU, WHERE_FIXED, 0, 4, 0, 0},
		{writer_text(w, "delta"), 0, FIELD_INT, ROLE_NONE, WHERE_FIXED, 4, 2, 2, 0},
		{writer_text(w, "text"), 0, FIELD_STRING, ROLE_MESSAGE, WHERE_REST, 0, 1, 0, 0},
	};
	struct member_entry members[] = {{writer_text(w, "RED"), 1, 1},
					 {writer_text(w, "BLUE"), (uint64_t)-2, (uint64_t)-2},
					 {writer_text(w, "DARK"), (uint64_t)-3, 1}};

	leave.name = writer_text(w, "exit");
	leave.kind = KIND_LEAVE;
	leave.native = 1;
	instant.name = writer_text(w, "note");
	instant.kind = KIND_INSTANT;
	instant.flags = TYPE_TAIL;
	instant.fixed_size = 8;
	instant.nfields = 3;
	instant.fields = fields;
	instant.declaration = writer_text(w, "field: note");
	call.flags = TYPE_TAIL | TYPE_VALUES | TYPE_DEPTH;
	m->enter = writer_type(w, &enter);
	m->leave = writer_type(w, &leave);
	m->instant = writer_type(w, &instant);
	m->call = writer_type(w, &call);
	m->definition =
		writer_definition(w, &(struct definition_entry){.name = writer_text(w, "colour"),
								.kind = DEFINITION_ENUM,
								.nmembers = 3,
								.members = members});
	uint32_t space =
		writer_space(w, &(struct space_entry){m->source, writer_text(w, "1a2b"), 76, 0});

	must(!writer_map(w, &(struct map_entry){.space = space,
						.start = 0x400000,
						.end = 0x500000,
						.path = writer_text(w, "/bin/cat"),
						.build_id = writer_text(w, "abcd")}),
	     "map");
	m->location[1] = writer_location(w, &(struct location_entry){space, 0, 0x401000, 0, 0});
	m->location[2] =
		writer_location(w, &(struct location_entry){0, 0, 7, writer_text(w, "glFlush"), 0});
	must(m->location[1] && m->location[2] && m->call && m->instant && m->definition,
	     "declarations");
	must(!writer_symbol(w, m->location[1],
			    &(struct symbol_entry){0x401000, 64, 12, 0, "main", "/bin/cat", "cat.c",
						   4, 8, 5}),
	     "symbol");
}

/* n rows of all kinds, from time t on, 100 apart. */
static inline void make_rows(struct maker *m, uint64_t t, unsigned n)
{
	for (unsigned i = 0; i < n; i++, t += 100) {
		struct buffer b = {0};
		int32_t colour = 1;
		uint8_t fixed[8] = {(uint8_t)i, 0, 0, 0, 0xfe, 0xff, 5, 0};
		int bad = 0;

		switch (i % 5) {
		case 0: bad = writer_row(&m->w, t, m->lane, m->enter, m->location[1], i % 7); break;
		case 1:
			bad = writer_row_data(&m->w, (struct new_row){.time = t,
								      .lane = m->lane,
								      .type = m->instant,
								      .fixed = fixed,
								      .fixed_size = 8,
								      .tail = "seven bytes or so",
								      .tail_size = i % 18,
								      .has_tail = true});
			break;
		case 2:
			bad = value_put_detail(&b, DETAIL_ARGUMENT, 1) ||
			      value_put_enum(&b, m->definition, &colour, 4) ||
			      value_put_detail(&b, DETAIL_ARGUMENT, 2) ||
			      value_put_bytes(&b, VALUE_STRING, "abc", i % 4) ||
			      writer_use_definition(&m->w, m->definition) ||
			      writer_row_data(&m->w, (struct new_row){.time = t,
								      .lane = m->other_lane,
								      .type = m->call,
								      .location = m->location[2],
								      .depth = 1,
								      .tail = b.data,
								      .tail_size = (uint32_t)b.size,
								      .has_tail = true});
			break;
		case 3: bad = writer_row(&m->w, t, m->lane, m->leave, m->location[1], i % 7); break;
		case 4:
			bad = writer_gap(&m->w, t, m->lane,
					 &(struct gap){GAP_LOST, GAP_EVENTS, i, NO_OFFSET, "77.dat",
						       "lost some"});
			break;
		}
		buffer_free(&b);
		must(!bad, "row");
	}
}

static inline struct blob make_end(struct maker *m)
{
	struct error e;
	struct blob b;

	must(!writer_finish(&m->w), "finish");
	writer_free(&m->w);
	must(!output_close(&m->output, 0, &e), "close");
	b = blob_of_fd(m->fd);
	close(m->fd);
	return b;
}

/* A stream with some META and two blocks of rows. */
static inline struct blob small_stream(uint64_t segment_limit, bool crc, unsigned rows)
{
	struct maker m;

	make_begin(&m, segment_limit, crc);
	must(!writer_meta(&m.w, m.source, "info", "what the source says", 20), "meta");
	make_rows(&m, 1000, rows / 2);
	must(!writer_flush(&m.w), "flush");
	make_rows(&m, 1000000, rows - rows / 2);
	return make_end(&m);
}

/* What came out of a stream. */
struct seen {
	uint64_t rows, gaps, lost, blocks, events_blocks, ends, heads, metas, calls;
	uint64_t errors;
	uint64_t digest; /* of what the rows say, whatever the ids and blocks */
	bool fatal, lossy;
	char first_error[512];
	uint64_t first_offset;
};

static inline uint64_t digest_row(uint64_t h, const struct event *ev)
{
	uint64_t key[] = {ev->time, ev->depth,
			  (uint64_t)(uint32_t)ev->lane->tid << 32 | ev->location};

	h = hash_bytes(key, sizeof key, h);
	h = hash_bytes(ev->type->name.text, ev->type->name.size, h);
	h = hash_bytes(ev->lane->comm.text, ev->lane->comm.size, h);
	h = hash_bytes(ev->fixed, ev->type->fixed_size, h);
	/* ids of definitions differ between segments */
	return ev->type->flags & TYPE_VALUES ? h : hash_bytes(ev->tail, ev->tail_size, h);
}

static inline void look_at_values(const struct reader *r, const struct event *ev, struct seen *s)
{
	struct values v;
	struct detail d;

	for (values_begin(&v, ev->tail, ev->tail_size); values_detail(&v, &d);) {
		uint64_t n;
		long double real;
		bool sign;

		value_integer(&d.value, NULL, &n, &sign);
		value_real(&d.value, &real);
		if (d.value.tag == VALUE_ENUM &&
		    dictionary_definition_id(&r->dictionary, d.value.definition))
			s->calls++;
	}
}

static inline void look_at_fields(const struct event *ev)
{
	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		uint32_t n = field_count(ev, &ev->type->fields[i]);
		struct field_value v;

		for (uint32_t j = 0; j < n && j < 4; j++)
			field_get(ev, &ev->type->fields[i], j, &v);
	}
}

static inline void look_at_block(const struct reader *r, const struct block *b, struct seen *s)
{
	struct events it;
	struct event ev;
	struct gap_row g;

	for (events_begin(&it, b); event_next(&it, &ev);) {
		s->rows++;
		s->digest = digest_row(s->digest, &ev);
		dictionary_location((struct dictionary *)&r->dictionary, ev.location);
		if (ev.time < b->base || ev.time > b->last)
			s->digest ^= 1, s->errors += 1000;
		if (ev.type->flags & TYPE_VALUES)
			look_at_values(r, &ev, s);
		look_at_fields(&ev);
		if (ev.type->kind == KIND_GAP && gap_get(&ev, &g)) {
			s->gaps++;
			s->lost += g.reason == GAP_LOST ? g.count : 0;
		}
	}
}

static inline void note_error(struct seen *s, const struct error *e)
{
	if (!s->errors++) {
		snprintf(s->first_error, sizeof s->first_error, "%s", e->what);
		s->first_offset = e->offset;
	}
}

static inline void see_reader(struct reader *r, struct seen *s)
{
	struct block b;
	int got;

	while ((got = reader_next(r, &b))) {
		struct meta m;

		must(s->errors < 1000000, "the reader ends");
		if (got < 0) {
			note_error(s, &r->error);
			continue;
		}
		s->blocks++;
		s->ends += b.kind == BLOCK_END;
		s->lossy |= b.kind == BLOCK_END && r->end.status;
		s->heads += b.kind == BLOCK_HEAD;
		if (b.kind == BLOCK_META) {
			s->metas++;
			reader_meta(r, &b, &m);
		}
		if (b.kind == BLOCK_EVENTS) {
			if (reader_load(r, &b)) {
				note_error(s, &r->error);
				continue;
			}
			s->events_blocks++;
			look_at_block(r, &b, s);
		}
	}
	s->fatal = r->fatal;
	s->lossy |= s->errors > 0;
}

static inline struct seen see_fd(int fd, bool partial_ok, bool on_demand)
{
	struct reader r;
	struct seen s = {0};

	must(!reader_open_fd(&r, fd, "made", NULL, 0), "reader");
	r.partial_ok = partial_ok;
	if (on_demand)
		reader_on_demand(&r);
	see_reader(&r, &s);
	reader_close(&r);
	return s;
}

static inline struct seen see(const void *data, size_t n)
{
	return see_fd(fd_of(data, n), false, false);
}

#endif

#include "cmd/trdecode/stream/adopt.h"

#include <stdlib.h>

#include "common/calls/snapshot_maker.h"
#include "common/stream/field.h"
#include "common/stream/value.h"

/* A block with the writer's ids and times. */
struct moved {
	struct stream_ids *ids;
	struct writer *writer;
	const struct snapshot *from;
	struct buffer payload;
	bool bad;
};

/* Returns the id, which is declared in the segment. */
static uint32_t declare(struct moved *m, enum entry_kind kind, uint32_t id)
{
	m->bad = m->bad || writer_declare_again(m->writer, kind, id);
	return id;
}

static uint32_t lane_id(struct moved *m, const struct lane *l)
{
	return declare(m, ENTRY_LANE, stream_lane(m->ids, l));
}

static uint32_t type_id(struct moved *m, const struct type *t)
{
	return t ? declare(m, ENTRY_TYPE, stream_type(m->ids, t)) : 0;
}

static uint32_t location_id(struct moved *m, uint32_t number)
{
	int bad = 0;
	uint32_t id = stream_location(m->ids, number, &bad);

	m->bad = m->bad || bad;
	return id ? declare(m, ENTRY_LOCATION, id) : 0;
}

static void append(struct moved *m, const void *p, size_t n)
{
	m->bad = m->bad || buffer_append(&m->payload, p, n);
}

static void append_u32(struct moved *m, uint32_t v)
{
	m->bad = m->bad || buffer_u32(&m->payload, v);
}

static void align(struct moved *m, unsigned to)
{
	m->bad = m->bad || buffer_align(&m->payload, to);
}

static uint64_t moved_time(const struct moved *m, uint64_t time)
{
	return time ? stream_moved(m->ids, time) : 0;
}

static void put_threads(struct moved *m)
{
	struct snapshot_walk w;
	uint8_t p[SNAPSHOT_THREAD];

	snapshot_walk(&w, m->from);
	while (snapshot_next_thread(&w)) {
		struct snapshot_thread t = w.thread;

		t.lane = lane_id(m, w.lane);
		t.type = type_id(m, w.type);
		t.kernel_type = type_id(m, w.kernel_type);
		t.last = moved_time(m, t.last);
		t.since = moved_time(m, t.since);
		t.kernel_since = moved_time(m, t.kernel_since);
		snapshot_put_thread(p, &t);
		append(m, p, sizeof p);
		while (snapshot_next_frame(&w))
			;
	}
}

static void put_frames(struct moved *m)
{
	struct snapshot_walk w;
	uint8_t p[SNAPSHOT_FRAME];

	snapshot_walk(&w, m->from);
	while (snapshot_next_thread(&w))
		while (snapshot_next_frame(&w)) {
			w.frame.start = moved_time(m, w.frame.start);
			snapshot_put_frame(p, &w.frame);
			append(m, p, sizeof p);
		}
}

static void put_gone(struct moved *m)
{
	struct snapshot_walk w;

	snapshot_walk(&w, m->from);
	while (snapshot_next_thread(&w)) {
		for (uint32_t i = 0; i < w.thread.gone; i++)
			append_u32(m, location_id(m, snapshot_gone(&w, i)));
		while (snapshot_next_frame(&w))
			;
	}
	align(m, 8);
}

static void put_row(struct moved *m, const struct event *e)
{
	size_t at;

	append(m, e->row, (size_t)(e->fixed - e->row) + e->type->fixed_size);
	if (!m->bad)
		field_map_stacks(e->type, m->payload.data + m->payload.size - e->type->fixed_size,
				 stream_field_stack, m->ids);
	if (!(e->type->flags & TYPE_TAIL) || m->bad)
		return;
	at = m->payload.size;
	append_u32(m, e->tail_size);
	if (!(e->type->flags & TYPE_VALUES)) {
		append(m, e->tail, e->tail_size);
	} else {
		m->bad = m->bad || values_copy(&m->payload, e->tail, e->tail_size,
					       stream_value_definition, m->ids);
		if (!m->bad)
			put_u32(m->payload.data + at, (uint32_t)(m->payload.size - at - 4));
	}
	align(m, 4);
}

/* Append the payload with the rows. Their times, and those of the block, are 0. */
static void put_rows(struct moved *m)
{
	const struct block *b = &m->from->rows;
	struct events it;
	struct event e;

	append(m, b->payload, EVENTS_HEADER);
	for (uint32_t i = 0; i < b->ntypes; i++)
		append_u32(m, type_id(m, b->types[i]));
	for (uint32_t i = 0; i < b->nlanes; i++)
		append_u32(m, lane_id(m, b->lanes[i]));
	for (uint32_t i = 1; i <= b->nlocations; i++)
		append_u32(m, location_id(m, b->locations[i]));
	align(m, 8);
	for (events_begin(&it, b); !m->bad && event_next(&it, &e);)
		put_row(m, &e);
	align(m, 8);
}

static void put_snapshot(struct moved *m)
{
	struct snapshot_head head = m->from->head;
	uint8_t p[SNAPSHOT_HEAD] = {0};
	size_t rows;

	if (head.first != UINT64_MAX)
		head.first = stream_moved(m->ids, head.first);
	head.latest = moved_time(m, head.latest);
	/* blocks of other inputs may follow */
	head.flags = (head.flags & ~(uint32_t)SNAPSHOT_RESTART) | SNAPSHOT_MORE;
	append(m, p, sizeof p);
	put_threads(m);
	put_frames(m);
	put_gone(m);
	rows = m->payload.size;
	if (head.frames)
		put_rows(m);
	head.rows = (uint32_t)(m->payload.size - rows);
	if (!m->bad)
		snapshot_put_head(m->payload.data, &head);
}

/* Begin a segment after the rows that were written. */
static int begin_segment(struct decoding *d)
{
	struct writer *w = d->writer;

	if (!d->snapshots)
		d->snapshots = snapshot_maker_new(w);
	if (!d->snapshots)
		return error_no_memory(&w->error);
	w->head.flags |= HEAD_SEGMENTED;
	return writer_begin_segment(w);
}

/* Have the maker drop the calls of the input's present stream. */
static int drop_calls(struct stream_ids *s)
{
	const struct dictionary *in = s->dictionary;
	struct decoding *d = s->input->decoding;
	size_t n = d->writer->entries[ENTRY_SOURCE].count;
	uint8_t *sources = calloc(n, 1);
	int bad;

	if (!sources)
		return error_no_memory(&d->writer->error);
	sources[0] = 1; /* lanes without a source are of any stream */
	for (uint32_t i = 0; i < in->sources.count; i++) {
		const struct source *source = pool_at(&in->sources, i);

		if (source->stream == in->stream)
			sources[stream_known(&s->maps[ENTRY_SOURCE], i)] = 1;
	}
	bad = snapshot_maker_inside(d->snapshots, sources, n);
	free(sources);
	return bad;
}

int stream_inside(struct stream_ids *s, bool begun)
{
	struct decoding *d = s->input->decoding;
	struct stream_map *lanes = &s->maps[ENTRY_LANE];
	bool fresh = !d->snapshots;

	if ((begun || fresh) && begin_segment(d))
		return -1;
	s->inside = d->adopted = true;
	/* lanes may have started in what was not read */
	if (lanes->size)
		memset(lanes->id, 0, lanes->size * sizeof(*lanes->id));
	if (drop_calls(s))
		return -1;
	/* calls of streams that precede this one in the input were not followed */
	if (fresh && s->dictionary->stream > 1)
		snapshot_maker_miss(d->snapshots);
	return 0;
}

int stream_adopt(struct stream_ids *s, const struct block *b)
{
	struct decoding *d = s->input->decoding;
	struct moved m = {
		.ids = s, .writer = d->writer, .from = b->snapshot, .payload = {.spills = true}};
	struct block to = *b;
	int bad;

	put_snapshot(&m);
	bad = m.bad || writer_send_dict(d->writer);
	if (!bad) {
		to.payload = m.payload.data;
		to.length = to.available = (uint32_t)m.payload.size;
		bad = snapshot_maker_adopt(d->snapshots, &to);
	}
	buffer_free(&m.payload);
	if (!bad)
		return 0;
	return d->writer->error.what[0] ? -1 : error_no_memory(&d->writer->error);
}

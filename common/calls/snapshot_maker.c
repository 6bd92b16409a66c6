#include "common/calls/snapshot_maker.h"
#include "common/calls/calls_rows.h"

#include <stdlib.h>

#include "common/calls/snapshot_maker_private.h"
#include "common/stream/field.h"

static int no_memory(struct snapshot_maker *m)
{
	return error_no_memory(&m->writer->error);
}

struct maker_stack *snapshot_maker_stack(struct snapshot_maker *m, uint32_t stack)
{
	struct maker_stack *stacks;

	if (ARRAY_REACH(m->stacks, m->nstacks, stack))
		return NULL;
	stacks = m->stacks;
	return &stacks[stack];
}

/* --- the calls below those in the kernel --- */

/* Note that the top call of a stack has ended, of those open when the kernel was entered. */
static void note_gone(struct snapshot_maker *m, struct maker_stack *t, uint32_t location)
{
	t->base--;
	if (buffer_u32(&t->gone, location))
		m->calls.out_of_memory = true;
}

static void on_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
		    enum calls_lost why)
{
	struct snapshot_maker *m = ctx;
	struct maker_stack *t = s->number < m->nstacks ? &m->stacks[s->number] : NULL;
	uint32_t *row = data;

	if (why == LOST_NUMBER) {
		snapshot_row_drop(m, *row);
		*row = 0;
	} else if (t && s == m->calls.stacks[s->number] && s->kernel && s->kernel->count &&
		   s->count + s->unseen < t->base) {
		note_gone(m, t, f->location);
	}
}

static bool in_kernel(const struct stack *s)
{
	return s && s->kernel && s->kernel->count;
}

/* Get the location of the enter of a call that a leave has just ended; of a call without an enter
 * that of the leave. */
static uint32_t ended_location(const struct snapshot_maker *m, const struct call *done)
{
	const uint32_t *row = done->data;
	struct event e;

	if (!row)
		return done->location;
	if (*row & ROW_KEPT)
		return snapshot_row(m, *row)->location;
	snapshot_row_event(m, *row, &e);
	return e.location;
}

/* Follow a row of a stack with calls in the kernel. done: the call that the row ended, on whichever
 * of the two stacks, or NULL. */
static int follow_kernel(struct snapshot_maker *m, struct stack *s, const struct call *done)
{
	struct maker_stack *t = snapshot_maker_stack(m, s->number);
	size_t count = s->count;
	uint32_t open;

	if (!t)
		return -1;
	/* without the frame that the row pushed */
	if (count && s->frames[count - 1].begun && !*frame_row(m, s, count - 1))
		count--;
	open = (uint32_t)count + s->unseen;
	if (!*frame_row(m, s->kernel, 0)) {
		t->base = open;
		t->gone.size = 0;
		return 0;
	}
	if (done && t->base > open) {
		/* calls without an enter that the leave dropped are above the one that it ended */
		while (t->base > done->level + 1)
			note_gone(m, t, 0);
		if (t->base == done->level + 1)
			note_gone(m, t, ended_location(m, done));
	}
	while (t->base > open)
		note_gone(m, t, 0);
	return m->calls.out_of_memory ? -1 : 0;
}

/* --- rows --- */

static void mark(struct snapshot_maker *m, struct stack *s, uint32_t handle)
{
	if (s->count && s->frames[s->count - 1].begun && !*frame_row(m, s, s->count - 1))
		*frame_row(m, s, s->count - 1) = handle;
}

static int note_numbered(struct snapshot_maker *m, enum calls_result got, const struct call *call,
			 uint32_t handle)
{
	uint32_t *row = got == CALLS_NONE ? NULL : call->data;

	if (got == CALLS_ENTER) {
		*row = handle;
		return buffer_u32(&m->numbered, (uint32_t)m->calls.open.recent.value);
	}
	if (got == CALLS_LEAVE) {
		snapshot_row_drop(m, *row);
		*row = 0;
	}
	return m->calls.out_of_memory ? -1 : 0;
}

static __attribute__((noinline)) int take_row(struct snapshot_maker *m, const struct event *e,
					      uint32_t handle)
{
	struct calls *c = &m->calls;
	uint32_t stack = calls_thread(e);
	struct call call;
	enum calls_result got = calls_next(c, e, &call);
	struct stack *s = stack < c->size ? c->stacks[stack] : NULL;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return note_numbered(m, got, &call, handle);
	if (c->out_of_memory)
		return -1;
	if (in_kernel(s)) {
		if (follow_kernel(m, s, got == CALLS_LEAVE ? &call : NULL))
			return -1;
		mark(m, s->kernel, handle);
	}
	if (s)
		mark(m, s, handle);
	return 0;
}

static inline uint32_t handle_of(const struct block *b, const uint8_t *row)
{
	return (uint32_t)((size_t)(row - b->row_data) / 4) + 1;
}

/* Process the rows of a narrow block, most of them in line. */
static int take_narrow(struct snapshot_maker *m, const struct block *b)
{
	const uint8_t *row = b->row_data;
	bool bare = b->row_flags & EVENTS_BARE;
	struct calls_rows cr;
	struct events it;

	if (calls_rows(&m->calls, b, &cr))
		return -1;
	events_begin(&it, b);
	for (uint32_t n = b->rows; n; n--) {
		const uint8_t *this = row;
		struct plain_row r = plain_row(&it, row);
		enum calls_result got;
		struct call call;
		struct event e;

		row = bare ? row + NARROW_ROW : row_after(b->types[r.type], row);
		if (cr.types[r.type].numbered == KIND_ENTER && n > 1) {
			struct plain_row l = plain_row(&it, row);

			if (calls_try_numbered(&m->calls, &cr, this, &r, row, &l)) {
				row = row_after(b->types[l.type], row);
				n--;
				continue;
			}
		}
		if (cr.types[r.type].instant) {
			calls_pass(&cr, &r);
			continue;
		}
		got = calls_quick_row(&m->calls, &cr, &r, &call, CALLS_WITH_DATA | CALLS_CAREFUL);
		if (got == CALLS_ENTER) {
			*(uint32_t *)call.data = handle_of(b, this);
		} else if (__builtin_expect(got == CALLS_SLOW, 0)) {
			it.row = this;
			event_next(&it, &e);
			if (take_row(m, &e, handle_of(b, this)))
				return -1;
		}
	}
	return 0;
}

static int take_rows(struct snapshot_maker *m, const struct block *b)
{
	struct events it;
	struct event e;

	if (!(b->row_flags & EVENTS_WIDE) && !m->tail)
		return take_narrow(m, b);
	events_begin(&it, b);
	for (uint32_t i = 0; i < b->rows && event_next(&it, &e); i++) {
		if (take_row(m, &e, handle_of(b, e.row)))
			return -1;
	}
	return 0;
}

/* Keep the rows of numbered calls that were entered in the block and are still open. */
static int settle_numbered(struct snapshot_maker *m)
{
	for (size_t i = 0; i < m->numbered.size; i += 4) {
		uint32_t *row = calls_numbered_data(&m->calls, get_u32(m->numbered.data + i));
		struct event e;

		if (!*row || *row & ROW_KEPT)
			continue;
		snapshot_row_event(m, *row, &e);
		if (snapshot_row_keep(m, &e, row))
			return -1;
	}
	m->numbered.size = 0;
	return 0;
}

static int settle_block(struct snapshot_maker *m, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (snapshot_rows_settle(m, b->lanes[i]->thread) ||
		    snapshot_rows_settle(m, b->lanes[i]->cpu_thread))
			return -1;
	return settle_numbered(m);
}

static int take_events(struct snapshot_maker *m, const struct block *sent)
{
	struct block b = *sent;

	if (events_block_head(&b) || events_block_tables(&m->tables, &m->dictionary, &b))
		return 0; /* a block that a reader leaves out */
	if (sent->row_data) {
		b.row_data = sent->row_data;
		b.row_size = sent->row_size;
	} else if (events_block_rows(&b, READS_NO_VALUES)) {
		return 0;
	}
	if (m->first == UINT64_MAX)
		m->first = b.base;
	if (b.last > m->latest)
		m->latest = b.last;
	m->block = &b;
	return take_rows(m, &b) || settle_block(m, &b) ? -1 : 0;
}

/* --- blocks --- */

/* End all calls: another stream begins. */
static int begin_stream(struct snapshot_maker *m)
{
	calls_free(&m->calls);
	calls_init(&m->calls, &m->dictionary);
	m->calls.data_size = sizeof(uint64_t); /* a handle */
	m->calls.on_lost = on_lost;
	m->calls.on_lost_ctx = m;
	snapshot_rows_free(m);
	m->threads = 0;
	m->first = UINT64_MAX;
	m->latest = 0;
	m->flags = 0;
	return 0;
}

/* Note which stacks have started, for the lanes that the segment declares. */
static int note_started(struct snapshot_maker *m)
{
	for (uint32_t i = 0; i < m->calls.size; i++) {
		const struct stack *s = m->calls.stacks[i];
		struct maker_stack *t;

		if (!s || !(s->started || (s->asks_lane && dictionary_started(&m->dictionary, i))))
			continue;
		t = snapshot_maker_stack(m, i);
		if (!t)
			return -1;
		t->started = true;
	}
	return 0;
}

static int take_head(struct snapshot_maker *m, const struct block *b)
{
	uint32_t sequence = get_u32(b->payload + 4);
	uint64_t stream_id = get_u64(b->payload + 8);
	bool same = m->segments && sequence && stream_id == m->stream_id;

	m->segments = same ? m->segments + 1 : 1;
	m->stream_id = stream_id;
	dictionary_segment(&m->dictionary, !same);
	snapshot_segment(&m->snapshot, false);
	if (same)
		return note_started(m);
	m->inside = sequence > 0;
	return begin_stream(m);
}

static int take_dict(struct snapshot_maker *m, const struct block *b)
{
	struct error ignored; /* every reader of the stream reports it */
	size_t where;

	dictionary_read(&m->dictionary, b->payload, b->length, &where, &ignored);
	return snapshot_ids_note(m, b->payload, b->length);
}

static int sent(void *ctx, const struct block *b, const struct iovec *tail)
{
	struct snapshot_maker *m = ctx;
	int bad = 0;

	m->tail = tail->iov_len ? tail->iov_base : NULL;
	m->tail_size = (uint32_t)tail->iov_len;
	switch (b->kind) {
	case BLOCK_HEAD: bad = take_head(m, b); break;
	case BLOCK_DICT: bad = take_dict(m, b); break;
	case BLOCK_EVENTS: bad = take_events(m, b); break;
	}
	return bad ? no_memory(m) : 0;
}

static int send(void *ctx)
{
	return snapshot_write(ctx);
}

/* The size of the next snapshot. Each makes a pass over all stacks of the stream: some bytes for
 * these too, so that the passes do not take longer than the rows. */
static uint64_t size(void *ctx)
{
	const struct snapshot_maker *m = ctx;
	uint64_t frames = m->kept.open, pass = m->calls.size / 8;

	return pass + SNAPSHOT_HEAD + EVENTS_HEADER + m->threads * SNAPSHOT_THREAD +
	       frames * (SNAPSHOT_FRAME + WIDE_ROW + 4) + m->kept.live + m->dict_bytes;
}

/* --- the maker --- */

struct snapshot_maker *snapshot_maker_new(struct writer *w)
{
	struct snapshot_maker *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->writer = w;
	/* a later segment of a stream may be the first with snapshots */
	m->segments = w->in_segment || w->more_follows;
	m->stream_id = w->head.stream_id;
	if (dictionary_init(&m->dictionary)) {
		free(m);
		return NULL;
	}
	begin_stream(m);
	w->snapshots = (struct writer_snapshots){.sent = sent,
						 .send = send,
						 .size = size,
						 .lane_flags = snapshot_lane_flags,
						 .ctx = m};
	return m;
}

void snapshot_maker_free(struct snapshot_maker *m)
{
	if (!m)
		return;
	m->writer->snapshots = (struct writer_snapshots){0};
	calls_free(&m->calls);
	snapshot_rows_free(m);
	snapshot_ids_free(m);
	snapshot_free(&m->snapshot);
	events_tables_free(&m->tables);
	buffer_free(&m->numbered);
	dictionary_free(&m->dictionary);
	free(m);
}

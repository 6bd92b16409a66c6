/*
 * calls_writer.c - writes the calls that are open where a segment begins: its SNAPSHOT
 *
 * It follows the calls of all blocks that are written. The rows of their enters outlive the blocks.
 *
 *     DICT    thread 7, main, f
 *     EVENTS  > main > f ...
 *     END
 *     HEAD    the next segment
 *     DICT    thread 7, main, f          declared again: the snapshot names them
 *     SNAPSHOT  thread 7: main since 10, f since 12
 *     EVENTS  < f ...
 */
#include "common/calls/calls_writer.h"

#include <stdlib.h>

#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/stream/snapshot.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"

/*
 * The row of a call's enter has a handle: in the present block 1 more than its position in words of
 * 4 bytes, else ROW_KEPT and an index of kept rows. 0: a frame without a row.
 */
#define ROW_KEPT 0x80000000u

/* A row kept after its block. Its values name definitions by number, and its fields stacks. */
struct kept_row {
	size_t offset; /* of the fixed part in bytes, and of the tail after it */
	const struct type *type;
	const struct lane *lane;
	uint32_t location, depth;
	uint32_t tail_size;
	uint32_t next; /* free: index + 1 of the next free one */
};

struct followed_calls {
	/* the handles of the stack's frames at the end of the last block that had rows of it, u32
	   each; and of the calls in the kernel */
	struct buffer own, kernel;
	/* of the lowest call in the kernel: stack.kernel_base and gone, innermost first */
	uint32_t base;
	struct buffer gone;
	bool started; /* before the present segment */
};

struct calls_writer {
	struct writer *writer;
	struct dictionary dictionary;
	struct calls calls;
	struct events_tables tables;
	struct {
		struct kept_row *rows;
		size_t count, capacity;
		uint32_t free;	     /* index + 1 */
		uint32_t open;	     /* rows in use */
		struct buffer bytes; /* spills */
		size_t live;	     /* bytes of rows in use */
	} kept;
	struct followed_calls *stacks; /* by number */
	size_t nstacks;
	struct buffer numbered; /* indexes of numbered calls of this block, u32 each */
	struct {
		uint32_t *id; /* by number */
		size_t size;
	} known[ENTRY_KINDS]; /* the last id of each entry */
	uint64_t stream_id, first, latest;
	uint64_t dict_bytes;	   /* of the declarations for the last snapshot */
	uint64_t threads;	   /* stacks with a kept row, at most */
	uint32_t flags;		   /* enum snapshot_flags of the next snapshot */
	bool inside;		   /* the stream was not read from its beginning, or not whole */
	uint64_t segments;	   /* of the stream, so far */
	const struct block *block; /* the present one */
	const void *tail;	   /* of its only row, where it is not among the rows; or NULL */
	uint32_t tail_size;
	struct snapshot snapshot; /* of upstream */
};

/* Get the handle of a frame. */
static inline uint32_t *frame_row(const struct calls_writer *m, const struct stack *s, size_t i)
{
	return calls_data(&m->calls, s, i);
}

static inline const struct kept_row *kept_row(const struct calls_writer *m, uint32_t handle)
{
	return &m->kept.rows[handle & ~ROW_KEPT];
}

/* NULL: out of memory. */
static struct followed_calls *followed_stack(struct calls_writer *m, uint32_t stack)
{
	return ARRAY_REACH(m->stacks, m->nstacks, stack) ? NULL : &m->stacks[stack];
}

/* --- ids --- */

static int note_id(struct calls_writer *m, uint32_t kind, uint32_t id)
{
	uint32_t number = idmap_get(&m->dictionary.ids[kind], id);

	if (!number)
		return 0; /* damaged */
	if (ARRAY_REACH(m->known[kind].id, m->known[kind].size, number))
		return -1;
	m->known[kind].id[number] = id;
	return 0;
}

static int ids_note(struct calls_writer *m, const uint8_t *payload, size_t n)
{
	struct raw_entry e;
	size_t at = 0;

	while (entry_next(payload, n, &at, &e) > 0)
		if (e.kind && e.kind < ENTRY_KINDS && e.kind != ENTRY_MAP &&
		    e.kind != ENTRY_SYMBOL && e.kind != ENTRY_THREAD && note_id(m, e.kind, e.id))
			return -1;
	return 0;
}

/* Get the id that an entry had last; 0: none. */
static uint32_t known_id(const struct calls_writer *m, enum entry_kind kind, uint32_t number)
{
	return number < m->known[kind].size ? m->known[kind].id[number] : 0;
}

static uint32_t started_flags(const struct calls_writer *m, uint32_t thread, uint32_t cpu_thread)
{
	bool started = thread < m->nstacks && m->stacks[thread].started,
	     cpu_started = cpu_thread < m->nstacks && m->stacks[cpu_thread].started;

	return (started ? LANE_STARTED : 0) | (cpu_started ? LANE_CPU_STARTED : 0);
}

static uint32_t lane_flags(void *ctx, const struct lane_entry *e)
{
	const struct calls_writer *m = ctx;
	const struct dictionary *d = &m->dictionary;
	uint32_t theirs = m->inside ? e->flags & (LANE_STARTED | LANE_CPU_STARTED) : 0;
	struct lane l = {.flags = e->flags & ~(uint32_t)(LANE_STARTED | LANE_CPU_STARTED),
			 .cpu = e->cpu,
			 .tid = e->tid,
			 .pid = e->pid};

	/* 0 is the unknown source; of others with that id the latest is of this stream */
	for (uint32_t i = d->sources.count; i-- && !l.source;)
		if (e->source ? known_id(m, ENTRY_SOURCE, i) == e->source : !i)
			l.source = pool_at(&d->sources, i);
	if (!l.source)
		return theirs;
	return theirs | started_flags(m, dictionary_find_thread(d, &l, false),
				      dictionary_find_thread(d, &l, true));
}

/* Declare an entry again, unless the segment has it. Returns its id. */
static uint32_t own_id(struct calls_writer *m, enum entry_kind kind, uint32_t number)
{
	uint32_t id = number ? known_id(m, kind, number) : 0;

	return writer_declare_again(m->writer, kind, id) ? 0 : id;
}

static uint32_t snapshot_declare_lane(struct calls_writer *m, const struct lane *l)
{
	return own_id(m, ENTRY_LANE, l->number);
}

static uint32_t snapshot_declare_type(struct calls_writer *m, const struct type *t)
{
	return t ? own_id(m, ENTRY_TYPE, t->number) : 0;
}

static int declare_thread(struct calls_writer *m, const struct thread_entry *t)
{
	/* the id has no meaning */
	return writer_append_content(m->writer, ENTRY_THREAD, 1, t);
}

static int declare_facts(struct calls_writer *m, uint32_t stack, uint32_t lane, bool per_cpu)
{
	const struct thread_facts *f = dictionary_facts(&m->dictionary, stack);
	struct thread_entry t = {.lane = lane, .flags = per_cpu ? THREAD_PER_CPU : 0};

	if (!f)
		return 0;
	if (f->left_out || f->unseen) {
		t.flags |= f->left_out ? THREAD_LEFT_OUT : 0;
		t.unseen = f->unseen;
		t.since = f->since;
		if (declare_thread(m, &t))
			return -1;
	}
	if (!f->last && !f->keeps_unseen && !f->has_open)
		return 0;
	t.flags |= THREAD_HAS_LAST | (f->keeps_unseen ? THREAD_UNSEEN : 0) |
		   (f->has_open ? THREAD_HAS_OPEN : 0);
	t.unseen = 0;
	t.since = 0;
	t.last = f->last;
	t.open = f->open;
	return declare_thread(m, &t);
}

/* --- rows of the enters of open calls, which outlive their blocks --- */

enum { GARBAGE = 1 << 20 }; /* bytes of rows of other calls that are kept at least */

static void snapshot_rows_free(struct calls_writer *m)
{
	for (size_t i = 0; i < m->nstacks; i++) {
		buffer_free(&m->stacks[i].own);
		buffer_free(&m->stacks[i].kernel);
		buffer_free(&m->stacks[i].gone);
	}
	free(m->stacks);
	free(m->kept.rows);
	buffer_free(&m->kept.bytes);
	m->stacks = NULL;
	m->nstacks = 0;
	memset(&m->kept, 0, sizeof m->kept);
	m->kept.bytes.spills = true;
}

static void row_get(const struct calls_writer *m, uint32_t handle, struct event *e)
{
	struct events it;

	events_begin(&it, m->block);
	it.row = m->block->row_data + ((size_t)handle - 1) * 4;
	event_next(&it, e);
	if (m->tail) {
		e->tail = m->tail;
		e->tail_size = m->tail_size;
	}
}

static uint32_t definition_number(void *ctx, uint32_t id)
{
	const struct definition *d = dictionary_definition_id(ctx, id);

	return d ? d->number : 0;
}

static uint32_t snapshot_stack_number(void *ctx, uint32_t id)
{
	return dictionary_stack_id(ctx, id);
}

/* Append bytes that may be many, without keeping them in memory. */
static int append_pieces(struct buffer *to, const uint8_t *p, size_t n)
{
	for (; n > BUFFER_PIECE; p += BUFFER_PIECE, n -= BUFFER_PIECE) {
		if (buffer_append(to, p, BUFFER_PIECE))
			return -1;
		buffer_rest(to);
	}
	return buffer_append(to, p, n);
}

static int keep_tail(struct calls_writer *m, const struct event *e)
{
	struct buffer *to = &m->kept.bytes;
	size_t before = to->size;
	struct dictionary *d = &m->dictionary;

	if (e->type->flags & TYPE_VALUES &&
	    !values_copy_is_same(e->tail, e->tail_size, definition_number, d)) {
		if (!values_copy(to, e->tail, e->tail_size, definition_number, d))
			return 0;
		to->size = before; /* malformed values: unchanged */
	}
	return append_pieces(to, e->tail, e->tail_size);
}

static size_t kept_row_size(const struct kept_row *r)
{
	return (size_t)r->type->fixed_size + r->tail_size;
}

/* Move the rows in use to another buffer, if most are not. */
static int compact_rows(struct calls_writer *m)
{
	struct buffer to = {.spills = true}, *bytes = &m->kept.bytes;

	if (bytes->size / 2 <= m->kept.live + GARBAGE / 2)
		return 0;
	for (size_t i = 0; i < m->kept.count; i++) {
		struct kept_row *r = &m->kept.rows[i];
		size_t at = to.size;

		if (!r->type)
			continue;
		if (append_pieces(&to, bytes->data + r->offset, kept_row_size(r))) {
			buffer_free(&to);
			return -1;
		}
		r->offset = at;
	}
	buffer_free(bytes);
	*bytes = to;
	return 0;
}

static int row_keep(struct calls_writer *m, const struct event *e, uint32_t *handle)
{
	struct buffer *bytes = &m->kept.bytes;
	struct kept_row r = {.offset = bytes->size,
			     .type = e->type,
			     .lane = e->lane,
			     .location = e->location,
			     .depth = e->depth};
	uint32_t index;

	if (e->type->fixed_size && buffer_append(bytes, e->fixed, e->type->fixed_size))
		return -1;
	if (e->type->fixed_size)
		field_map_stacks(e->type, bytes->data + r.offset, snapshot_stack_number,
				 &m->dictionary);
	if (e->tail_size && keep_tail(m, e))
		return -1;
	r.tail_size = (uint32_t)(bytes->size - r.offset - e->type->fixed_size);
	if (m->kept.free) {
		index = m->kept.free - 1;
		m->kept.free = m->kept.rows[index].next;
	} else {
		if (m->kept.count >= ROW_KEPT ||
		    ARRAY_GROW(m->kept.rows, m->kept.capacity, m->kept.count))
			return -1;
		index = (uint32_t)m->kept.count++;
	}
	m->kept.rows[index] = r;
	m->kept.live += kept_row_size(&r);
	m->kept.open++;
	*handle = index | ROW_KEPT;
	return 0;
}

static void row_drop(struct calls_writer *m, uint32_t handle)
{
	uint32_t index = handle & ~ROW_KEPT;

	if (!(handle & ROW_KEPT))
		return;
	m->kept.live -= kept_row_size(&m->kept.rows[index]);
	m->kept.open--;
	m->kept.rows[index] = (struct kept_row){.next = m->kept.free};
	m->kept.free = index + 1;
}

static int update_frames(struct calls_writer *m, struct stack *s, struct buffer *handles)
{
	size_t n = handles->size / 4;
	uint32_t last;

	/* a frame that is still there has all those below it */
	for (; n; n--) {
		last = get_u32(handles->data + 4 * (n - 1));
		if (n <= s->count && *frame_row(m, s, n - 1) == last)
			break;
		row_drop(m, last);
	}
	for (handles->size = 4 * n; n < s->count; n++) {
		uint32_t *row = frame_row(m, s, n);
		struct event e;

		if (!s->frames[n].begun)
			*row = 0;
		if (*row && !(*row & ROW_KEPT)) {
			row_get(m, *row, &e);
			if (row_keep(m, &e, row))
				return -1;
		}
		if (buffer_u32(handles, *row))
			return -1;
	}
	return 0;
}

static int update_stack(struct calls_writer *m, uint32_t stack)
{
	struct stack *s = stack < m->calls.size ? m->calls.stacks[stack] : NULL;
	struct followed_calls *t = s ? followed_stack(m, stack) : NULL;

	if (!t)
		return s ? -1 : 0;
	m->threads -= t->own.size || t->kernel.size;
	if (update_frames(m, s, &t->own) || (s->kernel && update_frames(m, s->kernel, &t->kernel)))
		return -1;
	m->threads += t->own.size || t->kernel.size;
	return compact_rows(m);
}

/* --- the calls below those in the kernel --- */

/* Note that the top call of a stack has ended, of those open when the kernel was entered. */
static void note_gone(struct calls_writer *m, struct followed_calls *t, uint32_t location)
{
	t->base--;
	if (buffer_u32(&t->gone, location))
		m->calls.out_of_memory = true;
}

static void snapshot_on_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
			     enum calls_lost why)
{
	struct calls_writer *m = ctx;
	struct followed_calls *t = s->number < m->nstacks ? &m->stacks[s->number] : NULL;
	uint32_t *row = data;

	if (why == LOST_NUMBER) {
		row_drop(m, *row);
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
static uint32_t ended_location(const struct calls_writer *m, const struct call *done)
{
	const uint32_t *row = done->data;
	struct event e;

	if (!row)
		return done->location;
	if (*row & ROW_KEPT)
		return kept_row(m, *row)->location;
	row_get(m, *row, &e);
	return e.location;
}

/* Follow a row of a stack with calls in the kernel. done: the call that the row ended, on whichever
 * of the two stacks, or NULL. */
static int follow_kernel(struct calls_writer *m, struct stack *s, const struct call *done)
{
	struct followed_calls *t = followed_stack(m, s->number);
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

static void snapshot_mark(struct calls_writer *m, struct stack *s, uint32_t handle)
{
	if (s->count && s->frames[s->count - 1].begun && !*frame_row(m, s, s->count - 1))
		*frame_row(m, s, s->count - 1) = handle;
}

static int note_numbered(struct calls_writer *m, enum calls_result got, const struct call *call,
			 uint32_t handle)
{
	uint32_t *row = got == CALLS_NONE ? NULL : call->data;

	if (got == CALLS_ENTER) {
		*row = handle;
		return buffer_u32(&m->numbered, (uint32_t)m->calls.open.recent.value);
	}
	if (got == CALLS_LEAVE) {
		row_drop(m, *row);
		*row = 0;
	}
	return m->calls.out_of_memory ? -1 : 0;
}

static __attribute__((noinline)) int snapshot_take_row(struct calls_writer *m,
						       const struct event *e, uint32_t handle)
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
		snapshot_mark(m, s->kernel, handle);
	}
	if (s)
		snapshot_mark(m, s, handle);
	return 0;
}

static inline uint32_t handle_of(const struct block *b, const uint8_t *row)
{
	return (uint32_t)((size_t)(row - b->row_data) / 4) + 1;
}

/* Process the rows of a narrow block, most of them in line. */
static int take_narrow(struct calls_writer *m, const struct block *b)
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
			if (snapshot_take_row(m, &e, handle_of(b, this)))
				return -1;
		}
	}
	return 0;
}

static int snapshot_take_rows(struct calls_writer *m, const struct block *b)
{
	struct events it;
	struct event e;

	if (!(b->row_flags & EVENTS_WIDE) && !m->tail)
		return take_narrow(m, b);
	events_begin(&it, b);
	for (uint32_t i = 0; i < b->rows && event_next(&it, &e); i++)
		if (snapshot_take_row(m, &e, handle_of(b, e.row)))
			return -1;
	return 0;
}

/* Keep the rows of numbered calls that were entered in the block and are still open. */
static int update_numbered(struct calls_writer *m)
{
	for (size_t i = 0; i < m->numbered.size; i += 4) {
		uint32_t *row = calls_numbered_data(&m->calls, get_u32(m->numbered.data + i));
		struct event e;

		if (!*row || *row & ROW_KEPT)
			continue;
		row_get(m, *row, &e);
		if (row_keep(m, &e, row))
			return -1;
	}
	m->numbered.size = 0;
	return 0;
}

static int update_block(struct calls_writer *m, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (update_stack(m, b->lanes[i]->thread) ||
		    update_stack(m, b->lanes[i]->cpu_thread))
			return -1;
	return update_numbered(m);
}

static int snapshot_take_events(struct calls_writer *m, const struct block *sent)
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
	return snapshot_take_rows(m, &b) || update_block(m, &b) ? -1 : 0;
}

/* --- the calls of an input --- */

static int restore_row(void *ctx, const struct event *e, const struct call *call)
{
	return row_keep(ctx, e, call->data);
}

/* Take over what the kernel's calls are called from. */
static int take_kernel(struct calls_writer *m, const struct stack *s)
{
	struct followed_calls *t = followed_stack(m, s->number);

	if (!t)
		return -1;
	t->base = s->kernel_base;
	t->gone.size = 0;
	for (uint32_t i = s->ngone; i--;)
		if (buffer_u32(&t->gone, s->gone[i]))
			return -1;
	return 0;
}

/* Begin to replace calls that are open. */
static void snapshot_begin_inside(struct calls_writer *m)
{
	m->inside = true;
	if (m->segments > 1)
		m->flags |= SNAPSHOT_RESTART;
	m->writer->calls_due = true;
}

/* Open the calls of m->snapshot. */
static int snapshot_take_calls(struct calls_writer *m)
{
	const struct snapshot *s = &m->snapshot;
	struct block own = {.kind = BLOCK_SNAPSHOT, .snapshot = &m->snapshot};
	struct snapshot_walk w;
	struct error e;

	if (!s->continues) {
		snapshot_rows_free(m);
		m->threads = 0;
		m->flags = 0;
		snapshot_begin_inside(m);
	}
	if (m->first == UINT64_MAX)
		m->first = s->head.first;
	m->flags |= s->head.flags & SNAPSHOT_APPROXIMATE;
	if (s->head.latest > m->latest)
		m->latest = s->head.latest;
	m->calls.on_restore = restore_row;
	m->calls.on_restore_ctx = m;
	if (calls_restore(&m->calls, &own, &e))
		return -1;
	snapshot_walk(&w, s);
	while (snapshot_next_thread(&w)) {
		uint32_t number = snapshot_stack(w.lane, w.thread.flags);

		if (update_stack(m, number) || (!(w.thread.flags & SNAPSHOT_CONTINUED) &&
						take_kernel(m, m->calls.stacks[number])))
			return -1;
		while (snapshot_next_frame(&w))
			;
	}
	return 0;
}

int calls_writer_take(struct calls_writer *m, const struct block *b)
{
	const char *fault = snapshot_read(&m->snapshot, &m->dictionary, b, READS_NO_VALUES);

	if (fault && fault != EVENTS_NO_MEMORY)
		return 0;
	return fault || snapshot_take_calls(m) ? error_no_memory(&m->writer->error) : 0;
}

static void drop_row(void *ctx, struct stack *s, const struct frame *f, void *data)
{
	uint32_t *row = data;

	(void)s;
	/* update_stack drops the rows of other calls */
	if (f->numbered)
		row_drop(ctx, *row);
}

int calls_writer_lose(struct calls_writer *m, const uint8_t *sources, size_t n)
{
	size_t count = m->dictionary.sources.count;
	uint8_t *numbers = calloc(count, 1);
	int bad = !numbers;

	for (uint32_t i = 0; !bad && i < count; i++) {
		uint32_t id = known_id(m, ENTRY_SOURCE, i);

		numbers[i] = id < n && sources[id];
	}
	snapshot_begin_inside(m);
	snapshot_segment(&m->snapshot, true);
	m->calls.on_forget = drop_row;
	bad = bad || calls_forget_sources(&m->calls, numbers);
	m->calls.on_forget = NULL;
	for (uint32_t i = 0; !bad && i < m->nstacks; i++)
		bad = update_stack(m, i);
	free(numbers);
	return bad ? error_no_memory(&m->writer->error) : 0;
}

void calls_writer_miss(struct calls_writer *m)
{
	m->flags |= SNAPSHOT_APPROXIMATE;
	m->writer->calls_due = true;
}

/* --- the snapshot of a segment --- */

enum {
	BLOCK_SIZE = 256 * 1024,  /* bytes of rows and records after which another block begins */
	GONE_LIMIT = 1024 * 1024, /* ids of one stack */
	TABLE_LIMIT = 65535,
};

enum { TABLE_TYPES, TABLE_LANES, TABLE_LOCATIONS, TABLES };

/* A block of the snapshot being built. */
struct building {
	struct calls_writer *m;
	struct snapshot_head head;
	struct buffer threads, frames, gone, rows, front;
	struct {
		uint32_t *index; /* by number: index + 1; 0 none */
		size_t size;
		struct buffer ids, numbers; /* u32 each, by index */
	} tables[TABLES];
	struct snapshot_thread thread; /* the last record */
	uint32_t stack;		       /* that it is of */
	uint32_t *numbered;	       /* indexes of the open numbered calls, by stack */
	size_t nnumbered, at;
	uint64_t sent; /* bytes of blocks */
	bool bare, bad;
};

static void built_no_memory(struct building *b)
{
	if (!b->bad)
		error_no_memory(&b->m->writer->error);
	b->bad = true;
}

/* Get the index of an entry in a table of the block, which the entry is added to; id is its id. */
static uint32_t table_index(struct building *b, int table, uint32_t number, uint32_t id)
{
	struct buffer *ids = &b->tables[table].ids;
	uint32_t *index;

	if (ARRAY_REACH(b->tables[table].index, b->tables[table].size, number)) {
		built_no_memory(b);
		return 0;
	}
	index = &b->tables[table].index[number];
	if (!*index) {
		if (buffer_u32(ids, id) || buffer_u32(&b->tables[table].numbers, number)) {
			built_no_memory(b);
			return 0;
		}
		*index = (uint32_t)(ids->size / 4);
	}
	return *index - 1;
}

static void clear_table(struct building *b, int table)
{
	struct buffer *numbers = &b->tables[table].numbers;

	for (size_t i = 0; i < numbers->size; i += 4)
		b->tables[table].index[get_u32(numbers->data + i)] = 0;
	b->tables[table].ids.size = numbers->size = 0;
}

static uint32_t table_count(const struct building *b, int table)
{
	return (uint32_t)(b->tables[table].ids.size / 4);
}

static uint32_t definition_id(void *ctx, uint32_t number)
{
	return own_id(ctx, ENTRY_DEFINITION, number);
}

static void put_row_tail(struct building *b, const struct kept_row *r, const uint8_t *tail)
{
	size_t at = b->rows.size, size;
	int bad = -1;

	if (buffer_u32(&b->rows, 0)) {
		built_no_memory(b);
		return;
	}
	if (r->type->flags & TYPE_VALUES)
		bad = values_copy(&b->rows, tail, r->tail_size, definition_id, b->m);
	if (bad) {
		b->rows.size = at + 4;
		bad = buffer_append(&b->rows, tail, r->tail_size);
	}
	size = b->rows.size - at - 4;
	if (bad || buffer_align(&b->rows, 4))
		built_no_memory(b);
	else
		put_u32(b->rows.data + at, (uint32_t)size);
}

static uint32_t stack_id(void *ctx, uint32_t number)
{
	return own_id(ctx, ENTRY_STACK, number);
}

static void snapshot_put_row(struct building *b, const struct kept_row *r)
{
	struct calls_writer *m = b->m;
	uint32_t lane = table_index(b, TABLE_LANES, r->lane->number,
				    snapshot_declare_lane(m, r->lane)),
		 type = table_index(b, TABLE_TYPES, r->type->number,
				    snapshot_declare_type(m, r->type)),
		 location = 0;
	const uint8_t *data = m->kept.bytes.size ? m->kept.bytes.data + r->offset : NULL;
	uint8_t p[WIDE_ROW];

	if (r->location)
		location = 1 + table_index(b, TABLE_LOCATIONS, r->location,
					   own_id(m, ENTRY_LOCATION, r->location));
	row_put_wide(p,
		     &(struct plain_row){
			     .lane = lane, .location = location, .type = type, .depth = r->depth});
	if (buffer_append(&b->rows, p, sizeof p) ||
	    (r->type->fixed_size && buffer_append(&b->rows, data, r->type->fixed_size)))
		built_no_memory(b);
	else
		field_map_stacks(r->type, b->rows.data + b->rows.size - r->type->fixed_size,
				 stack_id, m);
	b->bare = b->bare && !r->type->fixed_size && !(r->type->flags & TYPE_TAIL);
	if (r->type->flags & TYPE_TAIL)
		put_row_tail(b, r, data ? data + r->type->fixed_size : NULL);
}

/* Write the head of rows and their tables. */
static int put_tables(struct building *b)
{
	uint8_t head[EVENTS_HEADER] = {0};

	put_u32(head + 16, b->head.frames);
	put_u16(head + 20, (uint16_t)(EVENTS_WIDE | (b->bare ? EVENTS_BARE : 0)));
	put_u16(head + 22, (uint16_t)table_count(b, TABLE_TYPES));
	put_u16(head + 24, (uint16_t)table_count(b, TABLE_LANES));
	put_u32(head + 28, table_count(b, TABLE_LOCATIONS));
	if (buffer_append(&b->front, head, sizeof head))
		return -1;
	for (int i = 0; i < TABLES; i++)
		if (buffer_append(&b->front, b->tables[i].ids.data, b->tables[i].ids.size))
			return -1;
	return buffer_align(&b->front, 8);
}

/* Put all parts but the rows into front. */
static int put_front(struct building *b)
{
	uint8_t head[SNAPSHOT_HEAD];
	size_t rows;

	b->front.size = 0;
	if (buffer_append(&b->front, head, sizeof head) ||
	    buffer_append(&b->front, b->threads.data, b->threads.size) ||
	    buffer_append(&b->front, b->frames.data, b->frames.size) ||
	    buffer_append(&b->front, b->gone.data, b->gone.size) || buffer_align(&b->front, 8))
		return -1;
	rows = b->front.size;
	if (b->head.frames && (put_tables(b) || buffer_align(&b->rows, 8)))
		return -1;
	b->head.rows = (uint32_t)(b->front.size - rows + b->rows.size);
	snapshot_put_head(b->front.data, &b->head);
	return 0;
}

/* Set the frames of the last record. */
static void end_thread(struct building *b)
{
	if (b->threads.size)
		snapshot_put_thread(b->threads.data + b->threads.size - SNAPSHOT_THREAD,
				    &b->thread);
}

/* Send the block, after what it names. */
static int send_built(struct building *b, bool more)
{
	struct writer *w = b->m->writer;
	const struct buffer *tail_buffer = w->tail_buffer;
	struct iovec parts[2];
	int bad;

	end_thread(b);
	b->head.flags = b->m->flags | (more ? SNAPSHOT_MORE : 0);
	if (b->bad || put_front(b)) {
		built_no_memory(b);
		return -1;
	}
	parts[0] = (struct iovec){b->front.data, b->front.size};
	parts[1] = (struct iovec){b->rows.data, b->rows.size};
	b->sent += BLOCK_HEADER + b->front.size + b->rows.size;
	w->tail_buffer = &b->rows;
	bad = writer_send_dict(w) || writer_send_block(w, BLOCK_SNAPSHOT, BLOCK_MAY_SKIP, parts, 2);
	w->tail_buffer = tail_buffer;
	b->head.threads = b->head.frames = b->head.gone = 0;
	b->threads.size = b->frames.size = b->gone.size = 0;
	buffer_clear(&b->rows);
	b->bare = true;
	for (int i = 0; i < TABLES; i++)
		clear_table(b, i);
	b->bad = bad;
	return bad;
}

static void common_snapshot_put_thread(struct building *b)
{
	if (buffer_zero(&b->threads, SNAPSHOT_THREAD))
		built_no_memory(b);
	b->head.threads++;
}

/* Begin another block if the row does not fit the present one. */
static void snapshot_make_room(struct building *b, const struct kept_row *r)
{
	size_t have = b->rows.size + b->frames.size + b->threads.size,
	       row = (size_t)r->type->fixed_size + r->tail_size;

	if (!b->head.frames && row <= BLOCK_SIZE)
		return;
	if (have + row <= BLOCK_SIZE && table_count(b, TABLE_LANES) < TABLE_LIMIT &&
	    table_count(b, TABLE_TYPES) < TABLE_LIMIT)
		return;
	if (b->bad || send_built(b, true))
		return;
	b->thread.flags |= SNAPSHOT_CONTINUED;
	b->thread.frames = b->thread.gone = 0;
	b->thread.lane = snapshot_declare_lane(b->m, b->m->calls.stacks[b->stack]->lane);
	common_snapshot_put_thread(b);
}

static void common_snapshot_put_frame(struct building *b, const struct snapshot_frame *f,
				      uint32_t handle)
{
	uint8_t p[SNAPSHOT_FRAME];
	const struct kept_row *r;

	if (!(handle & ROW_KEPT) || b->bad)
		return;
	r = kept_row(b->m, handle);
	snapshot_make_room(b, r);
	if (b->bad)
		return;
	snapshot_put_frame(p, f);
	if (buffer_append(&b->frames, p, sizeof p))
		built_no_memory(b);
	snapshot_put_row(b, r);
	b->head.frames++;
	b->thread.frames++;
}

static void snapshot_put_frames(struct building *b, const struct stack *s, bool kernel)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct frame *f = &s->frames[i];
		uint32_t flags = kernel ? SNAPSHOT_IN_KERNEL : 0;

		if (kernel && !i && f->outside)
			flags |= SNAPSHOT_OUTSIDE;
		if (f->begun)
			common_snapshot_put_frame(b,
						  &(struct snapshot_frame){.start = f->start,
									   .child = f->child,
									   .depth = f->depth,
									   .flags = flags},
						  *frame_row(b->m, s, i));
	}
}

/* Test whether the next of the numbered calls is of a stack. */
static bool next_numbered_is_of(const struct building *b, uint32_t stack)
{
	return b->at < b->nnumbered &&
	       b->m->calls.numbered.calls[b->numbered[b->at]].thread == stack;
}

static void snapshot_put_numbered(struct building *b, uint32_t stack)
{
	const struct calls *c = &b->m->calls;

	for (; next_numbered_is_of(b, stack); b->at++) {
		uint32_t index = b->numbered[b->at];
		const uint32_t *row = calls_numbered_data(c, index);

		common_snapshot_put_frame(
			b, &(struct snapshot_frame){.start = c->numbered.calls[index].start}, *row);
	}
}

/* Set what a record has for calls in the kernel. */
static void set_kernel(struct building *b, const struct stack *s)
{
	struct snapshot_thread *t = &b->thread;
	const struct followed_calls *x = &b->m->stacks[s->number];
	size_t n = x->gone.size / 4;

	t->kernel_since = s->kernel_since;
	t->kernel_type = snapshot_declare_type(b->m, s->kernel->type);
	t->flags |= s->passed ? SNAPSHOT_PASSED : 0;
	t->base = x->base;
	t->gone = (uint32_t)(n < GONE_LIMIT ? n : GONE_LIMIT);
	for (size_t i = 0; i < t->gone; i++) {
		uint32_t location = get_u32(x->gone.data + 4 * (n - 1 - i));

		if (buffer_u32(&b->gone, own_id(b->m, ENTRY_LOCATION, location)))
			built_no_memory(b);
	}
	b->head.gone += t->gone;
}

static void snapshot_put_stack(struct building *b, uint32_t number, const struct lane *lane)
{
	struct calls_writer *m = b->m;
	const struct stack *s = number < m->calls.size ? m->calls.stacks[number] : NULL;
	bool per_cpu = lane->thread != number, charged = false;
	struct snapshot_thread *t = &b->thread;

	end_thread(b);
	b->stack = number;
	*t = (struct snapshot_thread){.lane = snapshot_declare_lane(m, lane),
				      .flags = per_cpu ? SNAPSHOT_PER_CPU : 0};
	if (!s || (!s->started && !s->asks_lane))
		t->flags |= SNAPSHOT_UNSTARTED;
	if (declare_facts(m, number, t->lane, per_cpu))
		built_no_memory(b);
	common_snapshot_put_thread(b);
	if (!s)
		return;
	charged = s->count && !s->frames[0].begun;
	t->flags |= charged ? SNAPSHOT_CHARGED : 0;
	t->last = s->last;
	t->type = snapshot_declare_type(m, s->type);
	t->unseen = s->unseen + charged;
	t->since = t->unseen ? s->unseen_since : 0;
	t->child = charged ? s->frames[0].child : 0;
	if (s->kernel && s->kernel->count)
		set_kernel(b, s);
	snapshot_put_frames(b, s, false);
	if (s->kernel)
		snapshot_put_frames(b, s->kernel, true);
	snapshot_put_numbered(b, number);
}

static bool snapshot_has_calls(const struct stack *s)
{
	return s && (s->count || s->unseen || (s->kernel && s->kernel->count));
}

/* Get the lane of a stack that needs a record; NULL: it needs none. */
static const struct lane *needs_record(const struct building *b, uint32_t number)
{
	const struct calls_writer *m = b->m;
	const struct stack *s = number < m->calls.size ? m->calls.stacks[number] : NULL;
	const struct thread_facts *f = dictionary_facts(&m->dictionary, number);

	if (s && s->lane && (snapshot_has_calls(s) || next_numbered_is_of(b, number)))
		return s->lane;
	if (!f || !f->unseen || (s && (s->started || s->asks_lane)))
		return NULL;
	return s && s->lane ? s->lane : f->lane;
}

static int by_stack(const void *a, const void *b, void *calls)
{
	const struct numbered_call *x = (struct numbered_call *)calls + *(const uint32_t *)a;
	const struct numbered_call *y = (struct numbered_call *)calls + *(const uint32_t *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static int list_numbered(struct building *b)
{
	const struct calls *c = &b->m->calls;
	const struct open_calls *o = &c->open;
	size_t n = 0;

	b->numbered = calloc(open_calls_count(o) + 1, sizeof(*b->numbered));
	if (!b->numbered)
		return -1;
	if (o->recent.key)
		b->numbered[n++] = (uint32_t)o->recent.value;
	for (struct key_map_slot *s = NULL; (s = key_map_next(&o->others, s));)
		b->numbered[n++] = (uint32_t)s->value - 1;
	qsort_r(b->numbered, n, sizeof(*b->numbered), by_stack, c->numbered.calls);
	b->nnumbered = n;
	return 0;
}

static void free_building(struct building *b)
{
	free(b->numbered);
	buffer_free(&b->threads);
	buffer_free(&b->frames);
	buffer_free(&b->gone);
	buffer_free(&b->rows);
	buffer_free(&b->front);
	for (int i = 0; i < TABLES; i++) {
		free(b->tables[i].index);
		buffer_free(&b->tables[i].ids);
		buffer_free(&b->tables[i].numbers);
	}
}

static int send_snapshot(void *ctx)
{
	struct calls_writer *m = ctx;
	struct writer *w = m->writer;
	struct building b = {.m = m,
			     .head = {.first = m->first, .latest = m->latest},
			     .rows = {.spills = true},
			     .bare = true};
	uint64_t before = w->segment_bytes + w->dict.size;
	size_t stacks = m->calls.size;

	if (stacks < m->dictionary.nfacts)
		stacks = m->dictionary.nfacts;
	if (list_numbered(&b))
		built_no_memory(&b);
	for (uint32_t i = 0; i < stacks && !b.bad; i++) {
		const struct lane *lane = needs_record(&b, i);

		if (lane)
			snapshot_put_stack(&b, i, lane);
	}
	if (!b.bad)
		send_built(&b, false);
	free_building(&b);
	m->flags = 0;
	m->dict_bytes = w->segment_bytes + w->dict.size - before - b.sent;
	return b.bad ? -1 : 0;
}

/* --- blocks that are written --- */

/* End all calls: another stream begins. */
static void begin_stream(struct calls_writer *m)
{
	calls_free(&m->calls);
	calls_init(&m->calls, &m->dictionary);
	m->calls.data_size = sizeof(uint64_t); /* a handle */
	m->calls.on_lost = snapshot_on_lost;
	m->calls.on_lost_ctx = m;
	snapshot_rows_free(m);
	m->threads = 0;
	m->first = UINT64_MAX;
	m->latest = 0;
	m->flags = 0;
}

/* Note which stacks have started, for the lanes that the segment declares. */
static int snapshot_note_started(struct calls_writer *m)
{
	for (uint32_t i = 0; i < m->calls.size; i++) {
		const struct stack *s = m->calls.stacks[i];
		struct followed_calls *t;

		if (!s || !(s->started || (s->asks_lane && dictionary_started(&m->dictionary, i))))
			continue;
		t = followed_stack(m, i);
		if (!t)
			return -1;
		t->started = true;
	}
	return 0;
}

static int snapshot_take_head(struct calls_writer *m, const struct block *b)
{
	uint32_t sequence = get_u32(b->payload + 4);
	uint64_t stream_id = get_u64(b->payload + 8);
	bool same = m->segments && sequence && stream_id == m->stream_id;

	m->segments = same ? m->segments + 1 : 1;
	m->stream_id = stream_id;
	dictionary_segment(&m->dictionary, !same);
	snapshot_segment(&m->snapshot, false);
	if (same)
		return snapshot_note_started(m);
	m->inside = sequence > 0;
	begin_stream(m);
	return 0;
}

static int snapshot_take_dict(struct calls_writer *m, const struct block *b)
{
	struct error ignored; /* every reader of the stream reports it */
	size_t where;

	dictionary_read(&m->dictionary, b->payload, b->length, &where, &ignored);
	return ids_note(m, b->payload, b->length);
}

static int sent(void *ctx, const struct block *b, const struct iovec *tail)
{
	struct calls_writer *m = ctx;
	int bad = 0;

	m->tail = tail->iov_len ? tail->iov_base : NULL;
	m->tail_size = (uint32_t)tail->iov_len;
	switch (b->kind) {
	case BLOCK_HEAD: bad = snapshot_take_head(m, b); break;
	case BLOCK_DICT: bad = snapshot_take_dict(m, b); break;
	case BLOCK_EVENTS: bad = snapshot_take_events(m, b); break;
	}
	return bad ? error_no_memory(&m->writer->error) : 0;
}

/* The size of the next snapshot. Each makes a pass over all stacks of the stream: some bytes for
 * these too, so that the passes do not take longer than the rows. */
static uint64_t size(void *ctx)
{
	const struct calls_writer *m = ctx;
	uint64_t frames = m->kept.open, pass = m->calls.size / 8;

	return pass + SNAPSHOT_HEAD + EVENTS_HEADER + m->threads * SNAPSHOT_THREAD +
	       frames * (SNAPSHOT_FRAME + WIDE_ROW + 4) + m->kept.live + m->dict_bytes;
}

/* --- the whole --- */

struct calls_writer *calls_writer_new(struct writer *w)
{
	struct calls_writer *m = calloc(1, sizeof(*m));

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
	w->calls = (struct writer_calls){.sent = sent,
					 .send = send_snapshot,
					 .size = size,
					 .lane_flags = lane_flags,
					 .ctx = m};
	return m;
}

void calls_writer_free(struct calls_writer *m)
{
	if (!m)
		return;
	m->writer->calls = (struct writer_calls){0};
	calls_free(&m->calls);
	snapshot_rows_free(m);
	for (int i = 0; i < ENTRY_KINDS; i++)
		free(m->known[i].id);
	snapshot_free(&m->snapshot);
	events_tables_free(&m->tables);
	buffer_free(&m->numbered);
	dictionary_free(&m->dictionary);
	free(m);
}

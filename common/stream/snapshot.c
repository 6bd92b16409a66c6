/*
 * snapshot.c - the content of SNAPSHOT blocks, as trstream(5) specifies it
 */
#include "common/stream/snapshot.h"

/* Order of the frames of a record. */
enum { FRAMES_OWN, FRAMES_KERNEL, FRAMES_NUMBERED };

void snapshot_put_head(uint8_t *p, const struct snapshot_head *h)
{
	put_u64(p, h->first);
	put_u64(p + 8, h->latest);
	put_u32(p + 16, h->flags);
	put_u32(p + 20, h->threads);
	put_u32(p + 24, h->frames);
	put_u32(p + 28, h->gone);
	put_u16(p + 32, SNAPSHOT_THREAD);
	put_u16(p + 34, SNAPSHOT_FRAME);
	put_u32(p + 36, h->rows);
}

void snapshot_put_thread(uint8_t *p, const struct snapshot_thread *t)
{
	put_u32(p, t->lane);
	put_u32(p + 4, t->flags);
	put_u64(p + 8, t->last);
	put_u64(p + 16, t->since);
	put_u64(p + 24, t->child);
	put_u64(p + 32, t->kernel_since);
	put_u32(p + 40, t->type);
	put_u32(p + 44, t->kernel_type);
	put_u32(p + 48, t->unseen);
	put_u32(p + 52, t->frames);
	put_u32(p + 56, t->base);
	put_u32(p + 60, t->gone);
}

static void snapshot_get_thread(const uint8_t *p, struct snapshot_thread *t)
{
	*t = (struct snapshot_thread){.lane = get_u32(p),
				      .flags = get_u32(p + 4),
				      .last = get_u64(p + 8),
				      .since = get_u64(p + 16),
				      .child = get_u64(p + 24),
				      .kernel_since = get_u64(p + 32),
				      .type = get_u32(p + 40),
				      .kernel_type = get_u32(p + 44),
				      .unseen = get_u32(p + 48),
				      .frames = get_u32(p + 52),
				      .base = get_u32(p + 56),
				      .gone = get_u32(p + 60)};
}

void snapshot_put_frame(uint8_t *p, const struct snapshot_frame *f)
{
	put_u64(p, f->start);
	put_u64(p + 8, f->child);
	put_u32(p + 16, f->depth);
	put_u32(p + 20, f->flags);
}

void snapshot_leave_out(uint8_t *payload, uint32_t i)
{
	size_t threads = (size_t)get_u32(payload + 20) * get_u16(payload + 32);
	uint8_t *flags = payload + SNAPSHOT_HEAD + threads + (size_t)i * get_u16(payload + 34) + 20;

	put_u32(flags, get_u32(flags) | SNAPSHOT_LEFT_OUT);
}

void snapshot_set_flags(uint8_t *payload, uint32_t flags)
{
	put_u32(payload + 16, get_u32(payload + 16) | flags);
}

static void get_frame(const uint8_t *p, struct snapshot_frame *f)
{
	*f = (struct snapshot_frame){.start = get_u64(p),
				     .child = get_u64(p + 8),
				     .depth = get_u32(p + 16),
				     .flags = get_u32(p + 20)};
}

/* --- walking --- */

void snapshot_walk(struct snapshot_walk *w, const struct snapshot *s)
{
	*w = (struct snapshot_walk){.snapshot = s};
	events_begin(&w->rows, &s->rows);
}

static const struct type *snapshot_type_of(const struct dictionary *d, uint32_t id)
{
	return dictionary_type(d, idmap_get(&d->ids[ENTRY_TYPE], id));
}

/* Convert ticks to ns, if their length is known. */
static void scale(uint64_t *time, const struct lane *lane)
{
	uint64_t tick = lane && lane->clock ? lane->clock->tick : 0;

	if (tick && __builtin_mul_overflow(*time, tick, time))
		*time = UINT64_MAX;
}

bool snapshot_next_thread(struct snapshot_walk *w)
{
	const struct snapshot *s = w->snapshot;
	const struct dictionary *d = s->dictionary;

	w->gone += w->thread.gone;
	if (w->threads == s->head.threads)
		return false;
	snapshot_get_thread(s->threads + w->threads++ * s->thread_size, &w->thread);
	w->left = w->thread.frames;
	w->lane = dictionary_lane(d, idmap_get(&d->ids[ENTRY_LANE], w->thread.lane));
	w->type = snapshot_type_of(d, w->thread.type);
	w->kernel_type = snapshot_type_of(d, w->thread.kernel_type);
	scale(&w->thread.last, w->lane);
	scale(&w->thread.since, w->lane);
	scale(&w->thread.child, w->lane);
	scale(&w->thread.kernel_since, w->lane);
	if (w->thread.since < s->since)
		w->thread.since = s->since;
	if (w->thread.kernel_since < s->since)
		w->thread.kernel_since = s->since;
	return true;
}

/* Nothing is known of the callees' times before the snapshot was made. */
static void clip_frame(struct snapshot_frame *f, const struct snapshot *s)
{
	uint64_t known = s->head.latest > s->since ? s->head.latest - s->since : 0;

	f->start = s->since;
	f->child = f->child < known ? f->child : known;
}

bool snapshot_next_frame(struct snapshot_walk *w)
{
	const struct snapshot *s = w->snapshot;

	if (!w->left || !event_next(&w->rows, &w->enter))
		return false;
	w->left--;
	get_frame(s->frames + w->frames++ * s->frame_size, &w->frame);
	scale(&w->frame.start, w->lane);
	scale(&w->frame.child, w->lane);
	if (w->frame.start < s->since)
		clip_frame(&w->frame, s);
	w->enter.time = w->frame.start;
	return true;
}

uint32_t snapshot_gone(const struct snapshot_walk *w, uint32_t i)
{
	const struct snapshot *s = w->snapshot;

	return idmap_get(&s->dictionary->ids[ENTRY_LOCATION],
			 get_u32(s->gone + 4 * ((size_t)w->gone + i)));
}

/* --- checks --- */

#define FAULT_SIZE "a snapshot whose parts do not fit their block"
#define FAULT_ID   "a snapshot that names an undeclared entry"
#define FAULT_CALL "a snapshot with impossible calls"

/* Find the parts of the block. */
static const char *read_parts(struct snapshot *s, const struct block *b)
{
	const uint8_t *p = b->payload;
	uint64_t threads, frames, gone;

	s->head = (struct snapshot_head){.first = get_u64(p),
					 .latest = get_u64(p + 8),
					 .flags = get_u32(p + 16),
					 .threads = get_u32(p + 20),
					 .frames = get_u32(p + 24),
					 .gone = get_u32(p + 28),
					 .rows = get_u32(p + 36)};
	s->thread_size = get_u16(p + 32);
	s->frame_size = get_u16(p + 34);
	if (s->thread_size < SNAPSHOT_THREAD || s->thread_size % 8 ||
	    s->frame_size < SNAPSHOT_FRAME || s->frame_size % 8 || s->head.rows % 8)
		return FAULT_SIZE;
	threads = (uint64_t)s->head.threads * s->thread_size;
	frames = (uint64_t)s->head.frames * s->frame_size;
	gone = align_up(4 * (uint64_t)s->head.gone, 8);
	if (SNAPSHOT_HEAD + threads + frames + gone + s->head.rows != b->length)
		return FAULT_SIZE;
	s->threads = p + SNAPSHOT_HEAD;
	s->frames = s->threads + threads;
	s->gone = s->frames + frames;
	s->rows = (struct block){.kind = BLOCK_EVENTS,
				 .length = s->head.rows,
				 .available = s->head.rows,
				 .file = b->file,
				 .payload = s->gone + gone};
	s->rows.offset = b->offset + (uint64_t)(s->rows.payload - p);
	return NULL;
}

/* Read the rows. A snapshot without frames needs none. */
static const char *snapshot_read_rows(struct snapshot *s, enum reads_values reads)
{
	struct block *b = &s->rows;
	const char *fault;

	if (!s->head.frames)
		return s->head.rows ? FAULT_SIZE : NULL;
	if (s->head.rows < EVENTS_HEADER)
		return FAULT_SIZE;
	fault = events_block_head(b);
	if (!fault)
		fault = events_block_tables(&s->tables, s->dictionary, b);
	if (!fault)
		fault = events_block_rows(b, reads);
	if (!fault && (b->rows != s->head.frames || b->last))
		fault = FAULT_SIZE;
	return fault;
}

static bool snapshot_declared(const struct snapshot *s, enum entry_kind kind, uint32_t id)
{
	return !id || idmap_get(&s->dictionary->ids[kind], id);
}

/* Check a frame: its kind, its place among the others, and that its row is of the stack. */
static bool frame_sane(struct snapshot *s, const struct snapshot_walk *w)
{
	const struct event *e = &w->enter;
	uint16_t flags = e->type->flags;
	bool kernel = w->frame.flags & SNAPSHOT_IN_KERNEL;
	uint32_t order = flags & TYPE_CALL_NUMBER ? FRAMES_NUMBERED
			 : kernel		  ? FRAMES_KERNEL
						  : FRAMES_OWN;

	if (e->type->kind != KIND_ENTER || order < s->order)
		return false;
	s->order = order;
	s->own += order == FRAMES_OWN;
	if (order == FRAMES_OWN && flags & TYPE_KERNEL)
		return false;
	if (order == FRAMES_KERNEL && !(flags & (TYPE_KERNEL | TYPE_INNER)))
		return false;
	return (flags & TYPE_PER_CPU ? e->lane->cpu_thread : e->lane->thread) == s->stack;
}

static const char *check_thread(struct snapshot *s, struct snapshot_walk *w)
{
	const struct snapshot_thread *t = &w->thread;
	bool same = t->flags & SNAPSHOT_CONTINUED;
	uint32_t stack;

	if (!w->lane || !snapshot_declared(s, ENTRY_TYPE, t->type) ||
	    !snapshot_declared(s, ENTRY_TYPE, t->kernel_type))
		return FAULT_ID;
	stack = snapshot_stack(w->lane, t->flags);
	if (same && (w->threads > 1 || !s->continues || stack != s->stack || t->gone))
		return FAULT_CALL;
	if (!same)
		s->own = s->order = 0;
	s->stack = stack;
	if (t->unseen > SNAPSHOT_UNSEEN || (!t->unseen && t->flags & SNAPSHOT_CHARGED) ||
	    t->frames > s->head.frames - w->frames || t->gone > s->head.gone - w->gone)
		return FAULT_CALL;
	while (snapshot_next_frame(w))
		if (!frame_sane(s, w))
			return FAULT_CALL;
	if (s->order >= FRAMES_KERNEL && t->base > s->own + t->unseen)
		return FAULT_CALL;
	for (uint32_t i = 0; i < t->gone; i++)
		if (!snapshot_declared(s, ENTRY_LOCATION,
				       get_u32(s->gone + 4 * ((size_t)w->gone + i))))
			return FAULT_ID;
	return NULL;
}

static const char *check_threads(struct snapshot *s)
{
	struct snapshot_walk w;
	const char *fault = NULL;

	snapshot_walk(&w, s);
	while (!fault && snapshot_next_thread(&w))
		fault = check_thread(s, &w);
	if (!fault && (w.frames != s->head.frames || w.gone != s->head.gone))
		fault = FAULT_CALL;
	return fault;
}

void snapshot_segment(struct snapshot *s, bool continues)
{
	s->more = continues;
	s->done = false;
}

const char *snapshot_read(struct snapshot *s, const struct dictionary *d, const struct block *b,
			  enum reads_values reads)
{
	const char *fault = NULL;

	s->dictionary = d;
	s->since = 0;
	s->continues = s->more;
	if (s->done && !(get_u32(b->payload + 16) & SNAPSHOT_RESTART))
		return "a snapshot after another one of its segment";
	fault = read_parts(s, b);
	if (!fault)
		fault = snapshot_read_rows(s, reads);
	if (!fault)
		fault = check_threads(s);
	if (fault)
		return fault;
	s->more = s->head.flags & SNAPSHOT_MORE;
	s->done = !s->more;
	return NULL;
}

struct block *block_enters(const struct block *b)
{
	return b->snapshot ? &b->snapshot->rows : NULL;
}

void snapshot_free(struct snapshot *s)
{
	events_tables_free(&s->tables);
}

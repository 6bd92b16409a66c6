/*
 * clip.c - the part of a stream that is encoded: --since, --until, --limit; and its parts: --split
 */
#include "cmd/trencode/clip.h"

#include <stdlib.h>

#include "cmd/trencode/encode.h"
#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"

enum {
	TAIL_MOST = 65536,    /* bytes of the tail of a leave at a cut */
	ROWS_LOOSE = 1 << 16, /* most bytes of clip.rows that are never packed */
	SLICE = 64,	      /* most rows between two tests of the size of a part */
	/* flags that an enter and its leave share */
	PAIRED = TYPE_INNER | TYPE_PER_CPU | TYPE_CALL_NUMBER | TYPE_KERNEL | TYPE_DEPTH
};

/* The enter of an open call, with the neighbours in the list of them. */
struct kept_enter {
	struct kept_enter *before, *after;
	uint64_t time;
	const struct type *type;
	const struct lane *lane;
	uint32_t location;
	bool shown, ignored;
	size_t at, size; /* of its row in clip.rows */
};

/* Data of an open call. */
struct clip_call {
	bool known, shown;	  /* shown: of a call that is known, and not kept */
	struct kept_enter *enter; /* NULL: is not kept */
};

/* --- rows outside of their blocks --- */

/* Append an event as a wide row. fixed NULL: both its fixed part and its tail are zeros. */
static int append_row(struct buffer *b, const struct event *ev)
{
	struct plain_row row = {.location = ev->location != 0, .depth = ev->depth};
	bool tail = ev->type->flags & TYPE_TAIL;
	size_t fixed = ev->type->fixed_size, padded = align_up(ev->tail_size, 4);
	size_t size = WIDE_ROW + fixed + (tail ? 4 + padded : 0);
	uint8_t *p;

	if (buffer_reserve(b, size))
		return -1;
	p = b->data + b->size;
	b->size += size;
	if (!ev->fixed)
		memset(p, 0, size);
	else if (fixed)
		memcpy(p + WIDE_ROW, ev->fixed, fixed);
	row_put_wide(p, &row);
	if (!tail)
		return 0;
	p += WIDE_ROW + fixed;
	put_u32(p, ev->tail_size);
	if (!ev->fixed || !padded)
		return 0;
	memset(p + padded, 0, 4);
	memcpy(p + 4, ev->tail, ev->tail_size);
	return 0;
}

/* --- parts --- */

/* Begin the time of the first part of a stream, if it has not begun. */
static int clip_begin_parts(struct clip *c, const struct lane *lane, uint64_t time, struct error *e)
{
	bool ticks = lane->clock->flags & CLOCK_TICKS;

	if (!c->split.time || c->ends)
		return 0;
	if (ticks && !c->split.tick)
		return error_set(
			e, lane->source ? lane->source->name.text : NULL, NO_OFFSET,
			"the clock counts ticks: use a size, as in --split 64M, or " TICK_HINT);
	c->step = ticks ? (c->split.time + c->split.tick - 1) / c->split.tick : c->split.time;
	c->ends = c->step < UINT64_MAX - time ? time + c->step : UINT64_MAX;
	return 0;
}

/* Begin a part: the first one, or after another one has ended. */
static void clip_begin_part(struct clip *c, uint32_t number, uint64_t time)
{
	c->part = (struct clip_part){.number = number, .latest = time, .slice = 1};
}

static int clip_next_part(struct clip *c, uint64_t time, bool same_stream, struct error *e)
{
	clip_begin_part(c, c->part.number + 1, time);
	return c->next_part(c->ctx, same_stream, e);
}

/* Note an event of the part, before it is shown. call: it begins or ends a call. */
static inline void note_in_part(struct clip *c, const struct event *ev, bool call)
{
	struct clip_part *p = &c->part;

	if (!p->any && c->split.bytes)
		p->begun_size = c->part_size(c->ctx);
	p->any = true;
	p->called |= call;
	p->latest = ev->time > p->latest ? ev->time : p->latest;
}

/* Note that rows of the part were shown. */
static void count_in_part(struct clip *c, const struct block *b)
{
	struct clip_part *p = &c->part;
	uint64_t size, most, rows;

	p->bytes += b->row_size;
	p->rows += b->rows;
	if (!c->split.bytes)
		return;
	size = c->part_size(c->ctx);
	most = c->split.bytes + p->begun_size;
	/* else all parts together are larger than the trace without limit */
	p->due = size >= most && p->rows >= p->continued / 4;
	/* the next test is when about half of what is missing is written */
	rows = size >= most	       ? SLICE
	       : size <= p->begun_size ? p->rows
				       : (most - size) / ((size - p->begun_size) / p->rows + 1) / 2;
	p->slice = rows < 1 ? 1 : rows > SLICE ? SLICE : (uint32_t)rows;
}

/*
 * Note that a thread has an enter or a leave in the part, of that depth. Calls that are open since
 * before the stream, which are not cut, are in each part in which their thread has such a row:
 * count those that are in an earlier part. Returns -1 when out of memory.
 */
static int clip_note_thread(struct clip *c, const struct event *ev)
{
	uint32_t thread = calls_thread(ev), most = ev->depth + (ev->type->kind == KIND_LEAVE);
	const struct stack *s = calls_thread_stack(&c->calls, thread);
	uint32_t *part, n = 0;

	if (!(ev->type->flags & TYPE_DEPTH) || ev->type->flags & (TYPE_KERNEL | TYPE_INNER))
		return 0;
	if (ARRAY_REACH(c->threads, c->nthreads, thread))
		return -1;
	part = &c->threads[thread].part;
	while (*part && *part <= c->part.number && s && n < s->count && n < most &&
	       !s->frames[n].begun)
		n++;
	c->cuts.unseen += n;
	*part = c->part.number + 1;
	return 0;
}

/* Find the cut before an event, at a time that is later than those of the part. Returns false if
 * there is none. */
static bool find_cut(struct clip *c, const struct event *ev)
{
	const struct field *own = field_by_role(ev->type, ROLE_SOURCE_TIME);
	bool differs = own && own->where == WHERE_FIXED && own->size == 8;

	c->cuts.time = ev->time;
	if (c->split.time && ev->time >= c->ends) {
		uint64_t begin = ev->time - (ev->time - c->ends) % c->step;

		c->ends = begin < UINT64_MAX - c->step ? begin + c->step : UINT64_MAX;
		/* a time between those of two events has no source's time */
		if (!differs && begin > c->part.latest)
			c->cuts.time = begin;
	} else if (!c->part.due || ev->time <= c->part.latest) {
		return false;
	}
	c->cuts.source_time = differs ? get_u64(ev->fixed + own->offset) : c->cuts.time;
	return !c->needs_calls || c->part.called;
}

/* --- enters of open calls --- */

/* Move the rows to the begin of their buffer, most of which is of calls that have ended. */
static void pack_rows(struct clip *c)
{
	struct buffer *b = &c->rows;
	size_t end = 0, piece = 0;

	for (struct kept_enter *n = c->oldest; n; n = n->after) {
		memmove(b->data + end, b->data + n->at, n->size);
		n->at = end;
		end = align_up(end + n->size, 8);
		piece += n->size;
		if (piece >= BUFFER_PIECE) {
			buffer_rest(b);
			piece = 0;
		}
	}
	b->size = end;
}

static struct kept_enter *add_enter(struct clip *c, const struct event *ev)
{
	struct kept_enter *n = c->spare ? c->spare : calloc(1, sizeof *n);

	if (!n)
		return NULL;
	c->spare = n->after;
	if (c->rows.size > ROWS_LOOSE && c->rows.size / 2 > c->kept)
		pack_rows(c);
	*n = (struct kept_enter){.before = c->newest,
				 .time = ev->time,
				 .type = ev->type,
				 .lane = ev->lane,
				 .location = ev->location,
				 .at = align_up(c->rows.size, 8)};
	if (buffer_align(&c->rows, 8) || append_row(&c->rows, ev)) {
		free(n);
		return NULL;
	}
	n->size = c->rows.size - n->at;
	c->kept += n->size;
	*(c->newest ? &c->newest->after : &c->oldest) = n;
	c->newest = n;
	return n;
}

static void remove_enter(struct clip *c, struct kept_enter *n)
{
	*(n->before ? &n->before->after : &c->oldest) = n->after;
	*(n->after ? &n->after->before : &c->newest) = n->before;
	if (!n->after)
		c->rows.size = n->at;
	c->kept -= n->size;
	n->after = c->spare;
	c->spare = n;
}

static void remove_enters(struct clip *c)
{
	while (c->newest)
		remove_enter(c, c->newest);
	buffer_clear(&c->rows);
	c->open = 0;
}

/* --- calls --- */

/* Forget a call that has ended. Returns whether it was shown. */
static bool clip_end_call(struct clip *c, struct clip_call *call)
{
	bool shown = call->enter ? call->enter->shown : call->shown;

	if (call->enter)
		remove_enter(c, call->enter);
	c->open -= shown;
	*call = (struct clip_call){0};
	return shown;
}

static void clip_on_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	(void)s;
	(void)f;
	(void)why;
	clip_end_call(ctx, data);
}

/* Keep the enter of a call that is shown, or may be shown at the beginning of the range. */
static int clip_keep_enter(struct clip *c, struct clip_call *call, const struct event *ev,
			   bool shown, bool ignored)
{
	struct event plain;
	struct kept_enter *n;

	if (__builtin_expect(clip_splits(c) && ev->type->flags & TYPE_VALUES &&
				     ev->tail_size > CLIP_ENTER_MOST,
			     0)) {
		plain = *ev;
		plain.tail_size = 0;
		ev = &plain;
	}
	n = add_enter(c, ev);
	if (!n)
		return -1;
	n->shown = shown;
	n->ignored = ignored;
	*call = (struct clip_call){.known = true, .enter = n};
	return 0;
}

/* Note that a call was entered. before: before the range. ignored: it is an ignored call. */
static int begin_call(struct clip *c, struct clip_call *call, const struct event *ev, bool shown,
		      bool before, bool ignored)
{
	if (!call)
		return 0;
	c->open += shown;
	if (before || (shown && clip_splits(c)))
		return clip_keep_enter(c, call, ev, shown, ignored);
	*call = (struct clip_call){.known = true, .shown = shown};
	return 0;
}

/* Count a call or an event. Returns false if it is beyond the limit. */
static bool clip_take(struct clip *c)
{
	if (c->count >= c->limit)
		return false;
	c->count++;
	return true;
}

/* --- showing --- */

/* Show a row of a block alone, at a time. */
static int show_row(struct clip *c, const struct block *b, const struct event *ev, uint64_t time,
		    struct error *e)
{
	struct block one = *b;

	one.row_size = row_size(b, ev->row);
	c->row.size = 0;
	if (buffer_append(&c->row, ev->row, one.row_size))
		return error_no_memory(e);
	row_move(c->row.data, b->row_flags & EVENTS_WIDE, ev->time - b->base);
	one.row_data = c->row.data;
	one.rows = 1;
	one.base = one.last = time;
	return c->show(c->ctx, &one, e);
}

/* Show the rows of a slice, which are adjacent rows of a block up to `end`. The slice is empty
 * afterwards, and begins at `next`. */
static int show_slice(struct clip *c, struct block *slice, const uint8_t *end, const uint8_t *next,
		      struct error *e)
{
	struct block part = *slice;

	part.row_size = (size_t)(end - part.row_data);
	slice->row_data = next;
	slice->rows = 0;
	if (!part.rows)
		return 0;
	if (c->show(c->ctx, &part, e))
		return -1;
	if (clip_splits(c))
		count_in_part(c, &part);
	return 0;
}

/* Show a row that is in no block, at a time. */
static int show_wide(struct clip *c, const struct event *ev, const uint8_t *row, size_t size,
		     struct error *e)
{
	const uint32_t locations[] = {0, ev->location};

	const struct block b = {
		.kind = BLOCK_EVENTS,
		.base = ev->time,
		.last = ev->time,
		.rows = 1,
		.row_flags = EVENTS_WIDE,
		.ntypes = 1,
		.nlanes = 1,
		.nlocations = 2,
		.types = (const struct type *[]){ev->type},
		.lanes = (const struct lane *[]){ev->lane},
		.locations = locations,
		.row_data = row,
		.row_size = size,
	};

	return c->show(c->ctx, &b, e);
}

/* Show the enter of an open call at a time. */
static int show_enter(struct clip *c, const struct kept_enter *n, uint64_t time, struct error *e)
{
	const uint8_t *row = c->rows.data + n->at;
	const struct event ev = {.time = time,
				 .type = n->type,
				 .lane = n->lane,
				 .location = n->location,
				 .depth = row_load(row, 0, true).depth};
	int bad;

	if (clip_splits(c) && clip_note_thread(c, &ev))
		return error_no_memory(e);
	bad = show_wide(c, &ev, row, n->size, e);
	c->read += n->size;
	if (c->read >= BUFFER_PIECE) {
		buffer_rest(&c->rows);
		c->read = 0;
	}
	return bad;
}

/* --- the range --- */

/* Find the range of a clock. */
static int clip_find_range(struct clip *c, const struct clock *clock,
			   const struct clock_window **range, struct error *e)
{
	if (ARRAY_REACH(c->begun, c->nbegun, clock->number))
		return error_no_memory(e);
	*range = time_window_of(&c->window, clock);
	if (!c->window.failed)
		return 0;
	*e = c->window.error;
	return -1;
}

/* Test whether a call is ignored because of the time of its enter (THREAD_OUTSIDE), and would count
 * at a later time. */
static bool never_counts(const struct clip *c, const struct kept_enter *n)
{
	uint32_t thread = n->type->flags & TYPE_PER_CPU ? n->lane->cpu_thread : n->lane->thread;

	return n->ignored && dictionary_left_out(c->calls.dictionary, thread);
}

/* Begin the range of a clock: the calls that are open begin there. */
static int begin_range(struct clip *c, const struct clock *clock, uint64_t since, struct error *e)
{
	if (c->begun[clock->number])
		return 0;
	c->begun[clock->number] = true;
	for (struct kept_enter *n = c->oldest; n; n = n->after) {
		if (n->lane->clock != clock || n->shown || never_counts(c, n) || !clip_take(c))
			continue;
		n->shown = true;
		c->open++;
		if (clip_begin_parts(c, n->lane, since, e) ||
		    show_enter(c, n, n->time > since ? n->time : since, e))
			return -1;
	}
	return 0;
}

/* Note the leave of a call, NULL: of none that is known. Returns whether to show it. */
static bool clip_leave(struct clip *c, struct clip_call *call, bool outside)
{
	if (call && call->known)
		return clip_end_call(c, call);
	/* the call began before the stream: it counts at its leave */
	return !outside && clip_take(c);
}

/* Pair an event. *data: the data of its call; NULL: it has none. */
static inline __attribute__((always_inline)) enum calls_result
pair(struct clip *c, const struct event *ev, struct clip_call **data, bool *ignored)
{
	struct call quick, call;
	enum calls_result got = calls_quick_event(&c->calls, ev, &quick);

	*ignored = false;
	if (__builtin_expect(got != CALLS_SLOW, 1)) {
		*data = quick.data;
		return got;
	}
	got = calls_next(&c->calls, ev, &call);
	*data = got == CALLS_NONE ? NULL : call.data;
	*ignored = got != CALLS_NONE && call.ignored;
	return got;
}

/* Note an event. Returns whether to show it, or -1: out of memory. */
static inline __attribute__((always_inline)) int clip_note(struct clip *c, const struct event *ev,
							   bool before, bool after)
{
	struct clip_call *call;
	bool inside = !before && !after, shown = inside, ignored;
	bool call_row = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	enum calls_result got;

	if (inside && clip_splits(c) && call_row && clip_note_thread(c, ev))
		return -1;
	got = pair(c, ev, &call, &ignored);
	if (__builtin_expect(c->calls.out_of_memory, 0))
		return -1;
	switch (ev->type->kind) {
	case KIND_ENTER:
		shown = inside && clip_take(c);
		if (begin_call(c, call, ev, shown, before, ignored))
			return -1;
		break;
	case KIND_LEAVE: shown = clip_leave(c, call, !inside); break;
	case KIND_GAP:
	case KIND_DROP: break;
	default: shown = inside && clip_take(c);
	}
	if (shown && inside && clip_splits(c))
		note_in_part(c, ev, got != CALLS_NONE && !ignored);
	return shown;
}

/*
 * Note that a thread has events after the range. Its calls that never return end at the end of the
 * range, as in trstat: a row that drops none is the last one of the thread.
 */
static int pass_range(struct clip *c, const struct event *ev, uint64_t until, struct error *e)
{
	uint32_t thread = calls_thread(ev);
	/* encoders may keep rows, which refer to their types */
	static const struct type drops[] = {{.kind = KIND_DROP},
					    {.kind = KIND_DROP, .flags = TYPE_PER_CPU}};
	bool per_cpu = ev->type->flags & TYPE_PER_CPU;
	struct event drop;
	const struct stack *s = calls_thread_stack(&c->calls, thread);

	if (ARRAY_REACH(c->threads, c->nthreads, thread))
		return error_no_memory(e);
	/* a leave is shown itself: before it, such a row would drop the calls inside of its call */
	if (c->threads[thread].passed || ev->type->kind == KIND_GAP ||
	    ev->type->kind == KIND_LEAVE || !s || !s->count)
		return 0;
	c->threads[thread].passed = true;
	drop = (struct event){
		.time = until, .type = &drops[per_cpu], .lane = ev->lane, .depth = WIDE_DEPTH_MOST};
	c->row.size = 0;
	return append_row(&c->row, &drop) ? error_no_memory(e)
					  : show_wide(c, &drop, c->row.data, c->row.size, e);
}

/* Take a row that may be outside of the range of its clock, or the first one in it. */
static int clip_take_edge(struct clip *c, const struct block *b, const struct event *ev,
			  const struct clock_window *range, struct error *e)
{
	uint64_t time = ev->time;
	bool before, after;
	int shown;

	if (time >= range->since && begin_range(c, ev->lane->clock, range->since, e))
		return -1;
	/* a clock can step back: a call goes on, at the beginning of the range */
	before = time < range->since &&
		 (!c->begun[ev->lane->clock->number] ||
		  (ev->type->kind != KIND_ENTER && ev->type->kind != KIND_LEAVE));
	after = time >= range->until;
	if (after && pass_range(c, ev, range->until, e))
		return -1;
	if (!before && !after && clip_begin_parts(c, ev->lane, time, e))
		return -1;
	shown = clip_note(c, ev, before, after);
	if (shown < 0)
		return error_no_memory(e);
	time = time < range->since ? range->since : after ? range->until : time;
	return shown ? show_row(c, b, ev, time, e) : 0;
}

/* --- leaves of calls that are open at a cut --- */

/* Count the bytes that two names have in common at their begin and at their end. */
static size_t common_bytes(struct text_ref a, struct text_ref b)
{
	size_t n = a.size < b.size ? a.size : b.size, front = 0, back = 0;

	while (front < n && a.text[front] == b.text[front])
		front++;
	while (back < n - front && a.text[a.size - 1 - back] == b.text[b.size - 1 - back])
		back++;
	return front + back;
}

/* Rate a type as that of the leaves of calls that an enter begins; 0: impossible. */
static size_t rate_leave(const struct type *enter, const struct type *leave)
{
	if (leave->kind != KIND_LEAVE || leave->source != enter->source ||
	    (leave->flags ^ enter->flags) & PAIRED)
		return 0;
	/* the group and the names count more than values, which a cut has not */
	return 1 + !(leave->flags & TYPE_VALUES) + 4 * common_bytes(enter->name, leave->name) +
	       (leave->group.number == enter->group.number ? 1 << 20 : 0);
}

/* Find the best type of leaves for an enter. Where the source has not declared one so far, it is
 * like that of the enter. NULL: out of memory. */
static const struct type *clip_find_type(struct clip *c, const struct type *enter)
{
	const struct type *best = NULL;
	struct type *made;
	size_t most = 0;

	for (uint32_t i = 1; i < c->calls.dictionary->types.count; i++) {
		const struct type *t = dictionary_type(c->calls.dictionary, i);
		size_t rating = rate_leave(enter, t);

		if (rating > most) {
			most = rating;
			best = t;
		}
	}
	if (best)
		return best;
	made = dictionary_add_type(c->calls.dictionary, enter);
	if (made)
		made->kind = KIND_LEAVE;
	return made;
}

/* Get the type of the leaves of calls that an enter begins. NULL: out of memory. */
static const struct type *leave_type(struct clip *c, const struct type *enter)
{
	if (ARRAY_REACH(c->leaves, c->nleaves, enter->number))
		return NULL;
	if (!c->leaves[enter->number])
		c->leaves[enter->number] = clip_find_type(c, enter);
	return c->leaves[enter->number];
}

/* Get the bytes of the tail of a row whose texts are empty and whose arrays have no elements. */
static size_t tail_size(const struct type *t)
{
	size_t size = 0;

	if (t->flags & TYPE_VALUES)
		return 0;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];
		size_t end = 0;

		switch (f->where) {
		case WHERE_TAIL:
			end = f->offset + (size_t)f->size * (f->count ? f->count : 1);
			break;
		case WHERE_DATA_LOC:
		case WHERE_REL_LOC: end = f->offset + 4; break;
		case WHERE_REST: end = f->offset; break;
		case WHERE_STRING: end = f->offset + 1; break;
		}
		/* a field further on has no value */
		size = end > size && end <= TAIL_MOST ? end : size;
	}
	return size;
}

/* Get the bytes of a field in a row; NULL: they are not in its fixed part or at a constant place of
 * its tail. *n: their number. */
static uint8_t *field_in_row(const struct type *t, uint8_t *fixed, const struct field *f, size_t *n)
{
	uint8_t *tail = fixed + t->fixed_size + 4;
	size_t size = t->flags & TYPE_TAIL ? get_u32(tail - 4) : 0;

	*n = (size_t)f->size * (f->count ? f->count : 1);
	if (f->where == WHERE_FIXED)
		return fixed + f->offset;
	if (f->where != WHERE_TAIL || f->offset > size || size - f->offset < *n)
		return NULL;
	return tail + f->offset;
}

static const struct field *clip_find_field(const struct type *t, struct text_ref name)
{
	for (uint32_t i = t->nfields; i-- > 0;)
		if (t->fields[i].name.number == name.number)
			return &t->fields[i];
	return NULL;
}

static bool clip_has_name(const struct field *f, const char *name)
{
	return !strcmp(f->name.text, name);
}

/* Copy a field that the enter has, too. */
static void copy_field(const struct type *enter, uint8_t *entered, const struct type *leave,
		       uint8_t *left, const struct field *f)
{
	const struct field *same = clip_find_field(enter, f->name);
	size_t n, size;
	uint8_t *to, *from;

	/* misc of perf's records distinguishes the enter from the leave */
	if (!same || same->where != f->where || clip_has_name(f, "misc"))
		return;
	to = field_in_row(leave, left, f, &n);
	from = field_in_row(enter, entered, same, &size);
	if (to && from && n == size)
		memcpy(to, from, n);
}

static void clip_put_number(const struct type *t, uint8_t *fixed, const struct field *f,
			    uint64_t number)
{
	bool big = t->flags & TYPE_BIG_ENDIAN && f->where == WHERE_TAIL;
	size_t n;
	uint8_t *to = field_in_row(t, fixed, f, &n);

	for (size_t i = 0; to && i < n; i++, number >>= i < 8 ? 8 : 0)
		to[big ? n - 1 - i : i] = i < 8 ? (uint8_t)number : 0;
}

/* Fill in a field that the enter does not have. */
static void fill_field(const struct clip *c, const struct kept_enter *n, const struct type *t,
		       uint8_t *fixed, const struct field *f)
{
	/* the record of the kernel's function graph repeats both times */
	bool kernel = !strcmp(t->group.text, "ftrace");

	if (f->role == ROLE_SOURCE_TIME)
		clip_put_number(t, fixed, f, c->cuts.source_time);
	else if (kernel && clip_has_name(f, "calltime"))
		clip_put_number(t, fixed, f, n->time);
	else if (kernel && clip_has_name(f, "rettime"))
		clip_put_number(t, fixed, f, c->cuts.time);
	else if (clip_has_name(f, "common_type"))
		clip_put_number(t, fixed, f, t->native);
}

/* Show the leave of an open call. */
static int show_leave(struct clip *c, const struct kept_enter *n, struct error *e)
{
	const struct type *t = leave_type(c, n->type);
	struct event ev = {
		.time = c->cuts.time, .type = t, .lane = n->lane, .location = n->location};

	if (!t)
		return error_no_memory(e);
	ev.depth = row_load(c->rows.data + n->at, 0, true).depth;
	ev.tail_size = (uint32_t)tail_size(t);
	c->row.size = 0;
	if (append_row(&c->row, &ev))
		return error_no_memory(e);
	for (uint32_t i = 0; i < t->nfields; i++) {
		uint8_t *fixed = c->row.data + WIDE_ROW;

		copy_field(n->type, c->rows.data + n->at + WIDE_ROW, t, fixed, &t->fields[i]);
		fill_field(c, n, t, fixed, &t->fields[i]);
	}
	return show_wide(c, &ev, c->row.data, c->row.size, e);
}

/* --- cuts --- */

/* Show the leaves of the open calls, the innermost first. */
static int clip_close_calls(struct clip *c, struct error *e)
{
	c->closing = true;
	for (const struct kept_enter *n = c->newest; n; n = n->before)
		if (n->shown && show_leave(c, n, e))
			return -1;
	c->closing = false;
	return 0;
}

/* Show the enters of the open calls. */
static int clip_open_calls(struct clip *c, struct error *e)
{
	for (struct kept_enter *n = c->oldest; n; n = n->after) {
		const struct field *own = field_by_role(n->type, ROLE_SOURCE_TIME);

		if (n->shown && never_counts(c, n)) {
			n->shown = false;
			c->open--;
		}
		if (!n->shown)
			continue;
		c->part.called |= !n->ignored;
		c->part.continued++;
		c->cuts.divided += !n->ignored;
		if (own && own->where == WHERE_FIXED && own->size == 8)
			put_u64(c->rows.data + n->at + WIDE_ROW + own->offset, c->cuts.source_time);
		if (show_enter(c, n, c->cuts.time, e))
			return -1;
	}
	return 0;
}

/* Cut before a row if the part ends there. */
static int take_cut(struct clip *c, struct block *slice, const struct event *ev, struct error *e)
{
	const struct clip_part *p = &c->part;

	if (c->split.time ? ev->time < c->ends : !p->due && slice->rows < p->slice)
		return 0;
	if (c->count >= c->limit)
		return 0;
	if (show_slice(c, slice, ev->row, ev->row, e))
		return -1;
	if (!find_cut(c, ev))
		return 0;
	return clip_close_calls(c, e) || clip_next_part(c, c->cuts.time, true, e) ||
			       clip_open_calls(c, e)
		       ? -1
		       : 0;
}

/* --- rows --- */

/* Note the events of a block, and show those in the range. inside: all are. */
static int clip_take_rows(struct clip *c, const struct block *b, bool inside, struct error *e)
{
	struct block slice = *b;
	bool splits = clip_splits(c);
	struct events it;
	struct event ev;

	slice.rows = 0;
	for (events_begin(&it, b); event_next(&it, &ev);) {
		const struct clock_window *range = NULL;
		int shown;

		if (!inside && clip_find_range(c, ev.lane->clock, &range, e))
			return -1;
		if (range && !(c->begun[ev.lane->clock->number] && ev.time >= range->since &&
			       ev.time < range->until)) {
			if (show_slice(c, &slice, ev.row, it.row, e) ||
			    clip_take_edge(c, b, &ev, range, e))
				return -1;
			continue;
		}
		if (splits &&
		    (clip_begin_parts(c, ev.lane, ev.time, e) || take_cut(c, &slice, &ev, e)))
			return -1;
		shown = clip_note(c, &ev, false, false);
		if (shown < 0)
			return error_no_memory(e);
		slice.rows += shown > 0;
		if (!shown && show_slice(c, &slice, ev.row, it.row, e))
			return -1;
	}
	return show_slice(c, &slice, it.row, it.row, e);
}

/* Note the events of a block whose events are all shown. */
static int note_rows(struct clip *c, const struct block *b, struct error *e)
{
	struct events it;
	struct event ev;

	for (events_begin(&it, b); event_next(&it, &ev);)
		if (clip_note(c, &ev, false, false) < 0)
			return error_no_memory(e);
	return 0;
}

/* Test whether a block is in the range of its clocks and below the limit. */
static int is_inside(struct clip *c, const struct block *b, bool *inside, struct error *e)
{
	*inside = c->limit - c->count >= b->rows;
	for (uint32_t i = 0; i < b->nlanes && *inside; i++) {
		const struct clock_window *range;

		if (clip_find_range(c, b->lanes[i]->clock, &range, e))
			return -1;
		*inside = b->base >= range->since && b->last < range->until;
		if (*inside && begin_range(c, b->lanes[i]->clock, range->since, e))
			return -1;
	}
	return 0;
}

static int clip_take_events(struct clip *c, const struct block *b, struct error *e)
{
	bool inside;

	if (is_inside(c, b, &inside, e))
		return -1;
	/* calls that begin with the range count */
	inside = inside && c->limit - c->count >= b->rows;
	if (!inside || clip_splits(c))
		return clip_take_rows(c, b, inside, e);
	return note_rows(c, b, e) || c->show(c->ctx, b, e) ? -1 : 0;
}

/* --- snapshots --- */

/* A call of a snapshot: it is shown with the snapshot, or kept as one before the range. */
static int on_restore(void *ctx, const struct event *ev, const struct call *restored)
{
	struct clip *c = ctx;
	bool before = !c->begun[ev->lane->clock->number];

	return begin_call(c, restored->data, ev, !before && !c->adopts_hidden, before,
			  restored->ignored);
}

/* Get the range of the calls of a snapshot, which are of one clock; NULL: the snapshot has none. */
static int snapshot_range(struct clip *c, const struct snapshot *s, const struct lane **lane,
			  const struct clock_window **range, struct error *e)
{
	struct snapshot_walk w;

	*lane = NULL;
	snapshot_walk(&w, s);
	if (!snapshot_next_thread(&w) || !w.lane)
		return 0;
	*lane = w.lane;
	return clip_find_range(c, w.lane->clock, range, e);
}

/*
 * Adopt the snapshot of a segment. Enters that are kept are replaced even where all of the stream
 * was read: the ids in their values are those of one segment.
 */
static int clip_take_snapshot(struct clip *c, const struct block *b, struct snapshot *s,
			      struct error *e)
{
	const struct clock_window *range;
	const struct lane *lane;
	struct block clipped = *b;
	uint8_t *begun;

	if (snapshot_range(c, s, &lane, &range, e))
		return -1;
	if (!lane)
		return b->snapshot ? c->show(c->ctx, b, e) : 0;
	begun = &c->begun[lane->clock->number];
	if (*begun && !b->snapshot &&
	    (!clip_splits(c) || c->count >= c->limit || s->head.latest >= range->until))
		return 0;
	if (b->snapshot && s->head.latest >= range->since)
		*begun = true;
	if (!s->continues)
		remove_enters(c);
	c->adopts_hidden = s->head.latest >= range->until;
	clipped.snapshot = s;
	if (calls_restore(&c->calls, &clipped, e))
		return -1;
	if (!b->snapshot || !*begun || c->adopts_hidden)
		return 0;
	s->since = range->since;
	return c->show(c->ctx, &clipped, e);
}

int clip_stream(struct clip *c, struct error *e)
{
	calls_forget_all(&c->calls);
	remove_enters(c);
	c->ends = 0;
	return c->part.any ? clip_next_part(c, 0, false, e) : 0;
}

int clip_block(struct clip *c, struct reader *in, const struct block *b, struct error *e)
{
	time_window_block(&c->window, b, b->kind == BLOCK_HEAD && !in->head.sequence);
	if (b->kind == BLOCK_SNAPSHOT)
		return clip_take_snapshot(c, b, &in->snapshot, e);
	return b->kind == BLOCK_EVENTS && b->rows ? clip_take_events(c, b, e) : 0;
}

void clip_init(struct clip *c, struct dictionary *d)
{
	calls_init(&c->calls, d);
	c->calls.data_size = sizeof(struct clip_call);
	c->calls.balances = c->calls.pairs_only = true;
	c->calls.on_lost = clip_on_lost;
	c->calls.on_lost_ctx = c;
	c->calls.on_restore = on_restore;
	c->calls.on_restore_ctx = c;
	c->rows.spills = true;
	clip_begin_part(c, 0, 0);
}

void clip_free(struct clip *c)
{
	remove_enters(c);
	for (struct kept_enter *n = c->spare, *after; n; n = after) {
		after = n->after;
		free(n);
	}
	calls_free(&c->calls);
	buffer_free(&c->rows);
	buffer_free(&c->row);
	free(c->begun);
	free(c->threads);
	free(c->leaves);
	time_window_free(&c->window);
}

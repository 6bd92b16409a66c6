/*
 * writer_rows.c - writes rows into narrow or wide blocks, and gaps
 */
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/stream/writer_private.h"
#include "common/stream/writer_rows.h"

enum {
	LARGE_TAIL = 32 * 1024, /* tails of this size are not copied */
	FEW_ROWS = 64,		/* as few rows are widened rather than sent */
	ROW_LIMIT = EVENTS_LIMIT -
		    4096, /* a row with a large tail, without its block's head and tables */
};

static int add_slot(struct slots *s, uint32_t number, uint32_t id, uint32_t block, uint32_t offset)
{
	uint32_t *ids;

	if (ARRAY_REACH(s->slot, s->size, number))
		return -1;
	if (ARRAY_GROW(s->ids, s->capacity, s->count))
		return -1;
	ids = s->ids;
	ids[s->count] = id;
	s->slot[number] = (struct slot){block, s->count++ + offset};
	return 0;
}

static inline bool has_slot(const struct slots *s, uint32_t number, uint32_t block)
{
	return number < s->size && s->slot[number].block == block;
}

/* Convert the rows so far to the wide form. They are few. */
static int widen(struct writer *w)
{
	size_t size = (size_t)(w->block.row - w->block.rows),
	       room = (size_t)(w->block.limit - w->block.rows);
	uint8_t *old, *from, *to;

	if (w->block.count) {
		/* the rows of a bare block have one size; other rows are walked by their types
		 */
		if (!w->block.bare || size * 2 + 4096 > room)
			return 1;
		old = malloc(size);
		if (!old)
			return writer_no_memory(w);
		memcpy(old, w->block.rows, size);
		for (from = old, to = w->block.rows; from < old + size;
		     from += NARROW_ROW, to += WIDE_ROW) {
			struct plain_row r = row_read(from, 0);

			row_put_wide(to, &r);
		}
		w->block.row = to;
		free(old);
	}
	w->block.narrow = w->block.quick = false;
	return 0;
}

static void start_block(struct writer *w, uint64_t time)
{
	w->block.base = w->block.last = time;
	w->block.bare = w->block.started = true;
	/* in the last 16 ms of the range of times a step back would look like a step forward */
	w->block.narrow = !w->block.sparse && time < UINT64_MAX - NARROW_DELTA_MOST;
	w->block.quick = w->block.narrow && !w->refusal.each;
	w->block.sparse = false;
	w->block.started_at = writer_now();
}

/* Make room for a row of n bytes and 8 of padding after it. */
static int room_for(struct writer *w, size_t n)
{
	size_t used = (size_t)(w->block.row - w->block.rows),
	       have = (size_t)(w->block.limit - w->block.rows);
	uint8_t *rows;

	if (have - used >= n + 8)
		return 0;
	if (w->block.count)
		return 1; /* this block is full */
	rows = realloc(w->block.rows, n + 8 > ROWS_CAPACITY ? n + 8 : ROWS_CAPACITY);
	if (!rows)
		return writer_no_memory(w);
	w->block.rows = w->block.row = rows;
	w->block.limit = rows + (n + 8 > ROWS_CAPACITY ? n + 8 : ROWS_CAPACITY);
	return 0;
}

/* A row with the ids of its declarations. Lane, type and location of the row are numbers of slots.
 */
struct row_ids {
	struct new_row row;
	uint32_t lane, type, location; /* encoded ids */
	bool declared;
	bool sample; /* the location is a stack */
};

/* Get the table that a row's location is in. */
static inline struct slots *places_of(struct writer *w, const struct row_ids *ids)
{
	return ids->sample ? &w->block.stacks : &w->block.locations;
}

/* Test whether the row fits the present block. 0 yes; 1 no: a new block is needed; -1. */
static int fit(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	const struct slots *places = places_of(w, ids);
	uint64_t delta = r->time - w->block.base;
	bool small = delta <= NARROW_DELTA_MOST && r->depth <= NARROW_DEPTH_MOST &&
		     (w->block.types.count <= NARROW_TYPE_MOST ||
		      has_slot(&w->block.types, r->type, w->block.number)) &&
		     (w->block.lanes.count <= NARROW_LANE_MOST ||
		      has_slot(&w->block.lanes, r->lane, w->block.number)) &&
		     (places->count < NARROW_LOCATION_MOST || !r->location ||
		      has_slot(places, r->location, w->block.number));

	if (r->time < w->block.base || delta >> 48)
		return 1;
	if (!has_slot(&w->block.types, r->type, w->block.number) && w->block.types.count == 65535)
		return 1;
	if (!has_slot(&w->block.lanes, r->lane, w->block.number) && w->block.lanes.count == 65535)
		return 1;
	if (ids->sample && !has_slot(places, r->location, w->block.number) &&
	    places->count == 65535)
		return 1;
	if (w->block.narrow && !small) {
		int full = w->block.count > FEW_ROWS ? 1 : widen(w);

		/* rows this rare are cheaper in a block that is wide from its start */
		w->block.sparse =
			full > 0 && w->block.count <= FEW_ROWS && delta > NARROW_DELTA_MOST;
		return full;
	}
	return 0;
}

/* Declare entries without a slot in this block: they may be new to the segment, too. */
static int declare_for(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;

	if (!has_slot(&w->block.types, r->type, w->block.number) &&
	    writer_declare(w, ENTRY_TYPE, ids->type))
		return -1;
	if (!has_slot(&w->block.lanes, r->lane, w->block.number) &&
	    writer_declare(w, ENTRY_LANE, ids->lane))
		return -1;
	if (!has_slot(places_of(w, ids), r->location, w->block.number) &&
	    writer_declare(w, ids->sample ? ENTRY_STACK : ENTRY_LOCATION, ids->location))
		return -1;
	return 0;
}

static int tables_for(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	struct slots *places = places_of(w, ids);

	if (!ids->declared && declare_for(w, ids))
		return -1;
	if (!has_slot(&w->block.types, r->type, w->block.number) &&
	    add_slot(&w->block.types, r->type, ids->type, w->block.number, 0))
		return writer_no_memory(w);
	if (!has_slot(&w->block.lanes, r->lane, w->block.number) &&
	    add_slot(&w->block.lanes, r->lane, ids->lane, w->block.number, 0))
		return writer_no_memory(w);
	if (!has_slot(places, r->location, w->block.number)) {
		if (!r->location) {
			/* index 0 means no location and is in no table */
			if (add_slot(places, 0, 0, w->block.number, 0))
				return writer_no_memory(w);
			places->count--;
			places->slot[0].index = 0;
		} else if (add_slot(places, r->location, ids->location, w->block.number, 1)) {
			return writer_no_memory(w);
		}
	}
	return 0;
}

bool writer_take_location(struct writer *w, uint32_t location)
{
	const struct stored_entries *e = &w->entries[ENTRY_LOCATION];

	if (!w->block.started || !w->block.narrow || !location || location >= e->count ||
	    e->entry[location].segment != w->segment ||
	    w->block.locations.count >= NARROW_LOCATION_MOST ||
	    has_slot(&w->block.locations, location, w->block.number))
		return false;
	return !add_slot(&w->block.locations, location, location, w->block.number, 1);
}

static void put_row(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	struct plain_row row = {.time = r->time - w->block.base,
				.lane = w->block.lanes.slot[r->lane].index,
				.location = places_of(w, ids)->slot[r->location].index,
				.type = w->block.types.slot[r->type].index,
				.depth = r->depth};
	uint8_t *p = w->block.row;

	if (w->block.narrow) {
		put_u64(p, row_make(row.time, row.lane, row.location, row.type, row.depth));
		p += NARROW_ROW;
	} else {
		row_put_wide(p, &row);
		p += WIDE_ROW;
	}
	if (r->fixed_size) {
		memcpy(p, r->fixed, r->fixed_size);
		p += r->fixed_size;
	}
	if (r->has_tail) {
		size_t padded = align_up(r->tail_size, 4);

		put_u32(p, r->tail_size);
		p += 4;
		memset(p + padded - (padded ? 4 : 0), 0, padded ? 4 : 0);
		if (r->tail_size)
			memcpy(p, r->tail, r->tail_size);
		p += padded;
	}
	w->block.row = p;
	w->block.count++;
	if (r->fixed_size || r->has_tail)
		w->block.bare = false;
	if (r->time > w->block.last)
		w->block.last = r->time;
}

/* Write a row whose tail is too large to be copied: as a block of its own, directly from the
 * tail's buffer. */
static int put_large(struct writer *w, const struct row_ids *ids)
{
	struct row_ids head = *ids;

	head.row.tail_size = 0;
	if (tables_for(w, ids))
		return -1;
	put_row(w, &head);
	put_u32(w->block.row - 4, ids->row.tail_size);
	return writer_flush_large(w, ids->row.tail, ids->row.tail_size);
}

/* Test whether the next block begins a segment. Snapshots, and what segments declare again, take at
 * most a quarter of the stream each; a small dictionary may be declared again in each segment. */
static bool is_full(const struct writer *w)
{
	enum { SHARE = 4, SMALL = 64 * 1024 };
	const struct writer_calls *s = &w->calls;
	uint64_t repeated = w->repeated > SMALL ? w->repeated : 0;

	return w->segment_limit && w->segment_bytes >= w->segment_limit &&
	       w->segment_bytes / SHARE >= repeated &&
	       (!s->ctx || w->segment_bytes / SHARE >= s->size(s->ctx));
}

static int add_row(struct writer *w, const struct row_ids *ids)
{
	const struct new_row *r = &ids->row;
	size_t size = WIDE_ROW + (size_t)r->fixed_size +
		      (r->has_tail ? 4 + align_up(r->tail_size, 4) : 0);
	bool large = r->has_tail && r->tail_size > LARGE_TAIL && r->fixed_size < LARGE_TAIL;
	int full = 1;

	if (w->out_of_memory)
		return writer_no_memory(w);
	if (size > ROW_LIMIT)
		return error_set(&w->error, NULL, NO_OFFSET, "an event of %zu bytes is too large",
				 size);
	if (writer_need_segment(w))
		return -1;
	if (w->block.started && !large) {
		/* in this order: the block may grow when it is made to fit */
		full = fit(w, ids);
		if (!full)
			full = room_for(w, size);
		if (full < 0)
			return -1;
	}
	if (full) {
		if (w->block.started && writer_flush(w))
			return -1;
		if (!ids->declared && is_full(w) && writer_next_segment(w))
			return -1;
		writer_clear_block(w);
		start_block(w, r->time);
		if (fit(w, ids) || (!large && room_for(w, size)))
			return writer_no_memory(w);
		if (large)
			return put_large(w, ids);
	}
	if (tables_for(w, ids))
		return -1;
	put_row(w, ids);
	return 0;
}

static int new_row(struct writer *w, const struct new_row *r, bool sample)
{
	const struct row_refusal *no = &w->refusal;
	bool refused = no->row && no->row(no->ctx, r->time, r->lane, r->type, r->fixed);
	struct row_ids ids = {*r, r->lane, r->type, r->location, false, sample};
	int result = refused ? 0 : add_row(w, &ids);

	w->used.size = 0;
	return result;
}

int writer_row_slow(struct writer *w, struct new_row r)
{
	return new_row(w, &r, false);
}

int writer_sample(struct writer *w, struct new_row r)
{
	return new_row(w, &r, true);
}

void writer_refuse_rows(struct writer *w)
{
	w->refusal.each = true;
	w->block.quick = false;
}

static void count_gap(struct writer *w, uint32_t reason, uint32_t unit, uint64_t count)
{
	w->end.gaps++;
	if (reason != GAP_LOST)
		return;
	if (unit == GAP_EVENTS && count != UINT64_MAX) {
		w->end.lost += count;
		w->end.ever_lost += count;
	} else {
		w->end.lost_more = w->end.ever_lost_more = true;
	}
}

void writer_count_gap(struct writer *w, const struct event *e)
{
	struct gap_row g = {0};

	gap_get(e, &g);
	count_gap(w, g.reason, g.unit, g.count);
}

int writer_copy_row(struct writer *w, const struct block *b, const struct event *e)
{
	bool sample = e->type->kind == KIND_SAMPLE;
	struct row_ids ids = {.row = {.time = e->time,
				      .lane = e->lane->number,
				      .type = e->type->number,
				      .location = sample ? e->stack : e->location,
				      .depth = e->depth,
				      .fixed = e->fixed,
				      .fixed_size = e->type->fixed_size,
				      .tail = e->tail,
				      .tail_size = e->tail_size,
				      .has_tail = e->type->flags & TYPE_TAIL},
			      .declared = true,
			      .sample = sample};
	const struct new_row *r = &ids.row;
	const struct open_block *to = &w->block;

	if (to->narrow && !r->fixed_size && !r->has_tail &&
	    r->time - to->base <= NARROW_DELTA_MOST && r->depth <= NARROW_DEPTH_MOST &&
	    to->limit - to->row >= NARROW_ROW + 8 && has_slot(&to->types, r->type, to->number) &&
	    has_slot(&to->lanes, r->lane, to->number) &&
	    has_slot(places_of(w, &ids), r->location, to->number)) {
		put_row(w, &ids);
		return 0;
	}
	ids.lane = get_u32(b->lane_ids + 4 * e->lane_index);
	ids.type = get_u32(b->type_ids + 4 * e->type_index);
	if (e->location_index)
		ids.location = get_u32((sample ? b->stacks.ids : b->location_ids) +
				       4 * (size_t)(e->location_index - 1));
	if (add_row(w, &ids))
		return -1;
	if (e->type->kind == KIND_GAP)
		writer_count_gap(w, e);
	return 0;
}

int writer_bare_row(struct writer *w, const struct block *b, const struct event *e,
		    uint32_t type_id)
{
	return add_row(w, &(struct row_ids){.row = {.time = e->time,
						    .lane = e->lane->number,
						    .type = e->type->number,
						    .depth = e->depth},
					    .lane = get_u32(b->lane_ids + 4 * e->lane_index),
					    .type = type_id,
					    .declared = true});
}

static uint32_t gap_type(struct writer *w)
{
	struct field_entry fields[] = {
		{writer_text(w, "count"), 0, FIELD_UINT, ROLE_COUNT, WHERE_FIXED, 0, 8, 0, 0},
		{writer_text(w, "offset"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 8, 8, 0, 0},
		{writer_text(w, "reason"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 16, 4, 0, 0},
		{writer_text(w, "unit"), 0, FIELD_UINT, ROLE_NONE, WHERE_FIXED, 20, 4, 0, 0},
		{writer_text(w, "file"), 0, FIELD_STRING, ROLE_NONE, WHERE_REST, 4, 1, 0, 0},
	};
	struct member_entry reasons[] = {{writer_text(w, "lost"), GAP_LOST, GAP_LOST},
					 {writer_text(w, "damage"), GAP_DAMAGE, GAP_DAMAGE},
					 {writer_text(w, "unread"), GAP_UNREAD, GAP_UNREAD}};
	struct type_entry t = {.name = writer_text(w, "gap"),
			       .group = writer_text(w, "trutils"),
			       .kind = KIND_GAP,
			       .flags = TYPE_TAIL,
			       .fixed_size = 24,
			       .nfields = 5,
			       .fields = fields};

	fields[2].kind = FIELD_ENUM;
	fields[2].definition = writer_definition(
		w, &(struct definition_entry){.name = writer_text(w, "gap_reason"),
					      .kind = DEFINITION_ENUM,
					      .nmembers = 3,
					      .members = reasons});
	/* the tail: u32 bytes of the file's name, the name and a NUL, at which the field ends, the
	 * message */
	return writer_type(w, &t);
}

int writer_gap(struct writer *w, uint64_t time, uint32_t lane, const struct gap *g)
{
	size_t file = g->file ? strlen(g->file) : 0, message = g->message ? strlen(g->message) : 0;
	uint8_t fixed[24], tail[4 + 2048];
	uint32_t size = 4;

	if (!w->gap_type)
		w->gap_type = gap_type(w);
	if (w->refusal.row && w->refusal.row(w->refusal.ctx, time, lane, w->gap_type, NULL))
		return 0;
	if (file > 1024)
		file = 1024;
	if (message > 1000)
		message = 1000;
	put_u64(fixed, g->count);
	put_u64(fixed + 8, g->offset);
	put_u32(fixed + 16, g->reason);
	put_u32(fixed + 20, g->unit);
	if (file) {
		memcpy(tail + size, g->file, file);
		size += (uint32_t)file;
		tail[size++] = 0;
	}
	put_u32(tail, size - 4);
	if (message)
		memcpy(tail + size, g->message, message);
	if (writer_row_data(w, (struct new_row){.time = time,
						.lane = lane,
						.type = w->gap_type,
						.fixed = fixed,
						.fixed_size = sizeof fixed,
						.tail = tail,
						.tail_size = (uint32_t)(size + message),
						.has_tail = true}))
		return -1;
	count_gap(w, g->reason, g->unit, g->count);
	return 0;
}

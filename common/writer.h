/*
 * writer.h - a stream going out
 *
 * A source of events declares what it needs (writer_lane, writer_type, ...), gets ids back that
 * stay for the whole stream, and writes rows with them. Declarations are sent when a row of a
 * segment first uses them, so a new segment redeclares just what it needs.
 *
 * A filter passes blocks on (writer_pass), or single rows of them (writer_copy_row), with the
 * declarations as they came.
 *
 * Functions that return int: 0, or -1 with writer.error filled (output failed, or memory is out).
 * Functions that return an id: 0 when memory is out (and the next row fails).
 */
#ifndef TR_WRITER_H
#define TR_WRITER_H

#include "buffer.h"
#include "error.h"
#include "event.h"
#include "intern.h"
#include "output.h"
#include "progress.h"
#include "stream.h"

/* Where a lane, type or place stands in the tables of the present block. */
struct slot {
	uint32_t block; /* number of the block it was last used in */
	uint32_t index;
};

struct slots {
	struct slot *slot;
	size_t size;
	uint32_t *ids; /* the block's table: ids on the wire */
	size_t capacity;
	uint32_t count;
};

struct stored_entries {
	struct stored_entry *entry;
	size_t count, capacity;
};

struct writer {
	struct output *output;
	struct error error;

	/* what END will say */
	uint64_t events, gaps, lost, first, last_time;
	uint32_t status;
	char message[512];

	/* the block being made */
	uint8_t *rows, *row, *limit;
	uint64_t base, last;
	uint32_t count, block;
	bool narrow, bare, started;
	bool quick; /* rows may be put in line: narrow ones, and none is asked for by itself */
	uint64_t started_at; /* CLOCK_MONOTONIC ns of the first row */
	struct slots types, lanes, places;

	/* declarations */
	struct stored_entries entries[ENTRY_KINDS];
	struct intern strings;
	struct buffer arena, dict, scratch;
	uint32_t segment; /* counts from 1 */
	struct sent_meta *metas;
	size_t nmetas, metas_capacity;
	uint32_t gap_type;

	/* segments */
	uint64_t stream_id;
	uint32_t sequence;
	uint64_t segment_limit, segment_bytes;
	uint32_t head_flags;	   /* enum head_flags, to be set before HEAD is sent */
	struct buffer properties;  /* of HEAD */
	struct progress *progress; /* may be NULL: told of every block that is sent */
	uint64_t sent_bytes, sent_events;
	bool crc, in_segment, more_follows, sparse, out_of_memory;
	bool broken; /* a block went out in part: nothing more is written */
	/*
	 * Rows that are not wanted, NULL: none. A lane or type once refused is refused always, and
	 * times only below a first one that is wanted: so rows that fit the block as it is need not
	 * be asked. Where that is not so writer_refuse_rows says it. fixed: the row's, as its type
	 * declares it, or NULL.
	 */
	bool (*refuse)(void *ctx, uint64_t time, uint32_t lane, uint32_t type, const void *fixed);
	void *refuse_ctx;
	bool refuse_rows;
	struct buffer used; /* definitions that the next row names */
	/* where the tail of the next row may stand, if that spills (buffer_file.h); or NULL */
	const struct buffer *tail_buffer;
};

/* Entries as a source gives them; strings are ids of writer_string. */
struct clock_entry {
	uint32_t name, flags;
	int64_t wall;
};
struct source_entry {
	uint32_t format, name, word_size, big_endian;
};
struct lane_entry {
	uint32_t source, clock, buffer, comm, flags;
	int32_t cpu, tid, pid, ppid;
};
struct field_entry {
	uint32_t name, type_name;
	uint8_t kind, role, where;
	uint32_t offset, size, count, definition;
};
struct type_entry {
	uint32_t source, name, group, declaration;
	uint8_t kind, word_size;
	uint16_t flags;
	uint32_t fixed_size, native, nfields;
	const struct field_entry *fields;
};
struct member_entry {
	uint32_t name;
	uint64_t value;
};
struct space_entry {
	uint32_t source, name;
	int32_t pid;
	uint32_t flags;
};
struct map_entry {
	uint32_t space, flags;
	uint64_t start, end, offset, time;
	uint32_t epoch, path, build_id, table;
};
struct place_entry {
	uint32_t space, epoch;
	uint64_t address;
	uint32_t name;
	uint32_t arguments; /* definition of kind STRUCT: their names */
};
struct symbol_entry {
	uint64_t start, size;
	uint32_t line, flags;
	const char *name, *module, *file; /* NULL is "" */
	uint32_t name_size, module_size, file_size;
};

/* segment_limit: bytes after which a new segment begins, 0 never. */
int writer_init(struct writer *w, struct output *output, uint64_t segment_limit);
void writer_free(struct writer *w);

/* Properties of HEAD: HEAD_COMMAND for each stage, HEAD_SOURCE. */
int writer_property(struct writer *w, uint16_t key, const void *data, size_t n);
/* The command line of this stage. */
int writer_command(struct writer *w, int argc, char **argv);
/* Begin the first segment; rows may follow. The same inputs give the same id. */
int writer_begin(struct writer *w, uint64_t stream_id);

uint32_t writer_string(struct writer *w, const void *data, size_t n);
uint32_t writer_text(struct writer *w, const char *s); /* NULL and "" give 0 */
uint32_t writer_clock(struct writer *w, const struct clock_entry *e);
uint32_t writer_source(struct writer *w, const struct source_entry *e);
uint32_t writer_lane(struct writer *w, const struct lane_entry *e);
uint32_t writer_type(struct writer *w, const struct type_entry *e);
uint32_t writer_definition(struct writer *w, uint32_t name, enum definition_kind kind,
			   const struct member_entry *members, uint32_t n);
/* The same with the source's own id. */
uint32_t writer_definition_native(struct writer *w, uint32_t native, uint32_t name,
				  enum definition_kind kind, const struct member_entry *members,
				  uint32_t n);
uint32_t writer_space(struct writer *w, const struct space_entry *e);
/* A mapping becomes valid for the places of its space; sent with the space. */
int writer_map(struct writer *w, const struct map_entry *e);
/* The threads of a lane run in that space: it is sent with the lane, though no place may be of it.
 */
int writer_lane_space(struct writer *w, uint32_t lane, uint32_t space);
uint32_t writer_place(struct writer *w, const struct place_entry *e);
int writer_symbol(struct writer *w, uint32_t place, const struct symbol_entry *e);
/* Send a definition that the values of the next row name: call it for each such row, just before it
 * (cheap when the segment has it). */
int writer_use_definition(struct writer *w, uint32_t id);

/* A named part of the source for symbolising and re-encoding, sent once. */
int writer_meta(struct writer *w, uint32_t source, const char *name, const void *data, size_t n);

int writer_row_slow(struct writer *w, uint64_t time, uint32_t lane, uint32_t type, uint32_t place,
		    uint32_t depth, const void *fixed, uint32_t fixed_size, const void *tail,
		    uint32_t tail_size, bool has_tail);

/* A row without fixed part or tail. */
static inline int writer_row(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
			     uint32_t place, uint32_t depth)
{
	uint64_t delta = time - w->base;

	/* a slot of another block, or of no block, does not match */
	if (__builtin_expect(w->quick && delta < 1 << 24 && depth < 256 &&
				     w->limit - w->row >= NARROW_ROW + 8 &&
				     place < w->places.size && lane < w->lanes.size &&
				     type < w->types.size &&
				     w->places.slot[place].block == w->block &&
				     w->lanes.slot[lane].block == w->block &&
				     w->types.slot[type].block == w->block,
			     1)) {
		put_u64(w->row, delta | (uint64_t)w->lanes.slot[lane].index << 24 |
					(uint64_t)w->places.slot[place].index << 32 |
					(uint64_t)w->types.slot[type].index << 48 |
					(uint64_t)depth << 56);
		w->row += NARROW_ROW;
		w->count++;
		if (time > w->last)
			w->last = time;
		return 0;
	}
	return writer_row_slow(w, time, lane, type, place, depth, NULL, 0, NULL, 0, false);
}

/*
 * The place for a row of a type with a fixed part (and a tail), where the row fits the block as it
 * is: size bytes (a multiple of 4) to be filled in as the type declares, and 8 more that may be
 * overwritten. NULL: writer_row_data does it.
 */
static inline uint8_t *writer_row_put(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
				      uint32_t place, uint32_t depth, size_t size)
{
	uint64_t delta = time - w->base;
	uint8_t *row = w->row;

	if (__builtin_expect(!w->quick || delta >= 1 << 24 || depth > 255 ||
				     (size_t)(w->limit - row) < NARROW_ROW + 8 + size ||
				     place >= w->places.size || lane >= w->lanes.size ||
				     type >= w->types.size ||
				     w->places.slot[place].block != w->block ||
				     w->lanes.slot[lane].block != w->block ||
				     w->types.slot[type].block != w->block,
			     0))
		return NULL;
	put_u64(row, delta | (uint64_t)w->lanes.slot[lane].index << 24 |
			     (uint64_t)w->places.slot[place].index << 32 |
			     (uint64_t)w->types.slot[type].index << 48 | (uint64_t)depth << 56);
	w->row = row + NARROW_ROW + size;
	w->count++;
	w->bare = false;
	if (time > w->last)
		w->last = time;
	return row + NARROW_ROW;
}

/* Where writer_row_put said NULL: if that was because the block at hand does not have the place
 * yet, though the segment has it, the block gets it, and the row may be tried again. */
bool writer_take_place(struct writer *w, uint32_t place);

/* Does the block being made have that number of a lane, type or place in its table? */
static inline bool writer_block_has(const struct writer *w, const struct slots *s, uint32_t number)
{
	return number < s->size && s->slot[number].block == w->block;
}

/*
 * Many bare rows of few lanes and two types: what does not change in a block is looked up once.
 *
 *     rows_open(&rows, w);
 *     if (bits.block == rows.block || rows_bits(&rows, w, lane, enter, leave, &bits))
 *             while (rows_put(&rows, &bits, time, place, depth, is_leave)) ...
 *     rows_close(&rows, w);
 *
 * rows_put says false where the row does not fit as it is; then writer_row does it, after
 * rows_close.
 */
struct rows {
	uint8_t *row, *first, *limit;
	uint64_t base, last;
	const struct slot *places;
	size_t nplaces;
	uint32_t block; /* 0: none is open that takes narrow rows */
};

struct row_bits {
	uint32_t block; /* that the bits are for */
	uint64_t bits[2];
};

static inline void rows_open(struct rows *r, const struct writer *w)
{
	r->row = r->first = w->row;
	r->limit = w->limit - NARROW_ROW - 8;
	r->base = w->base;
	r->last = w->last;
	r->places = w->places.slot;
	r->nplaces = w->places.size;
	r->block = w->quick ? w->block : 0;
}

/* The bits of a lane and two types; false unless the present block has all three. */
static inline bool rows_bits(const struct rows *r, const struct writer *w, uint32_t lane,
			     uint32_t type0, uint32_t type1, struct row_bits *bits)
{
	uint64_t lane_bits;

	if (!r->block || lane >= w->lanes.size || type0 >= w->types.size ||
	    type1 >= w->types.size || w->lanes.slot[lane].block != r->block ||
	    w->types.slot[type0].block != r->block || w->types.slot[type1].block != r->block)
		return false;
	lane_bits = (uint64_t)w->lanes.slot[lane].index << 24;
	bits->bits[0] = lane_bits | (uint64_t)w->types.slot[type0].index << 48;
	bits->bits[1] = lane_bits | (uint64_t)w->types.slot[type1].index << 48;
	bits->block = r->block;
	return true;
}

/* which: of the two types. */
static inline bool rows_put(struct rows *r, const struct row_bits *b, uint64_t time, uint32_t place,
			    uint32_t depth, unsigned which)
{
	uint64_t delta = time - r->base;

	if (__builtin_expect(delta >= 1 << 24 || r->row > r->limit || depth > 255 ||
				     place >= r->nplaces || r->places[place].block != r->block,
			     0))
		return false;
	put_u64(r->row, delta | (uint64_t)r->places[place].index << 32 | (uint64_t)depth << 56 |
				b->bits[which]);
	r->row += NARROW_ROW;
	if (time > r->last)
		r->last = time;
	return true;
}

static inline void rows_close(struct rows *r, struct writer *w)
{
	if (!r->block)
		return;
	w->count += (uint32_t)((r->row - r->first) / NARROW_ROW);
	w->row = r->row;
	w->last = r->last;
}

/* A row as its type declares it: fixed_size bytes; has_tail for types with TYPE_TAIL. */
static inline int writer_row_data(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
				  uint32_t place, uint32_t depth, const void *fixed,
				  uint32_t fixed_size, const void *tail, uint32_t tail_size,
				  bool has_tail)
{
	uint64_t delta = time - w->base;
	size_t size = NARROW_ROW + (size_t)fixed_size + (has_tail ? 4 + align_up(tail_size, 4) : 0);
	uint8_t *p = w->row;

	if (__builtin_expect(!(w->quick && delta < 1 << 24 && depth < 256 &&
			       (size_t)(w->limit - p) >= size + 8 && place < w->places.size &&
			       lane < w->lanes.size && type < w->types.size &&
			       w->places.slot[place].block == w->block &&
			       w->lanes.slot[lane].block == w->block &&
			       w->types.slot[type].block == w->block),
			     0))
		return writer_row_slow(w, time, lane, type, place, depth, fixed, fixed_size, tail,
				       tail_size, has_tail);
	put_u64(p, delta | (uint64_t)w->lanes.slot[lane].index << 24 |
			   (uint64_t)w->places.slot[place].index << 32 |
			   (uint64_t)w->types.slot[type].index << 48 | (uint64_t)depth << 56);
	p += NARROW_ROW;
	if (fixed_size) {
		memcpy(p, fixed, fixed_size);
		p += fixed_size;
	}
	if (has_tail) {
		put_u32(p, tail_size);
		p += 4;
		if (tail_size) {
			put_u32(p + align_up(tail_size, 4) - 4, 0); /* the padding */
			memcpy(p, tail, tail_size);
		}
	}
	w->bare = w->bare && !fixed_size && !has_tail;
	w->row += size;
	w->count++;
	if (time > w->last)
		w->last = time;
	w->used.size = 0;
	return 0;
}

/* n bytes, a multiple of 4: short ones, for which a call costs as much as the copying. */
static inline void writer_copy_words(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n < 16) {
		for (size_t i = 0; i < n; i += 4)
			memcpy(to + i, from + i, 4);
		return;
	}
	if (n > 128) {
		memcpy(to, from, n);
		return;
	}
	/* the last piece overlaps the one before */
	for (size_t i = 0; i + 16 < n; i += 16)
		memcpy(to + i, from + i, 16);
	memcpy(to + n - 16, from + n - 16, 16);
}

/* A row that has only a tail, of a multiple of 4 bytes: the records of a ring buffer. */
static inline int writer_row_words(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
				   uint32_t place, uint32_t depth, const void *tail,
				   uint32_t tail_size)
{
	uint64_t delta = time - w->base;

	/* as in writer_row */
	if (__builtin_expect(
		    w->quick && delta < 1 << 24 && depth < 256 &&
			    (size_t)(w->limit - w->row) >= (size_t)tail_size + NARROW_ROW + 4 + 8 &&
			    place < w->places.size && lane < w->lanes.size &&
			    type < w->types.size && w->places.slot[place].block == w->block &&
			    w->lanes.slot[lane].block == w->block &&
			    w->types.slot[type].block == w->block,
		    1)) {
		put_u64(w->row, delta | (uint64_t)w->lanes.slot[lane].index << 24 |
					(uint64_t)w->places.slot[place].index << 32 |
					(uint64_t)w->types.slot[type].index << 48 |
					(uint64_t)depth << 56);
		put_u32(w->row + NARROW_ROW, tail_size);
		writer_copy_words(w->row + NARROW_ROW + 4, tail, tail_size);
		w->row += NARROW_ROW + 4 + tail_size;
		w->count++;
		w->bare = false;
		if (time > w->last)
			w->last = time;
		return 0;
	}
	return writer_row_slow(w, time, lane, type, place, depth, NULL, 0, tail, tail_size, true);
}

/* Something is missing here. count UINT64_MAX: unknown. Lost events are also added to END's. */
struct gap {
	enum gap_reason reason;
	enum gap_unit unit;
	uint64_t count, offset; /* offset in the file, NO_OFFSET */
	const char *file, *message;
};
int writer_gap(struct writer *w, uint64_t time, uint32_t lane, const struct gap *g);

/* Send what is pending. Also what a reader's before_block calls. */
int writer_flush(void *writer);
/* The same if the pending block is 50 ms old: for the border of an input block. */
int writer_flush_old(struct writer *w);

/* END will say that something was wrong (the first message stands). status as in program.h. */
void writer_status(struct writer *w, uint32_t status, const char *message);

/* The last END. 0 or -1. Does not close the output. */
int writer_finish(struct writer *w);

/* What a lane or type was declared as; texts of the type by their ids. */
void writer_lane_of(const struct writer *w, uint32_t lane, struct lane_entry *e);
void writer_type_of(const struct writer *w, uint32_t type, enum type_kind *kind, uint32_t *name,
		    uint32_t *group);
/* The field of a role in the fixed part of a type: its offset and size. false: it has none. */
bool writer_type_field(const struct writer *w, uint32_t type, enum field_role role,
		       uint32_t *offset, uint32_t *size);
/* From here on w->refuse is asked of every row. */
void writer_refuse_rows(struct writer *w);
/* The bytes of a string; not ended by a NUL. */
const char *writer_string_of(const struct writer *w, uint32_t string, size_t *n);

/* --- for filters: blocks as they came --- */

struct head;
/* A segment begins as upstream began it, with this stage's properties added. */
int writer_pass_head(struct writer *w, const struct head *h);
/* Pass a block on, its payload as it came (a changed one has no BLOCK_HAS_CRC); EVENTS are counted
 * for END. Errors in *e. */
int writer_pass(struct writer *w, const struct block *b, struct error *e);
/* Header and the first have bytes of an EVENTS payload; the rest is brought by the caller. */
int writer_pass_begin(struct writer *w, const struct block *b, const uint8_t *payload, size_t have,
		      struct error *e);
/* The row of an event of block b. */
int writer_copy_row(struct writer *w, const struct block *b, const struct event *e);
/* Entries of one's own (symbols) behind the declarations that were passed on. */
int writer_pass_symbol(struct writer *w, uint32_t wire_place, const struct symbol_entry *e);
/* A part of a source that upstream did not have; reference: an earlier segment has it. */
int writer_pass_meta(struct writer *w, uint32_t wire_source, const char *name, const void *data,
		     size_t n, bool reference);
/* END in the place of upstream's, with its flags and its counts of gaps and of lost events. */
int writer_pass_end(struct writer *w, uint32_t flags, uint64_t gaps, uint64_t lost);

#endif

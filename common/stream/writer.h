/*
 * writer.h - writes an event stream
 *
 * A source of events declares what it needs (writer_lane, writer_type, ...) and gets ids that are
 * valid for the whole stream. It writes rows with these ids (writer_row). A declaration is sent
 * when a row of a segment first uses it, so a new segment repeats only the declarations that it
 * needs.
 *
 * A filter passes on blocks (writer_pass), or single rows of them (writer_copy_row), with unchanged
 * declarations.
 *
 * Functions that return int: 0, or -1 with writer.error filled (output failed, or out of memory).
 * Functions that return an id: 0 when out of memory (and the next row fails).
 */
#ifndef TR_STREAM_WRITER_H
#define TR_STREAM_WRITER_H

#include "common/stream/dictionary.h"
#include "common/stream/event.h"
#include "common/stream/stream.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/output.h"

/* The position of a lane, type or location in the tables of the present block. */
struct writer_slot {
	uint32_t block; /* number of the block that used it last */
	uint32_t index;
};

struct writer_slots {
	struct writer_slot *slot;
	size_t size;
	uint32_t *ids; /* table of the block: encoded ids */
	size_t capacity;
	uint32_t count;
};

/* What follows the calls of the rows that are written (common/calls/calls_writer.h). Functions that
 * return int return 0, or -1 with writer.error filled. */
struct writer_calls {
	/*
	 * Take a block that was sent. Of HEAD only the fixed part is in the payload. Rows of EVENTS
	 * are at row_data if this is set, else in the payload. tail: that of the block's only row,
	 * where it is not among the rows.
	 */
	int (*sent)(void *ctx, const struct block *b, const struct iovec *tail);
	/* Send the calls that are open where the present segment begins. */
	int (*send)(void *ctx);
	/* Get about the bytes of the open calls of the next segment. */
	uint64_t (*size)(void *ctx);
	/* Get LANE_STARTED and LANE_CPU_STARTED of a lane that is declared in the present segment.
	 */
	uint32_t (*lane_flags)(void *ctx, const struct lane_entry *e);
	void *ctx; /* NULL: no calls are followed */
};

/* The EVENTS block being built. */
struct open_block {
	uint8_t *rows, *row, *limit;
	uint64_t base, last;
	uint32_t count, number;
	bool narrow, bare, started;
	bool quick;  /* rows may be written in line: they are narrow, and refusal.row needs no call
			for each */
	bool sparse; /* the next block is wide from its start */
	uint64_t started_at; /* CLOCK_MONOTONIC ns of the first row */
	struct writer_slots types, lanes, locations, stacks;
};

/*
 * A test for unwanted rows. A lane or type once refused must always be refused, and times only
 * before the first wanted one: so rows that fit the present block need no test.
 */
struct row_refusal {
	/* fixed: the row's fixed part, or NULL. NULL: all rows are wanted */
	bool (*row)(void *ctx, uint64_t time, uint32_t lane, uint32_t type, const void *fixed);
	void *ctx;
	bool each; /* the rule above is not kept: each row needs the test (writer_refuse_rows) */
};

struct writer {
	struct output *output;
	struct error error;
	/* HEAD of the present segment. */
	struct {
		uint64_t stream_id;
		uint32_t sequence;
		uint32_t flags;		  /* enum head_flags, to be set before HEAD is sent */
		struct buffer properties; /* those of this stage */
	} head;
	/* Content of the next END. */
	struct {
		uint64_t events, gaps, lost, first, last;
		bool lost_more;	    /* END_LOST_MORE */
		uint64_t ever_lost; /* events lost in all segments */
		bool ever_lost_more;
		uint32_t status;
		char message[512];
		struct printed printed; /* where the message was printed by the programs before */
		/* of writer_pass_end: 1 + flags of an END that is still to be sent, 0 none; and the
		   status that it has if another segment follows */
		uint32_t due, due_status;
	} end;
	struct open_block block;
	struct row_refusal refusal;
	struct {
		struct progress *progress; /* called for every block that is sent; may be NULL */
		uint64_t bytes, events;
		/* called after each EVENTS block; -1: no more rows are wanted. NULL: none */
		int (*after)(void *ctx);
		void *after_ctx;
	} sent;

	/* declarations */
	struct {
		struct stored_entry *entry;
		size_t count, capacity;
	} entries[ENTRY_KINDS];
	struct intern strings;
	/* The declared stacks. They have no stored entries, which would take 40 bytes for each. */
	struct {
		struct stack_table table;
		uint32_t *segment; /* by number: the segment that it was last sent in */
		size_t size;
		struct buffer lacking; /* stacks to be sent, u32 each */
	} stacks;
	struct buffer arena, dict, scratch;
	struct {
		struct meta *meta; /* references to what was sent */
		size_t count, capacity;
	} metas;
	uint32_t gap_type;

	/* segments */
	uint32_t segment; /* counts from 1 */
	uint64_t segment_limit, segment_bytes;
	uint64_t repeated; /* bytes of declarations of the segment that others before it have */
	struct writer_calls calls;
	bool calls_due;		    /* the present segment has no open calls yet, but needs them */
	struct index_writer *index; /* makes an INDEX of the stream; NULL: there is none */
	bool crc, in_segment, more_follows, out_of_memory;
	bool broken; /* a block was written in part: no more output */

	struct buffer used;	 /* what the next row names: kind and id, u32 each */
	struct buffer announced; /* kind and id, u32 each: writer_announce */
	/* buffer of the tail of the next row if it may spill (buffer.h); or NULL */
	const struct buffer *tail_buffer;
};

/* Start writing. segment_limit: bytes after which a new segment begins, 0 never. */
int writer_init(struct writer *w, struct output *output, uint64_t segment_limit);
/* Index the stream and, if level is not 0, compress it at that level. Called before the first
 * block, when the output is open. */
int writer_archive(struct writer *w, int level);
void writer_free(struct writer *w);

/* Add a property of HEAD: HEAD_COMMAND for each stage, HEAD_SOURCE. */
int writer_property(struct writer *w, uint16_t key, const void *data, size_t n);
/* Add the command line of this stage. */
int writer_command(struct writer *w, int argc, char **argv);
/* Begin the first segment; rows may follow. Equal inputs give equal ids. */
int writer_begin(struct writer *w, uint64_t stream_id);

/* Declare an entry. Strings in entries are ids of writer_string. */
uint32_t writer_string(struct writer *w, const void *data, size_t n);
uint32_t writer_text(struct writer *w, const char *s); /* NULL and "" give 0 */
uint32_t writer_clock(struct writer *w, const struct clock_entry *e);
uint32_t writer_source(struct writer *w, const struct source_entry *e);
uint32_t writer_lane(struct writer *w, const struct lane_entry *e);
/* Declare a lane once: `lanes` has the ids of earlier calls. */
uint32_t writer_lane_once(struct writer *w, struct id_cache *lanes, const struct lane_entry *e);
uint32_t writer_type(struct writer *w, const struct type_entry *e);
/* Members beyond WRITER_MEMBERS are left out. */
enum { WRITER_MEMBERS = 21844 };
uint32_t writer_definition(struct writer *w, const struct definition_entry *e);
uint32_t writer_space(struct writer *w, const struct space_entry *e);
/* Declare a mapping that becomes valid for the locations of its space; it is sent with the
 * space. */
int writer_map(struct writer *w, const struct map_entry *e);
/* Declare the space of a lane's threads: it is sent with the lane, even if no location is in it.
 * */
int writer_lane_space(struct writer *w, uint32_t lane, uint32_t space);
uint32_t writer_location(struct writer *w, const struct location_entry *e);
int writer_symbol(struct writer *w, uint32_t location, const struct symbol_entry *e);
/* Declare an entry that declare_encode made, and a mapping so made of a space. */
uint32_t writer_store(struct writer *w, enum entry_kind kind, const void *data, size_t size);
int writer_store_map(struct writer *w, uint32_t map, uint32_t space);
/* Send a definition that the values of the next row name. Call it for each such row, just before
 * the row (it is cheap if the segment has the definition). */
int writer_use_definition(struct writer *w, uint32_t id);

/* Declare a recorded stack: a frame at a location, called by the frame of the stack parent (0: an
 * outermost frame). Equal arguments give the same id. A frame more than STACK_FRAMES_MOST is left
 * out: the id is that of parent. */
uint32_t writer_stack(struct writer *w, uint32_t parent, uint32_t location);
/* Declare the stack of n frames, innermost first, of which the outermost are left out if they are
 * too many. 0: n is 0, or out of memory. */
uint32_t writer_stack_of(struct writer *w, const uint32_t *locations, size_t n);
/* Get a declared stack, which is not 0. */
static inline struct stack_key writer_stack_at(const struct writer *w, uint32_t id)
{
	return stack_table_at(&w->stacks.table, id);
}
/* Send a stack that a field with ROLE_STACK of the next row names. Call it for each such row, just
 * before the row. */
int writer_use_stack(struct writer *w, uint32_t id);

/* Send an entry of that id again, if the segment does not have it. */
int writer_declare_again(struct writer *w, enum entry_kind kind, uint32_t id);
/* Send an entry in this and each later segment, even if no row names it; id 0: nothing. */
int writer_announce(struct writer *w, enum entry_kind kind, uint32_t id);
/* Append an entry of any id, after those that it names. */
int writer_append_entry(struct writer *w, enum entry_kind kind, uint32_t id, const void *data,
			uint32_t size);
/* Append an entry by its content (dictionary.h). */
int writer_append_content(struct writer *w, enum entry_kind kind, uint32_t id, const void *content);
/* Send the pending entries. */
int writer_send_dict(struct writer *w);
/* Send one block of up to four parts, whose sizes add up to a multiple of 8. */
int writer_send_block(struct writer *w, uint16_t kind, uint16_t flags, const struct iovec *parts,
		      int n);
/* End the segment and begin the next one, whose open calls are due. */
int writer_begin_segment(struct writer *w);
/* Send the open calls of the segment, if they are due. */
int writer_open_calls(struct writer *w);

/* Declare facts about a thread from rows that refusal.row left out. */
int writer_thread(struct writer *w, const struct thread_entry *e);

/* Send a named part of the source for symbolising and re-encoding, once. */
int writer_meta(struct writer *w, uint32_t source, const char *name, const void *data, size_t n);

/* A gap. count UINT64_MAX: unknown. Lost events are also added to END's count. */
struct gap {
	enum gap_reason reason;
	enum gap_unit unit;
	uint64_t count, offset; /* offset in the file, NO_OFFSET */
	const char *file, *message;
};
int writer_gap(struct writer *w, uint64_t time, uint32_t lane, const struct gap *g);
/* Count a gap that is written by other means. */
void writer_count_gap(struct writer *w, const struct event *e);

/* Send the pending block. Usable as a reader's before_block. */
int writer_flush(void *writer);
/* Send the pending block if it is 50 ms old: called between input blocks. */
int writer_flush_old(struct writer *w);

/* Set the status of END: it contains the first message of the worst status. status: DAMAGED or
 * FAILED of output.h. printed: where the programs before this one printed it; NULL: nowhere. */
void writer_status(struct writer *w, uint32_t status, const char *message,
		   const struct printed *printed);

/* Write the last END. Does not close the output. */
int writer_finish(struct writer *w);

/* Get the declaration of a lane, or of a type without its fields. */
void writer_lane_of(const struct writer *w, uint32_t lane, struct lane_entry *e);
void writer_type_of(const struct writer *w, uint32_t type, struct type_entry *e);
/* Test whether the segment has a row of this lane. */
bool writer_lane_used(const struct writer *w, uint32_t lane);
/* Find the field of a role in the fixed part of a type: its offset and size. false: it has none.
 * */
bool writer_type_field(const struct writer *w, uint32_t type, enum field_role role,
		       uint32_t *offset, uint32_t *size);
/* Call refusal.row for every row from here on. */
void writer_refuse_rows(struct writer *w);
/* Get the bytes of a string; they do not end with a NUL, and are valid until the next declaration.
 */
const char *writer_string_of(const struct writer *w, uint32_t string, size_t *n);

/* --- for filters: unchanged blocks --- */

struct head;
/* Begin a segment with upstream's HEAD, and add this stage's properties. */
int writer_pass_head(struct writer *w, const struct head *h);
/* Pass a block on with its payload unchanged (a changed one must have no BLOCK_HAS_CRC); EVENTS
 * are counted for END. Errors in *e. */
int writer_pass(struct writer *w, const struct block *b, struct error *e);
/* Send the header and the first `have` bytes of an EVENTS payload; the caller sends the rest. */
int writer_pass_begin(struct writer *w, const struct block *b, const uint8_t *payload, size_t have,
		      struct error *e);
/* Copy the row of an event of block b. */
int writer_copy_row(struct writer *w, const struct block *b, const struct event *e);
/* Write a row without location and payload, with the time, lane and depth of an event of block b,
 * and its type, which was sent with that id. */
int writer_bare_row(struct writer *w, const struct block *b, const struct event *e,
		    uint32_t type_id);
/* Send a symbol of this stage, after the declarations that were passed on. */
int writer_pass_symbol(struct writer *w, uint32_t wire_location, const struct symbol_entry *e);
/* Send a part of a source that upstream did not send; reference: an earlier segment has it. */
int writer_pass_meta(struct writer *w, uint32_t wire_source, const char *name, const void *data,
		     size_t n, bool reference);
/* Write END instead of upstream's, with its flags and its counts of gaps and of lost events. It is
 * sent before the next HEAD or by writer_finish: then it also has what was found later, such as
 * that segments are missing after it. */
int writer_pass_end(struct writer *w, uint32_t flags, uint64_t gaps, uint64_t lost);

/*
 * Writes rows of a source of events, in line where they fit the present block.
 *
 * Lanes, types and locations are ids (location 0: none); depth is the row's. Times are
 * those of the lane's clock.
 */

/* A row to be written, as its type declares it. */
struct new_row {
	uint64_t time;
	const void *fixed, *tail;
	/* in this order the compiler gathers the first ones less often in a vector register, for
	   the slow path: -1 % instructions for a trace of LTTng UST */
	uint32_t lane, fixed_size, type, tail_size, location, depth;
	bool has_tail; /* the type has TYPE_TAIL */
};

/* Write a row that does not fit the present block, or that the writer's test may refuse. The row is
 * passed by value: the copies in line then stay in registers. */
int writer_row_slow(struct writer *w, struct new_row r);
/* Write a row of a type of KIND_SAMPLE; its location is the id of its stack, 0 none. */
int writer_sample(struct writer *w, struct new_row r);

/* Fetch what writer_sample needs for a row of this stack. */
static inline __attribute__((always_inline)) void writer_fetch_stack(const struct writer *w,
								     uint32_t stack)
{
	if (stack < w->block.stacks.size)
		__builtin_prefetch(&w->block.stacks.slot[stack]);
	if (stack < w->stacks.size)
		__builtin_prefetch(&w->stacks.segment[stack]);
}

/* Test whether a row with size bytes after its first 8 fits the present block as a narrow row; its
 * location is not tested. */
static inline __attribute__((always_inline)) bool
writer_row_fits_but(const struct writer *w, const struct new_row *r, size_t size)
{
	const struct open_block *b = &w->block;

	return b->quick && r->time - b->base <= NARROW_DELTA_MOST &&
	       r->depth <= NARROW_DEPTH_MOST &&
	       (size_t)(b->limit - b->row) >= NARROW_ROW + 8 + size && r->lane < b->lanes.size &&
	       r->type < b->types.size && b->lanes.slot[r->lane].block == b->number &&
	       b->types.slot[r->type].block == b->number;
}

static inline __attribute__((always_inline)) bool
writer_row_fits(const struct writer *w, const struct new_row *r, size_t size)
{
	const struct writer_slots *s = &w->block.locations;

	return writer_row_fits_but(w, r, size) && r->location < s->size &&
	       s->slot[r->location].block == w->block.number;
}

/* Write the first 8 bytes of a narrow row, with that index of its location, and count the row with
 * size bytes after them. Returns the place of these bytes. */
static inline __attribute__((always_inline)) uint8_t *
writer_row_begin_at(struct writer *w, const struct new_row *r, uint32_t location, size_t size)
{
	struct open_block *b = &w->block;
	uint8_t *row = b->row;

	put_u64(row, row_make(r->time - b->base, b->lanes.slot[r->lane].index, location,
			      b->types.slot[r->type].index, r->depth));
	b->row = row + NARROW_ROW + size;
	b->count++;
	if (r->time > b->last)
		b->last = r->time;
	return row + NARROW_ROW;
}

static inline __attribute__((always_inline)) uint8_t *
writer_row_begin(struct writer *w, const struct new_row *r, size_t size)
{
	return writer_row_begin_at(w, r, w->block.locations.slot[r->location].index, size);
}

/* Write a row without fixed part or tail. */
static inline int writer_row(struct writer *w, uint64_t time, uint32_t lane, uint32_t type,
			     uint32_t location, uint32_t depth)
{
	struct new_row r = {
		.time = time, .lane = lane, .type = type, .location = location, .depth = depth};

	if (__builtin_expect(!writer_row_fits(w, &r, 0), 0))
		return writer_row_slow(w, r);
	writer_row_begin(w, &r, 0);
	return 0;
}

/*
 * Reserve a row of a type with a fixed part (and a tail), if the row fits the present block: size
 * bytes (a multiple of 4), which the caller fills as the type declares, and 8 more that may be
 * overwritten. NULL: the caller uses writer_row_data. r->fixed and r->tail are not used.
 */
static inline __attribute__((always_inline)) uint8_t *
writer_row_reserve(struct writer *w, const struct new_row *r, size_t size)
{
	if (__builtin_expect(!writer_row_fits(w, r, size), 0))
		return NULL;
	w->block.bare = false;
	return writer_row_begin(w, r, size);
}

/* Add a location to the present block after writer_row_reserve returned NULL, if the segment has
 * the location and only the block lacks it. true: the row may be tried again. */
bool writer_take_location(struct writer *w, uint32_t location);

/* Test whether the present block has that number of a lane, type or location in its table. */
static inline bool writer_block_has(const struct writer *w, const struct writer_slots *s,
				    uint32_t number)
{
	return number < s->size && s->slot[number].block == w->block.number;
}

/*
 * A writer of many bare rows of few lanes and two types: values that are constant in a block are
 * looked up once.
 *
 *     rows_open(&rows, w);
 *     if (bits.block == rows.block || rows_bits(&rows, w, lane, enter, leave, &bits))
 *             while (rows_put(&rows, &bits, time, location, depth, is_leave)) ...
 *     rows_close(&rows, w);
 *
 * rows_put returns false if the row does not fit the present block; then the caller calls
 * rows_close and writer_row.
 */
struct rows {
	uint8_t *row, *first, *limit;
	uint64_t base, last;
	const struct writer_slot *locations;
	size_t nlocations;
	uint32_t block; /* 0: no open block takes narrow rows */
};

struct row_bits {
	uint32_t block; /* block that the bits are valid for */
	uint64_t bits[2];
};

static inline void rows_open(struct rows *r, const struct writer *w)
{
	r->row = r->first = w->block.row;
	r->limit = w->block.limit - NARROW_ROW - 8;
	r->base = w->block.base;
	r->last = w->block.last;
	r->locations = w->block.locations.slot;
	r->nlocations = w->block.locations.size;
	r->block = w->block.quick ? w->block.number : 0;
}

/* Get the bits of a lane and two types; false unless the present block has all three. */
static inline bool rows_bits(const struct rows *r, const struct writer *w, uint32_t lane,
			     uint32_t type0, uint32_t type1, struct row_bits *bits)
{
	uint32_t index;

	if (!r->block || lane >= w->block.lanes.size || type0 >= w->block.types.size ||
	    type1 >= w->block.types.size || w->block.lanes.slot[lane].block != r->block ||
	    w->block.types.slot[type0].block != r->block ||
	    w->block.types.slot[type1].block != r->block)
		return false;
	index = w->block.lanes.slot[lane].index;
	bits->bits[0] = row_make(0, index, 0, w->block.types.slot[type0].index, 0);
	bits->bits[1] = row_make(0, index, 0, w->block.types.slot[type1].index, 0);
	bits->block = r->block;
	return true;
}

/* Write a row. which: of the two types. */
static inline bool rows_put(struct rows *r, const struct row_bits *b, uint64_t time,
			    uint32_t location, uint32_t depth, unsigned which)
{
	uint64_t delta = time - r->base;

	if (__builtin_expect(delta > NARROW_DELTA_MOST || r->row > r->limit ||
				     depth > NARROW_DEPTH_MOST || location >= r->nlocations ||
				     r->locations[location].block != r->block,
			     0))
		return false;
	put_u64(r->row,
		row_make(delta, 0, r->locations[location].index, 0, depth) | b->bits[which]);
	r->row += NARROW_ROW;
	if (time > r->last)
		r->last = time;
	return true;
}

static inline void rows_close(struct rows *r, struct writer *w)
{
	if (!r->block)
		return;
	w->block.count += (uint32_t)((r->row - r->first) / NARROW_ROW);
	w->block.row = r->row;
	w->block.last = r->last;
}

/* Write the fixed part and the tail of a row at p. */
static inline void writer_row_end(struct writer *w, const struct new_row *r, uint8_t *p)
{
	if (r->fixed_size) {
		memcpy(p, r->fixed, r->fixed_size);
		p += r->fixed_size;
	}
	if (r->has_tail) {
		put_u32(p, r->tail_size);
		p += 4;
		if (r->tail_size) {
			put_u32(p + align_up(r->tail_size, 4) - 4, 0); /* the padding */
			memcpy(p, r->tail, r->tail_size);
		}
	}
	w->block.bare = w->block.bare && !r->fixed_size && !r->has_tail;
	w->used.size = 0;
}

/* Write a row as its type declares it. */
static inline int writer_row_data(struct writer *w, struct new_row r)
{
	size_t size = (size_t)r.fixed_size + (r.has_tail ? 4 + align_up(r.tail_size, 4) : 0);
	uint8_t *p;

	if (__builtin_expect(!writer_row_fits(w, &r, size), 0))
		return writer_row_slow(w, r);
	p = writer_row_begin(w, &r, size);
	writer_row_end(w, &r, p);
	return 0;
}

/* Copy n bytes, a multiple of 4: short runs, for which a call costs as much as the copying. */
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

enum {
	ROWS_CAPACITY = BLOCK_TARGET,
	DICT_LIMIT = 256 * 1024, /* pending declarations of this size are sent at once */
};

/* A stored declaration: its payload in the arena, and the segment that it was last sent in. */
struct stored_entry {
	size_t offset;
	uint32_t size;
	uint32_t segment;
	uint32_t child; /* first of the entries sent after it: maps of a space, symbol of a
			   location; space of a lane */
	uint32_t next;
};

int writer_next_segment(struct writer *w);
void writer_count_events(struct writer *w, uint64_t rows, uint64_t base, uint64_t last);

#endif

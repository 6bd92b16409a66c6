/*
 * snapshot_maker_private.h - shared by snapshot_maker.c (the rows that are written),
 * snapshot_rows.c (the rows of open calls), snapshot_adopt.c, snapshot_ids.c (declarations) and
 * snapshot_write.c
 */
#ifndef TR_CALLS_SNAPSHOT_MAKER_PRIVATE_H
#define TR_CALLS_SNAPSHOT_MAKER_PRIVATE_H

#include "common/calls/calls_private.h"
#include "common/calls/snapshot_maker.h"

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

struct kept_rows {
	struct kept_row *rows;
	size_t count, capacity;
	uint32_t free;	     /* index + 1 */
	uint32_t open;	     /* rows in use */
	struct buffer bytes; /* spills */
	size_t live;	     /* bytes of rows in use */
};

/* The handles of a stack's frames at the end of the last block that had rows of it. */
struct kept_frames {
	uint32_t *handles;
	size_t count, capacity;
};

struct maker_stack {
	struct kept_frames own, kernel;
	/* of the lowest call in the kernel: stack.kernel_base and gone, innermost first */
	uint32_t base;
	struct buffer gone;
	bool started; /* before the present segment */
};

struct known_ids {
	uint32_t *id; /* by number */
	size_t size;
};

struct snapshot_maker {
	struct writer *writer;
	struct dictionary dictionary;
	struct calls calls;
	struct events_tables tables;
	struct kept_rows kept;
	struct maker_stack *stacks; /* by number */
	size_t nstacks;
	struct buffer numbered;		     /* indexes of numbered calls of this block, u32 each */
	struct known_ids known[ENTRY_KINDS]; /* the last id of each entry */
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
static inline uint32_t *frame_row(const struct snapshot_maker *m, const struct stack *s, size_t i)
{
	return calls_data(&m->calls, s, i);
}

/* Get what the maker knows of a stack; NULL: out of memory. */
struct maker_stack *snapshot_maker_stack(struct snapshot_maker *m, uint32_t stack);

/* snapshot_rows.c. Functions that return int return 0, or -1 when out of memory. */

/* Get the row of a handle of the present block. */
void snapshot_row_event(const struct snapshot_maker *m, uint32_t handle, struct event *e);
/* Keep a row: sets its handle. */
int snapshot_row_keep(struct snapshot_maker *m, const struct event *e, uint32_t *handle);
void snapshot_row_drop(struct snapshot_maker *m, uint32_t handle);
/* Keep the rows of the stack's new frames, drop those of frames that have ended. */
int snapshot_rows_settle(struct snapshot_maker *m, uint32_t stack);
void snapshot_rows_free(struct snapshot_maker *m);

static inline const struct kept_row *snapshot_row(const struct snapshot_maker *m, uint32_t handle)
{
	return &m->kept.rows[handle & ~ROW_KEPT];
}

/* snapshot_ids.c: note the ids of a DICT payload that was read. */
int snapshot_ids_note(struct snapshot_maker *m, const uint8_t *payload, size_t n);
/* Get the id that the writer's stream uses for a source; 0: none. */
uint32_t snapshot_source_id(const struct snapshot_maker *m, uint32_t number);
/* Declare an entry in this segment, and return its id; 0 for number 0. Errors are in
 * writer->error. */
uint32_t snapshot_declare_lane(struct snapshot_maker *m, const struct lane *l);
uint32_t snapshot_declare_type(struct snapshot_maker *m, const struct type *t);
uint32_t snapshot_declare_location(struct snapshot_maker *m, uint32_t number);
uint32_t snapshot_declare_definition(struct snapshot_maker *m, uint32_t number);
uint32_t snapshot_declare_stack(struct snapshot_maker *m, uint32_t number);
/* Declare the facts about a stack whose lane has that id. */
int snapshot_declare_facts(struct snapshot_maker *m, uint32_t stack, uint32_t lane, bool per_cpu);
uint32_t snapshot_lane_flags(void *maker, const struct lane_entry *e);
void snapshot_ids_free(struct snapshot_maker *m);

/* snapshot_write.c: send the snapshot of the present segment. */
int snapshot_write(struct snapshot_maker *m);

#endif

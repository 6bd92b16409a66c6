/*
 * index.h - the INDEX blocks of a stream: which rows its sections have (trstream(5))
 *
 *     section 0: 10 ms to 90 ms, sched_switch 700, CPU 0, 1    | section 1: 90 ms to ...
 *
 * Functions that return int return 0, or -1.
 */
#ifndef TR_STREAM_INDEX_H
#define TR_STREAM_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/buffer.h"

struct block;
struct frames_in;
struct index_writer;

enum index_flags {
	SECTION_BEGIN = 1,    /* the first of a segment */
	SECTION_END = 2,      /* has the END of a segment */
	SECTION_DECLARES = 4, /* has blocks other than EVENTS and END */
	SECTION_KEEP = 8,     /* has what concerns other segments, too */
	SECTION_ANY_TYPE = 16,
	SECTION_ANY_LANE = 32,
	SECTION_LOST_MORE = 64,
};

enum {
	INDEX_HEAD = 24,
	INDEX_FOOT = 32,
	INDEX_SECTION = 80,	  /* bytes without its lists */
	INDEX_SEGMENT = 16 << 20, /* of segments that begin for the index */
};

/* --- writing --- */

/* apart: INDEX blocks are not in the stream, but beside it. NULL: out of memory. */
struct index_writer *index_writer_new(bool apart);
void index_writer_free(struct index_writer *x);

/* Take a block that was sent, with its header; of EVENTS that are sent in parts the rows are at
 * row_data, else in the payload. NULL: the last END is next. Returns true if the section ends here;
 * *payload is that of an INDEX to be sent now, NULL: none. Without memory there will be no index.
 */
bool index_writer_take(struct index_writer *x, const struct block *b, const uint8_t *header,
		       const struct buffer **payload);

/* --- reading --- */

/* A section of a file; lists are read with index_type and index_lane. */
struct index_section {
	uint64_t offset, length; /* in the file */
	uint64_t first, last, events, gaps, lost;
	uint64_t stream_id;
	uint32_t sequence, flags, check; /* flags: enum index_flags */
	uint32_t ntypes, nlanes;
	const uint8_t *lists;
	const struct index_table *table;
};

struct index {
	struct index_section *sections; /* in the order of the file; not all of it need be listed */
	size_t count, capacity;
	struct index_table *tables; /* the blocks */
	bool calls;		    /* sections may have enters or leaves */
	const char *fault;	    /* why there are no sections; NULL: they can be used */
};

/* Read the index of a file; frames: that unpack it, NULL: it is not compressed. -1: out of memory.
 */
int index_open(struct index *x, int fd, struct frames_in *frames);
void index_close(struct index *x);

/* A type of a section, and the number of its rows there. The texts have no NUL. */
struct index_type {
	uint32_t kind;
	const char *group, *name;
	size_t group_size, name_size;
	uint64_t rows;
};
struct index_type index_type(const struct index_section *s, uint32_t i);

struct index_lane {
	uint32_t flags; /* LANE_HAS_CPU, LANE_HAS_TID */
	int32_t cpu, tid;
};
struct index_lane index_lane(const struct index_section *s, uint32_t i);

#endif

/*
 * lttng.h - the encoder of legacy LTTng traces: what its files share
 *
 * The output is version 2.6, packed, little-endian: one tracefile for each channel and CPU.
 * lttng.c receives the stream's events and numbers them in each channel; marker.c decides how
 * payloads are written; block.c writes blocks.
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */
#ifndef TR_TRENCODE_LTTNG_LTTNG_H
#define TR_TRENCODE_LTTNG_LTTNG_H

#include "common/stream/field.h"
#include "common/formats/lttng.h"
#include "common/util/intern.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/tree_output.h"

/* --- blocks --- */

/* What the header of every block records about the trace. */
struct lttng_constants {
	uint64_t frequency, scale, start_tsc; /* of the TSC; frequency in Hz */
	uint64_t seconds, microseconds;	      /* wall time at start_tsc */
	uint8_t word_size;
};

/* An event to write. */
struct lttng_record {
	uint32_t id;
	uint64_t tsc;
	const struct buffer *payload;
};

/* One tracefile being written. */
struct lttng_tracefile {
	uint32_t member;
	struct buffer block;	 /* the open block with its header; empty: none is open */
	uint64_t begin, last;	 /* TSC of the block's first and last event */
	uint32_t lost, reported; /* lost events; those that the last block reported */
	bool any;
};

/* Begin a block at a TSC. */
int lttng_block_begin(struct lttng_tracefile *t, uint64_t tsc);
/* Append an event. A block that would exceed limit bytes is written before. */
int lttng_block_event(struct tree_output *out, const struct lttng_constants *c,
		      struct lttng_tracefile *t, const struct lttng_record *r, size_t limit,
		      struct error *e);
/* Write the open block, if there is one. */
int lttng_block_end(struct tree_output *out, const struct lttng_constants *c,
		    struct lttng_tracefile *t, struct error *e);

/* --- markers --- */

/* How one field of an event is written. */
struct lttng_item {
	uint8_t from, to; /* bytes in the row and in the trace; to 0: a text */
	bool is_signed, network;
	uint32_t offset; /* in the fixed part */
};

/* How the events of a type are written. */
struct lttng_written {
	struct buffer format; /* as announced */
	struct lttng_sizes sizes;
	struct lttng_item *items;
	uint32_t count;
	int32_t tsc; /* offset of the TSC in the fixed part; -1: none */
	bool core;   /* a marker of the tracer itself, which the encoder writes again */
};

/* Decide how the events of a type are written. NULL: out of memory. */
struct lttng_written *lttng_written_new(const struct type *t);
void lttng_written_free(struct lttng_written *w);
/* Fill payload with that of an event. */
int lttng_written_payload(const struct lttng_written *w, const struct event *ev,
			  struct buffer *payload);

#endif

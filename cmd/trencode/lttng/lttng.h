/*
 * lttng.h - inside the encoder of legacy LTTng traces
 *
 * Written is 2.6, packed, little-endian: a tracefile per channel and CPU. lttng_marker.c numbers
 * the events of each channel and says how their payloads are written; lttng_block.c makes the
 * blocks; lttng.c takes the events of the stream.
 */
#ifndef TR_TRENCODE_LTTNG_LTTNG_H
#define TR_TRENCODE_LTTNG_LTTNG_H

#include "common/stream/field.h"
#include "common/formats/lttng.h"
#include "common/util/intern.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/tree_output.h"

/* --- blocks --- */

/* What the header of every block says of the trace. */
struct lttng_constants {
	uint64_t frequency, scale, start_tsc, seconds, microseconds;
	uint8_t word_size;
};

struct lttng_tracefile {
	uint32_t member;
	struct buffer block;  /* with room for the header; empty: none is begun */
	uint64_t begin, last; /* TSC */
	uint32_t lost, told;  /* events; what the last block said of them */
	bool any;
};

/* Begin a block at this TSC. */
int lttng_block_begin(struct lttng_tracefile *t, uint64_t tsc);
/* Append an event; the block is written before or behind it when it reaches limit. */
int lttng_block_event(struct tree_output *out, const struct lttng_constants *c,
		      struct lttng_tracefile *t, uint32_t id, uint64_t tsc, const void *payload,
		      uint32_t size, size_t limit, struct error *e);
/* Write out the block, if one is begun. */
int lttng_block_end(struct tree_output *out, const struct lttng_constants *c,
		    struct lttng_tracefile *t, struct error *e);

/* --- markers --- */

struct lttng_item {
	uint8_t from, to; /* bytes in the stream's row and in the trace; to 0: a text */
	bool is_signed, network;
	uint32_t offset; /* in the fixed part */
};

/* How the events of a type are written. */
struct lttng_written {
	struct buffer format; /* as it is announced */
	struct lttng_sizes sizes;
	struct lttng_item *items;
	uint32_t count;
	int32_t tsc; /* offset of the TSC in the fixed part; -1: it has none */
	bool core;   /* of the trace itself: made anew */
};

/* NULL: out of memory. */
struct lttng_written *lttng_written_new(const struct type *t);
void lttng_written_free(struct lttng_written *w);
/* The payload of an event. */
int lttng_written_payload(const struct lttng_written *w, const struct event *ev,
			  struct buffer *payload);

#endif

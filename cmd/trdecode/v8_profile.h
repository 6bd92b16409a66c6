/*
 * v8_profile.h - the nodes and samples of a profile of V8, in a file of its own or in Chrome JSON
 */
#ifndef TR_TRDECODE_V8_PROFILE_H
#define TR_TRDECODE_V8_PROFILE_H

#include <stdbool.h>
#include <stdlib.h>

#include "cmd/trdecode/frames.h"
#include "common/util/buffer.h"
#include "common/value/json.h"

/* A profile, or a chunk of one. Zero-initialised except for frames and space: nothing was read. */
struct v8_profile {
	struct frame_table *frames;
	uint32_t space;	       /* part of the keys of its nodes in frames */
	struct buffer samples; /* u32 each: number of the frame */
	struct buffer deltas;  /* i64 each, ns: time of a sample since the one before it */
	struct buffer times;   /* i64 each, ns: times of samples, in early versions */
	struct buffer weights; /* a struct v8_weight for each node that has one */
	int64_t begin;	       /* ns: time before the first delta; -1: not given */
	uint64_t nodes;
	uint64_t wrong_times; /* beyond 62 bits: 0 in their place */
	bool inexact;	      /* a time has digits below 1 ns */
	struct v8_node *open; /* the nodes that are being read, outermost first */
	size_t nopen, capacity;
};

/* The hits of a node, or the bytes that it allocated. */
struct v8_weight {
	uint64_t weight;
	uint32_t frame;
};

/* Read the members of a profile, after its '{'. Returns 0, or -1: BAD, or out of memory. */
int v8_profile_read(struct v8_profile *v, struct json_reader *r);

/* Forget what was read, but the frames. */
static inline void v8_profile_clear(struct v8_profile *v)
{
	v->samples.size = v->deltas.size = v->times.size = v->weights.size = 0;
	v->begin = -1;
	v->inexact = false;
}

static inline void v8_profile_free(struct v8_profile *v)
{
	buffer_free(&v->samples);
	buffer_free(&v->deltas);
	buffer_free(&v->times);
	buffer_free(&v->weights);
	free(v->open);
	v->open = NULL;
}

#endif

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

/* Damage of a profile. */
enum v8_damage {
	V8_TIME,      /* a time or delta that is out of range */
	V8_NO_NUMBER, /* a sample, time or delta that is no number */
	V8_WEIGHT,    /* hits or bytes below 0 or out of range */
	V8_TWICE,     /* two nodes with an id */
	V8_CALLERS,   /* two nodes with a child */
	V8_DAMAGES,
};

struct v8_fault {
	uint64_t count, at; /* offset of the first */
};

/* A profile, or a chunk of one. Zero-initialised except for frames and space: nothing was read. */
struct v8_profile {
	struct frame_table *frames;
	uint32_t space;	       /* part of the keys of its nodes in frames */
	struct buffer samples; /* u32 each: number of the frame */
	struct buffer deltas;  /* i64 each, ns: time of a sample since the one before it */
	struct buffer times;   /* i64 each, ns: times of samples, in early versions */
	struct buffer weights; /* a struct v8_weight for each node that has one */
	int64_t begin;	       /* ns: time before the first delta; -1: not given */
	int64_t end;	       /* ns: time after the last sample; -1: not given */
	uint64_t nodes;
	struct v8_fault faults[V8_DAMAGES];
	bool inexact;		/* a time has digits below 1 ns */
	bool millionths;	/* a weight has a fraction */
	struct v8_node *open;	/* the nodes that are being read, outermost first */
	struct buffer children; /* u32 each: frames that they name as theirs */
	size_t nopen, capacity;
};

/* The hits of a node, or the bytes that it allocated. */
struct v8_weight {
	uint64_t whole;
	uint32_t millionths, frame;
};

/* Read the members of a profile, after its '{'. Returns 0, or -1: BAD, or out of memory. */
int v8_profile_read(struct v8_profile *v, struct json_reader *r);

/* Forget what was read, but the frames. */
static inline void v8_profile_clear(struct v8_profile *v)
{
	v->samples.size = v->deltas.size = v->times.size = v->weights.size = 0;
	v->begin = v->end = -1;
	v->inexact = v->millionths = false;
}

static inline void v8_profile_free(struct v8_profile *v)
{
	buffer_free(&v->samples);
	buffer_free(&v->deltas);
	buffer_free(&v->times);
	buffer_free(&v->weights);
	buffer_free(&v->children);
	free(v->open);
	v->open = NULL;
}

#endif

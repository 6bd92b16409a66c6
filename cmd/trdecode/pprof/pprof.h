/*
 * pprof.h - the state of the decoder of profile.proto
 */
#ifndef TR_TRDECODE_PPROF_PPROF_H
#define TR_TRDECODE_PPROF_PPROF_H

#include "cmd/trdecode/pprof/profile.h"

/* The frames of a location: innermost first, ids of the writer's locations. */
struct location_frames {
	uint32_t begin, count; /* in pprof.frames, in ids; count 0: not yet known */
};

/* How a type of samples shows a value or a label. */
struct sample_types {
	unsigned weight;	   /* number of the value that samples weigh */
	unsigned count;		   /* number of the value that counts them; VALUES_MOST: none */
	uint64_t unit;		   /* ns of the weight's unit; 0: it is no time */
	struct id_cache by_labels; /* ids, by the keys of the labels */
};

struct pprof {
	struct profile profile;
	struct input *input;
	struct writer *w;
	uint32_t source, clock;
	struct buffer frames;		  /* u32 each */
	struct location_frames *location; /* as many as locations */
	uint32_t *space;		  /* ids, as many as mappings + 1: the last is of none */
	struct sample_types types;
	struct id_cache lanes;
	struct protobuf_view rest, sample; /* the next samples, and the present one */
	uint64_t number;		   /* of the present sample, from 1 */
	uint64_t elapsed;		   /* ns: the weights of the samples before it */
	struct buffer stack, fixed, tail, key;
};

/* Append the frames of a location of this id to p->stack. -1: out of memory. */
int pprof_add_location(struct pprof *p, uint64_t id);

/* Declare a string of the profile. */
uint32_t pprof_string(const struct pprof *p, uint64_t index);

/* Add a string and what more is known of it to what --info prints. -1: out of memory. */
int pprof_fact(struct pprof *p, struct trace_info *facts, const char *name, uint64_t string,
	       uint64_t detail);
int pprof_fact_mapping(struct pprof *p, struct trace_info *facts, size_t number);

/* Write the present sample. 0, or -1: the output failed, or out of memory. */
int pprof_write_sample(struct pprof *p);
/* Choose the value that samples weigh. */
void pprof_choose_values(struct pprof *p);

#endif

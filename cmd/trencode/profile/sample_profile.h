/*
 * sample_profile.h - what a profile is of: calls, the samples of one type, or pairs of
 * events (pair_profile.h); and what these weigh
 *
 * A profile has one subject, as weights of different types of events are never added. It is what
 * the trace has first: calls or samples; if it has neither, the events that have stacks. The type
 * of the samples or events is that with the most of them, the first one where several have as many.
 */
#ifndef TR_TRENCODE_PROFILE_SAMPLE_PROFILE_H
#define TR_TRENCODE_PROFILE_SAMPLE_PROFILE_H

#include "common/calls/call_stacks.h"
#include "common/util/idmap.h"
#include "cmd/trencode/encoder.h"

/* SUBJECT_STACKS: instants with stacks, which are the subject only as long as there are neither
 * calls nor samples. */
enum profile_subject {
	SUBJECT_UNKNOWN,
	SUBJECT_CALLS,
	SUBJECT_SAMPLES,
	SUBJECT_PAIRS,
	SUBJECT_STACKS,
};

#define SAMPLES_NEGATIVE                                                                           \
	"{sample|samples} with a negative weight left out: -t folded and -t pprof hold them"

/* The samples of one type, summed by their stacks. */
struct typed_samples {
	const struct type *type;
	uint64_t samples;
	struct idmap numbers; /* by node: number of its sum, from 1 */
	struct typed_sum {
		int128 weight;
		uint64_t samples;
		uint32_t node;
	} * sums;
	size_t count, capacity;
};

/* The subject of a profile, and what was left out. */
struct sample_profile {
	const char *weight; /* --weight: "dur", "count", "period" or a field; NULL: the usual one */
	const char *pair;   /* --pair; NULL: not given */
	bool is_signed;	    /* the format holds negative sums */
	bool by_comm;	    /* the name of the thread is the outermost frame */
	bool rooted;	    /* comm and root are those of the last sample */
	uint32_t comm, root; /* with by_comm: number of the text; node */
	enum profile_subject subject;
	const struct type *type; /* of the samples; until the end the first one */
	uint64_t first;		 /* samples of the first type, which are in the tree */
	/* those of other types, and all of SUBJECT_STACKS, as the tree may become one of calls */
	struct typed_samples *typed;
	size_t ntyped, typed_capacity;
	const struct type *fields; /* type that field is of */
	const struct field *field; /* of --weight FIELD, or with ROLE_COUNT; NULL: none */
	bool ticks;		   /* times of pairs are ticks */
	uint64_t samples, calls;   /* events of other subjects */
	uint64_t weightless;	   /* samples without the field of --weight */
	uint64_t negative;	   /* stacks left out, without is_signed */
};

/* Test whether weights of two types may be added: they are one type of several inputs. */
bool sample_profile_same_type(const struct type *a, const struct type *b);
/* Test whether calls, samples or pairs count 1 each. */
static inline bool sample_profile_counts(const struct sample_profile *p)
{
	return p->weight && !strcmp(p->weight, "count");
}

/* Test whether calls are counted; the first event of a call makes them the subject. */
bool sample_profile_calls(struct sample_profile *p);
/* Add a sample, or an instant, at a stack, to the tree. Returns 0, or -1 when out of memory. */
int sample_profile_add(struct sample_profile *p, struct call_stacks *cs, const struct event *ev,
		       uint32_t stack);
/* Choose the type of the samples, and set the totals of all nodes, and what calls weigh, after the
 * last event. */
void sample_profile_finish(struct sample_profile *p, struct stack_tree *t);
void sample_profile_free(struct sample_profile *p);
/* Get what the weights are of, such as "cycles", and their unit, "count" or "nanoseconds"; of calls
 * NULL. */
const char *sample_profile_type(const struct sample_profile *p, const char **unit);
/* Check --weight against what the trace has. Returns 0, or -1 with *e filled. */
int sample_profile_check(const struct sample_profile *p, struct error *e);
void sample_profile_report(const struct sample_profile *p);

/* Events that a profile has no place for. */
struct other_events {
	uint64_t count;
	struct intern types;	 /* names of the first types */
	const struct type *last; /* type of the last one, valid in its segment */
};

/* Count an event. Returns 0, or -1 when out of memory. */
int other_events_add(struct other_events *o, const struct type *type);
/* Report that nothing is in the output, of a trace without calls and samples, if it has others. */
void other_events_report_empty(const struct other_events *o);

#endif

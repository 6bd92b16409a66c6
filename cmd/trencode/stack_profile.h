/*
 * stack_profile.h - what a profile is of: calls, the samples of one type, or pairs of
 * events (pair.h); and what these weigh
 *
 * A profile has one subject, as weights of different types of events are never added. It is what
 * the trace has first: calls or samples; if it has neither, the events that have stacks. The type
 * of the samples or events is that with the most of them, the first one where several have as many.
 */
#ifndef TR_TRENCODE_STACK_PROFILE_H
#define TR_TRENCODE_STACK_PROFILE_H

#include "cmd/trencode/encoder.h"
#include "common/calls/call_stacks.h"
#include "common/calls/calls.h"
#include "common/pairs/pair.h"
#include "common/stream/dictionary.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"

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
	struct {
		int128 weight, total; /* total: of sums of calls */
		uint64_t samples;     /* or calls */
		uint32_t node;
	} * sums;
	size_t count, capacity;
};

/* Test whether weights of two types may be added: they are one type of several inputs. */
bool sample_profile_same_type(const struct type *a, const struct type *b);
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

/*
 * Profiles of pairs of events (common/pairs/pair.h): the time between them, by the stack of the
 * first one.
 *
 * Where a profile has the names of threads as frames, and the trace has the event that wakes the
 * thread of a pair, the stack goes on with the frame "--", the frames of the waker from the
 * innermost one to the outermost one, and the waker's name.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */

enum { PAIR_PROFILE_CELLS = 4 };

/* The pairs of one profile. */
struct pair_profile {
	struct pair pair;
	struct keys keys; /* thread name and stack of A; with a waker also those of W */
	struct key_texts texts;
	struct call_stacks stacks; /* of A and W, with the keys of the profile's stacks */
	uint32_t *names; /* by name of these: name in the profile's + 1; 0: not yet known */
	size_t nnames;
	uint64_t stackless; /* pairs without any frame */
};

/*
 * Calls, samples or pairs, summed by their stacks, for folded, callgrind and pprof.
 *
 * All threads are in one tree (common/calls/call_stacks.h); longjmp, exec and lost events are as in
 * common/calls.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */

/* One profile. */
struct stack_profile {
	struct calls *calls;
	struct call_stacks stacks;
	uint32_t *planned; /* by location of a block: number in stacks.names + 1, 0:
			      profile_slow_row */
	size_t nplanned;
	bool drop;	  /* calls without a return are left out */
	bool ticking;	  /* ticks may have a length (encode.h) */
	bool seen, ticks; /* a block was read; the clock of its first lane counts ticks */
	struct {
		const char *weight;  /* --weight: "dur", "count", "period" or a field; NULL: the
					usual one */
		const char *pair;    /* --pair; NULL: not given */
		bool is_signed;	     /* the format holds negative sums */
		bool by_comm;	     /* the name of the thread is the outermost frame */
		bool rooted;	     /* comm and root are those of the last sample */
		uint32_t comm, root; /* with by_comm: number of the text; node */
		enum profile_subject subject;
		const struct type *type; /* of the samples; until the end the first one */
		uint64_t first;		 /* samples of the first type, which are in the tree */
		/* those of other types, and all of SUBJECT_STACKS, as the tree may become one of
		 * calls */
		struct typed_samples *typed;
		size_t ntyped, typed_capacity;
		const struct type *fields; /* type that field is of */
		const struct field *field; /* of --weight FIELD, or with ROLE_COUNT; NULL: none */
		bool ticks;		   /* times of pairs are ticks */
		uint64_t samples, calls;   /* events of other subjects */
		uint64_t weightless;	   /* samples without the field of --weight */
		uint64_t negative;	   /* stacks left out, without is_signed */
	} samples;			   /* the subject, and what was left out */
	struct pair_profile *pairs;	   /* of --pair; NULL: none */
	struct other_events others;
	uint64_t values, gaps;
	uint64_t cut; /* calls that ended without a leave */
};

int stack_profile_init(struct stack_profile *s, struct encoding *en, call_stacks_key *key);
void stack_profile_free(struct stack_profile *s);
int stack_profile_block(struct stack_profile *s, const struct block *b);
/* End all open calls, at the end of the trace, and check --weight. Returns 0, or -1 with *e filled.
 */
int stack_profile_finish(struct stack_profile *s, struct error *e);
/* Get what the weights are of, such as "cycles", and their unit, "count" or "nanoseconds"; of calls
 * NULL. */
const char *sample_profile_type(const struct stack_profile *s, const char **unit);
/* The check of struct encoder, for encoders whose state begins with a struct stack_profile. */
int stack_profile_check(struct encoding *en, bool partial, struct error *e);
/* Report on standard error what the format cannot represent, and the calls without a leave; quiet:
 * only if the output is empty. format: "folded stacks hold"; most: its largest number. */
void stack_profile_report(const struct encoding *en, const struct stack_profile *s,
			  const char *format, uint64_t most);

/* --- a function as callgrind and pprof name it: name, module, file and line --- */

/* One function. */
struct profile_name {
	const char *name, *module, *file; /* ended by a NUL; module and file "" where unknown */
	uint32_t line;			  /* 0 unknown */
};

/* Append the key of a function, a call_stacks_key (common/calls/call_stacks.h). Control characters,
 * and bytes that are no UTF-8, are written \xHH. */
int profile_name_key(struct buffer *to, const struct location *p, struct text_ref name);

/* Get the function of a key, by its bytes or by its number. */
struct profile_name profile_name_at(const char *key);
struct profile_name profile_name_of(const struct intern *names, uint32_t number);

#endif

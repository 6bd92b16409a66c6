/*
 * pair_profile.h - profiles of pairs of events (common/pairs/pair.h): the time between them, by the
 * stack of the first one
 *
 * Where a profile has the names of threads as frames, and the trace has the event that wakes the
 * thread of a pair, the stack goes on with the frame "--", the frames of the waker from the
 * innermost one to the outermost one, and the waker's name.
 *
 * A function that returns int returns 0, or -1 when out of memory.
 */
#ifndef TR_TRENCODE_PROFILE_PAIR_PROFILE_H
#define TR_TRENCODE_PROFILE_PAIR_PROFILE_H

#include "common/pairs/pair.h"
#include "cmd/trencode/profile/sample_profile.h"

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

/* Begin; text was parsed before. calls: has the dictionary, and no calls. */
int pair_profile_init(struct pair_profile *p, const struct sample_profile *s,
		      const struct call_stacks *cs, struct dictionary *d);
void pair_profile_free(struct pair_profile *p);
/* Take an event, and add a pair that the event ends to the stacks. */
int pair_profile_event(struct pair_profile *p, const struct sample_profile *s,
		       struct call_stacks *cs, const struct event *ev);
/* Check the names in the pair, after the last event; partial: declarations may be missing. Returns
 * 0, or -1 with *e filled. */
int pair_profile_check(const struct pair_profile *p, bool partial, bool quiet, struct error *e);

#endif

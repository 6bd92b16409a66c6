/*
 * stack_limit.h - the maximum of frames of a stack that is written as a text or a list
 *
 * The frames above STACK_FRAMES others become one, STACK_DEEPER, so that the output grows with the
 * input and not with its square. STACK_FRAMES is the depth that uftrace records and shows unless
 * its -D is larger; perf records 127 frames, async-profiler 2048.
 */
#ifndef TR_UTIL_STACK_LIMIT_H
#define TR_UTIL_STACK_LIMIT_H

enum { STACK_FRAMES = 1024 };

#define STACK_DEEPER "..."
/* Text after their number in a report on stderr. */
#define STACK_DEEP                                                                                 \
	"{stack|stacks} of more than 1024 frames: the frames above these are one, \"" STACK_DEEPER \
	"\""

#endif

/*
 * stack_frames.h - inlined functions and source lines of the frames of recorded stacks
 *
 * A frame of a recorded stack is an address. If functions were inlined there, the STACK is declared
 * again: the frame becomes one frame for each function, of which the outermost keeps the LOCATION
 * of the address. Each inlined function has a LOCATION of its own, with the same space and address
 * and with the name of the function. The address of a frame that called another one is a return
 * address, so the code before it is looked up.
 *
 * The ids of these declarations count down from 2^32 - 1. So the input must not contain inlined
 * functions already.
 */
#ifndef TR_TRSYM_STACK_FRAMES_H
#define TR_TRSYM_STACK_FRAMES_H

#include "common/cli/stage.h"
#include "cmd/trsym/resolve.h"

struct stack_frames;

struct stack_frames_options {
	bool inlined; /* add inlined functions */
	bool lines;   /* the line of a frame is that of its code */
	enum demangle_style style;
};

/* NULL when out of memory. */
struct stack_frames *stack_frames_new(struct resolver *r,
				      const struct stack_frames_options *options);
void stack_frames_free(struct stack_frames *f);

/* Begin a segment. */
void stack_frames_begin(struct stack_frames *f, const struct head *h);

/* Declare the STACKs of a DICT block again where functions were inlined, after the block was passed
 * on. Returns 0, or -1 after stage_fail. */
int stack_frames_add(struct stack_frames *f, struct stage *s, const struct block *b);

#endif

/*
 * stacks.h - the frames of "stackFrames" and of V8's CPU profiles, and the stacks that they make
 *
 * A frame has a key, its name, and the key of its caller's frame, which may come later. Functions
 * return 0, or -1 when out of memory.
 */
#ifndef TR_TRDECODE_CHROME_STACKS_H
#define TR_TRDECODE_CHROME_STACKS_H

#include "common/stream/writer.h"
#include "common/value/json_reader.h"

struct chrome_call_frame {
	uint32_t name, file, line; /* name, file: strings of the writer */
	uint32_t parent;	   /* number of the caller's frame + 1; 0 none */
	uint32_t stack;		   /* of the writer; 0 not yet declared */
	bool known, visited;
};

struct chrome_frames {
	struct intern keys; /* a frame's number is that of its key */
	struct chrome_call_frame *frame;
	size_t size;
	uint64_t unknown; /* frames that are named and not there */
	struct buffer key, path;
};

/* Get the number of a frame + 1. space: 0, or that of the profile whose frame it is. 0: out of
 * memory. */
uint32_t chrome_frame(struct chrome_frames *f, uint32_t space, const void *key, size_t n);
/* Set what is known of a frame; parent 0: it has no caller. */
int chrome_frame_set(struct chrome_frames *f, uint32_t number,
		     const struct chrome_call_frame *content);
/* Read "stackFrames", after its '{'. -1: BAD, or out of memory. */
int chrome_frames_read(struct chrome_frames *f, struct writer *w, struct json_reader *r);
/* Declare the stack of a frame + 1. */
int chrome_frames_stack(struct chrome_frames *f, struct writer *w, uint32_t number,
			uint32_t *stack);
void chrome_frames_free(struct chrome_frames *f);

#endif

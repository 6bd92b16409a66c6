/*
 * frames.h - frames of profiles: functions that name the frames of their callers
 *
 *     2: "f", called by 1     the stack main, f
 *     1: "main"
 */
#ifndef TR_TRDECODE_FRAMES_H
#define TR_TRDECODE_FRAMES_H

#include "common/stream/writer.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"

/* A function at a line of a file. The texts are strings of the writer; 0: unknown. */
struct named_frame {
	uint32_t name, file, module, line;
	uint32_t arguments; /* definition: the names of its arguments; 0 none */
	bool kernel;
	bool inside; /* the line is one in the function: others are of the same function */
};

/* The locations of named frames, each declared once. Zero-initialised except for w: none. */
struct frame_locations {
	struct writer *w;
	uint32_t *plain; /* by the name: of the frame with nothing else */
	size_t nplain;
	struct key_map listed;	/* by the name and the arguments: of the frame with these alone */
	struct id_cache known;	/* by the frame: of others */
	size_t count;		/* declared */
	struct id_cache epochs; /* by the frame without its arguments, if that is not plain */
	struct key_map names;	/* by the name: how many such frames have it */
};

/* Get the location of a frame. 0: out of memory. */
uint32_t frame_location(struct frame_locations *l, const struct named_frame *f);
void frame_locations_free(struct frame_locations *l);

/* A frame with its caller. */
struct linked_frame {
	struct named_frame is;
	uint32_t parent; /* number of the caller's frame; 0 none */
	uint32_t stack;	 /* of the writer; 0 not yet declared */
	bool known;	 /* frame_table_set was called */
	bool visited;
	uint32_t walk; /* of v8_check_frames: the first one that met it */
};

/*
 * The frames of an input. A frame has a key; its caller may come later. Numbers count from 1.
 *
 * Functions return 0, or -1 (a number: 0) when out of memory. Zero-initialised except for
 * locations.w: empty.
 */
struct frame_table {
	struct frame_locations locations;
	struct intern keys; /* a frame's number - 1 is that of its key */
	struct linked_frame *frame;
	size_t size;
	uint64_t unknown;    /* frames that are named and not there */
	uint32_t unnumbered; /* frames without a key of the input */
	struct buffer key, path;
};

/* Get the number of the frame with a key of n bytes. space: part of the key. key NULL: of a new
 * frame, which no key names. */
uint32_t frame_table_number(struct frame_table *t, uint32_t space, const void *key, size_t n);
/* Set the content of a frame, and its caller unless it is 0; of two contents the first is valid. */
void frame_table_set(struct frame_table *t, uint32_t number, const struct named_frame *content,
		     uint32_t parent);
/* Get the stack of the writer for a frame and its callers; number 0: none. */
int frame_table_stack(struct frame_table *t, uint32_t number, uint32_t *stack);
void frame_table_free(struct frame_table *t);

/* Get a frame by its number. */
static inline struct linked_frame *frame_table_at(const struct frame_table *t, uint32_t number)
{
	return &t->frame[number - 1];
}

#endif

/*
 * path.h - --why EXPR: critical paths as slices of a timeline, a track for each thread of a path
 *
 *     Critical path of main-11
 *       main-11      [running in commit]                          [running in commit]
 *       worker-12                       [running in compress] -->
 */
#ifndef TR_TRENCODE_PATH_H
#define TR_TRENCODE_PATH_H

#include "common/util/buffer.h"
#include "common/util/intern.h"

struct dictionary;
struct error;
struct event;

struct path_slice {
	uint64_t begin, end;
	uint32_t task;	 /* number of the thread */
	uint32_t thread; /* its name, and the text of the part: numbers in labels */
	uint32_t text;
	uint32_t depth;
	uint64_t flow; /* number of the flow that leads to it from the one before; 0: none does */
};

/* The paths of a thread, each time of which is written once. */
struct why_path {
	struct intern labels;
	uint32_t of;			 /* number of the thread */
	uint32_t stream;		 /* the present stream (struct dictionary) */
	const struct path_slice *slices; /* to write, the earliest first */
	size_t count;
	const struct path_slice *before; /* was written before them; NULL: none that ends there */
	const struct path_slice *after;	 /* is written after them; NULL: none that begins there */
	struct buffer scratch;
	/* the encoder's: write the slices. -1: *e is filled */
	int (*write)(void *ctx, const struct why_path *p, struct error *e);
	void *ctx;
	struct error *e;
	struct path_run *run;
};

/* Begin a run of --why; NULL with e filled. */
struct why_path *why_path_begin(const char *expr, struct dictionary *d, struct error *e);
void why_path_free(struct why_path *p);

/* Take an event, or with NULL end the run. Returns -1 with e filled. */
int why_path_event(struct why_path *p, const struct event *ev, struct error *e);

/* Append the name of a thread. Returns -1 when out of memory. */
int why_path_name(const struct why_path *p, uint32_t task, struct buffer *b);

#endif

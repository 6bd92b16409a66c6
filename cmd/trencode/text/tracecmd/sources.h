/*
 * sources.h - the inputs whose kernel events are printed: what each tells of its
 * kernel, and the column of files and instances in front of the lines
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_SOURCES_H
#define TR_TRENCODE_TEXT_TRACECMD_SOURCES_H

#include "cmd/trencode/text/tracecmd/tracecmd.h"

/* An input of trdecode. */
struct tc_source {
	const struct source *source;
	struct text_kernel *kernel;
	struct print_kernel names;
	struct buffer buffers; /* the META of that name: name, clock, page size, CPUs */
	struct binary_formats binary;
	bool ready;
};

struct tc_sources {
	struct tc_source **at;
	size_t count, capacity;
	int width; /* of the column; 0: there is none */
	bool header;
};

void tc_sources_free(struct tc_sources *s);
/* The one of that input, made if it was not there. NULL: out of memory. */
struct tc_source *tc_source_of(struct tc_sources *s, const struct source *source);
/* A piece of a META block. -1: out of memory. */
int tc_sources_meta(struct tc_sources *s, const struct source *source, const struct meta *m);
/* Before its first event: what META said is complete. -1: out of memory. */
int tc_source_begin(struct tc_source *t);

/* "cpus=2": what report begins with, once all META are there; nothing at later times. */
void tc_header(struct tc_sources *s, struct line *out);
/* "instance: " or "file: ", blank for the top buffer of the only file. */
void tc_prefix(const struct tc_sources *s, const struct lane *lane, struct line *out);

#endif

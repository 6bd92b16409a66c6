/*
 * flame_graph.h - draws a tree of stacks as a flame graph
 *
 * A frame is a rectangle above that of its caller; its width is the total of the stack. Siblings
 * are sorted by name. A frame narrower than a tenth of a pixel is not drawn by itself: those of one
 * caller become one frame. A graph has at most SVG_FRAMES_MOST frames, of SVG_BYTES_MOST bytes; the
 * narrowest ones beyond are merged in the same way.
 *
 * A differential graph compares the sums with those of an earlier trace, of the same stacks. These
 * are scaled to the same sum of all stacks. The widths are those of the present trace. A frame that
 * has grown is red, one that has shrunk is blue with a dashed edge, and the more it has changed the
 * stronger.
 */
#ifndef TR_PICTURE_FLAME_GRAPH_H
#define TR_PICTURE_FLAME_GRAPH_H

#include "common/calls/stack_tree.h"
#include "common/util/intern.h"

struct text;

/* What is drawn. */
struct flame_graph {
	const struct stack_tree *tree;
	const struct intern *names;
	const char *title;	 /* NULL: none */
	const char *what, *unit; /* what is added up: "time of calls", "ns" */
	/* of a differential graph: the self of each node in the earlier trace; NULL: none */
	const uint64_t *before;
	size_t part_bytes; /* most bytes of a part of a page; 0: a file of its own */
};

/* Write the graph. Returns 0, or -1 when out of memory. */
int flame_graph_draw(const struct flame_graph *g, struct text *out);

/* A differential graph of stacks that are texts. */
struct flame_difference {
	struct flame_graph graph; /* the caller sets the title, what, and the unit */
	struct stack_tree tree;
	struct intern names;
	uint64_t *before;
	size_t nbefore;
};

/* Returns -1 when out of memory; flame_difference_free in any case. */
int flame_difference_init(struct flame_difference *f);
/* Add the sums of a stack "a;b;c" in the earlier trace and in the present one. Returns -1 when out
 * of memory. */
int flame_difference_add(struct flame_difference *f, const char *text, size_t size, uint64_t before,
			 uint64_t now);
/* Write the graph. Returns -1 when out of memory. */
int flame_difference_draw(struct flame_difference *f, struct text *out);
void flame_difference_free(struct flame_difference *f);

#endif

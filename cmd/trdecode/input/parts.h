/*
 * parts.h - inputs that are parts of one trace (trencode --split, common/formats/part.h)
 *
 * Parts that follow each other, as operands and in their numbers, are one trace: they have one
 * source, whose META blocks are those of the last part, and the leaves and enters that were made
 * where the trace was cut are left out. Where the next part is no input, the types of these leaves
 * get TYPE_CONTINUES. A remark names the parts that are missing before another one. TYPE_CONTINUES
 * is also of each call with a number, whose numbers are those of one part.
 */
#ifndef TR_TRDECODE_INPUT_PARTS_H
#define TR_TRDECODE_INPUT_PARTS_H

#include "common/util/intern.h"
#include "cmd/trdecode/decoder.h"

/* Note the mark of an input, before its source is declared. Returns false for another text. One
 * that has words of a mark is damage. */
bool input_take_part(struct input *in, const char *text);
/* Add ns to the times of the mark: the events have times that are as much later. */
void input_shift_part(struct input *in, int64_t ns);
/* Find the part before an input. Called when all inputs are open, and again by input_source, for a
 * mark that is read later. */
void input_join_part(struct input *in);
/* Declare the source of an input: that of the part before, if there is one. */
uint32_t input_source(struct input *in, const struct source_entry *e);

/* Send a META of an input whose mark was read before all inputs were open. A part describes what it
 * and the parts before contain, so only the last one is sent. 0, or -1 with the writer's error. */
int input_meta(struct input *in, const char *name, const void *data, size_t n);
/* Write the mark of the trace whose last part an input is, with the times of the stream. Returns
 * false if that trace is no part. */
bool input_part_mark(const struct input *in, char text[PART_TEXT]);

/* The cuts of all inputs. */
struct input_cuts {
	struct decoding *decoding;
	struct intern stacks; /* that have cut calls */
	uint32_t *counts;     /* by stack: calls that the next part goes on with */
	size_t ncounts;
	struct id_cache types; /* type with TYPE_CONTINUES, by type */
	bool out_of_memory;
};

/* Change the rows at the cuts from here on, if an input has a mark. Called after begin of all
 * inputs; c must not move. */
void input_cuts_begin(struct input_cuts *c, const struct input *inputs, int n, struct decoding *d);
void input_cuts_free(struct input_cuts *c);

#endif

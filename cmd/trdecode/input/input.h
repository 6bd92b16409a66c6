/*
 * input.h - an operand of the command line: opened, looked at, given to the decoder that knows it
 */
#ifndef TR_TRDECODE_INPUT_INPUT_H
#define TR_TRDECODE_INPUT_INPUT_H

#include "cmd/trdecode/decoder.h"

/*
 * Open a directory, a file of one, a tar, a saved stream, or "-", and find its decoder among the
 * ended list, by content, or the one of that name (format not NULL). -1: cannot be opened, or is no
 * trace that is known.
 */
int input_open(struct input *in, const char *name, const char *format,
	       const struct decoder *const *decoders, struct decoding *decoding, struct error *e);
/* -1: operand number i is standard input, and so is one before it. */
int input_twice(char *const *names, int i, struct error *e);
/* -1: operand number i is one that stands before it, whose events would all come twice. */
int input_same(const struct input *inputs, int i, struct error *e);
/* Is the input the regular file that the output goes to? Then -1. */
int input_is(const struct input *in, const struct output *out, struct error *e);
void input_close(struct input *in);

#endif

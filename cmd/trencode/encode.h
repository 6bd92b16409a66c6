/*
 * encode.h - encode a stream
 */
#ifndef TR_TRENCODE_ENCODE_H
#define TR_TRENCODE_ENCODE_H

#include "cmd/trencode/encoder.h"

/* Encode the stage's inputs to its output, or to the directory options->output. clip: its window,
 * limit and split are set. Prints errors and sets the exit status in the stage. */
void encode_stream(struct stage *s, const struct encoder *encoder,
		   const struct encode_options *options, struct clip *clip);

#endif

/*
 * encode.h - a stream goes through an encoder
 */
#ifndef TR_TRENCODE_ENCODE_H
#define TR_TRENCODE_ENCODE_H

#include "cmd/trencode/encoder.h"

/* From the stage's inputs to its output, or to the directory of options->output. What goes wrong is
 * printed; the stage has the exit status. */
void encode_stream(struct stage *s, const struct encoder *encoder,
		   const struct encode_options *options);

#endif

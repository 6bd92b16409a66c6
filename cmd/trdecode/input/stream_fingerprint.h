/*
 * stream_fingerprint.h - compute the id of a stream: equal for equal inputs decoded with equal
 * options
 *
 * trstat --merge recognises the summaries of one stream by this id. Copies of a trace, other names
 * of its files and other file times do not change the id.
 */
#ifndef TR_TRDECODE_INPUT_STREAM_FINGERPRINT_H
#define TR_TRDECODE_INPUT_STREAM_FINGERPRINT_H

#include "cmd/trdecode/decoder.h"

/*
 * Hash all inputs and the options that change the stream: the row filter, clock, shifts, --segment
 * and --max-value. Small files are hashed whole; of large files, the size and pieces at many
 * offsets; of inputs that can only be read forward, the first bytes.
 */
uint64_t stream_fingerprint(const struct input *inputs, int n, const struct decoding *d);

#endif

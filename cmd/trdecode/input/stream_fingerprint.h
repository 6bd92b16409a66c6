/*
 * stream_fingerprint.h - the id of a stream: the same for the same inputs decoded in the same way
 *
 * So trstat --merge knows which summaries are of one stream. Copies of a trace, and the times and
 * the place of its files, change nothing.
 */
#ifndef TR_TRDECODE_INPUT_STREAM_FINGERPRINT_H
#define TR_TRDECODE_INPUT_STREAM_FINGERPRINT_H

#include "cmd/trdecode/decoder.h"

/*
 * Of all inputs, with what the options say about them: limits, clock, shifts, --segment and
 * --max-value. Of small files every byte counts; of large ones their size and what stands in many
 * places; of what can only be read forward its first bytes.
 */
uint64_t identity_of(const struct input *inputs, int n, const struct decoding *d);

#endif

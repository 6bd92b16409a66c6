/*
 * folded.h - profiles as folded stacks, pictures, call graphs and callgrind files
 */
#ifndef TR_TRENCODE_FOLDED_H
#define TR_TRENCODE_FOLDED_H

#include "cmd/trencode/encoder.h"

/*
 * The parts of the encoder of folded stacks that other reports on stacks share.
 *
 * Each is the function of struct encoder with that name; the state of the run is a struct
 * stack_profile.
 */

int folded_begin(struct encoding *en, struct error *e);

/* Append the name as valid UTF-8, without the characters that separate frames: a call_stacks_key.
 */
int folded_clean_name(struct buffer *to, const struct location *p, struct text_ref name);

#endif

/*
 * encoder_choice.h - which encoder is meant
 *
 * A table of encoders ends with NULL.
 */
#ifndef TR_TRENCODE_ENCODER_CHOICE_H
#define TR_TRENCODE_ENCODER_CHOICE_H

#include "cmd/trencode/encoder.h"

/* NULL: there is none of that name. */
const struct encoder *encoder_find(const struct encoder *const *table, const char *name);

/* The format whose traces are usually called so: .NAME, or one of its suffixes; of several the
 * longest. NULL: there is none. */
const struct encoder *encoder_by_suffix(const struct encoder *const *table, const char *path);

/* Print what there are (--list). An exit status. */
int encoder_list(const struct encoder *const *table);

#endif

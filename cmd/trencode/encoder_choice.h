/*
 * encoder_choice.h - find an encoder by its name or by the name of the output
 *
 * A table of encoders ends with NULL.
 */
#ifndef TR_TRENCODE_ENCODER_CHOICE_H
#define TR_TRENCODE_ENCODER_CHOICE_H

#include "cmd/trencode/encoder.h"

/* Return the encoder of that name, or NULL. */
const struct encoder *encoder_find(const struct encoder *const *table, const char *name);

/* Return the encoder whose .NAME or suffix the path ends with, the longest of several; or NULL. */
const struct encoder *encoder_by_suffix(const struct encoder *const *table, const char *path);

/* Print the encoders (--formats). Returns an exit status. */
int encoder_list(const struct encoder *const *table);

#endif

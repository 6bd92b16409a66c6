/*
 * value_names.h - the texts of values that are stored in parts
 */
#ifndef TR_VALUE_VALUE_NAMES_H
#define TR_VALUE_VALUE_NAMES_H

#include "common/util/buffer.h"
#include "common/stream/dictionary.h"
#include "common/util/u128.h"
#include "common/stream/value.h"

/* Write the number of an ENUM in decimal, whatever its size, and a NUL; d may be NULL. Returns the
 * length without the NUL. */
size_t value_enum_decimal(char out[static I128_SIZE], const struct definition *d,
			  const struct value *v);

/* Get the label of an ENUM, the first in declaration order, else its number as above, written into
 * room. */
struct text_ref value_enum_text(char room[static I128_SIZE], const struct definition *d,
				const struct value *v);

/* Append the labels of a DEFINITION_SUMS that add up to a number without a label, taken in the
 * order of the members, and what is left: "F_C|F_A+0x8". Appends nothing if no member is in the
 * number. */
int value_sum_text(struct buffer *b, const struct definition *d, uint64_t number);

/* Append the names of the bits that are set, as "A|B|0x40"; d may be NULL. -1: out of memory.
 */
int value_bits_text(struct buffer *b, const struct definition *d, uint64_t bits);

/* Append a WSTRING as UTF-8, up to a unit 0; an invalid character becomes U+FFFD. -1: out of
 * memory. */
int value_wide_text(struct buffer *b, const struct value *v);

/* Append the functions of a back trace of count FRAMEs, the outermost first, with ';' between them;
 * of a frame without a name its module and offset. -1: out of memory. */
int value_backtrace_text(struct buffer *b, const struct dictionary *d, const struct values *v,
			 uint64_t count);

#endif

/*
 * arithmetic.h - the operators of conditions that make a number of two
 *
 * A value that is not a number, a division by zero and a negative shift give no value. The results
 * of + - * and << on integers are exact where they fit into 64 bits, signed or unsigned; otherwise
 * they wrap. The results of & | and ^ are unsigned if one side is. A shift by 64 and more shifts
 * all bits out. Real numbers are calculated as doubles, and only by + - * and /. A division is one
 * of real numbers also if one side is an integer that is written with a point or an exponent.
 */
#ifndef TR_EXPR_ARITHMETIC_H
#define TR_EXPR_ARITHMETIC_H

#include "common/value/scalar.h"

enum arithmetic {
	ARITHMETIC_OR,
	ARITHMETIC_XOR,
	ARITHMETIC_AND,
	ARITHMETIC_LEFT,
	ARITHMETIC_RIGHT,
	ARITHMETIC_ADD,
	ARITHMETIC_SUBTRACT,
	ARITHMETIC_MULTIPLY,
	ARITHMETIC_DIVIDE,
	ARITHMETIC_REMAINDER,
};

/* Returns the operator as it is written. */
const char *arithmetic_sign(enum arithmetic how);

/* Returns true for an operator that real numbers have no result for. */
bool arithmetic_of_integers(enum arithmetic how);

struct scalar arithmetic(enum arithmetic how, const struct scalar *a, const struct scalar *b);

#endif

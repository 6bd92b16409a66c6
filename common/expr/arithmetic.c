#include "common/expr/arithmetic.h"

#include "common/util/u128.h"

const char *arithmetic_sign(enum arithmetic how)
{
	static const char *const signs[] = {
		[ARITHMETIC_OR] = "|",	     [ARITHMETIC_XOR] = "^",
		[ARITHMETIC_AND] = "&",	     [ARITHMETIC_LEFT] = "<<",
		[ARITHMETIC_RIGHT] = ">>",   [ARITHMETIC_ADD] = "+",
		[ARITHMETIC_SUBTRACT] = "-", [ARITHMETIC_MULTIPLY] = "*",
		[ARITHMETIC_DIVIDE] = "/",   [ARITHMETIC_REMAINDER] = "%",
	};

	return signs[how];
}

bool arithmetic_of_integers(enum arithmetic how)
{
	return how <= ARITHMETIC_RIGHT || how == ARITHMETIC_REMAINDER;
}

static struct scalar no_value(void)
{
	return (struct scalar){.form = SCALAR_NONE};
}

static struct scalar make_integer(int128 n, bool is_signed)
{
	bool is_int = n < 0 || (is_signed && n <= INT64_MAX);

	return (struct scalar){.form = is_int ? SCALAR_INT : SCALAR_UINT, .u = (uint64_t)n};
}

static struct scalar make_bits(uint64_t bits, bool is_signed)
{
	return (struct scalar){.form = is_signed ? SCALAR_INT : SCALAR_UINT, .u = bits};
}

static int128 integer_of(const struct scalar *s)
{
	return s->form == SCALAR_INT ? (int128)s->i : (int128)s->u;
}

static int128 multiply(int128 x, int128 y)
{
	int128 n;

	/* only a product of two large unsigned numbers exceeds 128 bits */
	return __builtin_mul_overflow(x, y, &n) ? (int128)((uint64_t)x * (uint64_t)y) : n;
}

static struct scalar shift(enum arithmetic how, int128 x, int128 by, bool is_signed)
{
	if (by < 0)
		return no_value();
	if (how == ARITHMETIC_LEFT)
		return make_integer(by < 64 ? multiply(x, (int128)1 << by) : 0, is_signed);
	return make_integer(x >> (by < 64 ? by : 64), is_signed);
}

static struct scalar of_integers(enum arithmetic how, const struct scalar *a,
				 const struct scalar *b)
{
	bool is_signed = a->form == SCALAR_INT && b->form == SCALAR_INT;
	int128 x = integer_of(a), y = integer_of(b);

	switch (how) {
	case ARITHMETIC_OR: return make_bits(a->u | b->u, is_signed);
	case ARITHMETIC_XOR: return make_bits(a->u ^ b->u, is_signed);
	case ARITHMETIC_AND: return make_bits(a->u & b->u, is_signed);
	case ARITHMETIC_LEFT:
	case ARITHMETIC_RIGHT: return shift(how, x, y, a->form == SCALAR_INT);
	case ARITHMETIC_ADD: return make_integer(x + y, is_signed);
	case ARITHMETIC_SUBTRACT: return make_integer(x - y, is_signed);
	case ARITHMETIC_MULTIPLY: return make_integer(multiply(x, y), is_signed);
	case ARITHMETIC_DIVIDE: return y ? make_integer(x / y, is_signed) : no_value();
	case ARITHMETIC_REMAINDER: return y ? make_integer(x % y, is_signed) : no_value();
	}
	return no_value();
}

static double real_of(const struct scalar *s)
{
	if (s->form == SCALAR_REAL)
		return s->written ? s->as_double : (double)s->real;
	return s->form == SCALAR_INT ? (double)s->i : (double)s->u;
}

static struct scalar of_reals(enum arithmetic how, double x, double y)
{
	struct scalar s = {.form = SCALAR_REAL, .real_size = 8};

	switch (how) {
	case ARITHMETIC_ADD: s.real = x + y; return s;
	case ARITHMETIC_SUBTRACT: s.real = x - y; return s;
	case ARITHMETIC_MULTIPLY: s.real = x * y; return s;
	case ARITHMETIC_DIVIDE: s.real = x / y; return y != 0 ? s : no_value();
	default: return no_value();
	}
}

struct scalar arithmetic(enum arithmetic how, const struct scalar *a, const struct scalar *b)
{
	if (!scalar_is_number(a) || !scalar_is_number(b))
		return no_value();
	if (a->form == SCALAR_REAL || b->form == SCALAR_REAL ||
	    (how == ARITHMETIC_DIVIDE && (a->written || b->written)))
		return of_reals(how, real_of(a), real_of(b));
	return of_integers(how, a, b);
}

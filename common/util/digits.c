#include "common/util/digits.h"

char *decimal_long(char *p, uint64_t v)
{
	char *end = p + digits_count(v);

	digits_decimal(end, v);
	return end;
}

/* 1 + the value of a digit; 0: no digit */
static const uint8_t hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool digits_hex(const char **p, const char *end, uint64_t *value)
{
	uint64_t v = 0;
	const char *s = *p;

	for (; s < end && hex_digits[(unsigned char)*s]; s++) {
		if (v >> 60)
			return false;
		v = v << 4 | (hex_digits[(unsigned char)*s] - 1u);
	}
	if (s == *p)
		return false;
	*p = s;
	*value = v;
	return true;
}

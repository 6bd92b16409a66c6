#include "common/util/digits.h"

char *decimal_long(char *p, uint64_t v)
{
	char *end = p + digits_count(v);

	digits_decimal(end, v);
	return end;
}

bool digits_hex(const char **p, const char *end, uint64_t *value)
{
	uint64_t v = 0;
	const char *s = *p;

	for (; s < end; s++) {
		unsigned char c = (unsigned char)*s;
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (c | 0x20) - 'a' + 10;
		else
			break;
		if (v >> 60)
			return false;
		v = v << 4 | digit;
	}
	if (s == *p)
		return false;
	*p = s;
	*value = v;
	return true;
}

#include "common/util/digits.h"

char *decimal_long(char *p, uint64_t v)
{
	char *end = p + digits_count(v);

	digits_decimal(end, v);
	return end;
}

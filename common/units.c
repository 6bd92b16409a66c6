#include "units.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Digits with decimals, times scale, without floating point. */
static int scaled(const char *s, size_t n, uint64_t scale, uint64_t *out)
{
	unsigned __int128 whole = 0, part = 0, unit = 1;
	size_t i = 0, digits = 0;

	for (; i < n && isdigit((unsigned char)s[i]); i++, digits++) {
		whole = whole * 10 + (unsigned)(s[i] - '0');
		if (whole > UINT64_MAX)
			return -1;
	}
	if (i < n && s[i] == '.')
		for (i++; i < n && isdigit((unsigned char)s[i]); i++, digits++)
			if (unit < 1000000000000000000u) {
				part = part * 10 + (unsigned)(s[i] - '0');
				unit *= 10;
			}
	if (i != n || !digits)
		return -1;
	whole = whole * scale + part * scale / unit;
	if (whole > UINT64_MAX)
		return -1;
	*out = (uint64_t)whole;
	return 0;
}

struct unit {
	const char *name;
	uint64_t scale;
};

static int with_unit(const char *s, const struct unit *units, size_t nunits, uint64_t *out)
{
	size_t n = strspn(s, "0123456789.");

	for (size_t i = 0; i < nunits; i++)
		if (!strcmp(s + n, units[i].name))
			return scaled(s, n, units[i].scale, out);
	return -1;
}

int parse_time(const char *s, int64_t *ns)
{
	static const struct unit units[] = {
		{"", 1},	    {"ns", 1},		    {"us", 1000},
		{"ms", 1000000},    {"s", 1000000000},	    {"m", 60000000000},
		{"min", 60000000000}, {"h", 3600000000000},
	};
	int negative = *s == '-';
	uint64_t n;

	if (*s == '-' || *s == '+')
		s++;
	if (with_unit(s, units, sizeof(units) / sizeof(*units), &n) || n > INT64_MAX)
		return -1;
	*ns = negative ? -(int64_t)n : (int64_t)n;
	return 0;
}

int parse_size(const char *s, uint64_t *bytes)
{
	static const struct unit units[] = {
		{"", 1},
		{"K", 1ull << 10},   {"M", 1ull << 20},   {"G", 1ull << 30},   {"T", 1ull << 40},
		{"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40},
		{"kB", 1000},	     {"MB", 1000000},	  {"GB", 1000000000},  {"TB", 1000000000000},
	};

	return with_unit(s, units, sizeof(units) / sizeof(*units), bytes);
}

/*
 * units.c - units of time and size, in options and expressions
 */
#include "common/value/units.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Parse digits with decimals, times scale, without floating point; *rest: a fraction was
 * dropped. */
static int scaled(const char *s, size_t n, uint64_t scale, uint64_t *out, bool *rest)
{
	unsigned __int128 whole = 0, part = 0, unit = 1;
	size_t i = 0, digits = 0;

	*rest = false;
	for (; i < n && isdigit((unsigned char)s[i]); i++, digits++) {
		whole = whole * 10 + (unsigned)(s[i] - '0');
		if (whole > UINT64_MAX)
			return -1;
	}
	if (i < n && s[i] == '.') {
		for (i++; i < n && isdigit((unsigned char)s[i]); i++, digits++) {
			if (unit < 1000000000000000000u) {
				part = part * 10 + (unsigned)(s[i] - '0');
				unit *= 10;
			} else {
				*rest |= s[i] != '0';
			}
		}
	}
	if (i != n || !digits)
		return -1;
	*rest |= part * scale % unit != 0;
	whole = whole * scale + part * scale / unit;
	if (whole > UINT64_MAX)
		return -1;
	*out = (uint64_t)whole;
	return 0;
}

static const struct unit units[] = {
	{"", 1, UNIT_ANY},
	{"ns", 1, UNIT_TIME_NS},
	{"us", 1000, UNIT_TIME_NS},
	{"ms", 1000000, UNIT_TIME_NS},
	{"s", 1000000000, UNIT_TIME_NS},
	{"m", 60000000000, UNIT_TIME_NS},
	{"min", 60000000000, UNIT_TIME_NS},
	{"h", 3600000000000, UNIT_TIME_NS},
	{"K", 1ull << 10, UNIT_BYTES},
	{"M", 1ull << 20, UNIT_BYTES},
	{"G", 1ull << 30, UNIT_BYTES},
	{"T", 1ull << 40, UNIT_BYTES},
	{"KiB", 1ull << 10, UNIT_BYTES},
	{"MiB", 1ull << 20, UNIT_BYTES},
	{"GiB", 1ull << 30, UNIT_BYTES},
	{"TiB", 1ull << 40, UNIT_BYTES},
	{"kB", 1000, UNIT_BYTES},
	{"KB", 1000, UNIT_BYTES},
	{"MB", 1000000, UNIT_BYTES},
	{"GB", 1000000000, UNIT_BYTES},
	{"TB", 1000000000000, UNIT_BYTES},
};

const struct unit *unit_find(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == n && !memcmp(units[i].name, name, n))
			return &units[i];
	return NULL;
}

static int with_unit(const char *s, enum unit_kind kind, uint64_t *out, bool *rest)
{
	size_t n = strspn(s, "0123456789.");
	const struct unit *unit = unit_find(s + n, strlen(s + n));

	/* a time with a point is in seconds */
	if (kind == UNIT_TIME_NS && !s[n] && memchr(s, '.', n))
		unit = unit_find("s", 1);
	if (!unit || (unit->kind != UNIT_ANY && unit->kind != kind))
		return -1;
	return scaled(s, n, unit->scale, out, rest);
}

static int units_time_of(const char *s, int64_t *ns, bool *rest)
{
	int negative = *s == '-';
	uint64_t n;

	if (*s == '-' || *s == '+')
		s++;
	if (with_unit(s, UNIT_TIME_NS, &n, rest) || n > INT64_MAX)
		return -1;
	*ns = negative ? -(int64_t)n : (int64_t)n;
	return 0;
}

bool time_has_unit(const char *s)
{
	return *s && s[strspn(s, "+-0123456789")];
}

int time_needs_unit(const char *file, const char *option, const char *text, struct error *e)
{
	return error_set(e, file, NO_OFFSET, "%.200s: a time needs a unit: %.64sns or %.64ss?",
			 option, text, text);
}

int time_check_clock(const char *file, const char *option, const char *text, bool ticks,
		     struct error *e)
{
	bool unit = time_has_unit(text);

	if (ticks && unit)
		return error_set(e, file, NO_OFFSET,
				 "the clock counts ticks: %s takes a number without a unit, not "
				 "'%.64s'",
				 option, text);
	if (!ticks && !unit && strpbrk(text, "123456789"))
		return time_needs_unit(file, option, text, e);
	return 0;
}

int parse_time(const char *s, int64_t *ns)
{
	bool rest;

	return units_time_of(s, ns, &rest);
}

int parse_time_whole(const char *s, int64_t *ns)
{
	int64_t parsed;
	bool rest;

	if (units_time_of(s, &parsed, &rest) || rest)
		return -1;
	*ns = parsed;
	return 0;
}

int parse_size(const char *s, uint64_t *bytes)
{
	bool rest;

	return with_unit(s, UNIT_BYTES, bytes, &rest);
}

uint64_t round_step(uint64_t least)
{
	const uint64_t most = 10000000000000000000u; /* 10^19 */
	uint64_t power = 1;

	while (power < most && power * 10 <= least)
		power *= 10;
	if (power >= least)
		return power;
	if (power == most)
		return UINT64_MAX;
	return 2 * power >= least ? 2 * power : 5 * power >= least ? 5 * power : 10 * power;
}

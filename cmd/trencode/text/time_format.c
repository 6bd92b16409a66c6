#include "cmd/trencode/text/time_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_three_digits(char *out, unsigned v, char pad)
{
	out[0] = v >= 100 ? (char)('0' + v / 100) : pad;
	out[1] = v >= 10 ? (char)('0' + v / 10 % 10) : pad;
	out[2] = (char)('0' + v % 10);
}

/* Split a duration into whole units and their thousandths, or seconds of a minute, or minutes of an
 * hour. Returns the unit. */
static const char *duration_split(uint64_t ns, uint64_t *whole, uint64_t *part)
{
	uint64_t v;

	/* by constants: a division by a variable costs more than all the rest */
	if (ns < 1000000) {
		*whole = ns / 1000;
		*part = ns % 1000;
		return "us";
	}
	v = ns / 1000;
	if (v < 1000000) {
		*whole = v / 1000;
		*part = v % 1000;
		return "ms";
	}
	v /= 1000;
	if (v < 60000) {
		*whole = v / 1000;
		*part = v % 1000;
		return " s";
	}
	v /= 1000;
	if (v < 3600) {
		*whole = v / 60;
		*part = v % 60;
		return " m";
	}
	v /= 60;
	*whole = v / 60;
	*part = v % 60;
	return " h";
}

void duration_text(char *out, uint64_t ns)
{
	uint64_t whole, part;
	const char *unit;

	if (!ns) {
		memset(out, ' ', DURATION_WIDTH);
		return;
	}
	unit = duration_split(ns > INT64_MAX ? -ns : ns, &whole, &part);
	if (whole > 999)
		whole = part = 999;
	put_three_digits(out, (unsigned)whole, ' ');
	out[3] = '.';
	put_three_digits(out + 4, (unsigned)part, '0');
	out[7] = ' ';
	memcpy(out + 8, unit, 2);
}

size_t difference_text(struct time_difference *d, uint64_t time, bool ns, char out[DIFFERENCE_MOST])
{
	char text[DIFFERENCE_MOST - 2] = "";

	if (!ns)
		time = time / 1000 + (time % 1000 >= 500);
	if (d->has_last)
		snprintf(text, sizeof text, "(+%" PRId64 ")", (int64_t)(time - d->last));
	d->has_last = time != 0;
	d->last = time;
	return (size_t)snprintf(out, DIFFERENCE_MOST, " %-8s", text);
}

bool clock_in_seconds(const char *clock)
{
	static const char *const names[] = {"local", "global",	 "uptime", "perf",
					    "tai",   "tsc2nsec", "wall"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(clock, names[i]))
			return true;
	return !strncmp(clock, "mono", 4);
}

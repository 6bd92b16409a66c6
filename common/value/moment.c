#include "common/value/moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/value/units.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parse the digits after the point of a number of seconds, as ns. NULL: no digits. */
static const char *fraction(const char *s, int64_t *ns)
{
	int64_t unit = 100000000;

	if (!is_digit(*s))
		return NULL;
	for (*ns = 0; is_digit(*s); s++, unit /= 10)
		*ns += (*s - '0') * unit;
	return s;
}

/* Check the day of the month: strptime accepts the 31st of November, which mktime changes to
 * another day. */
static int days_of(const struct tm *tm)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = tm->tm_year + 1900;
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return days[tm->tm_mon] + (leap && tm->tm_mon == 1);
}

static int parse_wall(const char *text, struct moment *m)
{
	struct tm tm = {.tm_isdst = -1};
	int64_t ns = 0;
	const char *s = strptime(text, "%Y-%m-%d", &tm);
	time_t time;

	if (s && (*s == 'T' || *s == ' ')) {
		s = strptime(s + 1, "%H:%M", &tm);
		if (s && *s == ':')
			s = strptime(s + 1, "%S", &tm);
		if (s && *s == '.')
			s = fraction(s + 1, &ns);
	}
	if (!s || (*s && strcmp(s, "Z") != 0))
		return -1;
	if (tm.tm_mday > days_of(&tm))
		return -1;
	time = *s ? timegm(&tm) : mktime(&tm);
	m->from = MOMENT_WALL;
	if (__builtin_mul_overflow((int64_t)time, 1000000000, &m->ns) ||
	    __builtin_add_overflow(m->ns, ns, &m->ns))
		return -1;
	return 0;
}

int moment_parse(const char *text, struct moment *m)
{
	bool sign = *text == '+' || *text == '-';

	m->text = text;
	if (strspn(text, "0123456789") == 4 && text[4] == '-')
		return parse_wall(text, m);
	if (!is_digit(text[sign]) || parse_time(text + sign, &m->ns))
		return -1;
	m->from = *text == '+' ? MOMENT_START : *text == '-' ? MOMENT_END : MOMENT_CLOCK;
	return 0;
}

int moment_check_clock(const struct moment *m, const char *file, const char *option, bool ticks,
		       struct error *e)
{
	if (m->from == MOMENT_NONE || m->from == MOMENT_WALL)
		return 0;
	return time_check_clock(file, option, m->text, ticks, e);
}

int moment_time(const struct moment *m, const struct moment_base *base, uint64_t *time)
{
	__int128 t = m->ns;

	switch (m->from) {
	case MOMENT_START: t += base->start; break;
	case MOMENT_END: t = (__int128)base->end - t; break;
	case MOMENT_WALL:
		if (!base->has_wall)
			return -1;
		t -= base->wall;
		break;
	case MOMENT_NONE:
	case MOMENT_CLOCK: break;
	}
	*time = t < 0 ? 0 : t > UINT64_MAX ? UINT64_MAX : (uint64_t)t;
	return 0;
}

/* Spell a time as the options take it. */
static const char *spell(char text[40], bool ticks, uint64_t time)
{
	const uint64_t second = 1000000000;

	if (ticks)
		snprintf(text, 40, "%" PRIu64, time);
	else
		snprintf(text, 40, "%" PRIu64 ".%09" PRIu64, time / second, time % second);
	return text;
}

void moment_warn_empty(bool ticks, uint64_t first, uint64_t last)
{
	char from[40], to[40];

	spell(from, ticks, first);
	spell(to, ticks, last);
	warn(NULL, NO_OFFSET, "no event is in the range of --since and --until: the %s %s%s%s",
	     last ? "times are from" : "first event is at", from, last ? " to " : "",
	     last ? to : "");
}

int moment_option(struct moment *m, const char *option, const char *text, struct error *e)
{
	if (!moment_parse(text, m))
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "%s takes a time such as 12.5s, +1.5s, -10s or 2026-11-21 11:40, not '%s'",
			 option, text);
}

int moment_check_range(const struct moment *since, const struct moment *until, struct error *e)
{
	bool back = since->from == MOMENT_END;

	if (!since->from || since->from != until->from ||
	    (back ? since->ns > until->ns : since->ns < until->ns))
		return 0;
	return error_set(e, NULL, NO_OFFSET, "the time of --since is not before that of --until");
}

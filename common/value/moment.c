/*
 * moment.c - a moment as a user names it: --since, --until
 */
#include "common/value/moment.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/stream/dictionary.h"
#include "common/stream/index.h"
#include "common/stream/reader.h"
#include "common/util/buffer.h"
#include "common/value/units.h"

static bool moment_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parse the digits after the point of a number of seconds, as ns. NULL: no digits. */
static const char *fraction(const char *s, int64_t *ns)
{
	int64_t unit = 100000000;

	if (!moment_is_digit(*s))
		return NULL;
	for (*ns = 0; moment_is_digit(*s); s++, unit /= 10)
		*ns += (*s - '0') * unit;
	return s;
}

bool moment_is_date(int year, int month, int day)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return month >= 1 && month <= 12 && day >= 1 &&
	       day <= days[month - 1] + (leap && month == 2);
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
	if (!s || (*s && strcmp(s, "Z") != 0) ||
	    !moment_is_date(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday))
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
	if (!moment_is_digit(text[sign]) || parse_time(text + sign, &m->ns))
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

/* --- time window --- */

void time_window_free(struct time_window *w)
{
	free(w->ends);
	free(w->clocks);
}

/* --- the end of the input --- */

/* Note the end of a stream or segment. */
static int note_end(void *ctx, const struct segment_span *s)
{
	struct time_window *w = ctx;
	uint64_t *end;

	if (!s->sequence || !w->nends) {
		if (ARRAY_GROW(w->ends, w->ends_capacity, w->nends))
			return -1;
		w->ends[w->nends++] = 0;
	}
	end = &w->ends[w->nends - 1];
	if (s->end.events && s->end.last > *end)
		*end = s->end.last;
	return 0;
}

int time_window_find_ends(struct time_window *w, char **paths, int n, struct error *e)
{
	static char *const standard[] = {(char *)"-"};

	if (w->since.from != MOMENT_END && w->until.from != MOMENT_END)
		return 0;
	for (int i = 0; i < (n ? n : 1); i++) {
		const char *path = (n ? paths : standard)[i];
		bool is_standard = !strcmp(path, "-");
		int fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), bad;

		if (fd < 0)
			return error_errno(e, path, NO_OFFSET, "cannot open");
		bad = reader_tail_segments(fd, note_end, w);
		if (!is_standard)
			close(fd);
		if (bad)
			return error_set(e, is_standard ? "standard input" : path, NO_OFFSET,
					 "a time before the end needs a complete saved stream, "
					 "since its end is read first");
	}
	return 0;
}

/* --- times --- */

void time_window_block(struct time_window *w, const struct block *b, bool new_stream)
{
	if (b->kind == BLOCK_HEAD && new_stream) {
		w->stream += w->any;
		w->started = false;
		w->nclocks = 0;
	} else if (!w->started && b->kind == BLOCK_EVENTS && b->rows) {
		w->started = true;
		w->start = b->base;
	} else if (!w->started && b->kind == BLOCK_SNAPSHOT && b->base < UINT64_MAX) {
		w->started = true;
		w->start = b->base;
	}
	w->any |= b->kind == BLOCK_HEAD;
	if (b->kind == BLOCK_EVENTS && b->rows && b->last > w->last)
		w->last = b->last;
	if (b->kind == BLOCK_EVENTS && b->nlanes)
		w->ticks = b->lanes[0]->clock->flags & CLOCK_TICKS;
}

/* Convert the moment of an option to a time of a clock; without a moment *time is left alone. */
static int moment_find_time(const struct time_window *w, bool since, const struct clock *c,
			    uint64_t *time, struct error *e)
{
	const struct moment_base base = {.start = w->start,
					 .end = w->stream < w->nends ? w->ends[w->stream] : 0,
					 .wall = c->wall,
					 .has_wall = c->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)};
	const struct moment *m = since ? &w->since : &w->until;

	if (!m->from)
		return 0;
	if (moment_check_clock(m, NULL, since ? "--since" : "--until", c->flags & CLOCK_TICKS, e))
		return -1;
	if (moment_time(m, &base, time))
		return error_set(e, NULL, NO_OFFSET,
				 "the clock '%s' has no wall time: use a time of this clock",
				 c->name.text);
	return 0;
}

const struct clock_window *time_window_of(struct time_window *w, const struct clock *c)
{
	static const struct clock_window none = {true, UINT64_MAX, 0};
	struct clock_window *of;

	if (ARRAY_REACH(w->clocks, w->nclocks, c->number)) {
		error_no_memory(&w->error);
		w->failed = true;
		return &none;
	}
	of = &w->clocks[c->number];
	if (!of->known) {
		struct error e;

		*of = (struct clock_window){true, 0, UINT64_MAX};
		if (moment_find_time(w, true, c, &of->since, &e) ||
		    moment_find_time(w, false, c, &of->until, &e)) {
			if (!w->failed)
				w->error = e;
			w->failed = true;
			return &none;
		}
	}
	return of;
}

enum section_time time_window_section(const struct time_window *w, const struct dictionary *d,
				      const struct index_section *s)
{
	bool before = true, after = true;

	/* without rows so far, moments after the first event have no meaning */
	if (!w->started || !time_window_any(w))
		return SECTION_WITHIN;
	for (uint32_t i = 1; i < d->clocks.count; i++) {
		const struct clock_window *of = i < w->nclocks ? &w->clocks[i] : NULL;

		if (!of || !of->known)
			return SECTION_WITHIN;
		before = before && s->last < of->since;
		after = after && s->first >= of->until;
	}
	return before ? SECTION_BEFORE : after ? SECTION_AFTER : SECTION_WITHIN;
}

void time_window_report(const struct time_window *w)
{
	if (time_window_any(w) && !w->failed)
		moment_warn_empty(w->ticks, w->start, w->last);
}

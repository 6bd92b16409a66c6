#include "cmd/trstat/monitor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/util/io.h"
#include "common/value/units.h"

enum { SECOND = 1000000000 };

static uint64_t clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static int parse_width(const char *words, uint64_t *width, struct error *e)
{
	int64_t t;

	if (parse_time(words, &t) || t <= 0)
		return error_set(e, NULL, NO_OFFSET,
				 "-i takes a time such as 2s or 500ms, not '%s'", words);
	*width = (uint64_t)t;
	return 0;
}

int monitor_check(const char *words, bool wall, struct error *e)
{
	uint64_t width;

	return parse_width(words, &width, e) ||
			       (wall && time_check_clock(NULL, "-i", words, false, e))
		       ? -1
		       : 0;
}

int monitor_width(const char *words, bool ticks, uint64_t *width, struct error *e)
{
	return time_check_clock(NULL, "-i", words, ticks, e) || parse_width(words, width, e) ? -1
											     : 0;
}

/* Print the interval, and start the next one. Returns -1 if the program must stop. */
static int print_interval(struct monitor *m)
{
	if (statistics_show(m->statistics) || alarms_each(m->alarms, statistics_show)) {
		m->out_of_memory = true;
		return -1;
	}
	m->stop |= m->print(m->ctx, &m->now);
	m->now.first = false;
	if (!m->stop &&
	    (statistics_reset(m->statistics) || alarms_each(m->alarms, statistics_reset)))
		m->out_of_memory = true;
	return m->stop || m->out_of_memory ? -1 : 0;
}

/* --- wall clock --- */

static void begin_wall(struct monitor *m)
{
	m->now.time = clock_now(CLOCK_REALTIME);
	m->next = clock_now(CLOCK_MONOTONIC) + m->width;
}

/* Print an interval that is over. After a long pause that is one interval, not many. */
static int check_wall(struct monitor *m)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);

	if (now < m->next)
		return 0;
	if (print_interval(m))
		return -1;
	m->now.time = clock_now(CLOCK_REALTIME);
	m->next += (now - m->next) / m->width * m->width + m->width;
	return 0;
}

/* Wait before a read that would block, so that intervals are printed in time. */
static int wait_wall(void *ctx)
{
	struct monitor *m = ctx;
	struct pollfd p = {m->in->input.fd, POLLIN, 0};

	for (;;) {
		uint64_t now = clock_now(CLOCK_MONOTONIC);
		uint64_t ms = now < m->next ? (m->next - now) / 1000000 + 1 : 0;
		int got = poll(&p, 1, ms < 60000 ? (int)ms : 60000);

		if (check_wall(m))
			return -1;
		if (got > 0 || io_stopped() || (got < 0 && errno != EINTR))
			return 0;
	}
}

/* --- trace time --- */

static int monitor_feed(struct monitor *m, const struct block *b, struct events it, uint64_t end,
			struct events *left)
{
	*left = it;
	if (statistics_until(m->statistics, b, left, end) || alarms_until(m->alarms, b, it, end)) {
		m->out_of_memory = true;
		return -1;
	}
	return 0;
}

static void begin_interval(struct monitor *m, uint64_t time)
{
	m->begun = true;
	m->now.time = time - time % m->width;
	if (m->keyed)
		statistics_set_cell(m->statistics, CELL_INTERVAL, key_unsigned(m->now.time));
}

/* Print the interval, if it has groups, and begin that of a later time. Returns -1 if the program
 * must stop. */
static int next_interval(struct monitor *m, uint64_t time)
{
	if (!m->keyed && m->statistics->groups.count && print_interval(m))
		return -1;
	begin_interval(m, time);
	return 0;
}

/* Returns the end of the interval; no time is after UINT64_MAX. */
static uint64_t interval_end(const struct monitor *m)
{
	uint64_t end;

	return __builtin_add_overflow(m->now.time, m->width, &end) ? UINT64_MAX : end;
}

static int trace_block(struct monitor *m, const struct block *b)
{
	struct events it, left;
	struct event e;

	if (!b->rows)
		return 0;
	if (!m->begun)
		begin_interval(m, b->base > m->latest ? b->base : m->latest);
	else if (m->latest >= interval_end(m) && next_interval(m, m->latest))
		return -1;
	m->latest = 0;
	if (b->last < interval_end(m) || interval_end(m) == UINT64_MAX) {
		m->out_of_memory = statistics_block(m->statistics, b) || alarms_block(m->alarms, b);
		return m->out_of_memory ? -1 : 0;
	}
	events_begin(&it, b);
	for (;;) {
		if (monitor_feed(m, b, it, interval_end(m), &left))
			return -1;
		it = left;
		if (!event_next(&left, &e))
			return 0;
		if (next_interval(m, e.time))
			return -1;
	}
}

int monitor_begin(struct monitor *m, struct error *e)
{
	m->now = (struct interval){.first = true, .wall = m->wall};
	if (!m->wall)
		return 0;
	if (parse_width(m->words, &m->width, e))
		return -1;
	m->now.width = m->width;
	begin_wall(m);
	m->in->before_block = wait_wall;
	m->in->before_block_ctx = m;
	return 0;
}

static int set_width(struct monitor *m, bool ticks, struct error *e)
{
	if (!m->width && monitor_width(m->words, ticks, &m->width, e))
		return -1;
	m->now.width = m->width;
	return 0;
}

int monitor_block(struct monitor *m, const struct block *b, struct error *e)
{
	bool ticks = false;

	e->what[0] = '\0';
	if (m->wall) {
		m->out_of_memory = statistics_block(m->statistics, b) || alarms_block(m->alarms, b);
		return m->out_of_memory || check_wall(m) ? -1 : 0;
	}
	for (uint32_t i = 0; i < b->nlanes; i++)
		ticks |= b->lanes[i]->clock->flags & CLOCK_TICKS;
	return set_width(m, ticks, e) ? -1 : trace_block(m, b);
}

void monitor_restore(struct monitor *m, const struct block *b)
{
	m->latest = b->last > m->latest ? b->last : m->latest;
}

int monitor_end(struct monitor *m, struct error *e)
{
	const struct dictionary *d = m->statistics->dictionary;
	const struct lane *lane = d->lanes.count > 1 ? dictionary_lane(d, 1) : NULL;

	if (m->wall || !m->latest || !lane)
		return 0;
	if (set_width(m, lane->clock->flags & CLOCK_TICKS, e))
		return -1;
	if (!m->begun)
		begin_interval(m, m->latest);
	else if (m->latest >= interval_end(m))
		m->stop |= next_interval(m, m->latest) != 0;
	return 0;
}

void monitor_restart(struct monitor *m)
{
	m->begun = false;
	m->latest = 0;
}

void monitor_finish(struct monitor *m)
{
	if (!m->stop && !m->out_of_memory && (m->wall || m->statistics->groups.count))
		m->stop |= m->print(m->ctx, &m->now);
}

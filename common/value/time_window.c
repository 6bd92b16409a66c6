#include "common/value/time_window.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/stream/reader_tail.h"
#include "common/util/buffer.h"

void time_window_free(struct time_window *w)
{
	free(w->ends);
	free(w->clocks);
}

/* --- the end of the input --- */

/* Note the end of a stream or segment. */
static int note_end(void *ctx, bool first, uint64_t events, uint64_t last)
{
	struct time_window *w = ctx;
	uint64_t *end;

	if (first || !w->nends) {
		if (ARRAY_GROW(w->ends, w->ends_capacity, w->nends))
			return -1;
		w->ends[w->nends++] = 0;
	}
	end = &w->ends[w->nends - 1];
	if (events && last > *end)
		*end = last;
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
static int find_time(const struct time_window *w, bool since, const struct clock *c, uint64_t *time,
		     struct error *e)
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
		if (find_time(w, true, c, &of->since, &e) ||
		    find_time(w, false, c, &of->until, &e)) {
			if (!w->failed)
				w->error = e;
			w->failed = true;
			return &none;
		}
	}
	return of;
}

void time_window_report(const struct time_window *w)
{
	if (time_window_any(w) && !w->failed)
		moment_warn_empty(w->ticks, w->start, w->last);
}

/*
 * progress.h - how far a program is, on stderr, some times a second
 *
 * Shown when asked for (--progress), or by itself where stderr is a terminal and the result goes to
 * a file: never beside a pipe, whose programs would write over each other's lines.
 */
#ifndef TR_UTIL_PROGRESS_H
#define TR_UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on, terminal, shown;
	uint64_t start, next; /* CLOCK_MONOTONIC ns */
};

/* when: 1 always, -1 never, 0 if stderr is a terminal and the result goes to a file (to_file). */
void progress_begin(struct progress *p, int when, bool to_file);
void progress_show(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events);

/* Cheap enough for every block. bytes of total are read (total 0: unknown); events so far. */
static inline void progress_tick(struct progress *p, uint64_t bytes, uint64_t total,
				 uint64_t events)
{
	if (p->on)
		progress_show(p, bytes, total, events);
}

/* The last word, and the line is free again. */
void progress_end(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events);

#endif

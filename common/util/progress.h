/*
 * progress.h - prints the progress of a program on stderr, a few times per second
 *
 * Shown with --progress, or if stderr is a terminal and the result is written to a file. It is not
 * shown in a pipe, where several programs would write to one line.
 */
#ifndef TR_UTIL_PROGRESS_H
#define TR_UTIL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on, terminal, shown;
	uint64_t start, next; /* CLOCK_MONOTONIC ns */
};

/* Start. when: 1 always, -1 never, 0 if stderr is a terminal and the result is written to a file
 * (to_file). */
void progress_begin(struct progress *p, int when, bool to_file);
void progress_show(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events);

/* Update; cheap enough for every block. bytes of total were read (total 0: unknown); events so
 * far. */
static inline void progress_tick(struct progress *p, uint64_t bytes, uint64_t total,
				 uint64_t events)
{
	if (p->on)
		progress_show(p, bytes, total, events);
}

/* Print the last line and end it. */
void progress_end(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events);

#endif

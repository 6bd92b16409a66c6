#include "common/util/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/util/error.h"

enum { INTERVAL_NS = 200 * 1000 * 1000 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void progress_begin(struct progress *p, int when, bool to_file)
{
	*p = (struct progress){.terminal = isatty(STDERR_FILENO)};
	p->on = when > 0 || (!when && p->terminal && to_file);
	if (p->on) {
		p->start = now();
		p->next = p->start + INTERVAL_NS;
	}
}

static void print(struct progress *p, uint64_t time, uint64_t bytes, uint64_t total,
		  uint64_t events)
{
	uint64_t ms = (time - p->start) / 1000000;
	char of[80] = "", line[256];
	int n;

	if (total && bytes <= total)
		snprintf(of, sizeof of, " of %" PRIu64 ".%" PRIu64 " MB, %" PRIu64 " %%",
			 total / 1000000, total / 100000 % 10,
			 (uint64_t)((unsigned __int128)bytes * 100 / total));
	n = snprintf(line, sizeof line,
		     "%s%.40s: %" PRIu64 ".%" PRIu64 " MB%s, %" PRIu64 " event%s in %" PRIu64
		     ".%" PRIu64 " s%s",
		     p->terminal ? "\r" : "", program_invocation_short_name, bytes / 1000000,
		     bytes / 100000 % 10, of, events, events == 1 ? "" : "s", ms / 1000,
		     ms / 100 % 10, p->terminal ? "\033[K" : "\n");
	error_write(line, (size_t)n);
	p->shown = true;
}

void progress_show(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events)
{
	uint64_t time = now();

	if (time < p->next)
		return;
	p->next = time + INTERVAL_NS;
	print(p, time, bytes, total, events);
}

void progress_end(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events)
{
	if (!p->on)
		return;
	/* very short work needs no final line, unless the user gave --progress */
	if (p->shown || !p->terminal)
		print(p, now(), bytes, total, events);
	if (p->shown && p->terminal)
		error_write("\n", 1);
	p->on = false;
}

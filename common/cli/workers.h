/*
 * workers.h - processes that work on the segments of saved streams, each on a share of its own
 *
 *     segments_find(&s, paths, n)                 where the segments are
 *     workers_run(w, 2, ctx, work, &e)            each worker prints what a program would
 *     w[0].output                                 to this file, not to standard output
 *
 * Processes and not threads: each has dictionaries, options and a memory of its own, and one that
 * hostile input ends ends nothing else. A program takes the results of its workers only if none of
 * them had anything to report. Otherwise it reads the input again by itself, so that its messages
 * are those of -j 1.
 */
#ifndef TR_CLI_WORKERS_H
#define TR_CLI_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/cli/program.h"

/* A row for a program that has workers; its option function calls jobs_option. */
#define JOBS_OPTION_ROW                                                                            \
	{                                                                                          \
		'j', "jobs", "N", "use N processors (default: all it may use)", NULL               \
	}

/* Parse the argument of -j. -1 with e filled. */
int jobs_option(const char *arg, unsigned *jobs, struct error *e);
/* Get the number of processors to use; jobs as given, 0: it was not. */
unsigned jobs_count(unsigned jobs);

/* A segment of an input. */
struct segment_place {
	int path; /* index of the operand */
	uint64_t begin, size;
};

struct segments {
	struct segment_place *at;
	size_t count, capacity;
	uint64_t size;	  /* bytes of all */
	uint64_t streams; /* number of their streams */
	bool lost;	  /* a recorder lost events */
	/* of the last one, while they are found */
	uint64_t stream_id;
	uint32_t sequence;
	bool open; /* its stream goes on */
	int path;
};

/* Find the segments of the inputs without reading them. -1: they are no files of whole streams
 * without damage, or are the output, or out of memory. segments_free in any case. n 0: standard
 * input. */
int segments_find(struct segments *s, char **paths, int n, const struct output *output);
void segments_free(struct segments *s);

/* Open an input at the begin of a segment. -1: with errno. */
int segment_open(const struct segment_place *s, char **paths, int n);

struct worker {
	pid_t pid;
	int output, messages; /* files of what it wrote to standard output and stderr */
	int status;	      /* its exit status */
};

/* Start a worker, in which work(ctx, i) has the exit status of the process. -1 with e filled. */
int worker_start(struct worker *w, int (*work)(void *ctx, size_t i), void *ctx, size_t i,
		 struct error *e);
/* Wait for its end. 1: its result is good; 0: it had something to report; -1 with e filled: a
 * signal ended it. */
int worker_wait(struct worker *w, struct error *e);
/* End it, if it runs, and close its files. */
void worker_free(struct worker *w);

/* Let what this process prints on stderr go to a temporary file, until messages_drop. Returns
 * where it went before, or -1 with e filled. */
int messages_hold(struct error *e);
/* Drop what was held. */
void messages_drop(int held);

#endif

/*
 * output.h - where a program's result goes: standard output, or a file that appears when complete
 *
 * A FILE is written beside its place and put there by rename when the program ends well, so a
 * reader never sees half of one, and a failed run leaves the old one. What is no regular file (a
 * device, a fifo) is written directly. A closed pipe kills the process by SIGPIPE, quietly, which
 * is wanted.
 */
#ifndef TR_UTIL_OUTPUT_H
#define TR_UTIL_OUTPUT_H

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

enum output_kind {
	OUTPUT_TEXT,
	OUTPUT_BINARY,	/* a stream for another program: never to a terminal */
	OUTPUT_SUMMARY, /* the same for trstat --merge */
	OUTPUT_FILE,	/* of a binary format: the same */
};

struct output {
	int fd;
	bool owned; /* fd is ours to close */
	bool pipe, file, terminal;
	bool failed;	 /* a write failed: the file must not take its place */
	char *name;	 /* for messages */
	char *place;	 /* where the file goes at the end, NULL for what is written directly */
	char *temporary; /* its name until then, NULL while it has none (O_TMPFILE) */
};

/*
 * path NULL or "-" is standard output; /dev/stdout and /dev/fd/N are the descriptors they name.
 * 0, or -1 with e filled and nothing left to close.
 */
int output_open(struct output *o, const char *path, enum output_kind kind, struct error *e);

/* All of it or -1; goes on after EINTR, waits where the descriptor is non-blocking. */
int output_write(struct output *o, const void *data, size_t n, struct error *e);

struct buffer;

/* The same for what is in a buffer, out of its file if it has spilled (buffer_file.h). */
int output_write_buffer(struct output *o, const struct buffer *b, struct error *e);

/* The same for n pieces; changes v. */
int output_writev(struct output *o, struct iovec *v, int n, struct error *e);

/*
 * Close, and put a FILE in its place when status (status.h) is OK, DAMAGED or CONDITION; with
 * STATUS_FAILED, or after a failed write, it is dropped. -1 with e filled if closing or renaming
 * failed, or a write before did. The struct is done with in any case.
 */
int output_close(struct output *o, int status, struct error *e);

/* Is it a regular file with content, which is opened for appending? */
bool output_has_content(const struct output *o);

/* Is this descriptor the regular file that is written? Reading it would never end. */
bool output_same_file(const struct output *o, int fd);

static inline int output_fd(const struct output *o)
{
	return o->fd;
}

static inline bool output_is_pipe(const struct output *o)
{
	return o->pipe;
}

/* A regular file, be it FILE or redirected standard output. */
static inline bool output_is_file(const struct output *o)
{
	return o->file;
}

static inline bool output_is_terminal(const struct output *o)
{
	return o->terminal;
}

#endif

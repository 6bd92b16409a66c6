/*
 * output.h - a program's output: standard output, or a file that appears when complete
 *
 * A FILE is written in its target's directory and renamed to the target when the program succeeds.
 * So a reader never sees a partial file, and a failed run keeps the old one. A device or a fifo is
 * written directly. A closed pipe kills the process by SIGPIPE without a message, which is
 * intended.
 */
#ifndef TR_UTIL_OUTPUT_H
#define TR_UTIL_OUTPUT_H

#include "common/util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum output_kind {
	OUTPUT_TEXT,
	OUTPUT_BINARY,	/* a stream for another program: never to a terminal */
	OUTPUT_SUMMARY, /* a stream of a summary for trstat --merge: never to a terminal */
	OUTPUT_FILE,	/* a file of a binary format: never to a terminal */
};

struct output {
	int fd;
	bool owned; /* fd is closed by output_close */
	bool pipe, file, terminal;
	bool failed;	  /* a write failed: the file must not be renamed to its target */
	uint64_t written; /* bytes */
	char *name;	  /* for messages */
	char *place;	  /* path of the target, NULL if written directly */
	char *temporary;  /* temporary name, NULL while it has none (O_TMPFILE) */
};

/*
 * Open an output. path NULL or "-" is standard output; /dev/stdout and /dev/fd/N are the
 * descriptors that they name. 0, or -1 with e filled and nothing to close.
 */
int output_open(struct output *o, const char *path, enum output_kind kind, struct error *e);

/* Write all bytes or return -1; continues after EINTR, waits if the descriptor is non-blocking.
 * */
int output_write(struct output *o, const void *data, size_t n, struct error *e);

struct buffer;

/* Write a buffer's content, from its file if it has spilled (buffer_file.h). */
int output_write_buffer(struct output *o, const struct buffer *b, struct error *e);

/* Write n pieces; changes v. */
int output_writev(struct output *o, struct iovec *v, int n, struct error *e);

/*
 * Close, and rename a FILE to its target when status (status.h) is OK, DAMAGED or CONDITION; with
 * STATUS_FAILED, or after a failed write, it is removed. -1 with e filled if closing, renaming or
 * an earlier write failed. The struct is no longer valid in any case.
 */
int output_close(struct output *o, int status, struct error *e);

/* Test whether the output is a regular file with content, opened for appending. */
bool output_has_content(const struct output *o);

/* Test whether this descriptor is the regular file being written. Reading it would never end. */
bool output_same_file(const struct output *o, int fd);

static inline int output_fd(const struct output *o)
{
	return o->fd;
}

static inline bool output_is_pipe(const struct output *o)
{
	return o->pipe;
}

/* Test whether the output is a regular file: FILE or redirected standard output. */
static inline bool output_is_file(const struct output *o)
{
	return o->file;
}

static inline bool output_is_terminal(const struct output *o)
{
	return o->terminal;
}

#endif

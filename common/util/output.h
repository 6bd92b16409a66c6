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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "common/util/error.h"

/* --- exit statuses, which are also the statuses of a stream's END --- */

/* Text for END_LOST_MORE in messages. */
#define LOST_MORE "packets or an unknown number of events"

enum {
	STATUS_OK = 0,
	STATUS_DAMAGED = 1,   /* the input was damaged; everything readable was delivered */
	STATUS_FAILED = 2,    /* usage, cannot open, not a trace, I/O error */
	STATUS_CONDITION = 3, /* a condition of --fail-if is true */
};

/*
 * Combine the exit statuses of two parts of the work: FAILED before DAMAGED before CONDITION before
 * OK. Damage is before CONDITION, as a condition on a part of the events proves nothing.
 */
int status_worse(int a, int b);

/*
 * Reads that are not interrupted, and the end of all inputs by a signal.
 *
 * The first SIGINT or SIGTERM ends the inputs, and the program finishes its output as at their end:
 *
 *     a pipe       is read on until its writer closes it, at most for the patience of the program
 *     a live file  (trace_pipe) is read until it has no more bytes, as long at most
 *     a file       ends where it was read to
 *
 * Only this module and the loops that wait for input know of the signal. A second signal ends the
 * program, without its unfinished outputs.
 *
 * Functions return -1 with errno set.
 */

/* Let signals end the inputs. patience: the time for which a pipe is read after the signal, ms. A
 * signal that is ignored stays so, as nohup expects. */
void io_catch_signals(unsigned patience);
/* Change the patience, also after a signal. */
void io_set_patience(unsigned patience);
/* Test whether a signal ended the inputs. */
bool io_stopped(void);
/* Test whether a read has returned the end after the signal: a record may be cut there. */
bool io_cut(void);
/* Get what to report if the signal left a part of a file, or of a pipe whose writer did not
 * close it, unread; else NULL. */
const char *io_left(void);
/* Note that the signal leaves a part of a file unread. */
void io_leave(void);
/* Test whether no more bytes of this descriptor are to be waited for. */
bool io_over(int fd);

/* Open to read; a FIFO that has no writer when the signal comes is an empty file. */
int io_open(const char *path, int flags);
/* Open a pipe inside of the program. A signal does not end it: its writer does. */
int io_pipe(int ends[2]);
/* Read up to n bytes; wait for them, if the descriptor does not block. Returns 0 at the end. */
ssize_t io_read(int fd, void *data, size_t n);
/* Read n bytes at offset, fewer only at the end of the file. */
ssize_t io_read_at(int fd, void *data, size_t n, uint64_t offset);
/* Wait for bytes of fd, in a thread that takes no signals. -1: `out` has no reader any more. */
int io_wait(int fd, int out);

/* --- a nameless file for data that does not fit in memory --- */

/* Open a file without a name in $TMPDIR (default /tmp), for reading and writing. Returns the
 * descriptor, or -1 with e filled. */
int temporary_open(struct error *e);
/* Write all n bytes at offset; -1 with e filled. */
int temporary_write(int fd, const void *data, size_t n, uint64_t offset, struct error *e);
int temporary_read(int fd, void *data, size_t n, uint64_t offset, struct error *e);
/* Free the disk space of a range that is no longer needed, if the file system can. */
void temporary_forget(int fd, uint64_t offset, size_t n);

/* Note the name of an unfinished output, a file or a directory of files, which must not be left
 * when a signal ends the program. The caller keeps the name valid until temporary_unname. */
void temporary_name(const char *name);
void temporary_unname(const char *name);
/* Remove the unfinished outputs. A signal handler may call it. */
void temporary_remove_names(void);

enum output_kind {
	OUTPUT_TEXT,
	OUTPUT_BINARY,	/* a stream for another program: never to a terminal */
	OUTPUT_SUMMARY, /* a stream of a summary for trstat --merge: never to a terminal */
	OUTPUT_FILE,	/* a file of a binary format: never to a terminal */
};

struct output;

/* What compresses an output (frames.h). Functions that return int return 0, or -1 with *e filled.
 */
struct output_filter {
	int (*put)(struct output *o, const void *data, size_t n, struct error *e);
	int (*flush)(struct output *o, struct error *e); /* write all that was put */
	int (*finish)(struct output *o, struct error *e);
	void (*drop)(struct output *o);
	bool writes; /* what is written is the filter's */
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
	struct output_filter *filter; /* compresses what is written; NULL: nothing does */
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

/* Write a buffer's content, from its file if it has spilled (buffer.h). */
int output_write_buffer(struct output *o, const struct buffer *b, struct error *e);

/* Write n pieces; changes v. */
int output_writev(struct output *o, struct iovec *v, int n, struct error *e);

/*
 * Close, and rename a FILE to its target when status is OK, DAMAGED or CONDITION; with
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

/* Write what a filter has not written yet. */
static inline int output_flush(struct output *o, struct error *e)
{
	return o->filter ? o->filter->flush(o, e) : 0;
}

static inline bool output_is_pipe(const struct output *o)
{
	return o->pipe && !o->filter;
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

/* Get the time of CLOCK_MONOTONIC, ns. */
uint64_t monotonic_now(void);

/*
 * Prints the progress of a program on stderr, a few times per second.
 *
 * Shown with --progress, or if stderr is a terminal and the result is written to a file. It is not
 * shown in a pipe, where several programs would write to one line.
 */

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

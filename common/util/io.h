/*
 * io.h - reads that are not interrupted, and the end of all inputs by a signal
 *
 * The first SIGINT or SIGTERM ends the inputs, and the program finishes its output as at their end:
 *
 *     a pipe       is read on until its writer closes it, at most for the patience of the program
 *     a live file  (trace_pipe) is read until it has no more bytes, as long at most
 *     a file       ends where it was read to
 *
 * Only this module and the loops that wait for input know of the signal. A second signal ends the
 * program, without its unfinished outputs (temporary.h).
 *
 * Functions return -1 with errno set.
 */
#ifndef TR_UTIL_IO_H
#define TR_UTIL_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Let signals end the inputs. patience: the time for which a pipe is read after the signal, ms. A
 * signal that is ignored stays so, as nohup expects. */
void io_catch_signals(unsigned patience);
/* Change the patience, also after a signal. */
void io_set_patience(unsigned patience);
/* Test whether a signal ended the inputs. */
bool io_stopped(void);
/* Test whether a read has returned the end after the signal: a record may be cut there. */
bool io_cut(void);
/* Return what to report if the signal left a part of a file, or of a pipe whose writer did not
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

#endif

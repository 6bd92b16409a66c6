#include "common/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/util/temporary.h"

enum {
	TICK = 50, /* ms between the signals that interrupt a read after the first signal */
	/* ms within which a signal is the first one again: timeout(1) sends it to the program and
	   to its process group */
	REPEAT = 100,
};

static struct {
	atomic_uint patience; /* ms */
	uint64_t at;	      /* time of the first signal, ms of CLOCK_MONOTONIC */
	atomic_bool is_set;   /* there was one */
	atomic_bool cut, left_file, left_pipe;
} stop;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- signals: functions that a handler may call --- */

static void set_ticks(int ms)
{
	const struct timeval t = {.tv_usec = ms * 1000};

	setitimer(ITIMER_REAL, &(struct itimerval){t, t}, NULL);
}

/*
 * Interrupt a read that began between the test of the flag and the signal, and end the patience of
 * one that waits.
 */
static void on_tick(int number)
{
	(void)number;
	if (now_ms() - stop.at > stop.patience + 1000)
		set_ticks(0);
}

static void on_stop(int number)
{
	int saved = errno;

	if (!stop.is_set) {
		stop.at = now_ms();
		stop.is_set = true;
		set_ticks(TICK);
	} else if (now_ms() - stop.at > REPEAT) {
		temporary_remove_names();
		/* the shell, which reports 128 + number, learns that a signal ended the program */
		signal(number, SIG_DFL);
		raise(number);
	}
	errno = saved;
}

static void catch_signal(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler}, old;

	/* no SA_RESTART: a read that waits must return */
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	sigaddset(&action.sa_mask, SIGALRM);
	if (number != SIGALRM && !sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN)
		return;
	sigaction(number, &action, NULL);
}

void io_catch_signals(unsigned patience)
{
	io_set_patience(patience);
	catch_signal(SIGALRM, on_tick);
	catch_signal(SIGINT, on_stop);
	catch_signal(SIGTERM, on_stop);
}

void io_set_patience(unsigned patience)
{
	stop.patience = patience;
}

bool io_stopped(void)
{
	return stop.is_set;
}

bool io_cut(void)
{
	return stop.cut;
}

const char *io_left(void)
{
	return stop.left_file ? "ended by a signal: the rest of the file is not read"
	       : stop.left_pipe
		       ? "ended by a signal: its writer still runs, and the rest is not read"
		       : NULL;
}

void io_leave(void)
{
	stop.left_file = true;
}

/* --- reads --- */

static bool is_live_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_size;
}

/* Test whether a pipe that was read for the patience of the program is over: its writer has not
 * closed it. What a writer left before it closed the pipe is read in any case. */
static bool is_over_late(int fd, const struct stat *st)
{
	struct pollfd p = {fd, POLLIN, 0};

	if (!S_ISFIFO(st->st_mode) && !S_ISSOCK(st->st_mode))
		return true;
	if (poll(&p, 1, 0) > 0 && p.revents & POLLHUP)
		return false;
	stop.left_pipe = true;
	return true;
}

bool io_over(int fd)
{
	struct stat st;

	if (!stop.is_set || fstat(fd, &st))
		return false;
	if (S_ISREG(st.st_mode) && st.st_size) {
		if (lseek(fd, 0, SEEK_CUR) < st.st_size)
			stop.left_file = true;
		/* the file was read to its end, for those who ask for the position */
		lseek(fd, 0, SEEK_END);
		return true;
	}
	if (fcntl(fd, F_GETOWN) == getpid()) /* io_pipe */
		return false;
	return now_ms() - stop.at >= stop.patience && is_over_late(fd, &st);
}

/* Let a live file return what it has, and not wait for more. */
static void stop_waiting(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags >= 0 && !(flags & O_NONBLOCK) && !fstat(fd, &st) && is_live_file(&st))
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Wait until a descriptor that does not block has bytes. Returns false at the end of a live file
 * that a signal ended. */
static bool wait_readable(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	struct stat st;

	if (stop.is_set && !fstat(fd, &st) && is_live_file(&st))
		return false;
	poll(&p, 1, -1);
	return true;
}

static ssize_t end_here(void)
{
	if (stop.is_set)
		stop.cut = true;
	return 0;
}

int io_open(const char *path, int flags)
{
	for (;;) {
		int fd = open(path, flags);

		if (fd >= 0 || errno != EINTR)
			return fd;
		if (stop.is_set)
			return open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
}

int io_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	/* the owner is a mark: a pipe from another program does not belong to this one */
	fcntl(ends[0], F_SETOWN, getpid());
	return 0;
}

ssize_t io_read(int fd, void *data, size_t n)
{
	for (;;) {
		ssize_t got;

		if (stop.is_set) {
			if (io_over(fd))
				return end_here();
			stop_waiting(fd);
		}
		got = read(fd, data, n);
		if (got > 0)
			return got;
		if (!got)
			return end_here();
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		if (errno == EAGAIN && !wait_readable(fd))
			return end_here();
	}
}

ssize_t io_read_at(int fd, void *data, size_t n, uint64_t offset)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = pread(fd, (char *)data + have, n - have, (off_t)(offset + have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

int io_wait(int fd, int out)
{
	struct pollfd p[2] = {{fd, POLLIN, 0}, {out, 0, 0}};
	int got;

	while ((got = poll(p, 2, 2 * TICK)) <= 0)
		if ((got < 0 && errno != EINTR) || io_over(fd))
			return 0;
	return p[1].revents ? -1 : 0;
}

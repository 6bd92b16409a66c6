/*
 * output.c - files that are written
 */
#include "common/util/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/memory.h"

static int badness(int status)
{
	switch (status) {
	case STATUS_OK: return 0;
	case STATUS_CONDITION: return 1;
	case STATUS_DAMAGED: return 2;
	default: return 3;
	}
}

int status_worse(int a, int b)
{
	return badness(a) >= badness(b) ? a : b;
}

/* --- io --- */

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

uint64_t monotonic_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now_ms(void)
{
	return monotonic_now() / 1000000;
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

/* --- temporary --- */

static int failed(struct error *e, const char *what)
{
	return error_errno(e, NULL, NO_OFFSET, "cannot %s a temporary file", what);
}

int temporary_open(struct error *e)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* not every file system has O_TMPFILE */
	if ((size_t)snprintf(path, sizeof path, "%s/trutils.XXXXXX", dir) >= sizeof path)
		return error_set(e, dir, NO_OFFSET, "name of the temporary directory is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_errno(e, dir, NO_OFFSET, "cannot create a temporary file");
	unlink(path);
	return fd;
}

int temporary_write(int fd, const void *data, size_t n, uint64_t offset, struct error *e)
{
	const char *p = data;

	while (n) {
		ssize_t wrote = pwrite(fd, p, n, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return failed(e, "write");
		p += wrote;
		n -= (size_t)wrote;
		offset += (size_t)wrote;
	}
	return 0;
}

int temporary_read(int fd, void *data, size_t n, uint64_t offset, struct error *e)
{
	ssize_t got = io_read_at(fd, data, n, offset);

	if (got < 0)
		return failed(e, "read");
	if ((size_t)got < n)
		return error_set(e, NULL, NO_OFFSET, "the temporary file was truncated");
	return 0;
}

void temporary_forget(int fd, uint64_t offset, size_t n)
{
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)n);
}

enum { NAMES = 8 };

static const char *volatile names[NAMES]; /* NULL: free */

void temporary_name(const char *name)
{
	for (int i = 0; i < NAMES; i++)
		if (!names[i]) {
			names[i] = name;
			return;
		}
}

void temporary_unname(const char *name)
{
	for (int i = 0; i < NAMES; i++)
		if (names[i] == name)
			names[i] = NULL;
}

/* Remove the files of a directory by system calls alone: opendir allocates memory. */
static void remove_files(int directory)
{
	uint64_t entries[512];
	long n;

	while ((n = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
		for (long at = 0; at < n;) {
			/* linux_dirent64: u64 d_ino, u64 d_off, u16 d_reclen, u8 d_type, name */
			const char *entry = (const char *)entries + at;
			uint16_t length;

			memcpy(&length, entry + 16, sizeof length);
			unlinkat(directory, entry + 19, 0);
			at += length;
		}
}

void temporary_remove_names(void)
{
	for (int i = 0; i < NAMES; i++) {
		const char *name = names[i];
		int directory;

		if (!name || !unlink(name))
			continue;
		directory = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory >= 0)
			remove_files(directory);
		rmdir(name);
	}
}

/* --- output --- */

enum { PIPE_SIZE = 1 << 20 };

/* Get the descriptor that a path names, -1 for an ordinary path. */
static int named_fd(const char *path)
{
	char *end;
	long n;

	if (!path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	if (strncmp(path, "/dev/fd/", 8) || path[8] < '0' || path[8] > '9')
		return -1;
	errno = 0;
	n = strtol(path + 8, &end, 10);
	return *end || errno || n > INT_MAX ? -1 : (int)n;
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Find a free name in the directory of the file; name(fd) tries to take it: 0, or -1 with errno
 * EEXIST to try another one. */
static int output_take_name(struct output *o, const char *directory,
			    int (*take)(int fd, const char *name))
{
	for (int i = 0; i < 1000; i++) {
		char *name;
		int r;

		if (asprintf(&name, "%s/.tr-%ld-%d.tmp", directory, (long)getpid(), i) < 0) {
			errno = ENOMEM;
			return -1;
		}
		temporary_name(name);
		r = take(o->fd, name);
		if (r >= 0) {
			o->temporary = name;
			return r;
		}
		temporary_unname(name);
		free(name);
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int link_to(int fd, const char *name)
{
	char self[64];

	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int create(int fd, const char *name)
{
	(void)fd;
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Open a file without a name, which no signal and no crash leaves on the disk. It needs /proc to
 * get its name. */
static int open_nameless(const char *directory)
{
	int fd = open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);

	if (fd >= 0 && access("/proc/self/fd", X_OK)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_beside(struct output *o)
{
	char *directory = directory_of(o->place);

	if (!directory)
		return -1;
	o->fd = open_nameless(directory);
	if (o->fd < 0)
		o->fd = output_take_name(o, directory, create);
	free(directory);
	return o->fd < 0 ? -1 : 0;
}

static int open_path(struct output *o, const char *path)
{
	struct stat st;
	bool exists = !stat(path, &st);

	o->owned = true;
	if (exists && !S_ISREG(st.st_mode)) {
		o->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		return o->fd < 0 ? -1 : 0;
	}
	if (exists && access(path, W_OK)) /* rename would not check this */
		return -1;
	o->place = exists ? realpath(path, NULL) : strdup(path);
	return o->place ? open_beside(o) : -1;
}

static int output_look_at(struct output *o, enum output_kind kind, struct error *e)
{
	struct stat st;

	if (fstat(o->fd, &st))
		return error_errno(e, o->name, NO_OFFSET, "%s", "");
	o->pipe = S_ISFIFO(st.st_mode);
	o->file = S_ISREG(st.st_mode);
	o->terminal = S_ISCHR(st.st_mode) && isatty(o->fd);
	if (o->terminal && kind == OUTPUT_BINARY)
		return error_set(e, NULL, NO_OFFSET,
				 "a binary stream is not written to a terminal; "
				 "pipe it into trencode or trstat, or use -o FILE");
	if (o->terminal && kind == OUTPUT_SUMMARY)
		return error_set(e, NULL, NO_OFFSET,
				 "a summary is not written to a terminal; "
				 "pipe it into trstat --merge, or use -o FILE");
	if (o->terminal && kind == OUTPUT_FILE)
		return error_set(
			e, NULL, NO_OFFSET,
			"a binary file is not written to a terminal; use -o FILE or a pipe");
	if (o->pipe)
		fcntl(o->fd, F_SETPIPE_SZ,
		      PIPE_SIZE); /* a larger pipe is faster, but not required */
	return 0;
}

static void output_drop(struct output *o)
{
	if (o->owned && o->fd >= 0)
		close(o->fd);
	if (o->temporary) {
		unlink(o->temporary);
		temporary_unname(o->temporary);
	}
	if (o->filter)
		o->filter->drop(o);
	free(o->name);
	free(o->place);
	free(o->temporary);
	*o = (struct output){.fd = -1};
}

int output_open(struct output *o, const char *path, enum output_kind kind, struct error *e)
{
	int r = 0;

	*o = (struct output){.fd = named_fd(path)};
	o->name = strdup(!path || !strcmp(path, "-") ? "standard output" : path);
	if (!o->name)
		return error_no_memory(e);
	if (o->fd < 0 && open_path(o, path))
		r = error_errno(e, path, NO_OFFSET, "cannot create");
	if (!r)
		r = output_look_at(o, kind, e);
	if (r)
		output_drop(o);
	return r;
}

static int wait_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

/* Handle a failed write: 0 to try again. */
static int again(struct output *o, struct error *e)
{
	if (errno == EINTR)
		return 0;
	if ((errno == EAGAIN || errno == EWOULDBLOCK) && !wait_writable(o->fd))
		return 0;
	o->failed = true;
	return error_errno(e, o->name, NO_OFFSET, "cannot write");
}

int output_write(struct output *o, const void *data, size_t n, struct error *e)
{
	const char *p = data;

	if (o->filter && !o->filter->writes)
		return o->filter->put(o, data, n, e);
	while (n) {
		ssize_t done = write(o->fd, p, n);

		if (done < 0) {
			if (again(o, e))
				return -1;
			continue;
		}
		p += done;
		n -= (size_t)done;
		o->written += (uint64_t)done;
	}
	return 0;
}

int output_write_buffer(struct output *o, const struct buffer *b, struct error *e)
{
	size_t piece;

	for (size_t at = 0; at < b->size; at += piece) {
		piece = b->file && b->size - at > BUFFER_PIECE ? BUFFER_PIECE : b->size - at;
		if (output_write(o, b->data + at, piece, e))
			return -1;
		buffer_rest(b);
	}
	return 0;
}

int output_writev(struct output *o, struct iovec *v, int n, struct error *e)
{
	if (o->filter) {
		for (int i = 0; i < n; i++)
			if (output_write(o, v[i].iov_base, v[i].iov_len, e))
				return -1;
		return 0;
	}
	while (n > 0) {
		ssize_t written = writev(o->fd, v, n < IOV_MAX ? n : IOV_MAX);
		size_t done;

		if (written < 0) {
			if (again(o, e))
				return -1;
			continue;
		}
		done = (size_t)written;
		o->written += done;
		while (n > 0 && done >= v->iov_len) {
			done -= v->iov_len;
			v++;
			n--;
		}
		if (n > 0) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= done;
		}
	}
	return 0;
}

/* Get late errors of the kernel about the writes, without closing descriptors 0 to 2. */
static int close_descriptor(struct output *o)
{
	int fd = o->owned ? o->fd : dup(o->fd);

	if (o->owned)
		o->fd = -1;
	return close(fd) && errno != EINTR ? -1 : 0;
}

/* Give a complete file a temporary name in its directory, if it has none yet. */
static int give_name(struct output *o)
{
	char *directory;
	int r = -1;

	if (o->temporary)
		return 0;
	directory = directory_of(o->place);
	if (directory)
		r = output_take_name(o, directory, link_to);
	free(directory);
	return r;
}

static int put_in_place(struct output *o)
{
	if (rename(o->temporary, o->place))
		return -1;
	temporary_unname(o->temporary);
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

int output_close(struct output *o, int status, struct error *e)
{
	bool keep;
	int r = 0;

	if (o->filter && !o->failed && o->filter->finish(o, e)) {
		o->failed = true;
		r = -1;
	}
	keep = o->place && status != STATUS_FAILED && !o->failed && !memory_failed();
	if (memory_failed())
		r = error_no_memory(e);
	else if (o->failed && !r)
		r = error_set(e, o->name, NO_OFFSET, "the output is incomplete");
	if (keep && give_name(o))
		r = error_errno(e, o->name, NO_OFFSET, "cannot give the output file its name");
	if (close_descriptor(o) && !r)
		r = error_errno(e, o->name, NO_OFFSET, "cannot close");
	if (keep && !r && put_in_place(o))
		r = error_errno(e, o->name, NO_OFFSET, "cannot replace the output file");
	output_drop(o);
	return r;
}

bool output_has_content(const struct output *o)
{
	struct stat st;

	return o->file && (fstat(o->fd, &st) || st.st_size);
}

bool output_same_file(const struct output *o, int fd)
{
	struct stat in, out;

	return o->file && !fstat(fd, &in) && !fstat(o->fd, &out) && S_ISREG(in.st_mode) &&
	       in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

/* --- progress --- */

enum { INTERVAL_NS = 200 * 1000 * 1000 };

void progress_begin(struct progress *p, int when, bool to_file)
{
	*p = (struct progress){.terminal = isatty(STDERR_FILENO)};
	p->on = when > 0 || (!when && p->terminal && to_file);
	if (p->on) {
		p->start = monotonic_now();
		p->next = p->start + INTERVAL_NS;
	}
}

static void output_print(struct progress *p, uint64_t time, uint64_t bytes, uint64_t total,
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
	uint64_t time = monotonic_now();

	if (time < p->next)
		return;
	p->next = time + INTERVAL_NS;
	output_print(p, time, bytes, total, events);
}

void progress_end(struct progress *p, uint64_t bytes, uint64_t total, uint64_t events)
{
	if (!p->on)
		return;
	/* very short work needs no final line, unless the user gave --progress */
	if (p->shown || !p->terminal)
		output_print(p, monotonic_now(), bytes, total, events);
	if (p->shown && p->terminal)
		error_write("\n", 1);
	p->on = false;
}

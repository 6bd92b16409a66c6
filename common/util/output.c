#include "common/util/output.h"

#include "common/util/buffer_file.h"
#include "common/util/memory.h"
#include "common/util/status.h"
#include "common/util/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
static int take_name(struct output *o, const char *directory, int (*take)(int fd, const char *name))
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
		o->fd = take_name(o, directory, create);
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

static int look_at(struct output *o, enum output_kind kind, struct error *e)
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

static void drop(struct output *o)
{
	if (o->owned && o->fd >= 0)
		close(o->fd);
	if (o->temporary) {
		unlink(o->temporary);
		temporary_unname(o->temporary);
	}
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
		r = look_at(o, kind, e);
	if (r)
		drop(o);
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
		r = take_name(o, directory, link_to);
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
	bool keep = o->place && status != STATUS_FAILED && !o->failed && !memory_failed();
	int r = 0;

	if (memory_failed())
		r = error_no_memory(e);
	else if (o->failed)
		r = error_set(e, o->name, NO_OFFSET, "the output is incomplete");
	if (keep && give_name(o))
		r = error_errno(e, o->name, NO_OFFSET, "cannot give the output file its name");
	if (close_descriptor(o) && !r)
		r = error_errno(e, o->name, NO_OFFSET, "cannot close");
	if (keep && !r && put_in_place(o))
		r = error_errno(e, o->name, NO_OFFSET, "cannot replace the output file");
	drop(o);
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

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/output.h"
#include "common/stream/reader_private.h"
#include "common/util/io.h"

int reader_fatal(struct reader *r, const char *what)
{
	r->fatal = true;
	return error_set(&r->error, r->file, NO_OFFSET, "%s", what);
}

int reader_no_memory(struct reader *r)
{
	r->stop = true;
	return reader_fatal(r, "out of memory");
}

static int init(struct reader *r)
{
	*r = (struct reader){.input.fd = -1, .file = ""};
	if (dictionary_init(&r->dictionary) || !(r->input.data = malloc(READ_SIZE)))
		return reader_no_memory(r);
	r->input.capacity = READ_SIZE;
	return 0;
}

/* Sum the sizes of all inputs; 0 if one is not a regular file. */
static uint64_t size_of(char **paths, int n)
{
	uint64_t size = 0;
	struct stat st;

	for (int i = 0; i < n; i++) {
		/* no operands at all: standard input */
		bool file = paths && strcmp(paths[i], "-") != 0;

		if (file ? stat(paths[i], &st) : fstat(STDIN_FILENO, &st))
			return 0;
		if (!S_ISREG(st.st_mode))
			return 0;
		size += (uint64_t)st.st_size;
	}
	return size;
}

int reader_open(struct reader *r, char **paths, int n)
{
	if (init(r))
		return -1;
	r->input.paths = n ? paths : NULL; /* NULL: standard input alone */
	r->input.npaths = n ? n : 1;
	r->size = size_of(n ? paths : (char *[]){"-"}, r->input.npaths);
	return 0;
}

int reader_open_fd(struct reader *r, int fd, const char *name, const void *peeked, size_t n)
{
	struct stat st;

	if (init(r))
		return -1;
	r->input.fd = fd;
	r->file = name;
	r->input.pipe = !fstat(fd, &st) && S_ISFIFO(st.st_mode);
	if (n > r->input.capacity) {
		uint8_t *data = realloc(r->input.data, n);

		if (!data)
			return reader_no_memory(r);
		r->input.data = data;
		r->input.capacity = n;
	}
	if (n)
		memcpy(r->input.data, peeked, n);
	r->input.filled = n;
	return 0;
}

void reader_on_demand(struct reader *r)
{
	r->on_demand = true;
}

static void close_fd(struct reader *r)
{
	if (r->input.fd > STDERR_FILENO)
		close(r->input.fd);
	r->input.fd = -1;
}

/* Open the next input. 1, 0: there is none, -1 (the next call opens the one after it). */
int reader_open_next(struct reader *r)
{
	const char *path;
	struct stat st;

	/* a signal ends the first inputs and those after them */
	if (r->input.path >= r->input.npaths || (r->input.path && io_cut()))
		return 0;
	path = r->input.paths ? r->input.paths[r->input.path] : "-";
	r->input.path++;
	r->input.begin = r->input.filled = r->pending = 0;
	r->input.offset = 0;
	r->input.reread = 0;
	r->input.eof = r->input.pipe = r->input.regular = false;
	if (!strcmp(path, "-")) {
		r->input.fd = STDIN_FILENO;
		r->file = "<stdin>";
	} else {
		r->file = path;
		r->input.fd = io_open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
		if (r->input.fd < 0) {
			r->fatal = true;
			return error_errno(&r->error, path, NO_OFFSET, "cannot open");
		}
	}
	if (isatty(r->input.fd)) {
		close_fd(r);
		return reader_fatal(r, "is a terminal; a stream comes from trdecode or a file");
	}
	if (r->output && output_same_file(r->output, r->input.fd)) {
		close_fd(r);
		return reader_fatal(r, "is also the output");
	}
	if (!fstat(r->input.fd, &st)) {
		if (S_ISDIR(st.st_mode)) {
			close_fd(r);
			return reader_fatal(
				r, "is a directory, not a stream; trdecode makes one of it");
		}
		r->input.pipe = S_ISFIFO(st.st_mode);
		r->input.regular = S_ISREG(st.st_mode);
	}
	return 1;
}

void reader_close_input(struct reader *r)
{
	close_fd(r);
	r->segment.inside = r->segment.open_stream = r->segment.more_expected = r->truncated =
		r->astray = false;
	r->pending = 0;
}

int reader_wait(struct reader *r)
{
	struct pollfd p = {r->input.fd, POLLIN, 0};

	if (r->before_block && poll(&p, 1, 0) == 0)
		return r->before_block(r->before_block_ctx);
	return 0;
}

/* Release the memory of a large block when less than LARGE is needed. */
static void shrink(struct reader *r, size_t n)
{
	size_t have = r->input.filled - r->input.begin;
	uint8_t *data;

	if (have > LARGE || n > LARGE)
		return;
	memmove(r->input.data, r->input.data + r->input.begin, have);
	r->input.begin = 0;
	r->input.filled = have;
	data = realloc(r->input.data, LARGE);
	if (!data)
		return;
	r->input.data = data;
	r->input.capacity = LARGE;
}

/* Read until n bytes are at data[begin], at most `most` bytes. 1, or 0 at the end of the input
 * with fewer, or -1. */
int reader_fill(struct reader *r, size_t n, size_t most)
{
	if (r->input.capacity > LARGE)
		shrink(r, n);
	while (r->input.filled - r->input.begin < n) {
		size_t room;
		ssize_t got;

		if (r->input.eof)
			return 0;
		if (r->input.begin &&
		    (r->input.capacity - r->input.begin < n || r->input.begin == r->input.filled)) {
			memmove(r->input.data, r->input.data + r->input.begin,
				r->input.filled - r->input.begin);
			r->input.filled -= r->input.begin;
			r->input.begin = 0;
		}
		if (r->input.filled == r->input.capacity) {
			/* a count does not prove that data exists: grow only as bytes arrive */
			uint8_t *data = realloc(r->input.data, r->input.capacity * 2);

			if (!data)
				return reader_no_memory(r);
			r->input.data = data;
			r->input.capacity *= 2;
		}
		room = r->input.capacity - r->input.filled;
		if (room > most)
			room = most;
		/* never two large blocks at a time */
		if (n > LARGE && room > n - (r->input.filled - r->input.begin))
			room = n - (r->input.filled - r->input.begin);
		if (r->input.pipe || r->input.fd == STDIN_FILENO)
			if (reader_wait(r)) {
				r->fatal = r->stop = true;
				return -1;
			}
		got = io_read(r->input.fd, r->input.data + r->input.filled, room);
		if (got < 0) {
			r->fatal = true;
			r->input.eof = true;
			return error_errno(&r->error, r->file,
					   r->input.offset + r->input.filled - r->input.begin,
					   "cannot read");
		}
		if (!got)
			r->input.eof = true;
		r->input.filled += (size_t)got;
	}
	return 1;
}

/* Skip the rest of the last block. */
int reader_skip_pending(struct reader *r)
{
	while (r->pending) {
		size_t have = r->input.filled - r->input.begin,
		       n = have < r->pending ? have : r->pending;
		int got;

		reader_consume(r, n);
		r->pending -= n;
		if (!r->pending)
			break;
		got = reader_fill(r, 1, READ_SIZE);
		if (got < 0)
			return -1;
		if (!got) {
			r->pending = 0;
			return reader_ended(r, r->input.offset, READER_NO_END);
		}
	}
	return 0;
}

int reader_damaged(struct reader *r, uint64_t offset, const char *what)
{
	r->segment.hurt = true;
	return error_set(&r->error, r->file, offset, "%s", what);
}

int reader_ended(struct reader *r, uint64_t offset, const char *what)
{
	r->cut = io_cut();
	return reader_damaged(r, offset, what);
}

/*
 * window.c - a window that slides forward over the bytes of a tracefile
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trdecode/lttng/lttng.h"

static ssize_t read_at(struct lttng *l, struct lttng_file *f, uint8_t *to, size_t n,
		       uint64_t offset, struct error *e)
{
	uint64_t start = f->start, size;
	char path[512];
	int fd = f->fd;
	ssize_t got;

	if (fd < 0) {
		fd = tree_fd(l->input->tree, f->member, &start, &size, e);
		if (fd < 0)
			return -1;
	}
	do
		got = pread(fd, to, n, (off_t)(start + offset));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		error_errno(e, tree_path(l->input->tree, f->member, path, sizeof path), offset,
			    "cannot read");
	if (fd != f->fd)
		close(fd);
	return got;
}

const uint8_t *lttng_window_fill(struct lttng *l, struct lttng_file *f, uint64_t offset, size_t n,
				 size_t *have)
{
	struct error e;
	uint8_t *data;
	ssize_t got;

	*have = 0;
	if (offset >= f->file_size)
		return f->data;
	if (n > f->file_size - offset)
		n = (size_t)(f->file_size - offset);
	if (offset < f->offset || offset > f->offset + f->filled) {
		f->filled = 0;
	} else {
		size_t gone = (size_t)(offset - f->offset);

		f->filled -= gone;
		memmove(f->data, f->data + gone, f->filled);
	}
	f->offset = offset;
	while (f->filled < n) {
		size_t room;

		if (f->filled == f->capacity) {
			/* grow only as fast as bytes arrive */
			data = realloc(f->data, 2 * f->capacity);
			if (!data)
				break;
			f->data = data;
			f->capacity *= 2;
		}
		room = f->capacity - f->filled;
		if (room > f->file_size - offset - f->filled)
			room = (size_t)(f->file_size - offset - f->filled);
		got = read_at(l, f, f->data + f->filled, room, offset + f->filled, &e);
		if (got < 0) {
			input_damage_error(l->input, &e);
			f->file_size = offset + f->filled;
			break;
		}
		if (!got) {
			f->file_size = offset + f->filled; /* the file was truncated meanwhile */
			break;
		}
		f->filled += (size_t)got;
	}
	*have = f->filled;
	return f->data;
}

bool lttng_window_peek(struct lttng *l, struct lttng_file *f, uint64_t offset, void *to, size_t n)
{
	struct error e;

	return offset < f->file_size && f->file_size - offset >= n &&
	       read_at(l, f, to, n, offset, &e) == (ssize_t)n;
}

int lttng_window_open(struct lttng *l, struct lttng_file *f, size_t window, struct error *e)
{
	e->what[0] = '\0';
	f->fd = tree_fd(l->input->tree, f->member, &f->start, &f->file_size, e);
	if (f->fd < 0)
		return -1;
	if (!f->keep) {
		close(f->fd);
		f->fd = -1;
	}
	if (window > f->file_size)
		window = (size_t)align_up(f->file_size, LTTNG_PAGE);
	f->capacity = window;
	f->data = malloc(window ? window : 1);
	return f->data ? 0 : -1;
}

void lttng_window_close(struct lttng_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	free(f->data);
	f->data = NULL;
	f->filled = 0;
}

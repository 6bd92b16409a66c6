#include "cmd/trdecode/input/window.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int window_open(struct file_window *w, const struct tree *tree, const char *member, size_t capacity,
		bool keep, struct error *e)
{
	*w = (struct file_window){.tree = tree, .member = member, .fd = -1, .capacity = capacity};
	w->fd = tree_fd(tree, member, &w->start, &w->size, e);
	if (w->fd < 0)
		return -1;
	/* most files are smaller than the capacity */
	if (w->size < capacity)
		w->capacity = w->size > 64 ? (size_t)align_up(w->size, 16) : 64;
	if (!keep) {
		close(w->fd);
		w->fd = -1;
	}
	return 0;
}

/* Read at an offset; if no descriptor is kept, open one for this read. */
static ssize_t read_at(struct file_window *w, void *data, size_t n, uint64_t offset,
		       struct error *e)
{
	char path[512];
	uint64_t start, size;
	int fd = w->fd;
	ssize_t got;

	if (fd < 0) {
		fd = tree_fd(w->tree, w->member, &start, &size, e);
		if (fd < 0)
			return -1;
	}
	do
		got = pread(fd, data, n, (off_t)(w->start + offset));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		error_errno(e, tree_path(w->tree, w->member, path, sizeof(path)), offset,
			    "cannot read");
	if (fd != w->fd)
		close(fd);
	return got;
}

bool window_peek(struct file_window *w, uint64_t offset, void *to, size_t n)
{
	struct error e;

	return offset < w->size && w->size - offset >= n &&
	       read_at(w, to, n, offset, &e) == (ssize_t)n;
}

void window_close(struct file_window *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->data);
	w->fd = -1;
	w->data = NULL;
	w->begin = w->filled = 0;
}

const uint8_t *window_large(struct file_window *w, size_t n, struct buffer *b, size_t *have,
			    struct error *e)
{
	size_t done;
	ssize_t got = window_need(w, n, e);

	if (got < 0)
		return NULL;
	*have = (size_t)got;
	if (n <= w->capacity)
		return window_at(w);
	if (w->offset + n > w->size)
		n = w->offset < w->size ? (size_t)(w->size - w->offset) : 0;
	b->size = 0;
	if (buffer_append(b, window_at(w), *have) || buffer_reserve(b, n > *have ? n - *have : 1)) {
		error_set(e, w->member, NO_OFFSET, "out of memory");
		return NULL;
	}
	for (done = *have; done < n; done += (size_t)got) {
		got = read_at(w, b->data + done, n - done, w->offset + done, e);
		if (got < 0)
			return NULL;
		if (!got)
			break;
	}
	*have = done;
	return b->data;
}

ssize_t window_need(struct file_window *w, size_t n, struct error *e)
{
	if (!w->data) {
		w->data = malloc(w->capacity);
		if (!w->data) {
			error_set(e, w->member, NO_OFFSET, "out of memory");
			return -1;
		}
	}
	if (n > w->capacity)
		n = w->capacity;
	while (w->filled - w->begin < n) {
		uint64_t at = w->offset + (w->filled - w->begin);
		size_t room;
		ssize_t got;

		if (at >= w->size)
			break;
		if (w->begin) {
			memmove(w->data, w->data + w->begin, w->filled - w->begin);
			w->filled -= w->begin;
			w->begin = 0;
		}
		room = w->capacity - w->filled;
		if (room > w->size - at)
			room = (size_t)(w->size - at);
		got = read_at(w, w->data + w->filled, room, at, e);
		if (got < 0)
			return -1;
		if (!got) {
			w->size = at; /* the file was truncated since */
			break;
		}
		w->filled += (size_t)got;
	}
	return (ssize_t)(w->filled - w->begin);
}

#include "cmd/trdecode/input/window.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/util/io.h"

int window_open(struct file_window *w, const struct tree *tree, const char *member, size_t capacity,
		bool keep, struct error *e)
{
	*w = (struct file_window){.tree = tree, .member = member, .fd = -1};
	w->fd = tree_fd(tree, member, &w->start, &w->size, e);
	if (w->fd < 0)
		return -1;
	/* most files are smaller than the capacity */
	if (w->size < capacity)
		capacity = w->size > 64 ? (size_t)align_up(w->size, 16) : 64;
	w->capacity = w->piece = capacity;
	if (!keep) {
		close(w->fd);
		w->fd = -1;
	}
	return 0;
}

bool window_keep(struct decoding *d, size_t files)
{
	if (files > DESCRIPTORS_KEPT || d->descriptors >= DESCRIPTORS_KEPT)
		return false;
	d->descriptors++;
	return true;
}

int window_open_one(struct file_window *w, const struct input *in, const char *member, size_t files,
		    struct error *e)
{
	enum { ALL = 4 << 20, MOST = 64 * 1024, LEAST = 1024 };
	size_t share = ALL / (files ? files : 1) & ~(size_t)15;
	bool keep = window_keep(in->decoding, files);
	int failed = window_open(w, in->tree, member,
				 share > MOST	 ? MOST
				 : share < LEAST ? LEAST
						 : share,
				 keep, e);

	if (keep)
		w->descriptors = &in->decoding->descriptors;
	return failed;
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
	got = io_read_at(fd, data, n, w->start + offset);
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
	if (w->descriptors)
		--*w->descriptors;
	w->descriptors = NULL;
	free(w->data);
	w->fd = -1;
	w->data = NULL;
	w->begin = w->filled = 0;
}

/* Read a piece after the bytes of the window. Returns 0 at the end of the file. */
static ssize_t window_read(struct file_window *w, struct error *e)
{
	uint64_t at = w->offset + w->filled;
	size_t n = w->capacity - w->filled;
	ssize_t got;

	if (at >= w->size)
		return 0;
	n = n < w->piece ? n : w->piece;
	got = read_at(w, w->data + w->filled, n < w->size - at ? n : (size_t)(w->size - at), at, e);
	if (got > 0)
		w->filled += (size_t)got;
	else if (!got)
		w->size = at; /* the file was truncated since */
	return got;
}

ssize_t window_need(struct file_window *w, size_t n, struct error *e)
{
	uint8_t *data = w->data;
	ssize_t got = 1;

	while (window_have(w) < n && got > 0) {
		if (w->begin) {
			memmove(data, data + w->begin, window_have(w));
			w->filled -= w->begin;
			w->begin = 0;
		}
		if (!data || w->filled == w->capacity) {
			/* a length in the file proves nothing: grow only as bytes arrive */
			size_t capacity = data ? 2 * w->capacity : w->capacity;

			data = realloc(data, capacity);
			if (!data)
				return error_set(e, w->member, NO_OFFSET, "out of memory");
			w->data = data;
			w->capacity = capacity;
		}
		got = window_read(w, e);
	}
	return got < 0 ? -1 : (ssize_t)window_have(w);
}

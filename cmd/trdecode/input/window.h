/*
 * window.h - a file of a trace read forward through a buffer, which grows for what is larger
 *
 * The file may be a member of a directory or of a tar, and needs no descriptor of its own.
 */
#ifndef TR_TRDECODE_INPUT_WINDOW_H
#define TR_TRDECODE_INPUT_WINDOW_H

#include <sys/types.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "cmd/trdecode/decoder.h"

struct file_window {
	const struct tree *tree;
	const char *member;
	int fd;		 /* -1: opened for each read */
	uint64_t start;	 /* offset of the member in the descriptor */
	uint64_t size;	 /* size of the member */
	uint64_t offset; /* offset in the member of data[begin] */
	uint8_t *data;
	size_t begin, filled, capacity;
	size_t piece;	       /* bytes to read at once */
	unsigned *descriptors; /* the count with fd; NULL: fd is not counted */
};

/* Open a member. keep: keep its descriptor open. */
int window_open(struct file_window *w, const struct tree *tree, const char *member, size_t capacity,
		bool keep, struct error *e);
/* Open one of the files of an input that are read at once: they share the memory for windows, and
 * the descriptors. */
int window_open_one(struct file_window *w, const struct input *in, const char *member, size_t files,
		    struct error *e);
/* Count a descriptor that is kept open, of one of so many files. false: it must be closed. */
bool window_keep(struct decoding *d, size_t files);
void window_close(struct file_window *w);
/* Read n bytes at window_at. Returns how many there are, fewer only at the end of the file; -1:
 * cannot read. The buffer keeps the size that it grew to. */
ssize_t window_need(struct file_window *w, size_t n, struct error *e);

/* Read n bytes at an offset of the member without moving the window. Return false if they do not
 * exist. */
bool window_peek(struct file_window *w, uint64_t offset, void *to, size_t n);

static inline const uint8_t *window_at(const struct file_window *w)
{
	return w->data + w->begin;
}

static inline size_t window_have(const struct file_window *w)
{
	return w->filled - w->begin;
}

/* Skip n bytes, also beyond the window. */
static inline void window_skip(struct file_window *w, size_t n)
{
	w->offset += n;
	w->begin += n;
	if (w->begin > w->filled)
		w->begin = w->filled = 0;
}

/* Move to an offset of the member, also before the window. */
static inline void window_seek(struct file_window *w, uint64_t offset)
{
	if (offset < w->offset || offset - w->offset > window_have(w)) {
		w->begin = w->filled = 0;
		w->offset = offset;
	}
	window_skip(w, (size_t)(offset - w->offset));
}

#endif

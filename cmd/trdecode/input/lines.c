#include "cmd/trdecode/input/lines.h"

#include <poll.h>

#include "common/util/io.h"

enum { PIECE = 64 * 1024 };

/* Read more bytes after those that are there. */
static int read_more(struct input_lines *l, const struct input *in, struct error *e)
{
	ssize_t got;

	if (!l->begun && !l->source.read) {
		l->begun = true;
		return buffer_append(&l->data, in->head, in->head_size) ? error_no_memory(e) : 0;
	}
	if (l->begin) {
		memmove(l->data.data, l->data.data + l->begin, l->data.size - l->begin);
		l->data.size -= l->begin;
		l->begin = 0;
	}
	if (buffer_reserve(&l->data, PIECE))
		return error_no_memory(e);
	l->begun = true;
	if (l->source.read)
		got = l->source.read(l->source.ctx, l->data.data + l->data.size, PIECE, e);
	else
		got = io_read(in->fd, l->data.data + l->data.size, PIECE);
	if (got < 0)
		return l->source.read ? -1 : error_errno(e, in->name, NO_OFFSET, "cannot read");
	l->ended = got == 0;
	l->data.size += (size_t)got;
	return 0;
}

int input_lines_next(struct input_lines *l, const struct input *in, const char **text, size_t *n,
	       struct error *e)
{
	const uint8_t *end = NULL;
	size_t have;

	l->cut = false;
	l->offset = l->next;
	for (;;) {
		have = l->data.size - l->begin;
		if (have > l->searched)
			end = memchr(l->data.data + l->begin + l->searched, '\n',
				     have - l->searched);
		if (end || l->ended)
			break;
		l->searched = have;
		if (have > LINE_MOST) {
			/* keep what is delivered, and read over the rest */
			l->next += have - LINE_MOST;
			l->data.size -= have - LINE_MOST;
			l->searched = LINE_MOST;
			l->cut = true;
		}
		if (read_more(l, in, e))
			return -1;
	}
	l->searched = 0;
	if (!have)
		return 0;
	*text = (const char *)l->data.data + l->begin;
	l->whole = end != NULL;
	*n = end ? (size_t)(end - l->data.data) - l->begin : have;
	l->begin += *n + (end != NULL);
	l->next += *n + (end != NULL);
	l->cut |= *n > LINE_MOST;
	*n = *n > LINE_MOST ? LINE_MOST : *n;
	if (*n && (*text)[*n - 1] == '\r')
		--*n;
	return 1;
}

int input_lines_fill(struct input_lines *l, const struct input *in, size_t size, struct error *e)
{
	while (!l->ended && l->data.size - l->begin < size)
		if (read_more(l, in, e))
			return -1;
	return 0;
}

bool input_lines_ready(const struct input_lines *l, const struct input *in, int ms)
{
	size_t have = l->data.size - l->begin;
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	return !l->begun || l->ended ||
	       (have > l->searched &&
		memchr(l->data.data + l->begin + l->searched, '\n', have - l->searched)) ||
	       poll(&p, 1, ms) != 0;
}

void input_lines_free(struct input_lines *l)
{
	buffer_free(&l->data);
}

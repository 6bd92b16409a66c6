#include "common/stream/reader_tail.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/stream/reader_private.h"

enum {
	TAIL = 8192, /* maximum length of END */
	END_LEAST = 56,
};

/* --- from the beginning, block by block --- */

struct walk {
	int fd;
	uint64_t at, size; /* in the file */
	uint8_t window[TAIL];
	uint64_t window_at;
	size_t filled;
};

/* Get n bytes at w->at; NULL: they do not exist. */
static const uint8_t *look(struct walk *w, size_t n)
{
	uint64_t into = w->at - w->window_at;
	ssize_t got;

	if (w->at > w->size || n > w->size - w->at)
		return NULL;
	if (w->at < w->window_at || into > w->filled || n > w->filled - into) {
		got = pread(w->fd, w->window, sizeof w->window, (off_t)w->at);
		w->window_at = w->at;
		w->filled = got < 0 ? 0 : (size_t)got;
		into = 0;
		if (w->filled < n)
			return NULL;
	}
	return w->window + into;
}

/* Skip a segment. first, events, last: as in reader_tail_segments. */
static int walk_segment(struct walk *w, bool *first, uint64_t *events, uint64_t *last)
{
	const uint8_t *p = look(w, MARKER_SIZE);
	bool head = true;

	if (!p || memcmp(p, MARKER_PREFIX, sizeof MARKER_PREFIX - 1) != 0)
		return -1;
	w->at += MARKER_SIZE;
	for (;; head = false) {
		struct block b;

		p = look(w, BLOCK_HEADER);
		if (!p || !reader_parse_header(p, &b) || head != (b.kind == BLOCK_HEAD))
			return -1;
		w->at += BLOCK_HEADER;
		p = b.kind == BLOCK_HEAD || b.kind == BLOCK_END ? look(w, head ? 8 : END_LEAST)
								: NULL;
		if (!p && (b.kind == BLOCK_HEAD || b.kind == BLOCK_END))
			return -1;
		if (b.kind == BLOCK_HEAD)
			*first = !get_u32(p + 4);
		if (b.kind == BLOCK_END) {
			*events = get_u64(p);
			*last = get_u64(p + 32);
		}
		w->at += b.length;
		if (b.kind == BLOCK_END)
			return w->at <= w->size ? 0 : -1;
	}
}

int reader_tail_segments(int fd, int (*note)(void *ctx, bool first, uint64_t events, uint64_t last),
			 void *ctx)
{
	off_t begin = lseek(fd, 0, SEEK_CUR);
	uint64_t events = 0, last = 0;
	bool first = false;
	struct stat st;
	struct walk w;

	if (begin < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || begin >= st.st_size)
		return -1;
	w = (struct walk){.fd = fd, .at = (uint64_t)begin, .size = (uint64_t)st.st_size};
	while (w.at < w.size)
		if (walk_segment(&w, &first, &events, &last) || note(ctx, first, events, last))
			return -1;
	return 0;
}

/* --- from the end --- */

int reader_tail_last(int fd, uint64_t *last)
{
	uint8_t tail[TAIL];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	n = pread(fd, tail, sizeof tail, st.st_size > TAIL ? st.st_size - TAIL : 0);
	for (ssize_t at = n - BLOCK_HEADER - END_LEAST; at >= 0; at -= 8) {
		const uint8_t *p = tail + at;
		struct block b;

		if (!reader_parse_header(p, &b) || b.kind != BLOCK_END ||
		    b.length != (size_t)(n - at) - BLOCK_HEADER)
			continue;
		*last = get_u64(p + BLOCK_HEADER + 32);
		return get_u64(p + BLOCK_HEADER) ? 0 : -1;
	}
	return -1;
}

#include "common/ftrace/ring.h"
#include "common/util/lines.h"

#include <stdlib.h>

static int ring_damaged(struct ring_page *p, const char *what)
{
	p->what = what;
	p->end = p->at;
	return -1;
}

int ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page,
		    size_t n, size_t page_size)
{
	bool big = layout->big_endian;
	uint64_t commit;
	uint32_t flags;
	size_t size;

	*p = (struct ring_page){.begin = page, .at = page, .end = page, .big_endian = big};
	if (n < layout->data)
		return ring_damaged(p, "the file ends inside a sub-buffer's header");
	p->time = get_uint(page, 8, big);
	commit = get_uint(page + 8, layout->long_size, big);
	flags = (uint32_t)commit;
	size = flags & RING_COMMIT_MASK;
	p->begin = p->at = p->end = page + layout->data;
	/* the end of the records cannot be known then */
	if (size > page_size - layout->data)
		return ring_damaged(p, "a sub-buffer with more data than its size");
	n -= layout->data;
	p->end = p->at + (size < n ? size : n);
	p->cut = size > n;
	if (flags & RING_MISSED) {
		p->missed = UINT64_MAX;
		if (flags & RING_MISSED_SIZE && !p->cut && n - size >= layout->long_size)
			p->missed = get_uint(p->end, layout->long_size, big);
	}
	return 0;
}

static uint32_t ring_word(const struct ring_page *p, const uint8_t *at)
{
	return (uint32_t)get_uint(at, 4, p->big_endian);
}

/* Complete the 59 bits of an absolute time with the upper bits of the last time. */
static uint64_t ring_absolute(uint64_t now, uint64_t low)
{
	const uint64_t bits = (1ull << 59) - 1;
	uint64_t time = (now & ~bits) | (low & bits);

	/* far below the last time: the 59 bits have wrapped */
	return time < now && now - time > bits / 2 ? time + bits + 1 : time;
}

/* End the page in the middle of a record that needs more bytes. */
static int ring_too_short(struct ring_page *p)
{
	return ring_damaged(p, p->cut ? "the file ends inside a sub-buffer"
				      : "a record reaches beyond its sub-buffer");
}

int ring_next_special(struct ring_page *p, struct ring_record *r)
{
	while (p->end - p->at >= 4) {
		size_t left = (size_t)(p->end - p->at) - 4, size;
		uint32_t w = ring_word(p, p->at), kind = p->big_endian ? w >> 27 : w & 31,
			 delta = p->big_endian ? w & 0x7ffffff : w >> 5, next;

		if (kind == RING_PADDING && !delta) {
			p->at = p->end;
			return 0;
		}
		if (kind && kind < RING_PADDING) {
			size = 4 * kind;
			if (size > left)
				return ring_too_short(p);
			p->time += delta;
			*r = (struct ring_record){p->time, p->at + 4, (uint32_t)size};
			p->at += 4 + size;
			return 1;
		}
		if (left < 4)
			return ring_too_short(p);
		next = ring_word(p, p->at + 4);
		switch (kind) {
		case RING_TIME_EXTEND:
			p->time += (uint64_t)next << 27 | delta;
			p->at += 8;
			continue;
		case RING_TIME_STAMP:
			p->time = ring_absolute(p->time, (uint64_t)next << 27 | delta);
			p->at += 8;
			continue;
		case RING_PADDING:
			size = align_up(next, 4);
			if (size > left)
				return ring_too_short(p);
			p->time += delta;
			p->at += 4 + size;
			continue;
		}
		/* RING_LONG: the length includes its own 4 bytes */
		size = align_up(next, 4);
		if (size < 4 || size > left)
			return ring_too_short(p);
		p->time += delta;
		*r = (struct ring_record){p->time, p->at + 8, (uint32_t)size - 4};
		p->at += 4 + size;
		return 1;
	}
	if (p->cut)
		return ring_damaged(p, "the file ends inside a sub-buffer");
	return 0;
}

/* Parse the number after "offset:" or "size:" in a line. Return false if there is none. */
static bool number_after(const char *line, const char *end, const char *key, uint32_t *number)
{
	size_t n = strlen(key);

	for (const char *p = line; (size_t)(end - p) > n; p++) {
		uint32_t v = 0;
		const char *q = p + n;

		if (memcmp(p, key, n))
			continue;
		for (; q < end && *q >= '0' && *q <= '9' && v < 100000000; q++)
			v = v * 10 + (uint32_t)(*q - '0');
		*number = v;
		return q > p + n;
	}
	return false;
}

/* Is this the line of the field with that name? ";" follows the name. */
static bool line_names(const char *line, const char *end, const char *name)
{
	size_t n = strlen(name);
	const char *semicolon = memchr(line, ';', (size_t)(end - line));

	return semicolon && (size_t)(semicolon - line) > n && !memcmp(semicolon - n, name, n) &&
	       (semicolon[-1 - (ptrdiff_t)n] == ' ' || semicolon[-1 - (ptrdiff_t)n] == '\t');
}

bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t n, bool big_endian,
		       uint8_t word_size, uint32_t *data_size)
{
	uint32_t commit = 0, at = 0, data = 0, size = 0, commit_at = 0;
	bool good;

	for (struct lines l = lines_of(text, n); lines_next(&l);) {
		const char *end = l.line + l.size;

		if (line_names(l.line, end, "commit")) {
			number_after(l.line, end, "offset:", &commit_at);
			number_after(l.line, end, "size:", &commit);
		} else if (line_names(l.line, end, "data")) {
			number_after(l.line, end, "offset:", &data);
			number_after(l.line, end, "size:", &size);
		} else if (line_names(l.line, end, "timestamp")) {
			number_after(l.line, end, "size:", &at);
		}
	}
	good = at == 8 && commit_at == 8 && (commit == 4 || commit == 8) && data == 8 + commit &&
	       size <= 1 << 26;
	if (!good) {
		commit = word_size == 4 ? 4 : 8;
		data = 8 + commit;
		size = 0;
	}
	*layout = (struct ring_layout){big_endian, (uint8_t)commit, data};
	*data_size = size;
	return good;
}

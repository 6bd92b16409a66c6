/*
 * pages.c - write sub-buffers ("pages") of the kernel's ring buffer
 */
#include "cmd/trencode/tracecmd/pages.h"

#include "common/formats/tracecmd.h"

/* Pages are written in pieces: as many pages as the recorder packs together, at most PIECE_MOST
 * bytes. */
enum { PIECE_PAGES = 10, PIECE_MOST = 256 * 1024, DELTA_BITS = 27, SHORT_MOST = 28 * 4 };

/* Bits of a time extend or time stamp. */
enum { TIME_BITS = 59 };

static size_t header_size(const struct tracecmd_pages *p)
{
	return 8 + p->layout.word;
}

static int append_uint(struct tracecmd_pages *p, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	tracecmd_put_uint(bytes, v, size, p->layout.big_endian);
	return buffer_append(&p->data, bytes, size);
}

/* Append the first word of a record. */
static int append_head(struct tracecmd_pages *p, unsigned kind, uint32_t delta)
{
	return append_uint(p, p->layout.big_endian ? kind << DELTA_BITS | delta : delta << 5 | kind,
			   4);
}

static int write_pages(struct tracecmd_pages *p, struct error *e)
{
	if (!p->data.size)
		return 0;
	if (p->put(p->context, p->data.data, p->data.size, e))
		return -1;
	p->data.size = 0;
	return 0;
}

/* Return the end of the space for records: the number of lost events follows the records. */
static size_t page_end(const struct tracecmd_pages *p)
{
	bool counted = p->reported && p->reported != UINT64_MAX;

	return p->begin + p->layout.size - (counted ? p->layout.word : 0);
}

static int open_page(struct tracecmd_pages *p, uint64_t time, struct error *e)
{
	p->begin = p->data.size;
	if (append_uint(p, time, 8) || append_uint(p, 0, p->layout.word))
		return error_no_memory(e);
	p->open = true;
	p->time = time;
	p->reported = p->missed;
	p->missed = 0;
	/* the number does not fit into a 32-bit long */
	if (p->layout.word == 4 && p->reported > UINT32_MAX)
		p->reported = UINT64_MAX;
	return 0;
}

static int close_page(struct tracecmd_pages *p, struct error *e)
{
	uint64_t commit;

	if (!p->open)
		return 0;
	commit = p->data.size - p->begin - header_size(p);
	if (p->reported)
		commit |= RING_MISSED;
	if (p->reported && p->reported != UINT64_MAX) {
		commit |= RING_MISSED_SIZE;
		if (append_uint(p, p->reported, p->layout.word))
			return error_no_memory(e);
	}
	tracecmd_put_uint(p->data.data + p->begin + 8, commit, p->layout.word,
			  p->layout.big_endian);
	if (buffer_zero(&p->data, p->begin + p->layout.size - p->data.size))
		return error_no_memory(e);
	p->open = false;
	if (p->data.size >= (size_t)PIECE_PAGES * p->layout.size ||
	    p->data.size + p->layout.size > PIECE_MOST)
		return write_pages(p, e);
	return 0;
}

int tracecmd_pages_lost(struct tracecmd_pages *p, uint64_t count, struct error *e)
{
	if (!count)
		return 0;
	if (count == UINT64_MAX || p->missed == UINT64_MAX || count > UINT64_MAX - 1 - p->missed)
		p->missed = UINT64_MAX;
	else
		p->missed += count;
	return close_page(p, e);
}

/* Test whether the open page can have a record of this time. *extend: after 8 bytes of time. */
static bool page_can_reach(const struct tracecmd_pages *p, uint64_t time, bool *extend)
{
	*extend = time < p->time || (time - p->time) >> DELTA_BITS;
	if (time >= p->time)
		return !((time - p->time) >> TIME_BITS);
	/* back: by a time stamp, of which some readers use only the lower 59 bits */
	return !(p->time >> TIME_BITS);
}

static int append_time(struct tracecmd_pages *p, uint64_t time)
{
	bool back = time < p->time;
	uint64_t v = back ? time : time - p->time;

	return append_head(p, back ? RING_TIME_STAMP : RING_TIME_EXTEND,
			   (uint32_t)v & ((1u << DELTA_BITS) - 1)) ||
			       append_uint(p, v >> DELTA_BITS, 4)
		       ? -1
		       : 0;
}

int tracecmd_pages_record(struct tracecmd_pages *p, uint64_t time, const void *data, size_t n,
			  struct error *e)
{
	size_t padded = align_up(n, 4), need = padded + (padded > SHORT_MOST || !padded ? 8 : 4);
	bool extend = false;
	uint32_t delta;

	if (need > p->layout.size - header_size(p))
		return 1;
	if (p->open && (!page_can_reach(p, time, &extend) ||
			need + (extend ? 8 : 0) > page_end(p) - p->data.size))
		if (close_page(p, e))
			return -1;
	if (!p->open) {
		extend = false;
		if (open_page(p, time, e))
			return -1;
		/* a record is worth more than the number of lost events */
		if (need > page_end(p) - p->data.size)
			p->reported = UINT64_MAX;
	}
	if (extend && append_time(p, time))
		return error_no_memory(e);
	delta = extend ? 0 : (uint32_t)(time - p->time);
	if (need == padded + 4 ? append_head(p, (unsigned)(padded / 4), delta)
			       : append_head(p, RING_LONG, delta) || append_uint(p, padded + 4, 4))
		return error_no_memory(e);
	if ((n && buffer_append(&p->data, data, n)) || buffer_zero(&p->data, padded - n))
		return error_no_memory(e);
	p->time = time;
	return 0;
}

int tracecmd_pages_end(struct tracecmd_pages *p, struct error *e)
{
	/* a page without records reports what was lost after the last record */
	if (p->missed && !p->open && open_page(p, p->time, e))
		return -1;
	return close_page(p, e) || write_pages(p, e) ? -1 : 0;
}

/*
 * ring.h - read the records of one sub-buffer ("page") of the kernel's ring buffer
 *
 * Works on memory alone; no byte outside of those given is read, whatever the page contains. Used
 * for trace.dat and for uftrace's kernel-cpu*.dat.
 */
#ifndef TR_FTRACE_RING_H
#define TR_FTRACE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/bytes.h"
#include "common/formats/tracecmd.h"

/* The layout of a page, from the text header_page. */
struct ring_layout {
	bool big_endian;
	uint8_t long_size; /* long size of the kernel, 4 or 8: size of the field commit */
	uint32_t data;	   /* offset of the records: 12 or 16 */
};

struct ring_page {
	const uint8_t *begin, *at, *end; /* the page's records */
	uint64_t time;			 /* time of the last record */
	uint64_t missed; /* events lost before this page; UINT64_MAX: unknown number */
	bool big_endian;
	bool cut;	  /* the file ends within the page: end is where the bytes end */
	const char *what; /* after -1: what is wrong at `at` */
};

struct ring_record {
	uint64_t time;
	const uint8_t *data;
	uint32_t size; /* bytes, a multiple of 4 */
};

/* Read the header of a page of n bytes (fewer than page_size if the file ends). Returns 0, or -1
 * with p->what: no records can be found in the page. */
int ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page,
		    size_t n, size_t page_size);

/* Read an entry that is not a plain record. Returns 1 with the next record in *r, 0 at the page's
 * end, -1: damage. */
int ring_next_special(struct ring_page *p, struct ring_record *r);

/* Find the next record: 1, or 0 at the end, or -1 for damage; after 0 and -1 the page has no
 * more records. */
static inline int ring_next(struct ring_page *p, struct ring_record *r)
{
	const uint8_t *at = p->at;

	if (__builtin_expect(p->end - at >= 8, 1)) {
		uint32_t w, kind, delta;

		memcpy(&w, at, 4);
		if (p->big_endian) {
			w = be32toh(w);
			kind = w >> 27;
			delta = w & 0x7ffffff;
		} else {
			w = le32toh(w);
			kind = w & 31;
			delta = w >> 5;
		}
		if (__builtin_expect(kind - 1 < 28 && (size_t)(p->end - at) >= 4 + 4 * kind, 1)) {
			p->time += delta;
			r->time = p->time;
			r->data = at + 4;
			r->size = 4 * kind;
			p->at = at + 4 + r->size;
			return 1;
		}
	}
	return ring_next_special(p, r);
}

/*
 * Parse the layout in the text of header_page. Return false if the text is empty or cannot be
 * parsed; *layout is then what the word size implies. *data_size: bytes of records in a page, 0:
 * unknown.
 */
bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t n, bool big_endian,
		       uint8_t word_size, uint32_t *data_size);

#endif

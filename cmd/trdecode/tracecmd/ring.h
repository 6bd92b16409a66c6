/*
 * ring.h - the records of one sub-buffer ("page") of the kernel's ring buffer
 *
 * Works on memory alone; nothing outside of the bytes given is read, whatever they hold. Used for
 * trace.dat and for uftrace's kernel-cpu*.dat.
 */
#ifndef TR_TRDECODE_TRACECMD_RING_H
#define TR_TRDECODE_TRACECMD_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/bytes.h"
#include "common/formats/tracecmd.h"

/* From the text header_page. */
struct ring_layout {
	bool big_endian;
	uint8_t long_size; /* of the kernel: 4 or 8, size of the field commit */
	uint32_t data;	   /* where the records begin: 12 or 16 */
};

struct ring_page {
	const uint8_t *begin, *at, *end; /* records */
	uint64_t time;			 /* of the last record */
	uint64_t missed;		 /* lost before this page; UINT64_MAX unknown number */
	bool big_endian;
	bool cut;	  /* bytes of the page are missing: end is where they are */
	const char *what; /* after -1: what is wrong at `at` */
};

struct ring_record {
	uint64_t time;
	const uint8_t *data;
	uint32_t size; /* a multiple of 4 */
};

/* The page's header, of n bytes (fewer than page_size if the file ends). 0, or -1 with p->what: it
 * holds no records that could be found. */
int ring_page_begin(struct ring_page *p, const struct ring_layout *layout, const uint8_t *page,
		    size_t n, size_t page_size);

/* What is no plain record. 1: *r is one, 0: the page's end, -1: damage. */
int ring_next_special(struct ring_page *p, struct ring_record *r);

/* The next record: 1, or 0 at the end, or -1 for damage; nothing of the page follows either. */
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
 * The layout that the text of header_page tells. false: it does not (empty, or not to be
 * understood); *layout is then what word size gives. *data_size: bytes of records in a page, 0
 * unknown.
 */
bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t n, bool big_endian,
		       uint8_t word_size, uint32_t *data_size);

#endif

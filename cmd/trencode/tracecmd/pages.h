/*
 * pages.h - sub-buffers ("pages") of the kernel's ring buffer being written
 *
 * Times are differences to the record before; a page begins with a full one. Where events were
 * lost a new page begins, as only a page's header can say so.
 */
#ifndef TR_TRENCODE_TRACECMD_PAGES_H
#define TR_TRENCODE_TRACECMD_PAGES_H

#include "common/util/buffer.h"
#include "common/util/error.h"

/* A number of 1, 2, 4 or 8 bytes, in either order. */
static inline void tracecmd_put_uint(void *p, uint64_t v, unsigned size, bool big)
{
	v = big ? htobe64(v << (64 - 8 * size)) : htole64(v);
	memcpy(p, &v, size);
}

struct tracecmd_page_layout {
	bool big_endian;
	uint8_t word; /* of the kernel: 4 or 8 */
	uint32_t size;
};

/* Zero-initialised but for the first three is empty. */
struct tracecmd_pages {
	struct tracecmd_page_layout layout;
	/* takes whole pages, several at a time: 0, or -1 with e filled */
	int (*put)(void *context, const void *pages, size_t n, struct error *e);
	void *context;
	struct buffer data; /* pages not yet put, the open one last */
	bool open;
	size_t begin;	 /* of the open page */
	uint64_t time;	 /* of its last record */
	uint64_t missed; /* before the next page; UINT64_MAX: unknown number */
	uint64_t told;	 /* the same of the open page */
};

/* Events are missing here; count UINT64_MAX: unknown how many. */
int tracecmd_pages_lost(struct tracecmd_pages *p, uint64_t count, struct error *e);
/* 0, or -1 with e filled; 1: no page has room for so long a record, nothing was written. */
int tracecmd_pages_record(struct tracecmd_pages *p, uint64_t time, const void *data, size_t n,
			  struct error *e);
/* What is left is put. */
int tracecmd_pages_end(struct tracecmd_pages *p, struct error *e);

#endif

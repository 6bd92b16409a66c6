/*
 * pages.h - write sub-buffers ("pages") of the kernel's ring buffer
 *
 * A page begins with a full time; each record has the difference to the time before. A new page
 * begins where events were lost, as only a page's header can report lost events.
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TRACECMD_PAGES_H
#define TR_TRENCODE_TRACECMD_PAGES_H

#include "common/util/buffer.h"
#include "common/util/error.h"

/* Store a number of 1, 2, 4 or 8 bytes, in either byte order. */
static inline void tracecmd_put_uint(void *p, uint64_t v, unsigned size, bool big)
{
	v = big ? htobe64(v << (64 - 8 * size)) : htole64(v);
	memcpy(p, &v, size);
}

/* The layout of the pages of one machine. */
struct tracecmd_page_layout {
	bool big_endian;
	uint8_t word;  /* bytes of the kernel's long: 4 or 8 */
	uint32_t size; /* bytes of a page */
};

/* The pages of one CPU of one buffer. Zero-initialised except layout, put and context is empty. */
struct tracecmd_pages {
	struct tracecmd_page_layout layout;
	/* writes whole pages, several at a time */
	int (*put)(void *context, const void *pages, size_t n, struct error *e);
	void *context;
	struct buffer data; /* pages not yet written, the open one last */
	bool open;
	size_t begin;	   /* offset of the open page in data */
	uint64_t time;	   /* of the last record */
	uint64_t missed;   /* events lost before the next page; UINT64_MAX: unknown number */
	uint64_t reported; /* events lost before the open page; UINT64_MAX: unknown number */
};

/* Report lost events; count UINT64_MAX: unknown number. */
int tracecmd_pages_lost(struct tracecmd_pages *p, uint64_t count, struct error *e);
/* Append a record. Returns also 1: the record is too long for a page, nothing was written. */
int tracecmd_pages_record(struct tracecmd_pages *p, uint64_t time, const void *data, size_t n,
			  struct error *e);
/* Write the remaining pages. */
int tracecmd_pages_end(struct tracecmd_pages *p, struct error *e);

#endif

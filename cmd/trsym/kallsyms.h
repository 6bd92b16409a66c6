/*
 * kallsyms.h - the kernel's symbols from a file that the user names
 *
 * Functions return 0, or -1 when out of memory, unless noted.
 */
#ifndef TR_TRSYM_KALLSYMS_H
#define TR_TRSYM_KALLSYMS_H

#include "common/stream/reader.h"
#include "common/symbols/symbols.h"
#include "common/stream/writer.h"

/* A copy of /proc/kallsyms. Zero-initialised: there is no copy. */
struct kallsyms {
	struct buffer text;
	struct symbols *symbols;	 /* NULL: there is no copy */
	struct kallsyms_source *sources; /* by number */
	size_t nsources;
	uint32_t *pending; /* ids of sources that the segment has declared since the last event */
	size_t npending, capacity;
};

/* Read the file. Returns 0, or -1 with *e filled: the file cannot be read, has no function, or
 * was copied by a user without the right to see addresses. */
int kallsyms_read(struct kallsyms *k, const char *path, struct error *e);

void kallsyms_free(struct kallsyms *k);

/* Note a META block of a source. */
int kallsyms_meta(struct kallsyms *k, const struct meta *m);

/* Note the sources that a DICT block declares. */
int kallsyms_declared(struct kallsyms *k, const struct block *b);

/*
 * Give the table to trace-cmd sources without a table of their own, before their events: programs
 * that print addresses of fields then have the names too. Returns 0, or -1 with w->error filled.
 */
int kallsyms_send(struct kallsyms *k, struct writer *w, const struct dictionary *d);

/* Refuse the file if no source has a kernel. Returns 0, or -1 with e filled. */
int kallsyms_check(const struct kallsyms *k, const struct dictionary *d, struct error *e);

#endif

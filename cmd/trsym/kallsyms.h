/*
 * kallsyms.h - the kernel's symbols from a file that the user names
 */
#ifndef TR_TRSYM_KALLSYMS_H
#define TR_TRSYM_KALLSYMS_H

#include "common/stream/reader.h"
#include "common/symbols/symbols.h"
#include "common/stream/writer.h"

/* A copy of /proc/kallsyms. Zero-initialised is none. */
struct kallsyms {
	struct buffer text;
	struct symbols *symbols;	 /* NULL: there is no copy */
	struct kallsyms_source *sources; /* by number */
	size_t nsources;
	uint32_t *waiting; /* ids of sources that the segment has declared since the last event */
	size_t nwaiting, capacity;
};

/* 0, or -1 with e filled: the file cannot be read, has no function, or was copied by someone who
 * may not see addresses. */
int kallsyms_read(struct kallsyms *k, const char *path, struct error *e);

void kallsyms_free(struct kallsyms *k);

/* A part of a source goes by. -1 when out of memory. */
int kallsyms_meta(struct kallsyms *k, const struct meta *m);

/* A DICT block goes by. -1 when out of memory. */
int kallsyms_declared(struct kallsyms *k, const struct block *b);

/*
 * Before events: sources of trace-cmd without a table of their own get this one, so that who prints
 * the addresses in their fields has the names too. -1: w->error says why.
 */
int kallsyms_send(struct kallsyms *k, struct writer *w, const struct dictionary *d);

#endif

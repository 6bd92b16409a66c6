/*
 * frame_tables.h - the tables of ELF files by which stacks are unwound: .eh_frame
 */
#ifndef TR_SYMBOLS_FRAME_TABLES_H
#define TR_SYMBOLS_FRAME_TABLES_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/util/error.h"

/* A file's tables in memory; the file is closed. */
struct frame_tables {
	Elf *elf; /* has the headers and the tables, nothing else */
	unsigned machine;
	uint64_t low, high; /* addresses of the loaded segments, in the file's numbering */
	uint64_t size;	    /* bytes in memory */
};

/*
 * Read the tables of the file at the path below sysroot (NULL: /). build_id, in hexadecimal: that
 * of the file must be equal; NULL or "": any. Returns 0, or -1 with e filled.
 */
int frame_tables_open(struct frame_tables *t, const char *path, const char *sysroot,
		      const char *build_id, struct error *e);
void frame_tables_close(struct frame_tables *t);

/* Find the address, in the file's numbering, of the byte at an offset. Returns false if no loaded
 * segment has that byte. */
bool frame_tables_address(const struct frame_tables *t, uint64_t offset, uint64_t *address);

#endif

/*
 * frame_tables.h - the tables of ELF files by which stacks are unwound: .eh_frame, .debug_frame
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
	const char *path, *sysroot;
	char *copy; /* path of a copy of perf's, which is the path then; NULL: it is none */
	int debug;  /* file in memory with the .debug_frame of the separate debug file; -1: none */
	bool debug_searched;
};

/*
 * Read the tables of the file at the path below sysroot (NULL: /). Both texts are borrowed.
 * build_id, in hexadecimal: that of the file must be equal; NULL or "": any. Where there is no such
 * file, a copy of perf's with that build-id is read. Returns NULL with e filled if there are none.
 */
struct frame_tables *frame_tables_open(const char *path, const char *sysroot, const char *build_id,
				       struct error *e);
/* Close; t may be NULL. */
void frame_tables_close(struct frame_tables *t);

/*
 * Get an ELF file with the .debug_frame of the separate debug file, which is found as in
 * symbols_from_elf(), and without its other content. Returns a new descriptor, -1: there is none.
 */
int frame_tables_debug(struct frame_tables *t);

/* Find the address, in the file's numbering, of the page of code at an offset. Returns false if no
 * segment of code has that page. */
bool frame_tables_address(const struct frame_tables *t, uint64_t offset, uint64_t *address);

#endif

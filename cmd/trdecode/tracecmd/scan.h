/*
 * scan.h - recover sections of a version 7 file whose chain of options is broken: the recorder
 * died, the file is truncated, or an offset is damaged. Sections follow each other and are found by
 * their headers; the CPUs of a buffer whose table is lost are found by their pages.
 */
#ifndef TR_TRDECODE_TRACECMD_SCAN_H
#define TR_TRDECODE_TRACECMD_SCAN_H

#include "cmd/trdecode/tracecmd/header.h"
#include "common/util/intern.h"

struct tracecmd_section {
	uint16_t id;
	bool compressed;
	uint64_t offset, size; /* of the body; size as in the file */
};

/* Read the header of a section. Returns 0, or -1: it is not in the file. */
int tracecmd_section_header(struct tracecmd_header *h, uint64_t at, struct tracecmd_section *s,
			    struct error *e);

/*
 * Find the next section at or after *at; *at moves to the end of that section. Returns 1; 0: the
 * bytes there are no section, or the file ends; -1: the file cannot be read.
 */
int tracecmd_next_section(struct tracecmd_header *h, uint64_t *at, struct tracecmd_section *s,
			  struct error *e);

/* What the buffers of a file are known by while their sections are searched. */
struct tracecmd_known {
	struct intern sections, names; /* offsets of bodies, u64; names of buffers */
	size_t added;		       /* number of buffers that are in both */
	size_t stats; /* statistics of CPUs before this offset of the options name known buffers */
};

void tracecmd_known_free(struct tracecmd_known *k);

/*
 * Add a buffer for the section, unless a BUFFER option leads to the section. Each CPU's data begin
 * at a page: compressed data follow each other; a new CPU's plain pages begin where the time
 * decreases. CPUs are numbered in this order. What is guessed is reported as the input's damage.
 * Returns 0, or -1: out of memory, or the file cannot be read.
 */
int tracecmd_recover_buffer(struct tracecmd_header *h, struct tracecmd_known *k,
			    const struct tracecmd_section *s, struct error *e);

#endif

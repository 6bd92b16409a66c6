/*
 * scan.h - version 7 whose chain of options does not lead everywhere: a recorder died, the
 * file is cut, or an offset is damaged. The sections follow each other, so they are found by their
 * headers; and the CPUs of a buffer whose table is lost, by their pages.
 */
#ifndef TR_TRDECODE_TRACECMD_SCAN_H
#define TR_TRDECODE_TRACECMD_SCAN_H

#include "cmd/trdecode/tracecmd/header.h"

struct tracecmd_section {
	uint16_t id;
	bool compressed;
	uint64_t offset, size; /* of the body; size as the file says it */
};

/* The header of a section. -1: it is not in the file. */
int tracecmd_section_header(struct tracecmd_header *h, uint64_t at, struct tracecmd_section *s,
			    struct error *e);

/*
 * The next section at or behind *at, which moves to what follows it. 0: there is none; whatever
 * stands there is no section, or the file ends. -1: the file cannot be read.
 */
int tracecmd_next_section(struct tracecmd_header *h, uint64_t *at, struct tracecmd_section *s,
			  struct error *e);

/*
 * Add a buffer for the section, whose BUFFER option was not found. Each CPU's data begin at a page:
 * compressed, one behind the other; as pages, where the time goes back. The CPUs are numbered as
 * they come. Says what is guessed as the input's damage. -1: memory, or the file cannot be read.
 */
int tracecmd_recover_buffer(struct tracecmd_header *h, const struct tracecmd_section *s,
			    struct error *e);

#endif

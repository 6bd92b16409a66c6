/*
 * depths.h - how deep the calls of a filtered stream are nested among those that are
 * left
 *
 * Recorded depths count calls that a filter took out. Those that are open, ascending, say where a
 * call stands.
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_DEPTHS_H
#define TR_TRENCODE_TEXT_TRACECMD_DEPTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tc_depths {
	struct tc_open_depths *threads; /* by number of the thread */
	size_t size;
};

/* Of an enter or a leave, each row once, in their order. -1: out of memory. */
int tc_depths_row(struct tc_depths *d, uint32_t thread, uint64_t recorded, bool leave,
		  uint64_t *depth);
void tc_depths_free(struct tc_depths *d);

#endif

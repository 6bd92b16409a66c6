/*
 * depths.h - the depths of the calls of a filtered stream
 *
 * Recorded depths count calls that a filter removed. The depth among the remaining calls is the
 * number of smaller recorded depths of open calls.
 */
#ifndef TR_TRENCODE_TEXT_TRACECMD_DEPTHS_H
#define TR_TRENCODE_TEXT_TRACECMD_DEPTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The recorded depths of the open calls. */
struct tc_depths {
	struct tc_open_depths *threads; /* by number of the thread */
	size_t size;
};

/* Compute the depth of an enter or a leave; called once for each, in their order. Returns -1 when
 * out of memory. */
int tc_depths_row(struct tc_depths *d, uint32_t thread, uint64_t recorded, bool leave,
		  uint64_t *depth);
void tc_depths_free(struct tc_depths *d);

#endif

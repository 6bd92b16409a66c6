/*
 * reverse_scan.h - find the calls open after a run of narrow rows of recorded depth, reading
 * backwards
 *
 * A row that is deeper than a later row of its lane does not matter: its call has ended by the
 * later row. A row that is less deep than all later rows is open at the end if it is an enter. So
 * most rows only need a comparison with the lowest depth after them.
 */
#ifndef TR_TRFILTER_CALLS_REVERSE_SCAN_H
#define TR_TRFILTER_CALLS_REVERSE_SCAN_H

#include "cmd/trfilter/calls/pairing_block.h"

/* depth of a lane without rows: more than any narrow row's */
enum { SCAN_DEPTHS = 256, SCAN_UNSEEN = SCAN_DEPTHS };

struct reverse_scan {
	const uint8_t *kinds; /* enum pairing_kind, by type */
	uint16_t low[256];    /* by lane: the lowest depth of its rows */
	uint64_t open[256]
		     /* of lanes with rows: open calls, a bit for each depth */
		     [SCAN_DEPTHS / 64];
};

/* Read the rows [from, to), each of 8 bytes. Unchecked rows make the result useless, but do no
 * other harm. */
void reverse_scan(struct reverse_scan *k, const uint8_t *kinds, const uint8_t *from,
		  const uint8_t *to);

#endif

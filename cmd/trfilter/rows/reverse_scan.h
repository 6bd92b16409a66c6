/*
 * reverse_scan.h - what is open behind a run of narrow rows of recorded depth, by a look backwards
 *
 * A row deeper than another one of its lane that follows says nothing: the other one ends its call,
 * or ended it. The one that is deep alone is open at the end if it is an enter. So of most rows no
 * more is asked than whether they are less deep than all behind them.
 */
#ifndef TR_TRFILTER_ROWS_REVERSE_SCAN_H
#define TR_TRFILTER_ROWS_REVERSE_SCAN_H

#include "cmd/trfilter/calls/pairing_block.h"

/* Of a lane nothing was seen: deeper than any narrow row. */
enum { BEHIND_DEPTHS = 256, BEHIND_UNSEEN = BEHIND_DEPTHS };

struct reverse_scan {
	const uint8_t *kinds; /* enum pairing_kind, by type */
	uint16_t low[256];    /* by lane: the lowest depth of its rows */
	uint64_t open[256]
		     [BEHIND_DEPTHS / 64]; /* of lanes seen: what is open, a bit for each depth */
};

/* Rows from one on and up to another one, of lanes below nlanes, each of 8 bytes. If they have not
 * been checked what is found is of no use, but nothing else happens. */
void reverse_scan_look(struct reverse_scan *k, const uint8_t *kinds, const uint8_t *from,
		       const uint8_t *to, uint32_t nlanes);

#endif

#include "cmd/trfilter/calls/reverse_scan.h"

#include <string.h>

static void reverse_scan_row(struct reverse_scan *k, const uint8_t *p)
{
	uint32_t lane = row_lane_at(p), depth = row_depth_at(p);
	uint8_t kind;

	if (__builtin_expect(depth >= k->low[lane], 1))
		return;
	kind = k->kinds[row_type_at(p)];
	if (kind == PAIRING_NONE)
		return;
	if (k->low[lane] == SCAN_UNSEEN)
		memset(k->open[lane], 0, sizeof k->open[lane]);
	if (kind == PAIRING_ENTER)
		k->open[lane][depth / 64] |= 1ull << depth % 64;
	k->low[lane] = (uint16_t)depth;
}

void reverse_scan(struct reverse_scan *k, const uint8_t *kinds, const uint8_t *from,
		  const uint8_t *to)
{
	k->kinds = kinds;
	for (int i = 0; i < 256; i++)
		k->low[i] = SCAN_UNSEEN;
	while (to > from)
		reverse_scan_row(k, to -= NARROW_ROW);
}

#include "cmd/trfilter/rows/reverse_scan.h"

#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { GROUP = 16, GROUP_BYTES = GROUP * NARROW_ROW }; /* rows that are compared together */
enum { TOP_BYTE = 56 };				       /* lowest bit of the highest byte */

static inline bool scan_row(struct reverse_scan *k, const uint8_t *p)
{
	uint32_t lane = row_lane_at(p), depth = row_depth_at(p);
	uint8_t kind;

	if (__builtin_expect(depth >= k->low[lane], 1))
		return false;
	kind = k->kinds[row_type_at(p)];
	if (kind == PAIRING_NONE)
		return false;
	if (k->low[lane] == SCAN_UNSEEN)
		memset(k->open[lane], 0, sizeof k->open[lane]);
	if (kind == PAIRING_ENTER)
		k->open[lane][depth / 64] |= 1ull << depth % 64;
	k->low[lane] = (uint16_t)depth;
	return true;
}

/* Take the rows [from, to). Returns true if one is less deep than all later ones of its lane. */
static inline bool scan_rows(struct reverse_scan *k, const uint8_t *from, const uint8_t *to)
{
	bool lower = false;

	while (to > from)
		lower |= scan_row(k, to -= NARROW_ROW);
	return lower;
}

/* --- any processor --- */

typedef uint64_t pair __attribute__((vector_size(16)));

/* Returns true if a row of the group before p is less deep. The depth is moved to the highest
 * byte: if it is below the limit, the difference has the highest bit set. */
static inline bool any_below(const uint8_t *p, uint32_t depth)
{
	uint64_t limit = (uint64_t)depth << 55;
	pair all = {0, 0};

	if (__BYTE_ORDER != __LITTLE_ENDIAN)
		return true;
	for (int i = 1; i <= GROUP / 2; i++) {
		pair rows;

		memcpy(&rows, p - 16 * i, sizeof rows);
		all |= (rows << (TOP_BYTE - NARROW_DEPTH) >> 1) - limit;
	}
	return (all[0] | all[1]) >> 63;
}

/* Compare with the highest of the lanes' lowest depths. */
static void scan_portable(struct reverse_scan *k, const uint8_t *from, const uint8_t *to,
			  uint32_t nlanes)
{
	enum { FEW = 8 }; /* lanes */
	uint32_t highest = SCAN_UNSEEN;

	for (; to - from >= GROUP_BYTES; to -= GROUP_BYTES) {
		if (highest < SCAN_UNSEEN && !any_below(to, highest))
			continue;
		if (!scan_rows(k, to - GROUP_BYTES, to) || nlanes > FEW)
			continue;
		highest = 0;
		for (uint32_t i = 0; i < nlanes; i++)
			highest = k->low[i] > highest ? k->low[i] : highest;
		if (!highest)
			return; /* all lanes are at depth 0, which ends all deeper calls */
	}
	scan_rows(k, from, to);
}

/* --- processors with AVX2 --- */

#ifdef __x86_64__
enum { TABLE = 16 };

/*
 * Compare with the lowest depth of each lane, in the highest byte of each row. A table of 16 bytes
 * replaces the lane by its lowest depth so far: 255 for a lane without rows, whose rows of depth
 * 255 must be found too.
 */
__attribute__((target("avx2"))) static void scan_by_table(struct reverse_scan *k,
							  const uint8_t *from, const uint8_t *to)
{
	const __m256i deepest = _mm256_set1_epi8(-1);
	uint8_t low[TABLE];
	__m256i lows = deepest;

	for (; to - from >= GROUP_BYTES; to -= GROUP_BYTES) {
		__m256i any = _mm256_setzero_si256();

		for (int i = 1; i <= GROUP / 4; i++) {
			__m256i rows = _mm256_loadu_si256((const void *)(to - 32 * i));
			__m256i lanes = _mm256_slli_epi64(rows, TOP_BYTE - NARROW_LANE);
			__m256i of_lane = _mm256_shuffle_epi8(lows, lanes);
			__m256i depths = _mm256_slli_epi64(rows, TOP_BYTE - NARROW_DEPTH);

			any = _mm256_or_si256(any, _mm256_subs_epu8(of_lane, depths));
			any = _mm256_or_si256(any, _mm256_cmpeq_epi8(depths, deepest));
		}
		/* is the highest byte of some row 0? */
		any = _mm256_cmpeq_epi8(any, _mm256_setzero_si256());
		if (((uint32_t)_mm256_movemask_epi8(any) & 0x80808080) == 0x80808080 ||
		    !scan_rows(k, to - GROUP_BYTES, to))
			continue;
		for (int i = 0; i < TABLE; i++)
			low[i] = k->low[i] < 255 ? (uint8_t)k->low[i] : 255;
		lows = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)low));
	}
	scan_rows(k, from, to);
}
#endif

void reverse_scan_look(struct reverse_scan *k, const uint8_t *kinds, const uint8_t *from,
		       const uint8_t *to, uint32_t nlanes)
{
	k->kinds = kinds;
	for (int i = 0; i < 256; i++)
		k->low[i] = SCAN_UNSEEN;
#ifdef __x86_64__
	if (nlanes <= TABLE && __builtin_cpu_supports("avx2")) {
		scan_by_table(k, from, to);
		return;
	}
#endif
	scan_portable(k, from, to, nlanes);
}

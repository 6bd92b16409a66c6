/*
 * rewrite.h - a stream with fewer fields or with pseudonyms: --keep, --drop, --scrub
 *
 * Stands between what was selected and the output (struct stage_rewrite). Lanes, types and places
 * keep their ids, so rows that lose nothing pass as they are. Strings get ids of their own and are
 * sent where something names them: one string may be a name that is to be scrubbed and one that is
 * not, and what nothing names any more is not sent at all.
 */
#ifndef TRFILTER_REWRITE_H
#define TRFILTER_REWRITE_H

#include "cmd/trfilter/rows/layout.h"
#include "common/cli/stage.h"

struct rewrite {
	struct projection projection;
	struct scrub scrub;
	struct stage_rewrite hooks;
	const struct dictionary *dictionary;

	struct intern texts, sent; /* as they came, and as they go */
	struct idmap ids;	   /* a segment's ids of strings to numbers in texts + 1 */
	struct buffer said;	   /* for each of sent: the segment that has it, u32 */
	uint32_t segment;
	struct buffer entry, out; /* of a dictionary */
	struct stage *stage;	  /* in a call */

	struct layout *layouts; /* by number of the type */
	size_t nlayouts;
	struct buffer fixed, tail;
	struct buffer left_out; /* names of META blocks, for one message */
	uint32_t nleft_out;
};

static inline bool rewrite_any(const struct rewrite *r)
{
	return r->projection.count || r->scrub.what;
}

/* The rest of r is zero but for projection and scrub. */
void rewrite_begin(struct rewrite *r, const struct dictionary *d);
/* Say what was left out, and what nothing had. */
void rewrite_report(const struct rewrite *r, bool quiet);
void rewrite_free(struct rewrite *r);

/* rewrite_dict.c: pass on a DICT block. 0, or -1 after stage_fail. */
int rewrite_dict(struct rewrite *r, struct stage *s, const struct block *b);

#endif

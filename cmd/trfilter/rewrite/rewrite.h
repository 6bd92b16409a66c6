/*
 * rewrite.h - rewrite a stream with fewer fields or with pseudonyms: --keep, --drop, --scrub
 *
 * Runs between the selection and the output (struct stage_rewrite). Lanes, types and locations keep
 * their ids, so rows that lose nothing pass through unchanged. Strings get new ids and are sent
 * when an entry uses them: the same string may be a name to be scrubbed in one place and not in
 * another, and unused strings are not sent.
 */
#ifndef TR_TRFILTER_REWRITE_REWRITE_H
#define TR_TRFILTER_REWRITE_REWRITE_H

#include "cmd/trfilter/rows/layout.h"
#include "common/cli/stage.h"

struct rewrite {
	struct projection projection;
	struct scrub scrub;
	struct stage_rewrite hooks;
	const struct dictionary *dictionary;

	struct intern texts, sent; /* texts of the old and of the new stream */
	struct idmap ids;	   /* by id of a string in the segment: number in texts + 1 */
	uint32_t ids_segment;	   /* dictionary->segment that they are of */
	struct buffer segments;	   /* for each of sent: the segment that has it, u32 */
	uint32_t segment;
	struct buffer entry, out; /* entry being rewritten; entries to be sent */
	struct stage *stage;	  /* stage of the present call */

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

/* Prepare r, which is zero but for projection and scrub. */
void rewrite_begin(struct rewrite *r, const struct dictionary *d);
/* Print what was left out. */
void rewrite_report(const struct rewrite *r, bool quiet);
void rewrite_free(struct rewrite *r);

/* Pass on a rewritten DICT block (dictionary.c). Returns 0, or -1 after stage_fail. */
int rewrite_dict(struct rewrite *r, struct stage *s, const struct block *b);

#endif

/*
 * spill_journal.h - records in order, some of which are revoked later
 *
 * For formats that write the beginning of a call before it is known whether the call has an end.
 * The records wait in a nameless temporary file. Functions return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_TIMELINE_SPILL_JOURNAL_H
#define TR_TRENCODE_TIMELINE_SPILL_JOURNAL_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/output.h"

/* One journal. */
struct spill_journal {
	int fd; /* -1: no file yet */
	uint64_t written;
	struct buffer pending;
};

void spill_journal_init(struct spill_journal *r);
void spill_journal_free(struct spill_journal *r);

/* Append a record; *token names it. */
int spill_journal_add(struct spill_journal *r, const struct buffer *record, uint64_t *token,
		      struct error *e);
/* Revoke a record. */
int spill_journal_revoke(struct spill_journal *r, uint64_t token, struct error *e);
/* Write all records that were not revoked. Nothing may be added after it. */
int spill_journal_copy(struct spill_journal *r, struct output *to, struct error *e);

#endif

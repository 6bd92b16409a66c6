/*
 * text_uftrace.h - what the files of the text of uftrace recordings share
 */
#ifndef TR_TEXT_UFTRACE_H
#define TR_TEXT_UFTRACE_H

#include "text_columns.h"
#include "text_layout.h"
#include "text_recording.h"

/* What is known of a place, once for all its calls. */
struct place_text {
	const struct place_symbol *symbol; /* by which it was found out */
	const char *name;
	uint32_t size;
	uint8_t fixup; /* enum fixup */
	bool known;
	bool bare; /* the name ends with a parenthesis */
};

enum pending_kind { PENDING_NONE, PENDING_CALL, PENDING_SCHED };

struct text_uftrace {
	struct text *out;
	struct dictionary *dictionary;
	struct columns columns;
	int32_t depth;
	struct recording **recordings; /* by number of the source */
	size_t nrecordings;
	struct recording *recording; /* of the last event */
	struct replay_task **tasks;  /* by number of the thread */
	size_t ntasks;
	struct place_text *places;
	size_t nplaces;

	enum pending_kind pending;
	struct replay_task *task; /* the rest is of what is pending */
	uint32_t place, row_depth;
	int indent, frame;
	bool preempted;
	struct buffer arguments, comment, result;

	uint64_t hidden; /* calls below the depth limit */
	bool header, said_names, terminal, quiet;
};

/* text_uftrace.c: the recording of a source; NULL when memory is out. */
struct recording *text_uftrace_recording(struct text_uftrace *s, const struct source *source);

/* text_uftrace_rows.c: an event as a row, which may wait for the next one. 0, or -1. */
int text_uftrace_row(struct text_uftrace *s, const struct recording *r, const struct event *ev,
		     struct error *e);
/* Nothing comes behind the row that waits. */
void text_uftrace_settle(struct text_uftrace *s);

/* text_uftrace_remaining.c: what was still open when the recording ended. */
void text_uftrace_remaining(struct text_uftrace *s, struct recording *r);

#endif

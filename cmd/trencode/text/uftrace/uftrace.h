/*
 * uftrace.h - what the files of the text of uftrace recordings share
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_UFTRACE_H
#define TR_TRENCODE_TEXT_UFTRACE_UFTRACE_H

#include "cmd/trencode/text/columns.h"
#include "cmd/trencode/text/layout.h"
#include "cmd/trencode/text/uftrace/recording.h"

/* What is known of a place, once for all its calls. */
struct location_text {
	const struct location_symbol *symbol; /* by which it was found out */
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
	struct location_text *locations;
	size_t nplaces;

	enum pending_kind pending;
	struct replay_task *task; /* the rest is of what is pending */
	uint32_t location, row_depth;
	int indent, frame;
	bool preempted;
	struct buffer arguments, comment, result;

	uint64_t hidden; /* calls below the depth limit */
	bool header, said_names, terminal, quiet;
};

/* text_uftrace.c: the recording of a source; NULL when out of memory. */
struct recording *text_uftrace_recording(struct text_uftrace *s, const struct source *source);

/* text_uftrace_lines.c: what is known of a place; NULL when out of memory. */
const struct location_text *text_uftrace_location_slow(struct text_uftrace *s, uint32_t number);

static inline const struct location_text *text_uftrace_location(struct text_uftrace *s,
								uint32_t number)
{
	if (number < s->nplaces && s->locations[number].known) {
		const struct location *location = dictionary_location(s->dictionary, number);

		if (!location || location->symbol == s->locations[number].symbol)
			return &s->locations[number];
	}
	return text_uftrace_location_slow(s, number);
}

static inline void text_uftrace_indent(struct text_uftrace *s, int indent)
{
	if (indent > 0)
		text_pad(s->out, ' ', 2 * (size_t)indent);
}

static inline void text_uftrace_columns(struct text_uftrace *s, const struct replay_task *t,
					uint64_t duration, const struct replay_frame *frame)
{
	columns_print(s->out, &s->columns, s->dictionary, t, duration, frame);
}

/* Its leave comes next: one line. */
void text_uftrace_leaf(struct text_uftrace *s, const struct replay_frame *f);
/* What is called comes next. */
void text_uftrace_open(struct text_uftrace *s);
void text_uftrace_leave(struct text_uftrace *s, const struct replay_task *t,
			const struct replay_frame *f, int indent, const struct location_text *p,
			bool values);
void text_uftrace_sched(struct text_uftrace *s, const struct replay_task *t, int indent,
			const char *name, bool preempted, const struct replay_frame *timed);
void text_uftrace_gap(struct text_uftrace *s, struct replay_task *t, const struct event *ev);
/* The time goes back: that is said. */
void text_uftrace_inverted(struct text_uftrace *s, const struct replay_task *t);

/* text_uftrace_rows.c: an event as a row, which may wait for the next one. 0, or -1. */
int text_uftrace_row(struct text_uftrace *s, const struct recording *r, const struct event *ev,
		     struct error *e);
/* Nothing comes behind the row that waits. */
void text_uftrace_settle(struct text_uftrace *s);

/* text_uftrace_remaining.c: what was still open when the recording ended. */
void text_uftrace_remaining(struct text_uftrace *s, struct recording *r);

#endif

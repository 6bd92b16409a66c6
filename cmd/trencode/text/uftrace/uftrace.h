/*
 * uftrace.h - the state and functions that the files of the uftrace layout share
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_UFTRACE_H
#define TR_TRENCODE_TEXT_UFTRACE_UFTRACE_H

#include "cmd/trencode/text/columns.h"
#include "cmd/trencode/text/layout.h"
#include "cmd/trencode/text/uftrace/recording.h"

/* The text of a location, for all its calls. */
struct location_text {
	const struct location_symbol *symbol; /* of the location when this was filled */
	const char *name;
	uint32_t size;
	uint8_t fixup; /* enum fixup */
	bool known;    /* filled */
	bool bare;     /* "()" is not added: the name has its parentheses */
};

enum pending_kind { PENDING_NONE, PENDING_CALL, PENDING_SCHED };

/* The state of the layout. */
struct text_uftrace {
	struct text *out;
	struct dictionary *dictionary;
	struct columns columns;
	int32_t depth;
	struct recording **recordings; /* by number of the source */
	size_t nrecordings;
	struct recording *recording; /* recording of the last event */
	struct replay_task **tasks;  /* by number of the thread */
	size_t ntasks;
	struct location_text *locations;
	size_t nlocations;

	/* the pending line: */
	enum pending_kind pending;
	struct replay_task *task;
	uint32_t location, row_depth;
	int indent, frame;
	bool preempted;
	struct buffer arguments, comment, result;

	uint64_t hidden; /* number of calls beyond the depth limit */
	bool header, warned_names, terminal, quiet;
};

/* uftrace.c: return the recording of a source; NULL when out of memory. */
struct recording *text_uftrace_recording(struct text_uftrace *s, const struct source *source);

/* lines.c: return the text of a location; NULL when out of memory. */
const struct location_text *text_uftrace_location_slow(struct text_uftrace *s, uint32_t number);

static inline const struct location_text *text_uftrace_location(struct text_uftrace *s,
								uint32_t number)
{
	if (number < s->nlocations && s->locations[number].known) {
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

/* Print the pending call and its leave, which follows at once, in one line. */
void text_uftrace_leaf(struct text_uftrace *s, const struct replay_frame *f);
/* Print the pending enter, after which other rows come before the leave. */
void text_uftrace_open(struct text_uftrace *s);
void text_uftrace_leave(struct text_uftrace *s, const struct replay_task *t,
			const struct replay_frame *f, int indent, const struct location_text *p,
			bool values);
void text_uftrace_sched(struct text_uftrace *s, const struct replay_task *t, int indent,
			const char *name, bool preempted, const struct replay_frame *timed);
void text_uftrace_gap(struct text_uftrace *s, struct replay_task *t, const struct event *ev);
/* Print that the time steps back. */
void text_uftrace_inverted(struct text_uftrace *s, const struct replay_task *t);

/* rows.c: print an event, or keep it pending until the next row. */
int text_uftrace_row(struct text_uftrace *s, const struct recording *r, const struct event *ev,
		     struct error *e);
/* Open the calls of a stack, without lines. first: time of the stream's first event, UINT64_MAX
 * unknown. -1: out of memory. */
int text_uftrace_restored(struct text_uftrace *s, const struct stack *stack, uint64_t first);
/* Print the pending line as one that no row completes. */
void text_uftrace_settle(struct text_uftrace *s);

/* remaining.c: print the calls that were open when the recording ended. */
void text_uftrace_remaining(struct text_uftrace *s, struct recording *r);

#endif

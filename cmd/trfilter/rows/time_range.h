/*
 * time_range.h - the rows to which a condition is applied: --since, --until, --between, --sample
 *
 * A call is decided at its enter, for its leave too.
 */
#ifndef TR_TRFILTER_ROWS_TIME_RANGE_H
#define TR_TRFILTER_ROWS_TIME_RANGE_H

#include "cmd/trfilter/expression/evaluate.h"
#include "common/value/time_window.h"
#include "cmd/trfilter/calls/pairing.h"

struct time_range {
	struct time_window window;
	struct node *from, *to; /* --between; NULL: none */
	struct node *by;	/* --sample: the hashed field; NULL: none */
	uint64_t sample, of;

	struct evaluation evaluation;
	struct pairing pairing;
	uint8_t *inside; /* --between: by thread */
	size_t ninside;
	uint64_t unsampled; /* number of events without the field of --sample */
	/* an event was in the window; in the ranges of --between too; in the sample too */
	bool in_window, in_between, in_sample;
};

/* Returns true if any option limits the rows. */
static inline bool time_range_any(const struct time_range *l)
{
	return time_window_any(&l->window) || l->from || l->by;
}

/* Returns true if --between or --sample reads arguments, return values or fields. */
bool time_range_read_values(const struct time_range *l);

/* Parse "1/100". Returns -1 if it is invalid. */
int time_range_sample(struct time_range *l, const char *text);
/* Parse a condition for --between or a field for --sample; NULL with e filled. */
struct node *time_range_condition(const char *text, const char *option, struct error *e);
struct node *time_range_field(const char *text, struct error *e);

/* Take a block; new_stream: it is the HEAD of a new stream. */
void time_range_block(struct time_range *l, const struct block *b, bool new_stream);
/* Result of the times for all rows of a block: NO, YES, or ASK: test each row. */
enum time_range_answer { TIME_RANGE_NO, TIME_RANGE_YES, TIME_RANGE_ASK };
enum time_range_answer time_range_of_block(struct time_range *l, const struct block *b);
/* Test a row; to be called for every row but gaps, in the order of the stream. */
bool time_range_row(struct time_range *l, const struct event *e);
/* Print what --sample could not select from, and, of a whole trace with events, which option left
 * nothing. */
void time_range_report(const struct time_range *l, bool whole);
void time_range_free(struct time_range *l);

#endif

/*
 * time_range.h - which rows a condition is asked of at all: --since, --until, --between, --sample
 *
 * A call is decided at its enter, for its leave too.
 */
#ifndef TR_TRFILTER_ROWS_TIME_RANGE_H
#define TR_TRFILTER_ROWS_TIME_RANGE_H

#include "cmd/trfilter/expression/evaluate.h"
#include "common/value/moment.h"
#include "cmd/trfilter/calls/pairing.h"

struct time_range {
	struct moment since, until;
	/* for moments before the end: the last time of each stream of the input, 0 without events
	 */
	uint64_t *ends;
	size_t nends, ends_capacity;
	struct node *from, *to; /* --between; NULL none */
	struct node *by;	/* --sample: what is hashed; NULL none */
	uint64_t sample, of;

	struct evaluation evaluation;
	struct pairing pairing;
	bool any; /* a stream came, and is number: */
	size_t stream;
	bool started; /* the stream's first time is known */
	uint64_t start;
	struct window { /* by number of the clock */
		bool known;
		uint64_t since, until;
	} * windows;
	size_t nwindows;
	uint8_t *inside; /* --between, by thread */
	size_t ninside;
	uint64_t unsampled; /* events that have nothing of what --sample goes by */
	bool failed;
	struct error error;
};

/* Does anything limit? */
static inline bool time_range_any(const struct time_range *l)
{
	return l->since.from || l->until.from || l->from || l->by;
}

/* Do --between or --sample look at arguments, return values or fields? */
bool time_range_read_values(const struct time_range *l);

/* "1/100" -1: it is not. */
int time_range_sample(struct time_range *l, const char *text);
/* A condition for --between, a field for --sample; NULL and e filled. */
struct node *time_range_condition(const char *text, const char *option, struct error *e);
struct node *time_range_field(const char *text, struct error *e);

/* Find the ends of the streams of the input, if moments are before them. paths as for reader_open.
 */
int time_range_find_ends(struct time_range *l, char **paths, int n, struct error *e);

/* A block comes; of HEAD a new stream. */
void time_range_block(struct time_range *l, const struct block *b, bool new_stream);
/* What the times alone say of all rows of a block: NO, YES, or LATER: ask each. */
enum time_range_says { LIMITS_NO, LIMITS_YES, LIMITS_ASK };
enum time_range_says time_range_of_block(struct time_range *l, const struct block *b);
/* Every row, in the order of the stream, but gaps. */
bool time_range_row(struct time_range *l, const struct event *e);
/* Say what --sample could not choose from. */
void time_range_report(const struct time_range *l, bool quiet);
void time_range_free(struct time_range *l);

#endif

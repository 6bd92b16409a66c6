/*
 * limits.h - which rows a condition is asked of at all: --since, --until, --between, --sample
 *
 * A call is decided at its enter, for its leave too.
 */
#ifndef TRFILTER_LIMITS_H
#define TRFILTER_LIMITS_H

#include "evaluate.h"
#include "moment.h"
#include "pairing.h"

struct limits {
	struct moment since, until;
	uint64_t end;		/* last time of the input, for moments before it */
	struct node *from, *to; /* --between; NULL none */
	struct node *by;	/* --sample: what is hashed; NULL none */
	uint64_t sample, of;

	struct evaluation evaluation;
	struct pairing pairing;
	bool started; /* the stream's first time is known */
	uint64_t start;
	struct window { /* by number of the clock */
		bool known;
		uint64_t since, until;
	} * windows;
	size_t nwindows;
	uint8_t *inside; /* --between, by thread */
	size_t ninside;
	bool failed;
	struct error error;
};

/* Does anything limit? */
static inline bool limits_any(const struct limits *l)
{
	return l->since.from || l->until.from || l->from || l->by;
}

/* "1/100" -1: it is not. */
int limits_sample(struct limits *l, const char *text);
/* A condition for --between, a field for --sample; NULL and e filled. */
struct node *limits_condition(const char *text, const char *option, struct error *e);
struct node *limits_field(const char *text, struct error *e);

/* Find the end of the input, if moments are before it. paths as for reader_open. */
int limits_find_end(struct limits *l, char **paths, int n, struct error *e);

/* A block comes; of HEAD a new stream. */
void limits_block(struct limits *l, const struct block *b, bool new_stream);
/* What the times alone say of all rows of a block: NO, YES, or LATER: ask each. */
enum limits_says { LIMITS_NO, LIMITS_YES, LIMITS_ASK };
enum limits_says limits_of_block(struct limits *l, const struct block *b);
/* Every row, in the order of the stream, but gaps. */
bool limits_row(struct limits *l, const struct event *e);
void limits_free(struct limits *l);

#endif

/*
 * rows.h - a compiled condition, evaluated row by row in the order of the stream
 *
 * Conditions joined by && are terms, evaluated in sequence. A term gets only the rows that passed
 * the terms before it: 'A && B' is 'A' piped into 'B', whatever A and B are.
 *
 * A term that is by_call decides a call at its enter, for its leave too, even if it depends on the
 * location alone: the leave may have another location (a second return of setjmp). Where nearly all
 * rows of a block have the same result, calls are found without evaluating each row.
 */
#ifndef TR_TRFILTER_ROWS_H
#define TR_TRFILTER_ROWS_H

#include "cmd/trfilter/expression.h"
#include "cmd/trfilter/pairing.h"
#include "common/value/moment.h"

struct filter_term {
	struct node *node; /* subtree of the condition */
	bool by_entry;	   /* depends on the row's lane, type and location alone */
	bool by_call;	   /* decided at the enter, for its leave too */
	bool by_row;	   /* needs single rows, not whole calls */
	bool by_both;	   /* needs both: an enter and its leave are decided separately */
	struct pairing pairing;
};

struct filter {
	struct node *tree;
	struct filter_term *terms;
	size_t nterms;
	size_t leading; /* number of leading terms that are by_entry */
	bool calls;	/* one of these is by_call */
	bool by_kind;	/* some term tests the kind: each row is decided by itself */
	bool by_both;	/* some term is by_both */
	bool any_ended; /* calls of some pairing have ended */
	size_t marks;	/* number of bits for marks on an open call (call_filter.h) */
	struct evaluation evaluation;
};

/* Compile a condition. Returns 0, or -1: an invalid expression, or out of memory. filter_free in
 * any case. */
int filter_compile(struct filter *f, const char *expression, struct error *e);
void filter_free(struct filter *f);
/* Prepare for a stream, with the evaluation's dictionary: no call is open. */
void filter_begin(struct filter *f);

/* Returns true if an event passes the terms from first on. To be called once for each event, in
 * the order of the stream. Gaps are not events. */
bool filter_from(struct filter *f, size_t first, const struct event *e);
static inline bool filter_holds(struct filter *f, const struct event *e)
{
	return filter_from(f, 0, e);
}
bool filter_out_of_memory(const struct filter *f);

/* Returns true if filter_ends may return flags. */
static inline bool filter_any_ended(const struct filter *f, const struct pairing *range)
{
	return f->any_ended || (range && range->ended);
}

struct time_range;
/* Returns flags (row_state.h) for the calls that are kept and ended without a leave at the rows
 * since the last call. */
uint8_t filter_ends(struct filter *f, struct time_range *range, bool invert);
/* Take a row of KIND_DROP. Returns the flags for the calls that are kept and end with it. */
uint8_t filter_drop(struct filter *f, struct time_range *range, bool invert, const struct event *e);

/*
 * The rows to which a condition is applied: --since, --until, --between, --sample.
 *
 * A call is decided at its enter, for its leave too.
 */

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
/* Test a row; to be called for every row but gaps, in the order of the stream. */
bool time_range_row(struct time_range *l, const struct event *e);
/* Print what --sample could not select from, and, of a whole trace with events, which option left
 * nothing. */
void time_range_report(const struct time_range *l, bool whole);
void time_range_free(struct time_range *l);

/*
 * Count the calls and events that are kept, a call once, and end at a limit: -c, -n.
 *
 * A call counts at its enter, or at its leave if the enter is not kept. At the limit the leaves of
 * the calls that counted are still taken.
 */

struct results {
	uint64_t limit;		/* most calls and events; UINT64_MAX: all */
	uint64_t count;		/* calls and events so far */
	uint64_t open;		/* open calls that were taken */
	struct pairing pairing; /* mark: whether the call was taken */
};

/* Prepare r, which must not move afterwards, for streams with that dictionary. */
void results_init(struct results *r, uint64_t limit, struct dictionary *d);
void results_free(struct results *r);
/* Begin another stream: no call is open. */
void results_begin(struct results *r);
/* Take a row with its state (row_state.h). Returns the state, in which a row beyond the limit is
 * dropped; once results_done is true, all are. */
uint8_t results_row(struct results *r, const struct event *e, uint8_t state);

static inline bool results_full(const struct results *r)
{
	return r->count >= r->limit;
}

/* Returns true if no more rows are taken. */
static inline bool results_done(const struct results *r)
{
	return results_full(r) && !r->open;
}

/* --- select the rows of a block that are kept --- */

enum selected {
	SELECTED_NONE,
	SELECTED_ALL,
	SELECTED_SOME, /* select.block has them */
	SELECTED_ROWS, /* each row must be read */
};

struct select {
	struct filter *filter;
	struct time_range *time_range; /* NULL: none */
	bool invert;

	struct block block; /* the kept rows after the tables of their source block */
	/* rows of block with flags (row_state.h), in its order; those with ROW_LEFT_OUT are not
	 * kept */
	struct row_ends {
		uint32_t row;
		uint8_t state;
	} * ends;
	size_t nends, ends_capacity;
	struct row_ends *next_ends; /* scratch of select_limit */
	size_t next_capacity;
	uint8_t *payload;
	size_t capacity;
	uint8_t *cells; /* results of the leading terms: enum cell */
	size_t cells_capacity;
	bool lopsided; /* nearly all rows of the last block were kept, or nearly none */

	/* state between select_block and select_rows */
	bool limited; /* the time range must be tested for each row */
	uint8_t says; /* result for all rows of the block: enum cell */
	size_t first; /* or the first term that must be evaluated for each row */
};

/*
 * Select from an EVENTS block by its tables; its rows need no check but for their size. *selected
 * is NONE, ALL, or ROWS: check the rows and call select_rows, which sets NONE, ALL or SOME. Returns
 * 0, or -1 when out of memory.
 */
int select_block(struct select *s, const struct block *b, enum selected *selected);
int select_rows(struct select *s, const struct block *b, enum selected *selected);
/* Count the selected rows; those beyond the limit are left out. Returns -1 when out of memory. */
int select_limit(struct select *s, const struct block *b, struct results *r,
		 enum selected *selected);
void select_free(struct select *s);

#endif

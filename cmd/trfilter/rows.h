/*
 * rows.h - a condition, compiled and evaluated row by row in the order of the stream
 */
#ifndef TR_TRFILTER_ROWS_H
#define TR_TRFILTER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/calls/calls.h"
#include "common/expr/declared.h"
#include "common/expr/expression.h"
#include "common/stream/event.h"
#include "common/util/buffer.h"
#include "common/value/moment.h"

struct text;

/* --- what happens to a row --- */

/*
 * A row may end calls that are kept, by its depth or by an exec, although no leave matches them
 * (CALLS in trstream(5)). Such a row has flags beside its state, and remains in the queue: where
 * the row itself is not kept, or does not end the calls that are kept, a row of KIND_DROP does.
 */

enum row_state {
	ROW_LEFT_OUT,
	ROW_KEEP,
	ROW_UNDECIDED,
	ROW_GAP,	 /* kept, and no event */
	ROW_FOR_CONTEXT, /* left out, unless context.h keeps it */
	ROW_CALLER,	 /* kept because it encloses a kept call: no match by itself */
	ROW_PARTNER,	 /* undecided until its leave is decided (context.h) */
	/* flags: kept calls end here */
	ROW_ENDS = 16,	     /* that are as deep as the row ends calls */
	ROW_ENDS_INNER = 32, /* of types with TYPE_INNER, on top of others */
	ROW_ENDS_OWN = 64,   /* the row's own call, which has no enter */
	ROW_ENDS_ANY = ROW_ENDS | ROW_ENDS_INNER | ROW_ENDS_OWN,
	ROW_IGNORED = 128, /* flag: the call engine ignores the call that the row enters */
};

static inline enum row_state row_state(uint8_t state)
{
	return state & 15;
}

static inline uint8_t row_flags(uint8_t state)
{
	return state & (ROW_ENDS_ANY | ROW_IGNORED);
}

static inline bool row_undecided(uint8_t state)
{
	return row_state(state) == ROW_UNDECIDED || row_state(state) == ROW_PARTNER;
}

/* Returns true for events that are kept, but not as callers. */
static inline bool row_kept(uint8_t state)
{
	return row_state(state) == ROW_KEEP;
}

/* Returns true for a row that is in the output; all rows must be decided. */
static inline bool row_passes(uint8_t state)
{
	return row_kept(state) || row_state(state) == ROW_GAP || row_state(state) == ROW_CALLER;
}

static inline bool type_is_call(const struct type *t)
{
	return t->kind == KIND_ENTER || t->kind == KIND_LEAVE;
}

/* --- fields, operands, and their evaluation --- */

enum ask {
	ASK_NAME,
	ASK_TYPE,
	ASK_GROUP,
	ASK_KIND,
	ASK_TIME,
	ASK_DEPTH,
	ASK_TID,
	ASK_PID,
	ASK_PPID,
	ASK_COMM,
	ASK_CPU,
	ASK_MODULE,
	ASK_FILE,
	ASK_LINE,
	ASK_ADDRESS,
	ASK_CLASS,
	ASK_BUFFER,
	ASK_INPUT,
	ASK_FORMAT,
	ASK_RETURN,   /* the return value of a leave, else a field "ret" */
	ASK_ARGUMENT, /* the argument with a number */
	ASK_FIELD,    /* a field of the event */
	ASK_FLOW,     /* the flows that the event is part of, else a field "flow" */
	ASK_DURATION, /* of a call, as are the next four */
	ASK_SELF,
	ASK_CHILDREN,
	ASK_CALLER,
	ASK_STACK,
	ASK_STATE, /* + enum state (states.h): time of a call in it, else a field of that name */
};

/* What the value of a condition depends on. */
enum depends {
	DEPENDS_LOCATION = 1,
	DEPENDS_TYPE = 2,
	DEPENDS_LANE = 4,
	DEPENDS_NAME = 8, /* the location if there is one, else the type */
	DEPENDS_ROW = 16, /* other values in the row itself */
	/* values that differ between an enter and its leave: decided at the enter */
	DEPENDS_CALL = 32,
	DEPENDS_KIND = 64,	/* enter or leave: each row is decided by itself */
	DEPENDS_STACK = 128,	/* the calls open around a row */
	DEPENDS_LATER = 256,	/* what is known of a call only after its enter */
	DEPENDS_ARGUMENT = 512, /* with LATER: known at the enter if the enter has the argument */
};

struct plain_name {
	const char *name;
	enum ask ask;
	enum known_form form;
	unsigned depends;
	const char *help;
};

/* Get all names; the last entry has no name. */
const struct plain_name *names_all(void);

/*
 * The conditions of trfilter: the language of common/expr/expression.h, with the names
 * of names_all.
 *
 * node.depends and operand.depends are of enum depends, operand.field of enum ask; operand.data is
 * a struct field_lookup and node.data a struct node_marks.
 */

/* Limits of the marks of an open call: MARKS_LIMIT bits, and AROUND_LIMIT each for under() and
 * over(). */
enum { MARKS_LIMIT = 4096, AROUND_LIMIT = 64 };

struct flows;

/* Where a field is found in events. */
struct field_lookup {
	uint64_t index;	  /* ASK_ARGUMENT */
	bool is_part;	  /* the name may select a part of a field (field_part) */
	bool is_argument; /* ASK_FIELD: also the argument of that name (arg.NAME) */
	/* ASK_FIELD: the field by number of the type; one past NULL: not looked up yet
	 */
	const struct field **fields;
	size_t nfields;
	struct buffer text;  /* for a value whose text is assembled from parts */
	struct flows *flows; /* ASK_FLOW: of the event; NULL: none was read yet */
	uint64_t flow;	     /* the one that is compared, if there are some */
};

/* The cached result of a condition on an entry of the dictionary, by its number. */
struct verdict {
	const struct location_symbol *symbol; /* locations: the symbol at that time */
	uint8_t state;			      /* 0 unknown, 1 false, 2 true */
};

/* What the number of a verdict is of. */
enum verdict_of { OF_LOCATION, OF_TYPE, OF_LANE, OF_STACK, VERDICT_KINDS };

/* What is noted of a node when it is evaluated. */
struct node_marks {
	bool quick; /* time or depth is compared with an unsigned number */
	struct verdict *verdicts[VERDICT_KINDS];
	size_t nverdicts[VERDICT_KINDS];
	/* Whole calls: bits for notes of the enter (call_filter.c), or of UNDER and OVER. */
	uint16_t mark, known;
};

static inline struct node_marks *node_marks(const struct node *n)
{
	return n->data;
}

/* Returns true if the operand is that field. */
static inline bool operand_asks(const struct operand *o, enum ask ask)
{
	return operand_field(o) && o->field == ask;
}

void filter_condition_free(struct node *n);
/* Returns which arguments, return values or fields of events the condition reads. */
enum reads_values condition_reads_values(const struct node *n);

/* --- the value of a condition's field for an event --- */

/* What is known of an event's call, or of the calls around an event (call_filter.h). */
struct call_info {
	bool is_call;
	bool ended; /* dur and, with has_self, self are known */
	bool has_self;
	bool has_caller;
	uint64_t dur, self;
	const uint64_t *states; /* dur by enum state; NULL: not known */
	uint32_t children;
	uint32_t caller;      /* location */
	uint32_t node;	      /* node of its stack (call_filter.h); 0: none */
	uint64_t under, over; /* bits by node.mark */
	/* Returns the names of the stack as a text; NULL where stacks are not followed. */
	void (*stack)(void *ctx, const struct event *e, struct scalar *out);
	void *stack_ctx;
};

struct evaluation {
	struct dictionary *dictionary;
	bool quiet;		      /* no messages about missing values */
	bool warned_trsym;	      /* the message about trsym was printed */
	const struct call_info *call; /* NULL: calls are not followed */
	const struct event *event;    /* that a leaf is evaluated for */
};

/* Returns true if the row has the field's argument, whatever its elements are; also true for
 * fields that are not arguments. */
bool operand_given(const struct evaluation *ev, struct operand *o, const struct event *e);

/* --- evaluate a condition for an event --- */

/* Evaluate a condition. Conditions on one entry of the dictionary are cached for each entry. */
bool evaluate(struct evaluation *ev, struct node *n, const struct event *e);

/* --- a mark for each enter until its leave --- */

/*
 * For a filter that decides events one by one and keeps only the decision of each enter: the call
 * engine with calls.balances and calls.pairs_only. struct pairing_block does the same for whole
 * blocks.
 */

struct pairing {
	struct calls calls; /* data: uint64_t, the mark + 1; 0 in a call without an enter */
	/* calls that ended without a leave, or have no enter, since the caller cleared it: bits
	   pairing_ended() and PAIRING_ENDED_OWN */
	uint8_t ended;
	/* Called with the mark of each call that ended without a leave, and the flag (enum
	   row_state) of the row at which it ended; then only calls without an enter are in `ended`.
	   May be NULL. */
	void (*lost)(void *ctx, uint32_t mark, uint8_t flag);
	void *ctx;
};

/* Prepare a zero-initialised one, with its functions, which must not move afterwards. */
void pairing_init(struct pairing *p, struct dictionary *d);
void pairing_free(struct pairing *p);
/* Forget all calls, without calling lost. */
void pairing_forget(struct pairing *p);
/* Take an enter with its mark, such as a decision. */
void pairing_enter(struct pairing *p, const struct event *e, uint32_t mark);
/* Take a leave. Returns true with the mark of its enter, or false if its enter was never seen. */
bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *mark);
/* Take a row of KIND_DROP. */
void pairing_drop(struct pairing *p, const struct event *e);

/* The leave of a call that has no enter. */
enum { PAIRING_ENDED_OWN = 16 };

/* Get the flags (enum row_state) of a row at which calls with these bits ended. */
static inline uint8_t pairing_flags(unsigned ended)
{
	return (ended & 3 ? ROW_ENDS : 0) | (ended & 12 ? ROW_ENDS_INNER : 0) |
	       (ended & PAIRING_ENDED_OWN ? ROW_ENDS_OWN : 0);
}

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

struct time_range;
/* Returns flags (enum row_state) for the calls that are kept and ended without a leave at the rows
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

/* Parse a condition for --between or a field for --sample; NULL with e filled. */
struct node *time_range_condition(const char *text, const char *option, struct error *e);

/* Take a block; new_stream: it is the HEAD of a new stream. */
void time_range_block(struct time_range *l, const struct block *b, bool new_stream);
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
/* Take a row with its state (enum row_state). Returns the state, in which a row beyond the limit is
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

/* A row of KIND_DROP: the flags of its type, and its depth. */
struct drop_row {
	uint16_t flags;
	uint32_t depth;
};

/* Get the rows that a row needs whose state has flags (enum row_state). Returns their number. */
unsigned drops_of(const struct event *e, uint8_t state, struct drop_row rows[2]);

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
	/* rows of block with flags (enum row_state), in its order; those with ROW_LEFT_OUT are not
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

/* --- a human-readable explanation of a condition --- */

struct text;

/* Write the terms of the condition, and how each is decided; invert: -v is given. */
void explain_filter(struct text *t, const struct filter *f, bool invert);

#endif

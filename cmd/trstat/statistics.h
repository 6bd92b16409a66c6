/*
 * statistics.h - count the events of a stream in groups
 */
#ifndef TR_TRSTAT_STATISTICS_H
#define TR_TRSTAT_STATISTICS_H

#include "cmd/trstat/groups.h"
#include "cmd/trstat/table.h"
#include "common/calls/calls.h"
#include "common/pairs/pair.h"
#include "common/pairs/keys.h"
#include "common/stream/clocks.h"
#include "common/util/intern.h"

struct call_stacks;
struct states;

enum { GROUP_CACHE = 4096, ROW_GROUPS_BITS = 9, BUSY_MOST = 1 << 21, BUCKETS_FILLED = 1 << 16 };

/* A stack whose frames are known, by what depends on the stack alone. */
struct known_frame {
	uint32_t caller;   /* stack of the caller, 0: none */
	uint32_t function; /* of the innermost frame; 0: the stack is not known */
	uint32_t first;	   /* stack of the outermost frame with that function */
};

/* The group of the innermost frame of a stack, in samples of one type. */
struct counted_frame {
	struct aggregate *group; /* NULL: not known, or an outer frame has the same function */
	uint32_t next;		 /* stack of the next outer frame with a group; 0: none */
};

/* The samples of one type and stack that are not yet in the groups. */
struct stack_sum {
	uint64_t weight, least, most;
	uint32_t count;
	uint32_t own;	   /* number of those whose innermost function is that of the frame */
	uint32_t bucketed; /* number of those not yet in histograms: all are in the bucket */
	uint32_t bucket;   /* histogram.h */
};

/* By stack; arrays of one size. */
struct type_sums {
	uint32_t type; /* number of the type; 0: free */
	struct counted_frame *frame;
	struct stack_sum *sum;
	size_t nframes, nsums;
};

/* Types whose samples are summed by their stacks. */
enum { SUMMED_TYPES = 4 };

/* What counting samples needs. */
struct sample_counts {
	struct known_frame *known; /* by stack */
	size_t nknown;
	struct type_sums sums[SUMMED_TYPES];
	uint64_t summed; /* weight of all samples in sums */
	uint32_t nsummed;
	uint32_t *functions; /* by location: number of its function, 0 not known */
	size_t nfunctions;
	struct intern keys; /* of each function: what the keys have of its locations */
	struct {
		uint64_t serial; /* of the last sample that had it */
		uint32_t first;	 /* stack of its outermost frame there */
	} * seen;		 /* by function */
	size_t nseen;
	uint64_t serial; /* of the present sample */
	struct buffer frames;
	uint32_t symbol_changes;
	char *type;	 /* name of the first samples' type; NULL: no samples */
	char *other;	 /* name of another type, where type is no key; NULL: none */
	uint32_t string; /* number of the name that was seen last, + 1 */
	bool typed;	 /* type is a key */
};

/* Inside which other call a call adds nothing to the total of its group. */
enum recursion_of {
	RECURSION_NONE,	       /* none is of its group */
	RECURSION_OF_FUNCTION, /* one of its function */
	RECURSION_OF_THREAD,   /* any: all calls of a thread are of one group */
	RECURSION_OF_GROUP,    /* one of its group, which enters show */
	RECURSION_OF_TIMES,    /* one of its group, which is known when both have ended */
};

/* The key that names the request which a call is part of. */
#define REQUEST_KEY "trace_id"

struct flow_sets;

struct statistics {
	const struct keys *keys;
	struct columns *columns;
	struct dictionary *dictionary;
	struct groups groups;
	struct calls calls;
	struct call_stacks *stacks; /* NULL where no key is a stack */
	struct pair *pair;	    /* pairs are counted instead of calls; NULL: calls */
	/* where a key is trace_id: the requests of sources without that field; else NULL */
	struct flow_sets *requests;
	size_t request_cell;	      /* number of that key among those with key.begins */
	struct key_cell *request_row; /* cells of those keys for the present row, no call */
	struct states *states; /* of threads, where a key or a column needs them; else NULL */
	/* cells of the group being looked up: those of the keys, then in a summary SUMMARY_CELLS,
	   which the caller sets with statistics_set_cell */
	struct key_cell *cells;
	struct key_cell *pending; /* KEY_PENDING for each key that is a field */
	size_t more;		  /* SUMMARY_CELLS in a summary, else 0 */
	/* number of arguments among the fields of columns. For calls with numbers the enter's
	 * arguments are kept, two cells each, until the leave, which may record them again. They
	 * are data of the open call, after the cells of the keys that are fields. */
	size_t arguments;
	const struct key_cell *taken; /* cells of the enter of the call being counted; NULL: none */
	uint64_t first, last;	      /* times of all rows; first > last: no rows */
	uint64_t since;		      /* begin of the window if rows are before it, else 0 */
	/* Events that were recorded long before all others: before the last pause of a second among
	 * the first STRAY_MOST. begin: the time after it, 0: there is none; count: of those before.
	 */
	struct {
		uint64_t begin, count, rows, last;
		uint32_t stream;
	} stray;
	/* with --cover: first and last of each stream that has ended; those above are of the
	 * present one, whose number stream is */
	struct {
		struct time_span *span;
		size_t count, capacity;
		uint32_t stream;
	} covered;
	bool ticks;	      /* the clock counts ticks */
	struct clocks clocks; /* of all rows */
	bool nameless;	      /* from a summary: result of statistics_nameless */
	bool out_of_memory;
	bool name_only;		/* the only key is the name */
	bool no_samples;	/* samples do not count, as with states */
	bool only_states;	/* all fields of columns are times in states */
	bool state_each;	/* of single calls, some of them */
	uint32_t state_sums[8]; /* index + 1 of the field that is the time in each; 0 none */
	struct {
		enum recursion_of of;
		/* by a hash of thread and cells: 1 + number of the outermost frame with them */
		struct idmap outermost;
		struct {
			struct intern keys; /* thread and cells */
			struct counted_group *groups;
			size_t capacity;
			struct buffer key;
		} counted;
	} recursion;
	const struct condition *where; /* of what is counted; NULL: all */
	struct key_cell *where_cells;  /* those of its keys */
	bool outside;		       /* the present row is before the window */
	uint64_t busy; /* number of buckets of time that pairs cover, each without its first */
	/* The groups of rows that were looked up before. */
	struct {
		struct aggregate **by_location; /* used where the only key is the name */
		size_t by_location_size;
		/* of the present block, by the index of its locations; NULL: not found yet */
		struct aggregate **planned;
		size_t planned_size;
		struct {
			struct group_key {
				uint32_t lane, type, location, caller, level,
					stack; /* 0 where no key is a stack */
			} key;
			struct aggregate *aggregate;
		} * by_key;
		/* of calls that begin, as recursion needs their groups; NULL: the keys depend on
		 * more */
		struct {
			struct group_key key;
			bool known;
		} * begun;
		struct key_cell *begun_cells; /* those of the keys for each */
		uint32_t symbol_changes;
		/* of the present block, by the bits of a row's word that the keys depend on */
		uint64_t row_mask; /* 0: the keys depend on more */
		struct row_group {
			uint64_t word; /* 0: free */
			struct aggregate *aggregate;
		} row_groups[1 << ROW_GROUPS_BITS];
	} caches;
	struct sample_counts samples;
};

/* Get the name of the event that samples count, for a heading; where type is a key, the rows have
 * the names. NULL: no samples. */
static inline const char *statistics_event(const struct statistics *s)
{
	return s->samples.typed ? "weight" : s->samples.type;
}

/* Test whether flows have named the requests of calls. */
bool statistics_has_requests(const struct statistics *s);
/* Note that samples of a type were counted. Returns -1 when out of memory. */
int statistics_note_samples(struct statistics *s, const char *type);
/* Check that no weights of different types were added. Returns -1 with e filled. */
int statistics_check_samples(const struct statistics *s, struct error *e);

/* The cells that groups have in a summary, after those of the keys. */
enum {
	CELL_INTERVAL, /* time at which its interval of -i begins; missing without -i */
	/* number of the part whose open calls it closes; missing: a finished row's */
	CELL_TAIL,
	SUMMARY_CELLS
};

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d);
/* The same, for groups of a summary. */
int statistics_init_summary(struct statistics *s, const struct keys *k, struct columns *c,
			    struct dictionary *d);
/* Unseen calls in stacks get their names at the end, or (false) are never named, as stacks are
 * printed before. To be called before the first event. */
void statistics_name_stacks(struct statistics *s, bool named);
/* Set one of the SUMMARY_CELLS for all following rows. */
void statistics_set_cell(struct statistics *s, size_t cell, struct key_cell value);
/* Count only the calls and events for which a condition is true. To be called before the first
 * event. Returns -1 when out of memory. */
int statistics_where(struct statistics *s, const struct condition *where);
/* Count pairs of events, with the time between them, instead of calls and instants. */
int statistics_pair(struct statistics *s, struct pair *p);
/* Add a pair's time to the groups of all buckets of time that it covers; s->cells has its other
 * keys. Pairs of few events can cover any number of buckets: beyond BUSY_MOST nothing is added.
 * Returns -1 when out of memory. */
int statistics_add_busy(struct statistics *s, uint64_t begin, uint64_t end);
/* With keys.each_frame: make the stack of the pair in s->cells that of its caller. false: it has
 * none. */
bool statistics_to_caller(struct statistics *s);
/* Returns -1 with e filled if the buckets of time are too narrow for a pair. */
int statistics_check_busy(const struct statistics *s, struct error *e);
void statistics_free(struct statistics *s);

/* Returns true if functions are shown by addresses that trsym could name. */
bool statistics_nameless(const struct statistics *s);

/* Take a block of any kind: count its rows, or open the calls that it has (calls_restore). Returns
 * -1 when out of memory. */
int statistics_block(struct statistics *s, const struct block *b);

/* Forget all open calls, because another trace follows; the counts are kept. */
void statistics_forget_calls(struct statistics *s);
/* Count the rows before the first one whose time is end or later; the cursor then points at that
 * row. end UINT64_MAX: all rows. Returns -1 when out of memory. */
int statistics_until(struct statistics *s, const struct block *b, struct events *it, uint64_t end);
/* Count the rows of a block in [since, until): calls that are open at the edges are clipped to it.
 * Pairs that end in the window count whole. The same window for all blocks of a clock. */
int statistics_window(struct statistics *s, const struct block *b, uint64_t since, uint64_t until);
/* Prepare the groups for printing, while the trace continues. */
int statistics_show(struct statistics *s);
/* Get the times that the groups are of, and their buckets of time; or (whole) the time of groups
 * that are of the whole run, without its stray events. */
struct columns_run statistics_run(const struct statistics *s, bool whole);
/* Forget the counts, not the open calls. */
int statistics_reset(struct statistics *s);

/* Join groups after the width of a key that is bucket(time,T) became a multiple of what it was. To
 * be called between blocks. Returns -1 when out of memory. */
int statistics_widen(struct statistics *s, size_t key);

/* Count the calls that are open at the end of a stream. */
int statistics_close(struct statistics *s);
/* Do the same at the end of the trace, and prepare the groups for printing. */
int statistics_finish(struct statistics *s);

#endif

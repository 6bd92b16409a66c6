/*
 * pair.h - --pair 'A -> B on .x == .y': the time from one event to another one
 *
 * A and B are each the name of a type of event or of a function (its enter), or a condition
 * (condition.h). A B ends the last A whose .x is its .y; these are keys (keys.h), with a dot fields
 * of the events; without "on" both are of the same thread. An event may be a B and then an A.
 *
 * A repeated A replaces the earlier one if its B is still missing. At most PAIR_LIMIT As are
 * pending; then a new one replaces the oldest. Pairs end with their stream.
 */
#ifndef TR_TRSTAT_VIEWS_PAIR_H
#define TR_TRSTAT_VIEWS_PAIR_H

#include "cmd/trstat/conditions/condition.h"
#include "cmd/trstat/views/pair_edges.h"
#include "cmd/trstat/views/pair_list.h"
#include "common/util/error.h"

enum { PAIR_LIMIT = 65536, PAIR_ON_MOST = 16 };

struct pair_side {
	struct condition condition;
	char *name; /* name of a type or function; NULL: use the condition */
	/* is an entry of that name? by number: 0 unknown, 1 no, 2 yes */
	uint8_t *types, *locations;
	size_t ntypes, nlocations;
	struct keys on;
};

/* A pair with a name. */
struct pair_preset {
	const char *name, *pair;
	const char *keys;	      /* keys of -g */
	const char *end_fields;	      /* how the names of fields begin that are of B; or NULL */
	bool syscalls;		      /* generic events may repeat those of single system calls */
	const struct pair_task *task; /* the task that waits or runs; NULL: tid and comm are of B */
};

struct pending_start;

struct pair {
	struct pair_side a, b;
	const char *text;		  /* text of the pair; a preset's, or the caller's */
	const struct pair_preset *preset; /* NULL: the caller's own pair */
	bool all;			  /* of system calls: sys_enter or sys_exit was seen */
	/* As without a B yet */
	struct pending_start *pending; /* indexes start at 1 */
	/* of each pending A: the cells of "on", then of the fields among the keys */
	struct key_cell *cells;
	uint32_t *slots, mask;
	uint32_t count, used, free, oldest, newest;
	size_t fields;
	uint64_t pairs, replaced, ended; /* ended: number of Bs without an A */
	uint64_t forgotten;		 /* number of As that were replaced by newer ones */
	uint64_t left;			 /* number of As without a B in streams that ended */
	uint32_t stream;		 /* the present stream (struct dictionary) */
	/* of a part of a trace, owned by the caller; NULL: the whole trace */
	struct pair_edges *edges;
	struct pair_list *list; /* --slowest and --unpaired, owned by the caller; or NULL */
	uint32_t symbol_changes;
	const struct event *event; /* the present event, for condition_cell */
	struct dictionary *dictionary;
	struct groups *groups;
	struct key_cell cell;
	const struct keys *asking;
	struct key_cell *taken; /* field cells of the last pair's A */
};

/* Parse a pair, or the name of a preset. Returns -1 with e filled; pair_free in any case. */
int pair_parse(struct pair *p, const char *text, struct error *e);
/* To be called before the first event. keys: those of -g; an A keeps its cells for their fields.
 * g: has the texts of cells. */
int pair_begin(struct pair *p, const struct keys *keys, struct dictionary *d, struct groups *g);
void pair_free(struct pair *p);
/* Returns -1 with e filled if a condition makes no sense for a clock that counts ticks. */
int pair_check_ticks(const struct pair *p, struct error *e);

/* A pair that an event ends. */
struct pair_end {
	uint64_t time;
	const struct key_cell *entered; /* the A's cells for the keys that are fields */
	/* the A is of an earlier part, if there is one: the B's entry in edges, to be filled; NULL:
	   the A is known */
	struct aggregate *open;
};

/* Take an event. OUTCOME_YES: it ends a pair, *end, which is valid until the next call. */
enum outcome pair_feed(struct pair *p, const struct keys *keys, const struct event *e,
		       struct pair_end *end);

/* End the stream: no B will come for the As that wait. Returns -1 when out of memory. */
int pair_end_stream(struct pair *p);

/* Move the As that wait to edges, at the end of a part. Returns -1 when out of memory. */
int pair_end_part(struct pair *p);

/* Resolve keys of -g or of a condition for the pair (keys_of_pair). */
int pair_keys(const struct pair *p, struct keys *k, struct error *e);
/* Resolve b.F in columns such as sum(b.F), which are of the pair's B. Returns -1 with e filled for
 * a.F, and for tid, pid and comm where these keys are not of B. */
int pair_columns(const struct pair *p, struct columns *c, struct error *e);

/* Number of As without a B. */
uint64_t pair_pending(const struct pair *p);

/* Returns the names of the presets, for --help: "wakeup offcpu ...". */
const char *pair_presets(void);

#endif

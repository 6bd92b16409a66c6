/*
 * statistics.h - the events of a stream into groups
 */
#ifndef TR_TRSTAT_GROUPS_STATISTICS_H
#define TR_TRSTAT_GROUPS_STATISTICS_H

#include "cmd/trstat/summary/bracket.h"
#include "cmd/trstat/table/columns.h"
#include "common/calls/call_stacks.h"
#include "common/calls/calls.h"
#include "common/stream/clocks.h"
#include "cmd/trstat/summary/pending_keys.h"
#include "cmd/trstat/groups/keys.h"
#include "cmd/trstat/views/pair.h"

enum { GROUP_CACHE = 4096, ROW_GROUPS_BITS = 9 };

struct statistics {
	const struct keys *keys;
	struct columns *columns;
	struct dictionary *dictionary;
	struct groups groups;
	struct calls calls;
	struct pending_keys entered;
	struct call_stacks *stacks; /* NULL where no key asks */
	struct part *part;	    /* the caller's: what the rows are a part of; NULL the whole */
	struct bracket *bracket;    /* the part's */
	struct pair *pair;	    /* in place of calls; NULL */
	struct key_cell *cells;
	/* arguments among the fields of columns: of calls with numbers those of the enter wait for
	   the leave, which may give them anew; as many pairs of cells of entered */
	size_t arguments;
	const struct key_cell *taken; /* of the call that is counted, from entered; NULL none */
	uint64_t first, last;	      /* times of all rows; first > last: none */
	bool ticks;		      /* the clock counts ticks */
	struct clocks clocks;	      /* of all rows */
	bool nameless;		      /* of a summary: as statistics_nameless */
	bool out_of_memory;
	/* groups found before */
	struct aggregate **by_location; /* where the key is the name alone */
	size_t by_location_size;
	bool name_only;
	/* of the present block, by the index of its places */
	struct planned {
		struct aggregate *aggregate; /* NULL: not known yet */
		uint32_t location;
	} * planned;
	size_t planned_size;
	struct cached_group {
		struct group_key {
			uint32_t lane, type, location, caller, level,
				stack; /* 0 where no key asks */
		} key;
		struct aggregate *aggregate;
	} * cache;
	uint32_t symbol_changes;
	/* of the present block: by those bits of a row's word that the keys look at */
	uint64_t row_mask; /* 0: the keys look at more */
	struct row_group {
		uint64_t word; /* 0: free */
		struct aggregate *aggregate;
	} row_groups[1 << ROW_GROUPS_BITS];
};

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d);
/* Count pairs of events, with the time between them, in place of calls and instants. */
int statistics_pair(struct statistics *s, struct pair *p);
void statistics_free(struct statistics *s);

/* Are functions shown by their addresses, which trsym would name? */
bool statistics_nameless(const struct statistics *s);

/* The rows of a block. -1 when out of memory. */
int statistics_block(struct statistics *s, const struct block *b);

/* One event. -1 when out of memory. */
int statistics_event(struct statistics *s, const struct event *e);

/* Which arguments among the columns' fields wait for the leave, two cells each behind those of the
 * keys: all of them, or none where each row counts by itself. How many. */
size_t statistics_arguments(const struct keys *k, const struct columns_wanted *w);

/* Number of a stack among those of entered.h: calls in the kernel have one of their own. */
static inline uint32_t statistics_entered(size_t thread, bool kernel)
{
	return 2 * (uint32_t)thread + kernel;
}

/* No call is open any more, and what follows is another trace; what was counted stays. */
int statistics_forget_calls(struct statistics *s);
/* The rows from it on that come before the first one whose time is not before end, or all: it then
 * points at that one. end UINT64_MAX: all rows. -1 when out of memory. */
int statistics_until(struct statistics *s, const struct block *b, struct events *it, uint64_t end);
/* Before the groups are shown, where the trace goes on behind that. */
int statistics_show(struct statistics *s);
/* Forget what was counted, not which calls are open. */
int statistics_reset(struct statistics *s);

/* The end of the trace: calls that are still open. */
int statistics_finish(struct statistics *s);

#endif

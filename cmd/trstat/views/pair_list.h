/*
 * pair_list.h - --pair with --slowest N or --unpaired: single pairs, or As without a B, each event
 * with its time, thread and fields
 *
 * Memory depends on N and on the number of As that wait for their B (PAIR_LIMIT).
 */
#ifndef TR_TRSTAT_VIEWS_PAIR_LIST_H
#define TR_TRSTAT_VIEWS_PAIR_LIST_H

#include "common/pairs/pair.h"
#include "cmd/trstat/table/table.h"

enum { PAIR_LIST_CELLS = 6 };

/* An event: its keys time, tid, pid, comm, cpu and name, and its fields as text (call_text.h). */
struct pair_event {
	struct key_cell cell[PAIR_LIST_CELLS];
	char *fields; /* NULL: no event */
};

struct pair_instance {
	uint64_t time;	 /* from A to B, ns or ticks */
	uint64_t number; /* in the order of the Bs */
	struct pair_event a, b;
};

/* limit > 0: a heap of the slowest pairs, whose first is replaced next; 0: the As without a B, in
 * the order of the stream. */
struct pair_list {
	size_t limit, count, capacity;
	struct pair_instance *instance;
	struct pair_event *waiting; /* by the number of the pending A */
	size_t nwaiting;
	uint64_t pairs; /* number of pairs so far */
	struct keys keys;
	struct dictionary *dictionary;
	struct groups *groups; /* the caller's; has the texts of cells */
	struct buffer scratch;
};

/* All functions that return int return -1 when out of memory. */

/* Watch the events of p; limit is set. */
void pair_list_watch(struct pair_list *l, struct pair *p);
/* To be called before the first event. pair_list_free in any case. */
int pair_list_begin(struct pair_list *l, struct dictionary *d, struct groups *g);
void pair_list_free(struct pair_list *l);

/* Write the first rows of the list, as many as the table's limit allows. */
void pair_list_write(struct pair_list *l, const struct table *t, enum table_format format,
		     struct text *out);

#endif

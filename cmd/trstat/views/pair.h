/*
 * pair.h - --pair 'A -> B on .x == .y': the time from one event to another one
 *
 * A and B are each the name of a type of event or of a function (its enter), or a condition
 * (condition.h). A B ends the last A whose .x is its .y; these are keys (keys.h), with a dot fields
 * of the events; without "on" both are of the same thread. An event may be a B and then an A.
 *
 * An A that comes again before its B takes the place of the earlier one. At most PAIR_LIMIT As wait
 * for their B; the oldest gives way.
 */
#ifndef TR_TRSTAT_VIEWS_PAIR_H
#define TR_TRSTAT_VIEWS_PAIR_H

#include "cmd/trstat/conditions/condition.h"

enum { PAIR_LIMIT = 65536, PAIR_ON_MOST = 16 };

struct pair_side {
	struct condition condition;
	char *name; /* in place of a condition, else NULL */
	/* of a name: is it that of a type, of a place? by number: 0 not asked, 1 no, 2 yes */
	uint8_t *types, *locations;
	size_t ntypes, nplaces;
	struct keys on;
};

struct waiting;

struct pair {
	struct pair_side a, b;
	const char *text; /* in words; a preset's, or the caller's */
	const char *keys; /* what a preset groups by; NULL */
	bool syscalls;	  /* the preset of that name; all: sys_enter or sys_exit was seen */
	bool all;
	/* what waits for its B */
	struct waiting *waiting; /* from 1 on */
	struct key_cell *cells;	 /* of each: those of "on", then of the fields among the keys */
	uint32_t *slots, mask;
	uint32_t count, used, free, oldest, newest;
	size_t fields;
	uint64_t pairs, replaced, ended; /* ended: Bs without an A */
	uint64_t forgotten;		 /* As that gave way */
	uint32_t symbol_changes;
	const struct event *event; /* the present one, for condition_cell */
	struct dictionary *dictionary;
	struct groups *groups;
	struct key_cell cell;
	const struct keys *asking;
	struct key_cell *taken; /* what the A of the last pair had of fields */
};

/* A preset by its name, or a pair in words. -1 with e; pair_free in any case. */
int pair_parse(struct pair *p, const char *text, struct error *e);
/* keys: those of -g, whose fields an A keeps for its pair. g: where texts of cells are. */
int pair_begin(struct pair *p, const struct keys *keys, struct dictionary *d, struct groups *g);
void pair_free(struct pair *p);
/* -1 with e if a condition means nothing for a clock that counts ticks. */
int pair_check_ticks(const struct pair *p, struct error *e);

/*
 * Take an event. 1: it ends a pair, of *time; *entered has what its A had of the keys that are
 * fields, until the next call. 0: it does not. -1: out of memory.
 */
int pair_feed(struct pair *p, const struct keys *keys, const struct event *e, uint64_t *time,
	      const struct key_cell **entered);

/* As that still wait. */
uint64_t pair_waiting(const struct pair *p);

/* The presets, for --help: "wakeup offcpu ...". */
const char *pair_presets(void);

#endif

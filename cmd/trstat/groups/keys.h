/*
 * keys.h - what -g groups by: names of keys to cells
 *
 *     name type group kind source buffer tid pid ppid comm cpu module symkind file line address
 *     caller stack depth time, and any field of the events, arg.N and ret
 *     dur self      the times of a call (dur is total too), else a field of that name
 *     .NAME         the field of that name, also where there is a key of it
 *     A|B           of these the first that a row has; called A
 *     bucket(F,N)   F rounded down to a multiple of N
 *     log2(F)       the largest power of two that is not above F, 0 for 0
 *     hist(F)       the least number in F's bucket of a histogram (common/histogram.h)
 *
 * In these three F is a key above; negative numbers are mirrored in the last two. What is no number
 * is in the group where the key is empty.
 */
#ifndef TR_TRSTAT_GROUPS_KEYS_H
#define TR_TRSTAT_GROUPS_KEYS_H

#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/calls/stack_graft.h"
#include "common/stream/value.h"
#include "cmd/trstat/groups/groups.h"

enum key_what {
	BY_NAME,
	BY_TYPE,
	BY_GROUP,
	BY_KIND,
	BY_SOURCE,
	BY_BUFFER,
	BY_TID,
	BY_PID,
	BY_PPID,
	BY_COMM,
	BY_CPU,
	BY_MODULE,
	BY_FILE,
	BY_LINE,
	BY_ADDRESS,
	BY_CALLER,
	BY_SYMKIND,
	BY_DEPTH,
	BY_STACK,
	BY_TIME,
	BY_TOTAL,
	BY_SELF,
	BY_FIELD,
};

/* What a key's cell depends on: rows alike in all of that are in one group. */
enum key_needs {
	NEEDS_LANE = 1,
	NEEDS_TYPE = 2,
	NEEDS_LOCATION = 4,
	NEEDS_CALLER = 8,
	NEEDS_LEVEL = 16,
	NEEDS_CPU = 32,	  /* the lane's, else the event's */
	NEEDS_EVENT = 64, /* a field, or the times of a call */
	NEEDS_TIME = 128,
	NEEDS_STACK = 256, /* common/call_stacks.h */
	NEEDS_CALL = 512,  /* the times of a call */
};

enum key_transform {
	KEY_AS_IT_IS,
	KEY_BUCKET,
	KEY_LOG2,
	KEY_HIST,
};

struct key {
	enum key_what what;
	char *name;  /* as the user wrote it: the column's header */
	char *field; /* its name: BY_FIELD, and BY_TOTAL, BY_SELF of what is no call */
	enum key_transform transform;
	uint64_t width;	   /* KEY_BUCKET */
	bool unit;	   /* KEY_BUCKET: the width was given with a unit of time */
	struct key *other; /* what is asked where a row has none; NULL nothing */
	size_t spare;	   /* of a caller or stack with others: the cell that has theirs while it is
			      not known; 0: it has none */
};

struct keys {
	struct key *key;
	const char **names;
	size_t count;
	size_t held;	/* cells of a row whose cells are not all known: count and the spare ones */
	size_t fields;	/* how many are BY_FIELD */
	uint32_t needs; /* enum key_needs, of all keys */
	bool by_type;	/* one is the type: then every row counts */
	bool whole_stacks; /* stacks are no texts: they may have any number of frames */
};

/*
 * What a row is, to be grouped. event is NULL for a call that the end of the trace closed. entered
 * has a cell for each BY_FIELD key, as the call's enter gave it; NULL where there is none.
 */
struct event_ref {
	const struct lane *lane;
	const struct type *type;
	const struct event *event;
	uint32_t location, caller, level;
	uint64_t time;
	const struct key_cell *entered;
	uint32_t stack; /* node of common/call_stacks.h; 0 none */
	bool timed;	/* a call: it has total and self */
	uint64_t total, self;
	uint32_t open; /* enum calls_open: what is not known of it; caller and level accordingly */
	const struct stack *below; /* with open: the stack whose beginning is not known */
};

/* Keys of a comma-separated list; none is one group of all. -1 with e naming what is wrong. */
int keys_parse(struct keys *k, const char *list, struct error *e);
void keys_free(struct keys *k);

/* The cells of a row's group. -1 when out of memory. */
int keys_cells(const struct keys *k, struct dictionary *d, struct groups *g,
	       const struct event_ref *s, struct key_cell *cells);

/* Do the keys look at something that is not known of the row? */
static inline bool keys_open(const struct keys *k, uint32_t open)
{
	return (open & OPEN_LEVEL && k->needs & NEEDS_LEVEL) ||
	       (open & OPEN_CALLER && k->needs & NEEDS_CALLER) ||
	       (open & OPEN_STACK && k->needs & NEEDS_STACK);
}

/* Cells that keys_cells made of such a row: what is not known becomes KEY_OPEN_*. cells has room
 * for k->held. -1: out of memory. */
int keys_open_cells(const struct keys *k, struct dictionary *d, struct groups *g,
		    const struct event_ref *s, struct key_cell *cells);

/* Of A|B|C what B or C have. -1: out of memory. */
int keys_other_cell(const struct key *k, struct dictionary *d, struct groups *g,
		    const struct event_ref *s, struct key_cell *cell);

/* What has become known of what lies below such rows. */
struct keys_below {
	uint32_t open; /* enum calls_open: it is on top of something else that is not known */
	uint32_t caller, level;
	struct call_stacks *stacks; /* NULL where no key asks */
	struct stack_graft *graft;  /* from what is not known onto that */
};

/* And back. -1: out of memory. */
int keys_close_cells(const struct keys *k, struct dictionary *d, struct groups *g,
		     const struct keys_below *below, struct key_cell *cells);

/* Do the keys make the same of these two times, and so of all between them? */
bool keys_same_time(const struct keys *k, uint64_t first, uint64_t last);

/* What bucket(), log2() and hist() make of a cell. */
struct key_cell key_transform(const struct key *k, struct key_cell cell);

/* One of them, without what an enter had. */
int keys_cell(const struct keys *k, size_t key, struct dictionary *d, struct groups *g,
	      const struct event_ref *s, struct key_cell *cell);

/* Of these only the cells of fields, in the order of the keys. */
int keys_field_cells(const struct keys *k, const struct dictionary *d, struct groups *g,
		     const struct event *e, struct key_cell *cells);

/* -1 with e if a key means nothing for a clock that counts ticks: a bucket in seconds. */
int keys_check_ticks(const struct keys *k, struct error *e);

/* A field of a row by name: a field of its type, arg.N or ret. false if it has none. */
bool event_ref_field(const struct dictionary *d, const struct event *e, const char *name,
		     struct field_value *out);

#endif

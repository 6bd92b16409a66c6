/*
 * keys.h - the keys of -g: from names to cells
 *
 *     name type group kind source buffer tid pid ppid comm cpu module symkind file line address
 *     class caller stack depth time, and any field of the events, arg.N and ret
 *     dur self      the times of a call (dur is total too), else a field of that name
 *     running runnable sleeping blocked iowait offcpu unknown
 *                   of an event that has no such field: the time of a call, or a pair, that its
 *                   thread was so (common/scheduling/states.h)
 *     .NAME         the field of that name, also where there is a key of it
 *     A|B           the first of these that a row has; its header is A
 *     bucket(F,N)   F rounded down to a multiple of N
 *     log2(F)       the largest power of two that is not above F, 0 for 0
 *     log2(F,N)     N times the largest power of two that is not above F/N, 0 below N
 *     hist(F)       the least number in F's bucket of a histogram (common/util/histogram.h)
 *
 * In bucket, log2 and hist F is a key above; log2 and hist mirror negative numbers. Rows whose F is
 * no number are in the group with an empty key.
 */
#ifndef TR_PAIRS_KEYS_H
#define TR_PAIRS_KEYS_H

#include <string.h>

#include "common/stream/event.h"
#include "common/util/intern.h"
#include "common/value/scalar.h"

struct call;
struct clocks;
struct error;
struct field_value;

/*
 * The value of a key of an event, a call or a pair: a cell.
 *
 * A cell is a text, a number, a stack, or missing (the row has no such field).
 */

enum cell_kind {
	KEY_MISSING,
	KEY_SIGNED,
	KEY_UNSIGNED,
	KEY_TEXT,
	KEY_STACK,   /* value: a node of common/calls/call_stacks.h */
	KEY_ADDRESS, /* an unsigned number shown in hexadecimal */
	/* in no group: a cell of a pair that waits for its A (trstat's pair_list.h). value: the
	   number of its field among those of the A, or KEY_PENDING_TIME */
	KEY_PENDING,
	KEY_REAL, /* a finite number that no integer of 64 bits is equal to */
};

#define KEY_PENDING_TIME UINT64_MAX

/* Zero-initialised is missing. Equal signed and unsigned integers are one key. */
struct key_cell {
	enum cell_kind kind : 8;
	/* KEY_TEXT: the label of the number in value; signed, if that is two's complement. No part
	 * of the key, and not in summaries. Of a number of a field with names: text is the
	 * number's name, which human-readable tables have in its place, or empty; no part of the
	 * key. */
	bool label, is_signed;
	bool single;   /* KEY_REAL: of a float. No part of the key, and not in summaries */
	uint32_t text; /* KEY_TEXT, and a number with a label: from key_text */
	/* KEY_SIGNED: two's complement. KEY_REAL: the bits of a double; of a float, the one nearest
	 * to its shortest digits. */
	uint64_t value;
};

/* What cells name: texts, and stacks. */
struct key_texts {
	struct intern intern;	    /* texts */
	uint64_t seed;		    /* of key_cells_hash; key_texts_init */
	struct call_stacks *stacks; /* the caller's; needed for the texts of KEY_STACK */
	struct buffer *path;	    /* text of the stack that key_cell_text returned last */
	bool cut_stacks;	    /* texts of very deep stacks have their innermost frames only */
};

/* Set a random seed, so that no trace can force collisions. */
void key_texts_init(struct key_texts *t);
void key_texts_free(struct key_texts *t);

/* Make a cell for these bytes, which are copied. Returns 0, or -1 when out of memory. */
int key_text(struct key_texts *t, const void *data, size_t size, struct key_cell *cell);
/* Get the text of a cell, also the name of a number, valid until the next call; false where the
 * cell has none. */
bool key_cell_text(const struct key_texts *t, const struct key_cell *cell, const char **text,
		   size_t *size);

static inline struct key_cell key_unsigned(uint64_t value)
{
	return (struct key_cell){.kind = KEY_UNSIGNED, .value = value};
}

static inline struct key_cell key_signed(int64_t value)
{
	return (struct key_cell){.kind = value < 0 ? KEY_SIGNED : KEY_UNSIGNED,
				 .value = (uint64_t)value};
}

/* Make the cell of a finite number. Numbers that are equal have one cell: 1024.0 is the integer
 * 1024. single: of a float, as KEY_REAL has it. */
struct key_cell key_real(double real, bool single);

/* The number of a KEY_REAL. */
static inline double key_real_value(const struct key_cell *cell)
{
	double real;

	memcpy(&real, &cell->value, sizeof real);
	return real;
}

/* Test whether machines read a number, whose name, if it has one, is for humans. */
static inline bool key_is_number(const struct key_cell *cell)
{
	return cell->kind == KEY_SIGNED || cell->kind == KEY_UNSIGNED ||
	       cell->kind == KEY_ADDRESS || cell->kind == KEY_REAL;
}

/* Hash n cells whose texts are in t. */
uint64_t key_cells_hash(const struct key_texts *t, const struct key_cell *cells, size_t n);
bool key_cells_same(const struct key_cell *a, const struct key_cell *b, size_t n);
/* Append what key_cells_same compares of a cell. Returns -1 when out of memory. */
int key_cell_append(struct buffer *b, const struct key_cell *cell);

enum key_kind {
	BY_NAME,
	BY_TYPE,
	BY_GROUP,
	BY_KIND,
	BY_INPUT,
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
	BY_CLASS,
	BY_DEPTH,
	BY_STACK,
	BY_TIME,
	BY_DURATION,
	BY_SELF,
	BY_FIELD,
};

/* What a key's cell depends on: rows that agree in all of it are in one group. */
enum key_needs {
	NEEDS_LANE = 1,
	NEEDS_TYPE = 2,
	NEEDS_LOCATION = 4,
	NEEDS_CALLER = 8,
	NEEDS_LEVEL = 16,
	NEEDS_CPU = 32,	  /* the lane's CPU, else the event's */
	NEEDS_EVENT = 64, /* a field, or the times of a call */
	NEEDS_TIME = 128,
	NEEDS_STACK = 256, /* see common/calls/call_stacks.h */
	NEEDS_CALL = 512,  /* the times of a call */
	/* a sample has a row for each of its frames */
	NEEDS_FRAME = NEEDS_LOCATION | NEEDS_CALLER | NEEDS_LEVEL | NEEDS_STACK,
};

enum key_transform {
	KEY_AS_IT_IS,
	KEY_BUCKET,
	KEY_LOG2,
	KEY_HIST,
};

/* Of which event of a pair a key is: with EITHER a field is of A, or of B where A lacks it, and
 * another key is of B. W: pair.h. */
enum key_side { KEY_OF_EITHER, KEY_OF_A, KEY_OF_B, KEY_OF_W };

struct key {
	enum key_kind kind;
	enum key_side side;
	bool begins; /* the enter of a call, or the A of a pair, may give the cell */
	bool quoted; /* written with a dot: a field, and a. and b. are part of its name */
	char *name;  /* as the user wrote it: the column's header */
	/* BY_FIELD: enum state + 1 that the name is, if the row has no such field; 0: none */
	uint8_t state;
	/* name of the field: BY_FIELD, and BY_DURATION, BY_SELF of rows that are not calls */
	char *field;
	enum key_transform transform;
	uint64_t width;	   /* KEY_BUCKET */
	bool unit;	   /* KEY_BUCKET: the width was given with a unit of time */
	uint32_t needs;	   /* enum key_needs, of it and its alternatives; not of pairs */
	struct key *other; /* the next alternative, for rows without this one; NULL: none */
};

struct keys {
	struct key *key;
	const char **names;
	size_t count;
	size_t begins;	   /* number of keys with key.begins */
	bool pairs;	   /* of pairs: keys_of_pair was called */
	size_t wakers;	   /* number of keys that are of W */
	bool each_frame;   /* a pair counts for each frame of its stack, the last key */
	uint32_t needs;	   /* enum key_needs, of all keys */
	bool by_type;	   /* one key is the type: then every row counts */
	bool whole_stacks; /* stacks are not texts: no limit on their frames */
};

/*
 * A row to be grouped. event is NULL for a call that the end of the trace closed. entered has a
 * cell for each key with key.begins, from the call's enter or the pair's A; NULL where there is
 * none.
 */
struct event_ref {
	const struct lane *lane;
	const struct type *type;
	const struct event *event;
	uint32_t location, caller, level;
	uint64_t time;
	const struct key_cell *entered;
	uint32_t stack; /* node of common/calls/call_stacks.h; 0: none */
	bool timed;	/* the row is a call: it has total and self */
	bool frame;	/* the row is a frame of a sample, which has a function */
	bool syscall;	/* the name is that of a system call, not of the innermost function */
	uint64_t total, self;
	const uint64_t *states; /* time of the call in each enum state; NULL: not known */
	bool pending;		/* timed, but total and self are not known yet: KEY_PENDING */
};

/* Get what the event itself records of its row. */
static inline struct event_ref event_ref_of(const struct event *e)
{
	return (struct event_ref){.lane = e->lane,
				  .type = e->type,
				  .event = e,
				  .location = e->location,
				  .time = e->time};
}

/* Make that of a call that has ended; e: its leave, or NULL. */
struct event_ref event_ref_of_call(const struct call *call, const struct type *type,
				   const struct event *e, const struct key_cell *entered);

/* Get how many bytes are before the name of the system call in the name of a type of its own:
 * of sys_enter_openat 10; 0: it is another type. */
static inline uint32_t syscall_prefix(struct text_ref type)
{
	return type.size > 10 && !memcmp(type.text, "sys_enter_", 10) ? 10
	       : type.size > 9 && !memcmp(type.text, "sys_exit_", 9)  ? 9
								      : 0;
}

/* Returns true if the enter of a call, or the A of a pair, may give this alternative of a key. */
static inline bool key_begins(const struct key *k)
{
	return k->side == KEY_OF_A || k->side == KEY_OF_W ||
	       (k->side == KEY_OF_EITHER && k->kind == BY_FIELD);
}

/* Length of the first item of a comma-separated list; commas in parentheses are part of the
 * item. */
size_t keys_item_length(const char *list);

/* A field of trfilter that trstat does not count; keys_refuse_children returns -1 with a hint. */
#define KEYS_CHILDREN "children"
int keys_refuse_children(struct error *e);

/* Parse a comma-separated list of keys; an empty list is one group of everything. Returns 0, or
 * -1 with e naming the fault. */
int keys_parse(struct keys *k, const char *list, struct error *e);
void keys_free(struct keys *k);
/* What tid, pid, comm and stack are of a pair that is about one task: keys with a. or b. before
 * them, alternatives separated by bars; NULL: neither event records it. */
struct pair_task {
	const char *tid, *pid, *comm, *stack;
};

/*
 * Resolve a.KEY, b.KEY and w.KEY, keys of one event of a pair. Fields whose names begin with
 * end_fields are of B unless a. precedes them; NULL: there are none. task: what tid, pid, comm and
 * stack are without a prefix; NULL: those of B, and the stack of A. Returns -1 with e naming the
 * fault.
 */
int keys_of_pair(struct keys *k, const char *end_fields, const struct pair_task *task,
		 struct error *e);
/* Get the event of a pair that a key's prefix names, EITHER without a prefix. */
enum key_side keys_side(const struct key *k);
/* Returns true if a key that is not a field has that name. */
bool keys_has_name(const char *name);
/* Offer the names of all keys but fields. */
void keys_offer_names(struct nearest *nearest);

/* The texts that the key symkind can have, up to NULL */
extern const char *const key_symkinds[];

/* Make the cells of a row's group. Returns -1 when out of memory. */
int keys_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
	       const struct event_ref *s, struct key_cell *cells);

/* Returns true if the keys have equal cells for these two times, and so for all between them. */
bool keys_same_time(const struct keys *k, uint64_t first, uint64_t last);

/* Get the name of a key that is the time of calls in a state, or NULL. */
const char *keys_state(const struct keys *k);

/* Returns true for bucket(time,T), but not of the A of a pair. */
static inline bool key_is_time_bucket(const struct key *k)
{
	return k->kind == BY_TIME && k->transform == KEY_BUCKET && k->side != KEY_OF_A;
}
/* Returns 1 + the index of the narrowest key that is a bucket of time; 0: there is none. */
size_t keys_time_bucket(const struct keys *k);

/* Apply bucket(), log2() or hist() to a cell. KEY_PENDING stays. */
struct key_cell key_transform(const struct key *k, struct key_cell cell);

/* Make the cell of one key, without the values of the enter. */
int keys_cell(const struct keys *k, size_t key, struct dictionary *d, struct key_texts *g,
	      const struct event_ref *s, struct key_cell *cell);

/* Make the cells that an enter, or the A of a pair, gives: for each key with key.begins one,
 * untransformed. */
int keys_begin_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, struct key_cell *cells);
/* Add the cells of a pair's W to those. */
int keys_waker_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, struct key_cell *cells);
/* Make the same cells of the B of a pair, for As that lack them. */
int keys_end_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		   const struct event_ref *s, struct key_cell *cells);

/* Returns -1 with e filled if a key makes no sense for a clock: a bucket in seconds for one that
 * counts ticks, a bucket of times without a unit for one that counts ns. */
int keys_check_clocks(const struct keys *k, const struct clocks *clocks, struct error *e);

/* Find a field of a row by name: a field of its type, arg.N or ret. Null, NaN and infinities are
 * texts, as in the key of that name. Returns false if there is none. */
bool event_ref_field(const struct dictionary *d, const struct event *e, const char *name,
		     struct field_value *out);

#endif

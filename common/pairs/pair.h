/*
 * pair.h - --pair 'A -> B on .x == .y': the time from one event to another one
 *
 * A and B are each the name of a type of event or of a function (its enter), or a condition
 * (expression.h). A condition on a function that does not test kind, type or a field is true for no
 * leave, as class == "frame" is of frames, and not of their ends. A B ends the last A whose .x is
 * its .y; these are keys (keys.h), with a dot fields of the events; without "on" both are of the
 * same thread. An event may be a B and then an A.
 *
 * A repeated A replaces the earlier one if its B is still missing; of 'first A -> B' it is a part
 * of the earlier one. At most PAIR_LIMIT As are pending; then a new one replaces the oldest. Pairs
 * end with their stream.
 *
 * The pairs of some presets are of a thread that waits. Their W is the first event between A and B
 * that wakes the thread. An A and a W have the stack that was recorded with them.
 */
#ifndef TR_PAIRS_PAIR_H
#define TR_PAIRS_PAIR_H

#include "common/pairs/keys.h"
#include "common/util/error.h"

struct block;
struct lexer;
struct states;
struct state_mark;
struct declared;

/*
 * A condition on keys: of a group (--fail-if) or of an event (--pair).
 *
 * The language is that of common/expr/expression.h without under() and over(). A field is any key
 * of keys.h that is a name. A comparison with a key that a group or an event has no cell of is
 * false.
 */

struct condition {
	struct keys keys;  /* the keys of the condition, each once */
	struct node *root; /* NULL: always true */
};

/*
 * Parse a condition; the lexer has read its first token. Returns 0, or -1 with l->error filled. The
 * caller calls key_condition_free in either case.
 */
int key_condition_parse(struct condition *c, struct lexer *l);
/* Parse a text that is a condition. */
int condition_parse_text(struct condition *c, const char *text, struct error *e);
void key_condition_free(struct condition *c);

/* Get the words of a key, for struct operand; NULL: any text. */
const char *const *condition_words(const struct key *k);

/* Refuse a condition that compares times of clocks in ns with an integer without a unit, or of
 * clocks that count ticks with one in a unit. Durations that are weights of samples, or fields of
 * events, are numbers. weights: those of a clock of ticks are times. Returns 0, or -1 with e
 * filled. */
int condition_check_clocks(const struct condition *c, const char *option,
			   const struct clocks *clocks, bool weights, struct error *e);

/* Get the value of a cell as conditions have it; NONE: the cell is empty. path: a text is the
 * path of a file. */
struct scalar condition_scalar(const struct key_texts *g, const struct key_cell *cell, bool path);

/* Get the cell of the key with that index in c->keys; texts of cells are in g. */
typedef const struct key_cell *condition_cell(void *ctx, size_t key);

bool condition_holds(const struct condition *c, const struct key_texts *g, condition_cell *cell,
		     void *ctx);
/* Test whether the condition may become true: cell returns NULL for cells that are not known yet.
 */
bool condition_may_hold(const struct condition *c, const struct key_texts *g, condition_cell *cell,
			void *ctx);

enum { PAIR_LIMIT = 65536, PAIR_ON_MOST = 16 };
/* The same of memory. */
enum { PAIR_MEMORY_LIMIT = 1 << 20 };

/* An open call that allocates memory. */
struct pair_call {
	uint64_t bytes;	  /* those that it allocates */
	uint32_t resized; /* the number of the A whose memory it frees if it succeeds; 0: none */
};

struct pair_side {
	struct condition condition;
	char *name;  /* name of a type or function; NULL: use the condition */
	bool enters; /* of calls only the enters: the condition is of functions alone */
	/* is an entry of that name? by number: 0 unknown, 1 no, 2 yes */
	uint8_t *types, *locations;
	size_t ntypes, nlocations;
	struct keys on;
};

/* The names of the presets, for messages and --help */
#define PAIR_PRESETS                                                                               \
	"wakeup offcpu oncpu syscall lock fault irq softirq block block-queue net net-receive "    \
	"frame fs alloc kmem pages"

/* A pair with a name. */
struct pair_preset {
	const char *name, *pair;
	const char *begin, *end; /* what most recorders call A and B, for messages */
	const char *keys;	 /* keys of -g */
	const char *end_fields;	 /* how the names of fields begin that are of B; or NULL */
	bool syscalls;		 /* generic events may repeat those of single system calls */
	bool files; /* the field path of A, if it has none, is that of its file descriptor */
	/* of what is open only one is of each thread, or CPU */
	enum { PLACE_ANY, PLACE_THREAD, PLACE_CPU } place;
	/* of memory, from its allocation until it is freed: the key of A that is its size */
	const char *bytes;
	bool order; /* the size is the power of two of a number of pages */
	bool calls; /* of memory, too: A is the return of a call, whose arguments are the size */
	const struct pair_task *task; /* the task that waits or runs; NULL: tid and comm are of B */
	const struct pair_task *begun; /* the same as A alone records it, for --cover */
	const char *waker, *woken;     /* W, and its key that is of A's "on"; NULL: none */
};

/* Which event of a value of "on" is the first one. */
enum pair_first { PAIR_NONE, PAIR_A, PAIR_B };

/* Memory that is allocated or freed. */
struct pair_memory {
	const struct key_cell *cells; /* those of its A for the keys; NULL: none */
	uint64_t since, bytes;	      /* since: time of its A */
};

struct aggregate;
struct cover;
struct pair_edges;

struct pair {
	struct pair_side a, b, w;
	const char *text;		  /* text of the pair; a preset's, or the caller's */
	const struct pair_preset *preset; /* NULL: the caller's own pair */
	bool all;			  /* of system calls: sys_enter or sys_exit was seen */
	bool first;			  /* a repeated A is a part of the first one */
	struct cover *cover;		  /* it is --cover, whose sets are a and b; NULL: pairs */
	struct {
		struct pending_start *start;
		/* of each: the cells of "on", then those that A and W give to the keys */
		struct key_cell *cells;
		struct state_mark *marks; /* with states: one of each; 0: of the last pair */
		uint32_t *slots, mask;
		uint32_t count, used, free, oldest, newest;
	} pending;		 /* the As that wait for their B; numbers start at 1 */
	const struct keys *keys; /* those of -g; the caller's */
	/* With pair_is_memory: what the present event allocates, what the pair that it ends frees,
	 * and what was freed before without an event, as its address is allocated again. */
	struct {
		struct keys bytes; /* of the preset */
		struct pair_memory allocated, freed, lost;
	} memory;
	bool of_cover; /* a set of --cover */
	/* with of_cover and preset->place: by thread, the number of the A that waits, or waited */
	struct {
		uint32_t *a;
		size_t count;
	} places;
	/* with preset->files: of each open file descriptor of a process, by file_id, 1 + its path's
	 * text, or 0 */
	struct idmap files;
	struct {
		uint32_t highest; /* file descriptor that a call has returned */
		uint32_t closed;  /* number that close_range was followed for */
	} fds;
	/* The caller's, with preset->calls: of the call that the event begins or ends its data,
	 * zeroed when it begins, or NULL; at its end also its caller and its stack. */
	struct {
		struct pair_call *data;
		uint32_t caller, stack;
	} call;
	/* the caller's; pairs of which it is false are left out when they end. NULL: none is */
	const struct condition *where;
	uint64_t pairs, replaced, ended; /* ended: number of Bs without an A */
	uint64_t forgotten;		 /* number of As that were replaced by newer ones */
	uint64_t left;			 /* number of As without a B in streams that ended */
	uint32_t stream;		 /* the present stream (struct dictionary) */
	/* of a part of a trace, whose Bs may have their A in an earlier part: the caller's; NULL:
	   the whole trace. note_first notes an event; OUTCOME_YES: it is the first one with these
	   cells of "on", with its entry */
	struct pair_edges *edges;
	enum outcome (*note_first)(struct pair_edges *edges, const struct key_cell *on,
				   enum pair_first which, struct aggregate **entry);
	/* what --slowest and --unpaired do with the events of single pairs; put NULL: nothing.
	   number: of the pending A. The functions return -1 when out of memory. */
	struct {
		void *ctx;
		/* An A waits, in place of an earlier A of that number. */
		int (*put)(void *ctx, size_t number, const struct event *a);
		/* A B ends the pair. */
		int (*end)(void *ctx, size_t number, const struct event *b, uint64_t time);
		/* The stream of the A has ended. */
		int (*left)(void *ctx, size_t number);
	} watch;
	struct call_stacks *stacks; /* the caller's; NULL: no key is a stack */
	struct states *states;	    /* the caller's; NULL: the states of tasks are not needed */
	uint32_t symbol_changes;
	const struct event *event; /* the present event, for condition_cell */
	struct dictionary *dictionary;
	struct key_texts *texts; /* the caller's; has the texts of cells */
	struct key_cell cell;
	const struct keys *asking;
	struct key_cell *taken; /* cells of the last pair's A and W, then those of the condition */
};

/* Test whether the pairs are memory. */
static inline bool pair_is_memory(const struct pair *p)
{
	return p->preset && (p->preset->bytes || p->preset->calls);
}

/* Parse a pair, or the name of a preset. Returns -1 with e filled; pair_free in any case. */
int pair_parse(struct pair *p, const char *text, struct error *e);
/* To be called before the first event. keys: those of -g, after pair_keys, as those of where; an A
 * keeps its cells for them. Returns -1 when out of memory. */
int pair_begin(struct pair *p, const struct keys *keys, struct dictionary *d, struct key_texts *t);
void pair_free(struct pair *p);
/* Returns -1 with e filled if a condition makes no sense for clocks that count ticks or times: it
 * has a unit for ticks, or a time without one for times. */
int pair_check_clocks(const struct pair *p, bool ticks, bool times, struct error *e);

/* A pair that an event ends, or a span of --cover. */
struct pair_end {
	uint64_t time, at; /* its time, and that of its end */
	uint32_t level;	   /* of a span: its depth */
	/* with pair.states, of the task at its A: the thread that waits or runs, else that of A */
	const struct state_mark *mark;
	const struct key_cell *entered; /* cells of A and W for the keys with key.begins */
	/* the A is of an earlier part, if there is one: the B's entry in edges, to be filled; NULL:
	   the A is known */
	struct aggregate *open;
};

/* Take an event. OUTCOME_YES: it ends a pair, *end, which is valid until the next call. With
 * --cover cover_next has the spans that have ended. */
enum outcome pair_feed(struct pair *p, const struct event *e, struct pair_end *end);
/* Get what an event records of its row, with its stack. -1 when out of memory. */
int pair_event_ref(const struct pair *p, const struct event *e, struct event_ref *ref);

/* End the stream: no B will come for the As that wait. Returns -1 when out of memory. */
int pair_end_stream(struct pair *p);
/* Call take for each A that waits, the oldest first, and forget them. on, begun: its cells of "on"
 * and of the keys. Returns -1 when take does. */
int pair_drain(struct pair *p, int (*take)(struct pair *p, const struct key_cell *on,
					   const struct key_cell *begun, uint64_t time));

/* Resolve keys of -g or of a condition for the pair (keys_of_pair). */
int pair_keys(const struct pair *p, struct keys *k, struct error *e);

/* Number of As without a B. */
uint64_t pair_pending(const struct pair *p);

/* Report on standard error what was not paired; verbose: also what is usual. */
void pair_report(const struct pair *p, bool verbose);

/*
 * --cover 'A & B': the time in which calls are open, however many.
 *
 *     time   0    10   20   30   40   50   60
 *     A      [---------)              [----)      0 to 20, 50 to 60
 *     A           [---------)                     10 to 30
 *     B                [---------)                20 to 40
 *     A      #################        ######      0 to 30, 50 to 60
 *     A & B            ######                     20 to 30
 *     A - B  ###########              ######      0 to 20, 50 to 60
 *
 * A and B are sets of calls, which a condition on their enters chooses, or of pairs. A
 * span is a time without a gap in which one of A is open, with "&" one of B too, with "-" none of
 * B; it counts as a pair does. Each group of the keys has sets of its own, of the calls whose
 * enters are of that group. With the key depth a span ends where the number of As that are open
 * changes, which is the key.
 *
 * A call that has not returned is open until its stream ends, or an event shows that it is over.
 */
/* Parse the sets; what is said of pairs holds for p then. Returns -1 with e filled; pair_free in
 * any case. */
int cover_parse(struct pair *p, const char *text, struct error *e);
/* Open the calls of a SNAPSHOT, at its time. Returns -1 when out of memory. */
int cover_restore(struct pair *p, const struct block *b);
/* Note that an event at that time or later was left out. */
void cover_pass(struct pair *p, uint64_t time);
/* End what is open, at the time of the last event. Returns -1 when out of memory. */
int cover_end(struct pair *p);
/* Take out the next span that has ended: *end, which is valid until the next call. Its time is 0
 * where a group in which A was open has no span. */
bool cover_next(struct pair *p, struct pair_end *end);

/*
 * Check the names in keys, conditions and pairs against what a stream declares.
 *
 * Functions return 0, or -1 with *e naming what no event has (common/expr/declared.h).
 */

/* Get what the stream lacks that the events of a pair are, as "no sched_wakeup and no
 * sched_switch"; NULL: the stream has declared both, or there is no memory. To be freed. */
char *pair_lacks(struct dictionary *d, const struct pair *p);

int key_condition_check_names(struct declared *check, const struct condition *c, struct error *e);
/* Check the field of a column, which may be a key. */
int key_check_name(const struct declared *check, const char *name, struct error *e);
int keys_check_names(const struct declared *check, const struct keys *k, struct error *e);
/* Check a pair, unless it is a preset, whose keys have alternatives for several recorders; what it
 * adds to events is known from then on. */
int pair_check_names(struct declared *check, const struct pair *p, struct error *e);

#endif

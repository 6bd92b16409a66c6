/*
 * convert.h - what all conversions to other systems' traces share
 */
#ifndef TR_TRENCODE_CONVERT_H
#define TR_TRENCODE_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/trencode/encoder.h"
#include "common/calls/calls.h"
#include "common/cli/program.h"
#include "common/stream/clocks.h"
#include "common/stream/dictionary.h"
#include "common/stream/reader.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"

/* --- names of functions as a format writes them, rendered once each --- */

enum { LOCATION_NAME_SHORT = 32 };

/* The names of all locations of one stream, or all strings. */
struct location_names {
	struct dictionary *dictionary;
	/* Append the name as the format writes it; NULL: only its number is used. Returns 0, or -1
	 * when out of memory. */
	int (*render)(struct buffer *to, const char *name, size_t n);
	struct {
		uint32_t number; /* of the dictionary's string of the name */
		size_t at;	 /* offset in bytes */
		uint32_t size;
		bool known;
	} * names; /* by location, or by string */
	size_t count;
	struct buffer bytes;
	uint32_t symbol_changes;
	bool strings; /* names are by string of the dictionary, not by location */
	bool lines;   /* some location has a file and a line of trsym -l */
	bool unnamed; /* some location has an address and no SYMBOL of trsym */
};

void location_names_init(struct location_names *p, struct dictionary *d,
			 int (*render)(struct buffer *to, const char *name, size_t n));
/* Initialise names of strings of the dictionary, by their numbers. */
void location_names_init_strings(struct location_names *p, struct dictionary *d,
				 int (*render)(struct buffer *to, const char *name, size_t n));
void location_names_free(struct location_names *p);

/* Render a name. Returns 0, or -1 when out of memory. */
int location_names_make(struct location_names *p, uint32_t location);

/* Get the name, valid until the next call, and its size; NULL when out of memory. */
static inline const char *location_names_get(struct location_names *p, uint32_t location,
					     uint32_t *size)
{
	if (__builtin_expect(location >= p->count || !p->names[location].known ||
				     p->symbol_changes != p->dictionary->symbol_changes,
			     0) &&
	    location_names_make(p, location))
		return NULL;
	*size = p->names[location].size;
	return (const char *)p->bytes.data + p->names[location].at;
}

/* Copy a name of location_names_get to `to`, which has room for it and at least LOCATION_NAME_SHORT
 * bytes; returns the end of the copy. Most names are short: memcpy of a constant size is inlined.
 */
static inline char *location_names_copy(char *to, const char *name, uint32_t size)
{
	if (size <= LOCATION_NAME_SHORT)
		memcpy(to, name, LOCATION_NAME_SHORT);
	else
		memcpy(to, name, size);
	return to + size;
}

/* Report on stderr if trsym is missing in the pipe. */
void location_names_report(const struct location_names *p);

/*
 * Threads of all sources, with numbers that are unique in one trace.
 *
 * A thread keeps its number if no thread of another source has it. Otherwise, and if it has none,
 * it gets a number that no kernel assigns.
 */

/* The remark about the number of threads that were renamed. */
#define THREAD_IDS_RENAMED "{thread|threads} without a unique number {is|are} numbered from 4194305"

/* The numbers of all threads of one written trace. */
struct thread_ids {
	bool no_zero; /* there is no thread 0 */
	bool zero;    /* thread 0 is a thread like others, not only the idle one of a CPU */
	bool no_cpus; /* there is one thread 0, not one for each CPU */
	struct intern keys;
	int32_t *ids; /* by number of the key */
	size_t capacity;
	struct idmap taken, idle;
	uint32_t next;
	uint64_t renamed; /* threads whose number differs from that in their source */
};

/* Get the number in the written trace of the lane's thread, of its CPU's interrupts (per_cpu),
 * or of its process, which has the number of its first thread. A thread without a process is its
 * own process. Both return -1 when out of memory. */
int32_t thread_ids_thread(struct thread_ids *t, const struct lane *lane, bool per_cpu);
int32_t thread_ids_process(struct thread_ids *t, const struct lane *lane);
void thread_ids_free(struct thread_ids *t);

/*
 * Leave out numbered calls that overlap with other calls of their thread.
 *
 * The other call may have a number too, or be on the thread's stack.
 *
 * The enter of a call inside of another call waits for the leave. If the outer call is left first,
 * the calls overlap, and the inner call is left out. All later rows of all threads wait too, so
 * their order does not change. The number and the bytes of waiting rows are bounded. If a call
 * exceeds the bound, it is left out if its thread has calls of a stack; otherwise it passes as a
 * call that nests, and the target's stack ends it if it does not.
 */

/* One waiting row. */
struct overlap_row {
	struct event ev; /* fixed and tail point into data */
	uint8_t *data;
	size_t size;
	uint8_t state;
};

/* Take a row that passes. */
typedef int overlap_next(void *ctx, const struct event *ev, struct error *e);

struct overlap {
	overlap_next *next;
	void *ctx;
	const struct calls *before;	     /* the calls of the rows passed on; NULL: none */
	bool (*keeps)(const struct type *t); /* of convert_target */
	struct overlap_row *rows;	     /* a ring */
	size_t capacity, first, count, bytes;
	uint64_t number;	 /* number of the first row in the ring */
	struct calls calls;	 /* from the first call with a number on */
	bool numbered;		 /* a call with a number was read */
	struct open_calls leave; /* calls that were left out and are open */
	uint64_t left_out;	 /* calls */
};

void overlap_init(struct overlap *o, struct dictionary *d, overlap_next *next, void *ctx);
/* Take a row, and pass it and the rows that waited for it to next. Returns 0, or -1 with *e
 * filled. */
int overlap_take(struct overlap *o, const struct event *ev, struct error *e);
/* Pass all waiting rows to next, at the end: calls that are still open nest. */
int overlap_end(struct overlap *o, struct error *e);
void overlap_free(struct overlap *o);

/*
 * The calls that calls_restore opens, in the order of their enters.
 *
 * calls_restore passes them thread by thread. Encoders write their enters by time.
 */

struct restored_calls {
	struct restored_call {
		struct event enter;	   /* valid until the next block */
		const struct stack *stack; /* NULL: a numbered call on none */
		size_t index;		   /* in the stack, or of the numbered call */
		size_t order;		   /* of calls of one time */
	} * list;
	size_t count, capacity;
};

/* Add a call; for calls.on_restore. -1: out of memory. */
int restored_calls_add(struct restored_calls *r, const struct calls *c, const struct event *enter,
		       const struct call *call);
/* Sort the calls that on_restore has added by time, and begin again; for calls.restored.done.
 * Returns their number. */
size_t restored_calls_sort(struct restored_calls *r);

/*
 * A trace of one system out of the events of any other, or of several.
 *
 * A native encoder writes what trdecode decoded of a trace of the encoder's own system. Events of
 * other sources are converted to such events before: the rows of any source become calls that are
 * entered and left, events with fields, and gaps; threads get numbers that are unique in the
 * written trace; values and fields become text; names lose the bytes that the target forbids. The
 * target's native encoder gets a dictionary such as a decoded trace of the target would have.
 *
 * A function that returns int returns 0, or -1 with *e filled; without e, -1 when out of memory.
 */

/* --- the target's dictionary --- */

/* The dictionary of a stream that was decoded from a trace of the target, and its native encoder.
 */
struct target_dictionary {
	struct dictionary dictionary;
	struct source *source; /* the only source */
	struct clock *clock;
	struct type *gap;
	struct intern lane_keys;
	struct encoding encoding; /* run of the native encoder */
	void **kept;		  /* memory of the types' fields and the definitions' members */
	size_t nkept, kept_capacity;
};

/* Declare an entry, its number filled in, else zero. They return NULL when out of memory. */
struct type *target_type(struct target_dictionary *d, const char *name, const char *group);
struct location *target_location(struct target_dictionary *d);
/* Allocate n fields for a type, n members for a definition; the dictionary owns them. */
struct field *target_fields(struct target_dictionary *d, uint32_t n);
struct member *target_members(struct target_dictionary *d, uint32_t n);
struct text_ref target_string(struct target_dictionary *d, const void *text, size_t n);
/* Pass n bytes at offset of a META part to the native encoder, in pieces. */
int target_meta(struct target_dictionary *d, const char *name, const void *data, size_t n,
		uint64_t offset, struct error *e);

static inline int target_event(struct target_dictionary *d, const struct event *ev, struct error *e)
{
	return d->encoding.encoder->event(&d->encoding, ev, e);
}

/* --- rows --- */

enum convert_what { CONVERT_ENTER, CONVERT_LEAVE, CONVERT_EVENT, CONVERT_GAP };

/* The data of an open call (calls.h). */
struct convert_frame {
	uint64_t start; /* time of the enter */
	uint32_t mark;	/* private to the target */
	bool open;	/* in the target it was entered, and has not ended */
	bool kernel;
	bool numbered; /* on no stack */
};

/* The thread, or the CPU's interrupts, of one stack of calls. */
struct convert_thread {
	uint32_t number;      /* dense from 0, in the order of their first row */
	int32_t tid, pid;     /* in the written trace */
	bool per_cpu;	      /* no thread: the interrupts of a CPU */
	struct text_ref comm; /* the first known name */
	uint32_t count;	      /* calls open in the target */
	uint32_t below;	      /* calls open below these whose enters were not recorded */
	bool begun;	      /* a call was entered or left */
	bool lost;	      /* events were lost since the last call: the open calls are unknown */
	bool announced;	      /* the target has its names */
	const struct lane *lane; /* convert_thread_lane */
};

struct convert_row {
	enum convert_what what;
	const struct event *ev;	       /* if cut: the row that showed that the call had ended */
	struct convert_thread *thread; /* NULL: a gap of a CPU */
	uint64_t time;		       /* ns, or ticks if the target counts them */
	uint64_t start;		       /* LEAVE: time of the enter */
	uint32_t location;	       /* of a call */
	uint32_t depth;		       /* of a call: number of the thread's open calls below */
	uint32_t *mark; /* of a call: kept from its enter to its leave; else UINT32_MAX */
	bool cut;	/* LEAVE: was not recorded */
	bool unseen;	/* LEAVE: of a call that was entered before the trace */
};

/* One target format. Its state begins with a struct conversion. */
struct convert_target {
	const struct encoder *native;
	const char *format; /* format of the native encoder's sources */
	size_t state_size;
	bool closes;  /* a call whose return was not recorded ends at its thread's next event */
	bool nests;   /* calls of a thread nest: those that overlap are left out */
	bool replays; /* its readers replay the stack as uftrace does: they empty it themselves
			 after an exec, after lost events and after longjmp */
	bool keeps_kernel; /* calls in the kernel, and of the scheduler, are emitted unchanged: its
			      readers recognise them, and do not need them to nest */
	bool buffers;	   /* it keeps the names of the kernel tracer's buffers */
	bool needs_time;   /* ticks need a length */
	bool no_zero;	   /* there is no thread 0 */
	bool zero;	   /* thread 0 is a thread like others, not only the idle one of a CPU */
	bool no_cpus;	   /* there is one thread 0, not one for each CPU */
	/* declare what rows need; the state is zero but for its struct conversion; may be NULL */
	int (*init)(void *state, struct error *e);
	/* take a piece of a META block of a source; may be NULL */
	int (*meta)(void *state, const struct meta *m, struct error *e);
	/* take over the META blocks that the native encoder has received, whose state is given; may
	   be NULL */
	void (*take_over)(void *state, void *native);
	/* begin the trace before the first row; may be NULL; lane: of the first event,
	 * NULL: there is none */
	int (*begin)(void *state, const struct lane *lane, struct error *e);
	/* test whether the calls of a type are emitted as events; NULL: none are */
	bool (*keeps)(const struct type *t);
	int (*call)(void *state, const struct convert_row *r, struct error *e); /* both ends */
	int (*instant)(void *state, const struct convert_row *r, struct error *e);
	int (*gap)(void *state, const struct convert_row *r, struct error *e);
	int (*end)(void *state, struct error *e); /* before the end of the native encoder */
	void (*report)(void *state); /* report losses on stderr; convert_report was called */
	void (*drop)(void *state);   /* free what the state owns after its struct conversion */
};

/* One run of a conversion. */
struct conversion {
	const struct convert_target *target;
	struct dictionary *dictionary; /* of the stream */
	struct target_dictionary d;
	const struct encode_options *options;
	struct clocks clocks; /* of the rows so far */
	/*
	 * Epochs of concatenated streams: a new one where times go back.
	 *
	 * Readers merge the buffers of a trace by time, and never reorder the events of a buffer.
	 * If a stream begins before the end of the streams before it, its events go to other
	 * buffers of the target: those of the next epoch, whose names contain the epoch.
	 */
	struct {
		uint64_t latest, stream_id;
		uint32_t sequence, count; /* count: the present epoch, from 0 */
		bool begun, border; /* border: a stream has begun, and no row of it was read */
	} clock_epoch;

	/* private */
	bool begun; /* target->begin was called */
	struct calls *calls;
	struct restored_calls restored;
	struct overlap overlap;
	struct convert_thread **threads, **by_number; /* by number of the stack; by their number */
	size_t threads_size, by_number_capacity, nthreads;
	struct thread_ids ids;
	uint8_t *used; /* by location: was converted */
	size_t used_size;
	uint32_t unmarked;	/* the mark of a row without an open call */
	const struct event *ev; /* the row that calls_next takes */
	struct error *error;	/* of the same */
	bool failed;
	enum { FIRST_LOST, CLOSED, FORGOTTEN } lost; /* calls that this row ends */
	uint64_t rows;
	struct {
		uint64_t unnamed, unmatched, cut, outlasting, comms, with_cpu, with_time, with_wall,
			with_buffer, backtraces, open;
	} counts; /* for convert_report */
};

/* The encoder of all conversions, to en->target. */
extern const struct encoder encoder_conversion;
/* Begin the conversion of a stream for which its native encoder, whose state is given, was begun;
 * the state is freed. */
int convert_begin_late(struct encoding *en, struct encoding *native, struct error *e);

/* Print such a line: "COUNT WHAT". Prints nothing if count is 0 or --quiet was given. */
#define convert_lost(a, count, what)                                                               \
	remark_count((a)->options->flags &ENCODE_QUIET ? 0 : (count), what)

#define CALLS_CUT "{call|calls} ended without a return (a longjmp, an exec, lost events): "

/* Report calls without an end or a beginning, of an encoder that pairs them. cut: calls that ended
 * without a return. */
void convert_report_calls(const struct calls_counts *c, uint64_t cut, bool drop, bool keeps_open);

/* Note that the location was converted: convert_report counts those without a name. */
void convert_use_location(struct conversion *a, uint32_t location);

/* Get the thread of a stack of calls, or NULL when out of memory. */
struct convert_thread *convert_thread(struct conversion *a, const struct lane *lane, bool per_cpu);
/* Get the target's lane of a thread, or NULL when out of memory. */
const struct lane *convert_thread_lane(struct conversion *a, struct convert_thread *t);
/* Get the target's lane of a buffer on a CPU, of the epoch of a time, or NULL when out of
 * memory. */
const struct lane *convert_buffer_lane(struct conversion *a, struct text_ref buffer, uint32_t cpu,
				       uint64_t time);
/* Pass a gap to the native encoder. */
int convert_put_gap(struct conversion *a, const struct convert_row *r, const struct lane *lane,
		    struct error *e);

/* --- text --- */

/* Bytes after which a text of values may end; the caller cuts it to fewer. */
enum { CONVERT_TEXT_MOST = 128 * 1024 };

/* Test for a field of a leave with the return value: ret, or return. */
bool convert_is_return(const struct type *t, const struct field *f);
/* Append the details of one kind in a row's VALUES, as `a = 1, b = "x"` with the names of the
 * location's arguments. *blobs counts values that are not text in full. */
int convert_text_values(struct buffer *b, const struct dictionary *d, const struct event *ev,
			enum detail_kind what, uint64_t *blobs);
/* Append the fields of a row as `a=1 b="x"`. */
int convert_text_fields(struct buffer *b, const struct dictionary *d, const struct event *ev);
/* Append the arguments in a row's VALUES, and after them its fields in the same form; of a row
 * without VALUES as convert_text_fields. */
int convert_text_arguments(struct buffer *b, const struct dictionary *d, const struct event *ev,
			   uint64_t *blobs);
/* Append everything of a row but its name: the fields; of calls "(a = 1) = 2". */
int convert_text_row(struct buffer *b, const struct dictionary *d, const struct event *ev,
		     uint64_t *blobs);
/* Append the value after v, and step over it. */
int convert_text_value(struct buffer *b, const struct dictionary *d, struct values *v,
		       uint64_t *blobs);
/* Cut b to at most n bytes after from, not inside of a character; count this in *cut. */
void convert_text_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut);

/* --- fields --- */

/* The form of one field in a target that has numbers and texts. */
struct convert_field {
	const struct field *from;
	uint8_t size; /* of a number, 0: text */
	bool is_signed;
};

/* Plan the fields of a type that are kept, at most `most`; the caller frees them. If all is false,
 * fields of ftrace's own calls and repeated fields are not kept; what the row has anyway never is.
 * *lost counts the fields beyond `most`. Returns NULL when out of memory. */
struct convert_field *convert_fields_plan(const struct type *t, uint32_t most, bool all,
					  uint32_t *n, uint64_t *lost);
/* Get its value, 0 if the row does not have it. */
uint64_t convert_field_number(const struct convert_field *w, const struct event *ev);
/* Append it as text, strings unchanged; nothing if the row does not have it. */
int convert_field_text(struct buffer *b, const struct dictionary *d, const struct convert_field *w,
		       const struct event *ev);
/* Append the value of one field as that detail. */
int convert_field_value(struct buffer *b, const struct convert_field *field, const struct event *ev,
			enum detail_kind what, uint64_t index);

/* The fields of types as arguments of calls and events, after the arguments in their VALUES. */
struct convert_arguments {
	const struct dictionary *dictionary;
	uint32_t most; /* fields of one type */
	struct convert_fields {
		struct convert_field *list; /* NULL: not planned */
		uint32_t n;
	} * types; /* by type */
	size_t size;
	struct buffer values;
	uint64_t lost; /* fields beyond most */
};

/* Get the fields of a type, NULL when out of memory. */
const struct convert_fields *convert_arguments_fields(struct convert_arguments *a,
						      const struct type *t);
/* Set *out to the row with its VALUES and fields as details: fields are arguments with the numbers
 * after those with names, or the return value. They are valid until the next call. */
int convert_arguments_join(struct convert_arguments *a, const struct event *ev, struct event *out);
void convert_arguments_free(struct convert_arguments *a);

/* --- names --- */

/* Append the name with each byte below 0x20, 0x7f, and each of `others` as \xHH. A backslash that
 * begins such a text is written so too, so the escapes can be reversed. */
int convert_name_escaped(struct buffer *b, const char *name, size_t n, const char *others);
/* Append a name, or a text, with each NUL as \x00, for targets whose texts end at a NUL. A
 * backslash that begins such a text is written as \x5c. */
int convert_name_no_nul(struct buffer *b, const char *name, size_t n);
/* Append an identifier: all but letters, digits and _ as _xHH, also a first digit, and a _ that
 * begins such a text. "" becomes "_x". */
int convert_name_identifier(struct buffer *b, const char *name, size_t n);

/* Names of which no two are the same. Zero-initialised is empty. */
struct unique_names {
	struct intern names;
	uint32_t *next; /* by number of a name: the next suffix */
	size_t size;
};

/* Add the name in b. If it is taken, append `before` and the least number from 2 on that makes it
 * unique. Returns its number, or INTERN_NONE when out of memory. */
uint32_t unique_name(struct unique_names *u, struct buffer *b, const char *before);
void unique_names_free(struct unique_names *u);

#endif

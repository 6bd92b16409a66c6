/*
 * convert.h - a trace of one system out of the events of any other, or of several
 *
 * A native encoder writes what trdecode decoded of a trace of the encoder's own system. Events of
 * other sources are converted to such events before. conversion.c is the encoder that does so, to a
 * target that TARGET/convert.c describes. calls.c converts the rows of any source to calls that are
 * entered and left, events with fields, and gaps; threads.c and thread_ids.c give the threads
 * numbers that are unique in the written trace; text.c converts values and fields to text; fields.c
 * plans the fields of a type; names.c escapes the bytes that the target forbids in names; and
 * target_dictionary.c makes the dictionary that a decoded trace of the target would have, for the
 * target's native encoder.
 *
 * A function that returns int returns 0, or -1 with *e filled; without e, -1 when out of memory.
 */
#ifndef TR_TRENCODE_CONVERT_CONVERT_H
#define TR_TRENCODE_CONVERT_CONVERT_H

#include "cmd/trencode/convert/overlap.h"
#include "cmd/trencode/convert/clock_epoch.h"
#include "cmd/trencode/convert/restored_calls.h"
#include "common/stream/clocks.h"
#include "common/stream/value.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/thread_ids.h"

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

/* Make the dictionary, and begin the native encoder with the options and the output of en. */
int target_begin(struct target_dictionary *d, const struct encoder *native, const char *format,
		 const struct encoding *en, struct error *e);
void target_free(struct target_dictionary *d);
/* Declare an entry, its number filled in, else zero. They return NULL when out of memory. */
struct type *target_type(struct target_dictionary *d, const char *name, const char *group);
struct location *target_location(struct target_dictionary *d);
/* Allocate n fields for a type, n members for a definition; the dictionary owns them. */
struct field *target_fields(struct target_dictionary *d, uint32_t n);
struct member *target_members(struct target_dictionary *d, uint32_t n);
struct text_ref target_string(struct target_dictionary *d, const void *text, size_t n);
struct definition *target_definition(struct target_dictionary *d);
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
	struct clocks clocks;		/* of the rows so far */
	struct clock_epoch clock_epoch; /* for targets that put the epoch into names of buffers */

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
	struct convert_counts {
		uint64_t unnamed, unmatched, cut, outlasting, comms, with_cpu, with_time, with_wall,
			with_buffer, backtraces, open;
	} counts; /* for convert_report */
};

/* The encoder of all conversions, to en->target. */
extern const struct encoder encoder_conversion;
/* Begin the conversion of a stream for which its native encoder, whose state is given, was begun;
 * the state is freed. */
int convert_begin_late(struct encoding *en, struct encoding *native, struct error *e);

/* private to conversion.c and calls.c */
void convert_calls_init(struct conversion *a);
int convert_event(struct encoding *en, const struct event *ev, struct error *e);
/* Convert the rows that wait. Begin the trace, if it has no event. */
int convert_flush(struct conversion *a, struct error *e);

/* Report on stderr what could not be kept of the calls and threads, a line each. The calls end. */
void convert_report(struct conversion *a);
/* Print such a line: "COUNT WHAT". Prints nothing if count is 0 or --quiet was given. */
#define convert_lost(a, count, what) remark_count((a)->options->quiet ? 0 : (count), what)

#define CALLS_CUT "{call|calls} ended without a return (a longjmp, an exec, lost events): "

/* Report calls without an end or a beginning, of an encoder that pairs them. cut: calls that ended
 * without a return. */
struct calls;
void convert_report_calls(const struct calls_counts *c, uint64_t cut, bool drop, bool keeps_open);

/* Note that the location was converted: convert_report counts those without a name. */
void convert_use_location(struct conversion *a, uint32_t location);

/* Returns the thread of a stack of calls, or NULL when out of memory. */
struct convert_thread *convert_thread(struct conversion *a, const struct lane *lane, bool per_cpu);
/* Returns the target's lane of a thread, or NULL when out of memory. */
const struct lane *convert_thread_lane(struct conversion *a, struct convert_thread *t);
/* Returns the target's lane of a buffer on a CPU, of the epoch of a time, or NULL when out of
 * memory. */
const struct lane *convert_buffer_lane(struct conversion *a, struct text_ref buffer, uint32_t cpu,
				       uint64_t time);
/* Pass a gap to the native encoder. */
int convert_put_gap(struct conversion *a, const struct convert_row *r, const struct lane *lane,
		    struct error *e);

/* --- text --- */

/* Bytes after which a text of values may end; the caller cuts it to fewer. */
enum { CONVERT_TEXT_MOST = 128 * 1024 };

/* Test whether a field has a value that other systems do not need: common_type of ftrace, a TSC,
 * apitrace's number of the frame. */
bool convert_is_own_field(const struct type *t, const struct field *f);
/* Test for a field of a leave whose value the enter has too: the id of an asynchronous call. */
bool convert_is_repeated(const struct type *t, const struct field *f);
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
/* Append the value of one field, without its name. */
int convert_text_field(struct buffer *b, const struct dictionary *d, const struct event *ev,
		       const struct field *f);
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
/* Returns its value, 0 if the row does not have it. */
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

/* Returns the fields of a type, NULL when out of memory. */
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
/* Cut an escaped name to at most n bytes after from, not inside of an escape or a character. */
void convert_name_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut);
/* Append an identifier: all but letters, digits and _ as _xHH, also a first digit, and a _ that
 * begins such a text. "" becomes "_x". */
int convert_name_identifier(struct buffer *b, const char *name, size_t n);

#endif

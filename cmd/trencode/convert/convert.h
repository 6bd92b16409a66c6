/*
 * convert.h - a trace of one system out of the events of any other, or of several
 *
 * A native encoder takes what trdecode made of a trace of its own system. For all else its room has
 * a second encoder (TARGET_anew.c), which stands on what is here: rows of any source are told as
 * calls that are entered and left, events with fields, and gaps (convert_calls.c), on threads whose
 * numbers are unique in the trace to be (convert_threads.c, thread_ids.c); values and fields as
 * text (convert_text.c); names without what the target forbids (convert_names.c); and the
 * dictionary that a trace of the target would have had, so that its native encoder can be given
 * what it is used to (convert_dialect.c).
 *
 * Functions that return int: 0, or -1 with e filled; those without e: -1 when out of memory.
 */
#ifndef TR_TRENCODE_CONVERT_CONVERT_H
#define TR_TRENCODE_CONVERT_CONVERT_H

#include "cmd/trencode/convert/overlap.h"
#include "cmd/trencode/convert/clock_epoch.h"
#include "common/calls/calls.h"
#include "common/stream/clocks.h"
#include "common/stream/value.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/thread_ids.h"

/* --- the target's dialect --- */

/* What a stream of the target's own system would have declared. */
struct target_dictionary {
	struct dictionary dictionary;
	struct source *source; /* the one source */
	struct clock *clock;
	struct encoding encoding; /* of the native encoder */
	void **kept;		  /* fields and members of its types and definitions */
	size_t nkept, kept_capacity;
};

/* The native encoder is begun, with the options and the output of en. */
int target_begin(struct target_dictionary *d, const struct encoder *native, const char *format,
		 const struct encoding *en, struct error *e);
void target_free(struct target_dictionary *d);
/* New entries, their number filled in, else zero. NULL: out of memory. */
struct lane *target_lane(struct target_dictionary *d);
struct type *target_type(struct target_dictionary *d, const char *name, const char *group);
struct location *target_location(struct target_dictionary *d);
/* A type of gaps as other systems have them: the fixed part of a gap, and a message. */
struct type *target_gap(struct target_dictionary *d, const char *group);
/* n fields for a type, members for a definition. */
struct field *target_fields(struct target_dictionary *d, uint32_t n);
struct member *target_members(struct target_dictionary *d, uint32_t n);
struct text_ref target_string(struct target_dictionary *d, const void *text, size_t n);
struct definition *target_definition(struct target_dictionary *d);
/* A piece of a META part, as if it were the next one; of any length. */
int target_meta(struct target_dictionary *d, const char *name, const void *data, size_t n,
		uint64_t offset, struct error *e);
static inline int target_event(struct target_dictionary *d, const struct event *ev, struct error *e)
{
	return d->encoding.encoder->event(&d->encoding, ev, e);
}

/* --- rows --- */

enum convert_what { CONVERT_ENTER, CONVERT_LEAVE, CONVERT_EVENT, CONVERT_GAP };

struct convert_frame {
	uint64_t start;
	uint32_t location, call; /* call: its number in the source, with numbered */
	uint32_t mark;		 /* the target's own */
	bool numbered, kernel;
};

/* What events of one stack of calls are on. */
struct convert_thread {
	uint32_t number;      /* dense from 0, in the order of their first row */
	int32_t tid, pid;     /* in the trace to be */
	bool per_cpu;	      /* no thread: the interrupts of a CPU */
	struct text_ref comm; /* the first one that is known */
	struct convert_frame *frames;
	size_t count, capacity, nnumbered; /* nnumbered: those that have numbers */
	uint32_t below; /* calls open below frames[0] that were never entered here */
	bool begun;	/* a call was entered or left */
	bool lost;	/* events were, since the last call: what is open now is not known */
	bool announced;	/* the target has seen it */
};

struct convert_row {
	enum convert_what what;
	const struct event *ev; /* where cut: of the row that showed that the call had ended */
	struct convert_thread *thread; /* NULL: a gap of a CPU */
	uint64_t time;		       /* ns, or ticks if the target counts them */
	uint64_t start;		       /* LEAVE: when it was entered */
	uint32_t location;	       /* of a call */
	uint32_t depth;		       /* of a call: those of the thread open below */
	uint32_t *mark; /* of a call: kept from its enter to its leave; else UINT32_MAX */
	bool cut;	/* LEAVE: was not recorded */
	bool unseen;	/* LEAVE: of a call that was entered before the trace */
};

/* A target, whose state begins with a struct conversion. */
struct convert_target {
	const struct encoder *native;
	const char *format; /* as sources of the native encoder have it */
	size_t state_size;
	bool closes;	 /* a call whose return was not recorded is left where that shows */
	bool nests;	 /* calls of a thread nest: those that overlap are left out */
	bool replays;	 /* its readers make the stack again as uftrace does: after an exec, after
			    lost events and after longjmp it is theirs to empty it */
	bool told_apart; /* calls in the kernel, and those scheduled out in, are given as they come:
			    its readers know that they are such, and need not see them nest */
	bool buffers;	 /* it has those of the kernel's tracer, by name */
	bool needs_time; /* ticks must be given a length */
	bool no_zero;	 /* there is no thread 0 */
	bool zero;	 /* 0 is a thread like others, not only the idle one of a CPU */
	bool no_cpus;	 /* and there is one such thread, not one for each CPU */
	int (*call)(void *state, const struct convert_row *r, struct error *e); /* both ends */
	int (*instant)(void *state, const struct convert_row *r, struct error *e);
	int (*gap)(void *state, const struct convert_row *r, struct error *e);
	void (*drop)(void *state); /* free what is in the state behind its struct conversion */
};

struct conversion {
	const struct convert_target *target;
	struct dictionary *dictionary; /* of the stream */
	struct target_dictionary d;
	const struct encode_options *options;
	struct clocks clocks;	   /* of the rows that came */
	struct clock_epoch rounds; /* for targets whose buffers are named by them */

	/* the rest is its own */
	struct calls calls;
	struct overlap overlap;
	struct convert_thread **threads, **by_number; /* by the stack's number; by their own */
	size_t threads_size, by_number_capacity, nthreads;
	struct thread_ids ids;
	uint8_t *used; /* places, those that were taken over */
	size_t used_size;
	struct open_calls open; /* of targets that do not nest: place << 32 | mark */
	uint32_t unmarked;	/* the mark of a row of no call that is open */
	uint64_t rows, calls_seen;
	/* for convert_report */
	uint64_t unnamed, unmatched, cut, outlasting, comms, with_cpu, with_time, with_wall,
		with_buffer, backtraces;
};

/* The state of an encoder, all zero but for its struct conversion: en->state, for convert_free,
 * also where NULL is returned. */
void *convert_begin(struct encoding *en, const struct convert_target *target, struct error *e);
/* The encoder's free(). */
void convert_free(struct encoding *en);
/* One row of the stream: the target is called for what becomes of it, also later. */
int convert_event(struct encoding *en, const struct event *ev, struct error *e);
/* Before a segment, where ids start afresh: what was held back. */
int convert_head(struct encoding *en, const struct head *h, struct error *e);
/* What was held back. */
int convert_end(struct conversion *a, struct error *e);
/* What could not be kept of the calls and threads, one line each on stderr. */
void convert_report(struct conversion *a);
/* One such line: "COUNT WHAT". Nothing if count is 0 or --quiet was given. */
void convert_lost(const struct conversion *a, uint64_t count, const char *what);

/* The place was taken over: convert_report tells of those without a name. */
void convert_use_location(struct conversion *a, uint32_t location);

/* convert_threads.c: the thread of a stack of calls. NULL: out of memory. */
struct convert_thread *convert_thread(struct conversion *a, const struct lane *lane, bool per_cpu);

/* --- text --- */

/* Bytes of a text of values beyond which it may end: whoever asks for one cuts it before. */
enum { CONVERT_TEXT_MOST = 128 * 1024 };

/* Fields that hold what no other trace needs: common_type of ftrace, a TSC. */
bool convert_is_own_field(const struct type *t, const struct field *f);
/* "a = 1, b = \"x\"": the fields of a row, or the details of its VALUES of that kind with the names
 * of the place's arguments. What is not text in full (blobs) is counted. */
int convert_text_fields(struct buffer *b, const struct event *ev);
int convert_text_values(struct buffer *b, const struct dictionary *d, const struct event *ev,
			enum detail_kind what, uint64_t *blobs);
/* All that a row tells beside its name: the fields; of calls "(a = 1) = 2". Empty: nothing. */
int convert_text_row(struct buffer *b, const struct dictionary *d, const struct event *ev,
		     uint64_t *blobs);
/* One value. */
int convert_text_value(struct buffer *b, const struct dictionary *d, const struct event *ev,
		       const struct value *v, struct values *children, uint64_t *blobs);
/* One field, as a value alone. */
int convert_text_field(struct buffer *b, const struct event *ev, const struct field *f);
/* Cut to at most n bytes behind from, not inside of a character; counts in *cut. */
void convert_text_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut);

/* --- fields --- */

/* What becomes of a field in a target that has numbers and texts. */
struct convert_field {
	const struct field *from;
	uint8_t size; /* of a number, 0: text */
	bool is_signed;
};

/* The fields of a type that are kept, at most so many; the caller frees them. None of a type with
 * VALUES; those of ftrace's own calls only if graph, but for what the row says. NULL: memory is
 * out. */
struct convert_field *convert_fields_plan(const struct type *t, uint32_t most, bool graph,
					  uint32_t *n, uint64_t *lost);
/* Its value; 0 where the row does not have it. */
uint64_t convert_field_number(const struct convert_field *w, const struct event *ev);
/* Append it as text, strings as they are; nothing where the row does not have it. */
int convert_field_text(struct buffer *b, const struct convert_field *w, const struct event *ev);
/* Append all as details: arguments from 1 on; the only one of a return as its value. */
int convert_field_values(struct buffer *b, const struct convert_field *fields, uint32_t n,
			 const struct event *ev, bool leave);

/* --- names --- */

/* Append the name with each byte below 0x20, 0x7f, and each of `others` as \xHH; a backslash that
 * looks like one is written so too. So the name can be had back. */
int convert_name_escaped(struct buffer *b, const char *name, size_t n, const char *others);
/* Append a name, or a text, with each NUL as \x00 for targets where it ends there; what looks like
 * that is written so too. */
int convert_name_no_nul(struct buffer *b, const char *name, size_t n);
/* Cut an escaped name to at most n bytes behind from, not inside of an escape or a character. */
void convert_name_cut(struct buffer *b, size_t from, size_t n, uint64_t *cut);
/* Append an identifier: all but letters, digits and _ as _xHH, and so a first digit, and a _ that
 * looks like one. "" becomes "_x". */
int convert_name_identifier(struct buffer *b, const char *name, size_t n);

#endif

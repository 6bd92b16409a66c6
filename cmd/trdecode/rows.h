/*
 * rows.h - what decoders share: arguments, calls with a duration, sums of calls, rows that wait
 */
#ifndef TR_TRDECODE_ROWS_H
#define TR_TRDECODE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "common/stream/writer.h"
#include "common/util/intern.h"
#include "common/util/text_span.h"

/*
 * The names of the arguments of each function, which its location declares.
 *
 * For formats whose events name their arguments, each event its own. Where all events are read
 * before the first row is written, a location declares all arguments that events of its name have:
 * arguments_learn, then arguments_location_of and arguments_values. Arguments are optional, and
 * ends may have other arguments than their begins. So each location also declares the arguments of
 * events without a name, after its own.
 */

/* A function. Names are strings of the writer. */
struct argument_names {
	uint32_t *names;
	size_t count, capacity;
	uint32_t location; /* 0: not declared, or not with all names */
};

struct argument_table {
	struct key_map numbers; /* by name of the function: index + 1 */
	struct argument_names *functions;
	size_t count, capacity;
	/* of arguments_learn: numbers by function and name, from 1; the names of all functions */
	struct key_map pairs;
	struct intern names;
	uint64_t nameless; /* arguments that arguments_values left out */
};

/* Get the arguments of a function, none at first. The pointer is valid until the next call. NULL:
 * out of memory. */
struct argument_names *arguments_of(struct argument_table *t, uint32_t function);
/* Add a name. -1: out of memory. */
int arguments_add(struct argument_names *f, uint32_t name);
void arguments_free(struct argument_table *t);

/* Record that an event of a function has an argument with a name; at most 4096 names of a function
 * are recorded. -1: out of memory. */
int arguments_learn(struct argument_table *t, uint32_t function, uint32_t name);
/* Test whether any function has an argument with that name. */
static inline bool arguments_has(const struct argument_table *t, uint32_t name)
{
	return intern_find(&t->names, &name, sizeof name) != INTERN_NONE;
}
/* Get the name of a field of the decoder's own that no argument has: the text, followed by as many
 * _ as are needed. 0: out of memory. */
uint32_t arguments_free_name(const struct argument_table *t, struct writer *w, const char *text);
/* Get the location of a function with all names learnt. 0: out of memory. */
uint32_t arguments_location_of(struct argument_table *t, struct writer *w, uint32_t function);
/* Append the details (value.h) of named values of a function to a buffer. A named value is u32
 * name, u32 size, and the value. learn: learn the names, too, where each event is written before
 * the next is read; the function's location is declared again when it lacks one. -1: out of memory.
 */
int arguments_values(struct argument_table *t, uint32_t function, const uint8_t *values,
		     uint32_t size, bool learn, struct buffer *details);

/* Report the arguments that arguments_values left out. */
void arguments_report(const struct argument_table *t, const char *file);

/* Put the head of a STRUCT of a definition, or of an ARRAY (0), before its n values, which begin at
 * an offset. -1: out of memory. */
int arguments_put_head(struct buffer *b, size_t at, uint32_t definition, uint64_t n);
/* Declare the definitions of the STRUCTs in the details of the next row. -1: out of memory. */
int arguments_use_structs(struct writer *w, const struct buffer *details);

/*
 * Several values of one name in a list: the second u is u_2. Zero-initialised: no lists.
 */
struct name_uses {
	struct name_use {
		uint32_t list, count;
	} * uses; /* by name */
	size_t capacity;
	uint32_t list; /* the present one */
};

/* Begin a list. */
static inline void name_uses_begin(struct name_uses *u)
{
	u->list++;
}
/* Get another name for one that the list has. 0: out of memory. */
uint32_t name_uses_other(struct name_uses *u, struct writer *w, uint32_t name);
/* Get the name of the next value of the list. 0: out of memory. */
static inline uint32_t name_uses_next(struct name_uses *u, struct writer *w, uint32_t name)
{
	if (name >= u->capacity || u->uses[name].list == u->list)
		return name_uses_other(u, w, name);
	u->uses[name] = (struct name_use){u->list, 1};
	return name;
}
static inline void name_uses_free(struct name_uses *u)
{
	free(u->uses);
}

/* Declare a struct whose members have these names. 0: out of memory. */
uint32_t arguments_struct(struct writer *w, const uint32_t *names, size_t n);
/* Declare a function with arguments of these names. 0: out of memory. */
uint32_t arguments_location(struct writer *w, uint32_t function, const uint32_t *names, size_t n);

/*
 * Objects and arrays of JSON as values: STRUCTs and ARRAYs.
 */

struct json_reader;

/* The definitions of the objects of an input. Zero-initialised: none. */
struct nested_json {
	struct json_reader *json; /* owned; NULL: not used yet */
	struct buffer names;	  /* of the members of the open objects */
	struct id_cache declared; /* definitions, by the names of their members */
	uint32_t definitions;	  /* their number */
};

/* Append the object or array of a JSON text to a buffer. Returns 0; 1: the text is neither, or
 * exceeds the limits, and what was appended is of no use; -1: out of memory. */
int nested_json_put(struct nested_json *o, struct writer *w, const char *text, size_t n,
		    struct buffer *to);
void nested_json_free(struct nested_json *o);

/*
 * Calls of one event with a duration, the phase X of Chrome's formats: their ends in order, and
 * the rule of those that overlap others.
 *
 * The calls of a thread are a stack. An X that ends after the X around it overlaps that one, and so
 * does an X that is open when the B and E around it end: it is on no stack, and has a number. That
 * an E comes before the end of an X is known too late to write the enter of the X. So where a
 * thread may have X and B, all events are looked at before the first row is written, and
 * overlapping X are marked.
 */

/* The end of an open X. */
struct complete_end {
	uint64_t time, serial;
	uint32_t thread; /* the decoder's number of the thread, or of the track */
	uint32_t depth;	 /* depth of its frame; on no stack: a number of the decoder */
	bool overlaps;	 /* on no stack */
	bool kernel;	 /* on the stack of the thread's calls in the kernel */
};

/* The X of an input. */
struct complete_calls {
	struct complete_end *heap; /* ends of the open ones */
	size_t count, capacity;
	uint64_t serial; /* of the last X, in the order of times: from 1 */
	bool looking;	 /* no rows are written */
	uint8_t *marks;	 /* a bit for each X: it overlaps others; NULL: none is known to */
	size_t nmarks;
};

/* Add an end. -1: out of memory. */
int complete_calls_push(struct complete_calls *c, const struct complete_end *end);
/* Remove the earliest end; at one time that of the call that began last. */
struct complete_end complete_calls_pop(struct complete_calls *c);
/* Test for an X that overlaps others. limit: the earliest end of the calls around it; inexact:
 * times are truncated, and may seem to be 1 ns earlier. */
bool complete_calls_overlap(const struct complete_calls *c, const struct complete_end *end,
			    uint64_t limit, bool inexact);
/* While looking: note that an X overlaps others. -1: out of memory. */
int complete_calls_mark(struct complete_calls *c, uint64_t serial);
/* Begin again at the first X, after all events were looked at. */
void complete_calls_rewind(struct complete_calls *c);
void complete_calls_free(struct complete_calls *c);
/* Report calls that ended with the call around them. */
void complete_calls_clipped(const char *file, uint64_t calls);

static inline uint64_t complete_calls_next(const struct complete_calls *c)
{
	return c->count ? c->heap[0].time : UINT64_MAX;
}

/* Test for an end outside of the calls around it. */
static inline bool complete_ends_outside(uint64_t end, uint64_t limit, bool inexact)
{
	return end > limit && end - limit > inexact;
}

/*
 * Frames of stacks in text: "name+0x12 (file)" of perf script, "file(name+0x12)" of strace -k.
 */

/* A frame. A function that the recorder did not know is "" or "[unknown]". */
struct text_frame {
	struct text_span function, file;
	uint64_t address, offset; /* offset: in the function */
};

/* Take "+0x12" off the end of the function. */
void text_frame_take_offset(struct text_frame *f);
/* Test for the name of a function. */
static inline bool text_frame_is_known(struct text_span function)
{
	return span_size(function) && !span_is(function, "[unknown]");
}
/* Declare the location of a frame, with its symbol, in the space of its file. spaces: by file. A
 * function that is not known has the name of its file: "[libc.so.6]". 0: out of memory. */
uint32_t text_frame_location(struct writer *w, uint32_t source, struct id_cache *spaces,
			     const struct text_frame *f);

/*
 * Instants that trencode wrote for gaps become gaps again.
 *
 * An instant with the name CHROME_GAP and the category CHROME_GAP_CATEGORY
 * (common/formats/chrome.h) is a gap if one of its arguments is the reason.
 */

/* A gap and its texts. */
struct gap_arguments {
	struct gap gap;
	bool has_reason;
	int32_t cpu; /* of a gap of no thread in Perfetto's format; -1 none */
	char file[1024 + 1], message[1000 + 1]; /* as much as writer_gap writes */
};

/* Read a gap from named values, as arguments_values takes them. Returns false if there is no
 * reason.
 */
bool gap_arguments_read(struct gap_arguments *a, const struct writer *w, const uint8_t *values,
			uint32_t size);

/*
 * Sums of calls, as profiles record that count by function and by caller: trstream(5), TOTAL.
 */

struct text_span;

/* Get the ns of a unit of time, as profilers spell them; 0: the unit is of no time. */
uint64_t profile_time_unit(struct text_span unit);

enum { CALL_SUM_MORE = 1 }; /* fields of the decoder's own */

struct call_sum {
	int64_t self, total;
	uint64_t calls;
	uint64_t more; /* the decoder's own field, if the type has one */
};

/* Declare the type of the sums of one kind of cost. e: its source, name and flags, and up to
 * CALL_SUM_MORE fields of 8 bytes, whose places are set. 0: out of memory. */
uint32_t call_sum_type(struct input *in, struct type_entry e);
/* Write a sum. r: its time, lane, type and stack, and the size of the further fields. */
static inline int call_sum_write(struct writer *w, struct new_row r, const struct call_sum *sum)
{
	uint8_t fixed[24 + 8 * CALL_SUM_MORE];

	put_u64(fixed, (uint64_t)sum->self);
	put_u64(fixed + 8, (uint64_t)sum->total);
	put_u64(fixed + 16, sum->calls);
	put_u64(fixed + 24, sum->more);
	r.fixed = fixed;
	r.fixed_size += 24;
	return writer_sample(w, r);
}

/*
 * Rows that wait for their times.
 *
 * Rows may be added in any order; those of the same time are written in the order of their
 * addition. At most ROW_QUEUE_ROWS rows and about ROW_QUEUE_BYTES bytes wait; then the earliest
 * are written. A zero-initialised queue is empty. Functions that return int return 0, or -1 when
 * out of memory, or with the writer's error.
 */

enum { ROW_QUEUE_ROWS = 1 << 18, ROW_QUEUE_BYTES = 64 << 20 };

struct queued_row;

struct row_queue {
	struct writer *w;
	struct queued_row **rows; /* a heap */
	size_t count, capacity, bytes;
	uint64_t added;
};

/* What a row needs to be declared before it. */
struct row_needs {
	const uint8_t *definitions; /* u32 each; bytes: their size */
	size_t bytes;
	uint32_t stack; /* 0: none */
};

/* Declare them. */
static inline int row_needs_use(const struct row_needs *n, struct writer *w)
{
	for (size_t i = 0; i < n->bytes; i += 4)
		if (writer_use_definition(w, get_u32(n->definitions + i)))
			return -1;
	return n->stack ? writer_use_stack(w, n->stack) : 0;
}

/* Add a row. Its data is copied. */
int row_queue_put(struct row_queue *q, const struct new_row *r, const struct row_needs *needs);
/* Write the rows up to and including a time. */
int row_queue_write(struct row_queue *q, uint64_t until);
/* Return the time of the first row; UINT64_MAX: there is none. */
uint64_t row_queue_next(const struct row_queue *q);
void row_queue_free(struct row_queue *q);

/* --- writes the names of processes as a META part (common/formats/process_names.h) --- */

/* Write the part of a source, unless there are no names. names: by pid, an int32_t, strings of the
 * writer; 0 none. Returns 0, or -1 when out of memory or with the writer's error. */
int process_names_write(struct writer *w, uint32_t source, const struct id_cache *names);

/* --- types of samples --- */

/* Declare a type of samples with one field, their weight. type: its source, name, group, native id
 * and TYPE_WEIGHT_TIME. is_signed: weights may be below 0. Returns 0 when out of memory, or with
 * the writer's error. */
uint32_t sample_type_declare(struct decoding *d, struct type_entry type, const char *weight,
			     bool is_signed);

#endif

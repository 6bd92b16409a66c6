/*
 * kernel_text.h - the decoder of the kernel's trace text: what its files share
 *
 * Read are the files trace and trace_pipe of tracefs, the text of `trace-cmd report` (with and
 * without -R, -N, -t, -l), function and function_graph text, and Android's systrace as text and in
 * HTML. kernel_line.h has the grammar of a line.
 *
 * A type of the stream is the name of an event and the fields that its text has. The text declares
 * none, so a type is declared with its first event: "KEY=VALUE" is a field. Numbers, decimal or
 * hexadecimal with 0x, are fields of 8 bytes; all other values, and those of the keys in
 * kernel_fields.c, are text. If a later value is no number, the event and all after it have another
 * type of the same name, in which the field is text. Text before the first key is the field
 * message. Text without a key, and that of print, bprint and bputs, is the message. Texts of
 * another form are in kernel_line.c, but for the tracer blk.
 *
 * funcgraph_entry and funcgraph_exit are an enter and a leave. "NAME();" is both: the leave comes
 * after the duration, or before the next event of the CPU. A leave without a name ends the call
 * that its thread has open at its depth; the kernel names the function if its enter was lost. Text
 * of function_graph without times has the sums of the durations, for each CPU.
 *
 * Text of a thread written to trace_marker may be a mark of atrace (atrace.h): a call, an
 * instant, a counter or an asynchronous call.
 */
#ifndef TR_TRDECODE_KERNEL_TEXT_H
#define TR_TRDECODE_KERNEL_TEXT_H

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/kernel_line.h"
#include "common/util/intern.h"

struct atrace;

enum {
	FTRACE_FIELDS_MOST = 48,
	FTRACE_VARIANTS_MOST = 32, /* types of one name; further events have only a message */
	FTRACE_LEAVES_MOST = 1024,
	FTRACE_FRAMES_MOST = 4096, /* open calls of a thread whose names are kept */
	FTRACE_STACK_MOST = 128,
	FTRACE_ARGUMENTS_MOST = 64,
	FTRACE_SYSCALL_ARGUMENTS = 6,
};

/* A field of an event: KEY=VALUE. */
struct ftrace_value {
	struct text_span key, text;
	uint8_t kind;  /* enum field_kind: UINT, INT, HEX or STRING */
	uint8_t count; /* of the numbers of an array; 0: a single value */
	uint64_t number;
	const uint64_t *numbers; /* of an array */
};

/* A type that was declared for the events of a name. */
struct ftrace_type {
	uint32_t type;
	uint32_t next; /* number + 1 of another type of the name; 0: none */
	uint32_t nfields;
	/* Number + 1 of a variant of the name that has these fields and more; 0: none */
	uint32_t longer;
	uint8_t words;	/* events, up to a limit */
	bool spaced;	/* the last value of one of them has a blank */
	uint8_t closed; /* events whose last value has a bracket, a quote or a unit as its end */
	bool goes_on;	/* an event has further lines */
	uint64_t count; /* events with KEY=VALUE */
	struct {
		uint32_t name; /* in ftrace.names */
		uint8_t kind, count;
	} * fields;
};

/* The calls of a thread that are open. */
struct ftrace_thread {
	uint32_t *frames; /* locations by depth; 0: unknown */
	size_t nframes, frames_capacity;
};

/* The leave of a call that was one line. */
struct ftrace_leave {
	uint64_t time;
	uint32_t lane, location, depth;
	int32_t cpu;
	uint32_t type;
	struct buffer tail;
};

/* What function_graph text without times and threads gives for a CPU. */
struct text_cpu {
	uint64_t now;	 /* ns: the sum of its durations */
	uint64_t *began; /* times of the open calls by depth */
	size_t nbegan, capacity;
	int32_t tid;
	uint32_t comm; /* in ftrace.names, + 1 */
};

struct ftrace_lane {
	uint32_t lane, thread;
	int32_t cpu, tid, tgid;
	uint32_t comm, instance; /* in ftrace.names */
};

enum { FTRACE_LANE_SLOTS = 256 };

/* The heading of the text, as far as it was read. */
enum ftrace_heading {
	HEADING_NONE,
	HEADING_PART,
	HEADING_LATENCY, /* the first line; the next one may be the last */
	HEADING_WHOLE,
};

struct ftrace {
	struct input *input;
	struct writer *w;
	struct input_lines lines;
	struct ftrace_packed *packed; /* the text is not that of the input; NULL: it is */
	struct intern names;	      /* texts that are kept */
	struct {
		struct id_cache lanes, threads, locations, plain_types;
		struct id_cache names; /* of events: 1 + number of the first of types */
		struct ftrace_lane recent[FTRACE_LANE_SLOTS];
		struct ftrace_type *types;
		size_t ntypes, types_capacity;
		uint8_t *bases; /* by name of a field: UINT or HEX, as its first number; +1; 0: none
				 */
		size_t nbases;
		struct ftrace_thread *thread;
		size_t nthreads, threads_capacity;
		struct text_cpu *cpu;
		size_t ncpus, cpus_capacity;
		struct key_map cpus;
		uint32_t source, clock, group;
		struct kernel_names *kernel;
	} declared; /* by what they are of */

	/* the line after the row */
	struct ftrace_line line;
	struct text_span whole;
	uint64_t offset;
	bool held;
	struct {
		struct text_span text; /* the second event of the line; empty: there is none */
		uint64_t offset;
	} rest;

	struct {
		uint64_t time;
		uint32_t lane, type, location, depth;
		uint32_t stack; /* of a field with ROLE_STACK; 0: none */
		bool has_tail;
		bool instant_text; /* the tail ends with a text that may go on in the next line */
		bool fresh;	   /* it is the first with its fields */
		bool odd;	   /* though others have its name; or it lacks its end */
		bool mark;	   /* its text was written to trace_marker, or by trace_printk */
		bool goes_on;	   /* it has further lines */
		bool early;	   /* it ends within a key, unless it goes on */
		uint32_t variant;  /* number + 1 of its type, if its text is KEY=VALUE */
		uint64_t offset;   /* of its line */
		int32_t cpu;
		uint64_t arguments[FTRACE_SYSCALL_ARGUMENTS]; /* of sys_enter */
		struct buffer fixed, tail;
	} row; /* ready to be written */
	bool has_row;
	struct {
		bool wanted; /* the row is a stack */
		uint32_t frames[FTRACE_STACK_MOST];
		size_t count;
		char end; /* the last character of the last frame of any stack */
	} stack;
	struct ftrace_leave *leave; /* of the row itself; NULL: none */
	struct ftrace_leave *leaves[FTRACE_LEAVES_MOST];
	size_t nleaves;
	struct ftrace_value values[FTRACE_FIELDS_MOST];
	size_t nvalues;
	struct atrace *marks;

	enum line_clock clock;
	bool graph; /* the heading names the tracer function_graph */
	struct {
		bool heading; /* and no event after it */
		bool graph;   /* lines of function_graph */
		bool columns; /* such lines with a column before the call */
		bool unnamed; /* events without a name, not of the tracer function */
		bool parent;  /* functions with their caller */
		bool call;    /* calls */
		bool ip;      /* print with the place where it was called */
		enum ftrace_heading first;
	} seen;
	bool html, outside; /* outside: of the trace in a page */
	/* events lost before the next row; UINT64_MAX: unknown */
	struct {
		uint64_t count;
		int32_t cpu;
	} lost;
	uint64_t events, strange; /* strange: lines that were not understood */
	uint64_t heading;	  /* lines before the first event */
};

/* Functions that return int return 0, or -1 when out of memory or the output failed. */

/* --- lines --- */

/* Count a line that was not understood, and report the first. */
void ftrace_strange(struct ftrace *f);
/* Read the next line that has a meaning. Returns 1; 0: no more lines; -1 with *e filled. */
int ftrace_next_line(struct ftrace *f, struct error *e);
/* Take the frames and the further lines of the row, up to the next event. Returns as
 * ftrace_next_line. */
int ftrace_take_rest(struct ftrace *f, struct error *e);

/* Find out whether a text without events is a trace. Returns 0, and reports damage if the heading
 * is not whole; -1 with *e filled. */
int ftrace_heading_check(struct ftrace *f, struct error *e);

/* --- events of KEY=VALUE without their end --- */

/* Test whether the values, which are those of the variant, have no end. Else f->row.early may be
 * set. */
bool ftrace_cut_event(struct ftrace *f, struct ftrace_type *t);
/* Count an event of the variant, which is the row. */
void ftrace_cut_count(struct ftrace *f, struct ftrace_type *t);
/* Drop the row, and report it. */
void ftrace_cut_damage(struct ftrace *f, uint64_t offset);
/* Test whether the last value of the row is a word, as all of its type are. */
bool ftrace_cut_is_word(const struct ftrace *f);
/* Test whether most events of the row's name have more fields. */
bool ftrace_cut_lacks(const struct ftrace *f);
/* Test whether a text without a name is the begin of one. */
bool ftrace_cut_name(const struct ftrace *f, struct text_span text);

/* Test whether a last line without a newline, of which a row was made, was cut: its call, bracket
 * or stack has no end, others of its name have other fields, or it has nothing after its time or
 * its name. */
bool ftrace_row_cut(const struct ftrace *f, const struct ftrace_line *l);

/* --- text in a page, or compressed --- */

/* Test for the first bytes of the text of `atrace -z`. */
bool ftrace_is_packed(const char *head, size_t n);
/* Have f->lines read the text in the input. */
int ftrace_packed_open(struct ftrace *f, struct error *e);
void ftrace_packed_close(struct ftrace *f);

/* --- events with a name --- */

/* Make the fields in values from a text. */
void ftrace_split(struct ftrace *f, struct text_span text);
/* Make the row of an event with the fields in values. like: the kind, flags and group of its type;
 * NULL: an instant. With CALL_NUMBER the fixed part of the row has the number of the call already.
 */
int ftrace_typed(struct ftrace *f, struct text_span name, const struct type_entry *like);
/* As ftrace_typed, for texts of KEY=VALUE, which may lack their end: then there is no row. */
int ftrace_keyed(struct ftrace *f, struct text_span name, const struct type_entry *like);
/* Add a field to values. number: the text may be a number. */
void ftrace_value_add(struct ftrace *f, const char *key, struct text_span text, bool number);
/* Find the end of a string, whose first quote is at s.at: the first quote after which is_end finds
 * that a value ends, if possible one without a backslash before it. The kernel prints a string as
 * it is, so it may have quotes. NULL: it has no end. */
const char *ftrace_string_end(struct text_span s, bool (*is_end)(struct text_span after));
/* Read a number with an optional 0x or sign. false: it is none. */
bool ftrace_number(struct text_span s, uint8_t *kind, uint64_t *number);

/* --- the texts of events --- */

/* Take "NAME:" off the beginning of a text. An empty name: there is none. */
struct text_span ftrace_take_name(struct text_span *text);
/* Test for the name of an event whose text was written to trace_marker, or by trace_printk. */
bool ftrace_is_mark(struct text_span name);

/* Of the events whose texts have a form the fields are added to values. */

/* Read the text of an event with a name. false: it has no form, and no field was added. */
bool ftrace_form_values(struct ftrace *f, struct text_span name, struct text_span text);
/* Read a text without a name. false: it is of no tracer known. */
bool ftrace_form_unnamed(struct ftrace *f, struct text_span text, struct text_span *name);

/* Declare the location of a frame: "NAME+OFFSET", "NAME (ADDRESS)". 0: out of memory. */
uint32_t ftrace_frame(struct ftrace *f, struct text_span text);

#endif

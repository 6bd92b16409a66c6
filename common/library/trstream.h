/*
 * trstream.h - reads and writes the event stream of trutils: the only header of libtrstream
 *
 * The interface may change in each release before 1.0. trstream(3) has examples. An object may be
 * used by one thread at a time.
 */
#ifndef TRSTREAM_H
#define TRSTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Get the version of the library, such as "0.1". */
const char *trstream_version(void);

enum trstream_kind {
	TRSTREAM_INSTANT,
	TRSTREAM_ENTER,
	TRSTREAM_LEAVE,
	TRSTREAM_COUNTER,
	TRSTREAM_GAP,	     /* says that events are missing */
	TRSTREAM_SAMPLE = 6, /* a stack with a weight */
};

enum trstream_form {
	TRSTREAM_NONE, /* no value, or a struct or an array */
	TRSTREAM_INT,
	TRSTREAM_UINT,
	TRSTREAM_REAL,
	TRSTREAM_TEXT,
};

/* The value of a field, an argument or a return value. */
struct trstream_value {
	enum trstream_form form;
	int64_t i;	  /* INT, UINT: the number; UINT also in u */
	uint64_t u;	  /* INT, UINT: the number; INT in two's complement */
	double real;	  /* REAL */
	const char *text; /* TEXT, or the label of a number; else NULL. May lack a NUL at its end */
	size_t size;	  /* bytes of text */
};

/* --- reading --- */

struct trstream_reader;

/* A call: an enter and the leave that ends it. Times are in the unit of its thread's clock. */
struct trstream_call {
	const char *name;   /* of the function; "<0>" unknown */
	const char *caller; /* function of the call below, "" none or unknown */
	const char *comm;   /* name of the thread, "" unknown */
	int cpu, tid, pid;  /* -1 unknown */
	uint64_t start, end;
	uint64_t dur, self; /* end - start; dur less the time of its callees */
	uint32_t depth;	    /* calls of its thread that are open below */
	bool recursive;	    /* a call of the same function is open below */
	bool unfinished;    /* the call is open at the end of the stream */
	bool ticks;	    /* the times are ticks, not ns */
};

struct trstream_event {
	enum trstream_kind kind;
	uint64_t time;			  /* ns of the thread's clock, or ticks */
	bool ticks;			  /* the time is in ticks */
	const char *type, *group;	  /* such as "sched_switch" and "sched"; "" none */
	const char *name;		  /* function of an enter or a leave, innermost one of a
					     sample; "" none */
	const char *comm;		  /* name of the thread, "" unknown */
	const char *clock, *input;	  /* name of the clock; of the trace as the user named it */
	int cpu, tid, pid;		  /* -1 unknown */
	uint32_t depth;			  /* calls that are open below an enter or a leave */
	uint32_t nfields;		  /* fields of its type */
	const struct trstream_call *call; /* the call that a leave ends; NULL: none */
	uint64_t weight;		  /* of a sample, in the unit of its type; of a type whose
					     field of the weight is an INT, an int64_t */
	uint32_t frames;		  /* of a sample: number of frames of its stack */
	uint64_t lost;			  /* of a gap: units missing, UINT64_MAX unknown */
	const char *reason, *unit;	  /* of a gap, such as "lost" and "events"; else "" */
};

/* What the END blocks of the streams contain. */
struct trstream_totals {
	uint64_t events, gaps; /* all events with gaps; gaps */
	uint64_t lost;	       /* events lost by the recorders */
	bool lost_more;	       /* more were lost than could be counted */
	int status; /* 0; 1: input is damaged; 2: reading failed, or a program before did */
};

/* Open a stream; path "-" is standard input. Returns NULL with errno set. */
struct trstream_reader *trstream_reader_open(const char *path);
/* Read from a descriptor, which the reader owns, also after errors. name: for messages. */
struct trstream_reader *trstream_reader_open_fd(int fd, const char *name);
/* Free the reader and all that it returned. r may be NULL. */
void trstream_reader_close(struct trstream_reader *r);

/*
 * Read the next event. Returns 1; 0: the end; -1: damage or a failure, described by
 * trstream_reader_error. After -1 the caller may call again: reading continues after the damage,
 * and returns 0 where that is not possible. Names in e are valid until trstream_reader_close, and
 * e->call until the next event.
 */
int trstream_reader_next(struct trstream_reader *r, struct trstream_event *e);

/* Read events up to the end of the next call. After the last event the unfinished calls follow.
 * Returns as trstream_reader_next does. */
int trstream_reader_next_call(struct trstream_reader *r, struct trstream_call *c);

/*
 * Get a value of the last event by the name of a field, or as "arg.1", "arg.NAME", "ret": an
 * argument by its number or name, the return value. "FIELD.name" is the label of a number as a
 * TEXT, else the number. false: the event has no such value. A stack is the text "a;b;c", outermost
 * function first. Texts are valid until the next call of a function for r.
 */
bool trstream_reader_field(struct trstream_reader *r, const char *name, struct trstream_value *v);
/* Get the name and value of a field of the last event by its number from 0; NULL: no more. An array
 * has the value of its first element. */
const char *trstream_reader_field_at(struct trstream_reader *r, uint32_t number,
				     struct trstream_value *v);

/* Get the function of a frame of the last event, a sample, by its number from 0, the innermost one.
 * NULL: no more. */
const char *trstream_reader_frame(struct trstream_reader *r, uint32_t number);

/* Describe the last -1: "FILE: 0xOFFSET: what". Valid until the next call of a function for r. */
const char *trstream_reader_error(struct trstream_reader *r);
/* Get where the last -1 was: the file, "" none, and the offset in the file, UINT64_MAX none. */
const char *trstream_reader_error_place(struct trstream_reader *r, uint64_t *offset);
/* Get the totals of all that was read; complete after the end. */
void trstream_reader_totals(const struct trstream_reader *r, struct trstream_totals *t);

/* --- reading columns --- */

enum trstream_table {
	TRSTREAM_EVENTS,  /* in the order of the stream */
	TRSTREAM_CALLS,	  /* in the order of their ends; those that are open at the end are last */
	TRSTREAM_SAMPLES, /* events of the kind SAMPLE */
};

/* What trstream_reader_next_batch reads. */
struct trstream_query {
	enum trstream_table table;
	uint32_t ncolumns;
	const char *const *columns; /* names: columns of the table, else fields of the events */
	uint32_t ntypes;
	const char *const *types;  /* events, and calls whose leaves are, of these types; without
				      ntypes of all */
	const char *since, *until; /* times in [since, until), as options of the programs: "+1.5s";
				      calls are clipped. NULL: no limit */
};

/* A column of a batch. */
struct trstream_column {
	/* INT, UINT: integers of size bytes (of a field UINT only if one is above INT64_MAX); REAL:
	   doubles; TEXT: uint32_t, numbers for trstream_reader_text; NONE: no row of the batch has
	   a value, and values is NULL */
	enum trstream_form form;
	uint32_t size; /* of an element, in bytes */
	const void *values;
	const uint8_t *missing; /* 1 for each row without a value, else 0; NULL: all have one */
};

/* Some rows of a table, those of one block of the stream. */
struct trstream_batch {
	size_t rows;
	uint32_t ncolumns;
	const struct trstream_column *columns; /* as in the query */
};

/*
 * Choose what trstream_reader_next_batch reads, once, before the first event. The query is copied.
 * Returns 0, or -1: the query is wrong, or out of memory (trstream_reader_error).
 *
 * Columns of all tables: time (of a call: of its enter), type, group, kind, name, cpu, tid, pid,
 * comm, clock, time_unit ("ticks" or ""), input, module, file, line. Of EVENTS and CALLS: depth. Of
 * EVENTS and SAMPLES: weight, stack (a number for trstream_reader_stack). Of EVENTS: lost (of a
 * gap). Of CALLS: dur, self, caller, recursive, unfinished. Any other name, and each name after a
 * point, is a field as of trstream_reader_field; a call has those of its leave.
 */
int trstream_reader_select(struct trstream_reader *r, const struct trstream_query *q);
/* Read the rows of the next block that has any. Returns 1; 0: the end; -1 as trstream_reader_next
 * does. At the end -1 may also say that no event of the stream has a column or a type of the query.
 * The caller frees the batch, which may outlive the reader. */
int trstream_reader_next_batch(struct trstream_reader *r, struct trstream_batch **b);
void trstream_batch_free(struct trstream_batch *b);
/* Get a text by its number in columns, which is valid for all batches; size: without the NUL at its
 * end. Texts are valid until trstream_reader_close. NULL: there is no such number. */
const char *trstream_reader_text(const struct trstream_reader *r, uint32_t number, size_t *size);
/* Get the innermost frame of a stack of a column, as the number of the text of its function, and
 * the stack of its caller, 0: none. false: there is no such stack, or out of memory. */
bool trstream_reader_stack(struct trstream_reader *r, uint32_t stack, uint32_t *name,
			   uint32_t *caller);

/* --- writing --- */

struct trstream_writer;

struct trstream_field {
	const char *name;
	enum trstream_form form; /* all but NONE */
};

/*
 * Begin a stream. path: the file, which appears when trstream_writer_close succeeds; "-": standard
 * output. name: of the traced program. clock: "mono", "wall" or another name; streams are merged
 * only if their clocks have the same name. Returns NULL with errno set.
 */
struct trstream_writer *trstream_writer_open(const char *path, const char *name, const char *clock);

/* Declare a thread. cpu, tid, pid: -1 unknown. comm: its name, may be NULL. Returns its id, equal
 * for equal arguments; 0: an error. */
uint32_t trstream_writer_thread(struct trstream_writer *w, int cpu, int tid, int pid,
				const char *comm);
/* Declare a type of events, of any kind but GAP, with at most 1000 fields. Each call declares
 * another type. A UINT field "weight" of a SAMPLE is its weight, which is 1 without it. Returns its
 * id; 0: an error. */
uint32_t trstream_writer_type(struct trstream_writer *w, enum trstream_kind kind, const char *name,
			      const struct trstream_field *fields, uint32_t nfields);

/*
 * Write an event that is no sample. Times are ns, below 2^62, and no event is earlier than the one
 * before it. name: the function of an enter or a leave, else NULL. values: one for each field of
 * the type; TEXT ends at its size, or at its first NUL. Functions below return 0, or -1
 * (trstream_writer_error); after an error of the output they all return -1.
 */
int trstream_writer_event(struct trstream_writer *w, uint64_t time, uint32_t thread, uint32_t type,
			  const char *name, const struct trstream_value *values);
/* Write the enter and the leave of a call without arguments. */
int trstream_writer_enter(struct trstream_writer *w, uint64_t time, uint32_t thread,
			  const char *name);
int trstream_writer_leave(struct trstream_writer *w, uint64_t time, uint32_t thread,
			  const char *name);
/* Get the stack of a function that the frame of another stack calls; caller 0: an outermost frame.
 * Equal arguments give the same stack. Returns its id; 0: an error. */
uint32_t trstream_writer_stack(struct trstream_writer *w, uint32_t caller, const char *name);
/* Write an event of a type of kind SAMPLE. stack: 0 not known. */
int trstream_writer_sample(struct trstream_writer *w, uint64_t time, uint32_t thread, uint32_t type,
			   uint32_t stack, const struct trstream_value *values);
/* Write that events were lost at a time; UINT64_MAX: an unknown number. */
int trstream_writer_lost(struct trstream_writer *w, uint64_t time, uint32_t thread, uint64_t count);

/* Describe the last error. */
const char *trstream_writer_error(struct trstream_writer *w);
/* End the stream and free the writer. failed: NULL, or why the trace is incomplete: then programs
 * that read the stream report it and exit 2, and no file is written. -1: errno is set. */
int trstream_writer_close(struct trstream_writer *w, const char *failed);

#ifdef __cplusplus
}
#endif

#endif

/*
 * apitrace.h - inside the decoder of apitrace's .trace files
 *
 * The trace is read event by event from the bytes that unpack provides. Functions that read
 * return 0, or -1 with apitrace.failure set.
 */
#ifndef TR_TRDECODE_APITRACE_APITRACE_H
#define TR_TRDECODE_APITRACE_APITRACE_H

#include "cmd/trdecode/input/unpack.h"
#include "common/util/buffer.h"
#include "common/formats/apitrace.h"
#include "common/util/idmap.h"
#include "common/util/intern.h"
#include "common/calls/open_calls.h"
#include "cmd/trdecode/decoder.h"

enum {
	APITRACE_NAME_LIMIT = 64 * 1024,   /* bytes of a name in a definition */
	APITRACE_NAMES_LIMIT = 32000,	   /* names of one definition */
	APITRACE_ARGUMENT_LIMIT = 4096,	   /* index of an argument */
	APITRACE_NESTING = 100,		   /* nesting of values, below VALUE_DEPTH */
	APITRACE_THREAD_LIMIT = INT32_MAX, /* highest thread id */
	APITRACE_OPEN_LIMIT = 1 << 18,	   /* open calls that are remembered */
	APITRACE_HEADER_LIMIT = 1 << 20,
	APITRACE_TRACES_LIMIT = 1 << 14, /* traces of one file: each is kept to the end */
	APITRACE_DEFINITIONS_LIMIT = 256 * 1024 * 1024, /* bytes of all definitions */
	APITRACE_VALUES_LIMIT = MAX_VALUE,		/* bytes of one event's values */
	APITRACE_FIELDS_MOST = 3,			/* fields of a type */
};

enum apitrace_failure {
	FAILURE_NONE,
	FAILURE_END,   /* the data ended inside an element */
	FAILURE_BAD,   /* the data is invalid: see message */
	FAILURE_FATAL, /* reading or writing failed, or out of memory: see error */
};

/* A function, defined at its first call. */
struct apitrace_function {
	uint32_t location, names; /* names: number of arguments */
	uint32_t name;		  /* a string of the writer */
	unsigned known;		  /* enum apitrace_known */
};

/* A struct, defined at its first use. */
struct apitrace_struct {
	uint32_t definition, members;
};

/* A frame of backtraces, defined at its first use. */
struct apitrace_frame_ids {
	uint32_t definition, location;
};

/* The elements of one of the five kinds that have ids. */
struct apitrace_ids {
	uint32_t *direct; /* low ids to index + 1 */
	size_t direct_size;
	struct idmap map; /* the other ids */
	void *at;
	size_t count, capacity;
};

/* What --info counts. */
struct apitrace_totals {
	uint64_t calls, incomplete, frames, threads, traces;
	uint64_t left_out; /* rows without values that were too large */
	char api[32];
};

struct apitrace_definitions {
	struct apitrace_ids functions, structs, enums, bitmasks, frames;
	uint64_t defined; /* bytes of definitions */
};

/* The values of the current event. */
struct apitrace_values {
	size_t limit;	       /* bytes that are kept */
	struct buffer tail;    /* the encoded values */
	size_t detail;	       /* offset in tail of the current detail */
	uint32_t arguments;    /* highest number of an argument in tail, from 1 */
	bool lost_bits;	       /* a number was longer than 64 bits */
	bool too_large;	       /* a detail was left out */
	struct buffer used;    /* ids of definitions in tail */
	struct buffer frames;  /* locations of the backtrace, innermost first */
	struct buffer members; /* scratch */
};

/* A trace that is decoded. */
struct apitrace {
	struct input *input;
	struct writer *w; /* NULL: --info, which only counts */
	struct unpack unpack;
	enum apitrace_failure failure;
	char message[256];
	struct error error;

	uint64_t version, semantic;
	struct buffer header;  /* unchanged, without an incomplete property */
	struct buffer headers; /* if w is NULL: headers of all traces of the file, up to a limit */

	uint64_t tick;
	uint32_t call, frame; /* numbers of the next enter and of the current frame */
	uint32_t source, clock, enter, leave, traced; /* traced: enters with a backtrace */
	uint32_t last_thread, last_lane;
	struct idmap lanes; /* lane ids by thread */
	struct apitrace_definitions ids;
	struct open_calls open;
	struct apitrace_values values;
	struct apitrace_totals totals;
	/* the profile that gives the times; NULL: none */
	struct apitrace_timed {
		struct glprofile *profile;
		uint32_t name;	       /* of the function of the present enter */
		uint32_t enters[2][4]; /* types of enters with its fields: with a stack; variants */
		struct open_calls unknown; /* times of the enters without a time of the profile */
	} timed;
	bool segments; /* the stream may have several segments: each needs its definitions */
	bool done;
};

/* --- read.c: numbers and strings --- */

/* Unpack more bytes. */
int apitrace_refill(struct apitrace *a);
/* Set FAILURE_BAD and the message; return -1. */
int apitrace_bad(struct apitrace *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int apitrace_no_memory(struct apitrace *a);
int apitrace_uint_slow(struct apitrace *a, uint64_t *n);
/* Read a name, and set *id to the writer's string. */
int apitrace_name(struct apitrace *a, uint32_t *id);
/* Append the bytes of a name to b. */
int apitrace_text(struct apitrace *a, struct buffer *b, size_t limit);
/* Return the offset in the unpacked trace. */
uint64_t apitrace_offset(const struct apitrace *a);

static inline int apitrace_byte(struct apitrace *a, uint8_t *byte)
{
	if (__builtin_expect(a->unpack.at == a->unpack.end, 0) && apitrace_refill(a))
		return -1;
	*byte = *a->unpack.at++;
	return 0;
}

static inline int apitrace_uint(struct apitrace *a, uint64_t *n)
{
	const uint8_t *p = a->unpack.at;

	if (__builtin_expect(a->unpack.end - p >= 3, 1)) {
		if (p[0] < 0x80) {
			*n = p[0];
			a->unpack.at = p + 1;
			return 0;
		}
		if (p[1] < 0x80) {
			*n = (p[0] & 0x7fu) | (uint32_t)p[1] << 7;
			a->unpack.at = p + 2;
			return 0;
		}
		if (p[2] < 0x80) {
			*n = (p[0] & 0x7fu) | (p[1] & 0x7fu) << 7 | (uint32_t)p[2] << 14;
			a->unpack.at = p + 3;
			return 0;
		}
	}
	return apitrace_uint_slow(a, n);
}

/* --- signatures.c: read an id, and at its first use its definition --- */

int apitrace_function(struct apitrace *a, struct apitrace_function **f);
int apitrace_struct(struct apitrace *a, struct apitrace_struct **s);
int apitrace_enum(struct apitrace *a, uint32_t *definition);
/* Read an enum of a version before 3, where an id is defined as one name and value. */
int apitrace_enum_value(struct apitrace *a, uint32_t *definition, int64_t *value);
int apitrace_bitmask(struct apitrace *a, uint32_t *definition);
int apitrace_frame(struct apitrace *a, struct apitrace_frame_ids *frame);
void apitrace_forget(struct apitrace *a);

/* --- quick.c --- */

/* Convert details into tail, up to the first that is not small and simple. true: all details. */
bool apitrace_quick_details(struct apitrace *a);
/* Write events directly into the writer's block, while they are small and simple and not later than
 * until. true: the next event is later; false: apitrace_event must convert the next event. */
bool apitrace_quick_events(struct apitrace *a, uint64_t until);

/* --- values.c --- */

/* Convert the details of an event into tail. */
int apitrace_details(struct apitrace *a);
/* Read a tagged integer. */
int apitrace_sint(struct apitrace *a, int64_t *n);

/* --- header.c --- */

/* Read the header of a trace. FAILURE_END: the fields that were read are set. */
int apitrace_header(struct apitrace *a);
/* Read the headers of further traces, from processes that wrote to the same file; event: the first
 * byte, which is not an event. Such a header has a version of at least 2, and an event, another
 * header or the end of the file follows it. */
int apitrace_other_traces(struct apitrace *a, uint8_t event);

/* --- events.c --- */

/* Describe a type of rows; stacks: they have a stack. fields: array of APITRACE_FIELDS_MOST. */
void apitrace_type(struct apitrace *a, enum type_kind kind, const char *name, bool stacks,
		   struct type_entry *e, struct field_entry *fields);
/* Declare the trace whose header was read. */
int apitrace_declare(struct apitrace *a);
/* Count the calls that are open at the end of a trace, and the frames that they end. */
void apitrace_count_open(struct apitrace *a);
/* Pack what is kept of an open call: its function and its lane. */
static inline uint64_t apitrace_remember(const struct apitrace *a,
					 const struct apitrace_function *f, uint32_t lane)
{
	uint64_t index = (uint64_t)(f - (const struct apitrace_function *)a->ids.functions.at);

	return (index + 1) << 32 | lane;
}

/* Convert one event. 1: done; 0: the trace has ended, and damage was reported; -1: fatal, see
 * error. */
int apitrace_event(struct apitrace *a);

#endif

/*
 * apitrace.h - a .trace being decoded
 *
 * The stream is read event by event from what unpack has at hand. Functions that read return 0, or
 * -1 with apitrace.failure telling why.
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
	APITRACE_NAME_LIMIT = 64 * 1024,   /* of a name in a definition */
	APITRACE_NAMES_LIMIT = 32000,	   /* names of one definition */
	APITRACE_ARGUMENT_LIMIT = 4096,	   /* index of an argument */
	APITRACE_NESTING = 100,		   /* of values, below VALUE_DEPTH */
	APITRACE_THREAD_LIMIT = INT32_MAX, /* tids of other systems may be so large */
	APITRACE_OPEN_LIMIT = 1 << 18,	   /* calls that did not return are remembered */
	APITRACE_HEADER_LIMIT = 1 << 20,
	APITRACE_TRACES_LIMIT = 1 << 14, /* of one file: each is remembered to the end */
	APITRACE_DEFINITIONS_LIMIT = 256 * 1024 * 1024, /* bytes of all of them */
	APITRACE_VALUES_LIMIT = MAX_VALUE,		/* bytes of one event's values */
};

enum apitrace_failure {
	FAILURE_NONE,
	FAILURE_END,   /* the data ended inside of something */
	FAILURE_BAD,   /* what is there makes no sense: see message */
	FAILURE_FATAL, /* cannot read or write, out of memory: see error */
};

struct apitrace_function {
	uint32_t location, names; /* names: of arguments */
	unsigned known;		  /* enum apitrace_known */
};

struct apitrace_struct {
	uint32_t definition, members;
};

/* One of the five spaces of ids. */
struct apitrace_ids {
	uint32_t *direct; /* low ids to index + 1 */
	size_t direct_size;
	struct idmap map; /* the others */
	void *at;
	size_t count, capacity;
};

/* What --info counts. */
struct apitrace_totals {
	uint64_t calls, incomplete, frames, threads, traces;
	uint64_t left_out; /* rows that lost values too large to keep */
	char api[32];
};

struct apitrace {
	struct input *input;
	struct writer *w; /* NULL: only count */
	struct unpack unpack;
	enum apitrace_failure failure;
	char message[256];
	struct error error;

	uint64_t version, semantic;
	struct buffer header;  /* as it stood there, whole properties only */
	struct buffer headers; /* only counting: of all traces of the file, in bounds */

	uint64_t tick;
	uint32_t call, frame; /* numbers of the next enter and of the present frame */
	uint32_t source, clock, enter, leave;
	uint32_t last_thread, last_lane;
	struct idmap lanes; /* thread to lane id */
	struct apitrace_ids functions, structs, enums, bitmasks, frames;
	struct open_calls open;
	uint64_t defined; /* bytes of definitions */

	size_t values_limit;   /* bytes of one event's values that are kept */
	struct buffer tail;    /* values of the present event */
	size_t detail;	       /* where its present detail begins there */
	uint32_t arguments;    /* highest number of an argument there, from 1 */
	bool lost_bits;	       /* a number was longer than 64 bits */
	bool too_large;	       /* a detail was left out */
	struct buffer used;    /* ids of definitions in tail */
	struct buffer members; /* scratch */
	struct apitrace_totals totals;
	bool segments; /* the stream may have several: each needs its definitions */
	bool done;
};

/* --- apitrace_read.c: numbers and strings --- */

int apitrace_refill(struct apitrace *a);
int apitrace_bad(struct apitrace *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int apitrace_no_memory(struct apitrace *a);
int apitrace_uint_slow(struct apitrace *a, uint64_t *n);
/* A name: *id of the writer's string, its text in scratch members if text is not NULL. */
int apitrace_name(struct apitrace *a, uint32_t *id);
/* The bytes of a name appended to b. */
int apitrace_text(struct apitrace *a, struct buffer *b, size_t limit);
/* Byte offset in the unpacked stream. */
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

/* --- apitrace_signatures.c --- */

int apitrace_function(struct apitrace *a, struct apitrace_function **f);
int apitrace_struct(struct apitrace *a, struct apitrace_struct **s);
int apitrace_enum(struct apitrace *a, uint32_t *definition);
/* Of a version before 3: the id stands for one name and value. */
int apitrace_enum_value(struct apitrace *a, uint32_t *definition, int64_t *value);
int apitrace_bitmask(struct apitrace *a, uint32_t *definition);
int apitrace_frame(struct apitrace *a, uint32_t *definition);
void apitrace_forget(struct apitrace *a);

/* --- apitrace_quick.c --- */

/* Details into tail, up to the first that is not small and simple. true: all of them. */
bool apitrace_quick_details(struct apitrace *a);
/* As many events as are small and simple, and not later than until, straight into the writer's
 * block. true: the next one is later; false: it is for apitrace_event. */
bool apitrace_quick_events(struct apitrace *a, uint64_t until);

/* --- apitrace_values.c --- */

/* The details of an event into tail. */
int apitrace_details(struct apitrace *a);
/* A tagged integer. */
int apitrace_sint(struct apitrace *a, int64_t *n);

/* --- apitrace_header.c --- */

/* The header of a trace. 0, or -1. FAILURE_END: what there is of it is in a. */
int apitrace_header(struct apitrace *a);
/*
 * An event that is none: the header of another trace, of a process that wrote to the same file? It
 * is, if an event follows, or nothing, or one more such header: of those before it the traces have
 * no events. Their version is at least 2: 0 and 1 are events. 0, or -1.
 */
int apitrace_other_traces(struct apitrace *a, uint8_t event);

/* --- apitrace_events.c --- */

/* Declare the trace whose header was read. */
int apitrace_declare(struct apitrace *a);
/* At the end of a trace: its open calls have not returned, but end their frames all the same. */
void apitrace_count_open(struct apitrace *a);
/* What is remembered of an open call: its function and its lane. */
static inline uint64_t apitrace_remember(const struct apitrace *a,
					 const struct apitrace_function *f, uint32_t lane)
{
	uint64_t index = (uint64_t)(f - (const struct apitrace_function *)a->functions.at);

	return (index + 1) << 32 | lane;
}

/* Read and write one event. 1; 0: the trace has ended (damage was told); -1: fatal, see error. */
int apitrace_event(struct apitrace *a);

#endif

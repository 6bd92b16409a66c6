/*
 * firefox.h - the processed profile format of the Firefox Profiler, version 61
 *
 * Source: src/types/profile.ts and docs-developer/CHANGELOG-formats.md of
 * github.com/firefox-devtools/profiler. Readers of later versions read this one.
 *
 *     meta      categories, schemas of markers, times
 *     libs      modules
 *     threads   each with samples and markers, as one array for each column
 *     shared    tables of stacks, frames, functions, resources and strings
 *
 * A sample names a stack of the table of stacks, which is the tree of common/calls/stack_tree.h. A
 * frame is a function. The samples of a trace of calls are the times between two changes of a
 * thread's stack, which weigh their length.
 */
#ifndef TR_TRENCODE_FIREFOX_FIREFOX_H
#define TR_TRENCODE_FIREFOX_FIREFOX_H

#include <stdlib.h>

#include "cmd/trencode/convert/attributes.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/timeline/rows.h"
#include "cmd/trencode/profile/sample_profile.h"
#include "cmd/trencode/timeline/tracks.h"
#include "common/calls/call_stacks.h"

enum { FIREFOX_VERSION = 61, FIREFOX_GECKO_VERSION = 33 };

/* Indexes of meta.categories. */
enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_IDLE };

/* The category of a frame is the first byte of its key; then the key is that of names.h. */
enum { FRAME_KEY_CATEGORY = 1 };

struct firefox_sample {
	uint64_t time, weight;
	uint32_t node; /* of the tree of stacks */
};

struct firefox_marker {
	uint64_t start, end;
	uint64_t data; /* offset of its fields in firefox.data */
	uint32_t size; /* of these, bytes */
	uint32_t name; /* index of a string */
	uint32_t node; /* stack at which it happened; STACK_ROOT: none */
	int32_t cpu;   /* -1: unknown */
	bool interval; /* it has an end */
};

/* One thread of the profile. */
struct firefox_thread {
	int32_t pid, tid;
	struct buffer name;
	uint64_t first, last; /* times of its events */
	uint64_t since;	      /* time at which its stack became node */
	uint32_t node;
	uint32_t user, kernel; /* stacks of its calls, and of those in the kernel with them */
	struct row_list samples, markers;
};

/* The format of a field of a marker, by the values that it had. */
enum field_format { FIELD_IS_INTEGER, FIELD_IS_DECIMAL, FIELD_IS_STRING };

struct firefox_field {
	uint32_t name; /* index of a string */
	uint32_t next; /* the next field of the schema: number + 1; 0: none */
	enum field_format format;
};

/* The types of markers. */
struct firefox_schemas {
	struct intern names;
	struct intern keys; /* schema and name: number in fields */
	struct firefox_field *fields;
	size_t capacity;
	uint32_t *last; /* by schema: number of the field added last + 1 */
	size_t nlast;
};

/* One run of the encoder. */
struct firefox {
	struct calls *calls;
	struct call_stacks stacks;
	struct tracks tracks;
	struct attributes attributes;
	struct rows samples, markers;
	struct buffer data; /* fields of markers, as JSON; spills */
	struct buffer kept; /* attributes of the enters of calls with numbers; spills */
	/* of the present marker: its attributes, its fields, and one value; they spill */
	struct buffer bytes, json, one;
	struct intern strings;
	struct firefox_schemas schemas;
	struct firefox_thread **threads;
	size_t nthreads, capacity;
	enum profile_subject subject;
	const struct type *type; /* of the samples */
	bool by_period;		 /* --weight period */
	bool keep_times, quiet;
	bool started, ticks;
	uint64_t first, last;
	uint64_t origin; /* time that is shown as 0 */
	struct {
		uint64_t left_out; /* samples of other types, and calls of a profile of samples */
		uint64_t negative; /* samples with a negative weight */
		uint64_t values;   /* calls with arguments */
		uint64_t lost;	   /* calls that ended without a leave */
	} counts;
	uint32_t *index; /* by node of the tree: its index in the table of stacks; firefox_order */
	uint32_t *order;
	size_t nstacks;
};

/* Functions that return int return 0, or -1 when out of memory. */

static inline bool firefox_begins_with(struct text_ref text, const char *with)
{
	size_t n = strlen(with);

	return text.size >= n && !memcmp(text.text, with, n);
}

/* --- samples.c --- */

/* Add the time up to this one with the stack that the thread has had. */
int firefox_end_stack(struct firefox *f, struct firefox_thread *th, uint64_t time);
/* Note the stack of a thread after an event of a call. */
int firefox_note_stack(struct firefox *f, struct firefox_thread *th, const struct event *ev);
/* Get the whole stack of a thread. */
int firefox_stack(struct firefox *f, const struct firefox_thread *th, const struct event *ev,
		  uint32_t *node);
/* Take a sample with this stack. */
int firefox_sample(struct firefox *f, struct firefox_thread *th, const struct event *ev,
		   uint32_t node);
/* Test whether samples of the type are events with fields of their own. */
bool firefox_is_tracepoint(const struct type *t);

/* --- markers.c --- */

/* Add a marker with the attributes in bytes, which may be empty. m has all but these. */
int firefox_marker(struct firefox *f, struct firefox_thread *th, struct firefox_marker m,
		   struct text_ref type, const struct buffer *bytes);
/* Write the schemas of all markers, as a JSON array. */
void firefox_put_schemas(struct firefox *f, struct text *out);
void firefox_free_schemas(struct firefox_schemas *s);

/* --- tables.c --- */

/* Number the stacks, callers first, after the last event. */
int firefox_order(struct firefox *f);
/* Write the shared tables and the list of modules. */

int firefox_put_shared(struct firefox *f, struct text *out);

/* --- threads.c --- */

int firefox_put_threads(struct firefox *f, struct text *out);
/* Write a time, or the length of one, in ms; a tick is a microsecond. */
void firefox_put_ms(const struct firefox *f, struct text *out, uint64_t time);

/* Returns the unit of threadCPUDelta: the weights of the samples are times on a CPU, or cycles;
 * NULL: they are neither. */
const char *firefox_cpu_unit(const struct firefox *f);

#endif

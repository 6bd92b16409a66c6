/*
 * marker.h - markers: the event types that a trace announces
 */
#ifndef TR_TRDECODE_LTTNG_MARKER_H
#define TR_TRDECODE_LTTNG_MARKER_H

#include "common/stream/writer.h"
#include "cmd/trdecode/lttng/block.h"

struct lttng;
struct lttng_event;

enum { LTTNG_QUICK_MOST = 64 /* bytes of a payload */, LTTNG_ARGS = 5 };

/* What the decoder learns from an event, besides writing its row. */
enum lttng_action {
	ACTION_NONE,
	ACTION_SCHEDULE, /* prev_pid, next_pid */
	ACTION_PROCESS,	 /* pid, parent_pid, name, tgid: the state dump */
	ACTION_FORK,	 /* parent_pid, child_pid, child_tgid */
	ACTION_EXEC,	 /* filename */
	ACTION_EXIT,	 /* pid: process_free */
	ACTION_SYSCALL_NAME,
	ACTION_SOFTIRQ_NAME,
	ACTION_TRAP_NAME,
	ACTION_IRQ_NAME, /* id, name */
	ACTION_MAP,	 /* pid, start, end, pgoff, inode */
	ACTION_MARKER_ID,
	ACTION_MARKER_FORMAT,
};

/* How quick.c converts an event. */
enum lttng_quick { QUICK_NOT, QUICK_INSTANT, QUICK_CALL, QUICK_SCHEDULE, QUICK_ACTION };

enum lttng_names { NAMES_SYSCALL, NAMES_SOFTIRQ, NAMES_TRAP, NAMES_IRQ, NAMES_COUNT, NAMES_NONE };

/* The conversion of a field of the payload to the row. */
struct lttng_step {
	uint8_t size; /* 0: a string */
	uint8_t align;
	bool network;
	uint16_t offset; /* offset in the fixed part */
};

/* A channel and its markers. */
struct lttng_channel {
	const char *name;
	struct lttng_marker **markers; /* by id */
	size_t size;
};

/* The layout of a marker's payload. */
struct lttng_layout {
	int nfields, nstrings, nsteps;
	uint8_t align; /* alignment of its beginning, in 2.x */
	bool compact;  /* its first field is in the header, in a compact channel */
	struct lttng_step *steps;
	uint16_t fixed_size; /* bytes of a row: TSC and the integers */
	uint16_t plain;	     /* bytes of a payload that is copied unchanged; else 0 */
	bool plain_words;    /* the payload is copied unchanged, and the trace is little-endian */
	uint32_t most;	     /* most bytes of the payload with padding, without its strings */
};

/* A marker: one event type of a channel. */
struct lttng_marker {
	struct lttng_channel *channel;
	uint32_t id;
	char *name;
	struct lttng_sizes sizes;
	uint8_t alignment;
	const char *format; /* NULL: never announced */
	size_t format_size;
	bool resolved, usable;
	bool has_eight; /* 1.0: the format has a "#8", which has two meanings */
	bool eight;	/* the meaning that is used */

	struct lttng_layout layout;

	/* the stream */
	uint32_t type, orphan; /* orphan: a leave without an enter */
	enum type_kind kind;
	bool per_cpu;
	uint32_t pair; /* number that entry and exit share; 0 none */
	enum lttng_names names;
	uint32_t location; /* location if the event has no id */
	/* of an entry: locations by the id at id_field of the fixed part; without an id:
	   one location, and id_mask is 0 */
	const uint32_t *locations;
	uint32_t nlocations;
	uint16_t id_field;
	uint64_t id_mask;
	uint32_t keep; /* mask for the number of open calls: 0 if an entry begins a stack */

	enum lttng_action action;
	enum lttng_quick quick;
	int16_t arg[LTTNG_ARGS]; /* offsets in the fixed part; -1 none */
	uint8_t arg_size[LTTNG_ARGS];
	int8_t string_arg; /* number of the string that the action needs */

	/* transcoded.c: offsets in the fixed part, 0 none; numbers of strings, -1 none */
	struct lttng_transcoded {
		int16_t tid, pid, depth, call, function;
		int16_t order; /* offset in the payload */
		int8_t comm, name;
		uint16_t flags; /* flags of a call's type */
	} transcoded;
};

/* Parse the marker's format at its first use. NULL: it has no usable format. */
struct lttng_marker *lttng_marker_resolve(struct lttng *l, struct lttng_marker *m);

static inline struct lttng_marker *lttng_marker(struct lttng *l, const struct lttng_channel *c,
						uint32_t id)
{
	struct lttng_marker *m = id < c->size ? c->markers[id] : NULL;

	if (__builtin_expect(m && !m->usable, 0))
		m = lttng_marker_resolve(l, m);
	return m;
}

struct lttng_channel *lttng_channel(struct lttng *l, const char *name, size_t n);
/* Add the core events, which are not announced. */
int lttng_marker_core(struct lttng *l, struct lttng_channel *c);
/* Take in a core_marker_id or core_marker_format event. */
int lttng_marker_take(struct lttng *l, const struct lttng_event *ev);
/* Lay out the marker's payload again, with the other meaning of "#8". */
void lttng_marker_reread(struct lttng *l, struct lttng_marker *m);
/* Set steps and alignment of the payload by the parsed fields (layout.c). */
void lttng_marker_layout(const struct lttng_header *trace, struct lttng_marker *m,
			 const struct lttng_field *fields, int n);
/* Set action, calls and locations by the names of marker and fields (classify.c). */
void lttng_marker_classify(struct lttng *l, struct lttng_marker *m,
			   const struct lttng_field *fields, int n);
/* Test whether the channel has a marker of that name. */
bool lttng_marker_known(struct lttng *l, const struct lttng_channel *c, const char *name, size_t n);
/* Declare the type of its rows (type.c). */
int lttng_marker_declare(struct lttng *l, struct lttng_marker *m);
/* Declare the type of a leave without an enter. 0: out of memory. */
uint32_t lttng_marker_orphan(struct lttng *l, struct lttng_marker *m);
void lttng_markers_free(struct lttng *l);

#endif

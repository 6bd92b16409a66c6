/*
 * chrome.h - inside the decoder of the Trace Event Format, the JSON of Chrome's trace viewer
 *
 * Events stand in any order, and a thread's name may come last: all are read first, and sorted by
 * time (sorter.h). What "X" events cover becomes an enter and a leave.
 *
 * Facts: "Trace Event Format" (the document of the catapult project), and the files that uftrace,
 * Chrome and Perfetto write.
 */
#ifndef TR_TRDECODE_CHROME_CHROME_H
#define TR_TRDECODE_CHROME_CHROME_H

#include "common/formats/chrome.h"
#include "common/util/intern.h"
#include "common/util/id_cache.h"
#include "common/calls/open_calls.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/chrome/json_reader.h"
#include "cmd/trdecode/chrome/sorter.h"

/* What an event is to the stream. */
enum chrome_kind {
	CHROME_BEGIN,
	CHROME_END,
	CHROME_COMPLETE,
	CHROME_INSTANT,
	CHROME_COUNTER,
	CHROME_ASYNC,
};

enum chrome_id_form {
	CHROME_ID_HERE = 1,  /* the event has an id */
	CHROME_ID_HEX = 2,   /* written in hexadecimal */
	CHROME_ID_LOCAL = 4, /* of its process, else of the trace */
};

struct chrome_id {
	uint64_t number;
	uint16_t form; /* enum chrome_id_form */
};

/* An event as the sorter keeps it; its arguments follow: name (a string of the writer), size of the
 * value, value (value.h). */
struct chrome_record {
	uint64_t duration;    /* COMPLETE, ns */
	uint16_t kind, phase; /* enum chrome_kind, "ph" */
	uint32_t thread;      /* number in chrome.threads */
	uint32_t name;	      /* string of the writer */
	uint32_t category;
	uint32_t values; /* bytes of the arguments */
	struct chrome_id id;
};

/* An asynchronous call that is open. */
struct chrome_open {
	uint64_t key;  /* hash of what its end must have, too */
	size_t below;  /* index + 1 of the next one with this key, or the next free one; 0 none */
	uint32_t call; /* its number in the stream */
	uint32_t thread, name, location;
};

struct chrome_frame {
	uint64_t end;	 /* ns; UINT64_MAX: its "E" tells */
	uint64_t serial; /* 0: none of the heap's */
	uint32_t location, name, category;
};

struct chrome_thread {
	int32_t pid, tid;
	uint32_t comm; /* string of the writer: its name, else an id that is no number; 0 */
	bool is_named;
	uint32_t lane;
	struct chrome_frame *frames;
	size_t depth, capacity;
};

/* The end of a COMPLETE call that is open. */
struct chrome_end {
	uint64_t time, serial;
	uint32_t thread;
	uint32_t depth; /* of its frame */
};

/* What the events were, for remarks. */
struct chrome_counts {
	uint64_t events, ignored, clipped, unopened, nameless;
	uint64_t wrong_times, wrong_durations;
	uint64_t negative;	/* times below 0 */
	uint64_t unkept;	/* begins of asynchronous calls beyond those that may be open */
	uint64_t idless;	/* instants whose id was left out */
	char phases[16];	/* of those */
	uint64_t ignored_first; /* offset */
	uint64_t named;		/* ids in names */
	char named_first[64];
};

struct chrome {
	struct input *input;
	struct writer *w;
	struct sorter sorter;
	struct intern thread_keys, names; /* names: of pids and tids that are no int32_t */
	struct id_cache declared;	  /* types */
	/* chrome_arguments.c: names; their arguments; arguments of all */
	struct id_cache with_arguments, numbers, keys;
	struct chrome_names *arguments;
	size_t narguments, arguments_capacity;
	struct chrome_thread *threads;
	size_t nthreads, threads_capacity;
	struct open_calls async; /* chrome_async.c: index + 1 in open, by key */
	struct chrome_open *open;
	size_t nopen, open_capacity, open_free;
	struct intern ids; /* those that are no numbers */
	struct id_cache declared_async;
	uint32_t calls;
	struct chrome_end *ends; /* a heap */
	size_t nends, ends_capacity;
	uint64_t serial;
	struct chrome_counts counts;
	int64_t lowest, highest; /* ns: the earliest time below 0, the latest end above 0; or 0 */
	int64_t origin;		 /* ns: of a file of trencode, what time 0 of the file is */
	uint32_t id_name;	 /* string of the writer: the field for ids of events */
	uint32_t source, clock;
	uint32_t begin_text, end_text; /* strings of the writer */

	/* one event */
	struct buffer name, category, phase, pid, tid, values, arguments_read, record;
	struct chrome_id id_read;
};

/* --- chrome_event.c --- */

/* Times may be so much below 0, in ns; those of the stream then begin with the earliest. */
static const int64_t CHROME_EARLIEST = (int64_t)1 << 60;

/* Read one event object, whose '{' was read, into the sorter. 0; -1: memory, output, or BAD (r). */
int chrome_event(struct chrome *c, struct json_reader *r, struct error *e);
/* Microseconds of JSON as ns. false: out of range. */
bool chrome_time(const char *text, int64_t *ns);

/* Time 0 of the file in the stream, whose times are not below 0. */
static inline int64_t chrome_zero(const struct chrome *c)
{
	return c->origin > -c->lowest ? c->origin : -c->lowest;
}

static inline uint64_t chrome_stream_time(const struct chrome *c, uint64_t sorted)
{
	return sorted - (uint64_t)INT64_MIN + (uint64_t)chrome_zero(c);
}

/* --- chrome_arguments.c --- */

/* An event of that name has an argument called so. -1: out of memory. */
int chrome_learn(struct chrome *c, uint32_t name, uint32_t key);
/* When all is learned: the place of a name. 0: memory, output. */
uint32_t chrome_location(struct chrome *c, uint32_t name);
/* Arguments of a record, of an event of that name, which has its place, as details in c->values.
 * -1: out of memory. */
int chrome_values(struct chrome *c, uint32_t name, const uint8_t *p, uint32_t size);
/* The name of the field for the ids of asynchronous events, which no argument has. 0: memory. */
uint32_t chrome_id_name(struct chrome *c);
void chrome_arguments_free(struct chrome *c);

/* --- chrome_async.c --- */

/* The id of an event, whose text was read. -1: out of memory. */
int chrome_read_id(struct chrome *c, const struct buffer *text, struct chrome_id *id);
static inline bool chrome_is_async(char phase)
{
	return phase && strchr("benSFTp", phase);
}
/* The row of an event of such a phase. -1: output, memory. */
int chrome_async(struct chrome *c, const struct chrome_record *r, uint64_t time,
		 const uint8_t *values);

/* --- chrome_rows.c --- */

/* The lane of a thread. 0: out of memory. */
uint32_t chrome_lane(struct chrome *c, struct chrome_thread *t);

/* Write all rows up to and including that time, and the time of the next one. -1: output, memory.
 */
int chrome_rows(struct chrome *c, uint64_t until, uint64_t *next, struct error *e);

#endif

/*
 * chrome.h - Chrome JSON (Trace Event Format, CPU profiles)
 */
#ifndef TR_TRDECODE_CHROME_H
#define TR_TRDECODE_CHROME_H

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "cmd/trdecode/v8_profile.h"
#include "common/calls/open_calls.h"
#include "common/formats/chrome.h"
#include "common/stream/writer.h"
#include "common/util/intern.h"
#include "common/value/json.h"

/*
 * Inside the decoder of the Trace Event Format, the JSON of Chrome's trace viewer.
 *
 * The events of a file are in any order, and a thread's name may be at the end. So the whole file
 * is read first, and its events are sorted by time (sorter.h). An "X" event becomes an enter and a
 * leave.
 *
 * Functions return 0, or -1 (an id: 0) when out of memory or when the output failed.
 *
 * Sources: "Trace Event Format" (the document of the catapult project), and the files that uftrace,
 * Chrome and Perfetto write.
 */

/* What an event becomes in the stream. */
enum chrome_kind {
	CHROME_BEGIN,
	CHROME_END,
	CHROME_COMPLETE,
	CHROME_INSTANT,
	CHROME_COUNTER,
	CHROME_ASYNC,
	CHROME_SAMPLE,
	CHROME_TIME_SAMPLE, /* its weight is a time */
};

enum chrome_id_form {
	CHROME_ID_HERE = 1,	 /* the event has an id */
	CHROME_ID_HEX = 2,	 /* written in hexadecimal */
	CHROME_ID_LOCAL = 4,	 /* unique in its process, else in the trace */
	CHROME_ID_ENCLOSING = 8, /* "bp":"e" of a flow: it ends in the call that is open then */
};

/* The id of an event. */
struct chrome_id {
	uint64_t number;
	uint16_t form; /* enum chrome_id_form */
};

/* What is known of a call beside its times. */
struct chrome_marks {
	bool unfinished; /* it ended without a leave */
	bool unseen;	 /* it has no enter */
	bool overlaps;	 /* it is on no stack */
	bool inexact;	 /* its times had digits below 1 ns */
};

/* An event, as stored in the sorter. Its arguments follow; each is a name (a string of the writer),
 * the value's size, the value (value.h). */
struct chrome_record {
	uint64_t duration;    /* COMPLETE, ns; of samples the weight */
	uint16_t kind, phase; /* enum chrome_kind, "ph" */
	uint32_t thread;      /* number in chrome.threads */
	uint32_t name;	      /* string of the writer */
	uint32_t category;
	uint32_t values; /* bytes of the arguments */
	uint32_t other;	 /* name of the enter of a COMPLETE, of the leave of an END; of samples and
			    instants the frame + 1; 0 none */
	struct chrome_id id;
	uint32_t pair; /* of a "b" and the "e" that is the next event of the file: a number; 0 */
	uint32_t flow; /* number of the event among those of flows, if it may be the end; 0 */
	int32_t cpu;   /* of an instant or sample; -1: it is not known */
	struct chrome_marks marks;
	uint16_t scope; /* of an instant: CHROME_GLOBAL, CHROME_PROCESS; 0: of its thread */
};

/* An open asynchronous call. */
struct chrome_open {
	uint64_t key;  /* hash of the properties that its end must share */
	uint64_t time; /* of its begin */
	size_t below;  /* index + 1 of the next outer call with this key, or of the next free
			  element; 0 none */
	uint32_t call; /* number of the call in the stream */
	uint32_t thread, name, location;
	uint32_t pair;	/* as of a record */
	bool kernel;	/* in the kernel */
	uint32_t level; /* in the kernel: number of the thread's calls there below */
};

/* An open call of a thread. */
struct chrome_frame {
	uint64_t end;	 /* ns; UINT64_MAX: an "E" will end it */
	uint64_t limit;	 /* the earliest end of it and the calls around it */
	uint64_t serial; /* of an X (struct complete_calls); 0 */
	uint32_t call;	 /* on no stack: number of the call in the stream; 0 on a stack */
	uint32_t location, name, category;
	uint32_t leave_name; /* if it has another name; 0 none */
	uint32_t level;	     /* number of open calls below, of those in or outside the kernel */
	bool kernel;	     /* in the kernel */
	bool unfinished, inexact;
	bool complete;	 /* an X that may be on no stack */
	uint8_t *values; /* of the leave, if there is no enter; owned */
	uint32_t size;
};

/* A thread and its open calls. */
struct chrome_thread {
	int32_t pid, tid;
	uint32_t comm; /* string of the writer: its name, else its id if not a number; 0 none */
	bool has_name; /* of a thread_name */
	bool used;     /* it has events */
	bool begins, completes; /* it has a B, an X */
	bool cpus;		/* tid 0: events have several CPUs */
	int32_t cpu;		/* tid 0: the CPU that events have; -1: none has */
	uint32_t lane;
	struct chrome_frame *frames;
	size_t depth, capacity;
	uint32_t level, kernel_level; /* open calls outside and in the kernel */
};

/* The state of decoding one input. */
struct chrome {
	struct input *input;
	struct writer *w;
	struct sorter sorter;
	struct intern thread_keys, names; /* names: pids and tids that are not int32_t */
	struct id_cache declared;	  /* types */
	struct argument_table arguments;
	struct chrome_thread *threads;
	size_t nthreads, threads_capacity;
	/* The asynchronous calls. */
	struct {
		struct open_calls keys; /* index + 1 in open, by key */
		struct chrome_open *open;
		size_t count, capacity;
		size_t free;	   /* index + 1 of the first free element, 0 none */
		size_t unfinished; /* the same of calls that ended without a leave */
		struct intern ids; /* ids that are not numbers */
		struct id_cache declared;
		uint32_t calls; /* number of the last call */
		/* the last "b" that was read, and its number among the events */
		struct chrome_record begin;
		int64_t begin_time;
		uint64_t begin_event;
	} async;
	struct frame_table frames; /* of "stackFrames", and of V8's profiles */
	/* The flows of calls (chrome_rows.c). */
	struct {
		struct key_map ids; /* index + 1 in last */
		struct {	    /* the last event of each */
			int64_t time;
			uint32_t event;
		} * last;
		uint32_t count, events;
		size_t capacity;
	} flows;
	/* What the file has beside its events. */
	struct {
		struct id_cache process_names; /* by pid: strings of the writer */
		struct buffer
			events; /* JSON of metadata events, but names of threads that rows have */
		struct buffer members, other; /* of the file, of otherData: a comma before each */
		struct buffer text;
		struct id_cache last; /* by ids and name: where the last such event begins, + 1 */
		struct intern named;  /* pids with a process_name */
		uint64_t events_left_out, members_left_out;
	} metadata;
	/* The profiles of V8. */
	struct {
		struct intern keys; /* process and id: number of the profile */
		struct {
			uint32_t thread;     /* number in chrome.threads */
			int64_t time;	     /* ns: of the last sample that was read; -1: none */
			int64_t end;	     /* ns; -1: not given */
			struct buffer times; /* i64 each, ns: of its samples; then in order */
			size_t next;	     /* index there of the time after the next sample */
		} * profile;
		size_t count, capacity;
		/* the chunk that is read */
		struct v8_profile chunk; /* its space is the number of its profile + 1 */
	} profiles;
	struct complete_calls completes;
	/* The open calls that overlap others of their thread. */
	struct {
		struct chrome_frame *frames;
		size_t count, capacity;
		size_t free; /* index + 1 of the first free one, which has the next one in its
				level; 0 */
		bool mixed;  /* a thread has X and B */
	} overlapping;
	/* Numbers of unusual events, for the remarks at the end. */
	struct {
		uint64_t events, ignored, clipped, unopened;
		uint64_t wrong_times, wrong_durations;
		uint64_t lasting_none; /* X without "dur" */
		uint64_t negative;     /* times below 0 */
		uint64_t unkept;  /* begins of asynchronous calls beyond the limit of open ones */
		uint64_t idless;  /* instants whose id was left out */
		char phases[16];  /* phases of those instants */
		uint64_t reduced; /* samples whose arguments were left out */
		uint64_t reduced_events; /* events without some of their members */
		struct intern left_out;	 /* names of those */
		uint64_t ignored_first;	 /* offset of the first ignored event */
		uint64_t phased;	 /* objects with a phase */
		uint64_t faults;	 /* of the JSON among the events */
		uint64_t unread;	 /* events that were left out as they are no JSON */
		uint64_t escapes;	 /* that JSON does not have */
		uint64_t named;		 /* ids in names */
		char named_first[64];
	} counts;
	int64_t lowest, highest; /* ns: the lowest time, at most 0; the highest end, at least 0 */
	int64_t origin; /* ns or ticks: what trencode subtracted from all times of the file, else 0
			 */
	int64_t began;	/* ns since 1970 of the file's time 0; -1: not known */
	bool ticks;	/* times of the file are ticks, which were read as microseconds */
	char clock_name[64]; /* of ticks */
	uint32_t kernel;     /* string of the writer: category of calls in the kernel; 0 none */
	bool depths;	     /* calls on a stack have a recorded depth */
	uint32_t id_name;    /* string of the writer: name of the field for ids */
	uint32_t source, clock;
	struct { /* strings of the writer */
		uint32_t begin, end, unfinished, gap, gap_category, period;
		uint32_t flows, ended_flows; /* 0: not used yet */
	} texts;
	/* The event that is read. */
	struct {
		struct buffer name, other, category, phase, pid, tid, values, arguments, record;
		struct buffer frame, weight, cpu; /* "sf", "weight", "cpu" */
		struct buffer id_text;
		struct buffer left_out; /* names of members that are left out, each with a NUL */
		struct buffer nested;	/* arguments */
		struct nested_json objects; /* arguments that are objects or arrays */
		bool sample;		    /* it is an element of "samples" */
		bool doubtful;		    /* it follows a fault: it may be a part of an event */
	} read;
	/* What of it is 0 before it is read. */
	struct {
		struct chrome_id id, bind; /* bind: "bind_id" */
		struct chrome_marks marks;
		int64_t ts, dur; /* ns */
		bool has_ts, has_dur, wrong, wrong_dur;
		bool has_nested; /* an argument is an object or array */
		bool in_time;	 /* its weight is in ns */
		bool derived;
		bool flows;	/* the event is part of the flow `bind` */
		bool flow_out;	/* and may not be its end */
		uint16_t scope; /* as of a record */
	} event;
};

/* Convert what chrome_time returned to ns, or to ticks. */
static inline int64_t chrome_unit(const struct chrome *c, int64_t ns)
{
	return c->ticks ? ns / 1000 : ns;
}

/* Get the time in the stream of the file's time 0; times of the stream are not below 0. */
static inline int64_t chrome_zero(const struct chrome *c)
{
	int64_t lowest = chrome_unit(c, c->lowest);

	return c->origin > -lowest ? c->origin : -lowest;
}

static inline uint64_t chrome_stream_time(const struct chrome *c, uint64_t sorted)
{
	int64_t time = chrome_unit(c, (int64_t)(sorted - (uint64_t)INT64_MIN));

	return (uint64_t)time + (uint64_t)chrome_zero(c);
}

/* --- rows --- */

/* Find the calls that overlap others, before the first row is written. */
int chrome_find_overlaps(struct chrome *c, struct error *e);
/* Write all rows up to and including a time, and set *next to the time of the next row. */
int chrome_rows(struct chrome *c, uint64_t until, uint64_t *next, struct error *e);

#endif

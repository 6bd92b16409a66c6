/*
 * chrome.c - Chrome JSON (Trace Event Format)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/attributes.h"
#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/stack_profile.h"
#include "cmd/trencode/path.h"
#include "cmd/trencode/spans.h"
#include "cmd/trencode/encode.h"
#include "cmd/trencode/tracks.h"
#include "common/formats/chrome.h"
#include "common/formats/perfetto.h"
#include "common/ftrace/kernel_names.h"
#include "common/pairs/flows.h"
#include "common/scheduling/scheduling.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/value/json.h"

/*
 * Trace Event JSON, which ui.perfetto.dev, chrome://tracing, speedscope and the Firefox Profiler
 * open.
 *
 * A call is one complete event (X), written at its end. Calls that overlap are pairs of
 * asynchronous events. Where two X would not show which call is inside of which, the calls are
 * pairs of B and E. Times are microseconds with three decimals, made from
 * integers. Readers parse them as doubles, so they count from the trace's first event unless
 * --rebase=none is given.
 */

enum {
	PREFIX_MOST = 64,  /* {"pid":-2147483648,"tid":-2147483648,"ts": */
	LINE_FIXED = 256,  /* a line without its name and its arguments */
	NAME_FAST = 16384, /* longest name that is written into the line's buffer directly */
};

/* The beginning of the lines of one thread. */
struct lane_prefix {
	uint64_t instant; /* time of the thread's last event that is not a call, + 1; 0: none */
	size_t size;
	char text[PREFIX_MOST];
};

/*
 * What CPUs and threads do, from the events of the kernel's scheduler.
 *
 * The events of a stream become slices: the thread that runs on a CPU, the state of a thread, the
 * interrupt and the softirq that a CPU handles; flows from the thread that wakes another one to
 * where that one runs; and values of counters. Memory is bounded by the number of CPUs and threads.
 *
 * A slice that began before the trace begins with the first event of its CPU, and is unseen. A
 * slice whose end the trace does not show ends with the last event before the gap, and is
 * unfinished; those that are open at the end of the trace end with the last event of their source.
 *
 * CPUs and threads are those of one source. The idle thread of each CPU, number 0, has no states.
 * A function that returns int returns 0, or -1 with *e filled.
 */

enum { SCHEDULING_NESTED = 8 }; /* interrupts that are open on a CPU at once, at most */

/* The tracks of a CPU, and that of a thread. */
enum scheduling_track { TRACK_CPU, TRACK_IRQ, TRACK_SOFTIRQ, TRACK_STATE };

/* A wakeup. */
struct scheduling_wake {
	uint64_t time;
	uint32_t cpu; /* index */
	enum scheduling_track track;
	uint32_t waker; /* thread: index + 1, 0 unknown */
};

struct scheduling_thread {
	const struct source *source;
	int32_t tid;
	uint32_t comm; /* number of a string of the dictionary; 0 unknown */
	enum thread_state state;
	uint64_t since; /* of the state */
	/* the CPU of the state, and its neighbours in the list of that CPU: index + 1, 0 none */
	uint32_t cpu, before, after;
	bool woken; /* it has not run since */
	struct scheduling_wake wake;
};

/* An interrupt that a CPU handles. */
struct scheduling_irq {
	uint64_t since;
	int64_t number;
	uint32_t name; /* string; 0 none */
};

struct scheduling_cpu {
	const struct source *source;
	int32_t cpu;
	bool begun;	      /* first is known */
	uint64_t first, last; /* times of its first event after the last gap, and of its last one */
	uint32_t running;     /* thread: index + 1, 0 unknown */
	uint64_t since;
	bool has_prio, woken;
	int32_t prio;
	struct scheduling_wake wake; /* with woken: of the thread that runs, before it did */
	uint32_t threads; /* list of the threads with a state whose CPU this is: index + 1 */
	struct scheduling_irq irqs[2][SCHEDULING_NESTED]; /* that are open; [1]: softirqs */
	unsigned nirqs[2];
};

/* Something that lasts from start to end. */
struct scheduling_slice {
	enum scheduling_track track;
	const struct scheduling_cpu *cpu;	/* of a state the CPU that it began on */
	const struct scheduling_thread *thread; /* of TRACK_CPU and TRACK_STATE */
	const struct scheduling_irq *irq;	/* of TRACK_IRQ and TRACK_SOFTIRQ */
	uint64_t start, end;
	bool unseen, unfinished; /* open at the end: unfinished too */
	const char *end_state;	 /* of TRACK_CPU: letters; "" unknown */
	int64_t ret;		 /* of TRACK_IRQ */
	bool has_ret;
	enum thread_state state;	       /* of TRACK_STATE */
	const struct scheduling_thread *waker; /* of THREAD_RUNNABLE after a wakeup, or NULL */
};

struct chrome_output;

struct scheduling {
	struct chrome_output *out;
	struct scheduling_types types;
	struct dictionary *dictionary;
	struct intern cpu_keys, thread_keys; /* source and number (idle threads: and CPU) */
	struct scheduling_cpu *cpus;
	struct scheduling_thread *threads;
	size_t ncpus, nthreads;
	uint64_t *ends; /* by source: time of its last event */
	size_t nends;
	uint64_t flows, unpaired; /* unpaired: ends of interrupts without a beginning */
	bool at_end;		  /* after the last event */
	int32_t (*processes)[2];  /* by source: pids of the CPUs and of the states; 0: none yet */
	size_t nprocesses;
	struct intern tracks; /* pid and tid of the tracks that have a name */
	uint32_t *comms;      /* of each track: the string that is its name */
	size_t ncomms;
	bool several; /* more than one source has processes */
};

enum { TID_MOST = 1 << 22 }; /* the kernel's limit of thread numbers */

/* The members of the file and of otherData in METAs, and metadata events. */
struct chrome_members {
	struct buffer part, line; /* of the META that is read, of a metadata event */
	struct json_reader json;
	uint32_t metas;		    /* number of the META that is read */
	struct key_map lines;	    /* by hash of a metadata event: the first META that has it */
	struct intern named;	    /* numbers in the output of processes with a process_name */
	struct intern names, texts; /* of members; o or m, then the name */
	struct {
		uint32_t text; /* number in texts */
		uint32_t meta; /* number of the META that has it */
		bool differs;  /* two METAs have different values */
	} * members;	       /* by number of the name */
	size_t capacity, bytes;
	uint64_t left_out;
	uint64_t zero; /* of the META that is read: time in the stream of the file's time 0 */
	bool late;     /* that is not the time 0 of the output */
};

/* One run of the encoder. */
struct chrome_output {
	struct spans spans;
	struct tracks tracks;
	struct location_names names, categories; /* categories with ,"cat": before them */
	struct attributes attributes;
	struct flows flows;
	struct buffer bytes, json, held_flows; /* held: with --unclosed=drop, until the end */
	struct chrome_members members;
	struct buffer samples; /* the elements of "samples" */
	uint8_t *used;	       /* by stack: its frame is in "stackFrames" */
	size_t nused;
	uint32_t stack; /* of the line being written, which then has "sf"; 0 none */
	struct scheduling scheduling;
	struct why_path *path; /* of --why; NULL: not given */
	struct intern path_tracks;
	const struct encode_options *options;
	struct text *out;
	const struct clock *clock;
	uint64_t zero; /* the origin, if members are copied, which may depend on it; 2^64-1 */
	uint64_t origin, overlapping, early; /* early: number of times before the origin */
	uint64_t negative;		     /* samples left out */
	bool started, any;
	bool at_end;	   /* after the last event: calls that end now are still open */
	bool kernel;	   /* calls in the kernel were written */
	bool kernel_taken; /* other calls have their category */
};

/* --- parts of a line --- */

static inline char *chrome_put(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}

#define PUT(p, literal) chrome_put(p, literal, sizeof(literal) - 1)

/* Write microseconds with all nanoseconds; ticks unchanged. */
static inline char *chrome_put_time(char *p, uint64_t time, bool ticks)
{
	unsigned rest;

	if (__builtin_expect(ticks, 0))
		return decimal_at(p, time);
	rest = (unsigned)(time % 1000);
	p = decimal_at(p, time / 1000);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	p[2] = (char)('0' + rest / 10 % 10);
	p[3] = (char)('0' + rest % 10);
	return p + 4;
}

static inline char *put_stamp(struct chrome_output *s, char *p, uint64_t time, bool ticks)
{
	if (__builtin_expect(time < s->origin, 0)) {
		s->early++;
		*p++ = '-';
		return chrome_put_time(p, s->origin - time, ticks);
	}
	return chrome_put_time(p, time - s->origin, ticks);
}

static inline bool counts_ticks(const struct lane *lane)
{
	return lane->clock && lane->clock->flags & CLOCK_TICKS;
}

static inline char *chrome_put_prefix(const struct lane_prefix *prefix, char *p)
{
	memcpy(p, prefix->text, PREFIX_MOST); /* a constant size: inlined */
	return p + prefix->size;
}

/* Write the member "cpu" of an instant or sample, if the CPU is known. */
static inline char *put_cpu(char *p, const struct lane *lane)
{
	if (!(lane->flags & LANE_HAS_CPU) || lane->cpu < 0)
		return p;
	return decimal_at(PUT(p, ",\"cpu\":"), (uint64_t)lane->cpu);
}

/* Write a name directly into the line, or, if it is very long, append it to the text. */
static inline char *chrome_put_name(struct chrome_output *s, char *p, const char *name,
				    uint32_t size)
{
	if (__builtin_expect(size <= NAME_FAST, 1))
		return chrome_put(p, name, size);
	text_wrote(s->out, p);
	text_put(s->out, name, size);
	return text_room(s->out, LINE_FIXED);
}

static inline char *chrome_line_room(struct chrome_output *s)
{
	char *p = text_room(s->out, LINE_FIXED + NAME_FAST);

	if (s->any)
		p = PUT(p, ",\n");
	s->any = true;
	return p;
}

/* Test whether a group is the category of calls in the kernel. */
static inline bool chrome_is_kernel(struct text_ref group)
{
	return group.size == sizeof(CHROME_KERNEL) - 1 &&
	       !memcmp(group.text, CHROME_KERNEL, group.size);
}

static inline void chrome_clear_args(struct chrome_output *s)
{
	buffer_clear(&s->json);
	buffer_clear(&s->bytes);
}

/* Test whether the call has no end in the file: it is open at the end of the trace. */
static inline bool chrome_is_open(const struct chrome_output *s, const struct span *span)
{
	return s->at_end && span->unfinished;
}

/* Write the other name of a call whose enter and leave have locations with different names. */
static int chrome_put_other_name(struct chrome_output *s, const struct span *span, bool begun)
{
	uint32_t size, other_size;
	const char *name = location_names_get(&s->names, span->location, &size);
	const char *other = name ? location_names_get(&s->names, span->entered, &other_size) : NULL;

	if (!other)
		return -1;
	name = location_names_get(&s->names, span->location, &size);
	if (size == other_size && !memcmp(name, other, size))
		return 0;
	text_puts(s->out, begun ? ",\"" CHROME_LEAVE_NAME "\":" : ",\"" CHROME_ENTER_NAME "\":");
	text_put(s->out, begun ? name : other, begun ? size : other_size);
	return 0;
}

/* Write the members that viewers ignore (common/formats/chrome.h) at p. begun: the B of the call is
 * written. Returns where the line goes on, or NULL when out of memory. */
static char *chrome_marks(struct chrome_output *s, char *p, const struct span *span, bool begun)
{
	text_wrote(s->out, p);
	if (span->unfinished && !s->at_end)
		text_puts(s->out, ",\"" CHROME_UNFINISHED "\":true");
	if (!span->begun)
		text_puts(s->out, ",\"" CHROME_UNSEEN "\":true");
	else if (span->entered && chrome_put_other_name(s, span, begun))
		return NULL;
	return text_room(s->out, LINE_FIXED);
}

static inline char *chrome_put_marks(struct chrome_output *s, char *p, const struct span *span,
				     bool begun)
{
	return __builtin_expect(!span->unfinished && span->begun &&
					(span->entered == span->location || !span->entered),
				1)
		       ? p
		       : chrome_marks(s, p, span, begun);
}

/* Begin a line that line_room does not begin. */
static void chrome_begin_line(struct chrome_output *s)
{
	if (s->any)
		text_put(s->out, ",\n", 2);
	s->any = true;
}

/* Write the end of a line at p, with the arguments in s->json. */
static void chrome_put_args(struct chrome_output *s, char *p)
{
	if (__builtin_expect(s->stack, 0)) {
		p = PUT(p, ",\"sf\":");
		p = decimal_at(p, s->stack);
		s->stack = 0;
	}
	if (s->json.size) {
		p = PUT(p, ",\"args\":");
		text_wrote(s->out, p);
		text_put_buffer(s->out, &s->json, 0, s->json.size);
		p = text_room(s->out, 1);
	}
	*p++ = '}';
	text_wrote(s->out, p);
}

/* Test whether what the enter of such a call keeps begins with its recorded stack, a u32. */
static inline bool chrome_keeps_stack(const struct type *t)
{
	return t && t->has_stacks && t->flags & TYPE_CALL_NUMBER;
}

/* --- names of processes and threads --- */

/* Test whether metadata events of a META name a process, by its number in the output. */
static bool chrome_members_name(const struct chrome_output *s, int32_t pid)
{
	return intern_find(&s->members.named, &pid, sizeof pid) != INTERN_NONE;
}

static void chrome_put_metadata(struct chrome_output *s, const char *what, int32_t pid, int32_t tid)
{
	chrome_begin_line(s);
	text_printf(s->out,
		    "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", pid,
		    tid, what);
	json_string(s->out, (const char *)s->bytes.data, s->bytes.size);
	text_puts(s->out, "}}");
}

static int chrome_name_track(struct chrome_output *s, struct track *t, const struct lane *lane)
{
	struct track_process *p = &s->tracks.processes[t->process];
	struct lane_prefix *prefix = t->user;
	/* if CHROME_META names the process, it names those of its threads with this name, too */
	bool known = chrome_members_name(s, t->pid);
	bool inherits = known && p->comm && t->comm == p->comm && !t->per_cpu && !t->made_up;

	if (!prefix) {
		prefix = t->user = malloc(sizeof *prefix);
		if (!prefix)
			return -1;
		prefix->instant = 0;
		prefix->size = (size_t)snprintf(prefix->text, sizeof prefix->text,
						"\"pid\":%d,\"tid\":%d,\"ts\":", t->pid, t->tid);
	}
	if (p->renamed) {
		struct text_ref comm = dictionary_string(s->names.dictionary, p->comm);

		p->renamed = false;
		s->bytes.size = 0;
		if (p->comm && !known) {
			if (buffer_append(&s->bytes, comm.text, comm.size))
				return -1;
			/* it may name this thread, too, unless it is not of a thread */
			chrome_put_metadata(s, "process_name", t->pid, p->named ? t->pid : t->tid);
		}
	}
	t->renamed = false;
	/* viewers show no name for a thread without one */
	if (inherits || !track_is_named(t, lane))
		return 0;
	s->bytes.size = 0;
	if (track_name(t, lane, &s->bytes))
		return -1;
	chrome_put_metadata(s, "thread_name", t->pid, t->tid);
	return 0;
}

/* Get the beginning of a thread's lines, after its names were written; NULL when out of memory.
 */
static struct lane_prefix *chrome_prefix(struct chrome_output *s, uint32_t thread,
					 const struct lane *lane)
{
	struct track *t = tracks_get(&s->tracks, thread, lane);

	if (__builtin_expect(!t || (t->renamed && chrome_name_track(s, t, lane)), 0))
		return NULL;
	return t->user;
}

/* --- the arguments and the category of a call --- */

/* The bytes that say where the flows of a call are that are held; what the call keeps begins with
 * them. */
enum { CHROME_HELD = 12 };

static int use_stack(struct chrome_output *s, uint32_t stack)
{
	if (ARRAY_REACH(s->used, s->nused, stack))
		return -1;
	s->used[stack] = 1;
	return 0;
}

/* Set the recorded stack of the next line that chrome_put_args ends. */
static int chrome_set_stack(struct chrome_output *s, uint32_t stack)
{
	s->stack = stack;
	return stack ? use_stack(s, stack) : 0;
}

/* Append the source file and line of a location as file and line, if both are known. */
static int attributes_append_line(struct attributes *a, uint32_t location, struct buffer *to)
{
	const struct location *l = dictionary_location(a->dictionary, location);
	const struct location_symbol *symbol = l ? l->symbol : NULL;

	if (!symbol || !symbol->line || !symbol->file.size)
		return 0;
	return attributes_append_named(a, "file",
				       &(struct attribute){.kind = ATTRIBUTE_TEXT,
							   .text = symbol->file.text,
							   .number = symbol->file.size},
				       to) ||
			       attributes_append_named(a, "line",
						       &(struct attribute){.kind = ATTRIBUTE_UINT,
									   .number = symbol->line},
						       to)
		       ? -1
		       : 0;
}

/* Test whether the arguments of an event have the flows that flows_read got: a reader finds the
 * same ids there. Arguments of a leave are those of its call, which has others of the same name. */
static bool keeps_flows(const struct chrome_output *s, const struct event *ev)
{
	if ((ev->type->kind != KIND_ENTER && ev->type->kind != KIND_INSTANT) || s->flows.phase ||
	    !s->flows.same)
		return false;
	for (unsigned i = 0; s->options->flags & ENCODE_QUOTE_NUMBERS && i < s->flows.count; i++)
		if (s->flows.parts[i].id > 1ull << 53)
			return false;
	return true;
}

/* Append the arguments, without the id of an asynchronous event, and the name of its track, if that
 * is not the track of a thread. before: of a call that began before the output, which has no flows.
 * -1: out of memory. */
static int chrome_append_args(struct chrome_output *s, const struct event *ev, bool before,
			      struct buffer *to)
{
	bool named = ev->type->kind == KIND_INSTANT || ev->type->kind == KIND_ENTER;
	struct text_ref name = ev->lane->buffer;
	int r = 0;

	/* an argument of the event with that name follows and is preferred */
	if (__builtin_expect(name.size && named, 0) && track_is_other(ev->lane) &&
	    strcmp(name.text, PERFETTO_OVERLAPPING) != 0 &&
	    attributes_append_text(&s->attributes, CHROME_TRACK, name.text, name.size, to))
		return -1;
	s->attributes.flows_apart = !(!before && ev->type->flags & TYPE_VALUES &&
				      flows_read(&s->flows, ev) && keeps_flows(s, ev));
	if (!async_event_is(ev->type))
		r = attributes_append(&s->attributes, ev, to);
	else if (ev->tail_size)
		r = attributes_append_values(&s->attributes, ev, to);
	s->attributes.flows_apart = true;
	return r;
}

/* Render the arguments of a call, those of its enter and of its leave, into s->json. */
static int chrome_render_args(struct chrome_output *s, const struct span *span,
			      const struct event *leave, struct error *e)
{
	struct buffer *kept = &s->bytes;
	bool has_kept = span->kept_size && span->begun;
	size_t held = has_kept && s->options->flags & ENCODE_DROP ? CHROME_HELD : 0;
	size_t stack = has_kept && chrome_keeps_stack(span->type) ? 4 : 0;

	chrome_clear_args(s);
	if ((stack && chrome_set_stack(s, get_u32(span->kept->data + span->kept_at + held))) ||
	    (s->names.lines &&
	     attributes_append_line(&s->attributes, span->entered ? span->entered : span->location,
				    kept)) ||
	    (span->kept_size && buffer_append_from(kept, span->kept, span->kept_at + held + stack,
						   span->kept_size - held - stack)) ||
	    (leave && chrome_append_args(s, leave, false, kept)) ||
	    (span->unfinished && !chrome_is_open(s, span) &&
	     attributes_append_bool(&s->attributes, CHROME_UNFINISHED, true, kept)) ||
	    attributes_object(&s->attributes, kept, &s->json))
		return error_no_memory(e);
	return 0;
}

static int chrome_render_category(struct buffer *to, const char *name, size_t n)
{
	return buffer_append(to, ",\"cat\":", 7) || json_append_string(to, name, n) ? -1 : 0;
}

/* Write ,"cat": of a call at p. Returns where the line goes on, or NULL when out of memory. */
static char *chrome_put_category(struct chrome_output *s, char *p, const struct type *t,
				 bool kernel)
{
	const char *text;
	uint32_t size;

	if (kernel) {
		s->kernel = true;
		return PUT(p, ",\"cat\":\"" CHROME_KERNEL "\"");
	}
	if (!t || !t->group.size)
		return p;
	text = location_names_get(&s->categories, t->group.number, &size);
	if (!text)
		return NULL;
	s->kernel_taken |= chrome_is_kernel(t->group);
	if (size <= LOCATION_NAME_SHORT)
		return location_names_copy(p, text, size);
	text_wrote(s->out, p);
	text_put(s->out, text, size);
	return text_room(s->out, LINE_FIXED);
}

enum { MEMBERS_MOST = 16 << 20 }; /* bytes of a META, and of the members of all */

static void chrome_members_free(struct chrome_members *k)
{
	buffer_free(&k->part);
	buffer_free(&k->line);
	json_close(&k->json);
	key_map_free(&k->lines);
	intern_free(&k->named);
	intern_free(&k->names);
	intern_free(&k->texts);
	free(k->members);
}

/* --- metadata events --- */

/* Read an id of a metadata event; -1: none. */
static int32_t encode_chrome_read_id(const struct json_reader *r)
{
	char *end;
	long n = strtol((const char *)r->text.data, &end, 10);

	return r->text.size && !*end && n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* Read a metadata event, after its '{', into k->line without its ids. *names: it is the name of a
 * process. -1: BAD, or out of memory. */
static int chrome_read_event(struct chrome_members *k, int32_t *pid, int32_t *tid, bool *names)
{
	struct json_reader *r = &k->json;
	enum json_token token;
	bool first = true;

	k->line.size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool is_pid = json_is(r, "pid"), is_tid = json_is(r, "tid");
		bool is_name = json_is(r, "name");

		if (!is_pid && !is_tid &&
		    (buffer_puts(&k->line, first ? "" : ",") ||
		     json_append_string(&k->line, (const char *)r->text.data, r->text.size) ||
		     buffer_u8(&k->line, ':')))
			return -1;
		token = json_next(r);
		*names |= is_name && token == JSON_STRING && json_is(r, "process_name");
		if ((is_pid || is_tid) && token == JSON_NUMBER) {
			*(is_pid ? pid : tid) = encode_chrome_read_id(r);
			continue;
		}
		if (is_pid || is_tid ? !json_skip(r, token)
				     : json_copy(r, token, &k->line, SIZE_MAX))
			return -1;
		first &= is_pid || is_tid;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Write the event in k->line, unless a META before had it. */
static int chrome_put_event(struct chrome_output *s, int32_t pid, int32_t tid)
{
	struct chrome_members *k = &s->members;
	struct buffer *b = &k->line;
	uint64_t hash;
	uint32_t *meta;

	if ((pid >= 0 && buffer_printf(b, ",\"pid\":%" PRId32, pid)) ||
	    (tid >= 0 && buffer_printf(b, ",\"tid\":%" PRId32, tid)))
		return -1;
	hash = hash_bytes(b->data, b->size, 0);
	meta = key_map_number(&k->lines, hash);
	if (!meta)
		return -1;
	if (*meta && *meta != k->metas)
		return 0;
	*meta = k->metas;
	chrome_begin_line(s);
	text_char(s->out, '{');
	text_put(s->out, (const char *)b->data, b->size);
	text_char(s->out, '}');
	return 0;
}

/* Write the metadata events of a source, after the '['. -1: BAD, or out of memory. */
static int chrome_put_events(struct chrome_output *s, uint32_t source)
{
	struct chrome_members *k = &s->members;
	enum json_token token;

	while ((token = json_next(&k->json)) == JSON_OBJECT) {
		int32_t pid = -1, tid = -1;
		bool names = false;

		if (chrome_read_event(k, &pid, &tid, &names) ||
		    (pid >= 0 && tracks_pid(&s->tracks, source, pid, &pid)) ||
		    (pid >= 0 && names && intern(&k->named, &pid, sizeof pid) == INTERN_NONE) ||
		    chrome_put_event(s, pid, tid))
			return -1;
	}
	return token == JSON_ARRAY_END ? 0 : -1;
}

/* --- members --- */

/* Keep a member whose key was read. kind: m, o. -1: BAD, or out of memory. */
static int keep_member(struct chrome_output *s, char kind)
{
	struct chrome_members *k = &s->members;
	struct json_reader *r = &k->json;
	uint32_t had = k->names.count, name, text;
	bool unit = kind == 'm' && json_is(r, "displayTimeUnit");

	if ((k->late && !unit) || k->bytes + r->text.size > MEMBERS_MOST) {
		k->left_out++;
		return json_skip(r, json_next(r)) ? 0 : -1;
	}
	k->line.size = 0;
	if (buffer_u8(&k->line, (uint8_t)kind) ||
	    buffer_append(&k->line, r->text.data, r->text.size))
		return -1;
	k->bytes += k->line.size;
	name = intern(&k->names, k->line.data, k->line.size);
	k->line.size = 0;
	if (name == INTERN_NONE || ARRAY_REACH(k->members, k->capacity, name) ||
	    json_copy(r, json_next(r), &k->line, SIZE_MAX))
		return -1;
	k->bytes += k->line.size;
	if (!unit && !s->started)
		s->zero = k->zero;
	text = intern(&k->texts, k->line.data, k->line.size);
	if (text == INTERN_NONE)
		return -1;
	/* of two in one file, readers use the last one */
	if (name == had || k->members[name].meta == k->metas)
		k->members[name].text = text;
	k->members[name].differs |= k->members[name].text != text;
	k->members[name].meta = k->metas;
	return 0;
}

/* Test for the name of a member that the encoder writes itself. In the list the kind is before it.
 */
static bool chrome_is_own(const struct json_reader *r, char kind)
{
	static const char *const own[] = {
		"mtraceEvents", "msamples", "mstackFrames", "motherData",
		"oclock",	"oorigin",  "ounit",	    ("o" CHROME_KERNEL_CATEGORY)};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (*own[i] == kind && json_is(r, own[i] + 1))
			return true;
	return false;
}

/* Take the time of the file's time 0. A member may count times from there. */
static void chrome_take_origin(struct chrome_output *s)
{
	struct chrome_members *k = &s->members;
	uint64_t used = s->started ? s->origin : s->zero;

	k->zero = strtoull((const char *)k->json.text.data, NULL, 10);
	k->late = (s->started || used != UINT64_MAX) && used != k->zero;
}

/* Read otherData, after its '{'. -1: BAD, or out of memory. */
static int chrome_read_other(struct chrome_output *s)
{
	struct json_reader *r = &s->members.json;
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool origin = json_is(r, "origin");

		if (!chrome_is_own(r, 'o')) {
			if (keep_member(s, 'o'))
				return -1;
			continue;
		}
		token = json_next(r);
		if (origin && token == JSON_STRING)
			chrome_take_origin(s);
		else if (!json_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read the META of a source, which is Trace Event JSON. -1: BAD, or out of memory. */
static int read_meta(struct chrome_output *s, uint32_t source)
{
	struct json_reader *r = &s->members.json;
	enum json_token token;

	if (json_next(r) != JSON_OBJECT)
		return -1;
	while ((token = json_next(r)) == JSON_KEY) {
		bool events = json_is(r, "traceEvents"), other = json_is(r, "otherData");

		if (!chrome_is_own(r, 'm')) {
			if (keep_member(s, 'm'))
				return -1;
			continue;
		}
		token = json_next(r);
		if (events && token == JSON_ARRAY   ? chrome_put_events(s, source)
		    : other && token == JSON_OBJECT ? chrome_read_other(s)
						    : !json_skip(r, token))
			return -1;
	}
	return 0;
}

/* Take a piece of a META; writes the metadata events of CHROME_META. -1: out of memory. */
static int chrome_members_meta(struct chrome_output *s, const struct meta *m)
{
	struct chrome_members *k = &s->members;
	const struct source *source;
	int whole = m->total > MEMBERS_MOST ? 0 : meta_join(&k->part, m, CHROME_META);

	if (whole <= 0)
		return whole;
	source = m->source ? pool_at(&s->names.dictionary->sources, m->source) : NULL;
	k->metas++;
	k->zero = 0;
	k->late = s->started || (s->zero != UINT64_MAX && s->zero);
	json_open_text(&k->json, (const char *)k->part.data, k->part.size);
	/* what is no JSON is not used: trdecode wrote what is */
	return read_meta(s, source ? source->number : 0) && !k->json.error.what[0] ? -1 : 0;
}

/* Write the members of the file (kind m) or of otherData (o), a comma before each. */
static void chrome_members_put(const struct chrome_output *s, char kind)
{
	const struct chrome_members *k = &s->members;

	for (uint32_t i = 0; i < k->names.count; i++) {
		const char *name = intern_data(&k->names, i);
		uint32_t text = k->members[i].text;

		if (*name != kind || !k->members[i].meta || k->members[i].differs)
			continue;
		text_char(s->out, ',');
		json_string(s->out, name + 1, intern_size(&k->names, i) - 1);
		text_char(s->out, ':');
		text_put(s->out, intern_data(&k->texts, text), intern_size(&k->texts, text));
	}
}

/* Write displayTimeUnit and the members of the file, after the events. */
static void chrome_members_end(struct chrome_output *s)
{
	const struct chrome_members *k = &s->members;
	uint32_t unit = intern_find(&k->names, "mdisplayTimeUnit", 16);
	uint64_t left_out = k->left_out;

	if (unit == INTERN_NONE || k->members[unit].differs)
		text_puts(s->out, ",\"displayTimeUnit\":\"ns\"");
	chrome_members_put(s, 'm');
	for (uint32_t i = 0; i < k->names.count; i++)
		left_out += k->members[i].differs;
	if (!(s->options->flags & ENCODE_QUIET))
		remark_count(left_out,
			     "{member|members} beside the events {is|are} left out: the inputs "
			     "have different ones, or they are larger than 16 MiB");
}

/*
 * Calls as pairs of events: b and e, or S and F, for calls that overlap others; B and E for calls
 * of a stack that one X cannot represent.
 *
 * Readers sort X by time, and of equal times the longer first; they keep the order of other events
 * in the file. So the nesting is ambiguous if two X begin at the same time, if an X takes no time,
 * and if an event is at the time where an X begins or ends. In these cases the open calls have a B
 * each, written as late as that, and later an E. A call that is open at the end of the trace has no
 * E.
 */

/* The token of a call whose B is written. */
enum { HAS_BEGIN = 1 };

/* The category of calls that overlap others of their thread. */
#define OVERLAPPING "overlapping"

/* --- asynchronous events --- */

/* Write "cat" and the id after the phase. */
static void chrome_async_put_id(struct chrome_output *s, const struct type *t, uint64_t id)
{
	bool hex = t->fields[t->nfields - 1].kind == FIELD_HEX, local = t->native & CHROME_LOCAL;
	bool quote = !hex && id > 1ull << 53;

	text_puts(s->out, "\",\"cat\":");
	json_string(s->out, t->group.text, t->group.size);
	s->kernel_taken |= chrome_is_kernel(t->group);
	text_puts(s->out, local ? ",\"id2\":{\"local\":" : ",\"id\":");
	if (hex) {
		text_puts(s->out, "\"0x");
		text_hex(s->out, id, 1);
		text_char(s->out, '"');
	} else {
		text_puts(s->out, quote ? "\"" : "");
		text_u64(s->out, id);
		text_puts(s->out, quote ? "\"" : "");
	}
	text_puts(s->out, local ? "}," : ",");
	if (t->native & CHROME_ENCLOSING)
		text_puts(s->out, "\"bp\":\"e\",");
}

/* Write an asynchronous call, or a call that overlaps others, as a pair of events that viewers draw
 * beside the thread. A call that is open at the end has only the first event. */
static void chrome_async_put(struct chrome_output *s, const struct span *span,
			     const struct lane_prefix *prefix, const char *name, uint32_t size)
{
	bool ticks = counts_ticks(span->lane);
	bool async = async_event_is(span->type) && strcmp(span->type->group.text, OVERLAPPING) != 0;
	bool legacy = async && async_event_phase(span->type) == 'S';

	s->overlapping += !async;
	s->kernel |= span->kernel;
	for (int i = 0; i < 2 - chrome_is_open(s, span); i++) {
		char *p = chrome_line_room(s);

		p = PUT(p, "{\"ph\":\"");
		*p++ = "beSF"[2 * legacy + i];
		if (async) {
			text_wrote(s->out, p);
			chrome_async_put_id(s, span->type, span->token);
			p = text_room(s->out, LINE_FIXED + NAME_FAST);
		} else {
			p = span->kernel ? PUT(p, "\",\"cat\":\"" CHROME_KERNEL "\",\"id\":")
					 : PUT(p, "\",\"cat\":\"" OVERLAPPING "\",\"id\":");
			p = decimal_at(p, s->overlapping);
			*p++ = ',';
		}
		p = chrome_put_prefix(prefix, p);
		p = put_stamp(s, p, i ? span->end : span->start, ticks);
		p = PUT(p, ",\"name\":");
		p = chrome_put_marks(s, chrome_put_name(s, p, name, size), span, false);
		if (i)
			s->json.size = 0;
		chrome_put_args(s, p);
	}
}

/* --- B and E --- */

/* Write the B of an open call, with the attributes of its enter. */
static int chrome_put_begin(struct chrome_output *s, const struct stack *st, uint32_t thread,
			    size_t index, bool kernel, struct error *e)
{
	struct span_frame *f = spans_frame(&s->spans, st, index);
	struct buffer *kept = spans_kept(&s->spans, thread, kernel);
	const struct lane_prefix *prefix = chrome_prefix(s, thread, f->lane);
	uint32_t size;
	const char *name = location_names_get(&s->names, f->location, &size);
	char *p;

	if (!prefix || !name)
		return error_no_memory(e);
	chrome_clear_args(s);
	if ((s->names.lines && attributes_append_line(&s->attributes, f->location, &s->bytes)) ||
	    (f->kept_size && buffer_append_from(&s->bytes, kept, f->kept, f->kept_size)) ||
	    (s->bytes.size && attributes_object(&s->attributes, &s->bytes, &s->json)))
		return error_no_memory(e);
	p = chrome_line_room(s);
	p = PUT(p, "{\"ph\":\"B\",");
	p = chrome_put_prefix(prefix, p);
	p = put_stamp(s, p, f->start, counts_ticks(f->lane));
	p = PUT(p, ",\"name\":");
	p = chrome_put_name(s, p, name, size);
	p = chrome_put_category(s, p, f->type, kernel);
	if (!p)
		return error_no_memory(e);
	text_wrote(s->out, p);
	chrome_put_args(s, text_room(s->out, LINE_FIXED));
	f->token = HAS_BEGIN;
	return 0;
}

/* Write the B of the frames from the outermost to that index that have none. */
static int chrome_put_begins(struct chrome_output *s, const struct stack *st, uint32_t thread,
			     size_t index, bool kernel, struct error *e)
{
	size_t i = index + 1;

	for (; i; i--) {
		const struct span_frame *f = spans_frame(&s->spans, st, i - 1);

		if (!f->lane || f->token == HAS_BEGIN)
			break;
	}
	for (; i <= index; i++)
		if (chrome_put_begin(s, st, thread, i, kernel, e))
			return -1;
	return 0;
}

static uint64_t serial_of(const struct chrome_output *s, const struct span *span)
{
	return spans_frame(&s->spans, span->stack, span->stack->count)->serial;
}

/* Write the B of the calls on a stack that began before a call, the last one at the same time. */
static int chrome_put_earlier(struct chrome_output *s, const struct stack *st,
			      const struct span *span, bool kernel, struct error *e)
{
	const struct span_frame *f = NULL;
	size_t i = st->count;

	while (i && (f = spans_frame(&s->spans, st, i - 1))->serial > serial_of(s, span))
		i--;
	return i && f->lane && f->start == span->start
		       ? chrome_put_begins(s, st, span->thread, i - 1, kernel, e)
		       : 0;
}

/* Test for an open call in the kernel that began after a call of its thread, at the same time. */
static bool has_kernel(const struct chrome_output *s, const struct span *span)
{
	const struct stack *kernel = span->stack->kernel;
	const struct span_frame *f =
		kernel && kernel->count ? spans_frame(&s->spans, kernel, 0) : NULL;

	return f && f->start == span->start && f->serial > serial_of(s, span);
}

/* Write the B of a call that ends, and of the calls around it, if they need one by now. *begun: the
 * call has a B and needs an E. */
static int chrome_pairs_begin(struct chrome_output *s, const struct span *span,
			      const struct lane_prefix *prefix, bool *begun, struct error *e)
{
	const struct stack *st = span->stack;
	bool kernel = span->kernel;

	*begun = false;
	if (!st || s->options->flags & ENCODE_DROP)
		return 0;
	*begun = span->token == HAS_BEGIN || chrome_is_open(s, span) ||
		 (!kernel && (span->start >= span->end || prefix->instant == span->end + 1 ||
			      has_kernel(s, span)));
	/* a call in the kernel is inside of its thread's other calls, which are on another stack */
	if (kernel && chrome_put_earlier(s, s->spans.calls->stacks[span->thread], span, false, e))
		return -1;
	if (*begun)
		return chrome_put_begins(s, st, span->thread, st->count, kernel, e);
	return span->crossing ? 0 : chrome_put_earlier(s, st, span, kernel, e);
}

/* Write the B of the calls that begin at the time of an event that is not a call. */
static int chrome_pairs_event(struct chrome_output *s, const struct event *ev,
			      struct lane_prefix *prefix, struct error *e)
{
	const struct stack *st = calls_thread_stack(s->spans.calls, calls_thread(ev));
	const struct span_frame *top;

	prefix->instant = ev->time + 1;
	if (!st || !st->count || s->options->flags & ENCODE_DROP)
		return 0;
	top = spans_frame(&s->spans, st, st->count - 1);
	if (!top->lane || top->start != ev->time)
		return 0;
	return chrome_put_begins(s, st, calls_thread(ev), st->count - 1, false, e);
}

/* Write the E of a call, unless the call is open at the end. */
static int chrome_pairs_end(struct chrome_output *s, const struct span *span,
			    const struct lane_prefix *prefix, const struct event *leave,
			    struct error *e)
{
	struct span end = *span;
	char *p;

	/* the B has them */
	end.kept_size = 0;
	end.entered = end.location = 0;
	if (chrome_is_open(s, span))
		return 0;
	if (chrome_render_args(s, &end, leave, e))
		return -1;
	p = chrome_line_room(s);
	p = PUT(p, "{\"ph\":\"E\",");
	p = chrome_put_prefix(prefix, p);
	p = put_stamp(s, p, span->end, counts_ticks(span->lane));
	p = chrome_put_marks(s, p, span, true);
	if (!p)
		return error_no_memory(e);
	chrome_put_args(s, p);
	return 0;
}

/* Write the E of a call that is dropped, if it has a B. */
static int chrome_pairs_drop(struct chrome_output *s, const struct span *span,
			     const struct lane_prefix *prefix, struct error *e)
{
	return span->stack && span->token == HAS_BEGIN ? chrome_pairs_end(s, span, prefix, NULL, e)
						       : 0;
}

/* --- flows --- */

/* A part of a flow, and when and where its event is. */
struct placed_flow {
	struct flow_part part;
	uint64_t time;
	const struct lane *lane; /* NULL: it is held, and dropped */
	uint32_t thread;
	bool derived; /* the arguments of the event have it too */
};

/* Write a part of a flow at p, up to its pid. */
static char *put_flow(struct chrome_output *s, char *p, char phase, bool enclosing,
		      struct text_ref category, uint64_t id)
{
	p = PUT(p, "{\"ph\":\"");
	*p++ = phase;
	p = PUT(p, "\",\"cat\":");
	text_wrote(s->out, p);
	json_string(s->out, category.text, category.size);
	text_puts(s->out, ",\"id\":\"0x");
	text_hex(s->out, id, 1);
	p = text_room(s->out, LINE_FIXED);
	return enclosing ? PUT(p, "\",\"bp\":\"e\",") : PUT(p, "\",");
}

/* Write the phase of an instant at p, up to its time, and its thread, unless it has none. */
static char *put_instant(char *p, const struct event *ev, const struct lane_prefix *prefix)
{
	const struct type *t = ev->type;
	bool chrome = type_is_of(t, "chrome");
	bool thread = ev->lane->flags & (LANE_HAS_TID | LANE_HAS_PID | LANE_HAS_CPU);
	bool global = chrome ? t->native & CHROME_GLOBAL : !thread && type_is_of(t, "perfetto");

	p = PUT(p, "{\"ph\":\"i\",\"s\":\"");
	*p++ = global ? 'g' : chrome && t->native & CHROME_PROCESS ? 'p' : 't';
	p = PUT(p, "\",");
	return global && !thread ? PUT(p, "\"ts\":") : chrome_put_prefix(prefix, p);
}

/* Write an event that is neither call nor counter at p, up to its time. flow: it is the part of a
 * flow that flows_read got. Returns where the line goes on. */
static char *chrome_put_phase(struct chrome_output *s, char *p, const struct event *ev,
			      const struct lane_prefix *prefix, bool flow)
{
	if (flow)
		return chrome_put_prefix(prefix, put_flow(s, p, s->flows.phase, s->flows.enclosing,
							  ev->type->group, s->flows.parts[0].id));
	if (!async_event_is(ev->type))
		return put_instant(p, ev, prefix);
	p = PUT(p, "{\"ph\":\"");
	*p++ = async_event_phase(ev->type);
	text_wrote(s->out, p);
	chrome_async_put_id(s, ev->type, async_event_id(ev));
	return chrome_put_prefix(prefix, text_room(s->out, LINE_FIXED));
}

/* Write a part of a flow as an event of its own. */
static int put_flow_event(struct chrome_output *s, const struct placed_flow *f, struct error *e)
{
	const struct text_ref name = {.text = CHROME_FLOW, .size = sizeof CHROME_FLOW - 1};
	struct lane_prefix *prefix = chrome_prefix(s, f->thread, f->lane);
	char phase = flow_phase(&s->flows, &f->part), *p;

	if (!prefix || !phase)
		return error_no_memory(e);
	p = put_flow(s, chrome_line_room(s), phase, phase != 's', name, f->part.id);
	p = chrome_put_prefix(prefix, p);
	p = put_stamp(s, p, f->time, counts_ticks(f->lane));
	p = PUT(p, ",\"name\":\"" CHROME_FLOW "\"");
	if (f->derived)
		p = PUT(p, ",\"" CHROME_DERIVED_MARK "\":true");
	*p++ = '}';
	text_wrote(s->out, p);
	return 0;
}

/* Hold the n flows that flows_read got, all of which are placed like `flow`. -1: out of memory. */
static int hold_flows(struct chrome_output *s, struct placed_flow flow, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		flow.part = s->flows.parts[i];
		if (buffer_append(&s->held_flows, &flow, sizeof flow))
			return -1;
	}
	return 0;
}

/* Place the flows of an event that flows_read got. */
static struct placed_flow place_flows(const struct chrome_output *s, const struct event *ev)
{
	return (struct placed_flow){.time = ev->time,
				    .lane = ev->lane,
				    .thread = calls_thread(ev),
				    .derived = keeps_flows(s, ev)};
}

/* Hold the flows of a call that begins, with --unclosed=drop: their phases depend on the calls that
 * are dropped. What the call keeps begins with CHROME_HELD bytes, which say where they are. -1: out
 * of memory. */
static int chrome_hold_call(struct chrome_output *s, const struct event *enter,
			    const struct span *span, struct buffer *keep)
{
	uint64_t first = s->held_flows.size;
	/* else the output with the call's enter has them */
	unsigned n = span->restored ? 0 : flows_read(&s->flows, enter);

	return hold_flows(s, place_flows(s, enter), n) || buffer_u64(keep, first) ||
			       buffer_u32(keep, n)
		       ? -1
		       : 0;
}

/* Drop the flows of a call that is dropped. */
static void chrome_drop_flows(struct chrome_output *s, const struct span *span)
{
	const uint8_t *kept;
	struct placed_flow held;

	if (!span->begun || span->kept_size < CHROME_HELD)
		return;
	kept = span->kept->data + span->kept_at;
	for (uint32_t i = 0; i < get_u32(kept + 8); i++) {
		uint8_t *at = s->held_flows.data + get_u64(kept) + i * sizeof held;

		memcpy(&held, at, sizeof held);
		held.lane = NULL;
		memcpy(at, &held, sizeof held);
	}
}

/* Write the flows that are held. */
static int chrome_put_held(struct chrome_output *s, struct error *e)
{
	struct placed_flow held;

	for (size_t at = 0; at < s->held_flows.size; at += sizeof held) {
		memcpy(&held, s->held_flows.data + at, sizeof held);
		if (held.lane && put_flow_event(s, &held, e))
			return -1;
		if (at % BUFFER_PIECE < sizeof held)
			buffer_rest(&s->held_flows);
	}
	return 0;
}

/* Write the flows of an event that was read from Perfetto's format: events of the category
 * CHROME_FLOW. */
static int chrome_put_flows(struct chrome_output *s, const struct event *ev, struct error *e)
{
	unsigned n = async_event_is_flow(ev->type) ? 0 : flows_read(&s->flows, ev);
	struct placed_flow flow = place_flows(s, ev);
	struct lane_prefix *prefix;

	/* a part of a flow of JSON is its own event */
	if (!n || s->flows.phase)
		return 0;
	if (s->options->flags & ENCODE_DROP)
		return ev->type->kind != KIND_ENTER && hold_flows(s, flow, n) ? error_no_memory(e)
									      : 0;
	prefix = chrome_prefix(s, flow.thread, flow.lane);
	if (!prefix)
		return error_no_memory(e);
	/* the flows are inside of the call that begins or ends at their time */
	if (chrome_pairs_event(s, ev, prefix, e))
		return -1;
	for (unsigned i = 0; i < n; i++) {
		flow.part = s->flows.parts[i];
		if (put_flow_event(s, &flow, e))
			return -1;
	}
	return 0;
}

/*
 * Samples, and the stacks of other events, in Trace Event JSON.
 *
 * An element of "samples" is a sample: {"pid", "tid", "ts", "cpu", "sf", "weight", "name", "cat",
 * "args"}. Its "sf", and that of an event, is the key in "stackFrames" of its innermost frame,
 * which has the key of its caller's frame: {"name", "category", "parent"}. The category of a frame
 * is its module. Keys are numbers of stacks of the dictionary.
 *
 * Both follow the events in the file, so the samples are kept until then, in a buffer that spills.
 */

/* Append the members of a sample that are numbers. */
static int append_numbers(struct chrome_output *s, const struct event *ev,
			  const struct lane_prefix *prefix, uint32_t stack)
{
	struct buffer *b = &s->samples;
	bool first = !b->size;
	char *p;

	if (buffer_reserve(b, LINE_FIXED))
		return -1;
	p = (char *)b->data + b->size;
	p = first ? PUT(p, "\n{") : PUT(p, ",\n{");
	p = chrome_put_prefix(prefix, p);
	p = put_stamp(s, p, ev->time, counts_ticks(ev->lane));
	p = put_cpu(p, ev->lane);
	if (stack) {
		p = PUT(p, ",\"sf\":");
		p = decimal_at(p, stack);
	}
	p = PUT(p, ",\"weight\":");
	p = decimal_at(p, sample_weight(ev));
	if (ev->type->flags & TYPE_WEIGHT_TIME)
		p = PUT(p, ",\"" CHROME_WEIGHT_UNIT "\":\"ns\"");
	p = PUT(p, ",\"name\":");
	b->size = (size_t)(p - (char *)b->data);
	return 0;
}

/* Keep a sample. prefix: of its thread. -1: out of memory. */
static int chrome_put_sample(struct chrome_output *s, const struct event *ev,
			     const struct lane_prefix *prefix)
{
	struct buffer *b = &s->samples;
	const struct type *t = ev->type;
	uint32_t stack = event_stack(s->names.dictionary, ev);

	if ((stack && use_stack(s, stack)) || append_numbers(s, ev, prefix, stack) ||
	    json_append_string(b, t->name.text, t->name.size))
		return -1;
	if (t->group.size &&
	    (buffer_puts(b, ",\"cat\":") || json_append_string(b, t->group.text, t->group.size)))
		return -1;
	/* the weight alone needs no arguments */
	if (t->nfields > (t->period ? 1 : 0)) {
		chrome_clear_args(s);
		if (attributes_append(&s->attributes, ev, &s->bytes) ||
		    attributes_object(&s->attributes, &s->bytes, &s->json) ||
		    (s->json.size && (buffer_puts(b, ",\"args\":") ||
				      buffer_append_from(b, &s->json, 0, s->json.size))))
			return -1;
	}
	return buffer_u8(b, '}');
}

/* Write the frame of a stack. */
static int chrome_put_frame(struct chrome_output *s, uint32_t stack)
{
	struct stack_key key = stack_table_at(&s->names.dictionary->stacks, stack);
	const struct location *l = dictionary_location(s->names.dictionary, key.location);
	uint32_t size;
	const char *name = location_names_get(&s->names, key.location, &size);

	if (!name)
		return -1;
	text_char(s->out, '"');
	text_u64(s->out, stack);
	text_puts(s->out, "\":{\"name\":");
	text_put(s->out, name, size);
	if (l && l->symbol && l->symbol->module.size) {
		text_puts(s->out, ",\"category\":");
		json_string(s->out, l->symbol->module.text, l->symbol->module.size);
	}
	if (key.parent) {
		text_puts(s->out, ",\"parent\":");
		text_u64(s->out, key.parent);
	}
	text_char(s->out, '}');
	return 0;
}

/* Write "samples" and "stackFrames", after the events. */
static int chrome_samples_put(struct chrome_output *s)
{
	bool any = false;

	if (s->samples.size) {
		text_puts(s->out, ",\"samples\":[");
		text_put_buffer(s->out, &s->samples, 0, s->samples.size);
		text_puts(s->out, "\n]");
	}
	/* the number of a caller's stack is below that of the stack */
	for (size_t i = s->nused; i-- > 1;)
		if (s->used[i])
			s->used[stack_table_at(&s->names.dictionary->stacks, (uint32_t)i).parent] =
				1;
	for (size_t i = 1; i < s->nused; i++) {
		if (!s->used[i])
			continue;
		text_puts(s->out, any ? ",\n" : ",\"stackFrames\":{\n");
		any = true;
		if (chrome_put_frame(s, (uint32_t)i))
			return -1;
	}
	if (any)
		text_puts(s->out, "\n}");
	return 0;
}

/* --- slices of CPUs and threads --- */

/* --- names of processes and tracks --- */

static void put_metadata(struct scheduling *c, const char *what, int32_t pid, int32_t tid)
{
	chrome_begin_line(c->out);
	text_printf(c->out->out,
		    "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"" CHROME_DERIVED_MARK
		    "\":true,\"name\":\"%s\",\"args\":{",
		    pid, tid, what);
}

static void put_process(struct scheduling *c, int32_t pid, const char *name,
			const struct source *source, int order)
{
	struct text *out = c->out->out;

	put_metadata(c, "process_name", pid, 0);
	text_puts(out, "\"name\":");
	if (c->several && source) {
		struct buffer *b = &c->out->bytes;

		buffer_clear(b);
		/* a name that memory does not suffice for is the plain one */
		if (!buffer_printf(b, "%s of %s", name, source->name.text))
			json_string(out, (const char *)b->data, b->size);
		else
			json_string(out, name, strlen(name));
	} else {
		json_string(out, name, strlen(name));
	}
	text_puts(out, "}}");
	put_metadata(c, "process_sort_index", pid, 0);
	text_printf(out, "\"sort_index\":%d}}", order);
}

/* Get the number of the process of the CPUs, or of the states of threads, of a source. */
static int process_of(struct scheduling *c, const struct source *source, bool states, int32_t *pid)
{
	uint32_t number = source ? source->number : 0;
	int32_t *p;

	if (ARRAY_REACH(c->processes, c->nprocesses, number))
		return -1;
	p = c->processes[number];
	if (!p[0]) {
		if (tracks_new_process(&c->out->tracks, number, 0, &p[0]) ||
		    tracks_new_process(&c->out->tracks, number, 1, &p[1]))
			return -1;
		put_process(c, p[0], "CPUs", source, -2);
		put_process(c, p[1], "Thread states", source, -1);
		c->several = true;
	}
	*pid = p[states];
	return 0;
}

/* Get the numbers of a track, pid and tid. A new track, or a thread with a new name, gets its name.
 */
static int place_of(struct scheduling *c, enum scheduling_track track,
		    const struct scheduling_cpu *cpu, const struct scheduling_thread *thread,
		    int32_t place[2], struct error *e)
{
	static const char *const names[] = {"CPU %d", "CPU %d irq", "CPU %d softirq"};
	bool state = track == TRACK_STATE;
	uint32_t had = c->tracks.count, number;
	struct text_ref comm;

	if (process_of(c, state ? thread->source : cpu->source, state, &place[0]))
		return error_no_memory(e);
	/* numbers of CPUs that no machine has share tracks: modulo 2^32 */
	place[1] = state ? thread->tid : (int32_t)((uint32_t)cpu->cpu * 3 + track + 1);
	number = intern(&c->tracks, place, 2 * sizeof *place);
	if (number == INTERN_NONE || ARRAY_REACH(c->comms, c->ncomms, number))
		return error_no_memory(e);
	if (c->tracks.count == had && (!state || c->comms[number] == thread->comm))
		return 0;
	put_metadata(c, "thread_name", place[0], place[1]);
	if (!state) {
		text_puts(c->out->out, "\"name\":\"");
		text_printf(c->out->out, names[track], cpu->cpu);
		text_puts(c->out->out, "\"}}");
		put_metadata(c, "thread_sort_index", place[0], place[1]);
		text_printf(c->out->out, "\"sort_index\":%d}}", place[1]);
		return 0;
	}
	c->comms[number] = thread->comm;
	comm = dictionary_string(c->dictionary, thread->comm);
	buffer_clear(&c->out->bytes);
	if (buffer_append(&c->out->bytes, comm.text, comm.size) ||
	    buffer_printf(&c->out->bytes, "%s%d", comm.size ? " " : "", thread->tid))
		return error_no_memory(e);
	text_puts(c->out->out, "\"name\":");
	json_string(c->out->out, (const char *)c->out->bytes.data, c->out->bytes.size);
	text_puts(c->out->out, "}}");
	return 0;
}

/* --- events --- */

static bool ticks_of(const struct scheduling *c)
{
	return c->out->clock && c->out->clock->flags & CLOCK_TICKS;
}

/* Write the beginning of a line, up to the time. */
static void chrome_put_line(struct scheduling *c, const char *phase, const int32_t place[2],
			    uint64_t time)
{
	struct chrome_output *s = c->out;
	char *p = chrome_line_room(s);

	p = PUT(p, "{\"ph\":\"");
	p = chrome_put(p, phase, strlen(phase));
	p += sprintf(p, "\",\"pid\":%d,\"tid\":%d,\"cat\":\"" CHROME_DERIVED "\",\"ts\":", place[0],
		     place[1]);
	text_wrote(s->out, put_stamp(s, p, time, ticks_of(c)));
}

static void put_thread_name(struct scheduling *c, const struct scheduling_thread *t)
{
	struct text *out = c->out->out;
	struct text_ref comm = dictionary_string(c->dictionary, t->comm);

	if (comm.size)
		json_string(out, comm.text, comm.size);
	else
		text_printf(out, t->tid ? "\"thread %d\"" : "\"idle\"", t->tid);
}

/* What viewers show of each state; the colours are names that Chrome's viewer has. */
static const struct {
	const char *name, *colour;
} looks[THREAD_STATES] = {
	[THREAD_RUNNING] = {"Running", "thread_state_running"},
	[THREAD_RUNNABLE] = {"Runnable", "thread_state_runnable"},
	[THREAD_SLEEPING] = {"Sleeping", "thread_state_sleeping"},
	[THREAD_UNINTERRUPTIBLE] = {"Uninterruptible", "thread_state_uninterruptible"},
	[THREAD_STOPPED] = {"Stopped", "thread_state_unknown"},
	[THREAD_TRACED] = {"Traced", "thread_state_unknown"},
	[THREAD_PARKED] = {"Parked", "thread_state_sleeping"},
	[THREAD_IDLE] = {"Idle", "thread_state_sleeping"},
};

/* Write the name of a slice, and its arguments; each argument but the first has a comma. */
static void put_cpu_slice(struct scheduling *c, const struct scheduling_slice *slice)
{
	struct text *out = c->out->out;

	put_thread_name(c, slice->thread);
	if (!slice->thread->tid)
		text_puts(out, ",\"cname\":\"grey\"");
	text_printf(out, ",\"args\":{\"tid\":%d", slice->thread->tid);
	if (slice->cpu->has_prio && !slice->unseen)
		text_printf(out, ",\"prio\":%d", slice->cpu->prio);
	if (*slice->end_state) {
		text_puts(out, ",\"end_state\":");
		json_string(out, slice->end_state, strlen(slice->end_state));
	}
}

static void put_state_slice(struct scheduling *c, const struct scheduling_slice *slice)
{
	struct text *out = c->out->out;

	text_printf(out, "\"%s\",\"cname\":\"%s\",\"args\":{", looks[slice->state].name,
		    looks[slice->state].colour);
	text_printf(out, "\"cpu\":%d", slice->cpu->cpu);
	if (slice->waker) {
		text_printf(out, ",\"waker_tid\":%d,\"waker\":", slice->waker->tid);
		put_thread_name(c, slice->waker);
	}
}

static void put_irq_slice(struct scheduling *c, const struct scheduling_slice *slice)
{
	bool soft = slice->track == TRACK_SOFTIRQ;
	struct text_ref name = dictionary_string(c->dictionary, slice->irq->name);
	struct text *out = c->out->out;

	if (name.size)
		json_string(out, name.text, name.size);
	else
		text_printf(out, soft ? "\"softirq %" PRId64 "\"" : "\"irq %" PRId64 "\"",
			    slice->irq->number);
	text_printf(out, soft ? ",\"args\":{\"vec\":%" PRId64 : ",\"args\":{\"irq\":%" PRId64,
		    slice->irq->number);
	if (slice->has_ret)
		text_printf(out, ",\"ret\":%" PRId64, slice->ret);
}

static int put_slice(struct scheduling *c, const struct scheduling_slice *slice, struct error *e)
{
	struct text *out = c->out->out;
	int32_t place[2];
	char *p;

	/* times may step back */
	if (slice->end <= slice->start ||
	    (slice->unfinished && c->out->options->flags & ENCODE_DROP))
		return 0;
	if (place_of(c, slice->track, slice->cpu, slice->thread, place, e))
		return -1;
	chrome_put_line(c, "X", place, slice->start);
	p = PUT(text_room(out, LINE_FIXED), ",\"dur\":");
	p = chrome_put_time(p, slice->end - slice->start, ticks_of(c));
	text_wrote(out, PUT(p, ",\"name\":"));
	switch (slice->track) {
	case TRACK_CPU: put_cpu_slice(c, slice); break;
	case TRACK_STATE: put_state_slice(c, slice); break;
	default: put_irq_slice(c, slice);
	}
	if (slice->unseen)
		text_puts(out, ",\"" CHROME_UNSEEN "\":true");
	/* viewers end a B without an E at the last event of its track, so there is none */
	if (slice->unfinished)
		text_puts(out, c->at_end ? ",\"open\":true" : ",\"" CHROME_UNFINISHED "\":true");
	text_puts(out, "}}");
	return 0;
}

/* Write the flow from the waker of the thread that runs on a CPU. */
static int put_wakeup_flow(struct scheduling *c, const struct scheduling_cpu *to, struct error *e)
{
	int32_t from[2], here[2];

	if (place_of(c, to->wake.track, &c->cpus[to->wake.cpu], NULL, from, e) ||
	    place_of(c, TRACK_CPU, to, NULL, here, e))
		return -1;
	c->flows++;
	chrome_put_line(c, "s", from, to->wake.time);
	text_printf(c->out->out, ",\"id\":%" PRIu64 ",\"name\":\"wakeup\"}", c->flows);
	chrome_put_line(c, "f", here, to->since);
	text_printf(c->out->out, ",\"id\":%" PRIu64 ",\"bp\":\"e\",\"name\":\"wakeup\"}", c->flows);
	return 0;
}

/* Get the numbers of the track of a thread in the paths of a call's thread. */
static int path_place(struct chrome_output *s, const struct why_path *p,
		      const struct path_slice *slice, int32_t place[2])
{
	struct scheduling *c = &s->scheduling;
	struct buffer *b = &s->bytes;
	uint32_t had = s->path_tracks.count;

	place[1] = (int32_t)slice->task;
	if (tracks_new_process(&s->tracks, 0, 2 + (int32_t)p->of, &place[0]) ||
	    intern(&s->path_tracks, place, sizeof place[0]) == INTERN_NONE)
		return -1;
	if (s->path_tracks.count > had) {
		buffer_clear(b);
		if (buffer_puts(b, "Critical path of ") || why_path_name(p, p->of, b) ||
		    buffer_u8(b, 0))
			return -1;
		put_process(c, place[0], (const char *)b->data, NULL, -3);
	}
	had = s->path_tracks.count;
	if (intern(&s->path_tracks, place, 2 * sizeof place[0]) == INTERN_NONE)
		return -1;
	if (s->path_tracks.count > had) {
		put_metadata(c, "thread_name", place[0], place[1]);
		text_puts(s->out, "\"name\":");
		json_string(s->out, intern_data(&p->labels, slice->thread),
			    intern_size(&p->labels, slice->thread));
		text_puts(s->out, "}}");
	}
	return 0;
}

/* Write a slice of a path, and the flow from the one before it, if that is of another thread. */
static int put_path_slice(struct chrome_output *s, const struct why_path *p, size_t i)
{
	struct scheduling *c = &s->scheduling;
	const struct path_slice *slice = &p->slices[i], *before = i ? slice - 1 : p->before;
	int32_t place[2], from[2];
	char *t;

	if (path_place(s, p, slice, place))
		return -1;
	chrome_put_line(c, "X", place, slice->begin);
	t = PUT(text_room(s->out, LINE_FIXED), ",\"dur\":");
	t = chrome_put_time(t, slice->end - slice->begin, ticks_of(c));
	text_wrote(s->out, PUT(t, ",\"name\":"));
	json_string(s->out, intern_data(&p->labels, slice->text),
		    intern_size(&p->labels, slice->text));
	text_printf(s->out, ",\"args\":{\"depth\":%" PRIu32 "}}", slice->depth);
	if (!before || !slice->flow)
		return 0;
	if (path_place(s, p, before, from))
		return -1;
	c->flows++;
	chrome_put_line(c, "s", from, before->end - 1);
	text_printf(s->out, ",\"id\":%" PRIu64 ",\"name\":\"critical path\"}", c->flows);
	chrome_put_line(c, "f", place, slice->begin);
	text_printf(s->out, ",\"id\":%" PRIu64 ",\"bp\":\"e\",\"name\":\"critical path\"}",
		    c->flows);
	return 0;
}

/* Write the slices of a path, for struct why_path. */
static int chrome_put_path(void *ctx, const struct why_path *p, struct error *e)
{
	for (size_t i = 0; i < p->count; i++)
		if (put_path_slice(ctx, p, i))
			return error_no_memory(e);
	return 0;
}

/* Begin a counter of a CPU, or of the process whose thread the event is of. */
static void begin_counter(struct scheduling *c, const int32_t place[2], uint64_t time,
			  const char *name)
{
	chrome_put_line(c, "C", place, time);
	text_puts(c->out->out, ",\"name\":");
	json_string(c->out->out, name, strlen(name));
}

static int memory_counter(struct scheduling *c, const struct scheduling_type *t,
			  const struct event *ev, struct error *e)
{
	static const char *const members[] = {"file", "anon", "swap", "shmem"};
	int32_t place[2];
	const struct track *track;
	int64_t member, size, current = 1, id = 0;
	char name[64];

	if (!scheduling_number(t, ev, MEMORY_MEMBER, &member) ||
	    !scheduling_number(t, ev, MEMORY_SIZE, &size))
		return 0;
	track = tracks_get(&c->out->tracks, calls_thread(ev), ev->lane);
	if (!track)
		return error_no_memory(e);
	place[0] = track->pid;
	place[1] = track->tid;
	if (member >= 0 && member < 4)
		snprintf(name, sizeof name, "rss %s", members[member]);
	else
		snprintf(name, sizeof name, "rss %" PRId64, member);
	/* of a process that does not run here only the number of its memory is known */
	if (scheduling_number(t, ev, MEMORY_CURRENT, &current) && !current &&
	    scheduling_number(t, ev, MEMORY_ID, &id))
		snprintf(name + strlen(name), sizeof name - strlen(name), " of mm %" PRId64, id);
	begin_counter(c, place, ev->time, name);
	text_printf(c->out->out, ",\"args\":{\"size\":%" PRId64 "}}", size);
	return 0;
}

/* Write an event of SCHEDULING_FREQUENCY, LIMITS, IDLE or MEMORY. */
static int put_counter(struct scheduling *c, const struct scheduling_type *t,
		       const struct event *ev, struct error *e)
{
	struct scheduling_cpu cpu = {.source = ev->lane->source};
	int64_t number = 0, state = 0, high = 0;
	int32_t place[2];
	char name[64];

	if (t->kind == SCHEDULING_MEMORY)
		return memory_counter(c, t, ev, e);
	if (!scheduling_number(t, ev, t->kind == SCHEDULING_LIMITS ? LIMITS_CPU : POWER_CPU,
			       &number) ||
	    number < 0 || number >= 1 << 16 || !scheduling_number(t, ev, POWER_STATE, &state))
		return 0;
	cpu.cpu = (int32_t)number;
	if (place_of(c, TRACK_CPU, &cpu, NULL, place, e))
		return -1;
	snprintf(name, sizeof name, "CPU %d %s", cpu.cpu,
		 t->kind == SCHEDULING_IDLE	   ? "idle state"
		 : t->kind == SCHEDULING_FREQUENCY ? "frequency"
						   : "frequency limits");
	begin_counter(c, place, ev->time, name);
	if (t->kind == SCHEDULING_LIMITS) {
		scheduling_number(t, ev, LIMITS_HIGH, &high);
		text_printf(c->out->out, ",\"args\":{\"min\":%" PRId64 ",\"max\":%" PRId64 "}}",
			    state, high);
	} else if (t->kind == SCHEDULING_FREQUENCY) {
		text_printf(c->out->out, ",\"args\":{\"kHz\":%" PRId64 "}}", state);
	} else {
		/* viewers draw from 0 on: the deeper the state the higher */
		text_printf(c->out->out, ",\"args\":{\"state\":%" PRId64 "}}",
			    (uint32_t)state == UINT32_MAX ? 0 : state + 1);
	}
	return 0;
}

/* --- what CPUs and threads do --- */

/* Get the index + 1 of a CPU; 0 when out of memory. */
static uint32_t scheduling_cpu_of(struct scheduling *s, const struct source *source, uint32_t cpu)
{
	uint32_t key[2] = {source ? source->number : 0, cpu}, n;

	n = intern(&s->cpu_keys, key, sizeof key);
	if (n == INTERN_NONE || ARRAY_REACH(s->cpus, s->ncpus, n))
		return 0;
	s->cpus[n].source = source;
	s->cpus[n].cpu = (int32_t)cpu;
	return n + 1;
}

/* Get the index + 1 of a thread; 0 when out of memory. */
static uint32_t scheduling_thread_of(struct scheduling *s, const struct scheduling_cpu *cpu,
				     int64_t tid, const char *comm, size_t size)
{
	uint32_t key[3] = {cpu->source ? cpu->source->number : 0, (uint32_t)tid,
			   tid ? 0 : (uint32_t)cpu->cpu};
	uint32_t n = intern(&s->thread_keys, key, sizeof key);
	struct scheduling_thread *t;
	struct text_ref text;

	if (n == INTERN_NONE || ARRAY_REACH(s->threads, s->nthreads, n))
		return 0;
	t = &s->threads[n];
	t->source = cpu->source;
	t->tid = (int32_t)tid;
	if (size) {
		text = dictionary_string(s->dictionary, t->comm);
		if (!t->comm || text.size != size || memcmp(text.text, comm, size) != 0)
			t->comm = dictionary_text(s->dictionary, comm, size).number;
	}
	return n + 1;
}

/* Read the thread in a slot, with its name in the slot before it. Returns its index + 1, 0 when out
 * of memory; *known: the event has a valid number. */
static uint32_t scheduling_read_thread(struct scheduling *s, uint32_t cpu,
				       const struct scheduling_type *t, const struct event *ev,
				       unsigned slot, bool *known)
{
	const struct lane *lane = ev->lane;
	const char *comm = NULL;
	size_t size = 0;
	int64_t tid;

	*known = scheduling_number(t, ev, slot, &tid) && tid >= 0 && tid < TID_MOST;
	if (!*known)
		return 0;
	if (!scheduling_text(t, ev, slot - 1, &comm, &size) && lane->flags & LANE_HAS_TID &&
	    lane->tid == tid) {
		comm = lane->comm.text;
		size = lane->comm.size;
	}
	return scheduling_thread_of(s, &s->cpus[cpu - 1], tid, comm, size);
}

static void list_remove(struct scheduling *s, uint32_t thread)
{
	struct scheduling_thread *t = &s->threads[thread - 1];

	*(t->before ? &s->threads[t->before - 1].after : &s->cpus[t->cpu].threads) = t->after;
	if (t->after)
		s->threads[t->after - 1].before = t->before;
}

/* Begin a state of a thread, which has none. */
static void state_begin(struct scheduling *s, uint32_t thread, uint32_t cpu,
			enum thread_state state, uint64_t time)
{
	struct scheduling_thread *t = &s->threads[thread - 1];

	if (!t->tid || state == THREAD_UNKNOWN)
		return;
	t->state = state;
	t->since = time;
	t->cpu = cpu - 1;
	t->before = 0;
	t->after = s->cpus[cpu - 1].threads;
	if (t->after)
		s->threads[t->after - 1].before = thread;
	s->cpus[cpu - 1].threads = thread;
}

static int state_end(struct scheduling *s, uint32_t thread, uint64_t time, bool unfinished,
		     struct error *e)
{
	struct scheduling_thread *t = &s->threads[thread - 1];
	struct scheduling_slice slice = {.track = TRACK_STATE,
					 .thread = t,
					 .cpu = &s->cpus[t->cpu],
					 .start = t->since,
					 .end = time,
					 .state = t->state,
					 .unfinished = unfinished};

	if (t->state == THREAD_UNKNOWN)
		return 0;
	if (t->state == THREAD_RUNNABLE && t->woken && t->wake.waker)
		slice.waker = &s->threads[t->wake.waker - 1];
	list_remove(s, thread);
	t->state = THREAD_UNKNOWN;
	return put_slice(s, &slice, e);
}

/* End the interrupts, or the softirqs, of a CPU but for the first ones. */
static int irqs_end(struct scheduling *s, struct scheduling_cpu *c, bool soft, unsigned keep,
		    uint64_t time, struct error *e)
{
	while (c->nirqs[soft] > keep) {
		const struct scheduling_irq *irq = &c->irqs[soft][--c->nirqs[soft]];

		if (put_slice(s,
			      &(struct scheduling_slice){.track = soft ? TRACK_SOFTIRQ : TRACK_IRQ,
							 .cpu = c,
							 .irq = irq,
							 .start = irq->since,
							 .end = time,
							 .unfinished = true},
			      e))
			return -1;
	}
	return 0;
}

/* End the slice of the thread that runs on a CPU, at which the flow of its wakeup ends. */
static int cpu_end(struct scheduling *s, struct scheduling_cpu *c, uint64_t time,
		   const char *end_state, bool unfinished, struct error *e)
{
	struct scheduling_slice slice = {.track = TRACK_CPU,
					 .cpu = c,
					 .thread = &s->threads[c->running - 1],
					 .start = c->since,
					 .end = time,
					 .end_state = end_state,
					 .unfinished = unfinished};

	if (put_slice(s, &slice, e))
		return -1;
	return c->woken && slice.end > slice.start ? put_wakeup_flow(s, c, e) : 0;
}

/* End what is open on a CPU, and the states of the threads that were last there. */
static int cpu_lose(struct scheduling *s, uint32_t cpu, uint64_t time, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];

	if (c->running && cpu_end(s, c, time, "", true, e))
		return -1;
	c->running = 0;
	c->begun = false;
	while (c->threads) {
		s->threads[c->threads - 1].woken = false;
		if (state_end(s, c->threads, time, true, e))
			return -1;
	}
	return irqs_end(s, c, false, 0, time, e) || irqs_end(s, c, true, 0, time, e) ? -1 : 0;
}

/* End what is open: events are missing. */
static int scheduling_lost(struct scheduling *s, struct error *e)
{
	for (uint32_t i = 0; i < s->ncpus; i++)
		if (cpu_lose(s, i + 1, s->cpus[i].last, e))
			return -1;
	return 0;
}

/* Take a gap of all CPUs of a source. */
static int scheduling_gap(struct scheduling *s, const struct source *source, struct error *e)
{
	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct scheduling_cpu *c = &s->cpus[i];

		if (c->begun && c->source == source && cpu_lose(s, i + 1, c->last, e))
			return -1;
	}
	return 0;
}

/* End what is open, at the end of the trace, and report unless quiet. */
static int scheduling_finish(struct scheduling *s, struct error *e)
{
	s->at_end = true;
	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct source *source = s->cpus[i].source;
		uint32_t number = source ? source->number : 0;

		if (cpu_lose(s, i + 1, number < s->nends ? s->ends[number] : 0, e))
			return -1;
	}
	if (!(s->out->options->flags & ENCODE_QUIET))
		remark_count(s->unpaired, "{end|ends} of interrupts without a beginning: no slice");
	return 0;
}

/* Switch a thread out: its slice on the CPU and its state end. */
static int switch_out(struct scheduling *s, uint32_t cpu, uint32_t prev, const struct event *ev,
		      const struct switch_state *state, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	struct scheduling_thread *t = &s->threads[prev - 1];
	bool unseen = !c->running;

	if (c->running && c->running != prev) {
		/* the events in between are missing: another thread was last seen to run */
		if (cpu_end(s, c, c->last, "", true, e) ||
		    state_end(s, c->running, c->last, true, e))
			return -1;
	} else if (c->running) {
		if (cpu_end(s, c, ev->time, state->letters, false, e))
			return -1;
	} else if (put_slice(s,
			     &(struct scheduling_slice){.track = TRACK_CPU,
							.cpu = c,
							.thread = t,
							.start = c->first,
							.end = ev->time,
							.end_state = state->letters,
							.unseen = true},
			     e)) {
		return -1;
	}
	if (t->state == THREAD_UNKNOWN && unseen && t->tid &&
	    put_slice(s,
		      &(struct scheduling_slice){.track = TRACK_STATE,
						 .cpu = c,
						 .thread = t,
						 .start = c->first,
						 .end = ev->time,
						 .state = THREAD_RUNNING,
						 .unseen = true},
		      e))
		return -1;
	if (state_end(s, prev, ev->time, t->state != THREAD_RUNNING, e))
		return -1;
	t->woken = false;
	state_begin(s, prev, cpu, state->state, ev->time);
	return 0;
}

/* Switch a thread in. */
static int switch_in(struct scheduling *s, uint32_t cpu, uint32_t next, uint64_t time,
		     struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	struct scheduling_thread *t = &s->threads[next - 1];

	/* a thread that runs elsewhere has left that CPU unseen */
	if (state_end(s, next, time, t->state == THREAD_RUNNING, e))
		return -1;
	c->woken = t->woken;
	c->wake = t->wake;
	t->woken = false;
	state_begin(s, next, cpu, THREAD_RUNNING, time);
	c->running = next;
	c->since = time;
	return 0;
}

static int scheduling_take_switch(struct scheduling *s, uint32_t cpu,
				  const struct scheduling_type *t, const struct event *ev,
				  struct error *e)
{
	struct switch_state state = scheduling_state(t, ev);
	struct scheduling_cpu *c = &s->cpus[cpu - 1];
	bool has_prev, has_next;
	uint32_t prev = scheduling_read_thread(s, cpu, t, ev, SWITCH_PREV_TID, &has_prev);
	uint32_t next = scheduling_read_thread(s, cpu, t, ev, SWITCH_NEXT_TID, &has_next);
	int64_t prio;

	if (!has_prev || !has_next)
		return 0;
	if (!prev || !next)
		return error_no_memory(e);
	if (switch_out(s, cpu, prev, ev, &state, e) || switch_in(s, cpu, next, ev->time, e))
		return -1;
	c->has_prio = scheduling_number(t, ev, SWITCH_NEXT_PRIO, &prio);
	c->prio = c->has_prio ? (int32_t)prio : 0;
	return 0;
}

static int take_wakeup(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
		       const struct event *ev, struct error *e)
{
	const struct scheduling_cpu *c = &s->cpus[cpu - 1];
	const struct lane *lane = ev->lane;
	struct scheduling_thread *woken;
	uint32_t thread, waker;
	int64_t success;
	bool known;

	if (scheduling_number(t, ev, WAKE_SUCCESS, &success) && !success)
		return 0;
	thread = scheduling_read_thread(s, cpu, t, ev, WAKE_TID, &known);
	if (!known)
		return 0;
	if (!thread)
		return error_no_memory(e);
	/* the event's own thread is the waker */
	waker = c->running;
	if (!t->cpu && lane->flags & LANE_HAS_TID && lane->tid >= 0 && lane->tid < TID_MOST)
		waker = scheduling_thread_of(s, c, lane->tid, lane->comm.text,
					     waker ? 0 : lane->comm.size);
	woken = &s->threads[thread - 1];
	if (!woken->tid || woken->state == THREAD_RUNNING || woken->state == THREAD_RUNNABLE)
		return 0;
	if (state_end(s, thread, ev->time, false, e))
		return -1;
	woken->woken = true;
	woken->wake = (struct scheduling_wake){.time = ev->time,
					       .cpu = cpu - 1,
					       .waker = waker,
					       .track = c->nirqs[0]   ? TRACK_IRQ
							: c->nirqs[1] ? TRACK_SOFTIRQ
								      : TRACK_CPU};
	state_begin(s, thread, cpu, THREAD_RUNNABLE, ev->time);
	return 0;
}

static int irq_entry(struct scheduling *s, struct scheduling_cpu *c, bool soft,
		     const struct scheduling_type *t, const struct event *ev, struct error *e)
{
	struct scheduling_irq irq = {.since = ev->time};
	const struct member *label = NULL;
	const char *name = NULL, *softirq;
	size_t size = 0;

	if (!scheduling_number(t, ev, IRQ_NUMBER, &irq.number))
		return 0;
	if (t->fields[IRQ_NUMBER])
		label = definition_member(t->fields[IRQ_NUMBER]->definition, (uint64_t)irq.number);
	if ((scheduling_text(t, ev, IRQ_NAME, &name, &size) ||
	     scheduling_text(t, ev, IRQ_NUMBER, &name, &size)) &&
	    size)
		irq.name = dictionary_text(s->dictionary, name, size).number;
	else if (label)
		irq.name = label->name.number;
	else if (soft && irq.number >= 0 && (softirq = softirq_name((uint64_t)irq.number)))
		irq.name = dictionary_text(s->dictionary, softirq, strlen(softirq)).number;
	if (c->nirqs[soft] == SCHEDULING_NESTED &&
	    irqs_end(s, c, soft, SCHEDULING_NESTED - 1, c->last, e))
		return -1;
	c->irqs[soft][c->nirqs[soft]++] = irq;
	return 0;
}

static int irq_exit(struct scheduling *s, struct scheduling_cpu *c, bool soft,
		    const struct scheduling_type *t, const struct event *ev, struct error *e)
{
	struct scheduling_slice slice = {
		.track = soft ? TRACK_SOFTIRQ : TRACK_IRQ, .cpu = c, .end = ev->time};
	unsigned depth = c->nirqs[soft];
	int64_t number;

	if (!scheduling_number(t, ev, IRQ_NUMBER, &number))
		return 0;
	while (depth && c->irqs[soft][depth - 1].number != number)
		depth--;
	if (!depth) {
		s->unpaired++;
		return 0;
	}
	if (irqs_end(s, c, soft, depth, c->last, e))
		return -1;
	c->nirqs[soft] = depth - 1;
	slice.irq = &c->irqs[soft][depth - 1];
	slice.start = slice.irq->since;
	slice.has_ret = slice.track == TRACK_IRQ && scheduling_number(t, ev, IRQ_RET, &slice.ret);
	return put_slice(s, &slice, e);
}

static int scheduling_take(struct scheduling *s, uint32_t cpu, const struct scheduling_type *t,
			   const struct event *ev, struct error *e)
{
	struct scheduling_cpu *c = &s->cpus[cpu - 1];

	switch (t->kind) {
	case SCHEDULING_SWITCH: return scheduling_take_switch(s, cpu, t, ev, e);
	case SCHEDULING_WAKING:
	case SCHEDULING_WAKEUP: return take_wakeup(s, cpu, t, ev, e);
	case SCHEDULING_IRQ_ENTRY: return irq_entry(s, c, false, t, ev, e);
	case SCHEDULING_SOFTIRQ_ENTRY: return irq_entry(s, c, true, t, ev, e);
	case SCHEDULING_IRQ_EXIT: return irq_exit(s, c, false, t, ev, e);
	case SCHEDULING_SOFTIRQ_EXIT: return irq_exit(s, c, true, t, ev, e);
	case SCHEDULING_FREQUENCY:
	case SCHEDULING_LIMITS:
	case SCHEDULING_IDLE:
	case SCHEDULING_MEMORY: return put_counter(s, t, ev, e);
	}
	return 0;
}

/* Take an event that is no enter or leave. */
static int scheduling_event(struct scheduling *s, const struct event *ev, struct error *e)
{
	const struct scheduling_type *t = scheduling_types_get(&s->types, ev->type);
	uint32_t source = ev->lane->source ? ev->lane->source->number : 0, cpu;
	struct scheduling_cpu *c;
	bool known;

	if (!t || ARRAY_REACH(s->ends, s->nends, source))
		return error_no_memory(e);
	if (s->ends[source] < ev->time)
		s->ends[source] = ev->time;
	known = scheduling_cpu(t, ev, &cpu);
	if (ev->type->kind == KIND_GAP && !known)
		return scheduling_gap(s, ev->lane->source, e);
	if (!known)
		return 0;
	cpu = scheduling_cpu_of(s, ev->lane->source, cpu);
	if (!cpu)
		return error_no_memory(e);
	c = &s->cpus[cpu - 1];
	if (ev->type->kind == KIND_GAP)
		return cpu_lose(s, cpu, c->last, e);
	if (!c->begun) {
		c->begun = true;
		c->first = c->last = ev->time;
	}
	if (t->kind != SCHEDULING_NONE && scheduling_take(s, cpu, t, ev, e))
		return -1;
	s->cpus[cpu - 1].last = ev->time;
	return 0;
}

static void scheduling_free(struct scheduling *s)
{
	scheduling_types_free(&s->types);
	intern_free(&s->cpu_keys);
	intern_free(&s->thread_keys);
	free(s->cpus);
	free(s->threads);
	free(s->ends);
	intern_free(&s->tracks);
	free(s->processes);
	free(s->comms);
}

/* --- events --- */

/* Test for a call with a number in a trace where others are on a stack, or that is open at the end:
 * later calls are not inside of it. */
static bool chrome_is_beside(const struct chrome_output *s, const struct span *span)
{
	const struct type *t = span->type;

	return t && t->flags & TYPE_CALL_NUMBER &&
	       (!encoder_all_numbered(t) || chrome_is_open(s, span));
}

/* Test for a call that was an X although it overlaps others. */
static bool chrome_overlaps(const struct chrome_output *s, const struct span *span)
{
	const struct type *t = span->type;

	return t && t->flags & TYPE_CALL_NUMBER && (t->native & CHROME_PHASE) == 'X' &&
	       (type_is_of(t, "chrome") || type_is_of(t, "perfetto")) && !chrome_is_open(s, span);
}

static int chrome_end_call(void *ctx, const struct span *span, const struct event *leave,
			   struct error *e)
{
	struct chrome_output *s = ctx;
	const struct lane_prefix *prefix;
	const char *name;
	uint32_t size;
	bool ticks, begun, open, overlaps;
	char *p;

	if (span->unfinished && s->options->flags & ENCODE_DROP) {
		chrome_drop_flows(s, span);
		return 0;
	}
	prefix = chrome_prefix(s, span->thread, span->lane);
	if (!prefix)
		return error_no_memory(e);
	if (chrome_pairs_begin(s, span, prefix, &begun, e))
		return -1;
	name = location_names_get(&s->names, span->location, &size);
	if (!name)
		return error_no_memory(e);
	if (begun)
		return chrome_pairs_end(s, span, prefix, leave, e);
	s->json.size = 0;
	if ((span->kept_size || !leave || leave->type->nfields || leave->tail_size ||
	     s->names.lines) &&
	    chrome_render_args(s, span, leave, e))
		return -1;
	overlaps = chrome_overlaps(s, span);
	if (__builtin_expect(!overlaps && (span->crossing || chrome_is_beside(s, span)), 0)) {
		chrome_async_put(s, span, prefix, name, size);
		return 0;
	}
	ticks = counts_ticks(span->lane);
	open = chrome_is_open(s, span);
	p = chrome_line_room(s);
	p = open ? PUT(p, "{\"ph\":\"B\",") : PUT(p, "{\"ph\":\"X\",");
	p = chrome_put_prefix(prefix, p);
	p = put_stamp(s, p, span->start, ticks);
	if (!open) {
		p = PUT(p, ",\"dur\":");
		p = chrome_put_time(p, span->end - span->start, ticks);
	}
	p = PUT(p, ",\"name\":");
	p = chrome_put_name(s, p, name, size);
	p = chrome_put_category(s, p, span->type, span->kernel);
	if (!p)
		return error_no_memory(e);
	p = chrome_put_marks(s, p, span, false);
	if (!p)
		return error_no_memory(e);
	if (overlaps)
		p = PUT(p, ",\"" CHROME_OVERLAPS "\":true");
	chrome_put_args(s, p);
	return 0;
}

static int chrome_begin_call(void *ctx, const struct event *enter, const struct span *span,
			     struct buffer *keep, uint64_t *token, struct error *e)
{
	struct chrome_output *s = ctx;

	if (!enter->type->nfields && !enter->tail_size)
		return 0;
	if (enter->type->flags & TYPE_CALL_NUMBER)
		*token = async_event_id(enter);
	if ((s->options->flags & ENCODE_DROP && chrome_hold_call(s, enter, span, keep)) ||
	    (chrome_keeps_stack(enter->type) &&
	     buffer_u32(keep, event_stack(s->names.dictionary, enter))))
		return error_no_memory(e);
	return chrome_append_args(s, enter, span->restored, keep) ? error_no_memory(e) : 0;
}

static int chrome_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct chrome_output *s = ctx;
	struct lane_prefix *prefix = chrome_prefix(s, calls_thread(ev), ev->lane);
	struct text_ref name = ev->type->name, group = ev->type->group;
	const char *location = NULL;
	uint32_t size = 0;
	bool counter, async = async_event_is(ev->type);
	bool flow = ev->type->flags & TYPE_VALUES && !async && flows_read(&s->flows, ev) == 1 &&
		    s->flows.phase;
	char *p;

	if (!prefix)
		return error_no_memory(e);
	s->attributes.phase_apart = flow;
	if (chrome_pairs_event(s, ev, prefix, e) || scheduling_event(&s->scheduling, ev, e))
		return -1;
	if (ev->type->kind == KIND_SAMPLE && sample_is_negative(ev)) {
		s->negative++;
		return 0;
	}
	if (ev->type->kind == KIND_SAMPLE)
		return chrome_put_sample(s, ev, prefix) ? error_no_memory(e) : 0;
	buffer_clear(&s->bytes);
	buffer_clear(&s->json);
	if (ev->location && !(location = location_names_get(&s->names, ev->location, &size)))
		return error_no_memory(e);
	if (chrome_set_stack(s, event_stack(s->names.dictionary, ev)) ||
	    (s->names.lines && attributes_append_line(&s->attributes, ev->location, &s->bytes)) ||
	    chrome_append_args(s, ev, false, &s->bytes) ||
	    attributes_read(&s->attributes, &s->bytes))
		return error_no_memory(e);
	counter =
		ev->type->kind == KIND_COUNTER && attributes_keep_numbers(&s->attributes, ev->type);
	if (s->attributes.count && attributes_json(&s->attributes, &s->json))
		return error_no_memory(e);
	p = chrome_line_room(s);
	p = counter ? chrome_put_prefix(prefix, PUT(p, "{\"ph\":\"C\","))
		    : chrome_put_phase(s, p, ev, prefix, flow);
	p = put_stamp(s, p, ev->time, counts_ticks(ev->lane));
	if (!counter && !async && !flow)
		p = put_cpu(p, ev->lane);
	p = PUT(p, ",\"name\":");
	text_wrote(s->out, p);
	if (location)
		text_put(s->out, location, size);
	else
		json_string(s->out, name.text, name.size);
	if (group.size && !async && !flow) {
		text_put(s->out, ",\"cat\":", 7);
		json_string(s->out, group.text, group.size);
	}
	chrome_put_args(s, text_room(s->out, LINE_FIXED));
	return 0;
}

static int chrome_drop_call(void *ctx, const struct span *span, struct error *e)
{
	struct chrome_output *s = ctx;
	const struct lane_prefix *prefix = chrome_prefix(s, span->thread, span->lane);

	if (!prefix)
		return error_no_memory(e);
	if (s->options->flags & ENCODE_DROP)
		chrome_drop_flows(s, span);
	return chrome_pairs_drop(s, span, prefix, e);
}

/* After calls that were lost the states of threads are not known. */
static int chrome_restore(void *ctx, const struct event *enter, struct error *e)
{
	struct chrome_output *s = ctx;

	return enter ? 0 : scheduling_lost(&s->scheduling, e);
}

static const struct span_sink chrome_sink = {.begin = chrome_begin_call,
					     .restore = chrome_restore,
					     .end = chrome_end_call,
					     .drop = chrome_drop_call,
					     .other = chrome_other_event};

/* --- the encoder --- */

static int encode_chrome_begin(struct encoding *en, struct error *e)
{
	struct chrome_output *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->options = en->options;
	s->out = en->text;
	spans_init(&s->spans, en, &chrome_sink, s);
	s->spans.keeps_open = true;
	s->zero = UINT64_MAX;
	s->tracks.process_tids = true;
	location_names_init(&s->names, en->dictionary, json_append_string);
	s->scheduling.out = s;
	s->scheduling.dictionary = en->dictionary;
	s->scheduling.types.dictionary = en->dictionary;
	location_names_init_strings(&s->categories, en->dictionary, chrome_render_category);
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.members = s->attributes.flows_apart = true;
	s->flows.dictionary = en->dictionary;
	s->attributes.quote_numbers = en->options->flags & ENCODE_QUOTE_NUMBERS;
	s->bytes.spills = s->json.spills = s->held_flows.spills = s->samples.spills = true;
	text_puts(s->out, "{\"traceEvents\":[\n");
	if (!en->options->why)
		return 0;
	s->path = why_path_begin(en->options->why, en->dictionary, e);
	if (!s->path)
		return -1;
	s->path->write = chrome_put_path;
	s->path->ctx = s;
	return 0;
}

static int chrome_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct chrome_output *s = en->state;

	return tracks_meta(&s->tracks, en->dictionary, m) || attributes_meta(&s->attributes, m) ||
			       chrome_members_meta(s, m)
		       ? error_no_memory(e)
		       : 0;
}

static int encode_chrome_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct chrome_output *s = en->state;
	bool leave = ev->type->kind == KIND_LEAVE;

	if (__builtin_expect(!s->started, 0)) {
		uint64_t first = s->spans.calls->restored.first;

		s->started = true;
		s->clock = ev->lane->clock;
		s->origin = first == UINT64_MAX ? ev->time : tick_time(ev->lane, first);
		if (s->zero != UINT64_MAX)
			s->origin = tick_time(ev->lane, s->zero);
		if (s->options->flags & ENCODE_KEEP_TIMES)
			s->origin = 0;
	}
	if (s->path && why_path_event(s->path, ev, e))
		return -1;
	if (__builtin_expect(!(ev->type->flags & TYPE_VALUES), 1))
		return spans_event(&s->spans, ev, e);
	return (leave && chrome_put_flows(s, ev, e)) || spans_event(&s->spans, ev, e) ||
			       (!leave && chrome_put_flows(s, ev, e))
		       ? -1
		       : 0;
}

static int chrome_end(struct encoding *en, struct error *e)
{
	struct chrome_output *s = en->state;

	s->at_end = true;
	if (spans_finish(&s->spans, e) || scheduling_finish(&s->scheduling, e) ||
	    (s->path && why_path_event(s->path, NULL, e)) || chrome_put_held(s, e))
		return -1;
	text_puts(s->out, s->any ? "\n]" : "]");
	if (chrome_samples_put(s))
		return error_no_memory(e);
	chrome_members_end(s);
	text_puts(s->out, ",\"otherData\":{\"clock\":");
	if (s->clock && s->clock->tick)
		text_printf(s->out, "\"ticks of %" PRIu64 " ns\"", s->clock->tick);
	else if (s->clock)
		json_string(s->out, s->clock->name.text, s->clock->name.size);
	else
		text_puts(s->out, "null");
	text_puts(s->out, ",\"origin\":\"");
	text_u64(s->out, s->origin);
	text_puts(s->out, s->clock && s->clock->flags & CLOCK_TICKS && !s->clock->tick
				  ? "\",\"unit\":\"ticks\""
				  : "\",\"unit\":\"ns\"");
	if (s->kernel && !s->kernel_taken)
		text_puts(s->out, ",\"" CHROME_KERNEL_CATEGORY "\":\"" CHROME_KERNEL "\"");
	chrome_members_put(s, 'o');
	text_puts(s->out, "}}\n");
	if (en->options->flags & ENCODE_QUIET)
		return 0;
	location_names_report(&s->names);
	spans_report(&s->spans, en->options->flags & ENCODE_DROP);
	attributes_report(&s->attributes);
	remark_count(s->negative, SAMPLES_NEGATIVE);
	remark_count(s->zero == UINT64_MAX ? s->early : 0,
		     "{time is|times are} negative, as {it is|they are} before the first event "
		     "(--rebase=none writes {it|them} unchanged)");
	return 0;
}

static void chrome_free(struct encoding *en)
{
	struct chrome_output *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->tracks.count; i++)
		free(s->tracks.tracks[i].user);
	why_path_free(s->path);
	intern_free(&s->path_tracks);
	tracks_free(&s->tracks);
	chrome_members_free(&s->members);
	scheduling_free(&s->scheduling);
	spans_free(&s->spans);
	location_names_free(&s->names);
	location_names_free(&s->categories);
	attributes_free(&s->attributes);
	flows_free(&s->flows);
	buffer_free(&s->bytes);
	buffer_free(&s->json);
	buffer_free(&s->held_flows);
	buffer_free(&s->samples);
	free(s->used);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_chrome = {
	.name = "chrome",
	.suffixes = ".json",
	.purpose = "Trace Event JSON, for Perfetto, Chrome, speedscope, Firefox Profiler",
	.output = ENCODER_TEXT,
	.report = true,
	.timeline = true,
	.begin = encode_chrome_begin,
	.meta = chrome_meta,
	.drops = true,
	.event = encode_chrome_event,
	.end = chrome_end,
	.free = chrome_free,
};

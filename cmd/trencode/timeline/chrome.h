/*
 * chrome.h - private to the encoder of Trace Event JSON: lines and their parts
 *
 * chrome.c is the encoder; chrome_pairs.c writes the calls that one complete event cannot
 * represent; chrome_samples.c samples and stacks; chrome_members.c what the source's file had
 * beside its events; chrome_scheduling.c the tracks of CPUs and of the states of threads.
 */
#ifndef TR_TRENCODE_TIMELINE_CHROME_H
#define TR_TRENCODE_TIMELINE_CHROME_H

#include "common/util/buffer_file.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/timeline/async_events.h"
#include "cmd/trencode/timeline/flows.h"
#include "cmd/trencode/timeline/spans.h"
#include "cmd/trencode/timeline/tracks.h"
#include "common/formats/chrome.h"

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

struct chrome_members;
struct chrome_samples;
struct chrome_scheduling;

/* One run of the encoder. */
struct chrome_output {
	struct spans spans;
	struct tracks tracks;
	struct location_names names, categories; /* categories with ,"cat": before them */
	struct attributes attributes;
	struct flows flows;
	struct buffer bytes, json, held_flows; /* held: with --unclosed=drop, until the end */
	struct chrome_members *members;
	struct chrome_samples *samples;
	uint32_t stack; /* of the line being written, which then has "sf"; 0 none */
	struct chrome_scheduling *scheduling;
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

static inline char *put(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

/* Write microseconds with all nanoseconds; ticks unchanged. */
static inline char *put_time(char *p, uint64_t time, bool ticks)
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
		return put_time(p, s->origin - time, ticks);
	}
	return put_time(p, time - s->origin, ticks);
}

static inline bool counts_ticks(const struct lane *lane)
{
	return lane->clock && lane->clock->flags & CLOCK_TICKS;
}

static inline char *put_prefix(const struct lane_prefix *prefix, char *p)
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
static inline char *put_name(struct chrome_output *s, char *p, const char *name, uint32_t size)
{
	if (__builtin_expect(size <= NAME_FAST, 1))
		return put(p, name, size);
	text_wrote(s->out, p);
	text_put(s->out, name, size);
	return text_room(s->out, LINE_FIXED);
}

static inline char *line_room(struct chrome_output *s)
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

/* --- chrome.c --- */

/* Begin a line that line_room does not begin. */
void chrome_begin_line(struct chrome_output *s);
/* Returns the beginning of a thread's lines, after its names were written; NULL when out of memory.
 */
struct lane_prefix *chrome_prefix(struct chrome_output *s, uint32_t thread,
				  const struct lane *lane);
/* Render the arguments of a call, those of its enter and of its leave, into s->json. Returns 0, or
 * -1 with *e filled; so do all functions here that have e. */
int chrome_render_args(struct chrome_output *s, const struct span *span, const struct event *leave,
		       struct error *e);
/* Write the end of a line at p, with the arguments in s->json. */
void chrome_put_args(struct chrome_output *s, char *p);
/* Test whether the call has no end in the file: it is open at the end of the trace. */
static inline bool chrome_is_open(const struct chrome_output *s, const struct span *span)
{
	return s->at_end && span->unfinished;
}

/* Write the members that viewers ignore (common/formats/chrome.h) at p. begun: the B of the call is
 * written. Returns where the line goes on, or NULL when out of memory. */
char *chrome_marks(struct chrome_output *s, char *p, const struct span *span, bool begun);
static inline char *chrome_put_marks(struct chrome_output *s, char *p, const struct span *span,
				     bool begun)
{
	return __builtin_expect(!span->unfinished && span->begun &&
					(span->entered == span->location || !span->entered),
				1)
		       ? p
		       : chrome_marks(s, p, span, begun);
}

/* Write ,"cat": of a call at p. Returns where the line goes on, or NULL when out of memory. */
char *chrome_put_category(struct chrome_output *s, char *p, const struct type *t, bool kernel);

/* --- chrome_members.c --- */

struct chrome_members *chrome_members_new(void); /* NULL: out of memory */
void chrome_members_free(struct chrome_members *k);
/* Take a piece of a META; writes the metadata events of CHROME_META. -1: out of memory. */
int chrome_members_meta(struct chrome_output *s, const struct meta *m);
/* Test whether such events name a process, by its number in the output. */
bool chrome_members_name(const struct chrome_output *s, int32_t pid);
/* Write the members of the file (kind m) or of otherData (o), a comma before each. */
void chrome_members_put(const struct chrome_output *s, char kind);
/* Write displayTimeUnit and the members of the file, after the events. */
void chrome_members_end(struct chrome_output *s);

/* --- chrome_samples.c: -1 when out of memory --- */

struct chrome_samples *chrome_samples_new(void); /* NULL: out of memory */
void chrome_samples_free(struct chrome_samples *k);
/* Keep a sample. prefix: of its thread. */
int chrome_sample(struct chrome_output *s, const struct event *ev,
		  const struct lane_prefix *prefix);
/* Set the recorded stack of the next line that chrome_put_args ends. */
int chrome_set_stack(struct chrome_output *s, uint32_t stack);
/* Write "samples" and "stackFrames", after the events. */
int chrome_samples_put(struct chrome_output *s);
/* Test whether what the enter of such a call keeps begins with its recorded stack, a u32. */
static inline bool chrome_keeps_stack(const struct type *t)
{
	return t && t->has_stacks && t->flags & TYPE_CALL_NUMBER;
}

/* --- chrome_pairs.c --- */

/* Append the arguments, without the id of an asynchronous event, and the name of its track, if that
 * is not the track of a thread. before: of a call that began before the output, which has no flows.
 * -1: out of memory. */
int chrome_append_args(struct chrome_output *s, const struct event *ev, bool before,
		       struct buffer *to);

/* Write "cat" and the id after the phase. */
void chrome_async_put_id(struct chrome_output *s, const struct type *t, uint64_t id);
/* Write an asynchronous call, or a call that overlaps others, as a pair of events that viewers draw
 * beside the thread. A call that is open at the end has only the first event. */
void chrome_async_put(struct chrome_output *s, const struct span *span,
		      const struct lane_prefix *prefix, const char *name, uint32_t size);

/* Write the B of a call that ends, and of the calls around it, if they need one by now. *begun: the
 * call has a B and needs an E. */
int chrome_pairs_begin(struct chrome_output *s, const struct span *span,
		       const struct lane_prefix *prefix, bool *begun, struct error *e);
/* Write the E of a call, unless the call is open at the end. */
int chrome_pairs_end(struct chrome_output *s, const struct span *span,
		     const struct lane_prefix *prefix, const struct event *leave, struct error *e);
/* Write the E of a call that is dropped, if it has a B. */
int chrome_pairs_drop(struct chrome_output *s, const struct span *span,
		      const struct lane_prefix *prefix, struct error *e);
/* Write an event that is neither call nor counter at p, up to its time. flow: it is the part of a
 * flow that flows_read got. Returns where the line goes on. */
char *chrome_put_phase(struct chrome_output *s, char *p, const struct event *ev,
		       const struct lane_prefix *prefix, bool flow);
/* Write the flows of an event that was read from Perfetto's format: events of the category
 * CHROME_FLOW. */
int chrome_put_flows(struct chrome_output *s, const struct event *ev, struct error *e);
/* With --unclosed=drop flows are held, since their phases depend on the calls that are dropped.
 * Hold the flows of a call that begins; what the call keeps begins with CHROME_HELD bytes, which
 * say where they are. -1: out of memory. */
enum { CHROME_HELD = 12 };
int chrome_hold_call(struct chrome_output *s, const struct event *enter, const struct span *span,
		     struct buffer *keep);
/* Drop the flows of a call that is dropped. */
void chrome_drop_flows(struct chrome_output *s, const struct span *span);
/* Write the flows that are held. */
int chrome_put_held(struct chrome_output *s, struct error *e);
/* Write the B of the calls that begin at the time of an event that is not a call. */
int chrome_pairs_event(struct chrome_output *s, const struct event *ev, struct lane_prefix *prefix,
		       struct error *e);

#endif

/*
 * chrome.h - inside the encoder of Trace Event JSON: lines and their pieces
 *
 * chrome.c is the encoder, chrome_pairs.c writes calls that one complete event cannot tell.
 */
#ifndef TR_TRENCODE_TIMELINE_CHROME_H
#define TR_TRENCODE_TIMELINE_CHROME_H

#include "common/util/buffer_file.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/timeline/spans.h"
#include "cmd/trencode/timeline/tracks.h"

enum {
	PREFIX_MOST = 64,  /* {"pid":-2147483648,"tid":-2147483648,"ts": */
	LINE_FIXED = 256,  /* a line without its name and its arguments */
	NAME_FAST = 16384, /* longer names go another way */
};

/* How the lines of a thread begin. */
struct lane_prefix {
	uint64_t instant; /* time of the thread's last event that is no call, + 1; 0: none */
	size_t size;
	char text[PREFIX_MOST];
};

struct chrome_output {
	struct spans spans;
	struct tracks tracks;
	struct location_names names, categories; /* of categories with ,"cat": before them */
	struct attributes attributes;
	struct buffer bytes, json;
	const struct encode_options *options;
	struct text *out;
	const struct clock *clock;
	uint64_t origin, overlapping, early; /* early: times before the origin */
	bool started, any;
};

/* --- pieces of a line --- */

static inline char *put(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

/* Microseconds with all nanoseconds; a clock of ticks as it counts. */
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
	memcpy(p, prefix->text, PREFIX_MOST); /* of a length the compiler knows */
	return p + prefix->size;
}

/* The name goes directly into the line, or, if it is very long, behind what is there of it. */
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

static inline void chrome_clear_args(struct chrome_output *s)
{
	buffer_clear(&s->json);
	buffer_clear(&s->bytes);
}

/* --- chrome.c --- */

/* How lines of a thread begin; its names are written before. NULL: out of memory. */
struct lane_prefix *chrome_prefix(struct chrome_output *s, uint32_t thread,
				  const struct lane *lane);
/* The arguments of a call into s->json: what its enter said, and its leave. -1 and e: memory. */
int chrome_render_args(struct chrome_output *s, const struct span *span, const struct event *leave,
		       struct error *e);
/* The end of a line at p, with the arguments in s->json. */
void chrome_put_args(struct chrome_output *s, char *p);
/* ,"cat": of a call at p; returns where the line goes on, or NULL: out of memory. */
char *chrome_put_category(struct chrome_output *s, char *p, const struct type *t, bool kernel);

/* --- chrome_pairs.c --- */

/* Is it an asynchronous event of Trace Event JSON? Then its phase, but for ends of calls, its id,
 * and how "cat" and the id are written after the phase. */
bool chrome_async_is(const struct type *t);
char chrome_async_phase(const struct type *t);
uint64_t chrome_async_id(const struct event *ev);
void chrome_async_put_id(struct chrome_output *s, const struct type *t, uint64_t id);
/* An asynchronous call, or a call that overlaps others: a pair of events that viewers draw beside
 * the thread. */
void chrome_async_put(struct chrome_output *s, const struct span *span,
		      const struct lane_prefix *prefix, const char *name, uint32_t size);

/* A call ends: write the B of the calls around it, and of itself, that must have one by now.
 * *begun: it has, and is to have an E. -1 and e: memory. */
int chrome_pairs_begin(struct chrome_output *s, const struct span *span,
		       const struct lane_prefix *prefix, bool *begun, struct error *e);
/* The E. */
int chrome_pairs_end(struct chrome_output *s, const struct span *span,
		     const struct lane_prefix *prefix, const struct event *leave, struct error *e);
/* An event that is no call comes: the same for the calls that begin at its time. */
int chrome_pairs_event(struct chrome_output *s, const struct event *ev, struct lane_prefix *prefix,
		       struct error *e);

#endif

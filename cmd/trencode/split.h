/*
 * split.h - decides where the parts of --split end
 *
 * A part ends when its output has reached a size, or its time is over: the next event is then the
 * first one of the next part. The cut is a time that no event of the earlier part has. Where the
 * encoder needs calls, a part without calls goes on up to the next end. clip.h cuts.
 *
 * Functions that return int return 0, or -1 with *e filled.
 */
#ifndef TR_TRENCODE_SPLIT_H
#define TR_TRENCODE_SPLIT_H

#include "common/cli/remarks.h"
#include "common/stream/event.h"
#include "common/stream/stream.h"

/* Where a part ends: at most one of the two is not 0. */
struct split_limit {
	uint64_t bytes; /* of output */
	uint64_t time;	/* ns */
};

/* What encodes the parts. */
struct split_target {
	/* Get about the bytes of the present part. */
	uint64_t (*size)(void *ctx);
	/* End the present part. */
	int (*end)(void *ctx, struct error *e);
	/* Begin a part. same_stream: it goes on with the stream; else the HEAD of another follows.
	 */
	int (*begin)(void *ctx, bool same_stream, struct error *e);
	void *ctx;
};

struct split {
	struct split_limit limit;
	uint64_t tick; /* --tick, ns; 0: not given */
	struct split_target target;
	uint32_t number;  /* of the present part, from 0 */
	uint64_t rows;	  /* bytes of its rows in the stream */
	bool any_call;	  /* the stream has calls so far */
	bool needs_calls; /* no part ends without a call, except the last */
	bool closing;	  /* the rows that are shown end calls at a cut */
	struct remarks remarks;
	uint64_t divided; /* calls that were open at a cut, for each cut */
	/* the rest is private */
	uint64_t latest;      /* highest time of the part */
	uint64_t step;	      /* limit.time on the clock of the stream */
	uint64_t first, ends; /* time of the stream's first event; end of the time of the part */
	bool any, begun;      /* the part, the stream, has events */
	bool called;	      /* the part has calls */
	bool due;	      /* the part is large enough */
	uint64_t empty;	      /* bytes of the part before its first event */
	uint64_t count;	      /* rows of the part */
	uint64_t continued;   /* calls that were open where the part begins */
	uint32_t slice;	      /* rows until the size is tested again */
};

static inline bool split_any(const struct split_limit *l)
{
	return l->bytes || l->time;
}

/* Parse "64M" or "10s". */
int split_parse(struct split_limit *l, const char *text, struct error *e);

/* A cut: its time, and the source's own time of an event then, if that differs. */
struct split_cut {
	uint64_t time, source_time;
};

/* Begin another stream, which begins a part. */
int split_stream(struct split *s, struct error *e);
/* Note that rows were shown. */
void split_showed(struct split *s, uint32_t rows, size_t bytes);
/* Find the cut before an event of the part. Returns false if there is none. */
bool split_cut(struct split *s, const struct event *ev, struct split_cut *cut);
/* End the part, and begin the next one. */
int split_next(struct split *s, const struct split_cut *cut, struct error *e);
/* Note a call that was open at the cut, and begins in the next part. counts: it is no ignored call.
 */
void split_divided(struct split *s, bool counts);

/* Test whether the rows before an event are to be shown, so many that are not yet, and split_cut
 * called. */
static inline bool split_looks(const struct split *s, const struct event *ev, uint32_t rows)
{
	return s->due || ev->time >= s->ends || (s->limit.bytes && rows >= s->slice);
}

/* Begin the time of a stream with its first event. */
int split_begin_time(struct split *s, const struct lane *lane, uint64_t time, struct error *e);
static inline int split_begin(struct split *s, const struct lane *lane, uint64_t time,
			      struct error *e)
{
	return s->begun ? 0 : split_begin_time(s, lane, time, e);
}

/* Note an event of the present part, before it is shown. call: it begins or ends a call. */
static inline void split_note(struct split *s, const struct event *ev, bool call)
{
	if (!s->any && s->limit.bytes)
		s->empty = s->target.size(s->target.ctx);
	s->any = true;
	s->any_call |= call;
	s->called |= call;
	s->latest = ev->time > s->latest ? ev->time : s->latest;
}

#endif

#include "cmd/trencode/timeline/chart_frames.h"

#include <stdlib.h>

#include "common/util/stack_limit.h"
#include "common/util/buffer.h"

enum {
	WIDEST = 64, /* levels are halved rather than merging frames of this part of the whole */
	LEVELS_LEAST = 8,
};

void chart_frames_init(struct chart_frames *c)
{
	*c = (struct chart_frames){
		.least = 1, .levels = STACK_FRAMES, .first = UINT64_MAX, .most = CHART_FRAMES_MOST};
}

void chart_lane_free(struct chart_lane *lane)
{
	free(lane->frames);
	*lane = (struct chart_lane){0};
}

/* Join a merged frame with the one before it, if these are merged frames of one caller. */
static bool join_last(const struct chart_frames *c, struct chart_lane *lane,
		      const struct chart_frame *f)
{
	struct chart_frame *last = lane->count ? &lane->frames[lane->count - 1] : NULL;

	/* frames between two levels may be missing, so the caller of both is that of the lower */
	if (!last || !last->merged || last->level < f->level ||
	    (f->start > last->end && f->start - last->end >= c->least))
		return false;
	last->level = f->level;
	last->merged = last->merged + f->merged < f->merged ? UINT32_MAX : last->merged + f->merged;
	last->start = f->start < last->start ? f->start : last->start;
	last->end = f->end > last->end ? f->end : last->end;
	return true;
}

/* Append a frame, for which there is memory. */
static void append(const struct chart_frames *c, struct chart_lane *lane, struct chart_frame f)
{
	if (!f.merged && (f.end - f.start < c->least || f.level >= c->levels)) {
		while (lane->count && lane->frames[lane->count - 1].level > f.level &&
		       lane->frames[lane->count - 1].start >= f.start)
			lane->count--;
		f.merged = 1;
		f.name = 0;
	}
	while (f.merged && join_last(c, lane, &f))
		f = lane->frames[--lane->count];
	lane->frames[lane->count++] = f;
}

void chart_frames_merge(struct chart_frames *c)
{
	c->kept = 0;
	for (struct chart_lane *lane = c->lanes; lane; lane = lane->next) {
		size_t n = lane->count;

		lane->count = 0;
		for (size_t i = 0; i < n; i++)
			append(c, lane, lane->frames[i]);
		c->kept += lane->count;
	}
}

bool chart_frames_coarsen(struct chart_frames *c, unsigned parts)
{
	uint64_t span = c->last > c->first ? c->last - c->first : 0;

	if (c->least > span)
		return false;
	if (c->least > span / WIDEST && c->levels > LEVELS_LEAST)
		c->levels /= 2;
	else if (__builtin_add_overflow(c->least, c->least / parts + 1, &c->least))
		c->least = UINT64_MAX;
	chart_frames_merge(c);
	return true;
}

int chart_frames_add(struct chart_frames *c, struct chart_lane *lane, const struct chart_frame *f)
{
	size_t had = lane->count;

	if (c->kept >= c->most) {
		while (c->kept > c->most / 2 && chart_frames_coarsen(c, 1))
			;
		/* where each lane has a single frame there may be more */
		if (c->most < 2 * c->kept)
			c->most = 2 * c->kept;
		had = lane->count;
	}
	if (ARRAY_GROW(lane->frames, lane->capacity, lane->count))
		return -1;
	if (!lane->listed) {
		lane->listed = true;
		lane->next = c->lanes;
		c->lanes = lane;
	}
	if (f->start < c->first)
		c->first = f->start;
	if (f->end > c->last)
		c->last = f->end;
	c->added++;
	append(c, lane, *f);
	c->kept += lane->count;
	c->kept -= had;
	return 0;
}

/* Test whether a frame, which ended before top, is not called by top. Levels alone do not show
 * this, as frames between them may be missing. */
static bool is_beside(const struct chart_frame *f, const struct chart_frame *top, uint32_t level)
{
	return level >= f->level || (f->end <= top->start && f->start < top->start);
}

int chart_lane_nest(struct chart_lane *lane)
{
	/* the frames that call the present one: index and level */
	struct {
		size_t frame;
		uint32_t level;
	} *open = malloc((lane->count + 1) * sizeof *open);
	size_t n = 0, depth = 0;

	if (!open)
		return -1;
	for (size_t i = lane->count; i--;) {
		struct chart_frame *f = &lane->frames[i];

		while (n && is_beside(f, &lane->frames[open[n - 1].frame], open[n - 1].level))
			n--;
		open[n].frame = i;
		open[n].level = f->level;
		f->level = (uint32_t)n++;
		depth = n > depth ? n : depth;
	}
	free(open);
	return (int)depth;
}

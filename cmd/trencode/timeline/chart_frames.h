/*
 * chart_frames.h - the frames of a flame chart that are wide enough to see, in bounded memory
 *
 * Frames are added when they end, so callees before their callers. A frame shorter than `least` is
 * not kept by itself, and neither are its callees: such frames of one caller that are less than
 * `least` apart become one merged frame, from the start of the first to the end of the last. So do
 * frames at `levels` or more above the outermost one. Where CHART_FRAMES_MOST frames are kept,
 * `least` is doubled, and where this merges too much, `levels` is halved. The result is that of a
 * chart of all frames with the same `least` and `levels`.
 */
#ifndef TR_TRENCODE_TIMELINE_CHART_FRAMES_H
#define TR_TRENCODE_TIMELINE_CHART_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHART_FRAMES_MOST = 1 << 17 };

/* One frame, or several frames that are merged. */
struct chart_frame {
	uint64_t start, end;
	uint32_t name;	 /* the caller's; of a merged frame 0 */
	uint32_t level;	 /* number of frames below, of which some may be missing */
	uint32_t merged; /* number of frames that are merged; 0: it is a frame */
};

/* The frames of one lane, by their ends. */
struct chart_lane {
	struct chart_frame *frames;
	size_t count, capacity;
	struct chart_lane *next; /* in chart_frames.lanes */
	bool listed;
};

/* The frames of all lanes. */
struct chart_frames {
	struct chart_lane *lanes; /* those with frames; the memory is the caller's */
	uint64_t least;		  /* shortest time of a frame that is kept by itself */
	uint32_t levels;
	uint64_t first, last; /* earliest start and latest end */
	uint64_t added;	      /* frames */
	size_t kept, most;    /* frames in memory, and their limit */
};

void chart_frames_init(struct chart_frames *c);
/* Free the frames of a lane. */
void chart_lane_free(struct chart_lane *lane);
/* Add a frame, which must end after all frames that it calls. Returns 0, or -1 when out of memory.
 */
int chart_frames_add(struct chart_frames *c, struct chart_lane *lane, const struct chart_frame *f);
/* Merge all frames with a larger `least` or a smaller `levels`, which the caller has set. */
void chart_frames_merge(struct chart_frames *c);
/* Make the frames fewer: add `least` / parts to `least`, or halve `levels`. Returns
 * false if all frames are merged. */
bool chart_frames_coarsen(struct chart_frames *c, unsigned parts);
/* Set the level of each frame of a lane to the number of frames below that are kept. Returns the
 * largest level + 1, 0 if there is no frame; -1 when out of memory. To be called once, at the end.
 */
int chart_lane_nest(struct chart_lane *lane);

#endif

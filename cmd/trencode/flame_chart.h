/*
 * flame_chart.h - flame charts as SVG, by time
 */
#ifndef TR_TRENCODE_FLAME_CHART_H
#define TR_TRENCODE_FLAME_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trencode/encoder.h"

/*
 * The frames of a flame chart that are wide enough to see, in bounded memory.
 *
 * Frames are added when they end, so callees before their callers. A frame shorter than `least` is
 * not kept by itself, and neither are its callees: such frames of one caller that are less than
 * `least` apart become one merged frame, from the start of the first to the end of the last. So do
 * frames at `levels` or more above the outermost one. Where CHART_FRAMES_MOST frames are kept,
 * `least` is doubled, and where this merges too much, `levels` is halved. The result is that of a
 * chart of all frames with the same `least` and `levels`.
 */

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

/* --- the lanes of a flame chart: the calls and the samples of each thread by time --- */

/* A frame that samples have shown, and that goes on. */
struct open_frame {
	uint64_t start;
	uint32_t name;
};

/* The samples of one thread. */
struct sampled_thread {
	struct open_frame *open; /* outermost first */
	size_t nopen, capacity;
	uint32_t stack;			 /* number of the last sample's stack */
	uint64_t time, weight, interval; /* of the last sample; time since the one before it */
	bool seen;
};

/* One thread. */
struct chart_thread {
	struct buffer name;
	struct chart_lane calls, samples;
	struct sampled_thread sampled;
};

/* What is drawn. */
struct flame_chart {
	struct chart_frames frames;
	struct chart_thread **threads; /* in the order of their appearance */
	size_t nthreads, capacity;
	struct intern names;
	const char *title;   /* NULL: none */
	const char *sampled; /* name of the samples' type; NULL: there are none */
	bool calls;	     /* there are calls */
	const char
		*unit; /* of times: "ns", "ticks", or the type that samples without times count */
};

/* Get the title of a picture: --title, or the name of the trace; NULL: there are several. */
const char *picture_title(const struct encoding *en);

extern const struct encoder encoder_flame_chart; /* of -t svg --by-time */

#endif

/*
 * flame_chart.h - the lanes of a flame chart: the calls and the samples of each thread by time
 */
#ifndef TR_TRENCODE_TIMELINE_FLAME_CHART_H
#define TR_TRENCODE_TIMELINE_FLAME_CHART_H

#include "cmd/trencode/timeline/chart_frames.h"
#include "cmd/trencode/encoder.h"

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

/* Write the chart. Merges the frames that are too narrow. Returns 0, or -1 when out of memory. */
int flame_chart_draw(struct flame_chart *c, struct text *out);
/* Returns the title of a picture: --title, or the name of the trace; NULL: there are several. */
const char *picture_title(const struct encoding *en);

extern const struct encoder encoder_flame_chart; /* of -t svg --by-time */

#endif

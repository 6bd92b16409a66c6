/*
 * svg.h - writes a picture as one SVG file: frames with names and tooltips, and a script
 *
 *     svg_begin(out, &(struct svg_picture){.class = "graph", .title = "app.trs",
 *               .line = "time of calls: 12.3 us", .exact = "time of calls: 12.345 us",
 *               .height = height});
 *     svg_put_frame(out, &frame);            for each frame
 *     svg_end(out, false);
 *
 * A picture can be part of a page of HTML. In texts, bytes that XML does not allow become '?'. A
 * picture needs no other file and no network. What colours show is in the tooltips too, and texts
 * have a contrast of 4.5 to 1 on light and dark screens.
 */
#ifndef TR_PICTURE_SVG_H
#define TR_PICTURE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool;
struct text;

/* Lengths in pixels, and the limits of a picture. */
enum {
	SVG_WIDTH = 1200,
	SVG_LEFT = 10, /* margin, on the right side too */
	SVG_INSIDE = SVG_WIDTH - 2 * SVG_LEFT,
	SVG_ROW = 17, /* height of a frame, with the line between two */
	SVG_ABOVE = 50,
	SVG_BELOW = 12,
	SVG_PARTS = 10 * SVG_INSIDE, /* a frame below this part of the whole is too narrow to see */
	SVG_FRAMES_MOST = 8000,
	SVG_BYTES_MOST = 1900000, /* of all frames */
};

/* What a picture is of. */
struct svg_picture {
	/* "graph" or "chart" for the script (svg.c); "plot": frames are no stacks */
	const char *class;
	const char *title;	  /* NULL: none */
	const char *line, *exact; /* what is drawn, short; and exactly, for a tooltip */
	/* of a chart: the time of the whole width, and its unit as plain text */
	uint64_t span;
	const char *unit;
	int height;
	bool part; /* of a page, which has svg_style and svg_script once */
};

/* One rectangle. */
struct svg_frame {
	const char *name;
	size_t size;
	const char *value; /* what the tooltip says in parentheses after the name */
	double x, width;   /* from the left margin */
	double y, height;  /* height 0: SVG_ROW, less the line between two frames */
	uint32_t colour;   /* 0xRRGGBB */
	const char *look;  /* more classes of svg_style, separated by spaces; NULL: none */
};

enum { SVG_TITLE = 320 };
/* Get the title of a picture: given, if that is not NULL, none if it is empty; or the name of the
 * trace, of the sources of a dictionary, and the date of wall, ns since 1970, if it is positive:
 * "run.dat, 2026-11-28 04:06:52 UTC". NULL: there are several traces, or neither is known. out:
 * memory for it. */
const char *svg_title(char out[static SVG_TITLE], const char *given, const struct pool *sources,
		      int64_t wall);
/* Begin a picture: the title and the lines on top, which readers of screens read too. */
void svg_begin(struct text *out, const struct svg_picture *p);
enum { SVG_AMOUNT = 96 };
/* Format an amount: "364.4 ms" for nanoseconds, and "364.391893 ms" if it is exact. Returns out. */
const char *svg_amount(char out[static SVG_AMOUNT], uint64_t value, const char *unit, bool exact);
/* Write the axis of a chart: lines from top to bottom at round times, with the time where its text
 * does not reach beyond the picture. span: the time of the whole width. */
void svg_put_axis(struct text *out, uint64_t span, const char *unit, int top, int bottom);
void svg_put_frame(struct text *out, const struct svg_frame *f);
/* Get the most bytes that a frame of that name takes. */
size_t svg_frame_bytes(const char *name, size_t n);
/* Write text. */
void svg_put_escaped(struct text *out, const char *name, size_t n);
/* End a picture: write the script, unless the picture is part of a page. */
void svg_end(struct text *out, bool part);
/* What a page with pictures has in its style and at the end in a script. */
extern const char svg_style[], svg_script[];

/* Choose a warm colour by the name. */
uint32_t svg_colour(const char *name, size_t n);

#endif

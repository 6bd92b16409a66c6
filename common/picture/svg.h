/*
 * svg.h - writes a picture of stacks as one SVG file: frames with names and tooltips, and a script
 *
 *     svg_begin(out, "class=\"graph\"", NULL, height);
 *     svg_about(out, "app.trs", "time of calls: 12.3 us", "time of calls: 12.345 us");
 *     svg_put_frame(out, &frame);            for each frame
 *     svg_end(out);
 *
 * In texts, bytes that XML does not allow become '?'. A picture needs no other file and no network.
 */
#ifndef TR_PICTURE_SVG_H
#define TR_PICTURE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* One rectangle. */
struct svg_frame {
	const char *name;
	size_t size;
	const char *value; /* what the tooltip says in parentheses after the name */
	double x, width;   /* from the left margin */
	int y;
	uint32_t colour; /* 0xRRGGBB */
};

/* Begin a picture of that height; root is the attributes of its root: its class, "graph" or
 * "chart", and those of a chart. unit: that of a chart's times, as plain text; NULL:
 * none. */
void svg_begin(struct text *out, const char *root, const char *unit, int height);
/* Write the lines on top: a title, NULL: none, and what is drawn; exact: its tooltip. */
void svg_about(struct text *out, const char *title, const char *line, const char *exact);
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
/* End a picture: write the script. */
void svg_end(struct text *out);

/* Choose a warm colour by the name. */
uint32_t svg_colour(const char *name, size_t n);

#endif

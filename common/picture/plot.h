/*
 * plot.h - scales and marks of plots in pictures of svg.h
 *
 *     100 |      ##
 *      50 |  ##  ##  ##
 *         +--|----|-----|--
 *          1 us  2 us  5 us
 *
 * The steps of a scale of counts are 1, 2 or 5 times a power of ten. A scale of values is
 * logarithmic: it has lines, so many parts for each power of two, which are equally high, or wide.
 */
#ifndef TR_PICTURE_PLOT_H
#define TR_PICTURE_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/u128.h"

struct text;

/* The area of a plot, in pixels of the picture. */
struct plot {
	double left, top, width, height;
};

/* Write the scale of counts, from 0 at the bottom to most at the top, with texts to the left. */
void plot_put_counts(struct text *out, const struct plot *p, uint64_t most);

/*
 * Get the line of a value: octave * parts + part, from 1 on; 0 for 0; negated for negative values.
 * An octave [2^k, 2^(k+1)) is divided into parts, a power of two; fewer if it has fewer values.
 */
int64_t plot_line_of(int128 value, unsigned parts);
/* Get the value of the line that is nearest to 0. */
int128 plot_line_low(int64_t line, unsigned parts);
/* Returns true if a value is between the least ones of this line and the next. */
bool plot_line_has_values(int64_t line, unsigned parts);

/* A scale of values. */
struct plot_values {
	int64_t first, last; /* lines */
	unsigned parts;
	const char *unit; /* "ns"; "" for numbers */
	bool upwards;	  /* least value at the bottom; else at the left */
};

/* Choose the lines of values from low to high: at most so many, or one for each octave. */
struct plot_values plot_choose_lines(int128 low, int128 high, unsigned most);
/* Get where a value is, as a part of the scale. */
double plot_position(const struct plot_values *v, int128 value);
/* Write the scale: of a plot with least values at the left below it, else over its left edge. */
void plot_put_values(struct text *out, const struct plot *p, const struct plot_values *v);
/* Write one level of it over the left edge. */
void plot_put_level(struct text *out, const struct plot *p, double share, const char *label);
enum { PLOT_AMOUNT = 104 };
/* Format a value as svg_amount does: "-1.5 ms" of -1500000 "ns", "12" of 12 "". Returns out. */
const char *plot_amount(char out[static PLOT_AMOUNT], int128 value, const char *unit, bool exact);

/* Write a mark of a value, a line through the plot, with a text in that row from the top. */
void plot_put_mark(struct text *out, const struct plot *p, double at, const char *label, int row);

/*
 * The shades of a heat map.
 *
 * A shade covers counts from its least one on: 1, 2, 5, 10 ..., every second or third of these if
 * they would be more than SHADES.
 */
enum { SHADES = 8 };

struct shades {
	uint64_t least[SHADES];
	unsigned count;
};

struct shades shades_of(uint64_t most);
/* Get the number of a shade of a count that is not 0: from 1 to SHADES, the darkest; the class of
 * svg_style is "h" and the number. */
unsigned shade_of(const struct shades *s, uint64_t count);
/* Write what the shades mean, beginning there. */
void shades_put_legend(struct text *out, const struct shades *s, int y);

#endif

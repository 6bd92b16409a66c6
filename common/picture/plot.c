/*
 * plot.c - scales and marks of plots in pictures of svg.h
 */
#include "common/picture/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/picture/svg.h"
#include "common/util/text.h"
#include "common/value/units.h"

enum {
	TICK_HEIGHT = 15,   /* least pixels from one text to the next below it */
	TICK_WIDTH = 70,    /* of one beside it */
	LABEL_WIDTH = 88,   /* most of the text of a mark */
	VALUE_TICKS = 6,    /* of scales that are nearly linear */
	LINEAR_OCTAVES = 2, /* the most octaves of these */
	SHADE_COLOUR = 0xe06020,
	SHADE_WIDTH = 140,
};

/* --- counts --- */

/* Write a tick of the vertical scale, whose texts end there. */
static void plot_put_tick(struct text *out, const struct plot *p, double y, const char *label)
{
	text_printf(out,
		    "<g class=\"tick\"><line x1=\"%.7g\" y1=\"%.7g\" x2=\"%.7g\" y2=\"%.7g\"/>"
		    "<text x=\"%.7g\" y=\"%.7g\" text-anchor=\"end\">%s</text></g>\n",
		    p->left, y, p->left + p->width, y, p->left - 4, y + 4, label);
}

void plot_put_counts(struct text *out, const struct plot *p, uint64_t most)
{
	uint64_t ticks = (uint64_t)(p->height / (2 * TICK_HEIGHT)) + 1;
	uint64_t step = round_step(most / ticks + (most % ticks != 0));

	for (uint64_t count = 0;; count += step) {
		char label[PLOT_AMOUNT];
		double share = most ? (double)count / (double)most : 0;

		plot_amount(label, (int128)count, "", true);
		plot_put_tick(out, p, p->top + p->height * (1 - share), label);
		if (most - count < step || !step)
			break;
	}
}

/* --- values --- */

int64_t plot_line_of(int128 value, unsigned parts)
{
	uint64_t size = (uint64_t)magnitude(value), k;
	int64_t at;

	if (!size)
		return 0;
	k = 63 - (uint64_t)__builtin_clzll(size);
	at = 1 + (int64_t)(k * parts) +
	     (int64_t)((uint128)(size - ((uint64_t)1 << k)) * parts >> k);
	return value < 0 ? -at : at;
}

int128 plot_line_low(int64_t line, unsigned parts)
{
	uint64_t n = (uint64_t)(line < 0 ? -line : line) - 1, k = n / parts;
	uint128 low;

	if (!line)
		return 0;
	low = (uint128)1 << k;
	low += (((uint128)(n % parts) << k) + parts - 1) / parts;
	return line < 0 ? -(int128)low : (int128)low;
}

bool plot_line_has_values(int64_t line, unsigned parts)
{
	return plot_line_of(plot_line_low(line, parts), parts) == line;
}

struct plot_values plot_choose_lines(int128 low, int128 high, unsigned most)
{
	struct plot_values v = {.parts = 1};
	int64_t octaves = plot_line_of(high, 1) - plot_line_of(low, 1) + 1;

	while (v.parts < 64 && octaves * 2 * v.parts <= most)
		v.parts *= 2;
	v.first = plot_line_of(low, v.parts);
	v.last = plot_line_of(high, v.parts);
	return v;
}

/* Get the place of the lower edge of a value, in lines: 0 of the line 0. */
static double edge_of(int128 value, unsigned parts)
{
	double size = (double)magnitude(value), k;

	if (!value)
		return 0;
	k = floor(log2(size));
	size = 1 + (k + size / exp2(k) - 1) * parts;
	return value < 0 ? 1 - size : size;
}

double plot_position(const struct plot_values *v, int128 value)
{
	double lines = (double)(v->last - v->first + 1);

	return (edge_of(value, v->parts) - (double)v->first) / lines;
}

const char *plot_amount(char out[static PLOT_AMOUNT], int128 value, const char *unit, bool exact)
{
	char amount[SVG_AMOUNT];
	size_t n;

	svg_amount(amount, (uint64_t)magnitude(value), unit, exact);
	n = strlen(amount);
	if (!*unit && n)
		amount[n - 1] = 0; /* the space before a unit */
	snprintf(out, PLOT_AMOUNT, "%s%s", value < 0 ? "-" : "", amount);
	return out;
}

void plot_put_level(struct text *out, const struct plot *p, double share, const char *label)
{
	double y = p->top + p->height * (1 - share);
	bool below = p->height * share >= TICK_HEIGHT;

	text_printf(out,
		    "<g class=\"tick\"><line x1=\"%.7g\" y1=\"%.7g\" x2=\"%.7g\" y2=\"%.7g\"/>"
		    "<text x=\"%.7g\" y=\"%.7g\">",
		    p->left, y, p->left + p->width, y, p->left + 2, y + (below ? 11 : -2));
	svg_put_escaped(out, label, strlen(label));
	text_puts(out, "</text></g>\n");
}

static void put_value_tick(struct text *out, const struct plot *p, const struct plot_values *v,
			   int128 value)
{
	double share = plot_position(v, value), x = p->left + p->width * share;
	char label[PLOT_AMOUNT];

	plot_amount(label, value, v->unit, true);
	if (v->upwards) {
		plot_put_level(out, p, share, label);
		return;
	}
	text_printf(out,
		    "<g class=\"tick\"><line x1=\"%.7g\" y1=\"%.7g\" x2=\"%.7g\" "
		    "y2=\"%.7g\"/><text x=\"%.7g\" y=\"%.7g\" text-anchor=\"middle\">",
		    x, p->top, x, p->top + p->height + 3, x, p->top + p->height + 14);
	svg_put_escaped(out, label, strlen(label));
	text_puts(out, "</text></g>\n");
}

/* The ticks of a scale so far. */
struct value_ticks {
	struct text *out;
	const struct plot *plot;
	const struct plot_values *values;
	double length, gap, last; /* pixels: of the scale, between ticks, to the last one */
};

/* Write the tick of a value, if it is on the scale and not too near to the one before. */
static void offer_tick(struct value_ticks *t, int128 value)
{
	double at = plot_position(t->values, value) * t->length;

	if (at < 0 || at > t->length || at - t->last < t->gap)
		return;
	put_value_tick(t->out, t->plot, t->values, value);
	t->last = at;
}

/* Write ticks at multiples of a round step. */
static void put_linear_ticks(struct value_ticks *t, int128 low, int128 high)
{
	uint64_t step = round_step((uint64_t)((high - low) / VALUE_TICKS) + 1);
	int128 rest = low % step;

	for (int128 value = low - rest; value <= high; value += step)
		offer_tick(t, value);
}

/* Write ticks at powers of ten, from the least value to the greatest, and at 2 and 5 times these if
 * there is space for all. */
static void put_decimal_ticks(struct value_ticks *t)
{
	double decade = log2(10) * t->values->parts * t->length /
			(double)(t->values->last - t->values->first + 1);
	int powers = decade >= t->gap ? 1 : (int)ceil(t->gap / decade), most = 19 - 19 % powers;
	bool fine = decade * log10(2) >= t->gap;

	/* a power of a thousand has a unit of its own */
	powers = powers > 1 && powers < 3 ? 3 : powers;
	most = 19 - 19 % powers;
	for (int sign = -1; sign <= 1; sign++)
		for (int i = 0; i <= most; i += powers) {
			int power = sign < 0 ? most - i : i;
			uint64_t ten = 1;

			for (int k = 0; k < power; k++)
				ten *= 10;
			if (!sign) {
				offer_tick(t, 0);
				break;
			}
			for (int k = 0; k < (fine && power < 19 ? 3 : 1); k++) {
				static const int factors[] = {1, 2, 5};

				offer_tick(t, sign * (int128)ten *
						      factors[sign < 0 && fine ? 2 - k : k]);
			}
		}
}

void plot_put_values(struct text *out, const struct plot *p, const struct plot_values *v)
{
	struct value_ticks t = {out,
				p,
				v,
				v->upwards ? p->height : p->width,
				v->upwards ? TICK_HEIGHT : TICK_WIDTH,
				-INFINITY};
	int64_t octaves = (v->last - v->first) / v->parts;
	int128 high = plot_line_low(v->last + (v->last >= 0), v->parts);
	int128 low = plot_line_low(v->first - (v->first < 0), v->parts);

	if (octaves <= LINEAR_OCTAVES)
		put_linear_ticks(&t, low, high);
	else
		put_decimal_ticks(&t);
}

void plot_put_mark(struct text *out, const struct plot *p, double at, const char *label, int row)
{
	double x = p->left + p->width * at;
	bool left = x + LABEL_WIDTH > p->left + p->width;

	text_printf(out,
		    "<g class=\"mark\"><line x1=\"%.7g\" y1=\"%.7g\" x2=\"%.7g\" y2=\"%.7g\"/>"
		    "<text x=\"%.7g\" y=\"%.7g\"%s>",
		    x, p->top, x, p->top + p->height, x + (left ? -3 : 3),
		    p->top + 10 + TICK_HEIGHT * row, left ? " text-anchor=\"end\"" : "");
	svg_put_escaped(out, label, strlen(label));
	text_puts(out, "</text></g>\n");
}

/* --- shades --- */

struct shades shades_of(uint64_t most)
{
	struct shades s = {.count = 0};
	unsigned n = 0, each;

	for (uint64_t least = 1; least <= most && least < UINT64_MAX; least = round_step(least + 1))
		n++;
	each = (n + SHADES - 1) / SHADES;
	n = 0;
	for (uint64_t least = 1; least <= most && least < UINT64_MAX; least = round_step(least + 1))
		if (n++ % each == 0)
			s.least[s.count++] = least;
	return s;
}

unsigned shade_of(const struct shades *s, uint64_t count)
{
	unsigned i = s->count;

	while (i > 1 && s->least[i - 1] > count)
		i--;
	return s->count > 1 ? 1 + (i - 1) * (SHADES - 1) / (s->count - 1) : SHADES;
}

void shades_put_legend(struct text *out, const struct shades *s, int y)
{
	text_puts(out, "<g class=\"legend\">\n");
	for (unsigned i = 0; i < s->count; i++) {
		int x = SVG_LEFT + (int)i * SHADE_WIDTH;
		char from[PLOT_AMOUNT], to[PLOT_AMOUNT] = " or more";
		bool last = i + 1 == s->count, one = !last && s->least[i + 1] == s->least[i] + 1;

		if (one)
			*to = '\0';
		else if (!last)
			snprintf(to, sizeof to, " to %" PRIu64, s->least[i + 1] - 1);
		text_printf(
			out,
			"<g class=\"h%u\"><rect x=\"%d\" y=\"%d\" width=\"14\" height=\"12\" "
			"fill=\"#%06x\"/></g><text class=\"lane\" x=\"%d\" y=\"%d\">%s%s</text>\n",
			shade_of(s, s->least[i]), x, y, SHADE_COLOUR, x + 20, y + 10,
			plot_amount(from, (int128)s->least[i], "", true), to);
	}
	text_puts(out, "</g>\n");
}

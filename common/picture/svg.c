#include "common/picture/svg.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/picture/svg_script.h"
#include "common/util/utf8.h"
#include "common/value/units.h"

enum {
	TICKS_MOST = 10,   /* parts of an axis */
	TICK_GAP = 12,	   /* least pixels between the texts of two ticks */
	TICK_TEXT = 2,	   /* pixels from a tick to its text */
	LETTER = 725,	   /* hundredths of a pixel */
	FRAME_BYTES = 260, /* most bytes of a frame without its names */
};

static const char *escape_of(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	default: return NULL;
	}
}

/* Test whether XML allows the character of that length at p. */
static bool is_allowed(const char *p, size_t length)
{
	if (length == 1)
		return (unsigned char)*p >= 0x20 && *p != 0x7f;
	/* U+FFFE and U+FFFF */
	return length && (length != 3 || memcmp(p, "\xef\xbf", 2) || (unsigned char)p[2] < 0xbe);
}

void svg_put_escaped(struct text *out, const char *name, size_t n)
{
	for (size_t i = 0, length; i < n; i += length ? length : 1) {
		const char *escape = escape_of(name[i]);

		length = utf8_length(name + i, n - i);
		if (escape)
			text_puts(out, escape);
		else if (is_allowed(name + i, length))
			text_put(out, name + i, length);
		else
			text_char(out, '?');
	}
}

size_t svg_frame_bytes(const char *name, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		const char *escape = escape_of(name[i]);

		bytes += escape ? strlen(escape) : 1;
	}
	/* the name is in the tooltip, and once more in the frame as far as it fits */
	return FRAME_BYTES + 2 * bytes;
}

/* Count the bytes of the longest beginning of a name with so many characters. */
static size_t beginning(const char *name, size_t n, size_t letters)
{
	size_t i = 0;

	while (i < n && letters--)
		for (i++; i < n && ((unsigned char)name[i] & 0xc0) == 0x80;)
			i++;
	return i;
}

uint32_t svg_colour(const char *name, size_t n)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return (205 + hash % 50) << 16 | (70 + (hash >> 8) % 150) << 8 | (hash >> 16) % 70;
}

void svg_begin(struct text *out, const char *root, const char *unit, int height)
{
	text_printf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" %s",
		    root);
	if (unit) {
		text_puts(out, " data-unit=\"");
		svg_put_escaped(out, unit, strlen(unit));
		text_char(out, '"');
	}
	text_printf(out, " viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n<style>\n", SVG_WIDTH,
		    height, SVG_WIDTH, height);
	text_puts(out, svg_style);
	text_puts(out, "</style>\n");
}

const char *svg_amount(char out[static SVG_AMOUNT], uint64_t value, const char *unit, bool exact)
{
	double scale = value < 1000000 ? 1e3 : value < 1000000000 ? 1e6 : 1e9;

	if (exact || value < 1000 || strcmp(unit, "ns") != 0)
		snprintf(out, SVG_AMOUNT, "%" PRIu64 " %.60s", value, unit);
	else
		snprintf(out, SVG_AMOUNT, "%.*f %s", (double)value < 10 * scale ? 3 : 1,
			 (double)value / scale,
			 scale < 1e6   ? "us"
			 : scale < 1e9 ? "ms"
				       : "s");
	return out;
}

void svg_about(struct text *out, const char *title, const char *line, const char *exact)
{
	int head = title ? 29 : 20, about = title ? 44 : 38;

	if (title) {
		text_printf(out, "<text class=\"about\" id=\"title\" x=\"%d\" y=\"14\">", SVG_LEFT);
		svg_put_escaped(out, title, strlen(title));
		text_puts(out, "</text>\n");
	}
	text_printf(out, "<text class=\"about\" id=\"head\" x=\"%d\" y=\"%d\">", SVG_LEFT, head);
	svg_put_escaped(out, line, strlen(line));
	text_puts(out, "<title>");
	svg_put_escaped(out, exact, strlen(exact));
	text_puts(out, "</title>");
	text_printf(out,
		    "</text>\n<text class=\"about\" id=\"search\" x=\"%d\" y=\"%d\" "
		    "text-anchor=\"end\">search (/)</text>\n"
		    "<text class=\"about\" id=\"about\" x=\"%d\" y=\"%d\"></text>\n"
		    "<text class=\"about\" id=\"found\" x=\"%d\" y=\"%d\" "
		    "text-anchor=\"end\"></text>\n",
		    SVG_WIDTH - SVG_LEFT, head, SVG_LEFT, about, SVG_WIDTH - SVG_LEFT, about);
}

/* Format the time of a tick as svg_script does: with the decimals that the step has. Returns its
 * width in pixels. */
static double tick_label(char out[static SVG_AMOUNT], uint64_t time, uint64_t step, uint64_t span,
			 const char *unit)
{
	uint64_t scale = 1;
	int n, digits = 0;

	if (!strcmp(unit, "ns")) {
		scale = span < 1000	    ? 1
			: span < 1000000    ? 1000
			: span < 1000000000 ? 1000000
					    : 1000000000;
		unit = scale == 1 ? "ns" : scale == 1000 ? "us" : scale == 1000000 ? "ms" : "s";
	}
	for (uint64_t part = step % scale; part; part = part * 10 % scale)
		digits++;
	n = snprintf(out, SVG_AMOUNT, "%.*f %.60s", digits, (double)time / (double)scale, unit);
	return n * LETTER / 100.;
}

/* Choose the step of an axis whose texts do not overlap. */
static uint64_t tick_step(uint64_t span, const char *unit)
{
	uint64_t step = round_step(span / TICKS_MOST + (span % TICKS_MOST != 0));
	char label[SVG_AMOUNT];

	while (step < span && (double)step / (double)span * SVG_INSIDE <
				      tick_label(label, span, step, span, unit) + TICK_GAP)
		step = round_step(step + 1);
	return step;
}

void svg_put_axis(struct text *out, uint64_t span, const char *unit, int top, int bottom)
{
	uint64_t step = tick_step(span, unit);

	text_puts(out, "<g id=\"axis\">\n");
	for (uint64_t time = 0;; time += step) {
		double x = SVG_LEFT + (double)time / (double)span * SVG_INSIDE;
		char label[SVG_AMOUNT];

		if (x + TICK_TEXT + tick_label(label, time, step, span, unit) > SVG_WIDTH)
			*label = 0;
		text_printf(out,
			    "<g class=\"tick\"><line x1=\"%.3f\" y1=\"%d\" x2=\"%.3f\" y2=\"%d\"/>"
			    "<text x=\"%.3f\" y=\"%d\">",
			    x, top, x, bottom, x + TICK_TEXT, top + 10);
		svg_put_escaped(out, label, strlen(label));
		text_puts(out, "</text></g>\n");
		if (span - time < step)
			break;
	}
	text_puts(out, "</g>\n");
}

void svg_put_frame(struct text *out, const struct svg_frame *f)
{
	double x = SVG_LEFT + f->x;
	size_t letters = f->width > 4 ? (size_t)((f->width - 4) * 100 / LETTER) : 0;
	size_t all = beginning(f->name, f->size, letters);
	size_t part = letters < 3      ? 0
		      : all == f->size ? f->size
				       : beginning(f->name, f->size, letters - 2);

	text_puts(out, "<g class=\"f\" tabindex=\"0\"><title>");
	svg_put_escaped(out, f->name, f->size);
	text_puts(out, " (");
	svg_put_escaped(out, f->value, strlen(f->value));
	text_printf(out,
		    ")</title><rect x=\"%.3f\" y=\"%d\" width=\"%.3f\" height=\"%d\" "
		    "fill=\"#%06x\"/><text x=\"%.3f\" y=\"%d\">",
		    x, f->y, f->width, SVG_ROW - 1, f->colour, x + 2, f->y + 12);
	svg_put_escaped(out, f->name, part);
	text_puts(out, part && part < f->size ? "..</text></g>\n" : "</text></g>\n");
}

void svg_end(struct text *out)
{
	text_puts(out, "<script><![CDATA[\n");
	text_puts(out, svg_script);
	text_puts(out, "]]></script>\n</svg>\n");
}

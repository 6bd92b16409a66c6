/*
 * svg.c - writes a picture as one SVG file: frames with names and tooltips, and a script
 */
#include "common/picture/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "common/stream/dictionary.h"
#include "common/util/text.h"
#include "common/value/units.h"

/* --- the style and the script of a picture --- */

/* The style, for paper, and for light and dark screens. */
const char svg_style[] =
	"svg { background: #fff; color-scheme: light dark }\n"
	"text { font: 12px monospace; fill: #111; pointer-events: none }\n"
	".about, .lane { fill: #333 }\n"
	".tick text { fill: #595959; stroke: #fff; stroke-width: 3; paint-order: stroke }\n"
	".tick line { stroke: #777; stroke-opacity: .3 }\n"
	".mark line { stroke: #333; stroke-dasharray: 4 3 }\n"
	".mark text { fill: #111; stroke: #fff; stroke-width: 3; paint-order: stroke }\n"
	".f rect { stroke: #fff; stroke-width: .5; cursor: pointer }\n"
	".f:hover rect, .f:focus rect { stroke: #000; stroke-width: 2 }\n"
	".f { outline: none }\n"
	".f.below { opacity: .5 }\n"
	".f.found rect { fill: #c060ff; stroke: #000; stroke-width: 1.5 }\n"
	".f.less rect { stroke: #111; stroke-width: 1; stroke-dasharray: 3 2 }\n"
	".f.mute text { display: none }\n"
	".h1 rect { fill-opacity: .25 } .h2 rect { fill-opacity: .35 }\n"
	".h3 rect { fill-opacity: .45 } .h4 rect { fill-opacity: .55 }\n"
	".h5 rect { fill-opacity: .65 } .h6 rect { fill-opacity: .76 }\n"
	".h7 rect { fill-opacity: .9 }\n"
	".legend rect { stroke: #777; stroke-width: .5 }\n"
	".about.title { font-weight: bold }\n"
	".about.head { pointer-events: all }\n"
	".about.search { pointer-events: all; cursor: pointer }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	"svg { background: #1b1b1b }\n"
	".about, .lane { fill: #ccc }\n"
	".tick text { fill: #a8a8a8; stroke: #1b1b1b }\n"
	".mark line { stroke: #ccc }\n"
	".mark text { fill: #eee; stroke: #1b1b1b }\n"
	".f rect { stroke: #1b1b1b }\n"
	".f:hover rect, .f:focus rect, .f.found rect { stroke: #fff }\n"
	".h1 text, .h2 text, .h3 text, .h4 text, .h5 text, .h6 text { fill: #eee }\n"
	"}\n";

/*
 * The script: a click or Enter zooms to a frame, / or Ctrl-F searches names by a regular
 * expression, Escape resets, Tab and the arrows move between frames. Without a script the picture
 * has tooltips only. In a page, of many pictures, keys are those of the picture with the focus, and
 * Tab moves to the next picture.
 *
 * In a picture of class "chart" the frames of a lane are in a group, x is a time, and the axis of
 * svg_put_axis is drawn again for the time that is shown. data-span and data-unit of the root are
 * the time of the whole width and its unit; the script writes "ns" in larger units.
 */
const char svg_script[] =
	"'use strict';\n"
	"function picture(svg) {\n"
	"const alone = svg === document.documentElement;\n"
	"const chart = svg.classList.contains('chart'), plot = svg.classList.contains('plot');\n"
	"const left = 10, width = svg.viewBox.baseVal.width - 2 * left, letter = 7.25, near = "
	"1e-3;\n"
	"const about = svg.querySelector('.about.frame'), found = "
	"svg.querySelector('.about.found');\n"
	"const lanes = [], axis = svg.querySelector('.axis');\n"
	"const tick = axis && axis.firstElementChild;\n"
	"const frames = Array.from(svg.querySelectorAll('.f'), g => {\n"
	"  const rect = g.querySelector('rect'), title = g.querySelector('title').textContent;\n"
	"  const lane = lanes.lastIndexOf(g.parentNode);\n"
	"  return { g, rect, text: g.querySelector('text'), title, x: +rect.getAttribute('x') - "
	"left,\n"
	"    width: +rect.getAttribute('width'), y: +rect.getAttribute('y'),\n"
	"    lane: lane < 0 ? lanes.push(g.parentNode) - 1 : lane,\n"
	"    name: title.slice(0, title.lastIndexOf(' (')) };\n"
	"});\n"
	"/* Write a time, of a span that decides the unit, with the decimals of a step if there is "
	"one. */\n"
	"function time(value, span, step) {\n"
	"  if (svg.dataset.unit !== 'ns') return Math.round(value) + ' ' + svg.dataset.unit;\n"
	"  const scale = span < 1e3 ? 1 : span < 1e6 ? 1e3 : span < 1e9 ? 1e6 : 1e9;\n"
	"  let digits = step ? 0 : 3;\n"
	"  for (let part = step % scale; part; part = part * 10 % scale) digits++;\n"
	"  return (value / scale).toFixed(digits) + { 1: ' ns', 1e3: ' us', 1e6: ' ms', 1e9: ' s' "
	"}[scale];\n"
	"}\n"
	"function show(frame, x, width) {\n"
	"  const low = frame.rect.getAttribute('height') < 14, name = frame.name;\n"
	"  const letters = low ? 0 : Math.floor((width - 4) / letter);\n"
	"  frame.rect.setAttribute('x', left + x);\n"
	"  frame.rect.setAttribute('width', width);\n"
	"  frame.text.setAttribute('x', left + x + 2);\n"
	"  frame.text.textContent = letters < 3 ? '' : name.length <= letters ? name :\n"
	"    name.slice(0, letters - 2) + '..';\n"
	"}\n"
	"/* Get the first of 1, 2, 5, 10, 20 ... that is at least that. */\n"
	"function round(least) {\n"
	"  const power = 10 ** Math.max(0, Math.floor(Math.log10(least)));\n"
	"  return power * [1, 2, 5, 10].find(n => n * power >= least);\n"
	"}\n"
	"/* Draw the axis of that part of the width, as it is drawn of the whole. */\n"
	"function range(x, part) {\n"
	"  if (!tick) return;\n"
	"  const whole = +svg.dataset.span, from = whole * x / width, span = whole * part / "
	"width;\n"
	"  const ticks = [], letters = () => time(from + span, span, step).length;\n"
	"  let step = round(span / 10);\n"
	"  while (step < span && step / span * width < letters() * letter + 12) "
	"step = round(1.5 * step);\n"
	"  for (let n = 0, first = Math.ceil(from / step - near); n <= 10; n++) {\n"
	"    const value = (first + n) * step, x = left + (value - from) / span * width;\n"
	"    const copy = tick.cloneNode(true), line = copy.firstElementChild;\n"
	"    const text = copy.lastElementChild;\n"
	"    if (x > left + width + near) break;\n"
	"    line.setAttribute('x1', x);\n"
	"    line.setAttribute('x2', x);\n"
	"    text.setAttribute('x', x + 2);\n"
	"    text.textContent = time(value, span, step);\n"
	"    if (x + 2 + text.textContent.length * letter > 2 * left + width) text.textContent = "
	"'';\n"
	"    ticks.push(copy);\n"
	"  }\n"
	"  axis.replaceChildren(...ticks);\n"
	"}\n"
	"/* Show a frame in the full width: of a chart its time in all lanes, of a graph its "
	"callees. */\n"
	"function zoom(to) {\n"
	"  if (plot) return;\n"
	"  const scale = width / to.width, end = to.x + to.width;\n"
	"  for (const f of frames) {\n"
	"    const x = Math.max(f.x, to.x), w = Math.min(f.x + f.width, end) - x;\n"
	"    const within = f.x >= to.x - near && f.x + f.width <= end + near;\n"
	"    const covers = f.x <= to.x + near && f.x + f.width >= end - near;\n"
	"    const around = covers && (chart ? f.lane === to.lane && f.y < to.y : f.y > to.y);\n"
	"    const shown = chart ? w > near : around || (within && f.y <= to.y);\n"
	"    f.g.style.display = shown ? '' : 'none';\n"
	"    f.g.classList.toggle('below', around);\n"
	"    if (shown) show(f, (x - to.x) * scale, w * scale);\n"
	"  }\n"
	"  range(to.x, to.width);\n"
	"}\n"
	"function reset() {\n"
	"  for (const f of frames) {\n"
	"    f.g.style.display = '';\n"
	"    f.g.classList.remove('below', 'found');\n"
	"    show(f, f.x, f.width);\n"
	"  }\n"
	"  range(0, width);\n"
	"  found.textContent = '';\n"
	"}\n"
	"function search(pattern) {\n"
	"  let expression, sum = 0, covered = 0, lane = -1;\n"
	"  try { expression = new RegExp(pattern); }\n"
	"  catch (e) { found.textContent = e.message; return; }\n"
	"  const hits = frames.filter(f => {\n"
	"    const hit = pattern !== '' && expression.test(f.name);\n"
	"    f.g.classList.toggle('found', hit);\n"
	"    return hit;\n"
	"  });\n"
	"  /* a found frame on top of another one is counted once */\n"
	"  hits.sort((a, b) => a.lane - b.lane || a.x - b.x || b.width - a.width);\n"
	"  for (const f of hits) {\n"
	"    if (f.lane !== lane) covered = 0;\n"
	"    lane = f.lane;\n"
	"    sum += Math.max(0, f.x + f.width - Math.max(f.x, covered));\n"
	"    covered = Math.max(covered, f.x + f.width);\n"
	"  }\n"
	"  const span = +svg.dataset.span * sum / width;\n"
	"  found.textContent = !pattern ? '' : 'found: ' + (chart ? hits.length + ' frames, ' +\n"
	"    time(span, span) : (100 * sum / width).toFixed(1) + '%');\n"
	"}\n"
	"function ask() {\n"
	"  const pattern = prompt('Search names (regular expression):', '');\n"
	"  if (pattern !== null) search(pattern);\n"
	"}\n"
	"for (const f of frames) {\n"
	"  f.g.addEventListener('click', () => zoom(f));\n"
	"  f.g.addEventListener('mouseover', () => { about.textContent = f.title; });\n"
	"  f.g.addEventListener('focus', () => { about.textContent = f.title; });\n"
	"  f.g.addEventListener('mouseout', () => { about.textContent = ''; });\n"
	"}\n"
	"/* Move to another frame that is shown; in a page, Tab leaves the picture. */\n"
	"function move(at, step) {\n"
	"  const shown = frames.filter(f => f.g.style.display !== 'none');\n"
	"  const to = shown[shown.indexOf(at) + step];\n"
	"  if (!to) return;\n"
	"  if (!alone) at.g.setAttribute('tabindex', -1);\n"
	"  to.g.setAttribute('tabindex', 0);\n"
	"  to.g.focus();\n"
	"}\n"
	"if (!alone) for (const f of frames.slice(1)) f.g.setAttribute('tabindex', -1);\n"
	"if (!plot) svg.querySelector('.about.search').addEventListener('click', ask);\n"
	"(alone ? document : svg).addEventListener('keydown', e => {\n"
	"  const at = frames.find(f => f.g === document.activeElement);\n"
	"  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[e.key];\n"
	"  if (step && at) move(at, step);\n"
	"  else if (plot) return;\n"
	"  else if (e.key === 'Escape') reset();\n"
	"  else if (e.key === 'Enter' && at) zoom(at);\n"
	"  else if (e.key === '/' || (e.key === 'f' && (e.ctrlKey || e.metaKey))) ask();\n"
	"  else return;\n"
	"  e.preventDefault();\n"
	"});\n"
	"}\n"
	"for (const svg of document.querySelectorAll('svg')) picture(svg);\n";

/* --- svg --- */

enum {
	TICKS_MOST = 10,   /* parts of an axis */
	TICK_GAP = 12,	   /* least pixels between the texts of two ticks */
	TICK_TEXT = 2,	   /* pixels from a tick to its text */
	LETTER = 725,	   /* hundredths of a pixel */
	SVG_TEXT = 14,	   /* height that a text needs */
	FRAME_BYTES = 280, /* most bytes of a frame without its names */
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
	return (205 + hash % 50) << 16 | (100 + (hash >> 8) % 120) << 8 | (hash >> 16) % 70;
}

const char *svg_amount(char out[static SVG_AMOUNT], uint64_t value, const char *unit, bool exact)
{
	uint64_t scale = value < 1000000 ? 1000 : value < 1000000000 ? 1000000 : 1000000000;
	uint64_t rest = value % scale;
	int digits = scale == 1000 ? 3 : scale == 1000000 ? 6 : 9;

	if (value < 1000 || strcmp(unit, "ns") != 0) {
		snprintf(out, SVG_AMOUNT, "%" PRIu64 " %.60s", value, unit);
		return out;
	}
	unit = scale == 1000 ? "us" : scale == 1000000 ? "ms" : "s";
	for (; exact && digits && rest % 10 == 0; digits--)
		rest /= 10;
	if (!exact)
		snprintf(out, SVG_AMOUNT, "%.*f %s", value < 10 * scale ? 3 : 1,
			 (double)value / (double)scale, unit);
	else if (digits)
		snprintf(out, SVG_AMOUNT, "%" PRIu64 ".%0*" PRIu64 " %s", value / scale, digits,
			 rest, unit);
	else
		snprintf(out, SVG_AMOUNT, "%" PRIu64 " %s", value / scale, unit);
	return out;
}

const char *svg_title(char out[static SVG_TITLE], const char *given, const struct pool *sources,
		      int64_t wall)
{
	const char *name, *slash;
	time_t seconds = (time_t)(wall / 1000000000);
	struct tm tm;
	size_t n;

	if (given)
		return *given ? given : NULL;
	/* the first source, of number 0, is that of lanes without one */
	if (sources->count != 2)
		return NULL;
	name = ((const struct source *)pool_at(sources, 1))->name.text;
	slash = strrchr(name, '/');
	name = slash && slash[1] ? slash + 1 : name;
	n = (size_t)snprintf(out, SVG_TITLE, "%.256s", *name == '<' ? "" : name);
	if (wall > 0 && gmtime_r(&seconds, &tm))
		strftime(out + n, SVG_TITLE - n, n ? ", %F %T UTC" : "%F %T UTC", &tm);
	return *out ? out : NULL;
}

static void svg_put_text(struct text *out, const char *before, const char *text, const char *after)
{
	text_puts(out, before);
	svg_put_escaped(out, text, strlen(text));
	text_puts(out, after);
}

/* Write the title, and the line on top with its tooltip. Returns their height. */
static int svg_put_head(struct text *out, const struct svg_picture *p)
{
	int head = p->title ? 29 : 20;

	if (p->title) {
		text_printf(out, "<text class=\"about title\" x=\"%d\" y=\"14\">", SVG_LEFT);
		svg_put_text(out, "", p->title, "</text>\n");
	}
	text_printf(out, "<text class=\"about head\" x=\"%d\" y=\"%d\">", SVG_LEFT, head);
	svg_put_text(out, "", p->line, "<title>");
	svg_put_text(out, "", p->exact, "</title></text>\n");
	return head;
}

void svg_begin(struct text *out, const struct svg_picture *p)
{
	int head, about = p->title ? 44 : 38;

	if (p->part)
		text_printf(out, "<svg class=\"%s\" role=\"group\"", p->class);
	else
		text_printf(out,
			    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" role=\"group\" "
			    "aria-labelledby=\"name\" aria-describedby=\"exact\"",
			    p->class);
	if (p->part)
		svg_put_text(out, " aria-label=\"", p->exact, "\"");
	if (p->unit) {
		text_printf(out, " data-span=\"%" PRIu64 "\"", p->span);
		svg_put_text(out, " data-unit=\"", p->unit, "\"");
	}
	text_printf(out, " viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", SVG_WIDTH,
		    p->height, SVG_WIDTH, p->height);
	if (!p->part) {
		svg_put_text(out, "<title id=\"name\">", p->title ? p->title : p->line,
			     "</title>\n");
		svg_put_text(out, "<desc id=\"exact\">", p->exact, "</desc>\n<style>\n");
		text_puts(out, svg_style);
		text_puts(out, "</style>\n");
	}
	head = svg_put_head(out, p);
	text_printf(out, "<text class=\"about frame\" x=\"%d\" y=\"%d\"></text>\n", SVG_LEFT,
		    about);
	if (strcmp(p->class, "plot") != 0)
		text_printf(out,
			    "<text class=\"about search\" x=\"%d\" y=\"%d\" "
			    "text-anchor=\"end\">search (/)</text>\n"
			    "<text class=\"about found\" x=\"%d\" y=\"%d\" "
			    "text-anchor=\"end\"></text>\n",
			    SVG_WIDTH - SVG_LEFT, head, SVG_WIDTH - SVG_LEFT, about);
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

	text_puts(out, "<g class=\"axis\">\n");
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
	double x = SVG_LEFT + f->x, height = f->height > 0 ? f->height : SVG_ROW - 1;
	bool low = height < SVG_TEXT || f->width <= 4;
	size_t letters = low ? 0 : (size_t)((f->width - 4) * 100 / LETTER);
	size_t all = beginning(f->name, f->size, letters);
	size_t part = letters < 3      ? 0
		      : all == f->size ? f->size
				       : beginning(f->name, f->size, letters - 2);

	text_printf(out, "<g class=\"f%s%s\" role=\"img\" tabindex=\"0\"><title>",
		    f->look ? " " : "", f->look ? f->look : "");
	svg_put_escaped(out, f->name, f->size);
	text_puts(out, " (");
	svg_put_escaped(out, f->value, strlen(f->value));
	text_printf(out,
		    ")</title><rect x=\"%.3f\" y=\"%.7g\" width=\"%.3f\" height=\"%.7g\" "
		    "fill=\"#%06x\"/><text x=\"%.3f\" y=\"%.7g\">",
		    x, f->y, f->width, height, f->colour, x + 2, f->y + 12);
	svg_put_escaped(out, f->name, part);
	text_puts(out, part && part < f->size ? "..</text></g>\n" : "</text></g>\n");
}

void svg_end(struct text *out, bool part)
{
	if (part) {
		text_puts(out, "</svg>\n");
		return;
	}
	text_puts(out, "<script><![CDATA[\n");
	text_puts(out, svg_script);
	text_puts(out, "]]></script>\n</svg>\n");
}

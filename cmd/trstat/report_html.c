/*
 * report_html.c - --report -t html: a report as one file, which a browser shows without network
 *
 *     <section id="functions"><h2 id="functions-h">Functions by self</h2> ... </section>
 *
 * Every text is escaped: a name from a trace is never markup. The policy of the page names the
 * hashes of its style and its scripts, so a browser runs no other script.
 *
 * The bytes of a page have a limit: each table and each picture has a part of it, and what does not
 * fit is counted. The script makes tables sortable and searchable; without a script the page shows
 * all that it has.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/histogram.h"
#include "cmd/trstat/report.h"
#include "cmd/trstat/slowest.h"
#include "cmd/trstat/timeline.h"
#include "common/calls/call_stacks.h"
#include "common/picture/flame_graph.h"
#include "common/picture/svg.h"

/* Most bytes of the parts of a page, which together have less than 2 MB: one tree of stacks, one
 * histogram, three timelines, the tables of all sections. */
enum {
	HTML_FLAME = 400000,
	HTML_HISTOGRAM = 60000,
	HTML_TIMELINE = 330000,
	HTML_TABLE = 22000,
	HTML_CELL = 600,  /* of the text of a cell, before it is escaped */
	HTML_LINE = 4000, /* of a line on the trace */
	TIMELINES = 16,	  /* most rows of a timeline */
};

/* --- the style and the script --- */

static const char html_style[] =
	":root { color-scheme: light; --page: #fff; --ink: #1a1a1a; --soft: #555; --line: #ccc;\n"
	"  --band: #f3f5f7; --link: #0b4fa0; --alarm: #a40000 }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	":root { color-scheme: dark; --page: #1b1b1b; --ink: #e8e8e8; --soft: #b4b4b4;\n"
	"  --line: #4a4a4a; --band: #262a2e; --link: #8ab8ff; --alarm: #ff9d94 }\n"
	"}\n"
	"* { box-sizing: border-box }\n"
	"body { margin: 0; background: var(--page); color: var(--ink);\n"
	"  font: 15px/1.45 system-ui, sans-serif }\n"
	"a { color: var(--link) }\n"
	"header, nav, main { padding: 0 1rem; max-width: 150rem; margin: 0 auto }\n"
	".skip { position: absolute; left: -99rem }\n"
	".skip:focus { position: static }\n"
	"header { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center;\n"
	"  justify-content: space-between }\n"
	"h1 { font-size: 1.5rem; margin: .6rem 0 }\n"
	"h2 { font-size: 1.15rem; margin: 1.2rem 0 .3rem }\n"
	"p { margin: .3rem 0 }\n"
	".note { color: var(--soft) }\n"
	"nav ul { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap;\n"
	"  gap: .1rem 1rem }\n"
	"nav { margin-top: .4rem }\n"
	"nav a, button, input { min-height: 1.75rem; display: inline-block }\n"
	"dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem;\n"
	"  margin: .3rem 0 }\n"
	"dt { color: var(--soft) }\n"
	"dd { margin: 0; overflow-wrap: anywhere }\n"
	".true { color: var(--alarm); font-weight: bold }\n"
	"code { font: 13px monospace; overflow-wrap: anywhere }\n"
	".tables, .pictures { display: grid; gap: 0 2rem }\n"
	".tables { grid-template-columns: repeat(auto-fit, minmax(min(100%, 48rem), 1fr)) }\n"
	".pictures { grid-template-columns: repeat(auto-fit, minmax(min(100%, 64rem), 1fr)) }\n"
	"section { min-width: 0 }\n"
	".scroll { overflow: auto; max-height: 32rem; border: 1px solid var(--line);\n"
	"  margin: .3rem 0; position: relative; width: fit-content; max-width: 100% }\n"
	".picture { max-height: none; width: auto }\n"
	":focus-visible { outline: 2px solid var(--link); outline-offset: 1px }\n"
	"svg { display: block; width: 100%; min-width: 1000px; max-width: 1800px; height: auto }\n"
	"table { border-collapse: collapse; font: 13px/1.5 monospace }\n"
	"th, td { padding: .1rem .6rem; text-align: left; vertical-align: top }\n"
	"td { max-width: 40rem; overflow-wrap: break-word }\n"
	"th.n, td.n { text-align: right; white-space: nowrap }\n"
	"thead th { position: sticky; top: 0; background: var(--band) }\n"
	"tbody tr:nth-child(even) { background: var(--band) }\n"
	"th button { font: inherit; font-weight: bold; color: inherit; background: none; border: "
	"0;\n"
	"  padding: 0; cursor: pointer; white-space: nowrap }\n"
	"th button::after { content: '\\2003' }\n"
	"th[aria-sort=ascending] button::after { content: ' \\25b2' }\n"
	"th[aria-sort=descending] button::after { content: ' \\25bc' }\n"
	".search { display: flex; flex-wrap: wrap; gap: .3rem; align-items: center }\n"
	"input { font: inherit; max-width: 100%; min-width: 0; background: var(--page);\n"
	"  color: inherit; border: 1px solid var(--soft); padding: 0 .4rem }\n"
	"#colours { font: inherit; color: inherit; background: var(--band); padding: 0 .6rem;\n"
	"  border: 1px solid var(--soft) }\n"
	"@media print {\n"
	"nav, #colours, .search, .skip { display: none }\n"
	".scroll { overflow: visible; max-height: none; border: 0 }\n"
	"svg { min-width: 0; max-width: 100% }\n"
	".tables, .pictures { display: block }\n"
	"thead th { position: static }\n"
	"td, th.n, td.n { white-space: normal }\n"
	"table { font-size: 9px }\n"
	"h2 { break-after: avoid }\n"
	"tr, svg { break-inside: avoid }\n"
	"}\n";

/* Makes tables sortable, by buttons, and searchable, and adds the switch of the colours. */
static const char html_script[] =
	"'use strict';\n"
	"function make(name, attributes, text) {\n"
	"  const e = document.createElement(name);\n"
	"  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);\n"
	"  e.textContent = text;\n"
	"  return e;\n"
	"}\n"
	"/* Sort by a column: numbers descending at first, texts ascending; empty cells last. */\n"
	"function sort(table, heads, at) {\n"
	"  const head = heads[at], number = head.classList.contains('n');\n"
	"  const was = head.getAttribute('aria-sort');\n"
	"  const down = was ? was === 'ascending' : number;\n"
	"  const value = row => number ? row.cells[at].dataset.v : row.cells[at].textContent;\n"
	"  const compare = (a, b) => number ? a - b : a < b ? -1 : +(a > b);\n"
	"  const rows = [...table.tBodies[0].rows].map(row => ({ row, v: value(row) }));\n"
	"  rows.sort((a, b) => (a.v === '') - (b.v === '') ||\n"
	"    (down ? compare(b.v, a.v) : compare(a.v, b.v)));\n"
	"  for (const h of heads) h.removeAttribute('aria-sort');\n"
	"  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
	"  table.tBodies[0].append(...rows.map(r => r.row));\n"
	"}\n"
	"function search(table, title) {\n"
	"  const rows = [...table.tBodies[0].rows], label = make('label', { class: 'search' },\n"
	"    'Search these rows: ');\n"
	"  const input = make('input', { type: 'search', 'aria-label': 'Search: ' + title }, '');\n"
	"  const count = make('span', { role: 'status', class: 'note' }, '');\n"
	"  input.addEventListener('input', () => {\n"
	"    const text = input.value.toLowerCase();\n"
	"    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(text);\n"
	"    count.textContent = text && rows.filter(r => !r.hidden).length + ' of ' +\n"
	"      rows.length + ' rows';\n"
	"  });\n"
	"  label.append(input, count);\n"
	"  table.parentNode.before(label);\n"
	"}\n"
	"for (const table of document.querySelectorAll('table')) {\n"
	"  const heads = [...table.tHead.rows[0].cells];\n"
	"  heads.forEach((head, at) => {\n"
	"    const button = make('button', { type: 'button' }, head.textContent);\n"
	"    button.addEventListener('click', () => sort(table, heads, at));\n"
	"    head.replaceChildren(button);\n"
	"  });\n"
	"  if (table.tBodies[0].rows.length > 5)\n"
	"    search(table, table.closest('section').querySelector('h2').textContent);\n"
	"}\n"
	"/* The rules for dark screens of all styles, and their conditions. */\n"
	"const dark = [...document.styleSheets].flatMap(s => [...s.cssRules]).filter(r =>\n"
	"  r.media && r.media.mediaText.includes('dark')).map(r => [r, r.media.mediaText]);\n"
	"const modes = ['automatic', 'dark', 'light'];\n"
	"const colours = make('button', { type: 'button', id: 'colours' }, 'Colours: automatic');\n"
	"colours.addEventListener('click', () => {\n"
	"  const mode = (modes.indexOf(colours.textContent.slice(9)) + 1) % modes.length;\n"
	"  colours.textContent = 'Colours: ' + modes[mode];\n"
	"  for (const [rule, media] of dark)\n"
	"    rule.media.mediaText = [media, 'screen', 'not all'][mode];\n"
	"});\n"
	"document.querySelector('header').append(colours);\n";

/* --- SHA-256 of the style and the scripts, for the policy of the page --- */

struct sha256 {
	uint32_t state[8];
	uint8_t block[64];
	uint64_t bytes;
};

static uint32_t rotated(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* Add a block to the state, as FIPS 180-4, 6.2.2 describes. */
static void sha256_block(struct sha256 *s)
{
	static const uint32_t constants[64] = {
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
		0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
		0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
		0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
		0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
		0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
		0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
		0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
		0xc67178f2};
	uint32_t w[64], v[8];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
		       (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) +
		       (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
	}
	memcpy(v, s->state, sizeof v);
	for (unsigned i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t one = v[7] + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
			       ((e & v[5]) ^ (~e & v[6])) + constants[i] + w[i];
		uint32_t two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) +
			       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof *v);
		v[4] += one;
		v[0] = one + two;
	}
	for (unsigned i = 0; i < 8; i++)
		s->state[i] += v[i];
}

static void sha256_byte(struct sha256 *s, uint8_t byte)
{
	s->block[s->bytes++ % sizeof s->block] = byte;
	if (s->bytes % sizeof s->block == 0)
		sha256_block(s);
}

/* Write the hash of a text as base64, as a policy has it: 'sha256-...'. */
static void html_hash(struct text *out, const char *p)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct sha256 s = {.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
	uint64_t bits = 8 * (uint64_t)strlen(p);

	for (; *p; p++)
		sha256_byte(&s, (uint8_t)*p);
	sha256_byte(&s, 0x80);
	while (s.bytes % sizeof s.block != 56)
		sha256_byte(&s, 0);
	for (int shift = 56; shift >= 0; shift -= 8)
		sha256_byte(&s, (uint8_t)(bits >> shift));
	text_puts(out, " 'sha256-");
	/* 256 bits are 42 digits of 6 bits, and 4 bits */
	for (unsigned bit = 0; bit < 256; bit += 6) {
		unsigned at = bit / 32, rest = bit % 32;
		uint64_t pair = (uint64_t)s.state[at] << 32 | (at < 7 ? s.state[at + 1] : 0);

		text_char(out, digits[pair >> (58 - rest) & 63]);
	}
	text_puts(out, "='");
}

/* --- texts --- */

/* Write a text between tags or in a quoted attribute. Control characters and bytes that are no
 * UTF-8 are '?'. Returns the number of bytes written. */
static size_t html_put(struct text *out, const char *p, size_t n, size_t most)
{
	size_t bytes = 0, end = n < most ? n : most;

	for (size_t i = 0; i < end;) {
		size_t length = utf8_length(p + i, n - i);
		bool control = !length || (length == 1 && (unsigned char)p[i] < 0x20) ||
			       utf8_control(p + i, n - i);
		const char *entity = control	    ? "?"
				     : p[i] == '<'  ? "&lt;"
				     : p[i] == '>'  ? "&gt;"
				     : p[i] == '&'  ? "&amp;"
				     : p[i] == '"'  ? "&quot;"
				     : p[i] == '\'' ? "&#39;"
						    : NULL;

		length = length ? length : 1;
		if (entity)
			text_puts(out, entity);
		else
			text_put(out, p + i, length);
		bytes += entity ? strlen(entity) : length;
		i += length;
	}
	if (end < n)
		text_puts(out, " ...");
	return bytes;
}

static void html_puts(struct text *out, const char *s)
{
	html_put(out, s, strlen(s), HTML_LINE);
}

/* --- tables --- */

/* Write a cell, with the number to sort by unless it is NULL. Returns its bytes. */
static size_t html_cell(struct text *out, const char *number, const char *p, size_t n)
{
	enum { TAGS = 30 };

	if (number)
		text_printf(out, "<td class=\"n\" data-v=\"%s\">", number);
	else
		text_puts(out, "<td>");
	n = html_put(out, p, n, HTML_CELL);
	text_puts(out, "</td>");
	return TAGS + n + (number ? strlen(number) : 0);
}

/* Write a heading; unit: NULL, none. order: NULL, or "ascending" or "descending". */
static void html_head(struct text *out, bool number, const char *name, const char *unit,
		      const char *order)
{
	text_puts(out, number ? "<th scope=\"col\" class=\"n\"" : "<th scope=\"col\"");
	if (order)
		text_printf(out, " aria-sort=\"%s\"", order);
	text_char(out, '>');
	html_puts(out, name);
	if (unit) {
		text_puts(out, " (");
		html_puts(out, unit);
		text_char(out, ')');
	}
	text_puts(out, "</th>");
}

static void html_table_begin(struct text *out, const struct report_section *s)
{
	text_printf(out,
		    "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s, "
		    "table\">\n<table>\n<thead><tr>",
		    s->title);
}

static void html_table_end(struct text *out)
{
	text_puts(out, "</tbody></table></div>\n");
}

/* Get how the rows are ordered by a column or a key, if that comes first; else NULL. */
static const char *html_order(const struct table *t, bool key, size_t index)
{
	const struct sort *s = t->sort;

	if (!s->count || s->key[0].group_key != key || s->key[0].index != index)
		return NULL;
	return s->key[0].descending ? "descending" : "ascending";
}

/* Test whether all cells of a key are numbers. */
static bool html_key_is_number(const struct table *t, size_t key)
{
	for (size_t i = 0; i < t->groups->count; i++) {
		const struct aggregate *row = groups_at(t->groups, i);
		const struct key_cell *cell = &groups_cells(t->groups, row)[key];
		const char *p;
		size_t n;

		if (groups_cell_text(t->groups, cell, &p, &n))
			return false;
	}
	return true;
}

static size_t html_key(const struct table *t, const struct key_cell *cell, size_t key, bool number,
		       struct text *out)
{
	char value[VALUE_SIZE], digits[VALUE_SIZE] = "";
	const char *p = value;
	size_t n = 0;

	if (!groups_cell_text(t->groups, cell, &p, &n) && cell->kind != KEY_MISSING) {
		n = format_key_aligned(value, t->by, key, cell, t->ticks);
		digits[number ? format_key(digits, cell) : 0] = '\0';
	}
	return html_cell(out, number ? digits : NULL, p, n);
}

/* Write a row. numbers: by key, whether it has numbers only. Returns its bytes. */
static size_t html_row(const struct table *t, const struct aggregate *row, const bool *numbers,
		       struct text *out)
{
	const struct columns *c = t->columns;
	const struct key_cell *cells = groups_cells(t->groups, row);
	char value[VALUE_SIZE], number[VALUE_SIZE];
	size_t bytes = 0;

	text_puts(out, "<tr>");
	for (size_t i = 0; i < c->printed; i++) {
		const struct column *column = &c->column[i];
		struct column_value v = column_value(c, column, row, &t->run);

		number[v.present ? format_number(number, column_unit(column), v) : 0] = '\0';
		bytes += html_cell(out, number, value, format_column(value, column, v, t->ticks));
	}
	for (size_t i = 0; i < t->groups->keys; i++)
		bytes += html_key(t, &cells[i], i, numbers[i], out);
	text_puts(out, "</tr>\n");
	return bytes;
}

static void html_left_out(struct text *out, size_t n)
{
	if (n)
		text_printf(out, "<p class=\"note\">%zu more row%s left out.</p>\n", n,
			    n == 1 ? " is" : "s are");
}

static int html_table(const struct report_section *s, struct text *out, struct error *e)
{
	const struct table *t = &s->table;
	size_t keys = t->groups->keys, n = 0, bytes = 0;
	const struct aggregate **row = sort_groups(t->sort, t->groups, t->columns, &t->run, e);
	bool *numbers = calloc(keys + 1, sizeof *numbers);

	if (!row || !numbers) {
		free(row);
		free(numbers);
		return error_no_memory(e);
	}
	html_table_begin(out, s);
	for (size_t i = 0; i < t->columns->printed; i++) {
		const struct column *c = &t->columns->column[i];

		html_head(out, true, c->name, column_heading_unit(c, t->ticks, t->event),
			  html_order(t, false, i));
	}
	for (size_t i = 0; i < keys; i++) {
		numbers[i] = html_key_is_number(t, i);
		html_head(out, numbers[i], t->keys[i], NULL, html_order(t, true, i));
	}
	text_puts(out, "</tr></thead>\n<tbody>\n");
	for (; n < s->rows && n < REPORT_ROWS && bytes < HTML_TABLE && !text_failed(out); n++)
		bytes += html_row(t, row[n], numbers, out);
	html_table_end(out);
	html_left_out(out, s->rows - n);
	free(numbers);
	free(row);
	return 0;
}

/* --- the slowest calls --- */

static void html_calls_row(const struct slow_list *l, const struct slow_call *c, bool ticks,
			   struct text *out)
{
	const uint64_t times[] = {c->total, c->self};
	char value[VALUE_SIZE], number[VALUE_SIZE], thread[2 * VALUE_SIZE + 8] = "";

	text_puts(out, "<tr>");
	for (size_t i = 0; i < 2; i++) {
		u128_decimal(number, times[i]);
		html_cell(out, number, value, format_duration(value, times[i], ticks));
	}
	for (size_t i = 0; l->states && i < l->states->count; i++) {
		u128_decimal(number, c->state ? c->state[i] : 0);
		html_cell(out, number, value,
			  format_duration(value, c->state ? c->state[i] : 0, ticks));
	}
	u128_decimal(number, c->start);
	html_cell(out, number, ticks ? number : value,
		  ticks ? strlen(number) : format_time(value, c->start));
	if (c->has & SLOW_TID)
		snprintf(thread, sizeof thread, "%" PRId32, c->tid);
	html_cell(out, thread, thread, strlen(thread));
	html_cell(out, NULL, c->comm, strlen(c->comm));
	text_puts(out, "<td>");
	html_put(out, c->name, strlen(c->name), HTML_CELL);
	text_char(out, '(');
	html_put(out, c->arguments, strlen(c->arguments), HTML_CELL);
	text_char(out, ')');
	if (*c->returned) {
		text_puts(out, " = ");
		html_put(out, c->returned, strlen(c->returned), HTML_CELL);
	}
	text_puts(out, c->has & SLOW_UNFINISHED ? ", not returned</td>" : "</td>");
	html_cell(out, NULL, c->stack, strlen(c->stack));
	text_puts(out, "</tr>\n");
}

static void html_calls(const struct report_section *s, struct text *out)
{
	const struct slow_list *l = s->calls;
	const char *unit = s->ticks ? "ticks" : NULL;

	html_table_begin(out, s);
	html_head(out, true, "total", unit, "descending");
	html_head(out, true, "self", unit, NULL);
	for (size_t i = 0; l->states && i < l->states->count; i++)
		html_head(out, true, l->states->column[i].name, unit, NULL);
	html_head(out, true, "time", unit, NULL);
	html_head(out, true, "tid", NULL, NULL);
	html_head(out, false, "comm", NULL, NULL);
	html_head(out, false, "call", NULL, NULL);
	html_head(out, false, "callers", NULL, NULL);
	text_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < l->count; i++)
		html_calls_row(l, &l->call[i], s->ticks, out);
	html_table_end(out);
}

/* Draw a call at its time, of a chart from first on. */
static void html_calls_frame(const struct slow_call *c, uint64_t first, uint64_t span,
			     const char *unit, int y, struct text *out)
{
	char at[SVG_AMOUNT], total[SVG_AMOUNT], value[2 * SVG_AMOUNT + 8], thread[VALUE_SIZE] = "";
	double each = (double)SVG_INSIDE / (double)span;
	size_t size = strlen(c->name);
	struct svg_frame f = {.name = c->name, .value = value, .look = "mute"};

	f.size = size < HTML_CELL ? size : HTML_CELL;
	f.x = each * (double)(c->start - first);
	f.width = each * (double)c->total;
	f.width = f.width < 1 ? 1 : f.width;
	f.y = y + SVG_ROW;
	f.colour = svg_colour(f.name, f.size);
	svg_amount(total, c->total, unit, true);
	snprintf(value, sizeof value, "%s at %s", total,
		 svg_amount(at, c->start - first, unit, true));
	if (c->has & SLOW_TID)
		snprintf(thread, sizeof thread, " [%" PRId32 "]", c->tid);
	text_printf(out, "<g>\n<text class=\"lane\" x=\"%d\" y=\"%d\">", SVG_LEFT, y + 12);
	svg_put_escaped(out, f.name, f.size < 60 ? f.size : 60);
	text_printf(out, ", %s: ", total);
	svg_put_escaped(out, c->comm, strlen(c->comm) < 60 ? strlen(c->comm) : 60);
	text_printf(out, "%s</text>\n", thread);
	svg_put_frame(out, &f);
	text_puts(out, "</g>\n");
}

/* Draw the slowest calls by time, each in a row of its own. */
static void html_calls_chart(const struct report_section *s, struct text *out)
{
	enum { ROW = 2 * SVG_ROW + 6, TOP = SVG_ABOVE + 16 };
	const struct slow_list *l = s->calls;
	const char *unit = s->ticks ? "ticks" : "ns";
	int height = TOP + (int)l->count * ROW + SVG_BELOW;
	uint64_t first = UINT64_MAX, last = 0, span;
	char line[128], from[VALUE_SIZE];

	for (size_t i = 0; i < l->count; i++) {
		const struct slow_call *c = &l->call[i];

		first = c->start < first ? c->start : first;
		last = c->start + c->total > last ? c->start + c->total : last;
	}
	if (first >= last)
		return;
	span = last - first;
	if (s->ticks)
		u128_decimal(from, first);
	else
		format_time(from, first);
	snprintf(line, sizeof line, "the slowest calls by time, from %s on", from);
	svg_begin(out, &(struct svg_picture){.class = "chart",
					     .line = line,
					     .exact = line,
					     .span = span,
					     .unit = unit,
					     .height = height,
					     .part = true});
	svg_put_axis(out, span, unit, SVG_ABOVE, height - SVG_BELOW);
	for (size_t i = 0; i < l->count; i++)
		html_calls_frame(&l->call[i], first, span, unit, TOP + (int)i * ROW, out);
	svg_end(out, true);
}

/* --- pictures --- */

/* Draw the stacks as a flame graph. Samples of several types have no common unit: these are a
 * picture of trencode. */
static int html_flame(const struct table *t, struct text *out, struct error *e)
{
	const struct columns *c = t->columns;
	struct call_stacks *stacks = t->groups->texts.stacks;
	struct flame_graph graph = {.tree = &stacks->tree,
				    .names = &stacks->names,
				    .what = c->weights ? "weight of samples" : "time of calls",
				    .unit = table_durations_ns(t) ? "ns"
					    : c->weights	  ? "weight"
								  : "ticks",
				    .part_bytes = HTML_FLAME};

	if (t->groups->keys > 1) {
		text_puts(out, "<p class=\"note\">The samples are of several types: choose one "
			       "with trfilter, and draw it with trencode -t svg.</p>\n");
		return 0;
	}
	for (size_t i = 0; i < t->groups->count; i++) {
		const struct aggregate *row = groups_at(t->groups, i);
		const struct key_cell *cell = groups_cells(t->groups, row);

		if (cell->kind == KEY_STACK && cell->value != STACK_ROOT)
			stack_tree_add(&stacks->tree, (uint32_t)cell->value, row->self);
	}
	return flame_graph_draw(&graph, out) ? error_no_memory(e) : 0;
}

/* Get the width of the buckets of time that the last key of a table is; 0: it is none. */
static uint64_t html_bucket(const struct report_section *s)
{
	const struct table *t = &s->table;
	size_t key = s->calls || !t->by ? 0 : keys_time_bucket(t->by);

	return key && key == t->groups->keys ? t->by->key[key - 1].width : 0;
}

static bool html_is_picture(const struct report_section *s)
{
	return s->calls || s->hist || s->tree || html_bucket(s);
}

static int html_picture(const struct report_section *s, struct text *out, struct error *e)
{
	struct table t = s->table;
	int bad = 0;

	text_printf(out,
		    "<div class=\"scroll picture\" role=\"region\" tabindex=\"0\" aria-label=\"%s, "
		    "picture\">\n",
		    s->title);
	t.limit = TIMELINES;
	t.part_bytes = s->hist ? HTML_HISTOGRAM : HTML_TIMELINE;
	if (s->calls)
		html_calls_chart(s, out);
	else if (s->tree)
		bad = html_flame(&t, out, e);
	else if (s->hist)
		bad = view_hist(&t, s->hist, TABLE_SVG, out, e);
	else
		bad = view_timeline(&t, html_bucket(s), TABLE_SVG, out, e);
	text_puts(out, "</div>\n");
	return bad;
}

/* --- the page --- */

static int html_section(const struct report_section *s, struct text *out, struct error *e)
{
	int bad = 0;

	text_printf(out, "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n<p class=\"note\"><code>",
		    s->id, s->title, s->about);
	html_puts(out, s->command);
	text_puts(out, "</code></p>\n");
	if (html_is_picture(s))
		bad = html_picture(s, out, e);
	if (s->calls)
		html_calls(s, out);
	else if (!html_is_picture(s))
		bad = html_table(s, out, e);
	text_puts(out, "</section>\n");
	return bad;
}

/* Write the pictures, or the tables. Returns -1 with e filled. */
static int html_sections(const struct report *r, bool pictures, struct text *out, struct error *e)
{
	int bad = 0;

	text_puts(out, pictures ? "<div class=\"pictures\">\n" : "<div class=\"tables\">\n");
	for (size_t i = 0; i < r->count && !bad && !text_failed(out); i++)
		if (html_is_picture(&r->section[i]) == pictures)
			bad = html_section(&r->section[i], out, e);
	text_puts(out, "</div>\n");
	return bad;
}

static void html_lines(const struct report_line *line, size_t n, struct text *out)
{
	text_puts(out, "<dl>\n");
	for (size_t i = 0; i < n; i++) {
		text_printf(out, "<dt%s>%s</dt><dd>", line[i].holds ? " class=\"true\"" : "",
			    line[i].name);
		html_put(out, (const char *)line[i].text.data, line[i].text.size, HTML_LINE);
		text_puts(out, "</dd>\n");
	}
	text_puts(out, "</dl>\n");
}

/* Write the links to the sections, in their order on the page. */
static void html_links(const struct report *r, struct text *out)
{
	text_puts(out, "<nav aria-label=\"Sections\"><ul>\n");
	for (int pictures = 1; pictures >= 0; pictures--)
		for (size_t i = 0; i < r->count; i++)
			if (html_is_picture(&r->section[i]) == pictures)
				text_printf(out, "<li><a href=\"#%s\">%s</a></li>\n",
					    r->section[i].id, r->section[i].title);
	text_puts(out, "</ul></nav>\n");
}

static void html_begin(struct text *out)
{
	text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "base-uri 'none'; form-action 'none'; style-src");
	html_hash(out, svg_style);
	html_hash(out, html_style);
	text_puts(out, "; script-src");
	html_hash(out, svg_script);
	html_hash(out, html_script);
	text_puts(out, "\">\n<title>Report of a trace</title>\n<style>");
	text_puts(out, svg_style);
	text_puts(out, "</style>\n<style>");
	text_puts(out, html_style);
	text_puts(out, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#facts\">Skip the "
		       "links</a>\n<header><h1>Report of a trace</h1></header>\n");
}

int report_html(const struct report *r, struct text *out, struct error *e)
{
	int bad;

	html_begin(out);
	if (r->count)
		html_links(r, out);
	text_puts(out, "<main>\n");
	if (r->alarms) {
		text_puts(out, "<section id=\"alarms\">\n<h2>Alarms</h2>\n");
		html_lines(r->alarm, r->alarms, out);
		text_puts(out, "</section>\n");
	}
	text_puts(out, "<section id=\"facts\">\n<h2>The trace</h2>\n");
	html_lines(r->fact, r->facts, out);
	text_puts(out, "</section>\n");
	bad = html_sections(r, true, out, e) || html_sections(r, false, out, e) ? -1 : 0;
	text_puts(out, "</main>\n<script>");
	text_puts(out, svg_script);
	text_puts(out, "</script>\n<script>");
	text_puts(out, html_script);
	text_puts(out, "</script>\n</body>\n</html>\n");
	return bad;
}

/*
 * report_html.c - --report -t html: a report as one file, which a browser shows without network
 *
 *     <section id="functions"><h2>Functions by their own time</h2><table> ... </table></section>
 *
 * Every text is escaped: a name from a trace is never markup.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/report.h"
#include "cmd/trstat/slowest.h"

/* Write a text between tags or in a quoted attribute. Control characters and bytes that are no
 * UTF-8 are '?'. */
static void html_put(struct text *out, const char *p, size_t n)
{
	for (size_t i = 0; i < n;) {
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
		i += length;
	}
}

static void html_puts(struct text *out, const char *s)
{
	html_put(out, s, strlen(s));
}

/* --- the rows of a section --- */

static void html_heading(const struct table *t, struct text *out)
{
	text_puts(out, "<thead><tr>");
	for (size_t i = 0; i < t->columns->printed; i++) {
		text_puts(out, "<th scope=\"col\">");
		html_puts(out, t->columns->column[i].name);
		text_puts(out, "</th>");
	}
	for (size_t i = 0; i < t->groups->keys; i++) {
		text_puts(out, "<th scope=\"col\">");
		html_puts(out, t->keys[i]);
		text_puts(out, "</th>");
	}
	text_puts(out, "</tr></thead>\n");
}

static void html_row(const struct table *t, const struct aggregate *row, struct text *out)
{
	const struct columns *c = t->columns;
	const struct key_cell *cells = groups_cells(t->groups, row);
	char value[VALUE_SIZE];

	text_puts(out, "<tr>");
	for (size_t i = 0; i < c->printed; i++) {
		const struct column *column = &c->column[i];
		struct column_value v = column_value(c, column, row, &t->run);

		text_puts(out, "<td data-v=\"");
		if (v.present)
			text_put(out, value, format_number(value, column_unit(column), v));
		text_puts(out, "\">");
		html_put(out, value, format_column(value, column, v, t->ticks));
		text_puts(out, "</td>");
	}
	for (size_t i = 0; i < t->groups->keys; i++) {
		const char *p = value;
		size_t n = 0;

		if (!groups_cell_text(t->groups, &cells[i], &p, &n) && cells[i].kind != KEY_MISSING)
			n = format_key_aligned(value, t->by, i, &cells[i], t->ticks);
		text_puts(out, "<td>");
		html_put(out, p, n);
		text_puts(out, "</td>");
	}
	text_puts(out, "</tr>\n");
}

static int html_table(const struct report_section *s, struct text *out, struct error *e)
{
	const struct table *t = &s->table;
	const struct aggregate **row = sort_groups(t->sort, t->groups, t->columns, &t->run, e);

	if (!row)
		return -1;
	text_puts(out, "<table>\n");
	html_heading(t, out);
	text_puts(out, "<tbody>\n");
	for (size_t i = 0; i < t->groups->count && i < REPORT_ROWS && !text_failed(out); i++)
		html_row(t, row[i], out);
	text_puts(out, "</tbody></table>\n");
	free(row);
	return 0;
}

static void html_calls(const struct report_section *s, struct text *out)
{
	const struct slow_list *l = s->calls;
	char value[VALUE_SIZE];

	text_puts(out, "<table>\n<thead><tr><th scope=\"col\">total</th><th scope=\"col\">call</th>"
		       "<th scope=\"col\">callers</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < l->count; i++) {
		const struct slow_call *c = &l->call[i];

		text_printf(out, "<tr><td data-v=\"%llu\">", (unsigned long long)c->total);
		html_put(out, value, format_duration(value, c->total, s->ticks));
		text_puts(out, "</td><td>");
		html_puts(out, c->name);
		text_char(out, '(');
		html_puts(out, c->arguments);
		text_puts(out, ")</td><td>");
		html_puts(out, c->stack);
		text_puts(out, "</td></tr>\n");
	}
	text_puts(out, "</tbody></table>\n");
}

static int html_section(const struct report_section *s, struct text *out, struct error *e)
{
	bool table = !s->calls && !s->hist && !s->tree;
	int bad = 0;

	text_printf(out, "<section id=\"%s\"><h2>%s</h2>\n<p>%s</p>\n<p><code>", s->id, s->title,
		    s->about);
	html_puts(out, s->command);
	text_puts(out, "</code></p>\n");
	if (s->calls)
		html_calls(s, out);
	else if (table)
		bad = html_table(s, out, e);
	if (table && s->rows > REPORT_ROWS)
		text_printf(out, "<p>%zu more rows are left out.</p>\n", s->rows - REPORT_ROWS);
	text_puts(out, "</section>\n");
	return bad;
}

static void html_lines(const struct report_line *line, size_t n, struct text *out)
{
	text_puts(out, "<dl>\n");
	for (size_t i = 0; i < n; i++) {
		text_printf(out, "<dt>%s</dt><dd>", line[i].name);
		html_put(out, (const char *)line[i].text.data, line[i].text.size);
		text_puts(out, "</dd>\n");
	}
	text_puts(out, "</dl>\n");
}

int report_html(const struct report *r, struct text *out, struct error *e)
{
	int bad = 0;

	text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		       "<title>Report of a trace</title>\n</head>\n<body>\n<main>\n"
		       "<h1>Report of a trace</h1>\n");
	if (r->alarms)
		text_puts(out, "<h2>Alarms</h2>\n");
	if (r->alarms)
		html_lines(r->alarm, r->alarms, out);
	html_lines(r->fact, r->facts, out);
	for (size_t i = 0; i < r->count && !bad && !text_failed(out); i++)
		bad = html_section(&r->section[i], out, e);
	text_puts(out, "</main>\n</body>\n</html>\n");
	return bad;
}

/*
 * aligned.c - rows of cells as a table for people, which fits the width of the screen
 *
 *        total  count  name
 *     4.441 ms      2  std::map<int...operator[]
 */
#include "common/value/aligned.h"

#include <locale.h>
#include <stdlib.h>
#include <ctype.h>
#include <string.h>
#include <wchar.h>

#include "common/util/error.h"
#include "common/util/screen.h"

enum { MARKDOWN_CELL = 200 }; /* most columns of a text in Markdown */

enum {
	GAP = 2,	/* blanks between columns */
	SHORT = 16,	/* characters to which a text is shortened before columns are left out */
	SHORTEST = 5,	/* the same where no other column can be left out */
	ELLIPSIS = 3,	/* width of "..." */
	NAME_LEAST = 8, /* characters of a name that are not taken by the lines of a tree */
	INKS = 8,	/* a cell begins with INKS times its size, and its ink, in 32 bits */
	UNIT_BESIDE = 3 /* " []" of a unit in a heading */
};

/* --- texts of a width --- */

/* Get the columns of a terminal that a character takes: 2 for those of East Asia, 0 for an accent
 * that is a character of its own. */
static size_t character_columns(const char *p, size_t length)
{
	enum { ACCENTS = 0xcc }; /* first byte of U+0300; those below take 1 */
	static locale_t utf8;
	static bool tried;
	mbstate_t state = {0};
	int columns = 1;
	locale_t before;
	wchar_t c;

	if ((unsigned char)*p < ACCENTS)
		return 1;
	if (!tried)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	tried = true;
	if (!utf8)
		return 1;
	before = uselocale(utf8);
	if (mbrtowc(&c, p, length, &state) == length)
		columns = wcwidth(c);
	uselocale(before);
	return columns < 0 ? 1 : (size_t)columns;
}

/* Read the character at p: its length in bytes, its columns, and whether it is printable. */
static size_t aligned_character(const char *p, size_t n, size_t *columns, bool *printable)
{
	size_t length = utf8_length(p, n);

	*printable = length && !utf8_control(p, length);
	*columns = *printable ? character_columns(p, length) : 1;
	return length ? length : 1;
}

static void put_character(struct text *out, const char *p, size_t length, bool printable)
{
	if (printable)
		text_put(out, p, length);
	else
		text_char(out, '?');
}

size_t format_characters(const char *p, size_t n)
{
	size_t count = 0, columns;
	bool printable;

	while (n) {
		size_t length = aligned_character(p, n, &columns, &printable);

		p += length;
		n -= length;
		count += columns;
	}
	return count;
}

/* Count the characters of the lines before a name of a tree: "| +-" has 4. Each level has two. */
static size_t tree_lines(const char *p, size_t n)
{
	static const char *const levels[] = {"  ", "| ", "+-", "..", "│ ", "├─", "└─"};
	size_t count = 0, size = 0, at = 0;

	do {
		count += size != 0 ? 2 : 0;
		at += size;
		size = 0;
		for (size_t i = 0; !size && i < sizeof(levels) / sizeof(*levels); i++)
			if (strlen(levels[i]) <= n - at &&
			    !memcmp(levels[i], p + at, strlen(levels[i])))
				size = strlen(levels[i]);
	} while (size);
	return count;
}

size_t format_elided(struct text *out, const char *p, size_t n, size_t width)
{
	size_t count = format_characters(p, n), head = count, tail = count, skip = 0;
	size_t dots = width < ELLIPSIS ? width : ELLIPSIS, at = 0;
	bool shown = true;

	if (count > width) {
		size_t lines = tree_lines(p, n), most = width > NAME_LEAST ? width - NAME_LEAST : 0;

		/* the innermost lines of a tree remain */
		skip = lines > most ? lines - most : 0;
		lines -= skip;
		count -= skip;
		if (count > width) {
			head = skip + lines + (width - lines - dots + 1) / 2;
			tail = skip + count - (width - dots - (head - skip));
		}
	}
	while (n) {
		bool printable;
		size_t columns, length = aligned_character(p, n, &columns, &printable);
		size_t next = at + columns;

		if (dots && count > width && next > head) {
			/* a wide character that does not fit becomes a blank */
			text_pad(out, ' ', head - at);
			text_put(out, "...", dots);
			dots = 0;
		}
		/* an accent goes with the character before */
		shown = columns ? at >= skip && (next <= head || at >= tail) : shown;
		if (shown)
			put_character(out, p, length, printable);
		else if (at < tail && next > tail)
			text_pad(out, ' ', next - tail);
		at = next;
		p += length;
		n -= length;
	}
	return count < width ? count : width;
}

/* The words of aligned_words while they are written. */
struct words {
	struct text *out; /* NULL: only the lines are counted */
	size_t width, indent;
	size_t used; /* characters of the last line */
	size_t lines;
};

static void words_break(struct words *w)
{
	if (w->out) {
		text_char(w->out, '\n');
		text_pad(w->out, ' ', w->indent);
	}
	w->used = w->indent;
	w->lines++;
}

/* Write a word, broken where the line ends. */
static void words_put(struct words *w, const char *p, size_t n)
{
	while (n) {
		bool printable;
		size_t columns, length = aligned_character(p, n, &columns, &printable);

		if (w->used + columns > w->width && w->used > w->indent)
			words_break(w);
		if (w->out)
			put_character(w->out, p, length, printable);
		p += length;
		n -= length;
		w->used += columns;
	}
}

size_t aligned_words(struct text *out, const char *p, size_t n, size_t width, size_t indent,
		     size_t used)
{
	struct words w = {out, width, indent < width / 2 ? indent : width / 2, used, 1};
	const char *end = p + n;

	if (!width && out)
		text_masked(out, p, n);
	while (width && p < end) {
		const char *word = p, *next;
		size_t blanks;

		while (word < end && *word == ' ')
			word++;
		for (next = word; next < end && *next != ' ';)
			next++;
		blanks = (size_t)(word - p);
		if (blanks && w.used > w.indent &&
		    w.used + blanks + format_characters(word, (size_t)(next - word)) > width)
			words_break(&w);
		else
			words_put(&w, p, blanks);
		words_put(&w, word, (size_t)(next - word));
		p = next;
	}
	return w.lines;
}

void aligned_line(const struct screen *s, struct text *out, const struct buffer *line)
{
	format_elided(out, (const char *)line->data, line->size, s->width ? s->width : SIZE_MAX);
	text_char(out, '\n');
}

/* --- cells --- */

void aligned_begin(struct aligned *a, size_t columns)
{
	*a = (struct aligned){.columns = columns, .cells = {.spills = true}};
	a->column = calloc(columns + 1, sizeof(*a->column));
	a->failed = !a->column;
}

void aligned_free(struct aligned *a)
{
	free(a->column);
	buffer_free(&a->cells);
	*a = (struct aligned){0};
}

void aligned_cell(struct aligned *a, const char *p, size_t n, enum ink ink)
{
	struct aligned_column *c;
	size_t width;

	if (a->failed)
		return;
	n = n < UINT32_MAX / INKS ? n : UINT32_MAX / INKS;
	c = &a->column[a->at];
	width = format_characters(p, n);
	c->width = c->width > width ? c->width : width;
	c->filled |= n != 0;
	a->failed =
		buffer_u32(&a->cells, (uint32_t)(n * INKS + ink)) || buffer_append(&a->cells, p, n);
	if (++a->at < a->columns)
		return;
	a->at = 0;
	a->rows++;
}

/* --- the layout --- */

static size_t heading_width(const struct aligned_column *c)
{
	size_t n = format_characters(c->name, strlen(c->name));

	return c->unit ? n + UNIT_BESIDE + format_characters(c->unit, strlen(c->unit)) : n;
}

/* Get the length of a line whose texts have at most this width. */
static size_t line_width(const struct aligned *a, size_t text)
{
	size_t used = 0;

	for (size_t i = 0; i < a->columns; i++) {
		const struct aligned_column *c = &a->column[i];

		if (!c->hidden)
			used += (c->text && c->width > text ? text : c->width) + GAP;
	}
	return used ? used - GAP : 0;
}

/* Leave out the least important column, of those that the user asked for too if asked is set.
 * Returns false if there is none. */
static bool aligned_leave_out(struct aligned *a, bool asked)
{
	struct aligned_column *least = NULL;

	for (size_t i = 0; i < a->columns; i++) {
		struct aligned_column *c = &a->column[i];

		if (!c->hidden && c->omit_order && c->asked <= asked &&
		    (!least || c->omit_order >= least->omit_order))
			least = c;
	}
	if (least)
		least->hidden = true;
	return least != NULL;
}

/* Shorten the texts until the line fits, the longest first, none below least. */
static void shorten_texts(struct aligned *a, size_t width, size_t least)
{
	size_t used = line_width(a, SIZE_MAX);

	while (used > width) {
		struct aligned_column *longest = NULL;
		size_t second = least, cut;

		for (size_t i = 0; i < a->columns; i++) {
			struct aligned_column *c = &a->column[i];

			if (c->text && !c->hidden && (!longest || c->width > longest->width))
				longest = c;
		}
		if (!longest || longest->width <= least)
			return;
		for (size_t i = 0; i < a->columns; i++) {
			const struct aligned_column *c = &a->column[i];

			if (c->text && !c->hidden && c != longest && c->width > second)
				second = c->width;
		}
		/* down to the second longest; if they are equal, by one */
		cut = longest->width - second;
		cut = cut ? cut : 1;
		cut = cut < used - width ? cut : used - width;
		longest->width -= cut;
		used -= cut;
	}
}

/* Shorten the headings of numbers until the line fits, down to the width of the numbers, or to
 * what shows which heading it is. */
static void shorten_headings(struct aligned *a, size_t width)
{
	for (size_t used = line_width(a, SIZE_MAX); used > width; used--) {
		struct aligned_column *most = NULL;

		for (size_t i = 0; i < a->columns; i++) {
			struct aligned_column *c = &a->column[i];

			if (!c->text && !c->hidden && c->width > c->widest &&
			    c->width > SHORTEST + ELLIPSIS && (!most || c->width > most->width))
				most = c;
		}
		if (!most)
			return;
		most->width--;
	}
}

static void lay_out(struct aligned *a, size_t width)
{
	size_t texts = 0, share;

	for (size_t i = 0; i < a->columns; i++) {
		struct aligned_column *c = &a->column[i];
		size_t heading = heading_width(c);

		c->hidden = c->optional && !c->filled && a->rows;
		c->widest = c->width;
		c->width = c->width > heading ? c->width : heading;
		texts += c->text && !c->hidden;
	}
	if (!width)
		return;
	share = width / 3 / (texts ? texts : 1);
	share = share > SHORT ? share : SHORT;
	while (line_width(a, share) > width && aligned_leave_out(a, false))
		;
	while (line_width(a, SHORT) > width && aligned_leave_out(a, true))
		;
	shorten_texts(a, width, SHORT);
	shorten_headings(a, width);
	shorten_texts(a, width, SHORTEST);
}

/* --- output --- */

static void put_heading(const struct aligned *a, struct text *out)
{
	size_t before = 0;

	text_ink(out, INK_HEADING);
	for (size_t i = 0; i < a->columns; i++) {
		const struct aligned_column *c = &a->column[i];
		size_t all = heading_width(c), shown = all < c->width ? all : c->width;

		if (c->hidden)
			continue;
		if (c->unit && all > c->width) {
			all = format_characters(c->name, strlen(c->name));
			shown = all < c->width ? all : c->width;
		}
		text_pad(out, ' ', before + (c->text ? 0 : c->width - shown));
		format_elided(out, c->name, strlen(c->name), c->width);
		if (c->unit && all == heading_width(c)) {
			text_puts(out, " [");
			format_elided(out, c->unit, strlen(c->unit), SIZE_MAX);
			text_char(out, ']');
		}
		before = GAP + (c->text ? c->width - shown : 0);
	}
	text_ink(out, INK_PLAIN);
	text_char(out, '\n');
}

/* Write the row at p, and move p to the next one. */
static void aligned_put_row(const struct aligned *a, const uint8_t **p, struct text *out)
{
	size_t before = 0;

	for (size_t i = 0; i < a->columns; i++) {
		const struct aligned_column *c = &a->column[i];
		uint32_t head = get_u32(*p);
		const char *cell = (const char *)*p + sizeof(head);
		size_t n = head / INKS, shown;
		enum ink ink = (enum ink)(head % INKS);

		*p += sizeof(head) + n;
		if (c->hidden)
			continue;
		shown = format_characters(cell, n);
		shown = shown < c->width ? shown : c->width;
		text_pad(out, ' ', before + (c->text ? 0 : c->width - shown));
		if (ink && n)
			text_ink(out, ink);
		format_elided(out, cell, n, c->width);
		if (ink && n)
			text_ink(out, INK_PLAIN);
		before = GAP + (c->text ? c->width - shown : 0);
	}
	text_char(out, '\n');
}

/* Name the columns that were left out, once in a run. */
static int remark_left_out(const struct aligned *a, struct screen *s, struct text *out)
{
	struct buffer text = {0};
	const char *before = "... left out at this width: ";
	bool any = false, bad = false;

	for (size_t i = 0; i < a->columns; i++) {
		const struct aligned_column *c = &a->column[i];

		if (!c->hidden || (c->optional && !c->filled))
			continue;
		bad = bad || buffer_puts(&text, any ? ", " : before) || buffer_puts(&text, c->name);
		any = true;
	}
	bad = bad ||
	      (any && a->hint && (buffer_puts(&text, "; ") || buffer_puts(&text, a->hint))) ||
	      (any && buffer_u8(&text, 0));
	if (any && !bad && !s->remarked) {
		aligned_words(out, (const char *)text.data, text.size - 1, s->width, 0, 0);
		text_char(out, '\n');
		s->remarked = true;
	}
	buffer_free(&text);
	return bad ? -1 : 0;
}

/* Test whether a character would be markup; between letters or digits '_' is none. */
static bool is_markup(const char *p, const char *begin, const char *end)
{
	if (*p == '_')
		return p == begin || p + 1 == end || !isalnum((unsigned char)p[-1]) ||
		       !isalnum((unsigned char)p[1]);
	return strchr("\\`*[]<>|&#~!@", *p) != NULL;
}

void markdown_put(struct text *out, const char *p, size_t n)
{
	const char *begin = p, *end = p + n;
	size_t columns = 0, width, length;
	bool printable;

	for (; p < end && columns < MARKDOWN_CELL; p += length, columns += width) {
		length = aligned_character(p, (size_t)(end - p), &width, &printable);
		if (printable && length == 1 && is_markup(p, begin, end))
			text_char(out, '\\');
		put_character(out, p, length, printable);
	}
	if (p < end)
		text_puts(out, "...");
}

static void markdown_row(const struct aligned *a, const uint8_t **p, struct text *out)
{
	for (size_t i = 0; i < a->columns; i++) {
		const struct aligned_column *c = &a->column[i];
		const char *cell = (const char *)*p + sizeof(uint32_t);
		size_t n = get_u32(*p) / INKS;

		*p += sizeof(uint32_t) + n;
		if (c->optional && !c->filled)
			continue;
		text_puts(out, "| ");
		markdown_put(out, cell, n);
		text_char(out, ' ');
	}
	text_puts(out, "|\n");
}

static void markdown_heading(const struct aligned *a, struct text *out)
{
	for (int line = 0; line < 2; line++) {
		for (size_t i = 0; i < a->columns; i++) {
			const struct aligned_column *c = &a->column[i];

			if (c->optional && !c->filled)
				continue;
			text_puts(out, line ? c->text ? "|:---" : "|---:" : "| ");
			if (line)
				continue;
			markdown_put(out, c->name, strlen(c->name));
			if (c->unit) {
				text_puts(out, " \\[");
				markdown_put(out, c->unit, strlen(c->unit));
				text_puts(out, "\\]");
			}
			text_char(out, ' ');
		}
		text_puts(out, "|\n");
	}
}

/* Write the table in Markdown. */
static void markdown_table(const struct aligned *a, struct text *out)
{
	const uint8_t *p = a->cells.data, *rest = p;

	markdown_heading(a, out);
	for (size_t row = 0; row < a->rows && !text_failed(out); row++) {
		markdown_row(a, &p, out);
		if (p - rest > BUFFER_PIECE) {
			buffer_rest(&a->cells);
			rest = p;
		}
	}
}

int aligned_write(struct aligned *a, struct screen *s, struct text *out, struct error *e)
{
	const uint8_t *p = a->cells.data, *rest = p;
	/* a line of the screen is the prompt's */
	size_t again = s->height > 3 ? s->height - 2 : SIZE_MAX;

	if (a->failed)
		return error_no_memory(e);
	if (a->markdown) {
		markdown_table(a, out);
		return 0;
	}
	lay_out(a, s->width);
	out->color = s->color;
	for (size_t row = 0; (row < a->rows || !row) && !text_failed(out); row++) {
		if (row % again == 0)
			put_heading(a, out);
		if (row < a->rows)
			aligned_put_row(a, &p, out);
		if (p - rest > BUFFER_PIECE) {
			buffer_rest(&a->cells);
			rest = p;
		}
	}
	return remark_left_out(a, s, out) ? error_no_memory(e) : 0;
}

/*
 * aligned.h - rows of cells as a table for people, which fits the width of the screen
 *
 *        total  count  name
 *     6.956 ms      3  linux:schedule
 *     4.441 ms      2  std::map<int...operator[]
 *     ... left out at this width: avg, p50; -c NAMES or --width=0 shows them, or | less -RS
 *
 *     struct aligned a;
 *
 *     aligned_begin(&a, 2);
 *     a.column[0] = (struct aligned_column){.name = "total"};
 *     a.column[1] = (struct aligned_column){.name = "name", .text = true};
 *     for each row:
 *             aligned_cell(&a, "6.956 ms", 8, INK_PLAIN);
 *             aligned_cell(&a, name, n, INK_PLAIN);
 *     bad = aligned_write(&a, screen, out, &e);
 *     aligned_free(&a);
 *
 * Numbers are aligned right, texts left. Where a line is longer than the screen's width, columns
 * are left out, those of the highest .omit_order first, until texts have a third of the line; then
 * the middle of the longest texts is left out, then that of headings that are wider than their
 * numbers. Columns that the user asked for are only left out where the shortest texts do not fit
 * beside them. Unprintable characters are shown as '?', because
 * a name from a trace must neither break the table nor control a terminal. On a terminal the
 * heading is repeated on each screenful.
 *
 * Cells are kept until the table is written: memory beyond 1 MiB is in a temporary file (buffer.h).
 */
#ifndef TR_VALUE_ALIGNED_H
#define TR_VALUE_ALIGNED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/util/buffer.h"
#include "common/util/text.h"

struct error;
struct screen;

struct aligned_column {
	const char *name; /* the heading */
	const char *unit; /* of the numbers, named in the heading: "cycles"; NULL: none */
	bool text;	  /* not a number: aligned left, and shortened where the line is too long */
	bool optional;	  /* left out, without a remark, where the cells of all rows are empty */
	unsigned omit_order; /* columns with the highest number are left out first; 0: never */
	bool asked;	     /* the user named the column */
	/* by aligned_cell and aligned_write */
	size_t width, widest; /* widest: of the cells */
	bool filled, hidden;
};

/* Names belong to the caller. */
struct aligned {
	struct aligned_column *column;
	size_t columns, rows;
	size_t at;	     /* column of the next cell */
	struct buffer cells; /* of each its size and ink, then its text */
	bool markdown;	     /* write a table of Markdown, of any width */
	const char *hint;    /* how the user sees the columns that are left out; NULL: no option */
	bool failed;	     /* out of memory */
};

/* Start a table; the caller then fills the columns. */
void aligned_begin(struct aligned *a, size_t columns);
void aligned_free(struct aligned *a);

/* Append the next cell, row by row; "" is an empty one. */
void aligned_cell(struct aligned *a, const char *p, size_t n, enum ink ink);

/*
 * Write the table. Returns -1 with e filled when out of memory, also before. Failures to write are
 * reported by text_flush.
 */
int aligned_write(struct aligned *a, struct screen *s, struct text *out, struct error *e);

/* Write a text in a line of Markdown as its characters: what is markup gets a backslash, the middle
 * of a long text is left out, and unprintable characters are '?'. */
void markdown_put(struct text *out, const char *p, size_t n);
/* Get the width of a text in columns of a terminal: a wide character of East Asia takes two. */
size_t format_characters(const char *p, size_t n);
/* Write a text in at most width columns, its middle left out if necessary, unprintable
 * characters as '?'. Returns its width. */
size_t format_elided(struct text *out, const char *p, size_t n, size_t width);
/* Write a line, its middle left out where it does not fit the screen. */
void aligned_line(const struct screen *s, struct text *out, const struct buffer *line);
/*
 * Write words in lines of at most width characters, 0: in one line. The first line has used
 * characters before the words, the others have indent blanks. A word that is longer than a line
 * is broken. The last line is not ended. out: NULL: write nothing. Returns the number of lines.
 */
size_t aligned_words(struct text *out, const char *p, size_t n, size_t width, size_t indent,
		     size_t used);

#endif

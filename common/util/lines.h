/*
 * lines.h - the lines of a text in memory
 *
 *	for (struct lines l = lines_of(text, size); lines_next(&l);)
 *		use(l.line, l.size);
 */
#ifndef TR_UTIL_LINES_H
#define TR_UTIL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct lines {
	char *line; /* the caller may write to the line if the text allows it */
	size_t size;
	bool whole; /* a newline follows the line; false: the text ends within the line */
	char *next, *end;
};

static inline struct lines lines_of(const char *text, size_t size)
{
	/* text may be NULL */
	return (struct lines){.next = (char *)text,
			      .end = size ? (char *)text + size : (char *)text};
}

/* Go to the next line. false: there is none. */
static inline bool lines_next(struct lines *l)
{
	char *newline;

	if (l->next >= l->end)
		return false;
	l->line = l->next;
	newline = memchr(l->line, '\n', (size_t)(l->end - l->line));
	l->whole = newline;
	l->next = newline ? newline + 1 : l->end;
	l->size = (size_t)(newline ? newline - l->line : l->end - l->line);
	return true;
}

/* Find the line "NAME VALUE". Returns its value, which ends with the line; NULL: there is none. */
static inline const char *lines_value(const char *text, size_t size, const char *name,
				      size_t *value_size)
{
	size_t n = strlen(name);

	for (struct lines l = lines_of(text, size); lines_next(&l);)
		if (l.size > n && !memcmp(l.line, name, n) && l.line[n] == ' ') {
			*value_size = l.size - n - 1;
			return l.line + n + 1;
		}
	return NULL;
}

#endif

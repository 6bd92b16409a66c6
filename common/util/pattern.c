/*
 * pattern.c - how large regular expressions become
 */
#include "common/util/pattern.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATOR = 5, GROUPS = 250, COPIES = 65536 /* more than regcomp() accepts */ };

/* A group, or the whole: the size of all of it, and of what a repetition would repeat. */
struct group {
	size_t all, last;
};

/* Get the character after a bracket expression, whose '[' is at s. */
static const char *after_bracket(const char *s)
{
	s += s[1] == '^' ? 2 : 1;
	s += *s == ']';
	while (*s && *s != ']') {
		char kind = s[0] == '[' && s[1] && strchr(".=:", s[1]) ? s[1] : 0;

		/* [:alpha:] within it */
		for (s += kind ? 2 : 1; kind && *s && !(s[0] == kind && s[1] == ']');)
			s++;
		s += kind && *s ? 2 : 0;
	}
	return s + (*s == ']');
}

/* Get the number of copies that a repetition makes; *s: its first character, then its last. */
static size_t copies(const char **s)
{
	unsigned long least, most;
	char *end;

	if (**s != '{')
		return **s == '+' ? 2 : 1;
	least = strtoul(*s + 1, &end, 10);
	/* {3,} is {3} and a star */
	most = *end == ',' ? strtoul(end + 1, &end, 10) : least;
	if (*end == '}')
		*s = end;
	if (least >= COPIES || most >= COPIES)
		return COPIES;
	return most > least ? most : least + 1;
}

static void pattern_add(struct group *g, size_t size)
{
	g->all += size;
	g->last = size;
}

bool pattern_is_small(const char *s, size_t most)
{
	struct group groups[GROUPS + 1] = {0}, *g = groups;

	for (; *s; s++) {
		size_t n;

		switch (*s) {
		case '(':
			if (g == groups + GROUPS)
				return false;
			*++g = (struct group){0};
			break;
		case ')':
			n = g->all + OPERATOR;
			g -= g > groups;
			pattern_add(g, n);
			break;
		case '|':
			g->all += OPERATOR;
			g->last = 0;
			break;
		case '*':
		case '+':
		case '?':
		case '{':
			n = copies(&s) * g->last + OPERATOR;
			g->all -= g->last;
			pattern_add(g, n);
			break;
		case '[':
			s = after_bracket(s) - 1;
			pattern_add(g, 1);
			break;
		case '\\':
			s += s[1] != 0;
			pattern_add(g, 1);
			break;
		default: pattern_add(g, 1);
		}
		if (g->all > most)
			return false;
	}
	return true;
}

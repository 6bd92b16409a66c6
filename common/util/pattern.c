/*
 * pattern.c - how large regular expressions become
 */
#include "common/util/pattern.h"

#include <stdlib.h>
#include <string.h>

enum { OPERATOR = 5, GROUPS = 250, COPIES = 65536 /* more than regcomp() accepts */ };

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

bool pattern_is_small(const char *s, size_t most)
{
	/* of the whole and of each open group: its size, and that of what a repetition would
	   repeat */
	size_t all[GROUPS + 1] = {0}, last[GROUPS + 1] = {0}, group = 0;

	for (; *s; s++) {
		size_t n = 1;

		switch (*s) {
		case '(':
			if (group == GROUPS)
				return false;
			all[++group] = n = 0;
			break;
		case ')':
			n = all[group] + OPERATOR;
			group -= group > 0;
			break;
		case '|':
			all[group] += OPERATOR;
			n = 0;
			break;
		case '*':
		case '+':
		case '?':
		case '{':
			n = copies(&s) * last[group] + OPERATOR;
			all[group] -= last[group];
			break;
		case '[': s = after_bracket(s) - 1; break;
		case '\\': s += s[1] != 0; break;
		}
		all[group] += n;
		last[group] = n;
		if (all[group] > most)
			return false;
	}
	return true;
}

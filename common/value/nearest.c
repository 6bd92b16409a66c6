#include "common/value/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Distances. A name that differs by a prefix or suffix is between those that differ by one and by
 * two characters; the length of the prefix or suffix is added. */
enum { EDIT = 2 * NEAREST_SIZE, AFFIX = 3 * NEAREST_SIZE };
/* Characters that are enough for a prefix or suffix, and for a suffix without a separator. */
enum { AFFIX_SHORTEST = 3, SUFFIX_IN_WORD = 5 };

void nearest_begin(struct nearest *n, const char *word, size_t size)
{
	*n = (struct nearest){.word = word, .size = size};
	/* a third of the characters may differ, and one of a short word */
	n->distance = (unsigned)(size < NEAREST_SIZE ? EDIT * ((size + 1) / 3 + 1) : 0);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Count the characters to insert, remove, replace or exchange with the next. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned rows[3][NEAREST_SIZE], *before = rows[0], *last = rows[1], *now = rows[2], *spare;

	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = least(last[j - 1] + !same(a[i - 1], b[j - 1]),
				       least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

/* Test whether the shorter text begins the longer ("duration", "dur") or ends it ("sched_switch",
 * "switch"). A short end is preceded by a separator, so that "stupid" does not end with "pid". */
static bool is_affix(const char *longer, size_t nlonger, const char *shorter, size_t nshorter)
{
	const char *end = longer + (nlonger - nshorter);

	if (nshorter < AFFIX_SHORTEST)
		return false;
	if (!strncasecmp(longer, shorter, nshorter))
		return true;
	return !strncasecmp(end, shorter, nshorter) &&
	       (nshorter >= SUFFIX_IN_WORD || (end > longer && !isalnum((unsigned char)end[-1])));
}

/* Test whether a word abbreviates a name: "cnt", "count". */
static bool is_abbreviation(const struct nearest *n, const char *name, size_t size)
{
	size_t at = 0;

	if (n->size < AFFIX_SHORTEST || n->size >= size || size > 2 * n->size ||
	    !same(*n->word, *name) || !same(n->word[n->size - 1], name[size - 1]))
		return false;
	for (size_t i = 0; i < size && at < n->size; i++)
		at += same(n->word[at], name[i]);
	return at == n->size;
}

/* Returns how far the word is from a name, or from a part of one; at least n->distance where it is
 * too far. */
static unsigned distance_to(const struct nearest *n, const char *name, size_t size)
{
	bool longer = size > n->size;
	size_t differ = longer ? size - n->size : n->size - size;
	unsigned d = n->distance;

	if (longer ? is_affix(name, size, n->word, n->size)
		   : is_affix(n->word, n->size, name, size))
		d = AFFIX + (unsigned)differ;
	else if (is_abbreviation(n, name, size))
		d = least(d, AFFIX + (unsigned)differ);
	if (EDIT * differ >= n->distance)
		return d;
	return least(d, EDIT * distance(n->word, n->size, name, size));
}

void nearest_offer(struct nearest *n, const char *name, size_t size)
{
	const char *colon = memrchr(name, ':', size);
	unsigned d;

	if (!size || size >= NEAREST_SIZE || n->size >= NEAREST_SIZE)
		return;
	if (size == n->size && !memcmp(name, n->word, size)) {
		n->distance = 0;
		n->name[0] = '\0';
		return;
	}
	d = distance_to(n, name, size);
	/* "sched_switch" for "sched:sched_switch" */
	if (colon && !memchr(n->word, ':', n->size))
		d = least(d, EDIT + distance_to(n, colon + 1, size - (size_t)(colon + 1 - name)));
	if (d >= n->distance || d >= EDIT * n->size)
		return;
	n->distance = d;
	memcpy(n->name, name, size);
	n->name[size] = '\0';
}

void nearest_offer_words(struct nearest *n, const char *words)
{
	for (size_t size; *(words += strspn(words, " ")); words += size) {
		size = strcspn(words, " ");
		nearest_offer(n, words, size);
	}
}

const char *nearest_hint(struct nearest *n)
{
	if (!n->name[0])
		return "";
	snprintf(n->hint, sizeof n->hint, "; did you mean '%s'?", n->name);
	return n->hint;
}

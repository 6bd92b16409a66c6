/*
 * part.h - the mark of a trace that is one of several parts of a longer trace (trencode --split)
 *
 * A part contains all events of its time. Calls that are open at the end of a part have a leave at
 * the time `until` of the part; the next part begins with their enters at that time, its `since`.
 * No other leave of the part has that time. The mark is a text, which each format has in a place of
 * its own:
 *
 *     split=0123456789abcdef part=2 since=123000 until=456000
 *
 * The times are those of the events in the stream, ns or ticks, before trdecode --offset and
 * --clock. since=- in the first part, until=- in the last part.
 *
 * The tables of a part, such as names of functions, formats of events and lists of tasks, describe
 * the parts before it too: numbers in the events of all parts mean the same in the tables of the
 * last.
 */
#ifndef TR_FORMATS_PART_H
#define TR_FORMATS_PART_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PART_TEXT = 128, /* bytes of the longest mark, with its NUL */
};

/* The time of an end that is not a cut. */
#define PART_NO_TIME UINT64_MAX

struct part {
	uint64_t split;	 /* the same in all parts of one trace */
	uint32_t number; /* of the part, from 0 */
	uint64_t since, until;
};

static inline int part_print_time(char *text, size_t size, const char *name, uint64_t time)
{
	return time == PART_NO_TIME ? snprintf(text, size, " %s=-", name)
				    : snprintf(text, size, " %s=%" PRIu64, name, time);
}

/* Write the mark and a NUL. Returns its length. */
static inline size_t part_print(char text[PART_TEXT], const struct part *p)
{
	int n = snprintf(text, PART_TEXT, "split=%016" PRIx64 " part=%" PRIu32, p->split,
			 p->number);

	n += part_print_time(text + n, PART_TEXT - (size_t)n, "since", p->since);
	return (size_t)(n + part_print_time(text + n, PART_TEXT - (size_t)n, "until", p->until));
}

/* Parse "NAME=NUMBER" at *text, and move *text after it. */
static inline bool part_parse_number(const char **text, const char *name, int base, uint64_t *n)
{
	size_t size = strlen(name);
	char *end;

	if (strncmp(*text, name, size) != 0)
		return false;
	*text += size;
	if (**text == '-') {
		*n = PART_NO_TIME;
		++*text;
		return true;
	}
	*n = strtoull(*text, &end, base);
	if (end == *text || **text == ' ' || **text == '+')
		return false;
	*text = end;
	return true;
}

/* Parse a mark. Returns false if the text is none. */
static inline bool part_parse(const char *text, struct part *p)
{
	uint64_t number;

	if (!part_parse_number(&text, "split=", 16, &p->split) ||
	    !part_parse_number(&text, " part=", 10, &number) || number >= UINT32_MAX ||
	    !part_parse_number(&text, " since=", 10, &p->since) ||
	    !part_parse_number(&text, " until=", 10, &p->until))
		return false;
	p->number = (uint32_t)number;
	return !*text || *text == '\n';
}

#endif

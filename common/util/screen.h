/*
 * screen.h - the width, the height and the colours of human-readable output
 *
 * A line is as long as the terminal's, or as --width demands. In a pipe or a file no line has a
 * limit, unless --width gives one.
 */
#ifndef TR_UTIL_SCREEN_H
#define TR_UTIL_SCREEN_H

#include <stdbool.h>

struct output;

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Zero-initialised: no option was given. */
struct screen {
	bool limited;	      /* --width is given; width has it */
	enum color_when when; /* --color */
	/* by screen_find */
	unsigned width;	 /* most characters of a line; 0: no limit */
	unsigned height; /* lines of the terminal; 0: no terminal */
	bool color;
	/* a remark on columns that are left out was printed, for all tables of a run */
	bool remarked;
};

/* Find the size and the colours of the output: the width is COLUMNS if it is a number, else the
 * terminal's own. */
void screen_find(struct screen *s, const struct output *o);

/* Begin or end the line of an alarm on stderr, where that has colours. */
void screen_alarm(const struct screen *s, bool begin);

#endif

/*
 * plot.h - bars in a terminal
 *
 * With the block elements of Unicode where the output is a terminal and the locale's characters are
 * UTF-8, with ASCII elsewhere.
 */
#ifndef TR_TRSTAT_TABLE_PLOT_H
#define TR_TRSTAT_TABLE_PLOT_H

#include "common/util/text.h"

#include <stdbool.h>

enum { PLOT_WIDTH = 80 }; /* width of a line where the output is not a terminal */

/* Returns true if this output can show UTF-8. */
bool plot_utf8(const struct output *o);

/* Write a bar of value / max of width characters: with UTF-8 in eighths of a character, and
 * visible if value is not 0. Returns its width in characters. */
size_t plot_bar(struct text *out, uint64_t value, uint64_t max, size_t width, bool utf8);

/* Write one character whose height shows value / max; a blank for 0. */
void plot_level(struct text *out, uint64_t value, uint64_t max, bool utf8);

#endif

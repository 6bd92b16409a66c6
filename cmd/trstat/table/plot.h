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

enum { PLOT_WIDTH = 80 }; /* of a line where the output is no terminal */

/* May this output have UTF-8? */
bool plot_utf8(const struct output *o);

/* A bar of value / max of width characters, to the eighth of one with UTF-8, at least the least
 * that can be seen where value is not 0. Returns how many characters it has. */
size_t plot_bar(struct text *out, uint64_t value, uint64_t max, size_t width, bool utf8);

/* One character, the higher the greater value / max is; a blank for 0. */
void plot_level(struct text *out, uint64_t value, uint64_t max, bool utf8);

#endif

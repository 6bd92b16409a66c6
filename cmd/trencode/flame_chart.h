/*
 * flame_chart.h - flame charts as SVG, by time
 */
#ifndef TR_TRENCODE_FLAME_CHART_H
#define TR_TRENCODE_FLAME_CHART_H

#include "cmd/trencode/encoder.h"

enum { PICTURE_TITLE = 320 };
/* Get the title of a picture: --title, or the name of the trace, and the date of its first events
 * if their clock has wall time: "run.dat, 2026-11-28 04:06:52 UTC". NULL: there are several traces,
 * or neither is known. out: memory for it. */
const char *picture_title(const struct encoding *en, char out[static PICTURE_TITLE]);

extern const struct encoder encoder_flame_chart; /* of -t svg --by-time */

#endif

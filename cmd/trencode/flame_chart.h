/*
 * flame_chart.h - flame charts as SVG, by time
 */
#ifndef TR_TRENCODE_FLAME_CHART_H
#define TR_TRENCODE_FLAME_CHART_H

#include "cmd/trencode/encoder.h"

/* Get the title of a picture: --title, or the name of the trace; NULL: there are several. */
const char *picture_title(const struct encoding *en);

extern const struct encoder encoder_flame_chart; /* of -t svg --by-time */

#endif

/*
 * flame_chart.h - flame charts as SVG, by time
 */
#ifndef TR_TRENCODE_FLAME_CHART_H
#define TR_TRENCODE_FLAME_CHART_H

#include "cmd/trencode/encoder.h"

extern const struct encoder encoder_flame_chart; /* of -t svg --by-time */

#endif

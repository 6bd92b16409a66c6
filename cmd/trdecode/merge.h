/*
 * merge.h - several inputs in one stream, by time
 */
#ifndef TR_MERGE_H
#define TR_MERGE_H

#include "decoder.h"

/* --clock for one input: its shift and its clock, before it begins. */
int merge_choose_clock(struct input *in, enum clock_choice choice, struct error *e);

/* Inputs whose clocks have nothing in common are refused, unless offsets say how they meet. Called
 * once all have begun. */
int merge_check_clocks(const struct input *inputs, int n, bool offsets, struct error *e);

/* Run all to their ends, the lowest time first, ties in the order of the inputs. */
int merge_run(struct input *inputs, int n, struct error *e);

#endif

/*
 * last_time.h - when a trace ends, for moments that are counted from there: --since -10s
 *
 * The inputs are decoded once more, beforehand, into nothing. Where a decoder tells a time near the
 * end (struct decoder, late), what is before it is passed over, and little is read.
 */
#ifndef TR_TRDECODE_INPUT_LAST_TIME_H
#define TR_TRDECODE_INPUT_LAST_TIME_H

#include "cmd/trdecode/decoder.h"

struct last_time {
	char *const *names; /* operands, as input_open takes them */
	int n;
	const char *format;
	const struct decoder *const *decoders;
	enum clock_choice clock;
	/* what --offset adds: set in->shift and its like */
	void (*shift)(struct input *in, const char *name, void *ctx);
	void *ctx;
};

/* The latest time of all inputs, shifted; 0 if there are no events. -1 with e filled: an input
 * cannot seek, or cannot be decoded at all. Damage is left to those who decode in earnest. */
int last_time_find(const struct last_time *l, uint64_t *last, struct error *e);

#endif

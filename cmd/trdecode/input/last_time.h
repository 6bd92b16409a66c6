/*
 * last_time.h - find the end of a trace, for times that count from the end: --since -10s
 *
 * The inputs are decoded once more, beforehand, without output. Where a decoder gives a time near
 * the end (struct decoder, late), the events before that time are skipped and little is read.
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
	/* sets in->shift and the other fields of --offset */
	void (*shift)(struct input *in, const char *name, void *ctx);
	void *ctx;
};

/* Find the latest time of all inputs, shifted; 0 if there are no events. Returns 0, or -1 with
 * *e filled: an input cannot seek, or cannot be decoded at all. Damage is not reported here, but
 * by the decoding that follows. */
int last_time_find(const struct last_time *l, uint64_t *last, struct error *e);

#endif

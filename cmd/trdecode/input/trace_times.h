/*
 * trace_times.h - find when a trace begins or ends before it is decoded: for times that count from
 * the end (--since -10s), and for inputs that begin at the same time (--align start)
 *
 * The inputs are decoded once more, beforehand, without output. Where a decoder gives a time near
 * the end (struct decoder, late), the events before that time are skipped and little is read.
 */
#ifndef TR_TRDECODE_INPUT_TRACE_TIMES_H
#define TR_TRDECODE_INPUT_TRACE_TIMES_H

#include "cmd/trdecode/decoder.h"

struct trace_times {
	char *const *names; /* operands, as input_open takes them */
	int n;
	const char *format;
	const struct decoder *const *decoders;
	enum clock_choice clock;
	/* sets in->shift and the other fields of --offset and --align; NULL: times of the inputs'
	   own clocks */
	void (*shift)(struct input *in, const char *name, int number, void *ctx);
	void *ctx;
};

/* Find the latest time of all inputs, shifted; 0 if there are no events. Returns 0, or -1 with
 * *e filled: an input cannot seek, or cannot be decoded at all. Damage is not reported here, but
 * by the decoding that follows. */
int trace_times_last(const struct trace_times *l, uint64_t *last, struct error *e);

/* Find the time of the first event of each input; UINT64_MAX: it has none. Returns as
 * trace_times_last. */
int trace_times_first(const struct trace_times *l, uint64_t *first, struct error *e);

#endif

/*
 * recording.h - the files of a uftrace recording that its text depends on
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_RECORDING_H
#define TR_TRENCODE_TEXT_UFTRACE_RECORDING_H

#include "cmd/trencode/text/uftrace/duration_threshold.h"
#include "cmd/trencode/text/kernel_events.h"
#include "cmd/trencode/text/uftrace/stack.h"
#include "cmd/trencode/text/symbols.h"

/* A source of the format uftrace. */
struct recording {
	const struct source *source;
	struct replay replay;
	struct text_symbols *symbols;
	struct kernel_events *kernel;
	struct duration_threshold *threshold; /* NULL: without a time filter */
	struct buffer info, options;	      /* beginnings of these files */
	bool ready;			      /* recording_begin was called */
	bool recent;			      /* written by a uftrace whose symbols have sizes */
	bool odd_options;		      /* default.opts has options other than -t */
};

/* Returns NULL when out of memory. */
struct recording *recording_new(const struct source *source);
void recording_free(struct recording *r);

/* Take a piece of a META block. Returns -1 when out of memory. */
int recording_meta(struct recording *r, const struct meta *m);

/* Evaluate the files, before the first event. depth: levels shown, 0: the default of uftrace.
 * Returns -1 when out of memory. */
int recording_begin(struct recording *r, int32_t depth);

#endif

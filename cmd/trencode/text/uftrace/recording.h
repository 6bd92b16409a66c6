/*
 * recording.h - what a uftrace recording's own files say about its text
 */
#ifndef TR_TRENCODE_TEXT_UFTRACE_RECORDING_H
#define TR_TRENCODE_TEXT_UFTRACE_RECORDING_H

#include "cmd/trencode/text/uftrace/duration_threshold.h"
#include "cmd/trencode/text/kernel_events.h"
#include "cmd/trencode/text/uftrace/stack.h"
#include "cmd/trencode/text/symbols.h"

struct recording {
	const struct source *source;
	struct replay replay;
	struct text_symbols *symbols;
	struct kernel_events *kernel;
	struct hold *hold;	     /* NULL: it has no time filter */
	struct buffer info, options; /* beginnings of these files */
	bool ready;
	bool recent;	  /* by a uftrace whose symbols have sizes */
	bool odd_options; /* default.opts has something other than -t */
};

/* NULL: out of memory. */
struct recording *recording_new(const struct source *source);
void recording_free(struct recording *r);

/* A piece of a META block. -1: out of memory. */
int recording_meta(struct recording *r, const struct meta *m);

/* The first event is there: take from the files what they say. depth: levels shown, 0: as uftrace
 * does. -1: out of memory. */
int recording_begin(struct recording *r, int32_t depth);

#endif

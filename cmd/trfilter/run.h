/*
 * run.h - filter a stream
 */
#ifndef TR_TRFILTER_RUN_H
#define TR_TRFILTER_RUN_H

#include "cmd/trfilter/options.h"
#include "cmd/trfilter/rows.h"
#include "common/cli/stage.h"
#include "common/util/text.h"

/* Read the stage's inputs and write a stream, or the text that replaces it (a count, an
 * explanation). argv is the command line, which is added to the stream. Errors are printed; the
 * exit status is in the stage. */
void run_filter(struct stage *s, struct filter_settings *o, struct filter *f, int argc,
		char **argv);

/* --- a human-readable explanation of a condition --- */

/* Write the terms of the condition, and how each is decided; invert: -v is given. */
void explain_filter(struct text *t, const struct filter *f, bool invert);

#endif

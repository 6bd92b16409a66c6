/*
 * run.h - filter a stream
 */
#ifndef TR_TRFILTER_RUN_H
#define TR_TRFILTER_RUN_H

#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/options.h"
#include "common/cli/stage.h"

/* Read the stage's inputs and write a stream, or the text that replaces it (a count, an
 * explanation). argv is the command line, which is added to the stream. Errors are printed; the
 * exit status is in the stage. */
void run_filter(struct stage *s, struct settings *o, struct filter *f, int argc, char **argv);

#endif

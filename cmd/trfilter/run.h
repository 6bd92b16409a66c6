/*
 * run.h - a stream goes through a filter
 */
#ifndef TRFILTER_RUN_H
#define TRFILTER_RUN_H

#include "cmd/trfilter/rows/filter.h"
#include "cmd/trfilter/options.h"
#include "common/cli/stage.h"

/* From the stage's inputs to a stream, or to what is printed in its place (a count, an
 * explanation). argv is the command line, which becomes part of the stream. What goes wrong is
 * printed; the stage has the exit status. */
void run_filter(struct stage *s, struct settings *o, struct filter *f, int argc, char **argv);

#endif

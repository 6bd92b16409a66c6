/*
 * run.h - what trdecode does with its inputs, to the end
 */
#ifndef TR_TRDECODE_RUN_H
#define TR_TRDECODE_RUN_H

#include "cmd/trdecode/options.h"

/* Decode the operands, argv[optind] and those behind it, at least one, or print what they are. What
 * goes wrong is printed. The exit status. */
int run_operands(struct settings *s, const struct common_options *common, int argc, char **argv);

#endif

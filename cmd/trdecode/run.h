/*
 * run.h - decode the inputs of trdecode
 */
#ifndef TR_TRDECODE_RUN_H
#define TR_TRDECODE_RUN_H

#include "cmd/trdecode/options.h"

/* Decode the operands argv[optind] and all later ones, at least one, or print their --info.
 * Errors are printed. Returns the exit status. */
int run_operands(struct decode_settings *s, const struct common_options *common, int argc,
		 char **argv);

#endif

/*
 * options.h - the options of trfilter
 */
#ifndef TR_TRFILTER_OPTIONS_H
#define TR_TRFILTER_OPTIONS_H

#include "cmd/trfilter/context.h"
#include "cmd/trfilter/rewrite.h"
#include "cmd/trfilter/rows.h"
#include "common/cli/program.h"

struct filter_settings {
	bool invert, count, explain, callers, strict;
	uint64_t limit, depth; /* UINT64_MAX: none */
	struct context context;
	const char *within; /* the time of --within, as the user wrote it; NULL: none */
	struct time_range time_range;
	struct rewrite rewrite;
	const char *key; /* key of --scrub; NULL: a random one */
	/* the command line, for an option of two arguments */
	int argc;
	char **argv;
};

extern const struct option_row settings_rows[];

void filter_settings_free(struct filter_settings *s);
/* Take one option, for struct program. */
int filter_settings_option(void *ctx, int key, const char *arg, struct error *e);

#endif

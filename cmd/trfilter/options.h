/*
 * options.h - what the command line of trfilter asks for
 */
#ifndef TRFILTER_SETTINGS_H
#define TRFILTER_SETTINGS_H

#include "cmd/trfilter/rows/context.h"
#include "cmd/trfilter/rows/time_range.h"
#include "common/cli/options.h"
#include "cmd/trfilter/rewrite/rewrite.h"

struct settings {
	bool invert, count, explain, callers;
	uint64_t limit, depth; /* UINT64_MAX: none */
	struct context context;
	bool within_unit; /* its time was given with a unit */
	struct time_range limits;
	struct rewrite rewrite;
	const char *key; /* of scrub, NULL: one is drawn */
	/* of the command line, for an option of two arguments */
	int argc;
	char **argv;
};

extern const struct option_row settings_rows[];

void settings_init(struct settings *s, int argc, char **argv);
void settings_free(struct settings *s);
/* As struct program's option. */
int settings_option(void *ctx, int key, const char *arg, struct error *e);
/* What is to be known of several options together. */
int settings_check(struct settings *s, struct error *e);

#endif

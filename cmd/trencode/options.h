/*
 * options.h - trencode's command line
 */
#ifndef TR_TRENCODE_OPTIONS_H
#define TR_TRENCODE_OPTIONS_H

#include "cmd/trencode/encoder.h"

struct settings {
	const struct encoder *const *encoders; /* to choose from, ended by NULL */
	const struct encoder *encoder;
	struct encode_options encode;
	bool list, strict;
	bool chosen; /* -t was given */
};

extern const struct option_row settings_rows[];

/* For struct program; ctx is the settings. */
int settings_option(void *ctx, int key, const char *arg, struct error *e);

#endif

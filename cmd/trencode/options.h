/*
 * options.h - trencode's command line
 */
#ifndef TR_TRENCODE_OPTIONS_H
#define TR_TRENCODE_OPTIONS_H

#include "cmd/trencode/clip.h"
#include "cmd/trencode/encoder.h"

/* What was last given for a --plugin-option. */
enum plugin_given { PLUGIN_NOT_GIVEN, PLUGIN_TOGGLED, PLUGIN_ON, PLUGIN_OFF };

enum { PLUGIN_OPTIONS = 5 };

/* The parsed command line. */
struct encode_settings {
	const struct encoder *const *encoders; /* all encoders, ended by NULL */
	const struct encoder *encoder;
	struct encode_options encode;
	struct clip clip;		    /* its window, limit and split */
	uint8_t plugins[PLUGIN_OPTIONS][2]; /* enum plugin_given: of PLUGIN:NAME, of NAME */
	bool list, strict;
	bool chosen; /* -t was given */
};

extern const struct option_row settings_rows[];
extern char settings_formats[256]; /* names of the encoders, which main adds */

/* Parse one option, for struct program. ctx is a struct encode_settings. */
int encode_settings_option(void *ctx, int key, const char *arg, struct error *e);

#endif

/*
 * options.h - trdecode's command line
 */
#ifndef TR_TRDECODE_OPTIONS_H
#define TR_TRDECODE_OPTIONS_H

#include "common/cli/program.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/row_filter.h"

struct clock_offset {
	const char *file; /* the first length bytes */
	size_t length;
	int64_t ns;
	const char *text; /* ns as the user wrote it */
	bool used;	  /* there is such an input */
};

struct decode_settings {
	const struct decoder *const *decoders; /* every format that can be read, ended by NULL */
	const char *format;		       /* NULL: by the inputs' content */
	enum clock_choice clock;
	uint64_t segment, max_value;
	bool formats, info, list, all, json, strict, no_unwind, align;
	const char *sysroot;	      /* NULL: / */
	struct clock_offset *offsets; /* times to add to an input's times */
	size_t noffsets, offsets_capacity;
	int64_t *aligned; /* times to add so that all inputs begin together (--align); NULL: none */
	struct row_filter row_filter;
};

extern const struct option_row settings_rows[];
extern char settings_formats[256]; /* names of the decoders, which main adds */

/* Handle an option for struct program; ctx is the settings. */
int decode_settings_option(void *ctx, int key, const char *arg, struct error *e);
void decode_settings_free(struct decode_settings *s);

/* Set the time to add to the times of an input (--offset, --align). The input is named as on the
 * command line ("-" for standard input) or as in messages; number: of the operand, from 0. */
void settings_shift(struct decode_settings *s, struct input *in, const char *operand, int number);
/* Fail if an --offset names no input. Called after settings_shift of all inputs. */
int settings_check_offsets(const struct decode_settings *s, struct error *e);

#endif

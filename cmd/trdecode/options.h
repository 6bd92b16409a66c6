/*
 * options.h - trdecode's command line
 */
#ifndef TR_TRDECODE_OPTIONS_H
#define TR_TRDECODE_OPTIONS_H

#include "common/cli/program.h"
#include "cmd/trdecode/decoder.h"

struct offset {
	const char *file; /* the first length bytes */
	size_t length;
	int64_t ns;
	bool unit; /* one was given */
	bool used; /* there is such an input */
};

struct settings {
	const struct decoder *const *decoders; /* every format that can be read, ended by NULL */
	const char *format;		       /* NULL: by the inputs' content */
	enum clock_choice clock;
	uint64_t segment, max_value;
	bool info, json, strict;
	struct offset *offsets; /* that are added to an input's times */
	size_t noffsets, offsets_capacity;
	struct row_filter limits;
};

extern const struct option_row settings_rows[];

/* For struct program; ctx is the settings. */
int settings_option(void *ctx, int key, const char *arg, struct error *e);
void settings_free(struct settings *s);

/* What is to be added to the times of an input (--offset), by the name it has on the command line
 * ("-" for standard input) or in messages. */
void settings_shift(struct settings *s, struct input *in, const char *operand);
/* -1: an --offset is of no input. After settings_shift of all. */
int settings_check_offsets(const struct settings *s, struct error *e);

#endif

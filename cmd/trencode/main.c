/*
 * main.c - trencode: write a stream as a trace or as text
 */
#include <getopt.h>
#include <inttypes.h>

#include "cmd/trencode/encode.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/encoder_choice.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/options.h"
#include "common/cli/program.h"
#include "common/cli/stage.h"

#define FORMAT_ROW(name) &encoder_##name,
static const struct encoder *const encoders[] = {TRENCODE_FORMATS(FORMAT_ROW) NULL};

static const struct program program = {
	.name = "trencode",
	.operands = "[FILE]...",
	.purpose = "Write the events of a stream as text, as a native trace, or in another format.",
	.options = settings_rows,
	.option = encode_settings_option,
};

/* Report the events that the recorder lost; with --strict the exit status is that of damage. */
static void encode_report_lost(struct stage *s, bool strict)
{
	if (!s->options->quiet)
		warn_count(NULL, s->lost, "{event was|events were} lost by the recorder");
	if (s->lost_more && !s->options->quiet)
		warn(NULL, NO_OFFSET, LOST_MORE " were lost by the recorder");
	if (strict && (s->lost || s->lost_more))
		s->status = status_worse(s->status, STATUS_DAMAGED);
}

/* Test whether the name is that of a format which is not text, nor any that is written. */
static bool has_other_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && options_apply("gz bz2 xz zst lz4 zip html htm xml yaml yml xlsx pdf png db "
				    "sqlite duckdb arrow svgz pb",
				    dot + 1);
}

/* Test whether an output has a name that parts can have, too. */
static bool is_file_name(const char *output)
{
	return output && strcmp(output, "-") != 0 && strncmp(output, "/dev/", 5) != 0;
}

int main(int argc, char **argv)
{
	struct encode_settings settings = {.encoders = encoders,
					   .encoder = &encoder_text,
					   .encode.compress.level = -1,
					   .clip.limit = UINT64_MAX};
	const struct encoder *by_suffix = NULL;
	struct common_options common;
	struct stage s;
	struct error e;
	int status;

	for (size_t i = 0; encoders[i]; i++)
		options_add_word(settings_formats, sizeof settings_formats, encoders[i]->name);
	status = program_start(&program, argc, argv, &settings, &common);
	if (status >= 0)
		return status;
	if (settings.list)
		return encoder_list(encoders);
	if (!settings.chosen && common.output)
		by_suffix = encoder_by_suffix(encoders, common.output);
	if (!by_suffix && !settings.chosen && common.output && has_other_suffix(common.output))
		return program_usage(&common,
				     "no format has the suffix of '%s'; choose one with -t, see "
				     "--formats",
				     common.output);
	if (by_suffix)
		settings.encoder = by_suffix;
	status = program_check_format(&common, settings.encoder->name);
	if (status >= 0)
		return status;
	if (settings.encode.by_time && settings.encode.pair)
		return program_usage(&common, "--pair does not go with --by-time");
	if (settings.encode.by_time && settings.encoder->by_time)
		settings.encoder = settings.encoder->by_time;
	if (moment_check_range(&settings.clip.window.since, &settings.clip.window.until, &e) ||
	    time_window_find_ends(&settings.clip.window, argv + optind, argc - optind, &e)) {
		clip_free(&settings.clip);
		return program_usage(&common, "%s", e.what);
	}
	if (clip_splits(&settings.clip) && !is_file_name(common.output)) {
		clip_free(&settings.clip);
		return program_usage(&common,
				     "--split needs -o FILE: it writes FILE.000, FILE.001");
	}
	settings.encode.output = common.output;
	settings.encode.quiet = common.quiet;
	if (!stage_open(&s, argv + optind, argc - optind, &common)) {
		/* sums over stacks have no times */
		s.one_axis = (settings.encoder->report && !settings.encoder->block) ||
			     settings.encode.pair || time_window_any(&settings.clip.window);
		encode_stream(&s, settings.encoder, &settings.encode, &settings.clip);
		encode_report_lost(&s, settings.strict);
	}
	clip_free(&settings.clip);
	return stage_finish(&s);
}

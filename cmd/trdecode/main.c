/*
 * trdecode - convert a trace of any format into an event stream
 */
#include <unistd.h>

#include "cmd/trdecode/formats.h"
#include "cmd/trdecode/run.h"

#define FORMAT_ROW(name) &decoder_##name,
static const struct decoder *const decoders[] = {TRDECODE_FORMATS(FORMAT_ROW) NULL};

static int decode_streams(const void *ctx)
{
	const struct decode_settings *s = ctx;

	return s->info || s->list || s->formats ? -1 : 0;
}

static const struct program program = {
	.name = "trdecode",
	.operands = "[INPUT]...",
	.purpose = "Decode traces into an event stream.",
	.options = settings_rows,
	.option = decode_settings_option,
	.patience = PATIENCE_FIRST,
	.streams = decode_streams,
};

/* Print the formats, one a line. */
static int list_formats(void)
{
	struct error e;

	for (size_t i = 0; decoders[i]; i++)
		puts(decoders[i]->name);
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	error_errno(&e, "standard output", NO_OFFSET, "%s", "");
	error_print(&e);
	return STATUS_FAILED;
}

int main(int argc, char **argv)
{
	struct decode_settings s = {.decoders = decoders};
	struct common_options common;
	struct error e;
	int status;

	for (size_t i = 0; decoders[i]; i++)
		options_add_word(settings_formats, sizeof settings_formats, decoders[i]->name);
	status = program_start(&program, argc, argv, &s, &common);
	if (status < 0 && s.formats)
		status = list_formats();
	if (status < 0 && s.info && s.list)
		status = program_usage(&common, "use --info or --list, not both");
	if (status < 0 && s.json && !s.info && !s.list)
		status = program_usage(&common, "--json goes with --info or --list");
	if (status < 0 && s.all && (!s.list || s.json))
		status = program_usage(&common, s.list ? "--all has no effect with --json, which "
							 "has all types"
						       : "--all goes with --list");
	if (status < 0 && s.segment && (s.info || s.list))
		status = program_usage(&common, "--segment has no effect with --%s",
				       s.info ? "info" : "list");
	if (status < 0 && s.info && row_filter_any(&s.row_filter))
		status = program_usage(&common, "--cpu, --tid, --type, --since and --until have no "
						"effect with --info");
	if (status < 0 && moment_check_range(&s.row_filter.since, &s.row_filter.until, &e))
		status = program_usage(&common, "%s", e.what);
	if (status < 0)
		status = run_operands(&s, &common, argc, argv);
	decode_settings_free(&s);
	return status;
}

/*
 * trdecode - convert a trace of any format into an event stream
 */
#include <unistd.h>

#include "cmd/trdecode/run.h"

/* Every format that can be read. apitrace is last: few bytes of any file may be valid brotli. */
static const struct decoder *const decoders[] = {
	&decoder_stream, &decoder_uftrace, &decoder_tracecmd, &decoder_lttng,
	&decoder_ctf,	 &decoder_chrome,  &decoder_apitrace, NULL};

static int streams(const void *ctx)
{
	const struct settings *s = ctx;

	return s->info ? -1 : 0;
}

static const struct program program = {
	.name = "trdecode",
	.operands = "INPUT...",
	.purpose = "Decode traces into an event stream.",
	.options = settings_rows,
	.option = settings_option,
	.streams = streams,
};

int main(int argc, char **argv)
{
	struct settings s = {.decoders = decoders};
	struct common_options common;
	int status = program_start(&program, argc, argv, &s, &common);

	if (status < 0 && s.json && !s.info)
		status = program_usage(&common, "--json goes with --info");
	if (status < 0 && optind == argc)
		status = program_usage(&common, "no input");
	if (status < 0)
		status = run_operands(&s, &common, argc, argv);
	settings_free(&s);
	return status;
}

/* links: cmd/trdecode */
/*
 * decode.c - any bytes through trdecode: formats are told apart, compression and archives are
 * opened, and streams are joined
 *
 * Of the first byte bits 0 to 3 choose options, 64 makes the input a pipe, and with 128 the input
 * is a stream (packed_stream.h).
 */
#include "packed_stream.h"
#include "packed_tar.h"
#include "program_run.h"

int trdecode_main(int argc, char **argv);
#define main trdecode_main
#include "cmd/trdecode/main.c"
#undef main

static command commands[] = {
	{"-q", "-"},
	{"-q", "--info", "-"},
	{"-q", "--info", "--json", "-"},
	{"-q", "--segment=4096", "-"},
	{"-q", "--since=1us", "--until=-1us", "-"},
	{"-q", "--cpu=0-3", "--tid=1,7", "-"},
	{"-q", "--type=sched*", "--clock=raw", "-"},
	{"-q", "--max-value=1000", "-"},
	{"-q", "--clock=wall", "-"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in, out;

	if (!size)
		return 0;
	if (data[0] & 128)
		in = unpack_stream(data + 1, size - 1);
	else if (data[0] & 32)
		in = unpack_tar(data + 1, size - 1);
	else
		in = data[0] & 64 ? memory_pipe(data + 1, size - 1)
				  : memory_file(data + 1, size - 1);
	if (in < 0)
		return 0;
	if (data[0] & (128 | 32))
		output_limit(size);
	else
		output_limit_to(OUTPUT_UNPACKED, false);
	program_run(trdecode_main, "trdecode",
		    commands[(data[0] & 15) % (sizeof(commands) / sizeof(*commands))], NULL, in,
		    &out);
	close(out);
	output_limit_end();
	close(in);
	return 0;
}

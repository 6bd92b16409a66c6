/* links: cmd/trsym */
/*
 * symbols.c - a stream (packed_stream.h) through trsym: the first byte chooses options. The files
 * that the stream names are looked for where there are none.
 */
#include "t/fuzz/packed_stream.h"
#include "t/fuzz/program_run.h"

int trsym_main(int argc, char **argv);
#define main trsym_main
#include "cmd/trsym/main.c"
#undef main

static command commands[] = {
	{"-q", "--sysroot=/nonexistent"},
	{"-q", "--sysroot=/nonexistent", "--demangle=full", "--lines"},
	{"-q", "--sysroot=/nonexistent", "--demangle=no", "--report"},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in, out;

	if (!size)
		return 0;
	in = unpack_stream(data + 1, size - 1);
	output_limit(size);
	program_run(trsym_main, "trsym", commands[data[0] % (sizeof(commands) / sizeof(*commands))],
		    NULL, in, &out);
	close(out);
	output_limit_end();
	close(in);
	return 0;
}

/* links: cmd/trfilter */
/*
 * expression.c - a condition and a stream (packed_stream.h) through trfilter
 *
 * The first byte chooses options, the text up to a NUL is the condition (never "-h", which prints
 * help), or the argument of an option. What trfilter writes must be a stream without a fault.
 */
#include "t/fuzz/packed_stream.h"
#include "t/fuzz/program_run.h"

int trfilter_main(int argc, char **argv);
#define main trfilter_main
#include "cmd/trfilter/main.c"
#undef main

static command commands[] = {
	{"-q", "--", "%"},
	{"-q", "-v", "--", "%"},
	{"-q", "-c", "--", "%"},
	{"-q", "--explain", "%", "-"},
	{"-q", "--with-callers", "--", "%"},
	{"-q", "-A", "2", "-B", "3", "--", "%"},
	{"-q", "--within", "1us", "--", "%"},
	{"-q", "--between", "%", "1"},
	{"-q", "--keep", "%", "1"},
	{"-q", "--drop", "%", "1"},
	{"-q", "--scrub", "%", "--key=k", "1"},
	{"-q", "--since", "%", "dur >= 0"},
	{"-q", "--until", "%", "1"},
	{"-q", "--sample", "1/2", "--by", "%", "1"},
	{"-q", "-D", "2", "--", "%"},
	{"-q", "-n", "3", "--", "%"},
};

static void read_back(int fd)
{
	struct reader r;
	struct block b;

	need(!reader_open_fd(&r, dup(fd), "stream", NULL, 0), "the stream cannot be opened");
	while (reader_next(&r, &b) > 0)
		;
	need(!r.error.what[0], r.error.what);
	reader_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data + 1, 0, size - 1) : NULL;
	unsigned choice;
	int in, out, status;

	if (!end)
		return 0;
	in = unpack_stream(end + 1, size - (size_t)(end + 1 - data));
	choice = data[0] % (sizeof(commands) / sizeof(*commands));
	output_limit(size);
	status = program_run(trfilter_main, "trfilter", commands[choice], (const char *)data + 1,
			     in, &out);
	output_limit_end();
	if (!status && choice != 2 && choice != 3 && lseek(out, 0, SEEK_END) > 0 &&
	    !lseek(out, 0, SEEK_SET))
		read_back(out);
	close(out);
	close(in);
	return 0;
}

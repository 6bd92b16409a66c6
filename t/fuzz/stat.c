/* links: cmd/trstat */
/*
 * stat.c - a text and a stream (packed_stream.h) through the tables and views of trstat
 *
 * The first byte chooses options, the text up to a NUL is the argument of one of them. A summary of
 * the stream is merged too.
 */
#include "t/fuzz/packed_stream.h"
#include "t/fuzz/program_run.h"

int trstat_main(int argc, char **argv);
#define main trstat_main
#include "cmd/trstat/main.c"
#undef main

static command commands[] = {
	{"-q"},
	{"-q", "--fail-if", "%"},
	{"-q", "--pair", "%"},
	{"-q", "-g", "%"},
	{"-q", "-c", "%"},
	{"-q", "-g", "%", "-c", "count,total,min,max,p99,first,last", "-t", "json"},
	{"-q", "-s", "%", "-n", "5", "-t", "csv"},
	{"-q", "--tree", "-t", "ndjson"},
	{"-q", "--callers", "%"},
	{"-q", "--callees", "%"},
	{"-q", "--hist=%"},
	{"-q", "--hist"},
	{"-q", "--timeline", "%"},
	{"-q", "--slowest", "5"},
	{"-q", "--slowest", "5", "-t", "json"},
	{"-q", "-i", "%", "-t", "tsv"},
	{"-q", "-t", "prom", "-g", "%"},
	{"-q", "--tree"},
	{"-q", "--pair", "%", "--slowest", "3"},
	{"-q", "--pair", "%", "--unpaired", "-t", "csv"},
	{"-q", "--pair", "%", "-g", "bucket(time,1ms),a.cpu|b.tid,a.name", "-c", "count,busy,util"},
	{"-q", "--why", "%"},
	{"-q", "--why", "%", "-t", "folded"},
	{"-q", "--explain-tail", "%", "--quantile", "0.5", "-t", "json"},
	{"-q", "--report"},
	{"-q", "--report", "-t", "html"},
	{"-q", "--heatmap", "%", "-t", "svg"},
	{"-q", "--hist", "-t", "svg", "-g", "%"},
};
static command partial = {"-q", "--partial"}, partial_keys = {"-q", "--partial", "-g", "%"},
	       merge = {"-q", "--merge"};

/* A summary is smaller than its stream times the limit, and so is what is made of it. */
static void summarise(const char *text, int in)
{
	int summary, out;

	program_run(trstat_main, "trstat", *text ? partial_keys : partial, text, in, &summary);

	program_run(trstat_main, "trstat", merge, NULL, summary, &out);
	close(out);
	close(summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data + 1, 0, size - 1) : NULL;
	unsigned choice;
	int in, out;

	if (!end)
		return 0;
	in = unpack_stream(end + 1, size - (size_t)(end + 1 - data));
	choice = data[0] % (sizeof(commands) / sizeof(*commands) + 1);
	output_limit(size);
	if (choice) {
		program_run(trstat_main, "trstat", commands[choice - 1], (const char *)data + 1, in,
			    &out);
		close(out);
	} else {
		summarise((const char *)data + 1, in);
	}
	output_limit_end();
	close(in);
	return 0;
}

/* links: cmd/trencode */
/*
 * encode.c - a stream (packed_stream.h) through every encoder; the first byte chooses it
 */
#include "t/fuzz/packed_stream.h"
#include "t/fuzz/program_run.h"

int trencode_main(int argc, char **argv);
#define main trencode_main
#include "cmd/trencode/main.c"
#undef main

static command encoders_run[] = {
	{"-q", "-t", "text"},
	{"-q", "-t", "text", "--raw", "--ns", "--ts-diff"},
	{"-q", "-t", "text", "-c", "all", "--all-calls", "--thread-ids"},
	{"-q", "-t", "ndjson", "--columns", "+kind,self,caller,recursive,unfinished,group,module"},
	{"-q", "-t", "csv"},
	{"-q", "-t", "tsv", "--columns", "time,name,args,file,line,comm,input"},
	{"-q", "-t", "parquet"},
	{"-q", "-t", "chrome"},
	{"-q", "-t", "chrome", "--unclosed=drop", "--json-int64=string", "--tick=1ns"},
	{"-q", "-t", "perfetto"},
	{"-q", "-t", "folded"},
	{"-q", "-t", "speedscope"},
	{"-q", "-t", "pprof"},
	{"-q", "-t", "callgrind"},
	{"-q", "-t", "ctf"},
	{"-q", "-t", "uftrace"},
	{"-q", "-t", "uftrace", "--resynthesize"},
	{"-q", "-t", "trace-cmd"},
	{"-q", "-t", "trace-cmd", "--resynthesize", "--file-version=6"},
	{"-q", "-t", "trace-cmd", "--file-version=7", "--compress=zlib"},
	{"-q", "-t", "apitrace"},
	{"-q", "-t", "apitrace", "--resynthesize", "--compress=gzip:1"},
	{"-q", "-t", "lttng"},
	{"-q", "-t", "lttng", "--resynthesize"},
	{"-q", "-t", "svg"},
	{"-q", "-t", "svg", "--by-time"},
	{"-q", "-t", "dot"},
	{"-q", "-t", "mermaid", "--weight", "dur"},
	{"-q", "-t", "firefox"},
	{"-q", "-t", "firefox", "--weight=period", "--rebase=none"},
	{"-q", "-t", "folded", "--pair", "offcpu"},
	{"-q", "-t", "pprof", "--pair", "kind == \"sample\" -> kind == \"sample\""},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned choice = size ? data[0] % (sizeof(encoders_run) / sizeof(*encoders_run)) : 0;
	int in, out;

	if (!size)
		return 0;
	in = unpack_stream(data + 1, size - 1);
	output_limit(size);
	program_run(trencode_main, "trencode", encoders_run[choice], NULL, in, &out);
	close(out);
	output_limit_end();
	close(in);
	return 0;
}

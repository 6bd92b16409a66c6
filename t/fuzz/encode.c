/* links: cmd/trencode */
/*
 * encode.c - a stream (packed_stream.h) through every encoder, to one output, to parts, or of a
 * range of time; the first byte chooses it
 */
#include <ftw.h>
#include <sys/stat.h>

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
	{"-q", "-t", "uftrace", "--resynthesize", "--tick=1ns", "--split=1K", "-o", "%"},
	{"-q", "-t", "trace-cmd", "--resynthesize", "--split=1K", "-o", "%"},
	{"-q", "-t", "uftrace", "--split=1us", "-o", "%"},
	{"-q", "-t", "chrome", "--split=1K", "-o", "%"},
	{"-q", "-t", "uftrace", "--resynthesize", "--tick=1ns", "--since=+1us", "--until=+1ms"},
	{"-q", "-t", "trace-cmd", "--resynthesize", "--until=+100us"},
	{"-q", "-t", "chrome", "--tick=1ns", "--since=+1us", "--until=+1ms"},
	{"-q", "-t", "chrome", "--why", "dur >= 0"},
	{"-q", "-t", "perfetto", "--why", "comm =~ \".\""},
};

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned choice = size ? data[0] % (sizeof(encoders_run) / sizeof(*encoders_run)) : 0;
	char directory[] = "/tmp/trutils-fuzz-XXXXXX", parts[sizeof directory + 2];
	int in, out;

	if (!size)
		return 0;
	need(mkdtemp(directory), "no directory");
	snprintf(parts, sizeof parts, "%s/p", directory);
	in = unpack_stream(data + 1, size - 1);
	output_limit(size);
	program_run(trencode_main, "trencode", encoders_run[choice], parts, in, &out);
	close(out);
	output_limit_end();
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	close(in);
	return 0;
}

/*
 * jit_compiler.c - a program that makes functions while it runs, for perf record:
 * jit_compiler map|dump DIRECTORY
 *
 * It names them in DIRECTORY/perf-PID.map, or with their times in DIRECTORY/jit-PID.dump: "first
 * function", "second" and "third;x". With times the third is where the first was. The layout of the
 * dump is that of perf's jitdump-specification.txt.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %edi,%ecx; dec %ecx; jnz to the dec; ret */
static const unsigned char loop[] = {0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

static FILE *out;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(const void *data, size_t n)
{
	fwrite(data, 1, n, out);
}

static void put_u32(uint32_t v)
{
	put(&v, sizeof v);
}

static void put_u64(uint64_t v)
{
	put(&v, sizeof v);
}

static void put_record(uint32_t kind, size_t size)
{
	put_u32(kind);
	put_u32((uint32_t)(16 + size));
	put_u64(now());
}

/* Lines 10 + index at the begin of the function, and 20 + index at its loop. */
static void dump_lines(uint64_t at, uint32_t index)
{
	put_record(2, 16 + 2 * 16 + sizeof "loop.js" + 2);
	put_u64(at);
	put_u64(2);
	put_u64(at);
	put_u32(10 + index);
	put_u32(0);
	put("loop.js", sizeof "loop.js");
	put_u64(at + 2);
	put_u32(20 + index);
	put_u32(0);
	put("\xff", 2);
}

static void dump_code(uint64_t at, const char *name, uint32_t index)
{
	size_t size = strlen(name) + 1;

	put_record(0, 40 + size + sizeof loop);
	put_u32((uint32_t)getpid());
	put_u32((uint32_t)getpid());
	put_u64(at);
	put_u64(at);
	put_u64(sizeof loop);
	put_u64(index);
	put(name, size);
	put(loop, sizeof loop);
}

static void run(unsigned char *at, const char *name, bool dump, uint32_t index, uint32_t turns)
{
	void (*function)(uint32_t);

	if (dump) {
		dump_lines((uintptr_t)at, index);
		dump_code((uintptr_t)at, name, index);
	} else {
		fprintf(out, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, sizeof loop, name);
	}
	fflush(out);
	memcpy(at, loop, sizeof loop);
	memcpy(&function, &at, sizeof function);
	function(turns);
}

int main(int argc, char **argv)
{
	bool dump = argc == 3 && !strcmp(argv[1], "dump");
	unsigned char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[4096];
	int fd;

	if (argc != 3 || code == MAP_FAILED)
		return 2;
	snprintf(path, sizeof path, dump ? "%s/jit-%d.dump" : "%s/perf-%d.map", argv[2], getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!out)
		return 2;
	if (dump) {
		put_u32(0x4a695444);
		put_u32(1);
		put_u32(40);
		put_u32(62);
		put_u32(0);
		put_u32((uint32_t)getpid());
		put_u64(now());
		put_u64(0);
		fflush(out);
		/* this mapping tells perf where the file is */
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 2;
	}
	run(code, "first function", dump, 0, 200000000);
	run(code + 64, "second", dump, 1, 100000000);
	run(code + (dump ? 0 : 128), "third;x", dump, 2, 400000000);
	return 0;
}

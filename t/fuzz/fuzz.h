/*
 * fuzz.h - what the fuzz targets share: a condition that must be true, files in memory, and the
 * limit on what an input may make a program write
 */
#ifndef TR_T_FUZZ_FUZZ_H
#define TR_T_FUZZ_FUZZ_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * No file that is written for an input of n bytes may exceed OUTPUT_LEAST + OUTPUT_FACTOR * n. A
 * text in the dictionary may be named by every row, so honest output grows with n^2 / 64, which is
 * below this for the inputs of a fuzzer (64 KiB at most); deflate and Snappy have at most 1032.
 * An endless loop exceeds any factor. Brotli, Zstandard, xz and bzip2 do so too without a fault:
 * of these OUTPUT_UNPACKED is enough.
 */
enum { OUTPUT_LEAST = 4 << 20, OUTPUT_FACTOR = 4096, OUTPUT_UNPACKED = 64 << 20 };

static inline void need(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static inline void output_too_large(int signal_number)
{
	static const char what[] = "the output is out of proportion to the input\n";

	(void)signal_number;
	if (write(STDERR_FILENO, what, sizeof(what) - 1) < 0)
		_exit(1);
	abort();
}

/* Limit the size of every file that is written from here on; what writes more has an error, or, if
 * fatal, ends the target. */
static inline void output_limit_to(uint64_t bytes, bool fatal)
{
	struct rlimit limit;

	signal(SIGXFSZ, fatal ? output_too_large : SIG_IGN);
	need(!getrlimit(RLIMIT_FSIZE, &limit), "no limit");
	limit.rlim_cur = bytes;
	need(!setrlimit(RLIMIT_FSIZE, &limit), "cannot set the limit");
}

static inline void output_limit(size_t input_size)
{
	output_limit_to(OUTPUT_LEAST + (uint64_t)OUTPUT_FACTOR * input_size, true);
}

/* The fuzzer's own files have no limit. */
static inline void output_limit_end(void)
{
	struct rlimit limit;

	need(!getrlimit(RLIMIT_FSIZE, &limit), "no limit");
	limit.rlim_cur = limit.rlim_max;
	need(!setrlimit(RLIMIT_FSIZE, &limit), "cannot set the limit");
}

/* A file in memory with the bytes, to be read from its start. */
static inline int memory_file(const void *data, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	need(fd >= 0 && write(fd, data, n) == (ssize_t)n && !lseek(fd, 0, SEEK_SET),
	     "no memory file");
	return fd;
}

#endif

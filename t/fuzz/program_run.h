/*
 * program_run.h - a whole program as a fuzz target: command line, an input as standard input, and
 * standard output as a file in memory
 *
 *     #define main trstat_main
 *     #include "cmd/trstat/main.c"
 *     #undef main
 */
#ifndef TR_T_FUZZ_PROGRAM_RUN_H
#define TR_T_FUZZ_PROGRAM_RUN_H

#include <fcntl.h>
#include <getopt.h>
#include <string.h>

#include "common/cli/program.h"
#include "t/fuzz/fuzz.h"

enum { WORDS_MOST = 12 };

/* Words of a command line, ended by NULL; "%" is replaced by the text of the input. */
typedef const char *const command[WORDS_MOST];

/* Run it; in is its standard input, *out becomes the file that it wrote, at its start. Returns the
 * exit status. */
static int program_run(int (*program)(int, char **), const char *name, command words,
		       const char *text, int in, int *out)
{
	char *argv[WORDS_MOST + 2] = {(char *)name};
	int argc = 1, status;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)(strcmp(words[argc - 1], "%") ? words[argc - 1] : text);
	*out = memory_file("", 0);
	need(dup2(in, STDIN_FILENO) == STDIN_FILENO && dup2(*out, STDOUT_FILENO) == STDOUT_FILENO,
	     "cannot set standard input and output");
	optind = 1;
	status = program(argc, argv);
	need(status >= STATUS_OK && status <= STATUS_CONDITION, "an impossible exit status");
	need(!lseek(*out, 0, SEEK_SET), "cannot seek");
	return status;
}

/* The bytes as a pipe that has been closed, or as a file where they do not fit in one. */
static inline int memory_pipe(const void *data, size_t n)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < (int)n ||
	    write(ends[1], data, n) != (ssize_t)n)
		return memory_file(data, n);
	close(ends[1]);
	return ends[0];
}

#endif

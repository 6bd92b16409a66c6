/*
 * program.h - what every program does before its work, and how it ends
 *
 *     int main(int argc, char **argv)
 *     {
 *             struct common_options common;
 *             int status = program_start(&program, argc, argv, &my_options, &common);
 *
 *             if (status >= 0)
 *                     return status;
 *             ... operands are argv[optind] to argv[argc - 1] ...
 *             return status;
 *     }
 */
#ifndef TR_CLI_PROGRAM_H
#define TR_CLI_PROGRAM_H

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/cli/options.h"
#include "common/util/status.h"

#include <stdbool.h>

/*
 * Time for which a program reads on from a pipe after a signal, ms (io.h). A recorder has 2 s to
 * write what it has. A program that reads a stream waits longer, since its end arrives only when
 * the program before has waited, and finished.
 */
enum patience { PATIENCE_FIRST = 2000, PATIENCE_FILTER = 3000, PATIENCE_LAST = 4000 };

struct program {
	const char *name;		  /* "trdecode" */
	const char *operands;		  /* "INPUT..." */
	const char *purpose;		  /* one line */
	const struct option_row *options; /* the program's own, ended by {0}; may be NULL */
	/* Handle an option of the program; arg is valid as long as argv. 0, or -1 with e filled:
	   a usage error. May be NULL if the table is empty. */
	int (*option)(void *ctx, int key, const char *arg, struct error *e);
	int words;	   /* operands before the files: expressions */
	unsigned patience; /* enum patience; 0: PATIENCE_LAST */
	/* Get the HEAD flags (enum head_flags) of the stream that the program writes with its
	   options, -1: it writes no stream. May be NULL: it never does. */
	int (*streams)(const void *ctx);
};

/* -o, --quiet, --verbose, --progress, which every program has. */
struct common_options {
	const struct program *program;
	const void *ctx;    /* the program's own options */
	const char *output; /* NULL: standard output */
	bool quiet, verbose;
	int progress;	/* -1: never (--quiet), 0: if stderr is a terminal, 1: asked for */
	uint64_t given; /* the program's own options that were given: bits by row of the table */
};

/*
 * Start a program: gives SIGPIPE its default action back (parents forget to), makes sure that
 * descriptors 0 to 2 are open, parses the options. A row of the program's own replaces the common
 * one of the same letter or name.
 * Returns -1 to go on, the operands being argv[optind]...; else the exit status to return at once:
 * 0 after --help and --version (2 if they could not be written), 2 after a usage error, which has
 * been printed. *c is set in any case.
 */
int program_start(const struct program *p, int argc, char **argv, void *ctx,
		  struct common_options *c);

/*
 * Write the command of this stage for HEAD: the program's name, its own options with their
 * arguments, and the words, but neither common options nor files. If the command line cannot be
 * parsed, it is the name alone, as it may contain secrets. argv is as program_start left it. -1:
 * out of memory.
 */
int program_stage(const struct program *p, int argc, char **argv, struct buffer *text);

/* Report a usage error found after parsing (a missing operand): print "name: what" and "Try
 * 'name --help'", then act as program_failed. Returns 2. */
int program_usage(const struct common_options *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Refuse options that do not apply to the output format, as program_usage: print the first and
 * return 2. -1: all apply. */
int program_check_format(const struct common_options *c, const char *format);

/* Get the HEAD flags of the stream that the program writes with its options; -1: it writes no
 * stream. */
int program_streams(const struct common_options *c);

/* End the program after a printed error, before it has opened its output: if the next program of
 * the pipe waits for a stream, write a stream that contains the error. Returns 2. */
int program_failed(const struct common_options *c, const struct error *e);

#endif

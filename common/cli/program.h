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

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/output.h"

/*
 * One table of options gives parsing, --help and completion.
 *
 * A table is an array of struct option_row ended by {0}. A long name may be shortened to any
 * unambiguous beginning; options and operands may mix; "--" ends the options.
 */

enum {
	OPTION_HEADING = -1,
	OPTION_ASIDE = 1 << 16, /* keys from here on: the option does not change the output */
};

struct option_row {
	int key;	  /* short letter; >= 256: long only; OPTION_HEADING: help is a heading */
	const char *name; /* long name without "--", may be NULL */
	const char *arg;  /* metavariable, NULL for a flag, "[WHEN]": the argument is optional */
	const char *help; /* may contain \n; NULL: a hidden option, neither in --help nor completed;
			     if it ends with a colon, --help shows the words of complete after it */
	/* NULL, "file", "dir", or the blank-separated words it takes; of a heading whose help is ""
	   the blank-separated output formats that the options below it apply to, or "!" and the
	   formats that they do not apply to */
	const char *complete;
};

/* Rows for a program that prints tables: its option function passes their keys to screen_option. */
enum { OPTION_WIDTH = 0x8100, OPTION_COLOR };
#define SCREEN_OPTION_ROWS                                                                         \
	{OPTION_WIDTH, "width", "N", "fit lines into N characters; 0: any (as in a pipe)", NULL},  \
	{                                                                                          \
		OPTION_COLOR, "color", "[WHEN]", "auto (default: on a terminal), always or never", \
			"auto always never"                                                        \
	}

/* Rows for a program that writes a stream; struct common_options has what they ask for. */
enum { OPTION_COMPRESS = OPTION_ASIDE + 0x100, OPTION_INDEX };
#define ARCHIVE_OPTION_ROWS                                                                        \
	{OPTION_COMPRESS, "compress", "[METHOD]",                                                  \
	 "compress and index the stream\n(zstd:LEVEL, 1 to 19; default: zstd:3)", "zstd zstd:9"},  \
	{                                                                                          \
		OPTION_INDEX, "index", NULL, "index the stream", NULL                              \
	}

/* Called for each option in order; arg is NULL where none was given. 0, or -1 with e filled. */
typedef int option_function(void *ctx, const struct option_row *row, const char *arg,
			    struct error *e);

/* The options of a program. */
struct option_table {
	const struct option_row *const *rows; /* pointers into tables, which belong to the caller */
	size_t n;
	option_function *option;
	void *ctx; /* of option */
};

/*
 * Parse argv by the table and leave optind at the first operand, with the operands moved to the end
 * of argv. Returns 0, or -1 with e->what that names the wrong option. Uses getopt_long, hence its
 * globals: not for two threads.
 */
int options_parse(const struct option_table *table, int argc, char **argv, struct error *e);

/* The rows as --help=all shows them: option column, help column. daily: the blank-separated long
 * names of those that --help shows, each with the first line of its help, which is a whole one;
 * NULL: all. */
void options_help(const struct option_row *const *rows, size_t n, const char *daily, FILE *f);

/*
 * Print the rows for a completion script, a line for each option: names, metavariable, what
 * completes the argument ("file", "directory" or words), the formats and the first line of the
 * help, separated by tabs ("-" for none): "-o --output\tFILE\tfile\twrite to FILE".
 */
void options_complete(const struct option_row *const *rows, size_t n, FILE *f);

/* Test whether options of these formats apply to the output format. */
bool options_apply(const char *formats, const char *format);

/* Parse a whole number that an option takes. Returns 0, or -1 with *e filled. */
int option_number(const char *option, const char *arg, uint64_t *n, struct error *e);

struct screen;

/* Take --width or --color. arg NULL: always. Returns 0, or -1 with *e filled. */
int screen_option(struct screen *s, int key, const char *arg, struct error *e);

/* Add a word to the blank-separated words of an option; a word that does not fit is left out. */
void options_add_word(char *words, size_t size, const char *word);

/* Test whether the row is the {0} that ends a table. */
static inline bool options_end(const struct option_row *row)
{
	return !row->key && !row->name;
}

/* Get the short letter of the row, 0 if it has none. */
static inline int options_letter(const struct option_row *row)
{
	return row->key > ' ' && row->key < 127 ? row->key : 0;
}

/*
 * Time for which a program reads on from a pipe after a signal, ms. A recorder has 2 s to
 * write what it has. A program that reads a stream waits longer, since its end arrives only when
 * the program before has waited, and finished.
 */
enum patience { PATIENCE_FIRST = 2000, PATIENCE_FILTER = 3000, PATIENCE_LAST = 4000 };

struct program {
	const char *name;		  /* "trdecode" */
	const char *operands;		  /* "INPUT..." */
	const char *purpose;		  /* one line */
	const struct option_row *options; /* the program's own, ended by {0}; may be NULL */
	const char *daily; /* long names of those needed every day, for --help; NULL: all */
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
	bool index;	/* of the stream that is written */
	int compress;	/* level of zstd at which it is compressed; 0: it is not */
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

/*
 * Remarks that a run with several outputs prints once.
 *
 *     remarks_collect()                for each output
 *     remark_count(3, "{gap|gaps}")        remark_count(2, "{gap|gaps}")
 *     remarks_print()                  prints "5 gaps"
 *
 * Without remarks_collect the functions print at once, as warn and warn_count do.
 */

/* Print a remark, as warn does; of those collected, each text once. */
void remark(const char *file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Print a remark with a count, as warn_count does; of those collected, one of each format, with the
 * sum. The arguments are those of the first call. */
void remark_count(uint64_t count, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Collect remarks from now on. */
void remarks_collect(void);
/* Print the remarks with counts that were collected, in the order of their first calls. */
void remarks_print(void);

/* --- writes a stream that contains only the cause of its program's failure --- */

struct error;
struct output;
struct printed;
struct writer;

enum { FAILURE_CAUSE = 1200 };

/* Write "program: file: offset: what is wrong", as error_print prints it. */
void failure_cause(const struct error *e, char cause[FAILURE_CAUSE]);

/* Write the complete stream: a HEAD with these flags, and an END. A file that has content
 * already is unchanged. Errors are ignored. printed: as of writer_status. */
void failure_write(struct output *o, uint32_t head_flags, const char *cause,
		   const struct printed *printed);

/* With --strict: report the events that the recorder lost, and record them in the END of a writer;
 * NULL: none. Returns the status of damage if events were lost, else STATUS_OK. */
int failure_of_lost(struct writer *w, uint64_t lost, bool lost_more);

#endif

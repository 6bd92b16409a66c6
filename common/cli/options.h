/*
 * options.h - one table of options gives parsing, --help and completion
 *
 * A table is an array of struct option_row ended by {0}. A long name may be shortened to any
 * unambiguous beginning; options and operands may mix; "--" ends the options.
 */
#ifndef TR_CLI_OPTIONS_H
#define TR_CLI_OPTIONS_H

#include "common/util/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

/* The rows as --help shows them: option column, help column. */
void options_help(const struct option_row *const *rows, size_t n, FILE *f);

/*
 * Print the rows for a completion script, a line for each option: names, metavariable, what
 * completes the argument ("file", "directory" or words), the formats and the first line of the
 * help, separated by tabs ("-" for none): "-o --output\tFILE\tfile\twrite to FILE".
 */
void options_complete(const struct option_row *const *rows, size_t n, FILE *f);

/* Get the blank-separated words that an option takes; "": none are known. */
const char *options_words(const struct option_row *row);
/* Get the formats of the heading above row i, NULL: the option applies to all. */
const char *options_formats(const struct option_row *rows, size_t i);
/* Test whether options of these formats apply to the output format. */
bool options_apply(const char *formats, const char *format);

/* Parse a whole number that an option takes. Returns 0, or -1 with *e filled. */
int option_number(const char *option, const char *arg, uint64_t *n, struct error *e);

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

#endif

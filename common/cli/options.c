#include "common/cli/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "common/value/nearest.h"

/* Value of getopt_long for the long option of row i: it differs from every letter, '?' and ':'.
 * */
enum { LONG_BASE = 0x10000 };

static bool is_option(const struct option_row *row)
{
	return row->key != OPTION_HEADING;
}

static int argument_kind(const struct option_row *row)
{
	if (!row->arg)
		return no_argument;
	return row->arg[0] == '[' ? optional_argument : required_argument;
}

static const struct option_row *find_letter(const struct option_row *const *rows, size_t n, int c)
{
	for (size_t i = 0; i < n; i++)
		if (is_option(rows[i]) && options_letter(rows[i]) == c)
			return rows[i];
	return NULL;
}

static void fill_tables(const struct option_row *const *rows, size_t n, struct option *longs,
			char *shorts)
{
	*shorts++ = ':'; /* distinguish a missing argument from an unknown option, print nothing */
	for (size_t i = 0; i < n; i++) {
		int kind = argument_kind(rows[i]);

		if (!is_option(rows[i]))
			continue;
		if (options_letter(rows[i])) {
			*shorts++ = (char)rows[i]->key;
			for (int k = kind; k; k--)
				*shorts++ = ':';
		}
		if (rows[i]->name)
			*longs++ = (struct option){rows[i]->name, kind, NULL, LONG_BASE + (int)i};
	}
	*shorts = '\0';
	*longs = (struct option){0};
}

/* Count the long names that begin with the name that the user wrote. */
static size_t count_matches(const struct option *longs, const char *word, size_t n)
{
	size_t count = 0;

	for (; longs->name; longs++)
		count += !strncmp(longs->name, word, n);
	return count;
}

static int refuse(int c, const struct option *longs, char **argv, struct error *e)
{
	const char *word = argv[optind - 1];
	int n = (int)strcspn(word, "=");
	struct nearest nearest;

	if (c == ':' && optopt && optopt < LONG_BASE)
		return error_set(e, NULL, NO_OFFSET, "option '-%c' needs an argument", optopt);
	if (c == ':')
		return error_set(e, NULL, NO_OFFSET, "option '%s' needs an argument", word);
	if (optopt >= LONG_BASE)
		return error_set(e, NULL, NO_OFFSET, "option '%.*s' takes no argument", n, word);
	if (optopt)
		return error_set(e, NULL, NO_OFFSET, "unknown option '-%c'", optopt);
	if (count_matches(longs, word + 2, (size_t)n - 2) > 1)
		return error_set(e, NULL, NO_OFFSET, "option '%.*s' is ambiguous", n, word);
	nearest_begin(&nearest, word, (size_t)n);
	for (char name[NEAREST_SIZE]; longs->name; longs++) {
		snprintf(name, sizeof name, "--%s", longs->name);
		nearest_offer(&nearest, name, strlen(name));
	}
	return error_set(e, NULL, NO_OFFSET, "unknown option '%.*s'%s", n, word,
			 nearest_hint(&nearest));
}

/* Add to the error of an option the word that the argument is like, unless the error names one.
 * Returns -1. */
static int suggest_word(const struct option_row *row, const char *arg, struct error *e)
{
	struct nearest nearest;
	size_t n = strlen(e->what);

	if (strstr(e->what, "; did you mean '"))
		return -1;
	nearest_begin(&nearest, arg ? arg : "", arg ? strlen(arg) : 0);
	nearest_offer_words(&nearest, options_words(row));
	snprintf(e->what + n, sizeof e->what - n, "%s", nearest_hint(&nearest));
	return -1;
}

static int parse(const struct option_table *table, const struct option *longs, const char *shorts,
		 int argc, char **argv, struct error *e)
{
	int c;

	optind = 0; /* glibc: start afresh */
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row;

		if (c == '?' || c == ':')
			return refuse(c, longs, argv, e);
		row = c >= LONG_BASE ? table->rows[c - LONG_BASE]
				     : find_letter(table->rows, table->n, c);
		if (row && table->option(table->ctx, row, optarg, e))
			return suggest_word(row, optarg, e);
	}
	return 0;
}

int options_parse(const struct option_table *table, int argc, char **argv, struct error *e)
{
	struct option *longs = calloc(table->n + 1, sizeof *longs);
	char *shorts = malloc(3 * table->n + 2);
	int r;

	if (longs && shorts) {
		fill_tables(table->rows, table->n, longs, shorts);
		r = parse(table, longs, shorts, argc, argv, e);
	} else {
		r = error_no_memory(e);
	}
	free(longs);
	free(shorts);
	return r;
}

/* "-o, --output=FILE"; the length is what printf returns. */
static int option_column(const struct option_row *row, FILE *f)
{
	const char *arg = row->arg ? row->arg : "";
	int letter = options_letter(row);
	bool optional = *arg == '[';
	int n = 0;

	n += letter ? fprintf(f, "  -%c", letter) : fprintf(f, "    ");
	if (row->name)
		n += fprintf(f, "%s --%s", letter ? "," : " ", row->name);
	if (!row->arg)
		return n;
	if (optional)
		return n + fprintf(f, row->name ? "[=%s" : "%s", arg + !!row->name);
	return n + fprintf(f, "%c%s", row->name ? '=' : ' ', arg);
}

/* Print the words that an option takes in lines that fit the help column. */
static void help_words(const char *words, int column, FILE *f)
{
	enum { WIDTH = 50 };

	while (*words) {
		int n = (int)strlen(words);

		for (n = n < WIDTH ? n : WIDTH; words[n] && words[n] != ' ';)
			n--;
		fprintf(f, "%*s%.*s\n", column, "", n, words);
		words += n + (words[n] == ' ');
	}
}

void options_add_word(char *words, size_t size, const char *word)
{
	size_t n = strlen(words);

	if (n + strlen(word) + 2 <= size)
		snprintf(words + n, size - n, "%s%s", n ? " " : "", word);
}

const char *options_words(const struct option_row *row)
{
	bool words = is_option(row) && row->complete && strcmp(row->complete, "file") != 0 &&
		     strcmp(row->complete, "directory") != 0;

	return words ? row->complete : "";
}

const char *options_formats(const struct option_row *rows, size_t i)
{
	while (i && is_option(&rows[i]))
		i--;
	return is_option(&rows[i]) || *rows[i].help ? NULL : rows[i].complete;
}

bool options_apply(const char *formats, const char *format)
{
	bool others = *formats == '!';
	size_t n = strlen(format);

	for (formats += others; *formats; formats += strspn(formats, " ")) {
		size_t word = strcspn(formats, " ");

		if (word == n && !memcmp(formats, format, n))
			return !others;
		formats += word;
	}
	return others;
}

/* "csv, tsv" or "all formats but text". */
static void options_print_formats(const char *formats, FILE *f)
{
	if (*formats == '!')
		fputs("all formats but ", f);
	for (formats += *formats == '!'; *formats; formats++) {
		if (*formats == ' ')
			putc(',', f);
		putc(*formats, f);
	}
}

static void help_heading(const struct option_row *row, FILE *f)
{
	putc('\n', f);
	if (*row->help) {
		fputs(row->help, f);
	} else {
		options_print_formats(row->complete, f);
		putc(':', f);
	}
	putc('\n', f);
}

void options_help(const struct option_row *const *rows, size_t n, FILE *f)
{
	enum { HELP_COLUMN = 28 };

	for (size_t i = 0; i < n; i++) {
		const char *s = rows[i]->help;
		int column;

		if (!s)
			continue;
		if (!is_option(rows[i])) {
			help_heading(rows[i], f);
			continue;
		}
		column = option_column(rows[i], f);
		if (column > HELP_COLUMN - 2) {
			putc('\n', f);
			column = 0;
		}
		for (;;) {
			int length = (int)strcspn(s, "\n");

			fprintf(f, "%*s%.*s\n", HELP_COLUMN - column, "", length, s);
			column = 0;
			if (!s[length])
				break;
			s += length + 1;
		}
		if (s[strlen(s) - 1] == ':')
			help_words(rows[i]->complete, HELP_COLUMN, f);
	}
}

void options_complete(const struct option_row *const *rows, size_t n, FILE *f)
{
	const char *formats = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct option_row *row = rows[i];
		int letter = options_letter(row);

		if (!is_option(row))
			formats = *row->help ? NULL : row->complete;
		if (!is_option(row) || !row->help)
			continue;
		if (letter)
			fprintf(f, "-%c%s", letter, row->name ? " " : "");
		if (row->name)
			fprintf(f, "--%s", row->name);
		fprintf(f, "\t%s\t%s\t", row->arg ? row->arg : "-",
			row->complete ? row->complete : "-");
		if (formats) {
			options_print_formats(formats, f);
			fputs(": ", f);
		}
		fprintf(f, "%.*s\n", (int)strcspn(row->help, "\n"), row->help);
	}
}

int option_number(const char *option, const char *arg, uint64_t *n, struct error *e)
{
	char *end;

	errno = 0;
	*n = strtoull(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end || errno)
		return error_set(e, NULL, NO_OFFSET, "%s needs a number, not '%s'", option, arg);
	return 0;
}

/*
 * program.c - the begin and the end of a program: options, remarks, status
 */
#include "common/cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/stream/writer.h"
#include "common/util/frames.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/output.h"
#include "common/util/screen.h"
#include "common/util/memory.h"
#include "common/util/u128.h"
#include "common/util/version.h"
#include "common/value/scalar.h"
#include "common/value/units.h"

enum { REMARK_TEXT = 512 };

/* The remarks of the run. */
static struct {
	bool collects;
	struct intern printed; /* remarks without a count */
	struct intern formats; /* of remarks with a count */
	struct {
		uint64_t count;
		char *one, *many; /* text for a count of 1, for other counts */
	} * counted;		  /* by number of the format */
	size_t capacity;
} remarks;

void remark(const char *file, const char *fmt, ...)
{
	char text[REMARK_TEXT];
	uint32_t had = remarks.printed.count;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (remarks.collects && intern(&remarks.printed, text, strlen(text)) != INTERN_NONE &&
	    remarks.printed.count == had)
		return;
	warn(file, NO_OFFSET, "%s", text);
}

/* Write a counted remark, of which one form is chosen. */
static void print_form(char text[REMARK_TEXT], const char *fmt, bool one, va_list ap)
{
	char form[REMARK_TEXT];

	warn_choose_forms(form, sizeof form, fmt, one);
	vsnprintf(text, REMARK_TEXT, form, ap);
}

/* Get the number of the remark with a format. INTERN_NONE: none is collected, or out of memory. */
static uint32_t counted_of(const char *fmt)
{
	uint32_t i = remarks.collects ? intern(&remarks.formats, fmt, strlen(fmt)) : INTERN_NONE;

	return i == INTERN_NONE || ARRAY_REACH(remarks.counted, remarks.capacity, i) ? INTERN_NONE
										     : i;
}

void remark_count(uint64_t count, const char *fmt, ...)
{
	char one[REMARK_TEXT], many[REMARK_TEXT];
	uint32_t i = count ? counted_of(fmt) : INTERN_NONE;
	uint64_t *sum;
	va_list ap;

	if (!count)
		return;
	va_start(ap, fmt);
	print_form(one, fmt, true, ap);
	va_end(ap);
	va_start(ap, fmt);
	print_form(many, fmt, false, ap);
	va_end(ap);
	sum = i == INTERN_NONE ? NULL : &remarks.counted[i].count;
	if (sum && !*sum) {
		remarks.counted[i].one = strdup(one);
		remarks.counted[i].many = strdup(many);
	}
	if (sum && remarks.counted[i].one && remarks.counted[i].many)
		add_saturated(sum, count);
	else
		warn(NULL, NO_OFFSET, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

void remarks_collect(void)
{
	remarks.collects = true;
}

void remarks_print(void)
{
	for (uint32_t i = 0; i < remarks.formats.count && i < remarks.capacity; i++) {
		uint64_t count = remarks.counted[i].count;

		if (count)
			warn(NULL, NO_OFFSET, "%" PRIu64 " %s", count,
			     count == 1 ? remarks.counted[i].one : remarks.counted[i].many);
		free(remarks.counted[i].one);
		free(remarks.counted[i].many);
	}
	free(remarks.counted);
	intern_free(&remarks.printed);
	intern_free(&remarks.formats);
	memset(&remarks, 0, sizeof remarks);
}

/* --- failure --- */

void failure_cause(const struct error *e, char cause[FAILURE_CAUSE])
{
	char location[24] = "";

	if (memory_failed()) {
		snprintf(cause, FAILURE_CAUSE, "%.64s: out of memory",
			 program_invocation_short_name);
		return;
	}
	if (e->offset != NO_OFFSET)
		snprintf(location, sizeof location, "0x%" PRIx64 ": ", e->offset);
	snprintf(cause, FAILURE_CAUSE, "%.64s: %s%s%s%s", program_invocation_short_name, e->file,
		 e->file[0] ? ": " : "", location, e->what);
}

void failure_write(struct output *o, uint32_t head_flags, const char *cause,
		   const struct printed *printed)
{
	struct writer w;

	/* the file may be the input itself */
	if (output_has_content(o))
		return;
	if (!writer_init(&w, o, 0)) {
		w.head.flags = head_flags;
		writer_status(&w, STATUS_FAILED, cause, printed);
		if (!writer_begin(&w, 0))
			writer_finish(&w);
	}
	writer_free(&w);
}

int failure_of_lost(struct writer *w, uint64_t lost, bool lost_more)
{
	char message[80] = "the recorder lost " LOST_MORE " (--strict)";

	if (!lost && !lost_more)
		return STATUS_OK;
	if (!lost_more)
		snprintf(message, sizeof message,
			 "the recorder lost %" PRIu64 " event%s (--strict)", lost,
			 lost == 1 ? "" : "s");
	warn(NULL, NO_OFFSET, "%s", message);
	if (w)
		writer_status(w, STATUS_DAMAGED, message, NULL);
	return STATUS_DAMAGED;
}

/* --- options --- */

/* Value of getopt_long for the long option of row i: it differs from every letter, '?' and ':'.
 * */
enum { LONG_BASE = 0x10000 };

static bool is_option(const struct option_row *row)
{
	return row->key != OPTION_HEADING;
}

/* Get the blank-separated words that an option takes; "": none are known. */
static const char *options_words(const struct option_row *row)
{
	bool words = is_option(row) && row->complete && strcmp(row->complete, "file") != 0 &&
		     strcmp(row->complete, "directory") != 0;

	return words ? row->complete : "";
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

/* The options that each program has beside the common ones, for users of a wrong program. A test
 * compares them with --complete-options. */
static const struct {
	const char *program, *options;
} program_options[] = {
	{"trdecode",
	 "-f --from --formats --clock --offset --align --since --until --cpu --tid --type "
	 "--segment --compress --index --max-value --no-unwind --sysroot --map --sort --info "
	 "--list --verify --reindex --all --json "
	 "--strict"},
	{"trsym", "-e --exe --demangle -l --lines -i --inline --kallsyms --sysroot --report "
		  "--compress --index"},
	{"trfilter",
	 "-v --invert -n --limit -c --count -D --depth --with-callers --follow --since --until "
	 "--between "
	 "--sample --by -A --after -B --before --within --keep --drop --scrub --key --strict "
	 "--explain --compress --index"},
	{"trstat",
	 "-g --group -c --columns -s --sort -n --limit -j --jobs -t --to --where --since --until "
	 "--bounds "
	 "--strict --pair --cover --fail-if --fail-if-empty -i --interval --wall --width --color "
	 "--tree "
	 "--callers "
	 "--callees --hist --timeline --heatmap --slowest --unpaired --why --explain-tail --report "
	 "--quantile --diff "
	 "--threshold --alpha --title "
	 "--partial --merge"},
	{"trencode",
	 "-t --to --formats --strict --since --until -n --limit -j --jobs --split -c --columns "
	 "--raw "
	 "--no-plugins --plugin-option --ns --ts-diff -D --depth --all-calls --thread-ids --octal "
	 "--blobs --compress --file-version --resynthesize --tick --unclosed --weight --pair --why "
	 "--table --partition "
	 "--by-time --title --rebase --json-int64 --no-header"},
};

/* Write which programs have the option of n bytes: "; it is an option of trstat and trencode". */
static void other_programs(char *hint, size_t size, const char *option, size_t n)
{
	const char *names[sizeof program_options / sizeof *program_options];
	size_t count = 0, at = 0;
	char word[32];

	*hint = '\0';
	snprintf(word, sizeof word, "%.*s", (int)n, option);
	for (size_t i = 0; i < sizeof program_options / sizeof *program_options; i++)
		if (options_apply(program_options[i].options, word))
			names[count++] = program_options[i].program;
	for (size_t i = 0; i < count && at < size; i++)
		at += (size_t)snprintf(hint + at, size - at, "%s%s",
				       !i		? "; it is an option of "
				       : i + 1 == count ? " and "
							: ", ",
				       names[i]);
}

/* Find the option that takes what was written as an option, "--csv" for "--to=csv", or what that
 * means. NULL: none. */
static const struct option_row *option_taking(const struct option_table *table, const char *word,
					      struct nearest *nearest)
{
	for (size_t i = 0; *word && i < table->n; i++) {
		nearest_begin(nearest, word, strlen(word));
		nearest_offer_words(nearest, options_words(table->rows[i]));
		if (nearest_means(nearest) && argument_kind(table->rows[i]) == required_argument)
			return table->rows[i];
	}
	return NULL;
}

/* Refuse what another option takes as its argument, "--csv". Returns false for others. */
static bool refuse_value(const struct option_table *table, const char *word, struct error *e)
{
	struct nearest nearest;
	const struct option_row *taker = option_taking(table, word + 2, &nearest);

	if (taker && *nearest.second)
		error_set(e, NULL, NO_OFFSET,
			  "unknown option '%s'; did you mean '--%s=%s' or '--%s=%s'?", word,
			  taker->name, nearest.name, taker->name, nearest.second);
	else if (taker)
		error_set(e, NULL, NO_OFFSET, "unknown option '%s'; did you mean '--%s=%s'?", word,
			  taker->name, *nearest.name ? nearest.name : word + 2);
	return taker;
}

/* Refuse an unknown option of n bytes, with what the user may have meant. Returns -1. */
static int unknown_option(const struct option_table *table, const char *word, size_t n,
			  struct error *e)
{
	char others[80], name[NEAREST_SIZE];
	struct nearest nearest;

	if (n > 2 && refuse_value(table, word, e))
		return -1;
	other_programs(others, sizeof others, word, n);
	nearest_begin(&nearest, word, n);
	for (size_t i = 0; i < table->n; i++) {
		const struct option_row *row = table->rows[i];

		if (!is_option(row) || !row->name || !row->help)
			continue;
		snprintf(name, sizeof name, "--%s", row->name);
		nearest_offer(&nearest, name, strlen(name));
	}
	return error_set(e, NULL, NO_OFFSET, "unknown option '%.*s'%s", (int)n, word,
			 *others ? others : nearest_hint(&nearest));
}

/* Test whether an option has this whole name. */
static bool has_row(const struct option_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (table->rows[i]->name && !strcmp(table->rows[i]->name, name))
			return true;
	return false;
}

static int program_refuse(int c, const struct option_table *table, const struct option *longs,
			  char **argv, struct error *e)
{
	const char *word = argv[optind - 1];
	int n = (int)strcspn(word, "=");
	char letter[3] = {'-', (char)optopt};

	if (c == ':' && optopt && optopt < LONG_BASE)
		return error_set(e, NULL, NO_OFFSET, "option '-%c' needs an argument", optopt);
	/* --json is no abbreviation of --json-int64 */
	if (c == ':' && !has_row(table, word + 2) && refuse_value(table, word, e))
		return -1;
	if (c == ':')
		return error_set(e, NULL, NO_OFFSET, "option '%s' needs an argument", word);
	if (optopt >= LONG_BASE)
		return error_set(e, NULL, NO_OFFSET, "option '%.*s' takes no argument", n, word);
	if (optopt)
		return unknown_option(table, letter, 2, e);
	if (count_matches(longs, word + 2, (size_t)n - 2) > 1)
		return error_set(e, NULL, NO_OFFSET, "option '%.*s' is ambiguous", n, word);
	return unknown_option(table, word, (size_t)n, e);
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
			return program_refuse(c, table, longs, argv, e);
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

/* Get the formats of the heading above row i, NULL: the option applies to all. */
static const char *options_formats(const struct option_row *rows, size_t i)
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

/* "csv, tsv" or "all formats but text", in lines of that width, 0: in one line. */
static void options_print_formats(const char *formats, size_t width, FILE *f)
{
	size_t at = 0;

	if (*formats == '!')
		fputs("all formats but ", f);
	for (formats += *formats == '!'; *formats;) {
		size_t n = strcspn(formats, " ");

		fprintf(f, "%.*s", (int)n, formats);
		at += n + 2;
		formats += n + (formats[n] == ' ');
		if (!*formats)
			break;
		if (width && at + strcspn(formats, " ") + 1 > width) {
			fputs(",\n", f);
			at = 0;
		} else {
			fputs(", ", f);
		}
	}
}

enum { HELP_COLUMN = 28, HELP_WIDTH = 80 };

static void help_heading(const struct option_row *row, FILE *f)
{
	putc('\n', f);
	if (*row->help) {
		fputs(row->help, f);
	} else {
		options_print_formats(row->complete, HELP_WIDTH, f);
		putc(':', f);
	}
	putc('\n', f);
}

/* Print the help of an option: with daily its first line. */
static void help_option(const struct option_row *row, bool daily, FILE *f)
{
	const char *s = row->help;
	int column = option_column(row, f);

	if (column > HELP_COLUMN - 2) {
		putc('\n', f);
		column = 0;
	}
	for (;; s++) {
		size_t length = strcspn(s, "\n");

		fprintf(f, "%*s%.*s\n", HELP_COLUMN - column, "", (int)length, s);
		column = 0;
		s += length;
		if (!*s || daily)
			break;
	}
	if (row->help[strlen(row->help) - 1] == ':')
		help_words(row->complete, HELP_COLUMN, f);
}

/* Test whether --help shows an option, or a heading for one of the options below it. */
static bool is_shown(const struct option_row *const *rows, size_t n, const char *daily)
{
	bool heading = !is_option(rows[0]);

	for (size_t i = heading; i < n && is_option(rows[i]) && (heading || !i); i++)
		if (rows[i]->help &&
		    (!daily || (rows[i]->name && options_apply(daily, rows[i]->name))))
			return true;
	return false;
}

void options_help(const struct option_row *const *rows, size_t n, const char *daily, FILE *f)
{
	for (size_t i = 0; i < n; i++)
		if (is_shown(rows + i, n - i, daily)) {
			if (is_option(rows[i]))
				help_option(rows[i], daily, f);
			else
				help_heading(rows[i], f);
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
			options_print_formats(formats, 0, f);
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

int screen_option(struct screen *s, int key, const char *arg, struct error *e)
{
	static const char *const words[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
	uint64_t n;

	if (key == OPTION_WIDTH) {
		if (option_number("--width", arg, &n, e))
			return -1;
		s->limited = true;
		s->width = n < UINT_MAX ? (unsigned)n : UINT_MAX;
		return 0;
	}
	s->when = COLOR_ALWAYS;
	for (size_t i = 0; arg && i < sizeof words / sizeof *words; i++) {
		s->when = (enum color_when)i;
		if (!strcmp(arg, words[i]))
			return 0;
	}
	return arg ? error_set(e, NULL, NO_OFFSET,
			       "--color takes auto, always or never, not '%.64s'", arg)
		   : 0;
}

/* --- program --- */

enum { KEY_VERBOSE = 0x8000, KEY_PROGRESS, KEY_COMPLETE };

static const struct option_row common_rows[] = {
	{OPTION_HEADING, NULL, NULL, "Common options:", NULL},
	{'o', "output", "FILE", "write to FILE, which appears only when complete", "file"},
	{'q', "quiet", NULL, "print only errors on stderr, no warnings", NULL},
	{KEY_VERBOSE, "verbose", NULL, "print more on stderr", NULL},
	{KEY_PROGRESS, "progress", NULL, "show progress even if stderr is not a terminal", NULL},
	{'h', "help", "[all]", "print the options of every day, or all of them", "all"},
	{'V', "version", NULL, "print the version", NULL},
	{KEY_COMPLETE, "complete-options", NULL, NULL, NULL},
	{0},
};

struct start {
	const struct program *program;
	void *ctx;
	struct common_options *common;
	const struct option_row **rows;
	size_t n;
	int print; /* key of the first of --help, --version, --complete-options, else 0 */
	bool all;  /* --help=all */
};

/* Allow as many open files as the system does: each operand that is a file is one. The soft limit
 * is lower only for programs that use select(). */
static void raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Restore SIGPIPE, which a parent may have left ignored or blocked: the program should be killed
 * by it. */
static void restore_sigpipe(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/*
 * Open closed standard descriptors. If one were closed, the next file opened would get its number,
 * and messages would be written into it. Each is opened in the wrong mode, so that using it is an
 * error and not an empty input.
 */
static int open_standard(struct error *e)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_NOCTTY) != fd)
			return error_errno(e, "/dev/null", NO_OFFSET,
					   "cannot open in place of a closed descriptor");
	}
	return 0;
}

static size_t table_length(const struct option_row *row)
{
	size_t n = 0;

	while (row && !options_end(&row[n]))
		n++;
	return n;
}

static bool table_has(const struct option_row *row, const struct option_row *other)
{
	for (; row && !options_end(row); row++) {
		if (row->key == OPTION_HEADING || other->key == OPTION_HEADING)
			continue;
		if (row->key == other->key || (row->name && !strcmp(row->name, other->name)))
			return true;
	}
	return false;
}

static int collect_rows(struct start *s)
{
	const struct option_row *own = s->program->options;
	size_t n = table_length(own), common = table_length(common_rows);

	s->rows = calloc(n + common, sizeof(*s->rows));
	if (!s->rows)
		return -1;
	for (size_t i = 0; i < n; i++)
		s->rows[s->n++] = &own[i];
	for (size_t i = 0; i < common; i++)
		if (!table_has(own, &common_rows[i]))
			s->rows[s->n++] = &common_rows[i];
	return 0;
}

/* Take --compress[=zstd[:LEVEL]]. */
static int compress_option(struct common_options *c, const char *arg, struct error *e)
{
	const char *level = arg && !strncmp(arg, "zstd", 4) ? arg + 4 : arg;
	uint64_t n = FRAMES_LEVEL;

	if (level && *level &&
	    (level == arg || *level != ':' || option_number("--compress", level + 1, &n, e) || !n ||
	     n > FRAMES_LEVEL_MOST))
		return error_set(e, NULL, NO_OFFSET,
				 "--compress takes zstd or zstd:LEVEL, a level from 1 to %d, "
				 "not '%s'",
				 FRAMES_LEVEL_MOST, arg);
	c->compress = (int)n;
	c->index = true;
	return 0;
}

static int program_take_option(void *ctx, const struct option_row *row, const char *arg,
			       struct error *e)
{
	struct start *s = ctx;

	if (row->key == OPTION_COMPRESS)
		return compress_option(s->common, arg, e);
	if (row->key == OPTION_INDEX) {
		s->common->index = true;
		return 0;
	}
	if (row < common_rows || row >= common_rows + sizeof common_rows / sizeof *common_rows) {
		s->common->given |= (uint64_t)1 << (row - s->program->options);
		return s->program->option(s->ctx, row->key, arg, e);
	}
	switch (row->key) {
	case 'o':
		if (!*arg)
			return error_set(e, NULL, NO_OFFSET, "the name of the output is empty");
		s->common->output = arg;
		break;
	case 'q':
		s->common->quiet = true;
		s->common->progress = -1;
		break;
	case KEY_VERBOSE: s->common->verbose = true; break;
	case KEY_PROGRESS: s->common->progress = 1; break;
	default:
		if (arg && strcmp(arg, "all") != 0)
			return error_set(e, NULL, NO_OFFSET, "--help takes all, not '%s'", arg);
		s->all |= arg != NULL;
		if (!s->print)
			s->print = row->key;
	}
	return 0;
}

/* Returns true if the program has an option of that name. */
static bool has_option(const struct program *p, const char *name)
{
	for (const struct option_row *row = p->options; row && (row->key || row->name); row++)
		if (row->name && !strcmp(row->name, name))
			return true;
	return false;
}

static void print_help(const struct start *s)
{
	const struct program *p = s->program;
	const char *daily = s->all ? NULL : p->daily;

	printf("Usage: %s [OPTION]... %s\n%s\n", p->name, p->operands, p->purpose);
	if (!p->options || p->options->key != OPTION_HEADING)
		putchar('\n');
	options_help(s->rows, s->n, daily, stdout);
	if (!daily)
		printf("\nTimes have a unit: %s; sizes: %s\n", UNITS_OF_TIME, UNITS_OF_SIZE);
	printf("\nExit status: 0 success, 1 damaged input, 2 failure%s\n",
	       has_option(p, "fail-if") ? ", 3 --fail-if is true" : "");
	if (daily)
		printf("All options: %s --help=all; each is explained in %s(1)\n", p->name,
		       p->name);
}

static int print_asked(const struct start *s)
{
	struct error e;

	switch (s->print) {
	case 'h': print_help(s); break;
	case 'V': printf("%s (trutils) %s\n", s->program->name, TRUTILS_VERSION); break;
	default: options_complete(s->rows, s->n, stdout);
	}
	if (!fflush(stdout) && !ferror(stdout))
		return STATUS_OK;
	error_errno(&e, "standard output", NO_OFFSET, "%s", "");
	error_print(&e);
	return STATUS_FAILED;
}

int program_streams(const struct common_options *c)
{
	return c->program && c->program->streams ? c->program->streams(c->ctx) : -1;
}

int program_failed(const struct common_options *c, const struct error *e)
{
	int flags = program_streams(c);
	char cause[FAILURE_CAUSE];
	struct output o;

	if (flags < 0 || c->output || output_open(&o, NULL, OUTPUT_BINARY, NULL))
		return STATUS_FAILED;
	failure_cause(e, cause);
	failure_write(&o, (uint32_t)flags, cause, NULL);
	output_close(&o, STATUS_FAILED, NULL);
	return STATUS_FAILED;
}

static int usage(const struct common_options *c, const struct error *e)
{
	error_print(e);
	if (!memory_failed())
		fprintf(stderr, "Try '%s --help'\n", c->program->name);
	return program_failed(c, e);
}

int program_usage(const struct common_options *c, const char *fmt, ...)
{
	struct error e = {.offset = NO_OFFSET};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.what, sizeof e.what, fmt, ap);
	va_end(ap);
	return usage(c, &e);
}

int program_check_format(const struct common_options *c, const char *format)
{
	const struct option_row *row = c->program->options;

	for (size_t i = 0; !options_end(&row[i]); i++) {
		const char *formats = options_formats(row, i);

		if (c->given >> i & 1 && formats && !options_apply(formats, format))
			return program_usage(c, "--%s has no effect on %s; it is for %s%s",
					     row[i].name, format,
					     *formats == '!' ? "all formats but " : "",
					     formats + (*formats == '!'));
	}
	return -1;
}

/* Test whether a word of the command line is -o, which may follow other letters, or --output, which
 * may be shortened. */
static bool is_output(const struct start *s, const char *word)
{
	size_t n;

	if (*word++ != '-')
		return false;
	if (*word == '-') {
		n = strcspn(++word, "=");
		return n && n <= strlen("output") && !strncmp(word, "output", n);
	}
	for (; *word && *word != 'o'; word++) {
		size_t i = 0;

		while (i < s->n && options_letter(s->rows[i]) != *word)
			i++;
		if (i == s->n || s->rows[i]->arg)
			return false;
	}
	return *word == 'o';
}

/* Test whether -o follows the invalid option. */
static bool has_output(const struct start *s, char **argv)
{
	while (*++argv && strcmp(*argv, "--") != 0)
		if (is_output(s, *argv))
			return true;
	return false;
}

static bool program_is_file(const char *path)
{
	return !access(path, F_OK);
}

/* Test whether an operand is an operator of an expression that was not quoted. */
static bool is_operator(const char *word)
{
	static const char *const operators[] = {"==", "!=", "=~", "!~", "<=", ">=", "&&", "||",
						"=",  "+",  "*",  "&",	"|",  "<",  ">"};

	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (!strcmp(word, operators[i]))
			return !program_is_file(word);
	return false;
}

/* Refuse operands in the wrong order: an expression after its file, or the argument of an option
 * without the option. */
static int check_operands(const struct start *s, int argc, char **argv, struct error *e)
{
	int first = optind + s->program->words;

	if (s->program->words && first < argc && is_operator(argv[first]))
		return error_set(e, NULL, NO_OFFSET,
				 "'%s %s' are several words: put the expression in quotes, as in "
				 "'dur > 1ms'",
				 argv[first - 1], argv[first]);
	for (int i = optind; i < first && i < argc; i++)
		if (program_is_file(argv[i]) &&
		    (first < argc ? !program_is_file(argv[first]) : strpbrk(argv[i], "./") != NULL))
			return error_set(e, NULL, NO_OFFSET,
					 first < argc ? "'%s' is a file: the expression comes "
							"before the files"
						      : "'%s' is a file: the expression is missing",
					 argv[i]);
	for (size_t i = 0; first < argc && i < s->n; i++) {
		const struct option_row *row = s->rows[i];

		char letter[2] = {(char)options_letter(row)};

		if (program_is_file(argv[first]) || !options_apply(options_words(row), argv[first]))
			continue;
		return error_set(e, argv[first], NO_OFFSET, "no such file; did you mean '%s%s %s'?",
				 *letter ? "-" : "--", *letter ? letter : row->name, argv[first]);
	}
	return 0;
}

static int common_program_start(struct start *s, int argc, char **argv)
{
	struct error e;

	if (open_standard(&e)) {
		error_print(&e);
		return STATUS_FAILED;
	}
	if (collect_rows(s))
		return program_usage(s->common, "out of memory");
	if (options_parse(&(struct option_table){s->rows, s->n, program_take_option, s}, argc, argv,
			  &e)) {
		if (!s->common->output && has_output(s, argv))
			s->common->output = "";
		return usage(s->common, &e);
	}
	if (s->print)
		return print_asked(s);
	return check_operands(s, argc, argv, &e) ? usage(s->common, &e) : -1;
}

int program_start(const struct program *p, int argc, char **argv, void *ctx,
		  struct common_options *c)
{
	static char line[BUFSIZ]; /* printing needs no memory */
	struct start s = {.program = p, .ctx = ctx, .common = c};
	int r;

	*c = (struct common_options){.program = p, .ctx = ctx};
	restore_sigpipe();
	raise_open_files();
	printed_by_program();
	/* a line is one write, so that lines of several programs are not mixed */
	setvbuf(stderr, line, _IOLBF, sizeof line);
	io_catch_signals(p->patience ? p->patience : PATIENCE_LAST);
	r = common_program_start(&s, argc, argv);
	/* a pipe is typed for one input */
	if (r < 0 && argc - optind - p->words <= 1)
		command_note(argv, optind + p->words < argc ? optind + p->words : argc);
	free(s.rows);
	return r;
}

static int add_text(struct buffer *b, const char *before, const char *text)
{
	return buffer_append(b, before, strlen(before)) || buffer_append(b, text, strlen(text));
}

static int add_option(void *ctx, const struct option_row *row, const char *arg, struct error *e)
{
	char letter[2] = {(char)options_letter(row)};
	bool common =
		row >= common_rows && row < common_rows + sizeof common_rows / sizeof *common_rows;

	if (common || row->key >= OPTION_ASIDE)
		return 0;
	if ((row->name ? add_text(ctx, " --", row->name) : add_text(ctx, " -", letter)) ||
	    (arg && add_text(ctx, "=", arg)))
		return error_no_memory(e);
	return 0;
}

int program_stage(const struct program *p, int argc, char **argv, struct buffer *text)
{
	struct start s = {.program = p};
	int operands = optind, bad;
	struct error e;

	text->size = 0;
	if (add_text(text, "", p->name) || collect_rows(&s))
		return -1;
	bad = options_parse(&(struct option_table){s.rows, s.n, add_option, text}, argc, argv, &e);
	for (int i = 0; !bad && i < p->words && optind + i < argc; i++)
		bad = add_text(text, " ", argv[optind + i]);
	optind = operands;
	free(s.rows);
	if (!bad)
		return 0;
	text->size = strlen(p->name);
	return text->data ? 0 : -1;
}

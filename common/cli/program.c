#include "common/cli/program.h"

#include "common/cli/failure.h"
#include "common/util/memory.h"
#include "common/util/io.h"
#include "common/util/output.h"
#include "common/util/version.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_VERBOSE = 0x8000, KEY_PROGRESS, KEY_COMPLETE };

static const struct option_row common_rows[] = {
	{OPTION_HEADING, NULL, NULL, "Common options:", NULL},
	{'o', "output", "FILE", "write to FILE, which appears only when complete", "file"},
	{'q', "quiet", NULL, "print only errors on stderr, no warnings", NULL},
	{KEY_VERBOSE, "verbose", NULL, "print more on stderr", NULL},
	{KEY_PROGRESS, "progress", NULL, "show progress even if stderr is not a terminal", NULL},
	{'h', "help", NULL, "print this help", NULL},
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
};

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

static int take_option(void *ctx, const struct option_row *row, const char *arg, struct error *e)
{
	struct start *s = ctx;

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
	printf("Usage: %s [OPTION]... %s\n%s\n", s->program->name, s->program->operands,
	       s->program->purpose);
	if (!s->program->options || s->program->options->key != OPTION_HEADING)
		putchar('\n');
	options_help(s->rows, s->n, stdout);
	printf("\nExit status: 0 success, 1 damaged input, 2 failure%s\n",
	       has_option(s->program, "fail-if") ? ", 3 --fail-if is true" : "");
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

static bool is_file(const char *path)
{
	return !access(path, F_OK);
}

/* Refuse operands in the wrong order: an expression after its file, or the argument of an option
 * without the option. */
static int check_operands(const struct start *s, int argc, char **argv, struct error *e)
{
	int first = optind + s->program->words;

	for (int i = optind; i < first && i < argc; i++)
		if (is_file(argv[i]) &&
		    (first < argc ? !is_file(argv[first]) : strpbrk(argv[i], "./") != NULL))
			return error_set(e, NULL, NO_OFFSET,
					 first < argc ? "'%s' is a file: the expression comes "
							"before the files"
						      : "'%s' is a file: the expression is missing",
					 argv[i]);
	for (size_t i = 0; first < argc && i < s->n; i++) {
		const struct option_row *row = s->rows[i];

		char letter[2] = {(char)options_letter(row)};

		if (is_file(argv[first]) || !options_apply(options_words(row), argv[first]))
			continue;
		return error_set(e, argv[first], NO_OFFSET, "no such file; did you mean '%s%s %s'?",
				 *letter ? "-" : "--", *letter ? letter : row->name, argv[first]);
	}
	return 0;
}

static int start(struct start *s, int argc, char **argv)
{
	struct error e;

	if (open_standard(&e)) {
		error_print(&e);
		return STATUS_FAILED;
	}
	if (collect_rows(s))
		return program_usage(s->common, "out of memory");
	if (options_parse(&(struct option_table){s->rows, s->n, take_option, s}, argc, argv, &e)) {
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
	printed_by_program();
	/* a line is one write, so that lines of several programs are not mixed */
	setvbuf(stderr, line, _IOLBF, sizeof line);
	io_catch_signals(p->patience ? p->patience : PATIENCE_LAST);
	r = start(&s, argc, argv);
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

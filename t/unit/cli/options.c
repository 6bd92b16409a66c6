/* Options: parsing, the text of --help, and how a program starts. */
#include "t/unit/tap.h"

#include "common/cli/program.h"

#include <stdlib.h>
#include <unistd.h>

enum { KEY_COLOR = 256, KEY_COLUMN, KEY_HIDDEN, KEY_HEADER };

static const struct option_row table[] = {
	{OPTION_HEADING, NULL, NULL, "Selection:", NULL},
	{'f', "format", "NAME", "the format\n(a second line)", "uftrace lttng"},
	{'v', NULL, NULL, "invert", NULL},
	{KEY_COLOR, "color", "[WHEN]", "colours", "auto always never"},
	{KEY_COLUMN, "column", "N", "refused if 0", NULL},
	{0, "zero", NULL, "a row whose key is 0", NULL},
	{'r', "a-very-long-name-that-needs-its-own-line", "ARGUMENT", "far", NULL},
	{OPTION_HEADING, NULL, NULL, "", "csv tsv"},
	{KEY_HEADER, "header", NULL, "a line of names", NULL},
	{KEY_HIDDEN, "hidden", NULL, NULL, NULL},
	{0},
};

/* What the callback saw: "f=uftrace v color=(null) " */
struct seen {
	char text[256];
};

static int take(struct seen *s, int key, const char *arg, struct error *e)
{
	size_t n = strlen(s->text);

	if (key == KEY_COLUMN && !strcmp(arg, "0"))
		return error_set(e, NULL, NO_OFFSET, "no column 0");
	snprintf(s->text + n, sizeof s->text - n, "%d=%s ", key, arg ? arg : "-");
	return 0;
}

static int take_row(void *ctx, const struct option_row *row, const char *arg, struct error *e)
{
	return take(ctx, row->key, arg, e);
}

static int take_key(void *ctx, int key, const char *arg, struct error *e)
{
	return take(ctx, key, arg, e);
}

static const struct option_row *rows[sizeof table / sizeof *table];

static size_t fill_rows(void)
{
	size_t n = 0;

	for (; !options_end(&table[n]); n++)
		rows[n] = &table[n];
	return n;
}

/* Parse a blank-separated command line; "seen | operands" or "error: what". */
static const char *parsed(const char *line)
{
	static char result[1024];
	char copy[256], *argv[32] = {"prog"}, *save;
	int argc = 1;
	struct seen s = {""};
	struct error e;

	snprintf(copy, sizeof copy, "%s", line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	if (options_parse(&(struct option_table){rows, fill_rows(), take_row, &s}, argc, argv,
			  &e)) {
		snprintf(result, sizeof result, "error: %s", e.what);
		return result;
	}
	snprintf(result, sizeof result, "%s|", s.text);
	for (int i = optind; i < argc; i++) {
		strcat(result, " ");
		strcat(result, argv[i]);
	}
	return result;
}

static void parsing(void)
{
	is_str(parsed(""), "|", "nothing");
	is_str(parsed("-f uftrace a"), "102=uftrace | a", "short with argument");
	is_str(parsed("a -fuftrace b --format=x --format y -"), "102=uftrace 102=x 102=y | a b -",
	       "options and operands mix");
	is_str(parsed("-v -- -v"), "118=- | -v", "-- ends the options");
	is_str(parsed("--color --color=never a"), "256=- 256=never | a", "optional argument");
	is_str(parsed("--zero"), "0=- |", "a key of 0");
	is_str(parsed("--form x"), "102=x |", "a beginning of a name");
	is_str(parsed("--hidden"), "258=- |", "a hidden option is parsed");
	is_str(parsed("--col 1"), "error: option '--col' is ambiguous", "ambiguous");
	is_str(parsed("--nope=3"), "error: unknown option '--nope'", "unknown long");
	is_str(parsed("-vx"), "error: unknown option '-x'", "unknown short");
	is_str(parsed("-?"), "error: unknown option '-?'", "unknown -?");
	is_str(parsed("-f"), "error: option '-f' needs an argument", "short without argument");
	is_str(parsed("a --format"), "error: option '--format' needs an argument",
	       "long without argument");
	is_str(parsed("--zero=1"), "error: option '--zero' takes no argument",
	       "flag with argument");
	is_str(parsed("--column=0"), "error: no column 0", "the program's own refusal");
}

static void printing(void)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	options_help(rows, fill_rows(), NULL, f);
	fclose(f);
	is_str(text,
	       "\nSelection:\n"
	       "  -f, --format=NAME         the format\n"
	       "                            (a second line)\n"
	       "  -v                        invert\n"
	       "      --color[=WHEN]        colours\n"
	       "      --column=N            refused if 0\n"
	       "      --zero                a row whose key is 0\n"
	       "  -r, --a-very-long-name-that-needs-its-own-line=ARGUMENT\n"
	       "                            far\n"
	       "\ncsv, tsv:\n"
	       "      --header              a line of names\n",
	       "help");
	free(text);
	f = open_memstream(&text, &n);
	options_help(rows, fill_rows(), "format zero header", f);
	fclose(f);
	is_str(text,
	       "\nSelection:\n"
	       "  -f, --format=NAME         the format\n"
	       "      --zero                a row whose key is 0\n"
	       "\ncsv, tsv:\n"
	       "      --header              a line of names\n",
	       "help of some options");
	free(text);
	f = open_memstream(&text, &n);
	options_complete(rows, fill_rows(), f);
	fclose(f);
	is_str(text,
	       "-f --format\tNAME\tuftrace lttng\tthe format\n"
	       "-v\t-\t-\tinvert\n"
	       "--color\t[WHEN]\tauto always never\tcolours\n"
	       "--column\tN\t-\trefused if 0\n"
	       "--zero\t-\t-\ta row whose key is 0\n"
	       "-r --a-very-long-name-that-needs-its-own-line\tARGUMENT\t-\tfar\n"
	       "--header\t-\t-\tcsv, tsv: a line of names\n",
	       "completion");
	free(text);
	ok(options_apply("csv tsv", "tsv") && !options_apply("csv tsv", "ts") &&
		   options_apply("!csv tsv", "ts") && !options_apply("!csv tsv", "tsv"),
	   "formats of an option");
}

static void starting(void)
{
	static const struct program p = {.name = "prog",
					 .operands = "INPUT...",
					 .purpose = "Does a thing.",
					 .options = table,
					 .option = take_key,
					 .words = 1};
	struct common_options c;
	struct seen s = {""};
	char *all[] = {"prog", "-o", "x", "-qv", "--verbose", "in", "--progress", NULL};
	char *none[] = {"prog", NULL};

	ok(program_start(&p, 7, all, &s, &c) == -1, "goes on");
	is_str(c.output, "x", "-o");
	ok(c.quiet && c.verbose && c.progress == 1, "--quiet, --verbose, --progress");
	is_str(s.text, "118=- ", "the program's own options go to it");
	ok(program_start(&p, 1, none, &s, &c) == -1 && !c.output && !c.quiet && !c.verbose &&
		   !c.progress,
	   "nothing given");
}

static void stages(void)
{
	static const struct program p = {.name = "prog",
					 .operands = "WORD INPUT...",
					 .purpose = "Does it.",
					 .options = table,
					 .option = take_key,
					 .words = 1};
	char *line[] = {"prog", "-o", "x", "-q", "a == 1", "--fo", "lttng", "in", "-v", NULL};
	char *bad[] = {"prog", "--format", NULL};
	struct common_options c;
	struct buffer b = {0};
	struct seen s = {""};
	int operands;

	ok(program_start(&p, 9, line, &s, &c) == -1 && c.program == &p, "started");
	operands = optind;
	ok(!program_stage(&p, 9, line, &b) && !buffer_u8(&b, 0), "what it does");
	is_str((char *)b.data, "prog --format=lttng -v a == 1", "long names, no files");
	ok(optind == operands, "the operands stay");
	ok(!program_stage(&p, 2, bad, &b) && !buffer_u8(&b, 0), "what cannot be parsed");
	is_str((char *)b.data, "prog", "the name alone");
	buffer_free(&b);
}

static void statuses(void)
{
	static const int order[] = {STATUS_OK, STATUS_CONDITION, STATUS_DAMAGED, STATUS_FAILED};
	bool good = true;

	for (int i = 0; i < 4; i++)
		for (int k = 0; k < 4; k++)
			good &= status_worse(order[i], order[k]) == order[i > k ? i : k];
	ok(good, "failed, damaged, condition, success");
}

int main(void)
{
	parsing();
	printing();
	starting();
	stages();
	statuses();
	return done();
}

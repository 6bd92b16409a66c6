/*
 * command_line.h - the options of trstat
 */
#ifndef TR_TRSTAT_COMMAND_LINE_H
#define TR_TRSTAT_COMMAND_LINE_H

#include "common/cli/program.h"
#include "cmd/trstat/diff.h"
#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/query.h"

struct command_line {
	struct stat_settings settings;
	const char **fail_if; /* conditions of --fail-if; to be freed */
	size_t fail_ifs;
	struct alarms alarms; /* the same, without --diff */
	struct diff_options diff;
};

extern const struct option_row command_line_rows[];
extern char command_line_columns[COLUMN_WORDS_SIZE]; /* names of columns, which main adds */

/* Parse the conditions of --fail-if once all options are known: with --diff they are of its rows.
 * Returns -1 with e filled. */
int command_line_conditions(struct command_line *line, struct error *e);

/* Take one option, for struct program; ctx is the command line. */
int command_line_option(void *ctx, int key, const char *arg, struct error *e);

#endif

/*
 * trstat - tables of an event stream
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trstat/command_line.h"
#include "cmd/trstat/run.h"
#include "cmd/trstat/summary.h"

static int stat_streams(const void *ctx)
{
	const struct command_line *line = ctx;

	return line->settings.partial ? HEAD_SUMMARY : -1;
}

static const struct program program = {
	.name = "trstat",
	.operands = "[FILE]...",
	.purpose = "Print tables of the calls and events of a stream.",
	.options = command_line_rows,
	.option = command_line_option,
	.streams = stat_streams,
};

/* Start the program, once its help has the names of columns. */
static int stat_start(int argc, char **argv, struct command_line *line,
		      struct common_options *common)
{
	columns_add_words(command_line_columns, sizeof command_line_columns);
	return program_start(&program, argc, argv, line, common);
}

int main(int argc, char **argv)
{
	struct command_line line = {0};
	struct common_options common;
	struct query query = {0};
	struct stage stage;
	struct error e;
	int status = stat_start(argc, argv, &line, &common);

	if (status < 0)
		status = program_check_format(&common, table_format_name(line.settings.format));
	if (status >= 0) {
		free(line.fail_if);
		return status;
	}
	if (line.diff.asked) {
		/* -s names columns of both traces, which query_parse does not know */
		line.diff.sort = line.settings.sort;
		line.settings.sort = NULL;
	}
	if (diff_check(&line.settings, &line.diff, argc - optind, &e) ||
	    command_line_conditions(&line, &e) ||
	    partial_check(&line.settings, line.alarms.count, &e) ||
	    (!line.settings.merge &&
	     (query_parse(&query, &line.settings, &e) ||
	      time_window_find_ends(&query.window, argv + optind, argc - optind, &e)))) {
		query_free(&query);
		alarms_free(&line.alarms);
		free(line.fail_if);
		return program_usage(&common, "%s", e.what);
	}
	if (line.diff.asked) {
		query_free(&query);
		status = diff_run(&line.settings, &line.diff, argv + optind, &common);
		free(line.fail_if);
		return status;
	}
	if (!stage_open(&stage, argv + optind, argc - optind, &common) &&
	    !stage_print_to(&stage, common.output,
			    line.settings.partial ? OUTPUT_SUMMARY : OUTPUT_TEXT)) {
		if (!line.settings.merge)
			stage.in.reads_values =
				line.alarms.count ? READS_ALL : query_reads_values(&query);
		stage.alarm = line.alarms.count;
		stage.one_axis = !line.settings.merge && query_has_times(&query);
		if (line.settings.partial || line.settings.merge)
			run_parts(&stage, &line.settings, &query, &line.alarms, argc, argv);
		else if (line.settings.view == VIEW_SLOWEST && !line.settings.pair)
			run_slowest(&stage, &query, &line.alarms);
		else
			run_events(&stage, &query, &line.alarms);
	}
	alarms_free(&line.alarms);
	free(line.fail_if);
	status = stage_finish(&stage);
	query_free(&query);
	stat_settings_free(&line.settings);
	return status;
}

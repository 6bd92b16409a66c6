/* trfilter - keep the events of a stream for which a condition is true */
#include <getopt.h>

#include "cmd/trfilter/run.h"

static int streams(const void *ctx)
{
	const struct settings *s = ctx;

	return s->count || s->explain ? -1 : 0;
}

static const struct program program = {
	.name = "trfilter",
	.operands = "EXPR [FILE]...",
	.words = 1,
	.purpose =
		"Keep the events of a stream for which EXPR is true, such as 'name == \"main\"'.",
	.options = settings_rows,
	.option = settings_option,
	.patience = PATIENCE_FILTER,
	.streams = streams,
};

int main(int argc, char **argv)
{
	struct common_options common;
	struct settings o;
	struct filter f = {0};
	struct stage s;
	struct error e;
	char **files;
	int status, n;

	settings_init(&o, argc, argv);
	status = program_start(&program, argc, argv, &o, &common);
	if (status < 0 && optind == argc)
		status = program_usage(&common, "the expression is missing");
	if (status >= 0) {
		settings_free(&o);
		return status;
	}
	files = argv + optind + 1;
	n = argc - optind - 1;
	if (settings_check(&o, &e) || time_window_find_ends(&o.time_range.window, files, n, &e) ||
	    filter_compile(&f, argv[optind], &e)) {
		error_print(&e);
		status = program_failed(&common, &e);
	} else {
		if (!stage_open(&s, files, n, &common))
			run_filter(&s, &o, &f, argc, argv);
		status = stage_finish(&s);
	}
	filter_free(&f);
	settings_free(&o);
	return status;
}

/*
 * summary.c - any bytes as the payload of a summary: read, joined to another summary, and that one
 * to a table
 */
/* links: cmd/trstat */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trstat/run.h"
#include "cmd/trstat/summary.h"
#include "common/util/screen.h"
#include "t/fuzz/fuzz.h"

static void make(int fd, const uint8_t *data, size_t size)
{
	struct head h = {.stream_id = 5, .flags = HEAD_SUMMARY};
	struct output o;
	struct writer w;
	struct error e;
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (output_open(&o, path, OUTPUT_BINARY, &e) || writer_init(&w, &o, 0) ||
	    writer_pass_head(&w, &h) || writer_meta(&w, 0, SUMMARY_META, data, size) ||
	    writer_pass_end(&w, END_LAST, 0, 0) || writer_finish(&w))
		abort();
	writer_free(&w);
	output_close(&o, 0, &e);
}

static void merge(int in, int out, bool partial)
{
	struct common_options options = {.quiet = true};
	struct screen screen = {0};
	struct stat_settings settings = {
		.merge = true, .partial = partial, .format = TABLE_TSV, .screen = &screen};
	char from[32], to[32], *paths[] = {from}, *argv[] = {(char *)"fuzz", NULL};
	struct alarms none = {0};
	struct query q = {0};
	struct stage stage;

	snprintf(from, sizeof(from), "/dev/fd/%d", in);
	snprintf(to, sizeof(to), "/dev/fd/%d", out);
	options.output = to;
	if (stage_open(&stage, paths, 1, &options) ||
	    stage_print_to(&stage, options.output, OUTPUT_BINARY))
		abort();
	run_query(&stage, &settings, &q, &none, 1, argv);
	query_free(&q);
	stat_settings_free(&settings);
	stage_finish(&stage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int in = memfd_create("in", 0), middle = memfd_create("middle", 0),
	    out = memfd_create("out", 0);

	if (in < 0 || middle < 0 || out < 0)
		abort();
	make(in, data, size);
	output_limit(size);
	merge(in, middle, true);
	merge(in, out, false);
	if (lseek(middle, 0, SEEK_END) > 0)
		merge(middle, out, false);
	output_limit_end();
	close(in);
	close(middle);
	close(out);
	return 0;
}

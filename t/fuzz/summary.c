/*
 * summary.c - any bytes as the payload of a summary: read, joined to another summary, and that one
 * to a table
 */
/* links: cmd/trstat */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trstat/summary/partial.h"
#include "common/stream/writer_rows.h"
#include "t/fuzz/fuzz.h"

/* A lane, types of all sorts and a place for it to name: ids 1 and on. */
static int declare(struct writer *w)
{
	static const struct {
		uint8_t kind;
		uint16_t flags;
	} types[] = {{KIND_ENTER, TYPE_DEPTH},
		     {KIND_LEAVE, TYPE_DEPTH | TYPE_TAIL | TYPE_VALUES},
		     {KIND_ENTER, TYPE_INNER},
		     {KIND_LEAVE, TYPE_INNER},
		     {KIND_ENTER, TYPE_DEPTH | TYPE_KERNEL},
		     {KIND_LEAVE, TYPE_DEPTH | TYPE_KERNEL},
		     {KIND_ENTER, 0},
		     {KIND_LEAVE, TYPE_CALL_NUMBER}};
	uint32_t lane, location, source = writer_source(w, &(struct source_entry){0});

	lane = writer_lane(w,
			   &(struct lane_entry){.source = source,
						.clock = writer_clock(w, &(struct clock_entry){0}),
						.flags = LANE_HAS_TID,
						.tid = 7});
	location = writer_location(w, &(struct location_entry){.name = writer_text(w, "execve")});
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		uint32_t type = writer_type(w, &(struct type_entry){.source = source,
								    .name = writer_text(w, "t"),
								    .kind = types[i].kind,
								    .flags = types[i].flags});

		if (writer_row_data(w, 1, lane, type, location, 0, NULL, 0, NULL, 0,
				    types[i].flags & TYPE_TAIL))
			return -1;
	}
	return 0;
}

static void make(int fd, const uint8_t *data, size_t size)
{
	uint8_t property[16] = {HEAD_PART, 0, 0, 0, 8};
	struct head h = {.stream_id = 5,
			 .flags = HEAD_SUMMARY,
			 .properties = property,
			 .properties_size = sizeof(property)};
	struct output o;
	struct writer w;
	struct error e;
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (output_open(&o, path, OUTPUT_BINARY, &e) || writer_init(&w, &o, 0) ||
	    writer_pass_head(&w, &h) || declare(&w) || writer_flush(&w) ||
	    writer_meta(&w, 0, SUMMARY_META, data, size) || writer_pass_end(&w, END_LAST, 0, 0))
		abort();
	writer_free(&w);
	output_close(&o, 0, &e);
}

static void merge(int in, int out, bool partial)
{
	struct common_options options = {.quiet = true};
	struct settings settings = {.merge = true, .partial = partial, .format = TABLE_TSV};
	struct statistics *st = calloc(1, sizeof(*st));
	struct text *text = malloc(sizeof(*text));
	char from[32], to[32], *paths[] = {from};
	struct parts parts = {0};
	struct merging how = {.out = partial ? &parts : NULL};
	struct query q = {0};
	struct stage stage;
	struct error e;

	snprintf(from, sizeof(from), "/dev/fd/%d", in);
	snprintf(to, sizeof(to), "/dev/fd/%d", out);
	options.output = to;
	if (!st || !text || stage_open(&stage, paths, 1, &options) ||
	    stage_print_to(&stage, OUTPUT_BINARY))
		abort();
	if (!merge_run(&stage, &settings, &q, st, &how)) {
		if (partial) {
			partial_write(&stage, &q, st, &parts, 1, (char *[]){(char *)"fuzz", NULL});
		} else {
			struct table t = query_table(&q);

			t.groups = &st->groups;
			t.run = (struct columns_run){st->first, st->last};
			text_init(text, &stage.output);
			if (!query_write(&q, &t, text, &e))
				text_flush(text, &e);
		}
	}
	parts_free(&parts);
	statistics_free(st);
	query_free(&q);
	for (int i = 0; i < 4; i++)
		free(settings.owned[i]);
	free(st);
	free(text);
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

/* links: cmd/trfilter */
/*
 * filter.c - a stream (packed_stream.h) through conditions on whole calls: little memory, so that
 * what waits goes to the file. Where there is a fast way, it gives the same events as the general
 * one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trfilter/call_filter.h"
#include "cmd/trfilter/follow.h"
#include "cmd/trfilter/run.h"
#include "t/fuzz/packed_stream.h"

/* The first byte chooses; the rest is the stream. */
static const char *const conditions[] = {
	"dur > 100",
	"self > 10 || children > 1",
	"under('main') && !over('fib')",
	"stack =~ ';f.*;' || caller == 'main'",
	"ret == 1 || arg.1 > 2 || has(arg.x)",
	"dur < 1000 && kind == leave",
	"!(dur > 1ms) && depth < 3",
	"cpu == 1 || time > 5",
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* A hash of all rows of the stream in a file, in their order. Closes the file. */
static uint64_t take_rows(int fd)
{
	struct reader r;
	struct block b;
	struct events it;
	struct event e;
	uint64_t hash = 0;
	int got;

	need(!lseek(fd, 0, SEEK_SET) && !reader_open_fd(&r, fd, "result", NULL, 0), "no result");
	while ((got = reader_next(&r, &b))) {
		if (got < 0 || b.kind != BLOCK_EVENTS)
			continue;
		for (events_begin(&it, &b); event_next(&it, &e);) {
			uint64_t key[] = {e.time, e.lane->number, e.type->number, e.location,
					  e.depth};

			hash = hash_bytes(key, sizeof key, hash);
			hash = hash_bytes(e.fixed, e.type->fixed_size, hash);
			hash = hash_bytes(e.tail, e.tail_size, hash);
		}
	}
	reader_close(&r);
	return hash;
}

/* Returns a hash of the rows that are kept. *plain: there is a fast way, and it is to be taken. */
static uint64_t run(const char *path, uint8_t how, bool *plain)
{
	int result = memory_file("", 0);
	char to[40];
	struct common_options common = {.output = to, .quiet = true};
	char *paths[] = {(char *)path}, *argv[] = {(char *)"trfilter", NULL};
	struct context context = {.before = how & 8 ? 3 : 0,
				  .after = how & 8 ? 2 : 0,
				  .within = how & 8 ? 50 : 0,
				  .limit = how & 4 ? 3 : UINT64_MAX};
	struct results results;
	struct time_range limits = {0};
	struct emit x = {.widening = how & 8 ? &context.widening : NULL, .pass = true};
	struct widening *follow = NULL;
	struct call_filter w = {.queue.fd = -1};
	struct filter f;
	struct stage s;
	struct block b;
	struct error e;
	int bad = filter_compile(&f, conditions[how % CONDITIONS], &e);

	need(!(how & 16) || !moment_parse("+100ns", &limits.window.since), "no moment");
	snprintf(to, sizeof to, "/dev/fd/%d", result);
	x.stage = &s;
	results_init(&results, context.limit, &s.in.dictionary);
	if (!x.widening && how & 4)
		x.limit = &results;
	context_init(&context, how & 32 ? 0 : 10000, &s.in.dictionary);
	if (!bad && !stage_open(&s, paths, 1, &common) && !stage_create(&s, 1, argv)) {
		if ((how & 72) == 72)
			x.widening = follow = follow_new(&s.in.dictionary, how & 32 ? 0 : 10000,
							 context.limit, how & 128);
		f.evaluation.dictionary = &s.in.dictionary;
		f.evaluation.quiet = true;
		limits.evaluation = f.evaluation;
		bad = call_filter_init(&w, &f, how & 32 ? 0 : 10000, &e);
		w.invert = how & 64 && !follow;
		w.callers = how & 128 && !follow;
		w.time_range = time_range_any(&limits) ? &limits : NULL;
		w.queue.left_out = x.widening ? ROW_FOR_CONTEXT : ROW_LEFT_OUT;
		if (*plain)
			duration_scan_init(&w);
		*plain = w.duration.only;
		s.holds = true;
		while (!bad && !emit_done(&x) && stage_next(&s, &b)) {
			time_range_block(&limits, &b, b.kind == BLOCK_HEAD && !s.in.head.sequence);
			bad = emit_calls(&x, &w, &b);
		}
		if (!bad)
			emit_finish(&x, &w);
		call_filter_free(&w);
	}
	stage_finish(&s);
	context_free(&context);
	follow_finish(follow, true);
	time_range_free(&limits);
	filter_free(&f);
	results_free(&results);
	return take_rows(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool plain = true;
	char path[40];
	uint64_t rows;
	int input;

	if (!size)
		return 0;
	input = unpack_stream(data + 1, size - 1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", input);
	output_limit(size);
	rows = run(path, data[0], &plain);
	if (plain) {
		plain = false;
		need(run(path, data[0], &plain) == rows, "the fast way gives other events");
	}
	output_limit_end();
	close(input);
	return 0;
}

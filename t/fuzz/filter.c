/* links: cmd/trfilter */
/*
 * filter.c - any bytes as a stream, through conditions on whole calls: little memory, so that what
 * waits goes to the file. Where there is a fast way, it gives as many events as the general one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trfilter/emit.h"
#include "fuzz.h"
#include "seal.h"

/* The first byte chooses; the rest is the stream. */
static const char *const conditions[] = {
	"dur > 100",
	"self > 10 || children > 1",
	"under('f1') && !over('f2')",
	"stack =~ 'f.;f' || caller == 'main'",
	"ret == 1 || arg.1 > 2 || has(arg.x)",
	"dur < 1000 && kind == leave",
	"!(dur > 1ms) && depth < 3",
	"cpu == 1 || time > 5",
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* How many events there are; *plain: is there a fast way, and is it to be taken? */
static uint64_t run(const char *path, uint8_t how, bool *plain)
{
	struct common_options common = {.output = "/dev/null", .quiet = true};
	char *paths[] = {(char *)path}, *argv[] = {(char *)"trfilter", NULL};
	struct context context = {.before = how & 8 ? 3 : 0,
				  .after = how & 8 ? 2 : 0,
				  .within = how & 8 ? 50 : 0,
				  .limit = UINT64_MAX};
	struct limits limits = {
		.since = {.from = how & 16 ? MOMENT_START : MOMENT_NONE, .ns = 100}};
	struct emit x = {.context = how & 8 ? &context : NULL, .pass = true, .limit = UINT64_MAX};
	struct whole w = {.waiting.fd = -1};
	struct filter f;
	struct stage s;
	struct block b;
	struct error e;
	int bad = filter_compile(&f, conditions[how % CONDITIONS], &e);

	x.stage = &s;
	context_init(&context, how & 32 ? 0 : 10000);
	if (!bad && !stage_open(&s, paths, 1, &common) && !stage_create(&s, 1, argv)) {
		f.evaluation.dictionary = &s.in.dictionary;
		f.evaluation.quiet = true;
		limits.evaluation = f.evaluation;
		bad = whole_init(&w, &f, how & 32 ? 0 : 10000, &e);
		w.invert = how & 64;
		w.callers = how & 128;
		w.limits = limits_any(&limits) ? &limits : NULL;
		w.waiting.dropped = x.context ? ROW_ASIDE : ROW_DROP;
		if (*plain)
			whole_plain_init(&w);
		*plain = w.plain;
		s.holds = true;
		while (!bad && !emit_done(&x) && stage_next(&s, &b)) {
			limits_block(&limits, &b, b.kind == BLOCK_HEAD && !s.in.head.sequence);
			bad = emit_whole(&x, &w, &b);
		}
		if (!bad)
			emit_finish(&x, &w);
		whole_free(&w);
	}
	stage_finish(&s);
	context_free(&context);
	limits_free(&limits);
	filter_free(&f);
	return x.matched;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int input = -1;
	bool plain = true;
	char path[40];
	uint64_t count;
	uint8_t *stream;

	if (input < 0)
		input = memfd_create("stream", 0);
	if (!size)
		return 0;
	stream = malloc(size);
	need(stream != NULL, "out of memory");
	memcpy(stream, data + 1, size - 1);
	seal(stream, size - 1);
	need(!ftruncate(input, 0) && pwrite(input, stream, size - 1, 0) == (ssize_t)size - 1,
	     "no memory file");
	free(stream);
	snprintf(path, sizeof path, "/proc/self/fd/%d", input);
	output_limit(size);
	count = run(path, data[0], &plain);
	if (plain) {
		plain = false;
		if (run(path, data[0], &plain) != count)
			abort();
	}
	output_limit_end();
	return 0;
}

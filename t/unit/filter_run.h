/* A condition on whole calls over a file, with what can be said beside it: for tests of trfilter.
 */
#include "cmd/trfilter/call_filter.h"
#include "cmd/trfilter/run.h"

#include "t/unit/filter_streams.h"

enum { NEVER = 1 << 30 }; /* bytes that no test waits with */

struct how {
	bool invert, callers, slow;
	size_t memory;			       /* bytes that may wait there */
	uint64_t before, after, within, limit; /* limit 0: none */
	uint32_t depth;			       /* 0: any */
};

/* Returns the number of rows that are kept. */
static uint64_t run(const char *from, const char *expression, struct how how, const char *to)
{
	struct common_options common = {.output = to, .quiet = true};
	char *paths[] = {(char *)from}, *argv[] = {(char *)"trfilter", NULL};
	struct context context = {.before = how.before,
				  .after = how.after,
				  .within = how.within,
				  .by_time = how.within > 0,
				  .limit = how.limit ? how.limit : UINT64_MAX};
	struct emit x = {.widening = context_any(&context) ? &context.widening : NULL,
			 .pass = true};
	struct results results;
	struct call_filter w = {.queue.fd = -1};
	struct filter f;
	struct stage s;
	struct block b;
	struct error e;
	int bad = filter_compile(&f, expression, &e);

	x.stage = &s;
	results_init(&results, context.limit, &s.in.dictionary);
	if (!x.widening && how.limit)
		x.limit = &results;
	if (bad)
		printf("# %s: %s\n", expression, e.what);
	context_init(&context, how.memory, &s.in.dictionary);
	if (!bad && !stage_open(&s, paths, 1, &common) && !stage_create(&s, 1, argv)) {
		s.one_segment = true;
		f.evaluation.dictionary = &s.in.dictionary;
		bad = call_filter_init(&w, &f, how.memory, &e);
		w.invert = how.invert;
		w.callers = how.callers;
		w.distinguishes_callers = x.widening || how.limit;
		w.max_depth = how.depth ? how.depth : UINT32_MAX;
		w.queue.left_out = x.widening ? ROW_FOR_CONTEXT : ROW_LEFT_OUT;
		if (!how.slow)
			duration_scan_init(&w);
		s.holds = true;
		while (!bad && !emit_done(&x) && stage_next(&s, &b))
			bad = emit_calls(&x, &w, &b);
		bad = bad || emit_finish(&x, &w);
		if (stage_finish(&s) || bad)
			printf("# %s: failed\n", expression);
		call_filter_free(&w);
	}
	context_free(&context);
	results_free(&results);
	filter_free(&f);
	return rows_in(to);
}

static inline bool same(const struct list *a, const struct list *b)
{
	return a->good && b->good && a->n == b->n && !memcmp(a->row, b->row, a->n * sizeof *a->row);
}

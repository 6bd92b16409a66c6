/*
 * svg.c - a flame graph: one file with the merged stacks of a profile, for any browser
 */
#include "cmd/trencode/profile/folded.h"
#include "cmd/trencode/profile/stack_profile.h"
#include "cmd/trencode/timeline/flame_chart.h"
#include "common/picture/flame_graph.h"

static int draw(struct encoding *en, struct stack_profile *p)
{
	struct flame_graph g = {.tree = &p->stacks.tree, .names = &p->stacks.names};

	g.title = picture_title(en);
	g.what = sample_profile_type(&p->samples, &g.unit);
	if (!g.what) {
		bool counts = en->options->weight && !strcmp(en->options->weight, "count");

		g.what = counts ? "calls" : "time of calls";
		g.unit = counts ? "calls" : p->ticks ? "ticks" : "ns";
	} else if (!strcmp(g.unit, "nanoseconds")) {
		g.unit = "ns";
	} else {
		g.unit = g.what;
	}
	return flame_graph_draw(&g, en->text);
}

static int svg_end(struct encoding *en, struct error *e)
{
	struct stack_profile *p = en->state;

	if (stack_profile_finish(p, e))
		return -1;
	if (call_stacks_fold(&p->stacks) || draw(en, p))
		return error_no_memory(e);
	stack_profile_report(en, p, "flame graphs show", UINT64_MAX);
	return 0;
}

const struct encoder encoder_svg = {
	.name = "svg",
	.purpose = "a flame graph, for browsers",
	.output = ENCODER_TEXT,
	.by_time = &encoder_flame_chart,
	.report = true,
	.deferred = true,
	.begin = folded_begin,
	.block = folded_block,
	.end = svg_end,
	.check = stack_profile_check,
	.free = folded_free,
};

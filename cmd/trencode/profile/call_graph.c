/*
 * call_graph.c - who calls whom, as a graph in DOT, for Graphviz, and in Mermaid's language
 *
 * A function is a node, and its callers and callees are connected with it by edges. "all" calls the
 * outermost functions. The number at an edge is the number of its calls, with --weight dur their
 * time; of samples the weight of those whose stack has the edge.
 */
#include <stdlib.h>

#include "cmd/trencode/profile/folded.h"
#include "cmd/trencode/profile/stack_edges.h"
#include "cmd/trencode/profile/stack_profile.h"

/* A language. A node is named f0, f1, ... or all. */
struct graph_language {
	const char *begin, *about, *end; /* the number's meaning is between begin and about */
	const char *name, *after_name;	 /* a node is followed by its name between these */
	const char *arrow, *after_arrow, *after_edge; /* caller arrow [number] callee [number] */
	bool number_first;			      /* the number is before the callee */
	const char *(*escape)(char c); /* what a byte of a name becomes; NULL: itself */
};

static const char *escape_dot(char c)
{
	return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
}

static const char *escape_mermaid(char c)
{
	switch (c) {
	case '"': return "#quot;";
	case '#': return "#35;";
	case '&': return "#amp;";
	case '<': return "#lt;";
	case '>': return "#gt;";
	case '`': return "#96;"; /* text in Markdown */
	default: return NULL;
	}
}

static const struct graph_language dot = {.begin = "digraph calls {\n\t// ",
					  .about = "\n",
					  .end = "}\n",
					  .name = " [label=\"",
					  .after_name = "\"]\n",
					  .arrow = " -> ",
					  .after_arrow = " [label=\"",
					  .after_edge = "\"]\n",
					  .escape = escape_dot};

static const struct graph_language mermaid = {.begin = "flowchart TB\n\t%% ",
					      .about = "\n",
					      .end = "",
					      .name = "[\"",
					      .after_name = "\"]\n",
					      .arrow = " -->|",
					      .after_arrow = "| ",
					      .after_edge = "\n",
					      .number_first = true,
					      .escape = escape_mermaid};

static void put_node(struct text *out, const struct intern *names, uint32_t name)
{
	if (name == names->count) {
		text_puts(out, "all");
		return;
	}
	text_char(out, 'f');
	text_u64(out, name);
}

static void put_name(struct text *out, const struct graph_language *l, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *escape = l->escape(name[i]);

		if (escape)
			text_puts(out, escape);
		else
			text_char(out, name[i]);
	}
}

/* Declare the functions that are called. Returns 0, or -1 when out of memory. */
static int put_functions(struct text *out, const struct graph_language *l,
			 const struct stack_edges *edges, const struct intern *names)
{
	bool *called = calloc(names->count + (size_t)1, sizeof *called);

	if (!called)
		return -1;
	for (size_t i = 0; i < edges->count; i++)
		called[edges->edges[i].callee] = true;
	for (uint32_t i = 0; i < names->count; i++) {
		if (!called[i])
			continue;
		text_char(out, '\t');
		put_node(out, names, i);
		text_puts(out, l->name);
		put_name(out, l, intern_data(names, i), intern_size(names, i));
		text_puts(out, l->after_name);
	}
	free(called);
	return 0;
}

static void put_edge(struct text *out, const struct graph_language *l, const struct intern *names,
		     const struct stack_edge *e, uint64_t number)
{
	text_char(out, '\t');
	put_node(out, names, e->caller);
	text_puts(out, l->arrow);
	if (l->number_first)
		text_u64(out, number);
	else
		put_node(out, names, e->callee);
	text_puts(out, l->after_arrow);
	if (l->number_first)
		put_node(out, names, e->callee);
	else
		text_u64(out, number);
	text_puts(out, l->after_edge);
}

static int write_graph(const struct encoding *en, const struct graph_language *l)
{
	const struct stack_profile *p = en->state;
	const struct intern *names = &p->stacks.names;
	const char *unit, *what = sample_profile_type(&p->samples, &unit);
	const char *weight = en->options->weight;
	bool calls = !what && !(weight && !strcmp(weight, "dur"));
	struct stack_edges edges;
	int bad = stack_edges_make(&edges, &p->stacks.tree, names);

	text_puts(en->text, l->begin);
	text_puts(en->text, calls ? "numbers of calls" : what ? "weights" : "times of calls");
	text_puts(en->text, l->about);
	bad = bad || put_functions(en->text, l, &edges, names);
	for (size_t i = 0; !bad && i < edges.count; i++) {
		const struct stack_edge *e = &edges.edges[i];

		put_edge(en->text, l, names, e, calls ? e->calls : e->weight);
	}
	text_puts(en->text, l->end);
	stack_edges_free(&edges);
	return bad ? -1 : 0;
}

static int graph_end(struct encoding *en, const struct graph_language *l, struct error *e)
{
	struct stack_profile *p = en->state;

	if (stack_profile_finish(p, e))
		return -1;
	if (write_graph(en, l))
		return error_no_memory(e);
	stack_profile_report(en, p, "call graphs show", UINT64_MAX);
	return 0;
}

static int dot_end(struct encoding *en, struct error *e)
{
	return graph_end(en, &dot, e);
}

static int mermaid_end(struct encoding *en, struct error *e)
{
	return graph_end(en, &mermaid, e);
}

const struct encoder encoder_dot = {
	.name = "dot",
	.suffixes = ".gv",
	.purpose = "a call graph, for Graphviz",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.begin = folded_begin_without_comm,
	.block = folded_block,
	.end = dot_end,
	.check = stack_profile_check,
	.free = folded_free,
};

const struct encoder encoder_mermaid = {
	.name = "mermaid",
	.suffixes = ".mmd",
	.purpose = "a call graph, for Markdown pages that draw Mermaid",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.begin = folded_begin_without_comm,
	.block = folded_block,
	.end = mermaid_end,
	.check = stack_profile_check,
	.free = folded_free,
};

/*
 * folded.c - profiles as folded stacks, pictures, call graphs and callgrind files
 */
#include "cmd/trencode/folded.h"

#include <stdlib.h>

#include "cmd/trencode/encoder.h"
#include "cmd/trencode/flame_chart.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/stack_profile.h"
#include "common/calls/stack_tree.h"
#include "common/picture/flame_graph.h"
#include "common/picture/svg.h"
#include "common/util/buffer.h"
#include "common/util/text.h"
#include "common/util/version.h"
#include "common/value/scalar.h"

/*
 * A tree of stacks as a graph: functions, and edges from callers to callees.
 *
 * The cost of an edge is the total time of its calls. Calls that are a recursion of the callee,
 * direct or through others, cost nothing, so the edges to a function add up to its time on the
 * stack. Its weight has a call that contains another call of the same edge once, so it is what
 * passes the edge. In a tree of sums both are the total of the callee's node.
 */

/* The calls from one function to another. The caller of outermost calls is the number of names. */
struct stack_edge {
	uint32_t caller, callee;
	uint64_t calls, cost, weight;
	bool open; /* private */
};

/* One node of the path from the root to the present node. */
struct step {
	uint32_t node;
	uint32_t above; /* index + 1 of the step of the same name above, 0 none */
	uint32_t child; /* to be visited next */
	uint32_t edge;	/* to this step */
	bool first;	/* the edge is not in the path above */
};

/* One graph. */
struct stack_edges {
	const struct stack_tree *tree;
	const struct intern *names;
	struct {
		uint64_t self, calls;
	} * functions;		  /* by name */
	struct stack_edge *edges; /* sorted by caller, then callee */
	size_t count, capacity;
	struct intern keys;
	/* while the tree is walked: the path from the root to the present node */
	struct step *steps;
	size_t nsteps, steps_capacity;
	uint32_t *last; /* by name: index of the innermost step + 1 */
};

/* Get the number of an edge; INTERN_NONE: out of memory. */
static uint32_t edges_find(struct stack_edges *s, uint32_t caller, uint32_t callee)
{
	uint32_t key[2] = {caller, callee}, number = intern(&s->keys, key, sizeof key);

	if (number == s->count) {
		if (ARRAY_GROW(s->edges, s->capacity, s->count))
			return INTERN_NONE;
		s->edges[s->count++] = (struct stack_edge){.caller = caller, .callee = callee};
	}
	return number;
}

static int edges_enter(struct stack_edges *s, uint32_t node)
{
	const struct stack_node *n = &s->tree->nodes[node];
	uint32_t above = s->last[n->name], caller = s->names->count, number;
	struct stack_edge *edge;

	if (ARRAY_GROW(s->steps, s->steps_capacity, s->nsteps))
		return -1;
	if (s->nsteps)
		caller = s->tree->nodes[s->steps[s->nsteps - 1].node].name;
	number = edges_find(s, caller, n->name);
	if (number == INTERN_NONE)
		return -1;
	edge = &s->edges[number];
	s->steps[s->nsteps++] = (struct step){node, above, n->first, number, !edge->open};
	s->last[n->name] = (uint32_t)s->nsteps;
	add_saturated(&s->functions[n->name].self, saturated_u64(n->self));
	s->functions[n->name].calls += n->calls;
	edge->calls += n->calls;
	add_saturated(&edge->cost, above && !s->tree->sums ? 0 : n->total);
	add_saturated(&edge->weight, edge->open && !s->tree->sums ? 0 : n->total);
	edge->open = true;
	return 0;
}

static void edges_leave(struct stack_edges *s)
{
	const struct step *top = &s->steps[--s->nsteps];

	s->last[s->tree->nodes[top->node].name] = top->above;
	if (top->first)
		s->edges[top->edge].open = false;
}

static int edges_walk_tree(struct stack_edges *s)
{
	const struct stack_node *nodes = s->tree->nodes;

	for (uint32_t root = nodes[STACK_ROOT].first; root; root = nodes[root].next) {
		if (edges_enter(s, root))
			return -1;
		while (s->nsteps) {
			struct step *top = &s->steps[s->nsteps - 1];
			uint32_t child = top->child;

			if (child) {
				top->child = nodes[child].next;
				if (edges_enter(s, child))
					return -1;
			} else {
				edges_leave(s);
			}
		}
	}
	return 0;
}

/* Leave out the edges without calls: in a tree of sums, what a function is without its callers. */
static void edges_drop_empty(struct stack_edges *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->edges[i].calls || s->edges[i].cost)
			s->edges[count++] = s->edges[i];
	s->count = count;
}

static int edges_by_names(const void *a, const void *b)
{
	const struct stack_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

/* Make the graph of a tree. Returns 0, or -1 when out of memory. */
static int stack_edges_make(struct stack_edges *s, const struct stack_tree *t,
			    const struct intern *names)
{
	int r = -1;

	*s = (struct stack_edges){.tree = t, .names = names};
	s->functions = calloc(names->count + (size_t)1, sizeof(*s->functions));
	s->last = calloc(names->count + (size_t)1, sizeof(*s->last));
	if (s->functions && s->last)
		r = edges_walk_tree(s);
	if (t->sums)
		edges_drop_empty(s);
	if (!r && s->count)
		qsort(s->edges, s->count, sizeof(*s->edges), edges_by_names);
	return r;
}

static void stack_edges_free(struct stack_edges *s)
{
	free(s->functions);
	free(s->edges);
	free(s->steps);
	free(s->last);
	intern_free(&s->keys);
}

/*
 * "frame;frame;leaf SELF", for flamegraph.pl, inferno and speedscope; of samples "comm;frame;leaf
 * WEIGHT", as stackcollapse-perf.pl writes them.
 *
 * SELF is the time spent in the leaf itself with this stack above it, over all calls and threads,
 * in ns (or ticks, if the trace has no time). Stacks with 0 are left out. Of the difference of two
 * profiles it may be negative.
 */

/* Test whether trsym has found no function at the location. */
static bool is_nameless(const struct location *p)
{
	return p && p->symbol && !p->symbol->name.size && !p->name.size;
}

/* Append the name of a location without a function: that of its file, "[libc.so.6]", as addresses
 * of one file differ from process to process. */
static int folded_file_name(struct buffer *text, const struct location *p)
{
	const char *file = p->symbol->module.text;
	size_t size = p->symbol->module.size;

	scalar_basename(&file, &size);
	return size ? buffer_u8(text, '[') || utf8_append(text, file, size) || buffer_u8(text, ']')
		    : buffer_append(text, "[unknown]", 9);
}

int folded_clean_name(struct buffer *to, const struct location *p, struct text_ref name)
{
	struct buffer text = {0};
	int r;

	if (is_nameless(p) ? folded_file_name(&text, p)
			   : utf8_append(&text, name.text, name.size)) {
		buffer_free(&text);
		return -1;
	}
	name.text = (const char *)text.data;
	name.size = (uint32_t)text.size;
	r = call_stacks_clean_name(to, p, name);
	buffer_free(&text);
	return r;
}

/* The same; the names of threads are no frames. */
static int folded_begin_without_comm(struct encoding *en, struct error *e)
{
	struct stack_profile *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	return stack_profile_init(s, en, folded_clean_name) ? error_no_memory(e) : 0;
}

int folded_begin(struct encoding *en, struct error *e)
{
	struct stack_profile *s;

	if (folded_begin_without_comm(en, e))
		return -1;
	s = en->state;
	s->samples.by_comm = true;
	return 0;
}

static int folded_block(struct encoding *en, const struct block *b, struct error *e)
{
	return stack_profile_block(en->state, b) ? error_no_memory(e) : 0;
}

static int folded_end(struct encoding *en, struct error *e)
{
	struct stack_profile *s = en->state;

	s->samples.is_signed = true;
	if (stack_profile_finish(s, e))
		return -1;
	if (call_stacks_fold(&s->stacks) ||
	    stack_tree_write(&s->stacks.tree, &s->stacks.names, en->text))
		return error_no_memory(e);
	stack_profile_report(en, s, "folded stacks hold", UINT64_MAX);
	return 0;
}

static void folded_free(struct encoding *en)
{
	struct stack_profile *s = en->state;

	if (!s)
		return;
	stack_profile_free(s);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_folded = {
	.name = "folded",
	.suffixes = ".collapsed",
	.purpose = "stacks with their self time in ns, for flame graphs",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.begin = folded_begin,
	.block = folded_block,
	.end = folded_end,
	.check = stack_profile_check,
	.free = folded_free,
};

/* --- a flame graph: one file with the merged stacks of a profile, for any browser --- */

static int draw(struct encoding *en, struct stack_profile *p)
{
	struct flame_graph g = {.tree = &p->stacks.tree, .names = &p->stacks.names};
	char title[SVG_TITLE];

	g.title = svg_title(title, en->options->title, &en->dictionary->sources, en->wall);
	g.what = sample_profile_type(p, &g.unit);
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

static int folded_svg_end(struct encoding *en, struct error *e)
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
	.end = folded_svg_end,
	.check = stack_profile_check,
	.free = folded_free,
};

/*
 * Who calls whom, as a graph in DOT, for Graphviz, and in Mermaid's language.
 *
 * A function is a node, and its callers and callees are connected with it by edges. "all" calls the
 * outermost functions. The number at an edge is the number of its calls, with --weight dur their
 * time; of samples the weight of those whose stack has the edge.
 */

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

static void folded_put_node(struct text *out, const struct intern *names, uint32_t name)
{
	if (name == names->count) {
		text_puts(out, "all");
		return;
	}
	text_char(out, 'f');
	text_u64(out, name);
}

static void folded_put_name(struct text *out, const struct graph_language *l, const char *name,
			    size_t n)
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
static int folded_put_functions(struct text *out, const struct graph_language *l,
				const struct stack_edges *edges)
{
	const struct intern *names = edges->names;
	bool *called = calloc(names->count + (size_t)1, sizeof *called);

	if (!called)
		return -1;
	for (size_t i = 0; i < edges->count; i++)
		called[edges->edges[i].callee] = true;
	for (uint32_t i = 0; i < names->count; i++) {
		if (!called[i])
			continue;
		text_char(out, '\t');
		folded_put_node(out, names, i);
		text_puts(out, l->name);
		folded_put_name(out, l, intern_data(names, i), intern_size(names, i));
		text_puts(out, l->after_name);
	}
	free(called);
	return 0;
}

static void put_edge(struct text *out, const struct graph_language *l, const struct intern *names,
		     const struct stack_edge *e, uint64_t number)
{
	text_char(out, '\t');
	folded_put_node(out, names, e->caller);
	text_puts(out, l->arrow);
	if (l->number_first)
		text_u64(out, number);
	else
		folded_put_node(out, names, e->callee);
	text_puts(out, l->after_arrow);
	if (l->number_first)
		folded_put_node(out, names, e->callee);
	else
		text_u64(out, number);
	text_puts(out, l->after_edge);
}

static int folded_write_graph(const struct encoding *en, const struct graph_language *l)
{
	const struct stack_profile *p = en->state;
	const struct intern *names = &p->stacks.names;
	const char *unit, *what = sample_profile_type(p, &unit);
	const char *weight = en->options->weight;
	bool calls = !what && !(weight && !strcmp(weight, "dur"));
	struct stack_edges edges;
	int bad = stack_edges_make(&edges, &p->stacks.tree, names);

	text_puts(en->text, l->begin);
	text_puts(en->text, calls ? "numbers of calls" : what ? "weights" : "times of calls");
	text_puts(en->text, l->about);
	bad = bad || folded_put_functions(en->text, l, &edges);
	for (size_t i = 0; !bad && i < edges.count; i++) {
		const struct stack_edge *e = &edges.edges[i];

		put_edge(en->text, l, names, e, calls ? e->calls : e->weight);
	}
	text_puts(en->text, l->end);
	stack_edges_free(&edges);
	return bad ? -1 : 0;
}

static int graph_end(struct encoding *en, struct error *e)
{
	struct stack_profile *p = en->state;

	if (stack_profile_finish(p, e))
		return -1;
	if (folded_write_graph(en, en->encoder == &encoder_dot ? &dot : &mermaid))
		return error_no_memory(e);
	stack_profile_report(en, p, "call graphs show", UINT64_MAX);
	return 0;
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
	.end = graph_end,
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
	.end = graph_end,
	.check = stack_profile_check,
	.free = folded_free,
};

/*
 * The format of kcachegrind and callgrind_annotate: self time and calls of functions, and the
 * calls from caller to callee.
 *
 * There are two costs: ns (or ticks), and Calls, which only lines of self time have. The header
 * "event:" is left out, as callgrind_annotate stops at it. Sums of calls have their numbers with
 * the calls alone, as in the files that they are from.
 */

#define ROOT "(all threads)"

/* One run of the encoder. */
struct callgrind {
	struct stack_profile profile;
	struct intern modules, files; /* number + 1: the number in the file */
	uint8_t *named;		      /* by function: the name was written */
	bool sums;		      /* the profile is of sums of calls */
};

static int callgrind_begin(struct encoding *en, struct error *e)
{
	struct callgrind *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	return stack_profile_init(&s->profile, en, profile_name_key) ? error_no_memory(e) : 0;
}

/* Write "(3) name" the first time, then "(3)". */
static int put_compressed(struct text *out, const char *key, struct intern *in, const char *name)
{
	uint32_t had = in->count, number = intern_string(in, *name ? name : "???");

	if (number == INTERN_NONE)
		return -1;
	text_puts(out, key);
	text_char(out, '(');
	text_u64(out, number + 1ull);
	text_char(out, ')');
	if (in->count > had) {
		text_char(out, ' ');
		text_puts(out, *name ? name : "???");
	}
	text_char(out, '\n');
	return 0;
}

/* Get the name of a function. The number of names is the function that calls all outermost
 * ones: readers take the time of a called function from its callers alone. */
static struct profile_name folded_name_of(const struct callgrind *s, uint32_t function)
{
	if (function == s->profile.stacks.names.count)
		return (struct profile_name){.name = ROOT, .module = "", .file = ""};
	return profile_name_of(&s->profile.stacks.names, function);
}

static int folded_put_function(struct callgrind *s, struct text *out, uint32_t function,
			       bool callee)
{
	struct profile_name n = folded_name_of(s, function);

	if (put_compressed(out, callee ? "cob=" : "ob=", &s->modules, n.module) ||
	    put_compressed(out, callee ? "cfi=" : "fl=", &s->files, n.file))
		return -1;
	text_puts(out, callee ? "cfn=(" : "fn=(");
	text_u64(out, function + 1ull);
	text_char(out, ')');
	if (!s->named[function]) {
		s->named[function] = 1;
		text_char(out, ' ');
		text_puts(out, n.name);
	}
	text_char(out, '\n');
	return 0;
}

/* Write the cost, and that of Calls if there is one. */
static void put_costs(const struct callgrind *s, struct text *out, uint64_t ns, uint64_t calls)
{
	text_u64(out, ns);
	if (!s->sums) {
		text_char(out, ' ');
		text_u64(out, calls);
	}
	text_char(out, '\n');
}

/* Leave out the function that calls outermost ones if none of them needs it: they are not called,
 * and no other function calls them. Returns 0, or -1 when out of memory. */
static int callgrind_drop_root(struct callgrind *s, struct stack_edges *edges)
{
	const struct intern *names = &s->profile.stacks.names;
	struct intern called = {0}; /* functions without their lines */
	size_t first = edges->count;
	bool needed = false;

	while (first && edges->edges[first - 1].caller == names->count)
		first--;
	for (size_t i = 0, others = 0; i < edges->count && !needed; i++) {
		const struct stack_edge *edge = &edges->edges[i];
		const char *key = intern_data(names, edge->callee);
		uint32_t number = intern(&called, key + 4, intern_size(names, edge->callee) - 4);

		if (number == INTERN_NONE) {
			intern_free(&called);
			return -1;
		}
		others = i < first ? called.count : others;
		needed = i >= first && (edge->calls || number < others);
	}
	intern_free(&called);
	edges->count = needed ? edges->count : first;
	return 0;
}

static int write_functions(struct callgrind *s, const struct stack_edges *edges, struct text *out)
{
	size_t edge = 0;

	for (uint32_t i = 0; i <= s->profile.stacks.names.count && !text_failed(out); i++) {
		uint64_t self = edges->functions[i].self, calls = edges->functions[i].calls;
		uint32_t line = folded_name_of(s, i).line;

		if (!self && !calls && (edge == edges->count || edges->edges[edge].caller != i))
			continue;
		text_char(out, '\n');
		if (folded_put_function(s, out, i, false))
			return -1;
		text_u64(out, line);
		text_char(out, ' ');
		put_costs(s, out, self, calls);
		for (; edge < edges->count && edges->edges[edge].caller == i; edge++) {
			const struct stack_edge *to = &edges->edges[edge];

			if (folded_put_function(s, out, to->callee, true))
				return -1;
			/* after calls=0 callgrind_annotate takes the cost for the caller's own */
			text_puts(out, "calls=");
			text_u64(out, to->calls ? to->calls : 1);
			text_char(out, ' ');
			text_u64(out, profile_name_of(&s->profile.stacks.names, to->callee).line);
			text_char(out, '\n');
			text_u64(out, line);
			text_char(out, ' ');
			text_u64(out, to->cost);
			text_char(out, '\n');
		}
	}
	return 0;
}

/* Write the names of the costs, without blanks. */
static void folded_put_events(struct callgrind *s, struct text *out)
{
	const char *unit, *type = sample_profile_type(&s->profile, &unit);

	if (!type) {
		text_puts(out, s->profile.ticks ? "ticks Calls\nsummary: " : "ns Calls\nsummary: ");
		return;
	}
	for (; *type; type++)
		text_char(out, (unsigned char)*type > ' ' && *type != ':' ? *type : '_');
	text_puts(out, s->sums ? "\nsummary: " : " Samples\nsummary: ");
}

static int folded_write_all(struct callgrind *s, struct text *out)
{
	struct stack_edges edges;
	uint64_t self = 0, calls = 0;
	int r = stack_edges_make(&edges, &s->profile.stacks.tree, &s->profile.stacks.names);

	s->named = calloc(s->profile.stacks.names.count + (size_t)2, 1);
	s->sums = s->profile.stacks.tree.sums;
	r = r || !s->named || (s->sums && callgrind_drop_root(s, &edges));
	for (uint32_t i = 0; !r && i < s->profile.stacks.names.count; i++) {
		add_saturated(&self, edges.functions[i].self);
		calls += edges.functions[i].calls;
	}
	text_puts(out, "# callgrind format\nversion: 1\ncreator: trencode " TRUTILS_VERSION
		       "\npositions: line\nevents: ");
	folded_put_events(s, out);
	put_costs(s, out, self, calls);
	r = r || write_functions(s, &edges, out);
	text_puts(out, "\ntotals: ");
	put_costs(s, out, self, calls);
	stack_edges_free(&edges);
	return r ? -1 : 0;
}

static int callgrind_end(struct encoding *en, struct error *e)
{
	struct callgrind *s = en->state;

	if (stack_profile_finish(&s->profile, e))
		return -1;
	if (folded_write_all(s, en->text))
		return error_no_memory(e);
	stack_profile_report(en, &s->profile, "callgrind's profiles hold", UINT64_MAX);
	return 0;
}

static void callgrind_free(struct encoding *en)
{
	struct callgrind *s = en->state;

	if (!s)
		return;
	stack_profile_free(&s->profile);
	intern_free(&s->modules);
	intern_free(&s->files);
	free(s->named);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_callgrind = {
	.name = "callgrind",
	.suffixes = "callgrind.out*",
	.purpose = "functions and who calls whom, for kcachegrind, callgrind_annotate",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.begin = callgrind_begin,
	.block = folded_block,
	.end = callgrind_end,
	.check = stack_profile_check,
	.free = callgrind_free,
};

/*
 * callgrind.c - the format of kcachegrind and callgrind_annotate: self time and calls of functions,
 * and the calls from caller to callee
 *
 * There are two costs: ns (or ticks), and Calls, which only lines of self time have. The header
 * "event:" is left out, as callgrind_annotate stops at it.
 */
#include "cmd/trencode/encoder.h"

#include <stdlib.h>

#include "common/util/version.h"
#include "cmd/trencode/profile/names.h"
#include "cmd/trencode/profile/stack_edges.h"
#include "cmd/trencode/profile/stack_profile.h"

#define ROOT "(all threads)"

/* One run of the encoder. */
struct callgrind {
	struct stack_profile profile;
	struct intern modules, files; /* number + 1: the number in the file */
	uint8_t *named;		      /* by function: the name was written */
};

static int callgrind_begin(struct encoding *en, struct error *e)
{
	struct callgrind *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	return stack_profile_init(&s->profile, en, profile_name_key) ? error_no_memory(e) : 0;
}

static int callgrind_block(struct encoding *en, const struct block *b, struct error *e)
{
	struct callgrind *s = en->state;

	return stack_profile_block(&s->profile, b) ? error_no_memory(e) : 0;
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

/* Returns the name of a function. The number of names is the function that calls all outermost
 * ones: readers take the time of a called function from its callers alone. */
static struct profile_name name_of(const struct callgrind *s, uint32_t function)
{
	if (function == s->profile.stacks.names.count)
		return (struct profile_name){.name = ROOT, .module = "", .file = ""};
	return profile_name_of(&s->profile.stacks.names, function);
}

static int put_function(struct callgrind *s, struct text *out, uint32_t function, bool callee)
{
	struct profile_name n = name_of(s, function);

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

static void put_costs(struct text *out, uint32_t line, uint64_t ns, uint64_t calls, bool self)
{
	text_u64(out, line);
	text_char(out, ' ');
	text_u64(out, ns);
	if (self) {
		text_char(out, ' ');
		text_u64(out, calls);
	}
	text_char(out, '\n');
}

static int write_functions(struct callgrind *s, const struct stack_edges *edges, struct text *out)
{
	size_t edge = 0;

	for (uint32_t i = 0; i <= s->profile.stacks.names.count && !text_failed(out); i++) {
		const struct stack_function *f = &edges->functions[i];
		uint32_t line = name_of(s, i).line;

		if (!f->self && !f->calls &&
		    (edge == edges->count || edges->edges[edge].caller != i))
			continue;
		text_char(out, '\n');
		if (put_function(s, out, i, false))
			return -1;
		put_costs(out, line, f->self, f->calls, true);
		for (; edge < edges->count && edges->edges[edge].caller == i; edge++) {
			const struct stack_edge *to = &edges->edges[edge];

			if (put_function(s, out, to->callee, true))
				return -1;
			/* after calls=0 callgrind_annotate takes the cost for the caller's own */
			text_puts(out, "calls=");
			text_u64(out, to->calls ? to->calls : 1);
			text_char(out, ' ');
			text_u64(out, profile_name_of(&s->profile.stacks.names, to->callee).line);
			text_char(out, '\n');
			put_costs(out, line, to->cost, 0, false);
		}
	}
	return 0;
}

/* Write the names of the two costs, without blanks. */
static void put_events(struct callgrind *s, struct text *out)
{
	const char *unit, *type = sample_profile_type(&s->profile.samples, &unit);

	if (!type) {
		text_puts(out, s->profile.ticks ? "ticks Calls\nsummary: " : "ns Calls\nsummary: ");
		return;
	}
	for (; *type; type++)
		text_char(out, (unsigned char)*type > ' ' && *type != ':' ? *type : '_');
	text_puts(out, " Samples\nsummary: ");
}

static int write_all(struct callgrind *s, struct text *out)
{
	struct stack_edges edges;
	uint64_t self = 0, calls = 0;
	int r = stack_edges_make(&edges, &s->profile.stacks.tree, &s->profile.stacks.names);

	s->named = calloc(s->profile.stacks.names.count + (size_t)2, 1);
	r = r || !s->named;
	for (uint32_t i = 0; !r && i < s->profile.stacks.names.count; i++) {
		add_saturated(&self, edges.functions[i].self);
		calls += edges.functions[i].calls;
	}
	text_puts(out, "# callgrind format\nversion: 1\ncreator: trencode " TRUTILS_VERSION
		       "\npositions: line\nevents: ");
	put_events(s, out);
	text_u64(out, self);
	text_char(out, ' ');
	text_u64(out, calls);
	text_char(out, '\n');
	r = r || write_functions(s, &edges, out);
	text_puts(out, "\ntotals: ");
	text_u64(out, self);
	text_char(out, ' ');
	text_u64(out, calls);
	text_char(out, '\n');
	stack_edges_free(&edges);
	return r ? -1 : 0;
}

static int callgrind_end(struct encoding *en, struct error *e)
{
	struct callgrind *s = en->state;

	if (stack_profile_finish(&s->profile, e))
		return -1;
	if (write_all(s, en->text))
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
	.block = callgrind_block,
	.end = callgrind_end,
	.check = stack_profile_check,
	.free = callgrind_free,
};

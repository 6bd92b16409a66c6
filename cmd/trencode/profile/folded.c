/*
 * folded.c - "frame;frame;leaf SELF", for flamegraph.pl, inferno and speedscope; of samples
 * "comm;frame;leaf WEIGHT", as stackcollapse-perf.pl writes them
 *
 * SELF is the time spent in the leaf itself with this stack above it, over all calls and threads,
 * in ns (or ticks, if the trace has no time). Stacks with 0 are left out. Of the difference of two
 * profiles it may be negative.
 */
#include "cmd/trencode/profile/folded.h"

#include <stdlib.h>

#include "common/util/utf8.h"
#include "common/value/scalar.h"
#include "cmd/trencode/profile/stack_profile.h"

/* Test whether trsym has found no function at the location. */
static bool is_nameless(const struct location *p)
{
	return p && p->symbol && !p->symbol->name.size && !p->name.size;
}

/* Append the name of a location without a function: that of its file, "[libc.so.6]", as addresses
 * of one file differ from process to process. */
static int file_name(struct buffer *text, const struct location *p)
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

	if (is_nameless(p) ? file_name(&text, p) : utf8_append(&text, name.text, name.size)) {
		buffer_free(&text);
		return -1;
	}
	name.text = (const char *)text.data;
	name.size = (uint32_t)text.size;
	r = call_stacks_clean_name(to, p, name);
	buffer_free(&text);
	return r;
}

int folded_begin_without_comm(struct encoding *en, struct error *e)
{
	struct stack_profile *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	if (stack_profile_init(s, en, folded_clean_name))
		return error_no_memory(e);
	return 0;
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

int folded_block(struct encoding *en, const struct block *b, struct error *e)
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

void folded_free(struct encoding *en)
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

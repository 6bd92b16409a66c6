#include "cmd/trdecode/input/parts.h"

#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

bool input_take_part(struct input *in, const char *text)
{
	struct part part;

	if (!part_parse(text, &part)) {
		if (!strncmp(text, "split=", 6) || strstr(text, " since="))
			input_damage(in, in->name, NO_OFFSET,
				     "the mark of this part of a trace cannot be read: calls that "
				     "go on in other parts count in each part");
		return false;
	}
	in->part.mark = part;
	return in->part.is = true;
}

static uint64_t shifted_end(uint64_t time, int64_t ns)
{
	return time == PART_NO_TIME ? PART_NO_TIME : merge_shifted(time, ns);
}

void input_shift_part(struct input *in, int64_t ns)
{
	in->part.mark.since = shifted_end(in->part.mark.since, ns);
	in->part.mark.until = shifted_end(in->part.mark.until, ns);
}

void input_join_part(struct input *in)
{
	struct input *before = in->decoding->parts;

	if (!in->part.is || in->part.listed)
		return;
	while (before &&
	       (before->part.mark.split != in->part.mark.split ||
		before->part.mark.number + 1 != in->part.mark.number ||
		before->part.mark.until != in->part.mark.since || before->shift != in->shift))
		before = before->part.next;
	in->part.listed = true;
	in->part.next = in->decoding->parts;
	in->decoding->parts = in;
	in->part.before = before;
	if (before)
		before->part.continued = true;
}

uint32_t input_source(struct input *in, const struct source_entry *e)
{
	const struct input *before;

	input_join_part(in);
	before = in->part.before;
	return in->source = before ? before->source : writer_source(in->decoding->writer, e);
}

bool input_part_mark(const struct input *in, char text[PART_TEXT])
{
	const struct input *first = in;
	struct part part = in->part.mark;

	while (first->part.before)
		first = first->part.before;
	part.since = shifted_end(first->part.mark.since, in->shift);
	part.until = shifted_end(part.until, in->shift);
	part_print(text, &part);
	return in->part.is && (part.since != PART_NO_TIME || part.until != PART_NO_TIME);
}

int input_meta(struct input *in, const char *name, const void *data, size_t n)
{
	return in->part.continued ? 0
				  : writer_meta(in->decoding->writer, in->source, name, data, n);
}

/* --- rows --- */

/* What identifies a stack, and the kind of its calls. */
struct cut_stack {
	uint32_t source, flags, cpu, pid;
	int32_t tid;
	uint32_t kind;
};

/* Get the number of cut calls of the stack of a row. NULL: out of memory. */
static uint32_t *count_of(struct input_cuts *c, const struct new_row *r, const struct type_entry *t)
{
	enum { CLASSES = TYPE_INNER | TYPE_KERNEL | TYPE_PER_CPU };
	struct cut_stack key = {.kind = t->flags & CLASSES};
	struct lane_entry lane;
	uint32_t number;
	bool has_tid;

	writer_lane_of(c->decoding->writer, r->lane, &lane);
	has_tid = lane.flags & LANE_HAS_TID && !(t->flags & TYPE_PER_CPU);
	key.source = lane.source;
	key.flags = has_tid;
	key.tid = has_tid ? lane.tid : 0;
	key.cpu = has_tid && lane.tid ? 0 : (uint32_t)lane.cpu;
	key.pid = has_tid && lane.flags & LANE_PROCESS_TID ? (uint32_t)lane.pid : 0;
	number = intern(&c->stacks, &key, sizeof key);
	if (number == INTERN_NONE || ARRAY_REACH(c->counts, c->ncounts, number)) {
		c->out_of_memory = true;
		return NULL;
	}
	return &c->counts[number];
}

/* Give a leave a type with TYPE_CONTINUES. */
static void mark_leave(struct input_cuts *c, struct new_row *r)
{
	uint32_t *id = id_cache_number(&c->types, &r->type, sizeof r->type);

	if (id && !*id)
		*id = writer_type_with(c->decoding->writer, r->type, TYPE_CONTINUES);
	if (id && *id)
		r->type = *id;
	else
		c->out_of_memory = true;
}

/* Test whether a row has the time of an end of its input that is a cut. */
static bool is_cut(const struct input *in, const struct new_row *r, uint64_t time)
{
	return time != PART_NO_TIME && r->time == merge_shifted(time, in->shift);
}

/* Change a row at a cut. Returns false to leave the row out. */
static bool cut_row(void *ctx, struct new_row *r)
{
	struct input_cuts *c = ctx;
	const struct input *in = c->decoding->running;
	struct type_entry t;
	uint32_t *count;
	bool end, begin;

	if (!in || !in->part.is)
		return true;
	end = is_cut(in, r, in->part.mark.until);
	begin = in->part.before && is_cut(in, r, in->part.mark.since);
	if (!end && !begin)
		return true;
	writer_type_of(c->decoding->writer, r->type, &t);
	if (end && t.kind == KIND_LEAVE && (!in->part.continued || t.flags & TYPE_CALL_NUMBER)) {
		mark_leave(c, r);
		return true;
	}
	if (t.flags & TYPE_CALL_NUMBER || t.kind != (end ? KIND_LEAVE : KIND_ENTER))
		return true;
	count = count_of(c, r, &t);
	if (!count || (!end && !*count))
		return true;
	*count += end ? 1 : -1u;
	return false;
}

/* Mention parts that are no inputs, before a part whose calls continue in them. A part that is read
 * alone is not mentioned. */
static void mention_missing(const struct input *in, const struct input *inputs, int n)
{
	const struct part *mark = &in->part.mark;
	uint32_t first = 0, last = mark->number - 1;
	bool alone = true;

	if (!in->part.is || in->part.before || mark->since == PART_NO_TIME || !mark->number)
		return;
	for (const struct input *other = inputs; other < inputs + n; other++) {
		const struct part *of = &other->part.mark;

		if (other == in || !other->part.is || of->split != mark->split)
			continue;
		alone = false;
		if (other < in && of->number < mark->number && of->number >= first)
			first = of->number + 1;
	}
	if (alone)
		return;
	if (first > last)
		warn(in->name, NO_OFFSET,
		     "part %" PRIu32 " of the trace does not end where this part %" PRIu32
		     " begins: calls that go on count in each",
		     last, mark->number);
	else if (first == last)
		warn(in->name, NO_OFFSET,
		     "part %" PRIu32 " of the trace is no input before this part %" PRIu32
		     ": calls lack their time in it",
		     first, mark->number);
	else
		warn(in->name, NO_OFFSET,
		     "parts %" PRIu32 " to %" PRIu32
		     " of the trace are no inputs before this part %" PRIu32
		     ": calls lack their time in them",
		     first, last, mark->number);
}

void input_cuts_begin(struct input_cuts *c, const struct input *inputs, int n, struct decoding *d)
{
	c->decoding = d;
	for (int i = 0; i < n && !d->quiet; i++)
		mention_missing(&inputs[i], inputs, n);
	for (int i = 0; i < n; i++)
		if (inputs[i].part.is) {
			d->writer->refusal.change = cut_row;
			d->writer->refusal.change_ctx = c;
			writer_refuse_rows(d->writer);
			return;
		}
}

void input_cuts_free(struct input_cuts *c)
{
	intern_free(&c->stacks);
	free(c->counts);
	id_cache_free(&c->types);
}

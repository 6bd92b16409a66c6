/*
 * run.c - a run of trfilter: select rows one by one or with a queue, write a stream, a count or
 * text
 *
 *     trfilter 'name == "read"'          rows of calls of read
 *     trfilter -c 'name == "read"'       2
 *     trfilter --explain 'tid == 7'      keep tid == 7
 *                                             tested once for each thread
 */
#include "cmd/trfilter/run.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trfilter/call_filter.h"
#include "cmd/trfilter/follow.h"
#include "common/stream/index.h"
#include "common/pairs/flows.h"
#include "common/stream/dictionary.h"
#include "common/stream/snapshot.h"
#include "common/util/buffer.h"
#include "common/util/screen.h"
#include "common/util/stack_limit.h"
#include "common/util/text.h"
#include "common/value/aligned.h"
#include "common/value/units.h"

/* --- filter row by row --- */

/* For filtering row by row: decide the calls of a block with that payload. Returns -1 when out of
 * memory. */
static int restored_rows(struct select *s, struct left_out *x, const struct snapshot *snapshot,
			 uint8_t *payload)
{
	bool exact = !s->time_range && restored_exact(s->filter, s->invert);
	struct snapshot_walk w;

	restored_begin(s->filter, s->time_range, snapshot);
	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w))
		while (snapshot_next_frame(&w)) {
			if (w.frame.flags & SNAPSHOT_LEFT_OUT)
				continue;
			exact &= !(w.enter.type->flags & TYPE_PER_CPU);
			if (restored_in_range(s->time_range, &w.enter) &&
			    filter_holds(s->filter, &w.enter) != s->invert)
				continue;
			snapshot_leave_out(payload, w.frames - 1);
			if (left_out_row(x, &w.enter))
				return -1;
		}
	/* no row ended calls */
	filter_ends(s->filter, s->time_range, s->invert);
	if (!exact)
		snapshot_set_flags(payload, SNAPSHOT_APPROXIMATE);
	return 0;
}

/* --- rows that the call engine ignores --- */

static void ignored_init(struct ignored *x, struct dictionary *d)
{
	*x = (struct ignored){.dictionary = d};
	pairing_init(&x->pairing, d);
}

static void ignored_free(struct ignored *x)
{
	pairing_free(&x->pairing);
	free(x->stacks);
	free(x->rows);
}

static bool may_be_ignored(const struct type *t)
{
	return type_is_on_stack(t) && t->flags & (TYPE_INNER | TYPE_KERNEL);
}

static void ignored_examine(struct ignored *x)
{
	const struct pool *types = &x->dictionary->types;

	for (; x->ntypes < types->count; x->ntypes++) {
		const struct type *t = pool_at(types, x->ntypes);

		if (!t || !type_is_on_stack(t))
			continue;
		x->possible |= may_be_ignored(t);
		x->by_engine |= t->flags & (TYPE_KERNEL | TYPE_PER_CPU) ||
				!(t->flags & (TYPE_INNER | TYPE_DEPTH));
	}
}

/* Test whether ignored_block reads the rows of the block, which must be checked then. */
static bool ignored_reads(struct ignored *x, const struct block *b)
{
	bool any = false;

	ignored_examine(x);
	for (uint32_t i = 0; (x->possible || x->by_engine) && i < b->ntypes && !any; i++)
		any = b->types[i]->kind == KIND_DROP ||
		      (x->by_engine ? type_is_on_stack(b->types[i]) : may_be_ignored(b->types[i]));
	return any;
}

/* Test whether it reads the last rows of the block. */
static bool ignored_reads_last(struct ignored *x, const struct block *b)
{
	bool any = false;

	ignored_examine(x);
	for (uint32_t i = 0; !x->by_engine && i < b->ntypes && !any; i++)
		any = type_has_depth(b->types[i]);
	return any;
}

/* Give the engine the calls that are open when the stream declares a type that may be ignored. */
static void start_engine(struct ignored *x)
{
	for (size_t i = 0; i < x->nstacks && !x->started; i++) {
		const struct ignored_stack *s = &x->stacks[i];
		const struct type enter = {.kind = KIND_ENTER,
					   .flags = s->per_cpu ? TYPE_PER_CPU : 0};
		const struct event e = {.lane = s->lane, .type = &enter};

		for (uint32_t n = 0; s->lane && n < s->open && n < CALLS_STACK_LIMIT; n++)
			pairing_enter(&x->pairing, &e, 0);
	}
	x->started = true;
}

/* Count the open calls of a block of which no row can be ignored. */
static void count_open(struct ignored *x, const struct block *b)
{
	const uint8_t *p = b->row_data;

	for (uint32_t i = 0; i < b->rows; i++, p += row_size(b, p)) {
		struct plain_row r = block_row(b, p);
		const struct type *t = b->types[r.type];
		bool per_cpu = t->flags & TYPE_PER_CPU, enter = t->kind == KIND_ENTER;
		const struct lane *lane = b->lanes[r.lane];
		struct ignored_stack *s = &x->stacks[per_cpu ? lane->cpu_thread : lane->thread];

		if (t->kind == KIND_DROP)
			s->open = s->open < r.depth ? s->open : r.depth;
		if (!type_is_on_stack(t))
			continue;
		s->open = t->flags & TYPE_DEPTH ? r.depth + enter
			  : enter		? s->open + 1
						: s->open - (s->open > 0);
		s->lane = lane;
		s->per_cpu = per_cpu;
	}
}

/* Find the ignored rows with the call engine. */
static int ignored_by_engine(struct ignored *x, const struct block *b)
{
	struct events it;
	struct event e;
	uint32_t none;

	events_begin(&it, b);
	for (uint32_t row = 0; event_next(&it, &e); row++) {
		if (e.type->kind == KIND_DROP) {
			pairing_drop(&x->pairing, &e);
		} else if (type_is_on_stack(e.type) && e.type->kind == KIND_LEAVE) {
			pairing_leave(&x->pairing, &e, &none);
		} else if (type_is_on_stack(e.type)) {
			pairing_enter(&x->pairing, &e, 0);
			x->rows[row] = x->pairing.calls.ignored;
			x->any |= x->rows[row];
		}
	}
	return x->pairing.calls.out_of_memory ? -1 : 0;
}

/* Note the last row with a depth, NULL: none. */
static void note_open(struct ignored_stack *s, const struct block *b, const uint8_t *p)
{
	struct plain_row r;
	bool enter;

	if (!p)
		return;
	r = block_row(b, p);
	enter = b->types[r.type]->kind == KIND_ENTER;
	*s = (struct ignored_stack){.open = r.depth + enter,
				    .location = enter ? b->locations[r.location] : 0,
				    .lane = b->lanes[r.lane]};
}

/* Take a row of a type with TYPE_INNER. Returns true if it is an enter that is ignored. */
static bool ignored_inner(struct ignored *x, struct ignored_stack *s, const struct event *e)
{
	uint32_t thread = e->lane->thread;
	bool counts = s->inner;

	if (e->type->kind == KIND_LEAVE) {
		s->inner -= counts;
		return false;
	}
	if (s->open && !counts)
		counts = !calls_enters_exec(&x->pairing.calls, s->location);
	else if (!counts)
		counts = dictionary_left_out(x->dictionary, thread) &&
			 !dictionary_outside(x->dictionary, thread, e->time);
	s->inner += counts;
	return !counts;
}

/* Take the row p, without a depth, which has that number. */
static void take_other_row(struct ignored *x, const struct block *b, const uint8_t *p, uint32_t row)
{
	struct ignored_stack *s;
	struct events it;
	struct event e;

	events_begin(&it, b);
	it.row = p;
	if (!event_next(&it, &e))
		return;
	s = &x->stacks[e.lane->thread];
	note_open(s, b, s->last);
	if (type_is_on_stack(e.type)) {
		x->rows[row] = ignored_inner(x, s, &e);
		x->any |= x->rows[row];
	} else if (e.type->kind == KIND_DROP && !(e.type->flags & (TYPE_KERNEL | TYPE_PER_CPU))) {
		s->inner = 0;
		if (!(e.type->flags & TYPE_INNER) && s->open > e.depth)
			*s = (struct ignored_stack){.open = e.depth, .lane = e.lane};
	}
}

/* Get the row after the rows from p on that have depths and no payload, which are noted. */
static const uint8_t *note_narrow(struct ignored_stack **by_lane, const bool *bare,
				  const struct block *b, const uint8_t *p)
{
	const uint8_t *end = b->row_data + b->row_size;

	for (; p < end && bare[row_type_at(p)]; p += NARROW_ROW)
		by_lane[row_lane_at(p)]->last = p;
	return p;
}

/* Find the ignored rows by the depths of rows. Without note_narrow() 'trfilter 'name == "fib"'
 * SAVED' of t/bench/uftrace.sh takes 1.13 times as long. */
static void ignored_by_depth(struct ignored *x, const struct block *b)
{
	const uint8_t *p = b->row_data, *end = p + b->row_size, *from;
	struct ignored_stack *by_lane[256];
	bool bare[256] = {false};

	for (uint32_t i = 0; i < b->ntypes && i < 256; i++)
		bare[i] = type_has_depth(b->types[i]) && !b->types[i]->fixed_size &&
			  !(b->types[i]->flags & TYPE_TAIL) && !(b->row_flags & EVENTS_WIDE);
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
		by_lane[i] = &x->stacks[b->lanes[i]->thread];
	for (uint32_t row = 0; p < end; row++, p += row_size(b, p)) {
		struct plain_row r;

		from = p;
		p = note_narrow(by_lane, bare, b, p);
		row += (uint32_t)((p - from) / NARROW_ROW);
		if (p == end)
			break;
		r = block_row(b, p);
		if (type_has_depth(b->types[r.type]))
			x->stacks[b->lanes[r.lane]->thread].last = p;
		else
			take_other_row(x, b, p, row);
	}
	for (uint32_t i = 0; i < b->nlanes; i++) {
		struct ignored_stack *s = &x->stacks[b->lanes[i]->thread];

		note_open(s, b, s->last);
	}
}

/* Note the calls that are open after a block without rows that may be ignored. */
static void note_last_open(struct ignored *x, const struct last_rows *last, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++) {
		struct ignored_stack *s = &x->stacks[b->lanes[i]->thread];
		const uint8_t *p = last_row(last, i, LAST_DEPTH);

		/* a thread may have several lanes */
		s->last = !s->last || p > s->last ? p : s->last;
	}
	for (uint32_t i = 0; i < b->nlanes; i++) {
		struct ignored_stack *s = &x->stacks[b->lanes[i]->thread];

		note_open(s, b, s->last);
	}
}

/* Make room for the stacks of the lanes. Returns -1 when out of memory. */
static int reach_stacks(struct ignored *x, const struct block *b)
{
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (ARRAY_REACH(x->stacks, x->nstacks, b->lanes[i]->thread) ||
		    ARRAY_REACH(x->stacks, x->nstacks, b->lanes[i]->cpu_thread))
			return -1;
	return 0;
}

/* Find the ignored rows of a block. last: of the block; its rows are checked if they are not found
 * yet. Returns -1 when out of memory. */
static int ignored_block(struct ignored *x, struct last_rows *last, const struct block *b)
{
	bool reads = ignored_reads(x, b);

	x->any = false;
	if (!reads && !ignored_reads_last(x, b))
		return 0;
	if (reach_stacks(x, b) || (!reads && last_rows_find(last, b)))
		return -1;
	if (!reads) {
		note_last_open(x, last, b);
		return 0;
	}
	if (!x->possible) {
		count_open(x, b);
		return 0;
	}
	if (ARRAY_REACH(x->rows, x->capacity, b->rows))
		return -1;
	memset(x->rows, 0, b->rows);
	if (!x->by_engine) {
		ignored_by_depth(x, b);
		return 0;
	}
	start_engine(x);
	return ignored_by_engine(x, b);
}

/* Note the open calls of a SNAPSHOT in the stacks. Returns -1 when out of memory. */
static int restore_stacks(struct ignored *x, const struct snapshot *snapshot)
{
	struct snapshot_walk w;

	snapshot_walk(&w, snapshot);
	while (snapshot_next_thread(&w)) {
		uint32_t stack = snapshot_stack(w.lane, w.thread.flags);
		struct ignored_stack *s;

		if (ARRAY_REACH(x->stacks, x->nstacks, stack))
			return -1;
		s = x->stacks;
		s += stack;
		if (!(w.thread.flags & SNAPSHOT_CONTINUED))
			*s = (struct ignored_stack){.open = w.thread.unseen,
						    .lane = w.lane,
						    .per_cpu = w.thread.flags & SNAPSHOT_PER_CPU};
		while (snapshot_next_frame(&w)) {
			if (w.frame.flags & SNAPSHOT_LEFT_OUT)
				continue;
			if (w.enter.type->flags & TYPE_INNER) {
				s->inner++;
			} else if (type_is_on_stack(w.enter.type)) {
				s->open = w.frame.depth + 1;
				s->location = w.enter.location;
				s->inner = 0;
			}
		}
	}
	return 0;
}

/* Note the open calls of a SNAPSHOT. Returns -1 when out of memory. */
static int ignored_restore(struct ignored *x, const struct block *b)
{
	struct error e;

	ignored_examine(x);
	if (x->possible && x->by_engine) {
		start_engine(x);
		return calls_restore(&x->pairing.calls, b, &e);
	}
	if (!b->snapshot->continues && x->nstacks)
		memset(x->stacks, 0, x->nstacks * sizeof *x->stacks);
	return restore_stacks(x, b->snapshot);
}

/* --- select rows, and pass them on --- */

static int select_from(struct emit_rows *x, struct block *b, enum selected *selected)
{
	struct select *select = x->select;
	struct stage *s = x->stage;
	struct error e;
	int bad = select_block(select, b, selected);

	if (!bad && *selected != SELECTED_NONE && stage_rows(s, b))
		*selected = SELECTED_NONE;
	if (!bad && *selected == SELECTED_ROWS)
		bad = select_rows(select, b, selected);
	if (!bad && x->results)
		bad = select_limit(select, b, x->results, selected);
	if (select->time_range && select->time_range->window.failed)
		return stage_fail(s, &select->time_range->window.error);
	if (!bad)
		return 0;
	error_set(&e, NULL, NO_OFFSET, "out of memory");
	return stage_fail(s, &e);
}

/* Pass on the rows of select->block, some of which have flags. */
static int pass_ends(struct emit_rows *x, const struct select *select)
{
	const struct row_ends *ends = select->ends, *last = ends + select->nends;
	struct events it;
	struct event e;
	uint32_t row = 0;

	for (events_begin(&it, &select->block); event_next(&it, &e); row++) {
		uint8_t state = ROW_KEEP;

		if (ends < last && ends->row == row)
			state = (ends++)->state;
		if (row_flags(state) && drops_put(&x->drops, x->stage, &select->block, &e, state))
			return -1;
		if (row_passes(state) && stage_row(x->stage, &select->block, &e))
			return -1;
	}
	return 0;
}

enum { SPARSE = 4 };

/* Pass on rows: many as a block of their own, few in the block that is being filled. */
static int pass_some(struct emit_rows *x, struct block *b, const struct block *from)
{
	struct stage *s = x->stage;
	struct events it;
	struct event e;

	if (x->select->nends)
		return pass_ends(x, x->select);
	if (b->row_size >= DENSE_ROWS || b->row_size * SPARSE >= from->row_size)
		return stage_pass(s, b);
	for (events_begin(&it, b); event_next(&it, &e);)
		if (stage_row(s, b, &e))
			return -1;
	return 0;
}

/* Take the open calls of a SNAPSHOT, and pass it on. */
static int emit_snapshot(struct emit_rows *x, const struct block *b)
{
	struct block copy = *b;
	uint8_t *payload = malloc(b->length);
	int bad;

	if (!payload)
		return stage_no_memory(x->stage);
	memcpy(payload, b->payload, b->length);
	if (restored_rows(x->select, &x->left_out, b->snapshot, payload) ||
	    restored_ends(&x->ends, b->snapshot) || ignored_restore(&x->ignored, b))
		bad = stage_no_memory(x->stage);
	else
		bad = restored_pass(x->stage, &copy, payload, x->stage->in.head.sequence);
	free(payload);
	return bad;
}

void emit_rows_init(struct emit_rows *x, struct stage *s, struct select *select)
{
	*x = (struct emit_rows){.stage = s, .select = select};
	filter_begin(select->filter);
	ends_init(&x->ends, &s->in.dictionary);
	ignored_init(&x->ignored, &s->in.dictionary);
}

void emit_rows_free(struct emit_rows *x)
{
	ends_free(&x->ends);
	left_out_free(&x->left_out);
	ignored_free(&x->ignored);
}

/* Get the kept block with the number of rows that are really kept. */
static struct block without_ends(const struct select *select, const struct block *kept)
{
	struct block b = *kept;

	for (size_t i = 0; i < select->nends; i++)
		b.rows -= !row_passes(select->ends[i].state);
	return b;
}

/* Note that the rows with flags that are not kept are left out. Returns -1 when out of memory. */
static int left_out_ends(struct emit_rows *x)
{
	const struct row_ends *ends = x->select->ends;
	struct events it;
	struct event e;
	uint32_t row = 0;
	size_t i = 0;

	for (events_begin(&it, &x->select->block); i < x->select->nends && event_next(&it, &e);
	     row++) {
		if (ends[i].row != row)
			continue;
		if (!row_passes(ends[i++].state) && left_out_row(&x->left_out, &e))
			return -1;
	}
	return 0;
}

/* Read all rows, also those that are not kept, for left_out. */
static int emit_read_rows(struct emit_rows *x, struct block *b, const struct block *kept)
{
	struct stage *s = x->stage;
	struct block some;
	bool all = ends_wants_all(&x->ends, b) || left_out_wanted(&x->left_out, b) ||
		   ignored_reads(&x->ignored, b);
	bool needed = kept || all || ends_needed(&x->ends, b) || ignored_reads_last(&x->ignored, b);

	if (!needed ||
	    (!kept && (all || last_rows_unchecked(&x->ends.last, b)) && stage_rows(s, b)))
		return 0;
	if (kept && x->select->nends) {
		some = without_ends(x->select, kept);
		kept = &some;
	}
	if (ends_lanes(&x->ends, b) || ignored_block(&x->ignored, &x->ends.last, b) ||
	    ends_rows(&x->ends, b, kept) || left_out_rows(&x->left_out, b, kept) ||
	    (kept && left_out_ends(x)) || (kept && left_out_block(&x->left_out, b)) ||
	    (kept && x->ignored.any && left_out_ignored(&x->left_out, b, x->ignored.rows, true)))
		return stage_no_memory(s);
	return thread_entries_pass(s, &x->ends.entries) ||
			       thread_entries_pass(s, &x->left_out.entries)
		       ? -1
		       : 0;
}

/* Finish the input, which may lack END. */
static int emit_ends(struct emit_rows *x)
{
	struct stage *s = x->stage;

	if (!s->out.in_segment)
		return 0;
	if (ends_finish(&x->ends, NULL, NULL) || left_out_end(&x->left_out, &s->in.dictionary))
		return stage_no_memory(s);
	return thread_entries_pass(s, &x->ends.entries) ||
			       thread_entries_pass(s, &x->left_out.entries)
		       ? -1
		       : 0;
}

/* Pass on a block of another kind; END is preceded by the facts about threads. */
static int emit_other(struct emit_rows *x, const struct block *b)
{
	struct stage *s = x->stage;

	bool begins = b->kind == BLOCK_HEAD && !s->in.head.sequence;
	bool ends = b->kind == BLOCK_END && s->in.end.flags & END_LAST;

	if ((begins || ends) && emit_ends(x))
		return -1;
	if (begins) {
		if (x->results)
			results_begin(x->results);
		ends_segment(&x->ends);
		left_out_segment(&x->left_out);
	}
	if (b->kind == BLOCK_SNAPSHOT && b->snapshot)
		return emit_snapshot(x, b);
	return stage_forward(s, b, &s->in.head, &s->in.end);
}

int emit_block(struct emit_rows *x, struct block *b)
{
	struct select *select = x->select;
	struct stage *s = x->stage;
	const struct block *kept = NULL;
	enum selected selected;

	/* matches must not be delayed until their block is full */
	if (writer_flush_old(&s->out))
		return stage_fail(s, &s->out.error);
	if (select_from(x, b, &selected))
		return -1;
	if (selected != SELECTED_NONE)
		kept = selected == SELECTED_ALL ? b : &select->block;
	if (emit_read_rows(x, b, kept))
		return -1;
	if (!kept)
		return 0;
	return kept == b ? stage_pass(s, b) : pass_some(x, &select->block, b);
}

/* Select and count rows without output, for --count. */
static int emit_nothing(struct emit_rows *x, struct block *b)
{
	enum selected selected;

	if (b->kind == BLOCK_EVENTS)
		return select_from(x, b, &selected);
	if (b->kind == BLOCK_HEAD && !x->stage->in.head.sequence)
		results_begin(x->results);
	return 0;
}

/* --- print text instead of a stream --- */

enum { EXPLAIN_NAME = 12 }; /* characters before the help of a name */

static void explain_name(struct text *t, size_t width, const char *name, const char *help)
{
	size_t n = strlen(name) + 3;

	text_printf(t, "  %-9s ", name);
	aligned_words(t, help, strlen(help), width, EXPLAIN_NAME,
		      n > EXPLAIN_NAME ? n : EXPLAIN_NAME);
	text_char(t, '\n');
}

/* Write the names that every stream has. */
static void explain_names(struct text *t, size_t width)
{
	text_puts(t, "\nfields of every event that has them:\n");
	for (const struct plain_name *p = names_all(); p->name; p++)
		explain_name(t, width, p->name, p->help);
	explain_name(t, width, "arg.N", "argument N of a call, from 1");
	explain_name(t, width, "under(X)",
		     "the calls of X, a name or a condition, and all events in them");
	explain_name(t, width, "over(X)",
		     "the calls of X, other events that match X, and the calls around them");
	explain_name(t, width, "fparg.N", "floating-point argument N of a call");
}

/* Write a type with its fields. line: memory for that. Out of memory, which memory.h notes, the
 * line is not complete. */
static void explain_type(struct text *t, size_t width, const struct type *type, struct buffer *line)
{
	int bad;

	line->size = 0;
	bad = buffer_printf(line, "%s (%s)", type->name.text, type_kind_name(type->kind));
	for (uint32_t f = 0; f < type->nfields && !bad; f++)
		bad = buffer_append(line, f ? ", " : ": ", 2) ||
		      buffer_append(line, type->fields[f].name.text, type->fields[f].name.size);
	if (!bad && type->flags & TYPE_VALUES)
		bad = buffer_puts(line, "; arguments or a return value");
	text_puts(t, "  ");
	aligned_words(t, (const char *)line->data, line->size, width, 4, 2);
	text_char(t, '\n');
}

/* Write the types of a stream with their fields. */
static void explain_types(struct text *t, size_t width, const struct dictionary *d)
{
	struct buffer line = {0};
	uint32_t unused = 0;

	text_puts(t, "\ntypes of this stream and their own fields:\n");
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *type = dictionary_type(d, i);

		unused += !type->used && kind_is_event(type->kind);
		if (type->kind != KIND_DROP && type->used)
			explain_type(t, width, type, &line);
	}
	if (unused)
		text_printf(t, "%" PRIu32 " type%s without events: trdecode --list names %s\n",
			    unused, unused == 1 ? "" : "s", unused == 1 ? "it" : "them");
	buffer_free(&line);
}

/* --- report --- */

/* Let print write to the output, which stage_print_to opened. Returns 0, or -1 after stage_fail. */
static int report(struct stage *s, void (*print)(struct text *t, void *ctx), void *ctx)
{
	struct text *t = malloc(sizeof *t);
	struct error e;
	int bad = 0;

	if (!t)
		return stage_no_memory(s);
	text_init(t, &s->output);
	print(t, ctx);
	if (text_flush(t, &e))
		bad = stage_fail(s, &e);
	free(t);
	return bad;
}

/* --- run --- */

enum { QUEUE_LIMIT = 8 << 20 }; /* bytes in memory */

struct work {
	struct stage *stage;
	struct filter_settings *settings;
	struct select select;
	struct results results; /* of the condition: at most -n */
	struct results total;	/* of the output, for -c */
	uint32_t types_known;	/* number of declared types for which keeps_calls is known */
	bool wants_all;		/* no section is left out because of its types */
	bool stream_read;	/* --explain reads a stream only if one is named */
};

/* Print the text that replaces the stream. */
static void run_print_text(struct text *t, void *ctx)
{
	const struct work *w = ctx;
	struct screen screen = {0};

	if (!w->settings->explain) {
		text_u64(t, w->total.count);
		text_char(t, '\n');
		return;
	}
	explain_filter(t, w->select.filter, w->settings->invert);
	screen_find(&screen, t->out);
	explain_names(t, screen.width);
	if (w->stream_read)
		explain_types(t, screen.width, &w->stage->in.dictionary);
}

/* Refuse times that a clock has no meaning for, in --within and in conditions: with a unit where it
 * counts ticks, and without a unit where it counts ns. */
static int run_check_clocks(const struct work *w, const struct block *b, struct error *e)
{
	const struct filter_settings *o = w->settings;
	const struct time_range *range = &o->time_range;

	for (uint32_t i = 0; b->kind == BLOCK_EVENTS && i < b->nlanes; i++) {
		bool ticks = b->lanes[i]->clock->flags & CLOCK_TICKS;

		if (o->within && time_check_clock(NULL, "--within", o->within, ticks, e))
			return -1;
		if (expression_check_clock(w->select.filter->tree, "expression", ticks, NULL, NULL,
					   e) ||
		    expression_check_clock(range->from, "--between", ticks, NULL, NULL, e) ||
		    expression_check_clock(range->to, "--between", ticks, NULL, NULL, e))
			return -1;
	}
	return 0;
}

/* --- an indexed file --- */

enum type_wanted { TYPE_NOT_WANTED, TYPE_WANTED, TYPE_NOT_DECLARED };

/* Test whether the condition may be true for rows of a type of a section. */
static enum type_wanted run_wants_type(const struct work *w, const struct index_type *t)
{
	const struct dictionary *d = &w->stage->in.dictionary;
	struct filter *f = w->select.filter;

	if (t->kind == KIND_GAP)
		return TYPE_WANTED;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *type = dictionary_type(d, i);
		struct event e = {.type = type};
		bool wanted = true;

		if (type->kind != t->kind || type->name.size != t->name_size ||
		    type->group.size != t->group_size ||
		    memcmp(type->name.text, t->name, t->name_size) != 0 ||
		    memcmp(type->group.text, t->group, t->group_size) != 0)
			continue;
		for (size_t k = 0; k < f->leading && wanted; k++)
			wanted = f->terms[k].node->depends & ~(DEPENDS_TYPE | DEPENDS_KIND) ||
				 evaluate(&f->evaluation, f->terms[k].node, &e);
		return wanted ? TYPE_WANTED : TYPE_NOT_WANTED;
	}
	return TYPE_NOT_DECLARED;
}

/* Test whether a section may have wanted rows. *calls: of calls, too; *known: of a type that is
 * declared. */
static bool run_wants_types(const struct work *w, const struct index_section *s, bool *calls,
			    bool *known)
{
	bool wanted = s->flags & SECTION_ANY_TYPE;

	*calls |= wanted;
	for (uint32_t i = 0; i < s->ntypes; i++) {
		struct index_type t = index_type(s, i);

		enum type_wanted of = run_wants_type(w, &t);

		if (of != TYPE_NOT_WANTED) {
			wanted = true;
			*known |= of == TYPE_WANTED && t.kind != KIND_GAP;
			*calls |= t.kind == KIND_ENTER || t.kind == KIND_LEAVE;
		}
	}
	return wanted;
}

static bool run_wants(void *ctx, const struct index *x, const struct index_section *s)
{
	struct work *w = ctx;
	uint32_t count = w->stage->in.dictionary.types.count;
	bool calls = false, any = false;

	/* calls that are kept may end at the last event of their thread, whatever its type is; and
	 * where no type is wanted, a message names what the condition has wrong */
	if (w->types_known != count) {
		for (size_t i = 0; i < x->count && !calls; i++)
			run_wants_types(w, &x->sections[i], &calls, &any);
		w->types_known = count;
		w->wants_all = calls || !any;
	}
	return w->wants_all || run_wants_types(w, s, &calls, &any);
}

/* Let the reader leave out what the times and the types exclude. */
static void run_seek(struct work *w, struct stage *s)
{
	const struct time_range *range = &w->settings->time_range;

	if (!range->from && !range->by)
		stage_seek(s, &(struct stage_seek){.window = &w->settings->time_range.window,
						   .has = w->select.invert ? NULL : run_wants,
						   .ctx = w});
}

/* Filter row by row. */
static void run_rows(struct work *w, struct stage *s)
{
	struct time_range *time_range = w->select.time_range;
	bool count = w->settings->count;
	struct emit_rows x;
	struct error e;
	struct block b;
	int bad = 0;

	emit_rows_init(&x, s, &w->select);
	if (count || w->settings->limit != UINT64_MAX)
		x.results = &w->results;
	s->in.rows_on_demand = true;
	s->holds = !count;
	run_seek(w, s);
	while (!bad && !emit_rows_done(&x) && stage_next(s, &b)) {
		if (time_range)
			time_range_block(time_range, &b,
					 b.kind == BLOCK_HEAD && !s->in.head.sequence);
		if (run_check_clocks(w, &b, &e))
			bad = stage_fail(s, &e);
		else if (count)
			bad = emit_nothing(&x, &b);
		else
			bad = b.kind == BLOCK_EVENTS ? emit_block(&x, &b) : emit_other(&x, &b);
	}
	if (!bad && !count)
		emit_ends(&x);
	emit_rows_free(&x);
	w->total.count = w->results.count;
	select_free(&w->select);
}

/* Filter with undecided rows in a queue: whole calls, or events around a match. */
static void run_calls(struct work *w, struct stage *s, struct filter *f)
{
	struct filter_settings *o = w->settings;
	struct context *context = context_any(&o->context) ? &o->context : NULL;
	struct emit x = {.stage = s,
			 .pass = !o->count,
			 .limit = context || o->follow || o->limit == UINT64_MAX ? NULL
										 : &w->results,
			 .total = o->count ? &w->total : NULL};
	struct call_filter calls;
	struct error e;
	struct block b;
	int bad = 0;

	if (context) {
		context->limit = o->limit;
		context_init(context, QUEUE_LIMIT, &s->in.dictionary);
		x.widening = &context->widening;
	} else if (o->follow) {
		x.widening = follow_new(&s->in.dictionary, QUEUE_LIMIT, o->limit, o->callers);
		bad = x.widening ? 0 : stage_no_memory(s);
	}
	if (call_filter_init(&calls, f, QUEUE_LIMIT, &e))
		bad = stage_fail(s, &e);
	calls.time_range = w->select.time_range;
	calls.invert = o->invert;
	calls.callers = o->callers && !o->follow;
	calls.distinguishes_callers = x.widening || o->limit != UINT64_MAX;
	calls.max_depth = o->depth < UINT32_MAX ? (uint32_t)o->depth : UINT32_MAX;
	calls.queue.left_out = x.widening ? ROW_FOR_CONTEXT : ROW_LEFT_OUT;
	duration_scan_init(&calls);
	s->holds = !o->count;
	while (!bad && !emit_done(&x) && stage_next(s, &b)) {
		if (calls.time_range)
			time_range_block(calls.time_range, &b,
					 b.kind == BLOCK_HEAD && !s->in.head.sequence);
		bad = run_check_clocks(w, &b, &e) ? stage_fail(s, &e) : emit_calls(&x, &calls, &b);
	}
	if (!bad)
		emit_finish(&x, &calls);
	if (!s->options->quiet)
		warn_count(NULL, calls.nodes.deep,
			   "{call is|calls are} on %d others or more: \"" STACK_DEEPER
			   "\" ends {its stack|their stacks}",
			   STACK_FRAMES);
	call_filter_free(&calls);
	if (context)
		context_free(context);
	else
		follow_finish(x.widening, s->options->quiet || s->status == STATUS_FAILED);
}

/* Offer the names of all fields that need no declaration. */
static void condition_offer_names(struct nearest *nearest)
{
	for (const struct plain_name *p = names_all(); p->name; p++)
		nearest_offer(nearest, p->name, strlen(p->name));
	nearest_offer_words(nearest, "arg.1 fparg.1");
}

struct check {
	char name[NEAREST_SIZE]; /* of an argument as the user wrote it */
	bool calls;		 /* there are calls, or no events */
	bool flows;		 /* a source may have flows */
};

static enum declared_kind expression_kind_of(void *ctx, const struct operand *o, const char **name)
{
	const struct field_lookup *lookup = o->data;
	struct check *check = ctx;

	*name = o->name;
	if (o->field == ASK_FIELD && lookup->is_argument) {
		snprintf(check->name, sizeof check->name, "arg.%s", o->name);
		*name = check->name;
	}
	if (o->field >= ASK_STATE)
		return DECLARED_FIELD;
	switch (o->field) {
	case ASK_FIELD:
	case ASK_ARGUMENT:
	case ASK_RETURN: return DECLARED_FIELD;
	case ASK_FLOW: return check->flows ? DECLARED_NUMBER : DECLARED_FIELD;
	case ASK_DURATION:
	case ASK_DEPTH:
	case ASK_SELF:
	case ASK_CHILDREN: return check->calls ? DECLARED_OTHER : DECLARED_CALL;
	case ASK_CALLER: return check->calls ? DECLARED_CALLER : DECLARED_CALL;
	case ASK_KIND: return DECLARED_KIND;
	case ASK_NAME: return DECLARED_NAME;
	case ASK_TYPE: return DECLARED_TYPE;
	case ASK_GROUP: return DECLARED_GROUP;
	case ASK_COMM: return DECLARED_COMM;
	case ASK_TID: return DECLARED_TID;
	case ASK_PID: return DECLARED_PID;
	case ASK_MODULE: return DECLARED_MODULE;
	case ASK_FILE: return DECLARED_FILE;
	case ASK_CLASS: return DECLARED_CLASS;
	case ASK_BUFFER: return DECLARED_BUFFER;
	case ASK_INPUT: return DECLARED_INPUT;
	case ASK_FORMAT: return DECLARED_FORMAT;
	default: return DECLARED_OTHER;
	}
}

/* Test whether the streams read have calls, or no events. */
static bool condition_has_calls(const struct dictionary *d)
{
	bool events = false;

	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->used && type_is_call(t))
			return true;
		events |= t->used && kind_is_event(t->kind);
	}
	return !events;
}

/* Refuse fields that no event of the streams read has, and warn of names that no event has.
 * all has no functions. Returns 0, or -1 with e filled. */
static int filter_condition_check_names(const struct node *n, const struct declared *all,
					struct error *e)
{
	struct declared declared = *all;
	struct check check = {.calls = condition_has_calls(all->dictionary),
			      .flows = flows_declared(all->dictionary)};

	declared.offer = condition_offer_names;
	declared.kind = expression_kind_of;
	declared.ctx = &check;
	return declared_condition(&declared, n, e);
}

/* Refuse fields, and warn of names, that no event has. early: a limit ended the reading. */
static void run_check_names(struct stage *s, const struct filter_settings *o,
			    const struct filter *f, bool early)
{
	const struct node *conditions[] = {f->tree, o->time_range.from, o->time_range.to,
					   o->time_range.by};
	struct intern warned = {0};
	const struct declared all = {.dictionary = &s->in.dictionary,
				     .warned = &warned,
				     .partial = s->status != STATUS_OK,
				     .quiet = s->options->quiet,
				     .early = early};
	struct error e;
	int bad = 0;

	for (size_t i = 0; i < sizeof conditions / sizeof *conditions && !bad; i++)
		bad = conditions[i] && filter_condition_check_names(conditions[i], &all, &e);
	if (o->depth != UINT64_MAX && !all.quiet && !early && !condition_has_calls(all.dictionary))
		warn(NULL, NO_OFFSET, "--depth has no effect: this trace has no calls");
	if (bad || (s->rewrite && projection_check(&o->rewrite.projection, &all, &e)))
		stage_fail(s, &e);
	intern_free(&warned);
}

/* Open the output. The stream's head gets the command line, unless the line may contain what is
 * scrubbed. */
static int create_output(struct stage *s, struct filter_settings *o, int argc, char **argv)
{
	char *short_line[] = {argv[0], (char *)"--scrub"};
	bool hide = o->rewrite.scrub.what;

	if (stage_create(s, hide ? 2 : argc, hide ? short_line : argv))
		return -1;
	if (rewrite_any(&o->rewrite)) {
		rewrite_begin(&o->rewrite, &s->in.dictionary);
		s->rewrite = &o->rewrite.hooks;
	}
	return 0;
}

/* Returns true if the limit ended the reading. */
static bool limit_reached(const struct work *w)
{
	const struct context *context = &w->settings->context;

	return results_full(context_any(context) ? &context->widening.results : &w->results);
}

/* Returns true for the condition 1 without options: all rows are passed on. */
static bool keeps_all(const struct filter_settings *o, const struct filter *f)
{
	const struct node *n = f->tree;

	return n->kind == NODE_TRUTH && operand_literal(n->left) &&
	       n->left->value.form == SCALAR_UINT && n->left->value.u && !o->invert &&
	       !time_range_any(&o->time_range) && !rewrite_any(&o->rewrite) &&
	       o->limit == UINT64_MAX && o->depth == UINT64_MAX && !context_any(&o->context) &&
	       !o->follow;
}

/* Returns true if --between or --sample reads arguments, return values or fields. */
static bool time_range_read_values(const struct time_range *l)
{
	return (l->from && (condition_reads_values(l->from) || condition_reads_values(l->to))) ||
	       (l->by && condition_reads_values(l->by));
}

void run_filter(struct stage *s, struct filter_settings *o, struct filter *f, int argc, char **argv)
{
	struct work w = {
		.stage = s,
		.settings = o,
		.select = {.filter = f, .invert = o->invert},
		.stream_read = !o->explain || argc > optind + 1,
	};
	bool stream = !o->count && !o->explain;
	struct block b;

	s->in.reads_values =
		rewrite_any(&o->rewrite) || o->follow || time_range_read_values(&o->time_range)
			? READS_ALL
			: condition_reads_values(f->tree);
	f->evaluation = (struct evaluation){.dictionary = &s->in.dictionary,
					    .quiet = s->options->quiet || o->explain};
	if (time_range_any(&o->time_range)) {
		o->time_range.evaluation = f->evaluation;
		w.select.time_range = &o->time_range;
	}
	s->one_segment = !keeps_all(o, f);
	s->one_axis = time_window_any(&o->time_range.window);
	if (stream ? create_output(s, o, argc, argv)
		   : stage_print_to(s, s->options->output, OUTPUT_TEXT))
		return;
	results_init(&w.results, o->limit, &s->in.dictionary);
	results_init(&w.total, UINT64_MAX, &s->in.dictionary);
	s->out.head.flags = HEAD_FILTERED | (o->rewrite.projection.count ? HEAD_REDUCED : 0);
	if (o->explain)
		while (w.stream_read && stage_next(s, &b))
			;
	else if (call_filter_needed(f) || o->callers || o->depth != UINT64_MAX ||
		 context_any(&o->context) || o->follow)
		run_calls(&w, s, f);
	else
		run_rows(&w, s);
	if (w.stream_read && s->status != STATUS_FAILED && !stage_part(s))
		run_check_names(s, o, f, limit_reached(&w));
	if (o->strict)
		s->status = status_worse(s->status, failure_of_lost(s->filter ? &s->out : NULL,
								    s->lost, s->lost_more));
	if (!s->options->quiet)
		time_range_report(&o->time_range, s->status != STATUS_FAILED && s->events &&
							  !o->explain && !limit_reached(&w));
	if (s->rewrite)
		rewrite_report(&o->rewrite, s->options->quiet);
	if (!stream && s->status != STATUS_FAILED)
		report(s, run_print_text, &w);
	results_free(&w.results);
	results_free(&w.total);
}

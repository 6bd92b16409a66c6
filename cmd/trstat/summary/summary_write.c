/*
 * summary_write.c - write groups and parts as a stream
 */
#include <stdlib.h>

#include "common/stream/declare.h"
#include "common/stream/value.h"
#include "cmd/trstat/summary/pack.h"
#include "cmd/trstat/table/sort.h"
#include "cmd/trstat/summary/summary.h"

struct packer {
	const struct statistics *s;
	struct buffer *b;
	struct declare declare;
	/* A group's address and its number in the summary. */
	struct group_number {
		const struct aggregate *group;
		uint64_t number;
	} * numbers;
	struct packed_stacks stacks;
	struct buffer tail;
	bool bad;
};

static void put(struct packer *p, uint64_t v)
{
	p->bad = p->bad || packed_put(p->b, v);
}

static void put_text(struct packer *p, const char *s)
{
	p->bad = p->bad || packed_put_bytes(p->b, s, strlen(s));
}

static int by_address(const void *a, const void *b)
{
	const struct group_number *p = a, *q = b;

	return (p->group > q->group) - (p->group < q->group);
}

static uint64_t group_number(const struct packer *p, const struct aggregate *a)
{
	struct group_number key = {a, 0}, *found = bsearch(&key, p->numbers, p->s->groups.count,
							   sizeof(key), by_address);

	return found ? found->number : 0;
}

/* Write all groups in the order of their cells; the order of creation has no meaning. */
static int put_groups(struct packer *p, struct error *e)
{
	const struct statistics *s = p->s;
	const struct columns_run run = {s->first, s->last};
	const struct sort by_cells = {0};
	const struct aggregate **groups = sort_groups(&by_cells, &s->groups, s->columns, &run, e);

	if (!groups)
		return -1;
	p->numbers = calloc(s->groups.count + 1, sizeof(*p->numbers));
	p->bad = p->bad || !p->numbers;
	put(p, s->groups.count);
	for (size_t i = 0; i < s->groups.count && !p->bad; i++) {
		p->bad = pack_cells(p->b, &s->groups, groups_cells(&s->groups, groups[i]),
				    s->keys->count, &p->stacks) ||
			 pack_aggregate(p->b, groups[i], &s->columns->wanted);
		p->numbers[i] = (struct group_number){groups[i], i};
	}
	free(groups);
	if (!p->bad)
		qsort(p->numbers, s->groups.count, sizeof(*p->numbers), by_address);
	return 0;
}

/* Write a text that may be missing. */
static void put_option(struct packer *p, const char *s)
{
	put(p, s != NULL);
	if (s)
		put_text(p, s);
}

static int put_head(struct packer *p, const struct settings *asked, const struct parts *ps,
		    struct error *e)
{
	const struct statistics *s = p->s;

	put(p, (s->ticks ? SUMMARY_TICKS : 0) | (statistics_nameless(s) ? SUMMARY_NAMELESS : 0));
	put(p, s->keys->count);
	for (size_t i = 0; i < s->keys->count; i++)
		put_text(p, s->keys->names[i]);
	put(p, s->columns->count);
	for (size_t i = 0; i < s->columns->count; i++)
		put_text(p, s->columns->column[i].name);
	put_option(p, asked->keys);
	put_option(p, asked->columns);
	put_option(p, asked->sort);
	put(p, asked->view);
	put_option(p, asked->view_argument);
	put(p, s->first);
	put(p, s->last);
	put(p, s->calls.unmatched);
	put(p, s->calls.unfinished);
	put(p, s->calls.outside);
	p->bad = p->bad || (s->stacks && summary_put_stacks(p->b, s, ps, &p->stacks));
	return p->bad ? error_no_memory(e) : put_groups(p, e);
}

/* --- parts --- */

static uint32_t definition(void *ctx, uint32_t number)
{
	struct packer *p = ctx;

	return declare_definition(&p->declare, dictionary_definition(p->s->dictionary, number));
}

static void put_row(struct packer *p, const struct partial_stack *list, const struct cut_op *op)
{
	const struct type *t = op->type;
	const uint8_t *data = list->bytes.data + op->data, *tail = data + t->fixed_size;
	size_t size = op->tail_size;

	p->bad = p->bad || buffer_append(p->b, data, t->fixed_size);
	if (!(t->flags & TYPE_TAIL))
		return;
	p->tail.size = 0;
	if (t->flags & TYPE_VALUES && !values_copy(&p->tail, tail, size, definition, p)) {
		tail = p->tail.data;
		size = p->tail.size;
	}
	p->bad = p->bad || packed_put_bytes(p->b, tail, size);
}

static void put_op(struct packer *p, const struct partial_stack *list, const struct cut_op *op,
		   uint64_t *last)
{
	uint32_t lane = declare_lane(&p->declare, op->lane);
	uint32_t type = declare_type(&p->declare, op->type);
	uint32_t location =
		op->kind == CUT_SET ? op->location : declare_location(&p->declare, op->location);

	put(p, op->kind);
	if (op->kind != CUT_BEGIN && op->kind != CUT_FORGET && op->kind != CUT_CLEAR) {
		put(p, op->flags);
		p->bad = p->bad || packed_put_i128(p->b, (int128)op->time - *last);
		*last = op->time;
		put(p, lane);
		put(p, type);
		put(p, location);
		put(p, op->depth);
		put(p, op->entered);
	}
	if (op->kind == CUT_ROW)
		put_row(p, list, op);
	put(p, op->charge);
	put(p, op->inner_charge);
}

static void put_list(struct packer *p, const struct partial_stack *list)
{
	uint64_t last = 0;

	put(p, list ? list->count : 0);
	for (size_t i = 0; list && i < list->count; i++)
		put_op(p, list, &list->ops[i], &last);
}

/* A doubt as it is written. Sorting by this makes the order independent of the groups'
 * addresses. */
struct packed_doubt {
	const struct part_doubt *doubt;
	uint64_t group;
};

static int by_position(const void *a, const void *b)
{
	const struct packed_doubt *x = a, *y = b;
	const struct part_doubt *p = x->doubt, *q = y->doubt;

	if (p->position != q->position)
		return p->position < q->position ? -1 : 1;
	if (p->location != q->location)
		return p->location < q->location ? -1 : 1;
	if (p->held != q->held)
		return p->held < q->held ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static void put_doubts(struct packer *p, const struct part_thread *t)
{
	struct packed_doubt *sorted = calloc(t->ndoubts + 1, sizeof(*sorted));

	p->bad = p->bad || !sorted;
	put(p, t->ndoubts);
	for (size_t i = 0; i < t->ndoubts && !p->bad; i++)
		sorted[i] = (struct packed_doubt){
			&t->doubts[i], t->doubts[i].held ? 0 : group_number(p, t->doubts[i].group)};
	if (t->ndoubts && !p->bad)
		qsort(sorted, t->ndoubts, sizeof(*sorted), by_position);
	for (size_t i = 0; i < t->ndoubts && !p->bad; i++) {
		const struct part_doubt *d = sorted[i].doubt;

		put(p, d->position);
		put(p, declare_location(&p->declare, d->location));
		put(p, d->held);
		put(p, sorted[i].group);
		p->bad = p->bad || packed_put_u128(p->b, d->total);
	}
	free(sorted);
}

static void put_thread(struct packer *p, const struct part_thread *t)
{
	const struct statistics *s = p->s;

	put(p, declare_lane(&p->declare, t->lane));
	put(p, t->per_cpu);
	put_list(p, t->list);
	put(p, t->nheld);
	for (size_t i = 0; i < t->nheld && !p->bad; i++) {
		const struct part_held *h = &t->held[i];

		put(p, h->position);
		put(p, h->open);
		p->bad = p->bad ||
			 pack_cells(p->b, &s->groups, h->cells, s->keys->held, &p->stacks) ||
			 pack_aggregate(p->b, h->aggregate, &s->columns->wanted);
	}
	put_doubts(p, t);
}

static void put_part(struct packer *p, const struct part *part)
{
	const struct statistics *s = p->s;
	size_t size = part_entered_size(s);

	put(p, part->stream_id);
	put(p, part->first);
	put(p, part->last);
	put(p, part->ends ? PART_ENDS : 0);
	put_text(p, part->stages ? part->stages : "");
	put(p, part->nentered);
	for (size_t i = 0; i < part->nentered && !p->bad; i++)
		p->bad = pack_cells(p->b, &s->groups, part->entered + i * size, size, &p->stacks);
	put_list(p, part->numbered);
	put(p, part->nthreads);
	for (size_t i = 0; i < part->nthreads && !p->bad; i++)
		put_thread(p, &part->threads[i]);
}

/* Send declarations as DICT blocks of whole entries. */
static int send_entries(struct writer *w, const struct buffer *entries, struct error *e)
{
	size_t from = 0, at = 0;
	struct raw_entry entry;

	while (from < entries->size) {
		struct block b = {.kind = BLOCK_DICT};

		while (at - from < BLOCK_TARGET &&
		       entry_next(entries->data, entries->size, &at, &entry) > 0)
			;
		b.payload = entries->data + from;
		b.length = (uint32_t)(at - from);
		if (writer_pass(w, &b, e))
			return -1;
		from = at;
	}
	return 0;
}

static int send_segment(struct writer *w, const struct packer *p, uint64_t id, uint32_t number,
			uint64_t stream_id, struct error *e)
{
	uint8_t property[16] = {HEAD_PART, 0, 0, 0, 8};
	struct head h = {.stream_id = id,
			 .sequence = number,
			 .flags = HEAD_SUMMARY,
			 .properties = property,
			 .properties_size = sizeof(property)};

	put_u64(property + 8, stream_id);
	if (writer_pass_head(w, &h)) {
		*e = w->error;
		return -1;
	}
	if (send_entries(w, &p->declare.out, e))
		return -1;
	if (writer_meta(w, 0, SUMMARY_META, p->b->data, p->b->size)) {
		*e = w->error;
		return -1;
	}
	return 0;
}

int summary_write(struct writer *w, const struct statistics *s, const struct settings *asked,
		  const struct parts *ps, const struct summary_end *end, struct error *e)
{
	struct buffer b = {0};
	struct packer p = {.s = s, .b = &b};
	uint64_t id = 0;
	int bad = 0;

	writer_status(w, (uint32_t)end->status, end->message);
	for (size_t i = 0; i < ps->count && !bad; i++) {
		b.size = 0;
		declare_init(&p.declare, s->dictionary);
		put(&p, SUMMARY_VERSION);
		put(&p, HISTOGRAM_PRECISION);
		put(&p, i == 0);
		bad = i == 0 && put_head(&p, asked, ps, e);
		if (!bad)
			put_part(&p, &ps->part[i]);
		if (!bad && (p.bad || p.declare.out_of_memory))
			bad = error_no_memory(e);
		if (i == 0 && b.size)
			id = hash_bytes(b.data, b.size, ps->count);
		bad = bad || send_segment(w, &p, id, (uint32_t)i, ps->part[i].stream_id, e);
		declare_free(&p.declare);
		if (!bad && writer_pass_end(w,
					    (i + 1 == ps->count ? END_LAST : 0) |
						    (i || !end->lost_more ? 0 : END_LOST_MORE),
					    i ? 0 : end->gaps, i ? 0 : end->lost)) {
			*e = w->error;
			bad = -1;
		}
	}
	free(p.numbers);
	packed_stacks_free(&p.stacks);
	buffer_free(&p.tail);
	buffer_free(&b);
	return bad ? -1 : 0;
}

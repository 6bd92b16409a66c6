/*
 * summary_part.c - decode the part of a stream that a summary leaves undecided
 */
#include <stdlib.h>

#include "common/stream/value.h"
#include "cmd/trstat/summary/summary_unpack.h"

enum { DEPTH_LIMIT = 65536 }; /* of a row, plus one */

/* Returns the entry of an id in the present segment; NULL for none. */
static const void *entry(struct unpacker *u, enum entry_kind kind, const struct pool *pool)
{
	struct dictionary *d = &u->ss->reader->dictionary;
	uint32_t id = packed_u32(&u->in), number = id ? idmap_get(&d->ids[kind], id) : 0;

	if (!number) {
		u->in.bad |= id != 0;
		return NULL;
	}
	return pool_at(pool, number);
}

static const struct lane *take_lane(struct unpacker *u)
{
	return entry(u, ENTRY_LANE, &u->ss->reader->dictionary.lanes);
}

static uint32_t take_location(struct unpacker *u)
{
	const struct location *p = entry(u, ENTRY_LOCATION, &u->ss->reader->dictionary.locations);

	return p ? p->number : 0;
}

static uint32_t definition(void *ctx, uint32_t id)
{
	const struct definition *d = dictionary_definition_id(ctx, id);

	return d ? d->number : 0;
}

static int take_tail(struct unpacker *u, struct partial_stack *list, const struct cut_op *op)
{
	struct dictionary *d = &u->ss->reader->dictionary;
	size_t size, before = list->bytes.size;
	const uint8_t *tail = packed_bytes(&u->in, &size);

	if (u->in.bad || size > EVENTS_LIMIT) {
		u->in.bad = true;
		return -1;
	}
	if (op->type->flags & TYPE_VALUES && !values_copy(&list->bytes, tail, size, definition, d))
		return 0;
	list->bytes.size = before;
	return buffer_append(&list->bytes, tail, size) ? unpack_no_memory(u) : 0;
}

static int take_row(struct unpacker *u, struct partial_stack *list, struct cut_op *op)
{
	const uint8_t *fixed;

	if (!op->type || !op->lane || op->depth >= DEPTH_LIMIT) {
		u->in.bad = true;
		return -1;
	}
	op->data = list->bytes.size;
	fixed = packed_take(&u->in, op->type->fixed_size);
	if (u->in.bad)
		return -1;
	if (buffer_append(&list->bytes, fixed, op->type->fixed_size))
		return unpack_no_memory(u);
	if (op->type->flags & TYPE_TAIL && take_tail(u, list, op))
		return -1;
	op->tail_size = (uint32_t)(list->bytes.size - op->data - op->type->fixed_size);
	return 0;
}

/* Returns true if the operation is allowed in this list and has all it needs. */
static bool op_sane(const struct unpacker *u, const struct cut_op *op, size_t index, bool numbered)
{
	if (op->entered > u->part->nentered ||
	    (!index && op->kind != CUT_BEGIN && op->kind != CUT_SET))
		return false;
	switch (op->kind) {
	case CUT_BEGIN: return !index;
	case CUT_SET: return !index && !numbered && op->depth <= DEPTH_LIMIT;
	case CUT_ROW: return numbered == !!(op->type->flags & TYPE_CALL_NUMBER);
	case CUT_TOUCH: return !numbered && op->type && op->lane && op->depth < DEPTH_LIMIT;
	case CUT_PUSH_NUMBERED:
		return numbered && op->lane && op->type && op->type->flags & TYPE_CALL_NUMBER;
	case CUT_LAST:
		return !numbered && op->lane &&
		       !(op->type && op->type->flags & (TYPE_KERNEL | TYPE_CALL_NUMBER));
	case CUT_PUSH_KERNEL: return !numbered && (!op->type || op->type->flags & TYPE_KERNEL);
	default: return !numbered && op->kind < CUT_KINDS;
	}
}

static int take_op(struct unpacker *u, struct partial_stack *list, struct cut_op *op,
		   uint64_t *last, bool numbered)
{
	struct dictionary *d = &u->ss->reader->dictionary;
	struct packed *in = &u->in;
	size_t index = list->count - 1;

	op->kind = (uint8_t)packed_limited(in, CUT_KINDS - 1);
	if (op->kind != CUT_BEGIN && op->kind != CUT_FORGET && op->kind != CUT_CLEAR) {
		op->flags = (uint8_t)packed_limited(in, UINT8_MAX);
		op->time = *last += (uint64_t)packed_i128(in);
		op->lane = take_lane(u);
		op->type = entry(u, ENTRY_TYPE, &d->types);
		op->location = op->kind == CUT_SET ? packed_u32(in) : take_location(u);
		op->depth = packed_u32(in);
		op->entered = packed_u32(in);
	}
	if (op->kind == CUT_ROW && (in->bad || take_row(u, list, op)))
		return -1;
	op->charge = packed_u64(in);
	op->inner_charge = packed_u64(in);
	if (in->bad || !op_sane(u, op, index, numbered)) {
		in->bad = true;
		return -1;
	}
	return 0;
}

static int take_list_of(struct unpacker *u, struct partial_stack **out, bool numbered)
{
	uint64_t n = packed_count(&u->in, 3), last = 0;
	struct partial_stack *list;

	if (!n || u->in.bad)
		return u->in.bad ? -1 : 0;
	list = calloc(1, sizeof(*list));
	if (!list)
		return unpack_no_memory(u);
	*out = list;
	for (uint64_t i = 0; i < n; i++) {
		struct cut_op *op =
			array_grow(list->ops, &list->capacity, list->count, sizeof(*op));

		if (!op)
			return unpack_no_memory(u);
		list->ops = op;
		op += list->count++;
		*op = (struct cut_op){0};
		if (take_op(u, list, op, &last, numbered))
			return -1;
	}
	return 0;
}

static int take_held(struct unpacker *u, struct part_thread *t)
{
	struct statistics *s = u->ss->s;
	uint64_t n = packed_count(&u->in, 4), last = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct part_held *h;
		uint64_t position = packed_u64(&u->in);
		uint32_t open = packed_u32(&u->in);
		struct aggregate *a;

		if (position < last || position >= t->list->count || open & ~(uint32_t)OPEN_HELD)
			u->in.bad = true;
		if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, true,
				 &u->ss->stacks) ||
		    unpack_cells(&u->in, &s->groups, s->cells + s->keys->count,
				 s->keys->held - s->keys->count, false, NULL))
			return unpack_no_memory(u);
		if (u->in.bad)
			return -1;
		/* the number makes each a group of its own */
		a = bracket_hold(&u->part->bracket, (uint32_t)u->part->nthreads, i, open, s->cells);
		h = array_grow(t->held, &t->held_capacity, t->nheld, sizeof(*h));
		if (!a || !h)
			return unpack_no_memory(u);
		t->held = h;
		h[t->nheld++] = (struct part_held){
			position, open, groups_cells(&u->part->bracket.held, a) + HELD_CELLS, a};
		last = position;
		if (unpack_aggregate_into(u, a))
			return -1;
	}
	return u->in.bad ? -1 : 0;
}

static int take_doubts(struct unpacker *u, struct part_thread *t)
{
	uint64_t n = packed_count(&u->in, 5), last = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct part_doubt *d =
			array_grow(t->doubts, &t->doubts_capacity, t->ndoubts, sizeof(*d));
		uint64_t group;

		if (!d)
			return unpack_no_memory(u);
		t->doubts = d;
		d += t->ndoubts++;
		*d = (struct part_doubt){.position = packed_u64(&u->in),
					 .location = take_location(u)};
		d->held = packed_u32(&u->in);
		group = packed_u64(&u->in);
		d->total = packed_u128(&u->in);
		if (d->position < last || d->position >= t->list->count || d->held > t->nheld ||
		    (d->held && t->held[d->held - 1].position > d->position) ||
		    (!d->held && group >= u->ss->waiting.count))
			u->in.bad = true;
		if (u->in.bad)
			return -1;
		d->number = group;
		last = d->position;
	}
	return u->in.bad ? -1 : 0;
}

/* Check that the rows of a list are those of the thread. */
static bool rows_are_of(const struct part_thread *t)
{
	uint32_t number = part_thread_number(t->lane, t->per_cpu);

	for (size_t i = 0; i < t->list->count; i++) {
		const struct cut_op *op = &t->list->ops[i];
		struct event e = {.type = op->type, .lane = op->lane};

		if (op->kind == CUT_ROW && calls_thread(&e) != number)
			return false;
	}
	return true;
}

static int take_thread(struct unpacker *u)
{
	struct part *p = u->part;
	struct part_thread *t =
		array_grow(p->threads, &p->threads_capacity, p->nthreads, sizeof(*t));

	if (!t)
		return unpack_no_memory(u);
	p->threads = t;
	t += p->nthreads;
	*t = (struct part_thread){.lane = take_lane(u)};
	p->nthreads++;
	t->per_cpu = packed_limited(&u->in, 1);
	if (take_list_of(u, &t->list, false))
		return -1;
	if (!t->lane || !t->list || t->list->ops[t->list->count - 1].kind != CUT_LAST ||
	    !rows_are_of(t)) {
		u->in.bad = true;
		return -1;
	}
	return take_held(u, t) || take_doubts(u, t) ? -1 : 0;
}

static int take_stages(struct unpacker *u)
{
	size_t size;
	const uint8_t *text = packed_bytes(&u->in, &size);

	if (u->in.bad || !size)
		return u->in.bad ? -1 : 0;
	u->part->stages = strndup((const char *)text, size);
	return u->part->stages ? 0 : unpack_no_memory(u);
}

int unpack_part(struct unpacker *u)
{
	struct packed *in = &u->in;
	struct part *p = u->part;
	uint64_t flags, n;

	p->stream_id = packed_u64(in);
	p->first = packed_u32(in);
	p->last = packed_u32(in);
	flags = packed_u64(in);
	p->ends = flags & PART_ENDS;
	if (take_stages(u))
		return -1;
	if (in->bad || p->last < p->first || p->last == UINT32_MAX) {
		in->bad = true;
		return -1;
	}
	if (unpack_entered(u) || take_list_of(u, &p->numbered, true))
		return -1;
	n = packed_count(in, 3);
	for (uint64_t i = 0; i < n; i++)
		if (take_thread(u))
			return -1;
	return in->bad ? -1 : 0;
}

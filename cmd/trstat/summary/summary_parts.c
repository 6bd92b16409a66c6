/*
 * summary_parts.c - decode the parts of a summary, and slowest calls
 */
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

/* Read a text without NULs; NULL with in.bad or out_of_memory. */
static char *take_text(struct unpacker *u)
{
	size_t size;
	const uint8_t *text = packed_bytes(&u->in, &size);
	char *copy;

	if (u->in.bad || (size && memchr(text, '\0', size))) {
		u->in.bad = true;
		return NULL;
	}
	copy = strndup(text ? (const char *)text : "", size);
	if (!copy)
		unpack_no_memory(u);
	return copy;
}

static int take_call(struct unpacker *u, struct slow_call *c)
{
	struct packed *in = &u->in;

	*c = (struct slow_call){.total = packed_u64(in), .self = packed_u64(in)};
	c->start = packed_u64(in);
	c->end = packed_u64(in);
	c->has = (uint32_t)packed_limited(in, SLOW_HAS);
	c->tid = (int32_t)packed_u32(in);
	c->pid = (int32_t)packed_u32(in);
	c->cpu = (int32_t)packed_u32(in);
	return (c->name = take_text(u)) && (c->arguments = take_text(u)) &&
			       (c->returned = take_text(u)) && (c->stack = take_text(u)) &&
			       (c->comm = take_text(u))
		       ? 0
		       : -1;
}

int unpack_slowest(struct unpacker *u, struct slow_list *to)
{
	uint64_t n = packed_count(&u->in, 13);

	to->limit = u->ss->to->slowest.limit;
	for (uint64_t i = 0; i < n; i++) {
		struct slow_call c;

		if (take_call(u, &c)) {
			slow_call_free(&c);
			return -1;
		}
		if (slow_list_add(to, &c))
			return unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

/* Check the SUMMARY_CELLS of an event. */
static bool is_finished(const struct key_cell *more)
{
	return more[CELL_TAIL].kind == KEY_MISSING && (more[CELL_INTERVAL].kind == KEY_MISSING ||
						       more[CELL_INTERVAL].kind == KEY_UNSIGNED);
}

static int take_edge(struct unpacker *u, struct pair_edges *edges)
{
	struct statistics *s = u->ss->to->s;
	const struct packed_stacks *stacks = s->stacks ? &u->ss->stacks : NULL;
	struct groups *texts = &s->groups;
	struct key_cell on[PAIR_ON_MOST];
	size_t before = edges->map.count;
	struct pair_edge *edge;
	struct aggregate *a;

	if (unpack_cells(&u->in, texts, on, edges->on, NULL, 0))
		return unpack_no_memory(u);
	if (u->in.bad)
		return -1;
	a = pair_edges_find(edges, on);
	if (!a)
		return unpack_no_memory(u);
	edge = pair_edge(edges, a);
	edge->first = (uint32_t)packed_limited(&u->in, PAIR_B);
	edge->waiting = packed_limited(&u->in, 1);
	u->in.bad |= edges->map.count == before || edge->first == PAIR_NONE;
	if (edge->first == PAIR_B) {
		edge->b = packed_u64(&u->in);
		if (unpack_cells(&u->in, texts, pair_edge_b(edges, a), edges->b_cells, stacks,
				 edges->a_cells + 1) ||
		    unpack_cells(&u->in, texts, pair_edge_other(edges, a), edges->a_cells, stacks,
				 1))
			return unpack_no_memory(u);
		u->in.bad |= !is_finished(pair_edge_b(edges, a) + s->keys->count);
		if (u->in.bad || unpack_aggregate_into(u, a))
			return -1;
	}
	if (edge->waiting) {
		edge->a = packed_u64(&u->in);
		if (unpack_cells(&u->in, texts, pair_edge_a(edges, a), edges->a_cells, stacks, 0))
			return unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

static int take_edges(struct unpacker *u, struct pair_edges *edges)
{
	uint64_t n = packed_count(&u->in, 2);

	for (uint64_t i = 0; i < n; i++)
		if (take_edge(u, edges))
			return -1;
	return u->in.bad ? -1 : 0;
}

static int take_tail(struct unpacker *u, struct part *p, uint64_t number)
{
	p->tail.number = (uint32_t)number;
	p->tail.unfinished = packed_u64(&u->in);
	p->tail.ignored_kernel = packed_u64(&u->in);
	return unpack_slowest(u, &p->tail.slowest);
}

static int take_part(struct unpacker *u, struct part *p, uint64_t number)
{
	const struct statistics *s = u->ss->to->s;
	struct packed *in = &u->in;
	uint64_t flags;

	p->file = u->ss->file;
	p->stream_id = packed_u64(in);
	p->first = packed_u32(in);
	p->last = packed_u32(in);
	flags = packed_limited(in, PART_ENDS | PART_TAIL | PART_EDGES);
	p->ends = flags & PART_ENDS;
	p->stages = take_text(u);
	in->bad |= p->last < p->first || p->last == UINT32_MAX || !(flags & PART_EDGES) != !s->pair;
	if (in->bad || !p->stages)
		return -1;
	if (flags & PART_TAIL && take_tail(u, p, number))
		return -1;
	if (!(flags & PART_EDGES))
		return 0;
	p->edges = statistics_pair_edges(s);
	return p->edges ? take_edges(u, p->edges) : unpack_no_memory(u);
}

int unpack_parts(struct unpacker *u)
{
	struct parts *ps = &u->ss->to->parts;
	uint64_t n = packed_count(&u->in, 5);

	u->in.bad |= u->most > u->tails + n || n > UINT32_MAX - u->tails;
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		struct part *p = parts_add(ps);

		if (!p)
			return unpack_no_memory(u);
		if (take_part(u, p, u->tails + i + 1))
			return -1;
	}
	ps->tails += (uint32_t)n;
	return u->in.bad ? -1 : 0;
}

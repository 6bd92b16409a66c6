#include "cmd/trstat/summary/part.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/util/buffer.h"

static void part_free(struct part *p)
{
	free(p->stages);
	slow_list_free(&p->tail.slowest);
	pair_edges_free(p->edges);
}

void parts_truncate(struct parts *ps, size_t count)
{
	while (ps->count > count)
		part_free(&ps->part[--ps->count]);
}

void parts_free(struct parts *ps)
{
	parts_truncate(ps, 0);
	free(ps->part);
	*ps = (struct parts){0};
}

struct part *parts_add(struct parts *ps)
{
	struct part *p;

	if (ARRAY_GROW(ps->part, ps->capacity, ps->count))
		return NULL;
	p = ps->part;
	p += ps->count++;
	*p = (struct part){0};
	return p;
}

static int by_position(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	if (p->stream_id != q->stream_id)
		return p->stream_id < q->stream_id ? -1 : 1;
	return (p->first > q->first) - (p->first < q->first);
}

/* Refuse parts of one stream that went through different programs. -1 with e filled. */
static int check_stages(const struct part *p, const struct part *q, struct error *e)
{
	const char *a = p->stages ? p->stages : "", *b = q->stages ? q->stages : "";

	if (p->stream_id != q->stream_id || !strcmp(a, b))
		return 0;
	return error_set(e, q->file, NO_OFFSET,
			 "is of the stream %016" PRIx64 " after '%.150s', %.60s after '%.150s'",
			 q->stream_id, *b ? b : "trdecode", p->file ? p->file : "the rest",
			 *a ? a : "trdecode");
}

static void drop_tail(struct part *p)
{
	slow_list_free(&p->tail.slowest);
	p->tail = (struct part_tail){0};
}

int parts_sort(struct parts *ps, struct error *e)
{
	if (ps->count)
		qsort(ps->part, ps->count, sizeof(*ps->part), by_position);
	for (size_t i = 1; i < ps->count; i++) {
		struct part *p = &ps->part[i - 1];
		const struct part *q = &ps->part[i];
		bool two = p->file && q->file && strcmp(p->file, q->file) != 0;

		if (check_stages(p, q, e))
			return -1;
		if (p->stream_id != q->stream_id)
			continue;
		if (q->first <= p->last || p->ends)
			return error_set(e, q->file, NO_OFFSET,
					 "segment %" PRIu32 " of the stream %016" PRIx64
					 " is counted twice%s%s",
					 q->first, q->stream_id, two ? ", also in " : "",
					 two ? p->file : "");
		drop_tail(p);
	}
	return 0;
}

/* Returns true if p is the last part of its stream; the parts are sorted. */
static bool parts_is_last(const struct parts *ps, const struct part *p)
{
	return p + 1 == ps->part + ps->count || p[1].stream_id != p->stream_id;
}

/* --- pairs --- */

/* Count the pair in the group of s->cells. */
static int add_pair(struct statistics *s, const struct aggregate *b, uint64_t when, uint64_t time,
		    uint64_t self)
{
	const struct columns_wanted *w = &s->columns->wanted;
	struct aggregate *into = groups_find(&s->groups, s->cells);

	if (!into || aggregate_merge(into, b, w) ||
	    aggregate_call(into, w, time, self, false, when) ||
	    (w->busy && statistics_add_busy(s, when - time, when)))
		return -1;
	for (uint32_t i = 0; i < w->field_count; i++) {
		if (!w->field[i].time)
			continue;
		aggregate_field_seen(into, w, i);
		if (aggregate_number(into, w, i,
				     (int128)(w->field[i].time == TIME_SELF ? self : time)))
			return -1;
	}
	return 0;
}

/* Count the pair of a B, from an edge, and an earlier A, from another one. */
static int count_pair(struct statistics *s, const struct pair_edges *e, const struct aggregate *b,
		      const struct pair_edge *a, const struct key_cell *fields)
{
	uint64_t when = pair_edge(e, b)->b, time = when > a->a ? when - a->a : 0, self = time;

	memcpy(s->cells, pair_edge_b(e, b), e->b_cells * sizeof(*s->cells));
	for (size_t i = 0; i < s->keys->count; i++) {
		struct key_cell *cell = &s->cells[i];
		uint64_t field = cell->value;

		if (cell->kind != KEY_PENDING)
			continue;
		if (field != KEY_PENDING_TIME)
			*cell = fields[field].kind != KEY_MISSING ? fields[field]
								  : pair_edge_other(e, b)[field];
		if (cell->kind == KEY_PENDING)
			*cell = key_unsigned(time);
		if (s->keys->key[i].transform)
			s->cells[i] = key_transform(&s->keys->key[i], s->cells[i]);
	}
	do {
		if (add_pair(s, b, when, time, self))
			return -1;
		self = 0;
	} while (statistics_to_caller(s));
	s->pair->pairs++;
	return 0;
}

/* Let the edge of a later part follow that of the same "on" in an earlier part. */
static int join_edge(struct statistics *s, const struct pair_edges *into, struct aggregate *a,
		     const struct pair_edges *from, const struct aggregate *b)
{
	struct pair_edge *e = pair_edge(into, a);
	const struct pair_edge *later = pair_edge(from, b);

	if (e->first == PAIR_NONE) {
		memcpy(e, later,
		       sizeof(*e) + (into->b_cells + 2 * into->a_cells) * sizeof(struct key_cell));
		return aggregate_merge(a, b, &s->columns->wanted);
	}
	if (later->first == PAIR_B && !e->waiting)
		s->pair->ended++;
	else if (later->first == PAIR_B && count_pair(s, from, b, e, pair_edge_a(into, a)))
		return -1;
	else if (later->first == PAIR_A)
		s->pair->replaced += e->waiting;
	e->waiting = later->waiting;
	e->a = later->a;
	memcpy(pair_edge_a(into, a), pair_edge_a(from, b), into->a_cells * sizeof(struct key_cell));
	return 0;
}

/* Let the edges of a later part follow those of an earlier one. */
static int follow_all(struct statistics *s, struct pair_edges *into, const struct pair_edges *from)
{
	for (size_t i = 0; i < from->map.count; i++) {
		const struct aggregate *b = groups_at(&from->map, i);
		struct aggregate *a = pair_edges_find(into, groups_cells(&from->map, b));

		if (!a || join_edge(s, into, a, from, b))
			return -1;
	}
	return 0;
}

/* The stream begins and ends with these edges. */
static void count_edges(struct statistics *s, const struct pair_edges *e)
{
	uint64_t waiting = 0;

	for (size_t i = 0; i < e->map.count; i++) {
		const struct pair_edge *edge = pair_edge(e, groups_at(&e->map, i));

		s->pair->ended += edge->first == PAIR_B;
		waiting += edge->waiting;
	}
	s->pair->left += waiting;
}

int parts_join(struct parts *ps, struct statistics *s)
{
	size_t n = 0;

	for (size_t i = 0; i < ps->count; i++) {
		struct part *q = &ps->part[i], *p = n ? &ps->part[n - 1] : NULL;

		if (!p || p->stream_id != q->stream_id || p->last + 1 != q->first) {
			ps->part[n++] = *q;
			if (q != &ps->part[n - 1])
				*q = (struct part){0};
			continue;
		}
		if (p->edges && follow_all(s, p->edges, q->edges))
			return -1;
		p->last = q->last;
		p->ends = q->ends;
		p->tail = q->tail;
		q->tail = (struct part_tail){0};
		part_free(q);
		*q = (struct part){0};
	}
	ps->count = n;
	return 0;
}

int parts_count_pairs(struct parts *ps, struct statistics *s)
{
	struct pair_edges *stream = NULL;

	for (size_t i = 0; i < ps->count; i++) {
		struct part *p = &ps->part[i];

		if (!p->edges)
			continue;
		if (!stream)
			stream = p->edges;
		else if (follow_all(s, stream, p->edges))
			return -1;
		if (!parts_is_last(ps, p))
			continue;
		count_edges(s, stream);
		stream = NULL;
	}
	return 0;
}

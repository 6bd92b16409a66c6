/*
 * summary.c - --partial and --merge: write and read the file of a summary, and join summaries
 *
 *     trstat --partial 1.trs >1.sum
 *     trstat --partial 2.trs >2.sum
 *     trstat --merge 1.sum 2.sum     the table of both parts
 */
#include "cmd/trstat/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trstat/run.h"
#include "cmd/trstat/table.h"
#include "common/calls/call_stacks.h"
#include "common/cli/program.h"
#include "common/util/buffer.h"
#include "common/util/packed.h"

/* 7 has floats, as keys and in sums of fields; 6 is read. */
enum { SUMMARY_VERSION = 8, SUMMARY_OLDEST = 6 };

enum summary_flags {
	SUMMARY_TICKS = 1,
	SUMMARY_NAMELESS = 2, /* functions are shown by their addresses */
	SUMMARY_WEIGHTS = 4,  /* totals are weights of samples that are no times */
	SUMMARY_SAMPLES = 8,  /* the name of the samples' type ends the head */
};

enum part_flags { PART_ENDS = 1, PART_TAIL = 2, PART_EDGES = 4 };

/* The identity of a thread in any program: its stream, and the words of dictionary_thread. */
struct summary_thread {
	uint64_t stream_id;
	uint32_t word[THREAD_WORDS];
	uint32_t zero; /* the struct is compared by its bytes */
};

/*
 * Decode the content of a summary, section by section.
 *
 * Every value is checked; an impossible one sets in.bad. All functions return 0, or -1 with in.bad,
 * out_of_memory, or *e set.
 */

/* The state of decoding one summary. */
struct unpacker {
	struct summaries *ss;
	struct packed in;
	struct error *e;
	uint64_t tails; /* added to the number that a tail has in the summary */
	uint64_t most;	/* the greatest number of a group's tail */
	bool out_of_memory;
};

/* Set out_of_memory and return -1. */
static inline int summary_unpack_no_memory(struct unpacker *u)
{
	u->out_of_memory = true;
	return -1;
}

static void packed_stacks_free(struct packed_stacks *ps)
{
	free(ps->number);
	free(ps->node);
	*ps = (struct packed_stacks){0};
}

/* A flag of the kind of a number in a summary: the number's name precedes its value. */
enum { NAMED = 0x80 };

/* Append cells. stacks: needed if cells may be stacks, else NULL. Returns -1 when out of memory. */
static int pack_cells(struct buffer *b, const struct groups *g, const struct key_cell *cells,
		      size_t n, const struct packed_stacks *stacks)
{
	int bad = 0;

	for (size_t i = 0; i < n && !bad; i++) {
		bool name = cells[i].label && key_is_number(&cells[i]);

		bad = buffer_u8(b, (uint8_t)(cells[i].kind | (name ? NAMED : 0)));
		if (name || cells[i].kind == KEY_TEXT)
			bad |= packed_put_bytes(b, intern_data(&g->texts.intern, cells[i].text),
						intern_size(&g->texts.intern, cells[i].text));
		if (cells[i].kind == KEY_STACK)
			bad |= buffer_uleb(b, stacks->number[cells[i].value]);
		else if (cells[i].kind != KEY_MISSING && cells[i].kind != KEY_TEXT)
			bad |= buffer_uleb(b, cells[i].value);
	}
	return bad;
}

/* Read the node of a stack. */
static void unpack_stack(struct packed *in, const struct packed_stacks *stacks,
			 struct key_cell *cell)
{
	if (!stacks || !cell->value || cell->value >= stacks->count)
		in->bad = true;
	else
		cell->value = stacks->node[cell->value];
}

static void unpack_real(struct packed *in, struct key_cell *cell)
{
	double real = key_real_value(cell);

	if (isfinite(real))
		*cell = key_real(real, false);
	else
		in->bad = true;
}

/* Read n cells; texts go to g. pending: 1 + the number of fields that a KEY_PENDING may be of; 0:
 * it is impossible. Returns -1 when out of memory; impossible values set in->bad. */
static int unpack_cells(struct packed *in, struct groups *g, struct key_cell *cells, size_t n,
			const struct packed_stacks *stacks, size_t pending)
{
	for (size_t i = 0; i < n && !in->bad; i++) {
		const uint8_t *kind = packed_take(in, 1), *text;
		size_t size;

		cells[i] = (struct key_cell){0};
		if (!kind || *kind == KEY_MISSING)
			continue;
		if (*kind == KEY_TEXT || *kind & NAMED) {
			text = packed_bytes(in, &size);
			if (!in->bad &&
			    groups_text(g, text ? (const char *)text : "", size, &cells[i]))
				return -1;
			if (*kind == KEY_TEXT)
				continue;
		}
		cells[i].kind = *kind & ~NAMED;
		cells[i].label = *kind & NAMED;
		cells[i].value = packed_u64(in);
		in->bad |= cells[i].label && !key_is_number(&cells[i]);
		switch (cells[i].kind) {
		case KEY_ADDRESS:
		case KEY_UNSIGNED: break;
		case KEY_SIGNED: in->bad |= (int64_t)cells[i].value >= 0; break;
		case KEY_REAL: unpack_real(in, &cells[i]); break;
		case KEY_STACK: unpack_stack(in, stacks, &cells[i]); break;
		case KEY_PENDING:
			in->bad |= !pending || (cells[i].value >= pending - 1 &&
						cells[i].value != KEY_PENDING_TIME);
			break;
		default: in->bad = true;
		}
	}
	return 0;
}

/* --- parts of an aggregate --- */

static int pack_histogram(struct buffer *b, const struct histogram *h)
{
	struct histogram_iterator it;
	struct histogram_bucket bucket;
	uint32_t last = 0;
	size_t n = 0;
	int bad = 0;

	for (histogram_begin(&it, h); histogram_next(&it, &bucket);)
		n++;
	bad = buffer_uleb(b, n);
	for (histogram_begin(&it, h); !bad && histogram_next(&it, &bucket);) {
		bad = buffer_uleb(b, bucket.index - last) || buffer_uleb(b, bucket.count);
		last = bucket.index;
	}
	return bad;
}

static int unpack_histogram(struct packed *in, struct histogram *h)
{
	uint64_t n = packed_count(in, 2), index = 0;

	for (uint64_t i = 0; i < n && !in->bad; i++) {
		uint64_t count;

		index += packed_limited(in, HISTOGRAM_BUCKETS - 1);
		count = packed_u64(in);
		if (index >= HISTOGRAM_BUCKETS || !count)
			in->bad = true;
		else if (histogram_add_bucket(h, (uint32_t)index, count)) {
			if (errno == ENOMEM)
				return -1;
			in->bad = true;
		}
	}
	return 0;
}

static int pack_squares(struct buffer *b, const struct squares *s)
{
	return packed_put_u128(b, s->low) || buffer_uleb(b, s->high);
}

static void unpack_squares(struct packed *in, struct squares *s)
{
	s->low = packed_u128(in);
	s->high = packed_u64(in);
}

static int summary_by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return (p > q) - (p < q);
}

/* Write the hashes sorted, because their order in the table is that of insertion. */
static int pack_hashes(struct buffer *b, const struct distinct *d)
{
	uint64_t sorted[DISTINCT_EXACT + 1], last = 0;
	size_t n = 0;
	int bad;

	for (uint32_t i = 0; i < d->capacity && n < DISTINCT_EXACT; i++)
		if (d->hashes[i])
			sorted[n++] = d->hashes[i];
	if (d->zero)
		sorted[n++] = 0;
	qsort(sorted, n, sizeof(*sorted), summary_by_value);
	bad = buffer_uleb(b, n);
	for (size_t i = 0; i < n && !bad; i++) {
		bad = buffer_uleb(b, sorted[i] - last);
		last = sorted[i];
	}
	return bad;
}

static int pack_distinct(struct buffer *b, const struct distinct *d)
{
	size_t used = 0;
	uint32_t last = 0;
	int bad = buffer_u8(b, d->registers != NULL);

	if (!d->registers)
		return bad || pack_hashes(b, d);
	for (uint32_t i = 0; i < DISTINCT_REGISTERS; i++)
		used += d->registers[i] != 0;
	bad = bad || buffer_uleb(b, used);
	for (uint32_t i = 0; i < DISTINCT_REGISTERS && !bad; i++) {
		if (!d->registers[i])
			continue;
		bad = buffer_uleb(b, i - last) || buffer_u8(b, d->registers[i]);
		last = i;
	}
	return bad;
}

static int unpack_distinct(struct packed *in, struct distinct *d)
{
	const uint8_t *estimated = packed_take(in, 1), *rank;
	uint64_t n = packed_count(in, 1), at = 0;

	if (!estimated || in->bad || *estimated > 1 || (!*estimated && n > DISTINCT_EXACT)) {
		in->bad = true;
		return 0;
	}
	for (uint64_t i = 0; i < n && !in->bad; i++) {
		at += packed_u64(in);
		if (!*estimated) {
			if (distinct_add(d, at))
				return -1;
			continue;
		}
		rank = packed_take(in, 1);
		if (!rank || at >= DISTINCT_REGISTERS || distinct_raise(d, (uint32_t)at, *rank)) {
			if (rank && errno == ENOMEM)
				return -1;
			in->bad = true;
		}
	}
	return 0;
}

enum field_flags { FIELD_SEEN = 1, FIELD_FRACTIONS = 2 };

static int pack_field(struct buffer *b, const struct aggregate_field *f,
		      const struct wanted_field *wanted)
{
	const struct group_number *n[] = {&f->sum, &f->min, &f->max};
	uint32_t flags = f->seen ? FIELD_SEEN : 0;
	uint64_t bits;
	int bad;

	for (int i = 0; i < 3; i++)
		if (n[i]->fraction != 0)
			flags |= FIELD_FRACTIONS;
	bad = buffer_uleb(b, flags) || buffer_uleb(b, f->count);
	for (int i = 0; i < 3 && !bad; i++) {
		bad = packed_put_i128(b, n[i]->whole);
		memcpy(&bits, &n[i]->fraction, sizeof bits);
		if (flags & FIELD_FRACTIONS)
			bad = bad || buffer_uleb(b, bits);
	}
	if (bad || (wanted->histogram && pack_histogram(b, &f->histogram)))
		return -1;
	return wanted->uniq ? pack_distinct(b, &f->distinct) : 0;
}

static int unpack_field(struct packed *in, struct aggregate_field *f,
			const struct wanted_field *wanted)
{
	struct group_number *n[] = {&f->sum, &f->min, &f->max};
	uint64_t flags = packed_limited(in, FIELD_SEEN | FIELD_FRACTIONS), bits;

	f->seen = flags & FIELD_SEEN;
	f->count = packed_u64(in);
	for (int i = 0; i < 3; i++) {
		n[i]->whole = packed_i128(in);
		if (!(flags & FIELD_FRACTIONS))
			continue;
		bits = packed_u64(in);
		memcpy(&n[i]->fraction, &bits, sizeof bits);
		if (!isfinite(n[i]->fraction)) {
			n[i]->fraction = 0;
			in->bad = true;
		}
	}
	if (wanted->histogram && unpack_histogram(in, &f->histogram))
		return -1;
	return wanted->uniq ? unpack_distinct(in, &f->distinct) : 0;
}

static int pack_aggregate(struct buffer *b, const struct aggregate *a,
			  const struct columns_wanted *w)
{
	const struct aggregate_field *fields = aggregate_part(a, w->fields);
	int bad = buffer_uleb(b, a->calls) || buffer_uleb(b, a->instants);

	if (!a->calls)
		bad = bad || buffer_u8(b, aggregate_has_times(a));
	if (aggregate_has_times(a))
		bad = bad || packed_put_u128(b, (uint128)a->total) ||
		      packed_put_u128(b, (uint128)a->recursive) ||
		      packed_put_u128(b, (uint128)a->self) ||
		      buffer_uleb(b, (uint64_t)a->total_min) ||
		      buffer_uleb(b, (uint64_t)a->total_max) ||
		      buffer_uleb(b, (uint64_t)a->self_min) ||
		      buffer_uleb(b, (uint64_t)a->self_max);
	if (w->times) {
		const struct time_span *t = aggregate_part(a, w->times);

		bad = bad || buffer_uleb(b, t->since) || buffer_uleb(b, t->last);
	}
	if (w->histogram)
		bad = bad || pack_histogram(b, aggregate_part(a, w->histogram));
	if (w->total_stdev)
		bad = bad || pack_squares(b, aggregate_part(a, w->total_stdev));
	if (w->self_stdev)
		bad = bad || pack_squares(b, aggregate_part(a, w->self_stdev));
	if (w->busy)
		bad = bad || packed_put_u128(b, *(const uint128 *)aggregate_part(a, w->busy));
	for (uint32_t i = 0; i < w->field_count && !bad; i++)
		bad = pack_field(b, &fields[i], &w->field[i]);
	return bad ? -1 : 0;
}

/* Read an aggregate, with the parts that it was packed with; a is fresh from aggregate_init.
 * Returns -1 when out of memory; impossible values set in->bad. */
static int unpack_aggregate(struct packed *in, struct aggregate *a, const struct columns_wanted *w)
{
	struct aggregate_field *fields = aggregate_part(a, w->fields);

	a->calls = packed_u64(in);
	a->instants = packed_u64(in);
	if (a->calls || packed_limited(in, 1)) {
		a->total = (int128)packed_u128(in);
		a->recursive = (int128)packed_u128(in);
		a->self = (int128)packed_u128(in);
		a->total_min = (int64_t)packed_u64(in);
		a->total_max = (int64_t)packed_u64(in);
		a->self_min = (int64_t)packed_u64(in);
		a->self_max = (int64_t)packed_u64(in);
		if (!a->calls)
			aggregate_no_extremes(a);
	}
	if (w->times) {
		struct time_span *t = aggregate_part(a, w->times);

		t->since = packed_u64(in);
		t->last = packed_u64(in);
	}
	if (w->histogram && unpack_histogram(in, aggregate_part(a, w->histogram)))
		return -1;
	if (w->total_stdev)
		unpack_squares(in, aggregate_part(a, w->total_stdev));
	if (w->self_stdev)
		unpack_squares(in, aggregate_part(a, w->self_stdev));
	if (w->busy)
		*(uint128 *)aggregate_part(a, w->busy) = packed_u128(in);
	for (uint32_t i = 0; i < w->field_count && !in->bad; i++)
		if (unpack_field(in, &fields[i], &w->field[i]))
			return -1;
	return 0;
}

/* --- part --- */

static void pair_edges_free(struct pair_edges *e)
{
	if (!e)
		return;
	groups_free(&e->map);
	free(e);
}

static enum outcome note_first(struct pair_edges *e, const struct key_cell *on,
			       enum pair_first which, struct aggregate **entry)
{
	struct pair_edge *edge;

	*entry = pair_edges_find(e, on);
	if (!*entry)
		return OUTCOME_FAILED;
	edge = pair_edge(e, *entry);
	if (edge->first != PAIR_NONE)
		return OUTCOME_NO;
	edge->first = which;
	return OUTCOME_YES;
}

/* Move an A that waits to the pair's edges, at the end of a part. Returns -1 when out of memory. */
static int keep_waiting(struct pair *p, const struct key_cell *on, const struct key_cell *begun,
			uint64_t time)
{
	struct aggregate *a = pair_edges_find(p->edges, on);
	struct pair_edge *edge;

	if (!a)
		return -1;
	edge = pair_edge(p->edges, a);
	edge->waiting = true;
	edge->a = time;
	memcpy(pair_edge_a(p->edges, a), begun, p->edges->a_cells * sizeof(*begun));
	return 0;
}

static void part_free(struct summary_part *p)
{
	free(p->stages);
	slow_list_free(&p->tail.slowest);
	pair_edges_free(p->edges);
}

/* Free the parts from that index on. */
static void parts_truncate(struct parts *ps, size_t count)
{
	while (ps->count > count)
		part_free(&ps->part[--ps->count]);
}

static void parts_free(struct parts *ps)
{
	parts_truncate(ps, 0);
	free(ps->part);
	*ps = (struct parts){0};
}

/* Add an empty part; NULL when out of memory. */
static struct summary_part *parts_add(struct parts *ps)
{
	struct summary_part *p;

	if (ARRAY_GROW(ps->part, ps->capacity, ps->count))
		return NULL;
	p = ps->part;
	p += ps->count++;
	*p = (struct summary_part){0};
	return p;
}

static int by_position(const void *a, const void *b)
{
	const struct summary_part *p = a, *q = b;

	if (p->stream_id != q->stream_id)
		return p->stream_id < q->stream_id ? -1 : 1;
	return (p->first > q->first) - (p->first < q->first);
}

/* Refuse parts of one stream that went through different programs. -1 with e filled. */
static int check_stages(const struct summary_part *p, const struct summary_part *q, struct error *e)
{
	const char *a = p->stages ? p->stages : "", *b = q->stages ? q->stages : "";

	if (p->stream_id != q->stream_id || !strcmp(a, b))
		return 0;
	return error_set(e, q->file, NO_OFFSET,
			 "is of the stream %016" PRIx64 " after '%.150s', %.60s after '%.150s'",
			 q->stream_id, *b ? b : "trdecode", p->file ? p->file : "the rest",
			 *a ? a : "trdecode");
}

static void drop_tail(struct summary_part *p)
{
	slow_list_free(&p->tail.slowest);
	memset(&p->tail, 0, sizeof(p->tail));
}

/*
 * Sort the parts by stream and position, and drop the tails of those that are not the last of their
 * stream. Returns -1 with e filled if a segment occurs twice.
 */
static int parts_sort(struct parts *ps, struct error *e)
{
	if (ps->count)
		qsort(ps->part, ps->count, sizeof(*ps->part), by_position);
	for (size_t i = 1; i < ps->count; i++) {
		struct summary_part *p = &ps->part[i - 1];
		const struct summary_part *q = &ps->part[i];
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
static bool parts_is_last(const struct parts *ps, const struct summary_part *p)
{
	return p + 1 == ps->part + ps->count || p[1].stream_id != p->stream_id;
}

/* --- pairs --- */

/* Count the pair in the group of s->cells. */
static int summary_add_pair(struct statistics *s, const struct aggregate *b, uint64_t when,
			    uint64_t time, uint64_t self)
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
		if (summary_add_pair(s, b, when, time, self))
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

/* Make each consecutive run of segments one part, and count the pairs that this decides in s. The
 * parts are sorted. Returns -1 when out of memory, or (EOVERFLOW) if their numbers are impossible.
 */
static int parts_join(struct parts *ps, struct statistics *s)
{
	size_t n = 0;

	for (size_t i = 0; i < ps->count; i++) {
		struct summary_part *q = &ps->part[i], *p = n ? &ps->part[n - 1] : NULL;

		if (!p || p->stream_id != q->stream_id || p->last + 1 != q->first) {
			ps->part[n++] = *q;
			if (q != &ps->part[n - 1])
				*q = (struct summary_part){0};
			continue;
		}
		if (p->edges && follow_all(s, p->edges, q->edges))
			return -1;
		p->last = q->last;
		p->ends = q->ends;
		p->tail = q->tail;
		memset(&q->tail, 0, sizeof(q->tail));
		part_free(q);
		*q = (struct summary_part){0};
	}
	ps->count = n;
	return 0;
}

/* Count the pairs of all parts, each stream whole, in s. The parts are sorted. */
static int parts_count_pairs(struct parts *ps, struct statistics *s)
{
	struct pair_edges *stream = NULL;

	for (size_t i = 0; i < ps->count; i++) {
		struct summary_part *p = &ps->part[i];

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

/* --- decode the groups of a summary --- */

/* Decode an aggregate and add it to `to`, which has the layout w; field i of w is fields[i] of the
 * summary, or i where fields is NULL. */
static int add_aggregate(struct unpacker *u, struct aggregate *to, const struct columns_wanted *w,
			 const uint32_t *fields)
{
	const struct columns_wanted *stored = &u->ss->stored.wanted;
	struct aggregate *one = aligned_alloc(16, stored->size);
	int bad = -1;

	if (!one)
		return summary_unpack_no_memory(u);
	memset(one, 0, stored->size);
	aggregate_init(one, stored);
	errno = 0;
	if (unpack_aggregate(&u->in, one, stored))
		summary_unpack_no_memory(u);
	else if (!u->in.bad)
		bad = aggregate_merge_of(to, w, one, stored, fields);
	if (bad && errno == ENOMEM)
		summary_unpack_no_memory(u);
	u->in.bad |= bad && !u->out_of_memory;
	aggregate_free(one, stored);
	free(one);
	return bad;
}

/* Decode the cells of a group, and give its tail the number that it has here. */
static int take_cells(struct unpacker *u, struct statistics *s)
{
	struct key_cell *more = s->cells + s->keys->count;
	struct key_cell *tail = more + CELL_TAIL;

	/* the statistics have numbered these texts */
	if (unpack_cells(&u->in, &s->groups, s->cells, s->keys->count, &u->ss->stacks, 0) ||
	    unpack_cells(&u->in, &s->groups, more, SUMMARY_CELLS, NULL, 0))
		return summary_unpack_no_memory(u);
	if (u->in.bad)
		return -1;
	u->in.bad |=
		more[CELL_INTERVAL].kind != KEY_MISSING && more[CELL_INTERVAL].kind != KEY_UNSIGNED;
	if (tail->kind != KEY_MISSING) {
		u->in.bad |= tail->kind != KEY_UNSIGNED || !tail->value || tail->value > UINT32_MAX;
		tail->value += u->tails;
		u->most = tail->value > u->most ? tail->value : u->most;
	}
	return u->in.bad ? -1 : 0;
}

/* Decode the groups into summaries.waiting. */
static int unpack_groups(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	struct groups *g = &ss->waiting;
	struct statistics *s = ss->to->s;
	uint64_t n = packed_count(&u->in, 2);

	groups_init(g, s->keys->count + SUMMARY_CELLS, &ss->stored.wanted);
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		size_t before = g->count;
		struct aggregate *a;

		if (take_cells(u, s))
			return -1;
		a = groups_find(g, s->cells);
		if (!a)
			return summary_unpack_no_memory(u);
		if (g->count > before) {
			if (unpack_aggregate(&u->in, a, g->wanted))
				return summary_unpack_no_memory(u);
		} else if (add_aggregate(u, a, g->wanted, NULL)) {
			return -1;
		}
	}
	return u->in.bad ? -1 : 0;
}

/* --- the head of a summary, compared with the query and the other summaries' heads --- */

enum { LIST_LIMIT = 4096 }; /* most keys or columns */

/* Read texts into a comma-separated list. */
static int summary_take_list(struct unpacker *u, char **list, uint64_t n)
{
	struct buffer b = {0};

	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		size_t size;
		const uint8_t *text = packed_bytes(&u->in, &size);

		if (u->in.bad || (!size && n > 1) || (size && memchr(text, '\0', size))) {
			u->in.bad = true;
			break;
		}
		if (buffer_append(&b, ",", i > 0) || buffer_append(&b, text, size)) {
			buffer_free(&b);
			return summary_unpack_no_memory(u);
		}
	}
	if (u->in.bad || buffer_u8(&b, 0)) {
		buffer_free(&b);
		return u->in.bad ? -1 : summary_unpack_no_memory(u);
	}
	*list = (char *)b.data;
	return 0;
}

/* Read a text that may be missing. */
static int summary_take_option(struct unpacker *u, char **option)
{
	return packed_limited(&u->in, 1) ? summary_take_list(u, option, 1) : 0;
}

static void free_head(struct summary_head *h)
{
	free(h->keys);
	free(h->columns);
	free(h->group);
	free(h->asked);
	free(h->sort);
	free(h->view_argument);
	free(h->interval);
	free(h->pair);
	free(h->sampled);
	h->keys = h->columns = h->group = h->asked = h->sort = h->view_argument = h->interval =
		h->pair = h->sampled = NULL;
}

static int summary_take_head(struct unpacker *u, struct summary_head *h)
{
	struct packed *in = &u->in;
	uint64_t flags = packed_u64(in);

	h->ticks = flags & SUMMARY_TICKS;
	h->nameless = flags & SUMMARY_NAMELESS;
	h->weights = flags & SUMMARY_WEIGHTS;
	if (summary_take_list(u, &h->keys, packed_limited(in, LIST_LIMIT)))
		return -1;
	if (summary_take_list(u, &h->columns, packed_limited(in, LIST_LIMIT)) ||
	    summary_take_option(u, &h->group) || summary_take_option(u, &h->asked) ||
	    summary_take_option(u, &h->sort))
		return -1;
	h->view = (uint32_t)packed_limited(in, VIEW_SLOWEST);
	if (summary_take_option(u, &h->view_argument) || summary_take_option(u, &h->interval) ||
	    summary_take_option(u, &h->pair))
		return -1;
	/* the argument of these views is never left out */
	if (!h->view_argument && h->view != VIEW_TABLE && h->view != VIEW_TREE &&
	    h->view != VIEW_HIST)
		in->bad = true;
	h->first = packed_u64(in);
	h->last = packed_u64(in);
	h->unmatched = packed_u64(in);
	h->unfinished = packed_u64(in);
	h->ignored_kernel = packed_u64(in);
	for (size_t i = 0; h->pair && i < SUMMARY_PAIR_COUNTS; i++)
		h->pairs[i] = packed_u64(in);
	if (flags & SUMMARY_SAMPLES && summary_take_list(u, &h->sampled, 1))
		return -1;
	return in->bad ? -1 : 0;
}

/* Returns true if there has the parts that here needs, apart from fields. */
static bool columns_given(const struct columns_wanted *there, const struct columns_wanted *here)
{
	return (there->histogram || !here->histogram) && (there->times || !here->times) &&
	       (there->total_stdev || !here->total_stdev) &&
	       (there->self_stdev || !here->self_stdev) && (there->busy || !here->busy);
}

/* Check that the summary has all needed columns, and find the numbers of their fields in it. */
static int match_columns(struct unpacker *u, const struct summary_head *h)
{
	struct summaries *ss = u->ss;
	const struct columns_wanted *here = &ss->to->s->columns->wanted;
	const struct columns_wanted *there = &ss->stored.wanted;
	bool enough = columns_given(there, here);
	uint32_t *fields = realloc(ss->fields, (here->field_count + 1) * sizeof(*fields));

	if (!fields)
		return summary_unpack_no_memory(u);
	ss->fields = fields;
	for (uint32_t i = 0; enough && i < here->field_count; i++) {
		int at = columns_field(&ss->stored, here->field[i].name);

		enough = at >= 0 && (there->field[at].uniq || !here->field[i].uniq) &&
			 (there->field[at].histogram || !here->field[i].histogram);
		fields[i] = (uint32_t)at;
	}
	if (enough)
		return 0;
	return error_set(
		u->e, ss->file, NO_OFFSET,
		"the summary has the columns '%s', from which these columns cannot be calculated",
		h->columns);
}

/* Get the names of keys as a list. */
static char *join_keys(const struct keys *k)
{
	struct buffer b = {0};
	int bad = 0;

	for (size_t i = 0; i < k->count; i++)
		bad |= buffer_append(&b, ",", i > 0) ||
		       buffer_append(&b, k->names[i], strlen(k->names[i]));
	if (!bad && !buffer_u8(&b, 0))
		return (char *)b.data;
	buffer_free(&b);
	return NULL;
}

/* Check an option that the summary and the table must have in common. */
static int match_option(struct unpacker *u, const char *option, const char *there, const char *here)
{
	if (!there == !here && (!there || !strcmp(there, here)))
		return 0;
	return error_set(u->e, u->ss->file, NO_OFFSET, "a summary %s%s%s%s, and not %s%s%s%s",
			 there ? "with " : "without ", option, there ? " " : "", there ? there : "",
			 here ? "with " : "without ", option, here ? " " : "", here ? here : "");
}

/* Check that both are of slowest calls, or neither is. */
static int match_slowest(struct unpacker *u, const struct summary_head *h)
{
	const struct summary *to = u->ss->to;
	bool there = h->view == VIEW_SLOWEST, here = to->asked->view == VIEW_SLOWEST;

	if (there != here)
		return error_set(u->e, u->ss->file, NO_OFFSET, "a summary %s the slowest calls",
				 there ? "of" : "without");
	if (!there ||
	    (h->view_argument && strtoul(h->view_argument, NULL, 10) >= to->slowest.limit))
		return 0;
	return error_set(u->e, u->ss->file, NO_OFFSET,
			 "the summary has the %s slowest calls, not %zu",
			 h->view_argument ? h->view_argument : "0", to->slowest.limit);
}

static int match_head(struct unpacker *u, struct summary_head *h)
{
	struct summaries *ss = u->ss;

	columns_free(&ss->stored); /* stored is out of date from here on */
	if (columns_parse(&ss->stored, h->columns, u->e)) {
		u->in.bad = true;
		return -1;
	}
	h->histograms = ss->stored.wanted.histogram;
	if (!ss->keys) {
		if (ss->begin(ss->ctx, h, u->e))
			return -1;
		ss->keys = join_keys(ss->to->s->keys);
		if (!ss->keys)
			return summary_unpack_no_memory(u);
	}
	if (match_option(u, "-i", h->interval, ss->to->asked->interval) ||
	    match_option(u, "--pair", h->pair, ss->to->asked->pair) || match_slowest(u, h))
		return -1;
	if (strcmp(ss->keys, h->keys) != 0)
		return error_set(u->e, ss->file, NO_OFFSET,
				 "the summary has the keys '%s', not '%s'", h->keys, ss->keys);
	return match_columns(u, h);
}

/* Decode the head. The first one calls summaries.begin; each later one must match it. */
static int unpack_head(struct unpacker *u)
{
	struct summary_head h = {0};
	int bad = summary_take_head(u, &h) || match_head(u, &h);

	free(u->ss->sampled);
	u->ss->sampled = h.sampled;
	h.sampled = NULL;
	free_head(&h);
	u->ss->head = h;
	return bad ? -1 : 0;
}

/* --- decode the parts of a summary, and slowest calls --- */

/* Read a text without NULs; NULL with in.bad or out_of_memory. */
static char *summary_take_text(struct unpacker *u)
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
		summary_unpack_no_memory(u);
	return copy;
}

static int summary_take_call(struct unpacker *u, struct slow_call *c)
{
	struct packed *in = &u->in;

	*c = (struct slow_call){.total = packed_u64(in), .self = packed_u64(in)};
	c->start = packed_u64(in);
	c->end = packed_u64(in);
	c->has = (uint32_t)packed_limited(in, SLOW_HAS);
	c->tid = (int32_t)packed_u32(in);
	c->pid = (int32_t)packed_u32(in);
	c->cpu = (int32_t)packed_u32(in);
	return (c->name = summary_take_text(u)) && (c->arguments = summary_take_text(u)) &&
			       (c->returned = summary_take_text(u)) &&
			       (c->stack = summary_take_text(u)) && (c->comm = summary_take_text(u))
		       ? 0
		       : -1;
}

/* Decode slowest calls. */
static int unpack_slowest(struct unpacker *u, struct slow_list *to)
{
	uint64_t n = packed_count(&u->in, 13);

	to->limit = u->ss->to->slowest.limit;
	for (uint64_t i = 0; i < n; i++) {
		struct slow_call c;

		if (summary_take_call(u, &c)) {
			slow_call_free(&c);
			return -1;
		}
		if (slow_list_add(to, &c))
			return summary_unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

/* Check the SUMMARY_CELLS of an event. */
static bool is_finished(const struct key_cell *more)
{
	return more[CELL_TAIL].kind == KEY_MISSING && (more[CELL_INTERVAL].kind == KEY_MISSING ||
						       more[CELL_INTERVAL].kind == KEY_UNSIGNED);
}

static int summary_take_edge(struct unpacker *u, struct pair_edges *edges)
{
	struct statistics *s = u->ss->to->s;
	const struct packed_stacks *stacks = s->stacks ? &u->ss->stacks : NULL;
	struct groups *texts = &s->groups;
	struct key_cell on[PAIR_ON_MOST];
	size_t before = edges->map.count;
	struct pair_edge *edge;
	struct aggregate *a;

	if (unpack_cells(&u->in, texts, on, edges->on, NULL, 0))
		return summary_unpack_no_memory(u);
	if (u->in.bad)
		return -1;
	a = pair_edges_find(edges, on);
	if (!a)
		return summary_unpack_no_memory(u);
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
			return summary_unpack_no_memory(u);
		u->in.bad |= !is_finished(pair_edge_b(edges, a) + s->keys->count);
		if (u->in.bad || add_aggregate(u, a, &s->columns->wanted, u->ss->fields))
			return -1;
	}
	if (edge->waiting) {
		edge->a = packed_u64(&u->in);
		if (unpack_cells(&u->in, texts, pair_edge_a(edges, a), edges->a_cells, stacks, 0))
			return summary_unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

static int take_edges(struct unpacker *u, struct pair_edges *edges)
{
	uint64_t n = packed_count(&u->in, 2);

	for (uint64_t i = 0; i < n; i++)
		if (summary_take_edge(u, edges))
			return -1;
	return u->in.bad ? -1 : 0;
}

static int take_tail(struct unpacker *u, struct summary_part *p, uint64_t number)
{
	p->tail.number = (uint32_t)number;
	p->tail.unfinished = packed_u64(&u->in);
	p->tail.ignored_kernel = packed_u64(&u->in);
	return unpack_slowest(u, &p->tail.slowest);
}

/* Make edges for a part with pairs. NULL when out of memory. */
static struct pair_edges *statistics_pair_edges(const struct statistics *s)
{
	return pair_edges_new(&s->columns->wanted, s->pair->a.on.count, s->keys->count + s->more,
			      s->keys->begins);
}

static int take_part(struct unpacker *u, struct summary_part *p, uint64_t number)
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
	p->stages = summary_take_text(u);
	in->bad |= p->last < p->first || p->last == UINT32_MAX || !(flags & PART_EDGES) != !s->pair;
	if (in->bad || !p->stages)
		return -1;
	if (flags & PART_TAIL && take_tail(u, p, number))
		return -1;
	if (!(flags & PART_EDGES))
		return 0;
	p->edges = statistics_pair_edges(s);
	return p->edges ? take_edges(u, p->edges) : summary_unpack_no_memory(u);
}

/* Decode the parts, after the stacks. */
static int unpack_parts(struct unpacker *u)
{
	struct parts *ps = &u->ss->to->parts;
	uint64_t n = packed_count(&u->in, 5);

	u->in.bad |= u->most > u->tails + n || n > UINT32_MAX - u->tails;
	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		struct summary_part *p = parts_add(ps);

		if (!p)
			return summary_unpack_no_memory(u);
		if (take_part(u, p, u->tails + i + 1))
			return -1;
	}
	ps->tails += (uint32_t)n;
	return u->in.bad ? -1 : 0;
}

/*
 * Encode and decode the stacks of a summary, which precede the groups that use them.
 *
 *     stacks  = count thread* count base* count frame* count unseen*
 *     thread  = stream word[THREAD_WORDS]
 *     base    = thread unseen             the unseen calls of a thread (call_stacks.h)
 *     frame   = caller name               name = number bytes?
 *     unseen  = base to name              what names the innermost of a base's calls
 *
 * A thread is its number in the list. A caller is the number of a stack: 0 is the root, bases and
 * then frames are numbered from 1 on. A name equal to the next unused number is new, and its bytes
 * follow.
 */

struct stack_writer {
	const struct call_stacks *cs;
	uint32_t *number;    /* as in packed_stacks; of frames still without the bases */
	struct buffer order; /* nodes of frames, u32 */
	struct buffer path;
	uint32_t *base; /* by node: index of its base + 1; 0: a frame */
	uint32_t *used; /* by index of a base: its number; 0: not written */
	uint32_t nbases;
	uint32_t *named; /* by name: number + 1 */
	uint32_t names;
};

static struct summary_thread summary_thread_of(const struct summary *sm, uint32_t number)
{
	struct summary_thread t = {0};
	uint32_t stream;

	if (!sm->streams) {
		memcpy(&t, intern_data(&sm->threads, number), sizeof(t));
		return t;
	}
	stream = dictionary_thread(sm->s->dictionary, number, t.word);
	t.stream_id = stream < sm->nstreams ? sm->streams[stream] : 0;
	return t;
}

static void use_base(struct stack_writer *w, uint32_t index)
{
	if (!w->used[index])
		w->used[index] = ++w->nbases;
}

/* Number the stack and those below it, callers first. */
static int number_stack(struct stack_writer *w, uint32_t node)
{
	const struct stack_node *nodes = w->cs->tree.nodes;
	size_t count;

	for (w->path.size = 0; node != STACK_ROOT && !w->number[node] && !w->base[node];
	     node = nodes[node].parent)
		if (buffer_u32(&w->path, node))
			return -1;
	if (w->base[node])
		use_base(w, w->base[node] - 1);
	while (w->path.size) {
		w->path.size -= 4;
		node = get_u32(w->path.data + w->path.size);
		if (buffer_u32(&w->order, node))
			return -1;
		count = w->order.size / 4;
		if (count > UINT32_MAX / 2)
			return -1;
		w->number[node] = (uint32_t)count;
	}
	return 0;
}

static int number_cells(struct stack_writer *w, const struct key_cell *cells, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (cells[k].kind == KEY_STACK && number_stack(w, (uint32_t)cells[k].value))
			return -1;
	return 0;
}

static int number_groups(struct stack_writer *w, const struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (number_cells(w, groups_cells(g, groups_at(g, i)), g->keys))
			return -1;
	return 0;
}

/* Number the stacks of pairs that parts do not decide. */
static int number_edges(struct stack_writer *w, const struct parts *ps)
{
	for (size_t i = 0; i < ps->count; i++) {
		const struct pair_edges *e = ps->part[i].edges;

		for (size_t k = 0; e && k < e->map.count; k++)
			if (number_cells(w, pair_edge_b(e, groups_at(&e->map, k)),
					 e->b_cells + 2 * e->a_cells))
				return -1;
	}
	return 0;
}

static int summary_put_name(struct stack_writer *w, struct buffer *b, uint32_t name)
{
	const struct intern *names = &w->cs->names;
	bool is_new = !w->named[name];

	if (is_new)
		w->named[name] = ++w->names;
	return buffer_uleb(b, w->named[name] - 1) ||
	       (is_new && packed_put_bytes(b, intern_data(names, name), intern_size(names, name)));
}

static int put_bases(const struct stack_writer *w, struct buffer *b, const struct summary *sm)
{
	const struct stack_base **order = calloc(w->nbases + (size_t)1, sizeof(*order));
	struct intern threads = {0};
	int bad = order ? 0 : -1;

	for (size_t i = 0; i < w->cs->nbases && !bad; i++) {
		struct summary_thread t;

		if (!w->used[i])
			continue;
		order[w->used[i] - 1] = &w->cs->bases[i];
		t = summary_thread_of(sm, w->cs->bases[i].thread);
		bad = intern(&threads, &t, sizeof(t)) == INTERN_NONE;
	}
	bad = bad || buffer_uleb(b, threads.count);
	for (uint32_t i = 0; i < threads.count && !bad; i++) {
		struct summary_thread t;

		memcpy(&t, intern_data(&threads, i), sizeof(t));
		bad = buffer_uleb(b, t.stream_id);
		for (size_t k = 0; k < THREAD_WORDS && !bad; k++)
			bad = buffer_uleb(b, t.word[k]);
	}
	bad = bad || buffer_uleb(b, w->nbases);
	for (uint32_t i = 0; i < w->nbases && !bad; i++) {
		const struct summary_thread t = summary_thread_of(sm, order[i]->thread);

		bad = buffer_uleb(b, intern_find(&threads, &t, sizeof(t))) ||
		      buffer_uleb(b, order[i]->unseen);
	}
	intern_free(&threads);
	free(order);
	return bad ? -1 : 0;
}

/* Write the frames; from here on numbers are those of packed_stacks. */
static int summary_put_frames(struct stack_writer *w, struct buffer *b)
{
	const struct stack_node *nodes = w->cs->tree.nodes;
	size_t n = w->order.size / 4;
	int bad;

	for (size_t i = 0; i < w->cs->nbases; i++)
		w->number[w->cs->bases[i].node] = w->used[i];
	for (size_t i = 0; i < n; i++)
		w->number[get_u32(w->order.data + 4 * i)] += w->nbases;
	bad = buffer_uleb(b, n);
	for (size_t i = 0; i < n && !bad; i++) {
		const struct stack_node *node = &nodes[get_u32(w->order.data + 4 * i)];

		bad = buffer_uleb(b, w->number[node->parent]) || summary_put_name(w, b, node->name);
	}
	return bad;
}

static int put_unseen(struct stack_writer *w, struct buffer *b)
{
	const struct call_stacks *cs = w->cs;
	size_t n = 0;
	int bad;

	for (size_t i = 0; i < cs->nbases; i++)
		n += cs->bases[i].name != 0;
	bad = buffer_uleb(b, n);
	for (size_t i = 0; i < cs->nbases && !bad; i++) {
		const struct stack_base *base = &cs->bases[i];

		if (base->name)
			bad = buffer_uleb(b, w->used[i]) || buffer_uleb(b, base->to) ||
			      summary_put_name(w, b, base->name - 1);
	}
	return bad;
}

/* Number the stacks that the groups use, and append them and the unseen calls. Returns -1 when
 * out of memory. */
static int summary_put_stacks(struct buffer *b, const struct summary *sm,
			      struct packed_stacks *stacks)
{
	const struct call_stacks *cs = sm->s->stacks;
	struct stack_writer w = {.cs = cs};
	int bad;

	w.number = stacks->number = calloc(cs->tree.count, sizeof(*w.number));
	w.base = calloc(cs->tree.count, sizeof(*w.base));
	w.used = calloc(cs->nbases + 1, sizeof(*w.used));
	w.named = calloc((size_t)cs->names.count + 1, sizeof(*w.named));
	bad = w.number && w.base && w.used && w.named ? 0 : -1;
	for (size_t i = 0; i < cs->nbases && !bad; i++) {
		w.base[cs->bases[i].node] = (uint32_t)i + 1;
		if (cs->bases[i].name)
			use_base(&w, (uint32_t)i);
	}
	bad = bad || number_groups(&w, &sm->s->groups) || number_edges(&w, &sm->parts) ||
	      put_bases(&w, b, sm) || summary_put_frames(&w, b) || put_unseen(&w, b);
	buffer_free(&w.order);
	buffer_free(&w.path);
	free(w.base);
	free(w.used);
	free(w.named);
	return bad ? -1 : 0;
}

/* --- reading --- */

/* Read a name by its number in the summary; names contains the earlier ones, u32 each. */
static int summary_take_name(struct unpacker *u, struct buffer *names, uint32_t *name)
{
	uint64_t number = packed_limited(&u->in, names->size / 4);
	const uint8_t *bytes;
	size_t size;

	if (u->in.bad || number < names->size / 4) {
		*name = u->in.bad ? 0 : get_u32(names->data + 4 * number);
		return 0;
	}
	bytes = packed_bytes(&u->in, &size);
	if (u->in.bad)
		return 0;
	*name = intern(&u->ss->to->s->stacks->names, bytes ? (const char *)bytes : "", size);
	if (*name == INTERN_NONE || buffer_u32(names, *name))
		return summary_unpack_no_memory(u);
	return 0;
}

/* Read the threads: their numbers here, u32 each. */
static int summary_take_threads(struct unpacker *u, struct buffer *threads)
{
	uint64_t n = packed_count(&u->in, 1 + THREAD_WORDS);

	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		struct summary_thread t = {.stream_id = packed_u64(&u->in)};
		uint32_t number;

		for (size_t k = 0; k < THREAD_WORDS; k++)
			t.word[k] = packed_u32(&u->in);
		number = intern(&u->ss->to->threads, &t, sizeof(t));
		if (number == INTERN_NONE || buffer_u32(threads, number))
			return summary_unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

/* Add a stack, which has the next number. */
static int summary_add_stack(struct unpacker *u, uint32_t node)
{
	struct packed_stacks *ps = &u->ss->stacks;
	uint32_t *nodes;

	if (ARRAY_GROW(ps->node, ps->capacity, ps->count) || (!node && ps->count))
		return summary_unpack_no_memory(u);
	nodes = ps->node;
	nodes[ps->count++] = node;
	return 0;
}

static int take_bases(struct unpacker *u, const struct buffer *threads, struct buffer *bases)
{
	struct call_stacks *cs = u->ss->to->s->stacks;
	uint64_t n = packed_count(&u->in, 2);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t thread = packed_u64(&u->in);
		uint32_t unseen = packed_u32(&u->in), number;
		const struct stack_base *base;

		u->in.bad |= thread >= threads->size / 4 || !unseen;
		if (u->in.bad)
			return -1;
		number = get_u32(threads->data + 4 * thread);
		base = call_stacks_base(cs, number, unseen);
		if (!base || summary_add_stack(u, base->node) || buffer_u32(bases, number) ||
		    buffer_u32(bases, unseen))
			return summary_unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

static int summary_take_frames(struct unpacker *u, struct buffer *names)
{
	struct call_stacks *cs = u->ss->to->s->stacks;
	struct packed_stacks *ps = &u->ss->stacks;
	uint64_t n = packed_count(&u->in, 2);

	for (uint64_t i = 0; i < n; i++) {
		uint32_t caller = ps->node[packed_limited(&u->in, ps->count - 1)], name = 0;

		if (summary_take_name(u, names, &name))
			return -1;
		if (u->in.bad)
			return -1;
		if (summary_add_stack(u, stack_tree_child(&cs->tree, caller, name)))
			return -1;
	}
	return u->in.bad ? -1 : 0;
}

static int take_unseen(struct unpacker *u, const struct buffer *bases, struct buffer *names)
{
	struct summaries *ss = u->ss;
	uint64_t n = packed_count(&u->in, 3);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t base = packed_u64(&u->in);
		struct unseen_name *one;

		if (ARRAY_GROW(ss->names, ss->names_capacity, ss->nnames))
			return summary_unpack_no_memory(u);
		u->in.bad |= !base || base > bases->size / 8;
		if (u->in.bad)
			return -1;
		one = &ss->names[ss->nnames];
		*one = (struct unseen_name){.thread = get_u32(bases->data + 8 * (base - 1)),
					    .unseen = get_u32(bases->data + 8 * (base - 1) + 4)};
		one->to = (uint32_t)packed_limited(&u->in, one->unseen - 1);
		if (summary_take_name(u, names, &one->name))
			return -1;
		ss->nnames++;
	}
	return u->in.bad ? -1 : 0;
}

/* Decode the stacks into summaries.stacks, and the unseen calls into summaries.names. */
static int unpack_stacks(struct unpacker *u)
{
	struct buffer names = {0}, threads = {0}, bases = {0};
	int bad;

	packed_stacks_free(&u->ss->stacks);
	bad = summary_add_stack(u, STACK_ROOT) || summary_take_threads(u, &threads) ||
	      take_bases(u, &threads, &bases) || summary_take_frames(u, &names) ||
	      take_unseen(u, &bases, &names);
	buffer_free(&names);
	buffer_free(&threads);
	buffer_free(&bases);
	return bad ? -1 : 0;
}

/*
 * Read summaries, block by block.
 *
 * A summary counts when all of it was read. Until then its groups are kept apart. A damaged summary
 * is left out as a whole, as if it were missing.
 */

enum { META_LIMIT = 1 << 30 };

void summary_free(struct summary *sm)
{
	parts_free(&sm->parts);
	slow_list_free(&sm->slowest);
	intern_free(&sm->threads);
	free(sm->streams);
}

static void summaries_free(struct summaries *ss)
{
	groups_free(&ss->waiting); /* before the columns that they are laid out by */
	columns_free(&ss->stored);
	slow_list_free(&ss->slowest);
	buffer_free(&ss->meta);
	packed_stacks_free(&ss->stacks);
	free(ss->names);
	free(ss->fields);
	free(ss->keys);
	free(ss->sampled);
}

static int take_all(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	uint64_t version = packed_u64(&u->in), precision = packed_u64(&u->in);

	if (!u->in.bad && (version < SUMMARY_OLDEST || version > SUMMARY_VERSION ||
			   precision != HISTOGRAM_PRECISION))
		return error_set(
			u->e, ss->file, NO_OFFSET,
			"the summary has version %" PRIu64 " and histograms of precision %" PRIu64
			"; supported are %d to %d and %d",
			version, precision, SUMMARY_OLDEST, SUMMARY_VERSION, HISTOGRAM_PRECISION);
	if (u->in.bad || unpack_head(u) || (ss->to->s->stacks && unpack_stacks(u)) ||
	    unpack_groups(u) || unpack_parts(u) || unpack_slowest(u, &ss->slowest))
		return -1;
	u->in.bad |= u->in.p != u->in.end;
	return u->in.bad ? -1 : 0;
}

/* --- damaged summaries --- */

/* To be called when the reader meets damage or the end: leaves out an incomplete summary. */
static void summaries_damaged(struct summaries *ss)
{
	if (ss->state != SUMMARY_OPEN)
		return;
	ss->state = SUMMARY_DAMAGED;
	ss->left_out++;
	groups_free(&ss->waiting);
	slow_list_free(&ss->slowest);
	ss->nnames = 0;
	parts_truncate(&ss->to->parts, ss->first_part);
	warn(ss->file, ss->begins, "a damaged summary is left out");
}

/* Leave the summary out, with a message that says what is wrong. Returns 0. */
static int summary_damaged(struct summaries *ss, uint64_t offset, const char *what)
{
	if (ss->state == SUMMARY_OPEN)
		warn(ss->file, offset, "%s", what);
	summaries_damaged(ss);
	return 0;
}

static int summary_take_payload(struct summaries *ss, uint64_t offset, struct error *e)
{
	struct unpacker u = {.ss = ss,
			     .in = {ss->meta.data, ss->meta.data + ss->meta.size, false},
			     .e = e,
			     .tails = ss->to->parts.tails};

	e->what[0] = '\0';
	if (!take_all(&u))
		return 0;
	if (u.out_of_memory)
		return error_no_memory(e);
	if (e->what[0] && !u.in.bad)
		return -1;
	return summary_damaged(ss, offset, "its numbers are impossible");
}

static int summary_take_meta(struct summaries *ss, const struct block *b, struct error *e)
{
	struct meta m;

	reader_meta(ss->reader, b, &m);
	if (m.name_size != strlen(SUMMARY_META) || memcmp(m.name, SUMMARY_META, m.name_size) != 0)
		return 0;
	if (m.offset != ss->meta.size || m.total > META_LIMIT)
		return summary_damaged(ss, b->offset, "a part is missing");
	if (buffer_append(&ss->meta, m.data, m.size))
		return error_no_memory(e);
	if (ss->meta.size < m.total)
		return 0;
	if (hash_bytes(ss->meta.data, ss->meta.size, 0) != m.hash)
		return summary_damaged(ss, b->offset, "its checksum is wrong");
	if (summary_take_payload(ss, b->offset, e))
		return -1;
	ss->taken = true;
	return 0;
}

/* --- complete summaries --- */

/* Returns false for a group of rows that have only fields which no column here needs. */
static bool summary_is_wanted(const struct summaries *ss, const struct aggregate *a)
{
	const struct columns_wanted *here = &ss->to->s->columns->wanted,
				    *there = ss->waiting.wanted;
	const struct aggregate_field *fields = aggregate_part(a, there->fields);
	bool is = aggregate_count(a) > 0 || aggregate_has_times(a) ||
		  (here->busy && *(const uint128 *)aggregate_part(a, there->busy));

	for (uint32_t i = 0; i < here->field_count && !is; i++)
		is = fields[ss->fields[i]].seen;
	return is;
}

static int add_groups(struct summaries *ss)
{
	struct statistics *s = ss->to->s;
	struct groups *g = &ss->waiting;
	int bad = 0;

	for (size_t i = 0; i < g->count && !bad; i++) {
		const struct aggregate *a = groups_at(g, i);
		struct aggregate *into;

		if (!summary_is_wanted(ss, a))
			continue;
		into = groups_find(&s->groups, groups_cells(g, a));
		bad = into ? aggregate_merge_of(into, &s->columns->wanted, a, g->wanted, ss->fields)
			   : -1;
	}
	groups_free(g);
	return bad ? -1 : 0;
}

static int summary_add_names(struct summaries *ss)
{
	for (size_t i = 0; i < ss->nnames; i++) {
		const struct unseen_name *n = &ss->names[i];
		struct stack_base *b = call_stacks_base(ss->to->s->stacks, n->thread, n->unseen);

		if (!b)
			return -1;
		if (b->name)
			continue;
		b->name = n->name + 1;
		b->to = n->to;
		if (n->to && !call_stacks_base(ss->to->s->stacks, n->thread, n->to))
			return -1;
	}
	ss->nnames = 0;
	return 0;
}

/* Add all calls of another list, which is then empty. Returns -1 when out of memory. */
static int slow_list_move(struct slow_list *to, struct slow_list *from)
{
	while (from->count)
		if (slow_list_add(to, &from->call[--from->count]))
			return -1;
	return 0;
}

static int add_slowest(struct summaries *ss)
{
	int bad = slow_list_move(&ss->to->slowest, &ss->slowest);

	slow_list_free(&ss->slowest);
	return bad;
}

/* Get a count of pairs by its number in the head. */
static uint64_t *pair_count(struct pair *p, size_t i)
{
	uint64_t *const counts[SUMMARY_PAIR_COUNTS] = {&p->pairs, &p->replaced, &p->ended,
						       &p->forgotten, &p->left};

	return counts[i];
}

static int add_summary(struct summaries *ss, struct error *e)
{
	const struct summary_head *h = &ss->head;
	struct statistics *s = ss->to->s;

	ss->state = SUMMARY_NONE;
	s->ticks |= h->ticks;
	if (h->first <= h->last) /* without rows the summary has no unit of time */
		clocks_set(&s->clocks, h->ticks, ss->file, h->ticks ? "ticks" : "ns");
	s->clocks.durations = true;
	s->clocks.weights |= h->weights;
	s->nameless |= h->nameless;
	if (h->weights || ss->sampled)
		columns_set_weights(s->columns, !h->weights);
	if (ss->sampled && statistics_note_samples(s, ss->sampled))
		return error_no_memory(e);
	s->first = h->first < s->first ? h->first : s->first;
	s->last = h->last > s->last ? h->last : s->last;
	s->calls.counts.unmatched += h->unmatched;
	s->calls.counts.ignored_kernel += h->ignored_kernel;
	s->calls.counts.unfinished += h->unfinished;
	for (size_t i = 0; s->pair && i < SUMMARY_PAIR_COUNTS; i++)
		*pair_count(s->pair, i) += h->pairs[i];
	if (!add_groups(ss) && !summary_add_names(ss) && !add_slowest(ss)) {
		ss->whole++;
		return 0;
	}
	return error_set(
		e, ss->file, NO_OFFSET,
		"the summary cannot be added: out of memory, or its numbers are impossible");
}

static void begin_summary(struct summaries *ss, const struct block *b)
{
	summaries_damaged(ss); /* the summary before it is incomplete */
	ss->state = SUMMARY_OPEN;
	ss->file = b->file;
	ss->begins = b->offset;
	ss->first_part = ss->to->parts.count;
	ss->meta.size = 0;
	ss->taken = false;
}

/* Take a block. Returns -1 with e filled if it is not a summary, or does not match the others. A
 * damaged summary is left out with a message. */
static int summaries_block(struct summaries *ss, const struct block *b, struct error *e)
{
	if (b->kind == BLOCK_HEAD)
		begin_summary(ss, b);
	if (ss->state != SUMMARY_OPEN)
		return 0;
	switch (b->kind) {
	case BLOCK_META: return ss->taken ? 0 : summary_take_meta(ss, b, e);
	case BLOCK_END:
		return ss->taken ? add_summary(ss, e)
				 : summary_damaged(ss, b->offset, "a part is missing");
	}
	return 0;
}

/*
 * Write a summary as a stream.
 *
 *     content = version precision head stacks? groups parts slowest
 *     head    = flags keys columns options first last counts pairs?
 *     groups  = count (cells aggregate)*
 *     parts   = count (stream first last flags stages tail? edges?)*
 *
 * Numbers and bytes are those of common/util/packed.h. A group's cells are those of the keys, then
 * the SUMMARY_CELLS; the number of a tail is the index of its part + 1.
 */

struct packer {
	const struct summary *sm;
	struct buffer *b;
	struct packed_stacks stacks;
	uint32_t *tails; /* by number of a tail: index of its part + 1; 0: it was dropped */
	bool bad;
};

static void summary_put(struct packer *p, uint64_t v)
{
	p->bad = p->bad || buffer_uleb(p->b, v);
}

static void summary_put_text(struct packer *p, const char *s)
{
	p->bad = p->bad || packed_put_bytes(p->b, s, strlen(s));
}

/* Write a text that may be missing. */
static void put_option(struct packer *p, const char *s)
{
	summary_put(p, s != NULL);
	if (s)
		summary_put_text(p, s);
}

static void summary_put_head(struct packer *p)
{
	const struct stat_settings *asked = p->sm->asked;
	const struct statistics *s = p->sm->s;

	summary_put(p, (s->ticks ? SUMMARY_TICKS : 0) |
			       (statistics_nameless(s) ? SUMMARY_NAMELESS : 0) |
			       (s->columns->weights ? SUMMARY_WEIGHTS : 0) |
			       (s->samples.type ? SUMMARY_SAMPLES : 0));
	summary_put(p, s->keys->count);
	for (size_t i = 0; i < s->keys->count; i++)
		summary_put_text(p, s->keys->names[i]);
	summary_put(p, s->columns->count);
	for (size_t i = 0; i < s->columns->count; i++)
		summary_put_text(p, s->columns->column[i].name);
	put_option(p, asked->keys);
	put_option(p, asked->columns);
	put_option(p, asked->sort);
	summary_put(p, asked->view);
	put_option(p, asked->view_argument);
	put_option(p, asked->interval);
	put_option(p, asked->pair);
	summary_put(p, s->first);
	summary_put(p, s->last);
	summary_put(p, s->calls.counts.unmatched);
	summary_put(p, s->calls.counts.unfinished);
	summary_put(p, s->calls.counts.ignored_kernel);
	for (size_t i = 0; asked->pair && i < SUMMARY_PAIR_COUNTS; i++)
		summary_put(p, *pair_count(s->pair, i));
	if (s->samples.type)
		summary_put_text(p, s->samples.type);
}

/* Copy a group's cells, with the number that its tail has in the summary. Returns false if the
 * tail was dropped. */
static bool group_cells(const struct packer *p, const struct aggregate *a, struct key_cell *cells)
{
	const struct statistics *s = p->sm->s;
	struct key_cell *tail = &cells[s->keys->count + CELL_TAIL];

	memcpy(cells, groups_cells(&s->groups, a), s->groups.keys * sizeof(*cells));
	if (tail->kind == KEY_MISSING)
		return true;
	tail->value = p->tails[tail->value];
	return tail->value;
}

/* Write all groups in the order of their cells; the order of creation has no meaning. */
static int put_groups(struct packer *p, struct error *e)
{
	const struct statistics *s = p->sm->s;
	const struct columns_run run = {.first = s->first, .last = s->last};
	const struct sort by_cells = {0};
	const struct aggregate **groups = sort_groups(&by_cells, &s->groups, s->columns, &run, e);
	struct key_cell *cells = s->cells;
	size_t n = 0;

	if (!groups)
		return -1;
	for (size_t i = 0; i < s->groups.count; i++)
		n += group_cells(p, groups[i], cells);
	summary_put(p, n);
	for (size_t i = 0; i < s->groups.count && !p->bad; i++) {
		if (!group_cells(p, groups[i], cells))
			continue;
		p->bad = pack_cells(p->b, &s->groups, cells, s->groups.keys, &p->stacks) ||
			 pack_aggregate(p->b, groups[i], &s->columns->wanted);
	}
	free(groups);
	return 0;
}

static void put_slowest(struct packer *p, const struct slow_list *l)
{
	summary_put(p, l->count);
	for (size_t i = 0; i < l->count; i++) {
		const struct slow_call *c = &l->call[i];

		summary_put(p, c->total);
		summary_put(p, c->self);
		summary_put(p, c->start);
		summary_put(p, c->end);
		summary_put(p, c->has);
		summary_put(p, (uint32_t)c->tid);
		summary_put(p, (uint32_t)c->pid);
		summary_put(p, (uint32_t)c->cpu);
		summary_put_text(p, c->name);
		summary_put_text(p, c->arguments);
		summary_put_text(p, c->returned);
		summary_put_text(p, c->stack);
		summary_put_text(p, c->comm);
	}
}

static void put_edges(struct packer *p, const struct pair_edges *e)
{
	const struct groups *texts = &p->sm->s->groups;
	const struct packed_stacks *stacks = &p->stacks;

	summary_put(p, e->map.count);
	for (size_t i = 0; i < e->map.count && !p->bad; i++) {
		const struct aggregate *a = groups_at(&e->map, i);
		const struct pair_edge *edge = pair_edge(e, a);

		p->bad = pack_cells(p->b, texts, groups_cells(&e->map, a), e->on, NULL);
		summary_put(p, edge->first);
		summary_put(p, edge->waiting);
		if (edge->first == PAIR_B) {
			summary_put(p, edge->b);
			p->bad = p->bad ||
				 pack_cells(p->b, texts, pair_edge_b(e, a), e->b_cells, stacks) ||
				 pack_cells(p->b, texts, pair_edge_other(e, a), e->a_cells,
					    stacks) ||
				 pack_aggregate(p->b, a, &p->sm->s->columns->wanted);
		}
		if (edge->waiting) {
			summary_put(p, edge->a);
			p->bad = p->bad ||
				 pack_cells(p->b, texts, pair_edge_a(e, a), e->a_cells, stacks);
		}
	}
}

static void put_parts(struct packer *p)
{
	const struct parts *ps = &p->sm->parts;

	summary_put(p, ps->count);
	for (size_t i = 0; i < ps->count; i++) {
		const struct summary_part *part = &ps->part[i];

		summary_put(p, part->stream_id);
		summary_put(p, part->first);
		summary_put(p, part->last);
		summary_put(p, (part->ends ? PART_ENDS : 0) | (part->tail.number ? PART_TAIL : 0) |
				       (part->edges ? PART_EDGES : 0));
		summary_put_text(p, part->stages ? part->stages : "");
		if (part->tail.number) {
			summary_put(p, part->tail.unfinished);
			summary_put(p, part->tail.ignored_kernel);
			put_slowest(p, &part->tail.slowest);
		}
		if (part->edges)
			put_edges(p, part->edges);
	}
}

static int put_content(struct packer *p, struct error *e)
{
	const struct summary *sm = p->sm;

	p->tails = calloc(sm->parts.tails + (size_t)1, sizeof(*p->tails));
	if (!p->tails)
		return error_no_memory(e);
	for (size_t i = 0; i < sm->parts.count; i++)
		if (sm->parts.part[i].tail.number)
			p->tails[sm->parts.part[i].tail.number] = (uint32_t)i + 1;
	summary_put(p, SUMMARY_VERSION);
	summary_put(p, HISTOGRAM_PRECISION);
	summary_put_head(p);
	p->bad = p->bad || (sm->s->stacks && summary_put_stacks(p->b, sm, &p->stacks));
	if (!p->bad && put_groups(p, e))
		return -1;
	put_parts(p);
	put_slowest(p, &sm->slowest);
	return p->bad ? error_no_memory(e) : 0;
}

/* Write a summary. w is fresh, with its properties and status set. Returns -1 with e filled. */
static int summary_write(struct writer *w, const struct summary *sm, const struct stage *stage,
			 struct error *e)
{
	struct buffer b = {0};
	struct packer p = {.sm = sm, .b = &b};
	struct head h = {.flags = HEAD_SUMMARY};
	int bad = put_content(&p, e);

	h.stream_id = hash_bytes(b.data, b.size, sm->parts.count);
	if (!bad && (writer_pass_head(w, &h) || writer_meta(w, 0, SUMMARY_META, b.data, b.size) ||
		     writer_pass_end(w, END_LAST | (stage->lost_more ? END_LOST_MORE : 0),
				     stage->gaps, stage->lost) ||
		     writer_finish(w))) {
		*e = w->error;
		bad = -1;
	}
	free(p.tails);
	packed_stacks_free(&p.stacks);
	buffer_free(&b);
	return bad ? -1 : 0;
}

/* --- from the groups of summaries to those of tables --- */

/* Move a group, by the first cells of its key, to the statistics' groups. */
static int move_group(struct groups *to, const struct groups *from, const struct aggregate *a)
{
	struct aggregate *into = groups_find(to, groups_cells(from, a));

	return into ? aggregate_merge(into, a, to->wanted) : -1;
}

static bool *live_tails(const struct parts *ps)
{
	bool *live = calloc(ps->tails + (size_t)1, sizeof(*live));

	for (size_t i = 0; live && i < ps->count; i++)
		live[ps->part[i].tail.number] = true;
	return live;
}

static int settle_groups(struct summary *sm)
{
	struct statistics *s = sm->s;
	struct groups *g = &s->groups, old = groups_take(g);
	size_t tail = s->keys->count + CELL_TAIL;
	bool *live = live_tails(&sm->parts);
	int bad = live ? 0 : -1;

	groups_set_keys(g, s->keys->count + (sm->asked->interval ? CELL_INTERVAL + 1 : 0));
	for (size_t i = 0; i < old.count && !bad; i++) {
		const struct aggregate *a = groups_at(&old, i);
		const struct key_cell *cell = &groups_cells(&old, a)[tail];

		if (cell->kind == KEY_MISSING || live[cell->value])
			bad = move_group(g, &old, a);
	}
	groups_clear(&old);
	free(live);
	s->more = 0;
	return bad;
}

/*
 * Prepare for tables: the calls open at the end of streams that do not end count, the groups have
 * no SUMMARY_CELLS but, with -i, CELL_INTERVAL. The parts are sorted. Returns -1 when out of
 * memory, or (EOVERFLOW) if numbers are impossible.
 */
static int summary_settle(struct summary *sm)
{
	struct calls_counts *c = &sm->s->calls.counts;

	if (settle_groups(sm))
		return -1;
	for (size_t i = 0; i < sm->parts.count; i++) {
		struct summary_part *p = &sm->parts.part[i];

		c->unfinished += p->tail.unfinished;
		c->ignored_kernel += p->tail.ignored_kernel;
		if (slow_list_move(&sm->slowest, &p->tail.slowest))
			return -1;
	}
	return 0;
}

static int by_interval(const void *a, const void *b, void *ctx)
{
	const struct aggregate *const *x = a, *const *y = b;
	const struct groups *g = ctx;
	uint64_t p = groups_cells(g, *x)[g->keys - 1].value,
		 q = groups_cells(g, *y)[g->keys - 1].value;

	return (p > q) - (p < q);
}

int summary_intervals(struct summary *sm, uint64_t width,
		      bool (*print)(void *ctx, const struct interval *interval), void *ctx)
{
	struct statistics *s = sm->s;
	struct groups *g = &s->groups, old = groups_take(g);
	const struct aggregate **order = calloc(old.count + 1, sizeof(*order));
	struct interval now = {.width = width, .first = true};
	int bad = order ? 0 : -1;

	for (size_t i = 0; i < old.count && order; i++)
		order[i] = groups_at(&old, i);
	if (old.count && order)
		qsort_r(order, old.count, sizeof(*order), by_interval, &old);
	groups_set_keys(g, s->keys->count);
	for (size_t i = 0, next; i < old.count && !bad; i = next) {
		now.time = groups_cells(&old, order[i])[old.keys - 1].value;
		for (next = i;
		     next < old.count && !bad && !by_interval(&order[i], &order[next], &old);
		     next++)
			bad = move_group(g, &old, order[next]);
		if (!bad && print(ctx, &now))
			break;
		now.first = false;
		groups_clear(g);
	}
	groups_clear(&old);
	free(order);
	return bad;
}

/* --- join the parts of a trace --- */

enum { MESSAGES = 10 };

static const char *own_texts(struct stat_settings *s, int i, const char *text)
{
	return s->owned[i] = text ? strdup(text) : NULL;
}

/* Complete the options by those of the summary. */
static void take_settings(struct stat_settings *s, const struct summary_head *h)
{
	if (!s->keys && !s->view_option) {
		s->keys = own_texts(s, 0, h->group);
		s->view = (enum view)h->view;
		s->view_argument = own_texts(s, 1, h->view_argument);
	}
	if (!s->columns && s->view == (enum view)h->view) {
		s->columns = own_texts(s, 2, h->asked);
		if (!s->sort)
			s->sort = own_texts(s, 3, h->sort);
	}
	if (!s->interval)
		s->interval = own_texts(s, 4, h->interval);
	if (!s->pair)
		s->pair = own_texts(s, 5, h->pair);
}

static int partial_begin_statistics(struct merging *m)
{
	struct statistics *s = m->sm->s;
	struct query *q = m->q;

	if (statistics_init_summary(s, &q->keys, &q->columns, &m->stage->in.dictionary) ||
	    (q->settings->pair && statistics_pair(s, &q->pair)))
		return -1;
	statistics_name_stacks(s, !q->settings->interval);
	m->sm->slowest.limit = q->slowest;
	return 0;
}

/* Make the query from the options and, where they are silent, from the summary. */
static int begin_query(void *ctx, const struct summary_head *h, struct error *e)
{
	struct merging *m = ctx;
	struct stat_settings *s = m->settings;

	take_settings(s, h);
	if (query_parse(m->q, s, e) ||
	    (m->histograms && h->histograms && columns_find(&m->q->columns, "p50", e) < 0))
		return -1;
	if (m->alarms && m->alarms->count && s->view == VIEW_SLOWEST)
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if does not go with summaries of the slowest calls");
	if (m->alarms && (alarms_begin(m->alarms, m->q, &m->stage->in.dictionary, e) ||
			  alarms_check_keys(m->alarms, e)))
		return -1;
	return partial_begin_statistics(m) ? error_no_memory(e) : 0;
}

static void merge_miss(struct merging *m, uint64_t stream, uint32_t first, const uint32_t *last)
{
	struct stage *stage = m->stage;

	stage->status = status_worse(stage->status, STATUS_DAMAGED);
	if (m->missing++ >= MESSAGES)
		return;
	if (!last)
		warn(m->file, NO_OFFSET,
		     "the stream %016" PRIx64 " has no end: segment %" PRIu32
		     " and all later ones are missing",
		     stream, first);
	else if (first == *last)
		warn(m->file, NO_OFFSET,
		     "segment %" PRIu32 " of the stream %016" PRIx64 " is missing", first, stream);
	else
		warn(m->file, NO_OFFSET,
		     "segments %" PRIu32 " to %" PRIu32 " of the stream %016" PRIx64 " are missing",
		     first, *last, stream);
}

/* Report segments that are missing before this part; a table of a trace with holes mentions
 * them. */
static void look_for_holes(struct merging *m, const struct summary_part *before,
			   const struct summary_part *p)
{
	bool same = before && before->stream_id == p->stream_id;
	uint32_t first = same ? before->last + 1 : 0, last = p->first - 1;

	if (before && !same && !before->ends)
		merge_miss(m, before->stream_id, before->last + 1, NULL);
	if (p->first != first)
		merge_miss(m, p->stream_id, first, &last);
}

static void look_for_all_holes(struct merging *m)
{
	const struct parts *ps = &m->sm->parts;
	const struct summary_part *before = NULL;

	for (size_t i = 0; i < ps->count; i++) {
		look_for_holes(m, before, &ps->part[i]);
		before = &ps->part[i];
	}
	if (before && !before->ends)
		merge_miss(m, before->stream_id, before->last + 1, NULL);
	if (m->missing > MESSAGES)
		warn_count(m->file, m->missing - MESSAGES, "more such {gap|gaps}");
}

static int to_table(struct merging *m)
{
	struct statistics *s = m->sm->s;

	look_for_all_holes(m);
	if ((s->pair && parts_count_pairs(&m->sm->parts, s)) || summary_settle(m->sm))
		return -1;
	return (s->stacks && call_stacks_end(s->stacks)) || statistics_show(s) ? -1 : 0;
}

static int merge_join(struct merging *m, struct summaries *ss)
{
	struct stage *stage = m->stage;
	struct statistics *s = m->sm->s;
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	if (ss->left_out)
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
	if (!ss->whole) {
		error_set(&e, m->file, NO_OFFSET, "no complete summary");
		return stage_fail(stage, &e);
	}
	if (parts_sort(&m->sm->parts, &e) ||
	    query_check_clocks(m->q, &s->clocks, s->columns->ns, &e))
		return stage_fail(stage, error_in_file(&e, m->file));
	if (m->again ? parts_join(&m->sm->parts, s) : to_table(m)) {
		error_set(&e, m->file, NO_OFFSET,
			  "the summaries cannot be joined: out of memory, or their numbers are "
			  "impossible");
		return stage_fail(stage, &e);
	}
	return statistics_check_busy(s, &e) || statistics_check_samples(s, &e) ||
			       (m->alarms &&
				(alarms_check_samples(m->alarms, m->q, s, &e) ||
				 alarms_check_clocks(m->alarms, &s->clocks, s->columns->ns, &e)))
		       ? stage_fail(stage, error_in_file(&e, m->file))
		       : 0;
}

int summary_merge_run(struct merging *m)
{
	struct stage *stage = m->stage;
	struct summaries ss = {.reader = &stage->in, .to = m->sm, .begin = begin_query, .ctx = m};
	uint64_t damages = stage->faults.total;
	struct block block;
	struct error e;
	int bad = 0;

	stage->in.summaries = true;
	if (m->first && summaries_block(&ss, m->first, &e))
		bad = stage_fail(stage, &e);
	while (!bad && stage_next(stage, &block)) {
		if (stage->faults.total != damages)
			summaries_damaged(&ss);
		damages = stage->faults.total;
		if (summaries_block(&ss, &block, &e))
			bad = stage_fail(stage, &e);
	}
	if (!bad && !stage->stopped)
		summaries_damaged(&ss);
	bad = bad || merge_join(m, &ss);
	summaries_free(&ss);
	return bad ? -1 : 0;
}

/* --- write the summary of the inputs --- */

int partial_write(struct stage *stage, const struct summary *sm, int argc, char **argv)
{
	const char *message = stage_input_errors(stage);
	bool lost = sm->asked->strict && (stage->lost || stage->lost_more),
	     good = stage->status == STATUS_OK && !lost;
	struct writer w;
	struct error e;
	int bad;

	if (statistics_show(sm->s)) {
		stage_no_memory(stage);
		return -1;
	}
	if (writer_init(&w, &stage->output, 0) || writer_command(&w, argc, argv)) {
		bad = stage_fail(stage, &w.error);
	} else {
		writer_status(&w, !good,
			      good	? NULL
			      : message ? message
			      : lost	? "the recorder lost events (--strict)"
					: "a part of the trace is missing",
			      &stage->printed);
		bad = summary_write(&w, sm, stage, &e);
		if (bad)
			stage_fail(stage, &e);
	}
	writer_free(&w);
	return bad;
}

/* Get the programs that the stream went through, from its head: a text that the caller
 * frees. NULL: out of memory. */
static char *stages_of(const struct head *h)
{
	struct head_property p;
	struct buffer b = {0};
	int bad = 0;

	for (size_t at = 0; !bad && head_next(h, &at, &p);)
		if (p.key == HEAD_STAGE)
			bad = buffer_append(&b, " | ", b.size ? 3 : 0) ||
			      buffer_append(&b, p.data, p.size);
	if (!bad && !buffer_u8(&b, 0))
		return (char *)b.data;
	buffer_free(&b);
	return NULL;
}

/* The state of counting the inputs, part by part. */
struct partial_counting {
	struct stage *stage;
	struct query *q;
	struct summary *sm;
	struct slowest *slowest;   /* NULL without --slowest */
	struct monitor *monitor;   /* NULL without -i */
	struct summary_part *part; /* the present part; NULL: none */
	bool blind;		   /* no snapshot shows the calls open before the next row */
	bool empty;		   /* of the segment only its head was read */
	bool begun;		   /* a block of events was read */
};

/* Get a part for the present stream; NULL: out of memory. */
static struct summary_part *partial_add_part(struct partial_counting *c, uint64_t stream_id,
					     uint32_t sequence)
{
	struct summary *sm = c->sm;
	uint32_t stream = c->stage->in.dictionary.stream;
	struct summary_part *p = parts_add(&sm->parts);

	if (ARRAY_REACH(sm->streams, sm->nstreams, stream) || !p)
		return NULL;
	/* 0: of lanes without a source */
	sm->streams[0] = sm->streams[stream] = p->stream_id = stream_id;
	p->first = p->last = sequence;
	if (c->q->settings->pair) {
		p->edges = statistics_pair_edges(sm->s);
		if (!p->edges)
			return NULL;
		sm->s->pair->edges = p->edges;
		sm->s->pair->note_first = note_first;
	}
	c->part = p;
	return p;
}

/* Close the calls that are open at the end of the part: finished rows or, unless apart is NULL, its
 * tail. */
static int partial_close_calls(struct partial_counting *c, struct summary_part *apart)
{
	struct statistics *s = c->sm->s;
	struct calls *calls = c->slowest ? &c->slowest->calls : &s->calls;
	struct calls_counts before = calls->counts;
	struct slow_list kept = {0};

	if (apart) {
		apart->tail.number = ++c->sm->parts.tails;
		statistics_set_cell(s, CELL_TAIL, key_unsigned(apart->tail.number));
	}
	if (apart && c->slowest) {
		kept = c->slowest->list;
		c->slowest->list = (struct slow_list){.limit = kept.limit};
	}
	if (c->slowest ? slowest_finish(c->slowest) : statistics_close(s))
		return -1;
	if (!apart)
		return 0;
	statistics_set_cell(s, CELL_TAIL, (struct key_cell){0});
	apart->tail.unfinished = calls->counts.unfinished - before.unfinished;
	apart->tail.ignored_kernel = calls->counts.ignored_kernel - before.ignored_kernel;
	calls->counts = before;
	if (c->slowest) {
		apart->tail.slowest = c->slowest->list;
		c->slowest->list = kept;
	}
	return 0;
}

/* End the present part: what follows does not follow it in the stream. */
static int partial_end_part(struct partial_counting *c)
{
	struct statistics *s = c->sm->s;
	struct error e = {0};
	struct summary_part *p = c->part;

	c->part = NULL;
	if (!p)
		return 0;
	/* a segment cut before its snapshot does not change which calls are open */
	if (c->blind && c->empty && p->first == p->last) {
		parts_truncate(&c->sm->parts, c->sm->parts.count - 1);
		return 0;
	}
	if (c->monitor && monitor_end(c->monitor, &e))
		return stage_fail(c->stage, &e);
	if (s->pair ? pair_drain(s->pair, keep_waiting)
		    : partial_close_calls(c, p->ends ? NULL : p))
		return stage_no_memory(c->stage);
	statistics_forget_calls(s);
	if (c->slowest)
		slowest_forget_calls(c->slowest);
	if (c->monitor)
		monitor_restart(c->monitor);
	return 0;
}

static void begin_blind(struct partial_counting *c)
{
	c->blind = c->stage->in.head.sequence && c->stage->in.segment.alone;
	c->empty = true;
}

/* Begin a segment; consecutive segments are one part. */
static int partial_begin_segment(struct partial_counting *c)
{
	const struct head *h = &c->stage->in.head;
	char *stages = stages_of(h);
	struct summary_part *p = c->part;

	if (!stages)
		return stage_no_memory(c->stage);
	if (p && p->stream_id == h->stream_id && p->last + 1 == h->sequence && !p->ends &&
	    !strcmp(p->stages ? p->stages : "", stages)) {
		p->last = h->sequence;
		begin_blind(c);
		free(stages);
		return 0;
	}
	if (partial_end_part(c)) {
		free(stages);
		return -1;
	}
	p = partial_add_part(c, h->stream_id, h->sequence);
	if (!p) {
		free(stages);
		return stage_no_memory(c->stage);
	}
	begin_blind(c);
	p->stages = stages;
	p->file = c->stage->in.file;
	return 0;
}

/* Begin a segment whose head is damaged: its stream is unknown. */
static int begin_lost(struct partial_counting *c, const struct block *b)
{
	struct summary_part *p =
		partial_add_part(c, hash_bytes(b->file, strlen(b->file), b->offset), 0);

	if (!p)
		return stage_no_memory(c->stage);
	p->ends = true;
	return 0;
}

static int partial_restore_calls(struct partial_counting *c, const struct block *b)
{
	c->blind = false;
	if (c->monitor)
		monitor_restore(c->monitor, b);
	report_missed_calls(c->stage, b);
	return c->slowest ? slowest_block(c->slowest, b) : statistics_block(c->sm->s, b);
}

/* Report a segment whose open calls are not known, if it has calls. */
static void check_blind(struct partial_counting *c, const struct block *b)
{
	bool calls = false;

	for (uint32_t i = 0; i < b->ntypes; i++)
		calls |= b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE;
	if (!c->blind || !calls || c->sm->s->pair)
		return;
	c->blind = false;
	warn(b->file, b->offset,
	     "segment %" PRIu32 " has no snapshot: calls opened before it are unknown",
	     c->part->first);
	c->stage->status = status_worse(c->stage->status, STATUS_DAMAGED);
}

static int partial_begin(struct partial_counting *c)
{
	struct query *q = c->q;
	struct dictionary *d = &c->stage->in.dictionary;
	struct statistics *s = c->sm->s;

	if (statistics_init_summary(s, &q->keys, &q->columns, d) ||
	    (q->settings->pair && statistics_pair(s, &q->pair)))
		return -1;
	if (c->slowest && slowest_init(c->slowest, q->slowest, NULL, d))
		return -1;
	statistics_name_stacks(s, !q->settings->interval);
	return 0;
}

/* Begin again with the key type if the types that the stream declares require it. */
static int partial_begin_rows(struct partial_counting *c)
{
	struct error e = {0};

	c->begun = true;
	if (!query_mixes_samples(c->q, &c->stage->in.dictionary))
		return 0;
	statistics_free(c->sm->s);
	*c->sm->s = (struct statistics){0};
	if (query_add_type(c->q, &e))
		return stage_fail(c->stage, &e);
	c->sm->asked = c->q->settings;
	return partial_begin(c) ? stage_no_memory(c->stage) : 0;
}

static int partial_count_rows(struct partial_counting *c, const struct block *b)
{
	struct statistics *s = c->sm->s;
	struct error e = {0};

	if (!c->part && begin_lost(c, b))
		return -1;
	if (!c->begun && partial_begin_rows(c))
		return -1;
	check_blind(c, b);
	if (c->slowest	 ? slowest_block(c->slowest, b)
	    : c->monitor ? monitor_block(c->monitor, b, &e)
			 : statistics_block(s, b))
		return e.what[0] ? stage_fail(c->stage, &e) : stage_no_memory(c->stage);
	if (c->slowest && clocks_check(&c->slowest->clocks, CLOCKS_HINT, &e))
		return stage_fail(c->stage, &e);
	if (statistics_check_busy(s, &e) || statistics_check_samples(s, &e))
		return stage_fail(c->stage, &e);
	if (query_check_clocks(c->q, c->slowest ? &c->slowest->clocks : &s->clocks, false, &e))
		return stage_fail(c->stage, &e);
	return 0;
}

static int partial_take_block(struct partial_counting *c, const struct block *b)
{
	if (b->kind == BLOCK_HEAD && partial_begin_segment(c))
		return -1;
	if (b->kind != BLOCK_HEAD && b->kind != BLOCK_DICT)
		c->empty = false;
	if (b->kind == BLOCK_END && c->part)
		c->part->ends = c->stage->in.end.flags & END_LAST;
	if (b->kind == BLOCK_EVENTS)
		return partial_count_rows(c, b);
	if (b->kind == BLOCK_SNAPSHOT)
		return partial_restore_calls(c, b) ? stage_no_memory(c->stage) : 0;
	return c->slowest && slowest_block(c->slowest, b) ? stage_no_memory(c->stage) : 0;
}

/* Move what is not in the statistics to the summary. */
static void take_slowest(struct summary *sm, struct slowest *slowest)
{
	struct statistics *s = sm->s;

	sm->slowest = slowest->list;
	slowest->list = (struct slow_list){0};
	s->calls.counts = slowest->calls.counts;
	s->ticks = slowest->ticks;
	s->clocks = slowest->clocks;
}

void partial_run(struct stage *stage, struct query *q, struct summary *sm, int argc, char **argv)
{
	struct slowest slowest = {0};
	struct monitor monitor = {
		.words = q->settings->interval, .statistics = sm->s, .keyed = true};
	struct partial_counting c = {.stage = stage,
				     .q = q,
				     .sm = sm,
				     .slowest = q->settings->view == VIEW_SLOWEST ? &slowest : NULL,
				     .monitor = monitor.words ? &monitor : NULL};
	struct alarms none = {0};
	struct block block;
	struct error e;

	monitor.alarms = &none;
	stage->in.partial_ok = true;
	if (partial_begin(&c))
		stage_no_memory(stage);
	while (stage->status != STATUS_FAILED && stage_next(stage, &block))
		if (partial_take_block(&c, &block))
			break;
	if (!query_check_names(stage, q, NULL))
		partial_end_part(&c);
	if (stage->status != STATUS_FAILED && parts_sort(&sm->parts, &e))
		stage_fail(stage, &e);
	if (c.slowest)
		take_slowest(sm, c.slowest);
	if (stage->status != STATUS_FAILED && statistics_has_requests(sm->s)) {
		error_set(&e, NULL, NO_OFFSET,
			  "-g " REQUEST_KEY
			  " of flows does not go with --partial: a part of a trace "
			  "does not know the flows before");
		stage_fail(stage, &e);
	}
	if (stage->status != STATUS_FAILED)
		partial_write(stage, sm, argc, argv);
	slowest_free(&slowest);
}

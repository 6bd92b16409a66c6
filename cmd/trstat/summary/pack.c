#include "cmd/trstat/summary/pack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void packed_stacks_free(struct packed_stacks *ps)
{
	free(ps->number);
	free(ps->node);
	*ps = (struct packed_stacks){0};
}

int pack_cells(struct buffer *b, const struct groups *g, const struct key_cell *cells, size_t n,
	       const struct packed_stacks *stacks)
{
	int bad = 0;

	for (size_t i = 0; i < n && !bad; i++) {
		bad = buffer_u8(b, (uint8_t)cells[i].kind);
		if (cells[i].kind == KEY_TEXT)
			bad |= packed_put_bytes(b, intern_data(&g->texts.intern, cells[i].text),
						intern_size(&g->texts.intern, cells[i].text));
		else if (cells[i].kind == KEY_STACK)
			bad |= buffer_uleb(b, stacks->number[cells[i].value]);
		else if (cells[i].kind != KEY_MISSING)
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

int unpack_cells(struct packed *in, struct groups *g, struct key_cell *cells, size_t n,
		 const struct packed_stacks *stacks, size_t pending)
{
	for (size_t i = 0; i < n && !in->bad; i++) {
		const uint8_t *kind = packed_take(in, 1), *text;
		size_t size;

		cells[i] = (struct key_cell){0};
		if (!kind || *kind == KEY_MISSING)
			continue;
		if (*kind == KEY_TEXT) {
			text = packed_bytes(in, &size);
			if (!in->bad &&
			    groups_text(g, text ? (const char *)text : "", size, &cells[i]))
				return -1;
			continue;
		}
		cells[i].kind = *kind;
		cells[i].value = packed_u64(in);
		switch (*kind) {
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

static int by_value(const void *a, const void *b)
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
	qsort(sorted, n, sizeof(*sorted), by_value);
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

static int pack_field(struct buffer *b, const struct aggregate_field *f, bool uniq)
{
	const struct number *n[] = {&f->sum, &f->min, &f->max};
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
	if (bad)
		return -1;
	return uniq ? pack_distinct(b, &f->distinct) : 0;
}

static int unpack_field(struct packed *in, struct aggregate_field *f, bool uniq)
{
	struct number *n[] = {&f->sum, &f->min, &f->max};
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
	return uniq ? unpack_distinct(in, &f->distinct) : 0;
}

int pack_aggregate(struct buffer *b, const struct aggregate *a, const struct columns_wanted *w)
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
		const struct aggregate_times *t = aggregate_part(a, w->times);

		bad = bad || buffer_uleb(b, t->first) || buffer_uleb(b, t->last);
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
		bad = pack_field(b, &fields[i], w->field[i].uniq);
	return bad ? -1 : 0;
}

int unpack_aggregate(struct packed *in, struct aggregate *a, const struct columns_wanted *w)
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
		struct aggregate_times *t = aggregate_part(a, w->times);

		t->first = packed_u64(in);
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
		if (unpack_field(in, &fields[i], w->field[i].uniq))
			return -1;
	return 0;
}

/*
 * groups.c - groups of a table, and what is summed up in each
 */
#include "cmd/trstat/groups.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/u128.h"
#include "common/calls/call_stacks.h"
#include "common/calls/stack_tree.h"

struct u256 {
	uint128 high, low;
};

int squares_merge(struct squares *into, const struct squares *from)
{
	uint128 low;
	uint64_t high;

	if (__builtin_add_overflow(into->high, from->high, &high) ||
	    (__builtin_add_overflow(into->low, from->low, &low) && ++high == 0)) {
		errno = EOVERFLOW;
		return -1;
	}
	into->low = low;
	into->high = high;
	return 0;
}

static struct u256 groups_multiply(uint128 a, uint128 b)
{
	uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64);
	uint64_t b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
	uint128 p00 = (uint128)a0 * b0, p01 = (uint128)a0 * b1, p10 = (uint128)a1 * b0;
	uint128 middle = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;

	return (struct u256){
		.high = (uint128)a1 * b1 + (p01 >> 64) + (p10 >> 64) + (middle >> 64),
		.low = middle << 64 | (uint64_t)p00,
	};
}

static bool not_above(struct u256 a, struct u256 b)
{
	return a.high < b.high || (a.high == b.high && a.low <= b.low);
}

/* Get a power of two that is not below the square root; at most 2^127, see stddev_of. */
static uint128 root_bound(struct u256 a)
{
	int bits = 0;

	for (uint128 top = a.high ? a.high : a.low; top; top >>= 1)
		bits++;
	bits = (bits + (a.high ? 128 : 0) + 1) / 2;
	return (uint128)1 << (bits < 127 ? bits : 127);
}

uint64_t stddev_of(uint64_t n, int128 signed_sum, const struct squares *squares)
{
	uint128 sum = magnitude(signed_sum);
	struct u256 v, sum2;
	uint128 low, high, bound;

	if (!n)
		return 0;

	/* v = 4 n^2 variance = 4 (n * squares - sum^2). The variance is below 2^126, so v fits. */
	v = groups_multiply(squares->low, n);
	v.high += (uint128)squares->high * n;
	sum2 = groups_multiply(sum, sum);
	if (not_above(v, sum2))
		return 0;
	v.high -= sum2.high + (v.low < sum2.low);
	v.low -= sum2.low;
	v.high = v.high << 2 | v.low >> 126;
	v.low <<= 2;

	/* The largest s with ((2 s - 1) n)^2 <= v: it lies in [low, high). */
	bound = root_bound(v) / n;
	low = 0;
	high = bound / 2 + 2;
	if (high >
	    ((uint128)1 << 63) + 1) /* no standard deviation of 64-bit values is above 2^63 */
		high = ((uint128)1 << 63) + 1;
	while (high - low > 1) {
		uint128 s = low + (high - low) / 2;
		uint128 root = (2 * s - 1) * n;

		if (not_above(groups_multiply(root, root), v))
			low = s;
		else
			high = s;
	}
	return (uint64_t)low;
}

/* --- distinct --- */

#define DISTINCT_FIRST 8
#define RANKS	       (64 - DISTINCT_PRECISION + 2) /* 0 .. 51 */

void distinct_free(struct distinct *d)
{
	free(d->hashes);
	free(d->registers);
	memset(d, 0, sizeof *d);
}

/* A permutation of 64-bit numbers; every output bit depends on every input bit (splitmix64). */
static uint64_t mix_bits(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t distinct_hash_number(int128 value)
{
	uint64_t low = (uint64_t)value, high = (uint64_t)((uint128)value >> 64);

	return mix_bits(high ? low ^ mix_bits(high) : low);
}

uint64_t distinct_hash_bytes(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t hash = mix_bits(size ^ 0x6a09e667f3bcc908u), word;

	for (; size >= 8; p += 8, size -= 8) {
		word = 0;
		for (int i = 7; i >= 0; i--)
			word = word << 8 | p[i];
		hash = mix_bits(hash ^ word) + word;
	}
	word = 0;
	while (size)
		word = word << 8 | p[--size];
	return mix_bits(hash ^ word);
}

/* Get the slot of a hash that is not 0. Its low bits serve as the index: mix has spread
 * them. */
static uint64_t *groups_find_slot(uint64_t *hashes, uint32_t capacity, uint64_t hash)
{
	uint32_t at = (uint32_t)hash;

	for (;; at++) {
		uint64_t *slot = &hashes[at & (capacity - 1)];

		if (!*slot || *slot == hash)
			return slot;
	}
}

static void distinct_observe(uint8_t *registers, uint64_t hash)
{
	uint32_t index = (uint32_t)(hash >> (64 - DISTINCT_PRECISION));
	uint64_t rest = hash << DISTINCT_PRECISION | (uint64_t)1 << (DISTINCT_PRECISION - 1);
	uint8_t rank = (uint8_t)(1 + __builtin_clzll(rest));

	if (registers[index] < rank)
		registers[index] = rank;
}

static int estimate_from_now_on(struct distinct *d)
{
	uint8_t *registers = calloc(DISTINCT_REGISTERS, 1);

	if (!registers)
		return -1;
	if (d->zero)
		distinct_observe(registers, 0);
	for (uint32_t i = 0; i < d->capacity; i++) {
		if (d->hashes[i])
			distinct_observe(registers, d->hashes[i]);
	}
	distinct_free(d);
	d->registers = registers;
	return 0;
}

static int distinct_grow(struct distinct *d)
{
	uint32_t capacity = d->capacity ? 2 * d->capacity : DISTINCT_FIRST;
	uint64_t *hashes = calloc(capacity, sizeof *hashes);

	if (!hashes)
		return -1;
	for (uint32_t i = 0; i < d->capacity; i++) {
		if (d->hashes[i])
			*groups_find_slot(hashes, capacity, d->hashes[i]) = d->hashes[i];
	}
	free(d->hashes);
	d->hashes = hashes;
	d->capacity = capacity;
	return 0;
}

int distinct_add(struct distinct *d, uint64_t hash)
{
	if (d->registers) {
		distinct_observe(d->registers, hash);
		return 0;
	}
	if (hash ? d->capacity && *groups_find_slot(d->hashes, d->capacity, hash) == hash : d->zero)
		return 0;
	if (d->used == DISTINCT_EXACT) {
		if (estimate_from_now_on(d))
			return -1;
		distinct_observe(d->registers, hash);
		return 0;
	}
	if (!hash) {
		d->zero = true;
	} else {
		if (d->used + 1 > d->capacity / 4 * 3 && distinct_grow(d))
			return -1;
		*groups_find_slot(d->hashes, d->capacity, hash) = hash;
	}
	d->used++;
	return 0;
}

int distinct_merge(struct distinct *into, const struct distinct *from)
{
	if (from->registers) {
		if (!into->registers && estimate_from_now_on(into))
			return -1;
		for (uint32_t i = 0; i < DISTINCT_REGISTERS; i++) {
			if (into->registers[i] < from->registers[i])
				into->registers[i] = from->registers[i];
		}
		return 0;
	}
	if (from->zero && distinct_add(into, 0))
		return -1;
	for (uint32_t i = 0; i < from->capacity; i++) {
		if (from->hashes[i] && distinct_add(into, from->hashes[i]))
			return -1;
	}
	return 0;
}

int distinct_raise(struct distinct *d, uint32_t index, uint8_t rank)
{
	if (index >= DISTINCT_REGISTERS || !rank || rank >= RANKS) {
		errno = EINVAL;
		return -1;
	}
	if (!d->registers && estimate_from_now_on(d))
		return -1;
	if (d->registers[index] < rank)
		d->registers[index] = rank;
	return 0;
}

/* The two series of Ertl 2017, "New cardinality estimation algorithms for HyperLogLog sketches". */
static double sigma(double x)
{
	double y = 1, z = x, before;

	if (x == 1)
		return INFINITY;
	do {
		x *= x;
		before = z;
		z += x * y;
		y += y;
	} while (z != before);
	return z;
}

static double tau(double x)
{
	double y = 1, z = 1 - x, before;

	if (x == 0 || x == 1)
		return 0;
	do {
		x = sqrt(x);
		before = z;
		y /= 2;
		z -= (1 - x) * (1 - x) * y;
	} while (z != before);
	return z / 3;
}

uint64_t distinct_count(const struct distinct *d)
{
	const double m = DISTINCT_REGISTERS;
	uint32_t with_rank[RANKS] = {0};
	double z;

	if (!d->registers)
		return d->used;
	for (uint32_t i = 0; i < DISTINCT_REGISTERS; i++)
		with_rank[d->registers[i]]++;
	z = m * tau(1 - with_rank[RANKS - 1] / m);
	for (int k = RANKS - 2; k >= 1; k--)
		z = (z + with_rank[k]) / 2;
	z += m * sigma(with_rank[0] / m);
	if (!(z > 0)) /* every register at its highest rank */
		return UINT64_MAX;
	/* m^2 / (2 ln 2 z): at most about 2^64 */
	z = m / (2 * M_LN2) * m / z;
	return z < 18446744073709549568.0 ? (uint64_t)(z + 0.5) : UINT64_MAX;
}

/* --- aggregate --- */

static struct aggregate_field *groups_fields_of(const struct aggregate *a,
						const struct columns_wanted *w)
{
	return aggregate_part(a, w->fields);
}

void aggregate_init(struct aggregate *a, const struct columns_wanted *w)
{
	aggregate_no_extremes(a);
	if (w->times)
		((struct time_span *)aggregate_part(a, w->times))->since = UINT64_MAX;
}

void aggregate_free(struct aggregate *a, const struct columns_wanted *w)
{
	if (w->histogram)
		histogram_free(aggregate_part(a, w->histogram));
	for (uint32_t i = 0; i < w->field_count; i++) {
		distinct_free(&groups_fields_of(a, w)[i].distinct);
		histogram_free(&groups_fields_of(a, w)[i].histogram);
	}
}

void aggregate_call_rare(struct aggregate *a, const struct columns_wanted *w, uint64_t total,
			 uint64_t self, uint64_t time)
{
	aggregate_rows(a, w, time, time);
	if (w->total_stdev)
		squares_add(aggregate_part(a, w->total_stdev), total);
	if (w->self_stdev)
		squares_add(aggregate_part(a, w->self_stdev), self);
}

static int64_t limited(int128 value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int aggregate_signed(struct aggregate *a, const struct columns_wanted *w, int128 total, int128 self,
		     bool recursive, uint64_t time)
{
	a->calls++;
	*(recursive ? &a->recursive : &a->total) += total;
	a->self += self;
	aggregate_total_extremes(a, limited(total), limited(total));
	aggregate_self_extremes(a, limited(self), limited(self));
	/* the square does not depend on the sign */
	if (w->rarely)
		aggregate_call_rare(a, w, (uint64_t)magnitude(total), (uint64_t)magnitude(self),
				    time);
	return w->histogram ? histogram_add(aggregate_part(a, w->histogram),
					    total < 0 ? 0 : (uint64_t)total)
			    : 0;
}

uint64_t aggregate_quantile(const struct aggregate *a, const struct columns_wanted *w,
			    uint64_t numerator, uint64_t denominator)
{
	int64_t min = a->total_min < 0 ? 0 : a->total_min,
		max = a->total_max < 0 ? 0 : a->total_max;

	return histogram_quantile(aggregate_part(a, w->histogram), numerator, denominator,
				  (uint64_t)min, (uint64_t)max);
}

void aggregate_field_seen(struct aggregate *a, const struct columns_wanted *w, uint32_t field)
{
	groups_fields_of(a, w)[field].seen = true;
}

/* --- numbers of fields --- */

static double add_reals(double a, double b)
{
	double sum = a + b;

	return isfinite(sum) ? sum : copysign(DBL_MAX, sum);
}

static bool is_less(struct group_number a, struct group_number b)
{
	return a.whole != b.whole ? a.whole < b.whole : a.fraction < b.fraction;
}

struct group_number number_of_real(double real)
{
	int128 whole = (int128)copysign(fmin(fabs(real), (double)NUMBER_MOST), real);

	return (struct group_number){whole, fabs(real) < (double)NUMBER_MOST ? real - (double)whole
									     : real};
}

double number_real(int128 whole, double fraction)
{
	bool most = whole == NUMBER_MOST || whole == -NUMBER_MOST;

	return most && fraction != 0 ? fraction : (double)whole + fraction;
}

static inline __attribute__((always_inline)) int add_number(struct aggregate_field *f,
							    struct group_number n, bool histogram)
{
	if (histogram && histogram_add(&f->histogram, histogram_value(n.whole)))
		return -1;
	/* most numbers are neither the least nor the greatest */
	if (n.fraction != 0 || !f->count || n.whole <= f->min.whole || n.whole >= f->max.whole) {
		if (!f->count || is_less(n, f->min))
			f->min = n;
		if (!f->count || is_less(f->max, n))
			f->max = n;
	}
	f->count++;
	/* most states of most calls */
	if (!n.whole && n.fraction == 0)
		return 0;
	/* integers beyond 64 bits are floats, whose sum could overflow */
	if (n.whole > (int128)UINT64_MAX || n.whole < INT64_MIN)
		n = (struct group_number){0, number_real(n.whole, n.fraction)};
	if (n.fraction != 0)
		f->sum.fraction = add_reals(f->sum.fraction, n.fraction);
	if (!__builtin_add_overflow(f->sum.whole, n.whole, &f->sum.whole))
		return 0;
	errno = EOVERFLOW; /* of a summary, whose sum is impossible */
	return -1;
}

int aggregate_number(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		     int128 value)
{
	struct aggregate_field *f = &groups_fields_of(a, w)[field];

	if (w->field[field].uniq && distinct_add(&f->distinct, distinct_hash_number(value)))
		return -1;
	return add_number(f, (struct group_number){.whole = value}, w->field[field].histogram);
}

int aggregate_real(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   double value)
{
	struct aggregate_field *f = &groups_fields_of(a, w)[field];
	uint64_t bits;

	/* no integer of 64 bits has this upper half */
	memcpy(&bits, &value, sizeof bits);
	if (w->field[field].uniq &&
	    distinct_add(&f->distinct, distinct_hash_number((int128)((uint128)bits << 64))))
		return -1;
	return add_number(f, number_of_real(value), w->field[field].histogram);
}

int aggregate_text(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   const void *data, size_t size)
{
	return w->field[field].uniq ? aggregate_hash(a, w, field, distinct_hash_bytes(data, size))
				    : 0;
}

int aggregate_hash(struct aggregate *a, const struct columns_wanted *w, uint32_t field,
		   uint64_t hash)
{
	return w->field[field].uniq ? distinct_add(&groups_fields_of(a, w)[field].distinct, hash)
				    : 0;
}

static int merge_field(struct aggregate_field *into, const struct aggregate_field *from,
		       const struct wanted_field *wanted)
{
	into->seen |= from->seen;
	if (from->count) {
		if (!into->count || is_less(from->min, into->min))
			into->min = from->min;
		if (!into->count || is_less(into->max, from->max))
			into->max = from->max;
	}
	if (__builtin_add_overflow(into->count, from->count, &into->count) ||
	    __builtin_add_overflow(into->sum.whole, from->sum.whole, &into->sum.whole)) {
		errno = EOVERFLOW;
		return -1;
	}
	into->sum.fraction = add_reals(into->sum.fraction, from->sum.fraction);
	if (wanted->histogram && histogram_merge(&into->histogram, &from->histogram))
		return -1;
	return wanted->uniq ? distinct_merge(&into->distinct, &from->distinct) : 0;
}

/* Groups that are merged have the same sum of all groups, new ones none. */
static void keep_whole(int128 *into, const int128 *from)
{
	*into = *into ? *into : *from;
}

int aggregate_merge(struct aggregate *into, const struct aggregate *from,
		    const struct columns_wanted *w)
{
	return aggregate_merge_of(into, w, from, w, NULL);
}

int aggregate_merge_of(struct aggregate *into, const struct columns_wanted *w,
		       const struct aggregate *from, const struct columns_wanted *v,
		       const uint32_t *fields)
{
	const struct time_span *times;
	uint64_t rows;

	if (__builtin_add_overflow(into->calls, from->calls, &into->calls) ||
	    __builtin_add_overflow(into->instants, from->instants, &into->instants) ||
	    __builtin_add_overflow(into->calls, into->instants, &rows) ||
	    __builtin_add_overflow(into->total, from->total, &into->total) ||
	    __builtin_add_overflow(into->recursive, from->recursive, &into->recursive) ||
	    __builtin_add_overflow(into->self, from->self, &into->self)) {
		errno = EOVERFLOW;
		return -1;
	}
	aggregate_total_extremes(into, from->total_min, from->total_max);
	aggregate_self_extremes(into, from->self_min, from->self_max);
	times = aggregate_part(from, v->times);
	if (w->times)
		aggregate_rows(into, w, times->since, times->last);
	if (w->histogram &&
	    histogram_merge(aggregate_part(into, w->histogram), aggregate_part(from, v->histogram)))
		return -1;
	if (w->total_stdev && squares_merge(aggregate_part(into, w->total_stdev),
					    aggregate_part(from, v->total_stdev)))
		return -1;
	if (w->self_stdev &&
	    squares_merge(aggregate_part(into, w->self_stdev), aggregate_part(from, v->self_stdev)))
		return -1;
	if (w->busy) {
		uint128 *busy = aggregate_part(into, w->busy);
		const uint128 *more = aggregate_part(from, v->busy);

		if (__builtin_add_overflow(busy[0], more[0], &busy[0]) ||
		    __builtin_add_overflow(busy[1], more[1], &busy[1])) {
			errno = EOVERFLOW;
			return -1;
		}
	}
	if (w->memory) {
		struct aggregate_memory *m = aggregate_part(into, w->memory);
		const struct aggregate_memory *more = aggregate_part(from, v->memory);

		m->bytes += more->bytes;
		m->outstanding += more->outstanding;
		m->left += more->left;
		/* buckets are merged in their order */
		m->held = more->held;
		m->held_number = more->held_number;
	}
	if (w->whole && v->whole)
		keep_whole(aggregate_part(into, w->whole), aggregate_part(from, v->whole));
	for (uint32_t i = 0; i < w->field_count; i++) {
		if (merge_field(&groups_fields_of(into, w)[i],
				&groups_fields_of(from, v)[fields ? fields[i] : i], &w->field[i]))
			return -1;
	}
	return 0;
}

/* --- groups --- */

void groups_set_keys(struct groups *g, size_t keys)
{
	g->keys = keys;
	g->texts.cut_stacks = keys > 1; /* such a stack is then in many groups */
	g->stride = (g->wanted->size + keys * sizeof(struct key_cell) + 15) & ~(size_t)15;
}

void groups_init(struct groups *g, size_t keys, const struct columns_wanted *wanted)
{
	memset(g, 0, sizeof *g);
	g->wanted = wanted;
	key_texts_init(&g->texts);
	groups_set_keys(g, keys);
}

void groups_clear(struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		aggregate_free(groups_at(g, i), g->wanted);
	for (size_t i = 0; i < g->chunks; i++)
		free(g->chunk[i]);
	free(g->chunk);
	key_map_free(&g->numbers);
	g->chunk = NULL;
	g->count = g->chunks = g->chunk_capacity = 0;
}

struct groups groups_take(struct groups *g)
{
	struct groups old = *g;

	g->chunk = NULL;
	g->numbers = (struct key_map){0};
	g->count = g->chunks = g->chunk_capacity = 0;
	return old;
}

void groups_free(struct groups *g)
{
	groups_clear(g);
	key_texts_free(&g->texts);
	free(g->stack_rank);
	memset(g, 0, sizeof *g);
}

int groups_copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy)
{
	struct key_cell text;

	*copy = *cell;
	if (cell->kind != KEY_TEXT && !cell->label)
		return 0;
	if (groups_text(into, intern_data(&from->texts.intern, cell->text),
			intern_size(&from->texts.intern, cell->text), &text))
		return -1;
	copy->text = text.text;
	return 0;
}

static struct aggregate *groups_append(struct groups *g, const struct key_cell *cells)
{
	struct aggregate *a;

	if (g->count == g->chunks * GROUPS_CHUNK) {
		if (ARRAY_GROW(g->chunk, g->chunk_capacity, g->chunks))
			return NULL;
		g->chunk[g->chunks] = calloc(GROUPS_CHUNK, g->stride);
		if (!g->chunk[g->chunks])
			return NULL;
		g->chunks++;
	}
	a = groups_at(g, g->count++);
	aggregate_init(a, g->wanted);
	if (g->keys)
		memcpy((char *)a + g->wanted->size, cells, g->keys * sizeof *cells);
	return a;
}

/* A number that was hexadecimal and decimal is shown as a decimal one, and one whose events do not
 * all give it the same name without a name. */
static void note_spellings(struct groups *g, struct aggregate *a, const struct key_cell *cells)
{
	struct key_cell *have = (struct key_cell *)((char *)a + g->wanted->size);

	for (size_t i = 0; i < g->keys; i++) {
		if (have[i].kind == KEY_ADDRESS)
			have[i].kind = cells[i].kind;
		if (have[i].label && key_is_number(&have[i]) &&
		    (!cells[i].label || cells[i].text != have[i].text)) {
			have[i].label = false;
			have[i].text = 0;
		}
	}
}

struct aggregate *groups_find(struct groups *g, const struct key_cell *cells)
{
	uint64_t hash = key_cells_hash(&g->texts, cells, g->keys);
	struct aggregate *a;
	uint32_t *number;

	for (;; hash++) {
		number = key_map_number(&g->numbers, hash);
		if (!number)
			return NULL;
		if (!*number)
			break;
		a = groups_at(g, *number - 1);
		if (key_cells_same(groups_cells(g, a), cells, g->keys)) {
			note_spellings(g, a, cells);
			return a;
		}
	}
	if (g->count >= UINT32_MAX - 1)
		return NULL;
	a = groups_append(g, cells);
	if (a)
		*number = (uint32_t)g->count;
	return a;
}

static int compare_reals(double a, double b)
{
	return (a > b) - (a < b);
}

static int groups_compare_numbers(const struct key_cell *a, const struct key_cell *b)
{
	double real;

	if (b->kind == KEY_REAL && a->kind == KEY_REAL)
		return compare_reals(key_real_value(a), key_real_value(b));
	if (b->kind == KEY_REAL)
		return -groups_compare_numbers(b, a);
	if (a->kind == KEY_REAL) {
		/* A number that is no integer is below 2^53, where the conversion is exact, or
		 * beyond all integers; 2^64 is the only tie. */
		real = b->kind == KEY_SIGNED ? (double)(int64_t)b->value : (double)b->value;
		return key_real_value(a) >= real ? 1 : -1;
	}
	/* KEY_SIGNED is used for negative ones only */
	if ((a->kind == KEY_SIGNED) != (b->kind == KEY_SIGNED))
		return a->kind == KEY_SIGNED ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

int groups_compare(const struct groups *g, const struct key_cell *a, const struct key_cell *b)
{
	uint32_t m, n;
	int c;

	if (a->kind == KEY_MISSING || b->kind == KEY_MISSING)
		return (a->kind == KEY_MISSING) - (b->kind == KEY_MISSING);
	if (a->kind == KEY_STACK && b->kind == KEY_STACK)
		return (g->stack_rank[a->value] > g->stack_rank[b->value]) -
		       (g->stack_rank[a->value] < g->stack_rank[b->value]);
	if (a->kind == KEY_STACK || b->kind == KEY_STACK)
		return a->kind == KEY_STACK ? 1 : -1;
	if (a->kind != KEY_TEXT && b->kind != KEY_TEXT)
		return groups_compare_numbers(a, b);
	if (a->kind != b->kind)
		return a->kind == KEY_TEXT ? 1 : -1;
	m = intern_size(&g->texts.intern, a->text);
	n = intern_size(&g->texts.intern, b->text);
	c = memcmp(intern_data(&g->texts.intern, a->text), intern_data(&g->texts.intern, b->text),
		   m < n ? m : n);
	return c ? c : (m > n) - (m < n);
}

int groups_compare_first(const struct groups *g, const struct aggregate *a,
			 const struct aggregate *b, size_t n)
{
	const struct key_cell *x = groups_cells(g, a), *y = groups_cells(g, b);
	int c = 0;

	for (size_t i = 0; i < n && !c; i++)
		c = groups_compare(g, &x[i], &y[i]);
	return c;
}

/* Copy the cells of a group, with the nodes that replace its stacks. */
static void replace_stacks(struct groups *g, const uint32_t *limited, struct aggregate *a,
			   struct key_cell *cells)
{
	const struct stack_node *nodes = g->texts.stacks->tree.nodes;

	for (size_t k = 0; k < g->keys; k++) {
		uint32_t node;

		if (cells[k].kind != KEY_STACK)
			continue;
		node = stack_tree_resolve(&g->texts.stacks->tree, (uint32_t)cells[k].value);
		if (limited && limited[node]) {
			/* recursive: below others of the same group */
			if (limited[nodes[node].parent]) {
				a->recursive += a->total;
				a->total = 0;
			}
			node = limited[node];
		}
		cells[k].value = node;
	}
}

/* Build the groups again, with the nodes that replace their stacks. limited: see
 * stack_tree_limit, or NULL. */
static int groups_regroup(struct groups *g, const uint32_t *limited)
{
	struct groups old = groups_take(g);
	struct key_cell *cells = calloc(g->keys + 1, sizeof *cells);
	int r = cells ? 0 : -1;

	for (size_t i = 0; !r && i < old.count; i++) {
		struct aggregate *from = groups_at(&old, i), *into;

		memcpy(cells, groups_cells(&old, from), g->keys * sizeof *cells);
		replace_stacks(g, limited, from, cells);
		into = groups_find(g, cells);
		r = into ? aggregate_merge(into, from, g->wanted) : -1;
	}
	groups_clear(&old);
	free(cells);
	return r;
}

static int join_groups(struct groups *g)
{
	struct stack_tree *t = &g->texts.stacks->tree;
	uint32_t *limited = NULL;
	int r = 0;

	g->deep = g->whole_stacks ? 0 : stack_tree_deep(t);
	if (g->deep) {
		limited = malloc(t->count * sizeof *limited);
		r = limited ? call_stacks_limit(g->texts.stacks, limited) : -1;
	}
	if (!r && (t->joined || limited))
		r = groups_regroup(g, limited);
	free(limited);
	return r;
}

/* Number the stacks in their order; no more are added after this. */
static int rank_stacks(struct groups *g)
{
	const struct stack_tree *t = &g->texts.stacks->tree;
	uint32_t *order = calloc(t->live + 1, sizeof *order);
	size_t n = order ? stack_tree_order(t, &g->texts.stacks->names, order) : 0;

	free(g->stack_rank);
	g->stack_rank = calloc(t->count, sizeof *g->stack_rank);
	for (size_t i = 0; g->stack_rank && i < n; i++)
		g->stack_rank[order[i]] = (uint32_t)i;
	free(order);
	return n && g->stack_rank ? 0 : -1;
}

int groups_stacks(struct groups *g, struct call_stacks *stacks)
{
	g->texts.stacks = stacks;
	if (!g->texts.path)
		g->texts.path = calloc(1, sizeof *g->texts.path);
	return !g->texts.path || join_groups(g) ? -1 : rank_stacks(g);
}

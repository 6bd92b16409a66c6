#include <stdlib.h>

#include "common/stream/dictionary_private.h"

/* Enums with fewer members are searched linearly. */
enum { INDEXED_LEAST = 9 };

/* The numbers from low up to the next range's low, which have the same members: the first and
 * the last one, as index + 1; 0: none. */
struct label_range {
	uint64_t low; /* sort_key of the number */
	uint32_t first, last;
};

/* The index of an ENUM, built when the first number is looked up: many programs look up none. */
struct labels {
	uint32_t count; /* 0: not built yet */
	struct label_range ranges[];
};

/* Map numbers of either signedness to unsigned ones of the same order. */
static uint64_t sort_key(const struct definition *d, uint64_t number)
{
	return definition_is_unsigned(d) ? number : number ^ 1ull << 63;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct label_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* Find the range of the number; NULL: the number is below all. */
static struct label_range *range_of(const struct label_range *r, uint32_t n, uint64_t key)
{
	uint32_t at = 0;

	while (n) {
		uint32_t half = n / 2;

		if (r[at + half].low <= key) {
			at += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return at ? (struct label_range *)&r[at - 1] : NULL;
}

/* Get the index of the range that begins at the key; of members in order it is `near` or the next
 * one. */
static uint32_t range_near(const struct label_range *r, uint32_t n, uint32_t near, uint64_t key)
{
	for (uint32_t at = near; at < n && at < near + 2; at++)
		if (r[at].low == key)
			return at;
	return (uint32_t)(range_of(r, n, key) - r);
}

/* Find the first range from r on without a member. next: for each range, one not before it where
 * the search continues. */
static uint32_t free_range(uint32_t *next, uint32_t r)
{
	while (next[r] != r) {
		next[r] = next[next[r]];
		r = next[r];
	}
	return r;
}

/* Give each range its first members, in the order of declaration. */
static void give_ranges(const struct definition *d, struct label_range *ranges, uint32_t n,
			uint32_t *next, bool backwards)
{
	uint32_t near = backwards ? n : 0;

	for (uint32_t i = 0; i <= n; i++)
		next[i] = i;
	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t index = backwards ? d->count - 1 - i : i;
		const struct member *m = &d->members[index];
		uint64_t high = sort_key(d, m->high);
		uint32_t begin = range_near(ranges, n, near, sort_key(d, m->low)), r = begin;

		for (r = free_range(next, r); r < n && ranges[r].low <= high;
		     r = free_range(next, r)) {
			*(backwards ? &ranges[r].last : &ranges[r].first) = index + 1;
			next[r] = r + 1;
		}
		near = !backwards ? r : begin < 2 ? 0 : begin - 2;
	}
}

int dictionary_reserve_labels(struct dictionary *dictionary, struct definition *d)
{
	if (d->kind != DEFINITION_ENUM || d->count < INDEXED_LEAST)
		return 0;
	d->labels = dictionary_keep(
		dictionary, sizeof *d->labels + 2 * (size_t)d->count * sizeof *d->labels->ranges);
	return d->labels ? 0 : -1;
}

/* Build the index. -1: out of memory. */
static int index_labels(const struct definition *d)
{
	struct label_range *ranges = d->labels->ranges;
	uint32_t n = 0, kept = 0, *next = calloc(2 * (size_t)d->count + 1, sizeof *next);
	bool sorted = true;

	if (!next)
		return -1;
	for (uint32_t i = 0; i < d->count; i++) {
		uint64_t low = sort_key(d, d->members[i].low),
			 high = sort_key(d, d->members[i].high);

		sorted &= !n || ranges[n - 1].low <= low;
		ranges[n++].low = low;
		if (high != UINT64_MAX)
			ranges[n++].low = high + 1;
	}
	/* many recorders declare the members in order */
	if (!sorted)
		qsort(ranges, n, sizeof *ranges, compare_ranges);
	for (uint32_t i = 0; i < n; i++)
		if (!i || ranges[i].low != ranges[kept - 1].low)
			ranges[kept++] = ranges[i];
	give_ranges(d, ranges, kept, next, false);
	give_ranges(d, ranges, kept, next, true);
	free(next);
	d->labels->count = kept;
	return 0;
}

static const struct member *find(const struct definition *d, uint32_t from, uint64_t number)
{
	uint64_t key = sort_key(d, number);
	uint32_t end = d->count;

	/* without memory for the index the search is linear */
	if (d->labels && (d->labels->count || !index_labels(d))) {
		const struct label_range *r = range_of(d->labels->ranges, d->labels->count, key);

		if (!r)
			return NULL;
		end = r->last;
		if (from + 1 < r->first)
			from = r->first - 1;
	}
	for (; from < end; from++) {
		const struct member *m = &d->members[from];

		if (sort_key(d, m->low) <= key && key <= sort_key(d, m->high))
			return m;
	}
	return NULL;
}

const struct member *definition_member(const struct definition *d, uint64_t number)
{
	return d ? find(d, 0, number) : NULL;
}

const struct member *definition_next_member(const struct definition *d, const struct member *m,
					    uint64_t number)
{
	return find(d, (uint32_t)(m - d->members) + 1, number);
}

const char *dictionary_definition_fault(const uint8_t *p, uint32_t parts)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_DEFINITION];
	struct definition_entry e;
	struct definition d;

	entry_get(l, p, &e);
	d = (struct definition){.kind = e.kind, .flags = e.flags};
	if (d.kind < DEFINITION_ENUM || d.kind > DEFINITION_FRAME)
		return "a definition of an unknown kind";
	for (uint32_t i = 0; i < parts; i++) {
		struct member_entry m;

		entry_get(l->part, p + entry_part(l, i), &m);
		if (m.low != m.high &&
		    (d.kind != DEFINITION_ENUM || sort_key(&d, m.low) > sort_key(&d, m.high)))
			return "a member of an impossible range";
	}
	return NULL;
}

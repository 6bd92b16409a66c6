/*
 * statistics_buckets.c - groups by time: the parts of pairs in each bucket, and buckets without any
 */
#include <string.h>

#include "cmd/trstat/groups/statistics.h"

int statistics_add_busy(struct statistics *s, uint64_t begin, uint64_t end)
{
	for (bool first = true; begin < end; first = false) {
		uint64_t next = end, after;
		struct aggregate *a;
		uint128 *busy;

		for (size_t i = 0; i < s->keys->count; i++) {
			const struct key *k = &s->keys->key[i];

			if (!key_is_time_bucket(k))
				continue;
			s->cells[i] = key_unsigned(begin - begin % k->width);
			if (!__builtin_add_overflow(s->cells[i].value, k->width, &after) &&
			    after < next)
				next = after;
		}
		if (!first && s->busy++ >= BUSY_MOST)
			return 0;
		a = groups_find(&s->groups, s->cells);
		if (!a)
			return -1;
		busy = aggregate_part(a, s->columns->wanted.busy);
		*busy += next - begin;
		begin = next;
	}
	return 0;
}

int statistics_check_busy(const struct statistics *s, struct error *e)
{
	if (s->busy <= BUSY_MOST)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "pairs cover more than %d buckets of time: use wider ones", BUSY_MOST);
}

struct columns_run statistics_run(const struct statistics *s)
{
	size_t key = keys_time_bucket(s->keys);

	return (struct columns_run){s->since ? s->since : s->first, s->last,
				    key ? s->keys->key[key - 1].width : 0, key, 0};
}

/* Add the groups of all buckets for the other keys of s->cells. Returns -1 when out of memory. */
static int fill_group(struct statistics *s, const struct columns_run *run)
{
	struct key_cell *time = &s->cells[run->bucket_key - 1];
	uint64_t next = run->first - run->first % run->bucket;

	while (next < run->last) {
		*time = key_unsigned(next);
		if (!groups_find(&s->groups, s->cells))
			return -1;
		if (__builtin_add_overflow(next, run->bucket, &next))
			break;
	}
	return 0;
}

int statistics_fill_buckets(struct statistics *s, bool *left_out)
{
	const struct columns_run run = statistics_run(s);
	size_t n = s->groups.count, size = s->keys->count * sizeof(*s->cells);
	uint64_t each;

	*left_out = false;
	if (!s->columns->wanted.busy || !run.bucket_key || run.first >= run.last)
		return 0;
	each = run.last / run.bucket - run.first / run.bucket + 1;
	for (size_t i = 0; i < n; i++) {
		size_t before = s->groups.count;
		const struct aggregate *a = groups_at(&s->groups, i);
		uint64_t begin = groups_cells(&s->groups, a)[run.bucket_key - 1].value;

		/* the first bucket of the other keys, present or not, adds all others */
		memcpy(s->cells, groups_cells(&s->groups, a), size);
		s->cells[run.bucket_key - 1] = key_unsigned(run.first - run.first % run.bucket);
		if (!groups_find(&s->groups, s->cells))
			return -1;
		if (s->groups.count == before && begin > run.first)
			continue;
		if (before + each > BUCKETS_FILLED) {
			*left_out = true;
			return 0;
		}
		if (fill_group(s, &run))
			return -1;
	}
	return 0;
}

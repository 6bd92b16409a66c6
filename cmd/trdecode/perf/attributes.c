/*
 * attributes.c - the events of a recording, and their ids
 */
#include "cmd/trdecode/perf/perf.h"

#include <stdlib.h>

enum { ATTRS_MOST = 4096, IDS_LEAST = 256, IDS_MOST = 1 << 22 };

/* Reverse the bits: a big-endian machine numbers the bits of a bit field from the highest. */
static uint64_t reversed(uint64_t v)
{
	uint64_t out = 0;

	for (int i = 0; i < 64; i++)
		out |= (v >> i & 1) << (63 - i);
	return out;
}

static void unpack_attr(const struct perf *p, const uint8_t *d, size_t size, struct perf_attr *a)
{
	uint64_t flags = perf_u64(p, d + PERF_ATTR_FLAGS);

	*a = (struct perf_attr){.kind = perf_u32(p, d + PERF_ATTR_TYPE),
				.config = perf_u64(p, d + PERF_ATTR_CONFIG),
				.period = perf_u64(p, d + PERF_ATTR_PERIOD),
				.sample_type = perf_u64(p, d + PERF_ATTR_SAMPLE_TYPE),
				.read_format = perf_u64(p, d + PERF_ATTR_READ_FORMAT),
				.flags = p->h.big_endian ? reversed(flags) : flags};
	if (size >= PERF_ATTR_BRANCH_TYPE + 8)
		a->branch_type = perf_u64(p, d + PERF_ATTR_BRANCH_TYPE);
	if (size >= PERF_ATTR_USER_REGS + 8)
		a->user_regs = perf_u64(p, d + PERF_ATTR_USER_REGS);
	if (size >= PERF_ATTR_CLOCK_ID + 4) {
		a->user_stack = perf_u32(p, d + PERF_ATTR_USER_STACK);
		a->clock_id = (int32_t)perf_u32(p, d + PERF_ATTR_CLOCK_ID);
	}
	if (size >= PERF_ATTR_INTR_REGS + 8)
		a->intr_regs = perf_u64(p, d + PERF_ATTR_INTR_REGS);
}

/* --- ids --- */

static struct perf_id *id_slot(const struct perf *p, uint64_t id)
{
	size_t i = hash_u64(id) & (p->ids_size - 1);

	while (p->ids[i].attr && p->ids[i].id != id)
		i = (i + 1) & (p->ids_size - 1);
	return &p->ids[i];
}

static int grow_ids(struct perf *p)
{
	struct perf_id *old = p->ids;
	size_t had = p->ids_size;

	p->ids_size = had ? 2 * had : IDS_LEAST;
	p->ids = calloc(p->ids_size, sizeof *p->ids);
	if (!p->ids) {
		p->ids = old;
		p->ids_size = had;
		return -1;
	}
	for (size_t i = 0; i < had; i++)
		if (old[i].attr)
			*id_slot(p, old[i].id) = old[i];
	free(old);
	return 0;
}

int perf_id_add(struct perf *p, uint64_t id, uint32_t attr)
{
	struct perf_id *slot;

	if (p->nids == IDS_MOST)
		return 0;
	if (2 * p->nids >= p->ids_size && grow_ids(p))
		return -1;
	slot = id_slot(p, id);
	if (slot->attr)
		return 0;
	*slot = (struct perf_id){.id = id, .attr = attr + 1};
	p->nids++;
	return 0;
}

struct perf_id *perf_id_find(const struct perf *p, uint64_t id)
{
	struct perf_id *slot = p->ids_size ? id_slot(p, id) : NULL;

	return slot && slot->attr ? slot : NULL;
}

int perf_attr_add(struct perf *p, const uint8_t *data, size_t size, const uint8_t *ids, size_t n)
{
	struct perf_attr *attrs;

	if (p->nattrs == ATTRS_MOST)
		return 0;
	if (ARRAY_GROW(p->attrs, p->attrs_capacity, p->nattrs))
		return -1;
	attrs = p->attrs;
	unpack_attr(p, data, size, &attrs[p->nattrs++]);
	for (size_t i = 0; i < n; i++)
		if (perf_id_add(p, perf_u64(p, ids + 8 * i), (uint32_t)p->nattrs - 1))
			return -1;
	return 0;
}

/* Return the place of the id among the numbers of a sample; -1: the sample has none. */
static int id_place(const struct perf_attr *a)
{
	const uint64_t before =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	return a->sample_type & PERF_SAMPLE_ID ? __builtin_popcountll(a->sample_type & before) : -1;
}

/* The same in the origin at the end of other records, counted from the end. */
static int id_place_from_end(const struct perf_attr *a)
{
	const uint64_t after = PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID;

	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	return a->sample_type & PERF_SAMPLE_ID ? 1 + __builtin_popcountll(a->sample_type & after)
					       : -1;
}

void perf_attrs_settle(struct perf *p)
{
	p->id_at = p->nattrs ? id_place(&p->attrs[0]) : -1;
	p->id_from_end = p->nattrs ? id_place_from_end(&p->attrs[0]) : -1;
	for (size_t i = 0; i < p->nattrs; i++)
		p->deferred.used |= perf_flag(&p->attrs[i], PERF_FLAG_DEFER_CALLCHAIN);
}

struct perf_attr *perf_attr_of(struct perf *p, uint64_t id, bool has_id)
{
	const struct perf_id *found;

	if (!p->nattrs)
		return NULL;
	/* what perf itself has made has the id 0 */
	if (p->nattrs == 1 || !has_id || !id)
		return &p->attrs[0];
	found = perf_id_find(p, id);
	return found ? &p->attrs[found->attr - 1] : NULL;
}

void perf_attrs_free(struct perf *p)
{
	for (size_t i = 0; i < p->nattrs; i++) {
		free(p->attrs[i].name);
		free(p->attrs[i].members);
	}
	free(p->attrs);
	free(p->ids);
}

/*
 * summary_read.c - read summaries, block by block
 *
 * A summary counts when all of it was read. Until then its groups are kept apart. A damaged summary
 * is left out as a whole, as if it were missing.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/cli/program.h"
#include "cmd/trstat/summary/summary_unpack.h"

enum { META_LIMIT = 1 << 30 };

void summary_free(struct summary *sm)
{
	parts_free(&sm->parts);
	slow_list_free(&sm->slowest);
	intern_free(&sm->threads);
	free(sm->streams);
}

void summaries_free(struct summaries *ss)
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

void summaries_damaged(struct summaries *ss)
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

static int summary_damaged(struct summaries *ss, uint64_t offset, const char *what)
{
	if (ss->state == SUMMARY_OPEN)
		warn(ss->file, offset, "%s", what);
	summaries_damaged(ss);
	return 0;
}

static int take_payload(struct summaries *ss, uint64_t offset, struct error *e)
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

static int take_meta(struct summaries *ss, const struct block *b, struct error *e)
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
	if (take_payload(ss, b->offset, e))
		return -1;
	ss->taken = true;
	return 0;
}

/* --- complete summaries --- */

/* Returns false for a group of rows that have only fields which no column here needs. */
static bool is_wanted(const struct summaries *ss, const struct aggregate *a)
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

		if (!is_wanted(ss, a))
			continue;
		into = groups_find(&s->groups, groups_cells(g, a));
		bad = into ? aggregate_merge_of(into, &s->columns->wanted, a, g->wanted, ss->fields)
			   : -1;
	}
	groups_free(g);
	return bad ? -1 : 0;
}

static int add_names(struct summaries *ss)
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

static int add_slowest(struct summaries *ss)
{
	int bad = slow_list_move(&ss->to->slowest, &ss->slowest);

	slow_list_free(&ss->slowest);
	return bad;
}

static void add_pairs(struct pair *pair, const struct summary_pairs *p)
{
	pair->pairs += p->pairs;
	pair->replaced += p->replaced;
	pair->ended += p->ended;
	pair->forgotten += p->forgotten;
	pair->left += p->left;
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
	if (s->pair)
		add_pairs(s->pair, &h->pairs);
	if (!add_groups(ss) && !add_names(ss) && !add_slowest(ss)) {
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

static int end_summary(struct summaries *ss, const struct block *b, struct error *e)
{
	return ss->taken ? add_summary(ss, e) : summary_damaged(ss, b->offset, "a part is missing");
}

int summaries_block(struct summaries *ss, const struct block *b, struct error *e)
{
	if (b->kind == BLOCK_HEAD)
		begin_summary(ss, b);
	if (ss->state != SUMMARY_OPEN)
		return 0;
	switch (b->kind) {
	case BLOCK_META: return ss->taken ? 0 : take_meta(ss, b, e);
	case BLOCK_END: return end_summary(ss, b, e);
	}
	return 0;
}

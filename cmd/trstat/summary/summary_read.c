/*
 * summary_read.c - read summaries, block by block, into groups and parts
 *
 * A summary counts when all of it was read. Until then its groups are kept apart. A damaged summary
 * is left out as a whole, as if it were missing.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/cli/program.h"
#include "cmd/trstat/summary/summary_unpack.h"

enum { META_LIMIT = 1 << 30 };

void parts_free(struct parts *ps)
{
	for (size_t i = 0; i < ps->count; i++)
		part_free(&ps->part[i]);
	free(ps->part);
	*ps = (struct parts){0};
}

struct part *parts_add(struct parts *ps)
{
	struct part *p = array_grow(ps->part, &ps->capacity, ps->count, sizeof(*p));

	if (!p)
		return NULL;
	ps->part = p;
	p += ps->count++;
	*p = (struct part){0};
	return p;
}

void summaries_free(struct summaries *ss)
{
	parts_free(&ss->parts);
	groups_free(&ss->waiting); /* before the columns that they are laid out by */
	columns_free(&ss->stored);
	buffer_free(&ss->meta);
	packed_stacks_free(&ss->stacks);
	free(ss->fields);
	free(ss->streams);
	free(ss->keys);
}

static int take_all(struct unpacker *u)
{
	struct summaries *ss = u->ss;
	uint64_t version = packed_u64(&u->in), precision = packed_u64(&u->in), first;

	if (!u->in.bad && (version != SUMMARY_VERSION || precision != HISTOGRAM_PRECISION))
		return error_set(u->e, ss->file, NO_OFFSET,
				 "a summary of version %" PRIu64 " with histograms of precision "
				 "%" PRIu64 ", here are known %d and %d",
				 version, precision, SUMMARY_VERSION, HISTOGRAM_PRECISION);
	first = packed_limited(&u->in, 1);
	if (u->in.bad || first == ss->expecting) {
		u->in.bad = true;
		return -1;
	}
	if (first && (unpack_head(u) || (ss->s->stacks && unpack_stacks(u)) || unpack_groups(u)))
		return -1;
	u->part = parts_add(&ss->parts);
	if (!u->part || bracket_init(&u->part->bracket, ss->s->keys->held, &ss->s->columns->wanted))
		return unpack_no_memory(u);
	u->part->file = ss->file;
	if (unpack_part(u))
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
	while (ss->parts.count > ss->first_part)
		part_free(&ss->parts.part[--ss->parts.count]);
	warn(ss->file, ss->begins, "a summary that is damaged: it is left out");
}

static int damaged(struct summaries *ss, uint64_t offset, const char *what)
{
	if (ss->state == SUMMARY_OPEN)
		warn(ss->file, offset, "%s", what);
	summaries_damaged(ss);
	return 0;
}

static int take_payload(struct summaries *ss, uint64_t offset, struct error *e)
{
	struct unpacker u = {
		.ss = ss, .in = {ss->meta.data, ss->meta.data + ss->meta.size, false}, .e = e};

	e->what[0] = '\0';
	if (!take_all(&u))
		return 0;
	if (u.out_of_memory)
		return error_no_memory(e);
	if (e->what[0] && !u.in.bad)
		return -1;
	return damaged(ss, offset, "what it holds is impossible");
}

/* Give sources of different streams different numbers, and those of one stream the same, however
 * many streams there are. */
static int choose_stream(struct summaries *ss)
{
	const struct head *h = &ss->reader->head;
	uint64_t id = 0, *streams;
	size_t i;

	if (h->properties_size >= 16 && get_u16(h->properties) == HEAD_PART &&
	    get_u32(h->properties + 4) == 8)
		id = get_u64(h->properties + 8);
	for (i = 0; i < ss->nstreams && ss->streams[i] != id; i++)
		;
	if (i == ss->nstreams) {
		streams = array_grow(ss->streams, &ss->streams_capacity, ss->nstreams,
				     sizeof(*streams));
		if (!streams)
			return -1;
		ss->streams = streams;
		streams[ss->nstreams++] = id;
	}
	ss->reader->dictionary.stream = (uint32_t)i + 1;
	return 0;
}

static int take_meta(struct summaries *ss, const struct block *b, struct error *e)
{
	struct meta m;

	reader_meta(ss->reader, b, &m);
	if (m.name_size != strlen(SUMMARY_META) || memcmp(m.name, SUMMARY_META, m.name_size) != 0)
		return 0;
	if (m.offset != ss->meta.size || m.total > META_LIMIT)
		return damaged(ss, b->offset, "a piece of it is missing");
	if (buffer_append(&ss->meta, m.data, m.size))
		return error_no_memory(e);
	if (ss->meta.size < m.total)
		return 0;
	if (hash_bytes(ss->meta.data, ss->meta.size, 0) != m.hash)
		return damaged(ss, b->offset, "its checksum is wrong");
	if (take_payload(ss, b->offset, e))
		return -1;
	ss->expecting = false; /* until END announces more */
	ss->taken = true;
	return 0;
}

/* --- complete summaries --- */

/* Returns false for a group of rows that have only fields which no column here needs. */
static bool is_wanted(const struct summaries *ss, const struct aggregate *a)
{
	const struct columns_wanted *here = &ss->s->columns->wanted, *there = ss->waiting.wanted;
	const struct aggregate_field *fields = aggregate_part(a, there->fields);
	bool is = aggregate_count(a) > 0;

	for (uint32_t i = 0; i < here->field_count && !is; i++)
		is = fields[ss->fields[i]].seen;
	return is;
}

/* Add the groups to those of the statistics, and set the groups of the parts' doubts. */
static int add_groups(struct summaries *ss)
{
	struct statistics *s = ss->s;
	struct groups *g = &ss->waiting;
	struct aggregate **now = calloc(g->count + 1, sizeof(struct aggregate *));
	int bad = now ? 0 : -1;

	for (size_t i = 0; i < g->count && !bad; i++) {
		struct aggregate *a = groups_at(g, i);

		if (!is_wanted(ss, a))
			continue;
		now[i] = groups_find(&s->groups, groups_cells(g, a));
		bad = now[i] ? aggregate_merge_of(now[i], &s->columns->wanted, a, g->wanted,
						  ss->fields)
			     : -1;
	}
	for (size_t i = ss->first_part; i < ss->parts.count && !bad; i++)
		for (size_t t = 0; t < ss->parts.part[i].nthreads; t++) {
			struct part_thread *th = &ss->parts.part[i].threads[t];

			for (size_t k = 0; k < th->ndoubts; k++)
				if (!th->doubts[k].held)
					th->doubts[k].group = now[th->doubts[k].number];
		}
	free(now);
	groups_free(g);
	return bad ? -1 : 0;
}

static int add_summary(struct summaries *ss, struct error *e)
{
	const struct summary_head *h = &ss->head;
	struct statistics *s = ss->s;

	ss->state = SUMMARY_NONE;
	s->ticks |= h->ticks;
	if (h->first <= h->last) /* without rows the summary has no unit of time */
		clocks_set(&s->clocks, h->ticks, ss->file, h->ticks ? "ticks" : "ns");
	s->nameless |= h->nameless;
	s->first = h->first < s->first ? h->first : s->first;
	s->last = h->last > s->last ? h->last : s->last;
	s->calls.unmatched += h->unmatched;
	s->calls.outside += h->outside;
	s->calls.unfinished += h->unfinished;
	if (!add_groups(ss)) {
		ss->whole++;
		return 0;
	}
	return error_set(
		e, ss->file, NO_OFFSET,
		"the summary cannot be added: out of memory, or its numbers are impossible");
}

static int begin_summary(struct summaries *ss, const struct block *b, struct error *e)
{
	uint32_t sequence = ss->reader->head.sequence;

	if (sequence && ss->state == SUMMARY_NONE)
		/* its beginning is lost: the reader has reported it */
		ss->state = SUMMARY_DAMAGED;
	if (!sequence) {
		summaries_damaged(ss); /* the summary before it is incomplete */
		ss->state = SUMMARY_OPEN;
		ss->file = b->file;
		ss->begins = b->offset;
		ss->first_part = ss->parts.count;
	}
	ss->meta.size = 0;
	ss->taken = false;
	ss->expecting = sequence > 0;
	return choose_stream(ss) ? error_no_memory(e) : 0;
}

static int end_summary(struct summaries *ss, const struct block *b, struct error *e)
{
	if (!ss->taken)
		return damaged(ss, b->offset, "a piece of it is missing");
	return ss->reader->end.flags & END_LAST ? add_summary(ss, e) : 0;
}

int summaries_block(struct summaries *ss, const struct block *b, struct error *e)
{
	if (b->kind == BLOCK_HEAD)
		return begin_summary(ss, b, e);
	if (ss->state != SUMMARY_OPEN)
		return 0;
	switch (b->kind) {
	case BLOCK_META: return ss->taken ? 0 : take_meta(ss, b, e);
	case BLOCK_END: return end_summary(ss, b, e);
	}
	return 0;
}

/*
 * summary_read.c - summaries, block by block, into groups and parts
 */
#include <inttypes.h>
#include <stdlib.h>

#include "summary_unpack.h"

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
	columns_free(&ss->stored);
	buffer_free(&ss->meta);
	packed_stacks_free(&ss->stacks);
	free(ss->fields);
	free(ss->groups);
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
	if (!u->part ||
	    bracket_init(&u->part->bracket, ss->s->keys->count, &ss->s->columns->wanted))
		return unpack_no_memory(u);
	u->part->file = ss->file;
	if (unpack_part(u))
		return -1;
	u->in.bad |= u->in.p != u->in.end;
	return u->in.bad ? -1 : 0;
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
	return error_set(e, ss->file, offset, "a summary that is damaged");
}

/* Streams that summaries are of, however many there are, keep their sources apart and their own
 * together. */
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

	if (reader_meta(ss->reader, b, &m)) {
		*e = ss->reader->error;
		return -1;
	}
	if (m.name_size != strlen(SUMMARY_META) || memcmp(m.name, SUMMARY_META, m.name_size) != 0)
		return 0;
	if (m.offset != ss->meta.size || m.total > META_LIMIT || m.size > m.total - m.offset)
		return error_set(e, ss->file, b->offset, "a summary that is damaged");
	if (buffer_append(&ss->meta, m.data, m.size))
		return error_no_memory(e);
	if (ss->meta.size < m.total)
		return 0;
	if (hash_bytes(ss->meta.data, ss->meta.size, 0) != m.hash)
		return error_set(e, ss->file, b->offset, "a summary that is damaged");
	if (take_payload(ss, b->offset, e))
		return -1;
	ss->expecting = false; /* till END says that there is more */
	ss->taken = true;
	return 0;
}

int summaries_block(struct summaries *ss, const struct block *b, struct error *e)
{
	switch (b->kind) {
	case BLOCK_HEAD:
		ss->file = b->file;
		ss->meta.size = 0;
		ss->taken = false;
		ss->expecting = ss->reader->head.sequence > 0;
		return choose_stream(ss) ? error_no_memory(e) : 0;
	case BLOCK_META: return ss->taken ? 0 : take_meta(ss, b, e);
	case BLOCK_END:
		return ss->taken ? 0
				 : error_set(e, ss->file, b->offset, "a summary that is damaged");
	}
	return 0;
}

#include <stdlib.h>
#include <unistd.h>

#include "common/util/checksum.h"
#include "common/stream/reader_private.h"

/* Test whether a block of this kind may have this length. */
static bool header_sane(const struct block *b)
{
	static const uint32_t least[] = {0, 24, 0, EVENTS_HEADER, 40, 56, SNAPSHOT_HEAD};
	bool large = b->kind == BLOCK_EVENTS || b->kind == BLOCK_SNAPSHOT;
	uint32_t limit = large ? EVENTS_LIMIT : BLOCK_LIMIT;

	if (b->length % 8 || b->length > limit || !b->kind)
		return false;
	return b->kind >= BLOCK_KINDS || b->length >= least[b->kind];
}

bool reader_parse_header(const uint8_t *p, struct block *b)
{
	*b = (struct block){.kind = get_u16(p + 4),
			    .flags = get_u16(p + 6),
			    .length = get_u32(p + 8),
			    .crc = get_u32(p + 12)};
	return get_u32(p) == BLOCK_SYNC &&
	       get_u32(p + BLOCK_CHECKED) == checksum(0, p, BLOCK_CHECKED) && header_sane(b) &&
	       (b->kind < BLOCK_KINDS || b->flags & BLOCK_MAY_SKIP);
}

const char *reader_crc_fault(const struct block *b)
{
	return b->flags & BLOCK_HAS_CRC && checksum(0, b->payload, b->length) != b->crc
		       ? "a block with a wrong checksum"
		       : NULL;
}

void reader_meta(const struct reader *r, const struct block *b, struct meta *m)
{
	const uint8_t *p = b->payload;
	uint32_t source = get_u32(p), name = get_u32(p + 32);

	*m = (struct meta){.source = idmap_get(&r->dictionary.ids[ENTRY_SOURCE], source),
			   .flags = get_u32(p + 4),
			   .hash = get_u64(p + 8),
			   .total = get_u64(p + 16),
			   .offset = get_u64(p + 24),
			   .name = (const char *)p + 40,
			   .name_size = name,
			   .data = p + 40 + name,
			   .size = get_u32(p + 36)};
}

int meta_join(struct buffer *whole, const struct meta *m, const char *name)
{
	if (m->flags & META_REFERENCE || m->name_size != strlen(name) ||
	    memcmp(m->name, name, m->name_size) != 0)
		return 0;
	if (!m->offset)
		whole->size = 0;
	if (m->offset != whole->size)
		return 0;
	if (buffer_append(whole, m->data, m->size))
		return -1;
	return whole->size == m->total;
}

/* Find the fault of a META block; NULL: none. */
static const char *meta_fault(const struct reader *r, const struct block *b)
{
	const uint8_t *p = b->payload;
	uint32_t source = get_u32(p), name = get_u32(p + 32), size = get_u32(p + 36);
	uint64_t total = get_u64(p + 16), offset = get_u64(p + 24);

	if ((uint64_t)name + size > b->length - 40)
		return "a part of the source longer than its block";
	if (offset > total || size > total - offset)
		return "a piece beyond its part of the source";
	if (source && !idmap_get(&r->dictionary.ids[ENTRY_SOURCE], source))
		return "a part of a source that is not declared";
	return NULL;
}

/* Report that the input ended within a block, or that the block's length is wrong and other
 * blocks follow its header. */
static int ends_here(struct reader *r)
{
	reader_ended(r, r->input.offset + (r->input.filled - r->input.begin), READER_NO_END);
	reader_go_on_after_damage(r);
	return -1;
}

static int next_block(struct reader *r, struct block *b)
{
	size_t need;
	int got = reader_fill(r, BLOCK_HEADER,
			      r->on_demand ? BLOCK_HEADER + EVENTS_HEADER : READ_SIZE);

	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	if (!reader_parse_header(r->input.data + r->input.begin, b)) {
		if (r->truncated)
			return ends_here(r);
		reader_damaged(r, r->input.offset,
			       reader_is_stream(r->input.data + r->input.begin,
						r->input.filled - r->input.begin)
				       ? READER_NO_END
				       : READER_NO_BLOCK);
		reader_go_on_after_damage(r);
		return -1;
	}
	if (r->truncated) {
		r->truncated = false;
		return reader_damaged(r, r->input.offset,
				      "the block before this one has a wrong length");
	}
	if (reader_check_order(r, b))
		return -1;
	b->offset = r->input.offset;
	b->file = r->file;
	/* an EVENTS block may be large and be passed on without being read */
	need = b->kind == BLOCK_EVENTS ? EVENTS_HEADER : b->length;
	reader_consume(r, BLOCK_HEADER);
	got = reader_fill(r, need, r->on_demand ? need : reader_at_once(r, b, READ_SIZE));
	if (got <= 0)
		return got < 0 ? -1 : ends_here(r);
	r->pending = b->length;
	b->payload = r->input.data + r->input.begin;
	b->available = (uint32_t)need;
	r->loaded = b->kind != BLOCK_EVENTS;
	return 1;
}

static int read_dict(struct reader *r, struct block *b)
{
	struct error e;
	size_t where = 0;
	int bad = dictionary_read(&r->dictionary, b->payload, b->length, &where, &e);

	b->redeclares = r->dictionary.redeclared;
	if (!bad)
		return 0;
	if (reader_may_go_back(r, b->length) && !reader_length_is_true(r, b->length)) {
		/* its length covers other blocks: they are searched from its beginning on */
		r->pending = 0;
		r->astray = true;
	}
	b->payload = r->input.data + r->input.begin;
	if (r->dictionary.refused) {
		/* programs see, and pass on, only what the dictionary has: the rows that follow
		   mean the same to all */
		b->payload = r->dictionary.taken->data;
		b->length = b->available = (uint32_t)r->dictionary.taken->size;
		b->flags &= (uint16_t)~BLOCK_HAS_CRC;
	}
	return reader_damaged(r, b->offset + BLOCK_HEADER + where, e.what);
}

/* Read a SNAPSHOT block, and set its field snapshot if its calls are not known. */
static const char *snapshot_fault(struct reader *r, struct block *b)
{
	const char *fault = snapshot_read(&r->snapshot, &r->dictionary, b, r->reads_values);

	if (fault)
		return fault;
	if (r->segment.alone || r->snapshot.head.flags & SNAPSHOT_RESTART)
		b->snapshot = &r->snapshot;
	b->base = b->snapshot ? b->snapshot->head.first : UINT64_MAX;
	b->last = b->snapshot ? b->snapshot->head.latest : 0;
	return NULL;
}

/* Find out why a block other than EVENTS cannot be used; NULL: it can. */
static const char *block_fault(struct reader *r, struct block *b)
{
	const char *fault = reader_crc_fault(b);

	if (fault)
		return fault;
	switch (b->kind) {
	case BLOCK_HEAD: return reader_head_fault(r, b);
	case BLOCK_META: return meta_fault(r, b);
	case BLOCK_END: return reader_end_fault(b);
	case BLOCK_SNAPSHOT: return snapshot_fault(r, b);
	}
	return NULL;
}

/* Read the content of a block. 1, or -1: it cannot be used; 2: it can, but an error is reported
 * before the block is returned. */
static int take_block(struct reader *r, struct block *b)
{
	const char *fault;

	if (b->kind == BLOCK_EVENTS) {
		if (reader_read_events(r, b))
			return -1;
		r->snapshot.done = true; /* rows precede no SNAPSHOT */
		return 1;
	}
	fault = block_fault(r, b);
	if (fault == EVENTS_NO_MEMORY)
		return reader_no_memory(r);
	if (fault) {
		reader_damaged(r, b->offset, fault);
		if (b->kind == BLOCK_HEAD)
			dictionary_segment(&r->dictionary, true);
		reader_distrust_length(r, b->length);
		return -1;
	}
	switch (b->kind) {
	case BLOCK_HEAD:
		if (reader_check_version(r, b) || reader_check_summary(r, b))
			return -1;
		snapshot_segment(&r->snapshot, false);
		return reader_read_head(r, b) ? 2 : 1;
	case BLOCK_DICT: return read_dict(r, b) ? 2 : 1;
	case BLOCK_END: return reader_read_end(r, b) ? 2 : 1;
	}
	return 1;
}

/* Read the next block of the present input. 1, 0, -1; 2: the input ended normally. */
static int next_of_input(struct reader *r, struct block *b)
{
	int got = 1;

	if (r->pending && reader_skip_pending(r)) {
		reader_close_input(r);
		return -1;
	}
	if (r->astray) {
		r->astray = false;
		got = reader_resynchronise(r);
		if (got <= 0) {
			reader_close_input(r);
			return got ? -1 : 2;
		}
	}
	if (!r->segment.inside)
		got = reader_begin_segment(r);
	if (got == 1)
		got = next_block(r, b);
	else
		return got;
	if (got == 1)
		got = take_block(r, b);
	if (got == 2) {
		r->held = *b;
		r->holding = true;
		return -1;
	}
	return got;
}

int reader_next(struct reader *r, struct block *b)
{
	int got;

	if (r->holding) {
		r->holding = false;
		*b = r->held;
		return 1;
	}
	while (!r->stop) {
		bool was_fatal = r->fatal;

		if (r->input.fd < 0) {
			got = reader_open_next(r);
			if (got <= 0)
				return got;
		}
		got = next_of_input(r, b);
		if (got < 0 && r->fatal && !was_fatal)
			reader_close_input(r); /* the input cannot be read */
		if (got != 2)
			return got;
	}
	return 0;
}

void reader_close(struct reader *r)
{
	if (r->input.fd > STDERR_FILENO)
		close(r->input.fd);
	dictionary_free(&r->dictionary);
	free(r->input.data);
	events_tables_free(&r->tables);
	snapshot_free(&r->snapshot);
	r->input.data = NULL;
}

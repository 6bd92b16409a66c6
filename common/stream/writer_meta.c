/*
 * writer_meta.c - sends named parts of the sources
 */
#include <stdlib.h>

#include "common/stream/writer_private.h"

enum { META_HEADER = 40 }; /* before the name */

static int send_meta(struct writer *w, const struct sent_meta *m, uint32_t flags, uint64_t offset,
		     const void *data, size_t n)
{
	size_t name = strlen(m->name);
	uint8_t head[META_HEADER];
	struct iovec parts[2];
	struct buffer *b = &w->scratch;

	put_u32(head, m->source);
	put_u32(head + 4, flags);
	put_u64(head + 8, m->hash);
	put_u64(head + 16, m->total);
	put_u64(head + 24, offset);
	put_u32(head + 32, (uint32_t)name);
	put_u32(head + 36, (uint32_t)n);
	b->size = 0;
	if (buffer_append(b, head, sizeof head) || buffer_append(b, m->name, name) ||
	    buffer_append(b, data, n) || buffer_align(b, 8))
		return writer_no_memory(w);
	parts[0] = (struct iovec){b->data, b->size};
	return writer_send_block(w, BLOCK_META, BLOCK_MAY_SKIP | BLOCK_MAY_COPY, parts, 1);
}

static int send_pieces(struct writer *w, const struct sent_meta *m, const char *data)
{
	uint64_t done = 0;

	do {
		size_t piece = m->total - done < META_PIECE ? m->total - done : META_PIECE;

		if (send_meta(w, m, 0, done, data + done, piece))
			return -1;
		done += piece;
	} while (done < m->total);
	return 0;
}

int writer_pass_meta(struct writer *w, uint32_t wire_source, const char *name, const void *data,
		     size_t n, bool reference)
{
	struct sent_meta m = {wire_source, (char *)name, hash_bytes(data, n, 0), n};

	if (writer_need_segment(w) || writer_flush(w))
		return -1;
	return reference ? send_meta(w, &m, META_REFERENCE, 0, NULL, 0) : send_pieces(w, &m, data);
}

int writer_meta(struct writer *w, uint32_t source, const char *name, const void *data, size_t n)
{
	struct sent_meta m = {source, NULL, hash_bytes(data, n, 0), n}, *metas;
	if (ARRAY_GROW(w->metas.meta, w->metas.capacity, w->metas.count))
		return writer_no_memory(w);
	metas = w->metas.meta;
	m.name = strndup(name, 4096);
	if (!m.name)
		return writer_no_memory(w);
	metas[w->metas.count++] = m;
	if (writer_declare(w, ENTRY_SOURCE, source) || writer_flush(w))
		return -1;
	if (send_pieces(w, &m, data))
		return -1;
	/* META blocks do not count towards the limit of a segment */
	w->segment_bytes = 0;
	return 0;
}

int writer_refer_metas(struct writer *w)
{
	for (size_t i = 0; i < w->metas.count; i++)
		if (writer_declare(w, ENTRY_SOURCE, w->metas.meta[i].source))
			return -1;
	if (writer_send_dict(w))
		return -1;
	for (size_t i = 0; i < w->metas.count; i++) {
		const struct sent_meta *m = &w->metas.meta[i];

		if (send_meta(w, m, META_REFERENCE, 0, NULL, 0))
			return -1;
		w->repeated += BLOCK_HEADER + META_HEADER + strlen(m->name);
	}
	return 0;
}

/*
 * writer_pass.c - passes on blocks and rows of another stream, with unchanged declarations
 */
#include "common/stream/reader.h"
#include "common/stream/writer_private.h"

int writer_pass_head(struct writer *w, const struct head *h)
{
	bool same = h->sequence && h->stream_id == w->head.stream_id;

	if (w->in_segment && writer_end_segment(w, same ? 0 : END_LAST))
		return -1;
	return writer_send_head(w, h->stream_id, h->sequence, h->flags | w->head.flags,
				h->properties, h->properties_size);
}

int writer_pass(struct writer *w, const struct block *b, struct error *e)
{
	e->what[0] = '\0';
	/* declarations may be sent before pending rows unless they change what these rows mean
	 */
	if (writer_need_segment(w) || ((b->kind != BLOCK_DICT || b->redeclares) && writer_flush(w)))
		goto fail;
	if (b->kind == BLOCK_EVENTS) {
		struct events it;
		struct event ev;

		if (b->truncated) {
			/* its length differs from its header's: copied row by row */
			for (events_begin(&it, b); event_next(&it, &ev);)
				if (writer_copy_row(w, b, &ev))
					goto fail;
			return 0;
		}
		if (writer_open_calls(w))
			goto fail;
		writer_count_events(w, b->rows, b->base, b->last);
		for (uint32_t i = 0; i < b->ntypes; i++)
			if (b->types[i]->kind == KIND_GAP) {
				for (events_begin(&it, b); event_next(&it, &ev);)
					if (ev.type->kind == KIND_GAP)
						writer_count_gap(w, &ev);
				break;
			}
	}
	if (!writer_send_same(w, b))
		return 0;
fail:
	*e = w->error;
	return -1;
}

int writer_pass_begin(struct writer *w, const struct block *b, const uint8_t *payload, size_t have,
		      struct error *e)
{
	uint8_t header[BLOCK_HEADER];
	struct iovec v[] = {{header, sizeof header}, {(void *)payload, have}};

	if (writer_need_segment(w) || writer_flush(w)) {
		*e = w->error;
		return -1;
	}
	writer_block_header(w, header, b->kind, b->flags, b->length, 0);
	writer_count_events(w, b->rows, b->base, b->last);
	return writer_send(w, v, 2, e);
}

int writer_pass_symbol(struct writer *w, uint32_t wire_location, const struct symbol_entry *e)
{
	if (entry_symbol(&w->scratch, e))
		return writer_no_memory(w);
	return writer_append_entry(w, ENTRY_SYMBOL, wire_location, w->scratch.data,
				   (uint32_t)w->scratch.size);
}

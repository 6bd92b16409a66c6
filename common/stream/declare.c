#include "common/stream/declare.h"

/* Encode the fields of an object, or of a part of one, at an offset of the buffer. */
static void encode(struct buffer *b, size_t at, const struct entry_layout *l, const void *object,
		   declare_id id, void *ctx)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++) {
		const uint8_t *from = (const uint8_t *)object + f->object;
		struct text_ref text = {0};
		const void *entry = NULL;

		if (!f->refers) {
			entry_number(b->data + at + f->at, from, f->width);
			continue;
		}
		if (f->refers == ENTRY_STRING)
			memcpy(&text, from, sizeof text);
		else
			memcpy(&entry, from, sizeof entry);
		put_u32(b->data + at + f->at, id(ctx, f, text, entry));
	}
}

int declare_encode(struct buffer *b, enum entry_kind kind, const void *object, declare_id id,
		   void *ctx)
{
	const struct entry_layout *l = &entry_layouts[kind];
	const uint8_t *parts = NULL;
	size_t at = b->size;
	uint32_t n = 0;

	if (l->part) {
		memcpy(&n, (const uint8_t *)object + l->object_count, sizeof n);
		memcpy(&parts, (const uint8_t *)object + l->object_parts, sizeof parts);
	}
	if (buffer_zero(b, l->size + (n ? (size_t)l->part->size * n : 0)))
		return -1;
	encode(b, at, l, object, id, ctx);
	for (uint32_t i = 0; i < n; i++, parts += l->object_size)
		encode(b, at + entry_part(l, i), l->part, parts, id, ctx);
	return 0;
}

struct symbol_entry declare_symbol(const struct location_symbol *s)
{
	return (struct symbol_entry){.start = s->start,
				     .size = s->size,
				     .line = s->line,
				     .flags = s->flags,
				     .name = s->name.text,
				     .module = s->module.text,
				     .file = s->file.text,
				     .name_size = s->name.size,
				     .module_size = s->module.size,
				     .file_size = s->file.size};
}

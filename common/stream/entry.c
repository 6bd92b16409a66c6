#include "common/stream/entry.h"

#include "common/util/bytes.h"

int entry_next(const uint8_t *payload, size_t n, size_t *at, struct raw_entry *e)
{
	size_t left = n - *at;
	const uint8_t *p;
	uint64_t next;

	if (!left)
		return 0;
	if (left < ENTRY_HEADER)
		return -1;
	p = payload + *at;
	*e = (struct raw_entry){.kind = get_u16(p),
				.id = get_u32(p + 8),
				.size = get_u32(p + 4),
				.data = p + ENTRY_HEADER};
	if (e->size > left - ENTRY_HEADER)
		return -1;
	next = *at + ENTRY_HEADER + align_up(e->size, 8);
	*at = next > n ? n : (size_t)next;
	return 1;
}

bool entry_next_of(enum entry_kind kind, const uint8_t *payload, size_t n, size_t *at, uint32_t *id)
{
	struct raw_entry e;

	while (entry_next(payload, n, at, &e) > 0)
		if (e.kind == kind) {
			*id = e.id;
			return true;
		}
	return false;
}

int entry_append(struct buffer *b, enum entry_kind kind, uint32_t id, const void *data, size_t n)
{
	uint8_t head[ENTRY_HEADER] = {0};

	put_u16(head, (uint16_t)kind);
	put_u32(head + 4, (uint32_t)n);
	put_u32(head + 8, id);
	return buffer_put(b, head, sizeof head) || buffer_put(b, data, n) || buffer_align(b, 8) ? -1
												: 0;
}

void entry_number(void *to, const void *from, unsigned width)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	/* the loads swap bytes, or not, in both directions */
	switch (width) {
	case 1: memcpy(to, from, 1); break;
	case 2:
		two = get_u16(from);
		memcpy(to, &two, sizeof two);
		break;
	case 4:
		four = get_u32(from);
		memcpy(to, &four, sizeof four);
		break;
	case 8:
		eight = get_u64(from);
		memcpy(to, &eight, sizeof eight);
		break;
	}
}

void entry_put(const struct entry_layout *l, uint8_t *p, const void *content)
{
	memset(p, 0, l->size);
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++)
		entry_number(p + f->at, (const uint8_t *)content + f->content, f->width);
}

void entry_get(const struct entry_layout *l, const uint8_t *p, void *content)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++)
		entry_number((uint8_t *)content + f->content, p + f->at, f->width);
}

int entry_encode(struct buffer *b, enum entry_kind kind, const void *content)
{
	const struct entry_layout *l = &entry_layouts[kind];
	const uint8_t *from = content, *parts = NULL;
	size_t at = b->size;
	uint32_t n = 0;

	if (l->part) {
		memcpy(&n, from + l->content_count, sizeof n);
		memcpy(&parts, from + l->content_parts, sizeof parts);
	}
	if (buffer_zero(b, l->size + (l->part ? (size_t)l->part->size * n : 0)))
		return -1;
	entry_put(l, b->data + at, content);
	for (uint32_t i = 0; i < n; i++, parts += l->content_size)
		entry_put(l->part, b->data + at + entry_part(l, i), parts);
	return 0;
}

int entry_append_content(struct buffer *b, enum entry_kind kind, uint32_t id, const void *content)
{
	size_t at = b->size;

	if (entry_append(b, kind, id, "", 0) || entry_encode(b, kind, content))
		return -1;
	put_u32(b->data + at + 4, (uint32_t)(b->size - at - ENTRY_HEADER));
	return buffer_align(b, 8);
}

static uint32_t at_most(uint32_t n, uint32_t limit)
{
	return n < limit ? n : limit;
}

int entry_symbol(struct buffer *b, const struct symbol_entry *symbol)
{
	enum { MOST = 64 * 1024 };
	struct symbol_entry e = *symbol;

	e.name_size = at_most(e.name_size, MOST);
	e.module_size = at_most(e.module_size, MOST);
	e.file_size = at_most(e.file_size, MOST);
	b->size = 0;
	return entry_encode(b, ENTRY_SYMBOL, &e) || buffer_append(b, e.name, e.name_size) ||
	       buffer_append(b, e.module, e.module_size) || buffer_append(b, e.file, e.file_size);
}

uint32_t entry_parts(const struct entry_layout *l, const uint8_t *p, size_t size)
{
	uint32_t n = l->part ? get_u32(p + l->count) : 0;

	return n && n > (size - l->size) / l->part->size ? UINT32_MAX : n;
}

void entry_set_started(uint8_t *p, struct lane_entry *e, uint32_t started)
{
	e->flags = (e->flags & ~(uint32_t)(LANE_STARTED | LANE_CPU_STARTED)) | started;
	entry_put(&entry_layouts[ENTRY_LANE], p, e);
}

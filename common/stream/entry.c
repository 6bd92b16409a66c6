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
	return buffer_append(b, head, sizeof head) || buffer_append(b, data, n) ||
			       buffer_align(b, 8)
		       ? -1
		       : 0;
}

void entry_put_type(uint8_t *p, const struct type_entry *t)
{
	put_u32(p, t->source);
	put_u32(p + 4, t->name);
	put_u32(p + 8, t->group);
	put_u32(p + 12, t->declaration);
	p[16] = t->kind;
	p[17] = t->word_size;
	put_u16(p + 18, t->flags);
	put_u32(p + 20, t->fixed_size);
	put_u32(p + 24, t->native);
	put_u32(p + 28, t->nfields);
}

void entry_put_field(uint8_t *p, const struct field_entry *f)
{
	put_u32(p, f->name);
	put_u32(p + 4, f->type_name);
	p[8] = f->kind;
	p[9] = f->role;
	p[10] = f->where;
	put_u32(p + 12, f->offset);
	put_u32(p + 16, f->size);
	put_u32(p + 20, f->count);
	put_u32(p + 24, f->definition);
}

void entry_get_field(const uint8_t *p, struct field_entry *f)
{
	*f = (struct field_entry){.name = get_u32(p),
				  .type_name = get_u32(p + 4),
				  .kind = p[8],
				  .role = p[9],
				  .where = p[10],
				  .offset = get_u32(p + 12),
				  .size = get_u32(p + 16),
				  .count = get_u32(p + 20),
				  .definition = get_u32(p + 24)};
}

void entry_put_definition(uint8_t *p, const struct definition_entry *d)
{
	put_u32(p, d->name);
	put_u16(p + 4, d->kind);
	put_u16(p + 6, d->flags);
	put_u32(p + 8, d->nmembers);
	put_u32(p + 12, d->native);
}

void entry_get_definition(const uint8_t *p, struct definition_entry *d)
{
	*d = (struct definition_entry){.name = get_u32(p),
				       .kind = get_u16(p + 4),
				       .flags = get_u16(p + 6),
				       .nmembers = get_u32(p + 8),
				       .native = get_u32(p + 12)};
}

void entry_put_member(uint8_t *p, const struct member_entry *m)
{
	put_u32(p, m->name);
	put_u32(p + 4, 0);
	put_u64(p + 8, m->low);
	put_u64(p + 16, m->high);
}

void entry_get_member(const uint8_t *p, struct member_entry *m)
{
	*m = (struct member_entry){get_u32(p), get_u64(p + 8), get_u64(p + 16)};
}

void entry_get_lane(const uint8_t *p, struct lane_entry *e)
{
	*e = (struct lane_entry){.source = get_u32(p),
				 .clock = get_u32(p + 4),
				 .buffer = get_u32(p + 8),
				 .comm = get_u32(p + 12),
				 .flags = get_u32(p + 16),
				 .cpu = (int32_t)get_u32(p + 20),
				 .tid = (int32_t)get_u32(p + 24),
				 .pid = (int32_t)get_u32(p + 28),
				 .ppid = (int32_t)get_u32(p + 32)};
}

void entry_set_lane_flags(uint8_t *p, const struct lane_entry *e, uint32_t started)
{
	put_u32(p + 16, (e->flags & ~(uint32_t)(LANE_STARTED | LANE_CPU_STARTED)) | started);
}

void entry_put_thread(uint8_t *p, const struct thread_entry *t)
{
	put_u32(p, t->lane);
	put_u32(p + 4, t->flags);
	put_u64(p + 8, t->last);
	put_u64(p + 16, t->since);
	put_u32(p + 24, t->unseen);
	put_u32(p + 28, t->open);
}

void entry_get_thread(const uint8_t *p, struct thread_entry *t)
{
	*t = (struct thread_entry){.lane = get_u32(p),
				   .flags = get_u32(p + 4),
				   .last = get_u64(p + 8),
				   .since = get_u64(p + 16),
				   .unseen = get_u32(p + 24),
				   .open = get_u32(p + 28)};
}

/*
 * snapshot_rows.c - the rows of the enters of open calls, which outlive their blocks
 */
#include <stdlib.h>

#include "common/calls/snapshot_maker_private.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/buffer_file.h"

enum { GARBAGE = 1 << 20 }; /* bytes of dropped rows that are kept at least */

void snapshot_rows_free(struct snapshot_maker *m)
{
	for (size_t i = 0; i < m->nstacks; i++) {
		free(m->stacks[i].own.handles);
		free(m->stacks[i].kernel.handles);
		buffer_free(&m->stacks[i].gone);
	}
	free(m->stacks);
	free(m->kept.rows);
	buffer_free(&m->kept.bytes);
	m->stacks = NULL;
	m->nstacks = 0;
	m->kept = (struct kept_rows){.bytes = {.spills = true}};
}

void snapshot_row_event(const struct snapshot_maker *m, uint32_t handle, struct event *e)
{
	struct events it;

	events_begin(&it, m->block);
	it.row = m->block->row_data + ((size_t)handle - 1) * 4;
	event_next(&it, e);
	if (m->tail) {
		e->tail = m->tail;
		e->tail_size = m->tail_size;
	}
}

static uint32_t definition_number(void *ctx, uint32_t id)
{
	const struct definition *d = dictionary_definition_id(ctx, id);

	return d ? d->number : 0;
}

static uint32_t stack_number(void *ctx, uint32_t id)
{
	return dictionary_stack_id(ctx, id);
}

/* Append bytes that may be many, without keeping them in memory. */
static int append(struct buffer *to, const uint8_t *p, size_t n)
{
	for (; n > BUFFER_PIECE; p += BUFFER_PIECE, n -= BUFFER_PIECE) {
		if (buffer_append(to, p, BUFFER_PIECE))
			return -1;
		buffer_rest(to);
	}
	return buffer_append(to, p, n);
}

static int put_tail(struct snapshot_maker *m, const struct event *e)
{
	struct buffer *to = &m->kept.bytes;
	size_t before = to->size;
	struct dictionary *d = &m->dictionary;

	if (e->type->flags & TYPE_VALUES &&
	    !values_copy_is_same(e->tail, e->tail_size, definition_number, d)) {
		if (!values_copy(to, e->tail, e->tail_size, definition_number, d))
			return 0;
		to->size = before; /* malformed values: unchanged */
	}
	return append(to, e->tail, e->tail_size);
}

static size_t kept_row_size(const struct kept_row *r)
{
	return (size_t)r->type->fixed_size + r->tail_size;
}

/* Move the rows in use to another buffer, if most are not. */
static int compact(struct kept_rows *k)
{
	struct buffer to = {.spills = true};

	if (k->bytes.size / 2 <= k->live + GARBAGE / 2)
		return 0;
	for (size_t i = 0; i < k->count; i++) {
		struct kept_row *r = &k->rows[i];
		size_t at = to.size;

		if (!r->type)
			continue;
		if (append(&to, k->bytes.data + r->offset, kept_row_size(r))) {
			buffer_free(&to);
			return -1;
		}
		r->offset = at;
	}
	buffer_free(&k->bytes);
	k->bytes = to;
	return 0;
}

int snapshot_row_keep(struct snapshot_maker *m, const struct event *e, uint32_t *handle)
{
	struct kept_rows *k = &m->kept;
	struct kept_row r = {.offset = k->bytes.size,
			     .type = e->type,
			     .lane = e->lane,
			     .location = e->location,
			     .depth = e->depth};
	uint32_t index;

	if (e->type->fixed_size && buffer_append(&k->bytes, e->fixed, e->type->fixed_size))
		return -1;
	if (e->type->fixed_size)
		field_map_stacks(e->type, k->bytes.data + r.offset, stack_number, &m->dictionary);
	if (e->tail_size && put_tail(m, e))
		return -1;
	r.tail_size = (uint32_t)(k->bytes.size - r.offset - e->type->fixed_size);
	if (k->free) {
		index = k->free - 1;
		k->free = k->rows[index].next;
	} else {
		if (k->count >= ROW_KEPT || ARRAY_GROW(k->rows, k->capacity, k->count))
			return -1;
		index = (uint32_t)k->count++;
	}
	k->rows[index] = r;
	k->live += kept_row_size(&r);
	k->open++;
	*handle = index | ROW_KEPT;
	return 0;
}

void snapshot_row_drop(struct snapshot_maker *m, uint32_t handle)
{
	struct kept_rows *k = &m->kept;
	uint32_t index = handle & ~ROW_KEPT;

	if (!(handle & ROW_KEPT))
		return;
	k->live -= kept_row_size(&k->rows[index]);
	k->open--;
	k->rows[index] = (struct kept_row){.next = k->free};
	k->free = index + 1;
}

static int settle(struct snapshot_maker *m, struct stack *s, struct kept_frames *f)
{
	size_t n = f->count;

	/* a frame that is still there has all those below it */
	while (n && (n > s->count || *frame_row(m, s, n - 1) != f->handles[n - 1]))
		snapshot_row_drop(m, f->handles[--n]);
	for (; n < s->count; n++) {
		uint32_t *row = frame_row(m, s, n), *handles;
		struct event e;
		if (ARRAY_GROW(f->handles, f->capacity, n))
			return -1;
		handles = f->handles;
		if (!s->frames[n].begun)
			*row = 0;
		if (*row && !(*row & ROW_KEPT)) {
			snapshot_row_event(m, *row, &e);
			if (snapshot_row_keep(m, &e, row))
				return -1;
		}
		handles[n] = *row;
	}
	f->count = n;
	return 0;
}

int snapshot_rows_settle(struct snapshot_maker *m, uint32_t stack)
{
	struct stack *s = stack < m->calls.size ? m->calls.stacks[stack] : NULL;
	struct maker_stack *stacks;

	if (!s)
		return 0;
	if (ARRAY_REACH(m->stacks, m->nstacks, stack))
		return -1;
	stacks = m->stacks;
	stacks += stack;
	m->threads -= stacks->own.count || stacks->kernel.count;
	if (settle(m, s, &stacks->own) || (s->kernel && settle(m, s->kernel, &stacks->kernel)))
		return -1;
	m->threads += stacks->own.count || stacks->kernel.count;
	return compact(&m->kept);
}

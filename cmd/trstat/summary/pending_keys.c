#include "cmd/trstat/summary/pending_keys.h"

#include <stdlib.h>

#include "common/util/buffer.h"

void pending_keys_init(struct pending_keys *en, size_t fields)
{
	*en = (struct pending_keys){.fields = fields};
}

void pending_keys_free(struct pending_keys *en)
{
	for (size_t i = 0; i < en->size; i++) {
		free(en->threads[i].cells);
		free(en->threads[i].starts);
	}
	free(en->threads);
	free(en->cells);
	indexes_free(&en->indexes);
	open_calls_free(&en->open);
	*en = (struct pending_keys){0};
}

static struct pending_keys_thread *thread_at(struct pending_keys *en, uint32_t number)
{
	struct pending_keys_thread *threads =
		array_reach(en->threads, &en->size, number, sizeof(*threads));

	if (!threads)
		return NULL;
	en->threads = threads;
	return &threads[number];
}

static int pending_keys_grow(struct pending_keys *en, struct pending_keys_thread *t, size_t index)
{
	size_t n = t->capacity ? t->capacity : 16;
	struct key_cell *cells;
	uint64_t *starts;

	while (n <= index)
		n *= 2;
	cells = reallocarray(t->cells, n, en->fields * sizeof(*cells));
	if (cells)
		t->cells = cells;
	starts = reallocarray(t->starts, n, sizeof(*starts));
	if (starts)
		t->starts = starts;
	if (!cells || !starts)
		return -1;
	for (size_t i = t->capacity; i < n; i++)
		starts[i] = UINT64_MAX;
	t->capacity = n;
	return 0;
}

/* Returns how many of the first n frames are kept: the entered ones, and at most one of the
 * others. */
static size_t pending_keys_frames(const struct stack *s, size_t n)
{
	return n - (n && !s->frames[0].begun);
}

int pending_keys_put(struct pending_keys *en, uint32_t thread, const struct stack *s,
		     const struct key_cell *cells)
{
	struct pending_keys_thread *t = thread_at(en, thread);
	size_t index = pending_keys_frames(s, s->count - 1);

	if (!t || (index >= t->capacity && pending_keys_grow(en, t, index)))
		return -1;
	memcpy(t->cells + index * en->fields, cells, en->fields * sizeof(*cells));
	t->starts[index] = s->frames[s->count - 1].start;
	return 0;
}

const struct key_cell *pending_keys_take(struct pending_keys *en, uint32_t thread,
					 const struct stack *s, uint64_t start)
{
	struct pending_keys_thread *t = thread < en->size ? &en->threads[thread] : NULL;
	size_t index = pending_keys_frames(s, s->count);

	if (!t || index >= t->capacity || t->starts[index] != start)
		return NULL;
	t->starts[index] = UINT64_MAX;
	return t->cells + index * en->fields;
}

int pending_keys_put_numbered(struct pending_keys *en, uint32_t source, uint32_t call,
			      const struct key_cell *cells)
{
	struct key_cell *grown;
	size_t index;

	if (indexes_take(&en->indexes, &index))
		return -1;
	grown = array_reach(en->cells, &en->capacity, index, en->fields * sizeof(*grown));
	if (!grown)
		return -1;
	en->cells = grown;
	memcpy(en->cells + index * en->fields, cells, en->fields * sizeof(*cells));
	return open_calls_put(&en->open, source, call, index);
}

const struct key_cell *pending_keys_take_numbered(struct pending_keys *en, uint32_t source,
						  uint32_t call)
{
	uint64_t index;

	if (!open_calls_take(&en->open, source, call, &index))
		return NULL;
	indexes_give(&en->indexes, (size_t)index);
	return en->cells + index * en->fields;
}

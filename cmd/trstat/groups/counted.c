#include "cmd/trstat/groups/counted.h"

#include <stdlib.h>

#include "common/util/u128.h"

/* Append what key_cells_same compares of a cell. */
static int append_cell(struct buffer *b, const struct key_cell *cell)
{
	bool address = cell->kind == KEY_ADDRESS;

	return buffer_u32(b, address ? KEY_UNSIGNED : cell->kind) ||
	       buffer_u64(b, cell->kind == KEY_TEXT ? cell->text : cell->value);
}

struct counted_group *counted_find(struct counted *c, uint32_t thread, const struct key_cell *cells,
				   size_t n)
{
	uint32_t number;
	int bad;

	c->key.size = 0;
	bad = buffer_u32(&c->key, thread);
	for (size_t i = 0; i < n; i++)
		bad |= append_cell(&c->key, &cells[i]);
	number = bad ? INTERN_NONE : intern(&c->keys, c->key.data, c->key.size);
	if (number == INTERN_NONE || ARRAY_REACH(c->groups, c->capacity, number))
		return NULL;
	return &c->groups[number];
}

/* Take out the spans that begin at start or later. Returns their time in all. */
static struct counted_span take_from(struct counted_group *g, uint64_t start)
{
	struct counted_span taken = {.start = start};

	while (g->count && g->spans[g->count - 1].start >= start) {
		const struct counted_span *s = &g->spans[--g->count];

		add_saturated(&taken.time, s->time);
		taken.end = s->end > taken.end ? s->end : taken.end;
	}
	return taken;
}

int counted_add(struct counted_group *g, uint64_t start, uint64_t end, uint64_t innermost,
		uint64_t *inside)
{
	struct counted_span span = take_from(g, start), *last;
	uint64_t before = g->count ? g->spans[g->count - 1].end : 0, counted = span.time;

	/* a call in the kernel may end after the call that it began in */
	if (before > start)
		add_saturated(&counted, (before < end ? before : end) - start);
	*inside = counted < end - start ? counted : end - start;
	add_saturated(&span.time, end - start - *inside);
	span.end = end > span.end ? end : span.end;
	if (ARRAY_GROW(g->spans, g->capacity, g->count))
		return -1;
	g->spans[g->count++] = span;
	while (g->count > 1 && (last = &g->spans[g->count - 1])[-1].start >= innermost) {
		add_saturated(&last[-1].time, last->time);
		last[-1].end = last->end > last[-1].end ? last->end : last[-1].end;
		g->count--;
	}
	return 0;
}

void counted_free(struct counted *c)
{
	for (size_t i = 0; i < c->keys.count && i < c->capacity; i++)
		free(c->groups[i].spans);
	free(c->groups);
	intern_free(&c->keys);
	buffer_free(&c->key);
	*c = (struct counted){0};
}

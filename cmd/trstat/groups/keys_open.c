/*
 * keys_open.c - cells of rows that are not fully known: depth, caller and stack depend on earlier
 * parts of the trace
 */
#include "cmd/trstat/groups/keys.h"

int keys_open_cells(const struct keys *k, struct dictionary *d, struct groups *g,
		    const struct event_ref *s, struct key_cell *cells)
{
	memset(cells + k->count, 0, (k->held - k->count) * sizeof(*cells));
	for (size_t i = 0; i < k->count; i++) {
		const struct key *key = &k->key[i];
		struct key_cell open = {0};

		if (key->what == BY_CALLER && s->open & OPEN_CALLER)
			open = (struct key_cell){.kind = KEY_OPEN_CALLER};
		else if (key->what == BY_DEPTH && s->open & OPEN_LEVEL)
			open = (struct key_cell){.kind = KEY_OPEN_LEVEL, .value = s->level};
		else if (key->what == BY_STACK && s->open & OPEN_STACK)
			open = (struct key_cell){.kind = KEY_OPEN_STACK, .value = s->stack};
		if (open.kind == KEY_MISSING)
			continue;
		cells[i] = open;
		if (key->spare && keys_other_cell(key, d, g, s, &cells[key->spare]))
			return -1;
	}
	return 0;
}

static int close_caller(struct dictionary *d, struct groups *g, const struct keys_below *below,
			struct key_cell *cell)
{
	struct text_ref name;

	*cell = (struct key_cell){0};
	if (!below->caller)
		return 0;
	name = dictionary_location_name(d, below->caller);
	return groups_text(g, name.text, name.size, cell);
}

/* Put the stack on the frames that are known now, or on other unknown frames. */
static int close_stack(const struct keys_below *below, struct key_cell *cell)
{
	uint32_t node;

	if (!below->stacks ||
	    stack_graft(below->graft, &below->stacks->tree, (uint32_t)cell->value, &node))
		return -1;
	cell->value = node;
	if (below->open & OPEN_STACK)
		return 0;
	cell->kind = KEY_STACK;
	if (node == STACK_ROOT)
		*cell = (struct key_cell){0};
	return 0;
}

/* Returns 1 if the cell became known, 0 if it is still unknown or was known before, -1 when out
 * of memory. */
static int close_cell(struct dictionary *d, struct groups *g, const struct keys_below *below,
		      struct key_cell *cell)
{
	switch (cell->kind) {
	case KEY_OPEN_LEVEL:
		cell->value += below->level;
		if (below->open & OPEN_LEVEL)
			return 0;
		*cell = key_unsigned((uint32_t)cell->value);
		return 1;
	case KEY_OPEN_CALLER:
		if (below->open & OPEN_CALLER)
			return 0;
		return close_caller(d, g, below, cell) ? -1 : 1;
	case KEY_OPEN_STACK:
		if (close_stack(below, cell))
			return -1;
		return !(below->open & OPEN_STACK);
	default: return 0;
	}
}

int keys_close_cells(const struct keys *k, struct dictionary *d, struct groups *g,
		     const struct keys_below *below, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++) {
		int closed = close_cell(d, g, below, &cells[i]);
		size_t spare = k->key[i].spare;

		if (closed < 0)
			return -1;
		if (closed && spare) {
			if (cells[i].kind == KEY_MISSING)
				cells[i] = cells[spare];
			cells[spare] = (struct key_cell){0};
		}
		if (closed && k->key[i].transform)
			cells[i] = key_transform(&k->key[i], cells[i]);
	}
	return 0;
}

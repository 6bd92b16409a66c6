/*
 * summary_pending_keys.c - decode the cells for keys and columns from the enters of a part's open
 * calls
 */
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

/* Cells of one enter: those of the keys, ARGUMENT cells for each argument among the columns'
 * fields, and those of the stack. */
enum { ARGUMENT = 2 };

struct layout {
	size_t keys, arguments, stack; /* number of cells of each kind */
};

static size_t layout_size(const struct layout *l)
{
	return l->keys + l->arguments + l->stack;
}

/* Returns the layout for these columns; keys and stack are the same in all. */
static struct layout layout_of(const struct statistics *s, const struct columns_wanted *w)
{
	return (struct layout){.keys = s->keys->fields,
			       .arguments = ARGUMENT * statistics_arguments(s->keys, w),
			       .stack = s->stacks ? ENTERED_STACK : 0};
}

/* Check the kernel's lowest call: a stack or none, and a position in its list. */
static bool caller_is_sane(const struct key_cell *cells)
{
	enum key_kind kind = cells[ENTERED_CALLER].kind, at = cells[ENTERED_POSITION].kind;

	return (kind == KEY_MISSING || kind == KEY_STACK || kind == KEY_OPEN_STACK) &&
	       (at == KEY_MISSING || at == KEY_UNSIGNED);
}

/* Returns the first cells of the arguments that the columns need, in the columns' order; the
 * caller frees the array. NULL: out of memory. */
static size_t *choose_arguments(const struct summaries *ss)
{
	const struct columns_wanted *stored = &ss->stored.wanted, *w = &ss->s->columns->wanted;
	size_t *cells = calloc(stored->field_count + 1, sizeof(*cells)), n = 0;
	size_t *chosen = cells ? calloc(w->field_count + 1, sizeof(*chosen)) : NULL;

	for (uint32_t i = 0; chosen && i < stored->field_count; i++) {
		cells[i] = n;
		n += columns_is_argument(&stored->field[i]) ? ARGUMENT : 0;
	}
	n = 0;
	for (uint32_t i = 0; chosen && i < w->field_count; i++)
		if (columns_is_argument(&w->field[i]))
			chosen[n++] = cells[ss->fields[i]];
	free(cells);
	return chosen;
}

struct taking {
	struct layout there, here;
	size_t *chosen;
	struct key_cell *stored; /* one entry, in the summary's layout */
};

static int take_one(struct unpacker *u, const struct taking *t, struct key_cell *cells)
{
	struct summaries *ss = u->ss;
	struct groups *g = &ss->s->groups;
	size_t known = t->there.keys + t->there.arguments;
	const struct key_cell *arguments = t->stored + t->there.keys, *stack = t->stored + known;

	if (unpack_cells(&u->in, g, t->stored, known, false, NULL) ||
	    unpack_cells(&u->in, g, t->stored + known, t->there.stack, true, &ss->stacks))
		return unpack_no_memory(u);
	if (t->there.stack && !caller_is_sane(stack))
		u->in.bad = true;
	if (u->in.bad)
		return -1;
	memcpy(cells, t->stored, t->here.keys * sizeof(*cells));
	cells += t->here.keys;
	for (size_t i = 0; i < t->here.arguments; i += ARGUMENT)
		memcpy(cells + i, arguments + t->chosen[i / ARGUMENT], ARGUMENT * sizeof(*cells));
	memcpy(cells + t->here.arguments, stack, t->here.stack * sizeof(*cells));
	return 0;
}

static int take_all(struct unpacker *u, uint64_t n, const struct layout *there)
{
	const struct statistics *s = u->ss->s;
	struct taking t = {.there = *there, .here = layout_of(s, &s->columns->wanted)};
	size_t size = layout_size(&t.here);
	struct part *p = u->part;
	int bad = 0;

	t.chosen = choose_arguments(u->ss);
	t.stored = calloc(layout_size(there), sizeof(*t.stored));
	/* operations name entries by number, even where no cell of theirs is needed */
	p->entered = calloc(n, (size ? size : 1) * sizeof(*p->entered));
	if (t.chosen && t.stored && p->entered)
		p->nentered = p->pending_keys_capacity = n;
	else
		bad = unpack_no_memory(u);
	for (uint64_t i = 0; i < n && !bad; i++)
		bad = take_one(u, &t, p->entered + i * size);
	free(t.chosen);
	free(t.stored);
	return bad;
}

int unpack_entered(struct unpacker *u)
{
	const struct layout there = layout_of(u->ss->s, &u->ss->stored.wanted);
	size_t size = layout_size(&there);
	uint64_t n = packed_count(&u->in, size ? size : 1);

	if (!n || u->in.bad)
		return u->in.bad ? -1 : 0;
	if (!size || n >= UINT32_MAX) {
		u->in.bad = true;
		return -1;
	}
	return take_all(u, n, &there);
}

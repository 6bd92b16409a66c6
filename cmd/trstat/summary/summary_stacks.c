/*
 * summary_stacks.c - encode and decode the stacks of a summary, which precede the groups that use
 * them
 *
 *     stacks = count frame*      frame = caller name      name = number bytes?
 *
 * A caller is the number of a stack (pack.h); frames are numbered from PACKED_FRAMES on. A name
 * equal to the next unused number is new, and its bytes follow.
 */
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

struct stack_writer {
	const struct call_stacks *cs;
	uint32_t *number;    /* as in packed_stacks */
	struct buffer order; /* nodes, u32 */
	struct buffer path;
};

/* Number the stack and those below it, callers first. */
static int number_stack(struct stack_writer *w, uint32_t node)
{
	const struct stack_node *nodes = w->cs->tree.nodes;
	size_t count;

	for (w->path.size = 0; node != STACK_ROOT && !w->number[node]; node = nodes[node].parent)
		if (buffer_u32(&w->path, node))
			return -1;
	while (w->path.size) {
		w->path.size -= 4;
		node = get_u32(w->path.data + w->path.size);
		if (buffer_u32(&w->order, node))
			return -1;
		count = w->order.size / 4;
		if (count > UINT32_MAX - PACKED_FRAMES)
			return -1;
		w->number[node] = PACKED_FRAMES - 1 + (uint32_t)count;
	}
	return 0;
}

static int number_cells(struct stack_writer *w, const struct key_cell *cells, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((cells[i].kind == KEY_STACK || cells[i].kind == KEY_OPEN_STACK) &&
		    number_stack(w, (uint32_t)cells[i].value))
			return -1;
	return 0;
}

static int number_all(struct stack_writer *w, const struct statistics *s, const struct parts *ps)
{
	const struct groups *g = &s->groups;

	for (size_t i = 0; i < g->count; i++)
		if (number_cells(w, groups_cells(g, groups_at(g, i)), g->keys))
			return -1;
	for (size_t i = 0; i < ps->count; i++)
		if (number_cells(w, ps->part[i].entered,
				 ps->part[i].nentered * part_entered_size(s)))
			return -1;
	for (size_t i = 0; i < ps->count; i++)
		for (size_t k = 0; k < ps->part[i].nthreads; k++) {
			const struct part_thread *t = &ps->part[i].threads[k];

			for (size_t h = 0; h < t->nheld; h++)
				if (number_cells(w, t->held[h].cells, g->keys))
					return -1;
		}
	return 0;
}

static int put_frames(const struct stack_writer *w, struct buffer *b)
{
	const struct intern *names = &w->cs->names;
	size_t n = w->order.size / 4;
	uint32_t *named = calloc((size_t)names->count + 1, sizeof(*named)), next = 0;
	int bad = named ? packed_put(b, n) : -1;

	for (size_t i = 0; i < n && !bad; i++) {
		const struct stack_node *node = &w->cs->tree.nodes[get_u32(w->order.data + 4 * i)];
		bool is_new = !named[node->name];

		if (is_new)
			named[node->name] = ++next;
		bad = packed_put(b, w->number[node->parent]) ||
		      packed_put(b, named[node->name] - 1) ||
		      (is_new && packed_put_bytes(b, intern_data(names, node->name),
						  intern_size(names, node->name)));
	}
	free(named);
	return bad ? -1 : 0;
}

int summary_put_stacks(struct buffer *b, const struct statistics *s, const struct parts *ps,
		       struct packed_stacks *stacks)
{
	struct stack_writer w = {.cs = s->stacks};
	int bad;

	w.number = stacks->number = calloc(w.cs->tree.count, sizeof(*w.number));
	if (!w.number)
		return -1;
	if (w.cs->open)
		w.number[w.cs->open] = PACKED_OPEN;
	bad = number_all(&w, s, ps) || put_frames(&w, b);
	buffer_free(&w.order);
	buffer_free(&w.path);
	return bad ? -1 : 0;
}

/* --- reading --- */

/* Read a name by its number in the summary; names contains the earlier ones, u32 each. */
static int take_name(struct unpacker *u, struct buffer *names, uint32_t *name)
{
	uint64_t number = packed_limited(&u->in, names->size / 4);
	const uint8_t *bytes;
	size_t size;

	if (u->in.bad || number < names->size / 4) {
		*name = u->in.bad ? 0 : get_u32(names->data + 4 * number);
		return 0;
	}
	bytes = packed_bytes(&u->in, &size);
	if (u->in.bad)
		return 0;
	*name = intern(&u->ss->s->stacks->names, bytes ? (const char *)bytes : "", size);
	if (*name == INTERN_NONE || buffer_u32(names, *name))
		return unpack_no_memory(u);
	return 0;
}

int unpack_stacks(struct unpacker *u)
{
	struct call_stacks *cs = u->ss->s->stacks;
	struct packed_stacks *ps = &u->ss->stacks;
	uint64_t n = packed_count(&u->in, 2);
	struct buffer names = {0};
	int bad = 0;

	packed_stacks_free(ps);
	ps->stack = calloc(n + PACKED_FRAMES, sizeof(*ps->stack));
	if (!ps->stack || call_stacks_cuts(cs))
		return unpack_no_memory(u);
	ps->stack[PACKED_ROOT] = (struct packed_stack){STACK_ROOT, false};
	ps->stack[PACKED_OPEN] = (struct packed_stack){cs->open, true};
	ps->count = PACKED_FRAMES;
	for (uint64_t i = 0; i < n && !u->in.bad && !bad; i++) {
		struct packed_stack *below = &ps->stack[packed_limited(&u->in, ps->count - 1)];
		uint32_t name = 0, node;

		bad = take_name(u, &names, &name);
		if (bad || u->in.bad)
			break;
		node = stack_tree_child(&cs->tree, below->node, name);
		bad = node ? 0 : unpack_no_memory(u);
		ps->stack[ps->count++] = (struct packed_stack){node, below->open};
	}
	buffer_free(&names);
	return bad || u->in.bad ? -1 : 0;
}

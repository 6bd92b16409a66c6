#include "cmd/trencode/profile/pair_profile.h"

#include <stdlib.h>

#include "common/pairs/declared_names.h"

/* The cells of the keys. */
enum { CELL_COMM, CELL_STACK, CELL_WAKER, CELL_WAKER_STACK };

int pair_profile_init(struct pair_profile *p, const struct sample_profile *s,
		      const struct call_stacks *cs, struct dictionary *d)
{
	struct error e;

	*p = (struct pair_profile){0};
	key_texts_init(&p->texts);
	if (call_stacks_init(&p->stacks, cs->calls, cs->key) || pair_parse(&p->pair, s->pair, &e) ||
	    keys_parse(&p->keys,
		       p->pair.preset && p->pair.preset->waker ? "comm,stack,w.comm,w.stack"
							       : "comm,stack",
		       &e) ||
	    pair_keys(&p->pair, &p->keys, &e))
		return -1;
	p->pair.stacks = &p->stacks;
	return pair_begin(&p->pair, &p->keys, d, &p->texts);
}

void pair_profile_free(struct pair_profile *p)
{
	pair_free(&p->pair);
	keys_free(&p->keys);
	key_texts_free(&p->texts);
	call_stacks_free(&p->stacks);
	free(p->names);
}

/* Add the frame of a node of p->stacks to *node of the profile's stacks. */
static int add_frame(struct pair_profile *p, struct call_stacks *cs, uint32_t from, uint32_t *node)
{
	uint32_t name = p->stacks.tree.nodes[from].name, *names;
	const struct intern *all = &p->stacks.names;
	if (ARRAY_REACH(p->names, p->nnames, name))
		return -1;
	names = p->names;
	if (!names[name]) {
		uint32_t added = intern(&cs->names, intern_data(all, name), intern_size(all, name));

		if (added == INTERN_NONE)
			return -1;
		names[name] = added + 1;
	}
	*node = stack_tree_child(&cs->tree, *node, names[name] - 1);
	return *node ? 0 : -1;
}

/* Add the frames of a stack, the outermost one first. */
static int add_stack(struct pair_profile *p, struct call_stacks *cs, const struct key_cell *cell,
		     uint32_t *node)
{
	const struct stack_node *nodes = p->stacks.tree.nodes;
	struct buffer *path = &p->stacks.recorded.frames;
	uint32_t from = cell->kind == KEY_STACK ? (uint32_t)cell->value : STACK_ROOT;

	for (path->size = 0; from != STACK_ROOT; from = nodes[from].parent)
		if (buffer_u32(path, from))
			return -1;
	for (size_t i = path->size; i; i -= 4)
		if (add_frame(p, cs, get_u32(path->data + i - 4), node))
			return -1;
	return 0;
}

static int add_thread(struct pair_profile *p, struct call_stacks *cs, const struct key_cell *cell,
		      uint32_t *node)
{
	struct text_ref comm = {"", 0, 0};

	if (cell->kind != KEY_TEXT)
		return 0;
	comm.text = intern_data(&p->texts.intern, cell->text);
	comm.size = intern_size(&p->texts.intern, cell->text);
	return call_stacks_named(cs, *node, comm, node);
}

/* Add the waker, whose frames are in the order from the one that wakes to its thread. */
static int add_waker(struct pair_profile *p, struct call_stacks *cs, const struct key_cell *cells,
		     uint32_t *node)
{
	const struct key_cell *cell = &cells[CELL_WAKER_STACK];
	uint32_t from = cell->kind == KEY_STACK ? (uint32_t)cell->value : STACK_ROOT;

	if (call_stacks_named(cs, *node, (struct text_ref){"--", 2, 0}, node))
		return -1;
	for (; from != STACK_ROOT; from = p->stacks.tree.nodes[from].parent)
		if (add_frame(p, cs, from, node))
			return -1;
	return add_thread(p, cs, &cells[CELL_WAKER], node);
}

int pair_profile_event(struct pair_profile *p, const struct sample_profile *s,
		       struct call_stacks *cs, const struct event *ev)
{
	struct key_cell cells[PAIR_PROFILE_CELLS] = {0};
	uint32_t node = STACK_ROOT;
	struct event_ref subject;
	struct pair_end end;
	enum outcome got;

	if (!kind_is_event(ev->type->kind))
		return 0;
	got = pair_feed(&p->pair, ev, &end);
	if (got != OUTCOME_YES)
		return got == OUTCOME_FAILED ? -1 : 0;
	if (pair_event_ref(&p->pair, ev, &subject))
		return -1;
	subject.entered = end.entered;
	if (keys_cells(&p->keys, p->pair.dictionary, &p->texts, &subject, cells) ||
	    (s->by_comm && add_thread(p, cs, &cells[CELL_COMM], &node)) ||
	    add_stack(p, cs, &cells[CELL_STACK], &node))
		return -1;
	if (s->by_comm &&
	    (cells[CELL_WAKER].kind != KEY_MISSING ||
	     cells[CELL_WAKER_STACK].kind != KEY_MISSING) &&
	    add_waker(p, cs, cells, &node))
		return -1;
	p->stackless += node == STACK_ROOT;
	if (node != STACK_ROOT)
		stack_tree_call(&cs->tree, node, sample_profile_counts(s) ? 1 : end.time, 0);
	return 0;
}

static void offer_nothing(struct nearest *nearest)
{
	(void)nearest;
}

int pair_profile_check(const struct pair_profile *p, bool partial, bool quiet, struct error *e)
{
	struct intern warned = {0};
	struct declared check = {.dictionary = p->pair.dictionary,
				 .offer = offer_nothing,
				 .warned = &warned,
				 .partial = partial,
				 .quiet = quiet};
	int bad = p->pair.preset ? 0 : pair_check_names(&check, &p->pair, e);

	intern_free(&warned);
	return bad;
}

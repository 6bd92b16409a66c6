/*
 * summary_stacks.c - encode and decode the stacks of a summary, which precede the groups that use
 * them
 *
 *     stacks  = count thread* count base* count frame* count unseen*
 *     thread  = stream word[THREAD_WORDS]
 *     base    = thread unseen             the unseen calls of a thread (call_stacks.h)
 *     frame   = caller name               name = number bytes?
 *     unseen  = base to name              what names the innermost of a base's calls
 *
 * A thread is its number in the list. A caller is the number of a stack: 0 is the root, bases and
 * then frames are numbered from 1 on. A name equal to the next unused number is new, and its bytes
 * follow.
 */
#include <stdlib.h>

#include "cmd/trstat/summary/summary_unpack.h"

struct stack_writer {
	const struct call_stacks *cs;
	uint32_t *number;    /* as in packed_stacks; of frames still without the bases */
	struct buffer order; /* nodes of frames, u32 */
	struct buffer path;
	uint32_t *base; /* by node: index of its base + 1; 0: a frame */
	uint32_t *used; /* by index of a base: its number; 0: not written */
	uint32_t nbases;
	uint32_t *named; /* by name: number + 1 */
	uint32_t names;
};

static struct summary_thread thread_of(const struct summary *sm, uint32_t number)
{
	struct summary_thread t = {0};
	uint32_t stream;

	if (!sm->streams) {
		memcpy(&t, intern_data(&sm->threads, number), sizeof(t));
		return t;
	}
	stream = dictionary_thread(sm->s->dictionary, number, t.word);
	t.stream_id = stream < sm->nstreams ? sm->streams[stream] : 0;
	return t;
}

static void use_base(struct stack_writer *w, uint32_t index)
{
	if (!w->used[index])
		w->used[index] = ++w->nbases;
}

/* Number the stack and those below it, callers first. */
static int number_stack(struct stack_writer *w, uint32_t node)
{
	const struct stack_node *nodes = w->cs->tree.nodes;
	size_t count;

	for (w->path.size = 0; node != STACK_ROOT && !w->number[node] && !w->base[node];
	     node = nodes[node].parent)
		if (buffer_u32(&w->path, node))
			return -1;
	if (w->base[node])
		use_base(w, w->base[node] - 1);
	while (w->path.size) {
		w->path.size -= 4;
		node = get_u32(w->path.data + w->path.size);
		if (buffer_u32(&w->order, node))
			return -1;
		count = w->order.size / 4;
		if (count > UINT32_MAX / 2)
			return -1;
		w->number[node] = (uint32_t)count;
	}
	return 0;
}

static int number_cells(struct stack_writer *w, const struct key_cell *cells, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (cells[k].kind == KEY_STACK && number_stack(w, (uint32_t)cells[k].value))
			return -1;
	return 0;
}

static int number_groups(struct stack_writer *w, const struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		if (number_cells(w, groups_cells(g, groups_at(g, i)), g->keys))
			return -1;
	return 0;
}

/* Number the stacks of pairs that parts do not decide. */
static int number_edges(struct stack_writer *w, const struct parts *ps)
{
	for (size_t i = 0; i < ps->count; i++) {
		const struct pair_edges *e = ps->part[i].edges;

		for (size_t k = 0; e && k < e->map.count; k++)
			if (number_cells(w, pair_edge_b(e, groups_at(&e->map, k)),
					 e->b_cells + 2 * e->a_cells))
				return -1;
	}
	return 0;
}

static int put_name(struct stack_writer *w, struct buffer *b, uint32_t name)
{
	const struct intern *names = &w->cs->names;
	bool is_new = !w->named[name];

	if (is_new)
		w->named[name] = ++w->names;
	return buffer_uleb(b, w->named[name] - 1) ||
	       (is_new && packed_put_bytes(b, intern_data(names, name), intern_size(names, name)));
}

static int put_bases(const struct stack_writer *w, struct buffer *b, const struct summary *sm)
{
	const struct stack_base **order = calloc(w->nbases + (size_t)1, sizeof(*order));
	struct intern threads = {0};
	int bad = order ? 0 : -1;

	for (size_t i = 0; i < w->cs->nbases && !bad; i++) {
		struct summary_thread t;

		if (!w->used[i])
			continue;
		order[w->used[i] - 1] = &w->cs->bases[i];
		t = thread_of(sm, w->cs->bases[i].thread);
		bad = intern(&threads, &t, sizeof(t)) == INTERN_NONE;
	}
	bad = bad || buffer_uleb(b, threads.count);
	for (uint32_t i = 0; i < threads.count && !bad; i++) {
		struct summary_thread t;

		memcpy(&t, intern_data(&threads, i), sizeof(t));
		bad = buffer_uleb(b, t.stream_id);
		for (size_t k = 0; k < THREAD_WORDS && !bad; k++)
			bad = buffer_uleb(b, t.word[k]);
	}
	bad = bad || buffer_uleb(b, w->nbases);
	for (uint32_t i = 0; i < w->nbases && !bad; i++) {
		const struct summary_thread t = thread_of(sm, order[i]->thread);

		bad = buffer_uleb(b, intern_find(&threads, &t, sizeof(t))) ||
		      buffer_uleb(b, order[i]->unseen);
	}
	intern_free(&threads);
	free(order);
	return bad ? -1 : 0;
}

/* Write the frames; from here on numbers are those of packed_stacks. */
static int put_frames(struct stack_writer *w, struct buffer *b)
{
	const struct stack_node *nodes = w->cs->tree.nodes;
	size_t n = w->order.size / 4;
	int bad;

	for (size_t i = 0; i < w->cs->nbases; i++)
		w->number[w->cs->bases[i].node] = w->used[i];
	for (size_t i = 0; i < n; i++)
		w->number[get_u32(w->order.data + 4 * i)] += w->nbases;
	bad = buffer_uleb(b, n);
	for (size_t i = 0; i < n && !bad; i++) {
		const struct stack_node *node = &nodes[get_u32(w->order.data + 4 * i)];

		bad = buffer_uleb(b, w->number[node->parent]) || put_name(w, b, node->name);
	}
	return bad;
}

static int put_unseen(struct stack_writer *w, struct buffer *b)
{
	const struct call_stacks *cs = w->cs;
	size_t n = 0;
	int bad;

	for (size_t i = 0; i < cs->nbases; i++)
		n += cs->bases[i].name != 0;
	bad = buffer_uleb(b, n);
	for (size_t i = 0; i < cs->nbases && !bad; i++) {
		const struct stack_base *base = &cs->bases[i];

		if (base->name)
			bad = buffer_uleb(b, w->used[i]) || buffer_uleb(b, base->to) ||
			      put_name(w, b, base->name - 1);
	}
	return bad;
}

int summary_put_stacks(struct buffer *b, const struct summary *sm, struct packed_stacks *stacks)
{
	const struct call_stacks *cs = sm->s->stacks;
	struct stack_writer w = {.cs = cs};
	int bad;

	w.number = stacks->number = calloc(cs->tree.count, sizeof(*w.number));
	w.base = calloc(cs->tree.count, sizeof(*w.base));
	w.used = calloc(cs->nbases + 1, sizeof(*w.used));
	w.named = calloc((size_t)cs->names.count + 1, sizeof(*w.named));
	bad = w.number && w.base && w.used && w.named ? 0 : -1;
	for (size_t i = 0; i < cs->nbases && !bad; i++) {
		w.base[cs->bases[i].node] = (uint32_t)i + 1;
		if (cs->bases[i].name)
			use_base(&w, (uint32_t)i);
	}
	bad = bad || number_groups(&w, &sm->s->groups) || number_edges(&w, &sm->parts) ||
	      put_bases(&w, b, sm) || put_frames(&w, b) || put_unseen(&w, b);
	buffer_free(&w.order);
	buffer_free(&w.path);
	free(w.base);
	free(w.used);
	free(w.named);
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
	*name = intern(&u->ss->to->s->stacks->names, bytes ? (const char *)bytes : "", size);
	if (*name == INTERN_NONE || buffer_u32(names, *name))
		return unpack_no_memory(u);
	return 0;
}

/* Read the threads: their numbers here, u32 each. */
static int take_threads(struct unpacker *u, struct buffer *threads)
{
	uint64_t n = packed_count(&u->in, 1 + THREAD_WORDS);

	for (uint64_t i = 0; i < n && !u->in.bad; i++) {
		struct summary_thread t = {.stream_id = packed_u64(&u->in)};
		uint32_t number;

		for (size_t k = 0; k < THREAD_WORDS; k++)
			t.word[k] = packed_u32(&u->in);
		number = intern(&u->ss->to->threads, &t, sizeof(t));
		if (number == INTERN_NONE || buffer_u32(threads, number))
			return unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

/* Add a stack, which has the next number. */
static int add_stack(struct unpacker *u, uint32_t node)
{
	struct packed_stacks *ps = &u->ss->stacks;
	uint32_t *nodes;

	if (ARRAY_GROW(ps->node, ps->capacity, ps->count) || (!node && ps->count))
		return unpack_no_memory(u);
	nodes = ps->node;
	nodes[ps->count++] = node;
	return 0;
}

static int take_bases(struct unpacker *u, const struct buffer *threads, struct buffer *bases)
{
	struct call_stacks *cs = u->ss->to->s->stacks;
	uint64_t n = packed_count(&u->in, 2);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t thread = packed_u64(&u->in);
		uint32_t unseen = packed_u32(&u->in), number;
		const struct stack_base *base;

		u->in.bad |= thread >= threads->size / 4 || !unseen;
		if (u->in.bad)
			return -1;
		number = get_u32(threads->data + 4 * thread);
		base = call_stacks_base(cs, number, unseen);
		if (!base || add_stack(u, base->node) || buffer_u32(bases, number) ||
		    buffer_u32(bases, unseen))
			return unpack_no_memory(u);
	}
	return u->in.bad ? -1 : 0;
}

static int take_frames(struct unpacker *u, struct buffer *names)
{
	struct call_stacks *cs = u->ss->to->s->stacks;
	struct packed_stacks *ps = &u->ss->stacks;
	uint64_t n = packed_count(&u->in, 2);

	for (uint64_t i = 0; i < n; i++) {
		uint32_t caller = ps->node[packed_limited(&u->in, ps->count - 1)], name = 0;

		if (take_name(u, names, &name))
			return -1;
		if (u->in.bad)
			return -1;
		if (add_stack(u, stack_tree_child(&cs->tree, caller, name)))
			return -1;
	}
	return u->in.bad ? -1 : 0;
}

static int take_unseen(struct unpacker *u, const struct buffer *bases, struct buffer *names)
{
	struct summaries *ss = u->ss;
	uint64_t n = packed_count(&u->in, 3);

	for (uint64_t i = 0; i < n; i++) {
		uint64_t base = packed_u64(&u->in);
		struct unseen_name *one;

		if (ARRAY_GROW(ss->names, ss->names_capacity, ss->nnames))
			return unpack_no_memory(u);
		u->in.bad |= !base || base > bases->size / 8;
		if (u->in.bad)
			return -1;
		one = &ss->names[ss->nnames];
		*one = (struct unseen_name){.thread = get_u32(bases->data + 8 * (base - 1)),
					    .unseen = get_u32(bases->data + 8 * (base - 1) + 4)};
		one->to = (uint32_t)packed_limited(&u->in, one->unseen - 1);
		if (take_name(u, names, &one->name))
			return -1;
		ss->nnames++;
	}
	return u->in.bad ? -1 : 0;
}

int unpack_stacks(struct unpacker *u)
{
	struct buffer names = {0}, threads = {0}, bases = {0};
	int bad;

	packed_stacks_free(&u->ss->stacks);
	bad = add_stack(u, STACK_ROOT) || take_threads(u, &threads) ||
	      take_bases(u, &threads, &bases) || take_frames(u, &names) ||
	      take_unseen(u, &bases, &names);
	buffer_free(&names);
	buffer_free(&threads);
	buffer_free(&bases);
	return bad ? -1 : 0;
}

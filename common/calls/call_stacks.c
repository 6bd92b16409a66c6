/*
 * call_stacks.c - the stack of every call, as a node of one tree for all threads
 */
#include "common/calls/call_stacks.h"
#include "common/util/stack_limit.h"

#include <stdlib.h>

/*
 * The nodes of recorded stacks, in the tree that the calls are in.
 */

/* Get the number of calls open in a stack, with unseen ones. */
static inline uint32_t call_stacks_open(const struct stack *s)
{
	return (uint32_t)s->count + s->unseen;
}

static inline uint32_t call_stacks_unseen(const struct stack *s)
{
	return s->unseen + (s->count && !s->frames[0].begun);
}

enum { CACHE = 1 << 15 };

/* Get the place of a stack in the cache. */
static size_t cache_place(uint32_t root, uint32_t stack)
{
	return hash_u64((uint64_t)root << 32 | stack) & (CACHE - 1);
}

/* Get the root's nodes, with room for the stack. NULL: they are in the cache, or *bad, out of
 * memory. */
static struct recorded_root *root_of(struct call_stacks *cs, uint32_t root, uint32_t stack,
				     bool *bad)
{
	struct recorded_root *at = cs->recorded.roots, *end = at + RECORDED_ROOTS;

	while (at < end && at->size && at->root != root)
		at++;
	if (at == end) {
		if (!cs->recorded.cache)
			cs->recorded.cache = calloc(CACHE, sizeof(*cs->recorded.cache));
		*bad = !cs->recorded.cache;
		return NULL;
	}
	*bad = ARRAY_REACH(at->node, at->size, stack);
	if (*bad)
		return NULL;
	at->root = root;
	return at;
}

static void call_stacks_forget_recorded(struct call_stacks *cs)
{
	if (cs->recorded.cache)
		memset(cs->recorded.cache, 0, CACHE * sizeof(*cs->recorded.cache));
	for (int i = 0; i < RECORDED_ROOTS; i++) {
		struct recorded_root *at = &cs->recorded.roots[i];

		if (at->node)
			memset(at->node, 0, at->size * sizeof(*at->node));
	}
}

static void call_stacks_free_recorded(struct call_stacks *cs)
{
	for (int i = 0; i < RECORDED_ROOTS; i++)
		free(cs->recorded.roots[i].node);
	free(cs->recorded.cache);
	buffer_free(&cs->recorded.frames);
}

/* Get the node of a frame, whose caller has the node parent. */
static uint32_t frame_node(struct call_stacks *cs, uint32_t parent, uint32_t stack)
{
	uint32_t location = dictionary_stack_location(cs->calls->dictionary, stack);
	uint32_t name = cs->unknown;

	if (location && call_stacks_name(cs, location, &name))
		return STACK_ROOT;
	return stack_tree_child(&cs->tree, parent, name);
}

/* Get the node of a stack if it is known, else 0. at NULL: it may be in the cache. */
static uint32_t known_node(const struct call_stacks *cs, const struct recorded_root *at,
			   uint32_t root, uint32_t stack)
{
	size_t i = cache_place(root, stack);

	if (at)
		return at->node[stack];
	return cs->recorded.cache[i].root == root && cs->recorded.cache[i].stack == stack
		       ? cs->recorded.cache[i].node
		       : 0;
}

int call_stacks_recorded(struct call_stacks *cs, uint32_t root, uint32_t stack, uint32_t *node)
{
	const struct dictionary *d = cs->calls->dictionary;
	struct buffer *frames = &cs->recorded.frames;
	struct recorded_root *at;
	uint32_t found = 0;
	bool bad;

	if (cs->recorded.symbol_changes != d->symbol_changes)
		call_stacks_forget_recorded(cs);
	cs->recorded.symbol_changes = d->symbol_changes;
	at = root_of(cs, root, stack, &bad);
	if (bad)
		return -1;
	for (frames->size = 0; stack; stack = dictionary_stack_parent(d, stack)) {
		found = known_node(cs, at, root, stack);
		if (found)
			break;
		if (buffer_u32(frames, stack))
			return -1;
	}
	*node = found ? found : root;
	for (size_t i = frames->size; i; i -= 4) {
		stack = get_u32(frames->data + i - 4);
		*node = frame_node(cs, *node, stack);
		if (!*node)
			return -1;
		if (at) {
			at->node[stack] = *node;
		} else {
			size_t place = cache_place(root, stack);

			cs->recorded.cache[place].root = root;
			cs->recorded.cache[place].stack = stack;
			cs->recorded.cache[place].node = *node;
		}
	}
	return 0;
}

void call_stacks_fetch_recorded(const struct call_stacks *cs, const struct block *b)
{
	const struct recorded_root *at = cs->recorded.roots;

	for (uint32_t i = 1; at->size && i <= b->stacks.count; i++)
		if (b->stacks.numbers[i] < at->size)
			__builtin_prefetch(&at->node[b->stacks.numbers[i]]);
	for (uint32_t i = 1; at->size && i <= b->stacks.count; i++)
		if (b->stacks.numbers[i] < at->size)
			__builtin_prefetch(&cs->tree.nodes[at->node[b->stacks.numbers[i]]].self, 1);
}

int call_stacks_named(struct call_stacks *cs, uint32_t caller, struct text_ref name, uint32_t *node)
{
	struct buffer *b = &cs->scratch;
	uint32_t number;

	*node = caller;
	if (!name.size)
		return 0;
	b->size = 0;
	if (cs->key(b, NULL, name))
		return -1;
	for (size_t i = 0; i < b->size; i++)
		if (b->data[i] == ' ')
			b->data[i] = '_';
	number = intern(&cs->names, b->data, b->size);
	*node = number == INTERN_NONE ? 0 : stack_tree_child(&cs->tree, caller, number);
	return *node ? 0 : -1;
}

/* --- call stacks --- */

/* Get the name of a frame without a location. INTERN_NONE: out of memory. */
static uint32_t own_name(struct call_stacks *cs, const char *name)
{
	cs->scratch.size = 0;
	if (cs->key(&cs->scratch, NULL, (struct text_ref){name, (uint32_t)strlen(name), 0}))
		return INTERN_NONE;
	return intern(&cs->names, cs->scratch.data, cs->scratch.size);
}

int call_stacks_init(struct call_stacks *cs, const struct calls *calls, call_stacks_key *key)
{
	*cs = (struct call_stacks){.calls = calls, .key = key};
	cs->unknown = own_name(cs, "<0>");
	return cs->unknown == INTERN_NONE ? -1 : stack_tree_init(&cs->tree);
}

void call_stacks_forget(struct call_stacks *cs)
{
	for (size_t i = 0; i < cs->nthreads; i++) {
		free(cs->threads[i].node);
		free(cs->threads[i].kernel);
	}
	free(cs->threads);
	cs->threads = NULL;
	cs->nthreads = 0;
}

void call_stacks_free(struct call_stacks *cs)
{
	call_stacks_forget(cs);
	call_stacks_free_recorded(cs);
	free(cs->bases);
	free(cs->name);
	stack_tree_free(&cs->tree);
	intern_free(&cs->names);
	intern_free(&cs->base_keys);
	buffer_free(&cs->scratch);
}

/* --- names --- */

int call_stacks_clean_name(struct buffer *to, const struct location *p, struct text_ref name)
{
	(void)p;
	for (size_t i = 0; i < name.size; i++) {
		uint8_t c = (uint8_t)name.text[i];

		if (c < 0x20 || c == 0x7f ? buffer_printf(to, "\\x%02x", c)
					  : buffer_u8(to, c == ';' ? ':' : c))
			return -1;
	}
	return to->size ? 0 : buffer_u8(to, '?');
}

static int ask_name(struct call_stacks *cs, uint32_t location, uint32_t *name)
{
	const struct location *p = dictionary_location(cs->calls->dictionary, location);
	struct text_ref text;

	if (ARRAY_REACH(cs->name, cs->nnames, location))
		return -1;
	text = dictionary_location_name(cs->calls->dictionary, location);
	cs->scratch.size = 0;
	if (cs->key(&cs->scratch, p, text))
		return -1;
	*name = intern(&cs->names, cs->scratch.data, cs->scratch.size);
	if (*name == INTERN_NONE)
		return -1;
	cs->unnamed |= p && p->space && !p->symbol && !p->name.size;
	cs->name[location] = *name + 1;
	return 0;
}

int call_stacks_name(struct call_stacks *cs, uint32_t location, uint32_t *name)
{
	if (__builtin_expect(cs->calls->dictionary->symbol_changes != cs->symbol_changes, 0)) {
		if (cs->nnames)
			memset(cs->name, 0, cs->nnames * sizeof(*cs->name));
		cs->symbol_changes = cs->calls->dictionary->symbol_changes;
	}
	if (__builtin_expect(location < cs->nnames && cs->name[location], 1)) {
		*name = cs->name[location] - 1;
		return 0;
	}
	return ask_name(cs, location, name);
}

/* --- threads --- */

struct call_stacks_thread *call_stacks_thread(struct call_stacks *cs, size_t number)
{
	return ARRAY_REACH(cs->threads, cs->nthreads, number) ? NULL : &cs->threads[number];
}

int call_stacks_grow(uint32_t **nodes, size_t *capacity, size_t level)
{
	return ARRAY_REACH(*nodes, *capacity, level);
}

struct stack_base *call_stacks_base(struct call_stacks *cs, uint32_t thread, uint32_t unseen)
{
	uint32_t key[] = {thread, unseen}, number = intern(&cs->base_keys, key, sizeof(key));
	struct stack_base *base;

	if (number == INTERN_NONE || number < cs->nbases)
		return number == INTERN_NONE ? NULL : &cs->bases[number];
	if (ARRAY_GROW(cs->bases, cs->bases_capacity, cs->nbases))
		return NULL;
	base = &cs->bases[cs->nbases];
	*base = (struct stack_base){thread, unseen, stack_tree_detached(&cs->tree), 0, 0};
	if (!base->node)
		return NULL;
	cs->nbases++;
	return base;
}

/* Set the thread's number of unseen calls. */
static int call_stacks_set_unseen(struct call_stacks *cs, struct call_stacks_thread *th,
				  uint32_t unseen)
{
	const struct stack_base *base;

	th->started = true;
	th->low = unseen;
	th->base = STACK_ROOT;
	if (!unseen)
		return 0;
	if (cs->nameless) {
		th->base = stack_tree_child(&cs->tree, STACK_ROOT, cs->unknown);
	} else {
		base = call_stacks_base(cs, (uint32_t)(th - cs->threads), unseen);
		th->base = base ? base->node : STACK_ROOT;
	}
	return th->base ? 0 : -1;
}

/* Begin a thread with that many unseen calls, unless it has begun. */
static int call_stacks_start(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t unseen)
{
	return th->started ? 0 : call_stacks_set_unseen(cs, th, unseen);
}

/* Remove the unseen calls from this level on: one of this name, or several that are unknown. */
static int lower(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t level,
		 uint32_t name)
{
	if (!cs->nameless) {
		struct stack_base *from =
			call_stacks_base(cs, (uint32_t)(th - cs->threads), th->low);

		if (!from)
			return -1;
		if (!from->name) {
			from->name = name + 1;
			from->to = level;
		}
	}
	return call_stacks_set_unseen(cs, th, level);
}

/* Begin a call at this level. */
static int call_stacks_begin(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t level)
{
	if (call_stacks_start(cs, th, level))
		return -1;
	/* an exec, or a longjmp to before the trace */
	return level < th->low ? lower(cs, th, level, cs->unknown) : 0;
}

/* Remove the unseen calls that rows have ended without being calls themselves. */
static int catch_up(struct call_stacks *cs, struct call_stacks_thread *th, const struct stack *s)
{
	return th->started && call_stacks_unseen(s) < th->low
		       ? lower(cs, th, call_stacks_unseen(s), cs->unknown)
		       : 0;
}

int call_stacks_catch_up(struct call_stacks *cs)
{
	const struct calls *c = cs->calls;

	for (size_t i = 0; i < cs->nthreads && i < c->size; i++)
		if (c->stacks[i] && catch_up(cs, &cs->threads[i], c->stacks[i]))
			return -1;
	return 0;
}

static int enter(struct call_stacks *cs, struct call_stacks_thread *th, uint32_t level,
		 uint32_t location)
{
	uint32_t name;

	if (call_stacks_name(cs, location, &name) || call_stacks_begin(cs, th, level))
		return -1;
	return call_stacks_push(cs, th, level, name);
}

static int common_call_stacks_leave(struct call_stacks *cs, struct call_stacks_thread *th,
				    const struct call *c, uint32_t *node)
{
	uint32_t name;

	if (call_stacks_name(cs, c->location, &name) || call_stacks_start(cs, th, c->level + 1))
		return -1;
	if (c->level >= th->low) {
		uint32_t caller = call_stacks_caller(th, c->level);

		/* nearly always the node of its enter */
		*node = c->level < th->capacity ? th->node[c->level] : STACK_ROOT;
		if (*node == STACK_ROOT || cs->tree.nodes[*node].name != name ||
		    cs->tree.nodes[*node].parent != caller)
			*node = stack_tree_child(&cs->tree, caller, name);
		return *node ? 0 : -1;
	}
	if ((c->level + 1 < th->low && lower(cs, th, c->level + 1, cs->unknown)) ||
	    lower(cs, th, c->level, name))
		return -1;
	*node = stack_tree_child(&cs->tree, th->base, name);
	return *node ? 0 : -1;
}

/* Get the node of the call on top of `level` others in the kernel. */
static uint32_t kernel_node(const struct call_stacks_thread *th, size_t level)
{
	return level < th->kernel_capacity ? th->kernel[level] : STACK_ROOT;
}

/* Add a call in the kernel on top of `level` others; the lowest is on top of caller. */
static int call_stacks_enter_kernel(struct call_stacks *cs, struct call_stacks_thread *th,
				    size_t level, uint32_t caller, uint32_t location)
{
	uint32_t name;

	if (call_stacks_name(cs, location, &name))
		return -1;
	if (level)
		caller = kernel_node(th, level - 1);
	if (level >= th->kernel_capacity &&
	    call_stacks_grow(&th->kernel, &th->kernel_capacity, level))
		return -1;
	th->kernel[level] = stack_tree_child(&cs->tree, caller, name);
	return th->kernel[level] ? 0 : -1;
}

int call_stacks_alone(struct call_stacks *cs, uint32_t location, uint32_t stack, uint32_t *node)
{
	uint32_t name;

	*node = STACK_ROOT;
	if (call_stacks_name(cs, location, &name) ||
	    (stack && call_stacks_recorded(cs, STACK_ROOT, stack, node)))
		return -1;
	*node = stack_tree_child(&cs->tree, *node, name);
	return *node ? 0 : -1;
}

int call_stacks_enter(struct call_stacks *cs, const struct event *e)
{
	const struct stack *all = cs->calls->stacks[calls_thread(e)];
	const struct stack *stack = calls_stack(cs->calls, e);
	struct call_stacks_thread *th;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return 0;
	th = call_stacks_thread(cs, calls_thread(e));
	if (!th || catch_up(cs, th, all))
		return -1;
	if (stack != all)
		return call_stacks_enter_kernel(cs, th, stack->count - 1,
						call_stacks_caller(th, call_stacks_open(all)),
						e->location);
	return enter(cs, th, call_stacks_open(stack) - 1, e->location);
}

int call_stacks_leave(struct call_stacks *cs, const struct event *e, const struct call *call,
		      uint32_t *node)
{
	const struct stack *all = cs->calls->stacks[calls_thread(e)];
	const struct stack *stack = calls_stack(cs->calls, e);
	struct call_stacks_thread *th;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return call_stacks_alone(cs, call->location, call->stack, node);
	th = call_stacks_thread(cs, calls_thread(e));
	if (!th)
		return -1;
	/* a call that was scheduled out below those in the kernel returns while they are open */
	if (stack == all || (call->inner && call->level <= call_stacks_open(all)))
		return common_call_stacks_leave(cs, th, call, node);
	*node = kernel_node(th, stack->count);
	return 0;
}

uint32_t call_stacks_lost(const struct call_stacks *cs, const struct stack *s)
{
	size_t level = s->count + s->unseen;
	const struct call_stacks_thread *th;

	if (s->number >= cs->nthreads)
		return STACK_ROOT;
	th = &cs->threads[s->number];
	if (s != cs->calls->stacks[s->number])
		return kernel_node(th, level);
	return level >= th->low && level < th->capacity ? th->node[level] : STACK_ROOT;
}

/* Get the node of the thread's current stack, without calls in the kernel. */
static int top_node(struct call_stacks *cs, size_t number, uint32_t *node)
{
	const struct stack *s = number < cs->calls->size ? cs->calls->stacks[number] : NULL;

	*node = STACK_ROOT;
	if (!s || number >= cs->nthreads || !cs->threads[number].started)
		return 0;
	if (catch_up(cs, &cs->threads[number], s))
		return -1;
	*node = call_stacks_caller(&cs->threads[number], call_stacks_open(s));
	return 0;
}

/* Get the node of calls in the kernel outside any call. Their enters were never passed to
 * call_stacks_enter. */
static int outside_node(struct call_stacks *cs, const struct stack *kernel, uint32_t *node)
{
	*node = STACK_ROOT;
	for (size_t i = 0; i < kernel->count; i++) {
		uint32_t name;

		if (call_stacks_name(cs, kernel->frames[i].location, &name))
			return -1;
		*node = stack_tree_child(&cs->tree, *node, name);
		if (!*node)
			return -1;
	}
	return 0;
}

int call_stacks_here(struct call_stacks *cs, const struct event *e, uint32_t *node)
{
	size_t number = calls_thread(e);
	const struct stack *stack = calls_stack(cs->calls, e);

	if (!stack || stack == cs->calls->stacks[number] || !stack->count)
		return top_node(cs, number, node);
	if (stack->frames[0].outside)
		return outside_node(cs, stack, node);
	*node = number < cs->nthreads ? kernel_node(&cs->threads[number], stack->count - 1)
				      : STACK_ROOT;
	return 0;
}

int call_stacks_finish(struct call_stacks *cs, const struct call *call, uint32_t *node)
{
	size_t number = cs->calls->end.thread;
	struct call_stacks_thread *th;

	if (call->type && call->type->flags & TYPE_CALL_NUMBER)
		return call_stacks_alone(cs, call->location, call->stack, node);
	th = call_stacks_thread(cs, number);
	if (!th)
		return -1;
	if (call->kernel) {
		*node = kernel_node(th, cs->calls->stacks[number]->kernel->count);
		return 0;
	}
	if (call_stacks_start(cs, th, call->level + 1))
		return -1;
	if (call->location || call->level >= th->low)
		return common_call_stacks_leave(cs, th, call, node);
	/* all frames with neither enter nor leave have one node */
	*node = th->base;
	return 0;
}

/* --- calls of calls_restore --- */

/* Get the node of the stack below the kernel's calls, when the lowest of them was entered. */
static int kernel_caller(struct call_stacks *cs, struct call_stacks_thread *th,
			 const struct stack *s, uint32_t *node)
{
	*node = call_stacks_caller(th, s->kernel_base);
	for (uint32_t i = 0; i < s->ngone; i++) {
		uint32_t name;

		if (call_stacks_name(cs, s->gone[i], &name))
			return -1;
		*node = stack_tree_child(&cs->tree, *node, name);
		if (!*node)
			return -1;
	}
	return 0;
}

static int restore_kernel(struct call_stacks *cs, struct call_stacks_thread *th,
			  const struct stack *s)
{
	const struct stack *k = s->kernel;
	uint32_t caller;

	if (!k || !k->count || k->frames[0].outside)
		return 0;
	if (kernel_caller(cs, th, s, &caller))
		return -1;
	for (size_t i = 0; i < k->count; i++)
		if (call_stacks_enter_kernel(cs, th, i, caller, k->frames[i].location))
			return -1;
	return 0;
}

static int restore_thread(struct call_stacks *cs, const struct stack *s)
{
	struct call_stacks_thread *th = call_stacks_thread(cs, s->number);
	size_t first = s->count && !s->frames[0].begun;
	uint32_t unseen = call_stacks_unseen(s), name;

	if (!th || call_stacks_set_unseen(cs, th, unseen))
		return -1;
	/* else its next row shows how many are unseen */
	th->started = call_stacks_open(s);
	for (size_t i = first; i < s->count; i++)
		if (call_stacks_name(cs, s->frames[i].location, &name) ||
		    call_stacks_push(cs, th, (uint32_t)i + s->unseen, name))
			return -1;
	return restore_kernel(cs, th, s);
}

/* For calls.restored.done: rebuild the stacks of the present stream. */
static int restored(void *ctx, bool last)
{
	struct call_stacks *cs = ctx;
	const struct calls *c = cs->calls;

	for (size_t i = 0; last && i < c->size; i++) {
		const struct stack *s = c->stacks[i];

		if (s && calls_of_stream(c, s->lane) && restore_thread(cs, s))
			return -1;
	}
	return 0;
}

void call_stacks_follow(struct call_stacks *cs, struct calls *c)
{
	c->restored.done = restored;
	c->restored.ctx = cs;
}

/* --- the end --- */

enum { UNKNOWN_FRAMES = 64 };

static int compare_unseen(const void *a, const void *b)
{
	const struct stack_base *x = a, *y = b;

	return (x->unseen > y->unseen) - (x->unseen < y->unseen);
}

/* Add frames for the unseen calls that ended together, but for the last of them. */
static int call_stacks_add_unknown(struct call_stacks *cs, const struct stack_base *b,
				   uint32_t *node)
{
	uint32_t n = b->name ? b->unseen - b->to : 1;

	/* a limit, because two rows can end any number */
	for (uint32_t i = 1; i < n && i < UNKNOWN_FRAMES; i++) {
		*node = stack_tree_child(&cs->tree, *node, cs->unknown);
		if (!*node)
			return -1;
	}
	return 0;
}

int call_stacks_end(struct call_stacks *cs)
{
	size_t n = cs->nbases;
	uint32_t *node = calloc(n + 1, sizeof(*node)), parent;
	int bad = node ? 0 : -1;

	/* by number, where each base is after it was joined with others */
	for (size_t i = 0; i < n && !bad; i++)
		node[i] = cs->bases[i].node;
	if (n)
		qsort(cs->bases, n, sizeof(*cs->bases), compare_unseen);
	for (size_t i = 0; i < n && !bad; i++) {
		const struct stack_base *b = &cs->bases[i];
		uint32_t name = b->name ? b->name - 1 : cs->unknown;
		uint32_t key[] = {b->thread, b->unseen}, below[] = {b->thread, b->to}, at;

		at = intern_find(&cs->base_keys, below, sizeof(below));
		parent = b->to && at != INTERN_NONE ? node[at] : STACK_ROOT;
		bad = call_stacks_add_unknown(cs, b, &parent);
		if (bad)
			break;
		bad = stack_tree_attach(&cs->tree, b->node, parent, name);
		node[intern_find(&cs->base_keys, key, sizeof(key))] =
			bad ? STACK_ROOT : stack_tree_child(&cs->tree, parent, name);
	}
	cs->nbases = 0;
	free(node);
	return bad;
}

int call_stacks_limit(struct call_stacks *cs, uint32_t *became)
{
	uint32_t deeper = own_name(cs, STACK_DEEPER);

	return deeper == INTERN_NONE ? -1 : stack_tree_limit(&cs->tree, deeper, became);
}

int call_stacks_fold(struct call_stacks *cs)
{
	uint32_t deeper;

	cs->deep = stack_tree_deep(&cs->tree);
	if (!cs->deep)
		return 0;
	deeper = own_name(cs, STACK_DEEPER);
	return deeper == INTERN_NONE ? -1 : stack_tree_fold(&cs->tree, deeper);
}

int call_stacks_path(const struct call_stacks *cs, uint32_t node, struct buffer *out)
{
	const struct stack_node *nodes = cs->tree.nodes;
	size_t n = 0, at;

	for (uint32_t i = node; i != STACK_ROOT && i < cs->tree.count; i = nodes[i].parent)
		n += intern_size(&cs->names, nodes[i].name) + 1;
	out->size = 0;
	if (!n)
		return 0;
	if (buffer_reserve(out, n))
		return -1;
	/* from the leaf down: the first ';' is after the end */
	for (at = n; at; node = nodes[node].parent) {
		size_t size = intern_size(&cs->names, nodes[node].name);

		out->data[--at] = ';';
		at -= size;
		memcpy(out->data + at, intern_data(&cs->names, nodes[node].name), size);
	}
	out->size = n - 1;
	out->data[n - 1] = '\0';
	return 0;
}

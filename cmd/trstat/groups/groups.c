#include "cmd/trstat/groups/groups.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/stack_limit.h"

enum { FIRST = 64 };

void groups_set_keys(struct groups *g, size_t keys)
{
	g->keys = keys;
	g->texts.cut_stacks = keys > 1; /* such a stack is then in many groups */
	g->stride = (g->wanted->size + keys * sizeof(struct key_cell) + 15) & ~(size_t)15;
}

void groups_init(struct groups *g, size_t keys, const struct columns_wanted *wanted)
{
	memset(g, 0, sizeof *g);
	g->wanted = wanted;
	key_texts_init(&g->texts);
	groups_set_keys(g, keys);
}

void groups_clear(struct groups *g)
{
	for (size_t i = 0; i < g->count; i++)
		aggregate_free(groups_at(g, i), g->wanted);
	for (size_t i = 0; i < g->chunks; i++)
		free(g->chunk[i]);
	free(g->chunk);
	free(g->slots);
	g->chunk = NULL;
	g->slots = NULL;
	g->count = g->chunks = g->chunk_capacity = g->capacity = 0;
}

struct groups groups_take(struct groups *g)
{
	struct groups old = *g;

	g->chunk = NULL;
	g->slots = NULL;
	g->count = g->chunks = g->chunk_capacity = g->capacity = 0;
	return old;
}

void groups_free(struct groups *g)
{
	groups_clear(g);
	key_texts_free(&g->texts);
	free(g->stack_rank);
	memset(g, 0, sizeof *g);
}

int groups_copy_cell(struct groups *into, const struct groups *from, const struct key_cell *cell,
		     struct key_cell *copy)
{
	*copy = *cell;
	if (cell->kind != KEY_TEXT)
		return 0;
	if (groups_text(into, intern_data(&from->texts.intern, cell->text),
			intern_size(&from->texts.intern, cell->text), copy))
		return -1;
	copy->value = cell->value;
	copy->label = cell->label;
	copy->is_signed = cell->is_signed;
	return 0;
}

static int groups_grow(struct groups *g)
{
	size_t capacity = g->capacity ? 2 * g->capacity : FIRST;
	uint64_t *slots = calloc(capacity, sizeof *slots);

	if (!slots)
		return -1;
	for (size_t i = 0; i < g->capacity; i++) {
		size_t at = g->slots[i] >> 32;

		if (!g->slots[i])
			continue;
		while (slots[at & (capacity - 1)])
			at++;
		slots[at & (capacity - 1)] = g->slots[i];
	}
	free(g->slots);
	g->slots = slots;
	g->capacity = capacity;
	return 0;
}

static struct aggregate *groups_append(struct groups *g, const struct key_cell *cells)
{
	struct aggregate *a;

	if (g->count == g->chunks * GROUPS_CHUNK) {
		if (g->chunks == g->chunk_capacity) {
			size_t capacity = g->chunk_capacity ? 2 * g->chunk_capacity : 16;
			char **chunk = realloc(g->chunk, capacity * sizeof *chunk);

			if (!chunk)
				return NULL;
			g->chunk = chunk;
			g->chunk_capacity = capacity;
		}
		g->chunk[g->chunks] = calloc(GROUPS_CHUNK, g->stride);
		if (!g->chunk[g->chunks])
			return NULL;
		g->chunks++;
	}
	a = groups_at(g, g->count++);
	aggregate_init(a, g->wanted);
	if (g->keys)
		memcpy((char *)a + g->wanted->size, cells, g->keys * sizeof *cells);
	return a;
}

/* A number that was hexadecimal and decimal is shown as a decimal one. */
static void note_decimals(struct groups *g, struct aggregate *a, const struct key_cell *cells)
{
	struct key_cell *have = (struct key_cell *)((char *)a + g->wanted->size);

	for (size_t i = 0; i < g->keys; i++)
		if (have[i].kind == KEY_ADDRESS)
			have[i].kind = cells[i].kind;
}

void groups_spell_numbers(struct groups *g)
{
	for (size_t key = 0; key < g->keys; key++) {
		bool decimal = false, address = false;

		for (size_t i = 0; i < g->count; i++) {
			uint8_t kind = groups_cells(g, groups_at(g, i))[key].kind;

			decimal |= kind == KEY_UNSIGNED || kind == KEY_SIGNED || kind == KEY_REAL;
			address |= kind == KEY_ADDRESS;
		}
		for (size_t i = 0; decimal && address && i < g->count; i++) {
			struct aggregate *a = groups_at(g, i);
			struct key_cell *cell = (struct key_cell *)((char *)a + g->wanted->size);

			if (cell[key].kind == KEY_ADDRESS)
				cell[key].kind = KEY_UNSIGNED;
		}
	}
}

struct aggregate *groups_find(struct groups *g, const struct key_cell *cells)
{
	uint32_t hash = key_cells_hash(&g->texts, cells, g->keys);
	struct aggregate *a;
	size_t at = hash;

	if (g->count >= g->capacity / 4 * 3 && groups_grow(g))
		return NULL;
	for (;; at++) {
		uint64_t slot = g->slots[at & (g->capacity - 1)];

		if (!slot)
			break;
		if (slot >> 32 != hash)
			continue;
		a = groups_at(g, (uint32_t)slot - 1);
		if (key_cells_same(groups_cells(g, a), cells, g->keys)) {
			note_decimals(g, a, cells);
			return a;
		}
	}
	if (g->count >= UINT32_MAX - 1)
		return NULL;
	a = groups_append(g, cells);
	if (a)
		g->slots[at & (g->capacity - 1)] = (uint64_t)hash << 32 | g->count;
	return a;
}

static int compare_reals(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_numbers(const struct key_cell *a, const struct key_cell *b)
{
	double real;

	if (b->kind == KEY_REAL && a->kind == KEY_REAL)
		return compare_reals(key_real_value(a), key_real_value(b));
	if (b->kind == KEY_REAL)
		return -compare_numbers(b, a);
	if (a->kind == KEY_REAL) {
		/* A number that is no integer is below 2^53, where the conversion is exact, or
		 * beyond all integers; 2^64 is the only tie. */
		real = b->kind == KEY_SIGNED ? (double)(int64_t)b->value : (double)b->value;
		return key_real_value(a) >= real ? 1 : -1;
	}
	/* KEY_SIGNED is used for negative ones only */
	if ((a->kind == KEY_SIGNED) != (b->kind == KEY_SIGNED))
		return a->kind == KEY_SIGNED ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

int groups_compare(const struct groups *g, const struct key_cell *a, const struct key_cell *b)
{
	uint32_t m, n;
	int c;

	if (a->kind == KEY_MISSING || b->kind == KEY_MISSING)
		return (a->kind == KEY_MISSING) - (b->kind == KEY_MISSING);
	if (a->kind == KEY_STACK && b->kind == KEY_STACK)
		return (g->stack_rank[a->value] > g->stack_rank[b->value]) -
		       (g->stack_rank[a->value] < g->stack_rank[b->value]);
	if (a->kind == KEY_STACK || b->kind == KEY_STACK)
		return a->kind == KEY_STACK ? 1 : -1;
	if (a->kind != KEY_TEXT && b->kind != KEY_TEXT)
		return compare_numbers(a, b);
	if (a->kind != b->kind)
		return a->kind == KEY_TEXT ? 1 : -1;
	m = intern_size(&g->texts.intern, a->text);
	n = intern_size(&g->texts.intern, b->text);
	c = memcmp(intern_data(&g->texts.intern, a->text), intern_data(&g->texts.intern, b->text),
		   m < n ? m : n);
	return c ? c : (m > n) - (m < n);
}

int groups_compare_first(const struct groups *g, const struct aggregate *a,
			 const struct aggregate *b, size_t n)
{
	const struct key_cell *x = groups_cells(g, a), *y = groups_cells(g, b);
	int c = 0;

	for (size_t i = 0; i < n && !c; i++)
		c = groups_compare(g, &x[i], &y[i]);
	return c;
}

/* Copy the cells of a group, with the nodes that replace its stacks. */
static void replace_stacks(struct groups *g, const uint32_t *limited, struct aggregate *a,
			   struct key_cell *cells)
{
	const struct stack_node *nodes = g->texts.stacks->tree.nodes;

	for (size_t k = 0; k < g->keys; k++) {
		uint32_t node;

		if (cells[k].kind != KEY_STACK)
			continue;
		node = stack_tree_resolve(&g->texts.stacks->tree, (uint32_t)cells[k].value);
		if (limited && limited[node]) {
			/* recursive: below others of the same group */
			if (limited[nodes[node].parent]) {
				a->recursive += a->total;
				a->total = 0;
			}
			node = limited[node];
		}
		cells[k].value = node;
	}
}

/* Build the groups again, with the nodes that replace their stacks. limited: see
 * stack_tree_limit, or NULL. */
static int groups_regroup(struct groups *g, const uint32_t *limited)
{
	struct groups old = groups_take(g);
	struct key_cell *cells = calloc(g->keys + 1, sizeof *cells);
	int r = cells ? 0 : -1;

	for (size_t i = 0; !r && i < old.count; i++) {
		struct aggregate *from = groups_at(&old, i), *into;

		memcpy(cells, groups_cells(&old, from), g->keys * sizeof *cells);
		replace_stacks(g, limited, from, cells);
		into = groups_find(g, cells);
		r = into ? aggregate_merge(into, from, g->wanted) : -1;
	}
	groups_clear(&old);
	free(cells);
	return r;
}

static int join_groups(struct groups *g)
{
	struct stack_tree *t = &g->texts.stacks->tree;
	uint32_t *limited = NULL;
	int r = 0;

	g->deep = g->whole_stacks ? 0 : stack_tree_deep(t);
	if (g->deep) {
		limited = malloc(t->count * sizeof *limited);
		r = limited ? call_stacks_limit(g->texts.stacks, limited) : -1;
	}
	if (!r && (t->joined || limited))
		r = groups_regroup(g, limited);
	free(limited);
	return r;
}

/* Number the stacks in their order; no more are added after this. */
static int rank_stacks(struct groups *g)
{
	const struct stack_tree *t = &g->texts.stacks->tree;
	uint32_t *order = calloc(t->live + 1, sizeof *order);
	size_t n = order ? stack_tree_order(t, &g->texts.stacks->names, order) : 0;

	free(g->stack_rank);
	g->stack_rank = calloc(t->count, sizeof *g->stack_rank);
	for (size_t i = 0; g->stack_rank && i < n; i++)
		g->stack_rank[order[i]] = (uint32_t)i;
	free(order);
	return n && g->stack_rank ? 0 : -1;
}

int groups_stacks(struct groups *g, struct call_stacks *stacks)
{
	g->texts.stacks = stacks;
	if (!g->texts.path)
		g->texts.path = calloc(1, sizeof *g->texts.path);
	return !g->texts.path || join_groups(g) ? -1 : rank_stacks(g);
}

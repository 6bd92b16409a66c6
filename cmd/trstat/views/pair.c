#include "cmd/trstat/views/pair.h"

#include <stdlib.h>

#include "common/util/buffer.h"

enum { FIRST_SLOTS = 256 };

/* A start event (A) without an end (B) yet. Those in use are in a list by age. */
struct pending_start {
	uint64_t time;
	uint32_t hash, chain; /* chain: the next one in the same slot */
	uint32_t older, newer;
};

static size_t on_count(const struct pair *p)
{
	return p->a.on.count;
}

static struct key_cell *cells_of(const struct pair *p, uint32_t w)
{
	return p->cells + w * (on_count(p) + p->fields);
}

static void side_free(struct pair_side *s)
{
	condition_free(&s->condition);
	keys_free(&s->on);
	free(s->name);
	free(s->types);
	free(s->locations);
}

void pair_free(struct pair *p)
{
	side_free(&p->a);
	side_free(&p->b);
	free(p->pending);
	free(p->cells);
	free(p->slots);
	free(p->taken);
	*p = (struct pair){0};
}

int pair_begin(struct pair *p, const struct keys *keys, struct dictionary *d, struct groups *g)
{
	p->dictionary = d;
	p->stream = d->stream;
	p->groups = g;
	p->fields = keys->begins;
	p->mask = FIRST_SLOTS - 1;
	p->slots = calloc(FIRST_SLOTS, sizeof(*p->slots));
	p->taken = calloc(p->fields + 1, sizeof(*p->taken));
	if (p->list && pair_list_begin(p->list, d, g))
		return -1;
	return p->slots && p->taken ? 0 : -1;
}

uint64_t pair_pending(const struct pair *p)
{
	return p->used + p->left;
}

/* --- is the event an A or a B? --- */

static const struct key_cell *event_cell(void *ctx, size_t key)
{
	struct pair *p = ctx;
	struct event_ref s = event_ref_of(p->event);

	return keys_cell(p->asking, key, p->dictionary, p->groups, &s, &p->cell) ? NULL : &p->cell;
}

/* Returns the cached answer for an entry of the dictionary, by its number; NULL: out of memory. */
static uint8_t *cached_match(uint8_t **all, size_t *size, uint32_t number)
{
	uint8_t *grown = array_reach(*all, size, number, 1);

	if (!grown)
		return NULL;
	*all = grown;
	return &grown[number];
}

static bool is_named(struct text_ref t, const char *name)
{
	return strlen(name) == t.size && !memcmp(t.text, name, t.size);
}

/* Where generic events of all system calls are recorded, the events of single system calls
 * repeat them. */
static bool is_again(struct pair *p, const struct event *e)
{
	struct text_ref name = e->type->name;

	p->all |= is_named(name, "sys_enter") || is_named(name, "sys_exit");
	return p->all &&
	       (!strncmp(name.text, "sys_enter_", 10) || !strncmp(name.text, "sys_exit_", 9));
}

/* Returns whether the event is this side of the pair. */
static enum outcome is_side(struct pair *p, struct pair_side *side, const struct event *e)
{
	uint8_t *k;
	bool is;

	if (!side->name) {
		p->event = e;
		p->asking = &side->condition.keys;
		is = condition_holds(&side->condition, p->groups, event_cell, p);
		return is && !(p->preset && p->preset->syscalls && is_again(p, e)) ? OUTCOME_YES
										   : OUTCOME_NO;
	}
	k = cached_match(&side->types, &side->ntypes, e->type->number);
	if (!k)
		return OUTCOME_FAILED;
	if (!*k)
		*k = 1 + is_named(e->type->name, side->name);
	if (*k == 2 || !e->location || e->type->kind != KIND_ENTER)
		return *k == 2 ? OUTCOME_YES : OUTCOME_NO;
	k = cached_match(&side->locations, &side->nlocations, e->location);
	if (!k)
		return OUTCOME_FAILED;
	if (!*k)
		*k = 1 + is_named(dictionary_location_name(p->dictionary, e->location), side->name);
	return *k == 2 ? OUTCOME_YES : OUTCOME_NO;
}

/* Make the cells of "on". Returns OUTCOME_NO if one is missing. */
static enum outcome on_cells(struct pair *p, const struct keys *on, const struct event *e,
			     struct key_cell *cells)
{
	struct event_ref s = event_ref_of(e);

	if (keys_cells(on, p->dictionary, p->groups, &s, cells))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < on->count; i++)
		if (cells[i].kind == KEY_MISSING)
			return OUTCOME_NO;
	return OUTCOME_YES;
}

/* --- pending As --- */

static uint32_t hash_cells(const struct pair *p, const struct key_cell *cells)
{
	return groups_hash(p->groups, cells, on_count(p));
}

/* Returns the link (slot or chain) to the pending A with these cells; 0 in it: none. */
static uint32_t *find_pending(struct pair *p, const struct key_cell *cells, uint32_t hash)
{
	uint32_t *at = &p->slots[hash & p->mask];

	for (; *at; at = &p->pending[*at].chain)
		if (p->pending[*at].hash == hash &&
		    groups_same(cells_of(p, *at), cells, on_count(p)))
			break;
	return at;
}

static void take_out(struct pair *p, uint32_t *at)
{
	uint32_t number = *at;
	struct pending_start *w = &p->pending[number];

	*at = w->chain;
	if (w->older)
		p->pending[w->older].newer = w->newer;
	else
		p->oldest = w->newer;
	if (w->newer)
		p->pending[w->newer].older = w->older;
	else
		p->newest = w->older;
	w->chain = p->free;
	p->free = number;
	p->used--;
}

static int grow_slots(struct pair *p)
{
	uint32_t size = 2 * (p->mask + 1), *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -1;
	free(p->slots);
	p->slots = slots;
	p->mask = size - 1;
	for (uint32_t i = p->oldest; i; i = p->pending[i].newer) {
		uint32_t *slot = &slots[p->pending[i].hash & p->mask];

		p->pending[i].chain = *slot;
		*slot = i;
	}
	return 0;
}

/* Returns the number of an unused entry; 0: out of memory. */
static uint32_t unused_pending(struct pair *p)
{
	size_t size = on_count(p) + p->fields, n;
	struct pending_start *pending;
	struct key_cell *cells;
	uint32_t number = p->free;

	if (number) {
		p->free = p->pending[number].chain;
		return number;
	}
	if (p->used == PAIR_LIMIT) {
		uint32_t oldest = p->oldest;

		take_out(p, find_pending(p, cells_of(p, oldest), p->pending[oldest].hash));
		p->forgotten++;
		p->free = p->pending[oldest].chain;
		return oldest;
	}
	if (p->used > p->mask && grow_slots(p))
		return 0;
	if (p->used + 1 >= p->count) {
		n = p->count ? 2 * (size_t)p->count : 64;
		pending = realloc(p->pending, n * sizeof(*pending));
		if (pending)
			p->pending = pending;
		cells = reallocarray(p->cells, n, size * sizeof(*cells));
		if (cells)
			p->cells = cells;
		if (!pending || !cells)
			return 0;
		p->count = (uint32_t)n;
	}
	return p->used + 1;
}

/* Add a pending A. */
static int put_pending(struct pair *p, const struct keys *keys, const struct event *e,
		       const struct key_cell *on)
{
	uint32_t hash = hash_cells(p, on), *at = find_pending(p, on, hash), number = *at;
	struct event_ref s = event_ref_of(e);
	struct pending_start *w;

	if (number) {
		p->replaced++;
		take_out(p, at);
	}
	number = unused_pending(p);
	if (!number)
		return -1;
	memcpy(cells_of(p, number), on, on_count(p) * sizeof(*on));
	if (keys_begin_cells(keys, p->dictionary, p->groups, &s, cells_of(p, number) + on_count(p)))
		return -1;
	w = &p->pending[number];
	*w = (struct pending_start){.time = e->time, .hash = hash, .older = p->newest};
	w->chain = p->slots[hash & p->mask];
	p->slots[hash & p->mask] = number;
	if (p->newest)
		p->pending[p->newest].newer = number;
	else
		p->oldest = number;
	p->newest = number;
	p->used++;
	return p->list ? pair_list_put(p->list, number, e) : 0;
}

static void forget_pending(struct pair *p)
{
	memset(p->slots, 0, (p->mask + (size_t)1) * sizeof(*p->slots));
	p->used = p->free = p->oldest = p->newest = 0;
}

int pair_end_stream(struct pair *p)
{
	for (uint32_t i = p->oldest; p->list && i; i = p->pending[i].newer)
		if (pair_list_left(p->list, i))
			return -1;
	p->left += p->used;
	forget_pending(p);
	return 0;
}

int pair_end_part(struct pair *p)
{
	for (uint32_t i = p->oldest; i; i = p->pending[i].newer) {
		struct aggregate *a = pair_edges_find(p->edges, cells_of(p, i));
		struct pair_edge *edge;

		if (!a)
			return -1;
		edge = pair_edge(p->edges, a);
		edge->waiting = true;
		edge->a = p->pending[i].time;
		memcpy(pair_edge_a(p->edges, a), cells_of(p, i) + on_count(p),
		       p->fields * sizeof(struct key_cell));
	}
	forget_pending(p);
	return 0;
}

/* Note an event in the edges. Returns whether it is the first one with these cells, with its
 * entry. */
static enum outcome note_first(struct pair *p, const struct key_cell *on, enum pair_first which,
			       struct aggregate **entry)
{
	struct pair_edge *edge;

	*entry = pair_edges_find(p->edges, on);
	if (!*entry)
		return OUTCOME_FAILED;
	edge = pair_edge(p->edges, *entry);
	if (edge->first != PAIR_NONE)
		return OUTCOME_NO;
	edge->first = which;
	return OUTCOME_YES;
}

static enum outcome end_pair(struct pair *p, const struct event *e, struct pair_end *end)
{
	struct key_cell on[PAIR_ON_MOST];
	enum outcome is = is_side(p, &p->b, e);
	uint32_t *at;

	end->open = NULL;

	if (is == OUTCOME_YES)
		is = on_cells(p, &p->b.on, e, on);
	if (is != OUTCOME_YES)
		return is;
	at = find_pending(p, on, hash_cells(p, on));
	if (!*at && p->edges) {
		is = note_first(p, on, PAIR_B, &end->open);
		p->ended += is == OUTCOME_NO;
		return is;
	}
	if (!*at) {
		p->ended++;
		return OUTCOME_NO;
	}
	end->time = e->time > p->pending[*at].time ? e->time - p->pending[*at].time : 0;
	/* an A of the same event may reuse this entry, so copy its cells first */
	memcpy(p->taken, cells_of(p, *at) + on_count(p), p->fields * sizeof(*p->taken));
	end->entered = p->taken;
	if (p->list && pair_list_end(p->list, *at, e, end->time))
		return OUTCOME_FAILED;
	take_out(p, at);
	p->pairs++;
	return OUTCOME_YES;
}

enum outcome pair_feed(struct pair *p, const struct keys *keys, const struct event *e,
		       struct pair_end *end)
{
	struct key_cell on[PAIR_ON_MOST];
	struct aggregate *entry;
	enum outcome ended, is;

	if (p->symbol_changes != p->dictionary->symbol_changes) {
		p->symbol_changes = p->dictionary->symbol_changes;
		if (p->a.locations)
			memset(p->a.locations, 0, p->a.nlocations);
		if (p->b.locations)
			memset(p->b.locations, 0, p->b.nlocations);
	}
	if (p->stream != p->dictionary->stream) {
		p->stream = p->dictionary->stream;
		if (pair_end_stream(p))
			return OUTCOME_FAILED;
	}
	ended = end_pair(p, e, end);
	if (ended == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	is = is_side(p, &p->a, e);
	if (is == OUTCOME_YES)
		is = on_cells(p, &p->a.on, e, on);
	if (is == OUTCOME_YES && p->edges && note_first(p, on, PAIR_A, &entry) == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	if (is == OUTCOME_FAILED || (is == OUTCOME_YES && put_pending(p, keys, e, on)))
		return OUTCOME_FAILED;
	return ended;
}

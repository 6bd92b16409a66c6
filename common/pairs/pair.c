#include "common/pairs/pair.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/pairs/declared_names.h"
#include "common/stream/field.h"

enum { FIRST_SLOTS = 256 };

/* A start event (A) without an end (B) yet. Those in use are in a list by age. */
struct pending_start {
	uint64_t time;
	uint32_t hash, chain; /* chain: the next one in the same slot */
	uint32_t older, newer;
	bool woken; /* the W was seen */
};

static size_t on_count(const struct pair *p)
{
	return p->a.on.count;
}

static struct key_cell *cells_of(const struct pair *p, uint32_t w)
{
	return p->pending.cells + w * (on_count(p) + p->keys->begins);
}

/* Returns the cells that its A and W give to the keys. */
static struct key_cell *begun_cells(const struct pair *p, uint32_t w)
{
	return cells_of(p, w) + on_count(p);
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
	side_free(&p->w);
	free(p->pending.start);
	free(p->pending.cells);
	free(p->pending.slots);
	free(p->taken);
	*p = (struct pair){0};
}

int pair_begin(struct pair *p, const struct keys *keys, struct dictionary *d, struct key_texts *t)
{
	p->dictionary = d;
	p->stream = d->stream;
	p->texts = t;
	p->keys = keys;
	p->pending.mask = FIRST_SLOTS - 1;
	p->pending.slots = calloc(FIRST_SLOTS, sizeof(*p->pending.slots));
	p->taken = calloc(keys->begins + 1, sizeof(*p->taken));
	return p->pending.slots && p->taken ? 0 : -1;
}

uint64_t pair_pending(const struct pair *p)
{
	return p->pending.used + p->left;
}

/* --- is the event an A or a B? --- */

static const struct key_cell *event_cell(void *ctx, size_t key)
{
	struct pair *p = ctx;
	struct event_ref s = event_ref_of(p->event);

	return keys_cell(p->asking, key, p->dictionary, p->texts, &s, &p->cell) ? NULL : &p->cell;
}

/* Returns the cached answer for an entry of the dictionary, by its number; NULL: out of memory. */
static uint8_t *cached_match(uint8_t **all, size_t *size, uint32_t number)
{
	uint8_t *grown;

	if (ARRAY_REACH(*all, *size, number))
		return NULL;
	grown = *all;
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
	return p->all && syscall_prefix(name);
}

static struct event_ref ref_of(const struct pair *p, const struct event *e)
{
	struct event_ref ref = event_ref_of(e);

	ref.syscall = p->preset && p->preset->syscalls &&
		      (e->type->kind == KIND_SAMPLE || syscall_prefix(e->type->name));
	return ref;
}

/* Returns whether the event is this side of the pair. */
static enum outcome is_side(struct pair *p, struct pair_side *side, const struct event *e)
{
	uint8_t *k;
	bool is;

	if (!side->name) {
		p->event = e;
		p->asking = &side->condition.keys;
		is = condition_holds(&side->condition, p->texts, event_cell, p);
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
	struct event_ref s = ref_of(p, e);

	if (keys_cells(on, p->dictionary, p->texts, &s, cells))
		return OUTCOME_FAILED;
	for (size_t i = 0; i < on->count; i++)
		if (cells[i].kind == KEY_MISSING)
			return OUTCOME_NO;
	return OUTCOME_YES;
}

/* --- pending As --- */

static uint32_t hash_cells(const struct pair *p, const struct key_cell *cells)
{
	return key_cells_hash(p->texts, cells, on_count(p));
}

/* Returns the link (slot or chain) to the pending A with these cells; 0 in it: none. */
static uint32_t *find_pending(struct pair *p, const struct key_cell *cells, uint32_t hash)
{
	uint32_t *at = &p->pending.slots[hash & p->pending.mask];

	for (; *at; at = &p->pending.start[*at].chain)
		if (p->pending.start[*at].hash == hash &&
		    key_cells_same(cells_of(p, *at), cells, on_count(p)))
			break;
	return at;
}

static void take_out(struct pair *p, uint32_t *at)
{
	uint32_t number = *at;
	struct pending_start *w = &p->pending.start[number];

	*at = w->chain;
	if (w->older)
		p->pending.start[w->older].newer = w->newer;
	else
		p->pending.oldest = w->newer;
	if (w->newer)
		p->pending.start[w->newer].older = w->older;
	else
		p->pending.newest = w->older;
	w->chain = p->pending.free;
	p->pending.free = number;
	p->pending.used--;
}

static int grow_slots(struct pair *p)
{
	uint32_t size = 2 * (p->pending.mask + 1), *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return -1;
	free(p->pending.slots);
	p->pending.slots = slots;
	p->pending.mask = size - 1;
	for (uint32_t i = p->pending.oldest; i; i = p->pending.start[i].newer) {
		uint32_t *slot = &slots[p->pending.start[i].hash & p->pending.mask];

		p->pending.start[i].chain = *slot;
		*slot = i;
	}
	return 0;
}

/* Returns the number of an unused entry; 0: out of memory. */
static uint32_t unused_pending(struct pair *p)
{
	size_t size = on_count(p) + p->keys->begins, n;
	struct pending_start *pending;
	struct key_cell *cells;
	uint32_t number = p->pending.free;

	if (number) {
		p->pending.free = p->pending.start[number].chain;
		return number;
	}
	if (p->pending.used == PAIR_LIMIT) {
		uint32_t oldest = p->pending.oldest;

		take_out(p, find_pending(p, cells_of(p, oldest), p->pending.start[oldest].hash));
		p->forgotten++;
		p->pending.free = p->pending.start[oldest].chain;
		return oldest;
	}
	if (p->pending.used > p->pending.mask && grow_slots(p))
		return 0;
	if (p->pending.used + 1 >= p->pending.count) {
		n = p->pending.count ? 2 * (size_t)p->pending.count : 64;
		pending = realloc(p->pending.start, n * sizeof(*pending));
		if (pending)
			p->pending.start = pending;
		cells = reallocarray(p->pending.cells, n, size * sizeof(*cells));
		if (cells)
			p->pending.cells = cells;
		if (!pending || !cells)
			return 0;
		p->pending.count = (uint32_t)n;
	}
	return p->pending.used + 1;
}

int pair_event_ref(const struct pair *p, const struct event *e, struct event_ref *ref)
{
	uint32_t stack = p->stacks ? event_stack(p->stacks->calls->dictionary, e) : 0;

	*ref = ref_of(p, e);
	return stack ? call_stacks_recorded(p->stacks, STACK_ROOT, stack, &ref->stack) : 0;
}

/* Add a pending A. */
static int put_pending(struct pair *p, const struct event *e, const struct key_cell *on)
{
	uint32_t hash = hash_cells(p, on), *at = find_pending(p, on, hash), number = *at;
	struct pending_start *w;
	struct event_ref s;

	if (number) {
		p->replaced++;
		take_out(p, at);
	}
	number = unused_pending(p);
	if (!number)
		return -1;
	memcpy(cells_of(p, number), on, on_count(p) * sizeof(*on));
	if (pair_event_ref(p, e, &s) ||
	    keys_begin_cells(p->keys, p->dictionary, p->texts, &s, begun_cells(p, number)))
		return -1;
	w = &p->pending.start[number];
	*w = (struct pending_start){.time = e->time, .hash = hash, .older = p->pending.newest};
	w->chain = p->pending.slots[hash & p->pending.mask];
	p->pending.slots[hash & p->pending.mask] = number;
	if (p->pending.newest)
		p->pending.start[p->pending.newest].newer = number;
	else
		p->pending.oldest = number;
	p->pending.newest = number;
	p->pending.used++;
	return p->watch.put ? p->watch.put(p->watch.ctx, number, e) : 0;
}

static void forget_pending(struct pair *p)
{
	struct pending_starts *s = &p->pending;

	memset(s->slots, 0, (s->mask + (size_t)1) * sizeof(*s->slots));
	s->used = s->free = s->oldest = s->newest = 0;
}

int pair_end_stream(struct pair *p)
{
	for (uint32_t i = p->pending.oldest; p->watch.left && i; i = p->pending.start[i].newer)
		if (p->watch.left(p->watch.ctx, i))
			return -1;
	p->left += p->pending.used;
	forget_pending(p);
	return 0;
}

int pair_drain(struct pair *p, int (*take)(struct pair *p, const struct key_cell *on,
					   const struct key_cell *begun, uint64_t time))
{
	for (uint32_t i = p->pending.oldest; i; i = p->pending.start[i].newer)
		if (take(p, cells_of(p, i), begun_cells(p, i), p->pending.start[i].time))
			return -1;
	forget_pending(p);
	return 0;
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
		is = p->note_first(p->edges, on, PAIR_B, &end->open);
		p->ended += is == OUTCOME_NO;
		return is;
	}
	if (!*at) {
		p->ended++;
		return OUTCOME_NO;
	}
	end->time = e->time > p->pending.start[*at].time ? e->time - p->pending.start[*at].time : 0;
	/* an A of the same event may reuse this entry, so copy its cells first */
	memcpy(p->taken, begun_cells(p, *at), p->keys->begins * sizeof(*p->taken));
	end->entered = p->taken;
	if (p->watch.end && p->watch.end(p->watch.ctx, *at, e, end->time))
		return OUTCOME_FAILED;
	take_out(p, at);
	p->pairs++;
	return OUTCOME_YES;
}

/* Take an event that may be a W. */
static enum outcome note_waker(struct pair *p, const struct event *e)
{
	struct key_cell on[PAIR_ON_MOST];
	enum outcome is = p->keys->wakers ? is_side(p, &p->w, e) : OUTCOME_NO;
	struct event_ref s;
	uint32_t number;

	if (is == OUTCOME_YES)
		is = on_cells(p, &p->w.on, e, on);
	if (is != OUTCOME_YES)
		return is;
	number = *find_pending(p, on, hash_cells(p, on));
	if (!number || p->pending.start[number].woken)
		return OUTCOME_NO;
	p->pending.start[number].woken = true;
	return pair_event_ref(p, e, &s) || keys_waker_cells(p->keys, p->dictionary, p->texts, &s,
							    begun_cells(p, number))
		       ? OUTCOME_FAILED
		       : OUTCOME_NO;
}

enum outcome pair_feed(struct pair *p, const struct event *e, struct pair_end *end)
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
	if (ended == OUTCOME_FAILED || note_waker(p, e) == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	is = is_side(p, &p->a, e);
	if (is == OUTCOME_YES)
		is = on_cells(p, &p->a.on, e, on);
	if (is == OUTCOME_YES && p->edges &&
	    p->note_first(p->edges, on, PAIR_A, &entry) == OUTCOME_FAILED)
		return OUTCOME_FAILED;
	if (is == OUTCOME_FAILED || (is == OUTCOME_YES && put_pending(p, e, on)))
		return OUTCOME_FAILED;
	return ended;
}

void pair_report(const struct pair *p, bool verbose)
{
	const char *name = p->preset ? p->preset->name : p->text;
	char *lacks = !p->pairs && p->dictionary ? pair_lacks(p->dictionary, p) : NULL;
	char *hint = !p->pairs && p->dictionary ? pair_hint(p->dictionary, p) : NULL;

	/* beginnings and ends without the other are usual at the ends of a trace, and a thread that
	 * is woken twice runs once */
	verbose |= !p->preset;
	if (!p->pairs && lacks)
		remark(NULL, "no pair of %s: the trace has %s", name, lacks);
	else if (!p->pairs)
		remark(NULL, "no event ends a pair of %s%s%s", name, hint ? ": " : "",
		       hint ? hint : "");
	free(lacks);
	free(hint);
	if (verbose) {
		remark_count(
			p->replaced,
			"{beginning|beginnings} of pairs {was|were} repeated before {its|their} "
			"end");
		remark_count(pair_pending(p), "{beginning|beginnings} of pairs without an end");
		remark_count(p->ended, "{end|ends} of pairs without a beginning");
	}
	remark_count(p->forgotten,
		     "{beginning|beginnings} of pairs given up, as too many waited for their end");
}

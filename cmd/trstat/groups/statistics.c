#include "cmd/trstat/groups/statistics.h"

#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"

static int statistics_begin(struct statistics *s, const struct keys *k, struct columns *c,
			    struct dictionary *d, size_t more)
{
	*s = (struct statistics){.keys = k,
				 .columns = c,
				 .dictionary = d,
				 .more = more,
				 .first = UINT64_MAX,
				 .last = 0};
	groups_init(&s->groups, k->count + more, &c->wanted);
	s->groups.whole_stacks = k->whole_stacks;
	s->arguments = statistics_arguments(k, &c->wanted);
	s->recursion.of = statistics_recursion(s);
	s->caches.row_mask = statistics_row_mask(s);
	s->name_only = k->count == 1 && k->key[0].kind == BY_NAME;
	if (k->needs & NEEDS_STACK) {
		s->stacks = calloc(1, sizeof(*s->stacks));
		if (!s->stacks || call_stacks_init(s->stacks, &s->calls, call_stacks_clean_name))
			return -1;
		s->stacks->tree.keep = true;
	}
	statistics_begin_calls(s);
	s->cells = calloc(k->count + more + 1, sizeof(*s->cells));
	s->pending = calloc(k->begins + 1, sizeof(*s->pending));
	s->caches.by_key = calloc(GROUP_CACHE, sizeof(*s->caches.by_key));
	for (size_t i = 0; s->pending && i < k->begins; i++)
		s->pending[i] = (struct key_cell){.kind = KEY_PENDING, .value = i};
	if (s->recursion.of == RECURSION_OF_GROUP && !(k->needs & NEEDS_EVENT)) {
		s->caches.begun = calloc(GROUP_CACHE, sizeof(*s->caches.begun));
		s->caches.begun_cells =
			calloc(GROUP_CACHE * (k->count + 1), sizeof(*s->caches.begun_cells));
		if (!s->caches.begun || !s->caches.begun_cells)
			return -1;
	}
	return s->cells && s->pending && s->caches.by_key ? 0 : -1;
}

int statistics_init(struct statistics *s, const struct keys *k, struct columns *c,
		    struct dictionary *d)
{
	return statistics_begin(s, k, c, d, 0);
}

int statistics_init_summary(struct statistics *s, const struct keys *k, struct columns *c,
			    struct dictionary *d)
{
	return statistics_begin(s, k, c, d, SUMMARY_CELLS);
}

void statistics_name_stacks(struct statistics *s, bool named)
{
	if (s->stacks)
		s->stacks->nameless = !named;
}

void statistics_set_cell(struct statistics *s, size_t cell, struct key_cell value)
{
	statistics_forget_names(s);
	/* the groups of each interval are others */
	if (cell == CELL_INTERVAL)
		counted_free(&s->recursion.counted);
	s->cells[s->keys->count + cell] = value;
}

int statistics_pair(struct statistics *s, struct pair *p)
{
	s->pair = p;
	s->clocks.pairs = true;
	p->stacks = s->stacks;
	return pair_begin(p, s->keys, s->dictionary, &s->groups.texts);
}

struct pair_edges *statistics_pair_edges(const struct statistics *s)
{
	return pair_edges_new(&s->columns->wanted, s->pair->a.on.count, s->keys->count + s->more,
			      s->keys->begins);
}

bool statistics_nameless(const struct statistics *s)
{
	const struct keys *k = s->keys;
	bool events = s->pair && s->pair->preset && s->pair->preset->syscalls;
	bool asked = false;

	for (size_t i = 0; i < k->count; i++)
		asked |= (k->key[i].kind == BY_NAME && !events) || k->key[i].kind == BY_CALLER ||
			 k->key[i].kind == BY_MODULE || k->key[i].kind == BY_STACK;
	for (uint32_t i = 1; asked && !s->nameless && i < s->dictionary->locations.count; i++) {
		const struct location *p = dictionary_location(s->dictionary, i);

		if (p->space && !p->symbol && !p->name.size)
			return true;
	}
	return s->nameless;
}

void statistics_free(struct statistics *s)
{
	groups_free(&s->groups);
	idmap_free(&s->recursion.outermost);
	counted_free(&s->recursion.counted);
	statistics_free_samples(s);
	calls_free(&s->calls);
	if (s->stacks)
		call_stacks_free(s->stacks);
	free(s->stacks);
	free(s->cells);
	free(s->pending);
	free(s->where_cells);
	free(s->caches.by_key);
	free(s->caches.begun);
	free(s->caches.begun_cells);
	free(s->caches.by_location);
	free(s->caches.planned);
}

int statistics_begin_block(struct statistics *s, const struct block *b)
{
	if (s->caches.symbol_changes != s->dictionary->symbol_changes)
		statistics_forget_names(s);
	clocks_look(&s->clocks, b);
	s->ticks |= s->clocks.ticks;
	if (b->stacks.sampled)
		statistics_fetch_sums(s, b);
	return 0;
}

int statistics_until(struct statistics *s, const struct block *b, struct events *it, uint64_t end)
{
	if (statistics_begin_block(s, b))
		return -1;
	for (;;) {
		struct events here = *it;
		struct event e;

		if (!event_next(it, &e))
			return 0;
		if (e.time >= end && end != UINT64_MAX) {
			*it = here;
			return 0;
		}
		statistics_note_time(s, e.time);
		if (s->pair ? statistics_take_pair(s, &e) : statistics_take(s, &e))
			return -1;
	}
}

int statistics_show(struct statistics *s)
{
	if (statistics_add_sums(s))
		return -1;
	if (s->stacks) {
		/* groups may have been merged */
		statistics_forget_names(s);
		if (groups_stacks(&s->groups, s->stacks))
			return -1;
	}
	groups_spell_numbers(&s->groups);
	return s->columns->wanted.whole ? statistics_share(s) : 0;
}

int statistics_reset(struct statistics *s)
{
	statistics_forget_names(s);
	groups_clear(&s->groups);
	counted_free(&s->recursion.counted);
	s->first = UINT64_MAX;
	s->last = 0;
	return 0;
}

int statistics_block(struct statistics *s, const struct block *b)
{
	struct events it;
	struct event e;
	struct error error;
	enum outcome taken;

	if (b->kind != BLOCK_EVENTS)
		return s->pair ? 0 : calls_restore(&s->calls, b, &error);
	if (statistics_begin_block(s, b))
		return -1;
	if (!b->rows)
		return 0;
	s->first = b->base < s->first ? b->base : s->first;
	s->last = b->last > s->last ? b->last : s->last;
	events_begin(&it, b);
	while (s->pair && event_next(&it, &e))
		if (statistics_take_pair(s, &e))
			return -1;
	if (s->pair)
		return 0;
	taken = statistics_narrow(s, b, &it);
	if (taken != OUTCOME_NO)
		return taken == OUTCOME_FAILED ? -1 : 0;
	return statistics_take_rows(s, &it);
}

int statistics_close(struct statistics *s)
{
	const struct type *none = pool_at(&s->dictionary->types, 0);
	struct call call;

	if (statistics_add_sums(s) || (s->stacks && call_stacks_catch_up(s->stacks)))
		return -1;
	while (calls_finish(&s->calls, &call)) {
		/* with the key type, times are those of leaves */
		if (!s->keys->by_type && !call_is_unnamed(&call) &&
		    statistics_take_unfinished(s, &call, call.type ? call.type : none))
			return -1;
	}
	return s->calls.out_of_memory ? -1 : 0;
}

int statistics_finish(struct statistics *s)
{
	if (statistics_close(s))
		return -1;
	return (s->stacks && call_stacks_end(s->stacks)) || statistics_show(s) ? -1 : 0;
}

void statistics_forget_calls(struct statistics *s)
{
	struct calls_counts counts = s->calls.counts;

	calls_free(&s->calls);
	counted_free(&s->recursion.counted);
	statistics_begin_calls(s);
	s->calls.counts = counts;
	if (s->stacks)
		call_stacks_forget(s->stacks);
}

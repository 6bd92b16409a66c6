#include "common/stream/dictionary_private.h"
#include "common/util/bisect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct allocation {
	struct allocation *next;
	max_align_t data[];
};

void *dictionary_keep(struct dictionary *d, size_t n)
{
	struct allocation *a = calloc(1, sizeof *a + n);

	if (!a)
		return NULL;
	a->next = d->allocations;
	d->allocations = a;
	return a->data;
}

/* Numbers start at 1: element 0 of each pool and key table is unused. */
int dictionary_init(struct dictionary *d)
{
	struct pool *pools[] = {&d->clocks,	 &d->sources, &d->lanes,     &d->types,
				&d->definitions, &d->spaces,  &d->locations, &d->symbols};
	static const size_t elements[] = {
		sizeof(struct clock),	 sizeof(struct source),		sizeof(struct lane),
		sizeof(struct type),	 sizeof(struct definition),	sizeof(struct space),
		sizeof(struct location), sizeof(struct location_symbol)};
	struct text_ref empty;
	struct source *source;
	struct lane *lane;
	struct clock *clock;
	struct type *type;
	struct location *location;

	*d = (struct dictionary){0};
	if (intern(&d->strings, "", 0) == INTERN_NONE)
		return -1;
	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
		pools[i]->element = elements[i];
		if (!pool_add(pools[i]))
			goto fail;
	}
	for (int k = 1; k < ENTRY_KINDS; k++)
		if (intern(&d->keys[k], "", 0) == INTERN_NONE)
			goto fail;
	if (intern(&d->threads, "", 0) == INTERN_NONE)
		goto fail;
	d->scratch = calloc(1, sizeof *d->scratch);
	d->taken = calloc(1, sizeof *d->taken);
	if (!d->scratch || !d->taken)
		goto fail;
	empty = dictionary_string(d, 0);
	clock = pool_at(&d->clocks, 0);
	clock->name = empty;
	source = pool_at(&d->sources, 0);
	source->format = source->name = empty;
	lane = pool_at(&d->lanes, 0);
	*lane = (struct lane){.source = source, .clock = clock, .buffer = empty, .comm = empty};
	type = pool_at(&d->types, 0);
	type->name = type->group = type->declaration = empty;
	type->weight = 1;
	location = pool_at(&d->locations, 0);
	location->name = empty;
	return 0;
fail:
	dictionary_free(d);
	return -1;
}

void dictionary_free(struct dictionary *d)
{
	struct allocation *a, *next;

	for (uint32_t i = 1; i < d->spaces.count; i++)
		free(((struct space *)pool_at(&d->spaces, i))->maps);
	pool_free(&d->clocks);
	pool_free(&d->sources);
	pool_free(&d->lanes);
	pool_free(&d->types);
	pool_free(&d->definitions);
	pool_free(&d->spaces);
	pool_free(&d->locations);
	pool_free(&d->symbols);
	for (int k = 0; k < ENTRY_KINDS; k++) {
		intern_free(&d->keys[k]);
		idmap_free(&d->ids[k]);
	}
	intern_free(&d->strings);
	intern_free(&d->threads);
	stack_table_free(&d->stacks);
	for (size_t i = 0; i < d->nfacts; i++)
		free(d->facts[i].outside);
	free(d->facts);
	free(d->started);
	for (a = d->allocations; a; a = next) {
		next = a->next;
		free(a);
	}
	if (d->scratch)
		buffer_free(d->scratch);
	free(d->scratch);
	if (d->taken)
		buffer_free(d->taken);
	free(d->taken);
	*d = (struct dictionary){0};
}

void dictionary_segment(struct dictionary *d, bool new_stream)
{
	for (int k = 0; k < ENTRY_KINDS; k++)
		idmap_clear(&d->ids[k]);
	d->segment++;
	if (new_stream)
		d->stream++;
}

void dictionary_forget_threads(struct dictionary *d)
{
	for (uint32_t i = 1; i < d->lanes.count; i++) {
		const struct lane *l = dictionary_lane(d, i);
		const uint32_t stacks[] = {l->thread, l->cpu_thread};

		for (int j = 0; j < 2; j++) {
			uint32_t stack = stacks[j];

			/* lanes without a source are of any stream */
			if (l->source->number && l->source->stream != d->stream)
				continue;
			if (stack < d->nstarted)
				d->started[stack] = 0;
			if (stack < d->nfacts) {
				free(d->facts[stack].outside);
				d->facts[stack] = (struct thread_facts){0};
			}
		}
	}
}

uint32_t dictionary_thread(const struct dictionary *d, uint32_t thread, uint32_t *words)
{
	const struct source *source;

	memcpy(words, intern_data(&d->threads, thread), THREAD_WORDS * sizeof(*words));
	source = pool_at(&d->sources, words[0]);
	words[0] = source->id;
	return source->stream;
}

struct text_ref dictionary_text(struct dictionary *d, const void *data, size_t n)
{
	uint32_t number = intern(&d->strings, data, n);

	return dictionary_string(d, number == INTERN_NONE ? 0 : number);
}

struct text_ref dictionary_location_text(const struct dictionary *d, uint32_t location,
					 char address[static LOCATION_TEXT])
{
	const struct location *p = dictionary_location(d, location);
	int n;

	if (p && p->symbol && p->symbol->name.size)
		return p->symbol->name;
	if (p && p->name.size)
		return p->name;
	n = snprintf(address, LOCATION_TEXT, "<%" PRIx64 ">", p ? p->address : 0);
	return (struct text_ref){.text = address, .size = (uint32_t)n};
}

struct text_ref dictionary_location_name(struct dictionary *d, uint32_t location)
{
	char address[LOCATION_TEXT];
	struct text_ref name = dictionary_location_text(d, location, address);

	return name.text == address ? dictionary_text(d, address, name.size) : name;
}

bool dictionary_outside(const struct dictionary *d, uint32_t thread, uint64_t time)
{
	const struct thread_facts *f = dictionary_facts(d, thread);
	size_t low = BISECT(f ? f->noutside : 0, i, f->outside[i].since <= time);

	return low && f->outside[low - 1].last >= time;
}

static bool same_symbol(const struct location_symbol *a, const struct location_symbol *b)
{
	return a->name.number == b->name.number && a->module.number == b->module.number &&
	       a->file.number == b->file.number && a->start == b->start && a->size == b->size &&
	       a->line == b->line && a->flags == b->flags;
}

int dictionary_read_symbol(struct dictionary_entry *en)
{
	size_t head = entry_layouts[ENTRY_SYMBOL].size;
	struct dictionary *d = en->d;
	uint32_t location = idmap_get(&d->ids[ENTRY_LOCATION], en->id);
	const char *text = (const char *)en->data + head;
	struct location_symbol s, *kept;
	struct symbol_entry e;
	struct location *p;

	if (!location) {
		en->wrong = "a symbol of a location that is not declared";
		return -1;
	}
	entry_get(&entry_layouts[ENTRY_SYMBOL], en->data, &e);
	if ((uint64_t)e.name_size + e.module_size + e.file_size > en->size - head) {
		en->wrong = "longer texts than bytes";
		return -1;
	}
	s = (struct location_symbol){
		.start = e.start,
		.size = e.size,
		.line = e.line,
		.flags = e.flags,
		.name = dictionary_text(d, text, e.name_size),
		.module = dictionary_text(d, text + e.name_size, e.module_size),
		.file = dictionary_text(d, text + e.name_size + e.module_size, e.file_size)};
	p = pool_at(&d->locations, location);
	if (p->symbol && same_symbol(p->symbol, &s))
		return 0;
	if (p->symbol) {
		d->symbol_changes++;
		d->redeclared = true;
	}
	kept = pool_add(&d->symbols);
	if (!kept)
		return -1;
	*kept = s;
	p->symbol = kept;
	return 0;
}

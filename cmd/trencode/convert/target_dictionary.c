/*
 * target_dictionary.c - the dictionary that a native encoder gets from a converted trace
 */
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"

enum { META_MOST = 60 * 1024 };

static struct text_ref text_of(struct target_dictionary *d, const char *text)
{
	return dictionary_text(&d->dictionary, text, strlen(text));
}

int target_begin(struct target_dictionary *d, const struct encoder *native, const char *format,
		 const struct encoding *en, struct error *e)
{
	struct dictionary *dictionary = &d->dictionary;

	*d = (struct target_dictionary){.encoding = *en};
	if (dictionary_init(dictionary))
		return error_no_memory(e);
	d->encoding.encoder = native;
	d->encoding.dictionary = dictionary;
	d->encoding.state = NULL;
	d->source = pool_add(&dictionary->sources);
	d->clock = pool_add(&dictionary->clocks);
	if (!d->source || !d->clock)
		return error_no_memory(e);
	*d->source = (struct source){.number = dictionary->sources.count - 1,
				     .format = text_of(d, format),
				     .name = text_of(d, "the converted trace"),
				     .word_size = 8,
				     .stream = 1};
	*d->clock = (struct clock){.number = dictionary->clocks.count - 1, .name = text_of(d, "")};
	return native->begin(&d->encoding, e);
}

void target_free(struct target_dictionary *d)
{
	if (!d->encoding.encoder)
		return;
	d->encoding.encoder->free(&d->encoding);
	for (size_t i = 0; i < d->nkept; i++)
		free(d->kept[i]);
	free(d->kept);
	dictionary_free(&d->dictionary);
	d->encoding.encoder = NULL;
}

struct lane *target_lane(struct target_dictionary *d)
{
	struct lane *l = pool_add(&d->dictionary.lanes);

	if (l)
		*l = (struct lane){.number = d->dictionary.lanes.count - 1,
				   .source = d->source,
				   .clock = d->clock,
				   .buffer = text_of(d, ""),
				   .comm = text_of(d, "")};
	return l;
}

struct type *target_type(struct target_dictionary *d, const char *name, const char *group)
{
	struct type *t = pool_add(&d->dictionary.types);

	if (t)
		*t = (struct type){.number = d->dictionary.types.count - 1,
				   .name = text_of(d, name),
				   .group = text_of(d, group),
				   .declaration = text_of(d, ""),
				   .word_size = 8,
				   .source = d->source};
	return t;
}

struct type *target_gap(struct target_dictionary *d, const char *group)
{
	struct type *t = target_type(d, "gap", group);

	if (!t)
		return NULL;
	t->kind = KIND_GAP;
	t->flags = TYPE_TAIL;
	t->fixed_size = 24;
	return t;
}

/* Allocate memory that lives as long as the dictionary. */
static void *keep(struct target_dictionary *d, size_t n, size_t element)
{
	void *p = calloc(n + 1, element), **all;

	all = array_grow(d->kept, &d->kept_capacity, d->nkept, sizeof *all);
	if (all)
		d->kept = all;
	if (!p || !all) {
		free(p);
		return NULL;
	}
	return all[d->nkept++] = p;
}

struct field *target_fields(struct target_dictionary *d, uint32_t n)
{
	struct field *f = keep(d, n, sizeof *f);

	for (uint32_t i = 0; f && i < n; i++)
		f[i].name = f[i].type_name = text_of(d, "");
	return f;
}

struct member *target_members(struct target_dictionary *d, uint32_t n)
{
	struct member *m = keep(d, n, sizeof *m);

	for (uint32_t i = 0; m && i < n; i++)
		m[i].name = text_of(d, "");
	return m;
}

struct text_ref target_string(struct target_dictionary *d, const void *text, size_t n)
{
	return dictionary_text(&d->dictionary, text, n);
}

struct location *target_location(struct target_dictionary *d)
{
	struct location *p = pool_add(&d->dictionary.locations);

	if (p)
		*p = (struct location){.number = d->dictionary.locations.count - 1,
				       .name = text_of(d, "")};
	return p;
}

struct definition *target_definition(struct target_dictionary *d)
{
	struct definition *x = pool_add(&d->dictionary.definitions);

	if (!x)
		return NULL;
	*x = (struct definition){.number = d->dictionary.definitions.count - 1};
	x->native = x->number - 1;
	if (idmap_set(&d->dictionary.ids[ENTRY_DEFINITION], x->number, x->number))
		return NULL;
	return x;
}

int target_meta(struct target_dictionary *d, const char *name, const void *data, size_t n,
		uint64_t offset, struct error *e)
{
	const uint8_t *p = data;

	do {
		size_t part = n < META_MOST ? n : META_MOST;
		struct meta m = {.source = d->source->number,
				 .offset = offset,
				 .total = offset + n,
				 .name = name,
				 .name_size = (uint32_t)strlen(name),
				 .data = p,
				 .size = part};

		if (d->encoding.encoder->meta(&d->encoding, &m, e))
			return -1;
		p += part;
		n -= part;
		offset += part;
	} while (n);
	return 0;
}

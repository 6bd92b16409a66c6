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

void target_free(struct target_dictionary *d)
{
	if (!d->encoding.encoder)
		return;
	d->encoding.encoder->free(&d->encoding);
	for (size_t i = 0; i < d->nkept; i++)
		free(d->kept[i]);
	free(d->kept);
	intern_free(&d->lane_keys);
	dictionary_free(&d->dictionary);
	d->encoding.encoder = NULL;
}

static struct lane *target_lane(struct target_dictionary *d)
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

const struct lane *convert_thread_lane(struct conversion *a, struct convert_thread *t)
{
	struct lane *l = t->lane ? NULL : target_lane(&a->d);

	if (!l)
		return t->lane;
	l->flags = LANE_HAS_TID | LANE_HAS_PID;
	l->tid = t->tid;
	l->pid = t->pid;
	l->thread = t->number;
	return t->lane = l;
}

/* Name the buffer of an epoch: a later epoch has its own buffers. */
static int name_buffer(struct target_dictionary *d, struct lane *l, struct text_ref name,
		       uint32_t epoch)
{
	struct buffer b = {0};
	int bad;

	l->buffer = name;
	if (!epoch)
		return 0;
	bad = (name.size && buffer_append(&b, name.text, name.size)) || clock_epoch_name(epoch, &b);
	if (!bad)
		l->buffer = target_string(d, b.data, b.size);
	buffer_free(&b);
	return bad ? -1 : 0;
}

const struct lane *convert_buffer_lane(struct conversion *a, struct text_ref buffer, uint32_t cpu,
				       uint64_t time)
{
	struct target_dictionary *d = &a->d;
	uint32_t key[] = {buffer.number, cpu, clock_epoch_at(&a->clock_epoch, time)}, number;
	struct lane *l;

	number = intern(&d->lane_keys, key, sizeof key);
	if (number == INTERN_NONE)
		return NULL;
	if (number + 1 < d->dictionary.lanes.count)
		return dictionary_lane(&d->dictionary, number + 1);
	l = target_lane(d);
	if (!l || name_buffer(d, l, buffer, key[2]))
		return NULL;
	l->flags = LANE_HAS_CPU;
	l->cpu = (int32_t)cpu;
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

/* Declare the type of gaps, with the fixed part of a gap, and a message. */
static struct type *target_gap(struct target_dictionary *d)
{
	struct type *t = target_type(d, "gap", "");

	if (!t)
		return NULL;
	t->kind = KIND_GAP;
	t->flags = TYPE_TAIL;
	t->fixed_size = 24;
	return t;
}

int convert_put_gap(struct conversion *a, const struct convert_row *r, const struct lane *lane,
		    struct error *e)
{
	struct event ev = *r->ev;

	if (!lane)
		return error_no_memory(e);
	if (ev.type->fixed_size < 24)
		return 0;
	ev.time = r->time;
	ev.type = a->d.gap;
	ev.lane = lane;
	return target_event(&a->d, &ev, e);
}

int target_begin(struct target_dictionary *d, const struct encoder *native, const char *format,
		 const struct encoding *en, struct error *e)
{
	struct dictionary *dictionary = &d->dictionary;

	*d = (struct target_dictionary){.encoding = *en};
	d->encoding.calls = NULL;
	d->encoding.encoder = native;
	d->encoding.dictionary = dictionary;
	d->encoding.state = NULL;
	if (dictionary_init(dictionary))
		return error_no_memory(e);
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
	d->gap = target_gap(d);
	return d->gap ? native->begin(&d->encoding, e) : error_no_memory(e);
}

/* Allocate memory that lives as long as the dictionary. */
static void *keep(struct target_dictionary *d, size_t n, size_t element)
{
	void *p = calloc(n + 1, element), **all;
	if (!p || ARRAY_GROW(d->kept, d->kept_capacity, d->nkept)) {
		free(p);
		return NULL;
	}
	all = d->kept;
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
	const uint8_t *p = data; /* NULL: it is empty */

	for (;;) {
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
		n -= part;
		if (!n)
			return 0;
		p += part;
		offset += part;
	}
}

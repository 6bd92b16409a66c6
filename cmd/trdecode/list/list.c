#include "cmd/trdecode/list/list_private.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/util/io.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"

enum { EXAMPLE_BYTES = 40, EXAMPLE_ELEMENTS = 4, ARGUMENTS_MOST = 16 };

static const char *field_kind_word(const struct field *f)
{
	static const char *const words[] = {
		[FIELD_UINT] = "unsigned", [FIELD_INT] = "integer",	[FIELD_HEX] = "hexadecimal",
		[FIELD_CHAR] = "text",	   [FIELD_FLOAT] = "float",	[FIELD_BYTES] = "bytes",
		[FIELD_ENUM] = "enum",	   [FIELD_BITMASK] = "bitmask", [FIELD_BITMAP] = "bitmap",
		[FIELD_STRING] = "text",
	};

	return f->kind < sizeof words / sizeof *words ? words[f->kind] : "bytes";
}

static const char *value_word(const struct value *v)
{
	switch (v->tag) {
	case VALUE_FALSE:
	case VALUE_TRUE: return "truth value";
	case VALUE_FLOAT:
	case VALUE_DOUBLE: return "float";
	case VALUE_NEGATIVE:
	case VALUE_UINT: return "integer";
	case VALUE_NUMBER: return v->format == 'f' ? "float" : "integer";
	case VALUE_STRING:
	case VALUE_WSTRING: return "text";
	case VALUE_BLOB: return "bytes";
	case VALUE_ENUM: return "enum";
	case VALUE_BITMASK: return "bitmask";
	case VALUE_ARRAY: return "array";
	case VALUE_STRUCT:
	case VALUE_OPAQUE: return "struct";
	case VALUE_POINTER: return "pointer";
	}
	return "value";
}

static struct value_text example_text(struct list *l, const struct type *t)
{
	return (struct value_text){.out = &l->texts,
				   .plain = {&l->reader.dictionary, &l->scratch, argument_blobs(t)},
				   .bytes = EXAMPLE_BYTES,
				   .elements = EXAMPLE_ELEMENTS,
				   .depth = 1,
				   .end = SIZE_MAX};
}

static struct listed_field *add_field(struct list *l, struct listed_type *t)
{
	struct listed_field *f;

	if (ARRAY_GROW(t->fields, t->fields_capacity, t->nfields))
		return NULL;
	f = t->fields;
	f += t->nfields++;
	*f = (struct listed_field){.name = l->texts.size};
	return f;
}

/* Add a declared type. Returns its index, or -1 when out of memory. */
static int64_t add_type(struct list *l, const struct type *type)
{
	const uint32_t key[] = {type->name.number, type->group.number, type->kind};
	uint32_t number = intern(&l->keys, key, sizeof key);
	struct listed_type *t;

	if (number == INTERN_NONE)
		return -1;
	if (number < l->ntypes)
		return number;
	if (ARRAY_GROW(l->types, l->types_capacity, l->ntypes))
		return -1;
	t = l->types;
	t += l->ntypes;
	*t = (struct listed_type){.type = type};
	for (uint32_t i = 0; i < type->nfields; i++) {
		const struct field *f = &type->fields[i];
		struct listed_field *listed = add_field(l, t);

		if (!listed)
			return -1;
		listed->name_size = f->name.size;
		listed->kind = field_kind_word(f);
		if (buffer_append(&l->texts, f->name.text, f->name.size))
			return -1;
	}
	t->missing = type->nfields;
	return (int64_t)l->ntypes++;
}

static int add_types(struct list *l)
{
	const struct dictionary *d = &l->reader.dictionary;

	for (; l->declared < d->types.count; l->declared++) {
		uint32_t *listed;
		int64_t index;

		if (ARRAY_REACH(l->listed, l->nlisted, l->declared))
			return -1;
		listed = l->listed;
		index = add_type(l, dictionary_type(d, l->declared));
		if (index < 0)
			return -1;
		listed[l->declared] = (uint32_t)index;
	}
	return 0;
}

/* Complete the examples of the fields that the events before did not have. */
static int add_examples(struct list *l, struct listed_type *t, const struct event *ev)
{
	struct value_text text = example_text(l, ev->type);

	for (uint32_t i = 0; i < t->type->nfields && i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];
		struct field_value v;

		field_get(ev, f, 0, &v);
		if (t->fields[i].example_size || v.form == FORM_NONE)
			continue;
		t->fields[i].example = l->texts.size;
		if (value_text_field(&text, ev, f))
			return -1;
		t->fields[i].example_size = l->texts.size - t->fields[i].example;
		t->missing -= t->fields[i].example_size > 0;
	}
	return 0;
}

/* Add the arguments or the return value of the first event that has any. */
static int add_arguments(struct list *l, struct listed_type *t, const struct event *ev)
{
	const struct location *location = dictionary_location(&l->reader.dictionary, ev->location);
	struct value_text text = example_text(l, ev->type);
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, ev->tail, ev->tail_size);
	for (int n = 0; n < ARGUMENTS_MOST && values_what(&v, &what, &index);) {
		struct values at = v;
		struct listed_field *f;
		struct value value;

		if (what != DETAIL_ARGUMENT && what != DETAIL_RETURN) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if (!values_value(&at, &value))
			break;
		f = add_field(l, t);
		if (!f ||
		    (what == DETAIL_RETURN ? buffer_puts(&l->texts, "ret")
					   : argument_put_name(&l->texts, location, index, true)))
			return -1;
		f->name_size = l->texts.size - f->name;
		f->kind = value_word(&value);
		f->example = l->texts.size;
		if (value_text_value(&text, &v) && !v.bad)
			return -1;
		f->example_size = l->texts.size - f->example;
		t->arguments_of = dictionary_location_name(&l->reader.dictionary, ev->location);
		n++;
	}
	return 0;
}

static int add_event(struct list *l, const struct event *ev)
{
	struct listed_type *t;

	if (ev->type->kind == KIND_DROP)
		return 0;
	t = &l->types[l->listed[ev->type->number]];
	t->events++;
	l->events++;
	if (l->events == 1 || ev->time < l->first)
		l->first = ev->time;
	if (l->events == 1 || ev->time > l->last)
		l->last = ev->time;
	l->ticks |= ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS;
	if (t->missing && add_examples(l, t, ev))
		return -1;
	if (ev->type->flags & TYPE_VALUES && ev->tail_size && !t->arguments_of.size)
		return add_arguments(l, t, ev);
	return 0;
}

static int add_block(struct list *l, const struct block *b)
{
	struct events it;
	struct event ev;

	if (b->kind == BLOCK_DICT)
		return add_types(l);
	if (b->kind != BLOCK_EVENTS)
		return 0;
	events_begin(&it, b);
	while (event_next(&it, &ev))
		if (add_event(l, &ev))
			return -1;
	return 0;
}

/* Read to the end in any case: the writer of the stream must not wait. */
static void *list_read(void *ctx)
{
	struct list *l = ctx;
	char rest[4096];
	struct block b;
	int r = reader_open_fd(&l->reader, l->pipe[0], "the decoded stream", NULL, 0);

	l->reader.reads_values = READS_ALL;
	l->declared = 1;
	l->failed = r < 0;
	while (!l->failed && (r = reader_next(&l->reader, &b)))
		if (r > 0 ? add_block(l, &b) : l->reader.fatal)
			l->failed = true;
	if (l->failed)
		while (read(l->pipe[0], rest, sizeof rest) > 0)
			;
	return NULL;
}

struct list *list_open(struct error *e)
{
	struct list *l = calloc(1, sizeof(*l));

	if (!l) {
		error_no_memory(e);
		return NULL;
	}
	if (io_pipe(l->pipe)) {
		error_errno(e, NULL, NO_OFFSET, "cannot open a pipe");
		free(l);
		return NULL;
	}
	if (pthread_create(&l->thread, NULL, list_read, l)) {
		error_set(e, NULL, NO_OFFSET, "cannot start a thread");
		close(l->pipe[0]);
		close(l->pipe[1]);
		free(l);
		return NULL;
	}
	return l;
}

int list_fd(const struct list *l)
{
	return l->pipe[1];
}

int list_wait(struct list *l, struct error *e)
{
	pthread_join(l->thread, NULL);
	return l->failed ? error_no_memory(e) : 0;
}

void list_free(struct list *l)
{
	for (size_t i = 0; i < l->ntypes; i++)
		free(l->types[i].fields);
	free(l->types);
	free(l->listed);
	intern_free(&l->keys);
	buffer_free(&l->texts);
	buffer_free(&l->scratch);
	reader_close(&l->reader);
	free(l);
}

/*
 * list.c - the list as text and as JSON
 */
#include "cmd/trdecode/list.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/stream/reader.h"
#include "common/util/output.h"
#include "common/value/argument.h"
#include "common/value/json.h"
#include "common/value/value_text.h"

/* --- what the reading thread collects and list_print prints --- */

/* A field of a type, or an argument of its first event with arguments. */
struct listed_field {
	size_t name, name_size; /* in texts */
	const char *kind;
	size_t example, example_size; /* in texts; 0 bytes: none was seen */
};

/* Types of one name, group and kind: sources and segments may declare them again. */
struct listed_type {
	const struct type *type; /* the first one */
	uint64_t events;
	struct listed_field *fields; /* those of type, then arguments */
	size_t nfields, fields_capacity;
	size_t missing;		      /* fields without an example */
	struct text_ref arguments_of; /* function whose arguments are the example; "" none */
};

struct type_list {
	pthread_t thread;
	int pipe[2];
	struct reader reader;
	bool failed;			    /* out of memory */
	bool ticks;			    /* some event has a clock without a unit */
	uint64_t events, gaps, first, last; /* times of the events */
	struct intern keys; /* of types: name, group, kind; their numbers are indexes in types */
	struct listed_type *types;
	size_t ntypes, types_capacity;
	uint32_t *listed; /* by number of a type: index in types */
	size_t nlisted;
	uint32_t declared; /* the first type that is not in listed */
	struct buffer texts, scratch;
};

struct list_widths {
	int events, group;
	const struct listed_type *common; /* has the fields that are printed once; NULL: none */
};

static int by_events(const void *a, const void *b)
{
	const struct listed_type *x = *(const struct listed_type *const *)a;
	const struct listed_type *y = *(const struct listed_type *const *)b;

	if (x->events != y->events)
		return x->events < y->events ? 1 : -1;
	return strcmp(x->type->name.text, y->type->name.text);
}

/* Sort the types, most events first. Returns an array that the caller frees, or NULL when out of
 * memory or when there are none. */
static const struct listed_type **sorted_types(const struct type_list *l)
{
	const struct listed_type **types = malloc(l->ntypes * sizeof(*types));

	for (size_t i = 0; types && i < l->ntypes; i++)
		types[i] = &l->types[i];
	if (types)
		qsort(types, l->ntypes, sizeof(*types), by_events);
	return types;
}

/* Get the events per second over the time of all events; negative where that has no meaning. */
static double rate(const struct type_list *l, uint64_t events)
{
	return l->ticks || l->last <= l->first
		       ? -1
		       : (double)events * 1e9 / (double)(l->last - l->first);
}

static void list_put_field(const struct type_list *l, struct text *t, const struct listed_field *f,
			   int indent, int width)
{
	const char *texts = (const char *)l->texts.data;

	text_pad(t, ' ', (size_t)indent);
	text_masked(t, texts + f->name, f->name_size);
	if (f->name_size < (size_t)width)
		text_pad(t, ' ', (size_t)width - f->name_size);
	text_printf(t, f->example_size ? "  %-11s  " : "  %s", f->kind);
	if (f->example_size)
		text_masked(t, texts + f->example, f->example_size);
	text_char(t, '\n');
}

static bool list_is_common(const struct type_list *l, const struct listed_field *f)
{
	return f->name_size > 7 && !memcmp(l->texts.data + f->name, "common_", 7);
}

/* Test whether a field is among those of all types of the kernel, which are printed once. */
static bool is_printed_once(const struct type_list *l, const struct list_widths *w,
			    const struct listed_field *f)
{
	const char *texts = (const char *)l->texts.data;

	for (size_t i = 0; w->common && list_is_common(l, f) && i < w->common->type->nfields; i++) {
		const struct listed_field *c = &w->common->fields[i];

		if (c->name_size == f->name_size && !strcmp(c->kind, f->kind) &&
		    !memcmp(texts + c->name, texts + f->name, f->name_size))
			return true;
	}
	return false;
}

static int list_field_width(const struct listed_type *type)
{
	size_t most = 0;

	for (size_t i = 0; i < type->nfields; i++)
		if (type->fields[i].name_size > most)
			most = type->fields[i].name_size;
	return most < 32 ? (int)most : 32;
}

static void put_padded(struct text *t, struct text_ref text, size_t width)
{
	text_masked(t, text.text, text.size);
	text_pad(t, ' ', text.size < width ? width - text.size : 0);
}

/* Print the names of the fields of a type without events. */
static void list_put_names(const struct type_list *l, struct text *t,
			   const struct listed_type *type, const struct list_widths *w)
{
	const char *before = ": ";

	for (size_t i = 0; i < type->nfields; i++) {
		if (is_printed_once(l, w, &type->fields[i]))
			continue;
		text_puts(t, before);
		before = ", ";
		text_masked(t, (const char *)l->texts.data + type->fields[i].name,
			    type->fields[i].name_size);
	}
}

static void list_put_type(const struct type_list *l, struct text *t, const struct listed_type *type,
			  const struct list_widths *w)
{
	int field = list_field_width(type), indent = w->events + 23 + w->group;
	double r = rate(l, type->events);

	text_printf(t, "%*" PRIu64, w->events, type->events);
	if (r < 0 || !type->events)
		text_printf(t, "%12s", "");
	else
		text_printf(t, r < 10 ? "%10.2f/s" : "%10.0f/s", r);
	text_printf(t, "  %-7s  ", type_kind_name(type->type->kind));
	put_padded(t, type->type->group, (size_t)w->group);
	text_puts(t, "  ");
	text_masked(t, type->type->name.text, type->type->name.size);
	if (!type->events)
		list_put_names(l, t, type, w);
	text_char(t, '\n');
	for (size_t i = 0; type->events && i < type->nfields; i++) {
		if (i == type->type->nfields) {
			text_pad(t, ' ', (size_t)indent);
			text_puts(t, "values, such as those of ");
			text_masked(t, type->arguments_of.text, type->arguments_of.size);
			text_puts(t, ":\n");
		}
		if (!is_printed_once(l, w, &type->fields[i]))
			list_put_field(l, t, &type->fields[i], indent, field);
	}
}

/* Print the fields that all types of the kernel have, with examples of the first type. */
static void put_common(const struct type_list *l, struct text *t, const struct list_widths *w)
{
	int indent = w->events + 23 + w->group;

	if (!w->common)
		return;
	text_pad(t, ' ', (size_t)indent - 2);
	text_puts(t, "in each type of the kernel:\n");
	for (size_t i = 0; i < w->common->type->nfields; i++)
		if (list_is_common(l, &w->common->fields[i]))
			list_put_field(l, t, &w->common->fields[i], indent,
				       list_field_width(w->common));
}

/* Find the type whose common fields are printed once: the first with events, if others have some.
 */
static const struct listed_type *common_type(const struct type_list *l,
					     const struct listed_type **types, bool all)
{
	const struct listed_type *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->ntypes; i++) {
		const struct listed_type *type = types[i];

		if ((!all && !type->events) || !type->type->nfields ||
		    !list_is_common(l, &type->fields[0]))
			continue;
		n++;
		if (!first && type->events)
			first = type;
	}
	return n > 1 ? first : NULL;
}

static struct list_widths list_widths(const struct type_list *l, bool all)
{
	struct list_widths w = {.events = snprintf(NULL, 0, "%" PRIu64, l->events), .group = 5};

	w.events = w.events > 6 ? w.events : 6;
	for (size_t i = 0; i < l->ntypes; i++)
		if ((all || l->types[i].events) && l->types[i].type->group.size > (size_t)w.group)
			w.group = (int)(l->types[i].type->group.size < 32
						? l->types[i].type->group.size
						: 32);
	return w;
}

static void list_print_text(const struct type_list *l, struct text *t,
			    const struct listed_type **types, bool all)
{
	struct list_widths w = list_widths(l, all);
	size_t left_out = 0;

	text_printf(t, "%*s%12s  %-7s  %-*s  %s\n", w.events, "events", l->ticks ? "" : "rate",
		    "kind", w.group, "group", "type, with its fields and an example of each");
	w.common = common_type(l, types, all);
	put_common(l, t, &w);
	for (size_t i = 0; i < l->ntypes; i++)
		if (all || types[i]->events)
			list_put_type(l, t, types[i], &w);
		else
			left_out++;
	if (left_out)
		text_printf(t, "... and %zu type%s without events (--all)\n", left_out,
			    left_out == 1 ? "" : "s");
}

static void json_field(const struct type_list *l, struct text *t, const struct listed_field *f)
{
	const char *texts = (const char *)l->texts.data;

	text_puts(t, "{\"name\": ");
	json_string(t, texts + f->name, f->name_size);
	text_printf(t, ", \"kind\": \"%s\"", f->kind);
	if (f->example_size) {
		text_puts(t, ", \"example\": ");
		json_string(t, texts + f->example, f->example_size);
	}
	text_char(t, '}');
}

static void json_fields(const struct type_list *l, struct text *t, const char *key,
			const struct listed_field *f, size_t n)
{
	text_printf(t, ", \"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		text_puts(t, i ? ",\n      " : "\n      ");
		json_field(l, t, &f[i]);
	}
	text_char(t, ']');
}

static void print_json(const struct type_list *l, struct text *t, const struct listed_type **types)
{
	text_puts(t, "[");
	for (size_t i = 0; i < l->ntypes; i++) {
		const struct listed_type *type = types[i];
		double r = rate(l, type->events);

		text_puts(t, i ? ",\n  {\"type\": " : "\n  {\"type\": ");
		json_string(t, type->type->name.text, type->type->name.size);
		text_puts(t, ", \"group\": ");
		json_string(t, type->type->group.text, type->type->group.size);
		text_printf(t, ", \"kind\": \"%s\", \"events\": %" PRIu64,
			    type_kind_name(type->type->kind), type->events);
		if (r >= 0)
			text_printf(t, ", \"rate\": %.3f", r);
		json_fields(l, t, "fields", type->fields, type->type->nfields);
		if (type->nfields > type->type->nfields) {
			text_puts(t, ", \"values_of\": ");
			json_string(t, type->arguments_of.text, type->arguments_of.size);
			json_fields(l, t, "values", type->fields + type->type->nfields,
				    type->nfields - type->type->nfields);
		}
		text_char(t, '}');
	}
	text_puts(t, "\n]\n");
}

int list_print(const struct type_list *l, struct text *t, enum list_style style)
{
	const struct listed_type **types = sorted_types(l);

	if (!types && l->ntypes)
		return -1;
	if (style == LIST_JSON)
		print_json(l, t, types);
	else
		list_print_text(l, t, types, style == LIST_ALL);
	free(types);
	return 0;
}

/* --- list --- */

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

static struct value_text example_text(struct type_list *l, const struct type *t)
{
	return (struct value_text){.out = &l->texts,
				   .plain = {&l->reader.dictionary, &l->scratch, argument_blobs(t)},
				   .bytes = EXAMPLE_BYTES,
				   .elements = EXAMPLE_ELEMENTS,
				   .depth = 1,
				   .end = SIZE_MAX};
}

static struct listed_field *list_add_field(struct type_list *l, struct listed_type *t)
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
static int64_t list_add_type(struct type_list *l, const struct type *type)
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
		struct listed_field *listed = list_add_field(l, t);

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

static int add_types(struct type_list *l)
{
	const struct dictionary *d = &l->reader.dictionary;

	for (; l->declared < d->types.count; l->declared++) {
		uint32_t *listed;
		int64_t index;

		if (ARRAY_REACH(l->listed, l->nlisted, l->declared))
			return -1;
		listed = l->listed;
		index = list_add_type(l, dictionary_type(d, l->declared));
		if (index < 0)
			return -1;
		listed[l->declared] = (uint32_t)index;
	}
	return 0;
}

/* Complete the examples of the fields that the events before did not have. */
static int add_examples(struct type_list *l, struct listed_type *t, const struct event *ev)
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
static int add_arguments(struct type_list *l, struct listed_type *t, const struct event *ev)
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
		f = list_add_field(l, t);
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

static int list_add_event(struct type_list *l, const struct event *ev)
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

static int list_add_block(struct type_list *l, const struct block *b)
{
	struct events it;
	struct event ev;

	if (b->kind == BLOCK_DICT)
		return add_types(l);
	if (b->kind != BLOCK_EVENTS)
		return 0;
	events_begin(&it, b);
	while (event_next(&it, &ev))
		if (list_add_event(l, &ev))
			return -1;
	return 0;
}

/* Read to the end in any case: the writer of the stream must not wait. */
static void *list_read(void *ctx)
{
	struct type_list *l = ctx;
	char rest[4096];
	struct block b;
	int r = reader_open_fd(&l->reader, l->pipe[0], "the decoded stream", NULL, 0);

	l->reader.reads_values = READS_ALL;
	l->declared = 1;
	l->failed = r < 0;
	while (!l->failed && (r = reader_next(&l->reader, &b)))
		if (r > 0 ? list_add_block(l, &b) : l->reader.fatal)
			l->failed = true;
	if (l->failed)
		while (read(l->pipe[0], rest, sizeof rest) > 0)
			;
	return NULL;
}

struct type_list *list_open(struct error *e)
{
	struct type_list *l = calloc(1, sizeof(*l));

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

int list_fd(const struct type_list *l)
{
	return l->pipe[1];
}

int list_wait(struct type_list *l, struct error *e)
{
	pthread_join(l->thread, NULL);
	return l->failed ? error_no_memory(e) : 0;
}

void list_free(struct type_list *l)
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

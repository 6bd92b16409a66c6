/*
 * list_print.c - the list as text and as JSON
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/list/list_private.h"
#include "common/value/json.h"

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
static const struct listed_type **sorted_types(const struct list *l)
{
	const struct listed_type **types = malloc(l->ntypes * sizeof(*types));

	for (size_t i = 0; types && i < l->ntypes; i++)
		types[i] = &l->types[i];
	if (types)
		qsort(types, l->ntypes, sizeof(*types), by_events);
	return types;
}

/* Get the events per second over the time of all events; negative where that has no meaning. */
static double rate(const struct list *l, uint64_t events)
{
	return l->ticks || l->last <= l->first
		       ? -1
		       : (double)events * 1e9 / (double)(l->last - l->first);
}

static void put_field(const struct list *l, struct text *t, const struct listed_field *f,
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

static bool is_common(const struct list *l, const struct listed_field *f)
{
	return f->name_size > 7 && !memcmp(l->texts.data + f->name, "common_", 7);
}

/* Test whether a field is among those of all types of the kernel, which are printed once. */
static bool is_printed_once(const struct list *l, const struct list_widths *w,
			    const struct listed_field *f)
{
	const char *texts = (const char *)l->texts.data;

	for (size_t i = 0; w->common && is_common(l, f) && i < w->common->type->nfields; i++) {
		const struct listed_field *c = &w->common->fields[i];

		if (c->name_size == f->name_size && !strcmp(c->kind, f->kind) &&
		    !memcmp(texts + c->name, texts + f->name, f->name_size))
			return true;
	}
	return false;
}

static int field_width(const struct listed_type *type)
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
static void put_names(const struct list *l, struct text *t, const struct listed_type *type,
		      const struct list_widths *w)
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

static void put_type(const struct list *l, struct text *t, const struct listed_type *type,
		     const struct list_widths *w)
{
	int field = field_width(type), indent = w->events + 23 + w->group;
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
		put_names(l, t, type, w);
	text_char(t, '\n');
	for (size_t i = 0; type->events && i < type->nfields; i++) {
		if (i == type->type->nfields) {
			text_pad(t, ' ', (size_t)indent);
			text_puts(t, "values, such as those of ");
			text_masked(t, type->arguments_of.text, type->arguments_of.size);
			text_puts(t, ":\n");
		}
		if (!is_printed_once(l, w, &type->fields[i]))
			put_field(l, t, &type->fields[i], indent, field);
	}
}

/* Print the fields that all types of the kernel have, with examples of the first type. */
static void put_common(const struct list *l, struct text *t, const struct list_widths *w)
{
	int indent = w->events + 23 + w->group;

	if (!w->common)
		return;
	text_pad(t, ' ', (size_t)indent - 2);
	text_puts(t, "in each type of the kernel:\n");
	for (size_t i = 0; i < w->common->type->nfields; i++)
		if (is_common(l, &w->common->fields[i]))
			put_field(l, t, &w->common->fields[i], indent, field_width(w->common));
}

/* Find the type whose common fields are printed once: the first with events, if others have some.
 */
static const struct listed_type *common_type(const struct list *l, const struct listed_type **types,
					     bool all)
{
	const struct listed_type *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->ntypes; i++) {
		const struct listed_type *type = types[i];

		if ((!all && !type->events) || !type->type->nfields ||
		    !is_common(l, &type->fields[0]))
			continue;
		n++;
		if (!first && type->events)
			first = type;
	}
	return n > 1 ? first : NULL;
}

static struct list_widths list_widths(const struct list *l, bool all)
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

static void print_text(const struct list *l, struct text *t, const struct listed_type **types,
		       bool all)
{
	struct list_widths w = list_widths(l, all);
	size_t left_out = 0;

	text_printf(t, "%*s%12s  %-7s  %-*s  %s\n", w.events, "events", l->ticks ? "" : "rate",
		    "kind", w.group, "group", "type, with its fields and an example of each");
	w.common = common_type(l, types, all);
	put_common(l, t, &w);
	for (size_t i = 0; i < l->ntypes; i++)
		if (all || types[i]->events)
			put_type(l, t, types[i], &w);
		else
			left_out++;
	if (left_out)
		text_printf(t, "... and %zu type%s without events (--all)\n", left_out,
			    left_out == 1 ? "" : "s");
}

static void json_field(const struct list *l, struct text *t, const struct listed_field *f)
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

static void json_fields(const struct list *l, struct text *t, const char *key,
			const struct listed_field *f, size_t n)
{
	text_printf(t, ", \"%s\": [", key);
	for (size_t i = 0; i < n; i++) {
		text_puts(t, i ? ",\n      " : "\n      ");
		json_field(l, t, &f[i]);
	}
	text_char(t, ']');
}

static void print_json(const struct list *l, struct text *t, const struct listed_type **types)
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

int list_print(const struct list *l, struct text *t, enum list_style style)
{
	const struct listed_type **types = sorted_types(l);

	if (!types && l->ntypes)
		return -1;
	if (style == LIST_JSON)
		print_json(l, t, types);
	else
		print_text(l, t, types, style == LIST_ALL);
	free(types);
	return 0;
}

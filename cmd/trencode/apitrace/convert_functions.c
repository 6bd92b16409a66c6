/*
 * convert_functions.c - declare functions for the calls of any source, with names of arguments
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/apitrace/convert.h"
#include "common/stream/field.h"

enum {
	NAME_MOST = 32 * 1024,
	LISTED_MOST = 1 << 18, /* arguments of all lists */
};

void apitrace_convert_functions_free(struct apitrace_convert_functions *f)
{
	convert_arguments_free(&f->arguments);
	free(f->locations);
	free(f->instants);
	free(f->types);
	free(f->lists);
	intern_free(&f->known);
	buffer_free(&f->key);
}

/* --- names of arguments --- */

/* Add a definition with n names of arguments, which the caller fills in. */
static struct definition *new_names(struct apitrace_convert_functions *f, uint32_t n,
				    struct member **members)
{
	struct definition *d = target_definition(&f->conversion->d);

	*members = target_members(&f->conversion->d, n);
	if (!d || !*members)
		return NULL;
	d->name = target_string(&f->conversion->d, "", 0);
	d->kind = DEFINITION_STRUCT;
	d->count = n;
	d->members = *members;
	return d;
}

/* Name an argument as uftrace does: "arg1", "fparg1". */
static struct text_ref number_name(struct apitrace_convert_functions *f, uint64_t index)
{
	char name[32];
	int size = index > 1000 ? snprintf(name, sizeof name, "fparg%" PRIu64, index - 1000)
				: snprintf(name, sizeof name, "arg%" PRIu64, index);

	return target_string(&f->conversion->d, name, (size_t)size);
}

/* List the names of the event's arguments in their order. from: the names by index, or NULL. */
static struct definition *list_names(struct apitrace_convert_functions *f, const struct event *ev,
				     const struct definition *from, uint32_t n)
{
	const struct convert_fields *fields = convert_arguments_fields(&f->arguments, ev->type);
	uint32_t named = from ? from->count : 0;
	struct definition *d;
	struct member *m;
	struct values v;
	struct detail x;

	d = fields ? new_names(f, n, &m) : NULL;
	if (!d)
		return NULL;
	values_begin(&v, ev->tail, ev->tail_size);
	for (uint32_t i = 0; i < n && values_detail(&v, &x);) {
		if (x.what != DETAIL_ARGUMENT)
			continue;
		m[i++].name = !x.index || x.index > named + (uint64_t)fields->n
				      ? number_name(f, x.index)
			      : x.index <= named ? from->members[x.index - 1].name
						 : fields->list[x.index - named - 1].from->name;
	}
	return d;
}

/* List the names of a location's arguments, which may be NULL, and of fields; and of the function
 * of an event. */
static struct definition *all_names(struct apitrace_convert_functions *f,
				    const struct definition *from,
				    const struct convert_fields *fields, bool function)
{
	uint32_t n = from ? from->count : 0;
	struct definition *d;
	struct member *m;

	d = new_names(f, n + fields->n + function, &m);
	if (!d)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		m[i].name = from->members[i].name;
	for (uint32_t i = 0; i < fields->n; i++)
		m[n + i].name = fields->list[i].from->name;
	if (function)
		m[n + fields->n].name = target_string(&f->conversion->d, "function", 8);
	return d;
}

/* --- functions --- */

/* Escape NULs in a name, as readers end the name at a NUL. */
static int name_without_nul(struct apitrace_convert_functions *f, struct text_ref *name)
{
	struct buffer b = {0};
	int result = convert_name_no_nul(&b, name->text, name->size);

	if (!result)
		*name = target_string(&f->conversion->d, b.data, b.size);
	buffer_free(&b);
	return result;
}

static struct apitrace_convert_function *declare_function(struct apitrace_convert_functions *f,
							  struct apitrace_convert_function *to,
							  struct text_ref name,
							  const struct definition *names)
{
	struct location *p = target_location(&f->conversion->d);

	if (!p || !names)
		return NULL;
	p->address = f->signatures++;
	if (name.size && name_without_nul(f, &name))
		return NULL;
	if (name.size > NAME_MOST) {
		name = target_string(&f->conversion->d, name.text, NAME_MOST);
		f->cut++;
	}
	p->name = name;
	p->arguments = names;
	to->arguments = names->count;
	to->location = p->number;
	return to;
}

static struct apitrace_convert_function *function_at(struct apitrace_convert_function **table,
						     size_t *size, uint32_t number)
{
	struct apitrace_convert_function *f;

	if (ARRAY_REACH(*table, *size, number))
		return NULL;
	f = *table;
	return &f[number];
}

/* Fill f->key with the identity of the event's list of arguments: location or type, and the
 * arguments' indices. */
static int list_arguments(struct apitrace_convert_functions *f, const struct event *ev,
			  uint32_t location, uint32_t *n)
{
	uint32_t whose[] = {location, location ? 0 : ev->type->number};
	struct values v;
	struct detail x;

	*n = 0;
	f->key.size = 0;
	if (buffer_append(&f->key, whose, sizeof whose))
		return -1;
	values_begin(&v, ev->tail, ev->tail_size);
	while (values_detail(&v, &x)) {
		if (x.what != DETAIL_ARGUMENT || *n == f->arguments.most)
			continue;
		++*n;
		if (buffer_append(&f->key, &x.index, sizeof x.index))
			return -1;
	}
	return 0;
}

/* Return the function of the event's list of arguments. base: another function of the same name,
 * if one is declared; it is used when there are too many lists. */
static struct apitrace_convert_function *function_of_list(struct apitrace_convert_functions *f,
							  const struct event *ev, uint32_t location,
							  struct text_ref name,
							  const struct definition *from,
							  struct apitrace_convert_function *base)
{
	struct apitrace_convert_function *to;
	uint32_t number, n;

	if (!ev->tail_size && base->location && !base->arguments)
		return base;
	if (list_arguments(f, ev, location, &n))
		return NULL;
	if (base->location && f->listed + n + 1 > LISTED_MOST &&
	    intern_find(&f->known, f->key.data, f->key.size) == INTERN_NONE)
		return base;
	number = intern(&f->known, f->key.data, f->key.size);
	to = number == INTERN_NONE ? NULL : function_at(&f->lists, &f->lists_size, number);
	if (to && !to->location) {
		f->listed += n + 1;
		to = declare_function(f, to, name, list_names(f, ev, from, n));
	}
	if (to)
		*base = *to;
	return to;
}

/* Test whether leaves may have arguments; those of uftrace have only a return value. */
static bool returns_arguments(const struct event *ev)
{
	return !ev->type->source || strcmp(ev->type->source->format.text, "uftrace") != 0;
}

struct apitrace_convert_function *apitrace_function_of_call(struct apitrace_convert_functions *f,
							    const struct convert_row *r)
{
	const struct location *location =
		dictionary_location(f->conversion->dictionary, r->location);
	const struct definition *names = location ? location->arguments : NULL;
	/* asynchronous calls of a function have an id, and other calls of it have none */
	bool numbered = r->ev->type->flags & TYPE_CALL_NUMBER;
	struct apitrace_convert_function *base =
		function_at(&f->locations, &f->locations_size, 2 * r->location + numbered);
	struct text_ref name = dictionary_location_name(f->conversion->dictionary, r->location);
	const struct convert_fields *fields;

	/* the leave has the function of its enter */
	if (!base || (base->location && r->what == CONVERT_LEAVE))
		return base;
	if (!base->location)
		convert_use_location(f->conversion, r->location);
	fields = convert_arguments_fields(&f->arguments, r->ev->type);
	if (!fields)
		return NULL;
	if (fields->n || (names && returns_arguments(r->ev))) {
		base->keep = true;
		return base->location ? base
				      : declare_function(f, base, name,
							 all_names(f, names, fields, false));
	}
	if (r->ev->type->flags & TYPE_VALUES || !returns_arguments(r->ev))
		return function_of_list(f, r->ev, r->location, name, names, base);
	return base->location ? base
			      : declare_function(f, base, name, all_names(f, NULL, fields, false));
}

struct apitrace_convert_function *apitrace_function_of_values(struct apitrace_convert_functions *f,
							      const struct event *ev)
{
	const struct location *location =
		dictionary_location(f->conversion->dictionary, ev->location);
	struct apitrace_convert_function *base;

	if (!ev->location) {
		base = function_at(&f->types, &f->types_size, ev->type->number);
		return base ? function_of_list(f, ev, 0, ev->type->name, NULL, base) : NULL;
	}
	/* calls of the same location may need all of its names */
	base = function_at(&f->instants, &f->instants_size, ev->location);
	if (base && !base->location)
		convert_use_location(f->conversion, ev->location);
	return base ? function_of_list(
			      f, ev, ev->location,
			      dictionary_location_name(f->conversion->dictionary, ev->location),
			      location ? location->arguments : NULL, base)
		    : NULL;
}

struct apitrace_convert_function *apitrace_function_of_fields(struct apitrace_convert_functions *f,
							      const struct event *ev,
							      const struct convert_fields *fields)
{
	struct apitrace_convert_function *to =
		function_at(&f->types, &f->types_size, ev->type->number);

	return to && !to->location ? declare_function(f, to, ev->type->name,
						      all_names(f, NULL, fields, ev->location))
				   : to;
}

/*
 * argument.c - finds an argument of a call by its name, and values inside of it
 */
#include "common/value/argument.h"

#include <inttypes.h>

#include <stdlib.h>

#include "common/stream/field.h"

/* One part of a path: a name or number up to a dot or an index, or the number in an index. */
struct argument_part {
	const char *text;
	size_t size;
};

static struct argument_part argument_next_part(const char **path)
{
	uint64_t number;
	size_t index = field_index(*path, &number);
	struct argument_part p = {*path + (index > 0), index ? index - 2 : 0};

	if (!index)
		while (*(*path + p.size) && *(*path + p.size) != '.' &&
		       !field_index(*path + p.size, &number))
			p.size++;
	*path += index ? index : p.size;
	*path += **path == '.';
	return p;
}

static bool argument_is_number(const struct argument_part *p, uint64_t *n)
{
	if (!p->size || p->size > 18 || strspn(p->text, "0123456789") < p->size)
		return false;
	*n = strtoull(p->text, NULL, 10);
	return true;
}

static bool argument_same(const struct argument_part *p, const struct text_ref *t)
{
	return p->size == t->size && !memcmp(p->text, t->text, t->size);
}

static bool member_index(const struct definition *d, const struct argument_part *p, uint64_t *index)
{
	for (uint32_t i = 0; d && i < d->count; i++)
		if (argument_same(p, &d->members[i].name)) {
			*index = i;
			return true;
		}
	return false;
}

static bool argument_has_values(const struct event *e)
{
	return e->type->flags & TYPE_VALUES && e->tail;
}

/* Find a detail and set v before its value. The last detail of the row is valid. */
static bool find_detail(const struct event *e, enum detail_kind kind, uint64_t wanted,
			struct values *v)
{
	struct values walk;
	bool found = false;
	uint64_t index;
	uint8_t what;

	values_begin(&walk, e->tail, e->tail_size);
	while (values_what(&walk, &what, &index)) {
		if (what == kind && (kind == DETAIL_RETURN || index == wanted)) {
			*v = walk;
			found = true;
		}
		if (!values_skip(&walk))
			break;
	}
	return found;
}

/* Take the name of an argument off a path, or its number, and get its number. Names may have dots,
 * such as http.method: the longest name is taken. */
static bool argument_take_name(const struct dictionary *d, const struct event *e, const char **path,
			       uint64_t *number)
{
	const struct location *location = dictionary_location(d, e->location);
	struct argument_part part = {*path, strlen(*path)};

	for (; location && location->arguments && part.size; part.size--) {
		char after = part.text[part.size];

		if ((after && after != '.' && after != '[') ||
		    !member_index(location->arguments, &part, number))
			continue;
		*path += part.size + (after == '.');
		++*number;
		return true;
	}
	part = argument_next_part(path);
	return argument_is_number(&part, number);
}

static bool skip(struct values *v, uint64_t n)
{
	while (n--)
		if (!values_skip(v))
			return false;
	return true;
}

/* Go to the display form. */
static bool argument_for_people(struct values *v, struct value *out)
{
	while (out->tag == VALUE_REPR)
		if (!values_value(v, out))
			return false;
	return true;
}

/* Go to the only element, or to the display form, repeatedly. */
static bool settle(struct values *v, struct value *out)
{
	while ((out->tag == VALUE_ARRAY && out->count == 1) || out->tag == VALUE_REPR)
		if (!values_value(v, out))
			return false;
	return true;
}

static bool argument_size_of(struct value *out)
{
	uint64_t n = out->tag == VALUE_ARRAY ? out->count : out->n;

	if (out->tag == VALUE_WSTRING)
		n = out->number; /* number of units */
	else if (out->tag != VALUE_ARRAY && out->tag != VALUE_STRING && out->tag != VALUE_BLOB)
		return false;
	*out = (struct value){.tag = VALUE_UINT, .number = n};
	return true;
}

/* Find a member. 1: found. 0: there is none, and v is after the struct. -1: the bytes are
 * malformed. */
static int argument_find_member(const struct dictionary *d, struct values *v, const struct value *s,
				const struct argument_part *part, unsigned nesting,
				struct value *out)
{
	const struct definition *names = dictionary_definition_id(d, s->definition);

	for (uint64_t i = 0; i < s->count; i++) {
		const struct text_ref *name =
			names && i < names->count ? &names->members[i].name : NULL;
		struct value inner;
		int found;

		if (name && argument_same(part, name))
			return values_value(v, out) ? 1 : -1;
		if (!name || name->size || v->at == v->end || *v->at != VALUE_STRUCT ||
		    nesting == VALUE_DEPTH) {
			if (!values_skip(v))
				return -1;
			continue;
		}
		if (!values_value(v, &inner))
			return -1;
		found = argument_find_member(d, v, &inner, part, nesting + 1, out);
		if (found)
			return found;
	}
	return 0;
}

/* Follow the path inside of the value after v. */
static bool follow(const struct dictionary *d, struct values *v, const char *path,
		   struct value *out)
{
	uint64_t index;

	if (!values_value(v, out))
		return false;
	while (*path) {
		struct argument_part part = argument_next_part(&path);

		if (!argument_for_people(v, out))
			return false;
		if (out->tag == VALUE_ARRAY && argument_is_number(&part, &index)) {
			if (index >= out->count || !skip(v, index) || !values_value(v, out))
				return false;
			continue;
		}
		if (!*path && part.size == 4 && !memcmp(part.text, "size", 4) &&
		    argument_size_of(out))
			return true;
		if (!settle(v, out) || out->tag != VALUE_STRUCT ||
		    argument_find_member(
			    d, v,
			    &(struct value){.definition = out->definition, .count = out->count},
			    &part, 0, out) != 1)
			return false;
	}
	return settle(v, out);
}

bool argument_detail(const struct dictionary *d, const struct event *e, enum detail_kind what,
		     uint64_t index, const char *path, struct value *out)
{
	struct values v;

	return argument_has_values(e) && find_detail(e, what, index, &v) &&
	       follow(d, &v, path, out);
}

bool argument_find(const struct dictionary *d, const struct event *e, const char *path,
		   struct value *out)
{
	uint64_t number;

	return argument_has_values(e) && argument_take_name(d, e, &path, &number) &&
	       argument_detail(d, e, DETAIL_ARGUMENT, number, path, out);
}

/* Find an argument in a floating-point register, by its number. */
static bool find_float(const struct dictionary *d, const struct event *e, const char *number,
		       struct value *out)
{
	char *end;
	uint64_t n = strtoull(number, &end, 10);

	return *number >= '0' && *number <= '9' && !*end && n < VALUE_INDEX_LIMIT &&
	       argument_detail(d, e, DETAIL_ARGUMENT, FLOAT_ARGUMENTS + n, "", out);
}

bool argument_is_detail(const struct type *t, const char *key)
{
	return type_is_of(t, "apitrace") && (!strcmp(key, "fake") || !strcmp(key, "backtrace"));
}

bool argument_by_key(const struct dictionary *d, const struct event *e, const char *key,
		     struct value *out)
{
	bool call = e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE;

	if (!(e->type->flags & TYPE_VALUES))
		return false;
	if (!strncmp(key, "arg.", 4) && argument_find(d, e, key + 4, out))
		return true;
	if (!strncmp(key, "fparg.", 6) && find_float(d, e, key + 6, out))
		return true;
	/* calls have a return value and, in apitrace, two more details before their arguments */
	if (!call && argument_find(d, e, key, out))
		return true;
	if (!strncmp(key, "ret", 3) && (!key[3] || key[3] == '.' || key[3] == '[') &&
	    argument_detail(d, e, DETAIL_RETURN, 0, key + 3 + (key[3] == '.'), out))
		return true;
	return call && !argument_is_detail(e->type, key) && argument_find(d, e, key, out);
}

bool argument_given(const struct dictionary *d, const struct event *e, const char *path)
{
	struct values v;
	uint64_t number;

	return argument_has_values(e) && argument_take_name(d, e, &path, &number) &&
	       find_detail(e, DETAIL_ARGUMENT, number, &v);
}

bool argument_given_number(const struct event *e, uint64_t index)
{
	struct values v;

	return argument_has_values(e) && find_detail(e, DETAIL_ARGUMENT, index, &v);
}

bool argument_blobs(const struct type *t)
{
	return type_is_of(t, "apitrace");
}

bool argument_fake(const struct event *e, bool *fake)
{
	struct detail d;
	struct values v;

	if (!argument_has_values(e) || !type_is_of(e->type, "apitrace"))
		return false;
	*fake = false;
	for (values_begin(&v, e->tail, e->tail_size); values_detail(&v, &d);)
		*fake |= d.what == DETAIL_FLAGS && d.value.number & CALL_FAKE;
	return *fake || e->type->kind == KIND_ENTER;
}

bool argument_backtrace(const struct event *e, struct values *v, uint64_t *count)
{
	struct value array;

	if (!argument_has_values(e) || !find_detail(e, DETAIL_BACKTRACE, 0, v) ||
	    !values_value(v, &array))
		return false;
	*count = array.count;
	return true;
}

int argument_put_name(struct buffer *b, const struct location *p, uint64_t index, bool as_key)
{
	const struct text_ref *name = location_argument(p, index);
	const char *dot = as_key ? "." : "";

	if (name)
		return (as_key && buffer_puts(b, "arg.")) ||
				       buffer_append(b, name->text, name->size)
			       ? -1
			       : 0;
	if (index > FLOAT_ARGUMENTS)
		return buffer_printf(b, "fparg%s%" PRIu64, dot, index - FLOAT_ARGUMENTS);
	return buffer_printf(b, "arg%s%" PRIu64, dot, index);
}

#include "argument.h"

#include <stdlib.h>

/* One part of the path, up to a dot. */
struct part {
	const char *text;
	size_t size;
};

static struct part next_part(const char **path)
{
	struct part p = {*path, strcspn(*path, ".")};

	*path += p.size;
	*path += **path == '.';
	return p;
}

static bool is_number(const struct part *p, uint64_t *n)
{
	if (!p->size || p->size > 18 || strspn(p->text, "0123456789") < p->size)
		return false;
	*n = strtoull(p->text, NULL, 10);
	return true;
}

static bool same(const struct part *p, const struct text_ref *t)
{
	return p->size == t->size && !memcmp(p->text, t->text, t->size);
}

static bool member_index(const struct definition *d, const struct part *p, uint64_t *index)
{
	for (uint32_t i = 0; d && i < d->count; i++)
		if (same(p, &d->members[i].name)) {
			*index = i;
			return true;
		}
	return false;
}

/* The value of the argument, v standing before it. The last one that the row gives holds. */
static bool find_argument(const struct dictionary *d, const struct event *e,
			  const struct part *part, struct values *v)
{
	const struct place *place = dictionary_place(d, e->place);
	struct values walk;
	uint64_t wanted, index;
	bool found = false;
	uint8_t what;

	if (place && member_index(place->arguments, part, &wanted))
		wanted++;
	else if (!is_number(part, &wanted))
		return false;
	values_begin(&walk, e->tail, e->tail_size);
	while (values_what(&walk, &what, &index)) {
		if (what == DETAIL_ARGUMENT && index == wanted) {
			*v = walk;
			found = true;
		}
		if (!values_skip(&walk))
			break;
	}
	return found;
}

static bool skip(struct values *v, uint64_t n)
{
	while (n--)
		if (!values_skip(v))
			return false;
	return true;
}

/* Into the only element, or the form for people, for as long as there is one. */
static bool settle(struct values *v, struct value *out)
{
	while ((out->tag == VALUE_ARRAY && out->count == 1) || out->tag == VALUE_REPR)
		if (!values_value(v, out))
			return false;
	return true;
}

static bool size_of(struct value *out)
{
	uint64_t n = out->tag == VALUE_ARRAY ? out->count : out->n;

	if (out->tag == VALUE_WSTRING)
		n = out->number; /* of units */
	else if (out->tag != VALUE_ARRAY && out->tag != VALUE_STRING && out->tag != VALUE_BLOB)
		return false;
	*out = (struct value){.tag = VALUE_UINT, .number = n};
	return true;
}

bool argument_find(const struct dictionary *d, const struct event *e, const char *path,
		   struct value *out)
{
	struct part part = next_part(&path);
	struct values v;
	uint64_t index;

	if (!(e->type->flags & TYPE_VALUES) || !e->tail || !find_argument(d, e, &part, &v) ||
	    !values_value(&v, out))
		return false;
	while (*path) {
		bool number;

		part = next_part(&path);
		number = is_number(&part, &index);
		if (number && out->tag == VALUE_ARRAY) {
			if (index >= out->count || !skip(&v, index) || !values_value(&v, out))
				return false;
			continue;
		}
		if (!*path && part.size == 4 && !memcmp(part.text, "size", 4) && size_of(out))
			return true;
		if (!settle(&v, out) || out->tag != VALUE_STRUCT ||
		    !member_index(dictionary_definition_id(d, out->definition), &part, &index) ||
		    index >= out->count || !skip(&v, index) || !values_value(&v, out))
			return false;
	}
	return settle(&v, out);
}

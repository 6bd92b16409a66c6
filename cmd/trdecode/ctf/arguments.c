/*
 * arguments.c - arguments and return values that trencode wrote as JSON, as values of the stream
 *
 * The metadata has the names of each function's arguments. A function with an argument that is not
 * among them gets another location, which declares that name too.
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"
#include "common/value/json_text.h"

enum {
	NAMES_MOST = 256,	 /* arguments of one function */
	DECLARED_MOST = 1 << 20, /* members of all locations */
	SHAPES_MOST = 4096,	 /* structs with other members */
	MEMBERS_MOST = 1024,	 /* members of one struct */
	NUMBER_MOST = 4096,	 /* N of "argN", the name of an argument without a name */
	POINTER_DIGITS = 16,
};

/* Add a name. 1: added; 0: there are too many; -1: out of memory. */
static int add_name(struct ctf_arguments *a, struct argument_names *f, uint32_t name)
{
	/* a location that was declared without the name is declared again */
	if (f->count == NAMES_MOST || a->declared + f->count + 1 > DECLARED_MOST)
		return 0;
	if (arguments_add(f, name))
		return -1;
	a->declared += f->count;
	return 1;
}

/* Make a string of the writer of a name in JSON. 0: out of memory. */
static uint32_t name_string(struct ctf *ctf, const char *name, size_t n)
{
	struct buffer *b = &ctf->arguments.key;

	if (!memchr(name, '\\', n))
		return writer_string(ctf->w, name, n);
	b->size = 0;
	return json_text_string(b, name, n) ? 0 : writer_string(ctf->w, b->data, b->size);
}

int ctf_arguments_declare(struct ctf *ctf, const char *json)
{
	size_t n = strlen(json);
	const char *at = json, *end = json + n;
	struct argument_names *f = NULL;
	struct buffer object = {0};
	struct json_member m;
	int failed;

	/* as the member of an object the array is checked */
	failed = buffer_append(&object, "{\"\":", 4) || (n && buffer_append(&object, json, n)) ||
		 buffer_u8(&object, '}');
	if (failed || *json != '[' ||
	    !json_text_is_object((const char *)object.data, object.size)) {
		buffer_free(&object);
		return failed ? -1 : 0;
	}
	buffer_free(&object);
	while (json_text_member(&at, end, &m)) {
		uint32_t name;
		bool known = false;

		if (*m.value != '"')
			break;
		name = name_string(ctf, m.value + 1, m.value_size - 2);
		if (!name && m.value_size > 2)
			return -1;
		if (!f) {
			f = arguments_of(&ctf->arguments.table, name);
			if (!f)
				return -1;
			continue;
		}
		for (size_t i = 0; i < f->count && !known; i++)
			known = f->names[i] == name;
		if (!known && add_name(&ctf->arguments, f, name) < 0)
			return -1;
	}
	return 0;
}

uint32_t ctf_arguments_location(struct ctf *ctf, uint32_t name)
{
	struct argument_names *f = arguments_of(&ctf->arguments.table, name);

	if (f && !f->location)
		f->location = arguments_location(ctf->w, name, f->names, f->count);
	return f ? f->location : 0;
}

/* --- values --- */

/* Read "0x1f", which is a pointer, as trencode writes it. */
static bool is_pointer(const char *p, size_t n, uint64_t *number)
{
	*number = 0;
	if (n < 3 || n > 2 + POINTER_DIGITS || p[0] != '0' || p[1] != 'x' || (p[2] == '0' && n > 3))
		return false;
	for (size_t i = 2; i < n; i++) {
		bool digit = p[i] >= '0' && p[i] <= '9';

		if (!digit && (p[i] < 'a' || p[i] > 'f'))
			return false;
		*number = *number << 4 | (uint64_t)(digit ? p[i] - '0' : p[i] - 'a' + 10);
	}
	return true;
}

static int put_string(struct ctf_arguments *a, const char *p, size_t n)
{
	uint64_t number;

	if (is_pointer(p, n, &number))
		return value_put_uint(&a->values, VALUE_POINTER, number);
	if (!memchr(p, '\\', n))
		return value_put_bytes(&a->values, VALUE_STRING, p, n);
	a->text.size = 0;
	return json_text_string(&a->text, p, n) ||
			       value_put_bytes(&a->values, VALUE_STRING, a->text.data, a->text.size)
		       ? -1
		       : 0;
}

/* Return the definition of a struct by the names of its members. 0: there are too many, or *failed
 * is set: out of memory. */
static uint32_t shape_of(struct ctf *ctf, const struct json_member *object, bool *failed)
{
	struct ctf_arguments *a = &ctf->arguments;
	const char *at = object->value, *end = at + object->value_size;
	struct buffer names = {0};
	struct json_member m;
	uint32_t *id = NULL, *used, n = 0;

	for (; json_text_member(&at, end, &m) && n <= MEMBERS_MOST; n++)
		*failed |= buffer_u32(&names, name_string(ctf, m.name, m.name_size));
	if (!*failed && n <= MEMBERS_MOST) {
		id = id_cache_number(&a->shapes, names.data ? (void *)names.data : "", names.size);
		*failed = !id;
	}
	if (id && !*id && a->nshapes < SHAPES_MOST) {
		a->nshapes++;
		*id = arguments_struct(ctf->w, (const uint32_t *)names.data, n);
		*failed = !*id;
	}
	buffer_free(&names);
	if (!id || !*id)
		return 0;
	used = array_grow(a->used, &a->used_capacity, a->nused, sizeof *used);
	if (!used) {
		*failed = true;
		return 0;
	}
	a->used = used;
	used[a->nused++] = *id;
	return *id;
}

/* Append the value of a member. The text was checked, so it nests no deeper than json_text.c
 * allows. */
static int put_value(struct ctf *ctf, const struct json_member *m)
{
	struct buffer *b = &ctf->arguments.values;
	const char *p = m->value, *at = p, *end = p + m->value_size;
	struct json_member child;
	bool failed = false;
	uint32_t shape = 0;
	uint64_t n = 0;

	switch (*p) {
	case '"': return put_string(&ctf->arguments, p + 1, m->value_size - 2);
	case 't': return value_put_simple(b, VALUE_TRUE);
	case 'f': return value_put_simple(b, VALUE_FALSE);
	case 'n': return value_put_simple(b, VALUE_NULL);
	case '{': shape = shape_of(ctf, m, &failed); break;
	case '[': break;
	default: return json_text_number(b, p, m->value_size);
	}
	if (failed)
		return -1;
	if (*p == '{' && !shape)
		return value_put_bytes(b, VALUE_STRING, p, m->value_size);
	while (json_text_member(&at, end, &child))
		n++;
	if (shape ? value_put_struct(b, shape, n) : value_put_array(b, n))
		return -1;
	for (at = p; json_text_member(&at, end, &child);)
		if (put_value(ctf, &child))
			return -1;
	return 0;
}

/* Return the number of "argN" or "fpargN", the names that trencode gives to arguments without a
 * name; 0: another name. */
static uint64_t unnamed(const char *name, size_t n)
{
	bool real = n > 5 && !memcmp(name, "fparg", 5);
	size_t at = real ? 5 : 3;
	uint64_t number = 0;

	if (n <= at || n > at + 4 || (!real && memcmp(name, "arg", 3)) || name[at] == '0')
		return 0;
	for (; at < n; at++) {
		if (name[at] < '0' || name[at] > '9')
			return 0;
		number = 10 * number + (uint64_t)(name[at] - '0');
	}
	return number <= NUMBER_MOST ? number + (real ? FLOAT_ARGUMENTS : 0) : 0;
}

/* Return the number of an argument, or 0 if there are too many: it is left out. -1: out of memory.
 * last: number of the argument before, as they are mostly in order. */
static int64_t number_of(struct ctf *ctf, struct argument_names *f, const char *text, size_t n,
			 size_t last)
{
	struct ctf_arguments *a = &ctf->arguments;
	uint32_t name = name_string(ctf, text, n);
	uint64_t number = unnamed(text, n);
	int added;

	for (size_t i = 0, at = last; i < f->count; i++, at++) {
		at = at < f->count ? at : 0;
		if (f->names[at] == name)
			return (int64_t)at + 1;
	}
	if (number > f->count)
		return (int64_t)number;
	added = add_name(a, f, name);
	if (added)
		return added < 0 ? -1 : (int64_t)f->count;
	if (!a->left_out)
		warn(ctf->input->name, NO_OFFSET,
		     "functions with more than %d arguments: the others are left out", NAMES_MOST);
	a->left_out = true;
	return 0;
}

int ctf_arguments_read(struct ctf_class *c, struct ctf_file *f, const struct buffer *tail)
{
	struct ctf *ctf = f->trace->ctf;
	struct ctf_arguments *a = &ctf->arguments;
	size_t size = 0, name_size = 0;
	const char *at = ctf_calls_string(tail, c->call.arguments, &size), *end = at + size;
	const char *name = ctf_calls_string(tail, c->string, &name_size);
	struct argument_names *function;
	struct json_member m;
	int64_t number = 0;

	a->values.size = 0;
	a->nused = 0;
	if (!at || !size || !name)
		return 0;
	function = arguments_of(&a->table, writer_string(ctf->w, name, name_size));
	if (!function)
		return -1;
	if (!json_text_is_object(at, size)) {
		/* a text of another program */
		number = number_of(ctf, function, "args", 4, 0);
		if (number > 0 &&
		    (value_put_detail(&a->values, DETAIL_ARGUMENT, (uint64_t)number) ||
		     value_put_bytes(&a->values, VALUE_STRING, at, size)))
			return -1;
		return number < 0 ? -1 : 0;
	}
	while (json_text_member(&at, end, &m)) {
		bool leave = c->kind == KIND_LEAVE && m.name_size == 3 && !memcmp(m.name, "ret", 3);

		if (!leave)
			number = number_of(ctf, function, m.name, m.name_size, (size_t)number);
		if (number < 0)
			return -1;
		if (!leave && !number)
			continue;
		if (value_put_detail(&a->values, leave ? DETAIL_RETURN : DETAIL_ARGUMENT,
				     leave ? 0 : (uint64_t)number) ||
		    put_value(ctf, &m))
			return -1;
	}
	return 0;
}

void ctf_arguments_free(struct ctf *ctf)
{
	struct ctf_arguments *a = &ctf->arguments;

	arguments_free(&a->table);
	free(a->used);
	id_cache_free(&a->shapes);
	buffer_free(&a->values);
	buffer_free(&a->text);
	buffer_free(&a->key);
}

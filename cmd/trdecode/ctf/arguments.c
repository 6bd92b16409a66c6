/*
 * arguments.c - arguments and return values that trencode wrote as JSON, as values of the stream
 *
 * The metadata has the names of each function's arguments. A function with an argument that is not
 * among them gets another location, which declares that name too.
 */
#include <stdlib.h>

#include "cmd/trdecode/ctf/ctf.h"
#include "common/value/json_reader.h"

enum {
	NAMES_MOST = 256,	 /* arguments of one function */
	DECLARED_MOST = 1 << 20, /* members of all locations */
	SHAPES_MOST = 4096,	 /* structs with other members */
	MEMBERS_MOST = 1024,	 /* members of one struct */
	NESTING_MOST = 64,	 /* objects and arrays in each other; others are texts */
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

/* Make a string of the writer of the token's text. 0: out of memory, or the text is empty. */
static uint32_t text_string(struct ctf *ctf)
{
	const struct buffer *text = &ctf->arguments.json.text;

	return writer_string(ctf->w, text->data, text->size);
}

int ctf_arguments_declare(struct ctf *ctf, const char *text)
{
	struct json_reader *json = &ctf->arguments.json;
	struct argument_names *f = NULL;
	size_t n = strlen(text);

	json_open_text(json, text, n);
	if (json_next(json) != JSON_ARRAY || !json_skip(json, JSON_ARRAY) ||
	    json_next(json) != JSON_END)
		return 0;
	json_open_text(json, text, n);
	json_next(json);
	while (json_next(json) == JSON_STRING) {
		uint32_t name = text_string(ctf);
		bool known = false;

		if (!name && json->text.size)
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

/* Return the definition of a struct with n members by their names. 0: there are too many, or
 * *failed is set: out of memory. */
static uint32_t shape_of(struct ctf *ctf, const struct buffer *names, uint64_t n, bool *failed)
{
	struct ctf_arguments *a = &ctf->arguments;
	uint32_t *id, *used;

	if (n > MEMBERS_MOST)
		return 0;
	id = id_cache_number(&a->shapes, n ? (const char *)names->data : "", names->size);
	*failed = !id;
	if (id && !*id && a->nshapes < SHAPES_MOST) {
		a->nshapes++;
		*id = arguments_struct(ctf->w, (const uint32_t *)names->data, (uint32_t)n);
		*failed = !*id;
	}
	if (!id || !*id)
		return 0;
	if (ARRAY_GROW(a->used, a->used_capacity, a->nused)) {
		*failed = true;
		return 0;
	}
	used = a->used;
	used[a->nused++] = *id;
	return *id;
}

/* Put the head of n children before them: the values from `at` on. */
static int put_head(struct ctf_arguments *a, size_t at, uint32_t shape, uint64_t n)
{
	struct buffer *b = &a->values;
	size_t size = b->size - at, head;

	if (shape ? value_put_struct(b, shape, n) : value_put_array(b, n))
		return -1;
	head = b->size - at - size;
	a->text.size = 0;
	if (buffer_append(&a->text, b->data + at + size, head))
		return -1;
	memmove(b->data + at + head, b->data + at, size);
	memcpy(b->data + at, a->text.data, head);
	return 0;
}

static int put_value(struct ctf *ctf, enum json_token token);

/* Append the children of an array, or those of an object and their names. Returns their number,
 * or -1. */
static int64_t put_children(struct ctf *ctf, struct buffer *names, bool object)
{
	struct json_reader *json = &ctf->arguments.json;
	enum json_token token;
	int64_t n = 0;

	for (; (token = json_next(json)) != (object ? JSON_OBJECT_END : JSON_ARRAY_END); n++) {
		if (object) {
			if (buffer_u32(names, text_string(ctf)))
				return -1;
			token = json_next(json);
		}
		if (put_value(ctf, token))
			return -1;
	}
	return n;
}

/* Append the object or array that begins; an object with too many members as its text. */
static int put_parent(struct ctf *ctf, bool object)
{
	struct ctf_arguments *a = &ctf->arguments;
	const uint8_t *text = a->json.data + a->json.at - 1;
	size_t at = a->values.size;
	struct buffer names = {0};
	int64_t n = a->json.depth > NESTING_MOST ? -1 : put_children(ctf, &names, object);
	uint32_t shape = 0;
	bool failed = n < 0;

	if (object && !failed)
		shape = shape_of(ctf, &names, (uint64_t)n, &failed);
	buffer_free(&names);
	if (failed)
		return -1;
	if (!object || shape)
		return put_head(a, at, shape, (uint64_t)n);
	a->values.size = at;
	return value_put_bytes(&a->values, VALUE_STRING, text,
			       (size_t)(a->json.data + a->json.at - text));
}

/* Append the value that the token begins. */
static int put_value(struct ctf *ctf, enum json_token token)
{
	struct ctf_arguments *a = &ctf->arguments;
	const struct json_reader *json = &a->json;
	uint64_t number;

	if (token == JSON_OBJECT || token == JSON_ARRAY)
		return put_parent(ctf, token == JSON_OBJECT);
	/* a string that looks like a pointer is written with an escape */
	if (token == JSON_STRING && json->data[json->at - 2 - json->text.size] == '"' &&
	    is_pointer((const char *)json->text.data, json->text.size, &number))
		return value_put_uint(&a->values, VALUE_POINTER, number);
	return json_put_scalar(json, token, &a->values);
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
	uint32_t name = writer_string(ctf->w, text, n);
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

/* Append the arguments of an object whose end is the end of the text. Returns 0, or -1: out of
 * memory, or the text is no such object. */
static int read_object(struct ctf *ctf, struct argument_names *function, bool leave)
{
	struct ctf_arguments *a = &ctf->arguments;
	struct json_reader *json = &a->json;
	enum json_token token;
	int64_t number = 0;

	if (json_next(json) != JSON_OBJECT)
		return -1;
	while ((token = json_next(json)) == JSON_KEY) {
		bool result = leave && json_is(json, "ret");

		if (!result)
			number = number_of(ctf, function, (const char *)json->text.data,
					   json->text.size, (size_t)number);
		if (number < 0)
			return -1;
		token = json_next(json);
		if (!result && !number) {
			json_skip(json, token);
			continue;
		}
		if (value_put_detail(&a->values, result ? DETAIL_RETURN : DETAIL_ARGUMENT,
				     result ? 0 : (uint64_t)number) ||
		    put_value(ctf, token))
			return -1;
	}
	return token == JSON_OBJECT_END && json_next(json) == JSON_END ? 0 : -1;
}

int ctf_arguments_read(struct ctf_class *c, struct ctf_file *f, const struct buffer *tail)
{
	struct ctf *ctf = f->trace->ctf;
	struct ctf_arguments *a = &ctf->arguments;
	struct json_reader *json = &a->json;
	size_t size = 0, name_size = 0;
	const char *text = ctf_calls_string(tail, c->call.arguments, &size);
	const char *name = ctf_calls_string(tail, c->string, &name_size);
	struct argument_names *function;
	int64_t number;

	a->values.size = 0;
	a->nused = 0;
	if (!text || !size || !name)
		return 0;
	function = arguments_of(&a->table, writer_string(ctf->w, name, name_size));
	if (!function)
		return -1;
	json_open_text(json, text, size);
	if (!read_object(ctf, function, c->kind == KIND_LEAVE))
		return 0;
	if (!json->error.what[0] && json->depth <= NESTING_MOST && *text == '{')
		return -1;
	/* a text of another program */
	a->values.size = a->nused = 0;
	number = number_of(ctf, function, "args", 4, 0);
	if (number > 0 && (value_put_detail(&a->values, DETAIL_ARGUMENT, (uint64_t)number) ||
			   value_put_bytes(&a->values, VALUE_STRING, text, size)))
		return -1;
	return number < 0 ? -1 : 0;
}

void ctf_arguments_free(struct ctf *ctf)
{
	struct ctf_arguments *a = &ctf->arguments;

	arguments_free(&a->table);
	free(a->used);
	id_cache_free(&a->shapes);
	buffer_free(&a->values);
	buffer_free(&a->text);
	json_close(&a->json);
}

/*
 * arguments.c - the arguments of a name: all arguments of its events, declared with one location
 *
 * Arguments are optional, and ends may have other arguments than their begins. A name is still one
 * function, so its location declares all its arguments, in the order of their appearance. Each
 * location also declares the arguments of ends without a name, after its own.
 */
#include <stdlib.h>

#include "cmd/trdecode/chrome/chrome.h"
#include "common/stream/value.h"

enum { NAMES_MOST = 4096 }; /* arguments of one name */

/* The arguments of one name, and its location. */
struct chrome_names {
	uint32_t *keys; /* strings of the writer */
	size_t count, capacity;
	uint32_t location;
};

/* Return the arguments of a name; name 0: of ends without a name. NULL: out of memory. */
static struct chrome_names *names_of(struct chrome *c, uint32_t name)
{
	uint32_t *number = id_cache_number(&c->with_arguments, &name, sizeof name);
	struct chrome_names *names;

	if (!number)
		return NULL;
	if (!*number) {
		names = array_grow(c->arguments, &c->arguments_capacity, c->narguments,
				   sizeof *names);
		if (!names)
			return NULL;
		c->arguments = names;
		names[c->narguments++] = (struct chrome_names){0};
		*number = (uint32_t)c->narguments;
	}
	return &c->arguments[*number - 1];
}

/* Return a pointer to the number of an argument, from 1, 0: not set yet. NULL: out of memory. */
static uint32_t *number_of(struct chrome *c, uint32_t name, uint32_t key)
{
	uint32_t both[2] = {name, key};

	return id_cache_number(&c->numbers, both, sizeof both);
}

int chrome_learn(struct chrome *c, uint32_t name, uint32_t key)
{
	struct chrome_names *names = names_of(c, name);
	uint32_t *number = number_of(c, name, key), *any, *keys;

	if (!names || !number)
		return -1;
	if (*number || names->count == NAMES_MOST)
		return 0;
	any = id_cache_number(&c->keys, &key, sizeof key);
	if (!any)
		return -1;
	*any = 1;
	keys = array_grow(names->keys, &names->capacity, names->count, sizeof *keys);
	if (!keys)
		return -1;
	names->keys = keys;
	keys[names->count++] = key;
	*number = (uint32_t)names->count;
	return 0;
}

/* Set *name to the writer's string for text, or 0 if an argument has this name. -1: out of memory.
 */
static int free_name(struct chrome *c, const char *text, uint32_t *name)
{
	uint32_t string = writer_text(c->w, text), *taken;

	taken = string ? id_cache_number(&c->keys, &string, sizeof string) : NULL;
	if (!taken)
		return -1;
	*name = *taken ? 0 : string;
	return 0;
}

uint32_t chrome_id_name(struct chrome *c)
{
	char text[64] = CHROME_ID_FIELD_2;
	uint32_t name;

	if (free_name(c, CHROME_ID_FIELD, &name))
		return 0;
	for (size_t n = strlen(text); !name; n++) {
		if (free_name(c, text, &name))
			return 0;
		if (n == sizeof text - 1)
			return writer_text(c->w, text);
		text[n] = '_';
	}
	return name;
}

uint32_t chrome_location(struct chrome *c, uint32_t name)
{
	struct member_entry *members;
	struct chrome_names *names, *ends;
	uint32_t arguments = 0, n = 0;

	names = names_of(c, name);
	if (!names || names->location)
		return names ? names->location : 0;
	ends = names_of(c, 0);
	names = names_of(c, name); /* the array may have moved */
	if (!ends || !names)
		return 0;
	members = calloc(names->count + ends->count + 1, sizeof *members);
	if (!members)
		return 0;
	for (size_t i = 0; i < names->count; i++)
		members[n++].name = names->keys[i];
	for (size_t i = 0; i < ends->count; i++) {
		uint32_t *number = number_of(c, name, ends->keys[i]);

		if (number && *number)
			continue;
		members[n++].name = ends->keys[i];
		if (number)
			*number = n;
	}
	if (n)
		arguments = writer_definition(c->w,
					      &(struct definition_entry){.kind = DEFINITION_STRUCT,
									 .nmembers = n,
									 .members = members});
	free(members);
	if (!n || arguments)
		names->location = writer_location(
			c->w, &(struct location_entry){.name = name, .arguments = arguments});
	return names->location;
}

int chrome_values(struct chrome *c, uint32_t name, const uint8_t *p, uint32_t size)
{
	const uint8_t *end;

	c->read.values.size = 0;
	if (!size)
		return 0;
	for (end = p + size; p < end;) {
		uint32_t key = get_u32(p), n = get_u32(p + 4), *number = number_of(c, name, key);

		p += 8;
		if (!number)
			return -1;
		if (!*number)
			c->counts.nameless++;
		else if (value_put_detail(&c->read.values, DETAIL_ARGUMENT, *number) ||
			 buffer_append(&c->read.values, p, n))
			return -1;
		p += n;
	}
	return 0;
}

void chrome_arguments_free(struct chrome *c)
{
	for (size_t i = 0; i < c->narguments; i++)
		free(c->arguments[i].keys);
	free(c->arguments);
	id_cache_free(&c->with_arguments);
	id_cache_free(&c->numbers);
	id_cache_free(&c->keys);
}

/*
 * arguments.c - the arguments of a name: all arguments of its events, declared with one location
 *
 * Arguments are optional, and ends may have other arguments than their begins. A name is still one
 * function, so its location declares all its arguments, in the order of their appearance. Each
 * location also declares the arguments of ends without a name, after its own.
 */
#include "cmd/trdecode/chrome/chrome.h"
#include "common/stream/value.h"

enum { NAMES_MOST = 4096 }; /* arguments of one name */

/* Return a pointer to the number of an argument, from 1, 0: not set yet. NULL: out of memory. */
static uint32_t *number_of(struct chrome *c, uint32_t name, uint32_t key)
{
	uint32_t both[2] = {name, key};

	return id_cache_number(&c->numbers, both, sizeof both);
}

int chrome_learn(struct chrome *c, uint32_t name, uint32_t key)
{
	struct argument_names *names = arguments_of(&c->arguments, name);
	uint32_t *number = number_of(c, name, key), *any;

	if (!names || !number)
		return -1;
	if (*number || names->count == NAMES_MOST)
		return 0;
	any = id_cache_number(&c->keys, &key, sizeof key);
	if (!any)
		return -1;
	*any = 1;
	if (arguments_add(names, key))
		return -1;
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
	struct argument_names *names = arguments_of(&c->arguments, name), *ends;
	struct buffer all = {0};
	int failed;

	if (!names || names->location)
		return names ? names->location : 0;
	ends = arguments_of(&c->arguments, 0);
	names = arguments_of(&c->arguments, name); /* the array may have moved */
	if (!ends || !names)
		return 0;
	failed = names->count && buffer_append(&all, names->names, 4 * names->count);
	for (size_t i = 0; i < ends->count && !failed; i++) {
		uint32_t *number = number_of(c, name, ends->names[i]);

		if (number && *number)
			continue;
		failed = !number || buffer_u32(&all, ends->names[i]);
		if (!failed)
			*number = (uint32_t)(all.size / 4);
	}
	if (!failed)
		names->location =
			arguments_location(c->w, name, (const uint32_t *)all.data, all.size / 4);
	buffer_free(&all);
	return failed ? 0 : names->location;
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
	arguments_free(&c->arguments);
	id_cache_free(&c->numbers);
	id_cache_free(&c->keys);
}

#include "cmd/trdecode/input/arguments.h"

#include <stdlib.h>

#include "common/stream/value.h"

enum { NAMES_MOST = 4096 }; /* arguments of one function that are learnt */

struct argument_names *arguments_of(struct argument_table *t, uint32_t function)
{
	uint32_t *number = id_cache_number(&t->numbers, &function, sizeof function);
	struct argument_names *functions;

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(t->functions, t->capacity, t->count))
			return NULL;
		functions = t->functions;
		functions[t->count++] = (struct argument_names){0};
		*number = (uint32_t)t->count;
	}
	return &t->functions[*number - 1];
}

int arguments_add(struct argument_names *f, uint32_t name)
{
	uint32_t *names;

	if (ARRAY_GROW(f->names, f->capacity, f->count))
		return -1;
	names = f->names;
	names[f->count++] = name;
	f->location = 0;
	return 0;
}

void arguments_free(struct argument_table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->functions[i].names);
	free(t->functions);
	id_cache_free(&t->numbers);
	id_cache_free(&t->pairs);
	intern_free(&t->names);
}

/* --- all arguments are learnt before the first row --- */

/* Return a pointer to the number of an argument, from 1, 0: not set yet. NULL: out of memory. */
static uint32_t *number_of(struct argument_table *t, uint32_t function, uint32_t name)
{
	uint32_t both[2] = {function, name}, *number;
	uint64_t pair = (uint64_t)function << 32 | name;
	size_t slot = hash_u64(pair) % ARGUMENTS_RECENT;

	/* without this cache 'trdecode | trstat' takes 1.21 times the instructions for a trace of
	 * Perfetto whose events have arguments */
	if (t->recent[slot].number && t->recent[slot].pair == pair)
		return &t->recent[slot].number;
	number = id_cache_number(&t->pairs, both, sizeof both);
	if (number && *number) {
		t->recent[slot].pair = pair;
		t->recent[slot].number = *number;
	}
	return number;
}

int arguments_learn(struct argument_table *t, uint32_t function, uint32_t name)
{
	uint32_t *number = number_of(t, function, name);
	struct argument_names *names;

	if (!number || *number)
		return number ? 0 : -1;
	names = arguments_of(t, function);
	if (!names)
		return -1;
	if (names->count == NAMES_MOST)
		return 0;
	if (intern(&t->names, &name, sizeof name) == INTERN_NONE || arguments_add(names, name))
		return -1;
	*number = (uint32_t)names->count;
	return 0;
}

bool arguments_has(const struct argument_table *t, uint32_t name)
{
	return intern_find(&t->names, &name, sizeof name) != INTERN_NONE;
}

uint32_t arguments_free_name(const struct argument_table *t, struct writer *w, const char *text)
{
	char longer[64];
	size_t n = strlen(text);
	uint32_t name = writer_text(w, text);

	memcpy(longer, text, n + 1);
	while (name && arguments_has(t, name) && n < sizeof longer - 1) {
		longer[n++] = '_';
		longer[n] = '\0';
		name = writer_text(w, longer);
	}
	return name;
}

uint32_t arguments_location_of(struct argument_table *t, struct writer *w, uint32_t function)
{
	struct argument_names *names = arguments_of(t, function), *ends;
	struct buffer all = {0};
	int failed;

	if (!names || names->location)
		return names ? names->location : 0;
	ends = arguments_of(t, 0);
	names = arguments_of(t, function); /* the array may have moved */
	if (!ends || !names)
		return 0;
	failed = names->count && buffer_append(&all, names->names, 4 * names->count);
	for (size_t i = 0; i < ends->count && !failed; i++) {
		uint32_t *number = number_of(t, function, ends->names[i]);

		if (number && *number)
			continue;
		failed = !number || buffer_u32(&all, ends->names[i]);
		if (!failed)
			*number = (uint32_t)(all.size / 4);
	}
	if (!failed)
		names->location =
			arguments_location(w, function, (const uint32_t *)all.data, all.size / 4);
	buffer_free(&all);
	return failed ? 0 : names->location;
}

int arguments_values(struct argument_table *t, uint32_t function, const uint8_t *values,
		     uint32_t size, struct buffer *details)
{
	const uint8_t *p = values, *end;

	details->size = 0;
	if (!size)
		return 0;
	for (end = p + size; p < end;) {
		uint32_t name = get_u32(p), n = get_u32(p + 4);
		uint32_t *number = number_of(t, function, name);

		p += 8;
		if (!number)
			return -1;
		if (!*number)
			t->nameless++;
		else if (value_put_detail(details, DETAIL_ARGUMENT, *number) ||
			 buffer_append(details, p, n))
			return -1;
		p += n;
	}
	return 0;
}

int arguments_use_structs(struct writer *w, const struct buffer *details)
{
	struct values v;
	struct value value;
	uint8_t what;
	uint64_t index;

	values_begin(&v, details->data, details->size);
	while (values_what(&v, &what, &index))
		for (uint64_t left = 1; left; left--) {
			if (!values_value(&v, &value))
				return 0;
			if (value.tag == VALUE_STRUCT && writer_use_definition(w, value.definition))
				return -1;
			left += value.count;
		}
	return 0;
}

uint32_t arguments_struct(struct writer *w, const uint32_t *names, size_t n)
{
	struct member_entry *members = calloc(n + 1, sizeof *members);
	uint32_t id;

	if (!members)
		return 0;
	for (size_t i = 0; i < n; i++)
		members[i].name = names[i];
	id = writer_definition(w, &(struct definition_entry){.kind = DEFINITION_STRUCT,
							     .nmembers = (uint32_t)n,
							     .members = members});
	free(members);
	return id;
}

uint32_t arguments_location(struct writer *w, uint32_t function, const uint32_t *names, size_t n)
{
	uint32_t arguments = n ? arguments_struct(w, names, n) : 0;

	if (n && !arguments)
		return 0;
	return writer_location(w,
			       &(struct location_entry){.name = function, .arguments = arguments});
}

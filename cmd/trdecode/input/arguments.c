#include "cmd/trdecode/input/arguments.h"

#include <stdlib.h>

struct argument_names *arguments_of(struct argument_table *t, uint32_t function)
{
	uint32_t *number = id_cache_number(&t->numbers, &function, sizeof function);
	struct argument_names *functions;

	if (!number)
		return NULL;
	if (!*number) {
		functions = array_grow(t->functions, &t->capacity, t->count, sizeof *functions);
		if (!functions)
			return NULL;
		t->functions = functions;
		functions[t->count++] = (struct argument_names){0};
		*number = (uint32_t)t->count;
	}
	return &t->functions[*number - 1];
}

int arguments_add(struct argument_names *f, uint32_t name)
{
	uint32_t *names = array_grow(f->names, &f->capacity, f->count, sizeof *names);

	if (!names)
		return -1;
	f->names = names;
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

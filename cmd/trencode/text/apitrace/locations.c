/*
 * locations.c - the constant texts of the calls of a function, made once
 */
#include <stdlib.h>

#include "common/formats/apitrace.h"
#include "cmd/trencode/text/apitrace/apitrace.h"

/* Append a name up to its first NUL. */
static int append_name(struct buffer *b, const struct text_ref *t)
{
	return buffer_append(b, t->text, strlen(t->text));
}

static int location_prepare(struct apitrace_location *k, const struct location *location)
{
	const struct definition *d = location->arguments;
	uint32_t n = d ? d->count : 0;
	struct buffer b = {0};

	k->ends = calloc((size_t)n + 1, sizeof *k->ends);
	if (!k->ends || append_name(&b, &location->name) || buffer_append(&b, "(", 1))
		goto fail;
	k->ends[0] = (uint32_t)b.size;
	for (uint32_t i = 0; i < n; i++) {
		if (buffer_append(&b, ", ", i ? 2 : 0) || append_name(&b, &d->members[i].name) ||
		    buffer_append(&b, " = ", 3))
			goto fail;
		k->ends[i + 1] = (uint32_t)b.size;
	}
	k->text = (char *)b.data;
	k->names = n;
	k->flags = apitrace_known(location->name.text, location->name.size);
	k->may_be_hidden = k->flags & APITRACE_VERBOSE ||
			   (!n && d && !strcmp(location->name.text, "glGetError"));
	k->location = location;
	return 0;
fail:
	buffer_free(&b);
	free(k->ends);
	k->ends = NULL;
	return -1;
}

const struct apitrace_location *apitrace_location(struct apitrace_locations *s,
						  const struct dictionary *d, uint32_t number)
{
	struct apitrace_location *k;

	if (ARRAY_REACH(s->at, s->size, number))
		return NULL;
	k = &s->at[number];
	if (!k->location && number && location_prepare(k, dictionary_location(d, number)))
		return NULL;
	return k;
}

void apitrace_locations_free(struct apitrace_locations *s)
{
	for (size_t i = 0; i < s->size; i++) {
		free(s->at[i].ends);
		free(s->at[i].text);
	}
	free(s->at);
}

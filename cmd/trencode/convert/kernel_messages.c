#include "cmd/trencode/convert/kernel_messages.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* The fields of one type, parsed once. */
struct kernel_message_type {
	bool ready, bputs;
	struct bprint_fields bprint;
	struct event_field text; /* of bputs */
};

int kernel_messages_meta(struct kernel_messages *k, const struct source *source,
			 const struct meta *m)
{
	return tc_sources_meta(&k->sources, source, m);
}

void kernel_messages_free(struct kernel_messages *k)
{
	tc_sources_free(&k->sources);
	free(k->types);
	line_free(&k->line);
	*k = (struct kernel_messages){0};
}

static struct kernel_message_type *type_of(struct kernel_messages *k, const struct type *type)
{
	struct kernel_message_type *types;
	struct kernel_message_type *t;
	const struct event_field *text;
	struct event_format fields;

	if (ARRAY_REACH(k->types, k->ntypes, type->number))
		return NULL;
	types = k->types;
	t = &types[type->number];
	if (t->ready)
		return t;
	if (event_format_parse(&fields, type->declaration.text, type->declaration.size,
			       type->word_size) < 0)
		return NULL;
	t->ready = true;
	bprint_fields_find(&t->bprint, type, &fields);
	text = event_format_find(&fields, "str", 3);
	t->bputs = text && !strcmp(type->name.text, "bputs");
	if (t->bputs)
		t->text = *text;
	event_format_free(&fields);
	return t;
}

/* Append the text that a bputs event names by its address. */
static void put_constant(struct kernel_messages *k, const struct event_field *f,
			 const struct event *ev, const struct print_kernel *names)
{
	const char *s = NULL;
	uint64_t address;
	size_t size;

	if (record_number(f, ev, &address))
		s = names->string(names->context, address, &size);
	if (s)
		line_put(&k->line, s, size);
}

int kernel_message(struct kernel_messages *k, const struct event *ev, const char **text,
		   size_t *size)
{
	struct kernel_message_type *t = type_of(k, ev->type);
	struct tc_source *source = tc_source_of(&k->sources, ev->lane->source);

	*size = 0;
	if (!t || !source || tc_source_begin(source))
		return -1;
	k->line.size = 0;
	if (t->bputs)
		put_constant(k, &t->text, ev, &source->names);
	if ((t->bprint.is &&
	     bprint_message(&source->binary, &t->bprint, ev, &source->names, &k->line) < 0) ||
	    k->line.failed)
		return -1;
	*text = k->line.data;
	*size = k->line.size;
	while (*size && k->line.data[*size - 1] == '\n')
		--*size;
	return 0;
}

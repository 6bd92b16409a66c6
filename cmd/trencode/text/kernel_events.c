#include "cmd/trencode/text/kernel_events.h"

#include <stdlib.h>

#include "common/util/buffer.h"

/* The print fmt of one type, compiled at its first event. */
struct message {
	bool ready;
	struct print_format *format; /* NULL: print fmt cannot be evaluated */
	struct event_format fields;  /* read where format is NULL */
};

struct kernel_events {
	struct text_kernel *kernel;
	struct print_kernel names;
	bool named;
	struct message *messages; /* by number of the type */
	size_t count;
	struct line line;
};

struct kernel_events *kernel_events_new(void)
{
	struct kernel_events *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->kernel = text_kernel_new();
	if (!k->kernel) {
		free(k);
		return NULL;
	}
	return k;
}

void kernel_events_free(struct kernel_events *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->count; i++) {
		print_format_free(k->messages[i].format);
		event_format_free(&k->messages[i].fields);
	}
	free(k->messages);
	text_kernel_free(k->kernel);
	line_free(&k->line);
	free(k);
}

int kernel_events_meta(struct kernel_events *k, const struct meta *m)
{
	return text_kernel_meta(k->kernel, m);
}

static struct message *message_at(struct kernel_events *k, uint32_t number)
{
	struct message *messages;

	if (ARRAY_REACH(k->messages, k->count, number))
		return NULL;
	messages = k->messages;
	return &messages[number];
}

static int message_make(struct kernel_events *k, struct message *m, const struct type *type)
{
	const struct text_ref *text = &type->declaration;
	char why[PRINT_WHY];

	if (!k->named && text_kernel_get(k->kernel, &k->names))
		return -1;
	k->named = true;
	m->ready = true;
	m->format = print_format_compile(text->text, text->size, type->word_size,
					 type->flags & TYPE_BIG_ENDIAN, &k->names, why);
	if (m->format)
		return 0;
	if (!*why || event_format_parse(&m->fields, text->text, text->size, type->word_size) < 0)
		return -1;
	return 0;
}

int kernel_event_text(struct kernel_events *k, struct text *out, const struct event *ev)
{
	struct message *m = message_at(k, ev->type->number);
	size_t n;

	if (!m || (!m->ready && message_make(k, m, ev->type)))
		return -1;
	k->line.size = 0;
	if (m->format)
		print_format_text(m->format, &k->names, ev->tail, ev->tail_size, &k->line);
	else
		print_fields_text(&m->fields, ev->tail, ev->tail_size,
				  ev->type->flags & TYPE_BIG_ENDIAN, &k->line);
	if (k->line.failed)
		return -1;
	n = k->line.size;
	while (n && k->line.data[n - 1] == '\n')
		n--;
	if (!n)
		return 0;
	text_puts(out, " (");
	text_masked(out, k->line.data, n);
	text_char(out, ')');
	return 0;
}

/*
 * chrome_samples.c - samples, and the stacks of other events, in Trace Event JSON
 *
 * An element of "samples" is a sample: {"pid", "tid", "ts", "cpu", "sf", "weight", "name", "cat",
 * "args"}. Its "sf", and that of an event, is the key in "stackFrames" of its innermost frame,
 * which has the key of its caller's frame: {"name", "category", "parent"}. The category of a frame
 * is its module. Keys are numbers of stacks of the dictionary.
 *
 * Both follow the events in the file, so the samples are kept until then, in a buffer that spills.
 */
#include <stdlib.h>

#include "cmd/trencode/timeline/chrome.h"
#include "common/stream/field.h"
#include "common/value/json.h"

struct chrome_samples {
	struct buffer lines; /* the elements of "samples" */
	uint8_t *used;	     /* by stack: its frame is in "stackFrames" */
	size_t nused;
};

struct chrome_samples *chrome_samples_new(void)
{
	struct chrome_samples *k = calloc(1, sizeof *k);

	if (k)
		k->lines.spills = true;
	return k;
}

void chrome_samples_free(struct chrome_samples *k)
{
	if (!k)
		return;
	buffer_free(&k->lines);
	free(k->used);
	free(k);
}

static int use_stack(struct chrome_samples *k, uint32_t stack)
{
	uint8_t *used;

	if (ARRAY_REACH(k->used, k->nused, stack))
		return -1;
	used = k->used;
	used[stack] = 1;
	return 0;
}

int chrome_set_stack(struct chrome_output *s, uint32_t stack)
{
	s->stack = stack;
	return stack ? use_stack(s->samples, stack) : 0;
}

/* Append the members of a sample that are numbers. */
static int append_numbers(struct chrome_output *s, const struct event *ev,
			  const struct lane_prefix *prefix, uint32_t stack)
{
	struct buffer *b = &s->samples->lines;
	bool first = !b->size;
	char *p;

	if (buffer_reserve(b, LINE_FIXED))
		return -1;
	p = (char *)b->data + b->size;
	p = first ? PUT(p, "\n{") : PUT(p, ",\n{");
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, ev->time, counts_ticks(ev->lane));
	p = put_cpu(p, ev->lane);
	if (stack) {
		p = PUT(p, ",\"sf\":");
		p = decimal_at(p, stack);
	}
	p = PUT(p, ",\"weight\":");
	p = decimal_at(p, sample_weight(ev));
	if (ev->type->flags & TYPE_WEIGHT_TIME)
		p = PUT(p, ",\"" CHROME_WEIGHT_UNIT "\":\"ns\"");
	p = PUT(p, ",\"name\":");
	b->size = (size_t)(p - (char *)b->data);
	return 0;
}

int chrome_sample(struct chrome_output *s, const struct event *ev, const struct lane_prefix *prefix)
{
	struct buffer *b = &s->samples->lines;
	const struct type *t = ev->type;
	uint32_t stack = event_stack(s->names.dictionary, ev);

	if ((stack && use_stack(s->samples, stack)) || append_numbers(s, ev, prefix, stack) ||
	    json_append_string(b, t->name.text, t->name.size))
		return -1;
	if (t->group.size &&
	    (buffer_puts(b, ",\"cat\":") || json_append_string(b, t->group.text, t->group.size)))
		return -1;
	/* the weight alone needs no arguments */
	if (t->nfields > (t->period ? 1 : 0)) {
		chrome_clear_args(s);
		if (attributes_append(&s->attributes, ev, &s->bytes) ||
		    attributes_object(&s->attributes, &s->bytes, &s->json) ||
		    (s->json.size && (buffer_puts(b, ",\"args\":") ||
				      buffer_append_from(b, &s->json, 0, s->json.size))))
			return -1;
	}
	return buffer_u8(b, '}');
}

/* Write the frame of a stack. */
static int put_frame(struct chrome_output *s, uint32_t stack)
{
	struct stack_key key = stack_table_at(&s->names.dictionary->stacks, stack);
	const struct location *l = dictionary_location(s->names.dictionary, key.location);
	uint32_t size;
	const char *name = location_names_get(&s->names, key.location, &size);

	if (!name)
		return -1;
	text_char(s->out, '"');
	text_u64(s->out, stack);
	text_puts(s->out, "\":{\"name\":");
	text_put(s->out, name, size);
	if (l && l->symbol && l->symbol->module.size) {
		text_puts(s->out, ",\"category\":");
		json_string(s->out, l->symbol->module.text, l->symbol->module.size);
	}
	if (key.parent) {
		text_puts(s->out, ",\"parent\":");
		text_u64(s->out, key.parent);
	}
	text_char(s->out, '}');
	return 0;
}

int chrome_samples_put(struct chrome_output *s)
{
	struct chrome_samples *k = s->samples;
	bool any = false;

	if (k->lines.size) {
		text_puts(s->out, ",\"samples\":[");
		text_put_buffer(s->out, &k->lines, 0, k->lines.size);
		text_puts(s->out, "\n]");
	}
	/* the number of a caller's stack is below that of the stack */
	for (size_t i = k->nused; i-- > 1;)
		if (k->used[i])
			k->used[stack_table_at(&s->names.dictionary->stacks, (uint32_t)i).parent] =
				1;
	for (size_t i = 1; i < k->nused; i++) {
		if (!k->used[i])
			continue;
		text_puts(s->out, any ? ",\n" : ",\"stackFrames\":{\n");
		any = true;
		if (put_frame(s, (uint32_t)i))
			return -1;
	}
	if (any)
		text_puts(s->out, "\n}");
	return 0;
}

/*
 * call_args.c - the arguments of open calls, and calls as text
 */
#include "cmd/trstat/call_args.h"

#include <stdlib.h>

#include "common/stream/field.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"

/* Largest tail in bytes that is kept unformatted, which is faster than formatting. */
enum { TAIL_KEPT = 1024 };

struct open_call_args_stack {
	struct enter *enter;
	size_t capacity;
};

void open_call_args_free(struct open_call_args *en)
{
	for (size_t i = 0; i < en->size; i++) {
		for (size_t k = 0; k < en->stacks[i].capacity; k++)
			buffer_free(&en->stacks[i].enter[k].payload);
		free(en->stacks[i].enter);
	}
	for (size_t i = 0; i < en->capacity; i++)
		buffer_free(&en->numbered[i].payload);
	free(en->stacks);
	free(en->numbered);
	indexes_free(&en->indexes);
	open_calls_free(&en->open);
	*en = (struct open_call_args){0};
}

static int fill_enter(const struct open_call_args *en, struct enter *n, const struct event *e,
		      uint32_t segment)
{
	n->start = e->time;
	n->segment = segment;
	n->type = e->type;
	n->location = e->location;
	n->fixed_size = e->type->fixed_size;
	n->tail_size = e->tail_size;
	n->payload.size = 0;
	n->text = e->tail_size > TAIL_KEPT;
	if (n->text)
		return call_arguments(&n->payload, en->dictionary, e);
	return buffer_append(&n->payload, e->fixed, n->fixed_size) ||
	       (n->tail_size && buffer_append(&n->payload, e->tail, n->tail_size));
}

static int to_text(struct open_call_args *en, struct enter *n)
{
	const struct event e = {.type = n->type,
				.location = n->location,
				.fixed = n->payload.data,
				.tail = n->payload.data ? n->payload.data + n->fixed_size : NULL,
				.tail_size = n->payload.data ? n->tail_size : 0};
	struct buffer text = {0};

	if (n->start == UINT64_MAX || n->text)
		return 0;
	if (call_arguments(&text, en->dictionary, &e)) {
		buffer_free(&text);
		return -1;
	}
	buffer_free(&n->payload);
	n->payload = text;
	n->text = true;
	return 0;
}

int open_call_args_to_text(struct open_call_args *en)
{
	for (size_t i = 0; i < en->size; i++)
		for (size_t k = 0; k < en->stacks[i].capacity; k++)
			if (to_text(en, &en->stacks[i].enter[k]))
				return -1;
	for (size_t i = 0; i < en->indexes.count; i++)
		if (to_text(en, &en->numbered[i]))
			return -1;
	return 0;
}

static struct enter *open_call_args_grow(struct open_call_args_stack *s, size_t index)
{
	size_t had = s->capacity;
	struct enter *grown;

	if (ARRAY_REACH(s->enter, s->capacity, index))
		return NULL;
	grown = s->enter;
	for (size_t i = had; i < s->capacity; i++)
		grown[i].start = UINT64_MAX;
	return &grown[index];
}

/* Returns the entry of a frame; if it is missing, make decides whether it is added. */
static struct enter *enter_at(struct open_call_args *en, size_t number, size_t index, bool make)
{
	struct open_call_args_stack *s;

	if (number >= en->size) {
		if (!make)
			return NULL;
		if (ARRAY_REACH(en->stacks, en->size, number))
			return NULL;
	}
	s = &en->stacks[number];
	if (index < s->capacity)
		return &s->enter[index];
	return make ? open_call_args_grow(s, index) : NULL;
}

static size_t call_args_stack_number(const struct calls *c, const struct event *e)
{
	size_t thread = calls_thread(e);

	return 2 * thread + (calls_stack(c, e) != c->stacks[thread]);
}

/* Number of frames below n to keep: a frame below all entered frames appears and disappears with
 * what is known of the stack's bottom. */
static size_t open_call_args_frames(const struct stack *s, size_t n)
{
	return n - (n && !s->frames[0].begun);
}

static void give_enter(struct open_call_args *en, uint64_t index)
{
	en->numbered[index].start = UINT64_MAX;
	indexes_give(&en->indexes, (size_t)index);
}

static int call_args_put_numbered(struct open_call_args *en, const struct event *e,
				  uint32_t segment)
{
	uint64_t replaced;
	uint32_t call;
	size_t index;

	if (!field_call(e, &call))
		return 0;
	if (open_calls_take(&en->open, e->lane->source->number, call, &replaced))
		give_enter(en, replaced);
	if (indexes_take(&en->indexes, &index))
		return -1;
	if (ARRAY_REACH(en->numbered, en->capacity, index))
		return -1;
	return fill_enter(en, &en->numbered[index], e, segment) ||
			       open_calls_put(&en->open, e->lane->source->number, call, index)
		       ? -1
		       : 0;
}

int open_call_args_put(struct open_call_args *en, const struct calls *c, const struct event *e,
		       uint32_t segment)
{
	const struct stack *stack;
	struct enter *n;

	if (e->type->flags & TYPE_CALL_NUMBER)
		return call_args_put_numbered(en, e, segment);
	stack = calls_stack(c, e);
	n = enter_at(en, call_args_stack_number(c, e),
		     open_call_args_frames(stack, stack->count - 1), true);
	return n ? fill_enter(en, n, e, segment) : -1;
}

int open_call_args_drop(struct open_call_args *en, const struct calls *c)
{
	struct open_calls kept = {0};
	uint64_t key, index;
	int bad = 0;

	while (!bad && open_calls_take_next(&en->open, &key, &index)) {
		uint32_t source = (uint32_t)((key - 1) >> 32), call = (uint32_t)(key - 1);

		if (open_calls_has(&c->open, source, call))
			bad = open_calls_put(&kept, source, call, index);
		else
			give_enter(en, index);
	}
	open_calls_free(&en->open);
	en->open = kept;
	return bad;
}

const struct enter *open_call_args_take(struct open_call_args *en, const struct calls *c,
					const struct event *e, const struct call *call)
{
	const struct stack *stack;
	uint64_t index;
	struct enter *n;
	uint32_t number;

	if (e->type->flags & TYPE_CALL_NUMBER) {
		if (!field_call(e, &number) ||
		    !open_calls_take(&en->open, e->lane->source->number, number, &index))
			return NULL;
		give_enter(en, index);
		return &en->numbered[index];
	}
	stack = calls_stack(c, e);
	n = enter_at(en, call_args_stack_number(c, e), open_call_args_frames(stack, stack->count),
		     false);
	if (!n || n->start != call->start)
		return NULL;
	n->start = UINT64_MAX;
	return n;
}

/* --- call text --- */

enum { TEXT_MOST = 40, ELEMENTS_MOST = 4 };

static int call_args_put_values(struct value_text *t, const struct event *e,
				enum detail_kind wanted)
{
	const struct location *p = dictionary_location(t->plain.dictionary, e->location);
	size_t before = t->out->size;
	struct values v;
	uint64_t index;
	uint8_t what;

	values_begin(&v, e->tail, e->tail_size);
	while (values_what(&v, &what, &index)) {
		if (what != wanted) {
			if (!values_skip(&v))
				break;
			continue;
		}
		if ((t->out->size > before && buffer_puts(t->out, ", ")) ||
		    (wanted == DETAIL_ARGUMENT &&
		     (argument_put_name(t->out, p, index, false) || buffer_u8(t->out, '='))) ||
		    (value_text_value(t, &v) && !v.bad))
			return -1;
	}
	return 0;
}

/* ftrace gives all events these fields; the thread and the type are known without them. */
static bool call_args_is_common(const struct field *f)
{
	return f->name.size > 7 && !memcmp(f->name.text, "common_", 7);
}

static int call_args_put_fields(struct value_text *t, const struct event *e)
{
	size_t before = t->out->size;

	for (uint32_t i = 0; i < e->type->nfields; i++) {
		const struct field *f = &e->type->fields[i];
		struct field_value v;

		field_get(e, f, 0, &v);
		if (v.form == FORM_NONE || f->role == ROLE_CALL || f->role == ROLE_ROW ||
		    f->role == ROLE_SOURCE_TIME || call_args_is_common(f))
			continue;
		if ((t->out->size > before && buffer_puts(t->out, ", ")) ||
		    buffer_append(t->out, f->name.text, f->name.size) || buffer_u8(t->out, '=') ||
		    value_text_field(t, e, f))
			return -1;
	}
	return 0;
}

static int call_args_put_call(struct buffer *b, const struct dictionary *d, const struct event *e,
			      enum detail_kind wanted)
{
	struct buffer scratch = {0};
	struct value_text t = {.out = b,
			       .plain = {d, &scratch, argument_blobs(e->type)},
			       .bytes = TEXT_MOST,
			       .elements = ELEMENTS_MOST,
			       .depth = 1,
			       .end = SIZE_MAX};
	int bad = e->type->flags & TYPE_VALUES ? call_args_put_values(&t, e, wanted)
					       : call_args_put_fields(&t, e);

	buffer_free(&scratch);
	return bad;
}

int call_arguments(struct buffer *b, const struct dictionary *d, const struct event *e)
{
	return call_args_put_call(b, d, e, DETAIL_ARGUMENT);
}

int call_returned(struct buffer *b, const struct dictionary *d, const struct event *e)
{
	return call_args_put_call(b, d, e, DETAIL_RETURN);
}

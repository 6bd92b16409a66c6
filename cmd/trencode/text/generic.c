/*
 * generic.c - text of sources without a layout of their own: a line per event, `time tid comm name
 * field=value...`
 */
#include "cmd/trencode/text/layout.h"

#include <stdlib.h>

#include "cmd/trencode/text/uftrace.h"
#include "common/value/json.h"
#include "common/value/value_text.h"

struct text_generic {
	struct text *out;
	struct dictionary *dictionary;
	struct buffer values, scratch;
	uint64_t deep; /* stacks of more than STACK_FRAMES frames */
	bool quiet;
};

static int generic_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_generic *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	s->quiet = en->options->flags & ENCODE_QUIET;
	s->values.spills = true;
	return 0;
}

static void generic_print_time(struct text *out, const struct event *ev)
{
	if (ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS) {
		text_u64_wide(out, ev->time, 18, ' ');
		return;
	}
	text_seconds(out, ev->time, 8);
}

static int generic_scalar(void *to, const struct value_item *v)
{
	struct text_generic *s = to;
	const struct plain_source source = {s->dictionary, &s->scratch, true, true};
	struct plain_value plain;
	uint8_t tag = v->value.tag;

	if (tag == VALUE_MISSING)
		return buffer_u8(&s->values, '?');
	if (value_plain(&source, v, &plain))
		return -1;
	if (plain.kind == PLAIN_TEXT && (tag == VALUE_STRING || tag == VALUE_WSTRING))
		return json_append_string(&s->values, plain.text, plain.number);
	return plain_append(&s->values, &plain);
}

static int generic_begin_children(void *to, const struct value_parent *v, const struct values *rest)
{
	(void)v;
	(void)rest;
	return buffer_u8(&((struct text_generic *)to)->values, '{');
}

static int generic_child(void *to, const struct value_parent *v, const struct values *rest)
{
	struct buffer *out = &((struct text_generic *)to)->values;
	const struct text_ref *name = value_child_name(v);

	(void)rest;
	if (v->index && buffer_u8(out, ','))
		return -1;
	return name && name->size &&
			       (buffer_append(out, name->text, name->size) || buffer_u8(out, '='))
		       ? -1
		       : 0;
}

static int generic_end_children(void *to, const struct value_parent *v)
{
	(void)v;
	return buffer_u8(&((struct text_generic *)to)->values, '}');
}

static const struct value_style generic_style = {.scalar = generic_scalar,
						 .begin = generic_begin_children,
						 .child = generic_child,
						 .end = generic_end_children};

static int generic_value(void *to, struct values *v)
{
	return value_walk(&generic_style, to, ((struct text_generic *)to)->dictionary, v);
}

static void generic_print_gap(struct text *out, const struct event *ev)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	text_puts(out, g.reason == GAP_LOST	? " LOST"
		       : g.reason == GAP_DAMAGE ? " DAMAGED"
						: " NOT READ");
	if (g.count != UINT64_MAX) {
		text_char(out, ' ');
		text_u64(out, g.count);
		text_printf(out, " %s", gap_unit_name(g.unit));
	}
	if (g.message_size) {
		text_puts(out, ": ");
		text_masked(out, g.message, g.message_size);
	}
}

/* Append the values and the fields of an event. */
static int generic_append_fields(struct text_generic *s, const struct event *ev)
{
	struct buffer *out = &s->values;

	buffer_clear(out);
	if (ev->type->flags & TYPE_VALUES &&
	    ((ev->type->kind != KIND_LEAVE &&
	      details_append_arguments(out, ev->tail, ev->tail_size, generic_value, s)) ||
	     details_append_return(out, ev->tail, ev->tail_size, generic_value, s)))
		return -1;
	for (uint32_t i = 0; i < ev->type->nfields && ev->type->kind != KIND_GAP; i++) {
		const struct field *f = &ev->type->fields[i];
		uint32_t stack = field_is_stack(f) ? field_stack(s->dictionary, ev, f) : 0;

		if (field_is_stack(f) && !stack)
			continue;
		s->deep += stack_is_deep(s->dictionary, stack);
		if (buffer_u8(out, ' ') || buffer_append(out, f->name.text, f->name.size) ||
		    buffer_u8(out, '='))
			return -1;
		if (stack ? stack_walk(&generic_style, s, s->dictionary, stack)
			  : field_walk(&generic_style, s, ev, f))
			return -1;
	}
	return 0;
}

static int generic_event(void *state, const struct event *ev, struct error *e)
{
	static const char *const marks[] = {[KIND_ENTER] = " {", [KIND_LEAVE] = " }"};
	struct text_generic *s = state;
	const struct lane *lane = ev->lane;
	struct text_ref name = ev->location ? dictionary_location_name(s->dictionary, ev->location)
					    : ev->type->name;

	generic_print_time(s->out, ev);
	text_char(s->out, ' ');
	if (lane->flags & LANE_HAS_TID)
		text_i64(s->out, lane->tid);
	else
		text_char(s->out, '-');
	text_char(s->out, ' ');
	if (lane->comm.size)
		text_masked(s->out, lane->comm.text, lane->comm.size);
	else
		text_char(s->out, '-');
	text_char(s->out, ' ');
	if (ev->type->kind == KIND_SAMPLE && ev->location) {
		text_masked(s->out, ev->type->name.text, ev->type->name.size);
		text_puts(s->out, ": ");
	}
	text_masked(s->out, name.text, name.size);
	if (generic_append_fields(s, ev))
		return error_no_memory(e);
	text_masked_buffer(s->out, &s->values);
	if (ev->type->kind == KIND_GAP)
		generic_print_gap(s->out, ev);
	if (ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE)
		text_puts(s->out, marks[ev->type->kind]);
	text_char(s->out, '\n');
	return 0;
}

static int generic_end(void *state, struct error *e)
{
	struct text_generic *s = state;

	(void)e;
	if (!s->quiet)
		remark_count(s->deep, STACK_DEEP);
	return 0;
}

static void generic_free_state(void *state)
{
	struct text_generic *s = state;

	buffer_free(&s->values);
	buffer_free(&s->scratch);
}

const struct text_layout text_generic = {
	.state_size = sizeof(struct text_generic),
	.begin = generic_begin,
	.event = generic_event,
	.end = generic_end,
	.free = generic_free_state,
};

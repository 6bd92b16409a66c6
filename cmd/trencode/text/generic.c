/*
 * generic.c - text of sources without a layout of their own: a line per event, `time tid comm name
 * field=value...`
 */
#include "cmd/trencode/text/layout.h"

#include <stdlib.h>

#include "common/stream/field.h"
#include "common/value/json.h"
#include "common/value/shortest.h"
#include "common/value/value_names.h"
#include "cmd/trencode/text/values.h"

enum { SECOND = 1000000000 };

struct text_generic {
	struct text *out;
	struct dictionary *dictionary;
	struct buffer values;
};

static int generic_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_generic *s = state;

	(void)e;
	s->out = en->text;
	s->dictionary = en->dictionary;
	return 0;
}

static void generic_print_time(struct text *out, const struct event *ev)
{
	if (ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS) {
		text_u64_wide(out, ev->time, 18, ' ');
		return;
	}
	text_u64_wide(out, ev->time / SECOND, 8, ' ');
	text_char(out, '.');
	text_u64_wide(out, ev->time % SECOND, 9, '0');
}

static void generic_print_number(struct text *out, const struct field *f,
				 const struct field_value *v)
{
	const struct member *m =
		f->kind == FIELD_ENUM ? definition_member(f->definition, v->u) : NULL;

	if (m) {
		text_masked(out, m->name.text, m->name.size);
	} else if (f->kind == FIELD_HEX) {
		text_puts(out, "0x");
		text_hex(out, v->u, 1);
	} else if (v->form == FORM_INT) {
		text_i64(out, v->i);
	} else {
		text_u64(out, v->u);
	}
}

static int generic_print_element(struct text_generic *s, const struct field *f,
				 const struct field_value *v)
{
	struct text *out = s->out;
	char real[SHORTEST_SIZE];

	switch (v->form) {
	case FORM_NONE: text_char(out, '?'); break;
	case FORM_INT:
	case FORM_UINT:
		if (f->kind != FIELD_BITMASK) {
			generic_print_number(out, f, v);
			break;
		}
		buffer_clear(&s->values);
		if (value_bits_text(&s->values, f->definition, v->u))
			return -1;
		text_masked_buffer(out, &s->values);
		break;
	case FORM_REAL: text_put(out, real, shortest_real(real, v->real, v->size)); break;
	case FORM_TEXT:
		if (f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP) {
			for (size_t i = 0; i < v->size; i++)
				text_hex(out, v->text[i], 2);
		} else {
			json_string(out, (const char *)v->text, v->size);
		}
	}
	return 0;
}

static int generic_print_field(struct text_generic *s, const struct event *ev,
			       const struct field *f)
{
	struct text *out = s->out;
	struct field_value v;
	uint32_t n = field_count(ev, f);

	text_char(out, ' ');
	text_masked(out, f->name.text, f->name.size);
	text_char(out, '=');
	field_get(ev, f, 0, &v);
	if (v.form == FORM_TEXT || (n <= 1 && !field_is_array(ev, f)))
		return generic_print_element(s, f, &v);
	text_char(out, '{');
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			text_char(out, ',');
		field_get(ev, f, i, &v);
		if (generic_print_element(s, f, &v))
			return -1;
	}
	text_char(out, '}');
	return 0;
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

static int generic_print_values(struct text_generic *s, const struct event *ev, struct error *e)
{
	struct value_names names = {.dictionary = s->dictionary, .time = ev->time};

	buffer_clear(&s->values);
	s->values.spills = true;
	if ((ev->type->kind != KIND_LEAVE &&
	     value_text_arguments(&s->values, &names, ev->tail, ev->tail_size)) ||
	    value_text_return(&s->values, &names, ev->tail, ev->tail_size))
		return error_no_memory(e);
	text_masked_buffer(s->out, &s->values);
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
	text_masked(s->out, name.text, name.size);
	if (ev->type->flags & TYPE_VALUES && generic_print_values(s, ev, e))
		return -1;
	for (uint32_t i = 0; i < ev->type->nfields && ev->type->kind != KIND_GAP; i++)
		if (generic_print_field(s, ev, &ev->type->fields[i]))
			return error_no_memory(e);
	if (ev->type->kind == KIND_GAP)
		generic_print_gap(s->out, ev);
	if (ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE)
		text_puts(s->out, marks[ev->type->kind]);
	text_char(s->out, '\n');
	return 0;
}

static void generic_free_state(void *state)
{
	struct text_generic *s = state;

	buffer_free(&s->values);
}

const struct text_layout text_generic = {
	.state_size = sizeof(struct text_generic),
	.begin = generic_begin,
	.event = generic_event,
	.free = generic_free_state,
};

#include "cmd/trfilter/expression/operand.h"

#include <stdlib.h>

#include "common/formats/apitrace.h"
#include "common/stream/field.h"
#include "common/util/error.h"
#include "common/value/argument.h"
#include "common/value/value_names.h"
#include "common/value/value_plain.h"

static struct field_lookup *lookup_of(const struct operand *o)
{
	return o->data;
}

static void set_text(struct scalar *s, struct text_ref t)
{
	s->form = SCALAR_TEXT;
	s->text = t.text;
	s->size = t.size;
}

static void set_uint(struct scalar *s, uint64_t u)
{
	s->form = SCALAR_UINT;
	s->u = u;
}

static void set_int(struct scalar *s, int64_t i)
{
	s->form = SCALAR_INT;
	s->i = i;
}

/* Warn once that names are needed in a stream that trsym has not processed. */
static void miss_symbol(struct evaluation *ev, const struct location *p)
{
	if (ev->warned_trsym || ev->quiet || p->name.size || ev->dictionary->symbols.count > 1)
		return;
	ev->warned_trsym = true;
	warn(NULL, NO_OFFSET,
	     "some functions have an address but no name: run trsym before this program");
}

/* Warn if the location's name is needed but trsym has not looked for it. */
static void look_for_symbol(struct evaluation *ev, uint32_t location)
{
	const struct location *p = dictionary_location(ev->dictionary, location);

	if (p && !p->symbol)
		miss_symbol(ev, p);
}

static void location_value(struct evaluation *ev, enum ask ask, const struct location *p,
			   struct scalar *out)
{
	const struct location_symbol *s = p->symbol;

	if (ask == ASK_ADDRESS) {
		/* a named function without an address space has a number there, or nothing */
		if (p->space || !p->name.size)
			set_uint(out, p->address);
		return;
	}
	if (!s) {
		miss_symbol(ev, p);
		return;
	}
	if (ask == ASK_MODULE && s->module.size) {
		set_text(out, s->module);
		out->path = true;
	} else if (ask == ASK_FILE && s->file.size) {
		set_text(out, s->file);
		out->path = true;
	} else if (ask == ASK_LINE && s->line) {
		set_uint(out, s->line);
	}
}

static void name_value(struct evaluation *ev, const struct event *e, struct scalar *out)
{
	const struct location *p = dictionary_location(ev->dictionary, e->location);

	if (!p) {
		set_text(out, e->type->name);
		return;
	}
	if (!p->symbol)
		miss_symbol(ev, p);
	set_text(out, dictionary_location_name(ev->dictionary, e->location));
}

static void class_value(const struct evaluation *ev, const struct event *e, struct scalar *out)
{
	struct text_ref name = dictionary_location_name(ev->dictionary, e->location);
	const char *class = apitrace_class(name.text, name.size);

	if (class)
		set_text(out, (struct text_ref){class, (uint32_t)strlen(class), 0});
}

/* Finish a text with a NUL, for consumers that search for one. Out of memory, the value has no
 * text. */
static void end_text(struct operand *o, struct scalar *out, bool out_of_memory)
{
	struct buffer *made = &lookup_of(o)->text;

	if (out_of_memory || buffer_u8(made, 0))
		made->size = 1;
	made->size--;
	out->text = made->data ? (const char *)made->data : "";
	out->size = made->size;
}

/* Get the value: for a number its text as the source spells it, else the value unchanged. */
static void take_plain(const struct plain_value *plain, struct operand *o, bool out_of_memory,
		       struct scalar *out)
{
	bool made =
		plain->kind == PLAIN_TEXT && plain->text == (const char *)lookup_of(o)->text.data;

	if (out_of_memory || !plain_text(plain, &out->text, &out->size))
		return;
	if (!scalar_is_number(out))
		out->form = SCALAR_TEXT;
	/* ends with a NUL, for the regular expressions */
	if (made)
		end_text(o, out, false);
}

static void take_value(const struct evaluation *ev, struct operand *o, const struct event *e,
		       const struct value_item *item, struct scalar *out)
{
	const struct value *v = &item->value;
	const struct plain_source source = {ev->dictionary, &lookup_of(o)->text,
					    v->tag == VALUE_BLOB && argument_blobs(e->type)};
	struct plain_value plain = {0};
	bool is_signed;

	out->form = SCALAR_OTHER;
	if (v->tag == VALUE_ENUM || v->tag == VALUE_BITMASK)
		out->names = item->definition;
	if (value_integer(v, out->names, &out->u, &is_signed)) {
		out->form = is_signed ? SCALAR_INT : SCALAR_UINT;
		out->character = v->tag == VALUE_NUMBER && v->format == 'c';
		out->bits = v->tag == VALUE_BITMASK;
	} else if (value_real(v, &out->real)) {
		out->form = SCALAR_REAL;
		out->real_size = v->size > 8 ? 0 : v->size;
	} else if (v->tag == VALUE_NULL) {
		set_uint(out, 0);
	}
	if ((!o->spelled && out->form != SCALAR_OTHER) || v->tag == VALUE_ARRAY ||
	    v->tag == VALUE_STRUCT)
		return;
	lookup_of(o)->text.size = 0;
	take_plain(&plain, o, value_plain(&source, item, &plain), out);
}

static void field_value(const struct evaluation *ev, struct operand *o, const struct event *e,
			const struct field *f, struct scalar *out)
{
	struct value_item item;
	struct field_value v;
	uint32_t index = 0;

	if (f->count != 1)
		field_element(f, o->name, &index);
	field_get(e, f, index, &v);
	if (v.form == FORM_NONE)
		return;
	field_item(f, &v, &item);
	take_value(ev, o, e, &item, out);
	out->character = f->kind == FIELD_CHAR && out->form == SCALAR_UINT;
}

/* Take a value of an event's tail. */
static void tail_value(const struct evaluation *ev, struct operand *o, const struct event *e,
		       struct value_item *item, struct scalar *out)
{
	item->definition = NULL;
	if (item->value.definition)
		item->definition = dictionary_definition_id(ev->dictionary, item->value.definition);
	take_value(ev, o, e, item, out);
}

/* Read a detail of a call; path: the element inside the value. */
static bool detail_value(struct evaluation *ev, struct operand *o, const struct event *e,
			 enum detail_kind what, const char *path, struct scalar *out)
{
	struct value_item item;

	if (!argument_detail(ev->dictionary, e, what, lookup_of(o)->index, path, &item.value))
		return false;
	tail_value(ev, o, e, &item, out);
	return true;
}

/* Find the field of that name in the event's type, once for each type. */
static const struct field *field_of(const struct operand *o, const struct type *t)
{
	static const struct field none;
	struct field_lookup *lookup = o->data;
	const struct field **fields;

	if (ARRAY_REACH(lookup->fields, lookup->nfields, t->number))
		return field_find(t, o->name);
	fields = lookup->fields;
	fields += t->number;
	if (!*fields) {
		*fields = field_find(t, o->name);
		*fields = *fields ? *fields : &none;
	}
	return *fields == &none ? NULL : *fields;
}

/* Read a detail of a call other than its arguments. */
static void call_detail(struct evaluation *ev, struct operand *o, const struct event *e,
			struct scalar *out)
{
	struct values frames;
	uint64_t count;
	bool fake;

	if (!strcmp(o->name, "fake") && argument_fake(e, &fake)) {
		set_uint(out, fake);
		out->text = fake ? "true" : "false";
		out->size = strlen(out->text);
	} else if (!strcmp(o->name, "backtrace") && argument_backtrace(e, &frames, &count)) {
		out->form = SCALAR_TEXT;
		lookup_of(o)->text.size = 0;
		end_text(o, out,
			 buffer_reserve(&lookup_of(o)->text, 16) ||
				 value_backtrace_text(&lookup_of(o)->text, ev->dictionary, &frames,
						      count));
	}
}

static void event_field_value(struct evaluation *ev, struct operand *o, const struct event *e,
			      struct scalar *out)
{
	bool call = e->type->kind == KIND_ENTER || e->type->kind == KIND_LEAVE;
	bool values = e->type->flags & TYPE_VALUES;
	const struct field *f;
	struct value_item item;

	if (lookup_of(o)->is_argument && !call && !values)
		return;
	f = field_of(o, e->type);
	if (f)
		field_value(ev, o, e, f, out);
	else if (values && (lookup_of(o)->is_argument || !argument_is_detail(e->type, o->name)) &&
		 argument_find(ev->dictionary, e, o->name, &item.value))
		tail_value(ev, o, e, &item, out);
	else if (values && !lookup_of(o)->is_argument)
		call_detail(ev, o, e, out);
}

bool operand_given(const struct evaluation *ev, struct operand *o, const struct event *e)
{
	struct value v;

	if (o->field == ASK_RETURN)
		return argument_detail(ev->dictionary, e, DETAIL_RETURN, 0, "", &v);
	if (!(o->depends & DEPENDS_ARGUMENT))
		return true;
	if (o->field == ASK_ARGUMENT)
		return argument_given_number(e, lookup_of(o)->index);
	return field_of(o, e->type) || argument_given(ev->dictionary, e, o->name);
}

static void cpu_value(const struct evaluation *ev, struct operand *o, const struct event *e,
		      struct scalar *out)
{
	const struct field *f;

	if (e->lane->flags & LANE_HAS_CPU) {
		set_int(out, e->lane->cpu);
		return;
	}
	f = field_by_role(e->type, ROLE_CPU);
	if (f)
		field_value(ev, o, e, f, out);
}

static void call_value(struct evaluation *ev, const struct operand *o, const struct event *e,
		       struct scalar *out)
{
	const struct call_info *c = ev->call;

	if (!c)
		return;
	switch (o->field) {
	case ASK_DURATION:
		if (c->ended)
			set_uint(out, c->dur);
		return;
	case ASK_SELF:
		if (c->ended && c->has_self)
			set_uint(out, c->self);
		return;
	case ASK_CHILDREN:
		if (c->is_call)
			set_uint(out, c->children);
		return;
	case ASK_CALLER:
		if (c->has_caller) {
			look_for_symbol(ev, c->caller);
			set_text(out, dictionary_location_name(ev->dictionary, c->caller));
		}
		return;
	default:
		if (c->stack) {
			look_for_symbol(ev, e->location);
			c->stack(c->stack_ctx, e, out);
		}
	}
}

static void lane_value(enum ask ask, const struct lane *l, struct scalar *out)
{
	switch (ask) {
	case ASK_TID:
		if (l->flags & LANE_HAS_TID)
			set_int(out, l->tid);
		break;
	case ASK_PID:
		if (l->flags & LANE_HAS_PID)
			set_int(out, l->pid);
		break;
	case ASK_PPID:
		if (l->flags & LANE_HAS_PID)
			set_int(out, l->ppid);
		break;
	case ASK_COMM:
		if (l->comm.size)
			set_text(out, l->comm);
		break;
	case ASK_BUFFER: set_text(out, l->buffer); break;
	case ASK_INPUT: set_text(out, l->source->name); break;
	case ASK_FORMAT: set_text(out, l->source->format); break;
	default: break;
	}
}

void operand_value(struct evaluation *ev, struct operand *o, const struct event *e,
		   struct scalar *out)
{
	const struct lane *l = e->lane;
	const char *kind;

	switch (o->field) {
	case ASK_NAME: name_value(ev, e, out); break;
	case ASK_TYPE: set_text(out, e->type->name); break;
	case ASK_GROUP:
		if (e->type->group.size)
			set_text(out, e->type->group);
		break;
	case ASK_KIND:
		kind = type_kind_name(e->type->kind);
		set_text(out, (struct text_ref){kind, (uint32_t)strlen(kind), 0});
		break;
	case ASK_TIME: set_uint(out, e->time); break;
	case ASK_DEPTH: set_uint(out, e->depth); break;
	case ASK_TID:
	case ASK_PID:
	case ASK_PPID:
	case ASK_COMM:
	case ASK_BUFFER:
	case ASK_INPUT:
	case ASK_FORMAT: lane_value(o->field, l, out); break;
	case ASK_CPU: cpu_value(ev, o, e, out); break;
	case ASK_MODULE:
	case ASK_FILE:
	case ASK_LINE:
	case ASK_ADDRESS:
		if (e->location)
			location_value(ev, o->field,
				       dictionary_location(ev->dictionary, e->location), out);
		break;
	case ASK_CLASS: class_value(ev, e, out); break;
	case ASK_RETURN:
		/* "ret", or "ret." and the path of an element */
		if (!detail_value(ev, o, e, DETAIL_RETURN, o->name + 3 + (o->name[3] == '.'), out))
			event_field_value(ev, o, e, out);
		break;
	case ASK_ARGUMENT: detail_value(ev, o, e, DETAIL_ARGUMENT, "", out); break;
	case ASK_FIELD: event_field_value(ev, o, e, out); break;
	default: call_value(ev, o, e, out);
	}
}

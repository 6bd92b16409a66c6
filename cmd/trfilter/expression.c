/*
 * expression.c - conditions: fields, operands, and their evaluation
 */
#include "cmd/trfilter/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/expr/expression.h"
#include "common/formats/apitrace.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/error.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"

static const struct plain_name *names_find(const char *name, size_t n);
static const char *names_refused(const char *name, size_t n);

/* Parse what follows "arg." or "fparg.", in o->name from that offset on. */
static int resolve_argument(struct lexer *l, struct operand *o, size_t prefix)
{
	struct field_lookup *lookup = o->data;
	const char *what = o->name + prefix;
	bool real = prefix == strlen("fparg.");
	size_t size = strlen(what);

	o->depends = DEPENDS_ROW | DEPENDS_LATER | DEPENDS_ARGUMENT;
	if (strspn(what, "0123456789") < size) {
		if (real)
			return lexer_error(l, o->column, "a number must follow 'fparg.'");
		lookup->is_argument = true;
		o->field = ASK_FIELD;
		o->depends |= DEPENDS_TYPE;
		memmove(o->name, what, size + 1);
		return 0;
	}
	if (size > 6)
		return lexer_error(l, o->column, "the number of the argument is too large");
	o->field = ASK_ARGUMENT;
	lookup->index = strtoul(what, NULL, 10) + (real ? FLOAT_ARGUMENTS : 0);
	return 0;
}

/* Returns the length of "arg." or "fparg." if an argument follows it, else 0. */
static size_t argument_prefix(const char *name)
{
	size_t prefix = !strncmp(name, "fparg.", 6) ? 6 : !strncmp(name, "arg.", 4) ? 4 : 0;

	return name[prefix] ? prefix : 0;
}

/* A call of apitrace is of the frame that it returns in, as in apitrace trim --frames. */
enum { DEPENDS_OF_FRAME = DEPENDS_TYPE | DEPENDS_ROW | DEPENDS_LATER | DEPENDS_ARGUMENT };

/* The language, for pair.c. */
static int condition_field(void *ctx, struct lexer *l, struct operand *o, bool quoted)
{
	size_t size = strlen(o->name), prefix = argument_prefix(o->name);
	/* an element of the return value needs that value */
	bool inside = (!strncmp(o->name, "ret.", 4) || !strncmp(o->name, "ret[", 4)) && size > 4;
	const struct plain_name *plain = quoted ? NULL : names_find(o->name, inside ? 3 : size);
	const char *why = quoted ? NULL : names_refused(o->name, size);

	(void)ctx;
	if (why)
		return lexer_error(l, o->column, "unknown field '%s'; did you mean '%s'?", o->name,
				   why);
	o->data = calloc(1, sizeof(struct field_lookup));
	if (!o->data)
		return lexer_error(l, o->column, "out of memory");
	if (prefix && !quoted)
		return resolve_argument(l, o, prefix);
	o->field = plain ? plain->ask : ASK_FIELD;
	o->form = plain ? plain->form : KNOWN_NOTHING;
	o->depends = plain			 ? plain->depends
		     : !strcmp(o->name, "frame") ? DEPENDS_OF_FRAME
						 : DEPENDS_TYPE | DEPENDS_ROW | DEPENDS_CALL;
	o->words = o->field == ASK_KIND ? expression_kinds : NULL;
	o->of_time = o->field == ASK_TIME || o->field == ASK_DURATION || o->field == ASK_SELF;
	return 0;
}

static void condition_free_field(void *data)
{
	struct field_lookup *lookup = data;

	free(lookup->fields);
	buffer_free(&lookup->text);
	free(lookup);
}

/* Offer the names of all fields that need no declaration. */
static void condition_offer_names(struct nearest *nearest)
{
	for (const struct plain_name *p = names_all(); p->name; p++)
		nearest_offer(nearest, p->name, strlen(p->name));
	nearest_offer_words(nearest, "arg.1 fparg.1");
}

struct check {
	char name[NEAREST_SIZE]; /* of an argument as the user wrote it */
	bool calls;		 /* there are calls, or no events */
};

static enum declared_kind expression_kind_of(void *ctx, const struct operand *o, const char **name)
{
	const struct field_lookup *lookup = o->data;
	struct check *check = ctx;

	*name = o->name;
	if (o->field == ASK_FIELD && lookup->is_argument) {
		snprintf(check->name, sizeof check->name, "arg.%s", o->name);
		*name = check->name;
	}
	switch (o->field) {
	case ASK_FIELD:
	case ASK_ARGUMENT:
	case ASK_RETURN: return DECLARED_FIELD;
	case ASK_DURATION:
	case ASK_DEPTH:
	case ASK_SELF:
	case ASK_CHILDREN: return check->calls ? DECLARED_OTHER : DECLARED_CALL;
	case ASK_CALLER: return check->calls ? DECLARED_CALLER : DECLARED_CALL;
	case ASK_KIND: return DECLARED_KIND;
	case ASK_NAME: return DECLARED_NAME;
	case ASK_TYPE: return DECLARED_TYPE;
	case ASK_GROUP: return DECLARED_GROUP;
	case ASK_COMM: return DECLARED_COMM;
	case ASK_TID: return DECLARED_TID;
	case ASK_PID: return DECLARED_PID;
	case ASK_MODULE: return DECLARED_MODULE;
	case ASK_FILE: return DECLARED_FILE;
	case ASK_CLASS: return DECLARED_CLASS;
	case ASK_BUFFER: return DECLARED_BUFFER;
	case ASK_INPUT: return DECLARED_INPUT;
	case ASK_FORMAT: return DECLARED_FORMAT;
	default: return DECLARED_OTHER;
	}
}

bool condition_has_calls(const struct dictionary *d)
{
	bool events = false;

	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->used && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE))
			return true;
		events |= t->used && kind_is_event(t->kind);
	}
	return !events;
}

int filter_condition_check_names(const struct node *n, const struct declared *all, struct error *e)
{
	struct declared declared = *all;
	struct check check = {.calls = condition_has_calls(all->dictionary)};

	declared.offer = condition_offer_names;
	declared.kind = expression_kind_of;
	declared.ctx = &check;
	return declared_condition(&declared, n, e);
}

/* --- names --- */

static const struct plain_name plain_names[] = {
	{"name", ASK_NAME, KNOWN_TEXT, DEPENDS_NAME, "name of the function, or of the type"},
	{"type", ASK_TYPE, KNOWN_TEXT, DEPENDS_TYPE | DEPENDS_KIND, "name of the event's type"},
	{"group", ASK_GROUP, KNOWN_TEXT, DEPENDS_TYPE, "group of the type"},
	{"kind", ASK_KIND, KNOWN_TEXT, DEPENDS_TYPE | DEPENDS_KIND,
	 "call, enter, leave, instant, counter, sample or gap"},
	{"time", ASK_TIME, KNOWN_NUMBER, DEPENDS_LANE | DEPENDS_ROW | DEPENDS_CALL,
	 "time of the event's clock, in ns or ticks"},
	{"depth", ASK_DEPTH, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_CALL,
	 "number of calls around a call, as recorded"},
	{"tid", ASK_TID, KNOWN_NUMBER, DEPENDS_LANE, "thread"},
	{"pid", ASK_PID, KNOWN_NUMBER, DEPENDS_LANE, "process"},
	{"ppid", ASK_PPID, KNOWN_NUMBER, DEPENDS_LANE, "parent process"},
	{"comm", ASK_COMM, KNOWN_TEXT, DEPENDS_LANE, "name of the thread"},
	{"cpu", ASK_CPU, KNOWN_NUMBER, DEPENDS_LANE | DEPENDS_ROW, "CPU of the event"},
	{"module", ASK_MODULE, KNOWN_TEXT, DEPENDS_LOCATION,
	 "file that contains the function: path or name"},
	{"file", ASK_FILE, KNOWN_TEXT, DEPENDS_LOCATION, "source file of the function"},
	{"line", ASK_LINE, KNOWN_NUMBER, DEPENDS_LOCATION, "line in the source file"},
	{"address", ASK_ADDRESS, KNOWN_NUMBER, DEPENDS_LOCATION, "address of the function"},
	{"class", ASK_CLASS, KNOWN_TEXT, DEPENDS_LOCATION,
	 "class of a graphics call: draw, render, frame, target, marker or query"},
	{"buffer", ASK_BUFFER, KNOWN_TEXT, DEPENDS_LANE, "instance of ftrace, channel of LTTng"},
	{"input", ASK_INPUT, KNOWN_TEXT, DEPENDS_LANE,
	 "input of trdecode, as given on its command line"},
	{"format", ASK_FORMAT, KNOWN_TEXT, DEPENDS_LANE, "format of the input"},
	{"ret", ASK_RETURN, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "return value of a call, or a field ret"},
	{"dur", ASK_DURATION, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "time from a call's enter to its leave, in ns or ticks"},
	{"self", ASK_SELF, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "dur less the time of the callees, in ns or ticks"},
	{"children", ASK_CHILDREN, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "number of calls that the call made directly"},
	{"caller", ASK_CALLER, KNOWN_TEXT, DEPENDS_ROW | DEPENDS_STACK,
	 "function that made the call, or that contains the event"},
	{"stack", ASK_STACK, KNOWN_TEXT, DEPENDS_ROW | DEPENDS_STACK,
	 "names of the open functions, the outermost first: \"main;f;g\""},
	{NULL, ASK_FIELD, KNOWN_NOTHING, 0, NULL},
};

static bool expression_same(const char *a, const char *b, size_t n)
{
	return strlen(a) == n && !memcmp(a, b, n);
}

/* Returns the predefined name of n characters; NULL: it is a field of the event. */
static const struct plain_name *names_find(const char *name, size_t n)
{
	for (const struct plain_name *p = plain_names; p->name; p++)
		if (expression_same(p->name, name, n))
			return p;
	return NULL;
}

const struct plain_name *names_all(void)
{
	return plain_names;
}

/* Returns the name to use instead of one that conditions do not have, or NULL. */
static const char *names_refused(const char *name, size_t n)
{
	return expression_same("total", name, n) ? "dur" : NULL;
}

/* --- operand --- */

static struct field_lookup *lookup_of(const struct operand *o)
{
	return o->data;
}

static void expression_set_text(struct scalar *s, struct text_ref t)
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
		expression_set_text(out, s->module);
		out->path = true;
	} else if (ask == ASK_FILE && s->file.size) {
		expression_set_text(out, s->file);
		out->path = true;
	} else if (ask == ASK_LINE && s->line) {
		set_uint(out, s->line);
	}
}

static void name_value(struct evaluation *ev, const struct event *e, struct scalar *out)
{
	const struct location *p = dictionary_location(ev->dictionary, e->location);

	if (!p) {
		expression_set_text(out, e->type->name);
		return;
	}
	if (!p->symbol)
		miss_symbol(ev, p);
	expression_set_text(out, dictionary_location_name(ev->dictionary, e->location));
}

static void class_value(const struct evaluation *ev, const struct event *e, struct scalar *out)
{
	struct text_ref name = dictionary_location_name(ev->dictionary, e->location);
	const char *class = apitrace_class(name.text, name.size);

	if (class)
		expression_set_text(out, (struct text_ref){class, (uint32_t)strlen(class), 0});
}

/* Finish a text with a NUL, for consumers that search for one. Out of memory, the value has no
 * text. */
static void expression_end_text(struct operand *o, struct scalar *out, bool out_of_memory)
{
	struct buffer *made = &lookup_of(o)->text;

	if (out_of_memory || buffer_u8(made, 0))
		made->size = 1;
	made->size--;
	out->text = made->data ? (const char *)made->data : "";
	out->size = made->size;
}

/* Get the value: for a number its text as the source spells it, else the value unchanged. */
static void expression_take_plain(const struct plain_value *plain, struct operand *o,
				  bool out_of_memory, struct scalar *out)
{
	bool made =
		plain->kind == PLAIN_TEXT && plain->text == (const char *)lookup_of(o)->text.data;

	if (out_of_memory || !plain_text(plain, &out->text, &out->size))
		return;
	if (!scalar_is_number(out))
		out->form = SCALAR_TEXT;
	/* ends with a NUL, for the regular expressions */
	if (made)
		expression_end_text(o, out, false);
}

static void expression_take_value(const struct evaluation *ev, struct operand *o,
				  const struct event *e, const struct value_item *item,
				  struct scalar *out)
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
	expression_take_plain(&plain, o, value_plain(&source, item, &plain), out);
}

static void expression_field_value(const struct evaluation *ev, struct operand *o,
				   const struct event *e, const struct field *f, struct scalar *out)
{
	struct value_item item;
	struct field_value v;
	uint32_t index = 0;

	if (f->count > 1 || f->where > WHERE_STRING)
		field_element(f, o->name, &index);
	field_get(e, f, index, &v);
	if (v.form == FORM_NONE)
		return;
	/* most fields: else 'trfilter "frame >= 10"' of t/bench/apitrace.sh takes 1.1 times as long
	 */
	if (!o->spelled && f->kind <= FIELD_HEX && v.form <= FORM_UINT) {
		out->form = v.form == FORM_INT ? SCALAR_INT : SCALAR_UINT;
		out->u = v.u;
		return;
	}
	field_item(f, &v, &item);
	expression_take_value(ev, o, e, &item, out);
	out->character = f->kind == FIELD_CHAR && out->form == SCALAR_UINT;
}

/* Take a value of an event's tail. */
static void tail_value(const struct evaluation *ev, struct operand *o, const struct event *e,
		       struct value_item *item, struct scalar *out)
{
	item->definition = NULL;
	if (item->value.definition)
		item->definition = dictionary_definition_id(ev->dictionary, item->value.definition);
	expression_take_value(ev, o, e, item, out);
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
static const struct field *expression_field_of(const struct operand *o, const struct type *t)
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
		expression_end_text(o, out,
				    buffer_reserve(&lookup_of(o)->text, 16) ||
					    value_backtrace_text(&lookup_of(o)->text,
								 ev->dictionary, &frames, count));
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
	f = expression_field_of(o, e->type);
	if (f)
		expression_field_value(ev, o, e, f, out);
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
	return expression_field_of(o, e->type) || argument_given(ev->dictionary, e, o->name);
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
		expression_field_value(ev, o, e, f, out);
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
			expression_set_text(out,
					    dictionary_location_name(ev->dictionary, c->caller));
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
			expression_set_text(out, l->comm);
		break;
	case ASK_BUFFER: expression_set_text(out, l->buffer); break;
	case ASK_INPUT: expression_set_text(out, l->source->name); break;
	case ASK_FORMAT: expression_set_text(out, l->source->format); break;
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
	case ASK_TYPE: expression_set_text(out, e->type->name); break;
	case ASK_GROUP:
		if (e->type->group.size)
			expression_set_text(out, e->type->group);
		break;
	case ASK_KIND:
		kind = type_kind_name(e->type->kind);
		expression_set_text(out, (struct text_ref){kind, (uint32_t)strlen(kind), 0});
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

/* --- evaluate --- */

static void give_field(void *ctx, struct operand *field, struct scalar *out)
{
	struct evaluation *ev = ctx;

	operand_value(ev, field, ev->event, out);
}

static bool evaluate_values(struct evaluation *ev, const struct node *n)
{
	const struct expression_values values = {.field = give_field, .ctx = ev};

	return expression_leaf(&values, n);
}

/* Returns the entry of that number; without memory there is no cache. */
static struct verdict *verdict_at(struct verdicts *v, uint32_t number)
{
	struct verdict *at;

	if (ARRAY_REACH(v->at, v->size, number))
		return NULL;
	at = v->at;
	return &at[number];
}

/* Returns the cache entry for this event; NULL if the answer depends on more than one entry. */
static struct verdict *cached_verdict(struct evaluation *ev, struct node *n, const struct event *e,
				      const struct location_symbol **symbol)
{
	struct node_marks *notes = n->data;

	*symbol = NULL;
	if (n->nfields == 1 && n->fields[0]->field == ASK_STACK) {
		uint32_t node = ev->call ? ev->call->node : 0;

		return node ? verdict_at(&notes->by_stack, node) : NULL;
	}
	switch (n->depends & ~DEPENDS_KIND) {
	case DEPENDS_LANE: return verdict_at(&notes->by_lane, e->lane->number);
	case DEPENDS_TYPE: return verdict_at(&notes->by_type, e->type->number);
	case DEPENDS_NAME:
		if (!e->location)
			return verdict_at(&notes->by_type, e->type->number);
		break;
	case DEPENDS_LOCATION: break;
	default: return NULL;
	}
	if (e->location)
		*symbol = dictionary_location(ev->dictionary, e->location)->symbol;
	return verdict_at(&notes->by_location, e->location);
}

/* Without the cache 'trdecode | trsym | trfilter | trstat' of t/bench/uftrace.sh takes 1.17 times
 * the instructions with the condition name =~ "f.b" && dur > 1us, and 2.6 times with one on stack.
 */
static bool evaluate_cached(struct evaluation *ev, struct node *n, const struct event *e)
{
	const struct location_symbol *symbol;
	struct verdict *v = cached_verdict(ev, n, e, &symbol);
	bool holds;

	if (v && v->state && v->symbol == symbol)
		return v->state == 2;
	holds = evaluate_values(ev, n);
	if (v)
		*v = (struct verdict){symbol, holds ? 2 : 1};
	return holds;
}

/* Evaluate the most common conditions on a row without general values: without this
 * 'trdecode | trsym | trfilter "depth < 4" | trencode -t text' of t/bench/uftrace.sh takes 1.16
 * times the instructions. */
static bool evaluate_quick(const struct node *n, const struct event *e)
{
	uint64_t left = n->left->field == ASK_TIME ? e->time : e->depth, right = n->right->value.u;

	return comparison_holds(n->comparison, left < right   ? ORDER_LESS
					       : left > right ? ORDER_GREATER
							      : ORDER_EQUAL);
}

bool evaluate_number(const struct node *n, uint64_t left)
{
	const struct scalar s = {.form = SCALAR_UINT, .u = left};

	return comparison_holds(n->comparison, scalar_compare(&s, &n->right->value));
}

static bool evaluate_leaf(struct evaluation *ev, struct node *n, const struct event *e)
{
	switch (n->kind) {
	case NODE_UNDER: return ev->call && ev->call->under >> node_marks(n)->mark & 1;
	case NODE_OVER: return ev->call && ev->call->over >> node_marks(n)->mark & 1;
	default: return node_marks(n)->quick ? evaluate_quick(n, e) : evaluate_cached(ev, n, e);
	}
}

static enum answer evaluate_node(void *evaluation, struct node *n)
{
	struct evaluation *ev = evaluation;

	return expression_joined(n) ? expression_join(n, evaluate_node, ev)
				    : (enum answer)evaluate_leaf(ev, n, ev->event);
}

bool evaluate(struct evaluation *ev, struct node *n, const struct event *e)
{
	ev->event = e;
	return evaluate_node(ev, n);
}

/* --- condition --- */

/* Refuse to test values together that are never known at the same time: the enter's value is not
 * kept until the leave. */
static int check_times(struct lexer *l, const struct node *n, size_t column)
{
	const struct operand *right = operand_field(n->right);
	unsigned first = 0, times;

	for (size_t i = 0; i < n->nfields; i++) {
		times = n->fields[i]->depends & (DEPENDS_LATER | DEPENDS_ARGUMENT);
		if (i && times != first && right && right->field == ASK_FIELD)
			return lexer_error(
				l, right->column,
				"an argument cannot be compared with a field; quote a text: \"%s\"",
				right->name);
		if (i && times != first)
			return lexer_error(l, column,
					   "a value of the enter cannot be compared with a value "
					   "of the whole call");
		first = times;
	}
	return 0;
}

static int expression_check_leaf(struct lexer *l, struct node *n, size_t column)
{
	if (n->kind != NODE_UNDER && n->kind != NODE_OVER)
		return check_times(l, n, column);
	if (condition_of_calls(n->children[0]))
		return lexer_error(
			l, column,
			"%s tests the enter of a call: its name, thread, time, fields or arguments",
			n->kind == NODE_UNDER ? "under()" : "over()");
	/* not those of the child: they may include the kind */
	n->depends = DEPENDS_ROW | DEPENDS_STACK | (n->kind == NODE_OVER ? DEPENDS_LATER : 0);
	return 0;
}

static void free_notes(void *data)
{
	struct node_marks *notes = data;

	free(notes->by_location.at);
	free(notes->by_type.at);
	free(notes->by_lane.at);
	free(notes->by_stack.at);
	free(notes);
}

static const struct language language = {
	.field = condition_field,
	.leaf = expression_check_leaf,
	.free_field = condition_free_field,
	.free_node = free_notes,
};

/* Use arguments and return value of the row itself, where calls are not followed. */
static void ask_of_rows(struct node *n)
{
	if (n->kind == NODE_UNDER || n->kind == NODE_OVER)
		return;
	n->depends = 0;
	for (size_t i = 0; i < n->nchildren; i++) {
		ask_of_rows(n->children[i]);
		n->depends |= n->children[i]->depends;
	}
	for (size_t i = 0; i < n->nfields; i++) {
		struct operand *o = n->fields[i];

		if (o->depends & DEPENDS_ARGUMENT || o->field == ASK_RETURN)
			o->depends = DEPENDS_ROW | DEPENDS_KIND;
		n->depends |= o->depends;
	}
}

/* Make the notes of all nodes. Returns -1 when out of memory. */
static int make_notes(struct node *n)
{
	struct node_marks *notes = n->data = calloc(1, sizeof *notes);

	if (!notes)
		return -1;
	notes->quick = n->kind == NODE_COMPARE &&
		       (operand_asks(n->left, ASK_TIME) || operand_asks(n->left, ASK_DEPTH)) &&
		       operand_literal(n->right) && n->right->value.form == SCALAR_UINT;
	for (size_t i = 0; i < n->nchildren; i++)
		if (make_notes(n->children[i]))
			return -1;
	return 0;
}

struct node *filter_condition_parse(const char *text, struct error *e)
{
	struct node *n = expression_parse(text, &language, e);

	if (n && n->depends & DEPENDS_KIND)
		ask_of_rows(n);
	if (n && make_notes(n)) {
		error_no_memory(e);
		filter_condition_free(n);
		return NULL;
	}
	return n;
}

void filter_condition_free(struct node *n)
{
	expression_free(n, &language);
}

bool condition_asks(const struct node *n, enum ask ask)
{
	bool found = false;

	for (size_t i = 0; i < n->nfields; i++)
		found |= n->fields[i]->field == ask;
	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = condition_asks(n->children[i], ask);
	return found;
}

bool condition_of_calls(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER ||
		     (!n->nchildren && n->depends & (DEPENDS_LATER | DEPENDS_STACK) &&
		      !(n->depends & DEPENDS_ARGUMENT));

	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = condition_of_calls(n->children[i]);
	return found;
}

enum reads_values condition_reads_values(const struct node *n)
{
	enum reads_values reads = READS_NO_VALUES, more;

	for (size_t i = 0; i < n->nfields; i++) {
		const struct operand *o = n->fields[i];
		const struct field_lookup *lookup = o->data;

		if (o->field == ASK_RETURN || o->field == ASK_ARGUMENT || lookup->is_argument)
			return READS_ALL;
		/* The calls of apitrace have these fields, and their arguments are costly to check.
		 */
		if (o->field == ASK_FIELD)
			reads = strcmp(o->name, "frame") && strcmp(o->name, "call") ? READS_ALL
										    : READS_EVENTS;
		if (reads == READS_ALL)
			return reads;
	}
	for (size_t i = 0; i < n->nchildren; i++) {
		more = condition_reads_values(n->children[i]);
		reads = more > reads ? more : reads;
	}
	return reads;
}

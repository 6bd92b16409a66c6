/*
 * rows.c - a condition, compiled and evaluated row by row in the order of the stream
 *
 *     keep name == "read"     tested once for each function or type
 *     and  tid == 7           tested once for each thread
 *     and  dur > 1000000ns    tested for each call, as soon as the result is known (call_filter.c)
 */
#include "cmd/trfilter/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trfilter/block_queue.h"
#include "common/formats/apitrace.h"
#include "common/pairs/flows.h"
#include "common/scheduling/states.h"
#include "common/stream/field.h"
#include "common/stream/value.h"
#include "common/util/error.h"
#include "common/util/hash.h"
#include "common/util/text.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"
#include "common/util/text.h"

/* --- fields, operands, and their evaluation --- */

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

/* Get the length of "arg." or "fparg." if an argument follows it, else 0. */
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
	((struct field_lookup *)o->data)->is_part = strpbrk(o->name + prefix, "[.");
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
	if (lookup->flows)
		flows_free(lookup->flows);
	free(lookup->flows);
	free(lookup);
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
	{"flow", ASK_FLOW, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_CALL,
	 "flow that the event is part of: any of them"},
	{"ret", ASK_RETURN, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "return value of a call, or a field ret"},
	{"dur", ASK_DURATION, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "time from a call's enter to its leave, in ns or ticks"},
	{"self", ASK_SELF, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "dur less the time of the callees, in ns or ticks"},
	{"children", ASK_CHILDREN, KNOWN_NUMBER, DEPENDS_ROW | DEPENDS_LATER,
	 "number of calls that the call made directly"},
	{"running", ASK_STATE + STATE_RUNNING, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time of a call in which its thread had a CPU, in ns"},
	{"runnable", ASK_STATE + STATE_RUNNABLE, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time in which its thread waited for a CPU"},
	{"sleeping", ASK_STATE + STATE_SLEEPING, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time in which its thread was asleep"},
	{"blocked", ASK_STATE + STATE_BLOCKED, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time in which its thread was uninterruptible"},
	{"iowait", ASK_STATE + STATE_IOWAIT, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time in which its thread waited for I/O"},
	{"offcpu", ASK_STATE + STATE_OFFCPU, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time off the CPU of which the trace has no cause"},
	{"unknown", ASK_STATE + STATE_UNKNOWN, KNOWN_NOTHING, DEPENDS_ROW | DEPENDS_LATER,
	 "time in which the trace lacks switches of its thread"},
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

/* Get the predefined name of n characters; NULL: it is a field of the event. */
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

/* Get the name to use instead of one that conditions do not have, or NULL. */
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
					    v->tag == VALUE_BLOB && argument_blobs(e->type), true};
	const struct definition *d = item->definition;
	struct plain_value plain = {0};
	bool is_signed;

	out->form = SCALAR_OTHER;
	if (value_integer(v, d, &out->u, &is_signed)) {
		out->form = is_signed ? SCALAR_INT : SCALAR_UINT;
		out->character = v->tag == VALUE_NUMBER && v->format == 'c';
		out->names = d;
		out->bits = v->tag == VALUE_BITMASK || (d && d->kind == DEFINITION_BITMASK);
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

	if (lookup_of(o)->is_part) {
		field_named_item(e, f, o->name, &item);
	} else {
		field_get(e, f, 0, &v);
		/* most fields: else 'trfilter "frame >= 10"' of t/bench/apitrace.sh takes 1.1 times
		 * as long */
		if (!o->spelled && f->kind <= FIELD_HEX &&
		    (v.form == FORM_INT || v.form == FORM_UINT)) {
			out->form = v.form == FORM_INT ? SCALAR_INT : SCALAR_UINT;
			out->u = v.u;
			return;
		}
		field_item(f, &v, &item);
	}
	if (item.value.tag == VALUE_MISSING)
		return;
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

/* Read the flows of an event. Returns their number, 0 when out of memory. */
static unsigned read_flows(const struct evaluation *ev, struct operand *o, const struct event *e)
{
	struct field_lookup *lookup = lookup_of(o);

	if (!lookup->flows)
		lookup->flows = calloc(1, sizeof(*lookup->flows));
	if (!lookup->flows)
		return 0;
	lookup->flows->dictionary = ev->dictionary;
	return flows_read(lookup->flows, e);
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

static void state_value(struct evaluation *ev, struct operand *o, const struct event *e,
			struct scalar *out)
{
	if (ev->call && ev->call->ended && ev->call->states)
		set_uint(out, ev->call->states[o->field - ASK_STATE]);
	else if (e->type)
		event_field_value(ev, o, e, out);
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

/* Read the value of a field; *out is SCALAR_NONE before. Texts point into the event, the dictionary
 * or the operand, and are valid as long as these are. */
static void operand_value(struct evaluation *ev, struct operand *o, const struct event *e,
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
	case ASK_FLOW:
		if (lookup_of(o)->flows && lookup_of(o)->flows->count)
			set_uint(out, lookup_of(o)->flow);
		else
			event_field_value(ev, o, e, out);
		break;
	default:
		if (o->field >= ASK_STATE)
			state_value(ev, o, e, out);
		else
			call_value(ev, o, e, out);
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
	struct operand *flow = NULL;
	unsigned flows = 0;

	for (size_t i = 0; i < n->nfields && !flow; i++)
		flow = n->fields[i]->field == ASK_FLOW ? n->fields[i] : NULL;
	if (flow)
		flows = read_flows(ev, flow, ev->event);
	for (unsigned i = 0; i < flows; i++) {
		lookup_of(flow)->flow = lookup_of(flow)->flows->parts[i].id;
		if (expression_leaf(&values, n))
			return true;
	}
	return !flows && expression_leaf(&values, n);
}

/* Get the entry of that number; without memory there is no cache. */
static inline struct verdict *verdict_at(struct node_marks *m, enum verdict_of of, uint32_t number)
{
	return ARRAY_REACH(m->verdicts[of], m->nverdicts[of], number) ? NULL
								      : &m->verdicts[of][number];
}

/* Get the cache entry for this event; NULL if the answer depends on more than one entry. */
static struct verdict *cached_verdict(struct evaluation *ev, struct node *n, const struct event *e,
				      const struct location_symbol **symbol)
{
	struct node_marks *notes = n->data;

	*symbol = NULL;
	if (n->nfields == 1 && n->fields[0]->field == ASK_STACK) {
		uint32_t node = ev->call ? ev->call->node : 0;

		return node ? verdict_at(notes, OF_STACK, node) : NULL;
	}
	switch (n->depends & ~DEPENDS_KIND) {
	case DEPENDS_LANE: return verdict_at(notes, OF_LANE, e->lane->number);
	case DEPENDS_TYPE: return verdict_at(notes, OF_TYPE, e->type->number);
	case DEPENDS_NAME:
		if (!e->location)
			return verdict_at(notes, OF_TYPE, e->type->number);
		break;
	case DEPENDS_LOCATION: break;
	default: return NULL;
	}
	if (e->location)
		*symbol = dictionary_location(ev->dictionary, e->location)->symbol;
	return verdict_at(notes, OF_LOCATION, e->location);
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

/* Read the word that an argument is compared with as a text: arguments are not compared with
 * fields. */
static void read_as_text(struct node *n)
{
	struct operand *word = n->right;

	condition_free_field(word->data);
	word->data = NULL;
	word->kind = OPERAND_LITERAL;
	word->form = KNOWN_TEXT;
	word->value = (struct scalar){
		.form = SCALAR_TEXT, .text = word->name, .size = strlen(word->name)};
	n->nfields = 1;
	n->depends = n->left->depends;
}

/* Refuse to test values together that are never known at the same time: the enter's value is not
 * kept until the leave. */
static int check_times(struct lexer *l, struct node *n, size_t column)
{
	const struct operand *right = operand_field(n->right);
	unsigned first = 0, times;

	if (right && right->word && right->field == ASK_FIELD && operand_field(n->left) &&
	    n->left->form == KNOWN_NOTHING &&
	    n->left->depends & (DEPENDS_LATER | DEPENDS_ARGUMENT)) {
		read_as_text(n);
		return 0;
	}
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

/* Returns true if the condition needs more than a single row: the calls around it, or what
 * follows an enter. Arguments are those in the row. */
static bool condition_of_calls(const struct node *n)
{
	bool found = n->kind == NODE_UNDER || n->kind == NODE_OVER ||
		     (!n->nchildren && n->depends & (DEPENDS_LATER | DEPENDS_STACK) &&
		      !(n->depends & DEPENDS_ARGUMENT));

	for (size_t i = 0; i < n->nchildren && !found; i++)
		found = condition_of_calls(n->children[i]);
	return found;
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

	for (size_t i = 0; i < VERDICT_KINDS; i++)
		free(notes->verdicts[i]);
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

/* Parse a condition into a tree, to be freed with filter_condition_free. Returns NULL with e
 * filled: column and fault. */
static struct node *filter_condition_parse(const char *text, struct error *e)
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

enum reads_values condition_reads_values(const struct node *n)
{
	enum reads_values reads = READS_NO_VALUES, more;

	for (size_t i = 0; i < n->nfields; i++) {
		const struct operand *o = n->fields[i];
		const struct field_lookup *lookup = o->data;

		if (o->field == ASK_RETURN || o->field == ASK_ARGUMENT || o->field == ASK_FLOW ||
		    lookup->is_argument)
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

/* --- a mark for each enter until its leave --- */

/*
 * For a filter that decides events one by one and keeps only the decision of each enter: the call
 * engine with calls.balances and calls.pairs_only. struct pairing_block does the same for whole
 * blocks.
 */

/* Get the data of frame i of a stack. */
static inline uint64_t *pairing_data(const struct pairing *p, const struct stack *s, size_t i)
{
	return calls_data(&p->calls, s, i);
}

/* Get the bit for calls with that mark, 0 or 1, and calls of types with TYPE_INNER or not. */
static inline uint8_t pairing_ended(uint32_t mark, bool inner)
{
	return (uint8_t)(1 << (2 * inner + (mark & 1)));
}

/*
 * The same for blocks of narrow rows: what the rows are for the engine, and runs of rows with
 * equal marks, of which most rows are skipped.
 */

struct pairing_block {
	struct pairing *pairing;
	const struct block *block;
	bool runs; /* runs are allowed: no thread has two lanes */
	bool fit;  /* all types are fit for runs */
	struct calls_rows rows;
	/* by type: */
	uint8_t enters[256]; /* is it of calls: KIND_ENTER or KIND_LEAVE, else 0 */
	uint8_t kinds[256];  /* the same for those that calls.h understands */
	uint8_t unfit[256]; /* 1 for rows that cannot be in a run: with a payload, or other calls */
};

/*
 * Notes by lane and depth, instead of stacks, for callers that go through all rows of a block of
 * fit types and check that each leave has the mark found here. A mark is 0 or 1; with PAIRING_FREE
 * set, no call with an enter is open.
 */
enum { PAIRING_FREE = 2, PAIRING_LANES = 64 };
struct pairing_marks {
	uint8_t at[PAIRING_LANES * RUN_DEPTHS];
};

/* Take a row of a call that the engine does not process in line. Returns as pairing_row. */
static uint32_t pairing_other_row(struct pairing_block *pb, const uint8_t *row, uint32_t mark)
{
	const struct calls_row_type *t = &pb->rows.types[row_type_at(row)];
	const struct lane *lane = pb->block->lanes[row_lane_at(row)];
	struct calls *c = &pb->pairing->calls;
	struct events it;
	struct event e;

	if (t->numbered && calls_try_by_number(c, t->numbered, lane->source->number,
					       get_u32(row + t->call)) != CALLS_SLOW) {
		if (t->numbered == KIND_ENTER)
			*(uint64_t *)c->data = mark + 1ull;
		return (uint32_t) * (uint64_t *)c->data - 1;
	}
	events_begin(&it, pb->block);
	it.row = row;
	if (!event_next(&it, &e))
		return mark;
	if (e.type->kind == KIND_ENTER)
		pairing_enter(pb->pairing, &e, mark);
	else
		pairing_leave(pb->pairing, &e, &mark);
	return mark;
}

/* Take a row of a call, of that word. Returns the mark of its call: own, unless the row is a leave
 * whose enter was seen. */
static inline __attribute__((always_inline)) uint32_t
pairing_row(struct pairing_block *pb, const uint8_t *row, uint64_t w, uint32_t mark)
{
	const struct calls_row_type *t = &pb->rows.types[row_type(w)];
	struct stack *s = pb->rows.stacks[row_lane(w) + t->stack];
	const struct event e = {.depth = row_depth(w)};
	uint64_t *data;

	switch (calls_try_on(s, t->kind, &e, NULL, true)) {
	case CALLS_ENTER:
		data = pairing_data(pb->pairing, s, s->count - 1);
		*data = mark + 1ull;
		return mark;
	case CALLS_LEAVE: return (uint32_t)*pairing_data(pb->pairing, s, s->count) - 1;
	default: return pairing_other_row(pb, row, mark);
	}
}

static void pairing_lost(void *ctx, struct stack *s, const struct frame *f, void *data,
			 enum calls_lost why)
{
	struct pairing *p = ctx;
	uint64_t mark = *(uint64_t *)data;
	uint8_t flag = f->inner ? ROW_ENDS_INNER : ROW_ENDS;

	(void)s;
	/* a call without an enter has the decision of its leave, which is missing */
	if (!mark)
		p->ended |= pairing_ended(0, f->inner) | pairing_ended(1, f->inner);
	else if (p->lost)
		p->lost(p->ctx, (uint32_t)mark - 1, why == LOST_NUMBER ? 0 : flag);
	else if (why != LOST_NUMBER)
		p->ended |= pairing_ended((uint32_t)mark - 1, f->inner);
}

void pairing_init(struct pairing *p, struct dictionary *d)
{
	calls_init(&p->calls, d);
	p->calls.balances = p->calls.pairs_only = true;
	p->calls.data_size = sizeof(uint64_t);
	p->calls.on_lost = pairing_lost;
	p->calls.on_lost_ctx = p;
}

void pairing_free(struct pairing *p)
{
	calls_free(&p->calls);
}

void pairing_forget(struct pairing *p)
{
	struct dictionary *d = p->calls.dictionary;

	calls_free(&p->calls);
	pairing_init(p, d);
	p->ended = 0;
}

static __attribute__((noinline)) uint64_t *pairing_take_rare(struct pairing *p,
							     const struct event *e)
{
	struct call call;

	return calls_slow(&p->calls, e, &call) == CALLS_NONE ? NULL : call.data;
}

/* Get the data of the call of a row; NULL: the row is of no call. Common rows are paired
 * inline. */
static inline __attribute__((always_inline)) uint64_t *
pairing_take_row(struct pairing *p, const struct event *e, uint8_t kind)
{
	enum calls_result got = CALLS_SLOW;
	uint32_t call;

	if (!(e->type->flags & TYPE_CALL_NUMBER))
		got = calls_try_event(&p->calls, e, NULL, true);
	else if (field_call(e, &call))
		got = calls_try_by_number(&p->calls, kind, e->lane->source->number, call);
	return got == CALLS_SLOW ? pairing_take_rare(p, e) : p->calls.data;
}

void pairing_enter(struct pairing *p, const struct event *e, uint32_t mark)
{
	uint64_t *data = pairing_take_row(p, e, KIND_ENTER);

	if (data)
		*data = mark + 1ull;
	else if (p->lost)
		p->lost(p->ctx, mark, 0);
}

bool pairing_leave(struct pairing *p, const struct event *e, uint32_t *mark)
{
	const uint64_t *data = pairing_take_row(p, e, KIND_LEAVE);

	if (!data)
		return false;
	if (!*data)
		p->ended |= PAIRING_ENDED_OWN;
	else
		*mark = (uint32_t)*data - 1;
	return *data;
}

void pairing_drop(struct pairing *p, const struct event *e)
{
	pairing_take_rare(p, e);
}

/* --- pairing block --- */

/* Returns true if calls begin or end in the block. */
static bool pairing_has_calls(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (type_is_call(b->types[i]))
			return true;
	return false;
}

/* Prepare for a block of narrow rows, which belongs to the caller. Returns false if the block does
 * not suit, because it has locations of an exec, or out of memory. */
static bool pairing_block_begin(struct pairing_block *pb, struct pairing *p, const struct block *b)
{
	struct calls *c = &p->calls;

	pb->pairing = p;
	pb->block = b;
	pb->fit = true;
	memset(pb->enters, 0, sizeof pb->enters);
	memset(pb->kinds, 0, sizeof pb->kinds);
	memset(pb->unfit, 1, sizeof pb->unfit);
	for (uint32_t i = 0; i < b->nlocations; i++)
		if (calls_enters_exec(c, b->locations[i + 1]))
			return false;
	if (calls_rows(c, b, &pb->rows))
		return false;
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];

		pb->enters[i] = type_is_call(t) ? t->kind : 0;
		pb->kinds[i] = t->flags & TYPE_PER_CPU ? 0 : pb->rows.types[i].kind;
		pb->unfit[i] =
			t->fixed_size || t->flags & TYPE_TAIL || pb->enters[i] != pb->kinds[i];
		pb->fit &= !pb->unfit[i];
	}
	pb->runs = !p->lost && !calls_rows_shared(&pb->rows, b);
	return true;
}

static struct stack *pairing_stack_of(const struct pairing_block *pb, uint32_t lane)
{
	return pb->rows.stacks[lane];
}

/* Replace the open calls of a lane by those at the end of a run. Returns the number of the first
 * call that the run entered. */
static size_t take_lane(struct pairing_block *pb, const struct calls_run *r, uint32_t lane)
{
	size_t first;

	/* out of memory: noted in the engine */
	calls_run_end(&pb->pairing->calls, pairing_stack_of(pb, lane), r, lane, &first);
	return first;
}

/*
 * Take the rows [from, to) of a block for runs, all of fit types. Every enter gets the mark, and
 * every leave has it by itself. Returns false, with nothing done, if a call that was entered
 * earlier with another mark may end in these rows; they must then be taken one by one. Rows need no
 * check but for their size.
 */
static bool pairing_run(struct pairing_block *pb, const uint8_t *from, const uint8_t *to,
			uint32_t mark)
{
	uint32_t nlanes = pb->block->nlanes;
	struct calls_run r;

	if (!pb->runs)
		return false;
	calls_run_read(&r, pb->kinds, nlanes, from, to);
	for (uint32_t i = 0; i < nlanes && i < 256; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		if (!calls_run_fits(&r, s, i))
			return false;
		for (size_t n = s->count; n && s->frames[n - 1].depth >= r.low[i]; n--)
			if (*pairing_data(pb->pairing, s, n - 1) != mark + 1ull)
				return false;
	}
	for (uint32_t i = 0; i < nlanes && i < 256; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		for (size_t n = take_lane(pb, &r, i); n < s->count; n++)
			*pairing_data(pb->pairing, s, n) = mark + 1ull;
	}
	return true;
}

/* Fill in n from the stacks. Returns false if there are too many lanes. */
static bool pairing_marks(const struct pairing_block *pb, struct pairing_marks *n)
{
	uint32_t nlanes = pb->block->nlanes;

	if (nlanes > PAIRING_LANES)
		return false;
	memset(n->at, PAIRING_FREE, nlanes * RUN_DEPTHS);
	for (uint32_t i = 0; i < nlanes; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		for (size_t k = 0; k < s->count; k++) {
			uint64_t data = *pairing_data(pb->pairing, s, k);
			const struct frame *f = &s->frames[k];

			if (f->depth < RUN_DEPTHS && !f->inner && data)
				n->at[i * RUN_DEPTHS + f->depth] = (data - 1) & 1;
		}
	}
	return true;
}

/* Returns true if a call of the lane is not open after the rows of *r, although it has no enter, or
 * has that mark and is in *n, or is of a type with TYPE_INNER. */
static bool lost_any(const struct pairing_block *pb, const struct calls_run *r,
		     const struct pairing_marks *n, uint8_t mark, uint32_t lane)
{
	const uint8_t *at = n->at + lane * RUN_DEPTHS, *end = at + RUN_DEPTHS, *p = at;
	const struct stack *s = pairing_stack_of(pb, lane);

	while (p < end && (p = memchr(p, mark, (size_t)(end - p)))) {
		uint32_t depth = (uint32_t)(p++ - at);

		if (depth >= r->low[lane] && !(r->open[lane][depth / 64] >> depth % 64 & 1))
			return true;
	}
	for (size_t i = s->count; i && s->frames[i - 1].depth >= r->low[lane]; i--) {
		uint64_t data = *pairing_data(pb->pairing, s, i - 1);

		if (!data || (s->frames[i - 1].inner && data == mark + 1ull))
			return true;
	}
	return false;
}

/* Set the stacks to what was found in all rows of the block. Returns false, with nothing done, if
 * a call with that mark ended without a leave, or a call without an enter ended. */
static bool pairing_found(struct pairing_block *pb, const struct pairing_marks *n, uint8_t mark)
{
	const struct block *b = pb->block;
	struct calls_run r;

	calls_run_read(&r, pb->kinds, b->nlanes, b->row_data, b->row_data + b->row_size);
	for (uint32_t i = 0; i < b->nlanes; i++)
		if (!calls_run_fits(&r, pairing_stack_of(pb, i), i) || lost_any(pb, &r, n, mark, i))
			return false;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct stack *s = pairing_stack_of(pb, i);

		for (size_t k = take_lane(pb, &r, i); k < s->count; k++)
			*pairing_data(pb->pairing, s, k) =
				1 + (n->at[i * RUN_DEPTHS + s->frames[k].depth] & 1);
	}
	return true;
}

/* --- the terms of a condition --- */

/*
 * Conditions joined by && are terms, evaluated in sequence. A term gets only the rows that passed
 * the terms before it: 'A && B' is 'A' piped into 'B', whatever A and B are.
 *
 * A term that is by_call decides a call at its enter, for its leave too, even if it depends on the
 * location alone: the leave may have another location (a second return of setjmp). Where nearly all
 * rows of a block have the same result, calls are found without evaluating each row.
 */

/* Returns true if filter_ends may return flags. */
static inline bool filter_any_ended(const struct filter *f, const struct pairing *range)
{
	return f->any_ended || (range && range->ended);
}

/* Result of the times for all rows of a block: NO, YES, or ASK: test each row. */
enum time_range_answer { TIME_RANGE_NO, TIME_RANGE_YES, TIME_RANGE_ASK };

/*
 * The result of the leading terms depends on a row's lane, type and location alone, so each
 * combination of these in the block's tables is a cell that is evaluated once. An index that does
 * not matter has the stride 0. Names are those of the location if there is one, else of the type:
 * then the types are after the locations.
 */
enum cell {
	DROP = 0,
	KEEP = 1,
	UNKNOWN = 2,
	/* with cells.call: KEEP is the result of that term alone */
	REACHED = 4, /* the terms before it are true */
	PASSES = 8,  /* the terms after it are true too */
};

enum { CELLS_LIMIT = 64 * 1024, NO_TERM = INT32_MAX };

struct result_cells {
	uint8_t *at;
	size_t first, end; /* range of terms */
	size_t call;	   /* the term whose calls must be followed; or NO_TERM */
	size_t count;
	size_t location, lane, type; /* strides */
	uint32_t nlocations;	     /* number of indexes of locations; 0 is for none */
	bool name;		     /* a row without a location has the index nlocations + type */
};

static inline size_t cell_of(const struct result_cells *c, uint32_t location, uint32_t lane,
			     uint32_t type)
{
	if (c->name && !location)
		location = c->nlocations + type;
	return location * c->location + lane * c->lane + type * c->type;
}

static uint8_t select_ask(struct select *s, const struct block *b, const struct result_cells *c,
			  uint32_t location, uint32_t lane, uint32_t type);

static inline uint8_t select_cell(struct select *s, const struct block *b,
				  const struct result_cells *c, uint32_t location, uint32_t lane,
				  uint32_t type)
{
	uint8_t *cell = &c->at[cell_of(c, location, lane, type)];

	if (__builtin_expect(*cell == UNKNOWN, 0))
		*cell = select_ask(s, b, c, location, lane, type);
	return *cell;
}

/* Get the first row from p on whose location has another cell. Cells must depend on the
 * location alone. */
static inline const uint8_t *select_skip(const uint8_t *p, const uint8_t *end, const uint8_t *cells,
					 uint8_t same)
{
	for (; end - p >= 4 * NARROW_ROW; p += 4 * NARROW_ROW)
		if ((cells[row_location_at(p)] ^ same) |
		    (cells[row_location_at(p + NARROW_ROW)] ^ same) |
		    (cells[row_location_at(p + 2 * NARROW_ROW)] ^ same) |
		    (cells[row_location_at(p + 3 * NARROW_ROW)] ^ same))
			break;
	while (p < end && cells[row_location_at(p)] == same)
		p += NARROW_ROW;
	return p;
}

/* Note that the next row of k has flags, and its state. Returns -1 when out of memory. */
static int select_end(struct select *s, const struct compact_rows *k, uint8_t state)
{
	if (ARRAY_GROW(s->ends, s->ends_capacity, s->nends))
		return -1;
	s->ends[s->nends++] = (struct row_ends){k->count, state};
	return 0;
}

void time_range_free(struct time_range *l)
{
	filter_condition_free(l->from);
	filter_condition_free(l->to);
	filter_condition_free(l->by);
	pairing_free(&l->pairing);
	time_window_free(&l->window);
	free(l->inside);
}

struct node *time_range_condition(const char *text, const char *option, struct error *e)
{
	struct node *n = filter_condition_parse(text, e);

	if (!n || !condition_of_calls(n))
		return n;
	filter_condition_free(n);
	error_set(e, NULL, NO_OFFSET, "%s tests single events, not whole calls as '%s' does",
		  option, text);
	return NULL;
}

/* --- times --- */

void time_range_block(struct time_range *l, const struct block *b, bool new_stream)
{
	if (!l->pairing.calls.dictionary)
		pairing_init(&l->pairing, l->evaluation.dictionary);
	time_window_block(&l->window, b, new_stream);
	if (b->kind != BLOCK_HEAD || !new_stream)
		return;
	/* ranges never continue in the next stream */
	pairing_forget(&l->pairing);
	if (l->ninside)
		memset(l->inside, 0, l->ninside);
}

static enum time_range_answer time_range_of_block(struct time_range *l, const struct block *b)
{
	bool before = true, inside = true;

	for (uint32_t i = 0; i < b->ntypes; i++)
		/* leaves whose enters were in the range, and rows that are always kept */
		if (b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE ||
		    !kind_is_event(b->types[i]->kind))
			return TIME_RANGE_ASK;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct clock_window *w = time_window_of(&l->window, b->lanes[i]->clock);

		before = before && (b->last < w->since || b->base >= w->until);
		inside = inside && b->base >= w->since && b->last < w->until;
	}
	if (before)
		return TIME_RANGE_NO;
	l->in_window |= inside;
	return inside && !l->from && !l->by ? TIME_RANGE_YES : TIME_RANGE_ASK;
}

/* --- rows --- */

/* Position of an event relative to the ranges of its thread. */
enum range { RANGE_OUTSIDE, RANGE_INSIDE, RANGE_BORDER };

/* Update the thread's range. closes: the leave of a call that was tested at its enter. */
static enum range in_between(struct time_range *l, const struct event *e, bool closes)
{
	uint32_t thread = e->lane->thread;
	uint8_t *inside;
	struct node *n;

	if (ARRAY_REACH(l->inside, l->ninside, thread)) {
		l->pairing.calls.out_of_memory = true;
		return RANGE_OUTSIDE;
	}
	inside = &l->inside[thread];
	n = *inside ? l->to : l->from;
	/* unless the condition names leaves */
	if ((closes && !(n->depends & DEPENDS_KIND)) || !evaluate(&l->evaluation, n, e))
		return *inside ? RANGE_INSIDE : RANGE_OUTSIDE;
	*inside = !*inside;
	return RANGE_BORDER;
}

/* Returns true if the event's value is in the sample, which is the same in every stream and on
 * every machine. */
static bool is_sampled(struct time_range *l, const struct event *e)
{
	static const struct siphash_key key = {0x7472757469, 0x6c73};
	const void *data;
	struct scalar s = {.form = SCALAR_NONE};
	uint64_t number;
	size_t n = 8;

	operand_value(&l->evaluation, l->by->left, e, &s);
	if (s.form == SCALAR_NONE || s.form == SCALAR_OTHER) {
		l->unsampled++;
		return false;
	}
	number = htole64(s.form == SCALAR_REAL ? (uint64_t)(int64_t)s.real : s.u);
	data = &number;
	if (s.form == SCALAR_TEXT) {
		data = s.text;
		n = s.size;
	}
	return siphash(&key, data, n) % l->of < l->sample;
}

bool time_range_row(struct time_range *l, const struct event *e)
{
	const struct clock_window *w = time_window_of(&l->window, e->lane->clock);
	bool holds = e->time >= w->since && e->time < w->until;
	uint32_t at_enter = false;
	bool closes = e->type->kind == KIND_LEAVE && pairing_leave(&l->pairing, e, &at_enter);
	enum range range = RANGE_INSIDE;

	l->in_window |= holds;
	if (holds && l->from) {
		range = in_between(l, e, closes);
		holds = range != RANGE_OUTSIDE;
	}
	/* a leave that is itself a border belongs to the range, wherever its enter is */
	if (closes && (at_enter || range != RANGE_BORDER))
		return at_enter;
	l->in_between |= holds;
	if (holds && l->by)
		holds = is_sampled(l, e);
	l->in_sample |= holds;
	if (e->type->kind == KIND_ENTER)
		pairing_enter(&l->pairing, e, holds);
	return holds;
}

void time_range_report(const struct time_range *l, bool whole)
{
	const struct operand *o = l->by ? l->by->left : NULL;
	const struct field_lookup *lookup = o ? o->data : NULL;

	if (whole && !l->in_window)
		time_window_report(&l->window);
	else if (whole && !l->in_between && l->from)
		warn(NULL, NO_OFFSET, "no event matches the first condition of --between");
	else if (whole && !l->in_sample && l->by && !l->unsampled)
		warn(NULL, NO_OFFSET,
		     "no value of %s%s is in the sample: --sample keeps %" PRIu64 " of %" PRIu64,
		     lookup->is_argument ? "arg." : "", o->name, l->sample, l->of);
	if (l->unsampled)
		warn_count(NULL, l->unsampled,
			   "{event|events} without the field %s%s {is|are} not in the sample",
			   lookup->is_argument ? "arg." : "", o->name);
}

/* --- filter --- */

static struct filter_term make_term(struct node *n)
{
	/* threads and CPUs are the row's own: a leave may have others */
	enum { CALL = DEPENDS_CALL | DEPENDS_LOCATION | DEPENDS_NAME | DEPENDS_TYPE };

	return (struct filter_term){
		.node = n,
		.by_entry = !(n->depends & DEPENDS_ROW),
		.by_call = n->depends & CALL && !(n->depends & DEPENDS_KIND),
		.by_row = n->depends & DEPENDS_KIND &&
			  !(n->depends & (DEPENDS_LATER | DEPENDS_STACK)),
		.by_both =
			n->depends & DEPENDS_KIND && n->depends & (DEPENDS_LATER | DEPENDS_STACK),
	};
}

/* Count the conditions joined by &&; with terms, fill them in. */
static size_t filter_rows_split(struct node *n, struct filter_term *terms)
{
	size_t count = 0;

	if (n->kind != NODE_AND) {
		if (terms)
			*terms = make_term(n);
		return 1;
	}
	for (size_t i = 0; i < n->nchildren; i++)
		count += filter_rows_split(n->children[i], terms ? terms + count : NULL);
	return count;
}

int filter_compile(struct filter *f, const char *expression, struct error *e)
{
	*f = (struct filter){.tree = filter_condition_parse(expression, e)};
	if (!f->tree)
		return -1;
	f->terms = calloc(filter_rows_split(f->tree, NULL), sizeof *f->terms);
	if (!f->terms)
		return error_no_memory(e);
	f->nterms = filter_rows_split(f->tree, f->terms);
	for (size_t i = 0; i < f->nterms; i++) {
		f->by_both |= f->terms[i].by_both;
		f->by_kind |= f->terms[i].node->depends & DEPENDS_KIND;
	}
	while (f->leading < f->nterms && f->terms[f->leading].by_entry)
		f->calls |= f->terms[f->leading++].by_call;
	return 0;
}

void filter_begin(struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++) {
		pairing_free(&f->terms[i].pairing);
		pairing_init(&f->terms[i].pairing, f->evaluation.dictionary);
	}
}

void filter_free(struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++)
		pairing_free(&f->terms[i].pairing);
	free(f->terms);
	filter_condition_free(f->tree);
}

static bool term_is_true(struct filter *f, struct filter_term *p, const struct event *e)
{
	uint32_t at_enter;
	bool result;

	if (p->by_call && e->type->kind == KIND_LEAVE && pairing_leave(&p->pairing, e, &at_enter))
		return at_enter;
	result = evaluate(&f->evaluation, p->node, e);
	if (p->by_call && e->type->kind == KIND_ENTER)
		pairing_enter(&p->pairing, e, result);
	return result;
}

/* End the calls in the terms from first on that a row ended which does not reach these, as a row of
 * KIND_DROP in its place does (left_out.c). ended: those of the term before. */
static __attribute__((noinline)) void end_in_terms(struct filter *f, size_t first, uint8_t ended,
						   const struct event *e)
{
	struct type t = *e->type;
	struct event drop = *e;
	uint16_t flags = t.flags;

	if (flags & TYPE_CALL_NUMBER)
		return;
	t.kind = KIND_DROP;
	drop.type = &t;
	drop.depth += e->type->kind == KIND_LEAVE && !(ended & PAIRING_ENDED_OWN);
	for (size_t i = first; i < f->nterms; i++) {
		if (!f->terms[i].by_call)
			continue;
		t.flags = flags & ~TYPE_INNER;
		if (flags & TYPE_DEPTH && !(flags & TYPE_INNER))
			pairing_drop(&f->terms[i].pairing, &drop);
		t.flags = flags | TYPE_INNER;
		if (pairing_flags(ended) & ROW_ENDS_INNER)
			pairing_drop(&f->terms[i].pairing, &drop);
		f->any_ended |= f->terms[i].pairing.ended != 0;
	}
}

bool filter_from(struct filter *f, size_t first, const struct event *e)
{
	for (size_t i = first; i < f->nterms; i++) {
		struct filter_term *p = &f->terms[i];
		bool result = term_is_true(f, p, e);

		f->any_ended |= p->pairing.ended != 0;
		if (result)
			continue;
		if (__builtin_expect(p->pairing.ended, 0))
			end_in_terms(f, i + 1, p->pairing.ended, e);
		return false;
	}
	return true;
}

/* Get the calls of a pairing that ended, with that mark or any. */
static unsigned take_ended(struct pairing *p, unsigned marks)
{
	unsigned ended = p->ended & (marks | marks << 2 | PAIRING_ENDED_OWN);

	p->ended = 0;
	return ended;
}

uint8_t filter_ends(struct filter *f, struct time_range *range, bool invert)
{
	/* if the expression is false as a whole, any term may be */
	unsigned marks = !invert ? 2 : f->nterms > 1 ? 3 : 1, ended = 0;

	f->any_ended = false;
	for (size_t i = 0; i < f->nterms; i++)
		ended |= take_ended(&f->terms[i].pairing, marks);
	if (range)
		ended |= take_ended(&range->pairing, 2);
	return f->by_kind ? 0 : pairing_flags(ended);
}

uint8_t filter_drop(struct filter *f, struct time_range *range, bool invert, const struct event *e)
{
	bool by_call = range, passes = true;

	if (range)
		pairing_drop(&range->pairing, e);
	for (size_t i = 0; i < f->nterms; i++) {
		struct filter_term *p = &f->terms[i];

		by_call |= p->by_call;
		if (p->by_call)
			pairing_drop(&p->pairing, e);
		else
			passes = passes && evaluate(&f->evaluation, p->node, e);
	}
	if (by_call)
		return filter_ends(f, range, invert);
	if (passes == invert)
		return 0;
	return e->type->flags & TYPE_INNER ? ROW_ENDS_INNER : ROW_ENDS;
}

bool filter_out_of_memory(const struct filter *f)
{
	for (size_t i = 0; i < f->nterms; i++)
		if (f->terms[i].pairing.calls.out_of_memory)
			return true;
	return false;
}

/* --- results --- */

/* A call that was taken has ended without a leave. */
static void results_lost(void *ctx, uint32_t mark, uint8_t flag)
{
	struct results *r = ctx;

	(void)flag;
	r->open -= mark;
}

void results_init(struct results *r, uint64_t limit, struct dictionary *d)
{
	*r = (struct results){.limit = limit};
	r->pairing.lost = results_lost;
	r->pairing.ctx = r;
	pairing_init(&r->pairing, d);
}

void results_free(struct results *r)
{
	pairing_free(&r->pairing);
}

void results_begin(struct results *r)
{
	pairing_forget(&r->pairing);
	r->open = 0;
}

/* Take an event that is kept; caller: the event counts as nothing by itself. Returns false if the
 * event is beyond the limit. */
static bool results_take(struct results *r, const struct event *e, bool caller)
{
	bool room = !results_full(r);
	uint32_t taken;

	switch (e->type->kind) {
	case KIND_GAP: return true;
	case KIND_ENTER:
		r->open += room;
		pairing_enter(&r->pairing, e, room);
		break;
	case KIND_LEAVE:
		if (!pairing_leave(&r->pairing, e, &taken))
			break;
		r->open -= taken;
		return taken;
	default: break;
	}
	r->count += room && !caller;
	return room;
}

/* End the calls that a row with flags ends. */
static void results_end_calls(struct results *r, const struct event *e, uint8_t state)
{
	struct drop_row drops[2];
	unsigned n = drops_of(e, state, drops);

	for (unsigned i = 0; i < n; i++) {
		struct type t = {.kind = KIND_DROP, .flags = drops[i].flags};
		struct event drop = *e;

		drop.type = &t;
		drop.depth = drops[i].depth;
		pairing_drop(&r->pairing, &drop);
	}
}

uint8_t results_row(struct results *r, const struct event *e, uint8_t state)
{
	if (results_done(r))
		return ROW_LEFT_OUT;
	if (row_flags(state))
		results_end_calls(r, e, state);
	if (!row_passes(state) || results_take(r, e, row_state(state) == ROW_CALLER))
		return state;
	return row_flags(state) | ROW_LEFT_OUT;
}

/*
 * Select calls of narrow rows: by the enter, for the leave too.
 *
 * Instructions of 'trdecode | trsym | trfilter | trstat' of t/bench/uftrace.sh with the condition
 * name == "fib": without this file 2.0 times as many, without runs 1.33 times. Without
 * keep_by_location 'trfilter SAVED | trstat' takes 1.33 times the instructions where the condition
 * is true for every second call.
 */

enum { RUN = 64 }; /* rows of a run; fewer are taken one by one */

/* Returns true if a row is kept. */
static inline __attribute__((always_inline)) bool
rows_is_kept(struct pairing_block *pb, const uint8_t *row, uint64_t w, uint8_t cell)
{
	uint32_t holds = cell & KEEP;

	if (pb->enters[row_type(w)] && cell & REACHED)
		holds = pairing_row(pb, row, w, holds);
	return holds && cell & PASSES;
}

static inline void rows_put_row(struct compact_rows *k, const uint8_t *row, size_t n)
{
	memcpy(k->end, row, n);
	k->end += n;
}

/* Get the first row from p on that has another cell, which the location decides, or is not
 * fit for runs. */
static const uint8_t *skip_rows(const struct pairing_block *pb, const uint8_t *p,
				const uint8_t *cells, uint8_t same)
{
	const uint8_t *end = pb->block->row_data + pb->block->row_size;

	if (pb->fit)
		return select_skip(p, end, cells, same);
	while (end - p >= NARROW_ROW &&
	       !((cells[row_location_at(p)] ^ same) | pb->unfit[row_type_at(p)]))
		p += NARROW_ROW;
	return p;
}

/*
 * Take a run of rows with the same cell from p on. Returns the row after it, or p if the run was
 * not taken; *until: rows before it must be taken one by one.
 */
static const uint8_t *take_run(struct select *s, struct pairing_block *pb,
			       const struct result_cells *c, struct compact_rows *k,
			       const uint8_t *p, const uint8_t **until)
{
	uint8_t cell = c->at[row_location_at(p)];

	*until = p + NARROW_ROW;
	if (cell == UNKNOWN)
		return p;
	*until = skip_rows(pb, p, c->at, cell);
	if (*until - p < RUN * NARROW_ROW ||
	    (cell & REACHED && !pairing_run(pb, p, *until, cell & KEEP)))
		return p;
	if (((cell & (KEEP | PASSES)) == (KEEP | PASSES)) != s->invert) {
		k->count += (uint32_t)((*until - p) / NARROW_ROW);
		rows_put_row(k, p, (size_t)(*until - p));
	}
	return *until;
}

/* Take single rows, except for runs. */
static int keep_exactly(struct select *s, struct pairing_block *pb, const struct result_cells *c,
			struct compact_rows *k)
{
	struct pairing *pairing = pb->pairing;
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size, *until = p;
	bool runs = s->lopsided && pb->runs && !c->lane && !c->type;

	while (p < end) {
		uint64_t w = get_u64(p);
		uint8_t cell, flags;
		bool keep;
		size_t n;

		if (runs && p >= until) {
			const uint8_t *next = take_run(s, pb, c, k, p, &until);

			if (next > p) {
				p = next;
				continue;
			}
		}
		n = pb->fit ? NARROW_ROW : row_size(b, p);
		cell = select_cell(s, b, c, row_location(w), row_lane(w), row_type(w));
		keep = rows_is_kept(pb, p, w, cell) != s->invert;
		flags = 0;
		if (__builtin_expect(pairing->ended, 0)) {
			flags = filter_ends(s->filter, NULL, s->invert);
			flags &= keep ? ROW_ENDS_INNER : ROW_ENDS_ANY;
			if (flags && select_end(s, k, flags | (keep ? ROW_KEEP : ROW_LEFT_OUT)))
				return -1;
		}
		if (keep || flags) {
			/* the row of a block of one row, which may be large, is not copied */
			if (b->rows > 1 || flags)
				rows_put_row(k, p, n);
			else
				k->end += n;
			k->count++;
		}
		p += n;
	}
	return 0;
}

/*
 * Select by the location alone, without a branch, because kept rows have no pattern. This suits
 * blocks where leaves have their enters' locations. Returns false, with nothing done, if some leave
 * has another mark than its enter, if a kept call ends without a leave, or if the block does not
 * suit.
 */
static bool keep_by_location(struct select *s, struct pairing_block *pb,
			     const struct result_cells *c, struct compact_rows *k)
{
	const struct block *b = pb->block;
	const uint8_t *p = b->row_data, *end = p + b->row_size;
	uint32_t leaves[256] = {0}, wrong = 0, invert = s->invert;
	struct pairing_marks marks;
	uint8_t *out = k->end;

	if (!pb->runs || !pb->fit || c->first != c->call || c->end != c->call + 1)
		return false;
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		if (!pb->kinds[i])
			return false;
		leaves[i] = pb->kinds[i] == KIND_LEAVE;
	}
	if (!pairing_marks(pb, &marks))
		return false;
	for (; p < end; p += NARROW_ROW) {
		uint64_t w = get_u64(p);
		uint32_t lane = row_lane(w), type = row_type(w), leave = leaves[type];
		uint32_t holds = select_cell(s, b, c, row_location(w), lane, type) & KEEP;
		uint8_t *mark = &marks.at[lane << 8 | row_depth(w)];

		/* an enter at the depth of an open call that is kept: its leave is missing */
		wrong |= (*mark ^ (leave ? holds : invert)) & ~(*mark >> 1);
		*mark = (uint8_t)(holds | leave * PAIRING_FREE);
		put_u64(out, w);
		out += NARROW_ROW & -(size_t)(holds ^ invert);
	}
	if (wrong & 1 || !pairing_found(pb, &marks, !invert))
		return false;
	k->count = (uint32_t)((size_t)(out - k->end) / NARROW_ROW);
	k->end = out;
	return true;
}

/* Find the lowest and the highest time of the rows, which are at p. */
static void find_times(const struct block *b, const uint8_t *p, struct compact_rows *k)
{
	uint32_t low = UINT32_MAX, high = 0, n;

	for (; p < k->end; p += n) {
		uint32_t delta = row_delta_at(p);

		n = (uint32_t)row_size(b, p);
		low = delta < low ? delta : low;
		high = delta > high ? delta : high;
	}
	k->low = b->base + low;
	k->high = b->base + high;
}

/* Select from narrow rows without gaps, where the cells decide all and c->call is set. Returns -1
 * when out of memory. */
static int select_calls(struct select *s, struct pairing_block *pb, const struct result_cells *c,
			struct compact_rows *k)
{
	const struct block *b = pb->block;

	pb->pairing->ended = 0;
	if ((s->lopsided || !keep_by_location(s, pb, c, k)) && keep_exactly(s, pb, c, k))
		return -1;
	if (k->count < b->rows || s->nends)
		find_times(b, s->payload + b->front, k);
	s->lopsided = k->count < b->rows / 16 || b->rows - k->count < b->rows / 16;
	return 0;
}

unsigned drops_of(const struct event *e, uint8_t state, struct drop_row rows[2])
{
	uint16_t flags = e->type->flags & (TYPE_KERNEL | TYPE_PER_CPU);
	bool by_depth = e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER);
	uint32_t deeper = e->type->kind == KIND_LEAVE && !(state & ROW_ENDS_OWN);
	unsigned n = 0;

	/* a row that is kept ends these calls itself */
	if (state & (ROW_ENDS | ROW_ENDS_OWN) && by_depth && !row_passes(state))
		rows[n++] = (struct drop_row){flags | TYPE_DEPTH, e->depth + deeper};
	if (state & ROW_ENDS_INNER)
		rows[n++] = (struct drop_row){flags | TYPE_INNER, 0};
	return n;
}

/* --- select --- */

void select_free(struct select *s)
{
	free(s->payload);
	free(s->cells);
	free(s->ends);
	free(s->next_ends);
}

static int select_grow(uint8_t **data, size_t *capacity, size_t n)
{
	uint8_t *grown;

	if (n <= *capacity)
		return 0;
	grown = realloc(*data, n);
	if (!grown)
		return -1;
	*data = grown;
	*capacity = n;
	return 0;
}

static bool has_gaps(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (!kind_is_event(b->types[i]->kind))
			return true;
	return false;
}

/* Allocate the cells of the terms from first to end. Returns false if there are too many to be
 * worthwhile, or no memory, or if rows have stacks in place of the locations that the terms need.
 */
static bool make_cells(struct select *s, const struct block *b, struct result_cells *c,
		       size_t first, size_t end)
{
	bool by_location, by_type, by_lane;
	unsigned depends = 0;
	uint64_t count = 1;

	for (size_t i = first; i < end; i++)
		depends |= s->filter->terms[i].node->depends;
	by_location = depends & (DEPENDS_LOCATION | DEPENDS_NAME);
	by_type = depends & DEPENDS_TYPE;
	by_lane = depends & DEPENDS_LANE;
	if (by_location && b->stacks.sampled)
		return false;
	*c = (struct result_cells){.first = first,
				   .end = end,
				   .call = NO_TERM,
				   .name = depends & DEPENDS_NAME && !by_type,
				   .nlocations = b->nlocations + 1};
	if (by_type) {
		c->type = count;
		count *= b->ntypes;
	}
	if (by_lane) {
		c->lane = count;
		count *= b->nlanes;
	}
	if (by_location) {
		c->location = count;
		count *= (uint64_t)c->nlocations + (c->name ? b->ntypes : 0);
	}
	if (count > CELLS_LIMIT || select_grow(&s->cells, &s->cells_capacity, count))
		return false;
	c->count = count;
	c->at = s->cells;
	memset(c->at, UNKNOWN, count);
	return true;
}

/* Evaluate terms without their knowledge of calls. */
static bool parts_are_true(struct select *s, size_t first, size_t end, const struct event *e)
{
	struct filter *f = s->filter;

	for (size_t i = first; i < end; i++)
		if (!evaluate(&f->evaluation, f->terms[i].node, e))
			return false;
	return true;
}

/* Evaluate the terms for a row's cell. */
static uint8_t select_ask(struct select *s, const struct block *b, const struct result_cells *c,
			  uint32_t location, uint32_t lane, uint32_t type)
{
	struct event e = {
		.location = b->locations[location], .lane = b->lanes[lane], .type = b->types[type]};

	if (c->call == NO_TERM)
		return parts_are_true(s, c->first, c->end, &e) ? KEEP : DROP;
	if (!parts_are_true(s, c->first, c->call, &e))
		return DROP;
	return (parts_are_true(s, c->call, c->call + 1, &e) ? KEEP : DROP) | REACHED |
	       (parts_are_true(s, c->call + 1, c->end, &e) ? PASSES : 0);
}

/* Evaluate all cells. Returns their common result, or UNKNOWN. */
static uint8_t ask_all(struct select *s, const struct block *b, struct result_cells *c)
{
	uint32_t locations = c->location ? c->nlocations : 1, lanes = c->lane ? b->nlanes : 1;
	uint32_t types = c->type || c->name ? b->ntypes : 1;
	size_t kept = 0, asked = 0;

	for (uint32_t p = 0; p < locations; p++)
		for (uint32_t l = 0; l < lanes; l++)
			for (uint32_t t = 0; t < (p && c->name ? 1 : types); t++) {
				uint8_t says = select_ask(s, b, c, p, l, t);

				c->at[cell_of(c, p, l, t)] = says;
				kept += says;
				asked++;
			}
	return kept == asked ? KEEP : kept ? UNKNOWN : DROP;
}

/* Get the common result of the cells of some terms, if there are at most as many cells as
 * rows. */
static uint8_t ask_parts(struct select *s, const struct block *b, size_t first, size_t end)
{
	struct result_cells c;

	if (first == end)
		return KEEP;
	return make_cells(s, b, &c, first, end) && c.count <= b->rows ? ask_all(s, b, &c) : UNKNOWN;
}

/* All rows seem to have one result: returns true if calls that end in the block have it too. */
static bool same_mind(struct filter_term *p, const struct block *b, uint8_t says)
{
	struct pairing_block pb;

	return (b->row_flags & (EVENTS_BARE | EVENTS_WIDE)) == EVENTS_BARE &&
	       pairing_block_begin(&pb, &p->pairing, b) && pb.fit &&
	       pairing_run(&pb, b->row_data, b->row_data + b->row_size, says);
}

/* Evaluate the leading terms by the tables, in sequence: terms from s->first on must be
 * evaluated for each row. */
static void ask_tables(struct select *s, const struct block *b)
{
	struct filter *f = s->filter;
	bool calls = f->calls && pairing_has_calls(b);

	s->says = KEEP;
	while (s->first < f->leading && s->says == KEEP) {
		struct filter_term *p = &f->terms[s->first];
		size_t end = calls ? s->first + 1 : f->leading;
		uint8_t says = ask_parts(s, b, s->first, end);

		if (calls && p->by_call && says != UNKNOWN && !same_mind(p, b, says))
			says = UNKNOWN;
		s->says = says;
		if (s->says == KEEP)
			s->first = end;
	}
	/* rows that the leading terms drop do not reach the others */
	if (s->says == KEEP && f->leading < f->nterms)
		s->says = UNKNOWN;
}

static int keep_any(struct select *s, const struct block *b, struct compact_rows *k)
{
	struct events it;
	struct event e;
	const struct pairing *range = s->time_range ? &s->time_range->pairing : NULL;
	uint8_t flags;

	for (events_begin(&it, b); event_next(&it, &e);) {
		size_t n = (size_t)(it.row - e.row);
		bool gap = e.type->kind == KIND_GAP, keep = gap, drop = e.type->kind == KIND_DROP;

		if (!gap && !drop && (!s->limited || time_range_row(s->time_range, &e))) {
			keep = s->says == UNKNOWN ? filter_from(s->filter, s->first, &e)
						  : s->says == KEEP;
			keep = keep != s->invert;
		}
		flags = 0;
		if (__builtin_expect(drop, 0))
			flags = filter_drop(s->filter, s->time_range, s->invert, &e);
		else if (__builtin_expect(filter_any_ended(s->filter, range), 0))
			flags = filter_ends(s->filter, s->time_range, s->invert);
		flags &= keep ? ROW_ENDS_INNER : ROW_ENDS_ANY;
		if (flags && select_end(s, k, flags | (keep ? ROW_KEEP : ROW_LEFT_OUT)))
			return -1;
		if (!keep && !flags)
			continue;
		/* the row of a block of one row, which may be large, is not copied */
		if (b->rows > 1 || flags)
			memcpy(k->end, e.row, n);
		k->end += n;
		k->count++;
		k->low = e.time < k->low ? e.time : k->low;
		k->high = e.time > k->high ? e.time : k->high;
	}
	return 0;
}

int select_block(struct select *s, const struct block *b, enum selected *selected)
{
	enum time_range_answer inside =
		s->time_range ? time_range_of_block(s->time_range, b) : TIME_RANGE_YES;

	*selected = inside == TIME_RANGE_NO ? SELECTED_NONE : SELECTED_ROWS;
	s->limited = inside == TIME_RANGE_ASK;
	s->says = UNKNOWN;
	s->first = 0;
	s->nends = 0;
	if (inside != TIME_RANGE_YES || has_gaps(b))
		return 0;
	ask_tables(s, b);
	if (filter_out_of_memory(s->filter))
		return -1;
	if (s->says != UNKNOWN)
		*selected = (s->says == KEEP) == s->invert ? SELECTED_NONE : SELECTED_ALL;
	return 0;
}

/* Returns true if cells decide all rows of the block, which has calls, and one term follows calls.
 */
static bool is_fast(struct select *s, const struct block *b, struct result_cells *c)
{
	struct filter *f = s->filter;
	size_t ncalls = 0;

	if (!f->calls || !pairing_has_calls(b) || s->says != UNKNOWN || s->limited ||
	    f->leading < f->nterms || has_gaps(b) || b->row_flags & EVENTS_WIDE ||
	    !make_cells(s, b, c, s->first, f->leading))
		return false;
	for (size_t i = s->first; i < f->leading; i++)
		if (f->terms[i].by_call) {
			c->call = i;
			ncalls++;
		}
	return ncalls == 1;
}

int select_rows(struct select *s, const struct block *b, enum selected *selected)
{
	struct compact_rows k = {.low = UINT64_MAX};
	struct pairing_block pb;
	struct result_cells c;
	int bad;

	*selected = SELECTED_NONE;
	if (select_grow(&s->payload, &s->capacity,
			b->length + 16 > 80 * 1024 ? b->length + 16 : 80 * 1024))
		return -1;
	k.end = s->payload + b->front;
	if (is_fast(s, b, &c) && pairing_block_begin(&pb, &s->filter->terms[c.call].pairing, b))
		bad = select_calls(s, &pb, &c, &k);
	else
		bad = keep_any(s, b, &k);
	if (bad)
		return -1;
	if (filter_out_of_memory(s->filter) ||
	    (s->time_range && s->time_range->pairing.calls.out_of_memory))
		return -1;
	if (!k.count)
		return 0;
	if (k.count == b->rows && !s->nends) {
		*selected = SELECTED_ALL;
		return 0;
	}
	compact_block(&s->block, b, s->payload, &k);
	*selected = SELECTED_SOME;
	return 0;
}

/* Note the state of a row in the list of select_limit. */
static int limit_row(struct select *s, size_t *n, uint32_t row, uint8_t state)
{
	if (ARRAY_GROW(s->next_ends, s->next_capacity, *n))
		return -1;
	s->next_ends[(*n)++] = (struct row_ends){row, state};
	return 0;
}

int select_limit(struct select *s, const struct block *b, struct results *r,
		 enum selected *selected)
{
	const struct block *kept = *selected == SELECTED_ALL ? b : &s->block;
	struct row_ends *list;
	struct events it;
	struct event e;
	bool changed = false, any = false;
	size_t n = 0, i = 0, capacity;
	uint32_t row = 0;

	if (*selected == SELECTED_NONE)
		return 0;
	for (events_begin(&it, kept); event_next(&it, &e); row++) {
		bool listed = i < s->nends && s->ends[i].row == row;
		uint8_t before = listed ? s->ends[i++].state : ROW_KEEP;
		uint8_t state = results_row(r, &e, before);

		changed |= state != before;
		any |= state != ROW_LEFT_OUT;
		if (state != ROW_KEEP && limit_row(s, &n, row, state))
			return -1;
	}
	if (r->pairing.calls.out_of_memory)
		return -1;
	if (!changed)
		return 0;
	*selected = any ? SELECTED_SOME : SELECTED_NONE;
	s->block = *kept;
	list = s->ends;
	capacity = s->ends_capacity;
	s->ends = s->next_ends;
	s->ends_capacity = s->next_capacity;
	s->nends = n;
	s->next_ends = list;
	s->next_capacity = capacity;
	return 0;
}

/* --- a human-readable explanation of a condition --- */

static const char *const comparisons[] = {
	[COMPARE_EQ] = "==", [COMPARE_NE] = "!=", [COMPARE_LT] = "<",
	[COMPARE_LE] = "<=", [COMPARE_GT] = ">",  [COMPARE_GE] = ">=",
};

/* Write bytes as a string of an expression; nothing when out of memory. */
static void put_quoted(struct text *t, const char *p, size_t n)
{
	struct buffer b = {0};

	if (!expression_put_string(&b, p, n))
		text_put(t, (const char *)b.data, b.size);
	buffer_free(&b);
}

static void show_scalar(struct text *t, const struct scalar *s)
{
	switch (s->form) {
	case SCALAR_INT: text_i64(t, s->i); break;
	case SCALAR_UINT: text_u64(t, s->u); break;
	case SCALAR_REAL: text_printf(t, "%.18Lg", s->real); break;
	case SCALAR_TEXT: put_quoted(t, s->text, s->size); break;
	case SCALAR_NONE:
	case SCALAR_OTHER: break;
	}
}

static void show_operand(struct text *t, const struct operand *o)
{
	const struct field_lookup *lookup = o->data;

	if (o->kind == OPERAND_LITERAL) {
		show_scalar(t, &o->value);
		text_puts(t, o->of_time ? "ns" : "");
	} else if (o->kind == OPERAND_ARITHMETIC) {
		text_char(t, '(');
		show_operand(t, o->left);
		text_printf(t, " %s ", arithmetic_sign(o->arithmetic));
		show_operand(t, o->right);
		text_char(t, ')');
	} else if (lookup->is_argument) {
		text_printf(t, "arg.%s", o->name);
	} else if (o->field == ASK_FIELD) {
		text_puts(t, "field(");
		put_quoted(t, o->name, strlen(o->name));
		text_char(t, ')');
	} else {
		text_puts(t, o->name);
	}
}

static void show_set(struct text *t, const struct node *n)
{
	const char *unit = n->left->of_time && n->time_unit ? "ns" : "", *between = "";

	text_puts(t, " in {");
	for (size_t i = 0; i < n->nnumbers; i++, between = ", ") {
		text_puts(t, between);
		show_scalar(t, &n->numbers[i]);
		text_puts(t, unit);
	}
	for (size_t i = 0; i < n->ntexts; i++, between = ", ") {
		text_puts(t, between);
		show_scalar(t, &n->texts[i]);
	}
	text_char(t, '}');
}

static void show_node(struct text *t, const struct node *n);

static void show_joined(struct text *t, const struct node *n)
{
	for (size_t i = 0; i < n->nchildren; i++) {
		const struct node *child = n->children[i];
		bool group = child->kind == NODE_AND || child->kind == NODE_OR;

		if (i)
			text_puts(t, n->kind == NODE_AND ? " && " : " || ");
		if (group)
			text_char(t, '(');
		show_node(t, child);
		if (group)
			text_char(t, ')');
	}
}

static void show_node(struct text *t, const struct node *n)
{
	switch (n->kind) {
	case NODE_AND:
	case NODE_OR: show_joined(t, n); return;
	case NODE_NOT:
		text_puts(t, "!(");
		show_node(t, n->children[0]);
		text_char(t, ')');
		return;
	case NODE_HAS:
		text_puts(t, "has(");
		show_operand(t, n->left);
		text_char(t, ')');
		return;
	case NODE_UNDER:
	case NODE_OVER:
		text_puts(t, n->kind == NODE_UNDER ? "under(" : "over(");
		show_node(t, n->children[0]);
		text_char(t, ')');
		return;
	default: break;
	}
	show_operand(t, n->left);
	if (n->kind == NODE_COMPARE) {
		text_printf(t, " %s ", comparisons[n->comparison]);
		show_operand(t, n->right);
	} else if (n->kind == NODE_MATCH) {
		text_puts(t, n->negated ? " !~ " : " =~ ");
		put_quoted(t, n->pattern, strlen(n->pattern));
	} else if (n->kind == NODE_IN) {
		show_set(t, n);
	}
}

static const char *how_often(const struct filter_term *p)
{
	if (p->node->depends & DEPENDS_LATER)
		return "for each call, as soon as the result is known";
	if (p->node->depends & DEPENDS_STACK)
		return "for each event, with the calls around it; a call is tested at its enter";
	if (p->by_call && !p->by_entry)
		return "for each event; a call is tested at its enter";
	if (!p->by_entry)
		return "for each event, enters and leaves separately";
	switch (p->node->depends & ~DEPENDS_KIND) {
	case 0: return "once";
	case DEPENDS_NAME: return "once for each function or type";
	case DEPENDS_LOCATION: return "once for each function";
	case DEPENDS_TYPE: return "once for each type";
	case DEPENDS_LANE: return "once for each thread";
	}
	return "once for each combination of thread, type and function";
}

void explain_filter(struct text *t, const struct filter *f, bool invert)
{
	for (size_t i = 0; i < f->nterms; i++) {
		text_puts(t, i ? "and  " : invert ? "drop " : "keep ");
		show_node(t, f->terms[i].node);
		text_printf(t, "\n     tested %s\n", how_often(&f->terms[i]));
	}
}

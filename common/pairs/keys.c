#include "common/pairs/keys.h"

#include <math.h>
#include <stdlib.h>

#include "common/formats/apitrace.h"
#include "common/value/argument.h"
#include "common/value/value_names.h"
#include "common/value/value_plain.h"

/* Take the label of an enum's number, where it has one. */
static void take_label(const struct definition *names, struct field_value *out)
{
	const struct member *label = definition_member(names, out->u);

	if (!label)
		return;
	out->form = FORM_TEXT;
	out->text = (const uint8_t *)label->name.text;
	out->size = label->name.size;
}

/* Set a text: the spelling as a key of a value that is no number. */
static void set_spelling(struct field_value *out, const char *text)
{
	out->form = FORM_TEXT;
	out->text = (const uint8_t *)text;
	out->size = strlen(text);
}

static void from_value(const struct dictionary *d, const struct value *v, struct field_value *out)
{
	const struct definition *names =
		v->tag == VALUE_ENUM ? dictionary_definition_id(d, v->definition) : NULL;
	long double real;
	bool is_signed;
	uint64_t n;

	if (value_integer(v, names, &n, &is_signed)) {
		out->form = is_signed ? FORM_INT : FORM_UINT;
		out->u = n;
		take_label(names, out);
	} else if (v->tag == VALUE_NULL || (v->tag == VALUE_STRING && value_is_null_string(v))) {
		set_spelling(out, "NULL");
	} else if (value_real(v, &real)) {
		out->form = FORM_REAL;
		out->real = (double)real;
		out->size = v->size;
	} else if (v->tag == VALUE_STRING || v->tag == VALUE_BLOB || v->tag == VALUE_OPAQUE) {
		out->form = FORM_TEXT;
		out->text = v->bytes;
		out->size = v->n;
	}
}

bool event_ref_field(const struct dictionary *d, const struct event *e, const char *name,
		     struct field_value *out)
{
	const struct field *f = field_find(e->type, name);
	uint32_t index;
	struct value v;

	out->form = FORM_NONE;
	if (f) {
		field_element(f, name, &index);
		field_get(e, f, index, out);
		if (f->kind == FIELD_ENUM && out->form != FORM_NONE)
			take_label(f->definition, out);
	} else if (argument_by_key(d, e, name, &v)) {
		from_value(d, &v, out);
	}
	if (out->form == FORM_REAL && !isfinite(out->real))
		set_spelling(out, isnan(out->real) ? "nan" : out->real < 0 ? "-inf" : "inf");
	return out->form != FORM_NONE;
}

static int text_cell(struct key_texts *g, struct text_ref t, struct key_cell *cell)
{
	return key_text(g, t.text, t.size, cell);
}

static int name_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
		     struct key_cell *cell)
{
	bool call = !s->syscall && (s->location || s->frame || s->type->kind == KIND_ENTER ||
				    s->type->kind == KIND_LEAVE);
	struct text_ref type = s->type->name;
	uint32_t prefix = s->syscall ? syscall_prefix(type) : 0;

	if (prefix)
		return key_text(g, type.text + prefix, type.size - prefix, cell);
	return text_cell(g, call ? dictionary_location_name(d, s->location) : type, cell);
}

/* Make a cell of the text in b, which is freed; bad: the text is missing. */
static int buffer_cell(struct key_texts *g, struct buffer *b, int bad, struct key_cell *cell)
{
	bad = bad || key_text(g, b->data, b->size, cell) ? -1 : 0;
	buffer_free(b);
	return bad;
}

static int plain_cell_of(struct key_texts *g, const struct plain_value *v, struct key_cell *cell)
{
	const char *text;
	size_t size;

	if (v->kind == PLAIN_INT)
		*cell = key_signed((int64_t)v->number);
	else if (v->kind == PLAIN_UINT)
		*cell = key_unsigned(v->number);
	else if (v->kind == PLAIN_REAL && isfinite(v->real))
		*cell = key_real(v->real, v->size == 4);
	else if (plain_text(v, &text, &size))
		return key_text(g, text, size, cell);
	return 0;
}

/* Returns true if the value is always shown in hexadecimal. */
static bool is_hex(const struct value *v)
{
	return v->tag == VALUE_POINTER ||
	       (v->tag == VALUE_NUMBER && v->size <= 8 && v->format && strchr("xop", v->format));
}

/* Make the cell of a value, or of an element of a field. */
static int item_cell(const struct dictionary *d, struct key_texts *g, const struct event *e,
		     const struct value_item *item, struct key_cell *cell)
{
	struct buffer scratch = {0};
	const struct plain_source source = {d, &scratch, argument_blobs(e->type)};
	const struct value *v = &item->value;
	struct plain_value plain;
	uint64_t bits = v->number, number;
	bool is_signed;
	int bad;

	/* the cell sorts by its number */
	if (is_hex(v)) {
		if (v->tag == VALUE_NUMBER && v->size < 8)
			bits &= (1ull << 8 * v->size) - 1;
		*cell = (struct key_cell){.kind = KEY_ADDRESS, .value = bits};
		return 0;
	}
	/* a value with children is not a key */
	if (v->tag == VALUE_ARRAY || v->tag == VALUE_STRUCT || v->tag == VALUE_MISSING)
		return 0;
	bad = value_plain(&source, item, &plain) || plain_cell_of(g, &plain, cell);
	buffer_free(&scratch);
	if (cell->kind == KEY_TEXT && item->definition &&
	    value_integer(v, item->definition, &number, &is_signed)) {
		cell->label = true;
		cell->is_signed = is_signed;
		cell->value = number;
	}
	return bad ? -1 : 0;
}

/* Make the cell of a call's detail other than its arguments. */
static int detail_cell(const struct dictionary *d, struct key_texts *g, const struct event *e,
		       const char *name, struct key_cell *cell)
{
	struct values frames;
	struct buffer b = {0};
	uint64_t count;
	bool fake;

	if (!strcmp(name, "fake") && argument_fake(e, &fake))
		return key_text(g, fake ? "true" : "false", fake ? 4 : 5, cell);
	else if (!strcmp(name, "backtrace") && argument_backtrace(e, &frames, &count))
		return buffer_cell(g, &b,
				   buffer_reserve(&b, 64) ||
					   value_backtrace_text(&b, d, &frames, count),
				   cell);
	return 0;
}

static int field_cell(const struct dictionary *d, struct key_texts *g, const struct event *e,
		      const char *name, struct key_cell *cell)
{
	const struct field *f = e ? field_find(e->type, name) : NULL;
	struct field_value element;
	struct value_item item;
	uint32_t index;

	if (!e)
		return 0;
	if (f) {
		field_element(f, name, &index);
		field_get(e, f, index, &element);
		field_item(f, &element, &item);
		return item_cell(d, g, e, &item, cell);
	}
	if (!argument_by_key(d, e, name, &item.value))
		return detail_cell(d, g, e, name, cell);
	item.definition = dictionary_definition_id(d, item.value.definition);
	return item_cell(d, g, e, &item, cell);
}

static void cpu_cell(const struct event_ref *s, struct key_cell *cell)
{
	const struct field *f;
	struct field_value v;

	if (s->lane->flags & LANE_HAS_CPU) {
		*cell = key_signed(s->lane->cpu);
		return;
	}
	f = s->event ? field_by_role(s->event->type, ROLE_CPU) : NULL;
	if (!f)
		return;
	field_get(s->event, f, 0, &v);
	if (v.form == FORM_UINT || v.form == FORM_INT)
		*cell = key_signed(v.i);
}

static int location_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
			 enum key_kind kind, struct key_cell *cell)
{
	const struct location *p = dictionary_location(d, s->location);

	if (!p)
		return 0;
	if (kind == BY_ADDRESS) {
		*cell = (struct key_cell){.kind = KEY_ADDRESS, .value = p->address};
		return 0;
	}
	if (!p->symbol)
		return 0;
	if (kind == BY_MODULE && p->symbol->module.size)
		return text_cell(g, p->symbol->module, cell);
	if (kind == BY_FILE && p->symbol->file.size)
		return text_cell(g, p->symbol->file, cell);
	if (kind == BY_LINE && p->symbol->line)
		*cell = key_unsigned(p->symbol->line);
	return 0;
}

enum symkind { SYMKIND_PLT, SYMKIND_KERNEL, SYMKIND_FUNCTION, SYMKINDS };

const char *const key_symkinds[] = {[SYMKIND_PLT] = "plt",
				    [SYMKIND_KERNEL] = "kernel",
				    [SYMKIND_FUNCTION] = "function",
				    [SYMKINDS] = NULL};

/* Make the cell of symkind: a function called through the PLT, in the kernel, or another one. */
static int symkind_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
			struct key_cell *cell)
{
	const struct location *p = dictionary_location(d, s->location);
	uint32_t flags = p && p->symbol ? p->symbol->flags : 0;
	enum symkind is = SYMKIND_FUNCTION;

	if (!p)
		return 0;
	if (flags & SYMBOL_PLT)
		is = SYMKIND_PLT;
	else if (flags & SYMBOL_KERNEL || (p->space && p->space->flags & SPACE_KERNEL))
		is = SYMKIND_KERNEL;
	return key_text(g, key_symkinds[is], strlen(key_symkinds[is]), cell);
}

static int class_cell(struct dictionary *d, struct key_texts *g, const struct event_ref *s,
		      struct key_cell *cell)
{
	struct text_ref name = dictionary_location_name(d, s->location);
	const char *class = apitrace_class(name.text, name.size);

	return class ? key_text(g, class, strlen(class), cell) : 0;
}

/* Make the cell before key_transform. */
static int plain_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		      const struct event_ref *s, struct key_cell *cell)
{
	const char *kind = type_kind_name(s->type->kind);

	switch (k->kind) {
	case BY_NAME: return name_cell(d, g, s, cell);
	case BY_TYPE: return text_cell(g, s->type->name, cell);
	case BY_GROUP: return text_cell(g, s->type->group, cell);
	case BY_KIND: return key_text(g, kind, strlen(kind), cell);
	case BY_INPUT: return text_cell(g, s->lane->source->name, cell);
	case BY_BUFFER: return text_cell(g, s->lane->buffer, cell);
	case BY_TID:
		if (s->lane->flags & LANE_HAS_TID)
			*cell = key_signed(s->lane->tid);
		return 0;
	case BY_PID:
		if (s->lane->flags & LANE_HAS_PID)
			*cell = key_signed(s->lane->pid);
		return 0;
	case BY_PPID:
		if (s->lane->flags & LANE_HAS_PID)
			*cell = key_signed(s->lane->ppid);
		return 0;
	case BY_COMM: return s->lane->comm.size ? text_cell(g, s->lane->comm, cell) : 0;
	case BY_CPU: cpu_cell(s, cell); return 0;
	case BY_MODULE:
	case BY_FILE:
	case BY_LINE:
	case BY_ADDRESS: return location_cell(d, g, s, k->kind, cell);
	case BY_CALLER:
		if (s->caller)
			return text_cell(g, dictionary_location_name(d, s->caller), cell);
		return 0;
	case BY_DEPTH: *cell = key_unsigned(s->level); return 0;
	case BY_CLASS: return class_cell(d, g, s, cell);
	case BY_SYMKIND: return symkind_cell(d, g, s, cell);
	case BY_STACK:
		if (s->stack)
			*cell = (struct key_cell){.kind = KEY_STACK, .value = s->stack};
		return 0;
	case BY_TIME: *cell = key_unsigned(s->time); return 0;
	case BY_DURATION:
	case BY_SELF:
		if (!s->timed)
			return field_cell(d, g, s->event, k->field, cell);
		*cell = s->type->kind == KIND_SAMPLE && type_weight_is_signed(s->type)
				? key_signed((int64_t)(k->kind == BY_DURATION ? s->total : s->self))
				: key_unsigned(k->kind == BY_DURATION ? s->total : s->self);
		if (s->pending)
			*cell = (struct key_cell){.kind = KEY_PENDING, .value = KEY_PENDING_TIME};
		return 0;
	case BY_FIELD: return field_cell(d, g, s->event, k->field, cell);
	}
	return 0;
}

/* Make the cell of B or C, for A|B|C. */
static int other_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		      const struct event_ref *s, struct key_cell *cell)
{
	int bad = 0;

	*cell = (struct key_cell){0};
	for (k = k->other; k && !bad && cell->kind == KEY_MISSING; k = k->other)
		bad = plain_cell(k, d, g, s, cell);
	return bad;
}

/* Make the cell of A|B: the first alternative that the row has. */
static int first_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		      const struct event_ref *s, struct key_cell *cell)
{
	int bad = plain_cell(k, d, g, s, cell);

	return bad || cell->kind != KEY_MISSING || !k->other ? bad : other_cell(k, d, g, s, cell);
}

int keys_cell(const struct keys *k, size_t key, struct dictionary *d, struct key_texts *g,
	      const struct event_ref *s, struct key_cell *cell)
{
	*cell = (struct key_cell){0};
	if (first_cell(&k->key[key], d, g, s, cell))
		return -1;
	if (k->key[key].transform)
		*cell = key_transform(&k->key[key], *cell);
	return 0;
}

/* Returns true if the leave has the argument, though without the part that the key selects. */
static bool is_given(const struct key *k, const struct dictionary *d, const struct event *e)
{
	if (!e || k->other || k->kind != BY_FIELD)
		return false;
	return argument_given(d, e, k->field + (strncmp(k->field, "arg.", 4) ? 0 : 4));
}

/* Make the cell of a pair that its B gives. */
static int end_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		    const struct event_ref *s, struct key_cell *cell)
{
	int bad = 0;

	*cell = (struct key_cell){0};
	for (; k && !bad && cell->kind == KEY_MISSING; k = k->other)
		if (k->side != KEY_OF_A && k->side != KEY_OF_W)
			bad = plain_cell(k, d, g, s, cell);
	return bad;
}

static int pair_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, const struct key_cell *begun, struct key_cell *cell)
{
	if (begun && begun->kind != KEY_MISSING) {
		*cell = *begun;
		return 0;
	}
	return end_cell(k, d, g, s, cell);
}

static int call_cell(const struct key *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, const struct key_cell *begun, struct key_cell *cell)
{
	if (first_cell(k, d, g, s, cell))
		return -1;
	if (begun && cell->kind == KEY_MISSING && !is_given(k, d, s->event))
		*cell = *begun;
	return 0;
}

/* Test whether the row is a call: a sample, or a pair, has times too. */
static bool is_call(const struct event_ref *s)
{
	return s->timed && (s->type->kind == KIND_ENTER || s->type->kind == KIND_LEAVE);
}

int keys_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
	       const struct event_ref *s, struct key_cell *cells)
{
	const struct key_cell *entered = s->entered;

	for (size_t i = 0; i < k->count; i++) {
		const struct key *key = &k->key[i];
		const struct key_cell *begun = key->begins && entered ? entered++ : NULL;

		cells[i] = (struct key_cell){0};
		if (k->pairs ? pair_cell(key, d, g, s, begun, &cells[i])
			     : call_cell(key, d, g, s, begun, &cells[i]))
			return -1;
		/* with the key type, an enter and its leave are in two groups */
		if (key->kind == BY_KIND && !k->pairs && !k->by_type && is_call(s) &&
		    key_text(g, "call", 4, &cells[i]))
			return -1;
		if (key->transform)
			cells[i] = key_transform(key, cells[i]);
	}
	return 0;
}

int keys_begin_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++) {
		if (!k->key[i].begins)
			continue;
		*cells = (struct key_cell){0};
		for (const struct key *a = &k->key[i]; a && cells->kind == KEY_MISSING;
		     a = a->other)
			if (key_begins(a) && a->side != KEY_OF_W && plain_cell(a, d, g, s, cells))
				return -1;
		cells++;
	}
	return 0;
}

int keys_waker_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		     const struct event_ref *s, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->key[i].side == KEY_OF_W && plain_cell(&k->key[i], d, g, s, cells))
			return -1;
		cells += k->key[i].begins;
	}
	return 0;
}

int keys_end_cells(const struct keys *k, struct dictionary *d, struct key_texts *g,
		   const struct event_ref *s, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].begins && end_cell(&k->key[i], d, g, s, cells++))
			return -1;
	return 0;
}

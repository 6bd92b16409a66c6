#include "keys.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "columns.h"
#include "common/argument.h"
#include "common/units.h"

static const struct {
	const char *name;
	enum key_what what;
	uint32_t needs;
} names[] = {
	/* the name of an event without a place is that of its type */
	{"name", BY_NAME, NEEDS_PLACE | NEEDS_TYPE},
	{"type", BY_TYPE, NEEDS_TYPE},
	{"group", BY_GROUP, NEEDS_TYPE},
	{"kind", BY_KIND, NEEDS_TYPE},
	{"source", BY_SOURCE, NEEDS_LANE},
	{"buffer", BY_BUFFER, NEEDS_LANE},
	{"tid", BY_TID, NEEDS_LANE},
	{"pid", BY_PID, NEEDS_LANE},
	{"ppid", BY_PPID, NEEDS_LANE},
	{"comm", BY_COMM, NEEDS_LANE},
	{"cpu", BY_CPU, NEEDS_LANE | NEEDS_TYPE | NEEDS_CPU},
	{"module", BY_MODULE, NEEDS_PLACE},
	{"file", BY_FILE, NEEDS_PLACE},
	{"line", BY_LINE, NEEDS_PLACE},
	{"address", BY_ADDRESS, NEEDS_PLACE},
	{"caller", BY_CALLER, NEEDS_CALLER},
	{"depth", BY_DEPTH, NEEDS_LEVEL},
};

static bool is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_.-:", *s))
			return false;
	return true;
}

static int parse_bucket(struct key *k, struct error *e)
{
	char width[32];
	const char *comma = strchr(k->name, ','), *end = strrchr(k->name, ')');
	int64_t ns;

	if (strncmp(k->name, "bucket(time,", 12) || !comma || !end || end[1] ||
	    (size_t)(end - comma) > sizeof(width))
		goto bad;
	comma++;
	while (*comma == ' ')
		comma++;
	memcpy(width, comma, (size_t)(end - comma));
	width[end - comma] = '\0';
	if (parse_time(width, &ns) || ns <= 0)
		goto bad;
	k->what = BY_BUCKET;
	k->width = (uint64_t)ns;
	k->unit = isalpha((unsigned char)end[-1]);
	return 0;
bad:
	return error_set(e, NULL, NO_OFFSET, "no such key: '%s' (a bucket is bucket(time,1s))",
			 k->name);
}

static int parse_key(struct key *k, uint32_t *needs, struct error *e)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(k->name, names[i].name)) {
			k->what = names[i].what;
			*needs |= names[i].needs;
			return 0;
		}
	*needs |= NEEDS_EVENT;
	if (strchr(k->name, '('))
		return parse_bucket(k, e);
	if (!is_name(k->name))
		return error_set(
			e, NULL, NO_OFFSET,
			"no such key: '%s' (keys are name type group kind source buffer tid "
			"pid ppid comm cpu module file line address caller depth "
			"bucket(time,T), and fields of the events)",
			k->name);
	k->what = BY_FIELD;
	return 0;
}

/* A key of that name, of which nothing is known yet. NULL when memory is out. */
static struct key *add_key(struct keys *k, const char *name, size_t n)
{
	struct key *key = realloc(k->key, (k->count + 1) * sizeof(*key));
	const char **text = realloc(k->names, (k->count + 1) * sizeof(*text));
	char *copy = strndup(name, n);

	if (key)
		k->key = key;
	if (text)
		k->names = text;
	if (!key || !text || !copy) {
		free(copy);
		return NULL;
	}
	key[k->count] = (struct key){.name = copy};
	text[k->count] = copy;
	return &key[k->count++];
}

int keys_parse(struct keys *k, const char *list, struct error *e)
{
	while (*list) {
		size_t n = columns_item_length(list);
		struct key *key = add_key(k, list, n);

		if (!key)
			return error_set(e, NULL, NO_OFFSET, "out of memory");
		if (parse_key(key, &k->needs, e))
			return -1;
		for (size_t i = 0; i + 1 < k->count; i++)
			if (!strcmp(k->names[i], key->name))
				return error_set(e, NULL, NO_OFFSET, "the key '%s' is given twice",
						 key->name);
		k->by_type |= key->what == BY_TYPE;
		k->fields += key->what == BY_FIELD;
		list += n;
		if (*list == ',' && !*++list)
			return error_set(e, NULL, NO_OFFSET,
					 "a key is missing behind the last comma");
	}
	return 0;
}

int keys_check_ticks(const struct keys *k, struct error *e)
{
	for (size_t i = 0; i < k->count; i++)
		if (k->key[i].unit)
			return error_set(e, NULL, NO_OFFSET,
					 "the clock of this trace counts ticks, no unit of time: "
					 "say a number of them instead of '%s'",
					 k->key[i].name);
	return 0;
}

void keys_free(struct keys *k)
{
	for (size_t i = 0; i < k->count; i++)
		free(k->key[i].name);
	free(k->key);
	free(k->names);
}

/* The name of an enum's value, or NULL. */
static const struct text_ref *value_name(const struct dictionary *d, const struct value *v)
{
	const struct definition *def;
	const struct member *m;

	if (v->tag != VALUE_ENUM)
		return NULL;
	def = dictionary_definition_id(d, v->definition);
	m = def ? definition_member(def, v->number) : NULL;
	return m ? &m->name : NULL;
}

static void from_value(const struct dictionary *d, const struct value *v, struct field_value *out)
{
	const struct text_ref *name = value_name(d, v);
	long double real;
	bool is_signed;
	uint64_t n;

	if (name) {
		out->form = FORM_TEXT;
		out->text = (const uint8_t *)name->text;
		out->size = name->size;
	} else if (value_integer(v, &n, &is_signed)) {
		out->form = is_signed ? FORM_INT : FORM_UINT;
		out->u = n;
	} else if (value_real(v, &real)) {
		out->form = FORM_REAL;
		out->real = (double)real;
	} else if (v->tag == VALUE_STRING || v->tag == VALUE_BLOB || v->tag == VALUE_OPAQUE) {
		out->form = FORM_TEXT;
		out->text = v->bytes;
		out->size = v->n;
	}
}

bool subject_field(const struct dictionary *d, const struct event *e, const char *name,
		   struct field_value *out)
{
	const struct field *f = field_find(e->type, name);
	struct value v;

	out->form = FORM_NONE;
	if (f) {
		field_get(e, f, 0, out);
	} else if (e->type->flags & TYPE_VALUES) {
		if (!strncmp(name, "arg.", 4) && argument_find(d, e, name + 4, &v))
			from_value(d, &v, out);
		else if (!strcmp(name, "ret") &&
			 values_find(e->tail, e->tail_size, DETAIL_RETURN, 0, &v))
			from_value(d, &v, out);
	}
	return out->form != FORM_NONE;
}

static int text_cell(struct groups *g, struct text_ref t, struct key_cell *cell)
{
	return groups_text(g, t.text, t.size, cell);
}

static int name_cell(struct dictionary *d, struct groups *g, const struct subject *s,
		     struct key_cell *cell)
{
	bool call = s->place || s->type->kind == KIND_ENTER || s->type->kind == KIND_LEAVE;

	return text_cell(g, call ? dictionary_place_name(d, s->place) : s->type->name, cell);
}

static int field_cell(const struct dictionary *d, struct groups *g, const struct event *e,
		      const char *name, struct key_cell *cell)
{
	struct field_value v;
	char real[40];

	if (!e || !subject_field(d, e, name, &v))
		return 0;
	switch (v.form) {
	case FORM_INT: *cell = key_signed(v.i); return 0;
	case FORM_UINT: *cell = key_unsigned(v.u); return 0;
	case FORM_REAL:
		return groups_text(g, real, (size_t)snprintf(real, sizeof(real), "%.17g", v.real),
				   cell);
	case FORM_TEXT: return groups_text(g, v.text, v.size, cell);
	case FORM_NONE: break;
	}
	return 0;
}

static void cpu_cell(const struct subject *s, struct key_cell *cell)
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

static int place_cell(struct dictionary *d, struct groups *g, const struct subject *s,
		      enum key_what what, struct key_cell *cell)
{
	const struct place *p = dictionary_place(d, s->place);

	if (!p)
		return 0;
	if (what == BY_ADDRESS) {
		*cell = key_unsigned(p->address);
		return 0;
	}
	if (!p->symbol)
		return 0;
	if (what == BY_MODULE && p->symbol->module.size)
		return text_cell(g, p->symbol->module, cell);
	if (what == BY_FILE && p->symbol->file.size)
		return text_cell(g, p->symbol->file, cell);
	if (what == BY_LINE && p->symbol->line)
		*cell = key_unsigned(p->symbol->line);
	return 0;
}

static int key_cell(const struct key *k, struct dictionary *d, struct groups *g,
		    const struct subject *s, struct key_cell *cell)
{
	static const char *const kinds[KIND_COUNT] = {"instant", "enter", "leave", "counter",
						      "gap"};

	switch (k->what) {
	case BY_NAME: return name_cell(d, g, s, cell);
	case BY_TYPE: return text_cell(g, s->type->name, cell);
	case BY_GROUP: return text_cell(g, s->type->group, cell);
	case BY_KIND:
		return groups_text(g, kinds[s->type->kind], strlen(kinds[s->type->kind]), cell);
	case BY_SOURCE: return text_cell(g, s->lane->source->name, cell);
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
	case BY_COMM: return text_cell(g, s->lane->comm, cell);
	case BY_CPU: cpu_cell(s, cell); return 0;
	case BY_MODULE:
	case BY_FILE:
	case BY_LINE:
	case BY_ADDRESS: return place_cell(d, g, s, k->what, cell);
	case BY_CALLER:
		if (s->caller)
			return text_cell(g, dictionary_place_name(d, s->caller), cell);
		return 0;
	case BY_DEPTH: *cell = key_unsigned(s->level); return 0;
	case BY_BUCKET: *cell = key_unsigned(s->time - s->time % k->width); return 0;
	case BY_FIELD: return field_cell(d, g, s->event, k->name, cell);
	}
	return 0;
}

int keys_cells(const struct keys *k, struct dictionary *d, struct groups *g,
	       const struct subject *s, struct key_cell *cells)
{
	size_t field = 0;

	for (size_t i = 0; i < k->count; i++) {
		cells[i] = (struct key_cell){0};
		if (key_cell(&k->key[i], d, g, s, &cells[i]))
			return -1;
		if (k->key[i].what != BY_FIELD)
			continue;
		if (cells[i].kind == KEY_MISSING && s->entered)
			cells[i] = s->entered[field];
		field++;
	}
	return 0;
}

int keys_field_cells(const struct keys *k, const struct dictionary *d, struct groups *g,
		     const struct event *e, struct key_cell *cells)
{
	for (size_t i = 0; i < k->count; i++) {
		if (k->key[i].what != BY_FIELD)
			continue;
		*cells = (struct key_cell){0};
		if (field_cell(d, g, e, k->key[i].name, cells++))
			return -1;
	}
	return 0;
}

/*
 * fields.c - events with a name: "KEY=VALUE" texts become fields, and their kinds a type
 */
#include <ctype.h>
#include <stdlib.h>

#include "cmd/trdecode/ftrace/ftrace.h"
#include "common/formats/softirqs.h"

bool ftrace_number(struct span s, uint8_t *kind, uint64_t *number)
{
	bool minus = s.at < s.end && *s.at == '-';
	const char *p = s.at + minus;
	uint64_t n = 0;

	if (s.end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && !minus) {
		p += 2;
		*kind = FIELD_HEX;
		return digits_hex(&p, s.end, number) && p == s.end;
	}
	*kind = minus ? FIELD_INT : FIELD_UINT;
	if (p == s.end || s.end - p > 20)
		return false;
	for (; p < s.end; p++) {
		unsigned digit = (unsigned char)(*p - '0');

		if (digit > 9 || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	if (minus && n > 1ull << 63)
		return false;
	*number = minus ? -n : n;
	return true;
}

/* --- fields of a text --- */

/* Test for keys whose values are text, whatever their first value is. */
static bool is_text_key(struct span key)
{
	return span_ends(key, "comm") || span_ends(key, "name");
}

/* Test for numbers that trace-cmd -R prints in hexadecimal without 0x. */
static bool is_bare_hex(struct span key)
{
	return span_is(key, "calltime") || span_is(key, "rettime");
}

static void value_set(struct ftrace_value *v)
{
	struct span s = v->text;
	const char *p = s.at;

	if (is_text_key(v->key)) {
		v->kind = FIELD_STRING;
	} else if (is_bare_hex(v->key)) {
		v->kind =
			digits_hex(&p, s.end, &v->number) && p == s.end ? FIELD_HEX : FIELD_STRING;
	} else if (!ftrace_number(s, &v->kind, &v->number)) {
		/* the option fields prints both: "0x10 (16)" */
		p = span_begins(s, "0x") && span_ends(s, ")") ? span_find(s, " (") : NULL;
		if (p && ftrace_number((struct span){p + 2, s.end - 1}, &v->kind, &v->number))
			return;
		/* a unit in brackets may follow: "[ns]" */
		s.end = memchr(s.at, ' ', span_size(s));
		if (!s.end || v->text.end[-1] != ']' || s.end[1] != '[' ||
		    !ftrace_number(s, &v->kind, &v->number))
			v->kind = FIELD_STRING;
	}
}

void ftrace_value_add(struct ftrace *f, const char *key, struct span text, bool number)
{
	struct ftrace_value *v = &f->values[f->nvalues++];

	*v = (struct ftrace_value){.key = {key, key + strlen(key)}, .text = text};
	if (number)
		value_set(v);
	else
		v->kind = FIELD_STRING;
}

static bool is_open(char c)
{
	return c == '[' || c == '(' || c == '{';
}

static bool is_key_end(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Find the next "KEY=" from at on. Returns its '='; NULL: there is none. */
static const char *next_key(const char *from, struct span text, const char **key)
{
	const char *equal = from;

	for (; (equal = memchr(equal, '=', (size_t)(text.end - equal))); equal++) {
		const char *p = equal;

		if (equal + 1 < text.end && (equal[1] == '=' || equal[1] == '>'))
			continue;
		while (p > from && is_key_end(p[-1]))
			p--;
		if (p == equal || isdigit((unsigned char)*p))
			continue;
		if (p > text.at && !is_open(p[-1]) && p[-1] != ' ' && p[-1] != '\t' && p[-1] != ',')
			continue;
		*key = p;
		return equal;
	}
	return NULL;
}

/* Take off what separates a value from the next key. */
static struct span value_end(struct span v, char before)
{
	v = span_trim(v);
	if (span_ends(v, "==>"))
		v.end -= 3;
	v = span_trim(v);
	if (v.end > v.at && v.end[-1] == ',')
		v.end--;
	if (v.end > v.at &&
	    ((before == '[' && v.end[-1] == ']') || (before == '(' && v.end[-1] == ')')))
		v.end--;
	return span_trim(v);
}

const char *ftrace_string_end(struct span s, bool (*is_end)(struct span after))
{
	const char *p = s.at + 1, *escaped = NULL;

	for (; p < s.end && (p = memchr(p, '"', (size_t)(s.end - p))); p++) {
		const char *slash = p;

		while (slash[-1] == '\\')
			slash--;
		if ((p - slash) % 2 == 0) {
			if (is_end((struct span){p + 1, s.end}))
				return p + 1;
			if (escaped) /* another string begins */
				return escaped;
		} else if (!escaped && is_end((struct span){p + 1, s.end})) {
			escaped = p + 1;
		}
	}
	return escaped;
}

/* Test for the end of the text, or the next key, after a string and the brackets around it. */
static bool is_string_end(struct span after)
{
	const char *p = after.at, *key;

	while (p < after.end && (*p == '}' || *p == ']' || *p == ')' || *p == ','))
		p++;
	key = span_skip_blanks(p, after.end);
	if (key == after.end)
		return true;
	if (key == p)
		return false;
	while (key < after.end && is_open(*key))
		key++;
	for (p = key; p < after.end && is_key_end(*p); p++)
		;
	return p > key && p < after.end && *p == '=';
}

/* Skip a string, or the array of strings of a probe, FIELD={"A","B"}, at the begin of a value: its
 * blanks and keys are of the value. */
static const char *skip_string(const char *p, const char *end)
{
	const char *quote = p + (p < end && *p == '{'), *after = NULL;

	if (quote < end && *quote == '"')
		after = ftrace_string_end((struct span){quote, end}, is_string_end);
	return after ? after : p;
}

void ftrace_split(struct ftrace *f, struct span text)
{
	const char *key, *equal = next_key(text.at, text, &key), *next = NULL, *next_equal;
	const char *lead_end = equal ? key : text.end;
	struct span lead = {text.at, lead_end};

	if (equal && lead.end > lead.at && is_open(lead.end[-1]))
		lead.end--;
	lead = span_trim(lead);
	if (lead.at < lead.end)
		ftrace_value_add(f, "message", lead, false);
	for (; equal; key = next, equal = next_equal) {
		struct ftrace_value *v = &f->values[f->nvalues++];
		const char *after = skip_string(equal + 1, text.end);

		next_equal = f->nvalues < FTRACE_FIELDS_MOST ? next_key(after, text, &next) : NULL;
		v->key = (struct span){key, equal};
		v->text = (struct span){equal + 1, next_equal ? next : text.end};
		/* the bracket is of the next key */
		if (next_equal && is_open(next[-1]))
			v->text.end--;
		v->text = value_end(v->text, key > text.at ? key[-1] : ' ');
		value_set(v);
		/* the quotes are not of the string */
		if (after > equal + 1 && after == v->text.end && *v->text.at == '"') {
			v->kind = FIELD_STRING;
			v->text = (struct span){v->text.at + 1, after - 1};
		}
	}
}

/* --- types --- */

/* Return the kind of a field that has values of both kinds, which is a number if both are:
 *
 *     field  | UINT    HEX     INT     STRING
 *     -------+-------------------------------
 *     UINT   | UINT    HEX     INT     STRING
 *     HEX    | UINT *  HEX     INT     STRING    * HEX for 0, which some texts have without 0x
 *     INT    | INT +   INT +   INT     STRING    + -1, none, for a number above INT64_MAX
 *     STRING | STRING  STRING  STRING  STRING
 *
 * Values that are not 0 have the base of their name, so UINT and HEX meet only in zeros. */
static int common_kind(uint8_t kind, const struct ftrace_value *v)
{
	if (kind == FIELD_STRING || v->kind == FIELD_STRING)
		return FIELD_STRING;
	if (kind == FIELD_INT)
		return v->kind != FIELD_INT && v->number > INT64_MAX ? -1 : FIELD_INT;
	return kind == FIELD_HEX && v->kind == FIELD_UINT && !v->number ? FIELD_HEX : v->kind;
}

/* Give a number the base that numbers of that field have in the trace: 0x3 and 3 are of one kind.
 */
static void take_base(struct ftrace *f, uint32_t name, struct ftrace_value *v)
{
	uint8_t *base = &f->declared.bases[name];

	if (v->kind == FIELD_STRING || v->count)
		return;
	/* zero has no 0x in some texts of the kernel */
	if (!*base && v->number)
		*base = (v->kind == FIELD_HEX ? FIELD_HEX : FIELD_UINT) + 1;
	if (*base && v->kind != FIELD_INT)
		v->kind = *base - 1;
}

/* Count the fields of a variant whose kind the present values change. -1: one has no kind in common
 * with its value. */
static int kind_changes(struct ftrace *f, const struct ftrace_type *t)
{
	int changes = 0;

	for (size_t i = 0; i < t->nfields; i++) {
		struct ftrace_value *v = &f->values[i];
		int kind = t->fields[i].kind;

		/* most values */
		if (kind == v->kind &&
		    (kind == FIELD_STRING || f->declared.bases[t->fields[i].name] == kind + 1))
			continue;
		take_base(f, t->fields[i].name, v);
		kind = common_kind(t->fields[i].kind, v);
		if (kind < 0)
			return -1;
		changes += kind != t->fields[i].kind;
	}
	return changes;
}

static bool same_keys(const struct ftrace *f, const struct ftrace_type *t)
{
	if (t->nfields != f->nvalues)
		return false;
	for (size_t i = 0; i < f->nvalues; i++) {
		uint32_t name = t->fields[i].name;
		size_t n = intern_size(&f->names, name);

		if (n != span_size(f->values[i].key) || t->fields[i].count != f->values[i].count ||
		    memcmp(intern_data(&f->names, name), f->values[i].key.at, n))
			return false;
	}
	return true;
}

/* Add a variant with the keys of the present values, before all others of its name. */
static struct ftrace_type *new_variant(struct ftrace *f, uint32_t *first)
{
	struct ftrace_declared *d = &f->declared;
	struct ftrace_type *t;

	if (ARRAY_GROW(d->types, d->types_capacity, d->ntypes))
		return NULL;
	t = d->types;
	t += d->ntypes;
	*t = (struct ftrace_type){.next = *first, .nfields = (uint32_t)f->nvalues};
	t->fields = calloc(f->nvalues + 1, sizeof *t->fields);
	if (!t->fields)
		return NULL;
	d->ntypes++;
	for (size_t i = 0; i < f->nvalues; i++) {
		struct span key = f->values[i].key;

		t->fields[i].name = intern(&f->names, key.at, span_size(key));
		if (t->fields[i].name == INTERN_NONE ||
		    ARRAY_REACH(d->bases, d->nbases, t->fields[i].name))
			return NULL;
		take_base(f, t->fields[i].name, &f->values[i]);
		t->fields[i].kind = f->values[i].kind;
		t->fields[i].count = f->values[i].count;
	}
	*first = (uint32_t)d->ntypes;
	return t;
}

/* Test for the number of a softirq, whose field has names in trace.dat too. */
static bool is_softirq(struct span type, const char *key)
{
	return span_begins(type, "softirq_") && !strcmp(key, "vec");
}

static uint32_t softirq_definition(struct writer *w)
{
	struct member_entry members[SOFTIRQS];

	for (uint64_t i = 0; i < SOFTIRQS; i++)
		members[i] = (struct member_entry){writer_text(w, softirq_name(i)), i, i};
	return writer_definition(w, &(struct definition_entry){.kind = DEFINITION_ENUM,
							       .flags = DEFINITION_UNSIGNED,
							       .nmembers = SOFTIRQS,
							       .members = members});
}

/* Declare the type of a variant, as its fields are now. */
static int declare_variant(struct ftrace *f, struct ftrace_type *t, struct span name,
			   const struct type_entry *like)
{
	struct field_entry fields[FTRACE_FIELDS_MOST + 1];
	bool numbered = like && like->flags & TYPE_CALL_NUMBER;
	struct type_entry e = {.source = f->declared.source,
			       .name = writer_string(f->w, name.at, span_size(name)),
			       .group = like ? like->group : 0,
			       .kind = like ? like->kind : KIND_INSTANT,
			       .fields = fields};
	uint32_t texts = 0;

	if (numbered) {
		fields[e.nfields++] = (struct field_entry){.name = writer_text(f->w, "call"),
							   .kind = FIELD_UINT,
							   .role = ROLE_CALL,
							   .where = WHERE_FIXED,
							   .size = 4};
		e.fixed_size = 4;
	}
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct ftrace_type_field *from = &t->fields[i];
		const char *key = intern_data(&f->names, from->name);
		bool text = from->kind == FIELD_STRING;
		bool softirq = from->kind == FIELD_UINT && is_softirq(name, key);
		uint32_t count = from->count ? from->count : 1;

		fields[e.nfields++] = (struct field_entry){
			.name = writer_text(f->w, key),
			.kind = softirq ? FIELD_ENUM : from->kind,
			.role = !strcmp(key, "message") ? ROLE_MESSAGE : ROLE_NONE,
			.where = text ? WHERE_STRING : WHERE_FIXED,
			.offset = text ? texts : e.fixed_size,
			.size = text ? 1 : 8,
			.count = from->count,
			.definition = softirq ? softirq_definition(f->w) : 0};
		texts += text;
		e.fixed_size += text ? 0 : 8 * count;
	}
	e.flags = (uint16_t)((texts ? TYPE_TAIL : 0) | (like ? like->flags : 0));
	t->type = writer_type(f->w, &e);
	return t->type && !row_filter_announce(f->input->decoding->row_filter, t->type, 0) ? 0 : -1;
}

/* Find the variant of a name with the present keys and kinds, or one whose kinds change, or add it.
 * *full: the name has too many for a new one, which may have only a message. NULL: *full, or out of
 * memory. */
static struct ftrace_type *find_variant(struct ftrace *f, struct span name, bool *full,
					bool *changes)
{
	struct ftrace_declared *d = &f->declared;
	struct ftrace_type *other = NULL;
	uint32_t *first = id_cache_number(&d->names, name.at, span_size(name));
	unsigned variants = 0;

	*full = *changes = false;
	if (!first)
		return NULL;
	for (uint32_t i = *first; i; i = d->types[i - 1].next, variants++) {
		int changed =
			same_keys(f, &d->types[i - 1]) ? kind_changes(f, &d->types[i - 1]) : -1;

		if (!changed)
			return &d->types[i - 1];
		if (changed > 0 && !other)
			other = &d->types[i - 1];
	}
	*changes = true;
	*full = !other && variants >= FTRACE_VARIANTS_MOST &&
		(f->nvalues > 1 || (f->nvalues && !span_is(f->values[0].key, "message")));
	return other || *full ? other : new_variant(f, first);
}

/* As find_variant. If there are too many, the values become the message. */
static struct ftrace_type *find_or_message(struct ftrace *f, struct span name, struct span text,
					   bool *changes)
{
	bool full;
	struct ftrace_type *t = find_variant(f, name, &full, changes);

	if (!full)
		return t;
	f->nvalues = 0;
	ftrace_value_add(f, "message", text, false);
	return find_variant(f, name, &full, changes);
}

static int put_numbers(struct buffer *to, const struct ftrace_value *v)
{
	for (unsigned i = 0; i < v->count; i++)
		if (buffer_u64(to, v->numbers[i]))
			return -1;
	return 0;
}

/* Make the row of an event of a variant. changes: the values change its kinds. */
static int fill_row(struct ftrace *f, struct ftrace_type *t, struct span name,
		    const struct type_entry *like, bool changes)
{
	struct ftrace_row *r = &f->row;

	r->fresh = !t->type;
	r->odd = r->fresh ? t->next : changes;
	for (uint32_t i = 0; changes && i < t->nfields; i++)
		t->fields[i].kind =
			r->fresh ? f->values[i].kind
				 : (uint8_t)common_kind(t->fields[i].kind, &f->values[i]);
	if ((changes || r->fresh) && declare_variant(f, t, name, like))
		return -1;
	r->type = t->type;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct ftrace_value *v = &f->values[i];

		if (t->fields[i].kind != FIELD_STRING) {
			if (v->count ? put_numbers(&r->fixed, v) : buffer_u64(&r->fixed, v->number))
				return -1;
			continue;
		}
		r->has_tail = true;
		if (buffer_append(&r->tail, v->text.at, span_size(v->text)) ||
		    buffer_append(&r->tail, "", 1))
			return -1;
	}
	r->instant_text = t->nfields && t->fields[t->nfields - 1].kind == FIELD_STRING;
	return 0;
}

int ftrace_typed(struct ftrace *f, struct span name, const struct type_entry *like)
{
	bool changes;
	struct ftrace_type *t = find_or_message(f, name, f->line.text, &changes);

	return t ? fill_row(f, t, name, like, changes) : -1;
}

int ftrace_keyed(struct ftrace *f, struct span name, const struct type_entry *like)
{
	bool changes;
	struct ftrace_type *t = find_or_message(f, name, f->line.text, &changes);
	const struct ftrace_value *last = &f->values[f->nvalues ? f->nvalues - 1 : 0];

	if (!t)
		return -1;
	if ((t->longer || !t->type || (changes && f->nvalues && last->kind == FIELD_STRING)) &&
	    ftrace_cut_event(f, t)) {
		ftrace_cut_damage(f, f->offset);
		return 0;
	}
	if (fill_row(f, t, name, like, changes))
		return -1;
	ftrace_cut_count(f, t);
	return 0;
}

int ftrace_event(struct ftrace *f, struct span name, struct span text)
{
	const struct ftrace_value *last;
	bool closed = false, open = false, quote;

	f->nvalues = 0;
	ftrace_split(f, text);
	if (f->nvalues && !span_is(f->values[f->nvalues - 1].key, "message")) {
		/* a bracket or a quote is the end of the last value */
		last = &f->values[f->nvalues - 1];
		quote = last->text.at < last->text.end && *last->text.at == '"';
		closed = last->text.end < span_trim(text).end ||
			 (quote && span_size(last->text) > 1 && last->text.end[-1] == '"');
		open = !closed && (quote || (last->key.at > text.at &&
					     (last->key.at[-1] == '[' || last->key.at[-1] == '(')));
	}
	if (ftrace_keyed(f, name, NULL))
		return -1;
	if (!f->has_row || (f->nvalues == 1 && span_is(f->values[0].key, "message")))
		return 0;
	f->row.instant_text &= !closed;
	f->row.odd |= open;
	ftrace_cut_end(f, closed, open);
	return 0;
}

uint32_t ftrace_plain_type(struct ftrace *f, const char *name, const struct type_entry *like)
{
	struct {
		uint32_t name, kind, flags, fixed;
	} key = {0, like->kind, like->flags, like->fixed_size};
	struct type_entry e = *like;
	uint32_t *id;

	e.source = f->declared.source;
	e.group = e.group ? e.group : f->declared.group;
	key.name = e.name = writer_text(f->w, name);
	id = key.name ? id_cache_number(&f->declared.plain_types, &key, sizeof key) : NULL;
	if (id && !*id) {
		uint32_t type = writer_type(f->w, &e);

		if (!type || row_filter_announce(f->input->decoding->row_filter, type, 0))
			return 0;
		*id = type;
	}
	return id ? *id : 0;
}

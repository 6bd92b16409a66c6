/*
 * cut.c - events whose end is lost, though a newline follows
 *
 * The fields of such an event are the first of those that the other events of its name have. That
 * alone is no damage: an event may have a field only now and then, such as "uaddr2=" of futex. The
 * event ends early if its last word is the begin of the next key, or its last value is empty and
 * that of the others is a decimal number (flags are empty or hexadecimal). A value may have a
 * newline, after which the other fields follow in the next line, so an event with further lines is
 * whole.
 */
#include "cmd/trdecode/ftrace/ftrace.h"

enum {
	OTHERS_LEAST = 3, /* events with a number, beside one whose last value is empty */
	WORDS_LEAST = 8,  /* events whose last value is a word, before a further line is damage */
	CLOSED_LEAST = 3, /* events whose last value has its end, before one without it is damage */
	NAMES_MOST = 4096, /* names whose begin a text may be; a kernel has some 2,500 */
};

static bool has_message(const struct ftrace *f, const struct ftrace_type *t)
{
	return t->nfields && !strcmp(intern_data(&f->names, t->fields[0].name), "message");
}

/* Test for a variant that has only a message, though the other one has none. */
static bool is_text_only(const struct ftrace *f, const struct ftrace_type *t,
			 const struct ftrace_type *other)
{
	return t->nfields == 1 && has_message(f, t) && !has_message(f, other);
}

static bool has_less(const struct ftrace *f, const struct ftrace_type *t,
		     const struct ftrace_type *other)
{
	if (is_text_only(f, t, other))
		return other->nfields > 0;
	/* a message may be empty */
	if (t->nfields >= other->nfields ||
	    (!t->nfields && has_message(f, other) && other->nfields == 1))
		return false;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (t->fields[i].name != other->fields[i].name)
			return false;
	return true;
}

/* Find the variants with more fields than a new one, and those with less. */
static void link_variants(struct ftrace *f, struct ftrace_type *t)
{
	struct ftrace_type *types = f->declared.types;
	uint32_t number = (uint32_t)(t - types) + 1;

	for (uint32_t i = t->next; i; i = types[i - 1].next) {
		struct ftrace_type *other = &types[i - 1];

		if (has_less(f, t, other) &&
		    (!t->longer || types[t->longer - 1].nfields < other->nfields))
			t->longer = i;
		if (has_less(f, other, t) &&
		    (!other->longer || types[other->longer - 1].nfields < t->nfields))
			other->longer = number;
	}
}

/* Get the variant that has more fields, and more events. NULL: there is none. */
static const struct ftrace_type *longer(const struct ftrace *f, const struct ftrace_type *t)
{
	const struct ftrace_type *other = t->longer ? &f->declared.types[t->longer - 1] : NULL;

	return other && other->count > t->count ? other : NULL;
}

/* Test whether the last value ends with the begin of the key after it. */
static bool ends_in_key(const struct ftrace *f, const struct ftrace_type *t,
			const struct ftrace_type *other)
{
	bool only = is_text_only(f, t, other);
	struct span s = f->values[f->nvalues - 1].text;
	const char *blank = memrchr(s.at, ' ', span_size(s));
	uint32_t key = other->fields[only ? 0 : t->nfields].name;
	bool bracket;

	if (only ? blank != NULL : !blank)
		return false;
	s.at = blank ? blank + 1 : s.at;
	bracket = s.at < s.end && strchr("[({", *s.at);
	s.at += bracket;
	return (s.at < s.end || bracket) && span_size(s) <= intern_size(&f->names, key) &&
	       !memcmp(s.at, intern_data(&f->names, key), span_size(s));
}

/* Test for a last value that is no number, though those before are: nothing is left of it, or its
 * unit is not whole. */
static bool is_number_cut(const struct ftrace *f, const struct ftrace_type *t)
{
	const struct ftrace_value *last;
	uint8_t kind;

	if (!t->type || !t->nfields)
		return false;
	last = &f->values[t->nfields - 1];
	kind = t->fields[t->nfields - 1].kind;
	if (last->kind != FIELD_STRING || kind == FIELD_STRING)
		return false;
	return span_size(last->text) ? t->closed == CLOSED_LEAST && span_find(last->text, " [")
				     : t->count >= OTHERS_LEAST && kind != FIELD_HEX;
}

bool ftrace_cut_event(struct ftrace *f, struct ftrace_type *t)
{
	const struct ftrace_type *other;
	bool number, early;
	uint8_t kind;

	if (!t->type)
		link_variants(f, t);
	if (is_number_cut(f, t))
		return true;
	other = longer(f, t);
	if (!other)
		return false;
	kind = t->nfields ? other->fields[t->nfields - 1].kind : FIELD_STRING;
	number = kind != FIELD_STRING && !is_text_only(f, t, other);
	early = t->nfields && ends_in_key(f, t, other);
	/* a text may go on in the next line */
	f->row.early = early;
	return !t->nfields ||
	       (number &&
		(early || (kind != FIELD_HEX && !span_size(f->values[t->nfields - 1].text))));
}

void ftrace_cut_count(struct ftrace *f, struct ftrace_type *t)
{
	const struct ftrace_value *last;

	f->row.variant = (uint32_t)(t - f->declared.types) + 1;
	t->count++;
	if (!f->row.instant_text || t->words >= WORDS_LEAST)
		return;
	last = &f->values[f->nvalues - 1];
	if (span_is(last->key, "message") || memchr(last->text.at, ' ', span_size(last->text)))
		t->spaced = true;
	t->words++;
}

void ftrace_cut_end(struct ftrace *f, bool closed, bool open)
{
	struct ftrace_type *t = &f->declared.types[f->row.variant - 1];
	const struct ftrace_value *last = f->nvalues ? &f->values[f->nvalues - 1] : NULL;
	bool number = last && last->kind != FIELD_STRING;

	if (closed || (number && span_ends(last->text, "]")))
		t->closed += t->closed < CLOSED_LEAST;
	else if (t->closed == CLOSED_LEAST && (open || number))
		f->row.early = true;
}

bool ftrace_cut_is_known(struct ftrace *f, struct span name)
{
	const uint32_t *first = id_cache_number(&f->declared.names, name.at, span_size(name));

	for (uint32_t i = first ? *first : 0; i; i = f->declared.types[i - 1].next)
		if (f->declared.types[i - 1].nfields && !has_message(f, &f->declared.types[i - 1]))
			return true;
	return false;
}

bool ftrace_cut_is_word(const struct ftrace *f)
{
	const struct ftrace_row *r = &f->row;
	const struct ftrace_type *t = r->variant ? &f->declared.types[r->variant - 1] : NULL;
	struct span text = {(const char *)r->tail.data, (const char *)r->tail.data + r->tail.size};
	const char *before;

	if (!t || t->words < WORDS_LEAST || t->spaced || t->goes_on || r->goes_on)
		return false;
	text.end--; /* the NUL */
	before = memrchr(text.at, '\0', span_size(text));
	text.at = before ? before + 1 : text.at;
	return !memchr(text.at, ' ', span_size(text)) && !memchr(text.at, '"', span_size(text));
}

bool ftrace_cut_lacks(const struct ftrace *f)
{
	return f->row.early ||
	       (f->row.variant && longer(f, &f->declared.types[f->row.variant - 1]));
}

void ftrace_cut_damage(struct ftrace *f, uint64_t offset)
{
	f->has_row = false;
	if (!f->lines.whole && offset == f->offset)
		ftrace_strange(f);
	else
		input_damage(f->input, f->input->name, offset, "an event that ends early");
}

void ftrace_cut_decide(struct ftrace *f)
{
	struct ftrace_row *r = &f->row;
	struct ftrace_type *t = r->variant ? &f->declared.types[r->variant - 1] : NULL;

	if (!t)
		return;
	t->goes_on |= r->goes_on;
	if (!r->early || r->goes_on)
		return;
	t->count--;
	ftrace_cut_damage(f, r->offset);
}

bool ftrace_cut_name(const struct ftrace *f, struct span text)
{
	static const char *const others[] = {
		"tracing_mark_write", "<stack trace>", "<user stack trace>", "funcgraph_entry",
		"funcgraph_exit",     "function",      "kernel_stack",	     "user_stack",
	};
	const struct intern *names = &f->declared.names.keys;
	size_t n = span_size(text);

	if (f->seen.unnamed)
		return false;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (n + (*others[i] == '<') <= strlen(others[i]) && !memcmp(text.at, others[i], n))
			return true;
	/* no name has these */
	if (memchr(text.at, ' ', n) || memchr(text.at, '(', n))
		return false;
	for (uint32_t i = 0; i < names->count && i < NAMES_MOST; i++)
		if (n <= intern_size(names, i) && !memcmp(text.at, intern_data(names, i), n))
			return true;
	return false;
}

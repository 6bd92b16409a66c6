/* declared_name.c - search the dictionary for a name that the user wrote */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/expr/declared_private.h"
#include "common/formats/apitrace.h"

enum { OFFERS_MOST = 100000 }; /* bounds the time that a suggestion takes */

struct search {
	enum declared_kind kind;
	const char *name;
	size_t size;
	const regex_t *regex; /* name is its text; NULL: it is a name */
	struct nearest nearest;
	uint32_t offers;
	bool strict;   /* functions without names have not the name */
	bool nameless; /* the stream has functions without names, and no symbols */
	bool unused;   /* the type is only declared: listed if nothing else can be */
	/* some names, for the message about a name that has none near */
	char some[160];
	size_t used;
};

/* Note a name for a message that lists some; names follow each other in the dictionary. */
static void note_some(struct search *s, struct text_ref t)
{
	size_t size = t.size < 40 ? t.size : 40;
	char quoted[48];

	if (!size || s->unused || s->used + size + 4 >= sizeof s->some)
		return;
	snprintf(quoted, sizeof quoted, " %.*s,", (int)size, t.text);
	if (strstr(s->some, quoted))
		return;
	s->used += (size_t)snprintf(s->some + s->used, sizeof s->some - s->used, "%s", quoted);
}

static bool is_path(enum declared_kind kind)
{
	return kind == DECLARED_MODULE || kind == DECLARED_FILE;
}

/* Returns true if the text is the name; else offers the text. A path without its directory is
 * compared with a name without one. */
static bool search_try(struct search *s, struct text_ref t)
{
	size_t size = t.size;

	if (s->regex)
		return s->offers++ >= OFFERS_MOST || expression_matches(s->regex, t.text, size);
	if (size == s->size && !memcmp(t.text, s->name, size))
		return true;
	if (is_path(s->kind) && !memchr(s->name, '/', s->size)) {
		scalar_basename(&t.text, &size);
		if (size == s->size && !memcmp(t.text, s->name, size))
			return true;
	}
	if (size && s->offers < OFFERS_MOST) {
		s->offers++;
		nearest_offer(&s->nearest, t.text, size);
		note_some(s, t);
	}
	return false;
}

/* all: note types without events for the message too */
static bool search_types(struct search *s, const struct dictionary *d, bool all)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		s->unused = !t->used && !all;
		if (search_try(s, s->kind == DECLARED_GROUP ? t->group : t->name))
			return true;
	}
	s->unused = false;
	return false;
}

static bool search_lanes(struct search *s, const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->lanes.count; i++) {
		const struct lane *l = dictionary_lane(d, i);

		if (search_try(s, s->kind == DECLARED_COMM ? l->comm : l->buffer))
			return true;
	}
	return false;
}

static bool search_sources(struct search *s, const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->sources.count; i++) {
		const struct source *of = pool_at(&d->sources, i);

		if (search_try(s, s->kind == DECLARED_INPUT ? of->name : of->format))
			return true;
	}
	return false;
}

/* Returns the text of a location that the name is searched in. */
static struct text_ref text_of_location(const struct search *s, struct dictionary *d, uint32_t i)
{
	const struct location_symbol *symbol = dictionary_location(d, i)->symbol;
	struct text_ref t = {.text = ""};
	const char *class;

	if (is_path(s->kind))
		return !symbol ? t : s->kind == DECLARED_MODULE ? symbol->module : symbol->file;
	t = dictionary_location_name(d, i);
	if (s->kind != DECLARED_CLASS)
		return t;
	class = apitrace_class(t.text, t.size);
	return (struct text_ref){.text = class ? class : "",
				 .size = class ? (uint32_t)strlen(class) : 0};
}

static bool search_locations(struct search *s, struct dictionary *d)
{
	for (uint32_t i = 1; i < d->locations.count; i++) {
		if (search_try(s, text_of_location(s, d, i)))
			return true;
		/* without symbols, of which there is another warning */
		if (d->symbols.count <= 1 && !dictionary_location(d, i)->name.size) {
			s->nameless = true;
			if (!s->strict)
				return true;
		}
	}
	return false;
}

static bool search_dictionary(struct search *s, struct dictionary *d)
{
	switch (s->kind) {
	case DECLARED_NAME: return search_types(s, d, false) || search_locations(s, d);
	case DECLARED_TYPE:
	case DECLARED_GROUP: return search_types(s, d, false);
	case DECLARED_COMM:
	case DECLARED_BUFFER: return search_lanes(s, d);
	case DECLARED_INPUT:
	case DECLARED_FORMAT: return search_sources(s, d);
	case DECLARED_CALLER:
	case DECLARED_MODULE:
	case DECLARED_FILE:
	case DECLARED_CLASS: return search_locations(s, d);
	default: return true;
	}
}

static bool has_events(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++)
		if (kind_is_event(dictionary_type(d, i)->kind))
			return true;
	return false;
}

bool declared_name(const struct declared *k, enum declared_kind kind, struct declared_text name)
{
	static const char *const of_kind[] = {
		[DECLARED_NAME] = "name",     [DECLARED_TYPE] = "type",
		[DECLARED_GROUP] = "group",   [DECLARED_CALLER] = "caller",
		[DECLARED_COMM] = "comm",     [DECLARED_MODULE] = "module",
		[DECLARED_FILE] = "file",     [DECLARED_CLASS] = "class",
		[DECLARED_BUFFER] = "buffer", [DECLARED_INPUT] = "input",
		[DECLARED_FORMAT] = "format",
	};
	struct search s = {.kind = kind,
			   .name = name.text,
			   .size = name.size,
			   .regex = name.regex,
			   .strict = k->absent};
	const char *listed = "";
	struct error e;

	nearest_begin(&s.nearest, name.text, name.size);
	if (search_dictionary(&s, k->dictionary) || !has_events(k->dictionary))
		return true;
	/* on a quiet night there may be no other names */
	if (k->absent && !s.used && !s.regex && kind <= DECLARED_GROUP)
		(void)search_types(&s, k->dictionary, true);
	if (k->absent && s.used && !s.nameless && !*nearest_hint(&s.nearest)) {
		s.some[s.used - 1] = '\0';
		listed = s.some;
	}
	error_set(&e, k->absent ? k->file : NULL, NO_OFFSET, "no event has %s %s%s '%.*s'%s%s%s",
		  name.regex ? "a" : "the", of_kind[kind], name.regex ? " that matches" : "",
		  name.size < 200 ? (int)name.size : 200, name.text,
		  s.nameless			       ? NAMELESS
		  : name.regex			       ? ""
		  : kind == DECLARED_FILE && !s.offers ? "; trsym -l adds the files of functions"
						       : nearest_hint(&s.nearest),
		  *listed ? "; there are" : "", listed);
	if (!k->absent || (name.regex && !s.nameless))
		declared_warn(k, e.what);
	else if (!k->absent->what[0])
		*k->absent = e;
	return false;
}

void declared_line(const struct declared *k)
{
	struct dictionary *d = k->dictionary;

	for (uint32_t i = 1; i < d->locations.count; i++) {
		const struct location_symbol *symbol = dictionary_location(d, i)->symbol;

		if (symbol && symbol->file.size)
			return;
	}
	if (has_events(d))
		declared_warn(k, "no function has a file and a line; trsym -l adds them");
}

void declared_number(const struct declared *k, enum declared_kind kind, const struct scalar *number)
{
	const struct dictionary *d = k->dictionary;
	uint32_t flag = kind == DECLARED_TID ? LANE_HAS_TID : LANE_HAS_PID;
	struct error e;

	if (number->form != SCALAR_INT && number->form != SCALAR_UINT)
		return;
	for (uint32_t i = 1; i < d->lanes.count; i++) {
		const struct lane *l = dictionary_lane(d, i);
		struct scalar of = {.form = SCALAR_INT,
				    .i = kind == DECLARED_TID ? l->tid : l->pid};

		if (l->flags & flag && scalar_compare(&of, number) == ORDER_EQUAL)
			return;
	}
	if (!has_events(d))
		return;
	error_set(&e, NULL, NO_OFFSET, "no event has the %s %s%" PRIu64,
		  kind == DECLARED_TID ? "tid" : "pid",
		  number->form == SCALAR_INT && number->i < 0 ? "-" : "",
		  number->form == SCALAR_INT && number->i < 0 ? -(uint64_t)number->i : number->u);
	declared_warn(k, e.what);
}

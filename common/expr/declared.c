/*
 * declared.c - finds names that the user wrote and the stream lacks, and offers those that it has
 *
 *     trfilter 'nmae == "f"'     no event has a field 'nmae'; did you mean 'name'?
 *     trfilter 'tid == 7'        no event has the tid 7
 */
#include "common/expr/declared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/formats/apitrace.h"
#include "common/scheduling/states.h"
#include "common/stream/field.h"

#define NAMELESS "; the stream has no symbols: run trsym before this program"

/* Print a warning, once, and not with k->quiet. */
static void declared_warn(const struct declared *k, const char *what)
{
	uint32_t count;

	if (k->quiet || k->early)
		return;
	count = k->warned->count;
	if (intern_string(k->warned, what) >= count)
		warn(k->file, NO_OFFSET, "%s", what);
}

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

/* Get the text of a location that the name is searched in. */
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

bool declared_name(const struct declared *k, enum declared_kind kind, const char *name, size_t size,
		   const regex_t *regex)
{
	static const char *const of_kind[] = {
		[DECLARED_NAME] = "name",     [DECLARED_TYPE] = "type",
		[DECLARED_GROUP] = "group",   [DECLARED_CALLER] = "caller",
		[DECLARED_COMM] = "comm",     [DECLARED_MODULE] = "module",
		[DECLARED_FILE] = "file",     [DECLARED_CLASS] = "class",
		[DECLARED_BUFFER] = "buffer", [DECLARED_INPUT] = "input",
		[DECLARED_FORMAT] = "format",
	};
	struct search s = {
		.kind = kind, .name = name, .size = size, .regex = regex, .strict = k->absent};
	const char *listed = "";
	struct error e;

	nearest_begin(&s.nearest, name, size);
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
		  regex ? "a" : "the", of_kind[kind], regex ? " that matches" : "",
		  size < 200 ? (int)size : 200, name,
		  s.nameless			       ? NAMELESS
		  : regex			       ? ""
		  : kind == DECLARED_FILE && !s.offers ? "; trsym -l adds the files of functions"
						       : nearest_hint(&s.nearest),
		  *listed ? "; there are" : "", listed);
	if (!k->absent || (regex && !s.nameless))
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

/* Warn of the number of a thread or process that does not occur. */
static void declared_number(const struct declared *k, enum declared_kind kind,
			    const struct scalar *number)
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

/* --- fields, names and types --- */

static bool declared_same(const struct text_ref *t, const char *name, size_t n)
{
	return t->size == n && !memcmp(t->text, name, n);
}

static bool declared_is_event(const struct type *t)
{
	return kind_is_event(t->kind);
}

/* Call f for the members of all structs, which are the names of arguments too, until it returns
 * true. Returns whether it did. */
static bool any_member(const struct dictionary *d,
		       bool (*f)(void *ctx, const struct text_ref *name), void *ctx)
{
	for (uint32_t i = 1; i < d->definitions.count; i++) {
		const struct definition *s = dictionary_definition(d, i);

		for (uint32_t m = 0; s->kind == DEFINITION_STRUCT && m < s->count; m++)
			if (f(ctx, &s->members[m].name))
				return true;
	}
	return false;
}

static bool begins_path(void *path, const struct text_ref *name)
{
	const char *p = path, *end = p + strlen(p);

	/* names may have dots */
	for (; end > p; end--)
		if ((!*end || *end == '.' || *end == '[') &&
		    declared_same(name, p, (size_t)(end - p)))
			return true;
	return false;
}

/* Test whether events with values have it without a declaration: details of calls, and arguments
 * and fields by number. */
static bool needs_none(const char *name)
{
	name += strncmp(name, "arg.", 4) ? 0 : 4;
	return !strcmp(name, "fake") || !strcmp(name, "backtrace") || !strcmp(name, "ret") ||
	       !strncmp(name, "ret.", 4) || !strncmp(name, "ret[", 4) ||
	       !strncmp(name, "fparg.", 6) || (*name >= '0' && *name <= '9');
}

/* As declared_has. used: only fields of types that have events. */
static bool has_field(const struct dictionary *d, const char *name, bool used)
{
	bool any = false, values = false, argument = !strncmp(name, "arg.", 4);

	name += argument ? 4 : 0;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		any |= declared_is_event(t);
		values |= declared_is_event(t) && t->flags & TYPE_VALUES;
		/* the name of an argument is no field's */
		if ((t->used || !used) && !argument && field_find(t, name))
			return true;
	}
	/* a name of states is of calls */
	if (state_by_name(name) >= 0 && states_declared(d))
		return true;
	return !any || (values &&
			(needs_none(name) || any_member(d, begins_path, (void *)(uintptr_t)name)));
}

bool declared_has(const struct dictionary *d, const char *name)
{
	return has_field(d, name, false);
}

static bool offer_argument(void *nearest, const struct text_ref *t)
{
	char name[NEAREST_SIZE];
	int n = snprintf(name, sizeof name, "arg.%.*s", (int)(t->size < 60 ? t->size : 60),
			 t->text);

	if (t->size)
		nearest_offer(nearest, name, (size_t)n);
	return false;
}

/* Offer the names of other fields than the word and, with "arg.", of arguments. */
static void offer_declared(struct nearest *nearest, const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		for (uint32_t f = 0; declared_is_event(t) && f < t->nfields; f++)
			if (!declared_same(&t->fields[f].name, nearest->word, nearest->size))
				nearest_offer(nearest, t->fields[f].name.text,
					      t->fields[f].name.size);
	}
	any_member(d, offer_argument, nearest);
}

/* Test whether the sources of all types are without declarations of fields. */
static bool schemaless(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (declared_is_event(t) && !type_is_of(t, "chrome") && !type_is_of(t, "ftrace"))
			return false;
	}
	return true;
}

/* Test whether a type has values, whose names are declared when they first occur. */
static bool declared_has_values(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++)
		if (dictionary_type(d, i)->flags & TYPE_VALUES)
			return true;
	return false;
}

/* Fill k->absent, unless another cause did; without it warn. */
static void set_absent(const struct declared *k, const char *what)
{
	if (!k->absent)
		declared_warn(k, what);
	else if (!k->absent->what[0])
		error_set(k->absent, k->file, NO_OFFSET, "%s", what);
}

int declared_field(const struct declared *k, const char *name, bool word, struct error *e)
{
	char quote[NEAREST_SIZE + 40] = "";
	struct nearest nearest;
	bool unused = declared_has(k->dictionary, name);

	if ((unused && has_field(k->dictionary, name, true)) || (k->own && !strcmp(name, k->own)))
		return 0;
	nearest_begin(&nearest, name, strlen(name));
	if (k->offer)
		k->offer(&nearest);
	offer_declared(&nearest, k->dictionary);
	/* hwlat, which each trace.dat declares, has a field 'duration' */
	if (unused && !nearest_means(&nearest))
		return 0;
	if (!strncmp(name, "arg.", 4) && declared_has(k->dictionary, name + 4))
		snprintf(nearest.name, sizeof nearest.name, "%.*s", NEAREST_SIZE - 1, name + 4);
	if (word && strlen(name) < NEAREST_SIZE)
		snprintf(quote, sizeof quote, "; quote a text: \"%s\"", name);
	if (state_by_name(name) >= 0)
		error_set(e, k->file, NO_OFFSET,
			  "no time of calls is known to be '%s': the trace has no events of the "
			  "scheduler, such as sched_switch; if trfilter left them out, run "
			  "trfilter last, or use trstat --where",
			  name);
	else if (!strcmp(name, "flow") || !strcmp(name, "trace_id"))
		error_set(e, k->file, NO_OFFSET,
			  "no event has a field '%s'; where a trace has flows, 'flow == N' of "
			  "trfilter "
			  "selects by them, and -g trace_id of trstat groups by them",
			  name);
	else
		error_set(e, k->file, NO_OFFSET, "no event has a field '%.64s'%s%s%s", name, quote,
			  nearest_hint(&nearest),
			  *quote || *nearest.name ? "" : "; trdecode --list names the fields");
	if (!k->partial && !unused && !schemaless(k->dictionary) &&
	    !(k->early && declared_has_values(k->dictionary))) {
		if ((word || !k->chosen) && !needs_none(name))
			return -1;
		set_absent(k, e->what);
		return 0;
	}
	declared_warn(k, e->what);
	return 0;
}

int declared_state(const struct declared *k, const char *name, struct error *e)
{
	if (states_declared(k->dictionary) || !declared_has(k->dictionary, name) ||
	    !has_field(k->dictionary, name, true))
		return declared_field(k, name, false, e);
	return error_set(e, k->file, NO_OFFSET,
			 "no time of calls is known to be '%s': the trace has no events of the "
			 "scheduler, such as sched_switch; the field of its events is '.%s'",
			 name, name);
}

/* --- what operands need --- */

bool declared_calls(const struct dictionary *d, bool samples)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if ((t->kind == KIND_ENTER || t->kind == KIND_LEAVE ||
		     (samples && t->kind == KIND_SAMPLE)) &&
		    (t->used || !declared_same(&t->group, "ftrace", strlen("ftrace"))))
			return true;
	}
	return false;
}

enum { HAS_CALLS = 1, HAS_SAMPLES = 2, HAS_STACKS = 4, HAS_FUNCTIONS = 8 };

static const struct {
	enum declared_kind kind;
	unsigned any;	       /* the stream must have one of these */
	bool names;	       /* functions must have names */
	const char *of, *none; /* for the message */
} needs[] = {
	{DECLARED_TIMES, HAS_CALLS | HAS_SAMPLES, false, "calls and samples", "calls"},
	{DECLARED_DEPTH, HAS_CALLS | HAS_SAMPLES, false, "calls and samples", "calls"},
	{DECLARED_CALLER, HAS_CALLS | HAS_SAMPLES, true, "calls and samples", "calls"},
	{DECLARED_STACK, HAS_CALLS | HAS_SAMPLES | HAS_STACKS, true, "calls and samples", "calls"},
	{DECLARED_SYMKIND, HAS_CALLS | HAS_SAMPLES | HAS_FUNCTIONS, true, "functions", "functions"},
};

static unsigned has_of(const struct dictionary *d)
{
	return (declared_calls(d, false) ? HAS_CALLS : 0) |
	       (declared_calls(d, true) ? HAS_SAMPLES : 0) |
	       (d->stacks.count > 1 ? HAS_STACKS : 0) |
	       (d->locations.count > 1 ? HAS_FUNCTIONS : 0);
}

/* Returns true if functions have no names, as the stream has no symbols. */
static bool declared_lacks_symbols(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->locations.count && d->symbols.count <= 1; i++)
		if (!dictionary_location(d, i)->name.size)
			return true;
	return false;
}

void declared_need(const struct declared *k, enum declared_kind kind, const char *name)
{
	size_t i = 0;
	struct error e;

	while (i < sizeof needs / sizeof *needs && needs[i].kind != kind)
		i++;
	if (i == sizeof needs / sizeof *needs)
		return;
	if (!(has_of(k->dictionary) & needs[i].any)) {
		if (kind == DECLARED_TIMES && has_field(k->dictionary, name, true))
			return;
		error_set(&e, NULL, NO_OFFSET, "only %s have '%.64s', and this trace has no %s",
			  needs[i].of, name, needs[i].none);
		set_absent(k, e.what);
	} else if (needs[i].names && k->absent && declared_lacks_symbols(k->dictionary)) {
		error_set(&e, NULL, NO_OFFSET, "functions have no names for '%.64s'" NAMELESS,
			  name);
		set_absent(k, e.what);
	}
}

/* Returns true if a leaf is true for events of a kind. */
static bool is_of_kind(const struct node *n, const struct operand *text, const char *kind)
{
	if (n->kind == NODE_MATCH)
		return expression_matches(&n->regex, kind, strlen(kind));
	for (size_t i = 0; i < n->ntexts; i++)
		if (n->texts[i].size == strlen(kind) &&
		    !memcmp(n->texts[i].text, kind, strlen(kind)))
			return true;
	return operand_literal(text) && text->value.form == SCALAR_TEXT &&
	       text->value.size == strlen(kind) && !memcmp(text->value.text, kind, strlen(kind));
}

/* Returns true if a leaf chooses events by a kind that the stream has not. Gaps need no
 * declaration. */
static bool lacks_kind(const struct declared *k, const struct node *n)
{
	const struct operand *field = operand_field(operand_literal(n->left) ? n->right : n->left),
			     *text = operand_literal(n->left) ? n->left : n->right;
	bool any = false;
	const char *name;

	if (!field || k->kind(k->ctx, field, &name) != DECLARED_KIND || n->negated ||
	    !(n->kind == NODE_MATCH || n->kind == NODE_IN ||
	      (n->kind == NODE_COMPARE && n->comparison == COMPARE_EQ && operand_literal(text))))
		return false;
	if (is_of_kind(n, text, type_kind_name(KIND_GAP)))
		return false;
	any = (is_of_kind(n, text, "call") || is_of_kind(n, text, type_kind_name(KIND_ENTER)) ||
	       is_of_kind(n, text, type_kind_name(KIND_LEAVE))) &&
	      declared_calls(k->dictionary, false);
	for (uint32_t i = 1; i < k->dictionary->types.count && !any; i++) {
		const struct type *t = dictionary_type(k->dictionary, i);

		any = t->kind != KIND_ENTER && t->kind != KIND_LEAVE &&
		      is_of_kind(n, text, type_kind_name(t->kind));
	}
	return !any;
}

/* Write the kinds that a leaf chooses. */
static void write_kinds(const struct node *n, const struct operand *text, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (const char *const *w = expression_kinds; *w && used < size; w++)
		if (is_of_kind(n, text, *w))
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
						 *w);
}

/* Fill k->absent if a leaf chooses events by a kind that the stream has not. */
static void check_kinds(const struct declared *k, const struct node *n)
{
	char kinds[100];
	struct error e;

	if (!k->absent || k->excluded || !lacks_kind(k, n))
		return;
	write_kinds(n, operand_literal(n->left) ? n->left : n->right, kinds, sizeof kinds);
	error_set(&e, NULL, NO_OFFSET, "the trace has no event of the kind %s", kinds);
	set_absent(k, e.what);
}

/* --- conditions --- */

static void warn_no_calls(const struct declared *k, const char *name)
{
	struct error e;

	error_set(&e, NULL, NO_OFFSET, "only calls have '%.64s', and this trace has no calls",
		  name);
	declared_warn(k, e.what);
}

/* Check the fields of one side of a leaf. */
static int check_operand(const struct declared *k, const struct operand *o, bool word,
			 struct error *e)
{
	enum declared_kind kind;
	const char *name = NULL;

	if (!o || o->kind == OPERAND_LITERAL)
		return 0;
	if (o->kind == OPERAND_ARITHMETIC)
		return check_operand(k, o->left, false, e) || check_operand(k, o->right, false, e)
			       ? -1
			       : 0;
	kind = k->kind(k->ctx, o, &name);
	if (kind == DECLARED_CALL)
		warn_no_calls(k, name);
	declared_need(k, kind, o->name);
	return kind == DECLARED_FIELD ? declared_field(k, name, word, e) : 0;
}

static bool declared_is_name(enum declared_kind kind)
{
	return kind == DECLARED_NAME || kind == DECLARED_TYPE || kind == DECLARED_GROUP;
}

/* Check the numbers that the number of a thread or process is compared with. */
static void declared_check_numbers(const struct declared *k, enum declared_kind kind,
				   const struct node *n, const struct operand *number)
{
	if (operand_literal(number))
		declared_number(k, kind, &number->value);
	for (size_t i = 0; i < n->nnumbers; i++)
		declared_number(k, kind, &n->numbers[i]);
}

/* Check the texts that a name is compared with. Returns false if the name is that of events and
 * none of the texts occurs, so that the condition is false for all events; with negated, true for
 * all events. */
static bool declared_check_names(const struct declared *k, const struct node *n, bool negated)
{
	bool swapped = operand_literal(n->left), occurs = false;
	const struct operand *field = operand_field(swapped ? n->right : n->left),
			     *text = swapped ? n->left : n->right;
	struct declared each = *k, names = *k;
	const char *name;
	enum declared_kind kind = field ? k->kind(k->ctx, field, &name) : DECLARED_OTHER;

	if (kind < DECLARED_NAME)
		return true;
	if (k->excluded)
		names.absent = NULL;
	k = &names;
	/* a name that a condition excludes may be absent */
	if (n->kind == NODE_COMPARE ? n->comparison != (negated ? COMPARE_NE : COMPARE_EQ)
				    : negated || n->negated)
		return true;
	if (kind >= DECLARED_TID) {
		declared_check_numbers(k, kind, n, text);
		return true;
	}
	if (operand_literal(text) && text->value.form == SCALAR_TEXT)
		occurs |= declared_name(k, kind, text->value.text, text->value.size, NULL);
	/* some names of a set may be those of other recorders: only if all are absent, the first is
	 * the fault of an alarm, and only it has no warning */
	each.absent = NULL;
	for (size_t i = n->ntexts; i-- > 0;) {
		bool last = !i && !occurs;

		occurs |= declared_name(last ? k : &each, kind, n->texts[i].text, n->texts[i].size,
					NULL);
	}
	if (n->kind == NODE_MATCH)
		declared_name(k, kind, n->pattern, strlen(n->pattern), &n->regex);
	return occurs || !declared_is_name(kind) ||
	       !(n->kind == NODE_IN || (n->kind == NODE_COMPARE && operand_literal(text)));
}

static bool declared_is_text(const struct field *f)
{
	return f->kind == FIELD_STRING || (f->kind == FIELD_CHAR && f->count > 1);
}

/* Test whether the text is one that a field's numbers are spelled as, or may be. */
static bool spells(const struct field *f, const struct scalar *text, struct nearest *nearest)
{
	const struct definition *d = f->definition;

	if (f->kind == FIELD_HEX && f->count <= 1)
		return text->size > 1 && !memcmp(text->text, "0x", 2);
	if (f->count > 1 || (f->kind > FIELD_INT && f->kind != FIELD_FLOAT &&
			     f->kind != FIELD_ENUM && f->kind != FIELD_BITMASK))
		return true;
	/* several names, and bits without a name */
	if (d && (memchr(text->text, '|', text->size) ||
		  (f->kind == FIELD_BITMASK && *text->text >= '0' && *text->text <= '9')))
		return true;
	for (uint32_t i = 0; d && i < d->count; i++) {
		if (declared_same(&d->members[i].name, text->text, text->size))
			return true;
		nearest_offer(nearest, d->members[i].name.text, d->members[i].name.size);
	}
	return false;
}

static bool declared_is_number(const struct scalar *text)
{
	char *end;

	if (!text->size || strchr(" \t\n+", *text->text))
		return false;
	(void)strtod(text->text, &end);
	return end == text->text + text->size;
}

/* Returns true if the values of all fields of that name can be compared with the literal. *names:
 * one of them has names for its numbers. */
static bool comparable(const struct declared *k, const char *name, const struct scalar *literal,
		       struct nearest *nearest, bool *names)
{
	bool any = false, values = false;

	name += strncmp(name, "arg.", 4) ? 0 : 4;
	*names = false;
	for (uint32_t i = 1; i < k->dictionary->types.count; i++) {
		const struct type *t = dictionary_type(k->dictionary, i);
		const struct field *f = field_find(t, name);

		*names |= f && f->definition;
		if (f && (literal->form == SCALAR_TEXT ? spells(f, literal, nearest)
						       : !declared_is_text(f)))
			return true;
		any |= f != NULL;
		values |= !f && t->used && t->flags & TYPE_VALUES &&
			  (t->kind == KIND_ENTER || t->kind == KIND_LEAVE);
	}
	/* values in the event's tail have any type */
	return !any || (values && needs_none(name)) ||
	       any_member(k->dictionary, begins_path, (void *)(uintptr_t)name);
}

/* Refuse a text that is compared with numbers without that name, and a number that is compared with
 * texts. */
static int check_literal(const struct declared *k, enum declared_kind kind, const char *name,
			 const struct scalar *literal, struct error *e)
{
	int size = literal->size < 60 ? (int)literal->size : 60;
	struct nearest nearest;
	bool names = false;

	/* NULL is 0 */
	if (literal->form != SCALAR_TEXT && (!scalar_is_number(literal) || !scalar_true(literal)))
		return 0;
	nearest_begin(&nearest, literal->text, literal->size);
	if (kind == DECLARED_NUMBER ? literal->form != SCALAR_TEXT
				    : comparable(k, name, literal, &nearest, &names))
		return 0;
	if (literal->form != SCALAR_TEXT)
		error_set(e, k->file, NO_OFFSET,
			  "'%.64s' is a text: quote what it is compared with", name);
	else if (declared_is_number(literal))
		error_set(e, k->file, NO_OFFSET, "'%.64s' is a number: write %.*s without quotes",
			  name, size, literal->text);
	else if (names)
		error_set(e, k->file, NO_OFFSET, "'%.64s' is a number that has no name '%.*s'%s",
			  name, size, literal->text, nearest_hint(&nearest));
	else
		error_set(e, k->file, NO_OFFSET,
			  "'%.64s' is a number, which no text is equal to: "
			  "'%.*s'",
			  name, size, literal->text);
	if (!k->partial)
		return -1;
	declared_warn(k, e->what);
	return 0;
}

/* Check the literals that a field is compared with. */
static int check_literals(const struct declared *k, const struct node *n, struct error *e)
{
	bool swapped = operand_literal(n->left);
	const struct operand *field = operand_field(swapped ? n->right : n->left),
			     *literal = swapped ? n->left : n->right;
	enum declared_kind kind;
	const char *name;

	kind = field ? k->kind(k->ctx, field, &name) : DECLARED_OTHER;
	if (kind != DECLARED_FIELD &&
	    (kind != DECLARED_NUMBER || declared_has(k->dictionary, name)))
		return 0;
	if (n->kind == NODE_COMPARE && operand_literal(literal) &&
	    check_literal(k, kind, name, &literal->value, e))
		return -1;
	for (size_t i = 0; n->kind == NODE_IN && i < n->ntexts; i++)
		if (check_literal(k, kind, name, &n->texts[i], e))
			return -1;
	for (size_t i = 0; n->kind == NODE_IN && i < n->nnumbers; i++)
		if (check_literal(k, kind, name, &n->numbers[i], e))
			return -1;
	return 0;
}

/* Refuse a word without quotes, which no event has as a field, beside a field of numbers without
 * that name: quotes would not help. *is_name: it is the name of such a number. */
static int declared_check_word(const struct declared *k, const struct node *n, bool *is_name,
			       struct error *e)
{
	const struct operand *field = operand_field(n->left), *word = operand_field(n->right);
	struct scalar text = {.form = SCALAR_TEXT};
	struct nearest nearest;
	const char *name;

	*is_name = false;
	if (n->kind != NODE_COMPARE || !field || !word ||
	    k->kind(k->ctx, word, &name) != DECLARED_FIELD || declared_has(k->dictionary, name))
		return 0;
	text.text = word->name;
	text.size = strlen(word->name);
	if (k->kind(k->ctx, field, &name) != DECLARED_FIELD)
		return 0;
	nearest_begin(&nearest, text.text, text.size);
	*is_name = comparable(k, name, &text, &nearest, is_name) && *is_name;
	return *is_name || k->partial || schemaless(k->dictionary)
		       ? 0
		       : check_literal(k, DECLARED_FIELD, name, &text, e);
}

/* Returns true if the condition may choose events by what they are; alone: if it does so other than
 * by a text that declared_check_names() knows. */
static bool is_choice(const struct declared *k, const struct node *n, bool alone)
{
	const struct operand *field;
	enum declared_kind kind;
	const char *name;

	if (n->kind == NODE_UNDER || n->kind == NODE_OVER)
		return false;
	for (size_t i = 0; i < n->nchildren; i++)
		if (is_choice(k, n->children[i], false))
			return true;
	if (n->nchildren || n->kind == NODE_HAS)
		return n->kind == NODE_HAS;
	field = operand_field(operand_literal(n->left) ? n->right : n->left);
	kind = field ? k->kind(k->ctx, field, &name) : DECLARED_OTHER;
	return kind == DECLARED_KIND || kind == DECLARED_FORMAT ||
	       (declared_is_name(kind) && (!alone || n->kind == NODE_MATCH));
}

/* Returns true if the rest of an alternative concerns only events that n excludes, of which there
 * may be none: type != "sched_switch" || next_pid == 3 */
static bool excludes(const struct declared *k, const struct declared *silent, const struct node *n)
{
	if (n->kind == NODE_NOT)
		return !declared_check_names(silent, n->children[0], false) ||
		       is_choice(k, n->children[0], true);
	if (n->kind == NODE_COMPARE && n->comparison == COMPARE_NE)
		return !declared_check_names(silent, n, true) || is_choice(k, n, true);
	return n->kind == NODE_MATCH && n->negated && is_choice(k, n, true);
}

/* Returns false for a pattern that no name of events, types or groups matches. */
static bool matches_name(const struct declared *silent, const struct node *n)
{
	const struct operand *field = n->kind == NODE_MATCH ? operand_field(n->left) : NULL;
	const char *name;
	enum declared_kind kind = field ? silent->kind(silent->ctx, field, &name) : DECLARED_OTHER;

	return n->negated || !declared_is_name(kind) ||
	       declared_name(silent, kind, n->pattern, strlen(n->pattern), &n->regex);
}

static int check_children(const struct declared *k, const struct node *n, struct error *e)
{
	bool around = n->kind == NODE_UNDER || n->kind == NODE_OVER, absent = false, chosen = false;
	struct declared silent = *k, warning = *k;

	silent.partial = silent.quiet = true;
	silent.absent = NULL;
	warning.chosen = true;
	/* type == "sched_switch" && next_pid == 3: without such events their fields are unknown */
	for (size_t i = 0; n->kind == NODE_AND && i < n->nchildren; i++) {
		absent |= !declared_check_names(&silent, n->children[i], false);
		chosen |= is_choice(k, n->children[i], true);
		/* a pattern may match nothing: then fields of such events are unknown */
		if (!matches_name(&silent, n->children[i]))
			warning.absent = NULL;
	}
	if (n->kind == NODE_OR)
		warning.absent = NULL; /* the rest concerns events that there may not be */
	for (size_t i = 0; n->kind == NODE_OR && i < n->nchildren; i++)
		chosen |= excludes(k, &silent, n->children[i]);
	for (size_t i = 0; i < n->nchildren; i++) {
		const struct node *child = n->children[i];
		const struct declared *check = absent && declared_check_names(&silent, child, false)
						       ? &silent
					       : chosen ? &warning
							: k;

		/* under(f) */
		if (around && child->kind == NODE_TRUTH && operand_field(child->left)
			    ? check_operand(check, child->left, true, e)
			    : declared_condition(check, child, e))
			return -1;
	}
	return 0;
}

int declared_condition(const struct declared *k, const struct node *n, struct error *e)
{
	struct declared asking = *k;
	bool is_name;

	if (n->kind == NODE_NOT)
		asking.excluded = true;
	if (n->nchildren)
		return check_children(n->kind == NODE_NOT ? &asking : k, n, e);
	/* has() asks just that */
	asking.partial = true;
	if (n->kind == NODE_HAS) {
		asking.absent = NULL;
		k = &asking;
	}
	declared_check_names(k, n, false);
	check_kinds(k, n);
	return check_operand(k, n->left, false, e) || declared_check_word(k, n, &is_name, e) ||
			       (!is_name &&
				check_operand(k, n->right, n->kind == NODE_COMPARE, e)) ||
			       check_literals(k, n, e)
		       ? -1
		       : 0;
}

static int declared_add_name(struct buffer *names, const char *before, const char *name,
			     size_t size, const char *after)
{
	return (names->size && buffer_append(names, ", ", 2)) ||
			       buffer_append(names, before, strlen(before)) ||
			       buffer_append(names, name, size) ||
			       buffer_append(names, after, strlen(after))
		       ? -1
		       : 0;
}

/* As declared_lacks, of a leaf. */
static int leaf_lacks(const struct declared *k, const struct node *n, struct buffer *names)
{
	const struct operand *field = operand_field(operand_literal(n->left) ? n->right : n->left),
			     *text = operand_literal(n->left) ? n->left : n->right;
	char prefix[80], kinds[100];
	const char *name;
	int bad = 0;

	if (lacks_kind(k, n)) {
		write_kinds(n, text, kinds, sizeof kinds);
		return declared_add_name(names, "event of the kind ", kinds, strlen(kinds), "") ? -1
												: 1;
	}
	if (!field || !declared_is_name(k->kind(k->ctx, field, &name)) || n->negated)
		return 0;
	if (n->kind == NODE_MATCH) {
		if (declared_name(k, k->kind(k->ctx, field, &name), n->pattern, strlen(n->pattern),
				  &n->regex))
			return 0;
		snprintf(prefix, sizeof prefix, "%.64s =~ '", field->name);
		return declared_add_name(names, prefix, n->pattern, strlen(n->pattern), "'") ? -1
											     : 1;
	}
	if (declared_check_names(k, n, false))
		return 0;
	if (operand_literal(text))
		bad = declared_add_name(names, "", text->value.text, text->value.size, "");
	for (size_t i = 0; i < n->ntexts && !bad; i++)
		bad = declared_add_name(names, "", n->texts[i].text, n->texts[i].size, "");
	return bad ? -1 : 1;
}

int declared_lacks(const struct declared *k, const struct node *n, struct buffer *names)
{
	struct declared silent = *k;
	size_t before = names->size;
	int lacks = n->kind == NODE_OR;

	silent.quiet = true;
	silent.absent = NULL;
	if (!n->nchildren)
		return leaf_lacks(&silent, n, names);
	if (n->kind != NODE_AND && n->kind != NODE_OR)
		return 0;
	for (size_t i = 0; i < n->nchildren; i++) {
		int child = declared_lacks(&silent, n->children[i], names);

		if (child < 0)
			return -1;
		lacks = n->kind == NODE_OR ? lacks & child : lacks | child;
	}
	if (!lacks)
		names->size = before;
	return lacks;
}

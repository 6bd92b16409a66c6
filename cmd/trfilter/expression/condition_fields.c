/* condition_fields.c - resolve the fields of a condition */
#include "cmd/trfilter/expression/condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/stream/value.h"

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

int condition_field(void *ctx, struct lexer *l, struct operand *o, bool quoted)
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

void condition_free_field(void *data)
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

static enum declared_kind kind_of(void *ctx, const struct operand *o, const char **name)
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

int condition_check_names(const struct node *n, const struct declared *all, struct error *e)
{
	struct declared declared = *all;
	struct check check = {.calls = condition_has_calls(all->dictionary)};

	declared.offer = condition_offer_names;
	declared.kind = kind_of;
	declared.ctx = &check;
	return declared_condition(&declared, n, e);
}

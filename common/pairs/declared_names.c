#include "common/pairs/declared_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/stream/field.h"

static enum declared_kind kind_of_key(const struct key *k)
{
	switch (k->kind) {
	case BY_FIELD: return DECLARED_FIELD;
	case BY_KIND: return DECLARED_KIND;
	case BY_NAME: return DECLARED_NAME;
	case BY_TYPE: return DECLARED_TYPE;
	case BY_GROUP: return DECLARED_GROUP;
	case BY_CALLER: return DECLARED_CALLER;
	case BY_COMM: return DECLARED_COMM;
	case BY_TID: return DECLARED_TID;
	case BY_PID: return DECLARED_PID;
	case BY_MODULE: return DECLARED_MODULE;
	case BY_FILE: return DECLARED_FILE;
	case BY_CLASS: return DECLARED_CLASS;
	case BY_BUFFER: return DECLARED_BUFFER;
	case BY_INPUT: return DECLARED_INPUT;
	case BY_DURATION:
	case BY_SELF: return DECLARED_TIMES;
	case BY_DEPTH: return DECLARED_DEPTH;
	case BY_STACK: return DECLARED_STACK;
	case BY_SYMKIND: return DECLARED_SYMKIND;
	default: return DECLARED_OTHER;
	}
}

static enum declared_kind kind_of(void *ctx, const struct operand *o, const char **name)
{
	const struct key *k = &((const struct keys *)ctx)->key[o->field];

	*name = k->field;
	/* those of pairs are not of calls */
	if (((const struct keys *)ctx)->pairs && k->kind != BY_FIELD &&
	    kind_of_key(k) < DECLARED_NAME && k->kind != BY_KIND && k->kind != BY_SYMKIND)
		return DECLARED_OTHER;
	return kind_of_key(k);
}

int key_check_name(const struct declared *check, const char *name, struct error *e)
{
	struct keys keys = {0};
	int bad;

	if (!keys_has_name(name))
		return declared_field(check, name, false, e);
	bad = keys_parse(&keys, name, e);
	if (!bad)
		declared_need(check, kind_of_key(&keys.key[0]), name);
	keys_free(&keys);
	return bad;
}

int condition_check_names(struct declared *check, const struct condition *c, struct error *e)
{
	check->kind = kind_of;
	check->ctx = (void *)(uintptr_t)&c->keys;
	return c->root ? declared_condition(check, c->root, e) : 0;
}

/* Check the first of A|B, unless events have another of them. */
static int check_key(const struct declared *check, const struct key *k, struct error *e)
{
	if (k->kind == BY_FILE || k->kind == BY_LINE)
		declared_line(check);
	if (k->kind != BY_FIELD)
		return 0;
	for (const struct key *other = k->other; other; other = other->other)
		if (other->kind != BY_FIELD || declared_has(check->dictionary, other->field))
			return 0;
	return declared_field(check, k->field, false, e);
}

int keys_check_names(const struct declared *check, const struct keys *k, struct error *e)
{
	for (size_t i = 0; i < k->count; i++)
		if (check_key(check, &k->key[i], e))
			return -1;
	return 0;
}

static int check_side(struct declared *check, const struct pair_side *side, struct error *e)
{
	if (side->name &&
	    !declared_name(check, DECLARED_NAME,
			   (struct declared_text){.text = side->name, .size = strlen(side->name)}))
		return 0;
	return condition_check_names(check, &side->condition, e) ||
			       keys_check_names(check, &side->on, e)
		       ? -1
		       : 0;
}

int pair_check_names(struct declared *check, const struct pair *p, struct error *e)
{
	return check_side(check, &p->a, e) || check_side(check, &p->b, e) ? -1 : 0;
}

/* Returns the names of a side, separated by commas, if the stream lacks all of them. */
static char *side_lacks(struct declared *check, const struct pair_side *side)
{
	const struct declared_text name = {.text = side->name,
					   .size = side->name ? strlen(side->name) : 0};
	struct buffer names = {0};
	char *text = NULL;

	check->kind = kind_of;
	check->ctx = (void *)(uintptr_t)&side->condition.keys;
	if (side->name)
		return declared_name(check, DECLARED_NAME, name) ? NULL : strdup(side->name);
	if (side->condition.root && declared_lacks(check, side->condition.root, &names) == 1)
		text = strndup((const char *)names.data, names.size);
	buffer_free(&names);
	return text;
}

/* Test whether a type that may be of a side has a field. */
static bool side_has(const struct dictionary *d, const struct pair_side *side, const char *field)
{
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->used && (!side->name || !strcmp(t->name.text, side->name)) &&
		    field_find(t, field))
			return true;
	}
	return false;
}

static const char *meaning_of(enum key_kind kind)
{
	switch (kind) {
	case BY_PID: return "the process that made the event";
	case BY_TID: return "the thread that made the event";
	case BY_PPID: return "the parent of the process that made the event";
	case BY_COMM: return "the name of the thread that made the event";
	case BY_CPU: return "the CPU of the event";
	default: return "not a field of the event";
	}
}

char *pair_hint(const struct dictionary *d, const struct pair *p)
{
	const struct pair_side *const sides[] = {&p->a, &p->b};
	char *text = NULL;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < sides[i]->on.count && !p->preset; k++) {
			const struct key *key = &sides[i]->on.key[k];

			if (key->kind == BY_FIELD || !side_has(d, sides[i], key->name))
				continue;
			if (asprintf(&text, "%s is %s; .%s is the field", key->name,
				     meaning_of(key->kind), key->name) < 0)
				text = NULL;
			return text;
		}
	return text;
}

char *pair_lacks(struct dictionary *d, const struct pair *p)
{
	struct declared check = {.dictionary = d, .quiet = true};
	char *a = side_lacks(&check, &p->a), *b = side_lacks(&check, &p->b), *text = NULL;
	bool both = a && b && strcmp(a, b) != 0;

	if ((a || b) &&
	    asprintf(&text, "no %s%s%s", a ? a : b, both ? " and no " : "", both ? b : "") < 0)
		text = NULL;
	free(a);
	free(b);
	return text;
}

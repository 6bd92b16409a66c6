#include "cmd/trfilter/expression/projection.h"

#include <stdlib.h>
#include <string.h>

enum projected_kind { BY_NAME, ALL_ARGUMENTS, ARGUMENT_NUMBER, ARGUMENT_NAME, BACKTRACE };

struct projected {
	char *name;	  /* as given by the user */
	const char *part; /* the part of name after "arg." */
	size_t size;	  /* length of part */
	uint64_t number;
	enum projected_kind kind;
	bool seen;
};

/* Classify p->name. */
static void understand(struct projected *p)
{
	bool real = !strncmp(p->name, "fparg.", 6), argument = !strncmp(p->name, "arg.", 4);
	char *end;

	p->part = p->name;
	if (!strcmp(p->name, "arg"))
		p->kind = ALL_ARGUMENTS;
	else if (!strcmp(p->name, "backtrace"))
		p->kind = BACKTRACE;
	else if (real || argument) {
		p->part += real ? 6 : 4;
		p->number = strtoull(p->part, &end, 10);
		p->kind = *p->part >= '0' && *p->part <= '9' && !*end ? ARGUMENT_NUMBER
								      : ARGUMENT_NAME;
		p->number += real ? FLOAT_ARGUMENTS : 0;
	}
	p->size = strlen(p->part);
}

int projection_parse(struct projection *p, const char *list, bool keep, struct error *e)
{
	size_t n;

	if (p->count && p->keep != keep)
		return error_set(e, NULL, NO_OFFSET, "use --keep or --drop, not both");
	p->keep = keep;
	for (;; list += n + 1) {
		struct projected *named;

		n = strcspn(list, ",");
		if (!n)
			return error_set(e, NULL, NO_OFFSET, "%s needs the names of fields",
					 keep ? "--keep" : "--drop");
		named = realloc(p->named, (p->count + 1) * sizeof *named);
		if (!named)
			return error_no_memory(e);
		p->named = named;
		named += p->count;
		*named = (struct projected){.name = strndup(list, n)};
		if (!named->name)
			return error_no_memory(e);
		p->count++;
		understand(named);
		if (!list[n])
			return 0;
	}
}

void projection_free(struct projection *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->named[i].name);
	free(p->named);
}

static bool is_named(struct projected *p, struct text_ref name)
{
	return p->size == name.size && !memcmp(p->part, name.text, name.size);
}

bool projection_field(struct projection *p, const struct field *f)
{
	bool named = false;

	if (!p->count)
		return true;
	for (size_t i = 0; i < p->count; i++)
		if (p->named[i].kind == BY_NAME && is_named(&p->named[i], f->name))
			named = p->named[i].seen = true;
	return named == p->keep || f->role == ROLE_CALL;
}

static bool detail_is(struct projected *p, uint8_t what, uint64_t index,
		      const struct definition *names)
{
	switch (what) {
	case DETAIL_RETURN: return p->kind == BY_NAME && !strcmp(p->name, "ret");
	case DETAIL_BACKTRACE: return p->kind == BACKTRACE;
	case DETAIL_ARGUMENT: break;
	default: return false;
	}
	if (p->kind == ARGUMENT_NUMBER)
		return index == p->number;
	if (p->kind == ARGUMENT_NAME)
		return names && index && index <= names->count &&
		       is_named(p, names->members[index - 1].name);
	return p->kind == ALL_ARGUMENTS;
}

bool projection_detail(struct projection *p, uint8_t what, uint64_t index,
		       const struct definition *names)
{
	bool named = false;

	if (!p->count || what == DETAIL_FLAGS)
		return true;
	for (size_t i = 0; i < p->count; i++)
		if (detail_is(&p->named[i], what, index, names))
			named = p->named[i].seen = true;
	return named == p->keep;
}

static void offer_names(struct nearest *nearest)
{
	nearest_offer_words(nearest, "arg arg.1 fparg.1 ret backtrace");
}

int projection_check(const struct projection *p, const struct declared *all, struct error *e)
{
	struct declared check = *all;

	check.offer = offer_names;
	for (size_t i = 0; i < p->count; i++) {
		const struct projected *named = &p->named[i];

		if (named->seen)
			continue;
		if (named->kind != ALL_ARGUMENTS && declared_field(&check, named->name, false, e))
			return -1;
		if (!all->quiet && declared_has(all->dictionary, named->name))
			warn(NULL, NO_OFFSET, "no event that is kept has a field '%s'",
			     named->name);
	}
	return 0;
}

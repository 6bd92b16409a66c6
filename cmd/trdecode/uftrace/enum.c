#include "cmd/trdecode/uftrace/enum.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/bisect.h"

#define BLANK " \t\n\r\f\v"

struct uftrace_enum_entry {
	const char *name;
	char *body; /* text after the brace; NULL once the values are parsed */
	size_t order;
	struct uftrace_enum def;
	struct uftrace_enum_value *values;
};

struct ordered {
	struct uftrace_enum_value v;
	size_t order;
};

static char *skip_blank(char *p)
{
	return p + strspn(p, BLANK);
}

static int add_definition(struct uftrace_enum_table *t, char *text)
{
	char *name, *end, *brace;

	text = skip_blank(text);
	if (!*text)
		return 0;
	if (strncmp(text, "enum", 4) || !strchr(BLANK, text[4]) || !text[4])
		return 1;
	name = skip_blank(text + 4);
	end = name + strcspn(name, BLANK "=,{}");
	brace = skip_blank(end);
	if (end == name || *brace != '{')
		return 1;
	*end = 0;
	if (ARRAY_GROW(t->entries, t->room, t->nr))
		return -1;
	t->entries[t->nr] =
		(struct uftrace_enum_entry){.name = name, .body = brace + 1, .order = t->nr};
	t->nr++;
	t->sorted = false;
	return 0;
}

int uftrace_enum_add(struct uftrace_enum_table *t, char *text)
{
	char *next;

	for (; text; text = next) {
		int r;

		next = strchr(text, ';');
		if (next)
			*next++ = 0;
		r = add_definition(t, text);
		if (r)
			return r;
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct uftrace_enum_entry *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Compare for the order from the largest to the smallest; of equal values the last one defined
 * is first. */
static int compare_values(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->v.value != y->v.value)
		return x->v.value < y->v.value ? 1 : -1;
	return (x->order < y->order) - (x->order > y->order);
}

static int push_value(struct ordered **list, size_t *nr, size_t *room, const char *name,
		      int64_t value)
{
	if (ARRAY_GROW(*list, *room, *nr))
		return -1;
	(*list)[*nr] = (struct ordered){.v = {.name = name, .value = value}, .order = *nr};
	++*nr;
	return 0;
}

/* Parse "A=1,B,C}" up to the brace, or to the first text that does not fit. */
static void read_values(struct uftrace_enum_entry *entry)
{
	struct ordered *list = NULL;
	size_t nr = 0, room = 0;
	uint64_t value = 0;
	char *p = skip_blank(entry->body);

	entry->body = NULL;
	while (*p && *p != '}') {
		char *name = p, *end = p + strcspn(p, BLANK "=,{}");
		char sign;

		p = skip_blank(end);
		sign = *p;
		if (end == name || !sign)
			break;
		if (sign == '=') {
			value = strtoll(p + 1, &p, 0);
			p = skip_blank(p);
			sign = *p;
		}
		*end = 0;
		if (push_value(&list, &nr, &room, name, value) < 0 || sign != ',')
			break;
		value++;
		p = skip_blank(p + 1);
	}
	if (nr)
		qsort(list, nr, sizeof(*list), compare_values);
	entry->values = nr ? malloc(nr * sizeof(*entry->values)) : NULL;
	if (entry->values) {
		for (size_t i = 0; i < nr; i++)
			entry->values[i] = list[i].v;
		entry->def.nr = nr;
	}
	free(list);
	entry->def.name = entry->name;
	entry->def.values = entry->values;
}

struct uftrace_enum *uftrace_enum_find(struct uftrace_enum_table *t, const char *name)
{
	size_t low;
	struct uftrace_enum_entry *entry;

	if (!t->sorted && t->nr)
		qsort(t->entries, t->nr, sizeof(*t->entries), compare_entries);
	t->sorted = true;
	low = BISECT(t->nr, i, strcmp(t->entries[i].name, name) < 0);
	if (low == t->nr || strcmp(t->entries[low].name, name))
		return NULL;
	entry = &t->entries[low];
	if (entry->body)
		read_values(entry);
	return entry->def.nr ? &entry->def : NULL;
}

void uftrace_enum_free(struct uftrace_enum_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->entries[i].values);
	free(t->entries);
	*t = (struct uftrace_enum_table){0};
}

#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

/* A table in the stream, by source and name. */
struct carried {
	uint32_t source;
	char *name;
	struct buffer text;
	uint64_t total;
	bool referred; /* an earlier segment had it */
};

struct tables {
	struct carried *carried;
	size_t ncarried, carried_capacity;
	struct module **modules;
	size_t nmodules, modules_capacity;
	struct intern keys; /* of modules, by number */
	const char *sysroot;
	enum demangle_style style;
};

struct tables *tables_new(const char *sysroot, enum demangle_style style)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (t) {
		t->sysroot = sysroot;
		t->style = style;
	}
	return t;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->ncarried; i++) {
		free(t->carried[i].name);
		buffer_free(&t->carried[i].text);
	}
	for (size_t i = 0; i < t->nmodules; i++) {
		struct module *m = t->modules[i];

		for (size_t k = 0; m->names && k < symbols_count(m->symbols); k++)
			free(m->names[k]);
		free(m->names);
		symbols_free(m->symbols);
		free(m);
	}
	free(t->carried);
	free(t->modules);
	intern_free(&t->keys);
	free(t);
}

static struct carried *find_carried(struct tables *t, uint32_t source, const char *name, size_t n)
{
	for (size_t i = 0; i < t->ncarried; i++) {
		struct carried *c = &t->carried[i];

		if (c->source == source && strlen(c->name) == n && !memcmp(c->name, name, n))
			return c;
	}
	return NULL;
}

static bool is_table(const char *name, size_t n)
{
	return (n > 4 && !memcmp(name + n - 4, ".sym", 4)) ||
	       (n == 8 && !memcmp(name, "kallsyms", 8));
}

int tables_meta(struct tables *t, const struct meta *m)
{
	struct carried *c;

	if (!is_table(m->name, m->name_size))
		return 0;
	c = find_carried(t, m->source, m->name, m->name_size);
	if (!c) {
		c = array_grow(t->carried, &t->carried_capacity, t->ncarried, sizeof(*c));
		if (!c)
			return -1;
		t->carried = c;
		c += t->ncarried;
		*c = (struct carried){.source = m->source,
				      .name = strndup(m->name, m->name_size),
				      .total = m->total};
		if (!c->name)
			return -1;
		t->ncarried++;
	}
	if (m->flags & META_REFERENCE) {
		c->referred = !c->text.size;
		return 0;
	}
	if (!m->offset)
		c->text.size = 0;
	if (m->offset != c->text.size)
		return 0; /* a piece is missing: the reader has said so */
	c->referred = false;
	return buffer_append(&c->text, m->data, m->size);
}

static void from_stream(struct tables *t, struct module *m)
{
	struct carried *c = find_carried(t, m->source, m->table, strlen(m->table));

	if (!c || c->referred) {
		snprintf(m->why, sizeof(m->why), "%s is not in this part of the stream", m->table);
		return;
	}
	m->symbols = !strcmp(m->table, "kallsyms")
			     ? symbols_from_kallsyms((const char *)c->text.data, c->text.size)
			     : symbols_from_uftrace((const char *)c->text.data, c->text.size);
	if (m->symbols && symbols_hidden(m->symbols))
		snprintf(m->why, sizeof(m->why), "its addresses were hidden (kptr_restrict)");
	m->origin = "stream";
}

static void from_file(struct tables *t, struct module *m)
{
	struct error e = {.what = ""};

	if (m->path[0] != '/') {
		snprintf(m->why, sizeof(m->why), "no file");
		return;
	}
	m->symbols = symbols_from_elf(m->path, t->sysroot, m->build_id[0] ? m->build_id : NULL, &e);
	if (m->symbols)
		m->origin = "file";
	else
		snprintf(m->why, sizeof(m->why), "%s", e.what);
}

struct module *tables_module(struct tables *t, const struct space *space, const struct map *map)
{
	uint32_t key[] = {space->source->number, map->path.number, map->build_id.number,
			  map->table.number};
	uint32_t number = intern(&t->keys, key, sizeof(key));
	struct module **modules, *m;

	if (number == INTERN_NONE)
		return NULL;
	if (number < t->nmodules)
		return t->modules[number];
	modules = array_grow(t->modules, &t->modules_capacity, t->nmodules, sizeof(*modules));
	m = calloc(1, sizeof(*m));
	if (modules)
		t->modules = modules;
	if (!modules || !m) {
		free(m);
		return NULL;
	}
	*m = (struct module){.path = map->path.text,
			     .build_id = map->build_id.text,
			     .table = map->table.text,
			     .source = space->source->number,
			     .origin = "none"};
	modules[t->nmodules++] = m;
	if (m->table[0])
		from_stream(t, m);
	else
		from_file(t, m);
	return m;
}

const char *tables_name(struct tables *t, struct module *m, const struct symbol *symbol)
{
	size_t i = (size_t)(symbol - symbols_at(m->symbols, 0));

	if (t->style == DEMANGLE_NO)
		return symbol->name;
	if (!m->names)
		m->names = calloc(symbols_count(m->symbols), sizeof(*m->names));
	if (!m->names)
		return NULL;
	if (!m->names[i])
		m->names[i] = demangle(symbol->name, t->style);
	return m->names[i];
}

size_t tables_count(const struct tables *t)
{
	return t->nmodules;
}

const struct module *tables_at(const struct tables *t, size_t i)
{
	return t->modules[i];
}

#include "cmd/trencode/text/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "common/symbols/demangle.h"

enum { NAME_CACHE = 256 };

/* One META block with symbols, parsed when the first address is looked up in it. */
struct symbol_table {
	uint32_t source;
	char *name;
	struct buffer text;
	struct symbols *symbols;
	bool bad; /* unusable: pieces are missing, or parsing ran out of memory */
};

/* A demangled name. */
struct demangled_name {
	const struct symbol *symbol;
	char *name;
};

struct text_symbols {
	struct symbol_table *tables;
	size_t ntables, capacity;
	struct intern names; /* number: index of the table */
	struct demangled_name cache[NAME_CACHE];
};

struct text_symbols *text_symbols_new(void)
{
	return calloc(1, sizeof(struct text_symbols));
}

void text_symbols_free(struct text_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->ntables; i++) {
		free(s->tables[i].name);
		buffer_free(&s->tables[i].text);
		symbols_free(s->tables[i].symbols);
	}
	free(s->tables);
	for (size_t i = 0; i < NAME_CACHE; i++)
		free(s->cache[i].name);
	intern_free(&s->names);
	free(s);
}

/* Append the key of a table: the number of its source, and its name. */
static int table_key(struct buffer *b, uint32_t source, const char *name, size_t n)
{
	return buffer_u32(b, source) || buffer_append(b, name, n) ? -1 : 0;
}

static struct symbol_table *table_find(const struct text_symbols *s, uint32_t source,
				       const char *name, size_t n)
{
	struct buffer b = {0};
	uint32_t number = table_key(&b, source, name, n) ? INTERN_NONE
							 : intern_find(&s->names, b.data, b.size);

	buffer_free(&b);
	return number < s->ntables ? &s->tables[number] : NULL;
}

static struct symbol_table *table_add(struct text_symbols *s, uint32_t source, const char *name,
				      size_t n)
{
	struct symbol_table *t;
	struct buffer b = {0};
	uint32_t number;

	if (ARRAY_GROW(s->tables, s->capacity, s->ntables))
		return NULL;
	t = s->tables;
	number = table_key(&b, source, name, n) ? INTERN_NONE : intern(&s->names, b.data, b.size);
	buffer_free(&b);
	if (number != s->ntables)
		return NULL;
	t += s->ntables++;
	*t = (struct symbol_table){.source = source};
	return t;
}

static bool is_symbol_table(const struct meta *m)
{
	return m->name_size > 4 && !memcmp(m->name + m->name_size - 4, ".sym", 4);
}

int text_symbols_meta(struct text_symbols *s, const struct meta *m)
{
	struct symbol_table *t;

	if (!is_symbol_table(m) || m->flags & META_REFERENCE)
		return 0;
	t = table_find(s, m->source, m->name, m->name_size);
	if (!t)
		t = table_add(s, m->source, m->name, m->name_size);
	if (!t)
		return -1;
	if (t->symbols || m->offset != t->text.size) {
		/* the same table again, or a piece is missing */
		t->bad |= !t->symbols && m->offset > t->text.size;
		return 0;
	}
	return buffer_append(&t->text, m->data, m->size);
}

static struct symbols *symbols_of(struct text_symbols *s, const struct space *space,
				  const struct map *map)
{
	struct symbol_table *t;

	if (!map->table.size || !space->source)
		return NULL;
	t = table_find(s, space->source->number, map->table.text, map->table.size);
	if (!t || t->bad)
		return NULL;
	if (!t->symbols) {
		t->symbols = symbols_from_uftrace((const char *)t->text.data, t->text.size);
		t->bad = !t->symbols;
		buffer_free(&t->text);
	}
	return t->symbols;
}

static const struct symbol *find_in_map(struct text_symbols *s, const struct space *space,
					const struct map *map, uint64_t address, uint64_t *offset)
{
	struct symbols *symbols = symbols_of(s, space, map);
	const struct symbol *found;

	address = address - map->start + map->offset;
	found = symbols ? symbols_find(symbols, address) : NULL;
	if (found && offset)
		*offset = address - found->start;
	return found;
}

static const struct symbol *find_symbol(struct text_symbols *s, const struct space *space,
					uint64_t time, uint64_t address, bool loaded,
					uint64_t *offset)
{
	const struct symbol *found = NULL;
	size_t i;

	for (i = 0; i < space->nmaps; i++) {
		const struct map *map = &space->maps[i];

		if (!map->epoch && address >= map->start && address < map->end) {
			found = find_in_map(s, space, map, address, offset);
			break;
		}
	}
	for (i = space->nmaps; loaded && !found && i-- > 0;) {
		const struct map *map = &space->maps[i];

		/* a mapping without an end: only its symbols show which addresses it has */
		if (map->epoch && map->time <= time && (!map->end || address < map->end))
			found = find_in_map(s, space, map, address, offset);
	}
	return found;
}

const char *text_symbols_find(struct text_symbols *s, const struct space *space, uint64_t time,
			      uint64_t address, bool loaded, uint64_t *offset)
{
	const struct symbol *symbol =
		space ? find_symbol(s, space, time, address, loaded, offset) : NULL;
	struct demangled_name *named;

	if (!symbol)
		return NULL;
	named = &s->cache[hash_u64((uintptr_t)symbol) % NAME_CACHE];
	if (named->symbol != symbol) {
		free(named->name);
		named->symbol = symbol;
		named->name = demangle(symbol->name, DEMANGLE_SIMPLE);
	}
	return named->name ? named->name : symbol->name;
}

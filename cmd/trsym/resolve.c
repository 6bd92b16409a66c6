#include "cmd/trsym/resolve.h"
#include "common/util/bisect.h"

#include <stdlib.h>

/* A space's mappings: those of the start by address, later ones with the latest first. */
struct space_index {
	uint32_t *mapped, *loaded; /* indexes of the space's maps */
	size_t nmapped, nloaded;
	size_t nmaps; /* number of the space's maps when the index was built */
};

void resolver_free(struct resolver *r)
{
	for (size_t i = 0; i < r->size; i++) {
		free(r->spaces[i].mapped);
		free(r->spaces[i].loaded);
	}
	free(r->spaces);
	*r = (struct resolver){0};
}

static int by_start(const void *a, const void *b, void *maps)
{
	const struct map *m = maps;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (m[i].start != m[k].start)
		return m[i].start < m[k].start ? -1 : 1;
	return i < k ? -1 : i > k;
}

static int by_epoch(const void *a, const void *b, void *maps)
{
	const struct map *m = maps;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (m[i].epoch != m[k].epoch)
		return m[i].epoch > m[k].epoch ? -1 : 1;
	return i > k ? -1 : i < k;
}

static int make_index(struct space_index *x, const struct space *space)
{
	uint32_t *mapped = reallocarray(x->mapped, space->nmaps + 1, sizeof(*mapped));
	uint32_t *loaded = reallocarray(x->loaded, space->nmaps + 1, sizeof(*loaded));

	if (mapped)
		x->mapped = mapped;
	if (loaded)
		x->loaded = loaded;
	if (!mapped || !loaded)
		return -1;
	x->nmapped = x->nloaded = 0;
	for (size_t i = 0; i < space->nmaps; i++)
		if (space->maps[i].epoch)
			loaded[x->nloaded++] = (uint32_t)i;
		else
			mapped[x->nmapped++] = (uint32_t)i;
	qsort_r(mapped, x->nmapped, sizeof(*mapped), by_start, space->maps);
	qsort_r(loaded, x->nloaded, sizeof(*loaded), by_epoch, space->maps);
	x->nmaps = space->nmaps;
	return 0;
}

static const struct space_index *index_of(struct resolver *r, const struct space *space)
{
	struct space_index *spaces;

	if (ARRAY_REACH(r->spaces, r->size, space->number))
		return NULL;
	spaces = &r->spaces[space->number];
	if ((spaces->nmaps != space->nmaps || !spaces->mapped) && make_index(spaces, space))
		return NULL;
	return spaces;
}

/* Return the mapping of the start that contains the address, or NULL. */
static const struct map *mapping_of(const struct space_index *x, const struct location *p)
{
	size_t low;
	const struct map *map;

	low = BISECT(x->nmapped, i, p->space->maps[x->mapped[i]].start <= p->address);
	if (!low)
		return NULL;
	map = &p->space->maps[x->mapped[low - 1]];
	return !map->end || p->address < map->end ? map : NULL;
}

/* Add the line where the function is declared. Its texts are valid until the next call. */
static int add_line(struct resolver *r, const struct map *map, struct module *m,
		    const struct symbol *symbol, struct symbol_entry *s)
{
	/* in old recordings the symbols' addresses are absolute */
	uint64_t base = map->table.size ? map->offset : 0;
	struct source_frame f;
	enum outcome got;

	if (symbol->type == 'P')
		return 0; /* a symbol of the linker */
	got = tables_line(r->tables, m, symbol->start, base, &f);
	if (got != OUTCOME_YES || !f.file)
		return got == OUTCOME_FAILED ? -1 : 0;
	s->file = f.file;
	s->file_size = (uint32_t)strlen(f.file);
	s->line = f.line;
	return 0;
}

/* Return an address of the mapping as the module's file has it. */
static uint64_t address_in_file(const struct map *map, const struct module *m, uint64_t address)
{
	uint64_t offset = address - map->start + map->offset;

	return map->flags & MAP_FILE_OFFSET && m->symbols && !m->kernel
		       ? symbols_address(m->symbols, offset)
		       : offset;
}

/* Return what is to be subtracted from an address of the mapping for the address in the module's
 * table. A kernel's table is that of the machine, or of another boot: then the address relative to
 * the kernel's first symbol is the same. */
static uint64_t base_of(const struct map *map, const struct module *m, uint64_t address)
{
	uint64_t base = address - address_in_file(map, m, address);

	if (m->from_text && m->path[0] == '[')
		return map->start;
	if (!m->kernel)
		return base;
	/* modules have no first symbol, and base is 0 where its address was not recorded */
	return m->path[0] == '[' && base ? base - m->text : 0;
}

static void set_module(struct symbol_entry *s, const struct map *map, const struct module *m)
{
	s->module = m->shown ? m->shown : map->path.text;
	s->module_size = m->shown ? (uint32_t)strlen(m->shown) : map->path.size;
}

/* Find the symbol in one mapping. */
static enum outcome resolve_in_mapping(struct resolver *r, const struct location *p,
				       const struct map *map, struct symbol_entry *s,
				       struct module **module)
{
	const struct symbol *symbol;
	const char *name;
	uint64_t base;

	*module = tables_module(r->tables, p->space, map);
	if (!*module)
		return OUTCOME_FAILED;
	set_module(s, map, *module);
	base = base_of(map, *module, p->address);
	symbol = (*module)->symbols ? symbols_find((*module)->symbols, p->address - base) : NULL;
	if (!symbol)
		return OUTCOME_NO;
	name = tables_name(r->tables, *module, symbol);
	if (!name)
		return OUTCOME_FAILED;
	*s = (struct symbol_entry){.name = name,
				   .name_size = (uint32_t)strlen(name),
				   .start = symbol->start + base,
				   .size = symbol->size,
				   .flags = symbol->type == 'P'		     ? SYMBOL_PLT
					    : p->space->flags & SPACE_KERNEL ? SYMBOL_KERNEL
									     : 0};
	set_module(s, map, *module);
	return r->lines && add_line(r, map, *module, symbol, s) ? OUTCOME_FAILED : OUTCOME_YES;
}

enum outcome resolve(struct resolver *r, const struct location *p, bool count,
		     struct symbol_entry *s)
{
	const struct space_index *x = index_of(r, p->space);
	struct symbol_entry elsewhere = {0};
	struct module *module = NULL, *missed = NULL;
	const struct map *map;
	enum outcome got;

	*s = (struct symbol_entry){.flags = SYMBOL_UNKNOWN};
	if (!x)
		return OUTCOME_FAILED;
	map = mapping_of(x, p);
	if (map) {
		got = resolve_in_mapping(r, p, map, s, &module);
		if (got != OUTCOME_NO)
			goto out;
		missed = module;
	}
	for (size_t i = 0; p->epoch && i < x->nloaded; i++) {
		map = &p->space->maps[x->loaded[i]];
		if (map->epoch > p->epoch || p->address < map->start ||
		    (map->end && p->address >= map->end))
			continue;
		got = resolve_in_mapping(r, p, map, &elsewhere, &module);
		if (got == OUTCOME_YES)
			*s = elsewhere;
		if (got != OUTCOME_NO)
			goto out;
		/* if its end is unknown, the address may be in another mapping */
		if (map->end && !missed) {
			missed = module;
			s->module = map->path.text;
			s->module_size = map->path.size;
		}
	}
	if (missed)
		missed->missed += count;
	else
		r->unmapped += count;
	return OUTCOME_NO;
out:
	if (got == OUTCOME_YES) {
		module->found += count;
		module->lines += count && s->line;
	}
	return got;
}

static int frames_in_mapping(struct resolver *r, const struct location *p, uint64_t address,
			     const struct map *map, struct source_frame *frames, size_t most)
{
	struct module *module = tables_module(r->tables, p->space, map);

	if (!module)
		return -1;
	/* in old recordings the symbols' addresses are absolute */
	address = map->table.size ? address - map->start : address_in_file(map, module, address);
	return tables_frames(r->tables, module, address, frames, most);
}

int resolve_frames(struct resolver *r, const struct location *p, bool caller,
		   struct source_frame *frames, size_t most)
{
	const struct space_index *x = index_of(r, p->space);
	uint64_t address = p->address - caller;
	const struct map *map;
	int n = 0;

	if (!x)
		return -1;
	map = mapping_of(x, p);
	if (map)
		n = frames_in_mapping(r, p, address, map, frames, most);
	for (size_t i = 0; !n && p->epoch && i < x->nloaded; i++) {
		map = &p->space->maps[x->loaded[i]];
		if (map->epoch <= p->epoch && p->address >= map->start &&
		    (!map->end || p->address < map->end))
			n = frames_in_mapping(r, p, address, map, frames, most);
	}
	return n;
}

#include "resolve.h"

/* Look into one mapping. 1 found, 0, -1. */
static int look(struct tables *t, const struct place *p, const struct map *map,
		struct symbol_entry *s, struct module **module)
{
	uint64_t relative = p->address - map->start + map->offset;
	const struct symbol *symbol;
	const char *name;

	*module = tables_module(t, p->space, map);
	if (!*module)
		return -1;
	s->module = map->path.text;
	s->module_size = map->path.size;
	symbol = (*module)->symbols ? symbols_find((*module)->symbols, relative) : NULL;
	if (!symbol)
		return 0;
	name = tables_name(t, *module, symbol);
	if (!name)
		return -1;
	s->name = name;
	s->name_size = (uint32_t)strlen(name);
	s->start = symbol->start - map->offset + map->start;
	s->size = symbol->size;
	s->flags = symbol->type == 'P' ? SYMBOL_PLT
		   : p->space->flags & SPACE_KERNEL ? SYMBOL_KERNEL : 0;
	return 1;
}

int resolve(struct tables *t, const struct place *p, struct symbol_entry *s)
{
	const struct space *space = p->space;
	struct module *module, *missed = NULL;
	struct symbol_entry in_map = {.flags = SYMBOL_UNKNOWN};
	int got;

	*s = in_map;
	for (size_t i = 0; i < space->nmaps; i++) {
		const struct map *map = &space->maps[i];

		if (map->epoch || p->address < map->start || p->address >= map->end)
			continue;
		got = look(t, p, map, s, &module);
		if (got)
			goto out;
		missed = module;
		in_map = *s;
		break;
	}
	for (uint32_t epoch = p->epoch; epoch; epoch--)
		for (size_t i = space->nmaps; i--;) {
			const struct map *map = &space->maps[i];

			if (map->epoch != epoch || p->address < map->start)
				continue;
			got = look(t, p, map, s, &module);
			if (got)
				goto out;
		}
	if (missed)
		missed->missed++;
	*s = in_map;
	return 0;
out:
	if (got > 0)
		module->found++;
	return got;
}

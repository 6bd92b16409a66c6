#include "cmd/trdecode/perf/maps.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/perf/jit.h"
#include "cmd/trdecode/perf/known_stacks.h"
#include "common/util/bisect.h"

enum { MAPS_MOST = 1 << 20, MAPS_OF_PROCESS = 1 << 16, LOCATIONS_LEAST = 1 << 12 };

struct perf_maps *perf_maps_new(struct perf_spaces *s, int32_t pid, bool kernel)
{
	struct perf_maps *m = calloc(1, sizeof *m);

	if (m)
		*m = (struct perf_maps){
			.users = 1, .pid = pid, .kernel = kernel, .context = ++s->contexts};
	if (m)
		m->number = m->context;
	return m;
}

void perf_maps_release(struct perf_maps *m)
{
	while (m && !--m->users) {
		struct perf_maps *before = m->before;

		free(m->present.map);
		free(m->spaces);
		free(m);
		m = before;
	}
}

int perf_spaces_init(struct perf_spaces *s, struct writer *w)
{
	s->w = w;
	s->kernel = perf_maps_new(s, -1, true);
	s->known = known_stacks_new();
	return s->kernel && s->known ? 0 : -1;
}

void perf_spaces_free(struct perf_spaces *s)
{
	perf_maps_release(s->kernel);
	known_stacks_free(s->known);
	free(s->locations);
}

/* Return the number of mappings that begin at or before the address. */
static size_t maps_up_to(const struct perf_map_list *l, uint64_t address)
{
	return BISECT(l->count, i, l->map[i].start <= address);
}

static const struct perf_map *find_map(const struct perf_map_list *l, uint64_t address)
{
	size_t n = maps_up_to(l, address);

	return n && address < l->map[n - 1].end ? &l->map[n - 1] : NULL;
}

const struct perf_map *perf_maps_find(const struct perf_maps *m, uint64_t address)
{
	const struct perf_map *map = find_map(&m->present, address);

	return map || !m->before ? map : find_map(&m->before->present, address);
}

uint32_t perf_maps_space(struct perf_spaces *s, struct perf_maps *m, uint32_t layer)
{
	uint32_t *spaces;
	char name[64] = "kernel"; /* equal spaces would be one */

	if (ARRAY_REACH(m->spaces, m->spaces_capacity, layer))
		return 0;
	spaces = m->spaces;
	if (m->nspaces <= layer)
		m->nspaces = layer + 1;
	if (spaces[layer])
		return spaces[layer];
	if (!m->kernel || layer)
		snprintf(name, sizeof name, "%d.%u.%u", m->pid, m->number, layer);
	spaces[layer] =
		writer_space(s->w, &(struct space_entry){.source = s->source,
							 .name = writer_text(s->w, name),
							 .pid = m->kernel ? 0 : m->pid,
							 .flags = m->kernel ? SPACE_KERNEL : 0});
	return spaces[layer];
}

static int insert(struct perf_map_list *l, size_t at, const struct perf_map *map)
{
	struct perf_map *grown;

	if (ARRAY_GROW(l->map, l->capacity, l->count))
		return -1;
	grown = l->map;
	memmove(&grown[at + 1], &grown[at], (l->count - at) * sizeof *grown);
	grown[at] = *map;
	l->count++;
	return 0;
}

/* Remove the part [start, end) of all mappings. */
static int clear_range(struct perf_map_list *l, uint64_t start, uint64_t end)
{
	size_t i, last;

	if (!l->count)
		return 0;
	i = maps_up_to(l, start);
	if (i && l->map[i - 1].end > start) {
		struct perf_map rest = l->map[i - 1];

		rest.offset += end - rest.start;
		rest.start = end;
		if (rest.end > end && insert(l, i, &rest))
			return -1;
		l->map[i - 1].end = start;
		i -= l->map[i - 1].start == start; /* an empty one is removed below */
	}
	for (last = i; last < l->count && l->map[last].end <= end; last++)
		;
	memmove(&l->map[i], &l->map[last], (l->count - last) * sizeof *l->map);
	l->count -= last - i;
	if (i < l->count && l->map[i].start < end) {
		l->map[i].offset += end - l->map[i].start;
		l->map[i].start = end;
	}
	return 0;
}

/* Find the layer of a mapping: above those of all that it overlaps, which are above those of what
 * was there before. *same: the mapping is present. */
static uint32_t layer_of(const struct perf_maps *m, const struct perf_map *map, bool *same)
{
	const struct perf_map *p = m->present.map;
	size_t i = maps_up_to(&m->present, map->start);
	uint32_t layer = 0;

	*same = false;
	for (i -= i > 0; i < m->present.count && p[i].start < map->end; i++) {
		if (p[i].end <= map->start)
			continue;
		if (p[i].start == map->start && p[i].end == map->end &&
		    p[i].offset == map->offset && p[i].path == map->path &&
		    p[i].build_id == map->build_id && p[i].code == map->code) {
			*same = true;
			return p[i].layer;
		}
		if (p[i].layer >= layer)
			layer = p[i].layer + 1;
	}
	return layer;
}

static int declare_map(struct perf_spaces *s, struct perf_maps *m, struct perf_map *map)
{
	uint32_t space;
	bool same;

	map->layer = layer_of(m, map, &same);
	if (same)
		return 0;
	space = perf_maps_space(s, m, map->layer);
	if (!space)
		return -1;
	m->declared++;
	s->nmaps++;
	/* functions of JIT compilers have symbols at their locations */
	if (map->code && map->code != JIT_ANONYMOUS)
		return 0;
	return writer_map(s->w, &(struct map_entry){.space = space,
						    .flags = MAP_FILE_OFFSET,
						    .start = map->start,
						    .end = map->end,
						    .offset = map->offset,
						    .path = map->path,
						    .build_id = map->build_id});
}

/* Give the process its own mappings. */
static int unshare(struct perf_spaces *s, struct perf_maps **shared, int32_t pid)
{
	struct perf_maps *from = *shared, *m = perf_maps_new(s, pid, false);

	if (!m)
		return -1;
	m->before = from->before;
	if (m->before)
		m->before->users++;
	for (size_t i = 0; i < from->present.count; i++) {
		struct perf_map map = from->present.map[i];

		if (declare_map(s, m, &map) || insert(&m->present, m->present.count, &map)) {
			perf_maps_release(m);
			return -1;
		}
	}
	perf_maps_release(from);
	*shared = m;
	return 0;
}

int perf_maps_exec(struct perf_spaces *s, struct perf_maps **m, int32_t pid)
{
	struct perf_maps *before = *m;

	if (!before)
		return 0;
	*m = perf_maps_new(s, pid, false);
	if (!*m) {
		*m = before;
		return -1;
	}
	(*m)->before = before;
	/* one program before is enough */
	if (before->users == 1) {
		perf_maps_release(before->before);
		before->before = NULL;
	}
	return 0;
}

int perf_maps_add(struct perf_spaces *s, struct perf_maps **maps, struct perf_map map, int32_t pid)
{
	struct perf_maps *m;

	if (map.end <= map.start || s->nmaps >= MAPS_MOST || (*maps)->declared >= MAPS_OF_PROCESS)
		return 0;
	if ((*maps)->users > 1 && unshare(s, maps, pid))
		return -1;
	m = *maps;
	m->context = ++s->contexts;
	if (declare_map(s, m, &map) || clear_range(&m->present, map.start, map.end))
		return -1;
	return insert(&m->present, maps_up_to(&m->present, map.start), &map);
}

/* --- locations --- */

static struct perf_location *location_slot(const struct perf_spaces *s, uint32_t space,
					   uint64_t address)
{
	size_t i = hash_u64(address ^ (uint64_t)space << 40) & (s->size - 1);

	while (s->locations[i].location &&
	       (s->locations[i].address != address || s->locations[i].space != space))
		i = (i + 1) & (s->size - 1);
	return &s->locations[i];
}

static int grow_locations(struct perf_spaces *s)
{
	struct perf_location *old = s->locations;
	size_t had = s->size;

	s->size = had ? 2 * had : LOCATIONS_LEAST;
	s->locations = calloc(s->size, sizeof *s->locations);
	if (!s->locations) {
		s->locations = old;
		s->size = had;
		return -1;
	}
	for (size_t i = 0; i < had; i++)
		if (old[i].location)
			*location_slot(s, old[i].space, old[i].address) = old[i];
	free(old);
	return 0;
}

uint32_t perf_maps_location(struct perf_spaces *s, struct perf_maps *m, uint64_t address)
{
	const struct perf_map *map = m ? find_map(&m->present, address) : NULL;
	struct perf_location *slot;
	struct symbol_entry symbol;
	uint32_t space;

	if (m && !map && m->before) {
		map = find_map(&m->before->present, address);
		if (map)
			m = m->before;
	}
	space = m ? perf_maps_space(s, m, map ? map->layer : 0) : 0;
	if (m && !space)
		return 0;
	if (4 * s->nlocations >= 3 * s->size && grow_locations(s))
		return 0;
	slot = location_slot(s, space, address);
	if (slot->location)
		return slot->location;
	*slot = (struct perf_location){
		address, space,
		writer_location(s->w,
				&(struct location_entry){.space = space, .address = address})};
	s->nlocations += slot->location != 0;
	if (!map || !map->code || !perf_jit_symbol(s->jit, map, m->pid, address, &symbol))
		return slot->location;
	symbol.flags = m->kernel ? SYMBOL_KERNEL : 0;
	return writer_symbol(s->w, slot->location, &symbol) ? 0 : slot->location;
}

#include "cmd/trdecode/perf/maps.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/perf/jit.h"
#include "cmd/trdecode/perf/known_stacks.h"

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

		tdestroy(m->present, free);
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

/* Compare mappings, or find those that overlap a key: those of a tree do not overlap. */
static int compare_ranges(const void *a, const void *b)
{
	const struct perf_map *x = a, *y = b;

	return x->end <= y->start ? -1 : x->start >= y->end;
}

/* Find a mapping that has a part of [start, end). */
static struct perf_map *find_overlap(const struct perf_maps *m, uint64_t start, uint64_t end)
{
	struct perf_map key = {.start = start, .end = end};
	struct perf_map *const *found = tfind(&key, &m->present, compare_ranges);

	return found ? *found : NULL;
}

static const struct perf_map *find_map(const struct perf_maps *m, uint64_t address)
{
	return address < UINT64_MAX ? find_overlap(m, address, address + 1) : NULL;
}

const struct perf_map *perf_maps_find(const struct perf_maps *m, uint64_t address)
{
	const struct perf_map *map = find_map(m, address);

	return map || !m->before ? map : find_map(m->before, address);
}

struct walk {
	perf_maps_visit *visit;
	void *arg;
};

static void visit_node(const void *node, VISIT order, void *arg)
{
	const struct walk *w = arg;

	if (order == postorder || order == leaf) /* in the middle of its subtrees */
		w->visit(*(struct perf_map *const *)node, w->arg);
}

void perf_maps_walk(const struct perf_maps *m, perf_maps_visit *visit, void *arg)
{
	twalk_r(m->present, visit_node, &(struct walk){visit, arg});
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

/* Insert a mapping that overlaps no other one. */
static int insert(struct perf_maps *m, const struct perf_map *map)
{
	struct perf_map *copy = malloc(sizeof *copy);

	if (!copy)
		return -1;
	*copy = *map;
	if (!tsearch(copy, &m->present, compare_ranges)) {
		free(copy);
		return -1;
	}
	return 0;
}

/* Remove [start, end) from a mapping that overlaps it. */
static int clear_overlap(struct perf_maps *m, struct perf_map *p, uint64_t start, uint64_t end)
{
	struct perf_map rest = *p;
	bool before = p->start < start;

	rest.offset += end - p->start;
	rest.start = end;
	if (before)
		p->end = start;
	if (rest.end > end && before)
		return insert(m, &rest);
	if (rest.end > end) {
		*p = rest;
	} else if (!before) {
		tdelete(p, &m->present, compare_ranges);
		free(p);
	}
	return 0;
}

static bool is_same(const struct perf_map *a, const struct perf_map *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->path == b->path && a->build_id == b->build_id && a->code == b->code;
}

/* Declare a mapping in its layer. */
static int declare_map(struct perf_spaces *s, struct perf_maps *m, const struct perf_map *map)
{
	uint32_t space = perf_maps_space(s, m, map->layer);

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

/* Declare and insert a mapping. Its layer is above those of all that it overlaps, which are above
 * those of what was there before. */
static int add_map(struct perf_spaces *s, struct perf_maps *m, struct perf_map *map)
{
	struct perf_map *p = find_overlap(m, map->start, map->end);

	map->layer = 0;
	if (p && is_same(p, map)) {
		map->layer = p->layer;
		*p = *map;
		return 0;
	}
	for (; p; p = find_overlap(m, map->start, map->end)) {
		if (p->layer >= map->layer)
			map->layer = p->layer + 1;
		if (clear_overlap(m, p, map->start, map->end))
			return -1;
	}
	return declare_map(s, m, map) || insert(m, map) ? -1 : 0;
}

/* The copy of mappings. */
struct copy {
	struct perf_spaces *spaces;
	struct perf_maps *to;
	int failed;
};

static void copy_map(const struct perf_map *map, void *arg)
{
	struct copy *c = arg;
	struct perf_map own = *map;

	if (!c->failed)
		c->failed = add_map(c->spaces, c->to, &own);
}

/* Give the process its own mappings. */
static int unshare(struct perf_spaces *s, struct perf_maps **shared, int32_t pid)
{
	struct perf_maps *from = *shared, *m = perf_maps_new(s, pid, false);
	struct copy copy = {.spaces = s, .to = m};

	if (!m)
		return -1;
	m->before = from->before;
	if (m->before)
		m->before->users++;
	perf_maps_walk(from, copy_map, &copy);
	if (copy.failed) {
		perf_maps_release(m);
		return -1;
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
	return add_map(s, m, &map);
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
	const struct perf_map *map = m ? find_map(m, address) : NULL;
	struct perf_location *slot;
	struct symbol_entry symbol;
	uint32_t space;

	if (m && !map && m->before) {
		map = find_map(m->before, address);
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

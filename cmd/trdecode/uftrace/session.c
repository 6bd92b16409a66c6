#include "cmd/trdecode/uftrace/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/uftrace/module.h"
#include "common/util/bisect.h"

#define MAP_SIZE_MAX (256u << 20)

/* Module of a Python program's functions, which no map has. */
#define PYTHON "python.fake"

/* Overlapping ranges that are tried for one address. */
#define OVERLAPS_MAX 4096

/* A library at a base, whatever the number of times it was opened there. */
struct range {
	uint64_t base, end;
	uint64_t max_end; /* highest end of this range and all before it */
	struct module *module;
	const uint32_t *opens; /* numbers of its dlopens, ascending */
	size_t nr_opens;
};

struct uftrace_session {
	struct uftrace_sessions *all;
	const struct uftrace_sess *sess;
	struct uftrace_map map;
	struct module **map_modules;
	uint32_t *by_start; /* indexes of map.maps, by start */
	struct module **dlopen_modules;
	bool broken; /* out of memory while it was built */
	bool has_ranges;
	struct range *ranges; /* by base */
	size_t nr_ranges;
	uint32_t *opens;
};

struct uftrace_sessions {
	const struct uftrace_info *info;
	const struct uftrace_tasks *tasks;
	struct uftrace_session **sessions; /* by uftrace_sess.id, NULL until needed */
	struct uftrace_modules modules;
};

/* ---- sessions ---- */

struct uftrace_sessions *uftrace_sessions_new(const struct tree *tree,
					      const struct uftrace_info *info,
					      const struct uftrace_tasks *tasks, struct error *e)
{
	struct uftrace_sessions *s = calloc(1, sizeof(*s));

	if (s) {
		s->modules.tree = tree;
		s->info = info;
		s->tasks = tasks;
		s->sessions = calloc(uftrace_tasks_nr_sess(tasks) + 1, sizeof(*s->sessions));
	}
	if (!s || !s->sessions) {
		free(s);
		error_set(e, tree_name(tree), NO_OFFSET, "out of memory");
		return NULL;
	}
	return s;
}

static void free_session(struct uftrace_session *s)
{
	if (!s)
		return;
	uftrace_map_free(&s->map);
	free(s->map_modules);
	free(s->by_start);
	free(s->dlopen_modules);
	free(s->ranges);
	free(s->opens);
	free(s);
}

void uftrace_sessions_free(struct uftrace_sessions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < uftrace_tasks_nr_sess(s->tasks); i++)
		free_session(s->sessions[i]);
	free(s->sessions);
	uftrace_modules_free(&s->modules);
	free(s);
}

bool uftrace_sessions_damage(struct uftrace_sessions *s, struct error *e)
{
	return uftrace_modules_damage(&s->modules, e);
}

struct uftrace_modules *uftrace_sessions_modules(struct uftrace_sessions *s)
{
	return &s->modules;
}

const struct symbols *uftrace_module_symbols(struct uftrace_sessions *s,
					     const struct uftrace_module *m)
{
	return uftrace_modules_symbols(&s->modules, s->modules.modules[m->id]);
}

/* Return the kernel's symbols (member `kallsyms`), or NULL. */
static const struct symbols *uftrace_kernel_symbols(struct uftrace_sessions *s)
{
	return uftrace_modules_kernel(&s->modules);
}

static int load_map(struct uftrace_session *s)
{
	char name[UFTRACE_SID_SIZE + 16], path[512];
	struct error e;
	void *text;
	size_t size;

	snprintf(name, sizeof(name), "sid-%s.map", s->sess->sid);
	if (tree_read(s->all->modules.tree, name, MAP_SIZE_MAX, &text, &size, &e) < 0)
		uftrace_modules_add_damage(&s->all->modules, &e);
	else if (uftrace_map_parse(&s->map, text, size) < 0)
		return -1;
	if (s->map.damaged) {
		error_set(&e, tree_path(s->all->modules.tree, name, path, sizeof(path)), NO_OFFSET,
			  "%zu unreadable lines", s->map.damaged);
		uftrace_modules_add_damage(&s->all->modules, &e);
	}
	return tree_has(s->all->modules.tree, PYTHON ".sym")
		       ? uftrace_map_add_python(&s->map, PYTHON)
		       : 0;
}

static int compare_starts(const void *a, const void *b, void *arg)
{
	const struct uftrace_mapping *maps = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (maps[x].start != maps[y].start)
		return maps[x].start < maps[y].start ? -1 : 1;
	return (x < y) - (x > y);
}

static int find_modules(struct uftrace_session *s)
{
	s->map_modules = calloc(s->map.nr + 1, sizeof(*s->map_modules));
	s->by_start = calloc(s->map.nr + 1, sizeof(*s->by_start));
	s->dlopen_modules = calloc(s->sess->nr_dlopens + 1, sizeof(*s->dlopen_modules));
	if (!s->map_modules || !s->by_start || !s->dlopen_modules)
		return -1;
	for (size_t i = 0; i < s->map.nr; i++) {
		const struct uftrace_mapping *map = &s->map.maps[i];

		s->by_start[i] = i;
		s->map_modules[i] = uftrace_modules_get(&s->all->modules, map->path, map->build_id,
							!strcmp(map->path, PYTHON));
		if (!s->map_modules[i])
			return -1;
	}
	qsort_r(s->by_start, s->map.nr, sizeof(*s->by_start), compare_starts, s->map.maps);
	for (size_t i = 0; i < s->sess->nr_dlopens; i++) {
		s->dlopen_modules[i] =
			uftrace_modules_get(&s->all->modules, s->sess->dlopens[i].path, "", true);
		if (!s->dlopen_modules[i])
			return -1;
	}
	return 0;
}

struct uftrace_session *uftrace_session_get(struct uftrace_sessions *s,
					    const struct uftrace_sess *sess)
{
	struct uftrace_session *n;

	sess = sess->same;
	n = s->sessions[sess->id];
	if (n)
		return n->broken ? NULL : n;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->all = s;
	n->sess = sess;
	/* kept even if broken, as modules point to names in its map */
	s->sessions[sess->id] = n;
	n->broken = load_map(n) < 0 || find_modules(n) < 0;
	return n->broken ? NULL : n;
}

uint32_t uftrace_session_epoch_at(const struct uftrace_session *s, uint64_t t, uint64_t *until)
{
	size_t low = BISECT(s->sess->nr_dlopens, i, s->sess->dlopens[i].time <= t);

	if (until)
		*until = low < s->sess->nr_dlopens ? s->sess->dlopens[low].time : UINT64_MAX;
	return low;
}

const struct uftrace_map *uftrace_session_map(const struct uftrace_session *s)
{
	return &s->map;
}

const struct uftrace_module *uftrace_session_map_module(const struct uftrace_session *s, size_t i)
{
	return &s->map_modules[i]->m;
}

size_t uftrace_session_nr_dlopens(const struct uftrace_session *s)
{
	return s->sess->nr_dlopens;
}

const struct uftrace_dlopen *uftrace_session_dlopen(const struct uftrace_session *s, size_t i)
{
	return &s->sess->dlopens[i];
}

const struct uftrace_module *uftrace_session_dlopen_module(const struct uftrace_session *s,
							   size_t i)
{
	return &s->dlopen_modules[i]->m;
}

const struct uftrace_sess *uftrace_session_sess(const struct uftrace_session *s)
{
	return s->sess;
}

/* ---- addresses ---- */

/* Return the base that the addresses of a module's symbols are relative to. */
static uint64_t symbol_base(const struct uftrace_session *s, uint64_t base)
{
	return s->all->info->feat_mask & UFTRACE_FEAT_SYM_REL_ADDR ? base : 0;
}

/* Return the index of the mapping with the address, or map.nr. Mappings do not overlap in an
 * undamaged file. */
static size_t find_mapping(const struct uftrace_session *s, uint64_t address)
{
	size_t low = BISECT(s->map.nr, i, s->map.maps[s->by_start[i]].start <= address);

	for (int i = 0; i < 16 && low > 0; i++)
		if (address < s->map.maps[s->by_start[--low]].end)
			return s->by_start[low];
	return s->map.nr;
}

struct open_key {
	uint64_t base;
	struct module *module;
	uint32_t number;
};

static int compare_opens(const void *a, const void *b)
{
	const struct open_key *x = a, *y = b;

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	if (x->module != y->module)
		return x->module->m.id < y->module->m.id ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Group the dlopens by library and base, and load their symbols. */
static void build_ranges(struct uftrace_session *s)
{
	size_t n = 0, total = s->sess->nr_dlopens;
	struct open_key *keys;
	uint64_t max_end = 0;

	s->has_ranges = true;
	if (!total)
		return;
	keys = calloc(total, sizeof(*keys));
	s->ranges = calloc(total, sizeof(*s->ranges));
	s->opens = calloc(total, sizeof(*s->opens));
	if (!keys || !s->ranges || !s->opens) {
		struct error e;

		error_set(&e, tree_name(s->all->modules.tree), NO_OFFSET,
			  "out of memory, opened libraries are unknown");
		uftrace_modules_add_damage(&s->all->modules, &e);
		free(keys);
		return;
	}
	for (size_t i = 0; i < total; i++) {
		if (!uftrace_modules_symbols(&s->all->modules, s->dlopen_modules[i]))
			continue;
		keys[n++] = (struct open_key){
			.base = symbol_base(s, s->sess->dlopens[i].base),
			.module = s->dlopen_modules[i],
			.number = i,
		};
	}
	qsort(keys, n, sizeof(*keys), compare_opens);
	for (size_t i = 0; i < n; i++) {
		struct range *r = s->nr_ranges ? &s->ranges[s->nr_ranges - 1] : NULL;

		s->opens[i] = keys[i].number;
		if (!r || r->base != keys[i].base || r->module != keys[i].module) {
			r = &s->ranges[s->nr_ranges++];
			r->base = keys[i].base;
			r->module = keys[i].module;
			r->opens = &s->opens[i];
			if (__builtin_add_overflow(r->base, r->module->file->end, &r->end))
				r->end = UINT64_MAX;
			if (r->end > max_end)
				max_end = r->end;
			r->max_end = max_end;
		}
		r->nr_opens++;
	}
	free(keys);
}

/* Return 1 + the number of the last dlopen of the range before epoch; 0 if there is none. */
static uint32_t last_open(const struct range *r, uint32_t epoch)
{
	size_t low = BISECT(r->nr_opens, i, r->opens[i] < epoch);

	return low ? r->opens[low - 1] + 1 : 0;
}

static bool resolve_dlopen(struct uftrace_session *s, uint32_t epoch, uint64_t address,
			   struct uftrace_where *where)
{
	size_t low;
	uint32_t best = 0;

	if (!s->has_ranges)
		build_ranges(s);
	low = BISECT(s->nr_ranges, i, s->ranges[i].base <= address);
	for (int i = 0; i < OVERLAPS_MAX && low > 0; i++) {
		const struct range *r = &s->ranges[--low];
		const struct symbol *symbol;
		uint32_t open;

		if (r->max_end <= address)
			break;
		open = r->end > address ? last_open(r, epoch) : 0;
		if (open <= best)
			continue;
		symbol = symbols_find(r->module->file->symbols, address - r->base);
		if (!symbol)
			continue;
		best = open;
		*where = (struct uftrace_where){
			.module = &r->module->m, .symbol = symbol, .base = r->base, .epoch = open};
	}
	return best;
}

bool uftrace_session_resolve(struct uftrace_session *s, uint32_t epoch, uint64_t address,
			     struct uftrace_where *where)
{
	const struct symbols *symbols;
	size_t i;

	*where = (struct uftrace_where){0};
	if (s->map.kernel_base && address >= s->map.kernel_base) {
		where->kernel = true;
		symbols = uftrace_kernel_symbols(s->all);
		if (symbols)
			where->symbol = symbols_find(symbols, address);
		return where->symbol;
	}
	i = find_mapping(s, address);
	if (i < s->map.nr) {
		where->module = &s->map_modules[i]->m;
		where->base = symbol_base(s, s->map.maps[i].start);
		symbols = uftrace_modules_symbols(&s->all->modules, s->map_modules[i]);
		if (symbols)
			where->symbol = symbols_find(symbols, address - where->base);
		if (where->symbol)
			return true;
	}
	return epoch && s->sess->nr_dlopens && resolve_dlopen(s, epoch, address, where);
}

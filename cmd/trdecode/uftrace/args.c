#include "cmd/trdecode/uftrace/args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/symbols/demangle.h"
#include "common/util/buffer.h"
#include "cmd/trdecode/uftrace/dbg.h"
#include "cmd/trdecode/uftrace/lists.h"
#include "cmd/trdecode/uftrace/module.h"
#include "common/util/bisect.h"

#define DBG_SIZE_MAX (256u << 20)

/* Names of one address that are tried. */
#define ALIASES_MAX 64

/* Functions around another one that are tried. */
#define ENCLOSING_MAX 8

struct dbg_slot {
	bool tried;
	struct uftrace_dbg dbg;
};

/* What is known of one function in one session. */
struct function {
	const struct uftrace_session *session;
	const struct uftrace_module *module;
	const struct symbol *symbol;
	struct uftrace_specs *entry, *exit; /* NULL: none */
};

struct uftrace_args {
	struct uftrace_sessions *sessions;
	const struct uftrace_info *info;
	struct uftrace_lists lists;
	struct dbg_slot **dbg; /* by module id */
	size_t nr_dbg;
	struct function *functions; /* hash table; symbol NULL: free slot */
	size_t nr_functions, size;
};

/* Marks a function for which only specs of the other phase were found. */
static const struct uftrace_specs no_specs;

struct uftrace_args *uftrace_args_new(struct uftrace_sessions *sessions,
				      const struct uftrace_info *info, struct error *e)
{
	struct uftrace_args *a = calloc(1, sizeof(*a));

	if (a) {
		a->sessions = sessions;
		a->info = info;
	}
	if (!a || uftrace_lists_read(&a->lists, info) < 0) {
		uftrace_args_free(a);
		error_no_memory(e);
		return NULL;
	}
	return a;
}

void uftrace_args_free(struct uftrace_args *a)
{
	if (!a)
		return;
	uftrace_lists_free(&a->lists);
	for (size_t i = 0; i < a->nr_dbg; i++) {
		if (a->dbg[i])
			uftrace_dbg_free(&a->dbg[i]->dbg);
		free(a->dbg[i]);
	}
	free(a->dbg);
	for (size_t i = 0; i < a->size; i++) {
		free(a->functions[i].entry);
		free(a->functions[i].exit);
	}
	free(a->functions);
	free(a);
}

/* ---- debug information ---- */

static void load_dbg(struct uftrace_args *a, const struct uftrace_module *m, struct dbg_slot *slot)
{
	const struct tree *tree = uftrace_sessions_modules(a->sessions)->tree;
	struct error e;
	char path[512];
	void *text;
	size_t size;

	slot->tried = true;
	if (!m->dbg_name)
		return;
	tree_path(tree, m->dbg_name, path, sizeof(path));
	if (tree_read(tree, m->dbg_name, DBG_SIZE_MAX, &text, &size, &e) < 0) {
		uftrace_modules_add_damage(uftrace_sessions_modules(a->sessions), &e);
	} else if (uftrace_dbg_parse(&slot->dbg, text, size) < 0) {
		error_set(&e, path, NO_OFFSET, "out of memory");
		uftrace_modules_add_damage(uftrace_sessions_modules(a->sessions), &e);
	} else if (slot->dbg.damaged) {
		error_set(&e, path, NO_OFFSET, "%zu unreadable lines", slot->dbg.damaged);
		uftrace_modules_add_damage(uftrace_sessions_modules(a->sessions), &e);
	}
}

/* Return the debug information of a module; NULL: out of memory. */
static struct uftrace_dbg *dbg_of(struct uftrace_args *a, const struct uftrace_module *m)
{
	if (ARRAY_REACH(a->dbg, a->nr_dbg, m->id))
		return NULL;
	if (!a->dbg[m->id])
		a->dbg[m->id] = calloc(1, sizeof(**a->dbg));
	if (!a->dbg[m->id])
		return NULL;
	if (!a->dbg[m->id]->tried)
		load_dbg(a, m, a->dbg[m->id]);
	return &a->dbg[m->id]->dbg;
}

/* ---- applying them to a function ---- */

struct target {
	struct uftrace_session *session;
	const struct uftrace_module *module;
	const struct symbol *alias[ALIASES_MAX]; /* all symbols with its address */
	char *name[ALIASES_MAX];		 /* their demangled names */
	int nr_aliases;
	struct uftrace_dbg *dbg;
	struct uftrace_spec_list list;
	bool has[2]; /* by phase */
};

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_kernel_word(const char *s)
{
	return !strcasecmp(s, "kernel") || !strcasecmp(s, "k");
}

/* Is the target in the module that an item is restricted to? */
static bool module_fits(const struct target *t, const struct symbol *symbol, const char *module)
{
	const struct uftrace_map *map = uftrace_session_map(t->session);
	const char *exename = uftrace_session_sess(t->session)->exename;
	bool is_mapped = false;

	if (is_kernel_word(module))
		return false;
	if (!strcasecmp(module, "PLT")) {
		/* stubs of the program itself, not those of its libraries */
		return symbol->type == 'P' && !strcmp(t->module->path, exename);
	}
	/* the first module whose name begins so, and only this one */
	for (size_t i = 0; i < map->nr; i++) {
		if (!strncmp(basename_of(map->maps[i].path), module, strlen(module)))
			return uftrace_session_map_module(t->session, i) == t->module;
		is_mapped |= uftrace_session_map_module(t->session, i) == t->module;
	}
	return !is_mapped && !strncmp(basename_of(t->module->path), module, strlen(module));
}

/* Return the specs that an item without specs means, or NULL. */
static const struct uftrace_spec_list *known_specs(struct uftrace_args *a, struct target *t,
						   const char *name, enum uftrace_phase phase)
{
	const struct uftrace_spec_list *list = NULL;

	if (t->dbg)
		list = uftrace_dbg_find(t->dbg, t->alias[0]->start, phase, a->info);
	return list ? list : uftrace_lists_auto(&a->lists, phase, name);
}

static void apply_pass(struct uftrace_args *a, struct target *t, const struct uftrace_pass *p,
		       struct uftrace_hit hit)
{
	const struct uftrace_item *item = &p->items[hit.item];
	const struct uftrace_spec_list *list = &item->specs;

	if (item->module && !module_fits(t, t->alias[hit.name], item->module))
		return;
	if (!list->nr)
		list = known_specs(a, t, t->name[hit.name], p->phase);
	if (!list || (p->is_auto && t->has[p->phase]))
		return;
	for (uint32_t i = 0; i < list->nr; i++)
		uftrace_spec_add(&t->list, &list->specs[i], item->match == UFTRACE_MATCH_EXACT);
	t->has[p->phase] = true;
}

static int run_pass(struct uftrace_args *a, struct target *t, const struct uftrace_pass *p)
{
	struct uftrace_hits hits = {0};
	int r = uftrace_pass_match(p, t->name, t->nr_aliases, &hits);

	for (size_t i = 0; i < hits.nr && !r; i++)
		apply_pass(a, t, p, hits.hits[i]);
	free(hits.hits);
	return r;
}

/* Return the number of the first symbol with start >= address. */
static size_t first_symbol(const struct symbols *symbols, uint64_t address)
{
	return BISECT(symbols_count(symbols), i, symbols_at(symbols, i)->start < address);
}

/* Select the list's specs of one phase; NULL: out of memory. */
static struct uftrace_specs *pick_specs(struct uftrace_args *a, const struct target *t, bool exit)
{
	struct uftrace_specs *s = malloc(sizeof(*s) + t->list.nr * sizeof(s->spec[0]));

	if (!s)
		return NULL;
	s->nr = 0;
	for (uint32_t i = 0; i < t->list.nr; i++) {
		struct uftrace_spec *spec = &s->spec[s->nr];

		if ((t->list.specs[i].index == 0) != exit)
			continue;
		*spec = t->list.specs[i];
		if (spec->fmt == UFTRACE_FMT_ENUM && t->dbg)
			spec->type = uftrace_enum_find(&t->dbg->enums, spec->type_name);
		if (spec->fmt == UFTRACE_FMT_ENUM && !spec->type)
			spec->type = uftrace_enum_find(&a->lists.enums, spec->type_name);
		s->nr++;
	}
	return s;
}

static int resolve_specs(struct uftrace_args *a, struct uftrace_session *s, struct function *f)
{
	const struct symbols *symbols = uftrace_module_symbols(a->sessions, f->module);
	struct target t = {.session = s, .module = f->module};
	int r = -1;

	if (!symbols)
		return 0;
	for (size_t i = first_symbol(symbols, f->symbol->start);
	     i < symbols_count(symbols) && t.nr_aliases < ALIASES_MAX; i++) {
		const struct symbol *alias = symbols_at(symbols, i);

		if (alias->start != f->symbol->start)
			break;
		t.alias[t.nr_aliases] = alias;
		t.name[t.nr_aliases] = demangle(alias->name, DEMANGLE_SIMPLE);
		if (!t.name[t.nr_aliases])
			goto out;
		t.nr_aliases++;
	}
	t.dbg = dbg_of(a, f->module);
	for (int i = 0; i < a->lists.nr_passes; i++)
		if (run_pass(a, &t, &a->lists.passes[i]) < 0)
			goto out;
	r = 0;
	if (t.has[0] || t.has[1]) {
		f->entry = pick_specs(a, &t, false);
		f->exit = pick_specs(a, &t, true);
		r = f->entry && f->exit ? 0 : -1;
	}
out:
	for (int i = 0; i < t.nr_aliases; i++)
		free(t.name[i]);
	uftrace_spec_list_free(&t.list);
	return r;
}

/* ---- the cache ---- */

static size_t function_slot(const struct uftrace_args *a, const struct uftrace_session *s,
			    const struct uftrace_module *m, const struct symbol *symbol)
{
	uint64_t h = (uintptr_t)symbol;

	h = (h ^ (uintptr_t)s >> 4) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 29 ^ m->id) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 32) & (a->size - 1);
	while (a->functions[h].symbol &&
	       (a->functions[h].symbol != symbol || a->functions[h].session != s ||
		a->functions[h].module != m))
		h = (h + 1) & (a->size - 1);
	return h;
}

static int grow_functions(struct uftrace_args *a)
{
	size_t old_size = a->size;
	struct function *old = a->functions;
	struct function *bigger = calloc(old_size ? 2 * old_size : 256, sizeof(*bigger));

	if (!bigger)
		return -1;
	a->functions = bigger;
	a->size = old_size ? 2 * old_size : 256;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].symbol)
			a->functions[function_slot(a, old[i].session, old[i].module,
						   old[i].symbol)] = old[i];
	free(old);
	return 0;
}

static const struct function *find_function(struct uftrace_args *a, struct uftrace_session *s,
					    const struct uftrace_module *m,
					    const struct symbol *symbol)
{
	struct function *f;
	struct error e;

	if (2 * (a->nr_functions + 1) > a->size && grow_functions(a) < 0)
		return NULL;
	f = &a->functions[function_slot(a, s, m, symbol)];
	if (f->symbol)
		return f;
	*f = (struct function){.session = s, .module = m, .symbol = symbol};
	a->nr_functions++;
	if (resolve_specs(a, s, f) < 0) {
		error_set(&e, tree_name(uftrace_sessions_modules(a->sessions)->tree), NO_OFFSET,
			  "out of memory, arguments of %.100s are unknown", symbol->name);
		uftrace_modules_add_damage(uftrace_sessions_modules(a->sessions), &e);
	}
	return f;
}

static const struct uftrace_specs *specs_of(const struct function *f, bool exit)
{
	const struct uftrace_specs *specs;

	if (!f)
		return NULL;
	specs = exit ? f->exit : f->entry;
	if (specs && specs->nr)
		return specs;
	return f->entry || f->exit ? &no_specs : NULL;
}

/*
 * Find the specs of a function whose range includes that of the symbol: recorder and uftrace look
 * for a range with specs, not for a symbol.
 */
static const struct uftrace_specs *find_enclosing(struct uftrace_args *a, struct uftrace_session *s,
						  const struct uftrace_where *where, bool exit)
{
	const struct symbols *symbols = uftrace_module_symbols(a->sessions, where->module);
	size_t i = symbols ? first_symbol(symbols, where->symbol->start) : 0;

	for (int n = 0; n < ENCLOSING_MAX && i > 0; n++) {
		const struct symbol *outer = symbols_at(symbols, --i);
		const struct uftrace_specs *specs;

		if (where->symbol->start - outer->start >= outer->size)
			continue;
		specs = specs_of(find_function(a, s, where->module, outer), exit);
		if (specs)
			return specs;
	}
	return NULL;
}

const struct uftrace_specs *uftrace_args_find(struct uftrace_args *a, struct uftrace_session *s,
					      const struct uftrace_where *where, bool exit)
{
	const struct uftrace_specs *specs;

	if (!where->symbol || !where->module)
		return NULL;
	specs = specs_of(find_function(a, s, where->module, where->symbol), exit);
	return specs ? specs : find_enclosing(a, s, where, exit);
}

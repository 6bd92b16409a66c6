#include "cmd/trdecode/uftrace/module.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/buffer.h"

#define SYM_SIZE_MAX (1u << 30)
#define HEAD_SIZE    8192

/* Files of one basename that are tried for one library. */
#define CANDIDATES_MAX 64

/* ---- damage ---- */

void uftrace_modules_add_damage(struct uftrace_modules *ms, const struct error *e)
{
	struct error *copy;

	if (ms->nr_damage == UFTRACE_DAMAGE_MAX)
		return;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	*copy = *e;
	ms->damage[ms->nr_damage++] = copy;
}

bool uftrace_modules_damage(struct uftrace_modules *ms, struct error *e)
{
	if (ms->next_damage == ms->nr_damage)
		return false;
	if (e)
		*e = *ms->damage[ms->next_damage];
	ms->next_damage++;
	return true;
}

/* ---- which file belongs to a module ---- */

struct head {
	char text[HEAD_SIZE];
	const char *path, *build_id; /* "" if the file has none */
};

/* Parse the '#' lines at the start of a .sym or .dbg file. */
static void read_head(const struct tree *tree, const char *name, struct head *h)
{
	char *line = h->text;
	size_t n = tree_peek(tree, name, h->text, HEAD_SIZE - 1);

	h->path = h->build_id = "";
	h->text[n] = 0;
	while (*line == '#') {
		char *next = strchr(line, '\n');

		if (!next)
			break;
		*next = 0;
		if (!strncmp(line, "# path name: ", 13))
			h->path = line + 13;
		else if (!strncmp(line, "# build-id: ", 12))
			h->build_id = line + 12;
		line = next + 1;
	}
}

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Does the file with head h belong to path, which may be as given to dlopen? */
static bool path_fits(const struct head *h, const char *path, bool is_dlopen)
{
	size_t n, m;

	if (!*h->path || !strcmp(h->path, path))
		return true;
	if (!is_dlopen || *path == '/')
		return false;
	for (;;) {
		if (!strncmp(path, "./", 2))
			path += 2;
		else if (!strncmp(path, "../", 3))
			path += 3;
		else
			break;
	}
	n = strlen(path);
	m = strlen(h->path);
	return m > n && h->path[m - n - 1] == '/' && !strcmp(h->path + m - n, path);
}

static bool ids_differ(const char *a, const char *b)
{
	return *a && *b && strcmp(a, b);
}

/* Return the member's name in the tree, or NULL. */
static const char *tree_has_name(const struct tree *tree, const char *name)
{
	size_t i = tree_lower_bound(tree, name);

	if (i == tree_count(tree) || strcmp(tree_member(tree, i), name))
		return NULL;
	return tree_member(tree, i);
}

/*
 * Return BASENAME.SUFFIX, unless its head names another module with that basename; then
 * BASENAME-XXXX, where XXXX is the start of the build-id or a sum of the path.
 */
static const char *choose_file(const struct tree *tree, const struct uftrace_module *m,
			       bool is_dlopen, const char *suffix)
{
	const char *base = basename_of(m->path);
	const char *plain, *other;
	char name[4096];
	struct head h;
	uint16_t sum = 0;

	if (!*base || strlen(base) > sizeof(name) - 16)
		return NULL;
	snprintf(name, sizeof(name), "%s.%s", base, suffix);
	plain = tree_has_name(tree, name);
	if (plain) {
		read_head(tree, plain, &h);
		if (path_fits(&h, m->path, is_dlopen) && !ids_differ(h.build_id, m->build_id))
			return plain;
		/* another path to the same file */
		if (*m->build_id && !strcmp(h.build_id, m->build_id))
			return plain;
	}
	for (const char *p = m->path; *p; p++)
		sum += *p;
	snprintf(name, sizeof(name), "%s-%.4s.%s", base, m->build_id, suffix);
	other = *m->build_id ? tree_has_name(tree, name) : NULL;
	if (!other) {
		snprintf(name, sizeof(name), "%s-%04x.%s", base, sum, suffix);
		other = tree_has_name(tree, name);
	}
	if (other) {
		read_head(tree, other, &h);
		if (!ids_differ(h.build_id, m->build_id))
			return other;
	}
	if (!is_dlopen)
		return NULL;
	/* the build-id of a library opened later is not recorded: try all its files */
	snprintf(name, sizeof(name), "%s-", base);
	for (size_t i = tree_lower_bound(tree, name), end = i + CANDIDATES_MAX;
	     i < tree_count(tree) && i < end; i++) {
		const char *member = tree_member(tree, i);
		size_t n = strlen(base);

		if (strncmp(member, name, n + 1))
			break;
		if (strlen(member) != n + 6 + strlen(suffix) || member[n + 5] != '.' ||
		    strcmp(member + n + 6, suffix))
			continue;
		read_head(tree, member, &h);
		if (*h.path && path_fits(&h, m->path, true))
			return member;
	}
	/* "./sub/../lib.so": the directory is unknown, but the name is known */
	return *m->path != '/' ? plain : NULL;
}

/* ---- modules and their symbols ---- */

static int compare_modules(const void *a, const void *b)
{
	const struct uftrace_module *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c ? c : strcmp(x->build_id, y->build_id);
}

static int compare_files(const void *a, const void *b)
{
	const struct symfile *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct symfile *get_file(struct uftrace_modules *ms, const char *name)
{
	struct symfile *file = calloc(1, sizeof(*file));
	struct symfile **found;

	if (!file)
		return NULL;
	file->name = name;
	found = tsearch(file, &ms->files_by_name, compare_files);
	if (!found || *found != file)
		free(file);
	return found ? *found : NULL;
}

struct module *uftrace_modules_get(struct uftrace_modules *ms, const char *path,
				   const char *build_id, bool is_dlopen)
{
	struct module key = {.m = {.path = path, .build_id = build_id}}, **found, *m;

	found = tfind(&key, &ms->by_path, compare_modules);
	if (found)
		return *found;
	if (ARRAY_GROW(ms->modules, ms->room, ms->nr))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	*m = key;
	m->m.id = ms->nr;
	m->m.sym_name = choose_file(ms->tree, &m->m, is_dlopen, "sym");
	m->m.dbg_name = choose_file(ms->tree, &m->m, is_dlopen, "dbg");
	if (m->m.sym_name)
		m->file = get_file(ms, m->m.sym_name);
	if (!tsearch(m, &ms->by_path, compare_modules)) {
		free(m);
		return NULL;
	}
	ms->modules[ms->nr++] = m;
	return m;
}

static void load_symbols(struct uftrace_modules *ms, struct symfile *f)
{
	struct error e;
	char path[512];
	void *text;
	size_t size;

	f->tried = true;
	if (tree_read(ms->tree, f->name, SYM_SIZE_MAX, &text, &size, &e) < 0) {
		uftrace_modules_add_damage(ms, &e);
		return;
	}
	f->symbols = symbols_from_uftrace(text, size);
	free(text);
	tree_path(ms->tree, f->name, path, sizeof(path));
	if (!f->symbols) {
		error_set(&e, path, NO_OFFSET, "out of memory");
		uftrace_modules_add_damage(ms, &e);
		return;
	}
	if (symbols_damaged(f->symbols)) {
		error_set(&e, path, NO_OFFSET, "%zu unreadable lines", symbols_damaged(f->symbols));
		uftrace_modules_add_damage(ms, &e);
	}
	for (size_t i = 0; i < symbols_count(f->symbols); i++) {
		const struct symbol *sym = symbols_at(f->symbols, i);
		uint64_t end;

		if (__builtin_add_overflow(sym->start, sym->size, &end))
			end = UINT64_MAX;
		if (end > f->end)
			f->end = end;
	}
}

const struct symbols *uftrace_modules_symbols(struct uftrace_modules *ms, const struct module *m)
{
	if (!m->file)
		return NULL;
	if (!m->file->tried)
		load_symbols(ms, m->file);
	return m->file->symbols;
}

const struct symbols *uftrace_modules_kernel(struct uftrace_modules *ms)
{
	struct error e;
	void *text;
	size_t size;

	if (ms->kernel_tried)
		return ms->kernel;
	ms->kernel_tried = true;
	if (!tree_has(ms->tree, "kallsyms"))
		return NULL;
	if (tree_read(ms->tree, "kallsyms", SYM_SIZE_MAX, &text, &size, &e) < 0) {
		uftrace_modules_add_damage(ms, &e);
		return NULL;
	}
	ms->kernel = symbols_from_kallsyms(text, size);
	free(text);
	return ms->kernel;
}

static void free_file(void *p)
{
	struct symfile *f = p;

	symbols_free(f->symbols);
	free(f);
}

static void keep_module(void *p)
{
	(void)p;
}

void uftrace_modules_free(struct uftrace_modules *ms)
{
	tdestroy(ms->by_path, keep_module);
	tdestroy(ms->files_by_name, free_file);
	for (size_t i = 0; i < ms->nr; i++)
		free(ms->modules[i]);
	free(ms->modules);
	symbols_free(ms->kernel);
	for (unsigned i = 0; i < ms->nr_damage; i++)
		free(ms->damage[i]);
}

#include "cmd/trsym/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/trsym/kernel_symbols.h"

/* Files whose debug information is open at a time. */
enum { OPEN_MAX_FILES = 64 };

/* A table in the stream. */
struct carried {
	struct buffer text; /* text until it is parsed */
	uint64_t total;
	bool referred; /* an earlier segment has the table */
	bool parsed;
	bool cut; /* a piece of the table is missing */
	struct symbols *symbols;
	struct recorded_lines lines; /* lines of a .dbg */
};

struct tables {
	struct intern carried_names; /* by source and name */
	struct carried *carried;
	size_t carried_capacity;
	struct module **modules;
	size_t nmodules, modules_capacity;
	struct intern keys; /* keys of modules */
	struct tables_options options;
	struct module *open[OPEN_MAX_FILES]; /* modules whose debug information is open */
	unsigned opened;		     /* their number */
};

struct tables *tables_new(const struct tables_options *options)
{
	struct tables *t = calloc(1, sizeof(*t));

	if (t)
		t->options = *options;
	return t;
}

void tables_free(struct tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nmodules; i++) {
		struct module *m = t->modules[i];

		for (size_t k = 0; m->names && k < symbols_count(m->symbols); k++)
			free(m->names[k]);
		free(m->names);
		if (m->own)
			symbols_free((struct symbols *)m->symbols);
		debug_info_close(m->debug);
		free(m->shown);
		free(m);
	}
	for (size_t i = 0; i < t->carried_capacity; i++) {
		buffer_free(&t->carried[i].text);
		symbols_free(t->carried[i].symbols);
		recorded_lines_free(&t->carried[i].lines);
	}
	intern_free(&t->carried_names);
	free(t->carried);
	free(t->modules);
	intern_free(&t->keys);
	free(t);
}

/* Find the table of that name, or add it if `add`; NULL: there is none, or out of memory. */
static struct carried *find_carried(struct tables *t, uint32_t source, const char *name, size_t n,
				    bool add)
{
	uint32_t number;
	struct buffer key = {0};

	if (buffer_append(&key, &source, sizeof(source)) || buffer_append(&key, name, n)) {
		buffer_free(&key);
		return NULL;
	}
	number = add ? intern(&t->carried_names, key.data, key.size)
		     : intern_find(&t->carried_names, key.data, key.size);
	buffer_free(&key);
	if (number == INTERN_NONE || ARRAY_REACH(t->carried, t->carried_capacity, number))
		return NULL;
	return &t->carried[number];
}

static bool is_table(const struct tables *t, const char *name, size_t n)
{
	return (n > 4 && !memcmp(name + n - 4, ".sym", 4)) ||
	       (t->options.lines && n > 4 && !memcmp(name + n - 4, ".dbg", 4)) ||
	       (n == 8 && !memcmp(name, "kallsyms", 8));
}

int tables_meta(struct tables *t, const struct meta *m)
{
	struct carried *c;

	if (!is_table(t, m->name, m->name_size))
		return 0;
	c = find_carried(t, m->source, m->name, m->name_size, true);
	if (!c)
		return -1;
	if (c->parsed)
		return 0; /* the table is repeated */
	if (m->flags & META_REFERENCE) {
		c->referred = !c->text.size;
		return 0;
	}
	if (!m->offset)
		c->text.size = 0;
	if (m->offset != c->text.size)
		return 0; /* a piece is missing: the reader has reported it */
	c->referred = false;
	c->total = m->total;
	return buffer_append(&c->text, m->data, m->size);
}

/* Parse the symbols of the text, and free the text. Returns 0, or -1 when out of memory. */
static int parse_carried(struct carried *c, bool kallsyms)
{
	const char *text = (const char *)c->text.data;
	size_t n = c->text.size;

	c->parsed = true;
	c->cut = n < c->total;
	/* the last line is incomplete, and so may be its name */
	while (c->cut && n && text[n - 1] != '\n')
		n--;
	if (n)
		c->symbols =
			kallsyms ? symbols_from_kallsyms(text, n) : symbols_from_uftrace(text, n);
	buffer_free(&c->text);
	return n && !c->symbols ? -1 : 0;
}

static int from_stream(struct tables *t, struct module *m)
{
	struct carried *c = find_carried(t, m->source, m->table, strlen(m->table), false);

	if (!c || c->referred) {
		snprintf(m->why, sizeof(m->why), "%s is not in this part of the stream", m->table);
		return 0;
	}
	if (!c->parsed && parse_carried(c, !strcmp(m->table, "kallsyms")))
		return -1;
	m->symbols = c->symbols;
	if (c->cut)
		snprintf(m->why, sizeof(m->why), "a part of %s is missing", m->table);
	else if (m->symbols && symbols_hidden(m->symbols))
		snprintf(m->why, sizeof(m->why), "its addresses were hidden (kptr_restrict)");
	m->origin = "stream";
	return 0;
}

/* Is it the path or the name of a kernel module, such as "[ext4]"? */
static bool is_kernel_module(const char *path)
{
	return path[0] == '/' || (path[0] == '[' && strncmp(path, "[kernel", 7) != 0);
}

static void from_file(struct tables *t, struct module *m, bool kernel)
{
	struct error e = {.what = ""};
	const char *path = m->path[0] == '/' ? m->path : kernel ? "/[module]" : "/[vdso]";

	/* the vdso, and a module of which perf has found no file, may be found by the build-id */
	if (m->path[0] != '/' && !m->build_id[0]) {
		snprintf(m->why, sizeof(m->why), "no file%s", kernel ? " (see --kallsyms)" : "");
		return;
	}
	m->symbols =
		symbols_from_elf(path, t->options.sysroot, m->build_id[0] ? m->build_id : NULL, &e);
	m->own = m->symbols;
	m->from_text = kernel && m->symbols;
	if (m->symbols)
		m->origin = "file";
	else
		snprintf(m->why, sizeof(m->why), "%s%s", e.what,
			 kernel		      ? " (see --kallsyms)"
			 : t->options.sysroot ? ""
					      : " (see --sysroot)");
}

/* Set the name that is shown of the file of a kernel module, as perf does. Returns 0, or -1 when
 * out of memory. */
static int show_module(struct module *m)
{
	const char *name = strrchr(m->path, '/'), *end = name ? strstr(name, ".ko") : NULL;

	if (!end || (end[3] && end[3] != '.'))
		return 0;
	if (asprintf(&m->shown, "[%.*s]", (int)(end - name - 1), name + 1) < 0) {
		m->shown = NULL;
		return -1;
	}
	for (char *p = m->shown; *p; p++)
		if (*p == '-')
			*p = '_';
	return 0;
}

static size_t symbols_count_of(const struct module *m)
{
	return m->symbols ? symbols_count(m->symbols) : 0;
}

/* Take the names of --kallsyms, for a kernel that has none of its own, or find those of the
 * kernel's build-id. */
static void from_kernel(struct tables *t, struct module *m)
{
	struct error e = {.what = "the trace has no kallsyms (see --kallsyms)"};

	if (t->options.kernel) {
		m->symbols = t->options.kernel;
		m->own = false;
		m->origin = "option";
	} else if (m->path[0] == '[' && m->build_id[0]) {
		m->symbols = kernel_symbols_find(m->build_id, t->options.sysroot, &e);
		m->own = true;
		m->origin = m->symbols ? "kernel" : "none";
	}
	m->kernel = m->symbols;
	if (m->kernel)
		m->text = symbols_kernel_text(m->symbols);
	snprintf(m->why, sizeof(m->why), "%s", m->symbols ? "" : e.what);
}

/* Take the names of the kernel that has the module, if its table is that of the recorded boot. */
static void from_kernel_of(struct tables *t, const struct space *space, struct module *m)
{
	for (size_t i = 0; i < space->nmaps; i++) {
		const struct map *map = &space->maps[i];
		struct module *k;

		if (strncmp(map->path.text, "[kernel.", 8) || !map->build_id.size)
			continue;
		k = tables_module(t, space, map);
		if (!k || !k->kernel || map->start - map->offset != k->text)
			continue;
		m->symbols = k->symbols;
		m->kernel = true;
		m->own = false;
		m->origin = k->origin;
		m->why[0] = '\0';
		return;
	}
}

/* Load the table of a new module. Returns 0, or -1 when out of memory. */
static int load_module(struct tables *t, const struct space *space, struct module *m)
{
	bool kernel = space->flags & SPACE_KERNEL;
	bool is_module = kernel && !m->table[0] && is_kernel_module(m->path);

	if (m->table[0] && from_stream(t, m))
		return -1;
	if (!m->table[0] && (!kernel || is_module))
		from_file(t, m, is_module);
	if (is_module && show_module(m))
		return -1;
	if (!kernel || symbols_count_of(m))
		return 0;
	if (m->own)
		symbols_free((struct symbols *)m->symbols);
	m->own = false;
	m->symbols = NULL;
	m->from_text = false;
	if (t->options.kernel || (!is_module && !m->why[0]))
		from_kernel(t, m);
	else if (is_module)
		from_kernel_of(t, space, m);
	return 0;
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
	m = calloc(1, sizeof(*m));
	if (ARRAY_GROW(t->modules, t->modules_capacity, t->nmodules) || !m) {
		free(m);
		return NULL;
	}
	modules = t->modules;
	*m = (struct module){.path = map->path.text,
			     .build_id = map->build_id.text,
			     .table = map->table.text,
			     .source = space->source->number,
			     .origin = "none"};
	modules[t->nmodules++] = m;
	return load_module(t, space, m) ? NULL : m;
}

const char *tables_name(struct tables *t, struct module *m, const struct symbol *symbol)
{
	size_t i = (size_t)(symbol - symbols_at(m->symbols, 0));

	if (t->options.style == DEMANGLE_NO)
		return symbol->name;
	if (!m->names)
		m->names = calloc(symbols_count(m->symbols), sizeof(*m->names));
	if (!m->names)
		return NULL;
	if (!m->names[i])
		m->names[i] = demangle(symbol->name, t->options.style);
	return m->names[i];
}

/* --- source lines --- */

/* Find the .dbg that belongs to the module's .sym, if the stream has it. Returns 0, or -1 when
 * out of memory. */
static int recorded_lines(struct tables *t, struct module *m)
{
	size_t n = strlen(m->table);
	struct buffer name = {0};
	struct carried *c = NULL;

	if (n < 5 || strcmp(m->table + n - 4, ".sym"))
		return 0;
	if (buffer_printf(&name, "%.*s.dbg", (int)(n - 4), m->table))
		return -1;
	c = find_carried(t, m->source, (char *)name.data, n, false);
	buffer_free(&name);
	if (!c || c->referred || (c->text.size < c->total && !c->parsed))
		return 0;
	if (!c->parsed) {
		c->parsed = true;
		if (recorded_lines_read(&c->lines, (char *)c->text.data, c->text.size))
			return -1;
		buffer_free(&c->text);
	}
	m->recorded = c->lines.count ? &c->lines : NULL;
	return 0;
}

/* Open the file's debug information; if too many are open, close one. */
static void open_debug(struct tables *t, struct module *m)
{
	struct module **slot = &t->open[t->opened++ % OPEN_MAX_FILES];
	struct error e = {.what = ""};

	if (*slot) {
		debug_info_close((*slot)->debug);
		(*slot)->debug = NULL;
	}
	*slot = m;
	m->debug = debug_info_open(m->path, t->options.sysroot, m->build_id[0] ? m->build_id : NULL,
				   (uint32_t)t->opened, &e);
	if (m->debug)
		return;
	*slot = NULL;
	m->without_lines = true;
	snprintf(m->why_lines, sizeof(m->why_lines), "%s", e.what);
}

/* Open the file's debug information if it is not open. */
static bool has_debug(struct tables *t, struct module *m)
{
	if (!m->debug && !m->without_lines && m->path[0] != '[')
		open_debug(t, m);
	return m->debug;
}

enum outcome tables_line(struct tables *t, struct module *m, uint64_t address, uint64_t base,
			 struct source_frame *f)
{
	const struct recorded_line *line;

	*f = (struct source_frame){0};
	if (m->path[0] == '[')
		return OUTCOME_NO;
	if (!m->recorded && !m->debug && recorded_lines(t, m))
		return OUTCOME_FAILED;
	if (m->recorded) {
		/* as for symbols: lines recorded with the trace are not mixed with others */
		line = recorded_lines_find(m->recorded, address);
		if (line)
			*f = (struct source_frame){.file = line->file, .line = line->line};
		return line ? OUTCOME_YES : OUTCOME_NO;
	}
	return has_debug(t, m) ? debug_info_function(m->debug, address - base, f) : OUTCOME_NO;
}

int tables_frames(struct tables *t, struct module *m, uint64_t address, struct source_frame *frames,
		  size_t most)
{
	return has_debug(t, m)
		       ? debug_info_frames(m->debug, address, t->options.lines, frames, most)
		       : 0;
}

size_t tables_count(const struct tables *t)
{
	return t->nmodules;
}

const struct module *tables_at(const struct tables *t, size_t i)
{
	return t->modules[i];
}

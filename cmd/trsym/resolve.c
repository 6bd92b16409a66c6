/*
 * resolve.c - the symbols of a stream, and what they resolve
 */
#include "cmd/trsym/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/stream/dictionary.h"
#include "common/symbols/symbols.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/lines.h"

static void recorded_lines_free(struct recorded_lines *r);
static struct module *tables_module(struct tables *t, const struct space *space,
				    const struct map *map);

/* Return the location of an id of the stream, if the location can have a symbol. */
static const struct location *resolve_location_of(const struct dictionary *d, uint32_t id)
{
	const struct location *p = dictionary_location(d, idmap_get(&d->ids[ENTRY_LOCATION], id));

	/* other locations are named by their source, or are inlined functions */
	return p && p->space && !p->name.size ? p : NULL;
}

static int resolve_send_symbol(struct stage *s, uint32_t id, const struct symbol_entry *symbol)
{
	return writer_pass_symbol(&s->out, id, symbol) ? stage_fail(s, &s->out.error) : 0;
}

static bool resolve_is_same(const struct location_symbol *theirs, const struct symbol_entry *ours)
{
	return theirs->name.size == ours->name_size &&
	       !memcmp(theirs->name.text, ours->name, ours->name_size) &&
	       theirs->module.size == ours->module_size &&
	       !memcmp(theirs->module.text, ours->module, ours->module_size) &&
	       theirs->file.size == ours->file_size &&
	       !(ours->file_size && memcmp(theirs->file.text, ours->file, ours->file_size)) &&
	       theirs->line == ours->line && theirs->start == ours->start &&
	       theirs->size == ours->size && theirs->flags == ours->flags;
}

/* Keep the line that an earlier trsym found for the same function, if this program finds none. */
static void keep_line(const struct location_symbol *theirs, struct symbol_entry *ours)
{
	if (ours->file_size || theirs->start != ours->start || theirs->size != ours->size)
		return;
	ours->line = theirs->line;
	ours->file = theirs->file.text;
	ours->file_size = theirs->file.size;
}

int add_symbols(struct stage *s, struct resolver *r, const struct block *b)
{
	struct dictionary *d = &s->in.dictionary;
	const struct location *p;
	struct symbol_entry symbol;
	size_t at = 0;
	uint32_t id;

	while (entry_next_of(ENTRY_LOCATION, b->payload, b->length, &at, &id)) {
		p = resolve_location_of(d, id);
		if (!p)
			continue;
		if (resolve(r, p, !p->symbol, &symbol) == OUTCOME_FAILED)
			return stage_no_memory(s);
		if (p->symbol)
			keep_line(p->symbol, &symbol);
		if (resolve_send_symbol(s, id, &symbol))
			return -1;
	}
	for (at = 0; entry_next_of(ENTRY_SYMBOL, b->payload, b->length, &at, &id);) {
		enum outcome got;

		p = resolve_location_of(d, id);
		if (!p || !p->symbol)
			continue;
		got = resolve(r, p, false, &symbol);
		if (got == OUTCOME_FAILED)
			return stage_no_memory(s);
		if (got == OUTCOME_NO)
			symbol = declare_symbol(p->symbol);
		else if (resolve_is_same(p->symbol, &symbol))
			continue;
		else
			keep_line(p->symbol, &symbol);
		if (resolve_send_symbol(s, id, &symbol))
			return -1;
	}
	return 0;
}

/* --- function names --- */

void function_names_free(struct function_names *f)
{
	id_cache_free(&f->numbers);
	intern_free(&f->shown);
}

uint32_t function_names_find(struct function_names *f, const struct source_frame *frame)
{
	const char *function = frame->function ? frame->function : "?";
	struct recent_name *recent = &f->recent[hash_u64(frame->id) % NAMES_RECENT];
	uint32_t *known, number;
	char *name;

	if (frame->id && recent->id == frame->id)
		return recent->number;
	known = id_cache_number(&f->numbers, function, strlen(function));
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		name = demangle(function, f->style);
		number = name ? intern_string(&f->shown, name) : INTERN_NONE;
		free(name);
		if (number == INTERN_NONE)
			return number;
		*known = number + 1;
	}
	*recent = (struct recent_name){frame->id, *known - 1};
	return recent->number;
}

/* --- kallsyms --- */

/* bytes. A kernel has some 10 MB of symbols. */
enum { SIZE_MAX_READ = 1 << 30, PIECE = 1 << 16 };

struct kallsyms_source {
	bool has_own;
	bool sent;
};

static int resolve_read_file(const char *path, struct buffer *b, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return error_errno(e, path, NO_OFFSET, "cannot open");
	while (n > 0) {
		if (b->size > SIZE_MAX_READ || buffer_reserve(b, PIECE)) {
			close(fd);
			return error_set(e, path, NO_OFFSET, "too large");
		}
		do
			n = read(fd, b->data + b->size, PIECE);
		while (n < 0 && errno == EINTR);
		if (n > 0)
			b->size += (size_t)n;
	}
	if (n < 0)
		error_errno(e, path, NO_OFFSET, "cannot read");
	close(fd);
	return n < 0 ? -1 : 0;
}

int kallsyms_read(struct kallsyms *k, const char *path, struct error *e)
{
	if (resolve_read_file(path, &k->text, e))
		return -1;
	k->symbols = symbols_from_kallsyms((const char *)k->text.data, k->text.size);
	if (!k->symbols)
		return error_set(e, path, NO_OFFSET, "out of memory");
	if (symbols_hidden(k->symbols))
		return error_set(
			e, path, NO_OFFSET,
			"every address is 0: copy the file as root (see kernel.kptr_restrict)");
	if (!symbols_count(k->symbols))
		return error_set(e, path, NO_OFFSET, "not a copy of /proc/kallsyms");
	return 0;
}

void kallsyms_free(struct kallsyms *k)
{
	buffer_free(&k->text);
	symbols_free(k->symbols);
	free(k->sources);
	free(k->pending);
	*k = (struct kallsyms){0};
}

static struct kallsyms_source *resolve_source_of(struct kallsyms *k, uint32_t number)
{
	struct kallsyms_source *sources;

	if (ARRAY_REACH(k->sources, k->nsources, number))
		return NULL;
	sources = k->sources;
	return &sources[number];
}

int kallsyms_meta(struct kallsyms *k, const struct meta *m)
{
	struct kallsyms_source *source;

	if (!k->symbols || m->name_size != 8 || memcmp(m->name, "kallsyms", 8))
		return 0;
	source = resolve_source_of(k, m->source);
	if (!source)
		return -1;
	source->has_own = true;
	return 0;
}

int kallsyms_declared(struct kallsyms *k, const struct block *b)
{
	size_t at = 0;
	uint32_t id;

	while (k->symbols && entry_next_of(ENTRY_SOURCE, b->payload, b->length, &at, &id)) {
		uint32_t *pending;

		if (ARRAY_GROW(k->pending, k->capacity, k->npending))
			return -1;
		pending = k->pending;
		pending[k->npending++] = id;
	}
	return 0;
}

int kallsyms_send(struct kallsyms *k, struct writer *w, const struct dictionary *d)
{
	for (size_t i = 0; i < k->npending; i++) {
		uint32_t number = idmap_get(&d->ids[ENTRY_SOURCE], k->pending[i]);
		const struct source *source = number ? pool_at(&d->sources, number) : NULL;
		struct kallsyms_source *state;

		if (!source || strcmp(source->format.text, "trace-cmd"))
			continue;
		state = resolve_source_of(k, number);
		if (!state)
			return error_set(&w->error, NULL, NO_OFFSET, "out of memory");
		if (state->has_own)
			continue;
		if (writer_pass_meta(w, k->pending[i], "kallsyms", k->text.data, k->text.size,
				     state->sent))
			return -1;
		state->sent = true;
	}
	k->npending = 0;
	return 0;
}

int kallsyms_check(const struct kallsyms *k, const struct dictionary *d, struct error *e)
{
	for (uint32_t i = 1; i < d->spaces.count; i++)
		if (((const struct space *)pool_at(&d->spaces, i))->flags & SPACE_KERNEL)
			return 0;
	for (uint32_t i = 1; i < d->sources.count; i++)
		if (!strcmp(((const struct source *)pool_at(&d->sources, i))->format.text,
			    "trace-cmd"))
			return 0;
	if (!k->symbols || d->sources.count < 2)
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--kallsyms has no effect: this trace has no kernel");
}

/* --- kernel symbols --- */

/* Read the symbols of a copy of kallsyms. NULL with e filled: there is no usable copy. */
static struct symbols *from_copy(const char *path, struct error *e)
{
	struct kallsyms copy = {0};
	struct symbols *s = NULL;

	if (!kallsyms_read(&copy, path, e)) {
		s = copy.symbols;
		copy.symbols = NULL;
	}
	kallsyms_free(&copy);
	return s;
}

/* Test whether the kernel that runs now has the build-id. */
static bool is_running(const char *build_id)
{
	char running[ELF_BUILD_ID_MAX];

	return elf_build_id_of_kernel(running) && !strcmp(running, build_id);
}

static struct symbols *from_perf(const char *build_id, const char *sysroot)
{
	char *path = elf_perf_copy(build_id, "kallsyms", sysroot);
	struct symbols *s = NULL;
	struct error e;

	if (path)
		s = from_copy(path, &e);
	free(path);
	return s;
}

/* Read a vmlinux: that of the release that runs, or one that is found by its build-id. */
static struct symbols *from_vmlinux(const char *build_id, const char *sysroot, struct error *e)
{
	static const char *const paths[] = {"/boot/vmlinux-%s", "/usr/lib/debug/boot/vmlinux-%s",
					    "/usr/lib/debug/lib/modules/%s/vmlinux",
					    "/lib/modules/%s/build/vmlinux"};
	struct utsname name;
	char path[sizeof name.release + 64];
	struct symbols *s = NULL;

	if (uname(&name))
		strcpy(name.release, "");
	for (size_t i = 0; !s && i < sizeof(paths) / sizeof(*paths); i++) {
		snprintf(path, sizeof(path), paths[i], name.release);
		s = symbols_from_elf(path, sysroot, build_id, e);
	}
	return s;
}

/*
 * Find the symbols of the kernel with a build-id in lower case hex: /proc/kallsyms if this kernel
 * runs now and sysroot is NULL, the kallsyms that perf has copied to ~/.debug, or a vmlinux.
 * Addresses are absolute, or relative to the first symbol of a vmlinux, as symbols_kernel_text()
 * says. Returns NULL with e filled if there are none, or when out of memory.
 */
static struct symbols *kernel_symbols_find(const char *build_id, const char *sysroot,
					   struct error *e)
{
	struct error hidden = {.what = ""}, other;
	struct symbols *s = NULL;

	if (!sysroot && is_running(build_id))
		s = from_copy("/proc/kallsyms", &hidden);
	if (!s)
		s = from_perf(build_id, sysroot);
	if (!s)
		s = from_vmlinux(build_id, sysroot, &other);
	if (!s && hidden.what[0])
		*e = hidden;
	else if (!s)
		error_set(e, NULL, NO_OFFSET,
			  "no kallsyms and no vmlinux of its build-id %s (see --kallsyms)",
			  build_id);
	return s;
}

/* --- recorded lines --- */

static int resolve_compare_lines(const void *a, const void *b)
{
	const struct recorded_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Add "14 p.c", the line of the function at the address. */
static int recorded_lines_add(struct recorded_lines *r, uint64_t address, const char *text)
{
	struct recorded_line *at;
	char *file;
	unsigned long line = strtoul(text, &file, 10);

	if (file == text || *file != ' ' || !file[1] || line > UINT32_MAX)
		return 0;
	if (ARRAY_GROW(r->at, r->capacity, r->count))
		return -1;
	at = r->at;
	at[r->count++] = (struct recorded_line){address, file + 1, (uint32_t)line};
	return 0;
}

/* Parse the lines of a text, which may have none. Returns 0, or -1 when out of memory. */
static int recorded_lines_read(struct recorded_lines *r, const char *text, size_t size)
{
	uint64_t address = 0;
	bool known = false;
	char *end;

	*r = (struct recorded_lines){.text = malloc(size + 1)};
	if (!r->text)
		return -1;
	memcpy(r->text, text, size);
	r->text[size] = '\0';
	for (struct lines l = lines_of(r->text, size); lines_next(&l);) {
		l.line[l.size] = '\0';
		if (!strncmp(l.line, "F: ", 3)) {
			address = strtoull(l.line + 3, &end, 16);
			known = end > l.line + 3;
		} else if (known && !strncmp(l.line, "L: ", 3) &&
			   recorded_lines_add(r, address, l.line + 3)) {
			recorded_lines_free(r);
			return -1;
		}
	}
	if (r->count)
		qsort(r->at, r->count, sizeof *r->at, resolve_compare_lines);
	return 0;
}

/* Return the line of the function that begins at the address, or NULL. */
static const struct recorded_line *recorded_lines_find(const struct recorded_lines *r,
						       uint64_t address)
{
	const struct recorded_line wanted = {.address = address};

	return r->count ? bsearch(&wanted, r->at, r->count, sizeof *r->at, resolve_compare_lines)
			: NULL;
}

static void recorded_lines_free(struct recorded_lines *r)
{
	free(r->at);
	free(r->text);
	*r = (struct recorded_lines){0};
}

/* --- tables --- */

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
static struct carried *resolve_find_carried(struct tables *t, uint32_t source, const char *name,
					    size_t n, bool add)
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
	c = resolve_find_carried(t, m->source, m->name, m->name_size, true);
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
	struct carried *c = resolve_find_carried(t, m->source, m->table, strlen(m->table), false);

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
static bool resolve_is_kernel_module(const char *path)
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
	bool is_module = kernel && !m->table[0] && resolve_is_kernel_module(m->path);

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

/* Return the module of a mapping, its table loaded. NULL when out of memory. */
static struct module *tables_module(struct tables *t, const struct space *space,
				    const struct map *map)
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

/* Return the displayed name of a symbol of the module. NULL when out of memory. */
static const char *tables_name(struct tables *t, struct module *m, const struct symbol *symbol)
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
	c = resolve_find_carried(t, m->source, (char *)name.data, n, false);
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

/*
 * Find the declaration of the function that begins at the address. The address is that of
 * its symbol; base: what to subtract for an address relative to the module's base. Texts in *f are
 * valid until the next call.
 */
static enum outcome tables_line(struct tables *t, struct module *m, uint64_t address, uint64_t base,
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

/* Find the functions at an address relative to the module's base, as debug_info_frames does. */
static int tables_frames(struct tables *t, struct module *m, uint64_t address,
			 struct source_frame *frames, size_t most)
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

/* --- resolve --- */

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

static int resolve_by_start(const void *a, const void *b, void *maps)
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
	qsort_r(mapped, x->nmapped, sizeof(*mapped), resolve_by_start, space->maps);
	qsort_r(loaded, x->nloaded, sizeof(*loaded), by_epoch, space->maps);
	x->nmaps = space->nmaps;
	return 0;
}

static const struct space_index *resolve_index_of(struct resolver *r, const struct space *space)
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
static const struct map *resolve_mapping_of(const struct space_index *x, const struct location *p)
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
static int resolve_add_line(struct resolver *r, const struct map *map, struct module *m,
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
	return r->lines && resolve_add_line(r, map, *module, symbol, s) ? OUTCOME_FAILED
									: OUTCOME_YES;
}

enum outcome resolve(struct resolver *r, const struct location *p, bool count,
		     struct symbol_entry *s)
{
	const struct space_index *x = resolve_index_of(r, p->space);
	struct symbol_entry elsewhere = {0};
	struct module *module = NULL, *missed = NULL;
	const struct map *map;
	enum outcome got;

	*s = (struct symbol_entry){.flags = SYMBOL_UNKNOWN};
	if (!x)
		return OUTCOME_FAILED;
	map = resolve_mapping_of(x, p);
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
	const struct space_index *x = resolve_index_of(r, p->space);
	uint64_t address = p->address - caller;
	const struct map *map;
	int n = 0;

	if (!x)
		return -1;
	map = resolve_mapping_of(x, p);
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

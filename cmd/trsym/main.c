/*
 * main.c - trsym: add symbols to the locations of a stream
 *
 *     ./p 5 1000 <7f31c2a41139>      a location: an address in the mapping of /usr/bin/p
 *     ./p 5 1000 main (p)            the same location with its symbol
 *
 * Each distinct location is resolved once, when it is declared; events are passed through.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/cli/stage.h"
#include "common/stream/dictionary.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "common/symbols/debug_info.h"
#include "common/symbols/demangle.h"
#include "common/symbols/symbols.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/lines.h"
#include "common/util/screen.h"
#include "common/util/text.h"
#include "common/value/aligned.h"

/* The options. */
struct sym_settings {
	enum demangle_style style;
	const char *sysroot; /* NULL: / */
	const char *kallsyms;
	char *exe;  /* path of the program that traces do not name; NULL: not given */
	bool lines; /* source lines; the line of a frame of a recorded stack is that of its code */
	bool inlined; /* inlined functions */
	bool report;
};

/*
 * --- the kernel's symbols from a file that the user names: /proc/kallsyms ---
 *
 * Functions return 0, or -1 when out of memory, unless noted.
 */

/* bytes. A kernel has some 10 MB of symbols. */
enum { SIZE_MAX_READ = 1 << 30, PIECE = 1 << 16 };

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

/* A copy of /proc/kallsyms. Zero-initialised: there is no copy. */
struct kallsyms {
	struct buffer text;
	struct symbols *symbols; /* NULL: there is no copy */
	struct {
		bool has_own, sent; /* a table of its own; the copy */
	} * sources;		    /* by number */
	size_t nsources;
	uint32_t *pending; /* ids of sources that the segment has declared since the last event */
	size_t npending, capacity;
};

/* Read the file. Returns 0, or -1 with *e filled: the file cannot be read, has no function, or
 * was copied by a user without the right to see addresses. */
static int kallsyms_read(struct kallsyms *k, const char *path, struct error *e)
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

static void kallsyms_free(struct kallsyms *k)
{
	buffer_free(&k->text);
	symbols_free(k->symbols);
	free(k->sources);
	free(k->pending);
	*k = (struct kallsyms){0};
}

/* Note a META block of a source. */
static int kallsyms_meta(struct kallsyms *k, const struct meta *m)
{
	if (!k->symbols || m->name_size != 8 || memcmp(m->name, "kallsyms", 8))
		return 0;
	if (ARRAY_REACH(k->sources, k->nsources, m->source))
		return -1;
	k->sources[m->source].has_own = true;
	return 0;
}

/* Note the sources that a DICT block declares. */
static int kallsyms_declared(struct kallsyms *k, const struct block *b)
{
	size_t at = 0;
	uint32_t id;

	while (k->symbols && entry_next_of(ENTRY_SOURCE, b->payload, b->length, &at, &id)) {
		if (ARRAY_GROW(k->pending, k->capacity, k->npending))
			return -1;
		k->pending[k->npending++] = id;
	}
	return 0;
}

/*
 * Give the table to trace-cmd sources without a table of their own, before their events: programs
 * that print addresses of fields then have the names too. Returns 0, or -1 with w->error filled.
 */
static int kallsyms_send(struct kallsyms *k, struct writer *w, const struct dictionary *d)
{
	for (size_t i = 0; i < k->npending; i++) {
		uint32_t number = idmap_get(&d->ids[ENTRY_SOURCE], k->pending[i]);
		const struct source *source = number ? pool_at(&d->sources, number) : NULL;

		if (!source || strcmp(source->format.text, "trace-cmd"))
			continue;
		if (ARRAY_REACH(k->sources, k->nsources, number))
			return error_no_memory(&w->error);
		if (k->sources[number].has_own)
			continue;
		if (writer_pass_meta(w, k->pending[i], "kallsyms", k->text.data, k->text.size,
				     k->sources[number].sent))
			return -1;
		k->sources[number].sent = true;
	}
	k->npending = 0;
	return 0;
}

/* Refuse the file if no source has a kernel. Returns 0, or -1 with e filled. */
static int kallsyms_check(const struct kallsyms *k, const struct dictionary *d, struct error *e)
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

/* Refuse --exe if each mapping has a path. Returns 0, or -1 with e filled. */
static int exe_check(const struct dictionary *d, struct error *e)
{
	for (uint32_t i = 1; i < d->spaces.count; i++) {
		const struct space *space = pool_at(&d->spaces, i);

		for (size_t k = 0; k < space->nmaps; k++)
			if (!space->maps[k].path.size)
				return 0;
	}
	return d->sources.count < 2
		       ? 0
		       : error_set(e, NULL, NO_OFFSET,
				   "--exe has no effect: this trace names its programs");
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

/*
 * --- the source lines of functions that uftrace record --srcline recorded ---
 *
 * A .dbg file: "F: ADDRESS NAME" begins a function, "L: LINE FILE" is its declaration. Other lines
 * are about arguments.
 */

struct recorded_line {
	uint64_t address; /* of the function, relative to the module's base */
	const char *file; /* points into the text */
	uint32_t line;
};

/* A table or lines in the stream: see tables_meta. */
struct carried {
	struct buffer text; /* of a table: until it is parsed */
	uint64_t total;
	bool referred; /* an earlier segment has the table */
	bool parsed;
	bool cut; /* a piece of the table is missing */
	struct symbols *symbols;
	struct recorded_line *lines; /* of a .dbg */
	size_t nlines, capacity;
};

static int resolve_compare_lines(const void *a, const void *b)
{
	const struct recorded_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Add "14 p.c", the line of the function at the address. */
static int recorded_lines_add(struct carried *c, uint64_t address, const char *text)
{
	char *file;
	unsigned long line = strtoul(text, &file, 10);

	if (file == text || *file != ' ' || !file[1] || line > UINT32_MAX)
		return 0;
	if (ARRAY_GROW(c->lines, c->capacity, c->nlines))
		return -1;
	c->lines[c->nlines++] = (struct recorded_line){address, file + 1, (uint32_t)line};
	return 0;
}

/* Parse the lines of the text, which may have none. Returns 0, or -1 when out of memory. */
static int recorded_lines_read(struct carried *c)
{
	size_t size = c->text.size;
	uint64_t address = 0;
	bool known = false;
	char *end;

	c->parsed = true;
	if (buffer_u8(&c->text, '\0'))
		return -1;
	for (struct lines l = lines_of((char *)c->text.data, size); lines_next(&l);) {
		l.line[l.size] = '\0';
		if (!strncmp(l.line, "F: ", 3)) {
			address = strtoull(l.line + 3, &end, 16);
			known = end > l.line + 3;
		} else if (known && !strncmp(l.line, "L: ", 3) &&
			   recorded_lines_add(c, address, l.line + 3)) {
			return -1;
		}
	}
	if (c->nlines)
		qsort(c->lines, c->nlines, sizeof *c->lines, resolve_compare_lines);
	return 0;
}

/*
 * --- symbol tables that the stream contains, and those of files on disk ---
 *
 * A META block whose name ends in ".sym" is a table in uftrace's form, one named "kallsyms" is a
 * table of the kernel's, and one whose name ends in ".dbg" has source lines as uftrace writes them.
 * Each is parsed when a location first needs it.
 */

/* Files whose debug information is open at a time. */
enum { OPEN_MAX_FILES = 64 };

/* A module of a mapping, with its symbols and how many locations have one. The texts of path,
 * build_id and table are the stream's. */
struct module {
	const char *path, *build_id, *table;
	char *shown; /* name of a kernel module, "[ext4]", of which the path is that of a file;
			NULL: the path is shown */
	uint32_t source;
	const struct symbols *symbols; /* NULL: none exist */
	bool own;		       /* the table is of this module alone, not of several */
	bool kernel;		/* the table is one of a kernel, which the trace does not have */
	bool from_text;		/* the table is that of a kernel module's file */
	uint64_t text;		/* kernel: result of symbols_kernel_text */
	char **names;		/* demangled, by number of the symbol; NULL: not yet demangled */
	const char *origin;	/* "stream", "file", "kernel", "option" or "none" */
	char why[600];		/* why there are no symbols, or not all */
	uint64_t found, missed; /* numbers of locations */
	/* source lines */
	const struct recorded_line *recorded; /* those of the stream; NULL: none */
	size_t nrecorded;
	struct debug_info *debug; /* NULL: not open */
	bool without_lines;	  /* no lines exist */
	char why_lines[600];
	uint64_t lines; /* locations that have a line */
};

/* What finds the symbols of locations. Zero-initialised but for the settings is empty. */
struct resolver {
	const struct sym_settings *settings;
	const struct symbols *kernel; /* for kernels without a table in the stream; may be NULL */
	struct intern carried_names;  /* by source and name */
	struct carried *carried;
	size_t carried_capacity;
	struct module **modules;
	size_t nmodules, modules_capacity;
	struct intern keys;		     /* keys of modules */
	struct module *open[OPEN_MAX_FILES]; /* modules whose debug information is open */
	unsigned opened;		     /* their number */
	struct space_index *spaces;	     /* by number of the space */
	size_t nspaces;
	uint64_t unmapped; /* locations that are in no module */
};

/* Find the table of that name, or add it if `add`; NULL: there is none, or out of memory. */
static struct carried *resolve_find_carried(struct resolver *t, uint32_t source, const char *name,
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

static bool is_table(const struct resolver *t, const char *name, size_t n)
{
	return (n > 4 && !memcmp(name + n - 4, ".sym", 4)) ||
	       (t->settings->lines && n > 4 && !memcmp(name + n - 4, ".dbg", 4)) ||
	       (n == 8 && !memcmp(name, "kallsyms", 8));
}

/* Add a piece of a META block. Returns 0, or -1 when out of memory. */
static int tables_meta(struct resolver *t, const struct meta *m)
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

static int from_stream(struct resolver *t, struct module *m)
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

/* Test whether it is the path or the name of a kernel module, such as "[ext4]". */
static bool resolve_is_kernel_module(const char *path)
{
	return path[0] == '/' || (path[0] == '[' && strncmp(path, "[kernel", 7) != 0);
}

/* Get the directory below which the file of a module is; NULL: / */
static const char *module_sysroot(const struct resolver *t, const struct module *m)
{
	return m->path == t->settings->exe ? NULL : t->settings->sysroot;
}

static void from_file(struct resolver *t, struct module *m, bool kernel)
{
	struct error e = {.what = ""};
	const char *path = m->path[0] == '/' ? m->path : kernel ? "/[module]" : "/[vdso]";

	/* the vdso, and a module of which perf has found no file, may be found by the build-id */
	if (m->path[0] != '/' && !m->build_id[0]) {
		snprintf(m->why, sizeof(m->why), "%s%s",
			 m->path[0] ? "no file" : "the trace does not name its program (see --exe)",
			 kernel ? " (see --kallsyms)" : "");
		return;
	}
	m->symbols = symbols_from_elf(path, module_sysroot(t, m),
				      m->build_id[0] ? m->build_id : NULL, &e);
	m->own = m->symbols;
	m->from_text = kernel && m->symbols;
	if (m->symbols)
		m->origin = "file";
	else
		snprintf(m->why, sizeof(m->why), "%s%s", e.what,
			 kernel			? " (see --kallsyms)"
			 : t->settings->sysroot ? ""
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

/* Take the names of --kallsyms, for a kernel that has none of its own, or find those of the
 * kernel's build-id. */
static void from_kernel(struct resolver *t, struct module *m)
{
	struct error e = {.what = "the trace has no kallsyms (see --kallsyms)"};

	if (t->kernel) {
		m->symbols = t->kernel;
		m->own = false;
		m->origin = "option";
	} else if (m->path[0] == '[' && m->build_id[0]) {
		m->symbols = kernel_symbols_find(m->build_id, t->settings->sysroot, &e);
		m->own = true;
		m->origin = m->symbols ? "kernel" : "none";
	}
	m->kernel = m->symbols;
	if (m->kernel)
		m->text = symbols_kernel_text(m->symbols);
	snprintf(m->why, sizeof(m->why), "%s", m->symbols ? "" : e.what);
}

static struct module *tables_module(struct resolver *t, const struct space *space,
				    const struct map *map);

/* Take the names of the kernel that has the module, if its table is that of the recorded boot. */
static void from_kernel_of(struct resolver *t, const struct space *space, struct module *m)
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
static int load_module(struct resolver *t, const struct space *space, struct module *m)
{
	bool kernel = space->flags & SPACE_KERNEL;
	bool is_module = kernel && !m->table[0] && resolve_is_kernel_module(m->path);

	if (m->table[0] && from_stream(t, m))
		return -1;
	if (!m->table[0] && (!kernel || is_module))
		from_file(t, m, is_module);
	if (is_module && show_module(m))
		return -1;
	if (!kernel || (m->symbols && symbols_count(m->symbols)))
		return 0;
	if (m->own)
		symbols_free((struct symbols *)m->symbols);
	m->own = false;
	m->symbols = NULL;
	m->from_text = false;
	if (t->kernel || (!is_module && !m->why[0]))
		from_kernel(t, m);
	else if (is_module)
		from_kernel_of(t, space, m);
	return 0;
}

/* Get the module of a mapping, its table loaded. NULL when out of memory. */
static struct module *tables_module(struct resolver *t, const struct space *space,
				    const struct map *map)
{
	uint32_t key[] = {space->source->number, map->path.number, map->build_id.number,
			  map->table.number};
	uint32_t number = intern(&t->keys, key, sizeof(key));
	struct module *m;

	if (number == INTERN_NONE)
		return NULL;
	if (number < t->nmodules)
		return t->modules[number];
	m = calloc(1, sizeof(*m));
	if (ARRAY_GROW(t->modules, t->modules_capacity, t->nmodules) || !m) {
		free(m);
		return NULL;
	}
	*m = (struct module){.path = map->path.text,
			     .build_id = map->build_id.text,
			     .table = map->table.text,
			     .source = space->source->number,
			     .origin = "none"};
	t->modules[t->nmodules++] = m;
	if (t->settings->exe && !map->path.size) {
		m->path = t->settings->exe;
		m->shown = strdup(m->path);
		if (!m->shown)
			return NULL;
	}
	return load_module(t, space, m) ? NULL : m;
}

/* Get the displayed name of a symbol of the module. NULL when out of memory. */
static const char *tables_name(struct resolver *t, struct module *m, const struct symbol *symbol)
{
	size_t i = (size_t)(symbol - symbols_at(m->symbols, 0));

	if (t->settings->style == DEMANGLE_NO)
		return symbol->name;
	if (!m->names)
		m->names = calloc(symbols_count(m->symbols), sizeof(*m->names));
	if (!m->names)
		return NULL;
	if (!m->names[i])
		m->names[i] = demangle(symbol->name, t->settings->style);
	return m->names[i];
}

/* --- source lines --- */

/* Find the .dbg that belongs to the module's .sym, if the stream has it. Returns 0, or -1 when
 * out of memory. */
static int recorded_lines(struct resolver *t, struct module *m)
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
	if (!c->parsed && recorded_lines_read(c))
		return -1;
	m->recorded = c->lines;
	m->nrecorded = c->nlines;
	return 0;
}

/* Open the file's debug information; if too many are open, close one. */
static void open_debug(struct resolver *t, struct module *m)
{
	struct module **slot = &t->open[t->opened++ % OPEN_MAX_FILES];
	struct error e = {.what = ""};

	if (*slot) {
		debug_info_close((*slot)->debug);
		(*slot)->debug = NULL;
	}
	*slot = m;
	m->debug = debug_info_open(m->path, module_sysroot(t, m),
				   m->build_id[0] ? m->build_id : NULL, (uint32_t)t->opened, &e);
	if (m->debug)
		return;
	*slot = NULL;
	m->without_lines = true;
	snprintf(m->why_lines, sizeof(m->why_lines), "%s", e.what);
}

/* Open the file's debug information if it is not open. */
static bool has_debug(struct resolver *t, struct module *m)
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
static enum outcome tables_line(struct resolver *t, struct module *m, uint64_t address,
				uint64_t base, struct source_frame *f)
{
	const struct recorded_line wanted = {.address = address}, *line;

	*f = (struct source_frame){0};
	if (m->path[0] == '[')
		return OUTCOME_NO;
	if (!m->recorded && !m->debug && recorded_lines(t, m))
		return OUTCOME_FAILED;
	if (m->recorded) {
		/* as for symbols: lines recorded with the trace are not mixed with others */
		line = bsearch(&wanted, m->recorded, m->nrecorded, sizeof wanted,
			       resolve_compare_lines);
		if (line)
			*f = (struct source_frame){.file = line->file, .line = line->line};
		return line ? OUTCOME_YES : OUTCOME_NO;
	}
	return has_debug(t, m) ? debug_info_function(m->debug, address - base, f) : OUTCOME_NO;
}

/* --- find the symbol of a location --- */

/* A space's mappings: those of the start by address, later ones with the latest first. */
struct space_index {
	uint32_t *mapped, *loaded; /* indexes of the space's maps */
	size_t nmapped, nloaded;
	size_t nmaps; /* number of the space's maps when the index was built */
};

static void resolver_free(struct resolver *r)
{
	for (size_t i = 0; i < r->nmodules; i++) {
		struct module *m = r->modules[i];

		for (size_t k = 0; m->names && k < symbols_count(m->symbols); k++)
			free(m->names[k]);
		free(m->names);
		if (m->own)
			symbols_free((struct symbols *)m->symbols);
		debug_info_close(m->debug);
		free(m->shown);
		free(m);
	}
	for (size_t i = 0; i < r->carried_capacity; i++) {
		buffer_free(&r->carried[i].text);
		symbols_free(r->carried[i].symbols);
		free(r->carried[i].lines);
	}
	intern_free(&r->carried_names);
	free(r->carried);
	free(r->modules);
	intern_free(&r->keys);
	for (size_t i = 0; i < r->nspaces; i++) {
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

	if (ARRAY_REACH(r->spaces, r->nspaces, space->number))
		return NULL;
	spaces = &r->spaces[space->number];
	if ((spaces->nmaps != space->nmaps || !spaces->mapped) && make_index(spaces, space))
		return NULL;
	return spaces;
}

/* Get the mapping of the start that contains the address, or NULL. */
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

static void set_line(struct symbol_entry *symbol, const struct source_frame *frame)
{
	if (!frame->file)
		return;
	symbol->file = frame->file;
	symbol->file_size = (uint32_t)strlen(frame->file);
	symbol->line = frame->line;
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
	got = tables_line(r, m, symbol->start, base, &f);
	if (got == OUTCOME_YES)
		set_line(s, &f);
	return got == OUTCOME_FAILED ? -1 : 0;
}

/* Get an address of the mapping as the module's file has it. */
static uint64_t address_in_file(const struct map *map, const struct module *m, uint64_t address)
{
	uint64_t offset = address - map->start + map->offset;

	if (!m->symbols || m->kernel)
		return offset;
	return map->flags & MAP_FILE_OFFSET ? symbols_address(m->symbols, offset)
	       : map->flags & MAP_ADDRESS   ? offset - symbols_base(m->symbols)
					    : offset;
}

/* Get what is to be subtracted from an address of the mapping for the address in the module's
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

	*module = tables_module(r, p->space, map);
	if (!*module)
		return OUTCOME_FAILED;
	set_module(s, map, *module);
	base = base_of(map, *module, p->address);
	symbol = (*module)->symbols ? symbols_find((*module)->symbols, p->address - base) : NULL;
	if (!symbol)
		return OUTCOME_NO;
	name = tables_name(r, *module, symbol);
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
	return r->settings->lines && resolve_add_line(r, map, *module, symbol, s) ? OUTCOME_FAILED
										  : OUTCOME_YES;
}

/*
 * Find the symbol of a location: in the mapping that contains its address, else in the modules
 * loaded since, the latest first, up to the location's epoch. OUTCOME_NO: *s has the module if it
 * is known, and SYMBOL_UNKNOWN. Texts in *s are valid until the next call. count: count the
 * location for the report.
 */
static enum outcome resolve(struct resolver *r, const struct location *p, bool count,
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
	struct module *module = tables_module(r, p->space, map);

	if (!module)
		return -1;
	/* in old recordings the symbols' addresses are absolute */
	address = map->table.size ? address - map->start : address_in_file(map, module, address);
	return has_debug(r, module)
		       ? debug_info_frames(module->debug, address, r->settings->lines, frames, most)
		       : 0;
}

/*
 * Find the functions whose code is at a location, or before it if the location is the return
 * address of a caller: as debug_info_frames does. The texts are valid until the next call.
 */
static int resolve_frames(struct resolver *r, const struct location *p, bool caller,
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

/* --- write each location with its symbol --- */

/* Get the location of an id of the stream, if the location can have a symbol. */
static const struct location *resolve_location_of(const struct dictionary *d, uint32_t id)
{
	const struct location *p = dictionary_location(d, idmap_get(&d->ids[ENTRY_LOCATION], id));

	/* other locations are named by their source, or are inlined functions */
	return p && p->space && !p->name.size ? p : NULL;
}

static int send_symbol(struct stage *s, uint32_t id, const struct symbol_entry *symbol)
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

/*
 * Write the locations that a DICT block declares, each followed by its symbol. The symbol that an
 * earlier trsym wrote for a location follows in a later block, before or after ours is read: the
 * better one is written again, ours if there is one. Returns 0, or -1 after stage_fail.
 */
static int add_symbols(struct stage *s, struct resolver *r, const struct block *b)
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
		if (send_symbol(s, id, &symbol))
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
		if (send_symbol(s, id, &symbol))
			return -1;
	}
	return 0;
}

/* --- inlined functions and source lines of the frames of recorded stacks --- */

/*
 * A frame of a recorded stack is an address. If functions were inlined there, the STACK is declared
 * again: the frame becomes one frame for each function, of which the outermost keeps the LOCATION
 * of the address. Each inlined function has a LOCATION of its own, with the same space and address
 * and with the name of the function. The address of a frame that called another one is a return
 * address, so the code before it is looked up.
 *
 * The ids of these declarations count down from 2^32 - 1. So the input must not contain inlined
 * functions already.
 */

enum { FRAMES_MOST = 64 }; /* of one address */

/* A STACK of the segment, as it was declared again. */
struct seen_stack {
	uint32_t id, location;
	uint32_t caller_stack; /* 1 + index of the stack of the caller; 0: none */
	uint32_t parent;       /* id of that stack, with inlined functions */
	uint32_t depth;	       /* frames of the input, with this one */
	uint32_t above;	       /* frames of the parent */
	uint32_t block; /* the DICT block that was passed before it was declared again; 0 none */
	/* the same stack where its frame is a caller: id (0: not yet known), frames */
	uint32_t as_caller, caller_frames;
	uint32_t plain; /* id of the stack without inlined functions; 0: not declared */
};

/* Zero-initialised but for the resolver is empty. */
struct stack_frames {
	struct resolver *resolver;
	/* the names that are shown of functions, each demangled once */
	struct id_cache numbers_shown; /* by function: 1 + number of the name in `shown` */
	struct key_map shown_by_id;    /* the same, by the id of struct source_frame */
	struct intern shown;
	bool present; /* the input has inlined functions: they are kept as they are */
	/* of the segment: */
	struct idmap spaces;  /* numbers of spaces: ids */
	struct idmap numbers; /* ids of stacks: 1 + index */
	struct idmap callers; /* ids of stacks that are callers of others in the block: 1 */
	struct idmap lines;   /* ids of locations that have the line of a frame: 1 + caller */
	struct seen_stack *stacks;
	size_t nstacks, capacity;
	struct idmap located; /* ids of locations: 1 + index in `chains` */
	/* the functions that are inlined at a location, where its frame is the innermost, and where
	 * it called another: 1 + offset in `links`, 0 not yet known; there, the location of the
	 * first link is the number of those that follow */
	uint32_t (*chains)[2];
	size_t nchains, chains_capacity;
	struct buffer links;  /* struct chain_link */
	struct idmap strings; /* by 1 + number in `shown`: ids */
	uint32_t blocks;
	uint32_t next_stack, next_location, next_string;
	struct buffer path;
};

/* A function that is inlined: the id of its location, and the number of its name in `shown`. */
struct chain_link {
	uint32_t location, name;
};

/* The functions that are inlined at an address, innermost first. */
struct inline_chain {
	uint32_t n;
	struct chain_link link[FRAMES_MOST];
};

static void stack_frames_free(struct stack_frames *f)
{
	id_cache_free(&f->numbers_shown);
	key_map_free(&f->shown_by_id);
	intern_free(&f->shown);
	idmap_free(&f->spaces);
	idmap_free(&f->numbers);
	idmap_free(&f->callers);
	idmap_free(&f->lines);
	free(f->stacks);
	idmap_free(&f->located);
	free(f->chains);
	idmap_free(&f->strings);
	buffer_free(&f->links);
	buffer_free(&f->path);
}

/* Find the name of a frame's function, "?" if that is not known. Returns its number in `shown`, or
 * INTERN_NONE when out of memory. */
static uint32_t function_name(struct stack_frames *f, const struct source_frame *frame)
{
	const char *function = frame->function ? frame->function : "?";
	uint32_t *by_id = frame->id ? key_map_number(&f->shown_by_id, frame->id) : NULL;
	uint32_t *known, number;
	char *name;

	if (by_id && *by_id)
		return *by_id - 1;
	known = id_cache_number(&f->numbers_shown, function, strlen(function));
	if (!known)
		return INTERN_NONE;
	if (!*known) {
		name = demangle(function, f->resolver->settings->style);
		number = name ? intern_string(&f->shown, name) : INTERN_NONE;
		free(name);
		if (number == INTERN_NONE)
			return number;
		*known = number + 1;
	}
	if (by_id)
		*by_id = *known;
	return *known - 1;
}

/* Test whether a program before this one added inlined functions. */
static bool has_inlined(const struct head *h)
{
	struct head_property p;

	for (size_t at = 0; head_next(h, &at, &p);) {
		if (p.key == HEAD_STAGE && p.size > 5 && !memcmp(p.data, "trsym", 5) &&
		    memmem(p.data, p.size, " --inline", 9))
			return true;
	}
	return false;
}

/* Begin a segment. */
static void stack_frames_begin(struct stack_frames *f, const struct head *h)
{
	idmap_clear(&f->spaces);
	idmap_clear(&f->numbers);
	idmap_clear(&f->lines);
	idmap_clear(&f->located);
	idmap_clear(&f->strings);
	buffer_clear(&f->links);
	f->nchains = 0;
	f->nstacks = 0;
	f->blocks = 0;
	f->next_stack = f->next_location = f->next_string = UINT32_MAX;
	f->present = has_inlined(h);
}

static int stack_frames_send_entry(struct stage *s, enum entry_kind kind, uint32_t id,
				   const void *content)
{
	return writer_append_content(&s->out, kind, id, content) ? stage_fail(s, &s->out.error) : 0;
}

/* Get the id of a text of `shown`, which is declared the first time. 0 after stage_fail. */
static uint32_t string_id(struct stack_frames *f, struct stage *s, uint32_t number)
{
	uint32_t id = idmap_get(&f->strings, number + 1);

	if (id)
		return id;
	id = f->next_string--;
	if (idmap_set(&f->strings, number + 1, id)) {
		stage_no_memory(s);
		return 0;
	}
	if (writer_append_entry(&s->out, ENTRY_STRING, id, intern_data(&f->shown, number),
				intern_size(&f->shown, number))) {
		stage_fail(s, &s->out.error);
		return 0;
	}
	return id;
}

/* Find a function in a chain. Returns the id of its location, 0: there is none. */
static uint32_t find_link(const struct inline_chain *c, uint32_t name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->link[i].name == name)
			return c->link[i].location;
	return 0;
}

/* Declare the location of a function that is inlined in the function outer at the address of p.
 * Returns its id, or 0 after stage_fail. */
static uint32_t add_location(struct stack_frames *f, struct stage *s, const struct location *p,
			     const struct symbol_entry *outer, const struct source_frame *frame,
			     uint32_t name)
{
	struct symbol_entry symbol = {.start = p->address,
				      .module = outer->module,
				      .module_size = outer->module_size,
				      .name = intern_data(&f->shown, name),
				      .name_size = intern_size(&f->shown, name)};
	struct location_entry e = {.space = idmap_get(&f->spaces, p->space->number),
				   .epoch = p->epoch,
				   .address = p->address,
				   .name = string_id(f, s, name)};

	if (!e.name)
		return 0;
	if (f->resolver->settings->lines)
		set_line(&symbol, frame);
	if (stack_frames_send_entry(s, ENTRY_LOCATION, f->next_location, &e) ||
	    send_symbol(s, f->next_location, &symbol))
		return 0;
	return f->next_location--;
}

/* Add the next function of a chain; other: that of the same location in the other place. Returns 0,
 * or -1 after stage_fail. */
static int stack_frames_add_link(struct stack_frames *f, struct stage *s, const struct location *p,
				 const struct symbol_entry *outer, const struct source_frame *frame,
				 struct inline_chain c[2])
{
	struct chain_link link = {.name = function_name(f, frame)};

	if (link.name == INTERN_NONE)
		return stage_no_memory(s);
	link.location = find_link(&c[0], link.name);
	if (!link.location)
		link.location = find_link(&c[1], link.name);
	if (!link.location)
		link.location = add_location(f, s, p, outer, frame, link.name);
	if (!link.location)
		return -1;
	c->link[c->n++] = link;
	return 0;
}

/* Look up the frames of a location, and declare what they need. c[0] is set; c[1]: the chain of the
 * location in the other place. Returns 0, or -1 after stage_fail. */
static int make_chain(struct stack_frames *f, struct stage *s, uint32_t id, bool caller,
		      struct inline_chain c[2])
{
	struct dictionary *d = &s->in.dictionary;
	const struct location *p = dictionary_location(d, idmap_get(&d->ids[ENTRY_LOCATION], id));
	struct source_frame frames[FRAMES_MOST];
	struct symbol_entry symbol;
	int n;

	c->n = 0;
	if (!p || !p->space || p->name.size || p->space->flags & SPACE_KERNEL)
		return 0;
	n = resolve_frames(f->resolver, p, caller, frames, FRAMES_MOST);
	if (n < 0 || resolve(f->resolver, p, false, &symbol) == OUTCOME_FAILED)
		return stage_no_memory(s);
	for (int i = 0; f->resolver->settings->inlined && i < n - 1; i++)
		if (stack_frames_add_link(f, s, p, &symbol, &frames[i], c))
			return -1;
	if (!n || !f->resolver->settings->lines || !frames[c->n].file ||
	    symbol.flags & SYMBOL_UNKNOWN || idmap_get(&f->lines, id))
		return 0;
	if (idmap_set(&f->lines, id, 1 + caller))
		return stage_no_memory(s);
	set_line(&symbol, &frames[c->n]);
	return send_symbol(s, id, &symbol);
}

/* Read the chain at a place of `links`; 0: an empty one. */
static void stack_frames_read_chain(const struct stack_frames *f, uint32_t at,
				    struct inline_chain *c)
{
	const struct chain_link *from;

	c->n = 0;
	if (!at)
		return;
	from = (const struct chain_link *)f->links.data + at - 1;
	c->n = from->location;
	memcpy(c->link, from + 1, sizeof(*from) * c->n);
}

/* Get the chains of a location. NULL when out of memory. */
static uint32_t *chains_of(struct stack_frames *f, uint32_t location)
{
	uint32_t number = idmap_get(&f->located, location);

	if (number)
		return f->chains[number - 1];
	if (ARRAY_GROW(f->chains, f->chains_capacity, f->nchains) ||
	    idmap_set(&f->located, location, (uint32_t)f->nchains + 1))
		return NULL;
	memset(f->chains[f->nchains], 0, sizeof *f->chains);
	return f->chains[f->nchains++];
}

/* Get the functions that are inlined at a location. Returns 0, or -1 after stage_fail. */
static int get_chain(struct stack_frames *f, struct stage *s, uint32_t location, bool caller,
		     struct inline_chain *c)
{
	uint32_t *chains = chains_of(f, location);
	struct inline_chain new[2];
	struct chain_link head;

	if (!chains)
		return stage_no_memory(s);
	if (chains[caller]) {
		stack_frames_read_chain(f, chains[caller], c);
		return 0;
	}
	stack_frames_read_chain(f, chains[!caller], &new[1]);
	if (make_chain(f, s, location, caller, new))
		return -1;
	/* make_chain looks up no chain, so the pointer is valid */
	chains[caller] = (uint32_t)(1 + f->links.size / sizeof(head));
	head = (struct chain_link){.location = new->n};
	if (buffer_append(&f->links, &head, sizeof(head)) ||
	    buffer_append(&f->links, new->link, sizeof(head) * new->n))
		return stage_no_memory(s);
	stack_frames_read_chain(f, chains[caller], c);
	return 0;
}

static struct seen_stack *stack_frames_of(const struct stack_frames *f, uint32_t id)
{
	uint32_t number = idmap_get(&f->numbers, id);

	return number ? &f->stacks[number - 1] : NULL;
}

/* Get the id of a stack without inlined functions: its own if it was not declared again. */
static uint32_t plain_id(const struct seen_stack *k)
{
	return k->block ? k->plain : k->id;
}

/* Leave out the inlined functions if the stack has too many frames with them. */
static void limit_chain(struct inline_chain *c, uint32_t above)
{
	if (above + 1 + c->n > STACK_FRAMES_MOST)
		c->n = 0;
}

/*
 * Declare a stack with the functions inlined at its location: the function that contains the code
 * is called by the stack outer->parent, and the innermost frame has the id. Returns 0, or -1 after
 * stage_fail.
 */
static int send_chain(struct stack_frames *f, struct stage *s, uint32_t id,
		      const struct stack_entry *outer, const struct inline_chain *c)
{
	struct stack_entry e = *outer;

	for (uint32_t i = c->n; i > 0; i--) {
		uint32_t between = f->next_stack--;

		if (stack_frames_send_entry(s, ENTRY_STACK, between, &e))
			return -1;
		e = (struct stack_entry){between, c->link[i - 1].location};
	}
	return stack_frames_send_entry(s, ENTRY_STACK, id, &e);
}

/* Declare a stack again, as that of a frame that called another one: its code is before the
 * address. Returns 0, or -1 after stage_fail. */
static int make_caller(struct stack_frames *f, struct stage *s, struct seen_stack *k)
{
	struct inline_chain as_leaf, c;

	if (get_chain(f, s, k->location, false, &as_leaf) || get_chain(f, s, k->location, true, &c))
		return -1;
	limit_chain(&as_leaf, k->above);
	limit_chain(&c, k->above);
	k->as_caller = k->id;
	k->caller_frames = k->above + 1 + c.n;
	if (c.n == as_leaf.n && !memcmp(c.link, as_leaf.link, sizeof(*c.link) * c.n))
		return 0;
	k->as_caller = f->next_stack--;
	return send_chain(f, s, k->as_caller, &(struct stack_entry){k->parent, k->location}, &c);
}

/* Declare a stack and its callers again without inlined functions. Returns 0, or -1 after
 * stage_fail. */
static int make_plain(struct stack_frames *f, struct stage *s, struct seen_stack *k)
{
	struct seen_stack *p = k;
	uint32_t number, parent;

	f->path.size = 0;
	for (; p->block && !p->plain; p = &f->stacks[p->caller_stack - 1]) {
		number = (uint32_t)(p - f->stacks);
		if (buffer_append(&f->path, &number, sizeof(number)))
			return stage_no_memory(s);
		if (!p->caller_stack)
			break;
	}
	for (size_t i = f->path.size / sizeof(number); i > 0; i--) {
		p = &f->stacks[((uint32_t *)f->path.data)[i - 1]];
		parent = p->caller_stack ? plain_id(&f->stacks[p->caller_stack - 1]) : 0;
		p->plain = f->next_stack--;
		if (stack_frames_send_entry(s, ENTRY_STACK, p->plain,
					    &(struct stack_entry){parent, p->location}))
			return -1;
	}
	return 0;
}

/* Set the parent of a new stack. *changed: the parent differs from that of the input. Returns 0, or
 * -1 after stage_fail. */
static int set_parent(struct stack_frames *f, struct stage *s, struct seen_stack *new,
		      struct seen_stack *parent, bool *changed)
{
	new->depth = parent->depth + 1;
	new->caller_stack = (uint32_t)(parent - f->stacks) + 1;
	if (!parent->as_caller && make_caller(f, s, parent))
		return -1;
	new->parent = parent->as_caller;
	new->above = parent->caller_frames;
	if (new->above == STACK_FRAMES_MOST) {
		if (make_plain(f, s, parent))
			return -1;
		new->parent = plain_id(parent);
		new->above = parent->depth;
	}
	/* the block was passed on before its STACKs are declared again */
	*changed = new->parent != parent->id || parent->block == f->blocks;
	return 0;
}

/*
 * Note a STACK of the block, and declare it again if a frame of it has inlined functions. Returns
 * 0, or -1 after stage_fail.
 */
static int stack_frames_add_stack(struct stack_frames *f, struct stage *s, uint32_t id,
				  const struct stack_entry *e)
{
	struct seen_stack new = {.id = id, .location = e->location, .depth = 1};
	struct seen_stack *parent = stack_frames_of(f, e->parent);
	bool changed = false;
	struct inline_chain c;

	if (parent && parent->depth == STACK_FRAMES_MOST)
		return 0; /* damage */
	if (parent && set_parent(f, s, &new, parent, &changed))
		return -1;
	/* the first line of a location stays: of a caller, that of the call */
	if ((idmap_get(&f->callers, id) && get_chain(f, s, e->location, true, &c)) ||
	    get_chain(f, s, e->location, false, &c))
		return -1;
	limit_chain(&c, new.above);
	if (c.n || changed) {
		new.block = f->blocks;
		if (send_chain(f, s, id, &(struct stack_entry){new.parent, e->location}, &c))
			return -1;
	}
	if (ARRAY_GROW(f->stacks, f->capacity, f->nstacks) ||
	    idmap_set(&f->numbers, id, (uint32_t)f->nstacks + 1))
		return stage_no_memory(s);
	f->stacks[f->nstacks++] = new;
	return 0;
}

/* Get the next STACK of the block, and note the spaces before it. Returns 1; 0: there are no more;
 * -1 after stage_fail. */
static int next_stack(struct stack_frames *f, struct stage *s, const struct block *b, size_t *at,
		      uint32_t *id, struct stack_entry *stack)
{
	const struct idmap *spaces = &s->in.dictionary.ids[ENTRY_SPACE];
	struct raw_entry e;

	while (entry_next(b->payload, b->length, at, &e) == 1) {
		uint32_t space = e.kind == ENTRY_SPACE ? idmap_get(spaces, e.id) : 0;

		if (space && idmap_set(&f->spaces, space, e.id))
			return stage_no_memory(s);
		if (e.kind != ENTRY_STACK || !entry_complete(&e))
			continue;
		entry_get(&entry_layouts[ENTRY_STACK], e.data, stack);
		*id = e.id;
		return 1;
	}
	return 0;
}

/* Declare again the symbol of a location that has the line of a frame. */
static int repeat_line(struct stack_frames *f, struct stage *s, uint32_t id)
{
	uint32_t place = idmap_get(&f->lines, id);
	struct inline_chain c[2];

	if (!place)
		return 0;
	stack_frames_read_chain(f, chains_of(f, id)[place - 1], &c[1]);
	return idmap_set(&f->lines, id, 0) ? stage_no_memory(s)
					   : make_chain(f, s, id, place - 1, c);
}

/* Declare the STACKs of a DICT block again where functions were inlined, after the block was passed
 * on. Returns 0, or -1 after stage_fail. */
static int stack_frames_add(struct stack_frames *f, struct stage *s, const struct block *b)
{
	struct stack_entry stack;
	size_t at = 0;
	uint32_t id;
	int got;

	if (f->present)
		return 0;
	f->blocks++;
	/* an earlier trsym has declared symbols after the stacks */
	for (size_t i = 0; entry_next_of(ENTRY_SYMBOL, b->payload, b->length, &i, &id);)
		if (repeat_line(f, s, id))
			return -1;
	idmap_clear(&f->callers);
	while ((got = next_stack(f, s, b, &at, &id, &stack)) > 0)
		if (stack.parent && idmap_set(&f->callers, stack.parent, 1))
			return stage_no_memory(s);
	for (at = 0; got >= 0 && (got = next_stack(f, s, b, &at, &id, &stack)) > 0;)
		if (stack_frames_add_stack(f, s, id, &stack))
			return -1;
	return got;
}

/* --- command line --- */

/* In these functions, missing says what the debug information is needed for. */

/* Returns why a module has no symbols, or not all; "": it has symbols. */
static const char *why_none(const struct module *m)
{
	bool stripped = m->missed && !m->found && m->symbols && symbols_stripped(m->symbols);

	return stripped && !m->why[0] ? "the file has no .symtab, and its debug file is not found"
				      : m->why;
}

/* Print a row of --report: what was found for the module in line, and after it why no more was. */
static void sym_put_row(const struct resolver *r, struct text *t, const struct module *m,
			const struct buffer *line, size_t width)
{
	text_printf(t, "%10" PRIu64 " %10" PRIu64 "  ", m->found, m->missed);
	if (r->settings->lines)
		text_printf(t, "%10" PRIu64 "  ", m->lines);
	text_printf(t, "%-6s  ", m->origin);
	aligned_words(t, (const char *)line->data, line->size, width, r->settings->lines ? 43 : 31,
		      r->settings->lines ? 43 : 31);
	text_char(t, '\n');
}

/* Print a row for each module. Returns -1 when out of memory. */
static int sym_put_rows(const struct resolver *r, const char *missing, struct text *t, size_t width)
{
	const struct module none = {.missed = r->unmapped, .origin = "none"};
	struct buffer line = {0};
	int bad = 0;

	text_printf(t, "%10s %10s  %s%-6s  %s\n", "found", "missed",
		    r->settings->lines ? "     lines  " : "", "from", "module");
	for (size_t i = 0; i < r->nmodules && !bad; i++) {
		const struct module *m = r->modules[i];

		line.size = 0;
		bad = buffer_printf(&line, "%s%s%s", m->path, *why_none(m) ? ": " : "",
				    why_none(m));
		if (!bad && m->why_lines[0])
			bad = buffer_printf(&line, ": no %s: %s", missing, m->why_lines);
		if (!bad)
			sym_put_row(r, t, m, &line, width);
	}
	line.size = 0;
	bad = bad || buffer_puts(&line, "addresses that lie in no module");
	if (!bad && r->unmapped)
		sym_put_row(r, t, &none, &line, width);
	buffer_free(&line);
	return bad;
}

/* Print a row for each module on standard error (--report). */
static void report_modules(const struct resolver *r, const char *missing)
{
	struct text *t = malloc(sizeof(*t));
	struct screen screen = {0};
	struct output o;
	struct error e;

	if (t && !output_open(&o, "/dev/fd/2", OUTPUT_TEXT, &e)) {
		text_init(t, &o);
		screen_find(&screen, &o);
		if (!sym_put_rows(r, missing, t, screen.width))
			text_flush(t, &e);
		output_close(&o, STATUS_OK, &e);
	}
	free(t);
}

/* Print a line for each module whose symbols or debug information exist but are of another build,
 * or that has none. */
static void report_missing(const struct resolver *r, const char *missing)
{
	for (size_t i = 0; i < r->nmodules; i++) {
		const struct module *m = r->modules[i];

		if (m->missed && *why_none(m))
			warn(*m->path ? m->path : NULL, NO_OFFSET, "no symbols: %s", why_none(m));
		if (m->why_lines[0])
			warn(m->path, NO_OFFSET, "no %s: %s", missing, m->why_lines);
	}
}

enum { OPT_DEMANGLE = 256, OPT_SYSROOT, OPT_KALLSYMS, OPT_REPORT = OPTION_ASIDE };

static const struct option_row option_rows[] = {
	{OPT_DEMANGLE, "demangle", "STYLE",
	 "names of C++ and Rust: simple (default: scopes and\nname), full (with parameters), no",
	 "simple full no"},
	{'l', "lines", NULL, "add the source file and line of each function", NULL},
	{'i', "inline", NULL, "add inlined functions to frames of recorded stacks", NULL},
	{'e', "exe", "FILE", "the program of a trace that names none: gmon.out", "file"},
	{OPT_KALLSYMS, "kallsyms", "FILE",
	 "symbols of the kernel, if the trace has none: a copy\nof its /proc/kallsyms", "file"},
	{OPT_SYSROOT, "sysroot", "DIR", "search programs and libraries below DIR (default: /)",
	 "directory"},
	ARCHIVE_OPTION_ROWS,
	{OPT_REPORT, "report", NULL, "print the source of each module's symbols on stderr", NULL},
	{0},
};

static int option(void *ctx, int key, const char *arg, struct error *e)
{
	struct sym_settings *s = ctx;

	switch (key) {
	case OPT_DEMANGLE:
		if (demangle_style_parse(arg, &s->style))
			return error_set(e, NULL, NO_OFFSET,
					 "--demangle takes simple, full or no, not '%s'", arg);
		return 0;
	case 'e':
		free(s->exe);
		s->exe = realpath(arg, NULL);
		return s->exe ? 0 : error_errno(e, arg, NO_OFFSET, "cannot open");
	case 'l': s->lines = true; return 0;
	case 'i': s->inlined = true; return 0;
	case OPT_KALLSYMS: s->kallsyms = arg; return 0;
	case OPT_SYSROOT: s->sysroot = arg; return 0;
	case OPT_REPORT: s->report = true; return 0;
	}
	return -1;
}

static int sym_streams(const void *ctx)
{
	(void)ctx;
	return 0;
}

static const struct program program = {
	.name = "trsym",
	.operands = "[FILE]...",
	.purpose = "Add symbols to the locations of an event stream.",
	.options = option_rows,
	.option = option,
	.patience = PATIENCE_FILTER,
	.streams = sym_streams,
};

/* What finds the symbols of a stream. */
struct symboliser {
	struct resolver resolver;
	struct kallsyms kernel;
	bool wants_frames; /* false: frames of recorded stacks stay as they are */
	struct stack_frames frames;
};

/* Update the resolver with a block, and write symbols. */
static int sym_take_block(struct symboliser *y, struct stage *s, struct block *b)
{
	struct meta m;

	switch (b->kind) {
	case BLOCK_HEAD:
		if (y->wants_frames)
			stack_frames_begin(&y->frames, &s->in.head);
		return 0;
	case BLOCK_META:
		reader_meta(&s->in, b, &m);
		if (tables_meta(&y->resolver, &m) || kallsyms_meta(&y->kernel, &m))
			return stage_no_memory(s);
		return 0;
	case BLOCK_DICT:
		if (kallsyms_declared(&y->kernel, b))
			return stage_no_memory(s);
		return add_symbols(s, &y->resolver, b) ||
				       (y->wants_frames && stack_frames_add(&y->frames, s, b))
			       ? -1
			       : 0;
	case BLOCK_EVENTS:
		if (y->kernel.npending && kallsyms_send(&y->kernel, &s->out, &s->in.dictionary))
			return stage_fail(s, &s->out.error);
		return stage_pass(s, b);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *missing;
	struct sym_settings settings = {.style = DEMANGLE_SIMPLE};
	struct common_options common;
	struct symboliser y = {0};
	struct stage stage;
	struct block block;
	struct error e;
	int status = program_start(&program, argc, argv, &settings, &common);

	if (status >= 0)
		return status;
	if (settings.kallsyms && kallsyms_read(&y.kernel, settings.kallsyms, &e)) {
		error_print(&e);
		kallsyms_free(&y.kernel);
		return program_failed(&common, &e);
	}
	if (stage_open(&stage, argv + optind, argc - optind, &common))
		goto out;
	y.resolver.settings = &settings;
	y.resolver.kernel = y.kernel.symbols;
	y.wants_frames = settings.inlined || settings.lines;
	y.frames.resolver = &y.resolver;
	if (stage_create(&stage, argc, argv))
		goto out;
	reader_on_demand(&stage.in);
	while (stage_next(&stage, &block) && !sym_take_block(&y, &stage, &block))
		;
	if (stage.status == STATUS_OK && (kallsyms_check(&y.kernel, &stage.in.dictionary, &e) ||
					  (settings.exe && exe_check(&stage.in.dictionary, &e))))
		stage_fail(&stage, &e);
	missing = !settings.inlined ? "source lines"
		  : !settings.lines ? "inlined functions"
				    : "inlined functions and source lines";
	if (settings.report)
		report_modules(&y.resolver, missing);
	else if (!common.quiet)
		report_missing(&y.resolver, missing);
out:
	/* before the stage, whose dictionary owns their texts */
	stack_frames_free(&y.frames);
	resolver_free(&y.resolver);
	kallsyms_free(&y.kernel);
	free(settings.exe);
	return stage_finish(&stage);
}

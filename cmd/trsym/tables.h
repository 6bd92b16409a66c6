/*
 * tables.h - symbol tables that the stream carries, and those of files on disk
 *
 * A META block whose name ends in ".sym" is a table in uftrace's form, one named "kallsyms" one of
 * the kernel's, one whose name ends in ".dbg" has source lines as uftrace writes them. Each is
 * parsed when a place first needs it.
 */
#ifndef TR_TRSYM_TABLES_H
#define TR_TRSYM_TABLES_H

#include "common/symbols/debug_info.h"
#include "common/symbols/demangle.h"
#include "common/stream/reader.h"
#include "common/symbols/symbols.h"
#include "cmd/trsym/recorded_lines.h"

struct tables;

struct tables_options {
	const char *sysroot; /* NULL: / */
	const struct symbols
		*kernel; /* for kernels that have no table in the stream; may be NULL */
	enum demangle_style style;
	bool lines; /* source lines will be asked for */
};

struct tables *tables_new(const struct tables_options *options);
void tables_free(struct tables *t);

/* Take in a piece of a META block. -1 when out of memory. */
int tables_meta(struct tables *t, const struct meta *m);

/* A module as a mapping names it, with its symbols and what became of them. The texts of path,
 * build_id and table are the stream's. */
struct module {
	const char *path, *build_id, *table;
	uint32_t source;
	const struct symbols *symbols; /* NULL: none to be had */
	bool own;		       /* of this module alone; else of a table of several */
	char **names;		       /* demangled, by number of the symbol; NULL not yet */
	const char *origin;	       /* "stream", "file", "option" or "none" */
	char why[600];		       /* why there are none, or not all */
	uint64_t found, missed;	       /* places */
	/* source lines */
	const struct recorded_lines *recorded; /* NULL: none */
	struct debug_info *debug;	       /* NULL: not open */
	bool without_lines;		       /* there are none to be had */
	char why_lines[600];
	uint64_t lines; /* places that got one */
};

/* The module of a mapping, its table loaded. NULL when out of memory. */
struct module *tables_module(struct tables *t, const struct space *space, const struct map *map);

/* The name to be shown for a symbol of the module. NULL when out of memory. */
const char *tables_name(struct tables *t, struct module *m, const struct symbol *symbol);

/*
 * Where the function is declared that begins at the address, in the symbols' own addresses; base:
 * what these have more than addresses relative to the module's. Texts in *f live until the next
 * call. 1 found, 0 not, -1 when out of memory.
 */
int tables_line(struct tables *t, struct module *m, uint64_t address, uint64_t base,
		struct source_frame *f);

size_t tables_count(const struct tables *t);
const struct module *tables_at(const struct tables *t, size_t i);

#endif

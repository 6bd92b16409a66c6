/*
 * tables.h - symbol tables that the stream carries, and those of files on disk
 *
 * A META block whose name ends in ".sym" is a table in uftrace's form, one named "kallsyms" one of
 * the kernel's. Each is parsed when a place first needs it.
 */
#ifndef TR_TABLES_H
#define TR_TABLES_H

#include "common/demangle.h"
#include "common/reader.h"
#include "common/symbols.h"

struct tables;

struct tables *tables_new(const char *sysroot, enum demangle_style style);
void tables_free(struct tables *t);

/* Take in a piece of a META block. -1 when memory is out. */
int tables_meta(struct tables *t, const struct meta *m);

/* A module as a mapping names it, with its symbols and what became of them. The texts of path,
 * build_id and table are the stream's. */
struct module {
	const char *path, *build_id, *table;
	uint32_t source;
	struct symbols *symbols; /* NULL: none to be had */
	bool own;		 /* of this module alone; else of a table of the stream */
	char **names;		 /* demangled, by number of the symbol; NULL not yet */
	const char *origin;	 /* "stream", "file", or "none" */
	char why[600];		 /* why there are none, or not all */
	uint64_t found, missed;	 /* places */
};

/* The module of a mapping, its table loaded. NULL when memory is out. */
struct module *tables_module(struct tables *t, const struct space *space, const struct map *map);

/* The name to be shown for a symbol of the module. NULL when memory is out. */
const char *tables_name(struct tables *t, struct module *m, const struct symbol *symbol);

size_t tables_count(const struct tables *t);
const struct module *tables_at(const struct tables *t, size_t i);

#endif

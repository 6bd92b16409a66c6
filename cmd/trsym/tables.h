/*
 * tables.h - symbol tables that the stream contains, and those of files on disk
 *
 * A META block whose name ends in ".sym" is a table in uftrace's form, one named "kallsyms" is a
 * table of the kernel's, and one whose name ends in ".dbg" has source lines as uftrace writes them.
 * Each is parsed when a location first needs it.
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
	const char *sysroot;	      /* NULL: / */
	const struct symbols *kernel; /* for kernels without a table in the stream; may be NULL */
	enum demangle_style style;
	bool lines; /* source lines are needed */
};

struct tables *tables_new(const struct tables_options *options);
void tables_free(struct tables *t);

/* Add a piece of a META block. Returns 0, or -1 when out of memory. */
int tables_meta(struct tables *t, const struct meta *m);

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
	const struct recorded_lines *recorded; /* NULL: none */
	struct debug_info *debug;	       /* NULL: not open */
	bool without_lines;		       /* no lines exist */
	char why_lines[600];
	uint64_t lines; /* locations that have a line */
};

/* Return the module of a mapping, its table loaded. NULL when out of memory. */
struct module *tables_module(struct tables *t, const struct space *space, const struct map *map);

/* Return the displayed name of a symbol of the module. NULL when out of memory. */
const char *tables_name(struct tables *t, struct module *m, const struct symbol *symbol);

/*
 * Find the declaration of the function that begins at the address. The address is that of
 * its symbol; base: what to subtract for an address relative to the module's base. Texts in *f are
 * valid until the next call.
 */
enum outcome tables_line(struct tables *t, struct module *m, uint64_t address, uint64_t base,
			 struct source_frame *f);

/* Find the functions at an address relative to the module's base, as debug_info_frames does. */
int tables_frames(struct tables *t, struct module *m, uint64_t address, struct source_frame *frames,
		  size_t most);

size_t tables_count(const struct tables *t);
const struct module *tables_at(const struct tables *t, size_t i);

#endif

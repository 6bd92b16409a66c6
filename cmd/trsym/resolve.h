/*
 * resolve.h - the symbols of a stream, and what they resolve
 */
#ifndef TR_TRSYM_RESOLVE_H
#define TR_TRSYM_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "common/cli/stage.h"
#include "common/stream/reader.h"
#include "common/stream/writer.h"
#include "common/symbols/debug_info.h"
#include "common/symbols/demangle.h"
#include "common/symbols/symbols.h"
#include "common/util/intern.h"

/*
 * Find the symbol of a location.
 */

/*
 * The source lines of functions that uftrace record --srcline recorded.
 *
 * A .dbg file: "F: ADDRESS NAME" begins a function, "L: LINE FILE" is its declaration. Other lines
 * are about arguments.
 */

struct recorded_line {
	uint64_t address; /* of the function, relative to the module's base */
	const char *file; /* points into the text */
	uint32_t line;
};

struct recorded_lines {
	struct recorded_line *at;
	size_t count, capacity;
	char *text;
};

/*
 * Symbol tables that the stream contains, and those of files on disk.
 *
 * A META block whose name ends in ".sym" is a table in uftrace's form, one named "kallsyms" is a
 * table of the kernel's, and one whose name ends in ".dbg" has source lines as uftrace writes them.
 * Each is parsed when a location first needs it.
 */

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

size_t tables_count(const struct tables *t);
const struct module *tables_at(const struct tables *t, size_t i);

/* The mappings of all spaces, ordered for searching. Zero-initialised is empty. */
struct resolver {
	struct tables *tables;
	struct space_index *spaces; /* by number of the space */
	size_t size;
	uint64_t unmapped; /* locations that are in no module */
	bool lines;	   /* with source lines */
};

void resolver_free(struct resolver *r);

/*
 * Find the symbol of a location: in the mapping that contains its address, else in the modules
 * loaded since, the latest first, up to the location's epoch. OUTCOME_NO: *s has the module if it
 * is known, and SYMBOL_UNKNOWN. Texts in *s are valid until the next call. count: count the
 * location for the report.
 */
enum outcome resolve(struct resolver *r, const struct location *p, bool count,
		     struct symbol_entry *s);

/*
 * Find the functions whose code is at a location, or before it if the location is the return
 * address of a caller: as debug_info_frames does. The texts are valid until the next call.
 */
int resolve_frames(struct resolver *r, const struct location *p, bool caller,
		   struct source_frame *frames, size_t most);

/* --- write each location with its symbol --- */

/*
 * Write the locations that a DICT block declares, each followed by its symbol. The symbol that an
 * earlier trsym wrote for a location follows in a later block, before or after ours is read: the
 * better one is written again, ours if there is one. Returns 0, or -1 after stage_fail.
 */
int add_symbols(struct stage *s, struct resolver *r, const struct block *b);

/* --- the names that are shown of functions, each demangled once --- */

enum { NAMES_RECENT = 1 << 13 };

/* A name that was found: it is not looked up by its text again. Without this 'trsym -i' of
 * t/bench/inline.sh takes 1.04 times the instructions. */
struct recent_name {
	uint64_t id; /* of struct source_frame */
	uint32_t number;
};

/* Zero-initialised but for the style is empty. */
struct function_names {
	enum demangle_style style;
	struct id_cache numbers; /* by function: 1 + number of the name in `shown` */
	struct intern shown;
	struct recent_name recent[NAMES_RECENT];
};

void function_names_free(struct function_names *f);

/* Find the name of a frame's function, "?" if that is not known. Returns its number in `shown`, or
 * INTERN_NONE when out of memory. */
uint32_t function_names_find(struct function_names *f, const struct source_frame *frame);

/*
 * The kernel's symbols from a file that the user names.
 *
 * Functions return 0, or -1 when out of memory, unless noted.
 */

/* A copy of /proc/kallsyms. Zero-initialised: there is no copy. */
struct kallsyms {
	struct buffer text;
	struct symbols *symbols;	 /* NULL: there is no copy */
	struct kallsyms_source *sources; /* by number */
	size_t nsources;
	uint32_t *pending; /* ids of sources that the segment has declared since the last event */
	size_t npending, capacity;
};

/* Read the file. Returns 0, or -1 with *e filled: the file cannot be read, has no function, or
 * was copied by a user without the right to see addresses. */
int kallsyms_read(struct kallsyms *k, const char *path, struct error *e);

void kallsyms_free(struct kallsyms *k);

/* Note a META block of a source. */
int kallsyms_meta(struct kallsyms *k, const struct meta *m);

/* Note the sources that a DICT block declares. */
int kallsyms_declared(struct kallsyms *k, const struct block *b);

/*
 * Give the table to trace-cmd sources without a table of their own, before their events: programs
 * that print addresses of fields then have the names too. Returns 0, or -1 with w->error filled.
 */
int kallsyms_send(struct kallsyms *k, struct writer *w, const struct dictionary *d);

/* Refuse the file if no source has a kernel. Returns 0, or -1 with e filled. */
int kallsyms_check(const struct kallsyms *k, const struct dictionary *d, struct error *e);

#endif

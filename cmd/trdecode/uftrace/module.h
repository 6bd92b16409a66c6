/*
 * module.h - files with code and their symbols, shared by all sessions
 *
 * Used by session.c and args.c only; other files use struct uftrace_module.
 */
#ifndef TR_TRDECODE_UFTRACE_MODULE_H
#define TR_TRDECODE_UFTRACE_MODULE_H

#include "cmd/trdecode/uftrace/session.h"

/* A .sym file; modules of several paths or build-ids may share it. */
struct symfile {
	const char *name;
	bool tried;
	struct symbols *symbols;
	uint64_t end; /* all symbols are below it */
};

struct module {
	struct uftrace_module m; /* first: callers hold a pointer to it */
	struct symfile *file;	 /* NULL: none */
};

#define UFTRACE_DAMAGE_MAX 64

struct uftrace_modules {
	const struct tree *tree;
	struct module **modules; /* by id */
	size_t nr, room;
	void *by_path; /* root for tsearch() */
	void *files_by_name;
	bool kernel_tried;
	struct symbols *kernel;
	struct error *damage[UFTRACE_DAMAGE_MAX];
	unsigned nr_damage, next_damage;
};

/* Free the modules. Start with {.tree = ...}. */
void uftrace_modules_free(struct uftrace_modules *ms);

/*
 * Find or add the module of that path and build-id ("" if unknown), which must outlive ms.
 * is_dlopen: the path is as a program gave it to dlopen. NULL when out of memory.
 */
struct module *uftrace_modules_get(struct uftrace_modules *ms, const char *path,
				   const char *build_id, bool is_dlopen);

/* Return the module's symbols, loaded when first needed, or NULL. */
const struct symbols *uftrace_modules_symbols(struct uftrace_modules *ms, const struct module *m);

/* Return the symbols of the member kallsyms, or NULL. */
const struct symbols *uftrace_modules_kernel(struct uftrace_modules *ms);

/* Note damage for uftrace_sessions_damage(). */
void uftrace_modules_add_damage(struct uftrace_modules *ms, const struct error *e);

/* Get the next damage, oldest first. Return false if there is no more. */
bool uftrace_modules_damage(struct uftrace_modules *ms, struct error *e);

/* Return the modules, which the sessions share. */
struct uftrace_modules *uftrace_sessions_modules(struct uftrace_sessions *s);

#endif

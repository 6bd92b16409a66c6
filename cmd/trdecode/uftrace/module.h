/*
 * module.h - files with code and their symbols, shared by all sessions
 *
 * Used by uftrace_session.c and uftrace_args.c only; others see struct uftrace_module.
 */
#ifndef TR_TRDECODE_UFTRACE_MODULE_H
#define TR_TRDECODE_UFTRACE_MODULE_H

#include "cmd/trdecode/uftrace/session.h"

/* A .sym file; modules of several paths or build-ids may share it. */
struct symfile {
	const char *name;
	bool tried;
	struct symbols *symbols;
	uint64_t end; /* no symbol lies at or beyond it */
};

struct module {
	struct uftrace_module m; /* first: callers hold a pointer to it */
	struct symfile *file;	 /* NULL if there is none */
};

#define UFTRACE_DAMAGE_MAX 64

struct uftrace_modules {
	const struct tree *tree;
	struct module **modules; /* by id */
	size_t nr, room;
	void *by_path; /* tsearch */
	void *files_by_name;
	bool kernel_tried;
	struct symbols *kernel;
	struct error *damage[UFTRACE_DAMAGE_MAX];
	unsigned nr_damage, next_damage;
};

/* Start with {.tree = ...}. */
void uftrace_modules_free(struct uftrace_modules *ms);

/*
 * The module of that path and build-id ("" if unknown), which must outlive ms. is_dlopen: the path
 * is as a program gave it to dlopen. NULL when out of memory.
 */
struct module *uftrace_modules_get(struct uftrace_modules *ms, const char *path,
				   const char *build_id, bool is_dlopen);

/* Its symbols, loaded now if need be, or NULL. */
const struct symbols *uftrace_modules_symbols(struct uftrace_modules *ms, const struct module *m);

/* Those of the member kallsyms, or NULL. */
const struct symbols *uftrace_modules_kernel(struct uftrace_modules *ms);

/* Remember a piece of damage for uftrace_sessions_damage(). */
void uftrace_modules_add_damage(struct uftrace_modules *ms, const struct error *e);

/* The next one, oldest first. False if all were told. */
bool uftrace_modules_damage(struct uftrace_modules *ms, struct error *e);

/* What the sessions share. */
struct uftrace_modules *uftrace_sessions_modules(struct uftrace_sessions *s);

#endif

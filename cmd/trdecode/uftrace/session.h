/*
 * session.h - find the module and the symbol of a record's address
 *
 * Names depend on (session, epoch, address) only; the epoch is the number of dlopens of the session
 * up to the record's time. A session's map is read when the session is first used, a symbol table
 * when an address is first found in its module; both are kept, and tables are shared by all
 * sessions that map the same file.
 */
#ifndef TR_TRDECODE_UFTRACE_SESSION_H
#define TR_TRDECODE_UFTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/error.h"
#include "common/symbols/symbols.h"
#include "cmd/trdecode/input/tree.h"
#include "cmd/trdecode/uftrace/info.h"
#include "cmd/trdecode/uftrace/map.h"
#include "cmd/trdecode/uftrace/task.h"

/* A file with code; one per distinct (path, build-id), whatever the number of sessions that map
 * it. */
struct uftrace_module {
	size_t id; /* counts from 0 in order of first use */
	const char *path;
	const char *build_id; /* "" if unknown */
	const char *sym_name; /* the member with its symbols, NULL: none */
	const char *dbg_name; /* the member with its argument specs, NULL: none */
};

struct uftrace_sessions;

/* One session's address space. */
struct uftrace_session;

/* All arguments must outlive the result. NULL, with e filled, when out of memory. */
struct uftrace_sessions *uftrace_sessions_new(const struct tree *tree,
					      const struct uftrace_info *info,
					      const struct uftrace_tasks *tasks, struct error *e);
void uftrace_sessions_free(struct uftrace_sessions *s); /* s may be NULL */

/*
 * Return the address space of sess and of the sessions with its sid; its .map is read at the first
 * call. NULL only when out of memory. A missing or damaged .map gives a session without mappings;
 * uftrace_sessions_damage reports this.
 */
struct uftrace_session *uftrace_session_get(struct uftrace_sessions *s,
					    const struct uftrace_sess *sess);

/*
 * Get the next damage found while loading maps, symbols and specs, oldest first. Returns true and
 * fills e, or false when there is no more. At most 64 are kept.
 */
bool uftrace_sessions_damage(struct uftrace_sessions *s, struct error *e);

/* Return the number of dlopens with time <= t. *until (may be NULL): the time at which it
 * changes. */
uint32_t uftrace_session_epoch_at(const struct uftrace_session *s, uint64_t t, uint64_t *until);

/* Return the mappings and the dlopens by time, for the stream. map->nr may be 0; map is never
 * NULL. */
const struct uftrace_map *uftrace_session_map(const struct uftrace_session *s);
const struct uftrace_module *uftrace_session_map_module(const struct uftrace_session *s, size_t i);
size_t uftrace_session_nr_dlopens(const struct uftrace_session *s);
const struct uftrace_dlopen *uftrace_session_dlopen(const struct uftrace_session *s, size_t i);
const struct uftrace_module *uftrace_session_dlopen_module(const struct uftrace_session *s,
							   size_t i);
const struct uftrace_sess *uftrace_session_sess(const struct uftrace_session *s);

struct uftrace_where {
	const struct uftrace_module *module; /* NULL: no module, or the kernel */
	const struct symbol *symbol;	     /* NULL: unknown */
	uint64_t base;			     /* symbol addresses are relative to it; kernel: 0 */
	uint32_t epoch; /* the address is that of the epoch's dlopen; 0: of the kernel or a mapping
			 */
	bool kernel;
};

/*
 * Find the address: in the kernel, the mappings, then the dlopens 0 .. epoch-1 from the last to the
 * first. Returns true if a symbol was found. A mapping without a symbol there still gives its
 * module. Symbols' names are mangled. Costs some binary searches: keep the result per location.
 */
bool uftrace_session_resolve(struct uftrace_session *s, uint32_t epoch, uint64_t address,
			     struct uftrace_where *where);

/* Return all symbols of the module, loaded when first needed, or NULL if it has no .sym file. */
const struct symbols *uftrace_module_symbols(struct uftrace_sessions *s,
					     const struct uftrace_module *m);

#endif

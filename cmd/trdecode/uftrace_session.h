/*
 * uftrace_session.h - the files beside the data of a uftrace directory: info, tasks, sessions,
 * maps, modules
 */
#ifndef TR_TRDECODE_UFTRACE_SESSION_H
#define TR_TRDECODE_UFTRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/trdecode/input_tree.h"
#include "common/formats/uftrace.h"
#include "common/symbols/symbols.h"
#include "common/util/error.h"
#include "common/util/intern.h"

/*
 * The `info` file of a uftrace data directory.
 */

enum uftrace_pattern {
	UFTRACE_PATTERN_SIMPLE,
	UFTRACE_PATTERN_REGEX, /* where the file gives none */
	UFTRACE_PATTERN_GLOB,
};

/* Needed for register names; apart from these only "long double" on ARM depends on it. */
enum uftrace_arch {
	UFTRACE_ARCH_X86_64,
	UFTRACE_ARCH_I386,
	UFTRACE_ARCH_ARM,
	UFTRACE_ARCH_AARCH64,
	UFTRACE_ARCH_RISCV64,
};

/*
 * Strings are NUL-terminated, live as long as the struct, and are NULL where the file has no such
 * line. They are the text after "key:" (of a group: after "key:name="), without the newline.
 */
struct uftrace_info {
	uint32_t version;
	bool big_endian;
	bool swap;     /* the trace's byte order is not this machine's */
	bool is_32bit; /* default size of an argument is 4, not 8 */
	uint64_t feat_mask;
	uint64_t info_mask; /* as in the header */
	uint64_t have;	    /* bits of info_mask whose lines were found and parsed */
	uint32_t max_stack; /* 1024 if the header gives none */
	enum uftrace_arch arch;
	enum uftrace_pattern pattern;

	const char *exename, *cmdline;
	int exit_status; /* as in wait(2); 65536: stopped by a finish trigger */
	const char *argspec, *retspec, *argauto, *retauto, *enumauto;
	bool auto_args;	    /* -a was given */
	int64_t utc_offset; /* s, to add to times for Unix time; valid with its bit in `have` */
	/* Lines that describe the recording. */
	struct {
		const char *build_id;
		const char *nr_cpus, *cpu_desc; /* cpuinfo */
		const char *meminfo;
		const char *os_kernel, *os_hostname, *os_distro;
		const char *systime, *usrtime, *ctxsw, *maxrss, *pagefault, *iops; /* usageinfo */
		const char *loadinfo;
		const char *record_date, *elapsed_time;
		const char *pattern_type;
		const char *uftrace_version;
		const char *utc_offset_text;
		const char *sysctl;
	} lines;

	int32_t *tids; /* nr_tids of them, in the order of the file */
	size_t nr_tids;

	uint8_t *raw; /* the whole file, to be written again */
	size_t raw_size;
	char *text; /* private: the strings point into it */
};

static inline bool uftrace_info_has(const struct uftrace_info *info, enum uftrace_info_bit bit)
{
	return info->have >> bit & 1;
}

/*
 * Parse the file's `size` bytes at data, which the struct then owns (malloc'ed; freed by
 * uftrace_info_free, also after an error). file is its name in messages.
 *
 * Returns 0; 1 when lines are missing or damaged: e describes the first, and info has what could be
 * parsed; -1 when this is not a usable info file (magic, version, shorter than its header).
 */
int uftrace_info_parse(struct uftrace_info *info, void *data, size_t size, const char *file,
		       struct error *e);

void uftrace_info_free(struct uftrace_info *info);

/* --- sid-*.map: the mappings of a session --- */

struct uftrace_mapping {
	uint64_t start, end; /* start is the module's base */
	const char *path;
	const char *build_id; /* lower case hex, "" if unknown */
};

struct uftrace_map {
	struct uftrace_mapping *maps; /* in the order of the file */
	size_t nr;
	uint64_t kernel_base; /* first address of the kernel; 0: unknown, no address is the kernel's
			       */
	size_t damaged;	      /* lines that could not be parsed */
	char *text;	      /* private */
};

/*
 * Parse the text, which the map then owns (malloc'ed, NUL after its last byte, as tree_read gives
 * it; freed also after an error). Returns 0, or -1 when out of memory. Lines without a path are
 * skipped; further lines of the same path extend its mapping.
 */
int uftrace_map_parse(struct uftrace_map *m, char *text, size_t size);

void uftrace_map_free(struct uftrace_map *m);

/*
 * Sessions, tasks and dlopens: task.txt, or the binary `task` of old versions.
 *
 * A session is one executed image: a process from an exec (or its start) on. A task (thread) refers
 * to one session after the other; a forked child that does not exec remains in its parent's
 * session.
 */

enum uftrace_task_kind {
	UFTRACE_TASK_SESS,
	UFTRACE_TASK_TASK,
	UFTRACE_TASK_FORK,
	UFTRACE_TASK_DLOP,
};

/* One line, in file order. */
struct uftrace_task_event {
	enum uftrace_task_kind kind;
	int32_t pid;			/* SESS, TASK: process. FORK: the parent. DLOP: 0 */
	int32_t tid;			/* SESS: as pid. TASK, DLOP: thread. FORK: the child */
	uint64_t time;			/* ns */
	uint64_t base;			/* DLOP */
	char sid[UFTRACE_SID_SIZE + 1]; /* SESS, DLOP */
	const char *name;		/* SESS: exename; DLOP: library as given to dlopen */
};

struct uftrace_dlopen {
	uint64_t time;
	uint64_t base;
	const char *path;
	const struct uftrace_sess *sess;
};

struct uftrace_sess {
	size_t id; /* index in uftrace_tasks.sess: order of the file */
	uint64_t time;
	int32_t pid;
	char sid[UFTRACE_SID_SIZE + 1];
	const char *exename;
	const char *comm; /* basename of exename, cut at 15 bytes as the kernel cuts it */
	/* of the sessions with this sid the one whose address space they share, with its dlopens */
	const struct uftrace_sess *same;
	const struct uftrace_dlopen *dlopens; /* by time; of equal times in file order */
	size_t nr_dlopens;
};

struct uftrace_task_ref {
	uint64_t start; /* valid from here to the next reference's start */
	const struct uftrace_sess *sess;
	uint32_t task, order; /* index in uftrace_tasks.tasks; in the order of the file */
};

struct uftrace_task {
	int32_t tid, pid, ppid;	       /* ppid: 0 unless created by FORK */
	const char *comm;	       /* of its last session; "" if unknown */
	struct uftrace_task_ref *refs; /* by start */
	size_t nr_refs;
};

struct uftrace_tasks {
	struct uftrace_task_event *events;
	size_t nr_events, events_room;
	struct uftrace_sess *sess; /* by id */
	size_t nr_sess;
	const struct uftrace_sess **by_pid; /* by pid, time, id */
	const struct uftrace_sess **by_sid; /* by sid, pid, time, id */
	struct uftrace_dlopen *dlopens;
	struct uftrace_task *tasks;
	size_t nr_tasks, tasks_room;
	struct idmap by_tid; /* 1 + index in tasks */
	struct uftrace_task_ref *refs;
	char *names; /* all strings of the file, each with its NUL, in its order */
	size_t names_used;
	size_t damaged;

	const char *file; /* name for messages, while parsing */
	struct error *e;
};

struct uftrace_tasks *uftrace_tasks_new(void);
void uftrace_tasks_free(struct uftrace_tasks *t); /* t may be NULL */

/*
 * Parse the text of task.txt (binary: the old `task` file, swap: in foreign byte order). Call one
 * of these once per struct. Returns 0; 1 when there was damage: e describes the first, all other
 * lines are parsed; -1 when out of memory. file is its name in messages. Before these calls all
 * lists are empty.
 */
int uftrace_tasks_parse_text(struct uftrace_tasks *t, const char *text, size_t size,
			     const char *file, struct error *e);
int uftrace_tasks_parse_binary(struct uftrace_tasks *t, const void *data, size_t size, bool swap,
			       const char *file, struct error *e);

/* Find a task. NULL: the file has none with that tid. */
struct uftrace_task *uftrace_tasks_find(const struct uftrace_tasks *t, int32_t tid);

/*
 * Return the session of a task at a time, or NULL: that of its own references, else its parent's,
 * and so on. *until: the result is the same for all times in [time, *until), so that a caller need
 * not ask for each record. task may be NULL (no session at any time).
 */
const struct uftrace_sess *uftrace_session_at(const struct uftrace_tasks *t,
					      const struct uftrace_task *task, uint64_t time,
					      uint64_t *until);

/*
 * Find the module and the symbol of a record's address.
 *
 * Names depend on (session, epoch, address) only; the epoch is the number of dlopens of the session
 * up to the record's time. A session's map is read when the session is first used, a symbol table
 * when an address is first found in its module; both are kept, and tables are shared by all
 * sessions that map the same file.
 */

/* A file with code; one per distinct (path, build-id), whatever the number of sessions that map
 * it. */
struct uftrace_module {
	size_t id; /* counts from 0 in order of first use */
	const char *path;
	const char *build_id; /* "" if unknown */
	const char *sym_name; /* the member with its symbols, NULL: none */
	const char *dbg_name; /* the member with its argument specs, NULL: none */
	struct symfile *file; /* of sym_name; modules of several paths or build-ids may share it */
};

/* One session's address space. */
struct uftrace_session {
	struct uftrace_sessions *all;
	const struct uftrace_sess *sess;
	struct uftrace_map map;
	struct uftrace_module **map_modules;	/* of map.maps */
	uint32_t *by_start;			/* indexes of map.maps, by start */
	struct uftrace_module **dlopen_modules; /* of sess->dlopens */
	bool broken;				/* out of memory while it was built */
	bool has_ranges;
	struct session_range *ranges; /* by base */
	size_t nr_ranges;
	uint32_t *opens; /* numbers of dlopens, by range */
};

#define UFTRACE_DAMAGE_MAX 64

/* All sessions of a directory, and the files with code that they share. */
struct uftrace_sessions {
	const struct tree *tree;
	const struct uftrace_info *info;
	const struct uftrace_tasks *tasks;
	struct uftrace_session **sessions; /* by uftrace_sess.id, NULL until needed */
	struct uftrace_module **modules;   /* by id */
	size_t nr_modules, modules_room;
	struct intern names;	/* paths and build-ids of modules, and names of symbol files */
	struct key_map by_path; /* 1 + id, by the numbers of path and build-id */
	struct symfile **files; /* by number of the name; NULL: none of that name */
	size_t files_room;
	bool kernel_tried;
	struct symbols *kernel;
	struct error *damage[UFTRACE_DAMAGE_MAX];
	unsigned nr_damage, next_damage;
};

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
/* Note damage for uftrace_sessions_damage(). */
void uftrace_sessions_add_damage(struct uftrace_sessions *s, const struct error *e);

/* Get the number of dlopens with time <= t. *until (may be NULL): the time at which it
 * changes. */
uint32_t uftrace_session_epoch_at(const struct uftrace_session *s, uint64_t t, uint64_t *until);

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

/* Get all symbols of the module, loaded when first needed, or NULL if it has no .sym file. */
const struct symbols *uftrace_module_symbols(struct uftrace_sessions *s,
					     const struct uftrace_module *m);

#endif

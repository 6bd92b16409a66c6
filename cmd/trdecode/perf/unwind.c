#include "cmd/trdecode/perf/unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/perf/unwind_registers.h"
#include "common/formats/perf.h"
#include "common/symbols/frame_tables.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/intern.h"

enum { THREAD = 1, MODULES_MOST = 1024, FILES_MOST = 1 << 16 };

enum file_state { FILE_UNREAD, FILE_READ, FILE_MISSING };

struct unwind_file {
	uint32_t key; /* of its path in the names; the build-id follows the path's NUL */
	enum file_state state;
	struct frame_tables *tables; /* FILE_READ */
};

/* A file at its place in an address space. */
struct unwind_module {
	uint64_t low, high, bias;
	uint32_t file, context; /* context: the mappings for which it is known to be right */
};

/* An address space for libdw. dwfl NULL: unused. */
struct unwind_space {
	Dwfl *dwfl;
	Elf *elf; /* of the file by which libdw knows the machine; NULL: none yet */
	uint32_t number;
	const struct unwind_machine *machine;
	struct unwind_module *modules;
	size_t nmodules, capacity;
	uint64_t used;	  /* number of the last stack */
	uint32_t without; /* context of mappings of which none has a machine, 0: none */
	bool stale;	  /* a module is no longer what is mapped there */
};

struct perf_unwinder {
	const char *machine, *sysroot;
	struct id_cache names; /* numbers of files */
	struct unwind_file *files;
	size_t nfiles, capacity;
	struct unwind_space spaces[UNWIND_SPACES];
	uint64_t stacks, size; /* size: bytes of the files' tables */
	uint64_t missing;
	struct error first_missing;
	/* the present stack */
	struct unwind_space *space;
	const struct perf_maps *maps;
	const struct perf_user_state *state;
	uint64_t begin, last_sp; /* begin: address of the recorded memory */
	size_t count;
	uint64_t addresses[UNWIND_FRAMES];
};

/* --- files --- */

uint32_t perf_unwinder_file(struct perf_unwinder *u, const char *path, size_t n,
			    const char *build_id)
{
	struct buffer key = {0};
	struct unwind_file *files;
	uint32_t *number = NULL;

	if (!buffer_append(&key, path, n) && !buffer_append(&key, "", 1) &&
	    !buffer_append(&key, build_id ? build_id : "", build_id ? strlen(build_id) : 0))
		number = id_cache_number(&u->names, key.data, key.size);
	buffer_free(&key);
	if (!number || *number)
		return number ? *number : 0;
	if (ARRAY_GROW(u->files, u->capacity, u->nfiles))
		return 0;
	files = u->files;
	files[u->nfiles++] = (struct unwind_file){.key = u->names.keys.count - 1};
	/* of the others nothing is read */
	if (u->nfiles > FILES_MOST)
		files[u->nfiles - 1].state = FILE_MISSING;
	*number = (uint32_t)u->nfiles;
	return *number;
}

/* Get the tables of a file. NULL: there are none for this machine. */
static struct frame_tables *tables_of(struct perf_unwinder *u, uint32_t number)
{
	struct unwind_file *f = number ? &u->files[number - 1] : NULL;
	struct error e;
	const char *path;

	if (!f || f->state == FILE_MISSING)
		return NULL;
	if (f->state == FILE_UNREAD) {
		path = intern_data(&u->names.keys, f->key);
		f->state = FILE_READ;
		f->tables = frame_tables_open(path, u->sysroot, path + strlen(path) + 1, &e);
		if (!f->tables) {
			f->state = FILE_MISSING;
			if (!u->missing++)
				u->first_missing = e;
			return NULL;
		}
		u->size += f->tables->size;
	}
	return f->tables->machine == u->space->machine->elf ? f->tables : NULL;
}

static void close_files(struct perf_unwinder *u)
{
	for (size_t i = 0; i < u->nfiles; i++) {
		if (u->files[i].state != FILE_READ)
			continue;
		frame_tables_close(u->files[i].tables);
		u->files[i].tables = NULL;
		u->files[i].state = FILE_UNREAD;
	}
	u->size = 0;
}

/* --- spaces --- */

/* Give libdw the file of a module. libdw calls this function, and ends its reference. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file, Elf **elf)
{
	const struct frame_tables *t = *userdata;

	(void)module;
	(void)name;
	(void)base;
	*file = NULL;
	*elf = elf_begin(-1, ELF_C_READ, t->elf);
	return -1;
}

/* Give libdw the .debug_frame of a separate file. libdw calls this function where .eh_frame does
 * not have an address, and the module's file has no .debug_frame. */
static int find_debug(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		      const char *file, const char *link, GElf_Word checksum, char **found)
{
	(void)module;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)checksum;
	*found = NULL;
	return frame_tables_debug(*userdata);
}

static void space_free(struct unwind_space *s)
{
	if (s->dwfl)
		dwfl_end(s->dwfl);
	elf_end(s->elf);
	free(s->modules);
	*s = (struct unwind_space){.dwfl = NULL};
}

static void free_spaces(struct perf_unwinder *u)
{
	for (int i = 0; i < UNWIND_SPACES; i++)
		space_free(&u->spaces[i]);
}

/* Get the space of mappings: the one in use, or a new one in place of the least recently used.
 * NULL: libdw fails. */
static struct unwind_space *space_of(struct perf_unwinder *u, const struct perf_maps *m,
				     const struct unwind_machine *machine)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
						 .find_debuginfo = find_debug,
						 .section_address = dwfl_offline_section_address};
	struct unwind_space *s = u->spaces;

	for (int i = 0; i < UNWIND_SPACES; i++) {
		struct unwind_space *other = &u->spaces[i];

		if (other->dwfl && other->number == m->number && other->machine == machine)
			return other;
		if (other->used < s->used)
			s = other;
	}
	space_free(s);
	s->number = m->number;
	s->machine = machine;
	s->dwfl = dwfl_begin(&callbacks);
	return s->dwfl ? s : NULL;
}

/* Find what has to be added to the addresses of a file at a mapping. */
static bool bias_of(const struct frame_tables *t, const struct perf_map *map, uint64_t *bias)
{
	uint64_t address;

	if (!frame_tables_address(t, map->offset, &address))
		return false;
	*bias = map->start - address;
	return true;
}

/* Is the module still what is mapped at an address in it? */
static bool is_mapped(struct perf_unwinder *u, struct unwind_module *module, uint64_t pc)
{
	const struct perf_map *map;
	uint64_t bias;

	if (module->context == u->maps->context)
		return true;
	map = perf_maps_find(u->maps, pc);
	if (!map || map->file != module->file ||
	    !bias_of(u->files[map->file - 1].tables, map, &bias) || bias != module->bias)
		return false;
	module->context = u->maps->context;
	return true;
}

static void add_module(struct perf_unwinder *u, const struct perf_map *map)
{
	struct unwind_space *s = u->space;
	struct frame_tables *t = tables_of(u, map->file);
	struct unwind_module module = {.file = map->file, .context = u->maps->context};
	struct unwind_module *modules;
	Dwfl_Module *reported;
	char name[16];
	void **userdata;

	if (!t || s->nmodules == MODULES_MOST || !bias_of(t, map, &module.bias))
		return;
	module.low = t->low + module.bias;
	module.high = t->high + module.bias;
	if (ARRAY_GROW(s->modules, s->capacity, s->nmodules) || module.low >= module.high)
		return;
	modules = s->modules;
	snprintf(name, sizeof name, "%zu", s->nmodules);
	reported = dwfl_report_module(s->dwfl, name, module.low, module.high);
	if (!reported)
		return;
	dwfl_module_info(reported, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = t;
	modules[s->nmodules++] = module;
	if (!s->elf)
		s->elf = elf_begin(-1, ELF_C_READ, t->elf);
}

/* Have libdw know the file that is mapped at an address. */
static void cover(struct perf_unwinder *u, uint64_t pc)
{
	struct unwind_space *s = u->space;
	const struct perf_map *map;

	for (size_t i = 0; i < s->nmodules; i++) {
		struct unwind_module *module = &s->modules[i];

		if (pc < module->low || pc >= module->high)
			continue;
		s->stale |= !is_mapped(u, module, pc);
		return;
	}
	map = perf_maps_find(u->maps, pc);
	if (map && map->file)
		add_module(u, map);
}

/* --- stacks --- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return THREAD;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	*thread = arg;
	return tid == THREAD;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *arg)
{
	const struct perf_unwinder *u = arg;
	const struct perf_user_state *s = u->state;
	unsigned size =
		u->space->machine->elf == EM_386 || u->space->machine->elf == EM_ARM ? 4 : 8;

	(void)dwfl;
	if (address < u->begin || s->size < size || address - u->begin > s->size - size)
		return false;
	*word = get_uint(s->stack + (address - u->begin), size, s->big_endian);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct perf_unwinder *u = arg;

	return unwind_set_registers(u->space->machine, u->state, thread);
}

/* Add the first module that has a machine. */
static void add_first_module(const struct perf_map *map, void *arg)
{
	struct perf_unwinder *u = arg;

	if (map->file && !u->space->elf)
		add_module(u, map);
}

/* Give libdw the thread, once. Returns false if it is not possible. */
static bool attach(struct perf_unwinder *u)
{
	static const Dwfl_Thread_Callbacks callbacks = {.next_thread = next_thread,
							.get_thread = get_thread,
							.memory_read = read_memory,
							.set_initial_registers = set_registers};
	struct unwind_space *s = u->space;

	if (dwfl_pid(s->dwfl) == THREAD)
		return true;
	/* once for the same mappings, if none of them has a file that can be read */
	if (!s->elf && s->without == u->maps->context)
		return false;
	perf_maps_walk(u->maps, add_first_module, u);
	if (!s->elf)
		s->without = u->maps->context;
	return s->elf && dwfl_attach_state(s->dwfl, s->elf, THREAD, &callbacks, u);
}

/* Does the stack go on from a frame? The stack pointer grows; only a frame that has not yet used
 * the stack has that of its caller. */
static bool stack_grows(struct perf_unwinder *u, Dwfl_Frame *frame)
{
	unsigned number = u->space->machine->sp;
	Dwarf_Word sp;

	if (dwfl_frame_reg(frame, (unsigned)u->space->machine->dwarf[number], &sp))
		return false;
	if (u->count > 2 ? sp <= u->last_sp : sp < u->last_sp)
		return false;
	u->last_sp = sp;
	return true;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct perf_unwinder *u = arg;
	Dwarf_Addr pc;
	bool active;

	if (!dwfl_frame_pc(frame, &pc, NULL) || !pc)
		return DWARF_CB_ABORT;
	cover(u, u->count ? pc - 1 : pc);
	if (!dwfl_frame_pc(frame, &pc, &active))
		return DWARF_CB_ABORT;
	u->addresses[u->count++] = active ? pc : pc - 1;
	return u->count == UNWIND_FRAMES || u->space->stale || !stack_grows(u, frame)
		       ? DWARF_CB_ABORT
		       : DWARF_CB_OK;
}

bool perf_unwind_pc(const char *machine, const struct perf_user_state *state, uint64_t *pc)
{
	const struct unwind_machine *m = unwind_machine_find(machine, state->abi);

	return m && unwind_register(state, m->pc, pc);
}

size_t perf_unwind(struct perf_unwinder *u, const struct perf_maps *m,
		   const struct perf_user_state *state, const uint64_t **addresses)
{
	const struct unwind_machine *machine = unwind_machine_find(u->machine, state->abi);
	uint64_t pc;

	if (!unwind_register(state, machine->pc, &pc) ||
	    !unwind_register(state, machine->sp, &u->begin))
		return 0;
	if (u->size > UNWIND_TABLES) {
		free_spaces(u);
		close_files(u);
	}
	u->maps = m;
	u->state = state;
	/* once more if what is mapped has changed */
	for (int i = 0; i < 2; i++) {
		u->count = 0;
		u->last_sp = 0;
		u->space = space_of(u, m, machine);
		if (!u->space)
			break;
		u->space->used = ++u->stacks;
		cover(u, pc);
		if (!u->space->stale && attach(u))
			dwfl_getthread_frames(u->space->dwfl, THREAD, take_frame, u);
		if (!u->space->stale)
			break;
		space_free(u->space);
	}
	if (!u->count)
		u->addresses[u->count++] = pc;
	*addresses = u->addresses;
	return u->count;
}

/* --- the unwinder --- */

struct perf_unwinder *perf_unwinder_new(const char *machine, const char *sysroot, struct error *e)
{
	struct perf_unwinder *u;

	if (!unwind_machine_find(machine, PERF_ABI_64))
		return NULL;
	u = calloc(1, sizeof *u);
	if (!u) {
		error_no_memory(e);
		return NULL;
	}
	u->machine = machine;
	u->sysroot = sysroot;
	return u;
}

void perf_unwinder_free(struct perf_unwinder *u)
{
	if (!u)
		return;
	free_spaces(u);
	close_files(u);
	free(u->files);
	id_cache_free(&u->names);
	free(u);
}

uint64_t perf_unwinder_missing(const struct perf_unwinder *u, struct error *first)
{
	*first = u->first_missing;
	return u->missing;
}

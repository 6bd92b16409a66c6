/*
 * perf_unwind.c - stacks of perf: call chains, unwinding of user stacks, JIT code
 *
 *     CONTEXT_KERNEL a1 a2 CONTEXT_USER b1 b2     innermost first: the stack b2 b1 a2 a1
 *
 * Addresses become locations by the mappings of their process at that time.
 */
#include "cmd/trdecode/perf_unwind.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "common/formats/perf.h"
#include "common/stream/writer.h"
#include "common/symbols/frame_tables.h"
#include "common/symbols/symbols.h"
#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/lines.h"
#include "common/util/text.h"
#include "common/util/u128.h"

/*
 * The registers that perf records, and their numbers in DWARF.
 *
 * Facts: arch/.../include/uapi/asm/perf_regs.h of Linux; the DWARF supplements of the psABIs.
 */

enum { UNWIND_REGISTERS = 33 };

/* The registers of a machine, in perf's order. */
struct unwind_machine {
	unsigned elf; /* EM_* */
	uint8_t sp, pc, count;
	int8_t dwarf[UNWIND_REGISTERS]; /* -1: none */
};

/* --- read a jit-PID.dump --- */

/* A source line of a function. Texts are offsets in perf_jit.texts. */
struct jit_line {
	uint64_t address;
	uint32_t file, line;
};

/* A function: name is an offset in perf_jit.texts. */
struct jit_code {
	uint64_t address; /* where it was compiled; its lines have addresses relative to that */
	uint32_t name, module;
	size_t first_line, nlines;
};

/* From its time on, a function is at [address, address + size). */
struct jit_event {
	uint64_t time, address, size;
	uint32_t code;
};

struct jit_dump {
	struct jit_event *events; /* as in the file, whose times do not fall */
	size_t nevents, capacity;
	size_t next; /* the first one that is not yet applied */
};

struct perf_jit {
	const char *sysroot, *trace;
	bool ignore_times;
	/* the functions of all dumps, by number from 1, their lines and texts */
	struct jit_code *codes;
	size_t ncodes, codes_capacity;
	struct jit_line *lines;
	size_t nlines, lines_capacity;
	struct buffer texts;
	struct jit_dump **dumps;
	size_t ndumps, dumps_capacity;
	struct idmap numbers;  /* of maps, by pid, from 1 */
	struct symbols **maps; /* of /tmp/perf-PID.map, NULL: there is none */
	size_t nmaps, maps_capacity;
	struct id_cache kernel_codes; /* by name: numbers of code */
	char module[64];	      /* of the last symbol */
};

enum { LOG_LEAST = 12, LOG_MOST = 20, RANDOM_MOST = 256 };

static size_t unwind_size_of(const struct known_stacks *k)
{
	return (size_t)1 << (64 - k->shift);
}

struct known_stacks *known_stacks_new(void)
{
	struct known_stacks *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->shift = 64 - LOG_LEAST;
	k->slots = huge_zeroed(unwind_size_of(k) * sizeof *k->slots);
	for (size_t at = 0, n; k->slots && at < sizeof k->key; at += n) {
		n = sizeof k->key - at < RANDOM_MOST ? sizeof k->key - at : RANDOM_MOST;
		if (getentropy((char *)&k->key + at, n)) {
			free(k->slots);
			k->slots = NULL;
		}
	}
	if (!k->slots) {
		free(k);
		return NULL;
	}
	return k;
}

void known_stacks_free(struct known_stacks *k)
{
	if (k)
		free(k->slots);
	free(k);
}

/* Put a stack that is not there. */
static void known_stacks_insert(struct known_stacks *k, struct key_map_slot s)
{
	size_t at = s.key >> k->shift;

	while (k->slots[at].number)
		at = (at + 1) & (unwind_size_of(k) - 1);
	k->slots[at] = s;
}

/* Double the number of slots. If there are enough, or no more memory, empty them instead. */
static void unwind_make_room(struct known_stacks *k)
{
	size_t old = unwind_size_of(k);
	struct key_map_slot *slots = k->slots, *more = NULL;

	if (k->shift > 64 - LOG_MOST)
		more = huge_zeroed(2 * old * sizeof *more);
	if (!more) {
		memset(slots, 0, old * sizeof *slots);
		k->count = 0;
		return;
	}
	k->slots = more;
	k->shift--;
	for (size_t i = 0; i < old; i++)
		if (slots[i].number)
			known_stacks_insert(k, slots[i]);
	free(slots);
}

void known_stacks_put(struct known_stacks *k, uint64_t digest, uint32_t stack)
{
	if (k->count >= unwind_size_of(k) / 4 * 3)
		unwind_make_room(k);
	known_stacks_insert(k, (struct key_map_slot){.key = digest, .number = stack});
	k->count++;
}

/* --- unwind registers --- */

/* ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 ... r15 */
static const struct unwind_machine x86_64 = {EM_X86_64, 7, 8, 24, {0,  3,  2,  1,  4,  5,  6,  7,
								   16, -1, -1, -1, -1, -1, -1, -1,
								   8,  9,  10, 11, 12, 13, 14, 15}};
static const struct unwind_machine i386 = {EM_386, 7, 8, 9, {0, 3, 1, 2, 6, 7, 5, 4, 8}};
/* x0 ... x30 sp pc */
static const struct unwind_machine aarch64 = {
	EM_AARCH64, 31, 32, 33, {0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15, 16,
				 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1}};
/* r0 ... r15 */
static const struct unwind_machine arm = {
	EM_ARM, 13, 15, 16, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

/* Find a machine by its name (of uname -m; NULL: x86_64) and enum perf_abi. NULL: none. */
static const struct unwind_machine *unwind_machine_find(const char *name, uint64_t abi)
{
	bool narrow = abi == PERF_ABI_32;

	if (!name || !strcmp(name, "x86_64"))
		return narrow ? &i386 : &x86_64;
	if (!strcmp(name, "aarch64"))
		return narrow ? &arm : &aarch64;
	if (name[0] == 'i' && !strcmp(name + 2, "86"))
		return &i386;
	return !strncmp(name, "arm", 3) ? &arm : NULL;
}

/* Get a register by perf's number. Returns false if it was not recorded. */
static bool unwind_register(const struct perf_user_state *s, unsigned number, uint64_t *value)
{
	uint64_t bit = (uint64_t)1 << number;

	if (!(s->mask & bit))
		return false;
	*value = get_uint(s->registers + 8 * __builtin_popcountll(s->mask & (bit - 1)), 8,
			  s->big_endian);
	return true;
}

/* --- maps --- */

enum { MAPS_MOST = 1 << 20, MAPS_OF_PROCESS = 1 << 16 };

static struct perf_maps *perf_maps_new(struct perf_spaces *s, int32_t pid, bool kernel)
{
	struct perf_maps *m = calloc(1, sizeof *m);

	if (m)
		*m = (struct perf_maps){
			.users = 1, .pid = pid, .kernel = kernel, .context = ++s->contexts};
	if (m)
		m->number = m->context;
	return m;
}

void perf_maps_release(struct perf_maps *m)
{
	while (m && !--m->users) {
		struct perf_maps *before = m->before;

		tdestroy(m->present, free);
		free(m->spaces);
		free(m);
		m = before;
	}
}

int perf_spaces_init(struct perf_spaces *s, struct writer *w)
{
	s->w = w;
	s->kernel = perf_maps_new(s, -1, true);
	s->known = known_stacks_new();
	return s->kernel && s->known ? 0 : -1;
}

void perf_spaces_free(struct perf_spaces *s)
{
	perf_maps_release(s->kernel);
	known_stacks_free(s->known);
	for (size_t i = 0; i < s->size; i++)
		key_map_free(&s->locations[i]);
	free(s->locations);
}

/* Compare mappings, or find those that overlap a key: those of a tree do not overlap. */
static int unwind_compare_ranges(const void *a, const void *b)
{
	const struct perf_map *x = a, *y = b;

	return x->end <= y->start ? -1 : x->start >= y->end;
}

/* Find a mapping that has a part of [start, end). */
static struct perf_map *find_overlap(const struct perf_maps *m, uint64_t start, uint64_t end)
{
	struct perf_map key = {.start = start, .end = end};
	struct perf_map *const *found = tfind(&key, &m->present, unwind_compare_ranges);

	return found ? *found : NULL;
}

static const struct perf_map *unwind_find_map(const struct perf_maps *m, uint64_t address)
{
	return address < UINT64_MAX ? find_overlap(m, address, address + 1) : NULL;
}

/* Find the mapping of an address; NULL: there is none. */
static const struct perf_map *perf_maps_find(const struct perf_maps *m, uint64_t address)
{
	const struct perf_map *map = unwind_find_map(m, address);

	return map || !m->before ? map : unwind_find_map(m->before, address);
}

/* Find the first mapping that ends after an address. NULL: there is none. */
static const struct perf_map *find_after(const struct perf_maps *m, uint64_t address)
{
	const struct perf_map *first = NULL, *map;

	for (uint64_t end = UINT64_MAX; (map = find_overlap(m, address, end)); end = map->start)
		first = map;
	return first;
}

/* Get the first space of the mappings. */
static uint32_t perf_maps_space(struct perf_spaces *s, struct perf_maps *m, uint32_t layer)
{
	uint32_t *space;
	char name[64] = "kernel"; /* equal spaces would be one */

	if (ARRAY_REACH(m->spaces, m->spaces_capacity, layer))
		return 0;
	space = &m->spaces[layer];
	if (*space)
		return *space;
	if (!m->kernel || layer)
		snprintf(name, sizeof name, "%d.%u.%u", m->pid, m->number, layer);
	*space = writer_space(s->w, &(struct space_entry){.source = s->source,
							  .name = writer_text(s->w, name),
							  .pid = m->kernel ? 0 : m->pid,
							  .flags = m->kernel ? SPACE_KERNEL : 0});
	return *space;
}

/* Insert a mapping that overlaps no other one. */
static int maps_insert(struct perf_maps *m, const struct perf_map *map)
{
	struct perf_map *copy = malloc(sizeof *copy);

	if (!copy)
		return -1;
	*copy = *map;
	if (!tsearch(copy, &m->present, unwind_compare_ranges)) {
		free(copy);
		return -1;
	}
	return 0;
}

/* Remove [start, end) from a mapping that overlaps it. */
static int clear_overlap(struct perf_maps *m, struct perf_map *p, uint64_t start, uint64_t end)
{
	struct perf_map rest = *p;
	bool before = p->start < start;

	rest.offset += end - p->start;
	rest.start = end;
	if (before)
		p->end = start;
	if (rest.end > end && before)
		return maps_insert(m, &rest);
	if (rest.end > end) {
		*p = rest;
	} else if (!before) {
		tdelete(p, &m->present, unwind_compare_ranges);
		free(p);
	}
	return 0;
}

static bool unwind_is_same(const struct perf_map *a, const struct perf_map *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->path == b->path && a->build_id == b->build_id && a->code == b->code;
}

/* Numbers of perf_map.code. */
enum { JIT_NONE, JIT_UNKNOWN = UINT32_MAX - 1, JIT_ANONYMOUS };

/* Declare a mapping in its layer. */
static int unwind_declare_map(struct perf_spaces *s, struct perf_maps *m,
			      const struct perf_map *map)
{
	uint32_t space = perf_maps_space(s, m, map->layer);

	if (!space)
		return -1;
	m->declared++;
	s->nmaps++;
	/* functions of JIT compilers have symbols at their locations */
	if (map->code && map->code != JIT_ANONYMOUS)
		return 0;
	return writer_map(s->w, &(struct map_entry){.space = space,
						    .flags = MAP_FILE_OFFSET,
						    .start = map->start,
						    .end = map->end,
						    .offset = map->offset,
						    .path = map->path,
						    .build_id = map->build_id});
}

/* Declare and insert a mapping. Its layer is above those of all that it overlaps, which are above
 * those of what was there before. */
static int unwind_add_map(struct perf_spaces *s, struct perf_maps *m, struct perf_map *map)
{
	struct perf_map *p = find_overlap(m, map->start, map->end);

	map->layer = 0;
	if (p && unwind_is_same(p, map)) {
		map->layer = p->layer;
		*p = *map;
		return 0;
	}
	for (; p; p = find_overlap(m, map->start, map->end)) {
		if (p->layer >= map->layer)
			map->layer = p->layer + 1;
		if (clear_overlap(m, p, map->start, map->end))
			return -1;
	}
	return unwind_declare_map(s, m, map) || maps_insert(m, map) ? -1 : 0;
}

/* Give the process its own mappings. */
static int unshare(struct perf_spaces *s, struct perf_maps **shared, int32_t pid)
{
	struct perf_maps *from = *shared, *m = perf_maps_new(s, pid, false);
	const struct perf_map *map = m ? find_after(from, 0) : NULL;

	if (!m)
		return -1;
	m->before = from->before;
	if (m->before)
		m->before->users++;
	for (; map; map = find_after(from, map->end)) {
		struct perf_map own = *map;

		if (unwind_add_map(s, m, &own)) {
			perf_maps_release(m);
			return -1;
		}
	}
	perf_maps_release(from);
	*shared = m;
	return 0;
}

/* Give a process that executes a program no mappings of its own. An address that the new program
 * has not mapped is that of the program before: the kernel executes a program on its behalf. */
static int perf_maps_exec(struct perf_spaces *s, struct perf_maps **m, int32_t pid)
{
	struct perf_maps *before = *m;

	/* recorders of several events may repeat a record: the program has not mapped anything */
	if (!before || !before->present)
		return 0;
	*m = perf_maps_new(s, pid, false);
	if (!*m) {
		*m = before;
		return -1;
	}
	(*m)->before = before;
	/* one program before is enough */
	if (before->users == 1) {
		perf_maps_release(before->before);
		before->before = NULL;
	}
	return 0;
}

int perf_maps_add(struct perf_spaces *s, struct perf_maps **maps, struct perf_map map, int32_t pid)
{
	struct perf_maps *m;

	if (map.end <= map.start || s->nmaps >= MAPS_MOST || (*maps)->declared >= MAPS_OF_PROCESS)
		return 0;
	if ((*maps)->users > 1 && unshare(s, maps, pid))
		return -1;
	m = *maps;
	m->context = ++s->contexts;
	return unwind_add_map(s, m, &map);
}

/* --- unwind --- */

enum { THREAD = 1, MODULES_MOST = 1024, FILES_MOST = 1 << 16 };

struct unwind_file {
	uint32_t key; /* of its path in the names; the build-id follows the path's NUL */
	bool missing; /* it could not be read */
	struct frame_tables *tables; /* NULL: not read */
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

enum {
	UNWIND_FRAMES = 1024, /* most frames of a stack */
	UNWIND_SPACES = 32,
	UNWIND_TABLES = 64 << 20,
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

/* Get a number for a mapped file, for perf_map.file; build_id: in hexadecimal, NULL: not known. 0:
 * out of memory. */
static uint32_t perf_unwinder_file(struct perf_unwinder *u, const char *path, size_t n,
				   const char *build_id)
{
	struct buffer key = {0};
	uint32_t *number = NULL;

	if (!buffer_append(&key, path, n) && !buffer_append(&key, "", 1) &&
	    !buffer_append(&key, build_id ? build_id : "", build_id ? strlen(build_id) : 0))
		number = id_cache_number(&u->names, key.data, key.size);
	buffer_free(&key);
	if (!number || *number)
		return number ? *number : 0;
	if (ARRAY_GROW(u->files, u->capacity, u->nfiles))
		return 0;
	/* of those beyond the limit nothing is read */
	u->files[u->nfiles] = (struct unwind_file){.key = u->names.keys.count - 1,
						   .missing = u->nfiles >= FILES_MOST};
	*number = (uint32_t)++u->nfiles;
	return *number;
}

/* Get the tables of a file. NULL: there are none for this machine. */
static struct frame_tables *tables_of(struct perf_unwinder *u, uint32_t number)
{
	struct unwind_file *f = number ? &u->files[number - 1] : NULL;
	struct error e;
	const char *path;

	if (!f || f->missing)
		return NULL;
	if (!f->tables) {
		path = intern_data(&u->names.keys, f->key);
		f->tables = frame_tables_open(path, u->sysroot, path + strlen(path) + 1, &e);
		if (!f->tables) {
			f->missing = true;
			if (!u->missing++)
				u->first_missing = e;
			return NULL;
		}
		u->size += f->tables->size;
	}
	return f->tables->machine == u->space->machine->elf ? f->tables : NULL;
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
static int unwind_find_debug(Dwfl_Module *module, void **userdata, const char *name,
			     Dwarf_Addr base, const char *file, const char *link,
			     GElf_Word checksum, char **found)
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

/* Free the spaces, and then the tables of the files. */
static void unwinder_empty(struct perf_unwinder *u)
{
	for (int i = 0; i < UNWIND_SPACES; i++)
		space_free(&u->spaces[i]);
	for (size_t i = 0; i < u->nfiles; i++) {
		if (u->files[i].tables)
			frame_tables_close(u->files[i].tables);
		u->files[i].tables = NULL;
	}
	u->size = 0;
}

/* Get the space of mappings: the one in use, or a new one in place of the least recently used.
 * NULL: libdw fails. */
static struct unwind_space *unwind_space_of(struct perf_unwinder *u, const struct perf_maps *m,
					    const struct unwind_machine *machine)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
						 .find_debuginfo = unwind_find_debug,
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

/* Test whether the module is still what is mapped at an address in it. */
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
	Dwfl_Module *reported;
	char name[16];
	void **userdata;

	if (!t || s->nmodules == MODULES_MOST || !bias_of(t, map, &module.bias))
		return;
	module.low = t->low + module.bias;
	module.high = t->high + module.bias;
	if (ARRAY_GROW(s->modules, s->capacity, s->nmodules) || module.low >= module.high)
		return;
	snprintf(name, sizeof name, "%zu", s->nmodules);
	reported = dwfl_report_module(s->dwfl, name, module.low, module.high);
	if (!reported)
		return;
	dwfl_module_info(reported, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = t;
	s->modules[s->nmodules++] = module;
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

static bool unwind_get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
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

/* Give libdw the registers of the thread. Returns false if libdw refuses them. */
static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct perf_unwinder *u = arg;
	const struct unwind_machine *m = u->space->machine;
	uint64_t value;

	for (unsigned i = 0; i < m->count; i++) {
		Dwarf_Word word;

		if (m->dwarf[i] < 0 || !unwind_register(u->state, i, &value))
			continue;
		word = value;
		if (!dwfl_thread_state_registers(thread, m->dwarf[i], 1, &word))
			return false;
	}
	if (!unwind_register(u->state, m->pc, &value))
		return false;
	dwfl_thread_state_register_pc(thread, value);
	return true;
}

/* Give libdw the thread, once. Returns false if it is not possible. */
static bool attach(struct perf_unwinder *u)
{
	static const Dwfl_Thread_Callbacks callbacks = {.next_thread = next_thread,
							.get_thread = unwind_get_thread,
							.memory_read = read_memory,
							.set_initial_registers = set_registers};
	struct unwind_space *s = u->space;

	if (dwfl_pid(s->dwfl) == THREAD)
		return true;
	/* once for the same mappings, if none of them has a file that can be read */
	if (!s->elf && s->without == u->maps->context)
		return false;
	for (const struct perf_map *map = find_after(u->maps, 0); map && !s->elf;
	     map = find_after(u->maps, map->end))
		if (map->file)
			add_module(u, map);
	if (!s->elf)
		s->without = u->maps->context;
	return s->elf && dwfl_attach_state(s->dwfl, s->elf, THREAD, &callbacks, u);
}

/* Test whether the stack goes on from a frame. The stack pointer grows; only a frame that has not
 * yet used the stack has that of its caller. */
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

static int unwind_take_frame(Dwfl_Frame *frame, void *arg)
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

/*
 * Unwind a stack. Returns the number of its frames, the innermost first; at most UNWIND_FRAMES, 0
 * if the registers were not recorded. The address of a frame that calls another is that of the last
 * byte of its call. *addresses is valid until the next call.
 */
static size_t perf_unwind(struct perf_unwinder *u, const struct perf_maps *m,
			  const struct perf_user_state *state, const uint64_t **addresses)
{
	const struct unwind_machine *machine = unwind_machine_find(u->machine, state->abi);
	uint64_t pc;

	if (!unwind_register(state, machine->pc, &pc) ||
	    !unwind_register(state, machine->sp, &u->begin))
		return 0;
	if (u->size > UNWIND_TABLES)
		unwinder_empty(u);
	u->maps = m;
	u->state = state;
	/* once more if what is mapped has changed */
	for (int i = 0; i < 2; i++) {
		u->count = 0;
		u->last_sp = 0;
		u->space = unwind_space_of(u, m, machine);
		if (!u->space)
			break;
		u->space->used = ++u->stacks;
		cover(u, pc);
		if (!u->space->stale && attach(u))
			dwfl_getthread_frames(u->space->dwfl, THREAD, unwind_take_frame, u);
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
	unwinder_empty(u);
	free(u->files);
	id_cache_free(&u->names);
	free(u);
}

uint64_t perf_unwinder_missing(const struct perf_unwinder *u, struct error *first)
{
	*first = u->first_missing;
	return u->missing;
}

/* --- jit dump --- */

/* Sizes are those of the records of perf's jitdump-specification.txt. */
enum {
	MAGIC = 0x4a695444,
	HEAD = 40,
	RECORD_HEAD = 16,
	LOAD = 0,
	MOVE = 1,
	DEBUG_INFO = 2,
	CLOSE = 3,
	LOAD_BODY = 40,
	MOVE_BODY = 48,
	DEBUG_BODY = 16,
	DEBUG_LINE = 16,
	ARCH_TIMES = 1, /* flag of the file: times are not in nanoseconds */
	CODES_MOST = 1 << 20,
	LINES_MOST = 1 << 22,
	RECORD_MOST = 1 << 24, /* bytes that are read of a record; the code itself is skipped */
};

struct stack_reader {
	FILE *file;
	const char *path;
	uint64_t offset; /* of the present record */
	bool swapped;
	struct buffer record; /* what is read of it, without its head */
	struct buffer debug;  /* the last DEBUG_INFO, for the function that follows */
	uint64_t debug_address;
	uint32_t module;
	uint32_t *by_index; /* function by its number in the file; 0: none */
	size_t nindex;
	struct perf_jit *jit;
	struct jit_dump *dump;
};

static uint64_t unwind_number(const struct stack_reader *r, const uint8_t *d, unsigned size)
{
	return get_uint(d, size, r->swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
}

static int unwind_no_memory(const struct stack_reader *r, struct error *e)
{
	return error_set(e, r->path, NO_OFFSET, "out of memory");
}

/* Keep a text. Returns its offset, 0 when out of memory: offset 0 is "". */
static uint32_t unwind_keep_text(struct perf_jit *j, const char *text, size_t n)
{
	size_t at = j->texts.size;

	if ((!at && buffer_append(&j->texts, "", 1)) || j->texts.size > UINT32_MAX - n - 2)
		return 0;
	at = j->texts.size;
	return buffer_append(&j->texts, text, n) || buffer_append(&j->texts, "", 1) ? 0
										    : (uint32_t)at;
}

/* Take the lines of the DEBUG_INFO before a function. */
static int take_lines(struct stack_reader *r, struct jit_code *code)
{
	struct perf_jit *j = r->jit;
	const uint8_t *d = r->debug.data, *end = d + r->debug.size;
	uint64_t n = unwind_number(r, d + 8, 8);
	uint32_t file = 0;

	code->first_line = j->nlines;
	for (d += DEBUG_BODY; n && (size_t)(end - d) > DEBUG_LINE; n--) {
		const char *name = (const char *)d + DEBUG_LINE;
		size_t size = strnlen(name, (size_t)(end - d) - DEBUG_LINE);

		if (ARRAY_GROW(j->lines, j->lines_capacity, j->nlines))
			return -1;
		/* one byte 0xff: the file of the line before */
		if (size != 1 || (uint8_t)*name != 0xff)
			file = unwind_keep_text(j, name, size);
		if (!file || j->nlines == LINES_MOST)
			return file ? 0 : -1;
		j->lines[j->nlines++] = (struct jit_line){unwind_number(r, d, 8), file,
							  (uint32_t)unwind_number(r, d + 8, 4)};
		code->nlines++;
		if ((size_t)(end - d) - DEBUG_LINE <= size)
			break;
		d += DEBUG_LINE + size + 1;
	}
	return 0;
}

static int unwind_add_event(struct jit_dump *d, struct jit_event event)
{
	if (ARRAY_GROW(d->events, d->capacity, d->nevents))
		return -1;
	d->events[d->nevents++] = event;
	return 0;
}

static int take_load(struct stack_reader *r, uint64_t time)
{
	struct perf_jit *j = r->jit;
	const uint8_t *d = r->record.data;
	const char *name = (const char *)d + LOAD_BODY;
	struct jit_code *code;
	uint64_t address = unwind_number(r, d + 16, 8), index = unwind_number(r, d + 32, 8);

	if (ARRAY_GROW(j->codes, j->codes_capacity, j->ncodes))
		return -1;
	code = &j->codes[j->ncodes];
	*code = (struct jit_code){
		.address = address,
		.name = unwind_keep_text(j, name, strnlen(name, r->record.size - LOAD_BODY)),
		.module = r->module};
	if (!code->name ||
	    (r->debug.size >= DEBUG_BODY && r->debug_address == address && take_lines(r, code)))
		return -1;
	r->debug.size = 0;
	j->ncodes++;
	if (index < CODES_MOST) {
		if (ARRAY_REACH(r->by_index, r->nindex, index))
			return -1;
		r->by_index[index] = (uint32_t)j->ncodes;
	}
	return unwind_add_event(r->dump,
				(struct jit_event){time, address, unwind_number(r, d + 24, 8),
						   (uint32_t)j->ncodes});
}

static int take_move(struct stack_reader *r, uint64_t time)
{
	const uint8_t *d = r->record.data;
	uint64_t index = unwind_number(r, d + 40, 8);
	uint32_t code = index < r->nindex ? r->by_index[index] : 0;

	return code ? unwind_add_event(r->dump,
				       (struct jit_event){time, unwind_number(r, d + 24, 8),
							  unwind_number(r, d + 32, 8), code})
		    : 0;
}

/* Returns 1 at the end, -1 when out of memory. */
static int unwind_take_record(struct stack_reader *r, uint32_t kind, uint64_t time)
{
	switch (kind) {
	case LOAD:
		if (r->jit->ncodes == CODES_MOST)
			return 1;
		return r->record.size > LOAD_BODY ? take_load(r, time) : 0;
	case MOVE: return r->record.size >= MOVE_BODY ? take_move(r, time) : 0;
	case DEBUG_INFO:
		r->debug.size = 0;
		if (r->record.size < DEBUG_BODY)
			return 0;
		r->debug_address = unwind_number(r, r->record.data, 8);
		return buffer_append(&r->debug, r->record.data, r->record.size);
	case CLOSE: return 1;
	default: return 0;
	}
}

/* Read a record but the code of a LOAD. Returns 1 for a record, 0 at the end, -1 with e filled. */
static int unwind_next_record(struct stack_reader *r, uint32_t *kind, uint64_t *time,
			      struct error *e)
{
	uint8_t head[RECORD_HEAD];
	size_t n = fread(head, 1, sizeof head, r->file), size, wanted;

	if (!n)
		return 0;
	*kind = (uint32_t)unwind_number(r, head, 4);
	size = (size_t)unwind_number(r, head + 4, 4);
	*time = unwind_number(r, head + 8, 8);
	if (n < sizeof head || size < RECORD_HEAD)
		return error_set(e, r->path, r->offset, "a damaged record: the rest is left out");
	size -= RECORD_HEAD;
	wanted = *kind == LOAD && size > LOAD_BODY + 4096 ? LOAD_BODY + 4096 : size;
	if (wanted > RECORD_MOST)
		wanted = RECORD_MOST;
	r->record.size = 0;
	if (buffer_reserve(&r->record, wanted))
		return unwind_no_memory(r, e);
	r->record.size = fread(r->record.data, 1, wanted, r->file);
	if (r->record.size < wanted || fseek(r->file, (long)(size - wanted), SEEK_CUR))
		return error_set(e, r->path, r->offset,
				 "the file ends within a record, which is left out");
	r->offset += RECORD_HEAD + size;
	return 1;
}

static int read_records(struct stack_reader *r, struct error *e)
{
	uint32_t kind;
	uint64_t time;
	int got, taken = 0;

	while (!taken && (got = unwind_next_record(r, &kind, &time, e)) > 0)
		taken = unwind_take_record(r, kind, time);
	if (taken < 0)
		return unwind_no_memory(r, e);
	return taken ? 0 : got;
}

static int unwind_read_head(struct stack_reader *r, struct error *e)
{
	uint8_t head[HEAD];
	uint32_t size;

	if (fread(head, 1, HEAD, r->file) < HEAD)
		return error_set(e, r->path, 0, "not a dump of a JIT compiler: too short");
	r->swapped = unwind_number(r, head, 4) != MAGIC;
	if (unwind_number(r, head, 4) != MAGIC)
		return error_set(e, r->path, 0, "not a dump of a JIT compiler: unknown magic");
	size = (uint32_t)unwind_number(r, head + 8, 4);
	if (unwind_number(r, head + 4, 4) != 1 || size < HEAD ||
	    fseek(r->file, (long)size, SEEK_SET))
		return error_set(e, r->path, 4, "unknown version of a JIT compiler's dump");
	if (unwind_number(r, head + 32, 8) & ARCH_TIMES)
		return error_set(e, r->path, 32,
				 "times of the machine's counter cannot be compared with those of "
				 "the trace");
	r->offset = size;
	return 0;
}

/* Read a dump. Returns -1 with e filled if it is damaged; the events up to there are kept. */
static int jit_dump_read(const char *path, struct perf_jit *j, struct jit_dump *d, struct error *e)
{
	struct stack_reader r = {.path = path, .jit = j, .dump = d};
	struct stat st;
	int bad;

	if (stat(path, &st))
		return error_errno(e, path, NO_OFFSET, "cannot open");
	r.file = S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
	if (!r.file)
		return error_set(e, path, NO_OFFSET, "cannot open, or no regular file");
	r.module = unwind_keep_text(j, path, strlen(path));
	bad = !r.module			? unwind_no_memory(&r, e)
	      : unwind_read_head(&r, e) ? -1
					: read_records(&r, e);
	free(r.by_index);
	buffer_free(&r.record);
	buffer_free(&r.debug);
	fclose(r.file);
	return bad;
}

/* --- jit --- */

enum { NAME_MOST = 4096, MAP_TEXT_MOST = 256 << 20, PIECE = 1 << 16 };

struct perf_jit *perf_jit_new(const char *sysroot, const char *trace, bool ignore_times)
{
	struct perf_jit *j = calloc(1, sizeof *j);

	if (j)
		*j = (struct perf_jit){.sysroot = sysroot ? sysroot : "",
				       .trace = trace,
				       .ignore_times = ignore_times};
	return j;
}

void perf_jit_free(struct perf_jit *j)
{
	if (!j)
		return;
	for (size_t i = 0; i < j->ndumps; i++) {
		free(j->dumps[i]->events);
		free(j->dumps[i]);
	}
	for (size_t i = 0; i < j->nmaps; i++)
		symbols_free(j->maps[i]);
	free(j->dumps);
	free(j->maps);
	idmap_free(&j->numbers);
	free(j->codes);
	free(j->lines);
	buffer_free(&j->texts);
	id_cache_free(&j->kernel_codes);
	free(j);
}

/* --- /tmp/perf-PID.map --- */

/* Returns JIT_ANONYMOUS for the path of memory without a file, else JIT_NONE. */
static uint32_t perf_jit_anonymous(const char *path, size_t n)
{
	static const char *const paths[] = {"//anon", "/dev/zero", "/anon_hugepage"};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (n >= strlen(paths[i]) && !memcmp(path, paths[i], strlen(paths[i])))
			return JIT_ANONYMOUS;
	return JIT_NONE;
}

/* A line of a map: start and size in hex, with or without 0x, and the name. */
struct map_line {
	uint64_t start, size;
	const char *name;
	size_t name_size, number;
};

/* Read a number and the blank after it. */
static bool read_hex(const char **text, const char *end, uint64_t *value)
{
	if (end - *text > 2 && !memcmp(*text, "0x", 2))
		*text += 2;
	return digits_hex(text, end, value) && *text < end && *(*text)++ == ' ';
}

static bool unwind_read_line(const char *text, size_t n, struct map_line *l)
{
	const char *end = text + n;

	if (end > text && end[-1] == '\r')
		end--;
	if (!read_hex(&text, end, &l->start) || !read_hex(&text, end, &l->size) || text == end)
		return false;
	l->name = text;
	l->name_size = (size_t)(end - text);
	return l->size && l->start <= UINT64_MAX - l->size;
}

/* By address; of one address the last line first. */
static int unwind_compare_lines(const void *a, const void *b)
{
	const struct map_line *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number > y->number ? -1 : x->number < y->number;
}

static struct symbols *symbols_of_lines(const struct map_line *line, size_t n)
{
	struct symbols *s = symbols_new();
	int bad = s ? 0 : -1;

	for (size_t i = 0; i < n && !bad; i++)
		if (!i || line[i].start != line[i - 1].start)
			bad = symbols_add(s, line[i].start, line[i].size, 'T', line[i].name,
					  line[i].name_size);
	if (!bad && !symbols_sort(s) && !symbols_nest(s))
		return s;
	symbols_free(s);
	return NULL;
}

static struct symbols *symbols_of_text(const char *text, size_t size)
{
	struct map_line *line = NULL;
	size_t n = 0, capacity = 0;
	struct symbols *s;

	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		if (ARRAY_GROW(line, capacity, n)) {
			free(line);
			return NULL;
		}
		line[n].number = n;
		n += unwind_read_line(l.line, l.size, &line[n]);
	}
	if (n)
		qsort(line, n, sizeof *line, unwind_compare_lines);
	s = symbols_of_lines(line, n);
	free(line);
	return s;
}

/* Read a regular file of this user or of root, as perf does: anyone can write to /tmp. */
static int unwind_read_map(const char *path, struct buffer *b, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return errno == ENOENT ? 0 : error_errno(e, path, NO_OFFSET, "cannot open");
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		error_set(e, path, NO_OFFSET, "is not a regular file, and is not read");
	else if (st.st_uid && st.st_uid != geteuid())
		error_set(e, path, NO_OFFSET,
			  "belongs to another user, and is not read: copy it below --sysroot");
	else
		do {
			if (b->size > MAP_TEXT_MOST || buffer_reserve(b, PIECE)) {
				n = -1;
				error_set(e, path, NO_OFFSET, "too large, and is not read");
				break;
			}
			n = read(fd, b->data + b->size, PIECE);
			b->size += n > 0 ? (size_t)n : 0;
		} while (n > 0 || (n < 0 && errno == EINTR));
	close(fd);
	return n < 0 ? -1 : 0;
}

static struct symbols *unwind_load_map(struct perf_jit *j, int32_t pid)
{
	struct buffer path = {0}, text = {0};
	struct symbols *s = NULL;
	struct error e = {.what = ""};

	if (!buffer_printf(&path, "%s/tmp/perf-%" PRId32 ".map", j->sysroot, pid)) {
		if (unwind_read_map((const char *)path.data, &text, &e))
			warn(e.what[0] ? (const char *)path.data : NULL, NO_OFFSET, "%s", e.what);
		else if (text.size)
			s = symbols_of_text((const char *)text.data, text.size);
	}
	buffer_free(&path);
	buffer_free(&text);
	return s;
}

/* Get the functions of a process. NULL: none are known. */
static struct symbols *map_of(struct perf_jit *j, int32_t pid)
{
	uint32_t number = idmap_get(&j->numbers, (uint32_t)pid);

	if (number)
		return j->maps[number - 1];
	if (ARRAY_GROW(j->maps, j->maps_capacity, j->nmaps) ||
	    idmap_set(&j->numbers, (uint32_t)pid, (uint32_t)j->nmaps + 1))
		return NULL;
	j->maps[j->nmaps++] = unwind_load_map(j, pid);
	return j->maps[j->nmaps - 1];
}

static bool symbol_of_map(struct perf_jit *j, int32_t pid, uint64_t address, struct symbol_entry *e)
{
	const struct symbols *symbols = map_of(j, pid);
	const struct symbol *s = symbols ? symbols_find(symbols, address) : NULL;

	if (!s)
		return false;
	snprintf(j->module, sizeof j->module, "/tmp/perf-%" PRId32 ".map", pid);
	*e = (struct symbol_entry){.start = s->start,
				   .size = s->size,
				   .name = s->name,
				   .name_size = (uint32_t)strlen(s->name),
				   .module = j->module,
				   .module_size = (uint32_t)strlen(j->module)};
	return true;
}

/* --- dumps --- */

/* Test whether it is the path of a dump, .../jit-PID.dump. */
static bool is_dump(const char *path, size_t n)
{
	const char *name = memrchr(path, '/', n);
	size_t digits;

	n -= name ? (size_t)(++name - path) : 0;
	if (!name || n < 10 || memcmp(name, "jit-", 4) || memcmp(name + n - 5, ".dump", 5))
		return false;
	for (digits = 4; digits < n - 5; digits++)
		if (name[digits] < '0' || name[digits] > '9')
			return false;
	return true;
}

/* Read the dump where it was written, or beside the recording. */
static int unwind_read_dump(struct perf_jit *j, const char *path, int n, struct jit_dump *d)
{
	const char *name = memrchr(path, '/', (size_t)n) + 1, *slash = strrchr(j->trace, '/');
	struct buffer text = {0};
	struct error e;
	int bad = buffer_printf(&text, "%s%.*s", j->sysroot, n, path);

	if (!bad && access((const char *)text.data, F_OK)) {
		text.size = 0;
		bad = buffer_printf(&text, "%.*s%.*s", slash ? (int)(slash + 1 - j->trace) : 0,
				    j->trace, (int)(path + n - name), name);
	}
	if (bad || jit_dump_read((const char *)text.data, j, d, &e)) {
		if (bad)
			error_no_memory(&e);
		warn(e.file[0] ? e.file : NULL, e.offset, "%s", e.what);
	}
	buffer_free(&text);
	return d->nevents ? 0 : -1;
}

/* Read the dump that a process maps. Returns NULL if the path is not that of a dump, or nothing in
 * the file can be read, which is reported. */
static struct jit_dump *perf_jit_dump(struct perf_jit *j, const char *path, size_t n)
{
	struct jit_dump *d;

	if (!is_dump(path, n) || n > NAME_MOST)
		return NULL;
	d = calloc(1, sizeof *d);
	if (ARRAY_GROW(j->dumps, j->dumps_capacity, j->ndumps) || !d ||
	    unwind_read_dump(j, path, (int)n, d)) {
		if (d)
			free(d->events);
		free(d);
		return NULL;
	}
	return j->dumps[j->ndumps++] = d;
}

/* Change the mappings of a process to those at a time. Returns -1 when out of memory. */
static int perf_jit_advance(struct perf_jit *j, struct jit_dump *d, uint64_t time,
			    struct perf_spaces *s, struct perf_maps **maps, int32_t pid)
{
	for (; d->next < d->nevents; d->next++) {
		const struct jit_event *v = &d->events[d->next];

		if (v->time > time && !j->ignore_times)
			break;
		if (perf_maps_add(s, maps,
				  (struct perf_map){.start = v->address,
						    .end = v->address + v->size,
						    .code = v->code},
				  pid))
			return -1;
	}
	return 0;
}

static bool symbol_of_code(const struct perf_jit *j, const struct perf_map *map, uint64_t address,
			   struct symbol_entry *e)
{
	const struct jit_code *code = &j->codes[map->code - 1];
	const struct jit_line *line = j->lines + code->first_line;
	const char *texts = (const char *)j->texts.data;
	uint64_t inside = address - map->start + map->offset;
	/* the lines of a compiler are by address */
	size_t n = BISECT(code->nlines, i, line[i].address - code->address <= inside);

	*e = (struct symbol_entry){.start = map->start - map->offset,
				   .size = map->end - map->start + map->offset,
				   .name = texts + code->name,
				   .module = texts + code->module};
	if (n) {
		e->line = line[n - 1].line;
		e->file = texts + line[n - 1].file;
		e->file_size = (uint32_t)strlen(e->file);
	}
	e->name_size = (uint32_t)strlen(e->name);
	e->module_size = (uint32_t)strlen(e->module);
	return true;
}

/* Get the number of code that the kernel has made, such as a program of BPF: its symbol and its
 * module have the name. 0 when out of memory. */
static uint32_t perf_jit_kernel_code(struct perf_jit *j, const char *name, size_t n)
{
	uint32_t *code = id_cache_number(&j->kernel_codes, name, n), text;

	if (code && !*code) {
		text = unwind_keep_text(j, name, n);
		if (!text || ARRAY_GROW(j->codes, j->codes_capacity, j->ncodes))
			return 0;
		j->codes[j->ncodes++] = (struct jit_code){.name = text, .module = text};
		*code = (uint32_t)j->ncodes;
	}
	return code ? *code : 0;
}

/* Find the function at an address of a mapping with a code. Returns false if there is none. The
 * texts of *e are valid until the next call. */
static bool perf_jit_symbol(struct perf_jit *j, const struct perf_map *map, int32_t pid,
			    uint64_t address, struct symbol_entry *e)
{
	switch (map->code) {
	case JIT_UNKNOWN: return false;
	case JIT_ANONYMOUS: return symbol_of_map(j, pid, address, e);
	default: return symbol_of_code(j, map, address, e);
	}
}

/* --- locations --- */

/* Find the function at an address of a mapping, if the recording or a JIT compiler has named it. */
static bool perf_symbol_at(const struct perf_spaces *s, const struct perf_map *map, int32_t pid,
			   uint64_t address, struct symbol_entry *e)
{
	const struct recorded_place at = {.path = map->path,
					  .start = map->start,
					  .offset = map->offset,
					  .by_address = map->by_address,
					  .address = address};

	return (map->code && perf_jit_symbol(s->jit, map, pid, address, e)) ||
	       recorded_symbols_find(s->recorded, &at, e);
}

uint32_t perf_maps_location(struct perf_spaces *s, struct perf_maps *m, uint64_t address)
{
	const struct perf_map *map = m ? unwind_find_map(m, address) : NULL;
	uint32_t *location;
	struct symbol_entry symbol;
	uint32_t space;

	if (m && !map && m->before) {
		map = unwind_find_map(m->before, address);
		if (map)
			m = m->before;
	}
	space = m ? perf_maps_space(s, m, map ? map->layer : 0) : 0;
	if (m && !space)
		return 0;
	if (ARRAY_REACH(s->locations, s->size, space))
		return 0;
	location = key_map_number(&s->locations[space], address);
	if (!location || *location)
		return location ? *location : 0;
	*location =
		writer_location(s->w, &(struct location_entry){.space = space, .address = address});
	if (!*location || !map || !perf_symbol_at(s, map, m->pid, address, &symbol))
		return *location;
	symbol.flags = m->kernel ? SYMBOL_KERNEL : 0;
	return writer_symbol(s->w, *location, &symbol) ? 0 : *location;
}

/* --- threads --- */

enum { TABLE_MOST = 1 << 18 };

static struct perf_process *perf_process_of(struct perf *p, int32_t pid)
{
	uint64_t *known = key_map_value(&p->threads.processes, (uint32_t)pid);
	struct perf_process *process;

	if (!known || *known)
		return known ? (void *)(uintptr_t)*known : NULL;
	/* no machine has so many: the file is damaged */
	if (p->threads.processes.count > TABLE_MOST)
		return &p->threads.unknown_process;
	process = calloc(1, sizeof *process);
	if (!process)
		return NULL;
	*known = (uintptr_t)process;
	process->pid = pid;
	return process;
}

static int set_process(struct perf *p, struct perf_thread *thread, int32_t pid)
{
	struct perf_process *process = perf_process_of(p, pid);

	if (!process)
		return -1;
	thread->process = process;
	thread->pid = pid;
	thread->lane = 0;
	return 0;
}

static struct perf_thread *unwind_new_thread(struct perf *p, uint64_t *known, int32_t pid,
					     int32_t tid)
{
	struct perf_thread *thread = &p->threads.unknown;

	if (p->threads.threads.count <= TABLE_MOST) {
		thread = calloc(1, sizeof *thread);
		if (!thread)
			return NULL;
		*known = (uintptr_t)thread;
		thread->pid = -1;
	}
	thread->tid = tid;
	return set_process(p, thread, pid) ? NULL : thread;
}

struct perf_thread *perf_thread_of(struct perf *p, int32_t pid, int32_t tid)
{
	struct perf_thread *thread = p->threads.last;
	uint64_t *known;

	if (thread && thread->tid == tid && (thread->pid == pid || pid == -1))
		return thread;
	known = key_map_value(&p->threads.threads, (uint32_t)tid);
	if (!known)
		return NULL;
	thread = *known ? (void *)(uintptr_t)*known : unwind_new_thread(p, known, pid, tid);
	if (!thread || (thread->pid != pid && pid != -1 && set_process(p, thread, pid)))
		return NULL;
	p->threads.last = thread;
	return thread;
}

struct perf_maps *perf_process_maps(struct perf_spaces *s, struct perf_process *process)
{
	if (!process->maps)
		process->maps = perf_maps_new(s, process->pid, false);
	return process->maps;
}

static void perf_thread_rename(struct perf_thread *t, uint32_t comm)
{
	if (t->comm != comm)
		t->lane = 0;
	t->comm = comm;
}

/* Begin a thread: it has the name of its parent, and a process the mappings. */
static void perf_thread_fork(struct perf_thread *child, const struct perf_thread *parent)
{
	perf_thread_rename(child, parent->comm);
	if (child->process == parent->process)
		return;
	perf_maps_release(child->process->maps);
	child->process->maps = parent->process->maps;
	if (child->process->maps)
		child->process->maps->users++;
}

void perf_threads_free(struct perf *p)
{
	for (struct key_map_slot *s = NULL; (s = key_map_next(&p->threads.threads, s));)
		free((void *)(uintptr_t)s->value);
	for (struct key_map_slot *s = NULL; (s = key_map_next(&p->threads.processes, s));) {
		struct perf_process *process = (void *)(uintptr_t)s->value;

		perf_maps_release(process->maps);
		free(process);
	}
	perf_maps_release(p->threads.unknown_process.maps);
	key_map_free(&p->threads.threads);
	key_map_free(&p->threads.processes);
	id_cache_free(&p->threads.lanes);
}

/*
 * The mappings that records add: of files, of the kernel, and of code that the kernel makes.
 */

/* "[kernel.kallsyms]_text" is the kernel; the symbol shows where its address was recorded. The
 * names of memory of a program are whole: "[anon:dalvik-zygote] (deleted)". */
static size_t path_size(const char *path, size_t n, unsigned mode)
{
	const char *end = n && *path == '[' && mode != PERF_MODE_USER ? memchr(path, ']', n) : NULL;

	return end ? (size_t)(end + 1 - path) : n;
}

static bool is_kernel(const char *path, size_t n)
{
	static const char kernel[] = "[kernel.kallsyms]";

	return n >= sizeof kernel - 1 && !memcmp(path, kernel, sizeof kernel - 1);
}

/* Extend the mapping of the kernel: perf records where its text ends, and the code that runs once
 * at the start follows it. Modules, which are recorded later, replace what they cover. */
static void extend_kernel(struct perf_map *map, const char *path, size_t n)
{
	const uint64_t size = 64 << 20;

	if (is_kernel(path, n) && map->end - map->start < size && map->start <= UINT64_MAX - size)
		map->end = map->start + size;
}

static bool has_fact(const struct perf *p, const char *name, const char *text)
{
	for (size_t i = 0; i < p->h.nfacts; i++)
		if (!strcmp(p->h.facts[i].name, name))
			return !strcmp(p->h.facts[i].text, text);
	return false;
}

/* Find the build-id of the kernel, which pipes lack, and the files of perf record -z and
 * --switch-output: if the kernel that runs has the text of the recorded one at its addresses, it is
 * the recorded one. */
static bool find_running_kernel(struct perf *p, struct text_range text, char id[ELF_BUILD_ID_MAX])
{
	struct text_range *running = &p->spaces.running.text;
	struct utsname u;

	if (uname(&u) || !has_fact(p, "host", u.nodename) || !has_fact(p, "kernel", u.release))
		return false;
	/* once, however many records the kernel has */
	if (!p->spaces.running.is_read)
		symbols_running_text(running);
	p->spaces.running.is_read = true;
	return running->end && running->begin == text.begin && running->end == text.end &&
	       elf_build_id_of_kernel(id);
}

/* Find the build id of a file by its path, in hexadecimal; NULL: not known. */
static const char *perf_build_id_of(struct perf *p, const char *path, size_t n)
{
	uint32_t key = intern_find(&p->h.build_ids.keys, path, n), number;

	if (key == INTERN_NONE)
		return NULL;
	number = p->h.build_ids.numbers[key];
	return number ? (char *)p->h.build_id_texts.data + (size_t)(number - 1) * PERF_BUILD_ID_TEXT
		      : NULL;
}

static int perf_add_map(struct perf *p, const struct perf_record *r, struct perf_map map,
			const char *path, size_t n)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	bool kernel = (r->misc & PERF_MISC_MODE) == PERF_MODE_KERNEL;
	const char *build_id = perf_build_id_of(p, path, n);
	char text[ELF_BUILD_ID_MAX];
	struct perf_process *process;

	if ((r->misc & PERF_MISC_MODE) > PERF_MODE_HYPERVISOR)
		return 0; /* of a guest */
	if (r->type == PERF_RECORD_MMAP2 && r->misc & PERF_MISC_MMAP_BUILD_ID) {
		perf_build_id_text(d + 36, d[32], text);
		build_id = text;
	}
	if (!build_id && kernel && is_kernel(path, n) &&
	    find_running_kernel(p, (struct text_range){map.start, map.end}, text))
		build_id = text;
	map.path = writer_string(p->w, path, n);
	map.build_id = writer_text(p->w, build_id);
	if (kernel) {
		extend_kernel(&map, path, n);
		return perf_maps_add(&p->spaces, &p->spaces.kernel, map, -1);
	}
	process = perf_process_of(p, (int32_t)perf_u32(p, d));
	if (!process || !perf_process_maps(&p->spaces, process))
		return -1;
	map.code = perf_jit_anonymous(path, n);
	if (!process->dump)
		process->dump = perf_jit_dump(p->spaces.jit, path, n);
	/* "//anon" is no file */
	if (p->unwinder && n > 1 && path[0] == '/' && path[1] != '/') {
		map.file = perf_unwinder_file(p->unwinder, path, n, build_id);
		if (!map.file)
			return -1;
	}
	return perf_maps_add(&p->spaces, &process->maps, map, process->pid);
}

/* Take a mapping of a file. body: bytes between the record's header and origin. */
static int perf_apply_mmap(struct perf *p, const struct perf_record *r, size_t body)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t at = r->type == PERF_RECORD_MMAP ? PERF_MMAP_BODY : PERF_MMAP2_BODY;
	const char *path = (const char *)d + at;
	struct perf_map map;
	size_t n;

	if (body < at)
		return 0;
	map = (struct perf_map){.start = perf_u64(p, d + 8), .offset = perf_u64(p, d + 24)};
	map.end = map.start + perf_u64(p, d + 16);
	map.by_address = r->type == PERF_RECORD_MMAP2 &&
			 perf_u32(p, d + PERF_MMAP2_PROTECTION) & SIMPLEPERF_MAP_BY_ADDRESS;
	n = path_size(path, strnlen(path, body - at), r->misc & PERF_MISC_MODE);
	/* the offset is the address of the kernel's first symbol, so that what is mapped has the
	 * addresses relative to that symbol */
	if (n && *path == '[' && (r->misc & PERF_MISC_MODE) == PERF_MODE_KERNEL)
		map.offset = map.start - map.offset;
	return perf_add_map(p, r, map, path, n);
}

/* The kernel has freed code: what the code covered is there again. */
static int remove_ksymbol(struct perf *p, uint64_t address)
{
	const struct perf_map *gone = perf_maps_find(p->spaces.kernel, address);
	struct perf_map map;

	if (!gone || !gone->code)
		return 0;
	map = (struct perf_map){.start = gone->start,
				.end = gone->end,
				.path = gone->path,
				.build_id = gone->build_id,
				.offset = gone->path ? gone->start - gone->below : 0,
				.code = gone->path ? JIT_NONE : JIT_UNKNOWN};
	return perf_maps_add(&p->spaces, &p->spaces.kernel, map, -1);
}

/* Take a program of BPF, or other code that the kernel has made or freed. */
static int perf_apply_ksymbol(struct perf *p, const struct perf_record *r, size_t body)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	const char *name = (const char *)d + PERF_KSYMBOL_BODY;
	size_t n = body > PERF_KSYMBOL_BODY ? strnlen(name, body - PERF_KSYMBOL_BODY) : 0;
	const struct perf_map *covered;
	struct perf_map map;

	if (!n)
		return 0;
	map = (struct perf_map){.start = perf_u64(p, d)};
	if (perf_u16(p, d + 14) & PERF_KSYMBOL_UNREGISTER)
		return remove_ksymbol(p, map.start);
	map.end = map.start + perf_u32(p, d + 8);
	map.code = perf_jit_kernel_code(p->spaces.jit, name, n);
	if (!map.code)
		return -1;
	covered = perf_maps_find(p->spaces.kernel, map.start);
	if (covered) {
		map.path = covered->path;
		map.build_id = covered->build_id;
		map.below = covered->code ? covered->below : covered->start - covered->offset;
	}
	return perf_maps_add(&p->spaces, &p->spaces.kernel, map, -1);
}

/*
 * What records change: names of threads, their processes, and the mappings.
 */

static int apply_comm(struct perf *p, const struct perf_record *r, struct perf_thread *t,
		      size_t body)
{
	const char *comm = (const char *)r->data + PERF_RECORD_HEAD + PERF_COMM_BODY;
	size_t n = strnlen(comm, body - PERF_COMM_BODY);
	uint32_t name = writer_string(p->w, comm, n);

	if (n && !name)
		return -1;
	perf_thread_rename(t, name);
	if (r->misc & PERF_MISC_COMM_EXEC) {
		t->process->dump = NULL;
		return perf_maps_exec(&p->spaces, &t->process->maps, t->process->pid);
	}
	return 0;
}

static int apply_fork(struct perf *p, const struct perf_record *r, struct perf_thread **t)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	struct perf_thread *parent =
		perf_thread_of(p, (int32_t)perf_u32(p, d + 4), (int32_t)perf_u32(p, d + 12));

	*t = perf_thread_of(p, (int32_t)perf_u32(p, d), (int32_t)perf_u32(p, d + 8));
	if (!*t || !parent)
		return -1;
	if (*t != parent && r->type == PERF_RECORD_FORK)
		perf_thread_fork(*t, parent);
	return 0;
}

int perf_apply(struct perf *p, const struct perf_record *r, const struct perf_origin *o,
	       struct perf_thread **t)
{
	const uint8_t *d = r->data + PERF_RECORD_HEAD;
	size_t least = r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT ? PERF_FORK_BODY
										  : PERF_COMM_BODY;

	*t = NULL;
	switch (r->type) {
	case PERF_RECORD_KSYMBOL: return perf_apply_ksymbol(p, r, o->body);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: break;
	default: return 0;
	}
	if (o->body < least) {
		input_damage(p->input, p->file.name, r->offset, "a record of type %u that is cut",
			     r->type);
		return 0;
	}
	if (r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT)
		return apply_fork(p, r, t);
	*t = perf_thread_of(p, (int32_t)perf_u32(p, d), (int32_t)perf_u32(p, d + 4));
	if (!*t)
		return -1;
	return r->type == PERF_RECORD_COMM ? apply_comm(p, r, *t, o->body)
					   : perf_apply_mmap(p, r, o->body);
}

/*
 * Call chains as stacks of the stream.
 *
 * A chain has its innermost frame first. Marks between the addresses tell whose they are.
 */

enum { PARTS = 16 }; /* the kernel writes at most 8 marks */

/* Addresses [begin, end) of a chain. */
struct chain_part {
	uint64_t begin, end;
	unsigned mode;
};

static enum perf_mode mode_of(uint64_t mark)
{
	switch (mark) {
	case PERF_CONTEXT_KERNEL: return PERF_MODE_KERNEL;
	case PERF_CONTEXT_USER: return PERF_MODE_USER;
	case PERF_CONTEXT_HV: return PERF_MODE_HYPERVISOR;
	default: return PERF_MODE_UNKNOWN;
	}
}

/* Find the next mark in a chain of n addresses, from i on; n: there is none. */
static inline __attribute__((always_inline)) uint64_t find_mark(const uint8_t *chain, uint64_t i,
								uint64_t n, bool big_endian)
{
	while (i < n && get_uint(chain + 8 * i, 8, big_endian) < PERF_CONTEXT_MOST)
		i++;
	return i;
}

/* Split a chain at its marks. Returns the number of parts; -1: a mark is damaged. */
static int split_chain(const struct perf *p, const uint8_t *chain, uint64_t n, unsigned mode,
		       struct chain_part *parts)
{
	int count = 0;
	uint64_t i = 0;

	parts[0] = (struct chain_part){.mode = mode};
	for (;; i++) {
		uint64_t mark;

		i = p->h.big_endian ? find_mark(chain, i, n, true) : find_mark(chain, i, n, false);
		parts[count++].end = i;
		if (i == n)
			return count;
		if (count == PARTS)
			return -1;
		mark = perf_u64(p, chain + 8 * i);
		/* the user's part is in a record of its own, whose number follows */
		if (mark == PERF_CONTEXT_USER_DEFERRED)
			return count;
		/* perf too refuses the chains of guests */
		if (mode_of(mark) == PERF_MODE_UNKNOWN)
			return -1;
		parts[count] = (struct chain_part){.begin = i + 1, .mode = mode_of(mark)};
	}
}

/* Get the mappings of a process at the time of the sample. NULL when out of memory. */
static struct perf_maps *user_maps(struct perf *p, struct perf_process *process)
{
	if (!perf_process_maps(&p->spaces, process) ||
	    (process->dump && perf_jit_advance(p->spaces.jit, process->dump, p->time, &p->spaces,
					       &process->maps, process->pid)))
		return NULL;
	return process->maps;
}

/* Get the mappings that addresses of a mode are in, and their number. Returns false when out of
 * memory. */
static bool maps_of(struct perf *p, struct perf_process *process, unsigned mode,
		    struct perf_maps **m)
{
	*m = NULL;
	if (mode == PERF_MODE_KERNEL)
		*m = p->spaces.kernel;
	else if (mode == PERF_MODE_USER)
		*m = user_maps(p, process);
	return *m || (mode != PERF_MODE_KERNEL && mode != PERF_MODE_USER);
}

/* --- paths: frames from the outermost one inwards, of which the stack is looked up --- */

/* The sums of the frames of a chain. */
struct known_sum {
	uint128 sum;
	size_t frames;
};

struct path {
	struct known_sum at;
	uint128 sums[KNOWN_FRAMES];
	uint64_t addresses[KNOWN_FRAMES];
	struct perf_maps *maps[KNOWN_FRAMES]; /* NULL: in no known address space */
	uint32_t stack;			      /* of the frames before these */
};

/* Begin the sums of frames that the innermost frame of the stack parent calls; 0: of none. */
static inline struct known_sum known_stacks_begin(const struct known_stacks *k, uint32_t parent)
{
	return (struct known_sum){(uint128)parent * k->key.parent, 0};
}

static void path_begin(const struct perf *p, struct path *path, uint32_t stack)
{
	path->stack = stack;
	path->at = known_stacks_begin(p->spaces.known, stack);
}

static inline const struct key_map_slot *known_stacks_slot(const struct known_stacks *k,
							   uint64_t digest)
{
	return &k->slots[digest >> k->shift];
}

static inline uint64_t known_stacks_digest(const struct known_stacks *k, uint128 sum)
{
	return (uint64_t)(((uint64_t)sum * k->key.low + (uint64_t)(sum >> 64) * k->key.high) >> 64);
}

/* Look up the stack of the path. Returns false when out of memory. */
static bool path_stack(struct perf *p, struct path *path)
{
	size_t n = path->at.frames, i = n;
	uint64_t digest, callers = 0;
	uint32_t location;

	for (; i; i--) {
		uint32_t stack;

		digest = i < n ? callers : known_stacks_digest(p->spaces.known, path->sums[i - 1]);
		if (i > 1) {
			callers = known_stacks_digest(p->spaces.known, path->sums[i - 2]);
			__builtin_prefetch(known_stacks_slot(p->spaces.known, callers));
		}
		stack = known_stacks_find(p->spaces.known, digest);
		if (stack) {
			path->stack = stack;
			break;
		}
	}
	for (; i < n; i++) {
		/* a new space may be declared, but the mappings are the same */
		location = perf_maps_location(&p->spaces, path->maps[i], path->addresses[i]);
		path->stack = location ? writer_stack(p->w, path->stack, location) : 0;
		if (!path->stack)
			return false;
		known_stacks_put(p->spaces.known,
				 known_stacks_digest(p->spaces.known, path->sums[i]), path->stack);
	}
	return true;
}

static uint32_t context_of(const struct perf_maps *m)
{
	return m ? m->context : 0;
}

/* Note a number on which the stacks of the next frames depend; frames are added before another is
 * noted. */
static inline void known_stacks_context(const struct known_stacks *k, struct known_sum *s,
					uint32_t context)
{
	s->sum += ((uint128)context + 1) * k->key.context[s->frames];
}

/* Note the mappings of the next frames. A full path notes them when the next frame is added. */
static void path_context(const struct perf *p, struct path *path, const struct perf_maps *m)
{
	if (path->at.frames < KNOWN_FRAMES)
		known_stacks_context(p->spaces.known, &path->at, context_of(m));
}

/* Add a frame, of at most KNOWN_FRAMES. */
static inline void known_stacks_add(const struct known_stacks *k, struct known_sum *s,
				    uint64_t address)
{
	uint64_t key = k->key.address[s->frames++];

	/* the address + 1: a frame at 0 is a frame */
	s->sum += (uint128)address * key + key;
}

/* Add a frame. Returns false when out of memory. */
static inline bool path_add(struct perf *p, struct path *path, struct perf_maps *m,
			    uint64_t address)
{
	size_t i = path->at.frames;

	if (__builtin_expect(i == KNOWN_FRAMES, 0)) {
		if (!path_stack(p, path))
			return false;
		path_begin(p, path, path->stack);
		path_context(p, path, m);
		i = 0;
	}
	known_stacks_add(p->spaces.known, &path->at, address);
	path->sums[i] = path->at.sum;
	path->addresses[i] = address;
	path->maps[i] = m;
	return true;
}

/* Get the stack of a path. whole: the path has all its frames. 0: with *bad, out of memory. */
static uint32_t path_end(struct perf *p, struct path *path, bool whole, bool *bad)
{
	*bad = !whole || !path_stack(p, path);
	return *bad ? 0 : path->stack;
}

uint32_t perf_frame_stack(struct perf *p, struct perf_process *process, uint64_t address,
			  unsigned mode, uint32_t parent, bool *bad)
{
	struct perf_maps *m;
	struct path path;
	bool whole = maps_of(p, process, mode, &m);

	path_begin(p, &path, parent);
	if (whole)
		path_context(p, &path, m);
	return path_end(p, &path, whole && path_add(p, &path, m, address), bad);
}

/* Add n frames, of which the innermost is first. */
static inline __attribute__((always_inline)) void sum_frames(const struct known_stacks *k,
							     struct known_sum *sum,
							     const uint8_t *frames, uint64_t n,
							     bool big_endian)
{
	while (n-- > 0)
		known_stacks_add(k, sum, get_uint(frames + 8 * n, 8, big_endian));
}

bool perf_chain_digest(struct perf *p, struct perf_process *process, const struct perf_chain *chain,
		       uint64_t *digest, bool *bad)
{
	struct chain_part parts[PARTS + 1];
	int count = split_chain(p, chain->addresses, chain->n, chain->mode, parts);
	struct known_sum sum = known_stacks_begin(p->spaces.known, chain->parent);

	while (count-- > 0) {
		const struct chain_part *part = &parts[count];
		const uint8_t *frames = chain->addresses + 8 * part->begin;
		uint64_t n = part->end - part->begin;
		struct perf_maps *m;

		if (!n)
			continue;
		if (n > KNOWN_FRAMES - sum.frames)
			return false;
		if (!maps_of(p, process, part->mode, &m)) {
			*bad = true;
			return false;
		}
		known_stacks_context(p->spaces.known, &sum, context_of(m));
		/* two loops, as a test of the byte order for each frame takes half of the time */
		if (p->h.big_endian)
			sum_frames(p->spaces.known, &sum, frames, n, true);
		else
			sum_frames(p->spaces.known, &sum, frames, n, false);
	}
	*digest = known_stacks_digest(p->spaces.known, sum.sum);
	__builtin_prefetch(known_stacks_slot(p->spaces.known, *digest));
	return sum.frames > 0;
}

uint32_t perf_chain_stack(struct perf *p, struct perf_process *process,
			  const struct perf_chain *chain, bool *bad)
{
	struct chain_part parts[PARTS + 1];
	int count = split_chain(p, chain->addresses, chain->n, chain->mode, parts);
	bool whole = true;
	struct path path;

	if (count < 0)
		return 0;
	path_begin(p, &path, chain->parent);
	while (whole && count-- > 0) {
		struct chain_part *part = &parts[count];
		struct perf_maps *m;

		if (part->begin == part->end)
			continue;
		whole = maps_of(p, process, part->mode, &m);
		if (whole)
			path_context(p, &path, m);
		for (uint64_t i = part->end; whole && i-- > part->begin;)
			whole = path_add(p, &path, m, perf_u64(p, chain->addresses + 8 * i));
	}
	return path_end(p, &path, whole, bad);
}

uint32_t perf_user_frame(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad)
{
	const struct unwind_machine *m = unwind_machine_find(p->h.arch, state->abi);
	uint64_t pc;

	if (!m || !unwind_register(state, m->pc, &pc))
		return 0;
	return perf_frame_stack(p, process, pc, PERF_MODE_USER, 0, bad);
}

uint32_t perf_user_stack(struct perf *p, struct perf_process *process,
			 const struct perf_user_state *state, bool *bad)
{
	const uint64_t *addresses;
	struct perf_maps *m;
	bool whole = maps_of(p, process, PERF_MODE_USER, &m);
	size_t n = whole ? perf_unwind(p->unwinder, m, state, &addresses) : 0;
	struct path path;

	path_begin(p, &path, 0);
	if (whole)
		path_context(p, &path, m);
	while (whole && n--)
		whole = path_add(p, &path, m, addresses[n]);
	return path_end(p, &path, whole, bad);
}

/*
 * map_records.c - the mappings that records add: of files, of the kernel, and of code that the
 * kernel makes
 */
#include "cmd/trdecode/perf/jit.h"
#include "cmd/trdecode/perf/perf.h"

#include <sys/utsname.h>

#include "common/symbols/symbols.h"
#include "common/symbols/symbols_elf.h"

/* "[kernel.kallsyms]_text" is the kernel; the symbol shows where its address was recorded. */
static size_t path_size(const char *path, size_t n)
{
	const char *end = n && *path == '[' ? memchr(path, ']', n) : NULL;

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
	struct perf_running *running = &p->spaces.running;
	struct utsname u;

	if (uname(&u) || !has_fact(p, "host", u.nodename) || !has_fact(p, "kernel", u.release))
		return false;
	/* once, however many records the kernel has */
	if (!running->is_read)
		symbols_running_text(&running->text);
	running->is_read = true;
	return running->text.end && running->text.begin == text.begin &&
	       running->text.end == text.end && elf_build_id_of_kernel(id);
}

static int add_map(struct perf *p, const struct perf_record *r, struct perf_map map,
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
	process = perf_process_of(&p->threads, (int32_t)perf_u32(p, d));
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

int perf_apply_mmap(struct perf *p, const struct perf_record *r, size_t body)
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
	n = path_size(path, strnlen(path, body - at));
	/* the offset is the address of the kernel's first symbol, so that what is mapped has the
	 * addresses relative to that symbol */
	if (n && *path == '[' && (r->misc & PERF_MISC_MODE) == PERF_MODE_KERNEL)
		map.offset = map.start - map.offset;
	return add_map(p, r, map, path, n);
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

int perf_apply_ksymbol(struct perf *p, const struct perf_record *r, size_t body)
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

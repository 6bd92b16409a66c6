/*
 * frame_tables.c - the tables of ELF files by which stacks are unwound: .eh_frame, .debug_frame
 */
#include "common/symbols/frame_tables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/symbols/symbols.h"

enum { PAGE = 4096, TABLE_MOST = 128 << 20 };

/* Get the next loaded segment from *i on. Returns false if there is none. */
static bool next_segment(Elf *elf, int *i, GElf_Phdr *header)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	while ((size_t)*i < n && *i < INT32_MAX && gelf_getphdr(elf, (*i)++, header))
		if (header->p_type == PT_LOAD)
			return true;
	return false;
}

static bool frame_tables_find_range(struct frame_tables *t)
{
	GElf_Phdr header;
	int i = 0;

	if (!next_segment(t->elf, &i, &header))
		return false;
	/* as libdwfl computes the beginning of a module */
	t->low = header.p_vaddr & -header.p_align;
	do
		if (header.p_memsz <= UINT64_MAX - header.p_vaddr &&
		    header.p_vaddr + header.p_memsz > t->high)
			t->high = header.p_vaddr + header.p_memsz;
	while (next_segment(t->elf, &i, &header));
	return t->low < t->high;
}

static bool is_debug(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8);
}

/* Get the bytes of a table in memory: libdw unpacks it. 0: the section is none. */
static uint64_t frame_tables_table_size(Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr packed;

	if (header->sh_type == SHT_NOBITS || header->sh_size > TABLE_MOST ||
	    (strcmp(name, ".eh_frame") && strcmp(name, ".eh_frame_hdr") &&
	     strcmp(name, ".debug_frame")))
		return 0;
	if (!(header->sh_flags & SHF_COMPRESSED))
		return header->sh_size;
	return gelf_getchdr(section, &packed) && packed.ch_size <= TABLE_MOST ? packed.ch_size : 0;
}

/* Read the tables into memory. libdw would read all sections of debug information, so the others
 * are marked as empty. */
static void read_tables(struct frame_tables *t)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	while ((section = elf_next_named(t->elf, section, &header, &name))) {
		uint64_t size = frame_tables_table_size(section, &header, name);

		if (size && elf_rawdata(section, NULL)) {
			t->size += size;
		} else if (is_debug(name)) {
			header.sh_type = SHT_NOBITS;
			gelf_update_shdr(section, &header);
		}
	}
}

/* --- the separate debug file --- */

/* Copy bytes [at, at + size) of a file to the same place of another. Returns 0, or -1. */
static int frame_tables_copy_bytes(int from, int to, uint64_t at, uint64_t size)
{
	char piece[1 << 14];

	while (size) {
		size_t most = size < sizeof piece ? (size_t)size : sizeof piece;
		ssize_t n = at > INT64_MAX - most ? 0 : pread(from, piece, most, (off_t)at);

		if (n <= 0 || pwrite(to, piece, (size_t)n, (off_t)at) != n)
			return -1;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* Copy the header of a section with another type. */
static int empty_section(int to, const GElf_Ehdr *header, size_t number)
{
	uint32_t type = SHT_NOBITS;

	if ((header->e_ident[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		type = __builtin_bswap32(type);
	/* after the name, in files of 32 and of 64 bits */
	return pwrite(to, &type, sizeof type,
		      (off_t)(header->e_shoff + number * header->e_shentsize + 4)) == sizeof type
		       ? 0
		       : -1;
}

/* Copy the headers, the names of the sections and .debug_frame. Returns 0, or -1: there is no
 * .debug_frame, or the file cannot be read. */
static int copy_tables(struct frame_tables *t, const struct elf_file *f, int to)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	GElf_Shdr s;
	size_t strings, count, segments;
	uint64_t had = t->size;

	if (!gelf_getehdr(f->elf, &header) || elf_getshdrstrndx(f->elf, &strings) ||
	    elf_getshdrnum(f->elf, &count) || elf_getphdrnum(f->elf, &segments) ||
	    header.e_shoff > INT64_MAX / 2 ||
	    frame_tables_copy_bytes(f->fd, to, 0, header.e_ehsize) ||
	    frame_tables_copy_bytes(f->fd, to, header.e_phoff, segments * header.e_phentsize) ||
	    frame_tables_copy_bytes(f->fd, to, header.e_shoff, count * header.e_shentsize))
		return -1;
	while ((section = elf_nextscn(f->elf, section))) {
		const char *name =
			gelf_getshdr(section, &s) ? elf_strptr(f->elf, strings, s.sh_name) : NULL;
		uint64_t size = name && !strcmp(name, ".debug_frame")
					? frame_tables_table_size(section, &s, name)
					: 0;
		size_t number = elf_ndxscn(section);

		if (!name)
			return -1;
		if (size || number == strings) {
			if (s.sh_size > TABLE_MOST ||
			    frame_tables_copy_bytes(f->fd, to, s.sh_offset, s.sh_size))
				return -1;
			t->size += size;
		} else if (empty_section(to, &header, number)) {
			return -1;
		}
	}
	return t->size > had ? 0 : -1;
}

/* Find the .debug_frame of a file's separate debug file. Returns whether there is one. */
static bool frame_tables_find_debug(struct frame_tables *t, const struct elf_file *file)
{
	struct elf_file f;

	t->debug_searched = true;
	if (elf_debug_open(&f, file->elf, t->path, t->sysroot))
		return false;
	t->debug = memfd_create("debug_frame", MFD_CLOEXEC);
	/* the file has its size, but only what is copied takes memory */
	if (t->debug >= 0 &&
	    (ftruncate(t->debug, (off_t)elf_file_size(&f)) || copy_tables(t, &f, t->debug))) {
		close(t->debug);
		t->debug = -1;
	}
	elf_file_close(&f);
	return t->debug >= 0;
}

/* --- the tables of a file --- */

/* Read the tables of the file at a path, as frame_tables_open does. */
static struct frame_tables *open_at(const char *path, const char *sysroot, const char *build_id,
				    struct error *e)
{
	struct frame_tables *t = calloc(1, sizeof *t);
	struct elf_module module;
	struct elf_file file;

	if (!t) {
		error_no_memory(e);
		return NULL;
	}
	*t = (struct frame_tables){.path = path, .sysroot = sysroot, .debug = -1};
	if (elf_module_open(&module, &file, path, sysroot, NULL, e)) {
		free(t);
		return NULL;
	}
	t->elf = file.elf;
	t->machine = module.machine;
	if (build_id && *build_id && strcasecmp(module.build_id, build_id) != 0) {
		error_set(e, path, NO_OFFSET, "build-id %s differs from %s in the trace",
			  *module.build_id ? module.build_id : "(none)", build_id);
	} else if (!frame_tables_find_range(t)) {
		error_set(e, path, NO_OFFSET, "no loadable segment");
	} else {
		read_tables(t);
		if (t->size || frame_tables_find_debug(t, &file)) {
			/* libelf reads no more from the file */
			elf_cntl(t->elf, ELF_C_FDDONE);
			file.elf = NULL;
			elf_file_close(&file);
			return t;
		}
		error_set(e, path, NO_OFFSET, "no .eh_frame and no .debug_frame");
	}
	t->elf = NULL;
	elf_file_close(&file);
	free(t);
	return NULL;
}

struct frame_tables *frame_tables_open(const char *path, const char *sysroot, const char *build_id,
				       struct error *e)
{
	struct frame_tables *t = open_at(path, sysroot, build_id, e);
	struct error second;

	for (const char *const *name = elf_perf_names; !t && build_id && *name; name++) {
		char *copy = elf_perf_copy(build_id, *name, NULL);

		t = copy ? open_at(copy, sysroot, build_id, &second) : NULL;
		if (t)
			t->copy = copy;
		else
			free(copy);
	}
	return t;
}

void frame_tables_close(struct frame_tables *t)
{
	if (!t)
		return;
	elf_end(t->elf);
	if (t->debug >= 0)
		close(t->debug);
	free(t->copy);
	free(t);
}

int frame_tables_debug(struct frame_tables *t)
{
	struct elf_module module;
	struct elf_file file;
	struct error e;

	if (!t->debug_searched && !elf_module_open(&module, &file, t->path, t->sysroot, NULL, &e)) {
		frame_tables_find_debug(t, &file);
		elf_file_close(&file);
	}
	t->debug_searched = true;
	return t->debug < 0 ? -1 : fcntl(t->debug, F_DUPFD_CLOEXEC, 0);
}

bool frame_tables_address(const struct frame_tables *t, uint64_t offset, uint64_t *address)
{
	GElf_Phdr header;
	int i = 0;

	/* a page of the file may be mapped for several segments: what is mapped for unwinding is
	 * code */
	while (next_segment(t->elf, &i, &header)) {
		uint64_t begin = header.p_offset & ~(uint64_t)(PAGE - 1);

		if (!(header.p_flags & PF_X) || offset < begin ||
		    (offset >= header.p_offset && offset - header.p_offset >= header.p_filesz))
			continue;
		*address = header.p_vaddr + (offset - header.p_offset);
		return true;
	}
	return false;
}

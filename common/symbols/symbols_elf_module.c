/*
 * symbols_elf_module.c - test whether a file is the wanted module, and find the base of its
 * addresses
 */
#include "common/symbols/symbols_elf.h"

#include <stdlib.h>
#include <string.h>

/* bytes. The unit in which the loader maps; larger pages do not change p_vaddr's low bits in
 * practice. */
#define PAGE 4096

static bool find_base(Elf *elf, uint64_t *base)
{
	size_t n, i;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (i = 0; i < n && i < INT32_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			return false;
		if (header.p_type == PT_LOAD) {
			*base = header.p_vaddr & ~(uint64_t)(PAGE - 1);
			return true;
		}
	}
	return false;
}

/* Test whether a relocatable file is a module of the kernel: other object files have no address. */
static bool is_kernel_module(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && !strcmp(name, ".modinfo"))
			return true;
	}
	return false;
}

size_t elf_module_layout(Elf *elf, uint64_t **at)
{
	const GElf_Xword code = SHF_ALLOC | SHF_EXECINSTR;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names, count, n = 1;
	uint64_t end = 0;

	*at = NULL;
	if (elf_getshdrstrndx(elf, &names) || elf_getshdrnum(elf, &count) || count < 2)
		return 0;
	*at = malloc(count * sizeof **at);
	if (!*at)
		return 0;
	(*at)[0] = UINT64_MAX;
	for (; n < count && (section = elf_nextscn(elf, section)); n++) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		uint64_t align;

		(*at)[n] = UINT64_MAX;
		/* the kernel frees what initialises the module */
		if (!name || (header.sh_flags & code) != code || !strncmp(name, ".init", 5))
			continue;
		align = header.sh_addralign ? header.sh_addralign : 1;
		if (align & (align - 1) || align > UINT32_MAX || header.sh_size > UINT32_MAX ||
		    end > UINT32_MAX)
			continue;
		(*at)[n] = (end + align - 1) & ~(align - 1);
		end = (*at)[n] + header.sh_size;
	}
	return n;
}

static int check_module(struct elf_module *m, const char *path, struct error *e)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(m->elf, &header))
		return error_set(e, path, NO_OFFSET, "damaged ELF header: %s", elf_errmsg(-1));
	m->machine = header.e_machine;
	m->is_kernel_module = header.e_type == ET_REL && is_kernel_module(m->elf);
	if (m->is_kernel_module)
		return 0;
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return error_set(e, path, NO_OFFSET, "not a program or shared library");
	if (!find_base(m->elf, &m->base))
		return error_set(e, path, NO_OFFSET, "no loadable segment");
	return 0;
}

static int check_build_id(const char *path, const char *found, const char *wanted, struct error *e)
{
	if (!wanted || !*wanted || !strcasecmp(found, wanted))
		return 0;
	if (!*found)
		return error_set(e, path, NO_OFFSET, "has no build-id; the trace records %s",
				 wanted);
	return error_set(e, path, NO_OFFSET, "build-id %s differs from %s in the trace", found,
			 wanted);
}

static int segment_begin(struct elf_module *m, const struct elf_file *f, const char *path,
			 const char *build_id, struct error *e)
{
	*m = (struct elf_module){.elf = f->elf};
	if (check_module(m, path, e) < 0)
		return -1;
	elf_build_id(f->elf, m->build_id);
	return check_build_id(path, m->build_id, build_id, e);
}

int elf_module_open(struct elf_module *m, struct elf_file *f, const char *path, const char *sysroot,
		    const char *build_id, struct error *e)
{
	struct error second;

	if (elf_file_open(f, sysroot, path, e) == 0) {
		if (segment_begin(m, f, path, build_id, e) == 0)
			return 0;
		elf_file_close(f);
	}
	if (!build_id || elf_debug_open_id(f, build_id, sysroot))
		return -1;
	if (segment_begin(m, f, path, build_id, &second) == 0)
		return 0;
	elf_file_close(f);
	return -1;
}

#include "common/symbols/frame_tables.h"

#include <string.h>

#include "common/symbols/symbols_elf.h"

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

static bool find_range(struct frame_tables *t)
{
	GElf_Phdr header;
	int i = 0;

	if (!next_segment(t->elf, &i, &header))
		return false;
	/* as libdwfl computes the beginning of a module */
	t->low = header.p_vaddr & -header.p_align;
	do
		if (header.p_vaddr + header.p_memsz > t->high)
			t->high = header.p_vaddr + header.p_memsz;
	while (next_segment(t->elf, &i, &header));
	return t->low < t->high;
}

static bool is_table(const char *name)
{
	return name && (!strcmp(name, ".eh_frame") || !strcmp(name, ".eh_frame_hdr"));
}

/* Read the tables into memory. */
static void read_tables(struct frame_tables *t)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t strings;

	if (elf_getshdrstrndx(t->elf, &strings) < 0)
		return;
	while ((section = elf_nextscn(t->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		    header.sh_size > TABLE_MOST ||
		    !is_table(elf_strptr(t->elf, strings, header.sh_name)))
			continue;
		data = elf_rawdata(section, NULL);
		t->size += data ? data->d_size : 0;
	}
}

int frame_tables_open(struct frame_tables *t, const char *path, const char *sysroot,
		      const char *build_id, struct error *e)
{
	struct elf_module module;
	struct elf_file file;

	*t = (struct frame_tables){.elf = NULL};
	if (elf_module_open(&module, &file, path, sysroot, NULL, e))
		return -1;
	t->elf = file.elf;
	t->machine = module.machine;
	if (build_id && *build_id && strcasecmp(module.build_id, build_id) != 0) {
		error_set(e, path, NO_OFFSET, "build-id %s differs from %s in the trace",
			  *module.build_id ? module.build_id : "(none)", build_id);
	} else if (!find_range(t)) {
		error_set(e, path, NO_OFFSET, "no loadable segment");
	} else {
		read_tables(t);
		if (t->size) {
			/* libelf reads no more from the file */
			elf_cntl(t->elf, ELF_C_FDDONE);
			file.elf = NULL;
			elf_file_close(&file);
			return 0;
		}
		error_set(e, path, NO_OFFSET, "no .eh_frame");
	}
	elf_file_close(&file);
	t->elf = NULL;
	return -1;
}

void frame_tables_close(struct frame_tables *t)
{
	elf_end(t->elf);
	t->elf = NULL;
}

bool frame_tables_address(const struct frame_tables *t, uint64_t offset, uint64_t *address)
{
	GElf_Phdr header;
	int i = 0;

	while (next_segment(t->elf, &i, &header)) {
		uint64_t begin = header.p_offset & ~(uint64_t)(PAGE - 1);

		if (offset < begin || offset - begin >= header.p_filesz + header.p_offset - begin)
			continue;
		*address = header.p_vaddr + (offset - header.p_offset);
		return true;
	}
	return false;
}

/*
 * symbols_elf_plt.c - the stubs through which a module calls other modules
 *
 * A stub has no symbol of its own: it jumps through a slot of the GOT, and the slot's relocation
 * names the function. If the stub's code is known (x86, AArch64) the slot is read from it: this is
 * right for every linker and for .plt.got, whose slots are in any order. Other machines' stubs are
 * assumed to be in the order of .rel[a].plt.
 */
#include "common/util/buffer.h"
#include "common/symbols/symbols_elf.h"

#include <stdlib.h>
#include <string.h>

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *at;
	size_t count, room;
};

static int add_slot(struct slots *all, uint64_t address, const char *name)
{
	if (ARRAY_GROW(all->at, all->room, all->count))
		return -1;
	all->at[all->count++] = (struct slot){address, name};
	return 0;
}

static int compare_imports(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static const char *find_slot(const struct slots *all, uint64_t address)
{
	struct slot key = {.address = address};
	const struct slot *found = NULL;

	if (all->count)
		found = bsearch(&key, all->at, all->count, sizeof key, compare_imports);
	return found ? found->name : NULL;
}

/* The dynamic symbols that relocations name */
struct imports {
	Elf *elf;
	Elf_Data *symbols;
	GElf_Word strings;
};

static const char *import_name(const struct imports *im, uint64_t index)
{
	GElf_Sym symbol;
	const char *name;

	if (!index || index > INT32_MAX || !gelf_getsym(im->symbols, (int)index, &symbol))
		return NULL;
	name = elf_strptr(im->elf, im->strings, symbol.st_name);
	return name && *name ? name : NULL;
}

static bool read_relocation(Elf_Data *data, bool addend, size_t i, uint64_t *where, uint64_t *info)
{
	GElf_Rela rela;
	GElf_Rel rel;

	if (addend) {
		if (!gelf_getrela(data, (int)i, &rela))
			return false;
		*where = rela.r_offset;
		*info = rela.r_info;
	} else {
		if (!gelf_getrel(data, (int)i, &rel))
			return false;
		*where = rel.r_offset;
		*info = rel.r_info;
	}
	return true;
}

static int read_relocations(const struct imports *im, Elf_Scn *section, const GElf_Shdr *header,
			    struct slots *all)
{
	bool addend = header->sh_type == SHT_RELA;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t each = gelf_fsize(im->elf, addend ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT), i;
	uint64_t where, info;

	if (!data || !data->d_buf || !each)
		return 0;
	for (i = 0; i < data->d_size / each && i < INT32_MAX; i++) {
		const char *name;

		if (!read_relocation(data, addend, i, &where, &info))
			break;
		name = import_name(im, GELF_R_SYM(info));
		if (name && add_slot(all, where, name) < 0)
			return -1;
	}
	return 0;
}

static uint32_t plt_little32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The bytes of a section of stubs. */
struct code {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
	size_t entry; /* size of a stub */
};

/* [endbr] [bnd] jmp *slot: relative on x86-64; absolute, or off the GOT in ebx, on i386 */
static bool decode_x86(const struct elf_module *m, const struct code *c, size_t at, uint64_t got,
		       uint64_t *slot)
{
	const unsigned char *p = c->bytes + at;
	size_t left = c->size - at, skip = 0;
	uint32_t operand;

	if (left >= 4 && p[0] == 0xf3 && p[1] == 0x0f && p[2] == 0x1e &&
	    (p[3] == 0xfa || p[3] == 0xfb))
		skip = 4;
	if (left > skip && p[skip] == 0xf2)
		skip++;
	if (left < skip + 6 || p[skip] != 0xff)
		return false;
	operand = plt_little32(p + skip + 2);
	if (m->machine == EM_X86_64) {
		*slot = c->address + at + skip + 6 + (uint64_t)(int64_t)(int32_t)operand;
		return p[skip + 1] == 0x25;
	}
	*slot = p[skip + 1] == 0xa3 ? (got + operand) & UINT32_MAX : operand;
	return p[skip + 1] == 0x25 || p[skip + 1] == 0xa3;
}

/* [bti c]; adrp x16, page; ldr x17, [x16, #offset] */
static bool decode_aarch64(const struct code *c, size_t at, uint64_t *slot)
{
	const unsigned char *p = c->bytes + at;
	size_t left = c->size - at, skip = left >= 4 && plt_little32(p) == 0xd503245f ? 4 : 0;
	uint32_t adrp, ldr;
	uint64_t page;

	if (left < skip + 8)
		return false;
	adrp = plt_little32(p + skip);
	ldr = plt_little32(p + skip + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	page = ((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 12;
	if (page & UINT64_C(1) << 32) /* a signed number of 33 bits */
		page |= ~((UINT64_C(1) << 33) - 1);
	*slot = ((c->address + at + skip) & ~UINT64_C(4095)) + page + (ldr >> 10 & 0xfff) * 8;
	return true;
}

static int add_stub(struct symbols *s, const struct elf_module *m, uint64_t address, size_t size,
		    const char *name)
{
	if (address < m->base)
		return 0;
	return symbols_add(s, address - m->base, size, 'P', name, strlen(name));
}

static int read_decoded(struct symbols *s, const struct elf_module *m, const struct code *c,
			uint64_t got, const struct slots *slots)
{
	size_t step = m->machine == EM_AARCH64 ? 4 : c->entry, at;

	for (at = 0; at < c->size; at += step) {
		const char *name;
		uint64_t slot = 0;

		if (m->machine == EM_AARCH64 ? !decode_aarch64(c, at, &slot)
					     : !decode_x86(m, c, at, got, &slot))
			continue;
		name = find_slot(slots, slot);
		if (!name)
			continue;
		if (add_stub(s, m, c->address + at, c->entry, name) < 0)
			return -1;
		if (m->machine == EM_AARCH64)
			at += 8; /* the same stub must not be decoded again after its bti */
	}
	return 0;
}

/* Find the size of the header before the first stub, and of a stub, for stubs that are not read
 * from code. */
static void stub_layout(const struct elf_module *m, const struct code *c, size_t *first,
			size_t *each)
{
	*each = c->entry;
	*first = c->entry;
	if (m->machine == EM_ARM) {
		*first = 20;
		*each = 12;
	} else if (m->machine == EM_RISCV) {
		*first = 32;
		*each = 16;
	}
}

static int read_ordered(struct symbols *s, const struct elf_module *m, const struct code *c,
			const struct slots *slots)
{
	size_t first, each, i;

	stub_layout(m, c, &first, &each);
	for (i = 0; i < slots->count; i++) {
		size_t at = first + i * each;

		if (at >= c->size)
			break;
		if (add_stub(s, m, c->address + at, each, slots->at[i].name) < 0)
			return -1;
	}
	return 0;
}

static bool is_decoded(const struct elf_module *m)
{
	return m->machine == EM_X86_64 || m->machine == EM_386 || m->machine == EM_AARCH64;
}

struct plt {
	struct imports imports;
	struct slots slots;
	uint64_t got; /* address of .got.plt, else of .got */
	bool has_got_plt;
	size_t strings; /* index of the section names */
};

/* Read what stubs need first: relocations, and the address of the GOT. */
static int visit_data(struct plt *plt, const struct elf_module *m, Elf_Scn *section,
		      const GElf_Shdr *header, const char *name)
{
	bool of_plt = !strcmp(name, ".rela.plt") || !strcmp(name, ".rel.plt");

	if (!strcmp(name, ".got.plt") || (!strcmp(name, ".got") && !plt->has_got_plt)) {
		plt->got = header->sh_addr;
		plt->has_got_plt = name[4] != '\0';
	}
	if (header->sh_type != SHT_RELA && header->sh_type != SHT_REL)
		return 0;
	if (!of_plt && !is_decoded(m))
		return 0;
	return read_relocations(&plt->imports, section, header, &plt->slots);
}

static int visit_code(struct plt *plt, struct symbols *s, const struct elf_module *m,
		      Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
	struct code c = {.address = header->sh_addr, .entry = 16};
	bool lazy = !strcmp(name, ".plt");
	Elf_Data *data;

	if (header->sh_type != SHT_PROGBITS ||
	    (!lazy && strcmp(name, ".plt.sec") != 0 && strcmp(name, ".plt.got") != 0))
		return 0;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf)
		return 0;
	c.bytes = data->d_buf;
	c.size = data->d_size;
	/* linkers set sh_entsize to 0, or to other values */
	if (header->sh_entsize == 8 || (header->sh_entsize == 24 && m->machine == EM_AARCH64))
		c.entry = header->sh_entsize;
	if (is_decoded(m))
		return read_decoded(s, m, &c, plt->got, &plt->slots);
	return lazy ? read_ordered(s, m, &c, &plt->slots) : 0;
}

static int read_stubs(struct plt *plt, struct symbols *s, const struct elf_module *m)
{
	int pass;

	for (pass = 0; pass < 2; pass++) {
		Elf_Scn *section = NULL;
		GElf_Shdr header;

		while ((section = elf_nextscn(m->elf, section))) {
			const char *name;
			int result;

			if (!gelf_getshdr(section, &header))
				continue;
			name = elf_strptr(m->elf, plt->strings, header.sh_name);
			if (!name)
				continue;
			result = pass ? visit_code(plt, s, m, section, &header, name)
				      : visit_data(plt, m, section, &header, name);
			if (result < 0)
				return -1;
		}
		if (is_decoded(m) && plt->slots.count)
			qsort(plt->slots.at, plt->slots.count, sizeof *plt->slots.at,
			      compare_imports);
	}
	return 0;
}

int elf_read_plt(struct symbols *s, const struct elf_module *m)
{
	struct plt plt = {.imports.elf = m->elf};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result;

	while ((section = elf_nextscn(m->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM)
			break;
	if (!section || elf_getshdrstrndx(m->elf, &plt.strings) < 0)
		return 0;
	plt.imports.symbols = elf_getdata(section, NULL);
	plt.imports.strings = header.sh_link;
	if (!plt.imports.symbols)
		return 0;
	result = read_stubs(&plt, s, m);
	free(plt.slots.at);
	return result;
}

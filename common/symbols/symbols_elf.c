/*
 * symbols_elf.c - the functions of an ELF file, from it or from its separate debug file
 */
#include "common/util/buffer.h"
#include "common/symbols/symbols_elf.h"
#include "common/symbols/symbols_table.h"

#include <stdlib.h>
#include <string.h>

static Elf_Scn *find_type(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

/* The rank of a label of an assembler, after those of bind_rank. */
enum { LABEL = 3 };

/* A symbol that competes with aliases of its address. */
struct candidate {
	uint64_t start, size, limit; /* limit: end of its section */
	const char *name;
	size_t length, order;
	unsigned char bind, underscores;
};

struct candidates {
	struct candidate *at;
	size_t count, room;
	size_t functions; /* those that are no labels */
	uint64_t *layout; /* of a kernel module: addresses of the sections */
	size_t sections;
};

static int add_candidate(struct candidates *all, const struct candidate *one)
{
	if (ARRAY_GROW(all->at, all->room, all->count))
		return -1;
	all->at[all->count] = *one;
	all->at[all->count].order = all->count;
	all->count++;
	all->functions += one->bind != LABEL;
	return 0;
}

static unsigned char bind_rank(unsigned char bind)
{
	switch (bind) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE: return 0;
	case STB_WEAK: return 1;
	}
	return 2;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->bind != y->bind)
		return x->bind < y->bind ? -1 : 1;
	if (x->underscores != y->underscores)
		return x->underscores < y->underscores ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool is_function(const GElf_Sym *symbol)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Test whether a symbol has no type: a label, as functions of assembler files often have. */
static bool is_label(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE;
}

/* Return the end of the section of the table's symbol; 0 if it is in none, or a label in one
 * without code. */
static uint64_t section_end(Elf *elf, const GElf_Sym *symbol, Elf32_Word extended)
{
	size_t index = symbol->st_shndx == SHN_XINDEX ? extended : symbol->st_shndx;
	GElf_Shdr header;
	Elf_Scn *section;

	if (symbol->st_shndx == SHN_UNDEF ||
	    (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return 0;
	section = elf_getscn(elf, index);
	if (!section || !gelf_getshdr(section, &header) ||
	    header.sh_size > UINT64_MAX - header.sh_addr ||
	    (is_label(symbol) && !(header.sh_flags & SHF_EXECINSTR)))
		return 0;
	return header.sh_addr + header.sh_size;
}

/* Move a symbol of a kernel module, which is relative to its section, to its address. Returns
 * whether the kernel keeps the section. */
static bool place(const struct candidates *all, size_t section, uint64_t *start, uint64_t *end)
{
	uint64_t at = section < all->sections ? all->layout[section] : UINT64_MAX;

	*start += at;
	*end += at;
	return at != UINT64_MAX && *start >= at && *end >= *start;
}

/* Read a symbol, with its address relative to base; a symbol below base is not the module's. */
static int read_symbol(Elf *elf, const struct elf_module *m, const GElf_Shdr *table,
		       const GElf_Sym *symbol, Elf32_Word extended, struct candidates *all)
{
	uint64_t start = symbol->st_value, end = section_end(elf, symbol, extended);
	struct candidate one = {0};

	if (m->machine == EM_ARM)
		start &= ~UINT64_C(1); /* Thumb */
	if ((!is_function(symbol) && !is_label(symbol)) || !end ||
	    (m->is_kernel_module &&
	     !place(all, symbol->st_shndx == SHN_XINDEX ? extended : symbol->st_shndx, &start,
		    &end)) ||
	    start < m->base || start >= end)
		return 0;
	one.name = elf_strptr(elf, table->sh_link, symbol->st_name);
	if (!one.name || !*one.name)
		return 0;
	/* symbols such as $x, $d and $a tell code from data for ARM and RISC-V; .L1 is a jump's
	 * target */
	if (is_label(symbol) && (*one.name == '$' || !strncmp(one.name, ".L", 2)))
		return 0;
	one.length = strcspn(one.name, "@"); /* .symtab of a library has "read@@GLIBC_2.2.5" */
	if (!one.length)
		return 0;
	one.start = start - m->base;
	one.size = symbol->st_size;
	one.limit = end - m->base;
	one.bind = is_label(symbol) ? LABEL : bind_rank(GELF_ST_BIND(symbol->st_info));
	one.underscores = (unsigned char)(strspn(one.name, "_") > 8 ? 8 : strspn(one.name, "_"));
	if (one.size > UINT64_MAX - one.start)
		one.size = UINT64_MAX - one.start;
	return add_candidate(all, &one);
}

static Elf_Data *extended_indexes(Elf *elf, size_t table)
{
	GElf_Shdr header;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == table)
			return elf_getdata(section, NULL);
	return NULL;
}

static int read_table(Elf *elf, const struct elf_module *m, Elf_Scn *section,
		      const GElf_Shdr *header, struct candidates *all)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *indexes = extended_indexes(elf, elf_ndxscn(section));
	size_t each = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT), i;
	GElf_Sym symbol;
	Elf32_Word extended;

	if (!data || !data->d_buf || !each)
		return 0;
	for (i = 0; i < data->d_size / each && i < INT32_MAX; i++) {
		extended = 0;
		if (!gelf_getsymshndx(data, indexes, (int)i, &symbol, &extended))
			break;
		if (read_symbol(elf, m, header, &symbol, extended, all) < 0)
			return -1;
	}
	return 0;
}

static char symbol_letter(const struct candidate *c)
{
	static const char letters[] = {'T', 'w', 't', 't'};

	return letters[c->bind];
}

/* Add the best candidate of each address, with the size of any alias if it has none itself. A label
 * counts where no function is. */
static int add_best(struct symbols *s, struct candidates *all)
{
	size_t i, next;
	uint64_t covered = 0;

	qsort(all->at, all->count, sizeof *all->at, compare_candidates);
	for (i = 0; i < all->count; i = next) {
		struct candidate *best = &all->at[i];
		uint64_t size = best->size, to_next;

		for (next = i + 1; next < all->count && all->at[next].start == best->start; next++)
			if (!best->size && all->at[next].size > size)
				size = all->at[next].size;
		if (!size) {
			size = best->limit - best->start;
			to_next = next < all->count ? all->at[next].start - best->start : size;
			if (to_next < size)
				size = to_next;
		}
		if (best->bind == LABEL && best->start < covered)
			continue;
		if (best->bind != LABEL && best->start + size > covered)
			covered = best->start + size;
		if (symbols_add(s, best->start, size, symbol_letter(best), best->name,
				best->length) < 0)
			return -1;
	}
	return 0;
}

/* Read a table; labels: also if it has labels only. */
static int read_functions(struct symbols *s, Elf *elf, const struct elf_module *m, GElf_Word type,
			  bool labels)
{
	struct candidates all = {0};
	GElf_Shdr header;
	Elf_Scn *section = find_type(elf, type, &header);
	int result = 0;

	if (!section)
		return 0;
	if (m->is_kernel_module)
		all.sections = elf_module_layout(elf, &all.layout);
	if (read_table(elf, m, section, &header, &all) < 0)
		result = -1;
	else if (all.functions || (labels && all.count))
		result = add_best(s, &all);
	free(all.at);
	free(all.layout);
	return result;
}

/* Read .symtab of another file of the module, and close the file. */
static int read_other(struct symbols *s, const struct elf_module *m, struct elf_file *other)
{
	int result = read_functions(s, other->elf, m, SHT_SYMTAB, false);

	elf_file_close(other);
	return result;
}

/* Read .symtab of the file, of its debug file, of a copy of perf's, or .dynsym: the first that has
 * a function, or else .symtab of the file. */
static int read_best_table(struct symbols *s, const struct elf_module *m, const char *path,
			   const char *sysroot)
{
	const char *const *name = elf_perf_names;
	struct elf_file other;
	int result = 0;

	if (read_functions(s, m->elf, m, SHT_SYMTAB, false) < 0)
		return -1;
	if (!s->count && elf_debug_open(&other, m->elf, path, sysroot) == 0)
		result = read_other(s, m, &other);
	for (; result == 0 && !s->count && *name; name++)
		if (elf_perf_open(&other, m->build_id, *name, sysroot) == 0)
			result = read_other(s, m, &other);
	s->stripped = !s->count;
	if (result == 0 && !s->count)
		result = read_functions(s, m->elf, m, SHT_DYNSYM, false);
	if (result == 0 && !s->count) {
		result = read_functions(s, m->elf, m, SHT_SYMTAB, true);
		s->stripped = !s->count;
	}
	return result;
}

/* Note the segments of code: a linker may move them in memory against their place in the file. */
static int read_segments(struct symbols *s, const struct elf_module *m)
{
	struct code_segment *segments;
	GElf_Phdr h;
	size_t n;

	if (elf_getphdrnum(m->elf, &n) < 0)
		return 0;
	for (size_t i = 0; i < n && i < INT32_MAX && gelf_getphdr(m->elf, (int)i, &h); i++) {
		if (h.p_type != PT_LOAD || !(h.p_flags & PF_X))
			continue;
		if (ARRAY_GROW(s->segments, s->segments_room, s->nsegments))
			return -1;
		segments = s->segments;
		segments[s->nsegments++] = (struct code_segment){
			h.p_offset, h.p_offset + h.p_filesz, h.p_vaddr - m->base - h.p_offset};
	}
	return 0;
}

static int read_module(struct symbols *s, const struct elf_module *m, const char *path,
		       const char *sysroot, struct error *e)
{
	if (read_segments(s, m) < 0 || read_best_table(s, m, path, sysroot) < 0 ||
	    elf_read_plt(s, m) < 0 || symbols_sort(s) < 0 || symbols_nest(s) < 0)
		return error_set(e, path, NO_OFFSET, "out of memory");
	return 0;
}

struct symbols *symbols_from_elf(const char *path, const char *sysroot, const char *build_id,
				 struct error *e)
{
	struct elf_module m;
	struct elf_file file;
	struct symbols *s;

	if (elf_module_open(&m, &file, path, sysroot, build_id, e) < 0)
		return NULL;
	s = symbols_new();
	if (!s) {
		error_set(e, path, NO_OFFSET, "out of memory");
	} else if (read_module(s, &m, path, sysroot, e) < 0) {
		symbols_free(s);
		s = NULL;
	}
	elf_file_close(&file);
	return s;
}

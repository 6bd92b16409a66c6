#include "debug_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "debug_info_unit.h"
#include "intern.h"
#include "symbols_elf.h"

/* Sections of DWARF shrink to a third or a fifth; what claims much more is no compiler's. */
enum { RATIO_MAX = 100 };

struct debug_info {
	struct elf_file file, debug; /* debug: the separate file, if there is one */
	Dwarf *dwarf;
	uint64_t base;
	struct debug_unit *units;
	size_t count, capacity;
	struct range_index ranges; /* what: number of the unit */
	uint64_t budget;	   /* ranges that may still be kept */
	struct intern paths;
};

/* --- opening --- */

static bool is_bomb(Elf *elf, uint64_t size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;
	uint64_t total = 0;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(section, &packed) || packed.ch_size > UINT64_MAX - total)
			return true;
		total += packed.ch_size;
	}
	return total / RATIO_MAX > size;
}

/* libdw takes for granted that the last text in a section of texts has an end. */
static bool texts_end(Elf *elf)
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
		Elf_Data *data;

		if (!name || header.sh_type == SHT_NOBITS ||
		    (strcmp(name, ".debug_str") && strcmp(name, ".debug_line_str") &&
		     strcmp(name, ".debug_str.dwo")))
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_size && ((char *)data->d_buf)[data->d_size - 1])
			return false;
	}
	return true;
}

static int add_unit(struct debug_info *d, Dwarf_Die *lines, Dwarf_Die *tree)
{
	struct debug_unit *units = array_grow(d->units, &d->capacity, d->count, sizeof *units);

	if (!units)
		return -1;
	d->units = units;
	if (debug_unit_ranges(lines, (uint32_t)d->count, &d->ranges, &d->budget))
		return -1;
	units[d->count++] =
		(struct debug_unit){.lines = *lines, .tree = *tree, .has_tree = tree->addr != NULL};
	return 0;
}

/* Units that do not say which addresses they have: those of their lines. */
static int add_lines(struct debug_info *d, Dwarf_Die *die, uint32_t number)
{
	Dwarf_Lines *lines;
	Dwarf_Addr start = 0, at;
	bool open = false, ends;
	size_t n;

	if (dwarf_getsrclines(die, &lines, &n))
		return 0;
	for (size_t i = 0; i < n && d->budget; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (dwarf_lineaddr(line, &at) || dwarf_lineendsequence(line, &ends))
			return 0;
		if (!open)
			start = at;
		open = !ends;
		if (ends) {
			d->budget--;
			if (range_index_add(&d->ranges, start, at, number))
				return -1;
		}
	}
	return 0;
}

static int read_units(struct debug_info *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (!dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, &split)) {
		size_t had = d->ranges.count;
		bool skeleton = type == DW_UT_skeleton;

		if (type != DW_UT_compile && !skeleton)
			continue;
		if (!skeleton)
			split = die;
		if (dwarf_tag(&die) != DW_TAG_compile_unit && !skeleton)
			continue;
		if (add_unit(d, &die, &split))
			return -1;
		if (d->ranges.count == had && add_lines(d, &die, (uint32_t)d->count - 1))
			return -1;
	}
	range_index_seal(&d->ranges);
	return 0;
}

/* 1: there is something to be found in it, 0, -1 memory is out. */
static int read_dwarf(struct debug_info *d, struct elf_file *f)
{
	uint64_t size = elf_file_size(f);

	if (is_bomb(f->elf, size))
		return 0;
	d->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (!d->dwarf)
		return 0;
	d->budget = size;
	if (texts_end(f->elf) && read_units(d))
		return -1;
	if (d->ranges.count)
		return 1;
	dwarf_end(d->dwarf);
	d->dwarf = NULL;
	free(d->units);
	d->units = NULL;
	d->count = d->capacity = 0;
	return 0;
}

static int open_dwarf(struct debug_info *d, const char *path, const char *sysroot)
{
	int r = read_dwarf(d, &d->file);

	if (r || elf_debug_open(&d->debug, d->file.elf, path, sysroot))
		return r;
	return read_dwarf(d, &d->debug);
}

struct debug_info *debug_info_open(const char *path, const char *sysroot, const char *build_id,
				   struct error *e)
{
	struct debug_info *d = calloc(1, sizeof *d);
	char id[ELF_BUILD_ID_MAX];
	struct elf_module m;
	int r;

	if (!d) {
		error_set(e, path, NO_OFFSET, "out of memory");
		return NULL;
	}
	d->file.fd = d->debug.fd = -1;
	if (elf_module_open(&m, &d->file, path, sysroot, build_id, id, e)) {
		debug_info_close(d);
		return NULL;
	}
	d->base = m.base;
	r = open_dwarf(d, path, sysroot);
	if (r > 0)
		return d;
	error_set(e, path, NO_OFFSET, r ? "out of memory" : "has no debug information");
	debug_info_close(d);
	return NULL;
}

void debug_info_close(struct debug_info *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		debug_unit_free(&d->units[i]);
	free(d->units);
	range_index_free(&d->ranges);
	intern_free(&d->paths);
	dwarf_end(d->dwarf);
	elf_file_close(&d->file);
	elf_file_close(&d->debug);
	free(d);
}

/* --- looking up --- */

static const char *text_of(Dwarf_Die *die, unsigned what)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, what, &attribute));
}

static const char *name_of(Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_linkage_name);

	if (!name)
		name = text_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : text_of(die, DW_AT_name);
}

static uint32_t number_of(Dwarf_Attribute *attribute)
{
	Dwarf_Word n;

	return dwarf_formudata(attribute, &n) || n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* A path as the unit has it, made absolute. NULL when there is none, or memory is out. */
static const char *path_of(struct debug_info *d, struct debug_unit *u, const char *path)
{
	const char *directory;
	struct buffer b = {0};
	uint32_t number;

	if (!path || !*path || !strcmp(path, "???"))
		return NULL;
	directory = *path == '/' ? NULL : text_of(&u->lines, DW_AT_comp_dir);
	number = directory && buffer_printf(&b, "%s/", directory) ? INTERN_NONE
		 : buffer_printf(&b, "%s", path)		  ? INTERN_NONE
						 : intern(&d->paths, b.data, b.size);
	buffer_free(&b);
	return number == INTERN_NONE ? NULL : intern_data(&d->paths, number);
}

/*
 * A file and a line that attributes tell. The number of the file is that of the unit which the
 * attribute stands in. (dwarf_decl_file() would abort where a .dwo is missing.)
 */
static void named_line(struct debug_info *d, struct debug_unit *u, Dwarf_Attribute *file,
		       Dwarf_Attribute *line, struct source_frame *f)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	uint32_t number = number_of(file);
	size_t n;

	f->line = number_of(line);
	f->file = NULL;
	if (file && dwarf_cu_die(file->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
	    !dwarf_getsrcfiles(&unit, &files, &n) && number < n)
		f->file = path_of(d, u, dwarf_filesrc(files, number, NULL, NULL));
}

/* Where the function was inlined. */
static void call_of(struct debug_info *d, struct debug_unit *u, Dwarf_Die *die,
		    struct source_frame *f)
{
	Dwarf_Attribute file, line;

	named_line(d, u, dwarf_attr(die, DW_AT_call_file, &file),
		   dwarf_attr(die, DW_AT_call_line, &line), f);
}

/* Where it is declared. */
static void declaration_of(struct debug_info *d, struct debug_unit *u, Dwarf_Die *die,
			   struct source_frame *f)
{
	Dwarf_Attribute file, line;

	named_line(d, u, dwarf_attr_integrate(die, DW_AT_decl_file, &file),
		   dwarf_attr_integrate(die, DW_AT_decl_line, &line), f);
}

/* What the line table says. */
static void line_of(struct debug_info *d, struct debug_unit *u, uint64_t address,
		    struct source_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->lines, address);
	int number;

	if (!line)
		return;
	f->file = path_of(d, u, dwarf_linesrc(line, NULL, NULL));
	if (!dwarf_lineno(line, &number) && number > 0)
		f->line = (uint32_t)number;
}

/* The unit with the address and the innermost function there, NULL none. -1: memory is out. */
static int find(struct debug_info *d, uint64_t address, struct debug_unit **unit,
		struct debug_function **function)
{
	const struct range *r = range_index_find(&d->ranges, address);
	struct debug_unit *u;

	*unit = NULL;
	*function = NULL;
	if (!r)
		return 0;
	u = *unit = &d->units[r->what];
	if (debug_unit_index(u, &d->budget))
		return -1;
	r = range_index_find(&u->ranges, address);
	*function = r ? &u->functions[r->what] : NULL;
	return 0;
}

int debug_info_function(struct debug_info *d, uint64_t address, struct source_frame *f)
{
	struct debug_function *function;
	struct debug_unit *unit;

	*f = (struct source_frame){0};
	address += d->base;
	if (find(d, address, &unit, &function))
		return -1;
	if (!unit)
		return 0;
	if (function) {
		while (function->parent)
			function = &unit->functions[function->parent - 1];
		f->function = name_of(&function->die);
		declaration_of(d, unit, &function->die, f);
	}
	if (!f->file || !f->line)
		line_of(d, unit, address, f);
	return f->file || f->function;
}

int debug_info_frames(struct debug_info *d, uint64_t address,
		      struct source_frame frames[SOURCE_FRAMES_MAX])
{
	struct source_frame at = {0};
	struct debug_function *function;
	struct debug_unit *unit;
	int n = 0;

	address += d->base;
	if (find(d, address, &unit, &function))
		return -1;
	if (!unit)
		return 0;
	line_of(d, unit, address, &at);
	while (function && n < SOURCE_FRAMES_MAX) {
		frames[n] = at;
		frames[n++].function = name_of(&function->die);
		if (!function->parent)
			return n;
		call_of(d, unit, &function->die, &at);
		function = &unit->functions[function->parent - 1];
	}
	if (!n && at.file)
		frames[n++] = at;
	return n;
}

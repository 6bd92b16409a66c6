/*
 * debug_info_open.c - find a module's DWARF, and the unit of each address
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/memory.h"
#include "common/util/pool.h"
#include "common/symbols/debug_info_private.h"
#include "common/symbols/die_ranges.h"

/* Sections of DWARF are compressed to a third or a fifth; no compiler writes a much higher
 * ratio. */
enum { RATIO_MAX = 100 };

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

/* Test that the last text in each section of texts is ended: libdw assumes so. A text by its index
 * may be at the end of its section, too, for libdw: the section's last byte becomes its end. */
static bool end_texts(Elf *elf)
{
	Elf_Scn *section = NULL;
	Elf_Data *texts[8], *data;
	size_t ntexts = 0, names;
	bool by_index = false;
	GElf_Shdr header;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		bool str = name && die_is_section(name, "str");

		if (!name || header.sh_type == SHT_NOBITS)
			continue;
		by_index |= die_is_section(name, "str_offsets");
		if (!str && !die_is_section(name, "line_str"))
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_size)
			continue;
		if (((char *)data->d_buf)[data->d_size - 1] ||
		    ntexts == sizeof texts / sizeof *texts)
			return false;
		if (str)
			texts[ntexts++] = data;
	}
	while (by_index && ntexts)
		texts[--ntexts]->d_size--;
	return true;
}

/* Look at the sections that this program and libdw read. Returns false if libdw must not. */
static bool read_sections(struct debug_info *d, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	d->lists = range_lists_of(elf);
	d->abbreviations = d->lines = NULL;
	if (!end_texts(elf) || elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name || header.sh_type == SHT_NOBITS)
			continue;
		/* of two of a name libdw takes the first, too */
		if (!d->abbreviations && die_is_section(name, "abbrev"))
			d->abbreviations = elf_getdata(section, NULL);
		else if (!d->lines && die_is_section(name, "line"))
			d->lines = elf_getdata(section, NULL);
	}
	return true;
}

static int add_unit(struct debug_info *d, Dwarf_Die *lines, Dwarf_Die *tree)
{
	struct debug_unit *units;

	if (ARRAY_GROW(d->units, d->capacity, d->count))
		return -1;
	units = d->units;
	if (libdw_ranges(lines, d->lists.row_max, (uint32_t)d->count, &d->ranges, &d->budget))
		return -1;
	units[d->count++] = (struct debug_unit){.lines = *lines,
						.tree = *tree,
						.has_tree = tree->addr != NULL,
						.is_split = tree->addr != lines->addr};
	return 0;
}

/* Add the addresses of a unit's lines, for units that do not record their addresses. */
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
		d->budget--;
		if (ends && range_index_add(&d->ranges, start, at, number))
			return -1;
	}
	return 0;
}

/* Return the bytes of the table of lines that a unit refers to. */
static uint64_t lines_size(const struct debug_info *d, Dwarf_Die *unit)
{
	const char *ident = elf_getident(dwarf_getelf(d->dwarf), NULL);
	bool big = ident && ident[EI_DATA] == ELFDATA2MSB;
	const uint8_t *p;
	Dwarf_Attribute at;
	Dwarf_Word offset;
	uint64_t room, size;

	if (!d->lines || !dwarf_attr(unit, DW_AT_stmt_list, &at) || dwarf_formudata(&at, &offset) ||
	    offset >= d->lines->d_size)
		return 0;
	p = (const uint8_t *)d->lines->d_buf + offset;
	room = d->lines->d_size - offset;
	size = room < 4 ? room : get_uint(p, 4, big);
	if (size == UINT32_MAX)
		size = room < 12 ? room : get_uint(p + 4, 8, big);
	return size < room ? size : room;
}

/* Return the bytes of the abbreviations that a unit refers to. */
static uint64_t abbreviations_size(const struct debug_info *d, Dwarf_CU *unit)
{
	const Elf_Data *data = d->abbreviations;
	Dwarf_Off at;
	Dwarf_Die die;

	return data && dwarf_cu_die(unit, &die, NULL, &at, NULL, NULL, NULL, NULL) &&
			       at < data->d_size
		       ? die_shapes_size((const uint8_t *)data->d_buf + at,
					 (const uint8_t *)data->d_buf + data->d_size)
		       : 0;
}

/* libdw reads the tables of a unit once more for each unit that has the same ones. Some compilers
 * write such units, so that the tables of all may have this many times the bytes of the file. */
enum { SAME_MAX = 8 };

/* May libdw read these bytes of tables? */
static bool may_read(struct debug_info *d, uint64_t size)
{
	size /= SAME_MAX;
	d->budget -= size < d->budget ? size : d->budget;
	return d->budget;
}

/* Test the file of a split unit, which libdw has opened: once, as units may share it. */
static bool split_is_sound(Dwarf *dwarf)
{
	return dwarf_new_oom_handler(dwarf, memory_exit) == memory_exit ||
	       end_texts(dwarf_getelf(dwarf));
}

static int read_units(struct debug_info *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (!dwarf_get_units(d->dwarf, cu, &cu, NULL, &type, &die, &split)) {
		size_t had = d->ranges.count;
		bool skeleton = type == DW_UT_skeleton;

		if (!may_read(d, abbreviations_size(d, cu)))
			break;
		if (type != DW_UT_compile && !skeleton)
			continue;
		if (!skeleton)
			split = die;
		else if (split.cu && !split_is_sound(dwarf_cu_getdwarf(split.cu)))
			break;
		if (dwarf_tag(&die) != DW_TAG_compile_unit && !skeleton)
			continue;
		if (add_unit(d, &die, &split))
			return -1;
		if (!may_read(d, lines_size(d, &die)))
			break;
		if (d->ranges.count == had && add_lines(d, &die, (uint32_t)d->count - 1))
			return -1;
	}
	range_index_seal(&d->ranges);
	return 0;
}

/* Read the units. Returns OUTCOME_NO if there are none. */
static enum outcome read_dwarf(struct debug_info *d, struct elf_file *f)
{
	uint64_t size = elf_file_size(f);

	if (is_bomb(f->elf, size))
		return OUTCOME_NO;
	huge_heap(2 * size); /* its sections, and the tables that are made of them */
	d->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (!d->dwarf)
		return OUTCOME_NO;
	/* else libdw prints its own message, and leaves unfinished outputs */
	dwarf_new_oom_handler(d->dwarf, memory_exit);
	d->budget = size;
	if (read_sections(d, f->elf) && read_units(d))
		return OUTCOME_FAILED;
	if (d->ranges.count)
		return OUTCOME_YES;
	dwarf_end(d->dwarf);
	d->dwarf = NULL;
	free(d->units);
	d->units = NULL;
	d->count = d->capacity = 0;
	return OUTCOME_NO;
}

/* Read the DWARF of another file of the module, which is closed if it has none. */
static enum outcome read_other(struct debug_info *d)
{
	enum outcome r = read_dwarf(d, &d->debug);

	if (r == OUTCOME_NO)
		elf_file_close(&d->debug);
	return r;
}

static enum outcome open_dwarf(struct debug_info *d, const char *build_id, const char *path,
			       const char *sysroot)
{
	enum outcome r = read_dwarf(d, &d->file);

	if (r == OUTCOME_NO && !elf_debug_open(&d->debug, d->file.elf, path, sysroot))
		r = read_other(d);
	for (const char *const *name = elf_perf_names; r == OUTCOME_NO && *name; name++)
		if (!elf_perf_open(&d->debug, build_id, *name, sysroot))
			r = read_other(d);
	return r;
}

struct debug_info *debug_info_open(const char *path, const char *sysroot, const char *build_id,
				   uint32_t serial, struct error *e)
{
	struct debug_info *d = calloc(1, sizeof *d);
	struct elf_module m;
	enum outcome r;

	if (!d) {
		error_set(e, path, NO_OFFSET, "out of memory");
		return NULL;
	}
	d->serial = serial;
	d->file.fd = d->debug.fd = -1;
	if (elf_module_open(&m, &d->file, path, sysroot, build_id, e)) {
		debug_info_close(d);
		return NULL;
	}
	if (m.is_kernel_module) { /* its DWARF is not relocated */
		error_set(e, path, NO_OFFSET, "a kernel module, whose lines are not read");
		debug_info_close(d);
		return NULL;
	}
	d->base = m.base;
	r = open_dwarf(d, m.build_id, path, sysroot);
	if (r == OUTCOME_YES)
		return d;
	error_set(e, path, NO_OFFSET,
		  r == OUTCOME_FAILED ? "out of memory" : "has no debug information");
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
	free(d->names);
	free(d->declared);
	id_cache_free(&d->path_numbers);
	range_index_free(&d->ranges);
	intern_free(&d->paths);
	dwarf_end(d->dwarf);
	elf_file_close(&d->file);
	elf_file_close(&d->debug);
	free(d);
}

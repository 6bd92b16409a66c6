/*
 * debug_info.c - find the functions and lines of an address
 */
#include <dwarf.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/symbols/debug_info_private.h"

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

/* Make a unit's path absolute. INTERN_NONE: there is none, or out of memory. */
static uint32_t make_path(struct debug_info *d, struct debug_unit *u, const char *path)
{
	const char *directory;
	struct buffer b = {0};
	uint32_t number;

	if (!path || !*path || !strcmp(path, "???"))
		return INTERN_NONE;
	directory = *path == '/' ? NULL : text_of(&u->lines, DW_AT_comp_dir);
	number = directory && buffer_printf(&b, "%s/", directory) ? INTERN_NONE
		 : buffer_printf(&b, "%s", path)		  ? INTERN_NONE
						 : intern(&d->paths, b.data, b.size);
	buffer_free(&b);
	return number;
}

/* Return the absolute path of a path that libdw returns for the unit, or NULL. A table of lines
 * refers to each path often, always at the same place. */
static const char *path_of(struct debug_info *d, struct debug_unit *u, const char *path)
{
	const void *key[] = {u, path};
	uint32_t *known = id_cache_number(&d->path_numbers, key, sizeof key), number;

	if (known && *known)
		return intern_data(&d->paths, *known - 1);
	number = make_path(d, u, path);
	if (number == INTERN_NONE)
		return NULL;
	if (known)
		*known = number + 1;
	return intern_data(&d->paths, number);
}

/* Return the path of a file by its number in a unit, or NULL. */
static const char *numbered_path(struct debug_info *d, struct debug_unit *u, Dwarf_CU *cu,
				 uint64_t number)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t n;

	return dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
			       !dwarf_getsrcfiles(&unit, &files, &n) && number < n
		       ? path_of(d, u, dwarf_filesrc(files, number, NULL, NULL))
		       : NULL;
}

/*
 * Set the line where the function is declared. The number of the file is that of the unit which has
 * the attribute. (dwarf_decl_file() would abort if a .dwo is missing.)
 */
static void declaration_of(struct debug_info *d, struct debug_unit *u, Dwarf_Die *die,
			   struct source_frame *f)
{
	Dwarf_Attribute file, line, *at = dwarf_attr_integrate(die, DW_AT_decl_file, &file);

	f->line = number_of(dwarf_attr_integrate(die, DW_AT_decl_line, &line));
	f->file = at ? numbered_path(d, u, at->cu, number_of(at)) : NULL;
}

/* Set the line that the line table has for the address. */
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

/* Find 1 + the index of a function's name in d->names. 0: out of memory. */
static uint32_t find_name(struct debug_info *d, struct debug_unit *u,
			  const struct debug_function *f)
{
	const uint8_t *origin = debug_unit_origin(u, f->die);
	uint64_t offset = (uint64_t)(origin - u->reader.start);
	uint32_t number = offset < UINT32_MAX ? idmap_get(&u->names, (uint32_t)offset) : 0;
	const char **names;
	Dwarf_Die die;

	if (number)
		return number;
	if (ARRAY_GROW(d->names, d->names_capacity, d->nnames) || offset >= UINT32_MAX ||
	    d->nnames >= UINT32_MAX)
		return 0;
	names = d->names;
	die = debug_unit_die(u, origin);
	names[d->nnames++] = name_of(&die);
	number = (uint32_t)d->nnames;
	return idmap_set(&u->names, (uint32_t)offset, number) ? 0 : number;
}

/* Set the name of a function. Returns 0, or -1: out of memory. */
static int set_name(struct debug_info *d, struct debug_unit *u, struct debug_function *f,
		    struct source_frame *frame)
{
	if (!f->name)
		f->name = find_name(d, u, f);
	if (!f->name)
		return -1;
	frame->function = d->names[f->name - 1];
	frame->id = (uint64_t)d->serial << 32 | f->name;
	return 0;
}

/* Find the unit of the address and the innermost function that has code there, or NULL. Returns 0,
 * or -1: out of memory. */
static int find_function(struct debug_info *d, uint64_t address, struct debug_unit **unit,
			 struct debug_function **function)
{
	const struct range *r = range_index_find(&d->ranges, address);

	*unit = NULL;
	*function = NULL;
	if (!r)
		return 0;
	*unit = &d->units[r->what];
	return debug_unit_find(*unit, &d->lists, &d->budget, address, function);
}

/* Return the function that has this one's code inlined; NULL: none. */
static struct debug_function *outer_of(const struct debug_unit *u, const struct debug_function *f)
{
	return f->outer ? &u->functions[f->outer - 1] : NULL;
}

/* Get the name of a function, and the line where it is declared. Returns 0, or -1: out of memory.
 */
static int get_declaration(struct debug_info *d, struct debug_unit *u, struct debug_function *of,
			   struct source_frame *f)
{
	struct source_frame *declared;
	Dwarf_Die die;

	if (of->declared) {
		*f = d->declared[of->declared - 1];
		return 0;
	}
	if (set_name(d, u, of, f) || ARRAY_GROW(d->declared, d->declared_capacity, d->ndeclared) ||
	    d->ndeclared == UINT32_MAX)
		return -1;
	declared = d->declared;
	die = debug_unit_die(u, of->die);
	declaration_of(d, u, &die, f);
	declared[d->ndeclared++] = *f;
	of->declared = (uint32_t)d->ndeclared;
	return 0;
}

enum outcome debug_info_function(struct debug_info *d, uint64_t address, struct source_frame *f)
{
	struct debug_function *function, *outer;
	struct debug_unit *unit;

	*f = (struct source_frame){0};
	address += d->base;
	if (find_function(d, address, &unit, &function))
		return OUTCOME_FAILED;
	if (!unit)
		return OUTCOME_NO;
	if (function) {
		while ((outer = outer_of(unit, function)))
			function = outer;
		if (get_declaration(d, unit, function, f))
			return OUTCOME_FAILED;
	}
	if (!f->file || !f->line)
		line_of(d, unit, address, f);
	return f->file || f->function ? OUTCOME_YES : OUTCOME_NO;
}

/* Set the line of the call that was inlined. */
static void call_of(struct debug_info *d, struct debug_unit *u, const struct debug_function *called,
		    struct source_frame *f)
{
	uint64_t file = debug_unit_number(u, called->die, DW_AT_call_file);
	uint64_t line = debug_unit_number(u, called->die, DW_AT_call_line);

	f->line = line > UINT32_MAX ? 0 : (uint32_t)line;
	f->file = file ? numbered_path(d, u, u->tree.cu, file) : NULL;
}

int debug_info_frames(struct debug_info *d, uint64_t address, bool lines,
		      struct source_frame *frames, size_t most)
{
	struct debug_function *function;
	struct debug_unit *unit;
	size_t n = 0;

	if (!most)
		return 0;
	address += d->base;
	if (find_function(d, address, &unit, &function))
		return -1;
	if (!unit)
		return 0;
	frames[0] = (struct source_frame){0};
	if (lines)
		line_of(d, unit, address, &frames[0]);
	for (; function && n < most; function = outer_of(unit, function)) {
		if (set_name(d, unit, function, &frames[n]))
			return -1;
		if (++n == most || !function->outer)
			continue;
		frames[n] = (struct source_frame){0};
		if (lines)
			call_of(d, unit, function, &frames[n]);
	}
	return n ? (int)n : frames[0].file != NULL;
}

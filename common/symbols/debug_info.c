/*
 * debug_info.c - functions, lines and inlined calls by DWARF
 */
#include "common/symbols/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/symbols/symbols.h"
#include "common/util/buffer.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/memory.h"

/*
 * Reads the DIEs of one unit of DWARF in place.
 *
 * libdw looks up each attribute by itself and locks for each; a program with inlined functions has
 * millions of attributes. This reader skips what is not needed: the abbreviations say how many
 * bytes a DIE has. Without it and debug_info.c, `trsym -i | trstat` of 10,000 addresses takes 1.30
 * times the instructions for a program with 8 MB of debug information, and 1.63 times for libpython
 * with 9 MB; with -il 1.19 and 1.30 times.
 * The layout is that of DWARF 2 to 5, section 7.5. Every read ends at the end of the unit, which is
 * inside its section.
 */

/* An attribute as its abbreviation declares it. */
struct die_attribute {
	uint16_t name, form;
	uint32_t constant; /* DW_FORM_implicit_const; 0: not in 32 bits */
};

/* What the DIEs of one abbreviation have in common. */
struct die_shape {
	uint32_t code;
	uint32_t first, count; /* attributes: the index of the first, and their number */
	int32_t size;	       /* bytes of the attributes; -1: they vary */
	int32_t sibling;       /* bytes before DW_AT_sibling; -1: none, or they vary */
	uint16_t tag, sibling_form;
	bool children, ranges; /* ranges: the DIE has addresses */
};

/* A unit. Zero-initialised is empty. */
struct die_reader {
	const uint8_t *start, *end; /* the unit with its header */
	const uint8_t *first;	    /* its first DIE */
	uint8_t version, address_size, offset_size;
	bool big; /* the byte order */
	struct die_shape *shapes;
	size_t nshapes, shapes_capacity;
	struct die_attribute *attributes;
	size_t nattributes, attributes_capacity;
	struct idmap codes; /* codes: 1 + index of the shape */
};

/* A DIE that was read. */
struct die {
	const uint8_t *at;
	const uint8_t *attributes;
	const uint8_t *next; /* its first child; without children its sibling */
	const struct die_shape *shape;
};

/* Read a number of 7 bits a byte and move *p after it; at the end *p is NULL, the number 0. */
static inline uint64_t die_uleb(const uint8_t **p, const uint8_t *end)
{
	uint64_t n = 0;

	if (*p < end && **p < 0x80)
		return *(*p)++;
	for (unsigned shift = 0; *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return n;
	}
	*p = NULL;
	return 0;
}

/*
 * The functions of one unit of DWARF by address.
 *
 * The first address of a unit finds its functions that have code of their own. The first address of
 * such a function finds the functions that were inlined in it. So a program pays for the functions
 * that its addresses need.
 */

/* A function that has code of its own, or the code of a function that was inlined. */
struct debug_function {
	const uint8_t *die;	 /* DW_TAG_inlined_subroutine: inlined */
	uint32_t outer;		 /* 1 + number of the function that has the code inlined; 0: none */
	uint32_t name, declared; /* values of the caller */
	/* not inlined: ranges of the functions that are inlined there */
	uint32_t first, count;
	bool searched;
};

struct debug_unit {
	Dwarf_Die lines; /* the unit that has the line table */
	Dwarf_Die tree;	 /* the unit that has the functions: with split DWARF another unit */
	bool has_tree, is_split;
	bool opened, readable, complete; /* complete: all functions were searched for */
	struct die_reader reader;
	uint32_t row_max; /* of the lists that libdw reads for it, as in struct debug_info */
	uint64_t base;	  /* what lists of ranges add to addresses */
	struct debug_function *functions;
	size_t count, capacity;
	struct range_index ranges;  /* of functions that are not inlined */
	struct range_index inlined; /* of inlined functions: a sorted part for each function */
	struct idmap names;	    /* offsets of DIEs: 1 + index of the name */
};

/*
 * A file's debug information while it is open.
 */

struct debug_info {
	struct elf_file file, debug; /* debug: the separate file, if there is one */
	Dwarf *dwarf;
	uint64_t base;
	struct debug_unit *units;
	size_t count, capacity;
	struct range_index ranges; /* by number of the unit */
	uint64_t budget;	   /* how much may still be read, as for debug_unit_find() */
	/* lists of ranges that the units share: .debug_ranges, .debug_rnglists (DWARF 5); NULL:
	   none */
	Elf_Data *lists[2];
	uint32_t row_max; /* most entries in a row of a list that are no ranges */
	const Elf_Data *abbreviations, *lines; /* NULL: none */
	const char **names;		       /* of functions */
	size_t nnames, names_capacity;
	uint32_t serial;	       /* of the file, among those that were opened */
	struct source_frame *declared; /* of functions */
	size_t ndeclared, declared_capacity;
	struct intern paths;
	struct id_cache path_numbers; /* by unit and place of a path: 1 + number in `paths` */
};

int range_index_add(struct range_index *x, uint64_t start, uint64_t end, uint32_t what)
{
	if (start >= end)
		return 0;
	if (x->count >= UINT32_MAX - 1 || ARRAY_GROW(x->at, x->capacity, x->count))
		return -1;
	x->at[x->count++] = (struct debug_range){start, end, what, 0};
	return 0;
}

static int debug_info_compare(const void *a, const void *b)
{
	const struct debug_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

static uint64_t debug_info_start_of(const void *ranges, size_t i)
{
	return ((const struct debug_range *)ranges)[i].start;
}

static uint64_t debug_info_end_of(const void *ranges, size_t i)
{
	return ((const struct debug_range *)ranges)[i].end;
}

static uint32_t range_index_outer_of(const void *ranges, size_t i)
{
	return ((const struct debug_range *)ranges)[i].outer;
}

static bool has(const void *ranges, size_t i, uint64_t address)
{
	return address < debug_info_end_of(ranges, i);
}

static const struct nesting nesting = {debug_info_start_of, debug_info_end_of, has,
				       range_index_outer_of};

void range_index_seal(struct range_index *x)
{
	if (x->count)
		qsort(x->at, x->count, sizeof *x->at, debug_info_compare);
	for (size_t i = 1; i < x->count; i++)
		x->at[i].outer = nesting_outer(&nesting, x->at, i);
}

const struct debug_range *range_index_find(const struct range_index *x, uint64_t address)
{
	size_t found = nesting_find(&nesting, x->at, x->count, address);

	return found ? &x->at[found - 1] : NULL;
}

void range_index_free(struct range_index *x)
{
	free(x->at);
	*x = (struct range_index){0};
}

/* --- die reader --- */

/* Most attributes of a DIE; compilers write some tens. Those without a value cost the file nothing
 * for each DIE, but the reader. */
enum { ATTRIBUTES_MAX = 256 };

/* A section: its content, and whether it was found. */
struct bytes {
	const uint8_t *p, *end; /* p NULL: none */
};

/* Test whether it is the name of a section, as "info" for .debug_info. Older compilers packed it as
 * .zdebug_info; of split DWARF it is .debug_info.dwo. */
static bool die_is_section(const char *name, const char *kind)
{
	size_t n = strlen(kind);

	name += *name == '.';
	name += *name == 'z';
	return !strncmp(name, "debug_", 6) && !strncmp(name + 6, kind, n) &&
	       (!name[6 + n] || !strcmp(name + 6 + n, ".dwo"));
}

/* Find the section that contains a byte, and that of the abbreviations. */
static void find_sections(Elf *elf, const uint8_t *of, struct bytes *info, struct bytes *abbrevs)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;

	*info = *abbrevs = (struct bytes){0};
	while ((section = elf_next_named(elf, section, &header, &name))) {
		Elf_Data *data;
		struct bytes at;

		if (header.sh_type == SHT_NOBITS ||
		    (!die_is_section(name, "info") && !die_is_section(name, "types") &&
		     !die_is_section(name, "abbrev")))
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		at = (struct bytes){data->d_buf, (const uint8_t *)data->d_buf + data->d_size};
		if (of >= at.p && of < at.end)
			*info = at;
		else if (die_is_section(name, "abbrev"))
			*abbrevs = at;
	}
}

/* Set the limits of the unit, and find its abbreviations. Returns 0, or -1 if the unit is not as
 * its header records. */
static int find_limits(struct die_reader *r, Dwarf_Die *unit, struct bytes *abbrevs)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit->cu));
	struct bytes info;
	Dwarf_Half version;
	Dwarf_Off offset;
	Dwarf_Die die;
	size_t header, room;
	uint64_t length;
	GElf_Ehdr ehdr;

	find_sections(elf, unit->addr, &info, abbrevs);
	if (!info.p || !abbrevs->p || !gelf_getehdr(elf, &ehdr) ||
	    !dwarf_cu_die(unit->cu, &die, &version, &offset, &r->address_size, &r->offset_size,
			  NULL, NULL) ||
	    offset > (size_t)(abbrevs->end - abbrevs->p))
		return -1;
	abbrevs->p += offset;
	header = dwarf_cuoffset(unit);
	r->first = unit->addr;
	room = (size_t)(info.end - r->first);
	if (header > (size_t)(r->first - info.p) || room + header < 12)
		return -1;
	r->start = r->first - header;
	r->version = (uint8_t)version;
	r->big = ehdr.e_ident[EI_DATA] == ELFDATA2MSB;
	length = get_uint(r->start + (r->offset_size == 8 ? 4 : 0), r->offset_size, r->big);
	room += header - (r->offset_size == 8 ? 12 : 4);
	r->end = info.end - (length < room ? room - length : 0);
	return r->first < r->end ? 0 : -1;
}

/* Get the bytes of a value, or -1 if they vary. */
static int form_size(const struct die_reader *r, unsigned form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const: return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1: return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2: return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3: return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4: return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sup8:
	case DW_FORM_ref_sig8: return 8;
	case DW_FORM_data16: return 16;
	case DW_FORM_addr: return r->address_size;
	case DW_FORM_ref_addr: return r->version == 2 ? r->address_size : r->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt: return r->offset_size;
	}
	return -1;
}

/* Get the end of n bytes, or NULL if the unit ends before it. */
static const uint8_t *skip_bytes(const struct die_reader *r, const uint8_t *p, uint64_t n)
{
	return p && (uint64_t)(r->end - p) >= n ? p + n : NULL;
}

static const uint8_t *skip_block(const struct die_reader *r, const uint8_t *p, unsigned size)
{
	const uint8_t *content = skip_bytes(r, p, size);

	return content ? skip_bytes(r, content, get_uint(p, size, r->big)) : NULL;
}

/* Get the end of a value, or NULL if the unit ends before it. */
static const uint8_t *die_skip(const struct die_reader *r, unsigned form, const uint8_t *p)
{
	int size = form_size(r, form);
	const uint8_t *end;
	uint64_t n;

	if (size >= 0)
		return skip_bytes(r, p, (uint64_t)size);
	switch (form) {
	case DW_FORM_string: end = memchr(p, 0, (size_t)(r->end - p)); return end ? end + 1 : NULL;
	case DW_FORM_block1: return skip_block(r, p, 1);
	case DW_FORM_block2: return skip_block(r, p, 2);
	case DW_FORM_block4: return skip_block(r, p, 4);
	case DW_FORM_block:
	case DW_FORM_exprloc: n = die_uleb(&p, r->end); return skip_bytes(r, p, n);
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index: die_uleb(&p, r->end); return p;
	case DW_FORM_indirect:
		n = die_uleb(&p, r->end);
		/* a constant would be in the abbreviation */
		return p && n != DW_FORM_indirect && n != DW_FORM_implicit_const && n <= UINT16_MAX
			       ? die_skip(r, (unsigned)n, p)
			       : NULL;
	}
	return NULL;
}

/* Add an attribute of a shape. Returns 0, or -1 when out of memory. */
static int add_attribute(struct die_reader *r, struct die_shape *shape, uint64_t name,
			 uint64_t form, uint64_t constant)
{
	int size = form > UINT16_MAX ? -1 : form_size(r, (unsigned)form);

	if (ARRAY_GROW(r->attributes, r->attributes_capacity, r->nattributes))
		return -1;
	/* 0 is no name, and no form: DIEs that have an unknown form cannot be read */
	r->attributes[r->nattributes++] = (struct die_attribute){
		name > UINT16_MAX ? 0 : (uint16_t)name, form > UINT16_MAX ? 0 : (uint16_t)form,
		constant > UINT32_MAX ? 0 : (uint32_t)constant};
	shape->count++;
	shape->ranges |= name == DW_AT_low_pc || name == DW_AT_ranges;
	if (name == DW_AT_sibling && shape->size >= 0) {
		shape->sibling = shape->size;
		shape->sibling_form = (uint16_t)form;
	}
	shape->size =
		shape->size < 0 || size < 0 || shape->size > UINT16_MAX ? -1 : shape->size + size;
	return 0;
}

/* Read the next abbreviation. Returns OUTCOME_NO if there are no more. */
static enum outcome debug_info_read_shape(struct die_reader *r, struct bytes *b)
{
	struct die_shape shape = {.first = (uint32_t)r->nattributes, .sibling = -1};
	uint64_t code = die_uleb(&b->p, b->end), tag, name, form, constant;

	if (ARRAY_GROW(r->shapes, r->shapes_capacity, r->nshapes))
		return OUTCOME_FAILED;
	tag = b->p ? die_uleb(&b->p, b->end) : 0;
	if (!code || !b->p || b->p == b->end || code > UINT32_MAX || r->nattributes > INT32_MAX)
		return OUTCOME_NO;
	shape.code = (uint32_t)code;
	shape.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	shape.children = *b->p++;
	do {
		name = die_uleb(&b->p, b->end);
		form = b->p ? die_uleb(&b->p, b->end) : 0;
		/* signed, but no line is negative */
		constant = b->p && form == DW_FORM_implicit_const ? die_uleb(&b->p, b->end) : 0;
		if (!b->p || shape.count == ATTRIBUTES_MAX)
			return OUTCOME_NO;
		if ((name || form) && add_attribute(r, &shape, name, form, constant))
			return OUTCOME_FAILED;
	} while (name || form);
	r->shapes[r->nshapes++] = shape;
	return idmap_set(&r->codes, shape.code, (uint32_t)r->nshapes) ? OUTCOME_FAILED
								      : OUTCOME_YES;
}

/* Get the bytes of a unit's abbreviations, which start at p. */
static uint64_t die_shapes_size(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *at = p;
	uint64_t name, form;

	while (at && at < end && die_uleb(&at, end)) {
		if (at)
			die_uleb(&at, end); /* the tag; a byte follows */
		if (!at || at++ == end)
			break;
		do {
			name = at ? die_uleb(&at, end) : 0;
			form = at ? die_uleb(&at, end) : 0;
			if (at && form == DW_FORM_implicit_const)
				die_uleb(&at, end);
		} while (name || form);
	}
	return (uint64_t)((at ? at : end) - p);
}

/* Get the shape of a code, or NULL. Compilers number the abbreviations from 1. */
static const struct die_shape *debug_info_shape_of(const struct die_reader *r, uint64_t code)
{
	uint32_t number;

	if (code - 1 < r->nshapes && r->shapes[code - 1].code == code)
		return &r->shapes[code - 1];
	number = code <= UINT32_MAX ? idmap_get(&r->codes, (uint32_t)code) : 0;
	return number ? &r->shapes[number - 1] : NULL;
}

/* Read the DIE at p. Returns 1; 0: p ends a list of siblings, and d->next is after that list; -1:
 * the unit ends there, or is damaged. */
static int die_read(const struct die_reader *r, const uint8_t *p, struct die *d)
{
	const struct die_shape *shape;
	uint64_t code;

	d->at = p;
	code = die_uleb(&p, r->end);
	d->next = d->attributes = p;
	if (!p || !code)
		return p ? 0 : -1;
	d->shape = shape = debug_info_shape_of(r, code);
	if (!shape)
		return -1;
	if (shape->size >= 0) {
		d->next = skip_bytes(r, p, (uint64_t)shape->size);
		return d->next ? 1 : -1;
	}
	for (uint32_t i = 0; p && i < shape->count; i++)
		p = die_skip(r, r->attributes[shape->first + i].form, p);
	d->next = p;
	return p ? 1 : -1;
}

/* Open the unit of the first DIE. Returns OUTCOME_NO if it is damaged, OUTCOME_FAILED when out of
 * memory. */
static enum outcome die_reader_open(struct die_reader *r, Dwarf_Die *unit)
{
	enum outcome got = OUTCOME_YES;
	struct bytes abbrevs;
	struct die d;

	if (find_limits(r, unit, &abbrevs))
		return OUTCOME_NO;
	/* after damage the abbreviations before it are used */
	while (got == OUTCOME_YES)
		got = debug_info_read_shape(r, &abbrevs);
	if (got == OUTCOME_FAILED)
		return got;
	return die_read(r, r->first, &d) == 1 && d.shape->tag == dwarf_tag(unit) ? OUTCOME_YES
										 : OUTCOME_NO;
}

static void die_reader_close(struct die_reader *r)
{
	free(r->shapes);
	free(r->attributes);
	idmap_free(&r->codes);
	*r = (struct die_reader){0};
}

/* Find the value of an attribute. NULL: the DIE has none. */
static const uint8_t *die_value(const struct die_reader *r, const struct die *d, unsigned name,
				unsigned *form)
{
	const struct die_attribute *attributes = &r->attributes[d->shape->first];
	const uint8_t *p = d->attributes;

	for (uint32_t i = 0; p && i < d->shape->count; i++) {
		*form = attributes[i].form;
		if (attributes[i].name == name)
			return p;
		p = die_skip(r, *form, p);
	}
	return NULL;
}

/* Get the value of an attribute that is an unsigned constant; 0: there is none. */
static uint64_t die_number(const struct die_reader *r, const struct die *d, unsigned name)
{
	const struct die_attribute *attributes = &r->attributes[d->shape->first];
	const uint8_t *p = d->attributes;

	for (uint32_t i = 0; p && i < d->shape->count; i++) {
		if (attributes[i].name != name) {
			p = die_skip(r, attributes[i].form, p);
			continue;
		}
		switch (attributes[i].form) {
		case DW_FORM_implicit_const: return attributes[i].constant;
		case DW_FORM_data1: return *p;
		case DW_FORM_data2: return get_uint(p, 2, r->big);
		case DW_FORM_data4: return get_uint(p, 4, r->big);
		case DW_FORM_data8: return get_uint(p, 8, r->big);
		case DW_FORM_sdata:
		case DW_FORM_udata: return die_uleb(&p, r->end);
		}
		return 0;
	}
	return 0;
}

/* Get the DIE of the same unit that a value refers to; NULL: it is in another unit, or damaged. */
static const uint8_t *die_reference(const struct die_reader *r, unsigned form, const uint8_t *value)
{
	uint64_t offset = UINT64_MAX;

	switch (form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8: offset = get_uint(value, (unsigned)form_size(r, form), r->big); break;
	case DW_FORM_ref_udata:
		offset = die_uleb(&value, r->end);
		if (!value)
			return NULL;
	}
	return offset < (uint64_t)(r->end - r->start) && r->start + offset >= r->first
		       ? r->start + offset
		       : NULL;
}

/* Get the next sibling of a DIE if the DIE records it, after its first child; else NULL. */
static const uint8_t *die_sibling(const struct die_reader *r, const struct die *d)
{
	const uint8_t *sibling = NULL;

	if (d->shape->sibling >= 0)
		sibling =
			die_reference(r, d->shape->sibling_form, d->attributes + d->shape->sibling);
	return sibling >= d->next ? sibling : NULL;
}

/* --- die ranges --- */

/*
 * Reads the ranges of addresses of a DIE.
 *
 * The layout is that of DWARF 2 to 4, section 2.17 (.debug_ranges), and of DWARF 5, section 7.28
 * (.debug_rnglists). Without it `trsym -i` takes 1.11 times the instructions for the program of
 * debug_info.c, and 1.14 times for libpython.
 */

/* Most sections of lists: no compiler writes two of a kind. */
enum { SECTIONS_MAX = 4 };

/* A list of ranges that is read, each entry for one of *budget. */
struct die_list {
	const uint8_t *p, *end; /* p: NULL after the end of the section */
	uint64_t base;
	unsigned address_size;
	bool big;
	uint64_t *budget;
};

/* Add a range of two addresses, or of an address and a size. */
static enum outcome add_one(struct debug_info *info, struct debug_unit *u, const uint8_t *address,
			    const uint8_t *high, unsigned high_form, struct range_index *to)
{
	const struct die_reader *r = &u->reader;
	uint64_t low = get_uint(address, r->address_size, r->big), n;

	switch (high_form) {
	case DW_FORM_addr: n = get_uint(high, r->address_size, r->big) - low; break;
	case DW_FORM_data1: n = *high; break;
	case DW_FORM_data2: n = get_uint(high, 2, r->big); break;
	case DW_FORM_data4: n = get_uint(high, 4, r->big); break;
	case DW_FORM_data8: n = get_uint(high, 8, r->big); break;
	case DW_FORM_udata: n = die_uleb(&high, r->end); break;
	default: return OUTCOME_NO;
	}
	--info->budget;
	return range_index_add(to, low, low + n, (uint32_t)u->count) ? OUTCOME_FAILED : OUTCOME_YES;
}

static uint64_t list_address(struct die_list *l)
{
	const uint8_t *at = l->p;

	if (!at || (size_t)(l->end - at) < l->address_size) {
		l->p = NULL;
		return 0;
	}
	l->p += l->address_size;
	return get_uint(at, l->address_size, l->big);
}

static uint64_t list_number(struct die_list *l)
{
	return l->p ? die_uleb(&l->p, l->end) : 0;
}

/* Read the next range of .debug_ranges. Returns OUTCOME_NO at the end of the list. */
static enum outcome next_pair(struct die_list *l, uint64_t *start, uint64_t *end)
{
	uint64_t select = l->address_size == 4 ? UINT32_MAX : UINT64_MAX;

	while (*l->budget) {
		--*l->budget;
		*start = list_address(l);
		*end = list_address(l);
		if (!l->p || (!*start && !*end))
			return OUTCOME_NO;
		if (*start == select) {
			l->base = *end;
			continue;
		}
		*start += l->base;
		*end += l->base;
		return OUTCOME_YES;
	}
	return OUTCOME_NO;
}

/* Read the next range of .debug_rnglists. Returns OUTCOME_NO at the end of the list, OUTCOME_FAILED
 * if libdw must read the list. */
static enum outcome next_entry(struct die_list *l, uint64_t *start, uint64_t *end)
{
	while (l->p && l->p < l->end && *l->budget) {
		--*l->budget;
		switch (*l->p++) {
		case DW_RLE_end_of_list: return OUTCOME_NO;
		case DW_RLE_base_address: l->base = list_address(l); continue;
		case DW_RLE_offset_pair:
			*start = l->base + list_number(l);
			*end = l->base + list_number(l);
			break;
		case DW_RLE_start_end:
			*start = list_address(l);
			*end = list_address(l);
			break;
		case DW_RLE_start_length:
			*start = list_address(l);
			*end = *start + list_number(l);
			break;
		default: return OUTCOME_FAILED;
		}
		return l->p ? OUTCOME_YES : OUTCOME_NO;
	}
	return OUTCOME_NO;
}

/* Add the ranges of a list. */
static enum outcome add_list(struct debug_info *info, struct debug_unit *u, const uint8_t *ranges,
			     unsigned form, struct range_index *to)
{
	const struct die_reader *r = &u->reader;
	bool entries = r->version >= 5;
	const Elf_Data *data = info->lists[entries];
	unsigned size = form == DW_FORM_data4	     ? 4
			: form == DW_FORM_data8	     ? 8
			: form == DW_FORM_sec_offset ? r->offset_size
						     : 0;
	uint64_t offset = get_uint(ranges, size, r->big), start, end;
	size_t had = to->count;
	enum outcome got;
	struct die_list l;

	if (!size || !data || offset >= data->d_size ||
	    (r->address_size != 4 && r->address_size != 8))
		return OUTCOME_NO;
	l = (struct die_list){.p = (const uint8_t *)data->d_buf + offset,
			      .end = (const uint8_t *)data->d_buf + data->d_size,
			      .base = u->base,
			      .address_size = r->address_size,
			      .big = r->big,
			      .budget = &info->budget};
	for (;;) {
		got = entries ? next_entry(&l, &start, &end) : next_pair(&l, &start, &end);
		if (got == OUTCOME_NO)
			return OUTCOME_YES;
		if (got == OUTCOME_FAILED) {
			to->count = had;
			return OUTCOME_NO;
		}
		if (range_index_add(to, start, end, (uint32_t)u->count))
			return OUTCOME_FAILED;
	}
}

/* Get the bytes of an entry that is no range, but sets the base of those that follow; 0: it is
 * another one. */
static size_t base_size(const uint8_t *p, const uint8_t *end, unsigned address_size, bool entries)
{
	static const uint8_t select[8] = {255, 255, 255, 255, 255, 255, 255, 255};
	const uint8_t *q = p + 1;

	if (!entries)
		return (size_t)(end - p) >= 2 * address_size && !memcmp(p, select, address_size)
			       ? 2 * address_size
			       : 0;
	if (*p == DW_RLE_base_address)
		return 1 + address_size;
	if (*p != DW_RLE_base_addressx)
		return 0;
	die_uleb(&q, end - q > 10 ? q + 10 : end);
	return q ? (size_t)(q - p) : 0;
}

/* Get the most entries in a row, from any byte of a section, that are no ranges. */
static uint32_t longest_row(const Elf_Data *d, unsigned address_size, bool entries)
{
	const uint8_t *p = d->d_buf, *end = p + d->d_size;
	uint32_t rows[32] = {0}, most = 0; /* rows: of this byte and the next ones */

	for (size_t i = d->d_size; i--;) {
		size_t n = base_size(p + i, end, address_size, entries);
		uint32_t row = n ? 1 + rows[(i + n) % 32] : 0;

		rows[i % 32] = row;
		most = row > most ? row : most;
	}
	return most;
}

/* Find the sections of a file that have lists. Returns the most entries in a row that are no
 * ranges. */
static uint32_t find_lists(Elf *elf, Elf_Data *lists[2])
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *name;
	size_t count = 0;
	uint32_t most = 0;

	lists[0] = lists[1] = NULL;
	while ((section = elf_next_named(elf, section, &header, &name))) {
		bool entries = die_is_section(name, "rnglists");
		Elf_Data *data;

		if (header.sh_type == SHT_NOBITS || (!entries && !die_is_section(name, "ranges")))
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		if (!lists[entries]) /* of two of a name libdw takes the first, too */
			lists[entries] = data;
		if (++count > SECTIONS_MAX)
			return UINT32_MAX;
		for (unsigned size = 4; size <= 8; size += 4) {
			uint32_t row = longest_row(data, size, entries);

			most = row > most ? row : most;
		}
	}
	return most;
}

/*
 * Let libdw add the ranges of a DIE. Each costs 1 + row_max of *budget, as libdw reads a row of
 * entries that are no ranges without a word. Returns 0, or -1 when out of memory.
 */
static int libdw_ranges(Dwarf_Die *die, uint32_t row_max, uint32_t what, struct range_index *to,
			uint64_t *budget)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (*budget) {
		*budget -= *budget > row_max ? 1 + (uint64_t)row_max : *budget;
		at = dwarf_ranges(die, at, &base, &start, &end);
		if (at <= 0)
			return 0;
		if (range_index_add(to, start, end, what))
			return -1;
	}
	return 0;
}

/*
 * Add the ranges of a function's DIE, each entry of its list for one of info->budget. Returns
 * OUTCOME_NO, with nothing added, if they are in a form that libdw must read, such as an index of
 * addresses.
 */
static enum outcome die_ranges(struct debug_info *info, struct debug_unit *u, const struct die *d,
			       struct range_index *to)
{
	const struct die_reader *r = &u->reader;
	const struct die_attribute *attributes = &r->attributes[d->shape->first];
	const uint8_t *p = d->attributes, *low = NULL, *high = NULL, *ranges = NULL;
	unsigned low_form = 0, high_form = 0, ranges_form = 0;

	for (uint32_t i = 0; p && i < d->shape->count; i++) {
		unsigned form = attributes[i].form;

		switch (attributes[i].name) {
		case DW_AT_low_pc:
			low = p;
			low_form = form;
			break;
		case DW_AT_high_pc:
			high = p;
			high_form = form;
			break;
		case DW_AT_ranges:
			ranges = p;
			ranges_form = form;
			break;
		}
		p = die_skip(r, form, p);
	}
	if (!info->budget)
		return OUTCOME_YES;
	if (low && high)
		return low_form == DW_FORM_addr ? add_one(info, u, low, high, high_form, to)
						: OUTCOME_NO;
	return ranges ? add_list(info, u, ranges, ranges_form, to) : OUTCOME_YES;
}

/* --- debug info unit --- */

/* Most levels of nested scopes; compilers write some tens. */
enum { DEPTH_MAX = 512 };

/* Get the DIE of a function for libdw. */
static Dwarf_Die debug_unit_die(const struct debug_unit *u, const uint8_t *die)
{
	return (Dwarf_Die){.addr = (void *)die, .cu = u->tree.cu};
}

/* Get the DIE that has the name of a function, if that is in the unit; else the function's. */
static const uint8_t *debug_unit_origin(const struct debug_unit *u, const uint8_t *die)
{
	const uint8_t *value, *origin;
	unsigned form;
	struct die d;

	if (die_read(&u->reader, die, &d) != 1)
		return die;
	value = die_value(&u->reader, &d, DW_AT_abstract_origin, &form);
	origin = value ? die_reference(&u->reader, form, value) : NULL;
	return origin ? origin : die;
}

/* Get an attribute that is an unsigned constant; 0: there is none. */
static uint64_t debug_unit_number(const struct debug_unit *u, const uint8_t *die, unsigned name)
{
	struct die d;

	return die_read(&u->reader, die, &d) == 1 ? die_number(&u->reader, &d, name) : 0;
}

/* Add the ranges of a function's DIE. Returns 0, or -1 when out of memory. */
static int add_ranges(struct debug_info *info, struct debug_unit *u, const struct die *d,
		      struct range_index *to)
{
	Dwarf_Die die;
	enum outcome got = u->is_split ? OUTCOME_NO : die_ranges(info, u, d, to);

	if (got != OUTCOME_NO)
		return got == OUTCOME_FAILED ? -1 : 0;
	die = debug_unit_die(u, d->at);
	return libdw_ranges(&die, u->row_max, (uint32_t)u->count, to, &info->budget);
}

/* Add a function if it has code. Returns 1 + its number, 0 if it has none, -1 when out of memory.
 */
static int64_t add_function(struct debug_info *info, struct debug_unit *u, const struct die *d,
			    uint32_t outer, struct range_index *ranges)
{
	size_t had = ranges->count;

	if (!d->shape->ranges)
		return 0;
	if (u->count >= UINT32_MAX - 1 || add_ranges(info, u, d, ranges))
		return -1;
	if (ranges->count == had)
		return 0; /* a declaration, or a function that is always inlined */
	if (ARRAY_GROW(u->functions, u->capacity, u->count))
		return -1;
	u->functions[u->count++] = (struct debug_function){.die = d->at, .outer = outer};
	return (int64_t)u->count;
}

/* Must the children of a DIE be read when functions are searched for that are not inlined? */
static bool has_functions(unsigned tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_compile_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_partial_unit: return true;
	}
	return false;
}

/* Test whether a DIE can contain code that was inlined. */
static bool has_code(unsigned tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site: return false;
	}
	return true;
}

/*
 * Find the functions that are not inlined. C and C++ have them in namespaces; all: look in every
 * DIE, as other languages also have them in types and functions.
 */
static int find_functions(struct debug_info *info, struct debug_unit *u, bool all)
{
	const uint8_t *p = u->reader.first, *sibling;
	size_t depth = 0;
	struct die d;
	int got;

	u->ranges.count = u->inlined.count = u->count = 0;
	while ((got = die_read(&u->reader, p, &d)) >= 0) {
		p = d.next;
		if (!got) {
			if (depth-- <= 1)
				break;
			continue;
		}
		if (d.shape->tag == DW_TAG_subprogram &&
		    add_function(info, u, &d, 0, &u->ranges) < 0)
			return -1;
		if (!d.shape->children)
			continue;
		sibling = all || has_functions(d.shape->tag) ? NULL : die_sibling(&u->reader, &d);
		if (sibling)
			p = sibling;
		else
			depth++;
	}
	range_index_seal(&u->ranges);
	return 0;
}

/* Get n of the ranges of inlined calls. */
static struct range_index inlined_part(const struct debug_unit *u, size_t first, size_t n)
{
	return n ? (struct range_index){.at = u->inlined.at + first, .count = n}
		 : (struct range_index){0};
}

/*
 * Find the functions that are inlined in a function, by number. Functions deeper than DEPTH_MAX
 * are inlined in the one at that depth.
 */
static int find_inlined(struct debug_info *info, struct debug_unit *u, uint32_t root)
{
	const uint8_t *p = u->functions[root].die, *sibling;
	uint32_t outer[DEPTH_MAX];
	size_t depth = 0, first = u->inlined.count;
	struct range_index part;
	struct die d;
	int got;

	outer[0] = root + 1;
	while ((got = die_read(&u->reader, p, &d)) >= 0) {
		uint32_t at = outer[depth < DEPTH_MAX ? depth : DEPTH_MAX - 1];

		p = d.next;
		if (!got) {
			if (depth-- <= 1)
				break;
			continue;
		}
		if (d.shape->tag == DW_TAG_inlined_subroutine) {
			int64_t number = add_function(info, u, &d, at, &u->inlined);

			if (number < 0)
				return -1;
			at = number ? (uint32_t)number : at;
		}
		sibling = !depth || has_code(d.shape->tag) ? NULL : die_sibling(&u->reader, &d);
		if (sibling && d.shape->children)
			p = sibling;
		else if (d.shape->children && ++depth < DEPTH_MAX)
			outer[depth] = at;
		if (!depth)
			break;
	}
	part = inlined_part(u, first, u->inlined.count - first);
	range_index_seal(&part);
	u->functions[root].first = (uint32_t)first;
	u->functions[root].count = (uint32_t)part.count;
	u->functions[root].searched = true;
	return 0;
}

/* Get the longest row of entries that libdw may meet in the lists of the unit: split DWARF has
 * lists of its own, but in DWARF 4 those of the other file. */
static uint32_t lists_row_max(const struct debug_info *info, const struct debug_unit *u)
{
	Elf_Data *ignored[2];
	uint32_t own;

	if (!u->is_split)
		return info->row_max;
	own = find_lists(dwarf_getelf(dwarf_cu_getdwarf(u->tree.cu)), ignored);
	return own > info->row_max ? own : info->row_max;
}

/* Open the unit, and find the functions that C and C++ have. Returns 0, or -1 when out of memory.
 */
static int open_unit(struct debug_info *info, struct debug_unit *u)
{
	Dwarf_Addr base;
	enum outcome got;

	u->opened = true;
	if (!u->has_tree)
		return 0;
	got = die_reader_open(&u->reader, &u->tree);
	u->readable = got == OUTCOME_YES && u->reader.nshapes < info->budget;
	info->budget -= u->readable ? u->reader.nshapes : info->budget;
	u->row_max = lists_row_max(info, u);
	u->base = dwarf_lowpc(&u->tree, &base) ? 0 : base;
	return got == OUTCOME_FAILED || (u->readable && find_functions(info, u, false)) ? -1 : 0;
}

/* Find the function, not an inlined one, that has code at the address. Returns 0, or -1 when out
 * of memory. */
static int find_root(struct debug_info *info, struct debug_unit *u, uint64_t address,
		     const struct debug_range **r)
{

	*r = range_index_find(&u->ranges, address);
	if (*r || u->complete)
		return 0;
	u->complete = true;
	if (find_functions(info, u, true))
		return -1;
	*r = range_index_find(&u->ranges, address);
	return 0;
}

/*
 * Find the innermost function that has code at the address; NULL: none. It is one of u->functions,
 * valid until the next call. info->budget is how much may still be read: a hostile file can refer
 * to one long list many times. Returns 0, or -1 when out of memory.
 */
static int debug_unit_find(struct debug_info *info, struct debug_unit *u, uint64_t address,
			   struct debug_function **function)
{
	const struct debug_range *r;
	struct range_index part;
	uint32_t root;

	*function = NULL;
	if (!u->opened && open_unit(info, u))
		return -1;
	if (!u->readable)
		return 0;
	if (find_root(info, u, address, &r))
		return -1;
	if (!r)
		return 0;
	root = r->what;
	if (!u->functions[root].searched && find_inlined(info, u, root))
		return -1;
	part = inlined_part(u, u->functions[root].first, u->functions[root].count);
	r = range_index_find(&part, address);
	*function = &u->functions[r ? r->what : root];
	return 0;
}

static void debug_unit_free(struct debug_unit *u)
{
	free(u->functions);
	range_index_free(&u->ranges);
	range_index_free(&u->inlined);
	idmap_free(&u->names);
	die_reader_close(&u->reader);
}

/* --- find a module's DWARF, and the unit of each address --- */

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
	const char *name;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_next_named(elf, section, &header, &name))) {
		bool str = die_is_section(name, "str");

		if (header.sh_type == SHT_NOBITS)
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
	const char *name;

	d->row_max = find_lists(elf, d->lists);
	d->abbreviations = d->lines = NULL;
	if (!end_texts(elf))
		return false;
	while ((section = elf_next_named(elf, section, &header, &name))) {
		if (header.sh_type == SHT_NOBITS)
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
	if (ARRAY_GROW(d->units, d->capacity, d->count) ||
	    libdw_ranges(lines, d->row_max, (uint32_t)d->count, &d->ranges, &d->budget))
		return -1;
	d->units[d->count++] = (struct debug_unit){.lines = *lines,
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

/* Get the bytes of the table of lines that a unit refers to. */
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

/* Get the bytes of the abbreviations that a unit refers to. */
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
static enum outcome debug_info_read_other(struct debug_info *d)
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
		r = debug_info_read_other(d);
	for (const char *const *name = elf_perf_names; r == OUTCOME_NO && *name; name++)
		if (!elf_perf_open(&d->debug, build_id, *name, sysroot))
			r = debug_info_read_other(d);
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

/* --- find the functions and lines of an address --- */

static const char *debug_info_text_of(Dwarf_Die *die, unsigned what)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, what, &attribute));
}

static const char *debug_info_name_of(Dwarf_Die *die)
{
	const char *name = debug_info_text_of(die, DW_AT_linkage_name);

	if (!name)
		name = debug_info_text_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : debug_info_text_of(die, DW_AT_name);
}

static uint32_t debug_info_number_of(Dwarf_Attribute *attribute)
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
	directory = *path == '/' ? NULL : debug_info_text_of(&u->lines, DW_AT_comp_dir);
	number = directory && buffer_printf(&b, "%s/", directory) ? INTERN_NONE
		 : buffer_printf(&b, "%s", path)		  ? INTERN_NONE
						 : intern(&d->paths, b.data, b.size);
	buffer_free(&b);
	return number;
}

/* Get the absolute path of a path that libdw returns for the unit, or NULL. A table of lines
 * refers to each path often, always at the same place. */
static const char *debug_info_path_of(struct debug_info *d, struct debug_unit *u, const char *path)
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

/* Get the path of a file by its number in a unit, or NULL. */
static const char *numbered_path(struct debug_info *d, struct debug_unit *u, Dwarf_CU *cu,
				 uint64_t number)
{
	Dwarf_Files *files;
	Dwarf_Die unit;
	size_t n;

	return dwarf_cu_die(cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
			       !dwarf_getsrcfiles(&unit, &files, &n) && number < n
		       ? debug_info_path_of(d, u, dwarf_filesrc(files, number, NULL, NULL))
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

	f->line = debug_info_number_of(dwarf_attr_integrate(die, DW_AT_decl_line, &line));
	f->file = at ? numbered_path(d, u, at->cu, debug_info_number_of(at)) : NULL;
}

/* Set the line that the line table has for the address. */
static void debug_info_line_of(struct debug_info *d, struct debug_unit *u, uint64_t address,
			       struct source_frame *f)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->lines, address);
	int number;

	if (!line)
		return;
	f->file = debug_info_path_of(d, u, dwarf_linesrc(line, NULL, NULL));
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
	Dwarf_Die die;

	if (number)
		return number;
	if (ARRAY_GROW(d->names, d->names_capacity, d->nnames) || offset >= UINT32_MAX ||
	    d->nnames >= UINT32_MAX)
		return 0;
	die = debug_unit_die(u, origin);
	d->names[d->nnames++] = debug_info_name_of(&die);
	number = (uint32_t)d->nnames;
	return idmap_set(&u->names, (uint32_t)offset, number) ? 0 : number;
}

/* Set the name of a function. Returns 0, or -1: out of memory. */
static int debug_info_set_name(struct debug_info *d, struct debug_unit *u, struct debug_function *f,
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
static int debug_info_find_function(struct debug_info *d, uint64_t address,
				    struct debug_unit **unit, struct debug_function **function)
{
	const struct debug_range *r = range_index_find(&d->ranges, address);

	*unit = NULL;
	*function = NULL;
	if (!r)
		return 0;
	*unit = &d->units[r->what];
	return debug_unit_find(d, *unit, address, function);
}

/* Get the function that has this one's code inlined; NULL: none. */
static struct debug_function *debug_info_outer_of(const struct debug_unit *u,
						  const struct debug_function *f)
{
	return f->outer ? &u->functions[f->outer - 1] : NULL;
}

/* Get the name of a function, and the line where it is declared. Returns 0, or -1: out of memory.
 */
static int get_declaration(struct debug_info *d, struct debug_unit *u, struct debug_function *of,
			   struct source_frame *f)
{
	Dwarf_Die die;

	if (of->declared) {
		*f = d->declared[of->declared - 1];
		return 0;
	}
	if (debug_info_set_name(d, u, of, f) ||
	    ARRAY_GROW(d->declared, d->declared_capacity, d->ndeclared) ||
	    d->ndeclared == UINT32_MAX)
		return -1;
	die = debug_unit_die(u, of->die);
	declaration_of(d, u, &die, f);
	d->declared[d->ndeclared++] = *f;
	of->declared = (uint32_t)d->ndeclared;
	return 0;
}

enum outcome debug_info_function(struct debug_info *d, uint64_t address, struct source_frame *f)
{
	struct debug_function *function, *outer;
	struct debug_unit *unit;

	*f = (struct source_frame){0};
	address += d->base;
	if (debug_info_find_function(d, address, &unit, &function))
		return OUTCOME_FAILED;
	if (!unit)
		return OUTCOME_NO;
	if (function) {
		while ((outer = debug_info_outer_of(unit, function)))
			function = outer;
		if (get_declaration(d, unit, function, f))
			return OUTCOME_FAILED;
	}
	if (!f->file || !f->line)
		debug_info_line_of(d, unit, address, f);
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
	if (debug_info_find_function(d, address, &unit, &function))
		return -1;
	if (!unit)
		return 0;
	frames[0] = (struct source_frame){0};
	if (lines)
		debug_info_line_of(d, unit, address, &frames[0]);
	for (; function && n < most; function = debug_info_outer_of(unit, function)) {
		if (debug_info_set_name(d, unit, function, &frames[n]))
			return -1;
		if (++n == most || !function->outer)
			continue;
		frames[n] = (struct source_frame){0};
		if (lines)
			call_of(d, unit, function, &frames[n]);
	}
	return n ? (int)n : frames[0].file != NULL;
}

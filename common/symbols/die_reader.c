#include "common/symbols/die_reader.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"

/* Most attributes of a DIE; compilers write some tens. Those without a value cost the file nothing
 * for each DIE, but the reader. */
enum { ATTRIBUTES_MAX = 256 };

/* A section: its content, and whether it was found. */
struct bytes {
	const uint8_t *p, *end; /* p NULL: none */
};

bool die_is_section(const char *name, const char *kind)
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
	size_t names;

	*info = *abbrevs = (struct bytes){0};
	if (!elf || elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		Elf_Data *data;
		struct bytes at;

		if (!name || header.sh_type == SHT_NOBITS ||
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

/* Return the bytes of a value, or -1 if they vary. */
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

/* Return the end of n bytes, or NULL if the unit ends before it. */
static const uint8_t *skip_bytes(const struct die_reader *r, const uint8_t *p, uint64_t n)
{
	return p && (uint64_t)(r->end - p) >= n ? p + n : NULL;
}

static const uint8_t *skip_block(const struct die_reader *r, const uint8_t *p, unsigned size)
{
	const uint8_t *content = skip_bytes(r, p, size);

	return content ? skip_bytes(r, content, get_uint(p, size, r->big)) : NULL;
}

const uint8_t *die_skip(const struct die_reader *r, unsigned form, const uint8_t *p)
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
	struct die_attribute *attributes;
	int size = form > UINT16_MAX ? -1 : form_size(r, (unsigned)form);

	if (ARRAY_GROW(r->attributes, r->attributes_capacity, r->nattributes))
		return -1;
	attributes = r->attributes;
	/* 0 is no name, and no form: DIEs that have an unknown form cannot be read */
	attributes[r->nattributes++] = (struct die_attribute){
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
static enum outcome read_shape(struct die_reader *r, struct bytes *b)
{
	struct die_shape *shapes;
	struct die_shape shape = {.first = (uint32_t)r->nattributes, .sibling = -1};
	uint64_t code = die_uleb(&b->p, b->end), tag, name, form, constant;

	if (ARRAY_GROW(r->shapes, r->shapes_capacity, r->nshapes))
		return OUTCOME_FAILED;
	shapes = r->shapes;
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
	shapes[r->nshapes++] = shape;
	return idmap_set(&r->codes, shape.code, (uint32_t)r->nshapes) ? OUTCOME_FAILED
								      : OUTCOME_YES;
}

uint64_t die_shapes_size(const uint8_t *p, const uint8_t *end)
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

enum outcome die_reader_open(struct die_reader *r, Dwarf_Die *unit)
{
	enum outcome got = OUTCOME_YES;
	struct bytes abbrevs;
	struct die d;

	if (find_limits(r, unit, &abbrevs))
		return OUTCOME_NO;
	/* after damage the abbreviations before it are used */
	while (got == OUTCOME_YES)
		got = read_shape(r, &abbrevs);
	if (got == OUTCOME_FAILED)
		return got;
	return die_read(r, r->first, &d) == 1 && d.shape->tag == dwarf_tag(unit) ? OUTCOME_YES
										 : OUTCOME_NO;
}

void die_reader_close(struct die_reader *r)
{
	free(r->shapes);
	free(r->attributes);
	idmap_free(&r->codes);
	*r = (struct die_reader){0};
}

/* Return the shape of a code, or NULL. Compilers number the abbreviations from 1. */
static const struct die_shape *shape_of(const struct die_reader *r, uint64_t code)
{
	uint32_t number;

	if (code - 1 < r->nshapes && r->shapes[code - 1].code == code)
		return &r->shapes[code - 1];
	number = code <= UINT32_MAX ? idmap_get(&r->codes, (uint32_t)code) : 0;
	return number ? &r->shapes[number - 1] : NULL;
}

int die_read(const struct die_reader *r, const uint8_t *p, struct die *d)
{
	const struct die_shape *shape;
	uint64_t code;

	d->at = p;
	code = die_uleb(&p, r->end);
	d->next = d->attributes = p;
	if (!p || !code)
		return p ? 0 : -1;
	d->shape = shape = shape_of(r, code);
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

const uint8_t *die_value(const struct die_reader *r, const struct die *d, unsigned name,
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

uint64_t die_number(const struct die_reader *r, const struct die *d, unsigned name)
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

const uint8_t *die_reference(const struct die_reader *r, unsigned form, const uint8_t *value)
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

const uint8_t *die_sibling(const struct die_reader *r, const struct die *d)
{
	const uint8_t *sibling = NULL;

	if (d->shape->sibling >= 0)
		sibling =
			die_reference(r, d->shape->sibling_form, d->attributes + d->shape->sibling);
	return sibling >= d->next ? sibling : NULL;
}

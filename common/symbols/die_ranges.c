#include "common/symbols/die_ranges.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

/* Most sections of lists: no compiler writes two of a kind. */
enum { SECTIONS_MAX = 4 };

/* The values of a DIE that are its ranges. */
struct range_values {
	const uint8_t *low, *high, *ranges; /* NULL: none */
	unsigned low_form, high_form, ranges_form;
};

/* A list of ranges that is read, each entry for one of *budget. */
struct list {
	const uint8_t *p, *end; /* p: NULL after the end of the section */
	uint64_t base;
	unsigned address_size;
	bool big;
	uint64_t *budget;
};

static struct range_values values_of(const struct die_reader *r, const struct die *d)
{
	const struct die_attribute *attributes = &r->attributes[d->shape->first];
	const uint8_t *p = d->attributes;
	struct range_values v = {0};

	for (uint32_t i = 0; p && i < d->shape->count; i++) {
		unsigned form = attributes[i].form;

		switch (attributes[i].name) {
		case DW_AT_low_pc:
			v.low = p;
			v.low_form = form;
			break;
		case DW_AT_high_pc:
			v.high = p;
			v.high_form = form;
			break;
		case DW_AT_ranges:
			v.ranges = p;
			v.ranges_form = form;
			break;
		}
		p = die_skip(r, form, p);
	}
	return v;
}

/* Add the range of the values; they have two addresses, or an address and a size. */
static enum outcome add_one(const struct die_ranges_source *s, const struct range_values *v,
			    uint32_t what, struct range_index *to, uint64_t *budget)
{
	const struct die_reader *r = s->reader;
	const uint8_t *high = v->high;
	uint64_t low, n;

	if (v->low_form != DW_FORM_addr)
		return OUTCOME_NO;
	low = get_uint(v->low, r->address_size, r->big);
	switch (v->high_form) {
	case DW_FORM_addr: n = get_uint(high, r->address_size, r->big) - low; break;
	case DW_FORM_data1: n = *high; break;
	case DW_FORM_data2: n = get_uint(high, 2, r->big); break;
	case DW_FORM_data4: n = get_uint(high, 4, r->big); break;
	case DW_FORM_data8: n = get_uint(high, 8, r->big); break;
	case DW_FORM_udata: n = die_uleb(&high, r->end); break;
	default: return OUTCOME_NO;
	}
	--*budget;
	return range_index_add(to, low, low + n, what) ? OUTCOME_FAILED : OUTCOME_YES;
}

static uint64_t list_address(struct list *l)
{
	const uint8_t *at = l->p;

	if (!at || (size_t)(l->end - at) < l->address_size) {
		l->p = NULL;
		return 0;
	}
	l->p += l->address_size;
	return get_uint(at, l->address_size, l->big);
}

static uint64_t list_number(struct list *l)
{
	return l->p ? die_uleb(&l->p, l->end) : 0;
}

/* Read the next range of .debug_ranges. Returns OUTCOME_NO at the end of the list. */
static enum outcome next_pair(struct list *l, uint64_t *start, uint64_t *end)
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
static enum outcome next_entry(struct list *l, uint64_t *start, uint64_t *end)
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
static enum outcome add_list(const struct die_ranges_source *s, const struct range_values *v,
			     uint32_t what, struct range_index *to, uint64_t *budget)
{
	const struct die_reader *r = s->reader;
	bool entries = r->version >= 5;
	const Elf_Data *data = entries ? s->lists->lists : s->lists->pairs;
	unsigned size = v->ranges_form == DW_FORM_data4	       ? 4
			: v->ranges_form == DW_FORM_data8      ? 8
			: v->ranges_form == DW_FORM_sec_offset ? r->offset_size
							       : 0;
	uint64_t offset = get_uint(v->ranges, size, r->big), start, end;
	size_t had = to->count;
	enum outcome got;
	struct list l;

	if (!size || !data || offset >= data->d_size ||
	    (r->address_size != 4 && r->address_size != 8))
		return OUTCOME_NO;
	l = (struct list){.p = (const uint8_t *)data->d_buf + offset,
			  .end = (const uint8_t *)data->d_buf + data->d_size,
			  .base = s->base,
			  .address_size = r->address_size,
			  .big = r->big,
			  .budget = budget};
	for (;;) {
		got = entries ? next_entry(&l, &start, &end) : next_pair(&l, &start, &end);
		if (got == OUTCOME_NO)
			return OUTCOME_YES;
		if (got == OUTCOME_FAILED) {
			to->count = had;
			return OUTCOME_NO;
		}
		if (range_index_add(to, start, end, what))
			return OUTCOME_FAILED;
	}
}

/* Return the bytes of an entry that is no range, but sets the base of those that follow; 0: it is
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

/* Return the most entries in a row, from any byte of a section, that are no ranges. */
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

struct range_lists range_lists_of(Elf *elf)
{
	struct range_lists l = {0};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names, count = 0;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return l;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		Elf_Data *data, **to;
		bool entries;

		if (!name || header.sh_type == SHT_NOBITS)
			continue;
		entries = die_is_section(name, "rnglists");
		if (!entries && !die_is_section(name, "ranges"))
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf)
			continue;
		to = entries ? &l.lists : &l.pairs;
		*to = *to ? *to : data; /* of two of a name libdw takes the first, too */
		if (++count > SECTIONS_MAX) {
			l.row_max = UINT32_MAX;
			return l;
		}
		for (unsigned size = 4; size <= 8; size += 4) {
			uint32_t row = longest_row(data, size, entries);

			l.row_max = row > l.row_max ? row : l.row_max;
		}
	}
	return l;
}

int libdw_ranges(Dwarf_Die *die, uint32_t row_max, uint32_t what, struct range_index *to,
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

enum outcome die_ranges(const struct die_ranges_source *s, const struct die *d, uint32_t what,
			struct range_index *to, uint64_t *budget)
{
	struct range_values v = values_of(s->reader, d);

	if (!*budget)
		return OUTCOME_YES;
	if (v.low && v.high)
		return add_one(s, &v, what, to, budget);
	return v.ranges ? add_list(s, &v, what, to, budget) : OUTCOME_YES;
}

#include "common/symbols/die_ranges.h"

#include <dwarf.h>

/* The values of a DIE that are its ranges. */
struct range_values {
	const uint8_t *low, *high, *ranges; /* NULL: none */
	unsigned low_form, high_form, ranges_form;
};

/* A list of ranges that is read. */
struct list {
	const uint8_t *p, *end; /* p: NULL after the end of the section */
	uint64_t base;
	unsigned address_size;
	bool big;
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

	for (;;) {
		*start = list_address(l);
		*end = list_address(l);
		if (!l->p || (!*start && !*end))
			return OUTCOME_NO;
		if (*start != select)
			break;
		l->base = *end;
	}
	*start += l->base;
	*end += l->base;
	return OUTCOME_YES;
}

/* Read the next range of .debug_rnglists. Returns OUTCOME_NO at the end of the list, OUTCOME_FAILED
 * if libdw must read the list. */
static enum outcome next_entry(struct list *l, uint64_t *start, uint64_t *end)
{
	while (l->p && l->p < l->end) {
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
			  .big = r->big};
	while (*budget) {
		--*budget;
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
	return OUTCOME_YES;
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

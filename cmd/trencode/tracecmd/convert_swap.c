/*
 * convert_swap.c - convert records of big-endian kernels to little-endian, field by field
 *
 * Fields whose parts are not described (structs, network addresses) are unchanged.
 */
#include "cmd/trencode/tracecmd/convert.h"

static void swap_bytes(uint8_t *p, unsigned size)
{
	for (unsigned i = 0; i < size / 2; i++) {
		uint8_t c = p[i];

		p[i] = p[size - 1 - i];
		p[size - 1 - i] = c;
	}
}

static void swap_elements(uint8_t *record, size_t size, uint64_t offset, uint64_t n,
			  unsigned element)
{
	if (element < 2 || element > 8 || offset > size)
		return;
	if (n > size - offset)
		n = size - offset;
	for (; n >= element; n -= element, offset += element)
		swap_bytes(record + offset, element);
}

static void swap_field(uint8_t *record, size_t size, const struct type *t, const struct field *f)
{
	/* masks are made of longs */
	unsigned element = f->kind == FIELD_BITMAP ? t->word_size : f->size;
	uint64_t count = f->count ? f->count : 1, offset = f->offset, n;
	uint32_t loc;

	switch (f->where) {
	case WHERE_TAIL:
		n = f->size * count;
		/* a stack ends with its record, whatever count the format declares */
		if (f->count > 1 && !strcmp(t->group.text, "ftrace") &&
		    !strcmp(f->name.text, "caller"))
			n = size;
		swap_elements(record, size, offset, n, element);
		return;
	case WHERE_REST: swap_elements(record, size, offset, size, element); return;
	case WHERE_DATA_LOC:
	case WHERE_REL_LOC:
		if (offset + 4 > size)
			return;
		loc = (uint32_t)get_uint(record + offset, 4, true);
		swap_bytes(record + offset, 4);
		offset = (loc & 0xffff) + (f->where == WHERE_REL_LOC ? offset + 4 : 0);
		swap_elements(record, size, offset, loc >> 16, element);
	}
}

void tracecmd_swap_record(uint8_t *record, size_t size, const struct type *t)
{
	for (uint32_t i = 0; i < t->nfields; i++)
		swap_field(record, size, t, &t->fields[i]);
}

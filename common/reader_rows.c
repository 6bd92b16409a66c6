#include "reader_private.h"

/* An array with room for n; NULL: memory is out, and the old one stays. */
static void *roomy(void *array, size_t *capacity, size_t n, size_t element)
{
	return *capacity < n ? array_grow(array, capacity, n - 1, element) : array;
}

static int make_room(struct reader *r, const struct block *b)
{
	const struct type **types = roomy(r->types, &r->types_capacity, b->ntypes, sizeof *types);
	const struct lane **lanes = roomy(r->lanes, &r->lanes_capacity, b->nlanes, sizeof *lanes);
	uint32_t *places =
		roomy(r->places, &r->places_capacity, (size_t)b->nplaces + 1, sizeof *places);

	if (types)
		r->types = types;
	if (lanes)
		r->lanes = lanes;
	if (places)
		r->places = places;
	return types && lanes && places ? 0 : reader_no_memory(r);
}

/* The block's tables from ids to what they name. */
int reader_tables(struct reader *r, struct block *b)
{
	struct dictionary *d = &r->dictionary;
	size_t n = (size_t)b->ntypes + b->nlanes + b->nplaces, table = align_up(4 * n, 8);
	const uint8_t *p = b->payload + EVENTS_HEADER;
	uint32_t number;

	if (table > b->length - EVENTS_HEADER || !b->ntypes || !b->nlanes)
		return reader_damaged(r, b->offset, "an event block whose tables are cut short");
	if (make_room(r, b))
		return -1;
	b->type_ids = p;
	for (uint32_t i = 0; i < b->ntypes; i++, p += 4) {
		number = idmap_get(&d->ids[ENTRY_TYPE], get_u32(p));
		if (!number)
			return reader_damaged(r, b->offset, "an event block of an undeclared type");
		r->types[i] = dictionary_type(d, number);
	}
	b->lane_ids = p;
	for (uint32_t i = 0; i < b->nlanes; i++, p += 4) {
		number = idmap_get(&d->ids[ENTRY_LANE], get_u32(p));
		if (!number)
			return reader_damaged(r, b->offset, "an event block of an undeclared lane");
		r->lanes[i] = dictionary_lane(d, number);
	}
	b->place_ids = p;
	r->places[0] = 0;
	for (uint32_t i = 0; i < b->nplaces; i++, p += 4) {
		number = idmap_get(&d->ids[ENTRY_PLACE], get_u32(p));
		if (!number)
			return reader_damaged(r, b->offset,
					      "an event block of an undeclared place");
		r->places[i + 1] = number;
	}
	b->types = r->types;
	b->lanes = r->lanes;
	b->places = r->places;
	b->row_data = b->payload + EVENTS_HEADER + table;
	b->row_size = b->length - EVENTS_HEADER - table;
	return 0;
}

bool reader_all_bare(const struct block *b)
{
	for (uint32_t i = 0; i < b->ntypes; i++)
		if (b->types[i]->fixed_size || b->types[i]->flags & TYPE_TAIL)
			return false;
	return true;
}

static bool wide_rows_sane(const struct block *b)
{
	for (const uint8_t *p = b->row_data; p < b->row_data + b->row_size; p += WIDE_ROW)
		if ((get_u64(p) & 0xffffffffffff) > b->last - b->base ||
		    get_u16(p + 6) >= b->ntypes || get_u32(p + 8) > b->nplaces ||
		    get_u16(p + 12) >= b->nlanes)
			return false;
	return true;
}

typedef int32_t quad __attribute__((vector_size(16)));
typedef uint32_t unsigned_quad __attribute__((vector_size(16)));

static inline uint32_t larger(uint32_t a, uint64_t b)
{
	return a > b ? a : (uint32_t)b;
}

static inline quad larger_quad(quad a, quad b)
{
	quad which = a > b;

	return (a & which) | (b & ~which);
}

/* This looks at every row of every block in every program: it is made to cost nothing. */
bool reader_bare_rows_sane(struct block *b)
{
	size_t stride = b->row_flags & EVENTS_WIDE ? WIDE_ROW : NARROW_ROW;
	uint32_t time = 0, type = 0, lane = 0, place = 0;
	quad most_low = {0}, most_high = {0};
	const uint8_t *p, *end;

	if (!reader_all_bare(b) || b->row_size / stride != b->rows ||
	    b->row_size - b->rows * stride >= 8)
		return false;
	b->row_size = b->rows * stride;
	if (!b->rows)
		return true;
	if (stride == WIDE_ROW)
		return wide_rows_sane(b);
	p = b->row_data;
	end = p + b->row_size;
#if __BYTE_ORDER == __LITTLE_ENDIAN
	/* two rows at once: {time and lane, place and type} each */
	for (; end - p >= 2 * NARROW_ROW; p += 2 * NARROW_ROW) {
		const quad low = {0xffffff, 0xffff, 0xffffff, 0xffff},
			   high = {0xff00, 0xff, 0xff00, 0xff};
		quad v, x, y;

		memcpy(&v, p, sizeof(v));
		x = v & low;
		y = (quad)((unsigned_quad)v >> 16) & high;
		most_low = larger_quad(most_low, x);
		most_high = larger_quad(most_high, y);
	}
	for (int i = 0; i < 4; i += 2) {
		time = larger(time, (uint32_t)most_low[i]);
		place = larger(place, (uint32_t)most_low[i + 1]);
		lane = larger(lane, (uint32_t)most_high[i] >> 8);
		type = larger(type, (uint32_t)most_high[i + 1]);
	}
#endif
	for (; p < end; p += NARROW_ROW) {
		uint64_t w = get_u64(p);

		time = larger(time, w & 0xffffff);
		lane = larger(lane, w >> 24 & 0xff);
		place = larger(place, w >> 32 & 0xffff);
		type = larger(type, w >> 48 & 0xff);
	}
	return time <= b->last - b->base && type < b->ntypes && lane < b->nlanes &&
	       place <= b->nplaces;
}

/* Bytes of the whole rows at the front; *rows counts them. */
size_t reader_walk_rows(const struct block *b, uint32_t *rows)
{
	bool wide = b->row_flags & EVENTS_WIDE;
	uint64_t span = b->last - b->base;
	const uint8_t *p = b->row_data;
	size_t left = b->row_size;

	for (*rows = 0; *rows < b->rows; ++*rows) {
		uint32_t type, lane, place;
		uint64_t size = wide ? WIDE_ROW : NARROW_ROW, delta;
		const struct type *t;

		if (left < size)
			break;
		delta = get_u64(p) & (wide ? 0xffffffffffff : 0xffffff);
		type = wide ? get_u16(p + 6) : p[6];
		place = wide ? get_u32(p + 8) : get_u16(p + 4);
		lane = wide ? get_u16(p + 12) : p[3];
		if (delta > span || type >= b->ntypes || lane >= b->nlanes || place > b->nplaces)
			break;
		t = b->types[type];
		size += t->fixed_size;
		if (t->flags & TYPE_TAIL) {
			if (left < size + 4)
				break;
			size += 4 + align_up(get_u32(p + size), 4);
		}
		if (left < size)
			break;
		p += size;
		left -= size;
	}
	return b->row_size - left;
}

bool reader_rows_sane(struct block *b)
{
	uint32_t rows;
	size_t size = reader_walk_rows(b, &rows);

	if (rows != b->rows || b->row_size - size >= 8)
		return false;
	b->row_size = size;
	return true;
}

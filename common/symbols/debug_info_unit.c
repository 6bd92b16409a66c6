#include "common/symbols/debug_info_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "common/symbols/die_ranges.h"
#include "common/util/buffer.h"

/* Most levels of nested scopes; compilers write some tens. */
enum { DEPTH_MAX = 512 };

Dwarf_Die debug_unit_die(const struct debug_unit *u, const uint8_t *die)
{
	return (Dwarf_Die){.addr = (void *)die, .cu = u->tree.cu};
}

const uint8_t *debug_unit_origin(const struct debug_unit *u, const uint8_t *die)
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

uint64_t debug_unit_number(const struct debug_unit *u, const uint8_t *die, unsigned name)
{
	struct die d;

	return die_read(&u->reader, die, &d) == 1 ? die_number(&u->reader, &d, name) : 0;
}

/* What is needed to read a unit once. */
struct unit_search {
	struct debug_unit *unit;
	const struct range_lists *lists;
	uint64_t *budget;
};

/* Add the ranges of a function's DIE. Returns 0, or -1 when out of memory. */
static int add_ranges(const struct unit_search *s, const struct die *d, struct range_index *to)
{
	struct debug_unit *u = s->unit;
	struct die_ranges_source source = {&u->reader, s->lists, u->base};
	Dwarf_Die die;
	enum outcome got = u->is_split ? OUTCOME_NO
				       : die_ranges(&source, d, (uint32_t)u->count, to, s->budget);

	if (got != OUTCOME_NO)
		return got == OUTCOME_FAILED ? -1 : 0;
	die = debug_unit_die(u, d->at);
	return libdw_ranges(&die, u->row_max, (uint32_t)u->count, to, s->budget);
}

/* Add a function if it has code. Returns 1 + its number, 0 if it has none, -1 when out of memory.
 */
static int64_t add_function(const struct unit_search *s, const struct die *d, uint32_t outer,
			    struct range_index *ranges)
{
	struct debug_unit *u = s->unit;
	size_t had = ranges->count;
	struct debug_function *functions;

	if (!d->shape->ranges)
		return 0;
	if (u->count >= UINT32_MAX - 1 || add_ranges(s, d, ranges))
		return -1;
	if (ranges->count == had)
		return 0; /* a declaration, or a function that is always inlined */
	if (ARRAY_GROW(u->functions, u->capacity, u->count))
		return -1;
	functions = u->functions;
	functions[u->count++] = (struct debug_function){.die = d->at, .outer = outer};
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

/* Can a DIE contain code that was inlined? */
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
static int find_functions(const struct unit_search *s, bool all)
{
	struct debug_unit *u = s->unit;
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
		if (d.shape->tag == DW_TAG_subprogram && add_function(s, &d, 0, &u->ranges) < 0)
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
static int find_inlined(const struct unit_search *s, uint32_t root)
{
	struct debug_unit *u = s->unit;
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
			int64_t number = add_function(s, &d, at, &u->inlined);

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

/* Return the longest row of entries that libdw may meet in the lists of the unit: split DWARF has
 * lists of its own, but in DWARF 4 those of the other file. */
static uint32_t lists_row_max(const struct unit_search *s)
{
	const struct debug_unit *u = s->unit;
	uint32_t row = s->lists->row_max, own;

	if (!u->is_split)
		return row;
	own = range_lists_of(dwarf_getelf(dwarf_cu_getdwarf(u->tree.cu))).row_max;
	return own > row ? own : row;
}

/* Open the unit, and find the functions that C and C++ have. Returns 0, or -1 when out of memory.
 */
static int open_unit(const struct unit_search *s)
{
	struct debug_unit *u = s->unit;
	Dwarf_Addr base;
	enum outcome got;

	u->opened = true;
	if (!u->has_tree)
		return 0;
	got = die_reader_open(&u->reader, &u->tree);
	u->readable = got == OUTCOME_YES && u->reader.nshapes < *s->budget;
	*s->budget -= u->readable ? u->reader.nshapes : *s->budget;
	u->row_max = lists_row_max(s);
	u->base = dwarf_lowpc(&u->tree, &base) ? 0 : base;
	return got == OUTCOME_FAILED || (u->readable && find_functions(s, false)) ? -1 : 0;
}

/* Find the function, not an inlined one, that has code at the address. Returns 0, or -1 when out
 * of memory. */
static int find_root(const struct unit_search *s, uint64_t address, const struct range **r)
{
	struct debug_unit *u = s->unit;

	*r = range_index_find(&u->ranges, address);
	if (*r || u->complete)
		return 0;
	u->complete = true;
	if (find_functions(s, true))
		return -1;
	*r = range_index_find(&u->ranges, address);
	return 0;
}

int debug_unit_find(struct debug_unit *u, const struct range_lists *lists, uint64_t *budget,
		    uint64_t address, struct debug_function **function)
{
	const struct unit_search s = {u, lists, budget};
	const struct range *r;
	struct range_index part;
	uint32_t root;

	*function = NULL;
	if (!u->opened && open_unit(&s))
		return -1;
	if (!u->readable)
		return 0;
	if (find_root(&s, address, &r))
		return -1;
	if (!r)
		return 0;
	root = r->what;
	if (!u->functions[root].searched && find_inlined(&s, root))
		return -1;
	part = inlined_part(u, u->functions[root].first, u->functions[root].count);
	r = range_index_find(&part, address);
	*function = &u->functions[r ? r->what : root];
	return 0;
}

void debug_unit_free(struct debug_unit *u)
{
	free(u->functions);
	range_index_free(&u->ranges);
	range_index_free(&u->inlined);
	idmap_free(&u->names);
	die_reader_close(&u->reader);
}

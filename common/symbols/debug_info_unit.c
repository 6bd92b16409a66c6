#include "common/symbols/debug_info_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "common/util/buffer.h"

/* Most levels of nested scopes; compilers write some tens. */
enum { DEPTH_MAX = 512 };

int debug_unit_ranges(Dwarf_Die *die, uint32_t what, struct range_index *to, uint64_t *budget)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while (*budget && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		--*budget;
		if (range_index_add(to, start, end, what))
			return -1;
	}
	return 0;
}

/* A DIE, and 1 + the number of the innermost function that contains its children; 0 none. */
struct level {
	Dwarf_Die die;
	uint32_t function;
};

/* Add the DIE of a level, if it is a function that has code. */
static int unit_take(struct debug_unit *u, struct level *at, uint64_t *budget)
{
	int tag = dwarf_tag(&at->die);
	bool inlined = tag == DW_TAG_inlined_subroutine;
	size_t had = u->ranges.count;
	struct debug_function *functions;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_entry_point && !(inlined && at->function))
		return 0;
	if (u->count >= UINT32_MAX - 1 ||
	    debug_unit_ranges(&at->die, (uint32_t)u->count, &u->ranges, budget))
		return -1;
	if (u->ranges.count == had)
		return 0; /* a declaration, or a function that is always inlined */
	functions = array_grow(u->functions, &u->capacity, u->count, sizeof *functions);
	if (!functions)
		return -1;
	u->functions = functions;
	functions[u->count++] =
		(struct debug_function){.die = at->die, .outer = inlined ? at->function : 0};
	at->function = (uint32_t)u->count;
	return 0;
}

/* Can the DIE contain functions that have code? */
static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site: return false;
	}
	return dwarf_haschildren(die) > 0;
}

/*
 * Visit the tree in the order of the file. Every step must lead forward: a damaged reference to a
 * sibling could form a loop.
 */
static int unit_walk(struct debug_unit *u, struct level *stack, uint64_t *budget)
{
	Dwarf_Off furthest = dwarf_dieoffset(&u->tree);
	Dwarf_Die next;
	size_t depth = 0;

	stack[0] = (struct level){.die = u->tree};
	for (;;) {
		if (depth + 1 < DEPTH_MAX && is_scope(&stack[depth].die) &&
		    !dwarf_child(&stack[depth].die, &next)) {
			depth++;
		} else {
			/* siblings of the unit itself are not in the unit */
			while (depth && dwarf_siblingof(&stack[depth].die, &next))
				depth--;
			if (!depth)
				return 0;
		}
		if (dwarf_dieoffset(&next) <= furthest)
			return 0;
		furthest = dwarf_dieoffset(&next);
		stack[depth] = (struct level){next, stack[depth - 1].function};
		if (unit_take(u, &stack[depth], budget))
			return -1;
	}
}

int debug_unit_index(struct debug_unit *u, uint64_t *budget)
{
	struct level *stack;
	int r;

	if (u->indexed)
		return 0;
	u->indexed = true;
	if (!u->has_tree)
		return 0;
	stack = malloc(DEPTH_MAX * sizeof *stack);
	r = stack ? unit_walk(u, stack, budget) : -1;
	free(stack);
	range_index_seal(&u->ranges);
	return r;
}

void debug_unit_free(struct debug_unit *u)
{
	free(u->functions);
	range_index_free(&u->ranges);
}

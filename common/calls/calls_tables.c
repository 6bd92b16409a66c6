/*
 * calls_tables.c - lookup tables of a block (calls_rows.h)
 */
#include "common/calls/calls_private.h"
#include "common/stream/field.h"

/* Test whether each row of the type has a call number. Enters with stacks are left to calls_next.
 */
static void set_number(const struct type *t, struct calls_row_type *row)
{
	const struct field *f = t->flags & TYPE_CALL_NUMBER ? field_by_role(t, ROLE_CALL) : NULL;
	bool numbered = !(t->flags & TYPE_PER_CPU) && !t->has_stacks && f &&
			f->where == WHERE_FIXED && f->size == 4 &&
			f->offset <= UINT16_MAX - NARROW_ROW;

	row->numbered = numbered && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE) ? t->kind : 0;
	row->call = (uint16_t)(numbered ? NARROW_ROW + f->offset : 0);
}

int calls_rows(struct calls *c, const struct block *b, struct calls_rows *cr)
{
	bool per_cpu = false;

	cr->block = b;
	cr->locations = b->locations;
	cr->careful = false;
	for (uint32_t i = 1; i <= b->nlocations; i++)
		cr->careful |= !calls_ordinary(c, b->locations[i]) &&
			       calls_enters_exec(c, b->locations[i]);
	for (uint32_t i = 0; i < b->ntypes && i < 256; i++) {
		const struct type *t = b->types[i];
		bool call = t->kind == KIND_ENTER || t->kind == KIND_LEAVE;

		call = call && t->flags & TYPE_DEPTH &&
		       !(t->flags & (TYPE_INNER | TYPE_CALL_NUMBER | TYPE_KERNEL));
		cr->types[i].kind = call ? t->kind : 0;
		set_number(t, &cr->types[i]);
		cr->type[i] = t;
		cr->types[i].instant = kind_is_instant(t->kind);
		cr->types[i].stack = t->flags & TYPE_PER_CPU ? 256 : 0;
		per_cpu |= t->flags & TYPE_PER_CPU;
	}
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		const struct lane *l = b->lanes[i];

		cr->lanes[i] = l;
		cr->stacks[i] = calls_stack_at(c, l->thread);
		cr->stacks[256 + i] = per_cpu ? calls_stack_at(c, l->cpu_thread) : NULL;
		if (!cr->stacks[i] || (per_cpu && !cr->stacks[256 + i]))
			return -1;
		/* so, if a thread has two lanes, one differs */
		cr->careful |= per_cpu || cr->stacks[i]->lane != l;
	}
	return 0;
}

bool calls_rows_shared(struct calls_rows *cr, const struct block *b)
{
	bool shared = false;

	for (uint32_t i = 0; i < b->nlanes && i < 256; i++)
		cr->stacks[i]->lane = NULL;
	for (uint32_t i = 0; i < b->nlanes && i < 256; i++) {
		shared |= cr->stacks[i]->lane != NULL;
		cr->stacks[i]->lane = b->lanes[i];
	}
	return shared;
}

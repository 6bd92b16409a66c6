#include "cmd/trfilter/rows/drops.h"

#include "cmd/trfilter/calls/row_state.h"
#include "common/stream/entry.h"

/* Returns the type that the input declares with an id; NULL: none. */
static const struct type *type_with_id(struct stage *s, uint32_t id)
{
	return dictionary_type(&s->in.dictionary, idmap_get(&s->in.dictionary.ids[ENTRY_TYPE], id));
}

static bool is_drop(const struct type *t, uint16_t flags)
{
	return t && t->kind == KIND_DROP && t->flags == flags && !t->fixed_size;
}

/* Declare a type with flags, with the highest id that the input does not use otherwise. */
static int drops_declare(struct stage *s, struct drop_type *t, uint16_t flags)
{
	uint8_t entry[ENTRY_HEADER + TYPE_HEAD] = {0};
	struct block b = {.kind = BLOCK_DICT,
			  .payload = entry,
			  .length = sizeof entry,
			  .available = sizeof entry};
	struct error e;
	size_t where;

	t->id = UINT32_MAX;
	while (type_with_id(s, t->id) && !is_drop(type_with_id(s, t->id), flags))
		t->id--;
	put_u16(entry, ENTRY_TYPE);
	put_u32(entry + 4, TYPE_HEAD);
	put_u32(entry + 8, t->id);
	entry_put_type(entry + ENTRY_HEADER,
		       &(struct type_entry){.kind = KIND_DROP, .flags = flags});
	if (dictionary_read(&s->in.dictionary, entry, sizeof entry, &where, &e))
		return stage_fail(s, &e);
	t->type = type_with_id(s, t->id);
	t->segment = s->out.segment;
	return stage_forward_plain(s, &b, NULL, NULL);
}

static int put_drop(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
		    uint16_t flags, uint32_t depth)
{
	unsigned number = (flags & TYPE_INNER ? 1 : 0) | (flags & TYPE_KERNEL ? 2 : 0) |
			  (flags & TYPE_PER_CPU ? 4 : 0);
	struct drop_type *t = &x->types[number];
	struct event drop = *e;

	if ((t->segment != s->out.segment || !is_drop(type_with_id(s, t->id), flags)) &&
	    drops_declare(s, t, flags))
		return -1;
	drop.type = t->type;
	drop.depth = depth;
	return writer_bare_row(&s->out, b, &drop, t->id) ? stage_fail(s, &s->out.error) : 0;
}

int drops_put(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
	      uint8_t state)
{
	uint16_t flags = e->type->flags & (TYPE_KERNEL | TYPE_PER_CPU);
	bool by_depth = e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER);
	uint32_t deeper = e->type->kind == KIND_LEAVE && !(state & ROW_ENDS_OWN);

	/* a row that is kept ends these calls itself */
	if (state & (ROW_ENDS | ROW_ENDS_OWN) && by_depth && !row_passes(state) &&
	    put_drop(x, s, b, e, flags | TYPE_DEPTH, e->depth + deeper))
		return -1;
	return state & ROW_ENDS_INNER ? put_drop(x, s, b, e, flags | TYPE_INNER, 0) : 0;
}

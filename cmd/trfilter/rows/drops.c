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
	struct type_entry content = {.kind = KIND_DROP, .flags = flags};
	struct block b = {.kind = BLOCK_DICT};
	struct buffer entry = {0};
	struct error e;
	size_t where;
	int bad;

	t->id = UINT32_MAX;
	while (type_with_id(s, t->id) && !is_drop(type_with_id(s, t->id), flags))
		t->id--;
	if (entry_append_content(&entry, ENTRY_TYPE, t->id, &content))
		bad = stage_no_memory(s);
	else if (dictionary_read(&s->in.dictionary, entry.data, entry.size, &where, &e))
		bad = stage_fail(s, &e);
	else {
		t->type = type_with_id(s, t->id);
		t->segment = s->out.segment;
		b.payload = entry.data;
		b.length = b.available = (uint32_t)entry.size;
		bad = stage_forward_plain(s, &b, NULL, NULL);
	}
	buffer_free(&entry);
	return bad;
}

static int put_drop(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
		    const struct drop_row *row)
{
	uint16_t flags = row->flags;
	unsigned number = (flags & TYPE_INNER ? 1 : 0) | (flags & TYPE_KERNEL ? 2 : 0) |
			  (flags & TYPE_PER_CPU ? 4 : 0);
	struct drop_type *t = &x->types[number];
	struct event drop = *e;

	if ((t->segment != s->out.segment || !is_drop(type_with_id(s, t->id), flags)) &&
	    drops_declare(s, t, flags))
		return -1;
	drop.type = t->type;
	drop.depth = row->depth;
	return writer_bare_row(&s->out, b, &drop, t->id) ? stage_fail(s, &s->out.error) : 0;
}

unsigned drops_of(const struct event *e, uint8_t state, struct drop_row rows[2])
{
	uint16_t flags = e->type->flags & (TYPE_KERNEL | TYPE_PER_CPU);
	bool by_depth = e->type->flags & TYPE_DEPTH && !(e->type->flags & TYPE_INNER);
	uint32_t deeper = e->type->kind == KIND_LEAVE && !(state & ROW_ENDS_OWN);
	unsigned n = 0;

	/* a row that is kept ends these calls itself */
	if (state & (ROW_ENDS | ROW_ENDS_OWN) && by_depth && !row_passes(state))
		rows[n++] = (struct drop_row){flags | TYPE_DEPTH, e->depth + deeper};
	if (state & ROW_ENDS_INNER)
		rows[n++] = (struct drop_row){flags | TYPE_INNER, 0};
	return n;
}

int drops_put(struct drops *x, struct stage *s, const struct block *b, const struct event *e,
	      uint8_t state)
{
	struct drop_row rows[2];
	unsigned n = drops_of(e, state, rows);

	for (unsigned i = 0; i < n; i++)
		if (put_drop(x, s, b, e, &rows[i]))
			return -1;
	return 0;
}

#include "cmd/trsym/add_symbols.h"
#include "common/stream/declare.h"

/* Return the location of an id of the stream, if the location can have a symbol. */
static const struct location *location_of(const struct dictionary *d, uint32_t id)
{
	const struct location *p = dictionary_location(d, idmap_get(&d->ids[ENTRY_LOCATION], id));

	/* other locations are named by their source, or are inlined functions */
	return p && p->space && !p->name.size ? p : NULL;
}

static int send_symbol(struct stage *s, uint32_t id, const struct symbol_entry *symbol)
{
	return writer_pass_symbol(&s->out, id, symbol) ? stage_fail(s, &s->out.error) : 0;
}

static bool is_same(const struct location_symbol *theirs, const struct symbol_entry *ours)
{
	return theirs->name.size == ours->name_size &&
	       !memcmp(theirs->name.text, ours->name, ours->name_size) &&
	       theirs->module.size == ours->module_size &&
	       !memcmp(theirs->module.text, ours->module, ours->module_size) &&
	       theirs->file.size == ours->file_size &&
	       !(ours->file_size && memcmp(theirs->file.text, ours->file, ours->file_size)) &&
	       theirs->line == ours->line && theirs->start == ours->start &&
	       theirs->size == ours->size && theirs->flags == ours->flags;
}

/* Keep the line that an earlier trsym found for the same function, if this program finds none. */
static void keep_line(const struct location_symbol *theirs, struct symbol_entry *ours)
{
	if (ours->file_size || theirs->start != ours->start || theirs->size != ours->size)
		return;
	ours->line = theirs->line;
	ours->file = theirs->file.text;
	ours->file_size = theirs->file.size;
}

int add_symbols(struct stage *s, struct resolver *r, const struct block *b)
{
	struct dictionary *d = &s->in.dictionary;
	const struct location *p;
	struct symbol_entry symbol;
	size_t at = 0;
	uint32_t id;

	while (entry_next_of(ENTRY_LOCATION, b->payload, b->length, &at, &id)) {
		p = location_of(d, id);
		if (!p)
			continue;
		if (resolve(r, p, !p->symbol, &symbol) == OUTCOME_FAILED)
			return stage_no_memory(s);
		if (p->symbol)
			keep_line(p->symbol, &symbol);
		if (send_symbol(s, id, &symbol))
			return -1;
	}
	for (at = 0; entry_next_of(ENTRY_SYMBOL, b->payload, b->length, &at, &id);) {
		enum outcome got;

		p = location_of(d, id);
		if (!p || !p->symbol)
			continue;
		got = resolve(r, p, false, &symbol);
		if (got == OUTCOME_FAILED)
			return stage_no_memory(s);
		if (got == OUTCOME_NO)
			symbol = declare_symbol(p->symbol);
		else if (is_same(p->symbol, &symbol))
			continue;
		else
			keep_line(p->symbol, &symbol);
		if (send_symbol(s, id, &symbol))
			return -1;
	}
	return 0;
}

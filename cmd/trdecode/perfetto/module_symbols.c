/*
 * module_symbols.c - the symbols of modules: functions of addresses, and what is inlined there
 *
 * Several lines of one address are the functions that are inlined in each other, the innermost
 * first: the last one is that of the function which the address belongs to. A stack with such an
 * address has a frame for each. As symbols may come after the stacks, these frames are added when
 * the rows are written.
 *
 * Source: protos/perfetto/trace/profiling/profile_common.proto of the project perfetto, and the
 * order of the table stack_profile_symbol of its trace processor.
 */
#include <stdlib.h>

#include "cmd/trdecode/perfetto/perfetto.h"

enum { LINES_MOST = 64 }; /* of one address; the innermost ones beyond are left out */

/* What the symbols of a module are found by. */
struct symbol_key {
	uint64_t address;
	uint32_t module, zero; /* string of the build-id, or else of the path */
};

static struct perfetto_source_location read_line(struct perfetto *p, struct protobuf_view message)
{
	struct perfetto_source_location line = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case INLINE_FUNCTION: line.function = perfetto_text(p, f.bytes); break;
		case INLINE_FILE: line.file = perfetto_text(p, f.bytes); break;
		case INLINE_LINE: line.line = (uint32_t)f.value; break;
		}
	return line;
}

/* Take the message AddressSymbols. */
static int take_symbol(struct perfetto *p, uint32_t module, struct protobuf_view message)
{
	struct symbol_key key = {.module = module};
	struct buffer *all = &p->modules.symbols;
	struct perfetto_source_location line = {0};
	struct protobuf_view rest = message;
	struct protobuf_field f;
	size_t at = all->size;
	uint64_t lines = 0, kept = 0;
	uint32_t *number;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number == SYMBOLS_AT)
			key.address = f.value;
		lines += f.number == SYMBOLS_LINE && f.wire == PROTOBUF_LENGTH;
	}
	if (buffer_u64(all, 0))
		return -1;
	for (rest = message; protobuf_next(&rest, &f) > 0;) {
		if (f.number != SYMBOLS_LINE || f.wire != PROTOBUF_LENGTH || lines-- > LINES_MOST)
			continue;
		line = read_line(p, f.bytes);
		if (buffer_append(all, &line, sizeof line))
			return -1;
		kept++;
	}
	/* that of the function */
	if (!line.function) {
		all->size = at;
		return 0;
	}
	put_u64(all->data + at, kept);
	number = id_cache_number(&p->modules.symbol_numbers, &key, sizeof key);
	if (!number)
		return -1;
	*number = (uint32_t)(at / 4) + 1;
	return 0;
}

int perfetto_module_symbols(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct buffer *b = &p->scratch.text;
	uint32_t path = 0, build_id = 0;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		size_t n = protobuf_size(f.bytes);

		b->size = 0;
		if (f.number == MODULE_PATH)
			path = perfetto_text(p, f.bytes);
		if (f.number != MODULE_BUILD_ID || !n || n > BUILD_ID_MOST)
			continue;
		if (buffer_hex_bytes(b, f.bytes.at, n))
			return -1;
		build_id = writer_string(p->w, b->data, b->size);
	}
	rest = packet->payload;
	while (protobuf_next(&rest, &f) > 0)
		if (f.number == MODULE_SYMBOLS && f.wire == PROTOBUF_LENGTH &&
		    take_symbol(p, build_id ? build_id : path, f.bytes))
			return -1;
	return 0;
}

/* --- names of addresses --- */

/* Declare the functions that are inlined at an address, for the stacks with its location. */
static int inline_functions(struct perfetto *p, const struct perfetto_unnamed *u,
			    const uint8_t *lines, uint32_t n)
{
	struct perfetto_modules *m = &p->modules;
	uint32_t *inlined;
	size_t at = m->chains.size;

	if (ARRAY_REACH(m->inlined, m->ninlined, u->location) || buffer_u32(&m->chains, n))
		return -1;
	inlined = m->inlined;
	while (n-- > 0) {
		struct location_entry entry = {.space = u->space, .address = u->address};
		struct perfetto_source_location line;
		uint32_t location;

		memcpy(&line, lines + n * sizeof line, sizeof line);
		entry.name = line.function ? line.function : writer_text(p->w, "?");
		location = perfetto_named_location(p, &entry, &line, u->path);
		if (!location || buffer_u32(&m->chains, location))
			return -1;
	}
	inlined[u->location] = (uint32_t)(at / 4) + 1;
	return 0;
}

int perfetto_name_frames(struct perfetto *p)
{
	struct perfetto_modules *m = &p->modules;

	for (size_t at = 0; at < m->unnamed.size; at += sizeof(struct perfetto_unnamed)) {
		struct perfetto_source_location line;
		struct perfetto_unnamed u;
		struct symbol_key key = {0};
		struct location_entry entry;
		const uint8_t *symbol;
		uint32_t number, lines;

		memcpy(&u, m->unnamed.data + at, sizeof u);
		key.address = u.address;
		key.module = u.module;
		number = intern_find(&m->symbol_numbers.keys, &key, sizeof key);
		if (number == INTERN_NONE)
			continue;
		symbol = m->symbols.data + (size_t)(m->symbol_numbers.numbers[number] - 1) * 4;
		lines = (uint32_t)get_u64(symbol) - 1;
		symbol += 8;
		memcpy(&line, symbol + lines * sizeof line, sizeof line);
		entry = (struct location_entry){.address = u.address, .name = line.function};
		if (perfetto_name_location(p, u.location, &entry, &line, 0) ||
		    (lines && inline_functions(p, &u, symbol, lines)))
			return -1;
	}
	return 0;
}

/* --- stacks --- */

/* Add a frame to a stack, and after it those of its inlined functions. */
static uint32_t add_frames(struct perfetto *p, uint32_t stack, uint32_t location)
{
	const struct perfetto_modules *m = &p->modules;
	uint32_t at = location < m->ninlined ? m->inlined[location] : 0;
	const uint8_t *chain = at ? m->chains.data + (size_t)(at - 1) * 4 : NULL;

	stack = writer_stack(p->w, stack, location);
	for (uint32_t i = 0; stack && chain && i < get_u32(chain); i++)
		stack = writer_stack(p->w, stack, get_u32(chain + 4 + (size_t)4 * i));
	return stack;
}

int perfetto_add_inlined(struct perfetto *p, uint32_t *stack)
{
	struct perfetto_modules *m = &p->modules;
	struct buffer *open = &p->scratch.key;
	uint32_t caller = *stack, *full;

	if (!m->ninlined || !*stack)
		return 0;
	if (ARRAY_REACH(m->full, m->nfull, *stack))
		return -1;
	full = m->full;
	/* the callers whose stacks are not yet known */
	for (open->size = 0; caller && !full[caller]; caller = writer_stack_at(p->w, caller).parent)
		if (buffer_u32(open, caller))
			return -1;
	caller = caller ? full[caller] : 0;
	for (size_t at = open->size; at > 0; at -= 4) {
		uint32_t id = get_u32(open->data + at - 4);

		caller = add_frames(p, caller, writer_stack_at(p->w, id).location);
		if (!caller)
			return -1;
		full[id] = caller;
	}
	*stack = caller;
	return 0;
}

void perfetto_modules_free(struct perfetto_modules *m)
{
	id_cache_free(&m->mapping_numbers);
	id_cache_free(&m->frames);
	id_cache_free(&m->symbol_numbers);
	buffer_free(&m->mappings);
	buffer_free(&m->unnamed);
	buffer_free(&m->symbols);
	buffer_free(&m->chains);
	free(m->inlined);
	free(m->full);
}

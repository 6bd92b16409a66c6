/*
 * callstacks.c - call stacks: their frames, and the files that are mapped
 *
 * A frame with a function is a named location with the file and the line; any other frame is an
 * address in the space of the file that is mapped, where a MAP relates addresses to the file. The
 * symbols of modules (module_symbols.c), which are often the last packets, name such addresses.
 */
#include "cmd/trdecode/perfetto/perfetto.h"

/* --- frames --- */

/* Declare the space of a file. Addresses are those of the ELF file: offset + load_bias. */
static uint32_t declare_space(struct perfetto *p, uint32_t path, uint32_t build_id, uint64_t bias)
{
	uint32_t space =
		writer_space(p->w, &(struct space_entry){.source = p->source, .name = path});

	if (space && writer_map(p->w, &(struct map_entry){.space = space,
							  .start = bias,
							  .end = UINT64_MAX,
							  .path = path,
							  .build_id = build_id}))
		return 0;
	return space;
}

/* Append the parts of a path to a text. */
static int add_parts(struct perfetto *p, const struct perfetto_sequence *s,
		     struct protobuf_field *f, struct buffer *b)
{
	struct protobuf_view rest = f->bytes;
	uint64_t iid;

	while (protobuf_each(f, &rest, &iid)) {
		uint32_t part = perfetto_interned(p, s, OF_PATH, iid);
		size_t n;
		const char *text = part ? writer_string_of(p->w, part, &n) : NULL;

		if (text && (buffer_u8(b, '/') || buffer_append(b, text, n)))
			return -1;
	}
	return 0;
}

uint32_t perfetto_mapping(struct perfetto *p, const struct perfetto_sequence *s,
			  struct protobuf_view message)
{
	struct buffer *b = &p->scratch.text;
	struct perfetto_mapped mapped;
	struct protobuf_field f;
	uint32_t *number;
	struct {
		uint64_t bias;
		uint32_t path, build_id;
	} key = {0};

	b->size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case MAPPING_BUILD_ID:
			key.build_id = perfetto_interned(p, s, OF_BUILD_ID, f.value);
			break;
		case MAPPING_LOAD_BIAS: key.bias = f.value; break;
		case MAPPING_PATH:
			if (add_parts(p, s, &f, b))
				return 0;
			break;
		}
	key.path = writer_string(p->w, b->data, b->size);
	number = id_cache_number(&p->modules.mapping_numbers, &key, sizeof key);
	if (!number || *number)
		return number ? *number : 0;
	mapped.path = key.path;
	mapped.build_id = key.build_id;
	mapped.space = declare_space(p, key.path, key.build_id, key.bias);
	if (!mapped.space || buffer_append(&p->modules.mappings, &mapped, sizeof mapped))
		return 0;
	return *number = (uint32_t)(p->modules.mappings.size / sizeof mapped);
}

int perfetto_name_location(struct perfetto *p, uint32_t location,
			   const struct location_entry *entry,
			   const struct perfetto_source_location *source, uint32_t module)
{
	struct symbol_entry symbol = {.start = entry->address, .line = source->line};
	size_t n;

	symbol.name = writer_string_of(p->w, entry->name, &n);
	symbol.name_size = (uint32_t)n;
	if (source->file) {
		symbol.file = writer_string_of(p->w, source->file, &n);
		symbol.file_size = (uint32_t)n;
	}
	if (module) {
		symbol.module = writer_string_of(p->w, module, &n);
		symbol.module_size = (uint32_t)n;
	}
	return writer_symbol(p->w, location, &symbol);
}

uint32_t perfetto_named_location(struct perfetto *p, const struct location_entry *entry,
				 const struct perfetto_source_location *source, uint32_t module)
{
	uint32_t location = writer_location(p->w, entry);

	if (location && (source->file || module) &&
	    perfetto_name_location(p, location, entry, source, module))
		return 0;
	return location;
}

/* What a frame is; equal frames have one location. */
struct frame {
	uint64_t address;
	uint32_t name, mapping, file, line;
};

/* Read the message Frame. */
static struct frame read_frame(struct perfetto *p, const struct perfetto_sequence *s,
			       struct protobuf_view message)
{
	struct frame frame = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case FRAME_FUNCTION:
			frame.name = perfetto_interned(p, s, OF_FUNCTION, f.value);
			break;
		case FRAME_MAPPING:
			frame.mapping = perfetto_interned(p, s, OF_MAPPING, f.value);
			break;
		case FRAME_ADDRESS: frame.address = f.value; break;
		case FRAME_SOURCE_PATH:
			frame.file = perfetto_interned(p, s, OF_SOURCE_PATH, f.value);
			break;
		case FRAME_LINE: frame.line = (uint32_t)f.value; break;
		}
	if (!frame.mapping)
		frame.address = 0;
	return frame;
}

/* Note a location that the symbols of its module may name. */
static int note_unnamed(struct perfetto *p, uint32_t location, const struct perfetto_mapped *mapped,
			uint64_t address)
{
	struct perfetto_unnamed unnamed = {address,
					   mapped->build_id ? mapped->build_id : mapped->path,
					   location, mapped->space, mapped->path};

	return location ? buffer_append(&p->modules.unnamed, &unnamed, sizeof unnamed) : 0;
}

uint32_t perfetto_frame(struct perfetto *p, const struct perfetto_sequence *s,
			struct protobuf_view message)
{
	struct frame frame = read_frame(p, s, message);
	struct perfetto_source_location source = {.file = frame.file, .line = frame.line};
	struct location_entry entry = {.name = frame.name, .address = frame.address};
	uint32_t *location = id_cache_number(&p->modules.frames, &frame, sizeof frame);
	struct perfetto_mapped mapped = {0};

	if (!location || *location)
		return location ? *location : 0;
	if (frame.mapping)
		memcpy(&mapped, p->modules.mappings.data + (frame.mapping - 1) * sizeof mapped,
		       sizeof mapped);
	entry.space = mapped.space;
	if (entry.name)
		return *location = perfetto_named_location(p, &entry, &source, mapped.path);
	if (!frame.mapping)
		entry.name = writer_text(p->w, "?");
	*location = writer_location(p->w, &entry);
	return frame.mapping && note_unnamed(p, *location, &mapped, frame.address) ? 0 : *location;
}

uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
			    struct protobuf_view message)
{
	struct protobuf_view rest;
	struct protobuf_field f;
	uint32_t stack = 0;
	uint64_t iid;

	/* the outermost frame is first */
	while (protobuf_next(&message, &f) > 0) {
		if (f.number != CALLSTACK_FRAME)
			continue;
		for (rest = f.bytes; protobuf_each(&f, &rest, &iid);) {
			uint32_t location = perfetto_interned(p, s, OF_FRAME, iid);

			if (location)
				stack = writer_stack(p->w, stack, location);
		}
	}
	return stack;
}

uint32_t perfetto_inline_stack(struct perfetto *p, struct protobuf_view message)
{
	struct protobuf_field f, of;
	uint32_t stack = 0;

	while (protobuf_next(&message, &f) > 0) {
		struct perfetto_source_location source = {0};
		struct location_entry entry = {0};
		uint32_t location;

		if (f.number != INLINE_FRAME)
			continue;
		while (protobuf_next(&f.bytes, &of) > 0)
			switch (of.number) {
			case INLINE_FUNCTION: entry.name = perfetto_text(p, of.bytes); break;
			case INLINE_FILE: source.file = perfetto_text(p, of.bytes); break;
			case INLINE_LINE: source.line = (uint32_t)of.value; break;
			}
		if (!entry.name)
			entry.name = writer_text(p->w, "?");
		location = perfetto_named_location(p, &entry, &source, 0);
		stack = location ? writer_stack(p->w, stack, location) : stack;
	}
	return stack;
}

/*
 * locations.c - frames of a profile.proto: functions with their files and lines where the profile
 * names them, and addresses in mappings, which trsym can name, where it does not
 */
#include "cmd/trdecode/pprof/pprof.h"

/* Mapping, Location, Line, Function */
enum {
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
};
enum { LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

struct mapping {
	uint64_t start, limit, offset, file, build_id;
};

uint32_t pprof_string(const struct pprof *p, uint64_t index)
{
	struct protobuf_view s = profile_string(&p->profile, index);

	return writer_string(p->w, s.at, protobuf_size(s));
}

static void read_mapping(struct protobuf_view message, struct mapping *m)
{
	struct protobuf_field f;

	*m = (struct mapping){0};
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case MAPPING_START: m->start = f.value; break;
		case MAPPING_LIMIT: m->limit = f.value; break;
		case MAPPING_OFFSET: m->offset = f.value; break;
		case MAPPING_FILE: m->file = f.value; break;
		case MAPPING_BUILD_ID: m->build_id = f.value; break;
		}
}

int pprof_fact_mapping(struct pprof *p, struct trace_info *facts, size_t number)
{
	struct mapping m;

	read_mapping(p->profile.mappings.entry[number], &m);
	return pprof_fact(p, facts, "mapping", m.file, m.build_id);
}

/* Declare the address space of a mapping: processes whose profiles were merged may have different
 * files at an address. number: as profile_find; 0 none. Returns 0 when out of memory. */
static uint32_t space_of(struct pprof *p, uint32_t number)
{
	const struct profile_table *t = &p->profile.mappings;
	uint32_t *space = &p->space[number ? number - 1 : t->count];
	struct mapping m = {0};

	if (*space)
		return *space;
	if (number)
		read_mapping(t->entry[number - 1], &m);
	*space = writer_space(
		p->w, &(struct space_entry){.source = p->source, .name = pprof_string(p, m.file)});
	if (*space && m.limit > m.start &&
	    writer_map(p->w, &(struct map_entry){.space = *space,
						 .flags = MAP_FILE_OFFSET,
						 .start = m.start,
						 .end = m.limit,
						 .offset = m.offset,
						 .path = pprof_string(p, m.file),
						 .build_id = pprof_string(p, m.build_id)}))
		*space = 0;
	return *space;
}

static int add_frame(struct pprof *p, const struct location_entry *entry,
		     const struct symbol_entry *symbol)
{
	uint32_t id = writer_location(p->w, entry);

	if (!id || (symbol && writer_symbol(p->w, id, symbol)))
		return -1;
	return buffer_u32(&p->frames, id);
}

/* Add the frame of a line of a location. */
static int add_line(struct pprof *p, struct protobuf_view line, uint64_t address, uint32_t mapping)
{
	struct location_entry entry = {.space = space_of(p, mapping), .address = address};
	struct symbol_entry symbol = {.start = address};
	struct protobuf_view name, file = {NULL, NULL}, module = file, function = file;
	uint64_t named = 0, system_name = 0, path = 0;
	struct protobuf_field f;
	struct mapping m;
	uint32_t number = 0;

	while (protobuf_next(&line, &f) > 0) {
		if (f.number == LINE_FUNCTION)
			number = profile_find(&p->profile.functions, f.value);
		else if (f.number == LINE_LINE)
			symbol.line = f.value > UINT32_MAX ? 0 : (uint32_t)f.value;
	}
	if (number)
		function = p->profile.functions.entry[number - 1];
	while (protobuf_next(&function, &f) > 0)
		switch (f.number) {
		case FUNCTION_NAME: named = f.value; break;
		case FUNCTION_SYSTEM_NAME: system_name = f.value; break;
		case FUNCTION_FILE: path = f.value; break;
		}
	name = profile_string(&p->profile, named ? named : system_name);
	file = profile_string(&p->profile, path);
	if (mapping) {
		read_mapping(p->profile.mappings.entry[mapping - 1], &m);
		module = profile_string(&p->profile, m.file);
	}
	if (name.at == name.end)
		return entry.space ? add_frame(p, &entry, NULL) : -1;
	symbol.name = (const char *)name.at;
	symbol.name_size = (uint32_t)protobuf_size(name);
	symbol.file = (const char *)file.at;
	symbol.file_size = (uint32_t)protobuf_size(file);
	symbol.module = (const char *)module.at;
	symbol.module_size = (uint32_t)protobuf_size(module);
	entry.name = writer_string(p->w, name.at, protobuf_size(name));
	return entry.space ? add_frame(p, &entry, &symbol) : -1;
}

/* Append the frames of an entry, whose lines are innermost first, to p->frames. */
static int add_frames(struct pprof *p, struct protobuf_view message)
{
	struct protobuf_view rest = message;
	struct location_entry entry = {0};
	struct protobuf_field f;
	uint32_t mapping = 0;
	bool has_lines = false;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case LOCATION_MAPPING:
			mapping = f.value ? profile_find(&p->profile.mappings, f.value) : 0;
			break;
		case LOCATION_ADDRESS: entry.address = f.value; break;
		case LOCATION_LINE: has_lines = true; break;
		}
	while (has_lines && protobuf_next(&message, &f) > 0)
		if (f.number == LOCATION_LINE && add_line(p, f.bytes, entry.address, mapping))
			return -1;
	if (has_lines)
		return 0;
	entry.space = space_of(p, mapping);
	return entry.space ? add_frame(p, &entry, NULL) : -1;
}

/* Append the frame of a location that the profile does not have. */
static int add_unknown(struct pprof *p, uint64_t id)
{
	struct location_entry entry = {.name = writer_text(p->w, "?")};
	uint32_t location = writer_location(p->w, &entry);

	input_short(p->input, p->input->name, (uint64_t)(p->sample.at - p->profile.data.data),
		    "a sample has location %llu, which the profile does not have",
		    (unsigned long long)id);
	return location ? buffer_u32(&p->stack, location) : -1;
}

int pprof_add_location(struct pprof *p, uint64_t id)
{
	uint32_t number = profile_find(&p->profile.locations, id);
	struct location_frames *l;

	if (!number)
		return add_unknown(p, id);
	l = &p->location[number - 1];
	if (!l->count) {
		l->begin = (uint32_t)(p->frames.size / 4);
		if (add_frames(p, p->profile.locations.entry[number - 1]))
			return -1;
		l->count = (uint32_t)(p->frames.size / 4) - l->begin;
	}
	return buffer_append(&p->stack, p->frames.data + 4 * (size_t)l->begin,
			     4 * (size_t)l->count);
}

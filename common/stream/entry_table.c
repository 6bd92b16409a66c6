/*
 * entry_table.c - the fields of all kinds of entries
 *
 * A field is added here, in a struct of entry.h and, unless the entry is not an object of the
 * dictionary (ONLY), in one of dictionary.h. Its place in the payload is specified by trstream(5).
 */
#include <stddef.h>

#include "common/stream/dictionary.h"
#include "common/stream/entry.h"

#define WIDTH(type, name) sizeof(((struct type *)0)->name)
#define NUMBER(at, type, name)                                                                     \
	{                                                                                          \
		at, WIDTH(type##_entry, name), 0, USE_PLAIN, false,                                \
			offsetof(struct type##_entry, name), offsetof(struct type, name)           \
	}
/* a field that the dictionary's object does not have */
#define ONLY(at, type, name, kind)                                                                 \
	{                                                                                          \
		at, WIDTH(type##_entry, name), kind, USE_PLAIN, false,                             \
			offsetof(struct type##_entry, name), ENTRY_NO_OBJECT                       \
	}
#define ID(at, type, name, kind, or_null)                                                          \
	{                                                                                          \
		at, 4, kind, USE_PLAIN, or_null, offsetof(struct type##_entry, name),              \
			offsetof(struct type, name)                                                \
	}
#define TEXT(at, type, name, use)                                                                  \
	{                                                                                          \
		at, 4, ENTRY_STRING, use, false, offsetof(struct type##_entry, name),              \
			offsetof(struct type, name)                                                \
	}

static const struct entry_field clock_fields[] = {
	TEXT(0, clock, name, USE_PLAIN),
	NUMBER(4, clock, flags),
	NUMBER(8, clock, wall),
};

static const struct entry_field source_fields[] = {
	TEXT(0, source, format, USE_PLAIN),
	TEXT(4, source, name, USE_TITLE),
	NUMBER(8, source, word_size),
	NUMBER(12, source, big_endian),
};

static const struct entry_field lane_fields[] = {
	ID(0, lane, source, ENTRY_SOURCE, false),
	ID(4, lane, clock, ENTRY_CLOCK, false),
	TEXT(8, lane, buffer, USE_PLAIN),
	TEXT(12, lane, comm, USE_NAME),
	NUMBER(16, lane, flags),
	NUMBER(20, lane, cpu),
	NUMBER(24, lane, tid),
	NUMBER(28, lane, pid),
	NUMBER(32, lane, ppid),
};

static const struct entry_field type_fields[] = {
	ID(0, type, source, ENTRY_SOURCE, true),
	TEXT(4, type, name, USE_PLAIN),
	TEXT(8, type, group, USE_PLAIN),
	TEXT(12, type, declaration, USE_DECLARATION),
	NUMBER(16, type, kind),
	NUMBER(17, type, word_size),
	NUMBER(18, type, flags),
	NUMBER(20, type, fixed_size),
	NUMBER(24, type, native),
	NUMBER(28, type, nfields),
	NUMBER(32, type, weight),
};

static const struct entry_field field_fields[] = {
	TEXT(0, field, name, USE_PLAIN),
	TEXT(4, field, type_name, USE_PLAIN),
	NUMBER(8, field, kind),
	NUMBER(9, field, role),
	NUMBER(10, field, where),
	NUMBER(12, field, offset),
	NUMBER(16, field, size),
	NUMBER(20, field, count),
	ID(24, field, definition, ENTRY_DEFINITION, true),
};

static const struct entry_field definition_fields[] = {
	TEXT(0, definition, name, USE_DEFINITION),
	NUMBER(4, definition, kind),
	NUMBER(6, definition, flags),
	{8, 4, 0, USE_PLAIN, false, offsetof(struct definition_entry, nmembers),
	 offsetof(struct definition, count)},
	NUMBER(12, definition, native),
};

static const struct entry_field member_fields[] = {
	TEXT(0, member, name, USE_DEFINITION),
	NUMBER(8, member, low),
	NUMBER(16, member, high),
};

static const struct entry_field space_fields[] = {
	ID(0, space, source, ENTRY_SOURCE, false),
	TEXT(4, space, name, USE_TITLE),
	NUMBER(8, space, pid),
	NUMBER(12, space, flags),
};

static const struct entry_field map_fields[] = {
	ID(0, map, space, ENTRY_SPACE, true),
	NUMBER(4, map, flags),
	NUMBER(8, map, start),
	NUMBER(16, map, end),
	NUMBER(24, map, offset),
	NUMBER(32, map, time),
	NUMBER(40, map, epoch),
	TEXT(44, map, path, USE_PATH),
	TEXT(48, map, build_id, USE_BUILD_ID),
	TEXT(52, map, table, USE_META),
};

static const struct entry_field location_fields[] = {
	ID(0, location, space, ENTRY_SPACE, true),
	NUMBER(4, location, epoch),
	NUMBER(8, location, address),
	TEXT(16, location, name, USE_NAME),
	ID(20, location, arguments, ENTRY_DEFINITION, true),
};

static const struct entry_field symbol_fields[] = {
	ONLY(0, symbol, start, 0),	ONLY(8, symbol, size, 0),
	ONLY(16, symbol, line, 0),	ONLY(20, symbol, flags, 0),
	ONLY(24, symbol, name_size, 0), ONLY(28, symbol, module_size, 0),
	ONLY(32, symbol, file_size, 0),
};

static const struct entry_field thread_fields[] = {
	ONLY(0, thread, lane, ENTRY_LANE), ONLY(4, thread, flags, 0),	ONLY(8, thread, last, 0),
	ONLY(16, thread, since, 0),	   ONLY(24, thread, unseen, 0), ONLY(28, thread, open, 0),
};

static const struct entry_field stack_fields[] = {
	ONLY(0, stack, parent, ENTRY_STACK),
	ONLY(4, stack, location, ENTRY_LOCATION),
};

#define FIELDS(name) .nfields = sizeof name / sizeof *name, .fields = name

static const struct entry_layout field_layout = {32, FIELDS(field_fields)};
static const struct entry_layout member_layout = {24, FIELDS(member_fields)};

#define PARTS(type, name, number, at, element, object_number)                                      \
	.part = &element##_layout, .count = at,                                                    \
	.content_count = offsetof(struct type##_entry, number),                                    \
	.content_parts = offsetof(struct type##_entry, name),                                      \
	.object_count = offsetof(struct type, object_number),                                      \
	.object_parts = offsetof(struct type, name),                                               \
	.content_size = sizeof(struct element##_entry), .object_size = sizeof(struct element)

const struct entry_layout entry_layouts[ENTRY_KINDS] = {
	[ENTRY_CLOCK] = {16, FIELDS(clock_fields)},
	[ENTRY_SOURCE] = {16, FIELDS(source_fields)},
	[ENTRY_LANE] = {40, FIELDS(lane_fields)},
	[ENTRY_TYPE] = {40, FIELDS(type_fields), PARTS(type, fields, nfields, 28, field, nfields)},
	[ENTRY_DEFINITION] = {16, FIELDS(definition_fields),
			      PARTS(definition, members, nmembers, 8, member, count)},
	[ENTRY_SPACE] = {16, FIELDS(space_fields)},
	[ENTRY_MAP] = {56, FIELDS(map_fields)},
	[ENTRY_LOCATION] = {24, FIELDS(location_fields)},
	[ENTRY_SYMBOL] = {40, FIELDS(symbol_fields)},
	[ENTRY_THREAD] = {32, FIELDS(thread_fields)},
	[ENTRY_STACK] = {8, FIELDS(stack_fields)},
};

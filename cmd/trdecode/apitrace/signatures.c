/*
 * signatures.c - reads functions, structs, enums, bitmasks and frames, each defined at the first
 * use of its id
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trdecode/apitrace/apitrace.h"

enum { DIRECT_LIMIT = 1 << 16 };

/* Add an id. The tracer's ids are sparse numbers below some thousands: an array; larger ids are
 * hashed. */
static int set_index(struct apitrace_ids *ids, uint32_t id, uint32_t index)
{
	if (id >= DIRECT_LIMIT)
		return idmap_set(&ids->map, id, index);
	if (ARRAY_REACH(ids->direct, ids->direct_size, id))
		return -1;
	ids->direct[id] = index;
	return 0;
}

/* Read an id and find its element, or add a zeroed one. *fresh: it was added. */
static inline void *find_element(struct apitrace *a, struct apitrace_ids *ids, size_t element,
				 uint64_t *id, bool *fresh)
{
	uint32_t index;
	void *grown;

	*fresh = false;
	if (apitrace_uint(a, id))
		return NULL;
	if (*id > UINT32_MAX - 1) {
		apitrace_bad(a, "the impossible id %llu", (unsigned long long)*id);
		return NULL;
	}
	index = *id < ids->direct_size ? ids->direct[*id] : idmap_get(&ids->map, (uint32_t)*id);
	if (__builtin_expect(index != 0, 1))
		return (char *)ids->at + (index - 1) * element;
	a->ids.defined += element + 64;
	if (ARRAY_ASSIGN(ids->at, array_grow(ids->at, &ids->capacity, ids->count, element)) ||
	    set_index(ids, (uint32_t)*id, (uint32_t)++ids->count)) {
		apitrace_no_memory(a);
		return NULL;
	}
	*fresh = true;
	grown = (char *)ids->at + (ids->count - 1) * element;
	memset(grown, 0, element);
	return grown;
}

static void forget_ids(struct apitrace_ids *ids)
{
	idmap_free(&ids->map);
	free(ids->direct);
	free(ids->at);
	*ids = (struct apitrace_ids){0};
}

void apitrace_forget(struct apitrace *a)
{
	forget_ids(&a->ids.functions);
	forget_ids(&a->ids.structs);
	forget_ids(&a->ids.enums);
	forget_ids(&a->ids.bitmasks);
	forget_ids(&a->ids.frames);
	idmap_free(&a->lanes);
	a->lanes = (struct idmap){0};
	a->last_lane = 0;
	open_calls_free(&a->open);
}

static int add_member(struct apitrace *a, uint32_t name, uint64_t value)
{
	struct member_entry m = {name, value, value};

	return buffer_append(&a->values.members, &m, sizeof m) ? apitrace_no_memory(a) : 0;
}

static int count_of(struct apitrace *a, uint64_t *n)
{
	if (apitrace_uint(a, n))
		return -1;
	if (*n > APITRACE_NAMES_LIMIT)
		return apitrace_bad(a, "a definition of %llu names", (unsigned long long)*n);
	return 0;
}

/* Declare the members in a->values.members as a definition. */
static int define_members(struct apitrace *a, uint64_t id, uint32_t name, enum definition_kind kind,
			  uint32_t *definition)
{
	*definition = 0;
	if (!a->w)
		return 0;
	*definition = writer_definition(
		a->w, &(struct definition_entry){
			      .name = name,
			      .kind = kind,
			      .native = (uint32_t)id,
			      .nmembers = (uint32_t)(a->values.members.size /
						     sizeof(struct member_entry)),
			      .members = (const struct member_entry *)a->values.members.data});
	if (!*definition || (!a->segments && writer_use_definition(a->w, *definition)))
		return apitrace_no_memory(a);
	return 0;
}

static int read_names(struct apitrace *a, uint64_t n)
{
	uint32_t name;

	a->values.members.size = 0;
	while (n--)
		if (apitrace_name(a, &name) || add_member(a, name, 0))
			return -1;
	return 0;
}

/* Set the API by the first function whose name is typical of an API. */
static void detect_api(struct apitrace *a, const char *s, size_t n)
{
	static const struct {
		const char *prefix, *api;
		bool upper; /* a capital letter follows */
	} rows[] = {
		{"glX", "OpenGL + GLX/WGL/CGL", false},
		{"wgl", "OpenGL + GLX/WGL/CGL", true},
		{"CGL", "OpenGL + GLX/WGL/CGL", false},
		{"egl", "OpenGL/GLES1/GLES2/VG + EGL", true},
		{"Direct", "DirectX", false},
		{"D3D", "DirectX", false},
		{"Create", "DirectX", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t length = strlen(rows[i].prefix);

		if (n < length || memcmp(s, rows[i].prefix, length) != 0)
			continue;
		if (rows[i].upper && (n == length || s[length] < 'A' || s[length] > 'Z'))
			continue;
		strcpy(a->totals.api, rows[i].api);
		return;
	}
}

static int define_function(struct apitrace *a, uint64_t id, struct apitrace_function *f)
{
	uint32_t name, arguments;
	uint64_t n;

	a->values.members.size = 0;
	if (apitrace_text(a, &a->values.members, APITRACE_NAME_LIMIT))
		return -1;
	f->known = apitrace_known((const char *)a->values.members.data, a->values.members.size);
	if (!a->totals.api[0])
		detect_api(a, (const char *)a->values.members.data, a->values.members.size);
	name = a->w ? writer_string(a->w, a->values.members.data, a->values.members.size) : 0;
	if (count_of(a, &n) || read_names(a, n) ||
	    define_members(a, 0, name, DEFINITION_STRUCT, &arguments))
		return -1;
	f->names = (uint32_t)n;
	f->name = name;
	if (!a->w)
		return 0;
	f->location = writer_location(
		a->w,
		&(struct location_entry){.address = id, .name = name, .arguments = arguments});
	return f->location ? 0 : apitrace_no_memory(a);
}

int apitrace_function(struct apitrace *a, struct apitrace_function **f)
{
	uint64_t id;
	bool fresh;

	*f = find_element(a, &a->ids.functions, sizeof **f, &id, &fresh);
	if (!*f)
		return -1;
	return fresh ? define_function(a, id, *f) : 0;
}

int apitrace_struct(struct apitrace *a, struct apitrace_struct **s)
{
	uint32_t name;
	uint64_t id, n;
	bool fresh;

	*s = find_element(a, &a->ids.structs, sizeof **s, &id, &fresh);
	if (!*s)
		return -1;
	if (!fresh)
		return 0;
	a->values.members.size = 0;
	if (apitrace_name(a, &name) || count_of(a, &n) || read_names(a, n))
		return -1;
	(*s)->members = (uint32_t)n;
	return define_members(a, id, name, DEFINITION_STRUCT, &(*s)->definition);
}

/* Read a name of an enum or bitmask, and its value. */
static int named_value(struct apitrace *a, enum definition_kind kind, uint64_t *n)
{
	uint32_t name;
	int64_t number;

	if (apitrace_name(a, &name))
		return -1;
	if (kind == DEFINITION_BITMASK)
		return apitrace_uint(a, n) || add_member(a, name, *n) ? -1 : 0;
	if (apitrace_sint(a, &number))
		return -1;
	*n = (uint64_t)number;
	return add_member(a, name, *n);
}

/* Read the id of an enum or bitmask, and at its first use all names with their values. */
static int named_values(struct apitrace *a, struct apitrace_ids *ids, enum definition_kind kind,
			uint32_t *definition)
{
	uint64_t id, n, value;
	uint32_t *known;
	bool fresh;

	known = find_element(a, ids, sizeof *known, &id, &fresh);
	if (!known)
		return -1;
	if (fresh) {
		a->values.members.size = 0;
		if (count_of(a, &n))
			return -1;
		while (n--)
			if (named_value(a, kind, &value))
				return -1;
		if (define_members(a, id, 0, kind, known))
			return -1;
	}
	*definition = *known;
	return 0;
}

int apitrace_enum(struct apitrace *a, uint32_t *definition)
{
	return named_values(a, &a->ids.enums, DEFINITION_ENUM, definition);
}

int apitrace_bitmask(struct apitrace *a, uint32_t *definition)
{
	return named_values(a, &a->ids.bitmasks, DEFINITION_BITMASK, definition);
}

struct one_name {
	uint64_t value;
	uint32_t definition;
};

int apitrace_enum_value(struct apitrace *a, uint32_t *definition, int64_t *value)
{
	struct one_name *known;
	uint64_t id;
	bool fresh;

	known = find_element(a, &a->ids.enums, sizeof *known, &id, &fresh);
	if (!known)
		return -1;
	if (fresh) {
		a->values.members.size = 0;
		if (named_value(a, DEFINITION_ENUM, &known->value) ||
		    define_members(a, id, 0, DEFINITION_ENUM, &known->definition))
			return -1;
	}
	*definition = known->definition;
	*value = (int64_t)known->value;
	return 0;
}

/* Declare the location of a frame, by its texts and numbers (enum apitrace_frame). A frame
 * without a function has the name of its module and the offset in it. */
static int frame_location(struct apitrace *a, const uint64_t *details, uint32_t *location)
{
	struct symbol_entry symbol = {.line = details[APITRACE_FRAME_LINE] > UINT32_MAX
						      ? 0
						      : (uint32_t)details[APITRACE_FRAME_LINE]};
	struct location_entry entry = {.address = details[APITRACE_FRAME_OFFSET],
				       .name = (uint32_t)details[APITRACE_FRAME_FUNCTION]};
	struct buffer *b = &a->values.members;
	const char *module;
	size_t size;

	if (!entry.name) {
		module = writer_string_of(a->w, (uint32_t)details[APITRACE_FRAME_MODULE], &size);
		b->size = 0;
		if (size ? buffer_append(b, module, size) ||
				    buffer_printf(b, "+0x%" PRIx64, entry.address)
			 : buffer_u8(b, '?'))
			return apitrace_no_memory(a);
		entry.name = writer_string(a->w, b->data, b->size);
	}
	*location = writer_location(a->w, &entry);
	if (!*location)
		return apitrace_no_memory(a);
	/* after the declaration, which moves the texts */
	symbol.name = writer_string_of(a->w, entry.name, &size);
	symbol.name_size = (uint32_t)size;
	symbol.module = writer_string_of(a->w, (uint32_t)details[APITRACE_FRAME_MODULE], &size);
	symbol.module_size = (uint32_t)size;
	symbol.file = writer_string_of(a->w, (uint32_t)details[APITRACE_FRAME_FILE], &size);
	symbol.file_size = (uint32_t)size;
	return writer_symbol(a->w, *location, &symbol) ? apitrace_no_memory(a) : 0;
}

/* Read a frame into a->values.members and details. */
static int frame_details(struct apitrace *a, uint64_t *details)
{
	static const char *const keys[] = APITRACE_FRAME_NAMES;
	uint64_t number;
	uint32_t text;
	uint8_t what;

	for (unsigned n = 0;; n++) {
		uint32_t key;

		if (apitrace_byte(a, &what))
			return -1;
		if (what == APITRACE_FRAME_END)
			return 0;
		if (what > APITRACE_FRAME_OFFSET)
			return apitrace_bad(a, "unknown backtrace detail %u", what);
		if (n == APITRACE_NAMES_LIMIT / 2)
			return apitrace_bad(a, "a frame of too many details");
		key = a->w ? writer_text(a->w, keys[what]) : 0;
		if (what >= APITRACE_FRAME_LINE) {
			if (apitrace_uint(a, &number) || add_member(a, key, number))
				return -1;
			details[what] = number;
		} else if (apitrace_name(a, &text) || add_member(a, key, 0) ||
			   add_member(a, text, 0)) {
			return -1;
		} else {
			details[what] = text;
		}
	}
}

int apitrace_frame(struct apitrace *a, struct apitrace_frame_ids *frame)
{
	uint64_t id, details[APITRACE_FRAME_OFFSET + 1] = {0};
	struct apitrace_frame_ids *known;
	bool fresh;

	known = find_element(a, &a->ids.frames, sizeof *known, &id, &fresh);
	if (!known)
		return -1;
	if (fresh) {
		a->values.members.size = 0;
		if (frame_details(a, details) ||
		    define_members(a, id, 0, DEFINITION_FRAME, &known->definition) ||
		    (a->w && frame_location(a, details, &known->location)))
			return -1;
	}
	*frame = *known;
	return 0;
}

/*
 * events.c - write EVENT records as rows of types of their own
 *
 * A type is declared before its first record. A record whose data do not have the length that its
 * id requires (a counter that could not be opened) is written with its bytes unchanged.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/value/escape.h"
#include "common/util/buffer.h"
#include "cmd/trdecode/uftrace/uftrace.h"
#include "common/util/bisect.h"
#include "common/util/lines.h"

struct shape {
	uint64_t id;
	const char *name;
	uint8_t kind; /* enum field_kind */
	uint8_t size; /* bytes of a field */
	const char *fields[4];
};

static const struct shape shapes[] = {
	{UFTRACE_EV_READ_STATM, "read:proc/statm", FIELD_UINT, 8, {"vmsize", "vmrss", "shared"}},
	{UFTRACE_EV_READ_PAGE_FAULT, "read:page-fault", FIELD_UINT, 8, {"major", "minor"}},
	{UFTRACE_EV_DIFF_STATM, "diff:proc/statm", FIELD_INT, 8, {"vmsize", "vmrss", "shared"}},
	{UFTRACE_EV_DIFF_PAGE_FAULT, "diff:page-fault", FIELD_INT, 8, {"major", "minor"}},
	{UFTRACE_EV_READ_PMU_CYCLE, "read:pmu-cycle", FIELD_UINT, 8, {"cycles", "instructions"}},
	{UFTRACE_EV_DIFF_PMU_CYCLE, "diff:pmu-cycle", FIELD_INT, 8, {"cycles", "instructions"}},
	{UFTRACE_EV_READ_PMU_CACHE, "read:pmu-cache", FIELD_UINT, 8, {"refers", "misses"}},
	{UFTRACE_EV_DIFF_PMU_CACHE, "diff:pmu-cache", FIELD_INT, 8, {"refers", "misses"}},
	{UFTRACE_EV_READ_PMU_BRANCH, "read:pmu-branch", FIELD_UINT, 8, {"branches", "misses"}},
	{UFTRACE_EV_DIFF_PMU_BRANCH, "diff:pmu-branch", FIELD_INT, 8, {"branches", "misses"}},
	{UFTRACE_EV_WATCH_CPU, "watch:cpu", FIELD_INT, 4, {"cpu"}},
	{UFTRACE_EV_WATCH_VAR, "watch:var", FIELD_UINT, 8, {"address", "value"}},
	{UFTRACE_EV_CALLSITE, "callsite", FIELD_HEX, 8, {"address"}},
};

enum { NSHAPES = sizeof(shapes) / sizeof(*shapes), LEAST_USER = UFTRACE_EV_USER_FIRST };

struct user_event {
	uint64_t id;
	const char *name;
};

/* Ids are read from the trace: unknown ids beyond so many share a type. */
/* Ids come from the trace: the unknown ones beyond so many share a type. */
enum { UNKNOWN_MOST = 1024 };
#define NO_ID UINT32_MAX

enum variant { VARIANT_FIELDS, VARIANT_RAW, VARIANT_NONE };

struct event_types {
	struct user_event *users;
	size_t nusers, users_capacity;
	struct idmap declared[3]; /* by variant: id of the event to id of the type */
	uint32_t ndeclared, external;
	char *text; /* events.txt, cut into names */
};

void event_types_free(struct uftrace *u)
{
	if (!u->events)
		return;
	free(u->events->users);
	for (int i = 0; i < 3; i++)
		idmap_free(&u->events->declared[i]);
	free(u->events->text);
	free(u->events);
	u->events = NULL;
}

static const struct shape *shape_of(uint64_t id)
{
	for (size_t i = 0; i < NSHAPES; i++)
		if (shapes[i].id == id)
			return &shapes[i];
	return NULL;
}

static int by_id(const void *a, const void *b)
{
	const struct user_event *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Parse events.txt: a line is "EVENT: <id> <provider>:<event>". */
int event_types_read(struct uftrace *u)
{
	struct event_types *t = calloc(1, sizeof(*t));
	struct error e;
	struct lines l;
	size_t size;
	void *data;

	u->events = t;
	if (!t)
		return -1;
	if (!tree_has(u->input->tree, "events.txt"))
		return 0;
	if (tree_read(u->input->tree, "events.txt", 64 << 20, &data, &size, &e)) {
		input_damage_error(u->input, &e);
		return 0;
	}
	t->text = data;
	for (l = lines_of(t->text, size); lines_next(&l);) {
		struct user_event *users;
		unsigned long long id;
		char *line = l.line;
		int at = 0;

		line[l.size] = '\0';
		if (sscanf(line, "EVENT: %llu %n", &id, &at) != 1 || !at || !line[at]) {
			char path[512];

			input_damage(u->input,
				     tree_path(u->input->tree, "events.txt", path, sizeof(path)),
				     (uint64_t)(line - t->text), "a line that names no event");
			continue;
		}
		if (ARRAY_GROW(t->users, t->users_capacity, t->nusers))
			return -1;
		users = t->users;
		/* trencode escapes blanks, which uftrace's names do not have */
		line[at + (int)escape_undo(line + at, strlen(line + at), '\\')] = '\0';
		users[t->nusers++] = (struct user_event){id, line + at};
	}
	if (t->nusers)
		qsort(t->users, t->nusers, sizeof(*t->users), by_id);
	return 0;
}

static const char *user_name(const struct uftrace *u, uint64_t id)
{
	const struct event_types *t = u->events;
	size_t low;

	/* find the first of equal ids */
	low = BISECT(t->nusers, i, t->users[i].id < id);
	return low < t->nusers && t->users[low].id == id ? t->users[low].name : NULL;
}

bool uftrace_event_known(const struct uftrace *u, uint64_t id)
{
	return shape_of(id) || user_name(u, id);
}

static uint32_t declare_event(struct uftrace *u, uint64_t id, enum variant variant)
{
	const struct shape *s = shape_of(id);
	const char *name = s ? s->name : user_name(u, id);
	struct field_entry fields[4];
	struct type_entry type = {.source = u->ids.source,
				  .group = writer_text(u->w, "uftrace"),
				  .kind = KIND_INSTANT,
				  .word_size = u->info.is_32bit ? 4 : 8,
				  .native = (uint32_t)id,
				  .fields = fields};
	char unknown[40];

	if (!name) {
		snprintf(unknown, sizeof(unknown), "event:%llu", (unsigned long long)id);
		name = id == NO_ID ? "event" : unknown;
	}
	type.name = writer_text(u->w, name);
	if (variant == VARIANT_RAW) {
		fields[0] = (struct field_entry){.name = writer_text(u->w, "data"),
						 .kind = FIELD_BYTES,
						 .where = WHERE_REST,
						 .size = 1};
		type.flags = TYPE_TAIL;
		type.nfields = 1;
	} else if (variant == VARIANT_FIELDS) {
		for (; s->fields[type.nfields]; type.nfields++) {
			bool address = !strcmp(s->fields[type.nfields], "address");

			fields[type.nfields] = (struct field_entry){
				.name = writer_text(u->w, s->fields[type.nfields]),
				.kind = address ? FIELD_HEX : s->kind,
				.role = address				? ROLE_ADDRESS
					: s->id == UFTRACE_EV_WATCH_CPU ? ROLE_CPU
									: ROLE_NONE,
				.offset = type.fixed_size,
				.size = s->size};
			type.fixed_size += s->size;
		}
		if (id == UFTRACE_EV_WATCH_VAR) {
			fields[2] = (struct field_entry){.name = writer_text(u->w, "size"),
							 .kind = FIELD_UINT,
							 .role = ROLE_SIZE,
							 .offset = type.fixed_size,
							 .size = 4};
			type.nfields++;
			type.fixed_size += 4;
		}
	}
	return writer_type(u->w, &type);
}

static uint32_t type_of(struct uftrace *u, uint64_t id, enum variant variant)
{
	struct event_types *t = u->events;
	struct idmap *declared = &t->declared[variant];
	uint32_t type = idmap_get(declared, (uint32_t)id);

	if (!type && t->ndeclared >= UNKNOWN_MOST && !uftrace_event_known(u, id)) {
		id = NO_ID;
		type = idmap_get(declared, NO_ID);
	}
	if (type)
		return type;
	type = declare_event(u, id, variant);
	if (!type || idmap_set(declared, (uint32_t)id, type))
		return 0;
	t->ndeclared++;
	return type;
}

uint32_t uftrace_extern_type(struct uftrace *u)
{
	struct field_entry message = {.name = writer_text(u->w, "message"),
				      .kind = FIELD_STRING,
				      .role = ROLE_MESSAGE,
				      .where = WHERE_REST,
				      .size = 1};
	struct type_entry type = {.source = u->ids.source,
				  .name = writer_text(u->w, "external-data"),
				  .group = writer_text(u->w, "uftrace"),
				  .kind = KIND_INSTANT,
				  .flags = TYPE_TAIL,
				  .native = UFTRACE_EV_EXTERN,
				  .nfields = 1,
				  .fields = &message};

	if (!u->events->external)
		u->events->external = writer_type(u->w, &type);
	return u->events->external;
}

/* Return the bytes of data that the shape requires; watch:var has any length. */
static size_t data_size(const struct uftrace *u, const struct shape *s, size_t n)
{
	size_t word = u->info.is_32bit ? 4 : 8, fields = 0;

	if (s->id == UFTRACE_EV_WATCH_VAR) {
		size_t value = n > word ? n - word : 0;

		return value == 1 || value == 2 || value == 4 || value == 8 ? n : 0;
	}
	while (s->fields[fields])
		fields++;
	return fields * s->size;
}

int uftrace_event(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r,
		  const uint8_t *data, size_t n, bool has_data)
{
	const struct shape *s = shape_of(r->addr);
	bool big = u->info.big_endian;
	size_t word = u->info.is_32bit ? 4 : 8;
	uint8_t fixed[24];
	uint32_t fixed_size = 0, type;

	if (!s || data_size(u, s, n) != n || !n) {
		enum variant variant = has_data ? VARIANT_RAW : VARIANT_NONE;

		type = type_of(u, r->addr, variant);
		return writer_row_data(u->w, (struct new_row){.time = shifted(u, r->time),
							      .lane = t->lane,
							      .type = type,
							      .depth = r->depth,
							      .tail = data,
							      .tail_size = (uint32_t)n,
							      .has_tail = variant == VARIANT_RAW});
	}
	if (s->id == UFTRACE_EV_WATCH_VAR) {
		put_u64(fixed, get_uint(data, (unsigned)word, big));
		put_u64(fixed + 8, get_uint(data + word, (unsigned)(n - word), big));
		put_u32(fixed + 16, (uint32_t)(n - word));
		fixed_size = 20;
	} else {
		for (; fixed_size < n; fixed_size += s->size) {
			uint64_t v = get_uint(data + fixed_size, s->size, big);

			if (s->size == 8)
				put_u64(fixed + fixed_size, v);
			else
				put_u32(fixed + fixed_size, (uint32_t)v);
		}
	}
	type = type_of(u, r->addr, VARIANT_FIELDS);
	return writer_row_data(u->w, (struct new_row){.time = shifted(u, r->time),
						      .lane = t->lane,
						      .type = type,
						      .depth = r->depth,
						      .fixed = fixed,
						      .fixed_size = fixed_size});
}

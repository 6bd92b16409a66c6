/*
 * uftrace.c - uftrace directories
 */
#include "cmd/trdecode/row_filter.h"
#include "cmd/trdecode/uftrace.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/uftrace_args.h"
#include "cmd/trdecode/uftrace_session.h"
#include "common/formats/uftrace.h"
#include "common/stream/value.h"
#include "common/util/buffer.h"
#include "common/util/heap.h"
#include "common/util/intern.h"
#include "common/util/lines.h"
#include "common/value/json.h"

void uftrace_damage(struct uftrace *u, const char *member, uint64_t offset, const char *what)
{
	char path[512];

	input_damage(u->input, tree_path(u->input->tree, member, path, sizeof(path)), offset, "%s",
		     what);
}

/* Test whether a member is named TID.dat, and give its tid. */
static bool uftrace_is_task_file(const char *name, int32_t *tid)
{
	uint64_t n = 0;
	const char *p = name;

	for (; isdigit((unsigned char)*p) && n < INT32_MAX; p++)
		n = n * 10 + (uint64_t)(*p - '0');
	/* a leading zero would name another file of the same task */
	if (p == name || strcmp(p, ".dat") || n > INT32_MAX || (*name == '0' && n))
		return false;
	*tid = (int32_t)n;
	return true;
}

/* Get the bytes of a number in little-endian order; 10-byte floats exist on x86 only. */
static const uint8_t *to_little_endian(const uint8_t *p, size_t n, bool big, uint8_t *buffer)
{
	if (!big)
		return p;
	for (size_t i = 0; i < n; i++)
		buffer[i] = p[n - 1 - i];
	return buffer;
}

/* Test whether the recording can have unsigned enums. Until symbols had sizes, all enums were ints.
 */
static bool is_recent(const struct uftrace *u)
{
	return u->info.feat_mask & UFTRACE_FEAT_SYM_SIZE;
}

static bool uftrace_enum_is_unsigned(const struct uftrace *u, const struct uftrace_enum *type)
{
	return is_recent(u) && type->nr && type->values[type->nr - 1].value >= 0;
}

/* Reduce the number to the enum's size: upper bits of the register are arbitrary. */
static void fit_enum(const struct uftrace *u, const struct uftrace_enum *type, uint8_t *bytes,
		     unsigned size)
{
	int64_t high = type->values[0].value, low = type->values[type->nr - 1].value;
	bool wide = is_recent(u) && (high > UINT32_MAX || low < INT32_MIN);
	unsigned width = size < 4 ? size : wide ? size : 4;
	uint64_t n = get_uint(bytes, width, false);

	if (!uftrace_enum_is_unsigned(u, type))
		n = (uint64_t)sign_extend(n, width);
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(n >> 8 * i);
}

/* Get the id of an enum's definition; 0: out of memory. */
static uint32_t uftrace_definition(struct uftrace *u, struct uftrace_enum *type)
{
	uint16_t flags =
		DEFINITION_SUMS | (uftrace_enum_is_unsigned(u, type) ? DEFINITION_UNSIGNED : 0);
	struct member_entry *members;

	if (!type->definition) {
		members = calloc(type->nr + 1, sizeof(*members));
		if (!members)
			return 0;
		for (size_t i = 0; i < type->nr; i++)
			members[i] = (struct member_entry){writer_text(u->w, type->values[i].name),
							   (uint64_t)type->values[i].value,
							   (uint64_t)type->values[i].value};
		type->definition = writer_definition(
			u->w, &(struct definition_entry){.name = writer_text(u->w, type->name),
							 .kind = DEFINITION_ENUM,
							 .flags = flags,
							 .nmembers = (uint32_t)type->nr,
							 .members = members});
		free(members);
	}
	return type->definition && !writer_use_definition(u->w, type->definition) ? type->definition
										  : 0;
}

static int uftrace_put_value(struct uftrace *u, const struct uftrace_arg *a)
{
	const struct uftrace_spec *s = a->spec;
	uint8_t turned[16];
	uint32_t definition;

	switch (s->fmt) {
	case UFTRACE_FMT_STR: return value_put_bytes(&u->tail, VALUE_STRING, a->bytes, a->length);
	case UFTRACE_FMT_STD_STRING:
		/* the value has a length of its own and may contain NULs */
		return value_put_bytes(&u->tail, VALUE_BLOB, a->bytes, a->length);
	case UFTRACE_FMT_STRUCT:
		return value_put_opaque(&u->tail, s->type_name, a->bytes, a->length);
	case UFTRACE_FMT_ENUM:
		if (!s->type || !a->length || a->length > 8 || a->length & (a->length - 1))
			break;
		definition = uftrace_definition(u, s->type);
		if (!definition)
			return -1;
		memmove(turned, to_little_endian(a->bytes, a->length, u->info.big_endian, turned),
			a->length);
		fit_enum(u, s->type, turned, a->length);
		return value_put_enum(&u->tail, definition, turned, (uint8_t)a->length);
	default: break;
	}
	if (!a->length || a->length > sizeof(turned))
		return value_put_opaque(&u->tail, s->type_name, a->bytes, a->length);
	return value_put_number(&u->tail, UFTRACE_LETTERS[s->fmt],
				to_little_endian(a->bytes, a->length, u->info.big_endian, turned),
				(uint8_t)a->length);
}

/* Convert a record's payload into a list of values in u->tail. */
static int uftrace_values(struct uftrace *u, const struct uftrace_spec_list *specs,
			  const uint8_t *payload, size_t size, bool leave)
{
	struct uftrace_arg arg = {0};

	u->tail.size = 0;
	while (uftrace_args_next(&arg, specs, payload, size, u->info.swap) > 0) {
		/* floating-point arguments are counted separately */
		uint64_t index = arg.spec->index + (arg.spec->is_fp ? FLOAT_ARGUMENTS : 0);

		if (value_put_detail(&u->tail, leave ? DETAIL_RETURN : DETAIL_ARGUMENT,
				     leave ? 0 : index) ||
		    uftrace_put_value(u, &arg))
			return -1;
	}
	return 0;
}

/* --- payload --- */

int uftrace_args_next(struct uftrace_arg *arg, const struct uftrace_spec_list *specs,
		      const void *payload, size_t size, bool swap)
{
	const struct uftrace_spec *spec;
	const uint8_t *p = payload;
	size_t left, total;

	if (arg->next >= specs->nr)
		return 0;
	if (arg->offset > size)
		return -1;
	spec = &specs->specs[arg->next];
	left = size - arg->offset;
	p += arg->offset;
	arg->spec = spec;
	arg->bytes = p;
	arg->length = spec->size;
	arg->is_string =
		spec->size && (spec->fmt == UFTRACE_FMT_STR || spec->fmt == UFTRACE_FMT_STD_STRING);
	total = spec->size;
	if (arg->is_string) {
		if (left < 2)
			return -1;
		arg->length = uftrace_get16(p, swap);
		arg->bytes = p + 2;
		total = 2 + arg->length;
	}
	if (total > left)
		return -1;
	arg->next++;
	arg->offset += uftrace_align(total, 4);
	return 1;
}

int64_t uftrace_args_size(const struct uftrace_spec_list *specs, const void *payload, size_t avail,
			  bool swap)
{
	struct uftrace_arg arg = {0};
	uint64_t size;
	int r;

	while ((r = uftrace_args_next(&arg, specs, payload, avail, swap)) > 0)
		;
	size = uftrace_align(arg.offset, 8);
	return r < 0 || size > avail ? -1 : (int64_t)size;
}

/*
 * Skip records before the first wanted time, and find when a task's records end.
 *
 * In a file without arguments every 16 bytes are a record, and the times ascend: so the first
 * wanted record is found by bisection, and the records before it are never read. If the search
 * meets arguments between the records, everything is read. Where a tenth of the recording of
 * t/bench/uftrace.sh is wanted, 'trdecode --since +TIME | trstat' without uftrace_skip takes 3.0
 * times the instructions, and 'trdecode --since -TIME | trstat' without uftrace_late 41 times.
 */

enum { WORTHWHILE = 96 * 1024 }; /* least bytes to skip: more than a window */

/* Get the time of a bare record. Return false if the record is none. */
static bool bare_time(const struct uftrace *u, const uint8_t *p, uint64_t *time)
{
	*time = uftrace_record_time(p, u->info.swap);
	return uftrace_word_bare(uftrace_record_word(p, u->info.swap)) && *time < TIME_LIMIT;
}

/* Get the time of record n from the window's start on, if the next record is soon after it. */
static bool time_at(const struct uftrace *u, struct task_reader *t, uint64_t n, uint64_t *time)
{
	uint8_t two[2 * UFTRACE_RECORD_SIZE];
	uint64_t next;

	return window_peek(&t->file, t->file.offset + n * UFTRACE_RECORD_SIZE, two, sizeof two) &&
	       bare_time(u, two, time) && bare_time(u, two + UFTRACE_RECORD_SIZE, &next) &&
	       next >= *time && next - *time < TASK_JUMP;
}

/* Skip a task's records before a time, if they are bare and many; the task is stale
 * then. */
static void uftrace_skip(const struct uftrace *u, struct task_reader *t, uint64_t first)
{
	uint64_t left = t->file.size - t->file.offset, low = 0, high, time, before;

	if (t->file.size < t->file.offset || left < WORTHWHILE)
		return;
	/* record low is before the first wanted time; record high is not, or no record follows
	 * it */
	high = left / UFTRACE_RECORD_SIZE - 1;
	if (!time_at(u, t, 0, &before) || before >= first)
		return;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!time_at(u, t, middle, &time) || time < before)
			return;
		if (time < first) {
			low = middle;
			before = time;
		} else {
			high = middle;
		}
	}
	if (low < 2 || !time_at(u, t, low - 1, &time) || time > before)
		return;
	t->last = time;
	t->stale = true;
	window_skip(&t->file, (size_t)(low * UFTRACE_RECORD_SIZE));
}

/* Get the time of the last record; 0: there may be arguments after it. */
static uint64_t uftrace_last_time_of(const struct uftrace *u, struct task_reader *t)
{
	uint8_t record[UFTRACE_RECORD_SIZE];
	uint64_t time;

	return t->open &&
			       window_peek(&t->file, t->file.size - sizeof record, record,
					   sizeof record) &&
			       bare_time(u, record, &time)
		       ? time
		       : 0;
}

/* Find the time of the last record of a task (struct decoder, late). */
static bool uftrace_late(struct input *in, uint64_t *time)
{
	struct uftrace *u = in->state;
	uint64_t last = 0;

	for (size_t i = 0; i < u->ntasks; i++) {
		uint64_t of = uftrace_last_time_of(u, &u->task_readers[i]);

		last = of > last ? of : last;
	}
	*time = last ? shifted(u, last) : 0;
	return false;
}

/*
 * Declare a uftrace directory in the stream: its text files, tasks, sessions with their modules,
 * types, locations, enums.
 */

/* Returns monotonic, mono_raw or boot, as in the command line. The clock is not stored; only the
 * command line may show it. */
static const char *uftrace_clock_name(const struct uftrace_info *info)
{
	const char *p = info->cmdline ? strstr(info->cmdline, "--clock") : NULL;

	p = p ? p + strlen("--clock") : "";
	while (*p == '=' || *p == ' ')
		p++;
	if (!strncmp(p, "mono_raw", 8))
		return "mono_raw";
	if (!strncmp(p, "boot", 4))
		return "boot";
	return "monotonic";
}

static uint32_t uftrace_declare_lane(struct uftrace *u, const struct task_reader *t,
				     const char *comm, size_t n)
{
	struct lane_entry l = {.source = u->ids.source,
			       .clock = u->ids.clock,
			       .comm = writer_string(u->w, comm, n),
			       .flags = LANE_HAS_TID | (t->task ? LANE_HAS_PID : 0),
			       .cpu = -1,
			       .tid = t->tid,
			       .pid = t->task ? t->task->pid : 0,
			       .ppid = t->task ? t->task->ppid : 0};

	return writer_lane(u->w, &l);
}

int uftrace_rename(struct uftrace *u, struct task_reader *t, const char *comm, size_t n)
{
	t->lane = uftrace_declare_lane(u, t, comm, n);
	t->bits.block = 0; /* they are those of the old lane */
	return t->lane ? 0 : -1;
}

/* --- session and epoch of a task --- */

static int context_number(struct uftrace *u, const struct uftrace_sess *sess, uint32_t epoch,
			  uint32_t *context)
{
	uint64_t key = (uint64_t)(sess ? sess->id : u->ids.nspaces) << 32 | epoch;
	uint32_t *number = key_map_number(&u->contexts, key);

	if (!number)
		return -1;
	if (!*number)
		*number = (uint32_t)u->contexts.count;
	*context = *number;
	return 0;
}

/* Set session and epoch of the task for that time. */
static int uftrace_context(struct uftrace *u, struct task_reader *t, uint64_t time)
{
	uint64_t until = UINT64_MAX, epoch_until = UINT64_MAX;
	const struct uftrace_sess *sess = uftrace_session_at(u->tasks, t->task, time, &until);
	/* an exec gave the task another program, and so another name */
	bool renamed = t->context && sess && t->sess != sess;

	t->sess = sess;
	t->session = sess ? uftrace_session_get(u->sessions, sess) : NULL;
	t->epoch = t->session ? uftrace_session_epoch_at(t->session, time, &epoch_until) : 0;
	t->context_until = until < epoch_until ? until : epoch_until;
	if (context_number(u, sess, t->epoch, &t->context))
		return -1;
	if (renamed) {
		if (uftrace_rename(u, t, sess->comm, strlen(sess->comm)))
			return -1;
		u->last_lane = t->lane;
	}
	return 0;
}

/* --- locations --- */

/* Find the slot of a location, which is free if the location is new. */
static inline struct location_cached *uftrace_find_location(const struct uftrace *u,
							    uint64_t address, uint32_t context)
{
	/* with hash_u64 'trdecode | trsym | trstat' of t/bench/uftrace.sh takes 1.05 times the
	 * instructions */
	uint64_t at = (address ^ context) * 0x9e3779b97f4a7c15u >> 32;
	struct location_cached *p;

	while ((p = &u->locations.slot[at & u->locations.mask])->location &&
	       (p->address != address || p->context != context))
		at++;
	return p;
}

/* Have a free slot for another location. */
static int reserve_location(struct uftrace *u)
{
	struct location_cached *old = u->locations.slot, *slots;
	uint32_t size = u->locations.mask + 1;

	if (u->locations.count < u->locations.mask / 2)
		return 0;
	slots = calloc(2 * (size_t)size, sizeof(*slots));
	if (!slots)
		return -1;
	u->locations.slot = slots;
	u->locations.mask = 2 * size - 1;
	for (uint32_t i = 0; i < size; i++)
		if (old[i].location)
			*uftrace_find_location(u, old[i].address, old[i].context) = old[i];
	free(old);
	return 0;
}

/*
 * Return the epoch that a location's name depends on: 0 for an address in the session's own
 * mappings, else that of the dlopen which loaded it. So a function stays one location while other
 * libraries are loaded and closed.
 */
static uint32_t location_epoch(const struct task_reader *t, uint64_t address)
{
	struct uftrace_where where;

	if (!t->epoch || !uftrace_session_resolve(t->session, t->epoch, address, &where))
		return t->epoch;
	return where.epoch;
}

uint32_t uftrace_add_location(struct uftrace *u, const struct task_reader *t, uint64_t address)
{
	struct location_cached *p;
	uint32_t epoch = t->epoch, context = t->context, location;

	if (reserve_location(u))
		return 0;
	p = uftrace_find_location(u, address, context);
	if (!p->location) {
		epoch = location_epoch(t, address);
		if (epoch != t->epoch) {
			/* the location of another epoch is the same */
			if (context_number(u, t->sess, epoch, &context))
				return 0;
			p = uftrace_find_location(u, address, context);
		}
	}
	location = p->location;
	if (!location) {
		location = writer_location(
			u->w, &(struct location_entry){
				      .space = t->sess ? u->ids.spaces[t->sess->same->id] : 0,
				      .epoch = epoch,
				      .address = address});
		*p = (struct location_cached){address, context, location};
		u->locations.count++;
	}
	if (context != t->context && location) {
		p = uftrace_find_location(u, address, t->context);
		*p = (struct location_cached){address, t->context, location};
		u->locations.count++;
	}
	return location;
}

uint32_t uftrace_kernel_location(struct uftrace *u, uint32_t space, uint64_t address)
{
	struct location_cached *p;

	if (reserve_location(u))
		return 0;
	/* contexts are counted from 1 */
	p = uftrace_find_location(u, address, 0);
	if (!p->location) {
		const struct location_entry entry = {.space = space, .address = address};

		*p = (struct location_cached){address, 0, writer_location(u->w, &entry)};
		u->locations.count++;
	}
	return p->location;
}

/* Get the task of that tid, if it has a file. */
struct task_reader *uftrace_task_of(struct uftrace *u, int32_t tid)
{
	uint32_t number = idmap_get(&u->by_tid, (uint32_t)tid);
	struct task_reader *t = number ? &u->task_readers[number - 1] : NULL;

	return t && t->member ? t : NULL;
}

/*
 * Write EVENT records as rows of types of their own.
 *
 * A type is declared before its first record. A record whose data do not have the length that its
 * id requires (a counter that could not be opened) is written with its bytes unchanged.
 */

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

/* Ids come from the trace: the unknown ones beyond so many share a type. */
enum { UNKNOWN_MOST = 1024 };
#define NO_ID UINT32_MAX

enum variant { VARIANT_FIELDS, VARIANT_RAW, VARIANT_NONE };

static const struct shape *uftrace_shape_of(uint64_t id)
{
	for (size_t i = 0; i < NSHAPES; i++)
		if (shapes[i].id == id)
			return &shapes[i];
	return NULL;
}

/* Parse events.txt: a line is "EVENT: <id> <provider>:<event>"; of two of one id the first counts.
 */
static int event_types_read(struct uftrace *u)
{
	struct error e;
	size_t size;
	void *data;

	if (!tree_has(u->input->tree, "events.txt"))
		return 0;
	if (tree_read(u->input->tree, "events.txt", 64 << 20, &data, &size, &e)) {
		input_damage_error(u->input, &e);
		return 0;
	}
	u->events.text = data;
	for (struct lines l = lines_of(data, size); lines_next(&l);) {
		uint64_t *name, offset = (uint64_t)(l.line - u->events.text);
		unsigned long long id;
		int at = 0;

		l.line[l.size] = '\0';
		if (sscanf(l.line, "EVENT: %llu %n", &id, &at) != 1 || !at || !l.line[at]) {
			uftrace_damage(u, "events.txt", offset, "a line that names no event");
			continue;
		}
		name = key_map_value(&u->events.names, id);
		if (!name)
			return -1;
		/* trencode escapes blanks, which uftrace's names do not have */
		l.line[at + (int)escape_undo(l.line + at, strlen(l.line + at), '\\')] = '\0';
		*name = *name ? *name : 1 + offset + (uint64_t)at;
	}
	return 0;
}

static const char *user_name(const struct uftrace *u, uint64_t id)
{
	uint64_t at = key_map_get(&u->events.names, id);

	return at ? u->events.text + at - 1 : NULL;
}

static bool uftrace_event_known(const struct uftrace *u, uint64_t id)
{
	return uftrace_shape_of(id) || user_name(u, id);
}

static uint32_t declare_event(struct uftrace *u, uint64_t id, enum variant variant)
{
	const struct shape *s = uftrace_shape_of(id);
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

static uint32_t uftrace_type_of(struct uftrace *u, uint64_t id, enum variant variant)
{
	struct idmap *declared = &u->events.declared[variant];
	uint32_t type = idmap_get(declared, (uint32_t)id);

	if (!type && u->events.ndeclared >= UNKNOWN_MOST && !uftrace_event_known(u, id)) {
		id = NO_ID;
		type = idmap_get(declared, NO_ID);
	}
	if (type)
		return type;
	type = declare_event(u, id, variant);
	if (!type || idmap_set(declared, (uint32_t)id, type))
		return 0;
	u->events.ndeclared++;
	return type;
}

/* Get the bytes of data that the shape requires; watch:var has any length. */
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

static int uftrace_event(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r,
			 const uint8_t *data, size_t n, bool has_data)
{
	const struct shape *s = uftrace_shape_of(r->addr);
	bool big = u->info.big_endian;
	size_t word = u->info.is_32bit ? 4 : 8;
	uint8_t fixed[24];
	uint32_t fixed_size = 0, type;

	if (!s || data_size(u, s, n) != n || !n) {
		enum variant variant = has_data ? VARIANT_RAW : VARIANT_NONE;

		type = uftrace_type_of(u, r->addr, variant);
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
	type = uftrace_type_of(u, r->addr, VARIANT_FIELDS);
	return writer_row_data(u->w, (struct new_row){.time = shifted(u, r->time),
						      .lane = t->lane,
						      .type = type,
						      .depth = r->depth,
						      .fixed = fixed,
						      .fixed_size = fixed_size});
}

/*
 * TID.dat: write the records of one task as rows.
 *
 * A record is two words (common/formats/uftrace.h); if its `more` bit is set, a payload without a
 * length follows, whose size only the argument specs of its function give. If they do not, or if a
 * record is damaged, the next plausible record is searched in steps of 8 bytes.
 */

/* bytes. The recorder keeps at most 1 KiB of a call's values. */
enum { PAYLOAD_LIMIT = 4096 };

static void task_damage(struct uftrace *u, struct task_reader *t, const char *what)
{
	uftrace_damage(u, t->member, t->file.offset, what);
}

static int task_gap(struct uftrace *u, struct task_reader *t, enum gap_reason reason,
		    uint64_t count, uint64_t offset, const char *message)
{
	struct gap g = {.reason = reason,
			.unit = reason == GAP_LOST ? GAP_EVENTS : GAP_BYTES,
			.count = count,
			.offset = offset,
			.file = t->member,
			.message = message};

	return writer_gap(u->w, shifted(u, t->last), t->lane, &g);
}

/* Test whether the record is valid by itself. Recorders write time and depth of LOST as 0, and the
 * ids of events fit 32 bits. */
static bool well_formed(const struct uftrace_record *r)
{
	if (r->type == UFTRACE_LOST)
		return !r->time && !r->depth && !r->more;
	if (r->type == UFTRACE_EVENT && r->addr > UINT32_MAX)
		return false;
	return r->time < TIME_LIMIT;
}

static bool record_unpack(const struct uftrace *u, const uint8_t *p, struct uftrace_record *r)
{
	return uftrace_record_unpack(p, u->info.swap, r) && well_formed(r);
}

/* Test whether the function or event of the record exists. If nothing is known of the address
 * space, any address may. */
static bool uftrace_names_something(struct uftrace *u, const struct task_reader *t,
				    const struct uftrace_record *r)
{
	uint64_t until = UINT64_MAX;
	struct uftrace_session *session = t->session;
	const struct uftrace_sess *sess;
	struct uftrace_where where;
	uint32_t epoch = t->epoch;

	if (r->type == UFTRACE_EVENT)
		return !r->depth && uftrace_event_known(u, r->addr);
	if (!t->context || r->time >= t->context_until) {
		sess = uftrace_session_at(u->tasks, t->task, r->time, &until);
		session = sess ? uftrace_session_get(u->sessions, sess) : NULL;
		epoch = session ? uftrace_session_epoch_at(session, r->time, NULL) : 0;
	}
	if (!session || !session->map.nr)
		return r->addr >= 4096;
	return uftrace_session_resolve(session, epoch, r->addr, &where) || where.module;
}

/* Test whether the bytes after this record, which has no payload, can be the next record. */
static bool record_confirmed(struct uftrace *u, const struct task_reader *t,
			     const struct uftrace_record *r, const uint8_t *p, size_t have)
{
	struct uftrace_record next;

	if (r->more || have < 2 * UFTRACE_RECORD_SIZE)
		return false;
	return record_unpack(u, p + UFTRACE_RECORD_SIZE, &next) && next.type != UFTRACE_LOST &&
	       next.time >= r->time && next.time - r->time < TASK_JUMP &&
	       uftrace_names_something(u, t, &next);
}

/*
 * Could a record begin here? Its time should be after that of the previous record; if it is not
 * (the previous time may be the damaged one), the record after it must confirm it.
 */
static bool record_plausible(struct uftrace *u, const struct task_reader *t, const uint8_t *p,
			     size_t have)
{
	struct uftrace_record r;

	if (!record_unpack(u, p, &r))
		return false;
	if (r.type == UFTRACE_LOST)
		return r.addr && r.addr <= UINT32_MAX;
	if (!uftrace_names_something(u, t, &r))
		return false;
	return !t->last || (r.time >= t->last && r.time - t->last < TASK_JUMP) ||
	       record_confirmed(u, t, &r, p, have);
}

/* Go to the next plausible record at or after the present position, and report what was skipped.
 * Returns 1 if found, 0 at the end of the file, -1. */
static int task_resynchronise(struct uftrace *u, struct task_reader *t, const char *message,
			      struct error *e)
{
	uint64_t from = t->file.offset;
	ssize_t have;
	int found = 0;

	for (;;) {
		have = window_need(&t->file, 2 * UFTRACE_RECORD_SIZE, e);
		if (have < 0)
			return -1;
		if (have < UFTRACE_RECORD_SIZE) {
			window_skip(&t->file, (size_t)have);
			break;
		}
		if (record_plausible(u, t, window_at(&t->file), (size_t)have)) {
			found = 1;
			break;
		}
		window_skip(&t->file, 8);
	}
	/* calls and returns may be missing */
	t->depth_known = false;
	if (task_gap(u, t, GAP_DAMAGE, t->file.offset - from, from, message))
		return -1;
	return found;
}

/* Move a depth beyond 1023 from the address, to which the recorder added it, to the depth. */
static void repair_depth(struct task_reader *t, struct uftrace_record *r)
{
	uint32_t expected, d;

	if (!t->depth_known) {
		t->depth = r->depth + (r->type == UFTRACE_EXIT);
		t->depth_known = true;
	}
	expected = r->type == UFTRACE_ENTRY ? t->depth : t->depth ? t->depth - 1 : 0;
	/* the depth next to the expected one that has these ten low bits */
	d = (expected & ~1023u) | r->depth;
	if (d > expected && d - expected > 512 && d >= 1024)
		d -= 1024;
	else if (expected > d && expected - d > 512)
		d += 1024;
	r->addr = (r->addr - (d >> 10)) & UFTRACE_ADDR_MASK;
	r->depth = d;
	t->depth = r->type == UFTRACE_ENTRY ? d + 1 : d;
}

/* Write the row of a call's record without its values. */
static int row_without_values(struct uftrace *u, struct task_reader *t,
			      const struct uftrace_record *r, uint32_t location)
{
	t->last = r->time;
	return writer_row(u->w, shifted(u, r->time), t->lane,
			  r->type == UFTRACE_ENTRY ? u->ids.entry : u->ids.leave, location,
			  r->depth);
}

/* Write the row, without values, of a record whose payload has an unknown size, and search the
 * next record. */
static int record_unmeasured(struct uftrace *u, struct task_reader *t,
			     const struct uftrace_record *r, uint32_t location, const char *what,
			     struct error *e)
{
	task_damage(u, t, what);
	if (row_without_values(u, t, r, location))
		return -1;
	return task_resynchronise(u, t, what, e);
}

/* Write a function's record that has a payload. Returns 1, 0 if the file ended, -1. */
static int uftrace_take_payload(struct uftrace *u, struct task_reader *t,
				const struct uftrace_record *r, uint32_t location, struct error *e)
{
	bool leave = r->type == UFTRACE_EXIT;
	const struct uftrace_spec_list *specs;
	struct uftrace_where where;
	const uint8_t *payload;
	size_t have, at = 2 * (size_t)location + leave;
	ssize_t got;
	int64_t size;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	if (ARRAY_REACH(u->specs, u->nspecs, at))
		return -1;
	if (!u->specs[at] && t->session &&
	    uftrace_session_resolve(t->session, t->epoch, r->addr, &where))
		u->specs[at] = uftrace_args_find(u->args, t->session, &where, leave);
	specs = u->specs[at];
	if (!specs)
		return record_unmeasured(
			u, t, r, location,
			"arguments of a function whose argument types are not known", e);
	payload = window_at(&t->file);
	have = window_have(&t->file);
	size = uftrace_args_size(specs, payload, have, u->info.swap);
	if (size < 0) {
		got = window_need(&t->file, PAYLOAD_LIMIT, e);
		if (got < 0)
			return -1;
		payload = window_at(&t->file);
		have = (size_t)got;
		size = uftrace_args_size(specs, payload, have, u->info.swap);
	}
	if (size < 0)
		return record_unmeasured(u, t, r, location,
					 have + t->file.offset >= t->file.size
						 ? "the file ends inside of a record's arguments"
						 : "a record's arguments do not end",
					 e);
	if (uftrace_values(u, specs, payload, (size_t)size, leave) ||
	    writer_row_data(u->w, (struct new_row){.time = shifted(u, r->time),
						   .lane = t->lane,
						   .type = leave ? u->ids.leave_values
								 : u->ids.entry_values,
						   .location = location,
						   .depth = r->depth,
						   .tail = u->tail.data,
						   .tail_size = (uint32_t)u->tail.size,
						   .has_tail = true}))
		return -1;
	t->last = r->time;
	window_skip(&t->file, (size_t)size);
	return 1;
}

static int uftrace_event_record(struct uftrace *u, struct task_reader *t,
				const struct uftrace_record *r, struct error *e)
{
	const uint8_t *p = NULL;
	size_t n = 0, size = 0;
	ssize_t have = 0;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	if (r->more) {
		have = window_need(&t->file, 2, e);
		if (have >= 2)
			n = (size_t)get_uint(window_at(&t->file), 2, u->info.big_endian);
		size = align_up(2 + n, 8);
		if (have >= 0)
			have = window_need(&t->file, size, e);
		if (have < 0)
			return -1;
		p = window_at(&t->file);
		if ((size_t)have < 2 + n) {
			task_damage(u, t, "the file ends inside of an event's data");
			return task_resynchronise(u, t, "damaged event data", e);
		}
	}
	if (uftrace_event(u, t, r, n ? p + 2 : NULL, n, r->more))
		return -1;
	t->last = r->time;
	window_skip(&t->file, size < (size_t)have ? size : (size_t)have);
	return 1;
}

static int uftrace_take_lost(struct uftrace *u, struct task_reader *t,
			     const struct uftrace_record *r)
{
	uint64_t offset = t->file.offset;

	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	t->depth_known = false;
	return task_gap(u, t, GAP_LOST, r->addr, offset, NULL) ? -1 : 1;
}

/*
 * Check that times of a task ascend, except those of estimated returns. Of two times that do not
 * ascend, the record after them shows which one is damaged. Returns 1: leave out the present
 * record; 0; -1.
 */
static int check_time(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r,
		      struct error *e)
{
	bool back = r->time < t->last;
	struct uftrace_record next;
	ssize_t have;

	if (!t->last || t->checked == t->file.offset + 1 ||
	    (!back && r->time - t->last < TASK_JUMP) ||
	    (back && u->info.feat_mask & UFTRACE_FEAT_ESTIMATE_RETURN))
		return 0;
	t->checked = t->file.offset + 1; /* reported once */
	have = r->more ? 0 : window_need(&t->file, 2 * UFTRACE_RECORD_SIZE, e);
	if (have < 0)
		return -1;
	if (have >= 2 * UFTRACE_RECORD_SIZE) {
		bool follows = record_unpack(u, window_at(&t->file) + UFTRACE_RECORD_SIZE, &next) &&
			       next.type != UFTRACE_LOST && next.time >= t->last &&
			       next.time - t->last < TASK_JUMP;

		if (follows && (back || next.time < r->time)) {
			task_damage(u, t, "a record whose time is not between those beside it");
			if (task_gap(u, t, GAP_DAMAGE, UFTRACE_RECORD_SIZE, t->file.offset,
				     "a damaged time"))
				return -1;
			window_skip(&t->file, UFTRACE_RECORD_SIZE);
			t->depth_known = false;
			return 1;
		}
	}
	if (back)
		task_damage(u, t, "the time steps back");
	return 0;
}

/* Set base.due.time to the next record's time, skipping damage. Returns 0, or -1. */
static int record_look_ahead(struct uftrace *u, struct task_reader *t, struct error *e)
{
	for (;;) {
		struct uftrace_record r;
		ssize_t have = window_need(&t->file, UFTRACE_RECORD_SIZE, e);
		int got;

		if (have < 0)
			return -1;
		if (!have)
			break;
		if (have < UFTRACE_RECORD_SIZE) {
			task_damage(u, t, "the file ends inside of a record");
			if (task_gap(u, t, GAP_DAMAGE, (uint64_t)have, t->file.offset,
				     "cut record"))
				return -1;
			break;
		}
		if (record_unpack(u, window_at(&t->file), &r)) {
			/* LOST has no time of its own: it has that of the record before it */
			t->base.due.time = r.type == UFTRACE_LOST ? t->last : r.time;
			got = r.type == UFTRACE_LOST ? 0 : check_time(u, t, &r, e);
			if (got <= 0)
				return got;
			continue;
		}
		if (!uftrace_record_unpack(window_at(&t->file), u->info.swap, &r))
			task_damage(u, t, "a record with a wrong magic");
		else if (r.type == UFTRACE_LOST)
			task_damage(u, t, "a LOST record with a time or depth");
		else if (r.time >= TIME_LIMIT)
			task_damage(u, t, "a record with an impossible time");
		else
			task_damage(u, t, "an event with an impossible id");
		got = task_resynchronise(u, t, "damaged records", e);
		if (got < 0)
			return -1;
		if (!got)
			break;
	}
	t->base.due.time = UINT64_MAX;
	window_close(&t->file);
	t->open = false;
	return 0;
}

/* Begin a task with its first call: if rows of the task may be left out, record which calls are
 * open. */
static int task_start(struct uftrace *u, struct task_reader *t, const struct uftrace_record *r)
{
	const struct row_filter *l = u->input->decoding->row_filter;
	uint32_t unseen = r->depth + (r->type == UFTRACE_EXIT);
	uint64_t time = shifted(u, r->time);

	t->started = true;
	if (!l || !l->cuts_threads || !unseen || time < l->first_time || time > l->last_time)
		return 0;
	return writer_thread(
		u->w, &(struct thread_entry){.lane = t->lane, .since = time, .unseen = unseen});
}

static inline uint32_t uftrace_location(struct uftrace *u, const struct task_reader *t,
					uint64_t address)
{
	const struct location_cached *p = uftrace_find_location(u, address, t->context);

	return __builtin_expect(p->location != 0, 1) ? p->location
						     : uftrace_add_location(u, t, address);
}

static int uftrace_take_record(struct uftrace *u, struct task_reader *t, struct error *e)
{
	struct uftrace_record r;
	uint32_t location;

	uftrace_record_unpack(window_at(&t->file), u->info.swap, &r);
	if (r.type == UFTRACE_LOST)
		return uftrace_take_lost(u, t, &r);
	if ((r.time >= t->context_until || !t->context || r.time < t->last) &&
	    uftrace_context(u, t, r.time))
		return -1;
	if (r.type == UFTRACE_EVENT)
		return uftrace_event_record(u, t, &r, e);
	if (u->info.max_stack > 1024)
		repair_depth(t, &r);
	if (!t->started && task_start(u, t, &r))
		return -1;
	location = uftrace_location(u, t, r.addr);
	if (!location)
		return -1;
	if (r.more)
		return uftrace_take_payload(u, t, &r, location, e);
	window_skip(&t->file, UFTRACE_RECORD_SIZE);
	return row_without_values(u, t, &r, location) ? -1 : 1;
}

/* End the task's file, which cannot be read further: damage of this task only. Returns 0, or -1
 * if the writer failed. */
static int task_failed(struct uftrace *u, struct task_reader *t, const struct error *e)
{
	if (!e->what[0])
		return -1;
	input_damage_error(u->input, e);
	t->base.due.time = UINT64_MAX;
	window_close(&t->file);
	t->open = false;
	return 0;
}

/* Find the time of the task's next record, skipping damage. Returns 0, or -1 if the writer
 * failed. */
static int task_look_ahead(struct uftrace *u, struct task_reader *t)
{
	struct error e;

	e.what[0] = '\0';
	return record_look_ahead(u, t, &e) ? task_failed(u, t, &e) : 0;
}

/* Write one event, and the gaps of damage after it; bare records are written by bare_records. */
static int task_run(struct uftrace *u, struct lane_reader *r)
{
	struct task_reader *t = (struct task_reader *)r;
	struct error e;

	e.what[0] = '\0';
	u->last_lane = t->lane;
	if (uftrace_take_record(u, t, &e) < 0 || record_look_ahead(u, t, &e))
		return task_failed(u, t, &e);
	return 0;
}

/* Find the first time. A file may begin with LOST: the gap is before the first record that has a
 * time. */
static int uftrace_first_time(struct uftrace *u, struct task_reader *t, struct error *e)
{
	ssize_t have = window_need(&t->file, t->file.capacity, e);

	if (have < 0)
		return -1;
	for (ssize_t at = 0; have - at >= UFTRACE_RECORD_SIZE; at += UFTRACE_RECORD_SIZE) {
		struct uftrace_record r;

		if (!record_unpack(u, window_at(&t->file) + at, &r))
			break;
		if (r.type != UFTRACE_LOST) {
			t->base.due.time = t->last = r.time;
			break;
		}
	}
	return 0;
}

static int task_begin(struct uftrace *u, struct task_reader *t, struct error *e)
{
	struct error damaged;

	t->base.run = task_run;
	t->base.task = true;
	t->base.due.time = UINT64_MAX;
	if (!t->open)
		return 0;
	damaged.what[0] = '\0';
	if (record_look_ahead(u, t, &damaged) ||
	    (!t->base.due.time && uftrace_first_time(u, t, &damaged))) {
		*e = damaged;
		return task_failed(u, t, &damaged);
	}
	return 0;
}

/*
 * Write the bare records of two tasks in order of time.
 *
 * Two threads that run at once alternate irregularly, which no processor predicts: so the next of
 * the two is computed without a branch.
 *
 * Without this: 'trdecode | trsym | trstat' of t/bench/uftrace.sh takes 1.11 times the
 * instructions.
 */

static inline uint64_t merge_two_pick(uint64_t mask, uint64_t zero, uint64_t ones)
{
	return zero ^ ((zero ^ ones) & mask);
}

/* Test whether the next record of the task is in memory, bare, and soon after the last one. */
static bool merge_two_ready(const struct task_reader *t)
{
	const uint8_t *p;

	/* readers other than tasks have another size */
	if (!t->base.task || !t->context || t->stale || window_have(&t->file) < UFTRACE_RECORD_SIZE)
		return false;
	p = window_at(&t->file);
	return uftrace_word_bare(uftrace_record_word(p, false)) &&
	       uftrace_record_time(p, false) == t->base.due.time &&
	       t->base.due.time - t->last < TASK_JUMP;
}

/* Move the task to p: the records before p are written. next is its next time, unless stale. */
static void merge_two_settle(struct task_reader *t, const uint8_t *p, uint64_t next)
{
	const uint8_t *start = window_at(&t->file);

	if (p == start)
		return;
	t->last = uftrace_record_time(p - UFTRACE_RECORD_SIZE, false);
	if (!t->stale)
		t->base.due.time = next;
	window_skip(&t->file, (size_t)(p - start));
}

enum merge_two_end {
	MERGE_TWO_OVER,	 /* `end` was reached, or a task is stale */
	MERGE_TWO_STUCK, /* the next record needs more than a row of the present block */
};

/* Write bare records of both before the time `end`, in order; both have their row_bits. The
 * base.due.time of a task that is not stale is that of its next record. Not in line: in line, where
 * this is called once, trdecode takes 1.35 times as long. */
static __attribute__((noinline)) enum merge_two_end
uftrace_merge_two(struct uftrace *u, struct task_reader *a, struct task_reader *b,
		  struct rows *rows, uint64_t end)
{
	const uint8_t *pa = window_at(&a->file), *pb = window_at(&b->file);
	const uint8_t *la = pa + window_have(&a->file) - UFTRACE_RECORD_SIZE,
		      *lb = pb + window_have(&b->file) - UFTRACE_RECORD_SIZE;
	uint64_t ta = uftrace_record_time(pa, false), tb = uftrace_record_time(pb, false),
		 shift = u->shift, second = b->base.due.rank < a->base.due.rank;
	struct task_reader *t = a;
	enum merge_two_end result = MERGE_TWO_OVER;

	for (;;) {
		/* all ones: b's turn */
		uint64_t mask = -(uint64_t)(tb < ta + second), time = merge_two_pick(mask, ta, tb),
			 next;
		const uint8_t *p =
			(const uint8_t *)merge_two_pick(mask, (uintptr_t)pa, (uintptr_t)pb);
		uint64_t word = uftrace_record_word(p, false);

		if (time >= end)
			break;
		t = (struct task_reader *)merge_two_pick(mask, (uintptr_t)a, (uintptr_t)b);
		if (!rows_put(rows, &t->bits, time + shift,
			      uftrace_location(u, t, uftrace_word_addr(word)),
			      uftrace_word_depth(word), uftrace_bare_leaves(word))) {
			result = MERGE_TWO_STUCK;
			break;
		}
		pa += UFTRACE_RECORD_SIZE & ~mask;
		pb += UFTRACE_RECORD_SIZE & mask;
		if (pa > la || pb > lb) {
			t->stale = true;
			break;
		}
		ta = uftrace_record_time(pa, false);
		tb = uftrace_record_time(pb, false);
		next = merge_two_pick(mask, ta, tb);
		if (!uftrace_word_bare(uftrace_record_word(p + UFTRACE_RECORD_SIZE, false)) ||
		    next - time >= TASK_JUMP) {
			t->stale = true;
			break;
		}
	}
	if (pa > window_at(&a->file) || pb > window_at(&b->file))
		u->last_lane = t->lane;
	merge_two_settle(a, pa, ta);
	merge_two_settle(b, pb, tb);
	return result;
}

/*
 * Run the readers of a directory in order of time.
 *
 * A heap of readers, the earliest on top. By far most events are ENTRY and EXIT records without a
 * payload ("bare"): these are written here, across tasks, with what is constant in a block kept in
 * local variables. All other records are written by their reader, one at a time. Without
 * bare_records 'trdecode | trstat' of t/bench/uftrace.sh takes 2.4 times the instructions.
 */

/* ns. Two tasks are run together if no other reader has an event for so long: some dozens of
 * records. */
enum { MERGE_TWO_SPAN = 8192 };

/* Get the first time at which the top reader is no longer the next one. */
static inline uint64_t turn_ends(const struct uftrace *u, uint64_t limit)
{
	const struct heap_item *first = u->heap.items[0], *second = heap_second(&u->heap);

	/* at equal times the lower rank is first: run up to and including that time */
	if (second && second->time <= limit)
		return second->time + (first->rank < second->rank);
	return limit == UINT64_MAX ? limit : limit + 1;
}

/*
 * Write the bare records of one task before the time `end`. Returns true if t->base.due.time is
 * the time of the record that follows; false if that record is not bare, or not yet in memory:
 * t->stale then shows whether t->base.due.time must be found.
 */
static inline __attribute__((always_inline)) bool
task_turn(struct uftrace *u, struct task_reader *t, struct rows *rows, uint64_t end, bool swap)
{
	const uint8_t *start = window_at(&t->file), *p = start,
		      *stop = start + window_have(&t->file);
	uint64_t last = t->last, shift = u->shift;
	bool over = false;

	if (t->context_until < end)
		end = t->context_until;
	if (last + TASK_JUMP < end)
		end = last + TASK_JUMP;
	for (; stop - p >= UFTRACE_RECORD_SIZE; p += UFTRACE_RECORD_SIZE) {
		uint64_t time = uftrace_record_time(p, swap), word = uftrace_record_word(p, swap);
		uint32_t location;

		if (__builtin_expect(!uftrace_word_bare(word), 0))
			break;
		if (time >= end || time < last) {
			over = time >= last && time < t->context_until && time - last < TASK_JUMP;
			t->base.due.time = time;
			break;
		}
		location = uftrace_location(u, t, uftrace_word_addr(word));
		if (__builtin_expect(!rows_put(rows, &t->bits, time + shift, location,
					       uftrace_word_depth(word), uftrace_bare_leaves(word)),
				     0))
			break;
		last = time;
	}
	t->last = last;
	t->stale = !over;
	window_skip(&t->file, (size_t)(p - start));
	return over;
}

static bool uftrace_has_bits(const struct uftrace *u, const struct rows *rows,
			     struct task_reader *t)
{
	return t->bits.block == rows->block ||
	       rows_bits(rows, u->w, t->lane, u->ids.entry, u->ids.leave, &t->bits);
}

/* Find the reader to run together with the top, if that is worth while, and until when. Returns
 * its number, or 0. */
static size_t find_two(const struct uftrace *u, uint64_t limit, uint64_t *end)
{
	struct heap_item **items = u->heap.items;
	size_t second = u->heap.count > 2 && heap_earlier(items[2], items[1]) ? 2 : 1;
	/* the other child of the top, and the children of this one */
	size_t children[] = {3 - second, 2 * second + 1, 2 * second + 2};
	const struct task_reader *a, *b;

	if (u->heap.count < 2)
		return 0;
	a = (const struct task_reader *)items[0];
	b = (const struct task_reader *)items[second];
	*end = limit == UINT64_MAX ? limit : limit + 1;
	for (int i = 0; i < 3; i++)
		if (children[i] < u->heap.count && items[children[i]]->time < *end)
			*end = items[children[i]]->time;
	if (*end < MERGE_TWO_SPAN || *end - MERGE_TWO_SPAN < items[second]->time || u->info.swap ||
	    !merge_two_ready(a) || !merge_two_ready(b))
		return 0;
	*end = a->context_until < *end ? a->context_until : *end;
	*end = b->context_until < *end ? b->context_until : *end;
	return *end > items[second]->time ? second : 0;
}

/*
 * Write bare records as long as the top of the heap has any. Returns the number of a reader, not
 * the top, that is stale; 0: none.
 */
static size_t bare_records(struct uftrace *u, uint64_t limit)
{
	size_t second = 0;
	struct rows rows;

	rows_open(&rows, u->w);
	while (rows.block) {
		struct task_reader *t = (struct task_reader *)u->heap.items[0];
		uint64_t end = turn_ends(u, limit), until;
		bool over;

		if (!t->base.task || !t->context || t->base.due.time >= end)
			break;
		if (!uftrace_has_bits(u, &rows, t))
			break;
		second = find_two(u, limit, &until);
		if (second &&
		    uftrace_has_bits(u, &rows, (struct task_reader *)u->heap.items[second])) {
			struct task_reader *b = (struct task_reader *)u->heap.items[second];
			enum merge_two_end how = uftrace_merge_two(u, t, b, &rows, until);

			if (b->stale)
				break;
			heap_sift_down(&u->heap, second);
			second = 0;
			if (t->stale)
				break;
			heap_sift_down(&u->heap, 0);
			if (how == MERGE_TWO_STUCK)
				break;
			continue;
		}
		second = 0;
		u->last_lane = t->lane;
		over = u->info.swap ? task_turn(u, t, &rows, end, true)
				    : task_turn(u, t, &rows, end, false);
		if (!over)
			break;
		heap_sift_down(&u->heap, 0);
	}
	rows_close(&rows, u->w);
	return second;
}

/* Find the next time of the reader `second`, and restore the heap. Returns 0, or -1. */
static int refresh_second(struct uftrace *u, size_t second)
{
	struct task_reader *t = (struct task_reader *)u->heap.items[second];

	t->stale = false;
	if (task_look_ahead(u, t))
		return -1;
	if (t->base.due.time == UINT64_MAX)
		u->heap.items[second] = u->heap.items[--u->heap.count];
	if (second < u->heap.count)
		heap_sift_down(&u->heap, second);
	heap_sift_down(&u->heap, 0);
	return 0;
}

/* Find the top reader's next time if it is stale. Returns 0, or -1. */
static int refresh_top(struct uftrace *u)
{
	struct task_reader *t = (struct task_reader *)u->heap.items[0];

	if (!t->base.task || !t->stale)
		return 0;
	t->stale = false;
	if (task_look_ahead(u, t))
		return -1;
	heap_settle(&u->heap);
	return 0;
}

/* Skip a task's bare records before a time. Returns true if there were any. */
static bool pass_over(struct uftrace *u, struct lane_reader *r, uint64_t first)
{
	struct task_reader *t = (struct task_reader *)r;
	const uint8_t *start, *p, *stop;
	bool swap = u->info.swap;
	uint64_t last;

	if (!r->task || t->stale || r->due.time >= first)
		return false;
	if (!t->skipped) {
		t->skipped = true;
		uftrace_skip(u, t, first);
		if (t->stale)
			return true;
	}
	p = start = window_at(&t->file);
	stop = start + window_have(&t->file);
	last = t->last;
	for (; stop - p >= UFTRACE_RECORD_SIZE; p += UFTRACE_RECORD_SIZE) {
		uint64_t time = uftrace_record_time(p, swap);

		if (!uftrace_word_bare(uftrace_record_word(p, swap)) || time >= first ||
		    time < last || time - last >= TASK_JUMP)
			break;
		last = time;
	}
	t->last = last;
	t->stale = p > start;
	window_skip(&t->file, (size_t)(p - start));
	return t->stale;
}

/* Drop the tasks that are not wanted: they have no more events. */
static void drop_tasks(struct uftrace *u)
{
	size_t kept = 0;

	u->tasks_dropped = true;
	for (size_t i = 0; i < u->heap.count; i++) {
		const struct lane_reader *r = (const struct lane_reader *)u->heap.items[i];

		if (!r->task || row_filter_tid(u->input->decoding->row_filter,
					       ((const struct task_reader *)r)->tid))
			u->heap.items[kept++] = u->heap.items[i];
	}
	u->heap.count = kept;
	heap_build(&u->heap);
}

/* Write the events up to and including that time (unshifted). Returns 0, or -1 if the
 * writer failed. */
static int merge_until(struct uftrace *u, uint64_t limit)
{
	uint64_t first = row_filter_first(u->input);

	if (!u->tasks_dropped && u->input->decoding->row_filter)
		drop_tasks(u);
	while (u->heap.count && u->heap.items[0]->time <= limit) {
		struct lane_reader *next;
		size_t second;

		/* deeper stacks carry into the address: each record must be read */
		if (first && u->info.max_stack <= 1024)
			while (u->heap.count &&
			       pass_over(u, (struct lane_reader *)u->heap.items[0], first))
				if (refresh_top(u))
					return -1;
		if (!u->heap.count || u->heap.items[0]->time > limit)
			break;
		second = u->info.max_stack <= 1024 ? bare_records(u, limit) : 0;
		if (second ? refresh_second(u, second) : refresh_top(u))
			return -1;
		if (!u->heap.count || u->heap.items[0]->time > limit)
			break;
		next = (struct lane_reader *)u->heap.items[0];
		if (next->run(u, next))
			return -1;
		heap_settle(&u->heap);
	}
	return 0;
}

/* --- print a uftrace directory's properties for --info --- */

static void add_exit_status(struct trace_info *f, const struct uftrace_info *info)
{
	char text[64];
	int status = info->exit_status;

	if (!uftrace_info_has(info, UFTRACE_INFO_EXIT_STATUS))
		return;
	if (status == 65536)
		snprintf(text, sizeof(text), "stopped by a finish trigger");
	else if (status & 0x7f)
		snprintf(text, sizeof(text), "signal %d", status & 0x7f);
	else
		snprintf(text, sizeof(text), "%d", status >> 8 & 0xff);
	fact_text(f, "exit status", text);
}

static void add_features(struct trace_info *f, const struct uftrace_info *info)
{
	static const char *const names[] = {
		"plthook",	"task-session",	   "kernel",   "argument",   "retval",
		"sym-rel-addr", "max-stack",	   "event",    "perf-event", "auto-args",
		"debug-info",	"estimate-return", "sym-size", "callsite"};
	char text[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (info->feat_mask >> i & 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
					      names[i]);
	fact_text(f, "features", text);
}

static void add_data_sizes(struct uftrace *u, struct trace_info *f)
{
	const struct tree *tree = u->input->tree;
	uint64_t bytes = 0, files = 0, kernel = 0;
	int32_t tid;

	for (size_t i = 0; i < tree_count(tree); i++) {
		kernel += !strncmp(tree_member(tree, i), "kernel-cpu", 10);
		if (!uftrace_is_task_file(tree_member(tree, i), &tid))
			continue;
		files++;
		bytes += tree_size(tree, tree_member(tree, i));
	}
	fact_number(f, "task files", files);
	fact_number(f, "task file bytes", bytes);
	if (kernel)
		fact_number(f, "kernel data files", kernel);
}

static int uftrace_trace_info(struct input *in, struct trace_info *f, struct error *e)
{
	struct uftrace *u = in->state;
	const struct uftrace_info *i = &u->info;

	(void)e;
	fact_text(f, "format", "uftrace");
	fact_number(f, "version", i->version);
	fact_text(f, "byte order", i->big_endian ? "big-endian" : "little-endian");
	fact_number(f, "word size", i->is_32bit ? 4 : 8);
	add_features(f, i);
	fact_number(f, "max stack", i->max_stack);
	fact_text(f, "clock", in->clock_name);
	fact_text(f, "utc offset", i->lines.utc_offset_text);
	fact_text(f, "program", i->exename);
	fact_text(f, "build id", i->lines.build_id);
	fact_text(f, "command line", i->cmdline);
	add_exit_status(f, i);
	fact_text(f, "recorded by", i->lines.uftrace_version);
	fact_text(f, "recorded on", i->lines.record_date);
	fact_text(f, "elapsed time", i->lines.elapsed_time);
	fact_text(f, "system time", i->lines.systime);
	fact_text(f, "user time", i->lines.usrtime);
	fact_text(f, "context switches", i->lines.ctxsw);
	fact_text(f, "max rss", i->lines.maxrss);
	fact_text(f, "page faults", i->lines.pagefault);
	fact_text(f, "block operations", i->lines.iops);
	fact_text(f, "cpus", i->lines.nr_cpus);
	fact_text(f, "cpu", i->lines.cpu_desc);
	fact_text(f, "memory", i->lines.meminfo);
	fact_text(f, "load", i->lines.loadinfo);
	fact_text(f, "kernel", i->lines.os_kernel);
	fact_text(f, "host", i->lines.os_hostname);
	fact_text(f, "distribution", i->lines.os_distro);
	fact_text(f, "sysctl", i->lines.sysctl);
	fact_text(f, "argument specs", i->argspec);
	fact_text(f, "return specs", i->retspec);
	fact_number(f, "tasks", u->ntasks);
	fact_number(f, "sessions", u->tasks->nr_sess);
	add_data_sizes(u, f);
	return 0;
}

/*
 * The decoder of uftrace data directories: probe and open them, and merge their sources of events
 * by time.
 */

enum {
	INFO_LIMIT = 64 << 20,
	TASKS_LIMIT = 1 << 30,
};

/* Test whether a recording has files of this name. */
static bool uftrace_is_part(const char *member)
{
	static const char *const names[] = {"info",	    "task",	  "task.txt",
					    "default.opts", "extern.dat", "events.txt",
					    "kernel_header"};
	static const char *const prefixes[] = {"sid-", "perf-cpu", "kernel-cpu"};
	int32_t tid;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(member, names[i]))
			return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(member, prefixes[i], strlen(prefixes[i])))
			return true;
	return uftrace_is_task_file(member, &tid);
}

static enum bid uftrace_probe(const struct input *in)
{
	size_t files = 0;
	uint8_t head[UFTRACE_MAGIC_SIZE];
	int32_t tid;

	if (!in->tree || (in->member && !uftrace_is_part(in->member)))
		return BID_NONE;
	if (tree_peek(in->tree, "info", head, sizeof head) == sizeof head &&
	    !memcmp(head, UFTRACE_MAGIC, sizeof head))
		return BID_HEADER;
	for (size_t i = 0; i < tree_count(in->tree); i++)
		files += uftrace_is_task_file(tree_member(in->tree, i), &tid);
	/* a directory with a damaged info is still a recording; a truncated archive may lack the
	 * info */
	return files && (tree_has(in->tree, "task.txt") || tree_has(in->tree, "task") ||
			 tree_has(in->tree, "info") || tree_damage(in->tree, NULL))
		       ? BID_LIKELY
		       : BID_NONE;
}

static void read_info(struct uftrace *u)
{
	struct input *in = u->input;
	struct error e;
	char path[512];
	size_t size;
	void *data;
	int got;

	if (tree_read(in->tree, "info", INFO_LIMIT, &data, &size, &e)) {
		input_damage_error(in, &e);
		goto guess;
	}
	got = uftrace_info_parse(&u->info, data, size,
				 tree_path(in->tree, "info", path, sizeof(path)), &e);
	if (got)
		input_damage_error(in, &e);
	if (got >= 0) {
		u->info_usable = true;
		return;
	}
	uftrace_info_free(&u->info);
guess:
	/* decode the records as those of most machines */
	u->info = (struct uftrace_info){.version = UFTRACE_VERSION,
					.max_stack = UFTRACE_MAX_STACK,
					.pattern = UFTRACE_PATTERN_REGEX,
					.feat_mask = UFTRACE_FEAT_SYM_REL_ADDR};
}

static int read_tasks(struct uftrace *u, struct error *e)
{
	struct input *in = u->input;
	bool binary = tree_has(in->tree, "task");
	const char *name = binary ? "task" : "task.txt";
	char path[512];
	struct error damage;
	size_t size;
	void *data;
	int got;

	u->tasks = uftrace_tasks_new();
	if (!u->tasks)
		return error_no_memory(e);
	if (tree_read(in->tree, name, TASKS_LIMIT, &data, &size, &damage)) {
		input_damage_error(in, &damage);
		return 0;
	}
	tree_path(in->tree, name, path, sizeof(path));
	got = binary ? uftrace_tasks_parse_binary(u->tasks, data, size, u->info.swap, path, &damage)
		     : uftrace_tasks_parse_text(u->tasks, data, size, path, &damage);
	free(data);
	if (got > 0)
		input_damage_error(in, &damage);
	if (got < 0)
		*e = damage;
	u->tasks_read = true;
	return got < 0 ? -1 : 0;
}

static int add_task(struct uftrace *u, int32_t tid, struct error *e)
{
	struct task_reader *t = &u->task_readers[u->ntasks];
	char name[32];

	snprintf(name, sizeof(name), "%d.dat", tid);
	*t = (struct task_reader){.tid = tid, .task = uftrace_tasks_find(u->tasks, tid)};
	t->file.fd = -1;
	t->base.due.time = UINT64_MAX;
	/* no file: the task recorded nothing */
	if (tree_has(u->input->tree, name)) {
		t->member = strdup(name);
		if (!t->member)
			return error_no_memory(e);
	}
	if (idmap_set(&u->by_tid, (uint32_t)tid, (uint32_t)++u->ntasks))
		return error_no_memory(e);
	/* a damaged number may have changed the tid */
	if (t->member && !t->task && u->tasks_read)
		uftrace_damage(u, t->member, NO_OFFSET, "task.txt does not list this task");
	return 0;
}

/* Add the tasks that info lists, each once, and then those with files that info should have
 * listed. */
static int listed_tasks(struct uftrace *u, struct error *e)
{
	const struct tree *tree = u->input->tree;
	char path[512];
	int32_t tid;

	for (size_t i = 0; i < u->info.nr_tids; i++) {
		tid = u->info.tids[i];
		if (idmap_get(&u->by_tid, (uint32_t)tid)) {
			input_damage(u->input, tree_path(tree, "info", path, sizeof(path)),
				     NO_OFFSET, "task %d is listed twice", tid);
			continue;
		}
		if (add_task(u, tid, e))
			return -1;
	}
	for (size_t i = 0; i < tree_count(tree); i++) {
		if (!uftrace_is_task_file(tree_member(tree, i), &tid) ||
		    idmap_get(&u->by_tid, (uint32_t)tid))
			continue;
		uftrace_damage(u, tree_member(tree, i), NO_OFFSET, "info does not list this task");
		if (add_task(u, tid, e))
			return -1;
	}
	return 0;
}

/* Find the tasks: those of info, or else those that have files. */
static int uftrace_find_tasks(struct uftrace *u, struct error *e)
{
	const struct tree *tree = u->input->tree;
	bool listed = u->info_usable && u->info.nr_tids;
	size_t most = tree_count(tree) + (listed ? u->info.nr_tids : 0);
	int32_t tid;

	u->task_readers = calloc(most + 1, sizeof(*u->task_readers));
	if (!u->task_readers)
		return error_no_memory(e);
	if (u->input->member) {
		if (!uftrace_is_task_file(u->input->member, &tid))
			return error_set(e, u->input->name, NO_OFFSET,
					 "only a TID.dat can be read alone");
		return add_task(u, tid, e);
	}
	if (listed)
		return listed_tasks(u, e);
	for (size_t i = 0; i < tree_count(tree); i++)
		if (uftrace_is_task_file(tree_member(tree, i), &tid) && add_task(u, tid, e))
			return -1;
	return 0;
}

static int uftrace_open(struct input *in, struct error *e)
{
	struct uftrace *u = calloc(1, sizeof(*u));
	int64_t utc;

	in->state = u;
	if (!u)
		return error_no_memory(e);
	u->input = in;
	u->w = in->decoding->writer;
	if (tree_damage(in->tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	read_info(u);
	if (read_tasks(u, e) || uftrace_find_tasks(u, e))
		return -1;
	in->clock_name = uftrace_clock_name(&u->info);
	utc = u->info.utc_offset;
	if (uftrace_info_has(&u->info, UFTRACE_INFO_UTC_OFFSET) && utc > 0 && utc < 1ll << 33) {
		in->has_wall = true;
		in->wall = utc * 1000000000;
	}
	return 0;
}

static uint64_t uftrace_fingerprint(const struct input *in)
{
	const struct uftrace *u = in->state;
	uint64_t h = hash_bytes(u->info.raw, u->info.raw_size, 0);

	for (size_t i = 0; i < tree_count(in->tree); i++)
		h = hash_bytes(tree_member(in->tree, i), strlen(tree_member(in->tree, i)), h);
	return in->member ? hash_bytes(in->member, strlen(in->member), h) : h;
}

/* Report damage found while loading symbols and arguments: END must include it. */
static void uftrace_report_damage(struct uftrace *u)
{
	struct error damage;

	while (u->sessions && uftrace_sessions_damage(u->sessions, &damage))
		input_damage_error(u->input, &damage);
}

static int uftrace_run(struct input *in, uint64_t until, struct error *e)
{
	struct uftrace *u = in->state;
	uint64_t limit;

	(void)e;
	if (!merge_unshifted(until, in->shift, &limit))
		return 0;
	if (merge_until(u, limit))
		return -1;
	in->next = u->heap.count ? shifted(u, u->heap.items[0]->time) : UINT64_MAX;
	if (!u->heap.count)
		uftrace_report_damage(u);
	return 0;
}

static void uftrace_add_reader(struct uftrace *u, struct lane_reader *r)
{
	r->rank = r->due.rank = ++u->nreaders;
	if (r->due.time != UINT64_MAX)
		u->heap.items[u->heap.count++] = &r->due;
}

static int uftrace_begin_readers(struct uftrace *u, struct error *e)
{
	size_t files = 0, i;

	for (i = 0; i < u->ntasks; i++)
		files += u->task_readers[i].member != NULL;
	u->heap.items = calloc(u->ntasks + uftrace_kernel_nreaders(u) + u->nperf + 1,
			       sizeof(*u->heap.items));
	if (!u->heap.items)
		return error_no_memory(e);
	for (i = 0; i < u->ntasks; i++) {
		struct task_reader *t = &u->task_readers[i];

		if (t->member && window_open_one(&t->file, u->input, t->member, files, e)) {
			input_damage_error(u->input, e);
			e->what[0] = '\0';
		} else if (t->member) {
			t->open = true;
			if (!t->file.size && !tree_has(u->input->tree, UFTRACE_EMPTY))
				uftrace_damage(u, t->member, NO_OFFSET, "the task's file is empty");
		}
		if (task_begin(u, t, e))
			return -1;
		uftrace_add_reader(u, &t->base);
	}
	for (i = 0; i < uftrace_kernel_nreaders(u); i++)
		uftrace_add_reader(u, uftrace_kernel_reader(u, i));
	for (i = 0; i < u->nperf; i++)
		uftrace_add_reader(u, &u->perf[i].base);
	uftrace_add_reader(u, &u->external.base);
	heap_build(&u->heap);
	return 0;
}

static int decode_uftrace_begin(struct input *in, struct error *e)
{
	struct uftrace *u = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	u->shift = (uint64_t)in->shift;
	u->locations.slot = calloc(LOCATIONS_LEAST, sizeof(*u->locations.slot));
	if (!u->locations.slot)
		return error_no_memory(e);
	u->locations.mask = LOCATIONS_LEAST - 1;
	u->sessions = uftrace_sessions_new(in->tree, &u->info, u->tasks, e);
	if (!u->sessions)
		return -1;
	u->args = uftrace_args_new(u->sessions, &u->info, e);
	if (!u->args)
		return -1;
	if (event_types_read(u) || uftrace_declare(u, e) || uftrace_kernel_begin(u, e) ||
	    uftrace_perf_begin(u, e) || uftrace_extern_begin(u, e) || uftrace_begin_readers(u, e))
		return -1;
	return u->heap.count ? merge_first(in, u->heap.items[0]->time, e) : 0;
}

static void uftrace_close(struct input *in)
{
	struct uftrace *u = in->state;

	if (!u)
		return;
	uftrace_report_damage(u);
	key_map_free(&u->contexts);
	for (size_t i = 0; i < u->ntasks; i++) {
		window_close(&u->task_readers[i].file);
		free(u->task_readers[i].member);
	}
	uftrace_kernel_close(u);
	uftrace_perf_close(u);
	key_map_free(&u->events.names);
	for (int i = 0; i < 3; i++)
		idmap_free(&u->events.declared[i]);
	free(u->events.text);
	uftrace_args_free(u->args);
	uftrace_sessions_free(u->sessions);
	uftrace_tasks_free(u->tasks);
	uftrace_info_free(&u->info);
	buffer_free(&u->tail);
	free(u->specs);
	free(u->external.data);
	free(u->task_readers);
	idmap_free(&u->by_tid);
	free(u->heap.items);
	free(u->ids.spaces);
	free(u->locations.slot);
	free(u);
	in->state = NULL;
}

const struct decoder decoder_uftrace = {
	.name = "uftrace",
	.in_order = true,
	.probe = uftrace_probe,
	.open = uftrace_open,
	.fingerprint = uftrace_fingerprint,
	.info = uftrace_trace_info,
	.begin = decode_uftrace_begin,
	.late = uftrace_late,
	.run = uftrace_run,
	.close = uftrace_close,
};

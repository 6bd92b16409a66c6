/*
 * events.c - declare types and lanes, and write rows
 */
#include "cmd/trdecode/tracecmd/tracecmd.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/value/escape.h"
#include "common/formats/tracecmd.h"

enum { EVENTS_MOST = 65534, ID_LIMIT = 65536, FIELDS_LIMIT = 1024 };

/* Offsets of the common fields, if no format gives them. */
enum { TYPE_AT = 0, PID_AT = 4, COMMON_END = 8 };

static void take_common(struct tracecmd *t, const struct format *f)
{
	const struct format_field *type = format_find(f, "common_type"),
				  *pid = format_find(f, "common_pid");

	if (!type || !pid || type->size != 2 || pid->size != 4 || type->offset > 256 ||
	    pid->offset > 256)
		return;
	t->type_offset = type->offset;
	t->pid_offset = pid->offset;
	t->common_end = pid->offset + 4;
}

static bool is_number(const struct format_field *f)
{
	return f && f->where == WHERE_TAIL && f->offset < 4096 &&
	       (f->size == 4 || f->size == 8 || f->size == 2);
}

static void set_location(struct tracecmd_event *v, const char *name)
{
	const struct format_field *f = format_find(&v->format, name);

	if (!is_number(f))
		return;
	v->has_location = true;
	v->address = f->offset;
	v->address_size = (uint8_t)f->size;
	v->least = f->offset + f->size;
}

static void set_depth(struct tracecmd_event *v)
{
	const struct format_field *f = format_find(&v->format, "depth");

	if (!v->has_location || !is_number(f))
		return;
	v->has_depth = true;
	v->depth = f->offset;
	v->depth_size = (uint8_t)f->size;
	if (v->least < f->offset + f->size)
		v->least = f->offset + f->size;
}

static bool named(const struct tracecmd_event *v, const char *name)
{
	return v->format.name_size == strlen(name) &&
	       !memcmp(v->format.name, name, v->format.name_size);
}

static bool is_enter(const struct tracecmd_event *v)
{
	return named(v, "funcgraph_entry") || named(v, "fgraph_retaddr_entry");
}

static bool is_leave(const struct tracecmd_event *v)
{
	return named(v, "funcgraph_exit") || named(v, "fgraph_retaddr_exit");
}

/* Find the fields of the kernel's own tracers that record functions. */
static void find_calls(struct tracecmd_event *v)
{
	if (!v->source || strcmp(v->source->system, "ftrace"))
		return;
	if (is_enter(v) || is_leave(v)) {
		set_location(v, "func");
		set_depth(v);
	} else if (named(v, "function")) {
		set_location(v, "ip");
	}
}

static struct tracecmd_event *add_event(struct tracecmd *t)
{
	struct tracecmd_event *v =
		array_grow(t->events, &t->events_capacity, t->nevents, sizeof *v);

	if (!v)
		return NULL;
	t->events = v;
	v += t->nevents;
	*v = (struct tracecmd_event){0};
	return v;
}

int tracecmd_read_formats(struct tracecmd *t, struct error *e)
{
	uint64_t bad = 0;

	t->type_offset = TYPE_AT;
	t->pid_offset = PID_AT;
	t->common_end = COMMON_END;
	for (size_t i = 0; i < t->h.nformats; i++) {
		const struct tracecmd_format_text *text = &t->h.formats[i];
		struct tracecmd_event *v = add_event(t);
		int got;

		if (!v)
			return error_no_memory(e);
		got = format_parse(&v->format, text->text, text->size, t->layout.long_size);
		if (got < 0)
			return error_no_memory(e);
		/* of equal ids the first counts, as in trace-cmd */
		if (got || v->format.id >= ID_LIMIT || t->by_id[v->format.id] ||
		    t->nevents >= EVENTS_MOST) {
			bad += got || v->format.id >= ID_LIMIT;
			format_free(&v->format);
			continue;
		}
		v->source = text;
		if (!t->nevents)
			take_common(t, &v->format);
		find_calls(v);
		t->nevents++;
		t->by_id[v->format.id] = (uint16_t)t->nevents;
	}
	if (bad)
		input_damage(t->input, t->h.file.name, NO_OFFSET,
			     "%llu event formats cannot be understood", (unsigned long long)bad);
	return 0;
}

void tracecmd_free_formats(struct tracecmd *t)
{
	for (size_t i = 0; i < t->nevents; i++)
		format_free(&t->events[i].format);
	free(t->events);
}

/* --- declaring a type when its first record is there --- */

static enum field_role role_of(const struct tracecmd_event *v, const struct format_field *f)
{
	if (v->source && !strcmp(v->source->system, "ftrace")) {
		if (f->name_size == 3 && !memcmp(f->name, "buf", 3))
			return ROLE_MESSAGE;
		if ((f->name_size == 2 && !memcmp(f->name, "ip", 2)) ||
		    (f->name_size == 4 && !memcmp(f->name, "func", 4)))
			return ROLE_ADDRESS;
	}
	if (f->name_size == 10 && !memcmp(f->name, "common_pid", 10))
		return ROLE_TID;
	return ROLE_NONE;
}

/* Return the length of a name without the mark that distinguishes equal names. */
static size_t plain_size(const char *name, size_t n)
{
	size_t mark = sizeof TRACECMD_ANOTHER - 1, end = n;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	/* the mark ends with a letter */
	return end < n && name[end] != '0' && end > mark &&
			       !memcmp(name + end - mark, TRACECMD_ANOTHER, mark)
		       ? end - mark
		       : n;
}

/* Return the id of the name as it was before trencode escaped it with that mark; 0: out of
 * memory. */
static uint32_t name_of(struct tracecmd *t, const char *name, size_t n, char mark)
{
	uint32_t string;
	char *copy;

	if (!mark || !memchr(name, mark, n))
		return writer_string(t->w, name, n);
	copy = malloc(n);
	if (!copy)
		return 0;
	memcpy(copy, name, n);
	string = writer_string(t->w, copy, escape_undo(copy, n, mark));
	free(copy);
	return string;
}

static uint32_t declare_type(struct tracecmd *t, const struct tracecmd_event *v)
{
	struct field_entry fields[FIELDS_LIMIT + 1];
	struct writer *w = t->w;
	const struct format *f = &v->format;
	bool with_time = t->tsc || t->sync;
	struct type_entry e = {.source = t->source,
			       .kind = KIND_INSTANT,
			       .word_size = t->layout.long_size,
			       .flags = TYPE_TAIL | (t->h.big_endian ? TYPE_BIG_ENDIAN : 0),
			       .fixed_size = with_time ? 8 : 0,
			       .native = f->id,
			       .fields = fields};

	if (v->source) {
		char mark = f->escaped ? '_' : 0;

		e.name = name_of(t, f->name, plain_size(f->name, f->name_size), mark);
		e.group = name_of(t, v->source->system, strlen(v->source->system), mark);
		e.declaration = writer_string(w, v->source->text, v->source->size);
	} else {
		char name[32];

		snprintf(name, sizeof name, "unknown:%u", f->id);
		e.name = writer_text(w, name);
	}
	if (v->has_depth) {
		e.kind = is_enter(v) ? KIND_ENTER : KIND_LEAVE;
		e.flags |= TYPE_DEPTH;
	}
	if (with_time)
		fields[e.nfields++] = (struct field_entry){.name = writer_text(w, "raw_time"),
							   .kind = FIELD_UINT,
							   .role = ROLE_SOURCE_TIME,
							   .where = WHERE_FIXED,
							   .size = 8};
	for (size_t i = 0; i < f->nfields && i < FIELDS_LIMIT; i++) {
		const struct format_field *from = &f->fields[i];

		if (!v->source && !from->common)
			continue;
		fields[e.nfields++] =
			(struct field_entry){.name = writer_string(w, from->name, from->name_size),
					     .type_name = writer_text(w, from->type_name),
					     .kind = (uint8_t)from->kind,
					     .role = (uint8_t)role_of(v, from),
					     .where = (uint8_t)from->where,
					     .offset = from->offset,
					     .size = from->element,
					     .count = from->count};
	}
	return writer_type(w, &e);
}

/* Make an event for an id without a format: its common fields are those of any other event. */
static struct tracecmd_event *unknown_event(struct tracecmd *t, uint16_t id)
{
	struct tracecmd_event *v, *any;

	if (t->nevents >= EVENTS_MOST)
		return &t->events[t->nevents - 1];
	v = add_event(t);
	if (!v)
		return NULL;
	any = t->events;
	if (t->nevents && any->source) {
		/* the fields of the first format must not change, so they are copied */
		v->format.fields = calloc(any->format.nfields + 1, sizeof *v->format.fields);
		if (!v->format.fields)
			return NULL;
		if (any->format.nfields)
			memcpy(v->format.fields, any->format.fields,
			       any->format.nfields * sizeof *v->format.fields);
		v->format.nfields = any->format.nfields;
	}
	v->format.id = id;
	t->nevents++;
	t->by_id[id] = (uint16_t)t->nevents;
	return v;
}

/* --- lanes --- */

int tracecmd_read_comms(struct tracecmd *t, struct error *e)
{
	const char *text = (char *)t->h.cmdlines.data, *p = text, *end;

	if (!text)
		return 0;
	end = text + t->h.cmdlines.size;
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		uint32_t pid = 0;
		const char *q = p;

		while (q < end && *q >= '0' && *q <= '9' && pid < 1u << 28)
			pid = pid * 10 + (uint32_t)(*q++ - '0');
		if (q > p && pid && !idmap_get(&t->comms, pid) &&
		    (size_t)(q - text) < UINT32_MAX - 1 &&
		    idmap_set(&t->comms, pid, (uint32_t)(q - text) + 1))
			return error_no_memory(e);
		p = newline ? newline + 1 : end;
	}
	return 0;
}

static uint32_t comm_of(struct tracecmd *t, int32_t pid)
{
	uint32_t at = pid ? idmap_get(&t->comms, (uint32_t)pid) : 0;
	const char *text, *end, *recorder = t->h.recorder;
	bool own = recorder && !strncmp(recorder, TRACECMD_OWN, sizeof TRACECMD_OWN - 1);

	if (!at)
		return writer_text(t->w, pid ? "<...>" : "<idle>");
	text = (char *)t->h.cmdlines.data + at - 1;
	end = (char *)t->h.cmdlines.data + t->h.cmdlines.size;
	while (text < end && *text == ' ')
		text++;
	return name_of(t, text, strcspn(text, "\n"), own ? '\\' : 0);
}

static struct lane_entry lane_entry(const struct tracecmd *t, const struct tracecmd_reader *r)
{
	return (struct lane_entry){.source = t->source,
				   .clock = t->clock,
				   .buffer = r->buffer_name,
				   .flags = LANE_HAS_CPU,
				   .cpu = (int32_t)r->cpu};
}

uint32_t tracecmd_lane(struct tracecmd *t, struct tracecmd_reader *r, int32_t pid)
{
	uint32_t lane = idmap_get(&r->lanes, (uint32_t)pid);
	struct lane_entry entry;

	if (lane)
		return lane;
	entry = lane_entry(t, r);
	entry.flags |= LANE_HAS_TID;
	entry.tid = pid;
	entry.comm = comm_of(t, pid);
	lane = writer_lane(t->w, &entry);
	return lane && !idmap_set(&r->lanes, (uint32_t)pid, lane) ? lane : 0;
}

uint32_t tracecmd_bare_lane(struct tracecmd *t, struct tracecmd_reader *r)
{
	if (!r->bare_lane) {
		struct lane_entry entry = lane_entry(t, r);

		r->bare_lane = writer_lane(t->w, &entry);
	}
	return r->bare_lane;
}

/* --- rows --- */

static uint32_t location_of(struct tracecmd *t, uint64_t address)
{
	struct location_slot *s = &t->locations[hash_u64(address) % LOCATION_SLOTS];

	if (s->address != address || !s->location) {
		s->address = address;
		s->location = writer_location(
			t->w, &(struct location_entry){.space = t->space, .address = address});
	}
	return s->location;
}

/* Write the row of a record that is too short for its type and thread. */
static int emit_short(struct tracecmd *t, struct tracecmd_reader *r)
{
	struct gap g = {.reason = GAP_DAMAGE,
			.unit = GAP_EVENTS,
			.count = 1,
			.offset = NO_OFFSET,
			.file = t->h.file.name,
			.message = "a record shorter than its common fields"};
	uint32_t lane = tracecmd_bare_lane(t, r);

	input_damage(t->input, t->h.file.name, NO_OFFSET, "%s (CPU %u)", g.message, r->cpu);
	return lane ? writer_gap(t->w, r->due.time, lane, &g) : -1;
}

static int begin_type(struct tracecmd *t, uint16_t id)
{
	struct tracecmd_event *v;

	v = t->by_id[id] ? &t->events[t->by_id[id] - 1] : unknown_event(t, id);
	if (!v)
		return -1;
	v->type = declare_type(t, v);
	return v->type ? 0 : -1;
}

int tracecmd_emit(struct tracecmd *t, struct tracecmd_reader *r)
{
	const struct ring_record *record = &r->record;
	bool big = t->h.big_endian, with_time = t->tsc || t->sync;
	const struct tracecmd_event *v;
	uint32_t pid, location = 0, depth = 0;
	uint8_t fixed[8];
	uint16_t id;

	if (__builtin_expect(record->size < t->common_end, 0))
		return emit_short(t, r);
	id = (uint16_t)get_uint(record->data + t->type_offset, 2, big);
	pid = (uint32_t)get_uint(record->data + t->pid_offset, 4, big);
	if (__builtin_expect(pid != r->pid || !r->lane, 0)) {
		r->lane = tracecmd_lane(t, r, (int32_t)pid);
		r->pid = pid;
		if (!r->lane)
			return -1;
	}
	if (__builtin_expect(!t->by_id[id] || !t->events[t->by_id[id] - 1].type, 0) &&
	    begin_type(t, id))
		return -1;
	v = &t->events[t->by_id[id] - 1];
	if (!v->source)
		t->unknown++;
	if (v->has_location && record->size >= v->least) {
		location =
			location_of(t, get_uint(record->data + v->address, v->address_size, big));
		if (!location)
			return -1;
		if (v->has_depth)
			depth = (uint32_t)get_uint(record->data + v->depth, v->depth_size, big);
	}
	r->last = r->due.time;
	if (__builtin_expect(!with_time, 1))
		return writer_row_words(t->w, r->due.time, r->lane, v->type, location, depth,
					record->data, record->size);
	put_u64(fixed, record->time);
	return writer_row_data(t->w, r->due.time, r->lane, v->type, location, depth, fixed,
			       sizeof fixed, record->data, record->size, true);
}

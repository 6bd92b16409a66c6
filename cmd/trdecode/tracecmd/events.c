/*
 * events.c - declare types and lanes, and write rows
 */
#include "cmd/trdecode/tracecmd/tracecmd.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/value/escape.h"
#include "common/formats/tracecmd.h"
#include "common/util/lines.h"

/* Where the common fields are, if no format gives them. */
static const struct number_at usual_type = {0, 2}, usual_pid = {4, 4};

int tracecmd_read_formats(struct tracecmd *t, struct error *e)
{
	struct ftrace_events *v = &t->events;
	uint64_t bad = 0;

	for (size_t i = 0; i < t->h.nformats; i++) {
		const struct tracecmd_format_text *text = &t->h.formats[i];

		switch (ftrace_events_add(v, text->system, strlen(text->system), text->text,
					  text->size, t->layout.long_size)) {
		case FTRACE_NO_MEMORY: return error_no_memory(e);
		case FTRACE_NO_FORMAT: bad++; break;
		case FTRACE_KNOWN:
		case FTRACE_ADDED: break;
		}
	}
	if (ftrace_events_kinds(v))
		return error_no_memory(e);
	if (t->h.uname && strrchr(t->h.uname, ' '))
		v->machine = strrchr(t->h.uname, ' ') + 1;
	if (!v->type.size) {
		v->type = usual_type;
		v->pid = usual_pid;
	}
	t->common_end = v->pid.offset + 4;
	if (t->common_end < v->type.offset + 2)
		t->common_end = v->type.offset + 2;
	if (bad)
		input_damage(t->input, t->h.file.name, NO_OFFSET,
			     "%llu event formats cannot be understood", (unsigned long long)bad);
	return 0;
}

/* --- declaring types --- */

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

static uint32_t declare_type(struct tracecmd *t, const struct ftrace_event *v)
{
	struct field_entry fields[FTRACE_FIELDS + 2];
	struct writer *w = t->w;
	const struct event_format *f = &v->format;
	bool with_time = t->tsc || t->sync;
	uint32_t time_size = with_time ? 8 : 0;
	struct type_entry e = {.source = t->source,
			       .kind = (uint8_t)v->kind,
			       .word_size = t->layout.long_size,
			       .flags = TYPE_TAIL | (t->h.big_endian ? TYPE_BIG_ENDIAN : 0),
			       .fixed_size = time_size + (v->stack.caller.size ? 4 : 0),
			       .native = f->id,
			       .fields = fields};

	if (v->system) {
		char mark = f->escaped ? '_' : 0;

		e.name = name_of(t, f->name, plain_size(f->name, f->name_size), mark);
		e.group = name_of(t, v->system, v->system_size, mark);
		e.declaration = writer_string(w, v->text, v->text_size);
	} else {
		char name[32];

		snprintf(name, sizeof name, "unknown:%u", f->id);
		e.name = writer_text(w, name);
	}
	if (v->kind != KIND_INSTANT)
		e.flags |= TYPE_DEPTH;
	if (with_time)
		fields[e.nfields++] = (struct field_entry){.name = writer_text(w, "raw_time"),
							   .kind = FIELD_UINT,
							   .role = ROLE_SOURCE_TIME,
							   .where = WHERE_FIXED,
							   .size = 8};
	if (v->stack.caller.size)
		fields[e.nfields++] = (struct field_entry){.name = writer_text(w, "stack"),
							   .kind = FIELD_UINT,
							   .role = ROLE_STACK,
							   .where = WHERE_FIXED,
							   .offset = time_size,
							   .size = 4};
	ftrace_fields(&t->events, v, w, fields, &e);
	return writer_type(w, &e);
}

/* --- lanes --- */

int tracecmd_read_comms(struct tracecmd *t, struct error *e)
{
	const char *text = (char *)t->h.cmdlines.data;

	for (struct lines l = lines_of(text, t->h.cmdlines.size); lines_next(&l);) {
		uint32_t pid = 0;
		const char *q = l.line;

		while (q < l.end && *q >= '0' && *q <= '9' && pid < 1u << 28)
			pid = pid * 10 + (uint32_t)(*q++ - '0');
		if (q > l.line && pid && !idmap_get(&t->comms, pid) &&
		    (size_t)(q - text) < UINT32_MAX - 1 &&
		    idmap_set(&t->comms, pid, (uint32_t)(q - text) + 1))
			return error_no_memory(e);
	}
	return 0;
}

static uint32_t comm_of(struct tracecmd *t, int32_t pid)
{
	uint32_t at = pid ? idmap_get(&t->comms, (uint32_t)pid) : 0;
	const char *text, *end, *recorder = t->h.recorder;
	bool own = recorder && !strncmp(recorder, TRACECMD_OWN, sizeof TRACECMD_OWN - 1);

	if (!at)
		return pid ? idmap_get(&t->learned, (uint32_t)pid) : writer_text(t->w, "<idle>");
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

static uint32_t tracecmd_lane(struct tracecmd *t, struct tracecmd_reader *r, int32_t pid)
{
	struct idmap *lanes = idmap_get(&t->learned, (uint32_t)pid) ? &r->named : &r->lanes;
	uint32_t lane = idmap_get(lanes, (uint32_t)pid);
	struct lane_entry entry;

	if (lane)
		return lane;
	entry = lane_entry(t, r);
	entry.flags |= LANE_HAS_TID;
	entry.tid = pid;
	entry.comm = comm_of(t, pid);
	lane = writer_lane(t->w, &entry);
	return lane && !idmap_set(lanes, (uint32_t)pid, lane) ? lane : 0;
}

/* Learn the names of threads that saved_cmdlines lacks, for the records after this one. */
static int learn_names(struct tracecmd *t, const struct ftrace_event *v,
		       const struct ring_record *record)
{
	for (unsigned i = 0; i < 2 && v->tasks[i].comm.size; i++) {
		const struct task_at *at = &v->tasks[i];
		const char *name = (const char *)record->data + at->comm.offset;
		size_t n = ftrace_number_fits(record, at->comm) ? strnlen(name, at->comm.size) : 0;
		uint32_t tid, comm;

		if (!n || !ftrace_number_fits(record, at->tid))
			continue;
		tid = (uint32_t)ftrace_number(record, at->tid, t->h.big_endian);
		if (!tid || idmap_get(&t->comms, tid) || idmap_get(&t->learned, tid))
			continue;
		comm = writer_string(t->w, name, n);
		if (!comm || idmap_set(&t->learned, tid, comm))
			return -1;
		t->nlearned++; /* the thread gets new lanes, with the name */
	}
	return 0;
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

uint32_t tracecmd_location(struct tracecmd *t, uint64_t address)
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

/* Return the event of an id without a format, with its type declared. NULL: out of memory. */
static struct ftrace_event *unknown_type(struct tracecmd *t, uint16_t id)
{
	struct ftrace_event *v = ftrace_events_unknown(&t->events, id);

	if (v)
		v->type = declare_type(t, v);
	return v && v->type ? v : NULL;
}

int tracecmd_announce_types(struct tracecmd *t)
{
	for (size_t i = 0; i < t->events.count; i++) {
		struct ftrace_event *v = &t->events.event[i];

		v->type = declare_type(t, v);
		if (!v->type || row_filter_announce(t->input->decoding->row_filter, v->type, 0))
			return -1;
	}
	return 0;
}

/* Write a record with its time if the file has ticks, with its stack, or where it does not fit the
 * block. */
static __attribute__((noinline)) int emit_row(struct tracecmd *t, const struct tracecmd_reader *r,
					      const struct ftrace_event *v, uint32_t location,
					      uint32_t depth)
{
	uint8_t fixed[12];
	uint32_t stack, fixed_size = t->tsc || t->sync ? 8 : 0;
	bool bad = false;

	put_u64(fixed, r->record.time);
	if (v->stack.caller.size) {
		stack = tracecmd_stack(t, v, &r->record, &bad);
		if (bad || (stack && writer_use_stack(t->w, stack)))
			return -1;
		put_u32(fixed + fixed_size, stack);
		fixed_size += 4;
	}
	return writer_row_data(t->w, (struct new_row){.time = r->due.time,
						      .lane = r->lane,
						      .type = v->type,
						      .location = location,
						      .depth = depth,
						      .fixed = fixed,
						      .fixed_size = fixed_size,
						      .tail = r->record.data,
						      .tail_size = r->record.size,
						      .has_tail = true});
}

int tracecmd_emit(struct tracecmd *t, struct tracecmd_reader *r)
{
	const struct ring_record *record = &r->record;
	bool big = t->h.big_endian, with_time = t->tsc || t->sync;
	const struct ftrace_event *v;
	uint32_t pid, location = 0, depth = 0;
	uint16_t id;

	if (__builtin_expect(record->size < t->common_end, 0))
		return emit_short(t, r);
	id = (uint16_t)get_uint(record->data + t->events.type.offset, 2, big);
	pid = (uint32_t)get_uint(record->data + t->events.pid.offset, 4, big);
	if (__builtin_expect(pid != r->pid || !r->lane || r->nlearned != t->nlearned, 0)) {
		r->lane = tracecmd_lane(t, r, (int32_t)pid);
		r->pid = pid;
		r->nlearned = t->nlearned;
		if (!r->lane)
			return -1;
	}
	v = ftrace_events_find(&t->events, id);
	if (__builtin_expect(!v, 0)) {
		v = unknown_type(t, id);
		if (!v)
			return -1;
	}
	if (!v->system)
		t->unknown++;
	if (v->address.size && record->size >= v->least) {
		location = tracecmd_location(t, ftrace_number(record, v->address, big));
		if (!location)
			return -1;
		if (v->depth.size)
			depth = (uint32_t)ftrace_number(record, v->depth, big);
	}
	r->last = r->due.time;
	/* with emit_row for all: 'trdecode | trstat -g type' of t/bench/trace-cmd.sh takes 1.13
	 * times the instructions */
	if (__builtin_expect(!with_time && !v->stack.caller.size, 1)) {
		struct new_row row = {.time = r->due.time,
				      .lane = r->lane,
				      .type = v->type,
				      .location = location,
				      .depth = depth};
		uint8_t *p = writer_row_put(t->w, &row, 4 + (size_t)record->size);

		if (__builtin_expect(p != NULL, 1)) {
			put_u32(p, record->size);
			writer_copy_words(p + 4, record->data, record->size);
			return v->tasks[0].comm.size ? learn_names(t, v, record) : 0;
		}
	}
	return emit_row(t, r, v, location, depth) ? -1 : learn_names(t, v, record);
}

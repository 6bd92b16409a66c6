/*
 * side_records.c - records that are no samples: they change threads and mappings, and become rows
 *
 * What perf read from /proc when the recording began has the time 0, and becomes no row.
 */
#include "cmd/trdecode/perf/perf.h"

#include "cmd/trdecode/input/merge.h"

enum {
	FIELDS = 8,
	AT_BIT_13 = 254, /* in place of an offset: a bit of misc */
	AT_BIT_14 = 255,
};

struct side_field {
	const char *name;
	uint8_t at, size; /* of the number in the body */
	uint8_t kind, role;
};

/* The rows of a type of record. */
struct side_type {
	uint32_t record;
	const char *name;
	uint8_t announced_by;		  /* enum perf_attr_flag; 0: none */
	uint8_t text_at;		  /* of a text in the body; 0: none */
	const char *text;		  /* name of its field */
	struct side_field fields[FIELDS]; /* up to one without a name */
};

/* The name that perf prints. */
#define RECORD(name) PERF_RECORD_##name, "PERF_RECORD_" #name
#define PID                                                                                        \
	{                                                                                          \
		"pid", 0, 4, FIELD_INT, ROLE_NONE                                                  \
	}
#define TID                                                                                        \
	{                                                                                          \
		"tid", 4, 4, FIELD_INT, ROLE_NONE                                                  \
	}
#define PREEMPT                                                                                    \
	{                                                                                          \
		"preempt", AT_BIT_14, 4, FIELD_UINT, ROLE_NONE                                     \
	}
#define NAMESPACE(name, number)                                                                    \
	{                                                                                          \
		name, 24 + 16 * (number), 8, FIELD_UINT, ROLE_NONE                                 \
	}
#define MAPPED                                                                                     \
	PID, TID, {"addr", 8, 8, FIELD_HEX, ROLE_ADDRESS}, {"len", 16, 8, FIELD_UINT, ROLE_SIZE},  \
	{                                                                                          \
		"pgoff", 24, 8, FIELD_HEX, ROLE_NONE                                               \
	}
#define FORKED                                                                                     \
	{"pid", 0, 4, FIELD_INT, ROLE_NONE}, {"ppid", 4, 4, FIELD_INT, ROLE_NONE},                 \
		{"tid", 8, 4, FIELD_INT, ROLE_NONE},                                               \
	{                                                                                          \
		"ptid", 12, 4, FIELD_INT, ROLE_NONE                                                \
	}

/* Of a record for a switch, the first is for SWITCH_OUT, the second for none. */
static const struct side_type side_types[] = {
	{RECORD(MMAP), PERF_FLAG_MMAP, PERF_MMAP_BODY, "filename", {MAPPED}},
	{RECORD(MMAP2), PERF_FLAG_MMAP2, PERF_MMAP2_BODY, "filename", {MAPPED}},
	{RECORD(COMM),
	 PERF_FLAG_COMM,
	 PERF_COMM_BODY,
	 "comm",
	 {PID, TID, {"exec", AT_BIT_13, 4, FIELD_UINT, ROLE_NONE}}},
	{RECORD(FORK), PERF_FLAG_TASK, 0, NULL, {FORKED}},
	{RECORD(EXIT), PERF_FLAG_TASK, 0, NULL, {FORKED}},
	{RECORD(THROTTLE), 0, 0, NULL, {{"id", 8, 8, FIELD_UINT, ROLE_NONE}}},
	{RECORD(UNTHROTTLE), 0, 0, NULL, {{"id", 8, 8, FIELD_UINT, ROLE_NONE}}},
	{PERF_RECORD_SWITCH, "PERF_RECORD_SWITCH_OUT", PERF_FLAG_SWITCH, 0, NULL, {PREEMPT}},
	{PERF_RECORD_SWITCH,
	 "PERF_RECORD_SWITCH_IN",
	 PERF_FLAG_SWITCH,
	 0,
	 NULL,
	 {{NULL, 0, 0, 0, 0}}},
	{PERF_RECORD_SWITCH_CPU_WIDE,
	 "PERF_RECORD_SWITCH_OUT",
	 0,
	 0,
	 NULL,
	 {PREEMPT,
	  {"next_pid", 0, 4, FIELD_INT, ROLE_NONE},
	  {"next_tid", 4, 4, FIELD_INT, ROLE_NONE}}},
	{PERF_RECORD_SWITCH_CPU_WIDE,
	 "PERF_RECORD_SWITCH_IN",
	 0,
	 0,
	 NULL,
	 {{"prev_pid", 0, 4, FIELD_INT, ROLE_NONE}, {"prev_tid", 4, 4, FIELD_INT, ROLE_NONE}}},
	{RECORD(NAMESPACES),
	 PERF_FLAG_NAMESPACES,
	 0,
	 NULL,
	 {NAMESPACE("net", 0), NAMESPACE("uts", 1), NAMESPACE("ipc", 2), NAMESPACE("pid_ns", 3),
	  NAMESPACE("user", 4), NAMESPACE("mnt", 5), NAMESPACE("cgroup", 6)}},
	{RECORD(KSYMBOL),
	 PERF_FLAG_KSYMBOL,
	 PERF_KSYMBOL_BODY,
	 "symbol",
	 {{"addr", 0, 8, FIELD_HEX, ROLE_NONE},
	  {"len", 8, 4, FIELD_UINT, ROLE_SIZE},
	  {"ksym_type", 12, 2, FIELD_UINT, ROLE_NONE},
	  {"flags", 14, 2, FIELD_HEX, ROLE_NONE}}},
	{RECORD(BPF_EVENT),
	 PERF_FLAG_BPF,
	 0,
	 NULL,
	 {{"bpf_type", 0, 2, FIELD_UINT, ROLE_NONE},
	  {"flags", 2, 2, FIELD_HEX, ROLE_NONE},
	  {"prog_id", 4, 4, FIELD_UINT, ROLE_NONE}}},
	{RECORD(CGROUP),
	 PERF_FLAG_CGROUP,
	 PERF_CGROUP_BODY,
	 "path",
	 {{"id", 0, 8, FIELD_UINT, ROLE_NONE}}},
	{RECORD(TEXT_POKE),
	 PERF_FLAG_TEXT_POKE,
	 0,
	 NULL,
	 {{"addr", 0, 8, FIELD_HEX, ROLE_NONE},
	  {"old_len", 8, 2, FIELD_UINT, ROLE_SIZE},
	  {"new_len", 10, 2, FIELD_UINT, ROLE_SIZE}}},
	{RECORD(READ), 0, 0, NULL, {PID, TID, {"value", 8, 8, FIELD_UINT, ROLE_NONE}}},
	{RECORD(AUX_OUTPUT_HW_ID), 0, 0, NULL, {{"hw_id", 0, 8, FIELD_HEX, ROLE_NONE}}},
	{RECORD(ITRACE_START), 0, 0, NULL, {PID, TID}},
	{RECORD(AUX),
	 0,
	 0,
	 NULL,
	 {{"aux_offset", 0, 8, FIELD_HEX, ROLE_NONE},
	  {"aux_size", 8, 8, FIELD_UINT, ROLE_SIZE},
	  {"flags", 16, 8, FIELD_HEX, ROLE_NONE}}},
};

enum { SIDE_TYPES = sizeof side_types / sizeof *side_types };
_Static_assert((int)SIDE_TYPES <= (int)PERF_SIDE_TYPES, "ids of the types");

static int declare_type(struct perf *p, size_t number)
{
	const struct side_type *s = &side_types[number];
	struct field_entry fields[FIELDS + 1];
	struct type_entry type = {.source = p->source,
				  .name = writer_text(p->w, s->name),
				  .group = writer_text(p->w, "perf"),
				  .kind = KIND_INSTANT,
				  .flags = s->text ? TYPE_TAIL : 0,
				  .native = s->record,
				  .fields = fields};

	for (; type.nfields < FIELDS && s->fields[type.nfields].name; type.nfields++) {
		const struct side_field *f = &s->fields[type.nfields];

		fields[type.nfields] = (struct field_entry){.name = writer_text(p->w, f->name),
							    .kind = f->kind,
							    .role = f->role,
							    .offset = type.fixed_size,
							    .size = f->size};
		type.fixed_size += f->size;
	}
	if (s->text)
		fields[type.nfields++] = (struct field_entry){.name = writer_text(p->w, s->text),
							      .kind = FIELD_STRING,
							      .role = ROLE_MESSAGE,
							      .where = WHERE_REST,
							      .size = 1};
	type.fixed_size = (uint32_t)align_up(type.fixed_size, 4);
	p->side_types[number] = writer_type(p->w, &type);
	return p->side_types[number] ? 0 : -1;
}

int perf_declare_records(struct perf *p)
{
	uint64_t flags = 0;

	for (size_t i = 0; i < p->nattrs; i++)
		flags |= p->attrs[i].flags;
	for (size_t i = 0; i < SIDE_TYPES; i++) {
		if (!side_types[i].announced_by || !(flags >> side_types[i].announced_by & 1))
			continue;
		if (declare_type(p, i) ||
		    row_filter_announce(p->input->decoding->row_filter, p->side_types[i], 0))
			return -1;
	}
	return 0;
}

/* --- origin --- */

/* Return the bytes of the origin at the end of records of an event. */
static unsigned origin_size(const struct perf_attr *a)
{
	const uint64_t parts = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return perf_flag(a, PERF_FLAG_SAMPLE_ID_ALL)
		       ? 8 * (unsigned)__builtin_popcountll(a->sample_type & parts)
		       : 0;
}

static const struct perf_attr *attr_of(struct perf *p, const struct perf_record *r)
{
	size_t from_end = p->id_from_end < 0 ? 0 : 8 * (size_t)p->id_from_end;
	bool has_id = p->id_from_end > 0 && r->size >= PERF_RECORD_HEAD + from_end;

	return perf_attr_of(p, has_id ? perf_u64(p, r->data + r->size - from_end) : 0, has_id);
}

void perf_record_origin(struct perf *p, const struct perf_record *r, struct perf_origin *o)
{
	const struct perf_attr *a = attr_of(p, r);
	unsigned size = a ? origin_size(a) : 0;
	const uint8_t *d = r->data + r->size - size;

	*o = (struct perf_origin){.pid = -1, .tid = -1, .body = r->size - PERF_RECORD_HEAD};
	if (!size || size > o->body)
		return;
	o->body -= size;
	o->has_tid = a->sample_type & PERF_SAMPLE_TID;
	o->has_time = a->sample_type & PERF_SAMPLE_TIME;
	o->has_cpu = a->sample_type & PERF_SAMPLE_CPU;
	if (o->has_tid) {
		o->pid = (int32_t)perf_u32(p, d);
		o->tid = (int32_t)perf_u32(p, d + 4);
		d += 8;
	}
	if (o->has_time) {
		o->time = perf_u64(p, d);
		d += 8;
	}
	if (a->sample_type & PERF_SAMPLE_ID)
		d += 8;
	if (a->sample_type & PERF_SAMPLE_STREAM_ID)
		d += 8;
	if (o->has_cpu)
		o->cpu = (int32_t)perf_u32(p, d);
}

/* --- rows --- */

static uint64_t field_value(const struct perf *p, const struct perf_record *r,
			    const struct side_field *f, size_t body)
{
	if (f->at == AT_BIT_13)
		return r->misc >> 13 & 1;
	if (f->at == AT_BIT_14)
		return r->misc >> 14 & 1;
	return (size_t)f->at + f->size <= body
		       ? get_uint(r->data + PERF_RECORD_HEAD + f->at, f->size, p->h.big_endian)
		       : 0;
}

static int side_row(struct perf *p, const struct perf_record *r, size_t number, uint32_t lane,
		    size_t body)
{
	const struct side_type *s = &side_types[number];
	uint8_t fixed[8 * FIELDS + 8] = {0};
	struct new_row row = {.time = merge_shifted(r->time, p->input->shift),
			      .lane = lane,
			      .fixed = fixed,
			      .has_tail = s->text};

	if (!p->side_types[number] && declare_type(p, number))
		return -1;
	row.type = p->side_types[number];
	for (size_t i = 0; i < FIELDS && s->fields[i].name; i++) {
		put_u64(fixed + row.fixed_size, field_value(p, r, &s->fields[i], body));
		row.fixed_size += s->fields[i].size;
	}
	row.fixed_size = (uint32_t)align_up(row.fixed_size, 4);
	if (s->text && body > s->text_at) {
		row.tail = r->data + PERF_RECORD_HEAD + s->text_at;
		row.tail_size = (uint32_t)strnlen(row.tail, body - s->text_at);
	}
	return writer_row_data(p->w, row);
}

static int put_row(struct perf *p, const struct perf_record *r, uint32_t lane, size_t body)
{
	bool is_switch = r->type == PERF_RECORD_SWITCH || r->type == PERF_RECORD_SWITCH_CPU_WIDE;

	for (size_t i = 0; i < SIDE_TYPES; i++)
		if (side_types[i].record == r->type)
			return side_row(p, r, i + (is_switch && !(r->misc & PERF_MISC_SWITCH_OUT)),
					lane, body);
	return 0;
}

int perf_side_record(struct perf *p, const struct perf_record *r)
{
	struct perf_origin o;
	struct perf_thread *t;
	uint32_t lane;

	perf_record_origin(p, r, &o);
	if (perf_apply(p, r, &o, &t))
		return -1;
	if (perf_lost_total(p, r, &o))
		return 0;
	if (!r->time && !(r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES))
		return 0;
	if (o.has_tid || !t)
		t = perf_thread_of(&p->threads, o.pid, o.tid);
	lane = t ? perf_lane(p, t, &o) : 0;
	if (!lane)
		return -1;
	if (r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES)
		return perf_lost(p, r, lane, o.body);
	return put_row(p, r, lane, o.body);
}

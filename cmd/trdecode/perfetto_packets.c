/*
 * perfetto_packets.c - packets of Perfetto: sequences, interned texts, statistics of the system,
 * and what is left out of them
 *
 *     packet { trusted_packet_sequence_id: 2
 *              interned_data { event_names { iid: 1  name: "draw" } } }
 *     packet { trusted_packet_sequence_id: 2  track_event { name_iid: 1 ... } }
 *
 * The second packet is of "draw": numbers of interned texts are those of their sequence.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cmd/trdecode/perfetto.h"
#include "common/cli/program.h"
#include "common/formats/perfetto.h"
#include "common/ftrace/kernel_names.h"
#include "common/protobuf/protobuf.h"
#include "common/util/buffer.h"
#include "common/util/error.h"
#include "common/util/intern.h"

/*
 * The state of each sequence of packets: interned entries, and defaults.
 *
 * A packet that clears the state begins it again. A packet that needs it, while it was not begun or
 * a packet of the sequence was lost, is left out; the packets left out are a gap.
 */

/* --- interned entries --- */

static uint64_t entry_iid(struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == ENTRY_IID)
			return f.value;
	return 0;
}

/* Get the text of an entry; bytes of a build id as digits. */
static uint32_t entry_text(struct perfetto *p, struct protobuf_view message, bool hex)
{
	struct protobuf_view text = {NULL, NULL};
	struct protobuf_field f;
	struct buffer *b = &p->scratch.text;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == ENTRY_TEXT && f.wire == PROTOBUF_LENGTH)
			text = f.bytes;
	if (!hex)
		return perfetto_text(p, text);
	b->size = 0;
	if (protobuf_size(text) > BUILD_ID_MOST ||
	    buffer_hex_bytes(b, text.at, protobuf_size(text)))
		return 0;
	return writer_string(p->w, b->data, b->size);
}

struct perfetto_source_location perfetto_source_location(struct perfetto *p,
							 struct protobuf_view message)
{
	struct perfetto_source_location l = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case SOURCE_FILE: l.file = perfetto_text(p, f.bytes); break;
		case SOURCE_FUNCTION: l.function = perfetto_text(p, f.bytes); break;
		case SOURCE_LINE: l.line = (uint32_t)f.value; break;
		}
	return l;
}

static uint32_t source_location(struct perfetto *p, struct protobuf_view message)
{
	struct perfetto_source_location l = perfetto_source_location(p, message);

	if (buffer_append(&p->source_locations, &l, sizeof l))
		return 0;
	return (uint32_t)(p->source_locations.size / sizeof l);
}

static uint32_t perfetto_callstack(struct perfetto *p, const struct perfetto_sequence *s,
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

static uint32_t interned_number(struct perfetto *p, const struct perfetto_sequence *s,
				unsigned kind, struct protobuf_view message)
{
	switch (kind) {
	case INTERNED_MAPPING: return perfetto_mapping(p, s, message);
	case INTERNED_FRAME: return perfetto_frame(p, s, message);
	case INTERNED_CALLSTACK: return perfetto_callstack(p, s, message);
	case INTERNED_SOURCE_LOCATION: return source_location(p, message);
	default: return entry_text(p, message, kind == INTERNED_BUILD_ID);
	}
}

/* Returns when an entry is taken: entries name others of the same packet. */
static unsigned entry_stage(uint32_t field)
{
	switch (field) {
	case INTERNED_MAPPING: return 1;
	case INTERNED_FRAME: return 2;
	case INTERNED_CALLSTACK: return 3;
	}
	return 0;
}

/* The fields of InternedData that are used, by their kinds. */
static const uint8_t interned_fields[INTERNED_KINDS] = {
	INTERNED_CATEGORY,	    INTERNED_NAME,	  INTERNED_ANNOTATION_NAME,
	INTERNED_SOURCE_LOCATION,   INTERNED_FUNCTION,	  INTERNED_FRAME,
	INTERNED_CALLSTACK,	    INTERNED_BUILD_ID,	  INTERNED_PATH,
	INTERNED_SOURCE_PATH,	    INTERNED_MAPPING,	  INTERNED_LOG_BODY,
	INTERNED_ANNOTATION_STRING, INTERNED_CORRELATION, INTERNED_KERNEL_SYMBOL,
};

/* Get the kind of a field; INTERNED_KINDS: it is not used. */
static unsigned perfetto_packets_kind_of(uint32_t field)
{
	unsigned kind = 0;

	while (kind < INTERNED_KINDS && interned_fields[kind] != field)
		kind++;
	return kind;
}

static int take_interned(struct perfetto *p, struct perfetto_sequence *s,
			 struct protobuf_view message)
{
	unsigned stages = 1;

	if (!s->interned)
		s->interned = calloc(INTERNED_KINDS, sizeof *s->interned);
	if (!s->interned)
		return -1;
	for (unsigned stage = 0; stage < stages; stage++) {
		struct protobuf_view rest = message;
		struct protobuf_field f;

		while (protobuf_next(&rest, &f) > 0) {
			unsigned of = entry_stage(f.number),
				 kind = perfetto_packets_kind_of(f.number);

			if (kind == INTERNED_KINDS || f.wire != PROTOBUF_LENGTH)
				continue;
			stages = stages > of + 1 ? stages : of + 1;
			if (of == stage && idmap_set(&s->interned[kind], entry_iid(f.bytes),
						     interned_number(p, s, f.number, f.bytes)))
				return -1;
		}
	}
	return 0;
}

/* --- the tables of Android 10 --- */

/* Take an entry of the strings of a ProfilePacket, which may be a name, a path or a build-id. */
static int perfetto_packets_take_string(struct perfetto *p, struct idmap *ids,
					struct protobuf_view entry)
{
	uint64_t iid = entry_iid(entry);
	uint32_t text = entry_text(p, entry, false);

	return idmap_set(&ids[OF_FUNCTION], iid, text) || idmap_set(&ids[OF_PATH], iid, text) ||
	       idmap_set(&ids[OF_BUILD_ID], iid, entry_text(p, entry, true));
}

/* Fields of ProfilePacket: tables of Android 10, in the form of InternedData's. */
enum { PROFILE_STRINGS = 1, PROFILE_FRAMES, PROFILE_CALLSTACKS, PROFILE_MAPPINGS };

int perfetto_profile_tables(struct perfetto *p, struct perfetto_sequence *s,
			    struct protobuf_view message)
{
	/* in the order in which entries name others */
	static const struct {
		uint8_t field, interned;
	} tables[] = {{PROFILE_STRINGS, 0},
		      {PROFILE_MAPPINGS, INTERNED_MAPPING},
		      {PROFILE_FRAMES, INTERNED_FRAME},
		      {PROFILE_CALLSTACKS, INTERNED_CALLSTACK}};

	if (!s->interned)
		s->interned = calloc(INTERNED_KINDS, sizeof *s->interned);
	if (!s->interned)
		return -1;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		uint32_t interned = tables[i].interned;
		struct protobuf_view rest = message;
		struct protobuf_field f;

		while (protobuf_next(&rest, &f) > 0) {
			if (f.number != tables[i].field || f.wire != PROTOBUF_LENGTH)
				continue;
			if (interned ? idmap_set(&s->interned[perfetto_packets_kind_of(interned)],
						 entry_iid(f.bytes),
						 interned_number(p, s, interned, f.bytes))
				     : perfetto_packets_take_string(p, s->interned, f.bytes))
				return -1;
		}
	}
	return 0;
}

/* --- defaults --- */

static void add_extra(struct perfetto_sequence *s, bool real, struct protobuf_field *f)
{
	struct protobuf_view rest = f->bytes;
	uint64_t uuid;

	while (protobuf_each(f, &rest, &uuid))
		if (s->defaults.nextra[real] < PERFETTO_EXTRA)
			s->defaults.extra[real][s->defaults.nextra[real]++] = uuid;
}

static int take_defaults(struct perfetto *p, struct perfetto_sequence *s,
			 struct protobuf_view message)
{
	struct protobuf_field f, of;

	memset(&s->defaults, 0, sizeof s->defaults);
	while (protobuf_next(&message, &f) > 0) {
		if (f.number == DEFAULTS_CLOCK)
			s->defaults.clock = (uint32_t)f.value;
		else if (f.number == DEFAULTS_PERF_SAMPLE &&
			 perfetto_sample_defaults(p, s, f.bytes))
			return -1;
		else if (f.number == DEFAULTS_TRACK_EVENT)
			while (protobuf_next(&f.bytes, &of) > 0)
				switch (of.number) {
				case EVENT_TRACK:
					s->defaults.track = of.value;
					s->defaults.has_track = true;
					break;
				case EVENT_EXTRA_TRACKS: add_extra(s, false, &of); break;
				case EVENT_EXTRA_REAL_TRACKS: add_extra(s, true, &of); break;
				}
	}
	return 0;
}

/* --- sequences --- */

static struct perfetto_sequence *find_sequence(struct perfetto *p, uint32_t id, uint32_t machine)
{
	uint32_t *number;
	struct perfetto_sequence *s = p->recent_sequence;

	if (s && s->id == id && s->machine == machine)
		return s;
	number = key_map_number(&p->sequence_numbers, (uint64_t)id << 32 | machine);
	if (!number)
		return NULL;
	if (!*number) {
		s = calloc(1, sizeof *s);
		if (!s || buffer_append(&p->sequences, &s, sizeof s)) {
			free(s);
			return NULL;
		}
		*number = s->number = (uint32_t)(p->sequences.size / sizeof s);
		s->id = id;
		s->machine = machine;
		p->counts.sequences += id != 0;
	}
	memcpy(&s, p->sequences.data + (*number - 1) * sizeof s, sizeof s);
	p->recent_sequence = s;
	return s;
}

static void clear_state(struct perfetto_sequence *s)
{
	for (unsigned i = 0; s->interned && i < INTERNED_KINDS; i++)
		idmap_clear(&s->interned[i]);
	memset(&s->defaults, 0, sizeof s->defaults);
	s->has_thread = false;
	s->generation++;
	s->valid = true;
}

/* Add the gap of the packets left out. */
static int end_skipped(struct perfetto *p, struct perfetto_sequence *s)
{
	struct gap gap = {
		.reason = GAP_LOST, .unit = GAP_PACKETS, .count = s->skipped, .offset = NO_OFFSET};

	if (!s->skipped)
		return 0;
	s->skipped = 0;
	return perfetto_keep_gap(p, s->skipped_time, &gap, -1);
}

/* Get the time of a packet whose state may be missing, or one close to it. */
static uint64_t perfetto_packets_time_of(struct perfetto *p, struct perfetto_sequence *s,
					 const struct perfetto_packet *packet)
{
	uint32_t clock = packet->clock ? packet->clock : s->defaults.clock;
	uint64_t time = packet->time;

	if (packet->has_time &&
	    (clock < CLOCK_OF_SEQUENCE_FIRST || clock > CLOCK_OF_SEQUENCE_LAST) &&
	    perfetto_clock_usable(p, s, clock) &&
	    perfetto_time(p, s, clock ? clock : CLOCK_BOOTTIME_ID, &time))
		return time;
	return s->last_time ? s->last_time : p->last;
}

/* Add a gap where packets of the sequence were lost before this one. */
static int perfetto_packets_lost(struct perfetto *p, struct perfetto_sequence *s,
				 const struct perfetto_packet *packet)
{
	struct gap gap = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};

	return perfetto_keep_gap(p, perfetto_packets_time_of(p, s, packet), &gap, -1);
}

int perfetto_sequence(struct perfetto *p, struct perfetto_packet *packet,
		      struct perfetto_sequence **sequence, bool *skip)
{
	struct perfetto_sequence *s = find_sequence(p, packet->sequence, packet->machine);

	if (!s)
		return -1;
	*sequence = s;
	*skip = false;
	if (packet->dropped && !packet->first) {
		/* before the first packet that was read the recording may not have begun */
		if (s->seen && perfetto_packets_lost(p, s, packet))
			return -1;
		s->valid = false;
	}
	s->seen = true;
	if (packet->cleared || packet->flags & STATE_CLEARED) {
		clear_state(s);
		if (end_skipped(p, s))
			return -1;
	}
	if (packet->flags & STATE_NEEDED && !s->valid) {
		if (!s->skipped++)
			s->skipped_time = perfetto_packets_time_of(p, s, packet);
		*skip = true;
		return 0;
	}
	if (packet->has_defaults && take_defaults(p, s, packet->defaults))
		return -1;
	return __builtin_expect(packet->has_interned, 0) ? take_interned(p, s, packet->interned)
							 : 0;
}

static struct perfetto_sequence *sequence_at(const struct perfetto *p, size_t at)
{
	struct perfetto_sequence *s;

	memcpy(&s, p->sequences.data + at, sizeof s);
	return s;
}

int perfetto_sequences_end(struct perfetto *p)
{
	for (size_t at = 0; at < p->sequences.size; at += sizeof(struct perfetto_sequence *))
		if (end_skipped(p, sequence_at(p, at)))
			return -1;
	return 0;
}

void perfetto_sequences_free(struct perfetto *p)
{
	for (size_t at = 0; at < p->sequences.size; at += sizeof(struct perfetto_sequence *)) {
		struct perfetto_sequence *s = sequence_at(p, at);

		for (unsigned i = 0; s->interned && i < INTERNED_KINDS; i++)
			idmap_free(&s->interned[i]);
		free(s->interned);
		free(s->clocks);
		free(s);
	}
	buffer_free(&p->sequences);
	key_map_free(&p->sequence_numbers);
}

/*
 * The fields that are known, and which of them the stream does not contain: these are counted, and
 * named in the remark at the end.
 *
 * Source: protos/perfetto/trace of the project perfetto, of August 2026 (names and numbers only).
 */

bool perfetto_table_field(struct text_span *row, uint32_t *number, struct text_span *name,
			  struct text_span *kind)
{
	struct text_span field = span_take_word(row);
	const char *equal = memchr(field.at, '=', span_size(field));
	const char *colon = memchr(field.at, ':', span_size(field));

	*number = equal ? (uint32_t)strtoul(field.at, NULL, 10) : *number + 1;
	*name = (struct text_span){equal ? equal + 1 : field.at, colon ? colon : field.end};
	*kind = (struct text_span){colon ? colon + 1 : field.end, field.end};
	return span_size(field);
}

/* Read a row of perfetto_messages, whose names are the first in p->names. */
static int read_message(struct perfetto *p, unsigned m)
{
	const char *row = perfetto_messages[m];
	struct text_span rest = {row, row + strlen(row)}, name, kind;
	uint32_t number = 0;

	span_take_word(&rest);
	while (perfetto_table_field(&rest, &number, &name, &kind)) {
		uint32_t text = intern(&p->names, name.at, span_size(name)), message = 0;

		if (span_size(kind) > 1)
			message = intern_find(&p->names, kind.at, span_size(kind));
		if (text == INTERN_NONE || ARRAY_REACH(p->known[m].field, p->known[m].n, number))
			return -1;
		p->known[m].field[number] =
			(struct perfetto_field){.name = intern_data(&p->names, text),
						.message = (uint8_t)message,
						.kind = message		  ? 'm'
							: span_size(kind) ? *kind.at
									  : 0};
	}
	return 0;
}

int perfetto_tables_read(struct perfetto *p)
{
	for (unsigned m = 0; m < PERFETTO_MESSAGES; m++)
		if (intern(&p->names, perfetto_messages[m], strcspn(perfetto_messages[m], " ")) ==
		    INTERN_NONE)
			return -1;
	for (unsigned m = 0; m < PERFETTO_MESSAGES; m++)
		if (read_message(p, m))
			return -1;
	return 0;
}

static void perfetto_check(struct perfetto *p, enum perfetto_message m,
			   struct protobuf_view message);

void perfetto_check_field(struct perfetto *p, enum perfetto_message m,
			  const struct protobuf_field *f)
{
	const struct perfetto_field *known = perfetto_field_of(p, m, f->number);

	/* no field has the number 0 */
	if (!known->name || known->kind == '-' ||
	    (known->kind == 'm' && f->wire != PROTOBUF_LENGTH))
		p->counts.left_out[m][f->number < PERFETTO_FIELDS ? f->number : 0]++;
	else if (known->kind == 'm')
		perfetto_check(p, (enum perfetto_message)known->message, f->bytes);
}

/* The same of all fields of a message. */
static void perfetto_check(struct perfetto *p, enum perfetto_message m,
			   struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		perfetto_check_field(p, m, &f);
}

void perfetto_check_packet(struct perfetto *p, const struct perfetto_packet *packet)
{
	const struct perfetto_field *payload = perfetto_field_of(p, MESSAGE_PACKET, packet->kind);

	if (payload->kind == 'm')
		perfetto_check(p, (enum perfetto_message)payload->message, packet->payload);
	if (packet->has_interned)
		perfetto_check(p, MESSAGE_INTERNED, packet->interned);
	if (packet->has_defaults)
		perfetto_check(p, MESSAGE_DEFAULTS, packet->defaults);
}

/* Append the name of a field and how many there were. */
static int append_field(const struct perfetto *p, struct buffer *b, enum perfetto_message m,
			unsigned number)
{
	const char *known = perfetto_field_of(p, m, number)->name;
	uint64_t count = p->counts.left_out[m][number];

	if (buffer_printf(b, "%s%s.", b->size ? ", " : "", intern_data(&p->names, m)))
		return -1;
	if (known)
		return buffer_printf(b, "%s (%" PRIu64 ")", known, count);
	return number ? buffer_printf(b, "%u (%" PRIu64 ")", number, count)
		      : buffer_printf(b, "others (%" PRIu64 ")", count);
}

/* Print a remark with the fields in a text, and begin the next text. */
static int print_fields(const struct perfetto *p, struct buffer *b, uint64_t *count)
{
	if (buffer_u8(b, 0))
		return -1;
	warn_count(p->input->name, *count,
		   "{field|fields} {was|were} left out, by name or number: %s",
		   (const char *)b->data);
	b->size = 0;
	*count = 0;
	return 0;
}

/* Print the fields that are left out: their number and the first names, or with --verbose all names
 * in as many remarks as they need. */
void perfetto_print_left_out(const struct perfetto *p)
{
	enum {
		TEXT_SHORT = 100,
		TEXT_MOST = 300
	}; /* before the last name: a remark has 512 bytes */
	bool all = p->input->decoding->verbose;
	struct buffer b = {0};
	uint64_t count = 0, more = 0;
	int failed = 0;

	for (enum perfetto_message m = 0; m < PERFETTO_MESSAGES; m++)
		for (unsigned i = 0; i < PERFETTO_FIELDS && !failed; i++) {
			uint64_t n = p->counts.left_out[m][i];

			if (n && all && b.size > TEXT_MOST)
				failed = print_fields(p, &b, &count);
			count += n;
			if (n && !all && b.size > TEXT_SHORT)
				more++;
			else if (n && !failed)
				failed = append_field(p, &b, m, i);
		}
	if (!failed && more)
		failed = buffer_printf(&b, ", and %" PRIu64 " more (--verbose names them)", more);
	if (!failed && count)
		print_fields(p, &b, &count);
	buffer_free(&b);
}

/*
 * Packets that are neither events of tracks nor of ftrace: statistics of the system and of
 * processes as counters, Android's log, triggers and events of the tracing service as instants,
 * losses of the tracing service as gaps.
 */

/* SysStats, ProcessStats, TraceStats, AndroidLogPacket, PackagesList */
enum {
	SYS_MEMINFO = 1,
	SYS_VMSTAT = 2,
	SYS_CPU = 3,
	SYS_FORKS = 4,
	SYS_IRQS = 5,
	SYS_IRQ = 6,
	SYS_SOFTIRQS = 7,
	SYS_SOFTIRQ = 8,
	SYS_DEVFREQ = 10,
	SYS_CPUFREQ = 11,
	SYS_BUDDY = 12,
	SYS_DISK = 13,
	SYS_PSI = 14,
	SYS_THERMAL = 15,
	SYS_CPUIDLE = 16,
	SYS_GPUFREQ = 17,
	SYS_SLAB = 18,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	THERMAL_TYPE = 3,
	CPU_NUMBER = 1,
	CPUIDLE_ENTRY = 2,
	BUDDY_ZONE = 2,
	BUDDY_PAGES = 3,
	STATS_PROCESS = 1,
	STATS_PID = 1,
	TRACE_BUFFER = 1,
	BUFFER_LOST_PACKETS = 19,
	BUFFER_OVERWRITTEN = 3,
	LOG_EVENT = 1,
	LOG_PID = 2,
	LOG_TID = 3,
	LOG_TIME = 5,
	PACKAGE = 1,
	PACKAGE_NAME = 1,
	PACKAGE_UID = 2,
	PACKAGE_VERSION = 5,
};

int perfetto_keep_counter(struct perfetto *p, uint64_t time, uint32_t name, int32_t pid,
			  int32_t cpu, uint64_t value)
{
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_COUNTER, .pid = pid, .tid = -1, .cpu = cpu, .name = name};
	struct perfetto_record r = {.kind = PERFETTO_COUNTER, .flags = PERFETTO_VALUE};
	uint32_t number = perfetto_other_track(p, &key);

	if (!number)
		return -1;
	r.track = number - 1;
	p->scratch.arguments.size = 0;
	return perfetto_keep(p, time, &r, value);
}

/* --- statistics of the system --- */

/* Name a counter of a kind by its number, which is the name if the counter is not known. */
static void perfetto_packets_numbered_name(const struct perfetto *p, char name[128],
					   const char *kind, enum perfetto_message values,
					   uint64_t number)
{
	const char *known = perfetto_field_of(p, values, number)->name;

	if (known)
		snprintf(name, 128, "%s %s", kind, known);
	else
		snprintf(name, 128, "%s %d", kind, (int)number);
}

/* Keep a value with a key: a number that names a counter, or a text. */
static int keep_pair(struct perfetto *p, uint64_t time, uint32_t field,
		     struct protobuf_view message)
{
	struct protobuf_view key = {NULL, NULL}, type = {NULL, NULL};
	struct protobuf_field f;
	uint64_t number = 0, value = 0;
	char name[128];

	while (protobuf_next(&message, &f) > 0) {
		if (f.number == PAIR_KEY) {
			number = f.value;
			key = f.bytes;
		} else if (f.number == PAIR_VALUE) {
			value = f.value;
		} else if (field == SYS_THERMAL && f.number == THERMAL_TYPE) {
			type = f.bytes;
		}
	}
	if (protobuf_size(type))
		key = type;
	if (field == SYS_MEMINFO)
		perfetto_packets_numbered_name(p, name, "meminfo", VALUES_MEMINFO, number);
	else if (field == SYS_VMSTAT)
		perfetto_packets_numbered_name(p, name, "vmstat", VALUES_VMSTAT, number);
	else if (field == SYS_PSI)
		perfetto_packets_numbered_name(p, name, "psi", VALUES_PSI, number);
	else
		snprintf(name, sizeof name, "%s %.*s", field == SYS_DEVFREQ ? "devfreq" : "thermal",
			 (int)(protobuf_size(key) < 100 ? protobuf_size(key) : 100),
			 key.at ? (const char *)key.at : "");
	return perfetto_keep_counter(p, time, writer_text(p->w, name), -1, -1, value);
}

/* Keep the times of a CPU, in ns. */
static int keep_cpu(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	static const char *const names[] = {NULL,	   NULL,       "cpu user",   "cpu nice",
					    "cpu system",  "cpu idle", "cpu iowait", "cpu irq",
					    "cpu softirq", "cpu steal"};
	struct protobuf_view rest = message;
	int32_t cpu = 0;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == CPU_NUMBER)
			cpu = f.value < UINT16_MAX ? (int32_t)f.value : -1;
	while (protobuf_next(&message, &f) > 0) {
		if (f.number < sizeof names / sizeof *names && names[f.number] &&
		    perfetto_keep_counter(p, time, writer_text(p->w, names[f.number]), -1, cpu,
					  f.value))
			return -1;
	}
	return 0;
}

/* Get the text of a field of a message; empty: there is none. At most 100 bytes are used. */
static void perfetto_packets_text_of(struct protobuf_view message, uint32_t number, char text[101])
{
	struct protobuf_field f;

	text[0] = '\0';
	while (protobuf_next(&message, &f) > 0)
		if (f.number == number && f.wire == PROTOBUF_LENGTH)
			snprintf(text, 101, "%.*s",
				 (int)(protobuf_size(f.bytes) < 100 ? protobuf_size(f.bytes) : 100),
				 (const char *)f.bytes.at);
}

/* Keep the numbers of a named thing: a counter for each field. */
static int keep_fields(struct perfetto *p, uint64_t time, enum perfetto_message m, const char *what,
		       struct protobuf_view message)
{
	struct protobuf_field f;
	char of[101], name[160];

	perfetto_packets_text_of(message, PAIR_KEY, of);
	while (protobuf_next(&message, &f) > 0) {
		const char *known = perfetto_field_of(p, m, f.number)->name;

		if (f.number == PAIR_KEY || !known)
			continue;
		snprintf(name, sizeof name, "%s %s %s", what, of, known);
		if (perfetto_keep_counter(p, time, writer_text(p->w, name), -1, -1, f.value))
			return -1;
	}
	return 0;
}

/* Keep how often an interrupt occurred: {number, count}. */
static int keep_interrupt(struct perfetto *p, uint64_t time, bool soft,
			  struct protobuf_view message)
{
	uint64_t number = 0, count = 0;
	struct protobuf_field f;
	char name[40];

	while (protobuf_next(&message, &f) > 0)
		if (f.number == PAIR_KEY)
			number = f.value;
		else if (f.number == PAIR_VALUE)
			count = f.value;
	if (soft && softirq_name(number))
		snprintf(name, sizeof name, "softirq %s", softirq_name(number));
	else
		snprintf(name, sizeof name, "%s %d", soft ? "softirq" : "irq", (int)number);
	return perfetto_keep_counter(p, time, writer_text(p->w, name), -1, -1, count);
}

/* Keep the free pages of a zone of memory by their order. */
static int keep_buddy(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	char node[101], zone[101], name[256];
	unsigned order = 0;
	struct protobuf_field f;
	uint64_t value;

	perfetto_packets_text_of(message, PAIR_KEY, node);
	perfetto_packets_text_of(message, BUDDY_ZONE, zone);
	while (protobuf_next(&message, &f) > 0) {
		struct protobuf_view list = f.bytes;

		if (f.number != BUDDY_PAGES)
			continue;
		while (protobuf_each(&f, &list, &value)) {
			snprintf(name, sizeof name, "buddy %s %s order %u", node, zone, order++);
			if (perfetto_keep_counter(p, time, writer_text(p->w, name), -1, -1, value))
				return -1;
		}
	}
	return 0;
}

/* Keep how long a CPU was in each idle state, in us. */
static int keep_cpuidle(struct perfetto *p, uint64_t time, struct protobuf_view message)
{
	struct protobuf_view rest = message;
	struct protobuf_field f, entry;
	char state[101], name[128];
	int32_t cpu = 0;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == CPU_NUMBER)
			cpu = f.value < UINT16_MAX ? (int32_t)f.value : -1;
	while (protobuf_next(&message, &f) > 0) {
		uint64_t value = 0;

		if (f.number != CPUIDLE_ENTRY || f.wire != PROTOBUF_LENGTH)
			continue;
		perfetto_packets_text_of(f.bytes, PAIR_KEY, state);
		while (protobuf_next(&f.bytes, &entry) > 0)
			if (entry.number == PAIR_VALUE)
				value = entry.value;
		snprintf(name, sizeof name, "cpuidle %s", state);
		if (perfetto_keep_counter(p, time, writer_text(p->w, name), -1, cpu, value))
			return -1;
	}
	return 0;
}

/* Keep a field of SysStats that few traces have. */
static int sys_rare(struct perfetto *p, uint64_t time, struct protobuf_field *f, unsigned *gpu)
{
	struct protobuf_view list = f->bytes;
	uint64_t value;
	char name[40];

	switch (f->number) {
	case SYS_IRQ:
	case SYS_SOFTIRQ: return keep_interrupt(p, time, f->number == SYS_SOFTIRQ, f->bytes);
	case SYS_BUDDY: return keep_buddy(p, time, f->bytes);
	case SYS_DISK: return keep_fields(p, time, MESSAGE_DISK, "disk", f->bytes);
	case SYS_CPUIDLE: return keep_cpuidle(p, time, f->bytes);
	case SYS_SLAB: return keep_fields(p, time, MESSAGE_SLAB, "slab", f->bytes);
	case SYS_GPUFREQ:
		while (protobuf_each(f, &list, &value)) {
			snprintf(name, sizeof name, "gpufreq %u", (*gpu)++);
			if (perfetto_keep_counter(p, time, writer_text(p->w, name), -1, -1, value))
				return -1;
		}
		return 0;
	}
	return 0;
}

static int sys_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload, list;
	int32_t cpu = 0;
	unsigned gpu = 0;
	struct protobuf_field f;
	uint64_t value;
	int failed = 0;

	while (!failed && protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case SYS_MEMINFO:
		case SYS_VMSTAT:
		case SYS_DEVFREQ:
		case SYS_PSI:
		case SYS_THERMAL: failed = keep_pair(p, packet->time, f.number, f.bytes); break;
		case SYS_CPU: failed = keep_cpu(p, packet->time, f.bytes); break;
		case SYS_FORKS:
		case SYS_IRQS:
		case SYS_SOFTIRQS:
			failed = perfetto_keep_counter(
				p, packet->time,
				writer_text(p->w, f.number == SYS_FORKS	 ? "forks"
						  : f.number == SYS_IRQS ? "irqs"
									 : "softirqs"),
				-1, -1, f.value);
			break;
		case SYS_CPUFREQ:
			for (list = f.bytes; !failed && protobuf_each(&f, &list, &value);)
				failed = perfetto_keep_counter(p, packet->time,
							       writer_text(p->w, "cpufreq"), -1,
							       cpu++, value);
			break;
		default: failed = sys_rare(p, packet->time, &f, &gpu);
		}
	return failed;
}

/* --- statistics of processes --- */

static int process_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload, process;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		int32_t pid = -1;

		if (f.number != STATS_PROCESS || f.wire != PROTOBUF_LENGTH)
			continue;
		for (process = f.bytes; protobuf_next(&process, &f) > 0;) {
			const struct perfetto_field *of =
				perfetto_field_of(p, MESSAGE_PROCESS, f.number);

			if (f.number == STATS_PID)
				pid = perfetto_take_id(f.value);
			else if (of->name && of->kind != '-' &&
				 perfetto_keep_counter(p, packet->time, writer_text(p->w, of->name),
						       pid, -1, f.value))
				return -1;
		}
	}
	return 0;
}

/* --- losses --- */

/* Keep a gap for what the buffers lost. The statistics count from the start of the trace. */
static int trace_stats(struct perfetto *p, const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload, buffer;
	struct gap gap = {.offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};
	struct protobuf_field f;
	uint64_t lost = 0, before = p->counts.lost_packets;

	while (protobuf_next(&rest, &f) > 0) {
		if (f.number != TRACE_BUFFER)
			continue;
		for (buffer = f.bytes; protobuf_next(&buffer, &f) > 0;)
			if ((f.number == BUFFER_LOST_PACKETS || f.number == BUFFER_OVERWRITTEN) &&
			    __builtin_add_overflow(lost, f.value, &lost))
				lost = UINT64_MAX - 1;
	}
	if (lost <= before)
		return 0;
	p->counts.lost_packets = lost;
	gap.count = lost - before;
	return perfetto_keep_gap(p, packet->time ? packet->time : p->last, &gap, -1);
}

/* --- Android's log --- */

/* Keep an instant of a thread, with the arguments that were appended. pid, tid: -1, none. */
static int keep_instant(struct perfetto *p, uint64_t time, int32_t pid, int32_t tid,
			const char *name, const char *category)
{
	struct perfetto_track_key key = {
		.kind = PERFETTO_OF_THREAD, .pid = pid, .tid = tid, .cpu = -1};
	struct perfetto_record r = {.kind = PERFETTO_INSTANT,
				    .track = perfetto_other_track(p, &key) - 1,
				    .name = writer_text(p->w, name),
				    .category = writer_text(p->w, category)};

	return r.track == UINT32_MAX || perfetto_learn(p, r.name) ? -1
								  : perfetto_keep(p, time, &r, 0);
}

static int keep_log_event(struct perfetto *p, struct perfetto_sequence *s, uint64_t time,
			  struct protobuf_view message)
{
	int32_t pid = -1, tid = -1;
	struct protobuf_field f;
	bool has_time = false;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LOG_PID: pid = perfetto_take_id(f.value); break;
		case LOG_TID: tid = perfetto_take_id(f.value); break;
		case LOG_TIME:
			time = f.value;
			has_time = true;
			break;
		default:
			if (perfetto_argument_field(
				    p, perfetto_field_of(p, MESSAGE_LOG_EVENT, f.number), &f))
				return -1;
		}
	if (has_time && !perfetto_time(p, s, CLOCK_REALTIME_ID, &time))
		return 0;
	return keep_instant(p, time, pid, tid, "android_log", "log");
}

static int android_log(struct perfetto *p, struct perfetto_sequence *s,
		       const struct perfetto_packet *packet)
{
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == LOG_EVENT && f.wire == PROTOBUF_LENGTH &&
		    keep_log_event(p, s, packet->time, f.bytes))
			return -1;
	return 0;
}

/* --- triggers, events of the tracing service --- */

/* Keep a packet as an instant, with its fields as arguments. */
static int keep_packet(struct perfetto *p, const struct perfetto_packet *packet)
{
	const struct perfetto_field *payload = perfetto_field_of(p, MESSAGE_PACKET, packet->kind);
	struct protobuf_view rest = packet->payload;
	struct protobuf_field f;

	p->scratch.arguments.size = 0;
	while (protobuf_next(&rest, &f) > 0)
		if (perfetto_argument_field(p, perfetto_field_of(p, payload->message, f.number),
					    &f))
			return -1;
	return keep_instant(p, packet->has_time ? packet->time : p->last, -1, -1, payload->name,
			    "tracing");
}

/* --- packages --- */

/* Append the packages to the text of a META: lines "NAME UID VERSION". */
static int packages(struct perfetto *p, const struct perfetto_packet *packet)
{
	enum { NAME_MOST = 256 };
	struct protobuf_view rest = packet->payload, package;
	struct protobuf_field f;

	while (protobuf_next(&rest, &f) > 0) {
		struct protobuf_view name = {NULL, NULL};
		uint64_t uid = 0, version = 0;

		if (f.number != PACKAGE || f.wire != PROTOBUF_LENGTH)
			continue;
		for (package = f.bytes; protobuf_next(&package, &f) > 0;)
			switch (f.number) {
			case PACKAGE_NAME: name = f.bytes; break;
			case PACKAGE_UID: uid = f.value; break;
			case PACKAGE_VERSION: version = f.value; break;
			}
		if (buffer_append(&p->packages, name.at ? (const void *)name.at : "",
				  protobuf_size(name) < NAME_MOST ? protobuf_size(name)
								  : NAME_MOST) ||
		    buffer_u8(&p->packages, ' ') || buffer_decimal(&p->packages, uid) ||
		    buffer_u8(&p->packages, ' ') || buffer_signed(&p->packages, (int64_t)version) ||
		    buffer_u8(&p->packages, '\n'))
			return -1;
	}
	return 0;
}

int perfetto_other_packet(struct perfetto *p, struct perfetto_sequence *s,
			  const struct perfetto_packet *packet)
{
	switch (packet->kind) {
	case PACKET_SYS_STATS: return sys_stats(p, packet);
	case PACKET_PROCESS_STATS: return process_stats(p, packet);
	case PACKET_TRACE_STATS: return trace_stats(p, packet);
	case PACKET_ANDROID_LOG: return android_log(p, s, packet);
	case PACKET_TRIGGER:
	case PACKET_CLONE_TRIGGER:
	case PACKET_SERVICE_EVENT: return keep_packet(p, packet);
	case PACKET_PACKAGES: return packages(p, packet);
	case PACKET_PROFILE: return perfetto_heap_profile(p, s, packet);
	case PACKET_MODULE_SYMBOLS: return perfetto_module_symbols(p, packet);
	case PACKET_FRAME_TIMELINE: return perfetto_frame_timeline(p, packet);
	}
	return 0;
}

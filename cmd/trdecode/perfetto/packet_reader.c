#include "cmd/trdecode/perfetto/packet_reader.h"

#include <stdlib.h>

#include "common/formats/perfetto.h"

enum {
	READ = 256 * 1024,
	PACKET_MOST = 64 << 20,
	RESYNC_MOST = 64 * 1024, /* bytes of a packet that is found after damage */
	HEADER_MOST = 11,	 /* bytes of a field's key and length */
	PAYLOAD_LAST = 2000,	 /* largest number of a payload's field */
	FIELDS_MOST = 64,	 /* of a message that are looked at: packets may overlap */
};

int packet_reader_open(struct packet_reader *r, const uint8_t *head, size_t n)
{
	r->capacity = n > READ ? n : READ;
	r->data = malloc(r->capacity);
	if (!r->data)
		return -1;
	if (n)
		memcpy(r->data, head, n);
	r->begin = 0;
	r->filled = n;
	return 0;
}

void packet_reader_close(struct packet_reader *r)
{
	free(r->data);
	r->data = NULL;
}

static size_t have(const struct packet_reader *r)
{
	return r->filled - r->begin;
}

static struct protobuf_view view(const struct packet_reader *r)
{
	return (struct protobuf_view){r->data + r->begin, r->data + r->filled};
}

/* Make room for n bytes at begin; the buffer at most doubles, since n is no evidence of data. */
static int make_room(struct packet_reader *r, size_t n)
{
	uint8_t *data;

	if (r->begin) {
		memmove(r->data, r->data + r->begin, have(r));
		r->filled -= r->begin;
		r->begin = 0;
	}
	if (n <= r->capacity || r->filled < r->capacity)
		return 0;
	data = realloc(r->data, 2 * r->capacity);
	if (!data)
		return -1;
	r->data = data;
	r->capacity *= 2;
	return 0;
}

/* Read until there are n bytes, fewer only at the end. -1: *e is filled. */
static int read_more(struct packet_reader *r, size_t n, struct error *e)
{
	while (have(r) < n && !r->ended) {
		ssize_t got;

		if (r->begin + n > r->capacity && make_room(r, n))
			return error_no_memory(e);
		got = r->read(r->ctx, r->data + r->filled, r->capacity - r->filled, e);
		if (got < 0)
			return -1;
		r->ended = !got;
		r->filled += (size_t)got;
	}
	return 0;
}

static inline int need(struct packet_reader *r, size_t n, struct error *e)
{
	return have(r) < n ? read_more(r, n, e) : 0;
}

void packet_skip(struct packet_reader *r, size_t size)
{
	r->begin += size;
	r->offset += size;
}

enum packet_got packet_next(struct packet_reader *r, struct protobuf_view *message, size_t *size,
			    struct error *e)
{
	struct protobuf_view rest;
	uint64_t length;
	size_t header;

	if (need(r, HEADER_MOST, e))
		return PACKET_FAILED;
	if (!have(r))
		return PACKET_ENDED;
	rest = view(r);
	if (*rest.at != (TRACE_PACKET << 3 | PROTOBUF_LENGTH))
		goto bad;
	rest.at++;
	if (!protobuf_varint(&rest, &length) || length > PACKET_MOST) {
		error_set(e, r->name, r->offset, "a packet with an impossible length");
		return PACKET_BAD;
	}
	header = (size_t)(rest.at - r->data) - r->begin;
	if (need(r, header + (size_t)length, e))
		return PACKET_FAILED;
	if (have(r) < header + length) {
		error_set(e, r->name, r->offset, "truncated: a packet of %llu bytes has %zu",
			  (unsigned long long)length, have(r) - header);
		return PACKET_BAD;
	}
	message->at = r->data + r->begin + header;
	message->end = message->at + length;
	*size = header + (size_t)length;
	return PACKET_GOT;
bad:
	error_set(e, r->name, r->offset, "no packet");
	return PACKET_BAD;
}

/* --- payloads --- */

/* A payload that is read. wires: of its fields from 1 on, 'n' a number, 'm' a message or text, 'l'
 * a list of numbers, packed or not, 'r' eight bytes, '-' none; NULL: the probe does not look at
 * them. */
struct payload {
	uint32_t number;
	const char *name, *wires;
};

/* Source of the wires: protos/perfetto/trace of the project perfetto. */
static const struct payload *find_payload(uint32_t number)
{
	static const struct payload payloads[] = {
		{0, "no payload", NULL},
		{PACKET_FTRACE, "ftrace_events", "nmnmnnnmnnm"},
		{PACKET_PROCESS_TREE, "process_tree", "mmn"},
		{PACKET_CLOCK_SNAPSHOT, "clock_snapshot", "mn"},
		{PACKET_SYS_STATS, "sys_stats", "mmmnnmnmnmlmmmmmlm"},
		{PACKET_PROCESS_STATS, "process_stats", "mn"},
		{PACKET_TRACK_EVENT, "track_event",
		 "nnlmmm-nnnnl---nn--nmmmmmmmmmnlmmnml-mmmml-rlrrrmm-nmnmnr"},
		{PACKET_TRACE_CONFIG, "trace_config",
		 "mmnnnmmnnnmnnn-nmmnmmmnnm-nnmnn-mmmn-mmnn-nnn-mn"},
		{PACKET_TRACE_STATS, "trace_stats", "mnnnnnnnnnmnnnn-lm"},
		{PACKET_PROFILE, "profile_packet", "mmmmmnn"},
		{PACKET_ANDROID_LOG, "android_log", "mm"},
		{PACKET_PROCESS_DESCRIPTOR, "process_descriptor", "nmnnnmnm"},
		{PACKET_THREAD_DESCRIPTOR, "thread_descriptor", "nnnnmnnn"},
		{PACKET_TRIGGER, "trigger", "mmnn"},
		{PACKET_PACKAGES, "packages_list", "mnn"},
		{PACKET_COMPRESSED, "compressed_packets", NULL},
		{PACKET_STREAMING_PROFILE, "streaming_profile_packet", "lln"},
		{PACKET_TRACK_DESCRIPTOR, "track_descriptor", "nmmmnmmmnmnnmmnmnmnn"},
		{PACKET_MODULE_SYMBOLS, "module_symbols", "mmm"},
		{PACKET_PERF_SAMPLE, "perf_sample", "nnnnnnl--------nnnm"},
		{PACKET_SERVICE_EVENT, "service_event", "nnnnnnmmnnn"},
		{PACKET_FRAME_TIMELINE, "frame_timeline_event", "mmmmm"},
		{PACKET_CLONE_TRIGGER, "clone_snapshot_trigger", "mmnn"},
		{PACKET_ZSTD_COMPRESSED, "zstd_compressed_packets", NULL},
	};

	for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++)
		if (payloads[i].number == number)
			return &payloads[i];
	return NULL;
}

/* The payloads that are known, but not read. */
static const char *const unread[] = {
	[4] = "inode_file_map",
	[5] = "chrome_events",
	[34] = "ftrace_stats",
	[36] = "synchronization_marker",
	[38] = "battery",
	[40] = "power_rails",
	[45] = "system_info",
	[48] = "chrome_benchmark_metadata",
	[49] = "perfetto_metatrace",
	[51] = "chrome_metadata",
	[52] = "gpu_counter_event",
	[53] = "gpu_render_stage_event",
	[57] = "graphics_frame_event",
	[62] = "vulkan_memory_event",
	[63] = "gpu_log",
	[64] = "deobfuscation_mapping",
	[65] = "vulkan_api_event",
	[67] = "cpu_info",
	[68] = "smaps_packet",
	[70] = "initial_display_state",
	[71] = "gpu_mem_total_event",
	[72] = "extension_descriptor",
	[73] = "memory_tracker_snapshot",
	[74] = "streaming_allocation",
	[75] = "streaming_free",
	[77] = "android_energy_estimation_breakdown",
	[78] = "ui_state",
	[82] = "translation_table",
	[83] = "android_game_intervention_list",
	[84] = "statsd_atom",
	[86] = "android_system_property",
	[89] = "trace_uuid",
	[90] = "track_event_range_of_interest",
	[91] = "entity_state_residency",
	[95] = "etw_events",
	[99] = "v8_js_code",
	[100] = "v8_internal_code",
	[101] = "v8_wasm_code",
	[102] = "v8_reg_exp_code",
	[103] = "v8_code_move",
	[107] = "remote_clock_sync",
	[109] = "chrome_trigger",
	[110] = "pixel_modem_events",
	[111] = "pixel_modem_token_database",
	[115] = "kernel_wakelock_data",
	[117] = "generic_kernel_task_state_event",
	[118] = "generic_kernel_cpu_freq_event",
	[119] = "cpu_per_uid_data",
	[120] = "generic_kernel_task_rename_event",
	[122] = "generic_kernel_process_tree",
	[123] = "user_list",
	[124] = "trace_provenance",
	[125] = "protovms",
	[126] = "trace_attributes",
	[127] = "android_aflags",
	[128] = "gpu_info",
	[129] = "generic_gpu_frequency_event",
	[130] = "interrupt_info",
	[131] = "art_process_metadata",
	[132] = "journald_event",
	[134] = "concurrent_session_event",
	[135] = "stack_sample",
};

const char *packet_payload_name(uint32_t number)
{
	const struct payload *payload = find_payload(number);

	if (payload)
		return payload->name;
	return number < sizeof unread / sizeof *unread ? unread[number] : NULL;
}

bool packet_is_read(uint32_t number)
{
	return find_payload(number);
}

/* Test for a wire type of a kind of wires. */
static bool is_wire(char kind, enum protobuf_wire wire)
{
	switch (kind) {
	case 'n': return wire == PROTOBUF_VARINT;
	case 'm': return wire == PROTOBUF_LENGTH;
	case 'r': return wire == PROTOBUF_FIXED64;
	case 'l': return wire == PROTOBUF_LENGTH || wire == PROTOBUF_VARINT;
	}
	return false;
}

/* Test whether a message has fields, of which the first are only such as the wires have. Fields
 * beyond the wires are messages if more is true, else none. */
static bool has_wires(struct protobuf_view message, const char *wires, bool more)
{
	const uint32_t n = (uint32_t)strlen(wires);
	struct protobuf_field f;
	unsigned fields = 0;
	int got = 0;

	for (; fields < FIELDS_MOST && (got = protobuf_next(&message, &f)) > 0; fields++)
		if (!is_wire(f.number <= n ? wires[f.number - 1] : more ? 'm' : '-', f.wire))
			return false;
	return got >= 0 && fields;
}

/* Test whether the first events of ftrace have a time and an event. */
static bool has_ftrace_events(struct protobuf_view bundle)
{
	struct protobuf_field f;
	unsigned events = 0;

	for (unsigned i = 0; i < FIELDS_MOST && protobuf_next(&bundle, &f) > 0; i++)
		if (f.number == BUNDLE_EVENT && (events++, !has_wires(f.bytes, "nnmmn", true)))
			return false;
	return events;
}

bool packet_is_likely(struct protobuf_view packet)
{
	const struct payload *payload = NULL;
	struct protobuf_field f, content = {0};
	bool has_time = false;

	while (protobuf_next(&packet, &f) > 0) {
		const struct payload *known = find_payload(f.number);

		has_time |= f.number == PACKET_TIMESTAMP;
		if (!known || !known->wires)
			continue;
		payload = known;
		content = f;
	}
	if (!payload || !has_wires(content.bytes, payload->wires, false))
		return false;
	return payload->number == PACKET_FTRACE ? has_ftrace_events(content.bytes)
						: has_time || payload->number > 15;
}

/* --- after damage --- */

/* Return the bit of a field that a packet has at most once besides its payload. */
static unsigned field_bit(uint32_t number)
{
	switch (number) {
	case PACKET_UID: return 1;
	case PACKET_TIMESTAMP: return 2;
	case PACKET_SEQUENCE_ID: return 4;
	case PACKET_INTERNED_DATA: return 8;
	case PACKET_SEQUENCE_FLAGS: return 16;
	case PACKET_STATE_CLEARED: return 32;
	case PACKET_PREVIOUS_DROPPED: return 64;
	case PACKET_CLOCK_ID: return 128;
	case PACKET_DEFAULTS: return 256;
	case PACKET_PID: return 512;
	case PACKET_FIRST: return 1024;
	case PACKET_MACHINE: return 2048;
	}
	return 4096; /* the payload */
}

bool packet_is_payload(uint32_t number)
{
	return number && number <= PAYLOAD_LAST && field_bit(number) == 4096;
}

bool packet_is_sound(struct protobuf_view message, bool cut, bool sure)
{
	const unsigned messages = 8 | 256 | 4096;
	struct protobuf_field f;
	unsigned found = 0;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0) {
		unsigned bit = field_bit(f.number);

		if (found & bit || f.number > PAYLOAD_LAST ||
		    f.wire != (bit & messages ? PROTOBUF_LENGTH : PROTOBUF_VARINT))
			return false;
		found |= bit;
	}
	/* the last field may be cut */
	return (cut || (!got && found)) && (!sure || found & 4);
}

bool packet_is_compressed(struct protobuf_view packet)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	uint64_t key, length;

	if (!protobuf_varint(&packet, &key) || !protobuf_varint(&packet, &length) ||
	    protobuf_size(packet) < sizeof zstd)
		return false;
	if (key == (PACKET_ZSTD_COMPRESSED << 3 | PROTOBUF_LENGTH))
		return !memcmp(packet.at, zstd, sizeof zstd);
	return key == (PACKET_COMPRESSED << 3 | PROTOBUF_LENGTH) && (packet.at[0] & 15) == 8 &&
	       (packet.at[0] << 8 | packet.at[1]) % 31 == 0;
}

/* Test for a packet at an offset from begin, and for another one, or the end, after it. */
static bool is_packet(const struct packet_reader *r, bool sequences, size_t at)
{
	struct protobuf_view rest = view(r), message;
	uint64_t length;

	rest.at += at + 1;
	if (!protobuf_varint(&rest, &length) || !length || length > RESYNC_MOST ||
	    length > protobuf_size(rest))
		return false;
	message = (struct protobuf_view){rest.at, rest.at + length};
	if (message.end < rest.end ? *message.end != (TRACE_PACKET << 3 | PROTOBUF_LENGTH)
				   : !r->ended)
		return false;
	return packet_is_sound(message, false, true) || packet_is_compressed(message) ||
	       (!sequences && packet_is_sound(message, false, false) && packet_is_likely(message));
}

int packet_resync(struct packet_reader *r, bool sequences, uint64_t *skipped, struct error *e)
{
	uint64_t start = r->offset;
	size_t at = 1; /* from begin */

	for (;;) {
		const uint8_t *next;

		next = at < have(r) ? memchr(r->data + r->begin + at, '\n', have(r) - at) : NULL;
		at = next ? (size_t)(next - r->data) - r->begin : have(r);
		if (!r->ended && have(r) - at < RESYNC_MOST + HEADER_MOST) {
			packet_skip(r, at);
			at = 0;
			if (need(r, 2 * RESYNC_MOST, e))
				return -1;
			continue;
		}
		if (!next || is_packet(r, sequences, at))
			break;
		at++;
	}
	packet_skip(r, at);
	*skipped = r->offset - start;
	return 0;
}

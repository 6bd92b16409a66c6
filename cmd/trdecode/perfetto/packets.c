/*
 * packets.c - reads the packets of a trace, and passes each to the file that knows its payload
 */
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/trdecode/perfetto/packet_reader.h"
#include "cmd/trdecode/perfetto/perfetto.h"
#include "common/util/io.h"

enum { ZSTD_WINDOW_LOG = 27 }; /* 128 MiB */

void perfetto_damage(struct perfetto *p, const struct perfetto_packet *packet, const char *what)
{
	input_damage(p->input, p->input->name, packet->offset, "%s", what);
}

/* --- packets --- */

static int count_kind(struct perfetto *p, uint32_t kind)
{
	struct perfetto_counts *n = &p->counts;
	uint32_t *number;

	n->packets++;
	if (kind < PERFETTO_KINDS) {
		n->kinds[kind]++;
		return 0;
	}
	number = id_cache_number(&n->far_kinds, &kind, sizeof kind);
	if (!number || (!*number && buffer_u64(&n->far, 0)))
		return -1;
	if (!*number)
		*number = (uint32_t)(n->far.size / 8);
	put_u64(n->far.data + 8 * (*number - 1), get_u64(n->far.data + 8 * (*number - 1)) + 1);
	return 0;
}

/* Take a payload: of several, the one that is read. Returns false if a packet cannot have it. */
static bool take_payload(struct perfetto_packet *packet, const struct protobuf_field *f)
{
	if (packet->kind) {
		bool first_read = packet_is_read(packet->kind);

		/* garbage has any number */
		if ((first_read && packet_is_read(f->number)) || !packet_is_payload(f->number) ||
		    !packet_is_payload(packet->kind))
			return false;
		packet->has_more = true;
		if (first_read || !packet_is_read(f->number))
			return true;
	}
	packet->kind = f->number;
	packet->payload = f->bytes;
	return true;
}

/* Take the fields of a packet. Returns false if the message is damaged. */
static bool take_fields(struct protobuf_view message, struct perfetto_packet *packet)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0) {
		bool is_message = f.wire == PROTOBUF_LENGTH;

		switch (f.number) {
		case PACKET_TIMESTAMP:
			packet->time = f.value;
			packet->has_time = true;
			break;
		case PACKET_SEQUENCE_ID: packet->sequence = (uint32_t)f.value; break;
		case PACKET_SEQUENCE_FLAGS: packet->flags = (uint32_t)f.value; break;
		case PACKET_CLOCK_ID: packet->clock = (uint32_t)f.value; break;
		case PACKET_STATE_CLEARED: packet->cleared = f.value; break;
		case PACKET_PREVIOUS_DROPPED: packet->dropped = f.value; break;
		case PACKET_FIRST: packet->first = f.value; break;
		case PACKET_MACHINE: packet->machine = (uint32_t)f.value; break;
		case PACKET_UID:
		case PACKET_PID: break;
		case PACKET_INTERNED_DATA:
			packet->has_interned = true;
			packet->interned = f.bytes;
			if (!is_message)
				return false;
			break;
		case PACKET_DEFAULTS:
			packet->has_defaults = true;
			packet->defaults = f.bytes;
			if (!is_message)
				return false;
			break;
		default:
			/* a number of a later version; garbage has any */
			if (!is_message && f.number < PERFETTO_KINDS) {
				packet->others++;
				break;
			}
			if (!is_message || !take_payload(packet, &f))
				return false;
		}
	}
	return !got;
}

/* Count the payloads of a packet beside the one that is taken. */
static int count_more(struct perfetto *p, const struct perfetto_packet *packet,
		      struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.wire == PROTOBUF_LENGTH && packet_is_payload(f.number) &&
		    f.bytes.at != packet->payload.at) {
			if (count_kind(p, f.number))
				return -1;
			p->counts.packets--;
		}
	return 0;
}

static int read_packed(struct perfetto *p, const struct perfetto_packet *packet);

/* Test for a payload that describes something, at whatever time. */
static bool is_description(uint32_t kind)
{
	switch (kind) {
	case PACKET_TRACK_DESCRIPTOR:
	case PACKET_THREAD_DESCRIPTOR:
	case PACKET_PROCESS_DESCRIPTOR:
	case PACKET_PROCESS_TREE:
	case PACKET_PACKAGES:
	case PACKET_MODULE_SYMBOLS:
	case PACKET_TRACE_CONFIG: return true;
	}
	return false;
}

/* Test for a packet whose time is used: a description needs none, and its clock may be unknown. */
static bool packet_has_time(struct perfetto *p, struct perfetto_sequence *s,
			    const struct perfetto_packet *packet)
{
	if (!packet->has_time || packet->kind == PACKET_FTRACE)
		return false;
	return packet->kind == PACKET_TRACK_EVENT || !is_description(packet->kind) ||
	       perfetto_clock_usable(p, s, packet->clock ? packet->clock : s->defaults.clock);
}

/* Pass the payload on. */
static int payload_read(struct perfetto *p, struct perfetto_sequence *s,
			struct perfetto_packet *packet)
{
	/* events with a track may have an older form of time */
	if (packet_has_time(p, s, packet)) {
		uint32_t clock = packet->clock ? packet->clock : s->defaults.clock;

		if (perfetto_time(p, s, clock ? clock : CLOCK_BOOTTIME_ID, &packet->time))
			s->last_time = packet->time;
		else if (is_description(packet->kind))
			packet->time = s->last_time;
		else
			return 0;
	} else if (packet->kind != PACKET_TRACK_EVENT) {
		packet->time = s->last_time;
	}
	switch (packet->kind) {
	case PACKET_TRACK_EVENT: return perfetto_track_event(p, s, packet);
	case PACKET_FTRACE:
		return s->id == PERFETTO_DERIVED_SEQUENCE ? 0
							  : perfetto_ftrace_bundle(p, s, packet);
	case PACKET_TRACK_DESCRIPTOR: return perfetto_track_descriptor(p, s, packet);
	case PACKET_THREAD_DESCRIPTOR: return perfetto_thread_descriptor(p, s, packet);
	case PACKET_PROCESS_DESCRIPTOR: return perfetto_process_descriptor(p, packet);
	case PACKET_PROCESS_TREE: return perfetto_process_tree(p, packet);
	case PACKET_PERF_SAMPLE: return perfetto_sample(p, s, packet);
	case PACKET_STREAMING_PROFILE: return perfetto_streaming_profile(p, s, packet);
	case PACKET_TRACE_CONFIG: return 0;
	default: return perfetto_other_packet(p, s, packet);
	}
}

/* Read a message. *bad: it is no packet. */
static int packet_read(struct perfetto *p, struct protobuf_view message, uint64_t offset,
		       bool packed, bool *bad)
{
	struct perfetto_packet packet = {.offset = offset};
	struct perfetto_sequence *s;
	bool skip;

	*bad = !take_fields(message, &packet);
	if (*bad)
		return 0;
	p->counts.left_out[MESSAGE_PACKET][0] += packet.others;
	if (packet.has_more && count_more(p, &packet, message))
		return -1;
	if (packet.kind == PACKET_COMPRESSED || packet.kind == PACKET_ZSTD_COMPRESSED) {
		if (count_kind(p, packet.kind))
			return -1;
		if (!packed)
			return read_packed(p, &packet);
		perfetto_damage(p, &packet, "compressed packets in compressed packets: left out");
		return 0;
	}
	if (packet.kind == PACKET_TRACK_EVENT && perfetto_is_plain(p, &packet)) {
		p->counts.packets++;
		p->counts.kinds[PACKET_TRACK_EVENT]++;
		return payload_read(p, p->recent_sequence, &packet);
	}
	if (count_kind(p, packet.kind) || perfetto_sequence(p, &packet, &s, &skip))
		return -1;
	if (!skip)
		perfetto_check_packet(p, &packet);
	if (packet.kind == PACKET_CLOCK_SNAPSHOT)
		return perfetto_take_clocks(p, s, &packet);
	return skip || !packet.kind ? 0 : payload_read(p, s, &packet);
}

/* Go on after bytes that are no packet. */
static int after_damage(struct perfetto *p, struct packet_reader *r, bool packed)
{
	struct perfetto_loss loss = {.offset = r->offset, .reason = GAP_DAMAGE, .unit = GAP_BYTES};

	if (packet_resync(r, p->counts.sequences, &loss.count, &p->error))
		return -1;
	if (packed)
		loss.offset = NO_OFFSET;
	p->scratch.arguments.size = 0;
	return perfetto_keep_gap(p, p->last, &loss, -1);
}

/* Read all packets. at: of compressed packets the offset of the packet that contains them. */
static int packets_read(struct perfetto *p, struct packet_reader *r,
			const struct perfetto_packet *packed)
{
	struct protobuf_view message;
	struct error e;
	enum packet_got got;
	size_t size;
	bool bad;

	while ((got = packet_next(r, &message, &size, &e)) != PACKET_ENDED) {
		uint64_t offset = packed ? packed->offset : r->offset;

		if (got == PACKET_FAILED) {
			p->error = e;
			return -1;
		}
		if (got == PACKET_GOT) {
			if (packet_read(p, message, offset, packed, &bad))
				return -1;
			if (!bad) {
				packet_skip(r, size);
				continue;
			}
			error_set(&e, p->input->name, offset, "no packet");
		}
		e.offset = offset;
		input_damage_error(p->input, &e);
		if (after_damage(p, r, packed))
			return -1;
	}
	return 0;
}

/* --- compressed packets --- */

struct packed {
	struct perfetto *p;
	const struct perfetto_packet *packet;
	z_stream zlib;
	ZSTD_DStream *zstd; /* NULL: the bytes are zlib's */
	ZSTD_inBuffer in;
	bool done;
};

static ssize_t read_zlib(void *ctx, uint8_t *to, size_t n, struct error *e)
{
	struct packed *z = ctx;
	int got;

	(void)e;
	if (z->done)
		return 0;
	z->zlib.next_out = to;
	z->zlib.avail_out = (uInt)n;
	got = inflate(&z->zlib, Z_NO_FLUSH);
	z->done = got != Z_OK;
	if (got != Z_OK && got != Z_STREAM_END)
		perfetto_damage(z->p, z->packet, "compressed packets are damaged");
	return (ssize_t)(n - z->zlib.avail_out);
}

static ssize_t read_zstd(void *ctx, uint8_t *to, size_t n, struct error *e)
{
	struct packed *z = ctx;
	ZSTD_outBuffer out = {to, n, 0};
	size_t left = 0;

	(void)e;
	while (!z->done && !out.pos) {
		left = ZSTD_decompressStream(z->zstd, &out, &z->in);
		z->done = ZSTD_isError(left) || (z->in.pos == z->in.size && out.pos < out.size);
	}
	if (z->done && left)
		perfetto_damage(z->p, z->packet, "compressed packets are damaged");
	return (ssize_t)out.pos;
}

/* Prepare to unpack. Returns false when out of memory. */
static bool packed_begin(struct packed *z)
{
	const struct protobuf_view *in = &z->packet->payload;

	if (z->packet->kind == PACKET_COMPRESSED) {
		z->zlib.next_in = (Bytef *)(uintptr_t)in->at;
		z->zlib.avail_in = (uInt)protobuf_size(*in);
		return inflateInit(&z->zlib) == Z_OK;
	}
	z->in = (ZSTD_inBuffer){in->at, protobuf_size(*in), 0};
	z->zstd = ZSTD_createDStream();
	return z->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
}

static int read_packed(struct perfetto *p, const struct perfetto_packet *packet)
{
	bool is_zlib = packet->kind == PACKET_COMPRESSED;
	struct packed z = {.p = p, .packet = packet};
	struct packet_reader r = {
		.name = p->input->name, .read = is_zlib ? read_zlib : read_zstd, .ctx = &z};
	int failed = -1;

	if (packed_begin(&z) && !packet_reader_open(&r, NULL, 0))
		failed = packets_read(p, &r, packet);
	packet_reader_close(&r);
	if (is_zlib)
		inflateEnd(&z.zlib);
	ZSTD_freeDStream(z.zstd);
	return failed;
}

/* --- the file --- */

static ssize_t read_file(void *ctx, uint8_t *to, size_t n, struct error *e)
{
	const struct input *in = ctx;
	ssize_t got = io_read(in->fd, to, n);

	return got < 0 ? error_errno(e, in->name, NO_OFFSET, "cannot read") : got;
}

int perfetto_read(struct perfetto *p)
{
	struct input *in = p->input;
	struct packet_reader r = {.name = in->name, .read = read_file, .ctx = in};
	int failed;

	failed = packet_reader_open(&r, in->head, in->head_size) || packets_read(p, &r, NULL) ||
		 perfetto_sequences_end(p) || perfetto_name_frames(p);
	packet_reader_close(&r);
	return failed ? -1 : 0;
}

#include "cmd/trdecode/perfetto/packet_reader.h"

#include <stdlib.h>

#include "common/formats/perfetto.h"

enum {
	READ = 256 * 1024,
	PACKET_MOST = 64 << 20,
	RESYNC_MOST = 64 * 1024, /* bytes of a packet that is found after damage */
	HEADER_MOST = 11,	 /* bytes of a field's key and length */
	PAYLOAD_LAST = 2000,	 /* largest number of a payload's field */
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

/* Test for a packet at an offset from begin, and for another one, or the end, after it. */
static bool is_packet(const struct packet_reader *r, size_t at)
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
	return packet_is_sound(message, false, true);
}

int packet_resync(struct packet_reader *r, uint64_t *skipped, struct error *e)
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
		if (!next || is_packet(r, at))
			break;
		at++;
	}
	packet_skip(r, at);
	*skipped = r->offset - start;
	return 0;
}

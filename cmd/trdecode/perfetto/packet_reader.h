/*
 * packet_reader.h - reads the packets of a trace: from a file, or from a packet that contains
 * compressed packets
 *
 *     trace  = { 0x0a, varint length, message of a TracePacket }
 *
 * The buffer grows as bytes arrive, for packets of at most 64 MiB. Where bytes are no packet, the
 * reader looks for the next one that is beyond doubt: it has a sequence, or contains compressed
 * packets, or in a trace without sequences is like no other message.
 */
#ifndef TR_TRDECODE_PERFETTO_PACKET_READER_H
#define TR_TRDECODE_PERFETTO_PACKET_READER_H

#include <sys/types.h>

#include "common/protobuf/protobuf_reader.h"
#include "common/util/error.h"

struct packet_reader {
	const char *name; /* of the file */
	/* Read at most n bytes. Returns their number, 0 at the end, or -1 with *e filled. */
	ssize_t (*read)(void *ctx, uint8_t *to, size_t n, struct error *e);
	void *ctx;
	uint64_t offset; /* of data[begin] */
	uint8_t *data;
	size_t begin, filled, capacity;
	bool ended;
};

enum packet_got {
	PACKET_FAILED = -1, /* *e is filled */
	PACKET_ENDED,
	PACKET_GOT,
	PACKET_BAD, /* no packet, *e says why; packet_resync goes on */
};

/* Begin with n bytes of the file. -1: out of memory. */
int packet_reader_open(struct packet_reader *r, const uint8_t *head, size_t n);
void packet_reader_close(struct packet_reader *r);
/* Get the next packet without skipping it. The message is valid until the next call; *size: the
 * bytes to skip. */
enum packet_got packet_next(struct packet_reader *r, struct protobuf_view *message, size_t *size,
			    struct error *e);
void packet_skip(struct packet_reader *r, size_t size);
/* Skip bytes up to the next packet. sequences: packets of the trace have one. *skipped: the number
 * of bytes. 0, or -1 with *e filled. */
int packet_resync(struct packet_reader *r, bool sequences, uint64_t *skipped, struct error *e);

/* Get the name of a payload's field. NULL: it is not known. */
const char *packet_payload_name(uint32_t number);
/* Test whether a message of that number can be a payload: garbage has any number. */
bool packet_is_payload(uint32_t number);
/* Test for a payload that the decoder reads. */
bool packet_is_read(uint32_t number);

/* Test whether a message has the fields of a packet, each at most once and with its wire type. cut:
 * its end may be missing. sure: it must have a sequence. */
bool packet_is_sound(struct protobuf_view message, bool cut, bool sure);
/* Test for a packet of compressed packets, which has no sequence: the bytes begin as those of zlib
 * or zstd do. The packet may be cut. */
bool packet_is_compressed(struct protobuf_view packet);
/* Test for a sound packet that no other message of Protocol Buffers is likely to have: a known
 * payload has the fields of its kind. The numbers of some payloads are those of fields that most
 * messages have: these need a time, or events. */
bool packet_is_likely(struct protobuf_view packet);

#endif

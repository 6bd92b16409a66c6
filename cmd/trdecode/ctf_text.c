/*
 * ctf_text.c - the text of a metadata file, which LTTng cuts into packets
 *
 * A packet: u32 magic, 16 bytes UUID, u32 checksum, u32 content size and u32 packet size in bits,
 * u8 compression, encryption and checksum scheme, u8 major, u8 minor; then text.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "ctf_metadata.h"

#define PACKET_MAGIC 0x75d11d57u
#define PLAIN_BEGIN  "/* CTF"

enum { PACKET_HEADER = 37, AT_CONTENT = 24, AT_PACKET = 28, AT_COMPRESSION = 32 };

bool ctf_metadata_is(const uint8_t *data, size_t n)
{
	if (n >= 4 &&
	    (get_uint(data, 4, false) == PACKET_MAGIC || get_uint(data, 4, true) == PACKET_MAGIC))
		return true;
	return n >= strlen(PLAIN_BEGIN) && !memcmp(data, PLAIN_BEGIN, strlen(PLAIN_BEGIN));
}

/* The text of all packets, one behind the other. */
static int unpack(const uint8_t *data, size_t size, const char *file, struct buffer *text,
		  struct error *e)
{
	bool big = get_uint(data, 4, false) != PACKET_MAGIC;
	size_t at = 0;

	while (at < size) {
		const uint8_t *p = data + at;
		uint64_t content, packet;

		if (size - at < PACKET_HEADER)
			return error_set(e, file, at, "a packet of the metadata is cut short");
		if (get_uint(p, 4, big) != PACKET_MAGIC)
			return error_set(e, file, at, "no packet of metadata");
		content = get_uint(p + AT_CONTENT, 4, big) / 8;
		packet = get_uint(p + AT_PACKET, 4, big) / 8;
		if (p[AT_COMPRESSION] || p[AT_COMPRESSION + 1])
			return error_set(e, file, at + AT_COMPRESSION,
					 "compressed or encrypted metadata");
		if (content < PACKET_HEADER || packet < content)
			return error_set(e, file, at + AT_CONTENT,
					 "a packet's sizes contradict each other");
		if (content > size - at) {
			if (buffer_append(text, p + PACKET_HEADER, size - at - PACKET_HEADER))
				return error_no_memory(e);
			return error_set(e, file, size, "a packet of the metadata is cut short");
		}
		if (buffer_append(text, p + PACKET_HEADER, (size_t)content - PACKET_HEADER))
			return error_no_memory(e);
		/* the padding of the last one need not be there */
		at = packet < size - at ? at + (size_t)packet : size;
	}
	return 0;
}

int ctf_metadata_text(const uint8_t *data, size_t size, const char *file, char **text, size_t *n,
		      struct error *e)
{
	struct buffer b = {0};
	int failed = 0;

	*text = NULL;
	*n = 0;
	if (!ctf_metadata_is(data, size))
		return error_set(e, file, 0, "no CTF metadata");
	if (data[0] == '/')
		failed = buffer_append(&b, data, size) ? error_no_memory(e) : 0;
	else
		failed = unpack(data, size, file, &b, e);
	*n = b.size;
	if (buffer_u8(&b, 0)) {
		buffer_free(&b);
		*n = 0;
		return error_no_memory(e);
	}
	*text = (char *)b.data;
	return failed;
}

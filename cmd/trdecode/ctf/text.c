/*
 * text.c - extracts the text of a metadata file, which LTTng divides into packets
 *
 * A packet: u32 magic, 16 bytes UUID, u32 checksum, u32 content size and u32 packet size in bits,
 * u8 compression, encryption and checksum scheme, u8 major, u8 minor; then text.
 *
 * Plain text of TSDL begins with a comment that names the version; some writers leave that comment
 * out. Plain text of version 2 begins with an RS character.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "cmd/trdecode/ctf/metadata.h"

#define PACKET_MAGIC 0x75d11d57u
#define PLAIN_BEGIN  "/* CTF"

enum { PACKET_HEADER = 37, AT_CONTENT = 24, AT_PACKET = 28, AT_COMPRESSION = 32, AT_VERSION = 35 };

static bool is_packets(const uint8_t *data, size_t n)
{
	return n >= 4 && (get_uint(data, 4, false) == PACKET_MAGIC ||
			  get_uint(data, 4, true) == PACKET_MAGIC);
}

static bool has_signature(const uint8_t *data, size_t n)
{
	return n >= strlen(PLAIN_BEGIN) && !memcmp(data, PLAIN_BEGIN, strlen(PLAIN_BEGIN));
}

/* Return the length of the comment at p; 0: no comment begins there. */
static size_t comment_size(const char *p, size_t n)
{
	const char *end = NULL;

	if (n < 2 || p[0] != '/')
		return 0;
	if (p[1] == '*')
		end = memmem(p + 2, n - 2, "*/", 2);
	else if (p[1] == '/')
		end = memchr(p, '\n', n);
	else
		return 0;
	return end ? (size_t)(end - p) + (p[1] == '*' ? 2 : 1) : n;
}

/* Test whether a word that begins a statement follows blanks and comments. */
static bool is_bare(const char *p, size_t n)
{
	static const char *const words[] = {"typealias", "typedef", "trace",   "stream",
					    "event",	 "clock",   "env",     "struct",
					    "enum",	 "variant", "callsite"};
	size_t skip;

	while (n) {
		skip = isspace((unsigned char)*p) ? 1 : comment_size(p, n);
		if (!skip)
			break;
		p += skip;
		n -= skip;
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t size = strlen(words[i]);

		if (n > size && !memcmp(p, words[i], size) &&
		    (isspace((unsigned char)p[size]) || p[size] == '{'))
			return true;
	}
	return false;
}

enum bid ctf_metadata_bid(const uint8_t *data, size_t n)
{
	if (is_packets(data, n) || has_signature(data, n) ||
	    ctf_metadata_is_json((const char *)data, n))
		return BID_HEADER;
	return is_bare((const char *)data, n) ? BID_LIKELY : BID_NONE;
}

/* Require version 1.8 or 2, in the packets or after the signature of plain text. */
static int check_version(const uint8_t *data, size_t size, const char *file, struct error *e)
{
	unsigned major = 1, minor = 8;
	char text[32];
	size_t n = size - 1 < sizeof text - 1 ? size - 1 : sizeof text - 1;

	if (is_packets(data, size) && size >= PACKET_HEADER) {
		major = data[AT_VERSION];
		minor = data[AT_VERSION + 1];
	} else if (has_signature(data, size)) {
		memcpy(text, data, n);
		text[n] = '\0';
		if (sscanf(text, PLAIN_BEGIN " %5u.%5u", &major, &minor) != 2)
			return 0;
	}
	return (major == 1 && minor == 8) || (major == 2 && is_packets(data, size))
		       ? 0
		       : error_set(e, file, 0,
				   "the version is CTF %u.%u: only 1.8 and 2 can be read", major,
				   minor);
}

/* Append the text of all packets. */
static int unpack_text(const uint8_t *data, size_t size, const char *file, struct buffer *text,
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
		/* the file may end before the padding of the last packet */
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
	if (!ctf_metadata_bid(data, size))
		return error_set(e, file, 0, "no CTF metadata");
	if (check_version(data, size, file, e))
		return -1;
	if (is_packets(data, size))
		failed = unpack_text(data, size, file, &b, e);
	else
		failed = buffer_append(&b, data, size) ? error_no_memory(e) : 0;
	*n = b.size;
	if (buffer_u8(&b, 0)) {
		buffer_free(&b);
		*n = 0;
		return error_no_memory(e);
	}
	*text = (char *)b.data;
	return failed;
}

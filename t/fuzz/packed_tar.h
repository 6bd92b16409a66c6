/*
 * packed_tar.h - files that become a tar in memory
 *
 * An input is members, one after the other: u8 length of the name, u16 length of the data, name,
 * data. t/fuzz/pack.sh packs a directory so.
 */
#ifndef TR_FUZZ_PACKED_TAR_H
#define TR_FUZZ_PACKED_TAR_H

#include <string.h>

#include "common/buffer.h"
#include "fuzz.h"

enum { TAR_BLOCK = 512, MEMBERS_MOST = 64 };

/* A tar's header; the checksum is that of the header with blanks in its place. */
static inline void tar_header(uint8_t *h, const uint8_t *name, size_t n, size_t size)
{
	unsigned sum = 0;

	memset(h, 0, TAR_BLOCK);
	memcpy(h, name, n < 99 ? n : 99);
	memcpy(h + 100, "0000644", 8);
	snprintf((char *)h + 124, 12, "%011zo", size);
	memset(h + 148, ' ', 8);
	h[156] = '0';
	memcpy(h + 257, "ustar\00000", 8);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += h[i];
	snprintf((char *)h + 148, 8, "%06o", sum);
}

/* The members as a tar in memory; -1 when there are none. */
static inline int unpack_tar(const uint8_t *data, size_t size)
{
	static const uint8_t zeros[2 * TAR_BLOCK];
	struct buffer tar = {0};
	int fd, members = 0;

	while (size >= 3 && members < MEMBERS_MOST) {
		size_t name = data[0], n = data[1] | (size_t)data[2] << 8;
		uint8_t header[TAR_BLOCK];

		if (name > size - 3)
			name = size - 3;
		if (n > size - 3 - name)
			n = size - 3 - name;
		tar_header(header, data + 3, name, n);
		need(!buffer_append(&tar, header, sizeof(header)) &&
			     !buffer_append(&tar, data + 3 + name, n) &&
			     !buffer_align(&tar, TAR_BLOCK),
		     "out of memory");
		data += 3 + name + n;
		size -= 3 + name + n;
		members++;
	}
	need(!buffer_append(&tar, zeros, sizeof(zeros)), "out of memory");
	fd = members ? memory_file(tar.data, tar.size) : -1;
	buffer_free(&tar);
	return fd;
}

#endif

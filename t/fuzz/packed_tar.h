/*
 * packed_tar.h - files that become a tar in memory
 *
 * An input is members, one after the other: u8 length of the name, u16 length of the data, name,
 * data. t/fuzz/pack.sh packs a directory so.
 */
#ifndef TR_T_FUZZ_PACKED_TAR_H
#define TR_T_FUZZ_PACKED_TAR_H

#include <string.h>

#include "common/util/buffer.h"
#include "t/fuzz/fuzz.h"

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

struct packed_member {
	const uint8_t *name, *data;
	size_t name_size, size;
};

struct member_walk {
	const uint8_t *data;
	size_t size;
	int members;
};

/* The next member; false: there is none. */
static inline bool packed_next(struct member_walk *w, struct packed_member *m)
{
	size_t name, n;

	if (w->size < 3 || w->members == MEMBERS_MOST)
		return false;
	name = w->data[0];
	n = w->data[1] | (size_t)w->data[2] << 8;
	if (name > w->size - 3)
		name = w->size - 3;
	if (n > w->size - 3 - name)
		n = w->size - 3 - name;
	*m = (struct packed_member){w->data + 3, w->data + 3 + name, name, n};
	w->data += 3 + name + n;
	w->size -= 3 + name + n;
	w->members++;
	return true;
}

/* The members as a tar in memory; -1 when there are none. */
static inline int unpack_tar(const uint8_t *data, size_t size)
{
	static const uint8_t zeros[2 * TAR_BLOCK];
	struct member_walk w = {data, size, 0};
	struct packed_member m;
	struct buffer tar = {0};
	int fd;

	while (packed_next(&w, &m)) {
		uint8_t header[TAR_BLOCK];

		tar_header(header, m.name, m.name_size, m.size);
		need(!buffer_append(&tar, header, sizeof(header)) &&
			     !buffer_append(&tar, m.data, m.size) && !buffer_align(&tar, TAR_BLOCK),
		     "out of memory");
	}
	need(!buffer_append(&tar, zeros, sizeof(zeros)), "out of memory");
	fd = w.members ? memory_file(tar.data, tar.size) : -1;
	buffer_free(&tar);
	return fd;
}

#endif

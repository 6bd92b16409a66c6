/* links: cmd/trdecode */
/*
 * uftrace.c - any files as a uftrace directory: decoded, and the stream that comes of it read
 * again, which must be without a fault and hold as many rows as its END says
 *
 * An input is members one behind the other: u8 length of the name, u16 length of the data, name,
 * data. The lowest bits of the last byte choose a shift and segments. t/fuzz/pack.sh packs a
 * directory so.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/merge.h"
#include "common/buffer.h"
#include "decoded.h"

#ifndef DECODER
#define DECODER decoder_uftrace /* lttng.c has another */
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TAR_BLOCK = 512, MEMBERS_MOST = 64 };

/* A tar's header; the checksum is that of the header with blanks in its place. */
static void tar_header(uint8_t *h, const uint8_t *name, size_t n, size_t size)
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
static int make_tar(const uint8_t *data, size_t size)
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
	fd = members ? memfd_create("tar", MFD_CLOEXEC) : -1;
	need(fd < 0 || write(fd, tar.data, tar.size) == (ssize_t)tar.size, "cannot write");
	buffer_free(&tar);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct writer writer;
	struct output none = {.fd = -1};
	struct decoding d = {.writer = &writer, .quiet = true};
	struct input in = {.name = "fuzz",
			   .decoder = &DECODER,
			   .decoding = &d,
			   .next = UINT64_MAX,
			   .fd = -1,
			   .clock_name = "",
			   .reported = 1000}; /* nothing on standard error */
	unsigned choice = size ? data[size - 1] : 0;
	int fd = make_tar(data, size);
	struct error e;

	if (fd < 0)
		return 0;
	in.tree = tree_open_fd(fd, "fuzz", NULL, 0, &e);
	close(fd);
	if (in.tree && in.decoder->probe(&in)) {
		in.shift = choice & 1 ? -1000000000 : choice & 2 ? 1000000000 : 0;
		need(!writer_init(&writer, &none, choice & 4 ? SEGMENT : 0), "out of memory");
		if (!in.decoder->open(&in, &e)) {
			print_facts(&in);
			fd = memfd_create("stream", MFD_CLOEXEC);
			decode(&in, &writer, fd, choice & 4);
		}
		if (in.state)
			in.decoder->close(&in);
		writer_free(&writer);
	}
	tree_close(in.tree);
	return 0;
}

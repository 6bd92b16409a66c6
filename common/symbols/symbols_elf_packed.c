/*
 * symbols_elf_packed.c - unpack the compressed file of a kernel module
 */
#include "common/symbols/symbols_elf.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "common/util/io.h"
#include "common/util/temporary.h"

enum { UNPACKED_MOST = 1 << 30 /* bytes */ };

/* Unpack from one file into another. Returns 0, or -1 if the data are damaged or too large. */
static int unpack_zstd(int from, int to, void *in_data, void *out_data)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {in_data, 0, 0};
	size_t left = 1;
	uint64_t size = 0, at = 0;
	struct error e;

	while (z && left && !ZSTD_isError(left) && size < UNPACKED_MOST) {
		ZSTD_outBuffer out = {out_data, ZSTD_DStreamOutSize(), 0};

		if (in.pos == in.size) {
			ssize_t got = io_read_at(from, in_data, ZSTD_DStreamInSize(), at);

			if (got <= 0)
				break;
			at += (uint64_t)got;
			in = (ZSTD_inBuffer){in_data, (size_t)got, 0};
		}
		left = ZSTD_decompressStream(z, &out, &in);
		if (temporary_write(to, out_data, out.pos, size, &e)) {
			left = 1;
			break;
		}
		size += out.pos;
	}
	ZSTD_freeDStream(z);
	return left ? -1 : 0;
}

/* Have the temporary file with the unpacked content in the place of the file. */
static Elf *open_zstd(struct elf_file *f)
{
	struct error e;
	void *in = malloc(ZSTD_DStreamInSize()), *out = malloc(ZSTD_DStreamOutSize());
	int fd = in && out ? temporary_open(&e) : -1;
	bool unpacked =
		fd >= 0 && lseek(f->fd, 0, SEEK_SET) == 0 && unpack_zstd(f->fd, fd, in, out) == 0;

	free(in);
	free(out);
	if (!unpacked) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	close(f->fd);
	f->fd = fd;
	return elf_begin(fd, ELF_C_READ, NULL);
}

void elf_file_unpack(struct elf_file *f)
{
	static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	unsigned char magic[sizeof zstd];

	elf_end(f->elf);
	/* libdw of Debian 12 reads xz and gzip only */
	if (pread(f->fd, magic, sizeof magic, 0) == sizeof magic &&
	    !memcmp(magic, zstd, sizeof zstd))
		f->elf = open_zstd(f);
	else
		f->elf = dwelf_elf_begin(f->fd);
}

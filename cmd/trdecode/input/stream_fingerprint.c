#include "cmd/trdecode/input/stream_fingerprint.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/bytes.h"
#include "common/util/io.h"

enum {
	WHOLE = 1 << 20, /* files up to this size are read whole */
	PIECE = 4096,	 /* bytes of each piece of a larger file, and the number of pieces */
	PIECES = 64,
	TREE_BYTES = 2 << 20, /* bytes read of all files of a directory together */
	TREE_LEAST = 64,      /* least bytes read of each file */
};

/* Hash the n bytes from offset on, as far as they can be read. */
static uint64_t hash_piece(int fd, uint64_t offset, uint64_t n, uint64_t hash)
{
	uint8_t data[PIECE];

	while (n) {
		ssize_t got = io_read_at(fd, data, n < PIECE ? (size_t)n : PIECE, offset);

		if (got <= 0)
			break;
		hash = hash_bytes(data, (size_t)got, hash);
		offset += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return hash;
}

/* Hash n pieces, spread from the first byte to the last one. */
static uint64_t hash_pieces(int fd, uint64_t offset, uint64_t size, uint64_t n, uint64_t bytes,
			    uint64_t hash)
{
	hash = hash_u64(hash ^ size);
	if (size <= n * bytes)
		return hash_piece(fd, offset, size, hash);
	for (uint64_t i = 0; i < n; i++)
		hash = hash_piece(fd, offset + (size - bytes) / (n - 1) * i, bytes, hash);
	return hash_piece(fd, offset + size - bytes, bytes, hash);
}

static uint64_t hash_member(const struct input *in, const char *name, uint64_t bytes, uint64_t hash)
{
	uint64_t offset, size;
	int fd;

	hash = hash_bytes(name, strlen(name), hash);
	fd = tree_fd(in->tree, name, &offset, &size, NULL);
	if (fd < 0)
		return hash;
	hash = hash_pieces(fd, offset, size, 4, bytes, hash);
	close(fd);
	return hash;
}

static uint64_t hash_tree(const struct input *in, uint64_t hash)
{
	size_t n = tree_count(in->tree);
	uint64_t bytes = TREE_BYTES / 4 / (n ? n : 1);

	if (in->member)
		return hash_member(in, in->member, PIECE, hash);
	bytes = bytes < TREE_LEAST ? TREE_LEAST : bytes > PIECE ? PIECE : bytes;
	for (size_t i = 0; i < n; i++)
		hash = hash_member(in, tree_member(in->tree, i), bytes, hash);
	return hash;
}

static uint64_t hash_content(const struct input *in)
{
	const struct decoder *d = in->decoder;
	uint64_t hash = hash_bytes(d->name, strlen(d->name), 0);
	struct stat st;

	if (d->fingerprint)
		hash = hash_u64(hash ^ d->fingerprint(in));
	if (in->tree)
		return hash_tree(in, hash);
	if (in->fd < 0)
		return hash;
	if (!fstat(in->fd, &st) && S_ISREG(st.st_mode)) {
		uint64_t size = (uint64_t)st.st_size;

		return size <= WHOLE ? hash_piece(in->fd, 0, size, hash_u64(hash ^ size))
				     : hash_pieces(in->fd, 0, size, PIECES, PIECE, hash);
	}
	/* how many bytes beyond these a pipe has given is chance */
	return hash_bytes(in->head, in->head_size < TREE_PROBE ? in->head_size : TREE_PROBE, hash);
}

uint64_t stream_fingerprint(const struct input *inputs, int n, const struct decoding *d)
{
	uint64_t id = d->row_filter ? row_filter_fingerprint(d->row_filter) : 0;

	id = hash_u64(id ^ d->writer->segment_limit);
	id = hash_u64(id ^ (d->max_value ? d->max_value : MAX_VALUE));
	id = hash_u64(id ^ d->clock);
	id = hash_u64(id ^ d->no_unwind);
	for (int i = 0; i < n; i++)
		id = hash_u64(hash_u64(id ^ hash_content(&inputs[i])) ^ (uint64_t)inputs[i].shift);
	return id;
}

/*
 * input.c - inputs: their files (directories, tars, compressed files), formats, times and order
 *
 *     u.data.tar.zst, a tar that is compressed, is the directory u.data: its members are info,
 *     task.txt, default.opts and so on
 */
#include "cmd/trdecode/input.h"

#include <archive.h>
#include <archive_entry.h>
#include <brotli/decode.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <snappy-c.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "cmd/trdecode/bid.h"
#include "cmd/trdecode/input_tree.h"
#include "common/cli/program.h"
#include "common/formats/apitrace.h"
#include "common/stream/reader.h"
#include "common/util/bisect.h"
#include "common/util/bytes.h"
#include "common/util/error.h"
#include "common/util/intern.h"
#include "common/util/memory.h"
#include "common/util/output.h"
#include "common/util/text_span.h"
#include "common/util/u128.h"
#include "common/value/aligned.h"
#include "common/value/json.h"
#include "common/value/units.h"

/* --- directories and tars --- */

struct input_member {
	char *name;
	uint64_t offset; /* in the temporary file */
	uint64_t size;
	uint32_t order; /* position in the archive: the later of two equal names counts */
	bool packed;	/* of a directory: it was unpacked to t->spool */
};

struct tree {
	char *name;
	int fd;	   /* the directory, or the temporary file */
	int spool; /* the temporary file of packed members; -1: there are none */
	bool is_archive;
	int depth_most;
	struct input_member *members;
	size_t nr, room;
	size_t names_size;
	bool damaged;
	bool cut; /* the damage is that a signal ended the archive */
	struct error damage;
};

/* Bytes that all names of a tree may take. */
#define NAMES_MAX (64u << 20)

static void set_damage(struct tree *t, const char *what)
{
	if (!t->damaged)
		error_set(&t->damage, t->name, NO_OFFSET, "%s", what);
	t->damaged = true;
}

/* Members beyond this number are not read (that is damage). */
#define TREE_MAX_MEMBERS (1u << 20)

/* Add a member, its name copied; NULL: the tree is full or out of memory, which is noted as
 * damage. */
static struct input_member *tree_add(struct tree *t, const char *name)
{
	struct input_member *m;
	size_t length = strlen(name);

	if (t->nr == TREE_MAX_MEMBERS || t->names_size + length > NAMES_MAX) {
		set_damage(t, "too many members, the rest is not read");
		return NULL;
	}
	if (ARRAY_GROW(t->members, t->room, t->nr)) {
		set_damage(t, "out of memory, the rest is not read");
		return NULL;
	}
	m = &t->members[t->nr];
	*m = (struct input_member){.name = strdup(name), .order = t->nr};
	if (!m->name) {
		set_damage(t, "out of memory, the rest is not read");
		return NULL;
	}
	t->nr++;
	t->names_size += length;
	return m;
}

/* Compare members for qsort: by name, then by order in the archive. */
static int tree_compare(const void *a, const void *b)
{
	const struct input_member *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Set the damage of the file that the archive is in. */
static void tree_set_damage(struct tree *t, const struct error *e)
{
	t->damaged = true;
	t->damage = *e;
}

/*
 * --- a compressed file as a pipe of its content, which a thread unpacks ---
 *
 * Known are gzip, zstd, xz, bzip2 and lz4. The content is never stored, so its size has no limit.
 */

enum { DECOMPRESS_READ_SIZE = 256 * 1024, PIPE_SIZE = 1 << 20 };

struct decompress {
	pthread_t thread;
	bool joined;
	int in, out; /* the file; the pipe's end for writing */
	const char *name;
	uint8_t *buffer; /* the bytes read last, at first those of the head */
	size_t head_size;
	bool unpacks; /* by ring.h, else by libarchive, which loses the end of a truncated file */
	enum container container;
	struct error damage;
};

static bool tree_begins(const uint8_t *head, size_t n, const char *magic, size_t size)
{
	return n >= size && !memcmp(head, magic, size);
}

/* Test for the two bytes of gzip and its only method. */
static bool is_gzip(const uint8_t *head, size_t n)
{
	return tree_begins(head, n, "\x1f\x8b\x08", 3);
}

/* Do these bytes begin a frame, or a frame to skip? */
static bool unpack_is_zstd(const uint8_t *head, size_t n)
{
	return n >= 4 &&
	       (get_u32(head) == ZSTD_MAGICNUMBER ||
		(get_u32(head) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START);
}

/* Test whether the first bytes of a file are those of a compressed one. */
static bool decompress_known(const uint8_t *head, size_t n)
{
	return is_gzip(head, n) || unpack_is_zstd(head, n) ||
	       tree_begins(head, n,
			   "\xfd"
			   "7zXZ\0",
			   6) ||
	       tree_begins(head, n, "\x04\x22\x4d\x18", 4) ||
	       (tree_begins(head, n, "BZh", 3) &&
		tree_begins(head + 4, n - 4, "\x31\x41\x59\x26\x53\x59", 6));
}

/* Wait for bytes of the file. -1: the pipe has no reader any more. */
static int wait_for_input(void *ctx)
{
	struct decompress *d = ctx;

	return io_wait(d->in, d->out);
}

/* Returns false if the pipe has no reader any more. */
static bool tree_put(const struct decompress *d, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(d->out, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

static void run_unpack(struct decompress *d)
{
	const struct unpack_file file = {d->in, d->name, d->buffer, d->head_size};
	struct unpack u;
	int got = unpack_open(&u, d->container, &file, &d->damage) ? -1 : 1;

	u.before_block = wait_for_input;
	u.before_block_ctx = d;
	for (; got > 0; u.at = u.end) {
		got = unpack_more(&u, &d->damage);
		if (!tree_put(d, u.at, (size_t)(u.end - u.at)))
			break;
	}
	if (!got)
		d->damage = u.damage;
	unpack_close(&u);
}

static la_ssize_t tree_read_packed(struct archive *a, void *ctx, const void **buffer)
{
	struct decompress *d = ctx;
	ssize_t n = (ssize_t)d->head_size;

	*buffer = d->buffer;
	d->head_size = 0;
	if (!n && !wait_for_input(d))
		n = io_read(d->in, d->buffer, DECOMPRESS_READ_SIZE);
	if (n < 0)
		archive_set_error(a, errno, "cannot read: %s", strerror(errno));
	return n < 0 ? ARCHIVE_FATAL : n;
}

static void run_archive(struct decompress *d)
{
	struct archive *a = archive_read_new();
	struct archive_entry *entry;
	const void *data;
	la_int64_t offset;
	size_t n;
	int r;

	if (!a) {
		error_no_memory(&d->damage);
		return;
	}
	archive_read_support_filter_xz(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_lz4(a);
	archive_read_support_format_raw(a);
	archive_read_support_format_empty(a);
	r = archive_read_open(a, d, NULL, tree_read_packed, NULL);
	if (r == ARCHIVE_OK)
		r = archive_read_next_header(a, &entry);
	while (r == ARCHIVE_OK || r == ARCHIVE_WARN) {
		r = archive_read_data_block(a, &data, &n, &offset);
		if ((r == ARCHIVE_OK || r == ARCHIVE_WARN) && !tree_put(d, data, n))
			r = ARCHIVE_EOF;
	}
	if (r != ARCHIVE_EOF && archive_errno(a) == ENOMEM)
		memory_fail();
	/* libarchive's message for a truncated xz file has no meaning */
	if (r != ARCHIVE_EOF)
		error_set(&d->damage, d->name, (uint64_t)archive_filter_bytes(a, -1),
			  "the compressed data are damaged or end early");
	archive_read_free(a);
}

static void *tree_run(void *ctx)
{
	struct decompress *d = ctx;

	if (d->unpacks)
		run_unpack(d);
	else
		run_archive(d);
	close(d->out);
	return NULL;
}

/* Start the thread, without signals: a write to a closed pipe only fails there. */
static int tree_start(struct decompress *d)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&d->thread, NULL, tree_run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

/* Begin to unpack a file from its start, of which head was read. The file's descriptor is the
 * decompressor's then. *fd: the pipe, to be closed by the caller before decompress_close. NULL: *e
 * is filled, and the file's descriptor remains the caller's. */
static struct decompress *decompress_open(const struct unpack_file *file, int *fd, struct error *e)
{
	struct decompress *d = calloc(1, sizeof *d);
	int ends[2];

	if (!d || !(d->buffer = malloc(DECOMPRESS_READ_SIZE + file->head_size))) {
		error_no_memory(e);
		free(d);
		return NULL;
	}
	d->in = file->fd;
	d->name = file->name;
	memcpy(d->buffer, file->head, file->head_size);
	d->head_size = file->head_size;
	d->unpacks =
		is_gzip(file->head, file->head_size) || unpack_is_zstd(file->head, file->head_size);
	d->container = is_gzip(file->head, file->head_size) ? CONTAINER_GZIP : CONTAINER_ZSTD;
	if (io_pipe(ends)) {
		error_errno(e, file->name, NO_OFFSET, "cannot open a pipe");
		goto failed;
	}
	d->out = ends[1];
	fcntl(d->out, F_SETPIPE_SZ, PIPE_SIZE);
	if (!tree_start(d)) {
		*fd = ends[0];
		return d;
	}
	error_set(e, file->name, NO_OFFSET, "cannot start a thread");
	close(ends[0]);
	close(ends[1]);
failed:
	free(d->buffer);
	free(d);
	return NULL;
}

static void tree_join(struct decompress *d)
{
	if (!d->joined)
		pthread_join(d->thread, NULL);
	d->joined = true;
}

/* Wait until all is unpacked: the caller has read the pipe to its end. Returns true, once, with *e
 * filled, if the file is damaged. */
static bool decompress_damage(struct decompress *d, struct error *e)
{
	tree_join(d);
	if (!d->damage.what[0])
		return false;
	*e = d->damage;
	d->damage.what[0] = '\0';
	return true;
}

/* d may be NULL. */
static void decompress_close(struct decompress *d)
{
	if (!d)
		return;
	tree_join(d);
	if (d->in > STDERR_FILENO)
		close(d->in);
	free(d->buffer);
	free(d);
}

/*
 * Test whether a file is a .trace, and find its container.
 *
 * The first bytes are unpacked: a trace begins with a known version.
 */

enum { FIRST_BYTES = 8 };

static bool first_bytes_sane(const uint8_t *p, size_t n)
{
	if (!n || p[0] > APITRACE_LATEST)
		return false;
	/* traces without events may be first: in old versions each is a header of one byte */
	while (n > 1 && p[0] < APITRACE_PROPERTIES && p[1] > APITRACE_LEAVE &&
	       p[1] <= APITRACE_LATEST) {
		p++;
		n--;
	}
	return n < 2 || p[1] <= (p[0] >= APITRACE_PROPERTIES ? p[0] : APITRACE_LEAVE);
}

/* Bid for the first unpacked bytes of a file that has the mark of its container. */
static enum bid bid_first(const uint8_t *p, size_t n)
{
	return first_bytes_sane(p, n) ? BID_HEADER : BID_NONE;
}

/*
 * Test a file with the mark of gzip. A file with the mark of gzip or zstd that is damaged before
 * its first byte can be unpacked may have been a trace: it is accepted, so that the damage and its
 * offset are reported.
 */
static enum bid probe_gzip(const uint8_t *head, size_t n)
{
	z_stream z = {.next_in = (Bytef *)head, .avail_in = (uInt)n};
	uint8_t out[FIRST_BYTES];
	int result;

	if (head[3] & 0xe0) /* flags that gzip does not define: damage */
		return BID_CHANCE;
	if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
		return BID_NONE;
	z.next_out = out;
	z.avail_out = sizeof out;
	/* past members without content */
	do
		result = inflate(&z, Z_SYNC_FLUSH);
	while (result == Z_STREAM_END && z.avail_out && z.avail_in && inflateReset(&z) == Z_OK);
	inflateEnd(&z);
	if (z.avail_out < sizeof out)
		return bid_first(out, sizeof out - z.avail_out);
	/* damage, or too few bytes because the file is truncated */
	return result == Z_DATA_ERROR || (result != Z_STREAM_END && n < TREE_PROBE) ? BID_CHANCE
										    : BID_NONE;
}

/* Where damage follows soon: do the bytes begin with a whole header, or with its first property? */
static bool tree_header_sane(const uint8_t *p, size_t n)
{
	if (n < 4 || !first_bytes_sane(p, n))
		return false;
	if (p[0] < APITRACE_PROPERTIES)
		return p[1] == APITRACE_ENTER;
	if (!p[2])
		return p[3] == APITRACE_ENTER;
	for (size_t i = 3; i < n && i < 3 + (size_t)p[2]; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	return p[2] < 0x80;
}

/* Test whether the first function's name is empty. Other files that brotli can decode by chance
 * give zeros, compiled Python among them. */
static bool first_is_nameless(const uint8_t *p, size_t n)
{
	size_t i = 2, numbers;

	if (n < 2 || p[0] >= APITRACE_PROPERTIES || p[1] != APITRACE_ENTER)
		return false;
	/* past the thread and the id */
	for (numbers = p[0] >= APITRACE_THREADS ? 2 : 1; i < n && numbers; i++)
		numbers -= !(p[i] & 0x80);
	return i < n && !p[i];
}

static enum bid probe_brotli(const uint8_t *head, size_t n)
{
	BrotliDecoderState *b = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	uint8_t out[32], *to = out;
	size_t room = sizeof out, unpacked;
	uint8_t window = *head & 15;

	if (!b)
		return BID_NONE;
	/* one byte at a time: brotli drops what it unpacked in the call that finds the damage */
	while (n && result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) {
		size_t one = 1;

		result = BrotliDecoderDecompressStream(b, &one, &head, &room, &to, NULL);
		n -= 1 - one;
	}
	BrotliDecoderDestroyInstance(b);
	unpacked = sizeof out - room;
	if (result == BROTLI_DECODER_RESULT_ERROR)
		return tree_header_sane(out, unpacked) ? BID_CHANCE : BID_NONE;
	if (!unpacked) /* the tables alone may fill what was read; random bytes seldom make them so
			  long */
		return result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !n &&
				       (window == 15 || window == 11)
			       ? BID_CHANCE
			       : BID_NONE;
	return first_bytes_sane(out, unpacked) && !first_is_nameless(out, unpacked) ? BID_CHANCE
										    : BID_NONE;
}

/* Read the window that a frame's header requires. Return false if the header is truncated, or of
 * a frame to skip. RFC 8878, 3.1.1.1 */
static bool unpack_zstd_window(const uint8_t *head, size_t n, uint64_t *window)
{
	static const uint8_t id_sizes[] = {0, 1, 2, 4}, size_sizes[] = {1, 2, 4, 8};
	uint8_t flags;
	size_t id, size;

	if (n < 6 || get_u32(head) != ZSTD_MAGICNUMBER)
		return false;
	flags = head[4];
	if (flags & 8) /* reserved: must be 0 */
		return false;
	if (!(flags & 0x20)) {
		uint64_t base = 1ull << (10 + (head[5] >> 3));

		*window = base + base / 8 * (head[5] & 7);
		return true;
	}
	/* a single segment: the window is all of its content */
	id = id_sizes[flags & 3];
	size = size_sizes[flags >> 6];
	if (n < 5 + id + size)
		return false;
	*window = get_uint(head + 5 + id, (unsigned)size, false) + (size == 2 ? 256 : 0);
	return true;
}

static enum bid probe_zstd(const uint8_t *head, size_t n)
{
	ZSTD_DStream *z;
	ZSTD_inBuffer in = {head, n, 0};
	uint8_t bytes[FIRST_BYTES];
	ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
	size_t result = 1;

	if (!unpack_is_zstd(head, n) || !(z = ZSTD_createDStream()))
		return BID_NONE;
	while (out.pos < out.size && in.pos < in.size && !ZSTD_isError(result)) {
		size_t before = in.pos + out.pos;

		result = ZSTD_decompressStream(z, &out, &in);
		if (in.pos + out.pos == before)
			break;
	}
	ZSTD_freeDStream(z);
	/* the first block may be longer than what was read, or damaged, or its window too large */
	return out.pos ? bid_first(bytes, out.pos) : BID_MAGIC;
}

enum {
	UNPACK_SNAPPY_LIMIT = 64 * 1024 * 1024, /* of one chunk, unpacked */
	/* most bytes that raw snappy needs for this limit */
	UNPACK_SNAPPY_PACKED = 32 + UNPACK_SNAPPY_LIMIT + UNPACK_SNAPPY_LIMIT / 6,
	UNPACK_WINDOW_LIMIT = 128 * 1024 * 1024, /* of a zstd frame */
	UNPACK_ZSTD_HEADER = 17,		 /* of a zstd frame, at most */
};

/*
 * Test a file with the mark of snappy chunks. Text may begin with the mark, too. The last byte of
 * the length after the mark is 0 in files by apitrace, and at most 4 in chunks of the size that is
 * read here: text has neither. If the length is damaged, the chunk must begin with the first bytes
 * of a trace.
 */
static enum bid probe_snappy(const uint8_t *head, size_t n)
{
	uint8_t out[FIRST_BYTES];
	uint32_t packed = n < 6 ? 0 : get_u32(head + 2);
	bool complete;

	if (!packed)
		return BID_NONE;
	if (first_bytes_sane(out, snappy_part(head + 6, n - 6, out, sizeof out, &complete)))
		return packed <= UNPACK_SNAPPY_PACKED ? BID_HEADER : BID_LIKELY;
	return packed <= UNPACK_SNAPPY_PACKED ? BID_CHANCE : BID_NONE;
}

enum bid unpack_probe(const uint8_t *head, size_t n, enum container *container)
{
	*container = CONTAINER_BROTLI;
	if (n >= 2 && !memcmp(head, "at", 2))
		*container = CONTAINER_SNAPPY;
	else if (is_gzip(head, n))
		*container = CONTAINER_GZIP;
	else if (unpack_is_zstd(head, n))
		*container = CONTAINER_ZSTD;
	switch (*container) {
	case CONTAINER_SNAPPY: return probe_snappy(head, n);
	case CONTAINER_GZIP: return n > 3 ? probe_gzip(head, n) : BID_NONE;
	case CONTAINER_ZSTD: return probe_zstd(head, n);
	case CONTAINER_BROTLI: break;
	}
	/* a tar may begin with any bytes */
	return n >= 262 && !memcmp(head + 257, "ustar", 5) ? BID_NONE : probe_brotli(head, n);
}

/* --- unpack --- */

enum {
	IN_SIZE = 128 * 1024,
	OUT_SIZE = 256 * 1024,
	/* bytes given to brotli at once: in a call that finds damage, brotli keeps back what it
	 * unpacked */
	BROTLI_SLICE = 128,
	EMPTY = 2, /* chunk_snappy: the chunk is empty */
};

const char *unpack_part(enum container container)
{
	static const char *const parts[] = {"chunk", "member", "stream", "frame"};

	return parts[container];
}

/* --- the file --- */

/* Read n bytes of the file, if it has so many. Returns 1, 0 (the end, with fewer), or -1. */
static int unpack_fill(struct unpack *u, size_t n, struct error *e)
{
	while ((size_t)(u->in_end - u->in_at) < n && !u->eof) {
		struct pollfd p = {u->fd, POLLIN, 0};
		size_t have = (size_t)(u->in_end - u->in_at), room;
		ssize_t got;

		memmove(u->in, u->in_at, have);
		if (have == u->in_capacity) {
			/* a length in the file proves nothing: the buffer grows as bytes arrive */
			uint8_t *in = realloc(u->in, u->in_capacity * 2);

			if (!in)
				return error_no_memory(e);
			u->in = in;
			u->in_capacity *= 2;
		}
		u->in_at = u->in;
		u->in_end = u->in + have;
		room = u->in_capacity - have;
		if (u->before_block && poll(&p, 1, 0) == 0 && u->before_block(u->before_block_ctx))
			return error_set(e, NULL, NO_OFFSET, "cannot write");
		got = io_read(u->fd, u->in_end, room);
		if (got < 0)
			return error_errno(e, u->name, u->packed, "cannot read");
		u->eof = !got;
		u->in_end += got;
	}
	return (size_t)(u->in_end - u->in_at) >= n;
}

static void unpack_take(struct unpack *u, size_t n)
{
	u->in_at += n;
	u->packed += n;
}

/* Move the unread bytes to the front of the buffer, and make room for n bytes after them. */
static uint8_t *tree_make_room(struct unpack *u, size_t n, struct error *e)
{
	size_t have = (size_t)(u->end - u->at);

	if (u->capacity - have < n) {
		uint8_t *buffer = malloc(have + n);

		if (!buffer) {
			error_no_memory(e);
			return NULL;
		}
		if (have)
			memcpy(buffer, u->at, have);
		free(u->buffer);
		u->buffer = buffer;
		u->capacity = have + n;
	} else if (have) {
		memmove(u->buffer, u->at, have);
	}
	u->at = u->buffer;
	u->end = u->buffer + have;
	return u->buffer + have;
}

static int unpack_give(struct unpack *u, size_t n)
{
	u->end += n;
	u->total += n;
	return 1;
}

/* End the unpacked data. what: the damage, NULL: there is none. Returns 0. */
static int unpack_end(struct unpack *u, uint64_t offset, const char *what)
{
	u->ended = true;
	u->damage.what[0] = '\0';
	if (what)
		error_set(&u->damage, u->name, offset, "%s %" PRIu64 ": %s",
			  unpack_part(u->container), u->chunk, what);
	return 0;
}

/* --- snappy chunks --- */

/* Unpack what can be unpacked of a truncated or damaged chunk, and end there. */
static int rest_of_chunk(struct unpack *u, size_t n, const char *what, struct error *e)
{
	uint32_t length;
	uint8_t *out;
	size_t got;
	bool complete;

	if (!snappy_length(u->in_at, n, &length) || length > UNPACK_SNAPPY_LIMIT)
		return unpack_end(u, u->chunk_at, what);
	if (length > 22 * (uint64_t)n + 64)
		length = (uint32_t)(22 * (uint64_t)n + 64);
	out = tree_make_room(u, length, e);
	if (!out)
		return -1;
	got = snappy_part(u->in_at, n, out, length, &complete);
	unpack_take(u, n);
	unpack_end(u, u->chunk_at, what);
	return got ? unpack_give(u, got) : 0;
}

/* Raw snappy cannot expand more than 64 bytes from an element of 3. */
static inline bool snappy_length_sane(uint32_t packed, uint32_t length)
{
	return length <= UNPACK_SNAPPY_LIMIT && length <= 22 * (uint64_t)packed + 64;
}

/* Unpack the next chunk: 1, 0 at the end, -1, or EMPTY. */
static int chunk_snappy(struct unpack *u, struct error *e)
{
	uint32_t packed, length;
	size_t got;
	uint8_t *out;
	int full;

	full = unpack_fill(u, 4, e);
	if (full < 0)
		return -1;
	if (u->in_at == u->in_end) {
		if (!u->begun)
			u->chunk_at = u->packed;
		return unpack_end(u, u->packed, NULL);
	}
	u->chunk += u->begun;
	u->begun = true;
	u->chunk_at = u->packed;
	if (!full)
		return unpack_end(u, u->packed, "the file ends inside of its length");
	packed = get_u32(u->in_at);
	unpack_take(u, 4);
	if (!packed)
		return unpack_end(u, u->chunk_at, "its length is 0");
	full = unpack_fill(u, packed, e);
	if (full < 0)
		return -1;
	if (!full)
		return rest_of_chunk(u, (size_t)(u->in_end - u->in_at),
				     "the file ends inside of it", e);
	if (!snappy_length(u->in_at, packed, &length) || !snappy_length_sane(packed, length))
		return unpack_end(u, u->chunk_at, "impossible length of what is packed in it");
	out = tree_make_room(u, length, e);
	if (!out)
		return -1;
	got = length;
	if (snappy_uncompress((const char *)u->in_at, packed, (char *)out, &got) != SNAPPY_OK ||
	    got != length)
		return rest_of_chunk(u, packed, "damaged", e);
	unpack_take(u, packed);
	if (!got)
		return EMPTY;
	return unpack_give(u, got);
}

static int more_snappy(struct unpack *u, struct error *e)
{
	int got;

	do {
		got = chunk_snappy(u, e);
	} while (got == EMPTY);
	return got;
}

/* --- gzip, brotli, zstd: what they have in common --- */

/* One step of a decompressor: take bytes from [in_at, in_end), put bytes to out. Returns 1 to go
 * on, 0 when the stream has ended (another may follow), -1 if it is damaged. */
typedef int step_function(struct unpack *u, const uint8_t **in, size_t in_size, uint8_t **out,
			  size_t room);

static int step_gzip(struct unpack *u, const uint8_t **in, size_t n, uint8_t **out, size_t room)
{
	z_stream *z = u->state;
	int result;

	z->next_in = (Bytef *)*in;
	z->avail_in = (uInt)n;
	z->next_out = *out;
	z->avail_out = (uInt)room;
	result = inflate(z, Z_NO_FLUSH);
	*in = z->next_in;
	*out = z->next_out;
	if (result == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 0 : -1;
	return result == Z_OK || result == Z_BUF_ERROR ? 1 : -1;
}

static int step_brotli(struct unpack *u, const uint8_t **in, size_t n, uint8_t **out, size_t room)
{
	BrotliDecoderResult r;

	do {
		size_t slice = n < BROTLI_SLICE ? n : BROTLI_SLICE, left;
		const uint8_t *from = *in;

		/* first the bytes for which there was no room */
		if (BrotliDecoderHasMoreOutput(u->state))
			slice = 0;
		left = slice;

		r = BrotliDecoderDecompressStream(u->state, &left, in, &room, out, NULL);
		if (r == BROTLI_DECODER_RESULT_ERROR) {
			*in = from;
			return -1;
		}
		n -= slice - left;
	} while (r == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && n && room);
	return r != BROTLI_DECODER_RESULT_SUCCESS;
}

static int step_zstd(struct unpack *u, const uint8_t **in, size_t n, uint8_t **out, size_t room)
{
	ZSTD_inBuffer from = {*in, n, 0};
	ZSTD_outBuffer to = {*out, room, 0};
	size_t result = ZSTD_decompressStream(u->state, &to, &from);

	*in += from.pos;
	*out += to.pos;
	return ZSTD_isError(result) ? -1 : result != 0;
}

/*
 * Test the window of a frame: the header gives how many unpacked bytes must be kept (RFC 8878,
 * 3.1.1.1). The limit is that of libzstd, and so of apitrace. Returns 1, 0 if the window is beyond
 * the limit, or -1: cannot read.
 */
static int check_window(struct unpack *u, struct error *e)
{
	uint64_t window;

	if (unpack_fill(u, UNPACK_ZSTD_HEADER, e) < 0)
		return -1;
	if (!unpack_zstd_window(u->in_at, (size_t)(u->in_end - u->in_at), &window) ||
	    window <= UNPACK_WINDOW_LIMIT)
		return 1;
	snprintf(u->refused, sizeof u->refused,
		 "it asks for a window of %" PRIu64 " MiB, and at most %d MiB are kept",
		 window >> 20, UNPACK_WINDOW_LIMIT >> 20);
	return unpack_end(u, u->packed, u->refused);
}

/* May another member or frame begin with these bytes? */
static bool unpack_another(const struct unpack *u)
{
	size_t n = (size_t)(u->in_end - u->in_at);

	switch (u->container) {
	case CONTAINER_GZIP: return n >= 2 && u->in_at[0] == 0x1f && u->in_at[1] == 0x8b;
	case CONTAINER_ZSTD: return unpack_is_zstd(u->in_at, n);
	default: return false;
	}
}

static int more_stream(struct unpack *u, step_function *step, struct error *e)
{
	uint8_t *out = tree_make_room(u, OUT_SIZE, e), *to = out;

	if (!out)
		return -1;
	for (;;) {
		const uint8_t *in;
		int going;

		if (u->between) {
			if (unpack_fill(u, 4, e) < 0)
				return -1;
			if (u->in_at == u->in_end)
				return unpack_end(u, u->packed, NULL);
			if (!unpack_another(u) && u->total)
				return unpack_end(u, u->packed,
						  "bytes that do not belong to the trace "
						  "follow it");
			u->chunk_at = u->packed;
			u->between = false;
			u->chunk += u->begun;
			u->begun = true;
			if (u->container == CONTAINER_ZSTD) {
				int fits = check_window(u, e);

				if (fits <= 0)
					return fits;
			}
		}
		if (unpack_fill(u, 1, e) < 0)
			return -1;
		in = u->in_at;
		going = step(u, &in, (size_t)(u->in_end - u->in_at), &to,
			     OUT_SIZE - (size_t)(to - out));
		if (going < 0) {
			unpack_end(u, u->packed + (uint64_t)(in - u->in_at),
				   u->total || to > out
					   ? "damaged"
					   : "damaged before a byte of it was unpacked");
		} else if (!going) {
			u->between = true;
		} else if (to == out && in == u->in_at && u->eof) {
			return unpack_end(u, u->packed, "the file ends inside of it");
		}
		unpack_take(u, (size_t)(in - u->in_at));
		if (to > out)
			return unpack_give(u, (size_t)(to - out));
		if (u->ended)
			return 0;
	}
}

int unpack_more(struct unpack *u, struct error *e)
{
	if (u->ended)
		return 0;
	switch (u->container) {
	case CONTAINER_SNAPPY: return more_snappy(u, e);
	case CONTAINER_GZIP: return more_stream(u, step_gzip, e);
	case CONTAINER_BROTLI: return more_stream(u, step_brotli, e);
	case CONTAINER_ZSTD: return more_stream(u, step_zstd, e);
	}
	return 0;
}

static int unpack_start(struct unpack *u)
{
	z_stream *z;

	switch (u->container) {
	case CONTAINER_SNAPPY: unpack_take(u, 2); return 0;
	case CONTAINER_GZIP:
		z = u->state = calloc(1, sizeof *z);
		if (!z || inflateInit2(z, 16 + MAX_WBITS) == Z_OK)
			break;
		free(z);
		u->state = NULL;
		break;
	case CONTAINER_BROTLI: u->state = BrotliDecoderCreateInstance(NULL, NULL, NULL); break;
	case CONTAINER_ZSTD: u->state = ZSTD_createDStream(); break;
	}
	return u->state ? 0 : -1;
}

int unpack_open(struct unpack *u, enum container container, const struct unpack_file *file,
		struct error *e)
{
	size_t n = file->head_size;

	*u = (struct unpack){
		.container = container, .fd = file->fd, .name = file->name, .between = true};
	u->in_capacity = n > IN_SIZE ? n : IN_SIZE;
	u->in = malloc(u->in_capacity);
	u->capacity = OUT_SIZE;
	u->buffer = malloc(u->capacity);
	if (!u->in || !u->buffer)
		return error_no_memory(e);
	u->at = u->end = u->buffer;
	memcpy(u->in, file->head, n);
	u->in_at = u->in;
	u->in_end = u->in + n;
	if (unpack_start(u))
		return error_no_memory(e);
	return 0;
}

void unpack_close(struct unpack *u)
{
	if (u->state)
		switch (u->container) {
		case CONTAINER_SNAPPY: break;
		case CONTAINER_GZIP:
			inflateEnd(u->state);
			free(u->state);
			break;
		case CONTAINER_BROTLI: BrotliDecoderDestroyInstance(u->state); break;
		case CONTAINER_ZSTD: ZSTD_freeDStream(u->state); break;
		}
	free(u->in);
	free(u->buffer);
	*u = (struct unpack){.fd = -1};
}

/* --- compressed files of a directory: their content goes to one temporary file --- */

enum { PACKED_READ = 256 * 1024 };

/* In the order in which members are sorted. */
static const char *const suffixes[] = {".bz2", ".gz", ".lz4", ".xz", ".zst"};

enum { SUFFIXES = sizeof(suffixes) / sizeof(*suffixes) };

/* Get the length of a name without the suffix of a compressed file; 0: it has none. */
static size_t plain_length(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < SUFFIXES; i++) {
		size_t suffix = strlen(suffixes[i]);

		if (n > suffix && name[n - suffix - 1] != '/' &&
		    !strcmp(name + n - suffix, suffixes[i]))
			return n - suffix;
	}
	return 0;
}

/* Test whether a member is the only one of its name without the suffix, or the first of several
 * with different suffixes. */
static bool tree_is_wanted(const struct tree *t, const char *name, size_t length)
{
	char other[PATH_MAX];

	if (!length || strlen(name) >= sizeof(other))
		return false;
	memcpy(other, name, length);
	other[length] = '\0';
	if (tree_has(t, other))
		return false;
	for (size_t i = 0; i < SUFFIXES && strcmp(suffixes[i], name + length) != 0; i++) {
		if (length + strlen(suffixes[i]) >= sizeof(other))
			return false;
		strcpy(other + length, suffixes[i]);
		if (tree_has(t, other))
			return false;
	}
	return true;
}

/* Copy the content to *end of the temporary file. Returns -1 with e filled if that fails; a file
 * that is damaged is copied as far as it can be read, and the damage is that of the tree. */
static int copy_content(struct tree *t, const struct unpack_file *file, uint64_t *end,
			struct error *e)
{
	uint8_t *buffer = malloc(PACKED_READ);
	struct decompress *d;
	struct error damage;
	ssize_t n = 0;
	int pipe, r = 0;

	d = buffer ? decompress_open(file, &pipe, e) : NULL;
	if (!d) {
		close(file->fd);
		free(buffer);
		return buffer ? -1 : error_no_memory(e);
	}
	while (!r && (n = io_read(pipe, buffer, PACKED_READ)) > 0) {
		r = temporary_write(t->spool, buffer, (size_t)n, *end, e);
		*end += (uint64_t)n;
	}
	if (n < 0)
		r = error_errno(e, file->name, NO_OFFSET, "cannot read");
	close(pipe);
	if (!r && decompress_damage(d, &damage) && !t->damaged)
		tree_set_damage(t, &damage);
	decompress_close(d);
	free(buffer);
	return r;
}

/* Unpack a member, whose name loses its suffix. */
static int unpack_member(struct tree *t, struct input_member *m, size_t length, uint64_t *end,
			 struct error *e)
{
	uint8_t head[32];
	char path[512];
	struct unpack_file file = {.name = tree_path(t, m->name, path, sizeof(path)), .head = head};
	ssize_t n;

	file.fd = openat(t->fd, m->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	m->packed = false;
	/* a file that cannot be opened is reported when it is read */
	if (file.fd < 0)
		return 0;
	n = io_read_at(file.fd, head, sizeof(head), 0);
	if (n > 0)
		lseek(file.fd, n, SEEK_SET);
	file.head_size = n > 0 ? (size_t)n : 0;
	if (!decompress_known(head, file.head_size)) {
		close(file.fd);
		return 0;
	}
	if (t->spool < 0)
		t->spool = temporary_open(e);
	if (t->spool < 0) {
		close(file.fd);
		return -1;
	}
	m->offset = *end;
	if (copy_content(t, &file, end, e))
		return -1;
	m->size = *end - m->offset;
	m->packed = true;
	m->name[length] = '\0';
	return 0;
}

/*
 * Unpack the compressed files of a directory, FILE.gz for example, to the temporary file t->spool,
 * as members FILE, unless there is a FILE. The members stay sorted. Damage is that of the tree.
 * Returns -1 with *e filled if the temporary file cannot be written.
 */
static int tree_unpack_members(struct tree *t, struct error *e)
{
	uint64_t end = 0;

	for (size_t i = 0; i < t->nr; i++)
		t->members[i].packed =
			tree_is_wanted(t, t->members[i].name, plain_length(t->members[i].name));
	for (size_t i = 0; i < t->nr; i++)
		if (t->members[i].packed &&
		    unpack_member(t, &t->members[i], plain_length(t->members[i].name), &end, e))
			return -1;
	/* the new names have another order */
	if (t->spool >= 0)
		qsort(t->members, t->nr, sizeof(*t->members), tree_compare);
	return 0;
}

/* --- a tar of a directory: its members go to one temporary file --- */

/* No member ends beyond this offset of the temporary file. */
#define SPOOL_MAX (INT64_MAX / 2)

#define TREE_ARCHIVE_READ_SIZE (256u << 10)

/* What an archive is read from, and its members by name, for hard links. */
struct input_source {
	int fd;
	const void *peeked;
	size_t nr_peeked;
	char *buffer;
	int read_errno;
	bool ended;
	struct id_cache numbers; /* index + 1 of the last member of each name */
	size_t added;		 /* number of members that are in it */
};

/* Get the length of name's directory part, '/' included. */
static size_t dir_length(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? (size_t)(slash + 1 - name) : 0;
}

/* Remove the directories that all members share, sort, and keep the last of equal names. */
static void finish_members(struct tree *t)
{
	size_t common, kept = 0;

	if (!t->nr)
		return;
	common = dir_length(t->members[0].name);
	for (size_t i = 1; i < t->nr && common; i++) {
		while (common && strncmp(t->members[0].name, t->members[i].name, common)) {
			common--;
			while (common && t->members[0].name[common - 1] != '/')
				common--;
		}
	}
	if (common)
		for (size_t i = 0; i < t->nr; i++) {
			char *name = t->members[i].name;

			memmove(name, name + common, strlen(name + common) + 1);
		}
	qsort(t->members, t->nr, sizeof(*t->members), tree_compare);
	for (size_t i = 0; i < t->nr; i++) {
		if (i + 1 < t->nr && !strcmp(t->members[i].name, t->members[i + 1].name))
			free(t->members[i].name);
		else
			t->members[kept++] = t->members[i];
	}
	t->nr = kept;
}

bool tree_is_archive(const void *head, size_t n)
{
	return n >= 262 && !memcmp((const char *)head + 257, "ustar", 5);
}

static la_ssize_t read_source(struct archive *a, void *data, const void **buffer)
{
	struct input_source *s = data;
	ssize_t n;

	if (s->nr_peeked) {
		n = s->nr_peeked;
		*buffer = s->peeked;
		s->nr_peeked = 0;
		return n;
	}
	n = io_read(s->fd, s->buffer, TREE_ARCHIVE_READ_SIZE);
	*buffer = s->buffer;
	if (n < 0) {
		s->read_errno = errno;
		archive_set_error(a, errno, "read failed: %s", strerror(errno));
		return ARCHIVE_FATAL;
	}
	s->ended = !n;
	return n;
}

/*
 * Copy the contents of the current entry to m->offset of the temporary file. Returns 0; 1 when the
 * contents end early (m->size is what was copied); -1 and e when writing fails.
 */
static int spool_entry(struct tree *t, struct archive *a, struct input_member *m, struct error *e)
{
	const void *block;
	size_t n;
	la_int64_t at = 0;
	int r;

	while ((r = archive_read_data_block(a, &block, &n, &at)) == ARCHIVE_OK ||
	       r == ARCHIVE_WARN) {
		uint64_t end = (uint64_t)at + n;

		if (at < 0 || end > SPOOL_MAX || m->offset + end > SPOOL_MAX)
			return 1;
		if (temporary_write(t->fd, block, n, m->offset + at, e))
			return -1;
		if (end > m->size)
			m->size = end;
	}
	if (r != ARCHIVE_EOF)
		return 1;
	/* a sparse file may end in a hole: libarchive reports its end here, with no bytes to
	 * write */
	if (at >= 0 && (uint64_t)at > m->size && m->offset + at <= SPOOL_MAX) {
		m->size = at;
		if (ftruncate(t->fd, m->offset + m->size) < 0)
			return error_errno(e, t->name, NO_OFFSET,
					   "cannot write to the temporary file");
	}
	return 0;
}

static const char *entry_name(const char *name)
{
	for (;;) {
		while (*name == '/')
			name++;
		if (name[0] == '.' && name[1] == '/')
			name += 2;
		else
			return name;
	}
}

/* Get the index + 1 of the member that a link is to; 0: none. -1: out of memory. */
static int64_t find_target(struct input_source *s, const struct tree *t, const char *name)
{
	uint32_t at;

	for (; s->added < t->nr; s->added++) {
		const char *member = t->members[s->added].name;
		uint32_t *number = id_cache_number(&s->numbers, member, strlen(member));

		if (!number)
			return -1;
		*number = (uint32_t)s->added + 1;
	}
	at = intern_find(&s->numbers.keys, name, strlen(name));
	return at == INTERN_NONE ? 0 : s->numbers.numbers[at];
}

/* Record why the archive cannot be read further. */
static void archive_failure(const struct tree *t, struct archive *a, const struct input_source *s,
			    const char *member, struct error *e)
{
	const char *why = s->read_errno ? strerror(s->read_errno) : archive_error_string(a);
	char path[512];

	if (archive_errno(a) == ENOMEM)
		memory_fail();
	error_set(e, member ? tree_path(t, member, path, sizeof(path)) : t->name,
		  (uint64_t)archive_filter_bytes(a, -1),
		  "the archive ends early or is damaged%s%s%s", why ? " (" : "", why ? why : "",
		  why ? ")" : "");
}

static void archive_damage(struct tree *t, struct archive *a, const struct input_source *s,
			   const char *member)
{
	if (t->damaged)
		return;
	t->damaged = true;
	t->cut = s->ended && io_cut();
	archive_failure(t, a, s, member, &t->damage);
	if (t->cut)
		snprintf(t->damage.what, sizeof t->damage.what,
			 "ended by a signal within the archive: what follows is missing");
}

/* Add a member that is a hard link to an earlier one, if that is there. */
static int tree_add_link(struct tree *t, struct input_source *s, const char *name, const char *link,
			 struct error *e)
{
	int64_t target = find_target(s, t, link);
	struct input_member *m;

	if (target < 0)
		return error_no_memory(e);
	m = target ? tree_add(t, name) : NULL;
	if (m) {
		m->offset = t->members[target - 1].offset;
		m->size = t->members[target - 1].size;
	}
	return 0;
}

static int read_archive(struct tree *t, struct archive *a, struct input_source *s, struct error *e)
{
	struct archive_entry *entry;
	uint64_t end = 0; /* end of the temporary file */
	int r;

	while ((r = archive_read_next_header(a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);
		const char *link = archive_entry_hardlink(entry);
		struct input_member *m;

		if (!name)
			name = archive_entry_pathname_utf8(entry);
		if (!name || (archive_entry_filetype(entry) != AE_IFREG && !link))
			continue;
		name = entry_name(name);
		if (!*name || strlen(name) >= PATH_MAX)
			continue;
		if (link && !archive_entry_size(entry)) {
			if (tree_add_link(t, s, name, entry_name(link), e))
				return -1;
			continue;
		}
		m = tree_add(t, name);
		if (!m)
			return 0;
		m->offset = end;
		r = spool_entry(t, a, m, e);
		if (r < 0)
			return -1;
		end = (m->offset + m->size + 7) & ~(uint64_t)7;
		if (!r && archive_entry_size_is_set(entry) &&
		    (uint64_t)archive_entry_size(entry) > m->size)
			r = 1;
		if (r) {
			archive_damage(t, a, s, m->name);
			return 0;
		}
	}
	if (r != ARCHIVE_EOF && !t->nr) {
		archive_failure(t, a, s, NULL, e);
		return -1;
	}
	/* an archive that is complete has a mark at its end, after which nothing is read */
	if (r != ARCHIVE_EOF || (s->ended && io_cut()))
		archive_damage(t, a, s, NULL);
	return 0;
}

/*
 * Copy all members of the archive at fd to the temporary file t->fd, sorted. peeked: n bytes
 * already taken from fd. Returns 0, also where the archive is damaged; -1 with *e filled if nothing
 * can be read.
 */
static int tree_open_archive(struct tree *t, int fd, const void *peeked, size_t n, struct error *e)
{
	struct input_source source = {.fd = fd, .peeked = peeked, .nr_peeked = n};
	struct archive *a = archive_read_new();
	int result = -1;

	t->is_archive = true;
	source.buffer = malloc(TREE_ARCHIVE_READ_SIZE);
	if (!a || !source.buffer) {
		error_set(e, t->name, NO_OFFSET, "out of memory");
		goto out;
	}
	t->fd = temporary_open(e);
	if (t->fd < 0)
		goto out;
	archive_read_support_format_tar(a);
	if (archive_read_open(a, &source, NULL, read_source, NULL) != ARCHIVE_OK) {
		archive_failure(t, a, &source, NULL, e);
		goto out;
	}
	result = read_archive(t, a, &source, e);
	finish_members(t);
out:
	if (a)
		archive_read_free(a);
	id_cache_free(&source.numbers);
	free(source.buffer);
	return result;
}

/* --- tree --- */

/* Directory levels below the input that are read. */
#define DEPTH_MAX 8

/* Directory levels that are read where the input is one file: no trace has parts of the file
 * further down. */
#define DEPTH_NEAR 2

#define TREE_READ_SIZE (256u << 10) /* at once */

/* --- directories --- */

/* List a directory; fd is closed. prefix: names of the directories above, each with a '/'. */
static void list_directory(struct tree *t, int fd, const char *prefix, int depth)
{
	char name[PATH_MAX];
	struct dirent *entry;
	struct stat st;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct input_member *m;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if ((size_t)snprintf(name, sizeof(name), "%s%s", prefix, entry->d_name) >=
		    sizeof(name) - 1)
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < t->depth_most) {
			int sub = openat(dirfd(dir), entry->d_name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			strcat(name, "/");
			if (sub >= 0)
				list_directory(t, sub, name, depth + 1);
			continue;
		}
		/* a link to a file is accepted; a link to a directory could be a loop */
		if (S_ISLNK(st.st_mode) && fstatat(dirfd(dir), entry->d_name, &st, 0) < 0)
			continue;
		if (!S_ISREG(st.st_mode))
			continue;
		m = tree_add(t, name);
		if (!m)
			break;
		m->size = st.st_size;
	}
	closedir(dir);
}

static int tree_open_directory(struct tree *t, int fd, struct error *e)
{
	int copy;

	t->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	copy = t->fd < 0 ? -1 : openat(t->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy < 0)
		return error_errno(e, t->name, NO_OFFSET, "cannot read the directory");
	list_directory(t, copy, "", 1);
	/* names keep all their directories: openat needs them */
	if (t->nr)
		qsort(t->members, t->nr, sizeof(*t->members), tree_compare);
	return t->depth_most == DEPTH_MAX ? tree_unpack_members(t, e) : 0;
}

/* --- what callers see of a tree --- */

static struct tree *tree_open_tree(int fd, const char *name, const void *peeked, size_t n,
				   int depth_most, struct error *e)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct stat st;
	int r;

	if (t) {
		t->fd = t->spool = -1;
		t->depth_most = depth_most;
		t->name = strdup(name);
	}
	if (!t || !t->name) {
		tree_close(t);
		error_set(e, name, NO_OFFSET, "out of memory");
		return NULL;
	}
	if (fstat(fd, &st) < 0)
		r = error_errno(e, name, NO_OFFSET, "cannot read");
	else if (S_ISDIR(st.st_mode))
		r = tree_open_directory(t, fd, e);
	else
		r = tree_open_archive(t, fd, peeked, n, e);
	if (r < 0) {
		tree_close(t);
		return NULL;
	}
	return t;
}

struct tree *tree_open_near(const char *path, struct error *e)
{
	struct tree *t;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		error_errno(e, path, NO_OFFSET, "cannot open");
		return NULL;
	}
	t = tree_open_tree(fd, path, NULL, 0, DEPTH_NEAR, e);
	close(fd);
	return t;
}

struct tree *tree_open_fd(int fd, const char *name, const void *peeked, size_t n, struct error *e)
{
	return tree_open_tree(fd, name, peeked, n, DEPTH_MAX, e);
}

void tree_close(struct tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->members[i].name);
	free(t->members);
	if (t->fd >= 0)
		close(t->fd);
	if (t->spool >= 0)
		close(t->spool);
	free(t->name);
	free(t);
}

const char *tree_name(const struct tree *t)
{
	return t->name;
}

size_t tree_count(const struct tree *t)
{
	return t->nr;
}

const char *tree_member(const struct tree *t, size_t i)
{
	return t->members[i].name;
}

size_t tree_lower_bound(const struct tree *t, const char *name)
{
	return BISECT(t->nr, i, strcmp(t->members[i].name, name) < 0);
}

static const struct input_member *tree_find_member(const struct tree *t, const char *name)
{
	size_t i = tree_lower_bound(t, name);

	return i < t->nr && !strcmp(t->members[i].name, name) ? &t->members[i] : NULL;
}

bool tree_has(const struct tree *t, const char *name)
{
	return tree_find_member(t, name) != NULL;
}

int tree_fd(const struct tree *t, const char *name, uint64_t *offset, uint64_t *size,
	    struct error *e)
{
	const struct input_member *m = tree_find_member(t, name);
	char path[512];
	struct stat st;
	int fd;

	tree_path(t, name, path, sizeof(path));
	if (!m)
		return error_set(e, path, NO_OFFSET, "no such file");
	if (t->is_archive || m->packed) {
		*offset = m->offset;
		*size = m->size;
		fd = fcntl(t->is_archive ? t->fd : t->spool, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? error_errno(e, path, NO_OFFSET, "cannot open") : fd;
	}
	/* O_NONBLOCK: the file may have been replaced by a pipe since */
	fd = openat(t->fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return error_errno(e, path, NO_OFFSET, "cannot open");
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(e, path, NO_OFFSET, "not a regular file");
	}
	*offset = 0;
	*size = st.st_size;
	return fd;
}

int tree_read(const struct tree *t, const char *name, uint64_t max_bytes, void **data, size_t *size,
	      struct error *e)
{
	uint64_t offset, left;
	size_t room = 0, n = 0;
	char *buffer = NULL, *grown;
	char path[512];
	ssize_t got = 1;
	int fd = tree_fd(t, name, &offset, &left, e);

	if (fd < 0)
		return -1;
	tree_path(t, name, path, sizeof(path));
	if (left > max_bytes || left >= SIZE_MAX / 2) {
		close(fd);
		return error_set(e, path, NO_OFFSET, "file is too large (%llu bytes)",
				 (unsigned long long)left);
	}
	do {
		/* the size may be wrong: grow as bytes are read */
		room = room ? 2 * room : TREE_READ_SIZE;
		if (room > left + 1)
			room = left + 1;
		grown = realloc(buffer, room);
		if (!grown) {
			error_set(e, path, NO_OFFSET, "out of memory");
			goto fail;
		}
		buffer = grown;
		got = io_read_at(fd, buffer + n, room - 1 - n, offset + n);
		if (got < 0) {
			error_errno(e, path, n, "cannot read");
			goto fail;
		}
		n += (size_t)got;
	} while (got && n < left);
	close(fd);
	buffer[n] = 0;
	*data = buffer;
	*size = n;
	return 0;
fail:
	free(buffer);
	close(fd);
	return -1;
}

uint64_t tree_size(const struct tree *t, const char *name)
{
	uint64_t offset, size;
	struct error e;
	int fd = tree_fd(t, name, &offset, &size, &e);

	if (fd < 0)
		return 0;
	close(fd);
	return size;
}

size_t tree_peek(const struct tree *t, const char *name, void *data, size_t n)
{
	uint64_t offset, size;
	struct error e;
	int fd = tree_fd(t, name, &offset, &size, &e);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = io_read_at(fd, data, n < size ? n : (size_t)size, offset);
	close(fd);
	return got > 0 ? (size_t)got : 0;
}

const char *tree_path(const struct tree *t, const char *name, char *buf, size_t size)
{
	size_t n = strlen(t->name);

	while (n > 1 && t->name[n - 1] == '/')
		n--;
	snprintf(buf, size, "%.*s/%s", n > INT_MAX ? INT_MAX : (int)n, t->name, name);
	return buf;
}

bool tree_damage(const struct tree *t, struct error *e)
{
	if (t->damaged && e)
		*e = t->damage;
	return t->damaged;
}

int window_open(struct file_window *w, const struct tree *tree, const char *member, size_t capacity,
		bool keep, struct error *e)
{
	*w = (struct file_window){.tree = tree, .member = member, .fd = -1};
	w->fd = tree_fd(tree, member, &w->start, &w->size, e);
	if (w->fd < 0)
		return -1;
	/* most files are smaller than the capacity */
	if (w->size < capacity)
		capacity = w->size > 64 ? (size_t)align_up(w->size, 16) : 64;
	w->capacity = w->piece = capacity;
	if (!keep) {
		close(w->fd);
		w->fd = -1;
	}
	return 0;
}

bool window_keep(struct decoding *d, size_t files)
{
	if (files > DESCRIPTORS_KEPT || d->descriptors >= DESCRIPTORS_KEPT)
		return false;
	d->descriptors++;
	return true;
}

int window_open_one(struct file_window *w, const struct input *in, const char *member, size_t files,
		    struct error *e)
{
	enum { ALL = 4 << 20, MOST = 64 * 1024, LEAST = 1024 };
	size_t share = ALL / (files ? files : 1) & ~(size_t)15;
	bool keep = window_keep(in->decoding, files);
	int failed = window_open(w, in->tree, member,
				 share > MOST	 ? MOST
				 : share < LEAST ? LEAST
						 : share,
				 keep, e);

	if (keep)
		w->descriptors = &in->decoding->descriptors;
	return failed;
}

/* Read at an offset; if no descriptor is kept, open one for this read. */
static ssize_t read_at(struct file_window *w, void *data, size_t n, uint64_t offset,
		       struct error *e)
{
	char path[512];
	uint64_t start, size;
	int fd = w->fd;
	ssize_t got;

	if (fd < 0) {
		fd = tree_fd(w->tree, w->member, &start, &size, e);
		if (fd < 0)
			return -1;
	}
	got = io_read_at(fd, data, n, w->start + offset);
	if (got < 0)
		error_errno(e, tree_path(w->tree, w->member, path, sizeof(path)), offset,
			    "cannot read");
	if (fd != w->fd)
		close(fd);
	return got;
}

bool window_peek(struct file_window *w, uint64_t offset, void *to, size_t n)
{
	struct error e;

	return offset < w->size && w->size - offset >= n &&
	       read_at(w, to, n, offset, &e) == (ssize_t)n;
}

void window_close(struct file_window *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->descriptors)
		--*w->descriptors;
	w->descriptors = NULL;
	free(w->data);
	w->fd = -1;
	w->data = NULL;
	w->begin = w->filled = 0;
}

/* Read a piece after the bytes of the window. Returns 0 at the end of the file. */
static ssize_t window_read(struct file_window *w, struct error *e)
{
	uint64_t at = w->offset + w->filled;
	size_t n = w->capacity - w->filled;
	ssize_t got;

	if (at >= w->size)
		return 0;
	n = n < w->piece ? n : w->piece;
	got = read_at(w, w->data + w->filled, n < w->size - at ? n : (size_t)(w->size - at), at, e);
	if (got > 0)
		w->filled += (size_t)got;
	else if (!got)
		w->size = at; /* the file was truncated since */
	return got;
}

ssize_t window_need(struct file_window *w, size_t n, struct error *e)
{
	uint8_t *data = w->data;
	ssize_t got = 1;

	while (window_have(w) < n && got > 0) {
		if (w->begin) {
			memmove(data, data + w->begin, window_have(w));
			w->filled -= w->begin;
			w->begin = 0;
		}
		if (!data || w->filled == w->capacity) {
			/* a length in the file proves nothing: grow only as bytes arrive */
			size_t capacity = data ? 2 * w->capacity : w->capacity;

			data = realloc(data, capacity);
			if (!data)
				return error_set(e, w->member, NO_OFFSET, "out of memory");
			w->data = data;
			w->capacity = capacity;
		}
		got = window_read(w, e);
	}
	return got < 0 ? -1 : (ssize_t)window_have(w);
}

int input_read_all(const struct input *in, struct buffer *b, struct error *e)
{
	ssize_t got;

	b->spills = true;
	if (buffer_append(b, in->head, in->head_size))
		return error_no_memory(e);
	do {
		if (buffer_reserve(b, BUFFER_PIECE))
			return error_no_memory(e);
		got = io_read(in->fd, b->data + b->size, BUFFER_PIECE);
		if (got < 0)
			return error_errno(e, in->name, b->size, "cannot read");
		b->size += (size_t)got;
	} while (got);
	return 0;
}

/* --- lines --- */

enum { PIECE = 64 * 1024 };

/* Read more bytes after those that are there. */
static int input_read_more(struct input_lines *l, const struct input *in, struct error *e)
{
	size_t piece = l->piece ? l->piece : PIECE;
	ssize_t got;

	if (!l->begun && !l->source.read) {
		l->begun = true;
		return buffer_append(&l->data, in->head, in->head_size) ? error_no_memory(e) : 0;
	}
	if (l->begin) {
		memmove(l->data.data, l->data.data + l->begin, l->data.size - l->begin);
		l->data.size -= l->begin;
		l->begin = 0;
	}
	if (buffer_reserve(&l->data, piece))
		return error_no_memory(e);
	l->begun = true;
	if (l->source.read)
		got = l->source.read(l->source.ctx, l->data.data + l->data.size, piece, e);
	else
		got = io_read(in->fd, l->data.data + l->data.size, piece);
	if (got < 0)
		return l->source.read ? -1 : error_errno(e, in->name, NO_OFFSET, "cannot read");
	l->ended = got == 0;
	l->data.size += (size_t)got;
	return 0;
}

int input_lines_next(struct input_lines *l, const struct input *in, const char **text, size_t *n,
		     struct error *e)
{
	const uint8_t *end = NULL;
	size_t have;

	l->cut = false;
	l->offset = l->next;
	for (;;) {
		have = l->data.size - l->begin;
		if (have > l->searched)
			end = memchr(l->data.data + l->begin + l->searched, '\n',
				     have - l->searched);
		if (end || l->ended)
			break;
		l->searched = have;
		if (have > LINE_MOST) {
			/* keep what is delivered, and read over the rest */
			l->next += have - LINE_MOST;
			l->data.size -= have - LINE_MOST;
			l->searched = LINE_MOST;
			l->cut = true;
		}
		if (input_read_more(l, in, e))
			return -1;
	}
	l->searched = 0;
	if (!have)
		return 0;
	*text = (const char *)l->data.data + l->begin;
	l->whole = end != NULL;
	*n = end ? (size_t)(end - l->data.data) - l->begin : have;
	l->begin += *n + (end != NULL);
	l->next += *n + (end != NULL);
	l->cut |= *n > LINE_MOST;
	*n = *n > LINE_MOST ? LINE_MOST : *n;
	if (*n && (*text)[*n - 1] == '\r')
		--*n;
	return 1;
}

int input_lines_fill(struct input_lines *l, const struct input *in, size_t size, struct error *e)
{
	while (!l->ended && l->data.size - l->begin < size)
		if (input_read_more(l, in, e))
			return -1;
	return 0;
}

bool input_lines_ready(const struct input_lines *l, const struct input *in, int ms)
{
	size_t have = l->data.size - l->begin;
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	return !l->begun || l->ended ||
	       (have > l->searched &&
		memchr(l->data.data + l->begin + l->searched, '\n', have - l->searched)) ||
	       poll(&p, 1, ms) != 0;
}

void input_lines_free(struct input_lines *l)
{
	buffer_free(&l->data);
}

/* --- merge --- */

/* ns, of the wall times of a clock of the system, by which it is recognised: utc_offset and similar
 * fields are whole seconds, which two recordings may have rounded differently. */
static const uint64_t WALL_TOLERANCE = 1000000000;

/* Test whether it is too much to be added to a time. */
static bool is_beyond(int128 ns)
{
	return ns >= (int128)TIME_LIMIT || ns <= -(int128)TIME_LIMIT;
}

int merge_choose_clock(struct input *in, struct error *e)
{
	bool wall = in->decoding->clock == CLOCK_WALL;

	if (in->has_wall && is_beyond(in->wall)) {
		input_damage(in, in->name, NO_OFFSET,
			     "the wall time of its clock is impossible: it is left out");
		in->has_wall = false;
		in->wall = 0;
	}
	wall |= in->own_zero && in->has_wall && in->decoding->several &&
		in->decoding->clock == CLOCK_DEFAULT;
	if (wall && (!in->has_wall || in->ticks))
		return error_set(e, in->name, NO_OFFSET,
				 "the trace does not record its wall time (--clock wall)");
	in->shift = saturated_i64((int128)in->shift + (wall ? in->wall : 0));
	if (is_beyond(in->shift))
		return error_set(e, in->name, NO_OFFSET,
				 "--offset or --align moves its events by 146 years or more");
	if (wall)
		in->clock_name = "wall";
	return 0;
}

void merge_count_rows(struct input *in, const char *clock_name)
{
	in->clock_name = clock_name;
	in->ticks = in->row_order = true;
}

uint32_t input_declare_clock(const struct input *in, bool is_wall)
{
	struct writer *w = in->decoding->writer;

	return writer_clock(
		w, &(struct clock_entry){.name = writer_text(w, in->clock_name),
					 .flags = (in->ticks ? CLOCK_TICKS : 0) |
						  (in->row_order ? CLOCK_ROWS : 0) |
						  (in->has_wall ? CLOCK_HAS_WALL : 0) |
						  (is_wall ? CLOCK_IS_WALL : 0) |
						  (in->own_zero && !is_wall ? CLOCK_OWN_ZERO : 0),
					 .wall = merge_wall(in)});
}

int merge_first(struct input *in, uint64_t first, struct error *e)
{
	if (in->shift < 0 && first < -(uint64_t)in->shift)
		return error_set(e, in->name, NO_OFFSET, "--offset moves its events before time 0");
	in->next = merge_shifted(first, in->shift);
	return 0;
}

/* Are the times of guest on the clock of host? Some recorders give the host no id. */
static bool is_guest_of(const struct input *guest, const struct input *host)
{
	if (!guest->on_host_clock)
		return false;
	for (size_t i = 0; i < host->nguest_ids; i++)
		if (host->guest_ids[i] == guest->trace_id && guest->trace_id)
			return true;
	return guest->host_id && guest->host_id == host->trace_id;
}

static bool share_host(const struct input *a, const struct input *b)
{
	return a->on_host_clock && b->on_host_clock && a->host_id && a->host_id == b->host_id;
}

/* Clocks that count from the beginnings of their traces are wall clocks here (merge_choose_clock).
 */
static bool clocks_meet(const struct input *a, const struct input *b)
{
	uint64_t x = (uint64_t)merge_wall(a), y = (uint64_t)merge_wall(b);

	if (is_guest_of(a, b) || is_guest_of(b, a) || share_host(a, b))
		return true;
	if (a->row_order && b->row_order)
		return true;
	if (a->ticks != b->ticks || strcmp(a->clock_name, b->clock_name))
		return false;
	/* ticks that each input counts from the same number, as those of apitrace, do not agree */
	if (a->ticks)
		return a->next != b->next;
	/* without wall times, or of --clock raw */
	if (a->own_zero || b->own_zero)
		return a->has_wall && b->has_wall && x == y;
	if (!a->has_wall || !b->has_wall)
		return true;
	return ((int64_t)x > (int64_t)y ? x - y : y - x) <= WALL_TOLERANCE;
}

/* Describe what makes the times of clocks that do not meet comparable. */
static const char *merge_advice(const struct input *inputs, int n)
{
	for (int i = 0; i < n; i++)
		if (inputs[i].next != UINT64_MAX && (!inputs[i].has_wall || inputs[i].ticks))
			return "align them with --offset FILE=TIME, or with --align start";
	return "--clock wall gives their wall times; or align them with --offset FILE=TIME, or "
	       "with --align start";
}

/* Print a remark if one input has ticks and another one ns: --offset and --align add the same
 * number to both. */
static void remark_units(const struct input *inputs, int n)
{
	const struct input *of[2] = {NULL, NULL}; /* ns, ticks */

	for (int i = 0; i < n; i++)
		if (inputs[i].next != UINT64_MAX && !of[inputs[i].ticks])
			of[inputs[i].ticks] = &inputs[i];
	if (of[0] && of[1] && !of[0]->decoding->quiet)
		warn(of[1]->name, NO_OFFSET,
		     "its clock counts ticks, the clock of %s (%s) ns: their times agree only if a "
		     "tick is 1 ns",
		     of[0]->name, of[0]->clock_name);
}

int merge_check_clocks(const struct input *inputs, int n, struct error *e)
{
	const struct input *a = NULL;

	for (int i = 0; i < n; i++) {
		const struct input *b = &inputs[i];

		if (b->next != UINT64_MAX && b->shift_text &&
		    time_check_clock(b->name, "--offset", b->shift_text, b->ticks, e))
			return -1;
		if (b->next == UINT64_MAX || b->placed)
			continue;
		if (a && !clocks_meet(a, b))
			return error_set(e, b->name, NO_OFFSET,
					 "its clock (%s) and the clock of %s (%s) cannot be "
					 "compared: %s",
					 b->clock_name, a->name, a->clock_name,
					 merge_advice(inputs, n));
		if (!a)
			a = b;
	}
	remark_units(inputs, n);
	return 0;
}

/*
 * Run inputs that may have an earlier event after the next one to their ends: the writer refuses
 * the later events. A live input may have no end, so it ends here.
 */
static int run_rest(struct input *inputs, int n, struct error *e)
{
	for (struct input *in = inputs; in < inputs + n; in++) {
		if (in->next == UINT64_MAX || in->decoder->in_order || (in->file.live && !in->tree))
			continue;
		writer_refuse_rows(in->decoding->writer);
		if (input_run(in, UINT64_MAX, e))
			return -1;
	}
	return 0;
}

int merge_run(struct input *inputs, int n, uint64_t last, struct error *e)
{
	for (;;) {
		struct input *first = NULL;
		uint64_t until = last;

		for (int i = 0; i < n; i++)
			if (inputs[i].next != UINT64_MAX &&
			    (!first || inputs[i].next < first->next))
				first = &inputs[i];
		if (!first || first->next > last)
			return run_rest(inputs, n, e);
		/* run the first input until another one is due; at equal times the earlier
		 * operand is first */
		for (int i = 0; i < n; i++) {
			uint64_t next = inputs[i].next;

			if (&inputs[i] == first || next == UINT64_MAX)
				continue;
			if (&inputs[i] < first) /* not at the same time, or it would be first */
				next--;
			if (next < until)
				until = next;
		}
		if (input_run(first, until, e))
			return -1;
	}
}

/* --- trace info --- */

enum { INFO_NAME = 18 }; /* characters before a value */

void trace_info_close(struct text *text, bool json)
{
	if (json)
		text_puts(text, "\n]\n");
}

static void end_list(struct trace_info *f)
{
	if (f->list && f->json)
		text_char(f->text, ']');
	f->list = NULL;
}

/* Begin a name and value. JSON names have no blanks: "max stack" is "max_stack". A name may be
 * from the trace. */
static void begin_fact(struct trace_info *f, const char *name)
{
	size_t n = strlen(name);

	end_list(f);
	if (f->json) {
		char key[512];
		size_t size = 0;

		for (size_t i = 0; i < n && size < sizeof key; i++)
			if (name[i] != ',')
				key[size++] = name[i] == ' ' ? '_' : name[i];
		text_puts(f->text, f->any ? ",\n    " : "\n    ");
		json_string(f->text, key, size);
		text_puts(f->text, ": ");
	} else {
		text_masked(f->text, name, n);
		f->used = n < INFO_NAME ? INFO_NAME : n + 1;
		text_pad(f->text, ' ', f->used - n);
	}
	f->any = true;
}

void trace_info_begin(struct trace_info *f, struct text *text, bool json, const char *input,
		      bool first)
{
	*f = (struct trace_info){.text = text, .json = json, .width = f->width};
	if (json)
		text_puts(text, first ? "[\n  {" : ",\n  {");
	else if (!first)
		text_char(text, '\n');
	fact_text(f, "input", input);
}

void trace_info_end(struct trace_info *f)
{
	end_list(f);
	if (f->json)
		text_puts(f->text, "\n  }");
}

static size_t trimmed(const char *value)
{
	size_t n = value ? strlen(value) : 0;

	while (n && isspace((unsigned char)value[n - 1]))
		n--;
	return n;
}

static void input_put_value(struct trace_info *f, const char *value, size_t n)
{
	if (f->json) {
		json_string(f->text, value, n);
	} else {
		aligned_words(f->text, value, n, f->width, INFO_NAME, f->used);
		text_char(f->text, '\n');
	}
}

void fact_text(struct trace_info *f, const char *name, const char *value)
{
	size_t n = trimmed(value);

	if (!n)
		return;
	begin_fact(f, name);
	input_put_value(f, value, n);
}

void fact_item(struct trace_info *f, const char *name, const char *value)
{
	bool further = f->list && !strcmp(f->list, name);

	if (!further || !f->json)
		begin_fact(f, name);
	if (f->json)
		text_puts(f->text, further ? ", " : "[");
	f->list = name;
	input_put_value(f, value, trimmed(value));
}

void fact_number(struct trace_info *f, const char *name, uint64_t value)
{
	begin_fact(f, name);
	text_u64(f->text, value);
	if (!f->json)
		text_char(f->text, '\n');
}

/* --- input --- */

enum {
	LIVE_PAUSE = 20, /* ms without bytes after which a live text is probed */
	HEAD_SIZE = 4096,
	HEADER_SIZE = 16,	     /* by which each binary format is recognised */
	HEAD_SIZE_ZSTD = 132 * 1024, /* of its first block, before whose end zstd unpacks nothing */
};

/* Print the first damage of its kind. */
static void damage_print(struct input *in, const struct error *e)
{
	if (faults_add(&in->faults, e, NULL) || in->decoding->verbose)
		error_print(e);
}

/* Record damage, and print the first of its kind. */
static void damage_add(struct input *in, const struct error *e)
{
	struct decoding *d = in->decoding;
	char message[600];
	struct error named = *e;

	d->status = status_worse(d->status, STATUS_DAMAGED);
	if (d->writer) {
		if (!named.file[0])
			error_set(&named, in->name, e->offset, "%s", e->what);
		error_text(&named, message, sizeof message);
		writer_status(d->writer, STATUS_DAMAGED, message, NULL);
	}
	damage_print(in, e);
}

/*
 * After the end that a signal made, the last damage is the record that was cut there. Damage before
 * it is damage. What an archive lacks that was cut there is printed, but is no damage.
 */
void input_damage_error(struct input *in, const struct error *e)
{
	if (in->decoding->times_only || in->decoding->ended)
		return;
	if (in->tree && in->tree->cut) {
		if (!in->decoding->quiet)
			damage_print(in, e);
		return;
	}
	if (!io_cut()) {
		damage_add(in, e);
		return;
	}
	if (in->faults.held && in->faults.held->offset != e->offset)
		damage_add(in, in->faults.held);
	if (!in->faults.held)
		in->faults.held = malloc(sizeof *in->faults.held);
	if (in->faults.held)
		*in->faults.held = *e;
}

bool input_left(const struct input *in)
{
	struct stat st;

	/* an archive from a pipe was read to the end of the pipe */
	if (in->tree)
		return !in->file.live;
	return in->fd >= 0 && !fstat(in->fd, &st) && S_ISREG(st.st_mode) && st.st_size &&
	       lseek(in->fd, 0, SEEK_CUR) < st.st_size;
}

static void damage_text(struct input *in, const char *file, uint64_t offset, const char *fmt,
			va_list ap)
{
	struct error e;
	char what[sizeof(e.what)];

	vsnprintf(what, sizeof(what), fmt, ap);
	error_set(&e, file, offset, "%s", what);
	input_damage_error(in, &e);
}

void input_damage(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	damage_text(in, file, offset, fmt, ap);
	va_end(ap);
}

int input_open_json(struct input *in, struct json_reader *r, struct error *e)
{
	e->what[0] = '\0';
	if (!json_open(r, in->fd, in->name, in->head, in->head_size))
		return 0;
	json_close(r);
	return error_no_memory(e);
}

void input_short(struct input *in, const char *file, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (io_cut())
		return;
	va_start(ap, fmt);
	damage_text(in, file, offset, fmt, ap);
	va_end(ap);
}

/* Get how many bytes of a stream are read before it is decoded: those up to the end of HEAD,
 * at most room. */
static size_t stream_head(const struct input *in, size_t room)
{
	size_t headers = MARKER_SIZE + BLOCK_HEADER, n;

	if (in->head_size < headers)
		return headers;
	n = get_u32(in->head + MARKER_SIZE + 8);
	return n > room - headers ? room : headers + n;
}

/* Test whether a live text pauses after a line, and the lines so far show its format, which -f may
 * give: a tar has more bytes than a few events. */
static bool live_text(const struct input *in, const struct decoder *const *decoders)
{
	struct pollfd p = {.fd = in->fd, .events = POLLIN};

	if (!decoders || in->head[in->head_size - 1] != '\n' || poll(&p, 1, LIVE_PAUSE))
		return false;
	for (; *decoders; decoders++)
		if (in->format ? !strcmp(in->format, (*decoders)->name) && (*decoders)->probe(in)
			       : (*decoders)->probe(in) >= BID_LIKELY)
			return true;
	return false;
}

/* Read n bytes of the file or pipe, if it has so many, into a buffer of `room` bytes. decoders: a
 * text may be live; NULL: it is not. */
static int read_until(struct input *in, size_t n, size_t room,
		      const struct decoder *const *decoders, struct error *e)
{
	uint8_t *head = realloc(in->head, room);

	if (!head)
		return error_no_memory(e);
	in->head = head;
	while (in->head_size < n) {
		ssize_t got = io_read(in->fd, in->head + in->head_size, room - in->head_size);

		if (got < 0)
			return error_errno(e, in->name, NO_OFFSET, "cannot read");
		if (!got)
			break;
		in->head_size += (size_t)got;
		/* a live stream may begin with fewer bytes than a tar has, except its HEAD */
		if (reader_is_stream(in->head, in->head_size)) {
			io_set_patience(PATIENCE_FILTER);
			n = stream_head(in, room);
		} else if (in->head_size < n && live_text(in, decoders)) {
			break;
		}
	}
	return 0;
}

/* Read the first bytes of a file or pipe, up to the number by which a format is recognised. */
static int input_read_head(struct input *in, const struct decoder *const *decoders, struct error *e)
{
	if (read_until(in, TREE_PROBE, HEAD_SIZE, decoders, e))
		return -1;
	if (unpack_is_zstd(in->head, in->head_size))
		return read_until(in, HEAD_SIZE_ZSTD, HEAD_SIZE_ZSTD, NULL, e);
	return 0;
}

/* Open the directory of this file, where the file may be a part of a trace. */
static int open_part(struct input *in, struct error *e)
{
	char *slash;

	in->path = strdup(in->name);
	if (!in->path)
		return error_no_memory(e);
	slash = strrchr(in->path, '/');
	if (slash) {
		in->member = in->name + (slash - in->path) + 1;
		slash[slash == in->path] = '\0';
	} else {
		in->member = in->name;
		strcpy(in->path, ".");
	}
	in->tree = tree_open_near(in->path, e);
	return in->tree ? 0 : -1;
}

static const struct decoder *probe_decoders(const struct input *in, const char *format,
					    const struct decoder *const *decoders)
{
	const struct decoder *best = NULL;
	enum bid highest = BID_NONE;

	for (; *decoders; decoders++) {
		const struct decoder *d = *decoders;
		enum bid bid = format && strcmp(format, d->name) ? BID_NONE : d->probe(in);

		if (bid > highest || (best && bid == highest && strcmp(d->name, best->name) < 0)) {
			best = d;
			highest = bid;
		}
	}
	return best;
}

/* Find the damage of a compressed file whose content is read. Returns true, once, if it has any. */
static bool input_packed_damage(const struct input *in, struct error *e)
{
	char rest[4096];

	/* what a decoder leaves */
	while (in->packed && in->fd >= 0 && io_read(in->fd, rest, sizeof rest) > 0)
		;
	return in->packed && decompress_damage(in->packed, e);
}

static int unknown_format(const struct input *in, const char *format,
			  const struct decoder *const *decoders, struct error *e)
{
	const struct decoder *other = format ? probe_decoders(in, NULL, decoders) : NULL;
	bool directory = in->tree && !in->path && !in->head_size;
	unsigned version;

	if (reader_other_version(in->head, in->head_size, &version))
		return error_set(e, in->name, NO_OFFSET, "event stream version %u is not supported",
				 version);
	/* content that is so short was read to its end */
	if (in->tree ? tree_damage(in->tree, e)
		     : in->head_size < TREE_PROBE && input_packed_damage(in, e))
		return -1;
	if (!other && !in->head_size && (!in->tree || in->member))
		return error_set(e, in->name, NO_OFFSET, "empty, not a trace");
	if (other)
		return error_set(e, in->name, NO_OFFSET, "not a trace of the format %s (but of %s)",
				 format, other->name);
	if (format)
		return error_set(e, in->name, NO_OFFSET, "not a trace of the format %s", format);
	return error_set(e, in->name, NO_OFFSET, "%snot a trace of a known format%s%s",
			 in->packed ? "the compressed data are " : "",
			 directory ? " (a directory without the files of one)" : "",
			 directory && tree_count(in->tree)
				 ? "; if its files are traces, name them: DIRECTORY/FILE"
				 : "");
}

static int input_open_file(struct input *in, const char *name, struct stat *st, struct error *e)
{
	if (!strcmp(name, "-")) {
		in->name = "<stdin>";
		in->fd = STDIN_FILENO;
		if (isatty(in->fd))
			return error_set(e, in->name, NO_OFFSET, "a terminal, not a trace");
	} else {
		in->fd = io_open(name, O_RDONLY | O_CLOEXEC);
		if (in->fd < 0)
			return error_errno(e, name, NO_OFFSET, "cannot open");
		if (isatty(in->fd))
			return error_set(e, name, NO_OFFSET, "a terminal, not a trace");
	}
	if (fstat(in->fd, st))
		return error_errno(e, in->name, NO_OFFSET, "cannot open");
	in->file.device = st->st_dev;
	in->file.inode = st->st_ino;
	in->file.live = !S_ISDIR(st->st_mode) && (!S_ISREG(st->st_mode) || !st->st_size);
	return 0;
}

/* Close the operand's descriptor: the tree of a directory or an archive reads from its own. */
static void input_close_file(struct input *in)
{
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->fd = -1;
}

static int input_open_tree(struct input *in, struct error *e)
{
	struct error packed;

	in->tree = tree_open_fd(in->fd, in->name, in->head, in->head_size, e);
	if (input_packed_damage(in, &packed)) {
		if (!in->tree)
			*e = packed;
		else if (!io_cut())
			tree_set_damage(in->tree, &packed);
	}
	if (!in->tree)
		return -1;
	input_close_file(in);
	return 0;
}

/* Read the content of a compressed file in place of the file. */
static int open_packed(struct input *in, struct error *e)
{
	const struct unpack_file file = {in->fd, in->name, in->head, in->head_size};
	int fd;

	in->packed = decompress_open(&file, &fd, e);
	if (!in->packed)
		return -1;
	in->fd = fd;
	in->head_size = 0;
	return input_read_head(in, NULL, e);
}

/* Find the decoder of a file or pipe. A compressed one may be a trace itself, as a .trace is;
 * else its content is. */
static int open_content(struct input *in, const struct decoder *const *decoders, struct error *e)
{
	if (input_read_head(in, decoders, e))
		return -1;
	in->decoder = probe_decoders(in, in->format, decoders);
	if (!in->decoder && decompress_known(in->head, in->head_size)) {
		if (open_packed(in, e))
			return -1;
		in->decoder = probe_decoders(in, in->format, decoders);
	}
	if (in->decoder || !tree_is_archive(in->head, in->head_size))
		return 0;
	return input_open_tree(in, e);
}

static int ended_open(struct input *in, struct error *e)
{
	(void)in;
	(void)e;
	return 0;
}

static int ended_info(struct input *in, struct trace_info *f, struct error *e)
{
	(void)in;
	(void)f;
	(void)e;
	return 0;
}

static int ended_run(struct input *in, uint64_t until, struct error *e)
{
	(void)in;
	(void)until;
	(void)e;
	return 0;
}

/* Of a live source that a signal ended before its first byte or within its header, which is an
 * empty recording of any format. */
static const struct decoder ended = {.name = "ended",
				     .raw_clock = true,
				     .in_order = true,
				     .open = ended_open,
				     .info = ended_info,
				     .begin = ended_open,
				     .run = ended_run};

bool input_ended_early(const struct input *in)
{
	return in->decoder == &ended;
}

/* Make an input empty that a signal ended where its remark says. Returns 0. */
static int end_early(struct input *in, const char *fmt, ...)
{
	char where[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(where, sizeof where, fmt, ap);
	va_end(ap);
	if (!in->decoding->quiet)
		warn(in->name, NO_OFFSET, "ended by a signal %s", where);
	if (in->decoder && in->state)
		in->decoder->close(in);
	in->state = NULL;
	in->decoder = &ended;
	in->next = UINT64_MAX;
	return 0;
}

/* Find the decoder of an operand that is open. */
static int find_decoder(struct input *in, const struct stat *st,
			const struct decoder *const *decoders, struct error *e)
{
	const char *format = in->format;

	if (S_ISDIR(st->st_mode) ? input_open_tree(in, e) : open_content(in, decoders, e))
		return -1;
	if (!in->decoder)
		in->decoder = probe_decoders(in, format, decoders);
	if (!in->decoder && !in->tree && !in->packed && !io_cut() && S_ISREG(st->st_mode) &&
	    strcmp(in->name, "<stdin>")) {
		struct error none;

		/* a directory that cannot be read is treated as one that is not a trace */
		if (!open_part(in, &none))
			in->decoder = probe_decoders(in, format, decoders);
		if (in->decoder)
			input_close_file(in);
	}
	return in->decoder ? 0 : unknown_format(in, format, decoders, e);
}

/* Test whether the bytes read so far can be the beginning of any format: they end within the first
 * line, or are fewer than a header has. */
static bool may_begin_any(const struct input *in, const struct decoder *const *decoders)
{
	return !probe_decoders(in, NULL, decoders) &&
	       (in->head_size < HEADER_SIZE || !memchr(in->head, '\n', in->head_size));
}

int input_open(struct input *in, const char *name, const char *format,
	       const struct decoder *const *decoders, struct decoding *decoding, struct error *e)
{
	struct stat st;

	*in = (struct input){.name = name,
			     .format = format,
			     .fd = -1,
			     .decoding = decoding,
			     .next = UINT64_MAX,
			     .clock_name = ""};
	e->what[0] = '\0';
	/* also while the stream's writer waits for its own first byte */
	if (format && !strcmp(format, "stream"))
		io_set_patience(PATIENCE_FILTER);
	if (input_open_file(in, name, &st, e))
		return -1;
	if (!find_decoder(in, &st, decoders, e))
		return 0;
	if (!io_cut() || memory_failed())
		return -1;
	if (in->tree || in->packed || tree_is_archive(in->head, in->head_size))
		return end_early(in, "within its header: no events (%s)", e->what);
	if (!in->head_size)
		return end_early(in, "before its first byte: no events");
	if (!may_begin_any(in, decoders))
		return -1;
	return end_early(in, "after %zu byte%s, too few to recognise its format: no events",
			 in->head_size, in->head_size == 1 ? "" : "s");
}

/* After an error of a decoder's open or begin: it is none if a signal cut the header. A stream
 * records why it ends. */
static int header_failed(struct input *in, const struct error *e)
{
	const struct writer *w = in->decoding->writer;

	if (!io_cut() || memory_failed() || !e->what[0] || w->error.what[0] ||
	    reader_is_stream(in->head, in->head_size))
		return -1;
	return end_early(in, "within its header: no events (%s)", e->what);
}

int input_open_trace(struct input *in, struct error *e)
{
	e->what[0] = '\0';
	return in->decoder->open(in, e) ? header_failed(in, e) : 0;
}

struct text_span input_head(const struct input *in)
{
	const char *head = in->head ? (const char *)in->head : "";

	return (struct text_span){head, head + in->head_size};
}

bool input_head_has(const struct input *in, const char *text)
{
	return in->head_size && memmem(in->head, in->head_size, text, strlen(text));
}

bool input_is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) >= 0;
}

/* Returns -1 with an error that has a text. */
static int decoder_failed(const struct input *in, struct error *e)
{
	const struct writer *w = in->decoding->writer;

	if (!e->what[0] && w)
		*e = w->error;
	return e->what[0] ? -1 : error_set(e, in->name, NO_OFFSET, "out of memory");
}

/* Report the damage of a compressed file that is read to its end. */
static void report_packed(struct input *in)
{
	struct error damage;

	if (in->next == UINT64_MAX && in->decoding->shared != in &&
	    input_packed_damage(in, &damage) && !io_cut())
		input_damage_error(in, &damage);
}

void input_end_shared(struct input *in)
{
	in->decoding->shared = NULL;
	report_packed(in);
}

int input_begin(struct input *in, struct error *e)
{
	e->what[0] = '\0';
	if (in->decoder->begin(in, e) && header_failed(in, e))
		return decoder_failed(in, e);
	report_packed(in);
	return 0;
}

int input_run(struct input *in, uint64_t until, struct error *e)
{
	e->what[0] = '\0';
	in->decoding->running = in;
	if (in->decoder->run(in, until, e))
		return decoder_failed(in, e);
	report_packed(in);
	return 0;
}

void input_close(struct input *in)
{
	if (in->decoder && in->state)
		in->decoder->close(in);
	if (in->faults.total && !in->decoding->verbose)
		faults_report(&in->faults, in->name, " (--verbose prints them)");
	tree_close(in->tree);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	decompress_close(in->packed);
	free(in->head);
	free(in->faults.held);
	free(in->path);
}

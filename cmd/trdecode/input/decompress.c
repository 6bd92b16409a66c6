#include "cmd/trdecode/input/decompress.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/io.h"
#include "common/util/memory.h"

enum { READ_SIZE = 256 * 1024, PIPE_SIZE = 1 << 20 };

struct decompress {
	pthread_t thread;
	bool joined;
	int in, out; /* the file; the pipe's end for writing */
	const char *name;
	uint8_t *buffer; /* the bytes read last, at first those of the head */
	size_t head_size;
	bool unpacks; /* by unpack.h, else by libarchive, which loses the end of a truncated file */
	enum container container;
	struct error damage;
};

static bool begins(const uint8_t *head, size_t n, const char *magic, size_t size)
{
	return n >= size && !memcmp(head, magic, size);
}

static bool is_gzip(const uint8_t *head, size_t n)
{
	return begins(head, n, "\x1f\x8b\x08", 3);
}

bool decompress_known(const uint8_t *head, size_t n)
{
	return is_gzip(head, n) || unpack_is_zstd(head, n) ||
	       begins(head, n,
		      "\xfd"
		      "7zXZ\0",
		      6) ||
	       begins(head, n, "\x04\x22\x4d\x18", 4) ||
	       (begins(head, n, "BZh", 3) &&
		begins(head + 4, n - 4, "\x31\x41\x59\x26\x53\x59", 6));
}

/* Wait for bytes of the file. -1: the pipe has no reader any more. */
static int wait_for_input(void *ctx)
{
	struct decompress *d = ctx;

	return io_wait(d->in, d->out);
}

/* Returns false if the pipe has no reader any more. */
static bool put(const struct decompress *d, const uint8_t *p, size_t n)
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
		if (!put(d, u.at, (size_t)(u.end - u.at)))
			break;
	}
	if (!got)
		d->damage = u.damage;
	unpack_close(&u);
}

static la_ssize_t read_packed(struct archive *a, void *ctx, const void **buffer)
{
	struct decompress *d = ctx;
	ssize_t n = (ssize_t)d->head_size;

	*buffer = d->buffer;
	d->head_size = 0;
	if (!n && !wait_for_input(d))
		n = io_read(d->in, d->buffer, READ_SIZE);
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
	r = archive_read_open(a, d, NULL, read_packed, NULL);
	if (r == ARCHIVE_OK)
		r = archive_read_next_header(a, &entry);
	while (r == ARCHIVE_OK || r == ARCHIVE_WARN) {
		r = archive_read_data_block(a, &data, &n, &offset);
		if ((r == ARCHIVE_OK || r == ARCHIVE_WARN) && !put(d, data, n))
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

static void *run(void *ctx)
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
static int start(struct decompress *d)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&d->thread, NULL, run, d);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

struct decompress *decompress_open(const struct unpack_file *file, int *fd, struct error *e)
{
	struct decompress *d = calloc(1, sizeof *d);
	int ends[2];

	if (!d || !(d->buffer = malloc(READ_SIZE + file->head_size))) {
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
	if (!start(d)) {
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

static void join(struct decompress *d)
{
	if (!d->joined)
		pthread_join(d->thread, NULL);
	d->joined = true;
}

bool decompress_damage(struct decompress *d, struct error *e)
{
	join(d);
	if (!d->damage.what[0])
		return false;
	*e = d->damage;
	d->damage.what[0] = '\0';
	return true;
}

void decompress_close(struct decompress *d)
{
	if (!d)
		return;
	join(d);
	if (d->in > STDERR_FILENO)
		close(d->in);
	free(d->buffer);
	free(d);
}

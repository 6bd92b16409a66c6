/*
 * blobs.c - blobs as files of a directory
 *
 * The name of a file is known only when its call is printed (the K-th blob of the call's text), so
 * each blob is first written to a file named by a number. A NUL and that number mark the blob in
 * the text, which has no other NULs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/buffer_file.h"
#include "cmd/trencode/text/apitrace/apitrace.h"

struct apitrace_blobs {
	const char *directory;
	int fd;
	uint32_t first;		/* number of the source of the first blob */
	uint32_t kept, settled; /* numbers of files written; of these, named or removed */
	struct error error;
};

enum { NAME_SIZE = 64 };

struct apitrace_blobs *apitrace_blobs_open(const char *directory, struct error *e)
{
	struct apitrace_blobs *b = calloc(1, sizeof *b);

	if (!b) {
		error_no_memory(e);
		return NULL;
	}
	b->directory = directory;
	if (mkdir(directory, 0777) && errno != EEXIST) {
		error_errno(e, directory, NO_OFFSET, "cannot make the directory");
		free(b);
		return NULL;
	}
	b->fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->fd < 0) {
		error_errno(e, directory, NO_OFFSET, "cannot open");
		free(b);
		return NULL;
	}
	return b;
}

const struct error *apitrace_blobs_error(const struct apitrace_blobs *b)
{
	return &b->error;
}

static void temporary_name(uint32_t number, char *name)
{
	snprintf(name, NAME_SIZE, ".blob-%ld-%u", (long)getpid(), number);
}

static void remove_blob(struct apitrace_blobs *b, uint32_t number)
{
	char name[NAME_SIZE];

	temporary_name(number, name);
	if (!unlinkat(b->fd, name, 0))
		b->settled++;
}

void apitrace_blobs_drop(struct apitrace_blobs *b, const uint8_t *text, size_t n)
{
	const uint8_t *end = text + n;

	while (text < end && (text = memchr(text, 0, (size_t)(end - text))) && end - text >= 5) {
		remove_blob(b, get_u32(text + 1));
		text += 5;
	}
}

void apitrace_blobs_close(struct apitrace_blobs *b)
{
	if (!b)
		return;
	/* blobs of calls that were not printed because of an error */
	for (uint32_t i = 0; i < b->kept && b->settled < b->kept; i++)
		remove_blob(b, i);
	close(b->fd);
	free(b);
}

int apitrace_blobs_keep(struct apitrace_blobs *b, const void *data, size_t n, struct buffer *out)
{
	char name[NAME_SIZE];
	const char *p = data;
	int fd;

	temporary_name(b->kept, name);
	fd = openat(b->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_errno(&b->error, b->directory, NO_OFFSET, "cannot write to it");
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			error_errno(&b->error, b->directory, NO_OFFSET, "cannot write to it");
			close(fd);
			return -1;
		}
		p += done;
		n -= (size_t)done;
	}
	if (close(fd))
		return error_errno(&b->error, b->directory, NO_OFFSET, "cannot write to it");
	if (buffer_u8(out, 0) || buffer_u32(out, b->kept))
		return error_set(&b->error, NULL, NO_OFFSET, "out of memory");
	b->kept++;
	return 0;
}

int apitrace_blobs_name(struct apitrace_blobs *b, struct apitrace_blob_names *names,
			const struct buffer *piece, size_t at, size_t n, struct buffer *out)
{
	while (n) {
		const uint8_t *text = piece->data + at;
		size_t most = n < BUFFER_PIECE ? n : BUFFER_PIECE;
		const uint8_t *mark = memchr(text, 0, most);
		size_t plain = mark ? (size_t)(mark - text) : most;
		char from[NAME_SIZE], to[NAME_SIZE], trace[24] = "";

		if (buffer_append(out, text, plain))
			return error_set(&b->error, NULL, NO_OFFSET, "out of memory");
		text += plain;
		at += plain;
		n -= plain;
		if (!mark) {
			buffer_rest(piece);
			continue;
		}
		if (n < 5)
			break;
		temporary_name(get_u32(text + 1), from);
		if (!b->first)
			b->first = names->source;
		/* the calls of each trace count from 0: only the first has the names of apitrace */
		if (names->source != b->first)
			snprintf(trace, sizeof trace, "trace%u_", names->source);
		/* the second blob of a call has the number 1 */
		if (names->number)
			snprintf(to, sizeof to, "blob_%scall%u_%u.bin", trace, names->call,
				 names->number);
		else
			snprintf(to, sizeof to, "blob_%scall%u.bin", trace, names->call);
		names->number++;
		if (renameat(b->fd, from, b->fd, to))
			return error_errno(&b->error, b->directory, NO_OFFSET, "cannot write %s",
					   to);
		b->settled++;
		if (buffer_printf(out, "blob(\"%s\")", to))
			return error_set(&b->error, NULL, NO_OFFSET, "out of memory");
		at += 5;
		n -= 5;
	}
	return 0;
}

/*
 * tree_packed.c - compressed files of a directory: their content goes to one temporary file
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trdecode/input/decompress.h"
#include "cmd/trdecode/input/tree_private.h"
#include "common/util/io.h"
#include "common/util/temporary.h"

enum { PACKED_READ = 256 * 1024 };

/* In the order in which members are sorted. */
static const char *const suffixes[] = {".bz2", ".gz", ".lz4", ".xz", ".zst"};

enum { SUFFIXES = sizeof(suffixes) / sizeof(*suffixes) };

/* Returns the length of a name without the suffix of a compressed file; 0: it has none. */
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
static bool is_wanted(const struct tree *t, const char *name, size_t length)
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
static int unpack_member(struct tree *t, struct member *m, size_t length, uint64_t *end,
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

int tree_unpack_members(struct tree *t, struct error *e)
{
	uint64_t end = 0;

	for (size_t i = 0; i < t->nr; i++)
		t->members[i].packed =
			is_wanted(t, t->members[i].name, plain_length(t->members[i].name));
	for (size_t i = 0; i < t->nr; i++)
		if (t->members[i].packed &&
		    unpack_member(t, &t->members[i], plain_length(t->members[i].name), &end, e))
			return -1;
	/* the new names have another order */
	if (t->spool >= 0)
		qsort(t->members, t->nr, sizeof(*t->members), tree_compare);
	return 0;
}

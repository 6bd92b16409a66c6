/*
 * tree_archive.c - a tar of a directory: its members go to one temporary file
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/temporary.h"
#include "cmd/trdecode/input/tree_private.h"
#include "common/util/intern.h"
#include "common/util/io.h"
#include "common/util/memory.h"

/* No member ends beyond this offset of the temporary file. */
#define SPOOL_MAX (INT64_MAX / 2)

#define READ_SIZE (256u << 10)

/* What an archive is read from. */
struct source {
	int fd;
	const void *peeked;
	size_t nr_peeked;
	char *buffer;
	int read_errno;
	bool ended;
};

/* Return the length of name's directory part, '/' included. */
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
	struct source *s = data;
	ssize_t n;

	if (s->nr_peeked) {
		n = s->nr_peeked;
		*buffer = s->peeked;
		s->nr_peeked = 0;
		return n;
	}
	n = io_read(s->fd, s->buffer, READ_SIZE);
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
static int spool_entry(struct tree *t, struct archive *a, struct member *m, struct error *e)
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

/* The members by name, for hard links: index + 1 of the last one of each name. */
struct targets {
	struct id_cache numbers;
	size_t added; /* number of members that are in it */
};

/* Return the index + 1 of the member that a link is to; 0: none. -1: out of memory. */
static int64_t find_target(struct targets *x, const struct tree *t, const char *name)
{
	uint32_t at;

	for (; x->added < t->nr; x->added++) {
		const char *member = t->members[x->added].name;
		uint32_t *number = id_cache_number(&x->numbers, member, strlen(member));

		if (!number)
			return -1;
		*number = (uint32_t)x->added + 1;
	}
	at = intern_find(&x->numbers.keys, name, strlen(name));
	return at == INTERN_NONE ? 0 : x->numbers.numbers[at];
}

/* Record why the archive cannot be read further. */
static void archive_failure(const struct tree *t, struct archive *a, const struct source *s,
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

static void archive_damage(struct tree *t, struct archive *a, const struct source *s,
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
static int add_link(struct tree *t, struct targets *targets, const char *name, const char *link,
		    struct error *e)
{
	int64_t target = find_target(targets, t, link);
	struct member *m;

	if (target < 0)
		return error_no_memory(e);
	m = target ? tree_add(t, name) : NULL;
	if (m) {
		m->offset = t->members[target - 1].offset;
		m->size = t->members[target - 1].size;
	}
	return 0;
}

static int read_archive(struct tree *t, struct archive *a, struct source *s,
			struct targets *targets, struct error *e)
{
	struct archive_entry *entry;
	uint64_t end = 0; /* end of the temporary file */
	int r;

	while ((r = archive_read_next_header(a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);
		const char *link = archive_entry_hardlink(entry);
		struct member *m;

		if (!name)
			name = archive_entry_pathname_utf8(entry);
		if (!name || (archive_entry_filetype(entry) != AE_IFREG && !link))
			continue;
		name = entry_name(name);
		if (!*name || strlen(name) >= PATH_MAX)
			continue;
		if (link && !archive_entry_size(entry)) {
			if (add_link(t, targets, name, entry_name(link), e))
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

int tree_open_archive(struct tree *t, int fd, const void *peeked, size_t n, struct error *e)
{
	struct source source = {.fd = fd, .peeked = peeked, .nr_peeked = n};
	struct archive *a = archive_read_new();
	struct targets targets = {.added = 0};
	int result = -1;

	t->is_archive = true;
	source.buffer = malloc(READ_SIZE);
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
	result = read_archive(t, a, &source, &targets, e);
	finish_members(t);
out:
	if (a)
		archive_read_free(a);
	id_cache_free(&targets.numbers);
	free(source.buffer);
	return result;
}

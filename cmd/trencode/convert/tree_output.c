#include "cmd/trencode/convert/tree_output.h"

#include "common/util/buffer.h"
#include "common/util/temporary.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BUFFERS = 4 << 20, /* bytes, of all members together */
	BUFFER_MAX = 64 << 10,
	BUFFER_MIN = 64,
	BUFFER_FIRST = 1024,
	COPY_SIZE = 64 << 10,
	NAME_LIMIT = 255,
	TAR_BLOCK = 10240, /* as tar(1) does */
};

/* In the spool each piece of a member has before it where the one before stands, and its length. */
enum { PIECE_HEADER = 16 };
#define NO_PIECE UINT64_MAX

bool tree_output_name_ok(const char *name, size_t n)
{
	return n && n <= NAME_LIMIT && name[0] != '.' && !memchr(name, '/', n) &&
	       !memchr(name, 0, n);
}

/* --- opening --- */

static int open_tar(struct tree_output *t, struct error *e)
{
	if (isatty(STDOUT_FILENO))
		return error_set(e, NULL, NO_OFFSET,
				 "a tar is not written to a terminal; use -o DIR");
	t->spool = temporary_open(e);
	if (t->spool < 0)
		return -1;
	if (output_open(&t->output, NULL, OUTPUT_BINARY, e)) {
		close(t->spool);
		t->spool = -1;
		return -1;
	}
	return 0;
}

/* 1: a directory without entries, 0: there is nothing, -1. */
static int look_at_location(const char *path, struct error *e)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int n = 0;

	if (!d)
		return errno == ENOENT ? 0 : error_errno(e, path, NO_OFFSET, "cannot be used");
	while (n < 3 && (entry = readdir(d)))
		n++;
	closedir(d);
	if (n > 2)
		return error_set(e, path, NO_OFFSET, "is a directory that is not empty");
	return 1;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int make_temporary(struct tree_output *t, const char *where, struct error *e)
{
	for (int i = 0; i < 1000; i++) {
		char *name;

		if (asprintf(&name, "%s/.tr-%ld-%d.tmp", where, (long)getpid(), i) < 0)
			return error_no_memory(e);
		if (!mkdir(name, 0777)) {
			t->temporary = name;
			return 0;
		}
		free(name);
		if (errno != EEXIST)
			break;
	}
	return error_errno(e, where, NO_OFFSET, "cannot create a directory");
}

static int open_directory(struct tree_output *t, const char *path, struct error *e)
{
	int there = look_at_location(path, e), r;
	size_t n = strlen(path);
	char *parent;

	if (there < 0)
		return -1;
	t->inside = there;
	while (n > 1 && path[n - 1] == '/')
		n--;
	t->location = strndup(path, n);
	parent = t->location ? there ? strdup(t->location) : parent_of(t->location) : NULL;
	if (!parent)
		return error_no_memory(e);
	r = make_temporary(t, parent, e);
	free(parent);
	if (r)
		return -1;
	t->directory = open(t->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->directory < 0)
		return error_errno(e, t->temporary, NO_OFFSET, "cannot open");
	return 0;
}

int tree_output_open(struct tree_output *t, const char *path, const char *top, struct error *e)
{
	bool tar = !path || !strcmp(path, "-");

	*t = (struct tree_output){
		.directory = -1, .spool = -1, .top = top, .limit = BUFFER_MAX, .open = true};
	if (tar ? open_tar(t, e) : open_directory(t, path, e)) {
		tree_output_close(t);
		return -1;
	}
	return 0;
}

/* --- members --- */

int tree_output_member(struct tree_output *t, const char *name, size_t n, uint32_t *number,
		       struct error *e)
{
	struct tree_member *members;

	if (!tree_output_name_ok(name, n))
		return error_set(e, NULL, NO_OFFSET, "'%.*s' cannot be the name of a file",
				 (int)(n < 100 ? n : 100), name);
	*number = intern_find(&t->names, name, n);
	if (*number != INTERN_NONE)
		return 0;
	members = array_grow(t->members, &t->capacity, t->names.count, sizeof(*members));
	if (!members)
		return error_no_memory(e);
	t->members = members;
	*number = intern(&t->names, name, n);
	if (*number == INTERN_NONE)
		return error_no_memory(e);
	members[*number] = (struct tree_member){.last = NO_PIECE};
	/* the file is there even if nothing is ever appended */
	return t->location ? tree_output_settle(t, *number, e) : 0;
}

uint32_t tree_output_find(const struct tree_output *t, const char *name)
{
	return intern_find(&t->names, name, strlen(name));
}

static int write_all(int fd, const void *data, size_t n)
{
	const uint8_t *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int append_file(struct tree_output *t, uint32_t number, const void *data, size_t n,
		       struct error *e)
{
	const char *name = intern_data(&t->names, number);
	int fd = openat(t->directory, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	int r;

	if (fd < 0)
		return error_errno(e, name, NO_OFFSET, "cannot create");
	r = write_all(fd, data, n);
	if (r)
		error_errno(e, name, NO_OFFSET, "cannot write");
	if (close(fd) && errno != EINTR && !r)
		r = error_errno(e, name, NO_OFFSET, "cannot write");
	return r;
}

static int append_spool(struct tree_output *t, uint32_t number, const void *data, size_t n,
			struct error *e)
{
	struct tree_member *m = &t->members[number];
	uint8_t head[PIECE_HEADER];

	if (!n)
		return 0;
	put_u64(head, m->last);
	put_u64(head + 8, n);
	if (write_all(t->spool, head, sizeof(head)) || write_all(t->spool, data, n))
		return error_errno(e, "temporary file", NO_OFFSET, "cannot write");
	m->last = t->spool_size;
	t->spool_size += sizeof(head) + n;
	return 0;
}

static int append(struct tree_output *t, uint32_t number, const void *data, size_t n,
		  struct error *e)
{
	return t->location ? append_file(t, number, data, n, e)
			   : append_spool(t, number, data, n, e);
}

/* Write what is in the buffer, and give it back if give is set. */
static int flush(struct tree_output *t, uint32_t number, bool give, struct error *e)
{
	struct tree_member *m = &t->members[number];

	if (m->used && append(t, number, m->buffer, m->used, e))
		return -1;
	m->used = 0;
	if (give && m->buffer) {
		free(m->buffer);
		m->buffer = NULL;
		m->capacity = 0;
		t->active--;
	}
	return 0;
}

int tree_output_settle(struct tree_output *t, uint32_t number, struct error *e)
{
	if (t->location && !t->members[number].size)
		return append(t, number, "", 0, e);
	return flush(t, number, true, e);
}

/* One buffer more: each may take less when they are many. Each halving looks at all members. */
static int count_buffer(struct tree_output *t, struct error *e)
{
	size_t limit = t->limit;

	t->active++;
	while (limit > BUFFER_MIN && t->active * limit > BUFFERS)
		limit /= 2;
	if (limit == t->limit)
		return 0;
	t->limit = limit;
	for (uint32_t i = 0; i < t->names.count; i++)
		if (t->members[i].capacity > limit && flush(t, i, true, e))
			return -1;
	return 0;
}

static int grow_buffer(struct tree_output *t, uint32_t number, size_t need, struct error *e)
{
	struct tree_member *m = &t->members[number];
	size_t capacity = m->capacity ? m->capacity : BUFFER_FIRST;
	uint8_t *buffer;

	if (!m->buffer && count_buffer(t, e))
		return -1;
	while (capacity < need)
		capacity *= 2;
	if (capacity > t->limit)
		capacity = t->limit;
	buffer = realloc(m->buffer, capacity);
	if (!buffer) {
		t->active -= !m->buffer;
		return error_no_memory(e);
	}
	m->buffer = buffer;
	m->capacity = (uint32_t)capacity;
	return 0;
}

int tree_output_put_slow(struct tree_output *t, uint32_t number, const void *data, size_t n,
			 struct error *e)
{
	struct tree_member *m = &t->members[number];

	if (!n)
		return 0;
	m->size += n;
	if (n + m->used > t->limit && flush(t, number, false, e))
		return -1;
	if (n >= t->limit)
		return append(t, number, data, n, e);
	if (n + m->used > m->capacity && grow_buffer(t, number, n + m->used, e))
		return -1;
	if (n + m->used > m->capacity) /* the limit fell meanwhile */
		return flush(t, number, false, e) || append(t, number, data, n, e) ? -1 : 0;
	memcpy(m->buffer + m->used, data, n);
	m->used += (uint32_t)n;
	return 0;
}

/* --- the directory comes into its place --- */

static void remove_temporary(struct tree_output *t)
{
	if (t->directory >= 0)
		for (uint32_t i = 0; i < t->names.count; i++)
			unlinkat(t->directory, intern_data(&t->names, i), 0);
	if (rmdir(t->temporary) && errno != ENOENT)
		warn(t->temporary, NO_OFFSET, "cannot be removed");
}

static int move_members(struct tree_output *t, struct error *e)
{
	int to = open(t->location, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (to < 0)
		return error_errno(e, t->location, NO_OFFSET, "cannot open");
	for (uint32_t i = t->names.count; i-- > 0 && !r;) {
		const char *name = intern_data(&t->names, i);

		if (!renameat(t->directory, name, to, name))
			continue;
		r = error_errno(e, t->location, NO_OFFSET, "cannot put '%s' in its place", name);
		while (++i < t->names.count)
			unlinkat(to, intern_data(&t->names, i), 0);
		break;
	}
	close(to);
	if (!r)
		rmdir(t->temporary);
	return r;
}

static int put_in_place(struct tree_output *t, struct error *e)
{
	if (t->inside) {
		if (move_members(t, e))
			return -1;
	} else if (rename(t->temporary, t->location)) {
		return error_errno(e, t->location, NO_OFFSET,
				   "cannot put the directory in its place");
	}
	free(t->temporary);
	t->temporary = NULL;
	return 0;
}

/* --- the tar --- */

struct tar {
	struct tree_output *tree;
	struct archive *archive;
	struct error *e;
	uint8_t *copy; /* COPY_SIZE */
	bool failed;   /* e is filled */
};

static la_ssize_t write_block(struct archive *a, void *ctx, const void *data, size_t n)
{
	struct tar *tar = ctx;

	if (tar->failed)
		return -1;
	if (!output_write(&tar->tree->output, data, n, tar->e))
		return (la_ssize_t)n;
	tar->failed = true;
	archive_set_error(a, EIO, "cannot write");
	return -1;
}

static int tar_failed(struct tar *tar)
{
	if (!tar->failed)
		error_set(tar->e, "standard output", NO_OFFSET, "cannot write the tar: %s",
			  archive_error_string(tar->archive));
	tar->failed = true;
	return -1;
}

/* name NULL: the directory itself. Neither time nor owner, so that equal input gives equal bytes.
 */
static int tar_header(struct tar *tar, const char *name, uint64_t size)
{
	struct archive_entry *entry = archive_entry_new();
	char *path;
	int r;

	if (!entry || asprintf(&path, "%s/%s", tar->tree->top, name ? name : "") < 0) {
		archive_entry_free(entry);
		tar->failed = true;
		return error_no_memory(tar->e);
	}
	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, name ? AE_IFREG : AE_IFDIR);
	archive_entry_set_perm(entry, name ? 0644 : 0755);
	archive_entry_set_size(entry, (la_int64_t)size);
	archive_entry_set_mtime(entry, 0, 0);
	r = archive_write_header(tar->archive, entry);
	archive_entry_free(entry);
	free(path);
	/* a warning: the name is no text of this locale, and stands as it is */
	return r < ARCHIVE_WARN ? tar_failed(tar) : 0;
}

static int read_spool(struct tar *tar, uint64_t offset, void *data, size_t n)
{
	uint8_t *p = data;

	while (n) {
		ssize_t got = pread(tar->tree->spool, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			tar->failed = true;
			return error_errno(tar->e, "temporary file", NO_OFFSET, "cannot read");
		}
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static int tar_piece(struct tar *tar, uint64_t at)
{
	uint8_t head[PIECE_HEADER];
	uint64_t left;

	if (read_spool(tar, at, head, sizeof(head)))
		return -1;
	left = get_u64(head + 8);
	for (at += sizeof(head); left;) {
		size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;

		if (read_spool(tar, at, tar->copy, n))
			return -1;
		if (archive_write_data(tar->archive, tar->copy, n) != (la_ssize_t)n)
			return tar_failed(tar);
		at += n;
		left -= n;
	}
	return 0;
}

/* The pieces are chained from the last to the first. */
static int tar_member(struct tar *tar, uint32_t number)
{
	const struct tree_member *m = &tar->tree->members[number];
	struct buffer pieces = {0};
	uint8_t head[PIECE_HEADER];
	int r = tar_header(tar, intern_data(&tar->tree->names, number), m->size);

	for (uint64_t at = m->last; !r && at != NO_PIECE; at = get_u64(head)) {
		r = read_spool(tar, at, head, sizeof(head));
		if (!r && buffer_u64(&pieces, at)) {
			tar->failed = true;
			r = error_no_memory(tar->e);
		}
	}
	for (size_t i = pieces.size / 8; !r && i-- > 0;)
		r = tar_piece(tar, get_u64(pieces.data + 8 * i));
	buffer_free(&pieces);
	return r;
}

static int write_tar(struct tree_output *t, struct error *e)
{
	struct tar tar = {.tree = t, .e = e};
	int r = -1;

	tar.archive = archive_write_new();
	tar.copy = malloc(COPY_SIZE);
	if (!tar.archive || !tar.copy) {
		tar.failed = true;
		error_no_memory(e);
	} else if (archive_write_set_format_pax_restricted(tar.archive) < ARCHIVE_WARN ||
		   archive_write_set_bytes_per_block(tar.archive, TAR_BLOCK) < ARCHIVE_WARN ||
		   archive_write_open(tar.archive, &tar, NULL, write_block, NULL) < ARCHIVE_WARN) {
		tar_failed(&tar);
	} else {
		r = tar_header(&tar, NULL, 0);
		for (uint32_t i = 0; !r && i < t->names.count; i++)
			r = tar_member(&tar, i);
		if (!r && archive_write_close(tar.archive) < ARCHIVE_WARN)
			r = tar_failed(&tar);
	}
	archive_write_free(tar.archive);
	free(tar.copy);
	return r;
}

/* --- the end --- */

int tree_output_finish(struct tree_output *t, struct error *e)
{
	int r;

	for (uint32_t i = 0; i < t->names.count; i++)
		if (flush(t, i, true, e))
			return -1;
	if (t->location)
		return put_in_place(t, e);
	if (write_tar(t, e))
		return -1;
	r = output_close(&t->output, 0, e);
	close(t->spool);
	t->spool = -1;
	return r;
}

void tree_output_close(struct tree_output *t)
{
	struct error e;

	if (!t->open)
		return;
	if (t->temporary)
		remove_temporary(t);
	if (t->directory >= 0)
		close(t->directory);
	if (t->spool >= 0) {
		close(t->spool);
		output_close(&t->output, 0, &e);
	}
	for (uint32_t i = 0; i < t->names.count; i++)
		free(t->members[i].buffer);
	free(t->members);
	intern_free(&t->names);
	free(t->location);
	free(t->temporary);
	*t = (struct tree_output){.directory = -1, .spool = -1};
}

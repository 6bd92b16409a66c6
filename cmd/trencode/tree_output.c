/*
 * tree_output.c - a result of several files: a directory, or a tar of it on standard output
 */
#include "cmd/trencode/tree_output.h"

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

#include "common/util/buffer.h"
#include "common/util/memory.h"
#include "common/util/output.h"

/*
 * The members of the spool as a tar on standard output.
 *
 * The spool is a temporary file with the pieces of all members. A piece begins with a header: u64
 * offset of the member's previous piece (NO_PIECE: none), u64 length in bytes.
 */

#define NO_PIECE UINT64_MAX

enum {
	PIECE_HEADER = 16,
	COPY_SIZE = 64 << 10,
	TAR_BLOCK = 10240, /* as tar(1) does */
};

/* One tar while it is written. */
struct tar {
	struct tree_output *tree;
	struct archive *archive;
	struct error *e;
	uint8_t *copy; /* COPY_SIZE */
	bool failed;   /* e is filled */
};

static la_ssize_t tar_write_block(struct archive *a, void *ctx, const void *data, size_t n)
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

/* Write the header of a member; name NULL: of the directory itself. It has neither time nor owner,
 * so equal input gives equal bytes. */
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
	/* a warning: the name is not a text of this locale, and is written unchanged */
	return r < ARCHIVE_WARN ? tar_failed(tar) : 0;
}

static int tar_read_spool(struct tar *tar, uint64_t offset, void *data, size_t n)
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

	if (tar_read_spool(tar, at, head, sizeof(head)))
		return -1;
	left = get_u64(head + 8);
	for (at += sizeof(head); left;) {
		size_t n = left < COPY_SIZE ? (size_t)left : COPY_SIZE;

		if (tar_read_spool(tar, at, tar->copy, n))
			return -1;
		if (archive_write_data(tar->archive, tar->copy, n) != (la_ssize_t)n)
			return tar_failed(tar);
		at += n;
		left -= n;
	}
	return 0;
}

/* Write a member. Its pieces are linked from the last to the first. */
static int tar_member(struct tar *tar, uint32_t number)
{
	const struct tree_member *m = &tar->tree->members[number];
	struct buffer pieces = {0};
	uint8_t head[PIECE_HEADER];
	int r = tar_header(tar, intern_data(&tar->tree->names, number), m->size);

	for (uint64_t at = m->last; !r && at != NO_PIECE; at = get_u64(head)) {
		r = tar_read_spool(tar, at, head, sizeof(head));
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

/* Write all members of the spool to t->output as a tar. Returns 0, or -1 with *e filled. */
static int tree_output_write_tar(struct tree_output *t, struct error *e)
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
		   archive_write_open(tar.archive, &tar, NULL, tar_write_block, NULL) <
			   ARCHIVE_WARN) {
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

/* --- tree output --- */

enum {
	BUFFERS = 4 << 20, /* bytes, of all members together */
	BUFFER_MAX = 64 << 10,
	BUFFER_MIN = 64,
	BUFFER_FIRST = 1024,
	NAME_LIMIT = 255,
};

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

/* Returns 1 if path is a directory without entries, 0 if it does not exist. */
static int examine_path(const char *path, struct error *e)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int n = 0;

	if (!d && errno == ENOTDIR && !access(path, F_OK))
		return error_set(e, path, NO_OFFSET,
				 "is a file: remove it, or use another name for the directory");
	if (!d)
		return errno == ENOENT ? 0 : error_errno(e, path, NO_OFFSET, "cannot be used");
	while (n < 3 && (entry = readdir(d)))
		n++;
	closedir(d);
	if (n > 2)
		return error_set(
			e, path, NO_OFFSET,
			"is a directory that is not empty: remove it, or use another name");
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
		temporary_name(name);
		if (!mkdir(name, 0777)) {
			t->temporary = name;
			return 0;
		}
		temporary_unname(name);
		free(name);
		if (errno != EEXIST)
			break;
	}
	return error_errno(e, where, NO_OFFSET, "cannot create a directory");
}

static int tree_output_open_directory(struct tree_output *t, const char *path, struct error *e)
{
	int there, r;
	size_t n = strlen(path);
	char *parent;

	t->places = !t->top;
	t->made = t->places && !mkdir(path, 0777);
	if (t->places && !t->made && errno != EEXIST)
		return error_errno(e, path, NO_OFFSET, "cannot create a directory");
	there = t->places ? 1 : examine_path(path, e);
	if (there < 0)
		return -1;
	t->inside = there;
	while (n > 1 && path[n - 1] == '/')
		n--;
	t->path = strndup(path, n);
	parent = t->path ? there ? strdup(t->path) : parent_of(t->path) : NULL;
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
	bool tar = !path || !strcmp(path, "-"), made;

	*t = (struct tree_output){
		.directory = -1, .spool = -1, .top = top, .limit = BUFFER_MAX, .open = true};
	if (tar ? open_tar(t, e) : tree_output_open_directory(t, path, e)) {
		made = t->made;
		tree_output_close(t);
		if (made)
			rmdir(path);
		return -1;
	}
	return 0;
}

/* --- members --- */

int tree_output_member(struct tree_output *t, const char *name, size_t n, uint32_t *number,
		       struct error *e)
{
	if (!tree_output_name_ok(name, n))
		return error_set(e, NULL, NO_OFFSET, "'%.*s' cannot be the name of a file",
				 (int)(n < 100 ? n : 100), name);
	*number = intern_find(&t->names, name, n);
	if (*number != INTERN_NONE)
		return 0;
	if (ARRAY_GROW(t->members, t->capacity, t->names.count))
		return error_no_memory(e);
	*number = intern(&t->names, name, n);
	if (*number == INTERN_NONE)
		return error_no_memory(e);
	t->members[*number] = (struct tree_member){.last = NO_PIECE};
	/* the file exists even if nothing is ever appended */
	return t->path ? tree_output_settle(t, *number, e) : 0;
}

static int tree_output_write_all(int fd, const void *data, size_t n)
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
	r = tree_output_write_all(fd, data, n);
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
	if (tree_output_write_all(t->spool, head, sizeof(head)) ||
	    tree_output_write_all(t->spool, data, n))
		return error_errno(e, "temporary file", NO_OFFSET, "cannot write");
	m->last = t->spool_size;
	t->spool_size += sizeof(head) + n;
	return 0;
}

static int member_append(struct tree_output *t, uint32_t number, const void *data, size_t n,
			 struct error *e)
{
	return t->path ? append_file(t, number, data, n, e) : append_spool(t, number, data, n, e);
}

/* Write the content of the buffer; free the buffer if give is set. */
static int member_flush(struct tree_output *t, uint32_t number, bool give, struct error *e)
{
	struct tree_member *m = &t->members[number];

	if (m->used && member_append(t, number, m->buffer, m->used, e))
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
	if (t->path && !t->members[number].size)
		return member_append(t, number, "", 0, e);
	return member_flush(t, number, true, e);
}

/* Count one more buffer. Many buffers have a lower limit each; larger ones are written and freed.
 */
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
		if (t->members[i].capacity > limit && member_flush(t, i, true, e))
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
	t->total += n;
	if (n + m->used > t->limit && member_flush(t, number, false, e))
		return -1;
	if (n >= t->limit)
		return member_append(t, number, data, n, e);
	if (n + m->used > m->capacity && grow_buffer(t, number, n + m->used, e))
		return -1;
	if (n + m->used > m->capacity) /* count_buffer lowered the limit */
		return member_flush(t, number, false, e) || member_append(t, number, data, n, e)
			       ? -1
			       : 0;
	memcpy(m->buffer + m->used, data, n);
	m->used += (uint32_t)n;
	return 0;
}

/* --- the complete directory --- */

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
	int to = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (to < 0)
		return error_errno(e, t->path, NO_OFFSET, "cannot open");
	for (uint32_t i = t->names.count; i-- > 0 && !r;) {
		const char *name = intern_data(&t->names, i);

		if (!renameat(t->directory, name, to, name))
			continue;
		r = error_errno(e, t->path, NO_OFFSET, "cannot replace '%s'", name);
		while (++i < t->names.count)
			unlinkat(to, intern_data(&t->names, i), 0);
		break;
	}
	close(to);
	if (!r)
		rmdir(t->temporary);
	return r;
}

/* Make the directories of a place. */
static int make_parents(int to, char *place)
{
	for (char *slash = strchr(place, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdirat(to, place, 0777);
		*slash = '/';
		if (r && errno != EEXIST)
			return -1;
	}
	return 0;
}

/* Move the members to their places. */
static int move_to_places(struct tree_output *t, struct error *e)
{
	int to = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;

	if (to < 0)
		return error_errno(e, t->path, NO_OFFSET, "cannot open");
	for (uint32_t i = 0; i < t->names.count && !r; i++) {
		char *place = t->members[i].place;

		if (make_parents(to, place) ||
		    renameat(t->directory, intern_data(&t->names, i), to, place))
			r = error_errno(e, t->path, NO_OFFSET, "cannot create '%s'", place);
	}
	close(to);
	if (!r)
		rmdir(t->temporary);
	return r;
}

static int move_into_place(struct tree_output *t, struct error *e)
{
	if (t->inside) {
		if (t->places ? move_to_places(t, e) : move_members(t, e))
			return -1;
	} else if (rename(t->temporary, t->path)) {
		return error_errno(e, t->path, NO_OFFSET, "cannot replace the output directory");
	}
	temporary_unname(t->temporary);
	free(t->temporary);
	t->temporary = NULL;
	return 0;
}

/* --- the end --- */

int tree_output_finish(struct tree_output *t, struct error *e)
{
	int r;

	for (uint32_t i = 0; i < t->names.count; i++)
		if (member_flush(t, i, true, e))
			return -1;
	if (memory_failed())
		return error_no_memory(e);
	if (t->path)
		return move_into_place(t, e);
	if (tree_output_write_tar(t, e))
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
	if (t->temporary) {
		remove_temporary(t);
		temporary_unname(t->temporary);
		if (t->made)
			rmdir(t->path); /* unless others wrote to it */
	}
	if (t->directory >= 0)
		close(t->directory);
	if (t->spool >= 0) {
		close(t->spool);
		output_close(&t->output, 0, &e);
	}
	for (uint32_t i = 0; i < t->names.count; i++) {
		free(t->members[i].buffer);
		free(t->members[i].place);
	}
	free(t->members);
	intern_free(&t->names);
	free(t->path);
	free(t->temporary);
	*t = (struct tree_output){.directory = -1, .spool = -1};
}

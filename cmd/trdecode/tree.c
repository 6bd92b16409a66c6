#include "tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/temporary.h"
#include "unpack.h"

/* Directory levels below the input that are looked at. */
#define DEPTH_MAX 8

/* Those that are looked at where the input is one file: no trace has a part of it further down. */
#define DEPTH_NEAR 2

/* Bytes that all names of a tree may take. */
#define NAMES_MAX (64u << 20)

/* No member ends beyond this offset of the temporary file. */
#define SPOOL_MAX (INT64_MAX / 2)

#define READ_SIZE (256u << 10)

struct member {
	char *name;
	uint64_t offset; /* in the temporary file */
	uint64_t size;
	uint32_t order; /* the later of two equal names in an archive counts */
};

struct tree {
	char *name;
	int fd; /* the directory, or the temporary file */
	bool is_archive;
	int depth_most;
	struct member *members;
	size_t nr, room;
	size_t names_size;
	bool damaged;
	struct error damage;
};

/* What an archive is read from: the file as it is, or what is packed in it. */
struct source {
	int fd;
	const void *peeked;
	size_t nr_peeked;
	char *buffer;
	int read_errno;
	bool unpacks, xz;
	struct unpack unpack;
};

static void set_damage(struct tree *t, const char *member, const char *what)
{
	char path[512];

	if (t->damaged)
		return;
	t->damaged = true;
	error_set(&t->damage, member ? tree_path(t, member, path, sizeof(path)) : t->name,
		  NO_OFFSET, "%s", what);
}

/* Returns the new member; NULL when the tree is full or memory is out. The name is copied. */
static struct member *add_member(struct tree *t, const char *name)
{
	struct member *m;
	size_t length = strlen(name);

	if (t->nr == TREE_MAX_MEMBERS || t->names_size + length > NAMES_MAX) {
		set_damage(t, NULL, "too many members, the rest is not read");
		return NULL;
	}
	if (t->nr == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		void *p = realloc(t->members, room * sizeof(*t->members));

		if (!p) {
			set_damage(t, NULL, "out of memory, the rest is not read");
			return NULL;
		}
		t->members = p;
		t->room = room;
	}
	m = &t->members[t->nr];
	*m = (struct member){.name = strdup(name), .order = t->nr};
	if (!m->name) {
		set_damage(t, NULL, "out of memory, the rest is not read");
		return NULL;
	}
	t->nr++;
	t->names_size += length;
	return m;
}

static void drop_member(struct tree *t)
{
	free(t->members[--t->nr].name);
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Bytes of the directory part of name, its '/' included. */
static size_t dir_length(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? (size_t)(slash + 1 - name) : 0;
}

/* Take off the directories that all members share, sort, and keep the last of equal names. */
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
	qsort(t->members, t->nr, sizeof(*t->members), compare_members);
	for (size_t i = 0; i < t->nr; i++) {
		if (i + 1 < t->nr && !strcmp(t->members[i].name, t->members[i + 1].name))
			free(t->members[i].name);
		else
			t->members[kept++] = t->members[i];
	}
	t->nr = kept;
}

/* ---- directories ---- */

/* fd is closed. prefix: names of the directories above, each with a '/'. */
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
		struct member *m;

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
		/* a link to a file is as good as the file, one to a directory could be a loop */
		if (S_ISLNK(st.st_mode) && fstatat(dirfd(dir), entry->d_name, &st, 0) < 0)
			continue;
		if (!S_ISREG(st.st_mode))
			continue;
		m = add_member(t, name);
		if (!m)
			break;
		m->size = st.st_size;
	}
	closedir(dir);
}

static int open_directory(struct tree *t, int fd, struct error *e)
{
	int copy;

	t->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	copy = t->fd < 0 ? -1 : openat(t->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy < 0)
		return error_errno(e, t->name, NO_OFFSET, "cannot read the directory");
	list_directory(t, copy, "", 1);
	/* names stay as they are: openat needs them whole */
	if (t->nr)
		qsort(t->members, t->nr, sizeof(*t->members), compare_members);
	return 0;
}

/* ---- archives ---- */

static bool gzip_head(const uint8_t *p, size_t n)
{
	return n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

static bool xz_head(const uint8_t *p, size_t n)
{
	static const uint8_t xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};

	return n >= sizeof(xz) && !memcmp(p, xz, sizeof(xz));
}

static bool tar_head(const uint8_t *p, size_t n)
{
	return n >= 262 && !memcmp(p + 257, "ustar", 5);
}

bool tree_is_archive(const void *head, size_t n)
{
	return tar_head(head, n) || gzip_head(head, n) || xz_head(head, n) ||
	       unpack_is_zstd(head, n);
}

/* The next bytes of what is unpacked here: what libarchive unpacks it drops where it is cut. */
static la_ssize_t read_unpacked(struct source *s, struct archive *a, const void **buffer)
{
	struct error e;
	la_ssize_t n;
	int r = 1;

	s->unpack.at = s->unpack.end;
	while (r > 0 && s->unpack.at == s->unpack.end)
		r = unpack_more(&s->unpack, &e);
	if (r < 0) {
		s->unpack.ended = true;
		s->unpack.damage = e;
		archive_set_error(a, EIO, "%s", e.what);
		return ARCHIVE_FATAL;
	}
	*buffer = s->unpack.at;
	n = s->unpack.end - s->unpack.at;
	s->unpack.at = s->unpack.end;
	return n;
}

static la_ssize_t read_source(struct archive *a, void *data, const void **buffer)
{
	struct source *s = data;
	ssize_t n;

	if (s->unpacks)
		return read_unpacked(s, a, buffer);
	if (s->nr_peeked) {
		n = s->nr_peeked;
		*buffer = s->peeked;
		s->nr_peeked = 0;
		return n;
	}
	do
		n = read(s->fd, s->buffer, READ_SIZE);
	while (n < 0 && errno == EINTR);
	*buffer = s->buffer;
	if (n < 0) {
		s->read_errno = errno;
		archive_set_error(a, errno, "read failed: %s", strerror(errno));
		return ARCHIVE_FATAL;
	}
	return n;
}

static int spool_write(int fd, const char *p, size_t n, uint64_t offset)
{
	while (n) {
		ssize_t done = pwrite(fd, p, n, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		p += done;
		n -= done;
		offset += done;
	}
	return 0;
}

/*
 * The contents of the current entry to m->offset of the temporary file. Returns 0; 1 when they end
 * early (m->size is what is there); -1 and e when writing fails.
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
		if (spool_write(t->fd, block, n, m->offset + at) < 0)
			return error_errno(e, t->name, NO_OFFSET,
					   "cannot write to the temporary file");
		if (end > m->size)
			m->size = end;
	}
	if (r != ARCHIVE_EOF)
		return 1;
	/* a sparse file may end in a hole: its end is then told here, and nowhere written */
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

static struct member *find_unsorted(struct tree *t, const char *name)
{
	for (size_t i = t->nr; i-- > 0;)
		if (!strcmp(t->members[i].name, name))
			return &t->members[i];
	return NULL;
}

/* Why the archive cannot be read on, and where in the file as it is. */
static void archive_failure(const struct tree *t, struct archive *a, const struct source *s,
			    const char *member, struct error *e)
{
	/* what libarchive says of a cut xz file tells nothing */
	const char *why = s->xz ? NULL : archive_error_string(a);
	uint64_t offset = (uint64_t)archive_filter_bytes(a, -1);
	char path[512];

	/* libarchive: a format that it does not know */
	if (!t->nr && archive_errno(a) == EILSEQ && !s->read_errno && !s->unpack.damage.what[0]) {
		error_set(e, t->name, NO_OFFSET,
			  "a compressed file that holds no tar, and no trace that is read "
			  "compressed: unpack it first");
		return;
	}
	if (s->read_errno) {
		why = strerror(s->read_errno);
	} else if (s->unpacks) {
		offset = s->unpack.packed;
		if (s->unpack.ended && s->unpack.damage.what[0]) {
			why = s->unpack.damage.what;
			offset = s->unpack.damage.offset;
		}
	}
	if (s->unpacks && s->unpack.refused[0]) {
		*e = s->unpack.damage;
		return;
	}
	error_set(e, member ? tree_path(t, member, path, sizeof(path)) : t->name, offset,
		  "the archive ends early or is damaged%s%s%s", why ? " (" : "", why ? why : "",
		  why ? ")" : "");
}

static void archive_damage(struct tree *t, struct archive *a, const struct source *s,
			   const char *member)
{
	if (t->damaged)
		return;
	t->damaged = true;
	archive_failure(t, a, s, member, &t->damage);
}

static int read_archive(struct tree *t, struct archive *a, struct source *s, struct error *e)
{
	struct archive_entry *entry;
	uint64_t end = 0; /* of the temporary file */
	unsigned nr_links = 0;
	int r;

	while ((r = archive_read_next_header(a, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);
		const char *link = archive_entry_hardlink(entry);
		struct member *m, *target;

		if (!name)
			name = archive_entry_pathname_utf8(entry);
		if (!name || (archive_entry_filetype(entry) != AE_IFREG && !link))
			continue;
		name = entry_name(name);
		if (!*name || strlen(name) >= PATH_MAX)
			continue;
		m = add_member(t, name);
		if (!m)
			return 0;
		if (link && !archive_entry_size(entry)) {
			/* the search is linear, so a lot of links is refused */
			target = ++nr_links > 4096 ? NULL : find_unsorted(t, entry_name(link));
			if (target && target != m) {
				m->offset = target->offset;
				m->size = target->size;
			} else {
				drop_member(t);
			}
			continue;
		}
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
	if (r != ARCHIVE_EOF)
		archive_damage(t, a, s, NULL);
	return 0;
}

/* What follows behind the end of the tar belongs to what is packed, with its checksum. */
static void read_rest(struct tree *t, struct source *s, struct archive *a)
{
	const void *rest;

	if (!s->unpacks)
		return;
	while (read_unpacked(s, a, &rest) > 0)
		;
	if (s->unpack.damage.what[0])
		archive_damage(t, a, s, NULL);
}

/* Where the caller has not looked at the first bytes. */
static int peek(struct source *s, uint8_t *head, size_t size, struct error *e, const char *name)
{
	s->peeked = head;
	while (s->nr_peeked < size) {
		ssize_t n = read(s->fd, head + s->nr_peeked, size - s->nr_peeked);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(e, name, NO_OFFSET, "cannot read");
		if (!n)
			break;
		s->nr_peeked += (size_t)n;
	}
	return 0;
}

static int open_source(struct tree *t, struct source *s, struct error *e)
{
	bool gzip = gzip_head(s->peeked, s->nr_peeked);

	s->xz = xz_head(s->peeked, s->nr_peeked);
	s->unpacks = gzip || unpack_is_zstd(s->peeked, s->nr_peeked);
	if (s->unpacks)
		return unpack_open(&s->unpack, gzip ? CONTAINER_GZIP : CONTAINER_ZSTD, s->fd,
				   t->name, s->peeked, s->nr_peeked, e);
	s->buffer = malloc(READ_SIZE);
	return s->buffer ? 0 : error_set(e, t->name, NO_OFFSET, "out of memory");
}

static void close_source(struct source *s)
{
	if (s->unpacks)
		unpack_close(&s->unpack);
	free(s->buffer);
}

static int open_archive(struct tree *t, int fd, const void *peeked, size_t n, struct error *e)
{
	struct source source = {.fd = fd, .peeked = peeked, .nr_peeked = n};
	struct archive *a = archive_read_new();
	uint8_t head[6];
	int result = -1;

	t->is_archive = true;
	if (!n && peek(&source, head, sizeof(head), e, t->name))
		goto out;
	if (!a) {
		error_set(e, t->name, NO_OFFSET, "out of memory");
		goto out;
	}
	if (open_source(t, &source, e))
		goto out;
	t->fd = temporary_open(e);
	if (t->fd < 0)
		goto out;
	archive_read_support_filter_xz(a);
	archive_read_support_format_tar(a);
	if (archive_read_open(a, &source, NULL, read_source, NULL) != ARCHIVE_OK) {
		archive_failure(t, a, &source, NULL, e);
		goto out;
	}
	result = read_archive(t, a, &source, e);
	if (!result)
		read_rest(t, &source, a);
	finish_members(t);
out:
	if (a)
		archive_read_free(a);
	close_source(&source);
	return result;
}

/* ---- what callers see ---- */

static struct tree *open_tree(int fd, const char *name, const void *peeked, size_t n,
			      int depth_most, struct error *e)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct stat st;
	int r;

	if (t) {
		t->fd = -1;
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
		r = open_directory(t, fd, e);
	else
		r = open_archive(t, fd, peeked, n, e);
	if (r < 0) {
		tree_close(t);
		return NULL;
	}
	return t;
}

static struct tree *open_path(const char *path, int depth_most, struct error *e)
{
	struct tree *t;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		error_errno(e, path, NO_OFFSET, "cannot open");
		return NULL;
	}
	t = open_tree(fd, path, NULL, 0, depth_most, e);
	close(fd);
	return t;
}

struct tree *tree_open_fd(int fd, const char *name, const void *peeked, size_t n, struct error *e)
{
	return open_tree(fd, name, peeked, n, DEPTH_MAX, e);
}

struct tree *tree_open(const char *path, struct error *e)
{
	if (!strcmp(path, "-"))
		return tree_open_fd(STDIN_FILENO, path, NULL, 0, e);
	return open_path(path, DEPTH_MAX, e);
}

struct tree *tree_open_near(const char *path, struct error *e)
{
	return open_path(path, DEPTH_NEAR, e);
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
	size_t low = 0, high = t->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(t->members[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct member *find_member(const struct tree *t, const char *name)
{
	size_t i = tree_lower_bound(t, name);

	return i < t->nr && !strcmp(t->members[i].name, name) ? &t->members[i] : NULL;
}

bool tree_has(const struct tree *t, const char *name)
{
	return find_member(t, name) != NULL;
}

int tree_fd(const struct tree *t, const char *name, uint64_t *offset, uint64_t *size,
	    struct error *e)
{
	const struct member *m = find_member(t, name);
	char path[512];
	struct stat st;
	int fd;

	tree_path(t, name, path, sizeof(path));
	if (!m)
		return error_set(e, path, NO_OFFSET, "no such file");
	if (t->is_archive) {
		*offset = m->offset;
		*size = m->size;
		fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? error_errno(e, path, NO_OFFSET, "cannot open") : fd;
	}
	/* O_NONBLOCK: what was a file may have become a pipe since */
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
	char *buffer = NULL;
	char path[512];
	int fd = tree_fd(t, name, &offset, &left, e);

	if (fd < 0)
		return -1;
	tree_path(t, name, path, sizeof(path));
	if (left > max_bytes || left >= SIZE_MAX / 2) {
		close(fd);
		return error_set(e, path, NO_OFFSET, "file is too large (%llu bytes)",
				 (unsigned long long)left);
	}
	for (;;) {
		ssize_t got;

		if (n + 1 >= room) {
			void *p;

			/* the size is a promise, the bytes are the evidence */
			room = room ? 2 * room : left < READ_SIZE ? left + 1 : READ_SIZE;
			if (room > left + 1)
				room = left + 1;
			p = realloc(buffer, room);
			if (!p) {
				error_set(e, path, NO_OFFSET, "out of memory");
				goto fail;
			}
			buffer = p;
		}
		if (n == left)
			break;
		got = pread(fd, buffer + n, room - 1 - n, offset + n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			error_errno(e, path, n, "cannot read");
			goto fail;
		}
		if (!got)
			break;
		n += got;
	}
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

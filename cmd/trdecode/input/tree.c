#include "cmd/trdecode/input/tree_private.h"
#include "common/util/bisect.h"
#include "common/util/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Directory levels below the input that are read. */
#define DEPTH_MAX 8

/* Directory levels that are read where the input is one file: no trace has parts of the file
 * further down. */
#define DEPTH_NEAR 2

/* Bytes that all names of a tree may take. */
#define NAMES_MAX (64u << 20)

#define READ_SIZE (256u << 10) /* at once */

static void set_damage(struct tree *t, const char *member, const char *what)
{
	char path[512];

	if (t->damaged)
		return;
	t->damaged = true;
	error_set(&t->damage, member ? tree_path(t, member, path, sizeof(path)) : t->name,
		  NO_OFFSET, "%s", what);
}

/* Add a member; NULL if the tree is full or out of memory. The name is copied. */
struct member *tree_add(struct tree *t, const char *name)
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

int tree_compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* ---- directories ---- */

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

static int open_directory(struct tree *t, int fd, struct error *e)
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

/* ---- what callers see ---- */

static struct tree *open_tree(int fd, const char *name, const void *peeked, size_t n,
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
		r = open_directory(t, fd, e);
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
	t = open_tree(fd, path, NULL, 0, DEPTH_NEAR, e);
	close(fd);
	return t;
}

struct tree *tree_open_fd(int fd, const char *name, const void *peeked, size_t n, struct error *e)
{
	return open_tree(fd, name, peeked, n, DEPTH_MAX, e);
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
		room = room ? 2 * room : READ_SIZE;
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

void tree_set_damage(struct tree *t, const struct error *e)
{
	t->damaged = true;
	t->damage = *e;
}

bool tree_damage(const struct tree *t, struct error *e)
{
	if (t->damaged && e)
		*e = t->damage;
	return t->damaged;
}

bool tree_cut(const struct tree *t)
{
	return t->cut;
}

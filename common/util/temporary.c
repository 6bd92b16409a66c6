#include "common/util/temporary.h"
#include "common/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int failed(struct error *e, const char *what)
{
	return error_errno(e, NULL, NO_OFFSET, "cannot %s a temporary file", what);
}

int temporary_open(struct error *e)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* not every file system has O_TMPFILE */
	if ((size_t)snprintf(path, sizeof path, "%s/trutils.XXXXXX", dir) >= sizeof path)
		return error_set(e, dir, NO_OFFSET, "name of the temporary directory is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_errno(e, dir, NO_OFFSET, "cannot create a temporary file");
	unlink(path);
	return fd;
}

int temporary_write(int fd, const void *data, size_t n, uint64_t offset, struct error *e)
{
	const char *p = data;

	while (n) {
		ssize_t wrote = pwrite(fd, p, n, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return failed(e, "write");
		p += wrote;
		n -= (size_t)wrote;
		offset += (size_t)wrote;
	}
	return 0;
}

int temporary_read(int fd, void *data, size_t n, uint64_t offset, struct error *e)
{
	ssize_t got = io_read_at(fd, data, n, offset);

	if (got < 0)
		return failed(e, "read");
	if ((size_t)got < n)
		return error_set(e, NULL, NO_OFFSET, "the temporary file was truncated");
	return 0;
}

void temporary_forget(int fd, uint64_t offset, size_t n)
{
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)n);
}

enum { NAMES = 8 };

static const char *volatile names[NAMES]; /* NULL: free */

void temporary_name(const char *name)
{
	for (int i = 0; i < NAMES; i++)
		if (!names[i]) {
			names[i] = name;
			return;
		}
}

void temporary_unname(const char *name)
{
	for (int i = 0; i < NAMES; i++)
		if (names[i] == name)
			names[i] = NULL;
}

/* Remove the files of a directory by system calls alone: opendir allocates memory. */
static void remove_files(int directory)
{
	uint64_t entries[512];
	long n;

	while ((n = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
		for (long at = 0; at < n;) {
			/* linux_dirent64: u64 d_ino, u64 d_off, u16 d_reclen, u8 d_type, name */
			const char *entry = (const char *)entries + at;
			uint16_t length;

			memcpy(&length, entry + 16, sizeof length);
			unlinkat(directory, entry + 19, 0);
			at += length;
		}
}

void temporary_remove_names(void)
{
	for (int i = 0; i < NAMES; i++) {
		const char *name = names[i];
		int directory;

		if (!name || !unlink(name))
			continue;
		directory = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory >= 0)
			remove_files(directory);
		rmdir(name);
	}
}

#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int scratch_open(struct error *e)
{
	const char *dir = getenv("TMPDIR");
	char *name;
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* not every file system can */
	if (asprintf(&name, "%s/trutils-XXXXXX", dir) < 0)
		return error_set(e, NULL, NO_OFFSET, "out of memory");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd < 0 ? error_errno(e, dir, NO_OFFSET, "cannot create a temporary file") : fd;
}

int scratch_write(int fd, const void *data, size_t n, uint64_t at, struct error *e)
{
	const char *p = data;

	while (n) {
		ssize_t done = pwrite(fd, p, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return error_errno(e, "temporary file", NO_OFFSET, "cannot write");
		p += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

int scratch_read(int fd, void *data, size_t n, uint64_t at, struct error *e)
{
	char *p = data;

	while (n) {
		ssize_t got = pread(fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_errno(e, "temporary file", NO_OFFSET, "cannot read");
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

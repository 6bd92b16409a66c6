/*
 * packed_directory.h - files (packed_tar.h) that become a directory on disk
 */
#ifndef TR_T_FUZZ_PACKED_DIRECTORY_H
#define TR_T_FUZZ_PACKED_DIRECTORY_H

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "t/fuzz/packed_tar.h"

static char packed_directory[64]; /* "" none */
static char packed_first[400];	  /* the path of the first member */

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void remove_directory(void)
{
	if (*packed_directory)
		nftw(packed_directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	*packed_directory = 0;
}

/* Names of letters, digits and "._-", in directories of such names: nothing outside. */
static bool is_harmless(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"._-/";

	return *name && *name != '/' && strspn(name, letters) == strlen(name) &&
	       !strstr(name, "..");
}

static void write_member(int dir, char *name, const uint8_t *data, size_t n)
{
	int fd;

	if (!is_harmless(name))
		return;
	for (char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdirat(dir, name, 0700);
		*slash = '/';
	}
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	need(write(fd, data, n) == (ssize_t)n, "cannot write a member");
	close(fd);
}

/* The members as a directory, until remove_directory; -1 when there are none. */
static int unpack_directory(const uint8_t *data, size_t size)
{
	struct member_walk w = {data, size, 0};
	struct packed_member m;
	char name[256];
	int fd;

	if (size < 3)
		return -1;
	strcpy(packed_directory, "/tmp/trutils-fuzz-XXXXXX");
	need(mkdtemp(packed_directory), "no directory");
	fd = open(packed_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(fd >= 0, "cannot open the directory");
	while (packed_next(&w, &m)) {
		snprintf(name, sizeof(name), "%.*s", (int)m.name_size, (const char *)m.name);
		write_member(fd, name, m.data, m.size);
		if (w.members == 1)
			snprintf(packed_first, sizeof(packed_first), "%s/%s", packed_directory,
				 is_harmless(name) ? name : "");
	}
	return fd;
}

#endif

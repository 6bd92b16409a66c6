/* links: cmd/trdecode */
/* Members of a directory and of a tar: names, contents, limits. */
#include "t/unit/uftrace_dir.h"

static bool read_is(const struct tree *t, const char *name, const char *want)
{
	struct error e;
	void *data;
	size_t size;
	bool same;

	if (tree_read(t, name, 1 << 20, &data, &size, &e) < 0) {
		printf("# %s: %s\n", e.file, e.what);
		return false;
	}
	same = size == strlen(want) && !memcmp(data, want, size);
	free(data);
	return same;
}

static bool fd_is(const struct tree *t, const char *name, const char *want)
{
	uint64_t offset, size;
	char got[64];
	int fd = tree_fd(t, name, &offset, &size, NULL);
	ssize_t n;

	if (fd < 0 || size != strlen(want) || size > sizeof(got))
		return false;
	n = pread(fd, got, size, offset);
	close(fd);
	return n == (ssize_t)size && !memcmp(got, want, size) && !(offset & 7);
}

static void check_members(const struct tree *t, const char *what)
{
	struct error e;
	void *data;
	size_t size;

	printf("# %s\n", what);
	is_u64(tree_count(t), 4, "number of members");
	if (tree_count(t) != 4)
		return;
	is_str(tree_member(t, 0), "10.dat", "names are in bytewise order");
	is_str(tree_member(t, 1), "9.dat", "second name");
	is_str(tree_member(t, 2), "empty", "third name");
	is_str(tree_member(t, 3), "info", "last name");
	ok(read_is(t, "10.dat", "ten"), "contents");
	ok(read_is(t, "empty", ""), "an empty file");
	ok(fd_is(t, "9.dat", "number nine"), "contents by descriptor");
	ok(tree_has(t, "info") && !tree_has(t, "inf") && !tree_has(t, "info2"), "tree_has");
	is_u64(tree_lower_bound(t, "a"), 2, "lower bound");
	is_u64(tree_lower_bound(t, "z"), 4, "lower bound beyond the last");
	ok(tree_read(t, "9.dat", 3, &data, &size, &e) == -1, "a limit is kept");
	ok(tree_read(t, "none", 3, &data, &size, &e) == -1, "a missing member is an error");
	ok(strstr(e.file, "/none") != NULL, "which names input and member");
	ok(!tree_damage(t, &e), "no damage");
}

static void check_tar(const char *dir, const char *command, const char *what)
{
	char line[3 * PATH_MAX], path[PATH_MAX];
	struct tree *t;
	struct error e;

	snprintf(path, sizeof(path), "%s.tar", dir);
	snprintf(line, sizeof(line), "cd '%s' && tar %s >'%s'", dir, command, path);
	if (system(line))
		exit(99);
	t = tree_open_near(path, &e);
	ok(t != NULL, what);
	if (t)
		check_members(t, what);
	tree_close(t);
	unlink(path);
}

static void check_pipe(const char *dir)
{
	char line[2 * PATH_MAX], head[TREE_PROBE];
	struct tree *t;
	struct error e;
	size_t n;
	FILE *pipe;

	snprintf(line, sizeof(line), "tar -C '%s' -c .", dir);
	pipe = popen(line, "r");
	if (!pipe)
		exit(99);
	setvbuf(pipe, NULL, _IONBF, 0);
	n = fread(head, 1, sizeof(head), pipe);
	ok(tree_is_archive(head, n), "a tar is known by its start");
	t = tree_open_fd(fileno(pipe), "-", head, n, &e);
	ok(t != NULL, "a tar from a pipe, its start already read");
	if (t)
		check_members(t, "pipe");
	tree_close(t);
	pclose(pipe);
}

static void check_cut(const char *dir)
{
	char line[3 * PATH_MAX], path[PATH_MAX];
	struct tree *t;
	struct error e;

	snprintf(path, sizeof(path), "%s.cut", dir);
	snprintf(line, sizeof(line), "tar -C '%s' -c 9.dat 10.dat | head -c 1027 >'%s'", dir, path);
	if (system(line))
		exit(99);
	t = tree_open_near(path, &e);
	ok(t != NULL, "a tar cut within its second header opens");
	ok(t && tree_count(t) == 1 && read_is(t, "9.dat", "number nine"), "with what is whole");
	ok(t && tree_damage(t, &e), "and is known to be damaged");
	tree_close(t);
	unlink(path);
}

/* Entries that are no files, and files that change after the directory was listed. */
static void check_entries(const char *dir)
{
	char path[PATH_MAX];
	uint64_t offset, size;
	struct tree *t;
	struct error e;

	dir_write(dir, "file", "12");
	dir_write(dir, "gone", "");
	dir_write(dir, "other", "");
	snprintf(path, sizeof(path),
		 "cd '%s' && ln -s file link && ln -s none dangling && "
		 "mkdir -p sub/deep/deeper && ln -s sub loop && mkfifo pipe && "
		 ">sub/a && >sub/deep/b && >sub/deep/deeper/c",
		 dir);
	if (system(path))
		exit(99);
	t = tree_open_near(dir, &e);
	is_u64(t ? tree_count(t) : 0, 5, "files and links to files, two levels deep");
	ok(t && read_is(t, "link", "12") && read_is(t, "sub/a", ""), "are read");
	snprintf(path, sizeof(path), "cd '%s' && rm gone && rm other && mkdir other", dir);
	if (system(path))
		exit(99);
	ok(t && tree_fd(t, "gone", &offset, &size, &e) < 0 && strstr(e.what, "cannot open"),
	   "a file that was removed");
	ok(t && tree_fd(t, "other", &offset, &size, &e) < 0 && strstr(e.what, "not a regular"),
	   "a file that became a directory");
	tree_close(t);
}

int main(void)
{
	char *dir = dir_new(), *entries = dir_new();
	char path[PATH_MAX];
	struct tree *t;
	struct error e;

	dir_write(dir, "10.dat", "ten");
	dir_write(dir, "9.dat", "number nine");
	dir_write(dir, "empty", "");
	dir_write(dir, "info", "text");
	t = tree_open_near(dir, &e);
	ok(t != NULL, "a directory");
	if (t)
		check_members(t, "directory");
	tree_close(t);
	check_tar(dir, "-c .", "a tar of .");
	check_tar(dir, "-c \"$PWD\" -P", "a tar with absolute names");
	check_tar(dir, "-c --transform 's,^,../x/,' -P 10.dat 9.dat empty info", "a tar with ..");
	check_tar(dir, "-c 9.dat 10.dat empty info 9.dat", "a tar with a member twice");
	check_pipe(dir);
	check_cut(dir);
	snprintf(path, sizeof(path), "%s/info", dir);
	ok(!tree_open_near(path, &e), "a text file is no tree");
	ok(!tree_open_near("/nonexistent", &e), "nor is what does not exist");
	ok(!tree_is_archive("Ftrace!", 8) && !tree_is_archive("", 0), "nor looks like an archive");
	dir_remove(dir);
	check_entries(entries);
	dir_remove(entries);
	return done();
}

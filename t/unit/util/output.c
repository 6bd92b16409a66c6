/* Outputs: files that appear when they are complete, pipes, devices, failures. */
#include "t/unit/tap.h"

#include "common/util/output.h"
#include "common/cli/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/trutils-output-XXXXXX";

static const char *in_directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static const char *content(const char *name)
{
	static char text[64];
	FILE *f = fopen(in_directory(name), "r");
	size_t n;

	if (!f)
		return NULL;
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static int entries(void)
{
	DIR *d = opendir(directory);
	int n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

/* Write text to the file name and end with status. */
static int produce(const char *name, const char *text, int status)
{
	struct output o;
	struct error e;

	if (output_open(&o, in_directory(name), OUTPUT_BINARY, &e))
		return -1;
	if (output_write(&o, text, strlen(text), &e))
		return -1;
	return output_close(&o, status, &e);
}

static void files(void)
{
	struct stat st;
	struct output o;
	struct error e;

	umask(027);
	ok(!output_open(&o, in_directory("a"), OUTPUT_BINARY, &e), "open a file");
	ok(output_is_file(&o) && !output_is_pipe(&o), "it is one");
	ok(access(in_directory("a"), F_OK), "it is not there before its end");
	output_write(&o, "one", 3, &e);
	ok(!output_close(&o, STATUS_OK, &e), "close");
	is_str(content("a"), "one", "it is there at its end");
	ok(!stat(in_directory("a"), &st) && (st.st_mode & 07777) == 0640, "mode is that of umask");
	ok(!produce("a", "two", STATUS_FAILED), "a failed run");
	is_str(content("a"), "one", "leaves the old one");
	produce("a", "three", STATUS_DAMAGED);
	is_str(content("a"), "three", "a damaged one replaces it");
	produce("a", "four", STATUS_CONDITION);
	is_str(content("a"), "four", "a condition, too");
	is_u64((uint64_t)entries(), 1, "nothing else is left");
	ok(!symlink("a", in_directory("link")), "a link to it");
	produce("link", "five", STATUS_OK);
	is_str(content("a"), "five", "a link is followed");
	ok(!lstat(in_directory("link"), &st) && S_ISLNK(st.st_mode), "and stays");
	unlink(in_directory("link"));
	ok(produce("no/such", "", STATUS_OK) == -1, "no such directory");
	ok(produce("", "", STATUS_OK) == -1, "a directory is no file");
}

static void pieces(void)
{
	struct iovec v[] = {{"ab", 2}, {"", 0}, {"cde", 3}, {"", 0}};
	struct output o;
	struct error e;

	output_open(&o, in_directory("v"), OUTPUT_TEXT, &e);
	ok(!output_writev(&o, v, 4, &e), "writev");
	output_close(&o, STATUS_OK, &e);
	is_str(content("v"), "abcde", "all pieces in order");
	unlink(in_directory("v"));
}

static void failures(void)
{
	struct output o;
	struct error e;

	ok(!output_open(&o, "/dev/full", OUTPUT_BINARY, &e), "a full device");
	ok(!output_is_file(&o), "is no file");
	ok(output_write(&o, "x", 1, &e) == -1, "a write fails");
	is_str(e.what, "cannot write: No space left on device", "and says why");
	is_str(e.file, "/dev/full", "and where");
	ok(output_close(&o, STATUS_OK, &e) == -1, "close does not forget");
	ok(output_open(&o, "/dev/fd/789", OUTPUT_TEXT, &e) == -1, "a descriptor not open");
}

struct reader {
	int fd;
	size_t n;
};

static void *read_all(void *arg)
{
	struct reader *r = arg;
	static char buffer[65536];
	ssize_t n;

	usleep(20000); /* let the pipe fill */
	while ((n = read(r->fd, buffer, sizeof buffer)) > 0)
		r->n += (size_t)n;
	return NULL;
}

static void full_pipe(bool vector)
{
	enum { SIZE = 3 << 20 };
	int fd[2];
	char path[32], *data = calloc(1, SIZE);
	struct iovec v[] = {{data, SIZE / 3}, {data, SIZE - SIZE / 3}};
	struct reader r = {0};
	pthread_t thread;
	struct output o;
	struct error e;

	if (pipe2(fd, O_NONBLOCK))
		return;
	fcntl(fd[0], F_SETFL, 0);
	snprintf(path, sizeof path, "/dev/fd/%d", fd[1]);
	ok(!output_open(&o, path, OUTPUT_BINARY, &e) && output_is_pipe(&o), "a pipe");
	r.fd = fd[0];
	pthread_create(&thread, NULL, read_all, &r);
	ok(!(vector ? output_writev(&o, v, 2, &e) : output_write(&o, data, SIZE, &e)),
	   "a non-blocking pipe is waited for");
	ok(!output_close(&o, STATUS_OK, &e) && fcntl(fd[1], F_GETFD) >= 0,
	   "a descriptor of others stays open");
	close(fd[1]);
	pthread_join(thread, NULL);
	is_u64(r.n, SIZE, "all of it comes");
	close(fd[0]);
	free(data);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	files();
	pieces();
	failures();
	full_pipe(false);
	full_pipe(true);
	unlink(in_directory("a"));
	rmdir(directory);
	return done();
}

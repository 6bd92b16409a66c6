/*
 * workers.c - processes that work on the segments of saved streams
 */
#include "common/cli/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/stream/reader.h"
#include "common/util/memory.h"

enum { JOBS_MOST = 256 };

/* --- the number of jobs --- */

int jobs_option(const char *arg, unsigned *jobs, struct error *e)
{
	uint64_t n;

	if (option_number("-j", arg, &n, e))
		return -1;
	if (!n || n > JOBS_MOST)
		return error_set(e, NULL, NO_OFFSET, "-j takes a number from 1 to %d, not '%.64s'",
				 JOBS_MOST, arg);
	*jobs = (unsigned)n;
	return 0;
}

unsigned jobs_count(unsigned jobs)
{
	cpu_set_t set;
	int n = 1;

	if (jobs)
		return jobs;
	/* more processors than the set has: an error, and one job */
	if (!sched_getaffinity(0, sizeof set, &set))
		n = CPU_COUNT(&set);
	return n > JOBS_MOST ? JOBS_MOST : n > 0 ? (unsigned)n : 1;
}

/* --- segments --- */

/* Note a segment. -1: a program that reads it would report something. */
static int note_segment(void *ctx, const struct segment_span *span)
{
	struct segments *s = ctx;
	bool goes_on =
		s->open && span->stream_id == s->stream_id && span->sequence == s->sequence + 1;

	if (span->end.status || (s->open ? !goes_on : span->sequence != 0) ||
	    ARRAY_GROW(s->at, s->capacity, s->count))
		return -1;
	s->at[s->count++] =
		(struct segment_place){.path = s->path, .begin = span->begin, .size = span->size};
	s->size += span->size;
	s->streams += !span->sequence;
	s->lost |= span->end.lost || span->end.flags & END_LOST_MORE;
	s->stream_id = span->stream_id;
	s->sequence = span->sequence;
	s->open = !(span->end.flags & END_LAST);
	return 0;
}

/* Open an operand for a process of its own: standard input has one offset for all. */
static int segments_open(char **paths, int n, int path)
{
	const char *name = n ? paths[path] : "-";

	return open(strcmp(name, "-") != 0 ? name : "/dev/stdin", O_RDONLY | O_NOCTTY | O_CLOEXEC);
}

int segments_find(struct segments *s, char **paths, int n, const struct output *output)
{
	*s = (struct segments){0};
	for (s->path = 0; s->path < (n ? n : 1); s->path++) {
		const char *name = n ? paths[s->path] : "-";
		bool standard = !strcmp(name, "-");
		struct stat st;
		int fd, bad;

		/* it may have been read in part before */
		if (standard && (n > 1 || lseek(STDIN_FILENO, 0, SEEK_CUR)))
			return -1;
		if ((standard ? fstat(STDIN_FILENO, &st) : stat(name, &st)) || !S_ISREG(st.st_mode))
			return -1;
		fd = segments_open(paths, n, s->path);
		if (fd < 0)
			return -1;
		bad = output_same_file(output, fd) || reader_tail_segments(fd, note_segment, s);
		close(fd);
		if (bad || s->open)
			return -1;
	}
	return 0;
}

void segments_free(struct segments *s)
{
	free(s->at);
}

int segment_open(const struct segment_place *s, char **paths, int n)
{
	int fd = segments_open(paths, n, s->path);

	if (fd >= 0 && lseek(fd, (off_t)s->begin, SEEK_SET) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* --- workers --- */

/* Be the worker: its standard output and stderr are files. */
static void worker_be(const struct worker *w, pid_t parent)
{
	struct error e;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	if (dup2(w->output, STDOUT_FILENO) < 0 || dup2(w->messages, STDERR_FILENO) < 0) {
		error_errno(&e, NULL, NO_OFFSET, "cannot start a worker");
		error_print(&e);
		_exit(STATUS_FAILED);
	}
}

int worker_start(struct worker *w, int (*work)(void *ctx, size_t i), void *ctx, size_t i,
		 struct error *e)
{
	pid_t parent = getpid();

	*w = (struct worker){.output = temporary_open(e), .messages = -1};
	if (w->output < 0)
		return -1;
	w->messages = temporary_open(e);
	if (w->messages < 0)
		return -1;
	w->pid = fork();
	if (w->pid < 0) {
		w->pid = 0;
		return error_errno(e, NULL, NO_OFFSET, "cannot start a worker");
	}
	if (w->pid)
		return 0;
	worker_be(w, parent);
	_exit(work(ctx, i));
}

int worker_wait(struct worker *w, struct error *e)
{
	bool passed = false;
	struct stat st;
	int how;

	while (waitpid(w->pid, &how, 0) < 0) {
		if (errno != EINTR)
			return error_errno(e, NULL, NO_OFFSET, "cannot wait for a worker");
		/* a terminal sends the signal to all, kill(1) to this process alone */
		if (io_stopped() && !passed)
			kill(w->pid, SIGTERM);
		passed = true;
	}
	w->pid = 0;
	if (WIFSIGNALED(how))
		return error_set(e, NULL, NO_OFFSET,
				 "a worker was ended by signal %d (%s); -j 1 uses none",
				 WTERMSIG(how), strsignal(WTERMSIG(how)));
	w->status = WEXITSTATUS(how);
	return w->status == STATUS_OK && !fstat(w->messages, &st) && !st.st_size;
}

void worker_free(struct worker *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	if (w->output > STDERR_FILENO)
		close(w->output);
	if (w->messages > STDERR_FILENO)
		close(w->messages);
	*w = (struct worker){.output = -1, .messages = -1};
}

/* --- messages --- */

int messages_hold(struct error *e)
{
	int held = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), file;

	if (held < 0)
		return error_errno(e, NULL, NO_OFFSET, "cannot hold messages");
	file = temporary_open(e);
	if (file < 0 || dup2(file, STDERR_FILENO) < 0) {
		close(held);
		if (file >= 0)
			close(file);
		return file < 0 ? -1 : error_errno(e, NULL, NO_OFFSET, "cannot hold messages");
	}
	close(file);
	return held;
}

void messages_drop(int held)
{
	dup2(held, STDERR_FILENO);
	close(held);
}

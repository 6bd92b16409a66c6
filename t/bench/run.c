/*
 * run.c - what a pipeline costs
 *
 *     run 'a | b | c'           prints "wall cpu kilobytes status": seconds from its start to its
 *                               end, user and system seconds of all its processes together, the
 *                               largest resident size of one of them
 *     run -r FILE PROGRAM ...   runs PROGRAM in its place of a pipe and writes its own largest
 *                               resident size in kilobytes to FILE
 *
 * The shell is bash with pipefail. Standard output of the pipeline stays where it is; the line goes
 * to descriptor 3 if that is open, else to standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Start a program and wait for it. Its exit status as a shell gives it. */
static int run(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "run: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct rusage u;
	double start = now();
	FILE *out;
	int status;

	if (argc > 3 && !strcmp(argv[1], "-r")) {
		status = run(argv + 3);
		getrusage(RUSAGE_CHILDREN, &u);
		out = fopen(argv[2], "w");
		if (!out || fprintf(out, "%ld\n", u.ru_maxrss) < 0 || fclose(out))
			return 125;
		return status;
	}
	if (argc != 2) {
		fputs("usage: run PIPELINE | run -r FILE PROGRAM [ARGUMENT]...\n", stderr);
		return 125;
	}
	status = run((char *[]){(char *)"bash", (char *)"-o", (char *)"pipefail", (char *)"-c",
				argv[1], NULL});
	getrusage(RUSAGE_CHILDREN, &u);
	out = fcntl(3, F_GETFD) < 0 ? stderr : fdopen(3, "w");
	if (!out)
		return 125;
	fprintf(out, "%.3f %.3f %ld %d\n", now() - start, seconds(u.ru_utime) + seconds(u.ru_stime),
		u.ru_maxrss, status);
	return fclose(out) ? 125 : 0;
}

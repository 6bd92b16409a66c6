/*
 * memory.c - remembers that the program ran out of memory
 */
#include "common/util/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/util/error.h"
#include "common/util/output.h"

static bool failed;

bool memory_failed(void)
{
	return __atomic_load_n(&failed, __ATOMIC_RELAXED);
}

void memory_fail(void)
{
	__atomic_store_n(&failed, true, __ATOMIC_RELAXED);
}

void memory_exit(void)
{
	struct error e;

	memory_fail();
	error_no_memory(&e);
	error_print(&e);
	temporary_remove_names();
	_exit(STATUS_FAILED);
}

/*
 * ld --wrap=NAME makes __wrap_NAME of each use of NAME, and NAME of __real_NAME. The latter are
 * weak for programs that are linked without it, in which none of these functions is used.
 */
#define WRAPPED(type, name, parameters)                                                            \
	type __real_##name parameters __attribute__((weak));                                       \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters

static void *allocated(void *p)
{
	if (__builtin_expect(!p, 0) && errno == ENOMEM)
		memory_fail();
	return p;
}

WRAPPED(void *, malloc, (size_t n))
{
	return allocated(__real_malloc(n));
}

WRAPPED(void *, calloc, (size_t n, size_t size))
{
	return allocated(__real_calloc(n, size));
}

WRAPPED(void *, realloc, (void *p, size_t n))
{
	return allocated(__real_realloc(p, n));
}

WRAPPED(void *, reallocarray, (void *p, size_t n, size_t size))
{
	return allocated(__real_reallocarray(p, n, size));
}

WRAPPED(void *, aligned_alloc, (size_t to, size_t n))
{
	return allocated(__real_aligned_alloc(to, n));
}

WRAPPED(char *, strdup, (const char *s))
{
	return allocated(__real_strdup(s));
}

WRAPPED(char *, strndup, (const char *s, size_t n))
{
	return allocated(__real_strndup(s, n));
}

WRAPPED(char *, realpath, (const char *path, char *to))
{
	return allocated(__real_realpath(path, to));
}

WRAPPED(FILE *, fopen, (const char *path, const char *mode))
{
	return allocated(__real_fopen(path, mode));
}

WRAPPED(DIR *, opendir, (const char *path))
{
	return allocated(__real_opendir(path));
}

WRAPPED(DIR *, fdopendir, (int fd))
{
	return allocated(__real_fdopendir(fd));
}

WRAPPED(void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t offset))
{
	void *p = __real_mmap(at, n, protection, flags, fd, offset);

	if (p == MAP_FAILED && errno == ENOMEM)
		memory_fail();
	return p;
}

static int memory_printed(int n)
{
	if (n < 0)
		memory_fail();
	return n;
}

/* A checking libc has the other names. */
WRAPPED(int, vasprintf, (char **to, const char *fmt, va_list ap))
{
	return memory_printed(__real_vasprintf(to, fmt, ap));
}

WRAPPED(int, __vasprintf_chk, (char **to, int flag, const char *fmt, va_list ap))
{
	return memory_printed(__real___vasprintf_chk(to, flag, fmt, ap));
}

int __wrap_asprintf(char **to, const char *fmt, ...);
int __wrap_asprintf(char **to, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __wrap_vasprintf(to, fmt, ap);
	va_end(ap);
	return n;
}

int __wrap___asprintf_chk(char **to, int flag, const char *fmt, ...);
int __wrap___asprintf_chk(char **to, int flag, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __wrap___vasprintf_chk(to, flag, fmt, ap);
	va_end(ap);
	return n;
}

WRAPPED(ssize_t, getline, (char **line, size_t *n, FILE *f))
{
	ssize_t got = __real_getline(line, n, f);

	if (got < 0 && !feof(f) && errno == ENOMEM)
		memory_fail();
	return got;
}

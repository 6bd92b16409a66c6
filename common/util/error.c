#include "common/util/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct error *e, const char *file, uint64_t offset, const char *fmt, va_list ap)
{
	e->offset = offset;
	/* "" would mean no file; a file with an empty name is named nevertheless */
	snprintf(e->file, sizeof e->file, "%s", !file ? "" : *file ? file : "''");
	vsnprintf(e->what, sizeof e->what, fmt, ap);
}

int error_set(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	fill(e, file, offset, fmt, ap);
	va_end(ap);
	return -1;
}

int error_errno(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
{
	int saved = errno;
	size_t n;
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	fill(e, file, offset, fmt, ap);
	va_end(ap);
	n = strlen(e->what);
	snprintf(e->what + n, sizeof e->what - n, "%s%s", n ? ": " : "", strerror(saved));
	return -1;
}

int error_no_memory(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET, "out of memory");
}

/* Print a text with control characters masked: texts of a trace must not control the terminal.
 * */
static void put_masked(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		putc(c < 0x20 || c == 0x7f ? '?' : c, stderr);
	}
}

static void print(const char *file, uint64_t offset, const char *what)
{
	flockfile(stderr);
	put_masked(program_invocation_short_name);
	fputs(": ", stderr);
	if (file && *file) {
		put_masked(file);
		fputs(": ", stderr);
	}
	if (offset != NO_OFFSET)
		fprintf(stderr, "0x%llx: ", (unsigned long long)offset);
	put_masked(what);
	putc('\n', stderr);
	funlockfile(stderr);
}

void error_print(const struct error *e)
{
	print(e->file, e->offset, e->what);
}

void warn(const char *file, uint64_t offset, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	print(file, offset, what);
}

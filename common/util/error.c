/*
 * error.c - errors, passed up to main
 */
#include "common/util/error.h"

#include "common/util/bytes.h"
#include "common/util/memory.h"
#include "common/util/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static const char NO_MEMORY[] = "out of memory";

static void error_fill(struct error *e, const char *file, uint64_t offset, const char *fmt,
		       va_list ap)
{
	e->offset = offset;
	e->printed = false;
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
	error_fill(e, file, offset, fmt, ap);
	va_end(ap);
	return -1;
}

struct error *error_in_file(struct error *e, const char *file)
{
	if (!e->file[0] && file)
		snprintf(e->file, sizeof e->file, "%s", file);
	return e;
}

int error_errno(struct error *e, const char *file, uint64_t offset, const char *fmt, ...)
{
	int saved = errno;
	struct rlimit files;
	size_t n;
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	error_fill(e, file, offset, fmt, ap);
	va_end(ap);
	n = strlen(e->what);
	n += (size_t)snprintf(e->what + n, sizeof e->what - n, "%s%s", n ? ": " : "",
			      saved == ENOMEM ? NO_MEMORY : strerror(saved));
	/* programs raise the soft limit (program.c) */
	if (saved == EMFILE && n < sizeof e->what && !getrlimit(RLIMIT_NOFILE, &files))
		snprintf(e->what + n, sizeof e->what - n,
			 " (ulimit -Hn is %" PRIu64
			 "): give fewer files at once, or the directory that has them",
			 (uint64_t)files.rlim_max);
	return -1;
}

int error_no_memory(struct error *e)
{
	return error_set(e, NULL, NO_OFFSET, NO_MEMORY);
}

enum { MESSAGE_MOST = 2048 };

/* Add to a message of n bytes a text with control characters masked: texts of a trace must not
 * control the terminal. Returns the bytes of both. */
static size_t put_masked(char line[MESSAGE_MOST], size_t n, const char *s)
{
	size_t left = strlen(s);

	for (size_t length; left && n < MESSAGE_MOST - 1; s += length, left -= length) {
		length = utf8_control(s, left);
		line[n++] = length ? '?' : *s;
		length += !length;
	}
	return n;
}

void error_write(const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(STDERR_FILENO, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;
		text += done;
		n -= (size_t)done;
	}
}

static void print_error_line(const char *file, uint64_t offset, const char *what)
{
	static bool said;
	char line[MESSAGE_MOST], at[24];
	size_t n = 0;

	if (memory_failed()) {
		/* what else is wrong follows from the lack of memory */
		if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
			return;
		if (!strstr(what, NO_MEMORY)) {
			file = NULL;
			offset = NO_OFFSET;
			what = NO_MEMORY;
		}
	}
	n = put_masked(line, n, program_invocation_short_name);
	n = put_masked(line, n, ": ");
	if (file && *file) {
		n = put_masked(line, n, file);
		n = put_masked(line, n, ": ");
	}
	if (offset != NO_OFFSET) {
		snprintf(at, sizeof at, "0x%" PRIx64 ": ", offset);
		n = put_masked(line, n, at);
	}
	n = put_masked(line, n, what);
	line[n++] = '\n';
	/* one write(2), so that lines of several programs are not mixed */
	error_write(line, n);
}

void error_text(const struct error *e, char *text, size_t size)
{
	char offset[24] = "";

	if (e->offset != NO_OFFSET)
		snprintf(offset, sizeof offset, "0x%" PRIx64 ": ", e->offset);
	snprintf(text, size, "%.250s%s%s%.300s", e->file, e->file[0] ? ": " : "", offset, e->what);
}

void error_print(const struct error *e)
{
	if (!e->printed)
		print_error_line(e->file, e->offset, e->what);
}

/* --- the pipe to type for a trace in place of a stream --- */

static struct {
	char *const *words;
	int n;
} command;

void command_note(char *const *words, int n)
{
	command.words = words;
	command.n = n;
}

bool command_word(char *text, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=:,./%@";
	size_t at = strlen(text);
	bool quotes = !*word || word[strspn(word, plain)];

	/* a quote in the word becomes four bytes */
	if (at + 4 * strlen(word) + 4 > size)
		return false;
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	text[at++] = ' ';
	if (quotes)
		text[at++] = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(text + at, "'\\'", 3);
			at += 3;
		}
		text[at++] = *word;
	}
	if (quotes)
		text[at++] = '\'';
	text[at] = '\0';
	return true;
}

bool command_after(char *text, size_t size, const char *tool, const char *file)
{
	const char *program = program_invocation_short_name;
	bool fits = command.n && strlen(program) < 20 && size > 64,
	     symbols = !strcmp(tool, "trdecode") && strcmp(program, "trsym") != 0;

	if (!fits)
		return false;
	snprintf(text, size, "%s%s", tool, file && *file == '-' ? " --" : "");
	fits = !file || command_word(text, size - 40, file);
	snprintf(text + strlen(text), size - strlen(text), " |%s %s", symbols ? " trsym |" : "",
		 program);
	for (int i = 1; fits && i < command.n; i++)
		fits = command_word(text, size, command.words[i]);
	return fits;
}

/* --- the outputs on which an error was printed --- */

enum { PRINTED_AGE = 60 }; /* seconds in which END reaches the next program of a pipe */

static bool prints_errors;

void printed_by_program(void)
{
	prints_errors = true;
}

/* Make the mark of stderr, now; 0: it is closed. */
static uint64_t stderr_mark(void)
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char boot[64];
	ssize_t n = fd < 0 ? 0 : read(fd, boot, sizeof boot);
	struct utsname host = {.nodename = ""};
	struct timespec now = {0};
	struct stat st;
	uint64_t hash;

	if (fd >= 0)
		close(fd);
	if (fstat(STDERR_FILENO, &st))
		return 0;
	uname(&host);
	clock_gettime(CLOCK_BOOTTIME, &now);
	hash = hash_bytes(boot, n > 0 ? (size_t)n : 0, 0);
	hash = hash_bytes(host.nodename, strlen(host.nodename), hash);
	hash = hash_bytes(&st.st_dev, sizeof st.st_dev, hash);
	hash = hash_bytes(&st.st_ino, sizeof st.st_ino, hash);
	return (uint64_t)(uint32_t)now.tv_sec << 32 | (uint32_t)(hash ^ hash >> 32);
}

void printed_add(struct printed *p)
{
	uint64_t mark = prints_errors ? stderr_mark() : 0;
	unsigned at = 0;

	if (!mark)
		return;
	while (at < p->n && (uint32_t)p->mark[at] != (uint32_t)mark)
		at++;
	if (at == PRINTED_MARKS) {
		memmove(p->mark, p->mark + 1, (PRINTED_MARKS - 1) * sizeof *p->mark);
		at--;
	}
	p->mark[at] = mark;
	p->n = at < p->n ? p->n : at + 1;
}

bool printed_here(const struct printed *p)
{
	uint64_t mark = p->n ? stderr_mark() : 0;

	for (unsigned i = 0; mark && i < p->n; i++)
		if ((uint32_t)p->mark[i] == (uint32_t)mark &&
		    (uint32_t)((mark >> 32) - (p->mark[i] >> 32)) <= PRINTED_AGE)
			return true;
	return false;
}

void warn(const char *file, uint64_t offset, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	print_error_line(file, offset, what);
}

void warn_choose_forms(char *to, size_t size, const char *fmt, bool one)
{
	size_t n = 0;
	bool inside = false, wanted = true;

	for (; *fmt && n < size - 1; fmt++) {
		if (*fmt == '{' || *fmt == '}')
			inside = *fmt == '{';
		else if (inside && *fmt == '|')
			wanted = !one;
		else if (wanted)
			to[n++] = *fmt;
		if (*fmt == '{')
			wanted = one;
		else if (*fmt == '}')
			wanted = true;
	}
	to[n] = '\0';
}

void warn_count(const char *file, uint64_t count, const char *fmt, ...)
{
	char forms[512], what[512];
	va_list ap;

	if (!count)
		return;
	warn_choose_forms(forms, sizeof forms, fmt, count == 1);
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, forms, ap);
	va_end(ap);
	warn(file, NO_OFFSET, "%" PRIu64 " %s", count, what);
}

/* Hash a description without its numbers. */
static uint64_t error_kind_of(const char *what, uint64_t seed)
{
	char text[sizeof((struct error *)0)->what];
	size_t n = 0;

	for (; *what && n < sizeof text; what++)
		if (!isdigit((unsigned char)*what))
			text[n++] = *what;
	return hash_bytes(text, n, seed);
}

bool faults_add(struct faults *f, const struct error *e, const char *file)
{
	uint64_t key;

	/* a fault without an offset is one of the file: its name is in the message */
	if (!file && e->offset == NO_OFFSET)
		file = e->file;
	key = error_kind_of(e->what, file ? hash_bytes(file, strlen(file), 0) : 0);
	f->total++;
	for (unsigned i = 0; i < f->nkinds; i++)
		if (f->kinds[i].key == key) {
			f->kinds[i].count++;
			return false;
		}
	if (f->nkinds == FAULT_KINDS) {
		f->others++;
		return false;
	}
	f->kinds[f->nkinds].key = key;
	f->kinds[f->nkinds].count = 1;
	snprintf(f->kinds[f->nkinds++].what, sizeof f->kinds->what, "%.127s", e->what);
	return true;
}

void faults_report(const struct faults *f, const char *file, const char *hint)
{
	for (unsigned i = 0; i < f->nkinds; i++)
		warn_count(file, f->kinds[i].count - 1, "more: %s%s", f->kinds[i].what, hint);
	warn_count(file, f->others, "more {fault|faults} of other kinds%s", hint);
}

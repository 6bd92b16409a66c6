/*
 * task_text.c - parse sessions and tasks from task.txt
 */
#include "cmd/trdecode/uftrace/task_private.h"
#include "common/util/lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Return the text after `key`, which must follow a blank; NULL if the line does not have it. */
static const char *value_of(const char *line, const char *end, const char *key)
{
	size_t n = strlen(key);
	const char *p = line;

	while ((p = memmem(p, end - p, key, n))) {
		if (p > line && p[-1] == ' ')
			return p + n;
		p += n;
	}
	return NULL;
}

/* Parse a decimal number of at most 19 digits. Returns the text after it, or NULL. */
static const char *read_number(const char *p, const char *end, uint64_t *v)
{
	const char *start = p;

	*v = 0;
	for (; p < end && isdigit((unsigned char)*p); p++) {
		if (p - start >= 19)
			return NULL;
		*v = *v * 10 + (*p - '0');
	}
	return p > start ? p : NULL;
}

static bool read_time(const char *line, const char *end, uint64_t *time)
{
	const char *p = value_of(line, end, "timestamp=");
	uint64_t sec, nsec;

	if (!p || !(p = read_number(p, end, &sec)) || p == end || *p != '.' ||
	    !read_number(p + 1, end, &nsec))
		return false;
	if (nsec > 999999999 || sec > UINT64_MAX / 1000000000 - 1)
		return false;
	*time = sec * 1000000000 + nsec;
	return true;
}

static bool read_id(const char *line, const char *end, const char *key, int32_t *id)
{
	const char *p = value_of(line, end, key);
	uint64_t v;

	if (!p || !read_number(p, end, &v) || v > INT32_MAX)
		return false;
	*id = v;
	return true;
}

static bool read_sid(const char *line, const char *end, char *sid)
{
	const char *p = value_of(line, end, "sid=");
	size_t n = 0;

	while (p && p + n < end && p[n] != ' ' && n < UFTRACE_SID_SIZE) {
		/* it becomes part of a file's name */
		if (!isalnum((unsigned char)p[n]))
			return false;
		sid[n] = p[n];
		n++;
	}
	sid[n] = 0;
	return n;
}

static bool read_base(const char *line, const char *end, uint64_t *base)
{
	const char *p = value_of(line, end, "base="), *start = p;

	*base = 0;
	for (; p && p < end && isxdigit((unsigned char)*p) && p - start < 16; p++)
		*base = *base << 4 | (isdigit((unsigned char)*p) ? *p - '0' : (*p | 32) - 'a' + 10);
	return p > start;
}

/* Parse key="...", up to the last quote of the line: the name may contain quotes. */
static bool read_name(struct uftrace_tasks *t, const char *line, const char *end, const char *key,
		      const char **name)
{
	const char *p = value_of(line, end, key);
	const char *quote;

	if (!p || p == end || *p != '"')
		return false;
	p++;
	quote = memrchr(p, '"', end - p);
	if (!quote)
		return false;
	*name = uftrace_tasks_keep_name(t, p, quote - p);
	return true;
}

/* Returns 1, 0 if the line is damaged, -1 when out of memory. */
static int parse_line(struct uftrace_tasks *t, const char *line, const char *end)
{
	struct uftrace_task_event ev = {.name = ""}, *slot;
	bool good;

	if (end - line < 5 || line[4] != ' ')
		return 1;
	if (!memcmp(line, "TASK", 4)) {
		ev.kind = UFTRACE_TASK_TASK;
		good = read_id(line, end, "tid=", &ev.tid) && read_id(line, end, "pid=", &ev.pid);
	} else if (!memcmp(line, "FORK", 4)) {
		ev.kind = UFTRACE_TASK_FORK;
		good = read_id(line, end, "pid=", &ev.tid) && read_id(line, end, "ppid=", &ev.pid);
	} else if (!memcmp(line, "SESS", 4)) {
		ev.kind = UFTRACE_TASK_SESS;
		good = (read_id(line, end, "pid=", &ev.pid) ||
			read_id(line, end, "tid=", &ev.pid)) &&
		       read_sid(line, end, ev.sid) && read_name(t, line, end, "exename=", &ev.name);
		ev.tid = ev.pid;
	} else if (!memcmp(line, "DLOP", 4)) {
		ev.kind = UFTRACE_TASK_DLOP;
		good = read_id(line, end, "tid=", &ev.tid) && read_sid(line, end, ev.sid) &&
		       read_base(line, end, &ev.base) &&
		       read_name(t, line, end, "libname=", &ev.name);
	} else {
		return 1;
	}
	if (!good || !read_time(line, end, &ev.time))
		return 0;
	slot = uftrace_tasks_new_event(t);
	if (!slot)
		return -1;
	*slot = ev;
	return 1;
}

int uftrace_tasks_parse_text(struct uftrace_tasks *t, const char *text, size_t size,
			     const char *file, struct error *e)
{
	if (uftrace_tasks_begin(t, size, file, e) < 0)
		return -1;
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		int r = l.whole ? parse_line(t, l.line, l.line + l.size) : 0;

		if (r < 0)
			return uftrace_tasks_no_memory(t);
		if (!r)
			uftrace_tasks_damage(t, l.line - text,
					     l.whole ? "unreadable line"
						     : "file ends within a line");
	}
	return uftrace_tasks_build(t);
}

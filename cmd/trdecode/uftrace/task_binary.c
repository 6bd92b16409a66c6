/*
 * task_binary.c - parse sessions and tasks from the binary `task` of old versions
 */
#include "cmd/trdecode/uftrace/task_private.h"

#include <ctype.h>
#include <string.h>

struct cursor {
	const uint8_t *p;
	size_t left;
	bool swap;
};

static void cursor_skip(struct cursor *c, size_t n)
{
	c->p += n;
	c->left -= n;
}

static uint16_t take16(struct cursor *c)
{
	uint16_t v = uftrace_get16(c->p, c->swap);

	cursor_skip(c, sizeof v);
	return v;
}

static uint32_t take32(struct cursor *c)
{
	uint32_t v = uftrace_get32(c->p, c->swap);

	cursor_skip(c, sizeof v);
	return v;
}

static uint64_t take64(struct cursor *c)
{
	uint64_t v = uftrace_get64(c->p, c->swap);

	cursor_skip(c, sizeof v);
	return v;
}

static const char short_message[] = "file ends within a message";

/* Parse one message. Returns 1, 0 if nothing after it can be parsed (*what is why), -1 when out
 * of memory. */
static int parse_message(struct uftrace_tasks *t, struct cursor *c, const char **what)
{
	struct uftrace_task_event ev = {.name = ""}, *slot;
	uint16_t magic, type;
	uint32_t length;

	*what = short_message;
	if (c->left < 8)
		return 0;
	magic = take16(c);
	type = take16(c);
	length = take32(c);
	if (magic != UFTRACE_MSG_MAGIC) {
		*what = "message with a wrong magic";
		return 0;
	}
	if (type != UFTRACE_MSG_TASK && type != UFTRACE_MSG_FORK_END &&
	    type != UFTRACE_MSG_SESSION) {
		if (length > c->left)
			return 0;
		cursor_skip(c, length);
		return 1;
	}
	if (c->left < 16)
		return 0;
	ev.time = take64(c);
	ev.pid = take32(c);
	ev.tid = take32(c);
	ev.kind = type == UFTRACE_MSG_TASK ? UFTRACE_TASK_TASK : UFTRACE_TASK_FORK;
	if (type == UFTRACE_MSG_SESSION) {
		uint64_t padded;

		ev.kind = UFTRACE_TASK_SESS;
		if (c->left < UFTRACE_SID_SIZE + 8)
			return 0;
		memcpy(ev.sid, c->p, UFTRACE_SID_SIZE);
		for (size_t i = 0; i < UFTRACE_SID_SIZE && ev.sid[i]; i++)
			if (!isalnum((unsigned char)ev.sid[i]))
				ev.sid[i] = 0;
		cursor_skip(c, UFTRACE_SID_SIZE);
		take32(c);
		length = take32(c);
		padded = uftrace_align(length, 8);
		if (length > c->left)
			return 0;
		ev.name = uftrace_tasks_keep_name(t, (const char *)c->p, length);
		if (padded > c->left)
			padded = c->left;
		cursor_skip(c, padded);
	}
	slot = uftrace_tasks_new_event(t);
	if (!slot)
		return -1;
	*slot = ev;
	return 1;
}

int uftrace_tasks_parse_binary(struct uftrace_tasks *t, const void *data, size_t size, bool swap,
			       const char *file, struct error *e)
{
	struct cursor c = {.p = data, .left = size, .swap = swap};

	if (uftrace_tasks_begin(t, size, file, e) < 0)
		return -1;
	while (c.left) {
		uint64_t offset = size - c.left;
		const char *what;
		int r = parse_message(t, &c, &what);

		if (r < 0)
			return uftrace_tasks_no_memory(t);
		if (!r) {
			uftrace_tasks_damage(t, offset, what);
			break;
		}
	}
	return uftrace_tasks_build(t);
}

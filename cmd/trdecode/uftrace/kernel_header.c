/*
 * kernel_header.c - parse kernel_header: size of a page, word size and byte order, and the texts
 * header_page and format of each event
 */
#include "cmd/trdecode/uftrace/kernel.h"
#include "common/util/lines.h"

#include <stdlib.h>

enum {
	HEADER_LIMIT = 64 << 20,
	PAGE_LEAST = 256,
	PAGE_MOST = 1 << 20,
};

static const char *header_path(struct uftrace *u, char *path, size_t n)
{
	return tree_path(u->input->tree, "kernel_header", path, n);
}

/* Add the event of a file events/SYSTEM/EVENT/format. Returns 0; 1: the text is not a format; -1.
 */
static int add_event(struct kernel_header *k, const char *name, size_t n, const char *text,
		     size_t size)
{
	static const char prefix[] = "events/", suffix[] = "/format";
	size_t before = sizeof(prefix) - 1, after = sizeof(suffix) - 1;
	const char *system = name + before, *slash;

	if (n < before + after || memcmp(name, prefix, before) ||
	    memcmp(name + n - after, suffix, after))
		return 0;
	slash = memchr(system, '/', n - before);
	switch (ftrace_events_add(&k->events, system, (size_t)(slash - system), text, size,
				  k->word)) {
	case FTRACE_NO_MEMORY: return -1;
	case FTRACE_ADDED: return 0;
	case FTRACE_NO_FORMAT:
	case FTRACE_KNOWN: break;
	}
	return 1;
}

/* Return the value of "KEY: value". */
static const char *value_of(const char *line, size_t n, const char *key)
{
	size_t k = strlen(key);

	return n > k && !memcmp(line, key, k) ? line + k : NULL;
}

static bool parse_size(const char *p, const char *end, uint64_t *size)
{
	*size = 0;
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9' || *size > HEADER_LIMIT)
			return false;
		*size = *size * 10 + (uint64_t)(*p - '0');
	}
	return true;
}

/* Parse "events/sched/sched_switch/format: 1488", and so many bytes after the line. */
static int parse_blob(struct kernel_header *k, const char *name, struct lines *l)
{
	const char *line_end = l->line + l->size, *colon = line_end;
	uint64_t size;
	uint32_t data_size;
	int got;

	while (colon > name && *colon != ':')
		colon--;
	if (colon == name || line_end - colon < 2 || !parse_size(colon + 2, line_end, &size) ||
	    size > (uint64_t)(l->end - l->next))
		return 1;
	if (colon - name == 18 && !memcmp(name, "events/header_page", 18))
		got = !ring_layout_parse(&k->layout, l->next, size, k->layout.big_endian,
					 (uint8_t)k->word, &data_size);
	else
		got = add_event(k, name, (size_t)(colon - name), l->next, size);
	l->next += size;
	return got;
}

/* Returns 0; 1: damage, at *offset; -1: out of memory. */
static int parse_header(struct kernel_header *k, uint64_t *offset)
{
	struct lines l = lines_of(k->text, k->size);
	const char *line, *value;
	uint64_t number;
	size_t n;
	int got = 0, bad;

	while (lines_next(&l)) {
		line = l.line;
		n = l.size;
		*offset = (uint64_t)(line - k->text);
		if (!l.whole)
			return 1;
		if ((value = value_of(line, n, "PAGE_SIZE: "))) {
			if (!parse_size(value, line + n, &number) || number < PAGE_LEAST ||
			    number > PAGE_MOST || number & (number - 1))
				return 1;
			k->page_size = (uint32_t)number;
		} else if ((value = value_of(line, n, "LONG_SIZE: "))) {
			if (!parse_size(value, line + n, &number) || (number != 4 && number != 8))
				return 1;
			k->word = (uint32_t)number;
			k->layout.long_size = (uint8_t)number;
			k->layout.data = 8 + k->word;
		} else if ((value = value_of(line, n, "ENDIAN: "))) {
			k->layout.big_endian = *value == 'B';
		} else if ((value = value_of(line, n, "TRACEFS: "))) {
			bad = parse_blob(k, value, &l);
			if (bad < 0)
				return -1;
			if (bad && l.next == line + n + 1)
				return 1;
			got |= bad;
		} else {
			return 1;
		}
	}
	return got;
}

int kernel_header_read(struct uftrace *u, struct kernel_header *k, struct error *e)
{
	char path[512];
	uint64_t offset = 0;
	struct error damage;
	void *data;
	int got;

	k->word = u->info.is_32bit ? 4 : 8;
	k->layout = (struct ring_layout){u->info.big_endian, (uint8_t)k->word, 8 + k->word};
	k->page_size = 4096;
	if (tree_read(u->input->tree, "kernel_header", HEADER_LIMIT, &data, &k->size, &damage)) {
		input_damage_error(u->input, &damage);
		return 1;
	}
	k->text = data;
	got = parse_header(k, &offset);
	if (got < 0 || ftrace_events_kinds(&k->events))
		return error_no_memory(e);
	if (got)
		input_damage(u->input, header_path(u, path, sizeof(path)), offset,
			     "the header of the kernel's data is damaged");
	if (!k->events.type.size) {
		input_damage(u->input, header_path(u, path, sizeof(path)), NO_OFFSET,
			     "no event format: the kernel's data is not read");
		return 1;
	}
	return 0;
}

void kernel_header_free(struct kernel_header *k)
{
	ftrace_events_free(&k->events);
	free(k->text);
}

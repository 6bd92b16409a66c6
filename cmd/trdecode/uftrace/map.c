#include "cmd/trdecode/uftrace/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/lines.h"

static const struct {
	uint64_t below, base;
} kernel_bases[] = {
	/* start of the stack -> start of the kernel, for each division of the address space */
	{0x80000000, 0x80000000},	  {0xb0000000, 0xb0000000},
	{0xc0000000, 0xc0000000},	  {1ull << 39, 0xffffff8000000000},
	{1ull << 42, 0xfffffc0000000000}, {1ull << 47, 0xffff800000000000},
};

static uint64_t guess_kernel_base(uint64_t stack)
{
	if (stack < 0x40000000)
		return 0x40000000;
	for (size_t i = 0; i < sizeof(kernel_bases) / sizeof(*kernel_bases); i++)
		if (stack < kernel_bases[i].below)
			return kernel_bases[i].base;
	return 0xffff000000000000;
}

/* Return the next word, NUL-terminated in place, or NULL at the end of the line. */
static char *next_word(char **p)
{
	char *word = *p + strspn(*p, " \t\r");
	char *end = word + strcspn(word, " \t\r");

	if (word == end)
		return NULL;
	*p = end;
	if (*end) {
		*end = 0;
		*p = end + 1;
	}
	return word;
}

static int parse_line(struct uftrace_map *m, size_t *room, char *line)
{
	struct uftrace_mapping *last = m->nr ? &m->maps[m->nr - 1] : NULL;
	char *range = next_word(&line), *end, *path = NULL, *build_id;
	uint64_t start, stop;

	if (!range)
		return 0;
	start = strtoull(range, &end, 16);
	if (end == range || *end != '-')
		goto damaged;
	range = end + 1;
	stop = strtoull(range, &end, 16);
	if (end == range || *end || stop < start)
		goto damaged;
	for (int field = 0; field < 5; field++) {
		path = next_word(&line);
		if (!path)
			return field == 4 ? 0 : (m->damaged++, 0);
	}
	if (*path == '[') {
		if (!strncmp(path, "[stack", 6))
			m->kernel_base = guess_kernel_base(start);
		return 0;
	}
	if (last && !strcmp(last->path, path)) {
		if (stop > last->end)
			last->end = stop;
		return 0;
	}
	build_id = next_word(&line);
	if (build_id && !strncmp(build_id, "build-id:", 9))
		build_id += 9;
	else
		build_id = NULL;
	if (ARRAY_GROW(m->maps, *room, m->nr))
		return -1;
	m->maps[m->nr++] = (struct uftrace_mapping){
		.start = start, .end = stop, .path = path, .build_id = build_id ? build_id : ""};
	return 0;
damaged:
	m->damaged++;
	return 0;
}

int uftrace_map_parse(struct uftrace_map *m, char *text, size_t size)
{
	size_t room = 0;

	*m = (struct uftrace_map){.text = text};
	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		l.line[l.size] = '\0';
		if (parse_line(m, &room, l.line) < 0)
			return -1;
	}
	return 0;
}

int uftrace_map_add_python(struct uftrace_map *m, const char *path)
{
	struct uftrace_mapping *maps = realloc(m->maps, (m->nr + 1) * sizeof(*maps));
	uint64_t end = 1ull << 47;

	if (!maps)
		return -1;
	m->maps = maps;
	for (size_t i = 0; i < m->nr; i++)
		end = maps[i].start < end ? maps[i].start : end;
	maps[m->nr++] = (struct uftrace_mapping){.end = end, .path = path, .build_id = ""};
	return 0;
}

void uftrace_map_free(struct uftrace_map *m)
{
	free(m->maps);
	free(m->text);
	*m = (struct uftrace_map){0};
}

/*
 * symbols_uftrace.c - parse the text of a uftrace .sym file
 *
 * "ADDR TYPE NAME" up to uftrace 0.17, "ADDR SIZE TYPE NAME" in later versions; each line shows
 * which.
 */
#include "common/symbols/symbols_table.h"
#include "common/util/digits.h"
#include "common/util/lines.h"

#include <stdlib.h>
#include <string.h>

/* The types that uftrace reads as symbols; '?' only ends the symbol before it. */
static const char types[] = "?TtwPKDdvu";

struct line {
	uint64_t address;
	uint32_t size; /* 0: not given */
	char type;
	const char *name;
	size_t length;
};

static bool read_line(const char *p, size_t length, struct line *line)
{
	const char *end = p + length, *tab;
	uint64_t size = 0;

	if (!digits_hex(&p, end, &line->address) || end - p < 2 || *p++ != ' ')
		return false;
	if (*p >= '0' && *p <= '9' && (!digits_hex(&p, end, &size) || p == end || *p++ != ' '))
		return false;
	if (end - p < 3 || !p[0] || p[1] != ' ')
		return false;
	line->size = (uint32_t)size;
	line->type = *p;
	line->name = p + 2;
	line->length = (size_t)(end - line->name);
	tab = memchr(line->name, '\t', line->length);
	if (tab)
		line->length = (size_t)(tab - line->name);
	return line->length > 0;
}

static bool name_is(const struct line *line, const char *name)
{
	return line->length == strlen(name) && !memcmp(line->name, name, line->length);
}

static bool is_end_mark(const struct line *line)
{
	return line->type == '?' || name_is(line, "__sym_end") || name_is(line, "__dynsym_end") ||
	       name_is(line, "__func_end");
}

static int add_line(struct symbols *s, const struct line *line)
{
	struct symbol *last = s->count ? &s->entry[s->count - 1] : NULL;

	/* uftrace has 32 bits for the size: a file that is not sorted gives wrong sizes in
	 * uftrace and here */
	if (last && !last->size)
		last->size = (uint32_t)(line->address - last->start);
	if (is_end_mark(line))
		return 0;
	return symbols_add_escaped(s, line->address, line->size, line->type, line->name,
				   line->length);
}

static int read_text(struct symbols *s, const char *text, size_t size)
{
	uint64_t last_address = UINT64_MAX;
	char last_type = '\0';
	struct line line;

	for (struct lines l = lines_of(text, size); lines_next(&l);) {
		if (*l.line == '#')
			continue;
		if (!read_line(l.line, l.size, &line)) {
			s->damaged += l.size > 0;
			continue;
		}
		if (!strchr(types, line.type) ||
		    (line.address == last_address && line.type == last_type))
			continue;
		last_address = line.address;
		last_type = line.type;
		if (add_line(s, &line) < 0)
			return -1;
	}
	return symbols_sort(s);
}

struct symbols *symbols_from_uftrace(const char *text, size_t size)
{
	struct symbols *s = symbols_new();

	if (s && read_text(s, text, size) < 0) {
		symbols_free(s);
		return NULL;
	}
	return s;
}

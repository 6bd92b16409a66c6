#include "cmd/trsym/recorded_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/buffer.h"
#include "common/util/lines.h"

static int compare_lines(const void *a, const void *b)
{
	const struct recorded_line *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Add "14 p.c", the line of the function at the address. */
static int recorded_lines_add(struct recorded_lines *r, uint64_t address, const char *text)
{
	struct recorded_line *at;
	char *file;
	unsigned long line = strtoul(text, &file, 10);

	if (file == text || *file != ' ' || !file[1] || line > UINT32_MAX)
		return 0;
	if (ARRAY_GROW(r->at, r->capacity, r->count))
		return -1;
	at = r->at;
	at[r->count++] = (struct recorded_line){address, file + 1, (uint32_t)line};
	return 0;
}

int recorded_lines_read(struct recorded_lines *r, const char *text, size_t size)
{
	uint64_t address = 0;
	bool known = false;
	char *end;

	*r = (struct recorded_lines){.text = malloc(size + 1)};
	if (!r->text)
		return -1;
	memcpy(r->text, text, size);
	r->text[size] = '\0';
	for (struct lines l = lines_of(r->text, size); lines_next(&l);) {
		l.line[l.size] = '\0';
		if (!strncmp(l.line, "F: ", 3)) {
			address = strtoull(l.line + 3, &end, 16);
			known = end > l.line + 3;
		} else if (known && !strncmp(l.line, "L: ", 3) &&
			   recorded_lines_add(r, address, l.line + 3)) {
			recorded_lines_free(r);
			return -1;
		}
	}
	if (r->count)
		qsort(r->at, r->count, sizeof *r->at, compare_lines);
	return 0;
}

const struct recorded_line *recorded_lines_find(const struct recorded_lines *r, uint64_t address)
{
	const struct recorded_line wanted = {.address = address};

	return r->count ? bsearch(&wanted, r->at, r->count, sizeof *r->at, compare_lines) : NULL;
}

void recorded_lines_free(struct recorded_lines *r)
{
	free(r->at);
	free(r->text);
	*r = (struct recorded_lines){0};
}

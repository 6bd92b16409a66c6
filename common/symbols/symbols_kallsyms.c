/*
 * symbols_kallsyms.c - parse the text of /proc/kallsyms
 *
 * "ADDR TYPE NAME", followed for modules by a tab and "[MODULE]".
 */
#include "common/util/buffer.h"
#include "common/symbols/symbols_table.h"
#include "common/util/digits.h"
#include "common/util/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest kernel function: a larger gap is the end of a section or of a module. */
#define FUNCTION_MAX (UINT64_C(1) << 20)
#define PAGE	     4096

/* The addresses of all lines, also of data: each ends the function before it. */
struct bounds {
	uint64_t *at;
	size_t count, room;
};

static int add_bound(struct bounds *b, uint64_t address)
{
	if (ARRAY_GROW(b->at, b->room, b->count))
		return -1;
	b->at[b->count++] = address;
	return 0;
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_function(char type)
{
	return type && strchr("tTwWi", type);
}

static int add_line(struct symbols *s, struct bounds *b, const char *p, size_t length)
{
	const char *end = p + length, *name;
	uint64_t address;

	if (!digits_hex(&p, end, &address) || end - p < 4 || p[0] != ' ' || p[2] != ' ') {
		s->damaged += length > 0;
		return 0;
	}
	if (add_bound(b, address) < 0)
		return -1;
	if (!is_function(p[1]) || !address)
		return 0;
	name = p + 3;
	while (name < end && *name != '\t' && *name != ' ')
		name++;
	if (name - p == 8 && !memcmp(p + 3, "_text", 5))
		s->text = address;
	else if (!s->text && name - p == 9 && !memcmp(p + 3, "_stext", 6))
		s->text = address;
	return symbols_add_escaped(s, address, 0, p[1], p + 3, (size_t)(name - p - 3));
}

/* Is name a better name of the same system call than old? */
static bool is_better_name(const char *old, const char *name)
{
	if (!strncmp(old, "SyS_", 4) && !strncmp(name, "sys_", 4))
		return !strcmp(old + 4, name + 4);
	if (!strncmp(old, "__ia32", 6) && !strncmp(name, "__x64", 5))
		return !strcmp(old + 6, name + 5);
	return false;
}

static bool is_second_choice(char type)
{
	return type == 'W' || type == 'i';
}

/* Choose between two symbols at one address, in the order of the file. */
static void choose_symbol(struct symbol *kept, const struct symbol *next)
{
	if (kept->type == next->type) {
		if (is_better_name(kept->name, next->name))
			kept->name = next->name;
	} else if (!is_second_choice(next->type) || is_second_choice(kept->type)) {
		*kept = *next;
	}
}

static void drop_aliases(struct symbols *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count; i++)
		if (n && s->entry[n - 1].start == s->entry[i].start)
			choose_symbol(&s->entry[n - 1], &s->entry[i]);
		else
			s->entry[n++] = s->entry[i];
	s->count = n;
}

static void set_sizes(struct symbols *s, const struct bounds *b)
{
	size_t i, k = 0;

	for (i = 0; i < s->count; i++) {
		struct symbol *symbol = &s->entry[i];
		uint64_t to_next = 0;

		while (k < b->count && b->at[k] <= symbol->start)
			k++;
		if (k < b->count)
			to_next = b->at[k] - symbol->start;
		if (!to_next || to_next > FUNCTION_MAX)
			to_next = 2 * PAGE - symbol->start % PAGE;
		symbol->size = to_next;
	}
}

static int read_text(struct symbols *s, struct bounds *b, const char *text, size_t size)
{
	for (struct lines l = lines_of(text, size); lines_next(&l);)
		if (add_line(s, b, l.line, l.size) < 0)
			return -1;
	if (symbols_sort(s) < 0)
		return -1;
	if (b->count)
		qsort(b->at, b->count, sizeof *b->at, compare_addresses);
	s->hidden = b->count && !b->at[b->count - 1];
	drop_aliases(s);
	set_sizes(s, b);
	return 0;
}

struct symbols *symbols_from_kallsyms(const char *text, size_t size)
{
	struct symbols *s = symbols_new();
	struct bounds b = {0};
	int result;

	if (!s)
		return NULL;
	result = read_text(s, &b, text, size);
	free(b.at);
	if (result < 0) {
		symbols_free(s);
		return NULL;
	}
	return s;
}

bool symbols_running_text(struct text_range *text)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	size_t capacity = 0;
	char *line = NULL;

	*text = (struct text_range){0};
	while (f && !text->end && getline(&line, &capacity, f) > 0) {
		const char *name = strrchr(line, ' ');

		if (name && !strcmp(name, " _text\n"))
			text->begin = strtoull(line, NULL, 16);
		else if (name && !strcmp(name, " _etext\n"))
			text->end = strtoull(line, NULL, 16);
	}
	free(line);
	if (f)
		fclose(f);
	return text->begin && text->end;
}

#include "common/symbols/symbols.h"
#include "common/util/buffer.h"
#include "common/value/escape.h"
#include "common/symbols/nesting.h"
#include "common/symbols/symbols_table.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_CHUNK 65536

struct symbol_names {
	struct symbol_names *next;
	size_t used, size;
	char bytes[];
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
	struct symbol_names *names, *next;

	if (!s)
		return;
	for (names = s->names; names; names = next) {
		next = names->next;
		free(names);
	}
	free(s->segments);
	free(s->entry);
	free(s->outer);
	free(s);
}

/* Allocate a chunk. A long name gets a chunk of its own after the current one, which remains in
 * use. */
static struct symbol_names *new_chunk(struct symbols *s, size_t need)
{
	size_t size = need > NAMES_CHUNK / 4 ? need : NAMES_CHUNK;
	struct symbol_names *names = malloc(sizeof *names + size);

	if (!names)
		return NULL;
	names->used = 0;
	names->size = size;
	if (s->names && size == need) {
		names->next = s->names->next;
		s->names->next = names;
	} else {
		names->next = s->names;
		s->names = names;
	}
	return names;
}

/* Copy a name, NUL-terminated, valid as long as the table; NULL when out of memory. */
static const char *symbols_keep(struct symbols *s, const char *name, size_t length)
{
	struct symbol_names *names = s->names;
	char *copy;

	length = strnlen(name, length);
	if (!names || names->size - names->used <= length) {
		names = new_chunk(s, length + 1);
		if (!names)
			return NULL;
	}
	copy = names->bytes + names->used;
	memcpy(copy, name, length);
	copy[length] = '\0';
	names->used += length + 1;
	return copy;
}

int symbols_add(struct symbols *s, uint64_t start, uint64_t size, char type, const char *name,
		size_t length)
{
	const char *copy;

	if (ARRAY_GROW(s->entry, s->room, s->count))
		return -1;
	copy = symbols_keep(s, name, length);
	if (!copy)
		return -1;
	s->entry[s->count++] = (struct symbol){start, size, copy, type};
	return 0;
}

int symbols_add_escaped(struct symbols *s, uint64_t start, uint64_t size, char type,
			const char *name, size_t length)
{
	char *copy;
	int result;

	if (!memchr(name, '\\', length))
		return symbols_add(s, start, size, type, name, length);
	copy = strndup(name, length);
	if (!copy)
		return -1;
	result = symbols_add(s, start, size, type, copy, escape_undo(copy, strlen(copy), '\\'));
	free(copy);
	return result;
}

static bool is_sorted(const struct symbols *s)
{
	size_t i;

	for (i = 1; i < s->count; i++)
		if (s->entry[i - 1].start > s->entry[i].start)
			return false;
	return true;
}

static void merge_runs(const struct symbol *from, struct symbol *to, size_t low, size_t middle,
		       size_t high)
{
	size_t a = low, b = middle, i;

	for (i = low; i < high; i++)
		if (a < middle && (b >= high || from[a].start <= from[b].start))
			to[i] = from[a++];
		else
			to[i] = from[b++];
}

/* A merge sort: qsort() does not define the order of equal addresses, and names depend on it. */
int symbols_sort(struct symbols *s)
{
	struct symbol *from = s->entry, *to;
	size_t width, i;

	free(s->outer);
	s->outer = NULL;
	if (is_sorted(s))
		return 0;
	to = reallocarray(NULL, s->count, sizeof *to);
	if (!to)
		return -1;
	for (width = 1; width < s->count; width *= 2) {
		struct symbol *swap = from;

		for (i = 0; i < s->count; i += 2 * width) {
			size_t left = s->count - i;

			merge_runs(from, to, i, i + (left < width ? left : width),
				   i + (left < 2 * width ? left : 2 * width));
		}
		from = to;
		to = swap;
	}
	free(to);
	s->entry = from;
	s->room = s->count;
	return 0;
}

static uint64_t start_of(const void *table, size_t i)
{
	return ((const struct symbols *)table)->entry[i].start;
}

static uint64_t end_of(const void *table, size_t i)
{
	const struct symbol *symbol = &((const struct symbols *)table)->entry[i];

	return symbol->size > UINT64_MAX - symbol->start ? UINT64_MAX
							 : symbol->start + symbol->size;
}

static uint32_t outer_of(const void *table, size_t i)
{
	return ((const struct symbols *)table)->outer[i];
}

static bool symbol_contains(const struct symbol *symbol, uint64_t address)
{
	return address >= symbol->start && address - symbol->start < symbol->size;
}

static bool symbol_has(const void *table, size_t i, uint64_t address)
{
	return symbol_contains(&((const struct symbols *)table)->entry[i], address);
}

static const struct nesting nesting = {start_of, end_of, symbol_has, outer_of};

int symbols_nest(struct symbols *s)
{
	uint32_t *outer;

	if (s->count >= UINT32_MAX)
		return -1;
	outer = calloc(s->count + 1, sizeof *outer);
	if (!outer)
		return -1;
	free(s->outer);
	s->outer = outer;
	for (size_t i = 1; i < s->count; i++)
		outer[i] = nesting_outer(&nesting, s, i);
	return 0;
}

/* Search by the steps of the C library's bsearch(), which decide among overlapping symbols. */
static const struct symbol *symbols_bisect(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct symbol *symbol = &s->entry[middle];

		if (symbol_contains(symbol, address))
			return symbol;
		if (symbol->start > address)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static const struct symbol *find_innermost(const struct symbols *s, uint64_t address)
{
	size_t found = nesting_find(&nesting, s, s->count, address);

	return found ? &s->entry[found - 1] : NULL;
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
	return s->outer ? find_innermost(s, address) : symbols_bisect(s, address);
}

size_t symbols_count(const struct symbols *s)
{
	return s->count;
}

const struct symbol *symbols_at(const struct symbols *s, size_t i)
{
	return &s->entry[i];
}

size_t symbols_damaged(const struct symbols *s)
{
	return s->damaged;
}

bool symbols_stripped(const struct symbols *s)
{
	return s->stripped;
}

bool symbols_hidden(const struct symbols *s)
{
	return s->hidden;
}

uint64_t symbols_kernel_text(const struct symbols *s)
{
	return s->text;
}

uint64_t symbols_address(const struct symbols *s, uint64_t offset)
{
	for (size_t i = 0; i < s->nsegments; i++)
		if (offset >= s->segments[i].start && offset < s->segments[i].end)
			return offset + s->segments[i].shift;
	return offset;
}

#include "text_tracecmd_names.h"

#include <stdlib.h>

int address_names_add(struct address_names *n, const struct meta *m)
{
	/* a piece that is missing was told by the reader */
	if (m->offset != n->text.size || n->sorted || m->size > UINT32_MAX / 2 - n->text.size)
		return 0;
	return buffer_append(&n->text, m->data, m->size);
}

void address_names_free(struct address_names *n)
{
	buffer_free(&n->text);
	free(n->names);
}

static int compare(const void *a, const void *b)
{
	const struct address_name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static const char *hexadecimal(const char *p, const char *end, uint64_t *v)
{
	*v = 0;
	for (; p < end; p++) {
		int digit = *p >= '0' && *p <= '9'   ? *p - '0'
			    : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
			    : *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
						     : -1;

		if (digit < 0)
			break;
		*v = *v << 4 | (uint64_t)digit;
	}
	return p;
}

static int add(struct address_names *n, uint64_t address, const char *from, const char *end)
{
	struct address_name *names = array_grow(n->names, &n->capacity, n->count, sizeof *names);

	if (!names)
		return -1;
	n->names = names;
	names[n->count++] = (struct address_name){address, (uint32_t)(from - (char *)n->text.data),
						  (uint32_t)(end - from)};
	return 0;
}

/* "ADDRESS T NAME[\t[MODULE]]" */
static int symbol_line(struct address_names *n, const char *p, const char *end)
{
	uint64_t address;
	const char *q = hexadecimal(p, end, &address), *name;

	if (q == p || end - q < 4 || q[0] != ' ' || q[2] != ' ' || q[1] == 'A' || q[1] == 'a' ||
	    q[3] == '$')
		return 0;
	for (name = q + 3, q = name; q < end && *q != '\t' && *q != ' '; q++)
		;
	return add(n, address, name, q);
}

/* "0xADDRESS : "TEXT"" */
static int string_line(struct address_names *n, const char *p, const char *end)
{
	uint64_t address;
	const char *open = memchr(p, '"', (size_t)(end - p));

	while (end > p && end[-1] != '"')
		end--;
	if (!open || end - 1 <= open || end - p < 3 || p[0] != '0' || p[1] != 'x')
		return 0;
	hexadecimal(p + 2, end, &address);
	return add(n, address, open + 1, end - 1);
}

static int sort(struct address_names *n,
		int (*line)(struct address_names *, const char *, const char *))
{
	const char *p = (char *)n->text.data, *end;

	if (n->sorted || !p)
		return 0;
	end = p + n->text.size;
	n->sorted = true;
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		if (line(n, p, newline ? newline : end))
			return -1;
		p = newline ? newline + 1 : end;
	}
	if (n->count)
		qsort(n->names, n->count, sizeof *n->names, compare);
	return 0;
}

/* The last name at or below the address, or NULL. */
static const struct address_name *below(const struct address_names *n, uint64_t address)
{
	size_t low = 0, high = n->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (n->names[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &n->names[low - 1] : NULL;
}

const char *address_symbol(struct address_names *n, uint64_t address, size_t *size,
			   uint64_t *offset)
{
	const struct address_name *found;

	if (sort(n, symbol_line))
		return NULL;
	found = below(n, address);
	if (!found || !n->names[n->count - 1].address)
		return NULL;
	/* the last one has no end that is known */
	if (found == &n->names[n->count - 1] && found->address != address)
		return NULL;
	*size = found->size;
	*offset = address - found->address;
	return (char *)n->text.data + found->at;
}

const char *address_string(struct address_names *n, uint64_t address, size_t *size)
{
	const struct address_name *found;

	if (sort(n, string_line))
		return NULL;
	found = below(n, address);
	if (!found || found->address != address)
		return NULL;
	*size = found->size;
	return (char *)n->text.data + found->at;
}

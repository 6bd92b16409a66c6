/*
 * kernel.c - names of the kernel that a trace.dat was recorded on
 */
#include "cmd/trencode/text/kernel.h"

#include <stdlib.h>

#include "common/util/bisect.h"
#include "common/util/buffer.h"
#include "common/util/text.h"
#include "common/util/lines.h"
#include "common/ftrace/event_format.h"
#include "common/ftrace/print_format.h"

/* The print fmt of one type, compiled at its first event. */
struct message {
	bool ready;
	struct print_format *format; /* NULL: print fmt cannot be evaluated */
	struct event_format fields;  /* read where format is NULL */
};

struct kernel_events {
	struct text_kernel *kernel;
	struct print_kernel names;
	bool named;
	struct message *messages; /* by number of the type */
	size_t count;
	struct print_line line;
};

struct kernel_events *kernel_events_new(void)
{
	struct kernel_events *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->kernel = text_kernel_new();
	if (!k->kernel) {
		free(k);
		return NULL;
	}
	return k;
}

void kernel_events_free(struct kernel_events *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->count; i++) {
		print_format_free(k->messages[i].format);
		event_format_free(&k->messages[i].fields);
	}
	free(k->messages);
	text_kernel_free(k->kernel);
	line_free(&k->line);
	free(k);
}

int kernel_events_meta(struct kernel_events *k, const struct meta *m)
{
	return text_kernel_meta(k->kernel, m);
}

static struct message *message_at(struct kernel_events *k, uint32_t number)
{
	struct message *messages;

	if (ARRAY_REACH(k->messages, k->count, number))
		return NULL;
	messages = k->messages;
	return &messages[number];
}

static int message_make(struct kernel_events *k, struct message *m, const struct type *type)
{
	const struct text_ref *text = &type->declaration;
	char why[PRINT_WHY];

	if (!k->named && text_kernel_get(k->kernel, &k->names))
		return -1;
	k->named = true;
	m->ready = true;
	m->format = print_format_compile(text->text, text->size, type->word_size,
					 type->flags & TYPE_BIG_ENDIAN, &k->names, why);
	if (m->format)
		return 0;
	if (!*why || event_format_parse(&m->fields, text->text, text->size, type->word_size) < 0)
		return -1;
	return 0;
}

int kernel_event_text(struct kernel_events *k, struct text *out, const struct event *ev)
{
	struct message *m = message_at(k, ev->type->number);
	size_t n;

	if (!m || (!m->ready && message_make(k, m, ev->type)))
		return -1;
	k->line.size = 0;
	if (m->format)
		print_format_text(m->format, &k->names, ev->tail, ev->tail_size, &k->line);
	else
		print_fields_text(&m->fields, ev->tail, ev->tail_size,
				  ev->type->flags & TYPE_BIG_ENDIAN, &k->line);
	if (k->line.failed)
		return -1;
	n = k->line.size;
	while (n && k->line.data[n - 1] == '\n')
		n--;
	if (!n)
		return 0;
	text_puts(out, " (");
	text_masked(out, k->line.data, n);
	text_char(out, ')');
	return 0;
}

/* --- kernel --- */

/* The symbol or the string of an address. */
struct kernel_name {
	uint64_t address;
	uint32_t at, size; /* offset and length in the text */
};

/* Symbols or strings, sorted by address once read. */
struct kernel_table {
	struct buffer text;
	struct kernel_name *rows;
	size_t count, capacity;
	uint32_t *by_name; /* indexes of rows; NULL until a name is searched */
	bool read;
};

struct text_kernel {
	struct kernel_table symbols, strings;
};

struct text_kernel *text_kernel_new(void)
{
	return calloc(1, sizeof(struct text_kernel));
}

static void text_kernel_table_free(struct kernel_table *t)
{
	buffer_free(&t->text);
	free(t->rows);
	free(t->by_name);
}

void text_kernel_free(struct text_kernel *k)
{
	if (!k)
		return;
	text_kernel_table_free(&k->symbols);
	text_kernel_table_free(&k->strings);
	free(k);
}

static int table_append(struct kernel_table *t, const struct meta *m)
{
	if (m->offset != t->text.size || t->read || m->size > UINT32_MAX / 2 - t->text.size)
		return 0;
	return buffer_append(&t->text, m->data, m->size);
}

static bool text_kernel_is_meta(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

int text_kernel_meta(struct text_kernel *k, const struct meta *m)
{
	if (text_kernel_is_meta(m, "kallsyms"))
		return table_append(&k->symbols, m);
	if (text_kernel_is_meta(m, "printk_formats"))
		return table_append(&k->strings, m);
	return 0;
}

static int text_kernel_table_add(struct kernel_table *t, uint64_t address, size_t at, size_t size)
{
	struct kernel_name *rows;

	if (ARRAY_GROW(t->rows, t->capacity, t->count))
		return -1;
	rows = t->rows;
	rows[t->count++] = (struct kernel_name){address, (uint32_t)at, (uint32_t)size};
	return 0;
}

/* Read a hexadecimal number, with or without 0x. Returns false if there is none. */
static bool read_address(const char **p, const char *end, uint64_t *v)
{
	if (end - *p > 1 && !memcmp(*p, "0x", 2))
		*p += 2;
	return digits_hex(p, end, v);
}

/* Read "ffffffff81000000 T name[\t[module]]". *good is false if the line is not of this form; the
 * table then ends here. */
static int text_kernel_read_symbol(struct kernel_table *t, const char *p, const char *end,
				   bool *good)
{
	const char *text = (const char *)t->text.data, *name;
	uint64_t address;
	char type;

	*good = false;
	if (!read_address(&p, end, &address))
		return 0;
	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return 0;
	type = *p++;
	while (p < end && *p == ' ')
		p++;
	name = p;
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	if (p == name)
		return 0;
	*good = true;
	/* offsets in per-CPU data, and marks between ARM and Thumb code */
	if (type == 'A' || type == 'a' || *name == '$')
		return 0;
	return text_kernel_table_add(t, address, (size_t)(name - text), (size_t)(p - name));
}

/* Read '0xffffffff81000000 : "text\n"', without the newline at the end of the text. */
static int text_kernel_read_string(struct kernel_table *t, char *p, char *end, bool *good)
{
	char *text = (char *)t->text.data, *from;
	const char *q = p;
	uint64_t address;
	size_t size;

	*good = true;
	while (q < end && *q == ' ')
		q++;
	if (!read_address(&q, end, &address))
		return 0;
	from = memchr(q, ':', (size_t)(end - q));
	if (!from)
		return 0;
	from++;
	if (from < end && *from == ' ')
		from++;
	if (from < end && *from == '"')
		from++;
	if (end > from && end[-1] == '"')
		end--;
	size = print_unescape(from, from, (size_t)(end - from));
	if (size && from[size - 1] == '\n')
		size--;
	return text_kernel_table_add(t, address, (size_t)(from - text), size);
}

/* Compare for qsort. Of symbols with one address libtraceevent puts the last of the file first. */
static int by_address(const void *a, const void *b)
{
	const struct kernel_name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->at > y->at ? -1 : x->at < y->at;
}

static int table_read(struct kernel_table *t, bool symbols)
{
	struct lines l = lines_of((char *)t->text.data, t->text.size);
	bool good = true;

	if (t->read)
		return 0;
	t->read = true;
	while (good && lines_next(&l))
		if (l.size &&
		    (symbols ? text_kernel_read_symbol(t, l.line, l.line + l.size, &good)
			     : text_kernel_read_string(t, l.line, l.line + l.size, &good)))
			return -1;
	if (t->count)
		qsort(t->rows, t->count, sizeof *t->rows, by_address);
	return 0;
}

/* Return the index + 1 of the row, or 0. Bisects as bsearch of the C library does, so that of
 * several rows with one address the same one is found. */
static uint32_t table_search(const struct kernel_table *t, uint64_t address, bool exact)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t i = low + (high - low) / 2;
		uint64_t next = i + 1 < t->count ? t->rows[i + 1].address : 0;

		if (address == t->rows[i].address ||
		    (!exact && address > t->rows[i].address && address < next))
			return (uint32_t)i + 1;
		if (address < t->rows[i].address)
			high = i;
		else
			low = i + 1;
	}
	return 0;
}

static const char *kernel_symbol(void *context, uint64_t address, size_t *size, uint64_t *offset)
{
	const struct text_kernel *k = context;
	uint32_t number = table_search(&k->symbols, address, false);
	const struct kernel_name *row;

	if (!number)
		return NULL;
	row = &k->symbols.rows[number - 1];
	*size = row->size;
	*offset = address - row->address;
	return (const char *)k->symbols.text.data + row->at;
}

/* Compare the name of a row: negative if it is before these bytes. */
static int text_kernel_compare_name(const struct kernel_table *t, uint32_t row, const void *name,
				    size_t size)
{
	const struct kernel_name *r = &t->rows[row];

	if (r->size != size)
		return r->size < size ? -1 : 1;
	return memcmp(t->text.data + r->at, name, size);
}

/* Compare for qsort_r. Of symbols with one name the lowest address is first. */
static int text_kernel_by_name(const void *a, const void *b, void *table)
{
	const struct kernel_table *t = table;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = text_kernel_compare_name(t, x, t->text.data + t->rows[y].at, t->rows[y].size);

	return c ? c : (x > y) - (x < y);
}

static uint64_t kernel_address(void *context, const char *name, size_t size)
{
	struct kernel_table *t = &((struct text_kernel *)context)->symbols;
	size_t low;

	if (!t->by_name && t->count) {
		t->by_name = malloc(t->count * sizeof *t->by_name);
		if (!t->by_name)
			return 0;
		for (size_t i = 0; i < t->count; i++)
			t->by_name[i] = (uint32_t)i;
		qsort_r(t->by_name, t->count, sizeof *t->by_name, text_kernel_by_name, t);
	}
	low = BISECT(t->count, i, text_kernel_compare_name(t, t->by_name[i], name, size) < 0);
	if (low == t->count || text_kernel_compare_name(t, t->by_name[low], name, size))
		return 0;
	return t->rows[t->by_name[low]].address;
}

static const char *kernel_string(void *context, uint64_t address, size_t *size)
{
	const struct kernel_table *t = &((struct text_kernel *)context)->strings;
	uint32_t row = table_search(t, address, true);

	if (!row)
		return NULL;
	*size = t->rows[row - 1].size;
	return (const char *)t->text.data + t->rows[row - 1].at;
}

int text_kernel_get(struct text_kernel *k, struct print_kernel *out)
{
	*out = (struct print_kernel){.context = k,
				     .symbol = kernel_symbol,
				     .address = kernel_address,
				     .string = kernel_string};
	return table_read(&k->symbols, true) || table_read(&k->strings, false) ? -1 : 0;
}

#include "cmd/trstat/table/prom_labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/utf8.h"
#include "cmd/trstat/table/format.h"

/* Append a valid name of a label, [a-zA-Z_][a-zA-Z0-9_]*, that Prometheus does not reserve. */
static int put_name(struct buffer *b, const char *name)
{
	static const char *const own[] = {"le",	       "quantile", "field",
					  "duplicate", "job",	   "instance"};
	bool reserved = name[0] == '_' && name[1] == '_';
	int bad;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		reserved |= !strcmp(name, own[i]);
	bad = reserved || isdigit((unsigned char)*name) ? buffer_append(b, "key_", 4) : 0;
	for (; *name && !bad; name++) {
		/* the end of bucket(time,1s) and the like */
		if (*name == ')' && !name[1])
			break;
		bad = buffer_u8(b, isascii((unsigned char)*name) && isalnum((unsigned char)*name)
					   ? (uint8_t)*name
					   : '_');
	}
	return bad;
}

int prom_quoted(struct buffer *b, const char *p, size_t n)
{
	int bad = buffer_u8(b, '"');

	while (n && !bad) {
		size_t length = utf8_length(p, n);

		if (!length) {
			bad = buffer_append(b, "\xef\xbf\xbd", 3);
			length = 1;
		} else if (*p == '\n') {
			bad = buffer_append(b, "\\n", 2);
		} else if (*p == '"' || *p == '\\') {
			bad = buffer_u8(b, '\\') || buffer_u8(b, (uint8_t)*p);
		} else {
			bad = buffer_append(b, p, length);
		}
		p += length;
		n -= length;
	}
	return bad || buffer_u8(b, '"') ? -1 : 0;
}

static int put_key(struct buffer *b, const struct groups *g, const struct key_cell *cell)
{
	char value[VALUE_SIZE];
	const char *p = value;
	size_t n = 0;

	if (!groups_cell_text(g, cell, &p, &n) && cell->kind != KEY_MISSING)
		n = format_key(value, cell);
	return prom_quoted(b, p, n);
}

/* Make a text unique by appending a number while it occurs in seen. */
static int make_new(struct intern *seen, struct buffer *b, const char *number, const char *end)
{
	uint32_t before = seen->count;
	size_t size = b->size;

	for (unsigned n = 2;; n++) {
		if (intern(seen, b->size ? (void *)b->data : "", b->size) == INTERN_NONE)
			return -1;
		if (seen->count > before)
			return 0;
		b->size = size;
		if (buffer_printf(b, "%s%s%u%s", size && *end ? "," : "", number, n, end))
			return -1;
	}
}

/* Make the names of the keys' labels; no two are alike. */
static int put_names(struct buffer *names, const struct table *t, size_t keys)
{
	struct intern seen = {0};
	int bad = 0;

	for (size_t i = 0; i < keys && !bad; i++)
		bad = put_name(&names[i], t->keys[i]) || make_new(&seen, &names[i], "_", "");
	intern_free(&seen);
	return bad;
}

static int put_labels(struct buffer *b, const struct buffer *names, const struct table *t,
		      const struct aggregate *a, size_t keys)
{
	const struct key_cell *cells = groups_cells(t->groups, a);

	for (size_t i = 0; i < keys; i++)
		if ((i && buffer_u8(b, ',')) || buffer_append(b, names[i].data, names[i].size) ||
		    buffer_u8(b, '=') || put_key(b, t->groups, &cells[i]))
			return -1;
	return 0;
}

int prom_labels_make(struct prom_labels *l, const struct table *t,
		     const struct aggregate *const *row, size_t count, size_t keys)
{
	struct buffer *names = calloc(keys + 1, sizeof(*names));
	struct intern seen = {0};
	int bad = names ? put_names(names, t, keys) : -1;

	*l = (struct prom_labels){.label = calloc(count + 1, sizeof(*l->label)), .count = count};
	bad = bad || !l->label;
	for (size_t i = 0; i < count && !bad; i++)
		bad = put_labels(&l->label[i], names, t, row[i], keys) ||
		      make_new(&seen, &l->label[i], "duplicate=\"", "\"");
	for (size_t i = 0; names && i < keys; i++)
		buffer_free(&names[i]);
	free(names);
	intern_free(&seen);
	return bad ? -1 : 0;
}

void prom_labels_free(struct prom_labels *l)
{
	for (size_t i = 0; l->label && i < l->count; i++)
		buffer_free(&l->label[i]);
	free(l->label);
}

void prom_labels_put(const struct prom_labels *l, size_t row, const char *more, struct text *out)
{
	const struct buffer *b = &l->label[row];

	if (!b->size && !*more)
		return;
	text_char(out, '{');
	if (b->size)
		text_put(out, (const char *)b->data, b->size);
	text_puts(out, b->size && *more ? "," : "");
	text_puts(out, more);
	text_char(out, '}');
}

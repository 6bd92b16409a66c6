/* lines.c - the constant texts in the lines of a CTF type, made once for each type */
#include "cmd/trencode/text/ctf/ctf.h"

#include <stdlib.h>

#include "common/util/buffer.h"

enum { SCOPES = 4 };

/* Read the next count of a declaration; return -1 for "-" and at its end. */
static int next_count(const char **p)
{
	char *end;
	long n;

	while (**p == ' ')
		++*p;
	if (**p < '0' || **p > '9') {
		*p += **p == '-';
		return -1;
	}
	n = strtol(*p, &end, 10);
	*p = end;
	return n < 100000 ? (int)n : -1;
}

static struct text_ref field_name(const struct event *ev, const struct location *location,
				  uint32_t i)
{
	if (!(ev->type->flags & TYPE_VALUES))
		return ev->type->fields[i].name;
	return location->arguments->members[i].name;
}

void text_ctf_line_free(struct text_ctf_line *l)
{
	for (uint32_t i = 0; l && l->leads && i <= l->nfields; i++)
		free(l->leads[i].text);
	if (l)
		free(l->leads);
	free(l);
}

/* Compose the leads: "{ a = ", ", b = ", " }, { c = ", " }\n". */
struct text_ctf_line *text_ctf_line_new(const struct dictionary *dictionary, const struct event *ev)
{
	const struct location *location = dictionary_location(dictionary, ev->location);
	const char *d = ev->type->declaration.text;
	struct text_ctf_line *l = calloc(1, sizeof *l);
	struct buffer b = {0};
	bool first = true;
	uint32_t n = 0;

	if (!l)
		return NULL;
	if (ev->type->flags & TYPE_VALUES)
		l->nfields = location && location->arguments ? location->arguments->count : 0;
	else
		l->nfields = ev->type->nfields;
	l->leads = calloc(l->nfields + 1u, sizeof *l->leads);
	if (!l->leads)
		goto failed;
	l->cpu = !strncmp(d, "cpu", 3);
	if (l->cpu)
		d += 3;
	for (int i = l->cpu; i < SCOPES; i++) {
		int count = next_count(&d);

		/* each field is printed, even where the counts of the declaration are too small */
		if (i == SCOPES - 1 && n < l->nfields)
			count = (int)(l->nfields - n);
		if (count < 0)
			continue;
		if (buffer_append(&b, first ? "{ " : ", { ", first ? 2 : 4))
			goto failed;
		first = false;
		for (int k = 0; k < count && n < l->nfields; k++) {
			struct text_ref name = field_name(ev, location, n);

			if (buffer_append(&b, ", ", k ? 2 : 0) ||
			    buffer_append(&b, name.text, name.size) || buffer_append(&b, " = ", 3))
				goto failed;
			l->leads[n++] = (struct text_ctf_lead){(char *)b.data, b.size};
			b = (struct buffer){0};
		}
		if (buffer_append(&b, count ? " }" : "}", count ? 2 : 1))
			goto failed;
	}
	if (buffer_append(&b, "\n", 1))
		goto failed;
	l->leads[n] = (struct text_ctf_lead){(char *)b.data, b.size};
	return l;
failed:
	buffer_free(&b);
	text_ctf_line_free(l);
	return NULL;
}

/* print_items.c - parses the conversions of printf in a print fmt, once */
#include <ctype.h>
#include <stdio.h>

#include "common/ftrace/print_tree.h"

#define NONE UINT32_MAX

/* ---- parsing ---- */

struct scanner {
	struct print_format *format;
	size_t at, end; /* in its texts */
	int (*next)(void *context, uint32_t *node);
	void *context;
	char *why;
};

static char peek(const struct scanner *s)
{
	return s->at < s->end ? (char)s->format->texts.data[s->at] : '\0';
}

static int add(struct scanner *s, const struct print_item *item)
{
	struct print_format *f = s->format;
	struct print_item *items;

	if (f->item_count == ITEMS_MOST) {
		snprintf(s->why, PRINT_WHY, "it has too many conversions");
		return -1;
	}
	if (ARRAY_GROW(f->items, f->item_capacity, f->item_count)) {
		s->why[0] = '\0';
		return -1;
	}
	items = f->items;
	items[f->item_count++] = *item;
	return 0;
}

static int literal(struct scanner *s, size_t from, size_t to)
{
	struct print_item item = {.node = (uint32_t)from, .size = (uint32_t)(to - from)};

	return from == to ? 0 : add(s, &item);
}

static void take_flags(struct scanner *s, struct print_item *item)
{
	static const char letters[] = "-+ #0";

	for (const char *p; peek(s) && (p = strchr(letters, peek(s))); s->at++)
		item->flags |= (uint8_t)(1 << (p - letters));
}

/* Parse a number, or '*' and an argument. */
static int take_column(struct scanner *s, int32_t *v, uint32_t *node, uint8_t *flags, uint8_t flag)
{
	if (peek(s) == '*') {
		s->at++;
		*flags |= flag;
		return s->next(s->context, node);
	}
	for (*v = 0; isdigit((unsigned char)peek(s)); s->at++)
		if (*v < COLUMN_MOST)
			*v = *v * 10 + (peek(s) - '0');
	if (*v > COLUMN_MOST)
		*v = COLUMN_MOST;
	return 0;
}

static void take_length(struct scanner *s, struct print_item *item)
{
	unsigned word = s->format->word;

	item->length = 4;
	for (;; s->at++)
		switch (peek(s)) {
		case 'h': item->length = item->length == 2 ? 1 : 2; break;
		case 'l':
			item->length = item->length == 4 ? (uint8_t)(word == 4 ? 5 : 8) : 8;
			break;
		case 'L':
		case 'q':
		case 'j': item->length = 8; break;
		case 'z':
		case 'Z':
		case 't': item->length = (uint8_t)word; break;
		default:
			/* a long of 4 bytes was marked, so that a second l is recognised */
			if (item->length == 5)
				item->length = 4;
			return;
		}
}

/* Parse the letters after %p. The kernel accepts any; those with a meaning are kept. */
static void take_extension(struct scanner *s, struct print_item *item)
{
	size_t n = 0;

	for (; isalnum((unsigned char)peek(s)); s->at++) {
		/* the extension of a socket address ends with the known letters, others are text
		 */
		if (n && strchr("sSfFxB", item->extension[0]))
			break;
		if (n && strchr("mM", item->extension[0]) && (n > 1 || !strchr("FR", peek(s))))
			break;
		if (n && item->extension[0] == 'U' && (n > 1 || !strchr("bBlL", peek(s))))
			break;
		if (n && item->extension[0] == 'h' && (n > 1 || !strchr("CDN", peek(s))))
			break;
		if (n == 1 && strchr("iI", item->extension[0]) && !strchr("46S", peek(s)))
			break;
		if (n > 1 && strchr("iI", item->extension[0]) && !strchr("pfschnbl", peek(s)))
			break;
		if (!n && !strchr("sSfFxBKmMUhiIb", peek(s)))
			break;
		if (n && item->extension[0] == 'b' && (n > 1 || peek(s) != 'l'))
			break;
		if (n && item->extension[0] == 'K')
			break;
		if (n == sizeof item->extension - 1)
			break;
		item->extension[n++] = peek(s);
	}
}

/* Test whether the conversion can print this argument. */
static bool fits(const struct scanner *s, const struct print_item *item)
{
	const struct print_node *n;

	if (item->node == NONE)
		return s->format->binary;
	n = &s->format->nodes[item->node];
	switch (item->conversion) {
	case 's': return true;
	case 'p':
		if (item->extension[0] && strchr("mMUhiIb", item->extension[0]))
			return n->kind == KIND_OF_ARRAY || n->op == OP_LOAD;
	}
	return n->kind == KIND_OF_NUMBER;
}

static bool number_node(const struct scanner *s, uint32_t node)
{
	return node == NONE ? s->format->binary : s->format->nodes[node].kind == KIND_OF_NUMBER;
}

static int conversion(struct scanner *s)
{
	struct print_item item = {
		.width = -1, .precision = -1, .width_node = NONE, .precision_node = NONE};

	take_flags(s, &item);
	if ((peek(s) == '*' || isdigit((unsigned char)peek(s))) &&
	    take_column(s, &item.width, &item.width_node, &item.flags, ITEM_WIDTH_NODE))
		return -1;
	if (peek(s) == '.') {
		s->at++;
		if (take_column(s, &item.precision, &item.precision_node, &item.flags,
				ITEM_PRECISION_NODE))
			return -1;
	}
	take_length(s, &item);
	item.conversion = peek(s);
	s->at += s->at < s->end;
	if (item.conversion == 'p')
		take_extension(s, &item);
	if (!item.conversion || !strchr("diuxXocsp", item.conversion)) {
		snprintf(s->why, PRINT_WHY, "%%%c is no conversion",
			 isprint((unsigned char)item.conversion) ? item.conversion : '?');
		return -1;
	}
	if (s->next(s->context, &item.node))
		return -1;
	if (!fits(s, &item) || (item.flags & ITEM_WIDTH_NODE && !number_node(s, item.width_node)) ||
	    (item.flags & ITEM_PRECISION_NODE && !number_node(s, item.precision_node))) {
		snprintf(s->why, PRINT_WHY, "%%%c%s of something else", item.conversion,
			 item.extension);
		return -1;
	}
	if (!item.flags && item.width < 0 && item.precision < 0)
		item.flags = ITEM_PLAIN;
	return add(s, &item);
}

int print_items(struct print_format *f, size_t at, size_t n,
		int (*next)(void *context, uint32_t *node), void *context, char *why)
{
	struct scanner s = {
		.format = f, .at = at, .end = at + n, .next = next, .context = context, .why = why};
	size_t from = at;

	while (s.at < s.end) {
		if (peek(&s) != '%') {
			s.at++;
			continue;
		}
		if (s.at + 1 < s.end && f->texts.data[s.at + 1] == '%') {
			if (literal(&s, from, s.at + 1))
				return -1;
			from = s.at += 2;
			continue;
		}
		if (literal(&s, from, s.at))
			return -1;
		s.at++;
		if (conversion(&s))
			return -1;
		from = s.at;
	}
	return literal(&s, from, s.end);
}

/* ---- printing ---- */

/* The conversions of printf in a print fmt: taken apart once, then carried out for each record. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/digits.h"
#include "print_tree.h"

#define NONE UINT32_MAX

/* ---- taking apart ---- */

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
	items = array_grow(f->items, &f->item_capacity, f->item_count, sizeof *item);
	if (!items) {
		s->why[0] = '\0';
		return -1;
	}
	f->items = items;
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

/* A number, or '*' and an argument. */
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
			/* a long of 4 bytes was kept apart, so that a second l is seen */
			if (item->length == 5)
				item->length = 4;
			return;
		}
}

/* The letters behind %p. The kernel takes any; those that mean something are kept. */
static void take_extension(struct scanner *s, struct print_item *item)
{
	size_t n = 0;

	for (; isalnum((unsigned char)peek(s)); s->at++) {
		/* an address of a socket ends with the letters that are known, others are text */
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

/* Can this argument be printed so? */
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

/* ---- carrying out ---- */

/* How a column is to look, for one record. */
struct column {
	int width, precision;
	uint8_t flags;
};

/* The next argument of a binary format: bytes in all, aligned to at most 4. */
static uint64_t packed(struct print_input *in, unsigned size, bool is_signed)
{
	size_t at = align_up(in->next, size < 4 ? size : 4);
	uint64_t v = 0;

	if (at <= in->size && size <= in->size - at)
		v = print_extend(get_uint(in->record + at, size, in->format->big), size, is_signed);
	in->next = at + size;
	return v;
}

static struct byte_range packed_string(struct print_input *in)
{
	struct byte_range r = {in->record, 0};

	if (in->next >= in->size)
		return r;
	r.data = in->record + in->next;
	r.size = strnlen((const char *)r.data, in->size - in->next);
	in->next += r.size + 1;
	return r;
}

static uint64_t value(struct print_input *in, const struct print_item *item)
{
	bool is_signed = item->conversion == 'd' || item->conversion == 'i';

	if (__builtin_expect(!in->format->binary, 1))
		return print_extend(print_number(in, item->node), item->length, is_signed);
	return packed(in, item->length, is_signed);
}

static int column_value(struct print_input *in, uint32_t node)
{
	int64_t v = in->format->binary ? (int64_t)packed(in, 4, true)
				       : (int64_t)print_extend(print_number(in, node), 4, true);

	return (int)(v > COLUMN_MOST ? COLUMN_MOST : v < -COLUMN_MOST ? -COLUMN_MOST : v);
}

static struct column column_of(struct print_input *in, const struct print_item *item)
{
	struct column c = {item->width, item->precision, item->flags};

	if (item->flags & ITEM_WIDTH_NODE) {
		c.width = column_value(in, item->width_node);
		if (c.width < 0) {
			c.width = -c.width;
			c.flags |= ITEM_LEFT;
		}
	}
	if (item->flags & ITEM_PRECISION_NODE) {
		c.precision = column_value(in, item->precision_node);
		if (c.precision < 0)
			c.precision = -1;
	}
	return c;
}

static void number(const struct column *c, char conversion, uint64_t v, struct line *out)
{
	bool is_signed = conversion == 'd' || conversion == 'i';
	bool negative = is_signed && (int64_t)v < 0, zeros;
	unsigned base = conversion == 'o' ? 8 : conversion == 'x' || conversion == 'X' ? 16 : 10;
	char buffer[32], *end = buffer + sizeof buffer, prefix[3];
	char *p = digits_base(end, negative ? -v : v, base, conversion == 'X');
	size_t digits, size = 0, shown, start = out->size;

	if (!c->precision && !v)
		p = end;
	digits = (size_t)(end - p);
	shown = c->precision > 0 && (size_t)c->precision > digits ? (size_t)c->precision : digits;
	if (negative)
		prefix[size++] = '-';
	else if (is_signed && c->flags & (ITEM_PLUS | ITEM_BLANK))
		prefix[size++] = c->flags & ITEM_PLUS ? '+' : ' ';
	if (c->flags & ITEM_ALTERNATE && v && base != 10) {
		prefix[size++] = '0';
		if (base == 16)
			prefix[size++] = conversion;
		else if (shown > digits)
			size--;
	}
	zeros = c->flags & ITEM_ZERO && !(c->flags & ITEM_LEFT) && c->precision < 0;
	if (zeros && c->width > 0 && (size_t)c->width > size + shown)
		shown = (size_t)c->width - size;
	line_put(out, prefix, size);
	line_pad(out, '0', shown - digits);
	line_put(out, p, digits);
	line_column(out, start, c->width, -1, c->flags & ITEM_LEFT);
}

static void address(struct print_input *in, const char *extension, uint64_t v, struct line *out)
{
	unsigned word = in->format->word;
	uint64_t offset;
	size_t size;
	const char *name = NULL;

	switch (extension[0]) {
	case 'x': line_hex(out, v, 2 * word); return;
	case 's':
	case 'S':
	case 'f':
	case 'F':
	case 'B': break;
	default:
		if (!v) {
			line_puts(out, "(nil)");
			return;
		}
		line_puts(out, "0x");
		line_hex(out, v, 1);
		return;
	}
	if (in->kernel && in->kernel->symbol)
		name = in->kernel->symbol(in->kernel->context, v, &size, &offset);
	if (!name) {
		line_puts(out, "0x");
		line_hex(out, word == 4 ? v & UINT32_MAX : v, 1);
		return;
	}
	line_put(out, name, size);
	if (extension[0] == 'S' || extension[0] == 'F' || extension[0] == 'B') {
		line_puts(out, "+0x");
		line_hex(out, offset, 1);
	}
}

static void array(struct print_input *in, const struct print_item *item, struct line *out)
{
	const struct print_format *f = in->format;
	const char *x = item->extension;
	struct byte_range r = print_range(in, item->node);
	struct column c = column_of(in, item);

	switch (x[0]) {
	case 'm':
	case 'M': print_mac(out, x, r); break;
	case 'U': print_uuid(out, x, r); break;
	case 'i':
	case 'I': print_ip(out, x, r, f->big); break;
	case 'h': print_bytes(out, x, r, c.width > 0 ? (size_t)c.width : 1); break;
	case 'b':
		if (x[1] == 'l')
			print_cpulist(out, r, f->word, f->big, c.width > 0 ? (size_t)c.width : 0);
		else
			print_bitmask(out, r, f->word, f->big, c.width > 0 ? (size_t)c.width : 0);
		break;
	}
}

static bool printable(const struct print_input *in)
{
	return in->next < in->size && isprint(in->record[in->next]);
}

/* %p of a binary format: where it would need what it points to, newer kernels have stored text. */
static void packed_pointer(struct print_input *in, const struct print_item *item, struct line *out)
{
	const char *x = item->extension;

	if (item->flags & ITEM_WIDTH_NODE)
		packed(in, 4, true);
	if (x[0] && !strchr("sSfFxB", x[0]) && printable(in)) {
		struct byte_range r = packed_string(in);

		line_put(out, (const char *)r.data, r.size);
		return;
	}
	address(in, x, packed(in, in->format->word, false), out);
}

static void pointer(struct print_input *in, const struct print_item *item, struct line *out)
{
	if (in->format->binary)
		packed_pointer(in, item, out);
	else if (item->extension[0] && strchr("mMUhiIb", item->extension[0]))
		array(in, item, out);
	else
		address(in, item->extension, print_number(in, item->node), out);
}

static void string(struct print_input *in, const struct print_item *item, struct line *out)
{
	struct column c = column_of(in, item);
	size_t start = out->size;

	if (in->format->binary) {
		struct byte_range r = packed_string(in);

		line_put(out, (const char *)r.data, r.size);
	} else {
		print_text(in, item->node, out);
	}
	if (!(c.flags & ITEM_PLAIN))
		line_column(out, start, c.width, c.precision, c.flags & ITEM_LEFT);
}

static void character(struct print_input *in, const struct print_item *item, struct line *out)
{
	struct column c = column_of(in, item);
	size_t start = out->size;

	line_char(out,
		  (char)(in->format->binary ? packed(in, 1, false) : print_number(in, item->node)));
	line_column(out, start, c.width, -1, c.flags & ITEM_LEFT);
}

static void converted(struct print_input *in, const struct print_item *item, struct line *out)
{
	struct column c;

	if (__builtin_expect(item->flags & ITEM_PLAIN, 1)) {
		switch (item->conversion) {
		case 'd':
		case 'i': line_i64(out, (int64_t)value(in, item)); return;
		case 'u': line_u64(out, value(in, item)); return;
		case 'x': line_hex(out, value(in, item), 1); return;
		}
	}
	switch (item->conversion) {
	case 's': string(in, item, out); return;
	case 'p': pointer(in, item, out); return;
	case 'c': character(in, item, out); return;
	}
	c = column_of(in, item);
	number(&c, item->conversion, value(in, item), out);
}

void print_format_text(const struct print_format *f, const struct print_kernel *kernel,
		       const uint8_t *record, size_t size, struct line *out)
{
	struct print_input in = {.format = f, .kernel = kernel, .record = record, .size = size};

	for (size_t i = 0; i < f->item_count; i++) {
		const struct print_item *item = &f->items[i];

		if (!item->conversion)
			line_put(out, (const char *)f->texts.data + item->node, item->size);
		else
			converted(&in, item, out);
		if (__builtin_expect(out->size >= LINE_MOST, 0))
			return;
	}
}

/* ---- fields as they stand ---- */

static bool is_text(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if (!isprint(p[i]) && !isspace(p[i]))
			return false;
	return true;
}

static void field_array(const struct format_field *f, const uint8_t *p, size_t n, struct line *out)
{
	if (f->string && is_text(p, n)) {
		line_put(out, (const char *)p, strnlen((const char *)p, n));
		return;
	}
	line_puts(out, "ARRAY[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			line_puts(out, ", ");
		line_hex(out, p[i], 2);
	}
	line_char(out, ']');
}

void print_fields_text(const struct format_fields *fields, const uint8_t *record, size_t size,
		       bool big, struct line *out)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct format_field *f = &fields->fields[i];
		size_t at, n;
		uint64_t v;

		if (f->common)
			continue;
		line_char(out, ' ');
		line_put(out, f->name, f->name_size);
		line_char(out, '=');
		if (!format_field_range(f, record, size, big, &at, &n))
			continue;
		if (f->array || (n != 1 && n != 2 && n != 4 && n != 8)) {
			field_array(f, record + at, n, out);
			continue;
		}
		v = print_extend(get_uint(record + at, (unsigned)n, big), (unsigned)n,
				 f->is_signed && !f->pointer);
		if (f->pointer || (f->has_long && (!f->is_signed || n == 4))) {
			line_puts(out, "0x");
			line_hex(out, n == 4 ? v & UINT32_MAX : v, 1);
		} else if (f->is_signed) {
			line_i64(out, (int64_t)v);
		} else {
			line_u64(out, v);
		}
	}
}

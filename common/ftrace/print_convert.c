/* print_convert.c - prints a record by the conversions of its print fmt */
#include <ctype.h>

#include "common/util/digits.h"
#include "common/ftrace/print_tree.h"

/* The layout of a column, for one record. */
struct column {
	int width, precision;
	uint8_t flags;
};

/* Read the next argument of a binary format: bytes in all, aligned to at most 4. */
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

/* Print %p of a binary format. Where the data pointed to would be needed, newer kernels have
 * stored a text. */
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

/* ---- raw fields ---- */

static bool is_text(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if (!isprint(p[i]) && !isspace(p[i]))
			return false;
	return true;
}

/* Test whether libtraceevent takes elements of that type for characters. */
static bool has_characters(const struct event_field *f)
{
	return strstr(f->type_name, "char") || strstr(f->type_name, "u8") ||
	       strstr(f->type_name, "s8");
}

static void field_array(struct event_field *f, const uint8_t *p, size_t n, struct line *out)
{
	f->not_text = f->not_text || !has_characters(f) || !is_text(p, n);
	if (!f->not_text) {
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

void print_fields_text(struct event_format *fields, const uint8_t *record, size_t size, bool big,
		       struct line *out)
{
	for (size_t i = 0; i < fields->nfields; i++) {
		struct event_field *f = &fields->fields[i];
		size_t at, n;
		uint64_t v;

		if (f->common)
			continue;
		line_char(out, ' ');
		line_put(out, f->name, f->name_size);
		line_char(out, '=');
		if (!event_field_range(f, record, size, big, &at, &n))
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

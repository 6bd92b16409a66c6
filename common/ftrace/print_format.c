/*
 * print_format.c - prints an event by its print fmt
 */
#include "common/ftrace/print_format.h"

#include <ctype.h>
#include <stdlib.h>

#include "common/ftrace/print_tree.h"
#include "common/util/text.h"

/* The record that arguments and fields are read from. */
struct print_input {
	const struct print_format *format;
	const struct print_kernel *kernel; /* may be NULL */
	const uint8_t *record;
	size_t size;
	size_t next; /* binary: the arguments read so far, in bytes */
};

struct byte_range {
	const uint8_t *data;
	size_t size;
};

static uint64_t print_number(const struct print_input *in, uint32_t node);
static void print_text(const struct print_input *in, uint32_t node, struct print_line *out);
static struct byte_range print_range(const struct print_input *in, uint32_t node);
static uint64_t print_plugin_number(const struct print_input *in, const struct print_node *n);
static void print_plugin_text(const struct print_input *in, const struct print_node *n,
			      struct print_line *out);

enum { WIDTH_MOST = 32 };

bool line_grow(struct print_line *l, size_t n)
{
	size_t capacity = l->capacity ? l->capacity : 1024;
	char *data;

	if (l->size + n > PRINT_LINE_MOST)
		return false;
	while (capacity < l->size + n)
		capacity *= 2;
	data = realloc(l->data, capacity);
	if (!data) {
		l->failed = true;
		return false;
	}
	l->data = data;
	l->capacity = capacity;
	return true;
}

void line_free(struct print_line *l)
{
	free(l->data);
	*l = (struct print_line){0};
}

void line_pad(struct print_line *l, char c, size_t n)
{
	if (!n || n > PRINT_LINE_MOST || !line_room(l, n))
		return;
	memset(l->data + l->size, c, n);
	l->size += n;
}

void line_u64(struct print_line *l, uint64_t v)
{
	char buffer[24], *end = buffer + sizeof buffer, *p = digits_decimal(end, v);

	line_put(l, p, (size_t)(end - p));
}

void line_i64(struct print_line *l, int64_t v)
{
	char buffer[24], *end = buffer + sizeof buffer;
	char *p = digits_decimal(end, v < 0 ? -(uint64_t)v : (uint64_t)v);

	if (v < 0)
		*--p = '-';
	line_put(l, p, (size_t)(end - p));
}

void line_u64_wide(struct print_line *l, uint64_t v, unsigned width, char pad)
{
	char buffer[40], *end = buffer + sizeof buffer;
	char *p = digits_fill(digits_decimal(end, v), end, width, WIDTH_MOST, pad);

	line_put(l, p, (size_t)(end - p));
}

void line_hex(struct print_line *l, uint64_t v, unsigned width)
{
	char buffer[40], *end = buffer + sizeof buffer;
	char *p = digits_fill(digits_base(end, v, 16, false), end, width, WIDTH_MOST, '0');

	line_put(l, p, (size_t)(end - p));
}

void line_column(struct print_line *l, size_t start, int width, int most, bool left)
{
	size_t n = l->size - start, fill;

	if (most >= 0 && n > (size_t)most) {
		n = (size_t)most;
		l->size = start + n;
	}
	if (width <= 0 || n >= (size_t)width)
		return;
	fill = (size_t)width - n;
	if (!line_room(l, fill))
		return;
	if (left) {
		memset(l->data + l->size, ' ', fill);
	} else {
		memmove(l->data + start + fill, l->data + start, n);
		memset(l->data + start, ' ', fill);
	}
	l->size += fill;
}

/* --- prints %pM, %pI, %pU and %ph as the kernel's printf() does --- */

enum { FAMILY_IP4 = 2, FAMILY_IP6 = 10 };

/* Print %p with its extensions. */
static void print_mac(struct print_line *out, const char *extension, struct byte_range r)
{
	char separator = extension[1] == 'F' ? '-' : ':';
	bool reverse = extension[1] == 'R';

	if (r.size < 6) {
		line_puts(out, "INVALIDMAC");
		return;
	}
	for (int i = 0; i < 6; i++) {
		if (i && extension[0] == 'M')
			line_char(out, separator);
		line_hex(out, r.data[reverse ? 5 - i : i], 2);
	}
}

static void print_uuid(struct print_line *out, const char *extension, struct byte_range r)
{
	static const uint8_t guid[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	bool little = extension[1] == 'l' || extension[1] == 'L';
	bool upper = extension[1] == 'L' || extension[1] == 'B';
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	if (r.size < 16) {
		line_puts(out, "INVALIDUUID");
		return;
	}
	for (int i = 0; i < 16; i++) {
		uint8_t v = r.data[little ? guid[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			line_char(out, '-');
		line_char(out, digits[v >> 4]);
		line_char(out, digits[v & 15]);
	}
}

static void ip4(struct print_line *out, const uint8_t *p, bool zeros, bool reverse)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			line_char(out, '.');
		line_u64_wide(out, p[reverse ? 3 - i : i], zeros ? 3 : 1, '0');
	}
}

static void ip6(struct print_line *out, const uint8_t *p, bool colons)
{
	for (int i = 0; i < 8; i++) {
		if (i && colons)
			line_char(out, ':');
		line_hex(out, (uint64_t)p[2 * i] << 8 | p[2 * i + 1], 4);
	}
}

static uint16_t group(const uint8_t *p, int i)
{
	return (uint16_t)(p[2 * i] << 8 | p[2 * i + 1]);
}

/* Find the first of the longest runs of at least two zero groups. */
static void longest_zeros(const uint8_t *p, int groups, int *at, int *length)
{
	*at = -1;
	*length = 1;
	for (int i = 0; i < groups; i++) {
		int n = 0;

		while (i + n < groups && !group(p, i + n))
			n++;
		if (n > *length) {
			*at = i;
			*length = n;
		}
	}
}

static void ip6_short(struct print_line *out, const uint8_t *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t isatap[3] = {0, 0x5e, 0xfe};
	bool v4 = !memcmp(p, mapped, 12) || ((p[8] | 2) == 2 && !memcmp(p + 9, isatap, 3));
	int groups = v4 ? 6 : 8, at, length;
	bool colon = false;

	longest_zeros(p, groups, &at, &length);
	for (int i = 0; i < groups; i++) {
		if (i == at) {
			line_puts(out, colon || !i ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		if (colon)
			line_char(out, ':');
		line_hex(out, group(p, i), 1);
		colon = true;
	}
	if (v4) {
		if (colon)
			line_char(out, ':');
		ip4(out, p + 12, false, false);
	}
}

/* Print a struct sockaddr: the family in the kernel's byte order, the rest in the network's. */
static void socket_address(struct print_line *out, const char *extension, struct byte_range r,
			   bool big)
{
	bool port = false, compact = false;
	unsigned family;

	for (const char *p = extension + 2; *p; p++) {
		port |= *p == 'p';
		compact |= *p == 'c';
	}
	family = r.size >= 2 ? (unsigned)get_uint(r.data, 2, big) : 0;
	if (family == FAMILY_IP4 && r.size >= 8) {
		ip4(out, r.data + 4, extension[0] == 'i', false);
	} else if (family == FAMILY_IP6 && r.size >= 24) {
		if (port)
			line_char(out, '[');
		if (compact && extension[0] == 'I')
			ip6_short(out, r.data + 8);
		else
			ip6(out, r.data + 8, extension[0] == 'I');
		if (port)
			line_char(out, ']');
	} else {
		if (family == FAMILY_IP4)
			line_puts(out, "INVALIDIPv4");
		else if (family == FAMILY_IP6)
			line_puts(out, "INVALIDIPv6");
		return;
	}
	if (port) {
		line_char(out, ':');
		line_u64(out, (uint64_t)r.data[2] << 8 | r.data[3]);
	}
}

static void print_ip(struct print_line *out, const char *extension, struct byte_range r, bool big)
{
	bool reverse = extension[2] == 'l' || (extension[2] == 'h' && !big);

	switch (extension[1]) {
	case '4':
		if (r.size < 4)
			line_puts(out, "INVALIDIPv4");
		else
			ip4(out, r.data, extension[0] == 'i', reverse);
		break;
	case '6':
		if (r.size < 16)
			line_puts(out, "INVALIDIPv6");
		else if (extension[0] == 'I' && extension[2] == 'c')
			ip6_short(out, r.data);
		else
			ip6(out, r.data, extension[0] == 'I');
		break;
	case 'S': socket_address(out, extension, r, big); break;
	}
}

static void print_bytes(struct print_line *out, const char *extension, struct byte_range r,
			size_t n)
{
	char separator = extension[1] == 'C' ? ':' : extension[1] == 'D' ? '-' : ' ';

	for (size_t i = 0; i < n && i < r.size; i++) {
		if (i && extension[1] != 'N')
			line_char(out, separator);
		line_hex(out, r.data[i], 2);
	}
}

/* --- arrays and masks as the kernel's trace output prints them --- */

static bool bit(struct byte_range r, unsigned word, bool big, size_t i)
{
	size_t byte = i / 8;

	/* an array of longs: in big-endian ones the lowest byte is the last */
	if (big)
		byte = byte / word * word + (word - 1 - byte % word);
	return byte < r.size && r.data[byte] >> (i % 8) & 1;
}

static void print_bitmask(struct print_line *out, struct byte_range r, unsigned word, bool big,
			  size_t bits)
{
	size_t n = bits < r.size * 8 ? bits : r.size * 8;
	size_t digits = (n + 3) / 4;

	for (size_t i = digits; i-- > 0;) {
		unsigned v = 0;

		for (unsigned k = 0; k < 4; k++)
			v |= (unsigned)(i * 4 + k < n && bit(r, word, big, i * 4 + k)) << k;
		line_char(out, "0123456789abcdef"[v]);
		if (i && i % 8 == 0)
			line_char(out, ',');
	}
}

static void print_cpulist(struct print_line *out, struct byte_range r, unsigned word, bool big,
			  size_t bits)
{
	size_t n = bits < r.size * 8 ? bits : r.size * 8;
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		size_t last = i;

		if (!bit(r, word, big, i))
			continue;
		while (last + 1 < n && bit(r, word, big, last + 1))
			last++;
		if (!first)
			line_char(out, ',');
		first = false;
		line_u64(out, i);
		if (last > i) {
			line_char(out, '-');
			line_u64(out, last);
		}
		i = last;
	}
}

static void print_hex(struct print_line *out, struct byte_range r, bool blanks)
{
	for (size_t i = 0; i < r.size; i++) {
		if (i && blanks)
			line_char(out, ' ');
		line_hex(out, r.data[i], 2);
	}
}

static void print_elements(struct print_line *out, struct byte_range r, unsigned size, bool big)
{
	line_char(out, '{');
	for (size_t i = 0; i + size <= r.size; i += size) {
		line_puts(out, i ? ",0x" : "0x");
		line_hex(out, get_uint(r.data + i, size, big), 1);
	}
	line_char(out, '}');
}

/* Print a row of a dump; of a dump with characters, row is the bytes of a whole one, else 0. */
static void dump_row(struct print_line *out, struct byte_range r, unsigned group, bool big,
		     unsigned row)
{
	size_t start = out->size;

	/* a size that is not a multiple of the group is shown by bytes */
	if (r.size % group)
		group = 1;
	for (size_t i = 0; i + group <= r.size; i += group) {
		if (i)
			line_char(out, ' ');
		line_hex(out, get_uint(r.data + i, group, big), 2 * group);
	}
	if (!row)
		return;
	line_column(out, start, (int)(row * 2 + row / group + 1), -1, true);
	for (size_t i = 0; i < r.size; i++)
		line_char(out, r.data[i] >= ' ' && r.data[i] < 0x7f ? (char)r.data[i] : '.');
}

/* --- prints a record by the conversions of its print fmt --- */

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

static int print_format_column_value(struct print_input *in, uint32_t node)
{
	int64_t v = in->format->binary ? (int64_t)packed(in, 4, true)
				       : (int64_t)print_extend(print_number(in, node), 4, true);

	return (int)(v > COLUMN_MOST ? COLUMN_MOST : v < -COLUMN_MOST ? -COLUMN_MOST : v);
}

/* Get the item with its width and precision for this record. */
static struct print_item column_of(struct print_input *in, const struct print_item *item)
{
	struct print_item c = *item;

	if (item->flags & ITEM_WIDTH_NODE) {
		c.width = print_format_column_value(in, item->width_node);
		if (c.width < 0) {
			c.width = -c.width;
			c.flags |= ITEM_LEFT;
		}
	}
	if (item->flags & ITEM_PRECISION_NODE) {
		c.precision = print_format_column_value(in, item->precision_node);
		if (c.precision < 0)
			c.precision = -1;
	}
	return c;
}

static void print_format_number(const struct print_item *c, uint64_t v, struct print_line *out)
{
	char conversion = c->conversion;
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

static void address(struct print_input *in, const char *extension, uint64_t v,
		    struct print_line *out)
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

static void array(struct print_input *in, const struct print_item *item, struct print_line *out)
{
	const struct print_format *f = in->format;
	const char *x = item->extension;
	struct byte_range r = print_range(in, item->node);
	struct print_item c = column_of(in, item);

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
static void packed_pointer(struct print_input *in, const struct print_item *item,
			   struct print_line *out)
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

static void pointer(struct print_input *in, const struct print_item *item, struct print_line *out)
{
	if (in->format->binary)
		packed_pointer(in, item, out);
	else if (item->extension[0] && strchr("mMUhiIb", item->extension[0]))
		array(in, item, out);
	else
		address(in, item->extension, print_number(in, item->node), out);
}

static void string(struct print_input *in, const struct print_item *item, struct print_line *out)
{
	struct print_item c = column_of(in, item);
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

static void print_format_character(struct print_input *in, const struct print_item *item,
				   struct print_line *out)
{
	struct print_item c = column_of(in, item);
	size_t start = out->size;

	line_char(out,
		  (char)(in->format->binary ? packed(in, 1, false) : print_number(in, item->node)));
	line_column(out, start, c.width, -1, c.flags & ITEM_LEFT);
}

static void converted(struct print_input *in, const struct print_item *item, struct print_line *out)
{
	struct print_item c;

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
	case 'c': print_format_character(in, item, out); return;
	}
	c = column_of(in, item);
	print_format_number(&c, value(in, item), out);
}

void print_format_text(const struct print_format *f, const struct print_kernel *kernel,
		       const uint8_t *record, size_t size, struct print_line *out)
{
	struct print_input in = {.format = f, .kernel = kernel, .record = record, .size = size};

	for (size_t i = 0; i < f->item_count; i++) {
		const struct print_item *item = &f->items[i];

		if (!item->conversion)
			line_put(out, (const char *)f->texts.data + item->node, item->size);
		else
			converted(&in, item, out);
		if (__builtin_expect(out->size >= PRINT_LINE_MOST, 0))
			return;
	}
}

/* ---- raw fields ---- */

static bool print_format_is_text(const uint8_t *p, size_t n)
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

static void field_array(struct event_field *f, const uint8_t *p, size_t n, struct print_line *out)
{
	f->not_text = f->not_text || !has_characters(f) || !print_format_is_text(p, n);
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
		       struct print_line *out)
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

/* --- evaluates the nodes of a compiled print fmt for a record --- */

/* Shift. Shifts of the type's size or more, and division by 0, are undefined in C: they give 0.
 * */
static uint64_t print_format_shift(const struct print_node *n, uint64_t a, uint64_t b)
{
	bool right = n->op == OP_SHIFT_RIGHT;

	if (b >= 8u * n->width)
		return right && n->is_signed && (int64_t)a < 0 ? UINT64_MAX : 0;
	if (!right)
		return a << b;
	return n->is_signed ? (uint64_t)((int64_t)a >> b) : a >> b;
}

static uint64_t divide(const struct print_node *n, uint64_t a, uint64_t b)
{
	bool modulo = n->op == OP_MODULO;

	if (!b)
		return 0;
	if (!n->common_signed)
		return modulo ? a % b : a / b;
	if (b == UINT64_MAX) /* by -1: the lowest number has no opposite */
		return modulo ? 0 : -a;
	return (uint64_t)(modulo ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool less(const struct print_node *n, uint64_t a, uint64_t b)
{
	return n->common_signed ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t swap(uint64_t v, unsigned size)
{
	return __builtin_bswap64(v) >> (64 - 8 * size);
}

uint64_t print_compute(const struct print_node *n, uint64_t a, uint64_t b)
{
	uint64_t v = 0;

	if (n->common && n->op >= OP_DIVIDE && n->op < OP_AND) {
		a = print_extend(a, n->common, n->common_signed);
		if (n->op != OP_SHIFT_LEFT && n->op != OP_SHIFT_RIGHT)
			b = print_extend(b, n->common, n->common_signed);
	}
	switch (n->op) {
	case OP_CAST: return print_extend(a, n->size, n->load_signed);
	case OP_BOOL: return a != 0;
	case OP_SWAP: return print_extend(swap(a, n->size), n->size, false);
	case OP_NOT: return !a;
	case OP_LESS: return less(n, a, b);
	case OP_LESS_EQUAL: return !less(n, b, a);
	case OP_EQUAL: return a == b;
	case OP_NOT_EQUAL: return a != b;
	case OP_BOTH: return a && b;
	case OP_EITHER: return a || b;
	case OP_NEGATE: v = -a; break;
	case OP_COMPLEMENT: v = ~a; break;
	case OP_MULTIPLY: v = a * b; break;
	case OP_DIVIDE:
	case OP_MODULO: v = divide(n, a, b); break;
	case OP_ADD: v = a + b; break;
	case OP_SUBTRACT: v = a - b; break;
	case OP_SHIFT_LEFT:
	case OP_SHIFT_RIGHT: v = print_format_shift(n, a, b); break;
	case OP_AND: v = a & b; break;
	case OP_XOR: v = a ^ b; break;
	case OP_OR: v = a | b; break;
	}
	return print_extend(v, n->width, n->is_signed);
}

static const struct print_node *node_at(const struct print_input *in, uint32_t node)
{
	return &in->format->nodes[node];
}

/* Load a field. Bytes outside of the record are read as 0, as by libtraceevent. */
static uint64_t load(const struct print_input *in, uint64_t offset, unsigned size, bool is_signed)
{
	if (offset > in->size || size > in->size - offset)
		return 0;
	return print_extend(get_uint(in->record + offset, size, in->format->big), size, is_signed);
}

static uint64_t element(const struct print_input *in, const struct print_node *n)
{
	struct byte_range r = print_range(in, n->a);
	uint64_t i = print_number(in, n->b);

	if (i >= r.size / n->size)
		return 0;
	return print_extend(get_uint(r.data + i * n->size, n->size, in->format->big), n->size,
			    n->load_signed);
}

static uint64_t print_number(const struct print_input *in, uint32_t node)
{
	const struct print_node *n = node_at(in, node);
	size_t offset, length;

	switch (n->op) {
	case OP_NUMBER: return n->value;
	case OP_LOAD: return load(in, n->value, n->size, n->load_signed);
	case OP_ELEMENT: return element(in, n);
	case OP_LENGTH:
		return event_field_range(n->field, in->record, in->size, in->format->big, &offset,
					 &length)
			       ? length
			       : 0;
	case OP_CAST:
	case OP_BOOL:
	case OP_SWAP:
	case OP_NEGATE:
	case OP_NOT:
	case OP_COMPLEMENT: return print_compute(n, print_number(in, n->a), 0);
	case OP_BOTH: return print_number(in, n->a) && print_number(in, n->b);
	case OP_EITHER: return print_number(in, n->a) || print_number(in, n->b);
	case OP_CHOICE:
		return print_extend(print_number(in, print_number(in, n->a) ? n->b : n->c),
				    n->width, n->is_signed);
	case OP_PLUGIN: return print_plugin_number(in, n);
	default: break;
	}
	if (n->op >= OP_MULTIPLY && n->op <= OP_OR)
		return print_compute(n, print_number(in, n->a), print_number(in, n->b));
	return 0;
}

static struct byte_range advanced(const struct print_input *in, const struct print_node *n)
{
	struct byte_range r = print_range(in, n->a);
	uint64_t i = print_number(in, n->b);

	if (!n->size || i > r.size / n->size)
		return (struct byte_range){r.data, 0};
	return (struct byte_range){r.data + i * n->size, r.size - i * n->size};
}

/* Get the bytes of an array, or of a scalar in the record. */
static struct byte_range print_range(const struct print_input *in, uint32_t node)
{
	const struct print_node *n = node_at(in, node);
	size_t offset, length;

	switch (n->op) {
	case OP_ADVANCE: return advanced(in, n);
	case OP_CHOICE: return print_range(in, print_number(in, n->a) ? n->b : n->c);
	case OP_ARRAY:
	case OP_LOAD:
		if (event_field_range(n->field, in->record, in->size, in->format->big, &offset,
				      &length))
			return (struct byte_range){in->record + offset, length};
	}
	return (struct byte_range){in->record, 0};
}

/* Limit the range to that size. */
static struct byte_range cut(struct byte_range r, uint64_t most)
{
	if (r.size > most)
		r.size = (size_t)most;
	return r;
}

static const char *text_at(const struct print_input *in, size_t where)
{
	return (const char *)in->format->texts.data + where;
}

/* Print a number without a name as the kernel's unsigned long. */
static void print_format_unnamed(struct print_line *out, uint64_t v, unsigned word, unsigned width)
{
	line_puts(out, "0x");
	line_hex(out, width <= 4 && word == 4 ? v & UINT32_MAX : v, 1);
}

static void flags(const struct print_input *in, const struct print_node *n, struct print_line *out)
{
	const char *delimiter = text_at(in, (uint32_t)n->value);
	uint64_t v = print_number(in, n->a);
	bool first = true;

	for (uint32_t i = 0; i < n->c; i++) {
		const struct print_entry *e = &in->format->entries[n->b + i];

		if (!e->known || !e->value || (v & e->value) != e->value)
			continue;
		if (!first)
			line_put(out, delimiter, n->value >> 32);
		first = false;
		line_put(out, text_at(in, e->text), e->size);
		v &= ~e->value;
	}
	if (!v)
		return;
	if (!first)
		line_put(out, delimiter, n->value >> 32);
	print_format_unnamed(out, v, in->format->word, node_at(in, n->a)->width);
}

static void symbolic(const struct print_input *in, const struct print_node *n,
		     struct print_line *out)
{
	uint64_t v = print_number(in, n->a);

	for (uint32_t i = 0; i < n->c; i++) {
		const struct print_entry *e = &in->format->entries[n->b + i];

		if (e->value == v && e->known) {
			line_put(out, text_at(in, e->text), e->size);
			return;
		}
	}
	print_format_unnamed(out, v, in->format->word, node_at(in, n->a)->width);
}

static void print_format_hex_dump(const struct print_input *in, const struct print_node *n,
				  struct print_line *out)
{
	const struct print_node *rest = node_at(in, n->c), *sizes = node_at(in, rest->b);
	const struct print_node *prefix = node_at(in, rest->a);
	uint64_t size = print_number(in, sizes->c);
	unsigned row = print_number(in, sizes->b) == 32 ? 32 : 16;
	unsigned group = size == 2 || size == 4 || size == 8 ? (unsigned)size : 1;
	bool offsets = (unsigned)print_number(in, sizes->a), ascii = print_number(in, rest->c);
	struct byte_range r = cut(print_range(in, n->a), print_number(in, n->b));

	line_char(out, '\n');
	for (size_t i = 0; i < r.size; i += row) {
		line_put(out, text_at(in, prefix->value), prefix->b);
		if (offsets) {
			/* the address that the kernel prints is not in the record: the offset too
			 */
			line_hex(out, i, 8);
			line_puts(out, ": ");
		}
		dump_row(out, cut((struct byte_range){r.data + i, r.size - i}, row), group,
			 in->format->big, ascii ? row : 0);
		line_char(out, '\n');
	}
}

static void print_format_elements(const struct print_input *in, const struct print_node *n,
				  struct print_line *out)
{
	uint64_t count = print_number(in, n->b), size = print_number(in, n->c);
	struct byte_range r = print_range(in, n->a);

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		line_puts(out, "BAD SIZE:");
		line_u64(out, size);
		return;
	}
	if (count < r.size / size)
		r.size = (size_t)(count * size);
	print_elements(out, r, (unsigned)size, in->format->big);
}

static void characters(struct byte_range r, struct print_line *out)
{
	line_put(out, (const char *)r.data, strnlen((const char *)r.data, r.size));
}

/* Print %s of a number, a pointer: the constant string of the kernel, if known. */
static void pointed(const struct print_input *in, uint32_t node, struct print_line *out)
{
	uint64_t v = print_number(in, node);
	size_t size;
	const char *s = in->kernel && in->kernel->string
				? in->kernel->string(in->kernel->context, v, &size)
				: NULL;

	if (s)
		line_put(out, s, size);
	else
		line_hex(out, v, 1);
}

/* Print a value of any kind as a string. */
static void print_text(const struct print_input *in, uint32_t node, struct print_line *out)
{
	const struct print_node *n = node_at(in, node);

	switch (n->op) {
	case OP_TEXT: line_put(out, text_at(in, n->value), n->b); return;
	case OP_CHOICE: print_text(in, print_number(in, n->a) ? n->b : n->c, out); return;
	case OP_FLAGS: flags(in, n, out); return;
	case OP_SYMBOLIC: symbolic(in, n, out); return;
	case OP_BITMASK:
		print_bitmask(out, print_range(in, n->a), in->format->word, in->format->big,
			      SIZE_MAX);
		return;
	case OP_CPULIST:
		print_cpulist(out, print_range(in, n->a), in->format->word, in->format->big,
			      SIZE_MAX);
		return;
	case OP_HEX:
	case OP_HEX_STR:
		print_hex(out, cut(print_range(in, n->a), print_number(in, n->b)), n->op == OP_HEX);
		return;
	case OP_ELEMENTS: print_format_elements(in, n, out); return;
	case OP_HEX_DUMP: print_format_hex_dump(in, n, out); return;
	case OP_PLUGIN: print_plugin_text(in, n, out); return;
	default: break;
	}
	if (n->kind == KIND_OF_ARRAY)
		characters(print_range(in, node), out);
	else
		pointed(in, node, out);
}

/*
 * Functions that a print fmt may call if trace-cmd has its plug-ins: their values as numbers, and
 * their texts for %s.
 *
 * Facts: the output of trace-cmd 3.1.6 with libtraceevent 1.7.1. Layouts of SCSI commands: SBC-3
 * and SPC-4. Numbers of hypercalls: Xen's public/xen.h.
 */

/* --- SCSI commands --- */

enum { CDB_MOST = 32 };

enum cdb_opcode {
	CDB_READ_6 = 0x08,
	CDB_WRITE_6 = 0x0a,
	CDB_READ_10 = 0x28,
	CDB_WRITE_10 = 0x2a,
	CDB_VERIFY_10 = 0x2f,
	CDB_WRITE_SAME_10 = 0x41,
	CDB_UNMAP = 0x42,
	CDB_VARIABLE_LENGTH = 0x7f,
	CDB_READ_16 = 0x88,
	CDB_WRITE_16 = 0x8a,
	CDB_VERIFY_16 = 0x8f,
	CDB_WRITE_SAME_16 = 0x93,
	CDB_SERVICE_ACTION_IN_16 = 0x9e,
	CDB_READ_12 = 0xa8,
	CDB_WRITE_12 = 0xaa,
	CDB_VERIFY_12 = 0xaf,
};

/* Append "NAME=NUMBER". */
static void put_named(struct print_line *out, const char *name, uint64_t v)
{
	line_puts(out, name);
	line_char(out, '=');
	line_u64(out, v);
}

/* Read 4 bytes as the plug-in does, which extends their sign in a number of 64 bits. */
static uint64_t extended32(const uint8_t *p)
{
	return print_extend(get_uint(p, 4, true), 4, true);
}

static uint64_t extended64(const uint8_t *p)
{
	return get_uint(p, 4, true) << 32 | extended32(p + 4);
}

/* Append the range of blocks. flags: the byte with the protection; same: of a WRITE SAME command.
 */
static void put_blocks(struct print_line *out, uint64_t lba, uint64_t length, uint8_t flags,
		       bool same)
{
	put_named(out, "lba", lba);
	put_named(out, " txlen", length);
	put_named(out, " protect", flags >> 5);
	if (same)
		put_named(out, " unmap", flags >> 3 & 1);
}

static void put_service_action(struct print_line *out, const uint8_t *cdb)
{
	enum { READ_CAPACITY = 0x10, GET_LBA_STATUS = 0x12 };
	unsigned action = cdb[1] & 0x1f;

	if (action != READ_CAPACITY && action != GET_LBA_STATUS) {
		line_puts(out, "UNKNOWN");
		return;
	}
	line_puts(out, action == READ_CAPACITY ? "READ_CAPACITY_16" : "GET_LBA_STATUS");
	put_named(out, " lba", extended64(cdb + 2));
	put_named(out, " alloc_len", get_uint(cdb + 10, 4, true));
}

static void put_variable_length(struct print_line *out, const uint8_t *cdb)
{
	enum { READ_32 = 9, VERIFY_32 = 10, WRITE_32 = 11, WRITE_SAME_32 = 13 };
	unsigned action = (unsigned)get_uint(cdb + 8, 2, true);

	switch (action) {
	case READ_32: line_puts(out, "READ_32 "); break;
	case VERIFY_32: line_puts(out, "VERIFY_32 "); break;
	case WRITE_32: line_puts(out, "WRITE_32 "); break;
	case WRITE_SAME_32: line_puts(out, "WRITE_SAME_32 "); break;
	default: line_char(out, '-'); return;
	}
	put_blocks(out, extended64(cdb + 12), extended32(cdb + 28), cdb[10], false);
	put_named(out, " ei_lbrt", get_uint(cdb + 20, 4, true));
	if (action == WRITE_SAME_32)
		put_named(out, " unmap", cdb[10] >> 3 & 1);
}

static void put_cdb(struct print_line *out, const uint8_t *cdb)
{
	switch (cdb[0]) {
	case CDB_READ_6:
	case CDB_WRITE_6:
		put_named(out, "lba", get_uint(cdb, 4, true) & 0x1fffff);
		put_named(out, " txlen", cdb[4]);
		return;
	case CDB_READ_10:
	case CDB_WRITE_10:
	case CDB_VERIFY_10:
	case CDB_WRITE_SAME_10:
		put_blocks(out, extended32(cdb + 2), get_uint(cdb + 7, 2, true), cdb[1],
			   cdb[0] == CDB_WRITE_SAME_10);
		return;
	case CDB_READ_12:
	case CDB_WRITE_12:
	case CDB_VERIFY_12:
		put_blocks(out, extended32(cdb + 2), extended32(cdb + 6), cdb[1], false);
		return;
	case CDB_READ_16:
	case CDB_WRITE_16:
	case CDB_VERIFY_16:
	case CDB_WRITE_SAME_16:
		put_blocks(out, extended64(cdb + 2), extended32(cdb + 10), cdb[1],
			   cdb[0] == CDB_WRITE_SAME_16);
		return;
	case CDB_UNMAP:
		/* a header of 8 bytes, then descriptors of 16 */
		put_named(out, "regions", ((uint32_t)get_uint(cdb + 7, 2, true) - 8) / 16);
		return;
	case CDB_SERVICE_ACTION_IN_16: put_service_action(out, cdb); return;
	case CDB_VARIABLE_LENGTH: put_variable_length(out, cdb); return;
	default: line_char(out, '-'); return;
	}
}

/* --- Xen --- */

static const char *const hypercalls[] = {
	"set_trap_table",
	"mmu_update",
	"set_gdt",
	"stack_switch",
	"set_callbacks",
	"fpu_taskswitch",
	"sched_op_compat",
	"dom0_op",
	"set_debugreg",
	"get_debugreg",
	"update_descriptor",
	NULL,
	"memory_op",
	"multicall",
	"update_va_mapping",
	"set_timer_op",
	"event_channel_op_compat",
	"xen_version",
	"console_io",
	"physdev_op_compat",
	"grant_table_op",
	"vm_assist",
	"update_va_mapping_otherdomain",
	"iret",
	"vcpu_op",
	"set_segment_base",
	"mmuext_op",
	"acm_op",
	"nmi_op",
	"sched_op",
	"callback_op",
	"xenoprof_op",
	"event_channel_op",
	"physdev_op",
	"hvm_op",
};

/* Append "(NAME)", or nothing. */
static void put_hypercall(struct print_line *out, uint32_t number)
{
	enum { ARCHITECTURE = 48, ARCHITECTURE_END = 56 };
	bool known = number < sizeof hypercalls / sizeof *hypercalls && hypercalls[number];

	if (!known && (number < ARCHITECTURE || number >= ARCHITECTURE_END))
		return;
	line_char(out, '(');
	if (known) {
		line_puts(out, hypercalls[number]);
	} else {
		line_puts(out, "arch_");
		line_u64(out, number - ARCHITECTURE);
	}
	line_char(out, ')');
}

/* --- the functions --- */

/* Copy the bytes of the record from the array on, which the functions read without its size; bytes
 * after the record, and those of an empty array, are 0. */
static void copy_array(const struct print_input *in, uint32_t node, uint8_t *to, size_t n)
{
	struct byte_range r = print_range(in, node);
	size_t left = r.size ? (size_t)(in->record + in->size - r.data) : 0;

	memset(to, 0, n);
	memcpy(to, r.data, left < n ? left : n);
}

static uint64_t print_plugin_number(const struct print_input *in, const struct print_node *n)
{
	uint8_t bytes[2];

	switch (n->value) {
	case PRINT_WRITABLE_PTE: return print_number(in, n->a) & 2;
	case PRINT_MILLISECONDS: return print_number(in, n->a);
	case PRINT_LITTLE16:
		copy_array(in, n->a, bytes, sizeof bytes);
		return get_uint(bytes, sizeof bytes, false);
	default: return 0;
	}
}

static void print_plugin_text(const struct print_input *in, const struct print_node *n,
			      struct print_line *out)
{
	uint8_t cdb[CDB_MOST];
	uint32_t device;

	switch (n->value) {
	case PRINT_DEVICE_NAME:
		device = (uint32_t)print_number(in, n->a);
		line_u64(out, device >> 20);
		line_char(out, ':');
		line_u64(out, device & 0xfffff);
		return;
	case PRINT_MILLISECONDS:
		/* the plug-in does not know how many jiffies a second has */
		line_i64(out, (int64_t)print_number(in, n->a));
		return;
	case PRINT_HYPERCALL: put_hypercall(out, (uint32_t)print_number(in, n->a)); return;
	case PRINT_CDB:
		copy_array(in, n->a, cdb, sizeof cdb);
		put_cdb(out, cdb);
		return;
	}
}

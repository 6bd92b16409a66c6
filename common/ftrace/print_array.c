/* Arrays and masks as the kernel's trace output prints them. */
#include "common/ftrace/print_tree.h"

static bool bit(struct byte_range r, unsigned word, bool big, size_t i)
{
	size_t byte = i / 8;

	/* an array of longs: in big-endian ones the lowest byte is the last */
	if (big)
		byte = byte / word * word + (word - 1 - byte % word);
	return byte < r.size && r.data[byte] >> (i % 8) & 1;
}

void print_bitmask(struct line *out, struct byte_range r, unsigned word, bool big, size_t bits)
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

void print_cpulist(struct line *out, struct byte_range r, unsigned word, bool big, size_t bits)
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

void print_hex(struct line *out, struct byte_range r, bool blanks)
{
	for (size_t i = 0; i < r.size; i++) {
		if (i && blanks)
			line_char(out, ' ');
		line_hex(out, r.data[i], 2);
	}
}

void print_elements(struct line *out, struct byte_range r, unsigned size, bool big)
{
	line_char(out, '{');
	for (size_t i = 0; i + size <= r.size; i += size) {
		line_puts(out, i ? ",0x" : "0x");
		line_hex(out, get_uint(r.data + i, size, big), 1);
	}
	line_char(out, '}');
}

static void dump_row(struct line *out, const uint8_t *p, size_t n, const struct hex_dump *d)
{
	/* a size that is not a multiple of the group is shown by bytes */
	unsigned group = n % d->group ? 1 : d->group;
	size_t start = out->size;

	for (size_t i = 0; i + group <= n; i += group) {
		if (i)
			line_char(out, ' ');
		line_hex(out, get_uint(p + i, group, d->big), 2 * group);
	}
	if (!d->ascii)
		return;
	line_column(out, start, (int)(d->row * 2 + d->row / group + 1), -1, true);
	for (size_t i = 0; i < n; i++)
		line_char(out, p[i] >= ' ' && p[i] < 0x7f ? (char)p[i] : '.');
}

void print_hex_dump(struct line *out, struct byte_range r, const struct hex_dump *d)
{
	line_char(out, '\n');
	for (size_t i = 0; i < r.size; i += d->row) {
		line_put(out, d->prefix, d->prefix_size);
		if (d->prefix_type) {
			/* the address that the kernel prints is not in the record: the offset too
			 */
			line_hex(out, i, 8);
			line_puts(out, ": ");
		}
		dump_row(out, r.data + i, r.size - i < d->row ? r.size - i : d->row, d);
		line_char(out, '\n');
	}
}

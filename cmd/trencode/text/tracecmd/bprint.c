/* bprint.c - events of trace_bprintk(): the address of a format, and packed arguments */
#include <stdlib.h>

#include "cmd/trencode/text/tracecmd/tracecmd.h"

void bprint_fields_find(struct bprint_fields *b, const struct type *type,
			const struct event_format *fields)
{
	const struct event_field *ip, *fmt, *buf;

	*b = (struct bprint_fields){0};
	if (strcmp(type->group.text, "ftrace") || strcmp(type->name.text, "bprint"))
		return;
	ip = event_format_find(fields, "ip", 2);
	fmt = event_format_find(fields, "fmt", 3);
	buf = event_format_find(fields, "buf", 3);
	if (!ip || !fmt || !buf)
		return;
	*b = (struct bprint_fields){true, *ip, *fmt, *buf};
}

/* Find the format at an address. *out is NULL if the kernel's formats do not have it, or if it
 * cannot be compiled. Returns -1 when out of memory. */
static int format_at(struct binary_formats *all, const struct event *ev, uint64_t address,
		     const struct print_kernel *k, const struct print_format **out)
{
	uint32_t i = intern_find(&all->addresses, &address, sizeof address);
	struct print_format **formats;
	char why[PRINT_WHY];
	const char *s;
	size_t size;

	*out = NULL;
	if (i != INTERN_NONE) {
		*out = all->formats[i];
		return 0;
	}
	s = k->string(k->context, address, &size);
	if (!s)
		return 0;
	if (ARRAY_GROW(all->formats, all->capacity, all->addresses.count))
		return -1;
	formats = all->formats;
	i = intern(&all->addresses, &address, sizeof address);
	if (i == INTERN_NONE)
		return -1;
	formats[i] = print_format_compile_binary(s, size, ev->type->word_size,
						 ev->type->flags & TYPE_BIG_ENDIAN, why);
	*out = formats[i];
	return 0;
}

int bprint_message(struct binary_formats *all, const struct bprint_fields *b,
		   const struct event *ev, const struct print_kernel *k, struct line *out)
{
	const struct print_format *f;
	uint64_t fmt;

	if (!record_number(&b->fmt, ev, &fmt))
		return 0;
	if (format_at(all, ev, fmt, k, &f))
		return -1;
	if (!f)
		return 0;
	if (b->buf.offset <= ev->tail_size)
		print_format_text(f, k, ev->tail + b->buf.offset, ev->tail_size - b->buf.offset,
				  out);
	return 1;
}

int bprint_text(struct binary_formats *all, const struct bprint_fields *b, const struct event *ev,
		const struct print_kernel *k, struct line *out)
{
	uint64_t ip, fmt;
	int known;

	if (!record_number(&b->ip, ev, &ip) || !record_number(&b->fmt, ev, &fmt))
		return 0;
	function_text(out, ip, "0x", k);
	line_puts(out, ": ");
	known = bprint_message(all, b, ev, k, out);
	if (!known) {
		line_puts(out, "(NO FORMAT FOUND at ");
		line_hex(out, fmt, 1);
		line_char(out, ')');
	}
	return known < 0 ? -1 : 0;
}

void binary_formats_free(struct binary_formats *all)
{
	for (uint32_t i = 0; i < all->addresses.count && all->formats; i++)
		print_format_free(all->formats[i]);
	free(all->formats);
	intern_free(&all->addresses);
}

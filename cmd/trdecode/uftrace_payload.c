#include "uftrace_args.h"

#include <math.h>
#include <string.h>

static bool is_text(const struct uftrace_spec *spec)
{
	return spec->fmt == UFTRACE_FMT_STR || spec->fmt == UFTRACE_FMT_STD_STRING;
}

int uftrace_args_next(struct uftrace_args_iter *it, const struct uftrace_specs *specs,
		      const void *payload, size_t size, bool swap, struct uftrace_arg *arg)
{
	const uint8_t *p = payload;
	const struct uftrace_spec *spec;
	size_t left, total;

	if (it->next >= specs->nr)
		return 0;
	if (it->offset > size)
		return -1;
	spec = &specs->spec[it->next];
	left = size - it->offset;
	p += it->offset;
	*arg = (struct uftrace_arg){.spec = spec, .bytes = p, .length = spec->size};
	total = spec->size;
	if (is_text(spec) && spec->size) {
		uint16_t length;

		if (left < sizeof(length))
			return -1;
		memcpy(&length, p, sizeof(length));
		length = uftrace_swap16(length, swap);
		arg->bytes = p + sizeof(length);
		arg->length = length;
		arg->is_string = true;
		total = sizeof(length) + length;
	}
	if (total > left)
		return -1;
	arg->null =
		arg->is_string && arg->length == 4 && !memcmp(arg->bytes, "\xff\xff\xff\xff", 4);
	it->next++;
	it->offset += uftrace_align(total, 4);
	return 1;
}

int64_t uftrace_args_size(const struct uftrace_specs *specs, const void *payload, size_t avail,
			  bool swap)
{
	struct uftrace_args_iter it = {0};
	struct uftrace_arg arg;
	uint64_t size;
	int r;

	while ((r = uftrace_args_next(&it, specs, payload, avail, swap, &arg)) > 0)
		;
	size = uftrace_align(it.offset, 8);
	return r < 0 || size > avail ? -1 : (int64_t)size;
}

uint64_t uftrace_arg_u64(const struct uftrace_arg *arg, bool swap)
{
	uint64_t v64 = 0;
	uint32_t v32;
	uint16_t v16;

	switch (arg->length) {
	case 1: return arg->bytes[0];
	case 2: memcpy(&v16, arg->bytes, sizeof(v16)); return uftrace_swap16(v16, swap);
	case 4: memcpy(&v32, arg->bytes, sizeof(v32)); return uftrace_swap32(v32, swap);
	case 8: memcpy(&v64, arg->bytes, sizeof(v64)); return uftrace_swap64(v64, swap);
	default: return 0;
	}
}

int64_t uftrace_arg_i64(const struct uftrace_arg *arg, bool swap)
{
	uint64_t v = uftrace_arg_u64(arg, swap);

	switch (arg->length) {
	case 1: return (int8_t)v;
	case 2: return (int16_t)v;
	case 4: return (int32_t)v;
	default: return (int64_t)v;
	}
}

/* Sign and exponent in 16 bits, a mantissa of 64 with its leading one, little-endian. */
static double x87_value(const uint8_t *p)
{
	uint64_t mantissa = 0;
	int exponent = (p[9] & 0x7f) << 8 | p[8];
	double v;

	for (int i = 7; i >= 0; i--)
		mantissa = mantissa << 8 | p[i];
	if (exponent == 0x7fff)
		v = mantissa << 1 ? NAN : INFINITY;
	else
		v = ldexp((double)mantissa, exponent - 16383 - 63);
	return p[9] & 0x80 ? -v : v;
}

double uftrace_arg_double(const struct uftrace_arg *arg, bool swap)
{
	uint64_t bits = uftrace_arg_u64(arg, swap);
	uint32_t bits32 = bits;
	double d;
	float f;

	switch (arg->length) {
	case 4: memcpy(&f, &bits32, sizeof(f)); return f;
	case 8: memcpy(&d, &bits, sizeof(d)); return d;
	case 10: return x87_value(arg->bytes);
	default: return 0;
	}
}

#include "cmd/trdecode/uftrace/args.h"

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

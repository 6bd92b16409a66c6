#include <string.h>

#include "common/stream/value.h"
#include "cmd/trdecode/uftrace/uftrace.h"

static const char letters[] = {
	[UFTRACE_FMT_AUTO] = 'd', [UFTRACE_FMT_SINT] = 'i',  [UFTRACE_FMT_UINT] = 'u',
	[UFTRACE_FMT_HEX] = 'x',  [UFTRACE_FMT_OCT] = 'o',   [UFTRACE_FMT_CHAR] = 'c',
	[UFTRACE_FMT_PTR] = 'p',  [UFTRACE_FMT_FLOAT] = 'f', [UFTRACE_FMT_ENUM] = 'e',
};

/* Return the bytes of a number in little-endian order; 10-byte floats exist on x86 only. */
static const uint8_t *to_little_endian(const uint8_t *p, size_t n, bool big, uint8_t *buffer)
{
	if (!big)
		return p;
	for (size_t i = 0; i < n; i++)
		buffer[i] = p[n - 1 - i];
	return buffer;
}

/* Can the recording have unsigned enums? Until symbols had sizes, all enums were ints. */
static bool is_recent(const struct uftrace *u)
{
	return u->info.feat_mask & UFTRACE_FEAT_SYM_SIZE;
}

bool uftrace_enum_is_unsigned(const struct uftrace *u, const struct uftrace_enum *type)
{
	return is_recent(u) && type->nr && type->values[type->nr - 1].value >= 0;
}

/* Reduce the number to the enum's size: upper bits of the register are arbitrary. */
static void fit_enum(const struct uftrace *u, const struct uftrace_enum *type, uint8_t *bytes,
		     unsigned size)
{
	int64_t high = type->values[0].value, low = type->values[type->nr - 1].value;
	bool wide = is_recent(u) && (high > UINT32_MAX || low < INT32_MIN);
	unsigned width = size < 4 ? size : wide ? size : 4;
	uint64_t n = get_uint(bytes, width, false);

	if (!uftrace_enum_is_unsigned(u, type))
		n = (uint64_t)sign_extend(n, width);
	for (unsigned i = 0; i < size; i++)
		bytes[i] = (uint8_t)(n >> 8 * i);
}

static int put_value(struct uftrace *u, const struct uftrace_arg *a)
{
	const struct uftrace_spec *s = a->spec;
	uint8_t turned[16];
	uint32_t definition;

	switch (s->fmt) {
	case UFTRACE_FMT_STR: return value_put_bytes(&u->tail, VALUE_STRING, a->bytes, a->length);
	case UFTRACE_FMT_STD_STRING:
		/* the value has a length of its own and may contain NULs */
		return value_put_bytes(&u->tail, VALUE_BLOB, a->bytes, a->length);
	case UFTRACE_FMT_STRUCT:
		return value_put_opaque(&u->tail, s->type_name, a->bytes, a->length);
	case UFTRACE_FMT_ENUM:
		if (!s->type || !a->length || a->length > 8 || a->length & (a->length - 1))
			break;
		definition = uftrace_definition(u, s->type);
		if (!definition)
			return -1;
		memmove(turned, to_little_endian(a->bytes, a->length, u->info.big_endian, turned),
			a->length);
		fit_enum(u, s->type, turned, a->length);
		return value_put_enum(&u->tail, definition, turned, (uint8_t)a->length);
	default: break;
	}
	if (!a->length || a->length > sizeof(turned))
		return value_put_opaque(&u->tail, s->type_name, a->bytes, a->length);
	return value_put_number(&u->tail, letters[s->fmt],
				to_little_endian(a->bytes, a->length, u->info.big_endian, turned),
				(uint8_t)a->length);
}

int uftrace_values(struct uftrace *u, const struct uftrace_specs *specs, const uint8_t *payload,
		   size_t size, bool leave)
{
	struct uftrace_args_iter it = {0};
	struct uftrace_arg arg;

	u->tail.size = 0;
	while (uftrace_args_next(&it, specs, payload, size, u->info.swap, &arg) > 0) {
		/* floating-point arguments are counted separately */
		uint64_t index = arg.spec->index + (arg.spec->is_fp ? FLOAT_ARGUMENTS : 0);

		if (value_put_detail(&u->tail, leave ? DETAIL_RETURN : DETAIL_ARGUMENT,
				     leave ? 0 : index) ||
		    put_value(u, &arg))
			return -1;
	}
	return 0;
}

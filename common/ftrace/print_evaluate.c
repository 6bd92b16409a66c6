/* print_evaluate.c - evaluates the nodes of a compiled print fmt for a record */
#include "common/ftrace/print_tree.h"

/* Shift. Shifts of the type's size or more, and division by 0, are undefined in C: they give 0.
 * */
static uint64_t shift(const struct print_node *n, uint64_t a, uint64_t b)
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
	case OP_SHIFT_RIGHT: v = shift(n, a, b); break;
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

uint64_t print_number(const struct print_input *in, uint32_t node)
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

struct byte_range print_range(const struct print_input *in, uint32_t node)
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
static void unnamed(struct line *out, uint64_t v, unsigned word, unsigned width)
{
	line_puts(out, "0x");
	line_hex(out, width <= 4 && word == 4 ? v & UINT32_MAX : v, 1);
}

static void flags(const struct print_input *in, const struct print_node *n, struct line *out)
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
	unnamed(out, v, in->format->word, node_at(in, n->a)->width);
}

static void symbolic(const struct print_input *in, const struct print_node *n, struct line *out)
{
	uint64_t v = print_number(in, n->a);

	for (uint32_t i = 0; i < n->c; i++) {
		const struct print_entry *e = &in->format->entries[n->b + i];

		if (e->value == v && e->known) {
			line_put(out, text_at(in, e->text), e->size);
			return;
		}
	}
	unnamed(out, v, in->format->word, node_at(in, n->a)->width);
}

static void hex_dump(const struct print_input *in, const struct print_node *n, struct line *out)
{
	const struct print_node *rest = node_at(in, n->c), *sizes = node_at(in, rest->b);
	const struct print_node *prefix = node_at(in, rest->a);
	uint64_t row = print_number(in, sizes->b), group = print_number(in, sizes->c);
	struct hex_dump d = {
		.prefix = text_at(in, prefix->value),
		.prefix_size = prefix->b,
		.prefix_type = (unsigned)print_number(in, sizes->a),
		.row = row == 32 ? 32 : 16,
		.group = group == 2 || group == 4 || group == 8 ? (unsigned)group : 1,
		.ascii = print_number(in, rest->c),
		.big = in->format->big,
	};

	print_hex_dump(out, cut(print_range(in, n->a), print_number(in, n->b)), &d);
}

static void elements(const struct print_input *in, const struct print_node *n, struct line *out)
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

static void characters(struct byte_range r, struct line *out)
{
	line_put(out, (const char *)r.data, strnlen((const char *)r.data, r.size));
}

/* Print %s of a number, a pointer: the constant string of the kernel, if known. */
static void pointed(const struct print_input *in, uint32_t node, struct line *out)
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

void print_text(const struct print_input *in, uint32_t node, struct line *out)
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
	case OP_ELEMENTS: elements(in, n, out); return;
	case OP_HEX_DUMP: hex_dump(in, n, out); return;
	case OP_PLUGIN: print_plugin_text(in, n, out); return;
	default: break;
	}
	if (n->kind == KIND_OF_ARRAY)
		characters(print_range(in, node), out);
	else
		pointed(in, node, out);
}

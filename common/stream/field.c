/*
 * field.c - reads the fields of an event
 */
#include "common/stream/field.h"

#include <stdlib.h>

size_t field_index(const char *text, uint64_t *index)
{
	size_t digits = *text == '[' ? strspn(text + 1, "0123456789") : 0;

	/* an index has at most 32 bits */
	if (!digits || digits > 9 || text[digits + 1] != ']')
		return 0;
	*index = strtoull(text + 1, NULL, 10);
	return digits + 2;
}

/* Test whether the field is an array of more than texts and bytes. */
static bool has_elements(const struct field *f)
{
	bool sized = f->where > WHERE_STRING;

	if (f->where == WHERE_STRING || (!sized && f->count <= 1))
		return false;
	return f->kind != FIELD_STRING && f->kind != FIELD_CHAR && f->kind != FIELD_BYTES &&
	       f->kind != FIELD_BITMAP;
}

/* Read what follows the field's name: "[N]", ".N" or ".name". false: another text. */
static bool read_part(const char *text, struct field_part *part)
{
	uint64_t index = 0;
	size_t size = field_index(text, &index), digits;

	*part = (struct field_part){.name = !strcmp(text, ".name")};
	if (!size && *text == '.') {
		digits = strspn(text + 1, "0123456789");
		size = digits && digits <= 9 ? digits + 1 : 0;
		index = strtoull(text + 1, NULL, 10);
	}
	part->element = size > 0 && !text[size];
	part->index = part->element ? (uint32_t)index : 0;
	return part->name || part->element;
}

struct field_part field_part(const struct field *f, const char *name)
{
	struct field_part part = {false};
	size_t size = f->name.size;

	/* a field may have such a name itself */
	if (strnlen(name, size + 1) > size && !memcmp(name, f->name.text, size) &&
	    !read_part(name + size, &part))
		part = (struct field_part){false};
	return part;
}

static bool is_part(const struct field *f, const char *name, size_t size)
{
	struct field_part part;

	return f->name.size < size && !memcmp(f->name.text, name, f->name.size) &&
	       read_part(name + f->name.size, &part) &&
	       (part.name ? field_has_names(f) : has_elements(f));
}

const struct field *field_find(const struct type *t, const char *name)
{
	size_t size;

	for (uint32_t i = t->nfields; i--;)
		if (!strcmp(t->fields[i].name.text, name))
			return &t->fields[i];
	/* the sources have other names for it, such as buf of print */
	if (!strcmp(name, "message"))
		return field_by_role(t, ROLE_MESSAGE);
	size = strlen(name);
	if (!strpbrk(name, "[."))
		return NULL;
	for (uint32_t i = t->nfields; i--;)
		if (is_part(&t->fields[i], name, size))
			return &t->fields[i];
	return NULL;
}

const struct field *field_by_role(const struct type *t, enum field_role role)
{
	for (uint32_t i = 0; i < t->nfields; i++)
		if (t->fields[i].role == role)
			return &t->fields[i];
	return NULL;
}

bool field_cpu(const struct lane *lane, const struct event *e, int64_t *cpu)
{
	struct field_value v = {.form = FORM_NONE};

	if (lane->flags & LANE_HAS_CPU) {
		*cpu = lane->cpu;
		return true;
	}
	if (e)
		field_get_role(e, ROLE_CPU, &v);
	*cpu = v.i;
	return v.form == FORM_UINT || v.form == FORM_INT;
}

static bool big_endian(const struct event *e, const struct field *f)
{
	return e->type->flags & TYPE_BIG_ENDIAN && f->where != WHERE_FIXED;
}

/* Find one of the texts of the tail. */
static const uint8_t *field_text_number(const struct event *e, uint32_t number, size_t *n)
{
	const uint8_t *p = e->tail, *end = p + e->tail_size, *nul;

	for (; (nul = p < end ? memchr(p, 0, (size_t)(end - p)) : NULL); p = nul + 1)
		if (!number--) {
			*n = (size_t)(nul - p);
			return p;
		}
	return NULL;
}

const uint8_t *field_bytes(const struct event *e, const struct field *f, size_t *n)
{
	uint64_t count = f->count ? f->count : 1, offset = f->offset, size = f->size * count;
	uint32_t loc;

	*n = 0;
	if (f->where == WHERE_FIXED) {
		if (offset + size > e->type->fixed_size)
			return NULL;
		*n = (size_t)size;
		return e->fixed + offset;
	}
	if (f->where > WHERE_STRING || !e->tail)
		return NULL;
	if (f->where == WHERE_STRING)
		return field_text_number(e, f->offset, n);
	if (f->where == WHERE_REST) {
		if (offset > e->tail_size)
			return NULL;
		*n = (size_t)(e->tail_size - offset);
		return e->tail + offset;
	}
	if (f->where == WHERE_DATA_LOC || f->where == WHERE_REL_LOC) {
		if (offset + 4 > e->tail_size)
			return NULL;
		loc = (uint32_t)get_uint(e->tail + offset, 4, big_endian(e, f));
		size = loc >> 16;
		offset = (loc & 0xffff) + (f->where == WHERE_REL_LOC ? offset + 4 : 0);
	}
	if (offset + size > e->tail_size)
		return NULL;
	*n = (size_t)size;
	return e->tail + offset;
}

uint32_t field_count(const struct event *e, const struct field *f)
{
	size_t n;

	if (f->where < WHERE_DATA_LOC && f->count <= 1)
		return 1;
	/* the count does not prove that the data exists */
	if (f->where < WHERE_DATA_LOC)
		return f->size && field_bytes(e, f, &n) ? f->count : 0;
	if (!field_bytes(e, f, &n))
		return 0;
	return f->size ? (uint32_t)(n / f->size) : (uint32_t)n;
}

bool field_is_array(const struct event *e, const struct field *f)
{
	bool sized =
		f->where == WHERE_DATA_LOC || f->where == WHERE_REL_LOC || f->where == WHERE_REST;
	size_t n;

	if (sized ? f->kind == FIELD_STRING || f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP
		  : f->count <= 1)
		return false;
	return field_bytes(e, f, &n);
}

static void as_text(const uint8_t *p, size_t n, struct field_value *out)
{
	const uint8_t *end = memchr(p, 0, n);

	out->form = FORM_TEXT;
	out->text = p;
	out->size = end ? (size_t)(end - p) : n;
}

static void field_as_real(uint64_t bits, size_t size, struct field_value *out)
{
	uint32_t bits32 = (uint32_t)bits;
	float single;

	out->form = size == 4 || size == 8 ? FORM_REAL : FORM_NONE;
	out->size = size;
	memcpy(&single, &bits32, 4);
	memcpy(&out->real, &bits, 8);
	if (size == 4)
		out->real = single;
}

void field_get(const struct event *e, const struct field *f, uint32_t index,
	       struct field_value *out)
{
	size_t n;
	const uint8_t *p;
	uint64_t bits;

	/* the most frequent fields */
	if (f->where <= WHERE_TAIL && f->kind <= FIELD_INT && (f->size == 4 || f->size == 8) &&
	    !index && f->count <= 1 && !(e->type->flags & TYPE_BIG_ENDIAN) &&
	    (uint64_t)f->offset + f->size <=
		    (f->where == WHERE_FIXED ? e->type->fixed_size : e->tail_size)) {
		p = (f->where == WHERE_FIXED ? e->fixed : e->tail) + f->offset;
		out->form = f->kind == FIELD_UINT ? FORM_UINT : FORM_INT;
		out->u = f->size == 8		 ? get_u64(p)
			 : f->kind == FIELD_UINT ? get_u32(p)
						 : (uint64_t)(int32_t)get_u32(p);
		return;
	}
	p = field_bytes(e, f, &n);
	out->form = FORM_NONE;
	if (!p || f->kind > FIELD_STRING) /* of a later version */
		return;
	if (f->kind == FIELD_STRING || f->where == WHERE_STRING ||
	    (f->kind == FIELD_CHAR && (f->count > 1 || f->where > WHERE_TAIL))) {
		as_text(p, n, out);
		/* the kernel ends each print with a newline */
		if (f->role == ROLE_MESSAGE && out->size && out->text[out->size - 1] == '\n')
			out->size--;
		return;
	}
	if (f->kind == FIELD_BYTES || f->kind == FIELD_BITMAP) {
		out->form = FORM_TEXT;
		out->text = p;
		out->size = n;
		return;
	}
	if (!f->size || (uint64_t)f->size * ((uint64_t)index + 1) > n)
		return;
	p += (size_t)f->size * index;
	if (f->size > 8 || f->size & (f->size - 1))
		return;
	bits = get_uint(p, f->size, big_endian(e, f));
	if (f->kind == FIELD_INT ||
	    (f->kind == FIELD_ENUM && !definition_is_unsigned(f->definition))) {
		out->form = FORM_INT;
		out->i = sign_extend(bits, f->size);
		return;
	}
	if (f->kind == FIELD_FLOAT) {
		field_as_real(bits, f->size, out);
		return;
	}
	out->form = FORM_UINT;
	out->u = bits;
}

bool field_number(const struct event *e, const char *name, uint64_t *number)
{
	const struct field *f = field_find(e->type, name);
	struct field_value v = {.form = FORM_NONE};

	if (f)
		field_get(e, f, 0, &v);
	if (v.form != FORM_INT && v.form != FORM_UINT)
		return false;
	*number = v.u;
	return true;
}

bool gap_get(const struct event *e, struct gap_row *g)
{
	uint32_t file;

	if (e->type->kind != KIND_GAP || e->type->fixed_size < GAP_FIXED)
		return false;
	*g = (struct gap_row){.count = get_u64(e->fixed),
			      .offset = get_u64(e->fixed + 8),
			      .reason = get_u32(e->fixed + 16),
			      .unit = get_u32(e->fixed + 20),
			      .file = "",
			      .message = ""};
	file = e->tail_size >= 4 ? get_u32(e->tail) : 0;
	if (e->tail_size < 4 || file > e->tail_size - 4)
		return true;
	g->file = (const char *)e->tail + 4;
	g->file_size = file;
	g->message = g->file + file;
	g->message_size = e->tail_size - 4 - file;
	g->file_size -= file && !g->file[file - 1];
	return true;
}

const char *gap_reason_name(uint32_t reason)
{
	static const char *const reasons[] = {
		[GAP_LOST] = "lost", [GAP_DAMAGE] = "damage", [GAP_UNREAD] = "unread"};

	return reason && reason <= GAP_UNREAD ? reasons[reason] : "unknown";
}

const char *gap_unit_name(uint32_t unit)
{
	return unit == GAP_BYTES ? "bytes" : unit == GAP_PACKETS ? "packets" : "events";
}

uint32_t event_recorded_stack(const struct dictionary *d, const struct event *e)
{
	const struct type *t = e->type;

	if (t->kind != KIND_INSTANT && !(t->kind == KIND_ENTER && t->flags & TYPE_CALL_NUMBER))
		return 0;
	for (uint32_t i = 0; i < t->nfields; i++)
		if (field_is_stack(&t->fields[i]))
			return field_stack(d, e, &t->fields[i]);
	return 0;
}

void field_map_stacks(const struct type *t, uint8_t *fixed, uint32_t (*map)(void *ctx, uint32_t id),
		      void *ctx)
{
	for (const struct field *f = t->fields; t->has_stacks && f < t->fields + t->nfields; f++)
		if (field_is_stack(f))
			put_u32(fixed + f->offset, map(ctx, get_u32(fixed + f->offset)));
}

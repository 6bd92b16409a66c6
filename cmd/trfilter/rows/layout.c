#include "cmd/trfilter/rows/layout.h"

#include <stdlib.h>

void layout_free(struct layout *l)
{
	free(l->fields);
	free(l->from);
	free(l->change);
	*l = (struct layout){0};
}

static bool ends_in(struct text_ref t, const char *end)
{
	size_t n = strlen(end);

	return t.size >= n && !memcmp(t.text + t.size - n, end, n);
}

static bool is_one_of(struct text_ref t, const char *const *words)
{
	for (; *words; words++)
		if (t.size == strlen(*words) && !memcmp(t.text, *words, t.size))
			return true;
	return false;
}

static bool is_text(const struct field *f)
{
	return f->kind == FIELD_STRING ||
	       (f->kind == FIELD_CHAR && (f->count > 1 || f->where > WHERE_TAIL));
}

static enum field_change change_of(const struct field *f, unsigned what)
{
	static const char *const paths[] = {"filename", "pathname", "path", "file", NULL};

	if (is_text(f)) {
		if (what & SCRUB_PATHS && is_one_of(f->name, paths))
			return CHANGE_PATH;
		/* names of threads: comm, prev_comm, child_comm */
		return what & SCRUB_ARGS || (what & SCRUB_NAMES && ends_in(f->name, "comm"))
			       ? CHANGE_TEXT
			       : CHANGE_NONE;
	}
	/* kinds of a later version are bytes too */
	return what & SCRUB_ARGS && (f->kind == FIELD_BYTES || f->kind > FIELD_STRING)
		       ? CHANGE_BYTES
		       : CHANGE_NONE;
}

static bool is_loc(const struct field *f)
{
	return f->where == WHERE_DATA_LOC || f->where == WHERE_REL_LOC;
}

/* Returns the bytes of a field's fixed part. */
static uint32_t field_width(const struct field *f)
{
	if (is_loc(f))
		return 4;
	if (f->where > WHERE_TAIL)
		return 0;
	return f->size * (f->count ? f->count : 1);
}

/* Assign packed offsets to the remaining fields. */
static void pack_fields(struct layout *l)
{
	uint32_t at[2] = {0, 0}, texts = 0;

	for (uint32_t i = 0; i < l->type.nfields; i++) {
		struct field *f = &l->fields[i];
		uint32_t align = is_loc(f) ? 4 : f->size, *end = &at[f->where != WHERE_FIXED];

		if (f->where == WHERE_STRING || (l->texts && f->where == WHERE_REST)) {
			f->where = WHERE_STRING;
			f->offset = texts++;
			continue;
		}
		if (f->where == WHERE_REST)
			continue;
		if (align != 1 && align != 2 && align != 4)
			align = align == 8 ? 8 : 4;
		f->offset = (uint32_t)align_up(*end, align);
		*end = f->offset + field_width(f);
	}
	l->tail = at[1];
	for (uint32_t i = 0; i < l->type.nfields; i++)
		if (l->fields[i].where == WHERE_REST)
			l->fields[i].offset = l->tail;
	l->type.fixed_size = (uint32_t)align_up(at[0], 4);
	/* the source's declaration is no longer true */
	l->type.declaration = (struct text_ref){.text = ""};
}

/* Keep the old offsets. */
static void keep_offsets(struct layout *l)
{
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i];
		uint32_t end = f->offset + field_width(f);

		if (f->where != WHERE_FIXED && f->where < WHERE_STRING && end > l->tail)
			l->tail = end;
	}
}

int layout_make(struct layout *l, const struct type *t, struct projection *p, const struct scrub *s)
{
	uint32_t n = t->nfields, kept = 0;
	bool changed = false;

	*l = (struct layout){
		.type = *t, .values = t->flags & TYPE_VALUES, .gap = t->kind == KIND_GAP};
	l->fields = calloc(n + 1, sizeof *l->fields);
	l->from = calloc(n + 1, sizeof *l->from);
	l->change = calloc(n + 1, sizeof *l->change);
	if (!l->fields || !l->from || !l->change) {
		layout_free(l);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct field *f = &t->fields[i];

		if (f->where == WHERE_STRING && !l->values)
			l->texts = true;
		if (!l->gap && !projection_field(p, f))
			continue;
		l->from[kept] = i;
		l->change[kept] = (uint8_t)change_of(f, s->what);
		changed |= l->change[kept++] != CHANGE_NONE;
	}
	l->type.nfields = kept;
	for (uint32_t i = 0; i < kept; i++)
		l->fields[i] = t->fields[l->from[i]];
	if (kept < n)
		pack_fields(l);
	else
		keep_offsets(l);
	l->type.fields = l->fields;
	/* a tail without fields may contain anything too */
	changed |= t->flags & TYPE_TAIL && s->what & SCRUB_ARGS;
	l->same = kept == n && !changed && !(l->gap && s->what) &&
		  !(l->values && (p->count || s->what));
	return 0;
}

/* Append the replacement of a text, at most as long as the old text's space. */
static int put_text(const struct scrub *s, enum field_change change, const uint8_t *from, size_t n,
		    struct buffer *out)
{
	const uint8_t *nul = n ? memchr(from, 0, n) : NULL;
	char pseudonym[PSEUDONYM];
	size_t size = nul ? (size_t)(nul - from) : n;

	if (!size)
		return 0;
	if (change == CHANGE_PATH)
		return scrub_path(s, (const char *)from, size, out);
	scrub_pseudonym(s, from, size, pseudonym);
	return buffer_append(out, pseudonym, PSEUDONYM);
}

/* Write a field of fixed size. */
static int put_static(const struct scrub *s, enum field_change change, const uint8_t *from,
		      size_t n, uint8_t *to)
{
	struct buffer text = {0};
	int bad;

	switch (change) {
	case CHANGE_NONE: memcpy(to, from, n); return 0;
	case CHANGE_BYTES: scrub_bytes(s, from, n, to); return 0;
	default: break;
	}
	bad = put_text(s, change, from, n, &text);
	memset(to, 0, n);
	if (n && !bad && text.size)
		memcpy(to, text.data, text.size < n ? text.size : n - 1);
	buffer_free(&text);
	return bad;
}

/* Append a field of variable size to out. */
static int put_varying(const struct scrub *s, enum field_change change, const uint8_t *from,
		       size_t n, struct buffer *out)
{
	size_t at = out->size;

	switch (change) {
	case CHANGE_NONE: return buffer_append(out, from, n);
	case CHANGE_BYTES:
		if (buffer_zero(out, n))
			return -1;
		scrub_bytes(s, from, n, out->data + at);
		return 0;
	default: return put_text(s, change, from, n, out) || buffer_u8(out, 0);
	}
}

int layout_fixed(const struct layout *l, const struct scrub *s, const struct event *e,
		 struct buffer *out)
{
	out->size = 0;
	if (l->gap)
		return buffer_append(out, e->fixed, e->type->fixed_size);
	if (buffer_zero(out, l->type.fixed_size))
		return -1;
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i];
		const uint8_t *from;
		size_t n;

		if (f->where != WHERE_FIXED)
			continue;
		from = field_bytes(e, &e->type->fields[l->from[i]], &n);
		if (from && put_static(s, l->change[i], from, n, out->data + f->offset))
			return -1;
	}
	return 0;
}

static int texts(const struct layout *l, const struct scrub *s, const struct event *e,
		 struct buffer *out)
{
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const uint8_t *from;
		size_t n;

		/* REST is the first of the texts */
		if (l->fields[i].where != WHERE_STRING && l->fields[i].where != WHERE_REST)
			continue;
		from = field_bytes(e, &e->type->fields[l->from[i]], &n);
		if (!from)
			return 0;
		n = n ? strnlen((const char *)from, n) : 0;
		if (l->change[i] == CHANGE_NONE ? buffer_append(out, from, n) || buffer_u8(out, 0)
						: put_varying(s, l->change[i], from, n, out))
			return -1;
	}
	return 0;
}

/* Append the data that a field locates. */
static int put_data(const struct layout *l, const struct scrub *s, const struct event *e,
		    uint32_t i, struct buffer *out)
{
	const struct field *f = &l->fields[i];
	size_t n, at = align_up(out->size, 4);
	const uint8_t *from = field_bytes(e, &e->type->fields[l->from[i]], &n);
	uint32_t loc, base = f->where == WHERE_REL_LOC ? f->offset + 4 : 0;

	if (!from || buffer_align(out, 4) || put_varying(s, l->change[i], from, n, out))
		return from ? -1 : 0;
	n = out->size - at;
	if (at - base > 0xffff || n > 0xffff) {
		out->size = at;
		return 0;
	}
	loc = (uint32_t)n << 16 | (uint32_t)(at - base);
	if (e->type->flags & TYPE_BIG_ENDIAN)
		loc = __builtin_bswap32(loc);
	put_u32(out->data + f->offset, loc);
	return 0;
}

/* Returns the size of the tail: fields beyond the old row's tail must be beyond the new one. */
static uint32_t tail_reached(const struct layout *l, const struct event *e)
{
	uint32_t end = l->tail;

	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i], *old = &e->type->fields[l->from[i]];

		if (f->where != WHERE_FIXED && f->where < WHERE_STRING &&
		    (uint64_t)old->offset + field_width(old) > e->tail_size && f->offset < end)
			end = f->offset;
	}
	return end;
}

int layout_tail(const struct layout *l, const struct scrub *s, const struct event *e,
		struct buffer *out)
{
	uint32_t end;

	out->size = 0;
	if (l->gap)
		return buffer_zero(out, 4);
	if (!e->tail)
		return 0;
	if (l->texts)
		return texts(l, s, e, out);
	end = tail_reached(l, e);
	if (buffer_zero(out, end))
		return -1;
	/* the source may need bytes between the fields */
	if (l->type.nfields == e->type->nfields && !(s->what & SCRUB_ARGS) && end)
		memcpy(out->data, e->tail, end < e->tail_size ? end : e->tail_size);
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i];
		const uint8_t *from;
		size_t n;

		if (f->where != WHERE_TAIL || f->offset + field_width(f) > end)
			continue;
		from = field_bytes(e, &e->type->fields[l->from[i]], &n);
		if (from && put_static(s, l->change[i], from, n, out->data + f->offset))
			return -1;
	}
	if (end < l->tail)
		return 0;
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i];
		const uint8_t *from;
		size_t n;

		if (f->where != WHERE_REST)
			continue;
		from = field_bytes(e, &e->type->fields[l->from[i]], &n);
		if (from && put_varying(s, l->change[i], from, n, out))
			return -1;
	}
	for (uint32_t i = 0; i < l->type.nfields; i++)
		if (is_loc(&l->fields[i]) && put_data(l, s, e, i, out))
			return -1;
	return 0;
}

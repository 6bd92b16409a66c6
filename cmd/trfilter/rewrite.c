/*
 * rewrite.c - the fields and arguments to be kept in rows, and the texts that are replaced: --keep,
 * --drop,
 * --scrub
 */
#include "cmd/trfilter/rewrite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/formats/chrome.h"

enum projected_kind { BY_NAME, ALL_ARGUMENTS, ARGUMENT_NUMBER, ARGUMENT_NAME, BACKTRACE };

struct projected {
	char *name;	  /* as given by the user */
	const char *part; /* the part of name after "arg." */
	size_t size;	  /* length of part */
	uint64_t number;
	enum projected_kind kind;
	bool seen;
};

/* Classify p->name. */
static void understand(struct projected *p)
{
	bool real = !strncmp(p->name, "fparg.", 6), argument = !strncmp(p->name, "arg.", 4);
	char *end;

	p->part = p->name;
	if (!strcmp(p->name, "arg"))
		p->kind = ALL_ARGUMENTS;
	else if (!strcmp(p->name, "backtrace"))
		p->kind = BACKTRACE;
	else if (real || argument) {
		p->part += real ? 6 : 4;
		p->number = strtoull(p->part, &end, 10);
		p->kind = *p->part >= '0' && *p->part <= '9' && !*end ? ARGUMENT_NUMBER
								      : ARGUMENT_NAME;
		p->number += real ? FLOAT_ARGUMENTS : 0;
	}
	p->size = strlen(p->part);
}

int projection_parse(struct projection *p, const char *list, bool keep, struct error *e)
{
	size_t n;

	if (p->count && p->keep != keep)
		return error_set(e, NULL, NO_OFFSET, "use --keep or --drop, not both");
	p->keep = keep;
	for (;; list += n + 1) {
		struct projected *named;

		n = strcspn(list, ",");
		if (!n)
			return error_set(e, NULL, NO_OFFSET, "%s needs the names of fields",
					 keep ? "--keep" : "--drop");
		named = realloc(p->named, (p->count + 1) * sizeof *named);
		if (!named)
			return error_no_memory(e);
		p->named = named;
		named += p->count;
		*named = (struct projected){.name = strndup(list, n)};
		if (!named->name)
			return error_no_memory(e);
		p->count++;
		understand(named);
		if (!list[n])
			return 0;
	}
}

static void projection_free(struct projection *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->named[i].name);
	free(p->named);
}

static bool projection_is_named(struct projected *p, struct text_ref name)
{
	return p->size == name.size && !memcmp(p->part, name.text, name.size);
}

/* Returns true if a field is kept. Numbers of calls always are, because calls are paired by
 * them. */
static bool projection_field(struct projection *p, const struct field *f)
{
	bool named = false;

	if (!p->count)
		return true;
	for (size_t i = 0; i < p->count; i++)
		if (p->named[i].kind == BY_NAME && projection_is_named(&p->named[i], f->name))
			named = p->named[i].seen = true;
	return named == p->keep || f->role == ROLE_CALL;
}

static bool detail_is(struct projected *p, uint8_t what, uint64_t index,
		      const struct definition *names)
{
	switch (what) {
	case DETAIL_RETURN: return p->kind == BY_NAME && !strcmp(p->name, "ret");
	case DETAIL_BACKTRACE: return p->kind == BACKTRACE;
	case DETAIL_ARGUMENT: break;
	default: return false;
	}
	if (p->kind == ARGUMENT_NUMBER)
		return index == p->number;
	if (p->kind == ARGUMENT_NAME)
		return names && index && index <= names->count &&
		       projection_is_named(p, names->members[index - 1].name);
	return p->kind == ALL_ARGUMENTS;
}

/* Returns true if an argument, a return value or a backtrace is kept. names: of the arguments,
 * or NULL. */
static bool projection_detail(struct projection *p, uint8_t what, uint64_t index,
			      const struct definition *names)
{
	bool named = false;

	if (!p->count || what == DETAIL_FLAGS)
		return true;
	for (size_t i = 0; i < p->count; i++)
		if (detail_is(&p->named[i], what, index, names))
			named = p->named[i].seen = true;
	return named == p->keep;
}

static void offer_names(struct nearest *nearest)
{
	nearest_offer_words(nearest, "arg arg.1 fparg.1 ret backtrace");
}

int projection_check(const struct projection *p, const struct declared *all, struct error *e)
{
	struct declared check = *all;

	check.offer = offer_names;
	for (size_t i = 0; i < p->count; i++) {
		const struct projected *named = &p->named[i];

		if (named->seen)
			continue;
		if (named->kind != ALL_ARGUMENTS && declared_field(&check, named->name, false, e))
			return -1;
		if (!all->quiet && declared_has(all->dictionary, named->name))
			warn(NULL, NO_OFFSET, "no event that is kept has a field '%s'",
			     named->name);
	}
	return 0;
}

/* --- scrub --- */

int scrub_parse(struct scrub *s, const char *list, struct error *e)
{
	static const char *const words[] = {"names", "args", "paths"};

	for (;;) {
		size_t n = strcspn(list, ",");
		unsigned found = 0;

		for (unsigned i = 0; i < 3; i++)
			if (n == strlen(words[i]) && !memcmp(list, words[i], n))
				found = 1u << i;
		if (!found)
			return error_set(e, NULL, NO_OFFSET,
					 "--scrub takes names, args and paths, not '%.*s'", (int)n,
					 list);
		s->what |= found;
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

int scrub_key(struct scrub *s, const char *text, struct error *e)
{
	if (text) {
		s->key = siphash_key(text);
		return 0;
	}
	if (getrandom(&s->key, sizeof s->key, 0) != sizeof s->key)
		return error_set(e, NULL, NO_OFFSET, "cannot draw a key: %s", strerror(errno));
	return 0;
}

static void scrub_pseudonym(const struct scrub *s, const void *text, size_t n, char out[PSEUDONYM])
{
	uint64_t hash = siphash(&s->key, text, n);

	out[0] = 'x';
	for (int i = 1; i < PSEUDONYM; i++, hash >>= 4)
		out[i] = "0123456789abcdef"[hash & 15];
}

/* Returns true for a part that reveals nothing, or is not a file: "[vdso]". */
static bool path_stays(const char *part, size_t n)
{
	return !n || (n == 1 && *part == '.') || (n == 2 && !memcmp(part, "..", 2)) ||
	       (n > 2 && *part == '[' && part[n - 1] == ']' && !memchr(part, ' ', n));
}

/* Append the pseudonym of a path: one for each part between slashes; parts in brackets, such as
 * [kernel], are unchanged. Returns -1 when out of memory. */
static int scrub_path(const struct scrub *s, const char *path, size_t n, struct buffer *out)
{
	const char *end = path + n;

	for (;;) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		size_t size = (size_t)((slash ? slash : end) - path);
		char pseudonym[PSEUDONYM];

		scrub_pseudonym(s, path, size, pseudonym);
		if (path_stays(path, size) ? size && buffer_append(out, path, size)
					   : buffer_append(out, pseudonym, PSEUDONYM))
			return -1;
		if (!slash)
			return 0;
		if (buffer_u8(out, '/'))
			return -1;
		path = slash + 1;
	}
}

/* Make the eight bytes that are repeated as a replacement. */
static void scrub_pattern(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t out[8])
{
	put_u64(out, siphash(&s->key, bytes, n));
}

/* Replace bytes by as many other bytes. */
static void scrub_bytes(const struct scrub *s, const uint8_t *bytes, size_t n, uint8_t *out)
{
	uint8_t pattern[8];

	scrub_pattern(s, bytes, n, pattern);
	for (size_t i = 0; i < n; i++)
		out[i] = pattern[i % 8];
}

/* Replace a number; 0 is unchanged. */
static uint64_t scrub_number(const struct scrub *s, uint64_t number)
{
	uint8_t bytes[8];
	uint64_t hash;

	if (!number)
		return 0;
	put_u64(bytes, number);
	hash = siphash(&s->key, bytes, sizeof bytes);
	return number > UINT32_MAX ? hash : hash & UINT32_MAX;
}

/* --- change values --- */

/* Get a number in [0, 1) that depends on the bytes. */
static double part_of_one(const struct scrub *s, const uint8_t *bytes, size_t n)
{
	return (double)(siphash(&s->key, bytes, n) >> 11) / (double)(1ull << 53);
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Replace a floating-point number by another one of the same format; 0 is unchanged. */
static void rewrite_machine_number(const struct scrub *s, char format, const uint8_t *bytes,
				   size_t n, uint8_t *out)
{
	double d = part_of_one(s, bytes, n);
	float f = (float)d;
	uint64_t bits = 0;

	memset(out, 0, n);
	if (all_zero(bytes, n))
		return;
	if (format != 'f') {
		for (size_t i = 0; i < n && i < 8; i++)
			bits |= (uint64_t)bytes[i] << 8 * i;
		bits = siphash(&s->key, &bits, sizeof bits);
		if (format == 'c')
			bits = 'a' + bits % 26;
		for (size_t i = 0; i < n && i < 8; i++)
			out[i] = (uint8_t)(bits >> 8 * i);
	} else if (n == 4) {
		memcpy(&bits, &f, sizeof f);
		put_u32(out, (uint32_t)bits);
	} else if (n == 8) {
		memcpy(&bits, &d, sizeof d);
		put_u64(out, bits);
	} else if (n == 10) {
		/* x87: the highest bit of the fraction is explicit, the exponent is that of 0.5
		 * to 1 */
		put_u64(out, siphash(&s->key, bytes, n) | 1ull << 63);
		put_u16(out + 8, 0x3ffe);
	}
}

static int change_values_put_text(const struct scrub *s, const uint8_t *text, size_t n,
				  struct buffer *out)
{
	char pseudonym[PSEUDONYM];

	scrub_pseudonym(s, text, n, pseudonym);
	return buffer_uleb(out, n ? PSEUDONYM : 0) ||
	       buffer_append(out, pseudonym, n ? PSEUDONYM : 0);
}

static int put_blob(const struct scrub *s, const uint8_t *bytes, size_t n, struct buffer *out)
{
	uint8_t pattern[8];

	if (buffer_uleb(out, n))
		return -1;
	scrub_pattern(s, bytes, n, pattern);
	for (; n > sizeof pattern; n -= sizeof pattern)
		if (buffer_append(out, pattern, sizeof pattern))
			return -1;
	return buffer_append(out, pattern, n);
}

/* Write one value without its children; its tag is written already. */
static int put_scrubbed(const struct scrub *s, const struct value *v, struct buffer *out)
{
	uint8_t bytes[16];

	switch (v->tag) {
	case VALUE_NEGATIVE: return buffer_uleb(out, scrub_number(s, -v->number) & INT64_MAX);
	case VALUE_UINT:
	case VALUE_POINTER: return buffer_uleb(out, scrub_number(s, v->number));
	case VALUE_FLOAT:
	case VALUE_DOUBLE:
		rewrite_machine_number(s, 'f', v->bytes, v->n, bytes);
		return buffer_append(out, bytes, v->n);
	case VALUE_STRING: return change_values_put_text(s, v->bytes, v->n, out);
	case VALUE_WSTRING: return change_values_put_text(s, v->bytes, v->n, out);
	case VALUE_BLOB: return put_blob(s, v->bytes, v->n, out);
	case VALUE_ENUM:
		rewrite_machine_number(s, 'i', v->bytes, v->n, bytes);
		return buffer_uleb(out, v->definition) || buffer_u8(out, v->size) ||
		       buffer_append(out, bytes, v->n);
	case VALUE_BITMASK:
		return buffer_uleb(out, v->definition) ||
		       buffer_uleb(out, scrub_number(s, v->number));
	case VALUE_NUMBER:
		rewrite_machine_number(s, (char)v->format, v->bytes, v->n, bytes);
		return buffer_u8(out, v->format) || buffer_u8(out, v->size) ||
		       buffer_append(out, bytes, v->n);
	case VALUE_OPAQUE:
		return change_values_put_text(s, (const uint8_t *)v->type_name, v->type_name_size,
					      out) ||
		       put_blob(s, v->bytes, v->n, out);
	}
	return 0;
}

/* Returns true if the tag has a value of its own, and does not only describe what follows. */
static bool has_value(uint8_t tag)
{
	switch (tag) {
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE:
	case VALUE_ARRAY:
	case VALUE_STRUCT:
	case VALUE_REPR:
	case VALUE_FRAME: return false;
	}
	return true;
}

/* Write a value with its children. Returns 1 if the bytes are invalid. */
static int change_value(struct values *v, const struct scrub *s, struct buffer *out)
{
	uint64_t open = 1;

	while (open--) {
		const uint8_t *from = v->at;
		struct value one;

		/* every value takes at least one byte */
		if (!values_value(v, &one) || one.count > (uint64_t)(v->end - v->at))
			return 1;
		open += one.count;
		if (open > (uint64_t)(v->end - v->at))
			return 1;
		if (has_value(one.tag) ? buffer_u8(out, one.tag) || put_scrubbed(s, &one, out)
				       : buffer_append(out, from, (size_t)(v->at - from)))
			return -1;
	}
	return 0;
}

/* Copy a detail of unknown kind, unless it may contain something to be hidden. */
static int pass_unknown(const struct scrub *s, const uint8_t *from, const uint8_t *to,
			struct buffer *out)
{
	return s->what & SCRUB_ARGS ? 0 : buffer_append(out, from, (size_t)(to - from));
}

/* Append a tail that is a list of values to out. names: of the arguments, or NULL. Values after
 * a fault in the list are left out. Returns -1 when out of memory. */
static int change_values(struct projection *p, const struct scrub *s,
			 const struct definition *names, const uint8_t *tail, size_t n,
			 struct buffer *out)
{
	struct values v;
	uint64_t index;
	uint8_t what;
	const uint8_t *done = tail;

	values_begin(&v, tail, n);
	for (; values_what(&v, &what, &index); done = v.at) {
		const uint8_t *from = v.detail;
		bool stays = projection_detail(p, what, index, names);
		size_t head = (size_t)(v.at - from), before = out->size;
		bool scrubbed = s->what & SCRUB_ARGS && what != DETAIL_FLAGS;
		int bad;

		if (pass_unknown(s, done, from, out))
			return -1;

		if (!stays || !scrubbed) {
			if (!values_skip(&v))
				return 0;
			if (stays && buffer_append(out, from, (size_t)(v.at - from)))
				return -1;
			continue;
		}
		if (buffer_append(out, from, head))
			return -1;
		bad = change_value(&v, s, out);
		if (bad) {
			out->size = before;
			return bad < 0 ? -1 : 0;
		}
	}
	return v.bad ? 0 : pass_unknown(s, done, v.at, out);
}

/* --- layout --- */

static void layout_free(struct rewrite_layout *l)
{
	free(l->fields);
	free(l->from);
	free(l->change);
	*l = (struct rewrite_layout){0};
}

static bool ends_in(struct text_ref t, const char *end)
{
	size_t n = strlen(end);

	return t.size >= n && !memcmp(t.text + t.size - n, end, n);
}

static bool rewrite_is_one_of(struct text_ref t, const char *const *words)
{
	for (; *words; words++)
		if (t.size == strlen(*words) && !memcmp(t.text, *words, t.size))
			return true;
	return false;
}

static bool rewrite_is_text(const struct field *f)
{
	return f->kind == FIELD_STRING ||
	       (f->kind == FIELD_CHAR && (f->count > 1 || f->where > WHERE_TAIL));
}

static enum field_change change_of(const struct field *f, unsigned what)
{
	static const char *const paths[] = {"filename", "pathname", "path", "file", NULL};

	if (rewrite_is_text(f)) {
		if (what & SCRUB_PATHS && rewrite_is_one_of(f->name, paths))
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

/* Get the bytes of a field's fixed part. */
static uint32_t rewrite_field_width(const struct field *f)
{
	if (is_loc(f))
		return 4;
	if (f->where > WHERE_TAIL)
		return 0;
	return f->size * (f->count ? f->count : 1);
}

/* Assign packed offsets to the remaining fields. */
static void pack_fields(struct rewrite_layout *l)
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
		*end = f->offset + rewrite_field_width(f);
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
static void keep_offsets(struct rewrite_layout *l)
{
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i];
		uint32_t end = f->offset + rewrite_field_width(f);

		if (f->where != WHERE_FIXED && f->where < WHERE_STRING && end > l->tail)
			l->tail = end;
	}
}

/* Make the layout of a type. t may be on the stack; its texts and definitions must stay valid.
 * Returns -1 when out of memory. */
static int layout_make(struct rewrite_layout *l, const struct type *t, struct projection *p,
		       const struct scrub *s)
{
	uint32_t n = t->nfields, kept = 0;
	bool changed = false;

	*l = (struct rewrite_layout){
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
static int layout_put_text(const struct scrub *s, enum field_change change, const uint8_t *from,
			   size_t n, struct buffer *out)
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
	bad = layout_put_text(s, change, from, n, &text);
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
	default: return layout_put_text(s, change, from, n, out) || buffer_u8(out, 0);
	}
}

/* Write the fields of a part of the row, fixed or tail, that end before `end`. Returns -1 when out
 * of memory. */
static int put_fields(const struct rewrite_layout *l, const struct scrub *s, const struct event *e,
		      enum field_where where, uint64_t end, uint8_t *to)
{
	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i];
		const uint8_t *from;
		size_t n;

		if (f->where != where || f->offset + rewrite_field_width(f) > end)
			continue;
		from = field_bytes(e, &e->type->fields[l->from[i]], &n);
		if (from && put_static(s, l->change[i], from, n, to + f->offset))
			return -1;
	}
	return 0;
}

/* Append the fixed part, and the tail (unless it is values), of a row of the old type. Returns
 * -1 when out of memory. */
static int layout_fixed(const struct rewrite_layout *l, const struct scrub *s,
			const struct event *e, struct buffer *out)
{
	out->size = 0;
	if (l->gap)
		return buffer_append(out, e->fixed, e->type->fixed_size);
	return buffer_zero(out, l->type.fixed_size) ||
			       put_fields(l, s, e, WHERE_FIXED, UINT64_MAX, out->data)
		       ? -1
		       : 0;
}

static int texts(const struct rewrite_layout *l, const struct scrub *s, const struct event *e,
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
static int put_data(const struct rewrite_layout *l, const struct scrub *s, const struct event *e,
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

/* Get the size of the tail: fields beyond the old row's tail must be beyond the new one. */
static uint32_t tail_reached(const struct rewrite_layout *l, const struct event *e)
{
	uint32_t end = l->tail;

	for (uint32_t i = 0; i < l->type.nfields; i++) {
		const struct field *f = &l->fields[i], *old = &e->type->fields[l->from[i]];

		if (f->where != WHERE_FIXED && f->where < WHERE_STRING &&
		    (uint64_t)old->offset + rewrite_field_width(old) > e->tail_size &&
		    f->offset < end)
			end = f->offset;
	}
	return end;
}

static int layout_tail(const struct rewrite_layout *l, const struct scrub *s, const struct event *e,
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
	if (put_fields(l, s, e, WHERE_TAIL, end, out->data))
		return -1;
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

/* --- rewrite the entries of a dictionary: new ids of strings, types by their layouts --- */

enum {
	DICT_SENT = 128 * 1024, /* entries collected for one block, bytes */
	FIELDS_MOST = 65536,	/* as many as fit in a block */
};

static int rewrite_send(struct rewrite *r)
{
	struct block b = {.kind = BLOCK_DICT,
			  .payload = r->out.data,
			  .length = (uint32_t)r->out.size,
			  .available = (uint32_t)r->out.size,
			  .redeclares = true};

	if (!r->out.size)
		return 0;
	if (stage_forward_plain(r->stage, &b, NULL, NULL))
		return -1;
	r->out.size = 0;
	return 0;
}

/* Send an entry. All functions here return 0, or -1 after stage_fail. */
static int rewrite_send_entry(struct rewrite *r, enum entry_kind kind, uint32_t id,
			      const void *data, size_t n)
{
	if (r->out.size + n > DICT_SENT && rewrite_send(r))
		return -1;
	return entry_append(&r->out, kind, id, data, n) ? stage_no_memory(r->stage) : 0;
}

/* Find the id of a text in the new stream; a text that the segment lacks is sent. */
static int send_text(struct rewrite *r, const void *text, size_t n, uint32_t *id)
{
	uint32_t number;
	size_t at;

	*id = 0;
	if (!n)
		return 0;
	number = intern(&r->sent, text, n);
	if (number == INTERN_NONE)
		return stage_no_memory(r->stage);
	at = 4 * (size_t)number;
	if (at >= r->segments.size && buffer_zero(&r->segments, at + 4 - r->segments.size))
		return stage_no_memory(r->stage);
	*id = number + 1;
	if (get_u32(r->segments.data + at) == r->segment)
		return 0;
	put_u32(r->segments.data + at, r->segment);
	return rewrite_send_entry(r, ENTRY_STRING, *id, text, n);
}

enum disguise { PLAIN, AS_NAME, AS_PATH, LEFT_OUT };

/* Get the replacement of a text in *out. */
static int disguise_text(struct rewrite *r, struct text_ref t, enum disguise how,
			 struct buffer *out)
{
	const struct scrub *s = &r->scrub;
	char pseudonym[PSEUDONYM];
	int bad = 0;

	if (how == AS_NAME && s->what & SCRUB_NAMES) {
		scrub_pseudonym(s, t.text, t.size, pseudonym);
		bad = buffer_append(out, pseudonym, t.size ? PSEUDONYM : 0);
	} else if (how == AS_PATH && s->what & SCRUB_PATHS) {
		bad = scrub_path(s, t.text, t.size, out);
	} else {
		bad = buffer_append(out, t.text, t.size);
	}
	return bad ? stage_no_memory(r->stage) : 0;
}

/* Get the text that had that id in the old stream. */
static struct text_ref rewrite_text_of(struct rewrite *r, uint32_t id)
{
	uint32_t n = idmap_get(&r->ids, id);

	if (!n)
		return (struct text_ref){.text = ""};
	return (struct text_ref){intern_data(&r->texts, n - 1), intern_size(&r->texts, n - 1), n};
}

static enum disguise disguise_of(const struct rewrite *r, enum entry_use use)
{
	unsigned what = r->scrub.what;

	switch (use) {
	case USE_NAME: return AS_NAME;
	case USE_PATH: return AS_PATH;
	case USE_TITLE: return what & SCRUB_PATHS ? AS_PATH : AS_NAME;
	case USE_BUILD_ID: return what & SCRUB_PATHS ? LEFT_OUT : PLAIN;
	/* symbol tables are left out */
	case USE_META: return what & (SCRUB_NAMES | SCRUB_PATHS) ? LEFT_OUT : PLAIN;
	default: return PLAIN;
	}
}

/* Replace the id of a text by that of the text in the new stream. */
static int rewrite_string(struct rewrite *r, uint32_t *id, enum disguise how)
{
	struct text_ref t = rewrite_text_of(r, *id);
	struct buffer text = {0};
	int bad;

	*id = 0;
	if (how == LEFT_OUT)
		return 0;
	bad = disguise_text(r, t, how, &text) || send_text(r, text.data, text.size, id);
	buffer_free(&text);
	return bad;
}

/* Rewrite the texts of r->entry by their use. */
static int rewrite_texts(struct rewrite *r, const struct entry_layout *l)
{
	for (const struct entry_field *f = l->fields; f < l->fields + l->nfields; f++) {
		uint32_t id = get_u32(r->entry.data + f->at);

		if (f->refers != ENTRY_STRING)
			continue;
		if (rewrite_string(r, &id, disguise_of(r, f->use)))
			return -1;
		put_u32(r->entry.data + f->at, id);
	}
	return 0;
}

static int learn_string(struct rewrite *r, const struct raw_entry *o)
{
	uint32_t number = intern(&r->texts, o->data, o->size);

	if (number == INTERN_NONE || idmap_set(&r->ids, o->id, number + 1))
		return stage_no_memory(r->stage);
	return 0;
}

static int rewrite_definition(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_DEFINITION];
	uint32_t n = entry_parts(l, o->data, o->size);
	enum disguise how = PLAIN;
	struct definition_entry d;
	struct member_entry m;

	/* an entry that the dictionary ignores too */
	if (n == UINT32_MAX)
		return 1;
	r->entry.size = entry_part(l, n);
	entry_get(l, o->data, &d);
	/* the struct of a function's arguments has the function's name */
	if (rewrite_string(r, &d.name, d.kind == DEFINITION_STRUCT ? AS_NAME : PLAIN))
		return -1;
	entry_put(l, r->entry.data, &d);
	for (uint32_t i = 0; i < n; i++) {
		bool key = d.kind == DEFINITION_FRAME && how == PLAIN;
		struct text_ref t;

		entry_get(l->part, o->data + entry_part(l, i), &m);
		t = rewrite_text_of(r, m.name);
		if (rewrite_string(r, &m.name, how))
			return -1;
		entry_put(l->part, r->entry.data + entry_part(l, i), &m);
		how = PLAIN;
		if (key && !strcmp(t.text, "function"))
			how = AS_NAME;
		else if (key && (!strcmp(t.text, "module") || !strcmp(t.text, "file")))
			how = AS_PATH;
	}
	return 0;
}

/* Get the fields of a type; definitions are left out. */
static void read_fields(struct rewrite *r, const struct raw_entry *o, uint32_t n,
			struct field *fields)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];

	for (uint32_t i = 0; i < n; i++) {
		struct field_entry f;

		entry_get(l->part, o->data + entry_part(l, i), &f);
		fields[i] = (struct field){.name = rewrite_text_of(r, f.name),
					   .kind = f.kind,
					   .role = f.role,
					   .where = f.where,
					   .offset = f.offset,
					   .size = f.size,
					   .count = f.count};
	}
}

/* Write a type with the fields of a layout, from those of the old entry. */
static int rewrite_put_type(struct rewrite *r, const struct raw_entry *o, struct type_entry *e,
			    const struct rewrite_layout *made)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];

	r->entry.size = entry_part(l, made->type.nfields);
	e->fixed_size = made->type.fixed_size;
	e->nfields = made->type.nfields;
	if (rewrite_string(r, &e->name, PLAIN) || rewrite_string(r, &e->group, PLAIN))
		return -1;
	for (uint32_t i = 0; i < e->nfields; i++) {
		struct field_entry f;

		entry_get(l->part, o->data + entry_part(l, made->from[i]), &f);
		f.where = made->fields[i].where;
		f.offset = made->fields[i].offset;
		if (rewrite_string(r, &f.name, PLAIN) || rewrite_string(r, &f.type_name, PLAIN))
			return -1;
		entry_put(l->part, r->entry.data + entry_part(l, i), &f);
	}
	if (rewrite_string(r, &e->declaration, made->type.declaration.size ? PLAIN : LEFT_OUT))
		return -1;
	entry_put(l, r->entry.data, e);
	return 0;
}

static int type(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_TYPE];
	uint32_t n = entry_parts(l, o->data, o->size);
	struct type_entry e;
	struct field *fields;
	struct rewrite_layout made;
	struct type t;
	int bad;

	entry_get(l, o->data, &e);
	/* an entry that the dictionary ignores too */
	if (n > FIELDS_MOST || e.kind >= KIND_COUNT)
		return 1;
	fields = calloc(n + 1, sizeof *fields);
	if (!fields)
		return stage_no_memory(r->stage);
	read_fields(r, o, n, fields);
	t = (struct type){.kind = e.kind,
			  .word_size = e.word_size,
			  .flags = e.flags,
			  .fixed_size = e.fixed_size,
			  .nfields = n,
			  .declaration = rewrite_text_of(r, e.declaration),
			  .fields = fields};
	if (layout_make(&made, &t, &r->projection, &r->scrub)) {
		free(fields);
		return stage_no_memory(r->stage);
	}
	bad = rewrite_put_type(r, o, &e, &made);
	layout_free(&made);
	free(fields);
	return bad;
}

static int symbol(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[ENTRY_SYMBOL];
	const char *text = (const char *)o->data + l->size;
	struct symbol_entry e;
	uint32_t *sizes[] = {&e.name_size, &e.module_size, &e.file_size};
	uint64_t left = o->size - l->size;

	r->entry.size = l->size;
	entry_get(l, o->data, &e);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t n = *sizes[i];
		size_t before = r->entry.size;

		if (n > left)
			return 1;
		if (disguise_text(r, (struct text_ref){text, n, 0}, i ? AS_PATH : AS_NAME,
				  &r->entry))
			return -1;
		*sizes[i] = (uint32_t)(r->entry.size - before);
		text += n;
		left -= n;
	}
	entry_put(l, r->entry.data, &e);
	return 0;
}

/* Rewrite r->entry, which is a copy of the old one. Returns 1 if nothing is to be sent. */
static int rewrite_entry(struct rewrite *r, const struct raw_entry *o)
{
	const struct entry_layout *l = &entry_layouts[o->kind];

	switch ((enum entry_kind)o->kind) {
	case ENTRY_STRING: return learn_string(r, o) ? -1 : 1;
	case ENTRY_TYPE: return type(r, o);
	case ENTRY_DEFINITION: return rewrite_definition(r, o);
	case ENTRY_SYMBOL: return symbol(r, o);
	default: r->entry.size = l->size; return rewrite_texts(r, l);
	}
}

static int one(struct rewrite *r, const struct raw_entry *o)
{
	int made;

	if (!entry_complete(o))
		return 0; /* damaged, or of a later version: its names are unknown */
	r->entry.size = 0;
	if (buffer_append(&r->entry, o->data, o->size))
		return stage_no_memory(r->stage);
	made = rewrite_entry(r, o);
	if (made)
		return made < 0 ? -1 : 0;
	return rewrite_send_entry(r, (enum entry_kind)o->kind, o->id, r->entry.data, r->entry.size);
}

/* Pass on a rewritten DICT block (dictionary.c). Returns 0, or -1 after stage_fail. */
static int rewrite_dict(struct rewrite *r, struct stage *s, const struct block *b)
{
	struct raw_entry o;
	size_t at = 0;

	r->stage = s;
	r->segment = s->out.segment + !s->out.in_segment;
	if (r->ids_segment != r->dictionary->segment)
		idmap_clear(&r->ids);
	r->ids_segment = r->dictionary->segment;
	while (entry_next(b->payload, b->length, &at, &o) > 0)
		if (one(r, &o))
			return -1;
	return rewrite_send(r);
}

/* --- rewrite --- */

enum { LEFT_OUT_SAID = 200 }; /* most bytes of names in the message */

/* Rewrite HEAD without its properties: command lines contain names and keys, and unknown properties
 * may too. */
static int pass_head(struct rewrite *r, struct stage *s, const struct block *b,
		     const struct head *head)
{
	struct head changed = *head;

	if (!r->scrub.what)
		return stage_forward_plain(s, b, head, NULL);
	changed.properties_size = 0;
	return stage_forward_plain(s, b, &changed, NULL);
}

static int rewrite_pass_end(struct rewrite *r, struct stage *s, const struct block *b,
			    const struct end *end)
{
	static const char hidden[] = "the trace was damaged";
	struct end changed = *end;

	if (r->scrub.what && end->message.size)
		changed.message = (struct text_ref){.text = hidden, .size = sizeof hidden - 1};
	return stage_forward_plain(s, b, NULL, &changed);
}

/* Test for a META block of that name. */
static bool rewrite_is_named(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

/* Returns true if a META block may reveal names or values: names of functions, files and
 * threads, the command line, uftrace's messages of events, or what Trace Event JSON has beside its
 * events. */
static bool may_tell(struct rewrite *r, const struct meta *m)
{
	const struct field message = {.name = {.text = "message", .size = 7}};

	if (r->scrub.what & (SCRUB_NAMES | SCRUB_PATHS))
		return true;
	if (rewrite_is_named(m, CHROME_META))
		return r->scrub.what & SCRUB_ARGS;
	if (!rewrite_is_named(m, "extern.dat"))
		return false;
	return r->scrub.what & SCRUB_ARGS || !projection_field(&r->projection, &message);
}

static int pass_meta(struct rewrite *r, struct stage *s, const struct block *b)
{
	struct meta m;

	reader_meta(&s->in, b, &m);
	if (!may_tell(r, &m))
		return stage_forward_plain(s, b, NULL, NULL);
	if (m.offset)
		return 0;
	r->nleft_out++;
	if (r->left_out.size < LEFT_OUT_SAID &&
	    (buffer_append(&r->left_out, ", ", r->left_out.size ? 2 : 0) ||
	     buffer_append(&r->left_out, m.name, m.name_size)))
		return stage_no_memory(s);
	return 0;
}

/* Get the layout of a type; NULL: out of memory. */
static struct rewrite_layout *rewrite_layout_of(struct rewrite *r, const struct type *t)
{
	struct rewrite_layout *l;

	if (ARRAY_REACH(r->layouts, r->nlayouts, t->number))
		return NULL;
	l = &r->layouts[t->number];
	if (!l->fields && layout_make(l, t, &r->projection, &r->scrub))
		return NULL;
	return l;
}

static int values(struct rewrite *r, const struct event *e)
{
	const struct location *location = dictionary_location(r->dictionary, e->location);

	buffer_clear(&r->tail);
	r->tail.spills = true;
	return change_values(&r->projection, &r->scrub, location ? location->arguments : NULL,
			     e->tail, e->tail_size, &r->tail);
}

static int pass_row(void *ctx, struct stage *s, const struct block *b, const struct event *e)
{
	struct rewrite *r = ctx;
	const struct rewrite_layout *l = rewrite_layout_of(r, e->type);
	struct event changed = *e;

	if (!l)
		return stage_no_memory(s);
	if (!l->same) {
		if (layout_fixed(l, &r->scrub, e, &r->fixed) ||
		    (l->values ? values(r, e) : layout_tail(l, &r->scrub, e, &r->tail)))
			return stage_no_memory(s);
		changed.type = &l->type;
		changed.fixed = r->fixed.data;
		changed.tail = r->tail.data;
		changed.tail_size = (uint32_t)r->tail.size;
		s->out.tail_buffer = &r->tail;
	}
	if (writer_copy_row(&s->out, b, &changed))
		return stage_fail(s, &s->out.error);
	return 0;
}

static int pass_events(struct rewrite *r, struct stage *s, const struct block *b)
{
	bool same = true;
	struct events it;
	struct event e;

	for (uint32_t i = 0; i < b->ntypes; i++) {
		const struct rewrite_layout *l = rewrite_layout_of(r, b->types[i]);

		if (!l)
			return stage_no_memory(s);
		same &= l->same;
	}
	if (same)
		return stage_forward_plain(s, b, NULL, NULL);
	for (events_begin(&it, b); event_next(&it, &e);)
		if (pass_row(r, s, b, &e))
			return -1;
	return 0;
}

static int pass_block(void *ctx, struct stage *s, const struct block *b, const struct head *head,
		      const struct end *end)
{
	struct rewrite *r = ctx;

	switch (b->kind) {
	case BLOCK_HEAD: return pass_head(r, s, b, head);
	case BLOCK_DICT: return rewrite_dict(r, s, b);
	case BLOCK_EVENTS: return pass_events(r, s, b);
	case BLOCK_META: return pass_meta(r, s, b);
	case BLOCK_END: return rewrite_pass_end(r, s, b, end);
	}
	/* the content is unknown */
	return r->scrub.what ? 0 : stage_forward_plain(s, b, NULL, NULL);
}

void rewrite_begin(struct rewrite *r, const struct dictionary *d)
{
	r->dictionary = d;
	r->hooks = (struct stage_rewrite){pass_block, pass_row, r};
}

void rewrite_report(const struct rewrite *r, bool quiet)
{
	if (r->nleft_out && !quiet)
		warn(NULL, NO_OFFSET, "left out, as it may contain %s: %.*s%s of the source",
		     r->scrub.what & (SCRUB_NAMES | SCRUB_PATHS) ? "names" : "values",
		     (int)r->left_out.size, (const char *)r->left_out.data,
		     r->left_out.size < LEFT_OUT_SAID ? "" : " and more");
}

void rewrite_free(struct rewrite *r)
{
	projection_free(&r->projection);
	intern_free(&r->texts);
	intern_free(&r->sent);
	idmap_free(&r->ids);
	buffer_free(&r->segments);
	buffer_free(&r->entry);
	buffer_free(&r->out);
	for (size_t i = 0; i < r->nlayouts; i++)
		layout_free(&r->layouts[i]);
	free(r->layouts);
	buffer_free(&r->fixed);
	buffer_free(&r->tail);
	buffer_free(&r->left_out);
}

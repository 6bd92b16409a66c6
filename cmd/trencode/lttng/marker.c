/*
 * marker.c - markers of the output: their formats, and payloads that match the formats
 *
 * The source's format is announced unchanged if it describes the same fields to a reader of 2.6;
 * values then take as many bytes as the format requires. Otherwise (pointers of another size,
 * values of a compact channel) a new format records the size of every field.
 */
#include <stdlib.h>

#include "cmd/trencode/lttng/lttng.h"

static bool is_core(const struct type *t)
{
	static const char *const names[] = {"core_marker_id", "core_marker_format",
					    "core_heartbeat_32", "core_heartbeat_64"};

	if (t->group.size && strcmp(t->group.text, "metadata"))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(t->name.text, names[i]))
			return true;
	return false;
}

static bool is_stored(const struct field *f)
{
	if (f->role == ROLE_SOURCE_TIME)
		return false;
	if (f->kind == FIELD_STRING)
		return f->where == WHERE_REST || f->where == WHERE_STRING;
	return f->where == WHERE_FIXED && f->count <= 1 &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

/* Test whether the source's format, read as 2.6 does, gives these fields at least their sizes. */
static bool format_is_kept(const struct lttng_field *parsed, int n, const struct lttng_written *w)
{
	if (n < 0 || (uint32_t)n != w->count)
		return false;
	for (int i = 0; i < n; i++)
		if (parsed[i].compact || !parsed[i].size != !w->items[i].to ||
		    parsed[i].size < w->items[i].from)
			return false;
	return true;
}

static int make_format(struct lttng_written *w, const struct type *t)
{
	uint32_t at = 0;

	w->format.size = 0;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];
		const char *percent = memchr(f->type_name.text, '%', f->type_name.size);
		int literal = percent ? (int)(percent - f->type_name.text) : 0;
		char conversion = percent && percent[1] ? percent[1] : 'u';

		if (!is_stored(f))
			continue;
		/* a format separates names by these characters */
		for (uint32_t k = 0; k < f->name.size; k++)
			if (buffer_u8(&w->format, f->name.text[k] == ' ' ||
								  f->name.text[k] == '%' ||
								  f->name.text[k] == '#'
							  ? '_'
							  : (uint8_t)f->name.text[k]))
				return -1;
		if (f->kind == FIELD_STRING
			    ? buffer_printf(&w->format, " %%s ")
			    : buffer_printf(&w->format, " #%s%u%c%.*s%%%s%c ",
					    w->items[at].network ? "n" : "", f->size,
					    f->kind == FIELD_INT ? 'd' : 'u', literal,
					    f->type_name.text, f->size == 8 ? "ll" : "",
					    conversion))
			return -1;
		w->items[at].to = f->kind == FIELD_STRING ? 0 : (uint8_t)f->size;
		at++;
	}
	/* without the last space */
	if (w->format.size)
		w->format.size--;
	return 0;
}

struct lttng_written *lttng_written_new(const struct type *t)
{
	struct lttng_field parsed[LTTNG_FIELDS];
	struct lttng_written *w = calloc(1, sizeof *w);
	uint8_t word = t->word_size == 4 ? 4 : 8;
	int n;

	if (!w || !(w->items = calloc(t->nfields + 1, sizeof *w->items)))
		goto failed;
	w->tsc = -1;
	w->core = is_core(t);
	w->sizes = (struct lttng_sizes){4, word, word, word};
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (f->role == ROLE_SOURCE_TIME && f->where == WHERE_FIXED && f->size == 8)
			w->tsc = (int32_t)f->offset;
		if (!is_stored(f))
			continue;
		w->items[w->count++] =
			(struct lttng_item){.from = f->kind == FIELD_STRING ? 0 : (uint8_t)f->size,
					    .to = f->kind == FIELD_STRING ? 0 : (uint8_t)f->size,
					    .is_signed = f->kind == FIELD_INT,
					    .offset = f->offset};
	}
	n = lttng_format_parse(t->declaration.text, t->declaration.size, &w->sizes, true, parsed,
			       LTTNG_FIELDS);
	for (int i = 0; i < n && (uint32_t)i < w->count; i++)
		w->items[i].network = parsed[i].network;
	if (!format_is_kept(parsed, n, w)) {
		if (make_format(w, t))
			goto failed;
		return w;
	}
	for (int i = 0; i < n; i++)
		w->items[i].to = parsed[i].size;
	if (buffer_append(&w->format, t->declaration.text, t->declaration.size))
		goto failed;
	return w;
failed:
	lttng_written_free(w);
	return NULL;
}

void lttng_written_free(struct lttng_written *w)
{
	if (!w)
		return;
	buffer_free(&w->format);
	free(w->items);
	free(w);
}

int lttng_written_payload(const struct lttng_written *w, const struct event *ev,
			  struct buffer *payload)
{
	const uint8_t *tail = ev->tail, *end = tail ? tail + ev->tail_size : NULL, *nul;

	payload->size = 0;
	for (uint32_t i = 0; i < w->count; i++) {
		const struct lttng_item *item = &w->items[i];
		uint8_t bytes[8];
		uint64_t v;

		if (!item->to) {
			nul = tail < end ? memchr(tail, 0, (size_t)(end - tail)) : NULL;
			if ((tail < end &&
			     buffer_append(payload, tail, (size_t)((nul ? nul : end) - tail))) ||
			    buffer_u8(payload, 0))
				return -1;
			tail = nul ? nul + 1 : end;
			continue;
		}
		v = get_uint(ev->fixed + item->offset, item->from, false);
		if (item->is_signed)
			v = (uint64_t)sign_extend(v, item->from);
		if (item->network)
			v = __builtin_bswap64(v) >> (64 - 8 * item->to);
		put_u64(bytes, v);
		if (buffer_append(payload, bytes, item->to))
			return -1;
	}
	return 0;
}

#include "cmd/trencode/text/tracecmd/sources.h"
#include "common/formats/tracecmd.h"
#include "common/util/lines.h"

#include <stdlib.h>

enum { META_MOST = 1 << 20 };

void tc_sources_free(struct tc_sources *s)
{
	for (size_t i = 0; i < s->count; i++) {
		text_kernel_free(s->at[i]->kernel);
		buffer_free(&s->at[i]->buffers);
		buffer_free(&s->at[i]->options);
		binary_formats_free(&s->at[i]->binary);
		free(s->at[i]);
	}
	free(s->at);
	idmap_free(&s->numbers);
	free(s->vcpus);
}

struct tc_source *tc_source_of(struct tc_sources *s, const struct source *source)
{
	uint32_t id = source ? source->number : 0, known = idmap_get(&s->numbers, id);
	struct tc_source *t, **at;

	if (known)
		return s->at[known - 1];
	if (ARRAY_GROW(s->at, s->capacity, s->count))
		return NULL;
	at = s->at;
	t = calloc(1, sizeof *t);
	if (t)
		t->kernel = text_kernel_new();
	if (!t || !t->kernel || idmap_set(&s->numbers, id, (uint32_t)s->count + 1)) {
		if (t)
			text_kernel_free(t->kernel);
		free(t);
		return NULL;
	}
	t->source = source;
	return at[s->count++] = t;
}

static bool is_meta(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

int tc_sources_meta(struct tc_sources *s, const struct source *source, const struct meta *m)
{
	struct tc_source *t = tc_source_of(s, source);
	struct buffer *b;

	if (!t)
		return -1;
	b = is_meta(m, "buffers") ? &t->buffers : is_meta(m, "options") ? &t->options : NULL;
	if (!b)
		return text_kernel_meta(t->kernel, m);
	if (m->offset != b->size || m->size > META_MOST - b->size)
		return 0;
	return buffer_append(b, m->data, m->size);
}

/* An option of the trace.dat. */
struct option {
	uint32_t id;
	const uint8_t *data;
	size_t size;
};

/* Read the next option from *at on. */
static bool next_option(const struct tc_source *t, size_t *at, struct option *o)
{
	const uint8_t *p = t->options.data ? t->options.data + *at : NULL;
	size_t left = t->options.size - *at;

	if (left < 8)
		return false;
	*o = (struct option){get_u32(p), p + 8, get_u32(p + 4)};
	if (o->size > left - 8)
		return false;
	*at += 8 + o->size;
	return true;
}

int tc_source_begin(struct tc_source *t)
{
	struct option option;
	size_t at = 0;

	if (t->ready)
		return 0;
	t->ready = true;
	while (next_option(t, &at, &option))
		t->has_clock = t->has_clock || option.id == TRACECMD_TRACECLOCK;
	return text_kernel_get(t->kernel, &t->names);
}

/* --- guests --- */

static bool has_id(const struct tc_source *t, uint64_t id, bool big)
{
	struct option o;
	size_t at = 0;

	while (next_option(t, &at, &o))
		if (o.id == TRACECMD_TRACEID && o.size >= 8 && get_uint(o.data, 8, big) == id)
			return true;
	return false;
}

/* Add the virtual CPUs of a guest whose trace is another source. The option: name, NUL, u64 id of
 * the trace, u32 number of virtual CPUs, u32 number and u32 thread of each. */
static int add_guest(struct tc_sources *s, const struct option *o, bool big)
{
	const uint8_t *end = o->data + o->size, *p = memchr(o->data, 0, o->size);
	struct tc_source *guest = NULL;
	uint64_t id;

	if (!p || end - p < 13)
		return 0;
	id = get_uint(p + 1, 8, big);
	for (size_t i = 1; i < s->count && !guest; i++)
		if (has_id(s->at[i], id, big))
			guest = s->at[i];
	if (!guest)
		return 0;
	if (tc_source_begin(guest))
		return -1;
	for (p += 13; end - p >= 8; p += 8) {
		struct tc_vcpu *vcpus;

		if (ARRAY_GROW(s->vcpus, s->vcpus_capacity, s->nvcpus))
			return -1;
		vcpus = s->vcpus;
		vcpus[s->nvcpus++] = (struct tc_vcpu){(uint32_t)get_uint(p + 4, 4, big), guest};
	}
	return 0;
}

static int by_tid(const void *a, const void *b)
{
	const struct tc_vcpu *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

const struct print_kernel *tc_guest(struct tc_sources *s, uint32_t tid, bool big)
{
	struct tc_vcpu key = {.tid = tid}, *found;
	struct option o;
	size_t at = 0;

	if (!s->has_vcpus) {
		s->has_vcpus = true;
		while (s->count > 1 && next_option(s->at[0], &at, &o))
			if (o.id == TRACECMD_GUEST && add_guest(s, &o, big))
				return NULL;
		if (s->nvcpus)
			qsort(s->vcpus, s->nvcpus, sizeof key, by_tid);
	}
	if (!s->nvcpus)
		return NULL;
	found = bsearch(&key, s->vcpus, s->nvcpus, sizeof key, by_tid);
	return found ? &found->guest->names : NULL;
}

/* Read the next line of the META block "buffers" from *at on: name and number of CPUs. */
static bool next_buffer(const struct tc_source *t, size_t *at, const char **name, size_t *size,
			uint64_t *cpus)
{
	struct lines l = lines_of((const char *)t->buffers.data, t->buffers.size);
	const char *p, *end, *q;

	if (*at >= t->buffers.size)
		return false;
	l.next += *at;
	lines_next(&l);
	p = l.line;
	q = p + l.size;
	*at = t->buffers.size - (size_t)(l.end - l.next);
	*name = p;
	end = memchr(p, '\t', (size_t)(q - p));
	*size = (size_t)((end ? end : q) - p);
	*cpus = 0;
	for (end = q; end > p && end[-1] >= '0' && end[-1] <= '9';)
		end--;
	for (; end < q; end++)
		*cpus = *cpus * 10 + (uint64_t)(*end - '0');
	return true;
}

static const char *file_name(const struct source *source)
{
	const char *slash = strrchr(source->name.text, '/');

	return slash ? slash + 1 : source->name.text;
}

/* Set the width of the column to the longest name of a file, if there are several, or of an
 * instance. */
static void find_width(struct tc_sources *s)
{
	size_t width = 0, n;

	for (size_t i = 0; i < s->count; i++) {
		size_t at = 0, size;
		const char *name;
		uint64_t cpus;

		while (next_buffer(s->at[i], &at, &name, &size, &cpus))
			if (size > width)
				width = size;
		n = s->count > 1 && s->at[i]->source ? strlen(file_name(s->at[i]->source)) : 0;
		if (n > width)
			width = n;
	}
	s->width = (int)(width < 256 ? width : 256);
}

static void put_prefix(const struct tc_sources *s, const char *name, size_t n, struct line *out)
{
	size_t start = out->size;

	if (!s->width)
		return;
	line_put(out, name, n);
	line_column(out, start, s->width, s->width, false);
	line_puts(out, n ? ": " : "  ");
}

void tc_prefix(const struct tc_sources *s, const struct lane *lane, struct line *out)
{
	const char *name = "";

	if (lane->buffer.size) {
		put_prefix(s, lane->buffer.text, lane->buffer.size, out);
		return;
	}
	if (s->count > 1 && lane->source)
		name = file_name(lane->source);
	put_prefix(s, name, strlen(name), out);
}

void tc_header(struct tc_sources *s, struct line *out)
{
	if (s->header)
		return;
	s->header = true;
	find_width(s);
	for (size_t i = 0; i < s->count; i++) {
		const struct tc_source *t = s->at[i];
		const char *name;
		size_t at = 0, size;
		uint64_t cpus = 0;

		if (!next_buffer(t, &at, &name, &size, &cpus))
			continue;
		if (s->count > 1 && t->source)
			put_prefix(s, file_name(t->source), strlen(file_name(t->source)), out);
		line_puts(out, "cpus=");
		line_u64(out, cpus);
		line_char(out, '\n');
	}
}

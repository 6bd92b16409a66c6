#include "cmd/trencode/text/uftrace/recording.h"

#include <stdlib.h>

#include "common/formats/uftrace.h"

enum {
	OPTIONS_MOST = 4096,
	STACK_MOST = 65536, /* depths of rows have 16 bits */
	DEPTH_SHOWN = 1024, /* the default of uftrace */
};

void recording_free(struct recording *r)
{
	if (!r)
		return;
	replay_free(&r->replay);
	text_symbols_free(r->symbols);
	kernel_events_free(r->kernel);
	duration_threshold_free(r->threshold);
	buffer_free(&r->info);
	buffer_free(&r->options);
	free(r);
}

struct recording *recording_new(const struct source *source)
{
	struct recording *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->source = source;
	r->symbols = text_symbols_new();
	r->kernel = kernel_events_new();
	if (!r->symbols || !r->kernel) {
		recording_free(r);
		return NULL;
	}
	return r;
}

/* Append to the beginning of a file, of most bytes. */
static int append_beginning(struct buffer *b, const struct meta *m, size_t most)
{
	size_t n = most - b->size < m->size ? most - b->size : m->size;

	return m->offset != b->size || !n ? 0 : buffer_append(b, m->data, n);
}

static bool is_meta(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

int recording_meta(struct recording *r, const struct meta *m)
{
	if (m->flags & META_REFERENCE)
		return 0;
	if (is_meta(m, "info"))
		return append_beginning(&r->info, m, UFTRACE_HEADER_SIZE);
	if (is_meta(m, "default.opts"))
		return append_beginning(&r->options, m, OPTIONS_MOST);
	return text_symbols_meta(r->symbols, m) || kernel_events_meta(r->kernel, m) ? -1 : 0;
}

/* Read the largest depth of a stack, and whether the recording is recent. */
static int read_max_stack(struct recording *r)
{
	const uint8_t *p = r->info.data;
	uint64_t features;
	bool big;
	unsigned size;

	if (r->info.size < UFTRACE_HEADER_SIZE || memcmp(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE))
		return STACK_MOST;
	big = p[UFTRACE_HDR_ENDIAN] == 2;
	features = get_uint(p + UFTRACE_HDR_FEAT_MASK, 8, big);
	r->recent = features & UFTRACE_FEAT_SYM_SIZE;
	if (!(features & UFTRACE_FEAT_MAX_STACK))
		return UFTRACE_MAX_STACK;
	size = (unsigned)get_uint(p + UFTRACE_HDR_MAX_STACK, 2, big);
	return size ? (int)size : UFTRACE_MAX_STACK;
}

/* Return the argument of -t in "-t 100us", "-t100us", "--time-filter=100us" or "--time-filter
 * 100us". */
static const char *time_option(const char *word, char **rest)
{
	static const char *const names[] = {"-t", "--time-filter="};

	if (!strcmp(word, "-t") || !strcmp(word, "--time-filter"))
		return strtok_r(NULL, " \t\r\n", rest);
	for (size_t i = 0; i < 2; i++)
		if (!strncmp(word, names[i], strlen(names[i])))
			return word + strlen(names[i]);
	return NULL;
}

static int read_options(struct recording *r)
{
	uint64_t limit = 0;
	char *rest, *word;

	if (buffer_append(&r->options, "", 1))
		return -1;
	word = strtok_r((char *)r->options.data, " \t\r\n", &rest);
	for (; word; word = strtok_r(NULL, " \t\r\n", &rest)) {
		const char *arg = time_option(word, &rest);

		if (!arg || !duration_threshold_parse(arg, &limit))
			r->odd_options = true;
	}
	if (limit) {
		r->threshold = duration_threshold_new(limit);
		if (!r->threshold)
			return -1;
	}
	return 0;
}

int recording_begin(struct recording *r, int32_t depth)
{
	r->ready = true;
	replay_init(&r->replay, read_max_stack(r), depth ? depth : DEPTH_SHOWN);
	return read_options(r);
}

#include "cmd/trsym/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* bytes. A kernel has some 10 MB of symbols. */
enum { SIZE_MAX_READ = 1 << 30, PIECE = 1 << 16 };

struct kallsyms_source {
	bool has_own;
	bool sent;
};

static int read_file(const char *path, struct buffer *b, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return error_errno(e, path, NO_OFFSET, "cannot open");
	while (n > 0) {
		if (b->size > SIZE_MAX_READ || buffer_reserve(b, PIECE)) {
			close(fd);
			return error_set(e, path, NO_OFFSET, "too large");
		}
		do
			n = read(fd, b->data + b->size, PIECE);
		while (n < 0 && errno == EINTR);
		if (n > 0)
			b->size += (size_t)n;
	}
	if (n < 0)
		error_errno(e, path, NO_OFFSET, "cannot read");
	close(fd);
	return n < 0 ? -1 : 0;
}

int kallsyms_read(struct kallsyms *k, const char *path, struct error *e)
{
	if (read_file(path, &k->text, e))
		return -1;
	k->symbols = symbols_from_kallsyms((const char *)k->text.data, k->text.size);
	if (!k->symbols)
		return error_set(e, path, NO_OFFSET, "out of memory");
	if (symbols_hidden(k->symbols))
		return error_set(
			e, path, NO_OFFSET,
			"every address is 0: copy the file as root (see kernel.kptr_restrict)");
	if (!symbols_count(k->symbols))
		return error_set(e, path, NO_OFFSET, "not a copy of /proc/kallsyms");
	return 0;
}

void kallsyms_free(struct kallsyms *k)
{
	buffer_free(&k->text);
	symbols_free(k->symbols);
	free(k->sources);
	free(k->pending);
	*k = (struct kallsyms){0};
}

static struct kallsyms_source *source_of(struct kallsyms *k, uint32_t number)
{
	struct kallsyms_source *sources;

	if (ARRAY_REACH(k->sources, k->nsources, number))
		return NULL;
	sources = k->sources;
	return &sources[number];
}

int kallsyms_meta(struct kallsyms *k, const struct meta *m)
{
	struct kallsyms_source *source;

	if (!k->symbols || m->name_size != 8 || memcmp(m->name, "kallsyms", 8))
		return 0;
	source = source_of(k, m->source);
	if (!source)
		return -1;
	source->has_own = true;
	return 0;
}

int kallsyms_declared(struct kallsyms *k, const struct block *b)
{
	size_t at = 0;
	uint32_t id;

	while (k->symbols && entry_next_of(ENTRY_SOURCE, b->payload, b->length, &at, &id)) {
		uint32_t *pending;

		if (ARRAY_GROW(k->pending, k->capacity, k->npending))
			return -1;
		pending = k->pending;
		pending[k->npending++] = id;
	}
	return 0;
}

int kallsyms_send(struct kallsyms *k, struct writer *w, const struct dictionary *d)
{
	for (size_t i = 0; i < k->npending; i++) {
		uint32_t number = idmap_get(&d->ids[ENTRY_SOURCE], k->pending[i]);
		const struct source *source = number ? pool_at(&d->sources, number) : NULL;
		struct kallsyms_source *state;

		if (!source || strcmp(source->format.text, "trace-cmd"))
			continue;
		state = source_of(k, number);
		if (!state)
			return error_set(&w->error, NULL, NO_OFFSET, "out of memory");
		if (state->has_own)
			continue;
		if (writer_pass_meta(w, k->pending[i], "kallsyms", k->text.data, k->text.size,
				     state->sent))
			return -1;
		state->sent = true;
	}
	k->npending = 0;
	return 0;
}

int kallsyms_check(const struct kallsyms *k, const struct dictionary *d, struct error *e)
{
	for (uint32_t i = 1; i < d->spaces.count; i++)
		if (((const struct space *)pool_at(&d->spaces, i))->flags & SPACE_KERNEL)
			return 0;
	for (uint32_t i = 1; i < d->sources.count; i++)
		if (!strcmp(((const struct source *)pool_at(&d->sources, i))->format.text,
			    "trace-cmd"))
			return 0;
	if (!k->symbols || d->sources.count < 2)
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--kallsyms has no effect: this trace has no kernel");
}

#include "cmd/trdecode/tracecmd/header.h"

#include <stdlib.h>

#include "common/formats/tracecmd.h"

enum { SYSTEMS_LIMIT = 65536, EVENTS_LIMIT_EACH = 65536, NAME_LIMIT = 4096 };

bool tracecmd_good_page_size(uint64_t size)
{
	return size >= 1024 && size <= 1 << 26 && !(size & (size - 1));
}

int tracecmd_read_text(struct cursor *c, unsigned size, struct buffer *b, struct error *e)
{
	uint64_t n;

	b->size = 0;
	return cursor_number(c, size, &n, e) || cursor_append(c, b, n, e) ? -1 : 0;
}

static int read_tag(struct cursor *c, const char *want, size_t n, struct error *e)
{
	char have[16];

	if (cursor_bytes(c, have, n, e))
		return -1;
	if (memcmp(have, want, n))
		return error_set(e, c->file->name, cursor_offset(c), "'%s' is missing here", want);
	return 0;
}

int tracecmd_read_header_info(struct tracecmd_header *h, struct cursor *c, struct error *e)
{
	if (read_tag(c, TRACECMD_HEADER_PAGE, sizeof TRACECMD_HEADER_PAGE, e) ||
	    tracecmd_read_text(c, 8, &h->header_page, e) ||
	    read_tag(c, TRACECMD_HEADER_EVENT, sizeof TRACECMD_HEADER_EVENT, e))
		return -1;
	return tracecmd_read_text(c, 8, &h->header_event, e);
}

static int read_format(struct tracecmd_header *h, struct cursor *c, const char *system,
		       struct error *e)
{
	struct tracecmd_format_text *f;
	struct buffer text = {0};

	if (tracecmd_read_text(c, 8, &text, e)) {
		buffer_free(&text);
		return -1;
	}
	if (ARRAY_GROW(h->formats, h->formats_capacity, h->nformats)) {
		buffer_free(&text);
		return error_no_memory(e);
	}
	f = h->formats;
	f[h->nformats] =
		(struct tracecmd_format_text){strdup(system), (char *)text.data, text.size};
	if (!f[h->nformats++].system)
		return error_no_memory(e);
	return 0;
}

static int read_system(struct tracecmd_header *h, struct cursor *c, const char *system,
		       struct error *e)
{
	uint64_t n;

	if (cursor_number(c, 4, &n, e))
		return -1;
	if (n > EVENTS_LIMIT_EACH)
		return error_set(e, c->file->name, cursor_offset(c), "%llu events in one system",
				 (unsigned long long)n);
	while (n--)
		if (read_format(h, c, system, e))
			return -1;
	return 0;
}

int tracecmd_read_ftrace_events(struct tracecmd_header *h, struct cursor *c, struct error *e)
{
	return read_system(h, c, "ftrace", e);
}

int tracecmd_read_events(struct tracecmd_header *h, struct cursor *c, struct error *e)
{
	struct buffer name = {0};
	uint64_t n;
	int result = cursor_number(c, 4, &n, e);

	if (!result && n > SYSTEMS_LIMIT)
		result = error_set(e, c->file->name, cursor_offset(c), "%llu systems of events",
				   (unsigned long long)n);
	while (!result && n--) {
		name.size = 0;
		result = cursor_text(c, &name, NAME_LIMIT, e);
		if (!result)
			result = read_system(h, c, (char *)name.data, e);
	}
	buffer_free(&name);
	return result;
}

struct tracecmd_buffer *tracecmd_add_buffer(struct tracecmd_header *h, const char *name, size_t n)
{
	struct tracecmd_buffer *b;

	if (ARRAY_GROW(h->buffers, h->buffers_capacity, h->nbuffers))
		return NULL;
	b = h->buffers;
	b += h->nbuffers;
	*b = (struct tracecmd_buffer){.name = strndup(name, n), .page_size = h->page_size};
	if (!b->name)
		return NULL;
	h->nbuffers++;
	return b;
}

int tracecmd_add_row(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t cpu,
		     uint64_t offset, uint64_t size, struct error *e)
{
	struct tracecmd_row *r;
	uint64_t have = offset < h->file.size ? h->file.size - offset : 0;

	if (!size)
		return 0;
	if (cpu > INT32_MAX) {
		input_damage(h->input, h->file.name, offset, "data of a CPU without a number");
		return 0;
	}
	if (size > have) {
		input_short(h->input, h->file.name, h->file.size,
			    "the file ends %llu byte%s before the end of the data of CPU %llu",
			    (unsigned long long)(size - have), size - have == 1 ? "" : "s",
			    (unsigned long long)cpu);
		size = have;
	}
	if (!size)
		return 0;
	if (ARRAY_GROW(b->rows, b->rows_capacity, b->nrows))
		return error_no_memory(e);
	r = b->rows;
	r[b->nrows++] = (struct tracecmd_row){(uint32_t)cpu, offset, size};
	return 0;
}

/* Read a short text of the prefix. */
static int prefix_text(struct cursor *c, char *out, size_t size, struct error *e)
{
	struct buffer b = {0};
	int result = cursor_text(c, &b, TRACECMD_TEXT_LIMIT, e);

	if (!result) {
		size_t n = b.size < size - 1 ? b.size : size - 1;

		memcpy(out, b.data, n);
		out[n] = '\0';
	}
	buffer_free(&b);
	return result;
}

static int read_prefix(struct tracecmd_header *h, struct cursor *c, uint64_t *options,
		       struct error *e)
{
	char version[16];
	uint64_t n;

	c->pos = TRACECMD_MAGIC_SIZE;
	if (prefix_text(c, version, sizeof version, e))
		return -1;
	h->version = (unsigned)atoi(version);
	if (h->version < 1 || h->version > 7)
		return error_set(e, h->file.name, TRACECMD_MAGIC_SIZE,
				 "version '%.8s' of trace.dat is not supported (6 and 7 are)",
				 version);
	if (cursor_number(c, 1, &n, e))
		return -1;
	if (n > 1)
		return error_set(e, h->file.name, cursor_offset(c) - 1,
				 "neither little-endian nor big-endian");
	h->big_endian = c->big_endian = n;
	if (cursor_number(c, 1, &n, e))
		return -1;
	h->program_long = n == 4 ? 4 : 8;
	if (cursor_number(c, 4, &n, e))
		return -1;
	h->page_size = (uint32_t)n;
	if (h->version < 7)
		return 0;
	return prefix_text(c, h->compression, sizeof h->compression, e) ||
			       prefix_text(c, h->compression_version, sizeof h->compression_version,
					   e) ||
			       cursor_number(c, 8, options, e)
		       ? -1
		       : 0;
}

int tracecmd_header_read(struct tracecmd_header *h, struct input *in, struct error *e)
{
	struct cursor c = {.file = &h->file, .size = h->file.size};
	uint64_t options = 0;
	struct error damage = {.what = ""};
	int result;

	h->input = in;
	if (read_prefix(h, &c, &options, e))
		return -1;
	h->unpacker.method = tracecmd_compression(h->compression);
	/* damage after the prefix: what was read before the damage is kept */
	result = h->version < 7 ? tracecmd_read_v6(h, c.pos, &damage)
				: tracecmd_read_v7(h, c.pos, options, &damage);
	if (result && !damage.file[0]) {
		*e = damage;
		return -1;
	}
	if (result)
		input_damage_error(in, &damage);
	return 0;
}

void tracecmd_header_free(struct tracecmd_header *h)
{
	struct buffer *const texts[] = {&h->header_page, &h->header_event, &h->kallsyms,
					&h->printk,	 &h->cmdlines,	   &h->btf,
					&h->modules,	 &h->options};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		buffer_free(texts[i]);
	for (size_t i = 0; i < h->nformats; i++) {
		free(h->formats[i].system);
		free(h->formats[i].text);
	}
	for (size_t i = 0; i < h->nbuffers; i++) {
		free(h->buffers[i].name);
		free(h->buffers[i].clock);
		free(h->buffers[i].rows);
	}
	for (size_t i = 0; i < h->link.nsync; i++)
		free(h->link.sync[i].sample);
	free(h->link.sync);
	free(h->link.guests);
	free(h->formats);
	free(h->buffers);
	free(h->times.clock);
	free(h->uname);
	free(h->recorder);
	tracecmd_unpacker_free(&h->unpacker);
	tracecmd_file_close(&h->file);
}

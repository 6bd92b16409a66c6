/*
 * v6.c - read version 6: a header that is read from its start to the tables of the CPUs' data
 */
#include "cmd/trdecode/tracecmd/header.h"

#include <stdlib.h>

#include "common/formats/tracecmd.h"

enum { CPUS_LIMIT = 65536, SEARCH_PIECE = 65536, SEARCH_LIMIT = 64 << 20 };

struct instance {
	uint64_t offset;
	char *name;
};

struct instances {
	struct instance *at;
	size_t count, capacity;
};

static int add_instance(struct tracecmd_header *h, struct instances *list, const uint8_t *data,
			size_t n, struct error *e)
{
	struct instance *i;

	if (n < 9) {
		input_damage(h->input, h->file.name, NO_OFFSET, "an instance without a name");
		return 0;
	}
	if (ARRAY_GROW(list->at, list->capacity, list->count))
		return error_no_memory(e);
	i = list->at;
	i[list->count] = (struct instance){get_uint(data, 8, h->big_endian),
					   strndup((const char *)data + 8, n - 8)};
	if (!i[list->count++].name)
		return error_no_memory(e);
	return 0;
}

static int read_options(struct tracecmd_header *h, struct cursor *c, struct instances *list,
			struct error *e)
{
	struct buffer payload = {0};
	uint64_t id, size;
	int result;

	for (;;) {
		result = cursor_number(c, 2, &id, e);
		if (result || id == TRACECMD_DONE)
			break;
		payload.size = 0;
		result = cursor_number(c, 4, &size, e);
		if (!result && size > cursor_left(c))
			result = error_set(e, h->file.name, cursor_offset(c),
					   "option %u of %llu bytes reaches beyond the file",
					   (unsigned)id, (unsigned long long)size);
		if (!result)
			result = cursor_append(c, &payload, size, e);
		if (!result && id == TRACECMD_BUFFER)
			result = add_instance(h, list, payload.data, payload.size, e);
		else if (!result)
			result = tracecmd_option(h, (uint16_t)id, payload.data, payload.size, e);
		if (result)
			break;
	}
	buffer_free(&payload);
	return result;
}

/* Find, after a damaged option, the tag that follows the options. */
static int find_data(struct tracecmd_header *h, struct cursor *c, struct error *e)
{
	uint64_t limit = cursor_left(c) < SEARCH_LIMIT ? c->size : c->pos + SEARCH_LIMIT;
	uint8_t *piece = malloc(SEARCH_PIECE);
	int result = -1;

	if (!piece)
		return error_no_memory(e);
	while (c->pos < limit) {
		ssize_t n = tracecmd_file_read(&h->file, piece, SEARCH_PIECE, c->pos, e);
		const uint8_t *found;

		if (n < TRACECMD_TAG_SIZE)
			break;
		found = memmem(piece, (size_t)n, TRACECMD_TAG_DATA, TRACECMD_TAG_SIZE);
		if (found) {
			c->pos += (uint64_t)(found - piece);
			result = 0;
			break;
		}
		c->pos += (uint64_t)n - TRACECMD_TAG_SIZE + 1;
	}
	free(piece);
	return result;
}

/* Read the table of the CPUs' data, from its tag to the clock's name. */
static int read_table(struct tracecmd_header *h, struct tracecmd_buffer *b, struct cursor *c,
		      struct error *e)
{
	struct buffer clock = {0};
	uint64_t first = UINT64_MAX, offset, size, n;
	struct error none;

	for (uint32_t cpu = 0; cpu < h->cpus; cpu++) {
		if (cursor_number(c, 8, &offset, e) || cursor_number(c, 8, &size, e) ||
		    tracecmd_add_row(h, b, cpu, offset, size, e))
			return -1;
		if (offset < first)
			first = offset;
	}
	/* old files have zeros at this offset, or data */
	if (!cursor_number(c, 8, &n, &none) && n && n <= TRACECMD_TEXT_LIMIT &&
	    c->pos + n <= first && !cursor_append(c, &clock, n, &none)) {
		b->clock = tracecmd_clock_name((char *)clock.data, clock.size);
		buffer_free(&clock);
		if (!b->clock)
			return error_no_memory(e);
		return 0;
	}
	buffer_free(&clock);
	return 0;
}

static int read_instance(struct tracecmd_header *h, const struct instance *i, struct error *e)
{
	struct cursor c = {.file = &h->file,
			   .size = h->file.size,
			   .pos = i->offset,
			   .big_endian = h->big_endian};
	struct tracecmd_buffer *b;
	char tag[TRACECMD_TAG_SIZE];

	if (i->offset >= h->file.size)
		return error_set(e, h->file.name, h->file.size,
				 "the file ends before the data of instance '%.64s'", i->name);
	if (cursor_bytes(&c, tag, sizeof tag, e))
		return -1;
	if (memcmp(tag, TRACECMD_TAG_DATA, sizeof tag))
		return error_set(e, h->file.name, i->offset, "no data of instance '%.64s' here",
				 i->name);
	b = tracecmd_add_buffer(h, i->name, strlen(i->name));
	if (!b)
		return error_no_memory(e);
	return read_table(h, b, &c, e);
}

/* Read what follows the tag. */
static int read_data(struct tracecmd_header *h, struct cursor *c, const char *tag, struct error *e)
{
	struct tracecmd_buffer *top = tracecmd_add_buffer(h, "", 0);

	if (!top)
		return error_no_memory(e);
	if (!memcmp(tag, TRACECMD_TAG_LATENCY, TRACECMD_TAG_SIZE)) {
		top->text = true;
		top->text_offset = c->pos;
		top->text_size = cursor_left(c);
		return 0;
	}
	if (memcmp(tag, TRACECMD_TAG_DATA, TRACECMD_TAG_SIZE))
		return error_set(e, h->file.name, cursor_offset(c) - TRACECMD_TAG_SIZE,
				 "neither options nor data where they should begin");
	return read_table(h, top, c, e);
}

static int read_behind_texts(struct tracecmd_header *h, struct cursor *c, struct instances *list,
			     struct error *e)
{
	char tag[TRACECMD_TAG_SIZE];
	struct error damage;
	uint64_t n;

	if (cursor_number(c, 4, &n, e))
		return -1;
	if (n > CPUS_LIMIT)
		return error_set(e, h->file.name, cursor_offset(c) - 4, "a file of %llu CPUs",
				 (unsigned long long)n);
	h->cpus = (uint32_t)n;
	if (cursor_bytes(c, tag, sizeof tag, e))
		return -1;
	if (!memcmp(tag, TRACECMD_TAG_OPTIONS, sizeof tag)) {
		uint64_t begin = c->pos;

		if (read_options(h, c, list, &damage)) {
			if (!damage.file[0]) {
				*e = damage;
				return -1;
			}
			input_damage_error(h->input, &damage);
			c->pos = begin;
			if (find_data(h, c, e))
				return error_set(e, h->file.name, begin,
						 "no data after the options");
		}
		if (cursor_bytes(c, tag, sizeof tag, e))
			return -1;
		if (h->cpus > CPUS_LIMIT)
			return error_set(e, h->file.name, begin, "a file of %u CPUs", h->cpus);
	}
	return read_data(h, c, tag, e);
}

int tracecmd_read_v6(struct tracecmd_header *h, uint64_t at, struct error *e)
{
	struct cursor c = {
		.file = &h->file, .size = h->file.size, .pos = at, .big_endian = h->big_endian};
	struct instances list = {0};
	int result = -1;

	if (tracecmd_read_header_info(h, &c, e) || tracecmd_read_ftrace_events(h, &c, e) ||
	    tracecmd_read_events(h, &c, e) || tracecmd_read_text(&c, 4, &h->kallsyms, e) ||
	    tracecmd_read_text(&c, 4, &h->printk, e) ||
	    tracecmd_read_text(&c, 8, &h->cmdlines, e) || read_behind_texts(h, &c, &list, e))
		goto out;
	result = 0;
out:
	/* an instance does not need the top buffer's table */
	for (size_t i = 0; i < list.count; i++) {
		struct error damage;

		if (read_instance(h, &list.at[i], &damage)) {
			if (!damage.file[0]) {
				*e = damage;
				result = -1;
				break;
			}
			input_damage_error(h->input, &damage);
		}
	}
	for (size_t i = 0; i < list.count; i++)
		free(list.at[i].name);
	free(list.at);
	return result;
}

/*
 * v7.c - read version 7: sections that are found through chained lists of options
 */
#include "cmd/trdecode/tracecmd/scan.h"

#include <stdlib.h>

#include "common/formats/tracecmd.h"

enum { CHAIN_LIMIT = 1024, SECTION_NAME_LIMIT = 4096 };

/* Report damage. Returns -1 if out of memory. */
static int report_damage(struct tracecmd_header *h, const struct error *damage, struct error *e)
{
	if (!damage->file[0]) {
		*e = *damage;
		return -1;
	}
	if (h->v7.cut)
		input_short(h->input, damage->file, damage->offset, "%s", damage->what);
	else
		input_damage_error(h->input, damage);
	return 0;
}

/* Read the header of the section with that id. */
static int read_section(struct tracecmd_header *h, uint64_t at, int id, struct tracecmd_section *s,
			struct error *e)
{
	if (at >= h->file.size || h->file.size - at < TRACECMD_SECTION_HEADER)
		h->v7.cut = true;
	if (at >= h->file.size)
		return error_set(e, h->file.name, h->file.size,
				 "the file ends before its section %d at 0x%llx", id,
				 (unsigned long long)at);
	if (tracecmd_section_header(h, at, s, e))
		return -1;
	if (s->id != id)
		return error_set(e, h->file.name, at, "section %d is not here (but %u)", id, s->id);
	if (s->size > h->file.size - s->offset)
		h->v7.cut = true;
	return 0;
}

/* Open the body of a metadata section, unpacked into b where it is packed. */
static int open_section(struct tracecmd_header *h, const struct tracecmd_section *s,
			struct buffer *b, struct cursor *body, struct error *e)
{
	struct cursor c = {.file = &h->file,
			   .base = s->offset,
			   .size = h->file.size - s->offset,
			   .big_endian = h->big_endian};
	struct buffer packed = {0};
	const char *what;
	uint64_t n, size;
	int result;

	if (s->size < c.size)
		c.size = s->size;
	*body = c;
	if (!s->compressed)
		return 0;
	if (cursor_number(&c, 4, &n, e) || cursor_number(&c, 4, &size, e))
		return -1;
	if (size > TRACECMD_UNPACKED_LIMIT)
		return error_set(e, h->file.name, s->offset, "a section of %llu bytes",
				 (unsigned long long)size);
	result = cursor_append(&c, &packed, n, e);
	if (!result) {
		result = tracecmd_unpack(&h->unpacker, packed.data, packed.size, (size_t)size, b,
					 &what);
		if (result)
			error_set(e, h->file.name, s->offset, "%s (section %u)", what, s->id);
	}
	buffer_free(&packed);
	*body = (struct cursor){.file = &h->file,
				.mem = b->data ? b->data : (const uint8_t *)"",
				.base = s->offset,
				.size = b->size,
				.big_endian = h->big_endian};
	return result;
}

static int read_body(struct tracecmd_header *h, uint16_t id, struct cursor *c, struct error *e)
{
	switch (id) {
	case TRACECMD_HEADER_INFO: return tracecmd_read_header_info(h, c, e);
	case TRACECMD_FTRACE_EVENTS: return tracecmd_read_ftrace_events(h, c, e);
	case TRACECMD_EVENT_FORMATS: return tracecmd_read_events(h, c, e);
	case TRACECMD_KALLSYMS: return tracecmd_read_text(c, 4, &h->kallsyms, e);
	case TRACECMD_PRINTK: return tracecmd_read_text(c, 4, &h->printk, e);
	case TRACECMD_CMDLINES: return tracecmd_read_text(c, 8, &h->cmdlines, e);
	case TRACECMD_BTF: h->btf.size = 0; return cursor_append(c, &h->btf, c->size, e);
	case TRACECMD_MODULES:
		h->modules.size = 0;
		return cursor_append(c, &h->modules, c->size, e);
	}
	return 0;
}

static int read_metadata(struct tracecmd_header *h, uint16_t id, uint64_t at, struct error *e)
{
	struct buffer b = {0};
	struct tracecmd_section s;
	struct cursor c;
	int result = read_section(h, at, id, &s, e);

	/* of equal sections the first counts */
	if (result || h->v7.read & 1u << id)
		return result;
	h->v7.read |= 1u << id;
	result = open_section(h, &s, &b, &c, e);
	if (!result)
		result = read_body(h, id, &c, e);
	buffer_free(&b);
	return result;
}

/* Read the names of a buffer and of its clock. NULL: *e is filled. */
static struct tracecmd_buffer *read_names(struct tracecmd_header *h, struct cursor *c,
					  struct error *e)
{
	struct buffer text = {0};
	struct tracecmd_buffer *b = NULL;

	if (cursor_text(c, &text, SECTION_NAME_LIMIT, e))
		goto failed;
	b = tracecmd_add_buffer(h, (char *)text.data, text.size);
	if (!b)
		goto no_memory;
	text.size = 0;
	if (cursor_text(c, &text, SECTION_NAME_LIMIT, e))
		goto failed;
	b->clock = tracecmd_clock_name((char *)text.data, text.size);
	if (!b->clock)
		goto no_memory;
	buffer_free(&text);
	return b;
no_memory:
	error_no_memory(e);
failed:
	buffer_free(&text);
	return NULL;
}

/* Find the lines of a buffer that is a text. */
static int read_lines(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t at,
		      struct error *e)
{
	struct tracecmd_section s = {0};

	b->text = true;
	if (read_section(h, at, TRACECMD_BUFFER_TEXT, &s, e))
		return -1;
	b->section = s.offset;
	b->chunks = s.compressed;
	b->text_offset = s.offset;
	b->text_size = h->file.size - s.offset;
	if (s.size < b->text_size)
		b->text_size = s.size;
	return 0;
}

/* Read a BUFFER or BUFFER_TEXT option. */
static int read_buffer(struct tracecmd_header *h, uint16_t id, struct cursor *c, struct error *e)
{
	struct tracecmd_section s = {0};
	struct tracecmd_buffer *b;
	struct error damage;
	uint64_t at, page_size, rows, cpu, offset, size;

	if (cursor_number(c, 8, &at, e))
		return -1;
	b = read_names(h, c, e);
	if (!b)
		return -1;
	if (id == TRACECMD_BUFFER_TEXT)
		return read_lines(h, b, at, e);
	if (cursor_number(c, 4, &page_size, e) || cursor_number(c, 4, &rows, e))
		return -1;
	b->page_size = (uint32_t)page_size;
	if (!rows)
		return 0;
	/* the option has the CPUs' offsets: without the section only its flag is guessed */
	if (read_section(h, at, id, &s, &damage)) {
		if (report_damage(h, &damage, e))
			return -1;
		s.compressed = h->unpacker.method != TRACECMD_NONE;
	}
	b->section = s.offset;
	b->chunks = s.compressed;
	while (rows--)
		if (cursor_number(c, 4, &cpu, e) || cursor_number(c, 8, &offset, e) ||
		    cursor_number(c, 8, &size, e) || tracecmd_add_row(h, b, cpu, offset, size, e))
			return -1;
	return 0;
}

static int section_option(struct tracecmd_header *h, uint16_t id, struct cursor *c, struct error *e)
{
	uint64_t at;

	if (id == TRACECMD_BUFFER || id == TRACECMD_BUFFER_TEXT)
		return read_buffer(h, id, c, e);
	return cursor_number(c, 8, &at, e) ? -1 : read_metadata(h, id, at, e);
}

static bool is_metadata(uint16_t id)
{
	return id == TRACECMD_BTF || id == TRACECMD_MODULES ||
	       (id >= TRACECMD_HEADER_INFO && id <= TRACECMD_CMDLINES);
}

static bool is_section(uint16_t id)
{
	return id == TRACECMD_BUFFER || id == TRACECMD_BUFFER_TEXT || is_metadata(id);
}

/* Read one option. Damage is reported, and the next option is read. -1: out of memory. */
static int one_option(struct tracecmd_header *h, uint16_t id, const uint8_t *data, size_t n,
		      uint64_t at, struct error *e)
{
	struct cursor c = {
		.file = &h->file, .mem = data, .base = at, .size = n, .big_endian = h->big_endian};
	struct error damage;
	int result;

	if (is_section(id))
		result = section_option(h, id, &c, &damage);
	else
		result = tracecmd_option(h, id, data, n, &damage);
	if (!result)
		return 0;
	h->v7.incomplete |= is_section(id);
	return report_damage(h, &damage, e);
}

/* Read the options of one section; *next: offset of the next list, 0: none. */
static int read_list(struct tracecmd_header *h, struct cursor *c, uint64_t *next, struct error *e)
{
	struct buffer payload = {0};
	uint64_t id, size;
	int result;

	*next = 0;
	for (;;) {
		uint64_t at = cursor_offset(c);

		if (!cursor_left(c)) {
			result = error_set(e, h->file.name, at, "options without an end");
			break;
		}
		result = cursor_number(c, 2, &id, e);
		if (!result)
			result = cursor_number(c, 4, &size, e);
		if (!result && id == TRACECMD_DONE) {
			result = size < 8 ? 0 : cursor_number(c, 8, next, e);
			break;
		}
		payload.size = 0;
		if (!result && size > cursor_left(c))
			result = error_set(e, h->file.name, at,
					   "option %u of %llu bytes reaches beyond its section",
					   (unsigned)id, (unsigned long long)size);
		if (!result)
			result = cursor_append(c, &payload, size, e);
		if (!result)
			result = one_option(h, (uint16_t)id, payload.data, payload.size, at, e);
		if (result)
			break;
	}
	buffer_free(&payload);
	return result;
}

/* Move the top buffer to the front, whatever the order of the options. */
static int top_first(struct tracecmd_header *h, struct error *e)
{
	for (size_t i = 0; i < h->nbuffers; i++)
		if (!*h->buffers[i].name) {
			struct tracecmd_buffer top = h->buffers[i];

			memmove(h->buffers + 1, h->buffers, i * sizeof top);
			h->buffers[0] = top;
			return 0;
		}
	if (h->nbuffers && !tracecmd_add_buffer(h, "", 0))
		return error_no_memory(e);
	if (h->nbuffers) {
		struct tracecmd_buffer top = h->buffers[h->nbuffers - 1];

		memmove(h->buffers + 1, h->buffers, (h->nbuffers - 1) * sizeof top);
		h->buffers[0] = top;
	}
	return 0;
}

/* The offsets of the lists of options that were read. */
struct chain {
	uint64_t at[CHAIN_LIMIT];
	size_t count;
};

static bool was_read(const struct chain *chain, uint64_t at)
{
	for (size_t i = 0; i < chain->count; i++)
		if (chain->at[i] == at)
			return true;
	return false;
}

/* Read the list of options at *at, which moves to the next list. */
static int read_options(struct tracecmd_header *h, struct chain *chain, uint64_t *at,
			struct error *e)
{
	struct tracecmd_section s;
	struct buffer b = {0};
	struct cursor c;
	int result;

	if (was_read(chain, *at))
		return error_set(e, h->file.name, *at, "the options lead back to here");
	if (chain->count >= CHAIN_LIMIT)
		return error_set(e, h->file.name, *at, "more than %d lists of options",
				 CHAIN_LIMIT);
	chain->at[chain->count++] = *at;
	result = read_section(h, *at, TRACECMD_DONE, &s, e);
	if (!result)
		result = open_section(h, &s, &b, &c, e);
	if (!result)
		result = read_list(h, &c, at, e);
	buffer_free(&b);
	return result;
}

static int read_chain(struct tracecmd_header *h, struct chain *chain, uint64_t at, struct error *e)
{
	if (!at)
		return error_set(e, h->file.name, NO_OFFSET,
				 "the recorder died before it wrote where the options are");
	while (at)
		if (read_options(h, chain, &at, e))
			return -1;
	return 0;
}

/* Read the sections that no option led to, in the order of the file. Texts and options are
 * first: they may name the buffers. */
static int scan_sections(struct tracecmd_header *h, struct chain *chain, uint64_t begin,
			 struct error *e)
{
	struct tracecmd_known known = {.added = 0};
	struct tracecmd_section s;
	struct error damage;
	uint64_t at = begin, here = at;
	int got;

	while ((got = tracecmd_next_section(h, &at, &s, e)) > 0) {
		uint64_t list = here;
		int result = 0;

		if (s.id == TRACECMD_DONE && !was_read(chain, here) && chain->count < CHAIN_LIMIT)
			result = read_options(h, chain, &list, &damage);
		else if (is_metadata(s.id) && !(h->v7.read & 1u << s.id))
			result = read_metadata(h, s.id, here, &damage);
		if (result && report_damage(h, &damage, e))
			return -1;
		here = at;
	}
	for (at = begin; !got && (got = tracecmd_next_section(h, &at, &s, e)) > 0; got = 0)
		if ((s.id == TRACECMD_BUFFER || s.id == TRACECMD_BUFFER_TEXT) &&
		    tracecmd_recover_buffer(h, &known, &s, e)) {
			got = -1;
			break;
		}
	tracecmd_known_free(&known);
	return got;
}

int tracecmd_read_v7(struct tracecmd_header *h, uint64_t at, uint64_t options, struct error *e)
{
	struct chain chain = {.count = 0};
	struct error damage;

	if (read_chain(h, &chain, options, &damage)) {
		if (report_damage(h, &damage, e))
			return -1;
		h->v7.incomplete = true;
	}
	if (h->v7.incomplete && scan_sections(h, &chain, at, e))
		return -1;
	return top_first(h, e);
}

#include "cmd/trdecode/tracecmd/scan.h"

#include <stdlib.h>

#include "common/formats/tracecmd.h"
#include "common/util/io.h"

/* The highest known id is 25; sections of later versions are skipped. */
enum { SECTION_IDS = 64, BUFFERS_LIMIT = 1024, CHUNKS_LIMIT = 1 << 26, UNPACKED_LIMIT = 64 << 20 };

int tracecmd_section_header(struct tracecmd_header *h, uint64_t at, struct tracecmd_section *s,
			    struct error *e)
{
	struct cursor c = {
		.file = &h->file, .size = h->file.size, .pos = at, .big_endian = h->big_endian};
	uint8_t bytes[TRACECMD_SECTION_HEADER];

	if (cursor_bytes(&c, bytes, sizeof bytes, e))
		return -1;
	s->id = (uint16_t)get_uint(bytes, 2, h->big_endian);
	s->compressed = get_uint(bytes + 2, 2, h->big_endian) & TRACECMD_COMPRESSED;
	s->size = get_uint(bytes + 8, 8, h->big_endian);
	s->offset = c.pos;
	return 0;
}

int tracecmd_next_section(struct tracecmd_header *h, uint64_t *at, struct tracecmd_section *s,
			  struct error *e)
{
	if (*at >= h->file.size || h->file.size - *at < TRACECMD_SECTION_HEADER)
		return 0;
	if (tracecmd_section_header(h, *at, s, e))
		return -1;
	if (s->id >= SECTION_IDS)
		return 0;
	*at = s->size > h->file.size - s->offset ? h->file.size : s->offset + s->size;
	return 1;
}

/* Read the u32 at an offset of the file. Return false if the range ends before. */
static bool word_at(struct tracecmd_header *h, uint64_t at, uint64_t end, uint32_t *word)
{
	uint8_t bytes[4];

	if (at > end || end - at < 4 || tracecmd_file_read(&h->file, bytes, 4, at, NULL) < 4)
		return false;
	*word = (uint32_t)get_uint(bytes, 4, h->big_endian);
	return true;
}

/* Read the head of a chunk; *next: offset after its data. Return false if there is no chunk. */
static bool chunk_at(struct tracecmd_header *h, uint64_t at, uint64_t end, uint64_t *next)
{
	uint32_t packed, size;

	if (!word_at(h, at, end, &packed) || !word_at(h, at + 4, end, &size) || !packed || !size ||
	    size % h->page_size || size > UNPACKED_LIMIT || packed > size + size / 8 + 64)
		return false;
	*next = at + 8 + packed;
	return true;
}

/* Return the size of the compressed data of a CPU that begin here, 0 if there are none. */
static uint64_t chunks_size(struct tracecmd_header *h, uint64_t at, uint64_t end)
{
	uint64_t p = at + 4, next;
	uint32_t count;

	if (!word_at(h, at, end, &count) || !count || count > CHUNKS_LIMIT)
		return 0;
	if (!chunk_at(h, p, end, &next))
		return 0;
	while (count--) {
		/* damage in a later chunk is reported when the chunk is read */
		if (!chunk_at(h, p, end, &next) || next > end)
			return end - at;
		p = next;
	}
	return p - at;
}

static int add_chunks(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t at,
		      uint64_t end, struct error *e)
{
	uint32_t cpu = 0;

	while (at < end) {
		uint64_t size = chunks_size(h, at, end);

		if (size && tracecmd_add_row(h, b, cpu++, at, size, e))
			return -1;
		at += size ? align_up(size, h->page_size) : h->page_size;
	}
	return 0;
}

static int add_pages(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t at,
		     uint64_t end, struct error *e)
{
	uint64_t begin = at, before = 0;
	uint32_t cpu = 0;

	for (; at < end && end - at >= 8; at += h->page_size) {
		uint8_t bytes[8];
		ssize_t got = tracecmd_file_read(&h->file, bytes, 8, at, e);
		uint64_t time = get_uint(bytes, 8, h->big_endian);

		if (got < 0)
			return -1;
		/* a page that was never written has no time */
		if (got < 8 || !time)
			continue;
		if (time < before) {
			if (tracecmd_add_row(h, b, cpu++, begin, at - begin, e))
				return -1;
			begin = at;
		}
		before = time;
	}
	return before ? tracecmd_add_row(h, b, cpu, begin, end - begin, e) : 0;
}

void tracecmd_known_free(struct tracecmd_known *k)
{
	intern_free(&k->sections);
	intern_free(&k->names);
}

/* Add the buffers that are not known yet. */
static int add_known(const struct tracecmd_header *h, struct tracecmd_known *k)
{
	for (; k->added < h->nbuffers; k->added++) {
		const struct tracecmd_buffer *b = &h->buffers[k->added];

		if (intern(&k->sections, &b->section, sizeof b->section) == INTERN_NONE ||
		    intern_string(&k->names, b->name) == INTERN_NONE)
			return -1;
	}
	return 0;
}

static bool known_name(const struct tracecmd_known *k, const char *name, size_t n)
{
	return intern_find(&k->names, name, n) != INTERN_NONE;
}

/* Return the name of an instance: statistics of CPUs name instances too, in the order of their
 * data. This is the first name without a buffer. */
static const char *instance_name(const struct tracecmd_header *h, struct tracecmd_known *k,
				 size_t *n)
{
	static const char head[] = "\nBuffer: ";
	const struct buffer *o = &h->options;

	while (k->stats + 8 <= o->size) {
		const uint8_t *p = o->data + k->stats;
		uint32_t id = get_u32(p), size = get_u32(p + 4);
		const char *text = (const char *)p + 8, *end;

		k->stats += 8 + size;
		if (id != TRACECMD_CPUSTAT || size < sizeof head ||
		    memcmp(text, head, sizeof head - 1))
			continue;
		text += sizeof head - 1;
		size -= sizeof head - 1;
		end = memchr(text, '\n', size);
		*n = end ? (size_t)(end - text) : 0;
		if (*n && !known_name(k, text, *n))
			return text;
	}
	*n = strlen("unnamed");
	return "unnamed";
}

static int add_rows(struct tracecmd_header *h, struct tracecmd_buffer *b, uint64_t end,
		    struct error *e)
{
	uint64_t begin = (b->section + h->page_size - 1) / h->page_size * h->page_size;

	return b->chunks ? add_chunks(h, b, begin, end, e) : add_pages(h, b, begin, end, e);
}

/* Report that the CPUs of a buffer are not known. Where a signal cut the file, that is no damage.
 */
static void report_lost_table(struct tracecmd_header *h, const struct tracecmd_buffer *b)
{
	static const char lost[] = "the table of this data%s%.64s is lost: its CPUs are numbered "
				   "in the order of the file";
	const char *of = *b->name ? " of instance " : "";

	if (!h->v7.cut || !io_cut())
		input_damage(h->input, h->file.name, b->section, lost, of, b->name);
	else if (!h->input->decoding->quiet)
		warn(h->file.name, b->section, lost, of, b->name);
}

int tracecmd_recover_buffer(struct tracecmd_header *h, struct tracecmd_known *k,
			    const struct tracecmd_section *s, struct error *e)
{
	uint64_t end = h->file.size;
	struct tracecmd_buffer *b;
	const char *name = "";
	size_t n = 0;

	if (add_known(h, k))
		return error_no_memory(e);
	if (intern_find(&k->sections, &s->offset, sizeof s->offset) != INTERN_NONE)
		return 0;
	if (!tracecmd_good_page_size(h->page_size) || s->offset >= end ||
	    h->nbuffers >= BUFFERS_LIMIT)
		return 0;
	if (s->size < end - s->offset)
		end = s->offset + s->size;
	if (known_name(k, "", 0))
		name = instance_name(h, k, &n);
	b = tracecmd_add_buffer(h, name, n);
	if (!b)
		return error_no_memory(e);
	b->section = s->offset;
	b->chunks = s->compressed;
	b->text = s->id == TRACECMD_BUFFER_TEXT;
	b->text_offset = s->offset;
	b->text_size = end - s->offset;
	if (b->text)
		return 0;
	report_lost_table(h, b);
	return add_rows(h, b, end, e);
}

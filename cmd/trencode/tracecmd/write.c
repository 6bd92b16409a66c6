/*
 * write.c - write a trace.dat from its parts
 *
 * Everything before the data is made twice: first to find its length, then with the offsets that
 * follow from the length. So the output may be a pipe.
 */
#include "common/formats/tracecmd.h"
#include "cmd/trencode/tracecmd/tracecmd.h"

/* The output and the bytes written so far. */
struct out {
	struct output *to;
	uint64_t at;
};

static int out_put(struct out *o, const void *data, size_t n, struct error *e)
{
	o->at += n;
	return n ? output_write(o->to, data, n, e) : 0;
}

static int out_put_zeros(struct out *o, uint64_t until, struct error *e)
{
	static const uint8_t zeros[4096];

	while (o->at < until) {
		uint64_t n = until - o->at;

		if (out_put(o, zeros, n < sizeof zeros ? (size_t)n : sizeof zeros, e))
			return -1;
	}
	return 0;
}

static bool is_packed(const struct tracecmd_state *s)
{
	return s->packer.method != TRACECMD_PLAIN;
}

static uint32_t alignment(const struct tracecmd_state *s, const struct tracecmd_buffer *b)
{
	return s->version == 6 ? s->page_size : b->page_size;
}

static int put_text(const struct tracecmd_state *s, struct buffer *b, const char *text)
{
	(void)s;
	return buffer_append(b, text, strlen(text) + 1);
}

static int append_prefix(const struct tracecmd_state *s, struct buffer *b)
{
	return buffer_append(b, TRACECMD_MAGIC, TRACECMD_MAGIC_SIZE) ||
			       put_text(s, b, s->version == 6 ? "6" : "7") ||
			       buffer_u8(b, s->big_endian) || buffer_u8(b, s->program_long) ||
			       tracecmd_number(s, b, s->page_size, 4)
		       ? -1
		       : 0;
}

/* Assign offsets to the data of a buffer whose header ends at `at`. Returns the end of the data. */
static uint64_t assign_data(struct tracecmd_state *s, const struct tracecmd_buffer *b, uint64_t at)
{
	for (size_t i = 0; i < b->count; i++) {
		struct tracecmd_stream *x = s->order[b->first + i];

		if (!b->text)
			at = align_up(at, alignment(s, b));
		x->offset = at;
		x->size = x->pieces.bytes + (is_packed(s) ? 4 : 0);
		at += x->size;
	}
	return at;
}

static int write_data(struct tracecmd_state *s, const struct tracecmd_buffer *b, struct out *o,
		      struct error *e)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct tracecmd_stream *x = s->order[b->first + i];
		uint8_t count[4];

		if (out_put_zeros(o, x->offset, e))
			return -1;
		tracecmd_put_uint(count, x->pieces.count, 4, s->big_endian);
		if (is_packed(s) && out_put(o, count, sizeof count, e))
			return -1;
		if (tracecmd_spool_copy(&s->spool, &x->pieces, o->to, e))
			return -1;
		o->at += x->pieces.bytes;
	}
	return 0;
}

/* --- version 6 --- */

/* Append the tag, the table of all CPUs and the clock of a buffer. */
static int append_table_v6(const struct tracecmd_state *s, const struct tracecmd_buffer *b,
			   uint64_t end, struct buffer *to)
{
	size_t i = 0, n = strlen(b->clock);

	if (buffer_append(to, TRACECMD_TAG_DATA, TRACECMD_TAG_SIZE))
		return -1;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		const struct tracecmd_stream *x = i < b->count ? s->order[b->first + i] : NULL;
		bool has = x && x->cpu == cpu;

		/* a CPU without data has the offset of the next data */
		if (tracecmd_number(s, to, x ? x->offset : end, 8) ||
		    tracecmd_number(s, to, has ? x->size : 0, 8))
			return -1;
		i += has;
	}
	if (!n)
		return tracecmd_number(s, to, 0, 8);
	return tracecmd_number(s, to, n + 2, 8) || buffer_u8(to, '[') ||
			       buffer_append(to, b->clock, n) || buffer_u8(to, ']')
		       ? -1
		       : 0;
}

static uint64_t table_size(const struct tracecmd_state *s, const struct tracecmd_buffer *b)
{
	size_t n = strlen(b->clock);

	return TRACECMD_TAG_SIZE + 16 * (uint64_t)s->cpus + 8 + (n ? n + 2 : 0);
}

/* Assign offsets to all buffers: `at` is that of the top buffer; the instances follow. */
static void assign_v6(struct tracecmd_state *s, uint64_t at)
{
	for (size_t i = 0; i < s->nbuffers; i++) {
		struct tracecmd_buffer *b = &s->buffers[i];

		b->offset = at;
		at = b->text ? at + TRACECMD_TAG_SIZE : at + table_size(s, b);
		at = assign_data(s, b, at);
		if (!b->text)
			at = align_up(at, s->page_size);
	}
}

static int options_v6(const struct tracecmd_state *s, struct buffer *b)
{
	if (buffer_append(b, TRACECMD_TAG_OPTIONS, TRACECMD_TAG_SIZE) || tracecmd_options(s, b))
		return -1;
	for (size_t i = 1; i < s->nbuffers; i++) {
		const struct tracecmd_buffer *x = &s->buffers[i];

		if (tracecmd_number(s, b, TRACECMD_BUFFER, 2) ||
		    tracecmd_number(s, b, 8 + strlen(x->name) + 1, 4) ||
		    tracecmd_number(s, b, x->offset, 8) || put_text(s, b, x->name))
			return -1;
	}
	return tracecmd_number(s, b, TRACECMD_DONE, 2);
}

static int head_v6(const struct tracecmd_state *s, struct buffer *b)
{
	return append_prefix(s, b) || tracecmd_header_info(s, b) || tracecmd_ftrace_formats(s, b) ||
			       tracecmd_event_formats(s, b) ||
			       tracecmd_sized(s, PART_KALLSYMS, 4, b) ||
			       tracecmd_sized(s, PART_PRINTK, 4, b) ||
			       tracecmd_sized(s, PART_CMDLINES, 8, b) ||
			       tracecmd_number(s, b, s->cpus, 4)
		       ? -1
		       : 0;
}

static int write_v6(struct tracecmd_state *s, struct out *o, struct buffer *b, struct error *e)
{
	size_t fixed;

	for (size_t i = 0; i < s->nbuffers; i++)
		if (s->buffers[i].text && (i || s->nbuffers > 1))
			return error_set(e, NULL, NO_OFFSET,
					 "version 6 of trace.dat cannot contain a latency trace "
					 "and other buffers: use --file-version 7");
	if (head_v6(s, b))
		return error_no_memory(e);
	fixed = b->size;
	if (options_v6(s, b))
		return error_no_memory(e);
	assign_v6(s, b->size);
	b->size = fixed;
	if (options_v6(s, b))
		return error_no_memory(e);
	for (size_t i = 0; i < s->nbuffers; i++) {
		struct tracecmd_buffer *x = &s->buffers[i];
		uint64_t end = i + 1 < s->nbuffers
				       ? s->buffers[i + 1].offset
				       : align_up(x->offset + table_size(s, x), s->page_size);

		if (i)
			b->size = 0;
		if (x->text ? buffer_append(b, TRACECMD_TAG_LATENCY, TRACECMD_TAG_SIZE)
			    : append_table_v6(s, x, end, b))
			return error_no_memory(e);
		if (out_put_zeros(o, i ? x->offset : 0, e) || out_put(o, b->data, b->size, e) ||
		    write_data(s, x, o, e))
			return -1;
	}
	/* readers require offsets of tables inside the file */
	return s->nbuffers == 1 && s->buffers[0].text
		       ? 0
		       : out_put_zeros(o, align_up(o->at, s->page_size), e);
}

/* --- version 7 --- */

/* One section before the data: the option that names it, and its offset in the file. */
struct section {
	uint16_t option;
	uint64_t offset;
};

/* All sections before the data. */
struct sections {
	struct section at[8];
	size_t count;
};

static int section_header(const struct tracecmd_state *s, uint16_t id, bool compressed,
			  uint64_t size, struct buffer *b)
{
	/* no string describes the section */
	return tracecmd_number(s, b, id, 2) ||
			       tracecmd_number(s, b, compressed ? TRACECMD_COMPRESSED : 0, 2) ||
			       tracecmd_number(s, b, UINT32_MAX, 4) ||
			       tracecmd_number(s, b, size, 8)
		       ? -1
		       : 0;
}

static int body_of(const struct tracecmd_state *s, uint16_t id, struct buffer *b)
{
	const struct buffer *raw = &s->parts[id == TRACECMD_BTF ? PART_BTF : PART_MODULES];

	switch (id) {
	case TRACECMD_HEADER_INFO: return tracecmd_header_info(s, b);
	case TRACECMD_FTRACE_EVENTS: return tracecmd_ftrace_formats(s, b);
	case TRACECMD_EVENT_FORMATS: return tracecmd_event_formats(s, b);
	case TRACECMD_KALLSYMS: return tracecmd_sized(s, PART_KALLSYMS, 4, b);
	case TRACECMD_PRINTK: return tracecmd_sized(s, PART_PRINTK, 4, b);
	case TRACECMD_CMDLINES: return tracecmd_sized(s, PART_CMDLINES, 8, b);
	default: return raw->size ? buffer_append(b, raw->data, raw->size) : 0;
	}
}

static int add_section(struct tracecmd_state *s, uint16_t id, struct sections *list,
		       struct buffer *b, struct error *e)
{
	struct buffer body = {0};
	size_t begin = b->size;
	int result = 0;

	list->at[list->count++] = (struct section){id, begin};
	if (body_of(s, id, &body) || section_header(s, id, is_packed(s), body.size, b))
		result = error_no_memory(e);
	else if (is_packed(s))
		result = tracecmd_pack(&s->packer, body.data, body.size, b, e);
	else if (body.size && buffer_append(b, body.data, body.size))
		result = error_no_memory(e);
	buffer_free(&body);
	if (!result)
		tracecmd_put_uint(b->data + begin + 8, b->size - begin - TRACECMD_SECTION_HEADER, 8,
				  s->big_endian);
	return result;
}

static int add_sections(struct tracecmd_state *s, struct sections *list, struct buffer *b,
			struct error *e)
{
	for (uint16_t id = TRACECMD_HEADER_INFO; id <= TRACECMD_CMDLINES; id++)
		if (add_section(s, id, list, b, e))
			return -1;
	if (s->parts[PART_BTF].size && add_section(s, TRACECMD_BTF, list, b, e))
		return -1;
	return s->parts[PART_MODULES].size ? add_section(s, TRACECMD_MODULES, list, b, e) : 0;
}

static int option_buffer(const struct tracecmd_state *s, const struct tracecmd_buffer *x,
			 struct buffer *b)
{
	size_t begin = b->size;

	if (tracecmd_number(s, b, x->text ? TRACECMD_BUFFER_TEXT : TRACECMD_BUFFER, 2) ||
	    tracecmd_number(s, b, 0, 4) || tracecmd_number(s, b, x->offset, 8) ||
	    put_text(s, b, x->name) || put_text(s, b, x->clock))
		return -1;
	if (!x->text &&
	    (tracecmd_number(s, b, x->page_size, 4) || tracecmd_number(s, b, x->count, 4)))
		return -1;
	for (size_t i = 0; !x->text && i < x->count; i++) {
		const struct tracecmd_stream *r = s->order[x->first + i];

		if (tracecmd_number(s, b, r->cpu, 4) || tracecmd_number(s, b, r->offset, 8) ||
		    tracecmd_number(s, b, r->size, 8))
			return -1;
	}
	tracecmd_put_uint(b->data + begin + 2, b->size - begin - 6, 4, s->big_endian);
	return 0;
}

/* Append the only list of options, which ends the chain. */
static int options_v7(const struct tracecmd_state *s, const struct sections *list, struct buffer *b)
{
	size_t begin = b->size;

	if (section_header(s, TRACECMD_DONE, false, 0, b))
		return -1;
	for (size_t i = 0; i < list->count; i++)
		if (tracecmd_number(s, b, list->at[i].option, 2) || tracecmd_number(s, b, 8, 4) ||
		    tracecmd_number(s, b, list->at[i].offset, 8))
			return -1;
	if (tracecmd_options(s, b))
		return -1;
	for (size_t i = 0; i < s->nbuffers; i++)
		if (option_buffer(s, &s->buffers[i], b))
			return -1;
	if (tracecmd_number(s, b, TRACECMD_DONE, 2) || tracecmd_number(s, b, 8, 4) ||
	    tracecmd_number(s, b, 0, 8))
		return -1;
	tracecmd_put_uint(b->data + begin + 8, b->size - begin - TRACECMD_SECTION_HEADER, 8,
			  s->big_endian);
	return 0;
}

static int write_buffer_v7(struct tracecmd_state *s, const struct tracecmd_buffer *x, uint64_t end,
			   struct out *o, struct buffer *b, struct error *e)
{
	b->size = 0;
	if (section_header(s, x->text ? TRACECMD_BUFFER_TEXT : TRACECMD_BUFFER, is_packed(s),
			   end - x->offset - TRACECMD_SECTION_HEADER, b))
		return error_no_memory(e);
	return out_put(o, b->data, b->size, e) || write_data(s, x, o, e) ? -1 : 0;
}

static int write_v7(struct tracecmd_state *s, struct out *o, struct buffer *b, struct error *e)
{
	static const char *const names[] = {"none", "zlib", "zstd"};
	struct sections list = {.count = 0};
	size_t options_at, options;
	uint64_t at;

	if (append_prefix(s, b) || put_text(s, b, names[s->packer.method]) ||
	    put_text(s, b, s->compression_version))
		return error_no_memory(e);
	options_at = b->size;
	if (tracecmd_number(s, b, 0, 8) || add_sections(s, &list, b, e))
		return b->size == options_at ? error_no_memory(e) : -1;
	options = b->size;
	tracecmd_put_uint(b->data + options_at, options, 8, s->big_endian);
	if (options_v7(s, &list, b))
		return error_no_memory(e);
	at = b->size;
	for (size_t i = 0; i < s->nbuffers; i++) {
		s->buffers[i].offset = at;
		at = assign_data(s, &s->buffers[i], at + TRACECMD_SECTION_HEADER);
	}
	b->size = options;
	if (options_v7(s, &list, b))
		return error_no_memory(e);
	if (out_put(o, b->data, b->size, e))
		return -1;
	for (size_t i = 0; i < s->nbuffers; i++)
		if (write_buffer_v7(s, &s->buffers[i],
				    i + 1 < s->nbuffers ? s->buffers[i + 1].offset : at, o, b, e))
			return -1;
	return 0;
}

int tracecmd_write(struct tracecmd_state *s, struct output *to, struct error *e)
{
	struct out o = {.to = to};
	struct buffer b = {0};
	int result;

	result = s->version == 6 ? write_v6(s, &o, &b, e) : write_v7(s, &o, &b, e);
	buffer_free(&b);
	return result;
}

/*
 * declare.c - declare in the stream what a trace.dat has before its events, and the parts that
 * symbolising, printing and encoding need
 */
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/tracecmd/tracecmd.h"

static int send_meta(struct tracecmd *t, const char *name, const struct buffer *b)
{
	return b->size ? writer_meta(t->w, t->source, name, b->data, b->size) : 0;
}

/* Write the prefix as a META, with the conversion of times. */
static int send_file(struct tracecmd *t)
{
	const struct tracecmd_header *h = &t->h;
	struct buffer b = {0};
	int result = buffer_printf(&b,
				   "version %u\nlong_size %u\npage_size %u\ncompression %s\n"
				   "compression_version %s\ntime_added %lld\ncpus %u\n",
				   h->version, h->program_long, h->page_size,
				   *h->compression ? h->compression : "none",
				   h->compression_version, (long long)t->shift, h->cpus);

	/* the part of the sum that the options do not give (--offset) */
	if (t->input->shift && !result)
		result = buffer_printf(&b, "offset_added %lld\n", (long long)t->input->shift);
	result = result || send_meta(t, "file", &b) ? -1 : 0;
	buffer_free(&b);
	return result;
}

static int send_buffers(struct tracecmd *t)
{
	struct buffer b = {0};
	int result = 0;

	for (size_t i = 0; i < t->h.nbuffers && !result; i++) {
		const struct tracecmd_buffer *from = &t->h.buffers[i];

		result = buffer_printf(&b, "%s\t%s\t%u\t%u\n", from->name,
				       from->clock ? from->clock : "", from->page_size, t->h.cpus);
	}
	if (!result)
		result = send_meta(t, "buffers", &b);
	buffer_free(&b);
	return result;
}

/* Write all formats: a format without events is in no type of the stream. */
static int send_formats(struct tracecmd *t)
{
	struct buffer b = {0};
	int result = 0;

	for (size_t i = 0; i < t->h.nformats && !result; i++) {
		const struct tracecmd_format_text *f = &t->h.formats[i];
		size_t n = strlen(f->system);

		result = buffer_u32(&b, (uint32_t)n) || buffer_u32(&b, (uint32_t)f->size) ||
					 buffer_append(&b, f->system, n) ||
					 buffer_append(&b, f->text, f->size)
				 ? -1
				 : 0;
	}
	if (!result)
		result = send_meta(t, "formats", &b);
	buffer_free(&b);
	return result;
}

static int declare_space(struct tracecmd *t)
{
	struct writer *w = t->w;
	struct map_entry map = {.end = UINT64_MAX,
				.path = writer_text(w, "[kernel]"),
				.table = writer_text(w, t->h.kallsyms.size ? "kallsyms" : NULL)};

	t->space = writer_space(w, &(struct space_entry){.source = t->source,
							 .name = writer_text(w, "kernel"),
							 .flags = SPACE_KERNEL});
	map.space = t->space;
	return t->space ? writer_map(w, &map) : -1;
}

int tracecmd_declare(struct tracecmd *t)
{
	struct writer *w = t->w;
	struct input *in = t->input;
	struct tracecmd_header *h = &t->h;
	int64_t wall = merge_wall(in);

	t->source = writer_source(w, &(struct source_entry){writer_text(w, "trace-cmd"),
							    writer_text(w, in->name),
							    t->layout.long_size, h->big_endian});
	t->clock = writer_clock(
		w, &(struct clock_entry){writer_text(w, in->clock_name),
					 (in->ticks ? CLOCK_TICKS : 0) |
						 (in->has_wall ? CLOCK_HAS_WALL : 0) |
						 (in->has_wall && !wall ? CLOCK_IS_WALL : 0),
					 wall});
	if (!t->source || !t->clock || send_meta(t, "kallsyms", &h->kallsyms) || declare_space(t) ||
	    send_file(t) || send_buffers(t) || send_meta(t, "header_page", &h->header_page) ||
	    send_meta(t, "header_event", &h->header_event) ||
	    send_meta(t, "printk_formats", &h->printk) ||
	    send_meta(t, "saved_cmdlines", &h->cmdlines) || send_meta(t, "options", &h->options) ||
	    send_formats(t) || send_meta(t, "btf", &h->btf) || send_meta(t, "modules", &h->modules))
		return -1;
	/* large, and no longer needed */
	buffer_free(&h->kallsyms);
	buffer_free(&h->btf);
	return 0;
}

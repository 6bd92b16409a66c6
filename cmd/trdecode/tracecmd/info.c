/*
 * info.c - print a trace.dat's properties for --info
 */
#include "cmd/trdecode/tracecmd/tracecmd.h"

#include <stdio.h>

static uint64_t data_bytes(const struct tracecmd_buffer *b)
{
	uint64_t sum = b->text_size;

	for (size_t i = 0; i < b->nrows; i++)
		sum += b->rows[i].size;
	return sum;
}

static void buffer_facts(struct trace_info *f, const struct tracecmd_buffer *b)
{
	char name[160], value[160];

	if (*b->name)
		snprintf(name, sizeof name, "instance %.128s", b->name);
	else
		snprintf(name, sizeof name, "top buffer");
	snprintf(value, sizeof value, "%zu CPUs with data, %llu bytes, sub-buffers of %u", b->nrows,
		 (unsigned long long)data_bytes(b), b->page_size);
	if (b->text)
		snprintf(value, sizeof value, "text of a latency tracer, %llu bytes",
			 (unsigned long long)b->text_size);
	fact_text(f, name, value);
}

int tracecmd_info(struct input *in, struct trace_info *f, struct error *e)
{
	const struct tracecmd *t = in->state;
	const struct tracecmd_header *h = &t->h;
	char text[64];

	(void)e;
	fact_text(f, "format", "trace-cmd");
	fact_number(f, "version", h->version);
	fact_text(f, "byte order", h->big_endian ? "big-endian" : "little-endian");
	fact_number(f, "word size", t->layout.long_size);
	if (h->version >= 7) {
		snprintf(text, sizeof text, "%s %s", h->compression, h->compression_version);
		fact_text(f, "compression", text);
	}
	fact_text(f, "clock", in->clock_name);
	if (h->times.has_date) {
		snprintf(text, sizeof text, "%lld", (long long)h->times.date);
		fact_text(f, "date offset", text);
	}
	if (h->times.has_offset) {
		snprintf(text, sizeof text, "%lld", (long long)h->times.offset);
		fact_text(f, "time offset", text);
	}
	if (h->times.has_tsc) {
		snprintf(text, sizeof text, "* %u >> %u", h->times.tsc_mult, h->times.tsc_shift);
		fact_text(f, "tsc to ns", text);
	}
	fact_text(f, "kernel", h->uname);
	fact_text(f, "recorded by", h->recorder);
	if (h->link.trace_id) {
		snprintf(text, sizeof text, "%llx", (unsigned long long)h->link.trace_id);
		fact_text(f, "trace id", text);
	}
	fact_number(f, "cpus", h->cpus);
	fact_number(f, "guests", h->link.nguests);
	fact_number(f, "event formats", t->events.count);
	for (size_t i = 0; i < h->nbuffers; i++)
		buffer_facts(f, &h->buffers[i]);
	return 0;
}

/*
 * info.c - print the properties of a perf.data for --info
 */
#include "cmd/trdecode/perf/perf.h"

#include <inttypes.h>
#include <stdio.h>

static void event_fact(struct trace_info *f, const struct perf_attr *a)
{
	char text[256];

	snprintf(text, sizeof text, "%.160s, %s %" PRIu64 "%s%s", a->name,
		 perf_flag(a, PERF_FLAG_FREQ) ? "frequency" : "period", a->period,
		 a->sample_type & PERF_SAMPLE_CALLCHAIN ? ", call chains" : "",
		 a->sample_type & PERF_SAMPLE_STACK_USER ? ", stacks of the thread" : "");
	fact_item(f, "events", text);
}

int perf_info(struct input *in, struct trace_info *f, struct error *e)
{
	const struct perf *p = in->state;
	const struct perf_header *h = &p->h;

	(void)e;
	fact_text(f, "format", "perf");
	fact_number(f, "version", h->version);
	fact_text(f, "mode", h->pipe ? "pipe" : "file");
	fact_text(f, "byte order", h->big_endian ? "big-endian" : "little-endian");
	fact_text(f, "clock", in->clock_name);
	for (size_t i = 0; i < p->nattrs; i++)
		event_fact(f, &p->attrs[i]);
	fact_number(f, "build ids", h->build_ids.keys.count);
	fact_number(f, "event formats", p->events ? p->events->count : 0);
	for (size_t i = 0; i < h->nfacts; i++)
		if (h->facts[i].item)
			fact_item(f, h->facts[i].name, h->facts[i].text);
		else
			fact_text(f, h->facts[i].name, h->facts[i].text);
	return 0;
}

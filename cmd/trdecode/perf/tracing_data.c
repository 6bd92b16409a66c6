/*
 * tracing_data.c - the formats of the kernel's events, as in a trace.dat of version 6
 *
 * Facts: tools/perf/util/trace-event-info.c of Linux.
 */
#include "cmd/trdecode/perf/perf.h"
#include "cmd/trdecode/perf/span.h"
#include "common/formats/tracecmd.h"

#include <stdlib.h>

/* Add the events of one system. Returns 0, or -1: out of memory. */
static int add_system(struct perf *p, struct span *s, const char *system)
{
	uint64_t n = span_number(s, 4);

	while (n-- && !s->cut) {
		uint64_t size = span_number(s, 8);
		const char *text = (const char *)span_take(s, size);

		if (text && ftrace_events_add(p->events, system, strlen(system), text, size,
					      p->h.long_size) == FTRACE_NO_MEMORY)
			return -1;
	}
	return 0;
}

/* Skip a named text. Returns false if the name is another. */
static bool skip_named(struct span *s, const char *name)
{
	const char *have = span_text(s);

	if (!have || strcmp(have, name) != 0)
		return false;
	span_take(s, span_number(s, 8));
	return !s->cut;
}

static int add_events(struct perf *p, struct span *s)
{
	uint64_t systems;

	if (add_system(p, s, "ftrace"))
		return -1;
	systems = span_number(s, 4);
	while (systems-- && !s->cut) {
		const char *name = span_text(s);

		if (name && add_system(p, s, name))
			return -1;
	}
	return ftrace_events_kinds(p->events);
}

int perf_tracing_data(struct perf *p, const uint8_t *data, size_t n)
{
	struct span s;
	const uint8_t *magic;

	if (p->events)
		return 0; /* given twice */
	/* formats point to their texts */
	if (buffer_append(&p->h.formats, data, n))
		return -1;
	s = (struct span){.at = p->h.formats.data, .end = p->h.formats.data + n};
	magic = span_take(&s, TRACECMD_MAGIC_SIZE);
	if (!magic || memcmp(magic, TRACECMD_MAGIC, TRACECMD_MAGIC_SIZE) != 0 || !span_text(&s)) {
		input_damage(p->input, p->file.name, NO_OFFSET, "tracing data without a header");
		return 0;
	}
	s.big_endian = span_number(&s, 1);
	p->h.long_size = span_number(&s, 1) == 4 ? 4 : 8;
	span_number(&s, 4); /* the size of a page */
	p->events = calloc(1, sizeof *p->events);
	if (!p->events)
		return -1;
	p->events->machine = p->h.arch;
	if (skip_named(&s, TRACECMD_HEADER_PAGE) && skip_named(&s, TRACECMD_HEADER_EVENT) &&
	    add_events(p, &s))
		return -1;
	if (s.cut)
		input_short(p->input, p->file.name, NO_OFFSET, "the tracing data are cut");
	return 0;
}

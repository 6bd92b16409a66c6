/*
 * features.c - the features of a perf.data: facts about the machine and the recording
 *
 * Facts: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.c of Linux.
 */
#include "cmd/trdecode/perf/perf.h"
#include "cmd/trdecode/perf/span.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FACTS_MOST = 4096, LIST_MOST = 4096 };

int perf_fact_add(struct perf *p, const char *name, const char *text, size_t n, bool item)
{
	struct perf_header *h = &p->h;
	struct perf_fact *facts;

	if (h->nfacts == FACTS_MOST)
		return 0;
	if (ARRAY_GROW(h->facts, h->facts_capacity, h->nfacts))
		return -1;
	facts = h->facts;
	facts[h->nfacts] = (struct perf_fact){name, strndup(text, n), item};
	return facts[h->nfacts++].text ? 0 : -1;
}

static __attribute__((format(printf, 4, 5))) int fact(struct perf *p, const char *name, bool item,
						      const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return perf_fact_add(p, name, text, strlen(text), item);
}

static int take_text(struct perf *p, struct span *s, const char *name)
{
	size_t n;
	const char *text = span_string(s, &n);

	return n ? perf_fact_add(p, name, text, n, false) : 0;
}

/* Take a list of texts: as items, or as one text with blanks between them. */
static int take_list(struct perf *p, struct span *s, const char *name, bool items)
{
	uint64_t count = span_number(s, 4);
	struct buffer line = {0};
	int bad = 0;

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut && !bad; i++) {
		size_t n;
		const char *text = span_string(s, &n);

		if (items)
			bad = n ? perf_fact_add(p, name, text, n, true) : 0;
		else
			bad = (i && buffer_puts(&line, " ")) || buffer_append(&line, text, n);
	}
	if (line.size && !bad)
		bad = perf_fact_add(p, name, (char *)line.data, line.size, false);
	buffer_free(&line);
	return bad ? -1 : 0;
}

static int take_arch(struct perf *p, struct span *s)
{
	size_t n;
	const char *text = span_string(s, &n);

	if (p->h.arch || !n)
		return 0;
	p->h.arch = strndup(text, n);
	if (!p->h.arch)
		return -1;
	if (p->events)
		p->events->machine = p->h.arch;
	return perf_fact_add(p, "machine", text, n, false);
}

static int take_events(struct perf *p, struct span *s)
{
	uint64_t count = span_number(s, 4), size = span_number(s, 4);

	for (uint64_t i = 0; i < count && !s->cut; i++) {
		size_t n;
		uint64_t nids;
		const char *name;
		const uint8_t *ids;
		struct perf_attr *a = i < p->nattrs ? &p->attrs[i] : NULL;

		span_take(s, size);
		nids = span_number(s, 4);
		name = span_string(s, &n);
		ids = span_take(s, 8 * nids);
		if (s->cut)
			break;
		for (uint64_t k = 0; k < nids; k++) {
			const struct perf_id *id = perf_id_find(p, perf_u64(p, ids + 8 * k));

			if (id)
				a = &p->attrs[id->attr - 1];
		}
		if (!a || a->name || !n)
			continue;
		a->name = strndup(name, n);
		if (!a->name)
			return -1;
	}
	return 0;
}

static int take_topology(struct perf *p, struct span *s)
{
	return take_list(p, s, "sibling cores", true) || take_list(p, s, "sibling threads", true)
		       ? -1
		       : 0;
}

static int take_numa(struct perf *p, struct span *s)
{
	uint64_t count = span_number(s, 4);

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut; i++) {
		uint64_t node = span_number(s, 4), total = span_number(s, 8);
		size_t n;
		const char *cpus;

		span_number(s, 8); /* free */
		cpus = span_string(s, &n);
		if (!s->cut && fact(p, "numa nodes", true, "%" PRIu64 ": CPUs %.*s, %" PRIu64 " kB",
				    node, (int)(n < 400 ? n : 400), cpus, total))
			return -1;
	}
	return 0;
}

static int take_pmus(struct perf *p, struct span *s)
{
	uint64_t count = span_number(s, 4);

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut; i++) {
		uint64_t type = span_number(s, 4);
		size_t n;
		const char *name = span_string(s, &n);

		if (!s->cut &&
		    fact(p, "pmus", true, "%.*s = %" PRIu64, (int)(n < 400 ? n : 400), name, type))
			return -1;
	}
	return 0;
}

static int take_groups(struct perf *p, struct span *s)
{
	uint64_t count = span_number(s, 4);

	for (uint64_t i = 0; i < count && i < LIST_MOST && !s->cut; i++) {
		size_t n;
		const char *name = span_string(s, &n);
		uint64_t leader = span_number(s, 4), members = span_number(s, 4);
		const struct perf_attr *a = leader < p->nattrs ? &p->attrs[leader] : NULL;

		if (!s->cut && fact(p, "groups", true, "%.*s: %" PRIu64 " events, %s leads",
				    (int)(n < 200 ? n : 200), name, members,
				    a && a->name ? a->name : "the first"))
			return -1;
	}
	return 0;
}

static int take_cpus(struct perf *p, struct span *s)
{
	uint64_t available = span_number(s, 4), online = span_number(s, 4);

	return fact(p, "cpus", false, "%" PRIu64 " online, %" PRIu64 " available", online,
		    available);
}

static int take_sample_time(struct perf *p, struct span *s)
{
	uint64_t first = span_number(s, 8), last = span_number(s, 8);

	return fact(p, "samples", false, "from %" PRIu64 " to %" PRIu64 " ns", first, last);
}

static int take_compressed(struct perf *p, struct span *s)
{
	uint64_t type, level, ratio;

	span_number(s, 4); /* version */
	type = span_number(s, 4);
	level = span_number(s, 4);
	ratio = span_number(s, 4);
	return fact(p, "compression", false, "%s, level %" PRIu64 ", ratio %" PRIu64,
		    type == 1 ? "zstd" : "unknown", level, ratio);
}

/* A wall time, and the time of the records' clock at that moment. */
static int take_clock_data(struct perf *p, struct span *s)
{
	uint64_t wall, time;

	span_number(s, 4); /* version */
	span_number(s, 4); /* clock */
	wall = span_number(s, 8);
	time = span_number(s, 8);
	if (s->cut || wall >= TIME_LIMIT || time >= TIME_LIMIT)
		return 0;
	p->h.has_clock_data = true;
	p->h.wall = (int64_t)(wall - time);
	return fact(p, "wall time", false, "%" PRIu64 " ns at %" PRIu64 " ns", wall, time);
}

/* --- build ids --- */

void perf_build_id_text(const uint8_t *id, size_t n, char text[PERF_BUILD_ID_TEXT])
{
	*text = '\0';
	for (size_t i = 0; i < n && i < PERF_BUILD_ID; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

int perf_build_id_record(struct perf *p, const uint8_t *data, size_t n)
{
	enum { ID_AT = PERF_RECORD_HEAD + 4, PATH_AT = PERF_RECORD_HEAD + PERF_BUILD_ID_BODY };
	char text[PERF_BUILD_ID_TEXT];
	const char *path = (const char *)data + PATH_AT;
	size_t size = PERF_BUILD_ID;
	uint32_t *number;

	if (n <= PATH_AT)
		return 0;
	if (perf_u16(p, data + 4) & PERF_MISC_BUILD_ID_SIZE)
		size = data[ID_AT + PERF_BUILD_ID];
	perf_build_id_text(data + ID_AT, size, text);
	number = id_cache_number(&p->h.build_ids, path, strnlen(path, n - PATH_AT));
	if (!number)
		return -1;
	if (*number)
		return 0;
	*number = 1 + (uint32_t)(p->h.build_id_texts.size / sizeof text);
	return buffer_append(&p->h.build_id_texts, text, sizeof text);
}

const char *perf_build_id_of(struct perf *p, const char *path, size_t n)
{
	uint32_t key = intern_find(&p->h.build_ids.keys, path, n), number;

	if (key == INTERN_NONE)
		return NULL;
	number = p->h.build_ids.numbers[key];
	return number ? (char *)p->h.build_id_texts.data + (size_t)(number - 1) * PERF_BUILD_ID_TEXT
		      : NULL;
}

static int take_build_ids(struct perf *p, struct span *s)
{
	while (s->end - s->at >= PERF_RECORD_HEAD) {
		const uint8_t *d = s->at;
		uint16_t size = perf_u16(p, d + 6);

		if (size < PERF_RECORD_HEAD || !span_take(s, size)) {
			s->cut = true;
			return 0;
		}
		if (perf_build_id_record(p, d, size))
			return -1;
	}
	return 0;
}

int perf_feature(struct perf *p, unsigned feature, const uint8_t *data, size_t n)
{
	struct span s = {data, data + n, p->h.big_endian, false};
	int bad = 0;

	switch ((enum perf_feature)feature) {
	case PERF_FEATURE_TRACING_DATA: bad = n ? perf_tracing_data(p, data, n) : 0; break;
	case PERF_FEATURE_BUILD_ID: bad = take_build_ids(p, &s); break;
	case PERF_FEATURE_HOSTNAME: bad = take_text(p, &s, "host"); break;
	case PERF_FEATURE_RELEASE: bad = take_text(p, &s, "kernel"); break;
	case PERF_FEATURE_VERSION: bad = take_text(p, &s, "recorded by perf"); break;
	case PERF_FEATURE_ARCH: bad = take_arch(p, &s); break;
	case PERF_FEATURE_CPUS: bad = take_cpus(p, &s); break;
	case PERF_FEATURE_CPU_NAME: bad = take_text(p, &s, "cpu"); break;
	case PERF_FEATURE_CPU_ID: bad = take_text(p, &s, "cpu id"); break;
	case PERF_FEATURE_MEMORY:
		bad = fact(p, "memory", false, "%" PRIu64 " kB", span_number(&s, 8));
		break;
	case PERF_FEATURE_COMMAND: bad = take_list(p, &s, "command", false); break;
	case PERF_FEATURE_EVENTS: bad = take_events(p, &s); break;
	case PERF_FEATURE_TOPOLOGY: bad = take_topology(p, &s); break;
	case PERF_FEATURE_NUMA: bad = take_numa(p, &s); break;
	case PERF_FEATURE_PMUS: bad = take_pmus(p, &s); break;
	case PERF_FEATURE_GROUPS: bad = take_groups(p, &s); break;
	case PERF_FEATURE_SAMPLE_TIME: bad = take_sample_time(p, &s); break;
	case PERF_FEATURE_COMPRESSED: bad = take_compressed(p, &s); break;
	case PERF_FEATURE_CLOCK_DATA: bad = take_clock_data(p, &s); break;
	case PERF_FEATURE_DIRECTORY: p->h.in_directory = span_number(&s, 8) != 0; break;
	case PERF_FEATURE_CACHE:
	case PERF_FEATURE_CLOCK: break;
	}
	if (s.cut && n && !bad)
		input_short(p->input, p->file.name, NO_OFFSET, "feature %u of the header is cut",
			    feature);
	return bad ? -1 : 0;
}

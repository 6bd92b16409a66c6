/*
 * find.c - finds the tracefiles of a trace, its CPUs and channels
 */
#include <ctype.h>
#include <stdlib.h>

#include "cmd/trdecode/lttng/lttng.h"

enum { PROBED = 64, CHANNELS_MORE = 256 };

bool lttng_file_name(const char *member, size_t *base, int32_t *cpu)
{
	const char *slash = strrchr(member, '/'), *name = slash ? slash + 1 : member,
		   *line = strrchr(name, '_');
	int64_t n = 0;

	if (!line || line == name || name[0] == '.' || !line[1])
		return false;
	for (const char *p = line + 1; *p; p++) {
		if (!isdigit((unsigned char)*p) || n > 65535)
			return false;
		n = n * 10 + (*p - '0');
	}
	if (n > 65535)
		return false;
	*base = (size_t)(line - member);
	*cpu = (int32_t)n;
	return true;
}

const char *lttng_channel_name(const char *member, size_t base, size_t *n)
{
	const char *name = memrchr(member, '/', base);

	name = name ? name + 1 : member;
	*n = base - (size_t)(name - member);
	if (*n > 7 && !memcmp(name, "flight-", 7)) {
		name += 7;
		*n -= 7;
	}
	return name;
}

static bool is_metadata(const char *member, size_t base)
{
	size_t n;
	const char *name = lttng_channel_name(member, base, &n);

	return (n == 8 && !memcmp(name, "metadata", n)) ||
	       (n == 10 && !memcmp(name, "facilities", n));
}

/* Bid for the header of a block. */
static enum bid bid_header(const uint8_t *data, size_t n)
{
	struct lttng_header h;
	uint32_t where;

	if (!lttng_header_parse(&h, data, n, &where))
		return BID_HEADER;
	for (int big = 0; big < 2; big++)
		for (int i = 0; i < 2; i++) {
			size_t at = i ? LTTNG_MAGIC_1 : LTTNG_MAGIC_2;

			if (n >= at + 4 && get_uint(data + at, 4, big) == LTTNG_MAGIC)
				return BID_MAGIC;
		}
	return BID_NONE;
}

enum bid lttng_probe(const struct input *in)
{
	int32_t cpu;
	size_t base, probed = 0;
	uint8_t head[LTTNG_HEADER_MOST];
	enum bid best = BID_NONE;

	if (!in->tree || (in->member && !lttng_file_name(in->member, &base, &cpu)))
		return BID_NONE;
	/* the file given by the user may be empty (no events were recorded) beside others that
	 * have a header */
	if (in->member && in->head_size)
		return bid_header(in->head, in->head_size);
	for (size_t i = 0; best < BID_HEADER && probed < PROBED && i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);
		enum bid bid;

		if (!lttng_file_name(member, &base, &cpu) || (in->member && strchr(member, '/')))
			continue;
		bid = bid_header(head, tree_peek(in->tree, member, head, sizeof head));
		best = bid > best ? bid : best;
		probed += !in->member && !bid && !is_metadata(member, base);
	}
	return best;
}

int lttng_find_header(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	int32_t cpu, lowest = INT32_MAX;
	struct lttng_header h;
	uint8_t head[LTTNG_HEADER_MOST];
	bool found = false, found_metadata = false;
	uint32_t where;
	char path[512];
	size_t base;

	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		bool metadata;
		size_t n;

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		metadata = is_metadata(member, base);
		if (metadata ? found_metadata && cpu > lowest : found)
			continue;
		n = tree_peek(tree, member, head, sizeof head);
		if (!n || lttng_header_parse(&h, head, n, &where))
			continue;
		if (!h.major)
			return error_set(
				e, tree_path(tree, member, path, sizeof path), where,
				"LTTng format 0.%u: its events are described by XML files "
				"beside the trace (eventdefs), which are not read; 1.0 and "
				"2.0 to 2.6 are",
				h.minor);
		l->header = h;
		if (h.major == 2)
			l->header.start_tsc = h.begin;
		found = true;
		if (metadata) {
			found_metadata = true;
			lowest = cpu;
		}
	}
	if (!found)
		return error_set(e, l->input->name, NO_OFFSET,
				 "no tracefile with a readable LTTng header");
	if (!found_metadata)
		input_damage(l->input, l->input->name, NO_OFFSET,
			     "no readable metadata or facilities file: the start of the trace and "
			     "the fields of its events are unknown");
	return 0;
}

int lttng_find_files(struct lttng *l, struct error *e)
{
	const struct tree *tree = l->input->tree;
	size_t base, n = 0;
	int32_t cpu, most = -1;

	for (size_t i = 0; i < tree_count(tree); i++)
		n += lttng_file_name(tree_member(tree, i), &base, &cpu);
	l->files = calloc(n + 1, sizeof *l->files);
	l->heap = calloc(n + 1, sizeof *l->heap);
	l->channels_capacity = n + CHANNELS_MORE;
	l->channels = calloc(l->channels_capacity, sizeof *l->channels);
	if (!l->files || !l->heap || !l->channels)
		return error_no_memory(e);
	for (size_t i = 0; i < tree_count(tree); i++) {
		const char *member = tree_member(tree, i);
		struct lttng_file *f = &l->files[l->nfiles];

		if (!lttng_file_name(member, &base, &cpu))
			continue;
		*f = (struct lttng_file){.member = member,
					 .cpu = cpu,
					 .window.fd = -1,
					 .done = true,
					 .rank = (uint32_t)l->nfiles++};
		f->metadata = is_metadata(member, base);
		if (cpu > most)
			most = cpu;
		/* 2.0 to 2.2 have the metadata in control/, and ids unique in the trace */
		if (f->metadata && l->header.major == 2 && l->header.minor < 3 &&
		    !strncmp(member, "control/", 8))
			l->one_table = true;
	}
	if (l->old)
		l->one_table = true;
	l->cpus = calloc((size_t)most + 2, sizeof(void *));
	if (!l->cpus)
		return error_no_memory(e);
	l->ncpus = (size_t)(most + 1);
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_cpu *c;

		cpu = l->files[i].cpu;
		if (l->cpus[cpu])
			continue;
		c = l->cpus[cpu] = calloc(1, sizeof *c);
		if (!c)
			return error_no_memory(e);
		c->cpu = cpu;
		c->idle = (struct lttng_thread){.tid = 0, .pid = 0, .ppid = -1};
		c->unknown = (struct lttng_thread){.tid = -1, .pid = -1, .ppid = -1};
		lttng_cpu_run(c, &c->unknown);
		c->stacks[1] = &c->frames;
	}
	return 0;
}

int lttng_find_channels(struct lttng *l)
{
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		size_t base, n;
		const char *name;
		int32_t cpu;

		lttng_file_name(f->member, &base, &cpu);
		name = lttng_channel_name(f->member, base, &n);
		f->compact = l->old && l->header.heartbeat && n == 7 && !memcmp(name, "compact", n);
		f->channel = lttng_channel(l, l->one_table ? "" : name, l->one_table ? 0 : n);
		if (!f->channel)
			return -1;
		/* where ids are unique in the trace, the core events have their own */
		if ((l->one_table || f->metadata) && lttng_marker_core(l, f->channel))
			return -1;
	}
	return 0;
}

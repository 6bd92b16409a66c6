/*
 * uftrace.c - write a uftrace recording from the stream of a uftrace recording
 *
 * Files that describe the recording are copied (META). The records of each task, and perf's records
 * of each CPU, are made of the rows. If a filter left rows out, depths count the remaining calls
 * only, as uftrace takes the depth of a record as the depth of its stack.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/uftrace/uftrace.h"
#include "cmd/trencode/uftrace/private.h"

enum {
	INFO_LIMIT = 16 << 20, /* bytes of info that are kept */
	CPU_LIMIT = 8192,
};

static int uftrace_begin(struct encoding *en, struct error *e)
{
	struct uftrace_output *s = calloc(1, sizeof(*s));
	uint32_t number;

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->kernel.tree = &s->tree;
	s->calls = en->calls;
	if (tree_output_open(&s->tree, en->options->output, "uftrace.data", e))
		return -1;
	/* the first member is moved to its path last: without info there is no recording */
	return tree_output_member(&s->tree, "info", 4, &number, e);
}

static int uftrace_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct uftrace_output *s = en->state;

	(void)e;
	s->filtered |= h->flags & HEAD_FILTERED || en->options->clip;
	return 0;
}

int uftrace_take_source(struct uftrace_output *s, const struct source *source, struct error *e)
{
	if (strcmp(source->format.text, "uftrace") != 0)
		return error_set(e, source->name.text, NO_OFFSET,
				 "events of %s follow events of a uftrace recording: "
				 "--resynthesize writes one recording of both",
				 source->format.text);
	/* parts of one recording decoded separately, or concatenated streams */
	if (s->source && !strcmp(s->source->name.text, source->name.text))
		return error_set(e, NULL, NO_OFFSET,
				 "a uftrace directory contains one recording, and the stream has "
				 "two named '%s': use --resynthesize",
				 source->name.text);
	if (s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "a uftrace directory contains one recording, and the stream has "
				 "'%s' and '%s': use --resynthesize",
				 s->source->name.text, source->name.text);
	s->source = source;
	return 0;
}

static bool is_name(const struct meta *m, const char *name)
{
	return m->name_size == strlen(name) && !memcmp(m->name, name, m->name_size);
}

/* Test whether the file is not that of the source, but made of the rows. */
static bool is_rebuilt(const struct uftrace_output *s, const struct meta *m)
{
	if (is_name(m, "extern.dat"))
		return s->filtered;
	return m->name_size >= 4 && !memcmp(m->name + m->name_size - 4, ".dat", 4);
}

static int uftrace_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct uftrace_output *s = en->state;
	const struct source *source;
	uint32_t number;

	if (!m->source || m->source >= en->dictionary->sources.count)
		return 0;
	source = pool_at(&en->dictionary->sources, m->source);
	if (source != s->source && uftrace_take_source(s, source, e))
		return -1;
	if (m->flags & META_REFERENCE || is_rebuilt(s, m))
		return 0;
	if (!tree_output_name_ok(m->name, m->name_size)) {
		remark(source->name.text,
		       "a part of the recording is left out: its name is not a file name");
		return 0;
	}
	if (tree_output_member(&s->tree, m->name, m->name_size, &number, e))
		return -1;
	s->external |= is_name(m, "extern.dat");
	/* a repeated piece, or a piece after a missing one (which the reader reported) */
	if (m->offset != tree_output_size(&s->tree, number))
		return 0;
	if (is_name(m, "kernel_header") && kernel_output_header(&s->kernel, m))
		return error_no_memory(e);
	if (is_name(m, "info") && s->info.size + m->size <= INFO_LIMIT &&
	    buffer_append(&s->info, m->data, m->size))
		return error_no_memory(e);
	if (tree_output_put(&s->tree, number, m->data, m->size, e))
		return -1;
	return tree_output_settle(&s->tree, number, e);
}

int uftrace_read_info(struct uftrace_output *s, struct error *e)
{
	const uint8_t *p = s->info.data;
	uint64_t feat;

	if (!s->source)
		return error_set(
			e, NULL, NO_OFFSET,
			"the stream has no events of a uftrace recording: nothing to write");
	if (!s->info.size)
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the recording's 'info' is missing: " WITHOUT_FIRST_SEGMENT);
	if (s->info.size < UFTRACE_HEADER_SIZE || memcmp(p, UFTRACE_MAGIC, UFTRACE_MAGIC_SIZE) != 0)
		return error_set(e, s->source->name.text, NO_OFFSET,
				 "the recording's 'info' in the stream is damaged");
	s->machine.big_endian = p[UFTRACE_HDR_ENDIAN] == 2;
	s->machine.swap = s->machine.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	s->machine.word = p[UFTRACE_HDR_CLASS] == 1 ? 4 : 8;
	memcpy(&feat, p + UFTRACE_HDR_FEAT_MASK, 8);
	s->feat_mask = uftrace_swap64(feat, s->machine.swap);
	s->begun = true;
	return 0;
}

void uftrace_info_later(struct encoding *en, uint64_t feat_mask)
{
	struct uftrace_output *s = en->state;

	s->machine.word = 8;
	s->machine.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	s->feat_mask = feat_mask;
	s->begun = true;
}

int uftrace_perf_member(struct uftrace_output *s, uint32_t cpu, uint32_t *number, struct error *e)
{
	char name[32];
	int n = snprintf(name, sizeof(name), "perf-cpu%" PRIu32 ".dat", cpu);

	return tree_output_member(&s->tree, name, (size_t)n, number, e);
}

/* --- the end --- */

/* Add a file for each CPU, as the recorder does for each online CPU, even without records. */
static int perf_files(struct uftrace_output *s, struct error *e)
{
	static const char key[] = "\ncpuinfo:nr_cpus=";
	const char *p;
	uint32_t number, cpus = 0;

	if (!(s->feat_mask & UFTRACE_FEAT_PERF_EVENT))
		return 0;
	p = memmem(s->info.data, s->info.size, key, sizeof(key) - 1);
	if (!p)
		return 0;
	p += sizeof(key) - 1;
	for (; p < (char *)s->info.data + s->info.size && *p >= '0' && *p <= '9'; p++)
		cpus = cpus < CPU_LIMIT ? 10 * cpus + (uint32_t)(*p - '0') : CPU_LIMIT;
	for (uint32_t i = 0; i < cpus && i < CPU_LIMIT; i++)
		if (uftrace_perf_member(s, i, &number, e))
			return -1;
	return 0;
}

/* Note beside empty files of tasks that nothing is missing in them. */
static int note_empty(struct uftrace_output *s, struct error *e)
{
	uint32_t number;

	for (size_t i = 0; i < s->ntasks; i++)
		if (s->tasks[i] && !tree_output_size(&s->tree, s->tasks[i] - 1))
			return tree_output_member(&s->tree, UFTRACE_EMPTY, strlen(UFTRACE_EMPTY),
						  &number, e);
	return 0;
}

static uint64_t uftrace_size(const struct encoding *en)
{
	const struct uftrace_output *s = en->state;

	return s->tree.total;
}

static int uftrace_end(struct encoding *en, struct error *e)
{
	struct uftrace_output *s = en->state;

	if (!s->begun && uftrace_read_info(s, e))
		return -1;
	if (perf_files(s, e) || kernel_output_end(&s->kernel, e) || note_empty(s, e))
		return -1;
	if (s->damage && !en->options->quiet)
		remark_count(
			s->damage,
			"{gap|gaps} left out: uftrace has no record for damaged or unread input");
	if (s->unfit && !en->options->quiet)
		remark_count(s->unfit,
			     "{event or value|events or values} that uftrace cannot contain");
	if (s->unmatched && !en->options->quiet)
		remark_count(s->unmatched,
			     "{leave|leaves} without {its|their} enter {is|are} left out");
	return tree_output_finish(&s->tree, e);
}

static void uftrace_free(struct encoding *en)
{
	struct uftrace_output *s = en->state;

	if (!s)
		return;
	tree_output_close(&s->tree);
	kernel_output_free(&s->kernel);
	free(s->tasks);
	free(s->plans);
	buffer_free(&s->info);
	buffer_free(&s->scratch);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_uftrace = {
	.name = "uftrace",
	.purpose = "a uftrace data directory (-o DIR), or a tar of it",
	.suffixes = "uftrace.data",
	.conversion = &uftrace_target,
	.needs_meta = true,
	.needs_calls = true,
	.output = ENCODER_TREE,
	.begin = uftrace_begin,
	.head = uftrace_head,
	.meta = uftrace_meta,
	.event = uftrace_event,
	.end = uftrace_end,
	.size = uftrace_size,
	.free = uftrace_free,
};

#include "cmd/trstat/summary/partial.h"

#include <inttypes.h>
#include <stdlib.h>

int partial_check(const struct settings *s, size_t conditions, struct error *e)
{
	const char *option = s->pair			? "pair"
			     : s->interval		? "interval"
			     : s->view == VIEW_SLOWEST	? "slowest"
			     : conditions && s->partial ? "fail-if"
							: NULL;

	if (!option || !(s->partial || s->merge))
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--%s does not go with --%s, which knows no rows",
			 option, s->merge && !s->partial ? "merge" : "partial");
}

static int by_position(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	if (p->stream_id != q->stream_id)
		return p->stream_id < q->stream_id ? -1 : 1;
	return (p->first > q->first) - (p->first < q->first);
}

/* Refuse parts of one stream that went through different programs. -1 with e filled. */
static int check_stages(const struct part *p, const struct part *q, struct error *e)
{
	const char *a = p->stages ? p->stages : "", *b = q->stages ? q->stages : "";

	if (p->stream_id != q->stream_id || !strcmp(a, b))
		return 0;
	return error_set(e, q->file, NO_OFFSET,
			 "is of the stream %016" PRIx64 " after '%.150s', %.60s after '%.150s'",
			 q->stream_id, *b ? b : "trdecode", p->file ? p->file : "the rest",
			 *a ? a : "trdecode");
}

int parts_sort(struct parts *ps, struct error *e)
{
	if (ps->count)
		qsort(ps->part, ps->count, sizeof(*ps->part), by_position);
	for (size_t i = 1; i < ps->count; i++) {
		const struct part *p = &ps->part[i - 1], *q = &ps->part[i];
		bool two = p->file && q->file && strcmp(p->file, q->file) != 0;

		if (check_stages(p, q, e))
			return -1;
		if (p->stream_id == q->stream_id && (q->first <= p->last || p->ends))
			return error_set(e, q->file, NO_OFFSET,
					 "segment %" PRIu32 " of the stream %016" PRIx64
					 " is counted twice%s%s",
					 q->first, q->stream_id, two ? ", also in " : "",
					 two ? p->file : "");
	}
	return 0;
}

int partial_write(struct stage *stage, const struct query *q, struct statistics *s,
		  const struct parts *ps, int argc, char **argv)
{
	const char *message = stage_input_errors(stage);
	bool good = stage->status == STATUS_OK;
	struct summary_end end = {.lost = stage->lost,
				  .lost_more = stage->lost_more,
				  .gaps = stage->gaps,
				  .status = good ? 0 : 1,
				  .message = good      ? NULL
					     : message ? message
						       : "a part of the trace is missing"};
	struct writer w;
	struct error e;
	int bad;

	if (statistics_show(s)) {
		stage_no_memory(stage);
		return -1;
	}
	if (writer_init(&w, &stage->output, 0) || writer_command(&w, argc, argv)) {
		bad = stage_fail(stage, &w.error);
	} else {
		bad = summary_write(&w, s, q->settings, ps, &end, &e);
		if (bad)
			stage_fail(stage, &e);
	}
	writer_free(&w);
	return bad;
}

/* Returns the programs that the stream went through, from its head: a text that the caller
 * frees. NULL: out of memory. */
static char *stages_of(const struct head *h)
{
	struct buffer b = {0};
	int bad = 0;

	for (size_t at = 0; at + 8 <= h->properties_size && !bad;) {
		const uint8_t *p = h->properties + at;
		uint32_t n = get_u32(p + 4);

		if (n > h->properties_size - at - 8)
			break;
		if (get_u16(p) == HEAD_STAGE)
			bad = buffer_append(&b, " | ", b.size ? 3 : 0) ||
			      buffer_append(&b, p + 8, n);
		at += 8 + align_up(n, 8);
	}
	if (!bad && !buffer_u8(&b, 0))
		return (char *)b.data;
	buffer_free(&b);
	return NULL;
}

/* Start a segment; consecutive segments are one part. */
static int begin_segment(struct stage *stage, struct statistics *s, struct parts *ps)
{
	const struct head *h = &stage->in.head;
	char *stages = stages_of(h);
	struct part *p = s->part;

	if (!stages)
		return -1;
	if (p && p->stream_id == h->stream_id && p->last + 1 == h->sequence && !p->ends &&
	    !strcmp(p->stages ? p->stages : "", stages)) {
		p->last = h->sequence;
		free(stages);
		return 0;
	}
	if (p && part_end(p, s))
		goto fail;
	p = parts_add(ps);
	if (!p || part_begin(p, s, h->stream_id, h->sequence))
		goto fail;
	p->stages = stages;
	p->file = stage->in.file;
	return 0;
fail:
	free(stages);
	return -1;
}

/* Start a segment whose head is damaged: its stream is unknown. */
static int begin_lost(struct statistics *s, struct parts *ps, const struct block *b)
{
	struct part *p = parts_add(ps);
	uint64_t id = hash_bytes(b->file, strlen(b->file), b->offset);

	if (!p || part_begin(p, s, id, 0))
		return -1;
	p->ends = true;
	return 0;
}

static int take_block(struct stage *stage, const struct query *q, struct statistics *s,
		      struct parts *ps, const struct block *b)
{
	struct error e;

	if (b->kind == BLOCK_HEAD)
		return begin_segment(stage, s, ps) ? stage_no_memory(stage) : 0;
	if (b->kind == BLOCK_END && s->part)
		s->part->ends = stage->in.end.flags & END_LAST;
	if (b->kind != BLOCK_EVENTS)
		return 0;
	if ((!s->part && begin_lost(s, ps, b)) || statistics_block(s, b))
		return stage_no_memory(stage);
	if (s->ticks && (columns_check_clocks(&q->columns, &s->clocks, &e) ||
			 columns_check_ticks(&q->columns, &e) || keys_check_ticks(&q->keys, &e)))
		return stage_fail(stage, &e);
	return 0;
}

void partial_run(struct stage *stage, const struct query *q, struct statistics *s, int argc,
		 char **argv)
{
	struct parts ps = {0};
	struct block block;
	struct error e;

	stage->in.partial_ok = true;
	while (stage_next(stage, &block))
		if (take_block(stage, q, s, &ps, &block))
			break;
	if (stage->status != STATUS_FAILED && s->part && part_end(s->part, s))
		stage_no_memory(stage);
	if (stage->status != STATUS_FAILED && parts_sort(&ps, &e))
		stage_fail(stage, &e);
	if (stage->status != STATUS_FAILED)
		partial_write(stage, q, s, &ps, argc, argv);
	parts_free(&ps);
}

/*
 * merge.c - join summaries in any order: read all of them, then feed the parts of each stream in
 * sequence
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trstat/summary/partial.h"

enum { MESSAGES = 10 };

struct merge {
	struct stage *stage;
	struct settings *settings;
	struct query *q;
	struct statistics *s;
	const struct merging *how;
	uint64_t missing;
};

static const char *own_texts(struct settings *s, int i, const char *text)
{
	return s->owned[i] = text ? strdup(text) : NULL;
}

/* Make the query from the options and, where they are silent, from the summary. */
static int begin_query(void *ctx, const struct summary_head *h, struct error *e)
{
	struct merge *m = ctx;
	struct settings *s = m->settings;

	if (!s->keys && !s->view_option) {
		s->keys = own_texts(s, 0, h->group);
		s->view = (enum view)h->view;
		s->view_argument = own_texts(s, 1, h->view_argument);
	}
	if (!s->columns && s->view == (enum view)h->view) {
		s->columns = own_texts(s, 2, h->asked);
		if (!s->sort)
			s->sort = own_texts(s, 3, h->sort);
	}
	if (query_parse(m->q, s, e) ||
	    (m->how->histograms && h->histograms && columns_find(&m->q->columns, "p50", e) < 0))
		return -1;
	if (m->how->alarms && (alarms_begin(m->how->alarms, m->q, &m->stage->in.dictionary, e) ||
			       alarms_check_keys(m->how->alarms, e)))
		return -1;
	if (statistics_init(m->s, &m->q->keys, &m->q->columns, &m->stage->in.dictionary))
		return error_no_memory(e);
	return 0;
}

static void miss(struct merge *m, uint64_t stream, uint32_t first, const uint32_t *last)
{
	struct stage *stage = m->stage;

	stage->status = status_worse(stage->status, STATUS_DAMAGED);
	if (m->missing++ >= MESSAGES)
		return;
	if (!last)
		warn(NULL, NO_OFFSET,
		     "the stream %016" PRIx64 " does not end: segment %" PRIu32
		     " and what may follow are missing",
		     stream, first);
	else if (first == *last)
		warn(NULL, NO_OFFSET, "segment %" PRIu32 " of the stream %016" PRIx64 " is missing",
		     first, stream);
	else
		warn(NULL, NO_OFFSET,
		     "segments %" PRIu32 " to %" PRIu32 " of the stream %016" PRIx64 " are missing",
		     first, *last, stream);
}

/* Report segments that are missing before this part; a table of a trace with holes mentions
 * them. */
static void look_for_holes(struct merge *m, const struct part *before, const struct part *p)
{
	bool same = before && before->stream_id == p->stream_id;
	uint32_t first = same ? before->last + 1 : 0, last = p->first - 1;

	if (before && !same && !before->ends)
		miss(m, before->stream_id, before->last + 1, NULL);
	if (p->first != first)
		miss(m, p->stream_id, first, &last);
}

static int to_table(struct merge *m, const struct parts *ps)
{
	const struct part *before = NULL;

	for (size_t i = 0; i < ps->count; i++) {
		const struct part *p = &ps->part[i];

		look_for_holes(m, before, p);
		if (before && before->stream_id != p->stream_id &&
		    (statistics_finish(m->s) || statistics_forget_calls(m->s)))
			return -1;
		if (part_replay(p, m->s))
			return -1;
		before = p;
	}
	if (before && !before->ends)
		miss(m, before->stream_id, before->last + 1, NULL);
	if (m->missing > MESSAGES)
		warn(NULL, NO_OFFSET, "%" PRIu64 " more such gaps", m->missing - MESSAGES);
	return statistics_finish(m->s);
}

static int to_summary(struct merge *m, const struct parts *ps)
{
	struct statistics *s = m->s;

	for (size_t i = 0; i < ps->count; i++) {
		const struct part *p = &ps->part[i];
		struct part *now = s->part;

		if (now && (now->stream_id != p->stream_id || now->last + 1 != p->first)) {
			if (part_end(now, s))
				return -1;
			now = NULL;
		}
		if (!now) {
			now = parts_add(m->how->out);
			if (!now || part_begin(now, s, p->stream_id, p->first))
				return -1;
			now->stages = strdup(p->stages ? p->stages : "");
			if (!now->stages)
				return -1;
		}
		if (part_replay(p, s))
			return -1;
		now->last = p->last;
		now->ends = p->ends;
	}
	return s->part ? part_end(s->part, s) : 0;
}

static int join(struct merge *m, struct summaries *ss)
{
	struct stage *stage = m->stage;
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	if (ss->left_out)
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
	if (!ss->whole) {
		error_set(&e, NULL, NO_OFFSET, "no summary is whole");
		return stage_fail(stage, &e);
	}
	if (parts_sort(&ss->parts, &e) ||
	    (m->s->ticks &&
	     (columns_check_clocks(&m->q->columns, &m->s->clocks, &e) ||
	      columns_check_ticks(&m->q->columns, &e) || keys_check_ticks(&m->q->keys, &e))))
		return stage_fail(stage, &e);
	if (dictionary_name_by_number(&stage->in.dictionary) ||
	    (m->how->out ? to_summary(m, &ss->parts) : to_table(m, &ss->parts))) {
		error_set(&e, NULL, NO_OFFSET,
			  "the summaries cannot be joined: out of memory, or their numbers are "
			  "impossible");
		return stage_fail(stage, &e);
	}
	return 0;
}

int merge_run(struct stage *stage, struct settings *settings, struct query *q, struct statistics *s,
	      const struct merging *how)
{
	struct merge m = {stage, settings, q, s, how, 0};
	struct summaries ss = {.reader = &stage->in, .s = s, .begin = begin_query, .ctx = &m};
	uint64_t damages = stage->faults.total;
	struct block block;
	struct error e;
	int bad = 0;

	stage->in.summaries = true;
	if (how->first && summaries_block(&ss, how->first, &e))
		bad = stage_fail(stage, &e);
	while (!bad && stage_next(stage, &block)) {
		if (stage->faults.total != damages)
			summaries_damaged(&ss);
		damages = stage->faults.total;
		if (summaries_block(&ss, &block, &e))
			bad = stage_fail(stage, &e);
	}
	if (!bad && !stage->stopped)
		summaries_damaged(&ss);
	bad = bad || join(&m, &ss);
	summaries_free(&ss);
	return bad ? -1 : 0;
}

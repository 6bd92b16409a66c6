/*
 * merge.c - join summaries in any order: read all of them, then put their parts in the order of
 * their streams
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trstat/summary/partial.h"

enum { MESSAGES = 10 };

struct merge {
	struct stage *stage;
	struct query *q;
	struct summary *sm;
	const struct merging *how;
	uint64_t missing;
};

static const char *own_texts(struct settings *s, int i, const char *text)
{
	return s->owned[i] = text ? strdup(text) : NULL;
}

/* Complete the options by those of the summary. */
static void take_settings(struct settings *s, const struct summary_head *h)
{
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
	if (!s->interval)
		s->interval = own_texts(s, 4, h->interval);
	if (!s->pair)
		s->pair = own_texts(s, 5, h->pair);
}

static int begin_statistics(struct merge *m)
{
	struct statistics *s = m->sm->s;
	struct query *q = m->q;

	if (statistics_init_summary(s, &q->keys, &q->columns, &m->stage->in.dictionary) ||
	    (q->settings->pair && statistics_pair(s, &q->pair)))
		return -1;
	statistics_name_stacks(s, !q->settings->interval);
	m->sm->slowest.limit = q->slowest;
	return 0;
}

/* Make the query from the options and, where they are silent, from the summary. */
static int begin_query(void *ctx, const struct summary_head *h, struct error *e)
{
	struct merge *m = ctx;
	struct settings *s = m->how->settings;

	take_settings(s, h);
	if (query_parse(m->q, s, e) ||
	    (m->how->histograms && h->histograms && columns_find(&m->q->columns, "p50", e) < 0))
		return -1;
	if (m->how->alarms && m->how->alarms->count && s->view == VIEW_SLOWEST)
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if does not go with summaries of the slowest calls");
	if (m->how->alarms && (alarms_begin(m->how->alarms, m->q, &m->stage->in.dictionary, e) ||
			       alarms_check_keys(m->how->alarms, e)))
		return -1;
	return begin_statistics(m) ? error_no_memory(e) : 0;
}

static void merge_miss(struct merge *m, uint64_t stream, uint32_t first, const uint32_t *last)
{
	struct stage *stage = m->stage;

	stage->status = status_worse(stage->status, STATUS_DAMAGED);
	if (m->missing++ >= MESSAGES)
		return;
	if (!last)
		warn(NULL, NO_OFFSET,
		     "the stream %016" PRIx64 " has no end: segment %" PRIu32
		     " and all later ones are missing",
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
		merge_miss(m, before->stream_id, before->last + 1, NULL);
	if (p->first != first)
		merge_miss(m, p->stream_id, first, &last);
}

static void look_for_all_holes(struct merge *m)
{
	const struct parts *ps = &m->sm->parts;
	const struct part *before = NULL;

	for (size_t i = 0; i < ps->count; i++) {
		look_for_holes(m, before, &ps->part[i]);
		before = &ps->part[i];
	}
	if (before && !before->ends)
		merge_miss(m, before->stream_id, before->last + 1, NULL);
	if (m->missing > MESSAGES)
		warn_count(NULL, m->missing - MESSAGES, "more such {gap|gaps}");
}

static int to_table(struct merge *m)
{
	struct statistics *s = m->sm->s;

	look_for_all_holes(m);
	if ((s->pair && parts_count_pairs(&m->sm->parts, s)) || summary_settle(m->sm))
		return -1;
	return (s->stacks && call_stacks_end(s->stacks)) || statistics_show(s) ? -1 : 0;
}

static int merge_join(struct merge *m, struct summaries *ss)
{
	struct stage *stage = m->stage;
	struct statistics *s = m->sm->s;
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	if (ss->left_out)
		stage->status = status_worse(stage->status, STATUS_DAMAGED);
	if (!ss->whole) {
		error_set(&e, NULL, NO_OFFSET, "no complete summary");
		return stage_fail(stage, &e);
	}
	if (parts_sort(&m->sm->parts, &e) ||
	    query_check_clocks(m->q, &s->clocks, s->columns->ns, &e))
		return stage_fail(stage, &e);
	if (m->how->again ? parts_join(&m->sm->parts, s) : to_table(m)) {
		error_set(&e, NULL, NO_OFFSET,
			  "the summaries cannot be joined: out of memory, or their numbers are "
			  "impossible");
		return stage_fail(stage, &e);
	}
	return statistics_check_busy(s, &e) || statistics_check_samples(s, &e) ||
			       (m->how->alarms &&
				(alarms_check_samples(m->how->alarms, m->q, s, &e) ||
				 alarms_check_clocks(m->how->alarms, &s->clocks, s->columns->ns,
						     &e)))
		       ? stage_fail(stage, &e)
		       : 0;
}

int merge_run(struct stage *stage, struct query *q, struct summary *sm, const struct merging *how)
{
	struct merge m = {stage, q, sm, how, 0};
	struct summaries ss = {.reader = &stage->in, .to = sm, .begin = begin_query, .ctx = &m};
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
	bad = bad || merge_join(&m, &ss);
	summaries_free(&ss);
	return bad ? -1 : 0;
}

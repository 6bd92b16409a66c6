/*
 * partial.c - --partial and --merge
 */
#include "cmd/trstat/partial.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trstat/fail_if.h"
#include "cmd/trstat/run.h"

enum { MESSAGES = 10 };

struct merge {
	struct stage *stage;
	struct query *q;
	struct summary *sm;
	const struct merging *how;
	uint64_t missing;
};

static const char *own_texts(struct stat_settings *s, int i, const char *text)
{
	return s->owned[i] = text ? strdup(text) : NULL;
}

/* Complete the options by those of the summary. */
static void take_settings(struct stat_settings *s, const struct summary_head *h)
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

static int partial_begin_statistics(struct merge *m)
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
	struct stat_settings *s = m->how->settings;

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
	return partial_begin_statistics(m) ? error_no_memory(e) : 0;
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
static void look_for_holes(struct merge *m, const struct summary_part *before,
			   const struct summary_part *p)
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
	const struct summary_part *before = NULL;

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

int summary_merge_run(struct stage *stage, struct query *q, struct summary *sm,
		      const struct merging *how)
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

/* --- partial --- */

int partial_check(const struct stat_settings *s, size_t conditions, struct error *e)
{
	const char *option = s->wall			? "wall"
			     : conditions && s->partial ? "fail-if"
							: settings_selection(s);

	if (!option || !(s->partial || s->merge))
		return 0;
	return error_set(e, NULL, NO_OFFSET, "--%s does not go with --%s", option,
			 s->partial ? "partial" : "merge");
}

int partial_write(struct stage *stage, const struct summary *sm, int argc, char **argv)
{
	const char *message = stage_input_errors(stage);
	bool lost = sm->asked->strict && (stage->lost || stage->lost_more),
	     good = stage->status == STATUS_OK && !lost;
	struct summary_end end = {.lost = stage->lost,
				  .lost_more = stage->lost_more,
				  .gaps = stage->gaps,
				  .status = good ? 0 : 1,
				  .message = good      ? NULL
					     : message ? message
					     : lost    ? "the recorder lost events (--strict)"
						       : "a part of the trace is missing",
				  .printed = stage->printed};
	struct writer w;
	struct error e;
	int bad;

	if (statistics_show(sm->s)) {
		stage_no_memory(stage);
		return -1;
	}
	if (writer_init(&w, &stage->output, 0) || writer_command(&w, argc, argv)) {
		bad = stage_fail(stage, &w.error);
	} else {
		bad = summary_write(&w, sm, &end, &e);
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
	struct head_property p;
	struct buffer b = {0};
	int bad = 0;

	for (size_t at = 0; !bad && head_next(h, &at, &p);)
		if (p.key == HEAD_STAGE)
			bad = buffer_append(&b, " | ", b.size ? 3 : 0) ||
			      buffer_append(&b, p.data, p.size);
	if (!bad && !buffer_u8(&b, 0))
		return (char *)b.data;
	buffer_free(&b);
	return NULL;
}

/* The state of counting the inputs, part by part. */
struct partial_counting {
	struct stage *stage;
	struct query *q;
	struct summary *sm;
	struct slowest *slowest;   /* NULL without --slowest */
	struct monitor *monitor;   /* NULL without -i */
	struct summary_part *part; /* the present part; NULL: none */
	bool blind;		   /* no snapshot shows the calls open before the next row */
	bool empty;		   /* of the segment only its head was read */
	bool begun;		   /* a block of events was read */
};

/* Returns a part for the present stream; NULL: out of memory. */
static struct summary_part *partial_add_part(struct partial_counting *c, uint64_t stream_id,
					     uint32_t sequence)
{
	struct summary *sm = c->sm;
	uint32_t stream = c->stage->in.dictionary.stream;
	uint64_t *streams;
	struct summary_part *p = parts_add(&sm->parts);

	if (ARRAY_REACH(sm->streams, sm->nstreams, stream) || !p)
		return NULL;
	streams = sm->streams;
	/* 0: of lanes without a source */
	streams[0] = streams[stream] = p->stream_id = stream_id;
	p->first = p->last = sequence;
	if (c->q->settings->pair) {
		p->edges = statistics_pair_edges(sm->s);
		if (!p->edges)
			return NULL;
		pair_edges_note(p->edges, sm->s->pair);
	}
	c->part = p;
	return p;
}

/* Close the calls that are open at the end of the part: finished rows, or (tail) apart. */
static int partial_close_calls(struct partial_counting *c, struct part_tail *tail)
{
	struct statistics *s = c->sm->s;
	struct calls *calls = c->slowest ? &c->slowest->calls : &s->calls;
	struct calls_counts before = calls->counts;
	struct slow_list kept = {0};

	if (tail) {
		tail->number = ++c->sm->parts.tails;
		statistics_set_cell(s, CELL_TAIL, key_unsigned(tail->number));
	}
	if (tail && c->slowest) {
		kept = c->slowest->list;
		c->slowest->list = (struct slow_list){.limit = kept.limit};
	}
	if (c->slowest ? slowest_finish(c->slowest) : statistics_close(s))
		return -1;
	if (!tail)
		return 0;
	statistics_set_cell(s, CELL_TAIL, (struct key_cell){0});
	tail->unfinished = calls->counts.unfinished - before.unfinished;
	tail->ignored_kernel = calls->counts.ignored_kernel - before.ignored_kernel;
	calls->counts = before;
	if (c->slowest) {
		tail->slowest = c->slowest->list;
		c->slowest->list = kept;
	}
	return 0;
}

/* End the present part: what follows does not follow it in the stream. */
static int partial_end_part(struct partial_counting *c)
{
	struct statistics *s = c->sm->s;
	struct error e = {0};
	struct summary_part *p = c->part;

	c->part = NULL;
	if (!p)
		return 0;
	/* a segment cut before its snapshot does not change which calls are open */
	if (c->blind && c->empty && p->first == p->last) {
		parts_truncate(&c->sm->parts, c->sm->parts.count - 1);
		return 0;
	}
	if (c->monitor && monitor_end(c->monitor, &e))
		return stage_fail(c->stage, &e);
	if (s->pair ? pair_edges_end_part(s->pair)
		    : partial_close_calls(c, p->ends ? NULL : &p->tail))
		return stage_no_memory(c->stage);
	statistics_forget_calls(s);
	if (c->slowest)
		slowest_forget_calls(c->slowest);
	if (c->monitor)
		monitor_restart(c->monitor);
	return 0;
}

static void begin_blind(struct partial_counting *c)
{
	c->blind = c->stage->in.head.sequence && c->stage->in.segment.alone;
	c->empty = true;
}

/* Begin a segment; consecutive segments are one part. */
static int partial_begin_segment(struct partial_counting *c)
{
	const struct head *h = &c->stage->in.head;
	char *stages = stages_of(h);
	struct summary_part *p = c->part;

	if (!stages)
		return stage_no_memory(c->stage);
	if (p && p->stream_id == h->stream_id && p->last + 1 == h->sequence && !p->ends &&
	    !strcmp(p->stages ? p->stages : "", stages)) {
		p->last = h->sequence;
		begin_blind(c);
		free(stages);
		return 0;
	}
	if (partial_end_part(c)) {
		free(stages);
		return -1;
	}
	p = partial_add_part(c, h->stream_id, h->sequence);
	if (!p) {
		free(stages);
		return stage_no_memory(c->stage);
	}
	begin_blind(c);
	p->stages = stages;
	p->file = c->stage->in.file;
	return 0;
}

/* Begin a segment whose head is damaged: its stream is unknown. */
static int begin_lost(struct partial_counting *c, const struct block *b)
{
	struct summary_part *p =
		partial_add_part(c, hash_bytes(b->file, strlen(b->file), b->offset), 0);

	if (!p)
		return stage_no_memory(c->stage);
	p->ends = true;
	return 0;
}

static int partial_restore_calls(struct partial_counting *c, const struct block *b)
{
	c->blind = false;
	if (c->monitor)
		monitor_restore(c->monitor, b);
	report_missed_calls(c->stage, b);
	return c->slowest ? slowest_block(c->slowest, b) : statistics_block(c->sm->s, b);
}

/* Report a segment whose open calls are not known, if it has calls. */
static void check_blind(struct partial_counting *c, const struct block *b)
{
	bool calls = false;

	for (uint32_t i = 0; i < b->ntypes; i++)
		calls |= b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE;
	if (!c->blind || !calls || c->sm->s->pair)
		return;
	c->blind = false;
	warn(b->file, b->offset,
	     "segment %" PRIu32 " has no snapshot: calls opened before it are unknown",
	     c->part->first);
	c->stage->status = status_worse(c->stage->status, STATUS_DAMAGED);
}

static int partial_begin(struct partial_counting *c)
{
	struct query *q = c->q;
	struct dictionary *d = &c->stage->in.dictionary;
	struct statistics *s = c->sm->s;

	if (statistics_init_summary(s, &q->keys, &q->columns, d) ||
	    (q->settings->pair && statistics_pair(s, &q->pair)) ||
	    (c->slowest && slowest_init(c->slowest, q->slowest, d)))
		return -1;
	statistics_name_stacks(s, !q->settings->interval);
	return 0;
}

/* Begin again with the key type if the types that the stream declares require it. */
static int partial_begin_rows(struct partial_counting *c)
{
	struct error e = {0};

	c->begun = true;
	if (!query_mixes_samples(c->q, &c->stage->in.dictionary))
		return 0;
	statistics_free(c->sm->s);
	*c->sm->s = (struct statistics){0};
	if (query_add_type(c->q, &e))
		return stage_fail(c->stage, &e);
	c->sm->asked = c->q->settings;
	return partial_begin(c) ? stage_no_memory(c->stage) : 0;
}

static int partial_count_rows(struct partial_counting *c, const struct block *b)
{
	struct statistics *s = c->sm->s;
	struct error e = {0};

	if (!c->part && begin_lost(c, b))
		return -1;
	if (!c->begun && partial_begin_rows(c))
		return -1;
	check_blind(c, b);
	if (c->slowest	 ? slowest_block(c->slowest, b)
	    : c->monitor ? monitor_block(c->monitor, b, &e)
			 : statistics_block(s, b))
		return e.what[0] ? stage_fail(c->stage, &e) : stage_no_memory(c->stage);
	if (c->slowest && clocks_check(&c->slowest->clocks, CLOCKS_HINT, &e))
		return stage_fail(c->stage, &e);
	if (statistics_check_busy(s, &e) || statistics_check_samples(s, &e))
		return stage_fail(c->stage, &e);
	if (query_check_clocks(c->q, c->slowest ? &c->slowest->clocks : &s->clocks, false, &e))
		return stage_fail(c->stage, &e);
	return 0;
}

static int partial_take_block(struct partial_counting *c, const struct block *b)
{
	if (b->kind == BLOCK_HEAD && partial_begin_segment(c))
		return -1;
	if (b->kind != BLOCK_HEAD && b->kind != BLOCK_DICT)
		c->empty = false;
	if (b->kind == BLOCK_END && c->part)
		c->part->ends = c->stage->in.end.flags & END_LAST;
	if (b->kind == BLOCK_EVENTS)
		return partial_count_rows(c, b);
	if (b->kind == BLOCK_SNAPSHOT)
		return partial_restore_calls(c, b) ? stage_no_memory(c->stage) : 0;
	return c->slowest && slowest_block(c->slowest, b) ? stage_no_memory(c->stage) : 0;
}

/* Move what is not in the statistics to the summary. */
static void take_slowest(struct summary *sm, struct slowest *slowest)
{
	struct statistics *s = sm->s;

	sm->slowest = slowest->list;
	slowest->list = (struct slow_list){0};
	s->calls.counts = slowest->calls.counts;
	s->ticks = slowest->ticks;
	s->clocks = slowest->clocks;
}

void partial_run(struct stage *stage, struct query *q, struct summary *sm, int argc, char **argv)
{
	struct slowest slowest = {0};
	struct monitor monitor = {
		.words = q->settings->interval, .statistics = sm->s, .keyed = true};
	struct partial_counting c = {.stage = stage,
				     .q = q,
				     .sm = sm,
				     .slowest = q->settings->view == VIEW_SLOWEST ? &slowest : NULL,
				     .monitor = monitor.words ? &monitor : NULL};
	struct alarms none = {0};
	struct block block;
	struct error e;

	monitor.alarms = &none;
	stage->in.partial_ok = true;
	if (partial_begin(&c))
		stage_no_memory(stage);
	while (stage->status != STATUS_FAILED && stage_next(stage, &block))
		if (partial_take_block(&c, &block))
			break;
	if (!check_names(stage, q, NULL))
		partial_end_part(&c);
	if (stage->status != STATUS_FAILED && parts_sort(&sm->parts, &e))
		stage_fail(stage, &e);
	if (c.slowest)
		take_slowest(sm, c.slowest);
	if (stage->status != STATUS_FAILED)
		partial_write(stage, sm, argc, argv);
	slowest_free(&slowest);
}

#include "cmd/trstat/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trstat/table/format.h"

/* Returns true if a stack has a frame of that name. */
static bool stack_has_name(const struct stack_tree *t, uint32_t node, uint32_t name)
{
	while (node != STACK_ROOT && t->nodes[node].name != name)
		node = t->nodes[node].parent;
	return node != STACK_ROOT;
}

/* Returns true if the view's function is in no stack. */
static bool lacks_function(const struct statistics *st, const struct settings *s)
{
	const char *f = s->view_argument;
	uint32_t name;

	if ((s->view != VIEW_CALLERS && s->view != VIEW_CALLEES) || !st->stacks)
		return false;
	name = intern_find(&st->stacks->names, f, strlen(f));
	for (size_t i = 0; name != INTERN_NONE && i < st->groups.count; i++) {
		const struct key_cell *cells = groups_cells(&st->groups, groups_at(&st->groups, i));

		for (size_t k = 0; k < st->groups.keys; k++)
			if (cells[k].kind == KEY_STACK &&
			    stack_has_name(&st->stacks->tree, (uint32_t)cells[k].value, name))
				return false;
	}
	return true;
}

/* Test whether the trace has calls or, if a view shows these, samples. types: number of the types
 * of its events. */
static bool has_calls(const struct dictionary *d, bool samples, uint32_t *types)
{
	bool calls = false;

	*types = 0;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		*types += t->used && kind_is_event(t->kind);
		calls |= t->used && (t->kind == KIND_ENTER || t->kind == KIND_LEAVE ||
				     (samples && t->kind == KIND_SAMPLE));
	}
	return calls;
}

/* Report what a trace without calls has instead, for a view of calls. */
static void print_instead(const struct stage *stage, const struct settings *s)
{
	bool field = s->view == VIEW_HIST && s->view_argument && strcmp(s->view_argument, "dur") &&
		     strcmp(s->view_argument, "self");
	uint32_t types;
	bool calls = has_calls(&stage->in.dictionary, s->view != VIEW_SLOWEST, &types);

	if (calls || !types || field || s->pair || s->view == VIEW_TABLE ||
	    s->view == VIEW_TIMELINE)
		return;
	warn(NULL, NO_OFFSET,
	     "no calls in this trace; %" PRIu64 " event%s of %" PRIu32 " type%s: try -g type",
	     stage->events, stage->events == 1 ? "" : "s", types, types == 1 ? "" : "s");
}

/* Print on stderr what the table does not show. */
void report_counts(const struct stage *stage, const struct statistics *st, const struct settings *s)
{
	if (lacks_function(st, s))
		warn(NULL, NO_OFFSET, "no call of '%s'", s->view_argument);
	if (statistics_nameless(st))
		warn(NULL, NO_OFFSET,
		     "some functions have an address but no name: run trsym before this program");
	if (st->pair)
		pair_report(st->pair, stage->options->verbose);
	print_instead(stage, s);
	warn_count(NULL, s->until.from ? 0 : st->calls.counts.unfinished,
		   "{call|calls} had not returned at the end of the trace");
	warn_count(NULL, st->groups.deep, STACK_DEEP);
	warn_count(NULL, st->calls.counts.unmatched, "{return|returns} without a call");
	warn_count(NULL, st->calls.counts.ignored_kernel, CALLS_IGNORED_KERNEL);
	warn_count(NULL, stage->lost, "{event was|events were} lost by the recorder");
	if (stage->lost_more)
		warn(NULL, NO_OFFSET, LOST_MORE " were lost by the recorder");
	warn_count(NULL, stage->gaps,
		   "{gap|gaps}, where something is missing (trencode shows them)");
}

/* Report the span of the run that rate and util are of: a stray event may be far from the others.
 */
static void report_span(const struct query *q, const struct columns_run *run, bool ticks)
{
	char first[VALUE_SIZE], last[VALUE_SIZE], span[VALUE_SIZE];
	const struct column *of = NULL;

	for (size_t i = 0; i < q->columns.printed; i++)
		if (q->columns.column[i].type->flags & COLUMN_OF_RUN)
			of = &q->columns.column[i];
	if (!of || ticks || run->first >= run->last)
		return;
	format_time(first, run->first);
	format_time(last, run->last);
	format_duration(span, run->last - run->first, false);
	warn(NULL, NO_OFFSET,
	     "%s is of %s, from %s to %s; --since and --until choose a part of the run", of->name,
	     span, first, last);
}

/* Choose the default order: *own is the memory for one that is not the query's. */
static void choose_order(struct table *t, const struct query *q, struct sort *own)
{
	if (q->settings->sort)
		return;
	*own = q->sort;
	if (t->ticks && !t->columns->weights && !t->columns->ns && t->optional)
		/* ticks are not times: the second key of the default order counts */
		*own = (struct sort){.key = q->sort.key + 1, .count = 1};
	/* weights of samples of different types do not compare */
	for (size_t i = 0; t->samples && q->settings->view == VIEW_TABLE && i < q->keys.count; i++)
		if (q->keys.key[i].kind == BY_TYPE)
			own->together = i + 1;
	t->sort = own;
}

int report_table(struct stage *stage, struct query *q, const struct statistics *st,
		 const struct interval *interval)
{
	const struct settings *s = q->settings;
	struct text *text = malloc(sizeof(*text));
	struct table t = query_table(q);
	struct sort order;
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	t.groups = &st->groups;
	t.run = statistics_run(st);
	t.interval = interval;
	if (interval && !interval->wall)
		t.run = (struct columns_run){.first = interval->time,
					     .last = interval->time + interval->width};
	t.ticks = st->ticks;
	t.samples = st->samples.type;
	t.quiet = stage->options->quiet;
	choose_order(&t, q, &order);
	text_init(text, &stage->output);
	if (output_is_terminal(&stage->output) && !s->wide)
		t.width = table_terminal_width(output_fd(&stage->output));
	if (output_is_terminal(&stage->output) && !s->limited && s->format == TABLE_ALIGNED &&
	    (s->view <= VIEW_CALLEES || s->view == VIEW_UNPAIRED)) {
		t.limit = TABLE_ROWS;
		t.more = true;
	}
	bad = query_write(q, &t, text, &e);
	if (!bad)
		bad = text_flush(text, &e);
	free(text);
	if (bad)
		return stage_fail(stage, &e);
	if (s->bounds && s->format != TABLE_ALIGNED && table_bounds(&q->columns))
		warn(NULL, NO_OFFSET, "%s", table_bounds(&q->columns));
	if (!interval && !stage->options->quiet && !keys_time_bucket(&q->keys))
		report_span(q, &t.run, st->ticks);
	return 0;
}

static void judge_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
			 struct alarms *alarms, const struct interval *interval)
{
	enum outcome holds = alarms_judge(alarms, q, st, interval);

	if (holds == OUTCOME_FAILED)
		stage_no_memory(stage);
	else if (holds == OUTCOME_YES)
		stage->status = status_worse(stage->status, STATUS_CONDITION);
}

/* Damaged input, whose status remains 1, may lack the events. */
void report_alarms_end(struct stage *stage, const struct query *q, const struct statistics *st,
		       struct alarms *alarms)
{
	struct error reported = {.what = ""};

	if (stage->status == STATUS_FAILED)
		return;
	if (!alarms->judged)
		judge_alarms(stage, q, st, alarms, NULL);
	if (alarms_report_undecided(alarms, q, st) && stage->status != STATUS_DAMAGED)
		stage_fail(stage, &reported);
}

void report_alarms(struct stage *stage, const struct query *q, const struct statistics *st,
		   struct alarms *alarms, const struct interval *interval)
{
	if (stage->status == STATUS_FAILED)
		return;
	judge_alarms(stage, q, st, alarms, interval);
	if (!interval)
		report_alarms_end(stage, q, st, alarms);
}

void report_missed_calls(struct stage *stage, const struct block *b)
{
	const char *misses = calls_restore_misses(b);
	struct error e;

	if (!misses)
		return;
	error_set(&e, b->file, b->offset, "%s", misses);
	if (faults_add(&stage->faults, &e, stage->in.file))
		error_print(&e);
	stage->status = status_worse(stage->status, STATUS_DAMAGED);
}

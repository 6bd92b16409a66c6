#include "cmd/trstat/views/diff_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trstat/check_names.h"
#include "cmd/trstat/report.h"
#include "cmd/trstat/summary/partial.h"
#include "cmd/trstat/views/diff_fail_if.h"
#include "common/pairs/declared_names.h"

/* One of the two inputs. */
struct side {
	struct stage stage;
	struct settings settings;
	struct query query;
	struct statistics statistics;
	const struct side *first; /* of the second side; NULL: it is the first */
};

int diff_check(const struct settings *s, const struct diff_options *o, int operands,
	       struct error *e)
{
	const char *other = s->view_option	      ? s->view_option
			    : s->partial	      ? "partial"
			    : s->merge		      ? "merge"
			    : s->interval	      ? "interval"
			    : s->bounds		      ? "bounds"
			    : settings_selection(s)   ? settings_selection(s)
			    : s->format == TABLE_PROM ? "to=prom"
						      : NULL;
	const char *own = o->threshold > 0 ? "threshold" : o->alpha > 0 ? "alpha" : NULL;

	if (!o->asked && own)
		return error_set(e, NULL, NO_OFFSET, "--%s goes with --diff", own);
	if (o->title && s->format != TABLE_SVG)
		return error_set(e, NULL, NO_OFFSET, "--title goes with --diff -t svg");
	if (!o->asked && o->fail_if)
		return error_set(e, NULL, NO_OFFSET,
				 "--fail-if with a word instead of a condition goes with --diff");
	if (!o->asked && s->format == TABLE_SVG)
		return error_set(e, NULL, NO_OFFSET,
				 "-t svg goes with --diff; trencode -t svg draws one trace");
	if (!o->asked)
		return 0;
	if (s->format == TABLE_SVG && (s->keys || s->columns || s->limited || o->sort || s->pair))
		return error_set(e, NULL, NO_OFFSET,
				 "-t svg draws the self times of all stacks: it goes with none of "
				 "-g, -c, -n, -s and --pair");
	if (other)
		return error_set(e, NULL, NO_OFFSET, "--%s does not go with --diff", other);
	if (operands != 2)
		return error_set(e, NULL, NO_OFFSET,
				 "--diff takes two streams or summaries, not %d", operands);
	return 0;
}

/* Rows are in the order of their totals, and the test needs the histograms that a percentile adds.
 */
static int add_columns(struct side *s, struct error *e)
{
	struct columns *c = &s->query.columns;

	return columns_find(c, "total", e) < 0 || columns_find(c, "p50", e) < 0 ? -1 : 0;
}

static int begin_statistics(struct side *s)
{
	return statistics_init(&s->statistics, &s->query.keys, &s->query.columns,
			       &s->stage.in.dictionary) ||
			       (s->settings.pair && statistics_pair(&s->statistics, &s->query.pair))
		       ? -1
		       : 0;
}

/* Test whether samples are all of one type: for a picture, and beside a first side without the key
 * type. */
static bool has_one_type(const struct side *s)
{
	return s->settings.format == TABLE_SVG || (s->first && !s->first->query.keys.by_type);
}

/* Refuse samples of different types where type is no key. */
static int check_samples(const struct side *s, struct error *e)
{
	const struct sample_counts *c = &s->statistics.samples;
	const char *type = s->first ? s->first->statistics.samples.type : NULL;

	if (!c->other || !has_one_type(s))
		return statistics_check_samples(&s->statistics, e);
	return error_set(e, NULL, NO_OFFSET,
			 "samples of '%.100s' and of '%.100s': choose a type with trfilter 'type "
			 "== \"%.100s\"'",
			 c->type, c->other, type ? type : c->type);
}

/* Begin again with the key type, once, if the types that the stream declares require it. */
static int begin_rows(struct side *s, bool *begun, struct error *e)
{
	if (*begun || has_one_type(s) || !query_mixes_samples(&s->query, &s->stage.in.dictionary)) {
		*begun = true;
		return 0;
	}
	*begun = true;
	statistics_free(&s->statistics);
	s->statistics = (struct statistics){0};
	if (query_add_type(&s->query, e) || add_columns(s, e))
		return -1;
	return begin_statistics(s) ? error_no_memory(e) : 0;
}

/* Read the rows of a stream, whose first block is b. */
static int read_stream(struct side *s, struct block *b)
{
	struct statistics *st = &s->statistics;
	struct stage *stage = &s->stage;
	bool begun = false;
	struct error e;

	if (query_parse(&s->query, &s->settings, &e) || add_columns(s, &e))
		return stage_fail(stage, &e);
	stage->in.reads_values = query_reads_values(&s->query);
	if (begin_statistics(s))
		return stage_no_memory(stage);
	do {
		if (b->kind == BLOCK_EVENTS && begin_rows(s, &begun, &e))
			return stage_fail(stage, &e);
		report_missed_calls(stage, b);
		if (statistics_block(st, b))
			return stage_no_memory(stage);
		if (query_check_clocks(&s->query, &st->clocks, false, &e) ||
		    statistics_check_busy(st, &e) || check_samples(s, &e))
			return stage_fail(stage, &e);
	} while (stage_next(stage, b));
	if (stage->status == STATUS_FAILED)
		return -1;
	return statistics_finish(st) ? stage_no_memory(stage) : 0;
}

static int read_summary(struct side *s, struct block *b)
{
	struct summary sm = {.s = &s->statistics, .asked = &s->settings};
	const struct merging how = {.settings = &s->settings, .first = b, .histograms = true};
	struct error e;
	int bad = merge_run(&s->stage, &s->query, &sm, &how);

	summary_free(&sm);
	if (bad)
		return -1;
	if (s->settings.view == VIEW_TABLE && !s->settings.interval)
		return 0;
	error_set(&e, NULL, NO_OFFSET, "--diff cannot compare the summary of a view");
	return stage_fail(&s->stage, &e);
}

/* Read a stream or a summary, as its first head has it. */
static int read_side(struct side *s)
{
	struct block b;

	s->stage.in.either = true;
	if (!stage_next(&s->stage, &b))
		/* not one complete block was read: a stream without events */
		b = (struct block){0};
	return s->stage.in.summaries ? read_summary(s, &b) : read_stream(s, &b);
}

/* Returns the number of keys (-g) or columns (-a). */
static size_t count_of(const struct query *q, bool keys)
{
	return keys ? q->keys.count : q->columns.printed;
}

static const char *name_of(const struct query *q, bool keys, size_t i)
{
	return keys ? q->keys.names[i] : q->columns.column[i].name;
}

static bool same_names(const struct query *a, const struct query *b, bool keys)
{
	bool same = count_of(a, keys) == count_of(b, keys);

	for (size_t i = 0; same && i < count_of(a, keys); i++)
		same = !strcmp(name_of(a, keys, i), name_of(b, keys, i));
	return same;
}

/* List as many names as fit, for a message. */
static void list_names(const struct query *q, bool keys, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	for (size_t i = 0; i < count_of(q, keys) && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", i ? "," : "", name_of(q, keys, i));
}

/* Warn of samples of two types, whose weights are compared. */
static void check_types(const struct side *a, const struct side *b, char **paths)
{
	const struct sample_counts *s = &a->statistics.samples, *t = &b->statistics.samples;

	if (s->type && t->type && !s->typed && strcmp(s->type, t->type) != 0 &&
	    !a->stage.options->quiet)
		warn(paths[1], NO_OFFSET, "the samples are of '%s', and in %s of '%s'", t->type,
		     paths[0], s->type);
}

/* Check that both have the same keys, columns and unit of time. */
static int compare_sides(const struct side *a, const struct side *b, char **paths, struct error *e)
{
	const struct statistics *s = &a->statistics, *t = &b->statistics;
	char one[300], other[300];

	for (int keys = 1; keys >= 0; keys--) {
		if (same_names(&a->query, &b->query, keys))
			continue;
		list_names(&a->query, keys, one, sizeof(one));
		list_names(&b->query, keys, other, sizeof(other));
		return error_set(e, paths[1], NO_OFFSET,
				 "has the %s '%s', and not '%s' as %s: use -%c",
				 keys ? "keys" : "columns", other, one, paths[0], keys ? 'g' : 'c');
	}
	if (!s->groups.count || !t->groups.count)
		return 0;
	check_types(a, b, paths);
	if (a->query.columns.weights != b->query.columns.weights && !s->samples.typed)
		return error_set(e, NULL, NO_OFFSET,
				 "times and weights of samples cannot be compared");
	if (s->ticks != t->ticks && !a->query.columns.weights && !a->query.columns.ns)
		return error_set(e, NULL, NO_OFFSET, "the clocks differ: ticks and ns");
	return 0;
}

static int print_diff(struct stage *stage, const struct side *a, struct diff *d, const char *title)
{
	struct text *text = malloc(sizeof(*text));
	unsigned width = 0;
	struct error e;
	int bad;

	if (!text)
		return stage_no_memory(stage);
	d->title = title;
	d->quiet = stage->options->quiet;
	text_init(text, &stage->output);
	if (output_is_terminal(&stage->output) && !a->settings.wide)
		width = table_terminal_width(output_fd(&stage->output));
	d->more = output_is_terminal(&stage->output) && !a->settings.limited;
	d->limit = d->more && a->settings.format == TABLE_ALIGNED ? TABLE_ROWS : a->settings.limit;
	bad = diff_write(d, &a->query, width, text, &e) || text_flush(text, &e);
	free(text);
	return bad ? stage_fail(stage, &e) : 0;
}

/* Report that a stream does not declare the events of the pair, so that it has no groups. */
static bool lacks_pair(const struct side *s, const char *path)
{
	const struct pair *p = s->statistics.pair;
	char *lacks = p && !p->pairs ? pair_lacks(p->dictionary, p) : NULL;

	if (lacks)
		warn(path, NO_OFFSET, "no pair of %s: the trace has %s",
		     p->preset ? p->preset->name : p->text, lacks);
	free(lacks);
	return lacks != NULL;
}

static void fail_if_differs(struct side *a, const struct side *b, struct diff_alarms *alarms,
			    char **paths)
{
	struct stage *stage = &a->stage;
	bool undecided = false, quiet = stage->options->quiet;
	struct error reported = {.what = ""};

	if (stage->status == STATUS_FAILED)
		return;
	if (alarms->count && !a->settings.empty_ok && stage->status != STATUS_DAMAGED &&
	    b->stage.status != STATUS_DAMAGED &&
	    lacks_pair(a, paths[0]) + lacks_pair(b, paths[1]) > 0) { /* both are reported */
		stage_fail(stage, &reported);
		return;
	}
	if (diff_alarms_judge(alarms, &undecided))
		stage->status = status_worse(stage->status, STATUS_CONDITION);
	if (!quiet)
		diff_warn_few(alarms);
	if (alarms->count || !quiet)
		undecided |= diff_warn_nameless(alarms->diff, paths);
	if (undecided && alarms->count && !a->settings.empty_ok && stage->status != STATUS_DAMAGED)
		stage_fail(stage, &reported);
}

/* Refuse fields that no event of either has. A summary's were checked when it was written. */
static int check_fields(struct side *a, struct side *b, char **paths, struct error *e)
{
	struct error ea, eb;
	bool bad = !a->stage.in.summaries &&
		   check_names_of(&a->stage, paths[0], &a->query, NULL, &ea),
	     bad_too = !b->stage.in.summaries &&
		       check_names_of(&b->stage, paths[1], &b->query, NULL, &eb);

	*e = bad ? ea : eb;
	if (bad && bad_too)
		return -1;
	if ((bad || bad_too) && !a->stage.options->quiet)
		warn(e->file, NO_OFFSET, "%s", e->what);
	return 0;
}

/* Returns the title of a picture: --title, or the names of both files. */
static const char *title_of(const struct diff_options *o, char **paths, char *out, size_t size)
{
	const char *a = strrchr(paths[0], '/'), *b = strrchr(paths[1], '/');

	if (o->title)
		return o->title;
	snprintf(out, size, "%.200s, compared with %.200s", b ? b + 1 : paths[1],
		 a ? a + 1 : paths[0]);
	return out;
}

static void make_diff(struct side *a, struct side *b, char **paths, const struct diff_options *o)
{
	struct stage *stage = &a->stage;
	struct diff_alarms alarms = {0};
	struct diff d = {0};
	struct error e;
	char title[512];

	if (compare_sides(a, b, paths, &e) || check_fields(a, b, paths, &e))
		stage_fail(stage, &e);
	else if (diff_make(&d, (struct diff_side){&a->statistics, &a->query.columns},
			   (struct diff_side){&b->statistics, &b->query.columns}, o))
		stage_no_memory(stage);
	else if (o->sort && diff_sort(&d, &a->query, o->sort, &e))
		stage_fail(stage, &e);
	else if (diff_alarms_parse(&alarms, &d, &a->query, o, &e))
		stage_fail(stage, &e);
	else if (!print_diff(stage, a, &d, title_of(o, paths, title, sizeof title)))
		fail_if_differs(a, b, &alarms, paths);
	diff_alarms_free(&alarms);
	diff_free(&d);
}

/* Apply to b the keys and columns that a uses, including those from a summary. */
static void follow_side(struct side *b, const struct side *a)
{
	if (a->query.typed_keys)
		b->settings.keys = a->query.typed_keys;
	else if (!b->settings.keys)
		b->settings.keys = a->settings.keys;
	if (!b->settings.columns)
		b->settings.columns = a->settings.columns;
	if (!b->settings.pair)
		b->settings.pair = a->settings.pair;
}

static void remark_side(const struct side *s, const char *path)
{
	if (s->stage.options->quiet)
		return;
	warn_count(path, s->stage.lost, "{event was|events were} lost by the recorder");
	if (s->stage.lost_more)
		warn(path, NO_OFFSET, LOST_MORE " were lost by the recorder");
}

int diff_run(const struct settings *s, const struct diff_options *o, char **paths,
	     const struct common_options *options)
{
	struct side *side = calloc(2, sizeof(*side)), *a = side, *b = side + 1;
	int status = STATUS_FAILED;

	if (!side) {
		warn(NULL, NO_OFFSET, "out of memory");
		return STATUS_FAILED;
	}
	a->settings = b->settings = *s;
	a->settings.otherwise = b->settings.otherwise =
		s->format == TABLE_SVG ? "self" : DIFF_COLUMNS;
	if (s->format == TABLE_SVG)
		a->settings.keys = b->settings.keys = "stack";
	if (!stage_open(&a->stage, paths, 1, options) &&
	    !stage_print_to(&a->stage, options->output, OUTPUT_TEXT) &&
	    !stage_open(&b->stage, paths + 1, 1, options)) {
		b->stage.in.output = &a->stage.output;
		a->stage.alarm = o->fail_if || o->conditions;
		if (!read_side(a)) {
			follow_side(b, a);
			b->first = a;
			if (!read_side(b))
				make_diff(a, b, paths, o);
		}
		remark_side(a, paths[0]);
		remark_side(b, paths[1]);
		if (s->strict &&
		    (a->stage.lost || b->stage.lost || a->stage.lost_more || b->stage.lost_more))
			a->stage.status = status_worse(a->stage.status, STATUS_DAMAGED);
	}
	/* the output belongs to the first side, which therefore ends last */
	a->stage.status = status_worse(a->stage.status, b->stage.status);
	for (int i = 1; i >= 0; i--) {
		if (side[i].statistics.keys)
			statistics_free(&side[i].statistics);
		if (side[i].stage.options) /* the stage was opened */
			status = stage_finish(&side[i].stage);
		query_free(&side[i].query);
		settings_free(&side[i].settings);
	}
	free(side);
	return status;
}

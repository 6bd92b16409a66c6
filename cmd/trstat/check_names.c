#include "cmd/trstat/check_names.h"

#include "common/pairs/declared_names.h"

static int check_columns(const struct declared *check, const struct columns *c, struct error *e)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++)
		if (!keys_has_name(c->wanted.field[i].name) &&
		    declared_field(check, c->wanted.field[i].name, false, e))
			return -1;
	return 0;
}

/* Check the keys and columns of the table. The keys of a preset have alternatives for the events of
 * several recorders. */
static int check_table(const struct declared *check, const struct query *q, struct error *e)
{
	return ((!q->settings->pair || q->settings->keys) &&
		keys_check_names(check, &q->keys, e)) ||
			       check_columns(check, &q->columns, e)
		       ? -1
		       : 0;
}

/* Check what chooses the events that count. */
static int check_selection(struct declared *check, const struct query *q, struct error *e)
{
	return (q->settings->pair && !q->pair.preset && pair_check_names(check, &q->pair, e)) ||
			       condition_check_names(check, &q->where, e)
		       ? -1
		       : 0;
}

/* Check a column of --fail-if: its condition and its field. */
static int check_alarm(struct declared *check, struct alarm_column *c, const struct query *q,
		       struct error *e)
{
	const struct columns *columns = c->own ? &c->columns : &q->columns;
	const struct column *column = &columns->column[c->column];
	uint32_t remarks = check->warned->count;
	int bad = condition_check_names(check, &c->condition, e);

	if (!bad && column->type->flags & COLUMN_OF_FIELD) {
		const char *field = columns->wanted.field[column->field].name;

		bad = q->settings->pair && keys_has_name(field) ? 0
								: key_check_name(check, field, e);
	}
	c->remarked = check->warned->count > remarks;
	return bad;
}

int check_names_of(struct stage *stage, const char *file, const struct query *q,
		   struct alarms *alarms, struct error *e)
{
	struct intern warned = {0};
	struct declared check = {.dictionary = &stage->in.dictionary,
				 .offer = keys_offer_names,
				 .warned = &warned,
				 .file = file,
				 .partial = stage->status != STATUS_OK,
				 .quiet = stage->options->quiet};
	struct error absent = {.what = ""};
	int bad;

	if (stage_part(stage))
		return 0;
	if (alarms && alarms->count && !check.partial && !q->settings->empty_ok)
		check.absent = &absent;
	bad = check_selection(&check, q, e);
	check.quiet = false; /* what concerns an alarm is printed with -q too */
	for (size_t i = 0; alarms && i < alarms->ncolumns && !bad; i++)
		bad = check_alarm(&check, &alarms->column[i], q, e);
	check.quiet = stage->options->quiet;
	check.absent = NULL;
	if (!bad && !absent.what[0])
		bad = check_table(&check, q, e);
	intern_free(&warned);
	if (!bad && absent.what[0]) {
		*e = absent;
		return -1;
	}
	return bad ? -1 : 0;
}

int check_names(struct stage *stage, const struct query *q, struct alarms *alarms)
{
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	return check_names_of(stage, NULL, q, alarms, &e) ? stage_fail(stage, &e) : 0;
}

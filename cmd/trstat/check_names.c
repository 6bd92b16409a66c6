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

/* The keys of a preset have alternatives for the events of several recorders. */
static int check_query(struct declared *check, const struct query *q, struct error *e)
{
	bool own_pair = q->settings->pair && !q->pair.preset;

	if ((!q->settings->pair || q->settings->keys) && keys_check_names(check, &q->keys, e))
		return -1;
	if (own_pair && pair_check_names(check, &q->pair, e))
		return -1;
	return condition_check_names(check, &q->where, e) || check_columns(check, &q->columns, e)
		       ? -1
		       : 0;
}

int check_names_of(struct stage *stage, const char *file, const struct query *q,
		   const struct alarms *alarms, struct error *e)
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
	bad = check_query(&check, q, e);
	check.quiet = false; /* what concerns an alarm is printed with -q too */
	for (size_t i = 0; alarms && i < alarms->ncolumns && !bad; i++) {
		const struct alarm_column *c = &alarms->column[i];

		bad = condition_check_names(&check, &c->condition, e) ||
		      (c->own && check_columns(&check, &c->columns, e));
	}
	intern_free(&warned);
	if (!bad && absent.what[0]) {
		*e = absent;
		return -1;
	}
	return bad ? -1 : 0;
}

int check_names(struct stage *stage, const struct query *q, const struct alarms *alarms)
{
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	return check_names_of(stage, NULL, q, alarms, &e) ? stage_fail(stage, &e) : 0;
}

#include "cmd/trstat/check_names.h"

#include "common/expr/declared.h"

static enum declared_kind kind_of(void *ctx, const struct operand *o, const char **name)
{
	const struct key *k = &((const struct keys *)ctx)->key[o->field];

	*name = k->field;
	return k->kind == BY_FIELD   ? DECLARED_FIELD
	       : k->kind == BY_NAME  ? DECLARED_NAME
	       : k->kind == BY_TYPE  ? DECLARED_TYPE
	       : k->kind == BY_GROUP ? DECLARED_GROUP
	       : k->kind == BY_KIND  ? DECLARED_SORT
				     : DECLARED_OTHER;
}

static int check_condition(struct declared *check, const struct condition *c, struct error *e)
{
	check->kind = kind_of;
	check->ctx = (void *)(uintptr_t)&c->keys;
	return c->root ? declared_condition(check, c->root, e) : 0;
}

/* Check the first of A|B, unless events have another of them. */
static int check_key(const struct declared *check, const struct key *k, struct error *e)
{
	if (k->kind != BY_FIELD)
		return 0;
	for (const struct key *other = k->other; other; other = other->other)
		if (other->kind != BY_FIELD || declared_has(check->dictionary, other->field))
			return 0;
	return declared_field(check, k->field, false, e);
}

static int check_keys(const struct declared *check, const struct keys *k, struct error *e)
{
	for (size_t i = 0; i < k->count; i++)
		if (check_key(check, &k->key[i], e))
			return -1;
	return 0;
}

static int check_columns(const struct declared *check, const struct columns *c, struct error *e)
{
	for (uint32_t i = 0; i < c->wanted.field_count; i++)
		if (!keys_has_name(c->wanted.field[i].name) &&
		    declared_field(check, c->wanted.field[i].name, false, e))
			return -1;
	return 0;
}

static int check_side(struct declared *check, const struct pair_side *side, struct error *e)
{
	if (side->name && !declared_name(check, DECLARED_NAME, side->name, strlen(side->name)))
		return 0;
	return check_condition(check, &side->condition, e) || check_keys(check, &side->on, e) ? -1
											      : 0;
}

/* The keys of a preset have alternatives for the events of several recorders. */
static int check_query(struct declared *check, const struct query *q, struct error *e)
{
	bool own_pair = q->settings->pair && !q->pair.preset;

	if ((!q->settings->pair || q->settings->keys) && check_keys(check, &q->keys, e))
		return -1;
	if (own_pair && (check_side(check, &q->pair.a, e) || check_side(check, &q->pair.b, e)))
		return -1;
	return check_condition(check, &q->where, e) || check_columns(check, &q->columns, e) ? -1
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
	int bad;

	if (stage_part(stage))
		return 0;
	bad = check_query(&check, q, e);
	for (size_t i = 0; alarms && i < alarms->ncolumns && !bad; i++) {
		const struct alarm_column *c = &alarms->column[i];

		bad = check_condition(&check, &c->condition, e) ||
		      (c->own && check_columns(&check, &c->columns, e));
	}
	intern_free(&warned);
	return bad ? -1 : 0;
}

int check_names(struct stage *stage, const struct query *q, const struct alarms *alarms)
{
	struct error e;

	if (stage->status == STATUS_FAILED)
		return -1;
	return check_names_of(stage, NULL, q, alarms, &e) ? stage_fail(stage, &e) : 0;
}

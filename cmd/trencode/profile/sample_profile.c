#include "cmd/trencode/profile/sample_profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/cli/remarks.h"
#include "common/stream/field.h"
#include "common/value/scalar.h"

static bool weighs(const struct sample_profile *p, const char *what)
{
	return p->weight && !strcmp(p->weight, what);
}

static bool weighs_field(const struct sample_profile *p)
{
	return p->weight && !weighs(p, "dur") && !weighs(p, "count") && !weighs(p, "period");
}

bool sample_profile_calls(struct sample_profile *p)
{
	bool undecided = p->subject == SUBJECT_UNKNOWN || p->subject == SUBJECT_STACKS;

	if (undecided && !weighs_field(p) && !weighs(p, "period"))
		p->subject = SUBJECT_CALLS;
	p->calls += p->subject != SUBJECT_CALLS;
	return p->subject == SUBJECT_CALLS;
}

bool sample_profile_same_type(const struct type *a, const struct type *b)
{
	return a == b || (a->name.number == b->name.number &&
			  (a->flags & TYPE_WEIGHT_TIME) == (b->flags & TYPE_WEIGHT_TIME));
}

/* Get the weight of a sample. false: it has none. */
static bool weight_of(struct sample_profile *p, const struct event *ev, int128 *weight)
{
	bool field = weighs_field(p);
	struct field_value v;

	*weight = type_weight_is_signed(ev->type) ? (int64_t)sample_weight(ev)
						  : (int128)sample_weight(ev);
	if (weighs(p, "count"))
		*weight = 1;
	if (!field && !weighs(p, "count"))
		return true;
	if (p->fields != ev->type)
		p->field = field ? field_find(ev->type, p->weight)
				 : field_by_role(ev->type, ROLE_COUNT);
	p->fields = ev->type;
	if (!p->field)
		return !field;
	field_get(ev, p->field, 0, &v);
	if (v.form != FORM_UINT && v.form != FORM_INT)
		return !field;
	*weight = v.form == FORM_INT ? v.i : (int128)v.u;
	return true;
}

/* Get the node of the thread of a sample, mostly that of the last one. Returns 0, or -1 when out of
 * memory. */
static int sample_root(struct sample_profile *p, struct call_stacks *cs, const struct lane *lane)
{
	if (!p->by_comm || (p->rooted && p->comm == lane->comm.number))
		return 0;
	p->rooted = true;
	p->comm = lane->comm.number;
	return call_stacks_named(cs, STACK_ROOT, lane->comm, &p->root);
}

/* Forget the samples of all types but the first. */
static void drop_typed(struct sample_profile *p)
{
	for (size_t i = 0; i < p->ntyped; i++) {
		p->samples += p->typed[i].samples;
		idmap_free(&p->typed[i].numbers);
		free(p->typed[i].sums);
	}
	p->ntyped = 0;
}

/* Choose the subject, if the event may be it. */
static void choose_subject(struct sample_profile *p, const struct event *ev)
{
	bool sample = ev->type->kind == KIND_SAMPLE;

	if (weighs(p, "dur") ||
	    (p->subject != SUBJECT_UNKNOWN && !(sample && p->subject == SUBJECT_STACKS)))
		return;
	drop_typed(p);
	p->subject = sample ? SUBJECT_SAMPLES : SUBJECT_STACKS;
	p->type = ev->type;
}

/* Get the samples of a type; NULL: out of memory. */
static struct typed_samples *typed_of(struct sample_profile *p, const struct type *type)
{
	struct typed_samples *t;

	for (size_t i = 0; i < p->ntyped; i++)
		if (sample_profile_same_type(p->typed[i].type, type))
			return &p->typed[i];
	if (ARRAY_GROW(p->typed, p->typed_capacity, p->ntyped))
		return NULL;
	t = p->typed;
	t[p->ntyped] = (struct typed_samples){.type = type};
	return &t[p->ntyped++];
}

/* Add a sample of a type that is not the first. */
static int add_typed(struct sample_profile *p, const struct type *type, uint32_t node,
		     int128 weight)
{
	struct typed_samples *t = typed_of(p, type);
	uint32_t number = t ? idmap_get(&t->numbers, node) : 0;

	if (!t)
		return -1;
	if (!number) {
		if (t->count == UINT32_MAX || ARRAY_GROW(t->sums, t->capacity, t->count))
			return -1;
		number = (uint32_t)t->count + 1;
		if (idmap_set(&t->numbers, node, number))
			return -1;
		t->sums[t->count++] = (struct typed_sum){.node = node};
	}
	t->samples++;
	t->sums[number - 1].samples++;
	t->sums[number - 1].weight += weight;
	return 0;
}

int sample_profile_add(struct sample_profile *p, struct call_stacks *cs, const struct event *ev,
		       uint32_t stack)
{
	enum profile_subject subject =
		ev->type->kind == KIND_SAMPLE ? SUBJECT_SAMPLES : SUBJECT_STACKS;
	uint32_t node;
	int128 weight;

	choose_subject(p, ev);
	if (p->subject != subject) {
		p->samples++;
		return 0;
	}
	if (!weight_of(p, ev, &weight)) {
		p->weightless++;
		return 0;
	}
	if (sample_root(p, cs, ev->lane) || call_stacks_recorded(cs, p->root, stack, &node))
		return -1;
	/* without a stack and the frame of a thread, a sample is a function of its type, as in
	 * trstat */
	if (node == STACK_ROOT && call_stacks_named(cs, STACK_ROOT, ev->type->name, &node))
		return -1;
	if (node == STACK_ROOT)
		return 0;
	if (subject == SUBJECT_STACKS || !sample_profile_same_type(p->type, ev->type))
		return add_typed(p, ev->type, node, weight);
	p->first++;
	cs->tree.nodes[node].calls++;
	stack_tree_add(&cs->tree, node, weight);
	return 0;
}

void sample_profile_free(struct sample_profile *p)
{
	drop_typed(p);
	free(p->typed);
}

/* Put the type with the most samples into the tree. */
static void choose_type(struct sample_profile *p, struct stack_tree *t)
{
	struct typed_samples *most = NULL;

	for (size_t i = 0; i < p->ntyped; i++)
		if (p->typed[i].samples > (most ? most->samples : p->first))
			most = &p->typed[i];
	if (most) {
		for (size_t i = 1; i < t->count; i++) {
			t->nodes[i].self = 0;
			t->nodes[i].calls = 0;
		}
		for (size_t i = 0; i < most->count; i++) {
			t->nodes[most->sums[i].node].self = most->sums[i].weight;
			t->nodes[most->sums[i].node].calls = most->sums[i].samples;
		}
		p->samples += p->first;
		p->type = most->type;
		most->samples = 0;
	}
	if (weighs_field(p))
		p->field = field_find(p->type, p->weight);
	drop_typed(p);
}

void sample_profile_finish(struct sample_profile *p, struct stack_tree *t)
{
	bool several = p->ntyped;

	if (p->subject == SUBJECT_STACKS)
		p->subject = SUBJECT_SAMPLES;
	if (p->subject == SUBJECT_SAMPLES)
		choose_type(p, t);
	if (p->subject == SUBJECT_CALLS) {
		for (size_t i = 1; weighs(p, "count") && i < t->count; i++)
			t->nodes[i].self = t->nodes[i].calls;
		return;
	}
	/* a caller's number is below those of its callees, as nodes of samples are never joined */
	for (size_t i = t->count; i-- > 1;) {
		struct stack_node *n = &t->nodes[i];

		if (n->parent == STACK_LOOSE)
			continue;
		if (n->self < 0 && !p->is_signed) {
			p->negative++;
			n->self = 0;
			n->calls = 0;
		}
		add_saturated(&n->total, saturated_u64(n->self));
		if (n->parent != STACK_ROOT)
			add_saturated(&t->nodes[n->parent].total, n->total);
	}
	if (several)
		stack_tree_prune(t);
}

const char *sample_profile_type(const struct sample_profile *p, const char **unit)
{
	if (p->subject != SUBJECT_SAMPLES && p->subject != SUBJECT_PAIRS)
		return NULL;
	*unit = "count";
	if (weighs(p, "count"))
		return p->pair ? "pairs" : "samples";
	if (p->pair) {
		*unit = p->ticks ? "count" : "nanoseconds";
		return p->pair;
	}
	if (weighs_field(p))
		return p->weight;
	if (p->type->flags & TYPE_WEIGHT_TIME)
		*unit = "nanoseconds";
	return p->type->name.text;
}

int sample_profile_check(const struct sample_profile *p, struct error *e)
{
	if (p->pair && p->weight && !weighs(p, "dur") && !weighs(p, "count"))
		return error_set(e, NULL, NO_OFFSET, "--weight of pairs is dur or count, not '%s'",
				 p->weight);
	if (p->subject == SUBJECT_UNKNOWN && p->calls)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight %s: the trace has calls, which weigh dur or count",
				 p->weight);
	if (p->subject == SUBJECT_UNKNOWN && p->samples)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight dur: the trace has samples, which weigh period, count "
				 "or a field");
	if (p->subject == SUBJECT_SAMPLES && p->weight && weighs_field(p) && !p->field)
		return error_set(e, NULL, NO_OFFSET, "--weight: '%s' has no field '%s'",
				 p->type->name.text, p->weight);
	return 0;
}

void sample_profile_report(const struct sample_profile *p)
{
	if (p->subject == SUBJECT_SAMPLES && p->samples)
		remark(NULL,
		       "the profile is of the samples of '%s', the most frequent type: choose "
		       "others with trfilter 'type == ...'",
		       p->type->name.text);
	remark_count(p->samples, p->subject == SUBJECT_CALLS
					 ? "{sample|samples} left out: the profile is of calls"
					 : "{sample|samples} of other types left out");
	remark_count(p->calls, "{row|rows} of calls left out: the profile is of samples");
	remark_count(
		p->negative,
		"{stack|stacks} with a negative weight left out: -t folded and -t pprof hold them");
	remark_count(p->weightless, "{sample|samples} without the field of --weight left out");
}

int other_events_add(struct other_events *o, const struct type *type)
{
	enum { MOST = 5 };

	o->count++;
	if (type == o->last || o->types.count > MOST)
		return 0;
	o->last = type;
	return intern(&o->types, type->name.text, type->name.size) == INTERN_NONE ? -1 : 0;
}

void other_events_report_empty(const struct other_events *o)
{
	char names[256];
	size_t at = 0;

	if (!o->count)
		return;
	for (uint32_t i = 0; i < o->types.count && i < 5 && at < sizeof names; i++)
		at += (size_t)snprintf(names + at, sizeof names - at, "%s%.*s", i ? ", " : "",
				       (int)intern_size(&o->types, i), intern_data(&o->types, i));
	remark(NULL,
	       "nothing to show: the trace has no calls and no samples, only other events (%s%s); "
	       "--pair shows the times between two of them",
	       names, o->types.count > 5 ? ", ..." : "");
}

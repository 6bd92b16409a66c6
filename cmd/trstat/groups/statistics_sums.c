/*
 * statistics_sums.c - samples summed by their stacks, before they count in the groups of the frames
 *
 * A sample of N frames counts in up to N groups. The columns that most tables have need only sums
 * and extremes of the weights: samples are summed for their stack, and at the end each sum is added
 * to those of its callers, from the highest number down, as a caller's number is below those of
 * its callees. Without the sums, 'trdecode | trstat' of t/bench/perf.sh takes 1.20 times the
 * instructions.
 */
#include <stdlib.h>

#include "cmd/trstat/groups/statistics_private.h"

/* Larger weights, and negative ones, are not summed, so the sums of 2^20 samples do not overflow.
 */
#define WEIGHT_MOST ((uint64_t)1 << 44)

/* Find the sums of a type, or free ones. NULL: there are no more. */
static struct type_sums *sums_of(struct statistics *s, uint32_t type)
{
	for (struct type_sums *t = s->samples.sums; t < s->samples.sums + SUMMED_TYPES; t++)
		if (!t->type || t->type == type) {
			t->type = type;
			return t;
		}
	return NULL;
}

/* Make room for a stack. */
static int reach(struct type_sums *t, uint32_t stack)
{
	return ARRAY_REACH(t->frame, t->nframes, stack) || ARRAY_REACH(t->sum, t->nsums, stack) ? -1
												: 0;
}

/* Set the group and the next frame of each frame; the callers of one that has them have them. */
static int learn_groups(struct statistics *s, struct type_sums *t, struct event_ref *subject,
			uint32_t stack)
{
	const struct known_frame *known = s->samples.known;
	struct buffer *frames = &s->samples.frames;

	frames->size = 0;
	if (reach(t, stack))
		return -1;
	for (; stack && !t->frame[stack].group && !t->frame[stack].next;
	     stack = known[stack].caller) {
		if (buffer_u32(frames, stack))
			return -1;
		if (known[stack].first != stack)
			continue;
		subject->location = dictionary_stack_location(s->dictionary, stack);
		t->frame[stack].group = statistics_group(s, subject);
		if (!t->frame[stack].group)
			return -1;
	}
	for (size_t i = frames->size; i; i -= 4) {
		struct counted_frame *f = &t->frame[get_u32(frames->data + i - 4)];
		uint32_t caller = known[f - t->frame].caller;

		f->next = t->frame[caller].group ? caller : t->frame[caller].next;
	}
	return 0;
}

const struct counted_frame *statistics_learn_groups(struct statistics *s, struct event_ref *subject,
						    uint32_t stack)
{
	struct type_sums *t = sums_of(s, subject->type->number);

	if (t && learn_groups(s, t, subject, stack)) {
		s->out_of_memory = true;
		return NULL;
	}
	return t ? t->frame : NULL;
}

/* --- sums --- */

static bool suffices(const struct statistics *s)
{
	const struct columns_wanted *w = &s->columns->wanted;

	return !(s->keys->needs & ~(unsigned)(NEEDS_LOCATION | NEEDS_TYPE)) && !w->field_count &&
	       !w->rarely && !statistics_selects(s);
}

/* Add values of one bucket to the histograms of the frames from a stack on. */
static int add_values(const struct statistics *s, const struct type_sums *t, uint32_t stack,
		      uint32_t bucket, uint32_t n)
{
	uint32_t histogram = s->columns->wanted.histogram;
	uint32_t at = t->frame[stack].group ? stack : t->frame[stack].next;

	for (; n && histogram && at; at = t->frame[at].next)
		if (histogram_add_bucket(aggregate_part(t->frame[at].group, histogram), bucket, n))
			return -1;
	return 0;
}

/* Add a sum to that of a stack. Values of another bucket are added to histograms at once. */
static int add_sum(const struct statistics *s, struct type_sums *t, uint32_t stack,
		   const struct stack_sum *from)
{
	struct stack_sum *to = &t->sum[stack];

	if (!to->count || from->least < to->least)
		to->least = from->least;
	if (!to->count || from->most > to->most)
		to->most = from->most;
	to->weight += from->weight;
	to->count += from->count;
	if (to->bucketed && to->bucket != from->bucket)
		return add_values(s, t, stack, from->bucket, from->bucketed);
	to->bucket = from->bucket;
	to->bucketed += from->bucketed;
	return 0;
}

enum outcome statistics_sum_sample(struct statistics *s, struct event_ref *subject, uint32_t stack)
{
	struct sample_counts *c = &s->samples;
	uint64_t weight = subject->total;
	struct type_sums *t;

	if (weight > WEIGHT_MOST || !suffices(s))
		return OUTCOME_NO;
	t = sums_of(s, subject->type->number);
	if (!t)
		return OUTCOME_NO;
	if (stack >= t->nsums || !t->sum[stack].count) {
		if ((stack >= c->nknown || !c->known[stack].function) &&
		    statistics_learn_frames(s, stack))
			return OUTCOME_FAILED;
		if (learn_groups(s, t, subject, stack))
			return OUTCOME_FAILED;
	}
	if ((c->summed > UINT64_MAX - weight || c->nsummed == UINT32_MAX) && statistics_add_sums(s))
		return OUTCOME_FAILED;
	c->summed += weight;
	c->nsummed++;
	return add_sum(s, t, stack,
		       &(struct stack_sum){.weight = weight,
					   .least = weight,
					   .most = weight,
					   .count = 1,
					   .bucketed = 1,
					   .bucket = histogram_index(weight)})
		       ? OUTCOME_FAILED
		       : OUTCOME_YES;
}

/* --- the end --- */

/* Add the sums of the samples themselves to the groups of their innermost functions. */
static void add_own(struct type_sums *t, const struct known_frame *known)
{
	for (size_t i = 1; i < t->nsums; i++) {
		const struct stack_sum *sum = &t->sum[i];
		struct aggregate *a;

		if (!sum->count)
			continue;
		t->sum[known[i].first].own += sum->count;
		a = t->frame[known[i].first].group;
		a->self += sum->weight;
		aggregate_self_extremes(a, (int64_t)sum->least, (int64_t)sum->most);
	}
}

/* Add a sum to the group of its innermost frame. */
static int add_to_frame(const struct statistics *s, struct aggregate *a,
			const struct stack_sum *sum)
{
	uint32_t histogram = s->columns->wanted.histogram;

	a->calls += sum->count;
	a->total += sum->weight;
	aggregate_total_extremes(a, (int64_t)sum->least, (int64_t)sum->most);
	/* samples of callees have no self value in the group */
	if (sum->count > sum->own)
		aggregate_self_extremes(a, 0, 0);
	return histogram && sum->bucketed ? histogram_add_bucket(aggregate_part(a, histogram),
								 sum->bucket, sum->bucketed)
					  : 0;
}

/* Add the sums to those of the callers and to the groups of all frames, and clear them. */
static int add_all(const struct statistics *s, struct type_sums *t)
{
	const struct known_frame *known = s->samples.known;

	for (size_t i = t->nsums; i-- > 1;) {
		struct stack_sum *sum = &t->sum[i];

		if (!sum->count)
			continue;
		if ((known[i].caller && add_sum(s, t, known[i].caller, sum)) ||
		    (t->frame[i].group && add_to_frame(s, t->frame[i].group, sum)))
			return -1;
		*sum = (struct stack_sum){0};
	}
	return 0;
}

int statistics_add_sums(struct statistics *s)
{
	struct sample_counts *c = &s->samples;

	for (struct type_sums *t = c->sums; c->nsummed && t < c->sums + SUMMED_TYPES; t++) {
		add_own(t, c->known);
		if (add_all(s, t)) {
			s->out_of_memory = true;
			return -1;
		}
	}
	c->summed = c->nsummed = 0;
	return 0;
}

void statistics_forget_samples(struct statistics *s)
{
	struct sample_counts *c = &s->samples;

	statistics_add_sums(s);
	if (c->known)
		memset(c->known, 0, c->nknown * sizeof(*c->known));
	for (struct type_sums *t = c->sums; t < c->sums + SUMMED_TYPES; t++)
		if (t->frame)
			memset(t->frame, 0, t->nframes * sizeof(*t->frame));
}

void statistics_free_sums(struct statistics *s)
{
	for (struct type_sums *t = s->samples.sums; t < s->samples.sums + SUMMED_TYPES; t++) {
		free(t->frame);
		free(t->sum);
	}
}

void statistics_fetch_sums(const struct statistics *s, const struct block *b)
{
	const struct type_sums *t = s->samples.sums;

	for (uint32_t i = 1; t->type && i <= b->stacks.count; i++)
		if (b->stacks.numbers[i] < t->nsums)
			__builtin_prefetch(&t->sum[b->stacks.numbers[i]], 1);
}

#include "cmd/trfilter/rows/time_range.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/util/siphash.h"

void time_range_free(struct time_range *l)
{
	condition_free(l->from);
	condition_free(l->to);
	condition_free(l->by);
	pairing_free(&l->pairing);
	time_window_free(&l->window);
	free(l->inside);
}

bool time_range_read_values(const struct time_range *l)
{
	return (l->from && (condition_reads_values(l->from) || condition_reads_values(l->to))) ||
	       (l->by && condition_reads_values(l->by));
}

int time_range_sample(struct time_range *l, const char *text)
{
	char *end;

	errno = 0;
	l->sample = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '/' || end[1] < '0' || end[1] > '9')
		return -1;
	l->of = strtoull(end + 1, &end, 10);
	return *end || errno || !l->of || l->sample > l->of ? -1 : 0;
}

struct node *time_range_condition(const char *text, const char *option, struct error *e)
{
	struct node *n = condition_parse(text, e);

	if (!n || !condition_of_calls(n))
		return n;
	condition_free(n);
	error_set(e, NULL, NO_OFFSET, "%s tests single events, not whole calls as '%s' does",
		  option, text);
	return NULL;
}

struct node *time_range_field(const char *text, struct error *e)
{
	struct node *n = time_range_condition(text, "--by", e);

	if (!n || (n->kind == NODE_TRUTH && operand_field(n->left)))
		return n;
	condition_free(n);
	error_set(e, NULL, NO_OFFSET, "--by takes the name of a field, not '%s'", text);
	return NULL;
}

/* --- times --- */

void time_range_block(struct time_range *l, const struct block *b, bool new_stream)
{
	if (!l->pairing.calls.dictionary)
		pairing_init(&l->pairing, l->evaluation.dictionary);
	time_window_block(&l->window, b, new_stream);
	if (b->kind != BLOCK_HEAD || !new_stream)
		return;
	/* ranges never continue in the next stream */
	pairing_forget(&l->pairing);
	if (l->ninside)
		memset(l->inside, 0, l->ninside);
}

enum time_range_answer time_range_of_block(struct time_range *l, const struct block *b)
{
	bool before = true, inside = true;

	for (uint32_t i = 0; i < b->ntypes; i++)
		/* leaves whose enters were in the range, and rows that are always kept */
		if (b->types[i]->kind == KIND_ENTER || b->types[i]->kind == KIND_LEAVE ||
		    !kind_is_event(b->types[i]->kind))
			return TIME_RANGE_ASK;
	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct clock_window *w = time_window_of(&l->window, b->lanes[i]->clock);

		before = before && (b->last < w->since || b->base >= w->until);
		inside = inside && b->base >= w->since && b->last < w->until;
	}
	if (before)
		return TIME_RANGE_NO;
	l->in_window |= inside;
	return inside && !l->from && !l->by ? TIME_RANGE_YES : TIME_RANGE_ASK;
}

/* --- rows --- */

/* Position of an event relative to the ranges of its thread. */
enum range { RANGE_OUTSIDE, RANGE_INSIDE, RANGE_BORDER };

/* Update the thread's range. closes: the leave of a call that was tested at its enter. */
static enum range in_between(struct time_range *l, const struct event *e, bool closes)
{
	uint32_t thread = e->lane->thread;
	uint8_t *inside;
	struct node *n;

	if (ARRAY_REACH(l->inside, l->ninside, thread)) {
		l->pairing.calls.out_of_memory = true;
		return RANGE_OUTSIDE;
	}
	inside = l->inside;
	inside = &l->inside[thread];
	n = *inside ? l->to : l->from;
	/* unless the condition names leaves */
	if ((closes && !(n->depends & DEPENDS_KIND)) || !evaluate(&l->evaluation, n, e))
		return *inside ? RANGE_INSIDE : RANGE_OUTSIDE;
	*inside = !*inside;
	return RANGE_BORDER;
}

/* Returns true if the event's value is in the sample, which is the same in every stream and on
 * every machine. */
static bool is_sampled(struct time_range *l, const struct event *e)
{
	static const struct siphash_key key = {0x7472757469, 0x6c73};
	const void *data;
	struct scalar s = {.form = SCALAR_NONE};
	uint64_t number;
	size_t n = 8;

	operand_value(&l->evaluation, l->by->left, e, &s);
	if (s.form == SCALAR_NONE || s.form == SCALAR_OTHER) {
		l->unsampled++;
		return false;
	}
	number = htole64(s.form == SCALAR_REAL ? (uint64_t)(int64_t)s.real : s.u);
	data = &number;
	if (s.form == SCALAR_TEXT) {
		data = s.text;
		n = s.size;
	}
	return siphash(&key, data, n) % l->of < l->sample;
}

bool time_range_row(struct time_range *l, const struct event *e)
{
	const struct clock_window *w = time_window_of(&l->window, e->lane->clock);
	bool holds = e->time >= w->since && e->time < w->until;
	uint32_t at_enter = false;
	bool closes = e->type->kind == KIND_LEAVE && pairing_leave(&l->pairing, e, &at_enter);
	enum range range = RANGE_INSIDE;

	l->in_window |= holds;
	if (holds && l->from) {
		range = in_between(l, e, closes);
		holds = range != RANGE_OUTSIDE;
	}
	/* a leave that is itself a border belongs to the range, wherever its enter is */
	if (closes && (at_enter || range != RANGE_BORDER))
		return at_enter;
	l->in_between |= holds;
	if (holds && l->by)
		holds = is_sampled(l, e);
	l->in_sample |= holds;
	if (e->type->kind == KIND_ENTER)
		pairing_enter(&l->pairing, e, holds);
	return holds;
}

void time_range_report(const struct time_range *l, bool whole)
{
	const struct operand *o = l->by ? l->by->left : NULL;
	const struct field_lookup *lookup = o ? o->data : NULL;

	if (whole && !l->in_window)
		time_window_report(&l->window);
	else if (whole && !l->in_between && l->from)
		warn(NULL, NO_OFFSET, "no event matches the first condition of --between");
	else if (whole && !l->in_sample && l->by && !l->unsampled)
		warn(NULL, NO_OFFSET,
		     "no value of %s%s is in the sample: --sample keeps %" PRIu64 " of %" PRIu64,
		     lookup->is_argument ? "arg." : "", o->name, l->sample, l->of);
	if (l->unsampled)
		warn_count(NULL, l->unsampled,
			   "{event|events} without the field %s%s {is|are} not in the sample",
			   lookup->is_argument ? "arg." : "", o->name);
}

/*
 * uftrace.c - text of uftrace recordings, as `uftrace replay` prints it: the functions of the
 * layout. rows.c prints the rows, remaining.c the calls open at the end.
 */
#include "cmd/trencode/text/layout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/formats/uftrace.h"
#include "cmd/trencode/text/uftrace/uftrace.h"

static int uftrace_begin(void *state, const struct encoding *en, struct error *e)
{
	struct text_uftrace *s = state;

	s->out = en->text;
	s->dictionary = en->dictionary;
	s->depth = en->options->depth;
	s->quiet = en->options->quiet;
	s->terminal = output_is_terminal(s->out->out);
	if (columns_parse(&s->columns, en->options->columns, e))
		return -1;
	return 0;
}

static void uftrace_free_state(void *state)
{
	struct text_uftrace *s = state;

	for (size_t i = 0; i < s->nrecordings; i++)
		recording_free(s->recordings[i]);
	free(s->recordings);
	free(s->tasks);
	free(s->locations);
	buffer_free(&s->arguments);
	buffer_free(&s->comment);
	buffer_free(&s->result);
}

struct recording *text_uftrace_recording(struct text_uftrace *s, const struct source *source)
{
	if (source->number >= s->nrecordings) {
		if (ARRAY_REACH(s->recordings, s->nrecordings, source->number))
			return NULL;
	}
	if (!s->recordings[source->number])
		s->recordings[source->number] = recording_new(source);
	return s->recordings[source->number];
}

/* --- the layout --- */

static int uftrace_meta(void *state, const struct source *source, const struct meta *m,
			struct error *e)
{
	struct recording *r = text_uftrace_recording(state, source);

	return r && !recording_meta(r, m) ? 0 : error_no_memory(e);
}

static enum threshold_kind threshold_kind(const struct event *ev)
{
	uint32_t id = ev->type->native;

	switch (ev->type->kind) {
	case KIND_ENTER: return THRESHOLD_ENTER;
	case KIND_LEAVE: return THRESHOLD_LEAVE;
	case KIND_GAP: return THRESHOLD_SHOWN;
	}
	if (id == UFTRACE_EV_EXTERN)
		return THRESHOLD_ALONE;
	return id >= UFTRACE_EV_USER_FIRST ? THRESHOLD_SHOWN : THRESHOLD_EVENT;
}

static bool is_scheduling(const struct event *ev)
{
	uint32_t id = ev->type->native;

	return ev->type->flags & TYPE_INNER ||
	       (ev->type->kind == KIND_INSTANT && id >= UFTRACE_EV_SCHED_IN &&
		id < UFTRACE_EV_USER_FIRST);
}

static int print_decided(struct text_uftrace *s, struct recording *r, struct error *e)
{
	struct event ev;

	while (duration_threshold_get(r->threshold, &ev))
		if (text_uftrace_row(s, r, &ev, e))
			return -1;
	return 0;
}

static int uftrace_begin_recording(struct text_uftrace *s, struct recording *r, struct error *e)
{
	if (recording_begin(r, s->depth))
		return error_no_memory(e);
	if (r->odd_options && !s->quiet)
		remark(r->source->name.text,
		       "of its default.opts only the time filter (-t) is applied");
	if (!s->header)
		columns_header(s->out, &s->columns);
	s->header = true;
	return 0;
}

/* Return the recording of a source, which is begun. */
static struct recording *begun_recording(struct text_uftrace *s, const struct source *source,
					 struct error *e)
{
	struct recording *r = s->recording;

	if (__builtin_expect(r && r->source == source, 1))
		return r;
	r = text_uftrace_recording(s, source);
	if (!r)
		error_no_memory(e);
	else if (!r->ready && uftrace_begin_recording(s, r, e))
		return NULL;
	return s->recording = r;
}

static int flush(struct text_uftrace *s, struct recording *r, struct error *e)
{
	if (!r || !r->threshold)
		return 0;
	duration_threshold_flush(r->threshold);
	return print_decided(s, r, e);
}

static int uftrace_restored(void *state, const struct stack *stack, uint64_t first, struct error *e)
{
	struct text_uftrace *s = state;
	struct recording *r = begun_recording(s, stack->lane->source, e);

	/* the stacks of what is queued are those before */
	if (!r || flush(s, r, e))
		return -1;
	return text_uftrace_restored(s, stack, first) ? error_no_memory(e) : 0;
}

static int uftrace_event(void *state, const struct event *ev, struct error *e)
{
	struct text_uftrace *s = state;
	struct recording *r = begun_recording(s, ev->lane->source, e);
	struct threshold_row row;

	if (!r)
		return -1;
	if (__builtin_expect(!r->threshold, 1))
		return text_uftrace_row(s, r, ev, e);
	/* with a time filter uftrace counts times from the first row, shown or not */
	if (!r->replay.first && ev->type->kind != KIND_GAP)
		r->replay.first = ev->time;
	row = (struct threshold_row){*ev, threshold_kind(ev), is_scheduling(ev)};
	if (duration_threshold_put(r->threshold, &row))
		return error_no_memory(e);
	return print_decided(s, r, e);
}

/* Report on stderr the calls that are missing, or shown without need. */
static void uftrace_print_counts(struct text_uftrace *s)
{
	uint64_t undecided = 0;

	for (size_t i = 0; i < s->nrecordings && !s->quiet; i++)
		if (s->recordings[i] && s->recordings[i]->threshold)
			undecided += duration_threshold_undecided(s->recordings[i]->threshold);
	if (!s->quiet)
		remark_count(s->hidden, "{call is|calls are} nested too deep to be shown (see -D)");
	remark_count(undecided,
		     "{call is|calls are} shown that may be shorter than the time filter");
}

static int uftrace_end(void *state, struct error *e)
{
	struct text_uftrace *s = state;

	for (size_t i = 0; i < s->nrecordings; i++)
		if (flush(s, s->recordings[i], e))
			return -1;
	text_uftrace_settle(s);
	for (size_t i = 0; i < s->nrecordings; i++)
		if (s->recordings[i])
			text_uftrace_remaining(s, s->recordings[i]);
	uftrace_print_counts(s);
	return 0;
}

const struct text_layout text_uftrace = {
	.format = "uftrace",
	.state_size = sizeof(struct text_uftrace),
	.begin = uftrace_begin,
	.meta = uftrace_meta,
	.restored = uftrace_restored,
	.event = uftrace_event,
	.end = uftrace_end,
	.free = uftrace_free_state,
};

/*
 * flame_chart.c - -t svg --by-time: a flame chart, the calls and the samples of each thread by time
 *
 * A call is a frame from its enter to its leave. A sample lasts until the next sample of its
 * thread. Where its weight is a time, and the next sample is more than twice the weight later, the
 * sample lasts its weight: the thread did not run in between. Neighbouring samples share the frames
 * that their stacks have in common. The samples are those of one type, the first in the trace.
 *
 * Where the trace has samples without times, whose clock counts ticks, and no calls, a sample lasts
 * its weight, from the end of the sample before it: the chart counts what the samples count.
 */
#include "cmd/trencode/timeline/flame_chart.h"

#include <stdlib.h>

#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/profile/folded.h"
#include "cmd/trencode/profile/sample_profile.h"
#include "cmd/trencode/timeline/spans.h"
#include "cmd/trencode/timeline/tracks.h"
#include "common/util/stack_limit.h"

/* One run of the encoder. */
struct chart_run {
	struct flame_chart chart;
	struct spans spans;
	struct tracks tracks;
	struct location_names names;
	uint32_t *numbers; /* by location: number in chart.names + 1; 0 not yet looked up */
	size_t nnumbers;
	uint32_t symbol_changes;
	const struct type *sampled; /* of the samples that are shown */
	struct buffer frames;	    /* locations of a stack, innermost first */
	struct other_events others;
	uint64_t crossing, samples, negative;
	uint64_t elapsed; /* with timeless: weight of the samples so far */
	bool started, drop, timeless;
};

static int clean_name(struct buffer *to, const char *name, size_t n)
{
	return n ? folded_clean_name(to, NULL, (struct text_ref){name, (uint32_t)n, 0})
		 : buffer_u8(to, '?');
}

/* Get the number of a location's name. */
static int name_of(struct chart_run *s, uint32_t location, uint32_t *number)
{
	const struct dictionary *d = s->names.dictionary;
	uint32_t *numbers, size;
	const char *name;

	if (ARRAY_REACH(s->numbers, s->nnumbers, location))
		return -1;
	numbers = s->numbers;
	if (s->symbol_changes != d->symbol_changes)
		memset(numbers, 0, s->nnumbers * sizeof *numbers);
	s->symbol_changes = d->symbol_changes;
	if (!numbers[location]) {
		name = location_names_get(&s->names, location, &size);
		*number = name ? intern(&s->chart.names, name, size) : INTERN_NONE;
		if (*number == INTERN_NONE)
			return -1;
		numbers[location] = *number + 1;
	}
	*number = numbers[location] - 1;
	return 0;
}

/* Get the thread of that number; NULL: out of memory. */
static struct chart_thread *thread_of(struct chart_run *s, uint32_t number, const struct lane *lane)
{
	struct track *track = tracks_get(&s->tracks, number, lane);
	struct flame_chart *c = &s->chart;
	struct chart_thread *t = track ? track->user : NULL, **threads;

	if (!track)
		return NULL;
	if (!t) {
		if (ARRAY_GROW(c->threads, c->capacity, c->nthreads))
			return NULL;
		threads = c->threads;
		t = calloc(1, sizeof *t);
		if (!t)
			return NULL;
		threads[c->nthreads++] = t;
		track->user = t;
	}
	if (track->renamed) {
		track->renamed = false;
		t->name.size = 0;
		if (track_name(track, lane, &t->name) ||
		    (!track->per_cpu && !track->made_up &&
		     buffer_printf(&t->name, " [%d]", track->tid)))
			return NULL;
	}
	return t;
}

/* --- calls --- */

static int end_call(void *ctx, const struct span *span, const struct event *leave, struct error *e)
{
	struct chart_run *s = ctx;
	struct chart_frame f = {span->start, span->end, 0, span->level + span->beside, 0};
	struct chart_thread *t;

	(void)leave;
	if (span->unfinished && s->drop)
		return 0;
	if (span->crossing) {
		s->crossing++;
		return 0;
	}
	if (f.end < f.start)
		f.end = f.start;
	t = thread_of(s, span->thread, span->lane);
	if (!t || name_of(s, span->location, &f.name) ||
	    chart_frames_add(&s->chart.frames, &t->calls, &f))
		return error_no_memory(e);
	s->chart.calls = true;
	return 0;
}

/* --- samples --- */

/* End the frames above the lowest ones. */
static int close_frames(struct chart_run *s, struct chart_thread *t, size_t lowest, uint64_t time)
{
	struct sampled_thread *st = &t->sampled;

	while (st->nopen > lowest) {
		const struct open_frame *o = &st->open[--st->nopen];
		struct chart_frame f = {o->start, time > o->start ? time : o->start, o->name,
					(uint32_t)st->nopen, 0};

		if (chart_frames_add(&s->chart.frames, &t->samples, &f))
			return -1;
	}
	return 0;
}

/* Open the frames of a stack that are not open, and end those that it does not have. */
static int show_stack(struct chart_run *s, struct chart_thread *t, uint32_t stack, uint64_t time)
{
	const struct dictionary *d = s->names.dictionary;
	struct sampled_thread *st = &t->sampled;
	size_t level = 0;

	s->frames.size = 0;
	for (; stack; stack = dictionary_stack_parent(d, stack))
		if (buffer_u32(&s->frames, dictionary_stack_location(d, stack)))
			return -1;
	for (size_t i = s->frames.size; i && level < STACK_FRAMES; i -= 4, level++) {
		uint32_t name;

		if (name_of(s, get_u32(s->frames.data + i - 4), &name))
			return -1;
		if (level < st->nopen && st->open[level].name == name)
			continue;
		if (close_frames(s, t, level, time) || ARRAY_GROW(st->open, st->capacity, level))
			return -1;
		st->open[st->nopen++] = (struct open_frame){time, name};
	}
	return close_frames(s, t, level, time);
}

/* Get the time at which the last sample ends, where the next one is at `next`. */
static uint64_t end_of_sample(const struct chart_run *s, const struct sampled_thread *st,
			      uint64_t next)
{
	bool timed = s->sampled->flags & TYPE_WEIGHT_TIME;

	if (s->timeless)
		return st->time + st->weight;
	return timed && next - st->time > st->weight && next - st->time - st->weight > st->weight
		       ? st->time + st->weight
		       : next;
}

static int add_sample(struct chart_run *s, const struct event *ev)
{
	struct chart_thread *t = thread_of(s, ev->lane->thread, ev->lane);
	struct sampled_thread *st = t ? &t->sampled : NULL;
	uint64_t time = s->timeless ? s->elapsed : ev->time;

	if (!t)
		return -1;
	add_saturated(&s->elapsed, sample_weight(ev));
	if (st->seen) {
		/* a later stream may have earlier times */
		uint64_t end = time < st->time ? st->time : end_of_sample(s, st, time);

		if (end != time && close_frames(s, t, 0, end))
			return -1;
		st->interval = end > st->time ? end - st->time : 0;
	}
	st->seen = true;
	st->time = time;
	st->weight = s->timeless ? s->elapsed - time : sample_weight(ev);
	return show_stack(s, t, ev->stack, time);
}

/* End the frames of the last sample of each thread: it lasts as long as the sample before it, or,
 * if its weight is a time, its weight. */
static int end_samples(struct chart_run *s)
{
	for (size_t i = 0; i < s->chart.nthreads; i++) {
		struct chart_thread *t = s->chart.threads[i];
		struct sampled_thread *st = &t->sampled;
		uint64_t end = st->time;

		if (!st->seen)
			continue;
		add_saturated(&end, s->timeless || s->sampled->flags & TYPE_WEIGHT_TIME
					    ? st->weight
					    : st->interval);
		if (close_frames(s, t, 0, end))
			return -1;
	}
	return 0;
}

/* --- events --- */

static bool has_calls(const struct dictionary *d)
{
	for (uint32_t i = 1; i < d->types.count; i++)
		if (dictionary_type(d, i)->kind == KIND_ENTER)
			return true;
	return false;
}

static int other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct chart_run *s = ctx;

	if (ev->type->kind != KIND_SAMPLE) {
		return other_events_add(&s->others, ev->type) ? error_no_memory(e) : 0;
	}
	if (!s->sampled) {
		s->sampled = ev->type;
		s->chart.sampled = ev->type->name.text;
		s->timeless = !strcmp(s->chart.unit, "ticks") && !has_calls(s->names.dictionary);
		if (s->timeless)
			s->chart.unit =
				ev->type->flags & TYPE_WEIGHT_TIME ? "ns" : ev->type->name.text;
	}
	if (!sample_profile_same_type(s->sampled, ev->type)) {
		s->samples++;
		return 0;
	}
	if (sample_is_negative(ev)) {
		s->negative++;
		return 0;
	}
	return add_sample(s, ev) ? error_no_memory(e) : 0;
}

static const struct span_sink sink = {.end = end_call, .other = other_event};

static int chart_begin(struct encoding *en, struct error *e)
{
	struct chart_run *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->drop = en->options->drop;
	s->chart.unit = "ns";
	chart_frames_init(&s->chart.frames);
	spans_init(&s->spans, en, &sink, s);
	location_names_init(&s->names, en->dictionary, clean_name);
	if (en->options->weight)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight does not go with --by-time, whose widths are times");
	return 0;
}

static int chart_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct chart_run *s = en->state;

	if (!s->started) {
		s->started = true;
		if (ev->lane->clock && ev->lane->clock->flags & CLOCK_TICKS)
			s->chart.unit = "ticks";
	}
	return spans_event(&s->spans, ev, e);
}

static void chart_report(const struct chart_run *s)
{
	location_names_report(&s->names);
	spans_report(&s->spans, s->drop);
	remark_count(s->crossing, SPANS_OVERLAP);
	if (s->samples)
		remark(NULL,
		       "the chart is of the samples of '%s', the first type: choose others with "
		       "trfilter 'type == ...'",
		       s->chart.sampled);
	remark_count(s->samples, "{sample|samples} of other types left out");
	remark_count(s->negative, SAMPLES_NEGATIVE);
	remark_count(s->others.count,
		     "other {event|events} left out: flame charts show calls and samples only");
}

const char *picture_title(const struct encoding *en)
{
	const struct pool *sources = &en->dictionary->sources;
	const char *name = en->options->title, *slash;

	if (name)
		return *name ? name : NULL;
	/* the first source, of number 0, is that of lanes without one */
	if (sources->count != 2)
		return NULL;
	name = ((const struct source *)pool_at(sources, 1))->name.text;
	slash = strrchr(name, '/');
	name = slash && slash[1] ? slash + 1 : name;
	return *name && *name != '<' ? name : NULL;
}

static int chart_end(struct encoding *en, struct error *e)
{
	struct chart_run *s = en->state;

	if (spans_finish(&s->spans, e))
		return -1;
	s->chart.title = picture_title(en);
	if (end_samples(s) || flame_chart_draw(&s->chart, en->text))
		return error_no_memory(e);
	if (!s->chart.calls && !s->chart.sampled)
		other_events_report_empty(&s->others);
	if (!en->options->quiet)
		chart_report(s);
	return 0;
}

static void chart_free(struct encoding *en)
{
	struct chart_run *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->chart.nthreads; i++) {
		struct chart_thread *t = s->chart.threads[i];

		chart_lane_free(&t->calls);
		chart_lane_free(&t->samples);
		free(t->sampled.open);
		buffer_free(&t->name);
		free(t);
	}
	free(s->chart.threads);
	intern_free(&s->chart.names);
	intern_free(&s->others.types);
	tracks_free(&s->tracks);
	spans_free(&s->spans);
	location_names_free(&s->names);
	buffer_free(&s->frames);
	free(s->numbers);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_flame_chart = {
	.name = "svg",
	.output = ENCODER_TEXT,
	.report = true,
	.deferred = true,
	.begin = chart_begin,
	.drops = true,
	.event = chart_event,
	.end = chart_end,
	.free = chart_free,
};

/*
 * speedscope.c - the file format of speedscope.app: an evented profile for each thread
 *
 * The format needs the opens and closes of each thread in the order of time. Calls are spilled when
 * they are complete, innermost first. Read backwards, they give the events from the last to the
 * first. These are spilled too, and read backwards again to be printed. So memory contains one
 * stack, not the trace.
 */
#include "cmd/trencode/encoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/timeline/spill_list.h"
#include "common/value/json.h"
#include "common/util/version.h"
#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/timeline/spans.h"
#include "cmd/trencode/timeline/tracks.h"

/* One spilled call. */
struct call_record {
	uint64_t start, end;
	uint32_t location, level;
};

/* One spilled open or close. */
struct event_record {
	uint64_t time;
	uint32_t location, close;
};

/* The profile of one thread. */
struct lane_profile {
	struct chain calls;
	uint64_t first, last;
	struct buffer name;
};

/* One run of the encoder. */
struct speedscope {
	struct spans spans;
	struct tracks tracks;
	struct location_names names;
	struct spill_list calls, events;
	struct chain reversed;
	struct text *out;
	struct lane_profile **profiles; /* by thread, in the order of their appearance */
	size_t nprofiles, capacity;
	uint32_t *frames; /* by location: index of its frame + 1 */
	size_t nframes;
	struct buffer shared; /* the frames as JSON */
	uint32_t frame_count;
	struct call_record *open; /* while a thread's calls are read */
	size_t nopen, open_capacity;
	uint64_t first, last; /* times of the first and of the last event */
	uint64_t origin;      /* time that is shown as 0 */
	uint64_t overlapping, others;
	uint64_t latest; /* time of the event added last, which is after the next one */
	const struct clock *clock;
	bool started, drop, first_event, keep_times;
};

static struct lane_profile *speedscope_profile_of(struct speedscope *s, uint32_t thread,
						  const struct lane *lane, uint64_t time)
{
	struct track *t = tracks_get(&s->tracks, thread, lane);
	struct lane_profile *p = t ? t->user : NULL, **profiles;

	if (!t)
		return NULL;
	if (!p) {
		profiles = array_grow(s->profiles, &s->capacity, s->nprofiles, sizeof(*profiles));
		if (!profiles)
			return NULL;
		s->profiles = profiles;
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->first = time;
		profiles[s->nprofiles++] = p;
		t->user = p;
	}
	if (t->renamed) {
		t->renamed = false;
		p->name.size = 0;
		if (track_name(t, lane, &p->name) ||
		    (!t->per_cpu && !t->made_up && buffer_printf(&p->name, " [%d]", t->tid)))
			return NULL;
	}
	if (time > p->last)
		p->last = time;
	return p;
}

/* --- events --- */

static int speedscope_end_call(void *ctx, const struct span *span, const struct event *leave,
			       struct error *e)
{
	struct call_record r = {span->start, span->end, span->location, span->level + span->beside};
	struct speedscope *s = ctx;
	struct lane_profile *p;

	(void)leave;
	if (span->unfinished && s->drop)
		return 0;
	if (span->crossing) {
		s->overlapping++;
		return 0;
	}
	p = speedscope_profile_of(s, span->thread, span->lane, span->end);
	if (!p)
		return error_no_memory(e);
	if (span->start < p->first)
		p->first = span->start;
	return chain_add(&s->calls, &p->calls, &r, e);
}

static int speedscope_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct speedscope *s = ctx;

	(void)ev;
	(void)e;
	s->others++;
	return 0;
}

static const struct span_sink sink = {.end = speedscope_end_call, .other = speedscope_other_event};

/* --- the profile of a thread --- */

static int speedscope_add_event(struct speedscope *s, uint64_t time, uint32_t location, bool close,
				struct error *e)
{
	struct event_record r = {time, location, close};

	/* a clock may have stepped back; times of the format must not */
	if (r.time > s->latest)
		r.time = s->latest;
	s->latest = r.time;
	return chain_add(&s->events, &s->reversed, &r, e);
}

/* Test whether the call, which ended before top, is not a callee of top. Levels alone do not show
 * this, as calls between them may be missing. */
static bool speedscope_is_beside(const struct call_record *call, const struct call_record *top)
{
	return top->level >= call->level || (call->end <= top->start && call->start < top->start);
}

static int speedscope_take_call(void *ctx, const void *record, struct error *e)
{
	struct speedscope *s = ctx;
	struct call_record call, *open;

	memcpy(&call, record, sizeof call);
	while (s->nopen && speedscope_is_beside(&call, &s->open[s->nopen - 1])) {
		const struct call_record *top = &s->open[--s->nopen];

		if (speedscope_add_event(s, top->start, top->location, false, e))
			return -1;
	}
	open = array_grow(s->open, &s->open_capacity, s->nopen, sizeof(*open));
	if (!open)
		return error_no_memory(e);
	s->open = open;
	open[s->nopen++] = call;
	return speedscope_add_event(s, call.end, call.location, true, e);
}

/* Get the index of a location's frame, which is declared when it is first used. */
static int speedscope_frame_of(struct speedscope *s, uint32_t location, uint32_t *frame)
{
	const struct location *p = dictionary_location(s->names.dictionary, location);
	uint32_t *frames = array_reach(s->frames, &s->nframes, location, sizeof(*frames)), size;
	const char *name;

	if (!frames)
		return -1;
	s->frames = frames;
	if (frames[location]) {
		*frame = frames[location] - 1;
		return 0;
	}
	name = location_names_get(&s->names, location, &size);
	if (!name || buffer_append(&s->shared, ",\n{\"name\":", s->frame_count ? 10 : 0) ||
	    (!s->frame_count && buffer_append(&s->shared, "{\"name\":", 8)) ||
	    buffer_append(&s->shared, name, size))
		return -1;
	if (p && p->symbol && p->symbol->file.size &&
	    (buffer_append(&s->shared, ",\"file\":", 8) ||
	     json_append_string(&s->shared, p->symbol->file.text, p->symbol->file.size) ||
	     (p->symbol->line && buffer_printf(&s->shared, ",\"line\":%u", p->symbol->line))))
		return -1;
	*frame = s->frame_count++;
	s->frames[location] = s->frame_count;
	return buffer_u8(&s->shared, '}');
}

static int speedscope_print_event(void *ctx, const void *record, struct error *e)
{
	struct speedscope *s = ctx;
	struct event_record r;
	uint32_t frame;

	memcpy(&r, record, sizeof r);
	if (speedscope_frame_of(s, r.location, &frame))
		return error_no_memory(e);
	text_puts(s->out, s->first_event ? "\n" : ",\n");
	s->first_event = false;
	text_puts(s->out, r.close ? "{\"type\":\"C\",\"frame\":" : "{\"type\":\"O\",\"frame\":");
	text_u64(s->out, frame);
	text_puts(s->out, ",\"at\":");
	text_u64(s->out, r.time - s->origin);
	text_char(s->out, '}');
	return 0;
}

static int speedscope_print_profile(struct speedscope *s, struct lane_profile *p, bool first,
				    struct error *e)
{
	bool ticks = s->clock && s->clock->flags & CLOCK_TICKS;

	s->nopen = 0;
	s->latest = p->last;
	if (chain_unwind(&s->calls, &p->calls, speedscope_take_call, s, e))
		return -1;
	while (s->nopen) {
		const struct call_record *top = &s->open[--s->nopen];

		if (speedscope_add_event(s, top->start, top->location, false, e))
			return -1;
	}
	text_puts(s->out, first ? "\n{\"type\":\"evented\",\"name\":"
				: ",\n{\"type\":\"evented\",\"name\":");
	json_string(s->out, (const char *)p->name.data, p->name.size);
	text_puts(s->out, ticks ? ",\"unit\":\"none\",\"startValue\":"
				: ",\"unit\":\"nanoseconds\",\"startValue\":");
	text_u64(s->out, p->first - s->origin);
	text_puts(s->out, ",\"endValue\":");
	text_u64(s->out, p->last - s->origin);
	text_puts(s->out, ",\"events\":[");
	s->first_event = true;
	if (chain_unwind(&s->events, &s->reversed, speedscope_print_event, s, e))
		return -1;
	text_puts(s->out, "\n]}");
	return 0;
}

/* Print an empty profile: speedscope fails on a file without profiles. */
static void speedscope_print_empty(struct speedscope *s)
{
	text_puts(s->out, "\n{\"type\":\"evented\",\"name\":\"no calls\",\"unit\":\"nanoseconds\","
			  "\"startValue\":0,\"endValue\":");
	text_u64(s->out, s->last > s->origin ? s->last - s->origin : 1);
	text_puts(s->out, ",\"events\":[]}");
}

/* --- the encoder --- */

static int speedscope_begin(struct encoding *en, struct error *e)
{
	struct speedscope *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->out = en->text;
	s->drop = en->options->drop;
	s->keep_times = en->options->keep_times;
	spans_init(&s->spans, en->dictionary, &sink, s);
	location_names_init(&s->names, en->dictionary, json_append_string);
	spill_list_init(&s->calls, sizeof(struct call_record));
	spill_list_init(&s->events, sizeof(struct event_record));
	return 0;
}

static int speedscope_adopt(struct encoding *en, const struct snapshot *snapshot, struct error *e)
{
	struct speedscope *s = en->state;

	return spans_adopt(&s->spans, snapshot, e);
}

static int speedscope_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct speedscope *s = en->state;

	if (!s->started) {
		s->started = true;
		s->first = ev->time;
		s->clock = ev->lane->clock;
	}
	s->last = ev->time;
	return spans_event(&s->spans, ev, e);
}

/* Find the earliest time: in concatenated streams it need not be that of the first event. */
static void speedscope_find_origin(struct speedscope *s)
{
	s->origin = s->keep_times || !s->started ? 0 : s->first;
	for (size_t i = 0; i < s->nprofiles; i++)
		if (s->profiles[i]->first < s->origin)
			s->origin = s->profiles[i]->first;
}

static int speedscope_end(struct encoding *en, struct error *e)
{
	struct speedscope *s = en->state;

	if (spans_finish(&s->spans, e))
		return -1;
	speedscope_find_origin(s);
	text_puts(s->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			  "\"exporter\":\"trencode " TRUTILS_VERSION "\",\n\"profiles\":[");
	for (size_t i = 0; i < s->nprofiles; i++)
		if (speedscope_print_profile(s, s->profiles[i], i == 0, e))
			return -1;
	if (!s->nprofiles)
		speedscope_print_empty(s);
	text_puts(s->out, "],\n\"shared\":{\"frames\":[\n");
	if (s->shared.size)
		text_put(s->out, (const char *)s->shared.data, s->shared.size);
	text_puts(s->out, "\n]}}\n");
	if (en->options->quiet)
		return 0;
	location_names_report(&s->names);
	spans_report(&s->spans, s->drop);
	warn_count(NULL, s->overlapping,
		   "{call overlaps others of its|calls overlap others of their} thread: left out");
	warn_count(NULL, s->others,
		   "other {event|events} left out: speedscope has calls only, without arguments");
	return 0;
}

static void speedscope_free(struct encoding *en)
{
	struct speedscope *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->nprofiles; i++) {
		chain_free(&s->profiles[i]->calls);
		buffer_free(&s->profiles[i]->name);
		free(s->profiles[i]);
	}
	chain_free(&s->reversed);
	spill_list_free(&s->calls);
	spill_list_free(&s->events);
	tracks_free(&s->tracks);
	spans_free(&s->spans);
	location_names_free(&s->names);
	buffer_free(&s->shared);
	free(s->profiles);
	free(s->frames);
	free(s->open);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_speedscope = {
	.name = "speedscope",
	.suffixes = ".speedscope.json",
	.purpose = "a flame chart of each thread, for speedscope.app",
	.output = ENCODER_TEXT,
	.report = true,
	.begin = speedscope_begin,
	.drops = true,
	.adopt = speedscope_adopt,
	.event = speedscope_event,
	.end = speedscope_end,
	.free = speedscope_free,
};

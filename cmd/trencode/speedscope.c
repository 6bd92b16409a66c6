/*
 * speedscope.c - the file format of speedscope.app: an evented profile for each thread, and a
 * sampled one for each of its types of samples
 *
 * The format needs the opens and closes of each thread in the order of time. Calls are spilled when
 * they are complete, innermost first. Read backwards, they give the events from the last to the
 * first. These are spilled too, and read backwards again to be printed. So memory contains one
 * stack, not the trace.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/stack_profile.h"
#include "cmd/trencode/spans.h"
#include "cmd/trencode/tracks.h"
#include "common/stream/field.h"
#include "common/util/version.h"
#include "common/util/text_span.h"
#include "common/value/json.h"
#include "common/value/value_text.h"

/* One spilled call. */
struct speedscope_call {
	uint64_t start, end;
	uint32_t location, level;
};

/* One spilled open or close. */
struct event_record {
	uint64_t time;
	uint32_t location, close;
};

/* One sample. */
struct sample_record {
	uint64_t weight;
	uint32_t stack;
};

/* The samples of one type in a thread. */
struct type_profile {
	const struct type *type;
	struct record_list samples;
	uint64_t weight; /* sum */
	struct type_profile *next;
};

/* The profiles of one thread. */
struct lane_profile {
	struct record_list calls; /* by their ends */
	struct type_profile *types;
	uint64_t first, last;
	struct buffer name;
	bool nameless; /* no thread and no CPU: the type alone names samples */
};

/* One run of the encoder. */
struct speedscope {
	struct spans spans;
	struct tracks tracks;
	struct location_names names;
	struct record_store calls, events, samples;
	struct buffer stack; /* u32 each: the frames of a sample, innermost first; or a name */
	struct record_list reversed; /* the events of a thread, the last one first */
	struct text *out;
	struct lane_profile **profiles; /* by thread, in the order of their appearance */
	size_t nprofiles, capacity, nframes;
	uint32_t *frames;     /* by location: index of its frame + 1 */
	struct buffer shared; /* the frames as JSON */
	uint32_t frame_count;
	uint32_t deeper;	      /* index of the frame STACK_DEEPER + 1 */
	struct speedscope_call *open; /* while a thread's calls are read */
	size_t nopen, open_capacity;
	uint64_t first, last; /* times of the first and of the last event */
	uint64_t origin;      /* time that is shown as 0 */
	struct {
		uint64_t overlapping, others, negative, deep;
	} counts;
	uint64_t latest; /* time of the event added last, which is after the next one */
	const struct clock *clock;
	const struct encode_options *options;
	bool started, first_event, any_profile;
};

static struct lane_profile *speedscope_profile_of(struct speedscope *s, uint32_t thread,
						  const struct lane *lane, uint64_t time)
{
	struct track *t = tracks_get(&s->tracks, thread, lane);
	struct lane_profile *p = t ? t->user : NULL;

	if (!t)
		return NULL;
	if (!p) {
		if (ARRAY_GROW(s->profiles, s->capacity, s->nprofiles))
			return NULL;
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->first = time;
		s->profiles[s->nprofiles++] = p;
		t->user = p;
	}
	if (t->renamed)
		p->nameless = t->per_cpu && !(lane->flags & LANE_HAS_CPU);
	if (time > p->last)
		p->last = time;
	return track_rename(t, lane, &p->name) ? NULL : p;
}

/* --- events --- */

static int speedscope_end_call(void *ctx, const struct span *span, const struct event *leave,
			       struct error *e)
{
	struct speedscope_call r = {span->start, span->end, span->location,
				    span->level + span->beside};
	struct speedscope *s = ctx;
	struct lane_profile *p;

	(void)leave;
	if (span->unfinished && s->options->flags & ENCODE_DROP)
		return 0;
	if (span->crossing) {
		s->counts.overlapping++;
		return 0;
	}
	p = speedscope_profile_of(s, span->thread, span->lane, span->end);
	if (!p)
		return error_no_memory(e);
	if (span->start < p->first)
		p->first = span->start;
	return record_add(&s->calls, &p->calls, &r) ? error_no_memory(e) : 0;
}

/* Get the samples of a type in a thread. NULL: out of memory. */
static struct type_profile *speedscope_type_of(struct lane_profile *p, const struct type *type)
{
	struct type_profile **at = &p->types;

	while (*at && !sample_profile_same_type((*at)->type, type))
		at = &(*at)->next;
	if (!*at)
		*at = calloc(1, sizeof **at);
	if (*at)
		(*at)->type = type;
	return *at;
}

/* Keep a sample, or another event with a stack. */
static int speedscope_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct speedscope *s = ctx;
	struct sample_record r = {sample_weight(ev), event_stack(s->names.dictionary, ev)};
	struct lane_profile *p;
	struct type_profile *t;

	if (ev->type->kind != KIND_SAMPLE && !r.stack) {
		s->counts.others++;
		return 0;
	}
	if (ev->type->kind == KIND_SAMPLE && sample_is_negative(ev)) {
		s->counts.negative++;
		return 0;
	}
	p = speedscope_profile_of(s, calls_thread(ev), ev->lane, ev->time);
	t = p ? speedscope_type_of(p, ev->type) : NULL;
	if (!t || record_add(&s->samples, &t->samples, &r))
		return error_no_memory(e);
	add_saturated(&t->weight, r.weight);
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
	return record_add(&s->events, &s->reversed, &r) ? error_no_memory(e) : 0;
}

/* Test whether the call, which ended before top, is not a callee of top. Levels alone do not show
 * this, as calls between them may be missing. */
static bool speedscope_is_beside(const struct speedscope_call *call,
				 const struct speedscope_call *top)
{
	return top->level >= call->level || (call->end <= top->start && call->start < top->start);
}

/* Add the beginnings of the calls that are not callers of this one; NULL: of all. */
static int speedscope_begin_calls(struct speedscope *s, const struct speedscope_call *call,
				  struct error *e)
{
	while (s->nopen && (!call || speedscope_is_beside(call, &s->open[s->nopen - 1]))) {
		const struct speedscope_call *top = &s->open[--s->nopen];

		if (speedscope_add_event(s, top->start, top->location, false, e))
			return -1;
	}
	return 0;
}

static int speedscope_take_call(struct speedscope *s, const struct speedscope_call *call,
				struct error *e)
{
	if (speedscope_begin_calls(s, call, e))
		return -1;
	if (ARRAY_GROW(s->open, s->open_capacity, s->nopen))
		return error_no_memory(e);
	s->open[s->nopen++] = *call;
	return speedscope_add_event(s, call->end, call->location, true, e);
}

/* Get the index of a location's frame, which is declared when it is first used. */
static int speedscope_frame_of(struct speedscope *s, uint32_t location, uint32_t *frame)
{
	const struct location *p = dictionary_location(s->names.dictionary, location);
	uint32_t size;
	const char *name;

	if (ARRAY_REACH(s->frames, s->nframes, location))
		return -1;
	if (s->frames[location]) {
		*frame = s->frames[location] - 1;
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

/* Get the index of the frame STACK_DEEPER. */
static int speedscope_deeper(struct speedscope *s, uint32_t *frame)
{
	if (!s->deeper) {
		if ((s->frame_count && buffer_puts(&s->shared, ",\n")) ||
		    buffer_puts(&s->shared, "{\"name\":\"" STACK_DEEPER "\"}"))
			return -1;
		s->deeper = ++s->frame_count;
	}
	*frame = s->deeper - 1;
	return 0;
}

static int speedscope_print_event(struct speedscope *s, const struct event_record *r,
				  struct error *e)
{
	uint32_t frame;

	if (speedscope_frame_of(s, r->location, &frame))
		return error_no_memory(e);
	text_puts(s->out, s->first_event ? "\n" : ",\n");
	s->first_event = false;
	text_puts(s->out, r->close ? "{\"type\":\"C\",\"frame\":" : "{\"type\":\"O\",\"frame\":");
	text_u64(s->out, frame);
	text_puts(s->out, ",\"at\":");
	text_u64(s->out, r->time - s->origin);
	text_char(s->out, '}');
	return 0;
}

/* Begin a profile. type: of its samples; NULL: it is of calls. Returns -1 when out of memory. */
static int speedscope_print_head(struct speedscope *s, const struct lane_profile *p,
				 const struct type *type, const char *unit)
{
	text_printf(s->out, "%s\n{\"type\":\"%s\",\"name\":", s->any_profile ? "," : "",
		    type ? "sampled" : "evented");
	s->any_profile = true;
	s->stack.size = 0;
	if ((!(type && p->nameless) && buffer_append(&s->stack, p->name.data, p->name.size)) ||
	    (type && ((!p->nameless && buffer_puts(&s->stack, " ")) ||
		      buffer_append(&s->stack, type->name.text, type->name.size))))
		return -1;
	json_string(s->out, (const char *)s->stack.data, s->stack.size);
	text_printf(s->out, ",\"unit\":\"%s\",\"startValue\":", unit);
	return 0;
}

static int speedscope_print_calls(struct speedscope *s, struct lane_profile *p, struct error *e)
{
	const struct speedscope_call *call;
	const struct event_record *event;

	s->nopen = 0;
	s->latest = p->last;
	while ((call = record_take_last(&s->calls, &p->calls)))
		if (speedscope_take_call(s, call, e))
			return -1;
	if (speedscope_begin_calls(s, NULL, e))
		return -1;
	if (speedscope_print_head(
		    s, p, NULL, s->clock && s->clock->flags & CLOCK_TICKS ? "none" : "nanoseconds"))
		return error_no_memory(e);
	text_printf(s->out, "%" PRIu64 ",\"endValue\":%" PRIu64 ",\"events\":[",
		    p->first - s->origin, p->last - s->origin);
	s->first_event = true;
	while ((event = record_take_last(&s->events, &s->reversed)))
		if (speedscope_print_event(s, event, e))
			return -1;
	buffer_clear(&s->events.bytes);
	text_puts(s->out, "\n]}");
	return 0;
}

/* Print the stack of a sample, outermost frame first. */
static int speedscope_print_stack(struct speedscope *s, uint32_t stack)
{
	const struct dictionary *d = s->names.dictionary;
	uint32_t frame;

	s->stack.size = 0;
	if (stack_is_deep(d, stack)) {
		s->counts.deep++;
		stack = dictionary_stack_parent(d, dictionary_stack_limited(d, stack));
		if (speedscope_deeper(s, &frame) || buffer_u32(&s->stack, frame))
			return -1;
	}
	for (; stack; stack = dictionary_stack_parent(d, stack))
		if (speedscope_frame_of(s, dictionary_stack_location(d, stack), &frame) ||
		    buffer_u32(&s->stack, frame))
			return -1;
	text_puts(s->out, s->first_event ? "\n[" : ",\n[");
	s->first_event = false;
	for (size_t i = s->stack.size; i; i -= 4) {
		text_u64(s->out, get_u32(s->stack.data + i - 4));
		if (i > 4)
			text_char(s->out, ',');
	}
	text_char(s->out, ']');
	return 0;
}

static int speedscope_print_samples(struct speedscope *s, const struct lane_profile *p,
				    const struct type_profile *t, struct error *e)
{
	struct text_span name = {t->type->name.text, t->type->name.text + t->type->name.size};
	const char *unit = t->type->flags & TYPE_WEIGHT_TIME ? "nanoseconds"
			   : span_ends(name, "bytes")	     ? "bytes"
							     : "none";
	struct record_cursor c = {0};
	const struct sample_record *r;

	if (speedscope_print_head(s, p, t->type, unit))
		return error_no_memory(e);
	text_printf(s->out, "0,\"endValue\":%" PRIu64 ",\"samples\":[", t->weight);
	s->first_event = true;
	while ((r = record_next(&s->samples, &t->samples, &c)))
		if (speedscope_print_stack(s, r->stack))
			return error_no_memory(e);
	text_puts(s->out, "\n],\"weights\":[");
	c = (struct record_cursor){0};
	for (const char *comma = ""; (r = record_next(&s->samples, &t->samples, &c)); comma = ",") {
		text_puts(s->out, comma);
		text_u64(s->out, r->weight);
	}
	text_puts(s->out, "]}");
	return 0;
}

static int speedscope_print_profile(struct speedscope *s, struct lane_profile *p, struct error *e)
{
	if (p->calls.count && speedscope_print_calls(s, p, e))
		return -1;
	for (const struct type_profile *t = p->types; t; t = t->next)
		if (speedscope_print_samples(s, p, t, e))
			return -1;
	return 0;
}

/* Print an empty profile: speedscope fails on a file without profiles. */
static void speedscope_print_empty(struct speedscope *s)
{
	text_printf(s->out,
		    "\n{\"type\":\"evented\",\"name\":\"no calls\",\"unit\":\"nanoseconds\","
		    "\"startValue\":0,\"endValue\":%" PRIu64 ",\"events\":[]}",
		    s->last > s->origin ? s->last - s->origin : 1);
}

/* --- the encoder --- */

static int speedscope_begin(struct encoding *en, struct error *e)
{
	struct speedscope *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->out = en->text;
	s->options = en->options;
	spans_init(&s->spans, en, &sink, s);
	location_names_init(&s->names, en->dictionary, json_append_string);
	record_store_init(&s->calls, sizeof(struct speedscope_call));
	record_store_init(&s->events, sizeof(struct event_record));
	record_store_init(&s->samples, sizeof(struct sample_record));
	return 0;
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
	s->origin = s->options->flags & ENCODE_KEEP_TIMES || !s->started ? 0 : s->first;
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
		if (speedscope_print_profile(s, s->profiles[i], e))
			return -1;
	if (!s->any_profile)
		speedscope_print_empty(s);
	text_puts(s->out, "],\n\"shared\":{\"frames\":[\n");
	if (s->shared.size)
		text_put(s->out, (const char *)s->shared.data, s->shared.size);
	text_puts(s->out, "\n]}}\n");
	if (en->options->flags & ENCODE_QUIET)
		return 0;
	location_names_report(&s->names);
	spans_report(&s->spans, s->options->flags & ENCODE_DROP);
	remark_count(s->counts.overlapping, SPANS_OVERLAP);
	remark_count(s->counts.negative, SAMPLES_NEGATIVE);
	remark_count(s->counts.deep, STACK_DEEP);
	remark_count(s->counts.others,
		     "other {event|events} left out: speedscope has calls and samples, no values");
	return 0;
}

static void speedscope_free(struct encoding *en)
{
	struct speedscope *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->nprofiles; i++) {
		for (struct type_profile *t = s->profiles[i]->types, *next; t; t = next) {
			next = t->next;
			free(t);
		}
		buffer_free(&s->profiles[i]->name);
		free(s->profiles[i]);
	}
	record_store_free(&s->calls);
	record_store_free(&s->events);
	record_store_free(&s->samples);
	buffer_free(&s->stack);
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
	.purpose = "calls and samples of each thread, for speedscope.app",
	.output = ENCODER_TEXT,
	.report = true,
	.timeline = true,
	.deferred = true,
	.begin = speedscope_begin,
	.drops = true,
	.event = speedscope_event,
	.end = speedscope_end,
	.free = speedscope_free,
};

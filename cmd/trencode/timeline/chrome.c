/*
 * chrome.c - Trace Event JSON, which ui.perfetto.dev, chrome://tracing, speedscope and the Firefox
 * Profiler open
 *
 * A call is one complete event (X), written at its end. Calls that overlap are pairs of
 * asynchronous events. Where two X would not show which call is inside of which, the calls are
 * pairs of B and E (chrome_pairs.c). Times are microseconds with three decimals, made from
 * integers. Readers parse them as doubles, so they count from the trace's first event unless
 * --rebase=none is given.
 */
#include "cmd/trencode/timeline/chrome_scheduling.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/util/buffer_file.h"
#include "common/value/json.h"
#include "cmd/trencode/tick_scale.h"
#include "cmd/trencode/profile/sample_profile.h"

void chrome_begin_line(struct chrome_output *s)
{
	if (s->any)
		text_put(s->out, ",\n", 2);
	s->any = true;
}

/* --- names of processes and threads --- */

static void chrome_put_metadata(struct chrome_output *s, const char *what, int32_t pid, int32_t tid)
{
	chrome_begin_line(s);
	text_printf(s->out,
		    "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", pid,
		    tid, what);
	json_string(s->out, (const char *)s->bytes.data, s->bytes.size);
	text_puts(s->out, "}}");
}

static int chrome_name_track(struct chrome_output *s, struct track *t, const struct lane *lane)
{
	struct track_process *p = &s->tracks.processes[t->process];
	struct lane_prefix *prefix = t->user;
	/* if CHROME_META names the process, it names those of its threads with this name, too */
	bool known = chrome_members_name(s, t->pid);
	bool inherits = known && p->comm && t->comm == p->comm && !t->per_cpu && !t->made_up;

	if (!prefix) {
		prefix = t->user = malloc(sizeof *prefix);
		if (!prefix)
			return -1;
		prefix->instant = 0;
		prefix->size = (size_t)snprintf(prefix->text, sizeof prefix->text,
						"\"pid\":%d,\"tid\":%d,\"ts\":", t->pid, t->tid);
	}
	if (p->renamed) {
		struct text_ref comm = dictionary_string(s->names.dictionary, p->comm);

		p->renamed = false;
		s->bytes.size = 0;
		if (p->comm && !known) {
			if (buffer_append(&s->bytes, comm.text, comm.size))
				return -1;
			/* it may name this thread, too, unless it is not of a thread */
			chrome_put_metadata(s, "process_name", t->pid, p->named ? t->pid : t->tid);
		}
	}
	t->renamed = false;
	/* viewers show no name for a thread without one */
	if (inherits || !track_is_named(t, lane))
		return 0;
	s->bytes.size = 0;
	if (track_name(t, lane, &s->bytes))
		return -1;
	chrome_put_metadata(s, "thread_name", t->pid, t->tid);
	return 0;
}

struct lane_prefix *chrome_prefix(struct chrome_output *s, uint32_t thread, const struct lane *lane)
{
	struct track *t = tracks_get(&s->tracks, thread, lane);

	if (__builtin_expect(!t || (t->renamed && chrome_name_track(s, t, lane)), 0))
		return NULL;
	return t->user;
}

/* --- events --- */

void chrome_put_args(struct chrome_output *s, char *p)
{
	if (__builtin_expect(s->stack, 0)) {
		p = PUT(p, ",\"sf\":");
		p = decimal_at(p, s->stack);
		s->stack = 0;
	}
	if (s->json.size) {
		p = PUT(p, ",\"args\":");
		text_wrote(s->out, p);
		text_put_buffer(s->out, &s->json, 0, s->json.size);
		p = text_room(s->out, 1);
	}
	*p++ = '}';
	text_wrote(s->out, p);
}

int chrome_render_args(struct chrome_output *s, const struct span *span, const struct event *leave,
		       struct error *e)
{
	struct buffer *kept = &s->bytes;
	bool has_kept = span->kept_size && span->begun;
	size_t held = has_kept && s->options->drop ? CHROME_HELD : 0;
	size_t stack = has_kept && chrome_keeps_stack(span->type) ? 4 : 0;

	chrome_clear_args(s);
	if ((stack && chrome_set_stack(s, get_u32(span->kept->data + span->kept_at + held))) ||
	    (s->names.lines &&
	     attributes_append_line(&s->attributes, span->entered ? span->entered : span->location,
				    kept)) ||
	    (span->kept_size && buffer_append_from(kept, span->kept, span->kept_at + held + stack,
						   span->kept_size - held - stack)) ||
	    (leave && chrome_append_args(s, leave, false, kept)) ||
	    (span->unfinished && !chrome_is_open(s, span) &&
	     attributes_append_bool(&s->attributes, CHROME_UNFINISHED, true, kept)) ||
	    attributes_object(&s->attributes, kept, &s->json))
		return error_no_memory(e);
	return 0;
}

static int chrome_render_category(struct buffer *to, const char *name, size_t n)
{
	return buffer_append(to, ",\"cat\":", 7) || json_append_string(to, name, n) ? -1 : 0;
}

char *chrome_put_category(struct chrome_output *s, char *p, const struct type *t, bool kernel)
{
	const char *text;
	uint32_t size;

	if (kernel) {
		s->kernel = true;
		return PUT(p, ",\"cat\":\"" CHROME_KERNEL "\"");
	}
	if (!t || !t->group.size)
		return p;
	text = location_names_get(&s->categories, t->group.number, &size);
	if (!text)
		return NULL;
	s->kernel_taken |= chrome_is_kernel(t->group);
	if (size <= LOCATION_NAME_SHORT)
		return location_names_copy(p, text, size);
	text_wrote(s->out, p);
	text_put(s->out, text, size);
	return text_room(s->out, LINE_FIXED);
}

/* Write the other name of a call whose enter and leave have locations with different names. */
static int chrome_put_other_name(struct chrome_output *s, const struct span *span, bool begun)
{
	uint32_t size, other_size;
	const char *name = location_names_get(&s->names, span->location, &size);
	const char *other = name ? location_names_get(&s->names, span->entered, &other_size) : NULL;

	if (!other)
		return -1;
	name = location_names_get(&s->names, span->location, &size);
	if (size == other_size && !memcmp(name, other, size))
		return 0;
	text_puts(s->out, begun ? ",\"" CHROME_LEAVE_NAME "\":" : ",\"" CHROME_ENTER_NAME "\":");
	text_put(s->out, begun ? name : other, begun ? size : other_size);
	return 0;
}

char *chrome_marks(struct chrome_output *s, char *p, const struct span *span, bool begun)
{
	text_wrote(s->out, p);
	if (span->unfinished && !s->at_end)
		text_puts(s->out, ",\"" CHROME_UNFINISHED "\":true");
	if (!span->begun)
		text_puts(s->out, ",\"" CHROME_UNSEEN "\":true");
	else if (span->entered && chrome_put_other_name(s, span, begun))
		return NULL;
	return text_room(s->out, LINE_FIXED);
}

/* Test for a call with a number in a trace where others are on a stack, or that is open at the end:
 * later calls are not inside of it. */
static bool chrome_is_beside(const struct chrome_output *s, const struct span *span)
{
	const struct type *t = span->type;

	return t && t->flags & TYPE_CALL_NUMBER &&
	       (!encoder_all_numbered(t) || chrome_is_open(s, span));
}

/* Test for a call that was an X although it overlaps others. */
static bool chrome_overlaps(const struct chrome_output *s, const struct span *span)
{
	const struct type *t = span->type;

	return t && t->flags & TYPE_CALL_NUMBER && (t->native & CHROME_PHASE) == 'X' &&
	       (type_is_of(t, "chrome") || type_is_of(t, "perfetto")) && !chrome_is_open(s, span);
}

static int chrome_end_call(void *ctx, const struct span *span, const struct event *leave,
			   struct error *e)
{
	struct chrome_output *s = ctx;
	const struct lane_prefix *prefix;
	const char *name;
	uint32_t size;
	bool ticks, begun, open, overlaps;
	char *p;

	if (span->unfinished && s->options->drop) {
		chrome_drop_flows(s, span);
		return 0;
	}
	prefix = chrome_prefix(s, span->thread, span->lane);
	if (!prefix)
		return error_no_memory(e);
	if (chrome_pairs_begin(s, span, prefix, &begun, e))
		return -1;
	name = location_names_get(&s->names, span->location, &size);
	if (!name)
		return error_no_memory(e);
	if (begun)
		return chrome_pairs_end(s, span, prefix, leave, e);
	s->json.size = 0;
	if ((span->kept_size || !leave || leave->type->nfields || leave->tail_size ||
	     s->names.lines) &&
	    chrome_render_args(s, span, leave, e))
		return -1;
	overlaps = chrome_overlaps(s, span);
	if (__builtin_expect(!overlaps && (span->crossing || chrome_is_beside(s, span)), 0)) {
		chrome_async_put(s, span, prefix, name, size);
		return 0;
	}
	ticks = counts_ticks(span->lane);
	open = chrome_is_open(s, span);
	p = line_room(s);
	p = open ? PUT(p, "{\"ph\":\"B\",") : PUT(p, "{\"ph\":\"X\",");
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, span->start, ticks);
	if (!open) {
		p = PUT(p, ",\"dur\":");
		p = put_time(p, span->end - span->start, ticks);
	}
	p = PUT(p, ",\"name\":");
	p = put_name(s, p, name, size);
	p = chrome_put_category(s, p, span->type, span->kernel);
	if (!p)
		return error_no_memory(e);
	p = chrome_put_marks(s, p, span, false);
	if (!p)
		return error_no_memory(e);
	if (overlaps)
		p = PUT(p, ",\"" CHROME_OVERLAPS "\":true");
	chrome_put_args(s, p);
	return 0;
}

static int chrome_begin_call(void *ctx, const struct event *enter, const struct span *span,
			     struct buffer *keep, uint64_t *token, struct error *e)
{
	struct chrome_output *s = ctx;

	if (!enter->type->nfields && !enter->tail_size)
		return 0;
	if (enter->type->flags & TYPE_CALL_NUMBER)
		*token = async_event_id(enter);
	if ((s->options->drop && chrome_hold_call(s, enter, span, keep)) ||
	    (chrome_keeps_stack(enter->type) &&
	     buffer_u32(keep, event_stack(s->names.dictionary, enter))))
		return error_no_memory(e);
	return chrome_append_args(s, enter, span->restored, keep) ? error_no_memory(e) : 0;
}

static int chrome_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct chrome_output *s = ctx;
	struct lane_prefix *prefix = chrome_prefix(s, calls_thread(ev), ev->lane);
	struct text_ref name = ev->type->name, group = ev->type->group;
	const char *location = NULL;
	uint32_t size = 0;
	bool counter, async = async_event_is(ev->type);
	bool flow = ev->type->flags & TYPE_VALUES && !async && flows_read(&s->flows, ev) == 1 &&
		    s->flows.phase;
	char *p;

	if (!prefix)
		return error_no_memory(e);
	s->attributes.phase_apart = flow;
	if (chrome_pairs_event(s, ev, prefix, e) || chrome_scheduling_event(s->scheduling, ev, e))
		return -1;
	if (ev->type->kind == KIND_SAMPLE && sample_is_negative(ev)) {
		s->negative++;
		return 0;
	}
	if (ev->type->kind == KIND_SAMPLE)
		return chrome_sample(s, ev, prefix) ? error_no_memory(e) : 0;
	buffer_clear(&s->bytes);
	buffer_clear(&s->json);
	if (ev->location && !(location = location_names_get(&s->names, ev->location, &size)))
		return error_no_memory(e);
	if (chrome_set_stack(s, event_stack(s->names.dictionary, ev)) ||
	    (s->names.lines && attributes_append_line(&s->attributes, ev->location, &s->bytes)) ||
	    chrome_append_args(s, ev, false, &s->bytes) ||
	    attributes_read(&s->attributes, &s->bytes))
		return error_no_memory(e);
	counter = ev->type->kind == KIND_COUNTER && attributes_keep_numbers(&s->attributes);
	if (s->attributes.count && attributes_json(&s->attributes, &s->json))
		return error_no_memory(e);
	p = line_room(s);
	p = counter ? put_prefix(prefix, PUT(p, "{\"ph\":\"C\","))
		    : chrome_put_phase(s, p, ev, prefix, flow);
	p = put_stamp(s, p, ev->time, counts_ticks(ev->lane));
	if (!counter && !async && !flow)
		p = put_cpu(p, ev->lane);
	p = PUT(p, ",\"name\":");
	text_wrote(s->out, p);
	if (location)
		text_put(s->out, location, size);
	else
		json_string(s->out, name.text, name.size);
	if (group.size && !async && !flow) {
		text_put(s->out, ",\"cat\":", 7);
		json_string(s->out, group.text, group.size);
	}
	chrome_put_args(s, text_room(s->out, LINE_FIXED));
	return 0;
}

static int chrome_drop_call(void *ctx, const struct span *span, struct error *e)
{
	struct chrome_output *s = ctx;
	const struct lane_prefix *prefix = chrome_prefix(s, span->thread, span->lane);

	if (!prefix)
		return error_no_memory(e);
	if (s->options->drop)
		chrome_drop_flows(s, span);
	return chrome_pairs_drop(s, span, prefix, e);
}

/* After calls that were lost the states of threads are not known. */
static int chrome_restore(void *ctx, const struct event *enter, struct error *e)
{
	struct chrome_output *s = ctx;

	return enter ? 0 : chrome_scheduling_lost(s->scheduling, e);
}

static const struct span_sink sink = {.begin = chrome_begin_call,
				      .restore = chrome_restore,
				      .end = chrome_end_call,
				      .drop = chrome_drop_call,
				      .other = chrome_other_event};

/* --- the encoder --- */

static int chrome_begin(struct encoding *en, struct error *e)
{
	struct chrome_output *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->options = en->options;
	s->out = en->text;
	spans_init(&s->spans, en, &sink, s);
	s->spans.keeps_open = true;
	s->zero = UINT64_MAX;
	s->samples = chrome_samples_new();
	s->members = chrome_members_new();
	if (!s->samples || !s->members)
		return error_no_memory(e);
	s->tracks.process_tids = true;
	location_names_init(&s->names, en->dictionary, json_append_string);
	s->scheduling = chrome_scheduling_new(s);
	if (!s->scheduling)
		return error_no_memory(e);
	location_names_init_strings(&s->categories, en->dictionary, chrome_render_category);
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.members = s->attributes.flows_apart = true;
	s->flows.dictionary = en->dictionary;
	s->attributes.quote_numbers = en->options->quote_numbers;
	s->bytes.spills = s->json.spills = s->held_flows.spills = true;
	text_puts(s->out, "{\"traceEvents\":[\n");
	return 0;
}

static int chrome_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct chrome_output *s = en->state;

	return tracks_meta(&s->tracks, en->dictionary, m) || attributes_meta(&s->attributes, m) ||
			       chrome_members_meta(s, m)
		       ? error_no_memory(e)
		       : 0;
}

static int chrome_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct chrome_output *s = en->state;
	bool leave = ev->type->kind == KIND_LEAVE;

	if (__builtin_expect(!s->started, 0)) {
		uint64_t first = s->spans.calls->restored.first;

		s->started = true;
		s->clock = ev->lane->clock;
		s->origin = first == UINT64_MAX ? ev->time : tick_time(ev->lane, first);
		if (s->zero != UINT64_MAX)
			s->origin = tick_time(ev->lane, s->zero);
		if (s->options->keep_times)
			s->origin = 0;
	}
	if (__builtin_expect(!(ev->type->flags & TYPE_VALUES), 1))
		return spans_event(&s->spans, ev, e);
	return (leave && chrome_put_flows(s, ev, e)) || spans_event(&s->spans, ev, e) ||
			       (!leave && chrome_put_flows(s, ev, e))
		       ? -1
		       : 0;
}

static int chrome_end(struct encoding *en, struct error *e)
{
	struct chrome_output *s = en->state;

	s->at_end = true;
	if (spans_finish(&s->spans, e) || chrome_scheduling_finish(s->scheduling, e) ||
	    chrome_put_held(s, e))
		return -1;
	text_puts(s->out, s->any ? "\n]" : "]");
	if (chrome_samples_put(s))
		return error_no_memory(e);
	chrome_members_end(s);
	text_puts(s->out, ",\"otherData\":{\"clock\":");
	if (s->clock && s->clock->tick)
		text_printf(s->out, "\"ticks of %" PRIu64 " ns\"", s->clock->tick);
	else if (s->clock)
		json_string(s->out, s->clock->name.text, s->clock->name.size);
	else
		text_puts(s->out, "null");
	text_puts(s->out, ",\"origin\":\"");
	text_u64(s->out, s->origin);
	text_puts(s->out, s->clock && s->clock->flags & CLOCK_TICKS && !s->clock->tick
				  ? "\",\"unit\":\"ticks\""
				  : "\",\"unit\":\"ns\"");
	if (s->kernel && !s->kernel_taken)
		text_puts(s->out, ",\"" CHROME_KERNEL_CATEGORY "\":\"" CHROME_KERNEL "\"");
	chrome_members_put(s, 'o');
	text_puts(s->out, "}}\n");
	if (en->options->quiet)
		return 0;
	location_names_report(&s->names);
	spans_report(&s->spans, en->options->drop);
	attributes_report(&s->attributes);
	remark_count(s->negative, SAMPLES_NEGATIVE);
	remark_count(s->zero == UINT64_MAX ? s->early : 0,
		     "{time is|times are} negative, as {it is|they are} before the first event "
		     "(--rebase=none writes {it|them} unchanged)");
	return 0;
}

static void chrome_free(struct encoding *en)
{
	struct chrome_output *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->tracks.count; i++)
		free(s->tracks.tracks[i].user);
	tracks_free(&s->tracks);
	chrome_samples_free(s->samples);
	chrome_members_free(s->members);
	chrome_scheduling_free(s->scheduling);
	spans_free(&s->spans);
	location_names_free(&s->names);
	location_names_free(&s->categories);
	attributes_free(&s->attributes);
	flows_free(&s->flows);
	buffer_free(&s->bytes);
	buffer_free(&s->json);
	buffer_free(&s->held_flows);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_chrome = {
	.name = "chrome",
	.suffixes = ".json",
	.purpose = "Trace Event JSON, for Perfetto, Chrome, speedscope, Firefox Profiler",
	.output = ENCODER_TEXT,
	.report = true,
	.begin = chrome_begin,
	.meta = chrome_meta,
	.drops = true,
	.event = chrome_event,
	.end = chrome_end,
	.free = chrome_free,
};

/*
 * chrome_pairs.c - calls as pairs of events: b and e, or S and F, for calls that overlap others; B
 * and E for calls of a stack that one X cannot represent
 *
 * Readers sort X by time, and of equal times the longer first; they keep the order of other events
 * in the file. So the nesting is ambiguous if two X begin at the same time, if an X takes no time,
 * and if an event is at the time where an X begins or ends. In these cases the open calls have a B
 * each, written as late as that, and later an E. A call that is open at the end of the trace has no
 * E.
 */
#include <stdlib.h>

#include "cmd/trencode/timeline/chrome.h"
#include "common/formats/perfetto.h"
#include "common/util/buffer_file.h"
#include "common/value/json.h"

/* The token of a call whose B is written. */
enum { HAS_BEGIN = 1 };

/* The category of calls that overlap others of their thread. */
#define OVERLAPPING "overlapping"

/* --- asynchronous events --- */

/* Test whether the arguments of an event have the flows that flows_read got: a reader finds the
 * same ids there. Arguments of a leave are those of its call, which has others of the same name. */
static bool keeps_flows(const struct chrome_output *s, const struct event *ev)
{
	if ((ev->type->kind != KIND_ENTER && ev->type->kind != KIND_INSTANT) || s->flows.phase ||
	    !s->flows.same)
		return false;
	for (unsigned i = 0; s->options->quote_numbers && i < s->flows.count; i++)
		if (s->flows.parts[i].id > 1ull << 53)
			return false;
	return true;
}

int chrome_append_args(struct chrome_output *s, const struct event *ev, bool before,
		       struct buffer *to)
{
	bool named = ev->type->kind == KIND_INSTANT || ev->type->kind == KIND_ENTER;
	struct text_ref name = ev->lane->buffer;
	int r = 0;

	/* an argument of the event with that name follows and is preferred */
	if (__builtin_expect(name.size && named, 0) && track_is_other(ev->lane) &&
	    strcmp(name.text, PERFETTO_OVERLAPPING) != 0 &&
	    attributes_append_text(&s->attributes, CHROME_TRACK, name.text, name.size, to))
		return -1;
	s->attributes.flows_apart = !(!before && ev->type->flags & TYPE_VALUES &&
				      flows_read(&s->flows, ev) && keeps_flows(s, ev));
	if (!async_event_is(ev->type))
		r = attributes_append(&s->attributes, ev, to);
	else if (ev->tail_size)
		r = attributes_append_values(&s->attributes, ev, to);
	s->attributes.flows_apart = true;
	return r;
}

void chrome_async_put_id(struct chrome_output *s, const struct type *t, uint64_t id)
{
	bool hex = t->fields[t->nfields - 1].kind == FIELD_HEX, local = t->native & CHROME_LOCAL;
	bool quote = !hex && id > 1ull << 53;

	text_puts(s->out, "\",\"cat\":");
	json_string(s->out, t->group.text, t->group.size);
	s->kernel_taken |= chrome_is_kernel(t->group);
	text_puts(s->out, local ? ",\"id2\":{\"local\":" : ",\"id\":");
	if (hex) {
		text_puts(s->out, "\"0x");
		text_hex(s->out, id, 1);
		text_char(s->out, '"');
	} else {
		text_puts(s->out, quote ? "\"" : "");
		text_u64(s->out, id);
		text_puts(s->out, quote ? "\"" : "");
	}
	text_puts(s->out, local ? "}," : ",");
	if (t->native & CHROME_ENCLOSING)
		text_puts(s->out, "\"bp\":\"e\",");
}

void chrome_async_put(struct chrome_output *s, const struct span *span,
		      const struct lane_prefix *prefix, const char *name, uint32_t size)
{
	bool ticks = counts_ticks(span->lane);
	bool async = async_event_is(span->type) && strcmp(span->type->group.text, OVERLAPPING) != 0;
	bool legacy = async && async_event_phase(span->type) == 'S';

	s->overlapping += !async;
	s->kernel |= span->kernel;
	for (int i = 0; i < 2 - chrome_is_open(s, span); i++) {
		char *p = line_room(s);

		p = PUT(p, "{\"ph\":\"");
		*p++ = "beSF"[2 * legacy + i];
		if (async) {
			text_wrote(s->out, p);
			chrome_async_put_id(s, span->type, span->token);
			p = text_room(s->out, LINE_FIXED + NAME_FAST);
		} else {
			p = span->kernel ? PUT(p, "\",\"cat\":\"" CHROME_KERNEL "\",\"id\":")
					 : PUT(p, "\",\"cat\":\"" OVERLAPPING "\",\"id\":");
			p = decimal_at(p, s->overlapping);
			*p++ = ',';
		}
		p = put_prefix(prefix, p);
		p = put_stamp(s, p, i ? span->end : span->start, ticks);
		p = PUT(p, ",\"name\":");
		p = chrome_put_marks(s, put_name(s, p, name, size), span, false);
		if (i)
			s->json.size = 0;
		chrome_put_args(s, p);
	}
}

/* --- B and E --- */

/* Write the B of an open call, with the attributes of its enter. */
static int chrome_put_begin(struct chrome_output *s, const struct stack *st, uint32_t thread,
			    size_t index, bool kernel, struct error *e)
{
	struct span_frame *f = spans_frame(&s->spans, st, index);
	struct buffer *kept = spans_kept(&s->spans, thread, kernel);
	const struct lane_prefix *prefix = chrome_prefix(s, thread, f->lane);
	uint32_t size;
	const char *name = location_names_get(&s->names, f->location, &size);
	char *p;

	if (!prefix || !name)
		return error_no_memory(e);
	chrome_clear_args(s);
	if ((s->names.lines && attributes_append_line(&s->attributes, f->location, &s->bytes)) ||
	    (f->kept_size && buffer_append_from(&s->bytes, kept, f->kept, f->kept_size)) ||
	    (s->bytes.size && attributes_object(&s->attributes, &s->bytes, &s->json)))
		return error_no_memory(e);
	p = line_room(s);
	p = PUT(p, "{\"ph\":\"B\",");
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, f->start, counts_ticks(f->lane));
	p = PUT(p, ",\"name\":");
	p = put_name(s, p, name, size);
	p = chrome_put_category(s, p, f->type, kernel);
	if (!p)
		return error_no_memory(e);
	text_wrote(s->out, p);
	chrome_put_args(s, text_room(s->out, LINE_FIXED));
	f->token = HAS_BEGIN;
	return 0;
}

/* Write the B of the frames from the outermost to that index that have none. */
static int chrome_put_begins(struct chrome_output *s, const struct stack *st, uint32_t thread,
			     size_t index, bool kernel, struct error *e)
{
	size_t i = index + 1;

	for (; i; i--) {
		const struct span_frame *f = spans_frame(&s->spans, st, i - 1);

		if (!f->lane || f->token == HAS_BEGIN)
			break;
	}
	for (; i <= index; i++)
		if (chrome_put_begin(s, st, thread, i, kernel, e))
			return -1;
	return 0;
}

static uint64_t serial_of(const struct chrome_output *s, const struct span *span)
{
	return spans_frame(&s->spans, span->stack, span->stack->count)->serial;
}

/* Write the B of the calls on a stack that began before a call, the last one at the same time. */
static int chrome_put_earlier(struct chrome_output *s, const struct stack *st,
			      const struct span *span, bool kernel, struct error *e)
{
	const struct span_frame *f = NULL;
	size_t i = st->count;

	while (i && (f = spans_frame(&s->spans, st, i - 1))->serial > serial_of(s, span))
		i--;
	return i && f->lane && f->start == span->start
		       ? chrome_put_begins(s, st, span->thread, i - 1, kernel, e)
		       : 0;
}

/* Test for an open call in the kernel that began after a call of its thread, at the same time. */
static bool has_kernel(const struct chrome_output *s, const struct span *span)
{
	const struct stack *kernel = span->stack->kernel;
	const struct span_frame *f =
		kernel && kernel->count ? spans_frame(&s->spans, kernel, 0) : NULL;

	return f && f->start == span->start && f->serial > serial_of(s, span);
}

int chrome_pairs_begin(struct chrome_output *s, const struct span *span,
		       const struct lane_prefix *prefix, bool *begun, struct error *e)
{
	const struct stack *st = span->stack;
	bool kernel = span->kernel;

	*begun = false;
	if (!st || s->options->drop)
		return 0;
	*begun = span->token == HAS_BEGIN || chrome_is_open(s, span) ||
		 (!kernel && (span->start >= span->end || prefix->instant == span->end + 1 ||
			      has_kernel(s, span)));
	/* a call in the kernel is inside of its thread's other calls, which are on another stack */
	if (kernel && chrome_put_earlier(s, s->spans.calls->stacks[span->thread], span, false, e))
		return -1;
	if (*begun)
		return chrome_put_begins(s, st, span->thread, st->count, kernel, e);
	return span->crossing ? 0 : chrome_put_earlier(s, st, span, kernel, e);
}

int chrome_pairs_event(struct chrome_output *s, const struct event *ev, struct lane_prefix *prefix,
		       struct error *e)
{
	const struct stack *st = calls_thread_stack(s->spans.calls, calls_thread(ev));
	const struct span_frame *top;

	prefix->instant = ev->time + 1;
	if (!st || !st->count || s->options->drop)
		return 0;
	top = spans_frame(&s->spans, st, st->count - 1);
	if (!top->lane || top->start != ev->time)
		return 0;
	return chrome_put_begins(s, st, calls_thread(ev), st->count - 1, false, e);
}

int chrome_pairs_drop(struct chrome_output *s, const struct span *span,
		      const struct lane_prefix *prefix, struct error *e)
{
	return span->stack && span->token == HAS_BEGIN ? chrome_pairs_end(s, span, prefix, NULL, e)
						       : 0;
}

int chrome_pairs_end(struct chrome_output *s, const struct span *span,
		     const struct lane_prefix *prefix, const struct event *leave, struct error *e)
{
	struct span end = *span;
	char *p;

	/* the B has them */
	end.kept_size = 0;
	end.entered = end.location = 0;
	if (chrome_is_open(s, span))
		return 0;
	if (chrome_render_args(s, &end, leave, e))
		return -1;
	p = line_room(s);
	p = PUT(p, "{\"ph\":\"E\",");
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, span->end, counts_ticks(span->lane));
	p = chrome_put_marks(s, p, span, true);
	if (!p)
		return error_no_memory(e);
	chrome_put_args(s, p);
	return 0;
}

/* --- flows --- */

/* When and where an event has flows. */
struct flow_at {
	uint64_t time;
	const struct lane *lane;
	uint32_t thread;
	bool derived; /* the arguments of the event have them too */
};

/* A part of a flow that is held; without a lane it is dropped. */
struct held_flow {
	struct flow_part part;
	struct flow_at at;
};

/* Write a part of a flow at p, up to its pid. */
static char *put_flow(struct chrome_output *s, char *p, char phase, bool enclosing,
		      struct text_ref category, uint64_t id)
{
	p = PUT(p, "{\"ph\":\"");
	*p++ = phase;
	p = PUT(p, "\",\"cat\":");
	text_wrote(s->out, p);
	json_string(s->out, category.text, category.size);
	text_puts(s->out, ",\"id\":\"0x");
	text_hex(s->out, id, 1);
	p = text_room(s->out, LINE_FIXED);
	return enclosing ? PUT(p, "\",\"bp\":\"e\",") : PUT(p, "\",");
}

/* Write the phase of an instant at p, up to its time, and its thread, unless it has none. */
static char *put_instant(char *p, const struct event *ev, const struct lane_prefix *prefix)
{
	const struct type *t = ev->type;
	bool chrome = type_is_of(t, "chrome");
	bool thread = ev->lane->flags & (LANE_HAS_TID | LANE_HAS_PID | LANE_HAS_CPU);
	bool global = chrome ? t->native & CHROME_GLOBAL : !thread && type_is_of(t, "perfetto");

	p = PUT(p, "{\"ph\":\"i\",\"s\":\"");
	*p++ = global ? 'g' : chrome && t->native & CHROME_PROCESS ? 'p' : 't';
	p = PUT(p, "\",");
	return global && !thread ? PUT(p, "\"ts\":") : put_prefix(prefix, p);
}

char *chrome_put_phase(struct chrome_output *s, char *p, const struct event *ev,
		       const struct lane_prefix *prefix, bool flow)
{
	if (flow)
		return put_prefix(prefix, put_flow(s, p, s->flows.phase, s->flows.enclosing,
						   ev->type->group, s->flows.parts[0].id));
	if (!async_event_is(ev->type))
		return put_instant(p, ev, prefix);
	p = PUT(p, "{\"ph\":\"");
	*p++ = async_event_phase(ev->type);
	text_wrote(s->out, p);
	chrome_async_put_id(s, ev->type, async_event_id(ev));
	return put_prefix(prefix, text_room(s->out, LINE_FIXED));
}

/* Write a part of a flow as an event of its own. */
static int put_flow_event(struct chrome_output *s, const struct flow_part *part,
			  const struct flow_at *at, struct error *e)
{
	const struct text_ref name = {.text = CHROME_FLOW, .size = sizeof CHROME_FLOW - 1};
	struct lane_prefix *prefix = chrome_prefix(s, at->thread, at->lane);
	char phase = flow_phase(&s->flows, part), *p;

	if (!prefix || !phase)
		return error_no_memory(e);
	p = put_flow(s, line_room(s), phase, phase != 's', name, part->id);
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, at->time, counts_ticks(at->lane));
	p = PUT(p, ",\"name\":\"" CHROME_FLOW "\"");
	if (at->derived)
		p = PUT(p, ",\"" CHROME_DERIVED_MARK "\":true");
	*p++ = '}';
	text_wrote(s->out, p);
	return 0;
}

/* Hold the flows that flows_read got. -1: out of memory. */
static int hold_flows(struct chrome_output *s, const struct flow_at *at, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct held_flow held = {.part = s->flows.parts[i], .at = *at};

		if (buffer_append(&s->held_flows, &held, sizeof held))
			return -1;
	}
	return 0;
}

int chrome_hold_call(struct chrome_output *s, const struct event *enter, const struct span *span,
		     struct buffer *keep)
{
	uint64_t first = s->held_flows.size;
	/* else the output with the call's enter has them */
	unsigned n = span->restored ? 0 : flows_read(&s->flows, enter);
	const struct flow_at at = {enter->time, enter->lane, span->thread, keeps_flows(s, enter)};

	return hold_flows(s, &at, n) || buffer_u64(keep, first) || buffer_u32(keep, n) ? -1 : 0;
}

void chrome_drop_flows(struct chrome_output *s, const struct span *span)
{
	const uint8_t *kept;
	struct held_flow held;

	if (!span->begun || span->kept_size < CHROME_HELD)
		return;
	kept = span->kept->data + span->kept_at;
	for (uint32_t i = 0; i < get_u32(kept + 8); i++) {
		uint8_t *at = s->held_flows.data + get_u64(kept) + i * sizeof held;

		memcpy(&held, at, sizeof held);
		held.at.lane = NULL;
		memcpy(at, &held, sizeof held);
	}
}

int chrome_put_held(struct chrome_output *s, struct error *e)
{
	struct held_flow held;

	for (size_t at = 0; at < s->held_flows.size; at += sizeof held) {
		memcpy(&held, s->held_flows.data + at, sizeof held);
		if (held.at.lane && put_flow_event(s, &held.part, &held.at, e))
			return -1;
		if (at % BUFFER_PIECE < sizeof held)
			buffer_rest(&s->held_flows);
	}
	return 0;
}

int chrome_put_flows(struct chrome_output *s, const struct event *ev, struct error *e)
{
	unsigned n = async_event_is_flow(ev->type) ? 0 : flows_read(&s->flows, ev);
	const struct flow_at at = {ev->time, ev->lane, calls_thread(ev), keeps_flows(s, ev)};
	struct lane_prefix *prefix;

	/* a part of a flow of JSON is its own event */
	if (!n || s->flows.phase)
		return 0;
	if (s->options->drop)
		return ev->type->kind != KIND_ENTER && hold_flows(s, &at, n) ? error_no_memory(e)
									     : 0;
	prefix = chrome_prefix(s, at.thread, at.lane);
	if (!prefix)
		return error_no_memory(e);
	/* the flows are inside of the call that begins or ends at their time */
	if (chrome_pairs_event(s, ev, prefix, e))
		return -1;
	for (unsigned i = 0; i < n; i++)
		if (put_flow_event(s, &s->flows.parts[i], &at, e))
			return -1;
	return 0;
}

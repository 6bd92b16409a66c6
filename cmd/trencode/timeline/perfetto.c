/*
 * perfetto.c - TrackEvent packets of Perfetto's trace format (protobuf), with interned names
 *
 * Begins and ends are written in the order of the events, exact to the nanosecond. An end closes
 * the last begin of its track, so calls that need not nest with the thread's other calls have
 * tracks of their own below the thread's: calls in the kernel, calls open since before the trace,
 * and calls of apitrace that begin while others are open.
 */
#include "cmd/trencode/timeline/async_events.h"
#include "cmd/trencode/timeline/perfetto_ftrace.h"
#include "cmd/trencode/timeline/perfetto_samples.h"

#include <stdlib.h>

#include "common/formats/chrome.h"
#include "common/util/buffer_file.h"

enum { CHUNK = 64 * 1024 };

struct track_event {
	unsigned type;
	uint64_t track, time;
	uint32_t name, category;   /* strings of the dictionary, 0 none */
	uint32_t location;	   /* 0 none */
	const struct event *event; /* whose recorded stack it has; NULL: none */
	const struct event *flows; /* whose flows it has; NULL: none */
};

/* Append the source line of a location, if it is known. */
static int perfetto_put_line(struct perfetto *s, uint32_t location, struct buffer *event)
{
	const struct location *l = dictionary_location(s->names.dictionary, location);

	if (!l || !l->symbol || !l->symbol->line || !l->symbol->file.size)
		return 0;
	return perfetto_intern_line(s, location, l->symbol) ||
			       protobuf_uint(event, EVENT_SOURCE_LOCATION_IID, location)
		       ? -1
		       : 0;
}

/* Append the ids of an event's flows. */
static int perfetto_put_flows(struct perfetto *s, const struct event *ev, struct buffer *event)
{
	unsigned n = flows_read(&s->flows, ev);

	for (unsigned i = 0; i < n; i++) {
		const struct flow_part *part = &s->flows.parts[i];

		if (protobuf_fixed64(event, part->ends ? EVENT_ENDED_FLOWS : EVENT_FLOWS, part->id))
			return -1;
	}
	return 0;
}

/* Write an event. The attributes in s->kept become annotations. */
static int perfetto_put_event(struct perfetto *s, const struct track_event *ev, uint64_t *token,
			      struct error *e)
{
	struct buffer *b = &s->part;

	buffer_clear(b);
	if (protobuf_uint(b, EVENT_TYPE, ev->type) || protobuf_uint(b, EVENT_TRACK, ev->track) ||
	    (ev->name && (perfetto_intern_name(s, INTERNED_NAME, ev->name) ||
			  protobuf_uint(b, EVENT_NAME_IID, ev->name))) ||
	    (ev->category && (perfetto_intern_name(s, INTERNED_CATEGORY, ev->category) ||
			      protobuf_uint(b, EVENT_CATEGORY_IIDS, ev->category))) ||
	    (ev->event && perfetto_put_stack(s, ev->event, b)) ||
	    (s->names.lines && perfetto_put_line(s, ev->location, b)) ||
	    (ev->flows && (ev->flows->type->nfields || ev->flows->tail_size) &&
	     perfetto_put_flows(s, ev->flows, b)))
		return error_no_memory(e);
	if (s->kept.size) {
		if (attributes_read(&s->attributes, &s->kept))
			return error_no_memory(e);
		for (size_t i = 0; i < s->attributes.count; i++)
			if (perfetto_put_annotation(s, &s->attributes.items[i], b))
				return error_no_memory(e);
	}
	if (perfetto_put_interned(s, ev->time, e))
		return -1;
	if (perfetto_begin_packet(s, ev->time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_EVENT, b))
		return error_no_memory(e);
	return perfetto_put_packet(s, token, e);
}

static int perfetto_name_of(struct perfetto *s, uint32_t location, uint32_t *name)
{
	uint32_t size;

	if (!location_names_get(&s->names, location, &size))
		return -1;
	*name = s->names.names[location].number;
	return 0;
}

/* Returns the category of the calls of a type, a string of the dictionary; 0: none. */
static uint32_t category_of(const struct type *t)
{
	return t ? t->group.number : 0;
}

/* Append the attributes of a call's event. Instead of its track_id the call has a track, or an id.
 */
static int append_call(struct perfetto *s, const struct event *ev)
{
	struct attribute id = {.kind = ATTRIBUTE_UINT};

	if (!perfetto_track_id(ev, &id.number))
		return attributes_append(&s->attributes, ev, &s->kept);
	if (ev->tail_size && attributes_append_values(&s->attributes, ev, &s->kept))
		return -1;
	return ev->type->kind == KIND_ENTER && !perfetto_has_own_track(ev->type)
		       ? attributes_append_named(&s->attributes, PERFETTO_CALL_ID, &id, &s->kept)
		       : 0;
}

/* Get the track of a call that begins. keep: what perfetto_end_call needs to find it. */
static int begin_track(struct perfetto *s, const struct event *enter, const struct span *span,
		       struct buffer *keep, uint64_t *uuid, struct error *e)
{
	uint8_t slot = 0;

	if (perfetto_has_own_track(enter->type)) {
		if (perfetto_own_track(s, enter, uuid, e))
			return -1;
		return buffer_u64(keep, *uuid) ? error_no_memory(e) : 0;
	}
	if (enter->type->flags & TYPE_CALL_NUMBER &&
	    (perfetto_take_slot(s, span->thread, !encoder_all_numbered(enter->type), &slot) ||
	     buffer_u8(keep, slot)))
		return error_no_memory(e);
	return perfetto_span_track(s, span, slot, enter->time, uuid, e);
}

static int perfetto_begin_call(void *ctx, const struct event *enter, const struct span *span,
			       struct buffer *keep, uint64_t *token, struct error *e)
{
	struct perfetto *s = ctx;
	uint32_t name;
	uint64_t uuid;

	if (begin_track(s, enter, span, keep, &uuid, e))
		return -1;
	buffer_clear(&s->kept);
	if (perfetto_name_of(s, span->location, &name) || append_call(s, enter))
		return error_no_memory(e);
	return perfetto_put_event(
		s,
		&(struct track_event){.type = perfetto_is_state(enter->type) ? TYPE_STATE
									     : TYPE_BEGIN,
				      .track = uuid,
				      .time = enter->time,
				      .name = name,
				      .category = category_of(enter->type),
				      .location = span->location,
				      .event = enter,
				      /* else the output with the call's enter has them */
				      .flows = span->restored ? NULL : enter},
		token, e);
}

/* Append the name of a call's leave, if it is not that of the call's begin. */
static int perfetto_append_leave_name(struct perfetto *s, const struct span *span)
{
	uint32_t entered, left;
	struct text_ref text;

	if (!span->begun || !span->entered || span->entered == span->location)
		return 0;
	if (perfetto_name_of(s, span->entered, &entered) ||
	    perfetto_name_of(s, span->location, &left))
		return -1;
	text = dictionary_string(s->names.dictionary, left);
	return left == entered ? 0
			       : attributes_append_text(&s->attributes, CHROME_LEAVE_NAME,
							text.text, text.size, &s->kept);
}

/* Free the slot of a call that ends. Returns its number. */
static uint8_t end_slot(struct perfetto *s, const struct span *span)
{
	uint8_t slot;

	if (span->kept_size != sizeof slot)
		return 0;
	slot = span->kept->data[span->kept_at];
	s->slots[span->thread] &= ~(1ull << slot);
	return slot;
}

static int perfetto_end_call(void *ctx, const struct span *span, const struct event *leave,
			     struct error *e)
{
	struct perfetto *s = ctx;
	uint64_t uuid, token;
	uint32_t name;
	uint8_t slot = end_slot(s, span);
	bool state = span->type && perfetto_is_state(span->type);

	/* a state without an end lasts to the end of the trace */
	if (span->unfinished && state && !s->drop)
		return 0;
	if (span->unfinished && s->drop)
		return span->begun ? spill_journal_revoke(&s->held, span->token, e) : 0;
	if (span->kept_size == sizeof uuid)
		uuid = get_u64(span->kept->data + span->kept_at);
	else if (perfetto_span_track(s, span, slot, span->end, &uuid, e))
		return -1;
	buffer_clear(&s->kept);
	if (!span->begun) {
		if (perfetto_name_of(s, span->location, &name))
			return error_no_memory(e);
		if (perfetto_put_event(s,
				       &(struct track_event){.type = TYPE_BEGIN,
							     .track = uuid,
							     .time = span->start,
							     .name = name,
							     .category = category_of(span->type),
							     .location = span->location},
				       &token, e))
			return -1;
	}
	if ((leave && append_call(s, leave)) || perfetto_append_leave_name(s, span) ||
	    (span->unfinished &&
	     attributes_append_bool(&s->attributes, CHROME_UNFINISHED, true, &s->kept)))
		return error_no_memory(e);
	return perfetto_put_event(s,
				  &(struct track_event){.type = state ? TYPE_STATE : TYPE_END,
							.track = uuid,
							.time = span->end,
							.flows = leave},
				  &token, e);
}

static int perfetto_drop_call(void *ctx, const struct span *span, struct error *e)
{
	return perfetto_end_call(ctx, span, NULL, e);
}

/* --- counters: a track for each value --- */

static int put_counter(struct perfetto *s, const struct event *ev, uint32_t name,
		       const struct attribute *item, struct error *e)
{
	bool real = item->kind == ATTRIBUTE_REAL ||
		    (item->kind == ATTRIBUTE_UINT && item->number > INT64_MAX);
	uint32_t category = ev->type->group.number;
	uint64_t uuid = 0, token;

	if (perfetto_counter_track(s, ev, name, s->attributes.count > 1 ? item->name : 0, &uuid, e))
		return -1;
	s->part.size = 0;
	if (category && (perfetto_intern_name(s, INTERNED_CATEGORY, category) ||
			 protobuf_uint(&s->part, EVENT_CATEGORY_IIDS, category)))
		return error_no_memory(e);
	if (perfetto_put_interned(s, ev->time, e))
		return -1;
	if (protobuf_uint(&s->part, EVENT_TYPE, TYPE_COUNTER) ||
	    protobuf_uint(&s->part, EVENT_TRACK, uuid) ||
	    (real ? protobuf_double(&s->part, EVENT_COUNTER_REAL,
				    item->kind == ATTRIBUTE_REAL ? item->real
								 : (double)item->number)
		  : protobuf_uint(&s->part, EVENT_COUNTER, item->number)) ||
	    perfetto_begin_packet(s, ev->time, STATE_NEEDED) ||
	    protobuf_message(&s->packet, PACKET_TRACK_EVENT, &s->part))
		return error_no_memory(e);
	return perfetto_put_packet(s, &token, e);
}

/* Append the attributes of an event that is no call. A gap of no thread has its CPU. A part of a
 * flow of Trace Event JSON has its phase instead of its id, which is among the ids of flows. */
static int append_instant(struct perfetto *s, const struct event *ev)
{
	char text[2] = {async_event_phase(ev->type), PERFETTO_FLOW_ENCLOSING};
	const struct attribute cpu = {.kind = ATTRIBUTE_UINT, .number = (uint32_t)ev->lane->cpu};

	if (ev->type->kind == KIND_GAP &&
	    (ev->lane->flags & (LANE_HAS_CPU | LANE_HAS_TID)) == LANE_HAS_CPU &&
	    attributes_append_named(&s->attributes, PERFETTO_GAP_CPU, &cpu, &s->kept))
		return -1;
	if (!async_event_is_flow(ev->type))
		return attributes_append(&s->attributes, ev, &s->kept);
	if (ev->tail_size && attributes_append_values(&s->attributes, ev, &s->kept))
		return -1;
	return attributes_append_text(&s->attributes, PERFETTO_FLOW_PHASE, text,
				      1 + !!(ev->type->native & CHROME_ENCLOSING), &s->kept);
}

static int perfetto_other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct perfetto *s = ctx;
	uint64_t uuid = 0, token; /* track 0 is that of all threads */
	uint32_t name = ev->type->name.number;
	struct track_event instant;
	bool whole;

	if (perfetto_ftrace_event(s->ftrace, ev, &whole, e))
		return -1;
	/* the event needs no track, but its thread a process and a name, if they are known */
	if (whole && (!ev->lane->tid || !(ev->lane->flags & LANE_HAS_PID || ev->lane->comm.size)))
		return 0;
	if (!perfetto_is_global(ev) &&
	    perfetto_track(s,
			   &(struct track_of){
				   .kind = OF_THREAD, .thread = calls_thread(ev), .lane = ev->lane},
			   ev->time, &uuid, e))
		return -1;
	if (whole)
		return 0;
	if (ev->type->kind == KIND_SAMPLE)
		return perfetto_sample(s, ev, e);
	buffer_clear(&s->kept);
	if (append_instant(s, ev) || (ev->location && perfetto_name_of(s, ev->location, &name)))
		return error_no_memory(e);
	if (ev->type->kind == KIND_COUNTER) {
		if (attributes_read(&s->attributes, &s->kept))
			return error_no_memory(e);
		if (attributes_keep_numbers(&s->attributes)) {
			for (size_t i = 0; i < s->attributes.count; i++)
				if (put_counter(s, ev, name, &s->attributes.items[i], e))
					return -1;
			return 0;
		}
	}
	instant = (struct track_event){.type = TYPE_INSTANT,
				       .track = uuid,
				       .time = ev->time,
				       .name = name,
				       .category = ev->type->group.number,
				       .location = ev->location,
				       .event = ev,
				       .flows = ev};
	return perfetto_put_event(s, &instant, &token, e);
}

static int perfetto_start(struct perfetto *s, const struct event *ev, struct error *e)
{
	s->started = true;
	return perfetto_put_first(s, ev, e);
}

/* Begin the trace with the first call that is open. After lost rows the states of threads are not
 * known. */
static int perfetto_restore(void *ctx, const struct event *enter, struct error *e)
{
	struct perfetto *s = ctx;

	if (!enter)
		return perfetto_ftrace_lost(s->ftrace, e);
	return s->started ? 0 : perfetto_start(s, enter, e);
}

static const struct span_sink sink = {.begin = perfetto_begin_call,
				      .restore = perfetto_restore,
				      .end = perfetto_end_call,
				      .drop = perfetto_drop_call,
				      .other = perfetto_other_event};

/* --- the encoder --- */

static int perfetto_begin(struct encoding *en, struct error *e)
{
	struct perfetto *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->drop = en->options->drop;
	/* through which an event's values go */
	s->kept.spills = s->bit.spills = s->clean.spills = s->part.spills = true;
	s->packet.spills = s->out.spills = true;
	spill_journal_init(&s->held);
	spans_init(&s->spans, en, &sink, s);
	location_names_init(&s->names, en->dictionary, NULL);
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.flows_apart = true;
	s->flows.dictionary = en->dictionary;
	s->samples = perfetto_samples_new();
	s->ftrace = perfetto_ftrace_new(s);
	return s->samples && s->ftrace ? 0 : error_no_memory(e);
}

static int perfetto_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct perfetto *s = en->state;

	return tracks_meta(&s->tracks, en->dictionary, m) || attributes_meta(&s->attributes, m)
		       ? error_no_memory(e)
		       : 0;
}

static int perfetto_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct perfetto *s = en->state;

	if (!s->started && perfetto_start(s, ev, e))
		return -1;
	if (spans_event(&s->spans, ev, e))
		return -1;
	return s->out.size > CHUNK ? perfetto_write_out(en, e) : 0;
}

static uint64_t perfetto_size(const struct encoding *en)
{
	const struct perfetto *s = en->state;

	return en->out->written + s->out.size;
}

static int perfetto_end(struct encoding *en, struct error *e)
{
	struct perfetto *s = en->state;

	if (spans_finish(&s->spans, e) || perfetto_ftrace_flush(s->ftrace, e) ||
	    (s->drop ? spill_journal_copy(&s->held, en->out, e) : perfetto_write_out(en, e)))
		return -1;
	if (!en->options->quiet) {
		location_names_report(&s->names);
		spans_report(&s->spans, s->drop);
		attributes_report(&s->attributes);
		perfetto_samples_report(s->samples);
	}
	return 0;
}

static void free_state(struct perfetto *s)
{
	struct buffer *buffers[] = {&s->out,	  &s->packet, &s->part, &s->bit,
				    &s->interned, &s->kept,   &s->clean};

	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	for (size_t i = 0; i < NAME_KINDS; i++)
		free(s->known[i]);
	perfetto_samples_free(s->samples);
	perfetto_ftrace_free(s->ftrace);
	spill_journal_free(&s->held);
	spans_free(&s->spans);
	tracks_free(&s->tracks);
	location_names_free(&s->names);
	attributes_free(&s->attributes);
	flows_free(&s->flows);
	json_close(&s->json);
	intern_free(&s->declared);
	intern_free(&s->counters);
	intern_free(&s->others.keys);
	free(s->others.uuids);
	free(s->slots);
	free(s);
}

static void perfetto_free(struct encoding *en)
{
	if (en->state)
		free_state(en->state);
	en->state = NULL;
}

const struct encoder encoder_perfetto = {
	.name = "perfetto",
	.suffixes = ".perfetto-trace .pftrace",
	.purpose = "Perfetto's own format, exact and small, for ui.perfetto.dev",
	.output = ENCODER_FILE,
	.report = true,
	.begin = perfetto_begin,
	.meta = perfetto_meta,
	.drops = true,
	.event = perfetto_event,
	.end = perfetto_end,
	.size = perfetto_size,
	.free = perfetto_free,
};

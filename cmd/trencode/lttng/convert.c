/*
 * convert.c - convert the events of any source to an LTTng trace (2.6)
 *
 * Every type of event becomes a marker of the channel that its group names. LTTng records the
 * thread of an event only by switches between threads, so each marker has the fields _tid, _pid and
 * _comm. Calls have _enter or _leave (the function's name), _function (a number of the function),
 * _depth or _call, and _arguments, or _outputs and _return. Other events at a location have its
 * name as _at. _order numbers all events, as events of one time may be in several files. trdecode
 * reads these fields.
 *
 * The TSC counts ns. lttng.c, the encoder of LTTng's own streams, writes blocks and announcements.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/lttng/convert_types.h"
#include "cmd/trencode/formats.h"
#include "common/stream/field.h"
#include "common/formats/lttng.h"

enum { TEXT_MOST = 32 * 1024 };

/* The state of the conversion. */
struct lttng_conversion {
	struct conversion conversion;
	struct lttng_types types;
	struct buffer fixed, tail;
	const struct clock *clock; /* of the first event */
	uint32_t calls, order;
	uint64_t blobs, cut; /* blobs, texts */
	bool begun;
};

/* Write the clock: the TSC at the start, and the wall time then, in whole microseconds. */
static int lttng_begin_clock(struct lttng_conversion *s, uint64_t first, struct error *e)
{
	int64_t wall = 0;
	uint64_t start = 0, at = 0;
	char text[256];
	int n;

	s->begun = true;
	if (s->clock && s->clock->flags & CLOCK_HAS_WALL)
		wall = s->clock->wall;
	if (s->clock && s->clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)) {
		at = first + (uint64_t)wall;
		start = first - at % 1000;
		at -= at % 1000;
		if (start > first) {
			start = first;
			at = first + (uint64_t)wall;
		}
	}
	n = snprintf(text, sizeof text,
		     "version 2.6\nstart_freq 1000000000\nfreq_scale 1\nstart_tsc %" PRIu64
		     "\nstart_time_sec %" PRIu64 "\nstart_time_usec %" PRIu64 "\n",
		     start, at / 1000000000, at % 1000000000 / 1000);
	return target_meta(&s->conversion.d, "lttng.trace", text, (size_t)n, 0, e);
}

/* --- lanes: a channel on a CPU --- */

static const struct lane *lane_of(struct lttng_conversion *s, const struct lane *from,
				  struct text_ref channel, uint64_t time)
{
	uint32_t cpu = from->flags & LANE_HAS_CPU && from->cpu >= 0 ? (uint32_t)from->cpu : 0;

	return convert_buffer_lane(&s->conversion, channel, cpu, time);
}

/* --- rows --- */

static int put_uint(struct buffer *b, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	put_u64(bytes, v);
	return buffer_append(b, bytes, size);
}

/* End a text at its first NUL. */
static int end_text(struct lttng_conversion *s, size_t from)
{
	struct buffer *b = &s->tail;
	const uint8_t *nul = b->size > from ? memchr(b->data + from, 0, b->size - from) : NULL;

	if (nul) {
		b->size = (size_t)(nul - b->data);
		s->cut++;
	}
	convert_text_cut(b, from, TEXT_MOST, &s->cut);
	return buffer_u8(b, 0);
}

static int put_text(struct lttng_conversion *s, const char *text, size_t n)
{
	size_t from = s->tail.size;

	return convert_name_no_nul(&s->tail, text, n) || end_text(s, from) ? -1 : 0;
}

static int put_field(struct lttng_conversion *s, const struct convert_field *w,
		     const struct event *ev)
{
	size_t from = s->tail.size;

	if (w->size)
		return put_uint(&s->fixed, convert_field_number(w, ev), w->size);
	return convert_field_text(&s->tail, s->conversion.dictionary, w, ev) || end_text(s, from)
		       ? -1
		       : 0;
}

static int put_row(struct lttng_conversion *s, const struct convert_row *r,
		   const struct lttng_converted_type *w)
{
	const struct event *ev = r->ev;
	const struct convert_thread *t = r->thread;
	const struct lane *lane = ev->lane;
	int32_t tid = t->tid, pid = t->pid;
	struct text_ref comm = lane->comm;
	uint32_t location = w->call ? r->location : ev->location;
	size_t from;

	/* an interrupt has the ids of the interrupted thread */
	if (t->per_cpu) {
		t = convert_thread(&s->conversion, lane, false);
		if (!t)
			return -1;
		tid = t->tid;
		pid = t->pid;
	}
	if (!(lane->flags & LANE_HAS_PID))
		pid = -1;
	s->fixed.size = s->tail.size = 0;
	if (put_uint(&s->fixed, r->time, 8) || put_uint(&s->fixed, (uint32_t)tid, 4) ||
	    put_uint(&s->fixed, (uint32_t)pid, 4) ||
	    (w->call && put_uint(&s->fixed, w->number ? *r->mark : r->depth, 4)) ||
	    ((w->call || w->location) && put_uint(&s->fixed, location, 4)) ||
	    put_uint(&s->fixed, s->order++, 4))
		return -1;
	for (uint32_t i = 0; i < w->nfields; i++)
		if (w->fields[i].size && put_field(s, &w->fields[i], ev))
			return -1;
	if (put_text(s, comm.text, comm.size))
		return -1;
	if (w->call || w->location) {
		struct text_ref name = dictionary_location_name(s->conversion.dictionary, location);

		convert_use_location(&s->conversion, location);
		if (put_text(s, name.text, name.size))
			return -1;
	}
	for (int what = 0; w->values && what <= w->leave; what++) {
		from = s->tail.size;
		if (convert_text_values(&s->tail, s->conversion.dictionary, ev,
					what ? DETAIL_RETURN : DETAIL_ARGUMENT, &s->blobs) ||
		    end_text(s, from))
			return -1;
	}
	for (uint32_t i = 0; i < w->nfields; i++)
		if (!w->fields[i].size && put_field(s, &w->fields[i], ev))
			return -1;
	return buffer_align(&s->fixed, 4);
}

static int lttng_convert_row(void *state, const struct convert_row *r, struct error *e)
{
	struct lttng_conversion *s = state;
	struct event ev = {.time = r->time};
	const struct lttng_converted_type *w;

	if (!s->begun) {
		s->clock = r->ev->lane->clock;
		if (lttng_begin_clock(s, r->time, e))
			return -1;
	}
	/* readers close unfinished calls by the depths of later ones */
	if (r->cut)
		return 0;
	if (r->what == CONVERT_GAP)
		return convert_put_gap(&s->conversion, r,
				       lane_of(s, r->ev->lane,
					       target_string(&s->conversion.d, "trace", 5),
					       r->time),
				       e);
	if (r->what == CONVERT_ENTER)
		*r->mark = s->calls++;
	if (lttng_types_find(&s->types, &s->conversion.d, r->ev, &w) || put_row(s, r, w))
		return error_no_memory(e);
	ev.lane = lane_of(s, r->ev->lane, w->type->group, r->time);
	if (!ev.lane)
		return error_no_memory(e);
	ev.type = w->type;
	ev.fixed = s->fixed.data;
	ev.tail = s->tail.data;
	ev.tail_size = (uint32_t)s->tail.size;
	return target_event(&s->conversion.d, &ev, e);
}

static void lttng_convert_drop(void *state)
{
	struct lttng_conversion *s = state;

	lttng_types_free(&s->types);
	buffer_free(&s->fixed);
	buffer_free(&s->tail);
}

static int lttng_convert_end(void *state, struct error *e)
{
	struct lttng_conversion *s = state;

	return s->begun ? 0 : lttng_begin_clock(s, 0, e);
}

static void lttng_convert_report(void *state)
{
	struct lttng_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(a, s->conversion.clock_epoch.count,
		     "{stream overlaps an earlier one: its|streams overlap earlier ones: their} "
		     "channels are named ~2 and so on");
	convert_lost(a, s->blobs, "{blob is written as its size|blobs are written as their sizes}");
	convert_lost(a, s->cut, "{text was|texts were} cut at a NUL or to 32768 bytes");
	convert_lost(a, s->types.fields_lost,
		     "{field is|fields are} left out, of types with more than 200 fields");
}

const struct convert_target lttng_target = {
	.native = &encoder_lttng,
	.format = "lttng",
	.state_size = sizeof(struct lttng_conversion),
	.keeps_kernel = true,
	.needs_time = true,
	.zero = true,
	.call = lttng_convert_row,
	.instant = lttng_convert_row,
	.gap = lttng_convert_row,
	.end = lttng_convert_end,
	.report = lttng_convert_report,
	.drop = lttng_convert_drop,
};

/*
 * convert.c - convert the events of any source to a uftrace recording
 *
 * Calls become records of functions in synthesised modules. Other events become user events, with
 * their fields or values as text in extern.dat. Each thread becomes a task; all tasks have the same
 * session. uftrace.c, the encoder of uftrace's own streams, writes the records.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/stream/field.h"
#include "common/formats/uftrace.h"
#include "cmd/trencode/uftrace/uftrace.h"
#include "cmd/trencode/uftrace/convert.h"
#include "cmd/trencode/formats.h"

enum { FIELDS_MOST = 64 };
/* Frames of a task that uftrace records and shows by default. */
enum { STACK_USUAL = 1024 };
static const uint64_t FEATURES = UFTRACE_FEAT_PLTHOOK | UFTRACE_FEAT_TASK_SESSION |
				 UFTRACE_FEAT_ARGUMENT | UFTRACE_FEAT_RETVAL |
				 UFTRACE_FEAT_SYM_REL_ADDR | UFTRACE_FEAT_MAX_STACK |
				 UFTRACE_FEAT_EVENT;

/* The state of the conversion. */
struct uftrace_conversion {
	struct conversion conversion;
	struct uftrace_modules modules;
	struct uftrace_specs specs;
	/* numbers in the target dictionary by the stream's; 0: none yet */
	uint32_t *locations;
	size_t locations_size;
	struct type *calls[2][2]; /* [leave][with values] */
	struct convert_arguments arguments;
	struct uftrace_tasks tasks;
	struct uftrace_events events;
	uint32_t deepest; /* depth of a call */
	uint64_t calls_written, too_deep, gaps;
	const struct clock *clock; /* of the first event */
};

static int begin_types(struct uftrace_conversion *s)
{
	static const char *const names[] = {"entry", "exit"};

	for (int leave = 0; leave < 2; leave++)
		for (int values = 0; values < 2; values++) {
			struct type *t = target_type(&s->conversion.d, names[leave], "uftrace");

			if (!t)
				return -1;
			t->kind = leave ? KIND_LEAVE : KIND_ENTER;
			t->flags = TYPE_DEPTH | (values ? TYPE_VALUES | TYPE_TAIL : 0);
			t->native = (uint32_t)leave;
			s->calls[leave][values] = t;
		}
	return 0;
}

/* --- threads --- */

static int lane_of(struct uftrace_conversion *s, const struct convert_row *r,
		   const struct lane **out, struct error *e)
{
	bool had = r->thread->lane;

	*out = convert_thread_lane(&s->conversion, r->thread);
	return *out && (had || !uftrace_task_add(&s->tasks, r->thread)) ? 0 : error_no_memory(e);
}

/* --- calls --- */

static int location_of(struct uftrace_conversion *s, uint32_t number, uint32_t *out,
		       struct error *e)
{
	struct dictionary *from = s->conversion.dictionary;
	uint32_t *locations;
	const struct location *location = dictionary_location(from, number);
	struct text_ref module = {"", 0, 0};
	struct location *p;

	if (ARRAY_REACH(s->locations, s->locations_size, number))
		return error_no_memory(e);
	locations = s->locations;
	if (!locations[number]) {
		if (location && location->symbol)
			module = location->symbol->module;
		convert_use_location(&s->conversion, number);
		p = target_location(&s->conversion.d);
		if (!p)
			return error_no_memory(e);
		if (uftrace_symbol(&s->modules, &s->conversion.d,
				   dictionary_location_name(from, number), module, &p->address, e))
			return -1;
		locations[number] = p->number;
	}
	*out = locations[number];
	return 0;
}

static int uftrace_convert_call(void *state, const struct convert_row *r, struct error *e)
{
	struct uftrace_conversion *s = state;
	bool leave = r->what == CONVERT_LEAVE;
	struct event ev = {.time = r->time, .depth = r->depth}, joined;

	if (lane_of(s, r, &ev.lane, e) || location_of(s, r->location, &ev.location, e))
		return -1;
	if (convert_arguments_join(&s->arguments, r->ev, &joined) ||
	    uftrace_values(&s->specs, r, &joined,
			   dictionary_location_name(s->conversion.dictionary, r->location)))
		return error_no_memory(e);
	ev.type = s->calls[leave][s->specs.tail.size > 0];
	if (s->specs.tail.size) {
		ev.tail = s->specs.tail.data;
		ev.tail_size = (uint32_t)s->specs.tail.size;
	}
	s->calls_written++;
	s->too_deep += !leave && r->depth >= STACK_USUAL;
	if (r->depth > s->deepest)
		s->deepest = r->depth;
	return target_event(&s->conversion.d, &ev, e);
}

/* --- other events --- */

static int uftrace_convert_instant(void *state, const struct convert_row *r, struct error *e)
{
	struct uftrace_conversion *s = state;
	struct target_dictionary *d = &s->conversion.d;
	struct event ev = {.time = r->time, .depth = r->thread->below + (uint32_t)r->thread->count};

	if (uftrace_event_type(&s->events, d, r->ev->type, &ev.type, e) ||
	    lane_of(s, r, &ev.lane, e) || target_event(d, &ev, e))
		return -1;
	return uftrace_event_text(&s->events, &s->conversion, r, e);
}

static int uftrace_convert_gap(void *state, const struct convert_row *r, struct error *e)
{
	struct uftrace_conversion *s = state;
	const struct lane *lane;
	struct gap_row g;

	if (!r->thread || r->ev->type->fixed_size < 24 || !gap_get(r->ev, &g) ||
	    g.reason != GAP_LOST) {
		s->gaps++;
		return 0;
	}
	return lane_of(s, r, &lane, e) || convert_put_gap(&s->conversion, r, lane, e) ? -1 : 0;
}

static int uftrace_convert_start(void *state, const struct lane *lane, struct error *e)
{
	struct uftrace_conversion *s = state;

	(void)e;
	if (lane)
		s->clock = lane->clock;
	uftrace_info_later(&s->conversion.d.encoding, FEATURES);
	return 0;
}

static void uftrace_convert_drop(void *state)
{
	struct uftrace_conversion *s = state;

	uftrace_symbols_free(&s->modules);
	uftrace_specs_free(&s->specs);
	free(s->locations);
	convert_arguments_free(&s->arguments);
	uftrace_events_free(&s->events);
	uftrace_tasks_free(&s->tasks);
}

static int uftrace_convert_init(void *state, struct error *e)
{
	struct uftrace_conversion *s = state;

	s->specs.conversion = &s->conversion;
	s->arguments.dictionary = s->conversion.dictionary;
	s->arguments.most = FIELDS_MOST;
	return begin_types(s) ? error_no_memory(e) : 0;
}

/* --- the end --- */

/* Return the frames that readers keep for each task; at least the recorder's default. */
static uint16_t max_stack(const struct uftrace_conversion *s)
{
	return s->deepest < STACK_USUAL	  ? STACK_USUAL
	       : s->deepest >= UINT16_MAX ? UINT16_MAX
					  : (uint16_t)(s->deepest + 1);
}

static int put_header(const struct uftrace_conversion *s, struct buffer *b)
{
	uint64_t info = 1u << UFTRACE_INFO_EXE_NAME | 1u << UFTRACE_INFO_CMDLINE |
			1u << UFTRACE_INFO_TASKINFO | 1u << UFTRACE_INFO_ARG_SPEC |
			1u << UFTRACE_INFO_PATTERN_TYPE | 1u << UFTRACE_INFO_VERSION;
	uint8_t h[UFTRACE_HEADER_SIZE] = UFTRACE_MAGIC;

	if (s->clock->flags & CLOCK_HAS_WALL)
		info |= 1u << UFTRACE_INFO_UTC_OFFSET;
	put_u32(h + UFTRACE_HDR_VERSION, UFTRACE_VERSION);
	put_u16(h + UFTRACE_HDR_SIZE, UFTRACE_HEADER_SIZE);
	h[UFTRACE_HDR_ENDIAN] = 1;
	h[UFTRACE_HDR_CLASS] = 2;
	put_u64(h + UFTRACE_HDR_FEAT_MASK, FEATURES);
	put_u64(h + UFTRACE_HDR_INFO_MASK, info);
	put_u16(h + UFTRACE_HDR_MAX_STACK, max_stack(s));
	return buffer_append(b, h, sizeof h);
}

static int put_spec(struct buffer *b, const struct buffer *spec)
{
	return spec->size ? buffer_append(b, spec->data, spec->size) : 0;
}

static int put_info(struct uftrace_conversion *s, struct error *e)
{
	struct buffer b = {0};
	int result = 0;

	if (put_header(s, &b) ||
	    buffer_printf(&b,
			  "exename:/trace\ncmdline:trencode -t uftrace \ntaskinfo:lines=2\n"
			  "taskinfo:nr_tid=%zu\ntaskinfo:tids=",
			  s->tasks.count) ||
	    uftrace_tasks_list(&s->tasks, &b) || buffer_printf(&b, "\nargspec:lines=2\nargspec:") ||
	    put_spec(&b, &s->specs.text[0]) || buffer_printf(&b, "\nretspec:") ||
	    put_spec(&b, &s->specs.text[1]) ||
	    buffer_printf(&b, "\npattern_type:simple\nuftrace_version:v0.13 ( x86_64 )\n") ||
	    (s->clock->flags & CLOCK_HAS_WALL &&
	     buffer_printf(&b, "utc_offset:%" PRId64 "\n", s->clock->wall / 1000000000)))
		result = error_no_memory(e);
	if (!result)
		result = target_meta(&s->conversion.d, "info", b.data, b.size, 0, e);
	buffer_free(&b);
	return result;
}

static void uftrace_convert_report(void *state)
{
	struct uftrace_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(a, a->counts.with_cpu,
		     "{event is|events are} written without {its|their} CPU: uftrace has none");
	convert_lost(a, a->counts.comms,
		     "{event is|events are} written with a name that {its thread|their threads} "
		     "had at another time");
	convert_lost(a, s->tasks.own,
		     "{thread is a process|threads are processes} of {its|their} own, as {it has a "
		     "name|they have names} of {its|their} own");
	convert_lost(a, s->gaps, "{gap|gaps} of a CPU, or of damaged input, {is|are} left out");
	convert_lost(a, s->specs.changed,
		     "{call is|calls are} written without {its|their} values: their types differ "
		     "from the function's first call");
	convert_lost(a, s->specs.some,
		     "{call is|calls are} written without the values that the function's first "
		     "call lacks");
	convert_lost(a, s->too_deep,
		     "{call is|calls are} deeper than 1024 levels: uftrace shows {it|them} only if "
		     "its -D is "
		     "larger");
	convert_lost(a, s->specs.blobs + s->events.blobs,
		     "{blob is written as its size|blobs are written as their sizes}");
	convert_lost(a, s->arguments.lost,
		     "{field is|fields are} left out, of calls with more than 64 fields");
	convert_lost(a, s->specs.cut + s->events.cut,
		     "{text was|texts were} cut to 1000 bytes (of events: 2000)");
	convert_lost(a, s->events.names_cut,
		     "{name or group|names and groups} of events {is|are} cut to 511 bytes, as "
		     "uftrace reads no more");
}

static int uftrace_convert_end(void *state, struct error *e)
{
	struct uftrace_conversion *s = state;
	struct target_dictionary *d = &s->conversion.d;

	const struct clip *clip = s->conversion.options->clip;

	/* the last part of --split may have events only */
	if (!s->calls_written && !(clip && clip->part.number))
		return error_set(e, NULL, NO_OFFSET,
				 "the stream has no calls, and uftrace shows nothing else "
				 "(%" PRIu64 " other events came)",
				 s->conversion.rows);
	return uftrace_symbols_end(&s->modules, d, e) || uftrace_tasks_end(&s->tasks, d, e) ||
			       uftrace_events_end(&s->events, d, e) || put_info(s, e)
		       ? -1
		       : 0;
}

const struct convert_target uftrace_target = {
	.native = &encoder_uftrace,
	.format = "uftrace",
	.state_size = sizeof(struct uftrace_conversion),
	.closes = true,
	.nests = true,
	.replays = true,
	.needs_time = true,
	.no_zero = true,
	.init = uftrace_convert_init,
	.begin = uftrace_convert_start,
	.call = uftrace_convert_call,
	.instant = uftrace_convert_instant,
	.gap = uftrace_convert_gap,
	.end = uftrace_convert_end,
	.report = uftrace_convert_report,
	.drop = uftrace_convert_drop,
};

/*
 * chrome.c - Trace Event JSON, which ui.perfetto.dev, chrome://tracing, speedscope and the Firefox
 * Profiler open
 *
 * A call is one complete event (X), written at its end; calls that overlap are pairs of async
 * events. Times are microseconds with three decimals, made from integers. Consumers read them as
 * doubles, so they count from the trace's first event, unless asked otherwise.
 */
#include "encoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/buffer_file.h"
#include "common/field.h"
#include "common/formats/chrome.h"
#include "common/json.h"
#include "place_names.h"
#include "spans.h"
#include "tracks.h"

enum {
	PREFIX_MOST = 64,  /* {"pid":-2147483648,"tid":-2147483648,"ts": */
	LINE_FIXED = 256,  /* a line without its name and its arguments */
	NAME_FAST = 16384, /* longer names go another way */
};

/* The category of calls that overlap others of their thread. */
#define OVERLAPPING "overlapping"

/* How the lines of a thread begin. */
struct lane_prefix {
	size_t size;
	char text[PREFIX_MOST];
};

struct state {
	struct spans spans;
	struct tracks tracks;
	struct place_names names;
	struct attributes attributes;
	struct buffer bytes, json;
	const struct encode_options *options;
	struct text *out;
	const struct clock *clock;
	uint64_t origin, overlapping, early; /* early: times before the origin */
	bool started, any;
};

/* --- pieces of a line --- */

static inline char *put(char *p, const char *s, size_t n)
{
	memcpy(p, s, n);
	return p + n;
}

#define PUT(p, literal) put(p, literal, sizeof(literal) - 1)

/* Microseconds with all nanoseconds; a clock of ticks as it counts. */
static inline char *put_time(char *p, uint64_t time, bool ticks)
{
	unsigned rest;

	if (__builtin_expect(ticks, 0))
		return decimal_at(p, time);
	rest = (unsigned)(time % 1000);
	p = decimal_at(p, time / 1000);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	p[2] = (char)('0' + rest / 10 % 10);
	p[3] = (char)('0' + rest % 10);
	return p + 4;
}

static inline char *put_stamp(struct state *s, char *p, uint64_t time, bool ticks)
{
	if (__builtin_expect(time < s->origin, 0)) {
		s->early++;
		*p++ = '-';
		return put_time(p, s->origin - time, ticks);
	}
	return put_time(p, time - s->origin, ticks);
}

static inline bool counts_ticks(const struct lane *lane)
{
	return lane->clock && lane->clock->flags & CLOCK_TICKS;
}

static void begin_line(struct state *s)
{
	if (s->any)
		text_put(s->out, ",\n", 2);
	s->any = true;
}

/* --- names of processes and threads --- */

static void put_metadata(struct state *s, const char *what, int32_t pid, int32_t tid)
{
	begin_line(s);
	text_printf(s->out,
		    "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"%s\",\"args\":{\"name\":", pid,
		    tid, what);
	json_string(s->out, (const char *)s->bytes.data, s->bytes.size);
	text_puts(s->out, "}}");
}

static int name_track(struct state *s, struct track *t, const struct lane *lane)
{
	struct track_process *p = &s->tracks.processes[t->process];
	struct lane_prefix *prefix = t->user;

	if (!prefix) {
		prefix = t->user = malloc(sizeof *prefix);
		if (!prefix)
			return -1;
		prefix->size = (size_t)snprintf(prefix->text, sizeof prefix->text,
						"\"pid\":%d,\"tid\":%d,\"ts\":", t->pid, t->tid);
	}
	if (p->renamed) {
		struct text_ref comm = dictionary_string(s->names.dictionary, p->comm);

		p->renamed = false;
		s->bytes.size = 0;
		if (p->comm) {
			if (buffer_append(&s->bytes, comm.text, comm.size))
				return -1;
			put_metadata(s, "process_name", t->pid, t->tid);
		}
	}
	t->renamed = false;
	s->bytes.size = 0;
	if (track_name(t, lane, &s->bytes))
		return -1;
	put_metadata(s, "thread_name", t->pid, t->tid);
	return 0;
}

static inline const struct lane_prefix *prefix_of(struct state *s, uint32_t thread,
						  const struct lane *lane)
{
	struct track *t = tracks_get(&s->tracks, thread, lane);

	if (__builtin_expect(!t || (t->renamed && name_track(s, t, lane)), 0))
		return NULL;
	return t->user;
}

/* --- events --- */

static inline char *put_prefix(const struct lane_prefix *prefix, char *p)
{
	memcpy(p, prefix->text, PREFIX_MOST); /* of a length the compiler knows */
	return p + prefix->size;
}

/* The name goes directly into the line, or, if it is very long, behind what is there of it. */
static inline char *put_name(struct state *s, char *p, const char *name, uint32_t size)
{
	if (__builtin_expect(size <= NAME_FAST, 1))
		return put(p, name, size);
	text_wrote(s->out, p);
	text_put(s->out, name, size);
	return text_room(s->out, LINE_FIXED);
}

static inline char *line_room(struct state *s)
{
	char *p = text_room(s->out, LINE_FIXED + NAME_FAST);

	if (s->any)
		p = PUT(p, ",\n");
	s->any = true;
	return p;
}

static void put_args(struct state *s)
{
	if (s->json.size) {
		text_put(s->out, ",\"args\":", 8);
		text_put_buffer(s->out, &s->json, 0, s->json.size);
	}
	text_char(s->out, '}');
}

/* Is it an asynchronous event of Trace Event JSON? */
static bool is_async(const struct type *t)
{
	return t && t->nfields && t->source && !strcmp(t->source->format.text, "chrome") &&
	       !strcmp(t->fields[t->nfields - 1].name.text, "id") &&
	       t->fields[t->nfields - 1].where == WHERE_FIXED;
}

static char async_phase(const struct type *t)
{
	char phase = (char)(t->native & CHROME_PHASE);

	return phase && strchr("bnSTp", phase) ? phase : 'n';
}

static uint64_t async_id(const struct event *ev)
{
	struct field_value id;

	if (!is_async(ev->type))
		return 0;
	field_get(ev, &ev->type->fields[ev->type->nfields - 1], 0, &id);
	return id.form == FORM_NONE ? 0 : id.u;
}

/* "cat" and the id of an asynchronous event, after its phase. */
static void put_id(struct state *s, const struct type *t, uint64_t id)
{
	bool hex = t->fields[t->nfields - 1].kind == FIELD_HEX, local = t->native & CHROME_LOCAL;
	bool quote = !hex && id > 1ull << 53;

	text_puts(s->out, "\",\"cat\":");
	json_string(s->out, t->group.text, t->group.size);
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
}

/* An asynchronous call, or a call that overlaps others: a pair of events that viewers draw beside
 * the thread. */
static void put_async(struct state *s, const struct span *span, const struct lane_prefix *prefix,
		      const char *name, uint32_t size)
{
	bool ticks = counts_ticks(span->lane);
	bool async = is_async(span->type) && strcmp(span->type->group.text, OVERLAPPING) != 0;
	bool legacy = async && async_phase(span->type) == 'S';

	s->overlapping += !async;
	for (int i = 0; i < 2; i++) {
		char *p = line_room(s);

		p = PUT(p, "{\"ph\":\"");
		*p++ = "beSF"[2 * legacy + i];
		if (async) {
			text_wrote(s->out, p);
			put_id(s, span->type, span->token);
			p = text_room(s->out, LINE_FIXED + NAME_FAST);
		} else {
			p = PUT(p, "\",\"cat\":\"" OVERLAPPING "\",\"id\":");
			p = decimal_at(p, s->overlapping);
			*p++ = ',';
		}
		p = put_prefix(prefix, p);
		p = put_stamp(s, p, i ? span->end : span->start, ticks);
		p = PUT(p, ",\"name\":");
		p = put_name(s, p, name, size);
		if (i)
			*p++ = '}';
		text_wrote(s->out, p);
		if (!i)
			put_args(s);
	}
}

/* The arguments, without the id of an asynchronous event. */
static int append_args(struct state *s, const struct event *ev, struct buffer *to)
{
	if (!is_async(ev->type))
		return attributes_append(&s->attributes, ev, to);
	return ev->tail_size ? attributes_append_values(&s->attributes, ev, to) : 0;
}

static int render_args(struct state *s, const struct span *span, const struct event *leave,
		       struct error *e)
{
	struct buffer *kept = &s->bytes;

	buffer_clear(&s->json);
	buffer_clear(kept);
	if ((span->kept_size &&
	     buffer_append_from(kept, span->kept, span->kept_at, span->kept_size)) ||
	    (leave && append_args(s, leave, kept)) ||
	    (span->unfinished &&
	     attributes_append_bool(&s->attributes, "unfinished", true, kept)) ||
	    attributes_object(&s->attributes, kept, &s->json))
		return error_no_memory(e);
	return 0;
}

static int end_call(void *ctx, const struct span *span, const struct event *leave, struct error *e)
{
	struct state *s = ctx;
	const struct lane_prefix *prefix;
	const char *name;
	uint32_t size;
	bool ticks;
	char *p;

	if (span->unfinished && s->options->drop)
		return 0;
	prefix = prefix_of(s, span->thread, span->lane);
	name = place_names_get(&s->names, span->place, &size);
	if (!prefix || !name)
		return error_no_memory(e);
	s->json.size = 0;
	if ((span->kept_size || !leave || leave->type->nfields || leave->tail_size) &&
	    render_args(s, span, leave, e))
		return -1;
	if (__builtin_expect(span->crossing || is_async(span->type), 0)) {
		put_async(s, span, prefix, name, size);
		return 0;
	}
	ticks = counts_ticks(span->lane);
	p = line_room(s);
	p = PUT(p, "{\"ph\":\"X\",");
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, span->start, ticks);
	p = PUT(p, ",\"dur\":");
	p = put_time(p, span->end - span->start, ticks);
	p = PUT(p, ",\"name\":");
	p = put_name(s, p, name, size);
	if (span->kernel)
		p = PUT(p, ",\"cat\":\"kernel\"");
	if (!s->json.size)
		*p++ = '}';
	text_wrote(s->out, p);
	if (s->json.size)
		put_args(s);
	return 0;
}

static int begin_call(void *ctx, const struct event *enter, const struct span *span,
		      struct buffer *keep, uint64_t *token, struct error *e)
{
	struct state *s = ctx;

	(void)span;
	if (!enter->type->nfields && !enter->tail_size)
		return 0;
	*token = async_id(enter);
	return append_args(s, enter, keep) ? error_no_memory(e) : 0;
}

static int other_event(void *ctx, const struct event *ev, struct error *e)
{
	struct state *s = ctx;
	const struct lane_prefix *prefix = prefix_of(s, calls_thread(ev), ev->lane);
	struct text_ref name = ev->type->name, group = ev->type->group;
	const char *place = NULL;
	uint32_t size;
	bool counter, async = is_async(ev->type);
	char *p;

	buffer_clear(&s->bytes);
	buffer_clear(&s->json);
	if (!prefix || append_args(s, ev, &s->bytes) || attributes_read(&s->attributes, &s->bytes))
		return error_no_memory(e);
	counter = ev->type->kind == KIND_COUNTER && attributes_keep_numbers(&s->attributes);
	if (s->attributes.count && attributes_json(&s->attributes, &s->json))
		return error_no_memory(e);
	if (ev->place && !(place = place_names_get(&s->names, ev->place, &size)))
		return error_no_memory(e);
	p = line_room(s);
	if (async) {
		p = PUT(p, "{\"ph\":\"");
		*p++ = async_phase(ev->type);
		text_wrote(s->out, p);
		put_id(s, ev->type, async_id(ev));
		p = text_room(s->out, LINE_FIXED);
	} else {
		p = counter ? PUT(p, "{\"ph\":\"C\",") : PUT(p, "{\"ph\":\"i\",\"s\":\"t\",");
	}
	p = put_prefix(prefix, p);
	p = put_stamp(s, p, ev->time, counts_ticks(ev->lane));
	p = PUT(p, ",\"name\":");
	text_wrote(s->out, p);
	if (place)
		text_put(s->out, place, size);
	else
		json_string(s->out, name.text, name.size);
	if (group.size && !async) {
		text_put(s->out, ",\"cat\":", 7);
		json_string(s->out, group.text, group.size);
	}
	put_args(s);
	return 0;
}

static const struct span_sink sink = {.begin = begin_call, .end = end_call, .other = other_event};

/* --- the encoder --- */

static int chrome_begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->options = en->options;
	s->out = en->text;
	spans_init(&s->spans, en->dictionary, &sink, s);
	place_names_init(&s->names, en->dictionary, json_append_string);
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.members = true;
	s->attributes.quote_numbers = en->options->quote_numbers;
	s->bytes.spills = s->json.spills = true;
	text_puts(s->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return 0;
}

static int chrome_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct state *s = en->state;

	return attributes_meta(&s->attributes, m) ? error_no_memory(e) : 0;
}

static int chrome_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;

	if (__builtin_expect(!s->started, 0)) {
		s->started = true;
		s->clock = ev->lane->clock;
		s->origin = s->options->keep_times ? 0 : ev->time;
	}
	return spans_event(&s->spans, ev, e);
}

static int chrome_end(struct encoding *en, struct error *e)
{
	struct state *s = en->state;

	if (spans_finish(&s->spans, e))
		return -1;
	text_puts(s->out, s->any ? "\n],\"otherData\":{\"clock\":" : "],\"otherData\":{\"clock\":");
	if (s->clock && s->clock->tick)
		text_printf(s->out, "\"ticks of %" PRIu64 " ns\"", s->clock->tick);
	else if (s->clock)
		json_string(s->out, s->clock->name.text, s->clock->name.size);
	else
		text_puts(s->out, "null");
	text_puts(s->out, ",\"origin\":\"");
	text_u64(s->out, s->origin);
	text_puts(s->out, "\"}}\n");
	if (en->options->quiet)
		return 0;
	place_names_report(&s->names);
	spans_report(&s->spans, en->options->drop);
	attributes_report(&s->attributes);
	if (s->early)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " times are before that of the first event: they are negative "
		     "(--rebase=none writes them as they are)",
		     s->early);
	return 0;
}

static void chrome_free(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < s->tracks.count; i++)
		free(s->tracks.tracks[i].user);
	tracks_free(&s->tracks);
	spans_free(&s->spans);
	place_names_free(&s->names);
	attributes_free(&s->attributes);
	buffer_free(&s->bytes);
	buffer_free(&s->json);
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
	.event = chrome_event,
	.end = chrome_end,
	.free = chrome_free,
};

/*
 * apitrace.c - the encoder of apitrace's .trace
 *
 * An unfiltered stream gives the trace that trdecode read: the same bytes before compression,
 * except numbers that the source wrote in a longer form than necessary. In a filtered stream calls
 * get new numbers, and definitions are written where they are first used.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/apitrace/apitrace.h"
#include "common/stream/field.h"
#include "common/calls/open_calls.h"
#include "cmd/trencode/encoder.h"

/* The header of one source, not yet written. */
struct apitrace_header {
	struct apitrace_header *next;
	uint32_t source; /* its number */
	struct buffer text;
};

/* The state of the encoder. */
struct apitrace_encoder {
	struct apitrace_target target;
	struct apitrace_header *headers, *last; /* in input order; the last may be incomplete */
	const struct source *source;		/* of the events being written; NULL: none yet */
	const struct source *checked;		/* source that is_ours tested last */
	bool ours;				/* the result of is_ours for checked */
	struct intern done;			/* numbers of the sources written so far */
	struct open_calls open; /* call number in the stream to call number in the output */
	uint32_t call;		/* number of the next call */
	uint64_t unmatched, foreign, gaps;
	bool quiet, begun, several; /* begun: a header is written; several: more than one is */
};

static int apitrace_begin(struct encoding *en, struct error *e)
{
	struct apitrace_encoder *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->target.dictionary = en->dictionary;
	s->quiet = en->options->quiet;
	return pack_open(&s->target.pack, &en->options->compress, en->out, e);
}

/* Remove the first header; NULL: there is none. The caller frees the header. */
static struct apitrace_header *take_header(struct apitrace_encoder *s)
{
	struct apitrace_header *h = s->headers;

	if (h)
		s->headers = h->next;
	if (!s->headers)
		s->last = NULL;
	return h;
}

static void free_header(struct apitrace_header *h)
{
	buffer_free(&h->text);
	free(h);
}

static uint64_t apitrace_size(const struct encoding *en)
{
	const struct apitrace_encoder *s = en->state;

	return en->out->written + s->target.pack.size;
}

static void apitrace_free(struct encoding *en)
{
	struct apitrace_encoder *s = en->state;

	if (!s)
		return;
	apitrace_target_free(&s->target);
	for (struct apitrace_header *h; (h = take_header(s));)
		free_header(h);
	intern_free(&s->done);
	open_calls_free(&s->open);
	free(s);
}

/* --- the header --- */

static int apitrace_add_header(struct apitrace_encoder *s, uint32_t source)
{
	struct apitrace_header *h = s->last;

	/* each segment repeats the header */
	if (h && h->source == source) {
		h->text.size = 0;
		return 0;
	}
	if (intern_find(&s->done, &source, sizeof source) != INTERN_NONE)
		return 0;
	h = calloc(1, sizeof *h);
	if (!h)
		return -1;
	h->source = source;
	if (s->last)
		s->last->next = h;
	else
		s->headers = h;
	s->last = h;
	return 0;
}

static int apitrace_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct apitrace_encoder *s = en->state;
	struct apitrace_header *h;

	if (m->name_size != sizeof APITRACE_META_HEADER - 1 ||
	    memcmp(m->name, APITRACE_META_HEADER, m->name_size) != 0)
		return 0;
	if (!m->offset && apitrace_add_header(s, m->source))
		return error_no_memory(e);
	h = s->last;
	return h && h->source == m->source && m->offset == h->text.size &&
			       buffer_append(&h->text, m->data, m->size)
		       ? error_no_memory(e)
		       : 0;
}

/* Begin another trace in the same file, as apitrace does when two processes share a file. */
static void apitrace_write_header(struct apitrace_encoder *s, const uint8_t *text, size_t size)
{
	if (s->begun && !s->several && !s->quiet)
		remark(NULL,
		       "the output contains several traces, and apitrace reads only the first: "
		       "--resynthesize writes one trace");
	s->several = s->begun;
	s->begun = true;
	apitrace_target_begin(&s->target, text[0]);
	pack_put(&s->target.pack, text, size);
}

/* Write the header of a source, after those of traces without events; false: there is none. */
static bool apitrace_put_header(struct apitrace_encoder *s, uint32_t source)
{
	bool found = false;

	for (const struct apitrace_header *h = s->headers; h && !found; h = h->next)
		found = h->source == source;
	if (!found)
		return false;
	for (found = false; !found;) {
		struct apitrace_header *h = take_header(s);

		found = h->source == source;
		if (h->text.size)
			apitrace_write_header(s, h->text.data, h->text.size);
		free_header(h);
	}
	return true;
}

/* Begin a trace for the events of another source, after the first trace. */
static int apitrace_begin_trace(struct apitrace_encoder *s, const struct source *source,
				struct error *e)
{
	static const uint8_t latest[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	uint32_t before = s->done.count;

	if (intern(&s->done, &source->number, sizeof source->number) == INTERN_NONE)
		return error_no_memory(e);
	if (s->done.count == before)
		return error_set(e, NULL, NO_OFFSET,
				 "several traces with interleaved calls cannot be written into one "
				 ".trace: use --resynthesize");
	s->source = source;
	s->call = 0;
	open_calls_free(&s->open);
	if (!apitrace_put_header(s, source->number))
		apitrace_write_header(s, latest, sizeof latest);
	return 0;
}

/* --- events --- */

static int apitrace_put_enter(struct apitrace_encoder *s, const struct event *ev, uint32_t call)
{
	struct apitrace_target *t = &s->target;
	const struct location *location = dictionary_location(t->dictionary, ev->location);

	if (!location) {
		s->foreign++;
		return 0;
	}
	pack_byte(&t->pack, APITRACE_ENTER);
	if (t->version >= APITRACE_THREADS)
		pack_uint(&t->pack, (uint32_t)ev->lane->tid);
	if (apitrace_put_function(t, location) || apitrace_put_details(t, ev))
		return -1;
	return open_calls_put(&s->open, 0, call, s->call++);
}

static int apitrace_put_leave(struct apitrace_encoder *s, const struct event *ev, uint32_t call)
{
	uint64_t number;

	if (!open_calls_take(&s->open, 0, call, &number)) {
		s->unmatched++; /* the enter was left out or not recorded */
		return 0;
	}
	pack_byte(&s->target.pack, APITRACE_LEAVE);
	pack_uint(&s->target.pack, (uint32_t)number);
	return apitrace_put_details(&s->target, ev);
}

/* Test whether the source is an apitrace trace; the last result is kept. */
static inline bool is_ours(struct apitrace_encoder *s, const struct source *source)
{
	if (__builtin_expect(source != s->checked, 0)) {
		s->checked = source;
		s->ours = !strcmp(source->format.text, "apitrace");
	}
	return s->ours;
}

static int apitrace_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct apitrace_encoder *s = en->state;
	uint32_t call;
	int bad = 0;

	if (ev->type->kind == KIND_GAP) {
		s->gaps++;
		return 0;
	}
	if (!is_ours(s, ev->lane->source) || !(ev->type->flags & TYPE_CALL_NUMBER) ||
	    !(ev->type->flags & TYPE_VALUES) || !field_call(ev, &call)) {
		s->foreign++;
		return 0;
	}
	if (ev->lane->source != s->source && apitrace_begin_trace(s, ev->lane->source, e))
		return -1;
	if (ev->type->kind == KIND_ENTER)
		bad = apitrace_put_enter(s, ev, call);
	else if (ev->type->kind == KIND_LEAVE)
		bad = apitrace_put_leave(s, ev, call);
	if (s->target.pack.error.what[0]) {
		*e = s->target.pack.error;
		return -1;
	}
	return bad ? error_no_memory(e) : 0;
}

static int apitrace_end(struct encoding *en, struct error *e)
{
	struct apitrace_encoder *s = en->state;

	/* a trace without events is its header alone */
	if (s->last)
		apitrace_put_header(s, s->last->source);
	if (!s->quiet) {
		remark_count(
			s->foreign,
			"{event that is not a call of apitrace is|events that are not calls of "
			"apitrace are} left out");
		remark_count(s->gaps, "{gap|gaps} cannot be written into a .trace");
		remark_count(s->unmatched, "{return|returns} without a call {is|are} left out");
	}
	return pack_finish(&s->target.pack, e);
}

const struct encoder encoder_apitrace = {
	.name = "apitrace",
	.purpose = "a .trace of apitrace",
	.suffixes = ".trace",
	.conversion = &apitrace_target,
	.holds_several = true,
	.output = ENCODER_FILE,
	.begin = apitrace_begin,
	.meta = apitrace_meta,
	.event = apitrace_event,
	.end = apitrace_end,
	.size = apitrace_size,
	.free = apitrace_free,
};

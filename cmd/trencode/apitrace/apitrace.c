/*
 * apitrace.c - the encoder of apitrace's .trace
 *
 * What trdecode made of a trace becomes that trace again: the same bytes before they are packed,
 * but for numbers that stood there in a longer form than they need. Of a filtered stream calls are
 * numbered anew, and definitions stand where they are first used.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/apitrace/apitrace.h"
#include "common/stream/field.h"
#include "common/calls/open_calls.h"
#include "cmd/trencode/encoder.h"

/* Of a source that was told and not yet written. */
struct header {
	struct header *next;
	uint32_t source; /* whose it is, by number */
	struct buffer text;
};

struct state {
	struct apitrace_target target;
	struct header *headers, *last; /* as they came; the last one may still come */
	const struct source *source;   /* whose events are being written; NULL: none yet */
	const struct source *asked;    /* the one that is_ours was asked of last */
	bool ours;
	struct intern done;	/* sources written before, by number */
	struct open_calls open; /* number in the stream to number in the output */
	uint32_t call;		/* of the next enter */
	uint64_t unmatched, foreign, gaps;
	bool quiet, begun, several; /* begun: a header is written; several: more than one */
};

static int begin(struct encoding *en, struct error *e)
{
	struct state *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->target.dictionary = en->dictionary;
	s->quiet = en->options->quiet;
	return pack_open(&s->target.pack, &en->options->compress, en->out, e);
}

/* The first of the headers; NULL: there is none. The caller frees it. */
static struct header *take_header(struct state *s)
{
	struct header *h = s->headers;

	if (h)
		s->headers = h->next;
	if (!s->headers)
		s->last = NULL;
	return h;
}

static void free_header(struct header *h)
{
	buffer_free(&h->text);
	free(h);
}

static void free_state(struct encoding *en)
{
	struct state *s = en->state;

	if (!s)
		return;
	apitrace_target_free(&s->target);
	for (struct header *h; (h = take_header(s));)
		free_header(h);
	intern_free(&s->done);
	open_calls_free(&s->open);
	free(s);
}

/* --- the header --- */

static int add_header(struct state *s, uint32_t source)
{
	struct header *h = s->last;

	/* sent again, as with every segment */
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

static int meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct state *s = en->state;
	struct header *h;

	if (m->name_size != sizeof APITRACE_META_HEADER - 1 ||
	    memcmp(m->name, APITRACE_META_HEADER, m->name_size) != 0)
		return 0;
	if (!m->offset && add_header(s, m->source))
		return error_no_memory(e);
	h = s->last;
	return h && h->source == m->source && m->offset == h->text.size &&
			       buffer_append(&h->text, m->data, m->size)
		       ? error_no_memory(e)
		       : 0;
}

/* As apitrace itself writes them when two processes share a file. */
static void write_header(struct state *s, const uint8_t *text, size_t size)
{
	if (s->begun && !s->several && !s->quiet)
		warn(NULL, NO_OFFSET,
		     "several traces stand behind each other in the output, of which apitrace "
		     "reads the first only; --resynthesize makes one of them");
	s->several = s->begun;
	s->begun = true;
	apitrace_target_begin(&s->target, text[0]);
	pack_put(&s->target.pack, text, size);
}

/* Is there a header of that source? Those before it, of traces without events, are written. */
static bool put_header(struct state *s, uint32_t source)
{
	bool found = false;

	for (const struct header *h = s->headers; h && !found; h = h->next)
		found = h->source == source;
	if (!found)
		return false;
	for (found = false; !found;) {
		struct header *h = take_header(s);

		found = h->source == source;
		if (h->text.size)
			write_header(s, h->text.data, h->text.size);
		free_header(h);
	}
	return true;
}

/* Events of another source: a trace of its own behind the first. */
static int begin_trace(struct state *s, const struct source *source, struct error *e)
{
	static const uint8_t latest[] = {APITRACE_LATEST, APITRACE_LATEST, 0};
	uint32_t before = s->done.count;

	if (intern(&s->done, &source->number, sizeof source->number) == INTERN_NONE)
		return error_no_memory(e);
	if (s->done.count == before)
		return error_set(e, NULL, NO_OFFSET,
				 "traces whose calls are mixed with each other cannot be written "
				 "into one .trace as they are: --resynthesize makes one of them");
	s->source = source;
	s->call = 0;
	open_calls_free(&s->open);
	if (!put_header(s, source->number))
		write_header(s, latest, sizeof latest);
	return 0;
}

/* --- events --- */

static int enter(struct state *s, const struct event *ev, uint32_t call)
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

static int leave(struct state *s, const struct event *ev, uint32_t call)
{
	uint64_t number;

	if (!open_calls_take(&s->open, 0, call, &number)) {
		s->unmatched++; /* its enter was left out, or never was there */
		return 0;
	}
	pack_byte(&s->target.pack, APITRACE_LEAVE);
	pack_uint(&s->target.pack, (uint32_t)number);
	return apitrace_put_details(&s->target, ev);
}

/* Is it of an apitrace trace? Asked once where many events of a source follow each other. */
static inline bool is_ours(struct state *s, const struct source *source)
{
	if (__builtin_expect(source != s->asked, 0)) {
		s->asked = source;
		s->ours = !strcmp(source->format.text, "apitrace");
	}
	return s->ours;
}

static int event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct state *s = en->state;
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
	if (ev->lane->source != s->source && begin_trace(s, ev->lane->source, e))
		return -1;
	if (ev->type->kind == KIND_ENTER)
		bad = enter(s, ev, call);
	else if (ev->type->kind == KIND_LEAVE)
		bad = leave(s, ev, call);
	if (s->target.pack.error.what[0]) {
		*e = s->target.pack.error;
		return -1;
	}
	return bad ? error_no_memory(e) : 0;
}

static int end(struct encoding *en, struct error *e)
{
	struct state *s = en->state;

	/* a trace without events is its header alone */
	if (s->last)
		put_header(s, s->last->source);
	if (s->foreign && !s->quiet)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " events are no calls of an apitrace trace and are left out",
		     s->foreign);
	if (s->gaps && !s->quiet)
		warn(NULL, NO_OFFSET, "%" PRIu64 " gaps cannot be written into a .trace", s->gaps);
	if (s->unmatched && !s->quiet)
		warn(NULL, NO_OFFSET,
		     "%" PRIu64 " returns of calls whose beginning is not there are left out",
		     s->unmatched);
	return pack_finish(&s->target.pack, e);
}

const struct encoder encoder_apitrace = {
	.name = "apitrace",
	.purpose = "a .trace of apitrace",
	.suffixes = ".trace",
	.conversion = &encoder_apitrace_convert,
	.holds_several = true,
	.output = ENCODER_FILE,
	.begin = begin,
	.meta = meta,
	.event = event,
	.end = end,
	.free = free_state,
};

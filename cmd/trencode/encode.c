#include "cmd/trencode/encode.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/calls/calls_inline.h"
#include "common/stream/clocks.h"
#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/tick_scale.h"

/* The META blocks read so far; a segment may refer to those of earlier segments. */
struct known_metas {
	struct intern seen;    /* hashes of the META blocks read */
	struct intern missing; /* hashes of references to META blocks not read */
};

static int check_meta(struct known_metas *k, const struct stage *s, const struct meta *m)
{
	uint32_t had;

	if (!(m->flags & META_REFERENCE))
		return intern(&k->seen, &m->hash, sizeof m->hash) == INTERN_NONE ? -1 : 0;
	if (intern_find(&k->seen, &m->hash, sizeof m->hash) != INTERN_NONE)
		return 0;
	had = k->missing.count;
	if (intern(&k->missing, &m->hash, sizeof m->hash) == INTERN_NONE)
		return -1;
	if (k->missing.count > had)
		warn(s->in.file, NO_OFFSET,
		     "'%.*s' of the trace is missing: it is in an earlier "
		     "segment of the stream",
		     (int)(m->name_size < 256 ? m->name_size : 256), m->name);
	return 0;
}

static int take_meta(struct stage *s, struct encoding *en, struct known_metas *known,
		     const struct block *b, struct error *e)
{
	struct meta m;

	reader_meta(&s->in, b, &m);
	if (check_meta(known, s, &m))
		return error_no_memory(e);
	return en->encoder->meta && !(m.flags & META_REFERENCE) ? en->encoder->meta(en, &m, e) : 0;
}

/* Check that the clocks of a block give a report one time axis in one unit. */
static int check_clocks(struct encoding *en, struct clocks *clocks, const struct block *b,
			struct error *e)
{
	if (!en->encoder->report)
		return 0;
	if (en->options->tick)
		return tick_lanes(en->dictionary, b, en->options->tick, e);
	clocks_look(clocks, b);
	return clocks_check(clocks, TICK_HINT, e);
}

/* Pass an event to the call engine; common ones in line. */
static enum calls_result feed(struct calls *c, const struct event *ev)
{
	struct call done;
	enum calls_result got = calls_try_event(c, ev, &done, false);

	if (got == CALLS_SLOW)
		return calls_feed(c, ev, &done);
	if (got == CALLS_ENTER && c->data_size)
		memset(c->data, 0, c->data_size);
	return got;
}

static int take_events(struct encoding *en, const struct block *b, struct error *e)
{
	int (*take)(struct encoding *, const struct event *, struct error *) = en->encoder->event;
	struct events it;
	struct event ev;

	if (en->encoder->block)
		return en->encoder->block(en, b, e);
	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		if (en->calls)
			en->result = feed(en->calls, &ev);
		if (__builtin_expect(ev.type->kind == KIND_DROP, 0) && !en->encoder->drops)
			continue;
		if (en->options->tick)
			ev.time = tick_time(ev.lane, ev.time);
		if (take(en, &ev, e))
			return -1;
	}
	if (en->calls && en->calls->out_of_memory)
		return error_no_memory(e);
	return en->text && text_failed(en->text) ? text_flush(en->text, e) : 0;
}

static int take_snapshot(struct encoding *en, struct clocks *clocks, const struct snapshot *s,
			 struct error *e)
{
	if (check_clocks(en, clocks, &s->rows, e))
		return -1;
	if (en->encoder->adopt)
		return en->encoder->adopt(en, s, e);
	return en->calls && calls_adopt(en->calls, s) ? error_no_memory(e) : 0;
}

/* Where the rows of a clip go. */
struct clip_target {
	struct encoding *en;
	struct clocks *clocks;
};

static int take_rows(struct encoding *en, struct clocks *clocks, const struct block *b,
		     struct error *e)
{
	if (b->kind == BLOCK_SNAPSHOT)
		return b->snapshot ? take_snapshot(en, clocks, b->snapshot, e) : 0;
	return check_clocks(en, clocks, b, e) || take_events(en, b, e) ? -1 : 0;
}

static int take_clipped(void *ctx, const struct block *b, struct error *e)
{
	const struct clip_target *t = ctx;

	return take_rows(t->en, t->clocks, b, e);
}

/* Test whether all declared sources are one trace of the encoder's own system, or traces of one
 * file that the encoder writes to one file. */
static bool is_own(const struct encoding *en)
{
	const struct pool *sources = &en->dictionary->sources;
	const struct source *first;

	if (sources->count < 2)
		return true;
	if (sources->count > 2 && !en->encoder->holds_several)
		return false;
	first = pool_at(sources, 1);
	if (strcmp(first->format.text, en->encoder->name) != 0)
		return false;
	for (uint32_t i = 2; i < sources->count; i++) {
		const struct source *next = pool_at(sources, i);

		if (next->format.number != first->format.number ||
		    next->name.number != first->name.number || next->stream != first->stream)
			return false;
	}
	return true;
}

/* Test whether a filter removed META blocks of the source (trfilter --scrub), or fields that these
 * describe (--drop). */
static bool is_bare(const struct encoding *en, const struct known_metas *known)
{
	const struct dictionary *d = en->dictionary;

	return en->encoder->needs_meta &&
	       (d->reduced || (d->less && !known->seen.count && !known->missing.count));
}

static int encode_begin(struct encoding *en, struct error *e)
{
	bool no_source = en->dictionary->sources.count < 2;

	if (en->encoder->conversion && (en->options->resynthesize || no_source || !is_own(en))) {
		en->target = en->encoder->conversion;
		en->encoder = &encoder_conversion;
	}
	en->begun = true;
	return en->encoder->begin(en, e);
}

/* Convert the stream after all: before its first event it turned out to need that. */
static int encode_begin_conversion(struct encoding *en, struct error *e)
{
	struct encoding native = *en;

	en->state = NULL;
	en->target = en->encoder->conversion;
	en->encoder = &encoder_conversion;
	return convert_begin_late(en, &native, e);
}

/* Begin after HEAD was read; its properties, which name commands, are no longer in memory. */
static int encode_begin_late(struct stage *s, struct encoding *en, struct error *e)
{
	struct head h = s->in.head;

	h.properties = NULL;
	h.properties_size = 0;
	if (encode_begin(en, e))
		return -1;
	return en->encoder->head ? en->encoder->head(en, &h, e) : 0;
}

static bool has_rows(const struct block *b)
{
	return b->kind == BLOCK_EVENTS || (b->kind == BLOCK_SNAPSHOT && b->snapshot);
}

static int take_block(struct stage *s, struct encoding *en, struct known_metas *known,
		      struct clocks *clocks, const struct block *b, struct error *e)
{
	if (!en->begun) {
		if (b->kind != BLOCK_META && !has_rows(b))
			return 0;
		if (encode_begin_late(s, en, e))
			return -1;
	}
	if (en->encoder->conversion && !en->events &&
	    (!is_own(en) || (has_rows(b) && is_bare(en, known)))) {
		if (encode_begin_conversion(en, e))
			return -1;
	}
	en->events |= has_rows(b);
	switch (b->kind) {
	case BLOCK_HEAD: return en->encoder->head ? en->encoder->head(en, &s->in.head, e) : 0;
	case BLOCK_META: return take_meta(s, en, known, b, e);
	case BLOCK_SNAPSHOT:
	case BLOCK_EVENTS: return en->clip ? 0 : take_rows(en, clocks, b, e);
	}
	return 0;
}

/* Refuse --tick if no clock counts ticks. */
static int check_tick(const struct encoding *en, struct error *e)
{
	const struct pool *clocks = &en->dictionary->clocks;

	for (uint32_t i = 1; i < clocks->count; i++) {
		const struct clock *clock = pool_at(clocks, i);

		if (clock->tick || clock->flags & CLOCK_TICKS)
			return 0;
	}
	if (!en->options->tick || !en->events)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--tick has no effect: no clock of this trace counts ticks");
}

/* Report unfinished and unmatched calls, which are easily missed in a long text. */
static void report_calls(struct calls *calls, bool quiet)
{
	struct call done;

	if (quiet)
		return;
	while (calls_finish(calls, &done))
		;
	warn_count(NULL, calls->unfinished,
		   "{call|calls} had not returned at the end of the trace");
	warn_count(NULL, calls->unmatched, "{return|returns} without a call");
	warn_count(NULL, calls->ignored_kernel, CALLS_IGNORED_KERNEL);
}

/* Test whether declarations may be missing. */
static bool is_part(const struct stage *s, const struct encoding *en)
{
	return s->status != STATUS_OK || stage_part(s) || (en->clip && clip_done(en->clip));
}

static void encode_run(struct stage *s, struct encoding *en)
{
	struct known_metas known = {0};
	struct clocks clocks = {0};
	struct clip_target target = {en, &clocks};
	struct calls calls;
	struct error e;
	struct block b;

	if (en->clip) {
		en->clip->show = take_clipped;
		en->clip->ctx = &target;
	}
	calls_init(&calls, en->dictionary);
	en->calls = en->encoder->counts_calls ? &calls : NULL;
	if (!en->encoder->conversion && encode_begin(en, &e)) {
		stage_fail(s, &e);
		return;
	}
	s->in.reads_values = READS_ALL;
	while (!(en->clip && clip_done(en->clip)) && stage_next(s, &b))
		if (take_block(s, en, &known, &clocks, &b, &e) ||
		    (en->clip && clip_block(en->clip, &s->in, &b, &e))) {
			stage_fail(s, &e);
			break;
		}
	if (s->status != STATUS_FAILED &&
	    ((!en->begun && encode_begin(en, &e)) || check_tick(en, &e) ||
	     en->encoder->end(en, &e) ||
	     (en->encoder->check && en->encoder->check(en, is_part(s, en), &e))))
		stage_fail(s, &e);
	report_calls(&calls, en->options->quiet);
	if (en->clip && !en->clip->shown && s->events && !en->options->quiet)
		time_window_report(&en->clip->window);
	calls_free(&calls);
	if (en->text && text_flush(en->text, &e))
		stage_fail(s, &e);
	intern_free(&known.seen);
	intern_free(&known.missing);
}

/* Write the buffered text before the input may pause. The next block finds a failure. */
static int encode_flush(void *text)
{
	text_flush(text, NULL);
	return 0;
}

/* Open the output of the encoder. */
static int open_output(struct stage *s, struct encoding *en, struct text *text)
{
	bool file = en->encoder->output == ENCODER_FILE;

	if (en->encoder->output == ENCODER_TREE) {
		progress_begin(&s->progress, s->options->progress, s->options->output != NULL);
		return 0;
	}
	if (stage_print_to(s, file ? OUTPUT_FILE : OUTPUT_TEXT))
		return -1;
	en->out = &s->output;
	if (file)
		return 0;
	text_init(text, &s->output);
	en->text = text;
	s->in.before_block = encode_flush;
	s->in.before_block_ctx = text;
	return 0;
}

void encode_stream(struct stage *s, const struct encoder *encoder,
		   const struct encode_options *options, struct clip *clip)
{
	struct encoding en = {
		.encoder = encoder, .options = options, .clip = clip_any(clip) ? clip : NULL};
	struct text *text = malloc(sizeof *text);

	en.dictionary = &s->in.dictionary;
	en.single = s->in.input.npaths == 1;
	clip_init(clip, en.dictionary);
	if (!text) {
		stage_no_memory(s);
	} else if (!open_output(s, &en, text)) {
		encode_run(s, &en);
		s->in.before_block = NULL;
	}
	en.encoder->free(&en);
	free(text);
}

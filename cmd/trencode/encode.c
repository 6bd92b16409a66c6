#include "cmd/trencode/encode.h"
#include "cmd/trencode/encode_private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/calls/calls.h"
#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/tick_scale.h"

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

static int take_meta(struct encode_run *r, const struct block *b, struct error *e)
{
	struct meta m;

	reader_meta(&r->s->in, b, &m);
	if (check_meta(&r->known, r->s, &m))
		return error_no_memory(e);
	if (!r->en.encoder->meta || m.flags & META_REFERENCE)
		return 0;
	return parts_keep_meta(r, &m, e) ? -1 : r->en.encoder->meta(&r->en, &m, e);
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
			en->result = calls_next(en->calls, &ev, &en->call);
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

static int take_snapshot(struct encode_run *r, const struct snapshot *s, struct error *e)
{
	struct encoding *en = &r->en;

	if (check_clocks(en, &r->clocks, &s->rows, e))
		return -1;
	if (en->encoder->adopt)
		return en->encoder->adopt(en, s, e);
	return en->calls && calls_adopt(en->calls, s) ? error_no_memory(e) : 0;
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

int encode_rows(void *run, const struct block *b, struct error *e)
{
	struct encode_run *r = run;

	if ((!r->en.begun && encode_begin_late(r->s, &r->en, e)) || encode_prepare(r, true, e))
		return -1;
	r->en.events = true;
	if (b->kind == BLOCK_SNAPSHOT)
		return b->snapshot ? take_snapshot(r, b->snapshot, e) : 0;
	if (check_clocks(&r->en, &r->clocks, b, e) || take_events(&r->en, b, e))
		return -1;
	if (r->en.text)
		text_release(r->en.text);
	return 0;
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

int encode_begin(struct encoding *en, struct error *e)
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

int encode_prepare(struct encode_run *r, bool rows, struct error *e)
{
	struct encoding *en = &r->en;

	if (en->encoder->conversion && !en->events &&
	    (!is_own(en) || (rows && is_bare(en, &r->known))) && encode_begin_conversion(en, e))
		return -1;
	return 0;
}

static bool has_rows(const struct block *b)
{
	return b->kind == BLOCK_EVENTS || (b->kind == BLOCK_SNAPSHOT && b->snapshot);
}

static int take_block(struct encode_run *r, const struct block *b, struct error *e)
{
	struct encoding *en = &r->en;
	/* what clips the stream may refuse it: the encoder then begins with the first rows */
	bool rows = has_rows(b) && (!r->clip || r->split);

	if (!en->begun) {
		if (b->kind != BLOCK_META && !rows)
			return 0;
		if (encode_begin_late(r->s, en, e))
			return -1;
	}
	if (encode_prepare(r, rows, e))
		return -1;
	switch (b->kind) {
	case BLOCK_HEAD: return en->encoder->head ? en->encoder->head(en, &r->s->in.head, e) : 0;
	case BLOCK_META: return take_meta(r, b, e);
	case BLOCK_SNAPSHOT:
	case BLOCK_EVENTS: return r->clip ? 0 : encode_rows(r, b, e);
	}
	return 0;
}

/* Pass a block to the encoder, its rows by way of what clips the stream. */
static int route_block(struct encode_run *r, const struct block *b, struct error *e)
{
	struct reader *in = &r->s->in;

	if (b->kind == BLOCK_HEAD && r->split &&
	    ((!in->head.sequence && split_stream(r->split, e)) || parts_keep_head(r, &in->head, e)))
		return -1;
	if (take_block(r, b, e))
		return -1;
	return r->clip ? clip_block(r->clip, in, b, e) : 0;
}

/* Refuse --tick if no clock counts ticks. */
static int check_tick(const struct encode_run *r, struct error *e)
{
	const struct pool *clocks = &r->en.dictionary->clocks;

	for (uint32_t i = 1; i < clocks->count; i++) {
		const struct clock *clock = pool_at(clocks, i);

		if (clock->tick || clock->flags & CLOCK_TICKS)
			return 0;
	}
	if (!r->options.tick || !r->s->events)
		return 0;
	return error_set(e, NULL, NO_OFFSET,
			 "--tick has no effect: no clock of this trace counts ticks");
}

/* Report unfinished and unmatched calls, which are easily missed in a long text. */
static void report_calls(struct calls *calls, bool quiet, struct remarks *r)
{
	struct call done;

	if (quiet)
		return;
	while (calls_finish(calls, &done))
		;
	remark_count(r, calls->unfinished, "{call|calls} had not returned at the end of the trace");
	remark_count(r, calls->unmatched, "{return|returns} without a call");
	remark_count(r, calls->ignored_kernel, CALLS_IGNORED_KERNEL);
}

/* Test whether declarations may be missing. */
static bool is_part(const struct encode_run *r)
{
	return r->s->status != STATUS_OK || stage_part(r->s);
}

void encode_begin_calls(struct encode_run *r)
{
	calls_init(&r->calls, r->en.dictionary);
	r->en.calls = r->encoder->counts_calls ? &r->calls : NULL;
}

int encode_end(struct encode_run *r, bool last, struct error *e)
{
	struct encoding *en = &r->en;

	if ((!en->begun && encode_begin(en, e)) || (last && check_tick(r, e)) ||
	    en->encoder->end(en, e))
		return -1;
	en->early = r->clip && clip_done(r->clip);
	if (last && en->encoder->check && en->encoder->check(en, is_part(r), e))
		return -1;
	if (en->text)
		text_release(en->text);
	return 0;
}

void encode_end_calls(struct encode_run *r)
{
	report_calls(&r->calls, r->options.quiet, r->options.remarks);
	calls_free(&r->calls);
}

static void encode_run(struct encode_run *r)
{
	struct stage *s = r->s;
	struct encoding *en = &r->en;
	struct error e;
	struct block b;

	if (r->clip) {
		r->clip->show = encode_rows;
		r->clip->ctx = r;
	}
	encode_begin_calls(r);
	if (!en->encoder->conversion && encode_begin(en, &e)) {
		stage_fail(s, &e);
		return;
	}
	s->in.reads_values = READS_ALL;
	while (!(r->clip && clip_done(r->clip)) && stage_next(s, &b))
		if (route_block(r, &b, &e)) {
			stage_fail(s, &e);
			break;
		}
	if (s->status != STATUS_FAILED && encode_end(r, true, &e))
		stage_fail(s, &e);
	encode_end_calls(r);
	if (r->clip && !r->clip->count && s->events && !s->stopped && !en->options->quiet)
		time_window_report(&r->clip->window);
	if (en->text && text_flush(en->text, &e))
		stage_fail(s, &e);
}

/* Write the buffered text before the input may pause. The next block finds a failure. */
static int encode_flush(void *text)
{
	text_flush(text, NULL);
	return 0;
}

int encode_open(struct encode_run *r)
{
	struct stage *s = r->s;
	struct encoding *en = &r->en;
	bool file = r->encoder->output == ENCODER_FILE;

	if (r->encoder->output == ENCODER_TREE) {
		progress_begin(&s->progress, s->options->progress, s->options->output != NULL);
		return 0;
	}
	if (stage_print_to(s, en->options->output, file ? OUTPUT_FILE : OUTPUT_TEXT))
		return -1;
	en->out = &s->output;
	if (file)
		return 0;
	text_init(r->text, &s->output);
	/* a stream that is refused before its first rows were encoded leaves no byte */
	text_hold(r->text);
	en->text = r->text;
	s->in.before_block = encode_flush;
	s->in.before_block_ctx = r->text;
	return 0;
}

void encode_stream(struct stage *s, const struct encoder *encoder,
		   const struct encode_options *options, struct clip *clip)
{
	struct encode_run r = {
		.s = s, .encoder = encoder, .options = *options, .text = malloc(sizeof *r.text)};
	struct error e;

	r.en = (struct encoding){.encoder = encoder,
				 .options = &r.options,
				 .dictionary = &s->in.dictionary,
				 .single = s->in.input.npaths == 1};
	clip_init(clip, &s->in.dictionary);
	if (!r.text) {
		stage_no_memory(s);
	} else if (split_any(&options->split) && parts_begin(&r, &e)) {
		stage_fail(s, &e);
	} else if (!encode_open(&r)) {
		clip->split = r.split;
		r.options.clipped = clip_any(clip);
		r.clip = clip_any(clip) ? clip : NULL;
		encode_run(&r);
		s->in.before_block = NULL;
	}
	r.en.encoder->free(&r.en);
	parts_end(&r);
	intern_free(&r.known.seen);
	intern_free(&r.known.missing);
	free(r.text);
}

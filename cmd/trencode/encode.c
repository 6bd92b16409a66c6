/*
 * encode.c - one run of an encoder
 */
#include "cmd/trencode/clip.h"
#include "cmd/trencode/encode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "cmd/trencode/convert.h"
#include "common/calls/calls.h"
#include "common/cli/stage.h"
#include "common/cli/workers.h"
#include "common/stream/clocks.h"
#include "common/util/buffer.h"
#include "common/value/moment.h"

int tick_overflow(const struct lane *lane, uint64_t time, uint64_t tick, struct error *e)
{
	return error_set(e, lane->source ? lane->source->name.text : NULL, NO_OFFSET,
			 "tick %" PRIu64 ", of %" PRIu64 " ns each, is beyond 2^64 ns: --tick is "
			 "too long for this trace",
			 time, tick);
}

static int find_overflow(const struct block *b, struct error *e)
{
	struct events it;
	struct event ev;
	uint64_t time;

	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		uint64_t tick = ev.lane->clock ? ev.lane->clock->tick : 0;

		if (tick && __builtin_mul_overflow(ev.time, tick, &time))
			return tick_overflow(ev.lane, ev.time, tick, e);
	}
	return 0;
}

/* Set the length of a tick, ns, in the clocks of a block's lanes that count ticks. Fails where a
 * time of an event in ns exceeds 64 bits. */
static int tick_lanes(struct dictionary *d, const struct block *b, uint64_t tick, struct error *e)
{
	bool counts = false;
	uint64_t last;

	for (uint32_t i = 0; i < b->nlanes; i++) {
		const struct clock *known = b->lanes[i]->clock;
		struct clock *clock;

		counts |= known && (known->tick || known->flags & CLOCK_TICKS);
		if (!known || !(known->flags & CLOCK_TICKS))
			continue;
		clock = pool_at(&d->clocks, known->number);
		clock->flags &= ~(uint32_t)CLOCK_TICKS;
		clock->tick = tick;
	}
	return counts && __builtin_mul_overflow(b->last, tick, &last) ? find_overflow(b, e) : 0;
}

/* --- encode --- */

/* One run of trencode. */
struct encode_run {
	struct stage *s;
	const struct encoder *encoder; /* as chosen; en.encoder may be a conversion */
	struct encode_options options; /* of the present part */
	struct encoding en;
	/* the META blocks read so far; a segment may refer to those of earlier segments */
	struct {
		struct intern seen;    /* hashes of the META blocks read */
		struct intern missing; /* hashes of references to META blocks not read */
	} known;
	struct clocks clocks;
	struct calls calls; /* en.calls */
	struct text *text;
	struct clip *clip; /* NULL: all is written */
	/* of a worker that begins inside the stream: the first of its segments, to which it goes
	   from the first rows, and their number */
	const struct segment_place *jump;
	uint64_t segments;
	bool splits; /* into parts, each with an encoder and an output of its own */
	/* what a part of --split begins with: the HEAD of the present stream, and its META blocks
	 */
	struct {
		struct head head;
		struct buffer properties;
		bool has_head;
		struct buffer metas; /* each a struct meta, then its name and its data; it spills */
	} kept;
	char *path; /* of the present part */
};

/* --- blocks that each part begins with --- */

static int keep_head(struct encode_run *r, const struct head *h, struct error *e)
{
	if (!r->splits || r->kept.has_head)
		return 0;
	if (buffer_append(&r->kept.properties, h->properties, h->properties_size))
		return error_no_memory(e);
	r->kept.head = *h;
	r->kept.has_head = true;
	return 0;
}

static int keep_meta(struct encode_run *r, const struct meta *m, struct error *e)
{
	struct buffer *b = &r->kept.metas;

	if (!r->splits)
		return 0;
	if (buffer_append(b, m, sizeof *m) || buffer_append(b, m->name, m->name_size) ||
	    buffer_append(b, m->data, m->size) || buffer_align(b, 8))
		return error_no_memory(e);
	buffer_rest(b);
	return 0;
}

static void drop_kept(struct encode_run *r)
{
	buffer_free(&r->kept.properties);
	buffer_free(&r->kept.metas);
	r->kept.has_head = false;
}

/* Pass the blocks that were kept to the encoder of a new part. */
static int give_kept(struct encode_run *r, struct error *e)
{
	const struct encoder *encoder = r->en.encoder;
	const struct buffer *b = &r->kept.metas;
	struct head head = r->kept.head;

	head.properties = r->kept.properties.data;
	head.properties_size = r->kept.properties.size;
	if (r->kept.has_head && encoder->head && encoder->head(&r->en, &head, e))
		return -1;
	for (size_t at = 0; at < b->size;) {
		struct meta m;

		memcpy(&m, b->data + at, sizeof m);
		m.name = (const char *)b->data + at + sizeof m;
		m.data = b->data + at + sizeof m + m.name_size;
		at = align_up(at + sizeof m + m.name_size + m.size, 8);
		if (encoder->meta && encoder->meta(&r->en, &m, e))
			return -1;
	}
	buffer_rest(b);
	return 0;
}

/* --- META blocks --- */

static int check_meta(struct encode_run *r, const struct meta *m)
{
	uint32_t had;

	if (!(m->flags & META_REFERENCE))
		return intern(&r->known.seen, &m->hash, sizeof m->hash) == INTERN_NONE ? -1 : 0;
	if (intern_find(&r->known.seen, &m->hash, sizeof m->hash) != INTERN_NONE)
		return 0;
	had = r->known.missing.count;
	if (intern(&r->known.missing, &m->hash, sizeof m->hash) == INTERN_NONE)
		return -1;
	if (r->known.missing.count > had)
		warn(r->s->in.file, NO_OFFSET,
		     "'%.*s' of the trace is missing: it is in an earlier "
		     "segment of the stream",
		     (int)(m->name_size < 256 ? m->name_size : 256), m->name);
	return 0;
}

static int encode_take_meta(struct encode_run *r, const struct block *b, struct error *e)
{
	struct meta m;

	reader_meta(&r->s->in, b, &m);
	if (check_meta(r, &m))
		return error_no_memory(e);
	if (!r->en.encoder->meta || m.flags & META_REFERENCE)
		return 0;
	return keep_meta(r, &m, e) ? -1 : r->en.encoder->meta(&r->en, &m, e);
}

/* --- the begin of an encoder --- */

/* Test whether all declared sources are one trace of the encoder's own system, or traces of one
 * file that the encoder writes to one file. */
static bool encode_is_own(const struct encoding *en)
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
static bool encode_is_bare(const struct encode_run *r)
{
	const struct dictionary *d = r->en.dictionary;

	return r->en.encoder->needs_meta &&
	       (d->reduced || (d->less && !r->known.seen.count && !r->known.missing.count));
}

/* Begin the encoder. */
static int encode_begin(struct encoding *en, struct error *e)
{
	const struct clip *clip = en->options->clip;
	bool no_source = en->dictionary->sources.count < 2;
	bool range = clip && (time_window_any(&clip->window) || clip_splits(clip));

	if (en->encoder->conversion && (en->options->flags & ENCODE_RESYNTHESIZE || no_source ||
					!encode_is_own(en) || (en->encoder->stateful && range))) {
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
	calls_free(en->calls);
	calls_init(en->calls, en->dictionary);
	en->target = en->encoder->conversion;
	en->encoder = &encoder_conversion;
	return convert_begin_late(en, &native, e);
}

/* Convert the stream after all if its sources, or META blocks that are missing before the first
 * rows, show that the encoder cannot write it. */
static int encode_prepare(struct encode_run *r, bool rows, struct error *e)
{
	struct encoding *en = &r->en;

	return en->encoder->conversion && !en->events &&
			       (!encode_is_own(en) || (rows && encode_is_bare(r)))
		       ? encode_begin_conversion(en, e)
		       : 0;
}

/* --- rows --- */

/* Check that the clocks of a block give a report one time axis in one unit. */
static int encode_check_clocks(struct encoding *en, struct clocks *clocks, const struct block *b,
			       struct error *e)
{
	if (!en->encoder->report)
		return 0;
	if (en->options->tick)
		return tick_lanes(en->dictionary, b, en->options->tick, e);
	clocks_look(clocks, b);
	return clocks_check(clocks, TICK_HINT, e);
}

static int encode_take_events(struct encoding *en, const struct block *b, struct error *e)
{
	int (*take)(struct encoding *, const struct event *, struct error *) = en->encoder->event;
	bool counts = en->encoder->counts_calls;
	struct events it;
	struct event ev;

	if (en->encoder->block)
		return en->encoder->block(en, b, e);
	events_begin(&it, b);
	while (event_next(&it, &ev)) {
		if (counts)
			en->result = calls_next(en->calls, &ev, &en->call);
		if (__builtin_expect(ev.type->kind == KIND_DROP, 0) && !en->encoder->drops)
			continue;
		if (en->options->tick)
			ev.time = tick_time(ev.lane, ev.time);
		if (take(en, &ev, e))
			return -1;
	}
	if (en->calls->out_of_memory)
		return error_no_memory(e);
	return en->text && text_failed(en->text) ? text_flush(en->text, e) : 0;
}

/* Open the calls of a SNAPSHOT. */
static int encode_restore_calls(struct encode_run *r, const struct block *b, struct error *e)
{
	const struct block *enters = block_enters(b);

	if (enters && encode_check_clocks(&r->en, &r->clocks, enters, e))
		return -1;
	if (r->en.overlapping && calls_restore(r->en.overlapping, b, e))
		return -1;
	return calls_restore(r->en.calls, b, e);
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

/* Note the range of the block's clock: calls whose enters or last events are left out end there. */
static void note_range(struct encode_run *r, const struct block *b)
{
	const struct clock_window *range;

	if (!r->clip || !b->nlanes)
		return;
	range = time_window_of(&r->clip->window, b->lanes[0]->clock);
	r->calls.since = range->since;
	r->calls.end.until = range->until;
}

/* Note the wall time of the first rows. */
static void note_wall(struct encoding *en, const struct block *b)
{
	const struct clock *clock = b->nlanes ? b->lanes[0]->clock : NULL;

	if (en->events || b->kind != BLOCK_EVENTS || !clock)
		return;
	if (clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL))
		en->wall = (int64_t)b->base + (clock->flags & CLOCK_HAS_WALL ? clock->wall : 0);
}

/* Encode rows, or calls that are open. */
static int encode_rows(void *run, const struct block *b, struct error *e)
{
	struct encode_run *r = run;

	if ((!r->en.begun && encode_begin_late(r->s, &r->en, e)) || encode_prepare(r, true, e))
		return -1;
	note_wall(&r->en, b);
	r->en.events = true;
	note_range(r, b);
	if (b->kind == BLOCK_SNAPSHOT)
		return encode_restore_calls(r, b, e);
	if (encode_check_clocks(&r->en, &r->clocks, b, e) || encode_take_events(&r->en, b, e))
		return -1;
	if (r->en.text)
		text_release(r->en.text);
	return 0;
}

/* --- blocks --- */

static int encode_take_block(struct encode_run *r, const struct block *b, struct error *e)
{
	struct encoding *en = &r->en;
	/* what clips the stream may refuse it: the encoder then begins with the first rows */
	bool rows = (b->kind == BLOCK_EVENTS || block_enters(b)) && (!r->clip || r->splits);

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
	case BLOCK_META: return encode_take_meta(r, b, e);
	case BLOCK_SNAPSHOT:
	case BLOCK_EVENTS: return r->clip ? 0 : encode_rows(r, b, e);
	}
	return 0;
}

/* Pass a block to the encoder, its rows by way of what clips the stream. */
static int route_block(struct encode_run *r, const struct block *b, struct error *e)
{
	struct reader *in = &r->s->in;

	if (b->kind == BLOCK_HEAD && ((r->clip && !in->head.sequence && clip_stream(r->clip, e)) ||
				      keep_head(r, &in->head, e)))
		return -1;
	if (encode_take_block(r, b, e))
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
static void report_calls(struct calls *calls, bool quiet)
{
	struct call done;

	if (quiet)
		return;
	while (calls_finish(calls, &done))
		;
	remark_count(calls->counts.unfinished,
		     "{call|calls} had not returned at the end of the trace");
	remark_count(calls->counts.unmatched, "{return|returns} without a call");
	remark_count(calls->counts.ignored_kernel, CALLS_IGNORED_KERNEL);
}

/* Make the call engine of an encoder. */
static void encode_begin_calls(struct encode_run *r)
{
	calls_init(&r->calls, r->en.dictionary);
	r->en.calls = &r->calls;
}

/* End the encoder. last: the stream has ended. */
static int encode_end(struct encode_run *r, bool last, struct error *e)
{
	struct encoding *en = &r->en;
	bool partial;

	if ((!en->begun && encode_begin(en, e)) || (last && check_tick(r, e)) ||
	    en->encoder->end(en, e))
		return -1;
	en->early = r->clip && clip_done(r->clip);
	/* declarations may be missing */
	partial = r->s->status != STATUS_OK ||
		  (stage_part(r->s) && !(en->options->flags & ENCODE_WORKER));
	if (last && en->encoder->check && en->encoder->check(en, partial, e))
		return -1;
	if (en->text)
		text_release(en->text);
	return 0;
}

static void encode_end_calls(struct encode_run *r)
{
	if (r->en.encoder->counts_calls)
		report_calls(&r->calls, r->options.flags & ENCODE_QUIET);
	calls_free(&r->calls);
}

/* Go to the first segment of a worker, once all that is before the rows of the stream was read. */
static void encode_jump(struct encode_run *r)
{
	if (reader_jump(&r->s->in, r->jump->begin))
		stage_fail(r->s, &r->s->in.error);
	r->options.threads_before = r->en.dictionary->threads.count;
	r->s->segments_most = r->segments;
	r->s->segments_read = false;
	r->jump = NULL;
}

/* Test whether a section after the range is read: for the leaves of calls that are open. */
static bool encode_after(void *ctx, const struct index_section *s)
{
	const struct encode_run *r = ctx;

	(void)s;
	return r->clip->open > 0;
}

static void encode_run(struct encode_run *r)
{
	struct stage *s = r->s;
	struct encoding *en = &r->en;
	struct error e;
	struct block b;

	encode_begin_calls(r);
	if (!en->encoder->conversion && encode_begin(en, &e)) {
		stage_fail(s, &e);
		return;
	}
	s->in.reads_values = READS_ALL;
	/* other encoders may depend on events before the range */
	if (r->clip && !r->splits && en->encoder->report_counts)
		stage_seek(s, &(struct stage_seek){.window = &r->clip->window,
						   .restores = true,
						   .after = encode_after,
						   .ctx = r});
	while (!(r->clip && clip_done(r->clip)) && stage_next(s, &b)) {
		if (r->jump && (b.kind == BLOCK_EVENTS || b.kind == BLOCK_END)) {
			encode_jump(r);
			continue;
		}
		if (route_block(r, &b, &e)) {
			stage_fail(s, &e);
			break;
		}
	}
	if (s->status != STATUS_FAILED && encode_end(r, !(r->options.flags & ENCODE_GOES_ON), &e))
		stage_fail(s, &e);
	encode_end_calls(r);
	if (r->clip && !r->clip->count && s->events && !s->stopped &&
	    !(en->options->flags & ENCODE_QUIET))
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

/* Open the output of the encoder. -1: the error was printed. */
static int encode_open(struct encode_run *r)
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

/* --- parts of --split --- */

/* The remark about calls that were open at cuts. */
#define PARTS_DIVIDED                                                                              \
	"{time a call is|times a call is} cut in two: the parts together have as many calls more " \
	"than the trace"

/* The remark about calls without an enter, of which some formats have nothing before the leave. */
#define PARTS_UNSEEN                                                                               \
	"{time|times} a call that began before the trace goes on in the next part: as many calls " \
	"<0> more, in formats that have such calls"

/* Name a part NAME.000, NAME.001 and so on. */
static int name_part(struct encode_run *r, uint32_t number, struct error *e)
{
	const char *name = r->s->options->output;
	size_t n = strlen(name);
	char *path;

	while (n > 1 && name[n - 1] == '/')
		n--;
	if (asprintf(&path, "%.*s.%03" PRIu32, (int)n, name, number) < 0)
		return error_no_memory(e);
	free(r->path);
	r->path = path;
	r->options.output = path;
	return 0;
}

/* Get about the bytes of output of the present part. */
static uint64_t part_size(void *run)
{
	const struct encode_run *r = run;
	const struct encoding *en = &r->en;

	if (en->encoder->deferred || (en->target && en->target->native->deferred))
		return r->clip->part.bytes;
	if (en->encoder->size)
		return en->encoder->size(en);
	return en->out->written + (en->text ? en->text->used : 0);
}

/* End the encoder of a part, put its output in place, and begin the next one. */
static int encode_next_part(void *run, bool same_stream, struct error *e)
{
	struct encode_run *r = run;

	e->what[0] = '\0';
	if (encode_end(r, false, e) || (r->en.text && text_flush(r->en.text, e)))
		return -1;
	encode_end_calls(r);
	r->en.encoder->free(&r->en);
	r->en = (struct encoding){.encoder = r->encoder,
				  .options = &r->options,
				  .dictionary = &r->s->in.dictionary,
				  .single = r->en.single};
	r->s->in.before_block = NULL;
	if (r->s->output_open && stage_print_end(r->s))
		return -1;
	r->clocks = (struct clocks){0};
	encode_begin_calls(r);
	e->what[0] = '\0';
	if (name_part(r, r->clip->part.number, e) || encode_open(r))
		return -1;
	if (same_stream)
		return encode_begin(&r->en, e) || encode_prepare(r, false, e) || give_kept(r, e)
			       ? -1
			       : 0;
	drop_kept(r);
	return r->encoder->conversion ? 0 : encode_begin(&r->en, e);
}

static int encode_set_parts(struct encode_run *r, struct error *e)
{
	struct clip *clip = r->clip;

	if (!clip_splits(clip))
		return 0;
	r->splits = true;
	r->kept.metas.spills = true;
	clip->split.tick = r->options.tick;
	clip->needs_calls = r->encoder->needs_calls;
	clip->part_size = part_size;
	clip->next_part = encode_next_part;
	remarks_collect();
	return name_part(r, 0, e);
}

/* Print the remarks, and mention files of an earlier run. */
static void end_parts(struct encode_run *r)
{
	uint32_t number = r->clip->part.number;
	struct error e;

	/* parts of an earlier run would be read with these */
	if (r->s->status != STATUS_FAILED && !name_part(r, number + 1, &e) &&
	    !access(r->path, F_OK))
		warn(r->path, NO_OFFSET,
		     "is of an earlier run: this trace has %" PRIu32 " part%s; remove the others",
		     number + 1, number ? "s" : "");
	if (!(r->options.flags & ENCODE_QUIET)) {
		remark_count(r->clip->cuts.divided, PARTS_DIVIDED);
		remark_count(r->clip->cuts.unseen, PARTS_UNSEEN);
	}
	remarks_print();
	drop_kept(r);
	free(r->path);
}

/*
 * -j: workers encode chunks of segments into temporary files, which this process copies in order.
 *
 *     segments   0 1 2 3 4 5 6 7 ...
 *     workers    -0- -1- -2- -3-       as many at a time as there are processors
 *     output      0   1   2   3
 *
 * If a worker has anything to report, this process encodes the stream from its begin, and does not
 * write again what it has copied. Only counts of what is left out or odd are added up.
 */

enum {
	CHUNK_MOST = 16 << 20, /* bytes of segments; their text may be ten times as long */
	CHUNKED_LEAST = 8 << 20,
};

struct encode_sharing {
	const struct encode_run *run;
	struct segments segments;
	size_t *first; /* by chunk: its first segment; then the number of segments */
	size_t count;  /* chunks */
	struct worker *workers;
	size_t slots, started;	      /* chunk i is of workers[i % slots] */
	struct encode_counts *counts; /* by chunk, in memory that the workers share */
};

/* Be a worker: write the text of a chunk. Returns the exit status. */
static int encode_work(void *ctx, size_t i)
{
	const struct encode_sharing *sh = ctx;
	const struct encode_run *whole = sh->run;
	struct common_options common = *whole->s->options;
	struct encode_options options = whole->options;
	char *standard[] = {(char *)"/dev/stdin"};
	char **paths = whole->s->in.input.paths;
	struct stage s;
	struct encode_run r = {.s = &s,
			       .encoder = whole->encoder,
			       .options = options,
			       .text = malloc(sizeof *r.text),
			       .segments = sh->first[i + 1] - sh->first[i]};

	common.output = NULL;
	common.progress = -1;
	r.options.output = NULL;
	r.options.counts = &sh->counts[i];
	r.options.flags |= ENCODE_WORKER | (i ? ENCODE_NO_HEADER : 0) |
			   (i + 1 < sh->count ? ENCODE_GOES_ON : 0);
	if (!r.text ||
	    stage_open(&s, paths && strcmp(*paths, "-") != 0 ? paths : standard, 1, &common))
		return STATUS_FAILED;
	r.en = (struct encoding){.encoder = r.encoder,
				 .options = &r.options,
				 .dictionary = &s.in.dictionary,
				 .single = true};
	s.one_axis = whole->s->one_axis;
	s.prints_times = whole->s->prints_times;
	if (i)
		r.jump = &sh->segments.at[sh->first[i]];
	else
		s.segments_most = r.segments;
	if (encode_open(&r))
		return STATUS_FAILED;
	encode_run(&r);
	return stage_finish(&s);
}

/* Divide the segments into chunks, for so many workers. -1: there is only one, or out of memory. */
static int encode_chunks(struct encode_sharing *sh, size_t jobs)
{
	const struct segments *s = &sh->segments;
	uint64_t least = s->size / (4 * jobs), size = UINT64_MAX;

	if (least > CHUNK_MOST)
		least = CHUNK_MOST;
	sh->slots = jobs + 1;
	sh->first = calloc(s->count + 1, sizeof *sh->first);
	sh->workers = calloc(sh->slots, sizeof *sh->workers);
	sh->counts = mmap(NULL, s->count * sizeof *sh->counts, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh->counts == MAP_FAILED)
		sh->counts = NULL;
	if (!sh->first || !sh->workers || !sh->counts)
		return -1;
	for (size_t i = 0; i < sh->slots; i++)
		sh->workers[i] = (struct worker){.output = -1, .messages = -1};
	for (size_t i = 0; i < s->count; i++) {
		if (size >= least) {
			sh->first[sh->count++] = i;
			size = 0;
		}
		size += s->at[i].size;
	}
	sh->first[sh->count] = s->count;
	return sh->count > 1 ? 0 : -1;
}

/* Start workers until so many chunks are begun. */
static int encode_start(struct encode_sharing *sh, size_t chunks, struct error *e)
{
	for (; sh->started < chunks && sh->started < sh->count; sh->started++)
		if (worker_start(&sh->workers[sh->started % sh->slots], encode_work, sh,
				 sh->started, e))
			return -1;
	return 0;
}

/* Copy what a worker wrote. */
static int encode_copy(struct encode_run *r, const struct worker *w, struct error *e)
{
	struct output *o = &r->s->output;
	char piece[65536];
	off_t at = 0;
	ssize_t n;

	/* into a pipe without a copy; what it cannot do, or reports, is found by the loop below */
	while ((n = sendfile(o->fd, w->output, &at, 1 << 20)) > 0)
		o->written += (uint64_t)n;
	while ((n = io_read_at(w->output, piece, sizeof piece, (uint64_t)at)) > 0) {
		if (output_write(o, piece, (size_t)n, e))
			return -1;
		at += n;
	}
	return n ? error_errno(e, NULL, NO_OFFSET, "cannot read what a worker wrote") : 0;
}

/* Add up the counts of all chunks. */
static void encode_add_counts(const struct encode_sharing *sh, struct encode_counts *sum)
{
	*sum = (struct encode_counts){.unnamed = false};
	for (size_t i = 0; i < sh->count; i++) {
		const struct encode_counts *c = &sh->counts[i];

		sum->calls.unmatched += c->calls.unmatched;
		sum->calls.unfinished += c->calls.unfinished;
		sum->calls.ignored_kernel += c->calls.ignored_kernel;
		sum->calls.ignored_inner += c->calls.ignored_inner;
		sum->cut += c->cut;
		sum->dropped += c->dropped;
		sum->deep += c->deep;
		sum->unnamed |= c->unnamed;
	}
}

/* Let workers encode all chunks. 1: done; 0: this process must encode the stream; -1 with e
 * filled. */
static int encode_all(struct encode_run *r, struct encode_sharing *sh, struct error *e)
{
	for (size_t i = 0; i < sh->count; i++) {
		struct worker *w = &sh->workers[i % sh->slots];
		int good;

		if (encode_start(sh, i + sh->slots - 1, e))
			return 0;
		good = worker_wait(w, e);
		if (good < 0)
			return -1;
		if (!good)
			return 0;
		if (encode_start(sh, i + sh->slots, e))
			return 0;
		if (encode_copy(r, w, e))
			return -1;
		r->text->skip = r->s->output.written;
		worker_free(w);
	}
	return 1;
}

/* Encode the stream with workers, if these gain time and give the same. Returns false if this
 * process must encode it. */
static bool encode_shared(struct encode_run *r)
{
	struct stage *s = r->s;
	const struct encode_options *o = &r->options;
	struct encode_sharing sh = {.run = r};
	unsigned jobs = jobs_count(o->jobs);
	struct encode_counts sum;
	bool done = false;
	struct error e;

	if (jobs < 2 || !r->encoder->report_counts || r->clip || o->tick || !r->en.single ||
	    s->options->progress == 1 || output_is_terminal(&s->output))
		return false;
	if (!segments_find(&sh.segments, s->in.input.paths, s->in.input.paths ? 1 : 0,
			   &s->output) &&
	    (o->jobs || sh.segments.size >= CHUNKED_LEAST) && sh.segments.streams == 1 &&
	    !sh.segments.lost && !encode_chunks(&sh, jobs)) {
		int all = encode_all(r, &sh, &e);

		if (all < 0)
			stage_fail(s, &e);
		encode_add_counts(&sh, &sum);
		if (all > 0)
			r->encoder->report_counts(&sum, o->flags);
		if (s->options->verbose && all >= 0)
			warn(NULL, NO_OFFSET, all ? "%u workers" : "%u workers, then one process",
			     jobs);
		done = all != 0;
	}
	for (size_t i = 0; sh.workers && i < sh.slots; i++)
		worker_free(&sh.workers[i]);
	if (sh.counts)
		munmap(sh.counts, sh.segments.count * sizeof *sh.counts);
	free(sh.workers);
	free(sh.first);
	segments_free(&sh.segments);
	return done;
}

void encode_stream(struct stage *s, const struct encoder *encoder,
		   const struct encode_options *options, struct clip *clip)
{
	struct encode_run r = {.s = s,
			       .encoder = encoder,
			       .options = *options,
			       .text = malloc(sizeof *r.text),
			       .clip = clip_any(clip) ? clip : NULL};
	struct error e;

	r.options.clip = r.clip;
	r.en = (struct encoding){.encoder = encoder,
				 .options = &r.options,
				 .dictionary = &s->in.dictionary,
				 .single = s->in.input.npaths == 1};
	clip_init(clip, &s->in.dictionary);
	clip->show = encode_rows;
	clip->ctx = &r;
	if (!r.text) {
		stage_no_memory(s);
	} else if (r.clip && encode_set_parts(&r, &e)) {
		stage_fail(s, &e);
	} else if (!encode_open(&r)) {
		if (!encode_shared(&r))
			encode_run(&r);
		s->in.before_block = NULL;
	}
	r.en.encoder->free(&r.en);
	if (r.splits)
		end_parts(&r);
	intern_free(&r.known.seen);
	intern_free(&r.known.missing);
	free(r.text);
}

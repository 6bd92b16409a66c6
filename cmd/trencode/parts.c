/*
 * parts.c - the parts of --split: an output and an encoder for each
 *
 * The parts are named NAME.000, NAME.001 and so on. Each has an encoder of its own, which begins
 * with the HEAD and the META blocks of the stream. A conversion may go on from part to part
 * (convert/convert.h).
 */
#include "cmd/trencode/encode_private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/tick_scale.h"
#include "common/util/buffer_file.h"

/* Name a part. */
static int parts_name(struct encode_run *r, uint32_t number, struct error *e)
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

static void drop_kept(struct kept_blocks *k)
{
	buffer_free(&k->properties);
	buffer_free(&k->metas);
	*k = (struct kept_blocks){.metas.spills = true};
}

static void drop_numbers(struct split_numbers *n)
{
	open_calls_free(&n->left_out);
	thread_ids_free(&n->threads);
	track_numbers_free(&n->tracks);
	flow_numbers_free(&n->flows);
	if (n->scheduling.kept)
		scheduling_free(&n->scheduling.state);
	n->scheduling.kept = false;
}

int parts_keep_head(struct encode_run *r, const struct head *h, struct error *e)
{
	struct kept_blocks *k = &r->kept;

	if (!r->split || k->has_head)
		return 0;
	if (buffer_append(&k->properties, h->properties, h->properties_size))
		return error_no_memory(e);
	k->head = *h;
	k->has_head = true;
	return 0;
}

int parts_keep_meta(struct encode_run *r, const struct meta *m, struct error *e)
{
	struct buffer *b = &r->kept.metas;

	if (!r->split)
		return 0;
	if (buffer_append(b, m, sizeof *m) || buffer_append(b, m->name, m->name_size) ||
	    buffer_append(b, m->data, m->size) || buffer_align(b, 8))
		return error_no_memory(e);
	buffer_rest(b);
	return 0;
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

/* A conversion scales ticks itself, after the cut (tick_scale.h). */
static uint64_t part_mark(void *ctx, const struct lane *lane, uint64_t time)
{
	const struct encode_run *r = ctx;
	bool ticks = lane->clock && lane->clock->flags & CLOCK_TICKS;

	if (!r->en.target || !ticks || !r->options.tick)
		return tick_time(lane, time);
	return __builtin_mul_overflow(time, r->options.tick, &time) ? PART_NO_TIME : time;
}

/* End the encoder of a part, and put its output in place. */
static int part_end(void *ctx, struct error *e)
{
	struct encode_run *r = ctx;

	e->what[0] = '\0';
	if (encode_end(r, false, e) || (r->en.text && text_flush(r->en.text, e)))
		return -1;
	encode_end_calls(r);
	if (!convert_goes_on(&r->en)) {
		r->en.encoder->free(&r->en);
		r->en.state = NULL;
	}
	r->s->in.before_block = NULL;
	return r->s->output_open ? stage_print_end(r->s) : 0;
}

/* Begin the encoder of the next part. */
static int part_begin(void *ctx, struct error *e)
{
	struct encode_run *r = ctx;
	bool same_stream = r->split->part.since != PART_NO_TIME,
	     goes_on = r->en.target && r->en.state;

	if (!goes_on)
		r->en = (struct encoding){.encoder = r->encoder,
					  .options = &r->options,
					  .dictionary = &r->s->in.dictionary,
					  .single = r->en.single};
	r->clocks = (struct clocks){0};
	encode_begin_calls(r);
	e->what[0] = '\0';
	if (parts_name(r, r->split->part.number, e) || encode_open(r))
		return -1;
	if (goes_on)
		return convert_begin_next(&r->en, e);
	if (!same_stream) {
		drop_numbers(r->split->numbers);
		drop_kept(&r->kept);
		return r->encoder->conversion ? 0 : encode_begin(&r->en, e);
	}
	return encode_begin(&r->en, e) || encode_prepare(r, false, e) || give_kept(r, e) ? -1 : 0;
}

/* Get about the bytes that a part has so far. */
static uint64_t part_size(void *ctx)
{
	const struct encode_run *r = ctx;
	const struct encoding *en = &r->en;

	return encoder_size(en);
}

int parts_begin(struct encode_run *r, struct error *e)
{
	r->split = calloc(1, sizeof *r->split);
	if (!r->split)
		return error_no_memory(e);
	r->split->numbers = calloc(1, sizeof *r->split->numbers);
	if (!r->split->numbers)
		return error_no_memory(e);
	r->kept.metas.spills = true;
	r->options.remarks = &r->split->remarks;
	r->split->limit = r->options.split;
	r->split->tick = r->options.tick;
	r->split->needs_calls = r->encoder->needs_calls;
	r->split->target = (struct split_target){.show = encode_rows,
						 .size = part_size,
						 .mark = part_mark,
						 .end = part_end,
						 .begin = part_begin,
						 .ctx = r};
	split_init(r->split, &r->s->in.dictionary, r->clip != NULL);
	r->options.parts = r->split;
	return parts_name(r, 0, e);
}

void parts_end(struct encode_run *r)
{
	struct error e;

	if (!r->split)
		return;
	/* parts of an earlier run would be read with these */
	if (r->s->status != STATUS_FAILED && !parts_name(r, r->split->part.number + 1, &e) &&
	    !access(r->path, F_OK))
		warn(r->path, NO_OFFSET, "is of an earlier run: this trace has %" PRIu32 " part%s",
		     r->split->part.number + 1, r->split->part.number ? "s" : "");
	remarks_print(&r->split->remarks);
	remarks_free(&r->split->remarks);
	split_free(r->split);
	if (r->split->numbers)
		drop_numbers(r->split->numbers);
	free(r->split->numbers);
	free(r->split);
	drop_kept(&r->kept);
	free(r->path);
}

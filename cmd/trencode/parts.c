/*
 * parts.c - the parts of --split: an output and an encoder for each
 *
 * The parts are named NAME.000, NAME.001 and so on. Each has an encoder of its own, which begins
 * with the HEAD and the META blocks of the stream.
 */
#include "cmd/trencode/encode_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/buffer_file.h"

/* The remark about calls that were open at cuts. */
#define PARTS_DIVIDED                                                                              \
	"{time a call is|times a call is} cut in two: the parts together have as many calls more " \
	"than the trace"

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

/* End the encoder of a part, and put its output in place. */
static int part_end(void *ctx, struct error *e)
{
	struct encode_run *r = ctx;

	e->what[0] = '\0';
	if (encode_end(r, false, e) || (r->en.text && text_flush(r->en.text, e)))
		return -1;
	encode_end_calls(r);
	r->en.encoder->free(&r->en);
	r->en.state = NULL;
	r->s->in.before_block = NULL;
	return r->s->output_open ? stage_print_end(r->s) : 0;
}

/* Begin the encoder of the next part. */
static int part_begin(void *ctx, bool same_stream, struct error *e)
{
	struct encode_run *r = ctx;

	r->en = (struct encoding){.encoder = r->encoder,
				  .options = &r->options,
				  .dictionary = &r->s->in.dictionary,
				  .single = r->en.single};
	r->clocks = (struct clocks){0};
	encode_begin_calls(r);
	e->what[0] = '\0';
	if (parts_name(r, r->split->number, e) || encode_open(r))
		return -1;
	if (same_stream)
		return encode_begin(&r->en, e) || encode_prepare(r, false, e) || give_kept(r, e)
			       ? -1
			       : 0;
	drop_kept(&r->kept);
	return r->encoder->conversion ? 0 : encode_begin(&r->en, e);
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
	r->kept.metas.spills = true;
	r->options.remarks = &r->split->remarks;
	r->split->limit = r->options.split;
	r->split->tick = r->options.tick;
	r->split->needs_calls = r->encoder->needs_calls;
	r->split->target = (struct split_target){
		.size = part_size, .end = part_end, .begin = part_begin, .ctx = r};
	r->split->ends = UINT64_MAX;
	r->split->slice = 1;
	r->options.parts = r->split;
	return parts_name(r, 0, e);
}

void parts_end(struct encode_run *r)
{
	struct error e;

	if (!r->split)
		return;
	/* parts of an earlier run would be read with these */
	if (r->s->status != STATUS_FAILED && !parts_name(r, r->split->number + 1, &e) &&
	    !access(r->path, F_OK))
		warn(r->path, NO_OFFSET, "is of an earlier run: this trace has %" PRIu32 " part%s",
		     r->split->number + 1, r->split->number ? "s" : "");
	remark_count(&r->split->remarks, r->options.quiet ? 0 : r->split->divided, PARTS_DIVIDED);
	remarks_print(&r->split->remarks);
	remarks_free(&r->split->remarks);
	free(r->split);
	drop_kept(&r->kept);
	free(r->path);
}

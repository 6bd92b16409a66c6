/*
 * glprofile.c - the decoder of profiles of a replay
 */
#include "cmd/trdecode/glprofile/glprofile.h"

#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

enum { LIVE_WAIT = 20 /* ms */ };

static enum bid glprofile_probe(const struct input *in)
{
	static const char columns[] = "# call no ";
	const char *at = (const char *)in->head;
	const char *end = at ? at + in->head_size : at;

	if (in->tree || !in->head_size)
		return BID_NONE;
	if (in->format && !strcmp(in->format, "glprofile"))
		return BID_LIKELY;
	/* the program that replays may have printed lines before */
	for (; at && (size_t)(end - at) >= sizeof columns - 1;
	     at = memchr(at, '\n', (size_t)(end - at)), at = at ? at + 1 : at)
		if (!memcmp(at, columns, sizeof columns - 1))
			return BID_HEADER;
	return BID_NONE;
}

static int glprofile_open(struct input *in, struct error *e)
{
	struct decoding *d = in->decoding;
	struct glprofile *p = calloc(1, sizeof *p);

	in->state = p;
	if (!p)
		return error_no_memory(e);
	p->input = in;
	in->clock_name = "replay";
	if (d->profile)
		return error_set(e, in->name, NO_OFFSET,
				 "a second profile of a replay: their clocks cannot be compared");
	d->profile = p;
	return 0;
}

static int glprofile_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct glprofile *p = in->state;
	struct glprofile_call c;
	uint64_t draws = 0;
	int got;

	fact_text(facts, "format", "glprofile");
	while ((got = glprofile_next(p, &c, e)) > 0)
		draws += glprofile_has_gpu(&c);
	fact_number(facts, "calls", p->calls);
	fact_number(facts, "calls on the GPU", draws);
	fact_number(facts, "frames count", p->frame);
	return got;
}

/* Add the rows of the next calls to the queue, until the first row is known. Returns 0, or -1. */
static int read_rows(struct glprofile *p, struct error *e)
{
	struct glprofile_call c;
	int got;

	while (!p->ended && row_queue_next(&p->queue) >= merge_shifted(p->now, p->input->shift)) {
		e->what[0] = '\0';
		/* a replay that goes on: what is there must show before the next line is waited for
		 */
		if (p->calls && !lines_ready(&p->lines, p->input, LIVE_WAIT) &&
		    (row_queue_write(&p->queue, merge_shifted(p->now, p->input->shift)) ||
		     writer_flush(p->queue.w)))
			return -1;
		got = glprofile_next(p, &c, e);
		if (got < 0)
			return -1;
		if (!got) {
			p->ended = true;
			break;
		}
		if (glprofile_gpu(p, &c, p->frame) || glprofile_cpu(p, &c))
			return -1;
		/* the GPU begins a call after the CPU has ended those before; it reads its clock
		 * just before the CPU */
		uint64_t now = glprofile_has_cpu(&c) ? glprofile_cpu_time(&c, true)
						     : (uint64_t)c.value[COLUMN_GPU_START];

		if (now > p->now)
			p->now = now;
	}
	return 0;
}

static int glprofile_begin(struct input *in, struct error *e)
{
	struct glprofile *p = in->state;

	in->next = UINT64_MAX;
	e->what[0] = '\0';
	/* the decoder of the trace writes the rows */
	if (in->decoding->profile_has_trace) {
		in->decoding->shared = in;
		return 0;
	}
	if (glprofile_declare(p) || merge_choose_clock(in, e) || read_rows(p, e))
		return -1;
	if (!p->queue.count)
		return 0;
	return merge_first(in, row_queue_next(&p->queue) - (uint64_t)in->shift, e);
}

static int glprofile_run(struct input *in, uint64_t until, struct error *e)
{
	struct glprofile *p = in->state;

	do {
		uint64_t now = p->ended ? UINT64_MAX : merge_shifted(p->now, in->shift);

		if (row_queue_write(&p->queue, until < now ? until : now) || read_rows(p, e))
			return -1;
		in->next = row_queue_next(&p->queue);
	} while (in->next <= until && in->next != UINT64_MAX);
	return 0;
}

static void glprofile_close(struct input *in)
{
	struct glprofile *p = in->state;

	if (!p)
		return;
	if (in->decoding->profile == p)
		in->decoding->profile = NULL;
	if (!in->decoding->quiet)
		warn_count(in->name, p->strange - (p->strange > 0),
			   "more {line that is no call|lines that are no calls} of a replay");
	row_queue_free(&p->queue);
	lines_free(&p->lines);
	intern_free(&p->names);
	id_cache_free(&p->locations);
	open_calls_free(&p->by_number);
	free(p->window);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_glprofile = {
	.name = "glprofile",
	.probe = glprofile_probe,
	.open = glprofile_open,
	.info = glprofile_info,
	.begin = glprofile_begin,
	.run = glprofile_run,
	.close = glprofile_close,
};

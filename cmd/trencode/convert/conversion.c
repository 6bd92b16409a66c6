/*
 * conversion.c - the encoder of all conversions
 */
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"

static int conversion_begin(struct encoding *en, struct error *e)
{
	const struct convert_target *target = en->target;
	struct conversion *a = en->state = calloc(1, target->state_size);

	if (!a)
		return error_no_memory(e);
	*a = (struct conversion){
		.target = target, .dictionary = en->dictionary, .options = en->options};
	a->ids.no_zero = target->no_zero;
	a->ids.zero = target->zero;
	a->ids.no_cpus = target->no_cpus;
	a->calls = en->calls;
	convert_calls_init(a);
	en->overlapping = target->nests ? &a->overlap.calls : NULL;
	if (target_begin(&a->d, target->native, target->format, en, e))
		return -1;
	return target->init ? target->init(a, e) : 0;
}

int convert_begin_late(struct encoding *en, struct encoding *native, struct error *e)
{
	bool takes = en->target->take_over;
	int result;

	/* two encoders cannot write to one directory */
	if (!takes)
		native->encoder->free(native);
	result = conversion_begin(en, e);
	if (!takes)
		return result;
	if (!result)
		en->target->take_over(en->state, native->state);
	native->encoder->free(native);
	return result;
}

static int conversion_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct conversion *a = en->state;

	/* the ids of a segment are new */
	if (overlap_end(&a->overlap, e))
		return -1;
	clock_epoch_head(&a->clock_epoch, h);
	return 0;
}

static int conversion_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	return en->target->meta ? en->target->meta(en->state, m, e) : 0;
}

static int conversion_end(struct encoding *en, struct error *e)
{
	struct conversion *a = en->state;

	if (convert_flush(a, e) || a->target->end(a, e) ||
	    a->target->native->end(&a->d.encoding, e))
		return -1;
	convert_report(a);
	a->target->report(a);
	return 0;
}

static uint64_t conversion_size(const struct encoding *en)
{
	const struct conversion *a = en->state;
	const struct encoder *native = en->target->native;

	return native->size ? native->size(&a->d.encoding) : en->out->written;
}

static void conversion_free(struct encoding *en)
{
	struct conversion *a = en->state;

	if (!a)
		return;
	target_free(&a->d);
	overlap_free(&a->overlap);
	free(a->restored.list);
	for (size_t i = 0; i < a->nthreads; i++)
		free(a->by_number[i]);
	free(a->by_number);
	free(a->threads);
	thread_ids_free(&a->ids);
	free(a->used);
	a->target->drop(a);
	free(a);
	en->state = NULL;
}

const struct encoder encoder_conversion = {
	.begin = conversion_begin,
	.head = conversion_head,
	.meta = conversion_meta,
	.drops = true,
	.event = convert_event,
	.end = conversion_end,
	.size = conversion_size,
	.free = conversion_free,
};

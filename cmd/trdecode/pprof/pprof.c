/*
 * pprof.c - the decoder of profile.proto, which pprof, Go, and many profilers write
 *
 * The whole message is read first: its strings usually follow the samples that name them. A sample
 * has no time. Samples that weigh time follow each other without pauses, so that the time of one is
 * the sum of the weights before it; the time of any other is its number, in ticks.
 */
#include "cmd/trdecode/pprof/pprof.h"

#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

static enum bid pprof_probe(const struct input *in)
{
	struct protobuf_view head = {in->head, in->head};

	if (in->tree || !in->head_size)
		return BID_NONE;
	head.end += in->head_size;
	return profile_begins(head, in->format && !strcmp(in->format, "pprof")) ? BID_LIKELY
										: BID_NONE;
}

static int pprof_open(struct input *in, struct error *e)
{
	struct pprof *p = calloc(1, sizeof *p);

	if (!p)
		return error_no_memory(e);
	in->state = p;
	p->input = in;
	p->w = in->decoding->writer;
	if (profile_read(&p->profile, in, e))
		return -1;
	pprof_choose_values(p);
	in->ticks = !p->types.unit;
	in->clock_name = in->ticks ? "samples" : "weights";
	return 0;
}

int pprof_fact(struct pprof *p, struct trace_info *facts, const char *name, uint64_t string,
	       uint64_t detail)
{
	struct protobuf_view s = profile_string(&p->profile, string);
	struct protobuf_view d = profile_string(&p->profile, detail);

	p->key.size = 0;
	if (buffer_append(&p->key, s.at, protobuf_size(s)) ||
	    (d.at < d.end && (buffer_puts(&p->key, s.at < s.end ? ", " : "") ||
			      buffer_append(&p->key, d.at, protobuf_size(d)))) ||
	    buffer_u8(&p->key, 0))
		return -1;
	fact_item(facts, name, (const char *)p->key.data);
	return 0;
}

static int pprof_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct pprof *p = in->state;
	const struct profile *profile = &p->profile;
	int bad = 0;

	fact_text(facts, "format", "pprof");
	fact_number(facts, "samples", profile->nsamples);
	for (unsigned i = 0; i < profile->ntypes; i++)
		bad |= pprof_fact(p, facts, "value", profile->types[i].type,
				  profile->types[i].unit);
	if (profile->time)
		fact_number(facts, "time", profile->time);
	if (profile->duration)
		fact_number(facts, "duration", profile->duration);
	if (profile->period) {
		bad |= pprof_fact(p, facts, "period of", profile->period_type.type,
				  profile->period_type.unit);
		fact_number(facts, "period", profile->period);
	}
	for (size_t i = 0; i < profile->comments.size; i += 8)
		bad |= pprof_fact(p, facts, "comment", get_u64(profile->comments.data + i), 0);
	for (size_t i = 0; i < profile->mappings.count; i++)
		bad |= pprof_fact_mapping(p, facts, i);
	return bad ? error_no_memory(e) : 0;
}

/* Go to the next sample; in->next is UINT64_MAX if there is none. */
static void pprof_advance(struct input *in)
{
	struct pprof *p = in->state;
	struct protobuf_field f;

	in->next = UINT64_MAX;
	while (protobuf_next(&p->rest, &f) > 0)
		if (f.number == PROFILE_SAMPLE && f.wire == PROTOBUF_LENGTH) {
			p->sample = f.bytes;
			p->number++;
			in->next = merge_shifted(in->ticks ? p->number : p->elapsed, in->shift);
			return;
		}
}

static int pprof_begin(struct input *in, struct error *e)
{
	struct pprof *p = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	p->source = writer_source(p->w, &(struct source_entry){writer_text(p->w, "pprof"),
							       writer_text(p->w, in->name), 0, 0});
	p->clock =
		writer_clock(p->w, &(struct clock_entry){.name = writer_text(p->w, in->clock_name),
							 .flags = in->ticks ? CLOCK_TICKS : 0});
	p->location = calloc(p->profile.locations.count + 1, sizeof *p->location);
	p->space = calloc(p->profile.mappings.count + 1, sizeof *p->space);
	if (!p->source || !p->clock || !p->location || !p->space)
		return error_no_memory(e);
	p->rest = p->profile.samples;
	pprof_advance(in);
	return in->next == UINT64_MAX ? 0 : merge_first(in, in->ticks ? p->number : 0, e);
}

static int pprof_run(struct input *in, uint64_t until, struct error *e)
{
	struct pprof *p = in->state;

	(void)e;
	for (; in->next <= until && in->next != UINT64_MAX; pprof_advance(in))
		if (pprof_write_sample(p))
			return -1;
	return 0;
}

static void pprof_close(struct input *in)
{
	struct pprof *p = in->state;

	if (!p)
		return;
	profile_free(&p->profile);
	buffer_free(&p->frames);
	buffer_free(&p->stack);
	buffer_free(&p->fixed);
	buffer_free(&p->tail);
	buffer_free(&p->key);
	id_cache_free(&p->types.by_labels);
	id_cache_free(&p->lanes);
	free(p->location);
	free(p->space);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_pprof = {
	.name = "pprof",
	.in_order = true,
	.probe = pprof_probe,
	.open = pprof_open,
	.info = pprof_info,
	.begin = pprof_begin,
	.run = pprof_run,
	.close = pprof_close,
};

/*
 * lttng.c - the decoder of legacy LTTng traces: opening, --info, and decoding by TSC
 */
#include "cmd/trdecode/lttng/lttng.h"
#include "cmd/trdecode/input/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* --- opening --- */

static int open_trace(struct lttng *l, struct error *e)
{
	const struct lttng_header *h = &l->header;
	struct input *in = l->input;
	int64_t wall = 0;
	uint64_t us;

	if (lttng_find_header(l, e))
		return -1;
	l->old = h->major == 1;
	if (lttng_find_files(l, e))
		return -1;
	if (lttng_find_channels(l))
		return error_no_memory(e);
	for (size_t i = 0; i < l->nfiles; i++)
		if (l->files[i].metadata && lttng_prescan_metadata(l, &l->files[i]))
			return error_no_memory(e);
	if (h->seconds < 1ull << 33 && !__builtin_mul_overflow(h->seconds, 1000000u, &us) &&
	    h->microseconds < 1ull << 40)
		wall = (int64_t)((us + h->microseconds) * 1000);
	in->has_wall = wall != 0;
	in->clock_name = "wall";
	if (in->decoding->clock == CLOCK_RAW || !in->has_wall) {
		in->clock_name = "tsc";
		if (lttng_clock_init(&l->clock, h, 0, 0))
			goto no_rate;
		if (in->has_wall)
			in->wall = wall - lttng_clock_slow(&l->clock, h->start_tsc);
	} else if (lttng_clock_init(&l->clock, h, h->start_tsc, wall)) {
		goto no_rate;
	}
	return 0;
no_rate:
	/* without a rate, times are ticks */
	input_damage(in, in->name, NO_OFFSET,
		     "the trace does not record the length of its clock's tick: 1 ns is assumed");
	in->has_wall = false;
	in->wall = 0;
	in->clock_name = "tsc";
	l->header.frequency = 1000000000;
	l->header.scale = 1;
	return lttng_clock_init(&l->clock, h, 0, 0);
}

static int lttng_open(struct input *in, struct error *e)
{
	struct lttng *l = calloc(1, sizeof *l);

	in->state = l;
	if (!l)
		return error_no_memory(e);
	l->input = in;
	l->w = in->decoding->writer;
	/* never NULL from here on */
	if (buffer_reserve(&l->tail, 4096))
		return error_no_memory(e);
	if (tree_damage(in->tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	return open_trace(l, e);
}

static uint64_t lttng_fingerprint(const struct input *in)
{
	const struct lttng *l = in->state;
	const struct lttng_header *h = &l->header;
	uint64_t key[4] = {h->start_tsc, h->seconds, h->microseconds, h->frequency};
	uint64_t id = hash_bytes(key, sizeof key, 0);

	for (size_t i = 0; i < l->nfiles; i++)
		id = hash_bytes(l->files[i].member, strlen(l->files[i].member), id);
	return in->member ? hash_bytes(in->member, strlen(in->member), id) : id;
}

static int lttng_info(struct input *in, struct trace_info *info, struct error *e)
{
	static const char *const flights[] = {"no", "all channels but the metadata",
					      "the cpu channel"};
	struct lttng *l = in->state;
	const struct lttng_header *h = &l->header;
	uint64_t bytes = 0, cpus = 0, markers = 0;
	char text[32];

	(void)e;
	fact_text(info, "format", "lttng");
	snprintf(text, sizeof text, "%u.%u", h->major, h->minor);
	fact_text(info, "version", text);
	fact_text(info, "byte order", h->big ? "big-endian" : "little-endian");
	fact_number(info, "word size", h->word_size);
	fact_number(info, "alignment", h->alignment);
	if (l->old) {
		fact_text(info, "heartbeat", h->heartbeat ? "yes" : "no");
		fact_text(info, "flight recorder", flights[h->flight < 3 ? h->flight : 0]);
	}
	fact_number(info, "clock rate", lttng_clock_hertz(h));
	fact_number(info, "start TSC", h->start_tsc);
	snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, h->seconds, h->microseconds);
	fact_text(info, "start time", text);
	for (size_t i = 0; i < l->ncpus; i++)
		cpus += l->cpus[i] != NULL;
	fact_number(info, "cpus", cpus);
	fact_number(info, "tracefiles", l->nfiles);
	for (size_t i = 0; i < l->nfiles; i++)
		bytes += tree_size(in->tree, l->files[i].member);
	fact_number(info, "bytes", bytes);
	for (size_t i = 0; i < l->nchannels; i++)
		for (size_t k = 0; k < l->channels[i].size; k++)
			markers += l->channels[i].markers[k] != NULL;
	fact_number(info, "markers", markers);
	return 0;
}

/* --- beginning --- */

static int declare_trace(struct lttng *l)
{
	struct writer *w = l->w;
	const struct lttng_header *h = &l->header;
	struct input *in = l->input;
	char text[512];
	int n;

	l->source = writer_source(w, &(struct source_entry){writer_text(w, "lttng"),
							    writer_text(w, in->name), h->word_size,
							    h->big});
	l->clock_id = writer_clock(
		w,
		&(struct clock_entry){writer_text(w, in->clock_name),
				      (in->has_wall ? CLOCK_HAS_WALL : 0) |
					      (!strcmp(in->clock_name, "wall") ? CLOCK_IS_WALL : 0),
				      in->wall});
	/* the conversion of TSCs to times, for programs that write the trace again: start_freq /
	   freq_scale ticks per second, the meaning in 2.3, in all versions */
	n = snprintf(text, sizeof text,
		     "version %u.%u\nstart_freq %" PRIu64 "\nfreq_scale %" PRIu64
		     "\nstart_tsc %" PRIu64 "\nstart_time_sec %" PRIu64 "\nstart_time_usec %" PRIu64
		     "\n",
		     h->major, h->minor, l->clock.denominator, l->clock.numerator / 1000000000,
		     h->start_tsc, h->seconds, h->microseconds);
	if (writer_meta(w, l->source, "lttng.trace", text, (size_t)n))
		return -1;
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];
		size_t base;
		int32_t cpu;

		lttng_file_name(f->member, &base, &cpu);
		f->buffer = writer_string(w, f->member, base);
	}
	return w->out_of_memory ? -1 : 0;
}

static bool is_wanted(const struct lttng *l, const char *member)
{
	const char *only = l->input->member;

	return !only || !strcmp(only, member);
}

/* Declare the markers that the metadata announce, except those whose layout depends on an event. */
static int announce_types(struct lttng *l)
{
	for (size_t i = 0; i < l->nchannels; i++)
		for (size_t k = 0; k < l->channels[i].size; k++) {
			struct lttng_marker *m = lttng_marker(l, &l->channels[i], (uint32_t)k);

			if (!m || (l->old && m->has_eight))
				continue;
			if (lttng_marker_declare(l, m) ||
			    row_filter_announce(l->input->decoding->row_filter, m->type, 0))
				return -1;
		}
	return 0;
}

static int lttng_begin(struct input *in, struct error *e)
{
	struct lttng *l = in->state;
	struct decoding *d = in->decoding;
	int64_t first;

	if (merge_choose_clock(in, e))
		return -1;
	l->shift = in->shift;
	if (declare_trace(l) || (!d->times_only && lttng_prescan(l)))
		return -1;
	l->begun = true;
	if (announce_types(l))
		return -1;
	for (size_t i = 0; i < l->nfiles; i++) {
		struct lttng_file *f = &l->files[i];

		if (!is_wanted(l, f->member))
			continue;
		f->done = false;
		if (lttng_file_open(l, f, f->member, l->nfiles))
			return -1;
		if (!f->done)
			l->heap[l->nheap++] = f;
	}
	lttng_merge_begin(l);
	if (!l->nheap)
		return 0;
	first = lttng_clock_ns(&l->clock, l->heap[0]->next);
	return merge_first(in, first < 0 ? 0 : (uint64_t)first, e);
}

static int lttng_run(struct input *in, uint64_t until, struct error *e)
{
	(void)e;
	return lttng_merge_run(in->state, until);
}

static void lttng_close(struct input *in)
{
	struct lttng *l = in->state;

	for (size_t i = 0; i < l->nfiles; i++)
		lttng_file_close(&l->files[i]);
	free(l->files);
	free(l->heap);
	lttng_markers_free(l);
	lttng_state_free(l);
	buffer_free(&l->tail);
	free(l);
	in->state = NULL;
}

const struct decoder decoder_lttng = {
	.name = "lttng",
	.in_order = true,
	.raw_clock = true,
	.probe = lttng_probe,
	.open = lttng_open,
	.fingerprint = lttng_fingerprint,
	.info = lttng_info,
	.begin = lttng_begin,
	.late = lttng_skip_late,
	.run = lttng_run,
	.close = lttng_close,
};

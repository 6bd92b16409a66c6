/*
 * tracecmd.c - the decoder of trace-cmd's trace.dat: open it, and merge its CPUs by time
 */
#include "cmd/trdecode/tracecmd/tracecmd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/formats/tracecmd.h"
#include "cmd/trdecode/input/merge.h"

/* Bytes read ahead: shared by all CPUs, and at most for each. */
enum { READ_AHEAD = 4 << 20, READ_AHEAD_EACH = 128 * 1024 };

static enum bid tracecmd_probe(const struct input *in)
{
	return in->head_size >= TRACECMD_MAGIC_SIZE &&
			       !memcmp(in->head, TRACECMD_MAGIC, TRACECMD_MAGIC_SIZE)
		       ? BID_HEADER
		       : BID_NONE;
}

/* Return the bytes of a sub-buffer, where the file gives no valid size. */
static uint32_t usual_page_size(const struct tracecmd *t, uint32_t data_size)
{
	uint64_t size = (uint64_t)t->layout.data + data_size;

	if (tracecmd_good_page_size(t->h.page_size))
		return t->h.page_size;
	return data_size && tracecmd_good_page_size(size) ? (uint32_t)size : 4096;
}

static void set_layout(struct tracecmd *t)
{
	struct tracecmd_header *h = &t->h;
	uint32_t data_size, usual;

	/* kernels before header_page give an empty text */
	if (!ring_layout_parse(&t->layout, h->header_page.size ? (char *)h->header_page.data : "",
			       h->header_page.size, h->big_endian, h->program_long, &data_size) &&
	    h->header_page.size)
		input_damage(t->input, h->file.name, NO_OFFSET, "unknown layout of header_page");
	usual = usual_page_size(t, data_size);
	for (size_t i = 0; i < h->nbuffers; i++) {
		struct tracecmd_buffer *b = &h->buffers[i];

		if (tracecmd_good_page_size(b->page_size))
			continue;
		if (b->nrows)
			input_damage(t->input, h->file.name, NO_OFFSET,
				     "sub-buffers of %u bytes are impossible", b->page_size);
		b->page_size = usual;
	}
}

static int tracecmd_open(struct input *in, struct error *e)
{
	struct tracecmd *t = calloc(1, sizeof *t);

	in->state = t;
	if (!t)
		return error_no_memory(e);
	t->input = in;
	t->w = in->decoding->writer;
	if (tracecmd_file_open(&t->h.file, in->name, in->fd, in->head, in->head_size, e) ||
	    tracecmd_header_read(&t->h, in, e))
		return -1;
	set_layout(t);
	tracecmd_clock(t);
	return tracecmd_read_formats(t, e) || tracecmd_read_comms(t, e) ? -1 : 0;
}

static uint64_t tracecmd_fingerprint(const struct input *in)
{
	const struct tracecmd *t = in->state;
	const struct buffer *o = &t->h.options;
	uint64_t h = hash_bytes(o->data, o->size, t->h.file.size);

	return hash_bytes(t->h.cmdlines.data, t->h.cmdlines.size, h);
}

/* --- merging --- */

static int report_lost(struct tracecmd *t, struct tracecmd_reader *r, uint64_t time)
{
	struct gap g = {.reason = GAP_LOST,
			.unit = GAP_EVENTS,
			.count = r->data.missed,
			.offset = NO_OFFSET};
	uint32_t lane = tracecmd_bare_lane(t, r);

	r->data.missed = 0;
	return lane ? writer_gap(t->w, time, lane, &g) : -1;
}

static int report_damage(struct tracecmd *t, struct tracecmd_reader *r, uint64_t time)
{
	struct error *d = &r->data.damage;
	struct gap g = {.reason = GAP_DAMAGE,
			.unit = GAP_EVENTS,
			.count = UINT64_MAX,
			.offset = d->offset,
			.file = t->h.file.name,
			.message = d->what};
	uint32_t lane = tracecmd_bare_lane(t, r);

	input_damage_error(t->input, d);
	r->data.damaged = false;
	return lane ? writer_gap(t->w, time, lane, &g) : -1;
}

/* Write the gaps before the next record, or at the end. */
static int report_missing(struct tracecmd *t, struct tracecmd_reader *r)
{
	uint64_t time = r->due.time == UINT64_MAX ? r->last : r->due.time;

	if (r->data.damaged && report_damage(t, r, time))
		return -1;
	return r->data.missed ? report_lost(t, r, time) : 0;
}

static inline int reader_advance(struct tracecmd *t, struct tracecmd_reader *r, struct error *e)
{
	int got = cpu_data_next(&r->data, &r->record, e);

	if (__builtin_expect(got <= 0, 0)) {
		r->due.time = UINT64_MAX;
		/* there is no record to write the gaps before */
		return got < 0 ? -1 : report_missing(t, r);
	}
	r->due.time = tracecmd_time(t, r->cpu, r->record.time);
	return 0;
}

/* Write all events of one reader that are before time and rank. */
static int run_reader(struct tracecmd *t, struct tracecmd_reader *r, uint64_t time, uint32_t rank,
		      struct error *e)
{
	if (r->text) {
		while (r->due.time < time ||
		       (r->due.time == time && r->due.rank < rank && time != UINT64_MAX))
			if ((r->data.damaged && report_missing(t, r)) ||
			    tracecmd_text_next(t, r, e))
				return -1;
		return r->due.time == UINT64_MAX && r->data.damaged ? report_missing(t, r) : 0;
	}
	while (r->due.time < time ||
	       (r->due.time == time && r->due.rank < rank && time != UINT64_MAX)) {
		if (__builtin_expect(r->data.damaged || r->data.missed, 0) && report_missing(t, r))
			return -1;
		if (tracecmd_emit(t, r) || reader_advance(t, r, e))
			return -1;
	}
	return 0;
}

static void set_next(struct tracecmd *t)
{
	t->input->next = t->heap.count ? t->heap.items[0]->time : UINT64_MAX;
}

static int tracecmd_run(struct input *in, uint64_t until, struct error *e)
{
	struct tracecmd *t = in->state;
	uint64_t limit = until;

	tracecmd_skip(t);
	while (t->heap.count) {
		struct tracecmd_reader *first = (struct tracecmd_reader *)t->heap.items[0];
		const struct heap_item *second = heap_second(&t->heap);
		uint64_t time = UINT64_MAX;
		uint32_t rank = UINT32_MAX;

		if (first->due.time > limit)
			break;
		if (second) {
			time = second->time;
			rank = second->rank;
		}
		if (limit < time) {
			time = limit;
			rank = UINT32_MAX;
		}
		if (run_reader(t, first, time, rank, e))
			return -1;
		heap_settle(&t->heap);
	}
	set_next(t);
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct tracecmd_row *x = a, *y = b;

	return x->cpu != y->cpu ? (x->cpu > y->cpu) - (x->cpu < y->cpu)
				: (x->offset > y->offset) - (x->offset < y->offset);
}

static struct tracecmd_reader *add_reader(struct tracecmd *t, const struct tracecmd_buffer *b)
{
	struct tracecmd_reader *r = &t->readers[t->nreaders];

	r->due.rank = (uint32_t)t->nreaders++;
	r->buffer = b;
	r->buffer_name = writer_text(t->w, b->name);
	r->data.file = &t->h.file;
	r->data.unpacker = b->chunks ? &t->h.unpacker : NULL;
	r->data.packed = &t->packed;
	r->data.layout = t->layout;
	return r;
}

static int begin_buffer(struct tracecmd *t, struct tracecmd_buffer *b, uint32_t read_ahead,
			struct error *e)
{
	struct tracecmd_reader *r;

	if (b->text) {
		r = add_reader(t, b);
		return tracecmd_text_begin(t, r, e);
	}
	if (b->nrows)
		qsort(b->rows, b->nrows, sizeof *b->rows, by_cpu);
	for (size_t i = 0; i < b->nrows; i++) {
		const struct tracecmd_row *row = &b->rows[i];
		uint64_t size;

		if (i && row->cpu == row[-1].cpu) {
			input_damage(t->input, t->h.file.name, row->offset,
				     "CPU %u is listed twice", row->cpu);
			continue;
		}
		r = add_reader(t, b);
		r->cpu = row->cpu;
		/* in some versions the size of compressed data does not include its first word */
		size = row->size + (b->chunks ? 4 : 0);
		if (size > t->h.file.size - row->offset)
			size = t->h.file.size - row->offset;
		cpu_data_begin(&r->data, row->offset, size, b->page_size, read_ahead);
		if (reader_advance(t, r, e))
			return -1;
	}
	return 0;
}

static int begin_readers(struct tracecmd *t, struct error *e)
{
	size_t n = 0;
	uint32_t each;

	for (size_t i = 0; i < t->h.nbuffers; i++)
		n += t->h.buffers[i].nrows + t->h.buffers[i].text;
	t->readers = calloc(n + 1, sizeof *t->readers);
	t->heap.items = calloc(n + 1, sizeof *t->heap.items);
	if (!t->readers || !t->heap.items)
		return error_no_memory(e);
	each = n ? (uint32_t)(READ_AHEAD / n) : READ_AHEAD_EACH;
	if (each > READ_AHEAD_EACH)
		each = READ_AHEAD_EACH;
	for (size_t i = 0; i < t->h.nbuffers; i++)
		if (begin_buffer(t, &t->h.buffers[i], each, e))
			return -1;
	for (size_t i = 0; i < t->nreaders; i++)
		if (t->readers[i].due.time != UINT64_MAX)
			t->heap.items[t->heap.count++] = &t->readers[i].due;
	heap_build(&t->heap);
	return 0;
}

/* Return the time of the first event, shifted only as the trace requires. */
static uint64_t first_time(const struct tracecmd *t)
{
	const struct tracecmd_reader *r = (const struct tracecmd_reader *)t->heap.items[0];
	struct tracecmd own = *t;

	own.shift = (int64_t)((uint64_t)t->shift - (uint64_t)t->input->shift);
	return r->text ? tracecmd_text_time(&own, r) : tracecmd_time(&own, r->cpu, r->record.time);
}

static int tracecmd_begin(struct input *in, struct error *e)
{
	struct tracecmd *t = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	t->shift = (int64_t)((uint64_t)t->shift + (uint64_t)in->shift);
	if (tracecmd_declare(t) || tracecmd_announce_types(t) || begin_readers(t, e))
		return -1;
	return t->heap.count ? merge_first(in, first_time(t), e) : 0;
}

static void tracecmd_close(struct input *in)
{
	struct tracecmd *t = in->state;

	if (!t)
		return;
	if (!in->decoding->quiet)
		warn_count(in->name, t->unknown,
			   "{event is of a type|events are of types} whose format the trace does "
			   "not have");
	for (size_t i = 0; i < t->nreaders; i++) {
		idmap_free(&t->readers[i].lanes);
		idmap_free(&t->readers[i].named);
		cpu_data_free(&t->readers[i].data);
		tracecmd_text_free(&t->readers[i]);
	}
	free(t->readers);
	free(t->heap.items);
	idmap_free(&t->comms);
	idmap_free(&t->learned);
	idmap_free(&t->spaces);
	buffer_free(&t->frames);
	ftrace_events_free(&t->events);
	buffer_free(&t->packed);
	tracecmd_header_free(&t->h);
	free(t);
	in->state = NULL;
}

const struct decoder decoder_tracecmd = {
	.name = "trace-cmd",
	.in_order = true,
	.raw_clock = true,
	.probe = tracecmd_probe,
	.open = tracecmd_open,
	.fingerprint = tracecmd_fingerprint,
	.info = tracecmd_info,
	.begin = tracecmd_begin,
	.late = tracecmd_late,
	.run = tracecmd_run,
	.close = tracecmd_close,
};

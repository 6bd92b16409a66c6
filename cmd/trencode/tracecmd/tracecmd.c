/*
 * tracecmd.c - the encoder of trace-cmd's trace.dat, versions 6 and 7
 *
 * The input is the stream of a trace.dat, filtered or not. Texts, formats and options are the
 * source's; the pages of the ring buffers are written again.
 */
#include "cmd/trencode/tracecmd/tracecmd.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/formats/tracecmd.h"
#include "common/stream/field.h"

enum { PART_LIMIT = 1 << 30, TEXT_PIECE = 40 * 1024 };

static const char *const part_names[PARTS] = {
	[PART_FILE] = "file",
	[PART_BUFFERS] = "buffers",
	[PART_HEADER_PAGE] = "header_page",
	[PART_HEADER_EVENT] = "header_event",
	[PART_KALLSYMS] = "kallsyms",
	[PART_PRINTK] = "printk_formats",
	[PART_CMDLINES] = "saved_cmdlines",
	[PART_OPTIONS] = "options",
	[PART_FORMATS] = "formats",
	[PART_BTF] = "btf",
	[PART_MODULES] = "modules",
};

static int tracecmd_begin(struct encoding *en, struct error *e)
{
	const struct pack_choice *c = &en->options->compress;
	struct tracecmd_state *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	en->state = s;
	s->streams.element = sizeof(struct tracecmd_stream);
	s->spool.fd = -1;
	s->spool.packer = &s->packer;
	if (c->given && c->kind != PACK_NONE && c->kind != PACK_ZLIB && c->kind != PACK_ZSTD)
		return error_set(e, NULL, NO_OFFSET,
				 "a trace.dat is compressed with zlib or zstd, or not (none)");
	if (en->options->file_version && en->options->file_version < 6)
		return error_set(e, NULL, NO_OFFSET, "--file-version of a trace.dat is 6 or 7");
	if (en->options->file_version == 6 && c->given && c->kind != PACK_NONE)
		return error_set(e, NULL, NO_OFFSET,
				 "version 6 of trace.dat is never compressed (--compress)");
	return 0;
}

static int check_source(struct tracecmd_state *s, const struct source *source, struct error *e)
{
	if (source == s->source && source)
		return 0;
	if (!source || strcmp(source->format.text, "trace-cmd") != 0)
		return error_set(e, source ? source->name.text : NULL, NO_OFFSET,
				 "events of %s follow events of a trace.dat: --resynthesize writes "
				 "one trace.dat of both",
				 source ? source->format.text : "an unknown source");
	if (s->source)
		return error_set(e, source->name.text, NO_OFFSET,
				 "several traces with different event ids cannot be written as one "
				 "trace.dat: use --resynthesize");
	s->source = source;
	return 0;
}

static int tracecmd_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct tracecmd_state *s = en->state;
	const struct source *source =
		m->source ? pool_at(&en->dictionary->sources, m->source) : NULL;
	size_t i = 0;

	if (!source)
		return 0;
	if (source != s->source && check_source(s, source, e))
		return -1;
	if (s->begun)
		return 0;
	while (i < PARTS && (strlen(part_names[i]) != m->name_size ||
			     memcmp(part_names[i], m->name, m->name_size) != 0))
		i++;
	if (i == PARTS)
		return 0;
	if (!m->offset)
		s->parts[i].size = 0;
	if (m->offset != s->parts[i].size || !m->size)
		return 0;
	if (m->size > PART_LIMIT - s->parts[i].size)
		return error_set(e, source->name.text, NO_OFFSET, "'%s' of the trace is too large",
				 part_names[i]);
	return buffer_append(&s->parts[i], m->data, m->size) ? error_no_memory(e) : 0;
}

/* --- events --- */

static uint32_t page_size_of(const struct tracecmd_state *s, uint32_t buffer)
{
	return s->version == 6 ? s->page_size : s->buffers[buffer].page_size;
}

static int put_pages(void *context, const void *pages, size_t n, struct error *e)
{
	struct tracecmd_stream *x = context;

	return tracecmd_spool_add(x->spool, &x->pieces, pages, n, e);
}

static struct tracecmd_stream *new_stream(struct tracecmd_state *s, const struct lane *lane,
					  bool text)
{
	struct {
		uint32_t buffer, cpu, text;
	} key = {0};
	struct tracecmd_stream *x;
	uint32_t number;

	key.buffer = tracecmd_buffer_number(s, lane->buffer.text,
					    lane->clock ? lane->clock->name.text : "");
	key.cpu = lane->flags & LANE_HAS_CPU && !text ? (uint32_t)lane->cpu : 0;
	key.text = text;
	if (key.buffer == INTERN_NONE)
		return NULL;
	number = intern(&s->keys, &key, sizeof key);
	if (number == INTERN_NONE)
		return NULL;
	if (number < s->streams.count)
		return pool_at(&s->streams, number);
	x = pool_add(&s->streams);
	if (!x)
		return NULL;
	x->buffer = key.buffer;
	x->cpu = key.cpu;
	x->text = text;
	x->spool = &s->spool;
	x->pages.put = put_pages;
	x->pages.context = x;
	x->pages.layout = (struct tracecmd_page_layout){
		s->big_endian, s->source->word_size == 4 ? 4 : 8, page_size_of(s, key.buffer)};
	return x;
}

static int stream_of(struct tracecmd_state *s, const struct lane *lane, bool text,
		     struct tracecmd_stream **out, struct error *e)
{
	struct tracecmd_stream **at;

	if (ARRAY_REACH(s->lanes, s->lanes_size, lane->number))
		return error_no_memory(e);
	at = text ? &s->lanes[lane->number].text : &s->lanes[lane->number].data;
	if (!*at) {
		*at = new_stream(s, lane, text);
		if (!*at)
			return s->nbuffers < TRACECMD_BUFFERS_MOST
				       ? error_no_memory(e)
				       : error_set(e, NULL, NO_OFFSET,
						   "a trace.dat of more than %d buffers",
						   TRACECMD_BUFFERS_MOST);
	}
	*out = *at;
	return 0;
}

/* Test whether the lane has a CPU whose number keeps the tables of CPUs small. */
static bool has_cpu(const struct lane *lane)
{
	return lane->flags & LANE_HAS_CPU && (uint32_t)lane->cpu < TRACECMD_CPUS_MOST;
}

/* Test whether the events are lines of a latency trace, which have no id. */
static bool is_line(const struct type *t)
{
	return !t->native && !t->declaration.size && tracecmd_is_text(t->name.text) &&
	       !strcmp(t->group.text, "ftrace");
}

static int take_line(struct tracecmd_state *s, const struct event *ev, struct error *e)
{
	struct tracecmd_stream *x;
	struct buffer *b;

	if (stream_of(s, ev->lane, true, &x, e))
		return -1;
	b = &x->pages.data;
	if ((ev->tail_size && buffer_append(b, ev->tail, ev->tail_size)) || buffer_u8(b, '\n'))
		return error_no_memory(e);
	if (b->size < TEXT_PIECE)
		return 0;
	if (tracecmd_spool_add(&s->spool, &x->pieces, b->data, b->size, e))
		return -1;
	b->size = 0;
	return 0;
}

/* Return the time in the ring buffer. The output keeps the options that readers apply to it. */
static uint64_t raw_time(const struct tracecmd_state *s, const struct event *ev)
{
	const struct type *t = ev->type;

	if (t->fixed_size >= 8 && t->nfields && t->fields[0].role == ROLE_SOURCE_TIME &&
	    t->fields[0].where == WHERE_FIXED && t->fields[0].size == 8 && !t->fields[0].offset)
		return get_u64(ev->fixed);
	return ev->time - (uint64_t)s->time_added;
}

static int take_gap(struct tracecmd_state *s, const struct event *ev, struct error *e)
{
	struct tracecmd_stream *x;
	struct gap_row g;

	if (!gap_get(ev, &g) || !has_cpu(ev->lane))
		return 0;
	if (stream_of(s, ev->lane, false, &x, e))
		return -1;
	if (!x->pages.open && !x->pieces.count && !x->pages.data.size)
		x->pages.time = ev->time - (uint64_t)s->time_added;
	return tracecmd_pages_lost(&x->pages, g.unit == GAP_EVENTS ? g.count : UINT64_MAX, e);
}

static int tracecmd_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct tracecmd_state *s = en->state;
	struct tracecmd_stream *x;
	int got;

	if (ev->lane->source != s->source && check_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && tracecmd_take_source(s, en->options, e))
		return -1;
	if (__builtin_expect(ev->type->kind == KIND_GAP, 0))
		return take_gap(s, ev, e);
	if (__builtin_expect(!ev->type->native, 0) && is_line(ev->type))
		return take_line(s, ev, e);
	if (!ev->tail_size || !has_cpu(ev->lane)) {
		s->unfit++;
		return 0;
	}
	if (stream_of(s, ev->lane, false, &x, e))
		return -1;
	got = tracecmd_pages_record(&x->pages, raw_time(s, ev), ev->tail, ev->tail_size, e);
	s->unfit += got > 0;
	return got < 0 ? -1 : 0;
}

/* --- the end --- */

static int by_buffer_and_cpu(const void *a, const void *b)
{
	const struct tracecmd_stream *x = *(struct tracecmd_stream *const *)a,
				     *y = *(struct tracecmd_stream *const *)b;

	return x->buffer != y->buffer ? (x->buffer > y->buffer) - (x->buffer < y->buffer)
				      : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Move the remaining data to the spool, and sort the streams in the order of the file. */
static int finish_streams(struct tracecmd_state *s, struct error *e)
{
	uint64_t mixed = 0;
	size_t n = 0;

	s->order = calloc(s->streams.count + (size_t)1, sizeof *s->order);
	if (!s->order)
		return error_no_memory(e);
	for (uint32_t i = 0; i < s->streams.count; i++) {
		struct tracecmd_stream *x = pool_at(&s->streams, i);
		struct buffer *b = &x->pages.data;

		if (!x->text ? tracecmd_pages_end(&x->pages, e)
			     : b->size && tracecmd_spool_add(&s->spool, &x->pieces, b->data,
							     b->size, e))
			return -1;
		buffer_free(b);
		if (x->text)
			s->buffers[x->buffer].text = true;
	}
	for (uint32_t i = 0; i < s->streams.count; i++) {
		struct tracecmd_stream *x = pool_at(&s->streams, i);

		/* a buffer has either text or data */
		if (x->text == s->buffers[x->buffer].text && x->pieces.count)
			s->order[n++] = x;
		else
			mixed += x->pieces.count > 0;
	}
	if (mixed)
		remark(NULL, "events beside the text of a latency trace are left out");
	qsort(s->order, n, sizeof(struct tracecmd_stream *), by_buffer_and_cpu);
	for (size_t i = 0; i < n; i++) {
		struct tracecmd_buffer *b = &s->buffers[s->order[i]->buffer];

		if (!b->count++)
			b->first = i;
		if (s->order[i]->cpu >= s->cpus)
			s->cpus = s->order[i]->cpu + 1;
	}
	return 0;
}

static uint64_t tracecmd_size(const struct encoding *en)
{
	const struct tracecmd_state *s = en->state;
	uint64_t size = s->spool.size;

	for (uint32_t i = 0; i < s->streams.count; i++)
		size += ((const struct tracecmd_stream *)pool_at(&s->streams, i))->pages.data.size;
	return size;
}

static int tracecmd_end(struct encoding *en, struct error *e)
{
	struct tracecmd_state *s = en->state;

	if (!s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "the stream has no events of a trace.dat: nothing to write");
	if (!s->begun && tracecmd_take_source(s, en->options, e))
		return -1;
	if (finish_streams(s, e) || tracecmd_write(s, en->out, e))
		return -1;
	for (size_t i = 0; i < s->nbuffers && s->offset_added && !en->options->quiet; i++)
		if (s->buffers[i].text) {
			remark(NULL,
			       "the offset of %" PRId64
			       " ns is not applied to a latency trace, which is text",
			       s->offset_added);
			break;
		}
	if (!en->options->quiet)
		remark_count(s->unfit,
			     "{event that a trace.dat cannot contain is|events that a trace.dat "
			     "cannot contain are} left out");
	return 0;
}

static void tracecmd_free(struct encoding *en)
{
	struct tracecmd_state *s = en->state;

	if (!s)
		return;
	for (size_t i = 0; i < PARTS; i++)
		buffer_free(&s->parts[i]);
	for (size_t i = 0; i < s->nbuffers; i++) {
		free(s->buffers[i].name);
		free(s->buffers[i].clock);
	}
	for (uint32_t i = 0; i < s->streams.count; i++) {
		struct tracecmd_stream *x = pool_at(&s->streams, i);

		buffer_free(&x->pages.data);
	}
	free(s->buffers);
	pool_free(&s->streams);
	intern_free(&s->keys);
	free(s->order);
	free(s->lanes);
	tracecmd_spool_close(&s->spool);
	tracecmd_packer_free(&s->packer);
	free(s);
}

const struct encoder encoder_tracecmd = {
	.name = "trace-cmd",
	.purpose = "a trace.dat of trace-cmd",
	.suffixes = ".dat",
	.conversion = &tracecmd_target,
	.needs_meta = true,
	.output = ENCODER_FILE,
	.begin = tracecmd_begin,
	.meta = tracecmd_meta,
	.event = tracecmd_event,
	.end = tracecmd_end,
	.size = tracecmd_size,
	.free = tracecmd_free,
};

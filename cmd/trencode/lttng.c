/*
 * lttng.c - LTTng 0.x
 */
#include "cmd/trencode/lttng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/tree_output.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/formats.h"
#include "common/formats/lttng.h"
#include "common/stream/field.h"
#include "common/util/intern.h"
#include "common/util/lines.h"

/*
 * The encoder of legacy LTTng traces: what its files share.
 *
 * The output is version 2.6, packed, little-endian: one tracefile for each channel and CPU.
 * Functions that return int return 0, or -1: with *e filled where they take it, else out of memory.
 */

/* One tracefile being written. */
struct lttng_tracefile {
	uint32_t member;
	struct buffer block;	 /* the open block with its header; empty: none is open */
	uint64_t begin, last;	 /* TSC of the block's first and last event */
	uint32_t lost, reported; /* lost events; those that the last block reported */
	bool any;
};

/* How one field of an event is written. */
struct lttng_item {
	uint8_t from, to; /* bytes in the row and in the trace; to 0: a text */
	bool is_signed, network;
	uint32_t offset; /* in the fixed part */
};

/* How the events of a type are written, and their id in the channel that used the type last. */
struct lttng_written {
	uint32_t channel, id; /* channel: number + 1; 0: none yet */
	struct buffer format; /* as announced */
	struct lttng_sizes sizes;
	struct lttng_item *items;
	uint32_t count;
	int32_t tsc; /* offset of the TSC in the fixed part; -1: none */
	bool core;   /* a marker of the tracer itself, which the encoder writes again */
};

enum {
	SECOND = 1000000000,
	BLOCK_MOST = 64 * 1024,
	BLOCKS = 4 << 20,
	META_MOST = 64 * 1024,
	IDS = 65536
};

/* One channel, with its markers. */
struct channel {
	uint32_t name;		     /* number in lttng_encoder.names */
	struct intern kinds;	     /* marker and format: the number is the event id */
	struct unique_names markers; /* their names: in a channel a name has one format */
};

/* The state of the encoder. */
struct lttng_encoder {
	struct tree_output tree;
	const struct source *source;
	struct buffer meta, payload, text;
	/* what the header of every block records about the trace */
	struct {
		uint64_t frequency, scale, start_tsc; /* of the TSC; frequency in Hz */
		uint64_t seconds, microseconds;	      /* wall time at start_tsc */
		uint8_t word_size;
	} constants;
	bool begun;
	struct intern names; /* of channels */
	struct channel *channels;
	size_t channels_capacity, nchannels;
	struct intern file_names;
	struct lttng_tracefile *files; /* number 0: metadata_0 */
	size_t files_capacity, nfiles;
	uint32_t metadata;
	uint64_t first;		      /* least TSC of announcements */
	struct lttng_written **types; /* by number */
	size_t ntypes;
	struct {
		uint32_t channel, file; /* number + 1; 0: not yet known */
	} * lanes;			/* by number */
	size_t lanes_size;
	size_t limit; /* bytes of a block */
	uint64_t gaps, unfit;
};

/* --- blocks --- */

enum { MAJOR = 2, MINOR = 6 };

/* Begin a block at a TSC. */
static int lttng_block_begin(struct lttng_tracefile *t, uint64_t tsc)
{
	t->begin = t->last = tsc;
	t->any = true;
	return buffer_zero(&t->block, LTTNG_HEADER_2);
}

/* Write the open block, if there is one. */
static int lttng_block_end(struct lttng_encoder *s, struct lttng_tracefile *t, struct error *e)
{
	uint32_t used = (uint32_t)t->block.size;
	uint8_t *h;

	if (!used)
		return 0;
	if (buffer_align(&t->block, LTTNG_PAGE))
		return error_no_memory(e);
	h = t->block.data;
	put_u64(h, t->begin);
	put_u64(h + 8, t->last);
	put_u32(h + LTTNG_MAGIC_2, LTTNG_MAGIC);
	h[20] = MAJOR;
	h[21] = MINOR;
	h[22] = s->constants.word_size;
	h[23] = 0; /* packed */
	put_u64(h + 24, s->constants.seconds);
	put_u64(h + 32, s->constants.microseconds);
	put_u64(h + 40, s->constants.frequency);
	put_u32(h + 48, (uint32_t)s->constants.scale);
	put_u32(h + 52, used);
	put_u32(h + 56, (uint32_t)t->block.size);
	put_u32(h + 60, t->lost);
	put_u32(h + 64, 0);
	if (tree_output_put(&s->tree, t->member, t->block.data, t->block.size, e))
		return -1;
	t->block.size = 0;
	t->reported = t->lost;
	return tree_output_settle(&s->tree, t->member, e);
}

/* Append an event. A block that would exceed its limit is written before. */
static int lttng_block_event(struct lttng_encoder *s, struct lttng_tracefile *t, uint32_t id,
			     uint64_t tsc, const struct buffer *payload, struct error *e)
{
	uint8_t h[24];
	size_t n = 4, limit = t == &s->files[s->metadata] ? BLOCK_MOST : s->limit;
	uint32_t size = (uint32_t)payload->size;
	uint32_t code = id < LTTNG_ID_FULL_TIME ? id : LTTNG_ID_WIDE;

	/* a clock that steps back needs a block of its own */
	if (t->block.size && (t->block.size + size + sizeof h > limit || tsc < t->last) &&
	    lttng_block_end(s, t, e))
		return -1;
	if (!t->block.size && lttng_block_begin(t, tsc))
		goto no_memory;
	if (tsc - t->last >= 1u << LTTNG_TIME_BITS)
		code = LTTNG_ID_FULL_TIME;
	put_u32(h, code << LTTNG_TIME_BITS | (uint32_t)(tsc & ((1u << LTTNG_TIME_BITS) - 1)));
	if (code >= LTTNG_ID_FULL_TIME) {
		put_u16(h + n, (uint16_t)id);
		n += 2;
	}
	if (code == LTTNG_ID_FULL_TIME) {
		put_u16(h + n, size < LTTNG_SIZE_WIDE ? (uint16_t)size : LTTNG_SIZE_WIDE);
		n += 2;
		if (size >= LTTNG_SIZE_WIDE) {
			put_u32(h + n, size);
			n += 4;
		}
		put_u64(h + n, tsc);
		n += 8;
	}
	t->last = tsc;
	if (!buffer_append(&t->block, h, n) && !buffer_append(&t->block, payload->data, size))
		return 0;
no_memory:
	return error_no_memory(e);
}

/*
 * Markers of the output: their formats, and payloads that match the formats.
 *
 * The source's format is announced unchanged if it describes the same fields to a reader of 2.6;
 * values then take as many bytes as the format requires. Otherwise (pointers of another size,
 * values of a compact channel) a new format records the size of every field.
 */

static bool is_core(const struct type *t)
{
	static const char *const names[] = {"core_marker_id", "core_marker_format",
					    "core_heartbeat_32", "core_heartbeat_64"};

	if (t->group.size && strcmp(t->group.text, "metadata"))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(t->name.text, names[i]))
			return true;
	return false;
}

static bool is_stored(const struct field *f)
{
	if (f->role == ROLE_SOURCE_TIME)
		return false;
	if (f->kind == FIELD_STRING)
		return f->where == WHERE_REST || f->where == WHERE_STRING;
	return f->where == WHERE_FIXED && f->count <= 1 &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

/* Test whether the source's format, read as 2.6 does, gives these fields at least their sizes. */
static bool format_is_kept(const struct lttng_field *parsed, int n, const struct lttng_written *w)
{
	if (n < 0 || (uint32_t)n != w->count)
		return false;
	for (int i = 0; i < n; i++)
		if (parsed[i].compact || !parsed[i].size != !w->items[i].to ||
		    parsed[i].size < w->items[i].from)
			return false;
	return true;
}

static int marker_make_format(struct lttng_written *w, const struct type *t)
{
	uint32_t at = 0;

	w->format.size = 0;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];
		const char *percent = memchr(f->type_name.text, '%', f->type_name.size);
		int literal = percent ? (int)(percent - f->type_name.text) : 0;
		char conversion = percent && percent[1] ? percent[1] : 'u';

		if (!is_stored(f))
			continue;
		/* a format separates names by these characters */
		for (uint32_t k = 0; k < f->name.size; k++)
			if (buffer_u8(&w->format, f->name.text[k] == ' ' ||
								  f->name.text[k] == '%' ||
								  f->name.text[k] == '#'
							  ? '_'
							  : (uint8_t)f->name.text[k]))
				return -1;
		if (f->kind == FIELD_STRING
			    ? buffer_printf(&w->format, " %%s ")
			    : buffer_printf(&w->format, " #%s%u%c%.*s%%%s%c ",
					    w->items[at].network ? "n" : "", f->size,
					    f->kind == FIELD_INT ? 'd' : 'u', literal,
					    f->type_name.text, f->size == 8 ? "ll" : "",
					    conversion))
			return -1;
		w->items[at].to = f->kind == FIELD_STRING ? 0 : (uint8_t)f->size;
		at++;
	}
	/* without the last space */
	if (w->format.size)
		w->format.size--;
	return 0;
}

static void lttng_written_free(struct lttng_written *w)
{
	if (!w)
		return;
	buffer_free(&w->format);
	free(w->items);
	free(w);
}

/* Decide how the events of a type are written. NULL: out of memory. */
static struct lttng_written *lttng_written_new(const struct type *t)
{
	struct lttng_field parsed[LTTNG_FIELDS];
	struct lttng_written *w = calloc(1, sizeof *w);
	uint8_t word = t->word_size == 4 ? 4 : 8;
	int n;

	if (!w || !(w->items = calloc(t->nfields + 1, sizeof *w->items)))
		goto failed;
	w->tsc = -1;
	w->core = is_core(t);
	w->sizes = (struct lttng_sizes){4, word, word, word};
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		if (f->role == ROLE_SOURCE_TIME && f->where == WHERE_FIXED && f->size == 8)
			w->tsc = (int32_t)f->offset;
		if (!is_stored(f))
			continue;
		w->items[w->count++] =
			(struct lttng_item){.from = f->kind == FIELD_STRING ? 0 : (uint8_t)f->size,
					    .to = f->kind == FIELD_STRING ? 0 : (uint8_t)f->size,
					    .is_signed = f->kind == FIELD_INT,
					    .offset = f->offset};
	}
	n = lttng_format_parse(t->declaration.text, t->declaration.size, &w->sizes, true, parsed,
			       LTTNG_FIELDS);
	for (int i = 0; i < n && (uint32_t)i < w->count; i++)
		w->items[i].network = parsed[i].network;
	if (!format_is_kept(parsed, n, w)) {
		if (marker_make_format(w, t))
			goto failed;
		return w;
	}
	for (int i = 0; i < n; i++)
		w->items[i].to = parsed[i].size;
	if (buffer_append(&w->format, t->declaration.text, t->declaration.size))
		goto failed;
	return w;
failed:
	lttng_written_free(w);
	return NULL;
}

/* Fill payload with that of an event. */
static int lttng_written_payload(const struct lttng_written *w, const struct event *ev,
				 struct buffer *payload)
{
	const uint8_t *tail = ev->tail, *end = tail ? tail + ev->tail_size : NULL, *nul;

	payload->size = 0;
	for (uint32_t i = 0; i < w->count; i++) {
		const struct lttng_item *item = &w->items[i];
		uint8_t bytes[8];
		uint64_t v;

		if (!item->to) {
			nul = tail < end ? memchr(tail, 0, (size_t)(end - tail)) : NULL;
			if ((tail < end &&
			     buffer_append(payload, tail, (size_t)((nul ? nul : end) - tail))) ||
			    buffer_u8(payload, 0))
				return -1;
			tail = nul ? nul + 1 : end;
			continue;
		}
		v = get_uint(ev->fixed + item->offset, item->from, false);
		if (item->is_signed)
			v = (uint64_t)sign_extend(v, item->from);
		if (item->network)
			v = __builtin_bswap64(v) >> (64 - 8 * item->to);
		put_u64(bytes, v);
		if (buffer_append(payload, bytes, item->to))
			return -1;
	}
	return 0;
}

/*
 * Write an LTTng trace (2.6) from the stream of an LTTng trace.
 *
 * The tracer's own events are written again: each marker is announced in metadata_0 before the
 * channel's first event of it. Heartbeats are left out, as 2.6 does not need them. The counters of
 * the blocks report events that the recorder lost; the format cannot express other gaps, which are
 * counted.
 */

static int encode_lttng_begin(struct encoding *en, struct error *e)
{
	struct lttng_encoder *s = calloc(1, sizeof *s);
	uint32_t number;

	if (!s)
		return error_no_memory(e);
	en->state = s;
	if (tree_output_open(&s->tree, en->options->output, "lttng.trace", e))
		return -1;
	/* the first member is moved to its path last: without metadata_0 there is no trace */
	return tree_output_member(&s->tree, "metadata_0", 10, &number, e);
}

static int lttng_check_source(struct lttng_encoder *s, const struct source *source, struct error *e)
{
	if (source == s->source && source)
		return 0;
	if (!source || strcmp(source->format.text, "lttng") != 0)
		return error_set(e, source ? source->name.text : NULL, NO_OFFSET,
				 "events of %s follow events of an LTTng trace: --resynthesize "
				 "writes one trace of both",
				 source ? source->format.text : "an unknown source");
	if (s->source)
		return error_set(e, source->name.text, NO_OFFSET,
				 "several traces with different clocks cannot be written as one: "
				 "use --resynthesize");
	s->source = source;
	return 0;
}

static int lttng_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct lttng_encoder *s = en->state;
	const struct source *source = meta_source(en->dictionary, m);

	if (!meta_is(m, "lttng.trace") || s->begun)
		return 0;
	if (lttng_check_source(s, source, e))
		return -1;
	if (m->offset == s->meta.size && m->size <= META_MOST &&
	    buffer_append(&s->meta, m->data, m->size))
		return error_no_memory(e);
	return 0;
}

/* --- tracefiles --- */

static int file_of(struct lttng_encoder *s, const char *name, size_t n, int32_t cpu,
		   uint32_t *number, struct error *e)
{
	struct lttng_tracefile *f;
	char path[300];
	int size =
		snprintf(path, sizeof path, "%.*s_%" PRId32, (int)(n < 240 ? n : 240), name, cpu);

	*number = intern(&s->file_names, path, (size_t)size);
	if (*number == INTERN_NONE)
		return error_no_memory(e);
	if (*number < s->nfiles)
		return 0;
	if (ARRAY_GROW(s->files, s->files_capacity, s->nfiles))
		return error_no_memory(e);
	f = &s->files[s->nfiles];
	*f = (struct lttng_tracefile){0};
	if (tree_output_member(&s->tree, path, (size_t)size, &f->member, e))
		return -1;
	s->nfiles++;
	s->limit = BLOCKS / s->nfiles;
	s->limit = s->limit > BLOCK_MOST   ? BLOCK_MOST
		   : s->limit < LTTNG_PAGE ? LTTNG_PAGE
					   : s->limit;
	return 0;
}

static int channel_of(struct lttng_encoder *s, const char *name, size_t n, uint32_t *number,
		      struct error *e)
{
	*number = intern(&s->names, name, n);
	if (*number == INTERN_NONE)
		return error_no_memory(e);
	if (*number < s->nchannels)
		return 0;
	if (ARRAY_GROW(s->channels, s->channels_capacity, s->nchannels))
		return error_no_memory(e);
	s->channels[s->nchannels++] = (struct channel){.name = *number};
	return 0;
}

/* Set the channel and the tracefile of a lane: "control/interrupts" of CPU 0 becomes interrupts_0.
 */
static int lttng_find_lane(struct lttng_encoder *s, const struct lane *lane, struct error *e)
{
	const char *name = lane->buffer.text, *slash;
	size_t n = lane->buffer.size;
	uint32_t file, channel;
	int32_t cpu = lane->flags & LANE_HAS_CPU ? lane->cpu : 0;

	if (ARRAY_REACH(s->lanes, s->lanes_size, lane->number))
		return error_no_memory(e);
	if (s->lanes[lane->number].file)
		return 0;
	slash = memrchr(name, '/', n);
	if (slash) {
		n -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	if (n > 7 && !memcmp(name, "flight-", 7)) {
		/* version 1.0 has this prefix in names of the same channels */
		name += 7;
		n -= 7;
	}
	if (!n || n > 200 || cpu < 0 || !tree_output_name_ok(name, n)) {
		name = "unnamed";
		n = 7;
	}
	if (n == 8 && !memcmp(name, "metadata", 8)) {
		/* metadata_0 is for the encoder's announcements */
		name = "metadata_other";
		n = 14;
	}
	if (channel_of(s, name, n, &channel, e) || file_of(s, name, n, cpu < 0 ? 0 : cpu, &file, e))
		return -1;
	s->lanes[lane->number].channel = channel + 1;
	s->lanes[lane->number].file = file + 1;
	return 0;
}

/* --- the tracer's own events --- */

static bool number_in(const char *text, const char *name, uint64_t *value)
{
	size_t n;
	const char *p = lines_value(text, strlen(text), name, &n);

	if (p)
		*value = strtoull(p, NULL, 10);
	return p;
}

/* Read what the blocks' headers need, before the first event. */
static int lttng_begin_trace(struct lttng_encoder *s, uint64_t first, struct error *e)
{
	const char *text;

	s->begun = true;
	if (buffer_u8(&s->meta, 0))
		return error_no_memory(e);
	text = (const char *)s->meta.data;
	if (!number_in(text, "start_freq", &s->constants.frequency) ||
	    !number_in(text, "freq_scale", &s->constants.scale) ||
	    !number_in(text, "start_tsc", &s->constants.start_tsc) ||
	    !number_in(text, "start_time_sec", &s->constants.seconds) ||
	    !number_in(text, "start_time_usec", &s->constants.microseconds))
		return error_set(e, s->source ? s->source->name.text : NULL, NO_OFFSET,
				 "the trace's description of its clock (lttng.trace) is "
				 "missing: " WITHOUT_FIRST_SEGMENT);
	s->constants.word_size = s->source->word_size == 8 ? 8 : 4;
	if (file_of(s, "metadata", 8, 0, &s->metadata, e))
		return -1;
	/* readers take the trace's first TSC from here */
	if (lttng_block_begin(&s->files[s->metadata], s->constants.start_tsc))
		return error_no_memory(e);
	/* a clock that starts long before the trace: markers are announced with the first event */
	if (!s->constants.start_tsc && !s->constants.seconds && !s->constants.microseconds &&
	    s->constants.frequency == SECOND)
		s->first = first;
	return 0;
}

static int lttng_announce(struct lttng_encoder *s, uint32_t id, const struct buffer *payload,
			  struct error *e)
{
	struct lttng_tracefile *f = &s->files[s->metadata];

	return lttng_block_event(s, f, id, f->last > s->first ? f->last : s->first, payload, e);
}

static int announce_marker(struct lttng_encoder *s, const char *channel, const char *name,
			   const struct lttng_written *w, struct error *e)
{
	const struct lttng_sizes *z = &w->sizes;
	struct buffer *b = &s->text;

	b->size = 0;
	if (buffer_append(b, channel, strlen(channel) + 1) ||
	    buffer_append(b, name, strlen(name) + 1) || buffer_u8(b, (uint8_t)w->id) ||
	    buffer_u8(b, (uint8_t)(w->id >> 8)) || buffer_u8(b, z->integer) ||
	    buffer_u8(b, z->longer) || buffer_u8(b, z->pointer) || buffer_u8(b, z->size_t_) ||
	    buffer_u8(b, 0))
		return error_no_memory(e);
	if (lttng_announce(s, LTTNG_MARKER_ID, b, e))
		return -1;
	b->size = 0;
	if (buffer_append(b, channel, strlen(channel) + 1) ||
	    buffer_append(b, name, strlen(name) + 1) ||
	    buffer_append(b, w->format.data, w->format.size) || buffer_u8(b, 0))
		return error_no_memory(e);
	return lttng_announce(s, LTTNG_MARKER_FORMAT, b, e);
}

static int announce_core(struct lttng_encoder *s, struct error *e)
{
	static const char id[] = "channel %s name %s event_id %hu int #1u%zu long #1u%zu pointer "
				 "#1u%zu size_t #1u%zu alignment #1u%u",
			  format[] = "channel %s name %s format %s";
	uint8_t word = s->constants.word_size;
	struct lttng_sizes z = {4, word, word, word};
	struct lttng_written ids = {.id = LTTNG_MARKER_ID,
				    .sizes = z,
				    .format = {.data = (uint8_t *)id, .size = sizeof id - 1}},
			     formats = {.id = LTTNG_MARKER_FORMAT,
					.sizes = z,
					.format = {.data = (uint8_t *)format,
						   .size = sizeof format - 1}};

	return announce_marker(s, "metadata", "core_marker_id", &ids, e) ||
			       announce_marker(s, "metadata", "core_marker_format", &formats, e)
		       ? -1
		       : 0;
}

/* --- events --- */

/* Find the id of a type in a channel, and announce the marker when it is new. */
static int number_marker(struct lttng_encoder *s, const struct type *t, struct lttng_written *w,
			 uint32_t channel, struct error *e)
{
	struct channel *c = &s->channels[channel - 1];
	uint32_t had = c->kinds.count, name;

	s->text.size = 0;
	if (buffer_append(&s->text, t->name.text, t->name.size + 1) ||
	    buffer_append(&s->text, &w->sizes, sizeof w->sizes) ||
	    buffer_append(&s->text, w->format.data, w->format.size))
		return error_no_memory(e);
	w->id = intern(&c->kinds, s->text.data, s->text.size);
	if (w->id == INTERN_NONE)
		return error_no_memory(e);
	w->channel = channel;
	if (c->kinds.count == had || w->id >= IDS)
		return 0;
	s->text.size = 0;
	if (buffer_append(&s->text, t->name.text, t->name.size))
		return error_no_memory(e);
	name = unique_name(&c->markers, &s->text, (char[]){LTTNG_ANOTHER, '\0'});
	if (name == INTERN_NONE)
		return error_no_memory(e);
	return announce_marker(s, intern_data(&s->names, c->name),
			       intern_data(&c->markers.names, name), w, e);
}

static int lttng_take_gap(struct lttng_encoder *s, const struct event *ev, struct error *e)
{
	struct lttng_tracefile *f;
	struct gap_row g;

	if (!gap_get(ev, &g) || g.reason != GAP_LOST || g.unit != GAP_EVENTS ||
	    g.count > UINT32_MAX) {
		s->gaps++;
		return 0;
	}
	if (lttng_find_lane(s, ev->lane, e))
		return -1;
	/* the counter grows from one block to the next */
	f = &s->files[s->lanes[ev->lane->number].file - 1];
	if (lttng_block_end(s, f, e))
		return -1;
	f->lost += (uint32_t)g.count;
	return 0;
}

static int encode_lttng_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct lttng_encoder *s = en->state;
	uint32_t channel, type = ev->type->number;
	struct lttng_written *w;

	if (ev->lane->source != s->source && lttng_check_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && (lttng_begin_trace(s, ev->time, e) || announce_core(s, e)))
		return -1;
	if (ev->type->kind == KIND_GAP)
		return lttng_take_gap(s, ev, e);
	if (ARRAY_REACH(s->types, s->ntypes, type) ||
	    (!s->types[type] && !(s->types[type] = lttng_written_new(ev->type))))
		return error_no_memory(e);
	w = s->types[type];
	if (w->core)
		return 0;
	if (w->tsc < 0) {
		s->unfit++;
		return 0;
	}
	if (lttng_find_lane(s, ev->lane, e))
		return -1;
	channel = s->lanes[ev->lane->number].channel;
	if (w->channel != channel && number_marker(s, ev->type, w, channel, e))
		return -1;
	if (w->id >= IDS) {
		s->unfit++;
		return 0;
	}
	if (lttng_written_payload(w, ev, &s->payload))
		return error_no_memory(e);
	return lttng_block_event(s, &s->files[s->lanes[ev->lane->number].file - 1], w->id,
				 get_u64(ev->fixed + w->tsc), &s->payload, e);
}

static int encode_lttng_end(struct encoding *en, struct error *e)
{
	struct lttng_encoder *s = en->state;

	if (!s->source)
		return error_set(e, NULL, NO_OFFSET,
				 "the stream has no events of an LTTng trace: nothing to write");
	if (!s->begun && (lttng_begin_trace(s, 0, e) || announce_core(s, e)))
		return -1;
	for (size_t i = 0; i < s->nfiles; i++) {
		struct lttng_tracefile *f = &s->files[i];

		/* losses after the last block need a block that reports them */
		if (!f->block.size && f->lost != f->reported && lttng_block_begin(f, f->last))
			return error_no_memory(e);
		if (lttng_block_end(s, f, e))
			return -1;
	}
	if (!(en->options->flags & ENCODE_QUIET)) {
		remark_count(s->gaps, "{gap|gaps} cannot be written as lttng");
		remark_count(s->unfit, "{event|events} cannot be written as lttng");
	}
	return tree_output_finish(&s->tree, e);
}

static void lttng_free(struct encoding *en)
{
	struct lttng_encoder *s = en->state;

	if (!s)
		return;
	tree_output_close(&s->tree);
	for (size_t i = 0; i < s->nchannels; i++) {
		intern_free(&s->channels[i].kinds);
		unique_names_free(&s->channels[i].markers);
	}
	for (size_t i = 0; i < s->nfiles; i++)
		buffer_free(&s->files[i].block);
	for (size_t i = 0; i < s->ntypes; i++)
		lttng_written_free(s->types[i]);
	intern_free(&s->names);
	intern_free(&s->file_names);
	buffer_free(&s->meta);
	buffer_free(&s->payload);
	buffer_free(&s->text);
	free(s->channels);
	free(s->files);
	free(s->types);
	free(s->lanes);
	free(s);
}

const struct encoder encoder_lttng = {
	.name = "lttng",
	.purpose = "an LTTng trace directory (2.6), or a tar of it",
	.conversion = &lttng_target,
	.stateful = true,
	.needs_meta = true,
	.deferred = true,
	.output = ENCODER_TREE,
	.begin = encode_lttng_begin,
	.meta = lttng_meta,
	.event = encode_lttng_event,
	.end = encode_lttng_end,
	.free = lttng_free,
};

/* --- types of any source as markers of LTTng --- */

enum { FIELDS_MOST = 200, TYPES_MOST = 60000, NUMBERS_AT = 8 };

static int put_number_format(struct buffer *b, const struct convert_field *w)
{
	return buffer_printf(b, " #%u%c%%%s%c", w->size, w->is_signed ? 'd' : 'u',
			     w->size == 8 ? "ll" : "",
			     w->from->kind == FIELD_HEX ? 'x'
			     : w->is_signed		? 'd'
							: 'u');
}

static int lttng_put_name(struct buffer *b, const struct text_ref *name, uint32_t number)
{
	if (b->size && buffer_u8(b, ' '))
		return -1;
	if (!name->size)
		return buffer_printf(b, "field%u", number + 1);
	return convert_name_escaped(b, name->text, name->size, " %#");
}

/* Append the format of a type as LTTng announces markers. */
static int convert_types_make_format(const struct lttng_converted_type *w, const struct type *t,
				     struct buffer *b)
{
	b->size = 0;
	if (buffer_printf(b, "_tid #4d%%d _pid #4d%%d"))
		return -1;
	if (w->call &&
	    (w->number ? buffer_printf(b, " _call #4u%%u") : buffer_printf(b, " _depth #4u%%u")))
		return -1;
	/* several functions may have the same name */
	if (((w->call || w->location) && buffer_printf(b, " _function #4u%%u")) ||
	    buffer_printf(b, " _order #4u%%u"))
		return -1;
	for (uint32_t i = 0; i < w->nfields; i++)
		if (w->fields[i].size && (lttng_put_name(b, &w->fields[i].from->name, i) ||
					  put_number_format(b, &w->fields[i])))
			return -1;
	if (buffer_printf(b, " _comm %%s"))
		return -1;
	if (w->call && buffer_printf(b, " _%s%s %%s",
				     t->flags & TYPE_PER_CPU  ? "cpu_"
				     : t->flags & TYPE_KERNEL ? "kernel_"
				     : t->flags & TYPE_INNER  ? "inner_"
							      : "",
				     w->leave ? "leave" : "enter"))
		return -1;
	if (w->location && buffer_printf(b, " _at %%s"))
		return -1;
	/* a leave may record arguments that the call changed */
	if (w->values &&
	    buffer_printf(b, w->leave ? " _outputs %%s _return %%s" : " _arguments %%s"))
		return -1;
	for (uint32_t i = 0; i < w->nfields; i++)
		if (!w->fields[i].size &&
		    (lttng_put_name(b, &w->fields[i].from->name, i) || buffer_printf(b, " %%s")))
			return -1;
	return 0;
}

/* Escape '~', after which the native encoder numbers formats of one name. */
static int marker_name(struct target_dictionary *d, const struct type *from, struct text_ref *out)
{
	struct buffer b = {0};
	int result = convert_name_escaped(&b, from->name.text, from->name.size, "~") ||
				     (!b.size && buffer_append(&b, "unnamed", 7))
			     ? -1
			     : 0;

	if (!result)
		*out = target_string(d, b.data, b.size);
	buffer_free(&b);
	return result;
}

/* Name the channel of a type, by which files are named. */
static int channel_name(struct lttng_types *l, struct target_dictionary *d, const struct type *from,
			struct text_ref *out)
{
	struct text_ref name = from->group;
	struct buffer b = {0};
	int result;

	if (!name.size && from->source)
		name = from->source->format;
	if (name.size > 60)
		name.size = 60;
	/* ids of a channel's markers have 16 bits */
	l->count++;
	if (l->count > TYPES_MOST)
		result = buffer_printf(&b, "types%u", l->count / TYPES_MOST);
	else if (name.size)
		result = convert_name_identifier(&b, name.text, name.size);
	else
		result = buffer_append(&b, "trace", 5);
	if (!result && b.size == 8 && !memcmp(b.data, "metadata", 8))
		result = buffer_append(&b, "_x", 2);
	if (!result)
		*out = target_string(d, b.data, b.size);
	buffer_free(&b);
	return result;
}

/* Declare the fields of the target type, in the order in which encode_lttng_put_row writes them. */
static int describe_type(struct target_dictionary *d, const struct lttng_converted_type *w,
			 struct type *t)
{
	uint32_t n = 0, texts = 0, at = NUMBERS_AT, want = w->nfields + 10, all;
	struct field *f = target_fields(d, want), *x;

	if (!f)
		return -1;
	x = &f[n++];
	x->role = ROLE_SOURCE_TIME;
	x->size = 8;
	all = 3 + w->call + (w->call || w->location);
	for (uint32_t i = 0; i < all; i++, at += 4) {
		x = &f[n++];
		x->kind = i < 2 ? FIELD_INT : FIELD_UINT;
		x->offset = at;
		x->size = 4;
	}
	for (uint32_t i = 0; i < w->nfields; i++) {
		if (!w->fields[i].size)
			continue;
		x = &f[n++];
		x->kind = w->fields[i].is_signed ? FIELD_INT : FIELD_UINT;
		x->offset = at;
		x->size = w->fields[i].size;
		at += x->size;
	}
	for (uint32_t i = 0; i < w->nfields; i++)
		texts += !w->fields[i].size;
	texts += 1 + (w->call || w->location) + w->values + (w->values && w->leave);
	for (uint32_t i = 0; i < texts; i++) {
		x = &f[n++];
		x->kind = FIELD_STRING;
		x->where = i ? WHERE_STRING : WHERE_REST;
		x->offset = i;
		x->size = 1;
	}
	t->fixed_size = (uint32_t)align_up(at, 4);
	t->flags = TYPE_TAIL;
	t->fields = f;
	t->nfields = n;
	return 0;
}

static int new_type(struct lttng_types *l, struct target_dictionary *d, const struct type *from,
		    struct lttng_converted_type *w, bool location)
{
	struct type *t = target_type(d, "", "");
	uint64_t lost = 0;

	if (!t || marker_name(d, from, &t->name) || channel_name(l, d, from, &t->group))
		return -1;
	w->call = from->kind == KIND_ENTER || from->kind == KIND_LEAVE;
	w->leave = from->kind == KIND_LEAVE;
	w->number = w->call && from->flags & TYPE_CALL_NUMBER;
	w->values = from->flags & TYPE_VALUES;
	w->location = location;
	w->fields = convert_fields_plan(from, FIELDS_MOST, true, &w->nfields, &lost);
	l->fields_lost += lost;
	if (!w->fields || convert_types_make_format(w, from, &l->text) || describe_type(d, w, t))
		return -1;
	t->declaration = target_string(d, l->text.data, l->text.size);
	w->type = t;
	return 0;
}

int lttng_types_find(struct lttng_types *l, struct target_dictionary *d, const struct event *ev,
		     const struct lttng_converted_type **out)
{
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;
	bool location = ev->location && !call;
	size_t number = 2 * (size_t)ev->type->number + location;

	if (ARRAY_REACH(l->list, l->size, number))
		return -1;
	*out = &l->list[number];
	return l->list[number].type ? 0 : new_type(l, d, ev->type, &l->list[number], location);
}

void lttng_types_free(struct lttng_types *l)
{
	for (size_t i = 0; i < l->size; i++)
		free(l->list[i].fields);
	free(l->list);
	buffer_free(&l->text);
}

/*
 * Convert the events of any source to an LTTng trace (2.6).
 *
 * Every type of event becomes a marker of the channel that its group names. LTTng records the
 * thread of an event only by switches between threads, so each marker has the fields _tid, _pid and
 * _comm. Calls have _enter or _leave (the function's name), _function (a number of the function),
 * _depth or _call, and _arguments, or _outputs and _return. Other events at a location have its
 * name as _at. _order numbers all events, as events of one time may be in several files. trdecode
 * reads these fields.
 *
 * The TSC counts ns. The encoder of LTTng's own streams writes blocks and announcements.
 */

enum { TEXT_MOST = 32 * 1024 };

/* The state of the conversion. */
struct lttng_conversion {
	struct conversion conversion;
	struct lttng_types types;
	struct buffer fixed, tail;
	const struct clock *clock; /* of the first event */
	uint32_t calls, order;
	uint64_t blobs, cut; /* blobs, texts */
	bool begun;
};

/* Write the clock: the TSC at the start, and the wall time then, in whole microseconds. */
static int lttng_begin_clock(struct lttng_conversion *s, uint64_t first, struct error *e)
{
	int64_t wall = 0;
	uint64_t start = 0, at = 0;
	char text[256];
	int n;

	s->begun = true;
	if (s->clock && s->clock->flags & CLOCK_HAS_WALL)
		wall = s->clock->wall;
	if (s->clock && s->clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL)) {
		at = first + (uint64_t)wall;
		start = first - at % 1000;
		at -= at % 1000;
		if (start > first) {
			start = first;
			at = first + (uint64_t)wall;
		}
	}
	n = snprintf(text, sizeof text,
		     "version 2.6\nstart_freq 1000000000\nfreq_scale 1\nstart_tsc %" PRIu64
		     "\nstart_time_sec %" PRIu64 "\nstart_time_usec %" PRIu64 "\n",
		     start, at / 1000000000, at % 1000000000 / 1000);
	return target_meta(&s->conversion.d, "lttng.trace", text, (size_t)n, 0, e);
}

/* --- lanes: a channel on a CPU --- */

static const struct lane *lttng_lane_of(struct lttng_conversion *s, const struct lane *from,
					struct text_ref channel, uint64_t time)
{
	uint32_t cpu = from->flags & LANE_HAS_CPU && from->cpu >= 0 ? (uint32_t)from->cpu : 0;

	return convert_buffer_lane(&s->conversion, channel, cpu, time);
}

/* --- rows --- */

static int put_uint(struct buffer *b, uint64_t v, unsigned size)
{
	uint8_t bytes[8];

	put_u64(bytes, v);
	return buffer_append(b, bytes, size);
}

/* End a text at its first NUL. */
static int lttng_end_text(struct lttng_conversion *s, size_t from)
{
	struct buffer *b = &s->tail;
	const uint8_t *nul = b->size > from ? memchr(b->data + from, 0, b->size - from) : NULL;

	if (nul) {
		b->size = (size_t)(nul - b->data);
		s->cut++;
	}
	convert_text_cut(b, from, TEXT_MOST, &s->cut);
	return buffer_u8(b, 0);
}

static int lttng_put_text(struct lttng_conversion *s, const char *text, size_t n)
{
	size_t from = s->tail.size;

	return convert_name_no_nul(&s->tail, text, n) || lttng_end_text(s, from) ? -1 : 0;
}

static int lttng_put_field(struct lttng_conversion *s, const struct convert_field *w,
			   const struct event *ev)
{
	size_t from = s->tail.size;

	if (w->size)
		return put_uint(&s->fixed, convert_field_number(w, ev), w->size);
	return convert_field_text(&s->tail, s->conversion.dictionary, w, ev) ||
			       lttng_end_text(s, from)
		       ? -1
		       : 0;
}

static int encode_lttng_put_row(struct lttng_conversion *s, const struct convert_row *r,
				const struct lttng_converted_type *w)
{
	const struct event *ev = r->ev;
	const struct convert_thread *t = r->thread;
	const struct lane *lane = ev->lane;
	int32_t tid = t->tid, pid = t->pid;
	struct text_ref comm = lane->comm;
	uint32_t location = w->call ? r->location : ev->location;
	size_t from;

	/* an interrupt has the ids of the interrupted thread */
	if (t->per_cpu) {
		t = convert_thread(&s->conversion, lane, false);
		if (!t)
			return -1;
		tid = t->tid;
		pid = t->pid;
	}
	if (!(lane->flags & LANE_HAS_PID))
		pid = -1;
	s->fixed.size = s->tail.size = 0;
	if (put_uint(&s->fixed, r->time, 8) || put_uint(&s->fixed, (uint32_t)tid, 4) ||
	    put_uint(&s->fixed, (uint32_t)pid, 4) ||
	    (w->call && put_uint(&s->fixed, w->number ? *r->mark : r->depth, 4)) ||
	    ((w->call || w->location) && put_uint(&s->fixed, location, 4)) ||
	    put_uint(&s->fixed, s->order++, 4))
		return -1;
	for (uint32_t i = 0; i < w->nfields; i++)
		if (w->fields[i].size && lttng_put_field(s, &w->fields[i], ev))
			return -1;
	if (lttng_put_text(s, comm.text, comm.size))
		return -1;
	if (w->call || w->location) {
		struct text_ref name = dictionary_location_name(s->conversion.dictionary, location);

		convert_use_location(&s->conversion, location);
		if (lttng_put_text(s, name.text, name.size))
			return -1;
	}
	for (int what = 0; w->values && what <= w->leave; what++) {
		from = s->tail.size;
		if (convert_text_values(&s->tail, s->conversion.dictionary, ev,
					what ? DETAIL_RETURN : DETAIL_ARGUMENT, &s->blobs) ||
		    lttng_end_text(s, from))
			return -1;
	}
	for (uint32_t i = 0; i < w->nfields; i++)
		if (!w->fields[i].size && lttng_put_field(s, &w->fields[i], ev))
			return -1;
	return buffer_align(&s->fixed, 4);
}

static int lttng_convert_row(void *state, const struct convert_row *r, struct error *e)
{
	struct lttng_conversion *s = state;
	struct event ev = {.time = r->time};
	const struct lttng_converted_type *w;

	if (!s->begun) {
		s->clock = r->ev->lane->clock;
		if (lttng_begin_clock(s, r->time, e))
			return -1;
	}
	/* readers close unfinished calls by the depths of later ones */
	if (r->cut)
		return 0;
	if (r->what == CONVERT_GAP)
		return convert_put_gap(&s->conversion, r,
				       lttng_lane_of(s, r->ev->lane,
						     target_string(&s->conversion.d, "trace", 5),
						     r->time),
				       e);
	if (r->what == CONVERT_ENTER)
		*r->mark = s->calls++;
	if (lttng_types_find(&s->types, &s->conversion.d, r->ev, &w) ||
	    encode_lttng_put_row(s, r, w))
		return error_no_memory(e);
	ev.lane = lttng_lane_of(s, r->ev->lane, w->type->group, r->time);
	if (!ev.lane)
		return error_no_memory(e);
	ev.type = w->type;
	ev.fixed = s->fixed.data;
	ev.tail = s->tail.data;
	ev.tail_size = (uint32_t)s->tail.size;
	return target_event(&s->conversion.d, &ev, e);
}

static void lttng_convert_drop(void *state)
{
	struct lttng_conversion *s = state;

	lttng_types_free(&s->types);
	buffer_free(&s->fixed);
	buffer_free(&s->tail);
}

static int lttng_convert_end(void *state, struct error *e)
{
	struct lttng_conversion *s = state;

	return s->begun ? 0 : lttng_begin_clock(s, 0, e);
}

static void lttng_convert_report(void *state)
{
	struct lttng_conversion *s = state;
	struct conversion *a = &s->conversion;

	convert_lost(a, s->conversion.clock_epoch.count,
		     "{stream overlaps an earlier one: its|streams overlap earlier ones: their} "
		     "channels are named ~2 and so on");
	convert_lost(a, s->blobs, "{blob is written as its size|blobs are written as their sizes}");
	convert_lost(a, s->cut, "{text was|texts were} cut at a NUL or to 32768 bytes");
	convert_lost(a, s->types.fields_lost,
		     "{field is|fields are} left out, of types with more than 200 fields");
}

const struct convert_target lttng_target = {
	.native = &encoder_lttng,
	.format = "lttng",
	.state_size = sizeof(struct lttng_conversion),
	.keeps_kernel = true,
	.needs_time = true,
	.zero = true,
	.call = lttng_convert_row,
	.instant = lttng_convert_row,
	.gap = lttng_convert_row,
	.end = lttng_convert_end,
	.report = lttng_convert_report,
	.drop = lttng_convert_drop,
};

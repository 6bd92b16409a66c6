/*
 * lttng.c - write an LTTng trace (2.6) from the stream of an LTTng trace
 *
 * The tracer's own events are written again: each marker is announced in metadata_0 before the
 * channel's first event of it. Heartbeats are left out, as 2.6 does not need them. The counters of
 * the blocks report events that the recorder lost; the format cannot express other gaps, which are
 * counted.
 */
#include "cmd/trencode/lttng/lttng.h"
#include "common/util/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	SECOND = 1000000000,
	BLOCK_MOST = 64 * 1024,
	BLOCKS = 4 << 20,
	META_MOST = 64 * 1024,
	IDS = 65536
};

/* One channel, with its markers. */
struct channel {
	uint32_t name;	       /* number in lttng_encoder.names */
	struct intern kinds;   /* marker and format: the number is the event id */
	struct intern markers; /* the markers' names in the channel */
	uint32_t *next;	       /* by number of a name: the next suffix for that name */
	size_t next_size;
};

/* A type of the stream, and its id in the channel that used the type last. */
struct use {
	struct lttng_written *written;
	uint32_t channel, id; /* channel: number + 1; 0: none yet */
};

/* The channel and the tracefile of a lane. */
struct lane_target {
	uint32_t channel, file; /* number + 1; 0: not yet known */
};

/* The state of the encoder. */
struct lttng_encoder {
	struct tree_output tree;
	const struct source *source;
	struct buffer meta, payload, text;
	struct lttng_constants constants;
	bool begun;
	struct intern names; /* of channels */
	struct channel *channels;
	size_t channels_capacity, nchannels;
	struct intern file_names;
	struct lttng_tracefile *files; /* number 0: metadata_0 */
	size_t files_capacity, nfiles;
	uint32_t metadata;
	uint64_t first;	  /* least TSC of announcements */
	struct use *uses; /* by type */
	size_t uses_size;
	struct lane_target *lanes;
	size_t lanes_size;
	size_t limit; /* bytes of a block */
	uint64_t gaps, unfit;
};

static int lttng_begin(struct encoding *en, struct error *e)
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

static int check_source(struct lttng_encoder *s, const struct source *source, struct error *e)
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
	const struct source *source =
		m->source ? pool_at(&en->dictionary->sources, m->source) : NULL;

	if (m->name_size != 11 || memcmp(m->name, "lttng.trace", 11) || s->begun)
		return 0;
	if (check_source(s, source, e))
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
	f = s->files;
	f[s->nfiles] = (struct lttng_tracefile){0};
	if (tree_output_member(&s->tree, path, (size_t)size, &f[s->nfiles].member, e))
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
	struct channel *c;

	*number = intern(&s->names, name, n);
	if (*number == INTERN_NONE)
		return error_no_memory(e);
	if (*number < s->nchannels)
		return 0;
	if (ARRAY_GROW(s->channels, s->channels_capacity, s->nchannels))
		return error_no_memory(e);
	c = s->channels;
	c[s->nchannels++] = (struct channel){.name = *number};
	return 0;
}

/* Find the tracefile of a lane: "control/interrupts" of CPU 0 becomes interrupts_0. */
static int find_lane(struct lttng_encoder *s, const struct lane *lane, struct lane_target **out,
		     struct error *e)
{
	const char *name = lane->buffer.text, *slash;
	size_t n = lane->buffer.size;
	uint32_t file, channel;
	int32_t cpu = lane->flags & LANE_HAS_CPU ? lane->cpu : 0;

	if (ARRAY_REACH(s->lanes, s->lanes_size, lane->number))
		return error_no_memory(e);
	*out = &s->lanes[lane->number];
	if ((*out)->file)
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
	**out = (struct lane_target){channel + 1, file + 1};
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
	struct lttng_constants *c = &s->constants;
	const char *text;

	s->begun = true;
	if (buffer_u8(&s->meta, 0))
		return error_no_memory(e);
	text = (const char *)s->meta.data;
	if (!number_in(text, "start_freq", &c->frequency) ||
	    !number_in(text, "freq_scale", &c->scale) ||
	    !number_in(text, "start_tsc", &c->start_tsc) ||
	    !number_in(text, "start_time_sec", &c->seconds) ||
	    !number_in(text, "start_time_usec", &c->microseconds))
		return error_set(e, s->source ? s->source->name.text : NULL, NO_OFFSET,
				 "the trace's description of its clock (lttng.trace) is "
				 "missing: " WITHOUT_FIRST_SEGMENT);
	c->word_size = s->source->word_size == 8 ? 8 : 4;
	if (file_of(s, "metadata", 8, 0, &s->metadata, e))
		return -1;
	/* readers take the trace's first TSC from here */
	if (lttng_block_begin(&s->files[s->metadata], c->start_tsc))
		return error_no_memory(e);
	/* a clock that starts long before the trace: markers are announced with the first event */
	if (!c->start_tsc && !c->seconds && !c->microseconds && c->frequency == SECOND)
		s->first = first;
	return 0;
}

static int lttng_announce(struct lttng_encoder *s, uint32_t id, const struct buffer *payload,
			  struct error *e)
{
	struct lttng_tracefile *f = &s->files[s->metadata];

	struct lttng_record r = {id, f->last > s->first ? f->last : s->first, payload};

	return lttng_block_event(&s->tree, &s->constants, f, &r, BLOCK_MOST, e);
}

struct announcement {
	const char *channel, *name;
	uint32_t id;
	struct lttng_sizes sizes;
	const void *format;
	size_t size; /* of format */
};

static int announce_marker(struct lttng_encoder *s, const struct announcement *a, struct error *e)
{
	const char *channel = a->channel, *name = a->name;
	const struct lttng_sizes *z = &a->sizes;
	struct buffer *b = &s->text;

	b->size = 0;
	if (buffer_append(b, channel, strlen(channel) + 1) ||
	    buffer_append(b, name, strlen(name) + 1) || buffer_u8(b, (uint8_t)a->id) ||
	    buffer_u8(b, (uint8_t)(a->id >> 8)) || buffer_u8(b, z->integer) ||
	    buffer_u8(b, z->longer) || buffer_u8(b, z->pointer) || buffer_u8(b, z->size_t_) ||
	    buffer_u8(b, 0))
		return error_no_memory(e);
	if (lttng_announce(s, LTTNG_MARKER_ID, b, e))
		return -1;
	b->size = 0;
	if (buffer_append(b, channel, strlen(channel) + 1) ||
	    buffer_append(b, name, strlen(name) + 1) || buffer_append(b, a->format, a->size) ||
	    buffer_u8(b, 0))
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
	struct announcement markers[] = {
		{"metadata", "core_marker_id", LTTNG_MARKER_ID, z, id, sizeof id - 1},
		{"metadata", "core_marker_format", LTTNG_MARKER_FORMAT, z, format,
		 sizeof format - 1},
	};

	return announce_marker(s, &markers[0], e) || announce_marker(s, &markers[1], e) ? -1 : 0;
}

/* --- events --- */

static int use_of(struct lttng_encoder *s, const struct type *t, struct use **out, struct error *e)
{
	if (ARRAY_REACH(s->uses, s->uses_size, t->number))
		return error_no_memory(e);
	*out = &s->uses[t->number];
	if (!(*out)->written)
		(*out)->written = lttng_written_new(t);
	return (*out)->written ? 0 : error_no_memory(e);
}

/* Choose the name of a marker, as a number in c->markers: in a channel a name has one format.
 * INTERN_NONE: out of memory. */
static uint32_t name_marker(struct lttng_encoder *s, struct channel *c, struct text_ref name)
{
	struct buffer *b = &s->text;
	uint32_t had = c->markers.count, unsuffixed, number, *next;

	unsuffixed = number = intern(&c->markers, name.text, name.size);
	if (unsuffixed == INTERN_NONE || number == had)
		return number;
	if (ARRAY_REACH(c->next, c->next_size, unsuffixed))
		return INTERN_NONE;
	next = c->next;
	b->size = 0;
	if (name.size && buffer_append(b, name.text, name.size))
		return INTERN_NONE;
	do {
		b->size = name.size;
		if (buffer_printf(b, "%c%" PRIu32, LTTNG_ANOTHER, 2 + next[unsuffixed]++))
			return INTERN_NONE;
		had = c->markers.count;
		number = intern(&c->markers, b->data, b->size);
	} while (number < had);
	return number;
}

/* Find the id of a type in a channel, and announce the marker when it is new. */
static int number_use(struct lttng_encoder *s, const struct type *t, struct use *u,
		      uint32_t channel, struct error *e)
{
	struct channel *c = &s->channels[channel - 1];
	const struct lttng_written *w = u->written;
	uint32_t had = c->kinds.count, name;
	struct announcement a;

	s->text.size = 0;
	if (buffer_append(&s->text, t->name.text, t->name.size + 1) ||
	    buffer_append(&s->text, &w->sizes, sizeof w->sizes) ||
	    buffer_append(&s->text, w->format.data, w->format.size))
		return error_no_memory(e);
	u->id = intern(&c->kinds, s->text.data, s->text.size);
	if (u->id == INTERN_NONE)
		return error_no_memory(e);
	u->channel = channel;
	if (c->kinds.count == had || u->id >= IDS)
		return 0;
	name = name_marker(s, c, t->name);
	if (name == INTERN_NONE)
		return error_no_memory(e);
	a = (struct announcement){intern_data(&s->names, c->name),
				  intern_data(&c->markers, name),
				  u->id,
				  w->sizes,
				  w->format.data,
				  w->format.size};
	return announce_marker(s, &a, e);
}

static int take_gap(struct lttng_encoder *s, const struct event *ev, struct error *e)
{
	struct lane_target *lane;
	struct lttng_tracefile *f;
	struct gap_row g;

	if (!gap_get(ev, &g) || g.reason != GAP_LOST || g.unit != GAP_EVENTS ||
	    g.count > UINT32_MAX) {
		s->gaps++;
		return 0;
	}
	if (find_lane(s, ev->lane, &lane, e))
		return -1;
	/* the counter grows from one block to the next */
	f = &s->files[lane->file - 1];
	if (lttng_block_end(&s->tree, &s->constants, f, e))
		return -1;
	f->lost += (uint32_t)g.count;
	return 0;
}

static int lttng_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct lttng_encoder *s = en->state;
	struct lane_target *lane;
	struct use *u = NULL;
	uint64_t tsc;

	if (ev->lane->source != s->source && check_source(s, ev->lane->source, e))
		return -1;
	if (!s->begun && (lttng_begin_trace(s, ev->time, e) || announce_core(s, e)))
		return -1;
	if (ev->type->kind == KIND_GAP)
		return take_gap(s, ev, e);
	if (use_of(s, ev->type, &u, e))
		return -1;
	if (u->written->core)
		return 0;
	if (u->written->tsc < 0) {
		s->unfit++;
		return 0;
	}
	if (find_lane(s, ev->lane, &lane, e))
		return -1;
	if (u->channel != lane->channel && number_use(s, ev->type, u, lane->channel, e))
		return -1;
	if (u->id >= IDS) {
		s->unfit++;
		return 0;
	}
	tsc = get_u64(ev->fixed + u->written->tsc);
	if (lttng_written_payload(u->written, ev, &s->payload))
		return error_no_memory(e);
	return lttng_block_event(&s->tree, &s->constants, &s->files[lane->file - 1],
				 &(struct lttng_record){u->id, tsc, &s->payload}, s->limit, e);
}

static int lttng_end(struct encoding *en, struct error *e)
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
		if (lttng_block_end(&s->tree, &s->constants, f, e))
			return -1;
	}
	if (!en->options->quiet) {
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
		intern_free(&s->channels[i].markers);
		free(s->channels[i].next);
	}
	for (size_t i = 0; i < s->nfiles; i++)
		buffer_free(&s->files[i].block);
	for (size_t i = 0; i < s->uses_size; i++)
		lttng_written_free(s->uses[i].written);
	intern_free(&s->names);
	intern_free(&s->file_names);
	buffer_free(&s->meta);
	buffer_free(&s->payload);
	buffer_free(&s->text);
	free(s->channels);
	free(s->files);
	free(s->uses);
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
	.begin = lttng_begin,
	.meta = lttng_meta,
	.event = lttng_event,
	.end = lttng_end,
	.free = lttng_free,
};

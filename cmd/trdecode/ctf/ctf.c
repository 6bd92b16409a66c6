/*
 * ctf.c - the decoder of CTF: finds the traces of an input and merges their files by time
 */
#include "cmd/trdecode/ctf/ctf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/input/merge.h"

enum {
	HEAD = 8192, /* bytes read to recognise metadata */
};

/* --- finding the traces --- */

static enum bid bid_metadata(const struct tree *tree, const char *member)
{
	uint8_t head[HEAD];

	if (strcmp(member + ctf_prefix_size(member), "metadata"))
		return BID_NONE;
	return ctf_metadata_bid(head, tree_peek(tree, member, head, sizeof head));
}

/* A file given by the user that has a metadata file beside it is the metadata, or its first packet
 * has the magic number. A trace whose packets have none must be given as a directory. */
static enum bid ctf_probe(const struct input *in)
{
	enum bid best = BID_NONE, bid;

	if (in->tree && in->member)
		return !strcmp(in->member, "metadata") || ctf_packet_is(in->head, in->head_size)
			       ? bid_metadata(in->tree, "metadata")
			       : BID_NONE;
	for (size_t i = 0; in->tree && i < tree_count(in->tree); i++) {
		bid = bid_metadata(in->tree, tree_member(in->tree, i));
		best = bid > best ? bid : best;
	}
	return best;
}

/* --- opening --- */

/* Find the next tracefile of a trace among the members from *at on, which are sorted: it is beside
 * the trace's metadata. NULL: there is no other one. */
static const char *next_tracefile(const struct ctf *ctf, const struct ctf_trace *t, size_t *at)
{
	const struct tree *tree = ctf->input->tree;
	const char *only = ctf->input->member;
	size_t prefix = strlen(t->prefix);

	while (*at < tree_count(tree)) {
		const char *member = tree_member(tree, (*at)++), *name = member + prefix;

		if (strncmp(member, t->prefix, prefix) != 0)
			return NULL;
		if (!strchr(name, '/') && name[0] != '.' && strcmp(name, "metadata") &&
		    (!only || !strcmp(only, member)))
			return member;
	}
	return NULL;
}

static int find_files(struct ctf *ctf, struct error *e)
{
	const struct tree *tree = ctf->input->tree;
	size_t capacity = 0;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		struct ctf_trace *t = &ctf->traces[i];
		size_t at = tree_lower_bound(tree, t->prefix);
		const char *member;

		while ((member = next_tracefile(ctf, t, &at))) {
			if (ARRAY_GROW(ctf->files, capacity, ctf->nfiles))
				return error_no_memory(e);
			ctf->files[ctf->nfiles] =
				(struct ctf_file){.trace = t,
						  .member = member,
						  .next = {UINT64_MAX, (uint32_t)ctf->nfiles},
						  .done = true};
			ctf->nfiles++;
		}
	}
	ctf->heap.items = calloc(ctf->nfiles + 1, sizeof *ctf->heap.items);
	return ctf->heap.items ? 0 : error_no_memory(e);
}

/* Find the time from 1970 to the clock's 0. A clock of version 2 has an id. */
static bool find_wall(const struct ctf_clock *c, int64_t *wall)
{
	if ((c->absolute || !c->id) && ctf_trace_wall(c, wall))
		return c->absolute || *wall;
	*wall = 0;
	return false;
}

static void set_clock(struct ctf *ctf)
{
	struct input *in = ctf->input;
	const struct ctf_clock *first = NULL;
	bool time = false;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		struct ctf_trace *t = &ctf->traces[i];
		const struct ctf_clock *c = ctf_trace_clock(t);

		for (size_t k = 0; k < t->nstreams; k++)
			ctf_trace_set_offset(&t->streams[k]);
		if (!first && c) {
			first = c;
			in->has_wall = find_wall(c, &in->wall);
		}
		time |= ctf_trace_has_time(t);
	}
	in->ticks = !time;
	/* a stream has no wall times before 1970, so the times stay the clock's own */
	ctf->raw = in->decoding->clock == CLOCK_RAW || !in->has_wall || in->wall < 0;
	in->clock_name = !time ? "none" : !ctf->raw ? "wall" : first ? first->name : "ticks";
	/* clocks of the same origin meet, with their offsets */
	if (time && first && first->origin && in->decoding->clock != CLOCK_RAW) {
		ctf->raw = false;
		in->clock_name = first->origin;
	}
	if (!ctf->raw)
		in->wall = 0;
}

/* Open all traces that can be read. -1: none can be. */
static int open_traces(struct ctf *ctf, struct error *e)
{
	struct input *in = ctf->input;
	struct error bad = {.what = ""}, other;

	for (size_t i = 0; i < tree_count(in->tree); i++) {
		const char *member = tree_member(in->tree, i);

		if ((in->member && ctf_prefix_size(member)) || !bid_metadata(in->tree, member) ||
		    !ctf_trace_open(ctf, member, &other))
			continue;
		if (bad.what[0])
			input_damage_error(in, &other);
		else
			bad = other;
	}
	if (bad.what[0] && !ctf->ntraces) {
		*e = bad;
		return -1;
	}
	if (bad.what[0])
		input_damage_error(in, &bad);
	return 0;
}

static int ctf_open(struct input *in, struct error *e)
{
	struct ctf *ctf = calloc(1, sizeof *ctf);
	const struct tree *tree = in->tree;

	in->state = ctf;
	if (!ctf)
		return error_no_memory(e);
	ctf->input = in;
	ctf->w = in->decoding->writer;
	ctf->flows = ctf_flows_join(&in->decoding->ctf_flows);
	if (!ctf->flows)
		return error_no_memory(e);
	if (tree_damage(tree, e))
		input_damage_error(in, e);
	e->what[0] = '\0';
	if (in->member && !strcmp(in->member, "metadata"))
		return error_set(e, in->name, NO_OFFSET,
				 "metadata has no events: give the directory that contains it");
	if (open_traces(ctf, e))
		return -1;
	/* from here on pointers to traces stay valid */
	for (size_t i = 0; i < ctf->ntraces; i++) {
		if (ctf_classes_make(&ctf->traces[i], e))
			return -1;
		ctf_skip_prepare(&ctf->traces[i]);
	}
	set_clock(ctf);
	return find_files(ctf, e);
}

static uint64_t ctf_fingerprint(const struct input *in)
{
	const struct ctf *ctf = in->state;
	uint64_t id = 0;

	for (size_t i = 0; i < ctf->ntraces; i++) {
		const struct ctf_clock *c = ctf_trace_clock(&ctf->traces[i]);
		int64_t wall = 0;

		if (c)
			ctf_trace_wall(c, &wall);
		id = hash_bytes(ctf->traces[i].metadata.uuid, 16, id + (uint64_t)wall);
	}
	for (size_t i = 0; i < ctf->nfiles; i++)
		id = hash_bytes(ctf->files[i].member, strlen(ctf->files[i].member), id);
	return id;
}

static int ctf_info(struct input *in, struct trace_info *info, struct error *e)
{
	struct ctf *ctf = in->state;
	uint64_t bytes = 0;

	(void)e;

	fact_text(info, "format", "ctf");
	for (size_t i = 0; i < ctf->ntraces; i++)
		ctf_trace_info(&ctf->traces[i], info);
	fact_number(info, "tracefiles", ctf->nfiles);
	for (size_t i = 0; i < ctf->nfiles; i++)
		bytes += tree_size(in->tree, ctf->files[i].member);
	fact_number(info, "bytes", bytes);
	return 0;
}

/* --- merging --- */

/* Return the length of the channel's name in "channel0_3", which ends with the CPU. */
static size_t channel_size(const char *name)
{
	size_t n = strlen(name), digits = n;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	return digits > 1 && digits < n && name[digits - 1] == '_' ? digits - 1 : n;
}

static int open_files(struct ctf *ctf, struct error *e)
{
	for (size_t i = 0; i < ctf->nfiles; i++) {
		struct ctf_file *f = &ctf->files[i];
		const char *name = f->member + ctf_prefix_size(f->member);

		f->buffer = writer_string(ctf->w, name, channel_size(name));
		f->done = false;
		if (ctf_file_open(f, e))
			return -1;
		if (f->done)
			ctf_file_close(f);
		else
			ctf->heap.items[ctf->heap.count++] = &f->next;
	}
	heap_build(&ctf->heap);
	return 0;
}

/* Declare the types of all event classes, and their locations, which have the names of fields. */
static int announce_types(struct ctf *ctf, const struct ctf_trace *t)
{
	struct row_filter *filter = ctf->input->decoding->row_filter;

	for (size_t i = 0; i < t->nclasses; i++) {
		struct ctf_class *c = &t->classes[i];

		if (!c->usable || c->call.kind == CALL_GAP)
			continue;
		if (ctf_class_declare(c) || row_filter_announce(filter, c->type, c->location))
			return -1;
	}
	return 0;
}

static int ctf_begin(struct input *in, struct error *e)
{
	struct ctf *ctf = in->state;
	struct writer *w = ctf->w;
	const struct ctf_file *first;
	uint64_t time;

	if (merge_choose_clock(in, e))
		return -1;
	ctf->clock = writer_clock(
		w, &(struct clock_entry){
			   writer_text(w, in->clock_name),
			   (in->ticks ? CLOCK_TICKS : 0) | (in->has_wall ? CLOCK_HAS_WALL : 0) |
				   (!strcmp(in->clock_name, "wall") ? CLOCK_IS_WALL : 0),
			   merge_wall(in)});
	/* rows are written without a test for NULL */
	if (!ctf->clock || buffer_reserve(&ctf->fixed, 8192) || buffer_reserve(&ctf->tail, 4096))
		return -1;
	memset(ctf->fixed.data, 0, ctf->fixed.capacity);
	for (size_t i = 0; i < ctf->ntraces; i++)
		if (ctf_trace_declare(&ctf->traces[i]) || announce_types(ctf, &ctf->traces[i]))
			return -1;
	if (open_files(ctf, e))
		return -1;
	ctf->begun = true;
	first = ctf->heap.count ? (const struct ctf_file *)ctf->heap.items[0] : NULL;
	return first && ctf_file_own_time(first, first->cursor.time, &time)
		       ? merge_first(in, time, e)
		       : 0;
}

static int ctf_run(struct input *in, uint64_t until, struct error *e)
{
	struct ctf *ctf = in->state;
	struct heap *heap = &ctf->heap;

	while (heap->count && heap->items[0]->time <= until) {
		struct ctf_file *first = (struct ctf_file *)heap->items[0];
		const struct heap_item *second = heap_second(heap);

		do {
			if (ctf_row(first, e) || ctf_file_next(first, e))
				return -1;
		} while (first->next.time <= until && !first->done &&
			 (!second || heap_earlier(&first->next, second)));
		if (first->done)
			ctf_file_close(first);
		heap_settle(heap);
	}
	in->next = heap->count ? heap->items[0]->time : UINT64_MAX;
	return 0;
}

static void ctf_close(struct input *in)
{
	struct ctf *ctf = in->state;

	if (!in->decoding->quiet && ctf->back)
		warn_count(in->name, ctf->back - 1, "more {time steps|times step} back");
	if (!in->decoding->quiet)
		warn_count(
			in->name, ctf->early,
			"{time is|times are} below 0, of events or packets: {it is|they are} 0 in "
			"the stream");
	for (size_t i = 0; i < ctf->nfiles; i++)
		ctf_file_close(&ctf->files[i]);
	for (size_t i = 0; i < ctf->ntraces; i++)
		ctf_trace_free(&ctf->traces[i]);
	free(ctf->files);
	free(ctf->heap.items);
	free(ctf->traces);
	id_cache_free(&ctf->declared);
	if (ctf->flows)
		ctf_flows_leave(&in->decoding->ctf_flows);
	ctf_arguments_free(ctf);
	buffer_free(&ctf->fixed);
	buffer_free(&ctf->tail);
	buffer_free(&ctf->frames.kernel);
	buffer_free(&ctf->frames.user);
	buffer_free(&ctf->frames.locations);
	free(ctf);
	in->state = NULL;
}

const struct decoder decoder_ctf = {
	.name = "ctf",
	.raw_clock = true,
	.probe = ctf_probe,
	.open = ctf_open,
	.fingerprint = ctf_fingerprint,
	.info = ctf_info,
	.begin = ctf_begin,
	.late = ctf_skip_late,
	.run = ctf_run,
	.close = ctf_close,
};

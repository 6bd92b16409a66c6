/*
 * v8_profile.c - profiles of V8: .cpuprofile and .heapprofile of Node.js, Chrome and Deno
 *
 *     {"nodes": [{"id": 1, "callFrame": {"functionName": "main", "url": "a.js", "lineNumber": 4},
 *                 "children": [2]},
 *                {"id": 2, "callFrame": {"functionName": "f", ...}}],
 *      "startTime": 100, "samples": [2], "timeDeltas": [25]}
 *
 * is a sample at 125,000 ns with the stack main, f. It lasts to the next sample, or to "endTime".
 *
 *     {"head": {"callFrame": {...}, "selfSize": 0, "children": [
 *         {"callFrame": {"functionName": "f", ...}, "selfSize": 32, "children": []}]}}
 *
 * is a sample of 32 bytes with the stack (root), f.
 *
 * Sources: the types Profiler.Profile and HeapProfiler.SamplingHeapProfile of the DevTools
 * protocol, src/profiler of V8, and the files that Node.js writes.
 */
#include "cmd/trdecode/v8_profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/util/u128.h"

/* --- nodes --- */

enum { V8_DIGITS = 6, V8_MILLION = 1000 * 1000 }; /* of fractions of weights */

/* A node that is being read. Its id may follow its children, which are kept until its end. */
struct v8_node {
	uint32_t id, parent; /* numbers of frames; 0: not known yet, none */
	struct named_frame is;
	struct v8_weight weight;
	size_t children; /* where they begin in v->children */
};

/* Note damage. at: its offset. */
static void v8_note(struct v8_fault *fault, uint64_t at)
{
	if (!fault->count++)
		fault->at = at;
}

/* Get the number of the frame that a token names as a node; 0: it names none, or out of memory. */
static uint32_t v8_node_of(struct v8_profile *v, struct json_reader *r, enum json_token token)
{
	if (token != JSON_NUMBER || json_spell_whole(r, token))
		return 0;
	return frame_table_number(v->frames, v->space, r->text.data, r->text.size);
}

/* Take a member of a call frame, whose key r has read. first: the number of the first line. */
static int v8_frame_member(struct v8_profile *v, struct json_reader *r, struct named_frame *f,
			   unsigned first)
{
	struct writer *w = v->frames->locations.w;
	bool name = json_is(r, "functionName"), file = json_is(r, "url");
	bool line = json_is(r, "lineNumber");
	enum json_token token = json_next(r);
	int64_t n;

	if (name && token == JSON_STRING)
		f->name = r->text.size ? writer_string(w, r->text.data, r->text.size)
				       : writer_text(w, "(anonymous)");
	else if (file && token == JSON_STRING)
		f->file = writer_string(w, r->text.data, r->text.size);
	else if (!line || token != JSON_NUMBER)
		return json_skip(r, token) ? 0 : -1;
	else if (json_decimal((char *)r->text.data, 0, &n, NULL) && n >= 0 && n < UINT32_MAX)
		f->line = (uint32_t)n + 1 - first;
	return 0;
}

/* Read "callFrame", after its '{'. Lines count from 0. */
static int v8_read_frame(struct v8_profile *v, struct json_reader *r, struct named_frame *f)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY)
		if (v8_frame_member(v, r, f, 0))
			return -1;
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Take a weight, with six digits of its fraction. */
static void v8_take_weight(struct v8_profile *v, const struct json_reader *r, struct v8_weight *w)
{
	const char *text = (const char *)r->text.data;
	bool fraction = false;
	int64_t whole, fine = 0;

	if (!json_decimal(text, 0, &whole, &fraction) || *text == '-') {
		v8_note(&v->faults[V8_WEIGHT], json_offset(r));
		return;
	}
	if (fraction && !json_decimal(text, V8_DIGITS, &fine, NULL))
		fine = 0;
	w->whole = (uint64_t)whole;
	w->millionths = (uint32_t)(fine % V8_MILLION);
	v->millionths |= w->millionths;
}

/* Take a member of the open node, whose key r has read. After "children" r is in that array. */
static int v8_node_member(struct v8_profile *v, struct json_reader *r)
{
	struct v8_node *n = &v->open[v->nopen - 1];
	bool id = json_is(r, "id"), parent = json_is(r, "parent");
	bool weight = json_is(r, "hitCount") || json_is(r, "selfSize");
	bool frame = json_is(r, "callFrame"), children = json_is(r, "children");
	enum json_token token;

	if (!id && !parent && !weight && !frame && !children)
		return v8_frame_member(v, r, &n->is, 1);
	token = json_next(r);
	if ((id || parent) && token == JSON_NUMBER)
		return (*(id ? &n->id : &n->parent) = v8_node_of(v, r, token)) ? 0 : -1;
	if (frame && token == JSON_OBJECT)
		return v8_read_frame(v, r, &n->is);
	if (children && token == JSON_ARRAY)
		return 0;
	if (!weight || token != JSON_NUMBER)
		return json_skip(r, token) ? 0 : -1;
	v8_take_weight(v, r, &n->weight);
	return 0;
}

static int v8_begin_node(struct v8_profile *v)
{
	if (ARRAY_GROW(v->open, v->capacity, v->nopen))
		return -1;
	v->open[v->nopen++] = (struct v8_node){.children = v->children.size};
	return 0;
}

/* Set the caller of the children of a node. */
static void v8_adopt(struct v8_profile *v, const struct v8_node *n, uint32_t number, uint64_t at)
{
	for (size_t i = n->children; i < v->children.size; i += 4) {
		struct linked_frame *child =
			frame_table_at(v->frames, get_u32(v->children.data + i));

		if (!child->parent)
			child->parent = number;
		else if (child->parent != number)
			v8_note(&v->faults[V8_CALLERS], at);
	}
	v->children.size = n->children;
}

/* End the innermost node that is open. at: its offset. */
static int v8_end_node(struct v8_profile *v, uint64_t at)
{
	const struct v8_node *n = &v->open[--v->nopen];
	uint32_t number = n->id ? n->id : frame_table_number(v->frames, 0, NULL, 0);
	struct v8_weight weight = n->weight;

	if (!number)
		return -1;
	v->nodes++;
	v8_adopt(v, n, number, at);
	if (frame_table_at(v->frames, number)->known)
		v8_note(&v->faults[V8_TWICE], at);
	frame_table_set(v->frames, number, &n->is, n->parent);
	if (v->nopen && buffer_u32(&v->children, number))
		return -1;
	weight.frame = number;
	return weight.whole || weight.millionths
		       ? buffer_append(&v->weights, &weight, sizeof weight)
		       : 0;
}

/* Take an element of the children of the open node, which is the id of a node. */
static int v8_add_child(struct v8_profile *v, struct json_reader *r)
{
	uint32_t child = v8_node_of(v, r, JSON_NUMBER);

	return child ? buffer_u32(&v->children, child) : -1;
}

/* Read a node, after its '{', with the nodes in its "children". */
static int v8_read_node(struct v8_profile *v, struct json_reader *r)
{
	int failed;

	v->nopen = 0;
	v->children.size = 0;
	failed = v8_begin_node(v);
	while (!failed && v->nopen) {
		enum json_token token = json_next(r);

		switch (token) {
		case JSON_KEY: failed = v8_node_member(v, r); break;
		case JSON_OBJECT: failed = v8_begin_node(v); break;
		case JSON_OBJECT_END: failed = v8_end_node(v, json_offset(r)); break;
		case JSON_NUMBER: failed = v8_add_child(v, r); break;
		case JSON_ARRAY_END: break;
		default: failed = token == JSON_END || !json_skip(r, token);
		}
	}
	/* what is cut has the callers of its nodes */
	while (r->error.what[0] && v->nopen)
		if (!v->open[v->nopen - 1].is.name)
			v->nopen--;
		else if (v8_end_node(v, json_offset(r)))
			return -1;
	return failed ? -1 : 0;
}

/* --- samples --- */

/* Append a time, or the time since the one before; what is none counts as 0, in its place. */
static int v8_add_time(struct v8_profile *v, struct json_reader *r, enum json_token token,
		       struct buffer *to)
{
	int64_t ns = 0;

	if (token != JSON_NUMBER) {
		v8_note(&v->faults[V8_NO_NUMBER], json_offset(r));
		if (!json_skip(r, token))
			return -1;
	} else if (!json_decimal((char *)r->text.data, 3, &ns, &v->inexact)) {
		ns = 0;
		v8_note(&v->faults[V8_TIME], json_offset(r));
	}
	return buffer_u64(to, (uint64_t)ns);
}

/* Append the node of a sample; 0: the sample names none. */
static int v8_add_sample(struct v8_profile *v, struct json_reader *r, enum json_token token)
{
	uint32_t frame = v8_node_of(v, r, token);

	if (!frame && token == JSON_NUMBER)
		return -1;
	if (!frame)
		v8_note(&v->faults[V8_NO_NUMBER], json_offset(r));
	return frame || json_skip(r, token) ? buffer_u32(&v->samples, frame) : -1;
}

/* Read an array, after its '[': of nodes, samples, deltas or times. */
static int v8_read_array(struct v8_profile *v, struct json_reader *r, char what)
{
	enum json_token token;
	int failed = 0;

	while (!failed && (token = json_next(r)) != JSON_ARRAY_END) {
		if (token == JSON_BAD)
			return -1;
		if (what == 's')
			/* samples of a heap are objects, which its nodes have counted */
			failed = token == JSON_OBJECT ? !json_skip(r, token)
						      : v8_add_sample(v, r, token);
		else if (what != 'n')
			failed = v8_add_time(v, r, token, what == 'd' ? &v->deltas : &v->times);
		else
			failed = token == JSON_OBJECT ? v8_read_node(v, r) : !json_skip(r, token);
	}
	return failed ? -1 : 0;
}

int v8_profile_read(struct v8_profile *v, struct json_reader *r)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool profile = json_is(r, "cpuProfile");
		bool start = json_is(r, "startTime"), end = json_is(r, "endTime");
		bool head = json_is(r, "head");
		char what = json_is(r, "nodes")	       ? 'n'
			    : json_is(r, "samples")    ? 's'
			    : json_is(r, "timeDeltas") ? 'd'
			    : json_is(r, "timestamps") ? 't'
						       : 0;

		token = json_next(r);
		if (profile && token == JSON_OBJECT && r->depth < 4) {
			if (v8_profile_read(v, r))
				return -1;
		} else if ((start || end) && token == JSON_NUMBER) {
			if (!json_decimal((char *)r->text.data, 3, start ? &v->begin : &v->end,
					  &v->inexact))
				*(start ? &v->begin : &v->end) = -1;
		} else if (head && token == JSON_OBJECT) {
			if (v8_read_node(v, r))
				return -1;
		} else if (what && token == JSON_ARRAY) {
			if (v8_read_array(v, r, what))
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/*
 * The decoders of the files.
 *
 * A file is read whole, as its samples may precede its nodes; what remains in memory is the nodes.
 * Samples with times weigh the time up to the next one, and the last one up to the end of the
 * profile. They are sorted, as the profiler may step back. Without times a sample weighs 1. Without
 * samples each node has one, which weighs its hits or bytes.
 */

struct v8_decoder {
	struct input *input;
	struct frame_table frames;
	struct v8_profile profile;
	struct sorter sorter; /* a struct v8_weight each */
	uint64_t samples;     /* their number */
	bool cut;	      /* the file was not read to its end */
	bool in_time;	      /* samples have times */
	bool millionths;      /* their weights are in millionths */
	uint32_t lane, type;
};

/* The events of a trace of Chrome have parts of profiles, too. */
static enum bid cpuprofile_probe(const struct input *in)
{
	bool nodes = input_head_has(in, "\"hitCount\"") || input_head_has(in, "\"nodes\"") ||
		     input_head_has(in, "\"timeDeltas\"");

	return input_bid_object(in, "cpuprofile",
				nodes && input_head_has(in, "\"functionName\"") &&
					!input_head_has(in, "\"traceEvents\""));
}

static enum bid heapprofile_probe(const struct input *in)
{
	return input_bid_object(
		in, "heapprofile",
		input_head_has(in, "\"callFrame\"") &&
			(input_head_has(in, "\"selfSize\"") || input_head_has(in, "\"head\"")));
}

static int v8_open(struct input *in, struct error *e)
{
	struct v8_decoder *d = calloc(1, sizeof *d);

	in->state = d;
	if (!d)
		return error_no_memory(e);
	d->input = in;
	d->frames.locations.w = in->decoding->writer;
	d->profile.frames = &d->frames;
	d->profile.begin = d->profile.end = -1;
	sorter_init(&d->sorter);
	return 0;
}

static bool v8_is_heap(const struct v8_decoder *d)
{
	return !strcmp(d->input->decoder->name, "heapprofile");
}

/* Count the frames that are named and not there, and the circles of callers. */
static void v8_check_frames(struct frame_table *t, uint64_t *missing, uint64_t *circles)
{
	uint32_t n = (uint32_t)t->keys.count;

	*missing = *circles = 0;
	for (uint32_t number = 1; number <= n; number++) {
		uint32_t at = number;

		*missing += !frame_table_at(t, number)->known;
		for (; at && !frame_table_at(t, at)->walk; at = frame_table_at(t, at)->parent)
			frame_table_at(t, at)->walk = number;
		*circles += at && frame_table_at(t, at)->walk == number;
	}
}

/* Report what the profile has that none should, and where the first of a kind is. */
static void v8_report(struct v8_decoder *d)
{
	static const char *const what[V8_DAMAGES] = {
		[V8_TIME] = "a time that is out of range: the sample has the time of the one "
			    "before; such times",
		[V8_NO_NUMBER] = "a sample or time that is no number: it has no stack, or the time "
				 "of the one before; such elements",
		[V8_WEIGHT] = "hits or bytes that are negative or out of range are left out; such "
			      "nodes",
		[V8_TWICE] = "a node with the id of another: the first one is valid; such nodes",
		[V8_CALLERS] = "a child of two nodes: it is that of the first; such children",
	};
	struct input *in = d->input;
	uint64_t missing, circles;

	for (int i = 0; i < V8_DAMAGES; i++)
		if (d->profile.faults[i].count)
			input_damage(in, in->name, d->profile.faults[i].at, "%s: %" PRIu64, what[i],
				     d->profile.faults[i].count);
	v8_check_frames(&d->frames, &missing, &circles);
	if (missing && !d->cut)
		input_damage(in, in->name, NO_OFFSET,
			     "a node that is named is not in the file: its function is not known; "
			     "such nodes: %" PRIu64,
			     missing);
	if (circles)
		input_damage(in, in->name, NO_OFFSET,
			     "a node is its own caller: its stack ends there; such circles: "
			     "%" PRIu64,
			     circles);
}

/* Read the file. Damage is reported. */
static int v8_read_file(struct v8_decoder *d, struct error *e)
{
	struct input *in = d->input;
	struct json_reader r;
	enum json_token token;
	int failed = 0;

	if (input_open_json(in, &r, e))
		return -1;
	r.deepest = JSON_DEEPEST; /* nodes are in each other */
	token = json_next(&r);
	if (token != JSON_OBJECT || v8_profile_read(&d->profile, &r) || json_next(&r) != JSON_END)
		failed = -1;
	if (!d->profile.nodes && !r.failed)
		failed =
			error_set(e, in->name, r.error.what[0] ? r.error.offset : NO_OFFSET,
				  "no profile of V8: %s",
				  r.error.what[0] ? r.error.what : "no object has nodes or a head");
	else if (failed && !r.error.what[0])
		failed = error_no_memory(e);
	else if (failed) {
		input_damage_error(in, &r.error);
		d->cut = true;
		failed = 0;
	}
	json_close(&r);
	return failed;
}

static int v8_add_row(struct v8_decoder *d, uint64_t time, uint64_t weight, uint32_t frame,
		      struct error *e)
{
	struct v8_weight row;

	memset(&row, 0, sizeof row);
	row.whole = weight;
	row.frame = frame;
	return sorter_add(&d->sorter, (struct sorter_key){time, d->samples++}, &row, sizeof row, e);
}

/* Sort the samples that have times. */
static int v8_sort_samples(struct v8_decoder *d, struct error *e)
{
	struct v8_profile *v = &d->profile;
	bool early = !v->deltas.size; /* each has its time */
	const struct buffer *times = early ? &v->times : &v->deltas;
	int64_t time = early ? (int64_t)get_u64(times->data) : v->begin;
	size_t n = v->samples.size / 4;

	if (time < 0 || time >= (int64_t)TIME_LIMIT)
		time = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t next = time;

		if (8 * i < times->size) {
			next = (int64_t)get_u64(times->data + 8 * i);
			/* both are within 62 bits */
			next = early ? next : time + next;
		}
		if (next >= 0 && next < (int64_t)TIME_LIMIT)
			time = next;
		else
			v8_note(&v->faults[V8_TIME], NO_OFFSET);
		if (v8_add_row(d, (uint64_t)time, 0, get_u32(v->samples.data + 4 * i), e))
			return -1;
	}
	if (times->size / 8 < n)
		input_damage(d->input, d->input->name, NO_OFFSET,
			     "%zu samples have %zu times: the others have that of the last one", n,
			     times->size / 8);
	if (early)
		v->end = -1; /* in seconds, too coarse */
	return 0;
}

/* Read the file, and sort what the rows are made of. */
static int v8_read_all(struct v8_decoder *d, struct error *e)
{
	struct v8_profile *v = &d->profile;
	const struct v8_weight *w;
	uint64_t weight;
	int failed = v8_read_file(d, e);

	if (failed)
		return failed;
	d->in_time = !v8_is_heap(d) && v->samples.size && (v->deltas.size || v->times.size);
	d->millionths = v->millionths && !v->samples.size;
	if (d->in_time)
		failed = v8_sort_samples(d, e);
	for (size_t i = 0; i < v->samples.size && !d->in_time && !failed; i += 4)
		failed = v8_add_row(d, i / 4 + 1, 1, get_u32(v->samples.data + i), e);
	for (size_t i = 0; i < v->weights.size && !v->samples.size && !failed; i += sizeof *w) {
		w = (const struct v8_weight *)(const void *)(v->weights.data + i);
		weight = d->millionths ? multiply_saturated(w->whole, V8_MILLION) : w->whole;
		add_saturated(&weight, w->millionths);
		failed = v8_add_row(d, d->samples + 1, weight, w->frame, e);
	}
	v8_report(d);
	v8_profile_free(v);
	return failed ? -1 : sorter_finish(&d->sorter, e);
}

/* Take the next sample, r: it lasts to the one after it. */
static int v8_take(struct v8_decoder *d, const struct sorter_record *r, struct v8_weight *row,
		   struct error *e)
{
	uint64_t time = r->key.time, end = d->profile.end < 0 ? 0 : (uint64_t)d->profile.end;
	struct sorter_record next;

	/* the sorter aligns to 4 bytes */
	memcpy(row, r->data, sizeof *row);
	if (sorter_advance(&d->sorter, e))
		return -1;
	if (sorter_peek(&d->sorter, &next))
		end = next.key.time;
	if (d->in_time)
		row->whole = end > time ? end - time : 0;
	return 0;
}

static int v8_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct v8_decoder *d = in->state;
	struct sorter_record r;
	struct v8_weight row;
	uint64_t sum = 0;

	if (v8_read_all(d, e))
		return -1;
	fact_text(facts, "format", in->decoder->name);
	fact_number(facts, "nodes", d->profile.nodes);
	fact_number(facts, "samples", d->samples);
	while (sorter_peek(&d->sorter, &r)) {
		if (v8_take(d, &r, &row, e))
			return -1;
		add_saturated(&sum, row.whole);
	}
	fact_number(facts,
		    v8_is_heap(d) ? "bytes"
		    : d->in_time  ? "duration"
				  : "hits",
		    d->millionths ? sum / V8_MILLION : sum);
	return 0;
}

/* Declare the source, its only lane, and the type of the samples. */
static int v8_declare(struct v8_decoder *d)
{
	struct input *in = d->input;
	struct writer *w = in->decoding->writer;
	bool heap = v8_is_heap(d);
	struct lane_entry lane = {.cpu = -1, .tid = -1, .pid = -1, .ppid = -1};

	lane.source = writer_source(w, &(struct source_entry){writer_text(w, in->decoder->name),
							      writer_text(w, in->name), 0, 0});
	lane.clock = input_declare_clock(in, false);
	d->lane = writer_lane(w, &lane);
	d->type = sample_type_declare(
		in->decoding,
		(struct type_entry){.source = lane.source,
				    .name = writer_text(w, heap ? "heap_profile" : "cpu_profile"),
				    .flags = d->in_time ? TYPE_WEIGHT_TIME : 0},
		heap && !d->millionths ? "bytes" : "weight", false);
	return lane.source && lane.clock && d->lane && d->type ? 0 : -1;
}

static int v8_begin(struct input *in, struct error *e)
{
	struct v8_decoder *d = in->state;
	struct sorter_record r;

	if (v8_read_all(d, e))
		return -1;
	in->clock_name = "trace";
	if (!d->in_time)
		merge_count_rows(in, "samples");
	if (merge_choose_clock(in, e))
		return -1;
	if (v8_declare(d))
		return error_no_memory(e);
	in->next = UINT64_MAX;
	return sorter_peek(&d->sorter, &r) ? merge_first(in, r.key.time, e) : 0;
}

static int v8_run(struct input *in, uint64_t until, struct error *e)
{
	struct v8_decoder *d = in->state;
	struct sorter_record r;

	for (;;) {
		bool more = sorter_peek(&d->sorter, &r);
		struct new_row row = {.lane = d->lane, .type = d->type};
		struct v8_weight sample;
		uint8_t weight[8];

		row.time = in->next = more ? merge_shifted(r.key.time, in->shift) : UINT64_MAX;
		if (!more || in->next > until)
			return 0;
		if (v8_take(d, &r, &sample, e))
			return -1;
		put_u64(weight, sample.whole);
		row.fixed = weight;
		row.fixed_size = sizeof weight;
		if (frame_table_stack(&d->frames, sample.frame, &row.location) ||
		    writer_sample(in->decoding->writer, row))
			return -1;
	}
}

static void v8_close(struct input *in)
{
	struct v8_decoder *d = in->state;

	if (!d)
		return;
	if (!in->decoding->quiet && d->millionths)
		warn(in->name, NO_OFFSET, "weights have fractions: all are in millionths");
	v8_profile_free(&d->profile);
	frame_table_free(&d->frames);
	sorter_free(&d->sorter);
	free(d);
	in->state = NULL;
}

#define V8_DECODER(NAME)                                                                           \
	const struct decoder decoder_##NAME = {                                                    \
		.name = #NAME,                                                                     \
		.in_order = true,                                                                  \
		.probe = NAME##_probe,                                                             \
		.open = v8_open,                                                                   \
		.info = v8_info,                                                                   \
		.begin = v8_begin,                                                                 \
		.run = v8_run,                                                                     \
		.close = v8_close,                                                                 \
	}

V8_DECODER(cpuprofile);
V8_DECODER(heapprofile);

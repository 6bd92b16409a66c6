/*
 * ctf.c - the encoder of the Common Trace Format, which babeltrace and Trace Compass read
 *
 * Each event of the stream becomes one event of the trace: enters and leaves are not paired. The
 * calls that are open where reading begins are written as enters.
 */
#include "cmd/trencode/ctf/ctf.h"
#include "common/formats/ctf.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/convert/convert.h"
#include "cmd/trencode/convert/attribute_values.h"
#include "common/util/buffer_file.h"
#include "common/calls/calls.h"
#include "common/util/utf8.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/convert/kernel_messages.h"
#include "cmd/trencode/convert/location_names.h"
#include "cmd/trencode/convert/restored_calls.h"
#include "cmd/trencode/convert/thread_ids.h"

/* The ids of a lane in the trace. */
struct ctf_lane_ids {
	bool known;
	int32_t tid, pid; /* -1: unknown */
};

/* The state of the encoder. */
struct ctf_encoder {
	struct ctf_files files;
	struct ctf_classes classes;
	struct attributes attributes;
	struct location_names locations, texts; /* each with a final NUL */
	struct buffer bytes, compound;
	struct thread_ids ids;
	struct ctf_lane_ids *lane_ids; /* by number of the lane */
	size_t lane_ids_size;
	/* call numbers in the trace, of calls of other sources than numbered */
	struct open_calls calls;
	const struct source *numbered; /* the first source with numbered calls */
	uint32_t last_call;	       /* last number given from the highest down */
	struct restored_calls restored;
	struct calls *paired;
	const struct clock *clock;
	struct text_ref source;
	uint32_t metadata;
	uint64_t stacks; /* stacks of events that are not in the trace */
	bool started, open;
};

/* Append a text as UTF-8, with NULs escaped, as a NUL ends a string. */
static int put_text(struct buffer *b, const char *p, size_t n)
{
	struct buffer plain = {0};
	int result;

	if (!n || (!memchr(p, 0, n) && !memmem(p, n, "\\x", 2)))
		return utf8_append(b, p, n);
	result = convert_name_no_nul(&plain, p, n) ||
				 utf8_append(b, (const char *)plain.data, plain.size)
			 ? -1
			 : 0;
	buffer_free(&plain);
	return result;
}

static int put_string(struct buffer *b, const char *p, size_t n)
{
	return put_text(b, p, n) || buffer_u8(b, 0) ? -1 : 0;
}

/* Append a text that may be large, in pieces. No piece ends inside of "\x00". */
static int put_buffer(struct buffer *b, const struct buffer *text)
{
	size_t piece;

	for (size_t at = 0; at < text->size; at += piece) {
		const char *p = (const char *)text->data + at;

		piece = buffer_piece(p, text->size - at);
		for (int back = 1; back <= 3 && piece < text->size - at; back++)
			if (p[piece - (size_t)back] == '\\') {
				piece -= (size_t)back;
				break;
			}
		if (put_text(b, p, piece))
			return -1;
		buffer_rest(text);
	}
	return buffer_u8(b, 0);
}

static int put_cached(struct buffer *b, struct location_names *names, uint32_t number)
{
	uint32_t size;
	const char *text = location_names_get(names, number, &size);

	return text ? buffer_append(b, text, size) : -1;
}

/* --- an event --- */

static int put_field(struct ctf_encoder *s, struct buffer *b, const struct event *ev,
		     const struct ctf_field *cf)
{
	struct attribute_source source = {.plain = {s->attributes.dictionary, &s->bytes, false},
					  .compound = &s->compound};
	struct attribute item;
	struct field_value v;
	uint64_t bits = 0;

	if (cf->form == CTF_STRING) {
		if (attribute_field(&source, ev, cf->field, &item))
			return -1;
		if (item.kind < ATTRIBUTE_TEXT) {
			s->compound.size = 0;
			if (item.kind != ATTRIBUTE_NULL &&
			    attribute_json(&item, s->attributes.quote_numbers, NULL, &s->compound))
				return -1;
			return put_string(b, (const char *)s->compound.data, s->compound.size);
		}
		return put_string(b, item.text, item.number);
	}
	field_get(ev, cf->field, 0, &v);
	if (v.form == FORM_REAL)
		memcpy(&bits, &v.real, sizeof bits);
	else if (v.form == FORM_INT || v.form == FORM_UINT)
		bits = v.u;
	bits = htole64(bits);
	return buffer_append(b, &bits, cf->size);
}

static int put_args(struct ctf_encoder *s, struct buffer *b, const struct event *ev)
{
	if (!ev->tail_size)
		return buffer_u8(b, 0);
	buffer_clear(&s->compound);
	buffer_clear(&s->bytes);
	if (attributes_append_values(&s->attributes, ev, &s->bytes) ||
	    attributes_object(&s->attributes, &s->bytes, &s->compound))
		return -1;
	return put_buffer(b, &s->compound);
}

/* Append the fields of a gap. For readers of CTF, count_gap also puts a loss into the counters of
 * packets. */
static int put_gap(struct buffer *b, const struct event *ev)
{
	struct gap_row g = {.count = UINT64_MAX, .offset = UINT64_MAX};

	gap_get(ev, &g);
	return put_string(b, gap_reason_name(g.reason), strlen(gap_reason_name(g.reason))) ||
			       buffer_u64(b, g.count) ||
			       put_string(b, gap_unit_name(g.unit),
					  strlen(gap_unit_name(g.unit))) ||
			       put_string(b, g.message, g.message_size) ||
			       put_string(b, g.file, g.file_size) || buffer_u64(b, g.offset)
		       ? -1
		       : 0;
}

/* Count the lost events or packets that a gap records, if their number is known. */
static int count_gap(struct ctf_encoder *s, struct ctf_file *file, const struct event *ev,
		     struct error *e)
{
	struct gap_row g;

	if (!gap_get(ev, &g) || g.reason != GAP_LOST || g.count == UINT64_MAX ||
	    g.unit == GAP_BYTES)
		return 0;
	return ctf_file_lost(&s->files, file, ev->time, g.unit == GAP_EVENTS ? g.count : 0,
			     g.unit == GAP_PACKETS ? g.count : 0, e);
}

/* Return the ids of a lane. Threads of several sources that have the same number get different
 * ones. NULL: out of memory. */
static const struct ctf_lane_ids *lane_ids_of(struct ctf_encoder *s, const struct lane *lane)
{
	struct ctf_lane_ids *w;

	if (ARRAY_REACH(s->lane_ids, s->lane_ids_size, lane->number))
		return NULL;
	w = &s->lane_ids[lane->number];
	if (w->known)
		return w;
	w->tid = w->pid = -1;
	if (lane->flags & LANE_HAS_TID) {
		w->tid = thread_ids_thread(&s->ids, lane, false);
		if (w->tid < 0)
			return NULL;
	}
	if (lane->flags & LANE_HAS_PID) {
		w->pid = lane->pid;
		if (lane->flags & LANE_HAS_TID && lane->pid > 0) {
			w->pid = thread_ids_process(&s->ids, lane);
			if (w->pid < 0)
				return NULL;
		}
	}
	w->known = true;
	return w;
}

static int put_message(struct ctf_encoder *s, struct buffer *b, const struct event *ev)
{
	const char *text = "";
	size_t size = 0;

	if (s->attributes.messages && kernel_message(s->attributes.messages, ev, &text, &size))
		return -1;
	return put_string(b, text, size);
}

/* Append the number of a call. Calls of other sources than the first are numbered from the highest
 * number down, so that they do not meet the first source's numbers; so are leaves without enter. */
static int put_call(struct ctf_encoder *s, struct buffer *b, const struct event *ev)
{
	const struct source *source = ev->lane->source;
	uint64_t number;
	uint32_t call;

	if (!field_call(ev, &call))
		return buffer_u32(b, --s->last_call);
	if (!s->numbered)
		s->numbered = source;
	if (s->numbered == source)
		return buffer_u32(b, call);
	if (ev->type->kind == KIND_LEAVE) {
		if (!open_calls_take(&s->calls, source->number, call, &number))
			number = --s->last_call;
		return buffer_u32(b, (uint32_t)number);
	}
	number = --s->last_call;
	if (open_calls_count(&s->calls) < CALLS_NUMBERED_LIMIT &&
	    open_calls_put(&s->calls, source->number, call, number))
		return -1;
	return buffer_u32(b, (uint32_t)number);
}

static int put_event(struct ctf_encoder *s, struct buffer *b, const struct ctf_class *cl,
		     const struct event *ev)
{
	const struct lane *lane = ev->lane;
	const struct ctf_lane_ids *lane_ids = lane_ids_of(s, lane);

	if (!lane_ids || buffer_u32(b, (uint32_t)lane_ids->pid) ||
	    buffer_u32(b, (uint32_t)lane_ids->tid) || put_cached(b, &s->texts, lane->comm.number) ||
	    (cl->named && put_cached(b, &s->locations, ev->location)) ||
	    (cl->depth && buffer_u32(b, ev->depth)) || (cl->call && put_call(s, b, ev)) ||
	    (cl->values && (ctf_location(&s->classes, s->attributes.dictionary, ev->location) ||
			    put_args(s, b, ev))))
		return -1;
	for (size_t i = 0; i < cl->nfields; i++)
		if (put_field(s, b, ev, &cl->fields[i]))
			return -1;
	if (cl->message && put_message(s, b, ev))
		return -1;
	return ev->type->kind == KIND_GAP ? put_gap(b, ev) : 0;
}

static int ctf_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct ctf_encoder *s = en->state;
	bool cpu = ev->lane->flags & LANE_HAS_CPU;
	enum ctf_stream_class stream = cpu ? CTF_OF_CPU : CTF_OF_THREAD;
	uint32_t key = cpu ? ev->lane->cpu_thread : ev->lane->thread;
	const struct ctf_class *cl = ctf_class(&s->classes, ev, stream);
	uint32_t stack = event_stack(en->dictionary, ev);
	struct ctf_file *file;
	size_t before;

	if (!cl)
		return error_no_memory(e);
	if (!s->started) {
		s->started = true;
		s->clock = ev->lane->clock;
		if (ev->lane->source)
			s->source = ev->lane->source->format;
	}
	file = ctf_file(&s->files, key, stream, ev->lane, ev->time, e);
	if (!file || (ev->type->kind == KIND_GAP && count_gap(s, file, ev, e)) ||
	    ctf_event_begin(&s->files, file, cl->id, ev->time, e))
		return -1;
	/* the innermost function of a sample is its name */
	s->stacks += stack && (!ev->stack || dictionary_stack_parent(en->dictionary, stack));
	before = file->packet.size;
	if (put_event(s, &file->packet, cl, ev))
		return error_no_memory(e);
	return ctf_event_end(&s->files, file, file->packet.size - before, e);
}

/* --- calls of calls_restore --- */

/* With on_forget, calls that are open before too are not restored. */
static void ctf_forget(void *ctx, struct stack *stack, const struct frame *f, void *data)
{
	(void)ctx;
	(void)stack;
	(void)f;
	(void)data;
}

static int ctf_restore(void *ctx, const struct event *enter, const struct call *call)
{
	struct ctf_encoder *s = ctx;

	return restored_calls_add(&s->restored, s->paired, enter, call);
}

/* Write the enters of the open calls. */
static int ctf_restored(void *ctx, bool last)
{
	struct encoding *en = ctx;
	struct ctf_encoder *s = en->state;
	size_t n = restored_calls_sort(&s->restored);

	(void)last;
	for (size_t i = 0; i < n; i++)
		if (ctf_event(en, &s->restored.list[i].enter, en->calls->restored.error))
			return -1;
	return 0;
}

/* --- the encoder --- */

static int ctf_begin(struct encoding *en, struct error *e)
{
	struct ctf_encoder *s = calloc(1, sizeof(*s));

	if (!s)
		return error_no_memory(e);
	en->state = s;
	if (en->options->file_version > 2)
		return error_set(e, NULL, NO_OFFSET, "--file-version of ctf is 1.8 or 2");
	s->classes.json = en->options->file_version == 2;
	s->paired = en->calls;
	en->calls->on_forget = ctf_forget;
	en->calls->on_restore = ctf_restore;
	en->calls->restored.done = ctf_restored;
	en->calls->on_restore_ctx = s;
	en->calls->restored.ctx = en;
	attributes_init(&s->attributes, en->dictionary);
	s->attributes.mark_strings = true;
	s->bytes.spills = s->compound.spills = true;
	s->attributes.members = true;
	s->attributes.quote_numbers = en->options->quote_numbers;
	s->ids.zero = true;
	location_names_init(&s->locations, en->dictionary, put_string);
	location_names_init_strings(&s->texts, en->dictionary, put_string);
	if (tree_output_open(&s->files.tree, en->options->output, "ctf", e))
		return -1;
	s->open = true;
	/* the first member is moved to its path last: without the metadata there is no trace */
	return tree_output_member(&s->files.tree, "metadata", 8, &s->metadata, e);
}

/* Make the UUID from the stream's id, so that the same input gives the same UUID. */
static int ctf_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct ctf_encoder *s = en->state;
	/* parts are traces of their own: their packets count from 0 */
	const struct clip *clip = en->options->clip;
	uint64_t id = h->stream_id + hash_u64(clip ? clip->part.number : 0);

	(void)e;
	if (get_u64(s->files.uuid))
		return 0;
	put_u64(s->files.uuid, hash_u64(id) | 1);
	put_u64(s->files.uuid + 8, hash_u64(id + 1));
	/* version 8: vendor-specific */
	s->files.uuid[6] = (uint8_t)((s->files.uuid[6] & 0x0f) | 0x80);
	s->files.uuid[8] = (uint8_t)((s->files.uuid[8] & 0x3f) | 0x80);
	return 0;
}

static int ctf_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct ctf_encoder *s = en->state;

	return attributes_meta(&s->attributes, m) ? error_no_memory(e) : 0;
}

static uint64_t ctf_size(const struct encoding *en)
{
	const struct ctf_encoder *s = en->state;

	return s->files.tree.total + s->files.pending;
}

static int ctf_end(struct encoding *en, struct error *e)
{
	struct ctf_encoder *s = en->state;

	if (ctf_files_flush(&s->files, e))
		return -1;
	s->bytes.size = 0;
	if (ctf_metadata(&s->classes, s->files.uuid, s->clock, &s->source, &s->bytes))
		return error_no_memory(e);
	if (tree_output_put(&s->files.tree, s->metadata, s->bytes.data, s->bytes.size, e))
		return -1;
	if (!en->options->quiet) {
		location_names_report(&s->locations);
		remark_count(
			s->stacks,
			"{stack was|stacks were} left out: an event has no stack, a sample only "
			"its innermost function");
		remark_count(s->ids.renamed, THREAD_IDS_RENAMED);
	}
	return tree_output_finish(&s->files.tree, e);
}

static void ctf_free(struct encoding *en)
{
	struct ctf_encoder *s = en->state;

	if (!s)
		return;
	if (s->open)
		ctf_files_free(&s->files);
	ctf_classes_free(&s->classes);
	attributes_free(&s->attributes);
	location_names_free(&s->locations);
	location_names_free(&s->texts);
	buffer_free(&s->bytes);
	buffer_free(&s->compound);
	thread_ids_free(&s->ids);
	open_calls_free(&s->calls);
	free(s->restored.list);
	free(s->lane_ids);
	free(s);
	en->state = NULL;
}

const struct encoder encoder_ctf = {
	.name = "ctf",
	.purpose = "Common Trace Format 1.8 or 2, for babeltrace, Trace Compass",
	.output = ENCODER_TREE,
	.report = true,
	.counts_calls = true,
	.begin = ctf_begin,
	.head = ctf_head,
	.event = ctf_event,
	.meta = ctf_meta,
	.end = ctf_end,
	.size = ctf_size,
	.free = ctf_free,
};

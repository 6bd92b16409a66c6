/*
 * reader.c - the readers of libtrstream
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/library/trstream.h"
#include "common/stream/value.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/util/output.h"
#include "common/util/version.h"
#include "common/value/argument.h"
#include "common/value/value_text.h"
#include "common/calls/calls.h"

struct trstream_reader {
	struct reader in;
	struct calls calls;
	struct bad_values bad_values;
	struct block block;
	struct events events;	      /* of the block, with in_block */
	struct event event;	      /* the last one, with has_event */
	uint32_t frame, frame_number; /* of trstream_reader_frame: a stack, from the innermost */
	struct trstream_call call;
	struct trstream_totals totals;
	struct error error;
	struct buffer scratch;
	char text[sizeof(struct error) + 32]; /* of the error */
	char *name;
	bool in_block, has_event;
	bool stopped; /* reading has ended */
	bool failed;  /* and not at the end of the stream */
};

const char *trstream_version(void)
{
	return TRUTILS_VERSION;
}

struct trstream_reader *trstream_reader_open_fd(int fd, const char *name)
{
	struct trstream_reader *r = calloc(1, sizeof *r);
	char *copy = strdup(name);

	if (!r || !copy || reader_open_fd(&r->in, fd, copy, NULL, 0)) {
		if (r && copy)
			reader_close(&r->in);
		else if (fd > STDERR_FILENO)
			close(fd);
		free(copy);
		free(r);
		errno = ENOMEM;
		return NULL;
	}
	r->name = copy;
	r->in.reads_values = READS_ALL;
	calls_init(&r->calls, &r->in.dictionary);
	return r;
}

struct trstream_reader *trstream_reader_open(const char *path)
{
	int fd;

	if (!strcmp(path, "-"))
		return trstream_reader_open_fd(STDIN_FILENO, "<stdin>");
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? NULL : trstream_reader_open_fd(fd, path);
}

void trstream_reader_close(struct trstream_reader *r)
{
	if (!r)
		return;
	calls_free(&r->calls);
	bad_values_free(&r->bad_values);
	buffer_free(&r->scratch);
	reader_close(&r->in);
	free(r->name);
	free(r);
}

/* Record an error of that status. Returns -1. */
static int library_fail(struct trstream_reader *r, const struct error *e, int status)
{
	r->error = *e;
	r->totals.status = status_worse(r->totals.status, status);
	return -1;
}

static int library_no_memory(struct trstream_reader *r)
{
	struct error e;

	error_no_memory(&e);
	r->stopped = r->failed = true;
	return library_fail(r, &e, STATUS_FAILED);
}

static int reader_take_end(struct trstream_reader *r)
{
	const struct end *end = &r->in.end;
	struct error e;

	r->totals.events += end->events;
	r->totals.gaps += end->gaps;
	r->totals.lost += end->lost;
	r->totals.lost_more |= (end->flags & END_LOST_MORE) != 0;
	if (!end->status)
		return 0;
	error_set(&e, r->in.file, NO_OFFSET, "%s: %s",
		  end->status == STATUS_FAILED ? "the program that wrote this failed"
					       : "the trace was damaged",
		  end->message.size ? end->message.text : "no cause is recorded");
	return library_fail(r, &e, end->status == STATUS_FAILED ? STATUS_FAILED : STATUS_DAMAGED);
}

static int reader_take_events(struct trstream_reader *r)
{
	uint64_t before = r->bad_values.count;

	if (bad_values_drop(&r->bad_values, &r->block, READS_ALL) < 0)
		return library_no_memory(r);
	events_begin(&r->events, &r->block);
	r->in_block = r->block.rows > 0;
	if (before || !r->bad_values.count)
		return 0;
	return library_fail(r, &r->bad_values.first, STATUS_DAMAGED);
}

/* Read blocks up to one with events: 1; 0: the end; -1. */
static int reader_next_block(struct trstream_reader *r)
{
	while (!r->in_block) {
		int got = reader_next(&r->in, &r->block);
		struct error e;

		r->stopped |= got == 0;
		if (!got)
			return 0;
		if (got < 0)
			return library_fail(r, &r->in.error,
					    r->in.fatal ? STATUS_FAILED : STATUS_DAMAGED);
		if (calls_restore(&r->calls, &r->block, &e))
			return library_no_memory(r);
		if ((r->block.kind == BLOCK_EVENTS && reader_take_events(r)) ||
		    (r->block.kind == BLOCK_END && reader_take_end(r)))
			return -1;
	}
	return 1;
}

static const char *location_name(struct trstream_reader *r, uint32_t location)
{
	return dictionary_location_name(&r->in.dictionary, location).text;
}

static bool in_ticks(const struct lane *l)
{
	return l->clock && l->clock->flags & CLOCK_TICKS;
}

static void describe_call(struct trstream_reader *r, const struct call *from)
{
	const struct lane *l = from->lane;

	r->call = (struct trstream_call){
		.name = location_name(r, from->location),
		.caller = from->caller ? location_name(r, from->caller) : "",
		.comm = l->comm.text,
		.cpu = l->flags & LANE_HAS_CPU ? l->cpu : -1,
		.tid = l->flags & LANE_HAS_TID ? l->tid : -1,
		.pid = l->flags & LANE_HAS_PID ? l->pid : -1,
		.start = from->start,
		.end = from->end,
		.dur = from->total,
		.self = from->self,
		.depth = from->level,
		.recursive = from->recursive,
		.unfinished = from->unfinished,
		.ticks = in_ticks(l),
	};
}

static void describe_gap(const struct event *ev, struct trstream_event *e)
{
	struct gap_row g;

	if (!gap_get(ev, &g))
		return;
	e->lost = g.count;
	e->reason = gap_reason_name(g.reason);
	e->unit = gap_unit_name(g.unit);
}

static void describe_event(struct trstream_reader *r, struct trstream_event *e)
{
	const struct event *ev = &r->event;
	const struct lane *l = ev->lane;
	const struct type *t = ev->type;

	*e = (struct trstream_event){
		.kind = (enum trstream_kind)t->kind,
		.time = ev->time,
		.ticks = in_ticks(l),
		.type = t->name.text,
		.group = t->group.text,
		.name = ev->location ? location_name(r, ev->location) : "",
		.comm = l->comm.text,
		.clock = l->clock ? l->clock->name.text : "",
		.input = l->source ? l->source->name.text : "",
		.cpu = l->flags & LANE_HAS_CPU ? l->cpu : -1,
		.tid = l->flags & LANE_HAS_TID ? l->tid : -1,
		.pid = l->flags & LANE_HAS_PID ? l->pid : -1,
		.nfields = t->nfields,
		.reason = "",
		.unit = "",
	};
	if (t->kind == KIND_ENTER || t->kind == KIND_LEAVE)
		e->depth = calls_depth(&r->calls, ev);
	if (t->kind == KIND_GAP)
		describe_gap(ev, e);
	if (t->kind == KIND_SAMPLE) {
		e->weight = sample_weight(ev);
		e->frames = dictionary_stack_frames(&r->in.dictionary, ev->stack);
	}
}

/* Read the next event, and pair it: 1, 0, -1. *ended: r->call is a call that it ended. */
static int next_event(struct trstream_reader *r, bool *ended)
{
	struct call done;
	int got;

	*ended = false;
	while (!r->stopped) {
		enum calls_result result;

		got = reader_next_block(r);
		if (got <= 0)
			return got;
		if (!event_next(&r->events, &r->event)) {
			r->in_block = false;
			continue;
		}
		r->has_event = true;
		if (r->event.type->kind == KIND_GAP)
			return 1;
		result = calls_next(&r->calls, &r->event, &done);
		if (r->calls.out_of_memory)
			return library_no_memory(r);
		if (r->event.type->kind == KIND_DROP)
			continue;
		*ended = result == CALLS_LEAVE;
		if (*ended)
			describe_call(r, &done);
		return 1;
	}
	return 0;
}

int trstream_reader_next(struct trstream_reader *r, struct trstream_event *e)
{
	bool ended;
	int got;

	r->has_event = false;
	r->frame_number = UINT32_MAX;
	got = next_event(r, &ended);
	if (got <= 0)
		return got;
	describe_event(r, e);
	e->call = ended ? &r->call : NULL;
	return 1;
}

int trstream_reader_next_call(struct trstream_reader *r, struct trstream_call *c)
{
	struct call done;
	bool ended;
	int got;

	r->has_event = false;
	while ((got = next_event(r, &ended)) > 0)
		if (ended) {
			*c = r->call;
			return 1;
		}
	r->has_event = false;
	if (got || r->failed || !calls_finish(&r->calls, &done))
		return got || !r->calls.out_of_memory || r->failed ? got : library_no_memory(r);
	describe_call(r, &done);
	*c = r->call;
	return 1;
}

/* --- values --- */

/* Convert what all programs print of a value. */
static bool reader_take_plain(struct trstream_reader *r, const struct value_item *item,
			      struct trstream_value *v)
{
	struct plain_source source = {.dictionary = &r->in.dictionary, .scratch = &r->scratch};
	struct plain_value p;
	bool is_signed;

	*v = (struct trstream_value){.form = TRSTREAM_NONE};
	buffer_clear(&r->scratch);
	if (value_plain(&source, item, &p))
		return false;
	if (p.kind == PLAIN_TEXT) {
		v->form = TRSTREAM_TEXT;
		v->text = p.text;
		v->size = (size_t)p.number;
	} else if (p.kind == PLAIN_REAL) {
		v->form = TRSTREAM_REAL;
		v->real = p.real;
	} else if (p.kind == PLAIN_INT || p.kind == PLAIN_UINT || p.kind == PLAIN_BOOL) {
		v->form = p.kind == PLAIN_INT ? TRSTREAM_INT : TRSTREAM_UINT;
		v->u = p.number;
	}
	/* a number with a label, or printed in hexadecimal, is a number first */
	if (p.kind == PLAIN_TEXT &&
	    value_integer(&item->value, item->definition, &v->u, &is_signed))
		v->form = is_signed ? TRSTREAM_INT : TRSTREAM_UINT;
	v->i = (int64_t)v->u;
	return true;
}

/* Append the functions of a stack, outermost first. */
static bool reader_append_stack(struct trstream_reader *r, uint32_t stack)
{
	const struct dictionary *d = &r->in.dictionary;
	struct buffer frames = {0};
	bool good = true;

	for (; stack && good; stack = dictionary_stack_parent(d, stack))
		good = !buffer_u32(&frames, dictionary_stack_location(d, stack));
	for (size_t i = frames.size; i && good; i -= 4)
		good = (i == frames.size || !buffer_u8(&r->scratch, ';')) &&
		       !buffer_puts(&r->scratch, location_name(r, get_u32(frames.data + i - 4)));
	buffer_free(&frames);
	return good;
}

static bool take_stack(struct trstream_reader *r, uint32_t stack, struct trstream_value *v)
{
	*v = (struct trstream_value){.form = TRSTREAM_TEXT};
	buffer_clear(&r->scratch);
	if (!stack || !reader_append_stack(r, stack))
		return false;
	v->text = (const char *)r->scratch.data;
	v->size = r->scratch.size;
	return true;
}

static bool reader_take_field(struct trstream_reader *r, const struct field *f, const char *name,
			      struct trstream_value *v)
{
	struct value_item item;
	struct field_value value;

	if (field_is_stack(f))
		return take_stack(r, field_stack(&r->in.dictionary, &r->event, f), v);
	field_get(&r->event, f, field_part(f, name).index, &value);
	field_named_item(&r->event, f, name, &item);
	if (!reader_take_plain(r, &item, v))
		return false;
	if (value.form == FORM_INT || value.form == FORM_UINT) {
		v->form = value.form == FORM_INT ? TRSTREAM_INT : TRSTREAM_UINT;
		v->u = value.u;
		v->i = value.i;
	}
	return value.form != FORM_NONE;
}

bool trstream_reader_field(struct trstream_reader *r, const char *name, struct trstream_value *v)
{
	struct value_item item = {.definition = NULL};
	const struct dictionary *d = &r->in.dictionary;
	const struct field *f = r->has_event ? field_find(r->event.type, name) : NULL;

	*v = (struct trstream_value){.form = TRSTREAM_NONE};
	if (f)
		return reader_take_field(r, f, name, v);
	if (!r->has_event || !argument_by_key(d, &r->event, name, &item.value))
		return false;
	if (item.value.definition)
		item.definition = dictionary_definition_id(d, item.value.definition);
	return reader_take_plain(r, &item, v);
}

const char *trstream_reader_field_at(struct trstream_reader *r, uint32_t number,
				     struct trstream_value *v)
{
	*v = (struct trstream_value){.form = TRSTREAM_NONE};
	if (!r->has_event || number >= r->event.type->nfields)
		return NULL;
	reader_take_field(r, &r->event.type->fields[number], "", v);
	return r->event.type->fields[number].name.text;
}

const char *trstream_reader_frame(struct trstream_reader *r, uint32_t number)
{
	const struct dictionary *d = &r->in.dictionary;

	if (!r->has_event)
		return NULL;
	if (number < r->frame_number) {
		r->frame = r->event.stack;
		r->frame_number = 0;
	}
	for (; r->frame && r->frame_number < number; r->frame_number++)
		r->frame = dictionary_stack_parent(d, r->frame);
	return r->frame ? location_name(r, dictionary_stack_location(d, r->frame)) : NULL;
}

/* --- the state --- */

const char *trstream_reader_error(struct trstream_reader *r)
{
	error_text(&r->error, r->text, sizeof r->text);
	return r->text;
}

void trstream_reader_totals(const struct trstream_reader *r, struct trstream_totals *t)
{
	*t = r->totals;
}

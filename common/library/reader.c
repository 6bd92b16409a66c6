/*
 * reader.c - the readers of libtrstream: event by event, call by call, and tables by columns
 *
 *     block of the stream          rows of a table               columns of a batch
 *     enter f, enter g, leave g    g: time 7, dur 3, lane 1      time  7 9   u64
 *     instant, leave f             f: time 9, dur 8, lane 1      name  4 2   texts by their numbers
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/expr/declared.h"
#include "common/library/trstream.h"
#include "common/stream/value.h"
#include "common/stream/field.h"
#include "common/stream/reader.h"
#include "common/util/output.h"
#include "common/util/version.h"
#include "common/value/argument.h"
#include "common/value/moment.h"
#include "common/value/value_text.h"
#include "common/calls/calls.h"

struct selection;

static void selection_free(struct selection *s);
static int selection_restore(struct trstream_reader *r);

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
	struct selection *selection; /* of trstream_reader_select; NULL: none */
	bool by_path;		     /* name is that of a file */
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
	struct trstream_reader *r;
	int fd;

	if (!strcmp(path, "-"))
		return trstream_reader_open_fd(STDIN_FILENO, "<stdin>");
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	r = fd < 0 ? NULL : trstream_reader_open_fd(fd, path);
	if (r)
		r->by_path = true;
	return r;
}

void trstream_reader_close(struct trstream_reader *r)
{
	if (!r)
		return;
	selection_free(r->selection);
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
		if (r->selection && selection_restore(r))
			return -1;
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

/* Get the CPU of an event or a call; e: NULL: its event is unknown. Returns -1: the CPU is unknown.
 */
static int32_t reader_cpu(const struct lane *l, const struct event *e)
{
	int64_t cpu;

	return field_cpu(l, e, &cpu) && cpu >= 0 && cpu <= INT32_MAX ? (int32_t)cpu : -1;
}

/* ev: the leave; NULL: the call is unfinished. */
static void describe_call(struct trstream_reader *r, const struct call *from,
			  const struct event *ev)
{
	const struct lane *l = from->lane;

	r->call = (struct trstream_call){
		.name = location_name(r, from->location),
		.caller = from->caller ? location_name(r, from->caller) : "",
		.comm = l->comm.text,
		.cpu = reader_cpu(l, ev),
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
		.cpu = reader_cpu(l, ev),
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
			describe_call(r, &done, &r->event);
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
	describe_call(r, &done, NULL);
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
	struct field_part part = field_part(f, name);
	struct value_item item;
	struct field_value value;

	if (field_is_stack(f))
		return take_stack(r, field_stack(&r->in.dictionary, &r->event, f), v);
	field_get(&r->event, f, part.index, &value);
	field_named_item(&r->event, f, name, &item);
	if (!reader_take_plain(r, &item, v))
		return false;
	if (part.name && v->text) {
		v->form = TRSTREAM_TEXT;
	} else if (value.form == FORM_INT || value.form == FORM_UINT) {
		v->form = value.form == FORM_INT ? TRSTREAM_INT : TRSTREAM_UINT;
		v->u = value.u;
		v->i = value.i;
	}
	return value.form != FORM_NONE;
}

/* Get the value of a key that is no field: an argument, or the return value. */
static bool reader_take_argument(struct trstream_reader *r, const char *key,
				 struct trstream_value *v)
{
	struct value_item item = {.definition = NULL};
	const struct dictionary *d = &r->in.dictionary;

	if (!argument_by_key(d, &r->event, key, &item.value))
		return false;
	if (item.value.definition)
		item.definition = dictionary_definition_id(d, item.value.definition);
	return reader_take_plain(r, &item, v);
}

bool trstream_reader_field(struct trstream_reader *r, const char *name, struct trstream_value *v)
{
	const struct field *f = r->has_event ? field_find(r->event.type, name) : NULL;

	*v = (struct trstream_value){.form = TRSTREAM_NONE};
	if (f)
		return reader_take_field(r, f, name, v);
	return r->has_event && reader_take_argument(r, name, v);
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

/* --- tables --- */

/* A row of a table: an event, or a call. */
struct table_row {
	uint64_t time, dur, self;
	uint64_t amount; /* weight of a sample; of a gap: units missing */
	const struct lane *lane;
	const struct type *type;
	uint32_t location, caller, depth, stack;
	int32_t cpu; /* -1 unknown; where the query has the column */
	bool recursive, unfinished;
};

/* A value of a field in a row; of a text its number in u. */
struct field_cell {
	enum trstream_form form;
	union {
		uint64_t u;
		double real;
	};
};

enum { TABLES = TRSTREAM_SAMPLES + 1, UNFINISHED_ROWS = 8192 };

/* A column that is no field: get returns whether a row has a value. */
struct table_column {
	const char *name;
	uint8_t size; /* of an element, in bytes */
	uint8_t form;
	uint8_t tables; /* which have it, a bit each */
	bool (*get)(struct trstream_reader *r, const struct table_row *row, uint64_t *value);
};

/* A column of a query. */
struct query_column {
	const struct table_column *is; /* NULL: a field */
	char *name;		       /* without the point of a field */
	const struct field **of;       /* by type number: the field; NULL: not looked up */
	size_t nof;
	struct field_cell *cells; /* of a field, by row */
	size_t capacity;
};

/* What trstream_reader_select chose. */
struct selection {
	enum trstream_table table;
	struct query_column *columns;
	uint32_t ncolumns, ntypes;
	char **types;
	char *since, *until;
	struct time_window window;
	bool pairs;	      /* enters and leaves are paired */
	bool fields;	      /* some column is a field */
	bool cpus;	      /* some column is the CPU */
	bool checked;	      /* the names of the query were looked for in the stream */
	uint8_t *type_choice; /* by type number: enum type_choice */
	size_t ntype_choice;
	struct table_row *rows;
	size_t nrows, capacity;
	/* Texts of names of locations, by number; of those of the present declarations. */
	struct {
		struct name_text {
			uint32_t text, declarations;
		} * of;
		size_t count;
		uint32_t declarations;
	} names;
	uint32_t kinds[KIND_COUNT]; /* texts of kinds, 0 unknown */
	bool out_of_memory;
};

enum type_choice { TYPE_NOT_ASKED, TYPE_CHOSEN, TYPE_LEFT_OUT };

/* Get the number of a text that is not empty. */
static uint64_t table_text(struct trstream_reader *r, const void *data, size_t n)
{
	struct text_ref text = dictionary_text(&r->in.dictionary, data, n);

	r->selection->out_of_memory |= n && !text.size;
	return text.number;
}

static uint64_t table_location_text(struct trstream_reader *r, uint32_t location)
{
	struct selection *s = r->selection;
	struct name_text *known;

	if (ARRAY_REACH(s->names.of, s->names.count, location)) {
		s->out_of_memory = true;
		return 0;
	}
	known = &s->names.of[location];
	if (known->declarations != s->names.declarations || !known->text) {
		struct text_ref name = dictionary_location_name(&r->in.dictionary, location);

		s->out_of_memory |= !name.size;
		*known = (struct name_text){name.number, s->names.declarations};
	}
	return known->text;
}

/* Limit a number to those of a signed column. */
static uint64_t column_signed(uint64_t v)
{
	return v < INT64_MAX ? v : INT64_MAX;
}

static bool column_time(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = column_signed(row->time);
	return true;
}

static bool column_dur(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = column_signed(row->dur);
	return true;
}

static bool column_self(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = column_signed(row->self);
	return true;
}

static bool column_kind(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	bool is_call = r->selection->table == TRSTREAM_CALLS;
	uint32_t *text = &r->selection->kinds[is_call ? 0 : row->type->kind];
	const char *name = is_call ? "call" : type_kind_name(row->type->kind);

	if (!*text)
		*text = (uint32_t)table_text(r, name, strlen(name));
	*value = *text;
	return true;
}

static bool column_type(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = row->type ? row->type->name.number : 0;
	return true;
}

static bool column_group(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = row->type ? row->type->group.number : 0;
	return true;
}

static bool column_name(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	unsigned kind = row->type ? row->type->kind : KIND_LEAVE;
	bool is_function = kind == KIND_ENTER || kind == KIND_LEAVE || kind == KIND_SAMPLE;

	*value = is_function || row->location ? table_location_text(r, row->location)
					      : row->type->name.number;
	return true;
}

static bool column_caller(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	*value = row->caller ? table_location_text(r, row->caller) : 0;
	return true;
}

static bool column_depth(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	*value = row->depth;
	return r->selection->table == TRSTREAM_CALLS || row->type->kind == KIND_ENTER ||
	       row->type->kind == KIND_LEAVE;
}

static bool column_recursive(struct trstream_reader *r, const struct table_row *row,
			     uint64_t *value)
{
	(void)r;
	*value = row->recursive;
	return true;
}

static bool column_unfinished(struct trstream_reader *r, const struct table_row *row,
			      uint64_t *value)
{
	(void)r;
	*value = row->unfinished;
	return true;
}

static bool column_weight(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	if (row->type->kind != KIND_SAMPLE)
		return false;
	*value = type_weight_is_signed(row->type) ? row->amount : column_signed(row->amount);
	return true;
}

static bool column_stack(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = row->stack;
	return row->stack;
}

static bool column_lost(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = column_signed(row->amount);
	return row->type->kind == KIND_GAP && row->amount < UINT64_MAX;
}

static bool column_cpu(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = (uint64_t)(int64_t)row->cpu;
	return row->cpu >= 0;
}

static bool column_tid(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = (uint64_t)row->lane->tid;
	return row->lane->flags & LANE_HAS_TID;
}

static bool column_pid(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = (uint64_t)row->lane->pid;
	return row->lane->flags & LANE_HAS_PID;
}

static bool column_comm(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = row->lane->comm.number;
	return true;
}

static bool column_clock(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = row->lane->clock ? row->lane->clock->name.number : 0;
	return true;
}

static bool column_time_unit(struct trstream_reader *r, const struct table_row *row,
			     uint64_t *value)
{
	*value = in_ticks(row->lane) ? table_text(r, "ticks", 5) : 0;
	return true;
}

static bool column_input(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	(void)r;
	*value = row->lane->source ? row->lane->source->name.number : 0;
	return true;
}

/* Get the symbol of a row's function; NULL: it has none. */
static const struct location_symbol *column_symbol(const struct trstream_reader *r,
						   const struct table_row *row)
{
	const struct location *l = dictionary_location(&r->in.dictionary, row->location);

	return l ? l->symbol : NULL;
}

static bool column_module(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	const struct location_symbol *symbol = column_symbol(r, row);

	*value = symbol ? symbol->module.number : 0;
	return true;
}

static bool column_file(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	const struct location_symbol *symbol = column_symbol(r, row);

	*value = symbol ? symbol->file.number : 0;
	return true;
}

static bool column_line(struct trstream_reader *r, const struct table_row *row, uint64_t *value)
{
	const struct location_symbol *symbol = column_symbol(r, row);

	*value = symbol ? symbol->line : 0;
	return *value;
}

enum {
	OF_EVENTS = 1 << TRSTREAM_EVENTS,
	OF_CALLS = 1 << TRSTREAM_CALLS,
	OF_SAMPLES = 1 << TRSTREAM_SAMPLES,
	OF_ALL = (1 << TABLES) - 1,
};

static const struct table_column table_columns[] = {
	{"time", 8, TRSTREAM_INT, OF_ALL, column_time},
	{"dur", 8, TRSTREAM_INT, OF_CALLS, column_dur},
	{"self", 8, TRSTREAM_INT, OF_CALLS, column_self},
	{"kind", 4, TRSTREAM_TEXT, OF_ALL, column_kind},
	{"type", 4, TRSTREAM_TEXT, OF_ALL, column_type},
	{"group", 4, TRSTREAM_TEXT, OF_ALL, column_group},
	{"name", 4, TRSTREAM_TEXT, OF_ALL, column_name},
	{"caller", 4, TRSTREAM_TEXT, OF_CALLS, column_caller},
	{"depth", 4, TRSTREAM_INT, OF_EVENTS | OF_CALLS, column_depth},
	{"recursive", 1, TRSTREAM_UINT, OF_CALLS, column_recursive},
	{"unfinished", 1, TRSTREAM_UINT, OF_CALLS, column_unfinished},
	{"weight", 8, TRSTREAM_INT, OF_EVENTS | OF_SAMPLES, column_weight},
	{"stack", 4, TRSTREAM_INT, OF_EVENTS | OF_SAMPLES, column_stack},
	{"lost", 8, TRSTREAM_INT, OF_EVENTS, column_lost},
	{"cpu", 4, TRSTREAM_INT, OF_ALL, column_cpu},
	{"tid", 4, TRSTREAM_INT, OF_ALL, column_tid},
	{"pid", 4, TRSTREAM_INT, OF_ALL, column_pid},
	{"comm", 4, TRSTREAM_TEXT, OF_ALL, column_comm},
	{"clock", 4, TRSTREAM_TEXT, OF_ALL, column_clock},
	{"time_unit", 4, TRSTREAM_TEXT, OF_ALL, column_time_unit},
	{"input", 4, TRSTREAM_TEXT, OF_ALL, column_input},
	{"module", 4, TRSTREAM_TEXT, OF_ALL, column_module},
	{"file", 4, TRSTREAM_TEXT, OF_ALL, column_file},
	{"line", 4, TRSTREAM_INT, OF_ALL, column_line},
};

static void offer_columns(struct nearest *nearest)
{
	for (size_t i = 0; i < sizeof table_columns / sizeof *table_columns; i++)
		nearest_offer(nearest, table_columns[i].name, strlen(table_columns[i].name));
}

/* --- the query --- */

static void selection_free(struct selection *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->ncolumns; i++) {
		free(s->columns[i].name);
		free(s->columns[i].of);
		free(s->columns[i].cells);
	}
	for (uint32_t i = 0; i < s->ntypes; i++)
		free(s->types[i]);
	free(s->columns);
	free(s->types);
	free(s->since);
	free(s->until);
	time_window_free(&s->window);
	free(s->type_choice);
	free(s->rows);
	free(s->names.of);
	free(s);
}

static int query_time(struct moment *m, const char *name, const char *text, char **copy,
		      struct error *e)
{
	if (!text)
		return 0;
	*copy = strdup(text);
	return *copy ? moment_option(m, name, *copy, e) : error_no_memory(e);
}

static int query_times(struct trstream_reader *r, const struct trstream_query *q, struct error *e)
{
	struct selection *s = r->selection;
	struct time_window *w = &s->window;

	if (query_time(&w->since, "since", q->since, &s->since, e) ||
	    query_time(&w->until, "until", q->until, &s->until, e) ||
	    moment_check_range(&w->since, &w->until, e))
		return -1;
	if (r->by_path || (w->since.from != MOMENT_END && w->until.from != MOMENT_END))
		return time_window_find_ends(w, &r->name, 1, e);
	return error_set(e, r->name, NO_OFFSET,
			 "a time before the end needs the name of a saved stream, since its end is "
			 "read first");
}

static int query_columns(struct selection *s, const struct trstream_query *q, struct error *e)
{
	s->columns = calloc(q->ncolumns + 1u, sizeof *s->columns);
	s->types = calloc(q->ntypes + 1u, sizeof *s->types);
	if (!s->columns || !s->types)
		return error_no_memory(e);
	for (uint32_t i = 0; i < q->ncolumns; i++) {
		struct query_column *c = &s->columns[s->ncolumns++];
		const char *name = q->columns[i];
		size_t n = sizeof table_columns / sizeof *table_columns;

		while (n-- && !c->is)
			if (!strcmp(table_columns[n].name, name) &&
			    table_columns[n].tables & 1 << s->table)
				c->is = &table_columns[n];
		s->pairs |= c->is && c->is->get == column_depth;
		s->fields |= !c->is;
		s->cpus |= c->is && c->is->get == column_cpu;
		c->name = strdup(name + (!c->is && *name == '.'));
		if (!c->name)
			return error_no_memory(e);
	}
	for (; s->ntypes < q->ntypes; s->ntypes++) {
		s->types[s->ntypes] = strdup(q->types[s->ntypes]);
		if (!s->types[s->ntypes])
			return error_no_memory(e);
	}
	return 0;
}

int trstream_reader_select(struct trstream_reader *r, const struct trstream_query *q)
{
	struct error e;
	struct selection *s;

	if (r->selection || r->in.dictionary.stream || (unsigned)q->table >= TABLES) {
		error_set(&e, NULL, NO_OFFSET,
			  "a query has one of the tables, and is chosen once, before the first "
			  "event");
		return library_fail(r, &e, STATUS_FAILED);
	}
	s = r->selection = calloc(1, sizeof *s);
	if (!s)
		return library_no_memory(r);
	s->table = q->table;
	s->pairs = q->table == TRSTREAM_CALLS;
	s->names.declarations = 1;
	if (!query_columns(s, q, &e) && !query_times(r, q, &e))
		return 0;
	r->stopped = r->failed = true;
	return library_fail(r, &e, STATUS_FAILED);
}

/* Test whether a type is one of the query. */
static bool selection_has_type(struct selection *s, const struct type *t)
{
	uint8_t *choice;

	if (ARRAY_REACH(s->type_choice, s->ntype_choice, t->number)) {
		s->out_of_memory = true;
		return false;
	}
	choice = &s->type_choice[t->number];
	for (uint32_t i = 0; i < s->ntypes && *choice != TYPE_CHOSEN; i++)
		*choice = strcmp(s->types[i], t->name.text) ? TYPE_LEFT_OUT : TYPE_CHOSEN;
	return *choice == TYPE_CHOSEN;
}

/* Check at the end that the stream declares the types of the query. */
static int selection_check_types(struct trstream_reader *r, struct error *e)
{
	const struct dictionary *d = &r->in.dictionary;
	struct selection *s = r->selection;

	for (uint32_t i = 0; i < s->ntypes; i++) {
		struct nearest nearest;
		bool found = false;

		nearest_begin(&nearest, s->types[i], strlen(s->types[i]));
		for (uint32_t t = 1; t < d->types.count && !found; t++) {
			struct text_ref name = dictionary_type(d, t)->name;

			found = !strcmp(name.text, s->types[i]);
			nearest_offer(&nearest, name.text, name.size);
		}
		if (!found)
			return error_set(e, r->in.file, NO_OFFSET,
					 "no event has the type '%.64s'%s", s->types[i],
					 nearest_hint(&nearest));
	}
	return 0;
}

/* The same for the fields, of a stream with events and without damage. */
static int selection_check(struct trstream_reader *r, struct error *e)
{
	struct selection *s = r->selection;
	struct declared declared = {.dictionary = &r->in.dictionary,
				    .file = r->in.file,
				    .offer = offer_columns,
				    .quiet = true};

	if (s->checked || r->totals.status || !r->totals.events)
		return 0;
	s->checked = true;
	for (uint32_t i = 0; i < s->ncolumns; i++)
		if (!s->columns[i].is && declared_field(&declared, s->columns[i].name, false, e))
			return -1;
	return selection_check_types(r, e);
}

/* --- rows of tables --- */

/* Get the range of times of a clock. -1: r->error is set. */
static int selection_range(struct trstream_reader *r, const struct clock *clock,
			   struct clock_window *range)
{
	struct time_window *w = &r->selection->window;

	*range = (struct clock_window){.until = UINT64_MAX};
	if (!clock || !time_window_any(w))
		return 0;
	*range = *time_window_of(w, clock);
	if (!w->failed)
		return 0;
	r->stopped = r->failed = true;
	return library_fail(r, &w->error, STATUS_FAILED);
}

/* Note a block, before its calls are restored or its rows are read. */
static int selection_restore(struct trstream_reader *r)
{
	const struct clock *clock = calls_restore_clock(&r->block);
	struct selection *s = r->selection;
	struct clock_window range;

	s->names.declarations += r->block.kind == BLOCK_DICT;
	time_window_block(&s->window, &r->block,
			  r->block.kind == BLOCK_HEAD && !r->in.head.sequence);
	if (!clock || !time_window_any(&s->window))
		return 0;
	if (selection_range(r, clock, &range))
		return -1;
	calls_restore_since(&r->block, range.since);
	return 0;
}

/* Read the fields of the last event for the next row. */
static int table_take_fields(struct trstream_reader *r)
{
	static const struct field none;
	struct selection *s = r->selection;

	for (struct query_column *c = s->columns; c < s->columns + s->ncolumns; c++) {
		uint32_t type = r->event.type->number;
		struct field_cell cell = {TRSTREAM_NONE, {0}};
		const struct field *f;
		struct trstream_value v;

		if (c->is)
			continue;
		if (ARRAY_REACH(c->cells, c->capacity, s->nrows) ||
		    ARRAY_REACH(c->of, c->nof, type))
			return -1;
		if (!c->of[type]) {
			f = field_find(r->event.type, c->name);
			c->of[type] = f ? f : &none;
		}
		f = c->of[type] == &none ? NULL : c->of[type];
		if (f ? reader_take_field(r, f, c->name, &v)
		      : reader_take_argument(r, c->name, &v)) {
			cell.form = v.form;
			if (v.form == TRSTREAM_REAL)
				cell.real = v.real;
			else
				cell.u = v.form == TRSTREAM_TEXT ? table_text(r, v.text, v.size)
								 : v.u;
		}
		c->cells[s->nrows] = cell;
	}
	return 0;
}

static inline void table_call(struct table_row *row, const struct call *c, const struct type *t)
{
	row->time = c->start;
	row->dur = c->total;
	row->self = c->self;
	row->lane = c->lane;
	row->type = t;
	row->location = c->location;
	row->caller = c->caller;
	row->depth = c->level;
	row->recursive = c->recursive;
	row->unfinished = c->unfinished;
}

static inline void table_event(struct trstream_reader *r, const struct event *ev,
			       struct table_row *row)
{
	unsigned kind = ev->type->kind;
	struct gap_row g;

	row->time = ev->time;
	row->lane = ev->lane;
	row->type = ev->type;
	row->location = ev->location;
	row->stack = ev->stack;
	if (r->selection->pairs && (kind == KIND_ENTER || kind == KIND_LEAVE))
		row->depth = calls_depth(&r->calls, ev);
	if (kind == KIND_SAMPLE)
		row->amount = sample_weight(ev);
	if (kind == KIND_GAP)
		row->amount = gap_get(ev, &g) ? g.count : UINT64_MAX;
}

/* Add what an event is in the table, whose rows have place for it. outside: it is before the
 * range of times. */
static inline __attribute__((always_inline)) int
table_take_event(struct trstream_reader *r, const struct event *ev, bool outside)
{
	struct selection *s = r->selection;
	struct table_row *row = &s->rows[s->nrows];
	unsigned kind = ev->type->kind;
	bool is_call = false;
	struct call call;

	if (s->pairs && kind != KIND_GAP)
		is_call = calls_next(&r->calls, ev, &call) == CALLS_LEAVE;
	if (outside || kind == KIND_DROP || (s->ntypes && !selection_has_type(s, ev->type)))
		return 0;
	if (s->table == TRSTREAM_CALLS) {
		if (!is_call)
			return 0;
		table_call(row, &call, ev->type);
	} else {
		if (s->table == TRSTREAM_SAMPLES && kind != KIND_SAMPLE)
			return 0;
		table_event(r, ev, row);
	}
	if (s->cpus)
		row->cpu = reader_cpu(row->lane, ev);
	if (s->fields) {
		r->event = *ev;
		if (table_take_fields(r))
			return -1;
	}
	s->nrows++;
	return 0;
}

/* Note that the threads of the block have events after the range. */
static void pass_threads(struct trstream_reader *r)
{
	for (uint32_t i = 0; i < r->block.nlanes; i++) {
		calls_pass_until(&r->calls, r->block.lanes[i]->thread);
		calls_pass_until(&r->calls, r->block.lanes[i]->cpu_thread);
	}
}

/* Take the rows of the block. */
static int table_take_block(struct trstream_reader *r)
{
	struct clock_window range;
	struct events it;
	struct event ev;

	r->in_block = false;
	if (selection_range(r, r->block.nlanes ? r->block.lanes[0]->clock : NULL, &range))
		return -1;
	r->calls.since = range.since;
	r->calls.end.until = range.until;
	if (r->block.base >= range.until) {
		pass_threads(r);
		return 0;
	}
	if (ARRAY_REACH(r->selection->rows, r->selection->capacity, r->block.rows))
		return library_no_memory(r);
	r->has_event = true;
	/* copies stay in registers: 10 million rows take 0.86 times the CPU */
	it = r->events;
	while (event_next(&it, &ev)) {
		bool outside = ev.time < range.since;

		if (ev.time >= range.until) {
			if (ev.type->kind != KIND_GAP)
				calls_pass_until(&r->calls, calls_thread(&ev));
			continue;
		}
		/* what is open at the begin of the range begins there */
		r->calls.moved_from = outside ? ev.time : 0;
		if (outside)
			ev.time = range.since;
		if (table_take_event(r, &ev, outside))
			return library_no_memory(r);
	}
	r->has_event = false;
	r->calls.moved_from = 0;
	return r->calls.out_of_memory || r->selection->out_of_memory ? library_no_memory(r) : 0;
}

/* Take the calls that are open at the end. */
static int table_take_unfinished(struct trstream_reader *r)
{
	struct selection *s = r->selection;
	struct call call;

	while (s->nrows < UNFINISHED_ROWS && calls_finish(&r->calls, &call)) {
		if (call_is_unnamed(&call) ||
		    (s->ntypes && (!call.type || !selection_has_type(s, call.type))))
			continue;
		if (ARRAY_REACH(s->rows, s->capacity, s->nrows))
			return library_no_memory(r);
		for (struct query_column *c = s->columns; c < s->columns + s->ncolumns; c++) {
			if (c->is)
				continue;
			if (ARRAY_REACH(c->cells, c->capacity, s->nrows))
				return library_no_memory(r);
			c->cells[s->nrows] = (struct field_cell){TRSTREAM_NONE, {0}};
		}
		s->rows[s->nrows].cpu = reader_cpu(call.lane, NULL);
		table_call(&s->rows[s->nrows++], &call, call.type);
	}
	return r->calls.out_of_memory ? library_no_memory(r) : 0;
}

/* --- batches --- */

/* Write an integer as an element of a column. */
static inline void column_put(uint8_t *values, size_t i, uint8_t size, uint64_t v)
{
	uint32_t word = (uint32_t)v;

	if (size == 8)
		memcpy(values + i * 8, &v, 8);
	else if (size == 4)
		memcpy(values + i * 4, &word, 4);
	else
		values[i] = (uint8_t)v;
}

/* Fill a column that is no field. Returns whether a value is missing. */
static bool column_fill(struct trstream_reader *r, const struct table_column *c, uint8_t *values,
			uint8_t *missing)
{
	const struct selection *s = r->selection;
	bool lacks = false;

	for (size_t i = 0; i < s->nrows; i++) {
		uint64_t v = 0;

		missing[i] = !c->get(r, &s->rows[i], &v);
		lacks |= missing[i];
		column_put(values, i, c->size, missing[i] ? 0 : v);
	}
	return lacks;
}

/* Choose a form that all values of a field have. */
static enum trstream_form field_column_form(const struct query_column *c, size_t n)
{
	bool has[TRSTREAM_TEXT + 1] = {false}, negative = false, large = false;

	for (size_t i = 0; i < n; i++) {
		const struct field_cell *cell = &c->cells[i];

		has[cell->form] = true;
		negative |= cell->form == TRSTREAM_INT && cell->u > INT64_MAX;
		large |= cell->form == TRSTREAM_UINT && cell->u > INT64_MAX;
	}
	if (has[TRSTREAM_TEXT])
		return TRSTREAM_TEXT;
	if (has[TRSTREAM_REAL] || (negative && large))
		return TRSTREAM_REAL;
	if (large)
		return TRSTREAM_UINT;
	return has[TRSTREAM_INT] || has[TRSTREAM_UINT] ? TRSTREAM_INT : TRSTREAM_NONE;
}

static double field_cell_real(const struct field_cell *c)
{
	return c->form == TRSTREAM_REAL	 ? c->real
	       : c->form == TRSTREAM_INT ? (double)(int64_t)c->u
					 : (double)c->u;
}

/* Get the text of a number in a column with texts. */
static uint64_t field_cell_text(struct trstream_reader *r, const struct field_cell *c)
{
	char text[SHORTEST_SIZE];
	int n;

	if (c->form == TRSTREAM_TEXT)
		return c->u;
	if (c->form == TRSTREAM_REAL)
		n = (int)shortest_double(text, c->real);
	else
		n = snprintf(text, sizeof text, c->form == TRSTREAM_INT ? "%" PRId64 : "%" PRIu64,
			     c->u);
	return table_text(r, text, (size_t)n);
}

static bool field_column_fill(struct trstream_reader *r, const struct query_column *c,
			      enum trstream_form form, uint8_t *values, uint8_t *missing)
{
	size_t n = r->selection->nrows;
	bool lacks = false;

	for (size_t i = 0; i < n; i++) {
		const struct field_cell *cell = &c->cells[i];
		double real;

		missing[i] = cell->form == TRSTREAM_NONE;
		lacks |= missing[i];
		if (form == TRSTREAM_TEXT) {
			column_put(values, i, 4, missing[i] ? 0 : field_cell_text(r, cell));
		} else if (form == TRSTREAM_REAL) {
			real = field_cell_real(cell);
			memcpy(values + 8 * i, &real, 8);
		} else if (form != TRSTREAM_NONE) {
			column_put(values, i, 8, cell->u);
		}
	}
	return lacks;
}

/* Make a batch of the rows. NULL: out of memory. */
static struct trstream_batch *batch_make(struct trstream_reader *r)
{
	struct selection *s = r->selection;
	size_t n = s->nrows, head = s->ncolumns * sizeof(struct trstream_column);
	struct trstream_batch *b;
	struct trstream_column *columns;
	uint8_t *at;

	/* at most 8 bytes for a value, and one for missing; columns begin at multiples of 8 */
	b = malloc(sizeof *b + head + s->ncolumns * (9 * n + 8));
	if (!b)
		return NULL;
	columns = (struct trstream_column *)(b + 1);
	at = (uint8_t *)(columns + s->ncolumns);
	for (uint32_t i = 0; i < s->ncolumns; i++) {
		const struct query_column *c = &s->columns[i];
		enum trstream_form form = c->is ? c->is->form : field_column_form(c, n);
		uint32_t size = c->is ? c->is->size : form == TRSTREAM_TEXT ? 4 : form ? 8 : 0;
		uint8_t *missing = at + size * n;
		bool lacks = c->is ? column_fill(r, c->is, at, missing)
				   : field_column_fill(r, c, form, at, missing);

		columns[i] = (struct trstream_column){.form = form,
						      .size = size,
						      .values = form ? at : NULL,
						      .missing = lacks ? missing : NULL};
		at = missing + (lacks ? n : 0);
		at += -(uintptr_t)at & 7;
	}
	*b = (struct trstream_batch){.rows = n, .ncolumns = s->ncolumns, .columns = columns};
	s->nrows = 0;
	return b;
}

/* Read blocks until the table has rows: 1; 0: the end; -1. */
static int table_next_rows(struct trstream_reader *r)
{
	struct selection *s = r->selection;
	struct error e;
	int got;

	while (!r->stopped && !s->nrows) {
		got = reader_next_block(r);
		if (got < 0 || (got && table_take_block(r)))
			return -1;
	}
	if (!s->nrows && s->table == TRSTREAM_CALLS && !r->failed && table_take_unfinished(r))
		return -1;
	if (s->nrows || r->failed)
		return s->nrows > 0;
	if (!selection_check(r, &e))
		return 0;
	r->failed = true;
	return library_fail(r, &e, STATUS_FAILED);
}

int trstream_reader_next_batch(struct trstream_reader *r, struct trstream_batch **b)
{
	struct error e;
	int got;

	*b = NULL;
	if (!r->selection) {
		error_set(&e, NULL, NO_OFFSET, "no query was chosen");
		r->stopped = r->failed = true;
		return library_fail(r, &e, STATUS_FAILED);
	}
	got = table_next_rows(r);
	if (got <= 0)
		return got;
	*b = batch_make(r);
	return *b && !r->selection->out_of_memory ? 1 : library_no_memory(r);
}

void trstream_batch_free(struct trstream_batch *b)
{
	free(b);
}

const char *trstream_reader_text(const struct trstream_reader *r, uint32_t number, size_t *size)
{
	struct text_ref text;

	if (number >= r->in.dictionary.strings.count)
		return NULL;
	text = dictionary_string(&r->in.dictionary, number);
	*size = text.size;
	return text.text;
}

bool trstream_reader_stack(struct trstream_reader *r, uint32_t stack, uint32_t *name,
			   uint32_t *caller)
{
	struct dictionary *d = &r->in.dictionary;

	if (!stack || stack > stack_table_count(&d->stacks))
		return false;
	*caller = dictionary_stack_parent(d, stack);
	*name = dictionary_location_name(d, dictionary_stack_location(d, stack)).number;
	return *name;
}

/* --- the state --- */

const char *trstream_reader_error(struct trstream_reader *r)
{
	error_text(&r->error, r->text, sizeof r->text);
	return r->text;
}

const char *trstream_reader_error_place(struct trstream_reader *r, uint64_t *offset)
{
	*offset = r->error.offset;
	return r->error.file;
}

void trstream_reader_totals(const struct trstream_reader *r, struct trstream_totals *t)
{
	*t = r->totals;
}

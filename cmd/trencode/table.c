/*
 * table.c - tables of events: csv, tsv, ndjson
 *
 *     time,tid,comm,kind,name
 *     1000,7,worker,enter,read
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/trencode/convert.h"
#include "cmd/trencode/formats.h"
#include "cmd/trencode/table.h"
#include "common/expr/declared.h"
#include "common/formats/apitrace.h"
#include "common/protobuf/protobuf.h"
#include "common/scheduling/states.h"
#include "common/stream/dictionary.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/util/output.h"
#include "common/util/text.h"
#include "common/util/version.h"
#include "common/value/delimited.h"
#include "common/value/json.h"
#include "common/value/scalar.h"

/* Values of field_columns.fields. */
enum { NOT_KNOWN, NO_FIELD, FIRST_FIELD };

/* Add a column, of a field or .field. The caller checks FIELD_COLUMNS. */
static int field_columns_add(struct field_columns *c, const char *name, size_t n)
{
	struct dictionary *d = c->attributes.dictionary;
	bool dot = n > 1 && *name == '.';
	struct text_ref column = dictionary_text(d, name, n);
	struct text_ref text = dictionary_text(d, name + dot, n - dot);

	if (!column.number || !text.number)
		return -1;
	c->columns[c->count] = column;
	c->names[c->count++] = text;
	return 0;
}

/* Append to c->bytes what the event has. */
static int field_columns_take(struct field_columns *c, const struct event *ev)
{
	const struct type *t = ev->type;
	uint32_t *fields;

	if (ARRAY_REACH(c->fields, c->nfields, (size_t)(t->number + 1) * c->count - 1))
		return -1;
	fields = c->fields + (size_t)t->number * c->count;
	for (size_t i = 0; i < c->count; i++) {
		const struct field *f;

		if (fields[i] == NOT_KNOWN) {
			f = field_find(t, c->names[i].text);
			fields[i] = f ? FIRST_FIELD + (uint32_t)(f - t->fields) : NO_FIELD;
		}
		f = fields[i] == NO_FIELD ? NULL : &t->fields[fields[i] - FIRST_FIELD];
		if ((f || (t->flags & TYPE_VALUES && !c->declared)) &&
		    attributes_append_key(&c->attributes, ev, f, c->names[i], &c->bytes))
			return -1;
	}
	return 0;
}

/* Set the cells by c->bytes. They are valid until it changes. */
static int field_columns_read(struct field_columns *c)
{
	const struct attributes *a = &c->attributes;

	memset(c->cells, 0, c->count * sizeof *c->cells);
	if (!c->bytes.size)
		return 0;
	if (attributes_read(&c->attributes, &c->bytes))
		return -1;
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < c->count; k++)
			if (c->names[k].number == a->items[i].name)
				c->cells[k] = &a->items[i];
	return 0;
}

/* --- event rows --- */

enum { USUAL_COLUMNS = ROW_ARGS + 1 };

const struct row_column_kind row_columns[ROW_COLUMNS] = {
	[ROW_TIME] = {"time", COLUMN_TIME},
	[ROW_DUR] = {"dur", COLUMN_TIME},
	[ROW_TYPE] = {"type", COLUMN_NAME},
	[ROW_PID] = {"pid", COLUMN_SMALL},
	[ROW_TID] = {"tid", COLUMN_SMALL},
	[ROW_CPU] = {"cpu", COLUMN_SMALL},
	[ROW_COMM] = {"comm", COLUMN_NAME},
	[ROW_NAME] = {"name", COLUMN_NAME},
	[ROW_DEPTH] = {"depth", COLUMN_SMALL},
	[ROW_FILE] = {"file", COLUMN_NAME},
	[ROW_LINE] = {"line", COLUMN_SMALL},
	[ROW_ARGS] = {"args", COLUMN_OBJECT},
	[ROW_KIND] = {"kind", COLUMN_NAME},
	[ROW_SELF] = {"self", COLUMN_TIME},
	[ROW_CALLER] = {"caller", COLUMN_NAME},
	[ROW_RECURSIVE] = {"recursive", COLUMN_FLAG},
	[ROW_UNFINISHED] = {"unfinished", COLUMN_FLAG},
	[ROW_GROUP] = {"group", COLUMN_NAME},
	[ROW_MODULE] = {"module", COLUMN_NAME},
	[ROW_CLASS] = {"class", COLUMN_NAME},
	[ROW_INPUT] = {"input", COLUMN_NAME},
	[ROW_STACK] = {"stack", COLUMN_OBJECT},
	[ROW_WEIGHT] = {"weight", COLUMN_INT},
	[ROW_WEIGHT_TOTAL] = {"weight_total", COLUMN_INT},
	[ROW_WEIGHT_COUNT] = {"weight_count", COLUMN_INT},
	[ROW_WEIGHT_UNIT] = {"weight_unit", COLUMN_NAME},
	[ROW_TIME_UNIT] = {"time_unit", COLUMN_NAME},
	[ROW_NESTING] = {"nesting", COLUMN_NAME},
	[ROW_RUNNING] = {"running", COLUMN_TIME},
	[ROW_RUNNABLE] = {"runnable", COLUMN_TIME},
	[ROW_SLEEPING] = {"sleeping", COLUMN_TIME},
	[ROW_BLOCKED] = {"blocked", COLUMN_TIME},
	[ROW_IOWAIT] = {"iowait", COLUMN_TIME},
	[ROW_OFFCPU] = {"offcpu", COLUMN_TIME},
	[ROW_UNKNOWN] = {"unknown", COLUMN_TIME},
};

/* --- which columns --- */

static bool rows_wanted(const struct event_rows *r, enum row_column c)
{
	return r->wanted >> c & 1;
}

static void rows_want(struct event_rows *r, enum row_column c)
{
	r->columns[r->ncolumns++] = (uint8_t)c;
	r->wanted |= 1ull << c;
}

/* Get the column of that name, or ROW_COLUMNS: a field. */
static enum row_column rows_named(const char *name, size_t n)
{
	size_t i = 0;

	while (i < ROW_COLUMNS &&
	       (strlen(row_columns[i].name) != n || memcmp(row_columns[i].name, name, n) != 0))
		i++;
	return (enum row_column)i;
}

static int rows_add_field(struct event_rows *r, const char *name, size_t n, struct error *e)
{
	if (!n)
		return error_set(e, NULL, NO_OFFSET, "the name of a column is missing");
	if (r->fields.count == FIELD_COLUMNS)
		return error_set(e, NULL, NO_OFFSET, "more than %d columns of fields",
				 FIELD_COLUMNS);
	r->columns[r->ncolumns++] = (uint8_t)(ROW_COLUMNS + r->fields.count);
	return field_columns_add(&r->fields, name, n) ? error_no_memory(e) : 0;
}

static int rows_add_column(struct event_rows *r, const char *name, size_t n, struct error *e)
{
	enum row_column c = rows_named(name, n);

	for (size_t i = 0; i < r->ncolumns; i++) {
		const char *other = row_column_name(r, r->columns[i]);

		if (strlen(other) == n && !memcmp(other, name, n))
			return error_set(e, NULL, NO_OFFSET, "the column '%.*s' is given twice",
					 (int)(n < 64 ? n : 64), name);
	}
	if (c == ROW_COLUMNS)
		return rows_add_field(r, name, n, e);
	rows_want(r, c);
	return 0;
}

static int rows_choose_columns(struct event_rows *r, const char *list, struct error *e)
{
	bool more = !list || *list == '+';

	for (size_t i = 0; more && i < USUAL_COLUMNS; i++)
		rows_want(r, (enum row_column)i);
	if (!list)
		return 0;
	list += more;
	for (;;) {
		size_t n = strcspn(list, ",");

		if (rows_add_column(r, list, n, e))
			return -1;
		if (!list[n])
			return 0;
		list += n + 1;
	}
}

/* --- a row --- */

static void rows_put_number(struct event_rows *r, enum row_column c, uint64_t n)
{
	r->present |= 1ull << c;
	r->numbers[c] = n;
}

static void rows_put_weight(struct event_rows *r, const struct event *ev)
{
	uint64_t weight = sample_weight(ev);

	if (weight > INT64_MAX && !sample_is_negative(ev))
		weight = INT64_MAX;
	rows_put_number(r, ROW_WEIGHT, weight);
	if (ev->type->total)
		rows_put_number(r, ROW_WEIGHT_TOTAL, sample_total(ev));
	if (ev->type->calls) {
		weight = sample_calls(ev);
		rows_put_number(r, ROW_WEIGHT_COUNT, weight < INT64_MAX ? weight : INT64_MAX);
	}
}

static void rows_put_text(struct event_rows *r, enum row_column c, struct text_ref text)
{
	if (text.size)
		rows_put_number(r, c, text.number);
}

static int rows_put_constant(struct event_rows *r, enum row_column c, const char *text)
{
	struct text_ref ref = dictionary_text(r->attributes.dictionary, text, strlen(text));

	rows_put_text(r, c, ref);
	return ref.number ? 0 : -1;
}

static int rows_put_class(struct event_rows *r, uint32_t location)
{
	struct text_ref name = dictionary_location_name(r->attributes.dictionary, location);
	const char *class = apitrace_class(name.text, name.size);

	return class ? rows_put_constant(r, ROW_CLASS, class) : 0;
}

static int rows_put_location(struct event_rows *r, enum row_column c, uint32_t location)
{
	uint32_t size;

	if (!location_names_get(&r->locations, location, &size))
		return -1;
	rows_put_number(r, c, r->locations.names[location].number);
	return 0;
}

/* Put a column that says what trdecode cannot know from the others. */
static int rows_put_mark(struct event_rows *r, enum row_column c, const char *text)
{
	return r->marks || rows_wanted(r, c) ? rows_put_constant(r, c, text) : 0;
}

/* Put ticks as the unit of the row's times if its clock counts them. */
static int rows_put_unit(struct event_rows *r, const struct lane *lane)
{
	return lane->clock && lane->clock->flags & CLOCK_TICKS
		       ? rows_put_mark(r, ROW_TIME_UNIT, "ticks")
		       : 0;
}

/* Put what a call nests in, if that is not the stack of its thread. */
static int rows_put_nesting(struct event_rows *r, const struct span *s)
{
	if (s->type && s->type->flags & TYPE_PER_CPU)
		return rows_put_mark(r, ROW_NESTING, "cpu");
	if (s->type && s->type->flags & TYPE_INNER)
		return rows_put_mark(r, ROW_NESTING, "inner");
	if (s->kernel)
		return rows_put_mark(r, ROW_NESTING, "kernel");
	return s->type && s->type->flags & TYPE_CALL_NUMBER &&
			       (s->level || s->beside || s->crossing || s->around)
		       ? rows_put_mark(r, ROW_NESTING, "none")
		       : 0;
}

static void rows_put_lane(struct event_rows *r, const struct lane *lane)
{
	r->lane = lane;
	if (lane->flags & LANE_HAS_PID)
		rows_put_number(r, ROW_PID, (uint64_t)(int64_t)lane->pid);
	if (lane->flags & LANE_HAS_TID)
		rows_put_number(r, ROW_TID, (uint64_t)(int64_t)lane->tid);
	if (lane->flags & LANE_HAS_CPU)
		rows_put_number(r, ROW_CPU, (uint64_t)(int64_t)lane->cpu);
	if (lane->source)
		rows_put_text(r, ROW_INPUT, lane->source->name);
	rows_put_text(r, ROW_COMM, lane->comm);
}

/* Put the CPU of the event's field if the lane has no CPU. */
static void rows_put_cpu(struct event_rows *r, const struct event *ev)
{
	int64_t cpu;

	if (!row_has(r, ROW_CPU) && field_cpu(r->lane, ev, &cpu))
		rows_put_number(r, ROW_CPU, (uint64_t)cpu);
}

static void rows_put_symbol(struct event_rows *r, uint32_t location)
{
	const struct location *p = dictionary_location(r->attributes.dictionary, location);
	const struct location_symbol *symbol = p ? p->symbol : NULL;

	if (!symbol)
		return;
	if (symbol->file.size && symbol->line)
		rows_put_number(r, ROW_LINE, symbol->line);
	rows_put_text(r, ROW_FILE, symbol->file);
	rows_put_text(r, ROW_MODULE, symbol->module);
}

static void rows_put_type(struct event_rows *r, const struct type *type)
{
	rows_put_text(r, ROW_TYPE, type->name);
	rows_put_text(r, ROW_GROUP, type->group);
}

static int rows_put_args(struct event_rows *r)
{
	buffer_clear(&r->args);
	if (attributes_object(&r->attributes, &r->bytes, &r->args))
		return -1;
	if (r->args.size)
		r->present |= 1ull << ROW_ARGS;
	return 0;
}

static int rows_write_row(struct event_rows *r, struct error *e)
{
	int status;

	if (r->fields.count && field_columns_read(&r->fields))
		return error_no_memory(e);
	status = r->write(r, e);
	r->present = 0;
	return status;
}

/* Keep the fields of a call's enter: their size, and their attributes. */
static int rows_keep_fields(struct event_rows *r, const struct event *enter, struct buffer *keep)
{
	struct buffer *b = &r->fields.bytes;

	buffer_clear(b);
	return field_columns_take(&r->fields, enter) || buffer_u64(keep, b->size) ||
			       buffer_append_from(keep, b, 0, b->size)
		       ? -1
		       : 0;
}

/* Take the fields of a call from what was kept, and those of its leave. *kept: bytes taken. */
static int rows_call_fields(struct event_rows *r, const struct span *s, const struct event *leave,
			    size_t *kept)
{
	struct buffer *b = &r->fields.bytes;

	*kept = 0;
	if (!r->fields.count)
		return 0;
	buffer_clear(b);
	if (s->kept_size && !r->marks) {
		if (buffer_append_from(b, s->kept, s->kept_at, 8))
			return -1;
		*kept = 8 + get_u64(b->data);
		buffer_clear(b);
		if (buffer_append_from(b, s->kept, s->kept_at + 8, *kept - 8))
			return -1;
	}
	return leave ? field_columns_take(&r->fields, leave) : 0;
}

/* Put the times of a call in states. */
static void rows_put_states(struct event_rows *r, const struct span *s, const struct event *leave)
{
	const uint64_t *ns =
		states_of(r->states, &(struct state_span){.lane = leave ? leave->lane : s->lane,
							  .start = s->start,
							  .end = s->end,
							  .total = s->end - s->start,
							  .left = leave});

	for (unsigned c = ROW_RUNNING; c <= ROW_UNKNOWN; c++)
		rows_put_number(r, c, ns[state_by_name(row_columns[c].name)]);
}

static int rows_begin_call(void *ctx, const struct event *enter, const struct span *span,
			   struct buffer *keep, uint64_t *token, struct error *e)
{
	struct event_rows *r = ctx;

	(void)span;
	(void)token;
	if (r->fields.count && !r->marks && rows_keep_fields(r, enter, keep))
		return error_no_memory(e);
	if (!r->wants_args || (!enter->type->nfields && !enter->tail_size))
		return 0;
	return attributes_append(&r->attributes, enter, keep) ? error_no_memory(e) : 0;
}

/* Note the thread of an unfinished call of a worker. */
static void rows_note_thread(struct event_rows *r, uint32_t thread)
{
	if (thread < r->options->threads_before)
		return;
	r->late_threads |= r->late_thread && r->late_thread != thread;
	r->late_thread = thread;
}

static int rows_end_call(void *ctx, const struct span *s, const struct event *leave,
			 struct error *e)
{
	const struct type *type = leave ? leave->type : s->type;
	struct event_rows *r = ctx;
	size_t kept;

	if (s->unfinished && r->drop)
		return 0;
	r->event = NULL;
	if (s->unfinished && r->options->flags & ENCODE_WORKER)
		rows_note_thread(r, s->thread);
	if (r->states)
		rows_put_states(r, s, leave);
	rows_put_number(r, ROW_TIME, s->start);
	rows_put_number(r, ROW_DUR, s->end - s->start);
	rows_put_number(r, ROW_DEPTH, s->level);
	rows_put_number(r, ROW_UNFINISHED, s->unfinished);
	if (s->has_self) {
		rows_put_number(r, ROW_SELF, s->self);
		rows_put_number(r, ROW_RECURSIVE, s->recursive);
	}
	rows_put_lane(r, s->lane);
	rows_put_symbol(r, s->location);
	if (type)
		rows_put_type(r, type);
	if (rows_put_location(r, ROW_NAME, s->location) ||
	    (rows_wanted(r, ROW_CLASS) && rows_put_class(r, s->location)) ||
	    (s->caller && rows_wanted(r, ROW_CALLER) &&
	     rows_put_location(r, ROW_CALLER, s->caller)) ||
	    (rows_wanted(r, ROW_KIND) && rows_put_constant(r, ROW_KIND, "call")) ||
	    rows_put_unit(r, s->lane) || rows_put_nesting(r, s))
		return error_no_memory(e);
	if (leave)
		rows_put_cpu(r, leave);
	if (rows_call_fields(r, s, leave, &kept))
		return error_no_memory(e);
	buffer_clear(&r->bytes);
	if (r->wants_args &&
	    (s->kept_size > kept || (leave && (leave->type->nfields || leave->tail_size))) &&
	    ((s->kept_size > kept &&
	      buffer_append_from(&r->bytes, s->kept, s->kept_at + kept, s->kept_size - kept)) ||
	     (leave && attributes_append(&r->attributes, leave, &r->bytes)) || rows_put_args(r)))
		return error_no_memory(e);
	return rows_write_row(r, e);
}

/* Put the stack at which an event was recorded. */
static int rows_put_stack(struct event_rows *r, uint32_t stack)
{
	buffer_clear(&r->stack);
	r->present |= 1ull << ROW_STACK;
	return attributes_stack_json(&r->attributes, stack, &r->stack);
}

static int rows_other_event(void *ctx, const struct event *ev, struct error *e)
{
	static const char *const kinds[KIND_COUNT] = {[KIND_INSTANT] = "instant",
						      [KIND_COUNTER] = "counter",
						      [KIND_SAMPLE] = "sample",
						      [KIND_GAP] = "gap"};
	const char *kind = kinds[ev->type->kind];
	struct event_rows *r = ctx;
	bool marked = r->marks && ev->type->kind != KIND_INSTANT;
	bool listed = (rows_wanted(r, ROW_STACK) && !r->typed) ||
		      (marked && ev->type->kind == KIND_SAMPLE);
	uint32_t stack = listed ? event_stack(r->attributes.dictionary, ev) : 0;

	r->event = ev;
	rows_put_number(r, ROW_TIME, ev->time);
	rows_put_lane(r, ev->lane);
	rows_put_type(r, ev->type);
	rows_put_text(r, ROW_NAME, ev->type->name);
	if (ev->location)
		rows_put_symbol(r, ev->location);
	if ((ev->location && rows_put_location(r, ROW_NAME, ev->location)) ||
	    (kind && (marked || rows_wanted(r, ROW_KIND)) && rows_put_constant(r, ROW_KIND, kind)))
		return error_no_memory(e);
	if (ev->type->kind == KIND_SAMPLE)
		rows_put_weight(r, ev);
	if ((ev->type->flags & TYPE_WEIGHT_TIME && rows_put_mark(r, ROW_WEIGHT_UNIT, "ns")) ||
	    rows_put_unit(r, ev->lane))
		return error_no_memory(e);
	/* args has a stack that is a field, and counts it */
	if (ev->stack || !r->wants_args)
		r->attributes.deep += stack_is_deep(r->attributes.dictionary, stack);
	if (stack && rows_put_stack(r, stack))
		return error_no_memory(e);
	rows_put_cpu(r, ev);
	buffer_clear(&r->fields.bytes);
	if (r->fields.count && field_columns_take(&r->fields, ev))
		return error_no_memory(e);
	buffer_clear(&r->bytes);
	if (r->wants_args && !r->typed &&
	    (attributes_append(&r->attributes, ev, &r->bytes) || rows_put_args(r)))
		return error_no_memory(e);
	return rows_write_row(r, e);
}

static const struct span_sink sink = {
	.begin = rows_begin_call, .end = rows_end_call, .other = rows_other_event};

/* --- the run --- */

static int rows_follow_states(struct event_rows *r, const struct encoding *en, struct error *e)
{
	if (en->options->flags & ENCODE_WORKER)
		return error_set(e, NULL, NO_OFFSET,
				 "a worker does not know the states of threads");
	r->states = malloc(sizeof *r->states);
	if (!r->states)
		return error_no_memory(e);
	states_init(r->states, en->dictionary, en->calls);
	return 0;
}

/*
 * Allocate the state of an encoder in en->state, all zero but for its rows. Returns en->state, or
 * NULL with *e filled (out of memory, or an unknown column); the encoder's free() frees en->state
 * in both cases.
 */
void *event_rows_begin(struct encoding *en, size_t state_size,
		       int (*write)(struct event_rows *r, struct error *e), struct error *e)
{
	struct event_rows *r = en->state = calloc(1, state_size);

	if (!r) {
		error_no_memory(e);
		return NULL;
	}
	r->drop = en->options->flags & ENCODE_DROP;
	r->options = en->options;
	r->write = write;
	spans_init(&r->spans, en, &sink, r);
	location_names_init(&r->locations, en->dictionary, NULL);
	attributes_init(&r->attributes, en->dictionary);
	attributes_init(&r->fields.attributes, en->dictionary);
	r->bytes.spills = r->args.spills = r->stack.spills = r->fields.bytes.spills = true;
	r->attributes.members = true;
	r->attributes.quote_numbers = en->options->flags & ENCODE_QUOTE_NUMBERS;
	r->attributes.call_numbers = true;
	if (rows_choose_columns(r, en->options->columns, e) ||
	    (r->wanted >> ROW_RUNNING && rows_follow_states(r, en, e)))
		return NULL;
	r->wants_args = rows_wanted(r, ROW_ARGS);
	return r;
}

int event_rows_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct event_rows *r = en->state;

	return attributes_meta(&r->attributes, m) ? error_no_memory(e) : 0;
}

int event_rows_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct event_rows *r = en->state;

	if (r->before && r->before(r, ev, e))
		return -1;
	if (r->states && states_take(r->states, ev))
		return error_no_memory(e);
	return spans_event(&r->spans, ev, e);
}

static void rows_report_counts(const struct encode_counts *c, unsigned flags)
{
	const struct location_names names = {.unnamed = c->unnamed};
	const struct attributes attributes = {.dropped = c->dropped, .deep = c->deep};

	if (flags & ENCODE_QUIET)
		return;
	location_names_report(&names);
	convert_report_calls(&c->calls, c->cut, flags & ENCODE_DROP, false);
	attributes_report(&attributes);
}

int event_rows_end(struct encoding *en, struct error *e)
{
	struct event_rows *r = en->state;
	struct encode_counts counts;

	if (!(en->options->flags & ENCODE_GOES_ON) && spans_finish(&r->spans, e))
		return -1;
	if (r->late_threads)
		return error_set(e, NULL, NO_OFFSET,
				 "a worker does not know the order of the threads");
	counts = (struct encode_counts){.calls = r->spans.calls->counts,
					.cut = r->spans.lost,
					.dropped = r->attributes.dropped,
					.deep = r->attributes.deep,
					.unnamed = r->locations.unnamed};
	if (en->options->counts)
		*en->options->counts = counts;
	else
		rows_report_counts(&counts, en->options->flags);
	return 0;
}

static void rows_offer(struct nearest *nearest)
{
	for (size_t i = 0; i < ROW_COLUMNS; i++)
		nearest_offer(nearest, row_columns[i].name, strlen(row_columns[i].name));
}

/* Check, at the end, that events have the fields that are columns. partial: declarations may be
 * missing. */
int event_rows_check(struct encoding *en, bool partial, struct error *e)
{
	const struct event_rows *r = en->state;
	struct intern warned = {0};
	struct declared declared = {.dictionary = en->dictionary,
				    .warned = &warned,
				    .partial = partial,
				    .quiet = en->options->flags & ENCODE_QUIET,
				    .early = en->early};
	int bad = 0;

	for (size_t i = 0; i < r->fields.count && !r->marks && !bad; i++) {
		/* a name with a dot is of no column */
		declared.offer = *r->fields.columns[i].text == '.' ? NULL : rows_offer;
		bad = declared_field(&declared, r->fields.names[i].text, false, e);
	}
	for (unsigned c = ROW_RUNNING; c <= ROW_UNKNOWN && !r->typed && !bad; c++)
		if (rows_wanted(r, c))
			bad = declared_field(&declared, row_columns[c].name, false, e);
	intern_free(&warned);
	return bad;
}

void event_rows_free(struct encoding *en)
{
	struct event_rows *r = en->state;

	if (!r)
		return;
	attributes_free(&r->fields.attributes);
	buffer_free(&r->fields.bytes);
	free(r->fields.fields);
	if (r->states)
		states_free(r->states);
	free(r->states);
	spans_free(&r->spans);
	location_names_free(&r->locations);
	location_names_free(&r->texts);
	attributes_free(&r->attributes);
	buffer_free(&r->bytes);
	buffer_free(&r->args);
	buffer_free(&r->stack);
	buffer_free(&r->cell);
	free(r);
	en->state = NULL;
}

/* --- csv (RFC 4180) and tsv, a row for each event --- */

/* One run of the encoder. */
struct delimited {
	struct event_rows rows;
	struct text *out;
	char separator;
	int (*put)(struct buffer *to, const char *p, size_t n); /* append a piece of an object */
};

static int delimited_render(struct buffer *to, const char *p, size_t n,
			    int (*put)(struct buffer *, const char *, size_t))
{
	struct buffer clean = {0};
	int r = utf8_append(&clean, p, n) || put(to, (const char *)clean.data, clean.size) ? -1 : 0;

	buffer_free(&clean);
	return r;
}

static int delimited_render_csv(struct buffer *to, const char *p, size_t n)
{
	return delimited_render(to, p, n, csv_append);
}

static int delimited_render_tsv(struct buffer *to, const char *p, size_t n)
{
	return delimited_render(to, p, n, tsv_append);
}

/* Write an object. It contains quotes, so in csv it is in quotes. */
static int delimited_put_object(struct delimited *s, const struct buffer *json)
{
	bool csv = s->separator == ',';
	size_t piece;

	if (csv)
		text_char(s->out, '"');
	for (size_t at = 0; at < json->size; at += piece) {
		piece = json->size - at < BUFFER_PIECE ? json->size - at : BUFFER_PIECE;
		s->rows.cell.size = 0;
		if (s->put(&s->rows.cell, (const char *)json->data + at, piece))
			return -1;
		text_put(s->out, (const char *)s->rows.cell.data, s->rows.cell.size);
		buffer_rest(json);
	}
	if (csv)
		text_char(s->out, '"');
	return 0;
}

static int delimited_put_field(struct delimited *s, const struct attribute *cell)
{
	s->rows.cell.size = 0;
	if (row_field_append(&s->rows.cell, cell, s->rows.texts.render))
		return -1;
	text_put(s->out, (const char *)s->rows.cell.data, s->rows.cell.size);
	return 0;
}

static int delimited_put_cell(struct delimited *s, enum row_column c)
{
	uint64_t number;
	const char *text;
	uint32_t size;

	if (c >= ROW_COLUMNS)
		return row_field(&s->rows, c) ? delimited_put_field(s, row_field(&s->rows, c)) : 0;
	if (!row_has(&s->rows, c))
		return 0;
	number = s->rows.numbers[c];
	switch (row_column_form(c)) {
	case COLUMN_TIME:
	case COLUMN_FLAG: text_u64(s->out, number); return 0;
	case COLUMN_INT:
	case COLUMN_SMALL: text_i64(s->out, (int64_t)number); return 0;
	case COLUMN_NAME:
		text = location_names_get(&s->rows.texts, (uint32_t)number, &size);
		if (!text)
			return -1;
		text_put(s->out, text, size);
		return 0;
	default: return delimited_put_object(s, row_object(&s->rows, c));
	}
}

static int delimited_write_row(struct event_rows *r, struct error *e)
{
	struct delimited *s = (struct delimited *)r;

	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		if (i)
			text_char(s->out, s->separator);
		if (delimited_put_cell(s, s->rows.columns[i]))
			return error_no_memory(e);
	}
	text_char(s->out, '\n');
	return 0;
}

static int delimited_begin(struct encoding *en, struct error *e)
{
	struct delimited *s =
		event_rows_begin(en, sizeof(struct delimited), delimited_write_row, e);
	bool csv = en->encoder == &encoder_csv;

	if (!s)
		return -1;
	s->out = en->text;
	s->separator = csv ? ',' : '\t';
	s->put = csv ? csv_append_inside : tsv_append;
	location_names_init_strings(&s->rows.texts, en->dictionary,
				    csv ? delimited_render_csv : delimited_render_tsv);
	if (en->options->flags & ENCODE_NO_HEADER)
		return 0;
	for (size_t i = 0; i < s->rows.ncolumns; i++) {
		if (i)
			text_char(s->out, s->separator);
		text_puts(s->out, row_column_name(&s->rows, s->rows.columns[i]));
	}
	text_char(s->out, '\n');
	return 0;
}

const struct encoder encoder_csv = {
	.name = "csv",
	.purpose = "a row for each call and event, comma-separated",
	.output = ENCODER_TEXT,
	.report = true,
	.report_counts = rows_report_counts,
	.begin = delimited_begin,
	.meta = event_rows_meta,
	.drops = true,
	.event = event_rows_event,
	.end = event_rows_end,
	.check = event_rows_check,
	.free = event_rows_free,
};

const struct encoder encoder_tsv = {
	.name = "tsv",
	.purpose = "the same, tab-separated",
	.output = ENCODER_TEXT,
	.report = true,
	.report_counts = rows_report_counts,
	.begin = delimited_begin,
	.meta = event_rows_meta,
	.drops = true,
	.event = event_rows_event,
	.end = event_rows_end,
	.check = event_rows_check,
	.free = event_rows_free,
};

/* --- a JSON object on a line for each event --- */

enum {
	KEY_ROOM = 24,	/* ,"unfinished":null */
	CELL_ROOM = 72, /* a number in quotes, null, true or false, or a short name */
	SHORT_NAME = 64,
};

/* The text ,"name":null of one column. */
struct table_key {
	char text[KEY_ROOM];
	uint8_t size; /* without null */
	uint8_t column, form;
};

/* One run of the encoder. */
struct ndjson {
	struct event_rows rows;
	struct text *out;
	struct table_key keys[ROW_ALL]; /* in the order of the output, then those of marks */
	bool quote_numbers;
};

/* The columns of event_rows.marks. */
static const enum row_column ndjson_marks[] = {
	ROW_KIND,	  ROW_UNFINISHED,  ROW_STACK,	  ROW_WEIGHT,  ROW_WEIGHT_TOTAL,
	ROW_WEIGHT_COUNT, ROW_WEIGHT_UNIT, ROW_TIME_UNIT, ROW_NESTING, ROW_COLUMNS /* ret.name */};
enum { NDJSON_MARKS = sizeof ndjson_marks / sizeof *ndjson_marks };

static void ndjson_make_keys(struct ndjson *s)
{
	size_t n = s->rows.ncolumns;

	for (size_t i = 0; i < n + (s->rows.marks ? NDJSON_MARKS : 0); i++) {
		struct table_key *key = &s->keys[i];

		key->column = i < n ? s->rows.columns[i] : (uint8_t)ndjson_marks[i - n];
		key->form = (uint8_t)row_column_form(key->column);
		key->size = (uint8_t)snprintf(key->text, KEY_ROOM, "%c\"%s\":null", i ? ',' : '{',
					      row_column_name(&s->rows, key->column)) -
			    4;
	}
}

/* Write a time, or a weight, which may be negative. */
static char *ndjson_put_time(const struct ndjson *s, char *p, uint64_t time, bool negative)
{
	bool quote = s->quote_numbers && time > 1ull << 53;

	if (quote)
		*p++ = '"';
	if (negative)
		*p++ = '-';
	p = decimal_at(p, time);
	if (quote)
		*p++ = '"';
	return p;
}

static char *ndjson_put_small(char *p, int64_t n)
{
	if (n < 0)
		*p++ = '-';
	return decimal_at(p, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *ndjson_put_flag(char *p, bool flag)
{
	memcpy(p, flag ? "true" : "false", 5);
	return p + (flag ? 4 : 5);
}

/* Write a text of any length. p, and the result, have room for the other cells of a row. */
static char *ndjson_put_long(struct ndjson *s, char *p, const struct buffer *b, size_t at,
			     size_t size)
{
	text_wrote(s->out, p);
	text_put_buffer(s->out, b, at, size);
	return text_room(s->out, ROW_COLUMNS * (KEY_ROOM + CELL_ROOM));
}

/* Write a name. Returns its end, or NULL when out of memory. */
static char *ndjson_put_name(struct ndjson *s, char *p, uint32_t number)
{
	uint32_t size;
	const char *text = location_names_get(&s->rows.texts, number, &size);

	if (!text)
		return NULL;
	if (size > SHORT_NAME)
		return ndjson_put_long(s, p, &s->rows.texts.bytes,
				       (size_t)(text - (const char *)s->rows.texts.bytes.data),
				       size);
	return location_names_copy(p, text, size);
}

/* Write the key and the value of a field. Returns their end, or NULL when out of memory. */
static char *ndjson_put_field(struct ndjson *s, char *p, const struct table_key *key)
{
	const struct attribute *cell = row_field(&s->rows, key->column);
	const char *name = row_column_name(&s->rows, key->column);

	s->rows.cell.size = 0;
	if (buffer_u8(&s->rows.cell, (uint8_t)key->text[0]) ||
	    json_append_string(&s->rows.cell, name, strlen(name)) ||
	    buffer_u8(&s->rows.cell, ':') ||
	    (cell ? attribute_json(cell, s->quote_numbers, NULL, &s->rows.cell)
		  : buffer_puts(&s->rows.cell, "null")))
		return NULL;
	return ndjson_put_long(s, p, &s->rows.cell, 0, s->rows.cell.size);
}

/* Write a key and its value at p. Returns their end, or NULL when out of memory. */
static char *ndjson_put_cell(struct ndjson *s, char *p, const struct table_key *key)
{
	const struct buffer *object;
	uint64_t number;

	if (key->form == COLUMN_FIELD)
		return ndjson_put_field(s, p, key);
	memcpy(p, key->text, KEY_ROOM); /* a constant size: inlined */
	p += key->size;
	if (!row_has(&s->rows, key->column))
		return p + 4;
	number = s->rows.numbers[key->column];
	switch (key->form) {
	case COLUMN_TIME: return ndjson_put_time(s, p, number, false);
	case COLUMN_INT:
		return ndjson_put_time(s, p, number > INT64_MAX ? -number : number,
				       number > INT64_MAX);
	case COLUMN_SMALL: return ndjson_put_small(p, (int64_t)number);
	case COLUMN_FLAG: return ndjson_put_flag(p, number);
	case COLUMN_NAME: return ndjson_put_name(s, p, (uint32_t)number);
	default:
		object = row_object(&s->rows, key->column);
		return ndjson_put_long(s, p, object, 0, object->size);
	}
}

/* Test whether the row has a mark: all but that of a call which has returned. */
static bool ndjson_has_mark(const struct event_rows *r, enum row_column c)
{
	if (c >= ROW_COLUMNS)
		return row_field(r, c);
	return row_has(r, c) && (c != ROW_UNFINISHED || r->numbers[c]);
}

/* Test whether a row has any: most calls that have returned, and instants, have none. */
static bool ndjson_is_marked(const struct event_rows *r)
{
	return r->marks &&
	       (r->present & (1ull << ROW_KIND | 1ull << ROW_TIME_UNIT | 1ull << ROW_NESTING) ||
		ndjson_has_mark(r, ROW_UNFINISHED) || ndjson_has_mark(r, ROW_COLUMNS));
}

static int ndjson_write_row(struct event_rows *r, struct error *e)
{
	struct ndjson *s = (struct ndjson *)r;
	char *p = text_room(s->out, ROW_COLUMNS * (KEY_ROOM + CELL_ROOM));
	size_t n = s->rows.ncolumns;

	n += ndjson_is_marked(r) ? NDJSON_MARKS : 0;
	for (size_t i = 0; i < n; i++) {
		if (i >= s->rows.ncolumns &&
		    !ndjson_has_mark(r, ndjson_marks[i - s->rows.ncolumns]))
			continue;
		p = ndjson_put_cell(s, p, &s->keys[i]);
		if (!p)
			return error_no_memory(e);
	}
	memcpy(p, "}\n", 2);
	text_wrote(s->out, p + 2);
	return 0;
}

static int ndjson_begin(struct encoding *en, struct error *e)
{
	struct ndjson *s = event_rows_begin(en, sizeof(struct ndjson), ndjson_write_row, e);

	if (!s)
		return -1;
	s->out = en->text;
	s->rows.marks = !en->options->columns;
	s->rows.fields.declared = s->rows.marks;
	if (s->rows.marks && field_columns_add(&s->rows.fields, "ret.name", 8))
		return error_no_memory(e);
	s->quote_numbers = en->options->flags & ENCODE_QUOTE_NUMBERS;
	location_names_init_strings(&s->rows.texts, en->dictionary, json_append_string);
	ndjson_make_keys(s);
	return 0;
}

const struct encoder encoder_ndjson = {
	.name = "ndjson",
	.suffixes = ".jsonl",
	.purpose = "a JSON object on a line for each call and event",
	.output = ENCODER_TEXT,
	.report = true,
	.report_counts = rows_report_counts,
	.begin = ndjson_begin,
	.meta = event_rows_meta,
	.drops = true,
	.event = event_rows_event,
	.end = event_rows_end,
	.check = event_rows_check,
	.free = event_rows_free,
};

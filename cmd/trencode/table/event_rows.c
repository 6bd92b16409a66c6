#include "cmd/trencode/table/event_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/formats/apitrace.h"
#include "common/util/buffer_file.h"
#include "common/stream/field.h"
#include "common/util/utf8.h"
#include "common/expr/declared.h"

enum { USUAL_COLUMNS = ROW_ARGS + 1 };

static const struct {
	const char *name;
	enum row_form form;
} columns[ROW_COLUMNS] = {
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
	[ROW_WEIGHT] = {"weight", COLUMN_WEIGHT},
};

const char *row_column_name(const struct event_rows *r, enum row_column c)
{
	return c < ROW_COLUMNS ? columns[c].name : r->fields.columns[c - ROW_COLUMNS].text;
}

enum row_form row_column_form(enum row_column c)
{
	return c < ROW_COLUMNS ? columns[c].form : COLUMN_FIELD;
}

/* --- which columns --- */

static bool rows_wanted(const struct event_rows *r, enum row_column c)
{
	return r->wanted >> c & 1;
}

static void rows_want(struct event_rows *r, enum row_column c)
{
	r->columns[r->ncolumns++] = (uint8_t)c;
	r->wanted |= 1u << c;
}

/* Return the column of that name, or ROW_COLUMNS: a field. */
static enum row_column rows_named(const char *name, size_t n)
{
	size_t i = 0;

	while (i < ROW_COLUMNS &&
	       (strlen(columns[i].name) != n || memcmp(columns[i].name, name, n) != 0))
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
	r->present |= 1u << c;
	r->cells[c].number = n;
}

static void rows_put_weight(struct event_rows *r, const struct event *ev)
{
	uint64_t weight = sample_weight(ev);

	if (weight > INT64_MAX && !sample_is_negative(ev))
		weight = INT64_MAX;
	rows_put_number(r, ROW_WEIGHT, weight);
}

static int rows_put_text(struct event_rows *r, enum row_column c, struct text_ref text)
{
	if (text.size)
		rows_put_number(r, c, text.number);
	return 0;
}

static int rows_put_constant(struct event_rows *r, enum row_column c, const char *text)
{
	struct text_ref ref = dictionary_text(r->attributes.dictionary, text, strlen(text));

	return ref.number ? rows_put_text(r, c, ref) : -1;
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

static int rows_put_lane(struct event_rows *r, const struct lane *lane)
{
	if (lane->flags & LANE_HAS_PID)
		rows_put_number(r, ROW_PID, (uint64_t)(int64_t)lane->pid);
	if (lane->flags & LANE_HAS_TID)
		rows_put_number(r, ROW_TID, (uint64_t)(int64_t)lane->tid);
	if (lane->flags & LANE_HAS_CPU)
		rows_put_number(r, ROW_CPU, (uint64_t)(int64_t)lane->cpu);
	if (lane->source)
		rows_put_text(r, ROW_INPUT, lane->source->name);
	return rows_put_text(r, ROW_COMM, lane->comm);
}

/* Put the CPU of the event's field if the lane has no CPU. */
static void rows_put_cpu(struct event_rows *r, const struct event *ev)
{
	const struct field *f = field_by_role(ev->type, ROLE_CPU);
	struct field_value v;

	if (!f || row_has(r, ROW_CPU))
		return;
	field_get(ev, f, 0, &v);
	if (v.form == FORM_UINT || v.form == FORM_INT)
		rows_put_number(r, ROW_CPU, (uint64_t)v.i);
}

static int rows_put_symbol(struct event_rows *r, uint32_t location)
{
	const struct location *p = dictionary_location(r->attributes.dictionary, location);
	const struct location_symbol *symbol = p ? p->symbol : NULL;

	if (!symbol)
		return 0;
	if (symbol->file.size && symbol->line)
		rows_put_number(r, ROW_LINE, symbol->line);
	return rows_put_text(r, ROW_FILE, symbol->file) ||
			       rows_put_text(r, ROW_MODULE, symbol->module)
		       ? -1
		       : 0;
}

static int rows_put_type(struct event_rows *r, const struct type *type)
{
	return rows_put_text(r, ROW_TYPE, type->name) || rows_put_text(r, ROW_GROUP, type->group)
		       ? -1
		       : 0;
}

static int rows_put_args(struct event_rows *r)
{
	buffer_clear(&r->json);
	if (attributes_object(&r->attributes, &r->bytes, &r->json))
		return -1;
	if (r->json.size)
		r->present |= 1u << ROW_ARGS;
	r->cells[ROW_ARGS].object = &r->json;
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
	if (s->kept_size) {
		if (buffer_append_from(b, s->kept, s->kept_at, 8))
			return -1;
		*kept = 8 + get_u64(b->data);
		buffer_clear(b);
		if (buffer_append_from(b, s->kept, s->kept_at + 8, *kept - 8))
			return -1;
	}
	return leave ? field_columns_take(&r->fields, leave) : 0;
}

static int rows_begin_call(void *ctx, const struct event *enter, const struct span *span,
			   struct buffer *keep, uint64_t *token, struct error *e)
{
	struct event_rows *r = ctx;

	(void)span;
	(void)token;
	if (r->fields.count && rows_keep_fields(r, enter, keep))
		return error_no_memory(e);
	if (!r->wants_args || (!enter->type->nfields && !enter->tail_size))
		return 0;
	return attributes_append(&r->attributes, enter, keep) ? error_no_memory(e) : 0;
}

static int rows_end_call(void *ctx, const struct span *s, const struct event *leave,
			 struct error *e)
{
	struct event_rows *r = ctx;
	size_t kept;

	if (s->unfinished && r->drop)
		return 0;
	rows_put_number(r, ROW_TIME, s->start);
	rows_put_number(r, ROW_DUR, s->end - s->start);
	rows_put_number(r, ROW_DEPTH, s->level);
	rows_put_number(r, ROW_UNFINISHED, s->unfinished);
	if (s->has_self) {
		rows_put_number(r, ROW_SELF, s->self);
		rows_put_number(r, ROW_RECURSIVE, s->recursive);
	}
	if (rows_put_lane(r, s->lane) || rows_put_location(r, ROW_NAME, s->location) ||
	    rows_put_symbol(r, s->location) ||
	    (rows_wanted(r, ROW_CLASS) && rows_put_class(r, s->location)) ||
	    (s->caller && rows_wanted(r, ROW_CALLER) &&
	     rows_put_location(r, ROW_CALLER, s->caller)) ||
	    (leave     ? rows_put_type(r, leave->type)
	     : s->type ? rows_put_type(r, s->type)
		       : 0) ||
	    (rows_wanted(r, ROW_KIND) && rows_put_constant(r, ROW_KIND, "call")))
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
	r->present |= 1u << ROW_STACK;
	r->cells[ROW_STACK].object = &r->stack;
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
	uint32_t stack = rows_wanted(r, ROW_STACK) ? event_stack(r->attributes.dictionary, ev) : 0;

	rows_put_number(r, ROW_TIME, ev->time);
	if (rows_put_lane(r, ev->lane) || rows_put_type(r, ev->type) ||
	    (ev->location ? rows_put_location(r, ROW_NAME, ev->location) ||
				    rows_put_symbol(r, ev->location)
			  : rows_put_text(r, ROW_NAME, ev->type->name)) ||
	    (kind && rows_wanted(r, ROW_KIND) && rows_put_constant(r, ROW_KIND, kind)))
		return error_no_memory(e);
	if (ev->type->kind == KIND_SAMPLE)
		rows_put_weight(r, ev);
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
	if (r->wants_args && (attributes_append(&r->attributes, ev, &r->bytes) || rows_put_args(r)))
		return error_no_memory(e);
	return rows_write_row(r, e);
}

static const struct span_sink sink = {
	.begin = rows_begin_call, .end = rows_end_call, .other = rows_other_event};

/* --- the run --- */

void *event_rows_begin(struct encoding *en, size_t state_size,
		       int (*write)(struct event_rows *r, struct error *e), struct error *e)
{
	struct event_rows *r = en->state = calloc(1, state_size);

	if (!r) {
		error_no_memory(e);
		return NULL;
	}
	r->drop = en->options->drop;
	r->write = write;
	spans_init(&r->spans, en, &sink, r);
	location_names_init(&r->locations, en->dictionary, NULL);
	attributes_init(&r->attributes, en->dictionary);
	field_columns_init(&r->fields, en->dictionary);
	r->bytes.spills = r->json.spills = r->stack.spills = true;
	r->attributes.members = true;
	r->attributes.quote_numbers = en->options->quote_numbers;
	r->attributes.call_numbers = true;
	if (rows_choose_columns(r, en->options->columns, e))
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

	return spans_event(&r->spans, ev, e);
}

int event_rows_end(struct encoding *en, struct error *e)
{
	struct event_rows *r = en->state;

	if (spans_finish(&r->spans, e))
		return -1;
	if (!en->options->quiet) {
		location_names_report(&r->locations);
		spans_report(&r->spans, en->options->drop);
		attributes_report(&r->attributes);
	}
	return 0;
}

static void rows_offer(struct nearest *nearest)
{
	for (size_t i = 0; i < ROW_COLUMNS; i++)
		nearest_offer(nearest, columns[i].name, strlen(columns[i].name));
}

/* A name with a dot is of no column. */
static void rows_offer_none(struct nearest *nearest)
{
	(void)nearest;
}

int event_rows_check(struct encoding *en, bool partial, struct error *e)
{
	const struct event_rows *r = en->state;
	struct intern warned = {0};
	struct declared declared = {.dictionary = en->dictionary,
				    .warned = &warned,
				    .partial = partial,
				    .quiet = en->options->quiet,
				    .early = en->early};
	int bad = 0;

	for (size_t i = 0; i < r->fields.count && !bad; i++) {
		declared.offer = *r->fields.columns[i].text == '.' ? rows_offer_none : rows_offer;
		bad = declared_field(&declared, r->fields.names[i].text, false, e);
	}
	intern_free(&warned);
	return bad;
}

void event_rows_free(struct event_rows *r)
{
	field_columns_free(&r->fields);
	spans_free(&r->spans);
	location_names_free(&r->locations);
	attributes_free(&r->attributes);
	buffer_free(&r->bytes);
	buffer_free(&r->json);
	buffer_free(&r->stack);
}

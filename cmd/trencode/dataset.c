/*
 * dataset.c - the tables of a stream, each with its columns and its files
 *
 *     -t parquet -o DIR --partition host,date,table
 *
 *     DIR/host=web1/date=2026-11-30/table=call/4f0c2a9be1d37756.parquet
 *     DIR/host=web1/date=2026-11-30/table=event.sched_switch/4f0c2a9be1d37756.parquet
 *     DIR/.trutils/4f0c2a9be1d37756     the files of this recording
 *
 * Without --partition and --table there is one sheet with the rows of csv.
 */
#include "cmd/trencode/dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cli/program.h"
#include "common/scheduling/states.h"
#include "common/stream/reader.h"
#include "common/util/hash.h"
#include "common/util/stack_limit.h"
#include "common/util/version.h"
#include "common/value/scalar.h"

#define NO_DAY INT64_MIN
#define DAY    (86400 * INT64_C(1000000000))

enum {
	SHEET_BYTES = 4 << 20, /* texts of a group, at most */
	HELD_BYTES = 16 << 20, /* rows of all sheets, at most */
	FRAME_BYTES = 16,      /* counted for a frame of a stack */
	SHEETS_MOST = 8192,    /* files */
	FIELDS_MOST = 1000,    /* columns of fields in a table */
	ID_EVENTS = 1000,      /* events that identify a recording */
	ID_DIGITS = 16,
};

/* --- cells --- */

/* Add rows without a value up to a row. */
static int cells_fill(struct sheet_column *c, size_t row)
{
	size_t n = row - c->present.size;

	if (!n)
		return 0;
	if (!cell_is_text(c->kind))
		return buffer_zero(&c->present, n) || buffer_zero(&c->data, n * cell_width(c->kind))
			       ? -1
			       : 0;
	for (size_t i = 0; i < n; i++)
		if (buffer_u8(&c->present, 0) || buffer_u64(&c->data, c->bytes.size))
			return -1;
	return 0;
}

/* Add the value of the present row. */
static int cell_number(struct sheet *s, struct sheet_column *c, uint64_t n)
{
	if (cells_fill(c, s->nrows) || buffer_u8(&c->present, 1))
		return -1;
	c->values++;
	switch (cell_width(c->kind)) {
	case 1: return buffer_u8(&c->data, n != 0);
	case 4: return buffer_u32(&c->data, (uint32_t)n);
	default: return buffer_u64(&c->data, n);
	}
}

static int cell_real(struct sheet *s, struct sheet_column *c, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	return cell_number(s, c, bits);
}

/* The type of a time is signed. */
static int cell_time(struct dataset *d, struct sheet *s, struct sheet_column *c, uint64_t time)
{
	d->clamped += time > INT64_MAX;
	return cell_number(s, c, time > INT64_MAX ? INT64_MAX : time);
}

static int cell_text(struct dataset *d, struct sheet *s, struct sheet_column *c,
		     const struct buffer *text)
{
	if (cells_fill(c, s->nrows))
		return -1;
	/* a row group of small objects remains in memory */
	c->bytes.spills |= text->size > BUFFER_LARGE;
	if (buffer_append_from(&c->bytes, text, 0, text->size))
		return -1;
	s->texts += text->size;
	d->held += text->size;
	return cell_number(s, c, c->bytes.size);
}

static int cell_string(struct dataset *d, struct sheet *s, struct sheet_column *c, const char *text,
		       size_t n)
{
	d->rows.cell.size = 0;
	return utf8_append(&d->rows.cell, text, n) ? -1 : cell_text(d, s, c, &d->rows.cell);
}

/* --- words and frames --- */

uint32_t sheet_word_text(struct sheet_words *w, const void *text, size_t n)
{
	uint32_t count = w->texts.count, number;

	w->clean.size = 0;
	if (utf8_append(&w->clean, text, n))
		return INTERN_NONE;
	number = intern(&w->texts, w->clean.data, w->clean.size);
	w->bytes += w->texts.count > count ? w->clean.size : 0;
	return number;
}

uint32_t sheet_word(struct sheet_words *w, const struct sheet *s, uint32_t string)
{
	struct text_ref text;
	uint32_t number;

	if (string < w->nknown && w->known[string])
		return w->known[string] - 1;
	text = dictionary_string(s->dictionary, string);
	number = sheet_word_text(w, text.text, text.size);
	if (number == INTERN_NONE || ARRAY_REACH(w->known, w->nknown, string) ||
	    buffer_u32(&w->used, string))
		return INTERN_NONE;
	w->known[string] = number + 1;
	return number;
}

void sheet_words_clear(struct sheet_words *w)
{
	for (size_t i = 0; i < w->used.size; i += 4)
		w->known[get_u32(w->used.data + i)] = 0;
	w->used.size = 0;
	w->bytes = 0;
	intern_free(&w->texts);
}

void sheet_words_free(struct sheet_words *w)
{
	intern_free(&w->texts);
	free(w->known);
	buffer_free(&w->used);
	buffer_free(&w->clean);
}

const char *const frame_parts[FRAME_PARTS] = {"name", "file", "line", "module"};

int sheet_frame(const struct sheet *s, uint32_t stack, struct sheet_frame *f)
{
	struct dictionary *d = s->dictionary;
	uint32_t location = dictionary_stack_location(d, stack);
	const struct location *p = dictionary_location(d, location);
	const struct location_symbol *symbol = p ? p->symbol : NULL;

	*f = (struct sheet_frame){.stack = dictionary_stack_parent(d, stack)};
	if (dictionary_stack_frames(d, stack) > STACK_FRAMES) {
		f->parts[FRAME_NAME] = dictionary_text(d, STACK_DEEPER, 3).number;
	} else {
		f->parts[FRAME_NAME] = dictionary_location_name(d, location).number;
		if (symbol && symbol->file.size) {
			f->parts[FRAME_FILE] = symbol->file.number;
			f->parts[FRAME_LINE] = symbol->line;
		}
		if (symbol && symbol->module.size)
			f->parts[FRAME_MODULE] = symbol->module.number;
	}
	return f->parts[FRAME_NAME] ? 0 : -1;
}

/* --- groups of rows --- */

int sheet_write(struct sheet *s, const void *p, size_t n, struct error *e)
{
	s->offset += n;
	return s->out ? output_write(s->out, p, n, e)
		      : tree_output_put(s->tree, s->member, p, n, e);
}

/* Order the rows of a sheet by 16 bits of their times less the lowest one. counts: of 1 << 16. */
static void sheet_sort_digit(const struct sheet *s, uint64_t lowest, unsigned shift,
			     const uint32_t *from, uint32_t *counts, uint32_t *to)
{
	const uint8_t *times = s->columns[0].data.data;
	uint32_t sum = 0, count;

	memset(counts, 0, sizeof *counts << 16);
	for (size_t i = 0; i < s->nrows; i++)
		counts[(get_u64(times + 8 * i) - lowest) >> shift & 0xffff]++;
	for (size_t i = 0; i < 1 << 16; i++) {
		count = counts[i];
		counts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < s->nrows; i++)
		to[counts[(get_u64(times + 8 * (size_t)from[i]) - lowest) >> shift & 0xffff]++] =
			from[i];
}

/* Set the order of the rows by their times, the first column. The caller frees it. */
static int sheet_sort(struct sheet *s)
{
	const uint8_t *times = s->columns[0].data.data;
	uint64_t lowest = UINT64_MAX, highest = 0, time;
	uint32_t *order, *other, *counts, *swap;
	bool sorted = true;

	for (size_t i = 0; i < s->nrows; i++) {
		time = get_u64(times + 8 * i);
		sorted &= time >= highest;
		lowest = time < lowest ? time : lowest;
		highest = time > highest ? time : highest;
	}
	if (sorted)
		return 0;
	order = malloc(2 * s->nrows * sizeof *order);
	counts = malloc(sizeof *counts << 16);
	other = order ? order + s->nrows : NULL;
	for (size_t i = 0; order && counts && i < s->nrows; i++)
		order[i] = (uint32_t)i;
	for (unsigned shift = 0; order && counts && shift < 64 && (highest - lowest) >> shift;
	     shift += 16) {
		sheet_sort_digit(s, lowest, shift, order, counts, other);
		swap = order;
		order = other;
		other = swap;
	}
	if (order && counts && order > other)
		memcpy(other, order, s->nrows * sizeof *order);
	s->order = !order || !counts ? NULL : order < other ? order : other;
	if (!s->order)
		free(order);
	free(counts);
	return s->order ? 0 : -1;
}

static void sheet_clear(struct sheet *s, bool give)
{
	for (size_t i = 0; i < s->ncolumns; i++) {
		struct sheet_column *c = &s->columns[i];
		struct buffer *buffers[] = {&c->present, &c->data, &c->bytes};

		for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++)
			if (give)
				buffer_free(buffers[k]);
			else
				buffer_clear(buffers[k]);
		c->bytes.spills = false;
		c->values = 0;
	}
	free(s->order);
	s->order = NULL;
	s->nrows = s->texts = 0;
}

static size_t sheet_size(const struct sheet *s)
{
	return s->nrows * s->row_size + s->texts;
}

/* Write the rows of a sheet. */
static int dataset_write_group(struct dataset *d, struct sheet *s, struct error *e)
{
	bool rows = !d->only && !d->parts;
	int status;

	for (size_t i = 0; i < s->ncolumns; i++)
		if (cells_fill(&s->columns[i], s->nrows))
			return error_no_memory(e);
	if (!rows && sheet_sort(s))
		return error_no_memory(e);
	status = d->format->group(d->state, s, e);
	d->held -= sheet_size(s);
	sheet_clear(s, d->parts);
	return status;
}

/* Write the largest sheet. */
static int dataset_relieve(struct dataset *d, struct error *e)
{
	struct sheet *largest = d->sheets[0];

	for (size_t i = 1; i < d->nsheets; i++)
		if (sheet_size(d->sheets[i]) > sheet_size(largest))
			largest = d->sheets[i];
	return dataset_write_group(d, largest, e);
}

/* Complete the row of a sheet. */
static int dataset_end_row(struct dataset *d, struct sheet *s, struct error *e)
{
	s->nrows++;
	d->held += s->row_size;
	if (s->nrows == SHEET_ROWS || s->texts > SHEET_BYTES)
		return dataset_write_group(d, s, e);
	return d->held > HELD_BYTES && d->nsheets > 1 ? dataset_relieve(d, e) : 0;
}

/* --- the columns of the tables --- */

/* Columns that are none of the rows of csv. */
enum more_column {
	MORE_STACK = ROW_ALL,
	MORE_SERIES,
	MORE_VALUE,
	MORE_STATE,
	MORE_END,
	MORE_PPID,
	MORE_EVENTS,
	MORE_FORMAT,
	MORE_HOST,
	MORE_CLOCK,
	MORE_ZERO,
	MORE_TICKS,
	MORE_TOOL,
	MORE_COMMAND,
	MORE_LOST,
	MORE_END_OF_LIST
};

static const struct {
	const char *name;
	enum cell_kind kind;
} more_columns[] = {
	[MORE_STACK - ROW_ALL] = {"stack", CELL_STACK},
	[MORE_SERIES - ROW_ALL] = {"series", CELL_NAME},
	[MORE_VALUE - ROW_ALL] = {"value", CELL_REAL},
	[MORE_STATE - ROW_ALL] = {"state", CELL_LABEL},
	[MORE_END - ROW_ALL] = {"end", CELL_TIME},
	[MORE_PPID - ROW_ALL] = {"ppid", CELL_SMALL},
	[MORE_EVENTS - ROW_ALL] = {"events", CELL_INT},
	[MORE_FORMAT - ROW_ALL] = {"format", CELL_NAME},
	[MORE_HOST - ROW_ALL] = {"host_name", CELL_LABEL},
	[MORE_CLOCK - ROW_ALL] = {"clock", CELL_NAME},
	[MORE_ZERO - ROW_ALL] = {"wall_of_zero", CELL_INT},
	[MORE_TICKS - ROW_ALL] = {"ticks", CELL_FLAG},
	[MORE_TOOL - ROW_ALL] = {"tool", CELL_LABEL},
	[MORE_COMMAND - ROW_ALL] = {"command", CELL_LABEL},
	[MORE_LOST - ROW_ALL] = {"lost", CELL_INT},
};

/* The tables that do not depend on types; those of instants follow. */
enum {
	TABLE_CALL,
	TABLE_SAMPLE,
	TABLE_COUNTER,
	TABLE_GAP,
	TABLE_STATE,
	TABLE_THREAD,
	TABLE_TRACE,
	TABLES_FIXED
};

static const char *const table_names[TABLES_FIXED] = {"call",  "sample", "counter", "gap",
						      "state", "thread", "trace"};

#define TABLE_THREAD_COLUMNS ROW_PID, ROW_TID, ROW_CPU, ROW_COMM
static const uint8_t call_columns[] = {
	ROW_TIME,	 ROW_DUR,	ROW_SELF,	TABLE_THREAD_COLUMNS,
	ROW_NAME,	 ROW_TYPE,	ROW_GROUP,	ROW_DEPTH,
	ROW_CALLER,	 ROW_RECURSIVE, ROW_UNFINISHED, ROW_MODULE,
	ROW_FILE,	 ROW_LINE,	ROW_NESTING,	ROW_INPUT,
	ROW_ARGS,	 ROW_RUNNING,	ROW_RUNNABLE,	ROW_SLEEPING,
	ROW_BLOCKED,	 ROW_IOWAIT,	ROW_OFFCPU,	ROW_UNKNOWN,
	MORE_END_OF_LIST};
static const uint8_t sample_columns[] = {
	ROW_TIME,	  TABLE_THREAD_COLUMNS, ROW_NAME,	 ROW_TYPE,   ROW_GROUP, ROW_WEIGHT,
	ROW_WEIGHT_TOTAL, ROW_WEIGHT_COUNT,	ROW_WEIGHT_UNIT, MORE_STACK, ROW_INPUT, ROW_ARGS,
	MORE_END_OF_LIST};
static const uint8_t counter_columns[] = {
	ROW_TIME,    TABLE_THREAD_COLUMNS, ROW_NAME,  ROW_TYPE,	       ROW_GROUP,
	MORE_SERIES, MORE_VALUE,	   ROW_INPUT, MORE_END_OF_LIST};
static const uint8_t gap_columns[] = {ROW_TIME, TABLE_THREAD_COLUMNS, ROW_INPUT, ROW_ARGS,
				      MORE_END_OF_LIST};
static const uint8_t state_columns[] = {ROW_TIME, ROW_DUR, ROW_TID, MORE_STATE, MORE_END_OF_LIST};
static const uint8_t thread_columns[] = {ROW_TIME,  MORE_END,	 ROW_PID,
					 ROW_TID,   MORE_PPID,	 ROW_COMM,
					 ROW_INPUT, MORE_EVENTS, MORE_END_OF_LIST};
static const uint8_t trace_columns[] = {
	ROW_TIME,   MORE_END,	 MORE_HOST, ROW_INPUT,	  MORE_FORMAT, MORE_CLOCK,	MORE_ZERO,
	MORE_TICKS, MORE_EVENTS, MORE_LOST, MORE_COMMAND, MORE_TOOL,   MORE_END_OF_LIST};
static const uint8_t event_columns[] = {
	ROW_TIME, TABLE_THREAD_COLUMNS, ROW_NAME, ROW_GROUP, ROW_INPUT, ROW_ARGS, MORE_END_OF_LIST};

static const uint8_t *const table_columns[TABLES_FIXED] = {
	call_columns,  sample_columns, counter_columns, gap_columns,
	state_columns, thread_columns, trace_columns};

static enum cell_kind cell_kind_of(enum row_form form)
{
	switch (form) {
	case COLUMN_TIME: return CELL_SPAN;
	case COLUMN_SMALL: return CELL_SMALL;
	case COLUMN_FLAG: return CELL_FLAG;
	case COLUMN_INT: return CELL_INT;
	case COLUMN_REAL: return CELL_REAL;
	case COLUMN_NAME: return CELL_NAME;
	default: return CELL_TEXT;
	}
}

static void sheet_add_column(struct sheet *s, const char *name, enum cell_kind kind)
{
	struct sheet_column *c = &s->columns[s->ncolumns++];

	*c = (struct sheet_column){.name = name, .kind = kind};
	s->row_size += 1 + cell_width(kind);
}

/* Add the usual column of a table. */
static void sheet_add_usual(struct sheet *s, unsigned column)
{
	if (column >= ROW_ALL)
		sheet_add_column(s, more_columns[column - ROW_ALL].name,
				 more_columns[column - ROW_ALL].kind);
	else
		sheet_add_column(s, row_columns[column].name,
				 column == ROW_TIME ? CELL_TIME
						    : cell_kind_of(row_columns[column].form));
}

/* --- fields of events as columns --- */

/* A column for the fields of one name of the types of a table. */
struct dataset_field {
	struct text_ref field;
	const char *name; /* with a dot where a usual column has it */
	enum cell_kind kind;
};

static enum cell_kind dataset_kind_of(const struct field *f)
{
	bool placed = f->where == WHERE_FIXED || f->where == WHERE_TAIL;

	if (field_is_stack(f))
		return CELL_STACK;
	if (f->kind == FIELD_ENUM || f->kind == FIELD_BITMASK)
		return f->count > 1 ? CELL_TEXT : CELL_LABEL;
	if (f->kind == FIELD_CHAR || f->kind == FIELD_STRING || !placed || f->count > 1)
		return CELL_TEXT;
	switch (f->kind) {
	case FIELD_UINT: return f->size > 4 ? CELL_UNSIGNED : CELL_INT;
	case FIELD_HEX: return CELL_UNSIGNED;
	case FIELD_INT: return CELL_INT;
	case FIELD_FLOAT: return CELL_REAL;
	default: return CELL_TEXT;
	}
}

static enum cell_kind dataset_kind_of_both(enum cell_kind a, enum cell_kind b)
{
	if (a == b)
		return a;
	return (a == CELL_INT && b == CELL_UNSIGNED) || (a == CELL_UNSIGNED && b == CELL_INT)
		       ? CELL_INT
		       : CELL_TEXT;
}

/* Find the column of a field; nfields: there is none. */
static size_t dataset_find_field(const struct dataset_table *t, uint32_t name)
{
	size_t i = 0;

	while (i < t->nfields && t->fields[i].field.number != name)
		i++;
	return i;
}

/* Test whether a table of events has a column, or a data set a directory, of that name. */
static bool dataset_has_column(const struct dataset_table *t, const char *name)
{
	for (const uint8_t *c = t->usual; *c != MORE_END_OF_LIST; c++)
		if (!strcmp(row_columns[*c].name, name))
			return true;
	return options_apply("host date table", name);
}

static int dataset_add_field(struct dataset *d, struct dataset_table *t, const struct field *f)
{
	size_t at = dataset_find_field(t, f->name.number);
	struct dictionary *dict = d->rows.attributes.dictionary;
	struct dataset_field *fields;
	struct text_ref dotted;

	if (at < t->nfields) {
		t->fields[at].kind = dataset_kind_of_both(t->fields[at].kind, dataset_kind_of(f));
		return 0;
	}
	if (at == FIELDS_MOST)
		return 0;
	fields = realloc(t->fields, (at + 1) * sizeof *fields);
	if (!fields)
		return -1;
	t->fields = fields;
	fields[at] = (struct dataset_field){f->name, f->name.text, dataset_kind_of(f)};
	if (dataset_has_column(t, f->name.text)) {
		d->scratch.size = 0;
		if (buffer_u8(&d->scratch, '.') ||
		    buffer_append(&d->scratch, f->name.text, f->name.size))
			return -1;
		dotted = dictionary_text(dict, d->scratch.data, d->scratch.size);
		if (!dotted.number)
			return -1;
		fields[at].name = dotted.text;
	}
	t->nfields++;
	return 0;
}

/* Test whether the field of a type is a column of the type's table. */
static bool dataset_is_field(const struct field *f)
{
	return field_is_attribute(f);
}

/* Make the columns of the fields of a table, by all types of its name that are declared. */
static int dataset_add_fields(struct dataset *d, struct dataset_table *t, struct text_ref name)
{
	const struct dictionary *dict = d->rows.attributes.dictionary;

	for (uint32_t i = 1; i < dict->types.count; i++) {
		const struct type *type = dictionary_type(dict, i);

		if (type->kind != KIND_INSTANT || type->name.number != name.number)
			continue;
		for (uint32_t k = 0; k < type->nfields; k++)
			if (dataset_is_field(&type->fields[k]) &&
			    dataset_add_field(d, t, &type->fields[k]))
				return -1;
	}
	return 0;
}

/* --- tables --- */

static struct dataset_table *dataset_add_table(struct dataset *d, struct text_ref name,
					       const uint8_t *usual)
{
	struct dataset_table *t;

	if (ARRAY_GROW(d->tables, d->tables_capacity, d->ntables))
		return NULL;
	t = &d->tables[d->ntables++];
	*t = (struct dataset_table){.name = name, .usual = usual};
	t->wanted = !d->only || !strcmp(d->only, name.text);
	return t;
}

/* Get the number of the table of an instant; SIZE_MAX: out of memory. */
static size_t dataset_table_of(struct dataset *d, const struct type *type)
{
	struct dictionary *dict = d->rows.attributes.dictionary;
	struct dataset_table *t = NULL;
	struct text_ref name;

	if (ARRAY_REACH(d->table_of, d->ntable_of, type->number))
		return SIZE_MAX;
	if (d->table_of[type->number])
		return d->table_of[type->number] - 1;
	d->scratch.size = 0;
	if (buffer_puts(&d->scratch, "event.") ||
	    buffer_append(&d->scratch, type->name.text, type->name.size))
		return SIZE_MAX;
	name = dictionary_text(dict, d->scratch.data, d->scratch.size);
	for (size_t i = TABLES_FIXED; i < d->ntables && !t; i++)
		t = d->tables[i].name.number == name.number ? &d->tables[i] : NULL;
	if (!t) {
		t = name.number ? dataset_add_table(d, name, event_columns) : NULL;
		if (!t || dataset_add_fields(d, t, type->name))
			return SIZE_MAX;
	}
	d->table_of[type->number] = (uint32_t)(t - d->tables) + 1;
	return (size_t)(t - d->tables);
}

/* --- sheets --- */

static int dataset_name_member(struct dataset *d, struct sheet *s, struct error *e)
{
	char name[16];

	s->tree = &d->tree;
	snprintf(name, sizeof name, "%zu", d->nsheets);
	return tree_output_member(&d->tree, name, strlen(name), &s->member, e);
}

/* Add a sheet with room for so many columns. NULL: *e is filled. */
static struct sheet *dataset_add_sheet(struct dataset *d, size_t columns, struct error *e)
{
	struct sheet *s;

	if (d->nsheets == SHEETS_MOST) {
		error_set(e, NULL, NO_OFFSET,
			  "more than %d files: write one table with --table, or without date",
			  SHEETS_MOST);
		return NULL;
	}
	s = ARRAY_GROW(d->sheets, d->capacity, d->nsheets) ? NULL : calloc(1, sizeof *s);
	if (!s) {
		error_no_memory(e);
		return NULL;
	}
	s->columns = calloc(columns + 1, sizeof *s->columns);
	s->dictionary = d->rows.attributes.dictionary;
	s->table = "events";
	s->clock = "";
	s->day = NO_DAY;
	s->out = d->out;
	d->sheets[d->nsheets] = s;
	if (!s->columns)
		error_no_memory(e);
	if (!s->columns || (d->parts && dataset_name_member(d, s, e))) {
		free(s->columns);
		free(s);
		return NULL;
	}
	d->nsheets++;
	return s;
}

/* Make a sheet of a table. NULL: *e is filled. */
static struct sheet *dataset_new_sheet(struct dataset *d, struct dataset_table *t, bool wall,
				       int64_t day, struct error *e)
{
	bool states = states_declared(d->rows.attributes.dictionary);
	struct sheet *s = dataset_add_sheet(d, MORE_END_OF_LIST + t->nfields, e);

	if (!s)
		return NULL;
	s->table = t->name.text;
	s->wall = wall;
	s->day = day;
	for (const uint8_t *c = t->usual; *c != MORE_END_OF_LIST; c++)
		if (*c < ROW_RUNNING || *c > ROW_UNKNOWN || states)
			sheet_add_usual(s, *c);
	for (size_t i = 0; i < t->nfields; i++)
		sheet_add_column(s, t->fields[i].name, t->fields[i].kind);
	if (ARRAY_GROW(t->sheets, t->capacity, t->nsheets)) {
		error_no_memory(e);
		return NULL;
	}
	t->sheets[t->nsheets++] = (uint32_t)d->nsheets - 1;
	return d->format->begin(s, e) ? NULL : s;
}

/* The place of a time: of its clock, and of its day. */
struct dataset_time {
	bool wall;
	uint64_t shift; /* ns to add for wall time */
	int64_t day;
};

static struct dataset_time dataset_time_of(const struct dataset *d, const struct clock *clock,
					   uint64_t time)
{
	struct dataset_time t = {.day = NO_DAY};

	t.wall = clock && clock->flags & (CLOCK_HAS_WALL | CLOCK_IS_WALL);
	if (!t.wall)
		return t;
	t.shift = clock->flags & CLOCK_HAS_WALL ? (uint64_t)clock->wall : 0;
	t.day = d->parts ? (int64_t)(time + t.shift) / DAY - ((int64_t)(time + t.shift) < 0) : 0;
	return t;
}

/* Get the sheet of a table for the rows of a time. NULL: *e is filled. */
static struct sheet *dataset_sheet(struct dataset *d, size_t table, const struct clock *clock,
				   struct dataset_time when, struct error *e)
{
	struct dataset_table *t = &d->tables[table];
	struct sheet *s;

	for (size_t i = t->nsheets; i-- > 0;) {
		s = d->sheets[t->sheets[i]];
		if (!d->parts || s->day == when.day)
			return s;
	}
	s = dataset_new_sheet(d, t, when.wall, when.day, e);
	if (s && clock)
		s->clock = clock->name.text;
	return s;
}

/* --- a row --- */

/* Put a time of the stream in a column. */
static int dataset_put_time(struct dataset *d, struct sheet *s, struct sheet_column *c,
			    struct dataset_time when, uint64_t time)
{
	if (!s->wall || when.wall)
		return cell_time(d, s, c, time + (s->wall ? when.shift : 0));
	d->timeless++;
	return 0;
}

/* Put a cell of the rows of csv. */
static int dataset_put_usual(struct dataset *d, struct sheet *s, struct sheet_column *c,
			     enum row_column column)
{
	const struct event_rows *r = &d->rows;

	if (!row_has(r, column))
		return 0;
	switch (c->kind) {
	case CELL_TEXT: return cell_text(d, s, c, row_object(r, column));
	case CELL_SPAN: return cell_time(d, s, c, r->numbers[column]);
	default: return cell_number(s, c, r->numbers[column]);
	}
}

static int dataset_put_stack(struct dataset *d, struct sheet *s, struct sheet_column *c,
			     uint32_t stack)
{
	uint32_t limited = dictionary_stack_limited(s->dictionary, stack);
	size_t size = FRAME_BYTES * (size_t)dictionary_stack_frames(s->dictionary, limited);

	if (!stack)
		return 0;
	s->texts += size;
	d->held += size;
	return cell_number(s, c, limited);
}

static int dataset_put_number_field(struct dataset *d, struct sheet *s, struct sheet_column *c,
				    const struct event *ev, const struct field *f)
{
	struct field_value v;

	field_get(ev, f, 0, &v);
	switch (v.form) {
	case FORM_REAL: return cell_real(s, c, v.real);
	case FORM_INT:
	case FORM_UINT:
		if (c->kind == CELL_REAL)
			return cell_real(s, c, v.form == FORM_INT ? (double)v.i : (double)v.u);
		if (c->kind == CELL_INT && v.form == FORM_UINT && v.u > INT64_MAX) {
			d->clamped++;
			v.u = INT64_MAX;
		}
		return cell_number(s, c, v.u);
	default: return 0;
	}
}

/* Put the field of an event in its column. */
static int dataset_put_field(struct dataset *d, struct sheet *s, struct sheet_column *c,
			     const struct event *ev, const struct field *f)
{
	struct attribute item = {0};

	if (c->kind == CELL_STACK)
		return field_is_stack(f)
			       ? dataset_put_stack(d, s, c, field_stack(s->dictionary, ev, f))
			       : 0;
	if (!cell_is_text(c->kind))
		return dataset_put_number_field(d, s, c, ev, f);
	if (attribute_field(&d->spelling, ev, f, &item))
		return -1;
	if (item.kind == ATTRIBUTE_NULL)
		return 0;
	d->rows.cell.size = 0;
	return row_field_append(&d->rows.cell, &item, utf8_append)
		       ? -1
		       : cell_text(d, s, c, &d->rows.cell);
}

/* Put what has no column in args. */
static int dataset_put_rest(struct dataset *d, const struct dataset_table *t,
			    const struct event *ev)
{
	struct event_rows *r = &d->rows;
	struct attributes *a = &r->attributes;
	size_t kept = 0;

	buffer_clear(&r->bytes);
	buffer_clear(&r->args);
	if (attributes_append(a, ev, &r->bytes) || attributes_read(a, &r->bytes))
		return -1;
	for (size_t i = 0; i < a->count; i++)
		if (dataset_find_field(t, a->items[i].name) == t->nfields)
			a->items[kept++] = a->items[i];
	a->count = kept;
	if (!kept)
		return 0;
	r->present |= 1ull << ROW_ARGS;
	return attributes_json(a, &r->args);
}

/* Test whether a field of a type has no column: the type was declared after the first event. */
static bool dataset_has_rest(const struct dataset_table *t, const struct type *type)
{
	if (type->flags & TYPE_VALUES || type->kind != KIND_INSTANT)
		return true;
	for (uint32_t i = 0; i < type->nfields; i++)
		if (dataset_is_field(&type->fields[i]) &&
		    dataset_find_field(t, type->fields[i].name.number) == t->nfields)
			return true;
	return false;
}

/* Put the usual cells of the present row. */
static int dataset_put_cells(struct dataset *d, struct sheet *s, const uint8_t *usual,
			     struct dataset_time when, const struct event *ev)
{
	for (size_t i = 0; i < s->ncolumns && *usual != MORE_END_OF_LIST; usual++) {
		struct sheet_column *c = &s->columns[i];
		int bad;

		if (*usual >= ROW_RUNNING && *usual <= ROW_UNKNOWN &&
		    strcmp(row_columns[*usual].name, c->name) != 0)
			continue;
		i++;
		if (*usual == ROW_TIME)
			bad = dataset_put_time(d, s, c, when, d->rows.numbers[ROW_TIME]);
		else if (*usual == MORE_STACK)
			bad = dataset_put_stack(d, s, c, event_stack(s->dictionary, ev));
		else
			bad = *usual < ROW_ALL
				      ? dataset_put_usual(d, s, c, (enum row_column) * usual)
				      : 0;
		if (bad)
			return -1;
	}
	return 0;
}

/* Get the column of that name, which the sheet has. */
static struct sheet_column *sheet_column_named(struct sheet *s, unsigned more)
{
	size_t i = 0;

	while (strcmp(s->columns[i].name, more_columns[more - ROW_ALL].name) != 0)
		i++;
	return &s->columns[i];
}

/* Write a row for each number of a counter. */
static int dataset_put_counter(struct dataset *d, struct sheet *s, struct dataset_time when,
			       const struct event *ev, struct error *e)
{
	struct attributes *a = &d->rows.attributes;
	bool bad;

	buffer_clear(&d->rows.bytes);
	if (attributes_append(a, ev, &d->rows.bytes) || attributes_read(a, &d->rows.bytes))
		return error_no_memory(e);
	for (size_t i = 0; i < a->count; i++) {
		const struct attribute *item = &a->items[i];
		double value = item->kind == ATTRIBUTE_REAL  ? item->real
			       : item->kind == ATTRIBUTE_INT ? (double)(int64_t)item->number
							     : (double)item->number;

		if (item->kind != ATTRIBUTE_REAL && item->kind != ATTRIBUTE_INT &&
		    item->kind != ATTRIBUTE_UINT)
			continue;
		bad = dataset_put_cells(d, s, counter_columns, when, ev) ||
		      cell_number(s, sheet_column_named(s, MORE_SERIES), item->name) ||
		      cell_real(s, sheet_column_named(s, MORE_VALUE), value);
		if (bad)
			return error_no_memory(e);
		if (dataset_end_row(d, s, e))
			return -1;
	}
	return 0;
}

/* Put the fields of an instant in their columns, which are the last ones. */
static int dataset_put_fields(struct dataset *d, const struct dataset_table *t, struct sheet *s,
			      const struct event *ev)
{
	size_t first = s->ncolumns - t->nfields, at;

	for (uint32_t i = 0; i < ev->type->nfields; i++) {
		const struct field *f = &ev->type->fields[i];
		struct sheet_column *c;

		if (!dataset_is_field(f))
			continue;
		/* the columns are in the order of the fields of the first type */
		at = i < t->nfields && t->fields[i].field.number == f->name.number
			     ? i
			     : dataset_find_field(t, f->name.number);
		if (at == t->nfields)
			continue;
		c = &s->columns[first + at];
		/* of two fields of a name, the last one is its value elsewhere */
		if (c->present.size > s->nrows)
			continue;
		if (dataset_put_field(d, s, c, ev, f))
			return -1;
	}
	return 0;
}

/* Get the number of the table of the present row; SIZE_MAX: out of memory. */
static size_t dataset_choose_table(struct dataset *d, const struct event *ev)
{
	if (!ev)
		return TABLE_CALL;
	switch (ev->type->kind) {
	case KIND_SAMPLE: return TABLE_SAMPLE;
	case KIND_COUNTER: return TABLE_COUNTER;
	case KIND_GAP: return TABLE_GAP;
	default: return dataset_table_of(d, ev->type);
	}
}

/* Put the present row in its table. */
static int dataset_put_row(struct dataset *d, struct error *e)
{
	const struct event *ev = d->rows.event;
	const struct clock *clock = d->rows.lane->clock;
	struct dataset_time when = dataset_time_of(d, clock, d->rows.numbers[ROW_TIME]);
	size_t table = dataset_choose_table(d, ev);
	struct sheet *s;

	if (table == SIZE_MAX)
		return error_no_memory(e);
	if (!d->tables[table].wanted)
		return 0;
	s = dataset_sheet(d, table, clock, when, e);
	if (!s)
		return -1;
	if (table == TABLE_COUNTER)
		return dataset_put_counter(d, s, when, ev, e);
	if (ev && dataset_has_rest(&d->tables[table], ev->type) &&
	    dataset_put_rest(d, &d->tables[table], ev))
		return error_no_memory(e);
	if (dataset_put_cells(d, s, d->tables[table].usual, when, ev) ||
	    (table >= TABLES_FIXED && dataset_put_fields(d, &d->tables[table], s, ev)))
		return error_no_memory(e);
	return dataset_end_row(d, s, e);
}

/* --- the rows of csv as one sheet --- */

static enum row_form dataset_form_of(const struct field *f)
{
	if ((f->where != WHERE_FIXED && f->where != WHERE_TAIL) || f->count > 1)
		return COLUMN_OBJECT;
	if (f->kind == FIELD_UINT || f->kind == FIELD_INT)
		return COLUMN_INT;
	return f->kind == FIELD_FLOAT ? COLUMN_REAL : COLUMN_OBJECT;
}

/* Get what the values of a column are, by the declared types that have the field: numbers, or
 * texts, which are also names of numbers, arguments, and several of these. */
static enum row_form dataset_column_form(const struct field_columns *c, size_t column)
{
	const struct dictionary *d = c->attributes.dictionary;
	enum row_form form = COLUMN_FIELD, next;
	struct field_part part;
	struct field element;

	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);
		const struct field *f = field_find(t, c->names[column].text);

		if (!f)
			continue;
		element = *f;
		part = field_part(f, c->names[column].text);
		if (part.element)
			element.count = 1;
		next = part.name ? COLUMN_OBJECT : dataset_form_of(&element);
		form = form == COLUMN_FIELD || form == next ? next : COLUMN_OBJECT;
	}
	return form == COLUMN_FIELD ? COLUMN_OBJECT : form;
}

/* Get the sheet of the rows; the types that are declared now decide the kinds of the columns of
 * fields. NULL: *e is filled. */
static struct sheet *dataset_rows_sheet(struct dataset *d, struct error *e)
{
	struct event_rows *r = &d->rows;
	struct sheet *s;

	if (d->nsheets)
		return d->sheets[0];
	s = dataset_add_sheet(d, r->ncolumns, e);
	for (size_t i = 0; s && i < r->ncolumns; i++) {
		enum row_column c = (enum row_column)r->columns[i];

		sheet_add_column(
			s, row_column_name(r, c),
			cell_kind_of(c < ROW_COLUMNS
					     ? row_column_form(c)
					     : dataset_column_form(&r->fields, c - ROW_COLUMNS)));
	}
	return s && d->format->begin(s, e) ? NULL : s;
}

/* Put a field of -c. */
static int dataset_put_chosen(struct dataset *d, struct sheet *s, struct sheet_column *c,
			      const struct attribute *cell)
{
	bool whole = cell->kind == ATTRIBUTE_INT || cell->kind == ATTRIBUTE_UINT;
	bool above = cell->kind == ATTRIBUTE_UINT && cell->number > INT64_MAX;

	if (c->kind == CELL_TEXT) {
		d->rows.cell.size = 0;
		return row_field_append(&d->rows.cell, cell, utf8_append)
			       ? -1
			       : cell_text(d, s, c, &d->rows.cell);
	}
	if (c->kind == CELL_REAL && cell->kind == ATTRIBUTE_REAL)
		return cell_real(s, c, cell->real);
	if (c->kind == CELL_REAL || !whole) {
		d->left_out++;
		return 0;
	}
	d->clamped += above;
	return cell_number(s, c, above ? INT64_MAX : cell->number);
}

int dataset_row(struct event_rows *r, struct error *e)
{
	struct dataset *d = (struct dataset *)r;
	struct sheet *s;
	int bad = 0;

	if (d->only || d->parts)
		return dataset_put_row(d, e);
	s = dataset_rows_sheet(d, e);
	if (!s)
		return -1;
	for (size_t i = 0; i < r->ncolumns && !bad; i++) {
		enum row_column c = (enum row_column)r->columns[i];

		if (c < ROW_COLUMNS)
			bad = dataset_put_usual(d, s, &s->columns[i], c);
		else if (row_field(r, c))
			bad = dataset_put_chosen(d, s, &s->columns[i], row_field(r, c));
	}
	return bad ? error_no_memory(e) : dataset_end_row(d, s, e);
}

/* --- what is noted of each event --- */

/* Identify the recording by its first events, whatever the name of its file. Events without ns are
 * not unlike those of another recording: its name counts, too. */
static void dataset_hash(struct dataset *d, const struct event *ev)
{
	static const struct siphash_key key = {0x7472656e636f6465, 0x64617461736574};
	const struct lane *l = ev->lane;
	const struct source *source = l->source;
	const char *name = source ? strrchr(source->name.text, '/') : NULL;
	uint64_t words[8] = {d->id,
			     ev->time,
			     (uint64_t)(uint32_t)l->pid << 32 | (uint32_t)l->tid,
			     (uint64_t)(uint32_t)l->cpu << 32 | l->flags,
			     siphash(&key, ev->type->name.text, ev->type->name.size),
			     ev->type->kind == KIND_SAMPLE ? sample_weight(ev) : 0,
			     l->clock ? (uint64_t)l->clock->wall : 0,
			     0};

	if (source && (!l->clock || l->clock->flags & CLOCK_TICKS)) {
		name = name ? name + 1 : source->name.text;
		words[7] = siphash(&key, name, strlen(name));
	}
	d->id = siphash(&key, words, sizeof words);
	d->hashed++;
}

static int dataset_note_lane(struct dataset *d, const struct event *ev)
{
	struct dataset_lane *l;

	if (ARRAY_REACH(d->lanes, d->nlanes, ev->lane->number))
		return -1;
	l = &d->lanes[ev->lane->number];
	l->first = l->events && l->first < ev->time ? l->first : ev->time;
	l->last = l->events && l->last > ev->time ? l->last : ev->time;
	l->events += kind_is_event(ev->type->kind);
	return 0;
}

/* Note an event before it becomes a row. */
static int dataset_before(struct event_rows *r, const struct event *ev, struct error *e)
{
	struct dataset *d = (struct dataset *)r;
	struct gap_row gap;

	if (d->hashed < ID_EVENTS && kind_is_event(ev->type->kind))
		dataset_hash(d, ev);
	if (ev->type->kind == KIND_GAP && gap_get(ev, &gap) && gap.reason == GAP_LOST &&
	    gap.unit == GAP_EVENTS && gap.count != UINT64_MAX)
		d->lost += gap.count;
	d->clock = ev->lane->clock;
	return ev->type->kind != KIND_DROP && dataset_note_lane(d, ev) ? error_no_memory(e) : 0;
}

/* --- states of threads --- */

/* A time of a thread in one state, which is written when the next one ends: a blocked thread may
 * turn out to have waited for I/O. */
struct dataset_period {
	uint64_t since, until;
	uint64_t iowait; /* ns that the thread had waited for I/O before */
	uint8_t state;	 /* STATES: none */
};

/* The periods of a thread, by task of states. */
struct dataset_task {
	struct dataset_period last, now;
	bool begun;
};

/* The state table. */
struct dataset_states {
	struct states states; /* of the rows */
	struct dataset *dataset;
	struct dataset_task *tasks;
	size_t ntasks;
	struct error *error;
};

static const struct state_task *dataset_task_of(const struct dataset_states *s, uint32_t task)
{
	return pool_at(&s->states.tasks, task);
}

static int dataset_put_period(struct dataset_states *s, uint32_t task,
			      const struct dataset_period *p)
{
	struct dataset *d = s->dataset;
	struct dataset_time when = dataset_time_of(d, d->clock, p->since);
	uint64_t waited = dataset_task_of(s, task)->now.ns[STATE_IOWAIT];
	unsigned state = p->state == STATE_BLOCKED && waited > p->iowait ? STATE_IOWAIT : p->state;
	struct sheet *sheet;

	if (!d->tables[TABLE_STATE].wanted || p->state >= STATE_UNKNOWN || p->until <= p->since)
		return 0;
	sheet = dataset_sheet(d, TABLE_STATE, d->clock, when, s->error);
	if (!sheet)
		return -1;
	if (dataset_put_time(d, sheet, &sheet->columns[0], when, p->since) ||
	    cell_time(d, sheet, &sheet->columns[1], p->until - p->since) ||
	    cell_number(sheet, &sheet->columns[2],
			(uint64_t)(int64_t)dataset_task_of(s, task)->tid) ||
	    cell_string(d, sheet, &sheet->columns[3], state_names[state],
			strlen(state_names[state])))
		return error_no_memory(s->error);
	return dataset_end_row(d, sheet, s->error);
}

/* Take the next state of a task. */
static int dataset_take_state(void *ctx, uint32_t task, enum state state, uint64_t since)
{
	struct dataset_states *s = ctx;
	struct dataset_task *t;

	if (ARRAY_REACH(s->tasks, s->ntasks, task))
		return error_no_memory(s->error);
	t = &s->tasks[task];
	t->now.until = since;
	if (!t->begun)
		t->now.state = t->last.state = STATE_UNKNOWN;
	t->begun = true;
	if (dataset_put_period(s, task, &t->last))
		return -1;
	t->last = t->now;
	t->now = (struct dataset_period){since, 0, dataset_task_of(s, task)->now.ns[STATE_IOWAIT],
					 (uint8_t)state};
	return 0;
}

/* Write the periods that are open at the end of a trace. */
static int dataset_end_states(struct dataset_states *s, struct error *e)
{
	uint64_t last = 0;

	s->error = e;
	for (size_t i = 0; i < s->dataset->nlanes; i++)
		if (s->dataset->lanes[i].last > last)
			last = s->dataset->lanes[i].last;
	for (size_t i = 1; i < s->ntasks && i < s->states.tasks.count; i++)
		if (s->tasks[i].begun && (dataset_take_state(s, (uint32_t)i, STATE_UNKNOWN, last) ||
					  dataset_take_state(s, (uint32_t)i, STATE_UNKNOWN, last)))
			return -1;
	memset(s->tasks, 0, s->ntasks * sizeof *s->tasks);
	return 0;
}

static int dataset_before_states(struct event_rows *r, const struct event *ev, struct error *e)
{
	struct dataset_states *s = ((struct dataset *)r)->states;

	/* another trace follows: its threads are others */
	if (s->states.stream != r->attributes.dictionary->stream && dataset_end_states(s, e))
		return -1;
	s->error = e;
	return dataset_before(r, ev, e);
}

static int dataset_follow_states(struct dataset *d, const struct encoding *en, struct error *e)
{
	struct dataset_states *s = calloc(1, sizeof *s);

	if (!s)
		return error_no_memory(e);
	s->dataset = d;
	states_init(&s->states, en->dictionary, en->calls);
	s->states.watch.state = dataset_take_state;
	s->states.watch.ctx = s;
	d->states = s;
	d->rows.states = &s->states;
	d->rows.before = dataset_before_states;
	return 0;
}

/* --- the tables that are written at the end --- */

/* Put the first time, the last time and the number of events of the rows of a lane. */
static int dataset_put_range(struct dataset *d, struct sheet *s, struct dataset_time when,
			     const struct dataset_lane *l)
{
	return dataset_put_time(d, s, &s->columns[0], when, l->first) ||
			       dataset_put_time(d, s, &s->columns[1], when, l->last) ||
			       cell_number(s, sheet_column_named(s, MORE_EVENTS), l->events)
		       ? -1
		       : 0;
}

static int dataset_put_thread(struct dataset *d, const struct lane *l,
			      const struct dataset_lane *range, struct error *e)
{
	struct dataset_time when = dataset_time_of(d, l->clock, range->first);
	struct sheet *s = dataset_sheet(d, TABLE_THREAD, l->clock, when, e);
	struct sheet_column *c;

	if (!s)
		return -1;
	c = s->columns;
	if (dataset_put_range(d, s, when, range) ||
	    (l->flags & LANE_HAS_PID && cell_number(s, &c[2], (uint32_t)l->pid)) ||
	    cell_number(s, &c[3], (uint32_t)l->tid) ||
	    (l->ppid > 0 && cell_number(s, &c[4], (uint32_t)l->ppid)) ||
	    (l->comm.size && cell_number(s, &c[5], l->comm.number)) ||
	    (l->source && cell_number(s, &c[6], l->source->name.number)))
		return error_no_memory(e);
	return dataset_end_row(d, s, e);
}

/* Add the range of a lane to that of others. */
static void dataset_add_range(struct dataset_lane *to, const struct dataset_lane *l)
{
	to->first = to->events && to->first < l->first ? to->first : l->first;
	to->last = to->events && to->last > l->last ? to->last : l->last;
	to->events += l->events;
}

/* Write the threads: of the lanes of one thread the last comm. */
static int dataset_put_threads(struct dataset *d, struct error *e)
{
	const struct dictionary *dict = d->rows.attributes.dictionary;
	uint32_t *last = calloc(dict->threads.count + 1, sizeof *last);
	int bad = last ? 0 : error_no_memory(e);

	/* last: by thread, number of the lane with its last event + 1 */
	for (uint32_t i = 1; i < d->nlanes && !bad; i++) {
		const struct lane *l = dictionary_lane(dict, i);
		struct dataset_lane *range = &d->lanes[i], *other;

		if (!range->events || !(l->flags & LANE_HAS_TID) || l->thread > dict->threads.count)
			continue;
		other = last[l->thread] ? &d->lanes[last[l->thread]] : NULL;
		if (!other || range->last >= other->last) {
			if (other)
				dataset_add_range(range, other);
			last[l->thread] = i;
		} else {
			dataset_add_range(other, range);
		}
	}
	for (uint32_t i = 0; i <= dict->threads.count && !bad; i++)
		if (last[i])
			bad = dataset_put_thread(d, dictionary_lane(dict, last[i]),
						 &d->lanes[last[i]], e);
	free(last);
	return bad;
}

/* Write the row of a source. */
static int dataset_put_trace(struct dataset *d, const struct source *source,
			     const struct clock *clock, const struct dataset_lane *range,
			     struct error *e)
{
	struct dataset_time when = dataset_time_of(d, clock, range->first);
	struct sheet *s = dataset_sheet(d, TABLE_TRACE, clock, when, e);
	struct sheet_column *c;
	bool ticks;

	if (!s)
		return -1;
	c = s->columns;
	ticks = clock && (clock->flags & CLOCK_TICKS || clock->tick);
	if (dataset_put_range(d, s, when, range) || cell_text(d, s, &c[2], &d->host) ||
	    cell_number(s, &c[3], source->name.number) ||
	    cell_number(s, &c[4], source->format.number) ||
	    (clock && cell_number(s, &c[5], clock->name.number)) ||
	    (when.wall && cell_number(s, &c[6], when.shift)) || cell_number(s, &c[7], ticks) ||
	    cell_number(s, &c[9], d->lost) || cell_text(d, s, &c[10], &d->command) ||
	    cell_string(d, s, &c[11], "trutils " TRUTILS_VERSION,
			sizeof "trutils " TRUTILS_VERSION - 1))
		return error_no_memory(e);
	d->lost = 0; /* they are counted once */
	return dataset_end_row(d, s, e);
}

static int dataset_put_traces(struct dataset *d, struct error *e)
{
	const struct dictionary *dict = d->rows.attributes.dictionary;

	for (uint32_t i = 1; i < dict->sources.count; i++) {
		const struct source *source = pool_at(&dict->sources, i);
		struct dataset_lane all = {0};
		const struct clock *clock = NULL;

		for (uint32_t k = 1; k < d->nlanes; k++) {
			const struct lane *l = dictionary_lane(dict, k);

			if (l->source != source || !d->lanes[k].events)
				continue;
			dataset_add_range(&all, &d->lanes[k]);
			clock = l->clock;
		}
		if (all.events && dataset_put_trace(d, source, clock, &all, e))
			return -1;
	}
	return 0;
}

/* --- the files of a data set --- */

enum part { PART_HOST, PART_DATE, PART_TABLE, PARTS };

static const char *const part_names[PARTS] = {"host", "date", "table"};

/* Parse the next part of a list such as "host=web1,date,table". *value: NULL: none. */
static int dataset_next_part(const char **list, enum part *part, const char **value, size_t *size,
			     struct error *e)
{
	size_t n = strcspn(*list, ","), name = strcspn(*list, "=,");

	*part = PART_HOST;
	while (*part < PARTS &&
	       (strlen(part_names[*part]) != name || memcmp(part_names[*part], *list, name) != 0))
		(*part)++;
	*value = name < n ? *list + name + 1 : NULL;
	*size = name < n ? n - name - 1 : 0;
	if (*part == PARTS || (*value && (*part != PART_HOST || !*size)))
		return error_set(e, NULL, NO_OFFSET,
				 "--partition takes a list of host, host=NAME, date and table, "
				 "such as host,date,table, not '%.*s'",
				 (int)(n < 64 ? n : 64), *list);
	*list += n + ((*list)[n] == ',');
	return 0;
}

static int dataset_take_host(struct dataset *d, struct error *e)
{
	char name[256] = "";
	const char *list = d->partition, *value;
	enum part part;
	size_t n;

	if (gethostname(name, sizeof name - 1) || buffer_puts(&d->host, name))
		return error_no_memory(e);
	while (list && *list) {
		if (dataset_next_part(&list, &part, &value, &n, e))
			return -1;
		if (!value)
			continue;
		d->host.size = 0;
		if (utf8_append(&d->host, value, n))
			return error_no_memory(e);
	}
	return 0;
}

/* Append a value of a directory's name, as Hive escapes it. */
static int dataset_append_value(struct buffer *b, const void *text, size_t n)
{
	const uint8_t *p = text;

	for (size_t i = 0; i < n; i++) {
		bool plain = (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'A' && p[i] <= 'Z') ||
			     (p[i] >= 'a' && p[i] <= 'z') || p[i] == '_' || p[i] == '-' ||
			     (p[i] == '.' && i);

		if (plain ? buffer_u8(b, p[i]) : buffer_printf(b, "%%%02X", p[i]))
			return -1;
	}
	return 0;
}

static int dataset_append_part(struct dataset *d, struct buffer *b, enum part part,
			       const struct sheet *s)
{
	time_t seconds = s->day == NO_DAY ? 0 : (time_t)(s->day * 86400);
	char day[32] = "unknown";
	struct tm tm;

	if (s->day != NO_DAY && gmtime_r(&seconds, &tm))
		strftime(day, sizeof day, "%Y-%m-%d", &tm);
	if (buffer_printf(b, "%s=", part_names[part]))
		return -1;
	switch (part) {
	case PART_HOST: return dataset_append_value(b, d->host.data, d->host.size);
	case PART_DATE: return buffer_puts(b, day);
	default: return dataset_append_value(b, s->table, strlen(s->table));
	}
}

/* Append the place of a sheet's file in the data set, with a newline. */
static int dataset_append_place(struct dataset *d, struct buffer *b, const struct sheet *s,
				struct error *e)
{
	const char *list = d->partition, *value;
	bool has[PARTS] = {false};
	enum part part;
	size_t n;

	while (*list) {
		if (dataset_next_part(&list, &part, &value, &n, e))
			return -1;
		has[part] = true;
		if (dataset_append_part(d, b, part, s) || buffer_u8(b, '/'))
			return error_no_memory(e);
	}
	if (buffer_printf(b, "%0*" PRIx64, ID_DIGITS, d->id) ||
	    (!has[PART_TABLE] &&
	     (buffer_u8(b, '.') || dataset_append_value(b, s->table, strlen(s->table)))) ||
	    (!has[PART_DATE] && (buffer_u8(b, '.') || dataset_append_part(d, b, PART_DATE, s))) ||
	    buffer_puts(b, d->format->suffix) || buffer_u8(b, '\n'))
		return error_no_memory(e);
	return 0;
}

/* Read the list of the files of an earlier run of the recording. */
static int dataset_read_list(const char *path, struct buffer *list, struct error *e)
{
	FILE *f = fopen(path, "re");
	uint8_t piece[4096];
	size_t n;
	int bad = 0;

	while (f && !bad && (n = fread(piece, 1, sizeof piece, f)) > 0)
		bad = buffer_append(list, piece, n);
	if (f)
		fclose(f);
	return bad ? error_no_memory(e) : 0;
}

/* Test whether a list has a line. */
static bool dataset_lists(const struct buffer *list, const char *line, size_t n)
{
	const char *at = (const char *)list->data, *end = at + list->size, *next;

	for (; at < end; at = next + 1) {
		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		if ((size_t)(next - at) == n && !memcmp(at, line, n))
			return true;
	}
	return false;
}

/* Remove the files of an earlier run that the present one did not write. */
static int dataset_remove_others(struct dataset *d, const struct buffer *before,
				 const struct buffer *now, struct error *e)
{
	const char *at = (const char *)before->data, *end = at + before->size, *next;
	char id[ID_DIGITS + 1];

	snprintf(id, sizeof id, "%0*" PRIx64, ID_DIGITS, d->id);
	for (; at < end; at = next + 1) {
		const char *name;

		next = memchr(at, '\n', (size_t)(end - at));
		next = next ? next : end;
		name = memrchr(at, '/', (size_t)(next - at));
		name = name ? name + 1 : at;
		if (dataset_lists(now, at, (size_t)(next - at)) ||
		    (size_t)(next - name) < ID_DIGITS || memcmp(name, id, ID_DIGITS) != 0 ||
		    memmem(at, (size_t)(next - at), "..", 2))
			continue;
		d->scratch.size = 0;
		if (buffer_printf(&d->scratch, "%s/%.*s", d->tree.path, (int)(next - at), at) ||
		    buffer_u8(&d->scratch, 0))
			return error_no_memory(e);
		unlink((const char *)d->scratch.data);
	}
	return 0;
}

/* Set the places of the files. list: of all; each line becomes a string, ended by a NUL. */
static int dataset_set_places(struct dataset *d, struct buffer *list, struct error *e)
{
	for (size_t i = 0; i < d->nsheets; i++) {
		const struct sheet *s = d->sheets[i];
		size_t at = list->size;
		char *place;

		if (dataset_append_place(d, list, s, e))
			return -1;
		place = strndup((const char *)list->data + at, list->size - at - 1);
		if (!place)
			return error_no_memory(e);
		d->tree.members[s->member].place = place;
	}
	return 0;
}

/* Put the files in their places, and remove those of an earlier run of the recording. */
static int dataset_finish(struct dataset *d, struct error *e)
{
	struct buffer now = {0}, before = {0}, path = {0};
	uint32_t member;
	int bad = -1;

	if (buffer_printf(&path, "%s/.trutils/%0*" PRIx64, d->tree.path, ID_DIGITS, d->id) ||
	    buffer_u8(&path, 0))
		error_no_memory(e);
	else if (!dataset_read_list((const char *)path.data, &before, e) &&
		 !dataset_set_places(d, &now, e) &&
		 !tree_output_member(&d->tree, "list", 4, &member, e) &&
		 !tree_output_put(&d->tree, member, now.data, now.size, e)) {
		d->tree.members[member].place =
			strdup((const char *)path.data + strlen(d->tree.path) + 1);
		bad = !d->tree.members[member].place ? error_no_memory(e)
						     : tree_output_finish(&d->tree, e);
		bad = bad ? bad : dataset_remove_others(d, &before, &now, e);
	}
	buffer_free(&now);
	buffer_free(&before);
	buffer_free(&path);
	return bad;
}

/* --- the run --- */

int dataset_begin(struct encoding *en, const struct sheet_format *format, void *state,
		  struct error *e)
{
	struct dataset *d = en->state;
	struct dictionary *dict = en->dictionary;

	d->format = format;
	d->state = state;
	d->out = en->out;
	d->only = en->options->table;
	d->partition = en->options->partition;
	d->parts = d->partition;
	if (!d->only && !d->parts)
		return 0;
	d->spelling = (struct attribute_source){.plain = {dict, &d->scratch, false, false},
						.compound = &d->compound};
	d->rows.typed = d->rows.wants_args = true;
	d->rows.wanted = UINT64_MAX & ~(1ull << ROW_CLASS | 1ull << ROW_KIND | 1ull << ROW_STACK);
	d->rows.before = dataset_before;
	for (size_t i = 0; i < TABLES_FIXED; i++) {
		struct text_ref name =
			dictionary_text(dict, table_names[i], strlen(table_names[i]));

		if (!name.number || !dataset_add_table(d, name, table_columns[i]))
			return error_no_memory(e);
	}
	/* the call table has the time in each state */
	if ((d->tables[TABLE_STATE].wanted || d->tables[TABLE_CALL].wanted) &&
	    dataset_follow_states(d, en, e))
		return -1;
	if (dataset_take_host(d, e))
		return -1;
	return d->parts ? tree_output_open(&d->tree, en->options->output, NULL, e) : 0;
}

int dataset_head(struct encoding *en, const struct head *h, struct error *e)
{
	struct dataset *d = en->state;
	struct head_property p;

	for (size_t at = 0; h->properties && head_next(h, &at, &p);)
		if (p.key == HEAD_COMMAND && d->command.size < 4096 &&
		    ((d->command.size && buffer_puts(&d->command, " | ")) ||
		     utf8_append(&d->command, (const char *)p.data, p.size)))
			return error_no_memory(e);
	return 0;
}

/* Make the sheet of --table if no event has. */
static int dataset_make_only(struct dataset *d, struct error *e)
{
	struct dictionary *dict = d->rows.attributes.dictionary;
	struct nearest nearest;
	size_t table = 0;

	if (d->nsheets)
		return 0;
	nearest_begin(&nearest, d->only, strlen(d->only));
	for (uint32_t i = 1; i < dict->types.count; i++)
		if (dictionary_type(dict, i)->kind == KIND_INSTANT &&
		    dataset_table_of(d, dictionary_type(dict, i)) == SIZE_MAX)
			return error_no_memory(e);
	for (; table < d->ntables && !d->tables[table].wanted; table++)
		nearest_offer(&nearest, d->tables[table].name.text, d->tables[table].name.size);
	if (table == d->ntables)
		return error_set(e, NULL, NO_OFFSET,
				 "--table: there is no table '%.64s'%s; there are call, sample, "
				 "counter, gap, state, thread, trace, and event.TYPE for each type "
				 "of events",
				 d->only, nearest_hint(&nearest));
	return dataset_new_sheet(d, &d->tables[table], false, NO_DAY, e) ? 0 : -1;
}

static int dataset_end_tables(struct dataset *d, struct error *e)
{
	if (d->states && dataset_end_states(d->states, e))
		return -1;
	/* threads add the lanes of each thread up */
	if ((d->tables[TABLE_TRACE].wanted && dataset_put_traces(d, e)) ||
	    (d->tables[TABLE_THREAD].wanted && dataset_put_threads(d, e)))
		return -1;
	return d->only ? dataset_make_only(d, e) : 0;
}

static void dataset_report(const struct dataset *d)
{
	remark_count(d->clamped,
		     "{number is|numbers are} 2^63 or more: written as 9223372036854775807, "
		     "the largest number of the format");
	remark_count(d->left_out,
		     "{value is|values are} left out: the field has numbers in the first type "
		     "with it");
	remark_count(d->timeless, "{row has|rows have} no time: the clock has no wall time");
}

int dataset_end(struct encoding *en, struct error *e)
{
	struct dataset *d = en->state;

	if (d->only || d->parts ? dataset_end_tables(d, e) : !dataset_rows_sheet(d, e))
		return -1;
	if (!(en->options->flags & ENCODE_QUIET))
		dataset_report(d);
	for (size_t i = 0; i < d->nsheets; i++)
		if ((d->sheets[i]->nrows && dataset_write_group(d, d->sheets[i], e)) ||
		    d->format->end(d->state, d->sheets[i], e))
			return -1;
	return d->parts ? dataset_finish(d, e) : 0;
}

void dataset_free(struct encoding *en)
{
	struct dataset *d = en->state;

	if (!d)
		return;
	for (size_t i = 0; i < d->nsheets; i++) {
		sheet_clear(d->sheets[i], true);
		d->format->free(d->sheets[i]);
		free(d->sheets[i]->columns);
		free(d->sheets[i]);
	}
	free(d->sheets);
	for (size_t i = 0; i < d->ntables; i++) {
		free(d->tables[i].sheets);
		free(d->tables[i].fields);
	}
	free(d->tables);
	free(d->table_of);
	free(d->lanes);
	if (d->states) {
		d->rows.states = NULL;
		states_free(&d->states->states);
		free(d->states->tasks);
	}
	free(d->states);
	if (d->parts)
		tree_output_close(&d->tree);
	buffer_free(&d->command);
	buffer_free(&d->host);
	buffer_free(&d->scratch);
	buffer_free(&d->compound);
}

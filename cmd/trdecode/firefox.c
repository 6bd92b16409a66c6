/*
 * firefox.c - the decoder of profiles of the Firefox Profiler: samples, markers and counters
 *
 *     {"threads": [{"name": "work", "pid": 7, "tid": 8,
 *        "samples": {"stack": [1], "time": [2.5]},
 *        "stackTable": {"prefix": [null, 0], "frame": [0, 1]}, "frameTable": {"func": [0, 1]},
 *        "funcTable": {"name": [0, 1]}, "stringArray": ["main", "f"],
 *        "markers": {"name": [1], "startTime": [1], "endTime": [4], "phase": [1], "data":
 * [null]}}]}
 *
 * is a sample at 2.5 ms with the stack main, f, which weighs 1, and a call of f from 1 to 4 ms,
 * which is on no stack.
 *
 * A table is an array for each column, as above, or an array for each row (gecko):
 *
 *     "samples": {"schema": {"stack": 0, "time": 1}, "data": [[1, 2.5]]}
 *
 * Later versions have the tables of all threads in "shared". Members are in any order, so all
 * tables are kept in memory, as columns of 8 bytes for each cell, until the file was read. Markers
 * and samples are sorted by time.
 *
 * Source: src/types/profile.ts, src/types/gecko-profile.ts and docs-developer/CHANGELOG-formats.md
 * of github.com/firefox-devtools/profiler.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "cmd/trdecode/sorter.h"
#include "common/stream/value.h"
#include "common/value/json.h"

enum { FIREFOX_VERSION = 69 }; /* the last known one of the processed format */

#define FIREFOX_NULL INT64_MIN /* a cell that is null, or is not there */

/* How a cell is kept: an index or address, a number times a power of ten, or a text. */
enum firefox_cell {
	CELL_INDEX,
	CELL_MS,     /* ms, as ns; weights too */
	CELL_MICRO,  /* times 1000 */
	CELL_OBJECT, /* offset of its JSON in the texts */
};

/* The columns, with their tables in the file. */
#define FIREFOX_COLUMNS(C)                                                                         \
	C(SAMPLE_STACK, "samples", "stack", CELL_INDEX)                                            \
	C(SAMPLE_TIME, "samples", "time", CELL_MS)                                                 \
	C(SAMPLE_DELTA, "samples", "timeDeltas", CELL_MS)                                          \
	C(SAMPLE_WEIGHT, "samples", "weight", CELL_MS)                                             \
	C(SAMPLE_CPU, "samples", "threadCPUDelta", CELL_MICRO)                                     \
	C(NATIVE_STACK, "nativeAllocations", "stack", CELL_INDEX)                                  \
	C(NATIVE_TIME, "nativeAllocations", "time", CELL_MS)                                       \
	C(NATIVE_DELTA, "nativeAllocations", "timeDeltas", CELL_MS)                                \
	C(NATIVE_WEIGHT, "nativeAllocations", "weight", CELL_MS)                                   \
	C(NATIVE_CPU, "nativeAllocations", "threadCPUDelta", CELL_MICRO)                           \
	C(JS_STACK, "jsAllocations", "stack", CELL_INDEX)                                          \
	C(JS_TIME, "jsAllocations", "time", CELL_MS)                                               \
	C(JS_DELTA, "jsAllocations", "timeDeltas", CELL_MS)                                        \
	C(JS_WEIGHT, "jsAllocations", "weight", CELL_MS)                                           \
	C(JS_CPU, "jsAllocations", "threadCPUDelta", CELL_MICRO)                                   \
	C(MARKER_NAME, "markers", "name", CELL_INDEX)                                              \
	C(MARKER_TIME, "markers", "time", CELL_MS)                                                 \
	C(MARKER_START, "markers", "startTime", CELL_MS)                                           \
	C(MARKER_END, "markers", "endTime", CELL_MS)                                               \
	C(MARKER_PHASE, "markers", "phase", CELL_INDEX)                                            \
	C(MARKER_CATEGORY, "markers", "category", CELL_INDEX)                                      \
	C(MARKER_DATA, "markers", "data", CELL_OBJECT)                                             \
	C(STACK_FRAME, "stackTable", "frame", CELL_INDEX)                                          \
	C(STACK_PREFIX, "stackTable", "prefix", CELL_INDEX)                                        \
	C(STACK_OFFSET, "stackTable", "prefixOffset", CELL_INDEX)                                  \
	C(FRAME_ADDRESS, "frameTable", "address", CELL_INDEX)                                      \
	C(FRAME_FUNC, "frameTable", "func", CELL_INDEX)                                            \
	C(FRAME_CATEGORY, "frameTable", "category", CELL_INDEX)                                    \
	C(FRAME_LINE, "frameTable", "line", CELL_INDEX)                                            \
	C(FRAME_LOCATION, "frameTable", "location", CELL_INDEX)                                    \
	C(FUNC_NAME, "funcTable", "name", CELL_INDEX)                                              \
	C(FUNC_RESOURCE, "funcTable", "resource", CELL_INDEX)                                      \
	C(FUNC_FILE, "funcTable", "fileName", CELL_INDEX)                                          \
	C(FUNC_SOURCE, "funcTable", "source", CELL_INDEX)                                          \
	C(FUNC_LINE, "funcTable", "lineNumber", CELL_INDEX)                                        \
	C(RESOURCE_LIB, "resourceTable", "lib", CELL_INDEX)                                        \
	C(RESOURCE_NAME, "resourceTable", "name", CELL_INDEX)                                      \
	C(SOURCE_FILE, "sources", "filename", CELL_INDEX)                                          \
	C(COUNTER_TIME, "counter", "time", CELL_MS)                                                \
	C(COUNTER_DELTA, "counter", "timeDeltas", CELL_MS)                                         \
	C(COUNTER_COUNT, "counter", "count", CELL_MS)                                              \
	C(COUNTER_NUMBER, "counter", "number", CELL_MS)

#define COLUMN_ID(id, table, name, cell) id,
enum firefox_column_id { FIREFOX_COLUMNS(COLUMN_ID) FIREFOX_NCOLUMNS };
#undef COLUMN_ID

static const struct {
	const char *table, *name;
	enum firefox_cell cell;
} firefox_columns[] = {
#define COLUMN_ROW(id, table, name, cell) {table, name, cell},
	FIREFOX_COLUMNS(COLUMN_ROW)
#undef COLUMN_ROW
};

/* The tables of samples of a thread: columns of one begin at SAMPLE_STACK + n * SAMPLE_COLUMNS. */
enum { SAMPLE_COLUMNS = NATIVE_STACK - SAMPLE_STACK, SAMPLE_TABLES = 3 };

static const char *const firefox_sample_types[SAMPLE_TABLES] = {"samples", "native_allocations",
								"js_allocations"};

enum firefox_weight { WEIGHT_SAMPLES, WEIGHT_MS, WEIGHT_BYTES };

/* The tables of a thread, of a counter, or of all threads. */
struct firefox_tables {
	struct buffer columns[FIREFOX_NCOLUMNS]; /* i64 each */
	struct buffer strings;			 /* u32 each: of the writer */
	struct buffer stacks;			 /* u32 each, by stack: of the writer; 0 not yet */
	enum firefox_weight weights[SAMPLE_TABLES];
};

struct firefox_lib {
	uint32_t path, build_id; /* strings of the writer */
	uint64_t start, end, offset;
	uint32_t space; /* with its addresses from 0; 0: not declared yet */
};

/* A process of a gecko profile, or all that a processed one has. */
struct firefox_process {
	size_t categories, ncategories, libs, nlibs; /* in the decoder's arrays */
	int64_t start;				     /* ns, wall time; 0 unknown */
	uint32_t space;				     /* with its absolute addresses; 0 not yet */
	bool cpu_ns, cpu_us;			     /* unit of threadCPUDelta */
};

struct firefox_thread_in {
	struct firefox_tables tables;
	uint32_t name, process_name;
	int32_t pid, tid;   /* -1: unknown */
	size_t process;	    /* index of its process */
	size_t libs, nlibs; /* its own; 0: those of the process */
	uint32_t lane;
	uint32_t types[SAMPLE_TABLES];
};

struct firefox_counter {
	struct firefox_tables tables;
	uint32_t name, category;
	int32_t pid;
	int64_t thread; /* index; -1: unknown */
	size_t process, first_thread;
	double total;
	uint32_t lane, type;
};

enum firefox_kind { FIREFOX_SAMPLE, FIREFOX_INSTANT, FIREFOX_ENTER, FIREFOX_LEAVE, FIREFOX_COUNT };

/* A sample, marker or count, as sorted; named values of a marker follow (rows.h). */
struct firefox_record {
	int64_t weight, cpu; /* of a count: its value, its number */
	uint32_t kind, what; /* enum firefox_kind; of a sample: number of its table */
	uint32_t of;	     /* index of its thread, or counter */
	uint32_t stack;	     /* index + 1 */
	uint32_t name, category;
	uint32_t call; /* number of the call */
	uint32_t values;
};

enum firefox_fault_kind {
	FAULT_INDEX,
	FAULT_RANGE,
	FAULT_UNTIMED,
	FAULT_WEIGHT,
	FAULT_CPU,
	FAULT_BACKWARDS,
	FIREFOX_FAULTS
};

struct firefox_decoder {
	struct input *input;
	struct writer *w;
	struct frame_locations locations;
	struct firefox_tables shared;
	struct firefox_thread_in *threads;
	size_t nthreads, threads_capacity;
	struct firefox_counter *counters;
	size_t ncounters, counters_capacity;
	struct firefox_process *processes;
	size_t nprocesses, processes_capacity;
	struct firefox_lib *libs;
	size_t nlibs, libs_capacity;
	uint32_t *categories; /* strings of the writer */
	size_t ncategories, categories_capacity;
	struct buffer texts;  /* JSON of the data of markers, each with a NUL; spills */
	struct intern unique; /* "type\0key" of fields of markers that are indexes of strings */
	struct buffer key, path, values, record, details;
	struct argument_table arguments;
	struct id_cache types, processes_named;
	struct id_cache gecko; /* locations, by the text of a frame */
	struct key_map open;   /* by thread and name: number of the latest open call */
	struct buffer around;  /* u32 each, by call: number of the open call around it; 0 none */
	struct sorter sorter;
	uint64_t records, samples, markers;
	uint32_t calls;
	int64_t earliest; /* ns: the lowest time, at most 0 */
	uint32_t source, clock;
	uint64_t inexact;
	bool has_threads;
	bool millionths[SAMPLE_TABLES];	    /* the weights have fractions */
	struct firefox_tables cause;	    /* of a marker of a gecko profile: its sample */
	int64_t version;		    /* of the processed format; 0: gecko */
	const struct firefox_thread_in *of; /* whose tables are read; NULL: none, or all threads' */
	struct firefox_fault {
		uint64_t count, offset; /* offset: of the first, or NO_OFFSET */
		uint32_t thread;	/* name of its thread: string of the writer */
		const char *table;
	} faults[FIREFOX_FAULTS];
	struct {
		uint64_t unopened, many;
	} counts;
};

enum { FIREFOX_MOST = 1 << 15 }; /* threads, and counters: each takes 2 KB */

/* --- faults --- */

/* Count a fault of a table of the thread f->of. */
static void firefox_fault(struct firefox_decoder *f, enum firefox_fault_kind kind,
			  const char *table, uint64_t offset)
{
	struct firefox_fault *fault = &f->faults[kind];

	if (!fault->count++) {
		fault->table = table;
		fault->offset = offset;
		fault->thread = f->of ? f->of->name : 0;
	}
}

/* --- cells and tables --- */

static int64_t firefox_cell_at(const struct buffer *column, uint64_t i)
{
	return i < column->size / 8 ? (int64_t)get_u64(column->data + 8 * i) : FIREFOX_NULL;
}

/* Get the text of a cell that may be an address, "0x1f". */
static bool firefox_hex(const char *text, size_t n, int64_t *address)
{
	char *end;

	if (n < 3 || text[0] != '0' || text[1] != 'x' || !isxdigit((unsigned char)text[2]))
		return false;
	*address = (int64_t)strtoull(text, &end, 16);
	return end == text + n;
}

/* Append the cell that a token began. Here and below: 0, or -1: BAD, or out of memory. */
static int firefox_put_cell(struct firefox_decoder *f, struct json_reader *r, enum json_token token,
			    struct buffer *column, enum firefox_cell cell)
{
	static const int digits[] = {0, 6, 3, 0};
	int64_t n = FIREFOX_NULL;
	bool inexact = false;

	if (cell == CELL_OBJECT && token == JSON_OBJECT) {
		n = (int64_t)f->texts.size;
		if (json_copy(r, token, &f->texts, SIZE_MAX) || buffer_u8(&f->texts, 0))
			return -1;
	} else if (cell == CELL_OBJECT) {
		if (!json_skip(r, token))
			return -1;
	} else if (token == JSON_NUMBER) {
		if (!json_decimal((char *)r->text.data, digits[cell], &n, &inexact)) {
			firefox_fault(f, FAULT_RANGE, NULL, json_offset(r));
			n = FIREFOX_NULL;
		}
		f->inexact += inexact && cell == CELL_MS;
	} else if (token == JSON_STRING) {
		if (!firefox_hex((char *)r->text.data, r->text.size, &n))
			firefox_fault(f, FAULT_WEIGHT, NULL, json_offset(r));
	} else {
		if (token != JSON_NULL)
			firefox_fault(f, FAULT_WEIGHT, NULL, json_offset(r));
		if (!json_skip(r, token))
			return -1;
	}
	return buffer_u64(column, (uint64_t)n);
}

static int firefox_read_column(struct firefox_decoder *f, struct json_reader *r,
			       struct buffer *column, enum firefox_cell cell)
{
	enum json_token token;

	column->size = 0;
	while ((token = json_next(r)) != JSON_ARRAY_END)
		if (token == JSON_BAD || firefox_put_cell(f, r, token, column, cell))
			return -1;
	return 0;
}

/* Find the column of the current key; FIREFOX_NCOLUMNS: none. */
static unsigned firefox_column_of(const struct json_reader *r, const char *table)
{
	unsigned i = 0;

	while (i < FIREFOX_NCOLUMNS &&
	       !(json_is(r, firefox_columns[i].name) && !strcmp(firefox_columns[i].table, table)))
		i++;
	return i;
}

enum { SCHEMA_MOST = 32 };

/* The places of the columns in a row. */
struct firefox_schema {
	uint8_t column[SCHEMA_MOST]; /* + 1; 0: none */
	bool known;
};

static int firefox_read_schema(struct json_reader *r, const char *table, struct firefox_schema *to)
{
	enum json_token token;

	to->known = true;
	while ((token = json_next(r)) == JSON_KEY) {
		unsigned column = firefox_column_of(r, table);
		int64_t n;

		token = json_next(r);
		if (token != JSON_NUMBER) {
			if (!json_skip(r, token))
				return -1;
		} else if (json_decimal((char *)r->text.data, 0, &n, NULL) && n >= 0 &&
			   n < SCHEMA_MOST && column < FIREFOX_NCOLUMNS) {
			to->column[n] = (uint8_t)(column + 1);
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read the rows of a table, after the '[' of "data". */
static int firefox_read_rows(struct firefox_decoder *f, struct json_reader *r,
			     struct firefox_tables *t, const struct firefox_schema *schema)
{
	enum json_token token;

	for (uint64_t rows = 1; (token = json_next(r)) != JSON_ARRAY_END; rows++) {
		if (token != JSON_ARRAY) {
			if (token == JSON_BAD || !json_skip(r, token))
				return -1;
		} else {
			for (unsigned i = 0; (token = json_next(r)) != JSON_ARRAY_END; i++) {
				unsigned c = i < SCHEMA_MOST ? schema->column[i] : 0;

				if (token == JSON_BAD ||
				    (c ? firefox_put_cell(f, r, token, &t->columns[c - 1],
							  firefox_columns[c - 1].cell)
				       : !json_skip(r, token)))
					return -1;
			}
		}
		/* a row may end early */
		for (unsigned i = 0; i < SCHEMA_MOST; i++)
			if (schema->column[i] &&
			    t->columns[schema->column[i] - 1].size / 8 < rows &&
			    buffer_u64(&t->columns[schema->column[i] - 1], (uint64_t)FIREFOX_NULL))
				return -1;
	}
	return 0;
}

static void firefox_read_weight(struct json_reader *r, struct firefox_tables *t, const char *table)
{
	for (int i = 0; i < SAMPLE_TABLES; i++)
		if (!strcmp(firefox_columns[SAMPLE_STACK + i * SAMPLE_COLUMNS].table, table))
			t->weights[i] = json_is(r, "tracing-ms") ? WEIGHT_MS
					: json_is(r, "bytes")	 ? WEIGHT_BYTES
								 : WEIGHT_SAMPLES;
}

/* Read a table, after its '{'. */
static int firefox_read_table(struct firefox_decoder *f, struct json_reader *r,
			      struct firefox_tables *t, const char *table)
{
	struct firefox_schema schema = {0};
	struct json_reader later = {0};
	struct buffer data = {0}; /* read before the schema, or a column */
	enum json_token token;
	int failed = 0;

	while (!failed && (token = json_next(r)) == JSON_KEY) {
		unsigned column = firefox_column_of(r, table);
		bool is_schema = json_is(r, "schema"), is_data = json_is(r, "data");
		bool weight = json_is(r, "weightType");

		token = json_next(r);
		if (is_schema && token == JSON_OBJECT)
			failed = firefox_read_schema(r, table, &schema);
		else if (is_data && token == JSON_ARRAY)
			failed = schema.known ? firefox_read_rows(f, r, t, &schema)
					      : json_copy(r, token, &data, SIZE_MAX);
		else if (column < FIREFOX_NCOLUMNS && token == JSON_ARRAY)
			failed = firefox_read_column(f, r, &t->columns[column],
						     firefox_columns[column].cell);
		else if (weight && token == JSON_STRING)
			firefox_read_weight(r, t, table);
		else
			failed = !json_skip(r, token);
	}
	if (!failed && data.size) {
		json_open_text(&later, (const char *)data.data, data.size);
		failed = json_next(&later) != JSON_ARRAY ||
			 (schema.known ? firefox_read_rows(f, &later, t, &schema)
			  : !strcmp(table, "markers")
				  ? firefox_read_column(f, &later, &t->columns[MARKER_DATA],
							CELL_OBJECT)
				  : 0);
		json_close(&later);
	}
	buffer_free(&data);
	return failed || token != JSON_OBJECT_END ? -1 : 0;
}

/* Read an array of strings, after its '['. */
static int firefox_read_strings(struct firefox_decoder *f, struct json_reader *r, struct buffer *to)
{
	enum json_token token;

	while ((token = json_next(r)) != JSON_ARRAY_END) {
		uint32_t string = 0;

		if (token == JSON_STRING)
			string = writer_string(f->w, r->text.data, r->text.size);
		else if (token == JSON_BAD || !json_skip(r, token))
			return -1;
		if (buffer_u32(to, string))
			return -1;
	}
	return 0;
}

/* Read a member that is a table or the strings, whose key r has read. 1: it is neither, and r is
 * still at the key. */
static int firefox_read_tables(struct firefox_decoder *f, struct json_reader *r,
			       struct firefox_tables *t)
{
	enum json_token token;
	const char *table = NULL;

	if (json_is(r, "stringArray") || json_is(r, "stringTable")) {
		token = json_next(r);
		return token == JSON_ARRAY   ? firefox_read_strings(f, r, &t->strings)
		       : json_skip(r, token) ? 0
					     : -1;
	}
	for (unsigned i = 0; i < FIREFOX_NCOLUMNS && !table; i++)
		if (json_is(r, firefox_columns[i].table))
			table = firefox_columns[i].table;
	if (!table)
		return 1;
	token = json_next(r);
	return token == JSON_OBJECT  ? firefox_read_table(f, r, t, table)
	       : json_skip(r, token) ? 0
				     : -1;
}

/* --- threads, libraries, counters --- */

/* Read the number that a string or number of JSON begins with; -1: none. */
static int32_t firefox_id(const struct json_reader *r, enum json_token token)
{
	const char *text = (const char *)r->text.data;
	unsigned long n;

	if ((token != JSON_STRING && token != JSON_NUMBER) || !isdigit((unsigned char)*text))
		return -1;
	n = strtoul(text, NULL, 10);
	return n <= INT32_MAX ? (int32_t)n : -1;
}

static uint32_t firefox_text(struct firefox_decoder *f, const struct json_reader *r)
{
	return writer_string(f->w, r->text.data, r->text.size);
}

/* Take a member of a library, whose key r has read. */
static int firefox_lib_member(struct firefox_decoder *f, struct json_reader *r,
			      struct firefox_lib *lib)
{
	bool path = json_is(r, "path"), name = json_is(r, "name"), code = json_is(r, "codeId");
	bool start = json_is(r, "start"), end = json_is(r, "end"), offset = json_is(r, "offset");
	enum json_token token = json_next(r);
	int64_t n;

	if (token == JSON_STRING && r->text.size) {
		for (size_t i = 0; code && i < r->text.size; i++)
			r->text.data[i] = (uint8_t)tolower(r->text.data[i]);
		if (code)
			lib->build_id = firefox_text(f, r);
		else if (path || (name && !lib->path))
			lib->path = firefox_text(f, r);
	} else if ((start || end || offset) && token == JSON_NUMBER) {
		if (json_decimal((char *)r->text.data, 0, &n, NULL) && n >= 0)
			*(start ? &lib->start : end ? &lib->end : &lib->offset) = (uint64_t)n;
	} else if (!json_skip(r, token)) {
		return -1;
	}
	return 0;
}

/* Read "libs", after its '['. */
static int firefox_read_libs(struct firefox_decoder *f, struct json_reader *r, size_t *first,
			     size_t *count)
{
	enum json_token token;

	*first = f->nlibs;
	while ((token = json_next(r)) != JSON_ARRAY_END) {
		struct firefox_lib lib = {0};

		if (token != JSON_OBJECT) {
			if (token == JSON_BAD || !json_skip(r, token))
				return -1;
			continue;
		}
		while ((token = json_next(r)) == JSON_KEY)
			if (firefox_lib_member(f, r, &lib))
				return -1;
		if (token != JSON_OBJECT_END || ARRAY_GROW(f->libs, f->libs_capacity, f->nlibs))
			return -1;
		f->libs[f->nlibs++] = lib;
		*count = f->nlibs - *first;
	}
	return 0;
}

/* Take a member of a thread that is no table, whose key r has read. */
static int firefox_thread_member(struct firefox_decoder *f, struct json_reader *r,
				 struct firefox_thread_in *t)
{
	bool name = json_is(r, "name"), process = json_is(r, "processName");
	bool pid = json_is(r, "pid"), tid = json_is(r, "tid"), libs = json_is(r, "libs");
	enum json_token token = json_next(r);

	if ((name || process) && token == JSON_STRING)
		*(name ? &t->name : &t->process_name) = firefox_text(f, r);
	else if ((pid || tid) && (token == JSON_NUMBER || token == JSON_STRING))
		*(pid ? &t->pid : &t->tid) = firefox_id(r, token);
	else if (libs && token == JSON_ARRAY)
		return firefox_read_libs(f, r, &t->libs, &t->nlibs);
	else if (!json_skip(r, token))
		return -1;
	return 0;
}

/* Read a thread, after its '{'. */
static int firefox_read_thread(struct firefox_decoder *f, struct json_reader *r, size_t process)
{
	struct firefox_thread_in *t;
	enum json_token token;
	int status = 0;

	if (f->nthreads == FIREFOX_MOST) {
		f->counts.many++;
		return json_skip(r, JSON_OBJECT) ? 0 : -1;
	}
	if (ARRAY_GROW(f->threads, f->threads_capacity, f->nthreads))
		return -1;
	t = &f->threads[f->nthreads++];
	*t = (struct firefox_thread_in){.pid = -1, .tid = -1, .process = process};
	while (status >= 0 && (token = json_next(r)) == JSON_KEY) {
		status = firefox_read_tables(f, r, &t->tables);
		if (status > 0)
			status = firefox_thread_member(f, r, t);
	}
	return status < 0 || token != JSON_OBJECT_END ? -1 : 0;
}

/* Read "samples" of a counter, or a group of them, whose value a token began. */
static int firefox_read_counts(struct firefox_decoder *f, struct json_reader *r,
			       enum json_token token, struct firefox_counter *c)
{
	int depth = r->depth - 1;

	if (token != JSON_OBJECT && token != JSON_ARRAY)
		return json_skip(r, token) ? 0 : -1;
	/* the table itself, or an array of groups that have one */
	if (token == JSON_OBJECT)
		return firefox_read_table(f, r, &c->tables, "counter");
	while (r->depth > depth) {
		bool samples;

		token = json_next(r);
		samples = token == JSON_KEY && json_is(r, "samples");
		if (token == JSON_BAD)
			return -1;
		if (token == JSON_KEY) {
			token = json_next(r);
			if (samples && token == JSON_OBJECT
				    ? firefox_read_table(f, r, &c->tables, "counter")
				    : !json_skip(r, token))
				return -1;
		}
	}
	return 0;
}

/* Read a counter, after its '{'. */
static int firefox_read_counter(struct firefox_decoder *f, struct json_reader *r, size_t process,
				size_t first_thread)
{
	struct firefox_counter *c;
	enum json_token token;

	if (f->ncounters == FIREFOX_MOST) {
		f->counts.many++;
		return json_skip(r, JSON_OBJECT) ? 0 : -1;
	}
	if (ARRAY_GROW(f->counters, f->counters_capacity, f->ncounters))
		return -1;
	c = &f->counters[f->ncounters++];
	*c = (struct firefox_counter){
		.pid = -1, .thread = -1, .process = process, .first_thread = first_thread};
	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "name"), category = json_is(r, "category");
		bool pid = json_is(r, "pid"), thread = json_is(r, "mainThreadIndex");
		bool samples = json_is(r, "samples") || json_is(r, "sampleGroups") ||
			       json_is(r, "sample_groups");

		token = json_next(r);
		if ((name || category) && token == JSON_STRING)
			*(name ? &c->name : &c->category) = firefox_text(f, r);
		else if (pid)
			c->pid = firefox_id(r, token);
		else if (thread && token == JSON_NUMBER)
			c->thread = firefox_id(r, token);
		else if (samples ? firefox_read_counts(f, r, token, c) : !json_skip(r, token))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* --- meta --- */

/* Read "categories", after its '['. */
static int firefox_read_categories(struct firefox_decoder *f, struct json_reader *r,
				   struct firefox_process *p)
{
	enum json_token token;

	p->categories = f->ncategories;
	p->ncategories = 0;
	while ((token = json_next(r)) != JSON_ARRAY_END) {
		uint32_t category = 0;

		if (token != JSON_OBJECT) {
			if (token == JSON_BAD || !json_skip(r, token))
				return -1;
			continue;
		}
		while ((token = json_next(r)) == JSON_KEY) {
			bool name = json_is(r, "name");

			token = json_next(r);
			if (name && token == JSON_STRING)
				category = firefox_text(f, r);
			else if (!json_skip(r, token))
				return -1;
		}
		if (token != JSON_OBJECT_END ||
		    ARRAY_GROW(f->categories, f->categories_capacity, f->ncategories))
			return -1;
		f->categories[f->ncategories++] = category;
		p->ncategories++;
	}
	return 0;
}

/* Read the fields of a schema of markers, after the '[': keys of those that are indexes of strings
 * are appended to `keys`, each with a NUL. */
static int firefox_read_fields(struct firefox_decoder *f, struct json_reader *r,
			       struct buffer *keys)
{
	enum json_token token;

	while ((token = json_next(r)) != JSON_ARRAY_END) {
		bool unique = false;

		f->key.size = 0;
		if (token != JSON_OBJECT) {
			if (token == JSON_BAD || !json_skip(r, token))
				return -1;
			continue;
		}
		while ((token = json_next(r)) == JSON_KEY) {
			bool key = json_is(r, "key"), format = json_is(r, "format");

			token = json_next(r);
			if (key && token == JSON_STRING) {
				f->key.size = 0;
				if (buffer_append(&f->key, r->text.data, r->text.size + 1))
					return -1;
			} else if (format && token == JSON_STRING) {
				unique = json_is(r, "unique-string") || json_is(r, "flow-id") ||
					 json_is(r, "terminating-flow-id");
			} else if (!json_skip(r, token)) {
				return -1;
			}
		}
		if (token != JSON_OBJECT_END ||
		    (unique && f->key.size && buffer_append(keys, f->key.data, f->key.size)))
			return -1;
	}
	return 0;
}

/* Set f->key to a type of markers, a NUL, and the name of a field. */
static int firefox_unique_key(struct firefox_decoder *f, const char *type, size_t size,
			      const char *key, size_t n)
{
	f->key.size = 0;
	return buffer_append(&f->key, type, size) || buffer_u8(&f->key, 0) ||
			       buffer_append(&f->key, key, n)
		       ? -1
		       : 0;
}

/* Read a schema of markers, after its '{'. */
static int firefox_read_marker_schema(struct firefox_decoder *f, struct json_reader *r,
				      struct buffer *name, struct buffer *keys)
{
	enum json_token token;

	name->size = keys->size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool is_name = json_is(r, "name");
		bool fields = json_is(r, "fields") || json_is(r, "data");

		token = json_next(r);
		if (is_name && token == JSON_STRING) {
			if (buffer_append(name, r->text.data, r->text.size))
				return -1;
		} else if (fields && token == JSON_ARRAY ? firefox_read_fields(f, r, keys)
							 : !json_skip(r, token)) {
			return -1;
		}
	}
	for (size_t at = 0, n; at < keys->size; at += n + 1) {
		n = strlen((char *)keys->data + at);
		if (firefox_unique_key(f, (char *)name->data, name->size, (char *)keys->data + at,
				       n) ||
		    intern(&f->unique, f->key.data, f->key.size) == INTERN_NONE)
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read "markerSchema", after its '['. */
static int firefox_read_marker_schemas(struct firefox_decoder *f, struct json_reader *r)
{
	struct buffer name = {0}, keys = {0};
	enum json_token token;
	int failed = 0;

	while (!failed && (token = json_next(r)) != JSON_ARRAY_END)
		failed = token == JSON_OBJECT ? firefox_read_marker_schema(f, r, &name, &keys)
					      : token == JSON_BAD || !json_skip(r, token);
	buffer_free(&name);
	buffer_free(&keys);
	return failed ? -1 : 0;
}

/* Read "sampleUnits", after its '{'. */
static int firefox_read_units(struct json_reader *r, struct firefox_process *p)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool cpu = json_is(r, "threadCPUDelta");

		token = json_next(r);
		if (cpu && token == JSON_STRING) {
			p->cpu_ns = json_is(r, "ns");
			p->cpu_us = json_is(r, "\302\265s") || json_is(r, "us") ||
				    json_is(r, "\316\274s");
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Read "meta", after its '{'. */
static int firefox_read_meta(struct firefox_decoder *f, struct json_reader *r, size_t process)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		struct firefox_process *p = &f->processes[process];
		bool start = json_is(r, "startTime");
		bool categories = json_is(r, "categories"), units = json_is(r, "sampleUnits");
		bool schemas = json_is(r, "markerSchema");
		bool version = json_is(r, "preprocessedProfileVersion");

		token = json_next(r);
		if (start && token == JSON_NUMBER) {
			if (!json_decimal((char *)r->text.data, 6, &p->start, NULL))
				p->start = 0;
		} else if (version && token == JSON_NUMBER) {
			if (!json_decimal((char *)r->text.data, 0, &f->version, NULL))
				f->version = INT64_MAX;
		} else if (categories && token == JSON_ARRAY) {
			if (firefox_read_categories(f, r, p))
				return -1;
		} else if (units && token == JSON_OBJECT) {
			if (firefox_read_units(r, p))
				return -1;
		} else if (schemas && token == JSON_ARRAY) {
			if (firefox_read_marker_schemas(f, r))
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* --- the file --- */

static int firefox_read_process(struct firefox_decoder *f, struct json_reader *r);

/* Read "shared", after its '{'. */
static int firefox_read_shared(struct firefox_decoder *f, struct json_reader *r)
{
	enum json_token token;
	int status = 0;

	while (status >= 0 && (token = json_next(r)) == JSON_KEY) {
		status = firefox_read_tables(f, r, &f->shared);
		if (status > 0)
			status = json_skip(r, json_next(r)) ? 0 : -1;
	}
	return status < 0 || token != JSON_OBJECT_END ? -1 : 0;
}

/* Read an array of objects, after its '[': threads, counters, or processes. */
static int firefox_read_objects(struct firefox_decoder *f, struct json_reader *r, char what,
				size_t process, size_t first_thread)
{
	enum json_token token;
	int failed = 0;

	while (!failed && (token = json_next(r)) != JSON_ARRAY_END)
		if (token != JSON_OBJECT)
			failed = token == JSON_BAD || !json_skip(r, token);
		else if (what == 't')
			failed = firefox_read_thread(f, r, process);
		else if (what == 'c')
			failed = firefox_read_counter(f, r, process, first_thread);
		else
			failed = firefox_read_process(f, r);
	return failed ? -1 : 0;
}

enum { FIREFOX_PROCESS_DEPTH = 16 }; /* processes in processes, as JSON nests */

/* Read the members of the file, or of a process of a gecko profile, after its '{'. */
static int firefox_read_process(struct firefox_decoder *f, struct json_reader *r)
{
	size_t process = f->nprocesses, first = f->nthreads;
	enum json_token token;
	int status = 0;

	if (ARRAY_GROW(f->processes, f->processes_capacity, f->nprocesses))
		return -1;
	f->processes[f->nprocesses++] = (struct firefox_process){0};
	while (status >= 0 && (token = json_next(r)) == JSON_KEY) {
		bool meta = json_is(r, "meta"), shared = json_is(r, "shared");
		bool libs = json_is(r, "libs");
		char what = json_is(r, "threads")     ? 't'
			    : json_is(r, "counters")  ? 'c'
			    : json_is(r, "processes") ? 'p'
						      : 0;
		/* a recording of the developer tools has the profile among its members */
		bool inner = json_is(r, "profile");

		token = json_next(r);
		if (meta && token == JSON_OBJECT)
			status = firefox_read_meta(f, r, process);
		else if (shared && token == JSON_OBJECT)
			status = firefox_read_shared(f, r);
		else if (inner && token == JSON_OBJECT && r->depth < FIREFOX_PROCESS_DEPTH)
			status = firefox_read_process(f, r);
		else if (libs && token == JSON_ARRAY) {
			size_t at, count = 0;

			status = firefox_read_libs(f, r, &at, &count);
			f->processes[process].libs = at;
			f->processes[process].nlibs = count;
		} else if (what && token == JSON_ARRAY &&
			   (what != 'p' || r->depth < FIREFOX_PROCESS_DEPTH)) {
			f->has_threads |= what == 't';
			status = firefox_read_objects(f, r, what, process, first);
		} else
			status = json_skip(r, token) ? 0 : -1;
	}
	return status < 0 || token != JSON_OBJECT_END ? -1 : 0;
}

/* --- frames and stacks --- */

/* Get a column of a thread, which may be that of all threads. */
static const struct buffer *firefox_column(const struct firefox_decoder *f,
					   const struct firefox_tables *t,
					   enum firefox_column_id id)
{
	return t->columns[id].size ? &t->columns[id] : &f->shared.columns[id];
}

/* Get a cell of such a column; i may be null. An index beyond the column is counted. */
static int64_t firefox_cell(struct firefox_decoder *f, const struct firefox_tables *t,
			    enum firefox_column_id id, int64_t i)
{
	const struct buffer *column = firefox_column(f, t, id);

	if (i < 0)
		return FIREFOX_NULL;
	/* a column may be missing */
	if (column->size && (uint64_t)i >= column->size / 8)
		firefox_fault(f, FAULT_INDEX, firefox_columns[id].table, NO_OFFSET);
	return firefox_cell_at(column, (uint64_t)i);
}

/* Get the string of the writer with an index, which may be null; 0: none. */
static uint32_t firefox_string(struct firefox_decoder *f, const struct firefox_tables *t, int64_t i)
{
	const struct buffer *strings = t->strings.size ? &t->strings : &f->shared.strings;

	if (i < 0)
		return 0;
	if ((uint64_t)i >= strings->size / 4) {
		firefox_fault(f, FAULT_INDEX, "stringArray", NO_OFFSET);
		return 0;
	}
	return get_u32(strings->data + 4 * i);
}

/* Get the category with an index; 0: none. */
static uint32_t firefox_category(const struct firefox_decoder *f, size_t process, int64_t i)
{
	const struct firefox_process *p = &f->processes[process];

	return i >= 0 && (uint64_t)i < p->ncategories ? f->categories[p->categories + (size_t)i]
						      : 0;
}

/* Declare a library in a space. */
static int firefox_map(struct firefox_decoder *f, const struct firefox_lib *lib, uint32_t space,
		       bool absolute)
{
	/* addresses of the processed format count from the first byte of the library in memory */
	struct map_entry map = {.space = space,
				.end = (uint64_t)INT64_MAX,
				.path = lib->path,
				.build_id = lib->build_id};

	if (absolute) {
		if (lib->start >= lib->end)
			return 0;
		map.start = lib->start;
		map.end = lib->end;
		map.offset = lib->offset;
	}
	return writer_map(f->w, &map);
}

/* Get the location of an address in a library. 0: out of memory. */
static uint32_t firefox_address(struct firefox_decoder *f, struct firefox_lib *lib,
				uint64_t address)
{
	if (!lib->space) {
		lib->space = writer_space(
			f->w, &(struct space_entry){.source = f->source, .name = lib->path});
		if (!lib->space || firefox_map(f, lib, lib->space, false))
			return 0;
	}
	return writer_location(f->w,
			       &(struct location_entry){.space = lib->space, .address = address});
}

/* Get the location of an address of a process. 0: out of memory. */
static uint32_t firefox_absolute(struct firefox_decoder *f, const struct firefox_thread_in *th,
				 uint64_t address)
{
	struct firefox_process *p = &f->processes[th->process];

	if (!p->space) {
		p->space =
			writer_space(f->w, &(struct space_entry){.source = f->source,
								 .pid = th->pid > 0 ? th->pid : 0});
		for (size_t i = 0; p->space && i < p->nlibs; i++)
			if (firefox_map(f, &f->libs[p->libs + i], p->space, true))
				return 0;
	}
	return p->space ? writer_location(f->w, &(struct location_entry){.space = p->space,
									 .address = address})
			: 0;
}

/* Find " (" before the ')' that ends a text; NULL: none. */
static char *firefox_parenthesis(char *text, size_t n)
{
	char *found = NULL;

	if (!n || text[n - 1] != ')')
		return NULL;
	for (char *p = text; (p = strstr(p, " (")); p++)
		found = p;
	return found;
}

/* Take ":LINE" or ":LINE:COLUMN" off the end of a text. false: it has none. */
static bool firefox_take_line(char *text, uint32_t *line)
{
	bool found = false;

	for (int i = 0; i < 2; i++) {
		char *colon = strrchr(text, ':'), *end;
		unsigned long n;

		if (!colon || !isdigit((unsigned char)colon[1]))
			break;
		n = strtoul(colon + 1, &end, 10);
		if (*end)
			break;
		*line = n <= UINT32_MAX ? (uint32_t)n : 0;
		*colon = '\0';
		found = true;
	}
	return found;
}

/* Take the frame that a text of a gecko profile has: "NAME (in MODULE)", "NAME (FILE:LINE)",
 * "NAME". */
static void firefox_parse_frame(struct firefox_decoder *f, char *text, struct named_frame *frame)
{
	char *at = firefox_parenthesis(text, strlen(text));

	if (at && at > text) {
		char *inside = at + 2;

		inside[strlen(inside) - 1] = '\0';
		if (!strncmp(inside, "in ", 3)) {
			frame->module = writer_text(f->w, inside + 3);
			*at = '\0';
		} else if (firefox_take_line(inside, &frame->line)) {
			frame->file = writer_text(f->w, inside);
			*at = '\0';
			/* "NAME (in MODULE) (FILE:LINE)" */
			at = firefox_parenthesis(text, strlen(text));
			if (at && at > text && !strncmp(at, " (in ", 5)) {
				text[strlen(text) - 1] = '\0';
				frame->module = writer_text(f->w, at + 5);
				*at = '\0';
			}
		} else {
			inside[strlen(inside)] = ')';
		}
	}
	frame->name = writer_text(f->w, text);
}

/* Get the location of the text that a frame of a gecko profile has. 0: out of memory. */
static uint32_t firefox_gecko_frame(struct firefox_decoder *f, const struct firefox_thread_in *th,
				    uint32_t string, struct named_frame frame)
{
	uint32_t key[] = {string, frame.line, frame.kernel, (uint32_t)th->process};
	uint32_t *location = id_cache_number(&f->gecko, key, sizeof key);
	size_t n;
	const char *text = writer_string_of(f->w, string, &n);
	int64_t address;

	/* frames share texts: each is parsed once */
	if (!location || *location)
		return location ? *location : 0;
	f->key.size = 0;
	if (buffer_append(&f->key, text, n) || buffer_u8(&f->key, 0))
		return 0;
	if (firefox_hex((char *)f->key.data, n, &address))
		return *location = firefox_absolute(f, th, (uint64_t)address);
	firefox_parse_frame(f, (char *)f->key.data, &frame);
	return *location = frame_location(&f->locations, &frame);
}

/* Get the library of a function; NULL: none. */
static struct firefox_lib *firefox_lib_of(struct firefox_decoder *f,
					  const struct firefox_thread_in *th, int64_t resource)
{
	const struct firefox_process *p = &f->processes[th->process];
	/* resources after the last library may be left out */
	int64_t lib = resource < 0 ? FIREFOX_NULL
				   : firefox_cell_at(firefox_column(f, &th->tables, RESOURCE_LIB),
						     (uint64_t)resource);
	size_t first = th->nlibs ? th->libs : p->libs, count = th->nlibs ? th->nlibs : p->nlibs;

	return lib >= 0 && (uint64_t)lib < count ? &f->libs[first + (size_t)lib] : NULL;
}

static uint32_t firefox_line(int64_t line)
{
	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* Get the location of a frame. 0: out of memory. */
static uint32_t firefox_frame(struct firefox_decoder *f, const struct firefox_thread_in *th,
			      int64_t i)
{
	const struct firefox_tables *t = &th->tables;
	struct named_frame frame = {.line = firefox_line(firefox_cell(f, t, FRAME_LINE, i))};
	uint32_t category = firefox_category(f, th->process, firefox_cell(f, t, FRAME_CATEGORY, i));
	int64_t text = firefox_cell(f, t, FRAME_LOCATION, i), func, resource, address, hex;
	struct firefox_lib *lib;
	const char *name;
	char copy[2 + 16 + 1]; /* of an address */
	size_t n;

	frame.kernel = category && category == writer_text(f->w, "Kernel");
	if (text != FIREFOX_NULL)
		return firefox_gecko_frame(f, th, firefox_string(f, t, text), frame);
	func = firefox_cell(f, t, FRAME_FUNC, i);
	resource = firefox_cell(f, t, FUNC_RESOURCE, func);
	address = firefox_cell(f, t, FRAME_ADDRESS, i);
	lib = firefox_lib_of(f, th, resource);
	frame.name = firefox_string(f, t, firefox_cell(f, t, FUNC_NAME, func));
	name = writer_string_of(f->w, frame.name, &n);
	n = n < sizeof copy ? n : 0;
	memcpy(copy, name, n);
	copy[n] = '\0';
	if (lib && address >= 0 && (!frame.name || firefox_hex(copy, n, &hex)))
		return firefox_address(f, lib, (uint64_t)address);
	frame.module =
		lib ? lib->path : firefox_string(f, t, firefox_cell(f, t, RESOURCE_NAME, resource));
	text = firefox_cell(f, t, FUNC_SOURCE, func);
	frame.file = firefox_string(f, t,
				    text >= 0 ? firefox_cell(f, t, SOURCE_FILE, text)
					      : firefox_cell(f, t, FUNC_FILE, func));
	if (!frame.line)
		frame.line = firefox_line(firefox_cell(f, t, FUNC_LINE, func));
	return frame_location(&f->locations, &frame);
}

/* Get the stack of the caller of a stack, null: none. Versions from 66 on have the distance to it.
 */
static int64_t firefox_prefix(const struct firefox_tables *t, int64_t i)
{
	int64_t offset = firefox_cell_at(&t->columns[STACK_OFFSET], (uint64_t)i);

	if (!t->columns[STACK_OFFSET].size)
		return firefox_cell_at(&t->columns[STACK_PREFIX], (uint64_t)i);
	return offset > 0 && offset <= i ? i - offset : FIREFOX_NULL;
}

/* Get the writer's stack of a stack of the table, whose callers come before it; i may be null. */
static int firefox_stack_of(struct firefox_decoder *f, struct firefox_thread_in *th, int64_t i,
			    uint32_t *stack)
{
	struct firefox_tables *t = th->tables.columns[STACK_FRAME].size ? &th->tables : &f->shared;
	size_t n = t->columns[STACK_FRAME].size / 8;

	*stack = 0;
	f->of = th;
	if (i < 0)
		return 0;
	if (!t->stacks.size && n && buffer_zero(&t->stacks, 4 * n))
		return -1;
	f->path.size = 0;
	while (i >= 0 && (uint64_t)i < n && !get_u32(t->stacks.data + 4 * i)) {
		int64_t prefix = firefox_prefix(t, i);

		if (buffer_u64(&f->path, (uint64_t)i))
			return -1;
		if (prefix >= i)
			firefox_fault(f, FAULT_INDEX, "stackTable", NO_OFFSET);
		i = prefix < i ? prefix : FIREFOX_NULL;
	}
	if (i >= 0 && (uint64_t)i >= n)
		firefox_fault(f, FAULT_INDEX, "stackTable", NO_OFFSET);
	*stack = i >= 0 && (uint64_t)i < n ? get_u32(t->stacks.data + 4 * i) : 0;
	for (size_t at = f->path.size; at; at -= 8) {
		uint64_t number = get_u64(f->path.data + at - 8);
		uint32_t location =
			firefox_frame(f, th, firefox_cell_at(&t->columns[STACK_FRAME], number));

		*stack = location ? writer_stack(f->w, *stack, location) : 0;
		put_u32(t->stacks.data + 4 * number, *stack);
		if (!*stack)
			return -1;
	}
	return 0;
}

/* --- the records: samples, markers and counts in the order of time --- */

/* Get a time on the clock of the first process. false: there is none, or it is out of range. */
static bool firefox_time(struct firefox_decoder *f, size_t process, const char *table,
			 int64_t *time)
{
	const struct firefox_process *p = &f->processes[process];
	const int64_t most = (int64_t)(TIME_LIMIT / 4);
	int64_t shift =
		p->start > 0 && f->processes->start > 0 ? p->start - f->processes->start : 0;

	if (*time <= -most || *time >= most || shift <= -most || shift >= most) {
		firefox_fault(f, FAULT_UNTIMED, table, NO_OFFSET);
		return false;
	}
	*time += shift;
	if (*time < f->earliest)
		f->earliest = *time;
	return true;
}

/* Add a record, with the values in f->values. */
static int firefox_add(struct firefox_decoder *f, int64_t time, const struct firefox_record *r,
		       struct error *e)
{
	struct sorter_key key = {(uint64_t)time + (uint64_t)INT64_MIN, f->records++};
	struct firefox_record copy;

	memset(&copy, 0, sizeof copy);
	copy.weight = r->weight;
	copy.cpu = r->cpu;
	copy.kind = r->kind;
	copy.what = r->what;
	copy.of = r->of;
	copy.stack = r->stack;
	copy.name = r->name;
	copy.category = r->category;
	copy.call = r->call;
	copy.values = (uint32_t)f->values.size;
	f->record.size = 0;
	return buffer_append(&f->record, &copy, sizeof copy) ||
			       buffer_append(&f->record, f->values.data, f->values.size)
		       ? error_no_memory(e)
		       : sorter_add(&f->sorter, key, f->record.data, f->record.size, e);
}

/* Get the time in row i of a table, whose column of times is followed by that of their differences.
 */
static int64_t firefox_row_time(const struct firefox_tables *t, enum firefox_column_id times,
				size_t i, int64_t *sum)
{
	int64_t delta;

	if (t->columns[times].size)
		return firefox_cell_at(&t->columns[times], i);
	delta = firefox_cell_at(&t->columns[times + 1], i);
	if (delta == FIREFOX_NULL || __builtin_add_overflow(*sum, delta, sum))
		return FIREFOX_NULL;
	return *sum;
}

/* Test whether a column has a value: one of nulls is as good as none. */
static bool firefox_has_values(const struct buffer *column)
{
	for (size_t i = 0; i < column->size / 8; i++)
		if (firefox_cell_at(column, i) != FIREFOX_NULL)
			return true;
	return false;
}

/* Report the columns of the table of `first` that have fewer rows than others of it. */
static void firefox_check_rows(struct firefox_decoder *f, const struct firefox_tables *t,
			       unsigned first, uint32_t name)
{
	const char *table = firefox_columns[first].table;
	unsigned longest = first, end = first;
	size_t n;
	const char *text = writer_string_of(f->w, name, &n);

	for (; end < FIREFOX_NCOLUMNS && !strcmp(firefox_columns[end].table, table); end++)
		if (t->columns[end].size > t->columns[longest].size)
			longest = end;
	for (unsigned i = first; i < end; i++)
		if (t->columns[i].size && t->columns[i].size < t->columns[longest].size)
			input_damage(f->input, f->input->name, NO_OFFSET,
				     "'%.*s', table %s: the column %s has too few rows: %zu, "
				     "and %s has %zu",
				     (int)(n < 64 ? n : 64), text, table, firefox_columns[i].name,
				     t->columns[i].size / 8, firefox_columns[longest].name,
				     t->columns[longest].size / 8);
}

/* Set which tables have weights with fractions. */
static void firefox_find_fractions(struct firefox_decoder *f)
{
	for (size_t i = 0; i < f->nthreads; i++)
		for (unsigned table = 0; table < SAMPLE_TABLES; table++) {
			const struct firefox_tables *t = &f->threads[i].tables;
			const struct buffer *c =
				&t->columns[SAMPLE_WEIGHT + table * SAMPLE_COLUMNS];

			if (t->weights[table] == WEIGHT_MS)
				continue;
			for (size_t row = 0; row < c->size / 8 && !f->millionths[table]; row++) {
				int64_t weight = firefox_cell_at(c, row);

				f->millionths[table] = weight != FIREFOX_NULL && weight % 1000000;
			}
		}
}

/* Set the weight of the sample in row i of a table of the thread f->of; c: its columns. */
static void firefox_weigh(struct firefox_decoder *f, unsigned table, const struct buffer *c,
			  size_t i, struct firefox_record *r)
{
	const struct firefox_thread_in *th = f->of;
	int64_t cpu = firefox_cell_at(&c[SAMPLE_CPU - SAMPLE_STACK], i);
	const char *name = firefox_columns[SAMPLE_STACK + table * SAMPLE_COLUMNS].table;

	if (cpu < 0 && cpu != FIREFOX_NULL)
		firefox_fault(f, FAULT_CPU, name, NO_OFFSET);
	r->cpu = cpu < 0 ? 0 : f->processes[th->process].cpu_us ? cpu : cpu / 1000;
	r->weight = 1;
	if (th->types[table] & 2) {
		r->weight = firefox_cell_at(&c[SAMPLE_WEIGHT - SAMPLE_STACK], i);
		if (r->weight == FIREFOX_NULL)
			r->weight = 0;
		else if (th->tables.weights[table] != WEIGHT_MS && !f->millionths[table])
			r->weight /= 1000000;
	} else if (th->types[table] & 4) {
		r->weight = r->cpu;
	}
}

/* Add the samples of a table of a thread. */
static int firefox_add_samples(struct firefox_decoder *f, uint32_t thread, uint32_t table,
			       struct error *e)
{
	struct firefox_thread_in *th = &f->threads[thread];
	unsigned first = SAMPLE_STACK + table * SAMPLE_COLUMNS;
	struct buffer *c = &th->tables.columns[first];
	size_t n = c[SAMPLE_TIME - SAMPLE_STACK].size;
	int64_t sum = 0;

	n = n > c[SAMPLE_DELTA - SAMPLE_STACK].size ? n : c[SAMPLE_DELTA - SAMPLE_STACK].size;
	f->values.size = 0;
	f->of = th;
	firefox_check_rows(f, &th->tables, first, th->name);
	/* what the type of the samples is made of, until it is declared */
	th->types[table] = (n ? 1u : 0) |
			   (firefox_has_values(&c[SAMPLE_WEIGHT - SAMPLE_STACK]) ? 2u : 0) |
			   (firefox_has_values(&c[SAMPLE_CPU - SAMPLE_STACK]) ? 4u : 0);
	for (size_t i = 0; i < n / 8; i++) {
		struct firefox_record r = {.kind = FIREFOX_SAMPLE, .what = table, .of = thread};
		int64_t time = firefox_row_time(&th->tables, first + 1, i, &sum);
		int64_t stack = firefox_cell_at(c, i);

		if (!firefox_time(f, th->process, firefox_columns[first].table, &time))
			continue;
		r.stack = stack >= 0 && stack < UINT32_MAX ? (uint32_t)stack + 1 : 0;
		firefox_weigh(f, table, c, i, &r);
		th->types[table] |= r.weight < 0 ? 8u : 0;
		f->samples++;
		if (firefox_add(f, time, &r, e))
			return -1;
	}
	for (unsigned i = 0; i < SAMPLE_COLUMNS; i++)
		buffer_free(&c[i]);
	return 0;
}

/* --- markers --- */

/* What the data of a marker have that is no field. */
struct firefox_data {
	int64_t stack, start, end; /* index; ns: of early versions; null: none */
	uint32_t type;		   /* string of the writer */
	char phase;		   /* of early versions: '2' begins, '3' ends a call; 0 */
};

enum { FIREFOX_TEXT_MOST = 4096 }; /* bytes of a string that a field names; markers share strings */

/* Append a named value to f->values. */
static int firefox_field_value(struct firefox_decoder *f, struct json_reader *r,
			       const struct firefox_thread_in *th, uint32_t key, bool unique)
{
	struct buffer *to = &f->values;
	enum json_token token = json_next(r);
	size_t at = to->size, n;
	const char *text;
	int64_t index;
	int failed;

	if (token == JSON_NULL)
		return 0;
	if (buffer_u32(to, key) || buffer_u32(to, 0))
		return -1;
	if (token == JSON_OBJECT || token == JSON_ARRAY) {
		f->details.size = 0;
		failed = json_copy(r, token, &f->details, SIZE_MAX) ||
			 value_put_bytes(to, VALUE_STRING, f->details.data, f->details.size);
	} else if (unique && token == JSON_NUMBER &&
		   json_decimal((char *)r->text.data, 0, &index, NULL)) {
		text = writer_string_of(f->w, firefox_string(f, &th->tables, index), &n);
		n = n < FIREFOX_TEXT_MOST ? n : FIREFOX_TEXT_MOST;
		failed = value_put_bytes(to, VALUE_STRING, text, n);
	} else {
		failed = json_put_scalar(r, token, to);
	}
	if (!failed)
		put_u32(to->data + at + 4, (uint32_t)(to->size - at - 8));
	return failed ? -1 : 0;
}

/* Find the number of a member "stack", after the '{' of a cause. */
static int firefox_read_cause(struct json_reader *r, int64_t *stack)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool is_stack = json_is(r, "stack");

		token = json_next(r);
		if (is_stack && token == JSON_NUMBER) {
			if (!json_decimal((char *)r->text.data, 0, stack, NULL))
				*stack = FIREFOX_NULL;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Find the stack of the first sample of a thread of one sample, after its '{': the cause of a
 * marker of a gecko profile. */
static int firefox_read_sample(struct firefox_decoder *f, struct json_reader *r, int64_t *stack)
{
	struct buffer *columns = f->cause.columns;
	enum json_token token;

	for (unsigned i = SAMPLE_STACK; i < NATIVE_STACK; i++)
		columns[i].size = 0;
	while ((token = json_next(r)) == JSON_KEY) {
		bool samples = json_is(r, "samples");

		token = json_next(r);
		if (samples && token == JSON_OBJECT ? firefox_read_table(f, r, &f->cause, "samples")
						    : !json_skip(r, token))
			return -1;
	}
	*stack = firefox_cell_at(&columns[SAMPLE_STACK], 0);
	return token == JSON_OBJECT_END ? 0 : -1;
}

/* Take a member of the data of a marker, whose key r has read; early: times are not in columns. */
static int firefox_data_member(struct firefox_decoder *f, struct json_reader *r,
			       const struct firefox_thread_in *th, struct firefox_data *d,
			       bool early)
{
	bool start = early && json_is(r, "startTime"), end = early && json_is(r, "endTime");
	bool interval = early && json_is(r, "interval"), type = json_is(r, "type");
	bool unique = false;
	bool sample = th->tables.columns[FRAME_LOCATION].size && json_is(r, "stack");
	size_t n;
	const char *name;
	uint32_t key;
	enum json_token token;

	if (json_is(r, "cause") || sample || start || end || interval || type) {
		bool cause = json_is(r, "cause");

		token = json_next(r);
		if (sample && token == JSON_OBJECT)
			return firefox_read_sample(f, r, &d->stack);
		if (cause && token == JSON_OBJECT)
			return firefox_read_cause(r, &d->stack);
		if (type && token == JSON_STRING)
			d->type = firefox_text(f, r);
		else if (interval && token == JSON_STRING)
			d->phase = json_is(r, "start") ? '2' : json_is(r, "end") ? '3' : 0;
		else if ((start || end) && token == JSON_NUMBER) {
			if (!json_decimal((char *)r->text.data, 6, start ? &d->start : &d->end,
					  NULL))
				firefox_fault(f, FAULT_RANGE, "markers", NO_OFFSET);
		} else if (!json_skip(r, token))
			return -1;
		return 0;
	}
	key = firefox_text(f, r);
	if (f->unique.count && d->type) {
		name = writer_string_of(f->w, d->type, &n);
		n = n < FIREFOX_TEXT_MOST ? n : 0;
		if (firefox_unique_key(f, name, n, (char *)r->text.data, r->text.size))
			return -1;
		unique = intern_find(&f->unique, f->key.data, f->key.size) != INTERN_NONE;
	}
	return key			    ? firefox_field_value(f, r, th, key, unique)
	       : json_skip(r, json_next(r)) ? 0
					    : -1;
}

/* Take a member of the data of a marker, whose key r has read, if it is the type. */
static int firefox_data_type(struct firefox_decoder *f, struct json_reader *r,
			     struct firefox_data *d)
{
	bool type = json_is(r, "type");
	enum json_token token = json_next(r);

	if (type && token == JSON_STRING)
		d->type = firefox_text(f, r);
	else if (!json_skip(r, token))
		return -1;
	return 0;
}

/* Read the members of the data of a marker; th NULL: only its type. */
static int firefox_read_members(struct firefox_decoder *f, const struct firefox_thread_in *th,
				const char *text, struct firefox_data *d, bool early)
{
	struct json_reader r = {0};
	enum json_token token = JSON_OBJECT_END;
	int failed = 0;

	json_open_text(&r, text, strlen(text));
	if (json_next(&r) == JSON_OBJECT)
		while (!failed && (token = json_next(&r)) == JSON_KEY)
			failed = th ? firefox_data_member(f, &r, th, d, early)
				    : firefox_data_type(f, &r, d);
	json_close(&r);
	/* the text was read before, so it is JSON */
	return failed || token != JSON_OBJECT_END ? -1 : 0;
}

/* Read the data of a marker: its fields become f->values. */
static int firefox_read_data(struct firefox_decoder *f, const struct firefox_thread_in *th,
			     int64_t at, struct firefox_data *d, bool early)
{
	const char *text = at < 0 ? "" : (const char *)f->texts.data + at;

	f->values.size = 0;
	*d = (struct firefox_data){FIREFOX_NULL, FIREFOX_NULL, FIREFOX_NULL, 0, 0};
	if (at < 0)
		return 0;
	/* the type may come last, and shows which fields are indexes of strings */
	if (f->unique.count && firefox_read_members(f, NULL, text, d, early))
		return -1;
	return firefox_read_members(f, th, text, d, early);
}

/* Learn the names of the values. */
static int firefox_learn(struct firefox_decoder *f, uint32_t name)
{
	const struct buffer *v = &f->values;

	for (size_t i = 0; i < v->size; i += 8 + get_u32(v->data + i + 4))
		if (arguments_learn(&f->arguments, name, get_u32(v->data + i)))
			return -1;
	return 0;
}

/* Add the record or records of a marker with a start, an end and a phase: '0' an instant, '1' both,
 * '2' the start of a call, '3' its end. */
static int firefox_add_marker(struct firefox_decoder *f, struct firefox_record *r, int64_t start,
			      int64_t end, char phase, struct error *e)
{
	uint64_t key = (uint64_t)r->of << 32 | r->name, *open;

	r->kind = phase == '0' ? FIREFOX_INSTANT : phase == '3' ? FIREFOX_LEAVE : FIREFOX_ENTER;
	if (phase == '2' || phase == '3') {
		open = key_map_value(&f->open, key);
		if (!open)
			return error_no_memory(e);
		if (phase == '3' && !*open) {
			f->counts.unopened++;
			return 0;
		}
		/* the end is that of the latest start */
		r->call = phase == '2' ? ++f->calls : (uint32_t)*open;
		if (phase == '2' ? buffer_u32(&f->around, (uint32_t)*open)
				 : key_map_set(&f->open, key,
					       get_u32(f->around.data + 4 * (size_t)(r->call - 1))))
			return error_no_memory(e);
		if (phase == '2')
			*open = r->call;
	} else if (phase == '1') {
		r->call = ++f->calls;
		if (buffer_u32(&f->around, 0))
			return error_no_memory(e);
	}
	if (phase == '3')
		f->values.size = 0;
	f->markers += phase != '3';
	if (firefox_learn(f, r->name))
		return error_no_memory(e);
	if (firefox_add(f, phase == '3' ? end : start, r, e) || phase != '1')
		return phase == '1' || e->what[0] ? -1 : 0;
	f->values.size = 0;
	r->kind = FIREFOX_LEAVE;
	r->stack = 0;
	return firefox_add(f, end < start ? start : end, r, e);
}

/* Take row i of the markers of a thread. */
static int firefox_take_marker(struct firefox_decoder *f, uint32_t thread, size_t i,
			       struct error *e)
{
	struct firefox_thread_in *th = &f->threads[thread];
	struct buffer *c = th->tables.columns;
	bool early = !c[MARKER_START].size;
	struct firefox_record r = {.of = thread};
	int64_t start = firefox_cell_at(&c[early ? MARKER_TIME : MARKER_START], i);
	int64_t end = firefox_cell_at(&c[MARKER_END], i);
	int64_t number = firefox_cell_at(&c[MARKER_PHASE], i);
	struct firefox_data d;
	char phase;

	r.name = firefox_string(f, &th->tables, firefox_cell_at(&c[MARKER_NAME], i));
	r.category = firefox_category(f, th->process, firefox_cell_at(&c[MARKER_CATEGORY], i));
	if (!r.name)
		r.name = writer_text(f->w, "(no name)");
	if (firefox_read_data(f, th, firefox_cell_at(&c[MARKER_DATA], i), &d, early))
		return error_no_memory(e);
	r.stack = d.stack >= 0 && d.stack < UINT32_MAX ? (uint32_t)d.stack + 1 : 0;
	if (d.start != FIREFOX_NULL && d.end != FIREFOX_NULL) {
		start = d.start;
		end = d.end;
	}
	phase = number >= 0 && number <= 3 ? (char)('0' + number)
		: d.phase		   ? d.phase
		: end != FIREFOX_NULL	   ? '1'
					   : '0';
	if (phase == '3' && end == FIREFOX_NULL)
		end = start;
	if (phase == '1' && end == FIREFOX_NULL)
		phase = '0';
	if ((phase != '3' && !firefox_time(f, th->process, "markers", &start)) ||
	    ((phase == '1' || phase == '3') && !firefox_time(f, th->process, "markers", &end)))
		return 0;
	if (phase == '1' && end < start)
		firefox_fault(f, FAULT_BACKWARDS, "markers", NO_OFFSET);
	return firefox_add_marker(f, &r, start, end, phase, e);
}

/* Add the counts of a counter. */
static int firefox_add_counts(struct firefox_decoder *f, uint32_t number, struct error *e)
{
	struct firefox_counter *c = &f->counters[number];
	const struct buffer *columns = c->tables.columns;
	size_t n = columns[COUNTER_TIME].size;
	int64_t sum = 0;

	f->values.size = 0;
	f->of = NULL;
	firefox_check_rows(f, &c->tables, COUNTER_TIME, c->name);
	n = n > columns[COUNTER_DELTA].size ? n : columns[COUNTER_DELTA].size;
	for (size_t i = 0; i < n / 8; i++) {
		struct firefox_record r = {.kind = FIREFOX_COUNT, .of = number};
		int64_t time = firefox_row_time(&c->tables, COUNTER_TIME, i, &sum);

		r.weight = firefox_cell_at(&columns[COUNTER_COUNT], i);
		r.cpu = firefox_cell_at(&columns[COUNTER_NUMBER], i);
		r.weight = r.weight == FIREFOX_NULL ? 0 : r.weight;
		r.cpu = r.cpu == FIREFOX_NULL ? 0 : r.cpu;
		if (firefox_time(f, c->process, "counter", &time) && firefox_add(f, time, &r, e))
			return -1;
	}
	return 0;
}

static void firefox_free_tables(struct firefox_tables *t, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++)
		buffer_free(&t->columns[i]);
}

/* Sort what was read. */
static int firefox_sort(struct firefox_decoder *f, struct error *e)
{
	firefox_find_fractions(f);
	for (uint32_t i = 0; i < f->nthreads; i++) {
		struct firefox_tables *t = &f->threads[i].tables;
		size_t n = t->columns[MARKER_NAME].size / 8;

		firefox_check_rows(f, t, MARKER_NAME, f->threads[i].name);
		for (uint32_t table = 0; table < SAMPLE_TABLES; table++)
			if (firefox_add_samples(f, i, table, e))
				return -1;
		for (size_t row = 0; row < n; row++)
			if (firefox_take_marker(f, i, row, e))
				return -1;
		firefox_free_tables(t, MARKER_NAME, STACK_FRAME);
	}
	for (uint32_t i = 0; i < f->ncounters; i++)
		if (firefox_add_counts(f, i, e))
			return -1;
	buffer_free(&f->texts);
	return sorter_finish(&f->sorter, e);
}

/* Read the file. Damage is reported. 0, or -1 with *e filled. */
static int firefox_read_file(struct firefox_decoder *f, struct error *e)
{
	struct input *in = f->input;
	struct json_reader r;
	int failed;

	e->what[0] = '\0';
	if (input_open_json(in, &r, e))
		return -1;
	failed = json_next(&r) != JSON_OBJECT || firefox_read_process(f, &r) ||
		 json_next(&r) != JSON_END;
	if (!f->nthreads && (failed || !f->has_threads) && !r.failed)
		failed = error_set(e, in->name, r.error.what[0] ? r.error.offset : NO_OFFSET,
				   "no profile of Firefox: %s",
				   r.error.what[0] ? r.error.what : "no threads");
	else if (failed && !r.error.what[0])
		failed = error_no_memory(e);
	else if (failed) {
		input_damage_error(in, &r.error);
		failed = 0;
	}
	json_close(&r);
	return failed ? -1 : firefox_sort(f, e);
}

/* Report the faults of the tables, once: when no more stacks are read. */
static void firefox_report_damage(struct firefox_decoder *f)
{
	static const char *const texts[FIREFOX_FAULTS] = {
		[FAULT_INDEX] = "an index that is beyond its table; such indexes",
		[FAULT_RANGE] = "a number that is out of range; such numbers",
		[FAULT_UNTIMED] = "a sample, marker or count without a time, which is left out; "
				  "such ones",
		[FAULT_WEIGHT] = "a value that is no number; such values",
		[FAULT_CPU] = "a CPU time below 0, which counts as 0; such times",
		[FAULT_BACKWARDS] = "a marker that ends before it starts, which lasts 0 ns; such "
				    "markers",
	};
	struct input *in = f->input;

	if (f->counts.many)
		input_damage(in, in->name, NO_OFFSET,
			     "more than %d threads or counters: those left out are %" PRIu64,
			     FIREFOX_MOST, f->counts.many);
	f->counts.many = 0;
	for (unsigned i = 0; i < FIREFOX_FAULTS; i++) {
		struct firefox_fault *fault = &f->faults[i];
		char thread[96] = "", table[32] = "";
		size_t n;

		if (!fault->count)
			continue;
		if (fault->thread) {
			const char *text = writer_string_of(f->w, fault->thread, &n);

			snprintf(thread, sizeof thread, "'%.*s', ", (int)(n < 64 ? n : 64), text);
		}
		if (fault->table)
			snprintf(table, sizeof table, "table %s: ", fault->table);
		input_damage(in, in->name, fault->offset, "%s%s%s: %" PRIu64, thread, table,
			     texts[i], fault->count);
		fault->count = 0;
	}
}

/* --- the decoder --- */

static enum bid firefox_probe(const struct input *in)
{
	static const char *const words[] = {"\"preprocessedProfileVersion\"",
					    "\"stackTable\"",
					    "\"markerSchema\"",
					    "\"stackwalk\"",
					    "\"breakpadId\"",
					    "\"gcpoison\"",
					    "\"debugName\""};
	bool found = (input_head_has(in, "\"meta\"") || input_head_has(in, "\"duration\"")) &&
		     input_head_has(in, "\"processType\"");

	for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++)
		found = input_head_has(in, words[i]);
	return input_bid_object(in, "firefox", found);
}

static int firefox_open(struct input *in, struct error *e)
{
	struct firefox_decoder *f = calloc(1, sizeof *f);

	in->state = f;
	if (!f)
		return error_no_memory(e);
	f->input = in;
	f->w = f->locations.w = in->decoding->writer;
	f->texts.spills = true;
	sorter_init(&f->sorter);
	in->clock_name = "profile";
	return 0;
}

static int firefox_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct firefox_decoder *f = in->state;

	if (firefox_read_file(f, e))
		return -1;
	firefox_report_damage(f);
	fact_text(facts, "format", "firefox");
	fact_number(facts, "threads", f->nthreads);
	fact_number(facts, "samples", f->samples);
	fact_number(facts, "markers", f->markers);
	fact_number(facts, "counters", f->ncounters);
	fact_number(facts, "libraries", f->nlibs);
	return 0;
}

/* Declare the lane of a thread, or of a process (tid -1: none). 0: out of memory. */
static uint32_t firefox_declare_lane(struct firefox_decoder *f, uint32_t comm, int32_t pid,
				     int32_t tid)
{
	return writer_lane(f->w, &(struct lane_entry){.source = f->source,
						      .clock = f->clock,
						      .comm = comm,
						      .flags = (pid >= 0 ? LANE_HAS_PID : 0) |
							       (tid >= 0 ? LANE_HAS_TID : 0),
						      .cpu = -1,
						      .tid = tid,
						      .pid = pid,
						      .ppid = -1});
}

/* Declare the type of the samples of a table; 0: out of memory. */
static uint32_t firefox_sample_type(struct firefox_decoder *f, const struct firefox_thread_in *th,
				    int table)
{
	const struct firefox_process *p = &f->processes[th->process];
	bool weights = th->types[table] & 2, cpus = th->types[table] & 4;
	bool cpu_time = p->cpu_ns || p->cpu_us;
	bool in_time = weights ? th->tables.weights[table] == WEIGHT_MS : cpus && cpu_time;
	uint32_t key[] = {(uint32_t)table, th->types[table], in_time, cpu_time};
	uint32_t *id = id_cache_number(&f->types, key, sizeof key);
	struct field_entry fields[] = {
		{.name = writer_text(f->w, "weight"),
		 .kind = th->types[table] & 8 ? FIELD_INT : FIELD_UINT,
		 .role = ROLE_PERIOD,
		 .size = 8},
		{.name = writer_text(f->w, "cpu_delta"),
		 .kind = FIELD_UINT,
		 .role = ROLE_WEIGHT,
		 .offset = 8,
		 .size = 8},
	};

	if (!id || *id)
		return id ? *id : 0;
	*id = writer_type(
		f->w, &(struct type_entry){.source = f->source,
					   .name = writer_text(f->w, firefox_sample_types[table]),
					   .kind = KIND_SAMPLE,
					   .flags = in_time ? TYPE_WEIGHT_TIME : 0,
					   .fixed_size = weights && cpus ? 16 : 8,
					   .nfields = weights && cpus ? 2 : 1,
					   .fields = fields});
	return *id && !row_filter_announce(f->input->decoding->row_filter, *id, 0) ? *id : 0;
}

/* Declare the type of a counter; 0: out of memory. */
static uint32_t firefox_counter_type(struct firefox_decoder *f, const struct firefox_counter *c)
{
	struct field_entry fields[3];
	static const char *const names[] = {"value", "change", "number"};
	struct type_entry type = {.source = f->source,
				  .name = c->name ? c->name : writer_text(f->w, "counter"),
				  .group = c->category,
				  .kind = KIND_COUNTER,
				  .fixed_size = sizeof fields / sizeof *fields * 8,
				  .nfields = sizeof fields / sizeof *fields,
				  .fields = fields};

	for (uint32_t i = 0; i < type.nfields; i++)
		fields[i] = (struct field_entry){.name = writer_text(f->w, names[i]),
						 .kind = FIELD_FLOAT,
						 .offset = 8 * i,
						 .size = 8};
	return writer_type(f->w, &type);
}

/* Declare the threads and the types of samples. */
static int firefox_declare_threads(struct firefox_decoder *f)
{
	for (size_t i = 0; i < f->nthreads; i++) {
		struct firefox_thread_in *th = &f->threads[i];
		uint32_t *name;

		th->lane = firefox_declare_lane(f, th->name, th->pid,
						th->tid >= 0 ? th->tid : (int32_t)i + 1);
		if (!th->lane)
			return -1;
		for (int table = 0; table < SAMPLE_TABLES; table++)
			if (th->types[table]) {
				th->types[table] = firefox_sample_type(f, th, table);
				if (!th->types[table])
					return -1;
			}
		if (!th->process_name || th->pid < 0)
			continue;
		name = id_cache_number(&f->processes_named, &th->pid, sizeof th->pid);
		if (!name)
			return -1;
		*name = th->process_name;
	}
	return process_names_write(f->w, f->source, &f->processes_named);
}

static int firefox_declare_counters(struct firefox_decoder *f)
{
	for (size_t i = 0; i < f->ncounters; i++) {
		struct firefox_counter *c = &f->counters[i];
		uint64_t thread = c->first_thread + (uint64_t)(c->thread < 0 ? 0 : c->thread);

		c->lane = c->thread >= 0 && thread < f->nthreads
				  ? f->threads[thread].lane
				  : firefox_declare_lane(f, 0, c->pid, -1);
		c->type = firefox_counter_type(f, c);
		if (!c->lane || !c->type)
			return -1;
	}
	return 0;
}

/* Get the time of a record: from the earliest one on. */
static uint64_t firefox_record_time(const struct firefox_decoder *f, const struct sorter_record *r)
{
	return r->key.time - (uint64_t)INT64_MIN - (uint64_t)f->earliest;
}

static int firefox_decode_begin(struct input *in, struct error *e)
{
	struct firefox_decoder *f = in->state;
	struct sorter_record r;

	if (firefox_read_file(f, e))
		return -1;
	in->own_zero = true;
	in->has_wall = f->processes->start > 0;
	in->wall = in->has_wall ? f->processes->start + f->earliest : 0;
	if (merge_choose_clock(in, e))
		return -1;
	f->source = writer_source(f->w, &(struct source_entry){writer_text(f->w, "firefox"),
							       writer_text(f->w, in->name), 0, 0});
	f->clock = input_declare_clock(in, in->has_wall && !merge_wall(in));
	if (!f->source || !f->clock || firefox_declare_threads(f) || firefox_declare_counters(f))
		return error_no_memory(e);
	in->next = UINT64_MAX;
	return sorter_peek(&f->sorter, &r) ? merge_first(in, firefox_record_time(f, &r), e) : 0;
}

/* --- rows --- */

/* Get the type of a marker; 0: out of memory. */
static uint32_t firefox_marker_type(struct firefox_decoder *f, const struct firefox_record *r,
				    bool stack)
{
	bool call = r->kind != FIREFOX_INSTANT;
	const char *name = r->kind == FIREFOX_ENTER ? "begin" : "end";
	uint32_t key[] = {UINT32_MAX,  r->kind,	      call ? 0 : r->name,
			  r->category, r->values > 0, stack};
	uint32_t *id = id_cache_number(&f->types, key, sizeof key);
	struct field_entry fields[2];
	struct type_entry type = {.source = f->source,
				  .name = call ? writer_text(f->w, name) : r->name,
				  .group = r->category,
				  .kind = r->kind == FIREFOX_ENTER   ? KIND_ENTER
					  : r->kind == FIREFOX_LEAVE ? KIND_LEAVE
								     : KIND_INSTANT,
				  .flags = (call ? TYPE_CALL_NUMBER : 0) |
					   (r->values ? TYPE_TAIL | TYPE_VALUES : 0),
				  .fields = fields};

	if (!id || *id)
		return id ? *id : 0;
	if (call)
		fields[type.nfields++] = (struct field_entry){
			.name = writer_text(f->w, "call"), .role = ROLE_CALL, .size = 4};
	if (stack)
		fields[type.nfields++] = (struct field_entry){.name = writer_text(f->w, "stack"),
							      .role = ROLE_STACK,
							      .offset = call ? 4 : 0,
							      .size = 4};
	type.fixed_size = 4 * type.nfields;
	return *id = writer_type(f->w, &type);
}

/* Write a sample. */
static int firefox_write_sample(struct firefox_decoder *f, const struct firefox_record *r)
{
	struct firefox_thread_in *th = &f->threads[r->of];
	struct new_row row = {.time = f->input->next, .lane = th->lane, .type = th->types[r->what]};
	uint32_t offset, size;
	uint8_t fixed[16];

	put_u64(fixed, (uint64_t)r->weight);
	put_u64(fixed + 8, (uint64_t)r->cpu);
	row.fixed = fixed;
	row.fixed_size = writer_type_field(f->w, row.type, ROLE_WEIGHT, &offset, &size) ? 16 : 8;
	return firefox_stack_of(f, th, (int64_t)r->stack - 1, &row.location)
		       ? -1
		       : writer_sample(f->w, row);
}

/* Write a marker, whose values follow it. */
static int firefox_write_marker(struct firefox_decoder *f, const struct firefox_record *r,
				const uint8_t *values)
{
	struct firefox_thread_in *th = &f->threads[r->of];
	struct new_row row = {.time = f->input->next, .lane = th->lane};
	uint32_t stack = 0;
	uint8_t fixed[8];
	uint8_t *at = fixed;

	if (firefox_stack_of(f, th, (int64_t)r->stack - 1, &stack))
		return -1;
	row.type = firefox_marker_type(f, r, stack);
	if (r->kind != FIREFOX_INSTANT || r->values) {
		row.location = arguments_location_of(&f->arguments, f->w, r->name);
		if (!row.location)
			return -1;
	}
	f->details.size = 0;
	if (!row.type || (r->values && arguments_values(&f->arguments, r->name, values, r->values,
							false, &f->details)))
		return -1;
	if (r->kind != FIREFOX_INSTANT) {
		put_u32(at, r->call);
		at += 4;
	}
	if (stack) {
		put_u32(at, stack);
		at += 4;
		if (writer_use_stack(f->w, stack))
			return -1;
	}
	row.fixed = fixed;
	row.fixed_size = (uint32_t)(at - fixed);
	row.tail = f->details.data;
	row.tail_size = (uint32_t)f->details.size;
	row.has_tail = r->values > 0;
	return writer_row_data(f->w, row);
}

/* Write a count. */
static int firefox_write_count(struct firefox_decoder *f, const struct firefox_record *r)
{
	struct firefox_counter *c = &f->counters[r->of];
	double values[3];

	c->total += (double)r->weight / 1e6;
	values[0] = c->total;
	values[1] = (double)r->weight / 1e6;
	values[2] = (double)r->cpu / 1e6;
	return writer_row_data(f->w, (struct new_row){.time = f->input->next,
						      .lane = c->lane,
						      .type = c->type,
						      .fixed = values,
						      .fixed_size = sizeof values});
}

static int firefox_run(struct input *in, uint64_t until, struct error *e)
{
	struct firefox_decoder *f = in->state;
	struct sorter_record s;

	for (;;) {
		struct firefox_record copy, *r = &copy;
		bool more = sorter_peek(&f->sorter, &s);
		int failed;

		in->next = more ? merge_shifted(firefox_record_time(f, &s), in->shift) : UINT64_MAX;
		if (!more || in->next > until)
			break;

		/* the sorter aligns to 4 bytes */
		memcpy(&copy, s.data, sizeof copy);
		failed = r->kind == FIREFOX_SAMPLE ? firefox_write_sample(f, r)
			 : r->kind == FIREFOX_COUNT
				 ? firefox_write_count(f, r)
				 : firefox_write_marker(f, r, s.data + sizeof copy);

		if (failed || sorter_advance(&f->sorter, e))
			return -1;
	}
	if (in->next == UINT64_MAX)
		firefox_report_damage(f);
	return 0;
}

/* Remark on the version, and on weights that are scaled. */
static void firefox_warn(const struct firefox_decoder *f)
{
	const char *name = f->input->name;

	if (f->version > FIREFOX_VERSION)
		warn(name, NO_OFFSET,
		     "version %" PRId64 " of the profiles of Firefox: what is newer than version "
		     "%d is not read",
		     f->version, FIREFOX_VERSION);
	for (unsigned table = 0; table < SAMPLE_TABLES; table++)
		if (f->millionths[table])
			warn(name, NO_OFFSET, "weights of %s have fractions: all are in millionths",
			     firefox_sample_types[table]);
}

static void firefox_close(struct input *in)
{
	struct firefox_decoder *f = in->state;
	struct buffer *const buffers[] = {&f->texts,  &f->key,	  &f->path,
					  &f->values, &f->record, &f->details};

	if (!f)
		return;
	if (!in->decoding->quiet) {
		firefox_warn(f);
		warn_count(in->name, f->counts.unopened,
			   "{end|ends} of markers without {a start|starts} {was|were} left out");
		warn_count(in->name, f->inexact,
			   "{time has|times have} digits below 1 ns, which are left out");
	}
	for (size_t i = 0; i < f->nthreads; i++) {
		firefox_free_tables(&f->threads[i].tables, 0, FIREFOX_NCOLUMNS);
		buffer_free(&f->threads[i].tables.strings);
		buffer_free(&f->threads[i].tables.stacks);
	}
	for (size_t i = 0; i < f->ncounters; i++)
		firefox_free_tables(&f->counters[i].tables, 0, FIREFOX_NCOLUMNS);
	firefox_free_tables(&f->shared, 0, FIREFOX_NCOLUMNS);
	firefox_free_tables(&f->cause, 0, FIREFOX_NCOLUMNS);
	buffer_free(&f->shared.strings);
	buffer_free(&f->shared.stacks);
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_free(buffers[i]);
	free(f->threads);
	free(f->counters);
	free(f->processes);
	free(f->libs);
	free(f->categories);
	intern_free(&f->unique);
	arguments_free(&f->arguments);
	id_cache_free(&f->types);
	id_cache_free(&f->gecko);
	id_cache_free(&f->processes_named);
	key_map_free(&f->open);
	buffer_free(&f->around);
	frame_locations_free(&f->locations);
	sorter_free(&f->sorter);
	free(f);
	in->state = NULL;
}

const struct decoder decoder_firefox = {
	.name = "firefox",
	.in_order = true,
	.probe = firefox_probe,
	.open = firefox_open,
	.info = firefox_info,
	.begin = firefox_decode_begin,
	.run = firefox_run,
	.close = firefox_close,
};

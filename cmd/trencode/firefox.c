/*
 * firefox.c - the processed profile of the Firefox Profiler: samples, calls and markers of threads
 *
 *     "stackTable":{"length":2,"prefix":[null,0],"frame":[0,1]}    main calls f
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/trencode/attributes.h"
#include "cmd/trencode/convert.h"
#include "cmd/trencode/encoder.h"
#include "cmd/trencode/stack_profile.h"
#include "cmd/trencode/tracks.h"
#include "common/calls/call_stacks.h"
#include "common/calls/calls.h"
#include "common/stream/field.h"
#include "common/util/buffer.h"
#include "common/util/version.h"
#include "common/value/json.h"

/*
 * The processed profile format of the Firefox Profiler, version 61.
 *
 * Source: src/types/profile.ts and docs-developer/CHANGELOG-formats.md of
 * github.com/firefox-devtools/profiler. Readers of later versions read this one.
 *
 *     meta      categories, schemas of markers, times
 *     libs      modules
 *     threads   each with samples and markers, as one array for each column
 *     shared    tables of stacks, frames, functions, resources and strings
 *
 * A sample names a stack of the table of stacks, which is the tree of common/calls/stack_tree.h. A
 * frame is a function. The samples of a trace of calls are the times between two changes of a
 * thread's stack, which weigh their length.
 */

enum { FIREFOX_VERSION = 61, FIREFOX_GECKO_VERSION = 33 };

/* Indexes of meta.categories. */
enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_IDLE };

/* The category of a frame is the first byte of its key; then the key is that of stack_profile.h. */
enum { FRAME_KEY_CATEGORY = 1 };

struct firefox_sample {
	uint64_t time, weight;
	uint32_t node; /* of the tree of stacks */
};

struct firefox_marker {
	uint64_t start, end;
	uint64_t data; /* offset of its fields in firefox.data */
	uint32_t size; /* of these, bytes */
	uint32_t name; /* index of a string */
	uint32_t node; /* stack at which it happened; STACK_ROOT: none */
	int32_t cpu;   /* -1: unknown */
	bool interval; /* it has an end */
};

/* One thread of the profile. */
struct firefox_thread {
	int32_t pid, tid;
	struct buffer name;
	uint64_t first, last; /* times of its events */
	uint64_t since;	      /* time at which its stack became node */
	uint32_t node;
	uint32_t user, kernel; /* stacks of its calls, and of those in the kernel with them */
	struct record_list samples, markers;
};

/* The format of a field of a marker, by the values that it had. */
enum field_format { FIELD_IS_INTEGER, FIELD_IS_DECIMAL, FIELD_IS_STRING };

/* One run of the encoder. */
struct firefox {
	struct calls *calls;
	struct call_stacks stacks;
	struct tracks tracks;
	struct attributes attributes;
	struct record_store samples, markers;
	struct buffer data; /* fields of markers, as JSON; spills */
	struct buffer kept; /* attributes of the enters of calls with numbers; spills */
	/* of the present marker: its attributes, its fields, and one value; they spill */
	struct buffer bytes, json, one;
	struct intern strings;
	struct {
		struct intern names;
		struct intern keys; /* schema and name: number in fields */
		struct {
			uint32_t name; /* index of a string */
			uint32_t next; /* the next field of the schema: number + 1; 0: none */
			enum field_format format;
		} * fields;
		size_t capacity;
		uint32_t *last; /* by schema: number of the field added last + 1 */
		size_t nlast;
	} schemas; /* the types of markers */
	struct firefox_thread **threads;
	size_t nthreads, capacity;
	enum profile_subject subject;
	const struct type *type; /* of the samples */
	bool by_period;		 /* --weight period */
	bool keep_times, quiet;
	bool started, ticks;
	uint64_t first, last;
	uint64_t origin; /* time that is shown as 0 */
	struct {
		uint64_t left_out; /* samples of other types, and calls of a profile of samples */
		uint64_t negative; /* samples with a negative weight */
		uint64_t values;   /* calls with arguments */
		uint64_t lost;	   /* calls that ended without a leave */
	} counts;
	uint32_t *index; /* by node of the tree: its index in the table of stacks; firefox_order */
	uint32_t *order;
	size_t nstacks;
	/* what the frames name, as indexes of strings and of modules */
	struct intern modules, files;	/* texts */
	uint32_t *name, *module, *file; /* by function; module and file: number + 1, 0 none */
};

/* Functions that return int return 0, or -1 when out of memory. */

static inline bool firefox_begins_with(struct text_ref text, const char *with)
{
	size_t n = strlen(with);

	return text.size >= n && !memcmp(text.text, with, n);
}

/* Integers beyond it are strings, as JavaScript cannot represent them. */
#define EXACT_MOST (1ull << 53)

/* The names of members of a marker that are no fields of events. */
static bool is_reserved(const char *name, size_t n)
{
	return (n == 4 && !memcmp(name, "type", 4)) || (n == 5 && !memcmp(name, "cause", 5)) ||
	       (n == 3 && !memcmp(name, "cpu", 3));
}

/* Note the format of a value of a field: of all its values. */
static int note_field(struct firefox *f, uint32_t schema, uint32_t name, enum field_format format)
{
	uint32_t key[2] = {schema, name}, had = f->schemas.keys.count;
	uint32_t number = intern(&f->schemas.keys, key, sizeof key);

	if (number == INTERN_NONE || ARRAY_GROW(f->schemas.fields, f->schemas.capacity, number) ||
	    ARRAY_REACH(f->schemas.last, f->schemas.nlast, schema))
		return -1;
	if (number == had) {
		f->schemas.fields[number].name = name;
		f->schemas.fields[number].next = f->schemas.last[schema];
		f->schemas.fields[number].format = format;
		f->schemas.last[schema] = number + 1;
	}
	if (format > f->schemas.fields[number].format)
		f->schemas.fields[number].format = format;
	return 0;
}

static enum field_format firefox_format_of(const struct attribute *a)
{
	switch (a->kind) {
	case ATTRIBUTE_INT:
		return (int64_t)a->number > (int64_t)EXACT_MOST ||
				       (int64_t)a->number < -(int64_t)EXACT_MOST
			       ? FIELD_IS_STRING
			       : FIELD_IS_INTEGER;
	case ATTRIBUTE_UINT: return a->number > EXACT_MOST ? FIELD_IS_STRING : FIELD_IS_INTEGER;
	case ATTRIBUTE_REAL: return a->real - a->real == 0 ? FIELD_IS_DECIMAL : FIELD_IS_STRING;
	default: return FIELD_IS_STRING;
	}
}

/* Append a text, which may be large, as a JSON string. */
static int firefox_put_text(struct buffer *to, const struct buffer *text)
{
	int bad = buffer_u8(to, '"');

	for (size_t at = 0, n; at < text->size && !bad; at += n) {
		n = buffer_piece(text->data + at, text->size - at);
		bad = json_append_inside(to, (const char *)text->data + at, n);
		buffer_rest(to);
		buffer_rest(text);
	}
	return bad || buffer_u8(to, '"') ? -1 : 0;
}

/* Append a value: a number, or a string with the JSON of another value. */
static int firefox_put_value(struct firefox *f, const struct attribute *a,
			     const struct buffer *from)
{
	buffer_clear(&f->one);
	if (a->kind == ATTRIBUTE_TEXT || firefox_format_of(a) != FIELD_IS_STRING)
		return attribute_json(a, false, from, &f->json);
	if (attribute_json(a, true, from, &f->one))
		return -1;
	if (f->one.size && *f->one.data == '"')
		return buffer_append_from(&f->json, &f->one, 0, f->one.size);
	return firefox_put_text(&f->json, &f->one);
}

/* Append "name":value to the fields. */
static int firefox_put_field(struct firefox *f, uint32_t schema, const struct attribute *a,
			     const struct buffer *from)
{
	struct text_ref name = dictionary_string(f->attributes.dictionary, a->name);
	struct buffer key = {0};
	uint32_t number;
	int bad = buffer_append(&key, name.text, name.size) ||
		  (is_reserved(name.text, name.size) && buffer_u8(&key, '_'));

	if (!bad) {
		number = intern(&f->strings, key.data, key.size);
		bad = number == INTERN_NONE ||
		      note_field(f, schema, number, firefox_format_of(a)) ||
		      buffer_u8(&f->json, ',') ||
		      json_append_string(&f->json, (const char *)key.data, key.size) ||
		      buffer_u8(&f->json, ':') || firefox_put_value(f, a, from);
	}
	buffer_free(&key);
	return bad ? -1 : 0;
}

/* Add a marker with the attributes in bytes, which may be empty. m has all but these. */
static int firefox_marker(struct firefox *f, struct firefox_thread *th, struct firefox_marker m,
			  struct text_ref type, const struct buffer *bytes)
{
	uint32_t schema = intern(&f->schemas.names, type.text, type.size);
	uint32_t cpu = m.cpu >= 0 ? intern_string(&f->strings, "cpu") : 0;

	buffer_clear(&f->json);
	if (schema == INTERN_NONE || cpu == INTERN_NONE || buffer_puts(&f->json, "{\"type\":") ||
	    json_append_string(&f->json, type.text, type.size) ||
	    attributes_read(&f->attributes, bytes))
		return -1;
	if (m.cpu >= 0 && (note_field(f, schema, cpu, FIELD_IS_INTEGER) ||
			   buffer_printf(&f->json, ",\"cpu\":%d", m.cpu)))
		return -1;
	for (size_t i = 0; i < f->attributes.count; i++)
		if (f->attributes.items[i].kind != ATTRIBUTE_NULL &&
		    firefox_put_field(f, schema, &f->attributes.items[i], bytes))
			return -1;
	if (f->json.size > UINT32_MAX)
		return -1;
	m.data = f->data.size;
	m.size = (uint32_t)f->json.size;
	return buffer_append_from(&f->data, &f->json, 0, f->json.size) ||
			       record_add(&f->markers, &th->markers, &m)
		       ? -1
		       : 0;
}

/* Write the schemas of all markers, as a JSON array. */
static void firefox_put_schemas(struct firefox *f, struct text *out)
{
	static const char *const formats[] = {"integer", "decimal", "string"};

	text_char(out, '[');
	for (uint32_t i = 0; i < f->schemas.names.count; i++) {
		uint32_t field = i < f->schemas.nlast ? f->schemas.last[i] : 0;

		text_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_string(out, intern_data(&f->schemas.names, i),
			    intern_size(&f->schemas.names, i));
		text_puts(out, ",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[");
		for (const char *comma = ""; field;
		     comma = ",", field = f->schemas.fields[field - 1].next) {
			uint32_t name = f->schemas.fields[field - 1].name;

			text_puts(out, comma);
			text_puts(out, "{\"key\":");
			json_string(out, intern_data(&f->strings, name),
				    intern_size(&f->strings, name));
			text_puts(out, ",\"format\":\"");
			text_puts(out, formats[f->schemas.fields[field - 1].format]);
			text_puts(out, "\"}");
		}
		text_puts(out, "]}");
	}
	text_char(out, ']');
}

/* --- the samples of a profile: recorded ones, or the times between changes of a stack --- */

/* Get the unit of threadCPUDelta: the weights of the samples are times on a CPU, or cycles;
 * NULL: they are neither. */
static const char *firefox_cpu_unit(const struct firefox *f)
{
	if (f->subject != SUBJECT_SAMPLES)
		return NULL;
	if (f->type->flags & TYPE_WEIGHT_TIME)
		return "ns";
	return firefox_begins_with(f->type->name, "cycles") ||
			       firefox_begins_with(f->type->name, "cpu-cycles")
		       ? "variable CPU cycles"
		       : NULL;
}

/* Add the time up to this one with the stack that the thread has had. */
static int firefox_end_stack(struct firefox *f, struct firefox_thread *th, uint64_t time)
{
	struct firefox_sample s = {th->since, time - th->since, th->node};

	if (time <= th->since)
		return 0;
	th->since = time;
	return record_add(&f->samples, &th->samples, &s);
}

/* Note the stack of the thread's calls, or of its calls in the kernel, after an event. Calls in the
 * kernel outside any call are left out, as in all programs. */
static int stack_after(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	const struct stack *s = calls_stack(f->calls, ev);
	bool kernel = ev->type->flags & TYPE_KERNEL;

	if (kernel && (!s || !s->count || s->frames[0].outside)) {
		th->kernel = STACK_ROOT;
		return 0;
	}
	return call_stacks_here(&f->stacks, ev, kernel ? &th->kernel : &th->user);
}

/* Get the whole stack of a thread. A task that is scheduled out in the kernel is so on top. */
static int firefox_stack(struct firefox *f, const struct firefox_thread *th, const struct event *ev,
			 uint32_t *node)
{
	const struct stack *user = calls_thread_stack(f->calls, calls_thread(ev));
	bool inner = user && user->count && user->frames[user->count - 1].inner;

	*node = th->kernel != STACK_ROOT ? th->kernel : th->user;
	if (th->kernel != STACK_ROOT && inner && th->user != STACK_ROOT)
		*node = stack_tree_child(&f->stacks.tree, th->kernel,
					 f->stacks.tree.nodes[th->user].name);
	return th->kernel != STACK_ROOT && *node == STACK_ROOT ? -1 : 0;
}

/* Note the stack of a thread after an event of a call. */
static int firefox_note_stack(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	uint32_t node;

	if (stack_after(f, th, ev) || firefox_stack(f, th, ev, &node))
		return -1;
	if (node == th->node)
		return 0;
	if (firefox_end_stack(f, th, ev->time))
		return -1;
	th->node = node;
	return 0;
}

/* Test whether samples of the type are events with fields of their own. */
static bool firefox_is_tracepoint(const struct type *t)
{
	return field_find(t, "common_type") != NULL;
}

/* Choose the type of the profile's samples: the first one of no tracepoint; if none is declared,
 * the first one. */
static void firefox_choose_type(struct firefox *f, const struct event *ev)
{
	const struct dictionary *d = f->calls->dictionary;

	f->subject = SUBJECT_SAMPLES;
	f->type = ev->type;
	if (!firefox_is_tracepoint(ev->type))
		return;
	for (uint32_t i = 1; i < d->types.count; i++) {
		const struct type *t = dictionary_type(d, i);

		if (t->kind == KIND_SAMPLE && !firefox_is_tracepoint(t) &&
		    !firefox_begins_with(t->name, "dummy")) {
			f->type = t;
			return;
		}
	}
}

/* Take a sample with this stack. */
static int firefox_sample(struct firefox *f, struct firefox_thread *th, const struct event *ev,
			  uint32_t node)
{
	struct firefox_sample s = {ev->time, sample_weight(ev), node};

	if (ev->type->kind == KIND_SAMPLE && sample_is_negative(ev)) {
		f->counts.negative++;
		return 0;
	}
	if (f->subject == SUBJECT_UNKNOWN)
		firefox_choose_type(f, ev);
	if (f->subject == SUBJECT_SAMPLES && sample_profile_same_type(f->type, ev->type))
		return record_add(&f->samples, &th->samples, &s);
	f->counts.left_out += !firefox_is_tracepoint(ev->type);
	return 0;
}

/*
 * The tables of stacks, frames, functions, resources and strings.
 *
 * The index of a frame is that of its function, which is the number of its name in the stacks'
 * names.
 */

static struct profile_name firefox_name_of(const struct firefox *f, uint32_t number)
{
	return profile_name_at(intern_data(&f->stacks.names, number) + FRAME_KEY_CATEGORY);
}

/* Number the stacks, callers first, after the last event. */
static int firefox_order(struct firefox *f)
{
	const struct stack_tree *t = &f->stacks.tree;
	size_t n;

	f->order = calloc(t->live + 1, sizeof(*f->order));
	f->index = calloc(t->count, sizeof(*f->index));
	n = f->order && f->index ? stack_tree_order(t, &f->stacks.names, f->order) : 0;
	for (size_t i = 1; i < n; i++)
		f->index[f->order[i]] = (uint32_t)i - 1;
	f->nstacks = n ? n - 1 : 0;
	return n ? 0 : -1;
}

static void begin_column(struct text *out, const char *name)
{
	text_puts(out, ",\n\"");
	text_puts(out, name);
	text_puts(out, "\":[");
}

/* Write "name":[ and the column of n numbers that value gives; -1 is null where null is set. */
static void firefox_put_column(struct firefox *f, struct text *out, const char *name, size_t n,
			       int64_t (*value)(const struct firefox *f, size_t i))
{
	begin_column(out, name);
	for (size_t i = 0; i < n && !text_failed(out); i++) {
		int64_t v = value(f, i);

		if (i)
			text_char(out, ',');
		if (v == INT64_MIN)
			text_puts(out, "null");
		else
			text_i64(out, v);
	}
	text_char(out, ']');
}

#define COLUMN(NAME, VALUE)                                                                        \
	static int64_t NAME(const struct firefox *f, size_t i)                                     \
	{                                                                                          \
		(void)f;                                                                           \
		(void)i;                                                                           \
		return VALUE;                                                                      \
	}

static int64_t or_null(uint32_t number)
{
	return number ? (int64_t)number - 1 : INT64_MIN;
}

static int64_t prefix_of(const struct firefox *f, size_t i)
{
	uint32_t parent = f->stacks.tree.nodes[f->order[i + 1]].parent;

	return parent == STACK_ROOT ? INT64_MIN : f->index[parent];
}

COLUMN(stack_frame, f->stacks.tree.nodes[f->order[i + 1]].name)
COLUMN(stack_prefix, prefix_of(f, i))
COLUMN(same, (int64_t)i)
COLUMN(zero, 0)
COLUMN(one, 1)
COLUMN(none, -1)
COLUMN(null, INT64_MIN)
COLUMN(category, *intern_data(&f->stacks.names, (uint32_t)i))
COLUMN(line, firefox_name_of(f, (uint32_t)i).line ? (int64_t)firefox_name_of(f, (uint32_t)i).line
						  : INT64_MIN)
COLUMN(func_name, f->name[i])
COLUMN(func_resource, (int64_t)f->module[i] - 1)
COLUMN(func_source, or_null(f->file[i]))

/* Write "name":[ of n times the same word. */
static void put_words(struct text *out, const char *name, size_t n, const char *word)
{
	begin_column(out, name);
	for (size_t i = 0; i < n && !text_failed(out); i++) {
		if (i)
			text_char(out, ',');
		text_puts(out, word);
	}
	text_char(out, ']');
}

/* Write "name":[ and the indexes of the strings of all texts. */
static int firefox_put_strings(struct firefox *f, struct text *out, const char *name,
			       const struct intern *texts)
{
	begin_column(out, name);
	for (uint32_t i = 0; i < texts->count; i++) {
		uint32_t number = intern(&f->strings, intern_data(texts, i), intern_size(texts, i));

		if (number == INTERN_NONE)
			return -1;
		if (i)
			text_char(out, ',');
		text_u64(out, number);
	}
	text_char(out, ']');
	return 0;
}

/* Get the number + 1 of a text; 0: it is empty. */
static int firefox_number_of(struct intern *in, const char *text, uint32_t *number)
{
	uint32_t n = *text ? intern_string(in, text) : 0;

	*number = *text ? n + 1 : 0;
	return n == INTERN_NONE ? -1 : 0;
}

static int make_frames(struct firefox *f)
{
	uint32_t n = f->stacks.names.count;

	f->name = calloc(n + (size_t)1, sizeof(*f->name));
	f->module = calloc(n + (size_t)1, sizeof(*f->module));
	f->file = calloc(n + (size_t)1, sizeof(*f->file));
	if (!f->name || !f->module || !f->file)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct profile_name p = firefox_name_of(f, i);

		f->name[i] = intern_string(&f->strings, p.name);
		if (f->name[i] == INTERN_NONE ||
		    firefox_number_of(&f->modules, p.module, &f->module[i]) ||
		    firefox_number_of(&f->files, p.file, &f->file[i]))
			return -1;
	}
	return 0;
}

static void begin_table(struct text *out, const char *name, size_t n)
{
	text_printf(out, "\"%s\":{\"length\":%zu", name, n);
}

static void firefox_put_frames(struct firefox *f, struct text *out)
{
	size_t n = f->stacks.names.count;

	begin_table(out, "stackTable", f->nstacks);
	firefox_put_column(f, out, "frame", f->nstacks, stack_frame);
	firefox_put_column(f, out, "prefix", f->nstacks, stack_prefix);
	text_puts(out, "},\n");
	begin_table(out, "frameTable", n);
	firefox_put_column(f, out, "address", n, none);
	firefox_put_column(f, out, "inlineDepth", n, zero);
	firefox_put_column(f, out, "category", n, category);
	firefox_put_column(f, out, "subcategory", n, zero);
	firefox_put_column(f, out, "func", n, same);
	firefox_put_column(f, out, "nativeSymbol", n, null);
	firefox_put_column(f, out, "innerWindowID", n, zero);
	firefox_put_column(f, out, "line", n, line);
	firefox_put_column(f, out, "column", n, null);
	text_puts(out, "},\n");
	begin_table(out, "funcTable", n);
	put_words(out, "isJS", n, "false");
	put_words(out, "relevantForJS", n, "false");
	firefox_put_column(f, out, "name", n, func_name);
	firefox_put_column(f, out, "resource", n, func_resource);
	firefox_put_column(f, out, "source", n, func_source);
	firefox_put_column(f, out, "lineNumber", n, line);
	firefox_put_column(f, out, "columnNumber", n, null);
	text_puts(out, "},\n");
}

static int put_resources(struct firefox *f, struct text *out)
{
	size_t n = f->modules.count, sources = f->files.count;

	begin_table(out, "resourceTable", n);
	firefox_put_column(f, out, "lib", n, same);
	if (firefox_put_strings(f, out, "name", &f->modules))
		return -1;
	firefox_put_column(f, out, "host", n, null);
	firefox_put_column(f, out, "type", n, one);
	text_puts(out, "},\n");
	begin_table(out, "nativeSymbols", 0);
	text_puts(out, ",\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\n");
	begin_table(out, "sources", sources);
	firefox_put_column(f, out, "id", sources, null);
	if (firefox_put_strings(f, out, "filename", &f->files))
		return -1;
	firefox_put_column(f, out, "startLine", sources, one);
	firefox_put_column(f, out, "startColumn", sources, one);
	firefox_put_column(f, out, "sourceMapURL", sources, null);
	text_puts(out, "},\n");
	return 0;
}

static int firefox_put_shared(struct firefox *f, struct text *out)
{
	int bad = make_frames(f);

	if (!bad) {
		text_puts(out, "\"shared\":{");
		firefox_put_frames(f, out);
		bad = put_resources(f, out);
	}
	text_puts(out, "\"stringArray\":[");
	for (uint32_t i = 0; i < f->strings.count && !bad && !text_failed(out); i++) {
		text_puts(out, i ? ",\n" : "\n");
		json_string(out, intern_data(&f->strings, i), intern_size(&f->strings, i));
	}
	text_puts(out, "]},\n\"libs\":[");
	for (uint32_t i = 0; i < f->modules.count && !bad; i++) {
		const char *path = intern_data(&f->modules, i), *base = strrchr(path, '/');
		size_t size = intern_size(&f->modules, i),
		       skip = base ? (size_t)(base - path) + 1 : 0;

		text_puts(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_string(out, path + skip, size - skip);
		text_puts(out, ",\"path\":");
		json_string(out, path, size);
		text_puts(out, ",\"debugName\":");
		json_string(out, path + skip, size - skip);
		text_puts(out, ",\"debugPath\":");
		json_string(out, path, size);
		text_puts(out, ",\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null}");
	}
	text_char(out, ']');
	return bad;
}

/* --- the threads of a profile, with their samples and markers --- */

enum { NS_MS = 1000000, TICKS_MS = 1000 };

/* Write a time, or the length of one, in ms; a tick is a microsecond. */
static void firefox_put_ms(const struct firefox *f, struct text *out, uint64_t time)
{
	unsigned unit = f->ticks ? TICKS_MS : NS_MS, width = f->ticks ? 3 : 6;
	uint64_t rest = time % unit;

	text_u64(out, time / unit);
	if (!rest)
		return;
	for (; rest % 10 == 0; width--)
		rest /= 10;
	text_char(out, '.');
	text_u64_wide(out, rest, width, '0');
}

/* A column of samples, or of markers. */
enum firefox_column {
	SAMPLE_TIME,
	SAMPLE_STACK,
	SAMPLE_WEIGHT,
	SAMPLE_CPU,
	MARKER_START,
	MARKER_END,
	MARKER_NAME,
	MARKER_PHASE,
	MARKER_CATEGORY,
	MARKER_DATA,
};

static void firefox_put_stack(struct firefox *f, struct text *out, uint32_t node)
{
	if (node == STACK_ROOT)
		text_puts(out, "null");
	else
		text_u64(out, f->index[stack_tree_resolve(&f->stacks.tree, node)]);
}

static void put_sample_cell(struct firefox *f, struct text *out, enum firefox_column column,
			    const struct firefox_sample *s, uint64_t *latest)
{
	bool time = f->subject == SUBJECT_CALLS || f->type->flags & TYPE_WEIGHT_TIME;

	switch (column) {
	case SAMPLE_TIME:
		/* a clock may step back; the times of the format must not */
		*latest = s->time > *latest ? s->time : *latest;
		firefox_put_ms(f, out, *latest - f->origin);
		break;
	case SAMPLE_STACK: firefox_put_stack(f, out, s->node); break;
	default:
		if (column == SAMPLE_WEIGHT && time)
			firefox_put_ms(f, out, s->weight);
		else
			text_u64(out, s->weight);
	}
}

static void put_marker_cell(struct firefox *f, struct text *out, enum firefox_column column,
			    const struct firefox_marker *m)
{
	switch (column) {
	case MARKER_START: firefox_put_ms(f, out, m->start - f->origin); break;
	case MARKER_END:
		if (m->interval)
			firefox_put_ms(f, out, m->end - f->origin);
		else
			text_puts(out, "null");
		break;
	case MARKER_NAME: text_u64(out, m->name); break;
	case MARKER_PHASE: text_char(out, m->interval ? '1' : '0'); break;
	case MARKER_CATEGORY: text_char(out, '0' + CATEGORY_OTHER); break;
	default:
		text_put_buffer(out, &f->data, m->data, m->size);
		if (m->node != STACK_ROOT) {
			text_puts(out, ",\"cause\":{\"time\":");
			firefox_put_ms(f, out, m->start - f->origin);
			text_puts(out, ",\"stack\":");
			firefox_put_stack(f, out, m->node);
			text_char(out, '}');
		}
		text_char(out, '}');
	}
}

/* Write a column of a thread, after its '['. */
static void firefox_put_rows(struct firefox *f, struct text *out, const struct firefox_thread *th,
			     enum firefox_column column)
{
	bool marker = column >= MARKER_START;
	struct record_cursor at = {0};
	uint64_t last = f->origin;
	const void *record;

	for (bool first = true; (record = record_next(marker ? &f->markers : &f->samples,
						      marker ? &th->markers : &th->samples, &at)) &&
				!text_failed(out);
	     first = false) {
		if (!first)
			text_char(out, ',');
		if (marker)
			put_marker_cell(f, out, column, record);
		else
			put_sample_cell(f, out, column, record, &last);
	}
	text_char(out, ']');
}

static void firefox_put_samples(struct firefox *f, struct text *out,
				const struct firefox_thread *th)
{
	bool weighs = f->subject == SUBJECT_CALLS || f->by_period;
	bool time = f->subject == SUBJECT_CALLS ||
		    (f->by_period && f->type && f->type->flags & TYPE_WEIGHT_TIME);

	text_printf(out, "\"samples\":{\"length\":%" PRIu64 ",\"weightType\":\"%s\",\n\"time\":[",
		    th->samples.count, time ? "tracing-ms" : "samples");
	firefox_put_rows(f, out, th, SAMPLE_TIME);
	text_puts(out, ",\n\"stack\":[");
	firefox_put_rows(f, out, th, SAMPLE_STACK);
	text_puts(out, weighs ? ",\n\"weight\":[" : ",\n\"weight\":null");
	if (weighs)
		firefox_put_rows(f, out, th, SAMPLE_WEIGHT);
	if (firefox_cpu_unit(f)) {
		text_puts(out, ",\n\"threadCPUDelta\":[");
		firefox_put_rows(f, out, th, SAMPLE_CPU);
	}
	text_puts(out, "},\n");
}

static void put_markers(struct firefox *f, struct text *out, const struct firefox_thread *th)
{
	static const char *const columns[] = {"startTime", "endTime",  "name",
					      "phase",	   "category", "data"};

	text_printf(out, "\"markers\":{\"length\":%" PRIu64, th->markers.count);
	for (int i = 0; i <= MARKER_DATA - MARKER_START; i++) {
		begin_column(out, columns[i]);
		firefox_put_rows(f, out, th, (enum firefox_column)(MARKER_START + i));
	}
	text_char(out, '}');
}

/* Find the thread that names each process: its main thread, else its first one. */
static int name_processes(const struct firefox *f, struct key_map *named)
{
	for (size_t i = 0; i < f->nthreads; i++) {
		const struct firefox_thread *th = f->threads[i];
		uint64_t *one = key_map_value(named, (uint32_t)th->pid);

		if (!one)
			return -1;
		if (!*one || th->tid == th->pid)
			*one = i + 1;
	}
	return 0;
}

static void firefox_put_thread(struct firefox *f, struct text *out, const struct firefox_thread *th,
			       const struct firefox_thread *process)
{
	text_puts(out, "{\"name\":");
	json_string(out, (const char *)th->name.data, th->name.size);
	text_puts(out, ",\"processName\":");
	json_string(out, (const char *)process->name.data, process->name.size);
	text_printf(out,
		    ",\"pid\":\"%d\",\"tid\":%d,\"isMainThread\":%s,\"processType\":\"default\","
		    "\"showMarkersInTimeline\":true,\"pausedRanges\":[],\"processStartupTime\":0,"
		    "\"processShutdownTime\":null,\"registerTime\":",
		    th->pid, th->tid, th->pid == th->tid ? "true" : "false");
	firefox_put_ms(f, out, th->first - f->origin);
	text_puts(out, ",\"unregisterTime\":");
	firefox_put_ms(f, out, th->last - f->origin);
	text_puts(out, ",\n");
	firefox_put_samples(f, out, th);
	put_markers(f, out, th);
	text_char(out, '}');
}

static int firefox_put_threads(struct firefox *f, struct text *out)
{
	const struct firefox_thread nothing = {0};
	struct key_map named = {0}; /* by pid: index of the thread + 1 */
	int bad = name_processes(f, &named);

	text_puts(out, "\"threads\":[");
	for (size_t i = 0; i < f->nthreads && !bad; i++) {
		const struct firefox_thread *th = f->threads[i];

		text_puts(out, i ? ",\n" : "\n");
		firefox_put_thread(f, out, th,
				   f->threads[key_map_get(&named, (uint32_t)th->pid) - 1]);
	}
	/* readers take no profile without a thread */
	if (!f->nthreads)
		firefox_put_thread(f, out, &nothing, &nothing);
	text_puts(out, "],\n");
	key_map_free(&named);
	return bad;
}

/* --- firefox --- */

/* The data of an open call with a number: the bytes of f->kept that are its attributes. */
struct kept_call {
	uint64_t at, size;
};

/* The key of a frame: its category, and the key of a function. */
static int frame_key(struct buffer *to, const struct location *p, struct text_ref name)
{
	bool kernel = p && ((p->symbol && p->symbol->flags & SYMBOL_KERNEL) ||
			    (p->space && p->space->flags & SPACE_KERNEL));
	/* times in which a task is scheduled out are calls of uftrace */
	enum firefox_category c = firefox_begins_with(name, "linux:schedule") ? CATEGORY_IDLE
				  : kernel				      ? CATEGORY_KERNEL
				  : p					      ? CATEGORY_USER
									      : CATEGORY_OTHER;

	return buffer_u8(to, (uint8_t)c) || profile_name_key(to, p, name) ? -1 : 0;
}

/* --- threads --- */

static int firefox_begin_thread(struct firefox *f, struct track *t, uint64_t time)
{
	struct firefox_thread *th;

	if (ARRAY_GROW(f->threads, f->capacity, f->nthreads))
		return -1;
	th = calloc(1, sizeof(*th));
	if (!th)
		return -1;
	*th = (struct firefox_thread){.pid = t->pid,
				      .tid = t->tid,
				      .first = time,
				      .last = time,
				      .since = time,
				      .node = STACK_ROOT,
				      .user = STACK_ROOT,
				      .kernel = STACK_ROOT};
	f->threads[f->nthreads++] = th;
	t->user = th;
	return 0;
}

static struct firefox_thread *firefox_thread_of(struct firefox *f, const struct event *ev)
{
	struct track *t = tracks_get(&f->tracks, calls_thread(ev), ev->lane);
	struct firefox_thread *th;

	if (!t || (!t->user && firefox_begin_thread(f, t, ev->time)))
		return NULL;
	th = t->user;
	if (t->renamed) {
		t->renamed = false;
		th->name.size = 0;
		if (track_name(t, ev->lane, &th->name))
			return NULL;
	}
	if (ev->time > th->last)
		th->last = ev->time;
	if (ev->time < th->first)
		th->first = ev->time;
	return th;
}

/* --- markers --- */

/* Get the index of the string that names an event: of its function, or of its type. */
static int event_name(struct firefox *f, const struct event *ev, uint32_t *name)
{
	struct text_ref text =
		ev->location && ev->type->kind != KIND_SAMPLE
			? dictionary_location_name(f->calls->dictionary, ev->location)
			: ev->type->name;

	*name = intern(&f->strings, text.text, text.size);
	return *name == INTERN_NONE ? -1 : 0;
}

/* Get the node of the stack that an event names in a field, as kernel_stack of ftrace does. */
static int named_stack(struct firefox *f, const struct event *ev, uint32_t *node)
{
	const struct field *field =
		ev->type->has_stacks ? field_by_role(ev->type, ROLE_STACK) : NULL;
	struct field_value v;

	if (!field)
		return 0;
	field_get(ev, field, 0, &v);
	return call_stacks_recorded(&f->stacks, STACK_ROOT,
				    dictionary_stack_id(f->calls->dictionary, (uint32_t)v.u), node);
}

static int32_t firefox_cpu_of(const struct lane *lane)
{
	return lane->flags & LANE_HAS_CPU ? lane->cpu : -1;
}

static int take_instant(struct firefox *f, struct firefox_thread *th, const struct event *ev,
			uint32_t node)
{
	struct firefox_marker m = {
		.start = ev->time, .end = ev->time, .node = node, .cpu = firefox_cpu_of(ev->lane)};

	buffer_clear(&f->bytes);
	if (named_stack(f, ev, &m.node) || event_name(f, ev, &m.name) ||
	    attributes_append(&f->attributes, ev, &f->bytes))
		return -1;
	return firefox_marker(f, th, m, ev->type->name, &f->bytes);
}

/* Add a call with a number, which may overlap others; leave NULL: it has none. */
static int take_numbered(struct firefox *f, struct firefox_thread *th, const struct call *call,
			 const struct event *leave)
{
	const struct kept_call *kept = call->data;
	struct firefox_marker m = {.start = call->end - call->total,
				   .end = call->end,
				   .interval = true,
				   .cpu = call->lane ? firefox_cpu_of(call->lane) : -1};
	struct text_ref name = dictionary_location_name(f->calls->dictionary, call->location);
	struct buffer *bytes = &f->bytes;

	m.name = intern(&f->strings, name.text, name.size);
	buffer_clear(bytes);
	return m.name == INTERN_NONE ||
			       (kept &&
				buffer_append_from(bytes, &f->kept, kept->at, kept->size)) ||
			       (leave && attributes_append(&f->attributes, leave, bytes)) ||
			       firefox_marker(f, th, m, name, bytes)
		       ? -1
		       : 0;
}

/* --- events --- */

static void firefox_count_lost(void *ctx, struct stack *s, const struct frame *frame, void *data,
			       enum calls_lost why)
{
	struct firefox *f = ctx;

	(void)s;
	(void)frame;
	(void)data;
	(void)why;
	f->counts.lost++;
}

/* Take the enter or the leave of a call. */
static int firefox_take_call(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	struct kept_call *kept;
	struct call done;
	uint32_t node;
	enum calls_result got = calls_next(f->calls, ev, &done);

	if (f->calls->out_of_memory)
		return -1;
	if (ev->type->flags & TYPE_CALL_NUMBER) {
		if (got != CALLS_ENTER)
			return got == CALLS_LEAVE ? take_numbered(f, th, &done, ev) : 0;
		kept = done.data;
		kept->at = f->kept.size;
		if (attributes_append(&f->attributes, ev, &f->kept))
			return -1;
		kept->size = f->kept.size - kept->at;
		return 0;
	}
	if ((got == CALLS_ENTER && call_stacks_enter(&f->stacks, ev)) ||
	    (got == CALLS_LEAVE && call_stacks_leave(&f->stacks, ev, &done, &node)))
		return -1;
	f->counts.values += ev->tail_size != 0;
	if (f->subject == SUBJECT_UNKNOWN)
		f->subject = SUBJECT_CALLS;
	f->counts.left_out += f->subject != SUBJECT_CALLS && got == CALLS_LEAVE;
	return f->subject == SUBJECT_CALLS ? firefox_note_stack(f, th, ev) : 0;
}

static int firefox_take_other(struct firefox *f, struct firefox_thread *th, const struct event *ev)
{
	uint32_t node = STACK_ROOT;
	struct call done;

	calls_next(f->calls, ev, &done);
	if (f->calls->out_of_memory)
		return -1;
	if (f->subject == SUBJECT_CALLS && firefox_stack(f, th, ev, &node))
		return -1;
	if (ev->type->kind == KIND_SAMPLE) {
		if (call_stacks_recorded(&f->stacks, STACK_ROOT, ev->stack, &node) ||
		    firefox_sample(f, th, ev, node))
			return -1;
		if (!firefox_is_tracepoint(ev->type))
			return 0;
	}
	return ev->type->kind == KIND_DROP ? 0 : take_instant(f, th, ev, node);
}

static int firefox_event(struct encoding *en, const struct event *ev, struct error *e)
{
	struct firefox *f = en->state;
	struct firefox_thread *th = firefox_thread_of(f, ev);
	bool call = ev->type->kind == KIND_ENTER || ev->type->kind == KIND_LEAVE;

	if (!th)
		return error_no_memory(e);
	if (!f->started) {
		f->started = true;
		f->first = ev->time;
		f->ticks = !en->options->tick && ev->lane->clock &&
			   ev->lane->clock->flags & CLOCK_TICKS;
	}
	f->last = ev->time > f->last ? ev->time : f->last;
	return (call ? firefox_take_call(f, th, ev) : firefox_take_other(f, th, ev))
		       ? error_no_memory(e)
		       : 0;
}

static int firefox_meta(struct encoding *en, const struct meta *m, struct error *e)
{
	struct firefox *f = en->state;

	return attributes_meta(&f->attributes, m) ? error_no_memory(e) : 0;
}

/* --- the run --- */

static int firefox_begin(struct encoding *en, struct error *e)
{
	const char *weight = en->options->weight;
	struct firefox *f = calloc(1, sizeof(*f));

	if (!f)
		return error_no_memory(e);
	en->state = f;
	if (weight && strcmp(weight, "count") != 0 && strcmp(weight, "period") != 0 &&
	    strcmp(weight, "dur") != 0)
		return error_set(e, NULL, NO_OFFSET,
				 "--weight of firefox is dur, count or period, not '%s'", weight);
	f->by_period = weight && !strcmp(weight, "period");
	f->keep_times = en->options->flags & ENCODE_KEEP_TIMES;
	f->quiet = en->options->flags & ENCODE_QUIET;
	f->data.spills = f->kept.spills = true;
	f->bytes.spills = f->json.spills = f->one.spills = true;
	record_store_init(&f->samples, sizeof(struct firefox_sample));
	record_store_init(&f->markers, sizeof(struct firefox_marker));
	f->calls = en->calls;
	f->calls->data_size = sizeof(struct kept_call);
	f->calls->on_lost = firefox_count_lost;
	f->calls->on_lost_ctx = f;
	attributes_init(&f->attributes, en->dictionary);
	if (call_stacks_init(&f->stacks, f->calls, frame_key))
		return error_no_memory(e);
	call_stacks_follow(&f->stacks, f->calls);
	f->stacks.tree.keep = true;
	return 0;
}

/* End all open calls, and the last stack of each thread. */
static int end_threads(struct firefox *f)
{
	struct firefox_thread *th;
	struct call done;
	uint32_t node;

	for (size_t i = 0; i < f->nthreads && f->subject == SUBJECT_CALLS; i++)
		if (firefox_end_stack(f, f->threads[i], f->threads[i]->last))
			return -1;
	if (call_stacks_catch_up(&f->stacks))
		return -1;
	while (calls_finish(f->calls, &done)) {
		if (!done.type || !(done.type->flags & TYPE_CALL_NUMBER)) {
			if (call_stacks_finish(&f->stacks, &done, &node))
				return -1;
			continue;
		}
		th = done.lane && done.lane->thread < f->tracks.count
			     ? f->tracks.tracks[done.lane->thread].user
			     : NULL;
		if (th && take_numbered(f, th, &done, NULL))
			return -1;
	}
	return call_stacks_end(&f->stacks) || f->calls->out_of_memory ? -1 : firefox_order(f);
}

static uint64_t firefox_origin(const struct firefox *f)
{
	uint64_t origin = f->keep_times || !f->started ? 0 : f->first;

	for (size_t i = 0; i < f->nthreads && !f->keep_times; i++)
		if (f->threads[i]->first < origin)
			origin = f->threads[i]->first;
	return origin;
}

/* Write the time between two samples of the thread that has most of them, in ms. */
static void firefox_put_interval(const struct firefox *f, struct text *out)
{
	const struct firefox_thread *most = NULL;

	for (size_t i = 0; i < f->nthreads; i++)
		if (!most || f->threads[i]->samples.count > most->samples.count)
			most = f->threads[i];
	if (most && most->samples.count > 1 && most->last > most->first)
		firefox_put_ms(f, out, (most->last - most->first) / most->samples.count);
	else
		text_char(out, '1');
}

static void put_meta(struct firefox *f, struct text *out)
{
	const char *cpu = firefox_cpu_unit(f);

	text_printf(
		out,
		"{\"meta\":{\"product\":\"trutils\",\"importedFrom\":\"trencode " TRUTILS_VERSION
		"\",\"version\":%d,\"preprocessedProfileVersion\":%d,\"processType\":0,"
		"\"stackwalk\":1,\"symbolicated\":true,\"symbolicationNotSupported\":true,"
		"\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		"\"startTime\":0,\"profilingStartTime\":0,\"profilingEndTime\":",
		FIREFOX_GECKO_VERSION, FIREFOX_VERSION);
	firefox_put_ms(f, out, f->last > f->origin ? f->last - f->origin : 1);
	text_puts(out, ",\"interval\":");
	firefox_put_interval(f, out);
	text_puts(
		out,
		",\n\"categories\":["
		"{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		"{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}],\n");
	if (cpu)
		text_printf(out,
			    "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
			    "\"threadCPUDelta\":\"%s\"},\n",
			    cpu);
	text_puts(out, "\"markerSchema\":");
	firefox_put_schemas(f, out);
	text_puts(out, "},\n");
}

static void firefox_report(const struct firefox *f)
{
	if (f->stacks.unnamed)
		remark(NULL,
		       "some functions have an address but no name: run trsym before this program");
	convert_report_calls(&f->calls->counts, f->counts.lost, false, false);
	if (f->counts.left_out && f->subject == SUBJECT_SAMPLES)
		remark(NULL,
		       "the profile is of the samples of '%s', the first type: choose others with "
		       "trfilter 'type == ...'",
		       f->type->name.text);
	remark_count(f->counts.left_out,
		     f->subject == SUBJECT_CALLS
			     ? "{sample|samples} left out: the profile is of calls"
			     : "{event|events} of calls and of other types of samples left out");
	remark_count(f->counts.negative, SAMPLES_NEGATIVE);
	remark_count(f->counts.values,
		     "{call|calls} without {its|their} arguments: stacks have no arguments");
	attributes_report(&f->attributes);
}

static int firefox_end(struct encoding *en, struct error *e)
{
	struct firefox *f = en->state;
	const char *weight = en->options->weight;

	if (f->subject == SUBJECT_SAMPLES && weight && !strcmp(weight, "dur"))
		return error_set(
			e, NULL, NO_OFFSET,
			"--weight dur: the trace has samples, which weigh count or period");
	if (end_threads(f))
		return error_no_memory(e);
	f->origin = firefox_origin(f);
	put_meta(f, en->text);
	if (firefox_put_threads(f, en->text) || firefox_put_shared(f, en->text))
		return error_no_memory(e);
	text_puts(en->text, "}\n");
	if (!f->quiet)
		firefox_report(f);
	return 0;
}

static void firefox_free(struct encoding *en)
{
	struct firefox *f = en->state;

	if (!f)
		return;
	for (size_t i = 0; i < f->nthreads; i++) {
		buffer_free(&f->threads[i]->name);
		free(f->threads[i]);
	}
	free(f->threads);
	record_store_free(&f->samples);
	record_store_free(&f->markers);
	buffer_free(&f->data);
	buffer_free(&f->kept);
	buffer_free(&f->bytes);
	buffer_free(&f->json);
	buffer_free(&f->one);
	intern_free(&f->strings);
	intern_free(&f->schemas.names);
	intern_free(&f->schemas.keys);
	free(f->schemas.fields);
	free(f->schemas.last);
	tracks_free(&f->tracks);
	attributes_free(&f->attributes);
	call_stacks_free(&f->stacks);
	intern_free(&f->modules);
	intern_free(&f->files);
	free(f->name);
	free(f->module);
	free(f->file);
	free(f->index);
	free(f->order);
	free(f);
	en->state = NULL;
}

const struct encoder encoder_firefox = {
	.name = "firefox",
	.suffixes = ".firefox.json",
	.purpose = "samples, calls and events, for profiler.firefox.com",
	.output = ENCODER_TEXT,
	.report = true,
	.timeline = true,
	.deferred = true,
	.drops = true,
	.begin = firefox_begin,
	.meta = firefox_meta,
	.event = firefox_event,
	.end = firefox_end,
	.free = firefox_free,
};

/*
 * writer.c - the writers of libtrstream
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/library/trstream.h"
#include "common/stream/writer.h"
#include "common/util/hash.h"
#include "common/util/output.h"

enum {
	FIELDS_MOST = 1000,
	TAIL_MOST = 16 << 20, /* bytes of the texts of an event */
};
#define TIME_MOST ((1ull << 62) - 1)

/* The fields of a type, by its id. */
struct library_type {
	uint8_t *forms; /* NULL: no such type */
	uint32_t nfields, numbers, texts;
	bool sample;
};

struct trstream_writer {
	struct output output;
	struct writer out;
	struct error error;
	char text[sizeof(struct error) + 32]; /* of the error */
	uint32_t source, clock, enter, leave;
	uint64_t last; /* time of the last event */
	struct library_type *types;
	size_t ntypes;
	struct buffer fixed, tail;
	struct id_cache threads;  /* ids by lane_entry */
	struct key_map functions; /* ids by the id of the name */
};

static int library_refuse(struct trstream_writer *w, const char *what)
{
	return error_set(&w->error, NULL, NO_OFFSET, "%s", what);
}

/* Take over the writer's error. Returns -1. */
static int library_failed(struct trstream_writer *w)
{
	if (!w->out.error.what[0])
		return error_no_memory(&w->error);
	w->error = w->out.error;
	return -1;
}

static void free_writer(struct trstream_writer *w)
{
	for (size_t i = 0; i < w->ntypes; i++)
		free(w->types[i].forms);
	free(w->types);
	buffer_free(&w->fixed);
	buffer_free(&w->tail);
	id_cache_free(&w->threads);
	key_map_free(&w->functions);
	writer_free(&w->out);
	free(w);
}

/* Get an id that no other stream has. */
static uint64_t new_stream_id(const char *name)
{
	struct siphash_key key = siphash_key(name);
	struct timespec now;
	uint64_t words[3];

	clock_gettime(CLOCK_REALTIME, &now);
	words[0] = (uint64_t)now.tv_sec;
	words[1] = (uint64_t)now.tv_nsec;
	words[2] = (uint64_t)getpid();
	return siphash(&key, words, sizeof words);
}

/* Write HEAD and declare what all events need. */
static int common_writer_begin(struct trstream_writer *w, const char *name, const char *clock)
{
	struct clock_entry c = {.flags = strcmp(clock, "wall") ? 0 : CLOCK_IS_WALL};

	if (writer_init(&w->out, &w->output, 0) || writer_begin(&w->out, new_stream_id(name)))
		return -1;
	c.name = writer_text(&w->out, clock);
	w->source =
		writer_source(&w->out, &(struct source_entry){writer_text(&w->out, "trstream"),
							      writer_text(&w->out, name), 0, 0});
	w->clock = writer_clock(&w->out, &c);
	w->enter = trstream_writer_type(w, TRSTREAM_ENTER, "", NULL, 0);
	w->leave = trstream_writer_type(w, TRSTREAM_LEAVE, "", NULL, 0);
	return w->source && w->clock && w->enter && w->leave ? 0 : -1;
}

struct trstream_writer *trstream_writer_open(const char *path, const char *name, const char *clock)
{
	struct trstream_writer *w = calloc(1, sizeof *w);
	int cause;

	if (!w)
		return NULL;
	errno = 0;
	if (output_open(&w->output, path, OUTPUT_BINARY, &w->error)) {
		cause = errno ? errno : EINVAL;
		free(w);
		errno = cause;
		return NULL;
	}
	if (!common_writer_begin(w, name, clock))
		return w;
	cause = errno ? errno : ENOMEM;
	output_close(&w->output, STATUS_FAILED, &w->error);
	free_writer(w);
	errno = cause;
	return NULL;
}

uint32_t trstream_writer_thread(struct trstream_writer *w, int cpu, int tid, int pid,
				const char *comm)
{
	struct lane_entry l = {
		.source = w->source, .clock = w->clock, .cpu = cpu, .tid = tid, .pid = pid};
	uint32_t id;

	l.comm = writer_text(&w->out, comm);
	l.flags = (cpu >= 0 ? LANE_HAS_CPU : 0) | (tid >= 0 ? LANE_HAS_TID : 0) |
		  (pid >= 0 ? LANE_HAS_PID : 0);
	id = writer_lane_once(&w->out, &w->threads, &l);
	if (!id)
		library_failed(w);
	return id;
}

/* --- types --- */

/* Describe a field, and note it in t. */
static struct field_entry make_field(struct trstream_writer *w, const struct trstream_field *f,
				     struct library_type *t)
{
	struct field_entry e = {.name = writer_text(&w->out, f->name), .size = 8};

	t->forms[t->nfields++] = (uint8_t)f->form;
	if (f->form == TRSTREAM_TEXT) {
		e.kind = FIELD_STRING;
		e.where = WHERE_STRING;
		e.size = 1;
		e.offset = t->texts++;
		return e;
	}
	e.kind = f->form == TRSTREAM_REAL  ? FIELD_FLOAT
		 : f->form == TRSTREAM_INT ? FIELD_INT
					   : FIELD_UINT;
	if (t->sample && f->form == TRSTREAM_UINT && !strcmp(f->name, "weight"))
		e.role = ROLE_PERIOD;
	e.offset = 8 * t->numbers++;
	return e;
}

/* Declare a type whose forms are filled in t. */
static uint32_t writer_declare_type(struct trstream_writer *w, enum trstream_kind kind,
				    const char *name, const struct field_entry *fields,
				    const struct library_type *t)
{
	struct type_entry e = {.source = w->source,
			       .kind = (uint8_t)kind,
			       .fixed_size = 8 * t->numbers,
			       .flags = t->texts ? TYPE_TAIL : 0,
			       .nfields = t->nfields,
			       .fields = fields};
	uint32_t id;

	e.name = writer_text(&w->out, name);
	id = writer_type(&w->out, &e);
	if (!id || ARRAY_REACH(w->types, w->ntypes, id))
		return 0;
	w->types[id] = *t;
	return id;
}

uint32_t trstream_writer_type(struct trstream_writer *w, enum trstream_kind kind, const char *name,
			      const struct trstream_field *fields, uint32_t nfields)
{
	struct field_entry entries[FIELDS_MOST];
	struct library_type t = {.sample = kind == TRSTREAM_SAMPLE};
	uint32_t id;

	if (((unsigned)kind >= TRSTREAM_GAP && !t.sample) || nfields > FIELDS_MOST) {
		library_refuse(w, "a type of an impossible kind, or of too many fields");
		return 0;
	}
	t.forms = malloc(nfields + 1);
	for (uint32_t i = 0; t.forms && i < nfields; i++) {
		if (fields[i].form <= TRSTREAM_NONE || fields[i].form > TRSTREAM_TEXT) {
			library_refuse(w, "a field without a form");
			free(t.forms);
			return 0;
		}
		entries[i] = make_field(w, &fields[i], &t);
	}
	id = t.forms ? writer_declare_type(w, kind, name, entries, &t) : 0;
	if (id)
		return id;
	library_failed(w);
	free(t.forms);
	return 0;
}

/* --- events --- */

/* Check what every event has. */
static int check_event(struct trstream_writer *w, uint64_t time, uint32_t thread)
{
	if (!thread || thread >= w->out.entries[ENTRY_LANE].count)
		return library_refuse(w, "an event of an undeclared thread");
	if (time > TIME_MOST)
		return library_refuse(w, "the time of an event is out of range");
	if (time < w->last)
		return library_refuse(w, "an event is earlier than the one before it");
	w->last = time;
	return 0;
}

static int writer_put_text(struct trstream_writer *w, const struct trstream_value *v)
{
	size_t n = v->text ? strnlen(v->text, v->size) : 0;

	if (n > TAIL_MOST || w->tail.size > TAIL_MOST - n)
		return library_refuse(w, "the texts of an event exceed 16 MiB");
	return buffer_append(&w->tail, v->text, n) || buffer_u8(&w->tail, 0)
		       ? error_no_memory(&w->error)
		       : 0;
}

/* Get the location of a function; 0: an error. */
static uint32_t function_location(struct trstream_writer *w, const char *name)
{
	struct location_entry l = {.name = writer_text(&w->out, name)};
	uint32_t *id = key_map_number(&w->functions, l.name);

	if (id && !*id)
		*id = writer_location(&w->out, &l);
	return id ? *id : 0;
}

/* Encode the values of an event. */
static int writer_put_values(struct trstream_writer *w, const struct library_type *t,
			     const struct trstream_value *v)
{
	buffer_clear(&w->fixed);
	buffer_clear(&w->tail);
	for (uint32_t i = 0; i < t->nfields; i++, v++) {
		uint64_t bits = t->forms[i] == TRSTREAM_INT ? (uint64_t)v->i : v->u;

		if (t->forms[i] != v->form)
			return library_refuse(w, "a value has another form than its field");
		if (v->form == TRSTREAM_TEXT) {
			if (writer_put_text(w, v))
				return -1;
			continue;
		}
		if (v->form == TRSTREAM_REAL)
			memcpy(&bits, &v->real, sizeof bits);
		if (buffer_u64(&w->fixed, bits))
			return error_no_memory(&w->error);
	}
	return 0;
}

/* Fill in the values of a row whose time, lane and type are set. */
static int writer_fill_row(struct trstream_writer *w, struct new_row *row, bool sample,
			   const struct trstream_value *values)
{
	const struct library_type *t = row->type < w->ntypes ? &w->types[row->type] : NULL;

	if (!t || !t->forms)
		return library_refuse(w, "an event of an undeclared type");
	if (t->sample != sample)
		return library_refuse(w, sample ? "a sample of a type of another kind"
						: "an event of a type of samples");
	if (check_event(w, row->time, row->lane) || writer_put_values(w, t, values))
		return -1;
	row->fixed = w->fixed.data;
	row->fixed_size = (uint32_t)w->fixed.size;
	row->tail = w->tail.data;
	row->tail_size = (uint32_t)w->tail.size;
	row->has_tail = t->texts > 0;
	return 0;
}

int trstream_writer_event(struct trstream_writer *w, uint64_t time, uint32_t thread, uint32_t type,
			  const char *name, const struct trstream_value *values)
{
	struct new_row row = {.time = time, .lane = thread, .type = type};

	if (writer_fill_row(w, &row, false, values))
		return -1;
	if (name) {
		row.location = function_location(w, name);
		if (!row.location)
			return library_failed(w);
	}
	return writer_row_data(&w->out, row) ? library_failed(w) : 0;
}

uint32_t trstream_writer_stack(struct trstream_writer *w, uint32_t caller, const char *name)
{
	uint32_t location, stack;

	if (caller > stack_table_count(&w->out.stacks.table)) {
		library_refuse(w, "a stack of an undeclared caller");
		return 0;
	}
	location = function_location(w, name);
	stack = location ? writer_stack(&w->out, caller, location) : 0;
	if (!stack)
		library_failed(w);
	return stack;
}

int trstream_writer_sample(struct trstream_writer *w, uint64_t time, uint32_t thread, uint32_t type,
			   uint32_t stack, const struct trstream_value *values)
{
	struct new_row row = {.time = time, .lane = thread, .type = type, .location = stack};

	if (stack > stack_table_count(&w->out.stacks.table))
		return library_refuse(w, "a sample of an undeclared stack");
	if (writer_fill_row(w, &row, true, values))
		return -1;
	return writer_sample(&w->out, row) ? library_failed(w) : 0;
}

int trstream_writer_enter(struct trstream_writer *w, uint64_t time, uint32_t thread,
			  const char *name)
{
	return trstream_writer_event(w, time, thread, w->enter, name, NULL);
}

int trstream_writer_leave(struct trstream_writer *w, uint64_t time, uint32_t thread,
			  const char *name)
{
	return trstream_writer_event(w, time, thread, w->leave, name, NULL);
}

int trstream_writer_lost(struct trstream_writer *w, uint64_t time, uint32_t thread, uint64_t count)
{
	struct gap gap = {
		.reason = GAP_LOST, .unit = GAP_EVENTS, .count = count, .offset = NO_OFFSET};

	if (check_event(w, time, thread))
		return -1;
	return writer_gap(&w->out, time, thread, &gap) ? library_failed(w) : 0;
}

const char *trstream_writer_error(struct trstream_writer *w)
{
	error_text(&w->error, w->text, sizeof w->text);
	return w->text;
}

int trstream_writer_close(struct trstream_writer *w, const char *failed)
{
	int bad, cause;

	errno = 0;
	if (failed)
		writer_status(&w->out, STATUS_FAILED, failed, NULL);
	bad = writer_finish(&w->out) || w->out.broken || w->out.out_of_memory;
	cause = errno;
	bad |= output_close(&w->output, bad || failed ? STATUS_FAILED : STATUS_OK, &w->error);
	cause = cause ? cause : errno ? errno : EIO;
	free_writer(w);
	if (bad)
		errno = cause;
	return bad ? -1 : 0;
}

/*
 * pprof.c - profiles of pprof
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/frames.h"
#include "cmd/trdecode/input.h"
#include "cmd/trdecode/rows.h"
#include "common/protobuf/protobuf.h"
#include "common/util/buffer.h"
#include "common/util/intern.h"
#include "common/util/output.h"
#include "common/util/text_span.h"

/*
 * The tables of a profile.proto: strings, functions, locations, mappings.
 *
 * The message is kept as it is, in memory or in a temporary file. Its tables are views of it, which
 * are found in one pass; the content of an entry is read when a sample first needs it.
 *
 * Source: proto/profile.proto of github.com/google/pprof, whose fields the numbers below are.
 */

/* Profile */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_DURATION = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	PROFILE_LAST = 15,
};

/* ValueType, and the field that Mapping, Location and Function have first */
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { ENTRY_ID = 1 };

enum { VALUES_MOST = 16 }; /* values of a sample; the format has no limit, programs use up to 6 */

/* A name as an index of the strings. */
struct value_type {
	uint64_t type, unit;
};

/* Entries of a table, and their numbers by id. */
struct profile_table {
	struct protobuf_view *entry;
	size_t count, capacity;
	struct key_map numbers; /* + 1 */
};

/* --- the state of the decoder of profile.proto --- */

/* The frames of a location: innermost first, ids of the writer's locations. */
struct location_frames {
	uint32_t begin, count; /* in pprof.frames, in ids; count 0: not yet known */
};

struct pprof_decoder {
	struct {
		struct buffer data;	      /* the message; it spills */
		struct protobuf_view samples; /* from the first sample on */
		struct profile_table strings, mappings, locations, functions;
		struct value_type types[VALUES_MOST], period_type;
		unsigned ntypes;
		/* ns; default_type: a string */
		uint64_t nsamples, time, duration, period, default_type;
		struct buffer comments; /* u64 each: a string */
	} profile;
	struct input *input;
	struct writer *w;
	struct frame_locations named; /* functions without an address */
	uint32_t source, clock;
	struct buffer frames;		  /* u32 each */
	struct location_frames *location; /* as many as locations */
	uint32_t *space;		  /* ids, as many as mappings + 1: the last is of none */
	/* how a type of samples shows a value or a label */
	struct {
		unsigned weight;	   /* number of the value that samples weigh */
		unsigned count;		   /* of the value that counts them; VALUES_MOST: none */
		uint64_t unit;		   /* ns of the weight's unit; 0: it is no time */
		struct id_cache by_labels; /* ids, by the keys of the labels */
	} types;
	struct id_cache lanes;
	struct protobuf_view rest, sample; /* the next samples, and the present one */
	uint64_t number;		   /* of the present sample, from 1 */
	uint64_t elapsed;		   /* ns: the weights of the samples before it */
	struct buffer stack, fixed, tail, key;
};

/* Test whether a field of Profile has the wire type of its number. Lists of numbers may be packed;
 * later versions may have more fields. */
static bool known_field(const struct protobuf_field *f)
{
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
	case PROFILE_SAMPLE:
	case PROFILE_MAPPING:
	case PROFILE_LOCATION:
	case PROFILE_FUNCTION:
	case PROFILE_STRING:
	case PROFILE_PERIOD_TYPE: return f->wire == PROTOBUF_LENGTH;
	case PROFILE_COMMENT: return f->wire == PROTOBUF_LENGTH || f->wire == PROTOBUF_VARINT;
	}
	return f->number > PROFILE_LAST || f->wire == PROTOBUF_VARINT;
}

/* Test whether a message has only the numbers of a ValueType. */
static bool is_value_type(struct protobuf_view message)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&message, &f)) > 0)
		if ((f.number != VALUE_TYPE && f.number != VALUE_UNIT) || f.wire != PROTOBUF_VARINT)
			return false;
	return !got;
}

/* Test whether bytes, of which there may be more, begin a profile: all fields are those of one, and
 * there is a type of its values. any: the type may come later. */
static bool profile_begins(struct protobuf_view head, bool any)
{
	struct protobuf_field f;
	bool has_type = false;
	unsigned fields = 0;

	for (; protobuf_next(&head, &f) > 0; fields++) {
		if (!known_field(&f) ||
		    (f.number == PROFILE_SAMPLE_TYPE && !is_value_type(f.bytes)))
			return false;
		has_type |= f.number == PROFILE_SAMPLE_TYPE;
	}
	return fields > 1 && (has_type || any);
}

/* Get a string; an index beyond them gives an empty one. */
static struct protobuf_view profile_string(const struct pprof_decoder *p, uint64_t index)
{
	return index < p->profile.strings.count ? p->profile.strings.entry[index]
						: (struct protobuf_view){NULL, NULL};
}

/* Find an entry by its id. Returns its number + 1; 0: there is none. */
static uint32_t profile_find(const struct profile_table *t, uint64_t id)
{
	return (uint32_t)key_map_get(&t->numbers, id);
}

/* --- reading --- */

static int pprof_add_entry(struct profile_table *t, struct protobuf_view message)
{
	if (ARRAY_GROW(t->entry, t->capacity, t->count))
		return -1;
	t->entry[t->count++] = message;
	return 0;
}

/* Add an entry that has an id; of equal ids the first is valid. */
static int add_numbered(struct profile_table *t, struct protobuf_view message)
{
	struct protobuf_view rest = message;
	struct protobuf_field f;
	uint64_t id = 0;
	uint32_t *number;

	while (protobuf_next(&rest, &f) > 0)
		if (f.number == ENTRY_ID)
			id = f.value;
	number = key_map_number(&t->numbers, id);
	if (!number || pprof_add_entry(t, message))
		return -1;
	if (!*number)
		*number = (uint32_t)t->count;
	return 0;
}

static struct value_type read_value_type(struct protobuf_view message)
{
	struct value_type v = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0) {
		if (f.number == VALUE_TYPE)
			v.type = f.value;
		else if (f.number == VALUE_UNIT)
			v.unit = f.value;
	}
	return v;
}

static int add_comments(struct pprof_decoder *p, struct protobuf_field *f)
{
	struct protobuf_view list = f->bytes;
	uint64_t string;

	while (protobuf_each(f, &list, &string))
		if (buffer_u64(&p->profile.comments, string))
			return -1;
	return 0;
}

/* Take a field of Profile, which has the wire type of its number. Returns -1 when out of memory. */
static int pprof_take_field(struct pprof_decoder *p, struct protobuf_field *f)
{
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		if (p->profile.ntypes < VALUES_MOST)
			p->profile.types[p->profile.ntypes++] = read_value_type(f->bytes);
		else
			input_damage(p->input, p->input->name,
				     (uint64_t)(f->bytes.at - p->profile.data.data),
				     "more than %d values of a sample: the rest are left out",
				     VALUES_MOST);
		return 0;
	case PROFILE_SAMPLE: p->profile.nsamples++; return 0;
	case PROFILE_MAPPING: return add_numbered(&p->profile.mappings, f->bytes);
	case PROFILE_LOCATION: return add_numbered(&p->profile.locations, f->bytes);
	case PROFILE_FUNCTION: return add_numbered(&p->profile.functions, f->bytes);
	case PROFILE_STRING: return pprof_add_entry(&p->profile.strings, f->bytes);
	case PROFILE_TIME: p->profile.time = f->value; return 0;
	case PROFILE_DURATION: p->profile.duration = f->value; return 0;
	case PROFILE_PERIOD_TYPE: p->profile.period_type = read_value_type(f->bytes); return 0;
	case PROFILE_PERIOD: p->profile.period = f->value; return 0;
	case PROFILE_COMMENT: return add_comments(p, f);
	case PROFILE_DEFAULT_SAMPLE_TYPE: p->profile.default_type = f->value; return 0;
	}
	return 0;
}

/* Read the input and find its tables. Damage is reported. 0, or -1 with *e filled. */
static int profile_read(struct pprof_decoder *p, struct error *e)
{
	struct input *in = p->input;
	struct protobuf_view rest;
	struct protobuf_field f;
	int got;

	if (input_read_all(in, &p->profile.data, e))
		return -1;
	p->profile.samples = rest = (struct protobuf_view){
		p->profile.data.data, p->profile.data.data + p->profile.data.size};
	while ((got = protobuf_next(&rest, &f)) > 0)
		if (known_field(&f) && pprof_take_field(p, &f))
			return error_no_memory(e);
	if (got < 0) {
		uint64_t offset = (uint64_t)(rest.at - p->profile.data.data);

		/* what is after it is unknown; names are after the samples */
		p->profile.samples.end = rest.at;
		input_damage(in, in->name, offset, "no field of a profile: the rest is left out");
		if (io_cut() && !in->decoding->quiet)
			warn(in->name, offset,
			     "ended by a signal within the profile: names that follow are missing");
	}
	buffer_rest(&p->profile.data);
	return 0;
}

static void pprof_table_free(struct profile_table *t)
{
	free(t->entry);
	key_map_free(&t->numbers);
}

static void profile_free(struct pprof_decoder *p)
{
	buffer_free(&p->profile.data);
	buffer_free(&p->profile.comments);
	pprof_table_free(&p->profile.strings);
	pprof_table_free(&p->profile.mappings);
	pprof_table_free(&p->profile.locations);
	pprof_table_free(&p->profile.functions);
}

/*
 * Frames of a profile.proto: functions with their files and lines where the profile names them,
 * and addresses in mappings, which trsym can name, where it does not.
 */

/* Mapping, Location, Line, Function */
enum {
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
};
enum { LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

struct mapping {
	uint64_t start, limit, offset, file, build_id;
};

/* Declare a string of the profile. */
static uint32_t pprof_string(const struct pprof_decoder *p, uint64_t index)
{
	struct protobuf_view s = profile_string(p, index);

	return writer_string(p->w, s.at, protobuf_size(s));
}

static struct mapping read_mapping(struct protobuf_view message)
{
	struct mapping m = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case MAPPING_START: m.start = f.value; break;
		case MAPPING_LIMIT: m.limit = f.value; break;
		case MAPPING_OFFSET: m.offset = f.value; break;
		case MAPPING_FILE: m.file = f.value; break;
		case MAPPING_BUILD_ID: m.build_id = f.value; break;
		}
	return m;
}

/* Declare the address space of a mapping: processes whose profiles were merged may have different
 * files at an address. number: as profile_find; 0 none. Returns 0 when out of memory. */
static uint32_t pprof_space_of(struct pprof_decoder *p, uint32_t number)
{
	const struct profile_table *t = &p->profile.mappings;
	uint32_t *space = &p->space[number ? number - 1 : t->count];
	struct mapping m = {0};

	if (*space)
		return *space;
	if (number)
		m = read_mapping(t->entry[number - 1]);
	*space = writer_space(
		p->w, &(struct space_entry){.source = p->source, .name = pprof_string(p, m.file)});
	if (*space && m.limit > m.start &&
	    writer_map(p->w, &(struct map_entry){.space = *space,
						 .flags = MAP_FILE_OFFSET,
						 .start = m.start,
						 .end = m.limit,
						 .offset = m.offset,
						 .path = pprof_string(p, m.file),
						 .build_id = pprof_string(p, m.build_id)}))
		*space = 0;
	return *space;
}

static int pprof_add_frame(struct pprof_decoder *p, const struct location_entry *entry,
			   const struct symbol_entry *symbol)
{
	uint32_t id = writer_location(p->w, entry);

	if (!id || (symbol && writer_symbol(p->w, id, symbol)))
		return -1;
	return buffer_u32(&p->frames, id);
}

/* Add the frame of a function without an address: those of other files are other ones. */
static int pprof_add_function(struct pprof_decoder *p, const struct named_frame *function)
{
	uint32_t id = function->name ? frame_location(&p->named, function) : 0;

	return id ? buffer_u32(&p->frames, id) : -1;
}

/* Add the frame of a line of a location. */
static int pprof_add_line(struct pprof_decoder *p, struct protobuf_view line, uint64_t address,
			  uint32_t mapping)
{
	struct location_entry entry = {.space = pprof_space_of(p, mapping), .address = address};
	struct symbol_entry symbol = {.start = address};
	struct protobuf_view name, file = {NULL, NULL}, module = file, function = file;
	uint64_t named = 0, system_name = 0, path = 0;
	struct protobuf_field f;
	struct mapping m;
	uint32_t number = 0;

	while (protobuf_next(&line, &f) > 0) {
		if (f.number == LINE_FUNCTION)
			number = profile_find(&p->profile.functions, f.value);
		else if (f.number == LINE_LINE)
			symbol.line = f.value > UINT32_MAX ? 0 : (uint32_t)f.value;
	}
	if (number)
		function = p->profile.functions.entry[number - 1];
	while (protobuf_next(&function, &f) > 0)
		switch (f.number) {
		case FUNCTION_NAME: named = f.value; break;
		case FUNCTION_SYSTEM_NAME: system_name = f.value; break;
		case FUNCTION_FILE: path = f.value; break;
		}
	name = profile_string(p, named ? named : system_name);
	file = profile_string(p, path);
	if (mapping) {
		m = read_mapping(p->profile.mappings.entry[mapping - 1]);
		module = profile_string(p, m.file);
	}
	if (name.at == name.end)
		return entry.space ? pprof_add_frame(p, &entry, NULL) : -1;
	if (!address)
		return pprof_add_function(
			p, &(struct named_frame){
				   .name = writer_string(p->w, name.at, protobuf_size(name)),
				   .file = writer_string(p->w, file.at, protobuf_size(file)),
				   .module = writer_string(p->w, module.at, protobuf_size(module)),
				   .line = symbol.line,
				   .inside = true});
	symbol.name = (const char *)name.at;
	symbol.name_size = (uint32_t)protobuf_size(name);
	symbol.file = (const char *)file.at;
	symbol.file_size = (uint32_t)protobuf_size(file);
	symbol.module = (const char *)module.at;
	symbol.module_size = (uint32_t)protobuf_size(module);
	entry.name = writer_string(p->w, name.at, protobuf_size(name));
	return entry.space ? pprof_add_frame(p, &entry, &symbol) : -1;
}

/* Append the frames of an entry, whose lines are innermost first, to p->frames. */
static int pprof_add_frames(struct pprof_decoder *p, struct protobuf_view message)
{
	struct protobuf_view rest = message;
	struct location_entry entry = {0};
	struct protobuf_field f;
	uint32_t mapping = 0;
	bool has_lines = false;

	while (protobuf_next(&rest, &f) > 0)
		switch (f.number) {
		case LOCATION_MAPPING:
			mapping = f.value ? profile_find(&p->profile.mappings, f.value) : 0;
			break;
		case LOCATION_ADDRESS: entry.address = f.value; break;
		case LOCATION_LINE: has_lines = true; break;
		}
	while (has_lines && protobuf_next(&message, &f) > 0)
		if (f.number == LOCATION_LINE && pprof_add_line(p, f.bytes, entry.address, mapping))
			return -1;
	if (has_lines)
		return 0;
	entry.space = pprof_space_of(p, mapping);
	return entry.space ? pprof_add_frame(p, &entry, NULL) : -1;
}

/* Append the frame of a location that the profile does not have. */
static int pprof_add_unknown(struct pprof_decoder *p, uint64_t id)
{
	struct location_entry entry = {.name = writer_text(p->w, "?")};
	uint32_t location = writer_location(p->w, &entry);

	input_short(p->input, p->input->name, (uint64_t)(p->sample.at - p->profile.data.data),
		    "a sample has location %llu, which the profile does not have",
		    (unsigned long long)id);
	return location ? buffer_u32(&p->stack, location) : -1;
}

/* Append the frames of a location of this id to p->stack. -1: out of memory. */
static int pprof_add_location(struct pprof_decoder *p, uint64_t id)
{
	uint32_t number = profile_find(&p->profile.locations, id);
	struct location_frames *l;

	if (!number)
		return pprof_add_unknown(p, id);
	l = &p->location[number - 1];
	if (!l->count) {
		l->begin = (uint32_t)(p->frames.size / 4);
		if (pprof_add_frames(p, p->profile.locations.entry[number - 1]))
			return -1;
		l->count = (uint32_t)(p->frames.size / 4) - l->begin;
	}
	return buffer_append(&p->stack, p->frames.data + 4 * (size_t)l->begin,
			     4 * (size_t)l->count);
}

/*
 * Samples of a profile.proto: a stack, values, and labels.
 *
 * The value that the profile names as default, or else the last one, is the weight. Labels that
 * programs write for a thread choose the lane, and all others are fields.
 */

/* Sample, Label */
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };

enum { LABELS_MOST = 64, VALUE_SIZE = 8 };

struct label {
	uint64_t key, text;
	int64_t number;
	bool is_text;
};

struct pprof_sample {
	int64_t values[VALUES_MOST];
	struct label labels[LABELS_MOST]; /* without those of the lane */
	unsigned nvalues, nlabels;
	bool is_signed; /* the weight or the count is negative, as in the difference of profiles */
	struct lane_entry lane;
};

static bool pprof_is_string(struct protobuf_view s, const char *text)
{
	return protobuf_size(s) == strlen(text) && !memcmp(s.at, text, strlen(text));
}

static bool is_string_of(struct protobuf_view s, const char *const *texts)
{
	while (*texts && !pprof_is_string(s, *texts))
		texts++;
	return *texts;
}

/* Choose the value that samples weigh. */
static void pprof_choose_values(struct pprof_decoder *p)
{
	struct protobuf_view unit;

	p->types.weight = p->profile.ntypes ? p->profile.ntypes - 1 : 0;
	for (unsigned i = 0; i < p->profile.ntypes; i++)
		if (p->profile.default_type && p->profile.types[i].type == p->profile.default_type)
			p->types.weight = i;
	unit = profile_string(p, p->profile.types[p->types.weight].unit);
	p->types.unit = profile_time_unit(
		(struct text_span){(const char *)unit.at, (const char *)unit.end});
	/* programs write pairs: a number of events and what they add up to */
	p->types.count = VALUES_MOST;
	if (p->types.weight &&
	    pprof_is_string(profile_string(p, p->profile.types[p->types.weight - 1].unit), "count"))
		p->types.count = p->types.weight - 1;
}

/* --- reading --- */

/* Take a label that chooses the lane. false: it is another. */
static bool take_lane_label(struct pprof_decoder *p, struct lane_entry *lane, const struct label *l)
{
	static const char *const threads[] = {"tid", "thread_id", "thread", NULL};
	static const char *const names[] = {"comm", "thread_comm", "thread_name", "thread", NULL};
	struct protobuf_view key = profile_string(p, l->key);

	if (l->is_text) {
		if (lane->comm || !is_string_of(key, names))
			return false;
		lane->comm = pprof_string(p, l->text);
		return true;
	}
	if (l->number < 0 || l->number > INT32_MAX)
		return false;
	if (!(lane->flags & LANE_HAS_TID) && is_string_of(key, threads)) {
		lane->tid = (int32_t)l->number;
		lane->flags |= LANE_HAS_TID;
	} else if (!(lane->flags & LANE_HAS_PID) && pprof_is_string(key, "pid")) {
		lane->pid = (int32_t)l->number;
		lane->flags |= LANE_HAS_PID;
	} else if (!(lane->flags & LANE_HAS_CPU) && pprof_is_string(key, "cpu")) {
		lane->cpu = (int32_t)l->number;
		lane->flags |= LANE_HAS_CPU;
	} else {
		return false;
	}
	return true;
}

static void pprof_take_label(struct pprof_decoder *p, struct pprof_sample *s,
			     struct protobuf_view message)
{
	struct label l = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LABEL_KEY: l.key = f.value; break;
		case LABEL_TEXT:
			l.text = f.value;
			l.is_text = f.value;
			break;
		case LABEL_NUMBER: l.number = (int64_t)f.value; break;
		}
	if (take_lane_label(p, &s->lane, &l))
		return;
	if (s->nlabels < LABELS_MOST)
		s->labels[s->nlabels++] = l;
	else
		input_damage(
			p->input, p->input->name, (uint64_t)(p->sample.at - p->profile.data.data),
			"a sample has more than %d labels: the rest are left out", LABELS_MOST);
}

/* Read the present sample; its stack is in p->stack. -1: out of memory. */
static int read_sample(struct pprof_decoder *p, struct pprof_sample *s)
{
	struct protobuf_view rest = p->sample, list;
	struct protobuf_field f;
	uint64_t n;
	int got;

	p->stack.size = 0;
	s->nvalues = s->nlabels = 0;
	memset(s->values, 0, sizeof s->values);
	s->lane = (struct lane_entry){.source = p->source,
				      .clock = p->clock,
				      .cpu = -1,
				      .tid = -1,
				      .pid = -1,
				      .ppid = -1};
	while ((got = protobuf_next(&rest, &f)) > 0) {
		list = f.bytes;
		switch (f.number) {
		case SAMPLE_LOCATION:
			while (protobuf_each(&f, &list, &n))
				if (pprof_add_location(p, n))
					return -1;
			break;
		case SAMPLE_VALUE:
			for (; protobuf_each(&f, &list, &n); s->nvalues++)
				if (s->nvalues < p->profile.ntypes)
					s->values[s->nvalues] = (int64_t)n;
			break;
		case SAMPLE_LABEL: pprof_take_label(p, s, f.bytes); break;
		}
	}
	if (got < 0)
		input_damage(p->input, p->input->name, (uint64_t)(rest.at - p->profile.data.data),
			     "no field of a sample: the rest of the sample is left out");
	return 0;
}

/* --- declarations --- */

/* Declare the name of a label's field: fields of the same key are numbered. */
static uint32_t label_name(const struct pprof_decoder *p, const struct pprof_sample *s,
			   unsigned label)
{
	enum { LABEL_NAME_MOST = 200 }; /* bytes of the key in the name */
	struct protobuf_view key = profile_string(p, s->labels[label].key);
	size_t n = protobuf_size(key);
	char name[256];
	unsigned same = 1;

	for (unsigned i = 0; i < label; i++)
		same += s->labels[i].key == s->labels[label].key;
	if (same == 1)
		return pprof_string(p, s->labels[label].key);
	if (n > LABEL_NAME_MOST)
		n = LABEL_NAME_MOST;
	snprintf(name, sizeof name, "%.*s.%u", (int)n, (const char *)key.at, same);
	return writer_text(p->w, name);
}

/* Fill the fields of a type. Returns their number. */
static unsigned pprof_make_fields(const struct pprof_decoder *p, const struct pprof_sample *s,
				  struct field_entry *field)
{
	unsigned n = 0, texts = 0;
	uint32_t at = 0;

	for (unsigned i = 0; i < p->profile.ntypes; i++, at += VALUE_SIZE)
		field[n++] = (struct field_entry){
			.name = pprof_string(p, p->profile.types[i].type),
			.kind = !s->is_signed && (i == p->types.weight || i == p->types.count)
					? FIELD_UINT
					: FIELD_INT,
			.role = i == p->types.weight  ? ROLE_PERIOD
				: i == p->types.count ? ROLE_COUNT
						      : ROLE_WEIGHT,
			.offset = at,
			.size = VALUE_SIZE};
	for (unsigned i = 0; i < s->nlabels; i++) {
		field[n] = (struct field_entry){.name = label_name(p, s, i)};
		if (s->labels[i].is_text) {
			field[n].kind = FIELD_STRING;
			field[n].where = WHERE_STRING;
			field[n].offset = texts++;
			field[n].size = 1;
		} else {
			field[n].kind = FIELD_INT;
			field[n].offset = at;
			field[n].size = VALUE_SIZE;
			at += VALUE_SIZE;
		}
		n++;
	}
	return n;
}

/* Declare the type of samples with these labels; p->fixed and p->tail are those of the sample. */
static uint32_t pprof_declare_type(struct pprof_decoder *p, const struct pprof_sample *s)
{
	struct field_entry fields[VALUES_MOST + LABELS_MOST];
	struct type_entry type = {.source = p->source,
				  .kind = KIND_SAMPLE,
				  .fixed_size = (uint32_t)p->fixed.size,
				  .fields = fields,
				  .flags = (uint16_t)((p->tail.size ? TYPE_TAIL : 0) |
						      (p->types.unit ? TYPE_WEIGHT_TIME : 0))};
	uint32_t *id;

	p->key.size = 0;
	if (buffer_u8(&p->key, s->is_signed))
		return 0;
	for (unsigned i = 0; i < s->nlabels; i++)
		if (buffer_u64(&p->key, s->labels[i].key) ||
		    buffer_u8(&p->key, s->labels[i].is_text))
			return 0;
	id = id_cache_number(&p->types.by_labels, p->key.data, p->key.size);
	if (!id || *id)
		return id ? *id : 0;
	type.nfields = pprof_make_fields(p, s, fields);
	type.name = p->profile.ntypes ? pprof_string(p, p->profile.types[p->types.weight].type) : 0;
	if (!type.name)
		type.name = writer_text(p->w, "samples");
	*id = writer_type(p->w, &type);
	if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
		return 0;
	return *id;
}

/* --- writing --- */

/* Fill p->fixed and p->tail, and get the weight, 0 for a negative one. -1: out of memory. */
static int make_row(struct pprof_decoder *p, const struct pprof_sample *s, uint64_t *weight)
{
	int64_t unit = (int64_t)p->types.unit;
	int bad = 0;

	p->fixed.size = p->tail.size = 0;
	for (unsigned i = 0; i < p->profile.ntypes; i++) {
		int64_t value = s->values[i];

		if (i == p->types.weight && unit && __builtin_mul_overflow(value, unit, &value))
			value = s->values[i] < 0 ? -(int64_t)TIME_LIMIT : (int64_t)TIME_LIMIT;
		if (i == p->types.weight)
			*weight = value < 0 ? 0 : (uint64_t)value;
		bad |= buffer_u64(&p->fixed, (uint64_t)value);
	}
	for (unsigned i = 0; i < s->nlabels; i++) {
		const struct label *l = &s->labels[i];
		struct protobuf_view text = profile_string(p, l->text);
		const void *nul;

		if (!l->is_text) {
			bad |= buffer_u64(&p->fixed, (uint64_t)l->number);
			continue;
		}
		/* a text of the stream ends with its NUL */
		nul = text.at < text.end ? memchr(text.at, '\0', protobuf_size(text)) : NULL;
		if (nul)
			text.end = nul;
		bad |= buffer_append(&p->tail, text.at, protobuf_size(text)) ||
		       buffer_u8(&p->tail, 0);
	}
	return bad ? -1 : 0;
}

/* Write the present sample. 0, or -1: the output failed, or out of memory. */
static int pprof_write_sample(struct pprof_decoder *p)
{
	struct pprof_sample s;
	struct new_row row = {.time = p->input->next};
	uint64_t weight = 0;
	size_t frames;

	if (read_sample(p, &s) || make_row(p, &s, &weight))
		return -1;
	s.is_signed = s.values[p->types.weight] < 0 ||
		      (p->types.count < VALUES_MOST && s.values[p->types.count] < 0);
	if (s.nvalues != p->profile.ntypes)
		input_damage(p->input, p->input->name,
			     (uint64_t)(p->sample.at - p->profile.data.data),
			     "a sample has %u values, not %u", s.nvalues, p->profile.ntypes);
	/* saturates below where a time is damage */
	p->elapsed += weight > TIME_LIMIT - 1 - p->elapsed ? TIME_LIMIT - 1 - p->elapsed : weight;
	frames = p->stack.size / sizeof(uint32_t);
	row.lane = writer_lane_once(p->w, &p->lanes, &s.lane);
	row.type = pprof_declare_type(p, &s);
	if (frames) {
		row.location =
			writer_stack_of(p->w, (const uint32_t *)(void *)p->stack.data, frames);
		if (!row.location)
			return -1;
	}
	row.fixed = p->fixed.data;
	row.fixed_size = (uint32_t)p->fixed.size;
	row.tail = p->tail.data;
	row.tail_size = (uint32_t)p->tail.size;
	row.has_tail = p->tail.size;
	return row.lane && row.type ? writer_sample(p->w, row) : -1;
}

/*
 * The decoder of profile.proto, which pprof, Go, and many profilers write.
 *
 * The whole message is read first: its strings usually follow the samples that name them. A sample
 * has no time. Samples that weigh time follow each other without pauses, so that the time of one is
 * the sum of the weights before it; the time of any other is its number, in ticks.
 */

static enum bid pprof_probe(const struct input *in)
{
	struct protobuf_view head = {in->head, in->head};

	if (in->tree || !in->head_size)
		return BID_NONE;
	head.end += in->head_size;
	return profile_begins(head, in->format && !strcmp(in->format, "pprof")) ? BID_LIKELY
										: BID_NONE;
}

static int pprof_open(struct input *in, struct error *e)
{
	struct pprof_decoder *p = calloc(1, sizeof *p);

	if (!p)
		return error_no_memory(e);
	in->state = p;
	p->input = in;
	p->w = p->named.w = in->decoding->writer;
	if (profile_read(p, e))
		return -1;
	pprof_choose_values(p);
	in->clock_name = "weights";
	if (!p->types.unit)
		merge_count_rows(in, "samples");
	return 0;
}

/* Add a string and what more is known of it to what --info prints. -1: out of memory. */
static int pprof_fact(struct pprof_decoder *p, struct trace_info *facts, const char *name,
		      uint64_t string, uint64_t detail)
{
	struct protobuf_view s = profile_string(p, string);
	struct protobuf_view d = profile_string(p, detail);

	p->key.size = 0;
	if (buffer_append(&p->key, s.at, protobuf_size(s)) ||
	    (d.at < d.end && (buffer_puts(&p->key, s.at < s.end ? ", " : "") ||
			      buffer_append(&p->key, d.at, protobuf_size(d)))) ||
	    buffer_u8(&p->key, 0))
		return -1;
	fact_item(facts, name, (const char *)p->key.data);
	return 0;
}

static int pprof_info(struct input *in, struct trace_info *facts, struct error *e)
{
	struct pprof_decoder *p = in->state;
	struct mapping m;
	int bad = 0;

	fact_text(facts, "format", "pprof");
	fact_number(facts, "samples", p->profile.nsamples);
	for (unsigned i = 0; i < p->profile.ntypes; i++)
		bad |= pprof_fact(p, facts, "value", p->profile.types[i].type,
				  p->profile.types[i].unit);
	if (p->profile.time)
		fact_number(facts, "time", p->profile.time);
	if (p->profile.duration)
		fact_number(facts, "duration", p->profile.duration);
	if (p->profile.period) {
		bad |= pprof_fact(p, facts, "period of", p->profile.period_type.type,
				  p->profile.period_type.unit);
		fact_number(facts, "period", p->profile.period);
	}
	for (size_t i = 0; i < p->profile.comments.size; i += 8)
		bad |= pprof_fact(p, facts, "comment", get_u64(p->profile.comments.data + i), 0);
	for (size_t i = 0; i < p->profile.mappings.count; i++) {
		m = read_mapping(p->profile.mappings.entry[i]);
		bad |= pprof_fact(p, facts, "mapping", m.file, m.build_id);
	}
	return bad ? error_no_memory(e) : 0;
}

/* Go to the next sample; in->next is UINT64_MAX if there is none. */
static void pprof_advance(struct input *in)
{
	struct pprof_decoder *p = in->state;
	struct protobuf_field f;

	in->next = UINT64_MAX;
	while (protobuf_next(&p->rest, &f) > 0)
		if (f.number == PROFILE_SAMPLE && f.wire == PROTOBUF_LENGTH) {
			p->sample = f.bytes;
			p->number++;
			in->next = merge_shifted(in->ticks ? p->number : p->elapsed, in->shift);
			return;
		}
}

static int decode_pprof_begin(struct input *in, struct error *e)
{
	struct pprof_decoder *p = in->state;

	if (merge_choose_clock(in, e))
		return -1;
	p->source = writer_source(p->w, &(struct source_entry){writer_text(p->w, "pprof"),
							       writer_text(p->w, in->name), 0, 0});
	p->clock = input_declare_clock(in, false);
	p->location = calloc(p->profile.locations.count + 1, sizeof *p->location);
	p->space = calloc(p->profile.mappings.count + 1, sizeof *p->space);
	if (!p->source || !p->clock || !p->location || !p->space)
		return error_no_memory(e);
	p->rest = p->profile.samples;
	pprof_advance(in);
	return in->next == UINT64_MAX ? 0 : merge_first(in, in->ticks ? p->number : 0, e);
}

static int pprof_run(struct input *in, uint64_t until, struct error *e)
{
	struct pprof_decoder *p = in->state;

	(void)e;
	for (; in->next <= until && in->next != UINT64_MAX; pprof_advance(in))
		if (pprof_write_sample(p))
			return -1;
	return 0;
}

static void pprof_close(struct input *in)
{
	struct pprof_decoder *p = in->state;

	if (!p)
		return;
	profile_free(p);
	buffer_free(&p->frames);
	buffer_free(&p->stack);
	buffer_free(&p->fixed);
	buffer_free(&p->tail);
	buffer_free(&p->key);
	id_cache_free(&p->types.by_labels);
	id_cache_free(&p->lanes);
	frame_locations_free(&p->named);
	free(p->location);
	free(p->space);
	free(p);
	in->state = NULL;
}

const struct decoder decoder_pprof = {
	.name = "pprof",
	.in_order = true,
	.probe = pprof_probe,
	.open = pprof_open,
	.info = pprof_info,
	.begin = decode_pprof_begin,
	.run = pprof_run,
	.close = pprof_close,
};

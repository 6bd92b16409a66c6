/*
 * samples.c - samples of a profile.proto: a stack, values, and labels
 *
 * The value that the profile names as default, or else the last one, is the weight. Labels that
 * programs write for a thread choose the lane, and all others are fields.
 */
#include "cmd/trdecode/pprof/pprof.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/trdecode/input/row_filter.h"

/* Sample, Label */
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2, LABEL_NUMBER = 3 };

enum { LABELS_MOST = 64, VALUE_SIZE = 8 };

struct label {
	uint64_t key, text;
	int64_t number;
	bool is_text;
};

struct sample {
	int64_t values[VALUES_MOST];
	struct label labels[LABELS_MOST]; /* without those of the lane */
	unsigned nvalues, nlabels;
	bool is_signed; /* the weight or the count is negative, as in the difference of profiles */
	struct lane_entry lane;
};

static bool is_string(struct protobuf_view s, const char *text)
{
	return protobuf_size(s) == strlen(text) && !memcmp(s.at, text, strlen(text));
}

static bool is_string_of(struct protobuf_view s, const char *const *texts)
{
	while (*texts && !is_string(s, *texts))
		texts++;
	return *texts;
}

/* ns of a unit of time, 0: none. pprof knows these spellings. */
static uint64_t unit_of(struct protobuf_view unit)
{
	static const struct {
		const char *const names[5];
		uint64_t ns;
	} units[] = {
		{{"nanoseconds", "nanosecond", "ns", NULL}, 1},
		{{"microseconds", "microsecond", "us", NULL}, 1000},
		{{"milliseconds", "millisecond", "ms", NULL}, 1000 * 1000},
		{{"seconds", "second", "s", "sec", NULL}, 1000 * 1000 * 1000},
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (is_string_of(unit, units[i].names))
			return units[i].ns;
	return 0;
}

void pprof_choose_values(struct pprof *p)
{
	const struct profile *profile = &p->profile;
	struct sample_types *t = &p->types;

	t->weight = profile->ntypes ? profile->ntypes - 1 : 0;
	for (unsigned i = 0; i < profile->ntypes; i++)
		if (profile->default_type && profile->types[i].type == profile->default_type)
			t->weight = i;
	t->unit = unit_of(profile_string(profile, profile->types[t->weight].unit));
	/* programs write pairs: a number of events and what they add up to */
	t->count = VALUES_MOST;
	if (t->weight &&
	    is_string(profile_string(profile, profile->types[t->weight - 1].unit), "count"))
		t->count = t->weight - 1;
}

/* --- reading --- */

/* Take a label that chooses the lane. false: it is another. */
static bool take_lane_label(struct pprof *p, struct lane_entry *lane, const struct label *l)
{
	static const char *const threads[] = {"tid", "thread_id", "thread", NULL};
	static const char *const names[] = {"comm", "thread_comm", "thread_name", "thread", NULL};
	struct protobuf_view key = profile_string(&p->profile, l->key);

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
	} else if (!(lane->flags & LANE_HAS_PID) && is_string(key, "pid")) {
		lane->pid = (int32_t)l->number;
		lane->flags |= LANE_HAS_PID;
	} else if (!(lane->flags & LANE_HAS_CPU) && is_string(key, "cpu")) {
		lane->cpu = (int32_t)l->number;
		lane->flags |= LANE_HAS_CPU;
	} else {
		return false;
	}
	return true;
}

static void take_label(struct pprof *p, struct sample *s, struct protobuf_view message)
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
static int read_sample(struct pprof *p, struct sample *s)
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
		case SAMPLE_LABEL: take_label(p, s, f.bytes); break;
		}
	}
	if (got < 0)
		input_damage(p->input, p->input->name, (uint64_t)(rest.at - p->profile.data.data),
			     "no field of a sample: the rest of the sample is left out");
	return 0;
}

/* --- declarations --- */

static uint32_t declare_lane(struct pprof *p, const struct lane_entry *lane)
{
	uint32_t key[] = {lane->flags, (uint32_t)lane->pid, (uint32_t)lane->tid,
			  (uint32_t)lane->cpu, lane->comm};
	uint32_t *id = id_cache_number(&p->lanes, key, sizeof key);

	if (id && !*id)
		*id = writer_lane(p->w, lane);
	return id ? *id : 0;
}

/* Declare the name of a label's field: fields of the same key are numbered. */
static uint32_t label_name(const struct pprof *p, const struct sample *s, unsigned label)
{
	enum { LABEL_NAME_MOST = 200 }; /* bytes of the key in the name */
	struct protobuf_view key = profile_string(&p->profile, s->labels[label].key);
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
static unsigned make_fields(const struct pprof *p, const struct sample *s,
			    struct field_entry *field)
{
	const struct profile *profile = &p->profile;
	unsigned n = 0, texts = 0;
	uint32_t at = 0;

	for (unsigned i = 0; i < profile->ntypes; i++, at += VALUE_SIZE)
		field[n++] = (struct field_entry){
			.name = pprof_string(p, profile->types[i].type),
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
static uint32_t declare_type(struct pprof *p, const struct sample *s)
{
	const struct profile *profile = &p->profile;
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
	type.nfields = make_fields(p, s, fields);
	type.name = profile->ntypes ? pprof_string(p, profile->types[p->types.weight].type) : 0;
	if (!type.name)
		type.name = writer_text(p->w, "samples");
	*id = writer_type(p->w, &type);
	if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
		return 0;
	return *id;
}

/* --- writing --- */

/* Fill p->fixed and p->tail, and get the weight, 0 for a negative one. -1: out of memory. */
static int make_row(struct pprof *p, const struct sample *s, uint64_t *weight)
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
		struct protobuf_view text = profile_string(&p->profile, l->text);
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

int pprof_write_sample(struct pprof *p)
{
	struct sample s;
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
	row.lane = declare_lane(p, &s.lane);
	row.type = declare_type(p, &s);
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

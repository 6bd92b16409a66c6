#include "cmd/trdecode/pprof/profile.h"

#include <stdlib.h>

#include "common/util/buffer_file.h"
#include "common/util/io.h"

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

bool profile_begins(struct protobuf_view head, bool any)
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

struct protobuf_view profile_string(const struct profile *p, uint64_t index)
{
	return index < p->strings.count ? p->strings.entry[index]
					: (struct protobuf_view){NULL, NULL};
}

uint32_t profile_find(struct profile_table *t, uint64_t id)
{
	const uint32_t *number = id_cache_number(&t->numbers, &id, sizeof id);

	return number ? *number : 0;
}

/* --- reading --- */

static int read_all(struct buffer *b, const struct input *in, struct error *e)
{
	ssize_t got;

	b->spills = true;
	if (buffer_append(b, in->head, in->head_size))
		return error_no_memory(e);
	do {
		if (buffer_reserve(b, BUFFER_PIECE))
			return error_no_memory(e);
		got = io_read(in->fd, b->data + b->size, BUFFER_PIECE);
		if (got < 0)
			return error_errno(e, in->name, b->size, "cannot read");
		b->size += (size_t)got;
	} while (got);
	return 0;
}

static int add_entry(struct profile_table *t, struct protobuf_view message)
{
	struct protobuf_view *entry;

	if (ARRAY_GROW(t->entry, t->capacity, t->count))
		return -1;
	entry = t->entry;
	entry[t->count++] = message;
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
	number = id_cache_number(&t->numbers, &id, sizeof id);
	if (!number || add_entry(t, message))
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

static int add_comments(struct profile *p, struct protobuf_field *f)
{
	struct protobuf_view list = f->bytes;
	uint64_t string;

	while (protobuf_each(f, &list, &string))
		if (buffer_u64(&p->comments, string))
			return -1;
	return 0;
}

/* Take a field of Profile, which has the wire type of its number. Returns -1 when out of memory. */
static int take_field(struct profile *p, struct input *in, struct protobuf_field *f)
{
	switch (f->number) {
	case PROFILE_SAMPLE_TYPE:
		if (p->ntypes < VALUES_MOST)
			p->types[p->ntypes++] = read_value_type(f->bytes);
		else
			input_damage(in, in->name, (uint64_t)(f->bytes.at - p->data.data),
				     "more than %d values of a sample: the rest are left out",
				     VALUES_MOST);
		return 0;
	case PROFILE_SAMPLE: p->nsamples++; return 0;
	case PROFILE_MAPPING: return add_numbered(&p->mappings, f->bytes);
	case PROFILE_LOCATION: return add_numbered(&p->locations, f->bytes);
	case PROFILE_FUNCTION: return add_numbered(&p->functions, f->bytes);
	case PROFILE_STRING: return add_entry(&p->strings, f->bytes);
	case PROFILE_TIME: p->time = f->value; return 0;
	case PROFILE_DURATION: p->duration = f->value; return 0;
	case PROFILE_PERIOD_TYPE: p->period_type = read_value_type(f->bytes); return 0;
	case PROFILE_PERIOD: p->period = f->value; return 0;
	case PROFILE_COMMENT: return add_comments(p, f);
	case PROFILE_DEFAULT_SAMPLE_TYPE: p->default_type = f->value; return 0;
	}
	return 0;
}

int profile_read(struct profile *p, struct input *in, struct error *e)
{
	struct protobuf_view rest;
	struct protobuf_field f;
	int got;

	if (read_all(&p->data, in, e))
		return -1;
	p->samples = rest = (struct protobuf_view){p->data.data, p->data.data + p->data.size};
	while ((got = protobuf_next(&rest, &f)) > 0)
		if (known_field(&f) && take_field(p, in, &f))
			return error_no_memory(e);
	if (got < 0) {
		uint64_t offset = (uint64_t)(rest.at - p->data.data);

		/* what is after it is unknown; names are after the samples */
		p->samples.end = rest.at;
		input_damage(in, in->name, offset, "no field of a profile: the rest is left out");
		if (io_cut() && !in->decoding->quiet)
			warn(in->name, offset,
			     "ended by a signal within the profile: names that follow are missing");
	}
	buffer_rest(&p->data);
	return 0;
}

static void table_free(struct profile_table *t)
{
	free(t->entry);
	id_cache_free(&t->numbers);
}

void profile_free(struct profile *p)
{
	buffer_free(&p->data);
	buffer_free(&p->comments);
	table_free(&p->strings);
	table_free(&p->mappings);
	table_free(&p->locations);
	table_free(&p->functions);
}

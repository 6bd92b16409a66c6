/*
 * rows.c - writes the sorted events as rows
 *
 * The calls of a thread's track are a stack, whose depth the rows have. All other tracks have
 * asynchronous calls with numbers: an end closes the last begin of its track. Two tracks of a
 * thread that trencode writes become what they were: calls in the kernel, and calls open since
 * before the trace.
 */
#include <stdlib.h>

#include "cmd/trdecode/input/gap_arguments.h"
#include "cmd/trdecode/input/merge.h"
#include "cmd/trdecode/perfetto/rows.h"
#include "common/stream/value.h"
#include "common/util/u128.h"

enum { FIXED_MOST = 24 };

/* --- declarations --- */

/* Test for a row of an asynchronous call. A call that only overlaps others has a number, too, and
 * the type of those on a stack. */
static bool has_track_id(const struct perfetto *p, const struct perfetto_row *r)
{
	return r->call && r->type_name != p->texts.begin && r->type_name != p->texts.end;
}

/* Make the fields of a type. Returns the size of the fixed part. */
static uint32_t make_fields(struct perfetto *p, const struct perfetto_row *r, struct type_entry *e,
			    struct field_entry *fields)
{
	uint32_t at = 0;

	e->fields = fields;
	if (r->call) {
		fields[e->nfields++] = (struct field_entry){.name = writer_text(p->w, "call"),
							    .kind = FIELD_UINT,
							    .role = ROLE_CALL,
							    .size = 4};
		at = 4;
	}
	if (has_track_id(p, r)) {
		if (!p->texts.track_id)
			p->texts.track_id =
				arguments_free_name(&p->arguments.table, p->w, "track_id");
		fields[e->nfields++] = (struct field_entry){
			.name = p->texts.track_id, .kind = FIELD_HEX, .offset = 8, .size = 8};
		at = 16;
	}
	if (r->stack) {
		fields[e->nfields++] = (struct field_entry){.name = writer_text(p->w, "stack"),
							    .kind = FIELD_UINT,
							    .role = ROLE_STACK,
							    .offset = at,
							    .size = 4};
		at += 4;
	}
	return at;
}

uint32_t perfetto_row_type(struct perfetto *p, const struct perfetto_row *r)
{
	static const uint32_t native[] = {
		[KIND_INSTANT] = 'I', [KIND_ENTER] = 'B', [KIND_LEAVE] = 'E', [KIND_COUNTER] = 'C'};
	uint32_t flags = r->flags | (r->size ? TYPE_TAIL | TYPE_VALUES : 0);
	struct {
		uint32_t what, kind, name, category, flags, call, stack;
	} key = {'t',	       r->kind, r->type_name, r->category, flags, (r->call != 0) + r->by_id,
		 r->stack != 0};
	uint32_t *id = id_cache_number(&p->types.ids, &key, sizeof key);
	struct field_entry fields[3];
	struct type_entry e;

	if (!id || *id)
		return id ? *id : 0;
	e = (struct type_entry){.source = p->source,
				.name = r->type_name,
				.group = r->category,
				.kind = (uint8_t)r->kind,
				.flags = (uint16_t)flags,
				.native = native[r->kind] | (r->by_id ? 0x20 : 0)};
	if (r->type_name == p->texts.state_begin || r->type_name == p->texts.state_end)
		e.native = 'S';
	if (r->call && !has_track_id(p, r))
		e.native = 'X';
	e.fixed_size = make_fields(p, r, &e, fields);
	*id = writer_type(p->w, &e);
	if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
		return 0;
	return *id;
}

uint32_t perfetto_location(struct perfetto *p, uint32_t name)
{
	uint32_t *locations;

	if (ARRAY_REACH(p->locations, p->nlocations, name))
		return 0;
	locations = p->locations;
	if (!locations[name])
		locations[name] = arguments_location_of(&p->arguments.table, p->w, name);
	return p->locations[name];
}

/* --- rows --- */

/* Write a row with a fixed part or values. */
static int put_data_row(struct perfetto *p, const struct perfetto_row *r)
{
	uint8_t fixed[FIXED_MOST] = {0};
	struct new_row row = {.time = merge_shifted(r->time, p->input->shift),
			      .lane = r->lane,
			      .type = perfetto_row_type(p, r),
			      .location = r->location,
			      .depth = r->level < DEPTH_MOST ? r->level : DEPTH_MOST,
			      .fixed = fixed};

	if (!row.lane || !row.type)
		return -1;
	if (r->call) {
		put_u32(fixed, r->call);
		put_u64(fixed + 8, r->track_id);
		row.fixed_size = has_track_id(p, r) ? 16 : 4;
	}
	if (r->stack) {
		put_u32(fixed + row.fixed_size, r->stack);
		row.fixed_size += 4;
		if (writer_use_stack(p->w, r->stack))
			return -1;
	}
	if (r->size) {
		if (arguments_values(&p->arguments.table, r->name, r->values, r->size,
				     &p->scratch.details) ||
		    (r->structs && arguments_use_structs(p->w, &p->scratch.details)))
			return -1;
		row.tail = p->scratch.details.data;
		row.tail_size = (uint32_t)p->scratch.details.size;
		row.has_tail = true;
	}
	return writer_row_data(p->w, row);
}

int perfetto_put_row(struct perfetto *p, const struct perfetto_row *r)
{
	uint32_t type;

	if (r->call || r->stack || r->size)
		return put_data_row(p, r);
	type = perfetto_row_type(p, r);
	return r->lane && type
		       ? writer_row(p->w, merge_shifted(r->time, p->input->shift), r->lane, type,
				    r->location, r->level < DEPTH_MOST ? r->level : DEPTH_MOST)
		       : -1;
}

/* --- other events --- */

static int instant_row(struct perfetto *p, const struct perfetto_track *t,
		       const struct perfetto_record *rec, struct perfetto_row *r)
{
	struct gap_arguments gap;

	r->lane = t->lane;
	if (rec->name == p->texts.gap && rec->category == p->texts.gap_category &&
	    gap_arguments_read(&gap, p->w, r->values, r->size)) {
		if (gap.cpu >= 0)
			r->lane = perfetto_cpu_lane(p, gap.cpu);
		return r->lane ? writer_gap(p->w, merge_shifted(r->time, p->input->shift), r->lane,
					    &gap.gap)
			       : -1;
	}
	r->kind = rec->kind == PERFETTO_COUNTER_VALUES ? KIND_COUNTER : KIND_INSTANT;
	r->type_name = r->name = rec->name ? rec->name : p->texts.nothing;
	r->category = rec->category;
	r->location = r->size ? perfetto_location(p, r->name) : 0;
	return r->size && !r->location ? -1 : perfetto_put_row(p, r);
}

/* Write a state as a call. A state that goes on is an instant if it has arguments, and so is a
 * state on a track of another kind. */
static int state_row(struct perfetto *p, struct perfetto_track *t,
		     const struct perfetto_record *rec, struct perfetto_row *r)
{
	const struct perfetto_calls *c = &t->calls;
	bool goes_on = c->depth && c->frames[c->depth - 1].name == rec->name;

	if (!t->is_state || (goes_on && r->size))
		return instant_row(p, t, rec, r);
	return goes_on ? 0 : perfetto_state(p, t, rec, r);
}

/* Declare the type of a counter: a field of 8 bytes. */
static uint32_t counter_type(struct perfetto *p, struct perfetto_track *t, uint32_t category,
			     bool real)
{
	struct field_entry value = {.name = writer_text(p->w, "value"),
				    .type_name = t->unit,
				    .kind = real ? FIELD_FLOAT : FIELD_INT,
				    .size = 8};
	uint32_t name = t->name ? t->name : p->texts.nothing;
	uint32_t key[] = {'c', name, t->unit, real, category}, *id;

	if (t->types[real] && t->category == category)
		return t->types[real];
	t->types[!real] = 0;
	t->category = category;
	id = id_cache_number(&p->types.ids, key, sizeof key);
	if (id && !*id) {
		*id = writer_type(p->w, &(struct type_entry){.source = p->source,
							     .name = name,
							     .group = category,
							     .kind = KIND_COUNTER,
							     .native = 'C',
							     .fixed_size = 8,
							     .nfields = 1,
							     .fields = &value});
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return id ? t->types[real] = *id : 0;
}

/* Write the value of a counter; bits: of an integer or of a double. */
static int counter_row(struct perfetto *p, struct perfetto_track *t,
		       const struct perfetto_record *rec, uint64_t time, uint64_t bits)
{
	bool real = rec->kind == PERFETTO_COUNTER_REAL;
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = t->lane,
			    .type = counter_type(p, t, rec->category, real),
			    .fixed = &bits,
			    .fixed_size = sizeof bits};
	double value;

	if (t->multiplier && !real) {
		bits = (uint64_t)saturated_i64((int128)(int64_t)bits * (int64_t)t->multiplier);
	} else if (t->multiplier) {
		memcpy(&value, &bits, sizeof value);
		value *= (double)(int64_t)t->multiplier;
		memcpy(&bits, &value, sizeof bits);
	}
	bits = htole64(bits);
	return r.type ? writer_row_data(p->w, r) : -1;
}

static uint32_t sample_type(struct perfetto *p, const struct perfetto_record *rec)
{
	struct field_entry weight = {.name = writer_text(p->w, "weight"),
				     .kind = FIELD_UINT,
				     .role = ROLE_PERIOD,
				     .size = 8};
	uint32_t key[3] = {'s', rec->name}, *id = id_cache_number(&p->types.ids, key, sizeof key);

	if (id && !*id) {
		*id = writer_type(p->w, &(struct type_entry){.source = p->source,
							     .name = rec->name,
							     .kind = KIND_SAMPLE,
							     .native = 'P',
							     .fixed_size = 8,
							     .nfields = 1,
							     .fields = &weight});
		if (*id && row_filter_announce(p->input->decoding->row_filter, *id, 0))
			return 0;
	}
	return id ? *id : 0;
}

static int sample_row(struct perfetto *p, struct perfetto_track *t,
		      const struct perfetto_record *rec, uint64_t time, uint64_t weight)
{
	struct perfetto_thread *thread = perfetto_track_thread(p, t);
	struct new_row r = {.time = merge_shifted(time, p->input->shift),
			    .lane = t->lane,
			    .type = sample_type(p, rec),
			    .location = rec->stack,
			    .fixed = &weight,
			    .fixed_size = sizeof weight};

	if (rec->flags & PERFETTO_HAS_CPU)
		r.lane = thread ? perfetto_lane(p, thread, rec->cpu)
				: perfetto_cpu_lane(p, rec->cpu);
	weight = htole64(weight);
	return r.type && r.lane ? writer_sample(p->w, r) : -1;
}

int perfetto_row_event(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		       const uint8_t *data, size_t size)
{
	struct perfetto_track *t = &p->tracks.track[rec->track];
	struct perfetto_row r = {.time = time, .stack = rec->stack};
	struct perfetto_id id = {0, 0};
	uint64_t value = 0;

	if (__builtin_expect(t->resolved <= p->tracks.renewed, 0) && perfetto_track_resolve(p, t))
		return -1;
	if (rec->flags & PERFETTO_VALUE) {
		memcpy(&value, data, sizeof value);
		data += sizeof value;
		size -= sizeof value;
	}
	if (rec->kind == PERFETTO_ID_BEGIN || rec->kind == PERFETTO_ID_END) {
		memcpy(&id, data, sizeof id);
		data += sizeof id;
		size -= sizeof id;
	}
	r.values = data;
	r.size = (uint32_t)size;
	r.structs = rec->flags & PERFETTO_STRUCTS;
	/* the name of the leave */
	r.name = rec->kind == PERFETTO_END && !(rec->flags & PERFETTO_NAMED) ? rec->name : 0;
	switch (rec->kind) {
	case PERFETTO_BEGIN:
		if (rec->flags & PERFETTO_COMPLETE)
			return perfetto_begin_complete(p, rec, value, &r);
		r.track_id = value;
		return perfetto_begin_call(p, t, rec, &r);
	case PERFETTO_END: return perfetto_end_call(p, t, rec, &r);
	case PERFETTO_STATE: return state_row(p, t, rec, &r);
	case PERFETTO_COUNTER:
	case PERFETTO_COUNTER_REAL: return counter_row(p, t, rec, time, value);
	case PERFETTO_ID_BEGIN: return perfetto_id_begin(p, rec, id, &r);
	case PERFETTO_ID_END: return perfetto_id_end(p, rec, id, &r);
	case PERFETTO_SAMPLE: return sample_row(p, t, rec, time, value);
	case PERFETTO_HEAP: return perfetto_heap_row(p, t, rec, time, data);
	}
	return instant_row(p, t, rec, &r);
}

/* --- the order of rows --- */

static int gap_row(struct perfetto *p, const struct perfetto_record *rec, uint64_t time,
		   const uint8_t *data)
{
	struct perfetto_loss loss;
	struct gap gap = {.file = p->input->name};
	uint32_t lane = perfetto_cpu_lane(p, rec->flags & PERFETTO_HAS_CPU ? rec->cpu : -1);

	memcpy(&loss, data, sizeof loss);
	gap.reason = (enum gap_reason)loss.reason;
	gap.unit = (enum gap_unit)loss.unit;
	gap.count = loss.count;
	gap.offset = loss.offset;
	if (gap.offset == NO_OFFSET)
		gap.file = NULL;
	return lane ? writer_gap(p->w, merge_shifted(time, p->input->shift), lane, &gap) : -1;
}

int perfetto_rows(struct perfetto *p, uint64_t until, uint64_t *next)
{
	struct sorter_record r;

	for (;;) {
		struct perfetto_record rec;
		const uint8_t *data;
		size_t size;
		int failed;
		bool more = sorter_peek(&p->sorter, &r);

		/* at one time, calls end before others begin */
		*next = more ? r.key.time : UINT64_MAX;
		if (p->completes.count && complete_calls_next(&p->completes) <= *next) {
			*next = complete_calls_next(&p->completes);
			if (*next > until)
				return 0;
			if (perfetto_end_complete(p))
				return -1;
			continue;
		}
		if (!more || *next > until)
			return 0;
		memcpy(&rec, r.data, sizeof rec);
		data = r.data + sizeof rec;
		size = r.size - sizeof rec;
		if (rec.kind == PERFETTO_GAP)
			failed = gap_row(p, &rec, r.key.time, data);
		else if (rec.kind == PERFETTO_NAMING)
			failed = perfetto_naming_row(p, data);
		else if (rec.kind >= PERFETTO_FTRACE)
			failed = perfetto_ftrace_row(p, &rec, r.key.time, data, size);
		else
			failed = perfetto_add_inlined(p, &rec.stack) ||
				 perfetto_row_event(p, &rec, r.key.time, data, size);
		if (failed || sorter_advance(&p->sorter, &p->error))
			return -1;
	}
}

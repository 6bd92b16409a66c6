/*
 * track_event.c - reads the message TrackEvent into records
 */
#include "cmd/trdecode/perfetto/track_event.h"

#include "common/formats/chrome.h"

/* --- records --- */

int perfetto_keep_data(struct perfetto *p, struct sorter_key key, const struct perfetto_record *r,
		       const void *data, size_t size)
{
	struct buffer *b = &p->scratch.record;

	p->counts.events++;
	if (key.time > p->last)
		p->last = key.time;
	if (key.time < p->clocks.first)
		p->clocks.first = key.time;
	if (p->counting)
		return 0;
	if (!size)
		return sorter_add(&p->sorter, key, r, sizeof *r, &p->error);
	b->size = 0;
	if (buffer_append(b, r, sizeof *r) || buffer_append(b, data, size))
		return -1;
	return sorter_add(&p->sorter, key, b->data, b->size, &p->error);
}

/* Keep a record with its value and the arguments, in an order among those of its time. */
static int keep_ordered(struct perfetto *p, struct sorter_key key, const struct perfetto_record *r,
			uint64_t value)
{
	const struct buffer *arguments = &p->scratch.arguments;
	struct buffer *b = &p->scratch.key;

	if (__builtin_expect(!(r->flags & PERFETTO_VALUE), 1))
		return perfetto_keep_data(p, key, r, arguments->data, arguments->size);
	b->size = 0;
	if (buffer_append(b, &value, sizeof value) ||
	    (arguments->size && buffer_append(b, arguments->data, arguments->size)))
		return -1;
	return perfetto_keep_data(p, key, r, b->data, b->size);
}

int perfetto_keep(struct perfetto *p, uint64_t time, const struct perfetto_record *r,
		  uint64_t value)
{
	return keep_ordered(p, (struct sorter_key){time, PERFETTO_ORDER}, r, value);
}

int perfetto_keep_gap(struct perfetto *p, uint64_t time, const struct perfetto_loss *loss,
		      int32_t cpu)
{
	struct perfetto_record r = {.kind = PERFETTO_GAP,
				    .flags = cpu >= 0 ? PERFETTO_HAS_CPU : 0,
				    .cpu = (uint16_t)cpu};

	return perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, &r, loss,
				  sizeof *loss);
}

int perfetto_learn(struct perfetto *p, uint32_t name)
{
	const struct buffer *b = &p->scratch.arguments;

	perfetto_begin_names(p);
	for (size_t i = 0; i < b->size; i += 8 + get_u32(b->data + i + 4)) {
		uint32_t argument = perfetto_next_name(p, get_u32(b->data + i));

		if (!argument || arguments_learn(&p->arguments.table, name, argument))
			return -1;
		put_u32(b->data + i, argument);
	}
	return 0;
}

int perfetto_keep_id(struct perfetto *p, uint64_t time, const struct perfetto_record *r,
		     const struct perfetto_track_key *key)
{
	struct perfetto_id id = perfetto_id_of(key);
	const struct buffer *arguments = &p->scratch.arguments;
	struct buffer *b = &p->scratch.key;

	b->size = 0;
	if ((arguments->size && perfetto_learn(p, r->name)) || buffer_append(b, &id, sizeof id) ||
	    (arguments->size && buffer_append(b, arguments->data, arguments->size)))
		return -1;
	return perfetto_keep_data(p, (struct sorter_key){time, PERFETTO_ORDER}, r, b->data,
				  b->size);
}

int track_event_keep(struct perfetto *p, const struct track_event *ev, enum perfetto_kind kind,
		     unsigned flags, uint64_t value)
{
	bool begins = kind == PERFETTO_BEGIN;
	struct perfetto_record r = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)(flags | (ev->annotated.structs ? PERFETTO_STRUCTS : 0)),
		.track = ev->track - 1,
		.name = ev->name,
		.category = ev->category,
		.stack = ev->stack};
	struct sorter_key key = {ev->time, PERFETTO_ORDER};
	const struct legacy_event *l = &ev->legacy;
	struct perfetto_track *t = &p->tracks.track[ev->track - 1];

	/* an end has the arguments of any call; an annotation is the name of the leave */
	if (kind == PERFETTO_END && (ev->annotated.leave || !r.name))
		r.name = ev->annotated.leave;
	else if (kind == PERFETTO_END)
		r.flags |= PERFETTO_NAMED;
	else if (!r.name && kind != PERFETTO_STATE)
		r.name = p->texts.nothing;
	if (p->scratch.arguments.size && perfetto_learn(p, kind == PERFETTO_END ? 0 : r.name))
		return -1;
	if (begins && flags & PERFETTO_COMPLETE)
		t->calls.completes = true;
	else if (begins)
		t->calls.begins = true;
	if (begins && t->before)
		key.second = PERFETTO_ORDER_UNSEEN;
	else if (begins && l->phase == 'X')
		/* of calls that begin at one time, the longest is outermost */
		key.second -= 1 + (uint64_t)l->duration;
	return keep_ordered(p, key, &r, value);
}

/* --- counters --- */

/* What an incremental counter has reached in a sequence that is not the last to count. */
struct reached {
	int64_t value;
	double real_value;
	uint32_t generation;
};

/* Get what a counter has reached in a sequence. NULL: out of memory. */
static uint8_t *reached_in(struct perfetto *p, uint32_t track, uint32_t sequence)
{
	uint32_t key[2] = {track, sequence};
	uint32_t *number = id_cache_number(&p->tracks.counting, key, sizeof key);
	struct buffer *all = &p->tracks.reached;

	if (!number || (!*number && buffer_zero(all, sizeof(struct reached))))
		return NULL;
	if (!*number)
		*number = (uint32_t)(all->size / sizeof(struct reached));
	return all->data + (*number - 1) * sizeof(struct reached);
}

/* Have an incremental counter count on from its last value in this sequence, or from 0. */
static int switch_sequence(struct perfetto *p, const struct perfetto_sequence *s, uint32_t number)
{
	struct perfetto_track *t = &p->tracks.track[number - 1];
	struct reached now = {t->value, t->real_value, t->generation};
	uint8_t *at;

	if (t->sequence != s->number) {
		at = reached_in(p, number, t->sequence);
		if (!at)
			return -1;
		memcpy(at, &now, sizeof now);
		at = reached_in(p, number, s->number);
		if (!at)
			return -1;
		memcpy(&now, at, sizeof now);
	}
	if (now.generation != s->generation)
		now = (struct reached){0};
	t->value = now.value;
	t->real_value = now.real_value;
	t->sequence = s->number;
	t->generation = s->generation;
	return 0;
}

/* Keep the value of a counter: that of an incremental one is a difference. */
static int keep_counter(struct perfetto *p, const struct perfetto_sequence *s,
			const struct track_event *ev, uint32_t number, uint64_t bits, bool real)
{
	struct perfetto_track *t = number ? &p->tracks.track[number - 1] : NULL;
	struct perfetto_record r = {.kind = real ? PERFETTO_COUNTER_REAL : PERFETTO_COUNTER,
				    .flags = PERFETTO_VALUE,
				    .track = number - 1};
	double value;

	/* extra counters of an event have no category */
	if (ev->type == TYPE_COUNTER)
		r.category = ev->category;

	if (!t)
		return -1;
	if (t->incremental && (t->sequence != s->number || t->generation != s->generation) &&
	    switch_sequence(p, s, number))
		return -1;
	if (t->incremental && real) {
		memcpy(&value, &bits, sizeof value);
		value = t->real_value += value;
		memcpy(&bits, &value, sizeof bits);
	} else if (t->incremental) {
		bits = (uint64_t)(t->value = add_wrapping(t->value, (int64_t)bits));
	}
	p->scratch.arguments.size = 0;
	return perfetto_keep(p, ev->time, &r, bits);
}

/* Count numbers of an event that the stream does not contain. */
static void count_left_out(struct perfetto *p, uint32_t field, uint64_t n)
{
	p->counts.left_out[MESSAGE_TRACK_EVENT][field] += n;
}

/* Keep the extra counters of an event. Their tracks are those of the event, or of the defaults. */
static int keep_extra(struct perfetto *p, const struct perfetto_sequence *s,
		      const struct track_event *ev, const struct event_lists *l)
{
	const struct perfetto_defaults *d = &s->defaults;
	const uint64_t *tracks = l->ntracks ? l->tracks : d->extra;
	unsigned n = l->ntracks ? l->ntracks : d->nextra;

	for (unsigned i = 0; i < n && i < l->nvalues; i++)
		if (keep_counter(p, s, ev, perfetto_track(p, tracks[i]), l->values[i], false))
			return -1;
	count_left_out(p, EVENT_EXTRA_VALUES, l->nvalues > n ? l->nvalues - n : 0);
	tracks = l->nreal_tracks ? l->real_tracks : d->extra_real;
	n = l->nreal_tracks ? l->nreal_tracks : d->nextra_real;
	for (unsigned i = 0; i < n && i < l->nreal_values; i++)
		if (keep_counter(p, s, ev, perfetto_track(p, tracks[i]), l->real_values[i], true))
			return -1;
	count_left_out(p, EVENT_EXTRA_REAL_VALUES, l->nreal_values > n ? l->nreal_values - n : 0);
	return 0;
}

/* --- reading --- */

/* Append numbers of a field, varints or 8 bytes each, which may be packed. */
static void take_list(struct perfetto *p, uint64_t *list, unsigned *n, unsigned most,
		      struct protobuf_field *f, bool fixed)
{
	struct protobuf_view rest = f->bytes;
	bool single = f->wire == PROTOBUF_FIXED64;
	uint64_t value = f->value;

	while (single ||
	       (fixed ? protobuf_fixed(&rest, 8, &value) : protobuf_each(f, &rest, &value))) {
		if (*n < most)
			list[(*n)++] = value;
		else
			count_left_out(p, f->number, 1);
		if (single)
			break;
	}
}

static void take_lists(struct perfetto *p, struct track_event *ev, struct event_lists *l,
		       struct protobuf_field *f)
{
	event_lists_begin(ev, l);
	switch (f->number) {
	case EVENT_EXTRA_TRACKS:
		take_list(p, l->tracks, &l->ntracks, PERFETTO_EXTRA, f, false);
		break;
	case EVENT_EXTRA_VALUES:
		take_list(p, l->values, &l->nvalues, PERFETTO_EXTRA, f, false);
		break;
	case EVENT_EXTRA_REAL_TRACKS:
		take_list(p, l->real_tracks, &l->nreal_tracks, PERFETTO_EXTRA, f, false);
		break;
	case EVENT_EXTRA_REAL_VALUES:
		take_list(p, l->real_values, &l->nreal_values, PERFETTO_EXTRA, f, true);
		break;
	case EVENT_FLOWS_OLD: take_list(p, l->flows, &l->nflows, FLOWS_MOST, f, false); break;
	case EVENT_FLOWS: take_list(p, l->flows, &l->nflows, FLOWS_MOST, f, true); break;
	case EVENT_ENDED_FLOWS_OLD: take_list(p, l->ended, &l->nended, FLOWS_MOST, f, false); break;
	case EVENT_ENDED_FLOWS: take_list(p, l->ended, &l->nended, FLOWS_MOST, f, true); break;
	}
}

/* Add a category; several are separated by commas. */
static int add_category(struct perfetto *p, struct track_event *ev, uint32_t category)
{
	struct buffer *b = &p->scratch.text;
	const char *text;
	size_t n;

	if (!ev->category || !category) {
		ev->category = category ? category : ev->category;
		return 0;
	}
	b->size = 0;
	text = writer_string_of(p->w, ev->category, &n);
	if (buffer_append(b, text, n) || buffer_u8(b, ','))
		return -1;
	text = writer_string_of(p->w, category, &n);
	if (buffer_append(b, text, n))
		return -1;
	ev->category = writer_string(p->w, b->data, b->size);
	return ev->category ? 0 : -1;
}

static int add_categories(struct perfetto *p, const struct perfetto_sequence *s,
			  struct track_event *ev, struct protobuf_field *f)
{
	struct protobuf_view rest = f->bytes;
	uint64_t iid;

	while (protobuf_each(f, &rest, &iid))
		if (add_category(p, ev, perfetto_interned(p, s, OF_CATEGORY, iid)))
			return -1;
	return 0;
}

static int add_source_location(struct perfetto *p, const struct perfetto_source_location *l)
{
	return (l->file && perfetto_argument_string(p, "file", l->file)) ||
			       (l->function &&
				perfetto_argument_string(p, "function", l->function)) ||
			       (l->line && perfetto_argument_uint(p, "line", l->line))
		       ? -1
		       : 0;
}

static int add_interned_location(struct perfetto *p, const struct perfetto_sequence *s,
				 uint64_t iid)
{
	uint32_t number = perfetto_interned(p, s, OF_SOURCE_LOCATION, iid);
	struct perfetto_source_location l;

	if (!number)
		return 0;
	memcpy(&l, p->source_locations.data + (number - 1) * sizeof l, sizeof l);
	return add_source_location(p, &l);
}

static int add_inline_location(struct perfetto *p, struct protobuf_view message)
{
	struct perfetto_source_location l = perfetto_source_location(p, message);

	return add_source_location(p, &l);
}

static int add_log_message(struct perfetto *p, const struct perfetto_sequence *s,
			   struct protobuf_view message)
{
	struct protobuf_field f;
	uint32_t body;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case LOG_BODY_IID:
			body = perfetto_interned(p, s, OF_LOG_BODY, f.value);
			if (body && perfetto_argument_string(p, "message", body))
				return -1;
			break;
		case LOG_SOURCE_IID:
			if (add_interned_location(p, s, f.value))
				return -1;
			break;
		case LOG_PRIORITY:
			if (perfetto_argument_uint(p, "prio", f.value))
				return -1;
			break;
		}
	return 0;
}

/* Take a field that few events have. */
static int take_rare(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev,
		     struct protobuf_field *f)
{
	uint32_t string;

	switch (f->number) {
	case EVENT_CATEGORIES: return add_category(p, ev, perfetto_text(p, f->bytes));
	case EVENT_SOURCE_LOCATION: return add_inline_location(p, f->bytes);
	case EVENT_SOURCE_LOCATION_IID: return add_interned_location(p, s, f->value);
	case EVENT_LOG_MESSAGE: return add_log_message(p, s, f->bytes);
	case EVENT_CORRELATION: return perfetto_argument_uint(p, "correlation_id", f->value);
	case EVENT_CORRELATION_TEXT:
		string = perfetto_text(p, f->bytes);
		return string ? perfetto_argument_string(p, "correlation_id", string) : 0;
	case EVENT_CORRELATION_IID:
		string = perfetto_interned(p, s, OF_CORRELATION, f->value);
		return string ? perfetto_argument_string(p, "correlation_id", string) : 0;
	case EVENT_CALLSTACK: ev->stack = perfetto_inline_stack(p, f->bytes); return 0;
	case EVENT_CALLSTACK_IID:
		ev->stack = perfetto_interned(p, s, OF_CALLSTACK, f->value);
		return 0;
	case EVENT_TIME_DELTA:
	case EVENT_TIME:
		ev->has_time_delta = f->number == EVENT_TIME_DELTA;
		ev->time_delta = (int64_t)f->value;
		return 0;
	case EVENT_THREAD_TIME_DELTA:
	case EVENT_THREAD_TIME:
		ev->has_thread_time = true;
		ev->thread_time = (int64_t)f->value;
		if (f->number == EVENT_THREAD_TIME_DELTA)
			ev->thread_time = add_wrapping(ev->thread_time, s->thread_time);
		return 0;
	}
	return perfetto_typed(p, s, f, &ev->annotated);
}

/* Read the fields of an event. */
static int take_event(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev,
		      struct event_lists *lists)
{
	struct protobuf_view rest = ev->packet->payload;
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&rest, &f)) > 0) {
		int failed = 0;

		switch (f.number) {
		case EVENT_TYPE: ev->type = f.value; break;
		case EVENT_TRACK:
			ev->uuid = f.value;
			ev->has_track = true;
			break;
		case EVENT_NAME_IID: ev->name = perfetto_interned(p, s, OF_NAME, f.value); break;
		case EVENT_NAME: ev->name = perfetto_text(p, f.bytes); break;
		case EVENT_CATEGORY_IIDS: failed = add_categories(p, s, ev, &f); break;
		case EVENT_ANNOTATION:
			failed = perfetto_annotation(p, s, f.bytes, &ev->annotated);
			break;
		case EVENT_COUNTER:
		case EVENT_COUNTER_REAL:
			ev->has_counter = true;
			ev->has_real = f.number == EVENT_COUNTER_REAL;
			ev->counter = f.value;
			break;
		case EVENT_EXTRA_TRACKS:
		case EVENT_EXTRA_VALUES:
		case EVENT_EXTRA_REAL_TRACKS:
		case EVENT_EXTRA_REAL_VALUES:
		case EVENT_FLOWS:
		case EVENT_FLOWS_OLD:
		case EVENT_ENDED_FLOWS:
		case EVENT_ENDED_FLOWS_OLD: take_lists(p, ev, lists, &f); break;
		case EVENT_LEGACY: legacy_read(p, s, ev, f.bytes); break;
		default: failed = take_rare(p, s, ev, &f);
		}
		if (failed)
			return -1;
	}
	if (got < 0)
		perfetto_damage(p, ev->packet, "no field of a track event: the rest is left out");
	return 0;
}

/* Find the track of an event: that of its uuid, or the sequence's default, or its thread. */
static int find_track(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev)
{
	uint64_t uuid = ev->has_track ? ev->uuid : s->defaults.has_track ? s->defaults.track : 0;
	/* an event with a phase instead of a type has the uuid 0 to be on the sequence's thread */
	bool on_thread = !uuid && s->has_thread && (!ev->has_track || !ev->type);

	ev->track = on_thread ? s->thread_track : perfetto_track(p, uuid);
	return ev->track ? 0 : -1;
}

bool perfetto_time_us(struct perfetto *p, struct perfetto_sequence *s, int64_t us, uint64_t *time)
{
	if (__builtin_mul_overflow(us, 1000u, time)) {
		p->counts.wrong_times++;
		return false;
	}
	return perfetto_time(p, s, CLOCK_MONOTONIC_ID, time);
}

/* Find the time of an event whose packet has none. Returns false if it has none either. */
static bool find_time(struct perfetto *p, struct perfetto_sequence *s, struct track_event *ev)
{
	if (ev->packet->has_time) {
		ev->time = ev->packet->time;
		return true;
	}
	if (ev->has_time_delta)
		ev->time_delta = s->time = add_wrapping(s->time, ev->time_delta);
	if (!perfetto_time_us(p, s, ev->time_delta, &ev->time))
		return false;
	s->last_time = ev->time;
	return true;
}

static int keep_event(struct perfetto *p, const struct perfetto_sequence *s, struct track_event *ev)
{
	unsigned unfinished = ev->annotated.unfinished ? PERFETTO_UNFINISHED : 0;

	if (ev->annotated.unfinished && ev->type != TYPE_END &&
	    perfetto_argument_bool(p, CHROME_UNFINISHED, true))
		return -1;
	if (ev->annotated.leave && ev->type != TYPE_END &&
	    perfetto_argument_string(p, CHROME_LEAVE_NAME, ev->annotated.leave))
		return -1;
	/* an event with a type has the uuid 0 if it names its thread */
	if (ev->legacy.present && (!ev->type || ev->legacy.phase || !ev->uuid) &&
	    legacy_override(p, ev))
		return -1;
	if (ev->legacy.present && (!ev->type || ev->legacy.phase))
		return legacy_keep(p, ev);
	switch (ev->type) {
	case TYPE_BEGIN:
		return ev->annotated.has_id
			       ? track_event_keep(p, ev, PERFETTO_BEGIN,
						  PERFETTO_VALUE | PERFETTO_BY_ID, ev->annotated.id)
			       : track_event_keep(p, ev, PERFETTO_BEGIN, 0, 0);
	case TYPE_END: return track_event_keep(p, ev, PERFETTO_END, unfinished, 0);
	case TYPE_STATE: return track_event_keep(p, ev, PERFETTO_STATE, 0, 0);
	case TYPE_COUNTER:
		return ev->has_counter
			       ? keep_counter(p, s, ev, ev->track, ev->counter, ev->has_real)
			       : 0;
	}
	return track_event_keep(p, ev, PERFETTO_INSTANT, 0, 0);
}

int perfetto_track_event(struct perfetto *p, struct perfetto_sequence *s,
			 const struct perfetto_packet *packet)
{
	struct event_lists lists;
	struct track_event ev = {.packet = packet};

	p->scratch.arguments.size = 0;
	if (take_event(p, s, &ev, &lists))
		return -1;
	if (ev.has_counter && ev.type != TYPE_COUNTER)
		count_left_out(p, ev.has_real ? EVENT_COUNTER_REAL : EVENT_COUNTER, 1);
	if (ev.has_thread_time) {
		s->thread_time = ev.thread_time;
		if (perfetto_argument_int(p, "tts", ev.thread_time))
			return -1;
	}
	if (!find_time(p, s, &ev))
		return 0;
	if (find_track(p, s, &ev))
		return -1;
	if (ev.legacy.present)
		legacy_flows(p, &ev, &lists);
	if (!ev.has_lists)
		return keep_event(p, s, &ev);
	if ((lists.nflows &&
	     perfetto_argument_list(p, PERFETTO_FLOWS, lists.flows, lists.nflows)) ||
	    (lists.nended &&
	     perfetto_argument_list(p, PERFETTO_ENDED_FLOWS, lists.ended, lists.nended)) ||
	    keep_event(p, s, &ev))
		return -1;
	return keep_extra(p, s, &ev, &lists);
}

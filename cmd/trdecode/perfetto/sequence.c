/*
 * sequence.c - the state of each sequence of packets: interned entries, and defaults
 *
 * A packet that clears the state begins it again. A packet that needs it, while it was not begun or
 * a packet of the sequence was lost, is left out; the packets left out are a gap.
 */
#include <stdlib.h>

#include "cmd/trdecode/perfetto/perfetto.h"

/* --- interned entries --- */

static uint64_t entry_iid(struct protobuf_view message)
{
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == ENTRY_IID)
			return f.value;
	return 0;
}

/* Get the text of an entry; bytes of a build id as digits. */
static uint32_t entry_text(struct perfetto *p, struct protobuf_view message, bool hex)
{
	struct protobuf_view text = {NULL, NULL};
	struct protobuf_field f;
	struct buffer *b = &p->scratch.text;

	while (protobuf_next(&message, &f) > 0)
		if (f.number == ENTRY_TEXT && f.wire == PROTOBUF_LENGTH)
			text = f.bytes;
	if (!hex)
		return perfetto_text(p, text);
	b->size = 0;
	if (protobuf_size(text) > BUILD_ID_MOST ||
	    buffer_hex_bytes(b, text.at, protobuf_size(text)))
		return 0;
	return writer_string(p->w, b->data, b->size);
}

struct perfetto_source_location perfetto_source_location(struct perfetto *p,
							 struct protobuf_view message)
{
	struct perfetto_source_location l = {0};
	struct protobuf_field f;

	while (protobuf_next(&message, &f) > 0)
		switch (f.number) {
		case SOURCE_FILE: l.file = perfetto_text(p, f.bytes); break;
		case SOURCE_FUNCTION: l.function = perfetto_text(p, f.bytes); break;
		case SOURCE_LINE: l.line = (uint32_t)f.value; break;
		}
	return l;
}

static uint32_t source_location(struct perfetto *p, struct protobuf_view message)
{
	struct perfetto_source_location l = perfetto_source_location(p, message);

	if (buffer_append(&p->source_locations, &l, sizeof l))
		return 0;
	return (uint32_t)(p->source_locations.size / sizeof l);
}

static uint32_t interned_number(struct perfetto *p, const struct perfetto_sequence *s,
				unsigned kind, struct protobuf_view message)
{
	switch (kind) {
	case INTERNED_MAPPING: return perfetto_mapping(p, s, message);
	case INTERNED_FRAME: return perfetto_frame(p, s, message);
	case INTERNED_CALLSTACK: return perfetto_callstack(p, s, message);
	case INTERNED_SOURCE_LOCATION: return source_location(p, message);
	default: return entry_text(p, message, kind == INTERNED_BUILD_ID);
	}
}

/* Return when an entry is taken: entries name others of the same packet. */
static unsigned entry_stage(uint32_t field)
{
	switch (field) {
	case INTERNED_MAPPING: return 1;
	case INTERNED_FRAME: return 2;
	case INTERNED_CALLSTACK: return 3;
	}
	return 0;
}

/* The fields of InternedData that are used, by their kinds. */
static const uint8_t interned_fields[INTERNED_KINDS] = {
	INTERNED_CATEGORY,	    INTERNED_NAME,	  INTERNED_ANNOTATION_NAME,
	INTERNED_SOURCE_LOCATION,   INTERNED_FUNCTION,	  INTERNED_FRAME,
	INTERNED_CALLSTACK,	    INTERNED_BUILD_ID,	  INTERNED_PATH,
	INTERNED_SOURCE_PATH,	    INTERNED_MAPPING,	  INTERNED_LOG_BODY,
	INTERNED_ANNOTATION_STRING, INTERNED_CORRELATION, INTERNED_KERNEL_SYMBOL,
};

/* Get the kind of a field; INTERNED_KINDS: it is not used. */
static unsigned kind_of(uint32_t field)
{
	unsigned kind = 0;

	while (kind < INTERNED_KINDS && interned_fields[kind] != field)
		kind++;
	return kind;
}

static int take_interned(struct perfetto *p, struct perfetto_sequence *s,
			 struct protobuf_view message)
{
	unsigned stages = 1;

	if (!s->interned)
		s->interned = calloc(1, sizeof *s->interned);
	if (!s->interned)
		return -1;
	for (unsigned stage = 0; stage < stages; stage++) {
		struct protobuf_view rest = message;
		struct protobuf_field f;

		while (protobuf_next(&rest, &f) > 0) {
			unsigned of = entry_stage(f.number), kind = kind_of(f.number);

			if (kind == INTERNED_KINDS || f.wire != PROTOBUF_LENGTH)
				continue;
			stages = stages > of + 1 ? stages : of + 1;
			if (of == stage &&
			    perfetto_ids_set(&s->interned->ids[kind], entry_iid(f.bytes),
					     interned_number(p, s, f.number, f.bytes),
					     s->interned->entries++))
				return -1;
		}
	}
	return 0;
}

/* --- the tables of Android 10 --- */

/* Take an entry of the strings of a ProfilePacket, which may be a name, a path or a build-id. */
static int take_string(struct perfetto *p, struct perfetto_interned *all,
		       struct protobuf_view entry)
{
	struct perfetto_ids *ids = all->ids;
	uint64_t iid = entry_iid(entry), entries = all->entries++;
	uint32_t text = entry_text(p, entry, false);

	return perfetto_ids_set(&ids[OF_FUNCTION], iid, text, entries) ||
	       perfetto_ids_set(&ids[OF_PATH], iid, text, entries) ||
	       perfetto_ids_set(&ids[OF_BUILD_ID], iid, entry_text(p, entry, true), entries);
}

int perfetto_profile_tables(struct perfetto *p, struct perfetto_sequence *s,
			    struct protobuf_view message)
{
	/* in the order in which entries name others */
	static const struct {
		uint8_t field, interned;
	} tables[] = {{PROFILE_STRINGS, 0},
		      {PROFILE_MAPPINGS, INTERNED_MAPPING},
		      {PROFILE_FRAMES, INTERNED_FRAME},
		      {PROFILE_CALLSTACKS, INTERNED_CALLSTACK}};
	struct perfetto_interned *all;

	if (!s->interned)
		s->interned = calloc(1, sizeof *s->interned);
	all = s->interned;
	if (!all)
		return -1;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		uint32_t interned = tables[i].interned;
		struct protobuf_view rest = message;
		struct protobuf_field f;

		while (protobuf_next(&rest, &f) > 0) {
			if (f.number != tables[i].field || f.wire != PROTOBUF_LENGTH)
				continue;
			if (interned ? perfetto_ids_set(&all->ids[kind_of(interned)],
							entry_iid(f.bytes),
							interned_number(p, s, interned, f.bytes),
							all->entries++)
				     : take_string(p, all, f.bytes))
				return -1;
		}
	}
	return 0;
}

/* --- defaults --- */

static void add_extra(uint64_t *list, uint8_t *n, struct protobuf_field *f)
{
	struct protobuf_view rest = f->bytes;
	uint64_t uuid;

	while (protobuf_each(f, &rest, &uuid))
		if (*n < PERFETTO_EXTRA)
			list[(*n)++] = uuid;
}

static int take_defaults(struct perfetto *p, struct perfetto_sequence *s,
			 struct protobuf_view message)
{
	struct perfetto_defaults *d = &s->defaults;
	struct protobuf_field f, of;

	*d = (struct perfetto_defaults){0};
	while (protobuf_next(&message, &f) > 0) {
		if (f.number == DEFAULTS_CLOCK)
			d->clock = (uint32_t)f.value;
		else if (f.number == DEFAULTS_PERF_SAMPLE &&
			 perfetto_sample_defaults(p, s, f.bytes))
			return -1;
		else if (f.number == DEFAULTS_TRACK_EVENT)
			while (protobuf_next(&f.bytes, &of) > 0)
				switch (of.number) {
				case EVENT_TRACK:
					d->track = of.value;
					d->has_track = true;
					break;
				case EVENT_EXTRA_TRACKS:
					add_extra(d->extra, &d->nextra, &of);
					break;
				case EVENT_EXTRA_REAL_TRACKS:
					add_extra(d->extra_real, &d->nextra_real, &of);
					break;
				}
	}
	return 0;
}

/* --- sequences --- */

static struct perfetto_sequence *find_sequence(struct perfetto *p, uint32_t id, uint32_t machine)
{
	uint32_t key[2] = {id, machine}, *number;
	struct perfetto_sequence *s = p->recent_sequence;

	if (s && s->id == id && s->machine == machine)
		return s;
	number = id_cache_number(&p->sequence_numbers, key, sizeof key);
	if (!number)
		return NULL;
	if (!*number) {
		s = calloc(1, sizeof *s);
		if (!s || buffer_append(&p->sequences, &s, sizeof s)) {
			free(s);
			return NULL;
		}
		*number = s->number = (uint32_t)(p->sequences.size / sizeof s);
		s->id = id;
		s->machine = machine;
		p->counts.sequences += id != 0;
	}
	memcpy(&s, p->sequences.data + (*number - 1) * sizeof s, sizeof s);
	p->recent_sequence = s;
	return s;
}

static void clear_state(struct perfetto_sequence *s)
{
	for (unsigned i = 0; s->interned && i < INTERNED_KINDS; i++)
		perfetto_ids_clear(&s->interned->ids[i]);
	if (s->interned)
		s->interned->entries = 0;
	s->defaults = (struct perfetto_defaults){0};
	s->has_thread = false;
	s->generation++;
	s->valid = true;
}

/* Add the gap of the packets left out. */
static int end_skipped(struct perfetto *p, struct perfetto_sequence *s)
{
	struct perfetto_loss loss = {
		.count = s->skipped, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};

	if (!s->skipped)
		return 0;
	s->skipped = 0;
	return perfetto_keep_gap(p, s->skipped_time, &loss, -1);
}

/* Get the time of a packet whose state may be missing, or one close to it. */
static uint64_t time_of(struct perfetto *p, struct perfetto_sequence *s,
			const struct perfetto_packet *packet)
{
	uint32_t clock = packet->clock ? packet->clock : s->defaults.clock;
	uint64_t time = packet->time;

	if (packet->has_time &&
	    (clock < CLOCK_OF_SEQUENCE_FIRST || clock > CLOCK_OF_SEQUENCE_LAST) &&
	    perfetto_clock_usable(p, s, clock) &&
	    perfetto_time(p, s, clock ? clock : CLOCK_BOOTTIME_ID, &time))
		return time;
	return s->last_time ? s->last_time : p->last;
}

/* Add a gap where packets of the sequence were lost before this one. */
static int packets_lost(struct perfetto *p, struct perfetto_sequence *s,
			const struct perfetto_packet *packet)
{
	struct perfetto_loss loss = {
		.count = UINT64_MAX, .offset = NO_OFFSET, .reason = GAP_LOST, .unit = GAP_PACKETS};

	return perfetto_keep_gap(p, time_of(p, s, packet), &loss, -1);
}

int perfetto_sequence(struct perfetto *p, struct perfetto_packet *packet,
		      struct perfetto_sequence **sequence, bool *skip)
{
	struct perfetto_sequence *s = find_sequence(p, packet->sequence, packet->machine);

	if (!s)
		return -1;
	*sequence = s;
	*skip = false;
	if (packet->dropped && !packet->first) {
		/* before the first packet that was read the recording may not have begun */
		if (s->seen && packets_lost(p, s, packet))
			return -1;
		s->valid = false;
	}
	s->seen = true;
	if (packet->cleared || packet->flags & STATE_CLEARED) {
		clear_state(s);
		if (end_skipped(p, s))
			return -1;
	}
	if (packet->flags & STATE_NEEDED && !s->valid) {
		if (!s->skipped++)
			s->skipped_time = time_of(p, s, packet);
		*skip = true;
		return 0;
	}
	if (packet->has_defaults && take_defaults(p, s, packet->defaults))
		return -1;
	return __builtin_expect(packet->has_interned, 0) ? take_interned(p, s, packet->interned)
							 : 0;
}

static struct perfetto_sequence *sequence_at(const struct perfetto *p, size_t at)
{
	struct perfetto_sequence *s;

	memcpy(&s, p->sequences.data + at, sizeof s);
	return s;
}

int perfetto_sequences_end(struct perfetto *p)
{
	for (size_t at = 0; at < p->sequences.size; at += sizeof(struct perfetto_sequence *))
		if (end_skipped(p, sequence_at(p, at)))
			return -1;
	return 0;
}

void perfetto_sequences_free(struct perfetto *p)
{
	for (size_t at = 0; at < p->sequences.size; at += sizeof(struct perfetto_sequence *)) {
		struct perfetto_sequence *s = sequence_at(p, at);

		for (unsigned i = 0; s->interned && i < INTERNED_KINDS; i++)
			perfetto_ids_free(&s->interned->ids[i]);
		free(s->interned);
		free(s->clocks);
		free(s);
	}
	buffer_free(&p->sequences);
	id_cache_free(&p->sequence_numbers);
}

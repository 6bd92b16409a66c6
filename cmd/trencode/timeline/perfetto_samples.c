/*
 * perfetto_samples.c - samples and recorded stacks in Perfetto's format
 *
 * A sample is a PerfSample. The samples of one type have a sequence of packets of their own, whose
 * first packet names the event and its constant weight. The counter of a sample is the sum of the
 * weights up to it, of its type and CPU, as the kernel counts. Another event with a recorded stack
 * has the stack as its callstack.
 *
 * A stack of more than STACK_FRAMES frames is written as that of the outermost ones.
 *
 * A sequence interns each stack, frame, mapping and text once, in the packet that needs it first,
 * or before that. Their ids are the numbers of the dictionary.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/trencode/timeline/perfetto_samples.h"
#include "common/stream/field.h"
#include "common/util/utf8.h"
#include "common/value/value_walk.h"
#include "cmd/trencode/profile/sample_profile.h"

enum {
	FIRST_SEQUENCE = 1000, /* of samples: more than other sequences have */
	OVERLAPS = 8,	       /* maps at lower addresses that are searched */
};

#define DEEPER_IID UINT32_MAX /* of the frame STACK_DEEPER: no location has this number */

/* The maps of a space, by address. */
struct map_index {
	uint32_t *order; /* indexes of maps */
	size_t count;
};

struct perfetto_samples {
	struct intern types;	/* what one sequence has */
	struct intern known;	/* sequence, kind and number: was interned */
	struct intern counters; /* sequence and CPU */
	uint64_t *counts;	/* by counter: sum of the weights */
	size_t ncounts;
	struct intern mappings; /* space and map; number + 1 is the id */
	struct map_index *maps; /* by number of the space */
	size_t nmaps;
	struct buffer message, text, path; /* path: u32 locations, outermost first */
	struct buffer interned;
	uint64_t negative; /* samples left out */
	uint64_t reduced;  /* samples with fields beside the weight */
};

struct perfetto_samples *perfetto_samples_new(void)
{
	return calloc(1, sizeof(struct perfetto_samples));
}

void perfetto_samples_free(struct perfetto_samples *k)
{
	if (!k)
		return;
	intern_free(&k->types);
	intern_free(&k->known);
	intern_free(&k->counters);
	intern_free(&k->mappings);
	for (size_t i = 0; i < k->nmaps; i++)
		free(k->maps[i].order);
	free(k->maps);
	free(k->counts);
	buffer_free(&k->message);
	buffer_free(&k->text);
	buffer_free(&k->path);
	buffer_free(&k->interned);
	free(k);
}

void perfetto_samples_report(const struct perfetto_samples *k)
{
	remark_count(k->negative, SAMPLES_NEGATIVE);
	remark_count(k->reduced,
		     "{sample has|samples have} fields beside the weight, which are left out");
}

/* Note that a sequence interns something. 1: it is new; 0; -1: out of memory. */
static int note(struct perfetto_samples *k, uint32_t sequence, uint32_t kind, uint32_t number)
{
	uint32_t key[] = {sequence, kind, number}, had = k->known.count;

	if (intern(&k->known, key, sizeof key) == INTERN_NONE)
		return -1;
	return k->known.count > had;
}

/* Append an interned text. */
static int put_text(struct perfetto_samples *k, uint32_t kind, struct text_ref text,
		    struct buffer *to)
{
	size_t slash = kind == INTERNED_PATH && *text.text == '/';
	unsigned byte;

	k->text.size = 0;
	if (kind == INTERNED_BUILD_ID) {
		/* 2 hexadecimal digits for each byte */
		for (const char *p = text.text; sscanf(p, "%2x", &byte) == 1; p += 2)
			if (buffer_u8(&k->text, (uint8_t)byte))
				return -1;
	} else if (utf8_append(&k->text, text.text + slash, text.size - slash)) {
		return -1;
	}
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, text.number) ||
			       protobuf_message(&k->message, ENTRY_TEXT, &k->text) ||
			       protobuf_message(to, kind, &k->message)
		       ? -1
		       : 0;
}

/* Intern a text of the dictionary. */
static int intern_text(struct perfetto_samples *k, uint32_t sequence, uint32_t kind,
		       struct text_ref text, struct buffer *to)
{
	int is_new = note(k, sequence, kind, text.number);

	return is_new > 0 ? put_text(k, kind, text, to) : is_new;
}

/* --- mappings --- */

static int by_start(const void *a, const void *b, void *maps)
{
	const struct map *m = (const struct map *)maps + *(const uint32_t *)a,
			 *n = (const struct map *)maps + *(const uint32_t *)b;

	return m->start < n->start ? -1 : m->start > n->start;
}

/* Get the maps of a space in the order of their addresses. NULL: out of memory. */
static const struct map_index *index_of(struct perfetto_samples *k, const struct space *space)
{
	struct map_index *index;
	uint32_t *order;

	if (ARRAY_REACH(k->maps, k->nmaps, space->number))
		return NULL;
	index = &k->maps[space->number];
	if (index->count == space->nmaps)
		return index;
	order = reallocarray(index->order, space->nmaps, sizeof *order);
	if (!order)
		return NULL;
	for (uint32_t i = 0; i < space->nmaps; i++)
		order[i] = i;
	qsort_r(order, space->nmaps, sizeof *order, by_start, space->maps);
	index->order = order;
	index->count = space->nmaps;
	return index;
}

/* Find the map of an address. *map: NULL if there is none. */
static int find_map(struct perfetto_samples *k, const struct space *space, uint64_t address,
		    const struct map **map)
{
	const struct map_index *index = index_of(k, space);
	size_t low = 0, high;

	*map = NULL;
	if (!index)
		return -1;
	for (high = index->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (space->maps[index->order[middle]].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- && low - i <= OVERLAPS && !*map;)
		if (address < space->maps[index->order[i]].end)
			*map = &space->maps[index->order[i]];
	return 0;
}

/* Intern a mapping. */
static int intern_mapping(struct perfetto_samples *k, uint32_t sequence, const struct map *map,
			  uint32_t *iid, struct buffer *to)
{
	uint32_t key[] = {map->space->number, (uint32_t)(map - map->space->maps)};
	uint32_t number = intern(&k->mappings, key, sizeof key);
	int is_new;

	if (number == INTERN_NONE)
		return -1;
	*iid = number + 1;
	is_new = note(k, sequence, INTERNED_MAPPING, *iid);
	if (is_new <= 0)
		return is_new;
	if ((map->path.size && intern_text(k, sequence, INTERNED_PATH, map->path, to)) ||
	    (map->build_id.size && intern_text(k, sequence, INTERNED_BUILD_ID, map->build_id, to)))
		return -1;
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, *iid) ||
			       (map->build_id.size && protobuf_uint(&k->message, MAPPING_BUILD_ID,
								    map->build_id.number)) ||
			       protobuf_uint(&k->message, MAPPING_OFFSET, map->offset) ||
			       protobuf_uint(&k->message, MAPPING_START, map->start) ||
			       protobuf_uint(&k->message, MAPPING_END, map->end) ||
			       (map->path.size &&
				protobuf_uint(&k->message, MAPPING_PATH, map->path.number)) ||
			       protobuf_message(to, INTERNED_MAPPING, &k->message)
		       ? -1
		       : 0;
}

/* --- frames and stacks --- */

/* Intern the frame of a location: its function, where it is in a mapped file, its source line. */
static int intern_frame(struct perfetto *s, uint32_t sequence, uint32_t location, struct buffer *to)
{
	struct perfetto_samples *k = s->samples;
	const struct location *l = dictionary_location(s->names.dictionary, location);
	const struct location_symbol *symbol = l ? l->symbol : NULL;
	struct text_ref name = dictionary_location_name(s->names.dictionary, location);
	bool has_source = symbol && symbol->file.size;
	const struct map *map = NULL;
	uint32_t mapping = 0, size;
	int is_new = note(k, sequence, INTERNED_FRAME, location);

	if (is_new <= 0)
		return is_new;
	/* location_names reports the functions without a name */
	if (!location_names_get(&s->names, location, &size) ||
	    intern_text(k, sequence, INTERNED_FUNCTION, name, to) ||
	    (l && l->space && find_map(k, l->space, l->address, &map)) ||
	    (map && intern_mapping(k, sequence, map, &mapping, to)) ||
	    (has_source && intern_text(k, sequence, INTERNED_SOURCE_PATH, symbol->file, to)))
		return -1;
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, location) ||
			       protobuf_uint(&k->message, FRAME_FUNCTION, name.number) ||
			       (map && (protobuf_uint(&k->message, FRAME_MAPPING, mapping) ||
					protobuf_uint(&k->message, FRAME_ADDRESS,
						      l->address - map->start + map->offset))) ||
			       (has_source && protobuf_uint(&k->message, FRAME_SOURCE_PATH,
							    symbol->file.number)) ||
			       (has_source && symbol->line &&
				protobuf_uint(&k->message, FRAME_LINE, symbol->line)) ||
			       protobuf_message(to, INTERNED_FRAME, &k->message)
		       ? -1
		       : 0;
}

/* Intern the frame STACK_DEEPER. */
static int intern_deeper(struct perfetto *s, uint32_t sequence, struct buffer *to)
{
	struct text_ref name =
		dictionary_text(s->names.dictionary, STACK_DEEPER, sizeof STACK_DEEPER - 1);
	struct perfetto_samples *k = s->samples;
	int is_new = note(k, sequence, INTERNED_FRAME, DEEPER_IID);

	if (is_new <= 0)
		return is_new;
	if (!name.number || intern_text(k, sequence, INTERNED_FUNCTION, name, to))
		return -1;
	k->message.size = 0;
	return protobuf_uint(&k->message, ENTRY_IID, DEEPER_IID) ||
			       protobuf_uint(&k->message, FRAME_FUNCTION, name.number) ||
			       protobuf_message(to, INTERNED_FRAME, &k->message)
		       ? -1
		       : 0;
}

/* Intern a stack of dictionary_stack_limited. */
static int intern_stack(struct perfetto *s, uint32_t sequence, uint32_t stack, struct buffer *to)
{
	struct perfetto_samples *k = s->samples;
	int is_new = note(k, sequence, INTERNED_CALLSTACK, stack);

	if (is_new <= 0)
		return is_new;
	k->path.size = 0;
	if (stack_frames(s->names.dictionary, stack, &k->path))
		return -1;
	for (size_t i = k->path.size / 4; i-- > 0;)
		if (i == STACK_FRAMES
			    ? intern_deeper(s, sequence, to)
			    : intern_frame(s, sequence, get_u32(k->path.data + 4 * i), to))
			return -1;
	k->message.size = 0;
	if (protobuf_uint(&k->message, ENTRY_IID, stack))
		return -1;
	for (size_t i = 0; i < k->path.size / 4; i++)
		if (protobuf_uint(&k->message, CALLSTACK_FRAME,
				  i == STACK_FRAMES ? DEEPER_IID : get_u32(k->path.data + 4 * i)))
			return -1;
	return protobuf_message(to, INTERNED_CALLSTACK, &k->message);
}

int perfetto_put_stack(struct perfetto *s, const struct event *ev, struct buffer *event)
{
	const struct dictionary *d = s->names.dictionary;
	uint32_t stack = dictionary_stack_limited(d, event_stack(d, ev));

	if (!stack)
		return 0;
	return intern_stack(s, 0, stack, &s->interned) ||
			       protobuf_uint(event, EVENT_CALLSTACK_IID, stack)
		       ? -1
		       : 0;
}

/* --- samples --- */

/* Begin a packet of a sequence. */
static int begin_packet(struct perfetto *s, uint32_t sequence, uint64_t time, unsigned flags)
{
	s->packet.size = 0;
	return protobuf_uint(&s->packet, PACKET_TIMESTAMP, time) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_ID, sequence) ||
			       protobuf_uint(&s->packet, PACKET_SEQUENCE_FLAGS, flags)
		       ? -1
		       : 0;
}

/* Write the first packet of a sequence. */
static int put_first(struct perfetto *s, uint32_t sequence, const struct event *ev, struct error *e)
{
	struct perfetto_samples *k = s->samples;
	const struct type *t = ev->type;
	uint64_t token;

	k->text.size = k->message.size = k->interned.size = 0;
	if (utf8_append(&k->text, t->name.text, t->name.size) ||
	    (!t->period && protobuf_uint(&k->message, TIMEBASE_PERIOD, t->weight)) ||
	    protobuf_message(&k->message, TIMEBASE_NAME, &k->text) ||
	    protobuf_message(&k->interned, SAMPLE_TIMEBASE, &k->message))
		return error_no_memory(e);
	k->message.size = 0;
	if (protobuf_message(&k->message, DEFAULTS_PERF_SAMPLE, &k->interned) ||
	    begin_packet(s, sequence, ev->time, STATE_CLEARED) ||
	    protobuf_message(&s->packet, PACKET_DEFAULTS, &k->message) ||
	    protobuf_uint(&s->packet, PACKET_FIRST, 1))
		return error_no_memory(e);
	return perfetto_put_packet(s, &token, e);
}

/* Get the sequence of a type of samples. */
static int sequence_of(struct perfetto *s, const struct event *ev, uint32_t *sequence,
		       struct error *e)
{
	struct intern *types = &s->samples->types;
	const struct type *t = ev->type;
	uint64_t key[] = {t->name.number, t->group.number, t->flags & TYPE_WEIGHT_TIME,
			  t->period ? UINT64_MAX : t->weight};
	uint32_t had = types->count, number = intern(types, key, sizeof key);

	if (number == INTERN_NONE)
		return error_no_memory(e);
	*sequence = FIRST_SEQUENCE + number;
	return types->count > had ? put_first(s, *sequence, ev, e) : 0;
}

/* Add the weight of a sample to the counter of its type and CPU. */
static int count(struct perfetto_samples *k, uint32_t sequence, const struct event *ev,
		 uint64_t *total)
{
	const struct lane *lane = ev->lane;
	int32_t key[] = {(int32_t)sequence, lane->flags & LANE_HAS_CPU ? lane->cpu : -1};
	uint32_t number = intern(&k->counters, key, sizeof key);
	uint64_t *counts;

	if (number == INTERN_NONE)
		return -1;
	if (ARRAY_REACH(k->counts, k->ncounts, number))
		return -1;
	counts = k->counts;
	add_saturated(&counts[number], sample_weight(ev));
	*total = counts[number];
	return 0;
}

int perfetto_sample(struct perfetto *s, const struct event *ev, struct error *e)
{
	struct perfetto_samples *k = s->samples;
	const struct lane *lane = ev->lane;
	const struct track *track = tracks_get(&s->tracks, calls_thread(ev), lane);
	const struct dictionary *d = s->names.dictionary;
	uint32_t stack = dictionary_stack_limited(d, event_stack(d, ev)), sequence = 0;
	struct buffer *b = &k->text;
	uint64_t total, token;

	if (sample_is_negative(ev)) {
		k->negative++;
		return 0;
	}
	if (sequence_of(s, ev, &sequence, e))
		return -1;
	k->interned.size = 0;
	s->attributes.deep += stack_is_deep(d, stack);
	k->reduced += ev->type->nfields > (ev->type->period ? 1 : 0);
	if (!track || count(k, sequence, ev, &total) ||
	    (stack && intern_stack(s, sequence, stack, &k->interned)))
		return error_no_memory(e);
	b->size = 0;
	if ((lane->flags & LANE_HAS_CPU && protobuf_uint(b, SAMPLE_CPU, (uint32_t)lane->cpu)) ||
	    protobuf_uint(b, SAMPLE_PID, (uint32_t)track->pid) ||
	    protobuf_uint(b, SAMPLE_TID, (uint32_t)track->tid) ||
	    (stack && protobuf_uint(b, SAMPLE_CALLSTACK, stack)) ||
	    protobuf_uint(b, SAMPLE_COUNT, total) ||
	    begin_packet(s, sequence, ev->time, STATE_NEEDED) ||
	    (k->interned.size &&
	     protobuf_message(&s->packet, PACKET_INTERNED_DATA, &k->interned)) ||
	    protobuf_message(&s->packet, PACKET_PERF_SAMPLE, b))
		return error_no_memory(e);
	return perfetto_put_packet(s, &token, e);
}

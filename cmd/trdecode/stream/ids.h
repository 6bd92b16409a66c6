/*
 * ids.h - maps the ids of a saved stream's declarations to the writer's ids
 *
 * Each declaration is written once, at its first use. Functions return the writer's id; 0: out of
 * memory, or nothing to declare.
 */
#ifndef TR_TRDECODE_STREAM_IDS_H
#define TR_TRDECODE_STREAM_IDS_H

#include "common/stream/dictionary.h"
#include "cmd/trdecode/decoder.h"
#include "cmd/trdecode/input/merge.h"

/* A table from ids of the saved stream to the writer's. */
struct stream_map {
	uint32_t *id; /* the writer's, by number in the dictionary; 0 none yet */
	size_t size;
};

/* The tables of one input. */
struct stream_ids {
	struct input *input; /* has the writer, and the shift of times */
	struct dictionary *dictionary;
	bool inside; /* rows were not read before a segment, whose open calls were written */
	struct stream_map maps[ENTRY_KINDS];
	size_t *maps_done; /* by space: number of mappings that were declared */
	size_t maps_size;
	const struct location_symbol **symbols; /* by location: the symbol that was declared */
	size_t symbols_size;
	uint32_t types, locations; /* numbers of the last that stream_announce has seen */
};

uint32_t stream_source(struct stream_ids *s, const struct source *source);
uint32_t stream_lane_slow(struct stream_ids *s, const struct lane *l);
uint32_t stream_type_slow(struct stream_ids *s, const struct type *t);
uint32_t stream_location_slow(struct stream_ids *s, uint32_t number, int *bad);

static inline uint32_t stream_known(const struct stream_map *m, uint32_t number)
{
	return number < m->size ? m->id[number] : 0;
}

static inline uint32_t stream_lane(struct stream_ids *s, const struct lane *l)
{
	uint32_t id = stream_known(&s->maps[ENTRY_LANE], l->number);

	return id ? id : stream_lane_slow(s, l);
}

static inline uint32_t stream_type(struct stream_ids *s, const struct type *t)
{
	uint32_t id = stream_known(&s->maps[ENTRY_TYPE], t->number);

	return id ? id : stream_type_slow(s, t);
}

/* Declare a location, again if its symbol has changed; number 0 is not a location. *bad: -1 when
 * out of memory. */
static inline uint32_t stream_location(struct stream_ids *s, uint32_t number, int *bad)
{
	uint32_t id = stream_known(&s->maps[ENTRY_LOCATION], number);

	if (id && number < s->symbols_size &&
	    s->symbols[number] == dictionary_location(s->dictionary, number)->symbol)
		return id;
	return number ? stream_location_slow(s, number, bad) : 0;
}

/* Declare the new types of the dictionary, and the new locations with arguments, though no row of
 * them may follow. Returns 0, or -1 when out of memory or with the writer's error. */
int stream_announce(struct stream_ids *s);

/* Declare a definition that a value of the next row uses; definition: its id in the segment. ctx:
 * the struct stream_ids. */
uint32_t stream_value_definition(void *ctx, uint32_t definition);
/* Declare a stack by its number in the dictionary. *bad: as stream_location. */
uint32_t stream_stack(struct stream_ids *s, uint32_t number, int *bad);
/* Declare a stack that a field of the next row uses; stack: its id in the segment. ctx: the struct
 * stream_ids. */
uint32_t stream_field_stack(void *ctx, uint32_t stack);
void stream_ids_free(struct stream_ids *s);

/* Convert a time of the input to one of the output. */
static inline uint64_t stream_moved(const struct stream_ids *s, uint64_t time)
{
	return merge_shifted(time, s->input->shift);
}

#endif

#include "cmd/trdecode/stream/ids.h"

#include <stdlib.h>

#include "common/stream/declare.h"
#include "common/util/u128.h"

static uint32_t stream_object(struct stream_ids *s, enum entry_kind kind, const void *object);

static uint32_t id_in(void *ctx, const struct entry_field *f, struct text_ref text,
		      const void *object)
{
	struct stream_ids *s = ctx;

	return f->refers == ENTRY_STRING
		       ? writer_string(s->input->decoding->writer, text.text, text.size)
		       : stream_object(s, f->refers, object);
}

/* Store an entry with the writer's ids. Returns the writer's id. */
static uint32_t store(struct stream_ids *s, enum entry_kind kind, const void *object)
{
	struct buffer b = {0};
	uint32_t id = declare_encode(&b, kind, object, id_in, s)
			      ? 0
			      : writer_store(s->input->decoding->writer, kind, b.data, b.size);

	buffer_free(&b);
	return id;
}

/* Returns a clock with the wall time of the output. */
static struct clock moved_clock(struct stream_ids *s, const struct clock *clock)
{
	struct clock c = *clock;

	c.wall = saturated_i64((int128)c.wall - s->input->shift);
	if (s->input->decoding->clock == CLOCK_WALL) {
		c.name = dictionary_text(s->dictionary, "wall", 4);
		c.flags |= CLOCK_IS_WALL;
	}
	return c;
}

/* Returns a lane with flags for the stacks that started before the rows of the input. */
static struct lane started_lane(const struct stream_ids *s, const struct lane *lane)
{
	struct lane l = *lane;

	if (s->inside && dictionary_started(s->dictionary, l.thread))
		l.flags |= LANE_STARTED;
	if (s->inside && dictionary_started(s->dictionary, l.cpu_thread))
		l.flags |= LANE_CPU_STARTED;
	return l;
}

static uint32_t stream_object(struct stream_ids *s, enum entry_kind kind, const void *object)
{
	uint32_t number = object ? *(const uint32_t *)object : 0, made;
	struct stream_map *m = &s->maps[kind];
	struct clock clock;
	struct lane lane;
	uint32_t *id;

	if (!number || stream_known(m, number))
		return number ? stream_known(m, number) : 0;
	if (kind == ENTRY_CLOCK) {
		clock = moved_clock(s, object);
		object = &clock;
	} else if (kind == ENTRY_LANE) {
		lane = started_lane(s, object);
		object = &lane;
	}
	made = store(s, kind, object);
	if (ARRAY_REACH(m->id, m->size, number))
		return 0;
	id = m->id;
	return id[number] = made;
}

uint32_t stream_source(struct stream_ids *s, const struct source *source)
{
	return stream_object(s, ENTRY_SOURCE, source);
}

uint32_t stream_lane_slow(struct stream_ids *s, const struct lane *l)
{
	return stream_object(s, ENTRY_LANE, l);
}

uint32_t stream_type_slow(struct stream_ids *s, const struct type *t)
{
	return stream_object(s, ENTRY_TYPE, t);
}

uint32_t stream_value_definition(void *ctx, uint32_t definition)
{
	struct stream_ids *s = ctx;
	uint32_t id = stream_object(s, ENTRY_DEFINITION,
				    dictionary_definition_id(s->dictionary, definition));

	if (id)
		writer_use_definition(s->input->decoding->writer, id);
	return id;
}

/* Declare the mappings of a space that are new. */
static int declare_maps(struct stream_ids *s, const struct space *space)
{
	struct writer *w = s->input->decoding->writer;
	uint32_t id = stream_object(s, ENTRY_SPACE, space);
	size_t *done;

	if (!id)
		return space && space->number ? -1 : 0;
	if (ARRAY_REACH(s->maps_done, s->maps_size, space->number))
		return -1;
	done = s->maps_done;
	for (; done[space->number] < space->nmaps; done[space->number]++) {
		struct map m = space->maps[done[space->number]];

		m.time = m.time ? stream_moved(s, m.time) : 0;
		if (writer_store_map(w, store(s, ENTRY_MAP, &m), id))
			return -1;
	}
	return 0;
}

static int symbol_of(struct stream_ids *s, const struct location *p, uint32_t id)
{
	struct symbol_entry e;

	if (ARRAY_REACH(s->symbols, s->symbols_size, p->number))
		return -1;
	if (!p->symbol || s->symbols[p->number] == p->symbol)
		return 0;
	s->symbols[p->number] = p->symbol;
	e = declare_symbol(p->symbol);
	return writer_symbol(s->input->decoding->writer, id, &e);
}

uint32_t stream_location_slow(struct stream_ids *s, uint32_t number, int *bad)
{
	const struct location *p = dictionary_location(s->dictionary, number);
	uint32_t id;

	if (!p)
		return 0;
	if (!stream_known(&s->maps[ENTRY_LOCATION], number) && declare_maps(s, p->space)) {
		*bad = -1;
		return 0;
	}
	id = stream_object(s, ENTRY_LOCATION, p);
	if (!id || symbol_of(s, p, id)) {
		*bad = -1;
		return 0;
	}
	return id;
}

uint32_t stream_stack(struct stream_ids *s, uint32_t number, int *bad)
{
	struct stream_map *m = &s->maps[ENTRY_STACK];
	const struct dictionary *d = s->dictionary;
	uint32_t wanted = number, id = 0;
	struct buffer callers = {0};

	for (; number && !stream_known(m, number); number = dictionary_stack_parent(d, number))
		*bad |= buffer_u32(&callers, number);
	id = number ? stream_known(m, number) : 0;
	*bad |= ARRAY_REACH(m->id, m->size, wanted);
	for (size_t i = callers.size; i && !*bad; i -= 4) {
		number = get_u32(callers.data + i - 4);
		id = writer_stack(s->input->decoding->writer, id,
				  stream_location(s, dictionary_stack_location(d, number), bad));
		m->id[number] = id;
		*bad |= id ? 0 : -1;
	}
	buffer_free(&callers);
	return *bad ? 0 : id;
}

uint32_t stream_field_stack(void *ctx, uint32_t stack)
{
	struct stream_ids *s = ctx;
	int bad = 0;
	uint32_t id = stream_stack(s, dictionary_stack_id(s->dictionary, stack), &bad);

	if (id)
		writer_use_stack(s->input->decoding->writer, id);
	return id;
}

int stream_announce(struct stream_ids *s)
{
	const struct dictionary *d = s->dictionary;
	struct row_filter *filter = s->input->decoding->row_filter;
	int bad = 0;

	while (s->types + 1 < d->types.count) {
		const struct type *t = dictionary_type(d, ++s->types);

		if (kind_is_event(t->kind) && row_filter_announce(filter, stream_type(s, t), 0))
			return -1;
	}
	while (s->locations + 1 < d->locations.count && !bad)
		if (dictionary_location(d, ++s->locations)->arguments &&
		    row_filter_announce(filter, 0, stream_location(s, s->locations, &bad)))
			return -1;
	return bad;
}

void stream_ids_free(struct stream_ids *s)
{
	for (int i = 0; i < ENTRY_KINDS; i++)
		free(s->maps[i].id);
	free(s->maps_done);
	free(s->symbols);
}

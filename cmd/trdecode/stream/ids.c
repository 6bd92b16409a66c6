#include "cmd/trdecode/stream/ids.h"

#include <stdlib.h>

static uint32_t *map_slot(struct stream_map *m, uint32_t number)
{
	uint32_t *id = array_reach(m->id, &m->size, number, sizeof(*id));

	if (!id)
		return NULL;
	m->id = id;
	return &id[number];
}

static uint32_t copy_text(struct stream_ids *s, struct text_ref t)
{
	return writer_string(s->input->decoding->writer, t.text, t.size);
}

uint32_t stream_source(struct stream_ids *s, const struct source *source)
{
	uint32_t *id = source && source->number ? map_slot(&s->sources, source->number) : NULL;

	if (id && !*id)
		*id = writer_source(s->input->decoding->writer,
				    &(struct source_entry){copy_text(s, source->format),
							   copy_text(s, source->name),
							   source->word_size, source->big_endian});
	return id ? *id : 0;
}

static uint32_t clock_id(struct stream_ids *s, const struct clock *clock)
{
	uint32_t *id = clock->number ? map_slot(&s->clocks, clock->number) : NULL;
	struct writer *w = s->input->decoding->writer;
	bool wall = s->input->decoding->clock == CLOCK_WALL;

	if (id && !*id)
		*id = writer_clock(
			w, &(struct clock_entry){
				   wall ? writer_text(w, "wall") : copy_text(s, clock->name),
				   clock->flags | (wall ? CLOCK_IS_WALL : 0),
				   (int64_t)((uint64_t)clock->wall - (uint64_t)s->input->shift)});
	return id ? *id : 0;
}

/* Which stacks of the lane started before the rows of the input. */
static uint32_t started_flags(const struct stream_ids *s, const struct lane *l)
{
	if (!s->inside)
		return 0;
	return (dictionary_started(s->dictionary, l->thread) ? LANE_STARTED : 0) |
	       (dictionary_started(s->dictionary, l->cpu_thread) ? LANE_CPU_STARTED : 0);
}

uint32_t stream_lane_slow(struct stream_ids *s, const struct lane *l)
{
	uint32_t *id = map_slot(&s->lanes, l->number);

	if (id && !*id) {
		struct lane_entry e = {.source = stream_source(s, l->source),
				       .clock = clock_id(s, l->clock),
				       .buffer = copy_text(s, l->buffer),
				       .comm = copy_text(s, l->comm),
				       .flags = l->flags | started_flags(s, l),
				       .cpu = l->cpu,
				       .tid = l->tid,
				       .pid = l->pid,
				       .ppid = l->ppid};

		*id = writer_lane(s->input->decoding->writer, &e);
	}
	return id ? *id : 0;
}

static uint32_t definition_id(void *ctx, const struct definition *d)
{
	struct stream_ids *s = ctx;
	struct writer *w = s->input->decoding->writer;
	uint32_t *id = d ? map_slot(&s->definitions, d->number) : NULL;
	struct member_entry *members;

	if (!id || *id)
		return id ? *id : 0;
	members = calloc(d->count + 1, sizeof(*members));
	if (!members)
		return 0;
	for (uint32_t i = 0; i < d->count; i++)
		members[i] = (struct member_entry){copy_text(s, d->members[i].name),
						   d->members[i].low, d->members[i].high};
	*id = writer_definition(w, &(struct definition_entry){.name = copy_text(s, d->name),
							      .kind = d->kind,
							      .flags = d->flags,
							      .native = d->native,
							      .nmembers = d->count,
							      .members = members});
	free(members);
	return *id;
}

uint32_t stream_value_definition(void *ctx, uint32_t definition)
{
	struct stream_ids *s = ctx;
	uint32_t id = definition_id(s, dictionary_definition_id(s->dictionary, definition));

	if (id)
		writer_use_definition(s->input->decoding->writer, id);
	return id;
}

uint32_t stream_type_slow(struct stream_ids *s, const struct type *t)
{
	uint32_t *id = map_slot(&s->types, t->number);
	struct field_entry *fields;

	if (!id || *id)
		return id ? *id : 0;
	fields = calloc(t->nfields + 1, sizeof(*fields));
	if (!fields)
		return 0;
	for (uint32_t i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		fields[i] = (struct field_entry){copy_text(s, f->name),
						 copy_text(s, f->type_name),
						 f->kind,
						 f->role,
						 f->where,
						 f->offset,
						 f->size,
						 f->count,
						 definition_id(s, f->definition)};
	}
	*id = writer_type(s->input->decoding->writer,
			  &(struct type_entry){.source = stream_source(s, t->source),
					       .name = copy_text(s, t->name),
					       .group = copy_text(s, t->group),
					       .declaration = copy_text(s, t->declaration),
					       .kind = t->kind,
					       .word_size = t->word_size,
					       .flags = t->flags,
					       .fixed_size = t->fixed_size,
					       .native = t->native,
					       .nfields = t->nfields,
					       .fields = fields});
	free(fields);
	return *id;
}

static uint32_t space_id(struct stream_ids *s, const struct space *space)
{
	struct writer *w = s->input->decoding->writer;
	uint32_t *id = space && space->number ? map_slot(&s->spaces, space->number) : NULL;
	size_t *done;

	if (!id)
		return 0;
	if (!*id)
		*id = writer_space(w, &(struct space_entry){stream_source(s, space->source),
							    copy_text(s, space->name), space->pid,
							    space->flags});
	done = array_reach(s->maps_done, &s->maps_size, space->number, sizeof(*done));
	if (!done)
		return 0;
	s->maps_done = done;
	for (; done[space->number] < space->nmaps; done[space->number]++) {
		const struct map *m = &space->maps[done[space->number]];

		if (writer_map(w,
			       &(struct map_entry){*id, m->flags, m->start, m->end, m->offset,
						   m->time ? stream_moved(s, m->time) : 0, m->epoch,
						   copy_text(s, m->path), copy_text(s, m->build_id),
						   copy_text(s, m->table)}))
			return 0;
	}
	return *id;
}

static int symbol_of(struct stream_ids *s, const struct location *p, uint32_t id)
{
	struct symbol_entry e;
	const struct location_symbol **symbols =
		array_reach(s->symbols, &s->symbols_size, p->number, sizeof(*symbols));

	if (!symbols)
		return -1;
	s->symbols = symbols;
	if (!p->symbol || s->symbols[p->number] == p->symbol)
		return 0;
	s->symbols[p->number] = p->symbol;
	e = (struct symbol_entry){.start = p->symbol->start,
				  .size = p->symbol->size,
				  .line = p->symbol->line,
				  .flags = p->symbol->flags,
				  .name = p->symbol->name.text,
				  .module = p->symbol->module.text,
				  .file = p->symbol->file.text,
				  .name_size = p->symbol->name.size,
				  .module_size = p->symbol->module.size,
				  .file_size = p->symbol->file.size};
	return writer_symbol(s->input->decoding->writer, id, &e);
}

uint32_t stream_location_slow(struct stream_ids *s, uint32_t number, int *bad)
{
	const struct location *p = dictionary_location(s->dictionary, number);
	uint32_t *id = p ? map_slot(&s->locations, number) : NULL;

	if (!p)
		return 0;
	if (id && !*id)
		*id = writer_location(s->input->decoding->writer,
				      &(struct location_entry){space_id(s, p->space), p->epoch,
							       p->address, copy_text(s, p->name),
							       definition_id(s, p->arguments)});
	if (!id || !*id || symbol_of(s, p, *id)) {
		*bad = -1;
		return 0;
	}
	return *id;
}

void stream_ids_free(struct stream_ids *s)
{
	struct stream_map *maps[] = {&s->clocks,      &s->sources, &s->lanes,	 &s->types,
				     &s->definitions, &s->spaces,  &s->locations};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		free(maps[i]->id);
	free(s->maps_done);
	free(s->symbols);
}

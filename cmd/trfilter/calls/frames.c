#include "cmd/trfilter/calls/frames.h"

#include <stdlib.h>

#include "common/util/buffer.h"
#include "common/stream/field.h"

/* Bounds the memory for enters without leaves: more numbered calls are not followed. */
enum { NUMBERED_LIMIT = 1 << 20 };

static void free_frames(struct frame_stack *s)
{
	for (size_t i = 0; i < s->capacity; i++)
		free(s->frames[i].more);
	free(s->frames);
}

void frames_free(struct frames *f)
{
	for (size_t i = 0; i < f->size; i++)
		free_frames(&f->stacks[i]);
	free(f->stacks);
	free_frames(&f->numbered);
	free(f->free_numbered);
	open_calls_free(&f->open);
	*f = (struct frames){.more = f->more};
}

int frames_clear(struct frames *fs, struct open_frame *f)
{
	f->marks = 0;
	if (!fs->more)
		return 0;
	if (!f->more) {
		f->more = calloc(fs->more, sizeof *f->more);
		fs->out_of_memory |= !f->more;
		return f->more ? 0 : -1;
	}
	memset(f->more, 0, fs->more * sizeof *f->more);
	return 0;
}

struct frame_stack *frames_new_stack(struct frames *f, uint32_t number)
{
	struct frame_stack *stacks = array_reach(f->stacks, &f->size, number, sizeof *stacks);

	if (!stacks) {
		f->out_of_memory = true;
		return NULL;
	}
	f->stacks = stacks;
	return &stacks[number];
}

struct open_frame *frames_grow(struct frames *f, struct frame_stack *s)
{
	size_t capacity = s->capacity;
	struct open_frame *frames = array_grow(s->frames, &capacity, s->count, sizeof *frames);

	if (!frames || capacity > UINT32_MAX) {
		f->out_of_memory = true;
		return NULL;
	}
	s->frames = frames;
	for (size_t i = s->capacity; i < capacity; i++)
		frames[i].more = NULL;
	s->capacity = (uint32_t)capacity;
	return &frames[s->count++];
}

struct open_frame *frames_number(struct frames *f, const struct event *e, uint32_t *index)
{
	struct open_frame *frame;
	uint32_t call;

	if (!field_call(e, &call) || open_calls_count(&f->open) >= NUMBERED_LIMIT)
		return NULL;
	if (f->nfree) {
		*index = f->free_numbered[--f->nfree];
		frame = &f->numbered.frames[*index];
	} else {
		*index = f->numbered.count;
		frame = frames_push(f, &f->numbered);
		if (!frame)
			return NULL;
	}
	if (open_calls_put(&f->open, e->lane->source->number, call, *index))
		f->out_of_memory = true;
	return frame;
}

static struct open_frame *give_back(struct frames *f, uint64_t index)
{
	uint32_t *grown = array_grow(f->free_numbered, &f->free_capacity, f->nfree, sizeof *grown);

	if (grown) {
		f->free_numbered = grown;
		grown[f->nfree++] = (uint32_t)index;
	}
	return &f->numbered.frames[index];
}

struct open_frame *frames_numbered(struct frames *f, const struct event *e)
{
	uint64_t index;
	uint32_t call;

	if (!field_call(e, &call) ||
	    !open_calls_take(&f->open, e->lane->source->number, call, &index))
		return NULL;
	return give_back(f, index);
}

struct open_frame *frames_any_numbered(struct frames *f)
{
	uint64_t index;

	return open_calls_take_any(&f->open, &index) ? give_back(f, index) : NULL;
}

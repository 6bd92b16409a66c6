/*
 * frames.c - declares the frames of profiles, and the stacks that they make
 *
 *     {"id": 2, "callFrame": {"functionName": "f"}, "parent": 1}    f, called by frame 1
 */
#include "cmd/trdecode/frames.h"

#include <stdlib.h>

/* The space of frames that no key of the input names. */
#define FRAMES_UNNUMBERED UINT32_MAX

/* Test for a frame with a name alone, at that line. */
static bool frame_is_plain(const struct named_frame *f, uint32_t line)
{
	return !f->file && !f->module && !line && !f->kernel;
}

/* Set the epoch of a frame: it distinguishes functions of one name, which have no addresses. That
 * of a plain one is 0. */
static int frame_epoch(struct frame_locations *l, const struct named_frame *f, uint32_t name,
		       uint32_t *result)
{
	uint32_t line = f->inside ? 0 : f->line;
	uint32_t key[] = {f->name, f->file, f->module, line, f->kernel}, *epoch, *same;

	*result = 0;
	if (frame_is_plain(f, line))
		return 0;
	epoch = id_cache_number(&l->epochs, key, sizeof key);
	same = epoch && !*epoch ? key_map_number(&l->names, name) : NULL;
	if (same)
		*epoch = ++*same;
	*result = epoch ? *epoch : 0;
	return *result ? 0 : -1;
}

static uint32_t frame_declare(struct frame_locations *l, const struct named_frame *f)
{
	struct location_entry entry = {.name = f->name ? f->name : writer_text(l->w, "?"),
				       .arguments = f->arguments};
	struct symbol_entry symbol = {.line = f->line, .flags = f->kernel ? SYMBOL_KERNEL : 0};
	uint32_t location;
	size_t n;

	if (!entry.name || frame_epoch(l, f, entry.name, &entry.epoch))
		return 0;
	location = writer_location(l->w, &entry);
	l->count++;
	if (!location || (!f->file && !f->module && !f->kernel))
		return location;
	symbol.name = writer_string_of(l->w, entry.name, &n);
	symbol.name_size = (uint32_t)n;
	symbol.file = writer_string_of(l->w, f->file, &n);
	symbol.file_size = (uint32_t)n;
	symbol.module = writer_string_of(l->w, f->module, &n);
	symbol.module_size = (uint32_t)n;
	return writer_symbol(l->w, location, &symbol) ? 0 : location;
}

uint32_t frame_location(struct frame_locations *l, const struct named_frame *f)
{
	uint32_t key[] = {f->name, f->file, f->module, f->line, f->kernel, f->arguments};
	uint32_t *location;

	if (!frame_is_plain(f, f->line))
		location = id_cache_number(&l->known, key, sizeof key);
	else if (f->arguments)
		location = key_map_number(&l->listed, (uint64_t)f->name << 32 | f->arguments);
	else
		location = ARRAY_REACH(l->plain, l->nplain, f->name) ? NULL : &l->plain[f->name];
	if (location && !*location)
		*location = frame_declare(l, f);
	return location ? *location : 0;
}

void frame_locations_free(struct frame_locations *l)
{
	free(l->plain);
	key_map_free(&l->listed);
	id_cache_free(&l->known);
	id_cache_free(&l->epochs);
	key_map_free(&l->names);
}

uint32_t frame_table_number(struct frame_table *t, uint32_t space, const void *key, size_t n)
{
	uint32_t number;

	t->key.size = 0;
	if (key ? buffer_u32(&t->key, space) || buffer_append(&t->key, key, n)
		: buffer_u32(&t->key, FRAMES_UNNUMBERED) || buffer_u32(&t->key, t->unnumbered++))
		return 0;
	number = intern(&t->keys, t->key.data, t->key.size);
	return number == INTERN_NONE || ARRAY_REACH(t->frame, t->size, number) ? 0 : number + 1;
}

void frame_table_set(struct frame_table *t, uint32_t number, const struct named_frame *content,
		     uint32_t parent)
{
	struct linked_frame *frame = frame_table_at(t, number);

	if (frame->known)
		return;
	frame->is = *content;
	frame->known = true;
	if (parent)
		frame->parent = parent;
}

/* Declare the stack of a frame that the stack parent calls. */
static int frames_declare(struct frame_table *t, struct linked_frame *frame, uint32_t parent)
{
	uint32_t location;

	t->unknown += !frame->known;
	location = frame_location(&t->locations, &frame->is);
	frame->stack = location ? writer_stack(t->locations.w, parent, location) : 0;
	return frame->stack ? 0 : -1;
}

int frame_table_stack(struct frame_table *t, uint32_t number, uint32_t *stack)
{
	*stack = 0;
	t->path.size = 0;
	/* up to a frame whose stack is known; callers that are a circle end at the first frame that
	   was met before */
	while (number && !frame_table_at(t, number)->visited) {
		frame_table_at(t, number)->visited = true;
		if (buffer_u32(&t->path, number))
			return -1;
		number = frame_table_at(t, number)->parent;
	}
	if (number)
		*stack = frame_table_at(t, number)->stack;
	for (size_t i = t->path.size; i; i -= 4) {
		struct linked_frame *frame = frame_table_at(t, get_u32(t->path.data + i - 4));

		if (frames_declare(t, frame, *stack))
			return -1;
		*stack = frame->stack;
	}
	return 0;
}

void frame_table_free(struct frame_table *t)
{
	frame_locations_free(&t->locations);
	intern_free(&t->keys);
	free(t->frame);
	buffer_free(&t->key);
	buffer_free(&t->path);
}

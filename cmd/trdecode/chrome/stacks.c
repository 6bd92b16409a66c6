#include "cmd/trdecode/chrome/stacks.h"

#include <stdlib.h>

uint32_t chrome_frame(struct chrome_frames *f, uint32_t space, const void *key, size_t n)
{
	uint32_t number;

	f->key.size = 0;
	if (buffer_u32(&f->key, space) || buffer_append(&f->key, key, n))
		return 0;
	number = intern(&f->keys, f->key.data, f->key.size);
	if (number == INTERN_NONE)
		return 0;
	if (ARRAY_REACH(f->frame, f->size, number))
		return 0;
	return number + 1;
}

int chrome_frame_set(struct chrome_frames *f, uint32_t number,
		     const struct chrome_call_frame *content)
{
	struct chrome_call_frame *frame = number ? &f->frame[number - 1] : NULL;

	if (!frame)
		return -1;
	/* of frames with one key the first is valid */
	if (!frame->known)
		*frame = *content;
	frame->known = true;
	return 0;
}

static bool is_scalar(enum json_token token)
{
	return token == JSON_STRING || token == JSON_NUMBER;
}

/* Read the content of a frame, after its '{'. */
static int read_frame(struct chrome_frames *f, struct writer *w, struct json_reader *r,
		      struct chrome_call_frame *frame)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		bool name = json_is(r, "name"), parent = json_is(r, "parent");

		token = json_next(r);
		if (json_spell_whole(r, token))
			return -1;
		if (name && token == JSON_STRING) {
			frame->name = writer_string(w, r->text.data, r->text.size);
		} else if (parent && is_scalar(token)) {
			frame->parent = chrome_frame(f, 0, r->text.data, r->text.size);
			if (!frame->parent)
				return -1;
		} else if (!json_skip(r, token)) {
			return -1;
		}
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

int chrome_frames_read(struct chrome_frames *f, struct writer *w, struct json_reader *r)
{
	enum json_token token;

	while ((token = json_next(r)) == JSON_KEY) {
		struct chrome_call_frame frame = {0};
		uint32_t number = chrome_frame(f, 0, r->text.data, r->text.size);

		token = json_next(r);
		if (!number ||
		    (token == JSON_OBJECT ? read_frame(f, w, r, &frame) : !json_skip(r, token)))
			return -1;
		if (chrome_frame_set(f, number, &frame))
			return -1;
	}
	return token == JSON_OBJECT_END ? 0 : -1;
}

static uint32_t declare_frame(struct chrome_frames *f, struct writer *w,
			      struct chrome_call_frame *frame, uint32_t parent)
{
	struct location_entry entry = {.name = frame->name ? frame->name : writer_text(w, "?")};
	struct symbol_entry symbol = {.line = frame->line};
	uint32_t location = writer_location(w, &entry);
	size_t n;

	f->unknown += !frame->known;
	if (location && frame->file) {
		symbol.name = writer_string_of(w, entry.name, &n);
		symbol.name_size = (uint32_t)n;
		symbol.file = writer_string_of(w, frame->file, &n);
		symbol.file_size = (uint32_t)n;
		if (writer_symbol(w, location, &symbol))
			return 0;
	}
	return location ? frame->stack = writer_stack(w, parent, location) : 0;
}

int chrome_frames_stack(struct chrome_frames *f, struct writer *w, uint32_t number, uint32_t *stack)
{
	*stack = 0;
	f->path.size = 0;
	/* up to a frame whose stack is known; callers that are a circle end at the first frame that
	   was met before */
	while (number && !f->frame[number - 1].visited) {
		f->frame[number - 1].visited = true;
		if (buffer_u32(&f->path, number))
			return -1;
		number = f->frame[number - 1].parent;
	}
	if (number)
		*stack = f->frame[number - 1].stack;
	for (size_t i = f->path.size; i; i -= 4) {
		struct chrome_call_frame *frame = &f->frame[get_u32(f->path.data + i - 4) - 1];

		*stack = declare_frame(f, w, frame, *stack);
		if (!*stack)
			return -1;
	}
	return 0;
}

void chrome_frames_free(struct chrome_frames *f)
{
	intern_free(&f->keys);
	buffer_free(&f->key);
	buffer_free(&f->path);
	free(f->frame);
}
